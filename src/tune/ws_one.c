/* One trial, shared by all configurations of the space: its samples draw from a mixture of
 * all of them, which the mixing updates. With run.mixing = mw this is federated
 * multiplicative weights: Khodak, Li, Roberts, Balcan, Talwalkar, "Weight-sharing beyond
 * neural architecture search: efficient feature map selection and federated hyperparameter
 * tuning", SysML 2019, section 4.1. */
#include "weft/tune/tune.h"

struct solo {
    int64_t resource;
    int asked;
};

static const weft_opt solo_opts[] = {
    WEFT_LONG_OPT("resource", struct solo, resource, "800", 1, 1e9,
                  "resource of the one trial, in the task's unit: rounds"),
    {0},
};

static weft_status solo_setup(void *self, const weft_space *space, uint64_t seed,
                              weft_arena *mem)
{
    struct solo *solo = self;
    (void)space;
    (void)seed;
    (void)mem;
    solo->asked = 0;
    return WEFT_OK;
}

static weft_asked solo_ask(void *self, weft_job *job)
{
    struct solo *solo = self;
    if (solo->asked) return WEFT_DONE;
    solo->asked = 1;
    *job = weft_job_new(0, (double)solo->resource, NULL);
    job->last = 1;
    return WEFT_JOB;
}

static void solo_tell(void *self, const weft_result *res)
{
    (void)self;
    (void)res;
}

static int64_t solo_jobs(const void *self)
{
    (void)self;
    return 1;
}

static void solo_extent(const void *self, weft_extent *out)
{
    const struct solo *solo = self;
    *out = (weft_extent){.trials = 1, .resource = (double)solo->resource};
}

extern const weft_tuner weft_tuner_ws_one;
const weft_tuner weft_tuner_ws_one = {
    .kind = {.name = "ws_one",
             .about = "one trial, whose clients draw from a mixture of the whole space",
             .size = sizeof(struct solo),
             .opts = solo_opts},
    .shared = WEFT_SHARES_MIXTURE,
    .setup = solo_setup,
    .ask = solo_ask,
    .tell = solo_tell,
    .jobs = solo_jobs,
    .extent = solo_extent,
    .waits = 1,
};
