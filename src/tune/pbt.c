/* Population based training: the members of a population train in parallel; after every
 * interval a member with a high loss continues with the weights and configuration of one
 * with a low loss, and this configuration is perturbed. Jaderberg, Dalibard, Osindero et
 * al., "Population based training of neural networks", arXiv:1711.09846, 2017. A member is
 * a sequence of trials: each copy is a new trial. No member waits: it is
 * compared with the latest results of the others when its own result is told. */
#include "weft/base/random.h"
#include "weft/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1 };
/* A copy draws an option anew with probability RESAMPLE; else a number is multiplied by 1 +
 * or 1 - CHANGE. */
static const double RESAMPLE = 0.25, CHANGE = 0.2;

struct copied {
    int member;   /* whose trial it is */
    int64_t told; /* intervals that it was trained for, with those that it copied */
};

struct member {
    int64_t trial;    /* of its last job; NOBODY before the first */
    weft_rank told;   /* latest result, with its trial as id; NOBODY before the first */
    int64_t copies;   /* trial whose weights its next job copies; NOBODY: it continues its
                         own */
    int64_t source;   /* trial that its job in flight copied; NOBODY: none */
    int64_t jobs, of; /* jobs asked for; of these, of its present trial */
    int64_t at;       /* intervals of its trial, and of what that copied, asked for */
    int open;         /* 1: a job is asked and not told yet */
};

typedef struct pbt_tuner {
    /* options */
    int population, best;
    int64_t interval, max_resource;
    double quantile;
    /* state */
    const weft_space *space;
    uint64_t seed;
    int64_t each;          /* intervals up to max_resource */
    struct member *member; /* [population] */
    struct copied *of;     /* [trials] */
    int64_t trials, room;
    weft_arena *mem;
    weft_rank *ranked; /* [population] scratch */
} pbt_tuner;

static const weft_opt pbt_opts[] = {
    WEFT_INT_OPT("population", pbt_tuner, population, "20", 1, 10000,
                 "number of members, which train in parallel"),
    WEFT_LONG_OPT("interval", pbt_tuner, interval, "10", 1, 1e9,
                  "resource of a member between two decisions, in the task's unit: rounds"),
    WEFT_LONG_OPT(
        "max_resource", pbt_tuner, max_resource, "100", 1, 1e9,
        "resource of a member, and of a trial with that of what it copied: whichever "
        "is used up first ends the member"),
    WEFT_REAL_OPT("quantile", pbt_tuner, quantile, "0.2", 0, 0.5,
                  "share of the members that counts as the best, and as the worst, which "
                  "copy one of the best; 0: no copies"),
    WEFT_CHOICE_OPT("winner", pbt_tuner, best, "last", "last|best",
                    "last: best member at the end; best: lowest loss of any job"),
    {0},
};

static weft_status pbt_setup(void *self, const weft_space *space, uint64_t seed,
                             weft_arena *mem)
{
    pbt_tuner *pbt = self;
    pbt->space = space;
    pbt->seed = seed;
    if (pbt->interval > pbt->max_resource)
        return weft_fail(WEFT_ECONF,
                         "pbt.interval = %lld is more than pbt.max_resource = %lld",
                         (long long)pbt->interval, (long long)pbt->max_resource);
    if (space->source != 0 && space->count < pbt->population)
        return weft_fail(WEFT_ECONF,
                         "pbt.population = %d, but the space has %lld configurations; "
                         "expected a population of as many at most, or "
                         "space.source = random",
                         pbt->population, (long long)space->count);
    pbt->each = (pbt->max_resource + pbt->interval - 1) / pbt->interval;
    pbt->member = WEFT_NEW(mem, struct member, pbt->population);
    for (int i = 0; i < pbt->population; i++)
        pbt->member[i] = (struct member){
            .trial = NOBODY, .told.id = NOBODY, .copies = NOBODY, .source = NOBODY};
    pbt->mem = mem;
    pbt->ranked = WEFT_NEW(mem, weft_rank, pbt->population);
    return WEFT_OK;
}

/* ---- exploit ---- */

/* A uniform random integer below n, for the decision of a member after its last job. */
static int64_t draw(const pbt_tuner *pbt, const struct member *member, int64_t n)
{
    weft_rng4 rng = weft_rng_at(pbt->seed, WEFT_RNG_TUNER, (uint64_t)member->trial,
                                (uint64_t)member->of, weft_hash("exploit", 7, 0));
    return (int64_t)(weft_rng_unit(rng.v[0]) * (double)n);
}

/* Ranks the latest results of the members that have one, best first, in pbt->ranked.
 * Returns their number. */
static int64_t rank_members(pbt_tuner *pbt)
{
    int64_t n = 0;
    for (int i = 0; i < pbt->population; i++)
        if (pbt->member[i].told.id != NOBODY) pbt->ranked[n++] = pbt->member[i].told;
    qsort(pbt->ranked, (size_t)n, sizeof *pbt->ranked, weft_rank_compare);
    return n;
}

/* The trial whose weights the next job of a member copies: one drawn from the best share if
 * the member is in the worst, but never one that diverged; NOBODY: it continues its own. */
static int64_t exploit(pbt_tuner *pbt, const struct member *member)
{
    int64_t n = pbt->quantile > 0 ? rank_members(pbt) : 0, at = 0;
    if (n < 2) return NOBODY;
    while (pbt->ranked[at].id != member->told.id) at++;
    int64_t share = (int64_t)ceil(pbt->quantile * (double)n);
    if (share > n / 2) share = n / 2;
    if (at < n - share) return NOBODY;
    while (share > 0 && !(pbt->ranked[share - 1].loss < INFINITY)) share--;
    return share > 0 ? pbt->ranked[draw(pbt, member, share)].id : NOBODY;
}

/* ---- explore ---- */

/* A value times `factor`, moved by at least one step on integer and list axes. */
static double perturb(const weft_axis *axis, double value, double factor)
{
    int up = factor > 1 ? 1 : -1;
    if (axis->nvalue) return weft_axis_step(axis, value, up);
    double to = fmin(fmax(value * factor, axis->lo), axis->hi);
    if (axis->opt->type == WEFT_REAL) return to;
    return fabs(round(to) - value) > 0 ? round(to) : weft_axis_step(axis, value, up);
}

/* Each option is changed independently, except those that set the size of the weights;
 * `what` is the purpose of the random numbers. */
static void change(const pbt_tuner *pbt, int64_t trial, const double *from, uint64_t what,
                   double *conf)
{
    for (int i = 0; i < pbt->space->dim; i++) {
        const weft_axis *axis = &pbt->space->axis[i];
        conf[i] = from[i];
        if (axis->opt->role == WEFT_SHAPE || isnan(from[i])) continue;
        weft_rng4 rng = weft_rng_at(pbt->seed, WEFT_RNG_TUNER, (uint64_t)trial,
                                    weft_axis_key(axis), what);
        int anew = !weft_axis_is_ordered(axis) || weft_rng_unit(rng.v[0]) < RESAMPLE;
        double factor = weft_rng_unit(rng.v[1]) < 0.5 ? 1 - CHANGE : 1 + CHANGE;
        conf[i] = anew ? weft_space_resample(pbt->space, i, weft_rng_unit(rng.v[2]))
                       : perturb(axis, from[i], factor);
    }
    weft_space_settle(pbt->space, pbt->seed, (uint64_t)trial, conf);
}

/* What is forbidden is drawn again; if that does not help, nothing is changed. */
static void pbt_explore(const void *self, int64_t trial, const double *from, double *conf)
{
    enum { TRIES = 100 };
    const pbt_tuner *pbt = self;
    for (uint64_t attempt = 0; attempt < TRIES; attempt++) {
        change(pbt, trial, from, weft_hash("explore", 7, attempt), conf);
        if (!weft_space_forbids(pbt->space, conf)) return;
    }
    memcpy(conf, from, (size_t)pbt->space->dim * sizeof *conf);
}

/* ---- ask ---- */

/* Intervals that the member, and its trial, still may have. */
static int64_t left_of(const pbt_tuner *pbt, const struct member *member)
{
    int64_t most = member->at > member->jobs ? member->at : member->jobs;
    return pbt->each - most;
}

static int is_ready(const pbt_tuner *pbt, const struct member *member)
{
    return !member->open && left_of(pbt, member) > 0;
}

static int decisions_left(const pbt_tuner *pbt)
{
    for (int i = 0; i < pbt->population; i++) {
        const struct member *member = &pbt->member[i];
        int64_t left = left_of(pbt, member);
        if (left > (is_ready(pbt, member) ? 1 : 0) ||
            (left > 0 && member->copies != NOBODY))
            return 1;
    }
    return 0;
}

/* 1: the trial is to be copied, or a copy of it is in flight. */
static int has_pending_copy(const pbt_tuner *pbt, int64_t trial)
{
    for (int i = 0; i < pbt->population; i++)
        if (pbt->member[i].copies == trial || pbt->member[i].source == trial) return 1;
    return 0;
}

/* Drops a copy that would have nothing left to train. */
static void settle_copy(const pbt_tuner *pbt, struct member *member)
{
    if (member->copies == NOBODY) return;
    int64_t from = pbt->of[member->copies].told;
    if (from == pbt->each)
        member->copies = NOBODY;
    else
        member->at = from;
}

static void begin_trial(pbt_tuner *pbt, int i)
{
    struct member *member = &pbt->member[i];
    WEFT_GROW(pbt->mem, pbt->of, pbt->trials, &pbt->room);
    member->trial = pbt->trials++;
    member->source = member->copies;
    member->copies = NOBODY;
    member->of = 0;
    pbt->of[member->trial] = (struct copied){.member = i};
}

static void begin_job(pbt_tuner *pbt, struct member *member, weft_job *job)
{
    int64_t left = pbt->max_resource - member->at * pbt->interval;
    member->open = 1;
    member->jobs++;
    member->at++;
    int final = left_of(pbt, member) == 0;
    double more = (double)(left < pbt->interval ? left : pbt->interval);
    *job = weft_job_new(member->trial, more, NULL);
    job->from = member->source;
    job->index = (int)member->of++;
    job->last = final && !decisions_left(pbt) && !has_pending_copy(pbt, member->trial);
    job->eligibility = final || pbt->best ? WEFT_WINS_LOSS : WEFT_WINS_LAST;
}

/* 1: a ready member is asked for its job before another: copies first, as their sources go
 * on, then who is behind. */
static int is_before(const struct member *one, const struct member *other)
{
    int copy = one->copies != NOBODY, copies = other->copies != NOBODY;
    return copy != copies ? copy : one->at < other->at;
}

static weft_asked pbt_ask(void *self, weft_job *job)
{
    pbt_tuner *pbt = self;
    int next = NOBODY, done = 1;
    for (int i = 0; i < pbt->population; i++) {
        const struct member *member = &pbt->member[i];
        done &= left_of(pbt, member) == 0;
        if (is_ready(pbt, member) &&
            (next == NOBODY || is_before(member, &pbt->member[next])))
            next = i;
    }
    if (next == NOBODY) return done ? WEFT_DONE : WEFT_WAIT;
    struct member *member = &pbt->member[next];
    settle_copy(pbt, member);
    if (member->trial == NOBODY || member->copies != NOBODY) begin_trial(pbt, next);
    begin_job(pbt, member, job);
    return WEFT_JOB;
}

/* ---- tell ---- */

static void pbt_tell(void *self, const weft_result *res)
{
    pbt_tuner *pbt = self;
    struct member *member = res->trial >= 0 && res->trial < pbt->trials
                                ? &pbt->member[pbt->of[res->trial].member]
                                : NULL;
    weft_check(member && member->open && member->trial == res->trial,
               "told of trial %lld, which has no job", (long long)res->trial);
    member->open = 0;
    member->source = NOBODY;
    member->told = weft_result_rank(res);
    pbt->of[res->trial].told = member->at;
    if (left_of(pbt, member) > 0) member->copies = exploit(pbt, member);
}

/* A trial has ended when a result of its member's next trial was told and no copy of it is
 * pending; at the end of the search, when no decisions are left. */
static int pbt_ended(const void *self, int64_t trial)
{
    const pbt_tuner *pbt = self;
    const struct member *member = &pbt->member[pbt->of[trial].member];
    if (member->open && member->trial == trial) return 0;
    if (has_pending_copy(pbt, trial)) return 0;
    if (member->told.id != trial) return 1;
    int goes_on =
        member->trial == trial && member->copies == NOBODY && left_of(pbt, member) > 0;
    return !goes_on && !decisions_left(pbt);
}

static int64_t pbt_jobs(const void *self)
{
    const pbt_tuner *pbt = self;
    int64_t n = 0;
    for (int i = 0; i < pbt->population; i++)
        n += pbt->member[i].jobs + left_of(pbt, &pbt->member[i]);
    return n;
}

WEFT_PLUGIN(tuner, pbt) = {
    .kind = WEFT_KIND("pbt", pbt_tuner, pbt_opts,
                      "population based training: the worst copy the best and vary them"),
    .setup = pbt_setup,
    .ask = pbt_ask,
    .tell = pbt_tell,
    .jobs = pbt_jobs,
    .ended = pbt_ended,
    .explore = pbt_explore,
    .sizes = "pbt.population",
};
