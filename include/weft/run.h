/* A run: jobs from the tuner to the task, journal and run file, restart. */
#ifndef WEFT_RUN_H
#define WEFT_RUN_H

#include "weft/registry.h"

#ifdef __clang__
#define WEFT_COMPILER "clang " __clang_version__
#else
#define WEFT_COMPILER "gcc " __VERSION__
#endif

/* Section [run] of an input file. */
typedef struct weft_run_opts {
    const char *task, *tuner, *sampler, *mixing, *data, *output;
    int64_t seed;
    double memory;     /* GB a rank may use */
    double disk;       /* GB of disk that states of waiting trials may take; 0: no limit */
    double time_limit; /* seconds; 0 = none */
    double target;     /* stop when a trial that may win has at most this loss; 0 = never */
    double checkpoint; /* seconds between checkpoints of a job made of rounds */
    double watchdog;   /* seconds without progress after which a rank is named; 0 = none */
    int teams;         /* of ranks that do jobs side by side */
    int64_t workers;   /* simulated workers, in virtual time */
    int clock;         /* 0: virtual, 1: wall */
    double overhead;   /* virtual seconds per job for asking and telling */
    int test;          /* 1: score the winner on the test part */
} weft_run_opts;
extern const weft_kind weft_run_kind;

/* Reads the configuration, sets everything up, runs to the end, writes output (RUN.h5); a
 * run that is there already is replaced where force is 1, else EFILE. Collective over
 * world. WEFT_STOP: stopped by signal or limit; `weft resume` goes on. */
WEFT_CHECKED weft_status weft_run_tune(weft_conf *conf, int force, weft_team *world);
/* Prints the cost of the run that the configuration describes; trains for a few seconds at
 * most, to measure. Collective. */
WEFT_CHECKED weft_status weft_run_plan(weft_conf *conf, weft_team *world);
/* Goes on with a run from its journal and states. In this session the assignments
 * "section.key=value" hold in place of what the run was begun with: ECONF unless no result
 * depends on these options. Collective. */
WEFT_CHECKED weft_status weft_run_resume(const char *path, int n, char *const *assignment,
                                         weft_team *world);
/* Scores the winner of a run on another packed file. Collective. */
WEFT_CHECKED weft_status weft_run_eval(const char *run, const char *data, weft_team *world);
/* Writes the winner's weights and configuration to a small HDF5 file. Serial. */
WEFT_CHECKED weft_status weft_run_export(const char *run, const char *out);

/* Tests launcher, hosts, cores, memory, BLAS, connection and the file system of the
 * directory `dir`, prints what it finds and warns of what is wrong. EFILE: nothing can be
 * written to `dir`. Collective. About a second. */
WEFT_CHECKED weft_status weft_run_doctor(const char *dir, weft_team *world);

/* ---- for readers of run files ---------------------------------------------------- */

#define WEFT_RUN_FORMAT    "weft run 2"
#define WEFT_WINNER_FORMAT "weft winner 2"

/* What candidates for the winner are compared by. */
typedef struct weft_merit {
    int64_t job;
    int wins; /* its weft_eligibility */
    double size, resource, loss;
} weft_merit;
/* Positive if a is better. In this order: a job that may win beats one that may not, and of
 * two that may not the later is better; a finite loss beats one that is not; the larger
 * size and the larger resource, unless one of the jobs has WEFT_WINS_LOSS; the lower loss;
 * the earlier job. */
int weft_merit_compare(const weft_merit *a, const weft_merit *b);

/* EFILE unless the file is a run file, or, where `exported` is 1, an exported winner, of
 * this version. Local. */
WEFT_CHECKED weft_status weft_run_format(weft_h5 *f, int exported);
/* Opens a run file; EFILE also where the run is unfinished, and says so. Local. */
WEFT_CHECKED weft_status weft_run_file(weft_h5 *f, const char *path, weft_arena *mem);
/* 1 if the run file is not there, but the journal of its run is. Local. */
int weft_run_is_unfinished(const char *path);
/* Writes what the journals of an unfinished run hold by now as a run file `out` without
 * winner, times and digest, whose attribute `unfinished` says how far the run is. The run
 * may be going on. EFILE: the journals hold nothing yet. Local. */
WEFT_CHECKED weft_status weft_run_snapshot(const char *path, const char *out);
/* Names, shapes and places of a winner's tensors in a file; their number in *n. EFILE.
 * Local.
 */
WEFT_CHECKED weft_status weft_winner_tensors(weft_h5 *f, int *n,
                                             weft_tensor out[WEFT_MOST_TENSORS]);

#endif
