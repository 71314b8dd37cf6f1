/* Failed jobs that are done again. */
#ifndef WEFT_RUNDIR_RETRY_H
#define WEFT_RUNDIR_RETRY_H

#include "rundir.h"

/* Makes the failures among the records of a journal void (TAG_VOID) that are before its
 * last mark, or `all` of them, and the end of the run. */
void weft_retry_void(weft_record *rec, int64_t n, int all);

/* Marks that the failures in the journals do not count, and removes what they printed.
 * EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_retry_mark(weft_rundir *rundir);

/* Moves the journals of a complete run from its directory to NAME.failed. */
void weft_retry_store(const char *path, const weft_won *won);

/* Moves them back, if the run is complete, so that it is one that was stopped before its
 * end. EFILE. */
WEFT_CHECKED weft_status weft_retry_revive(const char *path, weft_arena *mem);

#endif
