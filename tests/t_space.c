/* Search spaces: ranges, random draws, grids, lists of configurations, and their errors.
 * RUN: np=1 */
#include "scratch.h"
#include "two_kinds.h"

static const char full[] = "[space]\n"
                           "source = random\n"
                           "configs = 20\n"
                           "[map]\n"
                           "alpha = log 1e-5 .. 10\n"
                           "method = remove | treebank\n"
                           "stop = no | yes\n"
                           "order = 1 .. 3\n"
                           "bins = 64\n"
                           "[model]\n"
                           "C = 0 .. 4\n"
                           "steps = 1|100\n";

static void test_axes(void)
{
    weft_space space;
    ok(read_space(&space, full, 1) == WEFT_OK, "a space is read");
    ok(space.dim == 6 && space.count == 20, "every range is an axis");
    ok(strcmp(space.axis[0].section, "map") == 0 && weft_opt_is(space.axis[0].opt, "cut"),
       "axes stand in the order of the option tables");
    ok(space.axis[0].nvalue == 2 && space.axis[0].value[1] == 2, "choices are values");
    ok(space.axis[1].nvalue == 2 && space.axis[1].value[0] == 0, "bools are values");
    ok(!space.axis[2].log && space.axis[2].lo == 1 && space.axis[2].hi == 3,
       "integers have ends");
    ok(space.axis[3].log && space.axis[3].lo == 1e-5 && space.axis[3].hi == 10,
       "log ranges are so");
    ok(space.axis[5].nvalue == 2 && space.axis[5].value[1] == 100, "numbers may be values");

    ok(read_space(&space, "[map]\nbins = 32\n", 1) == WEFT_OK && space.dim == 0 &&
           space.count == 1,
       "without a range there is one configuration");
    ok(read_space(&space, "[map]\nstop = no | yes\n", 1) == WEFT_OK && space.count == 64,
       "64 are drawn if nothing else is said");
}

static void test_used(void)
{
    weft_conf conf;
    weft_space space;
    weft_conf_init(&conf, mem);
    ok(weft_conf_text(&conf, "t.ini",
                      "[map]\nalpha = 1 .. 2\norder = 2\nnone = 1 .. 2\n") == WEFT_OK,
       "an input file is read");
    ok(weft_space_read(&space, &conf, kinds, 2, 1, mem) == WEFT_OK, "with a range in it");
    ok(conf.entry[0].used && !conf.entry[1].used && !conf.entry[2].used,
       "ranges of options count as used, other entries do not");
}

static void test_random(void)
{
    weft_space space, again, other;
    ok(read_space(&space, full, 1) == WEFT_OK && read_space(&again, full, 1) == WEFT_OK &&
           read_space(&other, full, 2) == WEFT_OK,
       "three spaces are read");
    double x[6], y[6], z[6];
    int n = 20000;
    int same = 1, differ = 0, inside = 1, whole = 1, order[4] = {0}, stop = 0;
    double logs = 0, squares = 0, mean = 0;
    for (int i = 0; i < n; i++) {
        weft_space_config(&space, i, x);
        weft_space_config(&again, n - 1 - i, y);
        weft_space_config(&again, i, y);
        weft_space_config(&other, i, z);
        same &= memcmp(x, y, sizeof x) == 0;
        differ += memcmp(x, z, sizeof x) != 0;
        inside &= (x[0] == 0 || x[0] == 2) && x[3] >= 1e-5 && x[3] <= 10 && x[4] >= 0 &&
                  x[4] <= 4 && (x[5] == 1 || x[5] == 100);
        whole &= x[2] == 1 || x[2] == 2 || x[2] == 3;
        order[(int)x[2] & 3]++;
        stop += x[1] > .5;
        double u = log(x[3] / 1e-5) / log(1e6);
        logs += u / n;
        squares += u * u / n;
        mean += x[4] / n;
    }
    ok(same, "a draw is a function of seed and index, in whatever order asked");
    ok(differ == n, "another seed gives other draws");
    ok(inside && whole, "draws are inside, integers whole");
    /* bounds: five standard errors of n draws */
    is_near(logs, .5, 5 * sqrt(1. / 12 / n), "logarithms are uniform: mean");
    is_near(squares, 1. / 3, 5 * sqrt(4. / 45 / n), "logarithms are uniform: square");
    is_near(mean, 2, 5 * sqrt(16. / 12 / n), "numbers are uniform");
    is_near((double)stop / n, .5, 5 * sqrt(.25 / n), "bools are uniform");
    is_near((double)order[1] / n, 1. / 3, 5 * sqrt(2. / 9 / n), "integers: the lower end");
    is_near((double)order[3] / n, 1. / 3, 5 * sqrt(2. / 9 / n), "integers: the upper end");
}

static void test_log_integers(void)
{
    weft_space space;
    ok(read_space(&space, "[model]\nsteps = log 1 .. 3\n", 1) == WEFT_OK, "log integers");
    int n = 20000;
    int count[5] = {0};
    for (int i = 0; i < n; i++) {
        double x;
        weft_space_config(&space, i, &x);
        count[x >= 0 && x <= 4 ? (int)x : 0]++;
    }
    ok(count[1] + count[2] + count[3] == n, "stay inside");
    /* v is drawn as floor of a log-uniform number on [1, 4) */
    is_near((double)count[1] / n, .5, 5 * sqrt(.25 / n), "and prefer the small: 1");
    is_near((double)count[3] / n, log(4. / 3) / log(4), 5 * sqrt(.17 / n),
            "and prefer the small: 3");
}

static void test_fixed_axis(void)
{
    weft_space space, fixed;
    ok(read_space(&space, full, 1) == WEFT_OK &&
           read_space(&fixed, "[map]\nalpha = log 1e-5 .. 10\norder = 1 .. 3\n", 1) ==
               WEFT_OK,
       "a space and a part of it");
    double x[6], y[2];
    int same = 1;
    for (int i = 0; i < 50; i++) {
        weft_space_config(&space, i, x);
        weft_space_config(&fixed, i, y);
        same &= x[2] == y[0] && x[3] == y[1];
    }
    ok(same, "draws of an axis do not depend on the other axes");

    weft_space twin;
    ok(read_space(&twin, "[map]\nalpha = 1 .. 2\n[model]\nalpha = 1 .. 2\n", 1) == WEFT_OK,
       "a space with two axes of one name");
    weft_space_config(&twin, 0, y);
    ok(twin.dim == 2 && fabs(y[0] - y[1]) > 0, "which are drawn apart");
}

static void test_grid(void)
{
    weft_space space;
    ok(read_space(&space,
                  "[space]\nsource = grid\nlevels = 4\n[map]\nstop = no | yes\n"
                  "order = 1 .. 3\nalpha = log 0.001 .. 1\n[model]\nC = 0 .. 3\n",
                  1) == WEFT_OK,
       "a grid is read");
    ok(space.count == 2 * 3 * 4 * 4, "a grid is the product of its axes");
    double x[4];
    weft_space_config(&space, 0, x);
    ok(x[0] == 0 && x[1] == 1 && x[2] == .001 && x[3] == 0, "it begins at the lower ends");
    weft_space_config(&space, space.count - 1, x);
    ok(x[0] == 1 && x[1] == 3 && x[2] == 1 && x[3] == 3, "and ends at the upper");
    weft_space_config(&space, 6, x);
    is_near(x[2], .01, 1e-15, "log axes are spaced by factors");
    is_near(x[3], 2, 1e-15, "others evenly, the last axis fastest");
}

static void test_crowded_grid(void)
{
    weft_space space;
    double x[1];
    ok(read_space(&space,
                  "[space]\nsource = grid\nlevels = 6\n[model]\nsteps = log 1 .. 40\n",
                  1) == WEFT_OK,
       "a grid of integers");
    const double want[6] = {1, 2, 4, 9, 19, 40};
    int good = space.count == 6;
    for (int64_t i = 0; good && i < 6; i++) {
        weft_space_config(&space, i, x);
        good &= x[0] == want[i];
    }
    ok(good, "1 2 4 9 19 40 are six levels of log 1 .. 40");
    ok(read_space(&space,
                  "[space]\nsource = grid\nlevels = 9\n[model]\nsteps = log 1 .. 12\n",
                  1) == WEFT_OK &&
           space.count == 9,
       "crowded integers");
    int distinct = 1;
    double before = 0;
    for (int64_t i = 0; i < 9; i++, before = x[0]) {
        weft_space_config(&space, i, x);
        distinct &= x[0] > before && x[0] == round(x[0]);
    }
    ok(distinct, "are distinct");
    ok(before == 12, "they reach the upper end");
    ok(read_space(&space, "[space]\nsource = grid\n[map]\nalpha = 2 .. 2\n", 1) ==
               WEFT_OK &&
           space.count == 1,
       "an axis of one point is one level");
}

static void test_bad_grids(void)
{
    weft_space space;
    ok(read_space(&space, "[space]\nsource = grid\nconfigs = 3\n[map]\norder = 1 .. 5\n",
                  1) == WEFT_ECONF &&
           says("3") && says("5"),
       "part of a grid is refused");
    ok(read_space(&space,
                  "[space]\nsource = grid\nlevels = 1000\n[map]\nalpha = 1 .. 2\n"
                  "[model]\nC = 1 .. 2\nsteps = 1 .. 99\n",
                  1) == WEFT_ELIMIT &&
           says("levels"),
       "too large a grid is refused");
}

static void refused(const char *line, const char *word, const char *about)
{
    weft_space space;
    const char *text = printed("[map]\n\n%s\n", line);
    weft_status st = read_space(&space, text, 1);
    ok(st == WEFT_ECONF && says("t.ini:3") && says(word), "%s: %s", about, weft_error());
}

static void test_bad_ranges(void)
{
    refused("alpha = 3 .. 1", "lower end", "ends in the wrong order are refused");
    refused("alpha = log 0 .. 1", "", "a log range from 0 is refused");
    refused("alpha = 1 .. 1e20", "", "an end beyond the option's bound is refused");
    refused("alpha = 1 .. x", "x", "an end that is no number is refused");
    refused("order = 1 .. 2.5", "2.5", "an end that is no integer is refused");
    refused("cut = remove .. split", "|", "an interval of choices is refused");
    refused("cut = remove | spilt", "split",
            "an unknown choice is answered by the nearest");
    refused("stop = no | no", "twice", "a value given twice is refused");
    refused("alpha = 0...5", "two dots", "and three dots, which may mean two things");
    refused("stop = no |", "", "an empty value is refused");
    const char *many = "alpha = 1";
    for (int i = 2; i <= 4096; i++) many = printed("%s|%d", many, i);
    weft_space space;
    ok(read_space(&space, printed("[map]\n%s\n", many), 1) == WEFT_OK, "4096 are read");
    refused(printed("%s|4097", many), "at most 4096 values", "4097 values are refused");
}

/* ---- as other programs write ranges ---- */

/* Keys of the user's own, beside the options of the map. */
static const weft_kind own_kind = {"own", "any keys", 1, weft_own_keys, NULL};

/* Reads "section.key = text"; returns what the entry is then, and its axis. */
static weft_status read_spelled(const char *section, const char *key, const char *text,
                                weft_space *space, const char **value)
{
    const weft_kind *both[] = {&map_kind, &own_kind};
    weft_conf conf;
    weft_conf_init(&conf, mem);
    must(weft_conf_text(&conf, "t.ini", printed("[%s]\n%s = %s\n", section, key, text)));
    weft_status st = weft_space_read(space, &conf, both, 2, 1, mem);
    *value = conf.entry[0].value;
    return st;
}

static void test_spelled(const char *section, const char *key, const char *text,
                         const char *native)
{
    weft_space space, plain;
    const char *value, *other;
    weft_status st = read_spelled(section, key, text, &space, &value);
    ok(st == WEFT_OK && strcmp(value, native) == 0, "%s.%s = %s is %s", section, key, text,
       st == WEFT_OK ? value : weft_error());
    must(read_spelled(section, key, native, &plain, &other));
    int same = strcmp(other, native) == 0 && space.dim == plain.dim;
    for (int i = 0; i < 20 && same && space.dim; i++) {
        double x, y;
        weft_space_config(&space, i, &x);
        weft_space_config(&plain, i, &y);
        same &= x <= y && x >= y;
    }
    ok(same, "and the same axis");
}

static void test_spellings(void)
{
    test_spelled("map", "alpha", "loguniform(1e-4, 1)", "log 1e-4 .. 1.0");
    test_spelled("map", "alpha", "uniform( 0.5 ,2)", "0.5 .. 2.0");
    test_spelled("map", "order", "uniform(1, 3)", "1.0 .. 3.0");
    test_spelled("map", "alpha", "[1, 2.5, 1e-3]", "1 | 2.5 | 1e-3");
    test_spelled("map", "alpha", "0.1, 0.01", "0.1 | 0.01");
    test_spelled("map", "cut", "[\"remove\", 'split']", "remove | split");
    test_spelled("map", "cut", "remove, split", "remove | split");
    test_spelled("map", "stop", "[true, false]", "true | false");
    test_spelled("map", "order", "[1, 2, 4] when stop = no", "1 | 2 | 4 when stop = no");
    test_spelled("own", "rate", "uniform(0, 1)", "0.0 .. 1.0");
    test_spelled("own", "rate", "loguniform(2^-3, 2) per trial",
                 "log 2^-3 .. 2.0 per trial");
    test_spelled("own", "rate", "0.1, 0.01", "0.1 | 0.01");
    test_spelled("own", "size", "[16, 32, 64]", "16 | 32 | 64");
    test_spelled("own", "size", "[[50], [50, 50], (1, 2)]", "[50] | [50, 50] | (1, 2)");
    test_spelled("own", "how", "[\"a, b\", \"c\"] per trial", "a, b | c per trial");
    test_spelled("own", "size", "16 .. 256 step 16 per trial",
                 "16 .. 256 step 16 per trial");
    test_spelled("own", "text", "\"[1, 2]\"", "\"[1, 2]\"");
    test_spelled("own", "text", "[1]", "[1]");
    test_spelled("own", "text", "[1, 2] | [3]", "[1, 2] | [3]");
    static const char *const bad[][2] = {
        {"own", "a, b"},   {"own", "hp.choice([1, 2])"}, {"own", "normal(0, 1)"},
        {"own", "(1, 2)"}, {"own", "uniform(0, 1, 2)"},  {"own", "uniform(a, 1)"},
        {"own", "[1, ]"},  {"own", "[\"\", \"a\"]"},     {"own", "[\"a\\n\", \"b\"]"}};
    for (size_t i = 0; i < LEN(bad); i++) {
        weft_space space;
        const char *value, *key = strcmp(bad[i][0], "own") == 0 ? "any" : "alpha";
        ok(read_spelled(bad[i][0], key, bad[i][1], &space, &value) == WEFT_ECONF &&
               says("t.ini:2: ") && strcmp(value, bad[i][1]) == 0,
           "not a range that is known: %s", weft_error());
    }
}

static void test_steps(void)
{
    weft_space space;
    ok(read_space(&space, "[model]\nsteps = 16 .. 64 step 16\n", 1) == WEFT_OK,
       "integers with a step");
    int n = 20000, count[5] = {0}, others = 0;
    for (int i = 0; i < n; i++) {
        double x;
        weft_space_config(&space, i, &x);
        others += x < 16 || x > 64 || fmod(x, 16) > 0;
        count[(int)(x / 16) & 3]++;
    }
    ok(others == 0, "are these alone");
    is_near((double)count[1] / n, .25, 5 * sqrt(.19 / n), "with equal probabilities: 16");
    is_near((double)count[0] / n, .25, 5 * sqrt(.19 / n), "64");
    char text[64];
    weft_axis_show(&space, 0, text, sizeof text);
    ok(strcmp(text, "16 .. 64 step 16") == 0, "they are shown as written: %s", text);
    ok(weft_axis_is_ordered(&space.axis[0]) &&
           weft_axis_step(&space.axis[0], 32, 1) == 48 &&
           weft_axis_step(&space.axis[0], 64, 1) == 64,
       "and have an order");
    ok(read_space(&space,
                  "[space]\nsource = grid\nlevels = 2\n[model]\n"
                  "steps = 1 .. 9 step 2 when C = 1 .. 5 step 2\n[model]\nC = 1 | 2\n",
                  1) == WEFT_ECONF,
       "steps of a number that is not whole are refused: %s", weft_error());
    ok(read_space(&space,
                  "[space]\nsource = grid\nlevels = 3\n[model]\n"
                  "steps = 1 .. 9 step 2 when map.order = 1 .. 3 step 2\n"
                  "[map]\norder = 1 .. 3\n",
                  1) == WEFT_OK &&
           space.count == 5 + 1 + 5,
       "a grid has all of them, a condition may have some: %lld %s", (long long)space.count,
       weft_error());
    refused("alpha = 1 .. 2 step 0.5", "step", "a step of real numbers is refused");
    refused("alpha = 1 .. 2 step 1", "integers", "whole as it may be");
    refused("order = log 1 .. 4 step 1", "log", "so is one of a log range");
    refused("order = 1 .. 4 step 2", "is 3", "one that misses the end");
    refused("order = 1 .. 4 step 0", "0", "one of 0");
    refused("order = 1 .. 4 step", "step", "and none");
}

static void test_many_values(void)
{
    weft_space space;
    const char *many = "[own]\nword = w0", *value;
    for (int i = 1; i < 300; i++) many = printed("%s | w%d", many, i);
    const weft_kind *own[] = {&own_kind};
    ok(axes_of(&space, many, own, 1, 1) == WEFT_OK && space.axis[0].nvalue == 300,
       "300 words are read");
    static int seen[300];
    int n = 0;
    for (int i = 0; i < 5000; i++) {
        double x;
        weft_space_config(&space, i, &x);
        n += !seen[(int)x]++;
    }
    ok(n == 300, "and drawn, every one of them");
    char text[64];
    weft_opt_show(space.axis[0].opt, 299, text, sizeof text);
    ok(strcmp(text, "w299") == 0, "the last is %s", text);
    ok(read_spelled("own", "n", "1 .. 8193 step 2", &space, &value) == WEFT_ECONF &&
           says("at most 4096"),
       "4097 steps are refused: %s", weft_error());
    ok(read_spelled("own", "n", "1 .. 8191 step 2", &space, &value) == WEFT_OK,
       "4096 are read");
}

static weft_status read_list(weft_space *space, const char *rows, const char *more)
{
    return read_space(
        space,
        printed("[space]\nsource = list\nfile = %s\n%s", write_text("list", rows), more),
        1);
}

static void test_list(void)
{
    weft_space space;
    double x[3];
    const char rows[] = "map\tmap.alpha\tmethod\tstop\r\n"
                        "0\t0.0196282248134428\tsimple\tFalse\r\n"
                        "\r\n"
                        "1\t1.29e-05 \tcustom\tTrue\n"
                        "2\t10\tnltk\tno";
    ok(read_list(&space, rows, "") == WEFT_OK, "a list is read");
    ok(space.count == 3 && space.dim == 3,
       "its columns are the axes, its lines configurations");
    weft_space_config(&space, 0, x);
    ok(x[0] == 0.0196282248134428 && x[1] == 0 && x[2] == 0, "the first line is read");
    weft_space_config(&space, 1, x);
    ok(x[0] == 1.29e-05 && x[1] == 1 && x[2] == 1, "empty lines and blanks are skipped");
    weft_space_config(&space, 2, x);
    ok(x[0] == 10 && x[1] == 2 && x[2] == 0, "the last line needs no end");
    ok(space.axis[0].lo == 1.29e-05 && space.axis[0].hi == 10 && space.axis[0].nvalue == 0,
       "axes of numbers span their columns");
    ok(space.axis[1].nvalue == 3 && space.axis[1].value[1] == 1 &&
           space.axis[2].nvalue == 2,
       "axes of choices have the values of theirs");
    ok(read_list(&space, rows, "configs = 2\n[map]\nalpha = 1 .. 2\n") == WEFT_OK &&
           space.count == 2,
       "a list replaces a range, and its first lines can be taken");

    char long_list[4000] = "\xef\xbb\xbfid\tmap.alpha\n";
    for (int i = 0; i < 200; i++)
        snprintf(long_list + strlen(long_list), 16, "7\t%d\n", i + 1);
    ok(read_list(&space, long_list, "") == WEFT_OK && space.count == 200,
       "200 lines are read, and a byte order mark is taken off");
    int good = 1;
    for (int64_t i = 0; i < 200; i++) {
        weft_space_config(&space, i, x);
        good &= x[0] == (double)(i + 1);
    }
    ok(good, "and kept");
}

/* Columns of one name in two sections, and ranges that stand beside a list. */
static void test_list_sections(void)
{
    weft_space space;
    double x[3];
    ok(read_list(&space, "model.alpha\tmap.alpha\tsteps\n3\t5\t10\n",
                 "[map]\nalpha = log 1 .. 100\n[model]\nsteps = 1 | 10 | 100\n") == WEFT_OK,
       "a column may name its section");
    weft_space_config(&space, 0, x);
    ok(space.count == 1 && x[0] == 3 && x[1] == 5 &&
           strcmp(space.axis[0].section, "model") == 0,
       "and then is that section's");
    ok(space.axis[1].log && space.axis[1].lo == 1 && space.axis[1].hi == 100,
       "a range beside the list gives the axis its box");
    ok(space.axis[2].nvalue == 3 && !space.axis[0].log && space.axis[0].hi == 3,
       "or its values, and others span their columns");
    char text[200];
    weft_axes_show(space.axis, space.dim, x, text, sizeof text);
    ok(strcmp(text, "model.alpha=3 map.alpha=5 model.steps=10") == 0,
       "names are shown with their sections: %s", text);
    ok(read_list(&space, "C\n3\n9\n", "[model]\nC = 4 .. 5\n") == WEFT_OK &&
           space.axis[0].lo == 3 && space.axis[0].hi == 9,
       "a box is widened to hold the list");
    ok(read_list(&space, "C\n0\n", "[model]\nC = log 1 .. 2\n") == WEFT_OK &&
           !space.axis[0].log && space.axis[0].lo == 0,
       "and is not logarithmic where the list has a 0");
    ok(read_list(&space, "method\nremove\nsplit\n", "[map]\nmethod = split | treebank\n") ==
               WEFT_OK &&
           space.axis[0].nvalue == 3,
       "values are added to those of a range");
}

/* What is warned of where a list is beyond a range; "" if nothing is. */
static void warned(const char *rows, const char *more, const char *want)
{
    weft_space space;
    static char line[512];
    const char *path = at("said.txt");
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    weft_check(kept >= 0 && freopen(path, "w", stderr) != NULL, "no %s", path);
    weft_level level = weft_log_level();
    weft_log_set(WEFT_WARN, 0);
    weft_status st = read_list(&space, rows, more);
    weft_log_set(level, 0);
    fflush(stderr);
    weft_check(dup2(kept, STDERR_FILENO) >= 0, "stderr is lost");
    close(kept);
    FILE *file = fopen(path, "r");
    *line = '\0';
    int lines = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    ok(st == WEFT_OK && lines == (*want != 0) && strstr(line, want), "warned of: %s",
       *want ? want : "nothing");
}

static void test_warnings(void)
{
    warned("C\n4\n5\n", "[model]\nC = 4 .. 5\n", "");
    warned("C\n4\n9\n", "[model]\nC = 4 .. 5\n",
           ": configuration 1 has model.C = 9, which is not in 4 .. 5; ");
    warned("C\n9\n4\n3\n", "[model]\nC = 4 .. 5\n",
           ": configuration 0 has model.C = 9, which is not in 4 .. 5 (nor are 1 more); ");
    warned("C\n9\n4\n3\n", "[model]\nC = 4 | 5\n",
           ": configuration 0 has model.C = 9, which is not in 4 | 5 (nor are 1 more); ");
}

static void bad_list(const char *rows, const char *more, const char *word,
                     const char *about)
{
    weft_space space;
    weft_status st = read_list(&space, rows, more);
    ok(st == WEFT_ECONF && says(word), "%s: %s", about, weft_error());
}

static void test_bad_lists(void)
{
    weft_space space;
    bad_list("map\talhpa\n0\t1\n", "", "\"alpha\"", "an unknown column is answered");
    bad_list("map\tbins\n0\t1\n", "", "bins", "a column of a fixed option is refused");
    bad_list("cut\tmethod\nsplit\tsplit\n", "", "already", "an option twice is refused");
    bad_list("id\tmap.alpha\n1\t.5\n2\t1\n\n3\t0.50\n", "",
             ":5: the configuration of line 2", "a configuration twice is refused");
    bad_list("C\tstop\n1\tno\n1\n", "", ":3:", "a short line is refused");
    bad_list("C\tstop\n1\tno\tno\n", "", ":2:", "a long line is refused");
    bad_list("C\tstop\n\n1\tmaybe\n", "", ":3: stop", "a wrong value is refused");
    bad_list("C\n-4\n", "", ":2: C", "a value out of bounds is refused");
    bad_list("C\n\t\n", "", ":2:", "a line of nothing but TAB is refused");
    bad_list("C\n", "", "0 configurations", "a list without lines is refused");
    bad_list("", "", "0 options", "an empty list is refused");
    bad_list("map\n1\n", "", "0 options", "a list of labels is refused");
    bad_list("\xff\xfe\0\n", "", "", "a list that is no text is refused");
    bad_list("C\n1\n", "[map]\nstop = no | yes\n", "no such column",
             "a range that the list lacks is refused");
    bad_list("map\talpha\n0\t1\n", "", "\"map.alpha\" or \"model.alpha\"",
             "a name of two is refused");
    ok(read_space(&space, "[space]\nsource = list\n", 1) == WEFT_ECONF &&
           says("space.file"),
       "a list without a file is refused");
    ok(read_space(&space, "[space]\nsource = list\nfile = /nonexistent/list.tsv\n", 1) ==
               WEFT_EFILE &&
           says("/nonexistent/list.tsv"),
       "a missing list is named");
    ok(read_space(&space, "[space]\nsource = list\nfile = /tmp\n", 1) == WEFT_EFILE &&
           says("/tmp"),
       "a directory is no list");
}

static void test_put(void)
{
    weft_space space;
    weft_conf conf;
    struct map map;
    struct model model;
    weft_conf_init(&conf, mem);
    ok(weft_conf_text(&conf, "t.ini", full) == WEFT_OK &&
           weft_space_read(&space, &conf, kinds, 2, 1, mem) == WEFT_OK &&
           weft_conf_bind(&conf, &map_kind, &map) == WEFT_OK &&
           weft_conf_bind(&conf, &model_kind, &model) == WEFT_OK,
       "ranges are left out when instances are filled");
    const double x[6] = {2, 1, 3, .25, 1.5, 100};
    weft_space_put(&space, x, &map_kind, &map);
    ok(map.cut == 2 && map.stop == 1 && map.order == 3 && map.alpha == .25 &&
           map.bins == 64,
       "a configuration is written into its plug-in");
    ok(model.C == 1 && model.steps == 10, "and into no other");
    weft_space_put(&space, x, &model_kind, &model);
    ok(model.C == 1.5 && model.steps == 100, "each plug-in has its part");

    char text[200], cut[9];
    weft_axes_show(space.axis, space.dim, x, text, sizeof text);
    ok(strcmp(text, "map.cut=treebank map.stop=true map.order=3 map.alpha=0.25 "
                    "model.C=1.5 model.steps=100") == 0,
       "a configuration is shown as a user would write it: %s", text);
    weft_axes_show(space.axis, space.dim, x, cut, sizeof cut);
    ok(strcmp(cut, "map.cut=") == 0, "as far as there is room");
}

/* ---- one axis alone ---- */

/* In the order of axes: cut, order, map.alpha, C, steps. */
static void test_defaults(void)
{
    weft_space space;
    double x[5], y[5];
    ok(read_space(&space,
                  "[space]\nfirst = defaults\n"
                  "[map]\ncut = split | treebank\norder = 1 .. 3\nalpha = log 2 .. 8\n"
                  "[model]\nC = 0.1 .. 10\nsteps = 20 .. 30 when map.order = 2 .. 3\n",
                  1) == WEFT_OK,
       "a search may begin with the defaults");
    weft_space_config(&space, 0, x);
    weft_space_config(&space, 1, y);
    is_near(x[3], 1, 0, "which it has where ranges have them");
    is_near(x[1], 1, 0, "whole numbers, too");
    is_near(x[2], 2, 0, "or the end of the range that is next to it");
    is_near(x[0], 1, 0, "or the first value of a list without it");
    ok(isnan(x[4]), "an axis that does not exist then has none");
    ok(fabs(y[3] - 1) > 0, "the second configuration is drawn");
    is_near((double)space.count, 64, 0, "the search is as long as it was");
}

MAIN(files, test_axes, test_used, test_random, test_defaults, test_log_integers,
     test_fixed_axis, test_grid, test_crowded_grid, test_bad_grids, test_bad_ranges,
     test_spellings, test_steps, test_many_values, test_list, test_list_sections,
     test_warnings, test_bad_lists, test_put)
