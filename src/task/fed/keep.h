/* What the clients of a round or an evaluation keep, on the ranks that train them. */
#ifndef WEFT_TASK_FED_KEEP_H
#define WEFT_TASK_FED_KEEP_H

#include "trial.h"

/* Rows of n clients: the first rank has those of all, others of their own. */
typedef struct fed_keep {
    int64_t n;
    int64_t *client; /* [n] in the order of ranks */
    int64_t *of;     /* [n] their places among the clients */
    size_t *bytes;   /* [size] of each rank */
    real *all, *own; /* rows in that order: on the first rank, and those of this rank */
    real **row; /* [n] of each client, in their own order; NULL: it is of another rank */
} fed_keep;

/* Bytes of a rank for the rows of n clients. */
double fed_keep_bytes(const fed_task *fed, int64_t n);
/* Bytes of a rank for what is kept: the rows of a cohort, and where each client's is. */
double fed_keep_memory(const fed_task *fed);
/* Says what that takes; ELIMIT: too much. */
WEFT_CHECKED weft_status fed_keep_check(const fed_task *fed);
/* Memory for the rows of n clients; nothing is kept: keep.n is 0. */
fed_keep fed_keep_new(const fed_task *fed, int64_t n, weft_arena *mem);
/* Reads the rows of client[n], n as in fed_keep_new or less, on the first rank. EFILE.
 * Collective. */
WEFT_CHECKED weft_status fed_keep_read(const fed_task *fed, const weft_kept *kept,
                                       fed_keep *keep, int64_t n, const fed_client *client);
/* Sends each to the rank that has the client. Collective. */
void fed_keep_send(const fed_task *fed, fed_keep *keep);
/* Sends them back, and writes those of the clients that are neither lost nor diverged.
 * EFILE. Collective. */
WEFT_CHECKED weft_status fed_keep_write(const fed_task *fed, fed_trial_state *trial,
                                        fed_keep *keep, const fed_client *client,
                                        const fed_client_result *told);

#endif
