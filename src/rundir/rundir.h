/* What a run keeps on disk: its file NAME.h5 and, until it is complete, the directory
 * NAME.d beside it with journals, states of trials, and checkpoints of jobs in flight. */
#ifndef WEFT_RUNDIR_RUNDIR_H
#define WEFT_RUNDIR_RUNDIR_H

#include "weft/base/conf.h"
#include "weft/math/linear.h"
#include "weft/par/team.h"
#include "weft/space/job.h"
#include "weft/store/file.h"
#include "weft/store/h5.h"
#include "weft/task/state.h"

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

/* What the head of a journal says beside the configuration. */
typedef struct weft_about {
    const char *data;    /* digest of the packed file */
    const char *files;   /* "device.file=SUM ...": the files that options name
                            (weft_tree_sum); NULL: not known */
    int64_t began;       /* seconds since 1970 */
    int real_bytes;      /* of a weight */
    const char *version; /* of weft */
} weft_about;

/* What the journals have of earlier starts. */
typedef struct weft_past {
    int64_t n, done;           /* jobs, and those that are done */
    const weft_recorded **job; /* [n] record of each by id; NULL: it is not done */
    int64_t nalike;
    struct weft_alike *alike; /* [nalike] the records by what their jobs are; made when it
                                 is needed */
    int64_t ntime;
    weft_time *time; /* [ntime] times of the search, of this start, too */
} weft_past;

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
    const char *grown; /* text of the same with more resource; NULL: it has not grown */
    weft_about about;
    const char *tables;    /* weft_tables_text, in the journal's head; NULL: none */
    const char *directory; /* in which the run was begun; NULL: not known */
    uint64_t id; /* hash of conf, data and began, in the head of every other file */
    int done;    /* 1: the run is complete, and only the removal of the directory
                    is missing */
    weft_past past;
    int retried; /* 1: failed jobs are, or were, repeated */
    int longer;  /* 1: the search was made longer than it was begun, so that its jobs may
                    have other ids */
    int by_id;   /* 1: then only those of the same ids are used, as the task's states hold
                    them */
    int files;   /* 1: each state has a directory of a program */
    int keeps; /* 1: the journals are kept when the run is complete, because jobs failed */
    weft_won won;        /* then the winner */
    weft_commit *commit; /* of the journal and the states, during a search; NULL: none */
} weft_rundir;

/* Names in a directory NAME.d: the journal of a team, the state after a job, and the
 * directory of the files that this refers to. Owned by mem. */
const char *weft_rundir_journal(const char *dir, int team, weft_arena *mem);
const char *weft_place_state(const char *dir, int64_t trial, int64_t job, weft_arena *mem);
const char *weft_place_files(const char *dir, int64_t trial, int64_t job, weft_arena *mem);

/* Adds how to resume to the message of a failure to write (EFILE); returns st. */
WEFT_CHECKED weft_status weft_rundir_stuck(const weft_rundir *rundir, weft_status st);

/* Sets rundir->id from the text of the configuration and rundir->about. */
void weft_rundir_identify(weft_rundir *rundir, const char *conf);

/* ---- files ---- */

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

/* Sum of NAME.best (weft_tree_sum); 0: it is not there, or cannot be read. */
uint64_t weft_place_sum(const char *path);

/* Removes the directory NAME.best of an older run, where this one has none. */
void weft_place_drop(const char *path);

/* Moves NAME.best back to the run's directory. */
void weft_place_unkeep(const char *path, int64_t trial, int64_t job);

/* NAME.failed of a run file NAME.h5: the directory of what failed jobs printed. Owned by
 * mem. */
const char *weft_place_failed(const char *path, weft_arena *mem);

/* Removes what failed jobs of an earlier run of that name printed. */
void weft_place_forget(const char *path);

/* ECONF if the run file would replace a file that the configuration was read from or names,
 * also if only by a link. */
WEFT_CHECKED weft_status weft_place_apart(const char *path, const weft_conf *conf);

#define WEFT_RUN_FORMAT    "weft run 2"
#define WEFT_WINNER_FORMAT "weft winner 2"

/* What to do with a file of another version. */
#define WEFT_OTHER_VERSION                                                                 \
    "use the version of weft that wrote it, or begin the run anew by `weft tune --force`"

/* Takes the text of it apart; EFILE where the job records of the journal in `dir` are of
 * another format. Texts are owned by mem. */
WEFT_CHECKED weft_status weft_about_read(const char *dir, const char *text, weft_about *out,
                                         weft_arena *mem);

/* EFILE unless the file is a run file, or, where `exported` is 1, an exported winner, of
 * this version. */
WEFT_CHECKED weft_status weft_run_format(weft_h5 *file, int exported);

/* WEFT_OK if the run file, or where `exported` is 1 the exported winner, has a winner.
 * ENONE: it has none, with the reason; EFILE: it is no such file, or one of an unfinished
 * run. */
WEFT_CHECKED weft_status weft_winner_check(weft_h5 *file, int exported);
/* The same of the run file of that name. */
WEFT_CHECKED weft_status weft_winner_find(const char *path, weft_arena *mem);

/* Opens a run file. EFILE, also if the run is unfinished, which the message then says. */
WEFT_CHECKED weft_status weft_run_file(weft_h5 *file, const char *path, weft_arena *mem);

/* 1 if the run file does not exist, but the journal of its run does. */
int weft_run_is_unfinished(const char *path);

/* ---- the directory in which a run was begun ---- */

/* Makes rank 0's current directory that of all ranks: *dir, owned by mem; NULL: it has no
 * name. EFILE: it is not there on a rank's host; `run` is for the message. Collective over
 * world. */
WEFT_CHECKED weft_status weft_directory_begin(const char **dir, const char *run,
                                              weft_team *world, weft_arena *mem);

/* Makes rundir->directory the current one, and the paths of the run, to which its file was
 * `output` when it was begun, absolute. If the directory is missing because the experiment
 * was moved as a whole, its new place is taken. *before: the directory to return to; NULL:
 * it has not changed. EFILE: missing. Collective over world. */
WEFT_CHECKED weft_status weft_directory_resume(weft_rundir *rundir, const char *output,
                                               const char **before);

/* The assignment "run.data=PATH", typed in the directory `before`, for another one. Other
 * assignments are returned as they are. Owned by mem. */
const char *weft_directory_typed(const char *assignment, const char *before,
                                 weft_arena *mem);

/* Returns to the directory `before`; NULL: does nothing. */
void weft_directory_leave(const char *before);

/* ---- opening ---- */

/* How a run is opened. */
enum {
    WEFT_RESUME,
    WEFT_BEGIN,
    WEFT_REPLACE, /* an existing run */
    WEFT_EXTEND,  /* one that goes on: what it has beside it stays */
    WEFT_RETRY    /* as WEFT_RESUME, also a complete run, without its failed jobs */
};

/* Opens the directory of the run file `path` and reads the journals. how: WEFT_RESUME ...
 * EFILE: not writable, in use, a run file or unfinished run exists (WEFT_BEGIN), or there
 * is no run to resume, or nothing to retry. Collective over world. */
WEFT_CHECKED weft_status weft_rundir_open(weft_rundir *rundir, const char *path, int how,
                                          weft_team *world, weft_arena *mem);

/* Reads the journals of a run that may be going on, *in_use 1: by a process. EFILE. */
WEFT_CHECKED weft_status weft_rundir_look(weft_rundir *rundir, const char *path,
                                          int *in_use, weft_arena *mem);

/* 1 if the directory has a journal in which more than the configuration was written. */
int weft_rundir_is_begun(const char *dir, weft_arena *mem);

/* Closes the directory; `done` 1: the run is complete or was not started, and NAME.d is
 * removed. */
void weft_rundir_close(weft_rundir *rundir, int done);

/* Marks that the failures in the journals do not count, and removes what they printed.
 * EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_retry_mark(weft_rundir *rundir);

/* ---- journals ---- */

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
    TAG_GROWN, /* the configuration of a run that was given more */
    TAG_VOID,  /* of no journal: a record that does not count */
    TAG_JOB = 16
};

/* 1 if the record is of a job that is done; *id is that of the job. */
int weft_record_is_job(const weft_record *record, int64_t *id);

/* The text of a record, which ends with NUL; NULL where it does not, or is damaged. */
const char *weft_record_text(const weft_record *record);

/* Starts a run: checks that `bytes` of disk space are free and records the configuration.
 * EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_rundir_begin(weft_rundir *rundir, const char *conf,
                                           const char *data, double bytes);

/* Records the configuration of a run that is given more, which holds from now on. EFILE.
 * Collective over world. */
WEFT_CHECKED weft_status weft_rundir_grow(weft_rundir *rundir, const char *conf);

/* Opens the journal of one of several teams; called by its leader. That of team 0 is open
 * already. EFILE. */
WEFT_CHECKED weft_status weft_rundir_join(weft_rundir *rundir, int team);

/* Closes it again. */
void weft_rundir_leave(weft_rundir *rundir);

/* Records a job record, given with its packed form; called by a leader. The record survives
 * the end of this process. EFILE. */
WEFT_CHECKED weft_status weft_rundir_add(weft_rundir *rundir, const weft_job_record *record,
                                         const void *packed, size_t bytes);

/* If the journals have the record of that job, of a search that was made longer under any
 * id, fills the rest of the record and sets *found to 1. EFILE: the journal has another job
 * with that id. */
WEFT_CHECKED weft_status weft_rundir_find(weft_rundir *rundir, weft_job_record *record,
                                          int *found, weft_arena *mem);

/* Enters the jobs among records of journals into rundir->past.job. */
void weft_rundir_enter(weft_rundir *rundir, const weft_record *rec, int64_t n);

/* Adds records of a run that was complete, [n] packed, of these bytes, to a journal that
 * has just begun. EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_rundir_restore(weft_rundir *rundir, int64_t n,
                                             const void *const *packed,
                                             const int64_t *bytes);

/* The last time in the journals: when a job ended, was checkpointed or the search was
 * stopped, in real seconds of the search. */
double weft_rundir_ended(const weft_rundir *rundir);

/* The tickets of the results in the journals, increasing, in *ticket, owned by mem; returns
 * their number. */
int64_t weft_rundir_tickets(const weft_rundir *rundir, const int64_t **ticket,
                            weft_arena *mem);

/* 1 if the record is a time, *time. */
int weft_time_read(const weft_record *record, weft_time *time);

/* Records a start of the run, which goes on at weft_rundir_ended. EFILE. Collective over
 * world. */
WEFT_CHECKED weft_status weft_rundir_start(weft_rundir *rundir, int teams, double setup);

/* Records that the search has lasted that long, unless it is over, when leaders have left
 * their journals; called by a leader. EFILE. */
WEFT_CHECKED weft_status weft_rundir_lasted(weft_rundir *rundir, double seconds);

/* ---- states ---- */

/* Identifies the state of a trial after a job; trial -1: the checkpoint of the job. */
typedef struct weft_state_id {
    int64_t trial, job, nx, naux;
    uint64_t hash;
} weft_state_id;

/* The directory of what clients keep in a state, named WEFT_FILES_NAME; aside > 0: one
 * beside it of that number, while the state is made again. Owned by mem. */
const char *weft_rundir_kept(const weft_rundir *rundir, int64_t trial, int64_t job,
                             int aside, weft_arena *mem);

/* Begins a search: only until weft_rundir_over may the functions from here to there be
 * called. Called by a leader. */
void weft_rundir_search(weft_rundir *rundir);

/* Writes a state, and the sum of its directory (weft_tree_sum) where a program has left
 * one; to be called before its job is recorded. Outside of a search, where it may be
 * called, too, the file is not made durable. EFILE. */
WEFT_CHECKED weft_status weft_rundir_state_put(weft_rundir *rundir, const weft_state_id *id,
                                               const weft_state *state);

/* Writes all states and records through to the disk, so that they survive a crash of the
 * node, and then removes the files that are no longer needed: at once if `now` is 1, else
 * within about a second, in the background. Called by a leader. EFILE, also if the disk
 * failed since the last call. */
WEFT_CHECKED weft_status weft_rundir_sync(weft_rundir *rundir, int now);

/* Marks a state as no longer needed; called by the leader that is to remove it. */
void weft_rundir_state_drop(weft_rundir *rundir, const weft_state_id *id);

/* Ends the search, with weft_journal_sync but for states: of these only the winner's is
 * still needed, and it can be recomputed. Called by a leader. EFILE. */
WEFT_CHECKED weft_status weft_rundir_over(weft_rundir *rundir);

/* Reads a state whose lengths are given, and shares what is kept, or opens it where the
 * state has no directory; waits up to `seconds` for a file that does not
 * exist yet. EFILE: missing, damaged, also the directory of a program. Collective over
 * team. */
WEFT_CHECKED weft_status weft_rundir_state_load(const weft_rundir *rundir, weft_team *team,
                                                const weft_state_id *id, double seconds,
                                                weft_state *state);

/* Name of the file of a job's checkpoint. Owned by mem. */
const char *weft_checkpoint_name(const weft_rundir *rundir, int64_t job, weft_arena *mem);

/* Writes a checkpoint of a job in flight: its record with record->done rows, and the state
 * after them. EFILE. */
WEFT_CHECKED weft_status weft_checkpoint_write(const weft_rundir *rundir,
                                               const weft_job_record *record,
                                               const weft_state *state);

/* Reads a checkpoint. If there is none, record and state stay as before the first unit;
 * likewise if it is of another trial, and with a warning if it, or what it says is kept, is
 * damaged, or of another job of this one. again 1: the job is repeated, without a warning:
 * the checkpoint may be that of the first time, or of another team, which kept elsewhere
 * what clients keep, and which may just be removed. Arrays that the record does not have
 * are allocated from mem. */
void weft_checkpoint_read(const weft_rundir *rundir, weft_job_record *record,
                          weft_state *state, int again, weft_arena *mem);

/* Removes the checkpoint that a job may have, with the next commit. By a leader. */
void weft_checkpoint_drop(weft_rundir *rundir, const weft_job_record *record);

/* Reads the record of a checkpoint of the run `run` (weft_rundir_identify) without task and
 * state: its rows are those of the units done. Returns 0 if there is none, or it is damaged
 * or of another run. Owned by mem. */
int weft_checkpoint_peek(const char *path, uint64_t run, weft_job_record *record,
                         weft_arena *mem);

#endif
