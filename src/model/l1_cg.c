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

l1_support l1_support_new(const l1_columns *columns, weft_arena *tmp)
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

double l1_minimise_support(struct lasso *lasso)
{
    l1_support *support = &lasso->support;
    double gain = 0, t = 1, by = 0;
    open_support(lasso);
    propose(lasso);
    for (int n = 0; n < HALVINGS && !(gain > 0); n++, t *= 0.5) gain = project(lasso, t);
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
