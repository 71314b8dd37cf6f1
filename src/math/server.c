/* The optimizers of a federation's server: SGD with momentum, Adam, Yogi. */
#include "weft/math/optim.h"

#include <math.h>

/* ---- options ---- */

static const weft_opt server_opts[] = {
    WEFT_CHOICE_OPT("optimizer", weft_server, optimizer, "sgd", "sgd|adam|yogi",
                    "server optimizer, with minus the mean change as its gradient"),
    WEFT_REAL_OPT("lr", weft_server, lr, "1", 0, 1e6,
                  "learning rate; sgd: 1 replaces the weights by the mean of the clients'",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("momentum", weft_server, momentum, "0", 0, 1,
                  "momentum of sgd, kept from round to round", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("decay", weft_server, decay, "0", 0, 1,
                  "share of the learning rate lost after every round",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("beta1", weft_server, beta1, "0.9", 0, 0.999999,
                  "adam, yogi: decay of the mean", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("beta2", weft_server, beta2, "0.99", 0, 0.999999,
                  "adam, yogi: decay of the square", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("tau", weft_server, tau, "0.001", 1e-12, 1e3,
                  "adam, yogi: adaptivity, added to the root of the square",
                  .role = WEFT_PER_TRIAL),
    WEFT_CHOICE_OPT(
        "average", weft_server, average, "none", "none|exponential|tail",
        "the weights that are scored at the end of a job, kept and exported: "
        "the last, or an average over rounds, which clients never receive. "
        "exponential: newer ones weigh more, by server.newest; tail: as the "
        "mean of the last share server.tail of all rounds. Not given: tail with "
        "run.tuner = one and fed.select = eval, else none"),
    WEFT_REAL_OPT("newest", weft_server, newest, "0.05", 1e-6, 1,
                  "share of the newest weights in the average; more in the first rounds"),
    WEFT_REAL_OPT("tail", weft_server, tail, "0.2", 1e-6, 1, "share of the rounds; 1: all"),
    {0},
};

static const weft_when server_when[] = {{"momentum", "optimizer", "sgd"},
                                        {"beta1", "optimizer", "adam|yogi"},
                                        {"beta2", "optimizer", "adam|yogi"},
                                        {"tau", "optimizer", "adam|yogi"},
                                        {"newest", "average", "exponential"},
                                        {"tail", "average", "tail"},
                                        {0}};

const weft_kind weft_server_kind =
    WEFT_KIND("server", weft_server, server_opts, "task fed: the optimizer of the server",
              .when = server_when);

/* ---- steps ---- */

int weft_server_slots(const weft_server *server)
{
    if (server->optimizer == WEFT_SGD) return server->momentum > 0;
    return 2;
}

/* One step a round, so in double even if `real` is float. */
static void adapt(const weft_server *server, double lr, int64_t n, real *w,
                  const real *delta, real *mean, real *square)
{
    int yogi = server->optimizer == WEFT_YOGI;
    for (int64_t i = 0; i < n; i++) {
        double d = (double)delta[i], old = (double)square[i], gap = old - d * d;
        double sign = (gap > 0) - (gap < 0);
        double m = server->beta1 * (double)mean[i] + (1 - server->beta1) * d;
        double v = old - (1 - server->beta2) * (yogi ? d * d * sign : gap);
        mean[i] = (real)m;
        square[i] = (real)v;
        w[i] = (real)((double)w[i] + lr * m / (sqrt(v) + server->tau));
    }
}

void weft_server_step(const weft_server *server, int64_t round, int64_t n, real *w,
                      const real *delta, real *slots)
{
    double lr = server->lr * pow(1 - server->decay, (double)round);
    int slot = weft_server_slots(server);
    if (slot == 0) {
        for (int64_t i = 0; i < n; i++) w[i] += (real)lr * delta[i];
        return;
    }
    if (round == 0) {
        real start = (real)(server->tau * server->tau);
        for (int64_t i = 0; i < n; i++) slots[i] = 0;
        for (int64_t i = n; i < slot * n; i++) slots[i] = start;
    }
    if (slot == 2) {
        adapt(server, lr, n, w, delta, slots, slots + n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        slots[i] = (real)server->momentum * slots[i] + delta[i];
        w[i] += (real)lr * slots[i];
    }
}

void weft_server_average(const weft_server *server, int64_t round, int64_t n, const real *w,
                         real *average)
{
    if (server->average == WEFT_LAST) return;
    double before = (double)round, more = 2 / server->tail - 2;
    double share = server->average == WEFT_TAIL ? (1 + more) / (before + 1 + more)
                                                : fmax(1 / (before + 1), server->newest);
    for (int64_t i = 0; i < n; i++)
        average[i] =
            round == 0
                ? w[i]
                : (real)((double)average[i] + share * ((double)w[i] - (double)average[i]));
}
