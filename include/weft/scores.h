/* Scores of a winner, and of those that its samples belong to. All functions are local. */
#ifndef WEFT_SCORES_H
#define WEFT_SCORES_H

#include "weft/job.h"

#define WEFT_MAX_SCORES 16 /* of a task's table of scores */

/* Scores of those that the samples of a part belong to, such as clients. */
typedef struct weft_members {
    const weft_metric *table; /* of their scores */
    int64_t n;
    int64_t *number;   /* [n] among all */
    const char **name; /* [n]; NULL: they have none */
    double *count;     /* [n] predictions scored */
    double *score;     /* [n][rows of the table]; NAN: not scored */
} weft_members;

/* A translation. */
typedef struct weft_translation {
    int64_t line;                /* of the source file, from 1 */
    const char *source, *target; /* languages */
    const char *sentence, *text; /* and its translation */
    const char *reference;       /* NULL: not known */
} weft_translation;

/* What weights say of each row of a part. */
typedef struct weft_predictions {
    int64_t n;       /* rows of the part, on all ranks together */
    int classes;     /* or targets */
    int probable;    /* 1: scores are probabilities, whose sum over the classes is 1 */
    double *score;   /* [n][classes]; the class that is predicted has the largest; or the
                        number that is predicted of each target */
    int64_t *client; /* [n] of a federation, rows being client after client; NULL: none */
    int32_t *label;  /* [n] their labels; NULL, too */
    weft_translation *translated; /* [n] in place of scores; NULL: rows have these */
    const char *note; /* to be told, on the first rank, such as whose weights were taken;
                         NULL: nothing */
} weft_predictions;

/* How well the numbers that are predicted for a target fit it. */
typedef struct weft_fit_quality {
    double mse; /* mean squared error, by the weights of the rows, in units of its square */
    double r2;  /* 1 - mse over the variance of the targets of these rows; NAN: it is 0 */
} weft_fit_quality;

/* Scores of weights on a part of the data. */
typedef struct weft_scores {
    double metric[WEFT_MAX_SCORES]; /* by the task's table; NAN: not scored */
    double count;                   /* predictions scored */
    const double *confusion;     /* [classes][classes] as weft_quality.confusion; NULL: not
                                    counted */
    const weft_fit_quality *fit; /* [targets] as the rows have them; NULL: not computed */
    const weft_members *members; /* on the first rank; NULL: not told apart */
} weft_scores;
/* All NAN. */
weft_scores weft_scores_none(void);

#endif
