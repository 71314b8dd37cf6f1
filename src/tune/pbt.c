/* Population based training: the members of a population train in parallel; after every
 * interval a member with a high loss continues with the weights and configuration of one
 * with a low loss, and this configuration is perturbed. Jaderberg, Dalibard, Osindero et
 * al., "Population based training of neural networks", arXiv:1711.09846, 2017. A member is
 * a sequence of trials: each copy is a new trial. By default no member waits: it is
 * compared with the latest results of the others when its own result is told. */
#include "weft/tune.h"

#include <math.h>
#include <stdlib.h>

enum { TRUNCATION, TOURNAMENT, NOTHING };
enum { NOBODY = -1 };

typedef struct member {
    int64_t trial;    /* of its last job; NOBODY before the first */
    weft_rank told;   /* latest result, with its trial as id; NOBODY before the first */
    int64_t copies;   /* trial whose weights its next job copies; NOBODY: it continues its
                         own */
    int64_t source;   /* trial that its job in flight copied, with `sync` its job of this
                         round; NOBODY: none */
    int64_t jobs, of; /* jobs asked for; of these, of its present trial */
    int open;         /* 1: a job is asked and not told yet */
} member;

typedef struct pbt {
    /* options */
    int population, exploit, sync, best;
    int64_t interval, max_resource;
    double quantile, resample, perturb;
    /* state */
    const weft_space *sp;
    uint64_t seed;
    int64_t each;   /* number of jobs of a member */
    int64_t round;  /* with `sync`: number of jobs of each member at the last decision */
    member *member; /* [population] */
    int *owner;     /* [trials] member */
    int64_t trials, room;
    weft_arena *mem;
    weft_rank *ranked; /* [population] scratch */
} pbt;

static const weft_opt pbt_opts[] = {
    WEFT_INT_OPT("population", pbt, population, "20", 1, 10000,
                 "number of members, which train in parallel"),
    WEFT_LONG_OPT("interval", pbt, interval, "10", 1, 1e9,
                  "resource of a member between two decisions, in the task's unit: rounds"),
    WEFT_LONG_OPT("max_resource", pbt, max_resource, "100", 1, 1e9,
                  "total resource of a member"),
    WEFT_CHOICE_OPT(
        "exploit", pbt, exploit, "truncation", "truncation|tournament|none",
        "truncation: a member of the worst share copies one of the best; tournament: a "
        "member copies one drawn at random if that is better; none: no copies"),
    WEFT_REAL_OPT("quantile", pbt, quantile, "0.2", 0, 0.5,
                  "share of the members that counts as the best, and as the worst"),
    WEFT_REAL_OPT("resample", pbt, resample, "0.25", 0, 1,
                  "probability that a copy draws an option anew instead of perturbing it"),
    WEFT_REAL_OPT("perturb", pbt, perturb, "0.2", 0, 0.99,
                  "a perturbed number is multiplied by 1 + or 1 - this"),
    WEFT_BOOL_OPT("sync", pbt, sync, "no",
                  "members wait for each other after every interval"),
    WEFT_CHOICE_OPT("winner", pbt, best, "last", "last|best",
                    "last: best member at the end; best: lowest loss of any job"),
    {0},
};

static weft_status pbt_setup(void *self, const weft_space *space, uint64_t seed,
                             weft_arena *mem)
{
    pbt *t = self;
    t->sp = space;
    t->seed = seed;
    if (t->interval > t->max_resource)
        return weft_fail(WEFT_ECONF,
                         "pbt.interval = %lld is more than pbt.max_resource = %lld",
                         (long long)t->interval, (long long)t->max_resource);
    if (space->source != 0 && space->count < t->population)
        return weft_fail(WEFT_ECONF,
                         "pbt.population = %d, but the space has %lld configurations; "
                         "expected a population of as many at most, or "
                         "space.source = random",
                         t->population, (long long)space->count);
    t->each = (t->max_resource + t->interval - 1) / t->interval;
    t->member = WEFT_NEW(mem, member, t->population);
    for (int i = 0; i < t->population; i++)
        t->member[i] = (member){
            .trial = NOBODY, .told.id = NOBODY, .copies = NOBODY, .source = NOBODY};
    t->mem = mem;
    t->ranked = WEFT_NEW(mem, weft_rank, t->population);
    return WEFT_OK;
}

/* ---- exploit ---- */

/* A uniform random integer below n, for the decision of a member after its last job. */
static int64_t draw(const pbt *t, const member *m, int64_t n)
{
    weft_rng4 rng = weft_rng_at(t->seed, WEFT_RNG_TUNER, (uint64_t)m->trial,
                                (uint64_t)m->of, weft_hash("exploit", 7, 0));
    return (int64_t)(weft_rng_unit(rng.v[0]) * (double)n);
}

/* Ranks the latest results of the members that have one, best first, in t->ranked. Returns
 * their number. */
static int64_t rank_members(pbt *t)
{
    int64_t n = 0;
    for (int i = 0; i < t->population; i++)
        if (t->member[i].told.id != NOBODY) t->ranked[n++] = t->member[i].told;
    qsort(t->ranked, (size_t)n, sizeof *t->ranked, weft_rank_compare);
    return n;
}

/* The trial that a member in the worst share copies, drawn from the best share. A trial
 * that diverged is never copied. */
static int64_t truncation(const pbt *t, const member *m, int64_t n, int64_t at)
{
    int64_t share = (int64_t)ceil(t->quantile * (double)n);
    if (share < 1) share = 1;
    if (share > n / 2) share = n / 2;
    if (at < n - share) return NOBODY;
    while (share > 0 && !(t->ranked[share - 1].loss < INFINITY)) share--;
    return share > 0 ? t->ranked[draw(t, m, share)].id : NOBODY;
}

/* A trial drawn from those of the other members, if it is better; else NOBODY. */
static int64_t tournament(const pbt *t, const member *m, int64_t n, int64_t at)
{
    int64_t other = draw(t, m, n - 1);
    weft_rank x = t->ranked[other < at ? other : at];
    return other < at && x.loss < INFINITY ? x.id : NOBODY;
}

/* The trial whose weights the next job of a member copies; NOBODY: it continues its own. */
static int64_t exploit(pbt *t, const member *m)
{
    int64_t n = t->exploit == NOTHING ? 0 : rank_members(t);
    if (n < 2) return NOBODY;
    int64_t at = 0;
    while (t->ranked[at].id != m->told.id) at++;
    return t->exploit == TRUNCATION ? truncation(t, m, n, at) : tournament(t, m, n, at);
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

/* Each option is changed independently, except those that set the size of the weights. */
static void pbt_explore(const void *self, int64_t trial, const double *from, double *conf)
{
    const pbt *t = self;
    for (int i = 0; i < t->sp->dim; i++) {
        const weft_axis *axis = &t->sp->axis[i];
        conf[i] = from[i];
        if (axis->opt->role == WEFT_SHAPE || isnan(from[i])) continue;
        weft_rng4 rng = weft_rng_at(t->seed, WEFT_RNG_TUNER, (uint64_t)trial,
                                    weft_axis_key(axis), weft_hash("explore", 7, 0));
        int anew = !weft_axis_is_ordered(axis) || weft_rng_unit(rng.v[0]) < t->resample;
        double factor = weft_rng_unit(rng.v[1]) < 0.5 ? 1 - t->perturb : 1 + t->perturb;
        conf[i] = anew ? weft_space_resample(t->sp, i, weft_rng_unit(rng.v[2]))
                       : perturb(axis, from[i], factor);
    }
    weft_space_settle(t->sp, t->seed, (uint64_t)trial, conf);
}

/* ---- ask ---- */

/* 1: the member may be asked for its next job. */
static int is_ready(const pbt *t, const member *m)
{
    return !m->open && m->jobs < t->each && (!t->sync || m->jobs == t->round);
}

/* 1: some member still has a decision ahead. */
static int decisions_left(const pbt *t)
{
    for (int i = 0; i < t->population; i++) {
        const member *m = &t->member[i];
        int64_t next = m->jobs + (is_ready(t, m) ? 1 : 0);
        if (next < t->each) return 1;
    }
    return 0;
}

/* 1: the trial is to be copied, or a copy of it is in flight. */
static int has_pending_copy(const pbt *t, int64_t trial)
{
    for (int i = 0; i < t->population; i++)
        if (t->member[i].copies == trial || t->member[i].source == trial) return 1;
    return 0;
}

static void begin_trial(pbt *t, int i)
{
    member *m = &t->member[i];
    t->owner = weft_grow(t->mem, t->owner, sizeof *t->owner, t->trials, &t->room);
    m->trial = t->trials++;
    m->source = m->copies;
    m->copies = NOBODY;
    m->of = 0;
    t->owner[m->trial] = i;
}

static void begin_job(pbt *t, member *m, weft_job *job)
{
    int64_t left = t->max_resource - m->jobs * t->interval;
    m->open = 1;
    m->jobs++;
    int final = m->jobs == t->each;
    double more = (double)(left < t->interval ? left : t->interval);
    *job = weft_job_new(m->trial, more, NULL);
    job->from = m->source;
    job->index = (int)m->of++;
    job->last = final && !decisions_left(t) && !has_pending_copy(t, m->trial);
    job->eligibility = final || t->best ? WEFT_WINS_LOSS : WEFT_WINS_LAST;
}

/* Asks for a job of the ready member that has had the fewest jobs. */
static weft_asked pbt_ask(void *self, weft_job *job)
{
    pbt *t = self;
    int next = NOBODY, done = 1;
    for (int i = 0; i < t->population; i++) {
        const member *m = &t->member[i];
        done &= m->jobs == t->each;
        if (is_ready(t, m) && (next == NOBODY || m->jobs < t->member[next].jobs)) next = i;
    }
    if (next == NOBODY) return done ? WEFT_DONE : WEFT_WAIT;
    member *m = &t->member[next];
    if (m->trial == NOBODY || m->copies != NOBODY) begin_trial(t, next);
    begin_job(t, m, job);
    return WEFT_JOB;
}

/* ---- tell ---- */

/* With `sync`: all members decide from the same results, once all of these are told. */
static void close_round(pbt *t)
{
    for (int i = 0; i < t->population; i++)
        if (t->member[i].open || t->member[i].jobs == t->round) return;
    t->round++;
    for (int i = 0; i < t->population; i++) t->member[i].source = NOBODY;
    for (int i = 0; i < t->population; i++)
        if (t->round < t->each) t->member[i].copies = exploit(t, &t->member[i]);
}

static void pbt_tell(void *self, const weft_result *res)
{
    pbt *t = self;
    member *m =
        res->trial >= 0 && res->trial < t->trials ? &t->member[t->owner[res->trial]] : NULL;
    weft_check(m && m->open && m->trial == res->trial,
               "told of trial %lld, which has no job", (long long)res->trial);
    m->open = 0;
    m->source = t->sync ? m->source : NOBODY;
    m->told = weft_result_rank(res);
    if (t->sync)
        close_round(t);
    else if (m->jobs < t->each)
        m->copies = exploit(t, m);
}

/* A trial has ended when a result of its member's next trial was told and no copy of it is
 * pending; at the end of the search, when no decisions are left. */
static int pbt_ended(const void *self, int64_t trial)
{
    const pbt *t = self;
    const member *m = &t->member[t->owner[trial]];
    if (m->open && m->trial == trial) return 0;
    if (has_pending_copy(t, trial)) return 0;
    if (m->told.id != trial) return 1;
    int goes_on = m->trial == trial && m->copies == NOBODY && m->jobs < t->each;
    return !goes_on && !decisions_left(t);
}

static int64_t pbt_jobs(const void *self)
{
    const pbt *t = self;
    return t->population * t->each;
}

extern const weft_tuner weft_tuner_pbt;
const weft_tuner weft_tuner_pbt = {
    .kind = {.name = "pbt",
             .about = "population based training: the worst copy the best and vary them",
             .size = sizeof(pbt),
             .opts = pbt_opts},
    .setup = pbt_setup,
    .ask = pbt_ask,
    .tell = pbt_tell,
    .jobs = pbt_jobs,
    .ended = pbt_ended,
    .explore = pbt_explore,
};
