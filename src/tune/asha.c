/* Asynchronous successive halving: whenever a worker is free, the best trial that ranks
 * among the first 1 / reduction of its rung goes on to the next, or else a new trial
 * begins; no worker waits for a rung to be complete. With several brackets, each of which
 * begins a rung later than the one before, asynchronous Hyperband. Li, Jamieson,
 * Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar, "A system for massively parallel
 * hyperparameter tuning", MLSys 2020, algorithm 2. The stopping variant decides when a
 * trial comes to the end of a rung, for good: Liaw et al., "Tune: a research platform for
 * distributed model selection and training", AutoML workshop at ICML 2018. */
#include "heap.h"
#include "rungs.h"

#include <math.h>

enum { PROMOTION, STOPPING };

/* What came to the end of a rung. best and rest hold all of it, waiting what is finite and
 * did not go on. */
typedef struct rung {
    int64_t resource;   /* of a trial at its end */
    int64_t n;          /* results */
    int64_t keep;       /* only so many of the best can ever go on; -1: no bound is known */
    weft_heap best;     /* the floor(n / reduction) best, the worst of them first */
    weft_heap rest;     /* the others, the best first */
    weft_heap waiting;  /* the best first */
    weft_heap possible; /* the `keep` best, the worst of them first */
} rung;

typedef struct bracket {
    int top; /* its last rung */
    int64_t spent;
    rung rung[WEFT_MOST_RUNGS];
} bracket;

typedef struct trial {
    int bracket, rung; /* that its last job aimed at */
    int open;          /* 1: a job is asked and not told yet */
    int stopped;       /* 1: it cannot go on */
    double loss;       /* told last */
} trial;

typedef struct asha {
    /* options */
    int reduction, early_stopping, variant, brackets, best;
    int64_t min_resource, max_resource, trials, budget, most_jobs;
    /* state */
    bracket *bracket; /* [brackets] */
    trial *trial;     /* [begun] */
    int64_t begun, room;
    int64_t jobs, spent, open; /* asked; resource asked for; asked and not told */
    int over;                  /* 1: nothing more will be asked */
    weft_arena *mem;
} asha;

static const weft_opt asha_opts[] = {
    {"reduction", WEFT_INT, offsetof(asha, reduction), "4", 2, 1000, NULL,
     "one of so many trials goes on to the next rung", 0},
    {"min_resource", WEFT_LONG, offsetof(asha, min_resource), "1", 1, 1e9, NULL,
     "resource of a trial in the first rung, in the task's unit: rounds", 0},
    {"max_resource", WEFT_LONG, offsetof(asha, max_resource), "256", 1, 1e9, NULL,
     "bound of it in the last: a rung has `reduction` times that of the one before", 0},
    {"early_stopping", WEFT_INT, offsetof(asha, early_stopping), "0", 0,
     WEFT_MOST_RUNGS - 1, NULL, "rungs that are left out at the low end", 0},
    {"trials", WEFT_LONG, offsetof(asha, trials), "-1", -1, 1e9, "auto",
     "that begin; auto: as many as space.configs; 0: no bound", 0},
    {"budget", WEFT_LONG, offsetof(asha, budget), "0", 0, 1e15, NULL,
     "resource of all trials together at most; 0: no bound", 0},
    {"jobs", WEFT_LONG, offsetof(asha, most_jobs), "0", 0, 1e12, NULL,
     "number of jobs at most; 0: no bound", 0},
    {"variant", WEFT_CHOICE, offsetof(asha, variant), "promotion", 0, 0,
     "promotion|stopping",
     "a trial pauses until it ranks among the best of its rung; or it goes on at once, or "
     "never",
     0},
    {"brackets", WEFT_INT, offsetof(asha, brackets), "1", 0, WEFT_MOST_RUNGS, NULL,
     "each leaves out one rung more at the low end, and all get the same resource; 0: as "
     "many as there are rungs",
     0},
    {"winner", WEFT_CHOICE, offsetof(asha, best), "last", 0, 0, "last|best",
     "best of those with the most resource, or lowest loss of any job", 0},
    {0}};

/* ---- setup --------------------------------------------------------------------- */

/* The least of the bounds that are given, 0: none. */
static int64_t least_bound(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* The rungs of a bracket. At most n results come to the first; of these at most
 * n - reduction + 1 go on, as from the reduction-th on each result lets one more do so. */
static void plan_bracket(const asha *t, bracket *b, int leave_out)
{
    int64_t at = t->min_resource;
    for (int k = 0; k < leave_out; k++) at *= t->reduction;
    int64_t n = least_bound(t->trials, t->most_jobs);
    n = least_bound(n, t->budget / at);
    int known = t->variant == PROMOTION && n > 0;
    b->top = weft_rungs_top(at, t->max_resource, t->reduction);
    for (int k = 0; k <= b->top; k++, at *= t->reduction) {
        b->rung[k].resource = at;
        b->rung[k].keep = known ? n / t->reduction : -1;
        b->rung[k].best.worst_first = b->rung[k].possible.worst_first = 1;
        n = n >= t->reduction ? n - t->reduction + 1 : 0;
    }
}

/* The number of rungs, if the options allow any. */
static weft_status count_rungs(const asha *t, int *rungs)
{
    if (t->min_resource > t->max_resource)
        return weft_fail(WEFT_ECONF,
                         "asha.min_resource = %lld is more than asha.max_resource = %lld",
                         (long long)t->min_resource, (long long)t->max_resource);
    *rungs = weft_rungs_top(t->min_resource, t->max_resource, t->reduction) + 1;
    int used = t->early_stopping + (t->brackets > 0 ? t->brackets : 1);
    if (used <= *rungs) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "asha.early_stopping = %d with %d brackets needs %d rungs, but from "
                     "min_resource = %lld to max_resource = %lld there are %d; expected "
                     "less, or a wider range",
                     t->early_stopping, t->brackets > 0 ? t->brackets : 1, used,
                     (long long)t->min_resource, (long long)t->max_resource, *rungs);
}

static weft_status asha_setup(void *self, const weft_space *sp, uint64_t seed,
                              weft_arena *mem)
{
    asha *t = self;
    (void)seed;
    int rungs = 0;
    TRY(count_rungs(t, &rungs));
    if (t->brackets == 0) t->brackets = rungs - t->early_stopping;
    if (t->trials < 0 || (t->trials == 0 && sp->source != 0)) t->trials = sp->count;
    TRY(weft_trials_fit(sp, "asha", t->trials));
    if (t->trials + t->budget + t->most_jobs == 0)
        return weft_fail(WEFT_ECONF,
                         "asha.trials = 0 would never end; expected a bound there, or "
                         "asha.budget or asha.jobs");
    t->bracket = WEFT_NEW(mem, bracket, t->brackets);
    for (int i = 0; i < t->brackets; i++)
        plan_bracket(t, &t->bracket[i], t->early_stopping + i);
    int64_t first = t->bracket[0].rung[0].resource;
    if (t->budget > 0 && t->budget < first)
        return weft_fail(WEFT_ECONF,
                         "asha.budget = %lld is less than a trial takes in the first rung; "
                         "expected at least %lld",
                         (long long)t->budget, (long long)first);
    t->mem = mem;
    return WEFT_OK;
}

/* ---- ask ----------------------------------------------------------------------- */

/* How many of a rung's results are among the best. A trial that has no other to be
 * compared with goes on where it cannot wait. */
static int64_t quota(const asha *t, const rung *r)
{
    int64_t m = r->n / t->reduction;
    return t->variant == STOPPING && m == 0 && r->n > 0 ? 1 : m;
}

/* 1: the first of the waiting may go on. Stopping has decided that before. */
static int may_go_on(const asha *t, const rung *r)
{
    if (r->waiting.n == 0) return 0;
    return t->variant == STOPPING ||
           (r->best.n > 0 && !weft_ranks_before(r->best.at[0], r->waiting.at[0]));
}

/* The rung from which a trial goes on, the highest of a bracket first; NULL: there is none.
 */
static rung *find_promotion(const asha *t)
{
    for (int i = 0; i < t->brackets; i++)
        for (int k = t->bracket[i].top - 1; k >= 0; k--)
            if (may_go_on(t, &t->bracket[i].rung[k])) return &t->bracket[i].rung[k];
    return NULL;
}

/* The bracket that a new trial goes to. */
static int least_spent(const asha *t)
{
    int at = 0;
    for (int i = 1; i < t->brackets; i++)
        if (t->bracket[i].spent < t->bracket[at].spent) at = i;
    return at;
}

/* What comes next: -1 nothing, or the trial, new or not, and what it would be. */
static int64_t next_trial(const asha *t, trial *next)
{
    const rung *from = find_promotion(t);
    if (from) {
        int64_t id = from->waiting.at[0].trial;
        *next = t->trial[id];
        next->rung++;
        return id;
    }
    *next = (trial){.bracket = least_spent(t)};
    return t->trials == 0 || t->begun < t->trials ? t->begun : -1;
}

/* The resource that a trial is to be given. */
static int64_t added(const asha *t, const trial *next)
{
    const rung *r = &t->bracket[next->bracket].rung[next->rung];
    return next->rung > 0 ? r->resource - r[-1].resource : r->resource;
}

/* 1: number of jobs and budget allow no such job. */
static int is_beyond(const asha *t, const trial *next)
{
    return (t->most_jobs > 0 && t->jobs == t->most_jobs) ||
           (t->budget > 0 && t->spent + added(t, next) > t->budget);
}

/* Asks for a job up to the end of the trial's next rung. */
static void begin_job(asha *t, int64_t id, const trial *next, weft_job *job)
{
    bracket *b = &t->bracket[next->bracket];
    int64_t more = added(t, next);
    t->jobs++;
    t->open++;
    t->spent += more;
    b->spent += more;
    *job = weft_job_new(id, (double)more, NULL);
    job->index = next->rung;
    job->last = next->rung == b->top;
    if (t->best) job->eligibility = WEFT_WINS_LOSS;
}

static weft_asked asha_ask(void *self, weft_job *job)
{
    asha *t = self;
    if (t->over) return WEFT_DONE;
    trial next;
    int64_t id = next_trial(t, &next);
    t->over = id < 0 ? t->open == 0 : is_beyond(t, &next);
    if (t->over) return WEFT_DONE;
    if (id < 0) return WEFT_WAIT;
    if (id < t->begun)
        weft_heap_pop(&t->bracket[next.bracket].rung[next.rung - 1].waiting);
    else
        t->trial = weft_grow(t->mem, t->trial, sizeof *t->trial, t->begun++, &t->room);
    begin_job(t, id, &next, job);
    next.open = 1;
    t->trial[id] = next;
    return WEFT_JOB;
}

/* ---- tell ---------------------------------------------------------------------- */

/* Takes a result into the rankings of a rung. */
static void rank(asha *t, rung *r, weft_ranked x)
{
    r->n++;
    weft_heap_push(&r->best, x, t->mem);
    weft_heap_push(&r->rest, weft_heap_pop(&r->best), t->mem);
    while (r->best.n < quota(t, r))
        weft_heap_push(&r->best, weft_heap_pop(&r->rest), t->mem);
    if (r->keep < 0) return;
    weft_heap_push(&r->possible, x, t->mem);
    if (r->possible.n > r->keep) weft_heap_pop(&r->possible);
}

/* Takes a loss into the rung that its trial aimed at. */
static void enter(asha *t, int64_t id, double loss)
{
    trial *c = &t->trial[id];
    const bracket *b = &t->bracket[c->bracket];
    rung *r = &t->bracket[c->bracket].rung[c->rung];
    weft_ranked x = {loss, id};
    c->open = 0;
    c->loss = loss;
    c->stopped = c->rung == b->top || !(loss < INFINITY);
    if (c->rung == b->top) return;
    rank(t, r, x);
    if (t->variant == STOPPING && weft_ranks_before(r->best.at[0], x)) c->stopped = 1;
    if (!c->stopped) weft_heap_push(&r->waiting, x, t->mem);
}

static void asha_tell(void *self, const weft_result *res)
{
    asha *t = self;
    weft_check(res->trial >= 0 && res->trial < t->begun && t->trial[res->trial].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    enter(t, res->trial, isnan(res->loss) ? INFINITY : res->loss);
    if (--t->open > 0) return;
    trial next;
    t->over |= next_trial(t, &next) < 0 || is_beyond(t, &next);
}

/* ---- what is known of the rest --------------------------------------------------- */

static int asha_ended(const void *self, int64_t id)
{
    const asha *t = self;
    const trial *c = &t->trial[id];
    if (c->open) return 0;
    if (c->stopped || t->over) return 1;
    const rung *r = &t->bracket[c->bracket].rung[c->rung];
    if (r->keep < 0 || r->possible.n < r->keep) return 0;
    return r->keep == 0 || weft_ranks_before(r->possible.at[0], (weft_ranked){c->loss, id});
}

/* An estimate: the trials that are to begin, and of each rung the share that goes on. */
static int64_t asha_jobs(const void *self)
{
    const asha *t = self;
    if (t->over) return t->jobs;
    int64_t n = 0;
    for (int64_t k = t->trials; k > 0; k /= t->reduction) n += k;
    if (t->trials == 0 && t->most_jobs == 0)
        n = t->budget / t->bracket[t->brackets - 1].rung[0].resource;
    n = least_bound(n, t->most_jobs);
    return n > t->jobs ? n : t->jobs + t->open;
}

static const char *asha_early(const void *self)
{
    const asha *t = self;
    return t->best ? "asha.winner = best" : NULL;
}

/* The number of trials is known where nothing else ends the search. */
static void asha_extent(const void *self, weft_extent *out)
{
    const asha *t = self;
    const bracket *b = &t->bracket[0];
    *out = (weft_extent){t->budget == 0 && t->most_jobs == 0 ? t->trials : 0,
                         (double)b->rung[b->top].resource};
}

extern const weft_tuner weft_tuner_asha;
const weft_tuner weft_tuner_asha = {
    .kind = {.name = "asha",
             .about = "asynchronous successive halving: no worker waits for a rung",
             .size = sizeof(asha),
             .opts = asha_opts},
    .setup = asha_setup,
    .ask = asha_ask,
    .tell = asha_tell,
    .jobs = asha_jobs,
    .ended = asha_ended,
    .early = asha_early,
    .extent = asha_extent,
};
