/* Jobs of several rounds: stopped after any round, killed between checkpoints, with a
 * damaged checkpoint, or done by several teams at the same time, they end with the same
 * digest. The task is a toy whose state depends on all its rounds and whose mixture
 * changes. A unit may still end for a while after a stop.
 * RUN: np=1 np=2 np=3 np=4 */
#include "parts.h"
#include "sched_runs.h"
#include "scratch.h"
#include "task/parts.h"
#include "toy_axis.h"

#include <signal.h>

enum { NSTATE = 300, ROUNDS = 4, NEVER = -1, STEP = 2 };

/* ---- a toy task ---- */

struct toy {
    double gamma;
    weft_team *team;
    int rounds; /* done by this instance */
    int stop;   /* raise SIGTERM in this round */
    int die;    /* fail in this round, as a machine that is lost */
};

static const weft_kind toy_kind = WEFT_KIND("toy", struct toy, toy_opts, "a toy");

static void toy_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self;
    size->nx = NSTATE;
    size->naux = 1 + (job ? job->mix.k : 1); /* a sum, and one for each arm */
}

static void toy_start(const void *self, const weft_job *job, weft_state *state)
{
    (void)self;
    state->x[2] = (real)job->trial;
}

static void toy_cost(const void *self, const weft_job *job, weft_cost *out)
{
    (void)self;
    *out = (weft_cost){.flops = job->resource * (1 + (double)(job->id % 3))};
}

static int64_t toy_units(const void *self, const weft_job *job)
{
    (void)self;
    return job->resource > 0 ? ROUNDS * (int64_t)job->resource : 1;
}

enum { BEFORE, AFTER, FIRST };
static const weft_metric toy_metrics[] = {{"final", "loss", "loss", "loss"}, {0}},
                         toy_rows[] = {{"before", "loss", "loss", NULL},
                                       {"after", "loss", "loss", "loss"},
                                       {"first", "log-probability", "1", NULL},
                                       {0}};

static void fill(weft_result *res, double loss)
{
    res->loss = res->metric[0] = loss;
}

/* Each arm is seen by one rank; the loss is that of the mixture, and the mixture moves. */
static weft_status toy_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    struct toy *toy = self;
    if (toy->rounds == toy->die) return weft_fail(WEFT_EFILE, "the machine is lost");
    const weft_mix *mix = &job->mix;
    double grad[64] = {0}, loss = 0;
    for (int i = 0; i < mix->k; i++)
        if (i % toy->team->size == toy->team->rank) grad[i] = fabs(mix->conf[i] - 3);
    weft_sum_f64(toy->team, grad, (size_t)mix->k, 1000);
    for (int i = 0; i < mix->k; i++) loss += exp(res->logp[i]) * grad[i];
    weft_mix moved = *mix;
    moved.logp = res->logp;
    row[BEFORE] = loss + 1 / (1 + (double)state->x[0]);
    weft_mix_step(&moved, 0.1, grad);
    state->x[0] += 1;
    state->x[1] = (real)(0.5 * (double)state->x[1] + (double)job->id + (double)unit);
    state->x[3 + (int)state->x[0] % 200] = (real)loss;
    state->aux[0] += loss;
    for (int i = 0; i < mix->k; i++) {
        state->aux[1 + i] += grad[i];
        res->arm_count[i] += mix->logp[i] > -INFINITY;
        res->arm_loss[i] += grad[i] * state->aux[0];
    }
    row[AFTER] = loss;
    row[FIRST] = res->logp[0];
    if (unit == toy_units(self, job) - 1) fill(res, loss + 1 / (double)state->x[0]);
    if (toy->rounds++ == toy->stop) raise(SIGTERM);
    return WEFT_OK;
}

static const weft_task toy_task = {
    .kind = {.name = "toy", .size = sizeof(struct toy)},
    .traits = {.metrics = toy_metrics, .rows = toy_rows},
    .nstate = toy_nstate,
    .winner = {.tensors = toy_tensors},
    .start = toy_start,
    .cost = toy_cost,
    .units = toy_units,
    .step = toy_step,
};

/* ---- a run ---- */

struct bench {
    weft_arena *mem;
    weft_space space;
    weft_team own;
    struct toy task;
    weft_search search;
    weft_sched sched;
    weft_rundir trace;
};

/* How a run is made; path NULL: without a trace. */
struct setting {
    const weft_tuner *tuner;
    int teams;
    const char *path;
    int fresh;
    double checkpoint;
    double target;
};

static weft_status prepare(struct bench *bench, const struct setting *how)
{
    *bench = (struct bench){.mem = weft_arena_new()};
    weft_conf conf;
    weft_conf_init(&conf, bench->mem);
    TRY(weft_conf_text(&conf, "test", "[space]\nconfigs = 5\n[toy]\ngamma = 0 .. 10\n"));
    const weft_kind *kind = &toy_kind;
    TRY(weft_space_read(&bench->space, &conf, &kind, 1, 7, bench->mem));
    weft_team *team = team_of(&world, how->teams, &bench->own);
    bench->task = (struct toy){.team = team, .stop = NEVER, .die = NEVER};
    TRY(search_bind(&bench->search, how->tuner, &conf));
    TRY(weft_search_setup(&bench->search, &bench->space, 1, bench->mem));
    bench->sched = (weft_sched){.world = &world,
                                .team = team,
                                .teams = how->teams,
                                .task = &toy_task,
                                .task_self = &bench->task,
                                .search = &bench->search,
                                .limits.checkpoint = how->checkpoint,
                                .limits.target = how->target,
                                .mem = bench->mem};
    return open_trace(&bench->sched, how->path, how->fresh, &bench->trace);
}

/* From where it is to the end; 0 where that fails. *rounds: done now, by this rank. */
static uint64_t run_out(const struct setting *how, int *rounds)
{
    struct bench bench;
    weft_status st = prepare(&bench, how);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    uint64_t found = st == WEFT_OK ? sched_digest(&bench.sched) : 0;
    *rounds = bench.task.rounds;
    end_run(&bench.sched, st == WEFT_OK);
    return found;
}

/* Runs until the round `at` of this rank, where it dies or is asked to stop, which it does
 * a few rounds later. *rounds: done, by this rank. */
static weft_status run_until(const struct setting *how, int at, int dies, int *rounds)
{
    struct bench bench;
    weft_status st = prepare(&bench, how);
    *(dies ? &bench.task.die : &bench.task.stop) = at;
    st = run_prepared(st, &bench.sched);
    *rounds = bench.task.rounds;
    end_run(&bench.sched, 0);
    return st;
}

/* ---- tests ---- */

static void test_rows(void)
{
    struct bench bench;
    struct setting how = {.tuner = &weft_tuner_ws_sha, .teams = 1, .checkpoint = 60};
    weft_status st = prepare(&bench, &how);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && bench.sched.queue.n == 4,
       "five configurations are halved in four jobs");
    const weft_job_record *record = &bench.sched.queue.record[0];
    ok(record->nunit == ROUNDS, "a job has a row for each round");
    const double *end = record->row + (ROUNDS - 1) * record->ncolumn;
    ok(record->ncolumn == 3 && record->row[BEFORE] > end[BEFORE] &&
           record->spent[0].wall > 0,
       "with what the task and the scheduler tell of it");
    ok(memcmp(record->res.logp, record->logp + (ROUNDS - 1) * 5,
              5 * sizeof *record->logp) == 0 &&
           memcmp(record->res.logp, record->job.mix.logp, 5 * sizeof *record->logp) != 0,
       "the result has the mixture after the last one");
    is_near(bench.sched.queue.winner.res.resource, 4, 0,
            "the trial went on through all jobs");
    end_run(&bench.sched, 0);
}

static void test_stop(const weft_tuner *tuner, uint64_t whole, int all)
{
    struct setting how = {.tuner = tuner, .teams = 1, .path = at("s.h5"), .checkpoint = 60};
    int stopped = 1, same = 1, once = 1;
    for (int r = 0; r + ROUNDS < all; r++) {
        int before, rounds;
        how.fresh = 1;
        stopped &= run_until(&how, r, 0, &before) == WEFT_STOP && before <= r + ROUNDS;
        how.fresh = 0;
        same &= run_out(&how, &rounds) == whole;
        once &= before + rounds == all;
    }
    ok(stopped, "%s: a signal stops a job between rounds", tuner->kind.name);
    ok(same, "%s: resumed it ends with the same digest", tuner->kind.name);
    ok(once, "%s: no round is done twice", tuner->kind.name);
}

static void test_kill(const weft_tuner *tuner, uint64_t whole, int all, double checkpoint)
{
    struct setting how = {
        .tuner = tuner, .teams = 1, .path = at("k.h5"), .checkpoint = checkpoint};
    int died = 1, same = 1, few = 1;
    for (int r = 1; r < all; r += STEP) {
        int rounds;
        how.fresh = 1;
        died &= run_until(&how, r, 1, &rounds) == WEFT_EFILE;
        how.fresh = 0;
        same &= run_out(&how, &rounds) == whole;
        few &= rounds == all - r + (checkpoint > 0 ? r % ROUNDS : 0);
    }
    ok(died && same, "%s: killed in any round it ends with the same digest",
       tuner->kind.name);
    ok(few, "%s: having begun again at the %s", tuner->kind.name,
       checkpoint > 0 ? "job" : "checkpoint");
}

/* Flips a byte of the checkpoint of the second job that runs, or cuts it there. Returns
 * whether it was there. */
static int damage(long where, int cut)
{
    const char *path = at("d.d/checkpoint-1");
    if (world.rank != 0) return 1;
    FILE *file = fopen(path, "r+b");
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    if (where < 0) where += size;
    fseek(file, where, SEEK_SET);
    int c = fgetc(file);
    fseek(file, where, SEEK_SET);
    fputc(c ^ 64, file);
    fclose(file);
    return !cut || truncate(path, where) == 0;
}

static void test_damage(uint64_t whole, int all)
{
    static const long places[] = {0, 8, 20, 200, 1500, -9, -1};
    struct setting how = {
        .tuner = &weft_tuner_random, .teams = 1, .path = at("d.h5"), .checkpoint = 60};
    int there = 1, same = 1, again = 1;
    int stop = ROUNDS; /* the first round of the second job */
    for (int i = 0; i < 7; i++) {
        int rounds;
        how.fresh = 1;
        there &= run_until(&how, stop, 0, &rounds) == WEFT_STOP && damage(places[i], i % 2);
        how.fresh = 0;
        same &= run_out(&how, &rounds) == whole;
        again &= rounds == all - ROUNDS;
    }
    ok(there, "a job that is stopped leaves a checkpoint");
    ok(again, "where it is damaged the job begins again");
    ok(same, "and ends with the same digest");
}

/* Teams of this many ranks do the same; stopped and resumed by other teams too. */
static void test_teams(const weft_tuner *tuner, uint64_t whole, int teams)
{
    struct setting how = {.tuner = tuner, .teams = teams, .checkpoint = 60};
    const char *name = tuner->kind.name;
    int rounds;
    how.path = at("t.h5");
    how.fresh = 1;
    ok(run_out(&how, &rounds) == whole, "%s: %d teams have the digest of one", name, teams);
    int stopped = 1, same = 1;
    for (int r = 0; r < ROUNDS + 2; r += 2) {
        how = (struct setting){tuner, teams, at("t.h5"), 1, r % 4 ? 60 : 0, 0};
        /* every team, or the first one alone, if it does so many rounds, gets the signal */
        int mine = weft_team_of(world.size, teams, world.rank);
        weft_status st = run_until(&how, r % 4 && mine > 0 ? NEVER : r, 0, &rounds);
        stopped &= st == WEFT_STOP || (r % 4 && st == WEFT_OK);
        how.fresh = 0;
        how.teams = r % 3 ? 1 : teams;
        same &= run_out(&how, &rounds) == whole;
    }
    ok(stopped, "%s: stopped after any round, by one team or %d", name, teams);
    ok(same, "%s: resumed, to the same digest", name);
    how = (struct setting){tuner, teams, at("t.h5"), 1, 0, 0};
    weft_status st = run_until(&how, ROUNDS + 1, 1, &rounds);
    how.fresh = 0;
    ok(st == WEFT_EFILE, "%s: killed", name);
    ok(run_out(&how, &rounds) == whole, "%s: resumed after that, to the same digest", name);
}

/* A loss that some job meets and others do not. */
static void test_target(void)
{
    struct setting how = {.tuner = &weft_tuner_random, .teams = 1, .checkpoint = 60};
    how.target = 2;
    int rounds, all, same = 1;
    uint64_t whole = run_out(&how, &all);
    how.path = at("g.h5");
    how.fresh = 1;
    ok(all < 5 * ROUNDS, "a target ends a search before its last job");
    for (how.teams = 2; how.teams <= world.size; how.teams++)
        same &= run_out(&how, &rounds) == whole;
    ok(same, "with several teams at the same job");
}

/* ---- a unit that is under way ---- */

static int is_stopped(void)
{
    return 1;
}

/* Of five seconds since it was first seen that an end is asked for, the rest is left. */
static void test_grace(void)
{
    const struct {
        double since; /* 0: it was not seen before */
        weft_env env;
        int due;
    } row[] = {{0, {.stopped = is_stopped}, 0},       {3, {.stopped = is_stopped}, 0},
               {6, {.stopped = is_stopped}, 1},       {6, {0}, 0},
               {6, {.deadline = weft_now() - 1}, 1},  {1, {.deadline = weft_now() - 1}, 0},
               {6, {.deadline = weft_now() + 99}, 0}, {0, {.deadline = weft_now() - 9}, 0}};
    for (int i = 0; i < (int)LEN(row); i++) {
        double asked = row[i].since > 0 ? weft_now() - row[i].since : 0, was = asked;
        int due = halt_is_due(&row[i].env, &asked);
        ok(due == row[i].due && (was > 0 ? !(fabs(asked - was) > 0) : asked > 0),
           "a unit ends by itself if it can within 5 s, row %d", i);
    }
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_rows();
    test_target();
    test_grace();
    static const weft_tuner *const tuners[] = {&weft_tuner_random, &weft_tuner_ws_sha,
                                               &weft_tuner_ws_eg};
    for (int i = 0; i < 3; i++) {
        int all;
        struct setting how = {.tuner = tuners[i], .teams = 1, .checkpoint = 60};
        uint64_t whole = run_out(&how, &all);
        digest(whole);
        test_stop(tuners[i], whole, all);
        test_kill(tuners[i], whole, all, 60);
        test_kill(tuners[i], whole, all, 0);
        if (i == 0) test_damage(whole, all);
        for (int g = 2; g <= world.size; g++) test_teams(tuners[i], whole, g);
    }
    return tap_end();
}
