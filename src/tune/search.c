/* Combines a schedule, a sampler and a mixing; see search.h. The only file of this folder
 * that knows all three. */
#include "weft/tune/search.h"
#include "weft/base/base.h"

#include "schedule.h"

#include <math.h>
#include <string.h>

/* ---- which parts can be combined ---- */

static weft_status check_sampler(const weft_search *search, const weft_space *space)
{
    const char *sampler = search->sampler->kind.name, *tuner = search->tuner->kind.name;
    if (!search->sampler->told && space->nknown > 0)
        return weft_fail(WEFT_ECONF,
                         "space.prior tells trials to the sampler, and run.sampler = %s "
                         "does not learn; use run.sampler = tpe, kde, forest, gp or "
                         "mobster, or space.first for configurations to begin with",
                         sampler);
    for (int a = 0; a < space->dim; a++)
        if (space->axis[a].has_near && search->tuner->shared != WEFT_SHARES_NOTHING)
            return weft_fail(WEFT_ECONF,
                             "%s.%s: \"near\" draws trials, and run.tuner = %s trains all "
                             "configurations of [space] together; take it out",
                             space->axis[a].section, space->axis[a].opt->name, tuner);
    if (!search->sampler->told) return WEFT_OK;
    if (search->tuner->shared != WEFT_SHARES_NOTHING)
        return weft_fail(
            WEFT_ECONF,
            "run.sampler = %s with run.tuner = %s, whose one mixture is of all "
            "configurations of [space]; use run.sampler = space, or another "
            "run.tuner",
            sampler, tuner);
    if (space->source != 0)
        return weft_fail(
            WEFT_ECONF,
            "run.sampler = %s proposes configurations of its own, but space.source lists "
            "all that are allowed; use space.source = random, or run.sampler = space",
            sampler);
    return WEFT_OK;
}

/* 1: all objectives of a known trial can be compared with those of the search. */
static int has_aims(const weft_known *known, int objectives)
{
    int all = !(known->other > 0);
    for (int g = 0; g < objectives && isfinite(known->loss); g++)
        all &= !isnan(known->aim[g]);
    return all;
}

static weft_status check_fronts(const weft_search *search, const weft_space *space)
{
    if (space->objectives < 2) return WEFT_OK;
    for (int64_t i = 0; i < space->nknown; i++)
        if (!has_aims(&space->known[i], space->objectives))
            return weft_fail(
                WEFT_ECONF,
                "run.objectives with space.prior, of which a trial does not have them all, "
                "as those of runs with the same objectives and data have; take one of them "
                "out, or give known configurations by space.first");
    if (!search->tuner->fronts)
        return weft_fail(WEFT_ECONF,
                         "run.objectives with run.tuner = %s, which ranks trials by one; "
                         "use random, sha, hyperband or asha, or run.limits",
                         search->tuner->kind.name);
    if (search->sampler->told && !search->sampler->fronts)
        return weft_fail(WEFT_ECONF,
                         "run.objectives with run.sampler = %s, which learns from one; use "
                         "tpe or space, or run.limits",
                         search->sampler->kind.name);
    return WEFT_OK;
}

static weft_status check_mixing(const weft_search *search)
{
    const char *mixing = search->mixing->kind.name, *tuner = search->tuner->kind.name;
    if (search->tuner->shared == WEFT_SHARES_SPACE && search->mixing->moves)
        return weft_fail(WEFT_ECONF,
                         "run.mixing = %s with run.tuner = %s, which has a mixture of its "
                         "own; use run.mixing = none, or run.tuner = ws_one",
                         mixing, tuner);
    if (search->tuner->shared == WEFT_SHARES_MIXTURE && !search->mixing->moves)
        return weft_fail(WEFT_ECONF,
                         "run.tuner = %s trains one mixture of all configurations, which "
                         "run.mixing = %s leaves as it is; use run.mixing = mw or fedex",
                         tuner, mixing);
    return WEFT_OK;
}

/* In a finite space no configuration comes twice, but of a schedule that places trials. */
static void begin_finite(weft_search *search, const weft_extent *extent)
{
    const weft_space *space = search->space;
    int64_t points = space->source == 0 ? weft_space_points(space) : 0;
    if (points == 0 || search->tuner->place) return;
    search->used = WEFT_NEW(search->mem, char, points);
    if (extent->trials > points)
        weft_log(WEFT_WARN,
                 "the space has %lld configurations, and the search %lld trials: once all "
                 "were tried, they come again; space.source = grid tries each once",
                 (long long)points, (long long)extent->trials);
}

/* Warns if the sampler cannot learn before the last trial. */
static void check_trials(const weft_search *search, const weft_extent *extent)
{
    const char *option, *of_one = "";
    int64_t trials = extent->trials, results = trials;
    if (!search->sampler->enough || trials == 0 || search->space->dim == 0) return;
    if (extent->results && !search->sampler->curves) results = extent->results;
    int64_t enough = search->sampler->enough(search->sampler_self, &option);
    if (results + search->space->nknown > enough) return;
    if (results < trials)
        of_one = weft_arena_text(search->mem, ", at most %lld of one resource",
                                 (long long)results);
    weft_log(
        WEFT_WARN,
        "run.sampler = %s learns from %lld results on, of one resource, but this "
        "search has %lld trial%s%s, so that it learns nothing; lower %s.%s or have more "
        "trials",
        search->sampler->kind.name, (long long)enough, (long long)trials,
        trials == 1 ? "" : "s", of_one, search->sampler->kind.name, option);
}

static int64_t number_of(const weft_search *search, int64_t trial)
{
    return trial + (search->tuner->first ? search->tuner->first(search->tuner_self) : 0);
}

/* Tells the sampler the trials that are known, with the numbers before that of trial 0. */
static weft_status tell_known(const weft_search *search, const weft_extent *extent)
{
    const weft_space *space = search->space;
    int64_t n = space->nknown, first = number_of(search, 0);
    if (n > 0) first -= space->known[n - 1].trial + 1;
    for (int64_t i = 0; i < n; i++) {
        weft_known *known = &space->known[i];
        weft_result res = {.loss = known->loss,
                           .aims = {space->objectives, known->aim, known->excess}};
        weft_observation observed = {.conf = known->conf,
                                     .resource = known->resource,
                                     .loss = known->loss,
                                     .tie = known->tie,
                                     .other = (int)known->other,
                                     .res = &res};
        if (isnan(observed.resource)) observed.resource = extent->resource;
        if (!(observed.resource > 0))
            return weft_fail(WEFT_ECONF,
                             "space.prior: a trial has no resource, and run.tuner = %s has "
                             "several; give it a column \"resource\"",
                             search->tuner->kind.name);
        search->sampler->pending(search->sampler_self, first + known->trial, known->conf,
                                 observed.resource);
        search->sampler->told(search->sampler_self, first + known->trial, &observed);
    }
    return WEFT_OK;
}

weft_status weft_search_setup(weft_search *search, const weft_space *space, uint64_t seed,
                              weft_arena *mem)
{
    weft_mix whole;
    weft_extent extent = {0};
    int shares = search->tuner->shared == WEFT_SHARES_MIXTURE;
    search->space = space;
    search->mem = mem;
    search->seed = seed;
    TRY(check_sampler(search, space));
    TRY(check_mixing(search));
    TRY(check_fronts(search, space));
    TRY(search->tuner->setup(search->tuner_self, space, seed, mem));
    if (search->tuner->shared == WEFT_SHARES_SPACE) return WEFT_OK;
    if (search->tuner->extent) search->tuner->extent(search->tuner_self, &extent);
    if (shares) TRY(weft_share_mix(space, mem, &whole));
    TRY(search->sampler->setup(search->sampler_self, space, seed, mem));
    check_trials(search, &extent);
    begin_finite(search, &extent);
    TRY(tell_known(search, &extent));
    weft_mixing_env env = {.space = space,
                           .whole = shares ? &whole : NULL,
                           .trials = extent.trials,
                           .resource = extent.resource,
                           .seed = seed,
                           .mem = mem};
    return search->mixing->setup(search->mixing_self, &env);
}

/* ---- trials ---- */

static int has_trials(const weft_search *search)
{
    return search->tuner->shared == WEFT_SHARES_NOTHING;
}

/* Stops the program if a part has set a value that no trial can have: the option would have
 * its default, and the part would learn from another configuration than was trained. */
static void check_conf(const weft_search *search, const weft_kind *part, int64_t trial,
                       const double *conf)
{
    char name[128];
    const char *forbidden = weft_space_forbids(search->space, conf);
    int a = weft_space_misfit(search->space, conf);
    if (forbidden)
        weft_die("%s gives trial %lld what \"%s\" forbids", part->name, (long long)trial,
                 forbidden);
    if (a < 0) return;
    weft_axis_name(&search->space->axis[a], name, sizeof name);
    weft_die("%s gives trial %lld %s = %g, which %s", part->name, (long long)trial, name,
             conf[a],
             weft_space_is_active(search->space, conf, a) ? "is not on this axis"
                                                          : "does not have this axis");
}

/* The configuration of that number: a known one, or what the sampler proposes, as far as
 * nothing else is believed. In a finite space none comes twice before all have come. */
static void draw(weft_search *search, int64_t number, double *conf)
{
    const weft_space *space = search->space;
    int64_t trials = space->nknown + number;
    if (number < space->listed)
        weft_space_config(space, number, conf);
    else {
        search->sampler->propose(search->sampler_self, number, conf);
        check_conf(search, &search->sampler->kind, search->trials, conf);
        weft_sampler_believe(space, trials, search->seed, (uint64_t)number, conf);
        if (weft_space_forbids(space, conf)) weft_space_config(space, number, conf);
    }
    if (search->used) weft_space_unused(space, search->used, conf, search->mem);
}

/* Sets the configuration of a new trial: from the sampler, or derived from the trial that
 * it copies. */
static void begin_trial(weft_search *search, const weft_job *job)
{
    weft_search_trial new = {.id = number_of(search, job->trial),
                             .conf = WEFT_NEW(search->mem, double, search->space->dim)};
    WEFT_REGROW(search->mem, search->trial, search->trials, &search->room);
    if (job->from < 0) {
        search->drawn++;
        for (int64_t i = 0; !search->sampler->told && search->drawn == 1 && i < new.id; i++)
            draw(search, i, new.conf); /* as before the one trial of a sweep */
        draw(search, new.id, new.conf);
        check_conf(search, &search->sampler->kind, job->trial, new.conf);
        if (search->tuner->place) {
            search->tuner->place(search->tuner_self, job->trial, new.conf);
            check_conf(search, &search->tuner->kind, job->trial, new.conf);
        }
    } else {
        const weft_search_trial *from = &search->trial[job->from];
        new.resource = from->resource;
        if (search->tuner->explore) {
            search->tuner->explore(search->tuner_self, job->trial, from->conf, new.conf);
            check_conf(search, &search->tuner->kind, job->trial, new.conf);
        } else {
            new.id = from->id;
            if (search->space->dim > 0)
                memcpy(new.conf, from->conf, (size_t)search->space->dim * sizeof *new.conf);
        }
    }
    search->trial[search->trials++] = new;
}

/* Makes the job's mixture from the configuration of its trial, and tells the sampler of the
 * job. */
static void fill_trial(weft_search *search, weft_job *job)
{
    weft_check(job->trial >= 0 && job->trial <= search->trials &&
                   job->from < search->trials,
               "tuner %s asks for trial %lld from %lld, of %lld", search->tuner->kind.name,
               (long long)job->trial, (long long)job->from, (long long)search->trials);
    if (job->trial == search->trials) begin_trial(search, job);
    weft_search_trial *trial = &search->trial[job->trial];
    trial->resource += job->resource;
    trial->last = job->last;
    if (search->sampler->pending)
        search->sampler->pending(search->sampler_self, number_of(search, job->trial),
                                 trial->conf, trial->resource);
    search->mixing->make(search->mixing_self, trial->id, trial->conf, job);
}

/* ---- public ---- */

weft_asked weft_search_ask(weft_search *search, weft_job *job)
{
    weft_asked asked = search->tuner->ask(search->tuner_self, job);
    if (asked != WEFT_JOB) return asked;
    if (has_trials(search))
        fill_trial(search, job);
    else if (search->tuner->shared == WEFT_SHARES_MIXTURE)
        search->mixing->make(search->mixing_self, -1, NULL, job);
    return WEFT_JOB;
}

void weft_search_tell(weft_search *search, const weft_result *res)
{
    search->tuner->tell(search->tuner_self, res);
    if (search->tuner->shared == WEFT_SHARES_SPACE) return;
    if (search->mixing->told) search->mixing->told(search->mixing_self, res);
    if (!has_trials(search)) return;
    weft_search_trial *trial = &search->trial[res->trial];
    weft_observation observed = {.conf = trial->conf,
                                 .resource = trial->resource,
                                 .loss = res->loss,
                                 .tie = weft_result_tie(res),
                                 .res = res};
    if (search->sampler->told)
        search->sampler->told(search->sampler_self, number_of(search, res->trial),
                              &observed);
    if (trial->last && search->mixing->forget)
        search->mixing->forget(search->mixing_self, res->trial);
}

int64_t weft_search_jobs(const weft_search *search)
{
    return search->tuner->jobs(search->tuner_self);
}

int64_t weft_search_configs(const weft_search *search)
{
    return has_trials(search) ? search->drawn : search->space->count;
}

int weft_search_ended(weft_search *search, int64_t trial)
{
    if (!search->tuner->ended || !search->tuner->ended(search->tuner_self, trial)) return 0;
    if (has_trials(search) && search->mixing->forget)
        search->mixing->forget(search->mixing_self, trial);
    return 1;
}

int weft_search_waits(const weft_search *search)
{
    return search->tuner->waits && !search->sampler->told;
}
