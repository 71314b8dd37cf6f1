/* A thread that detects that this rank makes no progress. */
#ifndef WEFT_HOST_WATCHDOG_H
#define WEFT_HOST_WATCHDOG_H

#include "weft/team.h"

/* Starts a thread that detects that this rank makes no progress for `seconds`. Such ranks
 * write what they are doing to files in `dir`, and the lowest of them prints one warning
 * that names the ranks that the others wait for: those that compute, and those that write
 * nothing. The thread does not call MPI. */
void weft_watchdog_start(const weft_team *world, double seconds, const char *dir);

/* Stops the thread; does nothing if there is none. */
void weft_watchdog_stop(void);

#endif
