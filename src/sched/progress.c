/* Progress of a search, on the terminal or in the log. */
#include "progress.h"
#include "weft/clock.h"
#include "weft/log.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define REDRAW 0.2  /* seconds between updates of the line on a terminal */
#define RELOG  10.0 /* seconds between log lines about rounds */

/* On a terminal in place of the line before. */
static void show(const char *text)
{
    if (isatty(STDERR_FILENO))
        weft_progress("%s", text);
    else
        weft_log(WEFT_INFO, "%s", text);
}

/* "after_loss 2.81": the first number of the row that was measured. */
static const char *first_of(const weft_metric *table, const double *row, weft_arena *tmp)
{
    for (int i = 0; table && table[i].name; i++)
        if (!isnan(row[i]))
            return weft_arena_text(tmp, "%s %s,", table[i].name,
                                   weft_loss_show(row[i], 5, tmp));
    return "";
}

/* "error 12.34 %,": the metrics of the job that have a title and were measured. */
static const char *titled(const weft_metric *table, const weft_result *res, weft_arena *tmp)
{
    const char *text = "";
    for (int i = 0; i < res->nmetric && table && table[i].name; i++)
        if (table[i].title && !isnan(res->metric[i]))
            text = weft_arena_text(tmp, "%s %s,", text,
                                   weft_metric_show(&table[i], res->metric[i], tmp));
    return text;
}

void weft_show_round(weft_sched *sched, const weft_job_record *record, int64_t done,
                     double seconds)
{
    if (sched->world->rank != 0 || record->nunit < 2 || done == record->nunit) return;
    int terminal = isatty(STDERR_FILENO);
    double now = weft_now();
    if (sched->shown <= 0) sched->shown = sched->begun;
    if (now - sched->shown < (terminal ? REDRAW : RELOG)) return;
    sched->shown = now;
    double rate = seconds > 0 ? (double)done / seconds : 0;
    weft_arena *tmp = weft_arena_new();
    const char *text = weft_arena_text(
        tmp, "round %lld of %lld in job %lld: %s %.3g rounds/s, %.0f s left for it",
        (long long)done, (long long)record->nunit, (long long)record->job.id,
        first_of(sched->task->rows, record->row + (done - 1) * record->ncolumn, tmp), rate,
        rate > 0 ? (double)(record->nunit - done) / rate : 0);
    show(text);
    weft_arena_free(tmp);
}

void weft_show_job(weft_sched *sched, const weft_job_record *record)
{
    int64_t all = weft_search_jobs(sched->search);
    double spent = weft_now() - sched->begun;
    int64_t left = all > sched->queue.known ? all - sched->queue.known : 0;
    double rate = spent > 0 ? sched->queue.ran / spent : 0;
    char where[32] = "", rounds[32] = "";
    weft_arena *tmp = weft_arena_new();
    if (sched->teams > 1)
        snprintf(where, sizeof where, " by team %lld", (long long)record->team);
    if (record->nunit > 0)
        snprintf(rounds, sizeof rounds, " %lld %s,", (long long)record->nunit,
                 sched->task->units ? "rounds" : "reports");
    const char *text = weft_arena_text(
        tmp, "job %lld of %lld%s:%s k = %d, score %s,%s %.2f s; %.3g jobs/s, %.0f s left",
        (long long)sched->queue.known,
        (long long)(all > sched->queue.known ? all : sched->queue.known), where, rounds,
        weft_mix_alive(&record->job.mix), weft_loss_show(record->res.loss, 5, tmp),
        titled(sched->task->metrics, &record->res, tmp), record->seconds, rate,
        rate > 0 ? (double)left / rate : 0);
    sched->shown = weft_now();
    show(text);
    weft_arena_free(tmp);
}

void weft_show_scored(double share)
{
    static double begun, shown, before = 2; /* of the part that is scored */
    double now = weft_now();
    int terminal = isatty(STDERR_FILENO);
    weft_activity_set("scores the winner", -1, -1);
    weft_hold("scores the winner");
    if (share < before) begun = shown = now;
    before = share;
    if (now - shown < (terminal ? REDRAW : RELOG)) return;
    shown = now;
    char text[80];
    snprintf(text, sizeof text, "scores of the winner: %.0f %%, %.0f s left", 100 * share,
             share > 0 ? (now - begun) * (1 / share - 1) : INFINITY);
    show(text);
}
