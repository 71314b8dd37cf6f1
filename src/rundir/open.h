/* Opening and closing the directory of a run, whose journals are read. */
#ifndef WEFT_RUNDIR_OPEN_H
#define WEFT_RUNDIR_OPEN_H

#include "rundir.h"

/* How a run is opened. */
enum {
    WEFT_RESUME,
    WEFT_BEGIN,
    WEFT_REPLACE, /* an existing run */
    WEFT_EXTEND,  /* one that goes on: what it has beside it stays */
    WEFT_RETRY    /* as WEFT_RESUME, also a complete run, without its failed jobs */
};

/* Opens the directory of the run file `path` and reads the journals. how: WEFT_RESUME ...
 * EFILE: not writable, in use, a run file or unfinished run exists (WEFT_BEGIN), or there
 * is no run to resume, or nothing to retry. Collective over world. */
WEFT_CHECKED weft_status weft_rundir_open(weft_rundir *rundir, const char *path, int how,
                                          weft_team *world, weft_arena *mem);

/* 1 if the directory has a journal in which more than the configuration was written. */
int weft_rundir_is_begun(const char *dir, weft_arena *mem);

/* Closes the directory; `done` 1: the run is complete or was not started, and NAME.d is
 * removed. */
void weft_rundir_close(weft_rundir *rundir, int done);

#endif
