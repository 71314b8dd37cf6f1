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

/* What evolves in a trial. */
struct population {
    int64_t jobs; /* that were told */
    int64_t *id;  /* [k] */
    double *conf; /* [k][dim] */
};

typedef struct fedpop_mixing {
    weft_near near;         /* the configurations of new trials */
    struct population **of; /* [roomof] by trial that may continue or be copied; or NULL */
    int64_t roomof;
    struct population **free; /* [nfree] of those that do not */
    int64_t nfree, roomfree;
} fedpop_mixing;

static const weft_opt fedpop_opts[] = {
    WEFT_LONG_OPT("k", fedpop_mixing, near.k, "8", 4, 100000,
                  "configurations of a trial, from which its clients draw"),
    WEFT_REAL_OPT("eps", fedpop_mixing, near.eps, "0.1", 0, 1,
                  "largest distance of new ones from the trial's own, and from those that "
                  "they come from, as a share of each axis"),
    {0},
};

static weft_status fedpop_setup(void *self, const weft_mixing_env *env)
{
    fedpop_mixing *pop = self;
    if (env->whole)
        return weft_fail(
            WEFT_ECONF, "run.mixing = fedpop varies the configuration of a trial, but this "
                        "schedule has one mixture of the whole space; use another "
                        "run.tuner, or run.mixing = mw");
    return weft_near_setup(&pop->near, "fedpop", env);
}

static struct population *population_of(const fedpop_mixing *pop, int64_t trial)
{
    return trial >= 0 && trial < pop->roomof ? pop->of[trial] : NULL;
}

static struct population *new_population(fedpop_mixing *pop)
{
    const weft_mix *mix = &pop->near.mix;
    if (pop->nfree > 0) return pop->free[--pop->nfree];
    struct population *new = WEFT_NEW(pop->near.mem, struct population, 1);
    new->id = WEFT_NEW(pop->near.mem, int64_t, mix->k);
    new->conf = WEFT_NEW(pop->near.mem, double, (int64_t)mix->k * mix->dim);
    return new;
}

/* The number of entry i of a trial, made after so many of its jobs: by Cantor's pairing of
 * the two, so that it does not depend on what other trials do. */
static int64_t number_of(const fedpop_mixing *pop, int64_t trial, int64_t jobs, int i)
{
    int64_t sum = trial + jobs;
    return (sum * (sum + 1) / 2 + jobs) * pop->near.mix.k + i;
}

/* Gives a configuration of a copy what clients draw in `from`, unless that is forbidden
 * with the rest of it. */
static void inherit(const fedpop_mixing *pop, const double *from, int64_t id, double *conf)
{
    const weft_space *space = pop->near.space;
    WEFT_SCRATCH(tmp);
    double *new = WEFT_NEW(tmp, double, space->dim);
    for (int a = 0; a < space->dim; a++)
        new[a] = space->axis[a].opt->role == WEFT_PER_SAMPLE ? from[a] : conf[a];
    weft_space_settle(space, pop->near.seed, (uint64_t)id, new);
    if (!weft_space_forbids(space, new))
        memcpy(conf, new, (size_t)space->dim * sizeof *new);
}

/* The population of a new trial: neighbours of its configuration; of a copy, what evolved
 * in its source. */
static struct population *begin(fedpop_mixing *pop, const double *conf, weft_job *job)
{
    const weft_mix *mix = &pop->near.mix;
    const struct population *from = population_of(pop, job->from);
    WEFT_GROW(pop->near.mem, pop->of, job->trial, &pop->roomof);
    struct population *new = pop->of[job->trial] = new_population(pop);
    new->jobs = 0;
    weft_near_make(&pop->near, conf, job);
    memcpy(new->conf, mix->conf, (size_t)mix->k * (size_t)mix->dim * sizeof *new->conf);
    for (int i = 0; i < mix->k; i++) {
        size_t at = (size_t)i * (size_t)mix->dim;
        new->id[i] = number_of(pop, job->trial, 0, i);
        if (from) inherit(pop, from->conf + at, new->id[i], new->conf + at);
    }
    return new;
}

static void fedpop_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    fedpop_mixing *pop = self;
    weft_mix *mix = &pop->near.mix;
    (void)id;
    const struct population *own = population_of(pop, job->trial);
    if (!own) own = begin(pop, conf, job);
    memcpy(mix->id, own->id, (size_t)mix->k * sizeof *mix->id);
    memcpy(mix->conf, own->conf, (size_t)mix->k * (size_t)mix->dim * sizeof *mix->conf);
    job->mix = *mix;
    job->update = (weft_mix_update){.schedule = WEFT_UPDATE_SCORED};
}

/* Replaces entry `worst`, with its new number, by a neighbour of another one. */
static void replace(fedpop_mixing *pop, struct population *own, int64_t worst, int64_t good)
{
    size_t dim = (size_t)pop->near.mix.dim;
    weft_space_perturb(pop->near.space, own->conf + (size_t)good * dim, pop->near.eps,
                       pop->near.seed, own->id[worst] + 1, own->conf + (size_t)worst * dim);
}

static void fedpop_told(void *self, const weft_result *res)
{
    fedpop_mixing *pop = self;
    struct population *own = population_of(pop, res->trial);
    weft_check(own && res->k == pop->near.mix.k, "result of %lld configurations",
               (long long)res->k);
    WEFT_SCRATCH(tmp);
    weft_rank *rank = WEFT_NEW(tmp, weft_rank, res->k);
    int n = 0;
    for (int i = 0; i < res->k; i++)
        if (res->arm_count[i] > 0) rank[n++] = weft_result_rank_of(res, i);
    qsort(rank, (size_t)n, sizeof *rank, weft_rank_compare);
    int share = n / QUARTER;
    own->jobs++;
    for (int j = 0; j < share; j++) {
        int64_t worst = rank[n - 1 - j].id;
        own->id[worst] = number_of(pop, res->trial, own->jobs, (int)worst);
        weft_rng4 rng =
            weft_rng_at(pop->near.seed, WEFT_RNG_TUNER, (uint64_t)own->id[worst], 0, 0);
        replace(pop, own, worst, rank[(int)(weft_rng_unit(rng.v[0]) * share)].id);
    }
}

static void fedpop_forget(void *self, int64_t trial)
{
    fedpop_mixing *pop = self;
    if (!population_of(pop, trial)) return;
    WEFT_GROW(pop->near.mem, pop->free, pop->nfree, &pop->roomfree);
    pop->free[pop->nfree++] = pop->of[trial];
    pop->of[trial] = NULL;
}

WEFT_PLUGIN(mixing, fedpop) = {
    .kind = WEFT_KIND("fedpop", fedpop_mixing, fedpop_opts,
                      "FedPop: clients draw from configurations that evolve"),
    .moves = 1,
    .setup = fedpop_setup,
    .make = fedpop_make,
    .told = fedpop_told,
    .forget = fedpop_forget,
};
