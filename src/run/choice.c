/* Which job wins a run, and which configuration of its mixture. Called by the scheduler and
 * by what reports the winner. */
#include "run_private.h"

#include <math.h>
#include <string.h>

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

/* First likeliest of the entries [from, to). */
static int likeliest(const double *z, int from, int to)
{
    int best = from;
    for (int i = from + 1; i < to; i++)
        if (z[i] > z[best]) best = i;
    return best;
}

int weft_winner_arm(const weft_event *e)
{
    const weft_mix *m = &e->job.mix;
    const int end = m->nblock > 1 ? m->off[1] : m->k;
    int best = likeliest(e->res.z, 0, end);
    for (int i = 0; i < end; i++)
        if (!(e->res.z[i] < e->res.z[best]) &&
            weft_result_score(&e->res, i) < weft_result_score(&e->res, best))
            best = i;
    return best;
}

void weft_winner_conf(const weft_event *e, double *conf)
{
    const weft_mix *m = &e->job.mix;
    const size_t dim = (size_t)m->dim;
    if (dim == 0) return;
    memcpy(conf, m->conf + (size_t)weft_winner_arm(e) * dim, dim * sizeof *conf);
    for (int b = 1; b < m->nblock; b++) {
        const int i = likeliest(e->res.z, m->off[b], m->off[b + 1]);
        conf[m->axis[b]] = m->conf[(size_t)i * dim + (size_t)m->axis[b]];
    }
}
