/* The one comparison by which all rankings are made; see space.h. */
#include "weft/mix.h"

#include <math.h>

weft_rank weft_rank_of(double loss, double tie, int64_t id)
{
    int sound = isfinite(loss);
    return (weft_rank){.loss = isnan(loss) ? INFINITY : loss,
                       .tie = sound && !isnan(tie) ? tie : INFINITY,
                       .id = id};
}

int weft_rank_compare(const void *left, const void *right)
{
    const weft_rank *a = left, *b = right;
    if (a->loss < b->loss || a->loss > b->loss) return a->loss < b->loss ? -1 : 1;
    if (a->tie < b->tie || a->tie > b->tie) return a->tie < b->tie ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

int weft_rank_before(weft_rank a, weft_rank b)
{
    return weft_rank_compare(&a, &b) < 0;
}
