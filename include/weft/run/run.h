/* A run: `weft tune`, `resume`, `eval`, `export`, and the input file that suits data. */
#ifndef LIBWEFT_RUN_RUN_H
#define LIBWEFT_RUN_RUN_H

#include "weft/base/conf.h"
#include "weft/par/team.h"

/* Reads the configuration, sets everything up, runs to the end, writes output (RUN.h5); an
 * existing run of that name is replaced if force is 1, else EFILE. Collective over world.
 * WEFT_STOP: stopped by signal or limit; `weft resume` goes on. */
WEFT_CHECKED weft_status weft_run_tune(weft_conf *conf, int force, weft_team *world);
/* The input file for a packed file where none is given, as a text whose comments say the
 * reason of each line: the same for the same file. Owned by mem. Collective over team.
 * EFILE; EDATA: the file is no packed data set, or has no rows to train on. */
WEFT_CHECKED weft_status weft_run_default(const char *data, weft_team *team,
                                          const char **text, weft_arena *mem);
/* Prints the expected cost of the run that the configuration describes, with rates measured
 * in a few seconds of training. Collective over world. ECONF, EDATA, ELIMIT, EFILE. */
WEFT_CHECKED weft_status weft_run_plan(weft_conf *conf, weft_team *world);
/* Has the programs that would do the run that the configuration describes repeat some of it
 * on all ranks, and prints whether the bits agree. ECONF: it is done by none, EWORKER.
 * Collective over world. */
WEFT_CHECKED weft_status weft_run_repeat(weft_conf *conf, weft_team *world);
/* Goes on with a run from its journal and states. again 1: its failed jobs are repeated,
 * also of a complete run. In this session the assignments "section.key=value" hold in place
 * of what the run was begun with: ECONF unless no result depends on these options. More
 * resource for the only job of a run, also a complete one, holds from now on.
 * Collective. */
WEFT_CHECKED weft_status weft_run_resume(const char *path, int again, int n,
                                         char *const *assignment, weft_team *world);
/* Scores the winner of a run on another packed file, or, data NULL, on what its workers
 * have, and prints the scores. assignment[n]: "section.key=value" of options on which no
 * result depends. Collective over world. EFILE; ECONF; EDATA if classes, columns or shapes
 * do not match. */
WEFT_CHECKED weft_status weft_run_eval(const char *run, const char *data, int n,
                                       char **assignment, weft_team *world);
/* Writes what the winner of a run says of each row of a packed file: the class, and the
 * score of each class; or what is written, by columns with TABs, of all sources where the
 * file is to be scored, else of those that have a reference. `out` NULL: to standard
 * output. Collective over world. EFILE; ECONF: its task predicts no rows; EDATA as
 * weft_run_eval. Memory: 2^20 scores a rank, or texts of 2^12 lines.
 */
WEFT_CHECKED weft_status weft_run_predict(const char *run, const char *data,
                                          const char *out, weft_team *world);
/* Writes the winner's weights and configuration to a small HDF5 file. EFILE. */
WEFT_CHECKED weft_status weft_run_export(const char *run, const char *out);

#endif
