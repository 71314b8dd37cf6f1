/* The state of a trial after a job, on disk: written once, read by any team, and, where it
 * was removed or lost, made again by the jobs that led to it, with the same bits. */
#include "cached.h"
#include "held.h"
#include "job.h"
#include "rundir/rundir.h"
#include "stop.h"
#include "weft/holder.h"
#include "weft/log.h"

#define WAIT_SECONDS 60.0 /* wait for a file of another host to become visible */
#define CLAIM_AGAIN  ((int64_t)1 << 40) /* plus a job: the claim to repeat it */

weft_status weft_cached_write(const weft_sched *sched, const weft_state_id *id,
                              const weft_job *job, const weft_state *state)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = weft_task_tensors(sched->task, sched->task_self, job, tensor);
    return weft_rundir_state_put(sched->rundir, id, state, n, tensor);
}

/* Seconds to wait for the file of a state, which another team's host may just have
 * written. */
static double wait_for(const weft_sched *sched, const weft_cached *cached)
{
    int never = cached->kept == WEFT_HELD && !cached->saved && weft_held_is_on(sched);
    return cached->here && sched->teams > 1 && !never ? WAIT_SECONDS : 0;
}

weft_state weft_cached_room(const weft_sched *sched, const weft_cached *cached,
                            weft_arena *mem)
{
    weft_state room = {0};
    sched->task->nstate(sched->task_self, NULL, &room);
    room.nx = cached->id.nx;
    room.naux = cached->id.naux;
    room.x = WEFT_NEW(mem, real, room.nx);
    room.aux = WEFT_NEW(mem, double, room.naux);
    if (room.each > 0) room.kept = weft_kept_new(room.members, room.each, mem);
    return room;
}

int weft_cached_save(const weft_sched *sched, weft_cached *cached, const weft_job *job)
{
    const weft_holder *holder = sched->task->holder;
    if (cached->saved) return 1;
    weft_arena *tmp = weft_arena_new();
    weft_state state = weft_cached_room(sched, cached, tmp);
    int saved = holder->held(sched->task_self, cached->id.trial, cached->id.job, &state) &&
                holder->save(sched->task_self, cached->id.trial, cached->id.job);
    if (saved && weft_cached_write(sched, &cached->id, job, &state) != WEFT_OK) {
        weft_log(WEFT_WARN, "%s", weft_error());
        saved = 0;
    }
    cached->saved = saved;
    weft_arena_free(tmp);
    return saved;
}

/* Reads the state after a told job, once another team has made it. Collective over team.
 * WEFT_STOP. */
static weft_status await(weft_sched *sched, const weft_state_id *id, weft_state *state)
{
    for (;;) {
        double why = weft_stop_seen(sched);
        weft_max_f64(sched->team, &why, 1);
        if (why > 0) return weft_stop_now(sched, (int)why, 0, 0);
        if (weft_rundir_state_load(sched->rundir, sched->team, id, 1, state) == WEFT_OK)
            return WEFT_OK;
    }
}

/* Makes the state after a told job, from the one before it, `from`. Directories are the
 * same for all teams: the first team that needs one makes it, others wait. Collective over
 * team. */
static weft_status make_again(weft_sched *sched, const weft_job_record *record,
                              const weft_state *from, weft_own_state *out)
{
    if (!sched->task->files || weft_held_is_on(sched))
        return weft_job_again(sched, record, from, out);
    weft_arena *mem = weft_arena_new();
    weft_state state = weft_state_new(sched->task, sched->task_self, &record->job, mem);
    weft_state_id id = {record->job.trial, record->job.id, state.nx, state.naux,
                        record->hash};
    weft_status st = weft_rundir_state_load(sched->rundir, sched->team, &id, 0, &state);
    if (st == WEFT_EFILE) {
        int ours = !sched->crew.claims ||
                   weft_claim(sched->crew.claims, CLAIM_AGAIN + record->job.id);
        weft_bcast(sched->team, &ours, sizeof ours, 0);
        if (ours) {
            weft_arena_free(mem);
            TRY(weft_job_again(sched, record, from, out));
            int leads = sched->team->rank == 0;
            return weft_agree(
                leads ? weft_cached_write(sched, &id, &record->job, &out->state) : WEFT_OK,
                sched->team);
        }
        st = await(sched, &id, &state);
    }
    *out = (weft_own_state){state, mem};
    if (st != WEFT_OK) weft_arena_free(mem);
    return st;
}

/* Copies a state that was made again; what is kept goes to a directory in any case.
 * Collective over team. */
static weft_status copy_made(const weft_sched *sched, const weft_state_id *id,
                             weft_state *to, const weft_state *from)
{
    if (to->kept && !weft_kept_dir(to->kept))
        weft_job_place(sched, id->trial, id->job, 2, to);
    return weft_agree(weft_state_copy(to, from), sched->team);
}

/* The last of record[n] before the wanted one whose state is on disk, *out: repeating
 * begins behind it; -1: there is none. Collective over team. */
static int64_t last_saved(const weft_sched *sched, const weft_job_record *const *record,
                          int64_t n, weft_own_state *out)
{
    if (!weft_held_is_on(sched)) return -1;
    for (int64_t i = n - 2; i >= 0; i--) {
        weft_arena *mem = weft_arena_new();
        weft_state state =
            weft_state_new(sched->task, sched->task_self, &record[i]->job, mem);
        weft_state_id id = {record[i]->job.trial, record[i]->stored, state.nx, state.naux,
                            record[i]->hash};
        *out = (weft_own_state){state, mem};
        if (weft_held_has(sched, id.trial, id.job, &state) ||
            weft_rundir_state_load(sched->rundir, sched->team, &id, 0, &state) == WEFT_OK)
            return i;
        weft_arena_free(mem);
    }
    *out = (weft_own_state){0};
    return -1;
}

/* Repeats jobs from record[at] on, which begins with *last unless it has a checkpoint;
 * *last is then the state after record[n - 1]. Collective over team. */
static weft_status repeat(weft_sched *sched, const weft_job_record *const *record,
                          int64_t at, int64_t n, weft_own_state *last)
{
    weft_status st = WEFT_OK;
    for (; at < n && st == WEFT_OK; at++) {
        weft_own_state next;
        st = make_again(sched, record[at], last->mem ? &last->state : NULL, &next);
        weft_own_drop(last);
        if (st == WEFT_OK) *last = next;
    }
    return st;
}

/* Repeats the jobs that led to a state; from where a stop has interrupted that, if it can
 * be. Collective over team. */
static weft_status remake(weft_sched *sched, const weft_cached *cached, weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    int64_t n = 0;
    for (int64_t job = cached->job; job >= 0;
         job = sched->queue.record[sched->queue.row[job]].parent)
        n++;
    const weft_job_record **record = WEFT_NEW(tmp, const weft_job_record *, n);
    int64_t at = n;
    for (int64_t job = cached->job; job >= 0; job = record[at]->parent)
        record[--at] = &sched->queue.record[sched->queue.row[job]];
    weft_own_state last = {0};
    for (at = n - 1; at > 0 && !weft_job_is_begun(sched, record[at]);) at--;
    weft_status st = at > 0 ? repeat(sched, record, at, n, &last) : WEFT_EFILE;
    if (st == WEFT_EFILE) {
        at = last_saved(sched, record, n, &last) + 1;
        st = repeat(sched, record, at, n, &last);
    }
    if (st == WEFT_OK) st = copy_made(sched, &cached->id, state, &last.state);
    weft_own_drop(&last);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_cached_fetch(weft_sched *sched, const weft_cached *cached,
                              weft_state *state)
{
    if (cached->gone || sched->task->trade) return remake(sched, cached, state);
    weft_status st = weft_rundir_state_load(sched->rundir, sched->team, &cached->id,
                                            wait_for(sched, cached), state);
    if (st != WEFT_EFILE) return st;
    int held = weft_held_is_on(sched);
    if (sched->task->files && !held && !sched->rundir->retried && !sched->rundir->longer)
        return weft_fail(
            st, "%s; put it back from a copy, or start again by `weft tune --force`",
            weft_error());
    weft_log(sched->rundir->longer || held ? WEFT_INFO : WEFT_WARN,
             "%s: the jobs that led to it are repeated", weft_error());
    return remake(sched, cached, state);
}
