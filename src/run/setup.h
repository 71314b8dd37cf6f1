/* Sets up a run from its configuration. */
#ifndef WEFT_RUN_SETUP_H
#define WEFT_RUN_SETUP_H

#include "instance.h"

/* Binds all options of the configuration and finds the plug-ins that it names. `fresh` 1:
 * the configuration is a user's and is checked; 0: it is that of a run that was started
 * before. The world is one team until weft_run_divide. Collective over world. ECONF. */
WEFT_CHECKED weft_status weft_run_bind(weft_run *run, weft_conf *conf, int fresh,
                                       weft_team *world, weft_arena *mem);

/* "sha", "asha with sampler tpe, mixing fedex": the tuner, and sampler and mixing if they
 * are not the default. Owned by run->mem. */
const char *weft_run_method(const weft_run *run);

/* Divides the ranks into run.teams teams. ECONF if there are fewer ranks, unless `fewer` is
 * 1, as in a resumed run, which then gets as many teams as ranks. Collective over world. */
WEFT_CHECKED weft_status weft_run_divide(weft_run *run, int fewer);

/* Opens the data and sets up task and tuner. Collective over world. EDATA, ELIMIT,
 * ECONF. */
WEFT_CHECKED weft_status weft_run_open(weft_run *run, const char *data);
void weft_run_close(weft_run *run);
/* Closes the data and frees what the task has made of them. */
void weft_run_release(weft_run *run);

/* That trains a configuration of the task. */
int64_t weft_run_resource(const weft_run *run);

/* Bytes of the largest state of a trial of one configuration. */
double weft_run_state_bytes(const weft_run *run);
/* Bytes on disk of what clients keep in a state, at most; 0: they keep nothing. */
double weft_run_kept_bytes(const weft_run *run);

/* 1: the search is of one job, whose units do not depend on its resource. */
int weft_run_may_grow(const weft_run *run);

#endif
