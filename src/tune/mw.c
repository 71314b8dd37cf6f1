/* Federated multiplicative weights: one trial, whose clients draw their configuration from
 * a mixture of all of the space; the task moves it every round by their scores. Khodak, Li,
 * Roberts, Balcan, Talwalkar, "Weight-sharing beyond neural architecture search: efficient
 * feature map selection and federated hyperparameter tuning", SysML 2019, section 4.1. To
 * the letter (`literal`) popular configurations are punished more often, and probabilities
 * settle in proportion to 1 / score; the default divides by the probability of a draw,
 * takes scores less their mean over past rounds, and steps by sqrt(2 ln k / rounds). With
 * `racing` configurations are drawn alike until they are eliminated (space.h). */
#include "share.h"

#include <string.h>

typedef struct mw {
    int64_t resource;
    int literal, known, racing, asked;
    double eta, floor, alpha;
    weft_share share;
} mw;

static const weft_opt mw_opts[] = {
    {"resource", WEFT_LONG, offsetof(mw, resource), "800", 1, 1e9, NULL,
     "rounds of the one trial", 0},
    {"literal", WEFT_BOOL, offsetof(mw, literal), "no", 0, 1, NULL,
     "as published: p_i *= exp(-score / sqrt(rounds))", 0},
    {"known", WEFT_BOOL, offsetof(mw, known), "yes", 0, 1, NULL,
     "step by the number of rounds; no: by the number so far, for runs that may go on", 0},
    {"eta", WEFT_REAL, offsetof(mw, eta), "0", 0, 1e6, NULL,
     "step size times sqrt(rounds), per unit of the score; 0: sqrt(2 ln k)", 0},
    {"floor", WEFT_REAL, offsetof(mw, floor), "0.01", 0, 1, NULL,
     "scores are divided by no probability below floor / k", 0},
    {"racing", WEFT_BOOL, offsetof(mw, racing), "no", 0, 1, NULL,
     "no steps: configurations are eliminated once significantly worse", 0},
    {"alpha", WEFT_REAL, offsetof(mw, alpha), "0.1", 1e-9, 0.5, NULL,
     "racing: chance that the best configuration is ever eliminated", 0},
    {0}};

static weft_status mw_setup(void *self, const weft_space *sp, uint64_t seed,
                            weft_arena *mem)
{
    mw *t = self;
    (void)seed;
    if (t->racing && t->literal)
        return weft_fail(WEFT_ECONF, "mw.racing = yes with mw.literal = yes: the published "
                                     "step makes no race; set one of them to no");
    for (int a = 0; a < sp->dim; a++)
        if (strcmp(sp->axis[a].section, WEFT_CLIENT) != 0)
            return weft_share_refuse(&sp->axis[a]);
    return weft_share_setup(&t->share, sp, 1, mem);
}

static weft_mix_update rule_of(const mw *t)
{
    if (t->racing)
        return (weft_mix_update){.schedule = WEFT_UPDATE_RACING, .eta = t->alpha};
    return (weft_mix_update){.schedule = t->literal ? WEFT_UPDATE_AS_PUBLISHED
                                                    : WEFT_UPDATE_HORIZON,
                             .eta = t->eta,
                             .horizon = t->known ? (double)t->resource : 0,
                             .discount = 1,
                             .floor = t->floor};
}

static weft_asked mw_ask(void *self, weft_job *job)
{
    mw *t = self;
    if (t->asked) return WEFT_DONE;
    t->asked = 1;
    const double rounds = (double)t->resource;
    *job = (weft_job){.from = -1,
                      .resource = rounds,
                      .feature_fraction = 1,
                      .last = 1,
                      .eligibility = WEFT_WINS_RESOURCE,
                      .mix = t->share.mix};
    job->update = rule_of(t);
    return WEFT_JOB;
}

static void mw_tell(void *self, const weft_result *res)
{
    (void)self;
    (void)res;
}

static int64_t mw_jobs(const void *self)
{
    (void)self;
    return 1;
}

extern const weft_tuner weft_tuner_mw;
const weft_tuner weft_tuner_mw = {
    .kind = {.name = "mw",
             .about =
                 "multiplicative weights: the clients of one trial draw from a mixture",
             .size = sizeof(mw),
             .opts = mw_opts},
    .setup = mw_setup,
    .ask = mw_ask,
    .tell = mw_tell,
    .jobs = mw_jobs,
    .waits = 1,
};
