/* The optimizer of the server of a federation, which makes one step a round, and its
 * options. */
#ifndef WEFT_SERVER_H
#define WEFT_SERVER_H

#include "weft/opt.h"
#include "weft/real.h"

#include <stdint.h>

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
