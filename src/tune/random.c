/* One trial for each configuration: random search, or a full sweep of a grid or list; or a
 * single one of these trials, with the same number and hence the same random numbers as in
 * the sweep. Never waits. */
#include "weft/tune.h"

typedef struct sweep {
    int64_t resource, only;
    int64_t n, next; /* number of jobs; number asked for */
} sweep;

static const weft_opt sweep_opts[] = {
    WEFT_LONG_OPT("resource", sweep, resource, "0", 0, 1e9,
                  WEFT_RESOURCE_ABOUT("of each configuration"), .role = WEFT_GROWS),
    WEFT_LONG_OPT("only", sweep, only, "-1", -1, 1e9,
                  "index of the one configuration to train; -1: all"),
    {0},
};

static weft_status sweep_setup(void *self, const weft_space *space, uint64_t seed,
                               weft_arena *mem)
{
    sweep *t = self;
    (void)seed;
    (void)mem;
    if (t->only >= space->count)
        return weft_fail(WEFT_ECONF,
                         "random.only = %lld, but the space has %lld configurations; "
                         "expected less, or -1 for all",
                         (long long)t->only, (long long)space->count);
    t->n = t->only < 0 ? space->count : 1;
    t->next = 0;
    if (t->resource == 0) t->resource = 1;
    return WEFT_OK;
}

static weft_asked sweep_ask(void *self, weft_job *job)
{
    sweep *t = self;
    if (t->next == t->n) return WEFT_DONE;
    *job = weft_job_new(t->next++, (double)t->resource, NULL);
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
    const sweep *t = self;
    return t->n;
}

static int64_t sweep_first(const void *self)
{
    const sweep *t = self;
    return t->only < 0 ? 0 : t->only;
}

static void sweep_extent(const void *self, weft_extent *out)
{
    const sweep *t = self;
    *out = (weft_extent){.trials = t->n, .resource = (double)t->resource};
}

extern const weft_tuner weft_tuner_random;
const weft_tuner weft_tuner_random = {
    .kind = {.name = "random",
             .about =
                 "random search, or a sweep of a grid or list: one trial per configuration",
             .size = sizeof(sweep),
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
