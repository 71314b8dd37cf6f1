/* Successive halving by weight-sharing: fit one model in which each sample draws its map
 * from the maps alive, score every map with it, keep the better half, and so on until one
 * is left, which gets a fit of its own. Khodak, Li, Roberts, Balcan, Talwalkar,
 * "Weight-sharing beyond neural architecture search: efficient feature map selection and
 * federated hyperparameter tuning", SysML 2019, section 3.1. Where that text leaves a
 * choice, the default is: scores are ranked among survivors, by (score, id); probabilities
 * are normalised; the winner is the best of the last survivors, each fitted on its own.
 *
 * How many these are (`switch`) follows from a budget of fits. A score by shared weights
 * has noise, of the few validation samples behind it, and bias: a map that needs more
 * training samples than its share, or whose features are smaller than the others', looks
 * worse than it is. A fit of its own is free of the bias and has the noise of the whole
 * validation part, and it takes no longer than a round. So halving goes on only until what
 * the budget has left is enough to fit every survivor on its own, and spends it. The budget
 * is EXTRA times the fits of halving to the last map. Where these would give a map less
 * than DUE training samples (fits times samples by maps), the budget is as many fits as do,
 * at most one a map, the sweep: the smaller the data, the less shared weights can tell, and
 * the cheaper a fit is. So maps are dropped for want of budget alone; no test of
 * significance drops them, which would know of the noise and not of the bias. Settled on
 * IMDB, CIFAR-10, SST, MR and 20 Newsgroups, whole and in parts (jobs/quality.sh).
 *
 * `literal` takes the text at its word: the median is over all k scores, maps that equal it
 * stay, there are log2 k rounds, and the winner is drawn from the probabilities. Where
 * scores keep their order this eliminates nothing after the first round, for half of all
 * maps are always below the median. */
#include "share.h"

#include <math.h>
#include <stdlib.h>

#define EXTRA 1.3  /* of the fits of halving to the last map */
#define DUE   2000 /* training samples a map, over all fits of a search */

typedef struct halving {
    double keep, grow;
    int few, refit, warm, literal;
    weft_share share;
    double *sorted; /* [k] scratch for the median */
    int rounds;     /* planned */
    int finals;     /* planned */
    int budget;     /* fits that the search may take, where `switch` is auto; else 0 */
    uint64_t seed;
} halving;

static const weft_opt halving_opts[] = {
    {"keep", WEFT_REAL, offsetof(halving, keep), "0.5", 0.01, 0.99, NULL,
     "share of the maps that survives a round", 0},
    WEFT_RESOURCE_OPT(halving, share.resource, "of a round, and of a map on its own"),
    {"switch", WEFT_INT, offsetof(halving, few), "auto", 0, 1000000, "auto",
     "fit each map on its own once at most this many survive; 1: only the winner; auto: as "
     "many as the budget of fits leaves",
     0},
    {"grow", WEFT_REAL, offsetof(halving, grow), "1", 1, 100, NULL,
     "factor by which the number of features grows a round, up to the full number", 0},
    {"refit", WEFT_BOOL, offsetof(halving, refit), "yes", 0, 1, NULL,
     "fit the winner on its own; no: report the shared weights", 0},
    {"warm", WEFT_BOOL, offsetof(halving, warm), "yes", 0, 1, NULL,
     "start each fit from the weights before it (not where features grow)", 0},
    {"literal", WEFT_BOOL, offsetof(halving, literal), "no", 0, 1, NULL,
     "median over eliminated maps too, and a winner drawn at random, as published", 0},
    {0}};

/* Survivors of a round with n maps: at least one goes, at least one stays. */
static int kept(const halving *t, int n)
{
    double slack = 1e-9; /* 0.07 * 100 is a little above 7 */
    int m = (int)ceil(t->keep * n - slack);
    return m < 1 ? 1 : m < n ? m : n - 1;
}

/* How many maps may get fits of their own after so many rounds. */
static int most_finals(const halving *t, int rounds)
{
    if (t->budget == 0) return t->few;
    return t->budget > rounds ? t->budget - rounds : 1;
}

/* How many of n maps survive the next one of so many rounds: where the budget then allows
 * to fit more than the better half each on its own, those. */
static int survivors(const halving *t, int n, int rounds)
{
    if (t->literal) return (n + 1) / 2;
    int half = kept(t, n), most = t->budget > 0 ? most_finals(t, rounds) : 0;
    return most <= half ? half : most < n ? most : n;
}

/* Rounds until all maps left may have their own fits. */
static void plan(halving *t)
{
    int n = t->share.mix.k;
    t->rounds = 0;
    while (n > most_finals(t, t->rounds)) n = survivors(t, n, ++t->rounds);
    t->finals = n;
}

/* Fits that a search may take: a third more than halving down to the winner does, or as
 * many as give each map its due of training samples. Where that is nearly one a map, the
 * rounds that would spare the others cost more than these. */
static int budget(const halving *t, const weft_space *sp)
{
    double halvings = floor(EXTRA * (t->rounds + 1));
    double most = t->share.mix.k; /* with so many there are no rounds: the sweep */
    double due = ceil(DUE * t->share.mix.k / (double)sp->samples);
    return (int)(EXTRA * due > most ? most : fmin(most, fmax(halvings, due)));
}

static weft_status halving_setup(void *self, const weft_space *sp, uint64_t seed,
                                 weft_arena *mem)
{
    halving *t = self;
    TRY(weft_share_setup(&t->share, sp, t->warm && !(t->grow > 1), mem));
    t->sorted = WEFT_NEW(mem, double, t->share.mix.k);
    t->seed = seed;
    int by_itself = t->few == 0 && sp->samples > 0 && t->refit && !t->literal;
    if (t->few == 0) t->few = 1;
    plan(t);
    if (!by_itself) return WEFT_OK;
    t->budget = budget(t, sp);
    plan(t);
    return WEFT_OK;
}

static int search_ended(const halving *t)
{
    return t->share.round == t->rounds ||
           weft_mix_alive(&t->share.mix) <= most_finals(t, t->share.round);
}

static weft_asked halving_ask(void *self, weft_job *job)
{
    halving *t = self;
    if (t->share.open) return WEFT_WAIT;
    if (search_ended(t)) return weft_share_final(&t->share, t->refit, job);
    double size = pow(t->grow, t->share.round - t->rounds);
    weft_asked asked = weft_share_round(&t->share, size, job);
    job->score_eliminated = t->literal;
    job->last = !t->share.warm && t->refit;
    return asked;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Median of the scores of all maps that samples were scored by. */
static double median(const halving *t, const weft_result *res)
{
    int n = 0;
    for (int i = 0; i < res->k; i++)
        if (res->arm_count[i] > 0) t->sorted[n++] = t->share.score[i];
    if (n == 0) return INFINITY;
    qsort(t->sorted, (size_t)n, sizeof *t->sorted, by_value);
    return n % 2 ? t->sorted[n / 2] : (t->sorted[n / 2 - 1] + t->sorted[n / 2]) / 2;
}

/* Doubles the probability of the maps at or below the median. Doubling keeps survivors
 * equal, so here they are normalised at once. No survivor is worth as much as no score: the
 * mixture stays and the search ends. */
static void halve_literally(halving *t, const weft_result *res)
{
    weft_mix *m = &t->share.mix;
    double threshold = median(t, res);
    int keep = 0;
    for (int i = 0; i < m->k; i++)
        keep += m->logp[i] > -INFINITY && t->share.score[i] <= threshold;
    if (keep > 0)
        weft_mix_halve(m, t->share.score, keep, 1);
    else
        t->rounds = t->share.round;
    if (search_ended(t) && weft_mix_alive(m) > t->few) {
        weft_rng4 r = weft_rng_at(t->seed, WEFT_RNG_TUNER, 0, 0, 0);
        weft_share_only(&t->share, weft_mix_draw(m, weft_rng_unit(r.v[0])));
    }
}

static void halving_tell(void *self, const weft_result *res)
{
    halving *t = self;
    if (!t->share.open) { /* of a final job */
        t->share.untold--;
        return;
    }
    weft_share_scores(&t->share, res);
    weft_mix *m = &t->share.mix;
    if (t->literal)
        halve_literally(t, res);
    else
        weft_mix_halve(m, t->share.score, survivors(t, weft_mix_alive(m), t->share.round),
                       1);
}

static int64_t halving_jobs(const void *self)
{
    const halving *t = self;
    if (search_ended(t)) return t->share.round + weft_mix_alive(&t->share.mix);
    return t->rounds + t->finals;
}

static int halving_ended(const void *self, int64_t trial)
{
    const halving *t = self;
    return weft_share_ended(&t->share, trial);
}

extern const weft_tuner weft_tuner_ws_sha;
const weft_tuner weft_tuner_ws_sha = {
    .kind = {.name = "ws_sha",
             .about = "successive halving by weight-sharing",
             .size = sizeof(halving),
             .opts = halving_opts},
    .shared = WEFT_SHARES_SPACE,
    .setup = halving_setup,
    .ask = halving_ask,
    .tell = halving_tell,
    .jobs = halving_jobs,
    .ended = halving_ended,
    .waits = 1,
};
