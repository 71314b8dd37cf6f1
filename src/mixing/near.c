/* Mixtures around the configurations of trials; see near.h. */
#include "near.h"

#include <string.h>

static int is_drawn(const weft_space *sp, int a)
{
    return sp->axis[a].opt->role == WEFT_PER_SAMPLE;
}

/* Makes the mixture a product of the grids of all options that may differ between
 * clients. */
static weft_status make_grid(weft_near *t, const char *name, int naxis)
{
    const weft_space *sp = t->sp;
    if (t->levels == 1)
        return weft_fail(WEFT_ECONF,
                         "%s.levels = 1 leaves nothing to draw; expected 0 (neighbours) or "
                         "at least 2",
                         name);
    if (naxis > WEFT_MAX_BLOCKS)
        return weft_fail(WEFT_ELIMIT,
                         "%s.levels = %lld with %d options to draw that have ranges; "
                         "expected at most %d",
                         name, (long long)t->levels, naxis, WEFT_MAX_BLOCKS);
    int *off = WEFT_NEW(t->mem, int, naxis + 1), *axis = WEFT_NEW(t->mem, int, naxis);
    int b = 0;
    for (int a = 0; a < sp->dim; a++) {
        if (!is_drawn(sp, a)) continue;
        char own[128];
        weft_axis_name(&sp->axis[a], own, sizeof own);
        if (sp->axis[a].nwhen > 0)
            return weft_fail(WEFT_ECONF,
                             "%s.levels makes a grid of every option independently, but %s "
                             "exists only where another has a certain value; use %s.k",
                             name, own, name);
        axis[b] = a;
        off[b + 1] = off[b] + (int)weft_axis_levels(&sp->axis[a], t->levels);
        b++;
    }
    t->mix = weft_mix_new(off[naxis], sp->dim, t->mem);
    weft_mix_divide(&t->mix, naxis, off, axis);
    return WEFT_OK;
}

static weft_status check_whole(weft_near *t, const char *name, const weft_mix *whole)
{
    if (t->k > 0 || t->levels > 0)
        return weft_fail(WEFT_ECONF,
                         "%s.%s is for mixtures around the configuration of a trial, but "
                         "the one of this schedule is of the whole space; take it out, or "
                         "use another run.tuner",
                         name, t->k > 0 ? "k" : "levels");
    t->whole = 1;
    t->mix = weft_mix_new(whole->k, whole->dim, t->mem);
    weft_mix_copy(&t->mix, whole);
    return WEFT_OK;
}

/* Makes a mixture of the centre and its neighbours: k entries, or as many as trials. */
static weft_status make_neighbours(weft_near *t, const char *name, int64_t trials)
{
    enum { MAX_NUMBERS = 10000000 };
    int64_t k = t->k > 0 ? t->k : trials;
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
    t->mix = weft_mix_new((int)k, t->sp->dim, t->mem);
    return WEFT_OK;
}

weft_status weft_near_setup(weft_near *t, const char *name, const weft_mixing_env *env)
{
    int naxis = 0;
    t->sp = env->space;
    t->seed = env->seed;
    t->mem = env->mem;
    for (int a = 0; a < t->sp->dim; a++) naxis += is_drawn(t->sp, a);
    if (naxis == 0)
        return weft_fail(WEFT_ECONF,
                         "%s: no option that may differ between the clients of a trial has "
                         "a range, so there is nothing that they could draw; give one a "
                         "range, or use run.mixing = none",
                         name);
    if (env->whole)
        TRY(check_whole(t, name, env->whole));
    else if (t->levels > 0)
        TRY(make_grid(t, name, naxis));
    else
        TRY(make_neighbours(t, name, env->trials));
    t->begin = WEFT_NEW(t->mem, double, t->mix.k);
    memcpy(t->begin, t->mix.logp, (size_t)t->mix.k * sizeof *t->begin);
    return WEFT_OK;
}

/* Fills entry i of the mixture around a centre. */
static void fill_entry(weft_near *t, const double *centre, int i)
{
    int dim = t->mix.dim;
    double *conf = t->mix.conf + (size_t)i * (size_t)dim;
    if (t->levels == 0) {
        weft_space_perturb(t->sp, centre, t->eps, t->seed, i, conf);
        return;
    }
    int b = 0;
    while (i >= weft_mix_off(&t->mix, b + 1)) b++;
    int a = t->mix.axis[b], first = weft_mix_off(&t->mix, b);
    memcpy(conf, centre, (size_t)dim * sizeof *conf);
    conf[a] =
        weft_axis_point(&t->sp->axis[a], i - first, weft_mix_off(&t->mix, b + 1) - first);
}

/* The slot of a trial, or NULL. */
static double *slot_of(const weft_near *t, int64_t trial)
{
    if (trial >= t->roomof || t->of[trial] == 0) return NULL;
    return t->slot + (t->of[trial] - 1) * t->mix.k;
}

void weft_near_make(weft_near *t, const double *conf, weft_job *job)
{
    weft_mix *m = &t->mix;
    for (int i = 0; i < m->k && !t->whole; i++) {
        m->id[i] = job->trial * m->k + i;
        fill_entry(t, conf, i);
    }
    const double *own = slot_of(t, job->trial);
    memcpy(m->logp, own ? own : t->begin, (size_t)m->k * sizeof *m->logp);
    job->mix = *m;
}

/* Gives a trial a slot: a free one, or a new one. */
static void take_slot(weft_near *t, int64_t trial)
{
    t->of = weft_grow(t->mem, t->of, sizeof *t->of, trial, &t->roomof);
    if (t->nfree > 0) {
        t->of[trial] = 1 + t->free[--t->nfree];
        return;
    }
    t->slot = weft_grow(t->mem, t->slot, (size_t)t->mix.k * sizeof *t->slot, t->nslot,
                        &t->roomslot);
    t->of[trial] = ++t->nslot;
}

void weft_near_told(weft_near *t, const weft_result *res)
{
    weft_check(res->k == t->mix.k, "result of %lld configurations, expected %d",
               (long long)res->k, t->mix.k);
    if (!slot_of(t, res->trial)) take_slot(t, res->trial);
    memcpy(slot_of(t, res->trial), res->logp, (size_t)res->k * sizeof *res->logp);
}

void weft_near_forget(weft_near *t, int64_t trial)
{
    if (!slot_of(t, trial)) return;
    t->free = weft_grow(t->mem, t->free, sizeof *t->free, t->nfree, &t->roomfree);
    t->free[t->nfree++] = t->of[trial] - 1;
    t->of[trial] = 0;
}
