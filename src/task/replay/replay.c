/* Task replay: searches over a table of stored learning curves, a "tabular benchmark", in
 * virtual time and without any training. A configuration is a number, replay.row, or values
 * of the columns of the table in section [columns], of which the nearest configuration is
 * taken. The loss of a job is that stored at the resource that its trial has reached, or,
 * between two points, at the last one before; its virtual duration is the difference of the
 * seconds. What becomes of a training whose options change on the way is in no table, so
 * that pbt is refused. State of a trial: its resource and number. */
#include "task/parts.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resources, as shares, and positions on axes that differ by less are equal. */
#define ROUNDING 1e-9

/* What was measured after so much training. */
typedef struct replay_point {
    double resource; /* since the start, > 0 */
    double seconds;  /* since the start, where the table has them */
    double loss;     /* INFINITY: diverged */
    double test;     /* NAN where the table has none */
} replay_point;

typedef struct replay_table {
    const char *path;
    int64_t n;           /* configurations */
    int64_t *first;      /* [n+1] points of configuration i: first[i] .. first[i+1]-1 */
    replay_point *point; /* by increasing resource */
    double most;         /* largest resource */
    int ncolumn;
    const char **name;  /* [ncolumn] */
    const char **value; /* [n][ncolumn] texts of the first line of a configuration */
} replay_table;

/* The names of the columns that are numbers. */
typedef struct replay_names {
    const char *loss, *seconds;
    const char *test; /* "": none */
} replay_names;

typedef struct replay_task {
    const char *path;
    replay_names names;
    int64_t row;
    weft_env env;
    replay_table table;
    int ncolumn;   /* axes in [columns] */
    int *axis;     /* [ncolumn] of the space */
    int *column;   /* [ncolumn] of the table */
    double *place; /* [table.n][ncolumn] positions on the axes, see place_of */
} replay_task;

/* The columns that are numbers. */
enum { RESOURCE, LOSS, SECONDS, TEST, NUMBERS };

struct reader {
    replay_table *out;
    weft_arena *mem;
    int line;                  /* number, from 1 */
    char **field;              /* [ncolumn] of the line */
    int config;                /* column of the labels */
    int column[NUMBERS];       /* -1: there is none */
    const char *name[NUMBERS]; /* of them */
    weft_names labels;
    int64_t npoint, point_room, first_room, value_room;
};

/* ---- the table: names and numbers ---- */

/* The column of that name, *at from 0; -1: there is none. EDATA naming both where there are
 * two. */
static weft_status find_in_table(const replay_table *table, const char *name, int *at)
{
    *at = -1;
    for (int i = 0; i < table->ncolumn; i++) {
        if (strcmp(table->name[i], name) != 0) continue;
        if (*at >= 0)
            return weft_fail(
                WEFT_EDATA,
                "%s: columns %d and %d are both named \"%s\"; rename or remove "
                "one",
                table->path, *at + 1, i + 1, name);
        *at = i;
    }
    return WEFT_OK;
}

static weft_status need_column(const replay_table *table, const char *name,
                               const char *what, int *at)
{
    TRY(find_in_table(table, name, at));
    if (*at >= 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has no column \"%s\", %s; the nearest name in its first line is "
                     "\"%s\"",
                     table->path, name, what,
                     weft_nearest(name, table->name, table->ncolumn));
}

static weft_status read_names(struct reader *reader, int n)
{
    replay_table *table = reader->out;
    table->ncolumn = n;
    table->name = WEFT_NEW(reader->mem, const char *, n);
    for (int i = 0; i < n; i++)
        table->name[i] = weft_arena_text(reader->mem, "%s", reader->field[i]);
    TRY(need_column(table, "config", "the label of a configuration", &reader->config));
    TRY(need_column(table, "resource", "how far the training is",
                    &reader->column[RESOURCE]));
    TRY(need_column(table, reader->name[LOSS], "which replay.loss names",
                    &reader->column[LOSS]));
    TRY(find_in_table(table, reader->name[SECONDS], &reader->column[SECONDS]));
    int may_lack = !*reader->name[SECONDS] || strcmp(reader->name[SECONDS], "seconds") == 0;
    if (!may_lack)
        TRY(need_column(table, reader->name[SECONDS], "which replay.time names",
                        &reader->column[SECONDS]));
    reader->column[TEST] = -1;
    if (!*reader->name[TEST]) return WEFT_OK;
    return need_column(table, reader->name[TEST], "which replay.test names",
                       &reader->column[TEST]);
}

/* The number of a column; NAN is none, and only a loss may be infinite. */
static weft_status read_number(const struct reader *reader, int which, double *out)
{
    *out = NAN;
    if (reader->column[which] < 0) return WEFT_OK;
    const char *text = reader->field[reader->column[which]];
    char *end;
    *out = strtod(text, &end);
    int loss = which == LOSS || which == TEST;
    if (end != text && *end == '\0' && (isfinite(*out) || (loss && *out > 0)))
        return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s:%d: %s is \"%s\"; expected a number%s",
                     reader->out->path, reader->line, reader->name[which], text,
                     loss ? ", or inf for a training that diverged" : "");
}

/* ---- the table: points ---- */

/* Begins a configuration unless the line goes on with the last one. */
static weft_status begin_curve(struct reader *reader)
{
    replay_table *table = reader->out;
    int64_t i = weft_names_find(&reader->labels, reader->field[reader->config]);
    if (i == table->n - 1) return WEFT_OK;
    if (i < table->n)
        return weft_fail(
            WEFT_EDATA,
            "%s:%d: configuration %s has lines above others'; sort the table by "
            "config, then by resource",
            table->path, reader->line, reader->field[reader->config]);
    WEFT_GROW(reader->mem, table->first, table->n + 1, &reader->first_room);
    table->first[table->n] = reader->npoint;
    table->value =
        weft_grow(reader->mem, table->value, (size_t)table->ncolumn * sizeof *table->value,
                  table->n, &reader->value_room);
    for (int c = 0; c < table->ncolumn; c++)
        table->value[table->n * table->ncolumn + c] =
            weft_arena_text(reader->mem, "%s", reader->field[c]);
    table->n++;
    return WEFT_OK;
}

/* EDATA: the point does not follow the one before it. */
static weft_status check_order(const struct reader *reader, const replay_point *point)
{
    const replay_table *table = reader->out;
    const replay_point *before =
        reader->npoint > table->first[table->n - 1] ? point - 1 : NULL;
    double resource = before ? before->resource : 0;
    double seconds = before ? before->seconds : 0;
    if (point->resource <= resource)
        return weft_fail(WEFT_EDATA,
                         "%s:%d: resource %g of configuration %s does not follow %g; sort "
                         "the lines of a configuration by it, from above 0",
                         table->path, reader->line, point->resource,
                         reader->field[reader->config], resource);
    if (point->seconds < seconds)
        return weft_fail(WEFT_EDATA,
                         "%s:%d: %s %g of configuration %s come after %g; they count from "
                         "the start of its training",
                         table->path, reader->line, reader->name[SECONDS], point->seconds,
                         reader->field[reader->config], seconds);
    return WEFT_OK;
}

static weft_status read_point(struct reader *reader)
{
    replay_table *table = reader->out;
    TRY(begin_curve(reader));
    WEFT_GROW(reader->mem, table->point, reader->npoint, &reader->point_room);
    replay_point *point = &table->point[reader->npoint];
    TRY(read_number(reader, RESOURCE, &point->resource));
    TRY(read_number(reader, LOSS, &point->loss));
    TRY(read_number(reader, SECONDS, &point->seconds));
    TRY(read_number(reader, TEST, &point->test));
    TRY(check_order(reader, point));
    table->most = fmax(table->most, point->resource);
    reader->npoint++;
    return WEFT_OK;
}

static weft_status read_row(void *self, const weft_lines *row)
{
    struct reader *reader = self;
    reader->line = row->line;
    reader->field = row->field;
    return reader->out->ncolumn > 0 ? read_point(reader) : read_names(reader, row->n);
}

/* Reads the table: TAB-separated text whose first line names the columns. Each other line
 * is a point of a curve:
 *
 *     config     label of the configuration, whose lines stand together
 *     resource   of training since the start, increasing from line to line, above 0
 *
 * and the columns `names`, of which `seconds` may be missing, and any further ones, of
 * which only the first line of a configuration counts. EFILE; EDATA naming the line, also
 * where a number is missing or NaN, and a name of these that two columns have. Owned by
 * mem. */
static weft_status read_table(const char *path, const replay_names *names,
                              replay_table *out, weft_arena *mem)
{
    struct reader reader = {.out = out,
                            .mem = mem,
                            .name = {"resource", names->loss, names->seconds, names->test},
                            .labels = {.mem = mem}};
    *out = (replay_table){.path = path};
    FILE *in = fopen(path, "r");
    if (!in) return weft_unreadable(path);
    weft_lines rows = {.path = path, .wrong = WEFT_EDATA};
    TRY(weft_lines_read(&rows, in, read_row, &reader));
    if (out->n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s has no line of numbers; expected a line of names, config, "
                         "resource, %s and others, and one for each point of a curve",
                         path, names->loss);
    WEFT_GROW(mem, out->first, out->n + 1, &reader.first_room);
    out->first[out->n] = reader.npoint;
    return WEFT_OK;
}

/* ---- options ---- */

static const weft_opt replay_opts[] = {
    WEFT_TEXT_OPT("table", replay_task, path, "",
                  "TAB-separated file. First line: the names config, resource, the loss "
                  "and any others; then a line for each point of a learning curve",
                  .names_file = 1),
    WEFT_TEXT_OPT("loss", replay_task, names.loss, "loss",
                  "column that is minimised; inf where a training diverged"),
    WEFT_TEXT_OPT(
        "time", replay_task, names.seconds, "seconds",
        "column of the seconds since the start of a training, `seconds` if there is one; "
        "empty: none, a unit of resource takes one"),
    WEFT_TEXT_OPT("test", replay_task, names.test, "",
                  "column that is recorded beside the loss, such as a loss on test data; "
                  "empty: none"),
    WEFT_LONG_OPT(
        "row", replay_task, row, "0", 0, 1e12,
        "the configuration, by its number in the table from 0; not if [columns] has ranges",
        .role = WEFT_PER_TRIAL),
    {0},
};

static const weft_kind columns = {
    .name = "columns",
    .about = "task replay: ranges of columns of its table; the nearest row is taken",
    .size = 1,
    .opts = weft_own_keys};
static const weft_kind *const replay_parts[] = {&columns, NULL};

extern const weft_task weft_task_replay;

static const char *replay_single(const void *self)
{
    (void)self;
    return "run.task = replay";
}

static weft_status replay_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    (void)self;
    kind[0] = &weft_task_replay.kind;
    kind[1] = &columns;
    *n = 2;
    return WEFT_OK;
}

/* ---- configurations ---- */

static weft_status find_column(const replay_task *replay, const char *name, int *at)
{
    const replay_table *table = &replay->table;
    TRY(find_in_table(table, name, at));
    if (*at >= 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "columns.%s: %s has no such column; did you mean \"%s\"?",
                     name, table->path, weft_nearest(name, table->name, table->ncolumn));
}

/* The position of a value of the table on an axis; INFINITY: outside of its range, NAN:
 * "-", a value that the configuration does not have. EDATA: a number is expected. */
static weft_status place_of(const weft_axis *axis, const char *text, double *place)
{
    double v;
    *place = NAN;
    if (strcmp(text, "-") == 0) return WEFT_OK;
    int known = weft_opt_parse(axis->opt, text, &v) == WEFT_OK;
    *place = INFINITY;
    if (axis->nvalue == 0 && !known) return WEFT_EDATA;
    if (known && weft_range_has(axis->nvalue, axis->value, axis->lo, axis->hi, v))
        *place = weft_axis_unit(axis, v);
    return WEFT_OK;
}

/* The positions of all configurations on axis number k of [columns]. */
static weft_status place_on(replay_task *replay, int k, int column)
{
    const weft_axis *axis = &replay->env.space->axis[replay->axis[k]];
    const replay_table *table = &replay->table;
    for (int64_t i = 0; i < table->n; i++) {
        const char *text = table->value[i * table->ncolumn + column];
        if (place_of(axis, text, &replay->place[i * replay->ncolumn + k]) != WEFT_OK)
            return weft_fail(
                WEFT_EDATA,
                "%s: %s of configuration %lld (from 0) is \"%s\", and columns.%s "
                "is a range of numbers",
                table->path, axis->opt->name, (long long)i, text, axis->opt->name);
    }
    return WEFT_OK;
}

static weft_status check_places(const replay_task *replay)
{
    for (int64_t i = 0; i < replay->table.n; i++) {
        int inside = 1;
        for (int k = 0; k < replay->ncolumn; k++)
            inside &= !isinf(replay->place[i * replay->ncolumn + k]);
        if (inside) return WEFT_OK;
    }
    return weft_fail(WEFT_ECONF,
                     "no configuration of %s lies within the ranges of [columns]; "
                     "make them wider",
                     replay->path);
}

/* ECONF if an axis of numbers of rows goes beyond the table. */
static weft_status check_row(const replay_task *replay, double most)
{
    if (most < (double)replay->table.n) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF, "replay.row goes up to %.0f; %s has %lld configurations, 0 .. %lld",
        most, replay->path, (long long)replay->table.n, (long long)replay->table.n - 1);
}

static double largest_row(const weft_axis *axis)
{
    double most = axis->hi;
    for (int i = 0; i < axis->nvalue; i++)
        most = i > 0 ? fmax(most, axis->value[i]) : axis->value[i];
    return most;
}

static weft_status open_axes(replay_task *replay)
{
    const weft_space *space = replay->env.space;
    int rows = 0;
    replay->axis = WEFT_NEW(replay->env.mem, int, space->dim);
    for (int a = 0; a < space->dim; a++) {
        if (strcmp(space->axis[a].section, columns.name) == 0) {
            replay->axis[replay->ncolumn++] = a;
        } else {
            rows = 1;
            TRY(check_row(replay, largest_row(&space->axis[a])));
        }
    }
    if (rows && replay->ncolumn > 0)
        return weft_fail(WEFT_ECONF, "replay.row and [columns] both have ranges; a "
                                     "configuration is chosen by one of them");
    if (!rows && replay->ncolumn == 0) TRY(check_row(replay, (double)replay->row));
    replay->column = WEFT_NEW(replay->env.mem, int, replay->ncolumn);
    replay->place = WEFT_NEW(replay->env.mem, double, replay->table.n * replay->ncolumn);
    for (int k = 0; k < replay->ncolumn; k++) {
        TRY(find_column(replay, space->axis[replay->axis[k]].opt->name,
                        &replay->column[k]));
        TRY(place_on(replay, k, replay->column[k]));
    }
    return check_places(replay);
}

/* Squared distance of configuration i, on axes of length 1; choices that differ, and values
 * that only one of the two has, are 1 apart. INFINITY: outside of the ranges. */
static double distance(const replay_task *replay, const double *conf, int64_t i)
{
    double sum = 0;
    for (int k = 0; k < replay->ncolumn; k++) {
        const weft_axis *axis = &replay->env.space->axis[replay->axis[k]];
        double own = conf[replay->axis[k]], there = replay->place[i * replay->ncolumn + k];
        if (isinf(there)) return INFINITY;
        if (isnan(own) || isnan(there)) {
            sum += !(isnan(own) && isnan(there));
            continue;
        }
        double d = weft_axis_unit(axis, own) - there;
        sum += axis->nvalue == 0 ? d * d : fabs(d) > ROUNDING;
    }
    return sum;
}

/* The configuration of the table that conf[dim] chooses, of equally near ones the first;
 * NULL: the space has no axes. */
static int64_t nearest(const replay_task *replay, const double *conf)
{
    replay_task own = *replay;
    if (conf && replay->ncolumn == 0)
        weft_space_put(replay->env.space, conf, &weft_task_replay.kind, &own);
    if (!conf || replay->ncolumn == 0) return own.row;
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < replay->table.n; i++) {
        double d = distance(replay, conf, i);
        if (d < least) best = i;
        if (d < least) least = d;
    }
    return best;
}

static int64_t row_of(const replay_task *replay, const weft_job *job)
{
    return nearest(replay, job->mix.dim > 0 ? job->mix.conf : NULL);
}

static weft_status replay_setup(void *self, const weft_env *env)
{
    replay_task *replay = self;
    replay->env = *env;
    if (!*replay->path)
        return weft_fail(WEFT_ECONF, "replay.table is missing; give the file of learning "
                                     "curves, inputs/curves.tsv for example");
    TRY(read_table(replay->path, &replay->names, &replay->table, env->mem));
    TRY(open_axes(replay));
    weft_log(WEFT_INFO, "%s has curves of %lld configurations, up to resource %g",
             replay->path, (long long)replay->table.n, replay->table.most);
    return WEFT_OK;
}

/* ---- curves ---- */

/* The last point of a configuration at or before a resource, of which jobs are a sum;
 * NULL: there is none. */
static const replay_point *point_before(const replay_table *table, int64_t row,
                                        double resource)
{
    const replay_point *found = NULL;
    for (int64_t i = table->first[row]; i < table->first[row + 1]; i++)
        if (table->point[i].resource <= resource * (1 + ROUNDING)) found = &table->point[i];
    return found;
}

/* Seconds from the start to a resource, between points in proportion; after the end of a
 * curve no more. */
static double time_at(const replay_task *replay, int64_t row, double resource)
{
    const replay_table *table = &replay->table;
    replay_point last = {0, 0, 0, 0};
    for (int64_t i = table->first[row]; i < table->first[row + 1]; i++) {
        replay_point point = table->point[i];
        if (isnan(point.seconds)) point.seconds = point.resource;
        if (point.resource >= resource)
            return last.seconds + (point.seconds - last.seconds) *
                                      (resource - last.resource) /
                                      (point.resource - last.resource);
        last = point;
    }
    return last.seconds;
}

static double replay_seconds(const void *self, const weft_job *job, double before)
{
    const replay_task *replay = self;
    int64_t row = row_of(replay, job);
    return time_at(replay, row, before + job->resource) - time_at(replay, row, before);
}

/* The point that a job reaches. ECONF: it is not in the table. */
static weft_status point_at(const replay_task *replay, int64_t row, double resource,
                            const replay_point **out)
{
    const replay_table *table = &replay->table;
    *out = point_before(table, row, resource);
    if (*out && resource <= table->most * (1 + ROUNDING)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "resource %g is asked of configuration %lld, and %s has it from %g to "
                     "%g; set the resources of the tuner accordingly",
                     resource, (long long)row, table->path,
                     table->point[table->first[row]].resource, table->most);
}

/* ---- jobs ---- */

enum { VALID_LOSS, TEST_LOSS, ROW };
static const weft_metric replay_metrics[] = {
    {"valid_loss", "column replay.loss of the table", "loss", NULL},
    {"test_loss", "column replay.test of the table; nan: none", "loss", NULL},
    {"row", "configuration of the table, from 0", "index", NULL},
    {0}};

static const weft_metric replay_scores[] = {
    {"loss", "column replay.loss of the table", "loss", "loss"}, {0}};

/* The doubles of a trial's state. */
enum { TOTAL, TRIAL, NSTATE };

static void replay_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self;
    (void)job;
    size->nx = 0;
    size->naux = NSTATE;
}

static weft_status replay_step(void *self, const weft_job *job, int64_t unit,
                               weft_state *state, double *row, weft_result *res)
{
    replay_task *replay = self;
    (void)unit;
    (void)row;
    weft_check(job->mix.k == 1, "%d configurations", job->mix.k);
    double before = state->aux[TOTAL];
    if (before > 0 && fabs(state->aux[TRIAL] - (double)job->trial) > 0)
        return weft_fail(
            WEFT_ECONF, "this tuner goes on from the weights of one trial with the options "
                        "of another, and no table has what comes of it; choose run.tuner = "
                        "random, sha, hyperband or asha");
    int64_t at = row_of(replay, job);
    const replay_point *point;
    TRY(point_at(replay, at, before + job->resource, &point));
    state->aux[TOTAL] = before + job->resource;
    state->aux[TRIAL] = (double)job->trial;
    weft_result_single(res, point->loss, NAN, replay_seconds(replay, job, before));
    res->metric[VALID_LOSS] = point->loss;
    res->metric[TEST_LOSS] = point->test;
    res->metric[ROW] = (double)at;
    return WEFT_OK;
}

static void replay_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const replay_task *replay = self;
    (void)job;
    *out = (weft_cost){.flops = 3.0 * (double)replay->table.n * (replay->ncolumn + 1),
                       .memory = (double)replay->table.n * 8 * replay->ncolumn};
}

/* The table is read for the resource of its longest curve; what is wrong with it, setup
 * will say. */
static int64_t replay_resource(const void *self)
{
    const replay_task *replay = self;
    WEFT_SCRATCH(tmp);
    replay_table table;
    int64_t most = 1;
    if (*replay->path && read_table(replay->path, &replay->names, &table, tmp) == WEFT_OK)
        most = (int64_t)fmin(fmax(table.most, 1), 1e15);
    return most;
}

/* ---- the optimum ---- */

/* The least loss of a configuration of the table at or before a resource. */
static double least_loss(const replay_table *table, int64_t row, double resource)
{
    double best = INFINITY;
    for (int64_t i = table->first[row]; i < table->first[row + 1]; i++)
        if (table->point[i].resource <= resource * (1 + ROUNDING))
            best = fmin(best, table->point[i].loss);
    return best;
}

/* Of the configurations of a grid or a list. NAN: they are too many to look at. */
static double listed_optimum(const replay_task *replay, double resource)
{
    const double most = 1e9; /* distances: some seconds */
    const weft_space *space = replay->env.space;
    double best = INFINITY;
    if ((double)space->count * (double)replay->table.n * replay->ncolumn > most) return NAN;
    WEFT_SCRATCH(tmp);
    double *conf = WEFT_NEW(tmp, double, space->dim);
    for (int64_t i = 0; i < space->count; i++) {
        weft_space_config(space, i, conf);
        best = fmin(best, least_loss(&replay->table, nearest(replay, conf), resource));
    }
    return best;
}

enum { OUTSIDE, INSIDE, UNCERTAIN };

/* Whether the range of replay.row has the row, or those of [columns] a configuration,
 * conf[dim] scratch, that chooses it: the row's own values do, unless an earlier row has
 * the same. UNCERTAIN: the row has not the same columns as configurations of the space with
 * its values, and is chosen only where no other is as near. */
static int whether_inside(const replay_task *replay, int64_t row, double *conf)
{
    const replay_table *table = &replay->table;
    const weft_axis *axis = replay->env.space->axis;
    if (replay->env.space->dim == 0) return row == replay->row ? INSIDE : OUTSIDE;
    if (replay->ncolumn == 0)
        return weft_range_has(axis->nvalue, axis->value, axis->lo, axis->hi, (double)row)
                   ? INSIDE
                   : OUTSIDE;
    for (int k = 0; k < replay->ncolumn; k++) {
        if (isinf(replay->place[row * replay->ncolumn + k])) return OUTSIDE;
        const char *text = table->value[row * table->ncolumn + replay->column[k]];
        conf[replay->axis[k]] = NAN;
        if (strcmp(text, "-") == 0) continue;
        weft_check(weft_opt_parse(replay->env.space->axis[replay->axis[k]].opt, text,
                                  &conf[replay->axis[k]]) == WEFT_OK,
                   "%s", text);
    }
    for (int k = 0; k < replay->ncolumn; k++)
        if (weft_space_is_active(replay->env.space, conf, replay->axis[k]) !=
            !isnan(conf[replay->axis[k]]))
            return UNCERTAIN;
    return nearest(replay, conf) == row ? INSIDE : OUTSIDE;
}

/* Of all configurations within the ranges. NAN: a row that may or may not be
 * chosen has the least loss. */
static double ranges_optimum(const replay_task *replay, double resource)
{
    double best[] = {[INSIDE] = INFINITY, [UNCERTAIN] = INFINITY};
    WEFT_SCRATCH(tmp);
    double *conf = WEFT_NEW(tmp, double, replay->env.space->dim);
    for (int64_t i = 0; i < replay->table.n; i++) {
        double loss = least_loss(&replay->table, i, resource);
        if (!(loss < best[INSIDE])) continue;
        int in = whether_inside(replay, i, conf);
        if (in != OUTSIDE) best[in] = fmin(best[in], loss);
    }
    return best[UNCERTAIN] < best[INSIDE] ? NAN : best[INSIDE];
}

static double replay_optimum(const void *self, double resource)
{
    const replay_task *replay = self;
    if (replay->env.space->dim > 0 && replay->env.space->source > 0)
        return listed_optimum(replay, resource);
    return ranges_optimum(replay, resource);
}

const weft_task weft_task_replay = {
    .kind = WEFT_KIND("replay", replay_task, replay_opts,
                      "stored learning curves, searched in virtual time"),
    .parts = replay_parts,
    .tuner = "asha",
    .plan = {.resource = replay_resource, .single = replay_single},
    .traits = {.data = WEFT_DATA_NONE,
               .metrics = replay_metrics,
               .scores = replay_scores,
               .lost = "in the table why these rows have the loss inf"},
    .tuned = replay_tuned,
    .setup = replay_setup,
    .nstate = replay_nstate,
    .cost = replay_cost,
    .timing = {.seconds = replay_seconds},
    .step = replay_step,
    .winner = {.optimum = replay_optimum},
};
