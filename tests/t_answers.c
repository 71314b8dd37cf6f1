/* Models that learn numbers, or rows of different weights: against normal equations
 * (tests/gold/answers.py), and against fits to rows that are there as often as they weigh.
 * RUN: np=1 np=2 np=3 */

#include "rows.h"
#include "weft/data/data.h"
#include "weft/model/model.h"

enum { N = 300, D = 12, TARGETS = 3, MOST = 4 * N };

/* Rows of this rank, and what is to be said of them. */
struct problem {
    weft_matrix f;
    weft_sparse x;
    weft_answers y;
};

static int64_t weight_of(int64_t i)
{
    return (i * i + i / 3) % 4;
}

static double number_of(int64_t i, int64_t k)
{
    return (double)((i * i * (k + 3) + 17 * i * (k + 1) + 7 * k * k) % 1009 - 300) / 256;
}

static double target_of(int64_t i, int64_t j)
{
    return (double)((i * i * (j + 5) + 13 * i * (j + 2)) % 211 - 90) / 64 +
           number_of(i, 0) * (double)(j + 1) - number_of(i, 1) / 2;
}

/* Rows row[total], as tests/gold/answers.py makes them; with their weights, whose mean is
 * 1, or each counting once. */
static struct problem *made(int64_t total, const int64_t *row, int targets, int weighted)
{
    struct problem *problem = WEFT_NEW(mem, struct problem, 1);
    int64_t from, n, sum = 0;
    weft_deal(total, world.rank, world.size, &from, &n);
    int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
    uint32_t *column = WEFT_NEW(mem, uint32_t, n * D);
    float *value = WEFT_NEW(mem, float, n *D);
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    double *target = WEFT_NEW(mem, double, n *TARGETS), *weight = WEFT_NEW(mem, double, n);
    for (int64_t i = 0; i < total; i++) sum += weight_of(row[i]);
    for (int64_t i = 0; i < n; i++) {
        int64_t r = row[from + i];
        for (int k = 0; k < D; k++) {
            column[i * D + k] = (uint32_t)k;
            value[i * D + k] = (float)number_of(r, k);
        }
        first[i + 1] = (i + 1) * D;
        label[i] = (int32_t)((target_of(r, 0) > 0) + (target_of(r, 1) > 1));
        for (int j = 0; j < targets; j++) target[i * targets + j] = target_of(r, j);
        weight[i] = (double)(real)((double)weight_of(r) * (double)total / (double)sum);
    }
    problem->x = (weft_sparse){.n = n, .first = first, .column = column, .value = value};
    problem->f = rows_matrix(&problem->x, total, D);
    problem->y = (weft_answers){.classes = targets > 0 ? targets : 3,
                                .label = label,
                                .target = targets > 0 ? target : NULL,
                                .weight = weighted ? weight : NULL};
    return problem;
}

static struct problem *plain(int targets, int weighted)
{
    int64_t *row = WEFT_NEW(mem, int64_t, N);
    for (int64_t i = 0; i < N; i++) row[i] = i;
    return made(N, row, targets, weighted);
}

/* Each row as often as it weighs. */
static struct problem *repeated(int targets)
{
    int64_t *row = WEFT_NEW(mem, int64_t, MOST), n = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < weight_of(i); k++) row[n++] = i;
    return made(n, row, targets, 0);
}

static real *fit(const weft_model *model, const char *options,
                 const struct problem *problem, weft_fitted *out)
{
    void *self = bound_with(&model->kind, options, '\n');
    real *w = WEFT_NEW(mem, real, model->outputs(problem->y.classes) * (D + 1));
    model->fit(self, &problem->f, &problem->y, 1, w, out, mem);
    return w;
}

static double apart(int64_t n, const real *a, const real *b)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* ---- numbers ---- */

/* Two classes, the rarer one of which counts as much as the other. */
static void test_balanced(FILE *gold)
{
    double want[D + 1], weight[2];
    for (int k = 0; k <= D; k++)
        weft_check(fscanf(gold, "%lf", &want[k]) == 1, "answers.txt is too short");
    for (int sparse = 0; sparse < 2; sparse++) {
        struct problem *problem = plain(1, 0);
        int64_t n = problem->f.n, count[2] = {0};
        int32_t *label = WEFT_NEW(mem, int32_t, n);
        double *own = WEFT_NEW(mem, double, n), most = 0;
        for (int64_t i = 0; i < n; i++) count[label[i] = problem->y.target[i] > 2]++;
        weft_sum_i64(&world, count, 2);
        weft_class_weights(2, count, weight);
        for (int64_t i = 0; i < n; i++) own[i] = weight[label[i]];
        problem->y = (weft_answers){.classes = 2, .label = label, .weight = own};
        if (sparse) problem->f.rows = &problem->x;
        weft_fitted out;
        real *w = fit(&weft_model_logistic, "C = 0.3\ntol = 1e-9", problem, &out);
        for (int k = 0; k <= D; k++) most = fmax(most, fabs((double)w[k] - want[k]));
        ok(most < (sparse ? 5e-4 : 1e-4) && count[1] < count[0],
           "weights n / (K n_c) of classes: liblinear's with class_weight = balanced, %s, "
           "to %.1e",
           sparse ? "by dual ascent" : "by Newton steps", most);
    }
}

static void test_gold(void)
{
    FILE *gold = gold_of("answers.txt");
    for (int weighted = 0; weighted < 2; weighted++) {
        weft_fitted out;
        const char *what = weighted ? "weighted" : "plain";
        real *w = fit(&weft_model_ridge, "solver = cg\ntol = 1e-13\nalpha = 0.5",
                      plain(TARGETS, weighted), &out);
        double most = 0, x;
        for (int j = 0; j < TARGETS; j++)
            for (int k = 0; k <= D; k++) {
                weft_check(fscanf(gold, "%lf", &x) == 1, "answers.txt is too short");
                double own = (double)w[k < D ? j * D + k : TARGETS * D + j];
                most = fmax(most, fabs(own - x));
            }
        ok(most < 2e-5, "%s rows: the normal equations' weights, to %.1e", what, most);
        ok(!out.diverged && out.residual < 1e-5, "%s rows: residual %.1e", what,
           out.residual);
        digest(weft_hash(w, TARGETS * (D + 1) * sizeof *w, 0));
    }
    test_balanced(gold);
    fclose(gold);
}

/* The objective of one target as it is defined, per row. */
static double objective(const struct problem *problem, double alpha, const real *w)
{
    double sum = 0;
    for (int64_t i = 0; i < problem->f.n; i++) {
        double off = (double)w[D] - problem->y.target[i];
        double weight = problem->y.weight ? problem->y.weight[i] : 1;
        for (int k = 0; k < D; k++)
            off += (double)w[k] * (double)problem->x.value[i * D + k];
        sum += weight * off * off;
    }
    weft_sum_f64(&world, &sum, 1, 1e6);
    for (int k = 0; k < D; k++) sum += alpha * (double)w[k] * (double)w[k];
    return sum / N;
}

static void test_objective(void)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        weft_fitted out, early;
        const struct problem *problem = plain(1, weighted);
        real *w = fit(&weft_model_ridge, "alpha = 2\ntol = 1e-12", problem, &out);
        is_near(out.objective, objective(problem, 2, w), 1e-5 * out.objective,
                "one target: the objective is the penalised squared error");
        fit(&weft_model_ridge, "alpha = 2", problem, &early);
        ok(early.iterations < out.iterations && early.objective <= out.objective * 1.003,
           "the default tolerance is a share of the squared error, which is %.5f times the "
           "least",
           early.objective / out.objective);
    }
    /* Errors of 1e-3 of the targets: a share of the gain would lose them. */
    struct problem *problem = plain(1, 0);
    double *target = WEFT_NEW(mem, double, problem->f.n);
    for (int64_t i = 0; i < problem->f.n; i++)
        target[i] = (double)problem->x.value[i * D] -
                    (double)problem->x.value[i * D + 3] / 3 + 1e-3 * problem->y.target[i];
    problem->y.target = target;
    weft_fitted exact, early;
    real *w = fit(&weft_model_ridge, "alpha = 1e-3\ntol = 1e-12", problem, &exact);
    real *v = fit(&weft_model_ridge, "alpha = 1e-3", problem, &early);
    double times = objective(problem, 1e-3, v) / objective(problem, 1e-3, w);
    ok(times < 1.01, "also where nearly all is explained: %.5f times the least", times);
}

/* ---- weights ---- */

static void test_class_weights(void)
{
    enum { ROWS = 6 };
    const int64_t count[] = {3, 0, 1};
    const int32_t label[ROWS] = {0, 1, 0, 0, 1, 0};
    const double own[ROWS] = {1, 2, 0.5, 4, 0.25, 0}, share[] = {0.75, 1.5};
    double weight[3], class[2], most = 0;
    weft_class_weights(3, count, weight);
    is_near(weight[0], 4 / (2 * 3.0), 1e-15, "the weight of a class is n / (K n_c),");
    is_near(weight[2], 4 / (2 * 1.0), 1e-15, "K being the classes that are there");
    is_near(weight[1], 0, 0, "a class without rows weighs nothing");
    weft_data data = {.classes = 2, .team = &world};
    data.part[WEFT_TRAIN] = (weft_rows){.n = ROWS, .label = label, .weight = own};
    const double *all = weft_data_balance(&data, class, mem);
    for (int i = 0; i < ROWS; i++)
        most = fmax(most, fabs(all[i] - own[i] * share[label[i]]));
    is_near(most, 0, 1e-15, "weights of classes are multiples of those of rows");
}

/* Twice the weights and the penalty are the same problem. */
static void test_doubled(void)
{
    weft_fitted once, twice;
    struct problem *problem = plain(1, 1);
    real *w = fit(&weft_model_ridge, "alpha = 2\ntol = 1e-12", problem, &once);
    double *weight = WEFT_NEW(mem, double, problem->f.n);
    for (int64_t i = 0; i < problem->f.n; i++) weight[i] = 2 * problem->y.weight[i];
    problem->y.weight = weight;
    real *v = fit(&weft_model_ridge, "alpha = 4\ntol = 1e-12", problem, &twice);
    is_near(apart(D + 1, w, v), 0, 1e-6, "twice the weights and the penalty: the same fit");
    is_near(twice.objective, once.objective, 1e-6 * once.objective,
            "with the same objective per weight");
}

static void test_repeated(int sparse)
{
    static const struct {
        const weft_model *model;
        int targets;
        const char *what, *options;
    } row[] = {
        {&weft_model_ridge, 2, "ridge, numbers", "tol = 1e-13"},
        {&weft_model_ridge, 0, "ridge", "tol = 1e-13"},
        {&weft_model_logistic, 0, "logistic", "tol = 1e-7"},
        {&weft_model_logistic, 0, "logistic, l1", "tol = 1e-7\npenalty = l1"},
        {&weft_model_svm, 0, "svm, squared", "tol = 1e-6\nloss = squared"},
        {&weft_model_svm, 0, "svm", "tol = 1e-6"},
    };
    /* Weights have the mean 1: N of them say as much as `often` rows with a penalty of that
     * share. */
    double often = 0;
    for (int64_t i = 0; i < N; i++) often += (double)weight_of(i);
    for (int k = 0; k < (int)LEN(row); k++) {
        struct problem *few = plain(row[k].targets, 1), *many = repeated(row[k].targets),
                       *equal = plain(row[k].targets, 0);
        if (sparse) few->f.rows = &few->x;
        if (sparse) many->f.rows = &many->x;
        if (sparse) equal->f.rows = &equal->x;
        weft_fitted one, all;
        int ridge = row[k].model == &weft_model_ridge;
        const char *key = ridge ? "alpha" : "C", *options = row[k].options;
        double share = ridge ? N / often : often / N;
        real *w =
            fit(row[k].model, printed("%s\n%s = %.17g", options, key, share), few, &one);
        real *v = fit(row[k].model, printed("%s\n%s = 1", options, key), many, &all);
        int outputs = row[k].model->outputs(row[k].targets > 0 ? row[k].targets : 3);
        double far = apart(outputs * (D + 1), w, v);
        ok(far < 1e-3 && !one.diverged,
           "%s%s: a row of weight k is k rows, the fits differ by %.1e",
           sparse ? "sparse, " : "", row[k].what, far);
        ok(one.residual <= fmax(2 * all.residual, 1e-6), "to a gap of %.1e", one.residual);
        ok(apart(outputs * (D + 1), w, fit(row[k].model, options, equal, &all)) > 2 * far,
           "and not one");
        digest(weft_hash(w, (size_t)(outputs * (D + 1)) * sizeof *w, 0));
    }
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    test_gold();
    test_objective();
    test_class_weights();
    test_doubled();
    test_repeated(0);
    test_repeated(1);
    return tap_end();
}
