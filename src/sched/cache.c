/* The states of trials that are needed by later jobs or as the winner's. If the run has a
 * run directory, they are files in it: the team that did a job writes its state, and any
 * team that continues or copies the trial reads it. Without a run directory they stay in
 * memory. So do all states of jobs that are done elsewhere, which are a few numbers and
 * made again from what was told.
 *
 * A state is that of a trial after a job. A job begins with the state after the last told
 * job of its trial, or of the trial that it copies, at the moment at which it is asked for;
 * this state is pinned until the job is told. A state is removed when it is not pinned, is
 * not that of the best trial, and cannot be reached by a later job: a newer state of its
 * trial was told, or the tuner declared that no job follows. If 1e9 * sched->limits.disk
 * bounds the states that wait for a later job, those with the highest losses are removed
 * too; if one of them is needed after all, or if a file was lost, the jobs that led to it
 * are repeated, with the same bits. */
#include "inner.h"
#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/task/state.h"

#include <stdlib.h>

#define HOLD_SECONDS 10.0 /* a longer job's state in a program is saved at once */
#define FULL         0.9  /* fraction of the bound that is kept after it was exceeded */
#define WAIT_SECONDS 60.0 /* wait for a file of another host to become visible */
#define CLAIM_AGAIN  ((int64_t)1 << 40) /* plus a job: the claim to repeat it */

/* ---- states in the memory of programs ---- */

int weft_held_is_on(const weft_sched *sched)
{
    const weft_holder *holder = sched->task->traits.holder;
    return holder && sched->rundir && holder->holds(sched->task_self);
}

/* What the leader says of its program. Collective over team. */
static int leader_says(const weft_sched *sched, int says)
{
    weft_bcast(sched->team, &says, sizeof says, 0);
    return says;
}

/* 1: the program of this team has the state of that name, *state unless it is NULL.
 * Collective over team. */
static int program_has(const weft_sched *sched, int64_t trial, int64_t job,
                       weft_state *state)
{
    const weft_holder *holder = sched->task->traits.holder;
    int has = leader_says(sched, sched->team->rank == 0 &&
                                     holder->held(sched->task_self, trial, job, state));
    if (has && state) weft_state_bcast(sched->team, state);
    return has;
}

/* 1: its directory is on disk, saved now or before. Collective over team. */
static int program_saves(const weft_sched *sched, int64_t trial, int64_t job)
{
    return leader_says(sched, sched->team->rank == 0 && sched->task->traits.holder->save(
                                                            sched->task_self, trial, job));
}

void weft_held_forget(const weft_sched *sched, int64_t trial, int64_t job)
{
    if (weft_held_is_on(sched))
        sched->task->traits.holder->forget(sched->task_self, trial, job);
}

/* ---- states on disk ---- */

/* The state after a job, which is stored under the number `job`. */
static weft_state_id id_of(const weft_job_record *record, int64_t job,
                           const weft_state *state)
{
    return (weft_state_id){.trial = record->job.trial,
                           .job = job,
                           .nx = state->nx,
                           .naux = state->naux,
                           .hash = record->hash};
}

/* Seconds to wait for the file of a state, which another team's host may just have
 * written. */
static double wait_for(const weft_sched *sched, const weft_cached *cached)
{
    int never = cached->kept == WEFT_HELD && !cached->saved && weft_held_is_on(sched);
    return cached->here && sched->teams > 1 && !never ? WAIT_SECONDS : 0;
}

/* A zero state of the lengths of the stored one. Owned by mem. */
static weft_state room_for(const weft_sched *sched, const weft_cached *cached,
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

int weft_cached_save(const weft_sched *sched, weft_cached *cached)
{
    const weft_holder *holder = sched->task->traits.holder;
    if (cached->saved) return 1;
    WEFT_SCRATCH(tmp);
    weft_state state = room_for(sched, cached, tmp);
    int saved = holder->held(sched->task_self, cached->id.trial, cached->id.job, &state) &&
                holder->save(sched->task_self, cached->id.trial, cached->id.job);
    if (saved && weft_rundir_state_put(sched->rundir, &cached->id, &state) != WEFT_OK) {
        weft_log(WEFT_WARN, "%s", weft_error());
        saved = 0;
    }
    cached->saved = saved;
    return saved;
}

/* Reads the state after a told job, once another team has made it. Collective over team.
 * WEFT_STOP. */
static weft_status await_state(weft_sched *sched, const weft_state_id *id,
                               weft_state *state)
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
    if (!sched->task->traits.files || weft_held_is_on(sched))
        return weft_job_again(sched, record, from, out);
    weft_arena *mem = weft_arena_new();
    weft_state state = weft_state_new(sched->task, sched->task_self, &record->job, mem);
    weft_state_id id = id_of(record, record->job.id, &state);
    weft_status st = weft_rundir_state_load(sched->rundir, sched->team, &id, 0, &state);
    if (st == WEFT_EFILE) {
        int ours = !sched->crew.claims ||
                   weft_claim(sched->crew.claims, CLAIM_AGAIN + record->job.id);
        weft_bcast(sched->team, &ours, sizeof ours, 0);
        if (ours) {
            weft_arena_free(mem);
            TRY(weft_job_again(sched, record, from, out));
            int leads = sched->team->rank == 0;
            return weft_agree(leads ? weft_rundir_state_put(sched->rundir, &id, &out->state)
                                    : WEFT_OK,
                              sched->team);
        }
        st = await_state(sched, &id, &state);
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
        weft_arena *mem = weft_arena_new(); /* of *out, where the state is found */
        weft_state state =
            weft_state_new(sched->task, sched->task_self, &record[i]->job, mem);
        weft_state_id id = id_of(record[i], record[i]->stored, &state);
        *out = (weft_own_state){state, mem};
        if (program_has(sched, id.trial, id.job, &state) ||
            weft_rundir_state_load(sched->rundir, sched->team, &id, 0, &state) == WEFT_OK)
            return i;
        weft_arena_free(mem);
    }
    *out = (weft_own_state){0};
    return -1;
}

/* Repeats jobs from record[at] on, which begins with *last unless it has a checkpoint;
 * *last is then the state after record[n - 1]. Collective over team. */
static weft_status repeat_jobs(weft_sched *sched, const weft_job_record *const *record,
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
    WEFT_SCRATCH(tmp);
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
    weft_status st = at > 0 ? repeat_jobs(sched, record, at, n, &last) : WEFT_EFILE;
    if (st == WEFT_EFILE) {
        at = last_saved(sched, record, n, &last) + 1;
        st = repeat_jobs(sched, record, at, n, &last);
        if (st == WEFT_EFILE && at > 0) /* another team has just removed that state */
            st = repeat_jobs(sched, record, 0, n, &last);
    }
    if (st == WEFT_OK) st = copy_made(sched, &cached->id, state, &last.state);
    weft_own_drop(&last);
    return st;
}

/* Reads a state, or makes it again. Collective over team. WEFT_STOP, EFILE. */
static weft_status fetch_state(weft_sched *sched, const weft_cached *cached,
                               weft_state *state)
{
    if (cached->gone || sched->task->remote.trade) return remake(sched, cached, state);
    weft_status st = weft_rundir_state_load(sched->rundir, sched->team, &cached->id,
                                            wait_for(sched, cached), state);
    if (st != WEFT_EFILE) return st;
    weft_log(sched->rundir->longer || weft_held_is_on(sched) ? WEFT_INFO : WEFT_WARN,
             "%s: the jobs that led to it are repeated", weft_error());
    return remake(sched, cached, state);
}

/* ---- entries ---- */

static double bytes_of(const weft_cached *cached)
{
    return (double)cached->id.nx * sizeof(real) + (double)cached->id.naux * sizeof(double) +
           cached->files;
}

/* Removes the file of a state; done by the leader of the team that wrote it. A program's
 * directory that was there before the run was resumed is left to the end of the run: a team
 * may be making it again under the same name, on the way to another (make_again). */
static void drop_file(weft_sched *sched, const weft_cached *cached)
{
    int leads = sched->team->rank == 0, holds = weft_held_is_on(sched);
    int ours = leads && cached->team % sched->teams == sched->crew.group;
    if (leads) weft_held_forget(sched, cached->id.trial, cached->id.job);
    int memory =
        holds && cached->here && cached->kept != 1 && !cached->saved && !cached->loose;
    int drops = sched->task->traits.files ? holds || cached->here : cached->kept;
    if (sched->rundir && ours && !memory && drops)
        weft_rundir_state_drop(sched->rundir, &cached->id);
}

static void free_memory(weft_cached *cached)
{
    if (!cached) return;
    weft_arena_free(cached->own.mem);
    cached->own = (weft_own_state){0};
}

static void remove_state(weft_sched *sched, weft_cached *cached)
{
    weft_cache *cache = sched->own.cache;
    if (cached->users > 0 || cached->newest) return;
    if (!cached->gone) drop_file(sched, cached);
    free_memory(cached);
    cached->next = cache->unused;
    cache->unused = cached;
}

static void unpin(weft_sched *sched, weft_cached *cached)
{
    if (!cached) return;
    cached->users--;
    remove_state(sched, cached);
}

static void make_newest(weft_sched *sched, weft_cached *cached)
{
    weft_cache *cache = sched->own.cache;
    WEFT_REGROW(sched->mem, cache->newest, cache->nnewest, &cache->roomnewest);
    cached->newest = 1;
    cached->at = cache->nnewest;
    cache->newest[cache->nnewest++] = cached;
    cache->kept += bytes_of(cached);
}

/* To be called when no later job needs the state. */
static void make_old(weft_sched *sched, weft_cached *cached)
{
    weft_cache *cache = sched->own.cache;
    if (!cached) return;
    cache->newest[cached->at] = cache->newest[--cache->nnewest];
    cache->newest[cached->at]->at = cached->at;
    cached->newest = 0;
    if (!cached->gone) cache->kept -= bytes_of(cached);
    remove_state(sched, cached);
}

/* ---- the bound ---- */

/* A state that may be removed. */
struct candidate {
    weft_rank rank; /* of its job */
    weft_cached *cached;
};

static int worst_first(const void *a, const void *b)
{
    return weft_rank_compare(&((const struct candidate *)b)->rank,
                             &((const struct candidate *)a)->rank);
}

/* Sorting costs O(log n) per state removed. Which states are removed depends only on the
 * results told, so that all teams agree. */
void weft_cache_bound(weft_sched *sched)
{
    weft_cache *cache = sched->own.cache;
    if (!(1e9 * sched->limits.disk > 0) || cache->kept <= 1e9 * sched->limits.disk ||
        !sched->rundir)
        return;
    WEFT_SCRATCH(tmp);
    struct candidate *list = WEFT_NEW(tmp, struct candidate, cache->nnewest);
    size_t n = 0;
    for (int64_t i = 0; i < cache->nnewest; i++) {
        weft_cached *cached = cache->newest[i];
        if (cached->users > 0 || cached->gone) continue;
        list[n++] = (struct candidate){
            weft_result_rank(&sched->queue.record[sched->queue.row[cached->job]].res),
            cached};
    }
    if (n > 0) qsort(list, n, sizeof *list, worst_first);
    for (size_t i = 0; i < n && cache->kept > FULL * 1e9 * sched->limits.disk; i++) {
        drop_file(sched, list[i].cached);
        list[i].cached->gone = 1;
        cache->kept -= bytes_of(list[i].cached);
    }
}

/* ---- trials ---- */

static weft_trial *trial_of(weft_sched *sched, const weft_job *job)
{
    weft_cache *cache = sched->own.cache;
    const char *name = sched->search->tuner->kind.name;
    weft_check(job->trial >= 0 && job->trial <= cache->ntrial,
               "tuner %s asks for trial %lld after %lld others: trials are numbered in the "
               "order in which they begin",
               name, (long long)job->trial, (long long)cache->ntrial);
    if (job->trial == cache->ntrial) {
        WEFT_REGROW(sched->mem, cache->trial, cache->ntrial, &cache->roomtrial);
        cache->trial[cache->ntrial++] = (weft_trial){0};
    }
    weft_trial *trial = &cache->trial[job->trial];
    weft_check(!trial->in_flight || !(job->resource > 0),
               "tuner %s asks for trial %lld, whose job is not told yet", name,
               (long long)job->trial);
    /* the index continues from trial to trial for shared rounds, and does not count jobs
     * that only score */
    int counted = job->index == trial->jobs || (sched->search->tuner->shared &&
                                                (trial->jobs == 0 || !(job->resource > 0)));
    weft_check(counted, "tuner %s asks for job %d of trial %lld, it had %lld", name,
               job->index, (long long)job->trial, (long long)trial->jobs);
    return trial;
}

weft_cached *weft_cache_pin(weft_sched *sched, const weft_job *job)
{
    weft_cache *cache = sched->own.cache;
    weft_trial *trial = trial_of(sched, job);
    trial->in_flight++;
    weft_cached *parent = trial->told;
    if (trial->jobs == 0 && job->from >= 0) {
        weft_check(job->from < cache->ntrial && job->from != job->trial,
                   "tuner %s copies trial %lld, which does not exist",
                   sched->search->tuner->kind.name, (long long)job->from);
        parent = cache->trial[job->from].told;
    }
    weft_check(parent || (trial->jobs == 0 && job->from < 0),
               "tuner %s continues trial %lld, which it had declared ended",
               sched->search->tuner->kind.name,
               (long long)(trial->jobs > 0 ? job->trial : job->from));
    if (parent) parent->users++;
    return parent;
}

void weft_cache_told(weft_sched *sched, weft_flight *flight, int leads)
{
    weft_cache *cache = sched->own.cache;
    const weft_job *job = &flight->record.job;
    weft_trial *trial = &cache->trial[job->trial];
    trial->in_flight--;
    trial->jobs++;
    make_old(sched, trial->told);
    trial->told = NULL;
    if (leads) {
        unpin(sched, cache->won);
        cache->won = flight->own;
        cache->won->users++;
    }
    if (!job->last) {
        make_newest(sched, flight->own);
        trial->told = flight->own;
    }
    unpin(sched, flight->parent);
    unpin(sched, flight->own);
    flight->own = flight->parent = NULL;
}

void weft_cache_ended(weft_sched *sched)
{
    weft_cache *cache = sched->own.cache;
    if (!sched->search->tuner->ended || ++cache->unchecked < cache->nnewest / 4) return;
    cache->unchecked = 0;
    for (int64_t i = cache->nnewest; i-- > 0;) {
        weft_cached *cached = cache->newest[i];
        weft_trial *trial = &cache->trial[cached->id.trial];
        if (trial->in_flight || !weft_search_ended(sched->search, cached->id.trial))
            continue;
        trial->told = NULL;
        make_old(sched, cached);
    }
}

/* ---- states ---- */

void weft_cache_known(weft_sched *sched, weft_flight *flight)
{
    weft_cache *cache = sched->own.cache;
    const weft_job_record *record = &flight->record;
    weft_cached *cached = cache->unused;
    if (cached)
        cache->unused = cached->next;
    else
        cached = WEFT_NEW(sched->mem, weft_cached, 1);
    weft_state size = {0};
    sched->task->nstate(sched->task_self, &record->job, &size);
    *cached = (weft_cached){.id = id_of(record, record->stored, &size),
                            .job = record->job.id,
                            .resource = record->res.resource,
                            .users = 1,
                            .team = record->team,
                            .files = weft_state_kept_bytes(&size),
                            .kept = record->kept,
                            .here = !flight->replayed,
                            .own = flight->state};
    flight->state = (weft_own_state){0};
    flight->own = cached;
}

/* 1: the program of the team has it, and keeps it; after a long job it is saved at once.
 * Collective over team. */
static int stays_in_program(const weft_sched *sched, const weft_job_record *record)
{
    const weft_job *job = &record->job;
    return program_has(sched, job->trial, job->id, NULL) &&
           !(record->seconds > HOLD_SECONDS && program_saves(sched, job->trial, job->id));
}

/* 1: the state after a job stays in memory. Collective over team. */
static int is_held(const weft_sched *sched, const weft_job_record *record)
{
    if (weft_held_is_on(sched)) return stays_in_program(sched, record);
    return sched->task->remote.trade && sched->rundir;
}

weft_status weft_cache_keep(weft_sched *sched, weft_flight *flight, weft_own_state *own)
{
    weft_job_record *record = &flight->record;
    if (record->kept && is_held(sched, record)) record->kept = WEFT_HELD;
    int here = record->kept == WEFT_HELD && sched->team->rank == 0;
    if (record->kept && (!sched->rundir || (here && !weft_held_is_on(sched)))) {
        flight->state = *own;
        return WEFT_OK;
    }
    if (record->kept == WEFT_HELD) {
        weft_arena_free(own->mem);
        return WEFT_OK;
    }
    weft_status st = WEFT_OK;
    const weft_state *state = &own->state;
    weft_state_id id = id_of(record, record->job.id, state);
    weft_times_close(sched->team);
    if (record->kept && sched->team->rank == 0)
        st = weft_rundir_state_put(sched->rundir, &id, state);
    weft_times_io(sched->team);
    if (!record->kept) weft_kept_drop(own->state.kept);
    weft_arena_free(own->mem);
    return weft_agree(st, sched->team);
}

weft_status weft_cache_load(weft_sched *sched, const weft_job *job, weft_cached *parent,
                            weft_state *state)
{
    if (!parent) return weft_trial_start(sched, job, state);
    if (weft_held_is_on(sched) &&
        program_has(sched, parent->id.trial, parent->id.job, state)) {
        int users = parent->users - (parent == sched->own.cache->won);
        if (users > 1 && job->trial == parent->id.trial && sched->team->rank == 0)
            weft_cached_save(sched, parent);
        return WEFT_OK;
    }
    if (parent->own.mem)
        return weft_agree(weft_state_copy(state, &parent->own.state), sched->team);
    if (state->nx == parent->id.nx && state->naux == parent->id.naux)
        return fetch_state(sched, parent, state);
    WEFT_SCRATCH(tmp);
    weft_state all = room_for(sched, parent, tmp);
    weft_status st = fetch_state(sched, parent, &all);
    if (st == WEFT_OK) st = weft_agree(weft_state_copy(state, &all), sched->team);
    weft_kept_drop(all.kept);
    return st;
}

static weft_status write_held(const weft_sched *sched, const weft_cached *cached)
{
    if (!cached || cached->kept != WEFT_HELD || !cached->own.mem) return WEFT_OK;
    return weft_rundir_state_put(sched->rundir, &cached->id, &cached->own.state);
}

weft_cached *weft_cache_find(weft_sched *sched, int64_t job, const weft_job_record **record)
{
    const weft_cache *cache = sched->own.cache;
    const weft_queue *queue = &sched->queue;
    const weft_flight *flight = weft_queue_flight(queue, job);
    if (flight) *record = &flight->record;
    if (flight) return flight->own;
    *record = job < queue->asked ? &queue->record[queue->row[job]] : NULL;
    for (int64_t i = 0; i < cache->nnewest; i++)
        if (cache->newest[i]->job == job) return cache->newest[i];
    return cache->won && cache->won->job == job ? cache->won : NULL;
}

weft_status weft_cache_stop(weft_sched *sched)
{
    TRY(write_held(sched, sched->own.cache->won));
    for (int64_t i = 0; i < sched->queue.flights.ends.n; i++)
        TRY(write_held(sched, weft_flights_at(&sched->queue.flights, i)->own));
    return WEFT_OK;
}

/* All ranks get the state that rank 0 holds, unless it held it before a stop. Collective
 * over team. */
static void share_held(const weft_sched *sched, weft_cached *cached)
{
    int here = cached->own.mem != NULL;
    weft_bcast(sched->team, &here, sizeof here, 0);
    if (!here) return;
    if (!cached->own.mem) {
        cached->own.mem = weft_arena_new();
        cached->own.state = room_for(sched, cached, cached->own.mem);
    }
    weft_state_bcast(sched->team, &cached->own.state);
}

/* One that was in memory is saved, if that can be: its jobs are repeated where it was lost.
 * Collective over team. */
static weft_status fetch_winner(weft_sched *sched, weft_cached *cached)
{
    weft_state *state = &cached->own.state;
    if (!weft_held_is_on(sched) || cached->kept != WEFT_HELD || cached->saved)
        return fetch_state(sched, cached, state);
    if (sched->task->traits.holder->holds(sched->task_self) != WEFT_HOLDS_SAVES)
        return WEFT_OK;
    if (!program_has(sched, cached->id.trial, cached->id.job, state)) {
        cached->saved = weft_rundir_state_load(sched->rundir, sched->team, &cached->id, 0,
                                               state) == WEFT_OK;
        if (cached->saved) return WEFT_OK;
        TRY(fetch_state(sched, cached, state));
    }
    if (sched->team->rank == 0) weft_cached_save(sched, cached);
    return WEFT_OK;
}

int weft_cache_has_files(const weft_sched *sched)
{
    const weft_cached *won = sched->own.cache->won;
    if (!sched->task->traits.files) return 0;
    return !weft_held_is_on(sched) || won->kept != WEFT_HELD || won->saved;
}

weft_status weft_cache_winner(weft_sched *sched, const weft_state **state)
{
    weft_cached *cached = sched->own.cache->won;
    weft_check(cached && cached->kept, "the state of the best job %lld was not kept",
               (long long)sched->queue.winner.job.id);
    if (cached->kept == WEFT_HELD) share_held(sched, cached);
    if (!cached->own.mem) {
        cached->own.mem = weft_arena_new();
        cached->own.state = room_for(sched, cached, cached->own.mem);
        int first = sched->crew.group == 0; /* the team that keeps a directory */
        weft_status st =
            first || !sched->task->traits.files ? fetch_winner(sched, cached) : WEFT_OK;
        if (st != WEFT_OK) free_memory(cached);
        TRY(st);
    }
    *state = &cached->own.state;
    return WEFT_OK;
}

void weft_cache_free(weft_sched *sched)
{
    weft_cache *cache = sched->own.cache;
    if (!sched->own.cache) return;
    for (int64_t i = 0; i < cache->nnewest; i++) free_memory(cache->newest[i]);
    free_memory(cache->won);
    for (int64_t i = 0; i < sched->queue.flights.ends.n; i++) {
        weft_flight *flight = weft_flights_at(&sched->queue.flights, i);
        free_memory(flight->parent);
        free_memory(flight->own);
        weft_arena_free(flight->state.mem);
        flight->state = (weft_own_state){0};
    }
}
