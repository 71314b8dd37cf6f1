/* A fit with the default tolerance does not depend on the unit of the features: at every
 * scale its accuracy is that of a fit to the optimum, also in fits shared by several maps.
 * RUN: np=1 np=2 */
#include "weft/model/model.h"

#include "rows.h"

enum { TRAIN = 600, VALID = 1800, D = 120, GROUPS = 4, ENTRIES = 12 };
enum { SLACK = 3 }; /* the default of fmap.slack */

typedef enum form { PRODUCTS, SPARSE, GROUPED } form;

/* A model with its options, and the matrix that it is given; the tolerance that counts as
 * the optimum: the hinge has corners, where convergence is slow. */
struct variant {
    const weft_model *model;
    const char *options;
    const char *tight;
    form as;
};

static const struct variant variants[] = {
    {&weft_model_logistic, "", "1e-8", SPARSE},
    {&weft_model_ridge, "", "1e-8", PRODUCTS},
    {&weft_model_logistic, "", "1e-8", GROUPED},
    {&weft_model_logistic, "", "1e-8", PRODUCTS},
    {&weft_model_svm, "loss = hinge", "1e-4", SPARSE},
    {&weft_model_svm, "loss = hinge", "1e-4", GROUPED},
    {&weft_model_svm, "loss = hinge", "1e-4", PRODUCTS},
    {&weft_model_svm, "loss = squared", "1e-8", GROUPED},
    {&weft_model_svm, "loss = squared", "1e-8", PRODUCTS},
};
/* The first two stand for all with three classes. */
enum { VARIANTS = LEN(variants), FEW = 2 };
static const char *const form_name[] = {"products", "rows", "groups of rows"};

/* Training and validation rows. */
struct problem {
    weft_sparse x[2];
    int32_t *label[2];
    int *group; /* of training rows */
    int classes;
};

/* ---- data by a rule ---- */

static double normal_at(uint64_t what, uint64_t i, uint64_t j)
{
    weft_rng4 rng = weft_rng_at(7, WEFT_RNG_SOLVE, what, i, j);
    return sqrt(-2 * log(1 - weft_rng_unit(rng.v[0]))) *
           cos(2 * 3.141592653589793 * weft_rng_unit(rng.v[1]));
}

/* A row of entries times the scale and the unit of their column. Returns its label: the
 * largest of `classes` linear functions of the entries, and chance. */
static int32_t row_draw(uint64_t id, double scale, int uneven, int classes,
                        uint32_t *column, float *value)
{
    int step = D / ENTRIES;
    double score[4] = {0};
    for (int e = 0; e < ENTRIES; e++) {
        weft_rng4 rng = weft_rng_at(7, WEFT_RNG_SOLVE, 1, id, (uint64_t)e);
        uint32_t j = (uint32_t)(e * step + (int)(weft_rng_unit(rng.v[0]) * step));
        double x = (0.5 + weft_rng_unit(rng.v[1])) * (rng.v[2] % 2 ? 1 : -1);
        column[e] = j;
        value[e] = (float)(x * scale * (uneven ? pow(10, -(double)(j % 4)) : 1));
        for (int k = 0; k < classes; k++)
            score[k] += x * normal_at(2, (uint64_t)j, (uint64_t)k);
    }
    int most = 0;
    for (int k = 0; k < classes; k++) {
        score[k] += normal_at(3, id, (uint64_t)k);
        if (score[k] > score[most]) most = k;
    }
    return (int32_t)most;
}

/* Row i has label i modulo `classes`, so that classes are equally large: small features
 * are not outweighed by the intercepts. */
static int32_t row_make(int64_t i, double scale, int uneven, int classes, uint32_t *column,
                        float *value)
{
    int32_t label = (int32_t)(i % classes);
    uint64_t id = (uint64_t)i * 1000;
    while (row_draw(id, scale, uneven, classes, column, value) != label) id++;
    return label;
}

static struct problem problem_new(double scale, int uneven, int classes)
{
    struct problem problem = {.classes = classes};
    for (int part = 0; part < 2; part++) {
        int64_t from, n;
        weft_deal(part ? VALID : TRAIN, world.rank, world.size, &from, &n);
        int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
        uint32_t *column = WEFT_NEW(mem, uint32_t, n * ENTRIES);
        float *value = WEFT_NEW(mem, float, n *ENTRIES);
        problem.label[part] = WEFT_NEW(mem, int32_t, n);
        for (int64_t k = 0; k < n; k++) {
            first[k + 1] = (k + 1) * ENTRIES;
            problem.label[part][k] =
                row_make((part ? TRAIN : 0) + from + k, scale, uneven, classes,
                         column + k * ENTRIES, value + k * ENTRIES);
        }
        problem.x[part] =
            (weft_sparse){.n = n, .first = first, .column = column, .value = value};
        if (part) continue;
        problem.group = WEFT_NEW(mem, int, n);
        for (int64_t k = 0; k < n; k++) problem.group[k] = (int)((from + k) % GROUPS);
    }
    return problem;
}

/* ---- fits ---- */

static void *model_new(const weft_model *model, const char *options)
{
    return bound_with(&model->kind, options, '\n');
}

/* Percent of the validation rows that a fit gets right. */
static double accuracy(const struct problem *problem, const struct variant *variant,
                       const char *options, double slack, weft_fitted *out)
{
    size_t mark = weft_arena_mark(mem);
    const void *self =
        model_new(variant->model, printed("%s\n%s", variant->options, options));
    weft_matrix matrix = rows_matrix(&problem->x[0], TRAIN, D);
    if (variant->as != PRODUCTS) matrix.rows = &problem->x[0];
    if (variant->as == GROUPED) {
        matrix.group = problem->group;
        matrix.ngroup = GROUPS;
    }
    int outputs = variant->model->outputs(problem->classes);
    real *w = WEFT_NEW(mem, real, outputs * (D + 1));
    variant->model->fit(
        self, &matrix,
        &(weft_answers){.classes = problem->classes, .label = problem->label[0]}, slack, w,
        out, mem);
    double score[4];
    int64_t right = 0;
    for (int64_t i = 0; i < problem->x[1].n; i++) {
        int wrong;
        for (int k = 0; k < outputs; k++)
            score[k] =
                weft_sparse_dot(&problem->x[1], i, w + k * D) + (double)w[outputs * D + k];
        variant->model->loss(self, problem->classes, score, problem->label[1][i], &wrong);
        right += !wrong;
    }
    weft_sum_i64(&world, &right, 1);
    weft_arena_reset(mem, mark);
    return 100.0 * (double)right / VALID;
}

static void check(const struct problem *problem, const struct variant *variant,
                  const char *what)
{
    weft_fitted tight, own, shared;
    double exact =
               accuracy(problem, variant, printed("tol = %s", variant->tight), 1, &tight),
           found = accuracy(problem, variant, "", 1, &own),
           loose = accuracy(problem, variant, "", SLACK, &shared);
    const char *name =
        printed("%s %s, %s, %d classes, %s", variant->model->kind.name, variant->options,
                form_name[variant->as], problem->classes, what);
    note("%s: %.2f %% to the optimum, %.2f, %.2f; iterations %d, %d, %d; passes %d, %d, %d",
         name, exact, found, loose, tight.iterations, own.iterations, shared.iterations,
         tight.passes, own.passes, shared.passes);
    ok(found >= exact - 1, "%s: as right as the optimum", name);
    ok(loose >= exact - 1, "%s: so is a fit that maps share", name);
}

static void test_scales(void)
{
    const double scales[] = {1e-4, 1e3, 1e-3, 0.03, 1};
    for (int s = 0; s < FEW(5); s++)
        for (int classes = 2; classes <= 3; classes++) {
            size_t mark = weft_arena_mark(mem);
            struct problem problem = problem_new(scales[s], 0, classes);
            const char *what = printed("features of %g", scales[s]);
            for (int v = 0; v < (classes == 2 ? VARIANTS : FEW); v++)
                check(&problem, &variants[v], what);
            weft_arena_reset(mem, mark);
        }
}

/* Columns of four units: where the largest are fitted, much is still to be gained. */
static void test_uneven(void)
{
    struct problem problem = problem_new(30, 1, 2);
    for (int v = 0; v < VARIANTS; v++)
        if (variants[v].model == &weft_model_logistic)
            check(&problem, &variants[v], "columns of four units");
}

/* Nothing to be gained: fits end at once, with the best constant. */
static void test_nothing(void)
{
    struct problem problem = problem_new(0, 0, 2);
    for (int v = 0; v < VARIANTS; v++) {
        weft_fitted out;
        accuracy(&problem, &variants[v], "tol = 1e-8", 1, &out);
        ok(!out.diverged && out.passes <= 60,
           "%s %s, %s: features of value 0 take %d passes", variants[v].model->kind.name,
           variants[v].options, form_name[variants[v].as], out.passes);
    }
}

MAIN(ranks, test_scales, test_uneven, test_nothing)
