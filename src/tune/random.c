/* One trial for each configuration: random search, or a full sweep of a grid or list; or a
 * single one of these trials, with the same number and hence the same random numbers as in
 * the sweep. Never waits. */
#include "weft/tune/tune.h"

struct sweep {
    int64_t resource, only;
    int64_t n, next; /* number of jobs; number asked for */
};

static const weft_opt sweep_opts[] = {
    WEFT_LONG_OPT("resource", struct sweep, resource, "0", 0, 1e9,
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
    sweep->n = sweep->only < 0 ? space->count : 1;
    sweep->next = 0;
    if (sweep->resource == 0) sweep->resource = 1;
    return WEFT_OK;
}

static weft_asked sweep_ask(void *self, weft_job *job)
{
    struct sweep *sweep = self;
    if (sweep->next == sweep->n) return WEFT_DONE;
    *job = weft_job_new(sweep->next++, (double)sweep->resource, NULL);
    job->last = 1;
    return WEFT_JOB;
}

static void sweep_tell(void *self, const weft_result *res)
{
    (void)self;
    (void)res;
}

static int64_t sweep_jobs(const void *self)
{
    const struct sweep *sweep = self;
    return sweep->n;
}

static int64_t sweep_first(const void *self)
{
    const struct sweep *sweep = self;
    return sweep->only < 0 ? 0 : sweep->only;
}

static void sweep_extent(const void *self, weft_extent *out)
{
    const struct sweep *sweep = self;
    *out = (weft_extent){.trials = sweep->n, .resource = (double)sweep->resource};
}

extern const weft_tuner weft_tuner_random;
const weft_tuner weft_tuner_random = {
    .kind = {.name = "random",
             .about =
                 "random search, or a sweep of a grid or list: one trial per configuration",
             .size = sizeof(struct sweep),
             .opts = sweep_opts},
    .setup = sweep_setup,
    .ask = sweep_ask,
    .tell = sweep_tell,
    .jobs = sweep_jobs,
    .first = sweep_first,
    .extent = sweep_extent,
    .grows = "space.configs",
    .waits = 1,
};
