/* Dual coordinate ascent for linear models with a loss of the margin, on sparse rows:
 *     max_a  - 1/2 |sum_i a_i y_i x_i|^2 - 1/2 (sum_i a_i y_i)^2 - sum_i conj(a_i),
 * solved exactly for one a_i after the other, with w = sum_i a_i y_i x_i updated each time
 * (Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008; for logistic loss Yu, Huang, Lin,
 * Machine Learning 85, 2011).
 *
 * Partitions (struct dual_rows) are visited at the same time, each with its own copy of w;
 * their changes are added exactly, with the best common step. Partitions hold different
 * groups of rows, which share few columns, so that little progress is lost. A single group
 * is one partition. The intercept is shared by all rows and would couple the partitions: it
 * is fixed during an epoch, and takes a Newton step when its error dominates the gap.
 * Shrinking: a row whose visit was worth less than its share of the tolerance is skipped
 * for 1, 3, 7 sweeps and so on. A fit ends when the duality gap, with the margins of all
 * rows recomputed, is small enough. Nothing depends on the number of ranks. The fit starts
 * at a = 0, whatever w was.
 *
 * Outputs (each one class against the rest) are fitted side by side: their problems share
 * the rows, which a visit reads once for all outputs that are due. */
#include <math.h>
#include <string.h>

#include "ascent.h"

enum {
    TRIAL_EPOCHS = 32, /* epochs within which the gap must halve */
    BLOCK = 128,       /* columns of the matrix whose weights are stored together */
    AHEAD = 24         /* columns that are fetched before their use */
};

/* The caller's results: weights [outputs][d], intercepts and summaries of all outputs. */
typedef struct target {
    int64_t d;
    real *w, *intercept;
    weft_fitted *out;
} target;

static void add_state(const ascent *s, int64_t i, int n, const int *k, const double *t,
                      double (*sum)[ASCENT_SUMS])
{
    double conj[DUAL_WIDE], loss[DUAL_WIDE], single_norm2 = ascent_single_norm2(s, i);
    ascent_terms(s, i, conj, loss);
    (void)t;
    for (int j = 0; j < n; j++) {
        double a = s->a[i * s->wide + k[j]],
               curve = s->norm2[i] + margin_conj_curve(s->p, a);
        int bound = s->p->kind != MARGIN_LOGISTIC &&
                    (a <= 0 || (s->p->kind == MARGIN_HINGE && a >= s->p->c));
        sum[j][0] += a * ascent_sign(s, i, k[j]);
        sum[j][1] += bound || curve <= 0 ? 0 : 1 / curve;
        sum[j][2] += conj[k[j]];
        sum[j][3] += loss[k[j]];
        sum[j][4] += single_norm2 * a * a;
    }
}

/* Derivatives of the losses in the intercept, at margins with the intercept shifted by
 * t. */
static void add_shift(const ascent *s, int64_t i, int n, const int *k, const double *t,
                      double (*sum)[ASCENT_SUMS])
{
    for (int j = 0; j < n; j++) {
        double y = ascent_sign(s, i, k[j]), m = s->margin[i * s->wide + k[j]] + t[k[j]] * y;
        double slope = margin_slope(s->p->kind, m);
        sum[j][0] += s->p->c * y * slope;
        if (s->p->kind == MARGIN_LOGISTIC) sum[j][1] -= s->p->c * slope * (1 + slope);
        if (s->p->kind == MARGIN_SQUARED && m < 1) sum[j][1] += 2 * s->p->c;
        sum[j][3] += s->p->c * margin_loss(s->p->kind, m);
    }
}

/* |w|^2 of all outputs over the columns of x; a single partition's w is on its owner.
 * Collective. */
static void square_norms(ascent *s)
{
    double sum[DUAL_WIDE] = {0};
    if (s->x->partitions > 1 || s->x->first < s->x->last) ascent_dots(s, s->w, s->w, sum);
    if (s->x->partitions == 1) weft_max_f64(s->x->team, sum, DUAL_WIDE);
    for (int k = 0; k < s->outputs; k++) s->out[k].norm2_shared = sum[k];
}

/* Recomputes all margins. Rows that still have a part of a gap become due; those of a
 * single output all do. */
static void recompute_margins(ascent *s)
{
    const weft_sparse *sparse = &s->x->x;
    double score[DUAL_WIDE], share[DUAL_WIDE], conj[DUAL_WIDE], loss[DUAL_WIDE];
    for (int64_t i = 0; i < sparse->n; i++) {
        double *m = s->margin + i * s->wide, *a = s->a + i * s->wide;
        weft_sparse_dots(sparse, i, s->wide, s->w, score);
        for (int k = 0; k < s->outputs; k++)
            m[k] = ascent_sign(s, i, k) * (score[k] + s->out[k].b) +
                   ascent_single_norm2(s, i) * a[k];
        ascent_terms(s, i, conj, loss);
        for (int k = 0; k < s->outputs; k++) share[k] = loss[k] + conj[k] + a[k] * m[k];
        if (s->wide == 1 || ascent_matters(s, share)) s->due[i] = 0;
    }
}

/* Newton step on the intercept, which solves b = t(b), where t = sum_i a_i y_i decreases in
 * b. The slope of t is about -response if rows share no columns; the secant slope of the
 * last step is better, unless it leads out of the bracket. Rows with a large change become
 * due. */
static void step_intercept(ascent *s, int k, double t, double response)
{
    output *o = &s->out[k];
    double observed = (o->t0 - t) / (o->b - o->b0),
           *bracket_end = t > o->b ? &o->low : &o->high;
    *bracket_end = o->b;
    o->b0 = o->b;
    o->t0 = t;
    double next = o->b + (t - o->b) / (1 + observed);
    if (!(observed > 0 && observed < response && next > o->low && next < o->high))
        next = o->b + (t - o->b) / (1 + response);
    o->b = next;
    double threshold = 0.1 * response / (double)s->x->total;
    for (int64_t i = 0; i < s->x->x.n; i++) {
        if (1 >= threshold * (s->norm2[i] + margin_conj_curve(s->p, s->a[i * s->wide + k])))
            s->due[i] = 0;
    }
}

/* Objective and gap of an output, given its sums over the rows' states. Moves the intercept
 * where its error is more than half of a gap that is too wide. */
static void measure(ascent *s, int k, const double *sum)
{
    output *o = &s->out[k];
    o->norm2 = o->norm2_shared + sum[4];
    if (s->coupled) o->b = sum[0];
    double dual = -0.5 * o->norm2 - 0.5 * sum[0] * sum[0] - sum[2], off = sum[0] - o->b;
    o->objective = 0.5 * o->norm2 + 0.5 * o->b * o->b + sum[3];
    double above = o->objective - dual, best = o->of->objective;
    o->gap = margin_relative_gap(s->p, best, o->objective, above);
    o->min_worth = s->p->tol * (best - dual) / ((double)s->x->total * o->shrink_tol);
    if (o->gap > s->p->tol && off * off > 0.5 * above) step_intercept(s, k, sum[0], sum[1]);
}

/* Measures the n outputs k[n], from the stored margins. Collective. */
static void measure_outputs(ascent *s, int n, const int *k)
{
    double sum[DUAL_WIDE][ASCENT_SUMS], none[DUAL_WIDE] = {0};
    ascent_sum(s, n, k, add_state, none, sum);
    for (int j = 0; j < n; j++) measure(s, k[j], sum[k[j]]);
}

/* Bracket of the change of an output's intercept. */
typedef struct shift {
    double lo, hi;
} shift;

/* Moves the change *t by the sums of add_shift there; returns 1 when it is close enough. */
static int next_shift(const output *o, shift *b, const double *sum, double *t)
{
    double slope = o->b + *t + sum[0], before = *t;
    b->lo = fmax(b->lo, slope > 0 ? before - slope : before);
    b->hi = fmin(b->hi, slope > 0 ? before : before - slope);
    double next = before - slope / (1 + sum[1]);
    if (!(next > b->lo && next < b->hi)) next = 0.5 * (b->lo + b->hi);
    if (!(fabs(next - before) > 1e-12 * (1 + fabs(o->b)))) return 1;
    *t = next;
    return 0;
}

/* Moves the intercepts of the outputs k[n] to their optimum for the final weights: an error
 * that is small in the objective can be large in the scores of small features. The slope
 * increases by at least 1 per unit, so that its value bounds the distance to its zero.
 * Collective. */
static void settle_intercepts(ascent *s, int n, const int *k)
{
    double sum[DUAL_WIDE][ASCENT_SUMS], t[DUAL_WIDE] = {0};
    shift b[DUAL_WIDE];
    int open[DUAL_WIDE], left = n;
    for (int j = 0; j < n; j++) {
        open[j] = k[j];
        b[k[j]] = (shift){-INFINITY, INFINITY};
    }
    for (int step = 0; step < 200 && left > 0; step++) {
        ascent_sum(s, left, open, add_shift, t, sum);
        int all = left;
        left = 0;
        for (int j = 0; j < all; j++) {
            int o = open[j];
            if (!next_shift(&s->out[o], &b[o], sum[o], &t[o])) open[left++] = o;
        }
    }
    for (int j = 0; j < n; j++) {
        output *o = &s->out[k[j]];
        o->b += t[k[j]];
        o->objective = 0.5 * o->norm2 + 0.5 * o->b * o->b + sum[k[j]][3];
    }
}

static int round_up(int outputs)
{
    return (outputs + 3) / 4 * 4;
}

static void set_width(ascent *s, int wide)
{
    s->wide = wide;
    s->period = wide == 1 ? 16 : 4 * wide;
    s->padded = (s->x->d * wide + s->period - 1) / s->period * s->period;
}

static ascent start(const margin_problem *problem, const dual_rows *rows, int outputs,
                    const margin_output *of, weft_arena *tmp)
{
    ascent s = {.p = problem, .x = rows, .outputs = outputs};
    set_width(&s, outputs == 1 ? 1 : round_up(outputs));
    int64_t n = rows->x.n, cells = n * s.wide;
    s.w = WEFT_NEW(tmp, real, s.padded);
    if (rows->partitions > 1) {
        s.delta = WEFT_NEW(tmp, real, s.padded);
        s.change = WEFT_NEW(tmp, int32_t, s.padded);
        s.copy = WEFT_NEW(tmp, real, (rows->last - rows->first) * s.padded);
    }
    s.a = WEFT_NEW(tmp, double, cells);
    s.step = WEFT_NEW(tmp, double, cells);
    s.norm2 = WEFT_NEW(tmp, double, n);
    s.margin = WEFT_NEW(tmp, double, cells);
    s.due = WEFT_NEW(tmp, int, n);
    s.shrinking = WEFT_NEW(tmp, int, n);
    s.sweep = WEFT_NEW(tmp, int, rows->last - rows->first + 1);
    s.visits = WEFT_NEW(tmp, int64_t, n);
    s.partition =
        weft_arena_alloc(tmp, (size_t)(rows->partitions * outputs), sizeof *s.partition);
    s.coupled = rows->groups == 1;
    for (int64_t i = 0; i < n; i++)
        s.norm2[i] =
            weft_sparse_norm2(&rows->x, i) + ascent_single_norm2(&s, i) + s.coupled;
    for (int k = 0; k < s.wide; k++) {
        s.out[k] =
            (output){.index = k, .low = -INFINITY, .high = INFINITY, .shrink_tol = 10};
        s.out[k].gap = s.out[k].trial_gap = 1;
        if (k < outputs) s.out[k].of = &of[k];
        s.one[k] = k < outputs ? of[k].one : -1;
        if (k < outputs && !s.coupled) s.out[k].b = s.out[k].b0 = of[k].b;
        if (k >= outputs || of[k].constant) s.out[k].done = 2;
    }
    return s;
}

/* k[] <- the outputs that run, and whose gap is within the tolerance if `near`; returns
 * their number. */
static int list_outputs(const ascent *s, int near, int *k)
{
    int n = 0;
    for (int j = 0; j < s->outputs; j++)
        if (!s->out[j].done && (!near || s->out[j].gap <= s->p->tol)) k[n++] = j;
    return n;
}

/* Ends outputs that make no progress. */
static void end_stalled(ascent *s, int n, const int *k)
{
    for (int j = 0; j < n; j++) {
        output *o = &s->out[k[j]];
        if (o->gap <= s->p->tol) continue;
        if (!(o->gap <= 0.5 * o->trial_gap)) o->shrink_tol *= 10;
        if (o->shrink_tol > 1e4) s->out[k[j]].done = 2;
        o->trial_gap = o->gap;
    }
}

/* Ends outputs that are at their optimum, checked once half of the remaining ones seem to
 * be or epochs run out, and outputs that make no progress. Returns 1 if margins were
 * recomputed. Collective. */
static int check_ends(ascent *s, int epochs)
{
    int k[DUAL_WIDE], near[DUAL_WIDE], done[DUAL_WIDE];
    square_norms(s);
    int running = list_outputs(s, 0, k);
    measure_outputs(s, running, k);
    int asking = list_outputs(s, 1, near);
    if (epochs % TRIAL_EPOCHS == 0) end_stalled(s, running, k);
    int check = asking > 0 && (2 * asking >= running || epochs == s->p->limit);
    if (!check) return 0;
    recompute_margins(s);
    measure_outputs(s, running, k);
    int ends = list_outputs(s, 1, done);
    settle_intercepts(s, ends, done);
    for (int j = 0; j < ends; j++) s->out[done[j]].done = 1;
    return 1;
}

/* cells[n][to] <- outputs keep[to] of cells[n][wide], of `size` bytes each. */
static void keep_outputs(void *cells, size_t size, int64_t n, int wide, const int *keep,
                         int to)
{
    char row[DUAL_WIDE * sizeof(double)], *at = cells;
    for (int64_t i = 0; i < n; i++) {
        memcpy(row, (const char *)cells + (size_t)(i * wide) * size, (size_t)wide * size);
        for (int k = 0; k < to; k++, at += size)
            memcpy(at, row + (size_t)keep[k] * size, size);
    }
}

/* Fetches what fill_tile reads for a column at this place. */
static void fetch_place(const ascent *s, uint32_t place)
{
    if (place == DUAL_NONE) return;
    if (place >= s->x->d)
        __builtin_prefetch(s->x->single + (place - s->x->d));
    else
        __builtin_prefetch(s->w + (int64_t)place * s->wide);
}

/* tile[n][BLOCK] <- weights of the outputs k[n] in m columns of the matrix, whose places
 * are given; on rank 0 alone where all ranks have them, because share_weights adds. */
static void fill_tile(const ascent *s, int n, const int *k, int m, const uint32_t *place,
                      real (*tile)[BLOCK])
{
    const dual_rows *rows = s->x;
    memset(tile, 0, (size_t)n * sizeof *tile);
    for (int c = 0; c < m; c++) {
        if (c + AHEAD < m) fetch_place(s, place[c + AHEAD]);
        if (place[c] == DUAL_NONE) continue;
        if (place[c] >= rows->d) {
            const dual_single *single = rows->single + (place[c] - rows->d);
            const double *a = s->a + (int64_t)single->row * s->wide;
            for (int j = 0; j < n; j++)
                tile[j][c] =
                    (real)(a[k[j]] * ascent_sign(s, single->row, k[j]) * single->value);
        } else if (rows->team->rank == 0) {
            const real *w = s->w + (int64_t)place[c] * s->wide;
            for (int j = 0; j < n; j++) tile[j][c] = w[k[j]];
        }
    }
}

/* Stores the weights of the outputs k[n] in the columns of the matrix, by blocks: vectors
 * that are a power of two apart would displace each other from cache. */
static void store_columns(const ascent *s, int n, const int *k, const target *t)
{
    real tile[DUAL_WIDE][BLOCK];
    for (int64_t c = 0; c < t->d; c += BLOCK) {
        int m = t->d - c < BLOCK ? (int)(t->d - c) : BLOCK;
        fill_tile(s, n, k, m, s->x->place + c, tile);
        for (int j = 0; j < n; j++)
            memcpy(t->w + s->out[k[j]].index * t->d + c, tile[j],
                   (size_t)m * sizeof **tile);
    }
}

/* Stores the outputs k[n], with the matrix's columns. */
static void store_outputs(const ascent *s, int n, const int *k, const target *t)
{
    for (int j = 0; j < n; j++) {
        const output *o = &s->out[k[j]];
        t->intercept[o->index] = (real)o->b;
        t->out[o->index].objective = o->objective;
        t->out[o->index].residual = o->gap;
    }
    if (s->x->single_norm2)
        store_columns(s, n, k, t);
    else
        memcpy(t->w, s->w, (size_t)t->d * sizeof *t->w);
}

/* Gives all weights to all ranks. Collective. */
static void share_weights(const dual_rows *rows, size_t n, real *w)
{
    if (rows->partitions == 1) {
        weft_bcast(rows->team, w, n * sizeof *w, 0);
    } else if (rows->single_norm2) {
        /* Other ranks have zeros, which as integers leave the bits as they are. */
        if (sizeof *w == sizeof(int32_t))
            weft_sum_i32(rows->team, (int32_t *)(void *)w, n);
        else
            weft_sum_i64(rows->team, (int64_t *)(void *)w, n);
    }
}

/* Stores outputs that are done, where the others then need three quarters of the width at
 * most. */
static void compact(ascent *s, const target *t)
{
    int keep[DUAL_WIDE], ended[DUAL_WIDE], left = 0, n = 0;
    for (int k = 0; k < s->wide; k++) {
        if (!s->out[k].done)
            keep[left++] = k;
        else if (k < s->outputs)
            ended[n++] = k;
    }
    int to = round_up(left);
    if (left == 0 || 4 * to > 3 * s->wide) return;
    store_outputs(s, n, ended, t);
    for (int k = 0, at = left; k < s->wide && at < to; k++)
        if (s->out[k].done) keep[at++] = k;
    output kept[DUAL_WIDE] = {{0}};
    for (int k = 0; k < to; k++) {
        kept[k] = s->out[keep[k]];
        s->one[k] = kept[k].of ? kept[k].of->one : -1;
    }
    memcpy(s->out, kept, sizeof kept);
    int64_t rows = s->x->x.n;
    keep_outputs(s->w, sizeof *s->w, s->x->d, s->wide, keep, to);
    keep_outputs(s->a, sizeof *s->a, rows, s->wide, keep, to);
    keep_outputs(s->margin, sizeof *s->margin, rows, s->wide, keep, to);
    s->outputs = left;
    set_width(s, to);
    memset(s->w + s->x->d * to, 0, (size_t)(s->padded - s->x->d * to) * sizeof *s->w);
}

void dual_fit(const margin_problem *problem, const dual_rows *rows, int outputs,
              const margin_output *of, int64_t d, real *w, real *intercept,
              weft_fitted *out, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    target t = {.d = d, .w = w, .intercept = intercept, .out = out};
    ascent s = start(problem, rows, outputs, of, tmp);
    int epochs = 0, checks = 0, k[DUAL_WIDE];
    while (epochs < problem->limit && list_outputs(&s, 0, k) > 0) {
        ascent_epoch(&s);
        checks += check_ends(&s, ++epochs);
        compact(&s, &t);
    }
    for (int j = 0; j < s.outputs; j++) k[j] = j;
    store_outputs(&s, s.outputs, k, &t);
    share_weights(rows, (size_t)(outputs * d), w);
    for (int j = 0; j < outputs; j++) {
        out[j].iterations = epochs;
        out[j].passes = epochs + checks;
    }
    weft_arena_reset(tmp, mark);
}
