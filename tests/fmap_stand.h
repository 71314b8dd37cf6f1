/* Task fmap set up on random rows for a test, and its jobs. Included by t_fmap*.c. */
#ifndef WEFT_TEST_FMAP_STAND_H
#define WEFT_TEST_FMAP_STAND_H

#include "in_memory.h"
#include "measured.h"

enum { N = 400, VALID = 150, D = 9, C = 3, F = 20, K = 3, W = C * (F + 1), SEED = 11 };
enum { TRIAL = 2, ROUND = 5 };

static int ntrain = N; /* training rows, of N */
static float value[N + VALID][D];
static int32_t label[N + VALID];
static const weft_task *const task = &weft_task_fmap;

static inline void make_data(weft_data *data)
{
    for (int i = 0; i < N + VALID; i++) {
        label[i] = (int32_t)(weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, 99, 0).v[0] % C);
        for (int d = 0; d < D; d++)
            value[i][d] = (float)(0.6 * normal_of(5, i, d, 0) + (d % C == label[i]));
    }
    *data = data_of(WEFT_REALS, C);
    for (int p = 0; p < 2; p++) {
        weft_rows *rows = deal_rows(data, p, p ? VALID : ntrain, D);
        rows->value = value[p * N + rows->first];
        rows->label = label + p * N + rows->first;
    }
}

/* ---- the task ---- */

struct stand {
    weft_data data;
    void *self;
    weft_conf conf;
    weft_space space;
    weft_job job;
    weft_result res;
    weft_state state;
};

static const char fixed[] = "[fmap]\nfeature = rff\nmodel = ridge\n"
                            "[rff]\nfeatures = 20\nkernel = gaussian | laplacian\n"
                            "gamma = log 0.02 .. 2\n"
                            "[ridge]\nalpha = 2\ntol = 1e-10\n[space]\nconfigs = 3\n";

/* The task with further options and the probabilities p[K] of its three maps. */
static inline weft_status set_up(struct stand *stand, const char *options, const double *p)
{
    make_data(&stand->data);
    stand->self = weft_arena_alloc(mem, 1, task->kind.size);
    TRY(read_input(&stand->conf, fixed, options));
    TRY(open_on(task, stand->self, &stand->conf, &stand->space, &stand->data, SEED));
    weft_mix mix = first_configs(&stand->space, K);
    for (int i = 0; i < K; i++) mix.logp[i] = log(p[i]);
    stand->job = weft_job_new(TRIAL, 1, &mix);
    stand->job.index = ROUND;
    stand->res = result_of(task, K);
    stand->state = weft_state_new(task, stand->self, &stand->job, mem);
    return WEFT_OK;
}

static inline struct stand *stand_up(const char *options, const double *p)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    must(set_up(stand, options, p));
    return stand;
}

static inline void run(struct stand *stand)
{
    must(task->step(stand->self, &stand->job, 0, &stand->state, NULL, &stand->res));
}

/* The model's weights and intercepts in the state. */
static inline const real *weights(const struct stand *stand)
{
    return stand->state.x + stand->state.nx - W;
}

#endif
