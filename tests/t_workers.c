/* Workers in virtual time: a tuner that promotes and copies trials by the order of the
 * results, with jobs of very different durations. For each number of workers the jobs,
 * their states and the order of results are the same on any number of ranks and teams,
 * with any bound on the durations, and after a stop at any job. Tuners that depend on
 * anything else or break the contract are detected.
 * RUN: np=1 np=2 np=4 */
#include "promoter.h"

#include <setjmp.h>

/* ---- the order of events ---- */

/* Simulates the workers by a list of events from what the jobs brought, and compares. */
static int is_order_right(const struct bench *bench)
{
    const weft_sched *sched = &bench->sched;
    double free_at[MAX_JOBS] = {0};
    int right = 1;
    for (int64_t i = 0; i < sched->queue.n; i++) { /* in the order asked */
        const weft_job_record *record = &sched->queue.record[i];
        double took = record->res.cost + sched->overhead;
        right &=
            record->worker >= 0 && (sched->workers == 0 || record->worker < sched->workers);
        right &= record->start >= free_at[record->worker] &&
                 fabs(record->end - record->start - took) < 1e-9;
        free_at[record->worker] = record->end;
        if (i > 0) right &= record->start >= sched->queue.record[i - 1].start;
    }
    return right;
}

/* The task's loss of these trials is NaN (promoter.h). */
static int is_nan_infinite(const struct bench *bench)
{
    int n = 0, infinite = 1;
    for (int64_t i = 0; i < bench->sched.queue.n; i++) {
        const weft_job_record *record = &bench->sched.queue.record[i];
        if (record->job.trial % 7 != 3) continue;
        infinite &= record->res.loss > 0 && isinf(record->res.loss);
        n++;
    }
    return n > 0 && infinite;
}

static void test_order(int64_t workers)
{
    struct bench bench;
    struct setting how = {.workers = workers, .teams = 1, .overhead = 0.25};
    weft_status st = prepare(&bench, &how);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && is_order_right(&bench),
       "%lld workers have one job at a time, each as long as it costs", (long long)workers);
    ok(is_nan_infinite(&bench), "%lld workers: a loss that is NaN is recorded as infinite",
       (long long)workers);
    double last = 0;
    uint64_t order = 0;
    for (int64_t told = 0; told < bench.sched.queue.n; told++) { /* by (end, job) */
        const weft_job_record *next = NULL;
        for (int64_t i = 0; i < bench.sched.queue.n; i++) {
            const weft_job_record *record = &bench.sched.queue.record[i];
            if (told > 0 && record->end <= last) continue;
            if (!next || record->end < next->end) next = record;
        }
        if (!next) break;
        last = next->end;
        order = weft_hash(&next->job.id, sizeof next->job.id, order);
        order = weft_hash(&next->res.loss, sizeof next->res.loss, order);
    }
    ok(order == bench.tuner.order, "%lld workers: results are told as they end",
       (long long)workers);
    ok(bench.sched.queue.flights.now >= last && bench.sched.queue.flights.now <= last,
       "%lld workers: the search ends with the last of them", (long long)workers);
    end_run(&bench.sched, 0);
}

/* ---- the same digest ---- */

static void test_same(int64_t workers, uint64_t whole, int64_t n)
{
    struct setting how = {.workers = workers, .path = at("s.h5"), .fresh = 2};
    int same = 1;
    int64_t jobs;
    for (how.teams = 1; how.teams <= world.size; how.teams *= 2)
        for (how.bound = 0; how.bound < NBOUND; how.bound++)
            same &= run_out(&how, &jobs) == whole && jobs == n;
    ok(same, "%lld workers: any teams, any bound on durations give the same digest",
       (long long)workers);
}

/* Stopped at a job, and resumed by other teams with another bound. */
static void test_stop(int64_t workers, uint64_t whole, int64_t n)
{
    struct setting how = {.workers = workers, .path = at("r.h5")};
    int stopped = 1, same = 1;
    for (int i = 1; i < n; i++) {
        int64_t jobs;
        how.teams = i % 2 ? world.size : 1;
        how.bound = i % NBOUND;
        how.fresh = 2;
        weft_status st = run_until(&how, i);
        stopped &= st == WEFT_STOP || (how.teams > 1 && st == WEFT_OK); /* its last job */
        if (st == WEFT_OK) continue;
        how.fresh = 0;
        how.teams = i % 3 ? 1 : world.size > 1 ? 2 : 1;
        how.bound = (i + 1) % NBOUND;
        same &= run_out(&how, &jobs) == whole && jobs == n;
    }
    ok(stopped, "%lld workers: stopped at any job", (long long)workers);
    ok(same, "%lld workers: resumed, to the same digest", (long long)workers);
}

/* ---- a target ---- */

static void test_target(int64_t workers)
{
    struct setting how = {.workers = workers, .teams = 1, .target = 0.9};
    struct bench bench;
    weft_status st = prepare(&bench, &how);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    int met = 0, after = 0;
    for (int64_t i = 0; i < bench.sched.queue.n; i++) {
        met += bench.sched.queue.record[i].res.loss <= how.target;
        after += bench.sched.queue.record[i].end > bench.sched.queue.flights.now;
    }
    ok(st == WEFT_OK && met == 1 && after == 0 && bench.tuner.told == bench.sched.queue.n,
       "%lld workers: the tell that meets a target ends the search, the rest is abandoned",
       (long long)workers);
    uint64_t whole = run_digest(&bench.sched, bench.tuner.order);
    end_run(&bench.sched, 0);
    int same = 1;
    int64_t jobs;
    how.path = at("t.h5");
    how.fresh = 2;
    for (how.teams = 1; how.teams <= world.size; how.teams *= 2)
        for (how.bound = 0; how.bound < NBOUND; how.bound++)
            same &= run_out(&how, &jobs) == whole;
    ok(same, "%lld workers: whoever does the jobs", (long long)workers);
}

/* ---- mistakes ---- */

static jmp_buf death;

static void die(void)
{
    longjmp(death, 1);
}

/* 1 if the program ended; else *found is the digest. The teams that did not end are told.
 */
static int dies(const struct setting *how, uint64_t *found)
{
    int64_t jobs;
    weft_die_hook(die);
    if (setjmp(death)) {
        weft_status st = weft_teams_end(&current.sched, WEFT_EFILE);
        end_run(&current.sched, 0);
        return st != WEFT_OK;
    }
    *found = run_out(how, &jobs);
    return 0;
}

/* A run by one team, and one by two, or where there is one rank by one that was stopped. */
static void test_mistake(int mistake)
{
    struct setting how = {.workers = 3, .teams = 1, .mistake = mistake};
    uint64_t one = 0, other = 0;
    int caught = dies(&how, &one);
    how.path = at("m.h5");
    how.fresh = 2;
    if (!caught && world.size > 1) {
        how.teams = 2;
        caught = dies(&how, &other) || one != other;
    } else if (!caught) {
        caught = run_until(&how, 9) != WEFT_STOP;
        how.fresh = 0;
        int64_t jobs;
        if (!caught) caught = run_out(&how, &jobs) != one;
    }
    int none = mistake == NONE || (mistake == BY_TEAM && world.size == 1);
    ok(caught == !none, "%s is %s", mistakes[mistake], none ? "no mistake" : "caught");
}

/* A job ends at start + max(cost, seconds) + overhead, of a cost that is known. */
static void test_end(void)
{
    const double cost[] = {1, 3, INFINITY}, end[] = {2.5, 3.5, 2.5};
    weft_flights flights;
    weft_mix mix = weft_mix_new(1, 0, mem);
    weft_job job = weft_job_new(0, 1, &mix);
    weft_flights_setup(&flights, 3, 0.5, mem);
    for (int i = 0; i < 3; i++) {
        job.id = i;
        weft_flight *flight = weft_flights_start(&flights, &job, 2);
        flight->record.res.cost = cost[i];
        weft_flights_known(&flights, flight);
        is_near(flight->record.end, end[i], 0, "a job of cost %g ends at %g", cost[i],
                end[i]);
    }
    int64_t told[3];
    for (int i = 0; i < 3; i++) {
        weft_flight *next = weft_flights_next(&flights);
        told[i] = next->record.job.id;
        weft_flights_end(&flights, next);
    }
    ok(told[0] == 0 && told[1] == 2 && told[2] == 1,
       "of results of one time that of the earlier job is told first");
}

/* By the wall clock a job may end before one that was told earlier. */
static void test_wall_end(void)
{
    weft_flights flights;
    weft_flight *flight[2];
    weft_mix mix = weft_mix_new(1, 0, mem);
    weft_job job = weft_job_new(0, 1, &mix);
    weft_flights_setup(&flights, 2, 0, mem);
    flights.wall = 1;
    weft_flights_due(&flights);
    for (int i = 0; i < 2; i++) {
        job.id = i;
        flight[i] = weft_flights_start(&flights, &job, 0);
        flight[i]->record.ticket = i;
        flight[i]->record.began = i == 0 ? 5 : 1;
        flight[i]->record.seconds = 2;
        weft_flights_known(&flights, flight[i]);
    }
    for (int i = 0; i < 2 && weft_flights_next(&flights); i++)
        weft_flights_end(&flights, weft_flights_next(&flights));
    ok(flights.ends.n == 0, "results are told by their tickets");
    is_near(flights.now, 7, 0, "time goes on");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    static const int64_t workers[] = {1, 3, 10, 0};
    uint64_t found[4];
    for (int i = 0; i < 4; i++) {
        struct setting how = {.workers = workers[i], .teams = 1};
        int64_t jobs;
        found[i] = run_out(&how, &jobs);
        digest(found[i]);
        test_order(workers[i]);
        test_same(workers[i], found[i], jobs);
        test_stop(workers[i], found[i], jobs);
        test_target(workers[i]);
    }
    ok(found[0] != found[1] && found[1] != found[2] && found[2] != found[3],
       "another number of workers has another digest");
    for (int m = 0; m < NMISTAKE; m++) test_mistake(m);
    return TESTS(test_end, test_wall_end);
}
