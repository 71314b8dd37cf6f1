/* Logistic regression and support vector machines against liblinear's objectives
 * (tests/gold/logistic.py), by dual ascent on sparse rows and by Newton steps on products.
 * RUN: np=1 np=2 np=3 np=4 */
#include "margin.h"

/* Options of a fit; L1 by products is slow, and not fitted as closely. */
static const char *options_of(const char *loss, double c, double tol)
{
    int l1 = strcmp(loss, "l1") == 0, logistic = strcmp(loss, "logistic") == 0;
    const char *more = l1 ? "\npenalty = l1" : logistic ? "" : "\nloss = ";
    return printed("C = %g\ntol = %g%s%s", c, tol, more, l1 || logistic ? "" : loss);
}

/* One problem in the three forms: the objective, what is reported of it, equal bits on any
 * number of ranks. The hinge by products of few columns takes thousands of sums over ranks:
 * those of many columns show its bits. */
static void check(const weft_model *model, const char *loss, double c,
                  struct problem *problem, double gold, double tightly)
{
    for (int k = 0; k < 3; k++) {
        int slow = k == PRODUCTS && strcmp(loss, "l1") == 0;
        double tol = slow ? 100 * tightly : tightly;
        int any_ranks = k != PRODUCTS || problem->f.d > FEW || strcmp(loss, "hinge") != 0;
        if (slow && (problem->f.d > FEW || problem->classes > 2)) continue;
        if (!any_ranks && problem->f.team->size > 1) continue;
        const char *options = options_of(loss, c, tol);
        double gain = constant(model, options, problem, c) - gold;
        real *w = WEFT_NEW(mem, real, nweight(model, problem));
        weft_fitted out = fit(model, options, problem, (form)k, w);
        double found = objective(model, options, problem, c, w);
        const char *what = printed("%s, %d columns, %d classes, C = %g, %s", loss,
                                   (int)problem->f.d, problem->classes, c, form_name[k]);
        note("%s: %d iterations, %d passes, %.1e above", what, out.iterations, out.passes,
             (found - gold) / gain);
        is_near(found, gold, tol * gain + 2e-6 * gold, "%s: the objective is liblinear's",
                what);
        is_near(out.objective * ROWS, found, 1e-4 * gold, "%s: it is reported", what);
        ok(out.residual <= tol && !out.diverged, "%s: the gap is within the tolerance",
           what);
        if (any_ranks) digest(bits(w, nweight(model, problem)));
    }
}

static void test_gold(void)
{
    FILE *gold = gold_of("logistic.txt");
    char loss[16];
    int d, classes, n = 0;
    double c, value;
    while (fscanf(gold, "%15s %d %d %lf %lf", loss, &d, &classes, &c, &value) == 5) {
        struct problem *problem = rows_new(d, classes);
        int logistic = strcmp(loss, "logistic") == 0 || strcmp(loss, "l1") == 0;
        check(logistic ? &weft_model_logistic : &weft_model_svm, loss, c, problem, value,
              logistic ? 1e-4 : 1e-3);
        n++;
    }
    fclose(gold);
    ok(n == 15, "fifteen problems were stored");
}

static void test_slack(const weft_model *model)
{
    struct problem *problem = rows_new(MANY, 2);
    int64_t n = nweight(model, problem);
    real *w = WEFT_NEW(mem, real, n), *loose = WEFT_NEW(mem, real, n);
    for (int k = 0; k < 3; k++) {
        weft_fitted exact = fit(model, "tol = 0.0009765625", problem, (form)k, w);
        memset(w, 0, (size_t)n * sizeof *w);
        fit(model, "tol = 0.0625", problem, (form)k, w);
        weft_fitted out = fit_to(model, "tol = 0.0009765625", problem, (form)k, 64, loose);
        ok(bits(w, n) == bits(loose, n) && out.passes < exact.passes,
           "%s, %s: 64 times the tolerance is that of a coarser fit", model->kind.name,
           form_name[k]);
        memset(w, 0, (size_t)n * sizeof *w);
        memset(loose, 0, (size_t)n * sizeof *loose);
    }
}

static void test_lanes(void)
{
    const weft_model *model = &weft_model_logistic;
    struct problem *problem = rows_new(MANY, 2);
    real *w = WEFT_NEW(mem, real, nweight(model, problem)),
         *again = WEFT_NEW(mem, real, nweight(model, problem));
    fit(model, "partitions = 1", problem, GROUPED, w);
    double one = objective(model, "", problem, 1, w);
    double gain = constant(model, "", problem, 1) - one;
    for (int partitions = 2; partitions <= 8; partitions *= 2) {
        weft_fitted out =
            fit(model, printed("partitions = %d", partitions), problem, GROUPED, w);
        is_near(objective(model, "", problem, 1, w), one, 3e-4 * gain,
                "%d partitions come to the objective of one", partitions);
        ok(out.residual <= 3e-4, "%d partitions end by the gap", partitions);
        digest(bits(w, nweight(model, problem)));
    }
    memcpy(again, w, (size_t)nweight(model, problem) * sizeof *w);
    fit(model, "partitions = 8", problem, GROUPED, again);
    ok(memcmp(w, again, (size_t)nweight(model, problem) * sizeof *w) == 0,
       "where dual ascent starts does not matter");
    for (int k = 0; k < 3; k++) {
        weft_fitted short_one =
            fit(model, "limit = 1\ntol = 1e-9", problem, (form)k, again);
        ok(short_one.iterations == 1, "%s: the limit is kept", form_name[k]);
        ok(short_one.residual > 1e-9, "%s: what is left is told", form_name[k]);
        memset(again, 0, (size_t)nweight(model, problem) * sizeof *w);
    }
    weft_fitted cold = fit(model, "tol = 1e-6", problem, PRODUCTS,
                           memset(w, 0, (size_t)nweight(model, problem) * sizeof *w));
    weft_fitted warm = fit(model, "tol = 1e-6", problem, PRODUCTS, w);
    ok(warm.passes < cold.passes / 2, "Newton steps go on from where w is");
}

/* Labels of `classes` classes, and some rows so long that visits gain next to nothing by
 * them and the gap is mostly theirs. */
static struct problem *many_new(int classes)
{
    enum { LONG = 300 };
    struct problem *problem = rows_new(MANY, 2);
    int64_t from, n, entries = problem->x.first[problem->x.n];
    weft_deal(ROWS, world.rank, world.size, &from, &n);
    float *value = WEFT_NEW(mem, float, entries);
    memcpy(value, problem->x.value, (size_t)entries * sizeof *value);
    for (int64_t i = 0; i < n; i++) {
        problem->label[i] = (int32_t)((from + i) * (from + i + 3) / 2 % classes);
        for (int64_t e = problem->x.first[i]; e < problem->x.first[i + 1]; e++)
            if ((from + i) % LONG == 0) value[e] *= 4096;
    }
    problem->classes = classes;
    problem->x.value = value;
    problem->f = rows_matrix(&problem->x, ROWS, MANY);
    return problem;
}

/* Outputs side by side, more than there are lanes too, against each alone on one rank:
 * fits of more ranks have the same digests. */
static void test_many(int classes)
{
    const weft_model *model = &weft_model_logistic;
    const char *options = "tol = 1e-4";
    struct problem *all = many_new(classes), *one = many_new(classes);
    real *w = WEFT_NEW(mem, real, nweight(model, all)),
         *alone = WEFT_NEW(mem, real, MANY + 1);
    weft_fitted out = fit(model, options, all, SPARSE, w);
    digest(bits(w, nweight(model, all)));
    ok(out.residual <= 1e-4, "%d: the gap is within the tolerance", classes);
    if (world.size > 1) return;
    double sum = 0, gain = constant(model, "", all, 1);
    int epochs = 0;
    one->classes = 2;
    for (int k = 0; k < classes; k++) {
        for (int64_t i = 0; i < one->f.n; i++) one->label[i] = all->label[i] == k;
        epochs += fit(model, options, one, SPARSE, alone).iterations;
        sum += objective(model, "", one, 1, alone);
    }
    double found = objective(model, "", all, 1, w);
    gain -= sum;
    is_near(found, sum, 2e-4 * gain, "%d outputs side by side are as good as alone",
            classes);
    ok(out.iterations < epochs / 4,
       "%d: in %d epochs for all, not %d, in spite of long rows", classes, out.iterations,
       epochs);
}

/* L1 with losses that outweigh the penalty: steps of Newton's method that are far too long,
 * and weights of about as many columns as there are rows. */
static void test_strong(void)
{
    const weft_model *model = &weft_model_logistic;
    for (double c = 100; c < 1e6; c *= 1000)
        for (int k = 0; k < 3; k++) {
            struct problem *problem = k ? rows_new(k == 1 ? FEW : MANY, 3) : many_new(3);
            real *w = WEFT_NEW(mem, real, nweight(model, problem));
            weft_fitted out = fit(model, options_of("l1", c, 1e-4), problem, SPARSE, w);
            ok(out.residual <= 1e-4,
               "l1, %d columns%s, C = %g: a gap of %.1e after %d steps and %d passes",
               (int)problem->f.d, k ? "" : ", some long rows", c, out.residual,
               out.iterations, out.passes);
            digest(bits(w, nweight(model, problem)));
        }
}

/* A problem with every even column a second time, MANY columns further. */
static struct problem *doubled(const struct problem *p)
{
    struct problem *q = WEFT_NEW(mem, struct problem, 1);
    int64_t entries = p->x.first[p->x.n], at = 0;
    int64_t *first = WEFT_NEW(mem, int64_t, p->x.n + 1);
    uint32_t *column = WEFT_NEW(mem, uint32_t, 2 * entries);
    float *value = WEFT_NEW(mem, float, 2 * entries);
    for (int64_t i = 0; i < p->x.n; i++) {
        for (uint32_t copy = 0; copy < 2; copy++)
            for (int64_t e = p->x.first[i]; e < p->x.first[i + 1]; e++) {
                if (copy && p->x.column[e] % 2) continue;
                column[at] = p->x.column[e] + copy * MANY;
                value[at++] = p->x.value[e];
            }
        first[i + 1] = at;
    }
    *q = *p;
    q->x = (weft_sparse){.n = p->x.n, .first = first, .column = column, .value = value};
    q->f = rows_matrix(&q->x, ROWS, 2 * MANY);
    return q;
}

/* L1: equal columns are fitted as one, whose weight they share. */
static void test_equal(void)
{
    const weft_model *model = &weft_model_logistic;
    struct problem *p = rows_new(MANY, 2), *q = doubled(p);
    real *w = WEFT_NEW(mem, real, nweight(model, p)),
         *v = WEFT_NEW(mem, real, nweight(model, q));
    const char *options = options_of("l1", 10, 1e-4);
    weft_fitted one = fit(model, options, p, SPARSE, w),
                two = fit(model, options, q, SPARSE, v);
    int weights = 0, wrong = w[MANY] != v[2 * (int64_t)MANY];
    for (int64_t j = 0; j < MANY; j++) {
        real share = j % 2 ? w[j] : w[j] / 2;
        weights += j % 2 == 0 && w[j] != 0;
        wrong += v[j] != share || (j % 2 == 0 && v[MANY + j] != share);
    }
    ok(weights > 0 && wrong == 0,
       "l1: two equal columns have half of the weight of one each");
    ok(one.passes == two.passes, "and cost no more steps: %d, %d", two.passes, one.passes);
}

/* |gradient at w| / |gradient at 0| of the first output. Collective. */
static double slope_of(const struct problem *problem, double c, const real *w)
{
    int64_t n = problem->f.n, d = problem->f.d;
    int outputs = problem->classes == 2 ? 1 : problem->classes, one = outputs == 1;
    real *z = WEFT_NEW(mem, real, 2 * n);
    double *g = WEFT_NEW(mem, double, 2 * d), at = 0, before = 0;
    rows_times(&problem->f, 1, w, z);
    for (int64_t i = 0; i < n; i++) {
        double y = problem->label[i] == one ? 1 : -1,
               m = y * (double)(z[i] + w[outputs * d]);
        z[i] = (real)(-c * y / (1 + exp(m)));
        z[n + i] = (real)(-c * y / 2);
    }
    rows_trans(&problem->f, 2, z, g);
    for (int64_t j = 0; j < d; j++) {
        at += pow(g[j] + (double)w[j], 2);
        before += pow(g[d + j], 2);
    }
    return sqrt(at / before);
}

/* Newton steps, to which dual ascent leaves rows that share most of their columns: columns
 * that no row has have weights 0 and change no bit. */
static void test_spread(int classes)
{
    enum { APART = 37 };
    const weft_model *model = &weft_model_logistic;
    const char *options = options_of("logistic", 1000, 1e-4);
    struct problem *p = rows_new(FEW, classes), *q = rows_new(FEW, classes);
    int64_t entries = p->x.first[p->x.n], d = p->f.d, outputs = model->outputs(classes);
    uint32_t *column = WEFT_NEW(mem, uint32_t, entries);
    for (int64_t e = 0; e < entries; e++) column[e] = APART * p->x.column[e];
    q->x.column = column;
    q->f = rows_matrix(&q->x, ROWS, APART * d);
    real *w = WEFT_NEW(mem, real, nweight(model, p)),
         *v = WEFT_NEW(mem, real, nweight(model, q));
    weft_fitted one = fit(model, options, p, SPARSE, w),
                two = fit(model, options, q, SPARSE, v);
    int64_t wrong = 0;
    for (int64_t j = 0; j < outputs * APART * d; j++)
        wrong += v[j] != (j % APART ? 0 : w[j / APART]);
    for (int64_t k = 0; k < outputs; k++)
        wrong += v[outputs * APART * d + k] != w[outputs * d + k];
    ok(wrong == 0 && one.passes == two.passes,
       "%d classes: columns that do not occur change no weight (%d differ)", classes,
       (int)wrong);
    double c = 1000, gradient = slope_of(p, c, w);
    ok(gradient < 1e-3, "%d classes: the gradient is %.1e of that at 0", classes, gradient);
    digest(bits(w, nweight(model, p)));
}

/* At the optimum of logistic loss the gradient vanishes: w = C sum y x / (1 + exp(m)). */
static void test_gradient(void)
{
    const weft_model *model = &weft_model_logistic;
    struct problem *problem = rows_new(MANY, 2);
    for (int k = 0; k < 3; k++) {
        real *w = WEFT_NEW(mem, real, MANY + 1), *z = WEFT_NEW(mem, real, problem->f.n);
        double *g = WEFT_NEW(mem, double, MANY), size = 0, rest = 0, sum = 0;
        fit(model, "tol = 1e-7", problem, (form)k, w);
        rows_times(&problem->f, 1, w, z);
        for (int64_t i = 0; i < problem->f.n; i++) {
            double y = problem->label[i] == 1 ? 1 : -1;
            z[i] = (real)(y / (1 + exp(y * (double)(z[i] + w[MANY]))));
            sum += (double)z[i];
        }
        rows_trans(&problem->f, 1, z, g);
        weft_sum_f64(&world, &sum, 1, ROWS);
        for (int64_t j = 0; j < MANY; j++) {
            size += (double)w[j] * (double)w[j];
            rest += (g[j] - (double)w[j]) * (g[j] - (double)w[j]);
        }
        ok(sqrt(rest / size) < 0.01, "%s: the gradient vanishes", form_name[k]);
        is_near(sum, w[MANY], 0.05, "%s: for the intercept too", form_name[k]);
    }
}

/* Scores of both signs that are beyond any number. */
static void test_diverged(void)
{
    const weft_model *model = &weft_model_logistic;
    struct problem *problem = rows_new(MANY, 2);
    real *w = WEFT_NEW(mem, real, nweight(model, problem));
    for (int64_t j = 0; j < problem->f.d; j++)
        w[j] = (real)(j % 2 ? 1 : -1) * (sizeof(real) == 4 ? (real)3e38 : (real)1e308);
    weft_fitted out = fit(model, "limit = 3", problem, PRODUCTS, w);
    ok(out.diverged && out.iterations == 1, "a fit of scores that overflow has diverged");
}

static void test_loss(void)
{
    const weft_model *m = &weft_model_logistic, *v = &weft_model_svm;
    const void *logistic = model_new(m, ""), *hinge = model_new(v, "");
    const void *squared = model_new(v, "loss = squared");
    double s[3] = {0.5, -0.25, -2}, huge[1] = {-1e5};
    int wrong;
    ok(m->outputs(2) == 1 && m->outputs(3) == 3, "two classes have one output");
    is_near(m->loss(logistic, 2, s, 1, &wrong), log1p(exp(-0.5)), 1e-15, "logistic loss");
    ok(wrong == 0, "a positive score says class 1");
    is_near(m->loss(logistic, 2, s, 0, &wrong), log1p(exp(0.5)), 1e-15, "its other side");
    ok(wrong == 1, "and not class 0");
    is_near(m->loss(logistic, 2, huge, 1, &wrong), 1e5, 1e-9,
            "far margins do not overflow");
    is_near(v->loss(hinge, 2, s, 1, &wrong), 0.5, 1e-15, "hinge loss");
    is_near(v->loss(squared, 2, s, 0, &wrong), 2.25, 1e-15, "squared hinge loss");
    is_near(v->loss(hinge, 3, s, 0, &wrong), 0.5 + 0.75 + 0, 1e-15,
            "three classes: the sum over one against the rest");
    ok(wrong == 0, "the largest score is the answer");
    v->loss(hinge, 3, s, 2, &wrong);
    ok(wrong == 1, "another label is wrong");
    ok(m->bound(logistic, 3) > 0 && v->bound(hinge, 2) > 0, "bounds are positive");
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    test_gold();
    test_lanes();
    test_strong();
    test_equal();
    test_slack(&weft_model_logistic);
    if (world.size == 1) test_slack(&weft_model_svm);
    test_spread(2);
    test_spread(5);
    test_many(21);
    test_many(MAX_CLASSES);
    return TESTS(test_gradient, test_diverged, test_loss);
}
