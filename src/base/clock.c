/* The monotonic clock, and sleep by it. */
#include "weft/clock.h"

#include <math.h>
#include <time.h>

double weft_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void weft_nap(double seconds)
{
    double whole = floor(seconds);
    const struct timespec nap = {.tv_sec = (time_t)whole,
                                 .tv_nsec = (long)(1e9 * (seconds - whole))};
    nanosleep(&nap, NULL);
}
