/* Weights of the classes of a federation. */
#ifndef WEFT_TASK_FED_BALANCE_H
#define WEFT_TASK_FED_BALANCE_H

#include "fed.h"

/* Checks that fed.score can be had, and sets fed->train_class and fed->valid_class where
 * run.class_weights or fed.score asks for them, from the counts of the samples of all
 * clients that are trained, which are exact sums. ECONF, EDATA; EFILE. Collective. Cost:
 * reads the labels of these samples once. */
WEFT_CHECKED weft_status fed_balance(fed_task *fed);

#endif
