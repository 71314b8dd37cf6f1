/* Private to rff_*.c: the parts of the random Fourier feature map. */
#ifndef WEFT_RFF_H
#define WEFT_RFF_H

#include "weft/feature.h"

/* The instance: options, which differ from arm to arm, and what all arms share. */
typedef struct rff {
    int kernel, preprocess, projection;
    double gamma;
    int64_t features;
    struct rff_shared *own;
} rff;

enum { RFF_GAUSSIAN, RFF_LAPLACIAN };                        /* kernel */
enum { RFF_NONE, RFF_MINMAX, RFF_L2, RFF_STANDARD };         /* preprocess */
enum { RFF_DENSE, RFF_STRUCTURED };                          /* projection */
enum { RFF_NORMAL, RFF_CAUCHY, RFF_HADAMARD, RFF_FAMILIES }; /* random matrices */
enum { RFF_RAW, RFF_RANGE, RFF_SPREAD, RFF_VIEWS }; /* affine views of the inputs */
enum { RFF_TYPES = RFF_FAMILIES * RFF_VIEWS };      /* type = family * VIEWS + view */

/* The inputs as x' = (x - shift) scale, column by column. Exact: bytes, so many
 * in a row and their scales so alike that the scaled random matrix can be rounded to small
 * integers. */
typedef struct rff_view {
    float *shift, *scale; /* [d] */
    double largest;       /* scale */
    int exact;
} rff_view;

/* Products X P of the first rows of a part, kept from one request to the next: of a row
 * those with the random matrices that it met last, as many as there are slots. */
typedef struct rff_cache {
    int64_t rows, room; /* rows that are kept; columns of a row */
    int slots;          /* a type has slot order[type] % slots */
    uint8_t *type;      /* [rows][slots] of the products */
    int64_t *filled;    /* [rows][slots] columns that are valid */
    void *product;      /* [rows][slots][room] int32_t or float */
} rff_cache;

typedef struct rff_shared {
    const weft_source *data;
    weft_arena *mem;
    uint64_t seed;
    double memory, kept;  /* bytes allowed; held from one request to the next */
    struct block *blocks; /* of random matrices, kept likewise in pool[pool_size] */
    char *pool;
    size_t pool_size, pool_used;
    int64_t columns;        /* features in all */
    int d, padded;          /* inputs; the next power of two */
    float *normal, *cauchy; /* [RFF_LEVELS] quantiles of the magnitudes */
    float *offset;          /* [columns] turns */
    real *fitted, *stat;    /* [4][d] mean, deviation, least, most: of training, in force */
    rff_view view[RFF_VIEWS];
    int types, order[RFF_TYPES]; /* types that were met; 1, 2 ... as they came, 0: not */
    double *length[WEFT_NPART];  /* [n] |x| */
    rff_cache cache[WEFT_NPART];
} rff_shared;

/* The matrix of one request. */
typedef struct rff_matrix {
    rff_shared *own;
    weft_part part;
    int64_t n, d, held; /* rows, columns, rows whose bytes are kept */
    size_t ldq;
    uint8_t *type;          /* [n] of the product */
    double *turns;          /* [n] feature = cos 2 pi (turns product + offset) */
    uint8_t *q;             /* [held][ldq] */
    int64_t blocks, *start; /* [blocks+1] first row of each block */
    int64_t strip;          /* blocks made at a time where bytes are not kept */
    double unit;            /* feature = unit (q - 128) */
} rff_matrix;

/* ---- rff_view.c: statistics and preprocessing ---- */

/* Statistics of the rows of a part, all ranks'. Collective. */
void rff_fit(const rff_shared *own, weft_part part, real *stat, weft_arena *tmp);
/* Puts stat in force: views are made anew and caches dropped if it differs. */
void rff_use(rff_shared *own, const real *stat);
/* |x| of all local rows of all parts, into length. */
void rff_lengths(rff_shared *own);

/* ---- rff_random.c: random matrices, keyed by (seed, feature, input) ---- */

enum { RFF_LEVELS = 1 << 15 };
void rff_tables(rff_shared *own);
/* Column j of the normal or Cauchy matrix: z[d]. */
void rff_column(const rff_shared *own, int family, int64_t j, float *z);
/* Signs of block j / padded of the structured matrix, sign[3][padded], and the lengths of
 * its rows over what a Hadamard product leaves, radius[padded]. */
void rff_signs(const rff_shared *own, int64_t j, float *sign, float *radius);

/* ---- rff_project.c: products with random matrices ---- */

/* 1 if products of this type are int32_t, 0 float. */
int rff_is_int(const rff_shared *own, int type);
/* Turns of a feature of this arm and type for a product of one. */
double rff_turns(const rff_shared *own, const rff *arm, int type);
/* Makes bytes of rows [i0, i1) into q[i1-i0][ldq]. */
void rff_make(const rff_matrix *m, int64_t i0, int64_t i1, uint8_t *q);

/* ---- rff_cache.c: products that are kept ---- */

/* Takes memory for blocks of random matrices, for the products of as many rows as fit
 * beside the features and, where all do, for those with as many random matrices as fit. The
 * pages are touched when first used. */
void rff_caches(rff_shared *own);
/* What is kept no longer holds. */
void rff_forget(rff_shared *own);
/* The products of a row from column j0 on; NULL: they are not to be kept. */
void *rff_place(const rff_matrix *m, int64_t row, int64_t j0);
/* Whether all products that a row needs are there. */
int rff_is_there(const rff_matrix *m, int64_t row);
/* The products of rows [i0, i1) were made. */
void rff_note_made(const rff_matrix *m, int64_t i0, int64_t i1);

/* ---- rff_matrix.c: products with the features ---- */

void rff_matrix_vtable(weft_matrix *f);

#endif
