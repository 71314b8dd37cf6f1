/* Successive halving by weight-sharing: fit one model in which each sample draws its map
 * from those not eliminated, score every map with it, keep the better half, and repeat
 * until one is left, which is then fitted alone. Khodak, Li, Roberts, Balcan, Talwalkar,
 * "Weight-sharing beyond neural architecture search: efficient feature map selection and
 * federated hyperparameter tuning", SysML 2019, section 3.1. Where that text is not
 * specific, the default is: scores are ranked among survivors, by (score, loss, id);
 * probabilities are normalised; the winner is the best of the last survivors, each fitted
 * alone.
 *
 * A score by shared weights has noise, from few validation samples, and bias: a map that
 * needs more training samples than its share, or has smaller features than the others,
 * seems worse than when fitted alone, which takes no longer than a round. Therefore halving
 * continues only until the rest of a budget of fits suffices to fit every survivor alone:
 * EXTRA times the fits of halving down to one map, raised until each map has DUE training
 * samples (fits times samples divided by maps), at most one fit per map, which is the
 * sweep. The constants were chosen on IMDB, CIFAR-10, SST, MR and 20 Newsgroups, whole and
 * in parts (jobs/quality.sh). Maps of space.first stay among the last survivors: what is
 * known to serve is never lost to a score by shared weights. */
#include "schedule.h"

#include <math.h>

#define EXTRA 1.3  /* times the fits of halving down to one map */
#define DUE   2000 /* training samples per map, over all fits of a search */

struct halving {
    weft_share share;
    double keep;
    int few;
    int rounds; /* planned */
    int finals; /* planned */
    int known;  /* maps of space.first, which come first */
    int budget; /* fits of the search, if `switch` is auto; else 0 */
};

static const weft_opt halving_opts[] = {
    WEFT_REAL_OPT("keep", struct halving, keep, "0.5", 0.01, 0.99,
                  "share of the maps that survives a round"),
    WEFT_RESOURCE_OPT(struct halving, share.resource,
                      "of a round, and of a map fitted alone"),
    WEFT_INT_OPT("switch", struct halving, few, "auto", 0, 1000000,
                 "fit each map alone once at most this many are left; 1: only the winner; "
                 "auto: as many as the budget of fits allows",
                 .words = "auto"),
    {0},
};

/* Survivors of a round with n maps: at least one is eliminated, at least one is nkept. */
static int nkept(const struct halving *halving, int n)
{
    double slack = 1e-9; /* in floating point 0.07 * 100 is above 7 */
    int m = (int)ceil(halving->keep * n - slack);
    return m < 1 ? 1 : m < n ? m : n - 1;
}

/* The number of maps that may be fitted alone after this number of rounds. */
static int max_finals(const struct halving *halving, int rounds)
{
    if (halving->budget == 0) return halving->few;
    return halving->budget > rounds ? halving->budget - rounds : 1;
}

/* The number of n maps that survive round number `rounds`: the better half, or more if the
 * budget then allows to fit more of them alone. */
static int survivors(const struct halving *halving, int n, int rounds)
{
    int half = nkept(halving, n),
        most = halving->budget > 0 ? max_finals(halving, rounds) : 0;
    return most <= half ? half : most < n ? most : n;
}

static void plan(struct halving *halving)
{
    int n = halving->share.mix.k;
    halving->rounds = 0;
    while (n > max_finals(halving, halving->rounds))
        n = survivors(halving, n, ++halving->rounds);
    halving->finals = n;
}

/* The budget of fits: EXTRA times those of halving down to one map, or as many as give each
 * map DUE training samples. If that is nearly one fit per map, rounds would cost more than
 * the fits that they save, and it is one fit per map. */
static int budget(const struct halving *halving, const weft_space *space)
{
    double halvings = floor(EXTRA * (halving->rounds + 1));
    double most = halving->share.mix.k; /* with one fit per map there are no rounds */
    double due = ceil(DUE * halving->share.mix.k / (double)space->samples);
    return (int)(EXTRA * due > most ? most : fmin(most, fmax(halvings, due)));
}

static weft_status halving_setup(void *self, const weft_space *space, uint64_t seed,
                                 weft_arena *mem)
{
    struct halving *halving = self;
    (void)seed; /* nothing is drawn */
    TRY(weft_share_setup(&halving->share, space, mem));
    if (*space->first) halving->known = (int)space->listed;
    int by_itself = halving->few == 0 && space->samples > 0;
    if (halving->few == 0) halving->few = 1;
    plan(halving);
    if (!by_itself) return WEFT_OK;
    halving->budget = budget(halving, space);
    plan(halving);
    return WEFT_OK;
}

static int search_ended(const struct halving *halving)
{
    return halving->share.round == halving->rounds ||
           weft_mix_alive(&halving->share.mix) <= max_finals(halving, halving->share.round);
}

static weft_asked halving_ask(void *self, weft_job *job)
{
    struct halving *halving = self;
    return weft_share_ask(&halving->share, search_ended(halving), job);
}

static void halving_tell(void *self, const weft_result *res)
{
    struct halving *halving = self;
    if (!weft_share_tell(&halving->share, res)) return;
    weft_mix *mix = &halving->share.mix;
    for (int i = 0; i < halving->known; i++) halving->share.rank[i].loss = -INFINITY;
    weft_mix_halve(mix, halving->share.rank,
                   survivors(halving, weft_mix_alive(mix), halving->share.round), 1);
}

static int64_t halving_jobs(const void *self)
{
    const struct halving *halving = self;
    if (search_ended(halving))
        return halving->share.round + weft_mix_alive(&halving->share.mix);
    return halving->rounds + halving->finals;
}

WEFT_PLUGIN(tuner, ws_sha) = {
    .kind = WEFT_KIND("ws_sha", struct halving, halving_opts,
                      "successive halving by weight-sharing"),
    .shared = WEFT_SHARES_SPACE,
    .setup = halving_setup,
    .ask = halving_ask,
    .tell = halving_tell,
    .jobs = halving_jobs,
    .ended = weft_share_ended,
    .waits = 1,
};
