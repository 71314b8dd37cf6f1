/* Logistic regression with an L1 penalty on the columns of sparse rows; see l1.h. Proximal
 * Newton steps: the quadratic model of the losses, with the penalty as it is, is lowered by
 * coordinate descent, then a line search (Yuan, Ho, Lin, JMLR 13, 2012). Descent visits the
 * columns with a weight and the most promising of the others (Massias, Gramfort, Salmon,
 * ICML 2018). After every visit the intercept, which all rows share and which would hold
 * descent up, goes to its least: its slope is known from the columns' weighted sums.
 * A column leaves for good when the gap proves that its weight is 0: the dual
 * is 4/C-strongly concave, so the optimum is within sqrt(gap C / 2) of a dual point
 * (Ndiaye, Fercoq, Gramfort, Salmon, JMLR 18, 2017). Called by margin.c. */
#include <math.h>
#include <string.h>

#include "l1.h"

enum {
    SET = 1024,    /* columns that descent visits, at least */
    SWEEPS = 64,   /* of a step, at most */
    HALVINGS = 40, /* of a line search */
};

#define CURVE  1e-12 /* added to the curvature in every weight */
#define LITTLE 0.1   /* a sweep that gains less than this share of a step's is its last */

typedef struct l1 {
    const margin_problem *p;
    const l1_columns *x;
    const margin_output *of;
    double *y;            /* [n] 1 or -1 */
    double *score;        /* [n] x_i . w + b */
    double *a;            /* [n] a_i y_i */
    double *curve;        /* [n] second derivative of a row's loss */
    double *along;        /* [n] change of score by the step */
    double *w, *g, *rank; /* [d] weights; sum_i a_i y_i x_ij; scratch */
    int64_t *alive, *set; /* columns that may have a weight; that descent visits */
    int64_t nalive, nset;
    double b, shift;               /* intercept; its change by the step */
    double slope, bend;            /* of the model in the intercept, penalty apart */
    double *step, *second, *cross; /* [d] by place in set: change of a weight; curvature in
                                  it; in it and the intercept */
    char *asleep;                  /* [d] by place in set: of no weight, and wants none */
    double objective, best, gap;   /* primal; the highest lower bound; of this step's */
    int sweeps;
} l1;

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

/* ---- where a fit stands ------------------------------------------------------------- */

/* Columns to which the optimum gives no weight leave, given the largest slope. */
static void screen(l1 *s, double most)
{
    double far = sqrt(0.5 * s->p->c * s->gap);
    int64_t left = 0;
    for (int64_t k = 0; k < s->nalive; k++) {
        int64_t j = s->alive[k];
        double reach = fabs(s->g[j]) / most + far * sqrt(s->x->square[j]);
        if (s->w[j] != 0 || reach >= 1) s->alive[left++] = j;
    }
    s->nalive = left;
}

/* Objective, slopes and gap at w. */
static void measure(l1 *s)
{
    double c = s->p->c;
    double loss = 0, size = fabs(s->b), conj = 0, sum = 0;
    for (int64_t i = 0; i < s->x->n; i++) {
        double m = s->y[i] * s->score[i], q = -margin_slope(MARGIN_LOGISTIC, m);
        loss += margin_loss(MARGIN_LOGISTIC, m);
        s->a[i] = c * q * s->y[i];
        s->curve[i] = c * q * (1 - q);
        sum += s->a[i];
    }
    s->slope = -sum;
    double most = fmax(1, fabs(sum));
    for (int64_t k = 0; k < s->nalive; k++) {
        int64_t j = s->alive[k];
        s->g[j] = dot(s, j, s->a);
        most = fmax(most, fabs(s->g[j]));
        size += fabs(s->w[j]);
    }
    for (int64_t i = 0; i < s->x->n; i++) conj += margin_conj(s->p, fabs(s->a[i]) / most);
    s->objective = size + c * loss;
    s->best = fmax(s->best, -conj);
    s->gap = fmax(s->objective + conj, 0);
    screen(s, most);
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

/* The set that descent visits: columns with a weight, and of the others those of the
 * largest slopes beyond the penalty's, as many again, at least SET. */
static void choose(l1 *s)
{
    int64_t weights = 0, n = 0;
    for (int64_t k = 0; k < s->nalive; k++) {
        int64_t j = s->alive[k];
        weights += s->w[j] != 0;
        if (s->w[j] == 0 && fabs(s->g[j]) > 1) s->rank[n++] = fabs(s->g[j]);
    }
    int64_t most = weights > SET ? weights : SET;
    double least = n > most ? largest(s->rank, n, most) : 1;
    s->nset = 0;
    for (int64_t k = 0; k < s->nalive; k++) {
        int64_t j = s->alive[k];
        if (s->w[j] != 0 || fabs(s->g[j]) > least || (n > most && fabs(s->g[j]) >= least))
            s->set[s->nset++] = j;
    }
}

/* ---- a step ------------------------------------------------------------------------- */

/* The change of a weight w that minimises g by + h by^2 / 2 + |w + by|; *gain: by what. */
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

/* Minimises the model over the intercept; returns what it gains. */
static double settle(l1 *s)
{
    double gain;
    double by = best_change(s->slope, s->bend, s->b + s->shift, &gain);
    s->shift += by;
    s->slope += s->bend * by;
    return gain;
}

/* Minimises the model over the weight at place k of the set, then over the intercept;
 * returns what it gains. */
static double visit(l1 *s, int64_t k)
{
    const l1_columns *x = s->x;
    int64_t j = s->set[k];
    double gain, g = CURVE * s->step[k] - s->g[j] + s->shift * s->cross[k];
    for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) {
        uint32_t i = x->row[e];
        g += (double)x->value[e] * s->curve[i] * s->along[i];
    }
    double w = s->w[j] + s->step[k], by = best_change(g, s->second[k], w, &gain);
    s->asleep[k] = by == 0 && w == 0;
    if (by == 0) return 0;
    s->step[k] += by;
    for (int64_t e = x->start[j]; e < x->start[j + 1]; e++)
        s->along[x->row[e]] += by * (double)x->value[e];
    s->slope += by * s->cross[k];
    return gain + settle(s);
}

/* Visits the set in an order by chance, those asleep only where `all`; returns the gain. */
static double sweep(l1 *s, int all, int64_t *turn)
{
    weft_rng4 r = {{0}};
    double gain = 0;
    s->sweeps++;
    for (int64_t k = 0; k < s->nset; k++) {
        if (k % 4 == 0)
            r = weft_rng_at(0, WEFT_RNG_SOLVE, 0, (uint64_t)s->sweeps, (uint64_t)k);
        int64_t to = (int64_t)(weft_rng_unit(r.v[k % 4]) * (double)(k + 1));
        turn[k] = turn[to];
        turn[to] = k;
    }
    for (int64_t k = 0; k < s->nset; k++)
        if (all || !s->asleep[turn[k]]) gain += visit(s, turn[k]);
    return gain;
}

/* s->step and s->along: about the least of the model over the set. */
static void descend(l1 *s, int64_t *turn)
{
    const l1_columns *x = s->x;
    memset(s->along, 0, (size_t)x->n * sizeof *s->along);
    s->shift = 0;
    s->bend = CURVE;
    for (int64_t i = 0; i < x->n; i++) s->bend += s->curve[i];
    for (int64_t k = 0; k < s->nset; k++) {
        int64_t j = s->set[k];
        double h = CURVE, both = 0;
        for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) {
            double part = (double)x->value[e] * s->curve[x->row[e]];
            both += part;
            h += (double)x->value[e] * part;
        }
        s->second[k] = h;
        s->cross[k] = both;
        s->step[k] = 0;
    }
    double total = settle(s);
    int all = 1;
    for (int n = 0; n < SWEEPS; n++) {
        double gain = sweep(s, all, turn);
        total += gain;
        int little = !(gain > LITTLE * total);
        if (little && all && n > 0) break;
        all = little;
    }
    for (int64_t i = 0; i < x->n; i++) s->along[i] += s->shift;
}

/* Objective at w + t step, less the one at w. */
static double change(const l1 *s, double t)
{
    double loss = 0, size = fabs(s->b + t * s->shift) - fabs(s->b);
    for (int64_t i = 0; i < s->x->n; i++)
        loss += margin_loss(MARGIN_LOGISTIC, s->y[i] * (s->score[i] + t * s->along[i])) -
                margin_loss(MARGIN_LOGISTIC, s->y[i] * s->score[i]);
    for (int64_t k = 0; k < s->nset; k++) {
        double w = s->w[s->set[k]];
        size += fabs(w + t * s->step[k]) - fabs(w);
    }
    return size + s->p->c * loss;
}

/* Goes along the step, half as far until that lowers the objective by a share of what its
 * slope promises. Returns 0 if there is no such point. */
static int search(l1 *s)
{
    double share = 0.01;
    double promise = fabs(s->b + s->shift) - fabs(s->b), t = 1;
    for (int64_t i = 0; i < s->x->n; i++) promise -= s->a[i] * s->shift;
    for (int64_t k = 0; k < s->nset; k++) {
        double w = s->w[s->set[k]];
        promise += fabs(w + s->step[k]) - fabs(w) - s->g[s->set[k]] * s->step[k];
    }
    for (int n = 0; n < HALVINGS; n++, t *= 0.5) {
        if (!(change(s, t) <= share * t * promise)) continue;
        for (int64_t k = 0; k < s->nset; k++) s->w[s->set[k]] += t * s->step[k];
        for (int64_t i = 0; i < s->x->n; i++) s->score[i] += t * s->along[i];
        s->b += t * s->shift;
        return promise < 0;
    }
    return 0;
}

/* ---- a fit -------------------------------------------------------------------------- */

static l1 start(const margin_problem *p, const l1_columns *x, const int32_t *label,
                const margin_output *of, weft_arena *tmp)
{
    l1 s = {.p = p, .x = x, .of = of, .best = -INFINITY, .nalive = x->d};
    double *rows = WEFT_NEW(tmp, double, 5 * x->n),
           *columns = WEFT_NEW(tmp, double, 6 * x->d);
    double **row[] = {&s.y, &s.score, &s.a, &s.curve, &s.along};
    double **column[] = {&s.w, &s.g, &s.rank, &s.step, &s.second, &s.cross};
    for (int k = 0; k < 5; k++) *row[k] = rows + k * x->n;
    for (int k = 0; k < 6; k++) *column[k] = columns + k * x->d;
    s.alive = WEFT_NEW(tmp, int64_t, x->d);
    s.set = WEFT_NEW(tmp, int64_t, x->d);
    s.asleep = WEFT_NEW(tmp, char, x->d);
    for (int64_t i = 0; i < x->n; i++) s.y[i] = label[i] == of->one ? 1 : -1;
    for (int64_t j = 0; j < x->d; j++) s.alive[j] = j;
    return s;
}

void l1_fit(const margin_problem *p, const l1_columns *x, const int32_t *label,
            const margin_output *of, int64_t d, real *w, real *intercept, weft_fitted *out,
            weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    l1 s = start(p, x, label, of, tmp);
    int64_t *turn = WEFT_NEW(tmp, int64_t, x->d);
    for (int more = 1; more;) {
        measure(&s);
        out->passes++;
        out->residual = margin_share(p, of->objective, s.objective, s.objective - s.best);
        if (out->residual <= p->tol || out->iterations == p->limit) break;
        out->iterations++;
        choose(&s);
        descend(&s, turn);
        more = search(&s);
    }
    memset(w, 0, (size_t)d * sizeof *w);
    for (int64_t j = 0; j < x->d; j++) w[x->name[j]] = (real)s.w[j];
    *intercept = (real)s.b;
    out->objective = s.objective;
    out->passes += s.sweeps;
    weft_arena_reset(tmp, mark);
}
