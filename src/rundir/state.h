/* The states of trials on disk. */
#ifndef WEFT_RUNDIR_STATE_H
#define WEFT_RUNDIR_STATE_H

#include "rundir.h"
#include "weft/job.h"
#include "weft/state.h"
#include "weft/tensor.h"

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

/* Writes a state, of which tensor[ntensor] are the task's tensors; to be called before its
 * job is recorded. Outside of a search, where it may be called, too, the file is not made
 * durable. EFILE. */
WEFT_CHECKED weft_status weft_rundir_state_put(weft_rundir *rundir, const weft_state_id *id,
                                               const weft_state *state, int ntensor,
                                               const weft_tensor *tensor);

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
 * exist yet. EFILE: missing, damaged. Collective over team. */
WEFT_CHECKED weft_status weft_rundir_state_load(const weft_rundir *rundir, weft_team *team,
                                                const weft_state_id *id, double seconds,
                                                weft_state *state);

/* Reads the state after a job from the directory of a run that may be going on, without its
 * task: *x, NULL if there is none, its tensors, *n = 0 if the task has none, and what its
 * clients keep, *kept, NULL for nothing. EFILE: damaged. Owned by mem. */
WEFT_CHECKED weft_status weft_state_peek(const char *dir, const weft_job_record *record,
                                         const real **x, weft_kept **kept, int *n,
                                         weft_tensor tensor[WEFT_MAX_TENSORS],
                                         weft_arena *mem);

#endif
