/* Jobs that are done elsewhere. */
#ifndef WEFT_SCHED_TRADE_H
#define WEFT_SCHED_TRADE_H

#include "sched.h"

/* Offers the next job to those who do them, and sets *flight to a job whose result they
 * have; NULL: to none yet, after at most a moment. WEFT_STOP. */
WEFT_CHECKED weft_status weft_trade(weft_sched *sched, weft_flight **flight);

/* Tells them that no job is left. */
WEFT_CHECKED weft_status weft_trade_over(weft_sched *sched);

#endif
