/* LEAF's synthetic federation, draw by draw: Caldas et al., "LEAF: a benchmark for
 * federated settings", 2018, and its released generator. Client t has n_t =
 * min(floor(LogNormal(3, 2)) + 5, 1000) samples, x ~ N(v_t, diag(j^-1.2)), v_t ~ N(B_t,
 * 1)^d, B_t ~ N(0, 1), u_t ~ N(mu_c, 0.1)^K of a cluster c drawn from K, W_t = Q u_t [d +
 * 1][classes], y_i = argmax_k  l_ik - log sum_i exp(l_ik),  l = (1, x) W_t + N(0, 0.1). The
 * stream is numpy's legacy RandomState, in its order: all sizes; then it is seeded anew, by
 * the same seed, so that Q is made of the normal numbers that made the sizes; cluster
 * means; then client by client. The sum in the formula of y runs over the client's samples,
 * not over the classes, as in the released code; it makes the classes of a client more
 * even.
 *
 * Sizes, draws and, where log, exp and pow round alike, all bits of x agree with numpy's:
 * its multivariate_normal takes the singular vectors of the covariance, which are the unit
 * vectors when it is diagonal and falls. Products of matrices are summed in another order,
 * which can move a label only where two classes tie to 1e-15. */
#include "mt19937.h"
#include "synthetic.h"

#include <math.h>
#include <string.h>

#define LEAST 5
#define MOST  1000
#define NOISE 0.1

struct weft_leafgen {
    weft_mt rng;
    int d, classes, clusters;
    double *deviation; /* [d] of x */
    double *q;         /* [d + 1][classes][clusters] */
    double *mean;      /* [clusters][clusters] */
    double *v;         /* [d] */
    double *u;         /* [clusters] */
    double *w;         /* [d + 1][classes] */
    double *x;         /* [MOST][d] */
    double *logit;     /* [MOST][classes] */
};

static double normal(weft_mt *m, double mean, double deviation)
{
    return mean + deviation * weft_mt_normal(m);
}

void weft_leafgen_sizes(uint32_t seed, int64_t clients, int64_t *size)
{
    weft_mt m;
    weft_mt_seed(&m, seed);
    for (int64_t t = 0; t < clients; t++) {
        double n = floor(exp(normal(&m, 3, 2)));
        size[t] = n < MOST - LEAST ? (int64_t)n + LEAST : MOST;
    }
}

weft_leafgen *weft_leafgen_new(uint32_t seed, int d, int classes, int clusters,
                               weft_arena *mem)
{
    weft_leafgen *g = WEFT_NEW(mem, weft_leafgen, 1);
    int64_t nq = (int64_t)(d + 1) * classes * clusters;
    *g = (weft_leafgen){.d = d, .classes = classes, .clusters = clusters};
    g->deviation = WEFT_NEW(mem, double, d);
    g->q = WEFT_NEW(mem, double, nq);
    g->mean = WEFT_NEW(mem, double, clusters *clusters);
    g->v = WEFT_NEW(mem, double, d);
    g->u = WEFT_NEW(mem, double, clusters);
    g->w = WEFT_NEW(mem, double, (int64_t)(d + 1) * classes);
    g->x = WEFT_NEW(mem, double, (int64_t)MOST *d);
    g->logit = WEFT_NEW(mem, double, (int64_t)MOST *classes);
    weft_mt_seed(&g->rng, seed);
    for (int64_t i = 0; i < nq; i++) g->q[i] = weft_mt_normal(&g->rng);
    for (int j = 0; j < d; j++) g->deviation[j] = sqrt(pow(j + 1, -1.2));
    for (int c = 0; c < clusters; c++) {
        double centre = weft_mt_normal(&g->rng);
        for (int k = 0; k < clusters; k++)
            g->mean[c * clusters + k] = normal(&g->rng, centre, 1);
    }
    return g;
}

/* One of equally likely clusters, as numpy.random.choice finds it: the sums of their
 * probabilities, divided by the last one. */
static int draw_cluster(weft_leafgen *g)
{
    double r = weft_mt_unit(&g->rng), sum = 0, all = 0;
    for (int c = 0; c < g->clusters; c++) all += 1.0 / g->clusters;
    int c = 0;
    for (; c < g->clusters - 1; c++) {
        sum += 1.0 / g->clusters;
        if (r < sum / all) break;
    }
    return c;
}

static void draw_x(weft_leafgen *g, int64_t n)
{
    double centre = weft_mt_normal(&g->rng);
    for (int j = 0; j < g->d; j++) g->v[j] = normal(&g->rng, centre, 1);
    for (int64_t i = 0; i < n * g->d; i++)
        g->x[i] = normal(&g->rng, g->v[i % g->d], g->deviation[i % g->d]);
}

/* The linear model of a client of this cluster: W = Q u. */
static void draw_model(weft_leafgen *g, int cluster)
{
    int k = g->clusters;
    for (int i = 0; i < k; i++) g->u[i] = normal(&g->rng, g->mean[cluster * k + i], NOISE);
    for (int64_t i = 0; i < (int64_t)(g->d + 1) * g->classes; i++) {
        g->w[i] = 0;
        for (int j = 0; j < k; j++) g->w[i] += g->q[i * k + j] * g->u[j];
    }
}

static void draw_logits(weft_leafgen *g, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < g->classes; c++) {
            double sum = g->w[c];
            for (int j = 0; j < g->d; j++)
                sum += g->x[i * g->d + j] * g->w[(int64_t)(j + 1) * g->classes + c];
            g->logit[i * g->classes + c] = sum + normal(&g->rng, 0, NOISE);
        }
}

/* Subtracts log sum_i exp(logit[i][c]). */
static void level(weft_leafgen *g, int64_t n, int c)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, g->logit[i * g->classes + c]);
    for (int64_t i = 0; i < n; i++) sum += exp(g->logit[i * g->classes + c] - most);
    for (int64_t i = 0; i < n; i++) g->logit[i * g->classes + c] -= most + log(sum);
}

void weft_leafgen_client(weft_leafgen *g, int64_t n, double *x, int32_t *label)
{
    weft_check(n <= MOST, "a client of %lld samples", (long long)n);
    int cluster = draw_cluster(g);
    draw_x(g, n);
    draw_model(g, cluster);
    draw_logits(g, n);
    for (int c = 0; c < g->classes; c++) level(g, n, c);
    memcpy(x, g->x, (size_t)(n * g->d) * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        const double *row = g->logit + i * g->classes;
        label[i] = 0;
        for (int c = 1; c < g->classes; c++)
            if (row[c] > row[label[i]]) label[i] = c;
    }
}
