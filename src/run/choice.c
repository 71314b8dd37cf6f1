/* Which job wins a run, and which configuration of its mixture. Called by the scheduler and
 * by what reports the winner. */
#include "run_private.h"

#include <math.h>

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

int weft_event_compare(const weft_event *a, const weft_event *b)
{
    const int may_a = a->job.wins > 0, may_b = b->job.wins > 0;
    if (may_a != may_b) return may_a - may_b;
    if (!may_a) return compare((double)a->job.id, (double)b->job.id);
    const int fine_a = isfinite(a->res.loss), fine_b = isfinite(b->res.loss);
    if (fine_a != fine_b) return fine_a - fine_b;
    int c = 0;
    if (a->job.wins == 1 && b->job.wins == 1) {
        c = compare(a->job.size, b->job.size);
        if (c == 0) c = compare(a->res.resource, b->res.resource);
    }
    if (c == 0) c = compare(b->res.loss, a->res.loss);
    if (c == 0) c = compare((double)b->job.id, (double)a->job.id);
    return c;
}

/* The mixture as the job left it. */
static weft_mix mix_after(const weft_event *e)
{
    weft_mix m = e->job.mix;
    m.z = e->res.z;
    return m;
}

int weft_winner_arm(const weft_event *e)
{
    const weft_mix m = mix_after(e);
    int best[WEFT_MOST_BLOCKS];
    weft_mix_best(&m, best);
    int arm = best[0];
    for (int i = 0; i < weft_mix_off(&m, 1); i++)
        if (!(m.z[i] < m.z[arm]) &&
            weft_result_score(&e->res, i) < weft_result_score(&e->res, arm))
            arm = i;
    return arm;
}

void weft_winner_conf(const weft_event *e, double *conf)
{
    const weft_mix m = mix_after(e);
    int pick[WEFT_MOST_BLOCKS];
    weft_mix_best(&m, pick);
    pick[0] = weft_winner_arm(e);
    weft_mix_compose(&m, pick, conf);
}
