/* The run file: the tables of its jobs, its winner, what it may be given more with; and an
 * unfinished run as one. */
#ifndef WEFT_RESULT_RESULT_H
#define WEFT_RESULT_RESULT_H

#include "rundir/rundir.h"
#include "sched/sched.h"
#include "weft/base/base.h"
#include "weft/data/data.h"
#include "weft/data/sample.h"
#include "weft/kept/kept.h"
#include "weft/math/linear.h"
#include "weft/space/job.h"
#include "weft/space/scores.h"
#include "weft/space/space.h"
#include "weft/store/h5.h"
#include "weft/task/state.h"
#include "weft/task/task.h"

#define WEFT_COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* Time as text, "2026-01-31T12:00:00Z", from seconds since 1970. Owned by mem. */
const char *weft_time_text(int64_t seconds, weft_arena *mem);

/* ---- jobs ---- */

/* Descriptions of the task's metrics and of the axes: what is needed to read job
 * records. */
typedef struct weft_tables {
    const weft_metric *metrics, *rows, *scores;
    int dim;
    const weft_axis *axis; /* [dim]; if read from a journal, options have only name, type
                              and words */
} weft_tables;

/* The tables as a text, for the head of the journal. Owned by mem. */
const char *weft_tables_text(const weft_tables *tables, weft_arena *mem);

/* The starts of a run. */
typedef struct weft_starts {
    int64_t n;           /* how many */
    int teams, most;     /* of the last start; the most that a start had */
    double setup;        /* seconds of all set-ups */
    double team_seconds; /* seconds of the search, of each start times its teams */
} weft_starts;

/* The jobs of a run, from which the tables of the run file are made. */
typedef struct weft_history {
    weft_tables tables;
    int64_t n;
    const weft_job_record *record; /* [n] by id */
    int64_t nflight;
    const weft_job_record *flight; /* [nflight] jobs that are not done, by id: their rounds
                                      so far and their configurations are written */
    double optimum;                /* least first metric of any configuration of the space;
                                      NAN: not known */
    weft_starts starts;
    int64_t workers;           /* number of simulated workers that had a job */
    double overhead, makespan; /* virtual seconds: overhead of a job; duration of the
                                  search */
    double seconds;            /* of the search */
    const weft_goals *goals;   /* what the aims of results are */
    const weft_run_opts *opts; /* that they are from */
} weft_history;

/* Writes the tables of the jobs. */
WEFT_CHECKED weft_status weft_history_put(weft_h5 *file, const weft_history *history);
/* The dataset of a group, "" or "/metrics/", that has numbers under a name of their own:
 * HDF5 takes slashes as separators, and dots stand in their place. */
const char *weft_dataset_name(const char *group, const char *name, weft_arena *mem);

/* Sums up the starts among the times time[n], in their order; history->starts is not read.
 */
weft_starts weft_starts_sum(const weft_time *time, int64_t n, const weft_history *history);

/* Writes a row for each member into a group, of the test part, or of the validation part
 * where the former was not scored, and as attributes of the group what a row does not show:
 * worst_error, the mean over the tenth with the largest error, median_error, best_error and
 * std_error, of the column `error_column`, the last of the table's errors that was scored.
 * Nothing where there are no members. EFILE. */
WEFT_CHECKED weft_status weft_members_put(weft_h5 *file, const char *group,
                                          const weft_scores score[WEFT_NPART]);

/* ---- the winner ---- */

/* The confusion matrix of the test part. */
typedef struct weft_confusion {
    int64_t classes;         /* 0: there is none */
    const char *const *name; /* [classes] */
    const double *rows;      /* [classes][classes] as weft_quality.confusion */
} weft_confusion;

/* Reads it from /winner/confusion, of the classes /winner/class; `classes` is 0 where there
 * is none. EFILE. */
WEFT_CHECKED weft_status weft_confusion_read(weft_confusion *confusion, weft_h5 *file);
/* Where the mean over the classes of the shares that are right is not above that of
 * guesses, 1 / classes, by more than 1.96 of its standard errors or two points: a text of
 * both, owned by mem; else NULL, and where there are fewer than two classes. */
const char *weft_confusion_guess(const weft_confusion *confusion, weft_arena *mem);
/* To stdout, if there are at most 12 classes. */
void weft_confusion_print(const weft_confusion *confusion);

/* What the winner's clients keep, rows of /winner/kept of a file that stays open. */
typedef struct weft_stored {
    int64_t n, each;             /* clients, those without a row too; numbers of a row */
    int64_t m;                   /* rows */
    const int64_t *client;       /* [m] increasing */
    double mark[WEFT_KEPT_MARK]; /* of the table */
    weft_h5 file;
    weft_h5set set; /* of the rows, [m][each]; open if m > 0 */
} weft_stored;

/* Opens the rows of a file, *rows, NULL if it has none; owned by mem, to be closed. EFILE.
 */
WEFT_CHECKED weft_status weft_stored_open(weft_stored **rows, const char *path,
                                          weft_arena *mem);
/* Makes the rows those of client[m] in a table, -1: of none; NULL: of the clients that they
 * have. They are read from the file when they are asked for. */
void weft_stored_give(weft_stored *rows, const int64_t *client, weft_kept *kept);
/* A table of its own of them; NULL if rows is. Owned by mem. */
weft_kept *weft_stored_table(weft_stored *rows, weft_arena *mem);
/* NULL allowed. */
void weft_stored_close(weft_stored *rows);

/* Of weights in files. */
#define WEFT_REAL_TYPE (sizeof(real) == 8 ? WEFT_H5_F64 : WEFT_H5_F32)

/* Attributes of the run that found a winner. */
enum {
    WEFT_ORIGIN_TUNER,
    WEFT_ORIGIN_DATA,
    WEFT_ORIGIN_DATA_DIGEST,
    WEFT_ORIGIN_DIGEST,
    WEFT_NORIGIN
};

/* The winner of a run file or an exported winner: everything needed to score it. */
typedef struct weft_winner {
    const char *config; /* an input file that trains it alone; NULL: not to be written */
    const char *text;   /* its configuration as readable text */
    double refitted; /* rows of train and valid that it was trained on, to be written; 0: it
                        was on those of train, or of folds */
    int64_t id;      /* number of its configuration in the space */
    int64_t job, trial, round;
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS]; /* [ntensor] in state */
    const real *state;
    const weft_metric *scores;     /* the table of scores */
    weft_scores score[WEFT_NPART]; /* NAN where not scored; without counts */
    weft_confusion confusion;      /* of the test part, where it was scored */
    weft_likeness like;            /* properties of the data that it was trained on */
    weft_vocab vocab; /* words to which the tensors refer by number: n, text, offset, and
                         hash when read from a file; n 0: they refer to none */
    const weft_kept *kept; /* what its clients keep, to be written; NULL: nothing */
    weft_stored *rows;     /* the same as it was read, to be closed; likewise */
    int64_t nmember;       /* clients that keep or have weights, where named, */
    const char **member;   /* [nmember] and these; NULL: they have none */
    const char *origin[WEFT_NORIGIN]; /* of the run; set when read from a file */
} weft_winner;

/* Writes /winner. EFILE. */
WEFT_CHECKED weft_status weft_winner_put(const weft_winner *winner, weft_h5 *file);

/* Writes the winner as a separate file, with the attributes of the run. EFILE. */
WEFT_CHECKED weft_status weft_winner_export(const weft_winner *winner, const char *run,
                                            weft_h5 *file);

/* Reads the winner of a run file or an exported one. ENONE, EFILE. */
WEFT_CHECKED weft_status weft_winner_read(weft_winner *winner, const char *path,
                                          weft_arena *mem);
/* Closes a winner that weft_winner_read was called for, whose clients' rows are then gone;
 * one of zeros is left as it is. */
void weft_winner_close(weft_winner *winner);

/* Names, shapes and offsets of the winner's tensors in a run file or exported winner; their
 * number in *n. EFILE. */
WEFT_CHECKED weft_status weft_winner_tensors(weft_h5 *file, int *n,
                                             weft_tensor out[WEFT_MAX_TENSORS]);

/* The winner's scores on all parts in a run file or exported winner, NAN where it was not
 * scored, without counts, and their table. EFILE. */
WEFT_CHECKED weft_status weft_winner_scores(weft_h5 *file, const weft_metric **table,
                                            weft_scores score[WEFT_NPART]);

/* ---- the whole ---- */

/* Rows of times in a run file: compute, wait, comm, io, bytes, memory. */
enum { WEFT_NTIME = 6 };

/* Everything that is written to a run file. */
typedef struct weft_outcome {
    const weft_run_opts *opts;
    const weft_space *space;
    const char *data_digest, *files; /* of the data; sums of files that options name */
    weft_likeness like;              /* of the data */
    const weft_vocab *vocab;         /* words that the weights refer to; NULL: none */
    int ranks, teams;
    int64_t configs; /* of the search */
    int grows;       /* 1: its only job may be given more */
    int longer;      /* 1: its search may be made longer */
    int by_resource; /* 1: how long a winner is trained alone depends on its resource */
    weft_history history;
    const weft_ledger *ledger; /* NULL: the task has none */
    const char *config;        /* text */
    const char *hosts;
    int64_t began;
    const char *directory; /* in which the run was begun; NULL: not known */
    uint64_t digest;
    struct {
        const weft_job_record *winner;
        const char *none; /* why nothing won; NULL: `winner` did, and the rest is set */
        const weft_state *state; /* after its job */
        double refitted; /* rows that it was trained on once more; 0: it is as the search
                            left it */
        int ntensor;
        weft_tensor tensor[WEFT_MAX_TENSORS]; /* [ntensor] in state */
        weft_scores score[WEFT_NPART];        /* NAN where not scored */
        int64_t nmember;                      /* as in weft_winner */
        const char **member;
        const char *members; /* the task's; group of its members' scores */
    } won;
    struct {
        double setup, search, refit, test; /* seconds */
        double times[WEFT_NTIME][WEFT_NSPREAD];
    } spent;
} weft_outcome;

/* Writes the run file; called by rank 0. EFILE. */
WEFT_CHECKED weft_status weft_run_write(const char *path, const weft_outcome *outcome);

/* What a complete run leaves in its run file, /more, so that it can be given more. */
typedef struct weft_more {
    const char *config, *data, *files,
        *directory; /* text, digest of the data, sums of files that options name, where
                       it was begun */
    double setup, search; /* seconds so far */
    int64_t teams;
    int64_t n;           /* records of jobs for a longer search; 0: more resource */
    const void **packed; /* [n] */
    int64_t *bytes;      /* [n] */
    weft_state state;    /* of the winner, with what its clients keep in the file; x NULL:
                            there is none */
    uint64_t best; /* sum of a program's directory when the run ended (weft_tree_sum) */
    weft_winner winner;     /* of the file */
    weft_job_record record; /* of its job, with its rows */
} weft_more;

/* Reads it: with `longer` what a longer search needs, else more resource. ECONF: the run
 * has none, and why; EFILE. Owned by mem; the winner is to be closed. */
WEFT_CHECKED weft_status weft_more_read(weft_more *more, const char *path, int longer,
                                        weft_arena *mem);

/* Writes it to a run directory that has just begun, with the times of the run so far: of a
 * longer search records and the winner's state, else a checkpoint. EFILE. Collective over
 * world. */
WEFT_CHECKED weft_status weft_more_restore(const weft_more *more, weft_rundir *rundir);

/* Writes the contents of the journals of an unfinished run as a run file `out` without
 * times, digest and winner, whose attribute `unfinished` says how far the run is. A process
 * may be working on the run. EFILE: the journals contain no job yet. */
WEFT_CHECKED weft_status weft_run_snapshot(const char *path, const char *out);

#endif
