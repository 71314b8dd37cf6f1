/* The scheduler: simulated workers ask the tuner for jobs as long as it has any, teams of
 * ranks do them, and results are told in the order of virtual time (queue.c); after each
 * result the free workers ask again. Every rank does this with its own copy of the tuner
 * and gets the same jobs, not necessarily at the same real time: what a team's tuner is
 * told does not depend on the progress of other teams. A job with a record in a journal is
 * not run again, so that a resumed run continues exactly where it stopped. Nothing that a
 * task or tuner can observe depends on teams or journals.
 *
 * Until the next result can be told, a team receives the results of other teams, claims a
 * job that no team has claimed, does it, records its result, and sends it to the others. A
 * team waits for another only if the next result in virtual time is missing. The ranks of a
 * team act together: their leader, the first rank, tells them what was received and
 * claimed. */
#include "host/host.h"
#include "inner.h"
#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/par/par.h"
#include "weft/task/task.h"
#include "weft/tune/search.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define REST_SECONDS 0.2  /* between two looks whether to stop while waiting for results */
#define FIRST_NAP    2e-5 /* seconds */
#define LAST_NAP     1e-3

/* ---- section [run] of an input file ---- */

static const weft_opt run_opts[] = {
    WEFT_TEXT_OPT("task", weft_run_opts, task, "fmap", "what is tuned; `weft list tasks`"),
    WEFT_TEXT_OPT("tuner", weft_run_opts, tuner, "auto",
                  "schedule: which trial gets how much resource; `weft list tuners`. auto: "
                  "the task's own, or random where no option has a range"),
    WEFT_TEXT_OPT("sampler", weft_run_opts, sampler, "space",
                  "how the configurations of new trials are chosen; `weft list samplers`"),
    WEFT_TEXT_OPT("mixing", weft_run_opts, mixing, "none",
                  "mixture of configurations that the clients of a trial draw from; `weft "
                  "list mixings`"),
    WEFT_TEXT_OPT("data", weft_run_opts, data, "", "packed data set, made by `weft pack`",
                  .role = WEFT_PER_SESSION),
    WEFT_CHOICE_OPT(
        "scale", weft_run_opts, scale, "auto", "auto|none|standard|minmax|quantile",
        "columns of numbers before a model sees them: standard to mean 0 and "
        "deviation 1, minmax to 0 .. 1 of the training rows, quantile to the rank among "
        "them, 0 .. 1; auto: standard for networks whose columns differ much"),
    WEFT_CHOICE_OPT("class_weights", weft_run_opts, balanced, "none", "none|balanced",
                    "weights of classes in training, not in scores: none, or balanced: a "
                    "sample counts n / (K n_c), of n samples in K classes and n_c in its "
                    "own, times its own weight where it has one"),
    WEFT_TEXT_OPT(
        "start", weft_run_opts, start, "",
        "run file or exported winner, of the same network, with whose weights new "
        "trials begin; none: drawn from the seed",
        .names_file = 1),
    WEFT_TEXT_OPT("output", weft_run_opts, output, "run.h5",
                  "run file; -o on the command line"),
    WEFT_LONG_OPT("seed", weft_run_opts, seed, "1", 0, 9007199254740992.0,
                  "seed of all random numbers"),
    WEFT_REAL_OPT("memory", weft_run_opts, limits.memory, "2", 0.001, 1e6,
                  "GB (1e9 bytes) a rank may use for features and states",
                  .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("disk", weft_run_opts, limits.disk, "0", 0, 1e9,
                  "GB (1e9 bytes) on disk for states of waiting trials; 0: no limit. "
                  "Beyond it the worst are removed, and computed again, with the same "
                  "bits, if their trials continue",
                  .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("time_limit", weft_run_opts, limits.time_limit, "0", 0, 1e9,
                  "seconds after which the run stops, though not before a first round or "
                  "fit; `weft resume` continues it; 0: none",
                  .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("target", weft_run_opts, limits.target, "0", 0, 1e9,
                  "score, such as the error rate, that ends the search once a trial that "
                  "may win reaches it; 0: none"),
    WEFT_TEXT_OPT("objectives", weft_run_opts, objectives, "",
                  "what is minimised: loss, as the task has it, and numbers that it "
                  "measures or a program prints, -NAME where they are to be large: "
                  "`loss, bytes, -accuracy`. Trials are ranked by fronts; the winner, the "
                  "target and mixtures go by the loss. Nothing: the loss alone"),
    WEFT_TEXT_OPT("limits", weft_run_opts, within, "",
                  "`bytes <= 1e6, accuracy >= 0.9`: trials beyond rank behind all others, "
                  "by the sum of shares of limits that they exceed"),
    WEFT_REAL_OPT(
        "checkpoint", weft_run_opts, limits.checkpoint, "60", 0, 1e6,
        "seconds between checkpoints of a job made of rounds: what a kill can lose of it",
        .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("watchdog", weft_run_opts, limits.watchdog, "600", 0, 1e9,
                  "seconds without progress after which a warning names the ranks that the "
                  "others wait for, and what they do; 0: none",
                  .role = WEFT_PER_SESSION),
    WEFT_INT_OPT("teams", weft_run_opts, teams, "1", 1, 1e6,
                 "number of teams of ranks, which do jobs in parallel; the result does not "
                 "depend on it",
                 .role = WEFT_PER_SESSION),
    WEFT_LONG_OPT(
        "workers", weft_run_opts, workers, "8", 1, 1e9,
        "simulated workers, each with one job at a time. Their virtual time orders the "
        "results: the search depends on their number, not on ranks and teams. Schedules "
        "that wait for the results they need have as many as they ask for"),
    WEFT_CHOICE_OPT("clock", weft_run_opts, clock, "virtual", "virtual|wall",
                    "virtual: results are told in the order of virtual time, the same on "
                    "any ranks and teams. wall: in the order in which they arrive, so that "
                    "no team waits; only a resume repeats the run"),
    WEFT_REAL_OPT("overhead", weft_run_opts, overhead, "0", 0, 1e6,
                  "virtual seconds that a worker needs for each job beside the job's own"),
    WEFT_BOOL_OPT("refit", weft_run_opts, refit, "no",
                  "train the winner once more, on the train and valid parts together, "
                  "before it is tested and kept"),
    WEFT_BOOL_OPT("test", weft_run_opts, test, "yes",
                  "score the winner on the test part, once, at the end"),
    {0},
};

const weft_kind weft_run_kind = WEFT_KIND("run", weft_run_opts, run_opts,
                                          "a run: what is tuned, how, and on which data");

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

static void name_team(weft_sched *sched)
{
    char host[WEFT_PLACEMENT_TEXT] = "";
    if (sched->teams == 1 || !leads(sched)) return;
    gethostname(host, sizeof host - 1);
    sched->crew.who = weft_arena_text(sched->mem, "team %d on %s", sched->crew.group, host);
}

/* Connects the teams and opens their journals. Collective over world. */
static weft_status begin_teams(weft_sched *sched)
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
    return weft_stop_tell(sched, n + sched->rundir->past.done);
}

weft_status weft_teams_end(weft_sched *sched, weft_status st)
{
    if (sched->crew.peers) {
        weft_peers_leave(sched->crew.peers, st == WEFT_OK     ? WEFT_WHY_OVER
                                            : st == WEFT_STOP ? sched->session.why
                                                              : WEFT_WHY_FAILED);
        weft_claims_close(sched->crew.claims);
        sched->crew.peers = NULL; /* what is done from here on asks no other team */
        sched->crew.claims = NULL;
    }
    if (sched->rundir && leads(sched)) {
        if (st != WEFT_OK) weft_lend_save_all(sched);
        weft_status synced = weft_cache_stop(sched); /* its scoring may be stopped, too */
        if (st == WEFT_STOP && synced == WEFT_OK)
            synced = weft_rundir_lasted(sched->rundir, sched->session.before + weft_now() -
                                                           sched->session.begun);
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

/* Enters a result, of this or another team, which is now known. */
static void enter_known(weft_sched *sched, weft_flight *flight)
{
    weft_queue_known(sched, flight);
    weft_cache_known(sched, flight);
    weft_trust_known(sched, &flight->record);
    if (sched->crew.claims) weft_claim_drawn(sched->crew.claims, flight->record.ticket);
}

static void enter_packed(weft_sched *sched, weft_flight *flight, const void *packed)
{
    weft_check(weft_job_record_unpack(&flight->record, packed, sched->mem),
               "the teams' tuners ask for different jobs (%lld)",
               (long long)flight->record.job.id);
    enter_known(sched, flight);
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
    enter_packed(sched, flight, message->data);
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

static void enter_message(weft_sched *sched, const weft_message *message)
{
    weft_notice notice;
    if (message->bytes != sizeof notice) {
        enter_result(sched, message);
        return;
    }
    memcpy(&notice, message->data, sizeof notice);
    if (notice.what == WEFT_CLAIMED)
        enter_claim(sched, notice.job);
    else if (notice.what <= WEFT_ASIDE)
        weft_trust_notice(sched, &notice);
    else
        weft_lend_notice(sched, &notice);
}

/* Enters what has arrived. Collective over team. */
static void receive_all(weft_sched *sched)
{
    if (sched->teams == 1) return;
    WEFT_SCRATCH(tmp);
    for (;;) {
        weft_message message = {0};
        int there = leads(sched) && weft_peers_receive(sched->crew.peers, &message, tmp);
        weft_bcast(sched->team, &there, sizeof there, 0);
        if (!there) break;
        weft_bcast(sched->team, &message.bytes, sizeof message.bytes, 0);
        if (!leads(sched)) message.data = WEFT_NEW(tmp, char, message.bytes);
        weft_bcast(sched->team, message.data, message.bytes, 0);
        enter_message(sched, &message);
        weft_arena_reset(tmp, 0);
    }
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
    sched->crew.tries++;
    if (!weft_claim(sched->crew.claims, job)) return 0;
    if (weft_claims_by_file(sched->crew.claims))
        weft_notice_send(sched, (weft_notice){.what = WEFT_CLAIMED, .job = job});
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
static weft_flight *claim_next(weft_sched *sched)
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
    weft_flight *flight = leads(sched) ? claim_next(sched) : NULL;
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
static weft_status choose_job(weft_sched *sched, weft_flight **flight)
{
    *flight = sched->teams > 1 ? claim_for_team(sched) : claim_next(sched);
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

/* ---- jobs that are done elsewhere ---- */

/* The search hands them over one by one, to as many as ask, and goes on with whichever
 * comes back. All else, the order in which results are told, journal, states and resume, is
 * as with jobs that are done here; a job that was handed over and has not come back is one
 * that was not done. */
static weft_offer offer_of(const weft_sched *sched, const weft_flight *next)
{
    weft_offer offer = {.parent = -1,
                        .best = sched->queue.n > 0 ? &sched->queue.winner : NULL};
    if (!next) return offer;
    offer.job = &next->record.job;
    offer.before = next->before;
    if (next->parent) offer.parent = next->parent->id.trial;
    return offer;
}

/* Offers the next job to those who do them, and sets *flight to a job whose result they
 * have; NULL: to none yet, after at most a moment. WEFT_STOP. */
static weft_status trade_jobs(weft_sched *sched, weft_flight **flight)
{
    *flight = NULL;
    int why = weft_stop_seen(sched);
    if (why > 0) return weft_stop_now(sched, why, 0, 0);
    weft_flight *next = weft_flights_first(&sched->queue.flights);
    weft_offer offer = offer_of(sched, next);
    int64_t job = -1;
    weft_activity_set("waits for those who do the jobs", -1, -1);
    weft_times_close(sched->team);
    weft_status st = sched->task->remote.trade(sched->task_self, &offer, &job);
    weft_times_wait(sched->team);
    if (st == WEFT_STOP) return weft_stop_now(sched, WEFT_WHY_LEFT, 0, 0);
    TRY(st);
    if (next && job == next->record.job.id) {
        weft_flights_took(&sched->queue.flights, next);
        next->given = weft_now();
    } else {
        *flight = weft_queue_flight(&sched->queue, job);
    }
    return WEFT_OK;
}

static weft_status end_trade(weft_sched *sched)
{
    if (!sched->task->remote.trade) return WEFT_OK;
    weft_offer offer = offer_of(sched, NULL);
    int64_t job;
    offer.over = 1;
    offer.n = sched->queue.n;
    offer.record = sched->queue.record;
    offer.goals = sched->goals;
    return sched->task->remote.trade(sched->task_self, &offer, &job);
}

/* ---- doing a job ---- */

/* Records a result, then sends it, so that no team acts on a result that a kill could
 * remove. With clock = wall it must also survive a crash of the node, because a repeated
 * job would get another position in the order. Called by a leader. */
static weft_status publish(weft_sched *sched, const weft_job_record *record)
{
    if (!sched->rundir) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    size_t bytes;
    const void *packed = weft_job_record_pack(record, &bytes, tmp);
    weft_status st = weft_rundir_add(sched->rundir, record, packed, bytes);
    if (st == WEFT_OK) sched->crew.recorded++;
    if (st == WEFT_OK && sched->crew.peers && sched->wall)
        st = weft_rundir_sync(sched->rundir, 1);
    if (st == WEFT_OK && sched->crew.peers)
        weft_peers_send(sched->crew.peers, packed, bytes);
    if (st == WEFT_OK) st = weft_rundir_sync(sched->rundir, 0);
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
    if (st == WEFT_STOP && sched->session.why == WEFT_WHY_OVER)
        return WEFT_OK; /* abandoned */
    TRY(st);
    if (!counts) return WEFT_OK;
    flight->record.team = sched->crew.group;
    flight->record.kept = weft_queue_needs(sched, &flight->record);
    TRY(weft_cache_keep(sched, flight, &state));
    flight->record.ticket = draw_ticket(sched);
    enter_known(sched, flight); /* sets record.end, which is part of the record */
    weft_times_close(sched->team);
    weft_status published = leads(sched) ? publish(sched, &flight->record) : WEFT_OK;
    weft_times_io(sched->team);
    TRY(weft_agree(published, sched->team));
    weft_show_job(sched, &flight->record);
    if (leads(sched)) weft_lend_bound(sched);
    return WEFT_OK;
}

/* Receives results of other teams and does jobs until the result that is to be told next is
 * known: *next. Collective over team. WEFT_STOP, EFILE. */
static weft_status work_until(weft_sched *sched, weft_flight **next)
{
    for (;;) {
        receive_all(sched);
        *next = weft_flights_next(&sched->queue.flights);
        if (*next) return WEFT_OK;
        weft_flight *flight;
        int elsewhere = sched->task->remote.trade != NULL;
        TRY(elsewhere ? trade_jobs(sched, &flight) : choose_job(sched, &flight));
        if (flight)
            TRY(do_job(sched, flight));
        else if (!elsewhere)
            wait_for_result(sched);
    }
}

/* ---- the search ---- */

/* 1 if a job meets the target. Shared fits do not count, because their loss is a mean over
 * many maps, and their trials cannot win. */
static int is_target(const weft_sched *sched, const weft_job_record *record)
{
    return sched->limits.target > 0 && record->job.eligibility != WEFT_WINS_LAST &&
           record->res.loss <= sched->limits.target && !(record->res.aims.excess > 0);
}

/* Lower bound of the virtual seconds of a job, before which its trial had that resource. */
static double least_seconds(const weft_sched *sched, const weft_job *job, double before)
{
    if (!sched->task->timing.seconds) return fmax(job->resource, 0);
    return fmax(sched->task->timing.seconds(sched->task_self, job, before), 0);
}

/* Uses the known result of a job that was done already, if there is one. */
static weft_status find_result(weft_sched *sched, weft_flight *flight)
{
    if (sched->rundir)
        TRY(weft_rundir_find(sched->rundir, &flight->record, &flight->replayed,
                             sched->mem));
    const void *record = weft_queue_take(sched, flight->record.job.id);
    if (flight->replayed)
        enter_known(sched, flight);
    else if (record)
        enter_packed(sched, flight, record);
    return WEFT_OK;
}

/* Queues a job to be done. If the number of workers or a target bounds the jobs in flight,
 * jobs are done about in the order in which they were asked for, which is that in which
 * they are told; else the expensive ones first. */
static void queue_job(weft_sched *sched, weft_flight *flight)
{
    weft_cost cost = {.flops = 1};
    if (sched->limits.target <= 0 && sched->workers == 0)
        sched->task->cost(sched->task_self, &flight->record.job, &cost);
    flight->flops = cost.flops;
    const weft_claimed *turn = weft_trust_turn(sched, flight->record.job.id);
    if (turn->taken || turn->hops > 0) return;
    flight->near = weft_lend_near(sched, flight->parent);
    if (sched->task->affinity)
        flight->affinity = sched->task->affinity(sched->task_self, &flight->record.job);
    weft_flights_queue(&sched->queue.flights, flight);
}

/* A free worker starts a job, whose result may be known already. */
static weft_status start_job(weft_sched *sched, const weft_job *job)
{
    weft_cached *parent = weft_cache_pin(sched, job);
    double before = parent ? parent->resource : 0;
    weft_flight *flight = weft_queue_start(sched, job, least_seconds(sched, job, before));
    flight->parent = parent;
    flight->before = before;
    flight->record.parent = parent ? parent->job : -1;
    TRY(find_result(sched, flight));
    if (!flight->known) queue_job(sched, flight);
    return WEFT_OK;
}

/* Free workers ask for jobs until the tuner has to be told a result first. */
static weft_status ask_jobs(weft_sched *sched, weft_asked *answer)
{
    while (*answer != WEFT_DONE && weft_flights_idle(&sched->queue.flights)) {
        weft_job job = weft_job_new(0, 0, NULL);
        *answer = weft_search_ask(sched->search, &job);
        if (*answer != WEFT_JOB) break;
        job.id = sched->queue.asked;
        TRY(start_job(sched, &job));
    }
    weft_check(*answer != WEFT_WAIT || sched->queue.flights.ends.n > 0,
               "tuner %s waits for no job", sched->search->tuner->kind.name);
    return WEFT_OK;
}

static void tell_result(weft_sched *sched, weft_flight *flight)
{
    const weft_job_record *record = &flight->record;
    weft_cache_told(sched, flight, weft_queue_told(sched, record));
    weft_search_tell(sched->search, &record->res);
    weft_cache_ended(sched);
    weft_queue_leave(&sched->queue, flight);
}

static weft_status run_search(weft_sched *sched)
{
    weft_asked answer = WEFT_JOB;
    for (int reached = 0; !reached;) {
        TRY(ask_jobs(sched, &answer));
        weft_cache_bound(sched);
        if (sched->queue.flights.ends.n == 0) break;
        weft_flight *next = NULL;
        TRY(work_until(sched, &next));
        reached = is_target(sched, &next->record);
        tell_result(sched, next);
        if (reached) weft_log(WEFT_INFO, "the target %g is reached", sched->limits.target);
    }
    return end_trade(sched);
}

weft_status weft_sched_run(weft_sched *sched)
{
    weft_check(sched->rundir || sched->teams == 1, "teams without a run directory");
    sched->session.begun = weft_now();
    sched->session.before = sched->rundir ? weft_rundir_ended(sched->rundir) : 0;
    weft_queue_setup(sched);
    sched->own.cache = WEFT_NEW(sched->mem, weft_cache, 1);
    TRY(begin_teams(sched));
    weft_status st = weft_teams_end(sched, run_search(sched));
    weft_progress("%s", "");
    sched->session.seconds = sched->session.before + weft_now() - sched->session.begun;
    weft_queue_end(&sched->queue);
    return st;
}
