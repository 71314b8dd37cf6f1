/* A search answered by tuner_case.h, with any schedule, sampler and mixing: the jobs that
 * it asked for, the results, and whether each job keeps the contract of weft/tune/tune.h.
 */
#ifndef WEFT_TEST_SEARCH_LOG_H
#define WEFT_TEST_SEARCH_LOG_H

#include "checker.h"
#include "tuner_case.h"

#include "results.h"

/* ---- what happened ---- */

typedef struct search_log {
    int ended;          /* said DONE within the bound and never waited for nothing */
    const char *fault;  /* what a job broke; NULL: every job was well formed */
    int closed;         /* at the end every trial was */
    int waits;          /* as the search says */
    int64_t n, planned; /* jobs asked; the number `jobs` says at the end */
    uint64_t *job;      /* [n] hash of each job, in the order asked */
    weft_result *told;  /* [n] result of each job, by job */
    int best;           /* id of the best job with one configuration */
} search_log;

enum { MAX_OPEN = 8 };

/* A schedule with options. Where reduction > 0 its trials race, and the number of
 * eliminations and the budget are made to fit the number of configurations. */
struct schedule {
    const char *tuner, *options;
    int reduction;
    const char *axes; /* beside client.x */
};

struct mixed {
    const char *name, *options;
    const char *sampler; /* name and, after a line feed, options; NULL: space */
};

/* "sampler = NAME" of [run], and what else is said of a sampler as its section. */
static const char *sampler_line(const struct mixed *mixed)
{
    return mixed->sampler ? printed("sampler = %.*s\n", (int)strcspn(mixed->sampler, "\n"),
                                    mixed->sampler)
                          : "";
}

static const char *sampler_section(const struct mixed *mixed)
{
    size_t name = mixed->sampler ? strcspn(mixed->sampler, "\n") : 0;
    return name > 0
               ? printed("[%.*s]%s\n", (int)name, mixed->sampler, mixed->sampler + name)
               : "";
}

static const char *options_for(const struct schedule *schedule, const struct mixed *mixed,
                               int k)
{
    enum { MAX_RESOURCE = 40, EACH = 3 };
    const char *race = "";
    if (schedule->reduction > 0) {
        int eliminations = 0, budget = 0, last = k;
        for (; last >= schedule->reduction; last /= schedule->reduction) eliminations++;
        for (int i = 0, n = k; i < eliminations; i++, n /= schedule->reduction)
            budget += EACH * (n - last);
        race = printed(
            "reduction = %d\neliminations = %d\nmax_resource = %d\nbudget = %d\n",
            schedule->reduction, eliminations, MAX_RESOURCE, budget + last * MAX_RESOURCE);
    }
    return printed("%s%s\n[run]\n%smixing = %s\n%s[%s]\n%s\n", race, schedule->options,
                   sampler_line(mixed), mixed->name, sampler_section(mixed), mixed->name,
                   mixed->options);
}

/* Of all but its number. */
static inline uint64_t job_hash(const weft_job *job)
{
    weft_job own = *job;
    own.id = 0;
    return weft_job_hash(&own);
}

enum { MAX_IDS = 1 << 17 };

typedef struct trial_log {
    double own[MAX_DIM]; /* its configuration, where it has one */
    const double *z;     /* log-probabilities that the task left, or NULL */
} trial_log;

/* What the search has said so far. */
struct past {
    struct checker checked;
    trial_log *trial;             /* [trials] */
    int64_t *id;                  /* [MAX_IDS] at its place: a number + 1; 0: none */
    int *eliminated;              /* [MAX_IDS] */
    uint64_t *conf;               /* [MAX_IDS] hash of what it stands for; 0: not seen */
    weft_eligibility eligibility; /* of the first job */
};

static inline struct past past_new(const test_search *search, int64_t max_jobs)
{
    const weft_search *s = &search->search;
    struct past past = {.checked = checker_new(s->tuner->shared, max_jobs, mem),
                        .trial = WEFT_NEW(mem, trial_log, max_jobs),
                        .id = WEFT_NEW(mem, int64_t, MAX_IDS),
                        .eliminated = WEFT_NEW(mem, int, MAX_IDS),
                        .conf = WEFT_NEW(mem, uint64_t, MAX_IDS)};
    if (s->tuner->extent) s->tuner->extent(s->tuner_self, &past.checked.extent);
    return past;
}

/* The place of the number of a configuration; numbers may have gaps. */
static inline int place_of(struct past *past, int64_t id)
{
    int at = (int)((uint64_t)id * 2654435761u % MAX_IDS);
    while (past->id[at] && past->id[at] != id + 1) at = (at + 1) % MAX_IDS;
    past->id[at] = id + 1;
    return at;
}

/* Inside the space; an id is one configuration all along. */
static inline int conf_is_sound(const double *conf, int place, const weft_space *space,
                                struct past *past)
{
    size_t bytes = (size_t)space->dim * sizeof *conf;
    uint64_t mark = weft_hash(conf, bytes, 1);
    int good = past->conf[place] == 0 || past->conf[place] == mark;
    past->conf[place] = mark;
    for (int a = 0; a < space->dim; a++)
        good &= conf[a] >= space->axis[a].lo &&
                (space->axis[a].nvalue || conf[a] <= space->axis[a].hi);
    return good;
}

/* 1: each trial has a mixture around its own configuration. */
static inline int is_around(const test_search *search)
{
    const weft_search *s = &search->search;
    return s->mixing->moves && s->tuner->shared == WEFT_SHARES_NOTHING;
}

/* The configuration of a new trial: of the space by its number, or explored from that of
 * the trial that it copies. */
static inline void begin_own(const weft_job *job, const test_search *search,
                             struct past *past)
{
    const weft_tuner *tuner = search->search.tuner;
    double *own = past->trial[job->trial].own;
    if (tuner->shared != WEFT_SHARES_NOTHING) return;
    if (search->search.sampler->told || tuner->place)
        memcpy(own, search->search.trial[job->trial].conf,
               (size_t)search->space->dim * sizeof *own);
    else if (job->from < 0)
        weft_space_config(search->space, job->trial, own);
    else if (tuner->explore)
        tuner->explore(search->search.tuner_self, job->trial, past->trial[job->from].own,
                       own);
    else
        memcpy(own, past->trial[job->from].own, sizeof past->trial[job->from].own);
}

/* The trial's own configuration, or one of the space by its index; around a trial's, one
 * that differs from it only in what may differ between samples. */
static inline int conf_is_own(const weft_job *job, int i, const test_search *search,
                              const struct past *past)
{
    const weft_space *space = search->space;
    int around = is_around(search);
    const double *conf = job->mix.conf + (size_t)i * (size_t)job->mix.dim;
    double own[MAX_DIM];
    if (search->search.tuner->shared == WEFT_SHARES_NOTHING)
        memcpy(own, past->trial[job->trial].own, sizeof own);
    else
        weft_space_config(space, job->mix.id[i], own);
    int good = !around || job->mix.id[i] % job->mix.k == i;
    for (int a = 0; a < space->dim; a++)
        if (!around || space->axis[a].opt->role != WEFT_PER_SAMPLE)
            good &= conf[a] == own[a];
    return good;
}

static inline int blocks_sum_to_one(const weft_mix *mix)
{
    int good = 1;
    for (int b = 0; b < mix->nblock; b++) {
        double sum = 0;
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
            sum += exp(mix->logp[i]);
        good &= fabs(sum - 1) < 1e-9;
    }
    return good;
}

/* A trial that goes on has the mixture that its last job left; a new one begins uniform. */
static inline int mix_goes_on(const weft_job *job, const trial_log *trials)
{
    const weft_mix *mix = &job->mix;
    int good = 1;
    if (job->update.schedule == WEFT_UPDATE_NONE) return 1;
    if (trials->z)
        return memcmp(mix->logp, trials->z, (size_t)mix->k * sizeof *mix->logp) == 0;
    for (int b = 0; b < mix->nblock; b++)
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
            good &= fabs(mix->logp[i] - mix->logp[weft_mix_off(mix, b)]) <= 0;
    return good;
}

static inline int mix_is_sound(const weft_job *job, const test_search *search,
                               struct past *past)
{
    const weft_mix *mix = &job->mix;
    int moves = search->search.mixing->moves;
    int good = mix->dim == search->space->dim && moves == (job->update.schedule != 0);
    for (int i = 0; i < mix->k; i++) {
        if (mix->id[i] < 0) return 0;
        int at = place_of(past, mix->id[i]);
        good &= conf_is_sound(mix->conf + (size_t)i * (size_t)mix->dim, at, search->space,
                              past);
        good &= conf_is_own(job, i, search, past);
        if (!(mix->logp[i] > -INFINITY))
            past->eliminated[at] = 1;
        else
            good &= !past->eliminated[at];
    }
    return good && mix_goes_on(job, &past->trial[job->trial]) && blocks_sum_to_one(mix);
}

/* Of several configurations in turn nobody wins, members of a population compete at their
 * end; else the search decides by one rule. */
static inline int eligibility_is_sound(const weft_job *job, const test_search *search,
                                       struct past *past)
{
    int shared = search->search.tuner->shared == WEFT_SHARES_SPACE;
    if (shared && job->mix.k > 1) return job->eligibility == WEFT_WINS_LAST;
    if (search->search.tuner->explore && job->eligibility == WEFT_WINS_LAST) return 1;
    if (past->eligibility == WEFT_WINS_LAST) past->eligibility = job->eligibility;
    return job->eligibility != WEFT_WINS_LAST && job->eligibility == past->eligibility;
}

/* Which rule the job breaks; NULL: none. */
static inline const char *job_fault(const weft_job *job, const test_search *search,
                                    struct past *past)
{
    int begins = job->trial == past->checked.trials;
    weft_shared shared = search->search.tuner->shared;
    if (!(job->feature_fraction > 0 && job->feature_fraction <= 1))
        return "a share of the features is above 0 and at most 1";
    checker_ask(&past->checked, job);
    if (past->checked.fault) return past->checked.fault;
    if (begins) begin_own(job, search, past);
    const char *fault = NULL;
    if (shared == WEFT_SHARES_NOTHING && job->feature_fraction < 1)
        fault = "a trial of its own has all features";
    if (shared == WEFT_SHARES_SPACE && job->resource != 1 &&
        (job->resource != 0 || job->mix.k > 1))
        fault = "a round that is shared is one";
    if (!eligibility_is_sound(job, search, past))
        fault = "the eligibility is as tune.h says";
    return mix_is_sound(job, search, past) ? fault
                                           : "the mixture is of living configurations";
}

/* A job in flight. */
struct flight {
    int64_t job;
    weft_result res;
};

static inline void take(test_search *search, struct past *past, const struct flight *flight)
{
    past->trial[flight->res.trial].z = flight->res.logp;
    checker_tell(&past->checked, &flight->res);
    tell(search, &flight->res);
    for (int64_t i = 0; i < past->checked.trials; i++)
        past->checked.trial[i].closed |= ended(search, i);
}

/* What can be told at the end. */
static inline void close_record(search_log *record, const struct past *past)
{
    record->closed = 1;
    for (int64_t t = 0; t < past->checked.trials; t++)
        record->closed &= past->checked.trial[t].closed;
    if (!record->fault && past->eligibility == WEFT_WINS_LAST)
        record->fault = "a job may win";
    if (!record->fault && past->checked.extent.trials != 0 &&
        past->checked.extent.trials != past->checked.trials)
        record->fault = "there are as many trials as extent.trials says";
}

/* Runs to the end. The first `from->n / 2` results are those of an earlier search, if any.
 */
static inline search_log run_search(const tuner_case *example, const search_log *from)
{
    int64_t max_jobs = 20 * (int64_t)example->k + 1000;
    test_search search = test_search_new(example);
    struct past past = past_new(&search, max_jobs);
    search_log record = {.best = -1, .waits = weft_search_waits(&search.search)};
    record.job = WEFT_NEW(mem, uint64_t, max_jobs);
    record.told = WEFT_NEW(mem, weft_result, max_jobs);
    struct flight in_flight[MAX_OPEN];
    double best = INFINITY;
    for (int n = 0; record.n < max_jobs;) {
        weft_job job;
        weft_asked asked = n < example->open ? ask(&search, &job) : WEFT_WAIT;
        if (asked == WEFT_JOB) {
            job.id = record.n;
            const char *fault = job_fault(&job, &search, &past);
            if (!record.fault) record.fault = fault;
            record.job[record.n] = job_hash(&job);
            weft_result res = answer(example, &job);
            if (from && record.n < from->n / 2) result_copy(&res, &from->told[record.n]);
            if (job.mix.k == 1 && res.loss < best) {
                best = res.loss;
                record.best = (int)job.mix.id[0];
            }
            in_flight[n++] = (struct flight){record.n++, res};
            continue;
        }
        if (n == 0) {
            record.ended = asked == WEFT_DONE;
            break;
        }
        /* the newest first: out of order wherever the schedule allows it */
        struct flight flight = in_flight[--n];
        record.told[flight.job] = flight.res;
        take(&search, &past, &flight);
    }
    close_record(&record, &past);
    record.planned = weft_search_jobs(&search.search);
    return record;
}

static inline int alike(const search_log *a, const search_log *b)
{
    return a->n == b->n && memcmp(a->job, b->job, (size_t)a->n * sizeof *a->job) == 0;
}

static inline int by_hash(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The same jobs, in whatever order. */
static inline int same_jobs(const search_log *a, const search_log *b)
{
    qsort(a->job, (size_t)a->n, sizeof *a->job, by_hash);
    qsort(b->job, (size_t)b->n, sizeof *b->job, by_hash);
    return alike(a, b);
}

#endif
