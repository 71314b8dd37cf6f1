/* Points on an axis, and its range. What tuners use is in space.h. */
#ifndef WEFT_SPACE_AXIS_H
#define WEFT_SPACE_AXIS_H

#include "weft/space.h"

/* The point drawn by unit in [0, 1). */
double weft_axis_draw(const weft_axis *axis, double unit);
/* A point around `centre`, as weft_space_perturb says, drawn by unit in [0, 1). */
double weft_axis_near(const weft_axis *axis, double centre, double eps, double unit);

/* Reads a text "a .. b", "log a .. b", "x | y" or "x" as the range of an axis, whose option
 * is set; e is the entry that messages name. ECONF. */
WEFT_CHECKED weft_status weft_space_range(const weft_entry *entry, const char *text,
                                          weft_axis *axis, weft_arena *mem);
/* Number of options in the tables of the kinds. */
int weft_space_nopt(const weft_kind *const *kinds, int nkind);

#endif
