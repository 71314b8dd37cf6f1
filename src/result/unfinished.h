/* An unfinished run as a run file. */
#ifndef WEFT_RESULT_UNFINISHED_H
#define WEFT_RESULT_UNFINISHED_H

#include "weft/status.h"

/* Writes the contents of the journals of an unfinished run as a run file `out` without
 * times and digest, whose attribute `unfinished` says how far the run is. `weights` 1: with
 * those of the best job so far, as /winner, if they are on disk. A process may be working
 * on the run. EFILE: the journals contain no job yet, or the weights are damaged. */
WEFT_CHECKED weft_status weft_run_snapshot(const char *path, const char *out, int weights);

#endif
