/* Federated multiplicative weights: clients draw their configuration from a mixture, which
 * the task updates every round by their scores. In the publication the mixture is of the
 * whole space (run.tuner = ws_one); with other tuners it is of a trial's neighbourhood.
 * Khodak, Li, Roberts, Balcan, Talwalkar, "Weight-sharing beyond neural architecture
 * search: efficient feature map selection and federated hyperparameter tuning", SysML 2019,
 * section 4.1. As published (`literal`), configurations that are drawn more often are also
 * reduced more often, and probabilities converge to values proportional to 1 / score. The
 * default divides by the probability of the draw, subtracts the mean score of past rounds,
 * and has step size sqrt(2 ln k / rounds). With `racing` all configurations have equal
 * probabilities until they are eliminated (space.h). */
#include "near.h"

typedef struct mw {
    weft_near near;
    int literal, known, racing;
    double eta, floor, alpha;
    double rounds; /* largest total of a trial */
} mw;

static const weft_opt mw_opts[] = {
    WEFT_NEAR_OPTS(mw),
    WEFT_BOOL_OPT("literal", mw, literal, "no",
                  "as published: p_i *= exp(-score / sqrt(rounds))"),
    WEFT_BOOL_OPT("known", mw, known, "yes",
                  "step size from the total number of rounds; no: from the number so far, "
                  "if the total is not known"),
    WEFT_REAL_OPT("eta", mw, eta, "0", 0, 1e6,
                  "step size times sqrt(rounds), per unit of the score; 0: sqrt(2 ln k)"),
    WEFT_REAL_OPT("floor", mw, floor, "0.01", 0, 1,
                  "in divisions, probabilities below floor / k are replaced by floor / k"),
    WEFT_BOOL_OPT("racing", mw, racing, "no",
                  "no steps, but elimination of significantly worse configurations"),
    WEFT_REAL_OPT(
        "alpha", mw, alpha, "0.1", 1e-9, 0.5,
        "racing: bound of the probability that the best configuration is ever eliminated"),
    {0},
};

static const weft_when mw_when[] = {WEFT_NEAR_WHEN, {NULL, NULL, NULL}};

static weft_status mw_setup(void *self, const weft_mixing_env *env)
{
    mw *t = self;
    if (t->racing && t->literal)
        return weft_fail(WEFT_ECONF, "mw.racing = yes with mw.literal = yes: the published "
                                     "step eliminates nothing; set one of them to no");
    if (t->known && !t->racing && !(env->resource > 0))
        return weft_fail(WEFT_ECONF,
                         "mw.known = yes: this schedule does not say how long a "
                         "trial may be; use mw.known = no");
    t->rounds = env->resource;
    return weft_near_setup(&t->near, "mw", env);
}

static weft_mix_update update_of(const mw *t)
{
    if (t->racing)
        return (weft_mix_update){.schedule = WEFT_UPDATE_RACING, .eta = t->alpha};
    return (weft_mix_update){.schedule = t->literal ? WEFT_UPDATE_AS_PUBLISHED
                                                    : WEFT_UPDATE_HORIZON,
                             .eta = t->eta,
                             .horizon = t->known ? t->rounds : 0,
                             .discount = 1,
                             .floor = t->floor};
}

static void mw_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    mw *t = self;
    (void)id;
    weft_near_make(&t->near, conf, job);
    job->update = update_of(t);
}

static void mw_told(void *self, const weft_result *res)
{
    mw *t = self;
    weft_near_told(&t->near, res);
}

static void mw_forget(void *self, int64_t trial)
{
    mw *t = self;
    weft_near_forget(&t->near, trial);
}

extern const weft_mixing weft_mixing_mw;
const weft_mixing weft_mixing_mw = {
    .kind = {.name = "mw",
             .about = "multiplicative weights: clients draw from a mixture",
             .size = sizeof(mw),
             .opts = mw_opts,
             .when = mw_when},
    .moves = 1,
    .setup = mw_setup,
    .make = mw_make,
    .told = mw_told,
    .forget = mw_forget,
};
