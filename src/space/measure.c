/* Balanced error, F1, area under the ROC curve, R2, confusion matrix. */
#include "weft/base/base.h"
#include "weft/space/scores.h"

#include <math.h>

#define MOST ((int64_t)1 << 26) /* scores that are kept */

int weft_measure_joint(weft_measure measure)
{
    return measure > WEFT_BY_LOG_ERROR;
}

int weft_predicted(int classes, const double *score)
{
    int best = 0;
    for (int k = 1; k < classes; k++)
        if (score[k] > score[best]) best = k;
    return best;
}

static double weight_of(const weft_truth *truth, int64_t i)
{
    return truth->weight ? truth->weight[i] : 1;
}

/* ---- classes ---- */

/* Rows of a class by their weights: all, those predicted to be of it, and those rightly. */
struct counts {
    double own, said, right;
};

static struct counts *count(const weft_predictions *predictions, const weft_truth *truth,
                            double *confusion, weft_arena *mem)
{
    int classes = predictions->classes;
    struct counts *counts = WEFT_NEW(mem, struct counts, classes);
    for (int64_t i = 0; i < predictions->n; i++) {
        int y = truth->label[i],
            said = weft_predicted(classes, predictions->score + i * classes);
        double weight = weight_of(truth, i);
        counts[y].own += weight;
        counts[said].said += weight;
        if (said == y) counts[y].right += weight;
        if (confusion) confusion[y * classes + said] += weight;
    }
    return counts;
}

static double balanced_of(int classes, const struct counts *counts)
{
    double sum = 0;
    int there = 0;
    for (int k = 0; k < classes; k++) {
        if (!(counts[k].own > 0)) continue;
        sum += 1 - counts[k].right / counts[k].own;
        there++;
    }
    return sum / there;
}

static double f1_of(int classes, const struct counts *counts)
{
    double sum = 0;
    int there = 0;
    for (int k = 0; k < classes; k++) {
        double all = counts[k].own + counts[k].said;
        if (!(all > 0)) continue;
        sum += 2 * counts[k].right / all;
        there++;
    }
    return sum / there;
}

/* Pairs of a row of class k and another that are in order, ties half, by all pairs. A score
 * that is not a number is below all. Rows of equal scores are in their order, so that sums
 * of weights do not depend on the sort. */
static double auc_of_class(const weft_predictions *predictions, const weft_truth *truth,
                           int k, weft_placed *ranked)
{
    double pairs = 0, own = 0, others = 0;
    for (int64_t i = 0; i < predictions->n; i++) {
        double score = predictions->score[i * predictions->classes + k];
        ranked[i] = (weft_placed){isnan(score) ? -INFINITY : score, i};
    }
    weft_sort_rising(predictions->n, ranked);
    for (int64_t i = 0; i < predictions->n;) {
        int64_t end = i;
        double here = 0, rest = 0;
        for (; end < predictions->n && !(ranked[end].value > ranked[i].value); end++) {
            int64_t row = ranked[end].at;
            *(truth->label[row] == k ? &here : &rest) += weight_of(truth, row);
        }
        pairs += here * (others + rest / 2);
        own += here;
        others += rest;
        i = end;
    }
    return own > 0 && others > 0 ? pairs / (own * others) : (double)NAN;
}

static double auc_of(const weft_predictions *predictions, const weft_truth *truth,
                     weft_arena *mem)
{
    int there = 0, classes = predictions->classes;
    double sum = 0;
    weft_placed *ranked = WEFT_NEW(mem, weft_placed, predictions->n);
    for (int k = classes > 2 ? 0 : 1; k < classes; k++) {
        double auc = auc_of_class(predictions, truth, k, ranked);
        if (isnan(auc)) continue;
        sum += auc;
        there++;
    }
    return there > 0 ? sum / there : (double)NAN;
}

/* ---- numbers ---- */

/* Of the numbers predicted for target k, as scikit-learn's mean_squared_error and r2_score.
 * Cost O(n). */
static weft_fit_quality fit_of(const weft_predictions *predictions, const weft_truth *truth,
                               int k)
{
    double total = 0, mean = 0, error = 0, spread = 0;
    const double *target = truth->target;
    for (int64_t i = 0; i < predictions->n; i++) {
        double own = weight_of(truth, i);
        total += own;
        mean += own * target[i * predictions->classes + k];
    }
    mean /= total;
    for (int64_t i = 0; i < predictions->n; i++) {
        double y = target[i * predictions->classes + k],
               off = predictions->score[i * predictions->classes + k] - y;
        double own = weight_of(truth, i);
        error += own * off * off;
        spread += own * (y - mean) * (y - mean);
    }
    return (weft_fit_quality){.mse = error / total,
                              .r2 = spread > 0 ? 1 - error / spread : (double)NAN};
}

/* Mean over the targets that vary; fit[targets] of each, NULL: they are not asked for. */
static double r2_of(const weft_predictions *predictions, const weft_truth *truth,
                    weft_fit_quality *fit)
{
    double sum = 0;
    int there = 0;
    for (int k = 0; k < predictions->classes; k++) {
        weft_fit_quality one = fit_of(predictions, truth, k);
        if (fit) fit[k] = one;
        if (isnan(one.r2)) continue;
        sum += one.r2;
        there++;
    }
    return there > 0 ? sum / there : (double)NAN;
}

/* ---- all ---- */

weft_quality weft_quality_of(const weft_predictions *predictions, const weft_truth *truth,
                             weft_arena *mem)
{
    int64_t classes = predictions->classes;
    weft_quality quality = {.balanced = NAN, .f1 = NAN, .auc = NAN, .r2 = NAN};
    if (truth->target) {
        quality.fit = WEFT_NEW(mem, weft_fit_quality, classes);
        quality.r2 = r2_of(predictions, truth, quality.fit);
        return quality;
    }
    quality.confusion = WEFT_NEW(mem, double, classes *classes);
    WEFT_SCRATCH(tmp);
    struct counts *counts = count(predictions, truth, quality.confusion, tmp);
    quality.balanced = balanced_of(predictions->classes, counts);
    quality.f1 = f1_of(predictions->classes, counts);
    quality.auc = auc_of(predictions, truth, tmp);
    return quality;
}

double weft_measure_of(weft_measure measure, const weft_predictions *predictions,
                       const weft_truth *truth)
{
    if (predictions->n == 0) return NAN;
    WEFT_SCRATCH(tmp);
    double value = NAN;
    int classes = predictions->classes;
    switch (measure) {
    case WEFT_BY_BALANCED:
        value = balanced_of(classes, count(predictions, truth, NULL, tmp));
        break;
    case WEFT_BY_F1:
        value = 1 - f1_of(classes, count(predictions, truth, NULL, tmp));
        break;
    case WEFT_BY_AUC:
        value = 1 - auc_of(predictions, truth, tmp);
        if (isnan(value)) value = 0.5;
        break;
    case WEFT_BY_R2:
        value = 1 - r2_of(predictions, truth, NULL);
        if (isnan(value)) value = 1;
        break;
    default: weft_die("measure %d is of sums over samples", (int)measure);
    }
    return value;
}

void weft_quality_put(const weft_quality *quality, double *metric)
{
    metric[0] = quality->balanced;
    metric[1] = quality->f1;
    metric[2] = quality->auc;
    metric[3] = quality->r2;
}

int weft_quality_fits(int64_t rows, int classes)
{
    return rows > 0 && rows <= MOST / classes;
}

/* ---- what can be minimised ---- */

weft_status weft_measure_check(weft_measure measure, const char *key, const char *path,
                               int classes, const int64_t *count,
                               const char *const *class_name)
{
    static const char *const name[] = {"accuracy", "loss", "log_error", "balanced",
                                       "f1",       "auc",  "r2"};
    int there = 0;
    if (count ? measure == WEFT_BY_R2
              : measure != WEFT_BY_ACCURACY && measure != WEFT_BY_LOSS &&
                    measure != WEFT_BY_R2)
        return weft_fail(
            WEFT_ECONF, "%s has %s to predict, and %s = %s is of %s; choose %s", path,
            count ? "classes" : "numbers", key, name[measure],
            count ? "numbers" : "classes",
            count ? "accuracy, loss, balanced, f1 or auc" : "r2, loss or accuracy");
    if (!count || !weft_measure_joint(measure)) return WEFT_OK;
    for (int k = 0; k < classes; k++) there += count[k] > 0;
    if (there < 2)
        return weft_fail(WEFT_EDATA,
                         "%s = %s compares classes, and %s has validation rows of %d of "
                         "%d classes; pack more rows as valid",
                         key, name[measure], path, there, classes);
    for (int k = 0; k < classes && there < classes; k++) {
        if (count[k] > 0) continue;
        weft_log(WEFT_WARN,
                 "%s has no validation rows of %d of %d classes, such as '%s': %s = %s is "
                 "the mean over the others",
                 path, classes - there, classes, class_name ? class_name[k] : "?", key,
                 name[measure]);
        break;
    }
    return WEFT_OK;
}
