/* Lists of configurations: TAB separated text; those that stand in the input itself; and
 * those that a random search begins with, of space.first. */
#include "axes.h"
#include "weft/base/files.h"
#include "weft/base/random.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- tables ---- */

/* The state of the reader. */
struct table {
    weft_space *space;
    const weft_kind *const *kinds;
    int nkind;
    weft_arena *mem;
    int line, column; /* of the present field; lines from 1 */
    int ncolumn;      /* fields of the first line; 0: not read yet */
    int room;         /* upper bound of the number of columns */
    int *axis;        /* [room] axis of each column; -1: a label */
    int64_t rows;     /* that sp->list has room for */
    int *at;          /* [sp->count] line of each configuration */
    int64_t nat;      /* entries that `at` has room for */
};

enum { LABELS = 3 };
static const char *const labels[LABELS] = {"map", "id", "#"};

static int is_label(const char *name)
{
    for (int i = 0; i < LABELS; i++)
        if (strcmp(labels[i], name) == 0) return 1;
    return 0;
}

/* Does the column name option o of that kind: "lr" or "client.lr"? */
static int is_named(const weft_kind *kind, const weft_opt *opt, const char *name)
{
    size_t n = strlen(kind->name);
    int whole = strncmp(name, kind->name, n) == 0 && name[n] == '.';
    return weft_opt_is(opt, whole ? name + n + 1 : name);
}

/* The option that a column is named after, or NULL. *section is the plug-in that the option
 * belongs to, *other another plug-in with an option of that name, or NULL. */
static const weft_opt *option_named(const struct table *table, const char *name,
                                    const char **section, const char **other)
{
    const weft_opt *found = NULL;
    for (int j = 0; j < table->nkind; j++)
        for (const weft_opt *opt = table->kinds[j]->opts; opt->name; opt++) {
            if (!is_named(table->kinds[j], opt, name)) continue;
            int kept = found && weft_opt_tunable(found);
            if (kept && weft_opt_tunable(opt)) *other = table->kinds[j]->name;
            if (found && (kept || !weft_opt_tunable(opt))) continue;
            *section = table->kinds[j]->name;
            found = opt;
        }
    return found;
}

static weft_status unknown_column(const struct table *table, const char *name)
{
    const char **known = WEFT_NEW(table->mem, const char *,
                                  weft_space_nopt(table->kinds, table->nkind) + LABELS);
    int n = 0;
    for (; n < LABELS; n++) known[n] = labels[n];
    for (int j = 0; j < table->nkind; j++)
        for (const weft_opt *opt = table->kinds[j]->opts; opt->name; opt++) {
            if (!weft_opt_tunable(opt)) continue;
            char text[64];
            weft_opt_name(opt, text, sizeof text);
            known[n++] = weft_arena_text(table->mem, "%s", text);
        }
    return weft_fail(WEFT_ECONF,
                     "%s:%d: column \"%s\" names no option; did you mean \"%s\"?",
                     table->space->file, table->line, name, weft_nearest(name, known, n));
}

static weft_status read_name(struct table *table, const char *name)
{
    if (table->column == table->room)
        return weft_fail(WEFT_ECONF, "%s:%d: more columns than there are options (%d)",
                         table->space->file, table->line, table->room - LABELS);
    table->axis[table->column] = -1;
    if (is_label(name)) return WEFT_OK;

    const char *section = NULL, *other = NULL;
    const weft_opt *opt = option_named(table, name, &section, &other);
    if (!opt) return unknown_column(table, name);
    if (other)
        return weft_fail(WEFT_ECONF,
                         "%s:%d: column \"%s\" may be [%s] or [%s]; name it \"%s.%s\" or "
                         "\"%s.%s\"",
                         table->space->file, table->line, name, section, other, section,
                         name, other, name);
    if (!weft_opt_tunable(opt))
        return weft_fail(WEFT_ECONF,
                         "%s:%d: column \"%s\": this option of [%s] is the same "
                         "for all configurations; set it in the input file",
                         table->space->file, table->line, name, section);
    for (int a = 0; a < table->space->dim; a++)
        if (table->space->axis[a].opt == opt)
            return weft_fail(WEFT_ECONF,
                             "%s:%d: column \"%s\": the option has a column already",
                             table->space->file, table->line, name);
    table->axis[table->column] = table->space->dim;
    table->space->axis[table->space->dim++] = (weft_axis){.section = section, .opt = opt};
    return WEFT_OK;
}

static weft_status read_value(struct table *table, const char *text)
{
    weft_space *space = table->space;
    int a = table->axis[table->column];
    if (a < 0) return WEFT_OK;
    space->list =
        weft_grow(table->mem, space->list, (size_t)space->dim * sizeof *space->list,
                  space->count, &table->rows);
    double *value = space->list + space->count * space->dim + a;
    *value = (double)NAN;
    if (strcmp(text, "-") == 0) return WEFT_OK; /* the axis does not exist here */
    if (weft_opt_parse(space->axis[a].opt, text, value) == WEFT_OK) return WEFT_OK;
    char name[64];
    weft_opt_name(space->axis[a].opt, name, sizeof name);
    return weft_fail(WEFT_ECONF, "%s:%d: %s: %s", space->file, table->line, name,
                     weft_error());
}

/* The first row has names, every further one is a configuration. */
static weft_status read_row(void *self, const weft_lines *row)
{
    struct table *table = self;
    weft_space *space = table->space;
    table->line = row->line;
    for (table->column = 0; table->column < row->n; table->column++) {
        const char *text = row->field[table->column];
        TRY(table->ncolumn == 0 ? read_name(table, text) : read_value(table, text));
    }
    if (table->ncolumn > 0) {
        WEFT_GROW(table->mem, table->at, space->count, &table->nat);
        table->at[space->count++] = table->line;
    }
    table->ncolumn = row->n;
    return WEFT_OK;
}

/* Refuses a list with two equal configurations, which would give the same result twice;
 * equal are those of equal hashes of 128 bits. */
static weft_status check_distinct(const struct table *table)
{
    const weft_space *space = table->space;
    size_t bytes = (size_t)space->dim * sizeof *space->list;
    WEFT_SCRATCH(tmp);
    weft_names known = {.mem = tmp};
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < space->count && st == WEFT_OK; i++) {
        const double *conf = space->list + i * space->dim;
        unsigned long long hash[2] = {weft_hash(conf, bytes, 0), weft_hash(conf, bytes, 1)};
        int64_t first =
            weft_names_find(&known, weft_arena_text(tmp, "%llx %llx", hash[0], hash[1]));
        if (first < i)
            st = weft_fail(WEFT_ECONF,
                           "%s:%d: the configuration of line %d again; keep one of them",
                           space->file, table->at[i], table->at[first]);
    }
    return st;
}

/* Sets the axis's range from its column: the values of choices, least and greatest
 * number. */
static void describe_axis(const weft_space *space, int a, weft_arena *mem)
{
    weft_axis *axis = &space->axis[a];
    int64_t room = 0;
    int named = !weft_axis_is_ordered(axis);
    axis->lo = INFINITY;
    axis->hi = -INFINITY;
    for (int64_t i = 0; i < space->count; i++) {
        double v = space->list[i * space->dim + a];
        if (isnan(v)) continue;
        axis->lo = fmin(axis->lo, v);
        axis->hi = fmax(axis->hi, v);
        int seen = 0;
        while (seen < axis->nvalue && fabs(axis->value[seen] - v) > 0) seen++;
        if (!named || seen < axis->nvalue) continue;
        WEFT_GROW(mem, axis->value, seen, &room);
        axis->value[axis->nvalue++] = v;
    }
}

/* ---- configurations in the input itself, in the form of weft_axes_show ---- */

/* The next word before a comma or the end, [*n] characters; 0: there is none. */
static int next_word(const char **at, const char **word, size_t *n)
{
    *at += strspn(*at, " \t");
    *n = strcspn(*at, " \t,");
    *word = *at;
    *at += *n;
    return *n > 0;
}

/* Splits a word "section.key=value"; ECONF: it is none. */
static weft_status split_word(const char *word, size_t n, const char **key,
                              const char **value, weft_arena *mem)
{
    const char *end = memchr(word, '=', n);
    size_t length = end ? (size_t)(end - word) : 0;
    if (length == 0 || length + 1 == n)
        return weft_fail(WEFT_ECONF,
                         "[space]: '%.*s' where section.key=value is expected: "
                         "configurations are separated by commas",
                         (int)n, word);
    *key = weft_arena_text(mem, "%.*s", (int)length, word);
    *value = weft_arena_text(mem, "%.*s", (int)(n - length - 1), end + 1);
    return WEFT_OK;
}

/* Appends the next configuration of `at` to a list, a row of names->n fields. */
static weft_status write_row(const char **at, weft_names *names, char **end,
                             weft_arena *mem)
{
    const char *word, *key = NULL, *own = NULL;
    size_t n;
    WEFT_REWIND(mem);
    const char **value = WEFT_NEW(mem, const char *, names->n);
    while (next_word(at, &word, &n)) {
        TRY(split_word(word, n, &key, &own, mem));
        int64_t i = weft_names_find(names, key);
        if (value[i])
            return weft_fail(WEFT_ECONF, "[space]: a configuration has %s twice; %s", key,
                             "separate configurations by commas");
        value[i] = own;
    }
    for (int64_t i = 0; i < names->n; i++)
        *end = stpcpy(stpcpy(*end, i ? "\t" : "\n"), value[i] ? value[i] : "-");
    return WEFT_OK;
}

/* The configurations "rff.gamma=1 rff.kernel=laplacian, rff.gamma=10" as a list as of a
 * file; "-" where one does not say a value. */
static weft_status list_of_text(const char *text, char **list, weft_arena *mem)
{
    weft_names names = {.mem = mem};
    const char *word, *key = NULL, *own = NULL;
    size_t n, rows = 2;
    for (const char *at = text; *at; rows++, at += *at == ',')
        while (next_word(&at, &word, &n)) {
            TRY(split_word(word, n, &key, &own, mem));
            weft_names_find(&names, key);
        }
    *list = WEFT_NEW(mem, char, strlen(text) * 2 + 2 * rows * (size_t)(names.n + 1));
    char *end = *list;
    for (int64_t i = 0; i < names.n; i++)
        end = stpcpy(stpcpy(end, i ? "\t" : ""), names.name[i]);
    for (const char *at = text; *at; at += *at == ',')
        TRY(write_row(&at, &names, &end, mem));
    stpcpy(end, "\n");
    return WEFT_OK;
}

/* ---- the list ---- */

/* Opens the list that space->file names, or is. */
static weft_status open_list(weft_space *space, FILE **in, weft_arena *mem)
{
    char *text = NULL;
    if (!strchr(space->file, '=')) {
        *in = fopen(space->file, "r");
        if (*in) return WEFT_OK;
        return weft_fail(WEFT_EFILE,
                         "%s: %s; expected a list of configurations, "
                         "as space.file or space.first names it",
                         space->file, strerror(errno));
    }
    TRY(list_of_text(space->file, &text, mem));
    space->file = "[space]";
    *in = fmemopen(text, strlen(text), "r");
    weft_check(*in != NULL, "fmemopen: %s", strerror(errno));
    return WEFT_OK;
}

weft_status weft_space_list(weft_space *space, const weft_kind *const *kinds, int nkind,
                            weft_arena *mem)
{
    struct table table = {.space = space, .kinds = kinds, .nkind = nkind, .mem = mem};
    table.room = weft_space_nopt(kinds, nkind) + LABELS;
    table.axis = WEFT_NEW(mem, int, table.room);
    space->count = 0;
    FILE *in;
    TRY(open_list(space, &in, mem));
    weft_lines rows = {.path = space->file, .wrong = WEFT_ECONF};
    TRY(weft_lines_read(&rows, in, read_row, &table));
    if (space->dim == 0 || space->count == 0)
        return weft_fail(WEFT_ECONF,
                         "%s: holds %d options and %lld configurations; expected "
                         "a line of names and at least one of values, separated "
                         "by TAB",
                         space->file, space->dim, (long long)space->count);
    if (!space->prior || !*space->prior) TRY(check_distinct(&table));
    space->listed = space->count;
    space->line = table.at;
    for (int a = 0; a < space->dim; a++) describe_axis(space, a, mem);
    return WEFT_OK;
}

/* ---- the first configurations of a random search ---- */

/* A random configuration i with the values v[n] of the axes at[n], where they are not NAN;
 * drawn again while it is forbidden. */
static weft_status complete_config(const weft_space *space, const char *file, int64_t i,
                                   const int *at, int n, const double *v, double *conf)
{
    enum { TRIES = 1000 };
    char name[128], value[64], range[256];
    for (int attempt = 0; attempt < TRIES; attempt++) {
        weft_space_draw(space, i, attempt, conf);
        for (int c = 0; c < n; c++)
            if (!isnan(v[c])) conf[at[c]] = v[c];
        weft_space_settle(space, space->seed + (uint64_t)attempt, (uint64_t)i, conf);
        if (!weft_space_forbids(space, conf)) break;
    }
    int misfit = weft_space_misfit(space, conf);
    for (int c = 0; c < n; c++) {
        int absent = isnan(conf[at[c]]) && !isnan(v[c]);
        if (!absent && at[c] != misfit) continue;
        weft_axis_name(&space->axis[at[c]], name, sizeof name);
        weft_opt_show(space->axis[at[c]].opt, v[c], value, sizeof value);
        weft_axis_show(space, at[c], range, sizeof range);
        return weft_fail(WEFT_ECONF,
                         "%s: configuration %lld has %s = %s, which is not in %s%s; %s",
                         file, (long long)i, name, value, range,
                         absent ? ", as this condition is not met" : "",
                         absent ? "write \"-\" there" : "widen the range, or change it");
    }
    return WEFT_OK;
}

/* Reads the list. */
static weft_status read_first(weft_space *space, const weft_kind *const *kinds, int nkind,
                              weft_arena *mem)
{
    weft_space known = {.file = space->first};
    known.axis = WEFT_NEW(mem, weft_axis, weft_space_nopt(kinds, nkind));
    TRY(weft_space_list(&known, kinds, nkind, mem));
    int *at = WEFT_NEW(mem, int, known.dim);
    for (int c = 0; c < known.dim; c++) {
        char name[128];
        weft_axis_name(&known.axis[c], name, sizeof name);
        at[c] = weft_space_axis_of(space, known.axis[c].opt);
        if (at[c] < 0)
            return weft_fail(WEFT_ECONF,
                             "%s: column \"%s\" is no axis of this search; delete it, or "
                             "give %s a range",
                             known.file, name, name);
    }
    double *list = WEFT_NEW(mem, double, known.count * space->dim);
    for (int64_t i = 0; i < known.count; i++) {
        double *conf = list + i * space->dim;
        TRY(complete_config(space, known.file, i, at, known.dim, known.list + i * known.dim,
                            conf));
        TRY(weft_space_check_allowed(&known, i, space, conf));
    }
    space->list = list;
    space->listed = known.count;
    return WEFT_OK;
}

/* Keys of the user's, which have no defaults, are drawn. */
static void take_defaults(weft_space *space, weft_arena *mem)
{
    double *conf = WEFT_NEW(mem, double, space->dim);
    weft_space_config(space, 0, conf);
    weft_space_defaults(space, conf);
    space->list = conf;
    space->listed = 1;
}

weft_status weft_space_first(weft_space *space, const weft_kind *const *kinds, int nkind,
                             weft_arena *mem)
{
    if (strcmp(space->first, "defaults") == 0) {
        if (space->dim > 0) take_defaults(space, mem);
        return WEFT_OK;
    }
    weft_status st = read_first(space, kinds, nkind, mem);
    if (st == WEFT_OK) return st;
    return weft_fail(
        st, "%s; or begin without known configurations, by space.first=", weft_error());
}
