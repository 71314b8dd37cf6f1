/* The directories in which programs of task command run. Private to task.
 *
 * The directory of an attempt at a job is a copy of the one that the job continues, under a
 * temporary name; it gets the job's name when the program has ended. A directory with a
 * job's name is therefore complete, also after a kill at any time, and no other process
 * writes to it. The log of what the program prints is a file beside its directory, which
 * the program may empty or remove, until the program has ended. */
#ifndef WEFT_TASK_COMMAND_ATTEMPT_H
#define WEFT_TASK_COMMAND_ATTEMPT_H

#include "weft/arena.h"
#include "weft/status.h"

/* The directory that a job continues. */
typedef struct attempt_parent {
    const char *path;
    int64_t job; /* that made it */
} attempt_parent;

/* Path of the directory of a job in `dir`. Owned by mem. */
const char *attempt_path(const char *dir, int64_t trial, int64_t job, weft_arena *mem);

/* Makes the directory of an attempt at the job whose directory is `path`, after removing
 * those of killed attempts at it. parent NULL: an empty one. *attempt: its path, owned by
 * tmp. EFILE, also if the parent is missing. */
WEFT_CHECKED weft_status attempt_begin(const attempt_parent *parent, const char *path,
                                       const char **attempt, weft_arena *tmp);

/* The directory of an attempt that is going to be removed, beside those of `path`. EFILE.
 */
WEFT_CHECKED weft_status attempt_make(const char *path, const char **attempt,
                                      weft_arena *tmp);

/* Moves the log of an attempt that failed to the directory `failed`, as TRIAL-JOB.log,
 * unless ATTEMPT_LOGS are there already. Returns its path, owned by tmp, or NULL. */
#define ATTEMPT_LOGS 100
const char *attempt_keep_log(const char *attempt, const char *failed, int64_t trial,
                             int64_t job, weft_arena *tmp);

/* Path of the log of an attempt. Owned by mem. */
const char *attempt_log(const char *attempt, weft_arena *mem);

/* Moves the log of an attempt into its directory. Returns NULL, or why the directory cannot
 * be kept as its program left it. */
const char *attempt_take_log(const char *attempt, weft_arena *tmp);

/* Gives the directory of an attempt its final name, after writing its files to disk.
 * EFILE. */
WEFT_CHECKED weft_status attempt_keep(const char *attempt, const char *path);

/* Removes the directory of an attempt and its log. */
void attempt_drop(const char *attempt);

#endif
