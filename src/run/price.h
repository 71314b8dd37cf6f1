/* What samplers are told of the cost of a job. */
#ifndef WEFT_RUN_PRICE_H
#define WEFT_RUN_PRICE_H

#include "instance.h"

/* Has the sampler told the operations of jobs in place of virtual seconds if it counts
 * costs and those are no measure of them; after the task's setup. ECONF: there is no
 * measure. */
WEFT_CHECKED weft_status weft_run_price(weft_run *run);

#endif
