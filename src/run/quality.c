/* Balanced error, F1, area under the ROC curve, confusion matrix. Definitions as in
 * scikit-learn: balanced_accuracy_score, f1_score(average="macro"), roc_auc_score with
 * multi_class="ovr". */
#include "quality.h"

#include <math.h>
#include <stdlib.h>

int weft_predicted(int classes, const double *score)
{
    int best = 0;
    for (int k = 1; k < classes; k++)
        if (score[k] > score[best]) best = k;
    return best;
}

/* A row's score for a class, and whether it belongs to it. */
struct ranked {
    double score;
    int own;
};

static int by_score(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

/* Pairs of a row of the class and another that are in order, ties half, by all pairs. */
static double auc_of(const weft_predictions *predictions, const int32_t *label, int k,
                     struct ranked *row)
{
    double pairs = 0, own = 0, others = 0;
    for (int64_t i = 0; i < predictions->n; i++)
        row[i] = (struct ranked){predictions->score[i * predictions->classes + k],
                                 label[i] == k};
    qsort(row, (size_t)predictions->n, sizeof *row, by_score);
    for (int64_t i = 0; i < predictions->n;) {
        int64_t end = i;
        double here = 0;
        for (; end < predictions->n && !(row[end].score > row[i].score); end++)
            here += row[end].own;
        double rest = (double)(end - i) - here;
        pairs += here * (others + rest / 2);
        own += here;
        others += rest;
        i = end;
    }
    return own > 0 && others > 0 ? pairs / (own * others) : (double)NAN;
}

weft_quality weft_quality_of(const weft_predictions *predictions, const int32_t *label,
                             weft_arena *mem)
{
    int classes = predictions->classes;
    weft_quality quality = {.confusion =
                                WEFT_NEW(mem, int64_t, (int64_t)classes * classes)};
    struct ranked *row = WEFT_NEW(mem, struct ranked, predictions->n);
    int there = 0, ranks = 0;
    for (int64_t i = 0; i < predictions->n; i++)
        quality.confusion[label[i] * classes +
                          weft_predicted(classes, predictions->score + i * classes)]++;
    for (int k = 0; k < classes; k++) {
        double own = 0, said = 0, right = (double)quality.confusion[k * classes + k];
        for (int j = 0; j < classes; j++) {
            own += (double)quality.confusion[k * classes + j];
            said += (double)quality.confusion[j * classes + k];
        }
        if (own > 0) quality.balanced += 1 - right / own;
        there += own > 0;
        if (own + said > 0) quality.f1 += 2 * right / (own + said);
        ranks += own + said > 0;
        if (classes > 2 || k == 1) {
            double auc = auc_of(predictions, label, k, row);
            quality.auc += isnan(auc) ? 0 : auc;
        }
    }
    quality.balanced /= there;
    quality.f1 /= ranks;
    if (classes > 2) quality.auc /= there;
    if (there < 2) quality.auc = NAN;
    return quality;
}

weft_fit_quality weft_fit_quality_of(const weft_predictions *predictions,
                                     const double *target, const double *weight, int k)
{
    double total = 0, mean = 0, error = 0, spread = 0;
    for (int64_t i = 0; i < predictions->n; i++) {
        double own = weight ? weight[i] : 1;
        total += own;
        mean += own * target[i * predictions->classes + k];
    }
    mean /= total;
    for (int64_t i = 0; i < predictions->n; i++) {
        double y = target[i * predictions->classes + k],
               off = predictions->score[i * predictions->classes + k] - y;
        double own = weight ? weight[i] : 1;
        error += own * off * off;
        spread += own * (y - mean) * (y - mean);
    }
    return (weft_fit_quality){.mse = error / total,
                              .r2 = spread > 0 ? 1 - error / spread : (double)NAN};
}
