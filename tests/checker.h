/* Records of a search for tests: the contract of schedules (weft/tune/tune.h), checked job
 * by job. */
#ifndef WEFT_TEST_CHECKER_H
#define WEFT_TEST_CHECKER_H

#include "weft/tune/tune.h"

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
    kept_trial *trial; /* [max_jobs] */
};

static inline struct checker checker_new(weft_shared shared, int64_t max_jobs,
                                         weft_arena *own)
{
    return (struct checker){.shared = shared,
                            .max_jobs = max_jobs,
                            .trial = WEFT_NEW(own, kept_trial, max_jobs)};
}

static inline void checker_fault(struct checker *checker, int good, const char *what)
{
    if (!good && !checker->fault) checker->fault = what;
}

static inline void checker_job(struct checker *checker, const weft_job *job,
                               const kept_trial *trial)
{
    double all = trial->resource + job->resource, max_resource = checker->extent.resource;
    int own = checker->shared == WEFT_SHARES_NOTHING,
        begins = job->trial == checker->trials;
    int late = !own && begins && job->index == checker->rounds;
    checker_fault(checker, job->resource > 0 || !own, "a job has resource");
    checker_fault(checker,
                  !(max_resource > 0) ||
                      (job->last ? all == max_resource : all < max_resource),
                  "a trial gets what the schedule says, in all");
    checker_fault(checker, !(checker->bound > 0) || all <= checker->bound,
                  "and no more than its option says");
    checker_fault(checker, job->index == trial->next || late,
                  "index counts a trial's jobs");
    checker_fault(checker, !own || trial->flying == 0, "a trial goes on once it is told");
    checker_fault(checker, begins || !trial->closed,
                  "a trial that is closed does not go on");
    checker_fault(checker, begins || job->from < 0, "a trial that goes on copies nobody");
    if (job->from < 0) return;
    const kept_trial *from = &checker->trial[job->from];
    checker_fault(checker, !from->closed, "a trial that is closed is not copied");
    checker_fault(checker, from->jobs > from->flying, "a trial that is copied was told");
}

/* A job is asked. */
static inline void checker_ask(struct checker *checker, const weft_job *job)
{
    checker_fault(checker, ++checker->jobs <= checker->max_jobs, "it ends");
    checker_fault(checker,
                  job->trial >= 0 && job->trial <= checker->trials &&
                      job->from < checker->trials && job->from != job->trial,
                  "trials are numbered as they are first asked for");
    if (checker->fault) return;
    kept_trial *trial = &checker->trial[job->trial];
    checker_job(checker, job, trial);
    checker->trials += job->trial == checker->trials;
    checker->rounds +=
        checker->shared == WEFT_SHARES_SPACE && job->index >= checker->rounds;
    checker->may_win += job->eligibility != WEFT_WINS_LAST;
    trial->jobs++;
    trial->flying++;
    trial->next = job->index + (job->resource > 0);
    trial->resource += job->resource;
    trial->closed = job->last;
}

static inline void checker_tell(struct checker *checker, const weft_result *res)
{
    checker->trial[res->trial].flying--;
    checker->trial[res->trial].loss = res->loss;
}

/* All is told; `jobs` is how many the schedule says that it asked. */
static inline void checker_done(struct checker *checker, int64_t jobs)
{
    checker_fault(checker, jobs == checker->jobs, "it asks as many jobs as it says");
    checker_fault(checker, checker->may_win > 0, "a job may win");
    for (int64_t i = 0; i < checker->trials; i++)
        checker_fault(checker, checker->trial[i].closed,
                      "every trial is closed at the end");
}

#endif
