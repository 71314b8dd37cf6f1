/* FedPop: the clients of a trial draw, all alike, from configurations that evolve: after
 * every job the worst quarter of those that clients were scored with is replaced by
 * neighbours of the best quarter. A copy of a trial goes on with what evolved in its
 * source. With run.tuner = pbt, which copies and perturbs what belongs to a whole trial,
 * this is the publication's method; there the evolution within a trial may be after every
 * round, here it is as often as pbt.interval says. Chen, Krompass, Gu, Tresp, "FedPop:
 * Federated population-based hyperparameter tuning", AAAI 2025. */
#include "near.h"
#include "weft/base/random.h"

#include <stdlib.h>
#include <string.h>

enum { QUARTER = 4 };

/* What evolves in a trial, as near stores it. */
struct population {
    double *jobs; /* [1] that were told */
    double *made; /* [k] after so many of them the entry was made */
    double *conf; /* [k][dim] */
};

static const weft_opt fedpop_opts[] = {
    WEFT_LONG_OPT("k", weft_near, k, "8", 4, 100000,
                  "configurations of a trial, from which its clients draw"),
    WEFT_REAL_OPT("eps", weft_near, eps, "0.1", 0, 1,
                  "largest distance of new ones from the trial's own, and from those that "
                  "they come from, as a share of each axis"),
    {0},
};

static weft_status fedpop_setup(void *self, const weft_mixing_env *env)
{
    weft_near *near = self;
    if (env->whole)
        return weft_fail(
            WEFT_ECONF, "run.mixing = fedpop varies the configuration of a trial, but this "
                        "schedule has one mixture of the whole space; use another "
                        "run.tuner, or run.mixing = mw");
    TRY(weft_near_setup(near, "fedpop", env));
    near->nstored = 1 + (int64_t)near->mix.k * (1 + near->mix.dim);
    return WEFT_OK;
}

static struct population population_in(const weft_near *near, double *stored)
{
    return (struct population){stored, stored + 1, stored + 1 + near->mix.k};
}

/* The number of entry i of a trial, made after so many of its jobs: by Cantor's pairing of
 * the two, so that it does not depend on what other trials do. */
static int64_t number_of(const weft_near *near, int64_t trial, double jobs, int i)
{
    int64_t told = (int64_t)jobs, sum = trial + told;
    return (sum * (sum + 1) / 2 + told) * near->mix.k + i;
}

/* Gives a configuration of a copy what clients draw in `from`, unless that is forbidden
 * with the rest of it. */
static void inherit(const weft_near *near, const double *from, int64_t id, double *conf)
{
    const weft_space *space = near->space;
    WEFT_SCRATCH(tmp);
    double *new = WEFT_NEW(tmp, double, space->dim);
    for (int a = 0; a < space->dim; a++)
        new[a] = space->axis[a].opt->role == WEFT_PER_SAMPLE ? from[a] : conf[a];
    weft_space_settle(space, near->seed, (uint64_t)id, new);
    if (!weft_space_forbids(space, new))
        memcpy(conf, new, (size_t)space->dim * sizeof *new);
}

/* The population of a new trial: neighbours of its configuration; of a copy, what evolved
 * in its source. */
static void begin(weft_near *near, const double *conf, weft_job *job)
{
    const weft_mix *mix = &near->mix;
    weft_near_make(near, conf, job);
    double *stored = weft_near_store(near, job->trial);
    double *source = weft_near_stored(near, job->from);
    struct population own = population_in(near, stored);
    memset(stored, 0, (size_t)near->nstored * sizeof *stored);
    memcpy(own.conf, mix->conf, (size_t)mix->k * (size_t)mix->dim * sizeof *own.conf);
    for (int i = 0; i < mix->k && source; i++) {
        size_t at = (size_t)i * (size_t)mix->dim;
        inherit(near, population_in(near, source).conf + at,
                number_of(near, job->trial, 0, i), own.conf + at);
    }
}

static void fedpop_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    weft_near *near = self;
    weft_mix *mix = &near->mix;
    (void)id;
    if (!weft_near_stored(near, job->trial)) begin(near, conf, job);
    struct population own = population_in(near, weft_near_stored(near, job->trial));
    for (int i = 0; i < mix->k; i++)
        mix->id[i] = number_of(near, job->trial, own.made[i], i);
    memcpy(mix->conf, own.conf, (size_t)mix->k * (size_t)mix->dim * sizeof *mix->conf);
    job->mix = *mix;
    job->update = (weft_mix_update){.schedule = WEFT_UPDATE_SCORED};
}

/* Replaces entry `worst` of a trial by a neighbour of one of the `share` best. */
static void replace(weft_near *near, int64_t trial, struct population *own, int worst,
                    const weft_rank *best, int share)
{
    size_t dim = (size_t)near->mix.dim;
    uint64_t seed = near->seed;
    own->made[worst] = *own->jobs;
    int64_t id = number_of(near, trial, own->made[worst], worst);
    weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_TUNER, (uint64_t)id, 0, 0);
    size_t from = (size_t)best[(int)(weft_rng_unit(rng.v[0]) * share)].id;
    weft_space_perturb(near->space, own->conf + from * dim, near->eps, seed, id + 1,
                       own->conf + (size_t)worst * dim);
}

static void fedpop_told(void *self, const weft_result *res)
{
    weft_near *near = self;
    double *stored = weft_near_stored(near, res->trial);
    weft_check(stored && res->k == near->mix.k, "result of %lld configurations",
               (long long)res->k);
    struct population own = population_in(near, stored);
    WEFT_SCRATCH(tmp);
    weft_rank *rank = WEFT_NEW(tmp, weft_rank, res->k);
    int n = 0;
    for (int i = 0; i < res->k; i++)
        if (res->arm_count[i] > 0) rank[n++] = weft_result_rank_of(res, i);
    qsort(rank, (size_t)n, sizeof *rank, weft_rank_compare);
    int share = n / QUARTER;
    *own.jobs += 1;
    for (int j = 0; j < share; j++)
        replace(near, res->trial, &own, (int)rank[n - 1 - j].id, rank, share);
}

WEFT_PLUGIN(mixing, fedpop) = {
    .kind = WEFT_KIND("fedpop", weft_near, fedpop_opts,
                      "FedPop: clients draw from configurations that evolve"),
    .moves = 1,
    .setup = fedpop_setup,
    .make = fedpop_make,
    .told = fedpop_told,
    .forget = weft_near_forget,
};
