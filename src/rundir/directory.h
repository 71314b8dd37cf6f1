/* The directory in which a run was begun. */
#ifndef WEFT_RUNDIR_DIRECTORY_H
#define WEFT_RUNDIR_DIRECTORY_H

#include "rundir.h"

/* Makes rank 0's current directory that of all ranks: *dir, owned by mem; NULL: it has no
 * name. EFILE: it is not there on a rank's host; `run` is for the message. Collective over
 * world. */
WEFT_CHECKED weft_status weft_directory_begin(const char **dir, const char *run,
                                              weft_team *world, weft_arena *mem);

/* Makes rundir->directory the current one, and the paths of the run, to which its file was
 * `output` when it was begun, absolute. If the directory is missing because the experiment
 * was moved as a whole, its new place is taken. *before: the directory to return to; NULL:
 * it has not changed. EFILE: missing. Collective over world. */
WEFT_CHECKED weft_status weft_directory_resume(weft_rundir *rundir, const char *output,
                                               const char **before);

/* The assignment "run.data=PATH", typed in the directory `before`, for another one. Other
 * assignments are returned as they are. Owned by mem. */
const char *weft_directory_typed(const char *assignment, const char *before,
                                 weft_arena *mem);

/* Returns to the directory `before`; NULL: does nothing. */
void weft_directory_leave(const char *before);

#endif
