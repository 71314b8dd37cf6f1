/* Jobs by what decides the winner. Private to report. */
#ifndef WEFT_REPORT_LOWER_H
#define WEFT_REPORT_LOWER_H

#include "sched/sched.h"
#include "summary.h"

/* What decides whether job `at` wins. */
weft_merit weft_jobs_merit(const weft_jobs *jobs, int64_t at);
/* Prints which job of another trial than the winner's has the lowest score, where that is
 * lower than the winner's, and why it did not win. */
void weft_lower_print(const weft_summary *summary, weft_arena *tmp);

#endif
