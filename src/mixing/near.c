/* Mixtures around the configurations of trials; see near.h. */
#include "near.h"

#include <string.h>

const weft_when weft_near_when[] = {{"k", "levels", "0"}, {"eps", "levels", "0"}, {0}};

static int is_drawn(const weft_space *space, int a)
{
    return space->axis[a].opt->role == WEFT_PER_SAMPLE;
}

/* Makes the mixture a product of the grids of all options that may differ between
 * clients. */
static weft_status make_grid(weft_near *near, const char *name, int naxis)
{
    const weft_space *space = near->space;
    if (near->levels == 1)
        return weft_fail(WEFT_ECONF,
                         "%s.levels = 1 leaves nothing to draw; expected 0 (neighbours) or "
                         "at least 2",
                         name);
    if (naxis > WEFT_MAX_BLOCKS)
        return weft_fail(WEFT_ELIMIT,
                         "%s.levels = %lld with %d options to draw that have ranges; "
                         "expected at most %d",
                         name, (long long)near->levels, naxis, WEFT_MAX_BLOCKS);
    int *off = WEFT_NEW(near->mem, int, naxis + 1), *axis = WEFT_NEW(near->mem, int, naxis);
    int b = 0;
    for (int a = 0; a < space->dim; a++) {
        if (!is_drawn(space, a)) continue;
        char own[128];
        weft_axis_name(&space->axis[a], own, sizeof own);
        if (space->nforbid > 0)
            return weft_fail(WEFT_ECONF,
                             "%s.levels makes a grid of every option independently, so "
                             "space.forbid could not be kept; use %s.k",
                             name, name);
        if (space->axis[a].nwhen > 0)
            return weft_fail(WEFT_ECONF,
                             "%s.levels makes a grid of every option independently, but %s "
                             "exists only where another has a certain value; use %s.k",
                             name, own, name);
        axis[b] = a;
        off[b + 1] = off[b] + (int)weft_axis_levels(&space->axis[a], near->levels);
        b++;
    }
    near->mix = weft_mix_new(off[naxis], space->dim, near->mem);
    weft_mix_divide(&near->mix, naxis, off, axis);
    return WEFT_OK;
}

static weft_status check_whole(weft_near *near, const char *name, const weft_mix *whole)
{
    if (near->k > 0 || near->levels > 0)
        return weft_fail(WEFT_ECONF,
                         "%s.%s is for mixtures around the configuration of a trial, but "
                         "the one of this schedule is of the whole space; take it out, or "
                         "use another run.tuner",
                         name, near->k > 0 ? "k" : "levels");
    near->whole = 1;
    near->mix = weft_mix_new(whole->k, whole->dim, near->mem);
    weft_mix_copy(&near->mix, whole);
    return WEFT_OK;
}

/* Makes a mixture of the centre and its neighbours: k entries, or as many as trials. */
static weft_status make_neighbours(weft_near *near, const char *name, int64_t trials)
{
    enum { MAX_NUMBERS = 10000000 };
    int64_t k = near->k > 0 ? near->k : trials;
    if (k == 0)
        return weft_fail(WEFT_ECONF,
                         "%s.k = 0 is for as many configurations in a mixture as there are "
                         "trials, but their number is not known beforehand; give %s.k",
                         name, name);
    if (k > MAX_NUMBERS / (trials > 0 ? trials : 1))
        return weft_fail(WEFT_ELIMIT,
                         "%s: %lld trials with mixtures of %lld configurations; expected "
                         "at most %d together, by %s.k or space.configs",
                         name, (long long)trials, (long long)k, MAX_NUMBERS, name);
    near->mix = weft_mix_new((int)k, near->space->dim, near->mem);
    return WEFT_OK;
}

weft_status weft_near_setup(weft_near *near, const char *name, const weft_mixing_env *env)
{
    int naxis = 0;
    near->space = env->space;
    near->seed = env->seed;
    near->mem = env->mem;
    for (int a = 0; a < near->space->dim; a++) naxis += is_drawn(near->space, a);
    if (naxis == 0)
        return weft_fail(WEFT_ECONF,
                         "%s: no option that may differ between the clients of a trial has "
                         "a range, so there is nothing that they could draw; give one a "
                         "range, or use run.mixing = none",
                         name);
    if (env->whole)
        TRY(check_whole(near, name, env->whole));
    else if (near->levels > 0)
        TRY(make_grid(near, name, naxis));
    else
        TRY(make_neighbours(near, name, env->trials));
    near->begin = WEFT_NEW(near->mem, double, near->mix.k);
    memcpy(near->begin, near->mix.logp, (size_t)near->mix.k * sizeof *near->begin);
    near->nstored = near->mix.k;
    return WEFT_OK;
}

/* Fills entry i of the mixture around a centre. */
static void fill_entry(weft_near *near, const double *centre, int i)
{
    int dim = near->mix.dim;
    double *conf = near->mix.conf + (size_t)i * (size_t)dim;
    if (near->levels == 0) {
        weft_space_perturb(near->space, centre, near->eps, near->seed, i, conf);
        return;
    }
    int b = 0;
    while (i >= weft_mix_off(&near->mix, b + 1)) b++;
    int a = near->mix.axis[b], first = weft_mix_off(&near->mix, b);
    memcpy(conf, centre, (size_t)dim * sizeof *conf);
    conf[a] = weft_axis_point(&near->space->axis[a], i - first,
                              weft_mix_off(&near->mix, b + 1) - first);
}

double *weft_near_stored(const weft_near *near, int64_t trial)
{
    return trial >= 0 && trial < near->roomof ? near->of[trial] : NULL;
}

double *weft_near_store(weft_near *near, int64_t trial)
{
    WEFT_GROW(near->mem, near->of, trial, &near->roomof);
    double **own = &near->of[trial];
    if (!*own && near->nfree > 0) *own = near->free[--near->nfree];
    if (!*own) *own = WEFT_NEW(near->mem, double, near->nstored);
    return *own;
}

void weft_near_make(weft_near *near, const double *conf, weft_job *job)
{
    weft_mix *mix = &near->mix;
    for (int i = 0; i < mix->k && !near->whole; i++) {
        mix->id[i] = job->trial * mix->k + i;
        fill_entry(near, conf, i);
    }
    const double *own = weft_near_stored(near, job->trial);
    memcpy(mix->logp, own ? own : near->begin, (size_t)mix->k * sizeof *mix->logp);
    job->mix = *mix;
}

void weft_near_told(void *self, const weft_result *res)
{
    weft_near *near = self;
    weft_check(res->k == near->mix.k, "result of %lld configurations, expected %d",
               (long long)res->k, near->mix.k);
    memcpy(weft_near_store(near, res->trial), res->logp,
           (size_t)res->k * sizeof *res->logp);
}

void weft_near_forget(void *self, int64_t trial)
{
    weft_near *near = self;
    if (!weft_near_stored(near, trial)) return;
    WEFT_GROW(near->mem, near->free, near->nfree, &near->roomfree);
    near->free[near->nfree++] = near->of[trial];
    near->of[trial] = NULL;
}
