/* Uses of a run's winner on other data. */
#ifndef WEFT_RUN_USE_H
#define WEFT_RUN_USE_H

#include "weights.h"

/* A winner whose weights are those for data that are open. */
typedef struct weft_winner_at {
    const char *run, *text; /* the file, and the configuration */
    weft_job job;
    weft_state state;
    weft_unknown unknown;
} weft_winner_at;
typedef weft_status weft_winner_fn(weft_run *run, const weft_winner_at *winner, void *ctx);

/* What a winner is used on. */
typedef struct weft_winner_on {
    const char *data;   /* packed file; NULL: none, as workers have the data */
    weft_window window; /* of it */
    int n;
    char **assignment; /* [n] "section.key=value" of options on which no result depends */
} weft_winner_on;

/* Opens the data for the winner of the file `path`, and calls the function. Collective over
 * world. EFILE; EDATA: the data are not like those that it was trained on; ECONF: its task
 * has no data, or data are lacking. */
WEFT_CHECKED weft_status weft_winner_use(const char *path, const weft_winner_on *on,
                                         weft_team *world, weft_winner_fn *fn, void *ctx);

/* What the winner says of the rows of a part: run->task->predict, numbers in the units of
 * their targets. Collective over the run's team. */
WEFT_CHECKED weft_status weft_winner_says(weft_run *run, const weft_winner_at *winner,
                                          weft_part part, weft_predictions *out,
                                          weft_arena *mem);
/* The targets of all rows of a part in their units, [rows][targets], as
 * weft_data_targets. */
double *weft_targets_of(const weft_run *run, weft_part part, weft_arena *mem);

#endif
