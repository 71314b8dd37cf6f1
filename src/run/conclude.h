/* The end of a run. */
#ifndef WEFT_RUN_CONCLUDE_H
#define WEFT_RUN_CONCLUDE_H

#include "instance.h"
#include "result/result.h"
#include "sched/sched.h"

/* What the task measures and the axes of the space. */
weft_tables weft_run_tables(const weft_run *run);
/* Scores the winner, by run.refit after it was trained once more, and writes the run file,
 * of whose members outcome->config and outcome->hosts are set. ENONE: it is written, and
 * nothing won; WEFT_STOP, EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_run_conclude(weft_run *run, weft_sched *sched,
                                           const weft_rundir *rundir,
                                           weft_outcome *outcome);

#endif
