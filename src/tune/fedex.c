/* FedEx in random search or successive halving: every configuration of the space is a
 * trial, whose clients draw from a mixture of it and its neighbours (or from a grid of each
 * client option's values); the task moves the mixture every round by the clients' scores.
 * Khodak, Tu, Li, Li, Balcan, Smith, Talwalkar, "Federated Hyperparameter Tuning:
 * Challenges, Baselines, and Connections to Weight-Sharing", NeurIPS 2021. Options and
 * defaults are those of the released program's scripts, but for sched = racing, which is
 * ours: with the published steps noise alone settles a mixture (tests/t_settle.c). */
#include "race.h"

#include <math.h>
#include <string.h>

enum { IN_RANDOM, IN_SHA };
enum { DRAWN, DISCOUNTED, NO_BASELINE };

typedef struct fedex {
    weft_race race;
    int wrap, sched, baseline, diff;
    int64_t k, levels;
    double eps, eta, discount, cutoff, floor, alpha;
    const weft_space *sp;
    uint64_t seed;
    double *centre; /* [dim] scratch */
    double *z;      /* [trials][k] mixtures told last */
    weft_mix mix;   /* of the job asked last */
} fedex;

/* In the order of the words of option "sched". */
static const weft_update_schedule schedules[] = {
    WEFT_UPDATE_AGGRESSIVE, WEFT_UPDATE_ADAPTIVE, WEFT_UPDATE_ROOT,
    WEFT_UPDATE_CONSTANT,   WEFT_UPDATE_SCALE,    WEFT_UPDATE_RACING};

static const weft_opt fedex_opts[] = {
    {"wrap", WEFT_CHOICE, offsetof(fedex, wrap), "sha", 0, 0, "random|sha",
     "random: the first total / most configurations, without eliminations", 0},
    WEFT_RACE_OPTS(fedex),
    {"k", WEFT_LONG, offsetof(fedex, k), "0", 0, 100000, NULL,
     "configurations of a mixture, the centre and k - 1 neighbours; 0: number of trials",
     0},
    {"eps", WEFT_REAL, offsetof(fedex, eps), "0.1", 0, 1, NULL,
     "how far neighbours go, as a share of each axis", 0},
    {"levels", WEFT_LONG, offsetof(fedex, levels), "0", 0, 1000, NULL,
     "grid points of each client option, drawn one by one, in place of neighbours; 0: off",
     0},
    {"sched", WEFT_CHOICE, offsetof(fedex, sched), "aggressive", 0, 0,
     "aggressive|adaptive|root/auto|constant|scale|racing",
     "schedule of the step size; racing: no steps, but eliminations once significant", 0},
    {"alpha", WEFT_REAL, offsetof(fedex, alpha), "0.1", 1e-9, 0.5, NULL,
     "sched = racing: chance that the best of a mixture is ever eliminated", 0},
    {"eta", WEFT_REAL, offsetof(fedex, eta), "0", 0, 1e6, NULL,
     "step size; 0: sqrt(2 ln k)", 0},
    {"baseline", WEFT_CHOICE, offsetof(fedex, baseline), "draw", 0, 0,
     "draw|discounted|none",
     "mean of past scores with the option discount, or with one drawn for each trial", 0},
    {"discount", WEFT_REAL, offsetof(fedex, discount), "1", 0, 1, NULL,
     "weight of a score by its age, for baseline = discounted; 0: last round, 1: mean", 0},
    {"diff", WEFT_BOOL, offsetof(fedex, diff), "no", 0, 1, NULL,
     "score clients by what their training gained", 0},
    {"cutoff", WEFT_REAL, offsetof(fedex, cutoff), "0", 0, 100, NULL,
     "entropy (nats) below which the likeliest configuration takes all; 0: never", 0},
    {"floor", WEFT_REAL, offsetof(fedex, floor), "0", 0, 1, NULL,
     "scores are divided by no probability below floor / k", 0},
    {0}};

static const weft_when fedex_when[] = {
    {"rate", "wrap", "sha"}, {"eliminations", "wrap", "sha"},        {"k", "levels", "0"},
    {"eps", "levels", "0"},  {"discount", "baseline", "discounted"}, {NULL, NULL, NULL}};

static int is_drawn(const weft_space *sp, int a)
{
    return strcmp(sp->axis[a].section, WEFT_CLIENT) == 0;
}

/* The mixture as a product of the grids of all client options. */
static weft_status lay_grid(fedex *t, int naxis, weft_arena *mem)
{
    const weft_space *sp = t->sp;
    if (t->levels == 1)
        return weft_fail(WEFT_ECONF, "fedex.levels = 1 leaves nothing to draw; expected 0 "
                                     "(neighbours) or at least 2");
    if (naxis > WEFT_MOST_BLOCKS)
        return weft_fail(WEFT_ELIMIT,
                         "fedex.levels = %lld with %d options of [%s] that have ranges; "
                         "expected at most %d",
                         (long long)t->levels, naxis, WEFT_CLIENT, WEFT_MOST_BLOCKS);
    int *off = WEFT_NEW(mem, int, naxis + 1), *axis = WEFT_NEW(mem, int, naxis);
    int b = 0;
    for (int a = 0; a < sp->dim; a++) {
        if (!is_drawn(sp, a)) continue;
        axis[b] = a;
        off[b + 1] = off[b] + (int)weft_axis_levels(&sp->axis[a], t->levels);
        b++;
    }
    t->mix = weft_mix_new(off[naxis], sp->dim, mem);
    weft_mix_divide(&t->mix, naxis, off, axis);
    return WEFT_OK;
}

static weft_status fedex_setup(void *self, const weft_space *sp, uint64_t seed,
                               weft_arena *mem)
{
    enum { MOST_NUMBERS = 10000000 };
    fedex *t = self;
    int naxis = 0;
    t->sp = sp;
    t->seed = seed;
    for (int a = 0; a < sp->dim; a++) naxis += is_drawn(sp, a);
    if (naxis == 0)
        return weft_fail(WEFT_ECONF,
                         "fedex: no option of [%s] has a range, so there is nothing that "
                         "clients could draw; give it one, or use run.tuner = sha",
                         WEFT_CLIENT);
    if (t->wrap == IN_RANDOM) t->race.eliminations = 0;
    TRY(weft_race_setup(&t->race, "fedex", sp->count, mem));
    if (t->levels > 0)
        TRY(lay_grid(t, naxis, mem));
    else
        t->mix = weft_mix_new(t->k > 0 ? (int)t->k : t->race.n, sp->dim, mem);
    const int k = t->mix.k, n = t->race.n;
    if (k > MOST_NUMBERS / n)
        return weft_fail(WEFT_ELIMIT,
                         "fedex: %d trials with mixtures of %d configurations; expected at "
                         "most %d together, by fedex.k or space.configs",
                         n, k, MOST_NUMBERS);
    t->centre = WEFT_NEW(mem, double, sp->dim);
    t->z = WEFT_NEW(mem, double, (size_t)n *(size_t)k);
    for (int i = 0; i < n; i++)
        memcpy(t->z + (size_t)i * (size_t)k, t->mix.logp, (size_t)k * sizeof *t->z);
    return WEFT_OK;
}

/* Entry i of the mixture around t->centre. */
static void fill_entry(fedex *t, int i)
{
    const int dim = t->mix.dim;
    double *conf = t->mix.conf + (size_t)i * (size_t)dim;
    if (t->levels == 0) {
        weft_space_perturb(t->sp, WEFT_CLIENT, t->centre, t->eps, t->seed, i, conf);
        return;
    }
    int b = 0;
    while (i >= weft_mix_off(&t->mix, b + 1)) b++;
    const int a = t->mix.axis[b], first = weft_mix_off(&t->mix, b);
    memcpy(conf, t->centre, (size_t)dim * sizeof *conf);
    conf[a] =
        weft_axis_point(&t->sp->axis[a], i - first, weft_mix_off(&t->mix, b + 1) - first);
}

/* The mixture of a trial: ids are its own, k to a trial. */
static void fill_mix(fedex *t, int64_t trial)
{
    weft_mix *m = &t->mix;
    weft_space_get(t->sp, trial, t->centre);
    for (int i = 0; i < m->k; i++) {
        m->id[i] = trial * m->k + i;
        fill_entry(t, i);
    }
    memcpy(m->logp, t->z + trial * m->k, (size_t)m->k * sizeof *m->logp);
}

static weft_mix_update rule_of(const fedex *t, int64_t trial)
{
    const weft_rng4 r = weft_rng_at(t->seed, WEFT_RNG_TUNER, (uint64_t)trial, 0, 0);
    const double discount[] = {weft_rng_unit(r.v[0]), t->discount, -1};
    return (weft_mix_update){.schedule = schedules[t->sched],
                             .eta = schedules[t->sched] == WEFT_UPDATE_RACING ? t->alpha
                                                                              : t->eta,
                             .discount = discount[t->baseline],
                             .floor = t->floor,
                             .cutoff = t->cutoff,
                             .diff = t->diff};
}

static weft_asked fedex_ask(void *self, weft_job *job)
{
    fedex *t = self;
    const weft_asked asked = weft_race_ask(&t->race, job);
    if (asked != WEFT_JOB) return asked;
    fill_mix(t, job->trial);
    job->update = rule_of(t, job->trial);
    job->mix = t->mix;
    return WEFT_JOB;
}

static void fedex_tell(void *self, const weft_result *res)
{
    fedex *t = self;
    weft_check(res->k == t->mix.k, "result of %lld configurations, expected %d",
               (long long)res->k, t->mix.k);
    weft_race_tell(&t->race, res);
    memcpy(t->z + res->trial * res->k, res->logp, (size_t)res->k * sizeof *t->z);
}

static int64_t fedex_jobs(const void *self)
{
    const fedex *t = self;
    return weft_race_jobs(&t->race);
}

static const char *fedex_early(const void *self)
{
    const fedex *t = self;
    return t->race.best ? "fedex.winner = best" : NULL;
}

static int fedex_ended(const void *self, int64_t trial)
{
    const fedex *t = self;
    return weft_race_ended(&t->race, trial);
}

extern const weft_tuner weft_tuner_fedex;
const weft_tuner weft_tuner_fedex = {
    .kind = {.name = "fedex",
             .about =
                 "FedEx: each trial's clients draw from a mixture that moves every round",
             .size = sizeof(fedex),
             .opts = fedex_opts,
             .when = fedex_when},
    .setup = fedex_setup,
    .ask = fedex_ask,
    .tell = fedex_tell,
    .jobs = fedex_jobs,
    .ended = fedex_ended,
    .early = fedex_early,
    .waits = 1,
};
