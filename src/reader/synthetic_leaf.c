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
#include "reader.h"

#include <math.h>
#include <string.h>

#define LEAST 5
#define MOST  1000
#define NOISE 0.1

struct weft_leafgen {
    weft_twister rng;
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

static double normal(weft_twister *twister, double mean, double deviation)
{
    return mean + deviation * weft_twister_normal(twister);
}

void weft_leafgen_sizes(uint32_t seed, int64_t clients, int64_t *size)
{
    weft_twister twister;
    weft_twister_seed(&twister, seed);
    for (int64_t t = 0; t < clients; t++) {
        double n = floor(exp(normal(&twister, 3, 2)));
        size[t] = n < MOST - LEAST ? (int64_t)n + LEAST : MOST;
    }
}

weft_leafgen *weft_leafgen_new(uint32_t seed, int d, int classes, int clusters,
                               weft_arena *mem)
{
    weft_leafgen *leafgen = WEFT_NEW(mem, weft_leafgen, 1);
    int64_t nq = (int64_t)(d + 1) * classes * clusters;
    *leafgen = (weft_leafgen){.d = d, .classes = classes, .clusters = clusters};
    leafgen->deviation = WEFT_NEW(mem, double, d);
    leafgen->q = WEFT_NEW(mem, double, nq);
    leafgen->mean = WEFT_NEW(mem, double, clusters *clusters);
    leafgen->v = WEFT_NEW(mem, double, d);
    leafgen->u = WEFT_NEW(mem, double, clusters);
    leafgen->w = WEFT_NEW(mem, double, (int64_t)(d + 1) * classes);
    leafgen->x = WEFT_NEW(mem, double, (int64_t)MOST *d);
    leafgen->logit = WEFT_NEW(mem, double, (int64_t)MOST *classes);
    weft_twister_seed(&leafgen->rng, seed);
    for (int64_t i = 0; i < nq; i++) leafgen->q[i] = weft_twister_normal(&leafgen->rng);
    for (int j = 0; j < d; j++) leafgen->deviation[j] = sqrt(pow(j + 1, -1.2));
    for (int c = 0; c < clusters; c++) {
        double centre = weft_twister_normal(&leafgen->rng);
        for (int k = 0; k < clusters; k++)
            leafgen->mean[c * clusters + k] = normal(&leafgen->rng, centre, 1);
    }
    return leafgen;
}

/* One of equally likely clusters, as numpy.random.choice finds it: the sums of their
 * probabilities, divided by the last one. */
static int draw_cluster(weft_leafgen *leafgen)
{
    double r = weft_twister_unit(&leafgen->rng), sum = 0, all = 0;
    for (int c = 0; c < leafgen->clusters; c++) all += 1.0 / leafgen->clusters;
    int c = 0;
    for (; c < leafgen->clusters - 1; c++) {
        sum += 1.0 / leafgen->clusters;
        if (r < sum / all) break;
    }
    return c;
}

static void draw_x(weft_leafgen *leafgen, int64_t n)
{
    double centre = weft_twister_normal(&leafgen->rng);
    for (int j = 0; j < leafgen->d; j++) leafgen->v[j] = normal(&leafgen->rng, centre, 1);
    for (int64_t i = 0; i < n * leafgen->d; i++)
        leafgen->x[i] = normal(&leafgen->rng, leafgen->v[i % leafgen->d],
                               leafgen->deviation[i % leafgen->d]);
}

/* The linear model of a client of this cluster: W = Q u. */
static void draw_model(weft_leafgen *leafgen, int cluster)
{
    int k = leafgen->clusters;
    for (int i = 0; i < k; i++)
        leafgen->u[i] = normal(&leafgen->rng, leafgen->mean[cluster * k + i], NOISE);
    for (int64_t i = 0; i < (int64_t)(leafgen->d + 1) * leafgen->classes; i++) {
        leafgen->w[i] = 0;
        for (int j = 0; j < k; j++) leafgen->w[i] += leafgen->q[i * k + j] * leafgen->u[j];
    }
}

static void draw_logits(weft_leafgen *leafgen, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < leafgen->classes; c++) {
            double sum = leafgen->w[c];
            for (int j = 0; j < leafgen->d; j++)
                sum += leafgen->x[i * leafgen->d + j] *
                       leafgen->w[(int64_t)(j + 1) * leafgen->classes + c];
            leafgen->logit[i * leafgen->classes + c] =
                sum + normal(&leafgen->rng, 0, NOISE);
        }
}

/* Subtracts log sum_i exp(logit[i][c]). */
static void level(weft_leafgen *leafgen, int64_t n, int c)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, leafgen->logit[i * leafgen->classes + c]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(leafgen->logit[i * leafgen->classes + c] - most);
    for (int64_t i = 0; i < n; i++)
        leafgen->logit[i * leafgen->classes + c] -= most + log(sum);
}

void weft_leafgen_client(weft_leafgen *leafgen, int64_t n, double *x, int32_t *label)
{
    weft_check(n <= MOST, "a client of %lld samples", (long long)n);
    int cluster = draw_cluster(leafgen);
    draw_x(leafgen, n);
    draw_model(leafgen, cluster);
    draw_logits(leafgen, n);
    for (int c = 0; c < leafgen->classes; c++) level(leafgen, n, c);
    memcpy(x, leafgen->x, (size_t)(n * leafgen->d) * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        const double *row = leafgen->logit + i * leafgen->classes;
        label[i] = 0;
        for (int c = 1; c < leafgen->classes; c++)
            if (row[c] > row[label[i]]) label[i] = c;
    }
}
