/* Section [run] of an input file: what is searched, and how. */
#ifndef WEFT_SCHED_OPTIONS_H
#define WEFT_SCHED_OPTIONS_H

#include "weft/opt.h"

/* Section [run] of an input file. */
typedef struct weft_run_opts {
    const char *task, *tuner, *sampler, *mixing, *data, *start, *output;
    int64_t seed;
    double memory;     /* GB a rank may use */
    double disk;       /* GB of disk space for the states of waiting trials; 0: no limit */
    double time_limit; /* seconds; 0 = none */
    double target;     /* stop when a trial that may win has a loss of at most this; 0 =
                          never */
    double checkpoint; /* seconds between checkpoints of a job made of rounds */
    double watchdog;   /* seconds without progress after which a rank is named; 0 = none */
    int scale;         /* a weft_scale */
    int balanced;      /* run.class_weights */
    int teams;         /* number of teams of ranks, which do jobs in parallel */
    int64_t workers;   /* number of simulated workers in virtual time */
    int clock;         /* 0: virtual, 1: wall */
    double overhead;   /* virtual seconds per job for asking and telling */
    int refit;         /* 1: train the winner once more, on train and valid */
    int test;          /* 1: score the winner on the test part */
} weft_run_opts;
extern const weft_kind weft_run_kind;

#endif
