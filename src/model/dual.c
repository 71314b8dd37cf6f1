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
#include "model.h"
#include "weft/math/optim.h"

#include <math.h>
#include <string.h>

enum {
    SHRINK = 3, /* shrinking skips a row for at most 2^SHRINK - 1 sweeps */
    MANY = 5,   /* the same for outputs side by side */
    SWEEPS = 8, /* of an epoch at most */
    SHARE = 4,  /* an epoch reads at least this part of a partition's entries */
    LARGEST = 126 /* exponent of a unit, so that it and its inverse are floats */,
    TRIAL_EPOCHS = 32, /* epochs within which the gap must halve */
    BLOCK = 128,       /* columns of the matrix whose weights are stored together */
    AHEAD = 24,        /* columns that are fetched before their use */
    SETTLE_STEPS = 200 /* most Newton steps of an intercept */
};

#define SETTLED        1e-12 /* relative change of an intercept that ends its steps */
#define MAX_SHRINK_TOL 1e4   /* beyond it an output makes no progress */

/* The outputs that kernels take: a multiple of 8. */
static int padded(int wide)
{
    return (wide + 7) / 8 * 8;
}

/* ---- visits ---- */

/* Conjugate of the loss at the dual variable, and C times the loss at the stored margin, of
 * row i for all outputs. */
static void row_terms(const struct ascent *ascent, int64_t i, double *conj, double *loss)
{
    const double *margin = ascent->margin + i * ascent->wide,
                 *dual = ascent->a + i * ascent->wide;
    margin_problem own;
    const margin_problem *problem = ascent_problem(ascent, i, &own);
    if (problem->kind != MARGIN_LOGISTIC || ascent->wide == 1) {
        for (int k = 0; k < ascent->outputs; k++) {
            conj[k] = margin_conj(problem, dual[k]);
            loss[k] = problem->c * margin_loss(problem->kind, margin[k]);
        }
        return;
    }
    double m[DUAL_WIDE] = {0}, a[DUAL_WIDE] = {0};
    memcpy(m, margin, (size_t)ascent->wide * sizeof *m);
    memcpy(a, dual, (size_t)ascent->wide * sizeof *a);
    weft_logistic_terms(padded(ascent->wide), problem->c, m, a, conj, loss);
}

/* 1: for an output that runs, row i has so large a part of the gap that it is to be visited
 * again in the next sweep; share[wide] has its part of each gap. */
static int row_matters(const struct ascent *ascent, const double *share)
{
    int matters = 0;
    for (int k = 0; k < ascent->outputs; k++)
        matters |= !ascent->out[k].done && share[k] >= 10 * ascent->out[k].min_worth;
    return matters;
}

/* The next visit of a row in the sweep `now`. */
static void schedule(struct ascent *ascent, int64_t i, int now, int matters)
{
    if (matters)
        ascent->shrinking[i] = 0;
    else if (ascent->shrinking[i] < (ascent->rows->single_norm2 ? MANY : SHRINK))
        ascent->shrinking[i]++;
    ascent->due[i] = now + (1 << ascent->shrinking[i]);
}

/* Maximises over a_i of the only output, with the partition's weights w. The worth of a
 * visit is its gain. */
static void visit_one(struct ascent *ascent, int64_t i, int now, real *w)
{
    struct ascent_output *output = &ascent->out[0];
    margin_problem own;
    const margin_problem *problem = ascent_problem(ascent, i, &own);
    double score, y = ascent_sign(ascent, i, 0), q = ascent->norm2[i],
                  a = ascent->a[i] + ascent->step[i];
    weft_sparse_dots(&ascent->rows->x, i, 1, w, &score);
    double m = y * (score + output->b) + ascent_single_norm2(ascent, i) * a;
    double d = margin_best(problem, q, m, a) - a;
    double worth = 0.5 * (q + margin_conj_curve(problem, a + d)) * d * d;
    ascent->margin[i] = m;
    ascent->step[i] += d;
    schedule(ascent, i, now, worth >= output->min_worth);
    if (d == 0) return;
    real change = (real)(y * d);
    if (ascent->coupled) output->b += y * d;
    weft_sparse_adds(&ascent->rows->x, i, 1, &change, w);
}

/* a[wide] <- the best dual variables of row i for all outputs, at the margins m from the
 * columns of x; share[wide] <- the row's part of each gap before. */
static void improve(const struct ascent *ascent, int64_t i, const double *m, double *a,
                    double *share)
{
    double q = ascent->norm2[i];
    margin_problem own;
    const margin_problem *problem = ascent_problem(ascent, i, &own);
    if (problem->kind == MARGIN_LOGISTIC) {
        weft_logistic_best(padded(ascent->wide), problem->c, q, m, a, share);
        return;
    }
    for (int k = 0; k < ascent->outputs; k++) {
        share[k] = problem->c * margin_loss(problem->kind, m[k]) +
                   margin_conj(problem, a[k]) + a[k] * m[k];
        a[k] = margin_best(problem, q, m[k], a[k]);
    }
}

/* Maximises over a_i of all outputs that run. Outputs side by side share the cost of
 * visits: those are worth most that have most of a gap. A row of great length may have most
 * of it and hardly anything to gain, and without visits to it the gap does not close. */
static void visit_all(struct ascent *ascent, int64_t i, int now, real *w)
{
    double score[DUAL_WIDE], m[DUAL_WIDE] = {0}, a[DUAL_WIDE] = {0}, share[DUAL_WIDE];
    real change[DUAL_WIDE] = {0};
    double *dual = ascent->a + i * ascent->wide, *step = ascent->step + i * ascent->wide;
    double single = ascent_single_norm2(ascent, i);
    weft_sparse_dots(&ascent->rows->x, i, ascent->wide, w, score);
    for (int k = 0; k < ascent->outputs; k++) {
        a[k] = dual[k] + step[k];
        m[k] = ascent_sign(ascent, i, k) * (score[k] + ascent->out[k].b) + single * a[k];
    }
    memcpy(ascent->margin + i * ascent->wide, m, (size_t)ascent->wide * sizeof *m);
    improve(ascent, i, m, a, share);
    for (int k = 0; k < ascent->outputs; k++) {
        if (ascent->out[k].done) continue;
        double y = ascent_sign(ascent, i, k), d = a[k] - (dual[k] + step[k]);
        step[k] += d;
        change[k] = (real)(y * d);
        if (ascent->coupled) ascent->out[k].b += y * d;
    }
    schedule(ascent, i, now, row_matters(ascent, share));
    weft_sparse_adds(&ascent->rows->x, i, ascent->wide, change, w);
}

/* Visits the rows of a group that are due; returns the number of entries read. */
static int64_t visit_group(struct ascent *ascent, int g, int now, real *w)
{
    const dual_rows *rows = ascent->rows;
    int64_t n = rows->start[g + 1] - rows->start[g], due = 0, read = 0;
    int64_t *visits = ascent->visits + rows->start[g];
    margin_shuffle(rows->order + rows->start[g], n, rows->group[g], now, visits);
    for (int64_t i = 0; i < n; i++) {
        if (ascent->due[visits[i]] <= now) visits[due++] = visits[i];
    }
    for (int64_t i = 0; i < due; i++) {
        if (i + 1 < due) weft_sparse_fetch(&rows->x, visits[i + 1]);
        if (ascent->wide == 1)
            visit_one(ascent, visits[i], now, w);
        else
            visit_all(ascent, visits[i], now, w);
        read += rows->x.first[visits[i] + 1] - rows->x.first[visits[i]];
    }
    return read;
}

/* Sweeps over a partition until a share of its entries has been read, or nothing is due. */
static void visit_partition(struct ascent *ascent, int partition, real *w)
{
    const dual_rows *rows = ascent->rows;
    int at = partition - rows->first, from = rows->segment[at], to = rows->segment[at + 1];
    int64_t entries = 0, read = 0;
    for (int64_t i = rows->start[from]; i < rows->start[to]; i++) {
        int64_t row = rows->order[i];
        entries += rows->x.first[row + 1] - rows->x.first[row];
        memset(ascent->step + row * ascent->wide, 0,
               (size_t)ascent->wide * sizeof *ascent->step);
    }
    for (int k = 0; k < SWEEPS && read < entries / SHARE; k++, ascent->sweep[at]++) {
        for (int g = from; g < to; g++)
            read += visit_group(ascent, g, ascent->sweep[at], w);
    }
}

/* ---- sums over rows ---- */

/* sum[outputs] <- sums over all rows, of the n outputs k[n], output k at the step t[k]:
 * over each partition on its rank, then over partitions in their order. Collective. */
static void sum_rows(struct ascent *ascent, int n, const int *k, row_sum add,
                     const double *t, double (*sum)[ASCENT_SUMS])
{
    const dual_rows *rows = ascent->rows;
    size_t cells = (size_t)(rows->partitions * n);
    memset(ascent->partition, 0, cells * sizeof *ascent->partition);
    for (int l = rows->first; l < rows->last; l++) {
        double(*part)[ASCENT_SUMS] = ascent->partition + (size_t)l * (size_t)n;
        int at = l - rows->first;
        int64_t end = rows->start[rows->segment[at + 1]];
        for (int64_t i = rows->start[rows->segment[at]]; i < end; i++)
            add(ascent, rows->order[i], n, k, t, part);
    }
    weft_join_f64(rows->team, ascent->partition[0], cells * ASCENT_SUMS);
    for (int j = 0; j < n; j++) {
        memset(sum[k[j]], 0, sizeof *sum);
        for (int l = 0; l < rows->partitions; l++)
            for (int m = 0; m < ASCENT_SUMS; m++)
                sum[k[j]][m] += ascent->partition[l * n + j][m];
    }
}

static void add_line(const struct ascent *ascent, int64_t i, int n, const int *k,
                     const double *t, double (*sum)[ASCENT_SUMS])
{
    double single_norm2 = ascent_single_norm2(ascent, i);
    margin_problem own;
    const margin_problem *problem = ascent_problem(ascent, i, &own);
    for (int j = 0; j < n; j++) {
        int64_t at = i * ascent->wide + k[j];
        double d = ascent->step[at], a = ascent->a[at] + t[k[j]] * d;
        if (d == 0) continue;
        sum[j][0] += d * (margin_conj_slope(problem, a) + single_norm2 * a +
                          ascent_sign(ascent, i, k[j]) * ascent->out[k[j]].b);
        sum[j][1] += d * d * (margin_conj_curve(problem, a) + single_norm2);
    }
}

static double dot(int64_t n, const real *a, const real *b)
{
    double s[4] = {0};
    for (int64_t i = 0; i + 3 < n; i += 4)
        for (int k = 0; k < 4; k++) s[k] += (double)a[i + k] * (double)b[i + k];
    for (int64_t i = n - n % 4; i < n; i++) s[0] += (double)a[i] * (double)b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* sum[DUAL_WIDE] <- dot product of each output's part of a and b, [d][wide]. */
static void dots(const struct ascent *ascent, const real *a, const real *b, double *sum)
{
    double part[ASCENT_PERIOD] = {0};
    memset(sum, 0, DUAL_WIDE * sizeof *sum);
    if (ascent->wide == 1) {
        sum[0] = dot(ascent->rows->d, a, b);
        return;
    }
    for (int64_t i = 0; i < ascent->padded; i += ascent->period)
        for (int k = 0; k < ascent->period; k++)
            part[k] += (double)a[i + k] * (double)b[i + k];
    for (int k = 0; k < ascent->period; k++) sum[k % ascent->wide] += part[k];
}

/* ---- an epoch ---- */

/* most[wide] <- max(most, |a - b|) of each output. */
static void largest_change(const struct ascent *ascent, const real *a, const real *b,
                           double *most)
{
    real part[ASCENT_PERIOD] = {0};
    for (int64_t i = 0; i < ascent->padded; i += ascent->period) {
        for (int k = 0; k < ascent->period; k++) {
            real d = (real)fabs((double)(a[i + k] - b[i + k]));
            part[k] = d > part[k] ? d : part[k];
        }
    }
    for (int k = 0; k < ascent->period; k++)
        most[k % ascent->wide] = fmax(most[k % ascent->wide], (double)part[k]);
}

/* Bracket of an output's step. */
struct line {
    double slope, curve; /* of the terms in w */
    double lo, hi;
};

/* Moves the step *t by the sums of add_line there; returns 1 when it is close enough. */
static int next_step(struct line *line, const double *sum, double *t)
{
    double g = line->slope + *t * line->curve + sum[0];
    if (g <= 0 && *t >= 1) return 1;
    if (g > 0)
        line->hi = *t;
    else
        line->lo = *t;
    double before = *t, next = before - g / (line->curve + sum[1]);
    if (!(next > line->lo && next < line->hi)) next = 0.5 * (line->lo + line->hi);
    *t = next;
    return fabs(next - before) < 0.01 * before;
}

/* t[outputs] <- the best steps in (0, 1] along the sum of all partitions' changes.
 * Collective. */
static void line_search(struct ascent *ascent, double *t)
{
    double slope[DUAL_WIDE], curve[DUAL_WIDE], sum[DUAL_WIDE][ASCENT_SUMS];
    struct line line[DUAL_WIDE];
    int k[DUAL_WIDE], left = 0;
    dots(ascent, ascent->w, ascent->delta, slope);
    dots(ascent, ascent->delta, ascent->delta, curve);
    for (int j = 0; j < ascent->outputs; j++) {
        line[j] = (struct line){.slope = slope[j], .curve = curve[j], .hi = 1};
        if (!ascent->out[j].done) k[left++] = j;
    }
    for (int n = 0; n < 20 && left > 0; n++) {
        sum_rows(ascent, left, k, add_line, t, sum);
        int all = left;
        left = 0;
        for (int j = 0; j < all; j++)
            if (!next_step(&line[k[j]], sum[k[j]], &t[k[j]])) k[left++] = k[j];
    }
    for (int j = 0; j < left; j++)
        t[k[j]] = line[k[j]].lo > 0 ? line[k[j]].lo : line[k[j]].hi;
}

/* unit[period] <- for each output, the unit in which the largest change has 30 bits;
 * enough, since changes get smaller. Collective. */
static void change_units(struct ascent *ascent, real *unit)
{
    const dual_rows *rows = ascent->rows;
    double most[DUAL_WIDE] = {0};
    for (int64_t l = 0; l < rows->last - rows->first; l++)
        largest_change(ascent, ascent->copy + l * ascent->padded, ascent->w, most);
    weft_max_f64(rows->team, most, (size_t)ascent->wide);
    for (int k = 0; k < ascent->period; k++) {
        double largest = most[k % ascent->wide];
        int bits = largest > 0 ? 29 - ilogb(largest * rows->partitions) : 0;
        unit[k] = (real)ldexp(1, bits < LARGEST ? bits : LARGEST);
    }
}

/* ascent->delta <- sum of the partitions' changes, given each partition's w in
 * ascent->copy; exact, in integers. Collective. */
static void add_changes(struct ascent *ascent)
{
    real unit[ASCENT_PERIOD];
    change_units(ascent, unit);
    memset(ascent->change, 0, (size_t)ascent->padded * sizeof *ascent->change);
    for (int64_t l = 0; l < ascent->rows->last - ascent->rows->first; l++) {
        const real *copy = ascent->copy + l * ascent->padded;
        for (int64_t j = 0; j < ascent->padded; j += ascent->period)
            for (int k = 0; k < ascent->period; k++)
                ascent->change[j + k] +=
                    (int32_t)((copy[j + k] - ascent->w[j + k]) * unit[k]);
    }
    weft_sum_i32(ascent->rows->team, ascent->change, (size_t)ascent->padded);
    for (int64_t j = 0; j < ascent->padded; j += ascent->period)
        for (int k = 0; k < ascent->period; k++)
            ascent->delta[j + k] = (real)ascent->change[j + k] / unit[k];
}

/* t[period] <- each output's step along ascent->delta, which w takes. Collective. */
static void take_steps(struct ascent *ascent, double *t)
{
    line_search(ascent, t);
    for (int k = ascent->wide; k < ascent->period; k++) t[k] = t[k % ascent->wide];
    for (int64_t j = 0; j < ascent->padded; j += ascent->period)
        for (int k = 0; k < ascent->period; k++)
            ascent->w[j + k] += (real)t[k] * ascent->delta[j + k];
}

/* One epoch over all partitions; adds their changes to w and a. Collective. */
static void run_epoch(struct ascent *ascent)
{
    const dual_rows *rows = ascent->rows;
    double t[ASCENT_PERIOD];
    for (int k = 0; k < ascent->period; k++) t[k] = 1;
    if (rows->partitions == 1) {
        if (rows->first < rows->last) visit_partition(ascent, 0, ascent->w);
    } else {
        for (int l = rows->first; l < rows->last; l++) {
            real *copy = ascent->copy + (l - rows->first) * ascent->padded;
            memcpy(copy, ascent->w, (size_t)ascent->padded * sizeof *copy);
            visit_partition(ascent, l, copy);
        }
        add_changes(ascent);
        take_steps(ascent, t);
    }
    for (int64_t i = 0; i < rows->x.n; i++)
        for (int k = 0; k < ascent->wide; k++)
            ascent->a[i * ascent->wide + k] += t[k] * ascent->step[i * ascent->wide + k];
}

/* ---- gaps and intercepts ---- */

static void add_state(const struct ascent *ascent, int64_t i, int n, const int *k,
                      const double *t, double (*sum)[ASCENT_SUMS])
{
    double conj[DUAL_WIDE], loss[DUAL_WIDE], single_norm2 = ascent_single_norm2(ascent, i);
    margin_problem own;
    const margin_problem *problem = ascent_problem(ascent, i, &own);
    row_terms(ascent, i, conj, loss);
    (void)t;
    for (int j = 0; j < n; j++) {
        double a = ascent->a[i * ascent->wide + k[j]],
               curve = ascent->norm2[i] + margin_conj_curve(problem, a);
        int bound = problem->kind != MARGIN_LOGISTIC &&
                    (a <= 0 || (problem->kind == MARGIN_HINGE && a >= problem->c));
        sum[j][0] += a * ascent_sign(ascent, i, k[j]);
        sum[j][1] += bound || curve <= 0 ? 0 : 1 / curve;
        sum[j][2] += conj[k[j]];
        sum[j][3] += loss[k[j]];
        sum[j][4] += single_norm2 * a * a;
    }
}

/* Derivatives of the losses in the intercept, at margins with the intercept shifted by
 * t. */
static void add_shift(const struct ascent *ascent, int64_t i, int n, const int *k,
                      const double *t, double (*sum)[ASCENT_SUMS])
{
    margin_problem own;
    const margin_problem *problem = ascent_problem(ascent, i, &own);
    for (int j = 0; j < n; j++) {
        double y = ascent_sign(ascent, i, k[j]),
               m = ascent->margin[i * ascent->wide + k[j]] + t[k[j]] * y;
        double slope = margin_slope(problem->kind, m);
        sum[j][0] += problem->c * y * slope;
        if (problem->kind == MARGIN_LOGISTIC) sum[j][1] -= problem->c * slope * (1 + slope);
        if (problem->kind == MARGIN_SQUARED && m < 1) sum[j][1] += 2 * problem->c;
        sum[j][3] += problem->c * margin_loss(problem->kind, m);
    }
}

/* |w|^2 of all outputs over the columns of x; a single partition's w is on its owner.
 * Collective. */
static void square_norms(struct ascent *ascent)
{
    double sum[DUAL_WIDE] = {0};
    if (ascent->rows->partitions > 1 || ascent->rows->first < ascent->rows->last)
        dots(ascent, ascent->w, ascent->w, sum);
    if (ascent->rows->partitions == 1) weft_max_f64(ascent->rows->team, sum, DUAL_WIDE);
    for (int k = 0; k < ascent->outputs; k++) ascent->out[k].norm2_shared = sum[k];
}

/* Recomputes all margins. Rows that still have a part of a gap become due; those of a
 * single output all do. */
static void recompute_margins(struct ascent *ascent)
{
    const weft_sparse *sparse = &ascent->rows->x;
    double score[DUAL_WIDE], share[DUAL_WIDE], conj[DUAL_WIDE], loss[DUAL_WIDE];
    for (int64_t i = 0; i < sparse->n; i++) {
        double *m = ascent->margin + i * ascent->wide, *a = ascent->a + i * ascent->wide;
        weft_sparse_dots(sparse, i, ascent->wide, ascent->w, score);
        for (int k = 0; k < ascent->outputs; k++)
            m[k] = ascent_sign(ascent, i, k) * (score[k] + ascent->out[k].b) +
                   ascent_single_norm2(ascent, i) * a[k];
        row_terms(ascent, i, conj, loss);
        for (int k = 0; k < ascent->outputs; k++)
            share[k] = loss[k] + conj[k] + a[k] * m[k];
        if (ascent->wide == 1 || row_matters(ascent, share)) ascent->due[i] = 0;
    }
}

/* Newton step on the intercept, which solves b = t(b), where t = sum_i a_i y_i decreases in
 * b. The slope of t is about -response if rows share no columns; the secant slope of the
 * last step is better, unless it leads out of the bracket. Rows with a large change become
 * due. */
static void step_intercept(struct ascent *ascent, int k, double t, double response)
{
    struct ascent_output *output = &ascent->out[k];
    double observed = (output->t0 - t) / (output->b - output->b0),
           *bracket_end = t > output->b ? &output->low : &output->high;
    *bracket_end = output->b;
    output->b0 = output->b;
    output->t0 = t;
    double next = output->b + (t - output->b) / (1 + observed);
    if (!(observed > 0 && observed < response && next > output->low && next < output->high))
        next = output->b + (t - output->b) / (1 + response);
    output->b = next;
    double threshold = 0.1 * response / (double)ascent->rows->total;
    for (int64_t i = 0; i < ascent->rows->x.n; i++) {
        margin_problem own;
        double curve = margin_conj_curve(ascent_problem(ascent, i, &own),
                                         ascent->a[i * ascent->wide + k]);
        if (1 >= threshold * (ascent->norm2[i] + curve)) ascent->due[i] = 0;
    }
}

/* Objective and gap of an output, given its sums over the rows' states. Moves the intercept
 * where its error is more than half of a gap that is too wide. */
static void measure(struct ascent *ascent, int k, const double *sum)
{
    struct ascent_output *output = &ascent->out[k];
    output->norm2 = output->norm2_shared + sum[4];
    if (ascent->coupled) output->b = sum[0];
    double dual = -0.5 * output->norm2 - 0.5 * sum[0] * sum[0] - sum[2],
           off = sum[0] - output->b;
    output->objective = 0.5 * output->norm2 + 0.5 * output->b * output->b + sum[3];
    double above = output->objective - dual, best = output->asked->objective;
    output->gap = margin_relative_gap(ascent->problem, best, output->objective, above);
    output->min_worth = ascent->problem->tol * (best - dual) /
                        ((double)ascent->rows->total * output->shrink_tol);
    if (output->gap > ascent->problem->tol && off * off > 0.5 * above)
        step_intercept(ascent, k, sum[0], sum[1]);
}

/* Measures the n outputs k[n], from the stored margins. Collective. */
static void measure_outputs(struct ascent *ascent, int n, const int *k)
{
    double sum[DUAL_WIDE][ASCENT_SUMS], none[DUAL_WIDE] = {0};
    sum_rows(ascent, n, k, add_state, none, sum);
    for (int j = 0; j < n; j++) measure(ascent, k[j], sum[k[j]]);
}

/* Bracket of the change of an output's intercept. */
struct shift {
    double lo, hi;
};

/* Moves the change *t by the sums of add_shift there; returns 1 when it is close enough. */
static int next_shift(const struct ascent_output *output, struct shift *shift,
                      const double *sum, double *t)
{
    double slope = output->b + *t + sum[0], before = *t;
    shift->lo = fmax(shift->lo, slope > 0 ? before - slope : before);
    shift->hi = fmin(shift->hi, slope > 0 ? before : before - slope);
    double next = before - slope / (1 + sum[1]);
    if (!(next > shift->lo && next < shift->hi)) next = 0.5 * (shift->lo + shift->hi);
    if (!(fabs(next - before) > SETTLED * (1 + fabs(output->b)))) return 1;
    *t = next;
    return 0;
}

/* Moves the intercepts of the outputs k[n] to their optimum for the final weights: an error
 * that is small in the objective can be large in the scores of small features. The slope
 * increases by at least 1 per unit, so that its value bounds the distance to its zero.
 * Collective. */
static void settle_intercepts(struct ascent *ascent, int n, const int *k)
{
    double sum[DUAL_WIDE][ASCENT_SUMS], t[DUAL_WIDE] = {0};
    struct shift shift[DUAL_WIDE];
    int open[DUAL_WIDE], left = n;
    for (int j = 0; j < n; j++) {
        open[j] = k[j];
        shift[k[j]] = (struct shift){-INFINITY, INFINITY};
    }
    for (int step = 0; step < SETTLE_STEPS && left > 0; step++) {
        sum_rows(ascent, left, open, add_shift, t, sum);
        int all = left;
        left = 0;
        for (int j = 0; j < all; j++) {
            int o = open[j];
            if (!next_shift(&ascent->out[o], &shift[o], sum[o], &t[o])) open[left++] = o;
        }
    }
    for (int j = 0; j < n; j++) {
        struct ascent_output *output = &ascent->out[k[j]];
        output->b += t[k[j]];
        output->objective =
            0.5 * output->norm2 + 0.5 * output->b * output->b + sum[k[j]][3];
    }
}

static int round_up(int outputs)
{
    return (outputs + 3) / 4 * 4;
}

static void set_width(struct ascent *ascent, int wide)
{
    ascent->wide = wide;
    ascent->period = wide == 1 ? 16 : 4 * wide;
    ascent->padded =
        (ascent->rows->d * wide + ascent->period - 1) / ascent->period * ascent->period;
}

static struct ascent start(const margin_fits *fits, const dual_rows *rows, weft_arena *tmp)
{
    int outputs = fits->n;
    const margin_output *output = fits->output;
    struct ascent ascent = {.problem = fits->problem, .rows = rows, .outputs = outputs};
    set_width(&ascent, outputs == 1 ? 1 : round_up(outputs));
    int64_t n = rows->x.n, cells = n * ascent.wide;
    ascent.w = WEFT_NEW(tmp, real, ascent.padded);
    if (rows->partitions > 1) {
        ascent.delta = WEFT_NEW(tmp, real, ascent.padded);
        ascent.change = WEFT_NEW(tmp, int32_t, ascent.padded);
        ascent.copy = WEFT_NEW(tmp, real, (rows->last - rows->first) * ascent.padded);
    }
    ascent.a = WEFT_NEW(tmp, double, cells);
    ascent.step = WEFT_NEW(tmp, double, cells);
    ascent.norm2 = WEFT_NEW(tmp, double, n);
    ascent.margin = WEFT_NEW(tmp, double, cells);
    ascent.due = WEFT_NEW(tmp, int, n);
    ascent.shrinking = WEFT_NEW(tmp, int, n);
    ascent.sweep = WEFT_NEW(tmp, int, rows->last - rows->first + 1);
    ascent.visits = WEFT_NEW(tmp, int64_t, n);
    ascent.partition = weft_arena_alloc(tmp, (size_t)(rows->partitions * outputs),
                                        sizeof *ascent.partition);
    ascent.coupled = rows->groups == 1;
    for (int64_t i = 0; i < n; i++)
        ascent.norm2[i] = weft_sparse_norm2(&rows->x, i) + ascent_single_norm2(&ascent, i) +
                          ascent.coupled;
    for (int k = 0; k < ascent.wide; k++) {
        ascent.out[k] = (struct ascent_output){
            .index = k, .low = -INFINITY, .high = INFINITY, .shrink_tol = 10};
        ascent.out[k].gap = ascent.out[k].trial_gap = 1;
        if (k < outputs) ascent.out[k].asked = &output[k];
        ascent.one[k] = k < outputs ? output[k].one : -1;
        if (k < outputs && !ascent.coupled)
            ascent.out[k].b = ascent.out[k].b0 = output[k].b;
        if (k >= outputs || output[k].constant) ascent.out[k].done = ASCENT_STOPPED;
    }
    return ascent;
}

/* k[] <- the outputs that run, and whose gap is within the tolerance if `near`; returns
 * their number. */
static int list_outputs(const struct ascent *ascent, int near, int *k)
{
    int n = 0;
    for (int j = 0; j < ascent->outputs; j++)
        if (!ascent->out[j].done && (!near || ascent->out[j].gap <= ascent->problem->tol))
            k[n++] = j;
    return n;
}

/* Ends outputs that make no progress. */
static void end_stalled(struct ascent *ascent, int n, const int *k)
{
    for (int j = 0; j < n; j++) {
        struct ascent_output *output = &ascent->out[k[j]];
        if (output->gap <= ascent->problem->tol) continue;
        if (!(output->gap <= 0.5 * output->trial_gap)) output->shrink_tol *= 10;
        if (output->shrink_tol > MAX_SHRINK_TOL) output->done = ASCENT_STOPPED;
        output->trial_gap = output->gap;
    }
}

/* Ends outputs that are at their optimum, checked once half of the remaining ones seem to
 * be or epochs run out, and outputs that make no progress. Returns 1 if margins were
 * recomputed. Collective. */
static int check_ends(struct ascent *ascent, int epochs)
{
    int k[DUAL_WIDE], near[DUAL_WIDE], done[DUAL_WIDE];
    square_norms(ascent);
    int running = list_outputs(ascent, 0, k);
    measure_outputs(ascent, running, k);
    int asking = list_outputs(ascent, 1, near);
    if (epochs % TRIAL_EPOCHS == 0) end_stalled(ascent, running, k);
    int check = asking > 0 && (2 * asking >= running || epochs == ascent->problem->limit);
    if (!check) return 0;
    recompute_margins(ascent);
    measure_outputs(ascent, running, k);
    int ends = list_outputs(ascent, 1, done);
    settle_intercepts(ascent, ends, done);
    for (int j = 0; j < ends; j++) ascent->out[done[j]].done = ASCENT_DONE;
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
static void fetch_place(const struct ascent *ascent, uint32_t place)
{
    if (place == DUAL_NONE) return;
    if (place >= ascent->rows->d)
        __builtin_prefetch(ascent->rows->single + (place - ascent->rows->d));
    else
        __builtin_prefetch(ascent->w + (int64_t)place * ascent->wide);
}

/* tile[n][BLOCK] <- weights of the outputs k[n] in m columns of the matrix, whose places
 * are given; on rank 0 alone where all ranks have them, because share_weights adds. */
static void fill_tile(const struct ascent *ascent, int n, const int *k, int m,
                      const uint32_t *place, real (*tile)[BLOCK])
{
    const dual_rows *rows = ascent->rows;
    memset(tile, 0, (size_t)n * sizeof *tile);
    for (int c = 0; c < m; c++) {
        if (c + AHEAD < m) fetch_place(ascent, place[c + AHEAD]);
        if (place[c] == DUAL_NONE) continue;
        if (place[c] >= rows->d) {
            const dual_single *single = rows->single + (place[c] - rows->d);
            const double *a = ascent->a + (int64_t)single->row * ascent->wide;
            for (int j = 0; j < n; j++)
                tile[j][c] = (real)(a[k[j]] * ascent_sign(ascent, single->row, k[j]) *
                                    single->value);
        } else if (rows->team->rank == 0) {
            const real *w = ascent->w + (int64_t)place[c] * ascent->wide;
            for (int j = 0; j < n; j++) tile[j][c] = w[k[j]];
        }
    }
}

/* Stores the weights of the outputs k[n] in the columns of the matrix, by blocks: vectors
 * that are a power of two apart would displace each other from cache. */
static void store_columns(const struct ascent *ascent, int n, const int *k,
                          const margin_fits *target)
{
    real tile[DUAL_WIDE][BLOCK];
    for (int64_t c = 0; c < target->matrix->d; c += BLOCK) {
        int m = target->matrix->d - c < BLOCK ? (int)(target->matrix->d - c) : BLOCK;
        fill_tile(ascent, n, k, m, ascent->rows->place + c, tile);
        for (int j = 0; j < n; j++)
            memcpy(target->w + ascent->out[k[j]].index * target->matrix->d + c, tile[j],
                   (size_t)m * sizeof **tile);
    }
}

/* Stores the outputs k[n], with the matrix's columns. */
static void store_outputs(const struct ascent *ascent, int n, const int *k,
                          const margin_fits *target)
{
    for (int j = 0; j < n; j++) {
        const struct ascent_output *output = &ascent->out[k[j]];
        target->intercept[output->index] = (real)output->b;
        target->out[output->index].objective = output->objective;
        target->out[output->index].residual = output->gap;
    }
    if (ascent->rows->single_norm2)
        store_columns(ascent, n, k, target);
    else
        memcpy(target->w, ascent->w, (size_t)target->matrix->d * sizeof *target->w);
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
static void compact(struct ascent *ascent, const margin_fits *target)
{
    int keep[DUAL_WIDE], ended[DUAL_WIDE], left = 0, n = 0;
    for (int k = 0; k < ascent->wide; k++) {
        if (!ascent->out[k].done)
            keep[left++] = k;
        else if (k < ascent->outputs)
            ended[n++] = k;
    }
    int to = round_up(left);
    if (left == 0 || 4 * to > 3 * ascent->wide) return;
    store_outputs(ascent, n, ended, target);
    for (int k = 0, at = left; k < ascent->wide && at < to; k++)
        if (ascent->out[k].done) keep[at++] = k;
    struct ascent_output kept[DUAL_WIDE] = {{0}};
    for (int k = 0; k < to; k++) {
        kept[k] = ascent->out[keep[k]];
        ascent->one[k] = kept[k].asked ? kept[k].asked->one : -1;
    }
    memcpy(ascent->out, kept, sizeof kept);
    int64_t rows = ascent->rows->x.n;
    keep_outputs(ascent->w, sizeof *ascent->w, ascent->rows->d, ascent->wide, keep, to);
    keep_outputs(ascent->a, sizeof *ascent->a, rows, ascent->wide, keep, to);
    keep_outputs(ascent->margin, sizeof *ascent->margin, rows, ascent->wide, keep, to);
    ascent->outputs = left;
    set_width(ascent, to);
    memset(ascent->w + ascent->rows->d * to, 0,
           (size_t)(ascent->padded - ascent->rows->d * to) * sizeof *ascent->w);
}

void dual_fit(const margin_fits *fits, const dual_rows *rows, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    struct ascent ascent = start(fits, rows, tmp);
    int epochs = 0, checks = 0, k[DUAL_WIDE];
    while (epochs < fits->problem->limit && list_outputs(&ascent, 0, k) > 0) {
        run_epoch(&ascent);
        checks += check_ends(&ascent, ++epochs);
        compact(&ascent, fits);
    }
    for (int j = 0; j < ascent.outputs; j++) k[j] = j;
    store_outputs(&ascent, ascent.outputs, k, fits);
    share_weights(rows, (size_t)(fits->n * fits->matrix->d), fits->w);
    for (int j = 0; j < fits->n; j++) {
        fits->out[j].iterations = epochs;
        fits->out[j].passes = epochs + checks;
    }
}
