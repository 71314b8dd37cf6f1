/* Successive halving over trials with weights of their own: all configurations of the space
 * train up to the end of the first rung, one in `reduction` continues to the end of the
 * next, and so on; the last survivors train up to `max_resource`. Jamieson, Talwalkar,
 * "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016.
 * Without eliminations there is one rung: random search. Eliminations are placed so that
 * the budget is spent, as in FedEx's released program for reduction^eliminations trials:
 * Khodak et al., "Federated Hyperparameter Tuning: Challenges, Baselines, and Connections
 * to Weight-Sharing", NeurIPS 2021. With eliminations all configurations take part, else
 * the first budget / max_resource. With s_i trials in rung i = 0 .. e, s_i = floor(count /
 * reduction^i), and r_i more resource in it, sum r_i = max_resource, what is spent is
 *     s_e max_resource + sum over i < e of (s_i - s_e) r_i  <=  budget:
 * all r_i except the last are equal, and the remainder is given to the first rungs that can
 * still use it. If budget is 0 the budget is the smaller of 5 max_resource and s_e
 * max_resource + sum (s_i - s_e) r with r = max_resource / (e + 1) (equal rungs), but at
 * least what r_i = 1 costs. With rungs = geometric a trial's resource is min_resource at
 * the end of the first rung and `reduction` times that of the rung before at the end of
 * each further one, up to max_resource, and the budget
 * follows; where the last of them ends before, the best trial goes on to max_resource. */
#include "schedule.h"
#include "weft/base/base.h"

enum { MAX_TRIALS = 1000000 };
enum { PUBLISHED = 3, BUDGET = 5 }; /* eliminations; budget / max_resource */
enum { FEDEX, GEOMETRIC };          /* how rungs are placed */

typedef struct sha_tuner {
    weft_rungs rungs;
    /* options */
    int reduction, placing, eliminations;
    int64_t min_resource, max_resource, budget;
} sha_tuner;

static const weft_opt sha_opts[] = {
    WEFT_RUNG_OPTS(sha_tuner, "3", "800"),
    WEFT_CHOICE_OPT("rungs", sha_tuner, placing, "fedex", "fedex|geometric",
                    "fedex: equally long, such that the budget is spent; geometric: each "
                    "ends at `reduction` times the resource of the one before"),
    WEFT_INT_OPT("eliminations", sha_tuner, eliminations, "-1", -1, WEFT_MAX_RUNGS - 1,
                 "number of eliminations; 0: random search; -1: 3, or as many as the "
                 "configurations allow"),
    WEFT_LONG_OPT("budget", sha_tuner, budget, "0", 0, 1e12,
                  "resource of all trials together; 0: 5 max_resource, as published, or if "
                  "that is less the budget of equally long rungs"),
    {0},
};

static const weft_when sha_when[] = {{"min_resource", "rungs", "geometric"},
                                     {"eliminations", "rungs", "fedex"},
                                     {"budget", "rungs", "fedex"},
                                     {NULL, NULL, NULL}};

/* ---- the rungs ---- */

/* Number of eliminations that the number of trials and max_resource allow, at most
 * PUBLISHED. */
static int count_eliminations(const sha_tuner *sha, int64_t count)
{
    int e = 0;
    for (; e < PUBLISHED && e + 1 < sha->max_resource && count >= sha->reduction;
         count /= sha->reduction)
        e++;
    return e;
}

/* The default budget; `last` is s_e, `weight` is the sum over i < e of (s_i - s_e). */
static int64_t default_budget(const sha_tuner *sha, int64_t last, int64_t weight)
{
    int64_t most = sha->max_resource;
    int64_t least = last * most + weight;
    int64_t equal = last * most + weight * (most / (sha->eliminations + 1));
    int64_t usual = equal < BUDGET * most ? equal : BUDGET * most;
    return usual > least ? usual : least;
}

static weft_status count_survivors(sha_tuner *sha, int64_t count)
{
    int64_t n = count, needed = 1;
    for (int i = 0; i <= sha->eliminations; i++, n /= sha->reduction) {
        sha->rungs.trials[i] = n;
        if (n > 0) continue;
        for (int e = 0; e < sha->eliminations && needed < MAX_TRIALS; e++)
            needed *= sha->reduction;
        return weft_fail(
            WEFT_ECONF,
            "sha: %lld configurations do not survive %d eliminations at reduction %d; "
            "expected at least %lld (space.configs), or fewer sha.eliminations",
            (long long)count, sha->eliminations, sha->reduction, (long long)needed);
    }
    return WEFT_OK;
}

/* Sets the total resource at the end of each rung. */
static weft_status plan_rungs(sha_tuner *sha)
{
    int e = sha->eliminations;
    int64_t last = sha->rungs.trials[e], most = sha->max_resource;
    int64_t weight = 0, at = 0;
    for (int i = 0; i < e; i++) weight += sha->rungs.trials[i] - last;
    if (sha->budget == 0) sha->budget = default_budget(sha, last, weight);
    int64_t left = sha->budget - last * most;
    int64_t each = weight > 0 ? left / weight : 0;
    if (left < weight)
        return weft_fail(WEFT_ECONF,
                         "sha.budget = %lld is too little for %lld trials up to "
                         "sha.max_resource = %lld; expected at least %lld, or another "
                         "number of eliminations",
                         (long long)sha->budget, (long long)sha->rungs.trials[0],
                         (long long)most, (long long)(last * most + weight));
    left -= each * weight;
    for (int i = 0; i < e; i++) {
        int64_t cost = sha->rungs.trials[i] - last, more = left / cost;
        left -= more * cost;
        at += each + more;
        sha->rungs.until[i] = at;
    }
    sha->rungs.until[e] = most;
    if (at < most) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "sha.budget = %lld is more than %lld trials of sha.max_resource = %lld "
        "can use with %d eliminations; expected less, or more trials "
        "(space.configs)",
        (long long)sha->budget, (long long)sha->rungs.trials[0], (long long)most, e);
}

/* Rungs as in FedEx's program. */
static weft_status plan_equal(sha_tuner *sha, int64_t count)
{
    if (sha->eliminations < 0) sha->eliminations = count_eliminations(sha, count);
    if (sha->eliminations == 0) {
        if (sha->budget == 0) sha->budget = BUDGET * sha->max_resource;
        if (sha->budget / sha->max_resource < count)
            count = sha->budget / sha->max_resource;
    }
    if (count < 1 || count > MAX_TRIALS)
        return weft_fail(
            WEFT_ECONF,
            "sha: %lld trials; expected 1 to %d, by space.configs and, without "
            "eliminations, sha.budget / sha.max_resource",
            (long long)count, MAX_TRIALS);
    TRY(count_survivors(sha, count));
    sha->rungs.count = sha->eliminations + 1;
    if (sha->eliminations > 0) return plan_rungs(sha);
    sha->rungs.until[0] = sha->max_resource;
    return WEFT_OK;
}

/* Rungs as in the paper of successive halving. */
static weft_status plan_geometric(sha_tuner *sha, int64_t n)
{
    int64_t at = sha->min_resource;
    TRY(weft_resources_fit("sha", at, sha->max_resource));
    int top = weft_rungs_top(at, sha->max_resource, sha->reduction);
    weft_rungs *rungs = &sha->rungs;
    for (; n > 0 && rungs->count <= top; n /= sha->reduction, at *= sha->reduction) {
        rungs->trials[rungs->count] = n;
        rungs->until[rungs->count++] = at;
    }
    int64_t end = rungs->until[rungs->count - 1];
    if (end == sha->max_resource) return WEFT_OK;
    weft_log(WEFT_INFO,
             "sha: the last rung ends at %lld; the best of it is trained up to "
             "sha.max_resource = %lld",
             (long long)end, (long long)sha->max_resource);
    rungs->trials[rungs->count] = 1;
    rungs->until[rungs->count++] = sha->max_resource;
    return WEFT_OK;
}

static weft_status sha_setup(void *self, const weft_space *space, uint64_t seed,
                             weft_arena *mem)
{
    sha_tuner *sha = self;
    (void)seed;
    TRY(sha->placing == FEDEX ? plan_equal(sha, space->count)
                              : plan_geometric(sha, space->count));
    sha->rungs.guess = space->guess;
    sha->rungs.objectives = space->objectives;
    weft_rungs_begin(&sha->rungs, mem);
    return WEFT_OK;
}

static void sha_extent(const void *self, weft_extent *out)
{
    const sha_tuner *sha = self;
    *out = (weft_extent){.trials = sha->rungs.trials[0],
                         .resource = (double)sha->rungs.until[sha->rungs.count - 1]};
}

WEFT_PLUGIN(tuner, sha) = {
    .kind = WEFT_KIND("sha", sha_tuner, sha_opts,
                      "successive halving: trials that go on with their own weights",
                      .when = sha_when),
    .fronts = 1,
    .setup = sha_setup,
    .ask = weft_rungs_ask,
    .tell = weft_rungs_tell,
    .jobs = weft_rungs_jobs,
    .ended = weft_rungs_ended,
    .extent = sha_extent,
    .grows = "space.configs",
    .waits = 1,
};
