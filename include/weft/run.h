/* A run: set-up, scheduling of jobs, journals, the run file, resume. */
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
    double disk;       /* GB of disk space for the states of waiting trials; 0: no limit */
    double time_limit; /* seconds; 0 = none */
    double target;     /* stop when a trial that may win has a loss of at most this; 0 =
                          never */
    double checkpoint; /* seconds between checkpoints of a job made of rounds */
    double watchdog;   /* seconds without progress after which a rank is named; 0 = none */
    int teams;         /* number of teams of ranks, which do jobs in parallel */
    int64_t workers;   /* number of simulated workers in virtual time */
    int clock;         /* 0: virtual, 1: wall */
    double overhead;   /* virtual seconds per job for asking and telling */
    int test;          /* 1: score the winner on the test part */
} weft_run_opts;
extern const weft_kind weft_run_kind;

/* Reads the configuration, sets everything up, runs to the end, writes output (RUN.h5); an
 * existing run of that name is replaced if force is 1, else EFILE. Collective over world.
 * WEFT_STOP: stopped by signal or limit; `weft resume` goes on. */
WEFT_CHECKED weft_status weft_run_tune(weft_conf *conf, int force, weft_team *world);
/* Prints the expected cost of the run that the configuration describes, with rates measured
 * in a few seconds of training. Collective over world. ECONF, EDATA, ELIMIT, EFILE. */
WEFT_CHECKED weft_status weft_run_plan(weft_conf *conf, weft_team *world);
/* Goes on with a run from its journal and states. again 1: its failed jobs are repeated,
 * also of a complete run. In this session the assignments "section.key=value" hold in place
 * of what the run was begun with: ECONF unless no result depends on these options.
 * Collective. */
WEFT_CHECKED weft_status weft_run_resume(const char *path, int again, int n,
                                         char *const *assignment, weft_team *world);
/* Scores the winner of a run on another packed file and prints the scores. Collective over
 * world. EFILE; EDATA if classes, columns or shapes do not match. */
WEFT_CHECKED weft_status weft_run_eval(const char *run, const char *data, weft_team *world);
/* Writes the winner's weights and configuration to a small HDF5 file. EFILE. */
WEFT_CHECKED weft_status weft_run_export(const char *run, const char *out);

/* Tests launcher, hosts, cores, memory, BLAS, the connection between ranks and the file
 * system of the directory `dir`, prints the results and warns of problems. EFILE: `dir` is
 * not writable. Collective over world. Takes about a second. */
WEFT_CHECKED weft_status weft_run_doctor(const char *dir, weft_team *world);

/* ---- for readers of run files ---- */

/* Rows of times in a run file: compute, wait, comm, io, bytes, memory. */
enum { WEFT_NTIME = 6 };

#define WEFT_RUN_FORMAT    "weft run 2"
#define WEFT_WINNER_FORMAT "weft winner 2"

/* What decides which of two jobs is better. */
typedef struct weft_merit {
    int wins; /* its weft_eligibility */
    double size, resource;
    weft_rank rank; /* with the job as id */
} weft_merit;
/* Positive if a is better. Criteria in this order: a job that may win is better than one
 * that may not, and of two that may not the later one; a finite loss is better than an
 * infinite one; the larger size, then the larger resource, unless one of the jobs has
 * WEFT_WINS_LOSS; the better rank. */
int weft_merit_compare(const weft_merit *a, const weft_merit *b);

/* EFILE unless the file is a run file, or, where `exported` is 1, an exported winner, of
 * this version. */
WEFT_CHECKED weft_status weft_run_format(weft_h5 *f, int exported);
/* Opens a run file. EFILE, also if the run is unfinished, which the message then says. */
WEFT_CHECKED weft_status weft_run_file(weft_h5 *f, const char *path, weft_arena *mem);
/* 1 if the run file does not exist, but the journal of its run does. */
int weft_run_is_unfinished(const char *path);
/* Writes the contents of the journals of an unfinished run as a run file `out` without
 * times and digest, whose attribute `unfinished` says how far the run is. `weights` 1: with
 * those of the best job so far, as /winner, if they are on disk. A process may be working
 * on the run. EFILE: the journals contain no job yet, or the weights are damaged. */
WEFT_CHECKED weft_status weft_run_snapshot(const char *path, const char *out, int weights);
/* Names, shapes and offsets of the winner's tensors in a run file or exported winner; their
 * number in *n. EFILE. */
WEFT_CHECKED weft_status weft_winner_tensors(weft_h5 *f, int *n,
                                             weft_tensor out[WEFT_MAX_TENSORS]);
/* The winner's scores on all parts in a run file or exported winner, NAN where it was not
 * scored, without counts, and their table. EFILE. */
WEFT_CHECKED weft_status weft_winner_scores(weft_h5 *f, const weft_metric **table,
                                            weft_scores score[WEFT_NPART]);

#endif
