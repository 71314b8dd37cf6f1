/* Points on an axis; used by space.c only. What tuners use is in space.h. */
#ifndef WEFT_SPACE_AXIS_H
#define WEFT_SPACE_AXIS_H

#include "weft/space.h"

/* The point drawn by unit in [0, 1). */
double weft_axis_draw(const weft_axis *axis, double unit);
/* A point around `centre`, as weft_space_perturb says, drawn by unit in [0, 1). */
double weft_axis_near(const weft_axis *axis, double centre, double eps, double unit);

#endif
