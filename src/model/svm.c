/* Linear support vector machine, as liblinear has it:
 *     1/2 |w|^2 + 1/2 b^2 + C sum_i loss(y_i (x_i . w + b)),
 * hinge max(0, 1 - m) or its square. More than two classes: one against the rest, and the
 * loss of a sample is the sum over classes. Used by task fmap. */
#include "dual.h"

typedef struct svm {
    int hinge;
    double c, tol;
    int limit, lanes;
} svm;

static const weft_opt opts[] = {
    {.name = "loss",
     .type = WEFT_CHOICE,
     .at = offsetof(svm, hinge),
     .def = "hinge",
     .words = "hinge|squared",
     .about = "max(0, 1 - margin), or its square"},
    {.name = "C",
     .type = WEFT_REAL,
     .at = offsetof(svm, c),
     .def = "1",
     .lo = 1e-9,
     .hi = 1e9,
     .about = "weight of the losses against the penalty"},
    {.name = "tol",
     .type = WEFT_REAL,
     .at = offsetof(svm, tol),
     .def = "1e-3",
     .lo = 1e-9,
     .hi = 1,
     .about = "objective's distance from its optimum, relative"},
    {.name = "limit",
     .type = WEFT_INT,
     .at = offsetof(svm, limit),
     .def = "1000",
     .lo = 1,
     .hi = 1e9,
     .about = "epochs at most"},
    {.name = "lanes",
     .type = WEFT_INT,
     .at = offsetof(svm, lanes),
     .def = "2",
     .lo = 1,
     .hi = 4096,
     .about = "groups of feature maps fitted at the same time (ranks that take part)"},
    {0}};

static margin_kind kind_of(const svm *s)
{
    return s->hinge == 0 ? MARGIN_HINGE : MARGIN_SQUARED;
}

static void fit(const void *self, const weft_matrix *f, const int32_t *y, int classes,
                double slack, real *w, weft_fitted *out, weft_arena *tmp)
{
    const svm *s = self;
    margin_problem p = {kind_of(s), s->c, slack * s->tol, s->limit, s->lanes};
    margin_fit(&p, f, y, classes, w, out, tmp);
}

static double loss(const void *self, int classes, const double *s, int y, int *wrong)
{
    return margin_score(kind_of(self), classes, s, y, wrong);
}

static double bound(const void *self, int classes)
{
    const svm *s = self;
    return (s->hinge == 0 ? 1e3 : 1e6) * margin_outputs(classes); /* margin -1000 */
}

extern const weft_model weft_model_svm;
const weft_model weft_model_svm = {
    .kind = {.name = "svm",
             .about = "linear support vector machine, penalty on the intercept too",
             .size = sizeof(svm),
             .opts = opts},
    .outputs = margin_outputs,
    .fit = fit,
    .loss = loss,
    .bound = bound,
};
