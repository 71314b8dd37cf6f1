/* When a unit is left before its end. Private to task.
 *
 * A run that is asked to stop ends between units, where nothing is lost. A unit that has
 * not ended some seconds later is left: its step returns WEFT_STOP, and a resume repeats it
 * from the last checkpoint, with the same bits. */
#ifndef WEFT_TASK_HALT_H
#define WEFT_TASK_HALT_H

#include "weft/task.h"

/* 1 if this rank should leave its unit. *asked: when it first saw that the run is to stop;
 * 0 at first. */
int halt_is_due(const weft_env *env, double *asked);

#endif
