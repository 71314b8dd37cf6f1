/* Algorithms of federated training: where one becomes another, it has the same bits; what
 * clients keep is the same on any number of ranks and after any stop. Their arithmetic is
 * compared in t_fed_rounds.
 * RUN: np=1 np=2 np=3 np=4 */
#include "toy.h"

enum { N = 6, ROUNDS = 5, MAX_ROUNDS = 12 };

static const char usual[] = "lr = 0.1\nbatch = 4\nepochs = 2\n";

/* A federation of toy clients with `algorithm`. */
static const char *options(const char *algorithm, int cohort, const char *client,
                           const char *more)
{
    return printed("[fed]\nalgorithm = %s\ncohort = %d\n%s[client]\n%s", algorithm, cohort,
                   more, client);
}

static const char *with(const char *algorithm, const char *more)
{
    return options(algorithm, 3, usual, more);
}

static struct toy *six_clients(void)
{
    int64_t count[N][WEFT_NPART] = {{12, 4, 3}, {7, 3, 2}, {16, 5, 2},
                                    {5, 2, 2},  {9, 6, 3}, {12, 4, 1}};
    return toy_new(N, count);
}

/* What client c keeps, behind the number of its turns; each: with that number. */
static const real *kept(const struct stand *stand, int64_t c, int each)
{
    real *row = WEFT_NEW(mem, real, each);
    weft_check(weft_kept_each(stand->state.kept) == each, "%d numbers", each);
    if (world.rank == 0) must(weft_kept_read(stand->state.kept, 1, &c, row));
    weft_bcast(&world, row, (size_t)each * sizeof *row, 0);
    return row + 1;
}

static int same(const real *a, const real *b, int n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static double gap(const real *a, const real *b)
{
    double wider[W];
    wide(b, wider);
    return distance(a, wider);
}

/* ---- where one is another ---- */

static void test_equal(struct toy *toy)
{
    struct stand *avg = trained(toy, with("fedavg", ""), 1, ROUNDS);
    struct stand *alone = trained(toy, with("local", ""), 1, ROUNDS);
    struct stand *every = trained(toy, options("local", N, usual, ""), 1, ROUNDS);
    struct stand *ditto = trained(toy, with("ditto", "[ditto]\nlambda = 0\n"), 1, ROUNDS);
    ok(same(ditto->state.x, avg->state.x, W), "ditto's server has the bits of fedavg");
    ditto = trained(toy, options("ditto", N, usual, "[ditto]\nlambda = 0\n"), 1, ROUNDS);
    int equal = 1;
    for (int c = 0; c < N; c++)
        equal &= same(kept(ditto, c, W + 1), kept(every, c, W + 1), W);
    ok(equal, "at lambda 0 its own models have the bits of local");

    struct stand *none = trained(toy, with("fedrep", "[fedrep]\nown = none\n"), 1, ROUNDS);
    ok(same(none->state.x, avg->state.x, W), "fedrep without own layers is fedavg");
    none = trained(toy, with("fedper", "[fedper]\nown = none\n"), 1, ROUNDS);
    ok(same(none->state.x, avg->state.x, W), "so is fedper");
    struct stand *all = trained(toy, with("fedper", "[fedper]\nown = all\n"), 1, ROUNDS);
    equal = 1;
    for (int c = 0; c < N; c++)
        equal &= same(kept(all, c, W + 1), kept(alone, c, W + 1), W);
    ok(equal, "fedper with all layers own is local");
    is_near(all->res.loss, alone->res.loss, 0, "with the same score");

    struct stand *cpg = trained(toy,
                                with("cpg", "[cpg]\ngenerate = all\nsize = 1\nbias = no\n"
                                            "embedding = constant\n"),
                                1, ROUNDS);
    ok(same(cpg->state.x + W, avg->state.x, W), "cpg of one constant number is fedavg");
    is_near(cpg->res.loss, avg->res.loss, 0, "with the same score");

    struct stand *own =
        trained(toy, options("apfl", N, usual, "[apfl]\nshare = 1\nrate = 0\n"), 1, ROUNDS);
    equal = 1;
    for (int c = 0; c < N; c++)
        equal &= same(kept(own, c, W + 2), kept(every, c, W + 1), W);
    ok(equal, "apfl with a share of 1 is local");
    own = trained(toy, with("apfl", "[apfl]\nshare = 0\nrate = 0\n"), 1, ROUNDS);
    ok(same(own->state.x, avg->state.x, W), "its server is that of fedavg");
    struct stand *both =
        trained(toy, with("fedavg", "score_weights = global\n"), 1, ROUNDS);
    is_near(own->res.loss, both->res.loss, 0, "at 0 it is scored by the weights received");
}

static void test_first_round(struct toy *toy)
{
    struct stand *avg = trained(toy, with("fedavg", "average = plain\n"), 1, 1);
    struct stand *stand = trained(toy, with("scaffold", ""), 1, 1);
    ok(same(stand->state.x, avg->state.x, W), "scaffold begins as fedavg");
    avg = trained(toy,
                  options("fedavg", 3, "lr = 0.1\nbatch = 4\nepochs = 2\nmu = 0.5\n",
                          "average = plain\n"),
                  1, 1);
    stand = trained(toy, with("feddyn", "[feddyn]\nalpha = 0.5\n"), 1, 1);
    /* x = mean y - s / alpha, s = - alpha m / N (mean y - x) */
    double off = 0;
    struct stand *start = trained(toy, with("fedavg", ""), 1, 0);
    for (int i = 0; i < W; i++) {
        double x = (double)start->state.x[i], step = (double)avg->state.x[i] - x;
        off = worse(off, fabs((double)stand->state.x[i] - (x + step * (1 + 3.0 / N))));
    }
    is_near(off, 0, 1e-6, "feddyn begins by the steps of fedprox");
}

/* The result is the average over rounds of the weights that clients receive. */
static void test_average(struct toy *toy, const char *algorithm)
{
    const char *plain = "[server]\nmomentum = 0.5\n",
               *tail = "[server]\nmomentum = 0.5\naverage = tail\ntail = 0.5\n";
    double mean[W] = {0}, off = 0;
    struct stand *last = NULL;
    for (int r = 1; r <= ROUNDS; r++) {
        last = trained(toy, with(algorithm, plain), 1, r);
        for (int i = 0; i < W; i++)
            mean[i] += (r == 1 ? 1 : 3.0 / (r + 2)) * ((double)last->state.x[i] - mean[i]);
    }
    struct stand *stand = trained(toy, with(algorithm, tail), 1, ROUNDS);
    for (int i = 0; i < W; i++) off = worse(off, fabs((double)stand->state.x[i] - mean[i]));
    is_near(off, 0, 1e-6, "%s: the result is the average of the weights", algorithm);
    int64_t behind = stand->state.nx - last->state.nx;
    is_near((double)behind, W, 0, "%s: for one vector more", algorithm);
    ok(same(stand->state.x + stand->state.nx - 2 * W, last->state.x, W),
       "%s: clients never receive it", algorithm);
}

static void test_fednova(void)
{
    int64_t count[4][WEFT_NPART] = {{8, 2, 1}, {8, 2, 1}, {8, 2, 1}, {8, 2, 1}};
    struct toy *toy = toy_new(4, count);
    struct stand *avg = trained(toy, with("fedavg", ""), 1, ROUNDS);
    struct stand *nova = trained(toy, with("fednova", ""), 1, ROUNDS);
    is_near(gap(avg->state.x, nova->state.x), 0, 1e-6,
            "fednova with equal steps is fedavg");
    const char *one = "lr = 0.1\nbatch = 50\n";
    avg = trained(toy, options("fedavg", 3, one, ""), 1, ROUNDS);
    nova = trained(toy, options("fednova", 3, one, ""), 1, ROUNDS);
    ok(same(avg->state.x, nova->state.x, W), "with one step it has the same bits");
}

/* After each of ditto's own steps with h lambda = 1 the model is that received, but for the
 * gradient's step. */
static void test_strong_ditto(struct toy *toy)
{
    const char *strong = "[ditto]\nlambda = 1000\nlr = 0.001\n";
    struct stand *before = trained(toy, options("ditto", N, usual, strong), 1, ROUNDS - 1);
    struct stand *after = trained(toy, options("ditto", N, usual, strong), 1, ROUNDS);
    double off = 0;
    for (int c = 0; c < N; c++)
        off = worse(off, gap(kept(after, c, W + 1), before->state.x));
    ok(off < 0.01 && off > 0, "a strong pull keeps own models at the server's, to %g", off);
}

enum { WIDE = sizeof(real) == sizeof(double) };

/* A round in full batches of own models that are pulled much too hard: h lambda = 1e12, in
 * double 1e11. */
static struct stand *far_away(struct toy *toy, const char *model, int steps)
{
    return trained(
        toy,
        options("ditto", N, printed("lr = 0.1\nbatch = 50\nepochs = %d\n", steps),
                printed("model = %s\nscore = loss\n[ditto]\nlambda = 1e6\nlr = %s\n", model,
                        WIDE ? "1e5" : "1e6")),
        1, 1);
}

/* Each loss and gradient is finite, the weights that the last step makes are not; of a
 * perceptron about half as many steps end where there is no loss. */
static void test_beyond(struct toy *toy)
{
    int steps = WIDE ? 29 : 4;
    struct stand *stand = far_away(toy, "linear", steps);
    is_near(in_row(fed, stand->row[0], "diverged"), N, 0,
            "clients whose own models are not finite diverged");
    is_near(in_row(fed, stand->row[0], "samples"), 2 * steps * 61, 0,
            "after all of their steps");
    is_near(stand->res.loss, 2 * log(C), 1e-12, "their score is the worst");
    for (int c = 0; c < N; c++)
        ok(!(kept(stand, c, W + 1)[-1] > 0), "client %d keeps nothing", c);
    stand = far_away(toy, "mlp", WIDE ? 15 : 3);
    is_near(in_row(fed, stand->row[0], "diverged"), 0, 0, "finite weights are kept");
    is_near(stand->res.loss, 2 * log(C), 1e-12, "a loss that is no number is the worst");
}

/* ---- the generator ---- */

static void test_one_hot(struct toy *toy)
{
    const char *hot = "[cpg]\ngenerate = all\nsize = 6\nbias = no\nembedding = one_hot\n";
    struct stand *cpg = trained(toy, options("cpg", 1, usual, hot), 1, MAX_ROUNDS);
    struct stand *alone = trained(toy, options("local", 1, usual, ""), 1, MAX_ROUNDS);
    double off = 0, moved = 0;
    for (int c = 0; c < N; c++) {
        const real *own = kept(alone, c, W + 1), *column = cpg->state.x + W + c * W;
        if (!(own[-1] > 0)) own = alone->state.x; /* it was never drawn */
        off = worse(off, gap(column, own));
        moved += own[-1] > 0 ? gap(own, alone->state.x) : 0;
    }
    ok(moved > 0.1, "clients trained alone move");
    is_near(off, 0, 2e-6, "cpg of a column for each client is local");
}

/* ---- the same bits ---- */

static const char *const algorithms[] = {"scaffold", "feddyn",   "fednova", "fedexp",
                                         "fedhyper", "deltasgd", "ditto",   "fedper",
                                         "fedrep",   "apfl",     "local",   "cpg"};

/* Own layers are one tensor, so that both parts exist. */
static const char *mixed(const char *algorithm)
{
    return printed("[fed]\nalgorithm = %s\ncohort = 4\nscore_both = yes\n"
                   "eval_clients = 5\neval_every = 3\nscore = loss\n"
                   "[client]\nlr = log 0.01 .. 0.5\nbatch = 2 .. 9\nmu = 0 .. 1\n"
                   "[server]\nmomentum = 0.5\n[fedper]\nown = fc1.bias\n"
                   "[fedrep]\nown = fc1.bias\n"
                   "[device]\navailability = 0.8\ndropout = 0.1\n%s",
                   algorithm,
                   strcmp(algorithm, "knn") == 0 ? "[knn]\nk = 1 .. 5\nlambda = 0 .. 1\n"
                                                 : "");
}

static void test_same(struct toy *toy, const char *algorithm)
{
    enum { K = 3 };
    const char *text = mixed(algorithm);
    struct stand *whole = standing(toy, text, K);
    units(whole, MAX_ROUNDS, 0, MAX_ROUNDS);
    digest(hash_of(whole));
    ok(isfinite(whole->res.loss), "%s: it has a loss", algorithm);
    ok(goes_on_alike(toy, text, K, (weft_mix_update){0}, MAX_ROUNDS, 3, hash_of(whole)),
       "stopped after any round it goes on to the same bits");
    uint64_t hash = weft_state_hash(&whole->state);
    weft_scores once = scored(whole, WEFT_TEST), again = scored(whole, WEFT_TEST);
    ok(memcmp(once.metric, again.metric, sizeof once.metric) == 0 &&
           hash == weft_state_hash(&whole->state),
       "its score changes nothing that clients keep");
}

/* Turns that clients have finished, of a federation without losses. */
static void test_turns(struct toy *toy)
{
    struct stand *stand = trained(toy, options("ditto", 2, usual, ""), 1, 3);
    int turns = 0, never = 0;
    for (int c = 0; c < N; c++) {
        const real *own = kept(stand, c, W + 1);
        turns += (int)own[-1];
        if (own[-1] > 0) continue;
        never++;
        for (int i = 0; i < W; i++) ok(!(fabs((double)own[i]) > 0), "it keeps nothing");
    }
    is_near(turns, 6, 0, "turns are counted");
    ok(never > 0, "some client was never drawn");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    struct toy *toy = six_clients();
    test_equal(toy);
    test_first_round(toy);
    test_fednova();
    test_average(toy, "fedavg");
    test_average(toy, "scaffold");
    test_average(toy, "ditto");
    test_strong_ditto(toy);
    test_beyond(toy);
    test_one_hot(toy);
    struct toy *forty = forty_clients(); /* some without samples of a part */
    for (int i = 0; i < (int)LEN(algorithms); i++) {
        test_same(toy, algorithms[i]);
        test_same(forty, algorithms[i]);
    }
    test_turns(toy);
    stand_refused(toy, with("ditto", "replacement = yes\n"), "fed.replacement");
    stand_refused(toy, with("fedper", "[fedper]\nown = fc9\n"), "fc1.weight");
    stand_refused(toy, with("cpg", "[cpg]\ngenerate = none\n"), "cpg.generate");
    stand_refused(toy, with("dito", ""), "ditto");
    toy->memory = 2000;
    stand_refused(toy, with("ditto", ""), "run.memory");
    return tap_end();
}
