/* A winner that is trained once more on the train and valid parts. */
#ifndef WEFT_RUN_REFIT_H
#define WEFT_RUN_REFIT_H

#include "instance.h"
#include "sched/sched.h"

typedef struct weft_refit {
    weft_run run;       /* the same run, whose data have both parts as one; to be closed by
                           weft_run_close */
    weft_job job;       /* of the winner's configuration alone */
    weft_own_state own; /* to be freed by weft_own_drop */
    double rows;        /* of both parts */
} weft_refit;

/* WEFT_STOP if a signal has asked the run to stop, after its search, `when`. Collective
 * over team. */
WEFT_CHECKED weft_status weft_run_look(weft_team *team, const char *path, const char *when);
/* Trains the configuration of the search's winner, of the run that is open, whose task and
 * data are closed; between units it stops and is checkpointed like a job of the search. The
 * same bits on any ranks and teams, and each time. EDATA, EFILE, ELIMIT; WEFT_STOP.
 * Collective over world. */
WEFT_CHECKED weft_status weft_refit_do(weft_refit *refit, weft_run *run,
                                       const weft_sched *search);

#endif
