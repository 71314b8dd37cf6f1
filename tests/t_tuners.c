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

static uint64_t job_hash(const weft_job *job, weft_arena *mem)
{
    const int64_t whole[5] = {job->trial, job->from, job->round, job->last, job->all};
    const double part[2] = {job->resource, job->size};
    const size_t n = weft_mix_bytes(&job->mix);
    char *mix = weft_arena_get(mem, n, 1);
    weft_mix_pack(&job->mix, mix);
    return weft_hash(mix, n,
                     weft_hash(part, sizeof part, weft_hash(whole, sizeof whole, 0)));
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

/* Plays to the end. The first `from->n / 2` results are those of an earlier story, if any.
 */
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

/* ---- contracts ----------------------------------------------------------------- */

static const char *const mode_name[NMODE] = {"split validation", "full validation",
                                             "nothing but NaN", "a NaN now and then"};

static const int sizes[] = {1, 2, 3, 5, 64, 1000};
enum { NSIZE = sizeof sizes / sizeof *sizes };

static void keep_contract(const weft_tuner *t, const char *options, weft_arena *mem)
{
    char *name =
        weft_arena_text(mem, "%s%s%s", t->kind.name, *options ? ": " : "", options);
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
    {"ws_eg", "rate = theory\nbaseline = yes"},
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

/* ---- a bandit ------------------------------------------------------------------ */

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
    is_near(mean_rank("ws_sha", "", FULL, mem), 0, 0,
            "halving finds it under full validation");
    is_near(mean_rank("ws_eg", "", FULL, mem), 0, 0,
            "gradients find it under full validation");
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
