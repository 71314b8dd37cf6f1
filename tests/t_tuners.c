/* What every tuner of the registry keeps to: it ends, whatever it is told; it is a function
 * of its seed and of what it is told; its jobs are well formed. And what tuners are for: on
 * a bandit whose best arm is known they find it.
 * RUN: np=1 */
#include "game.h"
#include "tap.h"
#include "weft/registry.h"

#include <math.h>
#include <string.h>

/* ---- what happened ------------------------------------------------------------- */

typedef struct story {
    int ended;          /* said DONE within the bound and never waited for nothing */
    int formed;         /* every job was well formed */
    int64_t n, planned; /* jobs asked; the number `jobs` says at the end */
    uint64_t *job;      /* [n] hash of each job, in the order asked */
    void **told;        /* [n] packed result of each job, by job */
    int best;           /* id of the best job with one configuration */
} story;

enum { MOST_OPEN = 8 };

/* A tuner with options. Where rate > 0 its trials race, and the number of eliminations and
 * the budget are made to fit the number of configurations. */
typedef struct variant {
    const char *tuner, *options;
    int rate;
    const char *axes; /* beside client.x */
} variant;

static const char *options_for(const variant *v, int k, weft_arena *mem)
{
    enum { MOST = 40, EACH = 3 };
    if (v->rate == 0) return v->options;
    int eliminations = 0, total = 0, last = k;
    for (; last >= v->rate; last /= v->rate) eliminations++;
    for (int i = 0, n = k; i < eliminations; i++, n /= v->rate) total += EACH * (n - last);
    return weft_arena_text(mem, "rate = %d\neliminations = %d\nmost = %d\ntotal = %d\n%s",
                           v->rate, eliminations, MOST, total + last * MOST, v->options);
}

static uint64_t job_hash(const weft_job *job, weft_arena *mem)
{
    const weft_mix_update *r = &job->update;
    const int64_t whole[8] = {
        job->trial,       job->from,   job->index, job->last, job->score_eliminated,
        job->eligibility, r->schedule, r->diff};
    const double part[7] = {job->resource, job->feature_fraction, r->eta,
                            r->horizon,    r->discount,           r->floor,
                            r->cutoff};
    const size_t n = weft_mix_bytes(&job->mix);
    char *mix = weft_arena_get(mem, n, 1);
    weft_mix_pack(&job->mix, mix);
    return weft_hash(mix, n,
                     weft_hash(part, sizeof part, weft_hash(whole, sizeof whole, 0)));
}

enum { MOST_IDS = 100000 };

/* What the tuner has said of trials and configurations so far. */
typedef struct past {
    int64_t trials;
    int *closed;      /* [trials] 1: its last job was asked */
    int *eliminated;  /* [id] */
    uint64_t *conf;   /* [id] hash of the configuration it stands for; 0: not seen */
    const double **z; /* [trials] mixture that the task left, or NULL */
} past;

static past past_new(int64_t most, weft_arena *mem)
{
    return (past){.closed = WEFT_NEW(mem, int, most),
                  .eliminated = WEFT_NEW(mem, int, MOST_IDS),
                  .conf = WEFT_NEW(mem, uint64_t, MOST_IDS),
                  .z = WEFT_NEW(mem, const double *, most)};
}

/* Inside the space; an id is one configuration all along. */
static int conf_is_sound(const double *conf, int64_t id, const weft_space *sp, past *h)
{
    const size_t bytes = (size_t)sp->dim * sizeof *conf;
    const uint64_t mark = weft_hash(conf, bytes, 1);
    int good = h->conf[id] == 0 || h->conf[id] == mark;
    h->conf[id] = mark;
    for (int a = 0; a < sp->dim; a++)
        good &=
            conf[a] >= sp->axis[a].lo && (sp->axis[a].nvalue || conf[a] <= sp->axis[a].hi);
    return good;
}

/* A configuration of the space by its index, or one that has the server's options of the
 * trial's. */
static int conf_is_own(const weft_job *job, int i, const weft_space *sp, int neighbours)
{
    const double *conf = job->mix.conf + (size_t)i * (size_t)job->mix.dim;
    double own[MOST_DIM];
    weft_space_get(sp, neighbours ? job->trial : job->mix.id[i], own);
    int good = !neighbours || job->mix.id[i] == job->trial * job->mix.k + i;
    for (int a = 0; a < sp->dim; a++)
        if (!neighbours || strcmp(sp->axis[a].section, WEFT_CLIENT) != 0)
            good &= conf[a] == own[a];
    return good;
}

static int blocks_sum_to_one(const weft_mix *m)
{
    int good = 1;
    for (int b = 0; b < m->nblock; b++) {
        double sum = 0;
        for (int i = weft_mix_off(m, b); i < weft_mix_off(m, b + 1); i++)
            sum += exp(m->logp[i]);
        good &= fabs(sum - 1) < 1e-9;
    }
    return good;
}

static int mix_is_sound(const weft_job *job, const player *p, past *h)
{
    const weft_mix *m = &job->mix;
    const int neighbours = strcmp(p->tuner->kind.name, "fedex") == 0;
    int good = m->dim == p->space->dim;
    for (int i = 0; i < m->k; i++) {
        const int64_t id = m->id[i];
        good &= id >= 0 && id < (neighbours ? MOST_IDS : p->space->count);
        if (!good) return 0;
        good &= conf_is_sound(m->conf + (size_t)i * (size_t)m->dim, id, p->space, h);
        good &= conf_is_own(job, i, p->space, neighbours);
        if (!(m->logp[i] > -INFINITY))
            h->eliminated[id] = 1;
        else
            good &= !h->eliminated[id];
    }
    if (job->update.schedule != WEFT_UPDATE_NONE && h->z[job->trial])
        good &= memcmp(m->logp, h->z[job->trial], (size_t)m->k * sizeof *m->logp) == 0;
    return good && blocks_sum_to_one(m);
}

static int job_is_sound(const weft_job *job, const player *p, past *h)
{
    int good = job->resource >= 0 && job->feature_fraction > 0 &&
               job->feature_fraction <= 1 && job->index >= 0 && job->trial >= 0 &&
               job->trial <= h->trials && job->from < h->trials;
    if (!good) return 0;
    if (job->trial == h->trials)
        h->trials++;
    else
        good &= !h->closed[job->trial] && job->from < 0;
    if (job->from >= 0) good &= !h->closed[job->from];
    h->closed[job->trial] = job->last;
    return good && mix_is_sound(job, p, h);
}

/* A job in flight. */
typedef struct flight {
    int64_t job;
    weft_result res;
} flight;

/* Plays to the end. The first `from->n / 2` results are those of an earlier story, if any.
 */
static story play_out(const game *g, const story *from, weft_arena *mem)
{
    const int64_t most = 20 * (int64_t)g->k + 1000;
    player p = player_new(g, mem);
    past h = past_new(most, mem);
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
        h.z[f.res.trial] = f.res.logp;
        p.tuner->tell(p.self, &f.res);
        for (int64_t t = 0; p.tuner->ended && t < h.trials; t++)
            h.closed[t] |= p.tuner->ended(p.self, t);
    }
    s.planned = p.tuner->jobs(p.self);
    return s;
}

static int alike(const story *a, const story *b)
{
    return a->n == b->n && memcmp(a->job, b->job, (size_t)a->n * sizeof *a->job) == 0;
}

/* ---- contracts ----------------------------------------------------------------- */

static const char *const mode_name[NMODE] = {"split validation", "full validation",
                                             "nothing but NaN", "a NaN now and then"};

static const int sizes[] = {1, 2, 3, 5, 64, 1000};
enum { NSIZE = sizeof sizes / sizeof *sizes };

static void keep_contract(const variant *v, weft_arena *mem)
{
    const weft_tuner *t;
    ok(weft_tuner_find(v->tuner, &t) == WEFT_OK, "there is %s", v->tuner);
    char *name =
        weft_arena_text(mem, "%s%s%s", v->tuner, *v->options ? ": " : "", v->options);
    for (char *c = name; *c; c++)
        if (*c == '\n') *c = ',';
    for (int mode = 0; mode < NMODE; mode++) {
        int ended = 1, formed = 1, wide = 1, planned = 1, same = 1, replays = 1;
        for (int e = 0; e < NSIZE; e++) {
            const size_t mark = weft_arena_mark(mem);
            game g = {t, options_for(v, sizes[e], mem), sizes[e], mode, 500, 1, 5, v->axes,
                      0};
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

static const char fed[] = "n = 1 .. 5\n[server]\ny = 0 .. 1\n";

static const variant variants[] = {
    {"random", "", 0, fed},
    {"ws_sha", "", 0, NULL},
    {"ws_sha", "switch = 1", 0, NULL},
    {"ws_sha", "keep = 0.9", 0, NULL},
    {"ws_sha", "keep = 0.1", 0, NULL},
    {"ws_sha", "switch = 4", 0, NULL},
    {"ws_sha", "grow = 1.4142", 0, NULL},
    {"ws_sha", "refit = no\ngrow = 2", 0, NULL},
    {"ws_sha", "warm = no\nrefit = no", 0, NULL},
    {"ws_sha", "refit = no\nswitch = 4", 0, NULL},
    {"ws_sha", "literal = yes", 0, NULL},
    {"ws_sha", "literal = yes\nswitch = 3\nwarm = no", 0, NULL},
    {"ws_eg", "", 0, NULL},
    {"ws_eg", "rate = theory\nbaseline = yes", 0, NULL},
    {"ws_eg", "weighted = no\nrefit = no", 0, NULL},
    {"ws_eg", "refit = no\nswitch = 4", 0, NULL},
    {"ws_eg", "warm = no\nrounds = 30\neta = 100", 0, NULL},
    {"sha", "", 3, fed},
    {"sha", "winner = best\nevery = 2", 2, fed},
    {"fedex", "k = 4", 3, fed},
    {"fedex", "k = 3\nwrap = random\nsched = adaptive\ndiff = yes", 3, fed},
    {"fedex", "levels = 3\ncutoff = 0.5\nbaseline = none\nsched = scale", 2, fed},
    {"fedex", "k = 5\nevery = 2\nwinner = best\nsched = root\nfloor = 0.1", 5, fed},
    {"fedex", "k = 4\nwrap = random\nsched = racing\nalpha = 0.5", 3, fed},
    {"mw", "", 0, "n = 1 .. 5"},
    {"mw", "racing = yes\nalpha = 0.5", 0, NULL},
    {"mw", "literal = yes\nknown = no", 0, NULL},
};

/* A tuner without a line above is played by its defaults. */
static void test_contracts(weft_arena *mem)
{
    const size_t n = sizeof variants / sizeof *variants;
    for (size_t v = 0; v < n; v++) keep_contract(&variants[v], mem);
    for (int i = 0; weft_tuners[i]; i++) {
        const char *name = weft_tuners[i]->kind.name;
        size_t v = 0;
        while (v < n && strcmp(variants[v].tuner, name) != 0) v++;
        if (v == n) keep_contract(&(variant){name, "", 0, NULL}, mem);
    }
}

/* ---- a bandit ------------------------------------------------------------------ */

/* Share of the configurations that are better than the one that won, mean over seeds. */
static double mean_rank(const char *tuner, const char *options, int mode, weft_arena *mem)
{
    const int seeds = 40;
    double sum = 0;
    game g = {NULL, options, 64, mode, 10000, 1, 0, NULL, 0};
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
    is_near(mean_rank("ws_sha", "", FULL, mem), 0, 0,
            "halving finds it under full validation");
    is_near(mean_rank("ws_eg", "", FULL, mem), 0, 0,
            "gradients find it under full validation");
    is_near(mean_rank("sha", "rate = 4\ntotal = 9000", FULL, mem), 0, 0,
            "halving of trials finds it");
    ok(mean_rank("ws_sha", "", SPLIT, mem) < .05, "halving is near under split validation");
    ok(mean_rank("ws_eg", "", SPLIT, mem) < .1,
       "gradients are near under split validation");
}

int main(void)
{
    weft_arena *mem = weft_arena_new();
    test_contracts(mem);
    test_bandit(mem);
    weft_arena_free(mem);
    return tap_done();
}
