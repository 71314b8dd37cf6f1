/* Rungs, the resources at which trials are compared, and a synchronous bracket of
 * successive halving, which waits until a rung is complete. Used by schedules that
 * eliminate trials. */
#ifndef WEFT_TUNE_RUNGS_H
#define WEFT_TUNE_RUNGS_H

#include "weft/tune.h"

#define WEFT_MAX_RUNGS 31

/* Row of an option table: what becomes of the best trial where its last rung ends below
 * max_resource. */
enum { WEFT_WINNER_MAX, WEFT_WINNER_RUNG };
#define WEFT_WINNER_RESOURCE_OPT(object, member)                                           \
    WEFT_CHOICE_OPT("winner_resource", object, member, "max", "max|rung",                  \
                    "max: the best trial of the last rung is trained up to max_resource, " \
                    "if the rung ends before; rung: it ends there")

/* The largest k with low eta^k <= high, for 1 <= low <= high and eta >= 2. Computed in
 * integers, because floor(log(high / low) / log(eta)) is one too small for 3^5 and 10^3. */
int weft_rungs_top(int64_t low, int64_t high, int64_t eta);

/* ECONF if the space has fewer configurations; a random space always has enough. */
WEFT_CHECKED weft_status weft_trials_fit(const weft_space *space, const char *schedule,
                                         int64_t trials);

/* A trial of a bracket. */
typedef struct weft_rung_trial {
    int64_t done;   /* resource asked for so far */
    weft_rank rank; /* of its latest result, with its number in the bracket as id */
    int jobs;       /* asked for so far */
    int out;        /* 1: eliminated */
    int guesses;    /* 1: its latest result is no better than guesses */
    int open;       /* 1: a job is asked and not told yet */
} weft_rung_trial;

/* A bracket: its trials wait for each other at the end of every rung; the best continue. */
typedef struct weft_rungs {
    /* the plan: set before weft_rungs_begin */
    int count;                      /* rungs */
    int64_t trials[WEFT_MAX_RUNGS]; /* number in each rung, not increasing */
    int64_t until[WEFT_MAX_RUNGS];  /* total resource of a trial at the end of each rung,
                                        increasing */
    int64_t every;                  /* largest resource of a job; 0: up to the next rung */
    int64_t first;                  /* number of the first trial; the others follow */
    int best;                       /* 1: the lowest loss of any job wins, whatever its
                                       resource */
    double guess;                   /* error rate of guesses; 0: not known */
    /* the state */
    int rung;
    int64_t unasked,
        untold;   /* trials of the rung whose last job in it was not asked for, not told */
    int64_t next; /* trials before this one need no job now: open, eliminated or at the end
                     of the rung */
    weft_rung_trial *trial; /* [trials[0]] */
} weft_rungs;

/* Fills the plan with rungs k = 0 .. s of n_k = floor(n / eta^k) trials with resource
 * floor(most / eta^(s-k)), up to the last rung with n_k > 0. Jamieson, Talwalkar,
 * "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016.
 */
void weft_rungs_plan(weft_rungs *rungs, int64_t n, int s, int64_t eta, int64_t most);
/* Starts the first rung. */
void weft_rungs_begin(weft_rungs *rungs, weft_arena *mem);
/* Fills the next job except its mixture; WEFT_WAIT while a rung is incomplete and all its
 * jobs are asked for; WEFT_DONE after the last rung. Cost O(1), and O(trials) a rung. */
weft_asked weft_rungs_ask(weft_rungs *rungs, weft_job *job);
/* Stores a loss. After the last result of a rung the best trials by rank continue, as many
 * as are planned, or fewer: a trial that diverged never continues, and one that is no
 * better than guesses does not beside one that is. */
void weft_rungs_tell(weft_rungs *rungs, const weft_result *res);
/* 1: the trial is eliminated. */
int weft_rungs_ended(const weft_rungs *rungs, int64_t trial);
/* Total number of jobs, as far as known. */
int64_t weft_rungs_jobs(const weft_rungs *rungs);

#endif
