/* Which job wins a run, and which configuration of its mixture. */
#ifndef WEFT_SCHED_CHOICE_H
#define WEFT_SCHED_CHOICE_H

#include "weft/job.h"

/* What decides which of two jobs is better. */
typedef struct weft_merit {
    int wins; /* its weft_eligibility */
    double size, resource;
    weft_rank rank; /* with the job as id */
} weft_merit;

/* Positive if a is better. Criteria in this order: a job that may win is better than one
 * that may not, and of two that may not the later one; a finite loss is better than an
 * infinite one; the larger size, then the larger resource, unless one of the jobs has
 * WEFT_WINS_LOSS; the better rank. */
int weft_merit_compare(const weft_merit *a, const weft_merit *b);

/* 1 if job a is better than job b by weft_merit_compare. */
int weft_job_record_beats(const weft_job_record *a, const weft_job_record *b);

/* For qsort: records by the ids of their jobs. */
int weft_job_record_compare(const void *a, const void *b);

/* The winning arm of a job's mixture: the most probable one after the job, of equally
 * probable ones that of the best weft_result_rank_of. */
int weft_winner_arm(const weft_job_record *record);

/* The winning configuration, into conf[dim]: that of the winning arm; for a product of
 * simplexes, composed of the winning entry of each block, likewise. */
void weft_winner_conf(const weft_job_record *record, double *conf);

#endif
