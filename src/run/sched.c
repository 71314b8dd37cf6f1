/* The scheduler: simulated workers ask the tuner for jobs as long as it gives any, teams of
 * ranks do them, results are told in the order of virtual time (flight.c), after each of
 * which the free workers ask again, and so on to the end. Jobs in flight do not depend on
 * each other: several teams do them side by side, grouped by the task's affinity, the
 * costly ones first; these are dealt by cost, as many at once as take about the time
 * between two checkpoints, and their results then go to all ranks, whose tuners are alike.
 * A job that the journal knows is not run again: so a run goes on after a restart exactly
 * where it was. Nothing that a task or tuner sees depends on teams or journal. Called by
 * tune.c. */
#include "run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EACH 256 /* jobs that a team is dealt at once at most */

/* ---- what is known ------------------------------------------------------------------ */

static int beats(const weft_job_record *a, const weft_job_record *b)
{
    const weft_merit x = weft_job_record_merit(a), y = weft_job_record_merit(b);
    return weft_merit_compare(&x, &y) > 0;
}

/* 1 if b cannot win the run, whatever else is told, once a is told. */
static int outdoes(const weft_job_record *a, const weft_job_record *b)
{
    const int alike = a->job.eligibility == b->job.eligibility;
    return (alike || b->job.eligibility == WEFT_WINS_LAST) && beats(a, b);
}

/* 1 if the state after a job that has been done may be needed: by later jobs, or by the
 * winner. `best` is of jobs that are known, NULL: none. With a target, these need not come
 * to be told. */
static int is_needed(const weft_sched *s, const weft_job_record *e,
                     const weft_job_record *best)
{
    if (!e->job.last) return 1;
    if (s->target > 0) return s->n == 0 || !outdoes(&s->winner, e);
    return !best || !outdoes(best, e);
}

/* Shared fits, whose trials cannot win, are none: the mean of many maps is nobody's. */
static int is_target(const weft_sched *s, const weft_job_record *e)
{
    return s->target > 0 && e->job.eligibility != WEFT_WINS_LAST &&
           e->res.loss <= s->target;
}

/* All ranks know the result. */
static void enter(weft_sched *s, weft_flight *f)
{
    weft_flights_known(&s->flights, f);
    weft_cache_known(s, f);
    if (s->known == 0 || outdoes(&f->event, &s->best)) s->best = f->event;
    s->known++;
    s->replayed += f->replayed;
}

/* ---- teams -------------------------------------------------------------------------- */

static int my_team(const weft_sched *s)
{
    return weft_team_of(s->world->size, s->teams, s->world->rank);
}

static int leader_of(const weft_sched *s, int team)
{
    return weft_team_first(s->world->size, s->teams, team);
}

/* Deals jobs, the costly ones first, each to the team that will be free first. */
static void deal(const weft_sched *s, weft_flight **todo, int n)
{
    weft_arena *tmp = weft_arena_new();
    double *cost = WEFT_NEW(tmp, double, n), *ranks = WEFT_NEW(tmp, double, s->teams);
    int *team = WEFT_NEW(tmp, int, n);
    for (int i = 0; i < n; i++) cost[i] = fmax(todo[i]->flops, 1);
    for (int g = 0; g < s->teams; g++)
        ranks[g] = weft_team_size(s->world->size, s->teams, g);
    weft_deal_costs(n, cost, s->teams, ranks, team);
    for (int i = 0; i < n; i++) todo[i]->team = team[i];
    weft_arena_free(tmp);
}

/* Does a job of this team. Collective over team. */
static weft_status run_one(weft_sched *s, weft_flight *f, const weft_job_record *best)
{
    weft_own_state state;
    TRY(weft_job_run(s, f, &state));
    f->event.team = f->team;
    f->event.kept = is_needed(s, &f->event, best);
    return weft_cache_keep(s, f, &state);
}

/* Does this team's jobs among todo[n]. */
static weft_status run_own(weft_sched *s, weft_flight **todo, int n)
{
    weft_status st = WEFT_OK;
    const weft_job_record *best = s->known > 0 ? &s->best : NULL;
    const int mine = my_team(s);
    weft_times_move(s->world, s->team);
    for (int i = 0; i < n && st == WEFT_OK; i++) {
        weft_flight *f = todo[i];
        if (f->team != mine) continue;
        st = run_one(s, f, best);
        f->done = st == WEFT_OK;
        if (f->done && (!best || outdoes(&f->event, best))) best = &f->event;
    }
    weft_times_move(s->team, s->world);
    return st;
}

/* Gives an event to all ranks from the team that did it. Collective over world. */
static void share_event(weft_sched *s, weft_flight *f)
{
    const int root = leader_of(s, f->team);
    weft_arena *tmp = weft_arena_new();
    size_t bytes = 0;
    void *packed = NULL;
    if (s->world->rank == root) packed = weft_job_record_pack(&f->event, &bytes, tmp);
    weft_bcast(s->world, &bytes, sizeof bytes, root);
    if (!packed) packed = WEFT_NEW(tmp, char, bytes);
    weft_bcast(s->world, packed, bytes, root);
    const int same =
        f->team == my_team(s) || weft_job_record_unpack(&f->event, packed, s->mem);
    weft_check(same, "the ranks' tuners ask for different jobs (%lld)",
               (long long)f->event.job.id);
    weft_arena_free(tmp);
}

/* Makes the done jobs of all teams known to all ranks. Collective over world. */
static void share(weft_sched *s, weft_flight **todo, int n)
{
    if (s->teams == 1) return;
    weft_arena *tmp = weft_arena_new();
    int32_t *done = WEFT_NEW(tmp, int32_t, n);
    for (int i = 0; i < n; i++)
        done[i] = s->world->rank == leader_of(s, todo[i]->team) && todo[i]->done;
    weft_sum_i32(s->world, done, (size_t)n);
    for (int i = 0; i < n; i++) {
        todo[i]->done = done[i];
        if (done[i]) share_event(s, todo[i]);
    }
    weft_arena_free(tmp);
}

/* Takes what is done into journal and books; what is not goes back to be dealt again.
 * Collective over world. */
static weft_status record(weft_sched *s, weft_flight **todo, int n)
{
    weft_status st = WEFT_OK;
    for (int i = 0; i < n; i++) {
        weft_flight *f = todo[i];
        if (!f->done) {
            weft_flights_queue(&s->flights, f);
            continue;
        }
        enter(s, f); /* the end is recorded too */
        if (s->trace && s->world->rank == 0 && st == WEFT_OK)
            st = weft_trace_add(s->trace, &f->event);
        weft_show_job(s, &f->event);
    }
    if (!s->trace) return WEFT_OK;
    if (s->world->rank == 0 && st == WEFT_OK) st = weft_trace_sync(s->trace, 0);
    return weft_agree(st, s->world);
}

/* How many jobs a team is dealt next: about as many as take the time between two
 * checkpoints, after which a killed run loses them. Collective over world. */
static void adapt(weft_sched *s, int n, double seconds)
{
    if (s->teams == 1 || s->target > 0) return;
    const double fit = n * s->checkpoint / (s->teams * fmax(seconds, 1e-3));
    int32_t each = (int32_t)fmax(1, fmin(fmin(fit, 4.0 * s->each), MOST_EACH));
    weft_bcast(s->world, &each, sizeof each, 0);
    s->each = each;
}

/* Does some of the jobs in flight. Collective over world. */
static weft_status run_jobs(weft_sched *s, weft_flight **todo, int n)
{
    const double start = weft_now();
    deal(s, todo, n);
    weft_status st = run_own(s, todo, n);
    share(s, todo, n);
    TRY(record(s, todo, n));
    adapt(s, n, weft_now() - start);
    return weft_agree(st, s->world);
}

/* ---- asking ------------------------------------------------------------------------- */

/* Virtual seconds that a job takes at least. */
static double least_seconds(const weft_sched *s, const weft_job *job,
                            const weft_cached *parent)
{
    if (!s->task->seconds) return fmax(job->resource, 0);
    return fmax(s->task->seconds(s->task_self, job, weft_cache_resource(parent)), 0);
}

/* A worker starts a job, whose result the journal may know. */
static weft_status start(weft_sched *s, const weft_job *job)
{
    weft_cached *parent = weft_cache_pin(s, job);
    weft_flight *f = weft_flights_start(&s->flights, job, least_seconds(s, job, parent));
    f->parent = parent;
    f->event.parent = weft_cache_job(parent);
    if (s->trace) TRY(weft_trace_find(s->trace, &f->event, &f->replayed, s->mem));
    if (f->replayed) {
        enter(s, f);
        return WEFT_OK;
    }
    f->affinity = s->task->affinity(s->task_self, &f->event.job);
    s->fresh = weft_grow(s->mem, s->fresh, sizeof *s->fresh, s->nfresh, &s->roomfresh);
    s->fresh[s->nfresh++] = f;
    return WEFT_OK;
}

/* Free workers ask, until the tuner wants to be told. */
static weft_status ask(weft_sched *s, weft_asked *answer)
{
    while (*answer != WEFT_DONE && weft_flights_idle(&s->flights)) {
        weft_job job = weft_job_new(0, 0, NULL);
        *answer = weft_search_ask(s->search, &job);
        if (*answer != WEFT_JOB) break;
        job.id = s->asked++;
        TRY(start(s, &job));
    }
    weft_check(*answer != WEFT_WAIT || s->flights.ends.n > 0, "tuner %s waits for no job",
               s->search->tuner->kind.name);
    return WEFT_OK;
}

/* Makes sure that all ranks ask for the same, gives all the same costs, and lines up to be
 * dealt what was asked. Collective over world. */
static void line_up(weft_sched *s)
{
    const int64_t n = s->nfresh;
    weft_arena *tmp = weft_arena_new();
    double *cost = WEFT_NEW(tmp, double, n);
    uint64_t h = 0;
    for (int64_t i = 0; i < n; i++) {
        const weft_job *job = &s->fresh[i]->event.job;
        size_t bytes;
        const void *packed = weft_job_pack(job, &bytes, tmp);
        h = weft_hash(packed, bytes, h);
        weft_cost c = {0};
        s->task->cost(s->task_self, job, &c);
        cost[i] = c.flops;
    }
    const double mark = (double)(h >> 12);
    double v[2] = {mark, -mark};
    weft_max_f64(s->world, v, 2);
    weft_check(v[0] + v[1] >= 0 && v[0] + v[1] <= 0,
               "the ranks' tuners ask for different jobs (%lld ...)",
               n > 0 ? (long long)s->fresh[0]->event.job.id : -1);
    weft_bcast(s->world, cost, (size_t)n * sizeof *cost, 0);
    for (int64_t i = 0; i < n; i++) {
        /* Where a target may end the search, what is asked first is done first. */
        s->fresh[i]->flops = s->target > 0 ? 1 : cost[i];
        weft_flights_queue(&s->flights, s->fresh[i]);
    }
    s->nfresh = 0;
    weft_arena_free(tmp);
}

/* ---- telling ------------------------------------------------------------------------ */

/* Does jobs until it is known which one is told next. Collective over world. */
static weft_status run_to_next(weft_sched *s, weft_flight **next)
{
    weft_arena *tmp = weft_arena_new();
    weft_flight **todo = WEFT_NEW(tmp, weft_flight *, s->teams * MOST_EACH);
    weft_status st = WEFT_OK;
    while (st == WEFT_OK && !(*next = weft_flights_next(&s->flights))) {
        if (s->nfresh > 0) line_up(s);
        int n = 0;
        while (n < s->teams * s->each && (todo[n] = weft_flights_deal(&s->flights))) n++;
        weft_check(n > 0, "no job is left of %lld in flight", (long long)s->flights.ends.n);
        st = run_jobs(s, todo, n);
    }
    weft_arena_free(tmp);
    return st;
}

static int by_job(const void *pa, const void *pb)
{
    const weft_job_record *a = pa, *b = pb;
    return a->job.id < b->job.id ? -1 : 1;
}

/* Enters an event into the books and tells the tuner. */
static void tell(weft_sched *s, weft_flight *f)
{
    const weft_job_record *e = &f->event;
    const int leads = s->n == 0 || beats(e, &s->winner);
    if (leads) s->winner = *e;
    s->event = weft_grow(s->mem, s->event, sizeof *s->event, s->n, &s->room);
    s->event[s->n++] = *e;
    weft_cache_told(s, f, leads);
    weft_search_tell(s->search, &e->res);
    weft_cache_ended(s);
    weft_flights_end(&s->flights, f);
}

static weft_status search(weft_sched *s)
{
    weft_asked answer = WEFT_JOB;
    for (int reached = 0; !reached;) {
        TRY(ask(s, &answer));
        if (s->flights.ends.n == 0) break;
        weft_flight *next = NULL;
        TRY(run_to_next(s, &next));
        reached = is_target(s, &next->event);
        tell(s, next);
        if (reached) weft_log(WEFT_INFO, "the target %g is reached", s->target);
    }
    return WEFT_OK;
}

weft_status weft_sched_run(weft_sched *s)
{
    weft_check(s->trace || s->teams == 1, "teams without a trace");
    s->begun = weft_now();
    s->each = 1;
    s->before = s->trace ? weft_trace_ended(s->trace) : 0;
    weft_flights_setup(&s->flights, s->workers, s->overhead, s->mem);
    weft_status st = search(s);
    if (s->trace && s->world->rank == 0) {
        const weft_status synced = weft_trace_sync(s->trace, 1);
        if (st == WEFT_OK) st = synced;
    }
    st = weft_agree(st, s->world);
    weft_progress("%s", "");
    s->seconds = s->before + weft_now() - s->begun;
    if (s->n > 0) qsort(s->event, (size_t)s->n, sizeof *s->event, by_job);
    return st;
}
