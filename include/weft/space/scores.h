/* What is measured and told: tables of metrics, and how they are computed. */
#ifndef LIBWEFT_SPACE_SCORES_H
#define LIBWEFT_SPACE_SCORES_H

#include "weft/base/base.h"
#include "weft/space/job.h"

/* ---- scores ---- */

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

/* What a network wrote for a sample: a sentence in another language. */
typedef struct weft_written {
    int64_t line;                /* of the source file, from 1 */
    const char *source, *target; /* languages */
    const char *sentence, *text; /* and what was written */
    const char *reference;       /* NULL: not known */
} weft_written;

/* What weights say of each row of a part. */
typedef struct weft_predictions {
    int64_t n;       /* rows of the part, on all ranks together */
    int classes;     /* or targets */
    int probable;    /* 1: scores are probabilities, whose sum over the classes is 1 */
    double *score;   /* [n][classes]; the class that is predicted has the largest; or the
                        number that is predicted of each target */
    int64_t *client; /* [n] of a federation, rows being client after client; NULL: none */
    int32_t *label;  /* [n] their labels; NULL, too */
    weft_written *written; /* [n] in place of scores; NULL: rows have these */
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

/* ---- measure ---- */

/* Measures of what is predicted, each defined here alone: what a search minimises, and what
 * scores of a winner tell. All functions are local. */

/* What a search minimises. The first three are of sums over samples; the others, of all
 * rows together, are 1 minus what they are named after, but for the error. */
typedef enum weft_measure {
    WEFT_BY_ACCURACY,  /* share of wrong answers */
    WEFT_BY_LOSS,      /* mean loss */
    WEFT_BY_LOG_ERROR, /* log of the share of wrong answers; none wrong: of half a sample */
    WEFT_BY_BALANCED,  /* weft_quality.balanced */
    WEFT_BY_F1,        /* 1 - weft_quality.f1 */
    WEFT_BY_AUC,       /* 1 - weft_quality.auc; 0.5 where only one class has rows */
    WEFT_BY_R2         /* 1 - weft_quality.r2; 1 where the targets are all equal */
} weft_measure;
#define WEFT_MEASURES "accuracy|loss|log_error|balanced|f1|auc|r2"
#define WEFT_MEASURES_ABOUT                                                                \
    "error rate, mean loss, log of the error rate (none wrong: ln 0.5 / samples), mean "   \
    "of the classes' error rates (balanced), 1 - macro F1, 1 - AUC (of more than two "     \
    "classes the mean of one against the rest), or 1 - R2 of numbers. "
/* 1: it is of all rows together. */
int weft_measure_joint(weft_measure measure);

/* What is known of the rows that are predicted. */
typedef struct weft_truth {
    const int32_t *label; /* [n] */
    const double *target; /* [n][targets] numbers in place of classes; NULL: classes */
    const double *weight; /* [n] what a row counts; NULL: 1 */
} weft_truth;

/* How well rows are predicted. Of the classes that have rows; NAN: not defined. As
 * scikit-learn's balanced_accuracy_score, f1_score(average="macro"),
 * roc_auc_score(multi_class="ovr") and r2_score, with the rows' weights. */
typedef struct weft_quality {
    double balanced; /* mean over the classes of the share of their rows that is wrong */
    double f1;       /* mean over the classes of 2 TP / (2 TP + FP + FN) */
    double auc;      /* probability that a row of a class has a larger score for it than one
                        of another class, ties half; mean over the classes, class 1 alone of
                        two; NAN: only one class has rows */
    double r2;       /* mean over the targets of weft_fit_quality.r2 */
    double *confusion;     /* [classes][classes] rows of a class by the class predicted, or
                              their weights; NULL: rows have numbers */
    weft_fit_quality *fit; /* [targets] of each; NULL: rows have classes */
} weft_quality;
/* Of predictions for rows of which the truth is known, in the order of the rows. Memory
 * from mem. Cost O(n log n) a class. */
weft_quality weft_quality_of(const weft_predictions *predictions, const weft_truth *truth,
                             weft_arena *mem);
/* A joint measure of the predictions; NAN of no rows. Cost O(n classes), of AUC O(n log n)
 * a class. */
double weft_measure_of(weft_measure measure, const weft_predictions *predictions,
                       const weft_truth *truth);

/* The class with the largest of score[classes], the first of equal ones. */
int weft_predicted(int classes, const double *score);

/* Rows of a table of scores for weft_quality_put, which sets metric[4] to them. */
/* clang-format off */
#define WEFT_QUALITY_SCORES \
    {"balanced", "mean of the classes' shares of wrong answers", "1", "balanced %"}, \
    {"f1", "mean of the classes' F1", "1", "F1"}, \
    {"auc", "area under the ROC curve, of more than two classes the mean of one against " \
     "the rest", "1", "AUC"}, \
    {"r2", "1 - mean squared error over the variance of the targets of the part, mean over " \
     "targets", "1", "R2"}
/* clang-format on */
void weft_quality_put(const weft_quality *quality, double *metric);
/* 1 if predictions of so many rows are few enough to be kept for measures: 2^26 scores. */
int weft_quality_fits(int64_t rows, int classes);

/* Whether a search can minimise the measure: key "fmap.score", data in the file `path` with
 * count[classes] rows of each class to be scored, or of numbers (count NULL). ECONF; EDATA:
 * fewer than two classes have rows; a warning names one that has none. */
WEFT_CHECKED weft_status weft_measure_check(weft_measure measure, const char *key,
                                            const char *path, int classes,
                                            const int64_t *count,
                                            const char *const *class_name);

#endif
