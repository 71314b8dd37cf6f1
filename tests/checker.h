/* Records of a search for tests: the contract of schedules (weft/tune.h), checked job by
 * job. */
#ifndef WEFT_TEST_CHECKER_H
#define WEFT_TEST_CHECKER_H

#include "weft/tune.h"

#include <math.h>

enum { MAX_TRIALS = 200 };

typedef struct kept_trial {
    int64_t jobs, flying; /* asked, of these not told */
    int next;             /* index of its next job */
    int closed;           /* by its last job, or because it ended */
    double resource;      /* asked for, in all, without what it copied */
    double loss;          /* told last */
} kept_trial;

struct checker {
    weft_shared shared;
    weft_extent extent;
    double bound;     /* of the resource of a trial; 0: none */
    int64_t max_jobs; /* more are a fault */
    int64_t jobs, trials, rounds;
    int may_win;       /* jobs that may */
    const char *fault; /* what is not kept, the first; NULL: all is */
    kept_trial trial[MAX_TRIALS];
};

static inline void checker_fault(struct checker *k, int good, const char *what)
{
    if (!good && !k->fault) k->fault = what;
}

static inline void checker_job(struct checker *k, const weft_job *job, const kept_trial *t)
{
    double all = t->resource + job->resource, max_resource = k->extent.resource;
    int own = k->shared == WEFT_SHARES_NOTHING, begins = job->trial == k->trials;
    int late = !own && begins && job->index == k->rounds;
    checker_fault(k, job->resource > 0 || !own, "a job has resource");
    checker_fault(
        k, !(max_resource > 0) || (job->last ? all == max_resource : all < max_resource),
        "a trial gets what the schedule says, in all");
    checker_fault(k, !(k->bound > 0) || all <= k->bound,
                  "and no more than its option says");
    checker_fault(k, job->index == t->next || late, "index counts a trial's jobs");
    checker_fault(k, !own || t->flying == 0, "a trial goes on once it is told");
    checker_fault(k, begins || !t->closed, "a trial that is closed does not go on");
    checker_fault(k, begins || job->from < 0, "a trial that goes on copies nobody");
    if (job->from < 0) return;
    const kept_trial *from = &k->trial[job->from];
    checker_fault(k, !from->closed, "a trial that is closed is not copied");
    checker_fault(k, from->jobs > from->flying, "a trial that is copied was told");
}

/* A job is asked. */
static inline void checker_ask(struct checker *k, const weft_job *job)
{
    checker_fault(k, ++k->jobs <= k->max_jobs && k->trials < MAX_TRIALS, "it ends");
    checker_fault(k,
                  job->trial >= 0 && job->trial <= k->trials && job->from < k->trials &&
                      job->from != job->trial,
                  "trials are numbered as they are first asked for");
    if (k->fault) return;
    kept_trial *t = &k->trial[job->trial];
    checker_job(k, job, t);
    k->trials += job->trial == k->trials;
    k->rounds += k->shared == WEFT_SHARES_SPACE && job->index >= k->rounds;
    k->may_win += job->eligibility != WEFT_WINS_LAST;
    t->jobs++;
    t->flying++;
    t->next = job->index + (job->resource > 0);
    t->resource += job->resource;
    t->closed = job->last;
}

static inline void checker_tell(struct checker *k, const weft_result *res)
{
    k->trial[res->trial].flying--;
    k->trial[res->trial].loss = res->loss;
}

/* All is told; `jobs` is how many the schedule says that it asked. */
static inline void checker_done(struct checker *k, int64_t jobs)
{
    checker_fault(k, jobs == k->jobs, "it asks as many jobs as it says");
    checker_fault(k, k->may_win > 0, "a job may win");
    for (int64_t i = 0; i < k->trials; i++)
        checker_fault(k, k->trial[i].closed, "every trial is closed at the end");
}

#endif
