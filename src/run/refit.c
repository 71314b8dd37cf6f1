/* run.refit: the run is set up once more with the train and valid parts as one, and does
 * the job that trains the winner's configuration alone, as long as was best. */
#include "refit.h"
#include "host/host.h"
#include "sched/sched.h"
#include "setup.h"
#include "weft/clock.h"
#include "weft/log.h"
#include "weft/par.h"

#include <math.h>

weft_status weft_run_look(weft_team *team, const char *path, const char *when)
{
    double signal = weft_signals_seen();
    weft_max_f64(team, &signal, 1);
    if (!(signal > 0)) return WEFT_OK;
    return weft_fail(
        WEFT_STOP,
        "stopped by signal %.0f after the search, %s; go on with `weft resume %s`", signal,
        when, path);
}

/* The configuration of the winner, to be trained from the beginning. */
static weft_job job_of(const weft_run *run, const weft_job_record *winner)
{
    weft_mix mix = weft_mix_new(1, winner->job.mix.dim, run->mem);
    mix.id[0] = winner->job.mix.id[weft_winner_arm(winner)];
    weft_winner_conf(winner, mix.conf);
    weft_job job = weft_job_new(winner->job.trial,
                                run->task->refit(run->task_self, &winner->res), &mix);
    job.feature_fraction = winner->job.feature_fraction;
    job.last = 1;
    return job;
}

/* Sets up the run once more, by its configuration and the data that it has in this
 * session. */
static weft_status open(weft_run *again, weft_run *run)
{
    weft_conf *conf = WEFT_NEW(run->mem, weft_conf, 1);
    weft_conf_init(conf, run->mem);
    TRY(weft_agree(
        weft_conf_text(conf, run->opts.output, weft_conf_echo(run->conf, run->mem)),
        run->world));
    TRY(weft_run_bind(again, conf, 0, run->world, run->mem));
    again->team = run->team;
    again->teams = run->teams;
    again->whole = 1;
    weft_run_release(run);
    return weft_run_open(again, run->opts.data);
}

/* Collective over the team. */
static weft_status train(weft_refit *refit, const weft_sched *search, double *loss)
{
    weft_run *run = &refit->run;
    weft_sched sched = *search;
    sched.team = run->team;
    sched.task_self = run->task_self;
    sched.from = run->from;
    sched.nfrom = run->nfrom;
    sched.from_kept = NULL;
    sched.crew = (weft_crew){0};
    TRY(weft_run_look(run->team, run->opts.output, "before the winner was trained again"));
    weft_status st = weft_job_alone(&sched, &refit->job, &refit->own, loss);
    if (st == WEFT_STOP)
        TRY(weft_run_look(run->team, run->opts.output,
                          "while the winner was trained again"));
    return st;
}

/* 1: its loss is infinite, or a weight not finite. */
static int has_diverged(const weft_refit *refit, double loss)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    const weft_run *run = &refit->run;
    int n = weft_task_tensors(run->task, run->task_self, &refit->job, tensor);
    int64_t numbers = weft_tensors_size(n, tensor), i = 0;
    while (i < numbers && isfinite(refit->own.state.x[i])) i++;
    return isinf(loss) || i < numbers;
}

weft_status weft_refit_do(weft_refit *refit, weft_run *run, const weft_sched *search)
{
    double start = weft_now(), loss;
    weft_activity_set("trains the winner on all rows", -1, -1);
    refit->rows =
        (double)(run->data.part[WEFT_TRAIN].total + run->data.part[WEFT_VALID].total);
    refit->job = job_of(run, &search->queue.winner);
    refit->job.id = search->queue.n; /* which names its checkpoint, and no job has */
    TRY(open(&refit->run, run));
    weft_times_move(run->world, run->team);
    weft_status st = train(refit, search, &loss);
    weft_times_move(run->team, run->world);
    TRY(weft_agree(st, run->world));
    weft_log(WEFT_INFO,
             "the winner was trained once more, on the %.0f rows of train and valid, in "
             "%.2f s (run.refit)",
             refit->rows, weft_now() - start);
    if (has_diverged(refit, loss))
        weft_log(WEFT_WARN, "that training diverged; run.refit = no keeps the winner as "
                            "the search has left it");
    return WEFT_OK;
}
