/* The configurations that a random search begins with: those of space.first. */
#include "axis.h"
#include "list.h"

#include <math.h>
#include <string.h>

/* The axis of the option, or -1. */
static int axis_of(const weft_space *space, const weft_opt *opt)
{
    for (int a = 0; a < space->dim; a++)
        if (space->axis[a].opt == opt) return a;
    return -1;
}

/* A random configuration i with the values v[n] of the axes at[n], where they are not NAN.
 */
static weft_status complete(const weft_space *space, const char *file, int64_t i,
                            const int *at, int n, const double *v, double *conf)
{
    char name[128], value[64], range[256];
    weft_space_config(space, i, conf);
    for (int c = 0; c < n; c++)
        if (!isnan(v[c])) conf[at[c]] = v[c];
    weft_space_settle(space, (uint64_t)space->seed, (uint64_t)i, conf);
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
        at[c] = axis_of(space, known.axis[c].opt);
        if (at[c] < 0)
            return weft_fail(WEFT_ECONF,
                             "%s: column \"%s\" is no axis of this search; delete it, or "
                             "give %s a range",
                             known.file, name, name);
    }
    double *list = WEFT_NEW(mem, double, known.count * space->dim);
    for (int64_t i = 0; i < known.count; i++)
        TRY(complete(space, known.file, i, at, known.dim, known.list + i * known.dim,
                     list + i * space->dim));
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
