/* What samplers are told of the cost of a job. */
#ifndef WEFT_RUN_PRICE_H
#define WEFT_RUN_PRICE_H

#include "instance.h"

/* Has the sampler told the operations of jobs in place of virtual seconds if it counts
 * costs and those are no measure of them; after the task's setup. ECONF: there is no
 * measure. */
WEFT_CHECKED weft_status weft_run_price(weft_run *run);
/* The factor of weft_task.cost's operations by which a job of so many virtual seconds has
 * more, where it repeats what its trial has done before; else 1. */
double weft_run_used(const weft_run *run, const weft_job *job, double seconds);

#endif
