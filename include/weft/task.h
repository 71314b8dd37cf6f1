/* Tasks: a resumable training whose whole state is one flat vector. The scheduler hands a
 * task jobs; the task knows data, features and models, but neither tuners nor files. */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

#include "weft/model.h"

/* What a task is set up with. */
typedef struct weft_env {
    weft_team *team;
    weft_conf *conf; /* to bind the options of what the task names (features, models) */
    weft_data *data;
    weft_space *space;
    uint64_t seed;
    double memory;   /* bytes a rank may use */
    weft_arena *mem; /* lives as long as the task */
} weft_env;

/* What a job of the task will take, for --plan. */
typedef struct weft_cost {
    double flops, bytes; /* operations, bytes through collectives, over all ranks */
    double memory;       /* bytes per rank */
    double passes;       /* products with the matrix that were assumed */
} weft_cost;

typedef struct weft_task {
    weft_kind kind;
    /* The plug-in whose options may be axes of the search space, as named by the task's own
     * options. ECONF: unknown name. Local. Called before setup. */
    weft_status (*tuned)(void *self, const weft_kind **kind);
    weft_status (*setup)(void *self, const weft_env *env); /* Collective */
    int64_t (*nstate)(const void *self);                   /* reals of a trial's state */
    void (*start)(const void *self, const weft_job *job, real *state);
    int64_t (*affinity)(const void *self, const weft_job *job); /* jobs to run in a row */
    void (*cost)(const void *self, const weft_job *job, weft_cost *out);
    /* Does the job: state in and out, equal on all ranks. Collective. */
    void (*step)(void *self, const weft_job *job, real *state, weft_result *res);
    /* Scores of state under job's mixture on a part; never told to a tuner. Collective. */
    void (*score)(void *self, const weft_job *job, const real *state, weft_part part,
                  double *loss, double *error);
} weft_task;

/* The task of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_task_find(const char *name, const weft_task **out);

#endif
