/* Feature maps: turn rows of data, each by its own configuration, into a matrix of features
 * that linear models are fitted to. Functions are local unless said to be collective. */
#ifndef LIBWEFT_FEATURE_FEATURE_H
#define LIBWEFT_FEATURE_FEATURE_H

#include "weft/base/conf.h"
#include "weft/data/sample.h"
#include "weft/math/linear.h"
#include "weft/par/team.h"

/* A matrix F of features whose rows are distributed over the team. It is used only through
 * products, so that it may be dense, sparse, or recomputed for each product. Vectors over
 * columns are class-major, w[c][d]; vectors over local rows likewise, z[c][n]. Sums over
 * rows are exact, and therefore bitwise equal on any number of ranks. */
typedef struct weft_matrix {
    int64_t n, total; /* local rows; rows over all ranks */
    int64_t d;        /* columns */
    weft_team *team;
    /* z = F w. Collective: ranks may share the work. */
    void (*times)(const struct weft_matrix *matrix, int c, const real *w, real *z);
    /* g = F^T z over all ranks' rows, on all ranks. Collective. */
    void (*trans)(const struct weft_matrix *matrix, int c, const real *z, double *g);
    /* g = F^T (h * (F w)) over all ranks' rows in one pass over F, h[c][n] weights of rows
     * or NULL for ones; on all ranks, or, own 1, on each rank at least its own columns of
     * g, those of weft_deal(d, rank, size), and the others are undefined. Collective. */
    void (*normal)(const struct weft_matrix *matrix, int c, const real *w, const real *h,
                   int own, double *g);
    /* sum[d] over all rows of F. Collective. */
    void (*sums)(const struct weft_matrix *matrix, double *sum);
    /* a[nr][nc] = rows r0 .. r0+nr-1, columns c0 .. c0+nc-1 of F^T F (dual 0) or F F^T
     * (dual 1), exact sums, on every rank. NULL: the feature map does not have it.
     * Collective. */
    void (*gram)(const struct weft_matrix *matrix, int dual, int64_t r0, int64_t nr,
                 int64_t c0, int64_t nc, double *a);
    /* Makes *whole, the same matrix with all rows on rank `owner` and none on the others,
     * for the team `alone` of only this rank. Returns the labels of its rows, given those
     * of the local rows. NULL: rows are not sparse. Collective over team; the result is
     * local and owned by mem. */
    const int32_t *(*gather)(const struct weft_matrix *matrix, const int32_t *label,
                             int owner, weft_team *alone, struct weft_matrix *whole,
                             weft_arena *mem);
    /* Turns fitted weights w[c][d] into what is kept of them, which takes their place in
     * times of matrices of other rows, which have no other products then (NULL). NULL:
     * weights are kept as they are. */
    void (*finish)(const struct weft_matrix *matrix, int c, real *w);
    const weft_sparse *rows; /* the local rows; NULL: they are not sparse */
    const int *group; /* [n] group of each row: rows of different groups share few columns;
                         NULL: one group */
    int ngroup;
    const char *empty; /* why no row of any rank has a feature, so that nothing can be
                          fitted; NULL: some row has one */
    const void *self;  /* private to the feature map */
} weft_matrix;

/* Members normal and sums of a matrix that has times and trans: two passes, and a product
 * with ones. Collective. */
void weft_matrix_normal(const weft_matrix *matrix, int c, const real *w, const real *h,
                        int own, double *g);
void weft_matrix_sums(const weft_matrix *matrix, double *sum);

/* The request for a matrix: the local rows of one part, and the configuration for each. */
typedef struct weft_request {
    weft_part part;
    int64_t n;      /* all local rows of the part */
    const int *arm; /* [n] index into arms; NULL: all by arm 0 */
    int narm;
    const void *const
        *arms;         /* [narm] instances of the feature map, configuration filled in */
    const int64_t *id; /* [narm] index of the configuration in the space (hash seeds) */
    double size;       /* share of the features, 0 < size <= 1 */
    uint64_t seed;     /* of random matrices and hashes, shared by all maps */
} weft_request;

typedef struct weft_feature {
    weft_kind kind;
    /* Called with the fixed options of `self` filled in. Checks that data and options are
     * compatible and computes what all configurations share. `memory`: bytes that this rank
     * may use for features. maps: configurations whose matrices will be made; with 1
     * nothing is kept for others. *data is copied. Collective. ECONF, EDATA, ELIMIT. */
    weft_status (*setup)(void *self, const weft_source *data, double memory, int64_t maps,
                         uint64_t seed, weft_arena *mem);
    int gram;   /* 1: its matrices have Gram matrices */
    int sparse; /* 1: its matrices have rows, and gather */
    /* Number of columns d of the matrices, from the options; may be called before setup. */
    int64_t (*columns)(const void *self, double size);
    /* Number of reals of the statistics that are stored with the weights. */
    int64_t (*nstat)(const void *self);
    /* Makes the matrix. `fit` 1: first computes stat[nstat] from these (training) rows; 0:
     * uses stat. The matrix is owned by tmp. Collective; the number of rows may differ
     * between ranks. */
    void (*matrix)(void *self, const weft_request *request, int fit, real *stat,
                   weft_matrix *matrix, weft_arena *tmp);
    /* How many of these rows are farther outside the range of the training rows that stat
     * is of than a tenth of it, in a column, where features go on growing beyond; far[d],
     * in: 0, out: the farthest in each column, in widths of its range. Counts of ranks are
     * to be added, far is the largest of theirs. NULL: features are bounded, or wanted so.
     */
    int64_t (*beyond)(const void *arm, const weft_rows *rows, const real *stat, double *far,
                      weft_arena *tmp);
    /* Configurations with equal affinity share expensive work if their matrices are made
     * one after the other. */
    int64_t (*affinity)(const void *self, const void *arm);
    /* Estimates the cost of a matrix of `rows` rows with the fraction `size` of the
     * features, for this configuration: operations to make it, bytes of memory, and number
     * of entries (a product with one vector takes 2 operations per entry). */
    void (*estimate)(const void *self, const void *arm, double rows, double size,
                     double *flops, double *bytes, double *entries);
} weft_feature;

#endif
