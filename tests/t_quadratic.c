/* Fixed points of federated algorithms on quadratics of unequal clients,
 * F_i(x) = (x - b_i)' A_i (x - b_i) / 2, by K exact steps of every client in every round.
 * FedAvg ends at (sum P_i)^-1 sum P_i b_i with P_i = I - (I - h A_i)^K; scaffold and feddyn
 * at the optimum of the sum, (sum A_i)^-1 sum A_i b_i. Further sums keep to their bounds.
 * RUN: np=1 */
#include "weft/algorithm/algorithm.h"
#include "weft/math/linear.h"

#include "tap.h"

enum { N = 4, D = 3, K = 5, MAX_ROUNDS = 2000, MOST = 64 };

static const double rate = 0.1;
static double a[N][D][D], b[N][D];

/* Symmetric, with eigenvalues from 0.1 up: a sum of outer products and the identity. */
static void make_clients(void)
{
    for (int c = 0; c < N; c++)
        for (int i = 0; i < D; i++) {
            b[c][i] = sin(1 + 3 * c + 7 * i);
            for (int j = 0; j < D; j++) {
                a[c][i][j] = i == j ? 0.1 + 0.2 * c : 0;
                for (int e = 0; e < 2; e++)
                    a[c][i][j] +=
                        0.6 * sin(5 + c + 2 * i + 9 * e) * sin(5 + c + 2 * j + 9 * e);
            }
        }
}

/* x = m^-1 y by elimination; m is positive definite, and overwritten, as is y. */
static void solve(double m[D][D], double *y, double *x)
{
    for (int i = 0; i < D; i++)
        for (int r = i + 1; r < D; r++) {
            double f = m[r][i] / m[i][i];
            for (int j = i; j < D; j++) m[r][j] -= f * m[i][j];
            y[r] -= f * y[i];
        }
    for (int i = D - 1; i >= 0; i--) {
        x[i] = y[i];
        for (int j = i + 1; j < D; j++) x[i] -= m[i][j] * x[j];
        x[i] /= m[i][i];
    }
}

/* P_i of K steps. */
static void steps_of(int c, double p[D][D])
{
    double power[D][D] = {{0}}, next[D][D];
    for (int i = 0; i < D; i++) power[i][i] = 1;
    for (int k = 0; k < K; k++) {
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                next[i][j] = power[i][j];
                for (int e = 0; e < D; e++) next[i][j] -= rate * a[c][i][e] * power[e][j];
            }
        memcpy(power, next, sizeof power);
    }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) p[i][j] = (i == j) - power[i][j];
}

/* (sum M_i)^-1 sum M_i b_i, of A_i, or of P_i. */
static void optimum(int of_steps, double *x)
{
    double sum[D][D] = {{0}}, y[D] = {0};
    for (int c = 0; c < N; c++) {
        double m[D][D];
        memcpy(m, a[c], sizeof m);
        if (of_steps) steps_of(c, m);
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                sum[i][j] += m[i][j];
                y[i] += m[i][j] * b[c][j];
            }
    }
    solve(sum, y, x);
}

static void train(int client, const weft_course *course)
{
    real g[D], velocity[D];
    for (int k = 0; k < K; k++) {
        for (int i = 0; i < D; i++) {
            double sum = 0;
            for (int j = 0; j < D; j++)
                sum += a[client][i][j] * ((double)course->w[j] - b[client][j]);
            g[i] = (real)sum + (course->drift ? course->drift[i] : 0);
        }
        weft_check(
            weft_sgd_step(&course->sgd, D, k == 0, course->w, g, velocity, course->anchor),
            "diverged");
    }
}

static real kept[N][MOST], shared[MOST], spare[MOST], weights[D];
static int beyond; /* 1: a further number was larger than the algorithm's bound */

/* Adds the further numbers of a turn whose largest change is the largest allowed. */
static void add_further(const weft_algorithm *algorithm, const weft_visit *visit, int scale,
                        double *sums)
{
    double most = 0, part[MOST] = {0};
    if (!algorithm->add) return;
    for (int i = 0; i < D; i++) most = fmax(most, fabs((double)visit->change[i]));
    double bound = ldexp(algorithm->bound(visit, most), scale);
    algorithm->add(visit, 1, scale, part);
    for (int i = 0; i < MOST; i++) {
        beyond |= !(fabs(part[i]) <= bound * (1 + 1e-6));
        sums[i] += part[i];
    }
}

/* One turn of a client: adds to the mean change and to the sums. */
static void visit_one(const weft_algorithm *algorithm, void *options, int c, int scale,
                      double *change, double *sums)
{
    real w[D], moved[D];
    weft_visit visit = {.n = D,
                        .client = c,
                        .options = options,
                        .sgd = {.lr = rate},
                        .epochs = 1,
                        .steps = K,
                        .x = weights,
                        .shared = shared,
                        .kept = kept[c],
                        .w = w,
                        .change = moved,
                        .spare = spare,
                        .loss = 1.6,
                        .max_change = 1e6};
    weft_course course[WEFT_COURSES];
    if (algorithm->own) algorithm->own(&visit);
    int n = algorithm->courses(&visit, course);
    for (int i = 0; i < n; i++) train(c, &course[i]);
    algorithm->end(&visit);
    add_further(algorithm, &visit, scale, sums);
    for (int i = 0; i < D; i++) change[i] += (double)moved[i] / N;
}

/* MAX_ROUNDS rounds of all clients; x[D] out. */
static void federate(const weft_algorithm *algorithm, void *options, double *x)
{
    weft_amounts amounts = {0};
    weft_server server = {.lr = 1};
    memset(kept, 0, sizeof kept);
    memset(shared, 0, sizeof shared);
    memset(weights, 0, sizeof weights);
    if (algorithm->amounts) algorithm->amounts(options, D, 1, &amounts);
    weft_check(amounts.kept <= MOST && amounts.shared <= MOST && amounts.spare <= MOST,
               "no room");
    for (int round = 0; round < MAX_ROUNDS; round++) {
        double change[D] = {0}, sums[MOST] = {0};
        int scale = weft_exact_scale(4 * N / (K * rate));
        for (int c = 0; c < N; c++) visit_one(algorithm, options, c, scale, change, sums);
        real delta[D];
        for (int i = 0; i < D; i++) delta[i] = (real)change[i];
        for (int i = 0; i < MOST; i++) sums[i] = ldexp(sums[i], -scale) / N;
        weft_aggregate aggregate = {.n = D,
                                    .options = options,
                                    .x = weights,
                                    .shared = shared,
                                    .delta = delta,
                                    .sums = sums,
                                    .averaged = N,
                                    .divisor = 1,
                                    .clients = N,
                                    .server = &server,
                                    .round = round};
        if (algorithm->server)
            algorithm->server(&aggregate);
        else
            weft_aggregate_step(&aggregate);
    }
    for (int i = 0; i < D; i++) x[i] = (double)weights[i];
}

static double gap(const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < D; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Ditto's server is FedAvg's; its option lambda is not used by that. */
static void test_fedavg(const double *best)
{
    double x[D], expected[D];
    char options[256] = {0};
    optimum(1, expected);
    federate(&weft_algorithm_ditto, options, x);
    is_near(gap(x, expected), 0, sizeof(real) == 8 ? 1e-10 : 1e-5,
            "fedavg ends where its steps balance");
    ok(gap(x, best) > 0.01, "which is no optimum, by %g", gap(x, best));
}

static void test_exact(const weft_algorithm *algorithm, void *options, const double *best)
{
    double x[D];
    federate(algorithm, options, x);
    is_near(gap(x, best), 0, sizeof(real) == 8 ? 1e-10 : 1e-5,
            "%s ends at the optimum of all clients", algorithm->kind.name);
}

/* A turn of each client from far away, where q-FedAvg's second term is at its limit. */
static void test_bounds(const weft_algorithm *algorithm)
{
    double option = 16, change[D], sums[MOST];
    memset(kept, 0, sizeof kept);
    for (int i = 0; i < MOST; i++) shared[i] = 1;
    for (int i = 0; i < D; i++) weights[i] = 9;
    beyond = 0;
    for (int c = 0; c < N; c++) visit_one(algorithm, &option, c, 20, change, sums);
    ok(!beyond, "no number that %s adds is beyond its bound", algorithm->kind.name);
}

int main(void)
{
    tap_begin();
    double best[D], alpha = 0.5;
    make_clients();
    optimum(0, best);
    test_fedavg(best);
    test_exact(&weft_algorithm_scaffold, NULL, best);
    test_exact(&weft_algorithm_feddyn, &alpha, best);
    test_bounds(&weft_algorithm_scaffold);
    test_bounds(&weft_algorithm_fedexp);
    test_bounds(&weft_algorithm_qffl);
    return tap_end();
}
