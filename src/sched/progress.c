/* Progress of a search, on the terminal or in the log. */
#include "progress.h"
#include "weft/par.h"

#include <math.h>
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

void weft_show_round(weft_sched *s, const weft_job_record *e, int64_t done, double seconds)
{
    if (s->world->rank != 0 || e->nunit < 2 || done == e->nunit) return;
    int terminal = isatty(STDERR_FILENO);
    double now = weft_now();
    if (s->shown <= 0) s->shown = s->begun;
    if (now - s->shown < (terminal ? REDRAW : RELOG)) return;
    s->shown = now;
    double rate = seconds > 0 ? (double)done / seconds : 0;
    weft_arena *tmp = weft_arena_new();
    const char *text = weft_arena_text(
        tmp, "round %lld of %lld in job %lld: %s %.3g rounds/s, %.0f s left for it",
        (long long)done, (long long)e->nunit, (long long)e->job.id,
        first_of(s->task->rows, e->row + (done - 1) * e->ncolumn, tmp), rate,
        rate > 0 ? (double)(e->nunit - done) / rate : 0);
    show(text);
    weft_arena_free(tmp);
}

void weft_show_job(weft_sched *s, const weft_job_record *e)
{
    int64_t all = weft_search_jobs(s->search);
    double spent = weft_now() - s->begun;
    int64_t left = all > s->queue.known ? all - s->queue.known : 0;
    double rate = spent > 0 ? s->queue.ran / spent : 0;
    char where[32] = "", rounds[32] = "";
    weft_arena *tmp = weft_arena_new();
    if (s->teams > 1) snprintf(where, sizeof where, " by team %lld", (long long)e->team);
    if (e->nunit > 0) snprintf(rounds, sizeof rounds, " %lld rounds,", (long long)e->nunit);
    const char *text = weft_arena_text(
        tmp, "job %lld of %lld%s:%s k = %d, score %s,%s %.2f s; %.3g jobs/s, %.0f s left",
        (long long)s->queue.known, (long long)(all > s->queue.known ? all : s->queue.known),
        where, rounds, weft_mix_alive(&e->job.mix), weft_loss_show(e->res.loss, 5, tmp),
        titled(s->task->metrics, &e->res, tmp), e->seconds, rate,
        rate > 0 ? (double)left / rate : 0);
    s->shown = weft_now();
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
