/* Tasks: a resumable training whose whole state is two flat arrays. The scheduler hands a
 * task jobs; the task knows data, features and models, but neither tuners nor files. */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

#include "weft/data.h"
#include "weft/model.h"
#include "weft/net.h"
#include "weft/space.h"

/* What a task is set up with. */
typedef struct weft_env {
    weft_team *team;
    weft_conf *conf; /* to bind the options of what the task names (features, models) */
    weft_data *data; /* NULL: run.data is not given, if weft_need allows that */
    weft_space *space;
    uint64_t seed;
    double memory;   /* bytes a rank may use */
    weft_arena *mem; /* lives as long as the task */
    const char *dir; /* directory of the run, for the states of a task that are directories;
                        NULL: no job is done */
    int (*stopped)(void); /* not 0: the run is asked to stop; for steps that take long,
                             which then return WEFT_STOP. NULL: never */
    double deadline;      /* of the run, by weft_now; 0: none */
} weft_env;

/* The directory that a job left, in env->dir: made of env->dir, trial, job. Until it is
 * complete its name ends with ".tmp.NUMBER". */
#define WEFT_FILES_NAME "%s/files-%lld-%lld"

/* State of a trial, the same on all ranks: all that later jobs need. What belongs to only
 * one job (sums by configuration, log-probabilities) is in its result. */
typedef struct weft_state {
    real *x;     /* [nx] weights, and other numbers of their precision */
    int64_t nx;  /* the same for all jobs of a trial, and of trials that copy each other */
    double *aux; /* [naux] what is kept in double precision: sums, times, counters */
    int64_t naux;
} weft_state;

/* What a job of the task will cost, for --plan. */
typedef struct weft_cost {
    double flops, bytes; /* operations, bytes through collectives, over all ranks */
    double memory;       /* bytes per rank */
    double passes;       /* products with the matrix that were assumed */
} weft_cost;

/* Does a task read the packed data that run.data names? */
typedef enum weft_need {
    WEFT_DATA_NEEDED,   /* a run without data is refused */
    WEFT_DATA_OPTIONAL, /* it may be given; setup refuses it where an option excludes it */
    WEFT_DATA_NONE      /* a run with data is refused */
} weft_need;

#define WEFT_MOST_TUNED 4 /* plug-ins whose options may be axes, at most */

typedef struct weft_task {
    weft_kind kind;
    const weft_kind *const
        *parts; /* further sections of its own, NULL at the end; or NULL */
    int files;  /* 1: a job leaves a directory, too, WEFT_FILES_NAME, which the state names:
                   the job makes it, the run removes it */
    const char *tuner; /* its own: for run.tuner = auto, where an option has a range */
    int moves;         /* 1: its steps move a job's mixture by job->update */
    /* That trains a configuration: for a tuner's resource = 0. Depends on the options only,
     * before setup. NULL: always 1. Local. */
    int64_t (*resource)(const void *self);
    weft_need data;
    /* What it measures: of a job, the first being its validation loss, and of a unit of one
     * (rows); and by which a winner is scored on a part. A score NAME of the validation
     * part is the metric valid_NAME of a job of one configuration that is not made of
     * units, if there is one. Tables end with a name NULL; NULL: none. */
    const weft_metric *metrics, *rows, *scores;
    /* The setting because of which each job trains one configuration, "fmap.resource =
     * iterations"; NULL: jobs may train a mixture. Depends on the options only, before
     * setup. NULL: always NULL. Local. */
    const char *(*single)(const void *self);
    /* The setting that makes the score of a job of little resource as certain as that of
     * one of much resource, "fed.select = eval"; NULL: it is so already. Depends on the
     * options only, before setup. NULL: always NULL.
     */
    const char *(*unsure)(const void *self);
    /* The plug-ins whose options may be axes of the search space, as named by the task's
     * own options. ECONF: unknown name. Local. Called before setup. */
    weft_status (*tuned)(void *self, const weft_kind *kind[WEFT_MOST_TUNED], int *n);
    weft_status (*setup)(void *self, const weft_env *env); /* Collective */
    /* Sets nx and naux of *size: of the state after the job; job NULL: the largest after a
     * job of one configuration. If naux differs from that of the state a job begins with,
     * the numbers that both have are copied, the others are 0. Local. */
    void (*nstate)(const void *self, const weft_job *job, weft_state *size);
    /* The tensors that score needs, at the beginning of x after the job: in order, without
     * gaps; none if the state is a directory. Returns how many. Local. */
    int (*tensors)(const void *self, const weft_job *job,
                   weft_tensor out[WEFT_MOST_TENSORS]);
    /* Fills the state before the first job of a trial; all zeros on entry. NULL: it stays
     * zero. Local. */
    void (*start)(const void *self, const weft_job *job, weft_state *state);
    /* Jobs with equal affinity are best done one after the other. NULL: all are alike. */
    int64_t (*affinity)(const void *self, const weft_job *job);
    void (*cost)(const void *self, const weft_job *job, weft_cost *out);
    /* A lower bound of the virtual seconds that the job will take (result.cost), for a
     * trial that has had `before` resource: as close as can be known before it is run, at
     * best exact. A pure function. NULL: exactly the resource of the job. Local. */
    double (*seconds)(const void *self, const weft_job *job, double before);
    /* Number of units of a job, after each of which it can be stopped: all that the next
     * needs is in state and result. NULL: always 1, and no rows of rounds. */
    int64_t (*units)(const void *self, const weft_job *job);
    /* Announces jobs that have not begun: job[0] is the next; the others may follow, in any
     * order, or never be done. The task may compute now what is faster for several jobs at
     * once, and keep it until their steps; results do not change. NULL: the task does not
     * use it. Collective. */
    void (*ahead)(void *self, int n, const weft_job *const *job);
    /* Does unit 0, 1 ... of the job: state in and out, equal on all ranks. row[columns of
     * rows] is zero on entry (NULL where units is). *res comes from weft_result_begin
     * before unit 0, later from the unit before: it holds the sums by configuration and
     * log-probabilities. The last unit fills all of it, metrics included. EFILE.
     * Collective. */
    weft_status (*step)(void *self, const weft_job *job, int64_t unit, weft_state *state,
                        double *row, weft_result *res);
    /* 1: a winner that is a mixture is scored under it, as the task's own evaluations are;
     * 0 or NULL: under its winning configuration. Local. */
    int (*mixes)(const void *self);
    /* Least value of the first metric over all configurations of the space trained with at
     * most `resource`, for the regrets in the run file; NAN: not known. NULL: never known.
     * Local. */
    double (*optimum)(const void *self, double resource);
    /* Scores of the tensors at the beginning of x, under the job's mixture, on a part; no
     * tuner is told them. EFILE. Collective. */
    weft_status (*score)(void *self, const weft_job *job, const real *x, weft_part part,
                         weft_scores *out);
} weft_task;

/* The task of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_task_find(const char *name, const weft_task **out);

/* ---- states ----------------------------------------------------------------------------
 */

/* A state of zeros, of the size after the job (job NULL: as in nstate). Owned by mem.
 * Local.
 */
weft_state weft_state_new(const weft_task *task, const void *self, const weft_job *job,
                          weft_arena *mem);
/* Copies x and, as far as both have it, aux. The lengths of x must agree. Local. */
void weft_state_copy(weft_state *to, const weft_state *from);
/* Bytes of both arrays. Local. */
double weft_state_bytes(const weft_state *s);
/* Gives all ranks the state of rank 0, of the same lengths on all. Collective. */
void weft_state_bcast(weft_team *team, weft_state *s);
/* Hash of both arrays. Local. */
uint64_t weft_state_hash(const weft_state *s);

/* ---- task command ------------------------------------------------------------------- */

/* How main is called to supervise a program: weft WEFT_CHILD_WORD LINK COMMAND-LINE, where
 * LINK is a socket to the rank. */
#define WEFT_CHILD_WORD "--supervise"
#define WEFT_CHILD_ARGS 4
#define WEFT_CHILD_MARK "WEFT_SUPERVISOR" /* set only in its environment */
#define WEFT_NO_PROGRAM 127               /* status of a shell that finds none */
/* Runs the command line in a process group of its own until it ends, a byte comes from LINK
 * (SIGTERM, and SIGKILL 5 s later) or LINK is closed by the rank's end (SIGKILL); writes
 * the program's status, as of waitpid, to LINK. Returns the exit status of the supervisor.
 * To be called before MPI starts. Local. */
int weft_command_child(int argc, char **argv);

#endif
