/* The states of trials on disk: NAME.d/state-TRIAL-JOB is the state after a job that a
 * later one may continue. A state is written before its job's record, and removed after the
 * record because of which it is no longer needed, so that journal and states are consistent
 * after a kill at any time. Both are written through to the disk in the background, about
 * once a second, states first: jobs do not wait for the disk, and a crash of the node loses
 * the results of at most that second. Should it leave a record but not its state, the jobs
 * that led to the state are repeated. Called by the scheduler. */
#include "run_private.h"

#include <string.h>

#define LOOK_SECONDS 0.05 /* between checks whether a file exists */

/* Precedes the numbers of a state in its file. */
typedef struct state_head {
    char magic[8];
    uint64_t run, hash;
    int64_t trial, job, nx, naux, real_bytes;
} state_head;

static state_head head_of(const weft_trace *t, const weft_state_id *id)
{
    return (state_head){.magic = {'W', 'E', 'F', 'T', 'S', 'T', 'A', '2'},
                        .run = t->id,
                        .hash = id->hash,
                        .trial = id->trial,
                        .job = id->job,
                        .nx = id->nx,
                        .naux = id->naux,
                        .real_bytes = (int64_t)sizeof(real)};
}

static const char *state_name(const weft_trace *t, const weft_state_id *id, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/state-%lld-%lld", t->dir, (long long)id->trial,
                           (long long)id->job);
}

/* ---- writing ------------------------------------------------------------------------ */

weft_status weft_trace_state(weft_trace *t, const weft_state_id *id,
                             const weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    state_head head = head_of(t, id);
    const void *const at[] = {&head, state->x, state->aux};
    const size_t bytes[] = {sizeof head, (size_t)id->nx * sizeof *state->x,
                            (size_t)id->naux * sizeof *state->aux};
    const char *path = state_name(t, id, tmp);
    weft_status st = weft_file_put_lazy(path, 3, at, bytes);
    weft_commit_file(t->commit, path);
    weft_arena_free(tmp);
    return weft_trace_stuck(t, st);
}

void weft_trace_search(weft_trace *t)
{
    t->commit = weft_commit_begin(&t->journal, t->mem);
}

void weft_trace_drop(weft_trace *t, const weft_state_id *id)
{
    weft_arena *tmp = weft_arena_new();
    if (id->trial >= 0) {
        weft_commit_remove(t->commit, state_name(t, id, tmp));
        weft_commit_remove(t->commit,
                           weft_arena_text(tmp, WEFT_FILES_NAME, t->dir,
                                           (long long)id->trial, (long long)id->job));
    } else {
        weft_commit_remove(t->commit, weft_checkpoint_name(t, id->job, tmp));
    }
    weft_arena_free(tmp);
}

weft_status weft_trace_sync(weft_trace *t, int now)
{
    return weft_trace_stuck(t, (now ? weft_commit_now : weft_commit_soon)(t->commit));
}

weft_status weft_trace_over(weft_trace *t)
{
    weft_status st = weft_commit_end(t->commit);
    t->commit = NULL;
    if (st == WEFT_OK) st = weft_journal_sync(&t->journal);
    return weft_trace_stuck(t, st);
}

/* ---- reading ------------------------------------------------------------------------ */

/* Waits until a file written by another host is visible here. */
static void await(const char *path, double seconds)
{
    double start = weft_now();
    while (!weft_file_is(path) && weft_now() - start < seconds) weft_nap(LOOK_SECONDS);
}

static weft_status load(const weft_trace *t, const weft_state_id *id, double seconds,
                        weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    const char *path = state_name(t, id, tmp);
    state_head expected = head_of(t, id);
    state_head head;
    void *const at[] = {&head, state->x, state->aux};
    const size_t bytes[] = {sizeof head, (size_t)id->nx * sizeof *state->x,
                            (size_t)id->naux * sizeof *state->aux};
    weft_status st = WEFT_OK;
    await(path, seconds);
    if (!weft_file_is(path))
        st = weft_fail(WEFT_EFILE,
                       "%s is missing, the state after job %lld, which a later job needs",
                       path, (long long)id->job);
    else
        st = weft_file_load_parts(path, 3, at, bytes);
    if (st == WEFT_OK &&
        (memcmp(&head, &expected, sizeof head) != 0 || weft_state_hash(state) != id->hash))
        st = weft_fail(WEFT_EFILE, "%s is damaged or of another run", path);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_trace_load(const weft_trace *t, weft_team *team, const weft_state_id *id,
                            double seconds, weft_state *state)
{
    weft_times_close(team);
    weft_status st = team->rank == 0 ? load(t, id, seconds, state) : WEFT_OK;
    weft_times_io(team);
    TRY(weft_agree(st, team));
    weft_state_bcast(team, state);
    return WEFT_OK;
}
