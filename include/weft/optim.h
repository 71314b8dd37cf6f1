/* The optimizer of a client's steps; that of the server is in server.h. */
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

#endif
