/* The files of a run: NAME.h5 and, until it is complete, the directory NAME.d beside it. */
#ifndef WEFT_RUNDIR_PLACE_H
#define WEFT_RUNDIR_PLACE_H

#include "weft/conf.h"

/* NAME.d of a run file NAME.h5. Owned by mem. */
const char *weft_place_dir(const char *path, weft_arena *mem);

/* Makes the directory; EFILE if it exists and contains other files but no journal. */
WEFT_CHECKED weft_status weft_place_make(const char *dir, const char *journal);

/* Removes from the directory all files that a run wrote, except the first journal. */
void weft_place_empty(const char *dir);

/* Removes from the directory the claims of an earlier session. */
void weft_place_unclaim(const char *dir);

/* As weft_place_empty, then removes the journal, and the directory if it is then empty. */
void weft_place_remove(const char *dir);

/* Checks the directory NAME.best of a run file NAME.h5, to which the files of the winner's
 * job are moved if `files` (of the task) is 1. EFILE if it exists and is not a job's
 * directory, unless this run leaves it alone, or if it exists and `fresh` is 1. */
WEFT_CHECKED weft_status weft_place_best(const char *path, int fresh, int files);

/* Moves the directory of that job there, replacing that of an older run. EFILE. */
WEFT_CHECKED weft_status weft_place_keep(const char *path, int64_t trial, int64_t job);

/* NAME.failed of a run file NAME.h5: the directory of what failed jobs printed. Owned by
 * mem. */
const char *weft_place_failed(const char *path, weft_arena *mem);

/* Removes what failed jobs of an earlier run of that name printed. */
void weft_place_forget(const char *path);

/* Removes that of an older run, where this one has none. */
void weft_place_drop(const char *path);

/* ECONF if the run file would replace a file that the configuration was read from or names,
 * also if only by a link. */
WEFT_CHECKED weft_status weft_place_apart(const char *path, const weft_conf *conf);

/* Moves that directory back to the run's. */
void weft_place_unkeep(const char *path, int64_t trial, int64_t job);

#endif
