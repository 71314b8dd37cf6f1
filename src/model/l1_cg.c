/* The part of a proximal Newton step with an L1 penalty that settles the values of the
 * weights that are not 0. As long as no weight changes its sign, the penalty is linear, so
 * that the model of the step is a quadratic function of these weights. Conjugate gradients,
 * scaled by the diagonal of the second derivatives, approximate its minimum; then the
 * proposed change is taken as a whole, or halved until the model decreases, where weights
 * that would change their sign stop at 0 (Chen, Curtis, Robinson, SIAM J. Optim. 27, 2017).
 */
#include "l1_cg.h"

#include <math.h>

enum {
    ITERATIONS = 20, /* largest number of iterations of conjugate gradients */
    HALVINGS = 10    /* largest number of halvings of the change that they propose */
};

#define END 0.01 /* conjugate gradients end at this share of the first squared residual */

l1_support l1_support_new(const l1_columns *x, weft_arena *tmp)
{
    l1_support f = {.place = WEFT_NEW(tmp, int64_t, x->d + 1),
                    .along = WEFT_NEW(tmp, double, x->n)};
    double *weights = WEFT_NEW(tmp, double, 6 * (x->d + 1));
    double **part[] = {&f.from, &f.fall, &f.change, &f.residual, &f.way, &f.bend};
    for (int k = 0; k < 6; k++) *part[k] = weights + k * (x->d + 1);
    return f;
}

/* The second derivative in weight a of the support. */
static double second_of(const l1 *s, int64_t a)
{
    return s->f.place[a] < 0 ? s->curvature : s->second[s->f.place[a]];
}

/* along[rows] <- the change of score by changes v[n] of the weights of the support. */
static void spread(const l1 *s, const double *v, double *along)
{
    const l1_support *f = &s->f;
    int64_t n = f->n;
    double by = 0;
    if (n > 0 && f->place[n - 1] < 0) by = v[--n];
    for (int64_t i = 0; i < s->x->n; i++) along[i] = by;
    for (int64_t a = 0; a < n; a++) {
        int64_t j = s->working[f->place[a]];
        for (int64_t e = s->x->start[j]; e < s->x->start[j + 1]; e++)
            along[s->x->row[e]] += v[a] * (double)s->x->value[e];
    }
}

/* Second derivatives of the model in weight k of the working set (-1: the intercept) and in
 * all others, times the changes of weights that change scores by along[rows]. */
static double curved(const l1 *s, int64_t k, const double *along)
{
    double sum = 0;
    if (k < 0) {
        for (int64_t i = 0; i < s->x->n; i++) sum += s->curve[i] * along[i];
        return sum;
    }
    int64_t j = s->working[k];
    for (int64_t e = s->x->start[j]; e < s->x->start[j + 1]; e++) {
        uint32_t i = s->x->row[e];
        sum += (double)s->x->value[e] * s->curve[i] * along[i];
    }
    return sum;
}

/* The support after the step so far, and minus the model's derivatives there. */
static void open_support(l1 *s)
{
    l1_support *f = &s->f;
    f->n = 0;
    for (int64_t k = 0; k < s->nworking; k++) {
        int64_t j = s->working[k];
        double w = s->w[j] + s->step[k];
        if (w == 0) continue;
        double g = L1_DAMPING * s->step[k] - s->g[j] + s->shift * s->cross[k];
        f->place[f->n] = k;
        f->from[f->n] = w;
        f->fall[f->n++] = -(g + curved(s, k, s->along) + copysign(1, w));
    }
    double b = s->b + s->shift;
    if (b == 0) return;
    f->place[f->n] = -1;
    f->from[f->n] = b;
    f->fall[f->n++] = -(s->slope + copysign(1, b));
}

/* f->change <- approximately the minimum of the model without changes of signs. */
static void propose(l1 *s)
{
    l1_support *f = &s->f;
    double size =
        0; /* sum of the squared residuals, each divided by its diagonal element */
    for (int64_t a = 0; a < f->n; a++) {
        f->change[a] = 0;
        f->residual[a] = f->fall[a];
        f->way[a] = f->residual[a] / second_of(s, a);
        size += f->residual[a] * f->way[a];
    }
    double end = END * size;
    for (int n = 0; n < ITERATIONS && size > end; n++) {
        double bend = 0, next = 0;
        s->passes++;
        spread(s, f->way, f->along);
        for (int64_t a = 0; a < f->n; a++) {
            f->bend[a] = curved(s, f->place[a], f->along) + L1_DAMPING * f->way[a];
            bend += f->bend[a] * f->way[a];
        }
        for (int64_t a = 0; a < f->n; a++) {
            f->change[a] += size / bend * f->way[a];
            f->residual[a] -= size / bend * f->bend[a];
            next += f->residual[a] * f->residual[a] / second_of(s, a);
        }
        for (int64_t a = 0; a < f->n; a++)
            f->way[a] = f->residual[a] / second_of(s, a) + next / size * f->way[a];
        size = next;
    }
}

/* f->way <- t f->change, but weights that would change their sign end at 0; sets f->along
 * to its changes of score. Returns the decrease of the model. */
static double project(l1 *s, double t)
{
    l1_support *f = &s->f;
    double gain = 0;
    for (int64_t a = 0; a < f->n; a++) {
        double by = t * f->change[a];
        if (f->from[a] * (f->from[a] + by) < 0) by = -f->from[a];
        f->way[a] = by;
        gain += f->fall[a] * by - 0.5 * L1_DAMPING * by * by;
    }
    s->passes++;
    spread(s, f->way, f->along);
    for (int64_t i = 0; i < s->x->n; i++)
        gain -= 0.5 * s->curve[i] * f->along[i] * f->along[i];
    return gain;
}

double l1_minimise_support(l1 *s)
{
    l1_support *f = &s->f;
    double gain = 0, t = 1, by = 0;
    open_support(s);
    propose(s);
    for (int n = 0; n < HALVINGS && !(gain > 0); n++, t *= 0.5) gain = project(s, t);
    if (!(gain > 0)) return 0;
    for (int64_t a = 0; a < f->n; a++) {
        int64_t k = f->place[a];
        int zero = f->way[a] == -f->from[a];
        if (k < 0) {
            by = f->way[a];
            s->shift = zero ? -s->b : s->shift + by;
        } else
            s->step[k] = zero ? -s->w[s->working[k]] : s->step[k] + f->way[a];
    }
    s->slope += curved(s, -1, f->along) + L1_DAMPING * by;
    /* the shift is apart from s->along */
    for (int64_t i = 0; i < s->x->n; i++) s->along[i] += f->along[i] - by;
    return gain;
}
