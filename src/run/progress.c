/* What a person sees of a search while it runs. Called by the scheduler. */
#include "run_private.h"

#include <math.h>
#include <unistd.h>

#define REDRAW 0.2  /* seconds between updates of the line on a terminal */
#define RELOG  10.0 /* seconds between lines of a log that tell of rounds */

#define MOST_PLAIN 1e6 /* scores from here on are written with an exponent */

/* Of local training where validation was not scored. */
static double loss_of(const weft_round *r)
{
    if (!isnan(r->after_loss)) return r->after_loss;
    return isnan(r->before_loss) ? r->train_loss : r->before_loss;
}

void weft_show_round(weft_sched *s, const weft_job_record *e, int64_t done, double seconds)
{
    if (s->world->rank != 0 || e->nunit < 2 || done == e->nunit) return;
    const int terminal = isatty(STDERR_FILENO);
    const double now = weft_now();
    if (s->shown <= 0) s->shown = s->begun;
    if (now - s->shown < (terminal ? REDRAW : RELOG)) return;
    s->shown = now;
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    char text[160];
    snprintf(text, sizeof text,
             "round %lld of %lld in job %lld: loss %.5f, %.3g rounds/s, %.0f s left for it",
             (long long)done, (long long)e->nunit, (long long)e->job.id,
             loss_of(&e->round[done - 1]), rate,
             rate > 0 ? (double)(e->nunit - done) / rate : 0);
    if (terminal)
        weft_progress("%s", text);
    else
        weft_log(WEFT_INFO, "%s", text);
}

void weft_show_job(weft_sched *s, const weft_job_record *e)
{
    const int64_t all = weft_search_jobs(s->search);
    const double spent = weft_now() - s->begun;
    const int64_t ran = s->known - s->replayed, left = all > s->known ? all - s->known : 0;
    const double rate = spent > 0 ? (double)ran / spent : 0;
    char text[200], where[32] = "", rounds[32] = "", score[32], error[32] = "";
    snprintf(score, sizeof score, e->res.loss < MOST_PLAIN ? "%.5f" : "%.5g", e->res.loss);
    if (s->teams > 1) snprintf(where, sizeof where, " by team %lld", (long long)e->team);
    if (e->nunit > 0) snprintf(rounds, sizeof rounds, " %lld rounds,", (long long)e->nunit);
    if (!isnan(e->res.valid_error))
        snprintf(error, sizeof error, " error %.2f %%,", 100 * e->res.valid_error);
    snprintf(text, sizeof text,
             "job %lld of %lld%s:%s k = %d, score %s,%s %.2f s; %.3g jobs/s, %.0f s left",
             (long long)s->known, (long long)(all > s->known ? all : s->known), where,
             rounds, weft_mix_alive(&e->job.mix), score, error, e->seconds, rate,
             rate > 0 ? (double)left / rate : 0);
    s->shown = weft_now();
    if (isatty(STDERR_FILENO))
        weft_progress("%s", text);
    else
        weft_log(WEFT_INFO, "%s", text);
}
