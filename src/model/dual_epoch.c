/* Epochs of dual coordinate ascent: steps on rows, partition by partition, and the sum of
 * the partitions' changes. */
#include <math.h>
#include <string.h>

#include "ascent.h"
#include "weft/logistic.h"
#include "weft/rng.h"

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

void ascent_terms(const ascent *s, int64_t i, double *conj, double *loss)
{
    const double *margin = s->margin + i * s->wide, *dual = s->a + i * s->wide;
    if (s->p->kind != MARGIN_LOGISTIC || s->wide == 1) {
        for (int k = 0; k < s->outputs; k++) {
            conj[k] = margin_conj(s->p, dual[k]);
            loss[k] = s->p->c * margin_loss(s->p->kind, margin[k]);
        }
        return;
    }
    double m[DUAL_WIDE] = {0}, a[DUAL_WIDE] = {0};
    memcpy(m, margin, (size_t)s->wide * sizeof *m);
    memcpy(a, dual, (size_t)s->wide * sizeof *a);
    weft_logistic_terms(padded(s->wide), s->p->c, m, a, conj, loss);
}

int ascent_matters(const ascent *s, const double *share)
{
    int matters = 0;
    for (int k = 0; k < s->outputs; k++)
        matters |= !s->out[k].done && share[k] >= 10 * s->out[k].min_worth;
    return matters;
}

/* The next visit of a row in the sweep `now`. */
static void schedule(ascent *s, int64_t i, int now, int matters)
{
    if (matters)
        s->shrinking[i] = 0;
    else if (s->shrinking[i] < (s->x->single_norm2 ? MANY : SHRINK))
        s->shrinking[i]++;
    s->due[i] = now + (1 << s->shrinking[i]);
}

/* Maximises over a_i of the only output, with the partition's weights w. The worth of a
 * visit is its gain. */
static void visit_one(ascent *s, int64_t i, int now, real *w)
{
    output *o = &s->out[0];
    double score, y = ascent_sign(s, i, 0), q = s->norm2[i], a = s->a[i] + s->step[i];
    weft_sparse_dots(&s->x->x, i, 1, w, &score);
    double m = y * (score + o->b) + ascent_single_norm2(s, i) * a;
    double d = margin_best(s->p, q, m, a) - a;
    double worth = 0.5 * (q + margin_conj_curve(s->p, a + d)) * d * d;
    s->margin[i] = m;
    s->step[i] += d;
    schedule(s, i, now, worth >= o->min_worth);
    if (d == 0) return;
    real change = (real)(y * d);
    if (s->coupled) o->b += y * d;
    weft_sparse_adds(&s->x->x, i, 1, &change, w);
}

/* a[wide] <- the best dual variables of a row for all outputs, at the margins m from the
 * columns of x; share[wide] <- the row's part of each gap before. */
static void improve(const ascent *s, double q, const double *m, double *a, double *share)
{
    const margin_problem *problem = s->p;
    if (problem->kind == MARGIN_LOGISTIC) {
        weft_logistic_best(padded(s->wide), problem->c, q, m, a, share);
        return;
    }
    for (int k = 0; k < s->outputs; k++) {
        share[k] = problem->c * margin_loss(problem->kind, m[k]) +
                   margin_conj(problem, a[k]) + a[k] * m[k];
        a[k] = margin_best(problem, q, m[k], a[k]);
    }
}

/* Maximises over a_i of all outputs that run. Outputs side by side share the cost of
 * visits: those are worth most that have most of a gap. A row of great length may have most
 * of it and hardly anything to gain, and without visits to it the gap does not close. */
static void visit_all(ascent *s, int64_t i, int now, real *w)
{
    double score[DUAL_WIDE], m[DUAL_WIDE] = {0}, a[DUAL_WIDE] = {0}, share[DUAL_WIDE];
    real change[DUAL_WIDE] = {0};
    double *dual = s->a + i * s->wide, *step = s->step + i * s->wide;
    double single = ascent_single_norm2(s, i);
    weft_sparse_dots(&s->x->x, i, s->wide, w, score);
    for (int k = 0; k < s->outputs; k++) {
        a[k] = dual[k] + step[k];
        m[k] = ascent_sign(s, i, k) * (score[k] + s->out[k].b) + single * a[k];
    }
    memcpy(s->margin + i * s->wide, m, (size_t)s->wide * sizeof *m);
    improve(s, s->norm2[i], m, a, share);
    for (int k = 0; k < s->outputs; k++) {
        if (s->out[k].done) continue;
        double y = ascent_sign(s, i, k), d = a[k] - (dual[k] + step[k]);
        step[k] += d;
        change[k] = (real)(y * d);
        if (s->coupled) s->out[k].b += y * d;
    }
    schedule(s, i, now, ascent_matters(s, share));
    weft_sparse_adds(&s->x->x, i, s->wide, change, w);
}

/* visits[n] <- rows in a random order keyed by (group, now). */
static void shuffle(const int64_t *row, int64_t n, int group, int now, int64_t *visits)
{
    weft_rng4 rng = {{0}};
    for (int64_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            rng =
                weft_rng_at(0, WEFT_RNG_SOLVE, (uint64_t)group, (uint64_t)now, (uint64_t)i);
        int64_t j = (int64_t)(weft_rng_unit(rng.v[i % 4]) * (double)(i + 1));
        visits[i] = visits[j];
        visits[j] = row[i];
    }
}

/* Visits the rows of a group that are due; returns the number of entries read. */
static int64_t visit_group(ascent *s, int g, int now, real *w)
{
    const dual_rows *rows = s->x;
    int64_t n = rows->start[g + 1] - rows->start[g], due = 0, read = 0;
    int64_t *visits = s->visits + rows->start[g];
    shuffle(rows->order + rows->start[g], n, rows->group[g], now, visits);
    for (int64_t i = 0; i < n; i++) {
        if (s->due[visits[i]] <= now) visits[due++] = visits[i];
    }
    for (int64_t i = 0; i < due; i++) {
        if (i + 1 < due) weft_sparse_fetch(&rows->x, visits[i + 1]);
        if (s->wide == 1)
            visit_one(s, visits[i], now, w);
        else
            visit_all(s, visits[i], now, w);
        read += rows->x.first[visits[i] + 1] - rows->x.first[visits[i]];
    }
    return read;
}

/* Sweeps over a partition until a share of its entries has been read, or nothing is due. */
static void visit_partition(ascent *s, int partition, real *w)
{
    const dual_rows *rows = s->x;
    int at = partition - rows->first, from = rows->segment[at], to = rows->segment[at + 1];
    int64_t entries = 0, read = 0;
    for (int64_t i = rows->start[from]; i < rows->start[to]; i++) {
        int64_t row = rows->order[i];
        entries += rows->x.first[row + 1] - rows->x.first[row];
        memset(s->step + row * s->wide, 0, (size_t)s->wide * sizeof *s->step);
    }
    for (int k = 0; k < SWEEPS && read < entries / SHARE; k++, s->sweep[at]++) {
        for (int g = from; g < to; g++) read += visit_group(s, g, s->sweep[at], w);
    }
}

/* ---- sums over rows ---- */

void ascent_sum(ascent *s, int n, const int *k, ascent_row_sum add, const double *t,
                double (*sum)[ASCENT_SUMS])
{
    const dual_rows *rows = s->x;
    size_t cells = (size_t)(rows->partitions * n);
    memset(s->partition, 0, cells * sizeof *s->partition);
    for (int l = rows->first; l < rows->last; l++) {
        double(*part)[ASCENT_SUMS] = s->partition + (size_t)l * (size_t)n;
        int at = l - rows->first;
        int64_t end = rows->start[rows->segment[at + 1]];
        for (int64_t i = rows->start[rows->segment[at]]; i < end; i++)
            add(s, rows->order[i], n, k, t, part);
    }
    weft_join_f64(rows->team, s->partition[0], cells * ASCENT_SUMS);
    for (int j = 0; j < n; j++) {
        memset(sum[k[j]], 0, sizeof *sum);
        for (int l = 0; l < rows->partitions; l++)
            for (int m = 0; m < ASCENT_SUMS; m++)
                sum[k[j]][m] += s->partition[l * n + j][m];
    }
}

static void add_line(const ascent *s, int64_t i, int n, const int *k, const double *t,
                     double (*sum)[ASCENT_SUMS])
{
    double single_norm2 = ascent_single_norm2(s, i);
    for (int j = 0; j < n; j++) {
        int64_t at = i * s->wide + k[j];
        double d = s->step[at], a = s->a[at] + t[k[j]] * d;
        if (d == 0) continue;
        sum[j][0] += d * (margin_conj_slope(s->p, a) + single_norm2 * a +
                          ascent_sign(s, i, k[j]) * s->out[k[j]].b);
        sum[j][1] += d * d * (margin_conj_curve(s->p, a) + single_norm2);
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

void ascent_dots(const ascent *s, const real *a, const real *b, double *sum)
{
    double part[ASCENT_PERIOD] = {0};
    memset(sum, 0, DUAL_WIDE * sizeof *sum);
    if (s->wide == 1) {
        sum[0] = dot(s->x->d, a, b);
        return;
    }
    for (int64_t i = 0; i < s->padded; i += s->period)
        for (int k = 0; k < s->period; k++) part[k] += (double)a[i + k] * (double)b[i + k];
    for (int k = 0; k < s->period; k++) sum[k % s->wide] += part[k];
}

/* ---- an epoch ---- */

/* most[wide] <- max(most, |a - b|) of each output. */
static void largest_change(const ascent *s, const real *a, const real *b, double *most)
{
    real part[ASCENT_PERIOD] = {0};
    for (int64_t i = 0; i < s->padded; i += s->period) {
        for (int k = 0; k < s->period; k++) {
            real d = (real)fabs((double)(a[i + k] - b[i + k]));
            part[k] = d > part[k] ? d : part[k];
        }
    }
    for (int k = 0; k < s->period; k++)
        most[k % s->wide] = fmax(most[k % s->wide], (double)part[k]);
}

/* Bracket of an output's step. */
typedef struct line {
    double slope, curve; /* of the terms in w */
    double lo, hi;
} line;

/* Moves the step *t by the sums of add_line there; returns 1 when it is close enough. */
static int next_step(line *b, const double *sum, double *t)
{
    double g = b->slope + *t * b->curve + sum[0];
    if (g <= 0 && *t >= 1) return 1;
    if (g > 0)
        b->hi = *t;
    else
        b->lo = *t;
    double before = *t, next = before - g / (b->curve + sum[1]);
    if (!(next > b->lo && next < b->hi)) next = 0.5 * (b->lo + b->hi);
    *t = next;
    return fabs(next - before) < 0.01 * before;
}

/* t[outputs] <- the best steps in (0, 1] along the sum of all partitions' changes.
 * Collective. */
static void line_search(ascent *s, double *t)
{
    double slope[DUAL_WIDE], curve[DUAL_WIDE], sum[DUAL_WIDE][ASCENT_SUMS];
    line b[DUAL_WIDE];
    int k[DUAL_WIDE], left = 0;
    ascent_dots(s, s->w, s->delta, slope);
    ascent_dots(s, s->delta, s->delta, curve);
    for (int j = 0; j < s->outputs; j++) {
        b[j] = (line){.slope = slope[j], .curve = curve[j], .hi = 1};
        if (!s->out[j].done) k[left++] = j;
    }
    for (int n = 0; n < 20 && left > 0; n++) {
        ascent_sum(s, left, k, add_line, t, sum);
        int all = left;
        left = 0;
        for (int j = 0; j < all; j++)
            if (!next_step(&b[k[j]], sum[k[j]], &t[k[j]])) k[left++] = k[j];
    }
    for (int j = 0; j < left; j++) t[k[j]] = b[k[j]].lo > 0 ? b[k[j]].lo : b[k[j]].hi;
}

/* unit[period] <- for each output, the unit in which the largest change has 30 bits;
 * enough, since changes get smaller. Collective. */
static void change_units(ascent *s, real *unit)
{
    const dual_rows *rows = s->x;
    double most[DUAL_WIDE] = {0};
    for (int64_t l = 0; l < rows->last - rows->first; l++)
        largest_change(s, s->copy + l * s->padded, s->w, most);
    weft_max_f64(rows->team, most, (size_t)s->wide);
    for (int k = 0; k < s->period; k++) {
        double largest = most[k % s->wide];
        int bits = largest > 0 ? 29 - ilogb(largest * rows->partitions) : 0;
        unit[k] = (real)ldexp(1, bits < LARGEST ? bits : LARGEST);
    }
}

/* s->delta <- sum of the partitions' changes, given each partition's w in s->copy; exact,
 * in integers. Collective. */
static void add_changes(ascent *s)
{
    real unit[ASCENT_PERIOD];
    change_units(s, unit);
    memset(s->change, 0, (size_t)s->padded * sizeof *s->change);
    for (int64_t l = 0; l < s->x->last - s->x->first; l++) {
        const real *copy = s->copy + l * s->padded;
        for (int64_t j = 0; j < s->padded; j += s->period)
            for (int k = 0; k < s->period; k++)
                s->change[j + k] += (int32_t)((copy[j + k] - s->w[j + k]) * unit[k]);
    }
    weft_sum_i32(s->x->team, s->change, (size_t)s->padded);
    for (int64_t j = 0; j < s->padded; j += s->period)
        for (int k = 0; k < s->period; k++)
            s->delta[j + k] = (real)s->change[j + k] / unit[k];
}

/* t[period] <- each output's step along s->delta, which w takes. Collective. */
static void take_steps(ascent *s, double *t)
{
    line_search(s, t);
    for (int k = s->wide; k < s->period; k++) t[k] = t[k % s->wide];
    for (int64_t j = 0; j < s->padded; j += s->period)
        for (int k = 0; k < s->period; k++) s->w[j + k] += (real)t[k] * s->delta[j + k];
}

void ascent_epoch(ascent *s)
{
    const dual_rows *rows = s->x;
    double t[ASCENT_PERIOD];
    for (int k = 0; k < s->period; k++) t[k] = 1;
    if (rows->partitions == 1) {
        if (rows->first < rows->last) visit_partition(s, 0, s->w);
    } else {
        for (int l = rows->first; l < rows->last; l++) {
            real *copy = s->copy + (l - rows->first) * s->padded;
            memcpy(copy, s->w, (size_t)s->padded * sizeof *copy);
            visit_partition(s, l, copy);
        }
        add_changes(s);
        take_steps(s, t);
    }
    for (int64_t i = 0; i < rows->x.n; i++)
        for (int k = 0; k < s->wide; k++)
            s->a[i * s->wide + k] += t[k] * s->step[i * s->wide + k];
}
