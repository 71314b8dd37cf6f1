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
} weft_tuner;

/* The tuner of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_tuner_find(const char *name, const weft_tuner **out);

#endif
