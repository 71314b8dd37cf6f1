/* The winner of a run, in the run file and in an exported file. */
#ifndef WEFT_RESULT_WINNER_H
#define WEFT_RESULT_WINNER_H

#include "confusion.h"
#include "stored.h"
#include "weft/data.h"
#include "weft/job.h"
#include "weft/scores.h"
#include "weft/tensor.h"

/* Of weights in files. */
#define WEFT_REAL_TYPE (sizeof(real) == 8 ? WEFT_H5_F64 : WEFT_H5_F32)

/* Attributes of the run that found a winner. */
enum {
    WEFT_ORIGIN_TUNER,
    WEFT_ORIGIN_DATA,
    WEFT_ORIGIN_DATA_DIGEST,
    WEFT_ORIGIN_DIGEST,
    WEFT_NORIGIN
};

/* The winner of a run file or an exported winner: everything needed to score it. */
typedef struct weft_winner {
    const char *config; /* an input file that trains it alone; NULL: not to be written */
    const char *text;   /* its configuration as readable text */
    double size;
    double refitted; /* rows of train and valid that it was trained on, to be written; 0: it
                        was on those of train, or of folds */
    int64_t id;      /* number of its configuration in the space */
    int64_t job, trial, round;
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS]; /* [ntensor] in state */
    const real *state;
    const weft_metric *scores;     /* the table of scores */
    weft_scores score[WEFT_NPART]; /* NAN where not scored; without counts */
    weft_confusion confusion;      /* of the test part, where it was scored */
    weft_likeness like;            /* properties of the data that it was trained on */
    weft_vocab vocab; /* words to which the tensors refer by number: n, text, offset, and
                         hash when read from a file; n 0: they refer to none */
    const weft_kept *kept; /* what its clients keep, to be written; NULL: nothing */
    weft_stored *rows;     /* the same as it was read, to be closed; likewise */
    int64_t nmember;       /* clients that keep or have weights, where named, */
    const char **member;   /* [nmember] and these; NULL: they have none */
    const char *origin[WEFT_NORIGIN]; /* of the run; set when read from a file */
} weft_winner;

/* Writes /winner. EFILE. */
WEFT_CHECKED weft_status weft_winner_put(const weft_winner *winner, weft_h5 *file);

/* Writes the winner as a separate file, with the attributes of the run. EFILE. */
WEFT_CHECKED weft_status weft_winner_export(const weft_winner *winner, const char *run,
                                            weft_h5 *file);

/* Reads the winner of a run file or an exported one. ENONE, EFILE. */
WEFT_CHECKED weft_status weft_winner_read(weft_winner *winner, const char *path,
                                          weft_arena *mem);
/* Closes a winner that weft_winner_read was called for, whose clients' rows are then gone;
 * one of zeros is left as it is. */
void weft_winner_close(weft_winner *winner);

/* Names, shapes and offsets of the winner's tensors in a run file or exported winner; their
 * number in *n. EFILE. */
WEFT_CHECKED weft_status weft_winner_tensors(weft_h5 *file, int *n,
                                             weft_tensor out[WEFT_MAX_TENSORS]);

/* The winner's scores on all parts in a run file or exported winner, NAN where it was not
 * scored, without counts, and their table. EFILE. */
WEFT_CHECKED weft_status weft_winner_scores(weft_h5 *file, const weft_metric **table,
                                            weft_scores score[WEFT_NPART]);

#endif
