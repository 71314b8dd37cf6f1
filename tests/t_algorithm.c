/* Algorithms of federated training: where one becomes another, it has the same bits; what
 * clients keep is the same on any number of ranks and after any stop; the generator's
 * steps are those of its gradient.
 * RUN: np=1 np=2 np=3 np=4 */
#include "results.h"
#include "toy.h"

enum { N = 6, ROUNDS = 5, MAX_ROUNDS = 12 };

static const char usual[] = "lr = 0.1\nbatch = 4\nepochs = 2\n";

/* A federation of toy clients with `algorithm`. */
static const char *options(const char *algorithm, int cohort, const char *client,
                           const char *more)
{
    return weft_arena_text(mem, "[fed]\nalgorithm = %s\ncohort = %d\n%s[client]\n%s",
                           algorithm, cohort, more, client);
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
static const real *kept(const struct stand *s, int64_t c, int each)
{
    real *row = WEFT_NEW(mem, real, each);
    weft_check(weft_kept_each(s->state.kept) == each, "%d numbers", each);
    if (world.rank == 0)
        weft_check(weft_kept_read(s->state.kept, 1, &c, row) == WEFT_OK, "%s",
                   weft_error());
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

static void test_equal(struct toy *t)
{
    struct stand *avg = trained(t, with("fedavg", ""), 1, ROUNDS);
    struct stand *alone = trained(t, with("local", ""), 1, ROUNDS);

    struct stand *every = trained(t, options("local", N, usual, ""), 1, ROUNDS);
    struct stand *ditto = trained(t, with("ditto", "[ditto]\nlambda = 0\n"), 1, ROUNDS);
    ok(same(ditto->state.x, avg->state.x, W), "ditto's server has the bits of fedavg");
    ditto = trained(t, options("ditto", N, usual, "[ditto]\nlambda = 0\n"), 1, ROUNDS);
    int equal = 1;
    for (int c = 0; c < N; c++)
        equal &= same(kept(ditto, c, W + 1), kept(every, c, W + 1), W);
    ok(equal, "at lambda 0 its own models have the bits of local");

    struct stand *none = trained(t, with("fedrep", "[fedrep]\nown = none\n"), 1, ROUNDS);
    ok(same(none->state.x, avg->state.x, W), "fedrep without own layers is fedavg");
    none = trained(t, with("fedper", "[fedper]\nown = none\n"), 1, ROUNDS);
    ok(same(none->state.x, avg->state.x, W), "so is fedper");
    struct stand *all = trained(t, with("fedper", "[fedper]\nown = all\n"), 1, ROUNDS);
    equal = 1;
    for (int c = 0; c < N; c++)
        equal &= same(kept(all, c, W + 1), kept(alone, c, W + 1), W);
    ok(equal, "fedper with all layers own is local");
    is_near(all->res.loss, alone->res.loss, 0, "with the same score");

    struct stand *cpg = trained(t,
                                with("cpg", "[cpg]\ngenerate = all\nsize = 1\nbias = no\n"
                                            "embedding = constant\n"),
                                1, ROUNDS);
    ok(same(cpg->state.x + W, avg->state.x, W), "cpg of one constant number is fedavg");
    is_near(cpg->res.loss, avg->res.loss, 0, "with the same score");

    struct stand *own =
        trained(t, options("apfl", N, usual, "[apfl]\nshare = 1\nrate = 0\n"), 1, ROUNDS);
    equal = 1;
    for (int c = 0; c < N; c++)
        equal &= same(kept(own, c, W + 2), kept(every, c, W + 1), W);
    ok(equal, "apfl with a share of 1 is local");
    own = trained(t, with("apfl", "[apfl]\nshare = 0\nrate = 0\n"), 1, ROUNDS);
    ok(same(own->state.x, avg->state.x, W), "its server is that of fedavg");
    struct stand *both = trained(t, with("fedavg", "score_weights = global\n"), 1, ROUNDS);
    is_near(own->res.loss, both->res.loss, 0, "at 0 it is scored by the weights received");
}

static void test_first_round(struct toy *t)
{
    struct stand *avg = trained(t, with("fedavg", "average = plain\n"), 1, 1);
    struct stand *s = trained(t, with("scaffold", ""), 1, 1);
    ok(same(s->state.x, avg->state.x, W), "scaffold begins as fedavg");
    avg = trained(t,
                  options("fedavg", 3, "lr = 0.1\nbatch = 4\nepochs = 2\nmu = 0.5\n",
                          "average = plain\n"),
                  1, 1);
    s = trained(t, with("feddyn", "[feddyn]\nalpha = 0.5\n"), 1, 1);
    /* x = mean y - s / alpha, s = - alpha m / N (mean y - x) */
    double off = 0;
    struct stand *start = trained(t, with("fedavg", ""), 1, 0);
    for (int i = 0; i < W; i++) {
        double x = (double)start->state.x[i], step = (double)avg->state.x[i] - x;
        off = worse(off, fabs((double)s->state.x[i] - (x + step * (1 + 3.0 / N))));
    }
    is_near(off, 0, 1e-6, "feddyn begins by the steps of fedprox");
}

static void test_fednova(void)
{
    int64_t count[4][WEFT_NPART] = {{8, 2, 1}, {8, 2, 1}, {8, 2, 1}, {8, 2, 1}};
    struct toy *t = toy_new(4, count);
    struct stand *avg = trained(t, with("fedavg", ""), 1, ROUNDS);
    struct stand *nova = trained(t, with("fednova", ""), 1, ROUNDS);
    is_near(gap(avg->state.x, nova->state.x), 0, 1e-6,
            "fednova with equal steps is fedavg");
    const char *one = "lr = 0.1\nbatch = 50\n";
    avg = trained(t, options("fedavg", 3, one, ""), 1, ROUNDS);
    nova = trained(t, options("fednova", 3, one, ""), 1, ROUNDS);
    ok(same(avg->state.x, nova->state.x, W), "with one step it has the same bits");
}

/* A round of clients of 8 and of 32 samples, in full batches of 4: 2 and 8 steps. */
static void test_fednova_steps(void)
{
    int64_t count[2][WEFT_NPART] = {{8, 2, 1}, {32, 2, 1}};
    struct toy *t = toy_new(2, count);
    const char *two = "lr = 0.1\nbatch = 4\nmomentum = 0.5\n";
    struct stand *start = trained(t, options("local", 2, two, ""), 1, 0);
    struct stand *own = trained(t, options("local", 2, two, ""), 1, 1);
    struct stand *nova = trained(t, options("fednova", 2, two, ""), 1, 1);
    const double q[2] = {0.2, 0.8};
    double divisor[2], mean = 0, off = 0;
    for (int c = 0; c < 2; c++) {
        double k = c ? 8 : 2, rho = 0.5;
        divisor[c] = (k - rho * (1 - pow(rho, k)) / (1 - rho)) / (1 - rho);
        mean += q[c] * divisor[c];
    }
    for (int i = 0; i < W; i++) {
        double x = (double)start->state.x[i], to = x;
        for (int c = 0; c < 2; c++)
            to += mean * q[c] * ((double)kept(own, c, W + 1)[i] - x) / divisor[c];
        off = worse(off, fabs((double)nova->state.x[i] - to));
    }
    is_near(off, 0, 1e-6, "fednova divides by the steps, as momentum counts them");
}

/* After each of ditto's own steps with h lambda = 1 the model is that received, but for the
 * gradient's step. */
static void test_strong_ditto(struct toy *t)
{
    const char *strong = "[ditto]\nlambda = 1000\nlr = 0.001\n";
    struct stand *before = trained(t, options("ditto", N, usual, strong), 1, ROUNDS - 1);
    struct stand *after = trained(t, options("ditto", N, usual, strong), 1, ROUNDS);
    double off = 0;
    for (int c = 0; c < N; c++)
        off = worse(off, gap(kept(after, c, W + 1), before->state.x));
    ok(off < 0.01 && off > 0, "a strong pull keeps own models at the server's, to %g", off);
}

/* ---- the generator ---- */

static void test_one_hot(struct toy *t)
{
    const char *hot = "[cpg]\ngenerate = all\nsize = 6\nbias = no\nembedding = one_hot\n";
    struct stand *cpg = trained(t, options("cpg", 1, usual, hot), 1, MAX_ROUNDS);
    struct stand *alone = trained(t, options("local", 1, usual, ""), 1, MAX_ROUNDS);
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

/* Loss of a client's training samples at theta = b + W v, means, in doubles. */
static double loss_at(const struct toy *t, int c, const double *b, const double *w,
                      const double *v, int size)
{
    double theta[W];
    for (int i = 0; i < W; i++) {
        theta[i] = b[i];
        for (int m = 0; m < size; m++) theta[i] += w[m * W + i] * v[m];
    }
    struct sums s = softmax(t, c, 0, t->count[c][WEFT_TRAIN], theta, NULL);
    return s.loss / s.n;
}

/* One full-batch step of one client is a step along the gradient of its loss. */
static void test_gradients(void)
{
    enum { M = 3 };
    int64_t count[1][WEFT_NPART] = {{20, 4, 3}};
    struct toy *t = toy_new(1, count);
    const double h = 0.01, eps = 1e-5;
    const char *one = options("cpg", 1, "lr = 0.01\nbatch = 50\n",
                              "[cpg]\ngenerate = all\nsize = 3\nspread = 0.5\n");
    struct stand *before = trained(t, one, 1, 1);
    struct stand *after = trained(t, one, 1, 2);
    double b[W], w[M * W], v[M], off[3] = {0};
    for (int i = 0; i < W; i++) b[i] = (double)before->state.x[i];
    for (int i = 0; i < M * W; i++) w[i] = (double)before->state.x[W + i];
    for (int m = 0; m < M; m++) v[m] = (double)kept(before, 0, M + 1)[m];
    double *part[] = {b, w, v};
    const int size[] = {W, M * W, M};
    const real *to[] = {after->state.x, after->state.x + W, kept(after, 0, M + 1)};
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < size[p]; i++) {
            double *x = &part[p][i], was = *x;
            *x = was + eps;
            double up = loss_at(t, 0, b, w, v, M);
            *x = was - eps;
            double down = loss_at(t, 0, b, w, v, M);
            *x = was;
            off[p] =
                worse(off[p], fabs((double)to[p][i] - (was - h * (up - down) / (2 * eps))));
        }
    is_near(off[0], 0, 1e-6, "b steps along its gradient");
    is_near(off[1], 0, 1e-6, "so does W");
    is_near(off[2], 0, 1e-6, "so do embeddings");
}

/* x[n] are the next line of PyTorch's numbers. */
static void test_line(FILE *file, const char *name, int n, const real *x)
{
    char found[32];
    double gold, off = 0;
    weft_check(fscanf(file, "%31s", found) == 1 && strcmp(found, name) == 0, "no %s", name);
    for (int i = 0; i < n; i++) {
        weft_check(fscanf(file, "%lf", &gold) == 1, "too few numbers of %s", name);
        off = worse(off, fabs((double)x[i] - gold));
    }
    is_near(off, 0, 1e-6, "%s is PyTorch's", name);
}

/* Rounds of one client in full batches against PyTorch's gradients of the loss with respect
 * to what each algorithm learns (tests/gold/personal.py). */
static void test_gold(void)
{
    enum { M = 3, SOME = 4 };
    int64_t count[1][WEFT_NPART] = {{20, 4, 3}};
    struct toy *t = toy_new(1, count);
    FILE *file = fopen("tests/gold/personal.txt", "r");
    weft_check(file != NULL, "run the test in the top directory");
    struct stand *cpg = trained(t,
                                options("cpg", 1, "lr = 0.3\nbatch = 50\n",
                                        "[cpg]\ngenerate = all\nsize = 3\nlr = 2\n"
                                        "lr_embedding = 3\n"),
                                1, SOME);
    test_line(file, "cpg.b", W, cpg->state.x);
    test_line(file, "cpg.W", M * W, cpg->state.x + W);
    test_line(file, "cpg.v", M, kept(cpg, 0, M + 1));
    struct stand *apfl = trained(t,
                                 options("apfl", 1, "lr = 0.3\nbatch = 50\nepochs = 2\n",
                                         "[apfl]\nshare = 0.5\nrate = 0.1\n"),
                                 1, SOME);
    const real *own = kept(apfl, 0, W + 2);
    test_line(file, "apfl.y", W, apfl->state.x);
    test_line(file, "apfl.v", W, own);
    test_line(file, "apfl.a", 1, own + W);
    fclose(file);
}

/* ---- the same bits ---- */

static const char *const algorithms[] = {"scaffold", "feddyn", "fednova", "ditto", "fedper",
                                         "fedrep",   "apfl",   "local",   "cpg"};

static uint64_t hash_of(const struct stand *s)
{
    uint64_t h = weft_state_hash(&s->state);
    h = result_hash(&s->res, h);
    return weft_hash(s->row, sizeof s->row[0] * (size_t)s->rows, h);
}

static struct stand *standing(struct toy *t, const char *text, int k)
{
    struct stand *s = WEFT_NEW(mem, struct stand, 1);
    weft_check(stand_up(s, t, text, k) == WEFT_OK, "%s", weft_error());
    return s;
}

/* Own layers are one tensor, so that both parts exist. */
static const char *mixed(const char *algorithm)
{
    return weft_arena_text(
        mem,
        "[fed]\nalgorithm = %s\ncohort = 4\nscore_both = yes\n"
        "eval_clients = 5\neval_every = 3\nscore = loss\n"
        "[client]\nlr = log 0.01 .. 0.5\nbatch = 2 .. 9\nmu = 0 .. 1\n"
        "[server]\nmomentum = 0.5\n[fedper]\nown = fc1.bias\n"
        "[fedrep]\nown = fc1.bias\n"
        "[device]\navailability = 0.8\ndropout = 0.1\n%s",
        algorithm,
        strcmp(algorithm, "knn") == 0 ? "[knn]\nk = 1 .. 5\nlambda = 0 .. 1\n" : "");
}

static void test_same(struct toy *t, const char *algorithm)
{
    enum { K = 3 };
    const char *text = mixed(algorithm);
    struct stand *whole = standing(t, text, K);
    units(whole, MAX_ROUNDS, 0, MAX_ROUNDS);
    digest(hash_of(whole));
    ok(isfinite(whole->res.loss), "%s: it has a loss", algorithm);
    int equal = 1;
    for (int stop = 1; stop < MAX_ROUNDS; stop += 3) {
        struct stand *before = standing(t, text, K), *after = standing(t, text, K);
        units(before, MAX_ROUNDS, 0, stop);
        weft_check(weft_state_copy(&after->state, &before->state) == WEFT_OK, "%s",
                   weft_error());
        result_copy(&after->res, &before->res);
        memcpy(after->row, before->row, sizeof after->row);
        after->rows = before->rows;
        units(after, MAX_ROUNDS, stop, MAX_ROUNDS);
        equal &= hash_of(after) == hash_of(whole);
    }
    ok(equal, "stopped after any round it goes on to the same bits");
    weft_scores once, again;
    uint64_t hash = weft_state_hash(&whole->state);
    weft_status st = fed->score(whole->self, &whole->job, &whole->state, WEFT_TEST, &once);
    if (st == WEFT_OK)
        st = fed->score(whole->self, &whole->job, &whole->state, WEFT_TEST, &again);
    weft_check(st == WEFT_OK, "%s", weft_error());
    ok(memcmp(once.metric, again.metric, sizeof once.metric) == 0 &&
           hash == weft_state_hash(&whole->state),
       "its score changes nothing that clients keep");
}

/* Turns that clients have finished, of a federation without losses. */
static void test_turns(struct toy *t)
{
    struct stand *s = trained(t, options("ditto", 2, usual, ""), 1, 3);
    int turns = 0, never = 0;
    for (int c = 0; c < N; c++) {
        const real *own = kept(s, c, W + 1);
        turns += (int)own[-1];
        if (own[-1] > 0) continue;
        never++;
        for (int i = 0; i < W; i++) ok(!(fabs((double)own[i]) > 0), "it keeps nothing");
    }
    is_near(turns, 6, 0, "turns are counted");
    ok(never > 0, "some client was never drawn");
}

/* Clients kept out of training are never drawn, and are scored apart after full-batch
 * passes; which they are is told by the turns of a federation of the same seed. */
static void test_new(struct toy *t)
{
    enum { MANY = 40, PASSES = 3 };
    const char *out = "new_clients = 0.4\nnew_epochs = 3\n";
    struct stand *ditto = trained(t, options("ditto", 2, usual, out), 1, MANY);
    struct stand *avg =
        trained(t, options("fedavg", 2, "lr = 0.1\nbatch = 50\n", out), 1, 3);
    double w[W], before = 0, after = 0, n = 0;
    int fresh = 0;
    wide(avg->state.x, w);
    for (int c = 0; c < N; c++) {
        if (kept(ditto, c, W + 1)[-1] > 0) continue;
        double own[W];
        memcpy(own, w, sizeof own);
        for (int pass = 0; pass < PASSES; pass++) full_step(t, c, 0.1, own);
        struct sums first = part_score(t, c, WEFT_TEST, w),
                    last = part_score(t, c, WEFT_TEST, own);
        before += first.loss;
        after += last.loss;
        n += first.n;
        fresh++;
    }
    weft_scores told;
    weft_status st = fed->score(avg->self, &avg->job, &avg->state, WEFT_TEST, &told);
    weft_check(st == WEFT_OK, "%s", weft_error());
    ok(fresh > 0 && fresh < N, "%d of %d clients are new, and never drawn", fresh, N);
    is_near(score_of(fed, &told, "new_loss"), before / n, 1e-6, "they are scored apart");
    is_near(score_of(fed, &told, "adapted_loss"), after / n, 1e-6,
            "and after their passes");
}

/* What a new client learns of cpg is its embedding: its model is b + W v. */
static void test_adapt(struct toy *t)
{
    const char *few = options("cpg", 2, usual,
                              "new_clients = 0.4\nnew_epochs = 1\n[cpg]\ngenerate = all\n"
                              "size = 2\nlr_embedding = 0\n");
    struct stand *s = trained(t, few, 1, 3);
    weft_scores told;
    weft_status st = fed->score(s->self, &s->job, &s->state, WEFT_TEST, &told);
    weft_check(st == WEFT_OK, "%s", weft_error());
    is_near(score_of(fed, &told, "adapted_loss"), score_of(fed, &told, "new_loss"), 1e-6,
            "with an embedding that does not move a new client's model stays");
}

static void test_refused(struct toy *t, const char *text, const char *word)
{
    struct stand s;
    weft_status st = stand_up(&s, t, text, 1);
    ok(st != WEFT_OK && strstr(weft_error(), word), "%s: %s", word, weft_error());
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    struct toy *t = six_clients();
    test_equal(t);
    test_first_round(t);
    test_fednova();
    test_fednova_steps();
    test_strong_ditto(t);
    test_one_hot(t);
    test_gradients();
    test_gold();
    struct toy *forty = forty_clients(); /* some without samples of a part */
    for (int i = 0; i < (int)(sizeof algorithms / sizeof *algorithms); i++) {
        test_same(t, algorithms[i]);
        test_same(forty, algorithms[i]);
    }
    test_turns(t);
    test_new(t);
    test_adapt(t);
    test_refused(t, with("ditto", "replacement = yes\n"), "fed.replacement");
    test_refused(t, with("fedper", "[fedper]\nown = fc9\n"), "fc1.weight");
    test_refused(t, with("cpg", "[cpg]\ngenerate = none\n"), "cpg.generate");
    test_refused(t, with("dito", ""), "ditto");
    t->memory = 2000;
    test_refused(t, with("ditto", ""), "run.memory");
    for (int i = 0; i < ntoy; i++) weft_data_close(&toys[i]->data);
    return scratch_end();
}
