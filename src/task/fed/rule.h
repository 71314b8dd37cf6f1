/* Section [rule]: how the server makes one change of those of a round's clients, in place
 * of their mean, so that a few harmful ones do not decide it.
 *
 * Of v_k[coordinates], the change of client k as it arrives (after the steps of fed_upload,
 * divided by fed_divisor), and its weight w_k by fed.average, over the n clients that are
 * averaged: none that is lost or diverged, or has weight 0; a client drawn twice counts
 * twice. f = ceil(rule.harmful n) of them are expected to be harmful.
 *
 *   median     by coordinate, the value at which half of the weight is reached; where that
 *              is exactly half, the middle of it and the next. With fed.average = plain the
 *              median.
 *   trimmed    by coordinate, the mean by weight without the f smallest and the f largest
 *              values, f at most (n - 1) / 2. Both: Yin, Chen, Ramchandran, Bartlett,
 *              ICML 2018.
 *   krum       the change whose sum of squared distances to its n - f - 2 nearest is least.
 *   multikrum  the mean by weight of the n - f for which it is least. Both: Blanchard,
 *              El Mhamdi, Guerraoui, Stainer, NeurIPS 2017. They need n >= 2 f + 3: where
 *              fewer clients answer, f is (n - 3) / 2 in that round, at least 0, and one
 *              neighbour counts where n is 2.
 *   geometric  the point z with the least sum of w_k |v_k - z|, by rule.iterations steps
 *              z <- sum b_k v_k / sum b_k, b_k = w_k / max(1e-6, |v_k - z|), from
 *              the mean: Pillutla, Kakade, Harchaoui, IEEE TSP 70, 2022.
 *
 * Weights are told by clients. Where these may lie, fed.average = plain makes a rule count
 * heads. Equal values are taken in the order of the cohort. What algorithms sum beside
 * changes (fedexp, scaffold, qffl) stays a mean.
 *
 * The bits do not depend on ranks: a coordinate is decided by one rank, which has it of all
 * clients in their order; squared distances are sums, in order, of sums over blocks of
 * coordinates whose bounds depend on the number of clients alone; means are exact sums.
 * Memory of a rank: the changes of its clients, at most one and a half times its share of
 * them, and 6 MB for blocks. Messages of a rank: n coordinates / ranks numbers by
 * coordinate and for krum, and as many sums as pairs of clients for each block; else a sum
 * of all coordinates in each iteration. Cost: O(coordinates n log^2 n) by coordinate,
 * O(coordinates n^2) for krum, both divided by ranks. */
#ifndef WEFT_TASK_FED_RULE_H
#define WEFT_TASK_FED_RULE_H

#include "round.h"

enum { FED_MEAN, FED_MEDIAN, FED_TRIMMED, FED_KRUM, FED_MULTIKRUM, FED_GEOMETRIC };

struct fed_rule {
    int kind;
    double harmful;
    int iterations;
    real **row; /* [cohort] changes of this rank's clients in the round; else NULL */
};

extern const weft_kind fed_rule_kind; /* section [rule] */

/* Sets fed->modes.rule, NULL for the mean. ECONF: krum with fed.cohort < 2 f + 3; together
 * with modes whose guarantee is of a mean. */
WEFT_CHECKED weft_status fed_rule_setup(fed_task *fed);
/* Bytes of a rank for changes and blocks; 0 without a rule. */
double fed_rule_bytes(const fed_task *fed);
/* What a rule adds to the cost of so many rounds. */
void fed_rule_cost(const fed_task *fed, double rounds, weft_cost *cost);

/* Room for the changes of a round, from work.tmp; moves clients from ranks that have more
 * than their memory is for. After fed_deal. */
void fed_rule_begin(fed_task *fed, fed_cohort *cohort);
/* Keeps the change of a client, divided by its divisor, in place of its sum. */
void fed_rule_keep(const fed_visiting *visiting, double divisor);
/* The server's change, of the clients that did not diverge; sum[nweight]: scratch.
 * Collective. */
void fed_rule_change(const fed_task *fed, const fed_cohort *cohort, double *sum,
                     real *delta);

/* Changes of the n clients that count. */
typedef struct fed_changes {
    int64_t n, size;  /* clients; coordinates */
    double *weight;   /* [n] > 0 */
    int *rank;        /* [n] that has it */
    const real **row; /* [n][size] of this rank's, NULL: another has it */
    double most;      /* no number is larger */
    double *sum;      /* [size] scratch */
    weft_arena *tmp;
} fed_changes;

/* delta[size] = the rule's value of them. Collective. */
void fed_rule_apply(const struct fed_rule *rule, weft_team *team,
                    const fed_changes *changes, real *delta);

#endif
