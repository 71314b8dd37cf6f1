/* Logistic regression with an L1 penalty on the columns of sparse rows; see l1.h. Proximal
 * Newton steps: the quadratic model of the losses plus the penalty is reduced by coordinate
 * descent, then a line search (Yuan, Ho, Lin, JMLR 13, 2012). Descent visits the columns
 * with a weight and the most promising of the others (Massias, Gramfort, Salmon, ICML
 * 2018). After every visit the objective is minimised over the intercept, which all rows
 * share and which would slow the descent down: its slope follows from the columns' weighted
 * sums. Sweeps find out which weights are 0; conjugate gradients (l1_cg.c) settle the
 * values of the others, for which descent would take thousands of sweeps where C is large.
 * A column is removed for good when the gap proves that its weight is 0: the dual is
 * 4/C-strongly concave, so the optimum is within sqrt(gap C / 2) of a dual point (Ndiaye,
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

static double dot(const l1 *s, int64_t j, const double *v)
{
    double sum[2] = {0};
    int64_t e = s->x->start[j], end = s->x->start[j + 1];
    for (; e + 1 < end; e += 2) {
        sum[0] += (double)s->x->value[e] * v[s->x->row[e]];
        sum[1] += (double)s->x->value[e + 1] * v[s->x->row[e + 1]];
    }
    if (e < end) sum[0] += (double)s->x->value[e] * v[s->x->row[e]];
    return sum[0] + sum[1];
}

/* ---- objective and gap ---- */

/* Removes columns whose weight is 0 at the optimum, given the largest slope. */
static void screen(l1 *s, double max_slope)
{
    double radius = sqrt(0.5 * s->p->c * s->gap);
    int64_t left = 0;
    for (int64_t k = 0; k < s->ncandidates; k++) {
        int64_t j = s->candidates[k];
        double bound = fabs(s->g[j]) / max_slope + radius * sqrt(s->x->square[j]);
        if (s->w[j] != 0 || bound >= 1) s->candidates[left++] = j;
    }
    s->ncandidates = left;
}

/* Objective, slopes and gap at w. */
static void evaluate(l1 *s)
{
    double c = s->p->c;
    double loss = 0, size = fabs(s->b), conj = 0, sum = 0;
    for (int64_t i = 0; i < s->x->n; i++) {
        double m = s->y[i] * s->score[i], q = -margin_slope(MARGIN_LOGISTIC, m);
        loss += margin_loss(MARGIN_LOGISTIC, m);
        s->a[i] = c * q * s->y[i];
        s->curve[i] = c * (q * (1 - q) + s->floor);
        sum += s->a[i];
    }
    s->slope = -sum;
    double max_slope = fmax(1, fabs(sum));
    for (int64_t k = 0; k < s->ncandidates; k++) {
        int64_t j = s->candidates[k];
        s->g[j] = dot(s, j, s->a);
        max_slope = fmax(max_slope, fabs(s->g[j]));
        size += fabs(s->w[j]);
    }
    for (int64_t i = 0; i < s->x->n; i++)
        conj += margin_conj(s->p, fabs(s->a[i]) / max_slope);
    s->objective = size + c * loss;
    s->best = fmax(s->best, -conj);
    s->gap = fmax(s->objective + conj, 0);
    screen(s, max_slope);
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
static void choose_working_set(l1 *s)
{
    int64_t weights = 0, n = 0;
    for (int64_t k = 0; k < s->ncandidates; k++) {
        int64_t j = s->candidates[k];
        weights += s->w[j] != 0;
        if (s->w[j] == 0 && fabs(s->g[j]) > 1) s->slopes[n++] = fabs(s->g[j]);
    }
    int64_t max_slope = weights > MIN_WORKING ? weights : MIN_WORKING;
    double threshold = n > max_slope ? largest(s->slopes, n, max_slope) : 1;
    s->nworking = 0;
    for (int64_t k = 0; k < s->ncandidates; k++) {
        int64_t j = s->candidates[k];
        if (s->w[j] != 0 || fabs(s->g[j]) > threshold ||
            (n > max_slope && fabs(s->g[j]) >= threshold))
            s->working[s->nworking++] = j;
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
static double minimise_intercept(l1 *s)
{
    double gain;
    double by = best_change(s->slope, s->curvature, s->b + s->shift, &gain);
    s->shift += by;
    s->slope += s->curvature * by;
    return gain;
}

/* Minimises the model over the weight at place k of the working set, then over the
 * intercept; returns the gain. */
static double visit(l1 *s, int64_t k)
{
    const l1_columns *columns = s->x;
    int64_t j = s->working[k];
    double gain, g = L1_DAMPING * s->step[k] - s->g[j] + s->shift * s->cross[k];
    for (int64_t e = columns->start[j]; e < columns->start[j + 1]; e++) {
        uint32_t i = columns->row[e];
        g += (double)columns->value[e] * s->curve[i] * s->along[i];
    }
    double by = best_change(g, s->second[k], s->w[j] + s->step[k], &gain);
    if (by == 0) return 0;
    s->step[k] += by;
    for (int64_t e = columns->start[j]; e < columns->start[j + 1]; e++)
        s->along[columns->row[e]] += by * (double)columns->value[e];
    s->slope += by * s->cross[k];
    return gain + minimise_intercept(s);
}

/* Visits the working set in random order; returns the gain. */
static double sweep(l1 *s, int64_t *order)
{
    weft_rng4 rng = {{0}};
    double gain = 0;
    s->passes++;
    for (int64_t k = 0; k < s->nworking; k++) {
        if (k % 4 == 0)
            rng = weft_rng_at(0, WEFT_RNG_SOLVE, 0, (uint64_t)s->passes, (uint64_t)k);
        int64_t to = (int64_t)(weft_rng_unit(rng.v[k % 4]) * (double)(k + 1));
        order[k] = order[to];
        order[to] = k;
    }
    for (int64_t k = 0; k < s->nworking; k++) gain += visit(s, order[k]);
    return gain;
}

/* ---- a step, and how far ---- */

/* s->step and s->along <- approximate minimum of the model over the working set. */
static void descend(l1 *s, int64_t *order)
{
    const l1_columns *columns = s->x;
    memset(s->along, 0, (size_t)columns->n * sizeof *s->along);
    s->shift = 0;
    s->curvature = L1_DAMPING;
    for (int64_t i = 0; i < columns->n; i++) s->curvature += s->curve[i];
    for (int64_t k = 0; k < s->nworking; k++) {
        int64_t j = s->working[k];
        double h = L1_DAMPING, both = 0;
        for (int64_t e = columns->start[j]; e < columns->start[j + 1]; e++) {
            double part = (double)columns->value[e] * s->curve[columns->row[e]];
            both += part;
            h += (double)columns->value[e] * part;
        }
        s->second[k] = h;
        s->cross[k] = both;
        s->step[k] = 0;
    }
    double total = minimise_intercept(s);
    for (int n = 0; n < SWEEPS; n++) {
        double gain = sweep(s, order);
        total += gain;
        if (n > 0 && !(gain > LAST_SWEEP_GAIN * total)) break;
        total += l1_minimise_support(s);
    }
    for (int64_t i = 0; i < columns->n; i++) s->along[i] += s->shift;
}

/* Objective at w + t step minus the one at w. */
static double change(const l1 *s, double t)
{
    double loss = 0, size = fabs(s->b + t * s->shift) - fabs(s->b);
    for (int64_t i = 0; i < s->x->n; i++)
        loss += margin_loss(MARGIN_LOGISTIC, s->y[i] * (s->score[i] + t * s->along[i])) -
                margin_loss(MARGIN_LOGISTIC, s->y[i] * s->score[i]);
    for (int64_t k = 0; k < s->nworking; k++) {
        double w = s->w[s->working[k]];
        size += fabs(w + t * s->step[k]) - fabs(w);
    }
    return size + s->p->c * loss;
}

/* Takes the step, halved until the objective decreases by a share of the predicted
 * decrease. Returns what is taken of it, 0 if there is no such point. */
static double line_search(l1 *s)
{
    double share = 0.01;
    double predicted = fabs(s->b + s->shift) - fabs(s->b), t = 1;
    for (int64_t i = 0; i < s->x->n; i++) predicted -= s->a[i] * s->shift;
    for (int64_t k = 0; k < s->nworking; k++) {
        double w = s->w[s->working[k]];
        predicted += fabs(w + s->step[k]) - fabs(w) - s->g[s->working[k]] * s->step[k];
    }
    for (int n = 0; n < HALVINGS; n++, t *= 0.5) {
        if (!(change(s, t) <= share * t * predicted)) continue;
        for (int64_t k = 0; k < s->nworking; k++) s->w[s->working[k]] += t * s->step[k];
        for (int64_t i = 0; i < s->x->n; i++) s->score[i] += t * s->along[i];
        s->b += t * s->shift;
        return predicted < 0 ? t : 0;
    }
    return 0;
}

/* A step that is too long for its model makes the next one shorter. Returns 0 if none can
 * be short enough. */
static int adapt(l1 *s, double taken)
{
    if (taken < SHORT_STEP)
        s->floor = fmax(10 * s->floor, FIRST_FLOOR);
    else
        s->floor = s->floor > 1e-13 ? 0.1 * s->floor : 0;
    return s->floor <= LAST_FLOOR;
}

/* ---- a fit ---- */

static l1 start(const margin_problem *problem, const l1_columns *x, const int32_t *label,
                const margin_output *of, weft_arena *tmp)
{
    l1 s = {.p = problem, .x = x, .of = of, .best = -INFINITY, .ncandidates = x->d};
    double *rows = WEFT_NEW(tmp, double, 5 * x->n),
           *columns = WEFT_NEW(tmp, double, 6 * x->d);
    double **row[] = {&s.y, &s.score, &s.a, &s.curve, &s.along};
    double **column[] = {&s.w, &s.g, &s.slopes, &s.step, &s.second, &s.cross};
    for (int k = 0; k < 5; k++) *row[k] = rows + k * x->n;
    for (int k = 0; k < 6; k++) *column[k] = columns + k * x->d;
    s.f = l1_support_new(x, tmp);
    s.candidates = WEFT_NEW(tmp, int64_t, x->d);
    s.working = WEFT_NEW(tmp, int64_t, x->d);
    for (int64_t i = 0; i < x->n; i++) s.y[i] = label[i] == of->one ? 1 : -1;
    for (int64_t j = 0; j < x->d; j++) s.candidates[j] = j;
    return s;
}

void l1_fit(const margin_problem *problem, const l1_columns *columns, const int32_t *label,
            const margin_output *of, int64_t d, real *w, real *intercept, weft_fitted *out,
            weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    l1 s = start(problem, columns, label, of, tmp);
    int64_t *order = WEFT_NEW(tmp, int64_t, columns->d);
    for (int more = 1; more;) {
        evaluate(&s);
        out->passes++;
        out->residual =
            margin_relative_gap(problem, of->objective, s.objective, s.objective - s.best);
        if (out->residual <= problem->tol || out->iterations == problem->limit) break;
        out->iterations++;
        choose_working_set(&s);
        descend(&s, order);
        more = adapt(&s, line_search(&s));
    }
    memset(w, 0, (size_t)d * sizeof *w);
    for (int64_t j = 0; j < columns->d; j++) {
        double equal = (double)(columns->first[j + 1] - columns->first[j]);
        for (int64_t k = columns->first[j]; k < columns->first[j + 1]; k++)
            w[columns->name[k]] = (real)(s.w[j] / equal);
    }
    *intercept = (real)s.b;
    out->objective = s.objective;
    out->passes += s.passes;
    weft_arena_reset(tmp, mark);
}
