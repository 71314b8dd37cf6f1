/* Dual coordinate ascent for linear models with a loss of the margin, on sparse rows:
 *     max_a  - 1/2 |sum_i a_i y_i x_i|^2 - 1/2 (sum_i a_i y_i)^2 - sum_i conj(a_i),
 * one a_i after the other solved exactly, w = sum_i a_i y_i x_i kept up to date (Hsieh,
 * Chang, Lin, Keerthi, Sundararajan, ICML 2008; for logistic loss Yu, Huang, Lin, Machine
 * Learning 85, 2011). Called by margin.c.
 *
 * Partitions (struct dual_rows) are visited at the same time, each with its own copy of w;
 * their changes are added exactly, with the best common step. Partitions hold different
 * groups of rows, which hardly share columns, so that hardly any progress is lost. One
 * group is one partition. The intercept, which all rows share, would tie the partitions
 * together: it stays fixed during an epoch, and takes a Newton step when its error is what
 * is left. Shrinking: a row whose change gains less than its share of the tolerance is left
 * out of 1, 3, then 7 sweeps. The end is certified by the duality gap, margins of all rows
 * computed anew. Nothing depends on the number of ranks. The fit starts at a = 0, wherever
 * w was.
 *
 * Outputs (one class against the rest each) are fitted side by side: their problems have
 * nothing in common but the rows, which a visit reads once for all outputs that are due. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "ascent.h"

enum { TRIAL = 32 /* epochs in which the gap must halve */ };

/* Where results go: all outputs' weights [outputs][d], intercepts, how each ended. */
typedef struct target {
    int64_t d;
    real *w, *intercept;
    weft_fitted *out;
} target;

static void add_state(const ascent *s, int64_t i, int k, double t, double *sum)
{
    int64_t at = i * s->wide + k;
    double a = s->a[at], curve = s->norm2[i] + margin_conj_curve(s->p, a);
    int bound = s->p->kind != MARGIN_LOGISTIC &&
                (a <= 0 || (s->p->kind == MARGIN_HINGE && a >= s->p->c));
    (void)t;
    sum[0] += a * ascent_sign(s, i, k);
    sum[1] += bound || curve <= 0 ? 0 : 1 / curve;
    sum[2] += margin_conj(s->p, a);
    sum[3] += s->p->c * margin_loss(s->p->kind, s->margin[at]);
    sum[4] += ascent_own(s, i) * a * a;
}

/* At margins that the intercept's shift t moves. */
static void add_shift(const ascent *s, int64_t i, int k, double t, double *sum)
{
    double y = ascent_sign(s, i, k), m = s->margin[i * s->wide + k] + t * y;
    double slope = margin_slope(s->p->kind, m);
    sum[0] += s->p->c * y * slope;
    if (s->p->kind == MARGIN_LOGISTIC) sum[1] -= s->p->c * slope * (1 + slope);
    if (s->p->kind == MARGIN_SQUARED && m < 1) sum[1] += 2 * s->p->c;
    sum[3] += s->p->c * margin_loss(s->p->kind, m);
}

/* |w|^2 over the columns of x, of all outputs; one partition's w is its owner's.
 * Collective. */
static void squares(ascent *s)
{
    double sum[DUAL_WIDE] = {0};
    if (s->x->partitions > 1 || s->x->first < s->x->last) ascent_dots(s, s->w, s->w, sum);
    if (s->x->partitions == 1) weft_max_f64(s->x->team, sum, DUAL_WIDE);
    for (int k = 0; k < s->outputs; k++) s->out[k].shared = sum[k];
}

/* Computes all margins anew, and makes all rows due, of the outputs whose gap is within the
 * tolerance. Local. */
static void refresh(ascent *s)
{
    const weft_sparse *x = &s->x->x;
    double score[DUAL_WIDE];
    for (int64_t i = 0; i < x->n; i++) {
        weft_sparse_dots(x, i, s->wide, s->w, score);
        for (int k = 0; k < s->outputs; k++) {
            if (s->out[k].done || !(s->out[k].gap <= s->p->tol)) continue;
            int64_t at = i * s->wide + k;
            s->margin[at] = ascent_sign(s, i, k) * (score[k] + s->out[k].b) +
                            ascent_own(s, i) * s->a[at];
            s->due[at] = 0;
        }
    }
}

/* Output k takes part no more. */
static void retire(ascent *s, int k, int how)
{
    s->out[k].done = how;
    for (int64_t i = 0; i < s->x->x.n; i++) s->due[i * s->wide + k] = INT_MAX;
}

/* Newton step on the intercept, whose equation is b = t(b), t = sum_i a_i y_i falling in b.
 * The slope of t is about -response, which leaves out that rows share columns; what the
 * last step did tells more, unless it leads out of the bracket. Then every row is due.
 * Local. */
static void step_intercept(ascent *s, int k, double t, double response)
{
    output *o = &s->out[k];
    double seen = (o->t0 - t) / (o->b - o->b0), *side = t > o->b ? &o->low : &o->high;
    *side = o->b;
    o->b0 = o->b;
    o->t0 = t;
    double next = o->b + (t - o->b) / (1 + seen);
    if (!(seen > 0 && seen < response && next > o->low && next < o->high))
        next = o->b + (t - o->b) / (1 + response);
    o->b = next;
    double little = 0.1 * response / (double)s->x->total;
    for (int64_t i = 0; i < s->x->x.n; i++) {
        if (1 >= little * (s->norm2[i] + margin_conj_curve(s->p, s->a[i * s->wide + k])))
            s->due[i * s->wide + k] = 0;
    }
}

/* Objective and gap of an output, from the margins as they are. Moves the intercept where
 * its own error is the greater part of a gap that is too wide. Collective.
 */
static void measure(ascent *s, int k)
{
    output *o = &s->out[k];
    double sum[ASCENT_SUMS];
    ascent_sum(s, k, add_state, 0, sum);
    o->square = o->shared + sum[4];
    if (s->coupled) o->b = sum[0];
    double dual = -0.5 * o->square - 0.5 * sum[0] * sum[0] - sum[2], off = sum[0] - o->b;
    o->objective = 0.5 * o->square + 0.5 * o->b * o->b + sum[3];
    double above = o->objective - dual, best = o->of->objective;
    o->gap = margin_share(s->p, best, o->objective, above);
    o->enough = s->p->tol * (best - dual) / ((double)s->x->total * o->shrink_tol);
    if (o->gap > s->p->tol && off * off > 0.5 * above) step_intercept(s, k, sum[0], sum[1]);
}

/* Moves the intercept to its optimum for the weights as they are, and the margins with it:
 * to scores of small features a small error of it is large, and to the objective it is
 * small. The slope rises by at least 1, so that its value bounds the way to its zero.
 * Collective. */
static void settle_intercept(ascent *s, int k)
{
    output *o = &s->out[k];
    double sum[ASCENT_SUMS], t = 0, lo = -INFINITY, hi = INFINITY;
    for (int n = 0; n < 200; n++) {
        ascent_sum(s, k, add_shift, t, sum);
        double slope = o->b + t + sum[0];
        lo = fmax(lo, slope > 0 ? t - slope : t);
        hi = fmin(hi, slope > 0 ? t : t - slope);
        double next = t - slope / (1 + sum[1]);
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (!(fabs(next - t) > 1e-12 * (1 + fabs(o->b)))) break;
        t = next;
    }
    o->b += t;
    o->objective = 0.5 * o->square + 0.5 * o->b * o->b + sum[3];
}

static ascent start(const margin_problem *p, const dual_rows *x, int outputs,
                    const margin_output *of, weft_arena *tmp)
{
    ascent s = {.p = p, .x = x, .outputs = outputs, .wide = 1};
    while (s.wide < outputs) s.wide *= s.wide == 1 ? 4 : 2;
    int64_t n = x->x.n, cells = n * s.wide;
    s.flat = (x->d * s.wide + ASCENT_FLAT - 1) / ASCENT_FLAT * ASCENT_FLAT;
    s.w = WEFT_NEW(tmp, real, s.flat);
    if (x->partitions > 1) {
        s.moved = WEFT_NEW(tmp, real, s.flat);
        s.change = WEFT_NEW(tmp, int32_t, s.flat);
        s.copy = WEFT_NEW(tmp, real, (x->last - x->first) * s.flat);
    }
    s.a = WEFT_NEW(tmp, double, cells);
    s.step = WEFT_NEW(tmp, double, cells);
    s.norm2 = WEFT_NEW(tmp, double, n);
    s.margin = WEFT_NEW(tmp, double, cells);
    s.due = WEFT_NEW(tmp, int, cells);
    s.shrinking = WEFT_NEW(tmp, int, cells);
    s.sweep = WEFT_NEW(tmp, int, x->last - x->first + 1);
    s.turn = WEFT_NEW(tmp, int64_t, n);
    s.partition = weft_arena_alloc(tmp, (size_t)x->partitions, sizeof *s.partition);
    s.coupled = x->groups == 1;
    for (int64_t i = 0; i < n; i++)
        s.norm2[i] = weft_sparse_norm2(&x->x, i) + ascent_own(&s, i) + s.coupled;
    for (int k = 0; k < s.wide; k++) {
        s.out[k] =
            (output){.which = k, .low = -INFINITY, .high = INFINITY, .shrink_tol = 10};
        s.out[k].gap = s.out[k].before = 1;
        if (k < outputs) s.out[k].of = &of[k];
        if (k < outputs && !s.coupled) s.out[k].b = s.out[k].b0 = of[k].b;
        if (k >= outputs || of[k].alike) retire(&s, k, 2);
    }
    return s;
}

/* Ends outputs that are at their optimum, once half of those that are left seem to be or
 * epochs run out, and outputs that do not get nearer to it. Returns 1 if margins were
 * computed anew. Collective. */
static int judge(ascent *s, int epochs)
{
    int asking = 0, running = 0, ask[DUAL_WIDE];
    squares(s);
    for (int k = 0; k < s->outputs; k++) {
        if (!s->out[k].done) measure(s, k);
        ask[k] = !s->out[k].done && s->out[k].gap <= s->p->tol;
        asking += ask[k];
        running += !s->out[k].done;
    }
    int check = asking > 0 && (2 * asking >= running || epochs == s->p->limit);
    if (check) refresh(s);
    for (int k = 0; k < s->outputs; k++) {
        output *o = &s->out[k];
        if (o->done) continue;
        if (ask[k]) {
            if (!check) continue;
            measure(s, k);
            if (!(o->gap <= s->p->tol)) continue;
            settle_intercept(s, k);
            retire(s, k, 1);
        } else if (epochs % TRIAL == 0) {
            if (!(o->gap <= 0.5 * o->before)) o->shrink_tol *= 10;
            if (o->shrink_tol > 1e4) retire(s, k, 2);
            o->before = o->gap;
        }
    }
    return check;
}

/* cells[n][to] <- outputs keep[to] of cells[n][wide], of `size` bytes each. */
static void squeeze(void *cells, size_t size, int64_t n, int wide, const int *keep, int to)
{
    char row[DUAL_WIDE * sizeof(double)], *at = cells;
    for (int64_t i = 0; i < n; i++) {
        memcpy(row, (const char *)cells + (size_t)(i * wide) * size, (size_t)wide * size);
        for (int k = 0; k < to; k++, at += size)
            memcpy(at, row + (size_t)keep[k] * size, size);
    }
}

/* Weights of output k in columns of one row, from the rank that has the row. Local. */
static void hand_over_lone(const ascent *s, int k, real *w)
{
    const weft_sparse *x = &s->x->lone;
    for (int64_t i = 0; i < x->n; i++) {
        double a = s->a[i * s->wide + k] * ascent_sign(s, i, k);
        for (int64_t e = x->first[i]; e < x->first[i + 1]; e++)
            w[x->column[e]] = (real)(a * (double)x->value[e]);
    }
}

/* Output k as the matrix names columns. Weights that all ranks have are handed over by one
 * if others are not: share_weights adds. Local. */
static void hand_over(const ascent *s, int k, const target *t)
{
    const output *o = &s->out[k];
    const dual_rows *x = s->x;
    real *w = t->w + o->which * t->d;
    if (!x->own) {
        memcpy(w, s->w, (size_t)x->d * sizeof *w);
    } else {
        hand_over_lone(s, k, w);
        for (int64_t j = 0; j < x->d && x->team->rank == 0; j++)
            w[x->column[j]] = s->w[j * s->wide + k];
    }
    t->intercept[o->which] = (real)o->b;
    t->out[o->which].objective = o->objective;
    t->out[o->which].residual = o->gap;
}

/* All ranks get all weights. Collective. */
static void share_weights(const dual_rows *x, size_t n, real *w)
{
    if (x->partitions == 1) {
        weft_bcast(x->team, w, n * sizeof *w, 0);
    } else if (x->own) {
        /* Other ranks have zeros, which as integers leave the bits as they are. */
        if (sizeof *w == sizeof(int32_t))
            weft_sum_i32(x->team, (int32_t *)(void *)w, n);
        else
            weft_sum_i64(x->team, (int64_t *)(void *)w, n);
    }
}

/* Hands over outputs that are done, if those left then fill half the vectors. Local. */
static void compact(ascent *s, const target *t)
{
    int keep[DUAL_WIDE], left = 0, to = s->wide;
    for (int k = 0; k < s->wide; k++)
        if (!s->out[k].done) keep[left++] = k;
    while (to > 4 && left <= to / 2) to /= 2;
    if (to == s->wide || left == 0) return;
    for (int k = 0, at = left; k < s->wide; k++) {
        if (!s->out[k].done) continue;
        if (k < s->outputs) hand_over(s, k, t);
        if (at < to) keep[at++] = k;
    }
    output kept[DUAL_WIDE] = {{0}};
    for (int k = 0; k < to; k++) kept[k] = s->out[keep[k]];
    memcpy(s->out, kept, sizeof kept);
    int64_t n = s->x->x.n;
    squeeze(s->w, sizeof *s->w, s->x->d, s->wide, keep, to);
    squeeze(s->a, sizeof *s->a, n, s->wide, keep, to);
    squeeze(s->margin, sizeof *s->margin, n, s->wide, keep, to);
    squeeze(s->due, sizeof *s->due, n, s->wide, keep, to);
    squeeze(s->shrinking, sizeof *s->shrinking, n, s->wide, keep, to);
    s->outputs = left;
    s->wide = to;
    s->flat = (s->x->d * to + ASCENT_FLAT - 1) / ASCENT_FLAT * ASCENT_FLAT;
    memset(s->w + s->x->d * to, 0, (size_t)(s->flat - s->x->d * to) * sizeof *s->w);
}

static int running(const ascent *s)
{
    int n = 0;
    for (int k = 0; k < s->outputs; k++) n += !s->out[k].done;
    return n;
}

void dual_fit(const margin_problem *p, const dual_rows *x, int outputs,
              const margin_output *of, int64_t d, real *w, real *intercept,
              weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    target t = {.d = d, .w = w, .intercept = intercept, .out = out};
    ascent s = start(p, x, outputs, of, tmp);
    int epochs = 0, checks = 0;
    memset(w, 0, (size_t)(outputs * d) * sizeof *w);
    while (epochs < p->limit && running(&s) > 0) {
        ascent_epoch(&s);
        checks += judge(&s, ++epochs);
        compact(&s, &t);
    }
    for (int k = 0; k < s.outputs; k++) hand_over(&s, k, &t);
    share_weights(x, (size_t)(outputs * d), w);
    for (int k = 0; k < outputs; k++) {
        out[k].iterations = epochs;
        out[k].passes = epochs + checks;
    }
    weft_arena_reset(tmp, mark);
}
