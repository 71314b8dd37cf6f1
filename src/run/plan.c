/* `weft tune --plan`: estimates the cost of a run and the number of teams that it can keep
 * busy, by running the search in virtual time with invented results and asking the task for
 * the cost of each job. If that takes about a second, the first units of the first jobs are
 * actually done, on states that are then discarded, and the time of all jobs is
 * extrapolated from them. */
#include "order.h"
#include "sched/flight.h"
#include "setup.h"
#include "weft/run.h"

#include <math.h>
#include <string.h>

#define MEASURE 0.2 /* seconds for each measured rate */
#define TRY_OUT 1.5 /* seconds for trying jobs */

enum { TRIED = 8 };       /* largest number of jobs that are tried */
enum { MAX_TEAMS = 256 }; /* largest number of teams that is considered */
/* Numbers of teams that would be busy a smaller share of the time are not printed. */
#define LEAST_BUSY 0.5

typedef struct plan {
    int64_t jobs, fits; /* fits of one configuration among the jobs */
    int64_t rounds;
    weft_order order;
    double *trained; /* [roomtrial] resource by trial */
    int64_t roomtrial;
    weft_cost sum;                /* memory: the largest */
    double gflops, gbytes;        /* measured rates of a rank: sgemm, reading from memory */
    weft_job_record first[TRIED]; /* of min(jobs, TRIED) */
    int64_t units[TRIED];
    double flops[TRIED];
    int tried;         /* number of jobs that were tried */
    double share;      /* fraction of their features; 0: all */
    double fixed;      /* seconds of a job that do not depend on its features */
    int64_t done;      /* units done of them */
    double work, took; /* operations and seconds of these */
} plan;

/* ---- the jobs ---- */

/* Invents a result: all configurations have the same loss. */
static void invent_result(const weft_job *job, weft_result *res)
{
    res->job = job->id;
    res->trial = job->trial;
    res->resource = job->resource;
    res->loss = 0.5;
    memcpy(res->logp, job->mix.logp, (size_t)res->k * sizeof *res->logp);
    for (int i = 0; i < res->k; i++) {
        res->arm_count[i] = 2;
        res->arm_loss[i] = res->arm_wrong[i] = 1;
    }
}

static void add_cost(const weft_run *r, const weft_job *job, plan *p)
{
    weft_cost c = {0};
    r->task->cost(r->task_self, job, &c);
    int64_t units = r->task->units ? r->task->units(r->task_self, job) : 1;
    if (p->jobs < TRIED) {
        p->first[p->jobs] = weft_job_record_new(job, r->mem);
        p->units[p->jobs] = units;
        p->flops[p->jobs] = c.flops;
    }
    weft_order_ask(&p->order, c.flops);
    p->jobs++;
    p->fits += job->mix.k == 1;
    p->rounds += units;
    p->sum.flops += c.flops;
    p->sum.bytes += c.bytes;
    p->sum.passes += c.passes;
    p->sum.memory = fmax(p->sum.memory, c.memory);
}

/* Virtual seconds of a job, as far as they are known before it is run. */
static double seconds_of(const weft_run *r, const weft_job *job, plan *p)
{
    p->trained =
        weft_grow(p->order.mem, p->trained, sizeof(double), job->trial, &p->roomtrial);
    if (job->from >= 0) p->trained[job->trial] = p->trained[job->from];
    double before = p->trained[job->trial], seconds = 0;
    p->trained[job->trial] += job->resource;
    if (r->task->seconds) seconds = r->task->seconds(r->task_self, job, before);
    return seconds > 0 ? seconds : fmax(job->resource, 0);
}

/* Free workers ask for jobs. */
static weft_asked ask_all(weft_run *r, weft_flights *q, plan *p)
{
    weft_asked asked = WEFT_JOB;
    while (asked == WEFT_JOB && weft_flights_idle(q)) {
        weft_job job = weft_job_new(0, 0, NULL);
        asked = weft_search_ask(&r->search, &job);
        if (asked != WEFT_JOB) break;
        job.id = p->jobs;
        add_cost(r, &job, p);
        weft_flight *f = weft_flights_start(q, &job, seconds_of(r, &job, p));
        invent_result(&f->record.job, &f->record.res);
        weft_flights_known(q, f);
    }
    return asked;
}

/* Drives the search to its end as the scheduler would, in virtual time. */
static void drive(weft_run *r, plan *p)
{
    weft_flights q;
    int waits = weft_search_waits(&r->search);
    p->order.wall = r->opts.clock;
    p->order.costly = waits && r->opts.target <= 0;
    weft_flights_setup(&q, waits ? 0 : r->opts.workers, r->opts.overhead, p->order.mem);
    weft_asked asked = ask_all(r, &q, p);
    for (; q.ends.n > 0; asked = ask_all(r, &q, p)) {
        weft_flight *f = weft_flights_next(&q);
        weft_search_tell(&r->search, &f->record.res);
        weft_order_tell(&p->order, f->record.job.id);
        weft_flights_end(&q, f);
    }
    weft_check(asked == WEFT_DONE, "tuner %s waits for no job", r->search.tuner->kind.name);
}

/* ---- trying jobs ---- */

/* Conservative estimate of the seconds that a team needs for `flops` operations: rounds at
 * a third of the rate of sgemm, fits at the rate of memory, as a sparse product reads 8
 * bytes, column and value, for 2 operations. */
static double slow_seconds(const weft_run *r, const plan *p, double flops)
{
    double rate = r->task->units ? p->gflops / 3 : p->gbytes / 4;
    return flops / (rate * 1e9 * r->team->size);
}

/* Does the first units of a job for `seconds` by the first rank's clock. Collective over
 * team. */
static weft_status begin_job(const weft_run *r, plan *p, int i, double seconds)
{
    weft_job_record *e = &p->first[i];
    weft_arena *tmp = weft_arena_new();
    weft_state state = weft_state_new(r->task, r->task_self, &e->job, tmp);
    weft_result_begin(&e->res, &e->job);
    if (r->task->start) r->task->start(r->task_self, &e->job, &state);
    weft_job_record_room(e, weft_metrics_count(r->task->metrics), 0, 0, r->mem);
    double start = weft_now();
    weft_status st = WEFT_OK;
    int32_t on = 1;
    for (int64_t u = 0; u < p->units[i] && on && st == WEFT_OK; u++) {
        double row[WEFT_MAX_METRICS] = {0};
        st = r->task->step(r->task_self, &e->job, u, &state, row, &e->res);
        p->done++;
        p->work += p->flops[i] / (double)p->units[i];
        on = weft_now() - start < seconds;
        weft_bcast(r->team, &on, sizeof on, 0);
    }
    p->took += weft_now() - start;
    p->tried++;
    weft_arena_free(tmp);
    return st;
}

/* If a whole fit would take too long, and one with fewer features takes fewer operations:
 * fits with so few features that it is fast for certain, then with as many as are expected
 * to take half the time available. Collective over team. */
static weft_status try_smaller(const weft_run *r, plan *p)
{
    weft_job *job = &p->first[0].job;
    double all = p->flops[0], full = job->feature_fraction;
    double expected = slow_seconds(r, p, all);
    weft_max_f64(r->team, &expected, 1);
    for (int k = 0; k < 2 && expected > TRY_OUT; k++) {
        double work = p->work, took = p->took;
        weft_cost c = {0};
        job->feature_fraction = full * fmin(0.5 * TRY_OUT / expected, 1);
        r->task->cost(r->task_self, job, &c);
        if (c.flops > 0.5 * all) break;
        p->flops[0] = c.flops;
        p->work = p->took = 0;
        p->done = p->tried = 0;
        TRY(weft_agree(begin_job(r, p, 0, TRY_OUT), r->team));
        weft_max_f64(r->team, &p->took, 1);
        p->share = job->feature_fraction;
        expected = p->took * all / p->work;
        double slope = (p->took - took) / (p->work - work);
        if (k > 0 && slope > 0) p->fixed = fmax(took - slope * work, 0);
    }
    job->feature_fraction = full;
    return WEFT_OK;
}

/* Jobs of few units, as those of a first rung, draw few clients of many: each of the n jobs
 * that are tried is lengthened to its share of all units of the search. */
static void lengthen(const weft_run *r, plan *p, int n)
{
    int64_t units = 0;
    for (int i = 0; i < n; i++) units += p->units[i];
    for (int i = 0; i < n && units > 0; i++) {
        weft_job *job = &p->first[i].job;
        weft_cost c = {0};
        job->resource *= (double)(p->rounds / units);
        r->task->cost(r->task_self, job, &c);
        p->flops[i] = c.flops;
        p->units[i] = r->task->units(r->task_self, job);
    }
}

/* Tries the jobs whose units are expected to be short. Collective over world. */
static weft_status try_out(weft_run *r, plan *p)
{
    int n = p->jobs < TRIED ? (int)p->jobs : TRIED;
    if (r->task->units) lengthen(r, p, n);
    weft_times_move(r->world, r->team);
    weft_status st = r->task->units || n == 0 ? WEFT_OK : try_smaller(r, p);
    for (int i = 0; i < n && p->share == 0 && st == WEFT_OK; i++) {
        double unit = p->flops[i] / (double)p->units[i];
        double v[2] = {p->took,
                       p->work > 0 ? unit * p->took / p->work : slow_seconds(r, p, unit)};
        weft_max_f64(r->team, v, 2); /* times of the slowest rank */
        if (v[0] + v[1] > TRY_OUT) break;
        st = begin_job(r, p, i, (TRY_OUT - v[0]) / (n - i));
    }
    weft_max_f64(r->team, &p->took, 1);
    weft_times_move(r->team, r->world);
    weft_max_f64(r->world, &p->took, 1);
    return weft_agree(st, r->world);
}

/* ---- printed text ---- */

static void show_axes(const weft_run *r)
{
    for (int i = 0; i < r->space.dim; i++) {
        char name[128], range[1024];
        weft_axis_name(&r->space.axis[i], name, sizeof name);
        weft_axis_show(&r->space, i, range, sizeof range);
        const weft_axis *a = &r->space.axis[i];
        int whole = weft_axis_is_ordered(a) && a->opt->type != WEFT_REAL;
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

static void print_time(const weft_run *r, const plan *p)
{
    char fast[32], slow[32];
    int size = r->world->size;
    printf("measured          %.3g GFLOP/s a rank (sgemm), %.3g GB/s read from memory\n",
           p->gflops, p->gbytes);
    if (p->work > 0) {
        /* every team did the same work: together they do `teams` times as much */
        double rate = p->work * r->teams / (p->took - p->fixed);
        double fixed = p->fixed * (double)p->jobs / r->teams;
        printf("tried             %lld %s of %d job%s", (long long)p->done,
               r->task->units ? "rounds" : "fits", p->tried, p->tried == 1 ? "" : "s");
        if (p->share > 0) printf(", %.2g %% of the features,", 100 * p->share);
        printf(" in %.2f s: %.3g GFLOP/s a rank\n", p->took, rate / size / 1e9);
        printf("expected time     %s as tried",
               duration(p->sum.flops / rate + fixed, fast, sizeof fast));
    } else {
        printf("expected time     %s at the rate of sgemm, %s at %s",
               duration(p->sum.flops / (p->gflops * 1e9 * size), fast, sizeof fast),
               duration(slow_seconds(r, p, p->sum.flops) / r->teams, slow, sizeof slow),
               r->task->units ? "a third of it" : "that of memory");
    }
    printf(", %d rank%s", size, size == 1 ? "" : "s");
    if (r->teams > 1) printf(" in %d teams", r->teams);
    printf("\n");
}

/* How many teams have work: so many, as long as each works half the time. */
static void print_teams(const weft_run *r, const plan *p)
{
    const weft_order *o = &p->order;
    long long most = (long long)o->most;
    printf("jobs at once      %lld at most", most);
    if (!weft_search_waits(&r->search))
        printf(" (run.workers = %lld)", (long long)r->opts.workers);
    double busy = 1;
    int teams = 2;
    for (; teams <= most && teams <= MAX_TEAMS && busy >= LEAST_BUSY; teams *= 2) {
        busy = weft_order_busy(o, teams);
        printf("%s %d teams %.0f %%", teams == 2 ? "; at work:" : ",", teams, 100 * busy);
    }
    if (r->opts.teams > most)
        printf("; of run.teams = %d more than %lld would idle", r->opts.teams, most);
    printf("\n");
}

static void print_plan(const weft_run *r, const plan *p)
{
    double states = 3 * weft_run_state_bytes(r);
    printf("task %s, tuner %s%s%s\n", r->opts.task, weft_run_method(r),
           *r->opts.data ? ", data " : "", r->opts.data);
    if (*r->defaults) printf("task's defaults   %s\n", r->defaults);
    if (*r->unread) printf("not read          %s\n", r->unread);
    printf("configurations    %lld%s, %d axes\n",
           (long long)weft_search_configs(&r->search),
           r->search.tuner->explore ? " at first, which copies vary" : "", r->space.dim);
    show_axes(r);
    printf("jobs              %lld, of which %lld of one configuration\n",
           (long long)p->jobs, (long long)p->fits);
    print_teams(r, p);
    if (r->task->files) { /* a task that runs other programs */
        printf("resource          %.6g in all jobs\n", p->sum.flops);
        return;
    }
    if (r->task->units) printf("rounds            %lld\n", (long long)p->rounds);
    printf("memory per rank   %.3g GB (work and states; run.memory allows %g GB)\n",
           (p->sum.memory + states) / 1e9, r->opts.memory);
    printf("operations        %.3g", p->sum.flops);
    if (p->sum.passes > 0)
        printf(" (%.0f products with the matrix assumed)", p->sum.passes);
    printf("\ncommunicated      %.3g GB over all ranks\n", p->sum.bytes / 1e9);
    print_time(r, p);
}

static weft_status make_plan(weft_run *r, weft_arena *tmp)
{
    TRY(weft_run_divide(r, 0));
    TRY(weft_run_open(r, r->opts.data));
    plan p = {.order = {.mem = tmp}};
    drive(r, &p);
    if (r->task->files) {
        if (r->world->rank == 0) print_plan(r, &p);
        return WEFT_OK;
    }
    double rate[2] = {-weft_cpu_sgemm(MEASURE), -weft_cpu_stream(MEASURE)};
    weft_max_f64(r->world, rate, 2); /* the slowest rank's */
    p.gflops = -rate[0];
    p.gbytes = -rate[1];
    TRY(try_out(r, &p));
    if (r->world->rank == 0) print_plan(r, &p);
    return WEFT_OK;
}

weft_status weft_run_plan(weft_conf *conf, weft_team *world)
{
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_new();
    weft_run r;
    weft_status st = weft_run_bind(&r, conf, 1, world, mem);
    if (st == WEFT_OK) st = make_plan(&r, tmp);
    weft_run_close(&r);
    weft_arena_free(tmp);
    weft_arena_free(mem);
    return st;
}
