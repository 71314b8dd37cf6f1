/* Successive halving over trials with weights of their own: all configurations of the space
 * train up to the first elimination, one of `rate` goes on from where it is, and so on;
 * the last survivors train up to `most`. Jamieson, Talwalkar, "Non-stochastic best arm
 * identification and hyperparameter optimization", AISTATS 2016; eliminations are placed so
 * that the budget `total` is spent, as in FedEx's released program. */
#include "race.h"

typedef struct sha {
    weft_race race;
    const weft_space *sp;
    weft_mix one;
} sha;

static const weft_opt sha_opts[] = {WEFT_RACE_OPTS(sha), {0}};

static weft_status sha_setup(void *self, const weft_space *sp, uint64_t seed,
                             weft_arena *mem)
{
    sha *t = self;
    (void)seed;
    t->sp = sp;
    t->one = weft_mix_new(1, sp->dim, mem);
    return weft_race_setup(&t->race, "sha", sp->count, mem);
}

static weft_asked sha_ask(void *self, weft_job *job)
{
    sha *t = self;
    const weft_asked asked = weft_race_ask(&t->race, job);
    if (asked != WEFT_JOB) return asked;
    t->one.id[0] = job->trial;
    weft_space_get(t->sp, job->trial, t->one.conf);
    job->mix = t->one;
    return WEFT_JOB;
}

static void sha_tell(void *self, const weft_result *res)
{
    sha *t = self;
    weft_race_tell(&t->race, res);
}

static int64_t sha_jobs(const void *self)
{
    const sha *t = self;
    return weft_race_jobs(&t->race);
}

static const char *sha_early(const void *self)
{
    const sha *t = self;
    return t->race.best ? "sha.winner = best" : NULL;
}

static int sha_ended(const void *self, int64_t trial)
{
    const sha *t = self;
    return weft_race_ended(&t->race, trial);
}

extern const weft_tuner weft_tuner_sha;
const weft_tuner weft_tuner_sha = {
    .kind = {.name = "sha",
             .about = "successive halving: trials that go on with their own weights",
             .size = sizeof(sha),
             .opts = sha_opts},
    .setup = sha_setup,
    .ask = sha_ask,
    .tell = sha_tell,
    .jobs = sha_jobs,
    .ended = sha_ended,
    .early = sha_early,
    .waits = 1,
};
