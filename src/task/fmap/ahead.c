/* Fits before their jobs. A fit of one map to sparse rows is sequential over rows, on one
 * rank, while the others would wait. When jobs of several such maps are known, all ranks
 * compute the features of each map together, every rank gets all rows of some maps and fits
 * these, and the weights are sent to all ranks. A fit depends only on its map, so that it
 * has the same bits as one that is done in its job. */
#include "ahead.h"
#include "weft/par.h"

#include <string.h>

enum { EACH = 4 }; /* largest number of fits per rank at once, which a kill would lose */

/* The fits of a batch that one rank does. */
struct whole {
    weft_matrix matrix;
    const int32_t *label;
    const void *solver;
};

static int64_t length_of(const fmap_task *fmap)
{
    return fmap->nstat + fmap->outputs * (fmap->columns + 1);
}

static fmap_early *find(const fmap_task *fmap, int64_t job)
{
    fmap_early *early = fmap->early;
    while (early && early->job != job) early = early->next;
    return early;
}

static fmap_early *early_new(fmap_task *fmap, int64_t job)
{
    fmap_early *early = find(fmap, -1);
    if (!early) {
        early = WEFT_NEW(fmap->env.mem, fmap_early, 1);
        early->x = WEFT_NEW(fmap->env.mem, real, length_of(fmap));
        early->next = fmap->early;
        fmap->early = early;
    }
    early->job = job;
    return early;
}

int fmap_was_ahead(fmap_task *fmap, const weft_job *job, real *x, weft_fitted *fitted)
{
    fmap_early *early = find(fmap, job->id);
    if (!early) return 0;
    memcpy(x, early->x, (size_t)length_of(fmap) * sizeof *x);
    *fitted = early->fitted;
    early->job = -1;
    return 1;
}

/* 1: the job is a fit with all features that can be done by a single rank; rows that are
 * sparse have classes and equal weights. */
static int is_lone(const fmap_task *fmap, const weft_job *job)
{
    return fmap->feature->sparse && fmap->model->serial && !fmap->pieces &&
           job->mix.k == 1 && job->resource > 0 && !(job->feature_fraction < 1);
}

/* Chooses the jobs that are fitted now: job[0] and as many others as half of the memory
 * allows. Memory is needed for one matrix while it is made, twice the size of its rows on
 * all ranks, and for all rows of the matrices on the ranks that fit them, where a rank may
 * have one matrix more than others. Returns their number. */
static int choose(fmap_task *fmap, int n, const weft_job *const *job,
                  const weft_job **chosen, fmap_early **fits)
{
    int ranks = fmap->env.team->size;
    double bytes = 0, most = 0;
    int m = 0;
    weft_arena *tmp = weft_arena_new();
    for (int i = 0; i < n && m < EACH * ranks; i++) {
        if (!is_lone(fmap, job[i]) || find(fmap, job[i]->id)) continue;
        fmap_arms arms = fmap_arms_new(fmap, &job[i]->mix, tmp);
        double flops, all, entries;
        fmap->feature->estimate(fmap->map, arms.arm[0],
                                (double)fmap->env.data->part[WEFT_TRAIN].total, 1, &flops,
                                &all, &entries);
        most = all > most ? all : most;
        if (m > 0 && (bytes + all) / 2 / ranks + most > 0.5 * fmap->env.memory) continue;
        bytes += all;
        chosen[m] = job[i];
        fits[m] = early_new(fmap, job[i]->id);
        fits[m++]->cost = entries;
    }
    weft_arena_free(tmp);
    return m;
}

/* The rows of a job's matrix on the rank that fits it; statistics in x. Collective. */
static void take_rows(fmap_task *fmap, const weft_job *job, fmap_early *early,
                      struct whole *to, weft_arena *mem)
{
    weft_arena *tmp = weft_arena_new();
    fmap_arms arms = fmap_arms_new(fmap, &job->mix, tmp);
    weft_request request = fmap_request(fmap, job, &arms, WEFT_TRAIN);
    to->solver = fmap_solver(fmap, job->mix.conf, mem);
    weft_matrix matrix;
    fmap->feature->matrix(fmap->map, &request, 1, early->x, &matrix, tmp);
    early->fitted.diverged = matrix.empty != NULL;
    to->label = matrix.gather(&matrix, fmap->env.data->part[WEFT_TRAIN].label, early->owner,
                              fmap->alone, &to->matrix, mem);
    weft_arena_free(tmp);
}

static void deal(const fmap_task *fmap, int n, fmap_early **fits, weft_arena *tmp)
{
    double *cost = WEFT_NEW(tmp, double, n);
    int *owner = WEFT_NEW(tmp, int, n);
    for (int i = 0; i < n; i++) cost[i] = fits[i]->cost;
    weft_deal_costs(n, cost, fmap->env.team->size, NULL, owner);
    for (int i = 0; i < n; i++) fits[i]->owner = owner[i];
}

/* Does this rank's fits, then sends all weights to all ranks. Collective. */
static void fit_all(fmap_task *fmap, int n, fmap_early **fits, const struct whole *rows)
{
    weft_team *team = fmap->env.team;
    for (int i = 0; i < n; i++) {
        if (fits[i]->owner != team->rank || fits[i]->fitted.diverged) continue;
        weft_arena *tmp = weft_arena_new();
        real *w = fits[i]->x + fmap->nstat;
        memset(w, 0, (size_t)(fmap->outputs * (fmap->columns + 1)) * sizeof *w);
        weft_answers answers = {.classes = fmap->answers.classes, .label = rows[i].label};
        fmap->model->fit(rows[i].solver, &rows[i].matrix, &answers, 1, w, &fits[i]->fitted,
                         tmp);
        weft_arena_free(tmp);
    }
    for (int i = 0; i < n; i++) {
        size_t numbers = (size_t)(fmap->outputs * (fmap->columns + 1));
        weft_bcast(team, fits[i]->x + fmap->nstat, numbers * sizeof(real), fits[i]->owner);
        weft_bcast(team, &fits[i]->fitted, sizeof fits[i]->fitted, fits[i]->owner);
    }
}

void fmap_ahead(void *self, int n, const weft_job *const *job)
{
    fmap_task *fmap = self;
    if (n < 2 || fmap->env.team->size < 2 || !is_lone(fmap, job[0]) ||
        find(fmap, job[0]->id))
        return;
    if (!fmap->alone) {
        fmap->alone = WEFT_NEW(fmap->env.mem, weft_team, 1);
        weft_team_split(fmap->env.team, fmap->env.team->size, fmap->alone);
    }
    weft_arena *mem = weft_arena_new();
    const weft_job **chosen = WEFT_NEW(mem, const weft_job *, n);
    fmap_early **fits = WEFT_NEW(mem, fmap_early *, n);
    struct whole *rows = WEFT_NEW(mem, struct whole, n);
    n = choose(fmap, n, job, chosen, fits);
    if (n > 1) {
        deal(fmap, n, fits, mem);
        for (int i = 0; i < n; i++) take_rows(fmap, chosen[i], fits[i], &rows[i], mem);
        fit_all(fmap, n, fits, rows);
    } else {
        fits[0]->job = -1;
    }
    weft_arena_free(mem);
}
