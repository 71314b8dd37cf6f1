/* The run file. */
#ifndef WEFT_RESULT_OUTPUT_H
#define WEFT_RESULT_OUTPUT_H

#include "history.h"
#include "sched/sched.h"
#include "weft/state.h"
#include "winner.h"

/* Rows of times in a run file: compute, wait, comm, io, bytes, memory. */
enum { WEFT_NTIME = 6 };

#define WEFT_RUN_FORMAT    "weft run 2"
#define WEFT_WINNER_FORMAT "weft winner 2"

/* Everything that is written to a run file. */
typedef struct weft_outcome {
    const weft_run_opts *opts;
    const weft_space *space;
    const char *data_digest;
    weft_likeness like;      /* of the data */
    const weft_vocab *vocab; /* words that the weights refer to; NULL: none */
    int ranks, teams;
    int64_t configs; /* of the search */
    int grows;       /* 1: its only job may be given more */
    int longer;      /* 1: its search may be made longer */
    int by_resource; /* 1: how long a winner is trained alone depends on its resource */
    weft_history history;
    const weft_job_record *winner;
    const char *none;   /* why nothing won; NULL: `winner` did, and what is of it is set */
    const char *config; /* text */
    const char *hosts;
    const weft_state *state; /* of the winner */
    double refitted; /* rows that it was trained on once more; 0: it is as the search left
                        it */
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS]; /* [ntensor] in state */
    int64_t began;
    const char *directory;         /* in which the run was begun; NULL: not known */
    weft_scores score[WEFT_NPART]; /* of the winner; NAN where not scored */
    int64_t nmember;               /* as in weft_winner */
    const char **member;
    const char *members;               /* the task's; group of its members' scores */
    double setup, search, refit, test; /* seconds */
    double times[WEFT_NTIME][WEFT_NSPREAD];
    uint64_t digest;
} weft_outcome;

/* Writes the run file; called by rank 0. EFILE. */
WEFT_CHECKED weft_status weft_run_write(const char *path, const weft_outcome *outcome);

#endif
