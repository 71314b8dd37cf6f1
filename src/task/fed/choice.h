/* Who is asked to take part in a round: fed.choose, section [choose]. */
#ifndef WEFT_TASK_FED_CHOICE_H
#define WEFT_TASK_FED_CHOICE_H

#include "round.h"

/* fed.choose. With m clients asked, s the training samples of a client, S those of all:
 *
 * uniform    each set of m with equal chances; no module.
 * size       each client with probability min(1, m s / S), without replacement. The mean
 *            over those that answer is plain, and so an unbiased estimate of the mean by
 *            samples over all clients; a client with m s > S is always asked, and counts
 *            more instead. Li, Huang, Yang, Wang, Zhang, "On the convergence of FedAvg on
 *            non-IID data", ICLR 2020 (scheme II with the sampling of scheme I).
 * loss       candidates m of them, drawn as by size, are the candidates, and the m with the
 *            highest known loss are asked: the mean loss in the client's last training,
 *            infinite before its first. Their mean is plain; biased to clients with high
 *            losses, on purpose. Cho, Wang, Joshi, "Towards understanding biased client
 *            selection in federated learning", AISTATS 2022 (rpow-d: no candidate is sent
 *            anything, so that candidates cost neither time nor bytes).
 * oort       by utility, below; biased on purpose. Lai, Zhu, Madhyastha, Chowdhury, "Oort:
 *            efficient federated learning via guided participant selection", OSDI 2021.
 * available  as uniform, among those whose device is there in this round, so that none is
 *            lost for being away; biased to clients that are often there.
 *
 * Utility of a client that answered last in round L, counted from 1, of the round R > L:
 *     (min(u / q, 1) + sqrt(0.1 ln R / L)) (T / t)^2,
 * u = s times the mean loss of its training then (the paper's root of the mean square needs
 * the loss of each sample, which clients do not send); q the 95th percentile of u, T
 * the 30th of the seconds t of the clients known, and the last factor 1 where
 * t <= T. floor(m (1 - e)) clients are drawn without replacement, with chances in
 * proportion to their utility, among those whose utility is at least 0.95 of that of rank
 * floor(m (1 - e)); the others uniformly among those with training samples that have not
 * answered yet, where e = max(0.2, 0.9 0.98^(R - 1)). Where
 * there are too few of one kind, more of the other are drawn. The paper's pacer of T is
 * left out. */
enum { FED_UNIFORM, FED_BY_SIZE, FED_BY_LOSS, FED_BY_OORT, FED_AVAILABLE };

/* Section [choose]. */
typedef struct fed_choice {
    double candidates;
    /* by size: of the clients that are not certain to be drawn */
    const int32_t *size; /* [old.n] training samples of all */
    int64_t drawn;       /* how many are drawn in all, */
    int64_t m, total;    /* of those, and their samples in all */
} fed_choice;
extern const weft_kind fed_choice_kind; /* tables.c */

/* Reads the section, into fed->modes.choice where fed.choose is not uniform; after all
 * other modes. ECONF: see the messages. Cost O(clients), by size and loss. */
WEFT_CHECKED weft_status fed_choice_setup(fed_task *fed);
/* Numbers that the state of a trial remembers of all clients: of each, by its number, its
 * last loss (loss), or utility, round and seconds (oort). */
int64_t fed_choice_remembered(const fed_task *fed);
/* What is remembered before the first round: INFINITY, not known. */
void fed_choice_begin(const fed_task *fed, double *memory);
/* Draws up to n different clients, and returns how many. memory: of the trial. A function
 * of these, of the seed and the round. Cost O(clients), by oort O(known log known). */
int64_t fed_choice_draw(const fed_task *fed, int64_t round, const double *memory, int64_t n,
                        int64_t *client, weft_arena *tmp);
/* 1: clients have weights of their own, by fed_choice_weight, in place of fed.average. */
int fed_choice_weighs(const fed_task *fed);
double fed_choice_weight(const fed_task *fed, const fed_client *client);
/* Takes in what the clients of a round that answered and did not diverge told. */
void fed_choice_learn(const fed_task *fed, const fed_cohort *cohort, double *memory);

#endif
