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
#include "trust.h"

#include <math.h>
#include <string.h>

/* Failures in a row that count after a success; after each repeated job that worked twice
 * as many, up to a bound. */
enum { SPAN = 3, MOST_SPAN = 24 };

/* A message to the other leaders: the sender hands a job on, or is set aside. */
typedef struct notice {
    int64_t job; /* -1: set aside */
    int64_t team;
    weft_claimed turn;
} notice;

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

void weft_trust_begin(weft_sched *s)
{
    s->trust = WEFT_NEW(s->mem, weft_trust, 1);
    s->trust->span = SPAN;
}

void weft_trust_known(weft_sched *s, const weft_job_record *e)
{
    if (!s->task->probe || e->parent >= 0 || !isfinite(e->res.loss)) return;
    if (s->trust->works && e->seconds >= s->trust->example.seconds) return;
    s->trust->example = *e;
    s->trust->works = 1;
}

/* ---- whose turn it is ---- */

weft_claimed *weft_trust_turn(weft_sched *s, int64_t job)
{
    while (s->trust->nturn <= job) {
        s->trust->turn = weft_regrow(s->mem, s->trust->turn, sizeof *s->trust->turn,
                                     s->trust->nturn, &s->trust->roomturn);
        s->trust->turn[s->trust->nturn++] = (weft_claimed){0};
    }
    return &s->trust->turn[job];
}

static weft_flight *flight_of(const weft_sched *s, int64_t job)
{
    return weft_queue_flight(&s->queue, job);
}

/* It is this team's turn. */
static void take(weft_sched *s, int64_t job)
{
    weft_flight *f = flight_of(s, job);
    if (f) weft_flights_leave(&s->queue.flights, f);
    weft_trust_turn(s, job)->taken = 0;
    s->trust->handed = weft_regrow(s->mem, s->trust->handed, sizeof *s->trust->handed,
                                   s->trust->nhanded, &s->trust->roomhanded);
    s->trust->handed[s->trust->nhanded++] = job;
}

void weft_trust_took(weft_sched *s, int64_t job)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->trust->nhanded; i++)
        if (s->trust->handed[i] != job) s->trust->handed[n++] = s->trust->handed[i];
    s->trust->nhanded = n;
}

weft_flight *weft_trust_handed(weft_sched *s)
{
    for (int64_t i = 0; i < s->trust->nhanded; i++) {
        weft_flight *f = flight_of(s, s->trust->handed[i]);
        if (!f || f->known) continue;
        weft_trust_took(s, s->trust->handed[i]);
        return f;
    }
    return NULL;
}

int weft_trust_waits(const weft_sched *s)
{
    int open = 0;
    for (int i = 0; i < s->trust->ndoubted; i++) {
        const weft_flight *f = flight_of(s, s->trust->doubted[i]);
        open += f && !f->known;
    }
    return s->trust->aside || (!s->trust->works && open == DOUBTS);
}

static void tell(const weft_sched *s, int64_t job, weft_claimed turn)
{
    const notice n = {job, s->crew.group, turn};
    if (s->crew.peers) weft_peers_send(s->crew.peers, &n, sizeof n);
}

/* Gives the job to the next team. */
static void hand_on(weft_sched *s, int64_t job, int failed)
{
    weft_claimed *turn = weft_trust_turn(s, job);
    turn->hops++;
    turn->tries += failed;
    turn->taken = 1;
    tell(s, job, *turn);
    if (s->teams == 1) take(s, job);
}

/* A team is set aside, after failures that are recorded. Once all are, the run stops. */
static void count_aside(weft_sched *s, int failures)
{
    weft_trust *t = s->trust;
    t->naside++;
    t->unsure += failures;
    if (t->naside < s->teams) return;
    s->broken = weft_arena_text(
        s->mem,
        "programs fail here, also that of job %lld, which succeeded before; mend what they "
        "need (variables, modules, files) and go on with `weft resume %s%s`, %s",
        (long long)t->example.job.id, s->rundir ? s->rundir->path : "RUN.h5",
        t->unsure > 0 ? " --retry-failed" : "",
        t->unsure > 0 ? "because failures before were recorded"
                      : "for no failure of this start was recorded");
}

int weft_trust_notice(weft_sched *s, const weft_message *m)
{
    notice n;
    if (m->bytes != sizeof n) return 0;
    memcpy(&n, m->data, sizeof n);
    if (n.job < 0) {
        count_aside(s, n.turn.tries);
        return 1;
    }
    weft_claimed *turn = weft_trust_turn(s, n.job);
    if (n.turn.hops <= turn->hops) return 1; /* it came after that of a later team */
    *turn = n.turn;
    weft_flight *f = flight_of(s, n.job);
    if (f) weft_flights_leave(&s->queue.flights, f);
    if ((n.team + 1) % s->teams != s->crew.group) return 1;
    if (s->trust->aside)
        hand_on(s, n.job, 0);
    else
        take(s, n.job);
    return 1;
}

/* ---- a job has ended ---- */

static void warn(const weft_sched *s, const weft_job_record *e, const char *then)
{
    if (s->team->rank == 0)
        weft_log(WEFT_WARN, "job %lld, trial %lld failed: %s%s", (long long)e->job.id,
                 (long long)e->job.trial, e->res.why, then);
}

/* Notes that this team has failed at a job while none has succeeded. */
static void doubt(weft_sched *s, int64_t job)
{
    int at = 0;
    while (at < s->trust->ndoubted) {
        const weft_flight *f = flight_of(s, s->trust->doubted[at]);
        if (!f || f->known) break;
        at++;
    }
    if (at == DOUBTS) return; /* of jobs that were handed to it there may be more */
    s->trust->doubted[at] = job;
    if (at == s->trust->ndoubted) s->trust->ndoubted++;
}

static void set_aside(weft_sched *s)
{
    s->trust->aside = 1;
    count_aside(s, s->trust->streak);
    tell(s, -1, (weft_claimed){.tries = s->trust->streak});
    while (s->trust->nhanded > 0 && s->teams > 1) {
        const int64_t job = s->trust->handed[0];
        weft_trust_took(s, job);
        hand_on(s, job, 0);
    }
    if (s->crew.who)
        weft_log(
            WEFT_WARN,
            "this team is set aside: job %lld, which succeeded before, fails here, too",
            (long long)s->trust->example.job.id);
    if (s->crew.who && s->trust->streak > 0)
        weft_log(WEFT_WARN,
                 "its last %d failures before that were recorded; `weft resume %s "
                 "--retry-failed` repeats them",
                 s->trust->streak, s->rundir->path);
}

/* Repeats a job that succeeded. Collective over team. */
static weft_status probe(weft_sched *s, int *works)
{
    weft_activity_set("repeats a job that succeeded", s->trust->example.job.id, -1);
    TRY(s->task->probe(s->task_self, &s->trust->example.job, works));
    if (*works) {
        if (s->trust->span < MOST_SPAN) s->trust->span *= 2;
        s->trust->left = s->trust->span;
    } else {
        set_aside(s);
    }
    return WEFT_OK;
}

/* A program that no team finds is a wrong command line. Collective over team. */
static weft_status check_begun(const weft_sched *s, const weft_claimed *turn,
                               const weft_result *res)
{
    weft_status st = WEFT_OK;
    if (!turn->begun && !s->trust->works && s->team->rank == 0)
        st = weft_fail(WEFT_ECONF, "%s", res->why);
    return weft_agree(st, s->team);
}

weft_status weft_trust_ended(weft_sched *s, const weft_job_record *e, int *counts)
{
    weft_claimed *own = weft_trust_turn(s, e->job.id);
    own->begun |= e->res.failure == WEFT_CRASHED;
    const weft_claimed turn = *own;
    int retries = s->task->retries ? s->task->retries(s->task_self) : 0;
    *counts = 1;
    if (e->res.failure == WEFT_SUCCEEDED) {
        if (isfinite(e->res.loss)) {
            s->trust->left = s->trust->span;
            s->trust->streak = 0;
        }
        return WEFT_OK;
    }
    const char *then = "";
    if (turn.tries < retries) {
        *counts = 0;
        then = "; it is tried again";
    } else if (s->trust->works && s->trust->left == 0) {
        warn(s, e, "");
        then = NULL;
        TRY(probe(s, counts));
    } else if (!s->trust->works && turn.hops + 1 < s->teams) {
        *counts = 0;
        then = "; the next team tries it, because no job has succeeded yet";
        doubt(s, e->job.id);
    }
    if (then) warn(s, e, then);
    if (!*counts) {
        hand_on(s, e->job.id, 1);
        return WEFT_OK;
    }
    s->trust->left -= s->trust->left > 0;
    s->trust->streak++;
    return check_begun(s, &turn, &e->res);
}
