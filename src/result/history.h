/* The jobs of a run, as tables of the run file. */
#ifndef WEFT_RESULT_HISTORY_H
#define WEFT_RESULT_HISTORY_H

#include "rundir/rundir.h"
#include "tables.h"
#include "weft/h5.h"

/* The starts of a run. */
typedef struct weft_starts {
    int64_t n;           /* how many */
    int teams, most;     /* of the last start; the most that a start had */
    double setup;        /* seconds of all set-ups */
    double team_seconds; /* seconds of the search, of each start times its teams */
} weft_starts;

/* The jobs of a run, from which the tables of the run file are made. */
typedef struct weft_history {
    weft_tables tables;
    int64_t n;
    const weft_job_record *record; /* [n] by id */
    int64_t nflight;
    const weft_job_record *flight; /* [nflight] jobs that are not done, by id: their rounds
                                      so far and their configurations are written */
    double optimum;                /* least first metric of any configuration of the space;
                                      NAN: not known */
    weft_starts starts;
    int64_t workers;           /* number of simulated workers that had a job */
    double overhead, makespan; /* virtual seconds: overhead of a job; duration of the
                                  search */
    double seconds;            /* of the search */
} weft_history;

/* Writes the tables of the jobs. */
WEFT_CHECKED weft_status weft_history_put(weft_h5 *file, const weft_history *history);

/* Sums up the starts among the times time[n], in their order; history->starts is not read.
 */
weft_starts weft_starts_sum(const weft_time *time, int64_t n, const weft_history *history);

#endif
