/* How many jobs of a search can be done in parallel: simulates a number of teams that do
 * the jobs in the order of asking and telling that a plan has recorded; each free team
 * takes the next job that has been asked for. */
#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft_order_ask(weft_order *order, double work)
{
    order->job =
        weft_grow(order->mem, order->job, sizeof *order->job, order->n, &order->room);
    order->job[order->n] =
        (weft_order_job){.id = order->n, .after = order->told, .work = fmax(work, 1)};
    order->n++;
    if (order->n - order->told > order->most) order->most = order->n - order->told;
}

void weft_order_tell(weft_order *order, int64_t job)
{
    order->tell = weft_grow(order->mem, order->tell, sizeof *order->tell, order->told,
                            &order->roomtell);
    order->tell[order->told++] = job;
}

/* The state of a simulation. */
struct shift {
    const weft_order *order;
    weft_order_job *job; /* [n] in the order in which teams take them */
    int64_t ready, taken;
    int64_t told;
    char *known;   /* [n] by id, 1: the job is done */
    int64_t *does; /* [teams] job of each team; -1: none */
    double *until; /* [teams] time at which that job ends */
    int64_t busy;  /* number of teams that have a job */
    double now;
};

/* The order in which jobs are taken: of those asked for together the most expensive first,
 * else as asked for. */
static int by_work(const void *pa, const void *pb)
{
    const weft_order_job *a = pa, *b = pb;
    if (a->after != b->after) return a->after < b->after ? -1 : 1;
    if (a->work > b->work || a->work < b->work) return a->work > b->work ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Idle teams take what is asked by now. */
static void take(struct shift *shift, int teams)
{
    while (shift->ready < shift->order->n && shift->job[shift->ready].after <= shift->told)
        shift->ready++;
    for (int g = 0; g < teams && shift->taken < shift->ready; g++) {
        if (shift->does[g] >= 0) continue;
        const weft_order_job *job = &shift->job[shift->taken++];
        shift->does[g] = job->id;
        shift->until[g] = shift->now + job->work;
        shift->busy++;
    }
}

/* The team that is done first; results that are due are told. */
static void finish(struct shift *shift, int teams)
{
    int first = -1;
    for (int g = 0; g < teams; g++)
        if (shift->does[g] >= 0 && (first < 0 || shift->until[g] < shift->until[first]))
            first = g;
    shift->now = shift->until[first];
    shift->known[shift->does[first]] = 1;
    shift->does[first] = -1;
    shift->busy--;
    if (shift->order->wall) shift->told++;
    while (!shift->order->wall && shift->told < shift->order->n &&
           shift->known[shift->order->tell[shift->told]])
        shift->told++;
}

double weft_order_busy(const weft_order *order, int teams)
{
    weft_arena *tmp = weft_arena_new();
    struct shift shift = {.order = order,
                          .job = WEFT_NEW(tmp, weft_order_job, order->n),
                          .known = WEFT_NEW(tmp, char, order->n),
                          .does = WEFT_NEW(tmp, int64_t, teams),
                          .until = WEFT_NEW(tmp, double, teams)};
    double sum = 0;
    memcpy(shift.job, order->job, (size_t)order->n * sizeof *shift.job);
    if (order->costly) qsort(shift.job, (size_t)order->n, sizeof *shift.job, by_work);
    for (int g = 0; g < teams; g++) shift.does[g] = -1;
    for (int64_t i = 0; i < order->n; i++) sum += order->job[i].work;
    for (take(&shift, teams); shift.busy > 0; take(&shift, teams)) finish(&shift, teams);
    double busy = sum / (shift.now * teams);
    weft_arena_free(tmp);
    return busy;
}
