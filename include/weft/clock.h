/* The clock by which a process measures how long something takes, and sleeps. */
#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H

double weft_now(void); /* seconds on a monotonic clock */
/* Sleeps for that many seconds. */
void weft_nap(double seconds);

#endif
