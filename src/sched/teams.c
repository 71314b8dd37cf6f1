/* The work of a team until the next result can be told: it receives the results of other
 * teams, claims a job that no team has claimed, does it, records its result, and sends it
 * to the others. A team waits for another only if the next result in virtual time is
 * missing. The ranks of a team act together: their leader, the first rank, tells them what
 * was received and claimed. */
#include "teams.h"
#include "cache.h"
#include "host/core.h"
#include "job.h"
#include "lend.h"
#include "progress.h"
#include "rundir/rundir.h"
#include "stop.h"
#include "trade.h"
#include "trust.h"
#include "weft/clock.h"
#include "weft/log.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define REST_SECONDS                                                                       \
    0.2                /* between two checks whether to stop while waiting for results     \
                        */
#define FIRST_NAP 2e-5 /* seconds */
#define LAST_NAP  1e-3

static int leads(const weft_sched *sched)
{
    return sched->team->rank == 0;
}

/* ---- begin and end ---- */

/* The first ticket after those of earlier sessions. */
static int64_t next_ticket(const weft_sched *sched)
{
    const weft_flights *flights = &sched->queue.flights;
    return flights->npast > 0 ? flights->past[flights->npast - 1] + 1 : 0;
}

/* Names the team in lines of the log. */
static void name_team(weft_sched *sched)
{
    char host[WEFT_PLACEMENT_TEXT] = "";
    if (sched->teams == 1 || !leads(sched)) return;
    gethostname(host, sizeof host - 1);
    sched->crew.who = weft_arena_text(sched->mem, "team %d on %s", sched->crew.group, host);
}

weft_status weft_teams_begin(weft_sched *sched)
{
    sched->crew.ticket = next_ticket(sched);
    sched->crew.group = weft_team_of(sched->world->size, sched->teams, sched->world->rank);
    weft_status st = sched->teams > 1 && leads(sched)
                         ? weft_rundir_join(sched->rundir, sched->crew.group)
                         : WEFT_OK;
    TRY(weft_agree(st, sched->world));
    weft_trust_begin(sched);
    name_team(sched);
    if (sched->rundir && leads(sched)) weft_rundir_search(sched->rundir);
    if (sched->teams == 1) return WEFT_OK;
    sched->crew.peers = weft_peers_join(sched->world, sched->teams, sched->mem);
    if (sched->crew.peers)
        sched->crew.claims = weft_claims_open(sched->crew.peers, sched->rundir->dir,
                                              next_ticket(sched), sched->mem);
    sched->crew.rested = 1;
    weft_times_move(sched->world, sched->team);
    return WEFT_OK;
}

/* The stop of all teams: this one may not have heard of all that the others have recorded,
 * nor have asked yet for all that earlier starts did. Collective over world. */
static weft_status tell_stop(weft_sched *sched)
{
    int64_t n = leads(sched) ? sched->crew.recorded : 0;
    weft_sum_i64(sched->world, &n, 1);
    return weft_stop_tell(sched, n + sched->rundir->ndone);
}

weft_status weft_teams_end(weft_sched *sched, weft_status st)
{
    if (sched->crew.peers) {
        weft_peers_leave(sched->crew.peers, st == WEFT_OK     ? WEFT_WHY_OVER
                                            : st == WEFT_STOP ? sched->why
                                                              : WEFT_WHY_FAILED);
        weft_claims_close(sched->crew.claims);
        sched->crew.peers = NULL; /* what is done from here on asks no other team */
        sched->crew.claims = NULL;
    }
    if (sched->rundir && leads(sched)) {
        if (st != WEFT_OK) weft_lend_save_all(sched);
        weft_status synced = weft_cache_stop(sched); /* its scoring may be stopped, too */
        if (st == WEFT_STOP && synced == WEFT_OK)
            synced = weft_rundir_lasted(sched->rundir,
                                        sched->before + weft_now() - sched->begun);
        if (st != WEFT_OK && synced == WEFT_OK) synced = weft_rundir_sync(sched->rundir, 1);
        weft_status over = weft_rundir_over(sched->rundir);
        if (synced != WEFT_OK || over != WEFT_OK) st = WEFT_EFILE;
        weft_rundir_leave(sched->rundir);
    }
    if (sched->teams > 1) weft_times_move(sched->team, sched->world);
    st = weft_agree(st, sched->world);
    if (st == WEFT_OK) weft_lend_save_winner(sched);
    return st == WEFT_STOP && sched->rundir ? tell_stop(sched) : st;
}

/* ---- results of other teams ---- */

void weft_teams_enter(weft_sched *sched, weft_flight *flight)
{
    weft_queue_known(sched, flight);
    weft_cache_known(sched, flight);
    weft_trust_known(sched, &flight->record);
    if (sched->crew.claims) weft_claim_drawn(sched->crew.claims, flight->record.ticket);
}

/* Enters a result from a message; one that is known already was computed twice, with the
 * same result. */
static void enter_result(weft_sched *sched, const weft_message *message)
{
    int64_t job;
    weft_check(weft_job_record_is(message->data, message->bytes, &job),
               "a message is no result");
    if (job >= sched->queue.asked) {
        weft_queue_keep(sched, job, message->data, message->bytes);
        return;
    }
    weft_flight *flight = weft_queue_flight(&sched->queue, job);
    if (!flight || flight->known) return;
    weft_check(weft_job_record_unpack(&flight->record, message->data, sched->mem),
               "the teams' tuners ask for different jobs (%lld)", (long long)job);
    weft_teams_enter(sched, flight);
    weft_show_job(sched, &flight->record);
}

/* Notes that another team has claimed a job, which may not be asked for here yet. */
static void enter_claim(weft_sched *sched, int64_t job)
{
    weft_claimed *turn = weft_trust_turn(sched, job);
    if (turn->hops > 0) return; /* it was handed on since */
    turn->taken = 1;
    weft_flight *flight = weft_queue_flight(&sched->queue, job);
    if (flight) weft_flights_leave(&sched->queue.flights, flight);
}

/* A message is a result, the number of a job that its sender has claimed, or about
 * trust. */
static void enter(weft_sched *sched, const weft_message *message)
{
    int64_t job;
    if (message->bytes == sizeof job) {
        memcpy(&job, message->data, sizeof job);
        enter_claim(sched, job);
    } else if (!weft_trust_notice(sched, message) && !weft_lend_notice(sched, message)) {
        enter_result(sched, message);
    }
}

/* Enters what has arrived. Collective over team. */
static void receive_all(weft_sched *sched)
{
    if (sched->teams == 1) return;
    weft_arena *tmp = weft_arena_new();
    for (;;) {
        weft_message message = {0};
        int there = leads(sched) && weft_peers_receive(sched->crew.peers, &message, tmp);
        weft_bcast(sched->team, &there, sizeof there, 0);
        if (!there) break;
        weft_bcast(sched->team, &message.bytes, sizeof message.bytes, 0);
        if (!leads(sched)) message.data = WEFT_NEW(tmp, char, message.bytes);
        weft_bcast(sched->team, message.data, message.bytes, 0);
        enter(sched, &message);
        weft_arena_reset(tmp, 0);
    }
    weft_arena_free(tmp);
}

/* Waits for a result, up to REST_SECONDS. Collective over team. */
static void wait_for_result(weft_sched *sched)
{
    double start = weft_now();
    double nap = FIRST_NAP;
    weft_check(!sched->crew.peers || !weft_peers_alone(sched->crew.peers),
               "the teams' tuners ask for different jobs: no result arrived for %lld jobs "
               "in flight",
               (long long)sched->queue.flights.ends.n);
    weft_activity_set("waits for a result of another team", -1, -1);
    sched->crew.rested = 1;
    if (!(sched->crew.since > 0)) sched->crew.since = start;
    weft_times_close(sched->team);
    while (sched->crew.peers && !weft_peers_here(sched->crew.peers) &&
           weft_now() - start < REST_SECONDS) {
        weft_nap(nap);
        nap = fmin(1.5 * nap, LAST_NAP);
    }
    weft_times_wait(sched->team);
    weft_sleep(sched->team);
}

/* ---- jobs ---- */

/* 1 if this team now has the claim on a job. Where claims are files the others are told, so
 * that they do not try the same job. */
static int claim_job(weft_sched *sched, int64_t job)
{
    if (!sched->crew.claims) return 1;
    if (!weft_claim(sched->crew.claims, job)) return 0;
    if (weft_claims_by_file(sched->crew.claims))
        weft_peers_send(sched->crew.peers, &job, sizeof job);
    return 1;
}

/* 1: the team has had nothing to do for a while, so that it may ask another one for a
 * state, of which it awaits none. */
static int may_ask(weft_sched *sched)
{
    return sched->crew.since > 0 && weft_now() - sched->crew.since >= REST_SECONDS &&
           !weft_lend_waits(sched);
}

/* Claims the job that this team is to do next; NULL: all are claimed. Teams that waited, at
 * the start all, are free at the same moment, and so begin at different jobs. Called by the
 * leader, or by all ranks if there is one team. */
static weft_flight *claim(weft_sched *sched)
{
    weft_flight *handed = weft_trust_handed(sched);
    if (handed) return handed;
    weft_flight *came = sched->crew.peers ? weft_lend_came(sched) : NULL;
    if (came) return came;
    if (weft_trust_waits(sched)) return NULL;
    int64_t skip =
        sched->crew.claims && sched->crew.rested && weft_claims_by_file(sched->crew.claims)
            ? sched->crew.group
            : 0;
    weft_flights *flights = &sched->queue.flights;
    weft_flight *flight = weft_flights_take(flights, skip);
    for (; flight; flight = weft_flights_take(flights, skip)) {
        if (flight->near > 0 && skip > 0) { /* first what nobody has to be asked for */
            weft_flights_queue(flights, flight);
            skip = 0;
        } else if (flight->near > 0 && !may_ask(sched)) {
            weft_flights_queue(flights, flight);
            return NULL;
        } else if (claim_job(sched, flight->record.job.id)) {
            break;
        }
    }
    if (!flight) return NULL;
    sched->crew.rested = 0;
    sched->crew.since = 0;
    if (flight->near <= 0) return flight;
    weft_lend_want(sched, flight);
    return NULL;
}

/* The same for all ranks of a team if there are several teams. Collective over team. */
static weft_flight *claim_for_team(weft_sched *sched)
{
    weft_flight *flight = leads(sched) ? claim(sched) : NULL;
    if (sched->team->size == 1) return flight;
    int64_t id = flight ? flight->record.job.id : -1;
    weft_bcast(sched->team, &id, sizeof id, 0);
    if (leads(sched) || id < 0) return flight;
    flight = weft_queue_flight(&sched->queue, id);
    if (flight) weft_flights_took(&sched->queue.flights, flight);
    weft_trust_took(sched, id);
    return flight;
}

/* Chooses the team's next job, NULL if there is none, and checks that the tuners of all its
 * ranks asked for the same job. Collective over team. WEFT_STOP. */
static weft_status choose(weft_sched *sched, weft_flight **flight)
{
    *flight = sched->teams > 1 ? claim_for_team(sched) : claim(sched);
    /* a hash that a double holds exactly */
    double mark = *flight ? (double)(weft_job_hash(&(*flight)->record.job) >> 12) : 0;
    double v[3] = {weft_stop_seen(sched), mark, -mark};
    weft_max_f64(sched->team, v, 3);
    weft_check(v[1] + v[2] >= 0 && v[1] + v[2] <= 0,
               "the ranks' tuners ask for different jobs (%lld)",
               *flight ? (long long)(*flight)->record.job.id : -1);
    if (v[0] > WEFT_WHY_OVER) return weft_stop_now(sched, (int)v[0], 0, 0);
    if (v[0] > 0) *flight = NULL; /* the other teams have finished the search without it */
    weft_check(*flight || sched->teams > 1, "no job is left of %lld in flight",
               (long long)sched->queue.flights.ends.n);
    return WEFT_OK;
}

/* Records a result, then sends it, so that no team acts on a result that a kill could
 * remove. With clock = wall it must also survive a crash of the node, because a repeated
 * job would get another position in the order. Called by a leader. */
static weft_status publish(weft_sched *sched, const weft_job_record *record)
{
    if (!sched->rundir) return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
    size_t bytes;
    const void *packed = weft_job_record_pack(record, &bytes, tmp);
    weft_status st = weft_rundir_add(sched->rundir, record, packed, bytes);
    if (st == WEFT_OK) sched->crew.recorded++;
    if (st == WEFT_OK && sched->crew.peers && sched->wall)
        st = weft_rundir_sync(sched->rundir, 1);
    if (st == WEFT_OK && sched->crew.peers)
        weft_peers_send(sched->crew.peers, packed, bytes);
    if (st == WEFT_OK) st = weft_rundir_sync(sched->rundir, 0);
    weft_arena_free(tmp);
    return st;
}

/* Draws the ticket of a result, its position in the order of clock = wall. Collective over
 * team. */
static int64_t draw_ticket(weft_sched *sched)
{
    if (!sched->wall) return -1;
    if (sched->crew.claims) sched->crew.ticket = weft_claim_ticket(sched->crew.claims);
    weft_bcast(sched->team, &sched->crew.ticket, sizeof sched->crew.ticket, 0);
    return sched->crew.ticket++;
}

/* Does a job. Collective over team. */
static weft_status do_job(weft_sched *sched, weft_flight *flight)
{
    weft_own_state state;
    int counts = 0;
    weft_log_who(sched->crew.who);
    weft_status st = weft_job_run(sched, flight, weft_cache_load, &state);
    if (st == WEFT_OK) {
        st = weft_trust_ended(sched, &flight->record, &counts);
        if (st != WEFT_OK || !counts) weft_arena_free(state.mem);
    }
    weft_log_who(NULL);
    if (st == WEFT_STOP && sched->why == WEFT_WHY_OVER) return WEFT_OK; /* abandoned */
    TRY(st);
    if (!counts) return WEFT_OK;
    flight->record.team = sched->crew.group;
    flight->record.kept = weft_queue_needs(sched, &flight->record);
    TRY(weft_cache_keep(sched, flight, &state));
    flight->record.ticket = draw_ticket(sched);
    weft_teams_enter(sched, flight); /* sets record.end, which is part of the record */
    weft_times_close(sched->team);
    weft_status published = leads(sched) ? publish(sched, &flight->record) : WEFT_OK;
    weft_times_io(sched->team);
    TRY(weft_agree(published, sched->team));
    weft_show_job(sched, &flight->record);
    if (leads(sched)) weft_lend_bound(sched);
    return WEFT_OK;
}

weft_status weft_teams_work(weft_sched *sched, weft_flight **next)
{
    for (;;) {
        receive_all(sched);
        *next = weft_flights_next(&sched->queue.flights);
        if (*next) return WEFT_OK;
        weft_flight *flight;
        int elsewhere = sched->task->trade != NULL;
        TRY(elsewhere ? weft_trade(sched, &flight) : choose(sched, &flight));
        if (flight)
            TRY(do_job(sched, flight));
        else if (!elsewhere)
            wait_for_result(sched);
    }
}
