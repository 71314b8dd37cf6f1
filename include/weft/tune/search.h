/* A search: a schedule, a sampler and a mixing, which make jobs together. The scheduler
 * asks it for jobs and tells it results, and does not know the three parts. It is a
 * deterministic function of the options, the seed and the results, in the order in which
 * they are told: it uses no MPI, files, clock or data. All functions are local. */
#ifndef LIBWEFT_TUNE_SEARCH_H
#define LIBWEFT_TUNE_SEARCH_H

#include "weft/mixing/mixing.h"
#include "weft/sampler/sampler.h"
#include "weft/tune/tune.h"

/* What a search stores about a trial. */
typedef struct weft_search_trial {
    int64_t id;      /* number of its configuration */
    double *conf;    /* [dim] */
    double resource; /* total asked for so far */
    int last;        /* 1: a job marked `last` was asked for */
} weft_search_trial;

typedef struct weft_search {
    /* set by the caller, with the options of the three filled in */
    const weft_tuner *tuner;
    void *tuner_self;
    const weft_sampler *sampler;
    void *sampler_self;
    const weft_mixing *mixing;
    void *mixing_self;
    /* set by weft_search_setup */
    const weft_space *space;
    weft_arena *mem;
    uint64_t seed;
    char *used;     /* of weft_space_unused; NULL: configurations may come again */
    int64_t trials; /* started so far, if trials have configurations */
    int64_t drawn;  /* of these, those whose configuration is from the sampler */
    int64_t room;
    weft_search_trial *trial; /* [trials] */
} weft_search;

/* Sets up the three parts. ECONF: they cannot be combined, with the setting to use instead
 * in the message; or the error of one of them. */
WEFT_CHECKED weft_status weft_search_setup(weft_search *search, const weft_space *space,
                                           uint64_t seed, weft_arena *mem);
/* Fills *job (all members except id) and returns WEFT_JOB, or returns WEFT_WAIT or
 * WEFT_DONE as the schedule does. job->mix is borrowed until the next ask or tell. */
weft_asked weft_search_ask(weft_search *search, weft_job *job);
/* Tells all three parts a result, whose loss is not NaN. */
void weft_search_tell(weft_search *search, const weft_result *res);
/* Total number of jobs, as far as known. */
int64_t weft_search_jobs(const weft_search *search);
/* Number of configurations so far: all of the space if weights are shared by them, else one
 * for each trial that is no copy of another. */
int64_t weft_search_configs(const weft_search *search);
/* 1: no later job continues or copies this trial, although none of its jobs was marked
 * `last`; the mixing then frees what it stores for it. */
int weft_search_ended(weft_search *search, int64_t trial);
/* 1: the same jobs are asked for with any number of jobs in flight and any order of
 * results. */
int weft_search_waits(const weft_search *search);

#endif
