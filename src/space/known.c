/* Trials that are known before a search, of space.prior: their configurations on the axes
 * of the space, resources and losses. What does not fit the space is left out. */
#include "axes.h"
#include "weft/base/base.h"
#include "weft/space/mix.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- columns ---- */

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
static const weft_kind known_kind = {
    .name = "known", .about = "", .size = sizeof(weft_known), .opts = known_opts};

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

weft_status weft_space_known(weft_space *space, const weft_conf *conf,
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
