/* Trials that begin with the weights of another run: run.start. */
#ifndef WEFT_RUN_START_H
#define WEFT_RUN_START_H

#include "instance.h"

/* 1: run.start is set, and trials are going to be trained. */
int weft_run_starts(const weft_run *run);
/* Reads run.start, if it is set. ECONF: the task trains no network; EFILE, ENONE. */
WEFT_CHECKED weft_status weft_run_start_read(weft_run *run);
/* After the task was set up on the data, whose classes and columns are those of run.start:
 * sets run->from and nfrom. EDATA: the tensors are others. */
WEFT_CHECKED weft_status weft_run_start_from(weft_run *run);
/* What the data and the weights of run.start are told by: a resume must have the same.
 * Owned by run->mem. */
const char *weft_run_origin(const weft_run *run);

#endif
