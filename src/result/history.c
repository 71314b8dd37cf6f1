/* The jobs of a run, as tables of the run file: columns of all jobs and arms, and the
 * configurations. Those of rounds are in rounds.c. */
#include "history.h"
#include "columns.h"
#include "metrics.h"
#include "rounds.h"
#include "timeline.h"

#include <math.h>
#include <string.h>

typedef struct event_row {
    int64_t job, trial, from, round, rounds, last, wins, k, alive;
    double resource, size, loss, bound, cost, seconds, regret;
} event_row;

static const weft_field event_columns[] = {
    WEFT_WHOLE(event_row, job, "job, in the order asked", "id"),
    WEFT_WHOLE(event_row, trial, "trial: whose weights were trained", "id"),
    WEFT_WHOLE(event_row, from, "trial whose weights a new trial copied; -1: none", "id"),
    WEFT_WHOLE(event_row, round, "number of earlier jobs that trained the trial", "count"),
    WEFT_WHOLE(event_row, rounds, "rounds of the job: rows of /rounds", "count"),
    WEFT_WHOLE(event_row, last, "1: the last that the trial could have", "0 or 1"),
    WEFT_WHOLE(event_row, wins,
               "eligibility to win: 0 only if no other job can, 1 by resource, then loss, "
               "2 by loss",
               "choice"),
    WEFT_WHOLE(event_row, k, "configurations in the mixture", "count"),
    WEFT_WHOLE(event_row, alive, "configurations with a probability above 0", "count"),
    WEFT_NUMBER(event_row, resource, "total that the trial was given", "the task's unit"),
    WEFT_NUMBER(event_row, size, "share of the full number of features", "1"),
    WEFT_NUMBER(
        event_row, loss,
        "score that the tuner was told, under the mixture: mean validation loss, or "
        "error rate if the task's option score says so; fed: clients that "
        "diverged or missed the deadline count as the worst",
        "loss or 1"),
    WEFT_NUMBER(
        event_row, bound,
        "half the width of the 95 % interval of the score: for the last weights if "
        "clients were evaluated at the end, else for the mean over the rounds pooled; "
        "0: the score is exact; nan: not known",
        "loss or 1"),
    WEFT_NUMBER(event_row, cost, "cost of the job as the task counts it",
                "the task's unit"),
    WEFT_NUMBER(event_row, seconds, "real time of the job", "s"),
    WEFT_NUMBER(event_row, regret,
                "first metric of the job minus its optimum over the space; nan if the "
                "task does not know the optimum",
                "loss"),
};

typedef struct arm_row {
    int64_t job, config;
    double p, after, loss, error, score, count;
} arm_row;

static const weft_field arm_columns[] = {
    WEFT_WHOLE(arm_row, job, "job", "id"),
    WEFT_WHOLE(arm_row, config, "configuration, by its index in the space: /configs/id",
               "id"),
    WEFT_NUMBER(arm_row, p, "probability in the job's mixture", "1"),
    WEFT_NUMBER(arm_row, after, "probability in the mixture after the job", "1"),
    WEFT_NUMBER(arm_row, loss, "mean validation loss; nan: not scored", "loss"),
    WEFT_NUMBER(arm_row, error, "share of wrong answers; nan: not scored", "1"),
    WEFT_NUMBER(arm_row, score,
                "loss or error, by which configurations are compared; nan: not scored",
                "loss or 1"),
    WEFT_NUMBER(arm_row, count, "validation samples scored", "count"),
};

/* ---- parts of the file ---- */

static weft_status put_events(weft_h5 *file, const weft_history *history)
{
    int nmetric = weft_metrics_count(history->tables.metrics);
    event_row *row = WEFT_NEW(file->mem, event_row, history->n);
    double *metric = WEFT_NEW(file->mem, double, history->n *nmetric);
    for (int64_t i = 0; i < history->n; i++) {
        const weft_job_record *record = &history->record[i];
        row[i] = (event_row){
            .job = record->job.id,
            .trial = record->job.trial,
            .from = record->job.from,
            .round = record->job.index,
            .rounds = record->nunit,
            .last = record->job.last,
            .wins = record->job.eligibility,
            .k = record->job.mix.k,
            .alive = weft_mix_alive(&record->job.mix),
            .resource = record->res.resource,
            .size = record->job.feature_fraction,
            .loss = record->res.loss,
            .bound = record->res.bound,
            .cost = record->res.cost,
            .seconds = record->seconds,
            .regret = nmetric > 0 ? record->res.metric[0] - history->optimum : NAN};
        if (nmetric > 0)
            memcpy(metric + i * nmetric, record->res.metric,
                   (size_t)nmetric * sizeof *metric);
    }
    if (!isnan(history->optimum))
        TRY(weft_h5_put_num(file, "/", "optimum", history->optimum));
    TRY(weft_put_columns(file, "events", event_columns, WEFT_COUNT(event_columns), row,
                         sizeof *row, history->n));
    return weft_put_table(file, "events", "metrics", history->tables.metrics, metric,
                          history->n);
}

/* One row for each arm of each job that was not eliminated or was scored. */
static weft_status put_arms(weft_h5 *file, const weft_history *history)
{
    int64_t room = 0, n = 0;
    for (int64_t i = 0; i < history->n; i++) room += history->record[i].job.mix.k;
    arm_row *row = WEFT_NEW(file->mem, arm_row, room);
    for (int64_t i = 0; i < history->n; i++) {
        const weft_mix *mix = &history->record[i].job.mix;
        const weft_result *res = &history->record[i].res;
        for (int a = 0; a < mix->k; a++) {
            if (!(mix->logp[a] > -INFINITY) && !(res->arm_count[a] > 0)) continue;
            double samples = res->arm_count[a] > 0 ? res->arm_count[a] : NAN;
            row[n++] = (arm_row){.job = history->record[i].job.id,
                                 .config = mix->id[a],
                                 .p = exp(mix->logp[a]),
                                 .after = exp(res->logp[a]),
                                 .loss = res->arm_loss[a] / samples,
                                 .error = res->arm_wrong[a] / samples,
                                 .score = weft_result_score(res, a),
                                 .count = res->arm_count[a]};
        }
    }
    return weft_put_columns(file, "arms", arm_columns, WEFT_COUNT(arm_columns), row,
                            sizeof *row, n);
}

/* "real", "integer", "boolean", or the words that the values are indices of: "nb|sif". */
static const char *type_of(const weft_opt *opt, weft_arena *mem)
{
    if (opt->type == WEFT_BOOL) return "boolean";
    if (opt->type == WEFT_REAL) return "real";
    if (opt->type != WEFT_CHOICE && opt->type != WEFT_WORDS) return "integer";
    const char *words = "";
    int n = 1;
    for (const char *c = opt->words; *c; c++) n += *c == '|';
    for (int i = 0; i < n; i++) {
        char word[128];
        weft_opt_show(opt, i, word, sizeof word);
        words = weft_arena_text(mem, "%s%s%s", words, i > 0 ? "|" : "", word);
    }
    return words;
}

/* Names and types of the axes. */
static weft_status put_axes(weft_h5 *file, const weft_tables *tables)
{
    const char **name = WEFT_NEW(file->mem, const char *, tables->dim);
    const char **type = WEFT_NEW(file->mem, const char *, tables->dim);
    for (int i = 0; i < tables->dim; i++) {
        char text[128];
        weft_axis_name(&tables->axis[i], text, sizeof text);
        name[i] = weft_arena_text(file->mem, "%s", text);
        type[i] = type_of(tables->axis[i].opt, file->mem);
    }
    TRY(weft_h5_put_texts(file, "/configs/axis", name, tables->dim, "names of the axes"));
    return weft_h5_put_texts(file, "/configs/type", type, tables->dim,
                             "real, integer, boolean, or the words of a choice by index");
}

/* All configurations that occur in jobs, by increasing id. */
static weft_status put_configs(weft_h5 *file, const weft_history *history)
{
    int64_t most = 0, n = 0, jobs = history->n + history->nflight;
    const weft_mix **mix = WEFT_NEW(file->mem, const weft_mix *, jobs);
    for (int64_t i = 0; i < jobs; i++) {
        mix[i] = i < history->n ? &history->record[i].job.mix
                                : &history->flight[i - history->n].job.mix;
        for (int a = 0; a < mix[i]->k; a++)
            if (mix[i]->id[a] >= most) most = mix[i]->id[a] + 1;
    }
    const double **conf = WEFT_NEW(file->mem, const double *, most);
    for (int64_t i = 0; i < jobs; i++)
        for (int a = 0; a < mix[i]->k; a++)
            conf[mix[i]->id[a]] = mix[i]->conf + (size_t)a * mix[i]->dim;
    int dim = history->tables.dim;
    int64_t *id = WEFT_NEW(file->mem, int64_t, most);
    double *value = WEFT_NEW(file->mem, double, (size_t)most *dim);
    const char **text = WEFT_NEW(file->mem, const char *, most);
    for (int64_t i = 0; i < most; i++) {
        if (!conf[i]) continue;
        char shown[1024];
        weft_axes_show(history->tables.axis, dim, conf[i], shown, sizeof shown);
        text[n] = weft_arena_text(file->mem, "%s", shown);
        if (dim > 0) memcpy(value + n * dim, conf[i], (size_t)dim * sizeof *value);
        id[n++] = i;
    }
    int64_t shape[2] = {n, dim};
    TRY(weft_h5_put(file, "/configs/id", WEFT_H5_I64, 1, &n, id, 0, "index in the space",
                    "id"));
    TRY(weft_h5_put(
        file, "/configs/value", WEFT_H5_F64, 2, shape, value, 0,
        "one row per configuration, one column per axis; choices by index; NaN: "
        "the axis does not exist there",
        "the option's own"));
    TRY(weft_h5_put_texts(file, "/configs/text", text, n, "the configurations as text"));
    return put_axes(file, &history->tables);
}

weft_status weft_history_put(weft_h5 *file, const weft_history *history)
{
    TRY(put_events(file, history));
    TRY(weft_put_metrics(file, history));
    TRY(weft_put_rounds(file, history));
    TRY(weft_put_timeline(file, history));
    TRY(put_arms(file, history));
    return put_configs(file, history);
}

weft_starts weft_starts_sum(const weft_time *time, int64_t n, const weft_history *history)
{
    weft_starts all = {.teams = 1};
    double at = 0;
    for (int64_t i = 0; i < history->n; i++)
        if (history->record[i].team >= all.teams)
            all.teams = (int)history->record[i].team + 1;
    all.most = all.teams;
    for (int64_t i = 0; i < n; i++) {
        if (time[i].teams == 0) continue;
        all.team_seconds += all.teams * fmax(time[i].at - at, 0);
        at = time[i].at;
        all.teams = (int)time[i].teams;
        if (all.teams > all.most) all.most = all.teams;
        all.setup += time[i].setup;
        all.n++;
    }
    all.team_seconds += all.teams * fmax(history->seconds - at, 0);
    return all;
}
