/* The optimizer of the server of a federation, which makes one step a round, and its
 * options. */
#ifndef WEFT_SERVER_H
#define WEFT_SERVER_H

#include "weft/opt.h"
#include "weft/real.h"

#include <stdint.h>

/* In the order of the words of server.optimizer (src/math/server.c). */
typedef enum weft_optimizer { WEFT_SGD, WEFT_ADAM, WEFT_YOGI } weft_optimizer;

/* An optimizer on the server, with -delta as the gradient: section [server]. */
typedef struct weft_server {
    int optimizer;       /* weft_optimizer */
    double lr;           /* of round 0 */
    double momentum;     /* WEFT_SGD */
    double decay;        /* lr is multiplied by 1 - decay after every round */
    double beta1, beta2; /* WEFT_ADAM, WEFT_YOGI: decay of mean and square */
    double tau;          /* WEFT_ADAM, WEFT_YOGI: adaptivity, added to the root; > 0 */
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

#endif
