/* Progress of a search, on the terminal or in the log. */
#ifndef WEFT_SCHED_PROGRESS_H
#define WEFT_SCHED_PROGRESS_H

#include "sched.h"

/* Show the progress of a job, and of the search: one line that is rewritten on a terminal;
 * in a log one line per job, and one for rounds every 10 s. */
void weft_show_round(weft_sched *sched, const weft_job_record *record, int64_t done,
                     double seconds);
void weft_show_job(weft_sched *sched, const weft_job_record *record);

/* Shows which share of the scores of a part this rank has done, and tells the watchdog that
 * it goes on. */
void weft_show_scored(double share);

#endif
