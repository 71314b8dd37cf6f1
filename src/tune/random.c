/* One trial for each configuration: random search, or a full sweep of a grid or list; or a
 * single one of these trials, with the same number and hence the same random numbers as in
 * the sweep. Never waits. */
#include "schedule.h"

struct sweep {
    weft_sweep jobs;
    int64_t only; /* an option, as jobs.resource is */
};

static const weft_opt sweep_opts[] = {
    WEFT_LONG_OPT("resource", struct sweep, jobs.resource, "0", 0, 1e9,
                  WEFT_RESOURCE_ABOUT("of each configuration"), .role = WEFT_GROWS),
    WEFT_LONG_OPT("only", struct sweep, only, "-1", -1, 1e9,
                  "index of the one configuration to train; -1: all"),
    {0},
};

static weft_status sweep_setup(void *self, const weft_space *space, uint64_t seed,
                               weft_arena *mem)
{
    struct sweep *sweep = self;
    (void)seed;
    (void)mem;
    if (sweep->only >= space->count)
        return weft_fail(WEFT_ECONF,
                         "random.only = %lld, but the space has %lld configurations; "
                         "expected less, or -1 for all",
                         (long long)sweep->only, (long long)space->count);
    sweep->jobs.n = sweep->only < 0 ? space->count : 1;
    if (sweep->jobs.resource == 0) sweep->jobs.resource = 1;
    return WEFT_OK;
}

static int64_t sweep_first(const void *self)
{
    const struct sweep *sweep = self;
    return sweep->only < 0 ? 0 : sweep->only;
}

WEFT_PLUGIN(tuner, random) = {
    .kind = WEFT_KIND(
        "random", struct sweep, sweep_opts,
        "random search, or a sweep of a grid or list: one trial per configuration"),
    .fronts = 1,
    .setup = sweep_setup,
    .ask = weft_sweep_ask,
    .tell = weft_sweep_tell,
    .jobs = weft_sweep_jobs,
    .first = sweep_first,
    .extent = weft_sweep_extent,
    .grows = "space.configs",
    .waits = 1,
};
