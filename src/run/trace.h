/* What a run keeps beside its run file while it lives: where it lies, the journals, states
 * and checkpoints. Private to run, and to its tests. */
#ifndef WEFT_RUN_TRACE_H
#define WEFT_RUN_TRACE_H

#include "weft/run.h"
#include "weft/search.h"

/* ---- places ------------------------------------------------------------------------- */

/* NAME.d of a run file NAME.h5. Owned by mem. Local. */
const char *weft_place_dir(const char *path, weft_arena *mem);
/* Makes the directory; EFILE where it is there and holds other files but no journal. Local.
 */
WEFT_CHECKED weft_status weft_place_make(const char *dir, const char *journal);
/* Removes a file, or a directory with all that is in it, if it is there. Local. */
void weft_place_drop(const char *path);
/* Removes from it what a run wrote, but for the first journal. Local. */
void weft_place_empty(const char *dir);
/* Removes from it what teams of an earlier session claimed. Local. */
void weft_place_unclaim(const char *dir);
/* What weft_place_empty removes, then the journal, then the directory where nothing else is
 * in it. Local. */
void weft_place_remove(const char *dir);
/* EFILE where the directory NAME.best of a run file NAME.h5, for what the winner's job left
 * (task->files), is there and not a run's, or, where `fresh` is 1, is there. Local. */
WEFT_CHECKED weft_status weft_place_best(const char *path, int fresh);
/* Moves what that job left there, in place of an older one. EFILE. Local. */
WEFT_CHECKED weft_status weft_place_keep(const char *path, int64_t trial, int64_t job);
/* ECONF where the run file would replace a file that the configuration was read from or
 * names, by whatever link. Local. */
WEFT_CHECKED weft_status weft_place_apart(const char *path, const weft_conf *conf);

/* ---- trace -------------------------------------------------------------------------- */

/* A file that is needed no more. */
typedef struct weft_dropped {
    int64_t trial, job; /* state of a trial after a job; trial -1: what there is of a job in
                           flight, its checkpoint and its claim */
} weft_dropped;

/* What lies beside the run file NAME.h5 while the run lives: NAME.d with the journals, one
 * a team, the states of trials, and checkpoints of jobs in flight. The leader of a team
 * writes what comes of its jobs; rank 0 of the world also leads the first team. */
typedef struct weft_trace {
    weft_team *world;
    weft_arena *mem;
    const char *path, *dir; /* NAME.h5, NAME.d */
    weft_journal journal;   /* of this leader's team: NAME.d/journal, or journal-TEAM */
    const char *conf;       /* found in the journal: text of the configuration, or NULL */
    const char *data;       /* digest of the packed file */
    const char *tables;     /* weft_tables_text, for the journal's head; NULL: none */
    int64_t began;          /* seconds since 1970 */
    uint64_t id;            /* hash of these three, in the head of every other file */
    int done;               /* 1: found to be complete, but for its removal */
    int64_t npast;
    const void **past; /* [npast] record of each job by its id, NULL where it is not done */
    int64_t ndone;
    int64_t ndrop, roomdrop;
    weft_dropped *drop; /* [ndrop] files to be removed when the journal is next synced */
    int64_t nwritten, roomwritten;
    weft_dropped *written;       /* [nwritten] states that are to be synced before it */
    double synced, sync_seconds; /* when that was done last; what it took */
    int several;                 /* 1: teams */
} weft_trace;

/* What the head of a journal says beside the configuration. */
typedef struct weft_about {
    const char *data;              /* digest of the packed file */
    int64_t began;                 /* seconds since 1970 */
    int real_bytes;                /* of a weight */
    const char *records, *version; /* WEFT_RECORD_FORMAT as a text; of weft */
} weft_about;
/* The same as a text, for a run of this program. Owned by mem. Local. */
const char *weft_about_text(const char *data, int64_t began, weft_arena *mem);
/* Takes it apart; EFILE where the job records of the journal in `dir` are of another
 * format. Texts are owned by mem. Local. */
WEFT_CHECKED weft_status weft_about_read(const char *dir, const char *text, weft_about *out,
                                         weft_arena *mem);

/* What the records of a journal are; that of job i is TAG_JOB + i. */
enum { TAG_CONF = 1, TAG_ABOUT, TAG_BEGUN, TAG_DONE, TAG_RUN, TAG_TABLES, TAG_JOB = 16 };

/* Names a state: of a trial after a job. */
typedef struct weft_state_id {
    int64_t trial, job, nx, naux;
    uint64_t hash;
} weft_state_id;

/* Opens the trace beside `path` and reads what is there. EFILE: not writable, in use, or,
 * where `fresh` is 1, a run file or an unfinished run is there already (fresh 2: these are
 * replaced), or, where it is 0, there is nothing to resume. Collective. */
WEFT_CHECKED weft_status weft_trace_open(weft_trace *t, const char *path, int fresh,
                                         weft_team *world, weft_arena *mem);
/* Begins a run: makes sure of `bytes` of free space and records the configuration. */
WEFT_CHECKED weft_status weft_trace_begin(weft_trace *t, const char *conf, const char *data,
                                          double bytes);
/* Fills the rest of an event whose job was done already and sets *found. EFILE: the journal
 * has another job of that id. Local. */
WEFT_CHECKED weft_status weft_trace_find(const weft_trace *t, weft_job_record *e,
                                         int *found, weft_arena *mem);
/* Real seconds after which the last event of the journals ended, of the search. Local. */
double weft_trace_ended(const weft_trace *t);
/* Tickets of the results in the journals, rising: their number. Owned by mem. Local. */
int64_t weft_trace_tickets(const weft_trace *t, const int64_t **ticket, weft_arena *mem);
/* Opens the journal of the leader of one of several teams; that of team 0 is open. Local.
 * EFILE. */
WEFT_CHECKED weft_status weft_trace_join(weft_trace *t, int team);
/* Closes it again. Local. */
void weft_trace_leave(weft_trace *t);
/* Writes a state: before its event is recorded. Local. */
WEFT_CHECKED weft_status weft_trace_state(weft_trace *t, const weft_state_id *id,
                                          const weft_state *state);
/* Records an event, whose packed form is given; a leader. It survives the end of this
 * process. Local. */
WEFT_CHECKED weft_status weft_trace_add(weft_trace *t, const weft_job_record *e,
                                        const void *packed, size_t bytes);
/* Makes all states and events that were written survive a loss of the node, and removes the
 * files that these make useless, if that was not done within the last second or `now` is 1.
 * A leader. Local. */
WEFT_CHECKED weft_status weft_trace_sync(weft_trace *t, int now);
/* The same at the end of a search, for the events alone: of the states only the winner's is
 * still needed, and one that is lost is made again. A leader. Local. */
WEFT_CHECKED weft_status weft_trace_over(weft_trace *t);
/* Reads a state of these lengths; a file that is not there yet is waited for so many
 * seconds. Collective over team. */
WEFT_CHECKED weft_status weft_trace_load(const weft_trace *t, weft_team *team,
                                         const weft_state_id *id, double seconds,
                                         weft_state *state);
/* The state is needed no more; the leader that is to remove it. Local. */
void weft_trace_drop(weft_trace *t, const weft_state_id *id);
/* Adds to the message of a failure to write (EFILE) how to go on; returns st. Local. */
WEFT_CHECKED weft_status weft_trace_stuck(const weft_trace *t, weft_status st);
/* Closes it; `done` 1: the run is complete or was not begun, and NAME.d is removed. Local.
 */
void weft_trace_close(weft_trace *t, int done);

/* The file of a job's checkpoint. Owned by mem. */
const char *weft_checkpoint_name(const weft_trace *t, int64_t job, weft_arena *mem);
/* Checkpoint of a job in flight: its record so far, with `done` rows, and the state
 * after these. Local. */
WEFT_CHECKED weft_status weft_checkpoint_write(const weft_trace *t,
                                               const weft_job_record *e,
                                               const weft_state *state);
/* Reads it. e->done stays 0, with one warning, where it is damaged or of another job, and
 * where there is none: then it is as before the first unit. What the record has no room for
 * is owned by mem. Local. */
void weft_checkpoint_read(const weft_trace *t, weft_job_record *e, weft_state *state,
                          weft_arena *mem);

#endif
