/* One round. */
#ifndef WEFT_TASK_FED_ROUND_H
#define WEFT_TASK_FED_ROUND_H

#include "trial.h"

/* Does one round. EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_round(fed_task *fed, const weft_job *job,
                                   fed_trial_state *trial, double *row, weft_arena *tmp);
/* Virtual seconds of the rounds of a job whose weights have had `before` rounds, as
 * weft_task.seconds. It is exact for one configuration, because the behaviour of devices is
 * known when a cohort is drawn; for a mixture it is a lower bound, with the fastest
 * configuration for each client. Cost O(rounds cohort). */
double fed_seconds(const void *self, const weft_job *job, double before);
/* Operations where no device has a speed or delay, so that all rounds last equally long. */
weft_price fed_price(const void *self);

#endif
