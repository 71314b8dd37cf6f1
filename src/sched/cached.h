/* The state of a trial after a job, on disk. */
#ifndef WEFT_SCHED_CACHED_H
#define WEFT_SCHED_CACHED_H

#include "rundir/rundir.h"
#include "sched.h"

/* The state of a trial after a job. */
struct weft_cached {
    weft_state_id id; /* under which it is stored */
    int64_t job;      /* that led to it */
    double resource;  /* total of the trial */
    int users;        /* pins: its job until it is told, jobs in flight that begin with it,
                         the best trial */
    int newest;       /* 1: after its trial's last told job, and a later job may need it */
    int64_t team;     /* that wrote it */
    double files;     /* bytes of what is kept, at most */
    int kept;   /* 1: it was written, or is in memory without a run directory; WEFT_HELD */
    int gone;   /* 1: removed because of the bound */
    int saved;  /* 1: of those in the memory of a program (held.h): it is on disk, */
    int loose;  /* or the team whose program had it was asked for it */
    int here;   /* 1: written in this session, so that its file may not be visible
                   yet */
    int64_t at; /* index in s->cache->newest, if newest is 1 */
    weft_own_state
        own; /* without a run directory, or on rank 0 while it is held; else empty */
    weft_cached *next;
};

/* Writes a state after a job. EFILE. */
WEFT_CHECKED weft_status weft_cached_write(const weft_sched *sched, const weft_state_id *id,
                                           const weft_job *job, const weft_state *state);
/* Saves a state that this rank's program may have, after a job; 1 if it is on disk. By a
 * leader. */
int weft_cached_save(const weft_sched *sched, weft_cached *cached, const weft_job *job);
/* A zero state of the lengths of the stored one. Owned by mem. */
weft_state weft_cached_room(const weft_sched *sched, const weft_cached *cached,
                            weft_arena *mem);
/* Reads a state, or makes it again. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_cached_fetch(weft_sched *sched, const weft_cached *cached,
                                           weft_state *state);

#endif
