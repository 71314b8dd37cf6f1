/* A run: jobs from the tuner to the task, journal and run file, restart, tables. */
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
    const char *task, *tuner, *data, *output;
    int64_t seed;
    double memory;     /* GB a rank may use */
    double time_limit; /* seconds; 0 = none */
    double target;     /* stop when what may win has at most this loss; 0 = never */
    double checkpoint; /* seconds between checkpoints of a job made of rounds */
    int teams;         /* of ranks that do jobs side by side */
    int test;          /* 1: score the winner on the test part */
} weft_run_opts;
extern const weft_kind weft_run_kind;

/* Reads the configuration, sets everything up, runs to the end, writes output (RUN.h5); a
 * run that is there already is replaced where force is 1, else EFILE. Collective over
 * world. WEFT_STOP: stopped by signal or limit; `weft resume` goes on. */
WEFT_CHECKED weft_status weft_run_tune(weft_conf *conf, int force, weft_team *world);
/* Prints what the same configuration would take; trains for seconds at most, to measure.
 * Collective. */
WEFT_CHECKED weft_status weft_run_plan(weft_conf *conf, weft_team *world);
/* Goes on with a run from its journal and states. Collective. */
WEFT_CHECKED weft_status weft_run_resume(const char *path, weft_team *world);
/* Scores the winner of a run on another packed file. Collective. */
WEFT_CHECKED weft_status weft_run_eval(const char *run, const char *data, weft_team *world);
/* Writes the winner's weights and configuration to a small HDF5 file. Serial. */
WEFT_CHECKED weft_status weft_run_export(const char *run, const char *out);

typedef enum weft_style { WEFT_TABLE, WEFT_CSV, WEFT_JSON } weft_style;
/* Prints the results of runs. Serial. */
WEFT_CHECKED weft_status weft_report(const char *const *run, int n, weft_style style);
/* Prints what an HDF5 file of weft's holds. Serial. */
WEFT_CHECKED weft_status weft_info(const char *path);

#endif
