/* What a program reports in the middle of a job. */
#include "reports.h"
#include "weft/clock.h"
#include "weft/log.h"

#define SHOW_SECONDS 10.0 /* between lines of the log */

void command_reports_begin(command_reports *reports)
{
    reports->n = reports->crowded = 0;
    reports->reported = weft_now();
    if (!(reports->shown > 0)) reports->shown = reports->reported;
}

static void warn(const weft_job *job)
{
    weft_log(
        WEFT_WARN,
        "job %lld, trial %lld: the program reported more than %d times; of what follows "
        "the first %d reports the run file has the last one",
        (long long)job->id, (long long)job->trial, WEFT_MOST_REPORTS,
        WEFT_MOST_REPORTS - 1);
}

/* A row, with the time of the report whose place it takes. */
static double *add_row(command_reports *reports, const weft_job *job, double took)
{
    weft_spent spent = {.wall = took, .compute = took};
    if (reports->n == WEFT_MOST_REPORTS) {
        if (!reports->crowded) warn(job);
        reports->crowded = 1;
        reports->n--;
        spent.wall += reports->spent[reports->n].wall;
        spent.compute += reports->spent[reports->n].compute;
    }
    reports->row =
        weft_regrow(reports->mem, reports->row, COMMAND_COLUMNS * sizeof *reports->row,
                    reports->n, &reports->roomrow);
    reports->spent = weft_regrow(reports->mem, reports->spent, sizeof *reports->spent,
                                 reports->n, &reports->roomspent);
    reports->spent[reports->n] = spent;
    return reports->row + COMMAND_COLUMNS * reports->n++;
}

void command_reports_add(const command_task *command, command_reports *reports,
                         const weft_job *job, const command_reply *reply)
{
    double now = weft_now(), *row = add_row(reports, job, now - reports->reported);
    double loss = command_minimised(command, reply->loss);
    reports->reported = now;
    row[COMMAND_STEP] = reply->step;
    row[COMMAND_LOSS] = loss;
    if (now - reports->shown < SHOW_SECONDS) return;
    reports->shown = now;
    weft_arena *tmp = weft_arena_new();
    weft_log(WEFT_INFO, "job %lld, trial %lld: %s after %g of %g", (long long)job->id,
             (long long)job->trial, weft_loss_show(loss, 5, tmp), reply->step,
             reply->total);
    weft_arena_free(tmp);
}
