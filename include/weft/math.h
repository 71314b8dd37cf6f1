/* Numerical kernels, chosen for the CPU at run time; all are local. No MPI. Vectors and
 * matrices are flat and row-major, with their shapes in comments. */
#ifndef WEFT_MATH_H
#define WEFT_MATH_H

#include "weft/base.h"

/* Rows are distributed over ranks and summed in fixed blocks of this many, for any number
 * of ranks. */
#define WEFT_BLOCK 128

/* ---- exact sums ---- */

/* Sums that do not depend on the order of their terms: numbers are added as 64-bit integers
 * in units of 2^-scale. `bound` must be at least the sum of all magnitudes over all ranks.
 */
int weft_fix_scale(double bound);      /* 62 - ceil(log2 bound); bound 0: 0 */
int64_t weft_fix(double x, int scale); /* nearest integer to x 2^scale */
double weft_unfix(int64_t x, int scale);

/* The same for long vectors, faster: sum[i] += nearest integer to x[i] 2^scale, which is
 * exact as long as `bound` is at least the sum of magnitudes. (int64_t)sum[i] is then the
 * integer to be summed over ranks. */
int weft_exact_scale(double bound); /* 51 - ceil(log2 bound) */
void weft_exact_add(int64_t n, const real *x, int scale, double *sum);

/* ---- eigenvalues ---- */

/* All eigenvalues value[n], increasing, of the symmetric matrix a[n][n], of which the lower
 * triangle is read; row i of a becomes the eigenvector of value[i], of length 1. Cost
 * about 9 n^3 flops. */
void weft_eigen(int n, double *a, double *value, weft_arena *tmp);
double weft_eigen_bytes(int n); /* bytes of scratch that weft_eigen takes */

/* ---- the machine ---- */

/* "avx512", "avx2" or "plain": the kernels in use, the widest that this CPU supports, or
 * those that WEFT_KERNEL in the environment names. All give the same bits. */
const char *weft_cpu_kernel(void);
double weft_cpu_sgemm(double seconds);  /* measured GFLOP/s of OpenBLAS sgemm, 1 thread */
double weft_cpu_peak(double seconds);   /* measured GFLOP/s of the kernel in registers */
double weft_cpu_stream(double seconds); /* measured GB/s of a read of 64 MB */

/* ---- dense kernels for random features ---- */

/* Largest magnitude of the integers of a packed matrix: four sums of two products with
 * bytes then fit in 16 bits, which makes the product three times as fast as one of
 * floats. */
#define WEFT_S8_MAX 16

/* Matrix b[k][m] of small integers packed for weft_u8s8, and a first term of each column.
 */
typedef struct weft_s8 {
    int k, m;
    const int8_t *packed; /* the kernel's own layout */
    const int32_t *start; /* [m] */
} weft_s8;
size_t weft_s8_bytes(int k, int m);
/* Packs b, given by columns b[m][ldb], values up to WEFT_S8_MAX either sign, with start[m]
 * (NULL: zeros) into mem (weft_s8_bytes(k, m), 64-byte aligned), which p then borrows. */
void weft_s8_pack(weft_s8 *p, int k, int m, const int8_t *b, size_t ldb,
                  const int32_t *start, void *mem);
/* c[n][ldc] = start + a[n][k] b[k][m], exact in 32 bits for k <= 500000. a unsigned bytes,
 * row stride lda. Cost 2 n k m integer operations. */
void weft_u8s8(int n, const uint8_t *a, int lda, const weft_s8 *b, int32_t *c, int ldc);

/* A random feature is stored as one byte: q = 128 + round(127 cos t), cos t ~ (q -
 * 128)/127. q[i] for t = 2 pi (scale x[i] + offset[i]), i < n: in turns. Error of cos below
 * 2e-6 before rounding where |scale x| < 1e4; the products are reduced with the bits of a
 * double. */
void weft_cos_u8_i32(int n, const int32_t *x, double scale, const float *offset,
                     uint8_t *q);
void weft_cos_u8_f32(int n, const float *x, double scale, const float *offset, uint8_t *q);

/* Narrow products with byte features q[n][ldq] (d columns), c classes:
 *   times: z[j][i] = sum_k (q[i][k] - 128) w[j][k],      w[c][ldw], z[c][ldz]
 *   trans: g[j][k] += sum_i (q[i][k] - 128) z[j][i],     g[c][ldg]
 * In times, the result for a row depends only on that row and w; trans adds in the order of
 * rows. */
void weft_u8_times(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                   size_t ldw, real *z, size_t ldz);
void weft_u8_trans(int n, int d, const uint8_t *q, size_t ldq, int c, const real *z,
                   size_t ldz, real *g, size_t ldg);
/* Gram matrices of bytes less 128, exact in 32 bits for n <= 130000:
 *   along 0: g[m][ldg] += a^T b, a[n][lda] (m columns), b[n][ldb] (p columns)
 *   along 1: g[m][ldg] += a b^T, a[m][lda], b[p][ldb] (n columns both)
 * Cost 2 n m p integer operations. */
void weft_u8_gram(int n, int along, int m, const uint8_t *a, size_t lda, int p,
                  const uint8_t *b, size_t ldb, int32_t *g, size_t ldg, weft_arena *tmp);

/* x[n] <- H x, the Walsh-Hadamard transform, not normalised; n a power of two. */
void weft_fwht(int n, float *x);

/* Sixteen rows at once: sum[16] += the sum of value[e] x[at[e]][16] over e < n, x[][16]. */
void weft_gather16(int n, const uint32_t *at, const float *value, const float *x,
                   float *sum);

/* sum[d] += the sum of value[e] x[at[e]][ldx] over e < n, each number in the order of e,
 * with one rounding per term. Cost 2 n d. */
void weft_add_rows(int n, const uint32_t *at, const real *value, int d, const real *x,
                   size_t ldx, real *sum);

/* ---- products with packed weights ---- */

/* Matrix b[k][m] packed in panels of columns for weft_packed_times. */
typedef struct weft_packed {
    int k, m;
    const real *packed; /* the kernel's own layout */
} weft_packed;
size_t weft_packed_bytes(int k, int m);
/* Packs b[k][ldb] (trans 0), or the transpose of b[m][ldb] (trans 1), into mem
 * (weft_packed_bytes(k, m), 64-byte aligned), which p then borrows. */
void weft_packed_pack(weft_packed *packed, int k, int m, const real *b, size_t ldb,
                      int trans, void *mem);
/* Packs the transpose of m rows of k numbers, row j at row[j] + at, into mem as above. */
void weft_packed_rows(weft_packed *packed, int k, int m, const real *const *row, int64_t at,
                      void *mem);
/* c[n][ldc] = a[n][lda] b (add 0), or += (add 1). A row of c depends only on that row of a
 * and on b. Cost 2 n k m. */
void weft_packed_times(int n, const real *a, size_t lda, const weft_packed *packed, int add,
                       real *c, size_t ldc);
/* Matrix b[k][m] for weft_deep_times, packed in pieces of WEFT_DEEP rows, so that a column
 * of a piece stays in cache: for k much larger than WEFT_DEEP. */
enum { WEFT_DEEP = 512, WEFT_WHOLE = 32 };
/* Packs columns [j, j + n) of it, given as b[n][ldb] (k numbers each), into mem
 * (weft_packed_bytes(k, m), 64-byte aligned). j a multiple of WEFT_WHOLE, n WEFT_WHOLE or
 * what is left. */
void weft_deep_pack(int k, int m, int j, int n, const real *b, size_t ldb, void *mem);
/* c[n][ldc] = a[n][lda] b. An element of c depends only on its row of a and its column of
 * b: sums over pieces of k, then their sum. Fastest where lda is an odd multiple of 64
 * bytes. Cost 2 n k m. */
void weft_deep_times(int n, const real *a, size_t lda, int k, int m, const void *mem,
                     real *c, size_t ldc);
/* g[k][ldg] = 0 + a^T b (add 0), or += (add 1), a[n][lda] (k columns), b[n][ldb] (m
 * columns), in fixed blocks of rows. n > 0. Cost 2 n k m. */
void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                int add, real *g, size_t ldg, weft_arena *tmp);
/* The same, row i of b at b[i]; with few columns of a they are read where they are. */
void weft_outer_rows(int n, int k, const real *a, size_t lda, int m, const real *const *b,
                     int add, real *g, size_t ldg, weft_arena *tmp);

/* ---- cells of an LSTM ---- */

/* n samples at one step of time, h units. */
typedef struct weft_cells {
    int n, h;
    real *z; /* [n][ldz] gates, blocks of h columns: input, forget, update, output */
    size_t ldz;
    const real *before; /* [n][ld] cells of the step before; NULL: zeros */
    real *c, *y;        /* [n][ld] cells and outputs */
    size_t ld;
} weft_cells;
/* To row i of z adds plus[i][4h], then
 *     z <- sigmoid, sigmoid, tanh, sigmoid of its blocks i, f, g, o;
 *     c = f before + i g;  y = o tanh(c).
 * Relative error of a function below 4e-7. Hochreiter, Schmidhuber 1997; Gers et al. 2000.
 */
void weft_cells_forward(const weft_cells *cells, const real *const *plus);
/* Backward pass. dy[n][ld] is the gradient with respect to y; dc[n][ld] that with respect
 * to c, on return that with respect to `before`. z is as weft_cells_forward left it, on
 * return the gradient with respect to the sums before sigmoid and tanh. Row i of it is also
 * added to into[i][4h]. y is not read. */
void weft_cells_backward(const weft_cells *cells, const real *dy, real *dc,
                         real *const *into);

/* ---- sparse rows ---- */

/* Sparse rows: entry e of row i, first[i] <= e < first[i+1], is value[e] at column[e]. */
typedef struct weft_sparse {
    int64_t n;            /* rows */
    const int64_t *first; /* [n+1] */
    const uint32_t *column;
    const float *value;
} weft_sparse;
/* Dot product of row i with w, in entry order (four partial sums). */
double weft_sparse_dot(const weft_sparse *sparse, int64_t i, const real *w);
/* w += scale * row i. */
void weft_sparse_add(const weft_sparse *sparse, int64_t i, real scale, real *w);
/* The same for vectors side by side, w[columns][wide], wide = 1 or a multiple of 4 up to
 * WEFT_SPARSE_WIDE: z[wide] <- dot products, each in entry order (wide = 1: as
 * weft_sparse_dot); w += scale[wide] * row i. */
enum { WEFT_SPARSE_WIDE = 32 };
void weft_sparse_dots(const weft_sparse *sparse, int64_t i, int wide, const real *w,
                      double *z);
void weft_sparse_adds(const weft_sparse *sparse, int64_t i, int wide, const real *scale,
                      real *w);
/* Prefetches the beginning of row i; the hardware prefetches the rest.
 */
void weft_sparse_fetch(const weft_sparse *sparse, int64_t i);
/* |row i|^2. */
double weft_sparse_norm2(const weft_sparse *sparse, int64_t i);
/* Largest magnitude of any value. */
double weft_sparse_largest(const weft_sparse *sparse);

/* ---- logistic regression, several outputs side by side ---- */

/* A step of dual coordinate ascent for one row in n outputs, whose dual variables a[n] are
 * 0..c:
 *     a_k <- argmin over t of 1/2 q (t - a_k)^2 + m_k (t - a_k) + conj(t),
 *     conj(t) = t log(t/c) + (c - t) log(1 - t/c),
 * to 1e-7 of t and c - t, or 1e-15 c, within 1e-14 c .. (1 - 1e-14) c.
 * n      a multiple of 8; each output has its own result, whatever the others are
 * q      at least 0, the row's squared length
 * m      [n] margins; the result where one is NaN is undefined
 * share  [n] out: half of (a_k - p_k) (log(a_k / (c - a_k)) + m_k), p_k = c / (1 +
 * exp(m_k)), for the a_k given, which is the row's part of the duality gap, c log(1 +
 * exp(-m_k))
 *        + conj(a_k) + a_k m_k, up to terms of third order in a_k - p_k; c where a_k = 0
 * Same bits on all CPUs. */
void weft_logistic_best(int n, double c, double q, const double *m, double *a,
                        double *share);
/* conj[n] <- conj(a_k), with a_k cut to 1e-14 c .. (1 - 1e-14) c, and loss[n] <- c log(1 +
 * exp(-m_k)); errors are below 1e-15 of c (1 + |m_k|). n is a multiple of 8. Same bits on
 * all CPUs. */
void weft_logistic_terms(int n, double c, const double *m, const double *a, double *conj,
                         double *loss);

/* Softmax of z[c]: e[c] = exp(z - top), *sum their sum in the order of z; returns log *sum.
 * top is the largest of z; e may be z, or NULL. NaN in z is NaN in the sum; what is below
 * top by more than 700 counts as 700. Errors below 1e-15. Same bits on all CPUs and with
 * all libraries. */
double weft_softmax_terms(int c, const real *z, double top, real *e, double *sum);

/* ---- gradient descent ---- */

/* Gradient descent on one device, as in torch.optim.SGD (no dampening, no Nesterov). */
typedef struct weft_sgd {
    double lr;
    double momentum;     /* 0: none */
    double weight_decay; /* times w, added to the gradient (coupled) */
    double mu;           /* strength of the proximal term towards the anchor (FedProx); 0:
                            none */
    double clip;         /* largest norm of the gradient; 0: no clipping */
} weft_sgd;

/* One step on n weights, in this order:
 *     g <- g + mu (w - anchor),
 *     g <- g min(1, clip / (|g| + 1e-6))     where clip > 0 (clip_grad_norm_ of PyTorch),
 *     g <- g + weight_decay w,
 *     velocity <- g on the first step, later momentum velocity + g,
 *     w <- w - lr velocity.
 * first 1: the first step since w was received; the old contents of velocity are not read
 * g         [n] gradient in; undefined afterwards
 * velocity  [n] in, out; NULL allowed where momentum is 0
 * anchor    [n] weights received; NULL allowed where mu is 0
 * Returns 1 if all numbers of g are finite, with clip their norm, too; 0: the device has
 * diverged and w must not be used. The result is bitwise equal on all CPUs. Cost: one
 * pass over the vectors, two with clip. Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith,
 * "Federated Optimization in Heterogeneous Networks", MLSys 2020. */
int weft_sgd_step(const weft_sgd *sgd, int64_t n, int first, real *w, real *g,
                  real *velocity, const real *anchor);

typedef enum weft_descent_optimizer {
    WEFT_DESCENT_SGD,
    WEFT_DESCENT_ADAM,
    WEFT_DESCENT_ADADELTA
} weft_descent_optimizer;

typedef enum weft_rate {
    WEFT_RATE_CONSTANT,
    WEFT_RATE_EXPONENTIAL,
    WEFT_RATE_INVERSE,
    WEFT_RATE_LINEAR,
    WEFT_RATE_COSINE,
    WEFT_RATE_STEP
} weft_rate;

/* Gradient descent without a federation, as in torch.optim.SGD, Adam and Adadelta. */
typedef struct weft_descent {
    int optimizer;       /* weft_descent_optimizer */
    double lr;           /* at first; > 0 */
    double momentum;     /* SGD; 0: none */
    double weight_decay; /* times w, added to the gradient (coupled) */
    double beta1, beta2; /* Adam: decay of mean and square, below 1 */
    double rho;          /* Adadelta: decay of squares, below 1 */
    double epsilon;      /* added to the root (Adam) or under it (Adadelta); > 0 */
    int schedule;        /* weft_rate */
    double decay;        /* decay of the rate per epoch: EXPONENTIAL, INVERSE */
    double horizon; /* epochs until the rate is 0: LINEAR, COSINE; of a training: STEP */
    int reductions; /* number of times that the rate is reduced: STEP */
    double factor;  /* by which it is multiplied then: STEP */
} weft_descent;

/* Vectors of n that an optimizer keeps between steps: 1 or 2. */
int weft_descent_slots(const weft_descent *descent);
/* The learning rate after a number of epochs, which may be fractional:
 *     lr,  lr (1 - decay)^epoch,  lr / (1 + decay epoch),
 *     lr (1 - epoch / horizon),  lr (1 + cos(pi epoch / horizon)) / 2,
 *     lr factor^j with j = floor((reductions + 1) epoch / horizon), at most reductions. */
double weft_descent_rate(const weft_descent *descent, double epoch);
/* What a step has in common for all weights. */
typedef struct weft_pace {
    int64_t step; /* 0, 1 ... */
    double lr;    /* the rate of the step */
    real rate;    /* Adam: lr / (1 - beta1^t), t = step + 1 */
    real unbias;  /* Adam: 1 / sqrt(1 - beta2^t) */
} weft_pace;
/* Of step 0, 1 ... after a number of epochs. */
weft_pace weft_descent_pace(const weft_descent *descent, double epoch, int64_t step);
/* A step of n weights, with x = g + weight_decay w:
 *     SGD:      v <- momentum v + x,  w <- w - lr v,
 *     Adam:     m <- beta1 m + (1 - beta1) x,  v <- beta2 v + (1 - beta2) x^2,
 *               w <- w - lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon),
 *     Adadelta: v <- rho v + (1 - rho) x^2,  c = sqrt((u + epsilon) / (v + epsilon)) x,
 *               u <- rho u + (1 - rho) c^2,  w <- w - lr c,
 * t = step + 1. g is undefined afterwards.
 * slots     [weft_descent_slots(d)][n] in, out, `apart` numbers from one row to the next;
 *           zeros before step 0
 * The result is the same on all CPUs. Kingma, Ba, "Adam: a method for stochastic
 * optimization", ICLR 2015; Zeiler, "ADADELTA: an adaptive learning rate method", 2012. */
void weft_descent_step(const weft_descent *descent, const weft_pace *pace, int64_t n,
                       real *w, real *g, real *slots, int64_t apart);
/* The steps pace[steps] of n finite weights whose gradient is 0 in all of them, with the
 * same bits as by weft_descent_step: what weights that few steps need, such as vectors of
 * words, are owed when they are read again. A piece of the weights takes all its steps in
 * cache. Without weight decay, SGD without momentum has nothing to do, Adadelta only
 * multiplies v and u, as the others do with what they remember once its steps are too short
 * to change a weight; numbers below the smallest normal one take no longer. Cost O(steps
 * n). */
void weft_descent_idle(const weft_descent *descent, const weft_pace *pace, int64_t steps,
                       int64_t n, real *w, real *slots, int64_t apart);

/* ---- several small models at once ---- */

/* Models of equal shape, one in each of the weft_lanes() lanes of a vector register: arrays
 * are [...][lanes]. Each lane has the same bits as the functions above for a single
 * model. */
int weft_lanes(void);

enum { WEFT_MAX_LANES = 64 / sizeof(real) };

/* Fills x[d][lanes] from rows of d numbers, one for each lane; NULL: zeros. */
void weft_lanes_load(int64_t d, const float *const *row, real *x);

/* A step of weft_sgd_step with s[lanes] on w[n][lanes] where live[lane] is true; the other
 * lanes of w stay. first 1: the first step of all lanes, from the weights `anchor`; w is
 * only written. sound[lane] is set to 0 where the step returns 0. */
typedef struct weft_lanes_move {
    const weft_sgd *s;
    const int *live;
    int first;
    real *w, *velocity;
    const real *anchor;
    int *sound;
} weft_lanes_move;
/* Makes the step by g[n][lanes]. */
void weft_lanes_step(const weft_lanes_move *move, int64_t n, real *g);

/* In every lane c[i][j] = (add 1: +=; -1: = 0 +) sum over e < k of a[i][e] b[j][e], in the
 * order of e, from zero, as weft_packed_times and weft_outer sum: a[i][e] is the vector of
 * lanes at i a_row + e a_k, b[j][e] that at j b_column + e b_k, c[i][j] that at i ldc + j.
 */
typedef struct weft_lanes_product {
    int n, m, k; /* 0 <= i < n, 0 <= j < m */
    const real *a, *b;
    size_t a_row, a_k, b_column, b_k; /* in vectors */
    int add;
    real *c;
    size_t ldc;
    const weft_lanes_move *move; /* not NULL: c is a part of move->w, which makes the step
                                    by the sums, a part of its gradient; add is -1, and no
                                    live lane clips */
} weft_lanes_product;
void weft_lanes_times(const weft_lanes_product *product);

/* within[lane]: 1 if all numbers of w - from, [n][lanes], are finite and within
 * +-most[lane]. */
void weft_lanes_within(int64_t n, const real *w, const real *from, const double *most,
                       int *within);
/* sum[n] += weft_exact_add of (w - from) weight[lane] for each lane where use[lane]. */
void weft_lanes_add(int64_t n, const real *w, const real *from, const real *weight,
                    const int *use, int scale, double *sum);
/* Softmax of z[c][lanes], one sample a lane: loss[lane] = -log softmax(z)[label[lane]];
 * wrong[lane]: 1 if another class has the largest z, the first of equal ones, or the loss
 * is NaN; dz = share[lane] (softmax(z) - onehot(label)), 0 where share is 0, unless NULL;
 * dz is not z. The bits are those of weft_softmax_terms. */
void weft_lanes_softmax(int c, const real *z, const int32_t *label, const double *share,
                        real *dz, double *loss, int *wrong);

/* ---- server steps ---- */

typedef enum weft_optimizer { WEFT_SGD, WEFT_ADAM, WEFT_YOGI } weft_optimizer;

/* An optimizer on the server, with -delta as the gradient. */
typedef struct weft_server {
    int optimizer;       /* weft_optimizer */
    double lr;           /* of round 0 */
    double momentum;     /* WEFT_SGD */
    double decay;        /* lr is multiplied by 1 - decay after every round */
    double beta1, beta2; /* WEFT_ADAM, WEFT_YOGI: decay of mean and square */
    double tau;          /* WEFT_ADAM, WEFT_YOGI: adaptivity, added to the root; > 0 */
} weft_server;

/* Vectors of n that an optimizer keeps between rounds: 0, 1 or 2. */
int weft_server_slots(const weft_server *server);

/* Round 0, 1 ... of n weights; delta[n] is the weighted mean of (local - server's) weights.
 *     SGD:  m <- momentum m + delta,              w <- w + lr_t m,
 *     Adam: m <- beta1 m + (1 - beta1) delta,  v <- beta2 v + (1 - beta2) delta^2,
 *     Yogi: m likewise,  v <- v - (1 - beta2) delta^2 sign(v - delta^2),
 *           both w <- w + lr_t m / (sqrt v + tau),
 * lr_t = lr (1 - decay)^round. m starts at 0 and v at tau^2; round 0 sets them, so that
 * slots need not be initialised. As in the paper's algorithm there is no bias correction;
 * none is needed, because v starts at tau^2, not at 0.
 * slots     [weft_server_slots(s)][n] in, out
 * Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar, McMahan, "Adaptive Federated
 * Optimization", ICLR 2021, algorithm 2. */
void weft_server_step(const weft_server *server, int64_t round, int64_t n, real *w,
                      const real *delta, real *slots);

/* Index of the first of x[n] that is not finite, or n. Cost O(n). */
int64_t weft_not_finite(const float *x, int64_t n);

/* t with P(|T| < t) = 0.95, Student's distribution of `degrees` >= 1. Cost O(degrees). */
double weft_student(int degrees);

#endif
