/* Very many trials: a journal of 100,000 is resumed within seconds, an ask and a tell take
 * much less than 0.1 ms, states of paused trials take no memory, and told jobs little.
 * RUN: np=1 np=2 */
#include "sched_runs.h"
#include "scratch.h"

#include "machine.h"

enum { MANY = 100000, PAUSED = 40, LARGE = 500000, FEW = 10000, MORE = 60000, SHARE = 10 };

/* ---- a toy task ---- */

struct toy {
    int64_t n; /* numbers of a state */
    int steps;
};

static void toy_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)job;
    size->nx = ((const struct toy *)self)->n;
}

static void toy_start(const void *self, const weft_job *job, weft_state *state)
{
    const struct toy *toy = self;
    for (int64_t i = 0; i < toy->n; i++) state->x[i] = (real)(job->trial + i % 7);
}

static void toy_cost(const void *self, const weft_job *job, weft_cost *out)
{
    (void)self, (void)job;
    *out = (weft_cost){.flops = 1};
}

static weft_status toy_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    (void)unit, (void)row;
    struct toy *toy = self;
    state->x[0] += 1;
    res->loss = uniform_of(1, job->trial, job->index);
    res->cost = job->resource;
    toy->steps++;
    return WEFT_OK;
}

static const weft_task toy_task = {
    .kind = {.name = "toy", .size = sizeof(struct toy)},
    .nstate = toy_nstate,
    .winner = {.tensors = toy_tensors},
    .start = toy_start,
    .cost = toy_cost,
    .step = toy_step,
};

/* ---- a tuner: all trials one job, then, if they pause, the better half another ---- */

struct halver {
    int64_t n, next, told, kept;
    int pauses;
    double *loss; /* [n] */
    weft_mix mix;
};

static weft_asked halver_ask(void *self, weft_job *job)
{
    struct halver *halver = self;
    int64_t all = halver->pauses ? 2 * halver->n : halver->n;
    if (halver->next == halver->n && halver->told < halver->n) return WEFT_WAIT;
    while (halver->next >= halver->n && halver->next < all &&
           halver->loss[halver->next - halver->n] > 0.5)
        halver->next++;
    if (halver->next == all) return WEFT_DONE;
    int again = halver->next >= halver->n;
    *job = weft_job_new(halver->next++ % halver->n, 1, &halver->mix);
    job->index = again;
    job->last = again || !halver->pauses;
    job->eligibility = WEFT_WINS_LOSS;
    return WEFT_JOB;
}

static void halver_tell(void *self, const weft_result *res)
{
    struct halver *halver = self;
    halver->loss[res->trial] = res->loss;
    halver->told++;
}

static int64_t halver_jobs(const void *self)
{
    return ((const struct halver *)self)->n;
}

static const weft_tuner halver_tuner = {
    .kind = {.name = "halver", .size = sizeof(struct halver)},
    .shared = WEFT_SHARES_SPACE, /* own mixtures */
    .ask = halver_ask,
    .tell = halver_tell,
    .jobs = halver_jobs};

/* ---- a run ---- */

struct bench {
    weft_arena *mem;
    struct toy task;
    struct halver tuner;
    weft_search search;
    weft_sched sched;
    weft_rundir trace;
};

static weft_status prepare(struct bench *bench, weft_team *team, int64_t trials, int64_t n,
                           int pauses, const char *path, int fresh)
{
    *bench = (struct bench){.mem = weft_arena_new()};
    bench->task = (struct toy){.n = n};
    bench->tuner = (struct halver){.n = trials,
                                   .pauses = pauses,
                                   .loss = WEFT_NEW(bench->mem, double, trials),
                                   .mix = weft_mix_new(1, 1, bench->mem)};
    bench->search = (weft_search){.tuner = &halver_tuner, .tuner_self = &bench->tuner};
    bench->sched = (weft_sched){.world = team,
                                .team = team,
                                .teams = 1,
                                .task = &toy_task,
                                .task_self = &bench->task,
                                .search = &bench->search,
                                .limits.checkpoint = 60,
                                .workers = 100,
                                .mem = bench->mem};
    return open_trace(&bench->sched, path, fresh, &bench->trace);
}

/* Rank 0 does them all; then all ranks take them up. Seconds are of the CPU, for others may
 * use it too. */
static void test_resume(void)
{
    struct bench bench;
    weft_team alone = weft_team_alone();
    weft_status st = WEFT_OK;
    uint64_t whole = 0;
    if (world.rank == 0) {
        st = prepare(&bench, &alone, MANY, 4, 0, at("many.h5"), 1);
        if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
        whole = weft_job_record_digest(bench.sched.queue.record, bench.sched.queue.n);
        st = bench.sched.queue.n == MANY ? st : WEFT_EFILE;
        end_run(&bench.sched, 0);
    }
    weft_bcast(&world, &whole, sizeof whole, 0);
    ok(st == WEFT_OK, "a search of %d trials ends", MANY);
    double start = processor_seconds();
    st = prepare(&bench, &world, MANY, 4, 0, at("many.h5"), 0);
    double opened = processor_seconds();
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    double told = processor_seconds();
    ok(st == WEFT_OK && bench.task.steps == 0 && bench.sched.queue.replayed == MANY &&
           weft_job_record_digest(bench.sched.queue.record, bench.sched.queue.n) == whole,
       "it is resumed without a job being done, to the same digest");
    note("%.2f s to read the journal, %.2f s to ask and tell", opened - start,
         told - opened);
    ok(told - start < 5, "within 5 s");
    ok((told - opened) / MANY < 1e-4, "asking and telling takes less than 0.1 ms a job");
    end_run(&bench.sched, 1);
}

static void test_memory(void)
{
    struct bench bench;
    double state = LARGE * sizeof(real);
    double before = 0;
    weft_status st = prepare(&bench, &world, 1, LARGE, 1, at("one.h5"), 1);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    end_run(&bench.sched, 1);
    before = most_memory();
    if (st == WEFT_OK) st = prepare(&bench, &world, PAUSED, LARGE, 1, at("paused.h5"), 1);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && bench.sched.queue.n > PAUSED,
       "%d trials pause, the better ones go on", PAUSED);
    double grown = most_memory() - before;
    if (KEEPS_FREED)
        skip(1, "memory that is freed is kept");
    else
        ok(grown < 3 * state + 4e6, "their states of %.0f MB take %.1f MB of memory",
           PAUSED * state / 1e6, grown / 1e6);
    end_run(&bench.sched, 1);
}

/* Searches that many trials, each rank a team. Returns the most memory so far. */
static double searched(int64_t trials, double *seconds)
{
    struct bench bench;
    weft_team own;
    weft_status st = prepare(&bench, &world, trials, 4, 0, at("bytes.h5"), 1);
    weft_team_split(&world, world.size, &own);
    bench.sched.team = &own; /* freed with the run */
    bench.sched.teams = world.size;
    double start = processor_seconds();
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    *seconds = processor_seconds() - start;
    ok(st == WEFT_OK && bench.sched.queue.n == trials,
       "%lld trials are searched by %d teams", (long long)trials, world.size);
    end_run(&bench.sched, 1);
    return most_memory();
}

/* What each job that is told leaves on every rank: its record, its place in the tables. */
static void test_bytes(void)
{
    int64_t least = world.size > 1 ? FEW / SHARE : FEW, most = MORE * least / FEW;
    double few, many, before = searched(least, &few), after = searched(most, &many);
    double bytes = (after - before) / (double)(most - least);
    few /= (double)least;
    many /= (double)most;
    note("%.0f bytes a job; %.1f us a job of %lld, %.1f us of %lld", bytes, 1e6 * few,
         (long long)least, 1e6 * many, (long long)most);
    /* Of two teams one may be far ahead, and its results wait in the other's memory. */
    if (KEEPS_FREED)
        skip(1, "memory that is freed is kept");
    else if (world.size == 1)
        ok(bytes < 1000, "a job that is told takes %.0f bytes", bytes);
    ok(many < 3 * few + 2e-5, "and as long as one of few");
}

MAIN(scratch, test_memory, test_bytes, test_resume)
