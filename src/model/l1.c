/* Logistic regression with an L1 penalty on the columns of sparse rows:
 *     min |w|_1 + |b| + sum_i C_i log(1 + exp(-y_i (x_i . w + b))),
 * of which C_i / (1 + exp(m_i)) at margins m_i, scaled down by s until no column's
 * |sum_i a_i y_i x_ij|, nor |sum_i a_i y_i|, is more than 1, gives a lower bound:
 * - sum_i conj(s a_i). The gap between the two ends a fit. Proximal Newton steps: the
 * quadratic model of the losses plus the penalty is reduced by coordinate descent, then a
 * line search (Yuan, Ho, Lin, JMLR 13, 2012). Descent visits the columns with a weight and
 * the most promising of the others (Massias, Gramfort, Salmon, ICML 2018). After every
 * visit the objective is minimised over the intercept, which all rows share and which would
 * slow the descent down: its slope follows from the columns' weighted sums. Sweeps find out
 * which weights are 0; conjugate gradients settle the values of the others, for which
 * descent would take thousands of sweeps where C is large. A column is removed for good
 * when the gap proves that its weight is 0: the dual is 4/C-strongly concave, C being that
 * of the heaviest row, so the optimum is within sqrt(gap C / 2) of a dual point (Ndiaye,
 * Fercoq, Gramfort, Salmon, JMLR 18, 2017). */
#include "model.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns that can have a weight; equal ones are one, which has the weights of all. */
struct l1_columns {
    int64_t n, d;   /* rows; columns */
    int64_t *first; /* [d+1] name[first[j]] .. name[first[j+1]-1] are the columns of the
                       matrix that are column j, increasing */
    int64_t *name;  /* [first[d]] */
    int64_t *start; /* [d+1] entries of column j: start[j] .. start[j+1] - 1, rows
                       increasing */
    uint32_t *row;  /* [start[d]] */
    float *value;   /* [start[d]] */
    double *square; /* [d] sum of the squares of a column's entries */
    double *weight; /* [n] of the losses of rows, beside C */
    double most;    /* largest of these */
};

#define L1_DAMPING 1e-12 /* added to the second derivative in every weight */

/* The weights that are not 0, of columns in the order of the working set, then the
 * intercept if it is not 0. */
typedef struct l1_support {
    int64_t n;
    int64_t *place;   /* [n] index in the working set; -1: the intercept */
    double *from;     /* [n] weights before */
    double *fall;     /* [n] minus the derivative of the model there */
    double *change;   /* [n] changes that conjugate gradients propose */
    double *residual; /* [n] minus the derivative at from + change */
    double *way;      /* [n] direction of a search; changes that it takes */
    double *bend;     /* [n] second derivatives times way */
    double *along;    /* [rows] change of score by way */
} l1_support;

/* A fit of one output. A step changes weights by `step` and the intercept by `shift`; its
 * model is the quadratic one of the losses at the weights before, plus the penalty. */
struct lasso {
    const margin_problem *problem;
    const l1_columns *columns;
    double *y;                     /* [n] 1 or -1 */
    double *score;                 /* [n] x_i . w + b */
    double *a;                     /* [n] a_i y_i */
    double *curve;                 /* [n] second derivative of a row's loss */
    double *along;                 /* [n] change of score by the step; while it is sought,
                                      without that by the shift */
    double *w, *g, *slopes;        /* [d] weights; sum_i a_i y_i x_ij; scratch */
    int64_t *candidates, *working; /* columns that may have a weight; working set */
    int64_t ncandidates, nworking;
    double b, shift;               /* intercept; its change by the step */
    double slope, curvature;       /* of the model in the intercept, without the penalty */
    double *step, *second, *cross; /* [d] by place in the working set: change of a weight;
                                  second derivatives in it; in it and the intercept */
    l1_support support;
    double floor;                /* added to q (1 - q) */
    double objective, best, gap; /* primal; highest lower bound; gap of this step */
    int passes;                  /* over the working set */
};

/* ---- columns, from sparse rows ---- */

/* Without those that cannot have a weight under an L1 penalty: most columns of n-grams
 * occur in a few rows only. Equal columns become one: the longer n-grams that only one
 * document has all have the same value in it, and often they are nine in ten of all
 * columns. How a weight is divided among equal columns does not change the objective, as
 * long as no sign differs; they have equal shares. */

/* New numbers of the columns that remain, [d]; -1 for the others. */
static int64_t *number_columns(const margin_problem *problem, const weft_sparse *sparse,
                               int64_t d, l1_columns *columns, weft_arena *mem)
{
    double *sum = WEFT_NEW(mem, double, d);
    int64_t *number = WEFT_NEW(mem, int64_t, d);
    for (int64_t i = 0; i < sparse->n; i++)
        for (int64_t e = sparse->first[i]; e < sparse->first[i + 1]; e++)
            sum[sparse->column[e]] += columns->weight[i] * fabs((double)sparse->value[e]);
    for (int64_t j = 0; j < d; j++) number[j] = problem->c * sum[j] > 1 ? columns->d++ : -1;
    columns->name = WEFT_NEW(mem, int64_t, columns->d);
    for (int64_t j = 0; j < d; j++)
        if (number[j] >= 0) columns->name[number[j]] = j;
    return number;
}

struct hashed {
    uint64_t hash;
    int64_t at;
};

static int by_hash(const void *left, const void *right)
{
    const struct hashed *a = left, *b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int64_t entries(const l1_columns *columns, int64_t j)
{
    return columns->start[j + 1] - columns->start[j];
}

static int are_equal(const l1_columns *columns, int64_t i, int64_t j)
{
    size_t n = (size_t)entries(columns, i);
    return entries(columns, i) == entries(columns, j) &&
           memcmp(columns->row + columns->start[i], columns->row + columns->start[j],
                  n * sizeof *columns->row) == 0 &&
           memcmp(columns->value + columns->start[i], columns->value + columns->start[j],
                  n * sizeof *columns->value) == 0;
}

/* leader[j] <- the first column that is equal to column j. */
static int64_t *find_leaders(const l1_columns *columns, weft_arena *mem)
{
    int64_t *leader = WEFT_NEW(mem, int64_t, columns->d);
    struct hashed *order = WEFT_NEW(mem, struct hashed, columns->d);
    for (int64_t j = 0; j < columns->d; j++) {
        size_t n = (size_t)entries(columns, j);
        uint64_t hash =
            weft_hash(columns->row + columns->start[j], n * sizeof *columns->row, 0);
        hash =
            weft_hash(columns->value + columns->start[j], n * sizeof *columns->value, hash);
        order[j] = (struct hashed){hash, j};
    }
    qsort(order, (size_t)columns->d, sizeof *order, by_hash);
    for (int64_t k = 0, led = 0; k < columns->d; k++) {
        int64_t first = order[led].at, at = order[k].at;
        if (order[k].hash != order[led].hash || !are_equal(columns, first, at))
            first = order[led = k].at;
        leader[at] = first;
    }
    return leader;
}

/* Keeps the first of equal columns, with the names of all. */
static void merge_columns(l1_columns *columns, weft_arena *mem)
{
    int64_t all = columns->d, m = 0, to = 0, *name = columns->name;
    columns->first = WEFT_NEW(mem, int64_t, all + 1);
    columns->name = WEFT_NEW(mem, int64_t, all);
    WEFT_REWIND(mem);
    const int64_t *leader = find_leaders(columns, mem);
    int64_t *number = WEFT_NEW(mem, int64_t, all), *at = WEFT_NEW(mem, int64_t, all);
    for (int64_t j = 0; j < all; j++) {
        number[j] = leader[j] == j ? m++ : number[leader[j]];
        columns->first[number[j] + 1]++;
    }
    for (int64_t g = 0; g < m; g++) columns->first[g + 1] += at[g] = columns->first[g];
    for (int64_t j = 0; j < all; j++) columns->name[at[number[j]]++] = name[j];
    for (int64_t j = 0; j < all; j++) {
        int64_t g = number[j], from = columns->start[j], n = entries(columns, j);
        if (leader[j] != j) continue;
        memmove(columns->row + to, columns->row + from, (size_t)n * sizeof *columns->row);
        memmove(columns->value + to, columns->value + from,
                (size_t)n * sizeof *columns->value);
        columns->square[g] = columns->square[j];
        columns->start[g] = to;
        to += n;
    }
    columns->d = m;
    columns->start[m] = to;
}

static void take_weights(const dual_rows *rows, l1_columns *columns, weft_arena *mem)
{
    columns->weight = WEFT_NEW(mem, double, columns->n);
    for (int64_t i = 0; i < columns->n; i++) {
        columns->weight[i] = rows->weight ? rows->weight[i] : 1;
        columns->most = fmax(columns->most, columns->weight[i]);
    }
}

l1_columns *l1_columns_of(const margin_problem *problem, const dual_rows *rows, int64_t d,
                          weft_arena *mem)
{
    const weft_sparse *sparse = &rows->x;
    l1_columns *columns = WEFT_NEW(mem, l1_columns, 1);
    columns->n = sparse->n;
    take_weights(rows, columns, mem);
    const int64_t *number = number_columns(problem, sparse, d, columns, mem);
    columns->start = WEFT_NEW(mem, int64_t, columns->d + 1);
    for (int64_t e = 0; e < sparse->first[sparse->n]; e++)
        if (number[sparse->column[e]] >= 0) columns->start[number[sparse->column[e]] + 1]++;
    for (int64_t j = 0; j < columns->d; j++) columns->start[j + 1] += columns->start[j];
    int64_t *at = WEFT_NEW(mem, int64_t, columns->d);
    for (int64_t j = 0; j < columns->d; j++) at[j] = columns->start[j];
    columns->row = WEFT_NEW(mem, uint32_t, columns->start[columns->d]);
    columns->value = WEFT_NEW(mem, float, columns->start[columns->d]);
    columns->square = WEFT_NEW(mem, double, columns->d);
    for (int64_t i = 0; i < sparse->n; i++) {
        for (int64_t e = sparse->first[i]; e < sparse->first[i + 1]; e++) {
            int64_t j = number[sparse->column[e]];
            if (j < 0) continue;
            columns->row[at[j]] = (uint32_t)i;
            columns->value[at[j]++] = sparse->value[e];
            columns->square[j] += (double)sparse->value[e] * (double)sparse->value[e];
        }
    }
    merge_columns(columns, mem);
    return columns;
}

/* ---- the values of the weights that are not 0 ---- */

/* As long as no weight changes its sign, the penalty is linear, so
 * that the model of the step is a quadratic function of these weights. Conjugate gradients,
 * scaled by the diagonal of the second derivatives, approximate its minimum; then the
 * proposed change is taken as a whole, or halved until the model decreases, where weights
 * that would change their sign stop at 0 (Chen, Curtis, Robinson, SIAM J. Optim. 27, 2017).
 */

enum {
    ITERATIONS = 20,     /* largest number of iterations of conjugate gradients */
    CHANGE_HALVINGS = 10 /* largest number of halvings of the change that they propose */
};

#define END 0.01 /* conjugate gradients end at this share of the first squared residual */

/* Room for the support of a fit to these columns. Owned by tmp. */
static l1_support support_new(const l1_columns *columns, weft_arena *tmp)
{
    l1_support support = {.place = WEFT_NEW(tmp, int64_t, columns->d + 1),
                          .along = WEFT_NEW(tmp, double, columns->n)};
    double *weights = WEFT_NEW(tmp, double, 6 * (columns->d + 1));
    double **part[] = {&support.from,     &support.fall, &support.change,
                       &support.residual, &support.way,  &support.bend};
    for (int k = 0; k < 6; k++) *part[k] = weights + k * (columns->d + 1);
    return support;
}

/* The second derivative in weight a of the support. */
static double second_of(const struct lasso *lasso, int64_t a)
{
    return lasso->support.place[a] < 0 ? lasso->curvature
                                       : lasso->second[lasso->support.place[a]];
}

/* along[rows] <- the change of score by changes v[n] of the weights of the support. */
static void spread(const struct lasso *lasso, const double *v, double *along)
{
    const l1_support *support = &lasso->support;
    int64_t n = support->n;
    double by = 0;
    if (n > 0 && support->place[n - 1] < 0) by = v[--n];
    for (int64_t i = 0; i < lasso->columns->n; i++) along[i] = by;
    for (int64_t a = 0; a < n; a++) {
        int64_t j = lasso->working[support->place[a]];
        for (int64_t e = lasso->columns->start[j]; e < lasso->columns->start[j + 1]; e++)
            along[lasso->columns->row[e]] += v[a] * (double)lasso->columns->value[e];
    }
}

/* Second derivatives of the model in weight k of the working set (-1: the intercept) and in
 * all others, times the changes of weights that change scores by along[rows]. */
static double curved(const struct lasso *lasso, int64_t k, const double *along)
{
    double sum = 0;
    if (k < 0) {
        for (int64_t i = 0; i < lasso->columns->n; i++) sum += lasso->curve[i] * along[i];
        return sum;
    }
    int64_t j = lasso->working[k];
    for (int64_t e = lasso->columns->start[j]; e < lasso->columns->start[j + 1]; e++) {
        uint32_t i = lasso->columns->row[e];
        sum += (double)lasso->columns->value[e] * lasso->curve[i] * along[i];
    }
    return sum;
}

/* The support after the step so far, and minus the model's derivatives there. */
static void open_support(struct lasso *lasso)
{
    l1_support *support = &lasso->support;
    support->n = 0;
    for (int64_t k = 0; k < lasso->nworking; k++) {
        int64_t j = lasso->working[k];
        double w = lasso->w[j] + lasso->step[k];
        if (w == 0) continue;
        double g =
            L1_DAMPING * lasso->step[k] - lasso->g[j] + lasso->shift * lasso->cross[k];
        support->place[support->n] = k;
        support->from[support->n] = w;
        support->fall[support->n++] =
            -(g + curved(lasso, k, lasso->along) + copysign(1, w));
    }
    double b = lasso->b + lasso->shift;
    if (b == 0) return;
    support->place[support->n] = -1;
    support->from[support->n] = b;
    support->fall[support->n++] = -(lasso->slope + copysign(1, b));
}

/* support->change <- approximately the minimum of the model without changes of signs. */
static void propose(struct lasso *lasso)
{
    l1_support *support = &lasso->support;
    double size =
        0; /* sum of the squared residuals, each divided by its diagonal element */
    for (int64_t a = 0; a < support->n; a++) {
        support->change[a] = 0;
        support->residual[a] = support->fall[a];
        support->way[a] = support->residual[a] / second_of(lasso, a);
        size += support->residual[a] * support->way[a];
    }
    double end = END * size;
    for (int n = 0; n < ITERATIONS && size > end; n++) {
        double bend = 0, next = 0;
        lasso->passes++;
        spread(lasso, support->way, support->along);
        for (int64_t a = 0; a < support->n; a++) {
            support->bend[a] = curved(lasso, support->place[a], support->along) +
                               L1_DAMPING * support->way[a];
            bend += support->bend[a] * support->way[a];
        }
        for (int64_t a = 0; a < support->n; a++) {
            support->change[a] += size / bend * support->way[a];
            support->residual[a] -= size / bend * support->bend[a];
            next += support->residual[a] * support->residual[a] / second_of(lasso, a);
        }
        for (int64_t a = 0; a < support->n; a++)
            support->way[a] =
                support->residual[a] / second_of(lasso, a) + next / size * support->way[a];
        size = next;
    }
}

/* support->way <- t support->change, but weights that would change their sign end at 0;
 * sets support->along to its changes of score. Returns the decrease of the model. */
static double project(struct lasso *lasso, double t)
{
    l1_support *support = &lasso->support;
    double gain = 0;
    for (int64_t a = 0; a < support->n; a++) {
        double by = t * support->change[a];
        if (support->from[a] * (support->from[a] + by) < 0) by = -support->from[a];
        support->way[a] = by;
        gain += support->fall[a] * by - 0.5 * L1_DAMPING * by * by;
    }
    lasso->passes++;
    spread(lasso, support->way, support->along);
    for (int64_t i = 0; i < lasso->columns->n; i++)
        gain -= 0.5 * lasso->curve[i] * support->along[i] * support->along[i];
    return gain;
}

/* Reduces the model of a step over the weights that are not 0, all others fixed: changes
 * step, shift, along and slope. Weights that would change their sign become 0. Returns the
 * decrease, 0 if none was found. Cost: at most 30 products with the columns of the
 * support, and 22 with their transposes. */
static double minimise_support(struct lasso *lasso)
{
    l1_support *support = &lasso->support;
    double gain = 0, t = 1, by = 0;
    open_support(lasso);
    propose(lasso);
    for (int n = 0; n < CHANGE_HALVINGS && !(gain > 0); n++, t *= 0.5)
        gain = project(lasso, t);
    if (!(gain > 0)) return 0;
    for (int64_t a = 0; a < support->n; a++) {
        int64_t k = support->place[a];
        int zero = support->way[a] == -support->from[a];
        if (k < 0) {
            by = support->way[a];
            lasso->shift = zero ? -lasso->b : lasso->shift + by;
        } else
            lasso->step[k] =
                zero ? -lasso->w[lasso->working[k]] : lasso->step[k] + support->way[a];
    }
    lasso->slope += curved(lasso, -1, support->along) + L1_DAMPING * by;
    /* the shift is apart from lasso->along */
    for (int64_t i = 0; i < lasso->columns->n; i++)
        lasso->along[i] += support->along[i] - by;
    return gain;
}

/* ---- objective and gap ---- */

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
    double gain = 0;
    lasso->passes++;
    margin_shuffle(NULL, lasso->nworking, 0, lasso->passes, order);
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
        total += minimise_support(lasso);
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

static struct lasso start(const margin_fits *fit, const l1_columns *columns,
                          const int32_t *label, weft_arena *tmp)
{
    struct lasso lasso = {.problem = fit->problem,
                          .columns = columns,
                          .best = -INFINITY,
                          .ncandidates = columns->d};
    double *by_row = WEFT_NEW(tmp, double, 5 * columns->n),
           *by_column = WEFT_NEW(tmp, double, 6 * columns->d);
    double **row[] = {&lasso.y, &lasso.score, &lasso.a, &lasso.curve, &lasso.along};
    double **column[] = {&lasso.w,    &lasso.g,      &lasso.slopes,
                         &lasso.step, &lasso.second, &lasso.cross};
    for (int k = 0; k < 5; k++) *row[k] = by_row + k * columns->n;
    for (int k = 0; k < 6; k++) *column[k] = by_column + k * columns->d;
    lasso.support = support_new(columns, tmp);
    lasso.candidates = WEFT_NEW(tmp, int64_t, columns->d);
    lasso.working = WEFT_NEW(tmp, int64_t, columns->d);
    margin_signs(columns->n, label, fit->output->one, lasso.y);
    for (int64_t j = 0; j < columns->d; j++) lasso.candidates[j] = j;
    return lasso;
}

void l1_fit(const margin_fits *fit, const l1_columns *columns, const int32_t *label,
            weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    weft_fitted *out = fit->out;
    struct lasso lasso = start(fit, columns, label, tmp);
    int64_t *order = WEFT_NEW(tmp, int64_t, columns->d);
    for (int more = 1; more;) {
        evaluate(&lasso);
        out->passes++;
        out->residual = margin_relative_gap(fit->problem, fit->output->objective,
                                            lasso.objective, lasso.objective - lasso.best);
        if (out->residual <= fit->problem->tol || out->iterations == fit->problem->limit)
            break;
        out->iterations++;
        choose_working_set(&lasso);
        descend(&lasso, order);
        more = adapt(&lasso, line_search(&lasso));
    }
    memset(fit->w, 0, (size_t)fit->matrix->d * sizeof *fit->w);
    for (int64_t j = 0; j < columns->d; j++) {
        double equal = (double)(columns->first[j + 1] - columns->first[j]);
        for (int64_t k = columns->first[j]; k < columns->first[j + 1]; k++)
            fit->w[columns->name[k]] = (real)(lasso.w[j] / equal);
    }
    *fit->intercept = (real)lasso.b;
    out->objective = lasso.objective;
    out->passes += lasso.passes;
}
