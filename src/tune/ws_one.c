/* One trial, shared by all configurations of the space: its samples draw from a mixture of
 * all of them, which the mixing updates. With run.mixing = mw this is federated
 * multiplicative weights: Khodak, Li, Roberts, Balcan, Talwalkar, "Weight-sharing beyond
 * neural architecture search: efficient feature map selection and federated hyperparameter
 * tuning", SysML 2019, section 4.1. */
#include "schedule.h"

static const weft_opt solo_opts[] = {
    WEFT_LONG_OPT("resource", weft_sweep, resource, "800", 1, 1e9,
                  "resource of the one trial, in the task's unit: rounds"),
    {0},
};

static weft_status solo_setup(void *self, const weft_space *space, uint64_t seed,
                              weft_arena *mem)
{
    weft_sweep *solo = self;
    (void)space;
    (void)seed;
    (void)mem;
    *solo = (weft_sweep){.resource = solo->resource, .n = 1};
    return WEFT_OK;
}

WEFT_PLUGIN(tuner, ws_one) = {
    .kind = WEFT_KIND("ws_one", weft_sweep, solo_opts,
                      "one trial, whose clients draw from a mixture of the whole space"),
    .shared = WEFT_SHARES_MIXTURE,
    .setup = solo_setup,
    .ask = weft_sweep_ask,
    .tell = weft_sweep_tell,
    .jobs = weft_sweep_jobs,
    .extent = weft_sweep_extent,
    .waits = 1,
};
