/* Exponentiated gradient by weight-sharing: fit one model in which each sample draws its
 * map from the mixture, update the mixture by the maps' scores e_i, repeat. The most
 * probable map wins, or the best of the `switch` most probable ones after fitting each of
 * them alone: shared weights favour maps of few and frequent features, so that the best map
 * is often among the most probable ones without being the first. The update is p_i <- p_i
 * exp(-eta g_i), normalised, with g_i = e_i (n_i / n) / p_i if map i was scored by n_i of
 * the n validation samples, which drew their maps from the mixture, and g_i = e_i if all
 * maps were scored by the same samples. No baseline is subtracted from e_i: the noise of
 * n_i then has the least effect where e_i is small, on the best maps. Khodak, Li, Roberts,
 * Balcan, Talwalkar, "Weight-sharing beyond neural architecture search: efficient feature
 * map selection and federated hyperparameter tuning", SysML 2019, section 3.1, names the
 * method; weighting and defaults are those of the authors' released program. */
#include "schedule.h"

#include <math.h>

struct gradient {
    weft_share share;
    double eta;
    int rounds, few;
    double *grad;    /* [k] */
    weft_rank *rank; /* [k] by probability */
};

static const weft_opt gradient_opts[] = {
    WEFT_INT_OPT("rounds", struct gradient, rounds, "5", 1, 100000,
                 "fits of the shared weights"),
    WEFT_RESOURCE_OPT(struct gradient, share.resource,
                      "of a round, and of a map fitted alone"),
    WEFT_INT_OPT("switch", struct gradient, few, "1", 1, 1000000,
                 "number of the most probable maps that are fitted alone at the end; 1: "
                 "only the winner"),
    WEFT_REAL_OPT("eta", struct gradient, eta, "5", 0, 1e6,
                  "step size, per unit of the score"),
    {0},
};

static weft_status gradient_setup(void *self, const weft_space *space, uint64_t seed,
                                  weft_arena *mem)
{
    struct gradient *gradient = self;
    (void)seed;
    TRY(weft_share_setup(&gradient->share, space, mem));
    gradient->grad = WEFT_NEW(mem, double, gradient->share.mix.k);
    gradient->rank = WEFT_NEW(mem, weft_rank, gradient->share.mix.k);
    if (gradient->share.mix.k == 1) gradient->rounds = 0;
    return WEFT_OK;
}

static weft_asked gradient_ask(void *self, weft_job *job)
{
    struct gradient *gradient = self;
    weft_share *share = &gradient->share;
    return weft_share_ask(share, share->round == gradient->rounds, job);
}

/* The number of samples scored; *split 1: they were split among the maps. If not, all maps
 * that are not eliminated have the same number. */
static double samples(const weft_mix *mix, const weft_result *res, int *split)
{
    double sum = 0, most = 0, least = INFINITY;
    for (int i = 0; i < mix->k; i++) {
        if (!(mix->logp[i] > -INFINITY)) continue;
        sum += res->arm_count[i];
        most = fmax(most, res->arm_count[i]);
        least = fmin(least, res->arm_count[i]);
    }
    *split = least < most;
    return sum;
}

/* The score that replaces those of diverged maps, the worst of the others, so that z stays
 * finite. */
static double worst_score(const weft_share *share)
{
    double worst = -INFINITY;
    for (int i = 0; i < share->mix.k; i++)
        if (isfinite(share->rank[i].loss)) worst = fmax(worst, share->rank[i].loss);
    return isfinite(worst) ? worst : 1;
}

static void find_gradient(struct gradient *gradient, const weft_result *res)
{
    double least_share = 0.01; /* times 1/k: bounds the weight of a map that is rarely
                                  drawn */
    const weft_mix *mix = &gradient->share.mix;
    double worst = worst_score(&gradient->share);
    int split;
    double n = samples(mix, res, &split);
    for (int i = 0; i < mix->k; i++) {
        double score = fmin(gradient->share.rank[i].loss, worst);
        double p = fmax(exp(mix->logp[i]), least_share / mix->k);
        gradient->grad[i] = res->arm_count[i] > 0 ? score : 0;
        if (split) gradient->grad[i] *= res->arm_count[i] / n / p;
    }
}

/* Eliminates all maps except the most probable ones; of equally probable ones those with
 * the lower losses in the last round stay. */
static void keep_few(struct gradient *gradient)
{
    weft_mix *mix = &gradient->share.mix;
    for (int i = 0; i < mix->k; i++)
        gradient->rank[i] = weft_rank_of(-mix->logp[i], gradient->share.rank[i].tie, i);
    weft_mix_halve(mix, gradient->rank, gradient->few, 0);
}

static void gradient_tell(void *self, const weft_result *res)
{
    struct gradient *gradient = self;
    weft_share *share = &gradient->share;
    if (!weft_share_tell(share, res)) return;
    if (isfinite(res->loss)) {
        find_gradient(gradient, res);
        weft_mix_step(&share->mix, gradient->eta, gradient->grad);
    }
    if (share->round == gradient->rounds) keep_few(gradient);
}

static int64_t gradient_jobs(const void *self)
{
    const struct gradient *gradient = self;
    return gradient->rounds +
           (gradient->few < gradient->share.mix.k ? gradient->few : gradient->share.mix.k);
}

WEFT_PLUGIN(tuner, ws_eg) = {
    .kind = WEFT_KIND("ws_eg", struct gradient, gradient_opts,
                      "exponentiated gradient by weight-sharing"),
    .shared = WEFT_SHARES_SPACE,
    .setup = gradient_setup,
    .ask = gradient_ask,
    .tell = gradient_tell,
    .jobs = gradient_jobs,
    .ended = weft_share_ended,
    .waits = 1,
};
