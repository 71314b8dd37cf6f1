/* What a search minimises beside its loss, and within which limits: names of run.objectives
 * and run.limits, and their values of a job. All functions are local. */
#ifndef LIBWEFT_SPACE_GOALS_H
#define LIBWEFT_SPACE_GOALS_H

#include "weft/space/front.h"
#include "weft/space/job.h"
#include "weft/space/space.h"

typedef enum weft_goal_source {
    WEFT_GOAL_LOSS,   /* weft_result.loss */
    WEFT_GOAL_METRIC, /* a metric of the job */
    WEFT_GOAL_ROWS,   /* a column of rounds in bytes, s or J: the sum over the trial's */
    WEFT_GOAL_TOLD,   /* in the note of the result */
    WEFT_GOAL_COST,   /* virtual seconds of the trial's jobs */
    WEFT_GOAL_REAL,   /* seconds with run.clock = wall: as told, else real ones of the trial
                       */
    WEFT_GOAL_EPSILON, /* weft_after.epsilon */
    WEFT_GOAL_MODEL    /* weft_after.model_bytes */
} weft_goal_source;

typedef struct weft_goal {
    const char *name;
    int sign; /* -1: it is to be large */
    weft_goal_source source;
    int column;   /* METRIC, ROWS */
    int side;     /* 1: at most `limit`; -1: at least; 0: it has none */
    double limit; /* of the number as it is measured */
} weft_goal;

typedef struct weft_goals {
    int n, objectives; /* the first ones are objectives: 0, or 2 at least */
    weft_goal goal[WEFT_MAX_GOALS];
} weft_goals;

/* What a task measures. */
typedef struct weft_measured {
    const char *name; /* of the task */
    const weft_metric *metrics, *rows;
    int tells; /* 1: programs do its jobs, and may tell numbers of any name */
    int timed; /* 1: its jobs have virtual seconds */
    int wall;  /* 1: real seconds may count: run.clock = wall */
    int keeps; /* 1: its trials have weights */
    int pays;  /* 1: what its jobs release may cost clients privacy */
} weft_measured;

/* What a task says of a trial after a job, where a goal is about it; NAN: nothing. */
typedef struct weft_after {
    double epsilon;     /* weft_ledger.epsilon of the jobs that led to its state */
    double model_bytes; /* of its tensors, as a winner has them in the run file */
} weft_after;

/* Reads "loss, bytes, -accuracy" and "bytes <= 1e6, accuracy >= 0.9"; "": none. Names are
 * owned by mem. ECONF. */
WEFT_CHECKED weft_status weft_goals_read(weft_goals *goals, const char *objectives,
                                         const char *limits, weft_arena *mem);
/* Finds where each is measured: loss; seconds with run.clock = wall; NAME or valid_NAME of
 * the metrics; rounds; virtual seconds; epsilon; model_bytes; else what programs tell.
 * ECONF: nowhere. */
WEFT_CHECKED weft_status weft_goals_find(weft_goals *goals, const weft_measured *task);
/* 1: one of them is measured there. */
int weft_goals_ask(const weft_goals *goals, weft_goal_source source);
/* Sets record->res.aims of a job whose result and rows are known, owned by mem. before: the
 * job whose state it began with; NULL: none. after: where goals ask for it; else NULL.
 * Returns the name of one that was not measured; NULL: none. */
const char *weft_goals_measure(const weft_goals *goals, weft_job_record *record,
                               const weft_job_record *before, const weft_after *after,
                               weft_arena *mem);
/* front[i] 1: record[i] is the last of its trial in record[n], within the limits, and no
 * other such dominates it. Cost O(n^2 objectives). */
void weft_goals_front(const weft_goals *goals, int64_t n, const weft_job_record *record,
                      int64_t *front, weft_arena *tmp);
/* By how much of its limit, if it has one, a number is beyond that; of a limit 0, by how
 * much. */
double weft_goal_excess(const weft_goal *goal, double x);
/* A result as a point of m objectives, with its trial as id; one that is no better than
 * guesses stands behind all that did not diverge. */
weft_point weft_result_point(const weft_result *res, int guesses, int m);

#endif
