/* Rows of a labelled set dealt to clients. Private to pack. */
#ifndef WEFT_PACK_PARTITION_H
#define WEFT_PACK_PARTITION_H

#include "weft/pack.h"

enum { WEFT_SIZES_EQUAL, WEFT_SIZES_LOGNORMAL, WEFT_SIZES_POWER };
enum { WEFT_PART_NONE, WEFT_PART_IID, WEFT_PART_DIRICHLET, WEFT_PART_SHARDS };

/* Logarithm of a gamma variate of this shape > 0 and scale 1, however small the shape; a
 * function of (seed, a, b). */
double weft_gamma_log(uint64_t seed, uint64_t a, uint64_t b, double shape);

/* The labels of one part of a set, and the shares of the classes among training rows. */
typedef struct weft_labelled {
    weft_part part;
    int64_t n;
    const int32_t *label; /* [n] 0 .. classes-1 */
    int classes;
    const double *share; /* [classes] > 0, sum 1 */
} weft_labelled;

/* ECONF where the training rows do not suffice for the clients or shards. */
WEFT_CHECKED weft_status weft_partition_check(const weft_partition *partition,
                                              int64_t rows);

/* Deals each row of a part to one client: client c has the next count[c] of order[n], which
 * are row numbers. A function of labels, part and options. Cost O(n log n), for dirichlet
 * O(n classes). */
void weft_partition_deal(const weft_partition *partition, const weft_labelled *labelled,
                         int64_t *order, int64_t *count, weft_arena *tmp);

/* The rule in words. */
const char *weft_partition_text(const weft_partition *partition, weft_arena *mem);

#endif
