/* Asynchronous successive halving: whenever a worker is free, a trial that ranks among the
 * best 1 / reduction of its rung is promoted to the next rung; if there is none, a new
 * trial starts. No worker waits for a rung to be complete. With several brackets, each of
 * which starts one rung higher than the one before, this is asynchronous Hyperband. Li,
 * Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar, "A system for
 * massively parallel hyperparameter tuning", MLSys 2020, algorithm 2. In the stopping
 * variant, whether a trial is promoted is decided once, when its result of the rung is
 * told: Liaw et al., "Tune: a research platform for distributed model selection and
 * training", AutoML workshop at ICML 2018. */
#include "rungs.h"

#include <math.h>

enum { PROMOTION, STOPPING };

/* The results of a rung. Each is in `best` or in `rest`; `waiting` holds the finite ones of
 * trials that were not promoted yet. */
typedef struct rung {
    int64_t resource;   /* total of a trial at its end */
    int64_t n;          /* results */
    int64_t keep;       /* at most so many of the best can ever be promoted; -1: no bound is
                           known */
    weft_heap best;     /* the floor(n / reduction) best, the worst of them first */
    weft_heap rest;     /* the others, the best first */
    weft_heap waiting;  /* the best first */
    weft_heap possible; /* the `keep` best, the worst of them first */
} rung;

typedef struct bracket {
    int top; /* its last rung */
    int64_t spent;
    rung rung[WEFT_MAX_RUNGS];
} bracket;

typedef struct trial {
    int bracket, rung; /* bracket and rung of its last job */
    int open;          /* 1: a job is asked and not told yet */
    int stopped;       /* 1: it cannot be promoted any more */
    weft_rank rank;    /* of the result told last */
} trial;

typedef struct asha {
    /* options */
    int reduction, early_stopping, variant, brackets, best;
    int64_t min_resource, max_resource, trials, budget, most_jobs;
    /* state */
    bracket *bracket; /* [brackets] */
    trial *trial;     /* [begun] */
    int64_t begun, room;
    int64_t jobs, spent, open; /* number asked for; resource asked for; jobs asked for and
                                  not told */
    int over;                  /* 1: no more jobs will be asked for */
    weft_arena *mem;
} asha;

static const weft_opt asha_opts[] = {
    WEFT_INT_OPT("reduction", asha, reduction, "4", 2, 1000,
                 "one in this many trials is promoted to the next rung"),
    WEFT_LONG_OPT("min_resource", asha, min_resource, "1", 1, 1e9,
                  "resource of a trial in the first rung, in the task's unit: rounds"),
    WEFT_LONG_OPT("max_resource", asha, max_resource, "256", 1, 1e9,
                  "upper bound of it in the last rung: each rung has `reduction` times "
                  "that of the one before"),
    WEFT_INT_OPT("early_stopping", asha, early_stopping, "0", 0, WEFT_MAX_RUNGS - 1,
                 "number of lowest rungs that are left out"),
    WEFT_LONG_OPT("trials", asha, trials, "-1", -1, 1e9,
                  "trials that start; auto: space.configs; 0: no bound", .words = "auto"),
    WEFT_LONG_OPT("budget", asha, budget, "0", 0, 1e15,
                  "upper bound of the resource of all trials together; 0: no bound"),
    WEFT_LONG_OPT("jobs", asha, most_jobs, "0", 0, 1e12,
                  "upper bound of the number of jobs; 0: no bound"),
    WEFT_CHOICE_OPT("variant", asha, variant, "promotion", "promotion|stopping",
                    "promotion: a trial pauses until it ranks among the best of its rung; "
                    "stopping: it continues at once or never"),
    WEFT_INT_OPT("brackets", asha, brackets, "1", 0, WEFT_MAX_RUNGS,
                 "number of brackets, each of which leaves out one more of the lowest "
                 "rungs; all get the same resource; 0: as many as rungs"),
    WEFT_CHOICE_OPT(
        "winner", asha, best, "last", "last|best",
        "last: best of the jobs with the most resource; best: lowest loss of any job"),
    {0},
};

/* ---- heaps of ranks, none of which are equal ---- */

static int is_better(const void *a, const void *b, const void *of)
{
    (void)of;
    return weft_rank_before(*(const weft_rank *)a, *(const weft_rank *)b);
}

static int is_worse(const void *a, const void *b, const void *of)
{
    return is_better(b, a, of);
}

static weft_heap ranks(int (*before)(const void *a, const void *b, const void *of))
{
    return (weft_heap){.size = sizeof(weft_rank), .before = before};
}

static weft_rank first(const weft_heap *heap)
{
    return *(const weft_rank *)heap->at;
}

static weft_rank pop(weft_heap *heap)
{
    weft_rank x;
    weft_heap_take(heap, 0, &x);
    return x;
}

static void move_first(weft_heap *from, weft_heap *to, weft_arena *mem)
{
    weft_rank x = pop(from);
    weft_heap_push(to, &x, mem);
}

/* ---- setup ---- */

/* The smaller of two bounds, of which 0 stands for none. */
static int64_t least_bound(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Sets the rungs of a bracket. The first has at most n results; at most n - reduction + 1
 * of these are promoted, because each result from the reduction-th on allows one promotion
 * more. */
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
        b->rung[k].best = b->rung[k].possible = ranks(is_worse);
        b->rung[k].rest = b->rung[k].waiting = ranks(is_better);
        n = n >= t->reduction ? n - t->reduction + 1 : 0;
    }
}

/* The number of rungs; ECONF if the options allow none. */
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

static weft_status asha_setup(void *self, const weft_space *space, uint64_t seed,
                              weft_arena *mem)
{
    asha *t = self;
    (void)seed;
    int rungs = 0;
    TRY(count_rungs(t, &rungs));
    if (t->brackets == 0) t->brackets = rungs - t->early_stopping;
    if (t->trials < 0 || (t->trials == 0 && space->source != 0)) t->trials = space->count;
    TRY(weft_trials_fit(space, "asha", t->trials));
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
    if (t->variant == PROMOTION && t->trials > 0 && t->trials < t->reduction && rungs > 1)
        weft_log(
            WEFT_WARN,
            "asha: of %lld trials, fewer than asha.reduction = %lld, none is promoted: "
            "they end at %lld of asha.max_resource = %lld",
            (long long)t->trials, (long long)t->reduction, (long long)first,
            (long long)t->max_resource);
    t->mem = mem;
    return WEFT_OK;
}

/* ---- ask ---- */

/* The number of a rung's results that rank among the best. In the stopping variant the
 * first trial of a rung is always promoted, as there is none to compare it with. */
static int64_t quota(const asha *t, const rung *r)
{
    int64_t m = r->n / t->reduction;
    return t->variant == STOPPING && m == 0 && r->n > 0 ? 1 : m;
}

/* 1: the best of the waiting trials may be promoted. In the stopping variant only trials
 * that may be promoted wait. */
static int can_promote(const asha *t, const rung *r)
{
    if (r->waiting.n == 0) return 0;
    return t->variant == STOPPING ||
           (r->best.n > 0 && !weft_rank_before(first(&r->best), first(&r->waiting)));
}

/* The rung from which a trial can be promoted, the highest of each bracket first; NULL:
 * there is none. */
static rung *find_promotion(const asha *t)
{
    for (int i = 0; i < t->brackets; i++)
        for (int k = t->bracket[i].top - 1; k >= 0; k--)
            if (can_promote(t, &t->bracket[i].rung[k])) return &t->bracket[i].rung[k];
    return NULL;
}

/* The bracket that a new trial starts in: the one that was given the least resource. */
static int least_spent(const asha *t)
{
    int at = 0;
    for (int i = 1; i < t->brackets; i++)
        if (t->bracket[i].spent < t->bracket[at].spent) at = i;
    return at;
}

/* The trial of the next job, new or promoted, and its state with that job in *next; -1:
 * there is none. */
static int64_t next_trial(const asha *t, trial *next)
{
    const rung *from = find_promotion(t);
    if (from) {
        int64_t id = first(&from->waiting).id;
        *next = t->trial[id];
        next->rung++;
        return id;
    }
    *next = (trial){.bracket = least_spent(t)};
    return t->trials == 0 || t->begun < t->trials ? t->begun : -1;
}

/* The resource of a trial's next job. */
static int64_t added(const asha *t, const trial *next)
{
    const rung *r = &t->bracket[next->bracket].rung[next->rung];
    return next->rung > 0 ? r->resource - r[-1].resource : r->resource;
}

/* 1: the job would exceed the number of jobs or the budget. */
static int exceeds_bounds(const asha *t, const trial *next)
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
    t->over = id < 0 ? t->open == 0 : exceeds_bounds(t, &next);
    if (t->over) return WEFT_DONE;
    if (id < 0) return WEFT_WAIT;
    if (id < t->begun)
        pop(&t->bracket[next.bracket].rung[next.rung - 1].waiting);
    else
        t->trial = weft_regrow(t->mem, t->trial, sizeof *t->trial, t->begun++, &t->room);
    begin_job(t, id, &next, job);
    next.open = 1;
    t->trial[id] = next;
    return WEFT_JOB;
}

/* ---- tell ---- */

/* Adds a result to the rankings of a rung. */
static void rank(asha *t, rung *r, weft_rank x)
{
    r->n++;
    weft_heap_push(&r->best, &x, t->mem);
    move_first(&r->best, &r->rest, t->mem);
    while (r->best.n < quota(t, r)) move_first(&r->rest, &r->best, t->mem);
    if (r->keep < 0) return;
    weft_heap_push(&r->possible, &x, t->mem);
    if (r->possible.n > r->keep) pop(&r->possible);
}

/* Adds a result to the rung that its trial was trained for. */
static void add_result(asha *t, weft_rank x)
{
    trial *c = &t->trial[x.id];
    const bracket *b = &t->bracket[c->bracket];
    rung *r = &t->bracket[c->bracket].rung[c->rung];
    c->open = 0;
    c->rank = x;
    c->stopped = c->rung == b->top || !(x.loss < INFINITY);
    if (c->rung == b->top) return;
    rank(t, r, x);
    if (t->variant == STOPPING && weft_rank_before(first(&r->best), x)) c->stopped = 1;
    if (!c->stopped) weft_heap_push(&r->waiting, &x, t->mem);
}

static void asha_tell(void *self, const weft_result *res)
{
    asha *t = self;
    weft_check(res->trial >= 0 && res->trial < t->begun && t->trial[res->trial].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    add_result(t, weft_result_rank(res));
    if (--t->open > 0) return;
    trial next;
    t->over |= next_trial(t, &next) < 0 || exceeds_bounds(t, &next);
}

/* ---- extent ---- */

static int asha_ended(const void *self, int64_t id)
{
    const asha *t = self;
    const trial *c = &t->trial[id];
    if (c->open) return 0;
    if (c->stopped || t->over) return 1;
    const rung *r = &t->bracket[c->bracket].rung[c->rung];
    if (r->keep < 0 || r->possible.n < r->keep) return 0;
    return r->keep == 0 || weft_rank_before(first(&r->possible), c->rank);
}

/* An estimate: the trials that start, and from each rung the share that is promoted. */
static int64_t asha_jobs(const void *self)
{
    const asha *t = self;
    if (t->over) return t->jobs;
    int64_t n = 0;
    for (int64_t k = t->trials; k > 0; k /= t->reduction) n += k;
    if (t->trials == 0 && t->most_jobs == 0)
        n = t->budget / t->bracket[t->brackets - 1].rung[0].resource;
    n = least_bound(n, t->most_jobs);
    return n >= t->jobs ? n : t->jobs + t->open;
}

static const char *asha_early(const void *self)
{
    const asha *t = self;
    return t->best ? "asha.winner = best" : NULL;
}

/* The number of trials is known if nothing else ends the search. */
static void asha_extent(const void *self, weft_extent *out)
{
    const asha *t = self;
    const bracket *b = &t->bracket[0];
    *out = (weft_extent){.trials = t->budget == 0 && t->most_jobs == 0 ? t->trials : 0,
                         .resource = (double)b->rung[b->top].resource};
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
