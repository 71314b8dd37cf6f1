/* Optimizers on flat vectors: of clients, of many side by side, of batches, of linear
 * models, of the server. */
#ifndef LIBWEFT_MATH_OPTIM_H
#define LIBWEFT_MATH_OPTIM_H

#include "weft/base/base.h"
#include "weft/base/conf.h"

#include <stddef.h>
#include <stdint.h>

/* ---- optim ---- */

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

/* ---- lanes ---- */

/* Models of equal shape, one in each of the weft_lanes() lanes of a vector register: arrays
 * are [...][lanes]. Each lane has the same bits as the functions above for a single
 * model. */
int weft_lanes(void);

enum { WEFT_MAX_LANES = 64 / sizeof(real) };

/* Fills x[d][lanes] from rows of d numbers, one for each lane; NULL: zeros. */
void weft_lanes_load(int64_t d, const float *const *row, real *x);
/* The same from rows of weights, none of which is NULL; and back. */
void weft_lanes_gather(int64_t n, const real *const *row, real *x);
void weft_lanes_scatter(int64_t n, const real *x, real *const *row);

/* A step of weft_sgd_step with s[lanes] on w[n][lanes] where live[lane] is true, by the
 * gradient plus `drift`; the other lanes of w stay. first 1: the first step of all lanes,
 * from the weights `start`; w is only written. sound[lane] is set to 0 where the step
 * returns 0. */
typedef struct weft_lanes_move {
    const weft_sgd *sgd;
    const int *live;
    int first;
    real *w, *velocity;
    const real *start, *anchor; /* anchor: read where mu > 0 */
    const real *drift;          /* NULL: nothing is added */
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
/* at = share[lane] own + (1 - share[lane]) w, all [n][lanes]. */
void weft_lanes_blend(int64_t n, const real *share, const real *own, const real *w,
                      real *at);
/* slope[lane] = sum over i < n of (own[i] - w[i]) g[i], in the order of i. */
void weft_lanes_slope(int64_t n, const real *own, const real *w, const real *g,
                      double *slope);
/* Softmax of z[c][lanes], one sample a lane: loss[lane] = -log softmax(z)[label[lane]];
 * wrong[lane]: 1 if another class has the largest z, the first of equal ones, or the loss
 * is NaN; dz = share[lane] (softmax(z) - onehot(label)), 0 where share is 0, unless NULL;
 * dz is not z. The bits are those of weft_softmax_terms. */
void weft_lanes_softmax(int c, const real *z, const int32_t *label, const double *share,
                        real *dz, double *loss, int *wrong);

/* ---- descend ---- */

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
    int reductions; /* number of times that the rate becomes a tenth: STEP */
} weft_descent;

/* Vectors of n that an optimizer keeps between steps: 1 or 2. */
int weft_descent_slots(const weft_descent *descent);
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

/* ---- logistic ---- */

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
/* The same for many classes, several times as fast: exponentials are those of reals, with
 * relative errors below 4e-7 for floats, where what is below the top by more than 87 counts
 * as 87. *top is the largest of z[c], c > 0; *sum is in 16 parts, in double. */
double weft_softmax_many(int c, const real *z, real *e, double *top, double *sum);

/* ---- server ---- */

/* The optimizer of the server of a federation, which makes one step a round, and its
 * options. */

/* In the order of the words of server.optimizer (src/math/server.c). */
typedef enum weft_optimizer { WEFT_SGD, WEFT_ADAM, WEFT_YOGI } weft_optimizer;

/* In the order of the words of server.average. */
typedef enum weft_averaging { WEFT_LAST, WEFT_EXPONENTIAL, WEFT_TAIL } weft_averaging;

/* An optimizer on the server, with -delta as the gradient: section [server]. */
typedef struct weft_server {
    int optimizer;       /* weft_optimizer */
    double lr;           /* of round 0 */
    double momentum;     /* WEFT_SGD */
    double decay;        /* lr is multiplied by 1 - decay after every round */
    double beta1, beta2; /* WEFT_ADAM, WEFT_YOGI: decay of mean and square */
    double tau;          /* WEFT_ADAM, WEFT_YOGI: adaptivity, added to the root; > 0 */
    int average;         /* weft_averaging: the weights that are the result */
    double newest;       /* WEFT_EXPONENTIAL: least share of the newest weights */
    double tail;         /* WEFT_TAIL: share of the rounds that it is about the mean of */
} weft_server;
extern const weft_kind weft_server_kind; /* its options */

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

/* Moves an average by the weights w[n] after round 0, 1 ...: average += a (w - average),
 *     exponential  a = max(1 / (round + 1), newest): the mean at first, then w_r has weight
 *                  newest (1 - newest)^(rounds since r),
 *     tail         a = (1 + h) / (round + 1 + h), h = 2 / tail - 2: w_r has a weight that
 *                  grows about as r^h, and the mean age of the weights is that of a mean of
 *                  the last share `tail` of the rounds; tail = 1 is the mean of all.
 * Neither knows how many rounds are to come. No effect with WEFT_LAST.
 * average   [n] in, out; any numbers before round 0
 * Polyak, Juditsky, SIAM J. Control Optim. 30, 1992; tail: Shamir, Zhang, "Stochastic
 * gradient descent for non-smooth optimization", ICML 2013, section 4. */
void weft_server_average(const weft_server *server, int64_t round, int64_t n, const real *w,
                         real *average);

#endif
