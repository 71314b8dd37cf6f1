/* The work of a team until the next result can be told: it receives the results of other
 * teams, claims a job that no team has claimed, does it, records its result, and sends it
 * to the others. A team waits for another only if the next result in virtual time is
 * missing. The ranks of a team act together: their leader, the first rank, tells them what
 * was received and claimed. */
#include "teams.h"
#include "cache.h"
#include "host/core.h"
#include "job.h"
#include "progress.h"
#include "rundir/journals.h"
#include "rundir/state.h"
#include "rundir/times.h"
#include "stop.h"
#include "trust.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define REST_SECONDS                                                                       \
    0.2                /* between two checks whether to stop while waiting for results     \
                        */
#define FIRST_NAP 2e-5 /* seconds */
#define LAST_NAP  1e-3

static int leads(const weft_sched *s)
{
    return s->team->rank == 0;
}

/* ---- begin and end ---- */

/* The first ticket after those of earlier sessions. */
static int64_t next_ticket(const weft_sched *s)
{
    const weft_flights *q = &s->queue.flights;
    return q->npast > 0 ? q->past[q->npast - 1] + 1 : 0;
}

/* Names the team in lines of the log. */
static void name_team(weft_sched *s)
{
    char host[WEFT_PLACEMENT_TEXT] = "";
    if (s->teams == 1 || !leads(s)) return;
    gethostname(host, sizeof host - 1);
    s->crew.who = weft_arena_text(s->mem, "team %d on %s", s->crew.group, host);
}

weft_status weft_teams_begin(weft_sched *s)
{
    s->crew.ticket = next_ticket(s);
    s->crew.group = weft_team_of(s->world->size, s->teams, s->world->rank);
    weft_status st =
        s->teams > 1 && leads(s) ? weft_rundir_join(s->rundir, s->crew.group) : WEFT_OK;
    TRY(weft_agree(st, s->world));
    weft_trust_begin(s);
    name_team(s);
    if (s->rundir && leads(s)) weft_rundir_search(s->rundir);
    if (s->teams == 1) return WEFT_OK;
    s->crew.peers = weft_peers_join(s->world, s->teams, s->mem);
    if (s->crew.peers)
        s->crew.claims =
            weft_claims_open(s->crew.peers, s->rundir->dir, next_ticket(s), s->mem);
    s->crew.rested = 1;
    weft_times_move(s->world, s->team);
    return WEFT_OK;
}

/* The stop of all teams: this one may not have heard of all that the others have recorded,
 * nor have asked yet for all that earlier starts did. Collective over world. */
static weft_status tell_stop(weft_sched *s)
{
    int64_t n = leads(s) ? s->crew.recorded : 0;
    weft_sum_i64(s->world, &n, 1);
    return weft_stop_tell(s, n + s->rundir->ndone);
}

weft_status weft_teams_end(weft_sched *s, weft_status st)
{
    if (s->crew.peers) {
        weft_peers_leave(s->crew.peers, st == WEFT_OK     ? WEFT_WHY_OVER
                                        : st == WEFT_STOP ? s->why
                                                          : WEFT_WHY_FAILED);
        weft_claims_close(s->crew.claims);
        s->crew.peers = NULL; /* what is done from here on asks no other team */
        s->crew.claims = NULL;
    }
    if (s->rundir && leads(s)) {
        weft_status synced = st == WEFT_OK ? WEFT_OK : weft_cache_stop(s);
        if (st == WEFT_STOP && synced == WEFT_OK)
            synced = weft_rundir_lasted(s->rundir, s->before + weft_now() - s->begun);
        if (st != WEFT_OK && synced == WEFT_OK) synced = weft_rundir_sync(s->rundir, 1);
        weft_status over = weft_rundir_over(s->rundir);
        if (synced != WEFT_OK || over != WEFT_OK) st = WEFT_EFILE;
        weft_rundir_leave(s->rundir);
    }
    if (s->teams > 1) weft_times_move(s->team, s->world);
    st = weft_agree(st, s->world);
    return st == WEFT_STOP && s->rundir ? tell_stop(s) : st;
}

/* ---- results of other teams ---- */

void weft_teams_enter(weft_sched *s, weft_flight *f)
{
    weft_queue_known(s, f);
    weft_cache_known(s, f);
    weft_trust_known(s, &f->record);
    if (s->crew.claims) weft_claim_drawn(s->crew.claims, f->record.ticket);
}

/* Enters a result from a message; one that is known already was computed twice, with the
 * same result. */
static void enter_result(weft_sched *s, const weft_message *m)
{
    int64_t job;
    weft_check(weft_job_record_is(m->data, m->bytes, &job), "a message is no result");
    if (job >= s->queue.asked) {
        weft_queue_keep(s, job, m->data, m->bytes);
        return;
    }
    weft_flight *f = weft_queue_flight(&s->queue, job);
    if (!f || f->known) return;
    weft_check(weft_job_record_unpack(&f->record, m->data, s->mem),
               "the teams' tuners ask for different jobs (%lld)", (long long)job);
    weft_teams_enter(s, f);
    weft_show_job(s, &f->record);
}

/* Notes that another team has claimed a job, which may not be asked for here yet. */
static void enter_claim(weft_sched *s, int64_t job)
{
    weft_claimed *turn = weft_trust_turn(s, job);
    if (turn->hops > 0) return; /* it was handed on since */
    turn->taken = 1;
    weft_flight *f = weft_queue_flight(&s->queue, job);
    if (f) weft_flights_leave(&s->queue.flights, f);
}

/* A message is a result, the number of a job that its sender has claimed, or about
 * trust. */
static void enter(weft_sched *s, const weft_message *m)
{
    int64_t job;
    if (m->bytes == sizeof job) {
        memcpy(&job, m->data, sizeof job);
        enter_claim(s, job);
    } else if (!weft_trust_notice(s, m)) {
        enter_result(s, m);
    }
}

/* Enters what has arrived. Collective over team. */
static void receive_all(weft_sched *s)
{
    if (s->teams == 1) return;
    weft_arena *tmp = weft_arena_new();
    for (;;) {
        weft_message m = {0};
        int there = leads(s) && weft_peers_receive(s->crew.peers, &m, tmp);
        weft_bcast(s->team, &there, sizeof there, 0);
        if (!there) break;
        weft_bcast(s->team, &m.bytes, sizeof m.bytes, 0);
        if (!leads(s)) m.data = WEFT_NEW(tmp, char, m.bytes);
        weft_bcast(s->team, m.data, m.bytes, 0);
        enter(s, &m);
        weft_arena_reset(tmp, 0);
    }
    weft_arena_free(tmp);
}

/* Waits for a result, up to REST_SECONDS. Collective over team. */
static void wait_for_result(weft_sched *s)
{
    double start = weft_now();
    double nap = FIRST_NAP;
    weft_check(!s->crew.peers || !weft_peers_alone(s->crew.peers),
               "the teams' tuners ask for different jobs: no result arrived for %lld jobs "
               "in flight",
               (long long)s->queue.flights.ends.n);
    weft_activity_set("waits for a result of another team", -1, -1);
    s->crew.rested = 1;
    weft_times_close(s->team);
    while (s->crew.peers && !weft_peers_here(s->crew.peers) &&
           weft_now() - start < REST_SECONDS) {
        weft_nap(nap);
        nap = fmin(1.5 * nap, LAST_NAP);
    }
    weft_times_wait(s->team);
    weft_sleep(s->team);
}

/* ---- jobs ---- */

/* 1 if this team now has the claim on a job. Where claims are files the others are told, so
 * that they do not try the same job. */
static int claim_job(weft_sched *s, int64_t job)
{
    if (!s->crew.claims) return 1;
    if (!weft_claim(s->crew.claims, job)) return 0;
    if (weft_claims_by_file(s->crew.claims))
        weft_peers_send(s->crew.peers, &job, sizeof job);
    return 1;
}

/* Claims the job that this team is to do next; NULL: all are claimed. Teams that waited, at
 * the start all, are free at the same moment, and so begin at different jobs. Called by the
 * leader, or by all ranks if there is one team. */
static weft_flight *claim(weft_sched *s)
{
    weft_flight *handed = weft_trust_handed(s);
    if (handed) return handed;
    if (weft_trust_waits(s)) return NULL;
    int64_t skip = s->crew.claims && s->crew.rested && weft_claims_by_file(s->crew.claims)
                       ? s->crew.group
                       : 0;
    weft_flight *f = weft_flights_take(&s->queue.flights, skip);
    while (f && !claim_job(s, f->record.job.id))
        f = weft_flights_take(&s->queue.flights, skip);
    if (f) s->crew.rested = 0;
    return f;
}

/* The same for all ranks of a team if there are several teams. Collective over team. */
static weft_flight *claim_for_team(weft_sched *s)
{
    weft_flight *f = leads(s) ? claim(s) : NULL;
    if (s->team->size == 1) return f;
    int64_t id = f ? f->record.job.id : -1;
    weft_bcast(s->team, &id, sizeof id, 0);
    if (leads(s) || id < 0) return f;
    f = weft_queue_flight(&s->queue, id);
    if (f) weft_flights_took(&s->queue.flights, f);
    weft_trust_took(s, id);
    return f;
}

/* Chooses the team's next job, NULL if there is none, and checks that the tuners of all its
 * ranks asked for the same job. Collective over team. WEFT_STOP. */
static weft_status choose(weft_sched *s, weft_flight **f)
{
    *f = s->teams > 1 ? claim_for_team(s) : claim(s);
    /* a hash that a double holds exactly */
    double mark = *f ? (double)(weft_job_hash(&(*f)->record.job) >> 12) : 0;
    double v[3] = {weft_stop_seen(s), mark, -mark};
    weft_max_f64(s->team, v, 3);
    weft_check(v[1] + v[2] >= 0 && v[1] + v[2] <= 0,
               "the ranks' tuners ask for different jobs (%lld)",
               *f ? (long long)(*f)->record.job.id : -1);
    if (v[0] > WEFT_WHY_OVER) return weft_stop_now(s, (int)v[0], 0, 0);
    if (v[0] > 0) *f = NULL; /* the other teams have finished the search without it */
    weft_check(*f || s->teams > 1, "no job is left of %lld in flight",
               (long long)s->queue.flights.ends.n);
    return WEFT_OK;
}

/* Records a result, then sends it, so that no team acts on a result that a kill could
 * remove. With clock = wall it must also survive a crash of the node, because a repeated
 * job would get another position in the order. Called by a leader. */
static weft_status publish(weft_sched *s, const weft_job_record *e)
{
    if (!s->rundir) return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
    size_t bytes;
    const void *packed = weft_job_record_pack(e, &bytes, tmp);
    weft_status st = weft_rundir_add(s->rundir, e, packed, bytes);
    if (st == WEFT_OK) s->crew.recorded++;
    if (st == WEFT_OK && s->crew.peers && s->wall) st = weft_rundir_sync(s->rundir, 1);
    if (st == WEFT_OK && s->crew.peers) weft_peers_send(s->crew.peers, packed, bytes);
    if (st == WEFT_OK) st = weft_rundir_sync(s->rundir, 0);
    weft_arena_free(tmp);
    return st;
}

/* Draws the ticket of a result, its position in the order of clock = wall. Collective over
 * team. */
static int64_t draw_ticket(weft_sched *s)
{
    if (!s->wall) return -1;
    if (s->crew.claims) s->crew.ticket = weft_claim_ticket(s->crew.claims);
    weft_bcast(s->team, &s->crew.ticket, sizeof s->crew.ticket, 0);
    return s->crew.ticket++;
}

/* Does a job. Collective over team. */
static weft_status do_job(weft_sched *s, weft_flight *f)
{
    weft_own_state state;
    int counts = 0;
    weft_log_who(s->crew.who);
    weft_status st = weft_job_run(s, f, weft_cache_load, &state);
    if (st == WEFT_OK) {
        st = weft_trust_ended(s, &f->record, &counts);
        if (st != WEFT_OK || !counts) weft_arena_free(state.mem);
    }
    weft_log_who(NULL);
    if (st == WEFT_STOP && s->why == WEFT_WHY_OVER) return WEFT_OK; /* abandoned */
    TRY(st);
    if (!counts) return WEFT_OK;
    f->record.team = s->crew.group;
    f->record.kept = weft_queue_needs(s, &f->record);
    TRY(weft_cache_keep(s, f, &state));
    f->record.ticket = draw_ticket(s);
    weft_teams_enter(s, f); /* sets record.end, which is part of the record */
    weft_times_close(s->team);
    weft_status published = leads(s) ? publish(s, &f->record) : WEFT_OK;
    weft_times_io(s->team);
    TRY(weft_agree(published, s->team));
    weft_show_job(s, &f->record);
    return WEFT_OK;
}

weft_status weft_teams_work(weft_sched *s, weft_flight **next)
{
    for (;;) {
        receive_all(s);
        *next = weft_flights_next(&s->queue.flights);
        if (*next) return WEFT_OK;
        weft_flight *f;
        TRY(choose(s, &f));
        if (f)
            TRY(do_job(s, f));
        else
            wait_for_result(s);
    }
}
