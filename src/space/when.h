/* Conditions of axes; used by space.c only. What samplers use is in space.h. */
#ifndef WEFT_SPACE_WHEN_H
#define WEFT_SPACE_WHEN_H

#include "weft/space.h"

/* Reads the conditions of all axes, removes axes with a condition on an option that is not
 * an axis if that option does not meet it, and sets space->order. ECONF. */
WEFT_CHECKED weft_status weft_space_when(weft_space *space, const weft_conf *conf,
                                         const weft_kind *const *kinds, int nkind,
                                         weft_arena *mem);
/* Sets space->list and space->listed to the points of a grid with conditions, the last axis
 * of space->order changing fastest, none twice. Returns their number, or most + 1 where
 * there are more. Cost O(points dim). */
int64_t weft_space_grid(weft_space *space, int64_t most, weft_arena *mem);
/* ECONF where a configuration of a list has a value that its conditions exclude, or lacks
 * one. */
WEFT_CHECKED weft_status weft_space_check_list(const weft_space *space);

#endif
