/* Algorithms of federated training: what a client does in its turn, what it keeps from turn
 * to turn, and how the server uses the changes. Task fed draws clients, calls these
 * functions, and sums what they return, exactly; they see one client, or the sums, and
 * neither ranks nor data. All functions are local. */
#ifndef LIBWEFT_ALGORITHM_ALGORITHM_H
#define LIBWEFT_ALGORITHM_ALGORITHM_H

#include "weft/base/conf.h"
#include "weft/math/linear.h"
#include "weft/math/optim.h"

/* Gradients of a model between two weight vectors (APFL): beside every step of w on its own
 * gradient, own <- own - lr share g, with the gradient g at share own + (1 - share) w, and
 * share <- share - rate <own - w, g>, within 0 and 1. sgd.clip bounds g in the step of own;
 * momentum, weight decay and the pull are of w alone. */
typedef struct weft_blend {
    real *own; /* [n] in, out */
    real *at;  /* [n] scratch */
    double share, rate;
} weft_blend;

/* The rate of each step by the change of gradients g (Delta-SGD): sgd.lr in the first, then
 *     rate <- min(amount |w - w'| / |g - g'|, sqrt(1 + growth ratio) rate'),
 *     ratio = rate / rate', 1 at first,
 * where ' is the step before; the second alone where w or g has not changed. */
typedef struct weft_adapted_rate {
    real *w, *g; /* [n] scratch: weights and gradient before the last step */
    double amount, growth;
    double rate, ratio; /* of the last step; rate 0: there was none */
} weft_adapted_rate;

/* What courses may have that a worker does only if it says so (src/worker/README.md):
 * tensors that are fixed; an anchor that is not where it begins; drift; a blend, a pace and
 * the loss before training, which no worker does. */
enum {
    WEFT_NEEDS_FIXED = 1,
    WEFT_NEEDS_ANCHOR = 2,
    WEFT_NEEDS_DRIFT = 4,
    WEFT_NEEDS_BLEND = 8,
    WEFT_NEEDS_PACE = 16,
    WEFT_NEEDS_LOSS = 32
};

/* A training on the client's samples by weft_sgd_step, of which the gradient is that of the
 * batch plus `drift`. Which of anchor, drift and fixed there are, and what is fixed, is the
 * same for all clients; a course has either drift or fixed. */
typedef struct weft_course {
    real *w;            /* [n] in: where it begins; out: where it ends */
    const real *anchor; /* [n] towards which sgd.mu pulls: where tensors are fixed, those
                           with which the course begins; NULL: mu is 0 */
    const real *drift;  /* [n] added to every gradient; NULL: nothing */
    const char *fixed;  /* [tensors] 1: this tensor keeps its numbers; NULL: none does */
    weft_sgd sgd;
    int epochs;
    weft_blend *blend;       /* NULL: none */
    weft_adapted_rate *pace; /* NULL: the rate is sgd.lr */
    int other;               /* 1: it begins with other weights than the client's model */
} weft_course;
enum { WEFT_COURSES = 2 }; /* most of a turn */

/* The turn of one client. */
typedef struct weft_visit {
    int64_t n;                 /* weights */
    int ntensor;               /* of the network, */
    const weft_tensor *tensor; /* [ntensor] in order, without gaps, n numbers in all */
    uint64_t seed;             /* of the run */
    int64_t client;            /* its number */
    const void *options;       /* the algorithm's, as this client drew them */
    weft_sgd sgd;              /* section [client], as it drew it */
    int epochs;
    int64_t steps;      /* of a course of so many epochs */
    const real *x;      /* [n] the server's weights */
    const real *shared; /* [shared] its other numbers */
    real *kept;         /* [kept] what the client keeps: in, out. Zeros in its first turn */
    real *w;            /* [n] out: its model, which is scored */
    real *change;       /* [n] out: of the server's weights, to be averaged */
    real *spare;        /* [spare] scratch */
    double loss;       /* WEFT_NEEDS_LOSS, in rounds: mean over all its training samples, by
                          the weights received; a round takes larger ones as 2 ln classes */
    double max_change; /* a weight that changes by more counts as divergence */
    weft_blend blend;  /* of its course, */
    weft_adapted_rate pace; /* likewise */
} weft_visit;

/* What the server has after a round. */
typedef struct weft_aggregate {
    int64_t n;           /* weights */
    const void *options; /* the algorithm's, of the trial */
    real *x;             /* [n] weights: in, out */
    real *shared;        /* [shared] in, out */
    real *delta;         /* [n] weighted mean of the changes; scratch afterwards */
    const double *sums;  /* [sums] weighted means of what `add` adds */
    double averaged;     /* number of clients averaged, */
    double divisor;      /* the weighted mean of their divisors, */
    double clients;      /* and the number of clients that may be drawn */
    const weft_server *server;
    int64_t round; /* number of steps that the server has made before */
    real *slots;   /* vectors of its optimizer */
} weft_aggregate;

/* How the training samples of a client take part in its answers: with p_net by the server's
 * weights and p_near by the k nearest samples, of which each adds exp(-distance / sigma) to
 * its label, p = lambda p_near + (1 - lambda) p_net. Distances are Euclidean, between
 * representations (weft_net.represent). */
typedef struct weft_neighbours {
    int k;
    double lambda, sigma;
} weft_neighbours;

/* Numbers that an algorithm needs, of a network of n weights. */
typedef struct weft_amounts {
    int64_t kept;    /* that a client keeps */
    int64_t shared;  /* of the server, beside the weights */
    int64_t sums;    /* of weft_aggregate.sums */
    int64_t spare;   /* of weft_visit.spare */
    double down, up; /* numbers that a client receives and sends in a round */
    double epochs;   /* passes over its samples */
} weft_amounts;

/* Algorithms without `courses` train as FedAvg does: one course from the server's weights,
 * whose change is averaged. Small models are trained in vector lanes. */
typedef struct weft_algorithm {
    weft_kind kind; /* its size holds options, and what setup derives from them. An option
                       with role WEFT_PER_SAMPLE is drawn by every client */
    int plain;      /* 1: clients have equal weights, whatever fed.average says */
    int needs;      /* WEFT_NEEDS_..., of its courses */
    /* Checks options with a network of these tensors, which stay. ECONF. NULL: nothing to
     * check. */
    weft_status (*setup)(void *self, int ntensor, const weft_tensor *tensor);
    /* Changes *out, which is set as for FedAvg. NULL: so it stays. */
    void (*amounts)(const void *self, int64_t n, int epochs, weft_amounts *out);
    /* aggregate->shared before the first round, from aggregate->x; zeros on entry. NULL: so
     * they stay. */
    void (*start)(weft_aggregate *aggregate, uint64_t seed);
    /* visit->kept before the client's first turn. NULL: zeros. */
    void (*first)(weft_visit *visit);
    /* visit->w = the client's model before its turn. NULL: the server's weights. */
    void (*own)(weft_visit *visit);
    /* What the client's turn trains, one after the other: after `own` sets course[],
     * returns their number, the same for all clients; then `end` sets w, change and kept.
     */
    int (*courses)(weft_visit *visit, weft_course *course);
    void (*end)(weft_visit *visit);
    int adapts; /* 1: a client that takes no part in training and is to be scored has
                   visit->epochs turns of one pass each, and its model is then `own` */
    /* By what the client's change is divided before it is averaged; depends on options and
     * steps only. NULL: 1. */
    double (*divisor)(const weft_visit *visit);
    /* Adds the client's part of weft_aggregate.sums, times `weight`, by weft_exact_add to
     * sums[sums]; `bound`: no number of this part is larger, if none of `change` is larger
     * than max_change. It may depend on what the client received and keeps. NULL: there are
     * no sums. */
    void (*add)(const weft_visit *visit, real weight, int scale, double *sums);
    double (*bound)(const weft_visit *visit, double max_change);
    /* Where it is not NULL, the scores of a client after its turn are of answers so mixed;
     * it then needs no training to be scored. */
    weft_neighbours (*neighbours)(const void *options);
    /* The server's step. NULL: weft_server_step by the mean change. */
    void (*server)(weft_aggregate *aggregate);
} weft_algorithm;

/* ---- what several share ---- */

/* A course as section [client] says that begins, in visit->w, with the weights from[n] and
 * is pulled towards them. */
weft_course weft_visit_course(weft_visit *visit, const real *from);
/* One that goes on from the client's model, visit->w, and is pulled towards that; spare[n]
 * is then a copy of it. */
weft_course weft_visit_own_course(weft_visit *visit);
/* visit->change = visit->w - from. */
void weft_visit_changed(weft_visit *visit, const real *from);
/* `end` where the change is that of the server's weights. */
void weft_visit_end(weft_visit *visit);
/* `first` and `own` of clients that keep a model of their own, kept[n], which begins as the
 * server's weights. */
void weft_visit_keep(weft_visit *visit);
void weft_visit_kept(weft_visit *visit);
/* The step of weft_server_step by aggregate->delta. */
void weft_aggregate_step(weft_aggregate *aggregate);

#endif
