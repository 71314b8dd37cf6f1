/* Whether a job that failed has failed by itself, or because the place where it was done is
 * broken: a node, a variable, a module. A failure by itself is a result, which the tuner is
 * told. Of the other kind nothing is recorded, so that the search ends as if it had not
 * occurred.
 *
 * A failure counts on a team whose last jobs did not all fail. Else the team repeats the
 * shortest first job of a trial that has succeeded in the run: if it works, the failure
 * counts; if not, the team is set aside, and the next team does the job. Where all teams
 * are set aside the run stops. As long as no job of the run has succeeded, a failure counts
 * when all teams have failed at the job. Jobs go from team to team in a circle, so that
 * none is done by two at once. */
#include "inner.h"
#include "weft/base/base.h"

#include <math.h>

/* Failures in a row that count after a success; after each repeated job that worked twice
 * as many, up to a bound. */
enum { SPAN = 3, MOST_SPAN = 24 };

/* Jobs that a team fails at before it waits for one that succeeds. */
enum { DOUBTS = 3 };

struct weft_trust {
    int64_t left, span; /* failures that are still believed; how many are after a success */
    int streak, unsure; /* failures since the last success that counted; of these, those of
                           teams that are set aside */
    int works;          /* 1: a job of the run has succeeded: */
    weft_job_record example; /* the shortest one that began a trial */
    int aside, naside;       /* 1: this team is set aside; number of teams that are */
    weft_claimed *turn;      /* [nturn] by job */
    int64_t *handed;         /* [nhanded] jobs that are this team's turn */
    int64_t doubted[DOUBTS]; /* [ndoubted] jobs that it failed at while no job of the run
                                had succeeded */
    int64_t nturn, nhanded, roomturn, roomhanded;
    int ndoubted;
};

void weft_trust_begin(weft_sched *sched)
{
    sched->own.trust = WEFT_NEW(sched->mem, weft_trust, 1);
    sched->own.trust->span = SPAN;
}

void weft_trust_known(weft_sched *sched, const weft_job_record *record)
{
    weft_trust *trust = sched->own.trust;
    if (!sched->task->remote.probe || record->parent >= 0 || !isfinite(record->res.loss))
        return;
    if (trust->works && record->seconds >= trust->example.seconds) return;
    trust->example = *record;
    trust->works = 1;
}

/* ---- whose turn it is ---- */

weft_claimed *weft_trust_turn(weft_sched *sched, int64_t job)
{
    weft_trust *trust = sched->own.trust;
    while (trust->nturn <= job) {
        WEFT_REGROW(sched->mem, trust->turn, trust->nturn, &trust->roomturn);
        trust->turn[trust->nturn++] = (weft_claimed){0};
    }
    return &trust->turn[job];
}

static weft_flight *flight_of(const weft_sched *sched, int64_t job)
{
    return weft_queue_flight(&sched->queue, job);
}

static void take_turn(weft_sched *sched, int64_t job)
{
    weft_trust *trust = sched->own.trust;
    weft_flight *flight = flight_of(sched, job);
    if (flight) weft_flights_leave(&sched->queue.flights, flight);
    weft_trust_turn(sched, job)->taken = 0;
    WEFT_REGROW(sched->mem, trust->handed, trust->nhanded, &trust->roomhanded);
    trust->handed[trust->nhanded++] = job;
}

void weft_trust_took(weft_sched *sched, int64_t job)
{
    weft_trust *trust = sched->own.trust;
    int64_t n = 0;
    for (int64_t i = 0; i < trust->nhanded; i++)
        if (trust->handed[i] != job) trust->handed[n++] = trust->handed[i];
    trust->nhanded = n;
}

weft_flight *weft_trust_handed(weft_sched *sched)
{
    weft_trust *trust = sched->own.trust;
    for (int64_t i = 0; i < trust->nhanded; i++) {
        weft_flight *flight = flight_of(sched, trust->handed[i]);
        if (!flight || flight->known) continue;
        weft_trust_took(sched, trust->handed[i]);
        return flight;
    }
    return NULL;
}

int weft_trust_waits(const weft_sched *sched)
{
    weft_trust *trust = sched->own.trust;
    int open = 0;
    for (int i = 0; i < trust->ndoubted; i++) {
        const weft_flight *flight = flight_of(sched, trust->doubted[i]);
        open += flight && !flight->known;
    }
    return trust->aside || (!trust->works && open == DOUBTS);
}

static void hand_on(weft_sched *sched, int64_t job, int failed)
{
    weft_claimed *turn = weft_trust_turn(sched, job);
    turn->hops++;
    turn->tries += failed;
    turn->taken = 1;
    weft_notice_send(sched, (weft_notice){WEFT_HANDED, job, sched->crew.group, *turn});
    if (sched->teams == 1) take_turn(sched, job);
}

/* A team is set aside, after failures that are recorded. Once all are, the run stops. */
static void count_aside(weft_sched *sched, int failures)
{
    weft_trust *trust = sched->own.trust;
    trust->naside++;
    trust->unsure += failures;
    if (trust->naside < sched->teams) return;
    sched->session.broken = weft_arena_text(
        sched->mem,
        "programs fail here, also that of job %lld, which succeeded before; mend what they "
        "need (variables, modules, files) and go on with `weft resume %s%s`, %s",
        (long long)trust->example.job.id, sched->rundir ? sched->rundir->path : "RUN.h5",
        trust->unsure > 0 ? " --retry-failed" : "",
        trust->unsure > 0 ? "because failures before were recorded"
                          : "for no failure of this start was recorded");
}

void weft_trust_notice(weft_sched *sched, const weft_notice *notice)
{
    if (notice->what == WEFT_ASIDE) {
        count_aside(sched, notice->turn.tries);
        return;
    }
    weft_claimed *turn = weft_trust_turn(sched, notice->job);
    if (notice->turn.hops <= turn->hops) return; /* it came after that of a later team */
    *turn = notice->turn;
    weft_flight *flight = flight_of(sched, notice->job);
    if (flight) weft_flights_leave(&sched->queue.flights, flight);
    if ((notice->team + 1) % sched->teams != sched->crew.group) return;
    if (sched->own.trust->aside)
        hand_on(sched, notice->job, 0);
    else
        take_turn(sched, notice->job);
}

/* ---- a job has ended ---- */

static void warn_failed(const weft_sched *sched, const weft_job_record *record,
                        const char *then)
{
    if (sched->team->rank == 0)
        weft_log(WEFT_WARN, "job %lld, trial %lld failed: %s%s", (long long)record->job.id,
                 (long long)record->job.trial, record->res.why, then);
}

/* Notes that this team has failed at a job while none has succeeded. */
static void note_doubt(weft_sched *sched, int64_t job)
{
    weft_trust *trust = sched->own.trust;
    int at = 0;
    while (at < trust->ndoubted) {
        const weft_flight *flight = flight_of(sched, trust->doubted[at]);
        if (!flight || flight->known) break;
        at++;
    }
    if (at == DOUBTS) return; /* of jobs that were handed to it there may be more */
    trust->doubted[at] = job;
    if (at == trust->ndoubted) trust->ndoubted++;
}

static void set_aside(weft_sched *sched)
{
    weft_trust *trust = sched->own.trust;
    trust->aside = 1;
    count_aside(sched, trust->streak);
    weft_notice_send(sched, (weft_notice){.what = WEFT_ASIDE, .turn.tries = trust->streak});
    while (trust->nhanded > 0 && sched->teams > 1) {
        const int64_t job = trust->handed[0];
        weft_trust_took(sched, job);
        hand_on(sched, job, 0);
    }
    if (sched->crew.who)
        weft_log(
            WEFT_WARN,
            "this team is set aside: job %lld, which succeeded before, fails here, too",
            (long long)trust->example.job.id);
    if (sched->crew.who && trust->streak > 0)
        weft_log(WEFT_WARN,
                 "its last %d failures before that were recorded; `weft resume %s "
                 "--retry-failed` repeats them",
                 trust->streak, sched->rundir->path);
}

/* Repeats a job that succeeded. Collective over team. */
static weft_status probe_example(weft_sched *sched, int *works)
{
    weft_trust *trust = sched->own.trust;
    weft_activity_set("repeats a job that succeeded", trust->example.job.id, -1);
    TRY(sched->task->remote.probe(sched->task_self, &trust->example.job, works));
    if (*works) {
        if (trust->span < MOST_SPAN) trust->span *= 2;
        trust->left = trust->span;
    } else {
        set_aside(sched);
    }
    return WEFT_OK;
}

/* A program that no team finds is a wrong command line. Collective over team. */
static weft_status check_begun(const weft_sched *sched, const weft_claimed *turn,
                               const weft_result *res)
{
    weft_status st = WEFT_OK;
    if (!turn->begun && !sched->own.trust->works && sched->team->rank == 0)
        st = weft_fail(WEFT_ECONF, "%s", res->why);
    return weft_agree(st, sched->team);
}

weft_status weft_trust_ended(weft_sched *sched, const weft_job_record *record, int *counts)
{
    weft_trust *trust = sched->own.trust;
    weft_claimed *own = weft_trust_turn(sched, record->job.id);
    own->begun |= record->res.failure == WEFT_CRASHED;
    const weft_claimed turn = *own;
    int retries =
        sched->task->remote.retries ? sched->task->remote.retries(sched->task_self) : 0;
    *counts = 1;
    if (record->res.failure == WEFT_SUCCEEDED) {
        if (isfinite(record->res.loss)) {
            trust->left = trust->span;
            trust->streak = 0;
        }
        return WEFT_OK;
    }
    const char *then = "";
    if (turn.tries < retries) {
        *counts = 0;
        then = "; it is tried again";
    } else if (trust->works && trust->left == 0) {
        warn_failed(sched, record, "");
        then = NULL;
        TRY(probe_example(sched, counts));
    } else if (!trust->works && turn.hops + 1 < sched->teams) {
        *counts = 0;
        then = "; the next team tries it, because no job has succeeded yet";
        note_doubt(sched, record->job.id);
    }
    if (then) warn_failed(sched, record, then);
    if (!*counts) {
        hand_on(sched, record->job.id, 1);
        return WEFT_OK;
    }
    trust->left -= trust->left > 0;
    trust->streak++;
    return check_begun(sched, &turn, &record->res);
}
