/* What a list of known trials becomes: results by trial, resources, other data, trials that
 * diverged, what is left out, and the configuration that a search begins with. RUN: np=1 */
#include "functions.h"
#include "sampler/learn.h"

static const char *const three = "x0 = 0 .. 1\nx1 = 0 .. 1 when b = q\nb = p | q\n";
enum { X0, X1, B };

static weft_status told(const char *axes, const char *list, const char *more,
                        struct minimizer *minimizer)
{
    const char *options =
        printed("[space]\nprior = %s\n%s[run]\nsampler = tpe\n", list, more);
    return minimizer_begin(minimizer, axes, options, 4, 1);
}

static const weft_space *space_of(const char *axes, const char *list, const char *more)
{
    struct minimizer *minimizer = WEFT_NEW(mem, struct minimizer, 1);
    must(told(axes, list, more, minimizer));
    return &minimizer->space;
}

static void test_results(void)
{
    static const int64_t trial[7] = {0, 0, 1, 2, 3, 4, 5};
    static const double x[7] = {.1, .1, .1, .2, .3, .3, .4};
    static const double loss[7] = {.5, .4, .3, INFINITY, .2, .1, .6};
    const weft_space *space = space_of(
        three,
        "f.x0=.1 f.b=p loss=.5 resource=1 aim1=1 aim2=2 aim3=3 aim4=4 aim5=5 aim6=6 "
        "aim7=7, f.x0=.1 f.b=p loss=.4 resource=2, "
        "f.x0=.1 f.b=p loss=.3 resource=2, f.x0=.2 f.b=q f.x1=.5 loss=- resource=1, "
        "f.x0=7 f.b=p loss=0 resource=9, f.x0=.3 f.b=p loss=.2 resource=2 other=1, "
        "f.x0=.3 f.b=p loss=.1 resource=3 other=2 excess=.5, "
        "f.x0=.4 f.b=p loss=.6 resource=4 other=2",
        "");
    int good = space->nknown == 7;
    ok(good, "a value beyond its range is left out");
    for (int i = 0; i < 7 && good; i++) {
        const weft_known *known = &space->known[i];
        ok(known->trial == trial[i], "result %d is of trial %d", i, (int)trial[i]);
        ok(fabs(known->conf[X0] - x[i]) < 1e-15 && !(fabs(known->loss - loss[i]) > 0) &&
               known->aim[0] <= known->loss && known->aim[0] >= known->loss,
           "with its value and loss");
    }
    if (!good) return;
    int aims = 1;
    for (int g = 1; g < WEFT_MAX_GOALS; g++)
        aims &= space->known[0].aim[g] == g && isnan(space->known[1].aim[g]);
    ok(aims, "objectives are known or not");
    ok(space->known[5].other == 2 && space->known[5].excess == .5 &&
           space->known[0].excess == 0,
       "other data and the excess of limits are those of the list");
}

/* x0 of the configuration that a search begins with; NAN: of none. */
static double first(const char *list, const char *more)
{
    const weft_space *space = space_of("x0 = 0 .. 1\n", list, more);
    return space->listed == 1 ? space->list[X0] : (double)NAN;
}

static void test_first(void)
{
    ok(fabs(first("f.x0=.1 loss=.1 resource=1, f.x0=.2 loss=.5 resource=4, f.x0=.3 loss=.4 "
                  "resource=4, f.x0=.4 loss=- resource=9, f.x0=.5 loss=.01 resource=3, "
                  "f.x0=.6 loss=.45 resource=4",
                  "") -
            .3) < 1e-15,
       "the best of the largest resource that has a loss comes first");
    ok(fabs(first("f.x0=.1 loss=.4 tie=2, f.x0=.2 loss=.4 tie=1", "") - .2) < 1e-15,
       "of equal losses that of the smaller tie");
    ok(fabs(first("f.x0=.1 loss=.4, f.x0=.2 loss=.4 tie=1", "") - .2) < 1e-15,
       "of which one that is not known comes last");
    ok(fabs(first("f.x0=.1 loss=.4, f.x0=.2 loss=.4", "") - .1) < 1e-15,
       "without ties the first");
    ok(fabs(first("f.x0=.1 loss=.1 excess=.1, f.x0=.2 loss=.5", "") - .2) < 1e-15,
       "and what is within limits before what is not");
    ok(isnan(first("f.x0=.1 loss=-", "")), "none where all diverged");
    ok(fabs(first("f.x0=.1 loss=.4", "first = f.x0=.7\n") - .7) < 1e-15,
       "space.first comes in its place");
}

static void test_conditions(void)
{
    const weft_space *space = space_of(
        three,
        "f.x0=.1 f.b=p f.x1=.5 loss=1, f.x0=.2 f.b=q loss=1, f.x0=.3 f.b=q f.x1=.5 loss=2",
        "");
    ok(space->nknown == 2 && isnan(space->known[0].conf[X1]),
       "an axis whose condition is not met has no value");
    ok(space->nknown == 2 && fabs(space->known[1].conf[X0] - .3) < 1e-15,
       "a trial without an axis that it should have is left out");
    space = space_of("x0 = 0 .. 1\nx1 = 0 .. 1 when b = q\nb = p\n",
                     "f.x0=.1 f.x1=.5 loss=1", "");
    ok(space->nknown == 1 && space->dim == 1,
       "a column of an axis that no configuration has is not read");
}

static void test_refused(void)
{
    static const char *const rows[][2] = {{"f.x0=.1 f.x1=.2 loss=1", "x1 is no axis"},
                                          {"f.x0=.1", "no column is named loss"},
                                          {"f.x0=.1 f.x0=.2 loss=1", "twice"},
                                          {"f.x0=.1 loss", "section.key=value"},
                                          {"f.x0=.1 loss=", "section.key=value"},
                                          {"f.x0=.1 =1", "section.key=value"},
                                          {"f.x0=.1 depth=3 loss=1", "names no option"}};
    for (int i = 0; i < (int)LEN(rows); i++) {
        struct minimizer minimizer;
        weft_status st = told("x0 = 0 .. 1\n", rows[i][0], "", &minimizer);
        ok(st == WEFT_ECONF && strstr(weft_error(), rows[i][1]), "refused: %s",
           st == WEFT_OK ? rows[i][0] : weft_error());
    }
}

/* ---- what does not fit, and what is nearest ---- */

static void test_misfit(void)
{
    const weft_space *space = space_of("x0 = 0 .. 1\ni0 = 1 .. 9\nb = p | q\n",
                                       "f.x0=.1 f.i0=2 f.b=p loss=1", "");
    static const struct {
        double conf[3];
        int axis;
    } rows[] = {{{.5, 3, 1}, -1}, {{0, 1, 0}, -1},  {{1, 9, 1}, -1}, {{.5, 2.5, 1}, 1},
                {{.5, 10, 1}, 1}, {{1.5, 3, 1}, 0}, {{.5, 3, 2}, 2}, {{.5, NAN, 1}, 1}};
    for (int i = 0; i < (int)LEN(rows); i++)
        ok(weft_space_misfit(space, rows[i].conf) == rows[i].axis,
           "%g, %g, %g: axis %d does not fit", rows[i].conf[0], rows[i].conf[1],
           rows[i].conf[2], rows[i].axis);
}

/* Words are all 1 apart, numbers by their places. */
static void test_apart(void)
{
    const weft_space *space =
        space_of("i0 = 1 .. 9\nd = p | q | r | s\n", "f.i0=2 f.d=p loss=1", "");
    char *used = WEFT_NEW(mem, char, weft_space_points(space));
    double conf[2] = {1, 0};
    for (int i = 1; i <= 9; i++) {
        conf[0] = 1;
        conf[1] = 0;
        weft_space_unused(space, used, conf, mem);
        ok(fabs(conf[0] - i) < .5 && conf[1] < .5,
           "unused number %d of the same word is nearer than another word", i);
    }
    conf[0] = 1;
    conf[1] = 0;
    weft_space_unused(space, used, conf, mem);
    ok(fabs(conf[0] - 1) < .5 && fabs(conf[1] - 1) < .5,
       "then the same number of the next word");
}

/* An axis of one value, and without its condition none. */
static void test_single(void)
{
    const weft_space *space =
        space_of("i0 = 7 when b = q\nb = p | q\n", "f.b=p loss=1", "");
    char used[2] = {0};
    double conf[2] = {7, 1};
    ok(weft_space_points(space) == 2, "a space of two points");
    ok(weft_space_unused(space, used, conf, mem) && conf[0] == 7 &&
           weft_space_unused(space, used, conf, mem) && isnan(conf[0]) && conf[1] == 0,
       "has one with the value, and one without");
    conf[1] = 0;
    memset(used, 0, sizeof used);
    used[0] = 1;
    ok(weft_space_unused(space, used, conf, mem) && conf[0] == 7 && conf[1] == 1,
       "from which the other is the nearest");
}

/* ---- losses of other data ---- */

/* By ranks among the results of their data, (i + 1/2) / n; what diverged stays so. */
static void test_ranked(void)
{
    enum { N = 5 };
    static const double loss[N] = {3, INFINITY, 20, 10, 2};
    static const int other[N] = {1, 1, 0, 0, 1};
    static const double want[N] = {1. / 6, .25, .5, .75, INFINITY};
    static const int64_t trial[N] = {4, 3, 0, 2, 1};
    const weft_space *space = space_of("x0 = 0 .. 1\n", "f.x0=.1 loss=1", "");
    weft_past past;
    weft_past_setup(&past, space, mem);
    for (int i = 0; i < N; i++) {
        double x = i * .1;
        weft_past_pending(&past, i, &x, 1);
        weft_past_told(
            &past, i,
            &(weft_observation){
                .conf = &x, .resource = 1, .loss = loss[i], .tie = NAN, .other = other[i]});
    }
    const weft_past_level *level = weft_past_highest(&past, 1);
    int right = level && level->n == N;
    for (int i = 0; right && i < N; i++)
        right &= level->result[i].id == trial[i] &&
                 (level->result[i].loss == want[i] ||
                  fabs(level->result[i].loss - want[i]) < 1e-15);
    ok(right, "losses of other data are merged by ranks, what diverged is last");
}

MAIN(alone, test_results, test_first, test_conditions, test_refused, test_misfit,
     test_apart, test_single, test_ranked)
