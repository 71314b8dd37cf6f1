/* The states of trials on disk: NAME.d/state-TRIAL-JOB is the state after a job that a
 * later one may continue. A state is written before its job's record, and removed after the
 * record because of which it is no longer needed, so that journal and states are consistent
 * after a kill at any time. Writes of about a second are synced together, states first:
 * small jobs do not wait for the disk, and a crash of the node loses at most that second.
 * Called by the scheduler. */
#include "run_private.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define SYNC_SECONDS 1.0  /* least time between group commits */
#define SYNC_SHARE   0.1  /* largest fraction of the time that they may take */
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

static void remove_dropped(weft_trace *t)
{
    weft_arena *tmp = weft_arena_new();
    for (int64_t i = 0; i < t->ndrop; i++) {
        size_t mark = weft_arena_mark(tmp);
        weft_dropped d = t->drop[i];
        weft_state_id id = {.trial = d.trial, .job = d.job};
        if (d.trial >= 0) {
            unlink(state_name(t, &id, tmp));
            weft_place_drop(weft_arena_text(tmp, WEFT_FILES_NAME, t->dir,
                                            (long long)d.trial, (long long)d.job));
        } else {
            unlink(weft_checkpoint_name(t, d.job, tmp));
        }
        weft_arena_reset(tmp, mark);
    }
    t->ndrop = 0;
    weft_arena_free(tmp);
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
    weft_status st = weft_file_put_lazy(state_name(t, id, tmp), 3, at, bytes);
    t->written =
        weft_grow(t->mem, t->written, sizeof *t->written, t->nwritten, &t->roomwritten);
    t->written[t->nwritten++] = (weft_dropped){id->trial, id->job};
    weft_arena_free(tmp);
    return weft_trace_stuck(t, st);
}

void weft_trace_drop(weft_trace *t, const weft_state_id *id)
{
    t->drop = weft_grow(t->mem, t->drop, sizeof *t->drop, t->ndrop, &t->roomdrop);
    t->drop[t->ndrop++] = (weft_dropped){id->trial, id->job};
}

/* Syncs the states that were written and not removed since. */
static weft_status sync_states(weft_trace *t)
{
    weft_arena *tmp = weft_arena_new();
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < t->nwritten && st == WEFT_OK; i++) {
        size_t mark = weft_arena_mark(tmp);
        weft_state_id id = {.trial = t->written[i].trial, .job = t->written[i].job};
        st = weft_file_sync(state_name(t, &id, tmp));
        weft_arena_reset(tmp, mark);
    }
    t->nwritten = 0;
    weft_arena_free(tmp);
    return st;
}

weft_status weft_trace_sync(weft_trace *t, int now)
{
    double start = weft_now();
    double pause = fmax(SYNC_SECONDS, t->sync_seconds / SYNC_SHARE);
    if (!now && start - t->synced < pause) return WEFT_OK;
    weft_status st = sync_states(t);
    if (st == WEFT_OK) st = weft_journal_sync(&t->journal);
    if (st == WEFT_OK) remove_dropped(t);
    t->synced = weft_now();
    t->sync_seconds = t->synced - start;
    return weft_trace_stuck(t, st);
}

weft_status weft_trace_over(weft_trace *t)
{
    t->nwritten = 0;
    return weft_trace_stuck(t, weft_journal_sync(&t->journal));
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
