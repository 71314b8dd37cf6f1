/* A bound on the states on disk: a state that was dropped is recomputed to the same bits.
 * run.clock = wall: results that are told in real time are told in the same order again
 * from the journals.
 * RUN: np=1 np=2 np=4 */
#include "promoter.h"
#include "weft/base/files.h"

/* States of which two, or none, may lie on disk: what was let go of is made again. */
static void test_disk(int64_t workers, uint64_t whole, int64_t n)
{
    struct setting how = {.workers = workers, .path = at("b.h5"), .fresh = 2};
    int same = 1, steps = 0;
    int64_t jobs;
    for (how.teams = 1; how.teams <= world.size; how.teams *= 2)
        for (int states = 0; states < 3; states += 2) {
            how.disk = 1 + states * NSTATE * (double)sizeof(real);
            same &= run_out(&how, &jobs) == whole && jobs == n;
            steps = current.task.steps > steps ? current.task.steps : steps;
        }
    ok(same, "%lld workers: a bound on the states gives the same digest",
       (long long)workers);
    ok(world.size > 1 || workers != 3 || steps > n,
       "%lld workers: jobs of few are done again", (long long)workers);
    how.teams = world.size;
    weft_status st = run_until(&how, world.size > 1 ? 2 : 6);
    how.fresh = 0;
    how.teams = 1;
    ok(st == WEFT_STOP, "%lld workers: the run is stopped", (long long)workers);
    ok(run_out(&how, &jobs) == whole, "%lld workers: resumed, it has the same digest",
       (long long)workers);
}

/* The clock on the wall: a run stopped after `at` jobs and resumed by other teams is told
 * again from its journals alone, to the same digest, with nothing done twice. */
static void test_wall(int64_t workers)
{
    struct setting how = {.workers = workers, .path = at("w.h5"), .wall = 1};
    int whole = 1, same = 1, none = 1;
    for (int i = 1; i < 20; i += 3) {
        struct bench *bench = &current;
        int64_t jobs, again;
        how.fresh = 2;
        how.teams = i % 2 ? world.size : 1;
        if (run_until(&how, i) == WEFT_OK) continue; /* no rank had so many */
        how.fresh = 0;
        how.teams = i % 3 ? 1 : world.size > 1 ? 2 : 1;
        weft_status all = prepare(bench, &how);
        if (all == WEFT_OK) all = weft_sched_run(&bench->sched);
        uint64_t found = all == WEFT_OK ? run_digest(&bench->sched, bench->tuner.order) : 0;
        jobs = bench->sched.queue.n;
        end_run(&bench->sched, 0);
        whole &= found != 0 && jobs >= NTRIAL;
        how.teams = how.teams > 1 ? 1 : world.size;
        same &= run_out(&how, &again) == found && again == jobs;
        none &= current.task.steps == 0;
    }
    ok(whole, "%lld workers by the wall clock: the search ends", (long long)workers);
    ok(same && none, "%lld workers by the wall clock: journals repeat it, with no job done",
       (long long)workers);
}

/* A leader that has not heard of a result may still come across the job: a claim that were
 * gone would let it do the job again, and draw a ticket that nobody waits for any more. */
static void test_claims(void)
{
    struct setting how = {.workers = 10, .path = at("c.h5"), .wall = 1, .fresh = 2};
    struct bench *bench = &current;
    int there = 0;
    how.teams = world.size;
    setenv("WEFT_CLAIMS_BY_FILE", "1", 1);
    weft_status st = prepare(bench, &how);
    if (st == WEFT_OK) st = weft_sched_run(&bench->sched);
    unsetenv("WEFT_CLAIMS_BY_FILE");
    for (int64_t i = 0; i < bench->sched.queue.n; i++)
        there += access(printed("%s/" WEFT_CLAIM_NAME, bench->sched.rundir->dir,
                                (long long)bench->sched.queue.record[i].job.id),
                        F_OK) == 0;
    int64_t jobs = bench->sched.queue.n;
    end_run(&bench->sched, 0);
    ok(st == WEFT_OK && (world.size == 1 || there == jobs),
       "claims by file stay as long as the search");
}

static int64_t claims(const struct bench *bench)
{
    weft_arena *tmp = weft_arena_new();
    int64_t n = 0;
    for (long long job = 0; job < MAX_JOBS; job++)
        n += access(
                 weft_arena_text(tmp, "%s/" WEFT_CLAIM_NAME, bench->sched.rundir->dir, job),
                 F_OK) == 0;
    weft_arena_free(tmp);
    return n;
}

/* Teams end their jobs in turn: each after all others have claimed one, if there is one, so
 * that a team that is free finds the oldest jobs claimed and not done. */
static weft_status step_in_turn(void *self, const weft_job *job, int64_t unit,
                                weft_state *state, double *row, weft_result *res)
{
    double longest = 0.3, message = 0.02; /* seconds */
    double start = weft_now();
    int64_t last = claims(&current) + world.size - 1;
    while (claims(&current) < last && weft_now() - start < longest) weft_nap(1e-3);
    weft_nap(message);
    return toy_step(self, job, unit, state, row, res);
}

/* Not as many tries as there are teams, for each job. */
static void test_tries(void)
{
    struct setting how = {.workers = 16, .path = at("t.h5"), .fresh = 2};
    struct bench *bench = &current;
    weft_task task = toy_task;
    task.step = step_in_turn;
    how.teams = world.size;
    setenv("WEFT_CLAIMS_BY_FILE", "1", 1);
    weft_status st = prepare(bench, &how);
    bench->sched.task = &task;
    if (st == WEFT_OK) st = weft_sched_run(&bench->sched);
    unsetenv("WEFT_CLAIMS_BY_FILE");
    int64_t jobs = bench->sched.queue.n, tries = bench->sched.crew.tries;
    weft_sum_i64(&world, &tries, 1);
    end_run(&bench->sched, 0);
    ok(st == WEFT_OK && (world.size == 1 || tries >= jobs) && tries < 3 * jobs,
       "a leader seldom tries a job of another");
    note("%lld jobs, %lld tries of %d teams", (long long)jobs, (long long)tries,
         world.size);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_tries();
    static const int64_t workers[] = {1, 3, 10, 0};
    for (int i = 0; i < 4; i++) {
        struct setting how = {.workers = workers[i], .teams = 1};
        int64_t jobs;
        uint64_t whole = run_out(&how, &jobs);
        test_disk(workers[i], whole, jobs);
        test_wall(workers[i]);
    }
    test_claims();
    return tap_end();
}
