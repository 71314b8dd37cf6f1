/* Mixtures of configurations, the rules that move them, and rankings. No MPI. All functions
 * are local. */
#ifndef LIBWEFT_SPACE_MIX_H
#define LIBWEFT_SPACE_MIX_H

#include "weft/base/base.h"

/* ---- rankings ---- */

/* The place of a job, a trial or a configuration in a ranking. All rankings are by it:
 * those of schedules, samplers, winners and reports. Lower is better in each member. */
typedef struct weft_rank {
    double excess; /* of those with a finite loss: beyond limits, weft_aims; 0: within */
    double loss;   /* what is minimised; never NaN */
    double tie;    /* decides between equal losses, of which error rates have many: the mean
                      validation loss; never NaN */
    int64_t id;    /* decides between what is equal in both; differs within a ranking */
} weft_rank;

/* That of a loss and a mean validation loss: NaN counts as INFINITY, and with a loss that
 * is not finite, of a training that diverged, so does the other. */
weft_rank weft_rank_of(double loss, double tie, int64_t id);
/* 1: a is better than b. */
int weft_rank_before(weft_rank a, weft_rank b);
/* The same for qsort, the best first. */
int weft_rank_compare(const void *a, const void *b);

/* ---- mixture ---- */

/* k configurations and their probabilities. k = 1 is an ordinary trial. A product of
 * simplexes, one for each axis (FedEx on a grid), has nblock > 1: entries off[b] ..
 * off[b+1]-1 form block b, whose probabilities sum to 1. A draw takes one entry of each
 * block; the configuration drawn is that of the entry of block 0, with value axis[b]
 * replaced by that of the entry of block b, for each b > 0. */
typedef struct weft_mix {
    int k, dim;
    int nblock;      /* 1 .. WEFT_MAX_BLOCKS; 1: one simplex */
    const int *off;  /* [nblock+1] borrowed; NULL: one simplex */
    const int *axis; /* [nblock] borrowed; NULL: one simplex */
    int64_t *id;     /* [k] number of the configuration, shown to users and used to break
                        ties: its index in the space, or a number that the tuner gives,
                        unique in the run */
    double *conf;    /* [k][dim] in the units of the options */
    double *logp;    /* [k] log-probabilities; -INFINITY when eliminated */
} weft_mix;
#define WEFT_MAX_BLOCKS 16

weft_mix weft_mix_new(int k, int dim, weft_arena *mem); /* uniform, one simplex */
/* Makes a mixture a product of nblock simplexes: off[nblock+1] increases from 0 to k;
 * axis[nblock]. Both are borrowed by the mixture and its copies. Blocks become uniform. */
void weft_mix_divide(weft_mix *mix, int nblock, const int *off, const int *axis);
/* First entry of block b; k where b = nblock. */
int weft_mix_off(const weft_mix *mix, int b);
void weft_mix_copy(weft_mix *to, const weft_mix *from); /* same k and dim */
/* Index drawn from one simplex by the random number unit in [0,1), by inversion of the
 * cumulative distribution in index order. Cost O(k). */
int weft_mix_draw(const weft_mix *mix, double unit);
/* The same from a table cum[k] of cumulative probabilities made by weft_mix_cumulate. Each
 * block of a product has its own table: weft_mix_find(cum + off[b], entries of b, unit)
 * returns an index within block b. Cost O(log k) a draw. */
void weft_mix_cumulate(const weft_mix *mix, double *cum);
int weft_mix_find(const double *cum, int k, double unit);
/* Draws one entry of each block by unit[nblock] in [0,1) into pick[nblock]. */
void weft_mix_pick(const weft_mix *mix, const double *unit, int *pick);
/* The most probable entry of each block, of equal ones the first, into pick[nblock]. */
void weft_mix_best(const weft_mix *mix, int *pick);
/* The configuration that the entries pick[nblock] make together, into conf[dim]. */
void weft_mix_compose(const weft_mix *mix, const int *pick, double *conf);
/* z_i <- z_i - eta grad_i - log sum_j exp(z_j - eta grad_j), the sum over the block of i;
 * eliminated ones stay eliminated. eta grad must be finite. Cost O(k). */
void weft_mix_step(weft_mix *mix, double eta, const double *grad);
/* For one simplex. Keeps the `keep` best entries by rank[k] of those not eliminated; the
 * others get z = -INFINITY. The probabilities of those kept are then set equal if `flat`,
 * else scaled to sum 1. rank[i].id is i. Cost O(k log k). */
void weft_mix_halve(weft_mix *mix, const weft_rank *rank, int keep, int flat);
int weft_mix_alive(const weft_mix *mix); /* entries that are not eliminated */
/* Entropy in nats, the sum over blocks. */
double weft_mix_entropy(const weft_mix *mix);

/* ---- rules that move a mixture every round ---- */

typedef enum weft_update_schedule {
    WEFT_UPDATE_NONE,         /* the mixture stays */
    WEFT_UPDATE_CONSTANT,     /* eta */
    WEFT_UPDATE_ROOT,         /* eta / sqrt t, t = 1, 2 ... (FedEx: auto) */
    WEFT_UPDATE_ADAPTIVE,     /* eta / sqrt(sum over rounds of |grad|_inf^2) */
    WEFT_UPDATE_AGGRESSIVE,   /* eta / |grad|_inf */
    WEFT_UPDATE_SCALE,        /* eta sqrt(2 ln k) */
    WEFT_UPDATE_HORIZON,      /* eta / sqrt(horizon): multiplicative weights, n known */
    WEFT_UPDATE_AS_PUBLISHED, /* exactly as in SysML 2019: p_i *= exp(-s_j /
                                 sqrt(horizon)) */
    WEFT_UPDATE_RACING,       /* no steps: entries are eliminated, by weft_mix_race_step */
    WEFT_UPDATE_SCORED        /* no steps, but entries are scored as if there were */
} weft_update_schedule;

/* How the scores of a round's clients change a mixture. k is the number of entries of a
 * block that are not eliminated. */
typedef struct weft_mix_update {
    weft_update_schedule schedule;
    double eta; /* 0: sqrt(2 ln k), of each block; RACING: the chance that the best entry
                   of a block is ever eliminated, 0 < eta < 1 */
    double horizon;  /* rounds; 0: their number so far, t */
    double discount; /* of the baseline: 0 last round, 1 plain mean */
    double floor;    /* in divisions, a probability below floor / k is replaced by floor /
                        k */
    int diff;        /* a client's score is 1: after - before; 0: after */
} weft_mix_update;

/* What an update rule keeps from round to round: part of a trial's state, zero at its
 * start. */
typedef struct weft_mix_update_state {
    double steps;      /* t, the number of rounds that changed the mixture */
    double base, mass; /* sums over past rounds: discount^age mean score; discount^age */
    double sumsq[WEFT_MAX_BLOCKS]; /* sum over rounds of |grad|_inf^2, for each block */
} weft_mix_update_state;

/* One round: client j of n drew entries pick[j][nblock] and scored before[j] and after[j]
 * (lower is better) with weight[j] (sum 1, >= 0). With its score s_j as rule->diff says
 *     grad_i = sum_j weight_j (s_j - base / mass) [i in pick_j] / max(p_i, floor / k),
 *     z <- z - step grad, normalised block by block,
 * where the baseline of the first round is 0, as in the released FedEx, or with
 * WEFT_UPDATE_HORIZON the mean of the round itself. WEFT_UPDATE_AS_PUBLISHED takes grad_i =
 * sum_j s_j [i in pick_j]. A probability below 2^-53, the resolution of the random numbers
 * that are used for draws, counts as 2^-53.
 * before  NULL allowed where rule->diff is 0
 * A score beyond +-1e100 or NaN is replaced by the worst of the other scores; a round in
 * which all scores are such, or n = 0, changes nothing: z is never NaN. Eliminated entries
 * stay eliminated. Cost O(n nblock + k). Khodak et al., "Federated Hyperparameter
 * Tuning: Challenges, Baselines, and Connections to Weight-Sharing", NeurIPS 2021,
 * algorithm 2, with the released program's schedules; WEFT_UPDATE_HORIZON and
 * WEFT_UPDATE_AS_PUBLISHED: Khodak et al., SysML 2019, section 4.1. */
void weft_mix_update_step(const weft_mix_update *rule, weft_mix_update_state *drift,
                          weft_mix *mix, int n, const int *pick, const double *before,
                          const double *after, const double *weight);

/* One round of a race, with clients as above: entries of a block have equal probabilities
 * until one of them is significantly worse than the best so far, and is eliminated. With m
 * the mean sum_j weight_j s_j of the round, x_j = n weight_j (s_j - m), r the root mean
 * square of x, S_i and V_i sums over all rounds, c = 4 draws,
 *     S_i += x_j / r,  V_i += x_j^2 / r^2  for i in pick_j,
 * and l the entry of lowest S that is not eliminated: entry i is eliminated as soon as,
 * with D = S_i - S_l, v = V_i + V_l + c, and k entries in the block,
 *     sqrt(c / v) exp(D^2 / 2v) >= (k - 1) / (2 eta).
 * If two entries are equally good and equally probable, each x_j is equally likely to have
 * been drawn by either of them, so that its contribution to D has a random sign of
 * probability 1/2 given its magnitude. This holds for any distribution of scores, however
 * unequal the clients are and however their mean moves from round to round. Therefore
 * exp(a D - a^2 (v - c) / 2) is a supermartingale for all a, the left side is its mean over
 * normal a of variance 1 / c, and the probability that it ever, in any round, reaches the
 * right side with D > 0 is at most eta / (k - 1): in sum at most eta for all entries that
 * could eliminate the best. Scores that do not distinguish the entries leave the mixture as
 * it is.
 * evidence  [2][k] S and V: part of a trial's state, zero at its start
 * Blocks must be uniform at the start. NaN and infinite scores are treated as in
 * weft_mix_update_step. A round whose scores are all equal changes nothing. Cost O(n
 * nblock + k). Racing: Maron, Moore, "Hoeffding races", NIPS 1993; the bound: Ville
 * 1939, Robbins, "Statistical methods related to the law of the iterated logarithm",
 * Annals of Mathematical Statistics 41, 1970, for symmetric increments de la Pena, "A
 * general class of exponential inequalities for martingales and ratios", Annals of
 * Probability 27, 1999. */
void weft_mix_race_step(const weft_mix_update *rule, double *evidence, weft_mix *mix, int n,
                        const int *pick, const double *before, const double *after,
                        const double *weight);

#endif
