/* A longer search is done as one that was so long from its beginning: its schedule is told
 * the results that the shorter one has, whenever it asks for one of its jobs. That is of
 * use where it begins with the same jobs. Two searches, which see no data, tell whether it
 * does.
 */
#include "longer.h"
#include "setup.h"
#include "weft/log.h"

#include <string.h>

/* A search that is set up and has asked for its first job. */
struct beginning {
    weft_run run;
    int64_t jobs; /* of the search, as far as known */
    uint64_t first;
};

static weft_status begin(struct beginning *search, const char *name, const char *text,
                         weft_team *world, weft_arena *mem)
{
    weft_conf *conf = WEFT_NEW(mem, weft_conf, 1);
    weft_run *run = &search->run;
    weft_job job = weft_job_new(0, 0, NULL);
    weft_conf_init(conf, mem);
    TRY(weft_agree(weft_conf_text(conf, name, text), world));
    TRY(weft_run_bind(run, conf, 0, world, mem));
    TRY(weft_agree(
        weft_search_setup(&run->search, &run->space, (uint64_t)run->opts.seed, mem),
        world));
    search->jobs = weft_search_jobs(&run->search);
    if (weft_search_ask(&run->search, &job) == WEFT_JOB)
        search->first = weft_job_hash(&job);
    return WEFT_OK;
}

/* Why more of what was typed gives no more jobs: the search has no axes, or grows by other
 * keys, "; `weft resume RUN.h5 hyperband.repeats=N` makes it longer". */
static const char *why(const char *run, const struct beginning *was, weft_arena *mem)
{
    const weft_tuner *tuner = was->run.search.tuner;
    if (was->run.space.dim == 0) return ", for no option has a range";
    const char *keys = "";
    for (const char *at = tuner->grows; *at; at += strspn(at, " ")) {
        int n = (int)strcspn(at, " ");
        keys = weft_arena_text(mem, "%s%s%.*s=N", keys, *keys ? " or " : "", n, at);
        at += n;
    }
    return weft_arena_text(
        mem, ", for run.tuner = %s%s; `weft resume %s` makes it longer by %s",
        tuner->kind.name,
        was->run.space.source == 0 ? "" : " has all that space.source lists", run, keys);
}

static weft_status compare(const char *name, const struct beginning *was,
                           const struct beginning *beginning, weft_arena *mem)
{
    const weft_tuner *tuner = was->run.search.tuner;
    if (!tuner->grows && tuner->shared)
        return weft_fail(WEFT_ECONF,
                         "%s cannot be made longer: run.tuner = %s trains all "
                         "configurations of [space] together, so that with more of them "
                         "already its first job is another; start another run by `weft "
                         "tune`",
                         name, tuner->kind.name);
    if (!tuner->grows)
        return weft_fail(WEFT_ECONF,
                         "%s cannot be made longer: run.tuner = %s has as many trials as "
                         "its own options say, which decide about each other from the "
                         "first; start another run by `weft tune`",
                         name, tuner->kind.name);
    if (beginning->jobs <= was->jobs)
        return weft_fail(WEFT_ECONF, "%s would have no more jobs than its %lld%s", name,
                         (long long)was->jobs, why(name, was, mem));
    if (beginning->first == was->first) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s cannot be made longer: with more trials the first job of "
                     "run.tuner = %s is another, so that nothing that was done would be "
                     "used; start another run by `weft tune`",
                     name, tuner->kind.name);
}

weft_status weft_run_check_longer(const char *run, const char *before, const char *after,
                                  weft_team *world, weft_arena *mem)
{
    struct beginning was = {0}, beginning = {0};
    const weft_level level = weft_log_level();
    weft_log_set(WEFT_ERROR, world->rank);
    weft_status st = begin(&was, run, before, world, mem);
    if (st == WEFT_OK) st = begin(&beginning, run, after, world, mem);
    weft_log_set(level, world->rank);
    TRY(st);
    return weft_agree(compare(run, &was, &beginning, mem), world);
}
