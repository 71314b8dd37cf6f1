/* A search: a schedule, a sampler and a mixing that make jobs together. The scheduler asks
 * it and tells it, and knows nothing of the three. A deterministic function of the options,
 * the seed and what it is told, in order: no MPI, no files, no clock, no data. */
#ifndef WEFT_SEARCH_H
#define WEFT_SEARCH_H

#include "weft/mixing.h"
#include "weft/sampler.h"
#include "weft/tune.h"

/* What a search remembers of a trial. */
typedef struct weft_search_trial {
    int64_t id;      /* number of its configuration */
    double *conf;    /* [dim] */
    double resource; /* asked for so far, in all */
    double seconds;  /* virtual ones of its jobs that were told */
    int last;        /* 1: its last job was asked */
} weft_search_trial;

typedef struct weft_search {
    /* given, the options of the three filled */
    const weft_tuner *tuner;
    void *tuner_self;
    const weft_sampler *sampler;
    void *sampler_self;
    const weft_mixing *mixing;
    void *mixing_self;
    /* set by weft_search_setup */
    const weft_space *space;
    weft_arena *mem;
    int64_t trials; /* begun so far, where each has a configuration */
    int64_t room;
    weft_search_trial *trial; /* [trials] */
    double *buffer;           /* configurations that no trial has taken yet */
    int64_t nbuffer;
} weft_search;

/* Sets the three up. ECONF: they do not fit together, and what to write instead; or the
 * error of one of them. Local. */
WEFT_CHECKED weft_status weft_search_setup(weft_search *s, const weft_space *sp,
                                           uint64_t seed, weft_arena *mem);
/* The next job (all members but id), or WAIT or DONE, as the schedule says. job->mix is
 * borrowed until the next ask or tell. Local. */
weft_asked weft_search_ask(weft_search *s, weft_job *job);
/* Takes a result; a loss that is NaN counts as INFINITY. Local. */
void weft_search_tell(weft_search *s, const weft_result *res);
/* Number of jobs in all, as far as known. Local. */
int64_t weft_search_jobs(const weft_search *s);
/* 1: no later job continues or copies this trial, though none of its jobs was marked
 * `last`; the mixing then forgets it. Local. */
int weft_search_ended(weft_search *s, int64_t trial);
/* 1: the jobs are the same however many are in flight and in whatever order they are told.
 * Local. */
int weft_search_waits(const weft_search *s);

#endif
