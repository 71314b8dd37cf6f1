/* `weft tune --plan`: what a run will take, found by driving the tuner with made-up results
 * and asking the task what each job costs. Nothing is trained. Called by the command line.
 */
#include "run_private.h"

#include <math.h>
#include <string.h>

#define MEASURE 0.2 /* seconds for each measured rate */

typedef struct plan {
    int64_t jobs, fits; /* fits of one configuration among the jobs */
    weft_cost sum;      /* memory: the largest */
} plan;

/* All configurations alike, so that a tuner's ties decide. */
static void make_up(const weft_job *job, weft_result *res)
{
    res->job = job->id;
    res->trial = job->trial;
    res->resource = job->resource;
    res->loss = res->valid_loss = res->valid_error = 0.5;
    for (int i = 0; i < res->k; i++) {
        res->arm_count[i] = 2;
        res->arm_loss[i] = res->arm_wrong[i] = 1;
    }
}

static void add_cost(const weft_run *r, const weft_job *job, plan *p)
{
    weft_cost c = {0};
    r->task->cost(r->task_self, job, &c);
    p->jobs++;
    p->fits += job->mix.k == 1;
    p->sum.flops += c.flops;
    p->sum.bytes += c.bytes;
    p->sum.passes += c.passes;
    p->sum.memory = fmax(p->sum.memory, c.memory);
}

static void drive(const weft_run *r, plan *p)
{
    for (;;) {
        weft_arena *tmp = weft_arena_new();
        weft_job job = {.from = -1, .size = 1};
        const weft_asked asked = r->tuner->ask(r->tuner_self, &job);
        if (asked == WEFT_JOB) {
            job.id = p->jobs;
            add_cost(r, &job, p);
            weft_result res = weft_result_new(job.mix.k, tmp);
            make_up(&job, &res);
            r->tuner->tell(r->tuner_self, &res);
        }
        weft_arena_free(tmp);
        if (asked == WEFT_DONE) return;
        weft_check(asked == WEFT_JOB, "tuner %s waits for no job", r->tuner->kind.name);
    }
}

static void show_axes(const weft_run *r)
{
    for (int i = 0; i < r->space.dim; i++) {
        const weft_axis *a = &r->space.axis[i];
        char name[128], value[128];
        weft_opt_name(a->opt, name, sizeof name);
        printf("  %s.%s = ", a->section, name);
        for (int v = 0; v < a->nvalue; v++) {
            weft_opt_show(a->opt, a->value[v], value, sizeof value);
            printf("%s%s", v ? " | " : "", value);
        }
        if (a->nvalue == 0) printf("%s%g .. %g", a->log ? "log " : "", a->lo, a->hi);
        printf("\n");
    }
}

static void print_plan(const weft_run *r, const plan *p, double gflops, double gbytes)
{
    const double states = 3.0 * (double)r->task->nstate(r->task_self, 1) * sizeof(real);
    const double ranks = r->team->size;
    const double fast = p->sum.flops / (gflops * 1e9 * ranks);
    /* A sparse product reads 8 bytes, column and value, for 2 operations. */
    const double slow = p->sum.flops * 4 / (gbytes * 1e9 * ranks);
    printf("task %s, tuner %s, data %s\n", r->opts.task, r->opts.tuner, r->opts.data);
    printf("configurations    %lld, %d axes\n", (long long)r->space.count, r->space.dim);
    show_axes(r);
    printf("jobs              %lld, of which %lld of one configuration\n",
           (long long)p->jobs, (long long)p->fits);
    printf("memory per rank   %.3g GB (features and states; run.memory allows %g GB)\n",
           (p->sum.memory + states) / 1e9, r->opts.memory);
    printf("operations        %.3g (%.0f products with the matrix assumed)\n", p->sum.flops,
           p->sum.passes);
    printf("communicated      %.3g GB over all ranks\n", p->sum.bytes / 1e9);
    printf("measured          %.3g GFLOP/s a rank (sgemm), %.3g GB/s read from memory\n",
           gflops, gbytes);
    printf("expected time     %.3g s at the rate of sgemm, %.3g s at that of memory, %d "
           "rank%s\n",
           fast, slow, r->team->size, r->team->size == 1 ? "" : "s");
}

static weft_status make_plan(weft_run *r)
{
    TRY(weft_run_open(r, r->opts.data));
    plan p = {0};
    drive(r, &p);
    double rate[2] = {-weft_cpu_sgemm(MEASURE), -weft_cpu_stream(MEASURE)};
    weft_max_f64(r->team, rate, 2); /* the slowest rank's */
    if (r->team->rank == 0) print_plan(r, &p, -rate[0], -rate[1]);
    return WEFT_OK;
}

weft_status weft_run_plan(weft_conf *conf, weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_run r;
    weft_status st = weft_run_bind(&r, conf, world, mem);
    if (st == WEFT_OK) st = make_plan(&r);
    weft_run_close(&r);
    weft_arena_free(mem);
    return st;
}
