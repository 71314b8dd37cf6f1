/* What a run would be, before it begins. `weft tune --plan` estimates its cost and the
 * number of teams that it can keep busy, by running the search in virtual time with
 * invented results and asking the task for the cost of each job. If that takes about a
 * second, the first units of the first jobs are actually done, on states that are then
 * discarded, and the time of all jobs is extrapolated from them. `weft doctor INPUT.ini`
 * tries whether the programs that do a run repeat what they do. */
#include "run.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/math/kernels.h"
#include "weft/run/run.h"
#include "weft/store/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEASURE 0.05 /* seconds for each measured rate */
#define TRY_OUT 1.5  /* seconds for trying jobs */

enum { TRIED = 8 };       /* largest number of jobs that are tried */
enum { MAX_TEAMS = 256 }; /* largest number of teams that is considered */
/* Numbers of teams that would be busy a smaller share of the time are not printed. */
#define LEAST_BUSY 0.5

/* ---- how many jobs can be done at once ---- */

struct asked {
    int64_t id, after; /* number of results that were told before it was asked for */
    double work;       /* operations */
};

/* The order in which a search asks for jobs and is told their results. */
struct order {
    weft_arena *mem;
    int wall;   /* 1: results are told in the order in which they arrive */
    int costly; /* 1: of jobs that are asked for together expensive ones are done first */
    int64_t n, room;
    struct asked *job; /* [n] by id */
    int64_t told, roomtell;
    int64_t *tell; /* [told] jobs */
    int64_t most;  /* largest number of jobs that were asked for and not told */
};

/* Records that the next job is asked for, with `work` operations. */
static void order_ask(struct order *order, double work)
{
    WEFT_GROW(order->mem, order->job, order->n, &order->room);
    order->job[order->n] =
        (struct asked){.id = order->n, .after = order->told, .work = fmax(work, 1)};
    order->n++;
    if (order->n - order->told > order->most) order->most = order->n - order->told;
}

/* Records that a job is told. */
static void order_tell(struct order *order, int64_t job)
{
    WEFT_GROW(order->mem, order->tell, order->told, &order->roomtell);
    order->tell[order->told++] = job;
}

/* A simulation of teams that do the jobs in the order of asking and telling that was
 * recorded; each free team takes the next job that has been asked for. */
struct shift {
    const struct order *order;
    struct asked *job; /* [n] in the order in which teams take them */
    int64_t ready, taken;
    int64_t told;
    char *known;   /* [n] by id, 1: the job is done */
    int64_t *does; /* [teams] job of each team; -1: none */
    double *until; /* [teams] time at which that job ends */
    int64_t busy;  /* number of teams that have a job */
    double now;
};

/* The order in which jobs are taken: of those asked for together the most expensive first,
 * else as asked for. */
static int by_work(const void *pa, const void *pb)
{
    const struct asked *a = pa, *b = pb;
    if (a->after != b->after) return a->after < b->after ? -1 : 1;
    if (a->work > b->work || a->work < b->work) return a->work > b->work ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Idle teams take what is asked by now. */
static void take_jobs(struct shift *shift, int teams)
{
    while (shift->ready < shift->order->n && shift->job[shift->ready].after <= shift->told)
        shift->ready++;
    for (int g = 0; g < teams && shift->taken < shift->ready; g++) {
        if (shift->does[g] >= 0) continue;
        const struct asked *job = &shift->job[shift->taken++];
        shift->does[g] = job->id;
        shift->until[g] = shift->now + job->work;
        shift->busy++;
    }
}

/* The team that is done first; results that are due are told. */
static void finish_job(struct shift *shift, int teams)
{
    int first = -1;
    for (int g = 0; g < teams; g++)
        if (shift->does[g] >= 0 && (first < 0 || shift->until[g] < shift->until[first]))
            first = g;
    shift->now = shift->until[first];
    shift->known[shift->does[first]] = 1;
    shift->does[first] = -1;
    shift->busy--;
    if (shift->order->wall) shift->told++;
    while (!shift->order->wall && shift->told < shift->order->n &&
           shift->known[shift->order->tell[shift->told]])
        shift->told++;
}

/* The fraction of the total time that `teams` equal teams would be busy, if all operations
 * took the same time: 1 for one team. Cost O(n teams). */
static double busy_share(const struct order *order, int teams)
{
    WEFT_SCRATCH(tmp);
    struct shift shift = {.order = order,
                          .job = WEFT_NEW(tmp, struct asked, order->n),
                          .known = WEFT_NEW(tmp, char, order->n),
                          .does = WEFT_NEW(tmp, int64_t, teams),
                          .until = WEFT_NEW(tmp, double, teams)};
    double sum = 0;
    memcpy(shift.job, order->job, (size_t)order->n * sizeof *shift.job);
    if (order->costly) qsort(shift.job, (size_t)order->n, sizeof *shift.job, by_work);
    for (int g = 0; g < teams; g++) shift.does[g] = -1;
    for (int64_t i = 0; i < order->n; i++) sum += order->job[i].work;
    for (take_jobs(&shift, teams); shift.busy > 0; take_jobs(&shift, teams))
        finish_job(&shift, teams);
    return sum / (shift.now * teams);
}

/* ---- the plan ---- */

struct plan {
    int64_t jobs, fits; /* fits of one configuration among the jobs */
    int64_t rounds;
    struct order order;
    double *trained; /* [roomtrial] resource by trial */
    int64_t roomtrial;
    double again;                 /* operations of the winner's refit, at most */
    weft_cost sum;                /* memory: the largest */
    double gflops, gbytes;        /* measured rates of a rank: sgemm, reading from memory */
    weft_job_record first[TRIED]; /* of min(jobs, TRIED) */
    int64_t units[TRIED];
    double flops[TRIED];
    int tried;         /* number of jobs that were tried */
    int64_t done;      /* units done of them */
    double work, took; /* operations and seconds of these */
    double computed;   /* seconds of these in which ranks computed, summed over a team */
};

/* ---- the jobs ---- */

/* The refit of the job's trial, if it won. */
static void add_again(const weft_run *run, const weft_job *job, double unit,
                      struct plan *plan)
{
    if (!run->opts.refit) return;
    WEFT_SCRATCH(tmp);
    weft_result res =
        weft_result_new(1, weft_metrics_count(run->task->traits.metrics), tmp);
    res.resource = plan->trained[job->trial];
    plan->again = fmax(plan->again, unit * run->task->winner.refit(run->task_self, &res));
}

/* seconds: virtual ones of the job */
static void add_cost(const weft_run *run, const weft_job *job, double seconds,
                     struct plan *plan)
{
    weft_cost cost = {0};
    run->task->cost(run->task_self, job, &cost);
    cost.flops *= weft_run_used(run, job, seconds);
    add_again(run, job, cost.again, plan);
    int64_t units = run->task->units ? run->task->units(run->task_self, job) : 1;
    if (plan->jobs < TRIED) {
        plan->first[plan->jobs] = weft_job_record_new(job, run->mem);
        plan->units[plan->jobs] = units;
        plan->flops[plan->jobs] = cost.flops;
    }
    order_ask(&plan->order, cost.flops);
    plan->jobs++;
    plan->fits += job->mix.k == 1;
    plan->rounds += units;
    plan->sum.flops += cost.flops;
    plan->sum.bytes += cost.bytes;
    plan->sum.passes += cost.passes;
    plan->sum.memory = fmax(plan->sum.memory, cost.memory);
}

/* Virtual seconds of a job, as far as they are known before it is run. */
static double seconds_of(const weft_run *run, const weft_job *job, struct plan *plan)
{
    WEFT_GROW(plan->order.mem, plan->trained, job->trial, &plan->roomtrial);
    if (job->from >= 0) plan->trained[job->trial] = plan->trained[job->from];
    double before = plan->trained[job->trial], seconds = 0;
    plan->trained[job->trial] += job->resource;
    if (run->task->timing.seconds)
        seconds = run->task->timing.seconds(run->task_self, job, before);
    return seconds > 0 ? seconds : fmax(job->resource, 0);
}

/* Free workers ask for jobs. */
static weft_asked ask_all(weft_run *run, weft_flights *flights, struct plan *plan)
{
    weft_asked asked = WEFT_JOB;
    while (asked == WEFT_JOB && weft_flights_idle(flights)) {
        weft_job job = weft_job_new(0, 0, NULL);
        asked = weft_search_ask(&run->search, &job);
        if (asked != WEFT_JOB) break;
        job.id = plan->jobs;
        double seconds = seconds_of(run, &job, plan);
        add_cost(run, &job, seconds, plan);
        weft_flight *flight = weft_flights_start(flights, &job, seconds);
        weft_run_invent(&flight->record.job, &flight->record.res);
        weft_flights_known(flights, flight);
    }
    return asked;
}

/* Drives the search to its end as the scheduler would, in virtual time. */
static void drive(weft_run *run, struct plan *plan)
{
    weft_flights flights;
    int waits = weft_search_waits(&run->search);
    plan->order.wall = run->opts.clock;
    plan->order.costly = waits && run->opts.limits.target <= 0;
    weft_flights_setup(&flights, waits ? 0 : run->opts.workers, run->opts.overhead,
                       plan->order.mem);
    weft_asked asked = ask_all(run, &flights, plan);
    for (; flights.ends.n > 0; asked = ask_all(run, &flights, plan)) {
        weft_flight *flight = weft_flights_next(&flights);
        weft_search_tell(&run->search, &flight->record.res);
        order_tell(&plan->order, flight->record.job.id);
        weft_flights_end(&flights, flight);
    }
    weft_check(asked == WEFT_DONE, "tuner %s waits for no job",
               run->search.tuner->kind.name);
}

/* ---- trying jobs ---- */

/* Conservative estimate of the seconds that a team needs for `flops` operations: rounds at
 * a third of the rate of sgemm, fits at the rate of memory, as a sparse product reads 8
 * bytes, column and value, for 2 operations. */
static double slow_seconds(const weft_run *run, const struct plan *plan, double flops)
{
    double rate = run->task->units ? plan->gflops / 3 : plan->gbytes / 4;
    return flops / (rate * 1e9 * run->team->size);
}

/* Does the first units of a job for `seconds` by the first rank's clock. Collective over
 * team. */
static weft_status begin_job(const weft_run *run, struct plan *plan, int i, double seconds)
{
    weft_job_record *record = &plan->first[i];
    WEFT_SCRATCH(tmp);
    weft_state state = weft_state_new(run->task, run->task_self, &record->job, tmp);
    weft_result_begin(&record->res, &record->job);
    if (run->task->start) run->task->start(run->task_self, &record->job, &state);
    if (run->given.x) memcpy(state.x, run->given.x, (size_t)run->given.n * sizeof *state.x);
    weft_job_record_room(record, weft_metrics_count(run->task->traits.metrics), 0, 0,
                         run->mem);
    weft_times_close(run->team);
    double start = weft_now(), before = run->team->times.compute;
    weft_status st = WEFT_OK;
    int32_t on = 1;
    for (int64_t u = 0; u < plan->units[i] && on && st == WEFT_OK; u++) {
        double row[WEFT_MAX_METRICS] = {0};
        st = run->task->step(run->task_self, &record->job, u, &state, row, &record->res);
        plan->done++;
        plan->work += plan->flops[i] / (double)plan->units[i];
        on = weft_now() - start < seconds;
        weft_bcast(run->team, &on, sizeof on, 0);
    }
    plan->took += weft_now() - start;
    weft_times_close(run->team);
    plan->computed += run->team->times.compute - before;
    plan->tried++;
    return st;
}

/* Jobs of few units, as those of a first rung, draw few clients of many: each of the n jobs
 * that are tried is lengthened to its share of all units of the search. */
static void lengthen(const weft_run *run, struct plan *plan, int n)
{
    int64_t units = 0;
    for (int i = 0; i < n; i++) units += plan->units[i];
    for (int i = 0; i < n && units > 0; i++) {
        weft_job *job = &plan->first[i].job;
        weft_cost cost = {0};
        job->resource *= (double)(plan->rounds / units);
        run->task->cost(run->task_self, job, &cost);
        plan->flops[i] = cost.flops;
        plan->units[i] = run->task->units(run->task_self, job);
    }
}

/* *x <- its sum over the ranks of a team. Collective. */
static void add_ranks(weft_team *team, double *x)
{
    WEFT_SCRATCH(tmp);
    double *all = WEFT_NEW(tmp, double, team->size);
    all[team->rank] = *x;
    weft_join_f64(team, all, (size_t)team->size);
    *x = 0;
    for (int r = 0; r < team->size; r++) *x += all[r];
}

/* Tries the jobs whose units are expected to be short. Collective over world. */
static weft_status try_out(weft_run *run, struct plan *plan)
{
    int n = plan->jobs < TRIED ? (int)plan->jobs : TRIED;
    if (run->task->units) lengthen(run, plan, n);
    weft_times_move(run->world, run->team);
    weft_status st = WEFT_OK;
    for (int i = 0; i < n && st == WEFT_OK; i++) {
        double unit = plan->flops[i] / (double)plan->units[i];
        double v[2] = {plan->took, plan->work > 0 ? unit * plan->took / plan->work
                                                  : slow_seconds(run, plan, unit)};
        weft_max_f64(run->team, v, 2); /* times of the slowest rank */
        if (v[0] + v[1] > TRY_OUT) break;
        st = begin_job(run, plan, i, (TRY_OUT - v[0]) / (n - i));
    }
    weft_max_f64(run->team, &plan->took, 1);
    add_ranks(run->team, &plan->computed);
    weft_times_move(run->team, run->world);
    weft_max_f64(run->world, &plan->took, 1);
    return weft_agree(st, run->world);
}

/* ---- printed text ---- */

static void show_axes(const weft_run *run)
{
    for (int i = 0; i < run->space.dim; i++) {
        char name[128], range[1024];
        weft_axis_name(&run->space.axis[i], name, sizeof name);
        weft_axis_show(&run->space, i, range, sizeof range);
        const weft_axis *axis = &run->space.axis[i];
        int whole = weft_axis_is_ordered(axis) && axis->opt->type != WEFT_REAL;
        printf("  %s = %s%s\n", name, range, whole ? ", whole" : "");
    }
}

/* "1.3 s", "2.1 h" */
static const char *duration(double seconds, char *text, size_t n)
{
    if (seconds < 300)
        snprintf(text, n, "%.3g s", seconds);
    else if (seconds < 2 * 3600)
        snprintf(text, n, "%.3g minutes", seconds / 60);
    else
        snprintf(text, n, "%.3g hours", seconds / 3600);
    return text;
}

/* Where one rank would do what several have computed sooner than these were done, as they
 * wait for each other and communicate. seconds: expected of all jobs. */
static void print_alone(const weft_run *run, const struct plan *plan, double seconds)
{
    const double clearly = 0.9;
    char text[32];
    double share = plan->computed / plan->took;
    int size = run->team->size;
    if (size == 1 || run->teams > 1 || share > clearly) return;
    printf(
        "one rank alone    %s: faster than %d ranks, of whose time %.0f %% is waiting and "
        "communication\n",
        duration(share * seconds, text, sizeof text), size, 100 * (1 - share / size));
}

static void print_time(const weft_run *run, const struct plan *plan)
{
    char fast[32], slow[32];
    int size = run->world->size;
    double expected = 0;
    printf("measured          %.3g GFLOP/s a rank (sgemm), %.3g GB/s read from memory\n",
           plan->gflops, plan->gbytes);
    if (plan->work > 0) {
        /* every team did the same work: together they do `teams` times as much */
        double rate = plan->work * run->teams / plan->took;
        printf("tried             %lld %s of %d job%s", (long long)plan->done,
               run->task->units ? "rounds" : "fits", plan->tried,
               plan->tried == 1 ? "" : "s");
        printf(" in %.2f s: %.3g GFLOP/s a rank\n", plan->took, rate / size / 1e9);
        expected = plan->sum.flops / rate;
        printf("expected time     %s as tried", duration(expected, fast, sizeof fast));
    } else {
        printf("expected time     %s at the rate of sgemm, %s at %s",
               duration(plan->sum.flops / (plan->gflops * 1e9 * size), fast, sizeof fast),
               duration(slow_seconds(run, plan, plan->sum.flops) / run->teams, slow,
                        sizeof slow),
               run->task->units ? "a third of it" : "that of memory");
    }
    printf(", %d rank%s", size, size == 1 ? "" : "s");
    if (run->teams > 1) printf(" in %d teams", run->teams);
    printf("\n");
    if (plan->work > 0) print_alone(run, plan, expected);
}

/* How many teams have work: so many, as long as each works half the time. */
static void print_teams(const weft_run *run, const struct plan *plan)
{
    const struct order *order = &plan->order;
    long long most = (long long)order->most;
    printf("jobs at once      %lld at most", most);
    if (!weft_search_waits(&run->search))
        printf(" (run.workers = %lld)", (long long)run->opts.workers);
    double busy = 1;
    int teams = 2;
    for (; teams <= most && teams <= MAX_TEAMS && busy >= LEAST_BUSY; teams *= 2) {
        busy = busy_share(order, teams);
        printf("%s %d teams %.0f %%", teams == 2 ? "; at work:" : ",", teams, 100 * busy);
    }
    if (run->opts.teams > most)
        printf("; of run.teams = %d more than %lld would idle", run->opts.teams, most);
    printf("\n");
}

/* 1 if other programs do the jobs. */
static int is_other(const weft_task *task)
{
    return task->traits.files || task->remote.trade;
}

static void print_plan(const weft_run *run, const struct plan *plan)
{
    const weft_state size = weft_run_state(run);
    double states = 3 * weft_state_bytes(&size);
    printf("task %s, tuner %s%s%s\n", run->opts.task, weft_run_method(run),
           *run->opts.data ? ", data " : "", run->opts.data);
    if (*run->told.defaults) printf("task's defaults   %s\n", run->told.defaults);
    if (*run->told.unread) printf("not read          %s\n", run->told.unread);
    printf(
        "configurations    %lld%s, %d axes\n", (long long)weft_search_configs(&run->search),
        run->search.tuner->explore ? " at first, which copies vary" : "", run->space.dim);
    show_axes(run);
    printf("jobs              %lld, of which %lld of one configuration\n",
           (long long)plan->jobs, (long long)plan->fits);
    print_teams(run, plan);
    if (is_other(run->task)) {
        printf("resource          %.6g in all jobs\n", plan->sum.flops);
        return;
    }
    if (run->task->units) printf("rounds            %lld\n", (long long)plan->rounds);
    printf("memory per rank   %.3g GB (work and states; run.memory allows %g GB)\n",
           (plan->sum.memory + states) / 1e9, run->opts.limits.memory);
    printf("operations        %.3g", plan->sum.flops);
    if (run->opts.refit)
        printf(", with %.3g of the winner once more on train and valid", plan->again);
    if (plan->sum.passes > 0)
        printf(" (%.0f products with the matrix assumed)", plan->sum.passes);
    printf("\ncommunicated      %.3g GB over all ranks\n", plan->sum.bytes / 1e9);
    print_time(run, plan);
}

static weft_status make_plan(weft_run *run, weft_arena *tmp)
{
    TRY(weft_run_divide(run, 0));
    TRY(weft_run_open(run, run->opts.data));
    struct plan plan = {.order = {.mem = tmp}};
    drive(run, &plan);
    plan.sum.flops += plan.again;
    if (is_other(run->task)) {
        if (run->world->rank == 0) print_plan(run, &plan);
        return WEFT_OK;
    }
    double rate[2] = {-weft_cpu_sgemm(MEASURE), -weft_cpu_stream(MEASURE)};
    weft_max_f64(run->world, rate, 2); /* the slowest rank's */
    plan.gflops = -rate[0];
    plan.gbytes = -rate[1];
    TRY(try_out(run, &plan));
    if (run->world->rank == 0) print_plan(run, &plan);
    return WEFT_OK;
}

weft_status weft_run_plan(weft_conf *conf, weft_team *world)
{
    WEFT_SCRATCH(mem);
    WEFT_SCRATCH(tmp);
    weft_run run;
    weft_status st = weft_run_bind(&run, conf, 1, world, mem);
    if (st == WEFT_OK) st = make_plan(&run, tmp);
    weft_run_close(&run);
    return st;
}

/* ---- whether programs repeat what they do ---- */

static weft_status repeat(weft_run *run)
{
    const char *told = NULL, *above = getenv("TMPDIR");
    const char *name =
        weft_arena_text(run->mem, "%s/" WEFT_DOCTOR_NAME, above && *above ? above : "/tmp");
    const char *place = weft_file_temp(name, run->mem);
    if (run->world->rank == 0) weft_file_sweep(name, 0);
    if (run->task->remote.repeats)
        TRY(run->task->remote.repeats(run->task_self, place, &told));
    if (!told)
        return weft_fail(WEFT_ECONF, "no programs but weft do this run, so that there is "
                                     "nothing to try; choose fed.model = worker or "
                                     "run.task = command");
    if (run->world->rank == 0) printf("%s\n", told);
    return WEFT_OK;
}

weft_status weft_run_repeat(weft_conf *conf, weft_team *world)
{
    WEFT_SCRATCH(mem);
    weft_run run;
    weft_status st = weft_run_bind(&run, conf, 1, world, mem);
    if (st == WEFT_OK) st = weft_run_open(&run, run.opts.data);
    if (st == WEFT_OK) st = repeat(&run);
    weft_run_close(&run);
    return st;
}
