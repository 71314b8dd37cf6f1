/* Dual coordinate ascent for linear models with a loss of the margin, on sparse rows:
 *     max_a  - 1/2 |sum_i a_i y_i x_i|^2 - 1/2 (sum_i a_i y_i)^2 - sum_i conj(a_i),
 * one a_i after the other solved exactly, w = sum_i a_i y_i x_i kept up to date (Hsieh,
 * Chang, Lin, Keerthi, Sundararajan, ICML 2008; for logistic loss Yu, Huang, Lin, Machine
 * Learning 85, 2011). Called by margin.c.
 *
 * Lanes (struct dual_rows) are visited at the same time, each with its own copy of w; their
 * changes are added exactly, with the best common step. Lanes hold different groups of
 * rows, which hardly share columns, so that hardly any progress is lost. One group is one
 * lane. The intercept, which all rows share, would tie the lanes together: it stays fixed
 * during an epoch, and takes a Newton step when its error is what is left. A row whose
 * change brings less than its share of the tolerance rests 1, 3, then 7 sweeps. The end is
 * certified by the duality gap, margins of all rows computed anew. Nothing depends on the
 * number of ranks. The fit starts at a = 0, wherever w was. */
#include "dual.h"

#include <math.h>
#include <string.h>

enum {
    SUMS = 4,     /* over rows */
    REST = 3,     /* a row rests at most 2^REST - 1 sweeps */
    SHARE = 4,    /* an epoch reads at least this part of a lane's entries */
    TRIAL = 32,   /* epochs in which the gap must halve */
    LARGEST = 126 /* exponent of a unit: it and its inverse are floats */
};

/* One fit. Rows are those of x; states of rows that are elsewhere do not occur. */
typedef struct ascent {
    const margin_problem *p;
    const dual_rows *x;
    const margin_output *k;
    real *w, *moved;      /* [d] weights; sum of the lanes' changes */
    real *copy;           /* [lanes of this rank][d] weights of each lane */
    int32_t *change;      /* [d] scratch */
    double b;             /* intercept */
    double b0, t0;        /* intercept and sum_i a_i y_i before its last step */
    double low, high;     /* between which the intercept is known to be */
    int coupled;          /* 1: one group of rows; the intercept moves with every visit */
    double *a, *step;     /* [x.n] dual variables, 0..c, and their change in this epoch */
    double *norm2;        /* [x.n] |x_i|^2, and 1 where the intercept is coupled */
    double *margin;       /* [x.n] when last visited */
    int *due, *rest;      /* [x.n] sweep of the next visit; how often it changed little */
    int *sweep;           /* [lanes of this rank] sweeps made */
    int64_t *turn;        /* [x.n] order of a group's visits, scratch */
    double enough;        /* gain of one row that is worth a visit */
    double rigour;        /* its share of the tolerance's, inverse */
    double (*lane)[SUMS]; /* [lanes] sums over each lane's rows, scratch */
} ascent;

static double sign_of(const ascent *s, int64_t i)
{
    return s->x->label[i] == s->k->one ? 1 : -1;
}

/* ---- losses ------------------------------------------------------------------------- */

double margin_loss(margin_kind kind, double m)
{
    double short_of = m < 1 ? 1 - m : 0;
    if (kind == MARGIN_HINGE) return short_of;
    if (kind == MARGIN_SQUARED) return short_of * short_of;
    return m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
}

/* Keeps a logistic a within (0, c), where its conjugate has a derivative. */
static double inside(double a, double c)
{
    double edge = 1e-14 * c;
    return fmin(fmax(a, edge), c - edge);
}

static double conj_value(const margin_problem *p, double a)
{
    if (p->kind == MARGIN_HINGE) return -a;
    if (p->kind == MARGIN_SQUARED) return a * a / (4 * p->c) - a;
    a = inside(a, p->c);
    return a * log(a / p->c) + (p->c - a) * log1p(-a / p->c);
}

static double conj_slope(const margin_problem *p, double a)
{
    if (p->kind == MARGIN_HINGE) return -1;
    if (p->kind == MARGIN_SQUARED) return a / (2 * p->c) - 1;
    a = inside(a, p->c);
    return log(a / (p->c - a));
}

static double conj_curve(const margin_problem *p, double a)
{
    if (p->kind == MARGIN_HINGE) return 0;
    if (p->kind == MARGIN_SQUARED) return 1 / (2 * p->c);
    a = inside(a, p->c);
    return p->c / (a * (p->c - a));
}

/* argmin over t of 1/2 q (t - a)^2 + m (t - a) + conj(t), logistic: Newton steps within a
 * bracket, to 8 digits. */
static double logistic_best(double c, double q, double m, double a)
{
    double lo = 1e-14 * c, hi = c - lo;
    double t = inside(a > 0 ? a : c / (1 + exp(m) + c * q / (1 + fabs(m))), c);
    for (int k = 0; k < 50; k++) {
        double g = q * (t - a) + m + log(t / (c - t));
        if (g > 0) {
            hi = t;
        } else {
            lo = t;
        }
        double next = t - g / (q + c / (t * (c - t)));
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (fabs(next - t) <= 1e-8 * fmin(t, c - t)) return next;
        t = next;
    }
    return t;
}

static double best(const margin_problem *p, double q, double m, double a)
{
    if (p->kind == MARGIN_LOGISTIC) return logistic_best(p->c, q, m, a);
    double curve = q + conj_curve(p, a), slope = m + conj_slope(p, a);
    double top = p->kind == MARGIN_HINGE ? p->c : INFINITY;
    if (curve <= 0) return slope < 0 ? top : 0; /* a row without entries */
    return fmin(fmax(a - slope / curve, 0), top);
}

/* ---- visits ------------------------------------------------------------------------- */

/* Maximises over a_i, at the lane's weights w. `now` counts the lane's sweeps. */
static void visit(ascent *s, int64_t i, int now, real *w)
{
    const weft_sparse *x = &s->x->x;
    double y = sign_of(s, i), q = s->norm2[i], a = s->a[i] + s->step[i];
    double m = y * (weft_sparse_dot(x, i, w) + s->b);
    double d = best(s->p, q, m, a) - a;
    s->margin[i] = m;
    double gain = 0.5 * (q + conj_curve(s->p, a + d)) * d * d;
    if (gain >= s->enough)
        s->rest[i] = 0;
    else if (s->rest[i] < REST)
        s->rest[i]++;
    s->due[i] = now + (1 << s->rest[i]);
    if (d == 0) return;
    s->step[i] += d;
    weft_sparse_add(x, i, (real)(y * d), w);
    if (s->coupled) s->b += y * d;
}

/* turn[n] <- rows in an order that is random in (group, now). */
static void shuffle(const int64_t *row, int64_t n, int group, int now, int64_t *turn)
{
    weft_rng4 r = {{0}};
    for (int64_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            r = weft_rng_at(0, WEFT_RNG_SOLVE, (uint64_t)group, (uint64_t)now, (uint64_t)i);
        int64_t j = (int64_t)(weft_rng_unit(r.v[i % 4]) * (double)(i + 1));
        turn[i] = turn[j];
        turn[j] = row[i];
    }
}

/* Visits the rows of a group that are due; returns the entries read. */
static int64_t visit_group(ascent *s, int g, int now, real *w)
{
    const dual_rows *x = s->x;
    int64_t n = x->start[g + 1] - x->start[g], due = 0, read = 0;
    int64_t *turn = s->turn + x->start[g];
    shuffle(x->order + x->start[g], n, x->group[g], now, turn);
    for (int64_t i = 0; i < n; i++) {
        if (s->due[turn[i]] <= now) turn[due++] = turn[i];
    }
    for (int64_t i = 0; i < due; i++) {
        if (i + 1 < due) weft_sparse_fetch(&x->x, turn[i + 1]);
        visit(s, turn[i], now, w);
        read += x->x.first[turn[i] + 1] - x->x.first[turn[i]];
    }
    return read;
}

/* Sweeps over a lane until a share of its entries has been read, or nothing is due. */
static void visit_lane(ascent *s, int lane, real *w)
{
    const dual_rows *x = s->x;
    int at = lane - x->first, from = x->segment[at], to = x->segment[at + 1];
    int64_t entries = 0, read = 0;
    for (int64_t i = x->start[from]; i < x->start[to]; i++) {
        int64_t row = x->order[i];
        entries += x->x.first[row + 1] - x->x.first[row];
        s->step[row] = 0;
    }
    for (int k = 0; k < (1 << REST) && read < entries / SHARE; k++, s->sweep[at]++) {
        for (int g = from; g < to; g++) read += visit_group(s, g, s->sweep[at], w);
    }
}

/* ---- sums over rows ----------------------------------------------------------------- */

/* Adds what row i brings, given the common step t, to sum[SUMS]. */
typedef void (*row_sum)(const ascent *s, int64_t i, double t, double *sum);

/* Sums over all rows: per lane, which one rank holds whole, then in the order of lanes.
 * Collective. */
static void sum_lanes(ascent *s, row_sum add, double t, double *sum)
{
    const dual_rows *x = s->x;
    memset(s->lane, 0, (size_t)x->lanes * sizeof *s->lane);
    for (int l = x->first; l < x->last; l++) {
        int at = l - x->first;
        int64_t end = x->start[x->segment[at + 1]];
        for (int64_t i = x->start[x->segment[at]]; i < end; i++)
            add(s, x->order[i], t, s->lane[l]);
    }
    /* Other ranks have zeros, which as integers leave the bits of a double as they are. */
    weft_sum_i64(x->team, (int64_t *)(void *)s->lane, (size_t)(x->lanes * SUMS));
    memset(sum, 0, SUMS * sizeof *sum);
    for (int l = 0; l < x->lanes; l++)
        for (int k = 0; k < SUMS; k++) sum[k] += s->lane[l][k];
}

static void add_line(const ascent *s, int64_t i, double t, double *sum)
{
    double d = s->step[i], a = s->a[i] + t * d;
    if (d == 0) return;
    sum[0] += d * (conj_slope(s->p, a) + sign_of(s, i) * s->b);
    sum[1] += d * d * conj_curve(s->p, a);
}

static void add_state(const ascent *s, int64_t i, double t, double *sum)
{
    double a = s->a[i], y = sign_of(s, i), curve = s->norm2[i] + conj_curve(s->p, a);
    int bound = s->p->kind != MARGIN_LOGISTIC &&
                (a <= 0 || (s->p->kind == MARGIN_HINGE && a >= s->p->c));
    (void)t;
    sum[0] += a * y;
    sum[1] += bound || curve <= 0 ? 0 : 1 / curve;
    sum[2] += conj_value(s->p, a);
    sum[3] += s->p->c * margin_loss(s->p->kind, s->margin[i]);
}

/* At margins that the intercept's shift t moves. */
static void add_shift(const ascent *s, int64_t i, double t, double *sum)
{
    double y = sign_of(s, i), m = s->margin[i] + t * y;
    double slope = margin_slope(s->p->kind, m);
    sum[0] += s->p->c * y * slope;
    if (s->p->kind == MARGIN_LOGISTIC) sum[1] -= s->p->c * slope * (1 + slope);
    if (s->p->kind == MARGIN_SQUARED && m < 1) sum[1] += 2 * s->p->c;
    sum[3] += s->p->c * margin_loss(s->p->kind, m);
}

/* ---- an epoch ----------------------------------------------------------------------- */

static double dot(int64_t n, const real *a, const real *b)
{
    double s[4] = {0};
    for (int64_t i = 0; i + 3 < n; i += 4)
        for (int k = 0; k < 4; k++) s[k] += (double)a[i + k] * (double)b[i + k];
    for (int64_t i = n - n % 4; i < n; i++) s[0] += (double)a[i] * (double)b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Largest of |a[i] - b[i]|. */
static double farthest(int64_t n, const real *a, const real *b)
{
    enum { WIDE = 8 }; /* maxima side by side become vector code */
    real most[WIDE] = {0};
    for (int64_t i = 0; i + WIDE <= n; i += WIDE) {
        for (int k = 0; k < WIDE; k++) {
            real d = (real)fabs((double)(a[i + k] - b[i + k]));
            most[k] = d > most[k] ? d : most[k];
        }
    }
    for (int64_t i = n - n % WIDE; i < n; i++)
        most[0] = (real)fmax((double)most[0], fabs((double)(a[i] - b[i])));
    for (int k = 1; k < WIDE; k++) most[0] = most[k] > most[0] ? most[k] : most[0];
    return (double)most[0];
}

/* The step in (0, 1] that is best for all lanes' changes `moved` together. Collective. */
static double line_search(ascent *s)
{
    double slope = dot(s->x->d, s->w, s->moved), curve = dot(s->x->d, s->moved, s->moved);
    double lo = 0, hi = 1, t = 1, sum[SUMS];
    for (int k = 0; k < 20; k++) {
        sum_lanes(s, add_line, t, sum);
        double g = slope + t * curve + sum[0];
        if (g <= 0 && t >= 1) return 1;
        if (g > 0)
            hi = t;
        else
            lo = t;
        double next = t - g / (curve + sum[1]);
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (fabs(next - t) < 0.01 * t) return next;
        t = next;
    }
    return lo > 0 ? lo : hi;
}

/* s->moved <- sum of the lanes' changes, given each lane's w in s->copy. Integers make it
 * exact: 30 bits of the largest change, which is enough since changes shrink. Collective.
 */
static void add_changes(ascent *s)
{
    const dual_rows *x = s->x;
    int64_t d = x->d, mine = x->last - x->first;
    double most = 0;
    for (int64_t l = 0; l < mine; l++)
        most = fmax(most, farthest(d, s->copy + l * d, s->w));
    weft_max_f64(x->team, &most, 1);
    if (!(most > 0)) {
        memset(s->moved, 0, (size_t)d * sizeof *s->moved);
        return;
    }
    const int bits = 29 - ilogb(most * x->lanes);
    const real unit = (real)ldexp(1, bits < LARGEST ? bits : LARGEST);
    memset(s->change, 0, (size_t)d * sizeof *s->change);
    for (int64_t l = 0; l < mine; l++) {
        const real *copy = s->copy + l * d;
        for (int64_t j = 0; j < d; j++)
            s->change[j] += (int32_t)((copy[j] - s->w[j]) * unit);
    }
    weft_sum_i32(x->team, s->change, (size_t)d);
    for (int64_t j = 0; j < d; j++) s->moved[j] = (real)s->change[j] / unit;
}

/* Visits all lanes, adds their changes to w and a. Collective. */
static void epoch(ascent *s)
{
    const dual_rows *x = s->x;
    double t = 1;
    if (x->lanes == 1) {
        if (x->first < x->last) visit_lane(s, 0, s->w);
    } else {
        for (int l = x->first; l < x->last; l++) {
            real *copy = s->copy + (l - x->first) * x->d;
            memcpy(copy, s->w, (size_t)x->d * sizeof *copy);
            visit_lane(s, l, copy);
        }
        add_changes(s);
        t = line_search(s);
        for (int64_t j = 0; j < x->d; j++) s->w[j] += (real)t * s->moved[j];
    }
    for (int64_t i = 0; i < x->x.n; i++) s->a[i] += t * s->step[i];
}

/* |w|^2 on all ranks; one lane's w is its owner's. Collective. */
static double square(ascent *s)
{
    double sum = s->x->lanes > 1 || s->x->first < s->x->last ? dot(s->x->d, s->w, s->w) : 0;
    if (s->x->lanes == 1) weft_max_f64(s->x->team, &sum, 1);
    return sum;
}

/* Computes all margins anew, and makes all rows due. Local. */
static void refresh(ascent *s)
{
    const weft_sparse *x = &s->x->x;
    for (int64_t i = 0; i < x->n; i++) {
        s->margin[i] = sign_of(s, i) * (weft_sparse_dot(x, i, s->w) + s->b);
        s->due[i] = 0;
    }
}

/* Newton step on the intercept, whose equation is b = t(b), t = sum_i a_i y_i falling in b.
 * The slope of t is about -response, which leaves out that rows share columns; what the
 * last step did tells more, unless it leads out of the bracket. Then every row is due.
 * Local. */
static void step_intercept(ascent *s, double t, double response)
{
    double seen = (s->t0 - t) / (s->b - s->b0), *side = t > s->b ? &s->low : &s->high;
    *side = s->b;
    s->b0 = s->b;
    s->t0 = t;
    double next = s->b + (t - s->b) / (1 + seen);
    if (!(seen > 0 && seen < response && next > s->low && next < s->high))
        next = s->b + (t - s->b) / (1 + response);
    s->b = next;
    double little = 0.1 * response / (double)s->x->total;
    for (int64_t i = 0; i < s->x->x.n; i++) {
        if (1 >= little * (s->norm2[i] + conj_curve(s->p, s->a[i]))) s->due[i] = 0;
    }
}

/* Objective, and the gap as a share of the gain, from the margins as they are. Moves the
 * intercept where its own error is the greater part of a gap that is too wide. Collective.
 */
static double gap(ascent *s, double *objective)
{
    double sum[SUMS], w2 = square(s);
    sum_lanes(s, add_state, 0, sum);
    if (s->coupled) s->b = sum[0];
    double dual = -0.5 * w2 - 0.5 * sum[0] * sum[0] - sum[2], off = sum[0] - s->b;
    *objective = 0.5 * w2 + 0.5 * s->b * s->b + sum[3];
    double rest = *objective - dual, best = s->k->objective;
    double share = margin_share(s->p, best, *objective, rest);
    s->enough = s->p->tol * (best - dual) / ((double)s->x->total * s->rigour);
    if (share > s->p->tol && off * off > 0.5 * rest) step_intercept(s, sum[0], sum[1]);
    return share;
}

/* Moves the intercept to its optimum for the weights as they are, and the margins with it:
 * to scores of small features a small error of it is large, and to the objective it is
 * small. The slope rises by at least 1, so that its value bounds the way to its zero.
 * Returns the objective. Collective. */
static double settle_intercept(ascent *s)
{
    double sum[SUMS], t = 0, lo = -INFINITY, hi = INFINITY;
    for (int k = 0; k < 200; k++) {
        sum_lanes(s, add_shift, t, sum);
        const double slope = s->b + t + sum[0];
        lo = fmax(lo, slope > 0 ? t - slope : t);
        hi = fmin(hi, slope > 0 ? t : t - slope);
        double next = t - slope / (1 + sum[1]);
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (!(fabs(next - t) > 1e-12 * (1 + fabs(s->b)))) break;
        t = next;
    }
    for (int64_t i = 0; i < s->x->x.n; i++) s->margin[i] += sign_of(s, i) * t;
    s->b += t;
    return 0.5 * square(s) + 0.5 * s->b * s->b + sum[3];
}

static ascent start(const margin_problem *p, const dual_rows *x, const margin_output *k,
                    weft_arena *tmp)
{
    ascent s = {.p = p, .x = x, .k = k, .low = -INFINITY, .high = INFINITY, .rigour = 10};
    int64_t n = x->x.n;
    s.w = WEFT_NEW(tmp, real, x->d);
    if (x->lanes > 1) {
        s.moved = WEFT_NEW(tmp, real, x->d);
        s.change = WEFT_NEW(tmp, int32_t, x->d);
        s.copy = WEFT_NEW(tmp, real, (x->last - x->first) * x->d);
    }
    s.a = WEFT_NEW(tmp, double, n);
    s.step = WEFT_NEW(tmp, double, n);
    s.norm2 = WEFT_NEW(tmp, double, n);
    s.margin = WEFT_NEW(tmp, double, n);
    s.due = WEFT_NEW(tmp, int, n);
    s.rest = WEFT_NEW(tmp, int, n);
    s.sweep = WEFT_NEW(tmp, int, x->last - x->first + 1);
    s.turn = WEFT_NEW(tmp, int64_t, n);
    s.lane = weft_arena_get(tmp, (size_t)x->lanes, sizeof *s.lane);
    s.coupled = x->groups == 1;
    if (!s.coupled) s.b = s.b0 = k->b;
    for (int64_t i = 0; i < n; i++) s.norm2[i] = weft_sparse_norm2(&x->x, i) + s.coupled;
    return s;
}

void dual_fit(const margin_problem *p, const dual_rows *x, const margin_output *k, real *w,
              real *intercept, weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    ascent s = start(p, x, k, tmp);
    double objective = 0, rest = 1, before = 1;
    int epochs = 0, checks = 0;
    while (epochs < p->limit && !(rest <= p->tol)) {
        epoch(&s);
        epochs++;
        rest = gap(&s, &objective);
        if (rest <= p->tol) {
            refresh(&s);
            checks++;
            rest = gap(&s, &objective);
            if (rest <= p->tol) objective = settle_intercept(&s);
        } else if (epochs % TRIAL == 0) {
            if (!(rest <= 0.5 * before)) s.rigour *= 10;
            if (s.rigour > 1e4) break;
            before = rest;
        }
    }
    if (x->lanes == 1) weft_bcast(x->team, s.w, (size_t)x->d * sizeof *s.w, 0);
    memcpy(w, s.w, (size_t)x->d * sizeof *w);
    *intercept = (real)s.b;
    out->iterations += epochs;
    out->passes += epochs + checks;
    out->objective += objective;
    out->residual = fmax(out->residual, rest);
    weft_arena_reset(tmp, mark);
}
