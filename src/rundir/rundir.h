/* The directory NAME.d of an unfinished run NAME.h5. */
#ifndef WEFT_RUNDIR_RUNDIR_H
#define WEFT_RUNDIR_RUNDIR_H

#include "weft/commit.h"
#include "weft/team.h"

/* A time of the search, in seconds over all starts of the run: of a start, or of a moment
 * at which a team was at work. */
typedef struct weft_time {
    double at, setup; /* setup: seconds of the start before its search */
    int64_t teams;    /* of the start; 0: it is no start */
} weft_time;

/* The winner's trial and job; -1: none. */
typedef struct weft_won {
    int64_t trial, job;
} weft_won;

/* The record of a job in the journals. Once failed jobs were repeated there may be other
 * jobs of the same id. */
typedef struct weft_recorded {
    const void *data;
    const struct weft_recorded *earlier;
} weft_recorded;

/* The directory NAME.d beside the run file NAME.h5 of an unfinished run: one journal for
 * each team, the states of trials, and checkpoints of jobs in flight. The leader of a team
 * writes the results of its jobs; rank 0 of the world is the leader of the first team. */
typedef struct weft_rundir {
    weft_team *world;
    weft_arena *mem;
    const char *path, *dir; /* NAME.h5, NAME.d */
    weft_journal journal;   /* the journal of this leader's team:
                               NAME.d/journal, or journal-TEAM */
    const char *conf;       /* text of the configuration in the journal; NULL: none */
    const char *grown;     /* text of the same with more resource; NULL: it has not grown */
    const char *data;      /* digest of the packed file */
    const char *tables;    /* weft_tables_text, for the journal's head; NULL: none */
    const char *directory; /* in which the run was begun; NULL: not known */
    int64_t began;         /* seconds since 1970 */
    uint64_t id;           /* hash of conf, data and began, in the head of every other
                              file */
    int done;              /* 1: the run is complete, and only the removal of the directory
                              is missing */
    int64_t npast;
    int64_t ntime;
    weft_time *time; /* [ntime] times of the search in the journals, and of this start */
    const weft_recorded **past; /* [npast] record of each job by id; NULL: it is not done */
    int retried;                /* 1: failed jobs are, or were, repeated */
    int longer; /* 1: the search was made longer than it was begun, so that its jobs may
                   have other ids */
    int by_id;  /* 1: then only those of the same ids are used, as the task's states hold
                   them */
    int64_t nalike;
    struct weft_alike *alike; /* [nalike] the records by what their jobs are; made when it
                                 is needed */
    int keeps; /* 1: the journals are kept when the run is complete, because jobs failed */
    weft_won won; /* then the winner */
    int64_t ndone;
    weft_commit *commit; /* of the journal and the states, during a search; NULL: none */
} weft_rundir;

/* The journal of a team in a directory. Owned by mem. */
const char *weft_rundir_journal(const char *dir, int team, weft_arena *mem);

/* Adds how to resume to the message of a failure to write (EFILE); returns st. */
WEFT_CHECKED weft_status weft_rundir_stuck(const weft_rundir *rundir, weft_status st);

/* Sets rundir->id from the text of the configuration, rundir->data and rundir->began. */
void weft_rundir_identify(weft_rundir *rundir, const char *conf);

#endif
