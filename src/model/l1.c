/* Logistic regression with an L1 penalty on the columns of sparse rows; see l1.h. Proximal
 * Newton steps: the quadratic model of the losses plus the penalty is reduced by coordinate
 * descent, then a line search (Yuan, Ho, Lin, JMLR 13, 2012). Descent visits the columns
 * with a weight and the most promising of the others (Massias, Gramfort, Salmon, ICML
 * 2018). After every visit the objective is minimised over the intercept, which all rows
 * share and which would slow the descent down: its slope follows from the columns' weighted
 * sums. Sweeps find out which weights are 0; conjugate gradients (l1_cg.c) settle the
 * values of the others, for which descent would take thousands of sweeps where C is large.
 * A column is removed for good when the gap proves that its weight is 0: the dual is
 * 4/C-strongly concave, C being that of the heaviest row, so the optimum is within
 * sqrt(gap C / 2) of a dual point (Ndiaye,
 * Fercoq, Gramfort, Salmon, JMLR 18, 2017). */
#include <math.h>
#include <string.h>

#include "l1_cg.h"
#include "weft/rng.h"

enum {
    MIN_WORKING = 1024, /* smallest size of the working set */
    SWEEPS = 64,        /* largest number of sweeps in a step */
    HALVINGS = 40,      /* largest number of halvings in a line search */
};

/* A step ends with a sweep that gains less than this share of all its gains. */
#define LAST_SWEEP_GAIN 0.2
/* A line search down to less than this share of a step makes the next ones shorter, by an
 * addition to q (1 - q) in every row's second derivative: the first, and the largest. */
#define SHORT_STEP  0.01
#define FIRST_FLOOR 1e-6
#define LAST_FLOOR  10

static double dot(const struct lasso *lasso, int64_t j, const double *v)
{
    double sum[2] = {0};
    int64_t e = lasso->columns->start[j], end = lasso->columns->start[j + 1];
    for (; e + 1 < end; e += 2) {
        sum[0] += (double)lasso->columns->value[e] * v[lasso->columns->row[e]];
        sum[1] += (double)lasso->columns->value[e + 1] * v[lasso->columns->row[e + 1]];
    }
    if (e < end) sum[0] += (double)lasso->columns->value[e] * v[lasso->columns->row[e]];
    return sum[0] + sum[1];
}

/* ---- objective and gap ---- */

/* Removes columns whose weight is 0 at the optimum, given the largest slope. */
static void screen(struct lasso *lasso, double max_slope)
{
    double radius = sqrt(0.5 * lasso->problem->c * lasso->columns->most * lasso->gap);
    int64_t left = 0;
    for (int64_t k = 0; k < lasso->ncandidates; k++) {
        int64_t j = lasso->candidates[k];
        double bound =
            fabs(lasso->g[j]) / max_slope + radius * sqrt(lasso->columns->square[j]);
        if (lasso->w[j] != 0 || bound >= 1) lasso->candidates[left++] = j;
    }
    lasso->ncandidates = left;
}

/* Objective, slopes and gap at w. */
static void evaluate(struct lasso *lasso)
{
    margin_problem own = *lasso->problem;
    double c = lasso->problem->c;
    double loss = 0, size = fabs(lasso->b), conj = 0, sum = 0;
    for (int64_t i = 0; i < lasso->columns->n; i++) {
        double m = lasso->y[i] * lasso->score[i], q = -margin_slope(MARGIN_LOGISTIC, m);
        double weight = lasso->columns->weight[i];
        loss += weight * margin_loss(MARGIN_LOGISTIC, m);
        lasso->a[i] = c * weight * q * lasso->y[i];
        lasso->curve[i] = c * weight * (q * (1 - q) + lasso->floor);
        sum += lasso->a[i];
    }
    lasso->slope = -sum;
    double max_slope = fmax(1, fabs(sum));
    for (int64_t k = 0; k < lasso->ncandidates; k++) {
        int64_t j = lasso->candidates[k];
        lasso->g[j] = dot(lasso, j, lasso->a);
        max_slope = fmax(max_slope, fabs(lasso->g[j]));
        size += fabs(lasso->w[j]);
    }
    for (int64_t i = 0; i < lasso->columns->n; i++) {
        own.c = c * lasso->columns->weight[i];
        conj += margin_conj(&own, fabs(lasso->a[i]) / max_slope);
    }
    lasso->objective = size + c * loss;
    lasso->best = fmax(lasso->best, -conj);
    lasso->gap = fmax(lasso->objective + conj, 0);
    screen(lasso, max_slope);
}

/* The k-th largest of v[n], 1 <= k <= n; v is reordered. */
static double largest(double *v, int64_t n, int64_t k)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = v[lo + (hi - lo) / 2];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (v[i] > pivot) i++;
            while (v[j] < pivot) j--;
            if (i > j) break;
            double swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        if (k - 1 <= j)
            hi = j;
        else if (k - 1 >= i)
            lo = i;
        else
            break;
    }
    return v[k - 1];
}

/* The working set: columns with a weight, and as many others, but at least MIN_WORKING,
 * with the largest slopes above the penalty's. */
static void choose_working_set(struct lasso *lasso)
{
    int64_t weights = 0, n = 0;
    for (int64_t k = 0; k < lasso->ncandidates; k++) {
        int64_t j = lasso->candidates[k];
        weights += lasso->w[j] != 0;
        if (lasso->w[j] == 0 && fabs(lasso->g[j]) > 1)
            lasso->slopes[n++] = fabs(lasso->g[j]);
    }
    int64_t max_slope = weights > MIN_WORKING ? weights : MIN_WORKING;
    double threshold = n > max_slope ? largest(lasso->slopes, n, max_slope) : 1;
    lasso->nworking = 0;
    for (int64_t k = 0; k < lasso->ncandidates; k++) {
        int64_t j = lasso->candidates[k];
        if (lasso->w[j] != 0 || fabs(lasso->g[j]) > threshold ||
            (n > max_slope && fabs(lasso->g[j]) >= threshold))
            lasso->working[lasso->nworking++] = j;
    }
}

/* ---- a step ---- */

/* The change `by` of a weight w that minimises g by + h by^2 / 2 + |w + by|; *gain: the
 * decrease. */
static double best_change(double g, double h, double w, double *gain)
{
    double by = -w;
    if (g + 1 <= h * w)
        by = -(g + 1) / h;
    else if (g - 1 >= h * w)
        by = -(g - 1) / h;
    *gain = fmax(fabs(w) - fabs(w + by) - by * (g + 0.5 * h * by), 0);
    return by;
}

/* Minimises the model over the intercept; returns the gain. */
static double minimise_intercept(struct lasso *lasso)
{
    double gain;
    double by = best_change(lasso->slope, lasso->curvature, lasso->b + lasso->shift, &gain);
    lasso->shift += by;
    lasso->slope += lasso->curvature * by;
    return gain;
}

/* Minimises the model over the weight at place k of the working set, then over the
 * intercept; returns the gain. */
static double visit(struct lasso *lasso, int64_t k)
{
    const l1_columns *columns = lasso->columns;
    int64_t j = lasso->working[k];
    double gain,
        g = L1_DAMPING * lasso->step[k] - lasso->g[j] + lasso->shift * lasso->cross[k];
    for (int64_t e = columns->start[j]; e < columns->start[j + 1]; e++) {
        uint32_t i = columns->row[e];
        g += (double)columns->value[e] * lasso->curve[i] * lasso->along[i];
    }
    double by = best_change(g, lasso->second[k], lasso->w[j] + lasso->step[k], &gain);
    if (by == 0) return 0;
    lasso->step[k] += by;
    for (int64_t e = columns->start[j]; e < columns->start[j + 1]; e++)
        lasso->along[columns->row[e]] += by * (double)columns->value[e];
    lasso->slope += by * lasso->cross[k];
    return gain + minimise_intercept(lasso);
}

/* Visits the working set in random order; returns the gain. */
static double sweep(struct lasso *lasso, int64_t *order)
{
    weft_rng4 rng = {{0}};
    double gain = 0;
    lasso->passes++;
    for (int64_t k = 0; k < lasso->nworking; k++) {
        if (k % 4 == 0)
            rng = weft_rng_at(0, WEFT_RNG_SOLVE, 0, (uint64_t)lasso->passes, (uint64_t)k);
        int64_t to = (int64_t)(weft_rng_unit(rng.v[k % 4]) * (double)(k + 1));
        order[k] = order[to];
        order[to] = k;
    }
    for (int64_t k = 0; k < lasso->nworking; k++) gain += visit(lasso, order[k]);
    return gain;
}

/* ---- a step, and how far ---- */

/* lasso->step and lasso->along <- approximate minimum of the model over the working set. */
static void descend(struct lasso *lasso, int64_t *order)
{
    const l1_columns *columns = lasso->columns;
    memset(lasso->along, 0, (size_t)columns->n * sizeof *lasso->along);
    lasso->shift = 0;
    lasso->curvature = L1_DAMPING;
    for (int64_t i = 0; i < columns->n; i++) lasso->curvature += lasso->curve[i];
    for (int64_t k = 0; k < lasso->nworking; k++) {
        int64_t j = lasso->working[k];
        double h = L1_DAMPING, both = 0;
        for (int64_t e = columns->start[j]; e < columns->start[j + 1]; e++) {
            double part = (double)columns->value[e] * lasso->curve[columns->row[e]];
            both += part;
            h += (double)columns->value[e] * part;
        }
        lasso->second[k] = h;
        lasso->cross[k] = both;
        lasso->step[k] = 0;
    }
    double total = minimise_intercept(lasso);
    for (int n = 0; n < SWEEPS; n++) {
        double gain = sweep(lasso, order);
        total += gain;
        if (n > 0 && !(gain > LAST_SWEEP_GAIN * total)) break;
        total += l1_minimise_support(lasso);
    }
    for (int64_t i = 0; i < columns->n; i++) lasso->along[i] += lasso->shift;
}

/* Objective at w + t step minus the one at w. */
static double change(const struct lasso *lasso, double t)
{
    double loss = 0, size = fabs(lasso->b + t * lasso->shift) - fabs(lasso->b);
    for (int64_t i = 0; i < lasso->columns->n; i++)
        loss += lasso->columns->weight[i] *
                (margin_loss(MARGIN_LOGISTIC,
                             lasso->y[i] * (lasso->score[i] + t * lasso->along[i])) -
                 margin_loss(MARGIN_LOGISTIC, lasso->y[i] * lasso->score[i]));
    for (int64_t k = 0; k < lasso->nworking; k++) {
        double w = lasso->w[lasso->working[k]];
        size += fabs(w + t * lasso->step[k]) - fabs(w);
    }
    return size + lasso->problem->c * loss;
}

/* Takes the step, halved until the objective decreases by a share of the predicted
 * decrease. Returns what is taken of it, 0 if there is no such point. */
static double line_search(struct lasso *lasso)
{
    double share = 0.01;
    double predicted = fabs(lasso->b + lasso->shift) - fabs(lasso->b), t = 1;
    for (int64_t i = 0; i < lasso->columns->n; i++) predicted -= lasso->a[i] * lasso->shift;
    for (int64_t k = 0; k < lasso->nworking; k++) {
        double w = lasso->w[lasso->working[k]];
        predicted += fabs(w + lasso->step[k]) - fabs(w) -
                     lasso->g[lasso->working[k]] * lasso->step[k];
    }
    for (int n = 0; n < HALVINGS; n++, t *= 0.5) {
        if (!(change(lasso, t) <= share * t * predicted)) continue;
        for (int64_t k = 0; k < lasso->nworking; k++)
            lasso->w[lasso->working[k]] += t * lasso->step[k];
        for (int64_t i = 0; i < lasso->columns->n; i++)
            lasso->score[i] += t * lasso->along[i];
        lasso->b += t * lasso->shift;
        return predicted < 0 ? t : 0;
    }
    return 0;
}

/* A step that is too long for its model makes the next one shorter. Returns 0 if none can
 * be short enough. */
static int adapt(struct lasso *lasso, double taken)
{
    if (taken < SHORT_STEP)
        lasso->floor = fmax(10 * lasso->floor, FIRST_FLOOR);
    else
        lasso->floor = lasso->floor > 1e-13 ? 0.1 * lasso->floor : 0;
    return lasso->floor <= LAST_FLOOR;
}

/* ---- a fit ---- */

static struct lasso start(const margin_problem *problem, const l1_columns *columns,
                          const int32_t *label, const margin_output *output,
                          weft_arena *tmp)
{
    struct lasso lasso = {.problem = problem,
                          .columns = columns,
                          .asked = output,
                          .best = -INFINITY,
                          .ncandidates = columns->d};
    double *by_row = WEFT_NEW(tmp, double, 5 * columns->n),
           *by_column = WEFT_NEW(tmp, double, 6 * columns->d);
    double **row[] = {&lasso.y, &lasso.score, &lasso.a, &lasso.curve, &lasso.along};
    double **column[] = {&lasso.w,    &lasso.g,      &lasso.slopes,
                         &lasso.step, &lasso.second, &lasso.cross};
    for (int k = 0; k < 5; k++) *row[k] = by_row + k * columns->n;
    for (int k = 0; k < 6; k++) *column[k] = by_column + k * columns->d;
    lasso.support = l1_support_new(columns, tmp);
    lasso.candidates = WEFT_NEW(tmp, int64_t, columns->d);
    lasso.working = WEFT_NEW(tmp, int64_t, columns->d);
    for (int64_t i = 0; i < columns->n; i++) lasso.y[i] = label[i] == output->one ? 1 : -1;
    for (int64_t j = 0; j < columns->d; j++) lasso.candidates[j] = j;
    return lasso;
}

void l1_fit(const margin_problem *problem, const l1_columns *columns, const int32_t *label,
            const margin_output *output, int64_t d, real *w, real *intercept,
            weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    struct lasso lasso = start(problem, columns, label, output, tmp);
    int64_t *order = WEFT_NEW(tmp, int64_t, columns->d);
    for (int more = 1; more;) {
        evaluate(&lasso);
        out->passes++;
        out->residual = margin_relative_gap(problem, output->objective, lasso.objective,
                                            lasso.objective - lasso.best);
        if (out->residual <= problem->tol || out->iterations == problem->limit) break;
        out->iterations++;
        choose_working_set(&lasso);
        descend(&lasso, order);
        more = adapt(&lasso, line_search(&lasso));
    }
    memset(w, 0, (size_t)d * sizeof *w);
    for (int64_t j = 0; j < columns->d; j++) {
        double equal = (double)(columns->first[j + 1] - columns->first[j]);
        for (int64_t k = columns->first[j]; k < columns->first[j + 1]; k++)
            w[columns->name[k]] = (real)(lasso.w[j] / equal);
    }
    *intercept = (real)lasso.b;
    out->objective = lasso.objective;
    out->passes += lasso.passes;
    weft_arena_reset(tmp, mark);
}
