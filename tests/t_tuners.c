/* Tuners. Contracts hold for every tuner of the registry: it ends, whatever it is told; it is
 * a function of its seed and of what it is told; jobs are well formed. Then closed forms of
 * each method, and a bandit whose best arm is known.
 * RUN: np=1 */
#include "tap.h"
#include "weft/registry.h"

#include <math.h>
#include <string.h>

/* ---- a game: what a tuner is played against ------------------------------------------- */

typedef struct knob {
    double x;
} knob;

static const weft_opt knob_opts[] = {
    {"x", WEFT_REAL, offsetof(knob, x), "0", 0, 1, NULL, "a number", 1}, {0}};
static const weft_kind knob_kind = {"knob", "one number", sizeof(knob), knob_opts};

enum { SPLIT, FULL, ALL_NAN, SOME_NAN, NMODE };
static const char *const mode_name[NMODE] = {"split validation", "full validation",
                                             "nothing but NaN", "a NaN now and then"};

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

static player player_new(const game *g, weft_arena *mem)
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

static weft_asked ask(player *p, weft_job *job)
{
    return p->tuner->ask(p->self, job);
}

/* Error rate of a configuration: .1 to .7. */
static double error_of(const weft_mix *m, int i)
{
    return .1 + .6 * m->conf[(size_t)i * m->dim];
}

static double noise(const game *g, const weft_job *job, int64_t sample, int word)
{
    const weft_rng4 r = weft_rng_at(g->seed, WEFT_RNG_TEST, (uint64_t)job->trial,
                                    (uint64_t)job->round, (uint64_t)sample);
    return weft_rng_unit(r.v[word]);
}

/* Each sample is answered by the map it draws, wrongly as often as that map errs. */
static void play_split(const game *g, const weft_job *job, weft_result *res)
{
    for (int s = 0; s < g->samples; s++) {
        const int i = weft_mix_draw(&job->mix, noise(g, job, s, 0));
        res->arm_count[i] += 1;
        res->arm_wrong[i] += noise(g, job, s, 1) < error_of(&job->mix, i);
    }
}

static void play_full(const game *g, const weft_job *job, weft_result *res)
{
    for (int i = 0; i < res->k; i++) {
        if (!job->all && !(job->mix.z[i] > -INFINITY)) continue;
        res->arm_count[i] = g->samples;
        res->arm_wrong[i] = g->samples * error_of(&job->mix, i);
    }
}

static weft_result play(const game *g, const weft_job *job, weft_arena *mem)
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

/* ---- what happened -------------------------------------------------------------------- */

typedef struct story {
    int ended;          /* said DONE within the bound and never waited for nothing */
    int formed;         /* every job was well formed */
    int64_t n, planned; /* jobs asked; the number `jobs` says at the end */
    uint64_t *job;      /* [n] hash of each job, in the order asked */
    void **told;        /* [n] packed result of each job, by job */
    int best;           /* id of the best job with one configuration */
} story;

enum { MOST_OPEN = 8 };

static uint64_t job_hash(const weft_job *job, weft_arena *mem)
{
    const int64_t whole[5] = {job->trial, job->from, job->round, job->last, job->all};
    const double part[2] = {job->resource, job->size};
    const size_t n = weft_mix_bytes(&job->mix);
    char *mix = weft_arena_get(mem, n, 1);
    weft_mix_pack(&job->mix, mix);
    return weft_hash(mix, n, weft_hash(part, sizeof part, weft_hash(whole, sizeof whole, 0)));
}

/* What the tuner has said of trials and configurations so far. */
typedef struct past {
    int64_t trials;
    int *closed;     /* [trials] 1: its last job was asked */
    int *eliminated; /* [k] by id */
} past;

static int mix_is_sound(const weft_mix *m, const player *p, past *h)
{
    double sum = 0, conf;
    int good = m->dim == p->space->dim;
    for (int i = 0; i < m->k; i++) {
        const int64_t id = m->id[i];
        good &= id >= 0 && id < p->space->count;
        if (!good) return 0;
        weft_space_get(p->space, id, &conf);
        good &= m->conf[i] == conf;
        if (!(m->z[i] > -INFINITY))
            h->eliminated[id] = 1;
        else
            good &= !h->eliminated[id];
        sum += exp(m->z[i]);
    }
    return good && fabs(sum - 1) < 1e-9;
}

static int job_is_sound(const weft_job *job, const player *p, past *h)
{
    int good = job->resource >= 0 && job->size > 0 && job->size <= 1 && job->round >= 0 &&
               job->trial >= 0 && job->trial <= h->trials && job->from < h->trials;
    if (!good) return 0;
    if (job->trial == h->trials)
        h->trials++;
    else
        good &= !h->closed[job->trial] && job->from < 0;
    if (job->from >= 0) good &= !h->closed[job->from];
    h->closed[job->trial] = job->last;
    return good && mix_is_sound(&job->mix, p, h);
}

/* A job in flight. */
typedef struct flight {
    int64_t job;
    weft_result res;
} flight;

/* Plays to the end. The first `from->n / 2` results are those of an earlier story, if any. */
static story play_out(const game *g, const story *from, weft_arena *mem)
{
    const int64_t most = 20 * (int64_t)g->k + 1000;
    player p = player_new(g, mem);
    past h = {.closed = WEFT_NEW(mem, int, most), .eliminated = WEFT_NEW(mem, int, g->k)};
    story s = {.formed = 1, .best = -1};
    s.job = WEFT_NEW(mem, uint64_t, most);
    s.told = WEFT_NEW(mem, void *, most);
    flight air[MOST_OPEN];
    double best = INFINITY;
    for (int n = 0; s.n < most;) {
        weft_job job;
        const weft_asked asked = n < g->open ? ask(&p, &job) : WEFT_WAIT;
        if (asked == WEFT_JOB) {
            job.id = s.n;
            s.formed &= job_is_sound(&job, &p, &h);
            s.job[s.n] = job_hash(&job, mem);
            weft_result res = play(g, &job, mem);
            if (from && s.n < from->n / 2) weft_result_unpack(&res, from->told[s.n]);
            if (job.mix.k == 1 && res.loss < best) {
                best = res.loss;
                s.best = (int)job.mix.id[0];
            }
            air[n++] = (flight){s.n++, res};
            continue;
        }
        if (n == 0) {
            s.ended = asked == WEFT_DONE;
            break;
        }
        /* the newest first: out of order wherever the tuner allows it */
        const flight f = air[--n];
        s.told[f.job] = weft_arena_get(mem, weft_result_bytes(f.res.k), 1);
        weft_result_pack(&f.res, s.told[f.job]);
        p.tuner->tell(p.self, &f.res);
    }
    s.planned = p.tuner->jobs(p.self);
    return s;
}

static int alike(const story *a, const story *b)
{
    return a->n == b->n && memcmp(a->job, b->job, (size_t)a->n * sizeof *a->job) == 0;
}

/* ---- contracts ------------------------------------------------------------------------ */

static const int sizes[] = {1, 2, 3, 5, 64, 1000};
enum { NSIZE = sizeof sizes / sizeof *sizes };

static void keep_contract(const weft_tuner *t, const char *options, weft_arena *mem)
{
    char *name = weft_arena_text(mem, "%s%s%s", t->kind.name, *options ? ": " : "", options);
    for (char *c = name; *c; c++)
        if (*c == '\n') *c = ',';
    for (int mode = 0; mode < NMODE; mode++) {
        int ended = 1, formed = 1, wide = 1, planned = 1, same = 1, replays = 1;
        for (int e = 0; e < NSIZE; e++) {
            const size_t mark = weft_arena_mark(mem);
            game g = {t, options, sizes[e], mode, 500, 1, 5};
            const story a = play_out(&g, NULL, mem), b = play_out(&g, NULL, mem),
                        c = play_out(&g, &a, mem);
            g.open = MOST_OPEN;
            const story d = play_out(&g, NULL, mem);
            ended &= a.ended && a.n > 0;
            formed &= a.formed && d.formed;
            planned &= a.planned == a.n;
            same &= alike(&a, &b);
            replays &= alike(&a, &c);
            wide &= d.ended && d.n == a.n;
            weft_arena_reset(mem, mark);
        }
        const char *told = mode_name[mode];
        ok(ended, "%s ends, told %s", name, told);
        ok(formed, "its jobs are well formed and ask no eliminated map");
        ok(planned, "it asks as many jobs as it says");
        ok(same, "it is a function of its seed and of what it is told");
        ok(replays, "it can be replayed and goes on alike");
        ok(wide, "it ends with eight jobs open, told out of order");
    }
}

static const char *const variants[][2] = {
    {"ws_sha", "keep = 0.9"},
    {"ws_sha", "keep = 0.1"},
    {"ws_sha", "switch = 4"},
    {"ws_sha", "grow = 1.4142"},
    {"ws_sha", "refit = no\ngrow = 2"},
    {"ws_sha", "warm = no\nrefit = no"},
    {"ws_sha", "literal = yes"},
    {"ws_sha", "literal = yes\nswitch = 3\nwarm = no"},
    {"ws_eg", "rate = theory\nbaseline = no"},
    {"ws_eg", "weighted = no\nrefit = no"},
    {"ws_eg", "warm = no\nrounds = 30\neta = 100"},
};

static void test_contracts(weft_arena *mem)
{
    for (int i = 0; weft_tuners[i]; i++) keep_contract(weft_tuners[i], "", mem);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        const weft_tuner *t;
        ok(weft_tuner_find(variants[v][0], &t) == WEFT_OK, "there is %s", variants[v][0]);
        keep_contract(t, variants[v][1], mem);
    }
}

/* ---- closed forms: halving ------------------------------------------------------------ */

/* Plays a tuner and writes the jobs it asks to job[most]; returns their number. The mixtures
 * are copies. */
static int jobs_of(const game *g, weft_job *job, int most, weft_arena *mem)
{
    player p = player_new(g, mem);
    int n = 0;
    while (n < most && ask(&p, &job[n]) == WEFT_JOB) {
        job[n].id = n;
        weft_mix copy = weft_mix_new(job[n].mix.k, job[n].mix.dim, mem);
        weft_mix_copy(&copy, &job[n].mix);
        job[n].mix = copy;
        const weft_result res = play(g, &job[n], mem);
        p.tuner->tell(p.self, &res);
        n++;
    }
    return n;
}

/* The numbers of maps alive in the jobs of a game, "64 32 1". */
static const char *schedule(int k, const char *options, weft_arena *mem)
{
    weft_job job[40];
    const game g = {&weft_tuner_ws_sha, options, k, FULL, 100, 1, 1};
    const int n = jobs_of(&g, job, 40, mem);
    const char *text = "";
    for (int i = 0; i < n; i++)
        text = weft_arena_text(mem, "%s%s%d", text, i ? " " : "", weft_mix_alive(&job[i].mix));
    return text;
}

static void test_schedules(weft_arena *mem)
{
    static const struct {
        int k;
        const char *options, *want;
    } all[] = {
        {64, "", "64 32 16 8 4 2 1"},
        {5, "", "5 3 2 1"},
        {3, "", "3 2 1"},
        {2, "", "2 1"},
        {1, "", "1"},
        {100, "", "100 50 25 13 7 4 2 1"},
        {64, "keep = 0.25", "64 16 4 1"},
        {30, "keep = 0.1", "30 3 1"},
        {4, "keep = 0.9", "4 3 2 1"},
        {64, "switch = 4", "64 32 16 8 1 1 1 1"},
        {3, "switch = 4", "1 1 1"},
        {64, "refit = no", "64 32 16 8 4 2 1"},
        /* half of the maps are at or below the median of all: the survivors of round one */
        {64, "literal = yes", "64 32 32 32 32 32 1"},
    };
    for (size_t e = 0; e < sizeof all / sizeof *all; e++) {
        const char *found = schedule(all[e].k, all[e].options, mem);
        ok(strcmp(found, all[e].want) == 0, "%d maps, %s: %s", all[e].k,
           *all[e].options ? all[e].options : "as it comes", found);
    }
}

static void test_trials(weft_arena *mem)
{
    weft_job job[9];
    game g = {&weft_tuner_ws_sha, "", 8, FULL, 100, 1, 1};
    ok(jobs_of(&g, job, 9, mem) == 4, "eight maps take four jobs");
    ok(job[0].trial == 0 && job[2].trial == 0 && job[2].round == 2 && !job[2].last,
       "warm: the rounds go on with one trial");
    ok(job[3].trial == 1 && job[3].from == 0 && job[3].resource == 1 && job[3].last,
       "warm: the last fit copies its weights");

    g.options = "warm = no";
    ok(jobs_of(&g, job, 9, mem) == 4, "cold: four jobs");
    ok(job[1].trial == 1 && job[1].from == -1 && job[1].round == 1 && job[1].last,
       "cold: each round is a new trial");
    ok(job[3].trial == 3 && job[3].from == -1 && job[3].resource == 1,
       "cold: the last fit begins afresh");

    g.options = "refit = no";
    ok(jobs_of(&g, job, 9, mem) == 4, "no refit: four jobs");
    ok(job[3].trial == 0 && job[3].resource == 0 && job[3].round == 3 && job[3].mix.k == 1,
       "no refit: the last job scores the shared weights with the winner");
    g.options = "refit = no\nwarm = no";
    ok(jobs_of(&g, job, 9, mem) == 4 && job[3].trial == 2 && job[3].resource == 0 &&
           !job[2].last,
       "cold and no refit: it scores the weights of the last round");
    g.k = 1;
    ok(jobs_of(&g, job, 9, mem) == 1 && job[0].resource == 1, "one map is fitted always");
}

/* Numbers of features that the authors' program takes for 256 maps, growth sqrt 2 and 100,000
 * features; it rounds up, some a unit too far. */
static void test_growth(weft_arena *mem)
{
    static const double want[] = {6251, 8839, 12501, 17678, 25001, 35356, 50001, 70711, 1e5};
    weft_job job[12];
    const game g = {&weft_tuner_ws_sha, "grow = 1.4142135623730951", 256, FULL, 10, 1, 1};
    ok(jobs_of(&g, job, 12, mem) == 9, "256 maps take eight rounds and a fit");
    double off = 0;
    int fresh = 1;
    for (int i = 0; i < 9; i++) {
        off = fmax(off, fabs(1e5 * job[i].size - want[i]));
        fresh &= job[i].trial == i && job[i].from == -1;
    }
    ok(off <= 1.001, "features grow from 6250 to 100,000 by factors of sqrt 2");
    ok(fresh, "and each number of features is a new trial");
}

/* Asks a round of ws_sha, tells these error rates over 100 samples each (count 0 where
 * negative), and returns the mixture asked next. */
static weft_mix tell_scores(player *p, const double *error, double loss, weft_arena *mem)
{
    weft_job job;
    weft_check(ask(p, &job) == WEFT_JOB, "no job");
    weft_result res = weft_result_new(job.mix.k, mem);
    res.accuracy = 1;
    res.loss = loss;
    for (int i = 0; i < res.k; i++) {
        res.arm_count[i] = error[i] < 0 ? 0 : 100;
        res.arm_wrong[i] = error[i] < 0 ? 0 : 100 * error[i];
    }
    p->tuner->tell(p->self, &res);
    weft_check(ask(p, &job) == WEFT_JOB, "no job");
    return job.mix;
}

static int is_alive(const weft_mix *m, int i)
{
    return m->z[i] > -INFINITY;
}

static void test_survivors(weft_arena *mem)
{
    const game g = {&weft_tuner_ws_sha, "", 4, FULL, 0, 1, 1};
    player p = player_new(&g, mem);
    weft_mix m = tell_scores(&p, (const double[]){.3, .2, .2, .2}, .2, mem);
    ok(is_alive(&m, 1) && is_alive(&m, 2) && weft_mix_alive(&m) == 2,
       "of equal scores the lower ids survive");
    is_near(exp(m.z[1]), .5, 1e-15, "survivors are equally probable");

    p = player_new(&g, mem);
    m = tell_scores(&p, (const double[]){.1, .9, -1, .8}, .5, mem);
    ok(is_alive(&m, 0) && is_alive(&m, 2),
       "a map without samples ranks by the mean of the mixture");
    p = player_new(&g, mem);
    m = tell_scores(&p, (const double[]){.1, .4, -1, .8}, .5, mem);
    ok(is_alive(&m, 0) && is_alive(&m, 1), "and no better than that");
    p = player_new(&g, mem);
    m = tell_scores(&p, (const double[]){NAN, .9, .95, NAN}, .9, mem);
    ok(is_alive(&m, 1) && is_alive(&m, 2), "a diverged map ranks last");
    p = player_new(&g, mem);
    m = tell_scores(&p, (const double[]){.9, .8, .1, .2}, INFINITY, mem);
    ok(is_alive(&m, 0) && is_alive(&m, 1), "the scores of a diverged fit count for nothing");
}

static void test_literal(weft_arena *mem)
{
    const game g = {&weft_tuner_ws_sha, "literal = yes", 4, FULL, 0, 1, 1};
    player p = player_new(&g, mem);
    weft_mix m = tell_scores(&p, (const double[]){.1, .1, .1, .4}, .2, mem);
    ok(weft_mix_alive(&m) == 3, "literal: all that equal the median survive");
    is_near(exp(m.z[0]), 1. / 3, 1e-15, "literal: with equal probabilities");

    int drawn[4] = {0}, all = 1;
    for (uint64_t seed = 0; seed < 200; seed++) {
        game s = g;
        s.seed = seed;
        p = player_new(&s, mem);
        weft_job job;
        all &= ask(&p, &job) == WEFT_JOB && job.all;
        weft_result res = weft_result_new(4, mem);
        const double first[4] = {1, 2, 3, 4}, second[4] = {5, 6, 1, 2};
        for (int i = 0; i < 4; i++) {
            res.arm_count[i] = 1;
            res.arm_loss[i] = first[i];
        }
        p.tuner->tell(p.self, &res);
        weft_check(ask(&p, &job) == WEFT_JOB && weft_mix_alive(&job.mix) == 2, "no round");
        for (int i = 0; i < 4; i++) res.arm_loss[i] = second[i];
        p.tuner->tell(p.self, &res);
        weft_check(ask(&p, &job) == WEFT_JOB && job.mix.k == 1, "no final job");
        drawn[job.mix.id[0]]++;
    }
    ok(all, "literal: eliminated maps are scored too");
    ok(drawn[0] + drawn[1] == 200 && drawn[0] > 60 && drawn[1] > 60,
       "literal: no survivor below the median of all ends it with a draw (%d, %d)", drawn[0],
       drawn[1]);
}

/* ---- closed forms: exponentiated gradient --------------------------------------------- */

/* Two rounds of three maps, told how many samples each scored and how many wrongly; p[round]
 * are the probabilities after each. */
static void gradient_rounds(const char *options, const double count[2][3],
                            const double wrong[2][3], double p[2][3], weft_arena *mem)
{
    const game g = {&weft_tuner_ws_eg, options, 3, SPLIT, 0, 1, 1};
    player t = player_new(&g, mem);
    weft_job job;
    for (int round = 0; round < 2; round++) {
        weft_check(ask(&t, &job) == WEFT_JOB && job.mix.k == 3, "no round");
        for (int i = 0; round > 0 && i < 3; i++) p[round - 1][i] = exp(job.mix.z[i]);
        weft_result res = weft_result_new(3, mem);
        res.accuracy = 1;
        double n = 0, all = 0;
        for (int i = 0; i < 3; i++) {
            res.arm_count[i] = count[round][i];
            res.arm_wrong[i] = wrong[round][i];
            if (isnan(wrong[round][i])) continue;
            n += count[round][i];
            all += wrong[round][i];
        }
        res.loss = all / n;
        t.tuner->tell(t.self, &res);
    }
    weft_check(ask(&t, &job) == WEFT_JOB && job.mix.k == 3, "no third round");
    for (int i = 0; i < 3; i++) p[1][i] = exp(job.mix.z[i]);
}

/* p <- p exp(-eta g), normalised. */
static void move(double *p, double eta, const double *g)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += p[i] * exp(-eta * g[i]);
    for (int i = 0; i < 3; i++) p[i] *= exp(-eta * g[i]) / sum;
}

static double distance(const double *p, const double *q)
{
    return fmax(fabs(p[0] - q[0]), fmax(fabs(p[1] - q[1]), fabs(p[2] - q[2])));
}

static void test_gradient(weft_arena *mem)
{
    const double split[2][3] = {{50, 30, 20}, {60, 40, 0}};
    const double wrong[2][3] = {{20, 9, 4}, {30, 8, 0}};
    const double third = 1. / 3;
    double p[2][3], q[3] = {third, third, third};

    gradient_rounds("eta = 2\nbaseline = no", split, wrong, p, mem);
    move(q, 2, (const double[]){.4 * .5 / third, .3 * .3 / third, .2 * .2 / third});
    is_near(distance(p[0], q), 0, 1e-12, "gradients are weighted by n_i / (n p_i)");
    move(q, 2, (const double[]){.5 * .6 / q[0], .2 * .4 / q[1], 0});
    is_near(distance(p[1], q), 0, 1e-12, "and 0 where nothing was scored");

    for (int i = 0; i < 3; i++) q[i] = third;
    gradient_rounds("eta = 2", split, wrong, p, mem);
    const double b0 = .33, b1 = (.33 + .38) / 2;
    move(q, 2, (const double[]){(.4 - b0) * .5 / third, (.3 - b0) * .3 / third,
                                (.2 - b0) * .2 / third});
    is_near(distance(p[0], q), 0, 1e-12, "the baseline is the mean score");
    move(q, 2, (const double[]){(.5 - b1) * .6 / q[0], (.2 - b1) * .4 / q[1], 0});
    is_near(distance(p[1], q), 0, 1e-12, "over the rounds so far");

    for (int i = 0; i < 3; i++) q[i] = third;
    gradient_rounds("eta = 2\nbaseline = no\nweighted = no", split, wrong, p, mem);
    move(q, 2, (const double[]){.4, .3, .2});
    is_near(distance(p[0], q), 0, 1e-12, "weighting can be left out");

    const double full[2][3] = {{100, 100, 100}, {100, 100, 100}};
    const double errors[2][3] = {{40, 30, 20}, {50, NAN, 10}};
    for (int i = 0; i < 3; i++) q[i] = third;
    gradient_rounds("rate = theory\nrounds = 8", full, errors, p, mem);
    const double eta = sqrt(2 * log(3) / 8);
    move(q, eta, (const double[]){.4, .3, .2});
    is_near(distance(p[0], q), 0, 1e-12, "full validation needs no weights; rate of theory");
    move(q, eta, (const double[]){.5, .5, .1});
    is_near(distance(p[1], q), 0, 1e-12, "a diverged map counts as the worst of the others");
}

static void test_gradient_jobs(weft_arena *mem)
{
    weft_job job[9];
    game g = {&weft_tuner_ws_eg, "", 64, FULL, 100, 1, 1};
    ok(jobs_of(&g, job, 9, mem) == 6, "exponentiated gradient takes five rounds and a fit");
    ok(job[4].trial == 0 && job[4].round == 4 && weft_mix_alive(&job[4].mix) == 64,
       "the rounds go on with one trial and all maps");
    ok(job[5].trial == 1 && job[5].from == 0 && job[5].mix.k == 1, "the last is a new trial");
    g.k = 1;
    ok(jobs_of(&g, job, 9, mem) == 1, "one map takes one job");
}

/* ---- a bandit ------------------------------------------------------------------------- */

/* Share of the configurations that are better than the one that won, mean over seeds. */
static double mean_rank(const char *tuner, const char *options, int mode, weft_arena *mem)
{
    const int seeds = 40;
    double sum = 0;
    game g = {NULL, options, 64, mode, 10000, 1, 0};
    weft_check(weft_tuner_find(tuner, &g.tuner) == WEFT_OK, "%s", weft_error());
    for (; g.seed < (uint64_t)seeds; g.seed++) {
        const size_t mark = weft_arena_mark(mem);
        const player p = player_new(&g, mem);
        const story s = play_out(&g, NULL, mem);
        double won, x;
        weft_space_get(p.space, s.best, &won);
        for (int i = 0; i < g.k; i++) {
            weft_space_get(p.space, i, &x);
            sum += x < won ? 1. / (g.k - 1) / seeds : 0;
        }
        weft_arena_reset(mem, mark);
    }
    return sum;
}

static void test_bandit(weft_arena *mem)
{
    is_near(mean_rank("random", "", FULL, mem), 0, 0, "a sweep finds the best");
    is_near(mean_rank("ws_sha", "", FULL, mem), 0, 0, "halving finds it under full validation");
    is_near(mean_rank("ws_eg", "", FULL, mem), 0, 0, "gradients find it under full validation");
    ok(mean_rank("ws_sha", "", SPLIT, mem) < .05, "halving is near under split validation");
    ok(mean_rank("ws_eg", "", SPLIT, mem) < .1, "gradients are near under split validation");
}

int main(void)
{
    weft_arena *mem = weft_arena_new();
    test_contracts(mem);
    test_schedules(mem);
    test_trials(mem);
    test_growth(mem);
    test_survivors(mem);
    test_literal(mem);
    test_gradient(mem);
    test_gradient_jobs(mem);
    test_bandit(mem);
    weft_arena_free(mem);
    return tap_done();
}
