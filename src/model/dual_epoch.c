/* Epochs of dual coordinate ascent: steps on rows, partition by partition, and the sum of
 * the partitions' changes. */
#include "model.h"
#include "weft/math/optim.h"

#include <math.h>
#include <string.h>

enum {
    SHRINK = 3,   /* shrinking skips a row for at most 2^SHRINK - 1 sweeps */
    MANY = 5,     /* the same for outputs side by side */
    SWEEPS = 8,   /* of an epoch at most */
    SHARE = 4,    /* an epoch reads at least this part of a partition's entries */
    LARGEST = 126 /* exponent of a unit, so that it and its inverse are floats */
};

/* The outputs that kernels take: a multiple of 8. */
static int padded(int wide)
{
    return (wide + 7) / 8 * 8;
}

/* ---- visits ---- */

void ascent_terms(const struct ascent *ascent, int64_t i, double *conj, double *loss)
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

int ascent_matters(const struct ascent *ascent, const double *share)
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
    schedule(ascent, i, now, ascent_matters(ascent, share));
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

void ascent_sum(struct ascent *ascent, int n, const int *k, ascent_row_sum add,
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

void ascent_dots(const struct ascent *ascent, const real *a, const real *b, double *sum)
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
    ascent_dots(ascent, ascent->w, ascent->delta, slope);
    ascent_dots(ascent, ascent->delta, ascent->delta, curve);
    for (int j = 0; j < ascent->outputs; j++) {
        line[j] = (struct line){.slope = slope[j], .curve = curve[j], .hi = 1};
        if (!ascent->out[j].done) k[left++] = j;
    }
    for (int n = 0; n < 20 && left > 0; n++) {
        ascent_sum(ascent, left, k, add_line, t, sum);
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

void ascent_epoch(struct ascent *ascent)
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
