/* Search spaces: the options whose entry is a range are the axes; configurations are drawn
 * at random, laid on a grid, or read from a list. */
#include "axes.h"
#include "weft/base/base.h"
#include "weft/space/mix.h"

#include <float.h>
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
                  "ranges are extended to hold its values",
                  .names_file = 1),
    WEFT_TEXT_OPT(
        "first", weft_space, first, "",
        "configurations that the search begins with: defaults, that of the "
        "options' defaults or what is next to them in the ranges; or a list as in "
        "file; axes that are not columns, and values \"-\", are drawn; not given: of "
        "federations and networks the defaults, else none",
        .names_file = 1),
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

const weft_kind weft_space_kind =
    WEFT_KIND("space", weft_space, space_opts, "the configurations to choose from",
              .when = space_when);

/* ---- known trials ---- */

/* Trials that are known before a search, of space.prior: their configurations on the axes
 * of the space, resources and losses. What does not fit the space is left out. */

#define AIM(i)                                                                             \
    WEFT_REAL_OPT("aim" #i, weft_known, aim[i], "0", -DBL_MAX, DBL_MAX, "an objective",    \
                  .role = WEFT_PER_TRIAL)

static const weft_opt known_opts[] = {
    WEFT_REAL_OPT("loss", weft_known, loss, "0", -DBL_MAX, DBL_MAX, "of the trial",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("resource", weft_known, resource, "0", 0, DBL_MAX, "of the trial in all",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("tie", weft_known, tie, "0", -DBL_MAX, DBL_MAX,
                  "decides between equal losses", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("other", weft_known, other, "0", 0, DBL_MAX, "number of other data",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("excess", weft_known, excess, "0", 0, DBL_MAX, "of limits",
                  .role = WEFT_PER_TRIAL),
    AIM(1),
    AIM(2),
    AIM(3),
    AIM(4),
    AIM(5),
    AIM(6),
    AIM(7),
    {0},
};
static const weft_kind known_kind = WEFT_KIND("known", weft_known, known_opts, "");

/* What is read, and where it goes. */
struct reader {
    weft_space *space;
    weft_space list; /* as it was read */
    int *at;         /* [list.dim] axis of each column; -1: none */
    int64_t out;     /* results that are left out */
    int misfit;      /* the axis of the first of these */
    weft_arena *mem;
};

/* A column that is no axis of the space, but has a range that no configuration has, as its
 * condition is not met, is not read. */
static weft_status find_columns(struct reader *reader, const weft_conf *conf)
{
    const weft_space *list = &reader->list;
    int has_loss = 0;
    reader->at = WEFT_NEW(reader->mem, int, list->dim);
    for (int c = 0; c < list->dim; c++) {
        const weft_axis *axis = &list->axis[c];
        reader->at[c] = weft_space_axis_of(reader->space, axis->opt);
        has_loss |= axis->opt == known_opts;
        if (reader->at[c] >= 0 || strcmp(axis->section, known_kind.name) == 0) continue;
        const weft_entry *entry = weft_conf_find(conf, axis->section, axis->opt->name);
        if (entry && weft_is_range(entry->value)) continue;
        char name[128];
        weft_axis_name(axis, name, sizeof name);
        return weft_fail(WEFT_ECONF,
                         "space.prior: %s is no axis of this search; delete it, or give it "
                         "a range",
                         name);
    }
    if (has_loss) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "space.prior: no column is named loss, of the trials");
}

/* ---- results ---- */

/* The axis of row i that does not fit the space; -1: all do. */
static int take_row(const struct reader *reader, int64_t i, weft_known *known)
{
    const weft_space *space = reader->space, *list = &reader->list;
    *known = (weft_known){.loss = NAN,
                          .resource = NAN,
                          .tie = NAN,
                          .conf = WEFT_NEW(reader->mem, double, space->dim)};
    for (int a = 0; a < space->dim; a++) known->conf[a] = (double)NAN;
    for (int g = 0; g < WEFT_MAX_GOALS; g++) known->aim[g] = (double)NAN;
    for (int c = 0; c < list->dim; c++) {
        double value = list->list[i * list->dim + c];
        if (reader->at[c] >= 0)
            known->conf[reader->at[c]] = value;
        else if (strcmp(list->axis[c].section, known_kind.name) == 0 && !isnan(value))
            weft_opt_set(list->axis[c].opt, known, value);
    }
    for (int j = 0; j < space->dim; j++)
        if (!weft_space_is_active(space, known->conf, space->order[j]))
            known->conf[space->order[j]] = (double)NAN;
    if (isnan(known->loss)) known->loss = INFINITY;
    known->aim[0] = known->loss;
    return weft_space_misfit(space, known->conf);
}

/* 1: a later result of the same trial. */
static int goes_on(const weft_space *space, const weft_known *known,
                   const weft_known *before)
{
    size_t bytes = (size_t)space->dim * sizeof *known->conf;
    return known->resource > before->resource &&
           memcmp(&known->other, &before->other, 8) == 0 &&
           memcmp(known->conf, before->conf, bytes) == 0;
}

static void take_rows(struct reader *reader)
{
    weft_space *space = reader->space;
    space->known = WEFT_NEW(reader->mem, weft_known, reader->list.count);
    for (int64_t i = 0; i < reader->list.count; i++) {
        weft_known *known = &space->known[space->nknown];
        int misfit = take_row(reader, i, known);
        if (misfit >= 0 && reader->out++ == 0) reader->misfit = misfit;
        if (misfit >= 0) continue;
        if (space->nknown > 0)
            known->trial = known[-1].trial + !goes_on(space, known, known - 1);
        space->nknown++;
    }
}

static void log_rows(const struct reader *reader)
{
    const weft_space *space = reader->space;
    int64_t n = space->nknown, trials = n > 0 ? space->known[n - 1].trial + 1 : 0;
    const char *out = "";
    if (reader->out > 0) {
        char name[128], range[256];
        weft_axis_name(&space->axis[reader->misfit], name, sizeof name);
        weft_axis_show(space, reader->misfit, range, sizeof range);
        out = weft_arena_text(reader->mem,
                              ", %lld results are not, of configurations that are none of "
                              "this search, the first by %s = %s",
                              (long long)reader->out, name, range);
    }
    weft_log(n > 0 ? WEFT_INFO : WEFT_WARN,
             "space.prior: %lld trials with %lld results are told%s", (long long)trials,
             (long long)n, out);
}

static weft_rank rank_of(const weft_known *known, int64_t i)
{
    weft_rank rank = weft_rank_of(known->loss, known->tie, i);
    rank.excess = known->excess;
    return rank;
}

/* The best configuration of the largest resource, of the first of the files that has one,
 * is that of trial 0. */
static void begin_with_best(weft_space *space)
{
    const weft_known *best = NULL;
    for (int64_t i = 0; i < space->nknown; i++) {
        const weft_known *known = &space->known[i];
        if (!isfinite(known->loss)) continue;
        int more = !best || known->resource > best->resource;
        int less = best && known->resource < best->resource;
        if (more || (!less && weft_rank_before(rank_of(known, i), rank_of(best, -1))))
            best = known;
    }
    if (!best) return;
    space->list = best->conf;
    space->listed = 1;
}

/* Fills known and nknown of a random space, whose axes are set, from space->prior, a list
 * in the input: a result a configuration, whose columns are axes and, of section "known",
 *     loss       "-": the trial diverged
 *     resource   of the trial in all; "-": the schedule's own
 *     tie        decides between equal losses
 *     other      0, or the number of the data that the loss is of
 * A result of the same configuration as that before it, with more resource, is of the same
 * trial. What is not of this space is left out, as the log says. Unless space.first is
 * given, list and listed become the best configuration of the largest resource. ECONF. */
static weft_status read_known(weft_space *space, const weft_conf *conf,
                              const weft_kind *const *kinds, int nkind, weft_arena *mem)
{
    struct reader reader = {.space = space, .mem = mem};
    const weft_kind **all = WEFT_NEW(mem, const weft_kind *, nkind + 1);
    for (int j = 0; j < nkind; j++) all[j] = kinds[j];
    all[nkind] = &known_kind;
    reader.list = (weft_space){.file = space->prior, .prior = space->prior};
    reader.list.axis = WEFT_NEW(mem, weft_axis, weft_space_nopt(all, nkind + 1));
    TRY(weft_space_list(&reader.list, all, nkind + 1, mem));
    TRY(find_columns(&reader, conf));
    take_rows(&reader);
    log_rows(&reader);
    if (!weft_conf_find(conf, "space", "first")) begin_with_best(space);
    return WEFT_OK;
}

/* ---- axes ---- */

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
    if (*space->prior && space->dim > 0) TRY(read_known(space, conf, kinds, nkind, mem));
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
