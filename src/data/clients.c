/* Sizes of clients, and their samples by parts. */
#include "weft/clients.h"

#include <math.h>

void weft_sizes_add(weft_sizes *sizes, int64_t n)
{
    sizes->total += n;
    sizes->square += (double)n * (double)n;
    if (n > sizes->most) sizes->most = n;
}

void weft_client_divide(double valid_share, double test_share, int64_t n,
                        int64_t count[WEFT_NPART])
{
    int64_t valid = llround((double)n * valid_share),
            test = llround((double)n * test_share);
    count[WEFT_VALID] = valid < n ? valid : n - 1;
    int64_t rest = n - 1 - count[WEFT_VALID];
    count[WEFT_TEST] = test < rest ? test : rest;
    count[WEFT_TRAIN] = n - count[WEFT_VALID] - count[WEFT_TEST];
}

int64_t weft_client_place(const int64_t *count, int part, int64_t gap)
{
    int64_t place = 0;
    int before = 0; /* parts with samples */
    for (int i = 0; i < part; i++) {
        if (count[i] == 0) continue;
        place += count[i] + (before++ > 0 ? gap : 0);
    }
    return place + (before > 0 && part < WEFT_NPART ? gap : 0);
}
