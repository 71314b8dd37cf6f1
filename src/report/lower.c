/* Trials whose score is lower than the winner's. */
#include "lower.h"

#include <math.h>
#include <stdio.h>

weft_merit weft_jobs_merit(const weft_jobs *jobs, int64_t at)
{
    double tie =
        jobs->metrics->name ? jobs->metric[0][at] : (double)NAN; /* weft_result_tie */
    return (weft_merit){.wins = (int)jobs->wins[at],
                        .size = jobs->size[at],
                        .resource = jobs->resource[at],
                        .rank = weft_rank_of(jobs->loss[at], tie, jobs->job[at])};
}

/* The job that won. */
static int64_t winner_of(const weft_jobs *jobs)
{
    int64_t best = 0;
    for (int64_t i = 1; i < jobs->n; i++) {
        weft_merit a = weft_jobs_merit(jobs, i), b = weft_jobs_merit(jobs, best);
        if (weft_merit_compare(&a, &b) > 0) best = i;
    }
    return best;
}

/* The job of another trial with the lowest score below that of `winner`; -1: none. */
static int64_t lowest_of(const weft_jobs *jobs, int64_t winner)
{
    int64_t lowest = -1;
    double most = jobs->loss[winner];
    for (int64_t i = 0; i < jobs->n; i++) {
        if (jobs->trial[i] == jobs->trial[winner] || !(jobs->loss[i] < most)) continue;
        lowest = i;
        most = jobs->loss[i];
    }
    return lowest;
}

static const char *reason(const weft_summary *summary, int64_t i, int64_t winner,
                          weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    const char *tuner = weft_summary_value(summary, "tuner")->text;
    if (jobs->wins[i] == WEFT_WINS_LAST)
        return weft_arena_text(tmp,
                               "it was left behind by tuner %s, which chooses among "
                               "the trials that it kept to the end",
                               tuner ? tuner : "");
    if (jobs->size[i] < jobs->size[winner])
        return weft_arena_text(tmp, "it has %g of all features, the winner %g",
                               jobs->size[i], jobs->size[winner]);
    return weft_arena_text(tmp,
                           "it was trained for %g where the winner was for %g, and those "
                           "trained longest come first",
                           jobs->resource[i], jobs->resource[winner]);
}

void weft_lower_print(const weft_summary *summary, weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    if (jobs->n == 0) return;
    int64_t winner = winner_of(jobs), lowest = lowest_of(jobs, winner);
    if (lowest < 0) return;
    printf("lower     trial %lld has the score %s, below the winner's %s, but %s\n",
           (long long)jobs->trial[lowest], weft_loss_show(jobs->loss[lowest], 5, tmp),
           weft_loss_show(jobs->loss[winner], 5, tmp),
           reason(summary, lowest, winner, tmp));
}
