/* Hyperband: several brackets of successive halving. The first starts with many trials of
 * little resource, each further one with fewer trials of more resource, the last with a few
 * trials of the full resource, because it is not known how well early losses predict final
 * ones. While one bracket waits for a rung to be complete, the next one starts. All of them
 * may be repeated, so that a sampler goes on learning, as HpBandSter does. Li, Jamieson,
 * DeSalvo, Rostamizadeh, Talwalkar, "Hyperband: a novel bandit-based approach to
 * hyperparameter optimization", JMLR 18, 2018, algorithm 1. */
#include "schedule.h"

typedef struct hyperband_tuner {
    /* options */
    int reduction, repeats;
    int64_t min_resource, max_resource;
    /* state */
    int once;            /* brackets of a repetition */
    int n;               /* of all: repeats once */
    weft_rungs *bracket; /* [n] */
    int first;           /* the first one that may have another job */
    int64_t trials;      /* of a repetition */
} hyperband_tuner;

enum { MAX_TRIALS = 1000000 };

static const weft_opt hyperband_opts[] = {
    WEFT_RUNG_OPTS(hyperband_tuner, "3", "81"),
    WEFT_INT_OPT("repeats", hyperband_tuner, repeats, "1", 1, 10000,
                 "how often all brackets are run, one after the other. With a sampler that "
                 "learns, such as kde (BOHB), a repetition learns from those before it",
                 .role = WEFT_GROWS),
    {0},
};

/* Number of trials of the bracket with s eliminations, one of s_max + 1 brackets that get
 * about the same resource. */
static int64_t bracket_trials(const hyperband_tuner *hyperband, int s_max, int s)
{
    int64_t grown = 1;
    for (int k = 0; k < s; k++) grown *= hyperband->reduction;
    return ((s_max + 1) * grown + s) / (s + 1);
}

static weft_status hyperband_setup(void *self, const weft_space *space, uint64_t seed,
                                   weft_arena *mem)
{
    hyperband_tuner *hyperband = self;
    (void)seed;
    TRY(weft_resources_fit("hyperband", hyperband->min_resource, hyperband->max_resource));
    int s_max = weft_rungs_top(hyperband->min_resource, hyperband->max_resource,
                               hyperband->reduction);
    for (int s = s_max; s >= 0; s--)
        hyperband->trials += bracket_trials(hyperband, s_max, s);
    if (hyperband->trials * hyperband->repeats > MAX_TRIALS)
        return weft_fail(WEFT_ECONF,
                         "hyperband: %lld trials; expected at most %d trials, by a larger "
                         "hyperband.min_resource%s",
                         (long long)(hyperband->trials * hyperband->repeats), MAX_TRIALS,
                         hyperband->repeats > 1 ? " or fewer hyperband.repeats" : "");
    TRY(weft_trials_fit(space, "hyperband", hyperband->trials * hyperband->repeats));
    hyperband->once = s_max + 1;
    hyperband->n = hyperband->repeats * hyperband->once;
    hyperband->bracket = WEFT_NEW(mem, weft_rungs, hyperband->n);
    int64_t first = 0;
    for (int i = 0; i < hyperband->n; i++) {
        weft_rungs *rungs = &hyperband->bracket[i];
        int s = s_max - i % hyperband->once;
        rungs->first = first;
        rungs->guess = space->guess;
        rungs->objectives = space->objectives;
        weft_rungs_plan(rungs, bracket_trials(hyperband, s_max, s), s, hyperband->reduction,
                        hyperband->max_resource);
        weft_rungs_begin(rungs, mem);
        first += rungs->trials[0];
    }
    return WEFT_OK;
}

static weft_asked hyperband_ask(void *self, weft_job *job)
{
    hyperband_tuner *hyperband = self;
    weft_asked all = WEFT_DONE;
    for (int i = hyperband->first; i < hyperband->n; i++) {
        weft_asked asked = weft_rungs_ask(&hyperband->bracket[i], job);
        if (asked == WEFT_JOB) return WEFT_JOB;
        if (asked == WEFT_WAIT) all = WEFT_WAIT;
        if (asked == WEFT_DONE && i == hyperband->first) hyperband->first++;
    }
    return all;
}

static int bracket_of(const hyperband_tuner *hyperband, int64_t trial)
{
    int before = (int)(trial / hyperband->trials) * hyperband->once,
        i = before + hyperband->once - 1;
    while (i > before && trial < hyperband->bracket[i].first) i--;
    return i;
}

static void hyperband_tell(void *self, const weft_result *res)
{
    hyperband_tuner *hyperband = self;
    weft_rungs_tell(&hyperband->bracket[bracket_of(hyperband, res->trial)], res);
}

static int hyperband_ended(const void *self, int64_t trial)
{
    const hyperband_tuner *hyperband = self;
    return weft_rungs_ended(&hyperband->bracket[bracket_of(hyperband, trial)], trial);
}

static int64_t hyperband_jobs(const void *self)
{
    const hyperband_tuner *hyperband = self;
    int64_t n = 0;
    for (int i = 0; i < hyperband->n; i++) n += weft_rungs_jobs(&hyperband->bracket[i]);
    return n;
}

/* Rung k of bracket i ends at the resource of rung k - 1 of bracket i + 1, and all of them
 * are repeated. */
static int64_t most_results(const hyperband_tuner *hyperband)
{
    int64_t most = 0;
    for (int level = 0; level < hyperband->once; level++) {
        int64_t n = 0;
        for (int i = 0; i <= level; i++)
            if (level - i < hyperband->bracket[i].count)
                n += hyperband->bracket[i].trials[level - i];
        most = n > most ? n : most;
    }
    return most * hyperband->repeats;
}

static void hyperband_extent(const void *self, weft_extent *out)
{
    const hyperband_tuner *hyperband = self;
    *out = (weft_extent){.trials = hyperband->trials * hyperband->repeats,
                         .resource = (double)hyperband->max_resource,
                         .results = most_results(hyperband)};
}

WEFT_PLUGIN(tuner, hyperband) = {
    .kind =
        WEFT_KIND("hyperband", hyperband_tuner, hyperband_opts,
                  "brackets of successive halving, from many trials of little resource"),
    .fronts = 1,
    .setup = hyperband_setup,
    .ask = hyperband_ask,
    .tell = hyperband_tell,
    .jobs = hyperband_jobs,
    .ended = hyperband_ended,
    .extent = hyperband_extent,
    .grows = "hyperband.repeats",
    .sizes = "hyperband.max_resource, min_resource, reduction and repeats",
};
