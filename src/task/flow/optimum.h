/* The least risk of any configuration. */
#ifndef WEFT_TASK_FLOW_OPTIMUM_H
#define WEFT_TASK_FLOW_OPTIMUM_H

#include "flow.h"
#include "weft/space.h"

/* Minimum of the risk over all configurations trained from the start with 1, 2 ... `most`
 * units: those of a list or grid, or those in the box of the axes of [flow], up to
 * rounding. `set` has the values of options that are not axes. NAN if that needs more than
 * 1e10 gains, or if an axis of the box has a condition. */
double flow_optimum(const flow_problem *problem, const weft_space *space,
                    const flow_setting *set, double most, weft_arena *tmp);
/* Replaces values of `set` by those of the configuration. */
flow_setting flow_setting_of(const weft_space *space, const double *conf,
                             const flow_setting *set);

#endif
