/* Section [attack]: clients that do harm, to see what rules and algorithms bear. A share of
 * the clients that are trained attacks, in every round in which it takes part:
 *
 *   labels  trains on samples whose class c is classes - 1 - c
 *   sign    sends the change times -strength
 *   scale   sends the change times strength
 *   noise   sends normal numbers, independent, whose standard deviation is strength times
 *           the root mean square of its change: with 1 it is about as long
 *
 * They are those round(share clients) whose keyed number is least, so that a larger share
 * has the clients of a smaller one, and trials and mixtures have the same. Numbers that are
 * sent are cut to client.max_change, beyond which the server would take the client for
 * diverged. Only the change of the weights is touched, not what algorithms sum beside it.
 *
 * Rounds do not score attackers, and mixtures learn nothing from them. Evaluations, which
 * send nothing, train and score them as all others: what counts is how the weights do on
 * honest samples, and theirs are. */
#ifndef WEFT_TASK_FED_ATTACK_H
#define WEFT_TASK_FED_ATTACK_H

#include "round.h"

enum { FED_NO_ATTACK, FED_LABELS, FED_SIGN, FED_SCALE, FED_NOISE };

struct fed_attack {
    int kind;
    double share, strength;
    uint64_t below; /* clients whose number is less attack */
};

extern const weft_kind fed_attack_kind; /* section [attack] */

/* Sets fed->modes.attack, NULL for none. ECONF: a strength without effect; labels of
 * samples that have none, or that a worker keeps. Cost O(clients log clients). */
WEFT_CHECKED weft_status fed_attack_setup(fed_task *fed);
/* 1: the client attacks in this turn. */
int fed_attacks(const fed_task *fed, const fed_turn *turn, int64_t client);
/* 1: changes are touched. */
int fed_attack_uploads(const fed_task *fed);
/* Turns the labels of visiting->own, in a copy, if the client attacks so. */
void fed_attack_labels(fed_visiting *visiting);
/* Does to visit.change[nweight] what the attack says, if the client attacks. */
void fed_attack_change(fed_visiting *visiting);

#endif
