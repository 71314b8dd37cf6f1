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
#include "share.h"

#include <math.h>

enum { CONSTANT, THEORY };

typedef struct gradient {
    double eta;
    int rounds, few, rate, weighted, refit, warm;
    weft_share share;
    double *grad;    /* [k] */
    weft_rank *rank; /* [k] by probability */
} gradient;

static const weft_opt gradient_opts[] = {
    WEFT_INT_OPT("rounds", gradient, rounds, "5", 1, 100000, "fits of the shared weights"),
    WEFT_RESOURCE_OPT(gradient, share.resource, "of a round, and of a map fitted alone"),
    WEFT_INT_OPT("switch", gradient, few, "1", 1, 1000000,
                 "number of the most probable maps that are fitted alone at the end; 1: "
                 "only the winner"),
    WEFT_REAL_OPT("eta", gradient, eta, "5", 0, 1e6, "step size, per unit of the score"),
    WEFT_CHOICE_OPT("rate", gradient, rate, "constant", "constant|theory",
                    "constant: eta; theory: sqrt(2 ln k / rounds)"),
    WEFT_BOOL_OPT("weighted", gradient, weighted, "yes",
                  "divide by the probability that a map is scored, if validation samples "
                  "are split among maps"),
    WEFT_BOOL_OPT("refit", gradient, refit, "yes",
                  "fit the winner alone; no: report the shared weights"),
    WEFT_BOOL_OPT("warm", gradient, warm, "yes",
                  "start each fit from the weights of the one before"),
    {0},
};

static weft_status gradient_setup(void *self, const weft_space *space, uint64_t seed,
                                  weft_arena *mem)
{
    gradient *t = self;
    (void)seed;
    TRY(weft_share_setup(&t->share, space, t->warm, mem));
    t->grad = WEFT_NEW(mem, double, t->share.mix.k);
    t->rank = WEFT_NEW(mem, weft_rank, t->share.mix.k);
    if (t->share.mix.k == 1) t->rounds = 0;
    if (t->rate == THEORY && t->rounds > 0)
        t->eta = sqrt(2 * log(t->share.mix.k) / t->rounds);
    return WEFT_OK;
}

static weft_asked gradient_ask(void *self, weft_job *job)
{
    gradient *t = self;
    weft_share *share = &t->share;
    if (share->open) return WEFT_WAIT;
    if (share->round == t->rounds) return weft_share_final(share, t->refit, job);
    weft_asked asked = weft_share_round(share, 1, job);
    job->last = !share->warm && t->refit;
    return asked;
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

static void find_gradient(gradient *t, const weft_result *res)
{
    double least_share = 0.01; /* times 1/k: bounds the weight of a map that is rarely
                                  drawn */
    const weft_mix *mix = &t->share.mix;
    double worst = worst_score(&t->share);
    int split;
    double n = samples(mix, res, &split);
    for (int i = 0; i < mix->k; i++) {
        double score = fmin(t->share.rank[i].loss, worst);
        double p = fmax(exp(mix->logp[i]), least_share / mix->k);
        t->grad[i] = res->arm_count[i] > 0 ? score : 0;
        if (split && t->weighted) t->grad[i] *= res->arm_count[i] / n / p;
    }
}

/* Eliminates all maps except the most probable ones; of equally probable ones those with
 * the lower losses in the last round stay. */
static void keep_few(gradient *t)
{
    weft_mix *mix = &t->share.mix;
    for (int i = 0; i < mix->k; i++)
        t->rank[i] = weft_rank_of(-mix->logp[i], t->share.rank[i].tie, i);
    weft_mix_halve(mix, t->rank, t->few, 0);
}

static void gradient_tell(void *self, const weft_result *res)
{
    gradient *t = self;
    weft_share *share = &t->share;
    if (!share->open) { /* the result of a final job */
        share->untold--;
        return;
    }
    if (weft_share_ranks(share, res)) {
        find_gradient(t, res);
        weft_mix_step(&share->mix, t->eta, t->grad);
    }
    if (share->round == t->rounds) keep_few(t);
}

static int64_t gradient_jobs(const void *self)
{
    const gradient *t = self;
    return t->rounds + (t->few < t->share.mix.k ? t->few : t->share.mix.k);
}

static int gradient_ended(const void *self, int64_t trial)
{
    const gradient *t = self;
    return weft_share_ended(&t->share, trial);
}

extern const weft_tuner weft_tuner_ws_eg;
const weft_tuner weft_tuner_ws_eg = {
    .kind = {.name = "ws_eg",
             .about = "exponentiated gradient by weight-sharing",
             .size = sizeof(gradient),
             .opts = gradient_opts},
    .shared = WEFT_SHARES_SPACE,
    .setup = gradient_setup,
    .ask = gradient_ask,
    .tell = gradient_tell,
    .jobs = gradient_jobs,
    .ended = gradient_ended,
    .waits = 1,
};
