/* Private to rff_*.c: the parts of the random Fourier feature map. */
#ifndef WEFT_RFF_H
#define WEFT_RFF_H

#include "weft/feature/feature.h"
#include "weft/math/linear.h"

/* The instance: options, which differ between arms, and the state that all arms share. */
struct rff {
    int kernel, preprocess, projection;
    double gamma;
    int64_t features;
    struct rff_shared *shared;
};

enum { RFF_GAUSSIAN, RFF_LAPLACIAN };                        /* kernel */
enum { RFF_NONE, RFF_MINMAX, RFF_L2, RFF_STANDARD };         /* preprocess */
enum { RFF_DENSE, RFF_STRUCTURED };                          /* projection */
enum { RFF_NORMAL, RFF_CAUCHY, RFF_HADAMARD, RFF_FAMILIES }; /* random matrices */
/* Affine views of the inputs: as they are, scaled by range, by mean and deviation, shifted
 * where they are far from 0. */
enum { RFF_RAW, RFF_RANGE, RFF_DEVIATION, RFF_SHIFTED, RFF_VIEWS };
enum { RFF_TYPES = RFF_FAMILIES * RFF_VIEWS }; /* type = family * VIEWS + view */

/* The inputs as x' = (x - shift) scale, column by column. exact: the inputs are bytes, and
 * columns are so many and their scales so similar that the scaled random matrix can be
 * rounded to small integers. */
typedef struct rff_view {
    float *shift, *scale; /* [d] */
    double largest;       /* scale */
    double reach;         /* largest |x'| of the training rows */
    int exact;
} rff_view;

/* Products X P of the first rows of a part, kept between requests: for each row the
 * products with the random matrices used last, as many as there are slots. */
typedef struct rff_cache {
    int64_t rows, room; /* rows that are cached; columns of a row */
    int slots;          /* a type has slot order[type] % slots */
    uint8_t *type;      /* [rows][slots] of the products */
    int64_t *filled;    /* [rows][slots] columns that are valid */
    void *product;      /* [rows][slots][room] int32_t or float */
} rff_cache;

typedef struct rff_shared {
    const weft_source *data;
    weft_arena *mem;
    uint64_t seed;
    double memory, kept;      /* bytes allowed; bytes kept between requests */
    struct rff_block *blocks; /* of random matrices, kept in pool[pool_size]; the same on
                                 all ranks */
    char *pool;
    size_t pool_size, pool_used;
    int64_t columns;        /* features in all */
    int d, padded;          /* inputs; the next power of two */
    float *normal, *cauchy; /* [RFF_LEVELS] quantiles of the magnitudes */
    float *offset;          /* [columns] in turns (units of 2 pi) */
    real *fitted, *stat;    /* [4][d] mean, deviation, min, max: of the training rows; those
                               in use */
    rff_view view[RFF_VIEWS];
    int far, warned; /* 1: columns are far from 0; that products are imprecise was told */
    int types, order[RFF_TYPES]; /* number of types used so far; order of first use from 1,
                                    0: not used */
    double *length[WEFT_NPART];  /* [n] |x| */
    rff_cache cache[WEFT_NPART];
} rff_shared;

/* The matrix of one request. */
typedef struct rff_matrix {
    rff_shared *shared;
    weft_part part;
    int64_t n, d, held; /* rows, columns, rows whose bytes are stored */
    size_t ldq;
    uint8_t *type;  /* [n] of the product */
    double *turns;  /* [n] feature = cos 2 pi (turns product + offset) */
    uint8_t *q;     /* [held][ldq] */
    int64_t blocks; /* of rows */
    int64_t strip;  /* blocks made at a time where bytes are not stored */
    double unit;    /* feature = unit (q - 128) */
} rff_matrix;

/* The first row of block b; all rows for b = blocks. */
static inline int64_t rff_start(const rff_matrix *matrix, int64_t b)
{
    return b * WEFT_BLOCK < matrix->n ? b * WEFT_BLOCK : matrix->n;
}

/* ---- rff_view.c: statistics and preprocessing ---- */

/* Statistics of the rows of a part, all ranks'. Collective. */
void rff_fit(const rff_shared *shared, weft_part part, real *stat, weft_arena *tmp);
/* Uses these statistics from now on; if they differ, recomputes the views and clears the
 * caches. */
void rff_set_stat(rff_shared *shared, const real *stat);
/* |x| of all local rows of all parts, into length. */
void rff_lengths(rff_shared *shared);

/* ---- rff_block.c: random matrices, keyed by (seed, feature, input), and their blocks ----
 */

enum { RFF_LEVELS = 1 << 15 };
void rff_tables(rff_shared *shared);
/* Column j of the normal or Cauchy matrix: z[d]. */
void rff_column(const rff_shared *shared, int family, int64_t j, float *z);
/* Features [j0, j0 + columns) of the random matrix of one type. */
typedef struct rff_block {
    int type, columns;
    int64_t j0;
    weft_s8 packed;
    int64_t *first;  /* [columns+1] the tail of a column: entries from first[j] on */
    uint32_t *input; /* of the tail */
    float *value;
    real *dense;            /* [d][columns], packed */
    float *sign, *radius;   /* [3][padded], [padded] */
    struct rff_block *next; /* list of the blocks that are kept */
} rff_block;

/* RFF_NORMAL, RFF_CAUCHY or RFF_HADAMARD; the view, owned by shared. */
int rff_family(int type);
const rff_view *rff_view_of(const rff_shared *shared, int type);
/* 1 if the matrix of this type is of integers. */
int rff_is_exact(const rff_shared *shared, int type);
/* 1 if products of this type are int32_t, 0 float. */
int rff_is_int(const rff_shared *shared, int type);
/* Columns of the block of d features that begins at j0. */
int rff_block_columns(const rff_shared *shared, int type, int64_t j0, int64_t d);
/* First column of such a block that rank r of `size` generates for all; r = size: the
 * number of columns. */
int rff_share_from(int columns, int r, int size);
/* A block that is kept, or else is generated now, in tmp. */
const rff_block *rff_block_at(rff_shared *shared, int type, int64_t j0, int columns,
                              weft_arena *tmp);
/* Generates d features of the types with need[RFF_TYPES] > 0 on any rank, as far as the
 * pool has room on all; each rank generates a share and gets the others'. Collective. */
void rff_blocks_keep(rff_shared *shared, const double *need, int64_t d);
/* Argument of the cosine, in turns (units of 2 pi), for a product of 1 under this arm and
 * type. */
double rff_turns(const rff_shared *shared, const struct rff *arm, int type);

/* ---- rff_project.c: products with random matrices, which are cached ---- */

/* Makes bytes of rows [i0, i1) into q[i1-i0][ldq]. */
void rff_make_bytes(const rff_matrix *matrix, int64_t i0, int64_t i1, uint8_t *q);

/* Reserves memory for blocks of random matrices and, if `products`, for the products of as
 * many rows as fit beside the features; where all rows fit, for products with as many
 * random matrices as fit. Pages are touched when first used. */
void rff_cache_setup(rff_shared *shared, int products);
/* Drops all cached products and blocks. */
void rff_cache_clear(rff_shared *shared);
/* 1 if all products that a row needs are cached. */
int rff_is_cached(const rff_matrix *matrix, int64_t row);
/* Records that the products of rows [i0, i1) have been computed. */
void rff_cache_set_filled(const rff_matrix *matrix, int64_t i0, int64_t i1);

/* ---- rff_matrix.c: products with the features ---- */

/* Sets the products of f: times, trans, normal, sums, gram; matrix->self is an rff_matrix.
 */
void rff_matrix_vtable(weft_matrix *matrix);

#endif
