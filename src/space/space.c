/* Search spaces: the options whose entry is a range are the axes; configurations are drawn
 * at random, laid on a grid, or read from a list. */
#include "axes.h"
#include "weft/base/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANDOM, GRID, LIST };
enum { MOST = 1000000 };    /* configurations */
enum { RANDOM_COUNT = 64 }; /* configurations where configs = 0 */

static const weft_opt space_opts[] = {
    WEFT_CHOICE_OPT("source", weft_space, source, "random", "random|grid|list",
                    "where configurations come from"),
    WEFT_LONG_OPT("configs", weft_space, configs, "0", 0, MOST,
                  "number of configurations; 0: random 64, grid and list all",
                  .role = WEFT_GROWS),
    WEFT_LONG_OPT("levels", weft_space, levels, "5", 2, MOST,
                  "grid points of a numeric axis"),
    WEFT_TEXT_OPT("file", weft_space, file, "",
                  "list of configurations, TAB separated, options named in the first line, "
                  "or here, \"rff.gamma=1 logistic.C=3, rff.gamma=2 ...\"; "
                  "ranges are extended to hold its values"),
    WEFT_TEXT_OPT(
        "first", weft_space, first, "",
        "configurations that the search begins with: defaults, that of the "
        "options' defaults or what is next to them in the ranges; or a list as in "
        "file; axes that are not columns, and values \"-\", are drawn; not given: of "
        "federations and networks the defaults, else none"),
    WEFT_TEXT_OPT("prior", weft_space, prior, "",
                  "trials that the sampler is told before its first proposal: run files, "
                  "tables of axes, resource and loss, or a list as in file with these; the "
                  "best of them is tried first, unless first is given"),
    WEFT_TEXT_OPT(
        "forbid", weft_space, forbid, "",
        "combinations that are never tried, \"client.batch = 64 and client.epochs = "
        "4 .. 9 or server.lr = 1 .. 10\", of conditions as after when"),
    {0},
};

static const weft_when space_when[] = {{"levels", "source", "grid"},
                                       {"file", "source", "list"},
                                       {"first", "source", "random"},
                                       {"prior", "source", "random"},
                                       {NULL, NULL, NULL}};

const weft_kind weft_space_kind = {.name = "space",
                                   .about = "the configurations to choose from",
                                   .size = sizeof(weft_space),
                                   .opts = space_opts,
                                   .when = space_when};

/* ---- ranges ---- */

static weft_status parse_near(const weft_space *space, const weft_entry *entry,
                              weft_axis *axis, weft_arena *mem)
{
    int n;
    const char *at = weft_range_near(entry->value, &n);
    if (!at) return WEFT_OK;
    if (space->source != RANDOM)
        return weft_entry_fail(entry, "\"near\" is for space.source = random; take it out");
    const char *text = weft_arena_text(mem, "%.*s", n, at);
    if (weft_opt_parse(axis->opt, text, &axis->near) != WEFT_OK)
        return weft_entry_fail(entry, "near %s: %s", text, weft_error());
    axis->has_near = 1;
    if (axis->near >= axis->lo && axis->near <= axis->hi) return WEFT_OK;
    return weft_entry_fail(entry, "near %s: expected a value of the range", text);
}

static weft_status parse_range(const weft_space *space, const weft_entry *entry,
                               weft_axis *axis, weft_arena *mem)
{
    int per_trial, n = weft_range_length(entry->value, &per_trial);
    if (per_trial && axis->opt->role == WEFT_PER_SAMPLE)
        return weft_entry_fail(entry,
                               "per trial can be said of section [parameters] alone; "
                               "this option may differ between clients");
    TRY(weft_space_range(entry, weft_arena_text(mem, "%.*s", n, entry->value), axis, mem));
    return parse_near(space, entry, axis, mem);
}

/* Warns of the first value of column `at` that the range lacks, and adds to a range of
 * values all that it lacks. */
static void include(const weft_space *space, int64_t at, const weft_entry *entry,
                    weft_axis *range, weft_arena *mem)
{
    int64_t n = 0, first = 0, room = range->nvalue;
    for (int64_t i = 0; i < space->count; i++) {
        double v = space->list[i * space->dim + at];
        if (isnan(v) ||
            weft_range_has(range->nvalue, range->value, range->lo, range->hi, v))
            continue;
        if (n++ == 0) first = i;
        if (range->nvalue == 0) continue;
        range->step = 0;
        WEFT_GROW(mem, range->value, range->nvalue, &room);
        range->value[range->nvalue++] = v;
    }
    if (n == 0) return;
    char value[64];
    weft_opt_show(range->opt, space->list[first * space->dim + at], value, sizeof value);
    weft_log(WEFT_WARN, "%s: configuration %lld has %s.%s = %s, which is not in %s%s; %s",
             space->file, (long long)first, entry->section, entry->key, value, entry->value,
             n > 1 ? weft_arena_text(mem, " (nor are %lld more)", (long long)n - 1) : "",
             "the range is extended to hold the list");
}

/* A range given for an option that is a column of the list sets the scale of that axis: the
 * range is extended to include the column, and is not logarithmic if the column has a 0. */
static weft_status widen(weft_space *space, const weft_opt *opt, const weft_entry *entry,
                         weft_arena *mem)
{
    int a = weft_space_axis_of(space, opt);
    if (a < 0)
        return weft_entry_fail(entry,
                               "the list %s has no such column; give the option one value",
                               space->file);
    weft_axis *axis = &space->axis[a], range = {.section = axis->section, .opt = opt};
    TRY(parse_range(space, entry, &range, mem));
    include(space, a, entry, &range, mem);
    range.lo = fmin(range.lo, axis->lo);
    range.hi = fmax(range.hi, axis->hi);
    range.log = range.log && range.lo > 0;
    *axis = range;
    return WEFT_OK;
}

/* Every ranged option is an axis; with a list it must be one of the columns. */
static weft_status read_ranges(weft_space *space, const weft_conf *conf,
                               const weft_kind *const *kinds, int nkind, weft_arena *mem)
{
    for (int j = 0; j < nkind; j++)
        for (const weft_opt *opt = kinds[j]->opts; opt->name; opt++) {
            weft_entry *entry = weft_conf_find(conf, kinds[j]->name, opt->name);
            if (!weft_opt_tunable(opt) || !entry) continue;
            weft_entry_respell(entry, opt, mem);
            if (!weft_is_range(entry->value)) continue;
            entry->used = 1;
            if (space->source == LIST) {
                TRY(widen(space, opt, entry, mem));
                continue;
            }
            weft_axis *axis = &space->axis[space->dim++];
            *axis = (weft_axis){.section = kinds[j]->name, .opt = opt};
            TRY(parse_range(space, entry, axis, mem));
        }
    return WEFT_OK;
}

/* ---- public ---- */

static weft_status grid_count(weft_space *space, weft_arena *mem)
{
    space->count = weft_space_grid(space, MOST, mem);
    if (space->count == 0)
        return weft_fail(WEFT_ECONF,
                         "space.forbid = %s: forbids all points of the grid; "
                         "take a condition out, or raise space.levels",
                         space->forbid);
    if (space->count > MOST)
        return weft_fail(WEFT_ELIMIT,
                         "space: the grid has more than %d configurations; "
                         "lower space.levels (now %lld) or use "
                         "space.source = random",
                         MOST, (long long)space->levels);
    if (space->configs > 0 && space->configs < space->count)
        return weft_fail(WEFT_ECONF,
                         "space.configs = %lld, but the grid has %lld "
                         "configurations; expected 0 (all), or use "
                         "space.source = random",
                         (long long)space->configs, (long long)space->count);
    return WEFT_OK;
}

static weft_status read_axes(weft_space *space, weft_conf *conf,
                             const weft_kind *const *kinds, int nkind, weft_arena *mem)
{
    space->axis = WEFT_NEW(mem, weft_axis, weft_space_nopt(kinds, nkind));
    if (space->source == LIST) {
        if (!space->file || !*space->file)
            return weft_fail(WEFT_ECONF,
                             "space.source = list needs space.file, the list of "
                             "configurations");
        TRY(weft_space_list(space, kinds, nkind, mem));
        if (space->configs > 0 && space->configs < space->count)
            space->count = space->configs;
    }
    TRY(read_ranges(space, conf, kinds, nkind, mem));
    TRY(weft_space_when(space, conf, kinds, nkind, mem));
    TRY(weft_space_forbid(space, conf, kinds, nkind, mem));
    if (space->source == LIST) return weft_space_check_list(space);
    if (space->source == GRID) return grid_count(space, mem);
    TRY(weft_space_check_random(space));
    space->count = space->dim == 0 ? 1 : space->configs > 0 ? space->configs : RANDOM_COUNT;
    if (*space->prior && space->dim > 0)
        TRY(weft_space_known(space, conf, kinds, nkind, mem));
    return *space->first ? weft_space_first(space, kinds, nkind, mem) : WEFT_OK;
}

weft_status weft_space_read(weft_space *space, weft_conf *conf,
                            const weft_kind *const *kinds, int nkind, uint64_t seed,
                            weft_arena *mem)
{
    TRY(weft_conf_bind(conf, &weft_space_kind, space));
    space->seed = seed;
    space->dim = 0;
    space->list = NULL;
    space->listed = space->nknown = 0;
    space->nforbid = 0;
    const weft_kind **own = WEFT_NEW(mem, const weft_kind *, nkind);
    for (int j = 0; j < nkind; j++) {
        own[j] = kinds[j];
        if (kinds[j]->opts == weft_own_keys)
            TRY(weft_conf_open(conf, kinds[j], mem, &own[j]));
    }
    return read_axes(space, conf, own, nkind, mem);
}

void weft_space_put(const weft_space *space, const double *conf, const weft_kind *kind,
                    void *self)
{
    for (int a = 0; a < space->dim; a++)
        if (strcmp(space->axis[a].section, kind->name) == 0 && !isnan(conf[a]))
            weft_opt_set(space->axis[a].opt, self, conf[a]);
}

void weft_axes_show(const weft_axis *axis, int dim, const double *conf, char *text,
                    size_t n)
{
    size_t at = 0;
    if (n > 0) text[0] = '\0';
    for (int a = 0; a < dim && at < n; a++) {
        char name[128], value[64];
        weft_axis_name(&axis[a], name, sizeof name);
        snprintf(value, sizeof value, "-");
        if (!isnan(conf[a])) weft_opt_show(axis[a].opt, conf[a], value, sizeof value);
        at += (size_t)snprintf(text + at, n - at, "%s%s=%s", a ? " " : "", name, value);
    }
}
