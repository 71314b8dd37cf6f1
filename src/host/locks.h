/* Whether locks in a directory keep other processes out, on all hosts. */
#ifndef WEFT_HOST_LOCKS_H
#define WEFT_HOST_LOCKS_H

#include "placement.h"
#include "weft/disk.h"

/* Rank 0 locks a file in a directory, which the other ranks then try to lock: found[size].
 * EFILE: it cannot be made. Collective. */
WEFT_CHECKED weft_status weft_locks_try(const char *dir, weft_team *team, weft_lock *found,
                                        weft_arena *mem);

/* Warns, with the remedy, if the first rank with a fault found that locks do not work
 * between hosts or processes, or that the directory is another one on its host; returns the
 * number of warnings. */
int weft_locks_warn(const char *dir, const weft_lock *found,
                    const weft_placement *placement, int size);

#endif
