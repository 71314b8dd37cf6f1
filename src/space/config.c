/* The configurations of a space: those of a list, points of a grid, random draws; and the
 * conditions of axes that exist only where others have certain values, "1 .. 3 when kind =
 * tfidf". Reads these conditions, orders the axes so that each comes after those that its
 * conditions name, and tells which axes a configuration has, and whether it is one of the
 * combinations that are forbidden. */
#include "axes.h"
#include "weft/base/base.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

/* ---- which axes exist ---- */

static int is_met(const weft_axis_when *when, double value)
{
    return weft_range_has(when->nvalue, when->value, when->lo, when->hi, value);
}

int weft_space_is_active(const weft_space *space, const double *conf, int a)
{
    const weft_axis *axis = &space->axis[a];
    for (int i = 0; i < axis->nwhen; i++)
        if (!is_met(&axis->when[i], conf[axis->when[i].axis])) return 0;
    return 1;
}

void weft_space_settle(const weft_space *space, uint64_t seed, uint64_t key, double *conf)
{
    for (int i = 0; i < space->dim; i++) {
        int a = space->order[i];
        if (space->axis[a].nwhen == 0) continue;
        if (!weft_space_is_active(space, conf, a)) {
            conf[a] = (double)NAN;
            continue;
        }
        if (!isnan(conf[a])) continue;
        weft_rng4 rng =
            weft_rng_at(seed, WEFT_RNG_SPACE, key, weft_axis_key(&space->axis[a]), 1);
        conf[a] = weft_axis_draw(&space->axis[a], weft_rng_unit(rng.v[0]));
    }
}

static int is_on(const weft_axis *axis, double value)
{
    int whole = axis->nvalue > 0 || axis->opt->type == WEFT_REAL ||
                !(fabs(round(value) - value) > 0);
    return whole && weft_range_has(axis->nvalue, axis->value, axis->lo, axis->hi, value);
}

int weft_space_misfit(const weft_space *space, const double *conf)
{
    for (int i = 0; i < space->dim; i++) {
        int a = space->order[i], active = weft_space_is_active(space, conf, a);
        if (active == isnan(conf[a])) return a;
        if (active && space->source == 0 && !is_on(&space->axis[a], conf[a])) return a;
    }
    return -1;
}

const char *weft_space_forbids(const weft_space *space, const double *conf)
{
    for (int f = 0; f < space->nforbid; f++) {
        const weft_forbidden *all = &space->forbidden[f];
        int i = 0;
        while (i < all->n && is_met(&all->part[i], conf[all->part[i].axis])) i++;
        if (i == all->n) return all->text;
    }
    return NULL;
}

/* ---- configurations ---- */

enum { RANDOM }; /* the first of the choices of space.source */

void weft_space_draw(const weft_space *space, int64_t i, int attempt, double *conf)
{
    for (int a = 0; a < space->dim; a++) {
        weft_rng4 rng = weft_rng_at(space->seed, WEFT_RNG_SPACE, (uint64_t)i,
                                    weft_axis_key(&space->axis[a]), 2 * (uint64_t)attempt);
        conf[a] = weft_axis_draw(&space->axis[a], weft_rng_unit(rng.v[0]));
    }
    weft_space_settle(space, 0, 0, conf);
}

enum { DRAWS = 10000, FEWEST = 10 }; /* random configurations, and how many are allowed */

weft_status weft_space_check_random(const weft_space *space)
{
    if (space->nforbid == 0) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    double *conf = WEFT_NEW(tmp, double, space->dim);
    int out = 0;
    for (int i = 0; i < DRAWS; i++) {
        weft_space_draw(space, i, 0, conf);
        out += weft_space_forbids(space, conf) != NULL;
    }
    double share = 100. * out / DRAWS;
    if (out > DRAWS - FEWEST)
        return weft_fail(WEFT_ECONF,
                         "space.forbid = %s: forbids %.5g %% of the space, in %d random "
                         "configurations; forbid less, or narrow the ranges",
                         space->forbid, share, DRAWS);
    weft_log(WEFT_INFO, "space.forbid excludes %.3g %% of random configurations", share);
    return WEFT_OK;
}

/* Of random configurations one in 1,000 at least is allowed. */
static void random_config(const weft_space *space, int64_t i, double *conf)
{
    int attempt = 0;
    do {
        weft_check(attempt < 10 * DRAWS, "space.forbid: nothing is allowed");
        weft_space_draw(space, i, attempt++, conf);
    } while (weft_space_forbids(space, conf));
}

double weft_space_resample(const weft_space *space, int a, double unit)
{
    return weft_axis_draw(&space->axis[a], unit);
}

void weft_space_config(const weft_space *space, int64_t i, double *conf)
{
    weft_check(i >= 0 && (space->source == RANDOM || i < space->count),
               "configuration %lld of %lld", (long long)i, (long long)space->count);
    if (i < space->listed)
        memcpy(conf, space->list + i * space->dim, (size_t)space->dim * sizeof *conf);
    else
        random_config(space, i, conf);
}

void weft_space_defaults(const weft_space *space, double *conf)
{
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        double value;
        if (axis->opt->own) continue;
        weft_check(weft_opt_parse(axis->opt, axis->opt->def, &value) == WEFT_OK,
                   "default of %s: %s", axis->opt->name, weft_error());
        conf[a] = axis->nvalue > 0 ? axis->value[weft_axis_index(axis, value)]
                                   : fmin(fmax(value, axis->lo), axis->hi);
    }
    weft_space_settle(space, space->seed, 0, conf);
    const char *forbidden = weft_space_forbids(space, conf);
    if (!forbidden) return;
    weft_log(WEFT_INFO, "the defaults are forbidden, by \"%s\"; random values instead",
             forbidden);
    random_config(space, 0, conf);
}

/* Neighbour i of the centre, drawn by `place`. */
static void move(const weft_space *space, const double *centre, double eps, uint64_t seed,
                 int64_t i, uint64_t place, double *conf)
{
    if (space->dim > 0) memcpy(conf, centre, (size_t)space->dim * sizeof *conf);
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        if (axis->opt->role != WEFT_PER_SAMPLE || isnan(centre[a])) continue;
        weft_rng4 rng =
            weft_rng_at(seed, WEFT_RNG_TUNER, place, (uint64_t)i, weft_axis_key(axis));
        conf[a] = weft_axis_near(axis, centre[a], eps, weft_rng_unit(rng.v[0]));
    }
    weft_space_settle(space, seed, weft_hash(&i, sizeof i, place), conf);
}

void weft_space_perturb(const weft_space *space, const double *centre, double eps,
                        uint64_t seed, int64_t i, double *conf)
{
    enum { TRIES = 100 };
    size_t bytes = (size_t)space->dim * sizeof *conf;
    for (uint64_t attempt = 0; i > 0 && attempt < TRIES; attempt++) {
        move(space, centre, eps, seed, i, weft_hash(centre, bytes, attempt), conf);
        if (!weft_space_forbids(space, conf)) return;
    }
    if (bytes > 0) memcpy(conf, centre, bytes);
}

/* ---- finite spaces ---- */

/* 0: any number of them. */
static int64_t values_of(const weft_axis *axis)
{
    if (axis->nvalue > 0) return axis->nvalue;
    double n = axis->hi - axis->lo + 1;
    return axis->opt->type == WEFT_REAL || n > WEFT_FEW_POINTS ? 0 : (int64_t)n;
}

int64_t weft_space_points(const weft_space *space)
{
    int64_t n = space->dim > 0;
    for (int a = 0; a < space->dim && n > 0; a++) {
        n *= values_of(&space->axis[a]);
        if (n > WEFT_FEW_POINTS) n = 0;
    }
    return n;
}

/* The number of a configuration among the points, an axis that it lacks being at its first
 * value. */
static int64_t number_of(const weft_space *space, const double *conf)
{
    int64_t at = 0;
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        at *= values_of(axis);
        if (isnan(conf[a])) continue;
        at += axis->nvalue > 0 ? weft_axis_index(axis, conf[a])
                               : (int64_t)(conf[a] - axis->lo);
    }
    return at;
}

static void point_at(const weft_space *space, int64_t at, double *conf)
{
    for (int a = space->dim - 1; a >= 0; a--) {
        const weft_axis *axis = &space->axis[a];
        int64_t n = values_of(axis), i = at % n;
        conf[a] = axis->nvalue > 0 ? axis->value[i] : axis->lo + (double)i;
        at /= n;
    }
    for (int i = 0; i < space->dim; i++)
        if (!weft_space_is_active(space, conf, space->order[i]))
            conf[space->order[i]] = (double)NAN;
}

static double distance(const weft_space *space, const double *conf, const double *other)
{
    double sum = 0;
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        if (isnan(conf[a]) && isnan(other[a])) continue;
        double way = fabs(weft_axis_unit(axis, isnan(conf[a]) ? axis->lo : conf[a]) -
                          weft_axis_unit(axis, isnan(other[a]) ? axis->lo : other[a]));
        if (isnan(conf[a]) != isnan(other[a]) || (way > 0 && !weft_axis_is_ordered(axis)))
            way = 1;
        sum += way;
    }
    return sum;
}

int weft_space_unused(const weft_space *space, char *used, double *conf, weft_arena *tmp)
{
    int64_t at = number_of(space, conf), n = weft_space_points(space), best = -1;
    WEFT_REWIND(tmp);
    double *other = WEFT_NEW(tmp, double, space->dim), least = INFINITY;
    for (int64_t i = 0; i < n && used[at]; i++) {
        if (used[i]) continue;
        point_at(space, i, other);
        if (weft_space_forbids(space, other)) continue;
        double way = distance(space, conf, other);
        if (number_of(space, other) != i || !(way < least)) continue;
        least = way;
        best = i;
    }
    if (best >= 0) point_at(space, best, conf);
    int found = !used[at] || best >= 0;
    used[best >= 0 ? best : at] = 1;
    return found;
}

/* ---- reading conditions ---- */

struct reader {
    weft_space *space;
    const weft_conf *conf;
    const weft_kind *const *kinds;
    int nkind;
    weft_arena *mem;
    char *removed; /* [dim] 1: no configuration meets its condition */
};

/* The option that a condition names. */
struct named {
    const weft_kind *kind;
    const weft_opt *opt; /* NULL: there is none */
};

static struct named find_in(const weft_kind *kind, const char *key)
{
    return (struct named){kind, weft_opt_find(kind->opts, key)};
}

/* The name known[n] of an option to which the key is nearest, as a whole or, if the key has
 * no section, by last[n], the name without its section. */
static const char *nearest(const char *key, const char *const *known,
                           const char *const *last, int n)
{
    if (strchr(key, '.')) return weft_nearest(key, known, n);
    const char *found = weft_nearest(key, last, n);
    for (int i = 0; i < n; i++)
        if (last[i] == found) return known[i];
    return found;
}

/* Finds the option "key", in the section of the axis, or "section.key". */
static weft_status find_option(const struct reader *reader, const weft_entry *entry,
                               const char *key, struct named *out)
{
    const int room = weft_space_nopt(reader->kinds, reader->nkind);
    const char **known = WEFT_NEW(reader->mem, const char *, room);
    const char **last = WEFT_NEW(reader->mem, const char *, room);
    int n = 0;
    for (int j = 0; j < reader->nkind; j++) {
        const weft_kind *kind = reader->kinds[j];
        size_t len = strlen(kind->name);
        int same = strcmp(kind->name, entry->section) == 0;
        if (same) *out = find_in(kind, key);
        if (same && out->opt) return WEFT_OK;
        for (const weft_opt *opt = kind->opts; opt->name; opt++) {
            char name[64];
            weft_opt_name(opt, name, sizeof name);
            known[n] = weft_arena_text(reader->mem, "%s.%s", kind->name, name);
            last[n] = known[n] + len + 1;
            n++;
        }
        if (strncmp(key, kind->name, len) != 0 || key[len] != '.') continue;
        *out = find_in(kind, key + len + 1);
        if (out->opt) return WEFT_OK;
    }
    return weft_entry_fail(entry,
                           "\"%s\": no section with ranges has such an option; did "
                           "you mean %s?",
                           key, nearest(key, known, last, n));
}

/* 1 if the value is one of "x | y". */
static int is_among(const char *value, const char *words)
{
    for (const char *at = words; at;) {
        size_t n = strcspn(at, "|");
        const char *next = at[n] ? at + n + 1 : NULL;
        at = weft_trim(at, &n);
        if (strlen(value) == n && strncmp(at, value, n) == 0) return 1;
        at = next;
    }
    return 0;
}

/* *met 1: an option that is not an axis meets the condition. */
static weft_status check_fixed(const struct reader *reader, const weft_entry *entry,
                               struct named named, const char *text, int *met)
{
    const weft_entry *given =
        weft_conf_find(reader->conf, named.kind->name, named.opt->name);
    const char *value = given ? given->value : named.opt->def;
    *met = 0; /* of an axis that no configuration has */
    if (given && weft_is_range(value)) return WEFT_OK;
    if (named.opt->type == WEFT_TEXT) {
        *met = is_among(value, text);
        return WEFT_OK;
    }
    weft_axis range = {.opt = named.opt};
    double number;
    TRY(weft_space_range(entry, text, &range, reader->mem));
    if (weft_opt_parse(named.opt, value, &number) != WEFT_OK)
        return weft_entry_fail(given ? given : entry, "%s", weft_error());
    weft_axis_when when = {
        .nvalue = range.nvalue, .lo = range.lo, .hi = range.hi, .value = range.value};
    *met = is_met(&when, number);
    return WEFT_OK;
}

static int can_be_met(const weft_axis *axis, const weft_axis_when *when)
{
    for (int i = 0; i < axis->nvalue; i++)
        if (is_met(when, axis->value[i])) return 1;
    if (axis->nvalue > 0) return 0;
    if (when->nvalue == 0) return when->lo <= axis->hi && when->hi >= axis->lo;
    for (int i = 0; i < when->nvalue; i++) {
        double v = when->value[i];
        if (v >= axis->lo && v <= axis->hi &&
            (axis->opt->type != WEFT_REAL || axis->hi <= axis->lo))
            return 1;
    }
    return 0;
}

/* A condition "key = text" on an option. */
struct condition {
    struct named named;
    const char *key, *text;
    int axis; /* of the option; -1: it is none */
};

/* Splits the condition from .. end. */
static weft_status split_condition(const struct reader *reader, const weft_entry *entry,
                                   const char *from, const char *end, struct condition *out)
{
    const char *equals = memchr(from, '=', (size_t)(end - from));
    if (!equals)
        return weft_entry_fail(entry, "expected \"section.key = values\", and further ones "
                                      "after \"and\" or \"or\"");
    size_t nkey = (size_t)(equals - from), ntext = (size_t)(end - equals - 1);
    from = weft_trim(from, &nkey);
    const char *text = weft_trim(equals + 1, &ntext);
    out->key = weft_arena_text(reader->mem, "%.*s", (int)nkey, from);
    out->text = weft_arena_text(reader->mem, "%.*s", (int)ntext, text);
    TRY(find_option(reader, entry, out->key, &out->named));
    out->axis = weft_space_axis_of(reader->space, out->named.opt);
    return WEFT_OK;
}

/* Adds the condition, of an axis, to (*when)[*n]. */
static weft_status add_condition(const struct reader *reader, const weft_entry *entry,
                                 const struct condition *condition, weft_axis_when **when,
                                 int *n)
{
    const weft_axis *other = &reader->space->axis[condition->axis];
    weft_axis range = {.opt = other->opt};
    TRY(weft_space_range(entry, condition->text, &range, reader->mem));
    weft_axis_when new = {condition->axis, range.nvalue, range.lo, range.hi, range.value};
    char name[128];
    weft_axis_name(other, name, sizeof name);
    /* What is forbidden of a list or grid may be a single value of a real axis. */
    int drawn = reader->removed || reader->space->source == RANDOM;
    if (drawn && !can_be_met(other, &new))
        return weft_entry_fail(entry, "no value of the axis %s is \"%s\"", name,
                               condition->text);
    weft_axis_when *all = WEFT_NEW(reader->mem, weft_axis_when, *n + 1);
    if (*n > 0) memcpy(all, *when, (size_t)*n * sizeof *all);
    all[(*n)++] = new;
    *when = all;
    return WEFT_OK;
}

/* Reads one condition "key = range" of axis a, which ends before `end`. */
static weft_status read_condition(struct reader *reader, const weft_entry *entry, int a,
                                  const char *from, const char *end)
{
    weft_axis *axis = &reader->space->axis[a];
    struct condition condition;
    TRY(split_condition(reader, entry, from, end, &condition));
    if (condition.axis >= 0) {
        TRY(add_condition(reader, entry, &condition, &axis->when, &axis->nwhen));
        if (condition.named.opt->role >= axis->opt->role) return WEFT_OK;
        char name[128];
        weft_axis_name(&reader->space->axis[condition.axis], name, sizeof name);
        return weft_entry_fail(entry,
                               "%s may change where this option must not, so it cannot "
                               "decide whether there is one",
                               name);
    }
    int met;
    TRY(check_fixed(reader, entry, condition.named, condition.text, &met));
    if (!met && reader->space->list)
        return weft_entry_fail(entry,
                               "no configuration has this option, but the list %s has a "
                               "column of it; take one of them out",
                               reader->space->file);
    if (!met && !reader->removed[a])
        weft_log(WEFT_INFO, "%s.%s has no range in this run, as %s is not %s",
                 entry->section, entry->key, condition.key, condition.text);
    reader->removed[a] |= !met;
    return WEFT_OK;
}

static weft_status read_conditions(struct reader *reader)
{
    for (int a = 0; a < reader->space->dim; a++) {
        const weft_axis *axis = &reader->space->axis[a];
        const weft_entry *entry =
            weft_conf_find(reader->conf, axis->section, axis->opt->name);
        const char *at = entry ? weft_clause(entry->value, "when") : NULL;
        while (at) {
            const char *from = at + strlen("when");
            at = weft_clause(from, "and");
            TRY(read_condition(reader, entry, a, from, at ? at : from + strlen(from)));
        }
    }
    return WEFT_OK;
}

/* ---- axes that never exist, order ---- */

static int depends_on_removed(const struct reader *reader, const weft_axis *axis)
{
    for (int i = 0; i < axis->nwhen; i++)
        if (reader->removed[axis->when[i].axis]) return 1;
    return 0;
}

static void remove_axes(struct reader *reader)
{
    weft_space *space = reader->space;
    for (int more = 1; more;) {
        more = 0;
        for (int a = 0; a < space->dim; a++)
            if (!reader->removed[a] && depends_on_removed(reader, &space->axis[a]))
                more = reader->removed[a] = 1;
    }
    int *to = WEFT_NEW(reader->mem, int, space->dim);
    int n = 0;
    for (int a = 0; a < space->dim; a++) {
        to[a] = n;
        if (!reader->removed[a]) space->axis[n++] = space->axis[a];
    }
    space->dim = n;
    for (int a = 0; a < n; a++)
        for (int i = 0; i < space->axis[a].nwhen; i++)
            space->axis[a].when[i].axis = to[space->axis[a].when[i].axis];
}

static weft_status put_in_order(weft_space *space, const weft_conf *conf, weft_arena *mem)
{
    space->order = WEFT_NEW(mem, int, space->dim);
    char *placed = WEFT_NEW(mem, char, space->dim);
    for (int n = 0; n < space->dim;) {
        int next = -1;
        for (int a = 0; a < space->dim && next < 0; a++) {
            int ready = !placed[a];
            for (int i = 0; i < space->axis[a].nwhen; i++)
                ready &= placed[space->axis[a].when[i].axis];
            if (ready) next = a;
        }
        if (next < 0) {
            int a = 0;
            while (placed[a]) a++;
            const weft_axis *axis = &space->axis[a];
            return weft_entry_fail(weft_conf_find(conf, axis->section, axis->opt->name),
                                   "whether there is such an option would depend on "
                                   "itself; change one \"when\"");
        }
        placed[next] = 1;
        space->order[n++] = next;
    }
    return WEFT_OK;
}

weft_status weft_space_when(weft_space *space, const weft_conf *conf,
                            const weft_kind *const *kinds, int nkind, weft_arena *mem)
{
    struct reader reader = {space, conf, kinds,
                            nkind, mem,  WEFT_NEW(mem, char, space->dim + 1)};
    TRY(read_conditions(&reader));
    remove_axes(&reader);
    return put_in_order(space, conf, mem);
}

/* ---- forbidden combinations ---- */

/* Reads "key = values and key = values", which ends before `end`; a combination that no
 * configuration can have is left out. */
static weft_status read_forbidden(const struct reader *reader, const weft_entry *entry,
                                  const char *from, const char *end)
{
    weft_space *space = reader->space;
    weft_forbidden *new = &space->forbidden[space->nforbid];
    size_t length = (size_t)(end - from);
    const char *start = weft_trim(from, &length);
    *new =
        (weft_forbidden){.text = weft_arena_text(reader->mem, "%.*s", (int)length, start)};
    int possible = 1;
    for (const char *at = new->text, *next; at; at = next ? next + strlen("and") : NULL) {
        struct condition condition;
        next = weft_clause(at, "and");
        const char *stop = next ? next : at + strlen(at);
        int met = 1;
        TRY(split_condition(reader, entry, at, stop, &condition));
        if (condition.axis >= 0)
            TRY(add_condition(reader, entry, &condition, &new->part, &new->n));
        else
            TRY(check_fixed(reader, entry, condition.named, condition.text, &met));
        possible &= met;
    }
    if (possible && new->n == 0)
        return weft_entry_fail(entry,
                               "\"%s\" forbids every configuration; name an option "
                               "with a range, too",
                               new->text);
    if (!possible) weft_log(WEFT_INFO, "space.forbid: \"%s\" never occurs", new->text);
    space->nforbid += possible;
    return WEFT_OK;
}

weft_status weft_space_forbid(weft_space *space, const weft_conf *conf,
                              const weft_kind *const *kinds, int nkind, weft_arena *mem)
{
    struct reader reader = {space, conf, kinds, nkind, mem, NULL};
    const weft_entry *entry = weft_conf_find(conf, "space", "forbid");
    if (!entry || !*entry->value) return WEFT_OK;
    int most = 1;
    for (const char *at = weft_clause(entry->value, "or"); at; most++)
        at = weft_clause(at + 1, "or");
    space->forbidden = WEFT_NEW(mem, weft_forbidden, most);
    for (const char *at = entry->value, *next; at; at = next ? next + strlen("or") : NULL) {
        next = weft_clause(at, "or");
        TRY(read_forbidden(&reader, entry, at, next ? next : at + strlen(at)));
    }
    return WEFT_OK;
}

/* ---- grids ---- */

/* Moves to the next point of a grid; axes that do not exist there stay at their first
 * value. Returns 0 after the last. */
static int next_point(const weft_space *space, const int64_t *levels, int64_t *at,
                      double *conf)
{
    int i = space->dim - 1;
    for (; i >= 0; i--) {
        int a = space->order[i];
        if (!isnan(conf[a]) && at[a] + 1 < levels[a]) break;
    }
    if (i < 0) return 0;
    at[space->order[i]]++;
    for (int j = i; j < space->dim; j++) {
        int a = space->order[j];
        if (j > i) at[a] = 0;
        conf[a] = weft_space_is_active(space, conf, a)
                      ? weft_axis_point(&space->axis[a], at[a], levels[a])
                      : (double)NAN;
    }
    return 1;
}

int64_t weft_space_grid(weft_space *space, int64_t most, weft_arena *mem)
{
    WEFT_SCRATCH(tmp);
    int64_t *levels = WEFT_NEW(tmp, int64_t, space->dim),
            *at = WEFT_NEW(tmp, int64_t, space->dim);
    double *conf = WEFT_NEW(tmp, double, space->dim);
    int64_t n = 0, room = 0;
    for (int i = 0; i < space->dim; i++) {
        int a = space->order[i];
        levels[a] = weft_axis_levels(&space->axis[a], space->levels);
        conf[a] = weft_space_is_active(space, conf, a)
                      ? weft_axis_point(&space->axis[a], 0, levels[a])
                      : (double)NAN;
    }
    size_t row = (size_t)space->dim * sizeof *conf;
    do {
        if (weft_space_forbids(space, conf)) continue;
        space->list = weft_regrow(mem, space->list, row, n, &room);
        memcpy(space->list + n++ * space->dim, conf, row);
    } while (n <= most && next_point(space, levels, at, conf));
    space->listed = n;
    return n;
}

/* ---- lists ---- */

weft_status weft_space_check_allowed(const weft_space *list, int64_t i,
                                     const weft_space *space, const double *conf)
{
    const char *text = weft_space_forbids(space, conf);
    if (!text) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s:%d: space.forbid excludes this configuration, by \"%s\"; take one "
                     "of them out",
                     list->file, list->line[i], text);
}

weft_status weft_space_check_list(const weft_space *space)
{
    for (int64_t i = 0; i < space->count; i++) {
        const double *conf = space->list + i * space->dim;
        for (int a = 0; a < space->dim; a++) {
            int active = weft_space_is_active(space, conf, a);
            if (space->axis[a].nwhen == 0 || active == !isnan(conf[a])) continue;
            char name[128];
            weft_axis_name(&space->axis[a], name, sizeof name);
            return weft_fail(WEFT_ECONF,
                             "%s: configuration %lld has %s %s, by the \"when\" beside its "
                             "range; expected %s",
                             space->file, (long long)i,
                             active ? "no value of" : "a value of", name,
                             active ? "one" : "\"-\"");
        }
        TRY(weft_space_check_allowed(space, i, space, conf));
    }
    return WEFT_OK;
}
