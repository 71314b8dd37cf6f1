/* The two optimizers of a federation: that of a client's steps, and that of the server's.
 */
#ifndef WEFT_OPTIM_H
#define WEFT_OPTIM_H

#include "weft/real.h"

#include <stdint.h>

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

#endif
