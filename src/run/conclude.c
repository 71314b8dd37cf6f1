/* The end of a run: the winner is scored, by run.refit after it was trained once more, and
 * the run file is written. For the refit the run is set up again with the train and valid
 * parts as one, and does the job that trains the winner's configuration alone, as long as
 * was best. */
#include "host/host.h"
#include "run.h"
#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/par/par.h"
#include "weft/store/h5.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

struct refit {
    weft_run run;       /* the same run, whose data have both parts as one; to be closed by
                           weft_run_close */
    weft_job job;       /* of the winner's configuration alone */
    weft_own_state own; /* to be freed by weft_own_drop */
    double rows;        /* of both parts */
};

/* ---- run.refit ---- */

/* WEFT_STOP if a signal has asked the run to stop, after its search, `when`. Collective
 * over team. */
static weft_status look_for_stop(weft_team *team, const char *path, const char *when)
{
    double signal = weft_signals_seen();
    weft_max_f64(team, &signal, 1);
    if (!(signal > 0)) return WEFT_OK;
    return weft_fail(
        WEFT_STOP,
        "stopped by signal %.0f after the search, %s; go on with `weft resume %s`", signal,
        when, path);
}

static weft_mix winner_mix(const weft_run *run, const weft_job_record *winner)
{
    weft_mix mix = weft_mix_new(1, winner->job.mix.dim, run->mem);
    mix.id[0] = winner->job.mix.id[weft_winner_arm(winner)];
    weft_winner_conf(winner, mix.conf);
    return mix;
}

/* The configuration of the winner, to be trained from the beginning. */
static weft_job job_of_refit(const weft_run *run, const weft_job_record *winner)
{
    weft_mix mix = winner_mix(run, winner);
    weft_job job = weft_job_new(
        winner->job.trial, run->task->winner.refit(run->task_self, &winner->res), &mix);
    job.last = 1;
    return job;
}

/* Sets up the run once more, by its configuration and the data that it has in this
 * session. */
static weft_status open_again(weft_run *again, weft_run *run)
{
    weft_conf *conf = WEFT_NEW(run->mem, weft_conf, 1);
    weft_conf_init(conf, run->mem);
    TRY(weft_agree(
        weft_conf_text(conf, run->opts.output, weft_conf_echo(run->conf, run->mem)),
        run->world));
    TRY(weft_run_bind(again, conf, 0, run->world, run->mem));
    again->team = run->team;
    again->teams = run->teams;
    again->on.whole = 1;
    weft_run_release(run);
    return weft_run_open(again, run->opts.data);
}

/* Collective over the team. */
static weft_status train_alone(struct refit *refit, const weft_sched *search, double *loss)
{
    weft_run *run = &refit->run;
    weft_sched sched = *search;
    sched.team = run->team;
    sched.task_self = run->task_self;
    sched.given = (weft_given){.x = run->given.x, .n = run->given.n};
    sched.crew = (weft_crew){0};
    TRY(look_for_stop(run->team, run->opts.output, "before the winner was trained again"));
    weft_status st = weft_job_alone(&sched, &refit->job, &refit->own, loss);
    if (st == WEFT_STOP)
        TRY(look_for_stop(run->team, run->opts.output,
                          "while the winner was trained again"));
    return st;
}

/* 1: its loss is infinite, or a weight not finite. */
static int has_diverged(const struct refit *refit, double loss)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    const weft_run *run = &refit->run;
    int n = weft_task_tensors(run->task, run->task_self, &refit->job, tensor);
    int64_t numbers = weft_tensors_size(n, tensor), i = 0;
    while (i < numbers && isfinite(refit->own.state.x[i])) i++;
    return isinf(loss) || i < numbers;
}

/* Trains the configuration of the search's winner, of the run that is open, whose task and
 * data are closed; between units it stops and is checkpointed like a job of the search. The
 * same bits on any ranks and teams, and each time. EDATA, EFILE, ELIMIT; WEFT_STOP.
 * Collective over world. */
static weft_status train_again(struct refit *refit, weft_run *run, const weft_sched *search)
{
    double start = weft_now(), loss;
    weft_activity_set("trains the winner on all rows", -1, -1);
    refit->rows =
        (double)(run->data.part[WEFT_TRAIN].total + run->data.part[WEFT_VALID].total);
    refit->job = job_of_refit(run, &search->queue.winner);
    refit->job.id = search->queue.n; /* which names its checkpoint, and no job has */
    TRY(open_again(&refit->run, run));
    weft_times_move(run->world, run->team);
    weft_status st = train_alone(refit, search, &loss);
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

/* ---- scores ---- */

/* The winner with its own configuration or, if the task says so, with the mixture after its
 * job. */
static weft_job winner_job(const weft_run *run, const weft_job_record *record)
{
    weft_job job = record->job;
    if (run->task->winner.mixes && run->task->winner.mixes(run->task_self)) {
        job.mix.logp = record->res.logp;
        return job;
    }
    job.mix = winner_mix(run, record);
    return job;
}

/* Scores the winner on a part. Collective over team. */
static weft_status score_part(const weft_run *run, const weft_job *job,
                              weft_outcome *outcome, weft_part part)
{
    TRY(look_for_stop(run->team, run->opts.output, "before the winner was scored"));
    weft_status st = run->task->winner.score(run->task_self, job, outcome->won.state, part,
                                             &outcome->won.score[part]);
    if (st == WEFT_STOP)
        TRY(look_for_stop(run->team, run->opts.output, "while the winner was scored"));
    return st;
}

/* Copies the metrics of a job that are scores of the validation part. */
static void known_scores(const weft_run *run, const weft_job_record *record,
                         weft_scores *out)
{
    const weft_metric *score = run->task->traits.scores;
    for (int i = 0; score && score[i].name; i++) {
        char name[128];
        snprintf(name, sizeof name, "valid_%s", score[i].name);
        int m = weft_metrics_find(run->task->traits.metrics, name);
        if (m >= 0) out->metric[i] = record->res.metric[m];
    }
}

/* Scores the part by which the winner was found. A fit of one configuration was scored on
 * all validation samples in its job, which is used; jobs of rounds score only some clients,
 * under a mixture that changes. */
static weft_status score_valid(const weft_run *run, weft_sched *sched,
                               weft_outcome *outcome)
{
    const weft_job_record *record = outcome->won.winner;
    int known = record->job.mix.k == 1 && !run->task->units;
    if (known) known_scores(run, record, &outcome->won.score[WEFT_VALID]);
    if (known && run->opts.refit) return WEFT_OK; /* its state is not needed */
    TRY(weft_cache_winner(sched, &outcome->won.state));
    if (known) return WEFT_OK;
    weft_job job = winner_job(run, record);
    if (run->data.part[WEFT_VALID].total == 0) return WEFT_OK;
    return score_part(run, &job, outcome, WEFT_VALID);
}

static weft_status score_test(const weft_run *run, const weft_job *job,
                              weft_outcome *outcome)
{
    if (!run->opts.test || run->data.part[WEFT_TEST].total == 0) return WEFT_OK;
    return score_part(run, job, outcome, WEFT_TEST);
}

/* Puts the winner that was trained once more in the place of that of the search. */
static void put_refit(const struct refit *refit, weft_outcome *outcome)
{
    const weft_run *run = &refit->run;
    outcome->won.state = &refit->own.state;
    outcome->won.refitted = refit->rows;
    outcome->won.score[WEFT_VALID].confusion = NULL; /* of the task that is freed */
    outcome->won.score[WEFT_VALID].fit = NULL;
    outcome->like = weft_data_likeness(&run->data);
    outcome->vocab = weft_word_weights_of(run, &refit->job).vocab;
    outcome->won.ntensor =
        weft_task_tensors(run->task, run->task_self, &refit->job, outcome->won.tensor);
}

/* Every team computes all scores, with equal results. Collective over world. */
static weft_status score_winner(weft_run *run, weft_sched *sched, struct refit *refit,
                                weft_outcome *outcome)
{
    double start = weft_now();
    for (int p = 0; p < WEFT_NPART; p++) outcome->won.score[p] = weft_scores_none();
    if (outcome->won.none) return WEFT_OK;
    weft_activity_set("scores the winner", -1, -1);
    weft_times_move(run->world, run->team);
    weft_job job = winner_job(run, outcome->won.winner);
    weft_status st = score_valid(run, sched, outcome);
    if (st == WEFT_OK && !run->opts.refit) st = score_test(run, &job, outcome);
    weft_times_move(run->team, run->world);
    TRY(weft_agree(st, run->world));
    if (run->opts.refit) {
        TRY(train_again(refit, run, sched));
        put_refit(refit, outcome);
        weft_times_move(run->world, run->team);
        st = score_test(&refit->run, &refit->job, outcome);
        weft_times_move(run->team, run->world);
    }
    weft_progress("%s", "");
    outcome->spent.test = weft_now() - start;
    return weft_agree(st, run->world);
}

/* Warns where so few samples were scored that the winner's error is uncertain by more than
 * two points: its standard error, of the share (wrong + 2) / (n + 4), which is above 0
 * where nothing was wrong, too. Agresti, Coull, "Approximate is better than exact", 1998.
 */
static void warn_uncertain(const weft_run *run, const weft_outcome *outcome)
{
    const double most = 0.02;
    const weft_scores *score = &outcome->won.score[WEFT_VALID];
    int error = weft_metrics_find(run->task->traits.scores, "error");
    double n = score->count > 0 ? score->count : outcome->won.winner->res.arm_count[0];
    int counted =
        run->task->traits.data != WEFT_DATA_NONE; /* a program's samples are not known */
    if (!counted || error < 0 || !(n > 0) || run->data.target_scale ||
        isnan(score->metric[error]))
        return;
    double p = (score->metric[error] * n + 2) / (n + 4), sd = sqrt(p * (1 - p) / (n + 4));
    if (sd > most && !outcome->ledger)
        weft_log(WEFT_WARN,
                 "the winner's validation error is of %.0f samples, with a standard error "
                 "of %.1f points, so that configurations which differ by less are told "
                 "apart by chance; pack more rows as valid, or use folds where the task "
                 "has them",
                 n, 100 * sd);
}

static void warn_guess(const weft_run *run, const weft_outcome *outcome)
{
    for (int p = WEFT_TEST; p >= WEFT_VALID; p--) {
        weft_confusion confusion = {run->data.classes, run->data.class_name,
                                    outcome->won.score[p].confusion};
        if (!confusion.rows) continue;
        const char *guess = weft_confusion_guess(&confusion, run->mem);
        if (guess) weft_log(WEFT_WARN, "the winner has learnt nothing: %s", guess);
        return;
    }
}

/* ---- the run file ---- */

/* Seconds of the winner's own fit if that followed a search over mixtures, else 0. */
static double refit_seconds(const weft_sched *sched)
{
    int64_t single = 0;
    for (int64_t i = 0; i < sched->queue.n; i++)
        single += sched->queue.record[i].job.mix.k == 1;
    return single == 1 && sched->queue.n > 1 ? sched->queue.winner.seconds : 0;
}

/* The times of the world and of this rank's team, summed. Collective over world. */
static void collect_times(const weft_run *run, weft_outcome *outcome)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    weft_times_close(run->world);
    weft_times times = run->world->times;
    if (run->team != run->world) {
        times.compute += run->team->times.compute;
        times.wait += run->team->times.wait;
        times.comm += run->team->times.comm;
        times.io += run->team->times.io;
        times.bytes += run->team->times.bytes;
    }
    /* Mapped files, which the ranks of a node share, are not counted. ru_maxrss is in
     * kilobytes. */
    double memory = (double)use.ru_maxrss * 1024 - weft_h5_mapped();
    double own[WEFT_NTIME] = {times.compute, times.wait,  times.comm,
                              times.io,      times.bytes, memory};
    weft_spread(run->world, own, WEFT_NTIME, outcome->spent.times);
}

/* The optimum of the space for the largest resource that a trial had; NAN: not known. */
static double optimum(const weft_sched *sched)
{
    double most = 0;
    if (!sched->task->winner.optimum) return NAN;
    for (int64_t i = 0; i < sched->queue.n; i++)
        most = fmax(most, sched->queue.record[i].res.resource);
    return sched->task->winner.optimum(sched->task_self, most);
}

weft_tables weft_run_tables(const weft_run *run)
{
    return (weft_tables){.metrics = run->task->traits.metrics,
                         .rows = run->task->traits.rows,
                         .scores = run->task->traits.scores,
                         .dim = run->space.dim,
                         .axis = run->space.axis};
}

static weft_history history_of(const weft_run *run, const weft_sched *sched,
                               const weft_rundir *rundir)
{
    weft_history history = {.tables = weft_run_tables(run),
                            .n = sched->queue.n,
                            .record = sched->queue.record,
                            .optimum = optimum(sched),
                            .workers = sched->workers > 0 ? sched->workers
                                                          : sched->queue.flights.workers,
                            .overhead = sched->queue.flights.overhead,
                            .makespan = sched->queue.flights.now,
                            .seconds = sched->session.seconds,
                            .goals = &run->goals,
                            .opts = &run->opts};
    history.starts = weft_starts_sum(rundir->past.time, rundir->past.ntime, &history);
    return history;
}

/* What all jobs and the winner's scores have cost clients, told and put in the run file. */
static void account(const weft_run *run, const weft_sched *sched, weft_outcome *outcome)
{
    WEFT_SCRATCH(tmp);
    weft_ledger *ledger = WEFT_NEW(run->mem, weft_ledger, 1);
    int64_t n = sched->queue.n;
    weft_job *job = WEFT_NEW(tmp, weft_job, n);
    for (int64_t i = 0; i < n; i++) job[i] = sched->queue.record[i].job;
    int parts = outcome->won.none ? 0 : 1 + run->opts.test;
    if (run->task->ledger && run->task->ledger(run->task_self, n, job, parts, ledger)) {
        outcome->ledger = ledger;
        weft_log(WEFT_INFO,
                 "privacy: the run has cost epsilon %.4g at delta %.3g, by client; its "
                 "weights alone %.4g, its scores alone %.4g",
                 ledger->epsilon, ledger->delta, ledger->weights, ledger->scores);
    }
}

static weft_status write_outcome(const weft_sched *sched, const weft_rundir *rundir,
                                 const weft_outcome *outcome)
{
    weft_status st = WEFT_OK;
    if (!outcome->won.none && weft_cache_has_files(sched))
        st = weft_place_keep(rundir->path, sched->queue.winner.job.trial,
                             sched->queue.winner.job.id);
    else
        weft_place_drop(rundir->path);
    if (st == WEFT_OK) st = weft_run_write(rundir->path, outcome);
    return weft_rundir_stuck(rundir, st);
}

static void describe(const weft_run *run, const weft_sched *sched,
                     const weft_rundir *rundir, weft_outcome *outcome)
{
    outcome->opts = &run->opts;
    outcome->space = &run->space;
    outcome->data_digest = run->data.digest;
    outcome->files = rundir->about.files;
    outcome->like = weft_data_likeness(&run->data);
    outcome->ranks = run->world->size;
    outcome->teams = run->teams;
    outcome->configs = weft_search_configs(&run->search);
    outcome->vocab = weft_word_weights_of(run, &sched->queue.winner.job).vocab;
    outcome->grows = sched->queue.n == 1 && weft_run_may_grow(run);
    outcome->longer = run->search.tuner->grows != NULL;
    outcome->by_resource =
        run->task->units || weft_run_resource(run) > 1 ||
        (run->task->plan.most && run->task->plan.most(run->task_self, run->opts.data) > 0);
    outcome->won.winner = &sched->queue.winner;
    outcome->won.members = run->task->traits.members;
    outcome->began = rundir->about.began;
    outcome->directory = rundir->directory;
    outcome->spent.search = sched->session.seconds;
    outcome->spent.refit = refit_seconds(sched);
}

/* What won: the tensors after its job, and the clients that it has numbers of; or why
 * nothing did. Collective over world. */
static weft_status describe_winner(weft_run *run, const weft_sched *sched,
                                   weft_outcome *outcome)
{
    if (!isfinite(sched->queue.winner.res.loss))
        outcome->won.none =
            sched->queue.n == 1
                ? "its only job has no finite loss"
                : weft_arena_text(run->mem, "none of its %lld jobs has a finite loss",
                                  (long long)sched->queue.n);
    outcome->won.ntensor = weft_task_tensors(run->task, run->task_self,
                                             &sched->queue.winner.job, outcome->won.tensor);
    const weft_state size = weft_run_state(run);
    char by[WEFT_MAX_TENSORS];
    int clients = weft_state_kept_bytes(&size) > 0 ||
                  weft_has_clients(run, &sched->queue.winner.job, by);
    weft_status named =
        run->world->rank == 0 && clients
            ? weft_member_names(run, &outcome->won.nmember, &outcome->won.member)
            : WEFT_OK;
    return weft_agree(named, run->world);
}

static weft_status conclude(weft_run *run, weft_sched *sched, const weft_rundir *rundir,
                            struct refit *refit, weft_outcome *outcome)
{
    describe(run, sched, rundir, outcome);
    TRY(describe_winner(run, sched, outcome));
    TRY(score_winner(run, sched, refit, outcome));
    account(run, sched, outcome);
    warn_uncertain(run, outcome);
    warn_guess(run, outcome);
    outcome->digest = weft_job_record_digest(sched->queue.record, sched->queue.n);
    outcome->history = history_of(run, sched, rundir);
    outcome->spent.setup = outcome->history.starts.setup;
    collect_times(run, outcome);
    weft_activity_set("writes the run file", -1, -1);
    TRY(look_for_stop(run->world, rundir->path, "before the run file was written"));
    weft_status st =
        run->world->rank == 0 ? write_outcome(sched, rundir, outcome) : WEFT_OK;
    TRY(weft_agree(st, run->world));
    if (!outcome->won.none) return WEFT_OK;
    return weft_fail(
        WEFT_ENONE,
        "%s: there is no winner: %s; see %s, then begin anew by `weft tune "
        "--force`%s",
        rundir->path, outcome->won.none, run->task->traits.lost,
        run->task->remote.probe ? ", or repeat them by `weft resume --retry-failed`" : "");
}

weft_status weft_run_conclude(weft_run *run, weft_sched *sched, const weft_rundir *rundir,
                              weft_outcome *outcome)
{
    struct refit *refit = WEFT_NEW(run->mem, struct refit, 1);
    weft_status st = conclude(run, sched, rundir, refit, outcome);
    weft_own_drop(&refit->own);
    weft_run_close(&refit->run);
    return st;
}
