/* Combines a schedule, a sampler and a mixing; see search.h. The only file of this folder
 * that knows all three. */
#include "weft/search.h"

#include "share.h"

#include <math.h>
#include <string.h>

enum { BUFFER = 64 }; /* configurations for which memory is allocated at once */

/* ---- which parts can be combined ---- */

static weft_status check_sampler(const weft_search *s, const weft_space *sp)
{
    const char *sampler = s->sampler->kind.name, *tuner = s->tuner->kind.name;
    if (!s->sampler->told) return WEFT_OK;
    if (s->tuner->shared != WEFT_SHARES_NOTHING)
        return weft_fail(
            WEFT_ECONF,
            "run.sampler = %s with run.tuner = %s, whose one mixture is of all "
            "configurations of [space]; use run.sampler = space, or another "
            "run.tuner",
            sampler, tuner);
    if (sp->source != 0)
        return weft_fail(
            WEFT_ECONF,
            "run.sampler = %s proposes configurations of its own, but space.source lists "
            "all that are allowed; use space.source = random, or run.sampler = space",
            sampler);
    return WEFT_OK;
}

static weft_status check_mixing(const weft_search *s)
{
    const char *mixing = s->mixing->kind.name, *tuner = s->tuner->kind.name;
    if (s->tuner->shared == WEFT_SHARES_SPACE && s->mixing->moves)
        return weft_fail(WEFT_ECONF,
                         "run.mixing = %s with run.tuner = %s, which has a mixture of its "
                         "own; use run.mixing = none, or run.tuner = ws_one",
                         mixing, tuner);
    if (s->tuner->shared == WEFT_SHARES_MIXTURE && !s->mixing->moves)
        return weft_fail(WEFT_ECONF,
                         "run.tuner = %s trains one mixture of all configurations, which "
                         "run.mixing = %s leaves as it is; use run.mixing = mw or fedex",
                         tuner, mixing);
    return WEFT_OK;
}

/* Warns if the sampler cannot learn before the last trial. */
static void check_trials(const weft_search *s, const weft_extent *extent)
{
    const char *option, *of_one = "";
    int64_t trials = extent->trials, results = extent->results ? extent->results : trials;
    if (!s->sampler->enough || trials == 0 || s->space->dim == 0) return;
    int64_t enough = s->sampler->enough(s->sampler_self, &option);
    if (results > enough) return;
    if (results < trials)
        of_one =
            weft_arena_text(s->mem, ", at most %lld of one resource", (long long)results);
    weft_log(
        WEFT_WARN,
        "run.sampler = %s learns from %lld results on, of one resource, but this "
        "search has %lld trial%s%s, so that it learns nothing; lower %s.%s or have more "
        "trials",
        s->sampler->kind.name, (long long)enough, (long long)trials, trials == 1 ? "" : "s",
        of_one, s->sampler->kind.name, option);
}

weft_status weft_search_setup(weft_search *s, const weft_space *sp, uint64_t seed,
                              weft_arena *mem)
{
    weft_mix whole;
    weft_extent extent = {0};
    int shares = s->tuner->shared == WEFT_SHARES_MIXTURE;
    s->space = sp;
    s->mem = mem;
    TRY(check_sampler(s, sp));
    TRY(check_mixing(s));
    TRY(s->tuner->setup(s->tuner_self, sp, seed, mem));
    if (s->tuner->shared == WEFT_SHARES_SPACE) return WEFT_OK;
    if (s->tuner->extent) s->tuner->extent(s->tuner_self, &extent);
    if (shares) TRY(weft_share_mix(sp, mem, &whole));
    TRY(s->sampler->setup(s->sampler_self, sp, seed, mem));
    check_trials(s, &extent);
    weft_mixing_env env = {.space = sp,
                           .whole = shares ? &whole : NULL,
                           .trials = extent.trials,
                           .resource = extent.resource,
                           .seed = seed,
                           .mem = mem};
    return s->mixing->setup(s->mixing_self, &env);
}

/* ---- trials ---- */

static int has_trials(const weft_search *s)
{
    return s->tuner->shared == WEFT_SHARES_NOTHING;
}

static int64_t number_of(const weft_search *s, int64_t trial)
{
    return trial + (s->tuner->first ? s->tuner->first(s->tuner_self) : 0);
}

static double *new_conf(weft_search *s)
{
    int dim = s->space->dim;
    if (s->nbuffer == 0) {
        s->buffer = WEFT_NEW(s->mem, double, (size_t)BUFFER *(size_t)dim);
        s->nbuffer = BUFFER;
    }
    return s->buffer + (size_t)--s->nbuffer * (size_t)dim;
}

/* Stops the program if a part has set a value that no trial can have: the option would have
 * its default, and the part would learn from another configuration than was trained. */
static void check_conf(const weft_search *s, const weft_kind *part, int64_t trial,
                       const double *conf)
{
    char name[128];
    int a = weft_space_misfit(s->space, conf);
    if (a < 0) return;
    weft_axis_name(&s->space->axis[a], name, sizeof name);
    weft_die("%s gives trial %lld %s = %g, which %s", part->name, (long long)trial, name,
             conf[a],
             weft_space_is_active(s->space, conf, a) ? "is not on this axis"
                                                     : "does not have this axis");
}

/* Sets the configuration of a new trial: from the sampler, or derived from the trial that
 * it copies. */
static void begin_trial(weft_search *s, const weft_job *job)
{
    weft_search_trial new = {.id = number_of(s, job->trial), .conf = new_conf(s)};
    s->trial = weft_regrow(s->mem, s->trial, sizeof *s->trial, s->trials, &s->room);
    if (job->from < 0) {
        s->drawn++;
        s->sampler->propose(s->sampler_self, new.id, new.conf);
        check_conf(s, &s->sampler->kind, job->trial, new.conf);
    } else {
        const weft_search_trial *from = &s->trial[job->from];
        new.resource = from->resource;
        if (s->tuner->explore) {
            s->tuner->explore(s->tuner_self, job->trial, from->conf, new.conf);
            check_conf(s, &s->tuner->kind, job->trial, new.conf);
        } else {
            new.id = from->id;
            if (s->space->dim > 0)
                memcpy(new.conf, from->conf, (size_t)s->space->dim * sizeof *new.conf);
        }
    }
    s->trial[s->trials++] = new;
}

/* Makes the job's mixture from the configuration of its trial, and tells the sampler of the
 * job. */
static void fill_trial(weft_search *s, weft_job *job)
{
    weft_check(job->trial >= 0 && job->trial <= s->trials && job->from < s->trials,
               "tuner %s asks for trial %lld from %lld, of %lld", s->tuner->kind.name,
               (long long)job->trial, (long long)job->from, (long long)s->trials);
    if (job->trial == s->trials) begin_trial(s, job);
    weft_search_trial *t = &s->trial[job->trial];
    t->resource += job->resource;
    t->more = job->resource;
    t->last = job->last;
    if (s->sampler->pending)
        s->sampler->pending(s->sampler_self, number_of(s, job->trial), t->conf,
                            t->resource);
    s->mixing->make(s->mixing_self, t->id, t->conf, job);
    if (s->operations) t->next = s->operations(s->own, job);
}

/* ---- public ---- */

weft_asked weft_search_ask(weft_search *s, weft_job *job)
{
    weft_asked asked = s->tuner->ask(s->tuner_self, job);
    if (asked != WEFT_JOB) return asked;
    if (has_trials(s))
        fill_trial(s, job);
    else if (s->tuner->shared == WEFT_SHARES_MIXTURE)
        s->mixing->make(s->mixing_self, -1, NULL, job);
    return WEFT_JOB;
}

/* What samplers are told that a job costs. */
static double cost_of(const weft_search *s, const weft_search_trial *t,
                      const weft_result *res)
{
    if (!s->operations) return res->cost;
    return t->more > 0 ? t->next * (res->cost / t->more) : t->next;
}

void weft_search_tell(weft_search *s, const weft_result *res)
{
    s->tuner->tell(s->tuner_self, res);
    if (s->tuner->shared == WEFT_SHARES_SPACE) return;
    if (s->mixing->told) s->mixing->told(s->mixing_self, res);
    if (!has_trials(s)) return;
    weft_search_trial *t = &s->trial[res->trial];
    t->seconds += cost_of(s, t, res);
    weft_observation observed = {.conf = t->conf,
                                 .resource = t->resource,
                                 .seconds = t->seconds,
                                 .loss = res->loss,
                                 .tie = weft_result_tie(res)};
    if (s->sampler->told)
        s->sampler->told(s->sampler_self, number_of(s, res->trial), &observed);
    if (t->last && s->mixing->forget) s->mixing->forget(s->mixing_self, res->trial);
}

int64_t weft_search_jobs(const weft_search *s)
{
    return s->tuner->jobs(s->tuner_self);
}

int64_t weft_search_configs(const weft_search *s)
{
    return has_trials(s) ? s->drawn : s->space->count;
}

int weft_search_ended(weft_search *s, int64_t trial)
{
    if (!s->tuner->ended || !s->tuner->ended(s->tuner_self, trial)) return 0;
    if (has_trials(s) && s->mixing->forget) s->mixing->forget(s->mixing_self, trial);
    return 1;
}

int weft_search_waits(const weft_search *s)
{
    return s->tuner->waits && !s->sampler->told;
}
