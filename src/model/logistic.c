/* Logistic regression with a penalty on weights and intercept, as liblinear has it:
 *     1/2 |w|^2 + 1/2 b^2 + C sum_i log(1 + exp(-y_i (x_i . w + b))).
 * More than two classes: one against the rest, and the loss of a sample is the sum over
 * classes. Used by task fmap. */
#include "dual.h"

typedef struct logistic {
    double c, tol;
    int limit, lanes;
} logistic;

static const weft_opt opts[] = {
    {.name = "C",
     .type = WEFT_REAL,
     .at = offsetof(logistic, c),
     .def = "1",
     .lo = 1e-9,
     .hi = 1e9,
     .about = "weight of the losses against the penalty"},
    {.name = "tol",
     .type = WEFT_REAL,
     .at = offsetof(logistic, tol),
     .def = "1e-4",
     .lo = 1e-9,
     .hi = 1,
     .about = "objective's distance from its optimum, relative"},
    {.name = "limit",
     .type = WEFT_INT,
     .at = offsetof(logistic, limit),
     .def = "1000",
     .lo = 1,
     .hi = 1e9,
     .about = "epochs at most"},
    {.name = "lanes",
     .type = WEFT_INT,
     .at = offsetof(logistic, lanes),
     .def = "2",
     .lo = 1,
     .hi = 4096,
     .about = "groups of feature maps fitted at the same time (ranks that take part)"},
    {0}};

static void fit(const void *self, const weft_matrix *f, const int32_t *y, int classes,
                double slack, real *w, weft_fitted *out, weft_arena *tmp)
{
    const logistic *s = self;
    margin_problem p = {MARGIN_LOGISTIC, s->c, slack * s->tol, s->limit, s->lanes};
    margin_fit(&p, f, y, classes, w, out, tmp);
}

static double loss(const void *self, int classes, const double *s, int y, int *wrong)
{
    (void)self;
    return margin_score(MARGIN_LOGISTIC, classes, s, y, wrong);
}

static double bound(const void *self, int classes)
{
    (void)self;
    return 1000.0 * margin_outputs(classes); /* margin -1000 */
}

extern const weft_model weft_model_logistic;
const weft_model weft_model_logistic = {
    .kind = {.name = "logistic",
             .about = "logistic regression, penalty on the intercept too",
             .size = sizeof(logistic),
             .opts = opts},
    .outputs = margin_outputs,
    .fit = fit,
    .loss = loss,
    .bound = bound,
};
