/* What a complete run of one job leaves in its run file, /more, so that it can be given
 * more: what a checkpoint after its last unit would have. */
#ifndef WEFT_RESULT_MORE_H
#define WEFT_RESULT_MORE_H

#include "output.h"

typedef struct weft_more {
    const char *config, *data,
        *directory;       /* text, digest of the data, where it was begun */
    double setup, search; /* seconds so far */
    int64_t teams;
    weft_state state;       /* after the job */
    weft_job_record record; /* of the job, with its rows */
} weft_more;

/* Writes /more of the run's only job. The weights are those of /winner. EFILE. */
WEFT_CHECKED weft_status weft_more_put(weft_h5 *file, const weft_outcome *outcome);

/* Reads it. ECONF: the run has none, and why; EFILE. Owned by mem. */
WEFT_CHECKED weft_status weft_more_read(weft_more *more, const char *path, weft_arena *mem);

/* Writes it to a run directory that has just begun, as a checkpoint, with the times of the
 * run so far. EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_more_restore(const weft_more *more, weft_rundir *rundir);

#endif
