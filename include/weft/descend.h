/* Gradient descent without a federation, as in torch.optim.SGD, Adam and Adadelta. */
#ifndef WEFT_DESCEND_H
#define WEFT_DESCEND_H

#include "weft/real.h"

#include <stdint.h>

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

#endif
