/* A model of tuning for tests of tuners: a search space whose first number is a
 * configuration's error rate, and jobs that are answered without training. */
#ifndef WEFT_TEST_TUNER_CASE_H
#define WEFT_TEST_TUNER_CASE_H

#include "parts.h"

#include "tap.h"

struct arguments {
    double x, y;
    int n;
};

static const weft_opt client_opts[] = {
    WEFT_REAL_OPT("x", struct arguments, x, "0", 0, 1, "a number", .role = WEFT_PER_SAMPLE,
                  .leads = 1),
    WEFT_INT_OPT("n", struct arguments, n, "1", 1, 99, "a whole number",
                 .role = WEFT_PER_SAMPLE),
    {0},
};
static const weft_opt server_opts[] = {
    WEFT_REAL_OPT("y", struct arguments, y, "0", 0, 1, "another number",
                  .role = WEFT_PER_TRIAL),
    {0},
};
static const weft_kind client_kind =
    WEFT_KIND("client", struct arguments, client_opts, "what x is");
static const weft_kind server_kind =
    WEFT_KIND("server", struct arguments, server_opts, "what y is");
enum { MAX_DIM = 3 };

enum { SPLIT, FULL, ALL_NAN, SOME_NAN, TIED, NMODE };

typedef struct tuner_case {
    const weft_tuner *tuner;
    const char *options; /* ini text of the tuner's section; other sections may follow */
    int k, mode, samples;
    int open;         /* jobs in flight at most */
    uint64_t seed;    /* of the tuner and of noise */
    const char *axes; /* ini text of axes beside client.x, or NULL */
    int64_t train;    /* training samples that the tuner is told of */
} tuner_case;

/* A search with the options given. */
typedef struct test_search {
    weft_search search;
    weft_space *space;
} test_search;

/* Sets up a search by an ini text; [run] says its sampler and mixing. */
static inline weft_status test_search_read(test_search *search, const weft_tuner *tuner,
                                           const char *text, uint64_t seed, int64_t train)
{
    weft_conf conf;
    const weft_kind *kinds[] = {&client_kind, &server_kind};
    *search = (test_search){.space = WEFT_NEW(mem, weft_space, 1)};
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(&conf, "t.ini", text));
    TRY(weft_space_read(search->space, &conf, kinds, 2, 7, mem));
    TRY(search_bind(&search->search, tuner, &conf));
    search->space->samples = train;
    return weft_search_setup(&search->search, search->space, seed, mem);
}

static inline test_search test_search_new(const tuner_case *example)
{
    test_search search;
    const char *text = printed(
        "[space]\nconfigs = %d\n[client]\nx = 0 .. 1\n%s\n[%s]\n%s\n", example->k,
        example->axes ? example->axes : "", example->tuner->kind.name, example->options);
    must(test_search_read(&search, example->tuner, text, example->seed, example->train));
    return search;
}

static inline weft_asked ask(test_search *search, weft_job *job)
{
    return weft_search_ask(&search->search, job);
}

static inline void tell(test_search *search, const weft_result *res)
{
    weft_search_tell(&search->search, res);
}

static inline int ended(test_search *search, int64_t trial)
{
    return weft_search_ended(&search->search, trial);
}

/* Error rate of a configuration: .1 to .7. */
static inline double error_of(const double *conf)
{
    return .1 + .6 * conf[0];
}

static inline double noise(const tuner_case *example, const weft_job *job, int64_t sample,
                           int word)
{
    weft_rng4 rng = weft_rng_at(example->seed, WEFT_RNG_TEST, (uint64_t)job->trial,
                                (uint64_t)job->index, (uint64_t)sample);
    return weft_rng_unit(rng.v[word]);
}

/* Draws the entries that answer a sample; returns their error rate. */
static inline double draw(const tuner_case *example, const weft_job *job, int64_t sample,
                          int *pick)
{
    double unit[WEFT_MAX_BLOCKS], conf[MAX_DIM];
    for (int b = 0; b < job->mix.nblock; b++)
        unit[b] = noise(example, job, 1000 * b + sample, 0);
    weft_mix_pick(&job->mix, unit, pick);
    weft_mix_compose(&job->mix, pick, conf);
    return error_of(conf);
}

/* Each sample is answered by what it draws, wrongly as often as that errs. */
static inline void answer_split(const tuner_case *example, const weft_job *job,
                                weft_result *res)
{
    for (int s = 0; s < example->samples; s++) {
        int pick[WEFT_MAX_BLOCKS];
        double error = draw(example, job, s, pick);
        for (int b = 0; b < job->mix.nblock; b++) {
            res->arm_count[pick[b]] += 1;
            res->arm_wrong[pick[b]] += noise(example, job, s, 1) < error;
        }
    }
}

static inline void answer_full(const tuner_case *example, const weft_job *job,
                               weft_result *res)
{
    for (int i = 0; i < res->k; i++) {
        if (!(job->mix.logp[i] > -INFINITY)) continue;
        res->arm_count[i] = example->samples;
        double error = error_of(job->mix.conf + (size_t)i * job->mix.dim);
        res->arm_loss[i] = example->samples * error;
        res->arm_wrong[i] = example->samples * (example->mode == TIED ? 0.5 : error);
    }
}

/* The task's part: rounds of clients that draw from the mixture and move it. */
static inline void move_mix(const tuner_case *example, const weft_job *job, double *z)
{
    enum { CLIENTS = 4, MAX_ROUNDS = 5 };
    size_t mark = weft_arena_mark(mem);
    weft_job now = *job;
    now.mix = weft_mix_new(job->mix.k, job->mix.dim, mem);
    weft_mix_copy(&now.mix, &job->mix);
    weft_mix_update_state drift = {0};
    double *evidence = WEFT_NEW(mem, double, 2 * job->mix.k);
    for (int t = 0; job->update.schedule && t < MAX_ROUNDS && t < job->resource; t++) {
        int pick[CLIENTS * WEFT_MAX_BLOCKS];
        double before[CLIENTS], after[CLIENTS], weight[CLIENTS];
        for (int j = 0; j < CLIENTS; j++) {
            after[j] = draw(example, &now, 100000 * t + j, pick + j * now.mix.nblock);
            before[j] = .7 - .1 * j;
            weight[j] = 1. / CLIENTS;
            if (example->mode == ALL_NAN ||
                (example->mode == SOME_NAN && noise(example, job, j, 2) < .3))
                after[j] = NAN;
        }
        if (job->update.schedule == WEFT_UPDATE_RACING)
            weft_mix_race_step(&job->update, evidence, &now.mix, CLIENTS, pick, before,
                               after, weight);
        else
            weft_mix_update_step(&job->update, &drift, &now.mix, CLIENTS, pick, before,
                                 after, weight);
    }
    memcpy(z, now.mix.logp, (size_t)job->mix.k * sizeof *z);
    weft_arena_reset(mem, mark);
}

static inline weft_result answer(const tuner_case *example, const weft_job *job)
{
    weft_result res = weft_result_new(job->mix.k, 1, mem);
    res.job = job->id;
    res.trial = job->trial;
    res.by_error = 1;
    (example->mode == SPLIT ? answer_split : answer_full)(example, job, &res);
    move_mix(example, job, res.logp);
    double count = 0, wrong = 0, loss = 0;
    for (int i = 0; i < res.k; i++) {
        double p = example->mode == SPLIT ? 1 : exp(job->mix.logp[i]); /* of its block */
        count += p * res.arm_count[i];
        wrong += p * res.arm_wrong[i];
        loss += p * res.arm_loss[i];
        if (example->mode == ALL_NAN ||
            (example->mode == SOME_NAN && noise(example, job, i, 2) < .3))
            res.arm_wrong[i] = NAN;
    }
    res.loss = example->mode == TIED ? 0.5 : wrong / count;
    if (example->mode == TIED) res.metric[0] = loss / count;
    if (example->mode == ALL_NAN ||
        (example->mode == SOME_NAN && noise(example, job, 0, 3) < .3))
        res.loss = INFINITY;
    return res;
}

/* Every job of a search, in the order asked, and what was told. */
typedef struct job_log {
    int n;
    weft_job *job; /* [n] mixtures are copies */
    double spent;
} job_log;

static inline job_log all_jobs(const tuner_case *example)
{
    enum { MOST = 5000 };
    test_search search = test_search_new(example);
    job_log jobs = {.job = WEFT_NEW(mem, weft_job, MOST)};
    while (jobs.n < MOST && ask(&search, &jobs.job[jobs.n]) == WEFT_JOB) {
        weft_job *job = &jobs.job[jobs.n];
        job->id = jobs.n++;
        weft_mix lent = job->mix;
        job->mix = weft_mix_new(lent.k, lent.dim, mem);
        weft_mix_copy(&job->mix, &lent);
        weft_result res = answer(example, job);
        jobs.spent += job->resource;
        tell(&search, &res);
    }
    return jobs;
}

#endif
