/* Models with a loss of the margin, one class against the rest: many classes fitted
 * together against each fitted alone, classes without samples, and the estimate of what a
 * fit still lacks.
 * RUN: np=1 np=2 np=3 np=4 */
#include "margin.h"

/* Labels of so many classes; `rare`: the last but one has one sample, the last has none. */
static void relabel(struct problem *problem, int classes, int rare)
{
    int64_t from, n;
    weft_deal(ROWS, problem->f.team->rank, problem->f.team->size, &from, &n);
    problem->classes = classes;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = from + k;
        int c = (int)((i * i * 5 + i * 3 + i / 7) % 101 % (classes - 2 * rare));
        problem->label[k] = rare && i == 100 ? classes - 2 : c;
    }
}

/* Fits one class after the other, as problems of two classes; how far the fit of all is
 * above the worst of them, as a share of its gain. */
static double worst_of(const weft_model *model, const char *options,
                       struct problem *problem, form as, const real *all)
{
    int classes = problem->classes;
    int64_t d = problem->f.d;
    int32_t *label = problem->label, *own = WEFT_NEW(mem, int32_t, problem->f.n);
    double worst = 0;
    problem->label = own;
    problem->classes = 2;
    for (int k = 0; k < classes; k++) {
        real *w = WEFT_NEW(mem, real, d + 1), *joint = WEFT_NEW(mem, real, d + 1);
        for (int64_t i = 0; i < problem->f.n; i++) own[i] = label[i] == k;
        memcpy(joint, all + k * d, (size_t)d * sizeof *w);
        joint[d] = all[classes * d + k];
        fit(model, options, problem, as, w);
        double one = objective(model, options, problem, 1, w),
               found = objective(model, options, problem, 1, joint);
        double gain = constant(model, options, problem, 1) - one;
        worst = fmax(worst, (found - one) / (gain + 1e-2 * one));
    }
    problem->label = label;
    problem->classes = classes;
    return worst;
}

/* All classes side by side come to what each comes to on its own, and to what Newton steps
 * come to; the hinge, where those are slow, has them for three classes. Fits are compared
 * on one rank: those of more ranks have the same digests. Newton steps take many sums over
 * ranks: on several ranks few classes have them, and the hinge, which needs most of them,
 * those that complete dual ascent only. */
static void check_many(const weft_model *model, const char *loss, struct problem *problem,
                       const char *which)
{
    size_t mark = weft_arena_mark(mem);
    double tol = 3e-3;
    const char *options = printed("%stol = %g", loss, tol);
    real *w[3];
    double found[3], best = 0;
    int hinge = strstr(loss, "hinge") != NULL, few = problem->classes < MAX_CLASSES;
    int newton = problem->classes == 3 || !hinge, single = problem->f.team->size == 1;
    for (int k = newton ? PRODUCTS : SPARSE; k <= GROUPED; k++) {
        int any_ranks = k == PRODUCTS ? few && !hinge : few || !hinge;
        if (!any_ranks && !single) continue;
        w[k] = WEFT_NEW(mem, real, nweight(model, problem));
        weft_fitted out = fit(model, options, problem, (form)k, w[k]);
        found[k] = objective(model, options, problem, 1, w[k]);
        const char *what = printed("%s %s%d classes%s, %s", model->kind.name, loss,
                                   problem->classes, which, form_name[k]);
        ok(out.residual <= tol && !out.diverged, "%s: to the tolerance", what);
        is_near(out.objective * ROWS, found[k], 1e-4 * found[k], "%s: it is reported",
                what);
        if (any_ranks) digest(bits(w[k], nweight(model, problem)));
        if (!single) continue;
        if (k == PRODUCTS) {
            best = constant(model, options, problem, 1) - found[k];
            continue;
        }
        if (newton)
            is_near(found[k], found[PRODUCTS], tol * best + 2e-6 * found[k],
                    "%s: Newton's objective", what);
        double worst = worst_of(model, options, problem, (form)k, w[k]);
        ok(worst <= tol, "%s: as each class on its own (%.1e)", what, worst);
    }
    weft_arena_reset(mem, mark);
}

static void test_many(void)
{
    const int classes[] = {3, 5, MAX_CLASSES};
    struct problem *problem = rows_new(MANY, 2);
    for (int c = 0; c < 3; c++) {
        int rare = classes[c] > 3;
        relabel(problem, classes[c], rare);
        const char *which = rare ? ", one empty, one of one sample" : "";
        check_many(&weft_model_logistic, "", problem, which);
        check_many(&weft_model_svm, "loss = hinge\n", problem, which);
        check_many(&weft_model_svm, "loss = squared\n", problem, which);
    }
}

/* A class without a sample has the best constant score, after no epoch. */
static void test_alike(void)
{
    const struct {
        const weft_model *m;
        const char *options;
        double b; /* b + C n / (1 + exp(-b)) = 0; the kink; b + 2 C n (1 + b) = 0 */
    } kind[] = {{&weft_model_logistic, "", -5.588735},
                {&weft_model_svm, "loss = hinge", -1},
                {&weft_model_svm, "loss = squared", -2.0 * ROWS / (1 + 2.0 * ROWS)}};
    struct problem *problem = rows_new(MANY, 2);
    for (int classes = 2; classes <= 3; classes++) {
        problem->classes = classes;
        for (int64_t i = 0; i < problem->f.n; i++) problem->label[i] = 0;
        for (int k = 0; k < 3; k++) {
            for (int as = PRODUCTS; as <= GROUPED; as++) {
                const char *what = printed("%s %s, %d classes, %s", kind[k].m->kind.name,
                                           kind[k].options, classes, form_name[as]);
                real *w = WEFT_NEW(mem, real, nweight(kind[k].m, problem));
                int n = kind[k].m->outputs(classes);
                weft_fitted out = fit(kind[k].m, kind[k].options, problem, (form)as, w);
                double most = 0;
                for (int64_t j = 0; j < n * problem->f.d; j++)
                    most = fmax(most, fabs((double)w[j]));
                ok(most == 0 && out.iterations == 0 && out.residual == 0,
                   "%s: the constant at once", what);
                is_near(w[n * problem->f.d + n - 1], kind[k].b, 1e-5, "%s: the best one",
                        what);
            }
        }
    }
}

/* Textbook dual ascent for the hinge in double, the intercept as a column of ones, C = 1.
 * Returns the primal objective; *dual is below the optimum. Rows are all on this rank. */
static double textbook(const struct problem *problem, double *dual)
{
    enum { EPOCHS = 3000 };
    int64_t d = problem->f.d;
    double *w = WEFT_NEW(mem, double, d + 1), *a = WEFT_NEW(mem, double, problem->f.n);
    double w2 = 0, sum = 0, loss = 0;
    for (int epoch = 0; epoch <= EPOCHS; epoch++) {
        for (int64_t i = 0; i < problem->f.n; i++) {
            double y = problem->label[i] == 1 ? 1 : -1;
            double m = y * w[d], q = 1 + weft_sparse_norm2(&problem->x, i);
            for (int64_t e = problem->x.first[i]; e < problem->x.first[i + 1]; e++)
                m += y * w[problem->x.column[e]] * (double)problem->x.value[e];
            if (epoch == EPOCHS) {
                loss += fmax(0, 1 - m);
                sum += a[i];
                continue;
            }
            double next = fmin(fmax(a[i] + (1 - m) / q, 0), 1), by = y * (next - a[i]);
            for (int64_t e = problem->x.first[i]; e < problem->x.first[i + 1]; e++)
                w[problem->x.column[e]] += by * (double)problem->x.value[e];
            w[d] += by;
            a[i] = next;
        }
    }
    for (int64_t j = 0; j <= d; j++) w2 += w[j] * w[j];
    *dual = sum - 0.5 * w2;
    return 0.5 * w2 + loss;
}

/* What a fit says it may lack is not less than what it lacks, by an optimum that was found
 * and bounded without it. */
static void test_bound(void)
{
    if (world.size > 1) return; /* same bits on any number of ranks, other tests say */
    const weft_model *model = &weft_model_svm;
    struct problem *problem = rows_new(MANY, 2);
    relabel(problem, MAX_CLASSES, 0);
    for (int one = 0; one < 3; one++) {
        struct problem two = *problem;
        two.classes = 2;
        two.label = WEFT_NEW(mem, int32_t, ROWS);
        for (int64_t i = 0; i < ROWS; i++) two.label[i] = problem->label[i] == one;
        double dual;
        double primal = textbook(&two, &dual),
               gain = constant(model, "loss = hinge", &two, 1) - dual;
        ok(primal - dual < 1e-5 * gain,
           "class %d: the optimum is known to %.1e of the gain", one,
           (primal - dual) / gain);
        for (int as = PRODUCTS; as <= GROUPED; as++) {
            real *w = WEFT_NEW(mem, real, MANY + 1);
            weft_fitted out = fit(model, "loss = hinge\ntol = 3e-3", &two, (form)as, w);
            double lacks = (objective(model, "loss = hinge", &two, 1, w) - primal) / gain;
            ok(out.residual <= 3e-3, "class %d, %s: to the tolerance (%.1e)", one,
               form_name[as], out.residual);
            ok(lacks <= out.residual + 1e-5, "class %d, %s: lacks %.1e, says at most %.1e",
               one, form_name[as], lacks, out.residual);
        }
    }
}

MAIN(ranks, test_many, test_alike, test_bound)
