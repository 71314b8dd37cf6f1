/* Axes that exist only for certain values of others: draws, grids, lists, neighbours, and
 * error messages.
 * RUN: np=1 */
#include "scratch.h"

struct map {
    int kind, order, stop, groups, s1, s2;
    double alpha, width;
    const char *file;
};

static const weft_opt map_opts[] = {
    WEFT_INT_OPT("s2", struct map, s2, "5", 1, 9, "second size", .role = WEFT_PER_SAMPLE),
    WEFT_CHOICE_OPT("kind/method", struct map, kind, "bag", "bag|tfidf|nb/sif", "",
                    .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("order", struct map, order, "1", 1, 9, "", .role = WEFT_PER_SAMPLE),
    WEFT_BOOL_OPT("stop", struct map, stop, "no", "", .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("groups", struct map, groups, "1", 1, 9, "", .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("s1", struct map, s1, "3", 1, 9, "first size", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("alpha", struct map, alpha, "1", 1e-9, 1e9, "", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("width", struct map, width, "7", 0, 1e9, "", .role = WEFT_PER_TRIAL),
    WEFT_TEXT_OPT("file", struct map, file, "none", ""),
    {0},
};

struct model {
    double C;
    int hidden;
};
static const weft_opt model_opts[] = {
    WEFT_REAL_OPT("C", struct model, C, "1", 0, 1e9, "", .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("hidden", struct model, hidden, "8", 1, 99, "", .role = WEFT_SHAPE),
    {0},
};
static const weft_kind map_kind = WEFT_KIND("map", struct map, map_opts, "a map");
static const weft_kind model_kind = WEFT_KIND("model", struct model, model_opts, "a model");
static const weft_kind *const kinds[] = {&map_kind, &model_kind};

static weft_status read_space(weft_space *space, const char *text)
{
    return axes_of(space, text, kinds, 2, 1);
}

/* Axes: s2, kind, order, groups, alpha, model.C. */
enum { S2, KIND, ORDER, GROUPS, ALPHA, C, DIM };
static const char nested[] = "[map]\nmethod = bag | tfidf | nb\n"
                             "order = 1 .. 3 when kind = tfidf | sif\n"
                             "groups = 1 | 2 when map.order = 2 .. 3\n"
                             "s2 = 2 .. 4 when groups = 2 and kind = tfidf\n"
                             "alpha = log 0.01 .. 100\n"
                             "[model]\nC = 0 .. 4 when map.alpha = 1 .. 100\n";

/* 1 if the configuration has just the axes that it must have, with values in their ranges.
 */
static int is_right(const double *x)
{
    int order = x[KIND] >= 1, groups = order && x[ORDER] >= 2;
    int s2 = groups && x[GROUPS] >= 2 && x[KIND] <= 1;
    const int there[DIM] = {s2, 1, order, groups, 1, x[ALPHA] >= 1};
    const double lo[DIM] = {2, 0, 1, 1, 0.01, 0}, hi[DIM] = {4, 2, 3, 2, 100, 4};
    for (int a = 0; a < DIM; a++) {
        if (isnan(x[a]) == there[a]) return 0;
        if (there[a] && !(x[a] >= lo[a] && x[a] <= hi[a])) return 0;
    }
    return 1;
}

static void test_draws(void)
{
    enum { N = 20000 };
    weft_space space, plain;
    ok(read_space(&space, nested) == WEFT_OK && space.dim == DIM, "conditions are read: %s",
       weft_error());
    ok(read_space(&plain, "[map]\nkind = bag | tfidf | nb\nalpha = log 0.01 .. 100\n") ==
           WEFT_OK,
       "and a space without");
    int right = 1, same = 1, has[DIM] = {0};
    for (int i = 0; i < N; i++) {
        double x[DIM], y[DIM];
        weft_space_config(&space, i, x);
        weft_space_config(&plain, i, y);
        right &= is_right(x);
        same &= !(fabs(x[KIND] - y[0]) > 0) && !(fabs(x[ALPHA] - y[1]) > 0);
        for (int a = 0; a < DIM; a++) has[a] += weft_space_is_active(&space, x, a);
    }
    ok(right, "a configuration has an axis where its conditions are met, and only there");
    ok(same, "axes without conditions are drawn as if there were no others");
    const double share[DIM] = {1. / 3 * 2 / 3 / 2, 1, 2. / 3, 4. / 9, 1, 0.5};
    for (int a = 0; a < DIM; a++)
        is_near((double)has[a] / N, share[a], 0.02,
                "axis %d is there as often as it may be", a);
}

static void test_order(void)
{
    weft_space space;
    ok(read_space(&space, nested) == WEFT_OK, "conditions may name what comes later");
    int at[DIM], right = 1;
    for (int i = 0; i < DIM; i++) at[space.order[i]] = i;
    for (int a = 0; a < DIM; a++)
        for (int i = 0; i < space.axis[a].nwhen; i++)
            right &= at[space.axis[a].when[i].axis] < at[a];
    ok(right, "in sp.order every axis comes after those that it hangs on");
}

/* ---- grids ---- */

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, DIM * sizeof(double));
}

static void test_grid(void)
{
    weft_space space;
    const char *text = printed("[space]\nsource = grid\nlevels = 4\n%s", nested);
    ok(read_space(&space, text) == WEFT_OK, "a grid with conditions: %s", weft_error());
    /* bag 1; tfidf: order 1, or 2 3 with groups 1, or groups 2 and three s2; nb: no s2 */
    int maps = 1 + (1 + 2 * (1 + 3)) + (1 + 2 * 2);
    int models = 2 + 2 * 4; /* of the four alpha, two are at least 1 */
    is_near((double)space.count, maps * models, 0, "it has as many points as there are");
    double *x = WEFT_NEW(mem, double, space.count *DIM);
    int right = 1, distinct = 1;
    for (int64_t i = 0; i < space.count; i++) {
        weft_space_config(&space, i, x + i * DIM);
        right &= is_right(x + i * DIM);
    }
    qsort(x, (size_t)space.count, DIM * sizeof *x, by_bytes);
    for (int64_t i = 1; i < space.count; i++)
        distinct &= memcmp(x + (i - 1) * DIM, x + i * DIM, DIM * sizeof *x) != 0;
    ok(right, "each is one that may be");
    ok(distinct, "none comes twice");

    const char *wide = "[space]\nsource = grid\nlevels = 1000\n[map]\nkind = bag | tfidf\n"
                       "alpha = log 1 .. 2 when kind = tfidf\nwidth = 0 .. 1\n";
    ok(read_space(&space, wide) == WEFT_ELIMIT && says("lower space.levels"),
       "a grid that is too large is refused");
}

/* ---- around a configuration ---- */

static void test_near(void)
{
    weft_space space;
    int right = 1, same = 1, again = 1, born = 0, died = 0;
    must(read_space(&space, nested));
    for (int c = 0; c < 200; c++) {
        double centre[DIM], x[DIM], y[DIM];
        weft_space_config(&space, c, centre);
        weft_space_perturb(&space, centre, 0.3, 5, 0, x);
        same &= memcmp(x, centre, sizeof x) == 0;
        for (int i = 1; i < 50; i++) {
            weft_space_perturb(&space, centre, 0.3, 5, i, x);
            weft_space_perturb(&space, centre, 0.3, 5, i, y);
            right &= is_right(x);
            again &= memcmp(x, y, sizeof x) == 0;
            for (int a = 0; a < DIM; a++) {
                born += isnan(centre[a]) && !isnan(x[a]);
                died += isnan(x[a]) && !isnan(centre[a]);
            }
        }
    }
    ok(right && born > 100 && died > 100,
       "neighbours have the axes of their own values (%d came, %d went)", born, died);
    ok(same, "the first is the centre");
    ok(again, "all are functions of it");
}

static void test_settle(void)
{
    weft_space space;
    must(read_space(&space, nested));
    int right = 1, kept = 1, spread[4] = {0};
    for (int i = 0; i < 3000; i++) {
        double x[DIM];
        weft_space_config(&space, i, x);
        double was = x[ORDER];
        x[KIND] = i % 3;
        weft_space_settle(&space, 9, (uint64_t)i, x);
        right &= is_right(x);
        if (!isnan(was) && i % 3 > 0) kept &= !(fabs(x[ORDER] - was) > 0);
        if (isnan(was) && i % 3 > 0) spread[(int)x[ORDER]]++;
    }
    ok(right, "after a change axes come and go");
    ok(kept, "the others keep their values");
    ok(spread[1] > 100 && spread[2] > 100 && spread[3] > 100, "those that come are drawn");
}

/* ---- lists ---- */

static weft_status read_list(weft_space *space, const char *rows, const char *more)
{
    return read_space(space, printed("[space]\nsource = list\nfile = %s\n%s",
                                     write_text("list", rows), more));
}

static void test_list(void)
{
    weft_space space;
    double x[2];
    ok(read_list(&space, "kind\torder\nbag\t-\ntfidf\t2\nnb\t-\n", "") == WEFT_OK &&
           space.count == 3,
       "a list may say that a configuration has no such axis: %s", weft_error());
    weft_space_config(&space, 0, x);
    ok(isnan(x[1]) && space.axis[1].lo >= 2 && space.axis[1].hi <= 2, "by a dash");
    static const char when[] = "[map]\norder = 1 .. 3 when kind = tfidf\n";
    ok(read_list(&space, "kind\torder\nbag\t-\ntfidf\t2\n", when) == WEFT_OK,
       "conditions may stand beside a list: %s", weft_error());
    weft_space_perturb(&space, space.list + 2, 1, 1, 3, x);
    ok(x[0] > 0 || isnan(x[1]), "and are kept by neighbours");
    ok(read_list(&space, "kind\torder\nbag\t1\ntfidf\t2\n", when) == WEFT_ECONF &&
           says("configuration 0 has a value of map.order"),
       "a value that they exclude is refused: %s", weft_error());
    ok(read_list(&space, "kind\torder\nbag\t-\ntfidf\t-\n", when) == WEFT_ECONF &&
           says("configuration 1 has no value of map.order"),
       "and a missing one: %s", weft_error());
}

/* ---- options, words, mistakes ---- */

static void test_put(void)
{
    weft_space space;
    must(read_space(&space, nested));
    const double x[DIM] = {NAN, 1, 3, 1, 0.5, NAN};
    struct map map = {.order = 8, .s2 = 5};
    struct model model = {.C = 1};
    weft_space_put(&space, x, &map_kind, &map);
    weft_space_put(&space, x, &model_kind, &model);
    ok(map.kind == 1 && map.order == 3 && map.s2 == 5 && !(fabs(model.C - 1) > 0),
       "an option without its axis has its default");
    char text[256];
    weft_axes_show(space.axis, space.dim, x, text, sizeof text);
    ok(strcmp(text, "map.s2=- map.kind=tfidf map.order=3 map.groups=1 map.alpha=0.5 "
                    "model.C=-") == 0,
       "and is shown as a dash: %s", text);
    weft_axis_show(&space, S2, text, sizeof text);
    ok(strcmp(text, "2 .. 4 when map.groups = 2 and map.kind = tfidf") == 0,
       "an axis is shown with its conditions: %s", text);
}

static void test_fixed(void)
{
    weft_space space;
    ok(read_space(&space, "[map]\nkind = sif\norder = 1 .. 3 when kind = nb\n") ==
               WEFT_OK &&
           space.dim == 1 && space.axis[0].nwhen == 0,
       "by an option that is no axis, an axis exists always");
    ok(read_space(&space,
                  "[map]\nalpha = 1 .. 2 when order = 2 .. 3\norder = 1 .. 3 when kind "
                  "= tfidf\nwidth = 0 .. 1\n") == WEFT_OK &&
           space.dim == 1 && strcmp(space.axis[0].opt->name, "width") == 0,
       "or never, and with it what hangs on it");
    ok(read_space(&space, "[map]\nfile = a\nwidth = 0 .. 1 when file = b | a\n") ==
               WEFT_OK &&
           space.dim == 1,
       "texts are compared");
    ok(read_space(&space, "[map]\nfile = ab\nwidth = 0 .. 1 when file = a | abc\n") ==
               WEFT_OK &&
           space.dim == 0,
       "as a whole");
    ok(read_space(&space, "[map]\nkind = sif\nwidth = 0 .. 1 when order = 2 and kind = "
                          "nb\n") == WEFT_OK &&
           space.dim == 0,
       "all conditions must be met");
    ok(read_space(&space, "[map]\ns2 = 1 .. 3 when stop = yes\norder = 1 .. 3\n"
                          "groups = 1 | 2 when order = 2 .. 3\n") == WEFT_OK &&
           space.dim == 2 && space.axis[1].when[0].axis == 0,
       "those that are left hang on the same ones");
    ok(read_space(&space, "[map]\nkind = bag | nb\nalpha = 0.5 when kind = nb\n") ==
               WEFT_OK &&
           space.dim == 2 && space.axis[1].nvalue == 1,
       "one value with a condition is an axis, too");
}

static void refused(const char *text, const char *word, const char *statement)
{
    weft_space space;
    weft_status st = read_space(&space, text);
    ok(st == WEFT_ECONF && says(word), "%s: %s", statement, weft_error());
}

static void test_mistakes(void)
{
    refused("[map]\norder = 1 .. 3 when kin = bag\nkind = bag | nb\n", "did you mean",
            "an unknown option");
    refused("[map]\norder = 1 .. 3 when knid = bag\nkind = bag | nb\n",
            "did you mean map.kind?", "a misspelt one, by its name without the section");
    refused("[map]\norder = 1 .. 3 when kind = tfidff\nkind = bag | nb\n", "tfidff",
            "an unknown value");
    refused("[map]\norder = 1 .. 3 when kind = tfidf\nkind = bag | nb\n",
            "no value of the axis map.kind is \"tfidf\"", "a value that is not searched");
    refused("[map]\nwidth = 1 .. 3 when alpha = 2\nalpha = 1 .. 5\n",
            "no value of the axis", "one point of a continuum");
    refused("[map]\norder = 1 .. 3 when groups = 1\ngroups = 1 | 2 when order = 2\n",
            "depend on itself", "a circle");
    refused("[map]\nwidth = 0 .. 1 when order = 2\norder = some\n",
            "t.ini:3: ", "a wrong value of the option that is named, by its own line");
    refused("[map]\norder = 1 .. 3 when order = 1\n", "depend on itself",
            "an axis by itself");
    refused("[map]\nkind = bag | nb\nwidth = 0 .. 1 when kind = nb\n",
            "may change where this option must not",
            "an option of a trial by one of samples");
    refused("[map]\nwidth = 0 .. 1\n[model]\nhidden = 1 .. 9 when map.width = 0 .. 0.5\n",
            "may change where this option must not", "a size by an option of a trial");
}

/* A condition that meets a range, "0.5 .. 1", in one point can be met. */
static void test_edges(void)
{
    static const struct {
        const char *axis, *when;
        int met;
    } rows[] = {{"order = 2 .. 4", "4 .. 9", 1},    {"order = 2 .. 4", "1 .. 2", 1},
                {"order = 2 .. 4", "5 .. 9", 0},    {"order = 2 .. 4", "1 | 4", 1},
                {"order = 2 .. 4", "1 | 2", 1},     {"order = 2 .. 4", "1 | 5", 0},
                {"order = 2 | 4", "3 .. 9", 1},     {"order = 2 | 4", "3", 0},
                {"alpha = 1 .. 2", "0.5 .. 1", 1},  {"alpha = 1 .. 2", "2 .. 3", 1},
                {"alpha = 1 .. 2", "2.1 .. 3", 0},  {"alpha = 1 .. 1", "1", 1},
                {"alpha = 1 .. 2", "0.5 .. 0.9", 0}};
    for (size_t i = 0; i < LEN(rows); i++) {
        weft_space space;
        const char *name = rows[i].axis[0] == 'o' ? "order" : "alpha";
        weft_status st = read_space(&space, printed("[map]\n%s\ns1 = 1 .. 3 when %s = %s\n",
                                                    rows[i].axis, name, rows[i].when));
        ok(st == (rows[i].met ? WEFT_OK : WEFT_ECONF), "%s may be %s: %s", rows[i].axis,
           rows[i].when, rows[i].met ? "yes" : "no");
    }
}

MAIN(files, test_draws, test_order, test_grid, test_near, test_settle, test_list, test_put,
     test_fixed, test_mistakes, test_edges)
