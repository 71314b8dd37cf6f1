/* Opens data for a winner, with its weights. */
#include "use.h"
#include "keys.h"
#include "setup.h"

/* The winner as a job of the run that is open. */
static weft_job job_of(const weft_run *run, const weft_winner *winner)
{
    weft_mix mix = weft_mix_new(1, 0, run->mem);
    mix.id[0] = winner->id;
    weft_job job = weft_job_new(winner->trial, 0, &mix);
    job.id = winner->job;
    job.index = (int)winner->round;
    job.feature_fraction = winner->size;
    job.last = 1;
    return job;
}

/* Calls the function for the winner that was read and the data that the run has open. */
static weft_status call(weft_run *run, const weft_winner *winner, const char *path,
                        weft_winner_fn *fn, void *ctx)
{
    weft_winner_at at = {.run = path, .text = winner->text, .job = job_of(run, winner)};
    TRY(weft_agree(weft_winner_state(run, winner, path, &at.job, &at.state, &at.unknown),
                   run->world));
    return fn(run, &at, ctx);
}

static weft_status check(const weft_run *run, const char *path, const weft_winner_on *on)
{
    if (!run->task->score)
        return weft_fail(WEFT_ECONF,
                         "%s: task %s reads no data that its winner could be scored on",
                         path, run->task->kind.name);
    if (on->data || *run->opts.data == '\0') return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s was trained on %s; name a packed file behind it, this one or "
                     "another",
                     path, run->opts.data);
}

/* Reads the winner's configuration. */
static weft_status configure(weft_conf *conf, const char *path, const char *config,
                             const weft_winner_on *on)
{
    int grown;
    TRY(weft_conf_text(conf, path, config));
    for (int i = 0; i < on->n; i++) TRY(weft_run_change(conf, on->assignment[i], &grown));
    return WEFT_OK;
}

weft_status weft_winner_use(const char *path, const weft_winner_on *on, weft_team *world,
                            weft_winner_fn *fn, void *ctx)
{
    weft_arena *mem = weft_arena_new();
    weft_run run = {0};
    weft_winner winner = {0};
    weft_conf conf;
    weft_conf_init(&conf, mem);
    weft_status st = weft_agree(weft_winner_read(&winner, path, mem), world);
    if (st == WEFT_OK) st = weft_agree(configure(&conf, path, winner.config, on), world);
    if (st == WEFT_OK) st = weft_run_bind(&run, &conf, 0, world, mem);
    if (st == WEFT_OK) st = check(&run, path, on);
    run.like = &winner.like;
    run.like_of = path;
    run.window = on->window;
    if (st == WEFT_OK) st = weft_run_open(&run, on->data ? on->data : "");
    if (st == WEFT_OK) st = call(&run, &winner, path, fn, ctx);
    weft_run_close(&run);
    weft_winner_close(&winner);
    weft_arena_free(mem);
    return st;
}

/* x[n][targets] in the units of the targets. */
static void restore(const weft_data *data, int64_t n, double *x)
{
    int m = data->classes;
    for (int64_t i = 0; i < n * m; i++)
        x[i] = data->target_shift[i % m] + data->target_scale[i % m] * x[i];
}

weft_status weft_winner_says(weft_run *run, const weft_winner_at *winner, weft_part part,
                             weft_predictions *out, weft_arena *mem)
{
    TRY(run->task->predict(run->task_self, &winner->job, &winner->state, part, out, mem));
    if (run->data.target_scale) restore(&run->data, out->n, out->score);
    return WEFT_OK;
}

double *weft_targets_of(const weft_run *run, weft_part part, weft_arena *mem)
{
    double *target = weft_data_targets(&run->data, part, mem);
    restore(&run->data, run->data.part[part].total, target);
    return target;
}
