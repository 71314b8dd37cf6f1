/* Successive halving over trials with weights of their own: all configurations of the space
 * train up to the end of a rung, one of `reduction` goes on from where it is, and so on;
 * the last survivors train up to `max_resource`. Jamieson, Talwalkar, "Non-stochastic best
 * arm identification and hyperparameter optimization", AISTATS 2016. Without eliminations
 * there is one rung: random search. Eliminations are placed so that the budget is spent, as
 * in FedEx's released program for reduction^eliminations trials: Khodak et al., "Federated
 * Hyperparameter Tuning: Challenges, Baselines, and Connections to Weight-Sharing", NeurIPS
 * 2021. With eliminations all configurations take part, else the first budget /
 * max_resource. With s_i trials in rung i = 0 .. e, s_i = floor(count / reduction^i), and
 * r_i more resource in it, sum r_i = max_resource, what is spent is
 *     s_e max_resource + sum over i < e of (s_i - s_e) r_i  <=  budget:
 * all r_i but the last get the same, and what is left goes to the first rungs that can
 * still use it. Where budget is 0 it is 5 max_resource, or s_e max_resource + sum (s_i -
 * s_e) r with the r = max_resource / (e + 1) of equal rungs if that is less, but at least
 * what r_i = 1 takes. */
#include "weft/tune.h"

#include <stdlib.h>

enum { MOST_TRIALS = 1000000, MOST_RUNGS = 31 };

enum { PUBLISHED = 3, BUDGET = 5 }; /* eliminations; budget / max_resource */

typedef struct trial {
    int64_t done; /* resource asked for so far */
    double loss;  /* told last */
    int jobs;     /* asked so far */
    int out;      /* 1: eliminated */
    int open;     /* 1: a job is asked and not told yet */
} trial;

typedef struct sha {
    /* options */
    int reduction, eliminations, best;
    int64_t max_resource, budget, every;
    /* set by sha_setup */
    int n;                        /* trials */
    int64_t until[MOST_RUNGS];    /* resource of a trial at the end of each rung */
    int64_t survivor[MOST_RUNGS]; /* trials of each rung */
    int rung;
    int unasked, untold; /* trials of the rung whose last job in it was not asked, told */
    int next;            /* those before it are open, out or at the end of the rung */
    trial *trial;        /* [n] */
} sha;

static const weft_opt sha_opts[] = {
    {"reduction", WEFT_INT, offsetof(sha, reduction), "3", 2, 1000, NULL,
     "one of so many trials survives an elimination", 0},
    {"eliminations", WEFT_INT, offsetof(sha, eliminations), "-1", -1, MOST_RUNGS - 1, NULL,
     "number of them; 0: random search; -1: 3, or as many as the configurations allow", 0},
    {"max_resource", WEFT_LONG, offsetof(sha, max_resource), "800", 1, 1e9, NULL,
     "resource of the last survivors, in the task's unit: rounds", 0},
    {"budget", WEFT_LONG, offsetof(sha, budget), "0", 0, 1e12, NULL,
     "resource of all trials together; 0: 5 max_resource, as published, or what makes all "
     "rungs equally long, if that is less",
     0},
    {"every", WEFT_LONG, offsetof(sha, every), "0", 0, 1e9, NULL,
     "resource of a job; 0: up to the next elimination", 0},
    {"winner", WEFT_CHOICE, offsetof(sha, best), "last", 0, 0, "last|best",
     "best of the last survivors, or lowest score of any job", 0},
    {0}};

/* ---- the rungs ---------------------------------------------------------------------- */

/* Eliminations that so many trials and max_resource allow, no more than are published. */
static int count_eliminations(const sha *t, int64_t count)
{
    int e = 0;
    for (; e < PUBLISHED && e + 1 < t->max_resource && count >= t->reduction;
         count /= t->reduction)
        e++;
    return e;
}

/* The budget where none is given, for rungs with so many trials besides the last ones. */
static int64_t usual_budget(const sha *t, int64_t last, int64_t weight)
{
    const int64_t most = t->max_resource;
    const int64_t least = last * most + weight;
    const int64_t equal = last * most + weight * (most / (t->eliminations + 1));
    const int64_t usual = equal < BUDGET * most ? equal : BUDGET * most;
    return usual > least ? usual : least;
}

/* Trials of each rung. */
static weft_status count_survivors(sha *t, int64_t count)
{
    int64_t n = count, needed = 1;
    for (int i = 0; i <= t->eliminations; i++, n /= t->reduction) {
        t->survivor[i] = n;
        if (n > 0) continue;
        for (int e = 0; e < t->eliminations && needed < MOST_TRIALS; e++)
            needed *= t->reduction;
        return weft_fail(
            WEFT_ECONF,
            "sha: %lld configurations do not survive %d eliminations at reduction %d; "
            "expected at least %lld (space.configs), or fewer sha.eliminations",
            (long long)count, t->eliminations, t->reduction, (long long)needed);
    }
    return WEFT_OK;
}

/* Resource of each rung, cumulated. */
static weft_status plan_rungs(sha *t)
{
    const int e = t->eliminations;
    const int64_t last = t->survivor[e], most = t->max_resource;
    int64_t weight = 0, at = 0;
    for (int i = 0; i < e; i++) weight += t->survivor[i] - last;
    if (t->budget == 0) t->budget = usual_budget(t, last, weight);
    int64_t left = t->budget - last * most;
    const int64_t each = weight > 0 ? left / weight : 0;
    if (left < weight)
        return weft_fail(WEFT_ECONF,
                         "sha.budget = %lld is too little for %lld trials up to "
                         "sha.max_resource = %lld; expected at least %lld, or another "
                         "number of eliminations",
                         (long long)t->budget, (long long)t->survivor[0], (long long)most,
                         (long long)(last * most + weight));
    left -= each * weight;
    for (int i = 0; i < e; i++) {
        const int64_t cost = t->survivor[i] - last, more = left / cost;
        left -= more * cost;
        at += each + more;
        t->until[i] = at;
    }
    t->until[e] = most;
    if (at < most) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "sha.budget = %lld is more than %lld trials of sha.max_resource = %lld "
        "can use with %d eliminations; expected less, or more trials "
        "(space.configs)",
        (long long)t->budget, (long long)t->survivor[0], (long long)most, e);
}

static void begin_rung(sha *t, int rung)
{
    t->rung = rung;
    t->next = 0;
    t->unasked = t->untold = (int)t->survivor[rung];
}

static weft_status sha_setup(void *self, const weft_space *sp, uint64_t seed,
                             weft_arena *mem)
{
    sha *t = self;
    int64_t count = sp->count;
    (void)seed;
    if (t->eliminations < 0) t->eliminations = count_eliminations(t, count);
    if (t->eliminations == 0) {
        if (t->budget == 0) t->budget = BUDGET * t->max_resource;
        if (t->budget / t->max_resource < count) count = t->budget / t->max_resource;
    }
    if (count < 1 || count > MOST_TRIALS)
        return weft_fail(
            WEFT_ECONF,
            "sha: %lld trials; expected 1 to %d, by space.configs and, without "
            "eliminations, sha.budget / sha.max_resource",
            (long long)count, MOST_TRIALS);
    TRY(count_survivors(t, count));
    if (t->eliminations > 0)
        TRY(plan_rungs(t));
    else
        t->until[0] = t->max_resource;
    if (t->every == 0) t->every = t->max_resource;
    t->n = (int)count;
    begin_rung(t, 0);
    t->trial = WEFT_NEW(mem, trial, t->n);
    return WEFT_OK;
}

/* ---- the race ----------------------------------------------------------------------- */

static weft_asked sha_ask(void *self, weft_job *job)
{
    sha *t = self;
    const int64_t until = t->until[t->rung];
    for (; t->next < t->n; t->next++) {
        trial *c = &t->trial[t->next];
        if (c->out || c->open || c->done == until) continue;
        const int64_t more = until - c->done < t->every ? until - c->done : t->every;
        c->done += more;
        c->open = 1;
        if (c->done == until) t->unasked--;
        *job = (weft_job){.trial = t->next,
                          .from = -1,
                          .index = c->jobs++,
                          .resource = (double)more,
                          .feature_fraction = 1,
                          .last = c->done == t->max_resource,
                          .eligibility = t->best ? WEFT_WINS_LOSS : WEFT_WINS_RESOURCE};
        return WEFT_JOB;
    }
    return t->rung == t->eliminations && t->unasked == 0 ? WEFT_DONE : WEFT_WAIT;
}

/* A trial that came to the end of a rung, to be sorted. */
typedef struct finisher {
    double loss;
    int trial;
} finisher;

static int by_loss(const void *left, const void *right)
{
    const finisher *a = left, *b = right;
    if (a->loss < b->loss || a->loss > b->loss) return a->loss < b->loss ? -1 : 1;
    return a->trial - b->trial;
}

static void eliminate(sha *t)
{
    weft_arena *tmp = weft_arena_new();
    finisher *order = WEFT_NEW(tmp, finisher, t->n);
    int n = 0;
    for (int i = 0; i < t->n; i++)
        if (!t->trial[i].out) order[n++] = (finisher){t->trial[i].loss, i};
    qsort(order, (size_t)n, sizeof *order, by_loss);
    for (int e = (int)t->survivor[t->rung + 1]; e < n; e++)
        t->trial[order[e].trial].out = 1;
    weft_arena_free(tmp);
    begin_rung(t, t->rung + 1);
}

static void sha_tell(void *self, const weft_result *res)
{
    sha *t = self;
    weft_check(res->trial >= 0 && res->trial < t->n && t->trial[res->trial].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    const int i = (int)res->trial;
    trial *c = &t->trial[i];
    c->open = 0;
    c->loss = res->loss;
    if (c->done < t->until[t->rung]) {
        if (i < t->next) t->next = i;
        return;
    }
    t->untold--;
    if (t->untold == 0 && t->rung < t->eliminations) eliminate(t);
}

static int64_t sha_jobs(const void *self)
{
    const sha *t = self;
    int64_t n = 0, from = 0;
    for (int i = 0; i <= t->eliminations; from = t->until[i++])
        n += t->survivor[i] * ((t->until[i] - from + t->every - 1) / t->every);
    return n;
}

static const char *sha_early(const void *self)
{
    const sha *t = self;
    return t->best ? "sha.winner = best" : NULL;
}

static int sha_ended(const void *self, int64_t i)
{
    const sha *t = self;
    return t->trial[i].out;
}

static void sha_extent(const void *self, weft_extent *out)
{
    const sha *t = self;
    *out = (weft_extent){t->n, (double)t->max_resource};
}

extern const weft_tuner weft_tuner_sha;
const weft_tuner weft_tuner_sha = {
    .kind = {.name = "sha",
             .about = "successive halving: trials that go on with their own weights",
             .size = sizeof(sha),
             .opts = sha_opts},
    .setup = sha_setup,
    .ask = sha_ask,
    .tell = sha_tell,
    .jobs = sha_jobs,
    .ended = sha_ended,
    .early = sha_early,
    .extent = sha_extent,
    .waits = 1,
};
