/* Asynchronous successive halving: whenever a worker is free, a trial that ranks among the
 * best 1 / reduction of its rung is promoted to the next rung; if there is none, a new
 * trial starts. No worker waits for a rung to be complete. Li, Jamieson, Rostamizadeh,
 * Gonina, Ben-tzur, Hardt, Recht, Talwalkar, "A system for massively parallel
 * hyperparameter tuning", MLSys 2020, algorithm 2. In the stopping variant, whether a trial
 * is promoted is decided once, when its result of the rung is told: Liaw et al., "Tune: a
 * research platform for distributed model selection and training", AutoML workshop at ICML
 * 2018. A trial that is no better than guesses is not promoted where the best of its rung
 * is. With several objectives the results of a rung are ranked by weft_front_order
 * (Schmucker et al. 2021), all of them after each; the leader goes by the first. At the end
 * the best of the trials with the most resource is trained up to
 * max_resource. */
#include "schedule.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>

enum { PROMOTION, STOPPING };

/* The results of a rung. Each is in `best` or in `rest`; `waiting` holds the finite ones of
 * trials that were not promoted yet. */
struct rung {
    int64_t resource;   /* total of a trial at its end */
    int64_t n;          /* results */
    int64_t keep;       /* at most so many of the best can ever be promoted; -1: no bound is
                           known */
    weft_heap best;     /* the floor(n / reduction) best, the worst of them first */
    weft_heap rest;     /* the others, the best first */
    weft_heap waiting;  /* the best first */
    weft_heap possible; /* the `keep` best, the worst of them first */
    int learnt;         /* 1: a result is better than guesses */
    weft_point *point;  /* [n] the results, if there are several objectives */
    int64_t room;
};

struct trial {
    int rung;       /* of its last job */
    int open;       /* 1: a job is asked and not told yet */
    int final;      /* 1: its last job goes beyond the rungs, up to max_resource */
    int stopped;    /* 1: it cannot be promoted any more */
    int guesses;    /* 1: the result told last is no better than guesses */
    weft_rank rank; /* of the result told last */
};

typedef struct asha_tuner {
    /* options */
    int reduction, variant;
    int64_t min_resource, max_resource, trials, budget, most_jobs;
    /* state */
    int top; /* the last rung */
    struct rung rung[WEFT_MAX_RUNGS];
    struct trial *trial; /* [begun] */
    int64_t begun, room;
    int64_t jobs, spent, open; /* number asked for; resource asked for; jobs asked for and
                                  not told */
    weft_rank leader;          /* the best result of those of most resource; id -1: none */
    int64_t leader_done;       /* that resource */
    int crowned;               /* 1: the leader's job up to max_resource was asked for */
    int over;                  /* 1: no more jobs will be asked for */
    double guess;              /* error rate of guesses; 0: not known */
    int objectives;            /* as weft_space.objectives */
    weft_arena *mem;
} asha_tuner;

static const weft_opt asha_opts[] = {
    WEFT_RUNG_OPTS(asha_tuner, "4", "256"),
    WEFT_LONG_OPT("trials", asha_tuner, trials, "-1", -1, 1e9,
                  "trials that start; auto: space.configs; 0: no bound", .words = "auto",
                  .role = WEFT_GROWS),
    WEFT_LONG_OPT("budget", asha_tuner, budget, "0", 0, 1e15,
                  "upper bound of the resource of all trials together; 0: no bound"),
    WEFT_LONG_OPT("jobs", asha_tuner, most_jobs, "0", 0, 1e12,
                  "upper bound of the number of jobs; 0: no bound", .role = WEFT_GROWS),
    WEFT_CHOICE_OPT("variant", asha_tuner, variant, "promotion", "promotion|stopping",
                    "promotion: a trial pauses until it ranks among the best of its rung; "
                    "stopping: it continues at once or never"),
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
    weft_rank rank;
    weft_heap_take(heap, 0, &rank);
    return rank;
}

static void move_first(weft_heap *from, weft_heap *to, weft_arena *mem)
{
    weft_rank rank = pop(from);
    weft_heap_push(to, &rank, mem);
}

/* ---- setup ---- */

/* The smaller of two bounds, of which 0 stands for none. */
static int64_t least_bound(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Sets the rungs. The first has at most n results; at most n - reduction + 1 of these are
 * promoted, because each result from the reduction-th on allows one promotion more. */
static void plan(asha_tuner *asha)
{
    int64_t at = asha->min_resource;
    int64_t n = least_bound(asha->trials, asha->most_jobs);
    n = least_bound(n, asha->budget / at);
    int known = asha->variant == PROMOTION && n > 0 && asha->objectives < 2;
    asha->top = weft_rungs_top(at, asha->max_resource, asha->reduction);
    for (int k = 0; k <= asha->top; k++, at *= asha->reduction) {
        struct rung *rung = &asha->rung[k];
        rung->resource = at;
        rung->keep = known ? n / asha->reduction : -1;
        rung->best = rung->possible = ranks(is_worse);
        rung->rest = rung->waiting = ranks(is_better);
        n = n >= asha->reduction ? n - asha->reduction + 1 : 0;
    }
}

static weft_status asha_setup(void *self, const weft_space *space, uint64_t seed,
                              weft_arena *mem)
{
    asha_tuner *asha = self;
    (void)seed;
    TRY(weft_resources_fit("asha", asha->min_resource, asha->max_resource));
    if (asha->trials < 0 || (asha->trials == 0 && space->source != 0))
        asha->trials = space->count;
    TRY(weft_trials_fit(space, "asha", asha->trials));
    if (asha->trials + asha->budget + asha->most_jobs == 0)
        return weft_fail(WEFT_ECONF,
                         "asha.trials = 0 would never end; expected a bound there, or "
                         "asha.budget or asha.jobs");
    asha->objectives = space->objectives;
    plan(asha);
    int64_t first = asha->min_resource;
    if (asha->budget > 0 && asha->budget < first)
        return weft_fail(WEFT_ECONF,
                         "asha.budget = %lld is less than a trial takes in the first rung; "
                         "expected at least %lld",
                         (long long)asha->budget, (long long)first);
    if (asha->variant == PROMOTION && asha->trials > 0 && asha->trials < asha->reduction &&
        asha->top > 0)
        weft_log(WEFT_WARN,
                 "asha: of %lld trials, fewer than asha.reduction = %lld, none is "
                 "promoted: all but the winner end at %lld of asha.max_resource = %lld",
                 (long long)asha->trials, (long long)asha->reduction, (long long)first,
                 (long long)asha->max_resource);
    asha->leader.id = -1;
    asha->guess = space->guess;
    asha->mem = mem;
    return WEFT_OK;
}

/* ---- ask ---- */

/* The number of a rung's results that rank among the best. In the stopping variant the
 * first trial of a rung is always promoted, as there is none to compare it with. */
static int64_t quota(const asha_tuner *asha, const struct rung *rung)
{
    int64_t m = rung->n / asha->reduction;
    return asha->variant == STOPPING && m == 0 && rung->n > 0 ? 1 : m;
}

/* 1: the best of the waiting trials may be promoted. In the stopping variant only trials
 * that may be promoted wait. */
static int can_promote(const asha_tuner *asha, const struct rung *rung)
{
    if (rung->waiting.n == 0) return 0;
    if (rung->learnt && asha->trial[first(&rung->waiting).id].guesses) return 0;
    return asha->variant == STOPPING ||
           (rung->best.n > 0 &&
            !weft_rank_before(first(&rung->best), first(&rung->waiting)));
}

/* The highest rung from which a trial can be promoted; NULL: there is none. */
static struct rung *find_promotion(asha_tuner *asha)
{
    for (int k = asha->top - 1; k >= 0; k--)
        if (can_promote(asha, &asha->rung[k])) return &asha->rung[k];
    return NULL;
}

/* 1: the leader goes on up to max_resource if nothing else is to be done. */
static int may_be_crowned(const asha_tuner *asha)
{
    return asha->leader.id >= 0 && !asha->crowned && asha->leader_done < asha->max_resource;
}

/* The trial of the next job, new or promoted, at the end the leader, and its state with
 * that job in *next; -1: there is none. */
static int64_t next_trial(asha_tuner *asha, struct trial *next)
{
    const struct rung *from = find_promotion(asha);
    if (from) {
        int64_t id = first(&from->waiting).id;
        *next = asha->trial[id];
        next->rung++;
        return id;
    }
    *next = (struct trial){0};
    if (asha->trials == 0 || asha->begun < asha->trials) return asha->begun;
    if (asha->open > 0 || !may_be_crowned(asha)) return -1;
    *next = asha->trial[asha->leader.id];
    next->rung++;
    next->final = 1;
    return asha->leader.id;
}

/* The total resource of a trial at the end of its last job. */
static int64_t reached(const asha_tuner *asha, const struct trial *trial)
{
    return trial->final ? asha->max_resource : asha->rung[trial->rung].resource;
}

static int64_t added(const asha_tuner *asha, const struct trial *next)
{
    return reached(asha, next) - (next->rung > 0 ? asha->rung[next->rung - 1].resource : 0);
}

/* 1: the job would exceed the number of jobs or the budget. */
static int exceeds_bounds(const asha_tuner *asha, const struct trial *next)
{
    return (asha->most_jobs > 0 && asha->jobs == asha->most_jobs) ||
           (asha->budget > 0 && asha->spent + added(asha, next) > asha->budget);
}

static void begin_job(asha_tuner *asha, int64_t id, const struct trial *next, weft_job *job)
{
    int64_t more = added(asha, next);
    asha->jobs++;
    asha->open++;
    asha->spent += more;
    *job = weft_job_new(id, (double)more, NULL);
    job->index = next->rung;
    job->last = reached(asha, next) == asha->max_resource;
}

static weft_asked asha_ask(void *self, weft_job *job)
{
    asha_tuner *asha = self;
    if (asha->over) return WEFT_DONE;
    struct trial next;
    int64_t id = next_trial(asha, &next);
    asha->over = id < 0 ? asha->open == 0 : exceeds_bounds(asha, &next);
    if (asha->over) return WEFT_DONE;
    if (id < 0) return WEFT_WAIT;
    asha->crowned |= next.final;
    if (id < asha->begun && !next.final) pop(&asha->rung[next.rung - 1].waiting);
    if (id == asha->begun) WEFT_REGROW(asha->mem, asha->trial, asha->begun++, &asha->room);
    begin_job(asha, id, &next, job);
    next.open = 1;
    asha->trial[id] = next;
    return WEFT_JOB;
}

/* ---- tell ---- */

/* Adds a result to the rankings of a rung. */
static void enter(asha_tuner *asha, struct rung *rung, weft_rank rank)
{
    rung->n++;
    weft_heap_push(&rung->best, &rank, asha->mem);
    move_first(&rung->best, &rung->rest, asha->mem);
    while (rung->best.n < quota(asha, rung))
        move_first(&rung->rest, &rung->best, asha->mem);
    if (rung->keep < 0) return;
    weft_heap_push(&rung->possible, &rank, asha->mem);
    if (rung->possible.n > rung->keep) pop(&rung->possible);
}

/* Takes the result for the leader's if it is of more resource, or of as much and better. A
 * leader that diverges is none any more. */
static void follow(asha_tuner *asha, weft_rank rank)
{
    int64_t done = reached(asha, &asha->trial[rank.id]);
    int finite = rank.loss < INFINITY, own = rank.id == asha->leader.id;
    int lost = !finite && own, none = asha->leader.id < 0 || own;
    double more = rank.excess - asha->leader.excess; /* of limits, which come first */
    int longer = done > asha->leader_done ||
                 (done == asha->leader_done && weft_rank_before(rank, asha->leader));
    int leads = none || more < 0 || (!(more > 0) && longer);
    if (lost) asha->leader.id = -1;
    if (!finite || !leads) return;
    asha->leader = rank;
    asha->leader_done = done;
}

/* 1: the trial has a result of the rung, and may be promoted. */
static int waits(const asha_tuner *asha, const struct rung *rung, int64_t id)
{
    const struct trial *trial = &asha->trial[id];
    return &asha->rung[trial->rung] == rung && !trial->open && !trial->stopped;
}

/* Adds a result of several objectives to a rung, and ranks all of its results by their
 * fronts: a rank has the place as its loss. Returns that of the new one. */
static weft_rank enter_front(asha_tuner *asha, struct rung *rung, weft_point point)
{
    WEFT_SCRATCH(tmp);
    weft_rank own = {.loss = INFINITY, .id = point.id};
    int64_t n = rung->n + 1;
    WEFT_REGROW(asha->mem, rung->point, rung->n, &rung->room);
    rung->point[rung->n] = point;
    weft_point *order = WEFT_NEW(tmp, weft_point, n);
    memcpy(order, rung->point, (size_t)n * sizeof *order);
    weft_front_order(n, order, asha->objectives);
    rung->n = rung->best.n = rung->rest.n = rung->waiting.n = 0;
    for (int64_t i = 0; i < n; i++) {
        weft_rank rank = {.loss = (double)i, .id = order[i].id};
        enter(asha, rung, rank);
        if (rank.id == own.id)
            own = rank;
        else if (waits(asha, rung, rank.id))
            weft_heap_push(&rung->waiting, &rank, asha->mem);
    }
    return own;
}

static void add_result(asha_tuner *asha, const weft_result *res)
{
    weft_rank rank = weft_result_rank(res);
    int guesses = weft_result_guesses(res, asha->guess);
    struct trial *trial = &asha->trial[rank.id];
    struct rung *rung = &asha->rung[trial->rung];
    int over = trial->rung >= asha->top || trial->final;
    trial->open = 0;
    trial->rank = rank;
    trial->guesses = guesses;
    trial->stopped = over || !(rank.loss < INFINITY);
    follow(asha, rank);
    if (over) return;
    if (asha->objectives > 1)
        rank = enter_front(asha, rung, weft_result_point(res, guesses, asha->objectives));
    else
        enter(asha, rung, rank);
    rung->learnt |= !guesses;
    if (asha->variant == STOPPING && weft_rank_before(first(&rung->best), rank))
        trial->stopped = 1;
    if (!trial->stopped) weft_heap_push(&rung->waiting, &rank, asha->mem);
}

static void asha_tell(void *self, const weft_result *res)
{
    asha_tuner *asha = self;
    weft_check(res->trial >= 0 && res->trial < asha->begun && asha->trial[res->trial].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    add_result(asha, res);
    if (--asha->open > 0) return;
    struct trial next;
    asha->over |= next_trial(asha, &next) < 0 || exceeds_bounds(asha, &next);
}

/* ---- extent ---- */

static int asha_ended(const void *self, int64_t id)
{
    const asha_tuner *asha = self;
    const struct trial *trial = &asha->trial[id];
    if (trial->open) return 0;
    if (asha->over) return 1;
    if (id == asha->leader.id && may_be_crowned(asha)) return 0;
    if (trial->stopped) return 1;
    const struct rung *rung = &asha->rung[trial->rung];
    if (rung->keep < 0 || rung->possible.n < rung->keep) return 0;
    return rung->keep == 0 || weft_rank_before(first(&rung->possible), trial->rank);
}

/* An estimate: the trials that start, from each rung the share that is promoted, and the
 * best one's way to max_resource. */
static int64_t asha_jobs(const void *self)
{
    const asha_tuner *asha = self;
    if (asha->over) return asha->jobs;
    int64_t n = 0, k = asha->trials;
    int rung = 0;
    for (; k > 0 && rung <= asha->top; k /= asha->reduction, rung++) n += k;
    n += rung > 0 && asha->rung[rung - 1].resource < asha->max_resource;
    if (asha->trials == 0 && asha->most_jobs == 0) n = asha->budget / asha->min_resource;
    n = least_bound(n, asha->most_jobs);
    return n >= asha->jobs ? n : asha->jobs + asha->open;
}

/* The number of trials is known if nothing else ends the search. */
static void asha_extent(const void *self, weft_extent *out)
{
    const asha_tuner *asha = self;
    int ends_by_trials = asha->budget == 0 && asha->most_jobs == 0;
    *out = (weft_extent){.trials = ends_by_trials ? asha->trials : 0,
                         .resource = (double)asha->max_resource};
}

WEFT_PLUGIN(tuner, asha) = {
    .kind = WEFT_KIND("asha", asha_tuner, asha_opts,
                      "asynchronous successive halving: no worker waits for a rung"),
    .fronts = 1,
    .setup = asha_setup,
    .ask = asha_ask,
    .tell = asha_tell,
    .jobs = asha_jobs,
    .grows = "space.configs asha.trials asha.jobs",
    .ended = asha_ended,
    .extent = asha_extent,
};
