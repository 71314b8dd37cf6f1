/* The states of trials that are needed by later jobs or as the winner's. If the run has a
 * run directory, they are files in it: the team that did a job writes its state, and any
 * team that continues or copies the trial reads it. Without a run directory they stay in
 * memory. So does, in a run of one team, the best state that no job continues, if jobs take
 * at most HOLD_SECONDS: it is written when the run is stopped, and if it is killed, its job
 * is repeated.
 *
 * A state is that of a trial after a job. A job begins with the state after the last told
 * job of its trial, or of the trial that it copies, at the moment at which it is asked for;
 * this state is pinned until the job is told. A state is removed when it is not pinned, is
 * not that of the best trial, and cannot be reached by a later job: a newer state of its
 * trial was told, or the tuner declared that no job follows. If s->disk bounds the states
 * that wait for a later job, those with the highest losses are removed too; if one of them
 * is needed after all, or if a file was lost, the jobs that led to it are repeated, with
 * the same bits. */
#include "cache.h"
#include "job.h"
#include "rundir/state.h"
#include "stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_SECONDS 60.0 /* wait for a file of another host to become visible */
#define HOLD_SECONDS 10.0 /* a longer job's state is written at once */
#define FULL         0.9  /* fraction of the bound that is kept after it was exceeded */
#define CLAIM_AGAIN  ((int64_t)1 << 40) /* plus a job: the claim to repeat it */

/* The state of a trial after a job. */
struct weft_cached {
    weft_state_id id;
    double resource; /* total of the trial */
    int users;       /* pins: its job until it is told, jobs in flight that begin with it,
                        the best trial */
    int newest;      /* 1: after its trial's last told job, and a later job may need it */
    int64_t team;    /* that wrote it */
    int kept;   /* 1: it was written, or is in memory without a run directory; WEFT_HELD */
    int gone;   /* 1: removed because of the bound */
    int here;   /* 1: written in this session, so that its file may not be visible
                   yet */
    int64_t at; /* index in s->cache->newest, if newest is 1 */
    weft_own_state
        own; /* without a run directory, or on rank 0 while it is held; else empty */
    weft_cached *next;
};

typedef struct weft_trial {
    weft_cached *told; /* state after its last told job; NULL: none, or no longer needed */
    int64_t jobs;      /* told */
    int in_flight;     /* its jobs in flight: several only if they do not train */
} weft_trial;

struct weft_cache {
    weft_trial *trial; /* [ntrial] */
    int64_t ntrial, roomtrial;
    weft_cached *won;     /* state of the best trial so far */
    weft_cached **newest; /* [nnewest] states that a later job may begin with */
    int64_t nnewest, roomnewest;
    int64_t unchecked; /* results since the last weft_cache_ended that looked */
    double kept;       /* size of the newest states in bytes */
    weft_cached *unused;
};

void weft_cache_setup(weft_sched *s)
{
    s->cache = WEFT_NEW(s->mem, weft_cache, 1);
}

/* ---- entries ---- */

static double bytes_of(const weft_cached *c)
{
    return (double)c->id.nx * sizeof(real) + (double)c->id.naux * sizeof(double);
}

/* Removes the file of a state; done by the leader of the team that wrote it. */
static void drop(weft_sched *s, const weft_cached *c)
{
    int ours = s->team->rank == 0 && c->team % s->teams == s->crew.group;
    if (s->rundir && ours && (c->kept || s->task->files))
        weft_rundir_state_drop(s->rundir, &c->id);
}

static void remove_state(weft_sched *s, weft_cached *c)
{
    if (c->users > 0 || c->newest) return;
    if (!c->gone) drop(s, c);
    weft_arena_free(c->own.mem);
    c->own = (weft_own_state){0};
    c->next = s->cache->unused;
    s->cache->unused = c;
}

static void unpin(weft_sched *s, weft_cached *c)
{
    if (!c) return;
    c->users--;
    remove_state(s, c);
}

static void make_newest(weft_sched *s, weft_cached *c)
{
    s->cache->newest = weft_regrow(s->mem, s->cache->newest, sizeof *s->cache->newest,
                                   s->cache->nnewest, &s->cache->roomnewest);
    c->newest = 1;
    c->at = s->cache->nnewest;
    s->cache->newest[s->cache->nnewest++] = c;
    s->cache->kept += bytes_of(c);
}

/* To be called when no later job needs the state. */
static void make_old(weft_sched *s, weft_cached *c)
{
    if (!c) return;
    s->cache->newest[c->at] = s->cache->newest[--s->cache->nnewest];
    s->cache->newest[c->at]->at = c->at;
    c->newest = 0;
    if (!c->gone) s->cache->kept -= bytes_of(c);
    remove_state(s, c);
}

/* ---- the bound ---- */

/* A state that may be removed. */
typedef struct candidate {
    weft_rank rank; /* of its job */
    weft_cached *c;
} candidate;

static int worst_first(const void *a, const void *b)
{
    return weft_rank_compare(&((const candidate *)b)->rank, &((const candidate *)a)->rank);
}

/* Sorting costs O(log n) per state removed. Which states are removed depends only on the
 * results told, so that all teams agree. */
void weft_cache_bound(weft_sched *s)
{
    if (!(s->disk > 0) || s->cache->kept <= s->disk || !s->rundir) return;
    weft_arena *tmp = weft_arena_new();
    candidate *list = WEFT_NEW(tmp, candidate, s->cache->nnewest);
    size_t n = 0;
    for (int64_t i = 0; i < s->cache->nnewest; i++) {
        weft_cached *c = s->cache->newest[i];
        if (c->users > 0 || c->gone) continue;
        list[n++] =
            (candidate){weft_result_rank(&s->queue.record[s->queue.row[c->id.job]].res), c};
    }
    if (n > 0) qsort(list, n, sizeof *list, worst_first);
    for (size_t i = 0; i < n && s->cache->kept > FULL * s->disk; i++) {
        drop(s, list[i].c);
        list[i].c->gone = 1;
        s->cache->kept -= bytes_of(list[i].c);
    }
    weft_arena_free(tmp);
}

/* ---- trials ---- */

static weft_trial *trial_of(weft_sched *s, const weft_job *job)
{
    const char *name = s->search->tuner->kind.name;
    weft_check(job->trial >= 0 && job->trial <= s->cache->ntrial,
               "tuner %s asks for trial %lld after %lld others: trials are numbered in the "
               "order in which they begin",
               name, (long long)job->trial, (long long)s->cache->ntrial);
    if (job->trial == s->cache->ntrial) {
        s->cache->trial = weft_regrow(s->mem, s->cache->trial, sizeof *s->cache->trial,
                                      s->cache->ntrial, &s->cache->roomtrial);
        s->cache->trial[s->cache->ntrial++] = (weft_trial){0};
    }
    weft_trial *t = &s->cache->trial[job->trial];
    weft_check(!t->in_flight || !(job->resource > 0),
               "tuner %s asks for trial %lld, whose job is not told yet", name,
               (long long)job->trial);
    /* the index continues from trial to trial for shared rounds, and does not count jobs
     * that only score */
    int counted = job->index == t->jobs ||
                  (s->search->tuner->shared && (t->jobs == 0 || !(job->resource > 0)));
    weft_check(counted, "tuner %s asks for job %d of trial %lld, it had %lld", name,
               job->index, (long long)job->trial, (long long)t->jobs);
    return t;
}

weft_cached *weft_cache_pin(weft_sched *s, const weft_job *job)
{
    weft_trial *t = trial_of(s, job);
    t->in_flight++;
    weft_cached *parent = t->told;
    if (t->jobs == 0 && job->from >= 0) {
        weft_check(job->from < s->cache->ntrial && job->from != job->trial,
                   "tuner %s copies trial %lld, which does not exist",
                   s->search->tuner->kind.name, (long long)job->from);
        parent = s->cache->trial[job->from].told;
    }
    weft_check(parent || (t->jobs == 0 && job->from < 0),
               "tuner %s continues trial %lld, which it had declared ended",
               s->search->tuner->kind.name,
               (long long)(t->jobs > 0 ? job->trial : job->from));
    if (parent) parent->users++;
    return parent;
}

void weft_cache_told(weft_sched *s, weft_flight *f, int leads)
{
    const weft_job *job = &f->record.job;
    weft_trial *t = &s->cache->trial[job->trial];
    t->in_flight--;
    t->jobs++;
    make_old(s, t->told);
    t->told = NULL;
    if (leads) {
        unpin(s, s->cache->won);
        s->cache->won = f->own;
        s->cache->won->users++;
    }
    if (!job->last) {
        make_newest(s, f->own);
        t->told = f->own;
    }
    unpin(s, f->parent);
    unpin(s, f->own);
    f->own = f->parent = NULL;
}

void weft_cache_ended(weft_sched *s)
{
    if (!s->search->tuner->ended || ++s->cache->unchecked < s->cache->nnewest / 4) return;
    s->cache->unchecked = 0;
    for (int64_t i = s->cache->nnewest; i-- > 0;) {
        weft_cached *c = s->cache->newest[i];
        weft_trial *t = &s->cache->trial[c->id.trial];
        if (t->in_flight || !weft_search_ended(s->search, c->id.trial)) continue;
        t->told = NULL;
        make_old(s, c);
    }
}

/* ---- states ---- */

double weft_cache_resource(const weft_cached *parent)
{
    return parent ? parent->resource : 0;
}

int64_t weft_cache_job(const weft_cached *parent)
{
    return parent ? parent->id.job : -1;
}

void weft_cache_known(weft_sched *s, weft_flight *f)
{
    const weft_job_record *e = &f->record;
    weft_cached *c = s->cache->unused;
    if (c)
        s->cache->unused = c->next;
    else
        c = WEFT_NEW(s->mem, weft_cached, 1);
    weft_state size = {0};
    s->task->nstate(s->task_self, &e->job, &size);
    *c = (weft_cached){.id = {.trial = e->job.trial,
                              .job = e->job.id,
                              .nx = size.nx,
                              .naux = size.naux,
                              .hash = e->hash},
                       .resource = e->res.resource,
                       .users = 1,
                       .team = e->team,
                       .kept = e->kept,
                       .here = !f->replayed,
                       .own = f->state};
    f->state = (weft_own_state){0};
    f->own = c;
}

static weft_status write_state(const weft_sched *s, const weft_state_id *id,
                               const weft_job *job, const weft_state *state)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = weft_task_tensors(s->task, s->task_self, job, tensor);
    return weft_rundir_state_put(s->rundir, id, state, n, tensor);
}

/* 1: the state after a job, which has been found to be the best, stays in memory. Some jobs
 * are done in others, so that the mean time of a job counts too. Collective over team. */
static int is_held(const weft_sched *s, const weft_job_record *e)
{
    if (!s->rundir || s->teams > 1 || !e->job.last || s->task->files) return 0;
    double mean =
        (weft_now() - s->begun) / (double)(s->queue.known - s->queue.replayed + 1);
    int held = fmax(e->seconds, mean) <= HOLD_SECONDS;
    weft_bcast(s->team, &held, sizeof held, 0);
    return held;
}

weft_status weft_cache_keep(weft_sched *s, weft_flight *f, weft_own_state *own)
{
    weft_job_record *e = &f->record;
    if (e->kept && is_held(s, e)) e->kept = WEFT_HELD;
    if (e->kept && (!s->rundir || (e->kept == WEFT_HELD && s->team->rank == 0))) {
        f->state = *own;
        return WEFT_OK;
    }
    if (e->kept == WEFT_HELD) {
        weft_arena_free(own->mem);
        return WEFT_OK;
    }
    weft_status st = WEFT_OK;
    const weft_state *state = &own->state;
    weft_state_id id = {e->job.trial, e->job.id, state->nx, state->naux, e->hash};
    weft_times_close(s->team);
    if (e->kept && s->team->rank == 0) st = write_state(s, &id, &e->job, state);
    weft_times_io(s->team);
    weft_arena_free(own->mem);
    return weft_agree(st, s->team);
}

/* Seconds to wait for the file of a state, which another team's host may just have
 * written. */
static double wait_for(const weft_sched *s, const weft_cached *c)
{
    return c->here && s->teams > 1 ? WAIT_SECONDS : 0;
}

/* A zero state of the lengths of the stored one. */
static weft_state state_of(const weft_cached *c, weft_arena *mem)
{
    return (weft_state){.x = WEFT_NEW(mem, real, c->id.nx),
                        .nx = c->id.nx,
                        .aux = WEFT_NEW(mem, double, c->id.naux),
                        .naux = c->id.naux};
}

/* Reads the state after a told job, once another team has made it. Collective over team.
 * WEFT_STOP. */
static weft_status await(weft_sched *s, const weft_state_id *id, weft_state *state)
{
    for (;;) {
        double why = weft_stop_seen(s);
        weft_max_f64(s->team, &why, 1);
        if (why > 0) return weft_stop_now(s, (int)why, 0, 0);
        if (weft_rundir_state_load(s->rundir, s->team, id, 1, state) == WEFT_OK)
            return WEFT_OK;
    }
}

/* Makes the state after a told job, from the one before it, `from`. Directories are the
 * same for all teams: the first team that needs one makes it, others wait. Collective over
 * team. */
static weft_status make_again(weft_sched *s, const weft_job_record *e,
                              const weft_state *from, weft_own_state *out)
{
    if (!s->task->files) return weft_job_again(s, e, from, out);
    weft_arena *mem = weft_arena_new();
    weft_state state = weft_state_new(s->task, s->task_self, &e->job, mem);
    weft_state_id id = {e->job.trial, e->job.id, state.nx, state.naux, e->hash};
    weft_status st = weft_rundir_state_load(s->rundir, s->team, &id, 0, &state);
    if (st == WEFT_EFILE) {
        int ours = !s->crew.claims || weft_claim(s->crew.claims, CLAIM_AGAIN + e->job.id);
        weft_bcast(s->team, &ours, sizeof ours, 0);
        if (ours) {
            weft_arena_free(mem);
            TRY(weft_job_again(s, e, from, out));
            int leads = s->team->rank == 0;
            return weft_agree(leads ? write_state(s, &id, &e->job, &out->state) : WEFT_OK,
                              s->team);
        }
        st = await(s, &id, &state);
    }
    *out = (weft_own_state){state, mem};
    if (st != WEFT_OK) weft_arena_free(mem);
    return st;
}

/* Repeats the jobs that led to a state. Collective over team. */
static weft_status remake(weft_sched *s, const weft_cached *c, weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    int64_t n = 0;
    for (int64_t job = c->id.job; job >= 0; job = s->queue.record[s->queue.row[job]].parent)
        n++;
    const weft_job_record **e = WEFT_NEW(tmp, const weft_job_record *, n);
    int64_t at = n;
    for (int64_t job = c->id.job; job >= 0; job = e[at]->parent)
        e[--at] = &s->queue.record[s->queue.row[job]];
    weft_status st = WEFT_OK;
    weft_own_state last = {0}, next;
    for (; at < n && st == WEFT_OK; at++) {
        st = make_again(s, e[at], last.mem ? &last.state : NULL, &next);
        weft_arena_free(last.mem);
        last = st == WEFT_OK ? next : (weft_own_state){0};
    }
    if (st == WEFT_OK) weft_state_copy(state, &last.state);
    weft_arena_free(last.mem);
    weft_arena_free(tmp);
    return st;
}

/* Reads a state, or recomputes it. Collective over team. */
static weft_status fetch(weft_sched *s, const weft_cached *c, weft_state *state)
{
    if (c->gone) return remake(s, c, state);
    weft_status st =
        weft_rundir_state_load(s->rundir, s->team, &c->id, wait_for(s, c), state);
    if (st != WEFT_EFILE) return st;
    if (s->task->files && !s->rundir->retried)
        return weft_fail(
            st, "%s; put it back from a copy, or start again by `weft tune --force`",
            weft_error());
    weft_log(WEFT_WARN, "%s: the jobs that led to it are repeated", weft_error());
    return remake(s, c, state);
}

weft_status weft_cache_load(weft_sched *s, const weft_job *job, const weft_cached *parent,
                            weft_state *state)
{
    if (!parent) {
        if (s->task->start) s->task->start(s->task_self, job, state);
        return WEFT_OK;
    }
    if (parent->own.mem) {
        weft_state_copy(state, &parent->own.state);
        return WEFT_OK;
    }
    if (state->nx == parent->id.nx && state->naux == parent->id.naux)
        return fetch(s, parent, state);
    weft_arena *tmp = weft_arena_new();
    weft_state all = state_of(parent, tmp);
    weft_status st = fetch(s, parent, &all);
    if (st == WEFT_OK) weft_state_copy(state, &all);
    weft_arena_free(tmp);
    return st;
}

static void forget(weft_cached *c)
{
    if (!c) return;
    weft_arena_free(c->own.mem);
    c->own = (weft_own_state){0};
}

static weft_status write_held(const weft_sched *s, const weft_cached *c,
                              const weft_job *job)
{
    if (!c || c->kept != WEFT_HELD || !c->own.mem) return WEFT_OK;
    return write_state(s, &c->id, job, &c->own.state);
}

weft_status weft_cache_stop(weft_sched *s)
{
    TRY(write_held(s, s->cache->won, &s->queue.winner.job));
    for (int64_t i = 0; i < s->queue.flights.ends.n; i++) {
        const weft_flight *f = s->queue.flights.ends.item[i];
        TRY(write_held(s, f->own, &f->record.job));
    }
    return WEFT_OK;
}

/* All ranks get the state that rank 0 holds, unless it held it before a stop. Collective
 * over team. */
static void share_held(const weft_sched *s, weft_cached *c)
{
    int here = c->own.mem != NULL;
    weft_bcast(s->team, &here, sizeof here, 0);
    if (!here) return;
    if (!c->own.mem) {
        c->own.mem = weft_arena_new();
        c->own.state = state_of(c, c->own.mem);
    }
    weft_state_bcast(s->team, &c->own.state);
}

weft_status weft_cache_winner(weft_sched *s, const weft_state **state)
{
    weft_cached *c = s->cache->won;
    weft_check(c && c->kept, "the state of the best job %lld was not kept",
               (long long)s->queue.winner.job.id);
    if (c->kept == WEFT_HELD) share_held(s, c);
    if (!c->own.mem) {
        c->own.mem = weft_arena_new();
        c->own.state = state_of(c, c->own.mem);
        int first = s->crew.group == 0; /* the team that keeps a directory */
        weft_status st = first || !s->task->files ? fetch(s, c, &c->own.state) : WEFT_OK;
        if (st != WEFT_OK) forget(c);
        TRY(st);
    }
    *state = &c->own.state;
    return WEFT_OK;
}

void weft_cache_free(weft_sched *s)
{
    if (!s->cache) return;
    for (int64_t i = 0; i < s->cache->nnewest; i++) forget(s->cache->newest[i]);
    forget(s->cache->won);
    for (int64_t i = 0; i < s->queue.flights.ends.n; i++) {
        weft_flight *f = s->queue.flights.ends.item[i];
        forget(f->parent);
        forget(f->own);
        weft_arena_free(f->state.mem);
        f->state = (weft_own_state){0};
    }
}
