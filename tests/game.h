/* A game for tests of tuners: a search space of one number, whose value is a
 * configuration's error rate, and jobs that are answered without any training. */
#ifndef WEFT_TEST_GAME_H
#define WEFT_TEST_GAME_H

#include "weft/tune.h"

#include <math.h>

typedef struct knob {
    double x;
} knob;

static const weft_opt knob_opts[] = {
    {"x", WEFT_REAL, offsetof(knob, x), "0", 0, 1, NULL, "a number", 1}, {0}};
static const weft_kind knob_kind = {"knob", "one number", sizeof(knob), knob_opts};

enum { SPLIT, FULL, ALL_NAN, SOME_NAN, NMODE };

typedef struct game {
    const weft_tuner *tuner;
    const char *options; /* ini text of the tuner's section */
    int k, mode, samples;
    int open;      /* jobs in flight at most */
    uint64_t seed; /* of the tuner and of noise */
} game;

/* An instance of a tuner with the options given. */
typedef struct player {
    const weft_tuner *tuner;
    void *self;
    weft_space *space;
} player;

static inline player player_new(const game *g, weft_arena *mem)
{
    weft_conf c;
    player p = {.tuner = g->tuner};
    const weft_kind *kinds[] = {&knob_kind};
    weft_conf_init(&c, mem);
    p.self = weft_arena_get(mem, 1, g->tuner->kind.size);
    p.space = WEFT_NEW(mem, weft_space, 1);
    const char *text =
        weft_arena_text(mem, "[space]\nconfigs = %d\n[knob]\nx = 0 .. 1\n[%s]\n%s\n", g->k,
                        g->tuner->kind.name, g->options);
    weft_check(weft_conf_text(&c, "game", text) == WEFT_OK &&
                   weft_space_read(p.space, &c, kinds, 1, 7, mem) == WEFT_OK &&
                   weft_conf_bind(&c, &g->tuner->kind, p.self) == WEFT_OK &&
                   g->tuner->setup(p.self, p.space, g->seed, mem) == WEFT_OK,
               "%s", weft_error());
    return p;
}

static inline weft_asked ask(player *p, weft_job *job)
{
    return p->tuner->ask(p->self, job);
}

/* Error rate of a configuration: .1 to .7. */
static inline double error_of(const weft_mix *m, int i)
{
    return .1 + .6 * m->conf[(size_t)i * m->dim];
}

static inline double noise(const game *g, const weft_job *job, int64_t sample, int word)
{
    const weft_rng4 r = weft_rng_at(g->seed, WEFT_RNG_TEST, (uint64_t)job->trial,
                                    (uint64_t)job->round, (uint64_t)sample);
    return weft_rng_unit(r.v[word]);
}

/* Each sample is answered by the map it draws, wrongly as often as that map errs. */
static inline void play_split(const game *g, const weft_job *job, weft_result *res)
{
    for (int s = 0; s < g->samples; s++) {
        const int i = weft_mix_draw(&job->mix, noise(g, job, s, 0));
        res->arm_count[i] += 1;
        res->arm_wrong[i] += noise(g, job, s, 1) < error_of(&job->mix, i);
    }
}

static inline void play_full(const game *g, const weft_job *job, weft_result *res)
{
    for (int i = 0; i < res->k; i++) {
        if (!job->all && !(job->mix.z[i] > -INFINITY)) continue;
        res->arm_count[i] = g->samples;
        res->arm_wrong[i] = g->samples * error_of(&job->mix, i);
    }
}

static inline weft_result play(const game *g, const weft_job *job, weft_arena *mem)
{
    weft_result res = weft_result_new(job->mix.k, mem);
    res.job = job->id;
    res.trial = job->trial;
    res.accuracy = 1;
    (g->mode == SPLIT ? play_split : play_full)(g, job, &res);
    double count = 0, wrong = 0;
    for (int i = 0; i < res.k; i++) {
        const double p = g->mode == SPLIT ? 1 : exp(job->mix.z[i]);
        count += p * res.arm_count[i];
        wrong += p * res.arm_wrong[i];
        if (g->mode == ALL_NAN || (g->mode == SOME_NAN && noise(g, job, i, 2) < .3))
            res.arm_wrong[i] = NAN;
    }
    res.valid_error = wrong / count;
    res.loss = res.valid_error;
    if (g->mode == ALL_NAN || (g->mode == SOME_NAN && noise(g, job, 0, 3) < .3))
        res.loss = NAN;
    return res;
}

#endif
