/* The scheduler: asks the tuner for jobs as long as it gives any, has them done by teams of
 * ranks, tells the results in the order the jobs were asked, and so on to the end. Jobs
 * that were asked together run grouped by the task's affinity, the costly ones first, a
 * trial's own in their order. Several teams do jobs that do not depend on each other side
 * by side: these are dealt by cost, as many at once as take about the time between two
 * checkpoints; results then go to all ranks, whose tuners are alike. A job that the journal
 * knows is told, not run: so a run goes on after a restart exactly where it was. Nothing
 * that a task or tuner sees depends on teams or journal. Called by tune.c. */
#include "run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH     4096 /* jobs that are asked ahead at most */
#define MOST_EACH 256  /* jobs that a team is dealt at once at most */

/* A job that was asked and waits to be run. */
typedef struct slot {
    weft_job_record event;
    int64_t wave; /* jobs of a wave do not depend on each other */
    int64_t affinity;
    double cost; /* operations */
    int team;    /* that it is dealt to */
    int done;
    weft_state state; /* after it; mem NULL where it is not here or not needed */
} slot;

/* ---- the books ---------------------------------------------------------------------- */

static int better(const weft_job_record *a, const weft_job_record *b)
{
    const weft_merit x = weft_job_record_merit(a), y = weft_job_record_merit(b);
    return weft_merit_compare(&x, &y) > 0;
}

static int leads(const weft_sched *s, const weft_job_record *e)
{
    return s->n == 0 || better(e, &s->winner);
}

/* Takes an event that is complete into the books; the winner is known. */
static const weft_job_record *enter(weft_sched *s, const weft_job_record *e,
                                    const weft_state *state)
{
    s->event = weft_grow(s->mem, s->event, sizeof *s->event, s->n, &s->room);
    weft_job_record *own = &s->event[s->n++];
    *own = *e;
    weft_cache_add(s, own, state);
    return own;
}

/* Shared fits, whose trials cannot win, are none: the mean of many maps is nobody's. */
static int is_target(const weft_sched *s, const weft_job_record *e)
{
    return s->target > 0 && e->job.eligibility != WEFT_WINS_LAST &&
           e->res.loss <= s->target;
}

/* ---- teams -------------------------------------------------------------------------- */

static int my_team(const weft_sched *s)
{
    return weft_team_of(s->world->size, s->teams, s->world->rank);
}

/* Deals jobs, the costly ones first, each to the team that will be free first. */
static void deal(const weft_sched *s, slot *todo, int n)
{
    weft_arena *tmp = weft_arena_new();
    double *cost = WEFT_NEW(tmp, double, n), *ranks = WEFT_NEW(tmp, double, s->teams);
    int *team = WEFT_NEW(tmp, int, n);
    for (int i = 0; i < n; i++) cost[i] = fmax(todo[i].cost, 1);
    for (int g = 0; g < s->teams; g++)
        ranks[g] = weft_team_size(s->world->size, s->teams, g);
    weft_deal_costs(n, cost, s->teams, ranks, team);
    for (int i = 0; i < n; i++) todo[i].team = team[i];
    weft_arena_free(tmp);
}

/* Lets go of the state of a job of this team that no later job continues, if another beats
 * it. `best` is the leader so far, NULL: none. Where a target may cut off what another team
 * does, any may win. */
static slot *keep_best(const weft_sched *s, slot *best, slot *now)
{
    if (!now->event.job.last || s->target > 0) return best;
    const int wins = best ? better(&now->event, &best->event) : leads(s, &now->event);
    slot *loser = wins ? best : now;
    if (loser) {
        weft_arena_free(loser->state.mem);
        loser->state.mem = NULL;
    }
    return wins ? now : best;
}

/* Does this team's jobs among todo[n]. */
static weft_status run_own(weft_sched *s, slot *todo, int n)
{
    weft_status st = WEFT_OK;
    slot *best = NULL;
    int reached = 0;
    const int mine = my_team(s);
    weft_times_move(s->world, s->team);
    for (int i = 0; i < n && st == WEFT_OK && !reached; i++) {
        if (todo[i].team != mine) continue;
        st = weft_job_run(s, &todo[i].event, &todo[i].state);
        todo[i].done = st == WEFT_OK;
        if (!todo[i].done) continue;
        best = keep_best(s, best, &todo[i]);
        reached = is_target(s, &todo[i].event);
    }
    weft_times_move(s->team, s->world);
    return st;
}

/* Gives an event to all ranks from the team that did it. Collective over world. */
static void share_event(weft_sched *s, slot *t)
{
    const int root = weft_team_first(s->world->size, s->teams, t->team);
    weft_arena *tmp = weft_arena_new();
    size_t bytes = 0;
    void *packed = NULL;
    if (s->world->rank == root) packed = weft_job_record_pack(&t->event, &bytes, tmp);
    weft_bcast(s->world, &bytes, sizeof bytes, root);
    if (!packed) packed = WEFT_NEW(tmp, char, bytes);
    weft_bcast(s->world, packed, bytes, root);
    const int same =
        t->team == my_team(s) || weft_job_record_unpack(&t->event, packed, s->mem);
    weft_check(same, "the ranks' tuners ask for different jobs (%lld)",
               (long long)t->event.job.id);
    weft_arena_free(tmp);
}

/* Gives the state after a job to all ranks. Collective over world. */
static void share_state(weft_sched *s, slot *t)
{
    weft_state *x = &t->state;
    if (t->team != my_team(s)) {
        *x = (weft_state){.n = s->task->nstate(s->task_self, t->event.job.mix.k),
                          .mem = weft_arena_new()};
        x->x = WEFT_NEW(x->mem, real, x->n);
    }
    weft_bcast(s->world, x->x, (size_t)x->n * sizeof *x->x,
               weft_team_first(s->world->size, s->teams, t->team));
}

/* Makes the done jobs of all teams known to all ranks. Collective over world. */
static void share(weft_sched *s, slot *todo, int n)
{
    if (s->teams == 1) return;
    weft_arena *tmp = weft_arena_new();
    int32_t *done = WEFT_NEW(tmp, int32_t, n);
    for (int i = 0; i < n; i++)
        done[i] =
            s->world->rank == weft_team_first(s->world->size, s->teams, todo[i].team) &&
            todo[i].done;
    weft_sum_i32(s->world, done, (size_t)n);
    for (int i = 0; i < n; i++) {
        todo[i].done = done[i];
        if (done[i]) share_event(s, &todo[i]);
    }
    weft_arena_free(tmp);
}

/* Records an event that all ranks know and takes it into the books. Collective over world.
 */
static weft_status record(weft_sched *s, slot *t)
{
    const int keep = !t->event.job.last || t->event.job.id == s->winner.job.id;
    if (keep && s->teams > 1) share_state(s, t);
    if (s->trace)
        TRY(weft_trace_add(s->trace, &t->event, keep ? t->state.x : NULL, t->state.n));
    weft_show_job(s, enter(s, &t->event, &t->state), t->team);
    return WEFT_OK;
}

/* Records the done jobs, in order, up to one that meets the target where none before it is
 * missing. Collective over world. */
static weft_status record_all(weft_sched *s, slot *todo, int n, int *reached)
{
    int end = 0, whole = 1, any = s->n > 0;
    for (; end < n && !*reached; end++) {
        const weft_job_record *e = &todo[end].event;
        whole &= todo[end].done;
        if (!todo[end].done) continue;
        if (!any || better(e, &s->winner)) s->winner = *e;
        any = 1;
        *reached = whole && is_target(s, e);
    }
    weft_status st = WEFT_OK;
    for (int i = 0; i < n; i++) {
        if (!todo[i].done) continue;
        if (i < end && st == WEFT_OK)
            st = record(s, &todo[i]);
        else
            weft_arena_free(todo[i].state.mem);
    }
    return st == WEFT_OK && s->trace ? weft_trace_sync(s->trace) : st;
}

/* How many jobs a team is dealt next: about as many as take the time between two
 * checkpoints, after which a killed run loses them. Collective over world. */
static void adapt(weft_sched *s, int n, double seconds)
{
    if (s->teams == 1) return;
    const double fit = n * s->checkpoint / (s->teams * fmax(seconds, 1e-3));
    int32_t each = (int32_t)fmax(1, fmin(fmin(fit, 4.0 * s->each), MOST_EACH));
    weft_bcast(s->world, &each, sizeof each, 0);
    s->each = each;
}

/* Does jobs that do not depend on each other. Collective over world. */
static weft_status run_jobs(weft_sched *s, slot *todo, int n, int *reached)
{
    const double start = weft_now();
    deal(s, todo, n);
    weft_status st = run_own(s, todo, n);
    share(s, todo, n);
    const weft_status recorded = record_all(s, todo, n, reached);
    if (recorded != WEFT_OK) return recorded;
    adapt(s, n, weft_now() - start);
    return weft_agree(st, s->world);
}

/* ---- batches ------------------------------------------------------------------------ */

static int touches(const weft_job *a, const weft_job *b)
{
    return a->trial == b->trial || a->from == b->trial || b->from == a->trial;
}

/* Asks for jobs until the tuner wants to be told. */
static weft_asked ask(weft_sched *s, slot *batch, int *n)
{
    weft_asked answer = WEFT_JOB;
    for (*n = 0; *n < BATCH; (*n)++) {
        weft_job job = {.from = -1, .feature_fraction = 1};
        answer = s->tuner->ask(s->tuner_self, &job);
        if (answer != WEFT_JOB) break;
        job.id = s->asked++;
        slot *t = &batch[*n];
        *t = (slot){.event = weft_job_record_new(&job, s->mem)};
        t->affinity = s->task->affinity(s->task_self, &t->event.job);
        for (int i = 0; i < *n; i++)
            if (touches(&batch[i].event.job, &t->event.job) && t->wave <= batch[i].wave)
                t->wave = batch[i].wave + 1;
    }
    weft_check(*n > 0 || answer != WEFT_WAIT, "tuner %s waits for no job",
               s->tuner->kind.name);
    return answer;
}

/* Makes sure that all ranks ask for the same, and gives all the same costs. Collective over
 * world. */
static void agree_on(weft_sched *s, slot *batch, int n)
{
    weft_arena *tmp = weft_arena_new();
    double *cost = WEFT_NEW(tmp, double, n);
    uint64_t h = 0;
    for (int i = 0; i < n; i++) {
        size_t bytes;
        const void *packed = weft_job_pack(&batch[i].event.job, &bytes, tmp);
        h = weft_hash(packed, bytes, h);
        weft_cost c = {0};
        s->task->cost(s->task_self, &batch[i].event.job, &c);
        cost[i] = c.flops;
    }
    const double mark = (double)(h >> 12);
    double v[2] = {mark, -mark};
    weft_max_f64(s->world, v, 2);
    weft_check(v[0] + v[1] >= 0 && v[0] + v[1] <= 0,
               "the ranks' tuners ask for different jobs (%lld ...)",
               n > 0 ? (long long)batch[0].event.job.id : -1);
    weft_bcast(s->world, cost, (size_t)n * sizeof *cost, 0);
    for (int i = 0; i < n; i++) batch[i].cost = cost[i];
    weft_arena_free(tmp);
}

static int in_order(const void *pa, const void *pb)
{
    const slot *a = pa, *b = pb;
    if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
    if (a->affinity != b->affinity) return a->affinity < b->affinity ? -1 : 1;
    if (a->cost > b->cost || a->cost < b->cost) return a->cost > b->cost ? -1 : 1;
    return a->event.job.id < b->event.job.id ? -1 : 1;
}

static int by_job(const void *pa, const void *pb)
{
    const weft_job_record *a = pa, *b = pb;
    return a->job.id < b->job.id ? -1 : 1;
}

static int slot_by_job(const void *pa, const void *pb)
{
    const slot *a = pa, *b = pb;
    return by_job(&a->event, &b->event);
}

/* Takes from the journal what is done. */
static weft_status find(weft_sched *s, slot *batch, int n)
{
    for (int i = 0; i < n && s->trace; i++)
        TRY(weft_trace_find(s->trace, &batch[i].event, &batch[i].done, s->mem));
    return WEFT_OK;
}

static void replay(weft_sched *s, const weft_job_record *e, int *reached)
{
    if (leads(s, e)) s->winner = *e;
    enter(s, e, NULL);
    s->replayed++;
    s->seconds += e->seconds;
    *reached = is_target(s, e);
}

/* Runs a batch, or takes its results from the journal. *reached: the target is met. */
static weft_status run_batch(weft_sched *s, slot *batch, int n, int *reached)
{
    agree_on(s, batch, n);
    qsort(batch, (size_t)n, sizeof *batch, in_order);
    TRY(find(s, batch, n));
    for (int i = 0; i < n && !*reached;) {
        if (batch[i].done) {
            replay(s, &batch[i++].event, reached);
            continue;
        }
        int count = 0;
        while (i + count < n && count < s->teams * s->each && !batch[i + count].done &&
               batch[i + count].wave == batch[i].wave)
            count++;
        TRY(run_jobs(s, batch + i, count, reached));
        i += count;
    }
    return WEFT_OK;
}

static weft_status search(weft_sched *s, slot *batch)
{
    int reached = 0;
    for (weft_asked answer = WEFT_WAIT; answer != WEFT_DONE && !reached;) {
        int n;
        answer = ask(s, batch, &n);
        TRY(run_batch(s, batch, n, &reached));
        if (reached) weft_log(WEFT_INFO, "the target %g is reached", s->target);
        qsort(batch, (size_t)n, sizeof *batch, slot_by_job);
        for (int i = 0; i < n && !reached; i++)
            s->tuner->tell(s->tuner_self, &batch[i].event.res);
        weft_cache_ended(s);
    }
    return WEFT_OK;
}

weft_status weft_sched_run(weft_sched *s)
{
    s->begun = weft_now();
    s->each = 1;
    weft_arena *tmp = weft_arena_new();
    const weft_status st = search(s, WEFT_NEW(tmp, slot, BATCH));
    weft_arena_free(tmp);
    weft_progress("%s", "");
    s->seconds += weft_now() - s->begun;
    if (s->n > 0) qsort(s->event, (size_t)s->n, sizeof *s->event, by_job);
    return st;
}
