/* Saves states that programs have in memory: for other teams, before a stop, the winner's,
 * and where there are too many.
 *
 * A trial goes on on the team whose program has it. Another team that has nothing else to
 * do claims the job and tells that team, which saves the state between two of its own jobs
 * and answers; where it cannot, the claiming team repeats the jobs that led to the state.
 * Which team does what has no influence on results. */
#include "inner.h"

#include <stdlib.h>

#define SHARE                                                                              \
    0.1 /* of the states that are kept: so many more than the excess are saved             \
         */

/* A job that this team has claimed, and that waits for the state it begins with. */
struct waiting {
    int64_t job, parent;
    int came;
};

struct weft_lent {
    struct waiting *waiting; /* [n] */
    int64_t n, room;
};

static int is_other_teams(const weft_sched *sched, const weft_cached *cached)
{
    return sched->teams > 1 && cached->here && cached->kept == WEFT_HELD &&
           !cached->loose && cached->team != sched->crew.group;
}

int weft_lend_near(const weft_sched *sched, const weft_cached *parent)
{
    if (!parent || sched->teams == 1 || !weft_held_is_on(sched)) return 0;
    if (is_other_teams(sched, parent)) return 1;
    return parent->here && parent->team == sched->crew.group ? -1 : 0;
}

/* ---- saving ---- */

/* A state in memory, with its job. */
struct candidate {
    weft_cached *cached;
    const weft_job_record *record;
    int used; /* 1: a job in flight begins with it */
};

/* Those that this team's program may have; returns their number. */
static int64_t list_held(weft_sched *sched, struct candidate **list, weft_arena *mem)
{
    const weft_queue *queue = &sched->queue;
    const weft_cache *cache = sched->own.cache;
    weft_cached *const *newest = cache->newest;
    int64_t n = 0;
    *list = WEFT_NEW(mem, struct candidate, cache->nnewest + queue->flights.ends.n);
    for (int64_t i = 0; i < cache->nnewest; i++)
        (*list)[n++] = (struct candidate){
            newest[i], &queue->record[queue->row[newest[i]->job]], newest[i]->users > 0};
    for (int64_t i = 0; i < queue->flights.ends.n; i++) {
        const weft_flight *flight = weft_flights_at(&queue->flights, i);
        if (flight->own) (*list)[n++] = (struct candidate){flight->own, &flight->record, 0};
    }
    int64_t held = 0;
    for (int64_t i = 0; i < n; i++) {
        const weft_state_id *id = &(*list)[i].cached->id;
        if (sched->task->traits.holder->held(sched->task_self, id->trial, id->job, NULL))
            (*list)[held++] = (*list)[i];
    }
    return held;
}

void weft_lend_save_all(weft_sched *sched)
{
    struct candidate *list;
    if (!weft_held_is_on(sched)) return;
    WEFT_SCRATCH(tmp);
    int64_t n = list_held(sched, &list, tmp);
    for (int64_t i = 0; i < n; i++)
        if (!list[i].record->job.last) weft_cached_save(sched, list[i].cached);
    weft_cached *won = sched->own.cache->won;
    if (won) weft_cached_save(sched, won);
}

void weft_lend_save_winner(weft_sched *sched)
{
    weft_cached *won = sched->own.cache->won;
    if (!won || !weft_held_is_on(sched)) return;
    int leads = sched->team->rank == 0;
    double saved = leads ? weft_cached_save(sched, won) : 0;
    weft_max_f64(sched->world, &saved, 1);
    won->saved = saved > 0;
}

/* States that no job in flight begins with first, of these the one with the highest loss.
 */
static int worst_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->used != b->used) return a->used - b->used;
    weft_rank x = weft_result_rank(&a->record->res), y = weft_result_rank(&b->record->res);
    return weft_rank_compare(&y, &x);
}

void weft_lend_bound(weft_sched *sched)
{
    struct candidate *list;
    if (!weft_held_is_on(sched)) return;
    int64_t excess = sched->task->traits.holder->excess(sched->task_self);
    if (excess <= 0) return;
    WEFT_SCRATCH(tmp);
    int64_t n = list_held(sched, &list, tmp);
    excess += (int64_t)(SHARE * (double)n);
    if (n > 0) qsort(list, (size_t)n, sizeof *list, worst_first);
    for (int64_t i = 0; i < n && i < excess; i++) {
        weft_cached_save(sched, list[i].cached);
        weft_held_forget(sched, list[i].cached->id.trial, list[i].cached->id.job);
    }
}

/* ---- other teams ---- */

static weft_lent *lent_of(weft_sched *sched)
{
    if (!sched->own.lent) sched->own.lent = WEFT_NEW(sched->mem, weft_lent, 1);
    return sched->own.lent;
}

void weft_lend_want(weft_sched *sched, const weft_flight *flight)
{
    weft_lent *lent = lent_of(sched);
    WEFT_REGROW(sched->mem, lent->waiting, lent->n, &lent->room);
    lent->waiting[lent->n++] =
        (struct waiting){flight->record.job.id, flight->parent->job, 0};
    weft_notice_send(sched, (weft_notice){.what = WEFT_WANTED,
                                          .job = flight->parent->job,
                                          .team = flight->parent->team});
}

int weft_lend_waits(weft_sched *sched)
{
    return lent_of(sched)->n > 0;
}

weft_flight *weft_lend_came(weft_sched *sched)
{
    weft_lent *lent = lent_of(sched);
    for (int64_t i = 0; i < lent->n; i++) {
        if (!lent->waiting[i].came) continue;
        weft_flight *flight = weft_queue_flight(&sched->queue, lent->waiting[i].job);
        lent->waiting[i] = lent->waiting[--lent->n];
        return flight;
    }
    return NULL;
}

/* Between two of this team's jobs. */
static void give_state(weft_sched *sched, int64_t job)
{
    const weft_job_record *record;
    weft_cached *cached = weft_cache_find(sched, job, &record);
    int saved = cached && weft_cached_save(sched, cached);
    weft_notice_send(sched,
                     (weft_notice){.what = saved ? WEFT_GIVEN : WEFT_LOST, .job = job});
}

void weft_lend_notice(weft_sched *sched, const weft_notice *notice)
{
    const weft_job_record *record;
    if (notice->what == WEFT_WANTED) {
        if (notice->team == sched->crew.group && sched->team->rank == 0)
            give_state(sched, notice->job);
        return;
    }
    weft_lent *lent = lent_of(sched);
    for (int64_t i = 0; i < lent->n; i++)
        lent->waiting[i].came |= lent->waiting[i].parent == notice->job;
    weft_cached *cached = weft_cache_find(sched, notice->job, &record);
    if (!cached) return;
    cached->loose = 1;
    cached->saved |= notice->what == WEFT_GIVEN;
}
