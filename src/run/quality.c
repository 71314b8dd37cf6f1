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
typedef struct ranked {
    double score;
    int own;
} ranked;

static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

/* Pairs of a row of the class and another that are in order, ties half, by all pairs. */
static double auc_of(const weft_predictions *p, const int32_t *label, int k, ranked *row)
{
    double pairs = 0, own = 0, others = 0;
    for (int64_t i = 0; i < p->n; i++)
        row[i] = (ranked){p->score[i * p->classes + k], label[i] == k};
    qsort(row, (size_t)p->n, sizeof *row, by_score);
    for (int64_t i = 0; i < p->n;) {
        int64_t end = i;
        double here = 0;
        for (; end < p->n && !(row[end].score > row[i].score); end++) here += row[end].own;
        double rest = (double)(end - i) - here;
        pairs += here * (others + rest / 2);
        own += here;
        others += rest;
        i = end;
    }
    return own > 0 && others > 0 ? pairs / (own * others) : (double)NAN;
}

weft_quality weft_quality_of(const weft_predictions *p, const int32_t *label,
                             weft_arena *mem)
{
    int classes = p->classes;
    weft_quality q = {.confusion = WEFT_NEW(mem, int64_t, (int64_t)classes * classes)};
    ranked *row = WEFT_NEW(mem, ranked, p->n);
    int there = 0, ranks = 0;
    for (int64_t i = 0; i < p->n; i++)
        q.confusion[label[i] * classes + weft_predicted(classes, p->score + i * classes)]++;
    for (int k = 0; k < classes; k++) {
        double own = 0, said = 0, right = (double)q.confusion[k * classes + k];
        for (int j = 0; j < classes; j++) {
            own += (double)q.confusion[k * classes + j];
            said += (double)q.confusion[j * classes + k];
        }
        if (own > 0) q.balanced += 1 - right / own;
        there += own > 0;
        if (own + said > 0) q.f1 += 2 * right / (own + said);
        ranks += own + said > 0;
        if (classes > 2 || k == 1) {
            double auc = auc_of(p, label, k, row);
            q.auc += isnan(auc) ? 0 : auc;
        }
    }
    q.balanced /= there;
    q.f1 /= ranks;
    if (classes > 2) q.auc /= there;
    if (there < 2) q.auc = NAN;
    return q;
}
