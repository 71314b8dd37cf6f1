/* Fits before their jobs. A fit of one map to sparse rows is sequential over rows, on one
 * rank, while the others would wait. When jobs of several such maps are known, all ranks
 * compute the features of each map together, every rank gets all rows of some maps and fits
 * these, and the weights are sent to all ranks. A fit depends only on its map, so that it
 * has the same bits as one that is done in its job. */
#include "ahead.h"

#include <string.h>

enum { EACH = 4 }; /* largest number of fits per rank at once, which a kill would lose */

typedef struct fmap_early early;

/* The fits of a batch that one rank does. */
typedef struct whole {
    weft_matrix f;
    const int32_t *label;
    const void *solver;
} whole;

static int64_t length_of(const fmap *t)
{
    return t->nstat + t->outputs * (t->columns + 1);
}

static early *find(const fmap *t, int64_t job)
{
    early *e = t->early;
    while (e && e->job != job) e = e->next;
    return e;
}

static early *early_new(fmap *t, int64_t job)
{
    early *e = find(t, -1);
    if (!e) {
        e = WEFT_NEW(t->env.mem, early, 1);
        e->x = WEFT_NEW(t->env.mem, real, length_of(t));
        e->next = t->early;
        t->early = e;
    }
    e->job = job;
    return e;
}

int fmap_was_ahead(fmap *t, const weft_job *job, real *x, weft_fitted *fitted)
{
    early *e = find(t, job->id);
    if (!e) return 0;
    memcpy(x, e->x, (size_t)length_of(t) * sizeof *x);
    *fitted = e->fitted;
    e->job = -1;
    return 1;
}

/* 1: the job is a fit with all features that can be done by a single rank. */
static int is_lone(const fmap *t, const weft_job *job)
{
    return t->feature->sparse && t->model->serial && !t->pieces && job->mix.k == 1 &&
           job->resource > 0 && !(job->feature_fraction < 1);
}

/* Chooses the jobs that are fitted now: job[0] and as many others as half of the memory
 * allows. Memory is needed for one matrix while it is made, twice the size of its rows on
 * all ranks, and for all rows of the matrices on the ranks that fit them, where a rank may
 * have one matrix more than others. Returns their number. */
static int choose(fmap *t, int n, const weft_job *const *job, const weft_job **chosen,
                  early **fits)
{
    int ranks = t->env.team->size;
    double bytes = 0, most = 0;
    int m = 0;
    weft_arena *tmp = weft_arena_new();
    for (int i = 0; i < n && m < EACH * ranks; i++) {
        if (!is_lone(t, job[i]) || find(t, job[i]->id)) continue;
        fmap_arms a = fmap_arms_new(t, &job[i]->mix, tmp);
        double flops, all, entries;
        t->feature->estimate(t->map, a.arm[0], (double)t->env.data->part[WEFT_TRAIN].total,
                             1, &flops, &all, &entries);
        most = all > most ? all : most;
        if (m > 0 && (bytes + all) / 2 / ranks + most > 0.5 * t->env.memory) continue;
        bytes += all;
        chosen[m] = job[i];
        fits[m] = early_new(t, job[i]->id);
        fits[m++]->cost = entries;
    }
    weft_arena_free(tmp);
    return m;
}

/* The rows of a job's matrix on the rank that fits it; statistics in x. Collective. */
static void take_rows(fmap *t, const weft_job *job, early *e, whole *to, weft_arena *mem)
{
    weft_arena *tmp = weft_arena_new();
    fmap_arms a = fmap_arms_new(t, &job->mix, tmp);
    weft_request q = fmap_request(t, job, &a, WEFT_TRAIN);
    to->solver = fmap_solver(t, job->mix.conf, mem);
    weft_matrix f;
    t->feature->matrix(t->map, &q, 1, e->x, &f, tmp);
    e->fitted.diverged = f.empty != NULL;
    to->label =
        f.gather(&f, t->env.data->part[WEFT_TRAIN].label, e->owner, t->alone, &to->f, mem);
    weft_arena_free(tmp);
}

static void deal(const fmap *t, int n, early **fits, weft_arena *tmp)
{
    double *cost = WEFT_NEW(tmp, double, n);
    int *owner = WEFT_NEW(tmp, int, n);
    for (int i = 0; i < n; i++) cost[i] = fits[i]->cost;
    weft_deal_costs(n, cost, t->env.team->size, NULL, owner);
    for (int i = 0; i < n; i++) fits[i]->owner = owner[i];
}

/* Does this rank's fits, then sends all weights to all ranks. Collective. */
static void fit_all(fmap *t, int n, early **fits, const whole *rows)
{
    weft_team *team = t->env.team;
    for (int i = 0; i < n; i++) {
        if (fits[i]->owner != team->rank || fits[i]->fitted.diverged) continue;
        weft_arena *tmp = weft_arena_new();
        real *w = fits[i]->x + t->nstat;
        memset(w, 0, (size_t)(t->outputs * (t->columns + 1)) * sizeof *w);
        t->model->fit(rows[i].solver, &rows[i].f, rows[i].label, t->env.data->classes, 1, w,
                      &fits[i]->fitted, tmp);
        weft_arena_free(tmp);
    }
    for (int i = 0; i < n; i++) {
        size_t numbers = (size_t)(t->outputs * (t->columns + 1));
        weft_bcast(team, fits[i]->x + t->nstat, numbers * sizeof(real), fits[i]->owner);
        weft_bcast(team, &fits[i]->fitted, sizeof fits[i]->fitted, fits[i]->owner);
    }
}

void fmap_ahead(void *self, int n, const weft_job *const *job)
{
    fmap *t = self;
    if (n < 2 || t->env.team->size < 2 || !is_lone(t, job[0]) || find(t, job[0]->id))
        return;
    if (!t->alone) {
        t->alone = WEFT_NEW(t->env.mem, weft_team, 1);
        weft_team_split(t->env.team, t->env.team->size, t->alone);
    }
    weft_arena *mem = weft_arena_new();
    const weft_job **chosen = WEFT_NEW(mem, const weft_job *, n);
    early **fits = WEFT_NEW(mem, early *, n);
    whole *rows = WEFT_NEW(mem, whole, n);
    n = choose(t, n, job, chosen, fits);
    if (n > 1) {
        deal(t, n, fits, mem);
        for (int i = 0; i < n; i++) take_rows(t, chosen[i], fits[i], &rows[i], mem);
        fit_all(t, n, fits, rows);
    } else {
        fits[0]->job = -1;
    }
    weft_arena_free(mem);
}
