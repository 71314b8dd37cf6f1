/* Combinations that space.forbid excludes: draws, grids, lists, neighbours, every schedule
 * with every sampler and mixing; and ranges as other programs write them.
 * RUN: np=1 */
#include "scratch.h"
#include "tuner_case.h"
#include "two_kinds.h"

#define NOT "[space]\nforbid = "

/* Axes: order, alpha of map, C. */
static const char three[] = "[map]\norder = 1 .. 4\nalpha = 1 .. 2 when order = 2 .. 4\n"
                            "[model]\nC = 1 | 2 | 3\n";
static const char pair[] = "map.order = 2 and model.C = 1 | 3 or map.alpha = 1.5 .. 2";

static int is_out(const double *x)
{
    return (x[0] == 2 && x[2] != 2) || x[1] >= 1.5;
}

static void test_draws(void)
{
    weft_space space, all;
    ok(read_space(&space, printed(NOT "%s\n%s", pair, three), 1) == WEFT_OK,
       "combinations are read");
    must(read_space(&all, three, 1));
    ok(space.nforbid == 2 && space.forbidden[0].n == 2 && space.forbidden[1].n == 1,
       "with their conditions");
    int none = 1, kept = 1, count[5] = {0}, n = 20000, in = 0;
    for (int i = 0; i < n; i++) {
        double x[3], y[3];
        weft_space_config(&space, i, x);
        weft_space_config(&all, i, y);
        none &= !is_out(x);
        kept &= is_out(y) || memcmp(x, y, sizeof x) == 0;
        in += is_out(y);
        count[(int)x[0]]++;
    }
    ok(none, "no random configuration has one");
    ok(kept, "those that are allowed are what they were");
    ok(in > n / 4, "of the others there were many");
    /* of order 1 all are allowed, of 2 a sixth, of 3 and 4 a half: 6 : 1 : 3 : 3 */
    is_near(count[1] / (double)n, 6. / 13, 5 * sqrt(.25 / n), "draws are uniform: order 1");
    is_near(count[2] / (double)n, 1. / 13, 5 * sqrt(.08 / n), "order 2");
    is_near(count[4] / (double)n, 3. / 13, 5 * sqrt(.18 / n), "order 4");
    const double lacks[3] = {1, NAN, 1}, has[3] = {2, 1.2, 3};
    ok(!weft_space_forbids(&space, lacks),
       "what an axis that does not exist meets, is none");
    const char *text = weft_space_forbids(&space, has);
    ok(text && strcmp(text, "map.order = 2 and model.C = 1 | 3") == 0,
       "a combination is named");
}

static void test_grids(void)
{
    weft_space space;
    ok(read_space(&space, printed(NOT "%s\nsource = grid\n%s", pair, three), 1) == WEFT_OK,
       "a grid with combinations is read");
    /* order 1: 3; order 2: alpha 1 and 1.25 with C 2; orders 3 and 4: 2 * 3 each */
    ok(space.count == 3 + 2 + 6 + 6, "and has the other points: %lld",
       (long long)space.count);
    int none = 1;
    for (int64_t i = 0; i < space.count; i++) {
        double x[3];
        weft_space_config(&space, i, x);
        none &= !is_out(x);
    }
    ok(none, "and these alone");
    ok(read_space(&space, NOT "map.order = 1 .. 2\nsource = grid\n[map]\norder = 1 .. 2\n",
                  1) == WEFT_ECONF &&
           says("all points"),
       "a grid without a point is refused: %s", weft_error());
}

static void refuses(weft_status st, const char *word, const char *about)
{
    ok(st == WEFT_ECONF && says(word), "%s: %s", about, weft_error());
}

static void test_lists(void)
{
    weft_space space;
    const char *rows = write_text("list", "order\tC\n1\t1\n\n2\t2\n2\t3\n");
    refuses(read_space(&space,
                       printed(NOT "map.order = 2 and model.C = 3\nsource = list\n"
                                   "file = %s\n",
                               rows),
                       1),
            "list:5: ", "a list with one is refused with its line");
    ok(read_space(
           &space,
           printed(NOT "map.order = 1 and model.C = 3\nsource = list\nfile = %s\n", rows),
           1) == WEFT_OK,
       "one without is read");
    refuses(read_space(
                &space,
                printed(NOT "map.order = 2 and model.C = 3\nfirst = %s\n%s", rows, three),
                1),
            "list:5: ", "so is one that a search begins with");
    const char *some =
        write_text("some", "order\tmap.alpha\n2\t1.1\n2\t1.2\n2\t1.3\n2\t1.4\n2\t1.45\n");
    ok(read_space(&space, printed(NOT "%s\nfirst = %s\n%s", pair, some, three), 1) ==
           WEFT_OK,
       "what a list leaves out is drawn");
    int right = space.listed == 5;
    for (int64_t i = 0; right && i < 5; i++) {
        double x[3];
        weft_space_config(&space, i, x);
        right &= x[0] == 2 && x[2] == 2;
    }
    ok(right, "so that nothing is forbidden");
    double x[3], y[3];
    must(read_space(&space, printed(NOT "map.order = 1\nfirst = defaults\n%s", three), 1));
    weft_space_config(&space, 0, x);
    must(read_space(&space, printed(NOT "map.order = 1\n%s", three), 1));
    weft_space_config(&space, 0, y);
    ok(memcmp(x, y, sizeof x) == 0, "defaults that are forbidden are not begun with");
}

static void test_near(void)
{
    weft_space space;
    must(read_space(&space, printed(NOT "%s\n%s", pair, three), 1));
    const double centre[3] = {2, 1.4, 2}, alone[3] = {2, 1.45, 2};
    int none = 1, moved = 0, stays = 0;
    for (int i = 0; i < 1000; i++) {
        double x[3];
        weft_space_perturb(&space, centre, .4, 5, i, x);
        none &= !is_out(x);
        moved += memcmp(x, centre, sizeof x) != 0;
        stays += x[0] == 2;
    }
    ok(none, "no neighbour is forbidden");
    ok(moved > 950 && stays > 50 && stays < 500, "they move: %d, %d", moved, stays);
    must(read_space(&space,
                    printed(NOT "map.order = 1 | 3 | 4 or map.alpha = 1.451 .. 2 or "
                                "map.alpha = 1 .. 1.449\n%s",
                            "[map]\norder = 1 .. 4\nalpha = 1.43 .. 1.47\n"
                            "[model]\nC = 2 | 2.5 | 2.25\n"),
                    1));
    int same = 0;
    none = 1;
    for (int i = 0; i < 1000; i++) {
        double x[3];
        weft_space_perturb(&space, alone, 1, 5, i, x);
        none &= x[0] == 2 && fabs(x[1] - 1.45) <= .001;
        same += memcmp(x, alone, sizeof x) == 0;
    }
    ok(none && same > 50 && same < 900, "where few are allowed some are the centre: %d",
       same);
}

static void test_mistakes(void)
{
    weft_space space;
    refuses(read_space(&space, printed(NOT "map.order = 1 .. 4\n%s", three), 1), "100 %",
            "a space in which all is forbidden is refused with the share");
    refuses(read_space(&space,
                       printed(NOT "map.alpha = 1 .. 1.9995\n[map]\nalpha = 1 .. 2\n"), 1),
            "99.", "so is one in which nearly all is");
    ok(read_space(&space, printed(NOT "map.alpha = 1 .. 1.99\n[map]\nalpha = 1 .. 2\n"),
                  1) == WEFT_OK,
       "a hundredth is enough");
    refuses(read_space(&space, printed(NOT "map.oder = 1\n%s", three), 1), "map.order",
            "an unknown option is answered by the nearest");
    refuses(read_space(&space, printed(NOT "map.order\n%s", three), 1),
            "section.key = values", "no condition");
    refuses(read_space(&space, printed(NOT "map.order = 1 and\n%s", three), 1), "",
            "nothing after and");
    refuses(read_space(&space, printed(NOT "map.order = 7\n%s", three), 1), "7",
            "a value out of bounds is refused");
    refuses(read_space(&space, printed(NOT "map.order = 5\n%s", three), 1),
            "no value of the axis map.order", "a value that the axis has not");
    refuses(read_space(&space, printed(NOT "map.bins = 16\n%s", three), 1),
            "every configuration", "one that every configuration has");
    ok(read_space(&space, printed(NOT "map.bins = 17 and map.order = 1\n%s", three), 1) ==
               WEFT_OK &&
           space.nforbid == 0,
       "one that none has is left out");
    ok(read_space(&space, printed(NOT "map.bins = 16 and map.order = 1\n%s", three), 1) ==
               WEFT_OK &&
           space.nforbid == 1 && space.forbidden[0].n == 1,
       "of one that all have the rest counts");
    ok(read_space(&space,
                  printed(NOT "map.stop = yes and map.order = 1\n[map]\n"
                              "stop = no | yes when map.bins = 3\norder = 1 .. 2\n"),
                  1) == WEFT_OK &&
           space.nforbid == 0,
       "so is one of an axis that never exists");
}

/* ---- schedules, samplers, mixings ---- */

static const char *const options[][2] = {
    {"hyperband", "max_resource = 4\nrepeats = 4\nreduction = 2"},
    {"sha", "reduction = 2\nrungs = geometric\nmax_resource = 4"},
    {"asha", "reduction = 2\nmax_resource = 4"},
    {"pbt", "population = 6\ninterval = 1\nmax_resource = 12"},
    {"one", "resource = 60\nexplore = 0.5\neach = 1\nparts = 5\nothers = 10"},
    {"ws_eg", "rounds = 4\nswitch = 2"},
    {"ws_one", "resource = 4"},
    {"tpe", "startup = 4"},
    {"kde", "points = 4"},
    {"forest", "design = 4\ntrees = 8\ngenerations = 20"},
    {"fedex", "k = 5\neps = 0.5"},
    {"mw", "k = 5\neps = 0.5"},
};

static const char *options_of(const char *name)
{
    for (size_t i = 0; i < LEN(options); i++)
        if (strcmp(options[i][0], name) == 0) return options[i][1];
    return "";
}

/* The best are forbidden: error rates rise with x, the first axis. n is the second, y the
 * third. */
static const char corner[] = "client.x = 0 .. 0.4 and client.n = 1 .. 60";

static void test_method(const weft_tuner *tuner, const char *sampler, const char *more,
                        const char *mixing)
{
    tuner_case example = {
        .tuner = tuner,
        .k = 40,
        .mode = FULL,
        .samples = 10,
        .open = 3,
        .seed = 3,
        .axes = tuner->shared ? "n = 1 .. 99" : "n = 1 .. 99\n[server]\ny = 0 .. 1",
        .options = printed(
            "%s\n[run]\nsampler = %s\nmixing = %s\n[%s]\n%s\n%s\n[%s]\n%s\n" NOT "%s",
            options_of(tuner->kind.name), sampler, mixing, sampler, options_of(sampler),
            more, mixing, tuner->shared ? "" : options_of(mixing), corner)};
    job_log jobs = all_jobs(&example);
    int out = 0, low = 0, all = 0;
    for (int j = 0; j < jobs.n; j++)
        for (int i = 0; i < jobs.job[j].mix.k; i++, all++) {
            const double *x = jobs.job[j].mix.conf + (size_t)i * jobs.job[j].mix.dim;
            out += x[0] <= .4 && x[1] <= 60;
            low += x[0] <= .4;
        }
    ok(all > 10 && out == 0, "%s, %s%s, %s: nothing is forbidden of %d", tuner->kind.name,
       sampler, more, mixing, all);
    if (strcmp(mixing, "none") == 0 && strcmp(tuner->kind.name, "random") == 0 &&
        strcmp(sampler, "space") != 0)
        ok(low > all / 3, "which learns where the best are that are allowed: %d of %d", low,
           all);
}

static void test_searches(void)
{
    static const char *const sampler[][2] = {
        {"space", ""}, {"tpe", ""}, {"tpe", "form = joint"}, {"kde", ""}, {"forest", ""}};
    for (const weft_tuner *const *tuner = weft_tuners; *tuner; tuner++) {
        if ((*tuner)->shared) {
            int one = strcmp((*tuner)->kind.name, "ws_one") == 0;
            test_method(*tuner, "space", "", one ? "mw" : "none");
            continue;
        }
        for (size_t s = 0; s < LEN(sampler); s++)
            test_method(*tuner, sampler[s][0], sampler[s][1], "none");
        if ((*tuner)->sizes) continue;
        test_method(*tuner, "space", "", "fedex");
        test_method(*tuner, "tpe", "", "mw");
    }
}

static void test_levels(void)
{
    test_search search;
    weft_status st = test_search_read(
        &search, &weft_tuner_random,
        printed("[client]\nx = 0 .. 1\nn = 1 .. 99\n[run]\nmixing = fedex\n[fedex]\n"
                "levels = 3\n" NOT "%s",
                corner),
        1, 0);
    refuses(st, "use fedex.k", "a mixture of independent options is refused");
}

MAIN(files, test_draws, test_grids, test_lists, test_near, test_mistakes, test_searches,
     test_levels)
