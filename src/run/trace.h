/* The files of a run while it is unfinished: their names, the journals, states and
 * checkpoints. Private to run and its tests. */
#ifndef WEFT_RUN_TRACE_H
#define WEFT_RUN_TRACE_H

#include "weft/run.h"
#include "weft/search.h"

/* ---- names ---- */

/* NAME.d of a run file NAME.h5. Owned by mem. */
const char *weft_place_dir(const char *path, weft_arena *mem);
/* Makes the directory; EFILE if it exists and contains other files but no journal. */
WEFT_CHECKED weft_status weft_place_make(const char *dir, const char *journal);
/* Removes from the directory all files that a run wrote, except the first journal. */
void weft_place_empty(const char *dir);
/* Removes from the directory the claims of an earlier session. */
void weft_place_unclaim(const char *dir);
/* As weft_place_empty, then removes the journal, and the directory if it is then empty. */
void weft_place_remove(const char *dir);
/* Checks the directory NAME.best of a run file NAME.h5, to which the files of the winner's
 * job are moved if `files` (of the task) is 1. EFILE if it exists and is not a job's
 * directory, unless this run leaves it alone, or if it exists and `fresh` is 1. */
WEFT_CHECKED weft_status weft_place_best(const char *path, int fresh, int files);
/* Moves the directory of that job there, replacing that of an older run. EFILE. */
WEFT_CHECKED weft_status weft_place_keep(const char *path, int64_t trial, int64_t job);
/* NAME.failed of a run file NAME.h5: the directory of what failed jobs printed. Owned by
 * mem. */
const char *weft_place_failed(const char *path, weft_arena *mem);
/* Removes what failed jobs of an earlier run of that name printed. */
void weft_place_forget(const char *path);
/* Removes that of an older run, where this one has none. */
void weft_place_drop(const char *path);
/* ECONF if the run file would replace a file that the configuration was read from or names,
 * also if only by a link. */
WEFT_CHECKED weft_status weft_place_apart(const char *path, const weft_conf *conf);

/* Moves that directory back to the run's. */
void weft_place_unkeep(const char *path, int64_t trial, int64_t job);

/* ---- trace ---- */

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

/* How a run is opened. */
enum {
    WEFT_RESUME,
    WEFT_BEGIN,
    WEFT_REPLACE, /* an existing run */
    WEFT_RETRY    /* as WEFT_RESUME, also a complete run, without its failed jobs */
};

/* The directory NAME.d beside the run file NAME.h5 of an unfinished run: one journal for
 * each team, the states of trials, and checkpoints of jobs in flight. The leader of a team
 * writes the results of its jobs; rank 0 of the world is the leader of the first team. */
typedef struct weft_trace {
    weft_team *world;
    weft_arena *mem;
    const char *path, *dir; /* NAME.h5, NAME.d */
    weft_journal journal;   /* the journal of this leader's team:
                               NAME.d/journal, or journal-TEAM */
    const char *conf;       /* text of the configuration in the journal; NULL: none */
    const char *data;       /* digest of the packed file */
    const char *tables;     /* weft_tables_text, for the journal's head; NULL: none */
    const char *directory;  /* in which the run was begun; NULL: not known */
    int64_t began;          /* seconds since 1970 */
    uint64_t id;            /* hash of conf, data and began, in the head of every other
                               file */
    int done;               /* 1: the run is complete, and only the removal of the directory
                               is missing */
    int64_t npast;
    int64_t ntime;
    weft_time *time; /* [ntime] times of the search in the journals, and of this start */
    const weft_recorded **past; /* [npast] record of each job by id; NULL: it is not done */
    int retried;                /* 1: failed jobs are, or were, repeated */
    int keeps; /* 1: the journals are kept when the run is complete, because jobs failed */
    weft_won won; /* then the winner */
    int64_t ndone;
    weft_commit *commit; /* of the journal and the states, during a search; NULL: none */
} weft_trace;

/* What the head of a journal says beside the configuration. */
typedef struct weft_about {
    const char *data;              /* digest of the packed file */
    int64_t began;                 /* seconds since 1970 */
    int real_bytes;                /* of a weight */
    const char *records, *version; /* WEFT_RECORD_FORMAT as a text; of weft */
} weft_about;
/* The same as a text, for a run of this program. Owned by mem. */
const char *weft_about_text(const char *data, int64_t began, weft_arena *mem);
/* Takes it apart; EFILE where the job records of the journal in `dir` are of another
 * format. Texts are owned by mem. */
WEFT_CHECKED weft_status weft_about_read(const char *dir, const char *text, weft_about *out,
                                         weft_arena *mem);

/* Makes rank 0's current directory that of all ranks: *dir, owned by mem; NULL: it has no
 * name. EFILE: it is not there on a rank's host; `run` is for the message. Collective over
 * world. */
WEFT_CHECKED weft_status weft_directory_begin(const char **dir, const char *run,
                                              weft_team *world, weft_arena *mem);
/* Makes t->directory the current one, and the paths of the run, to which its file was
 * `output` when it was begun, absolute. If the directory is missing because the experiment
 * was moved as a whole, its new place is taken. *before: the directory to return to; NULL:
 * it has not changed. EFILE: missing. Collective over world. */
WEFT_CHECKED weft_status weft_directory_resume(weft_trace *t, const char *output,
                                               const char **before);
/* The assignment "run.data=PATH", typed in the directory `before`, for another one. Other
 * assignments are returned as they are. Owned by mem. */
const char *weft_directory_typed(const char *assignment, const char *before,
                                 weft_arena *mem);
/* Returns to the directory `before`; NULL: does nothing. */
void weft_directory_leave(const char *before);

/* Tags of the records of a journal; that of job i is TAG_JOB + i. */
enum {
    TAG_CONF = 1,
    TAG_ABOUT,
    TAG_BEGUN,
    TAG_DONE,
    TAG_RUN,
    TAG_TABLES,
    TAG_TIME,
    TAG_DIRECTORY,
    TAG_RETRY,
    TAG_VOID, /* of no journal: a record that does not count */
    TAG_JOB = 16
};

/* 1 if the record is of a job that is done; *id is that of the job. */
int weft_trace_is_job(const weft_record *r, int64_t *id);
/* The text of a record, which ends with NUL; NULL where it does not, or is damaged. */
const char *weft_trace_text(const weft_record *r);

/* Identifies the state of a trial after a job; trial -1: the checkpoint of the job. */
typedef struct weft_state_id {
    int64_t trial, job, nx, naux;
    uint64_t hash;
} weft_state_id;

/* The journal of a team in a directory. Owned by mem. */
const char *weft_trace_journal(const char *dir, int team, weft_arena *mem);
/* Makes the failures among the records of a journal void (TAG_VOID) that are before its
 * last mark, or `all` of them, and the end of the run. */
void weft_retry_void(weft_record *rec, int64_t n, int all);
/* Marks that the failures in the journals do not count, and removes what they printed.
 * EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_retry_mark(weft_trace *t);
/* Moves the journals of a complete run from its directory to NAME.failed. */
void weft_retry_store(const char *path, const weft_won *won);
/* Moves them back, if the run is complete, so that it is one that was stopped before its
 * end. EFILE. */
WEFT_CHECKED weft_status weft_retry_revive(const char *path, weft_arena *mem);

/* Opens the directory of the run file `path` and reads the journals. how: WEFT_RESUME ...
 * EFILE: not writable, in use, a run file or unfinished run exists (WEFT_BEGIN), or there
 * is nothing to resume or retry. Collective over world. */
WEFT_CHECKED weft_status weft_trace_open(weft_trace *t, const char *path, int how,
                                         weft_team *world, weft_arena *mem);
/* Starts a run: checks that `bytes` of disk space are free and records the configuration.
 * EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_trace_begin(weft_trace *t, const char *conf, const char *data,
                                          double bytes);
/* If the journals have the record of the event's job, fills the rest of the event and sets
 * *found to 1. EFILE: the journal has another job with that id. */
WEFT_CHECKED weft_status weft_trace_find(const weft_trace *t, weft_job_record *e,
                                         int *found, weft_arena *mem);
/* The last time in the journals: when a job ended, was checkpointed or the search was
 * stopped, in real seconds of the search. */
double weft_trace_ended(const weft_trace *t);
/* Records a start of the run, which goes on at weft_trace_ended. EFILE. Collective over
 * world. */
WEFT_CHECKED weft_status weft_trace_start(weft_trace *t, int teams, double setup);
/* Records that the search has lasted that long; called by a leader. EFILE. */
WEFT_CHECKED weft_status weft_trace_lasted(weft_trace *t, double seconds);

/* The starts of a run. */
typedef struct weft_starts {
    int64_t n;           /* those that are recorded: earlier versions did not */
    int teams, most;     /* of the last start; the most that a start had */
    double setup;        /* seconds of all set-ups */
    double team_seconds; /* seconds of the search, of each start times its teams */
} weft_starts;
/* 1 if the record is a time, *time. */
int weft_time_read(const weft_record *r, weft_time *time);
/* The tickets of the results in the journals, increasing, in *ticket, owned by mem; returns
 * their number. */
int64_t weft_trace_tickets(const weft_trace *t, const int64_t **ticket, weft_arena *mem);
/* Opens the journal of one of several teams; called by its leader. That of team 0 is open
 * already. EFILE. */
WEFT_CHECKED weft_status weft_trace_join(weft_trace *t, int team);
/* Closes it again. */
void weft_trace_leave(weft_trace *t);
/* Begins a search: only until weft_trace_over may the functions from here to there be
 * called. Called by a leader. */
void weft_trace_search(weft_trace *t);
/* Writes a state, of which tensor[ntensor] are the task's tensors; to be called before its
 * event is recorded. EFILE. */
WEFT_CHECKED weft_status weft_trace_state(weft_trace *t, const weft_state_id *id,
                                          const weft_state *state, int ntensor,
                                          const weft_tensor *tensor);
/* Reads the state after a job from the directory of a run that may be going on, without its
 * task: *x, NULL if there is none, and its tensors, *n = 0 if the task has none or an
 * earlier version wrote the file. EFILE: damaged. Owned by mem. */
WEFT_CHECKED weft_status weft_state_peek(const char *dir, const weft_job_record *e,
                                         const real **x, int *n,
                                         weft_tensor tensor[WEFT_MAX_TENSORS],
                                         weft_arena *mem);
/* Records an event, given with its packed form; called by a leader. The record survives the
 * end of this process. EFILE. */
WEFT_CHECKED weft_status weft_trace_add(weft_trace *t, const weft_job_record *e,
                                        const void *packed, size_t bytes);
/* Writes all states and events through to the disk, so that they survive a crash of the
 * node, and then removes the files that are no longer needed: at once if `now` is 1, else
 * within about a second, in the background. Called by a leader. EFILE, also if the disk
 * failed since the last call. */
WEFT_CHECKED weft_status weft_trace_sync(weft_trace *t, int now);
/* Marks a state as no longer needed; called by the leader that is to remove it. */
void weft_trace_drop(weft_trace *t, const weft_state_id *id);
/* Ends the search, with weft_journal_sync but for states: of these only the winner's is
 * still needed, and it can be recomputed. Called by a leader. EFILE. */
WEFT_CHECKED weft_status weft_trace_over(weft_trace *t);
/* Reads a state whose lengths are given; waits up to `seconds` for a file that does not
 * exist yet. EFILE: missing, damaged. Collective over team. */
WEFT_CHECKED weft_status weft_trace_load(const weft_trace *t, weft_team *team,
                                         const weft_state_id *id, double seconds,
                                         weft_state *state);
/* Adds how to resume to the message of a failure to write (EFILE); returns st. */
WEFT_CHECKED weft_status weft_trace_stuck(const weft_trace *t, weft_status st);
/* Closes the directory; `done` 1: the run is complete or was not started, and NAME.d is
 * removed. */
void weft_trace_close(weft_trace *t, int done);

/* Name of the file of a job's checkpoint. Owned by mem. */
const char *weft_checkpoint_name(const weft_trace *t, int64_t job, weft_arena *mem);
/* Writes a checkpoint of a job in flight: its record with e->done rows, and the state after
 * them. EFILE. */
WEFT_CHECKED weft_status weft_checkpoint_write(const weft_trace *t,
                                               const weft_job_record *e,
                                               const weft_state *state);
/* Reads a checkpoint. If there is none, e and state stay as before the first unit;
 * likewise, with a warning, if it is damaged or of another job. Arrays that the record does
 * not have are allocated from mem. */
void weft_checkpoint_read(const weft_trace *t, weft_job_record *e, weft_state *state,
                          weft_arena *mem);

#endif
