/* The formats of journals, run files and exported winners, and which file is which. */
#ifndef WEFT_RUNDIR_FORMATS_H
#define WEFT_RUNDIR_FORMATS_H

#include "weft/h5.h"

#define WEFT_RUN_FORMAT         "weft run 2"
#define WEFT_WINNER_FORMAT      "weft winner 2"
#define WEFT_PREDICTIONS_FORMAT "weft predictions 1"

/* What the head of a journal says beside the configuration. */
typedef struct weft_about {
    const char *data;              /* digest of the packed file */
    int64_t began;                 /* seconds since 1970 */
    int real_bytes;                /* of a weight */
    const char *records, *version; /* WEFT_RECORD_FORMAT as a text; of weft */
} weft_about;

/* The same as a text, for a run of this program. Owned by mem. */
const char *weft_about_text(const char *data, int64_t began, weft_arena *mem);

/* Takes it apart; EFILE where the job records of the journal in `dir` are of another
 * format. Texts are owned by mem. */
WEFT_CHECKED weft_status weft_about_read(const char *dir, const char *text, weft_about *out,
                                         weft_arena *mem);

/* EFILE unless the file is a run file, or, where `exported` is 1, an exported winner, of
 * this version. */
WEFT_CHECKED weft_status weft_run_format(weft_h5 *file, int exported);

/* WEFT_OK if the run file, or where `exported` is 1 the exported winner, has a winner.
 * ENONE: it has none, with the reason; EFILE: it is no such file, or one of an unfinished
 * run. */
WEFT_CHECKED weft_status weft_winner_check(weft_h5 *file, int exported);
/* The same of the run file of that name. */
WEFT_CHECKED weft_status weft_winner_find(const char *path, weft_arena *mem);

/* Opens a run file. EFILE, also if the run is unfinished, which the message then says. */
WEFT_CHECKED weft_status weft_run_file(weft_h5 *file, const char *path, weft_arena *mem);

/* 1 if the run file does not exist, but the journal of its run does. */
int weft_run_is_unfinished(const char *path);

#endif
