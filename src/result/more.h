/* What a complete run leaves in its run file, /more, so that it can be given more: the
 * records of its jobs for a longer search, and what the winner's state has behind its
 * weights. Of a run of one job, which may be given more resource, that is what a checkpoint
 * after its last unit would have. */
#ifndef WEFT_RESULT_MORE_H
#define WEFT_RESULT_MORE_H

#include "output.h"

typedef struct weft_more {
    const char *config, *data,
        *directory;       /* text, digest of the data, where it was begun */
    double setup, search; /* seconds so far */
    int64_t teams;
    int64_t n;           /* records of jobs for a longer search; 0: more resource */
    const void **packed; /* [n] */
    int64_t *bytes;      /* [n] */
    weft_state state;    /* of the winner, with what its clients keep in the file; x NULL:
                            there is none */
    weft_winner winner;  /* of the file */
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS]; /* [ntensor] in state */
    weft_job_record record;               /* of its job, with its rows */
} weft_more;

/* Writes /more, if the run may be given more. The weights are those of /winner. EFILE. */
WEFT_CHECKED weft_status weft_more_put(weft_h5 *file, const weft_outcome *outcome);

/* Reads it: with `longer` what a longer search needs, else more resource. ECONF: the run
 * has none, and why; EFILE. Owned by mem; to be closed. */
WEFT_CHECKED weft_status weft_more_read(weft_more *more, const char *path, int longer,
                                        weft_arena *mem);

void weft_more_close(weft_more *more);

/* Writes it to a run directory that has just begun, with the times of the run so far: of a
 * longer search records and the winner's state, else a checkpoint. EFILE. Collective over
 * world. */
WEFT_CHECKED weft_status weft_more_restore(const weft_more *more, weft_rundir *rundir);

#endif
