/* What is tuned: what a task is given, and what it does. */
#ifndef LIBWEFT_TASK_TASK_H
#define LIBWEFT_TASK_TASK_H

#include "weft/data/data.h"
#include "weft/math/linear.h"
#include "weft/space/goals.h"
#include "weft/space/job.h"
#include "weft/space/scores.h"
#include "weft/space/space.h"
#include "weft/task/state.h"

/* The jobs that a search is going to have if all results are alike, of whose mixtures only
 * the number of configurations is set. */
typedef struct weft_planned {
    int64_t n;
    const weft_job *job; /* [n] */
} weft_planned;

/* What a task is given when it is set up. */
typedef struct weft_env {
    weft_team *team;
    weft_conf *conf; /* for binding the options of the plug-ins that the task names
                        (features, models) */
    weft_data *data; /* NULL: run.data is not given (only if weft_need allows that) */
    weft_data *own;  /* weft_data_tell, by a task with data elsewhere; NULL: not asked */
    weft_space *space;
    uint64_t seed;
    double memory;   /* bytes a rank may use */
    weft_arena *mem; /* lives as long as the task */
    const char *dir; /* directory of the run, for states that are directories; NULL: no job
                        is going to be done */
    const char *failed;   /* directory for what failed jobs printed, made when there is any;
                             set where dir is */
    int (*stopped)(void); /* returns 1 when the run must stop; polled by steps that take
                             long, which then return WEFT_STOP. NULL: never */
    void (*scored)(double share); /* told by `score`, where that takes long, which share of
                                     its work this rank has done. NULL: nobody is told */
    double deadline;              /* of the run, by weft_now; 0: none */
    /* What is planned, found when it is first asked for; NULL: not known. Local. */
    const weft_planned *(*planned)(void *planner);
    void *planner;
    int grown;    /* 1: the run is given more than it was begun with */
    int whole;    /* 1: the model of a winner that is trained on the train and valid parts
                     together; train has their rows where they are no federation's */
    int scaled;   /* 1: run.scale has columns scaled by the training rows */
    int balanced; /* 1: run.class_weights = balanced: samples are trained on by the weights
                     of their classes, weft_class_weights; scores stay as they are */
    int scoring; /* 1: only `score` is going to be called, with a winner of other data: what
                   only trainings need is not asked of these */
} weft_env;

/* ---- tasks: trainings that can be stopped and resumed, and whose whole state is two flat
 * arrays, beside what clients keep. The scheduler gives a task jobs; the task uses data,
 * features and models, but knows neither tuners nor files ---- */

/* The estimated cost of a job, for --plan. */
typedef struct weft_cost {
    double flops, bytes; /* operations, and bytes passed to collectives, over all ranks */
    double memory;       /* bytes per rank */
    double again;        /* operations of a unit of the refit; 0: there is none */
    double passes;       /* number of products with the matrix that the estimate assumes */
} weft_cost;

/* How a task uses the packed data that run.data names. */
typedef enum weft_need {
    WEFT_DATA_NEEDED,   /* a run without data is refused */
    WEFT_DATA_OPTIONAL, /* it may be given; setup refuses it where an option excludes it */
    WEFT_DATA_NONE      /* a run with data is refused */
} weft_need;

/* Tensors that refer to words by number: the weights of some networks, one after the
 * other, each of which ends with a table of one row a word. */
typedef struct weft_word_weights {
    const weft_vocab *vocab; /* with the text of its words; NULL: they refer to no words */
    weft_table table;        /* of each network */
    int networks;
} weft_word_weights;

/* An option of a task that names one of several plug-ins, each of which has a section. */
typedef struct weft_choice {
    const char *key;               /* the option; NULL: end of a list of choices */
    const weft_kind *const *kinds; /* ended by NULL: a list of the registry */
} weft_choice;

#define WEFT_MAX_TUNED 4 /* largest number of plug-ins whose options may be axes */

/* What a search offers to those who do its jobs elsewhere. */
typedef struct weft_offer {
    const weft_job *job;           /* the next that waits to be done; NULL: none */
    int64_t parent;                /* trial whose state it begins with; -1: a new one */
    double before;                 /* total resource of that */
    const weft_job_record *best;   /* of those that were told; NULL: none */
    int over;                      /* 1: no job is left: */
    int64_t n;                     /* jobs that were told; 0 before */
    const weft_job_record *record; /* [n] */
    const weft_goals *goals;       /* what their aims are; NULL: none */
} weft_offer;

/* Most rows of a job without units; of further reports the last takes the last row. */
enum { WEFT_MOST_REPORTS = 1000000 };

/* What a task is, whatever its options say. Only `metrics` and `data` must be given. */
typedef struct weft_task_traits {
    weft_need data;
    int numbers; /* 1: rows may have numbers to predict, and weights */
    /* Tables of what it measures: `metrics` of a job, the first being its validation loss;
     * `rows` of a unit; `scores` of a winner on a part. If a job of one configuration
     * without units has a metric valid_NAME, this is the winner's score NAME on the
     * validation part. Tables end with a name NULL; a table may be NULL. */
    const weft_metric *metrics, *rows, *scores;
    const char *members; /* what weft_scores.members are: "clients", the group of the run
                            file. NULL: samples belong to nobody */
    const char *lost;    /* "see LOST": where, if no job of a search has a finite loss */
    int files; /* 1: each job also leaves a directory WEFT_FILES_NAME, which the state
                  refers to: the job makes it, the run removes it; */
    const weft_holder *holder; /* or it is in memory until it is asked for. NULL: never */
    int scaled;   /* 1: its models take numbers as they are: run.scale = auto is for it */
    int balances; /* 1: it trains by weights of classes where env->balanced says so */
    int moves;    /* 1: its steps change a job's mixture by job->update */
    int defaults; /* 1: a random search begins with the options' defaults */
} weft_task_traits;

/* What its options say before it is set up. Each function may be NULL. */
typedef struct weft_task_plan {
    /* That trains a configuration: for a tuner's resource = 0. By the options only, before
     * setup. NULL: 1. The most that a trial can have, with the packed file `data`, and a
     * tuner's default for it; 0, or NULL: any. */
    int64_t (*resource)(const void *self);
    int64_t (*most)(const void *self, const char *data);
    /* The setting because of which each job trains one configuration, such as
     * "fmap.resource = iterations"; returns NULL if jobs may train mixtures. Depends on the
     * options only; called before setup. NULL: always NULL. */
    const char *(*single)(const void *self);
    /* 1: the units of a job are the same whatever its resource, so that a resume may give
     * it more, after its last unit, too. By the options only. NULL: they are not. */
    int (*grows)(const void *self);
} weft_task_plan;

/* What is done with a winner. A task has `score` if it has data; all others may be NULL. */
typedef struct weft_task_winner {
    /* The tensors that `score` needs, at the beginning of x after the job, in order,
     * without gaps. Returns their number. NULL: always none. */
    int (*tensors)(const void *self, const weft_job *job,
                   weft_tensor out[WEFT_MAX_TENSORS]);
    /* Sets by[..], zero on entry, to 1 for tensors with a row for each client of the data:
     * of a winner clients take the rows by name, or the mean of all. NULL: none has. */
    void (*by_client)(const void *self, const weft_job *job, char by[WEFT_MAX_TENSORS]);
    /* Those of a winner that run.start names, where the data have more than it knows, such
     * as languages: each is the first rows of every dimension of that of `tensors`. Returns
     * their number, 0 where it knows all. NULL: always 0. */
    int (*known)(const void *self, const weft_job *job, weft_tensor out[WEFT_MAX_TENSORS]);
    /* Sets *out, zero on entry, if the tensors after the job refer to words by number.
     * NULL: they never do. */
    void (*words)(const void *self, const weft_job *job, weft_word_weights *out);
    /* The resource with which the configuration of a job that wins is trained once more on
     * the train and valid parts, from the beginning and without a part that could stop it
     * (weft_env.whole). *res is of the job; metrics NAN: to be estimated. NULL: the task
     * cannot. */
    double (*refit)(const void *self, const weft_result *res);
    /* 1: a winner that is a mixture is scored under it; 0, NULL: under the winner of it. */
    int (*mixes)(const void *self);
    /* Minimum of the first metric over the space with at most `resource`, for the regrets
     * in the run file; NAN: not known. NULL: never known. */
    double (*optimum)(const void *self, double resource);
    /* Scores of the tensors at the beginning of x, and of what is kept, under the job's
     * mixture, on a part; they are not told to tuners. NULL for a task without data. EFILE;
     * WEFT_STOP where it takes long and env->stopped says so. Collective. */
    weft_status (*score)(void *self, const weft_job *job, const weft_state *state,
                         weft_part part, weft_scores *out);
    /* The scores of each class, the standardised numbers, or what is written, for each row
     * of a part, under the job's configuration, equal on all ranks; owned by mem. NULL:
     * nothing is predicted. ECONF: data of no such rows; EFILE, EDATA. Collective. */
    weft_status (*predict)(void *self, const weft_job *job, const weft_state *state,
                           weft_part part, weft_predictions *out, weft_arena *mem);
} weft_task_winner;

/* What jobs take in virtual time. */
typedef struct weft_task_timing {
    /* A lower bound of the virtual seconds of the job (result.cost), for a trial with a
     * total of `before` resource so far: as tight as is possible before the job is run, at
     * best exact. Depends only on its arguments. NULL: the resource of the job, exactly. */
    double (*seconds)(const void *self, const weft_job *job, double before);
    int repeats; /* 1: a job of more virtual seconds than its resource does so much of its
                    trial's work once more, and has in proportion more operations */
} weft_task_timing;

/* Jobs that others do: programs, workers, whoever asks. Each function may be NULL. */
typedef struct weft_task_remote {
    /* Of a task whose jobs are done elsewhere, several at once, by whoever takes them:
     * hands offer->job over, or waits a moment for the result of one that it has handed
     * over. The id of that job is *job, -1: neither. A result is given to `step`, called
     * next. To restore a state, `step` is called without one: res->loss is then what was
     * told. NULL: `step` does the jobs. WEFT_STOP: nobody is there to do them. One rank. */
    weft_status (*trade)(void *self, const weft_offer *offer, int64_t *job);
    /* How often a job that failed is tried again. NULL: never. */
    int (*retries)(const void *self);
    /* Repeats the first job of a trial, which succeeded once, and leaves nothing of it.
     * *works: 1 if it succeeds again, so that jobs that failed on this team have failed by
     * themselves. NULL: no job of the task fails. WEFT_STOP, EFILE. Collective. */
    weft_status (*probe)(void *self, const weft_job *job, int *works);
    /* Has programs repeat a few pieces of what they do, the first rank's in a directory
     * `place` that it may make. *told, owned by the task: lines that say whether bits
     * agree; NULL: weft does all. repeats NULL: no program does what counts. ECONF, EDATA,
     * EFILE, EWORKER, WEFT_STOP. Collective. */
    weft_status (*repeats)(void *self, const char *place, const char **told);
} weft_task_remote;

enum { WEFT_SCORED_PARTS = 2 }; /* of a winner, at most: validation and test */

/* What a run releases of its clients with noise, and what that costs: the epsilon at
 * `delta` by client (weft/privacy/accounting.h), INFINITY where a release has no noise. */
typedef struct weft_ledger {
    double epsilon, weights, scores; /* of all together; of weights, of scores alone */
    double delta;
    double noise, score_noise; /* multipliers */
    const char *sampling;
    int64_t rounds, scored, evaluations; /* of all trainings; of these with scores */
} weft_ledger;

/* A kind of training. A task must have tuned, setup, nstate, cost and step. */
typedef struct weft_task {
    weft_kind kind;
    const weft_kind *const *parts; /* further sections of options, or NULL; NULL ends it */
    const weft_choice *choices;    /* NULL: none */
    const char *tuner; /* default tuner: for run.tuner = auto if an option has a range */
    weft_task_traits traits;
    weft_task_plan plan;
    /* The plug-ins whose options may be axes of the search space, as named by the task's
     * own options. ECONF: unknown name. Called before setup. */
    weft_status (*tuned)(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n);
    weft_status (*setup)(void *self, const weft_env *env); /* Collective */
    /* Sets nx, naux, members and each of *size to those of the state after the job; job
     * NULL: the largest of one configuration. If naux differs from that of the state at the
     * job's start, the elements that both have are copied and the others are 0. */
    void (*nstate)(const void *self, const weft_job *job, weft_state *size);
    /* Fills the state, zero on entry, before the first job of a trial. NULL: it stays so.
     */
    void (*start)(const void *self, const weft_job *job, weft_state *state);
    /* Jobs with equal affinity are best done one after the other. NULL: all are alike. */
    int64_t (*affinity)(const void *self, const weft_job *job);
    void (*cost)(const void *self, const weft_job *job, weft_cost *out);
    /* Number of units of a job. After each unit it can be stopped, because everything that
     * the next needs is in state and result. NULL: always 1, and no rows. */
    int64_t (*units)(const void *self, const weft_job *job);
    /* Announces n jobs that have not started: job[0] is the next one; the others may follow
     * in any order, or not at all. The task may compute in advance what is faster for
     * several jobs together; results do not change. NULL: the task does not use it.
     * Collective. */
    void (*ahead)(void *self, int n, const weft_job *const *job);
    /* Does unit 0, 1 ... of the job: state in and out, equal on all ranks. row[columns of
     * rows] is zero on entry (NULL where units is). *res comes from weft_result_begin
     * before unit 0, later from the unit before: it holds the sums by configuration and
     * log-probabilities. The last unit fills all of it, metrics included. EFILE.
     * Collective. */
    weft_status (*step)(void *self, const weft_job *job, int64_t unit, weft_state *state,
                        double *row, weft_result *res);
    weft_task_winner winner;
    weft_task_timing timing;
    weft_task_remote remote;
    /* Fills *out for jobs by id, of which only the members that a tuner sets are looked at,
     * and a winner that is scored on so many parts. Returns 0 where nothing is protected.
     * A function of the jobs, whoever did them, and how often. NULL: always 0. Local. Cost:
     * below a second. */
    int (*ledger)(const void *self, int64_t n, const weft_job *job, int parts,
                  weft_ledger *out);
} weft_task;

/* The task's tensors, of which there are none without its function. */
int weft_task_tensors(const weft_task *task, const void *self, const weft_job *job,
                      weft_tensor out[WEFT_MAX_TENSORS]);
/* A zero state of the size after the job (job NULL: as in nstate). Owned by mem. */
weft_state weft_state_new(const weft_task *task, const void *self, const weft_job *job,
                          weft_arena *mem);

#endif
