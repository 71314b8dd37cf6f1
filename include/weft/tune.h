/* Tuners: deterministic state machines that ask for jobs and are told results. They see
 * neither data nor models nor MPI; a restart replays their tells. */
#ifndef WEFT_TUNE_H
#define WEFT_TUNE_H

#include "weft/space.h"

/* Section of the options that may differ between the clients of one trial: what mixtures of
 * federated training are over. */
#define WEFT_CLIENT "client"
/* Section of those that cannot: all clients of a round are averaged by one server. */
#define WEFT_SERVER "server"

/* The option of a tuner that trains every job alike, for its table. The run puts the task's
 * own number in place of 0; alone a tuner takes 0 as 1. */
#define WEFT_RESOURCE_OPT(type, at, about)                                                 \
    {                                                                                      \
        "resource", WEFT_LONG, offsetof(type, at), "0", 0, 1e9, NULL,                      \
            about ", in the task's unit; 0: fmap 1 fit, fed 100 rounds", 0                 \
    }

typedef enum weft_asked { WEFT_JOB, WEFT_WAIT, WEFT_DONE } weft_asked;

typedef struct weft_tuner {
    weft_kind kind;
    /* Its options are filled already. `mem` lives as long as the tuner. */
    weft_status (*setup)(void *self, const weft_space *sp, uint64_t seed, weft_arena *mem);
    /* Fills job (all members but id, which the scheduler sets) or says WAIT (tell me first)
     * or DONE. job->mix is owned by the tuner. */
    weft_asked (*ask)(void *self, weft_job *job);
    void (*tell)(void *self, const weft_result *res);
    /* Number of jobs that will be asked in all, as far as known; for plans and progress. */
    int64_t (*jobs)(const void *self);
    /* 1: no later job continues or copies this trial, though none was called its last.
     * NULL: there are none such. */
    int (*ended)(const void *self, int64_t trial);
    /* The option, "sha.winner = best", by which a job may win against one of more resource,
     * so that the scores of both must be as sure; NULL: it is not set. Of the options
     * alone, before setup. NULL: there is none such. */
    const char *(*early)(const void *self);
    int waits; /* 1: it waits by itself for the results that it goes by, so that any number
                  of workers gives the same jobs: it has as many as it asks for */
} weft_tuner;

/* The tuner of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_tuner_find(const char *name, const weft_tuner **out);

#endif
