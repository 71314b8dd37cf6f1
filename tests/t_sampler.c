/* The options of all samplers: values out of bounds and contradictions are refused by a
 * message that names the option and what is allowed, and every option changes the proposals
 * from the trial on at which it begins to count. RUN: np=1 */
#include "functions.h"
#include "tap.h"

enum { TRIALS = 48, WORKERS = 4, MOST = 64 };

/* ---- proposals ---- */

static const char eight[] =
    "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-4 .. 10\n"
    "i0 = 1 .. 100\ni1 = 1 .. 12\nb = p | q\nd = p | q | r | s\n";
enum { DIM = 8 };

/* Longer for larger x0, by no more than a factor of 20. */
static double cost_of(const double *v)
{
    return exp(3 * v[0]);
}

/* The proposals conf[TRIALS][DIM] of a search in which results come in another order than
 * asked for. ECONF if the options are refused. */
static weft_status propose(const char *options, double *conf, weft_arena *mem)
{
    struct minimizer minimizer;
    weft_job job[WORKERS];
    TRY(minimizer_begin(&minimizer, eight, options, TRIALS, 7, mem));
    for (int i = 0; i < TRIALS; i += WORKERS) {
        for (int j = 0; j < WORKERS; j++) {
            weft_check(weft_search_ask(&minimizer.search, &job[j]) == WEFT_JOB, "no trial");
            memcpy(conf + (i + j) * DIM, job[j].mix.conf, DIM * sizeof *conf);
            if (j == 1) /* the others are in flight when trial j + 1 is asked for */
                minimizer_tell(&minimizer, &job[0], mixed8(job[0].mix.conf),
                               cost_of(job[0].mix.conf));
        }
        for (int j = WORKERS - 1; j > 0; j--)
            minimizer_tell(&minimizer, &job[j], mixed8(job[j].mix.conf),
                           cost_of(job[j].mix.conf));
    }
    return WEFT_OK;
}

/* The first trial of which two searches propose different configurations; TRIALS: none. */
static int first_different(const double *a, const double *b)
{
    int i = 0;
    while (i < TRIALS && memcmp(a + i * DIM, b + i * DIM, DIM * sizeof *a) == 0) i++;
    return i;
}

/* ---- every option counts ---- */

/* An option of a sampler with a value that is not its default: the first proposals that may
 * differ are those of trial `from`. `with`: other options, of both searches. */
struct row {
    const char *sampler, *option, *value, *with;
    int from;
};
static const char quick[] = "trees = 12\ngenerations = 30\n";

/* tpe learns from 10 results on, kde (eight axes) from 11, forest from 10; of the trials of
 * four workers the first is told before the third is asked for, so that 9 results are known
 * to trial 10 and 12 to trial 12. */
static const struct row rows[] = {
    {"tpe", "form", "joint", "", 12},
    {"tpe", "form", "hyperopt", "startup = 10\n", 12},
    {"tpe", "startup", "6", "", 8},
    {"kde", "random", "0", "", 12},
    {"kde", "points", "5", "", 8},
    {"forest", "design", "6", quick, 0},
    {"forest", "trees", "13", "generations = 30\n", 12},
    {"forest", "scale", "linear", quick, 12},
    {"forest", "generations", "60", "trees = 12\n", 12},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *search_of(const struct row *row, int changed, weft_arena *mem)
{
    return weft_arena_text(mem, "[run]\nsampler = %s\n[%s]\n%s%s%s%s\n", row->sampler,
                           row->sampler, row->with, changed ? row->option : "",
                           changed ? " = " : "", changed ? row->value : "");
}

static void test_counts(weft_arena *mem)
{
    double usual[TRIALS * DIM], again[TRIALS * DIM], own[TRIALS * DIM];
    int same = 1;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        size_t mark = weft_arena_mark(mem);
        int taken = propose(search_of(row, 0, mem), usual, mem) == WEFT_OK &&
                    propose(search_of(row, 1, mem), own, mem) == WEFT_OK;
        weft_check(taken && propose(search_of(row, 0, mem), again, mem) == WEFT_OK, "%s",
                   weft_error());
        int first = first_different(usual, own);
        same &= first_different(usual, again) == TRIALS;
        ok(first >= row->from && first < TRIALS,
           "%s.%s = %s changes the proposals from trial %d on, which is not before %d",
           row->sampler, row->option, row->value, first, row->from);
        weft_arena_reset(mem, mark);
    }
    ok(same, "a search is repeated");
}

/* 1: the table above has the option. */
static int has_row(const char *sampler, const weft_opt *opt)
{
    int found = 0;
    for (int i = 0; i < ROWS; i++)
        found |= strcmp(rows[i].sampler, sampler) == 0 && weft_opt_is(opt, rows[i].option);
    return found;
}

/* ---- refused ---- */

/* 1: the value is refused, and the message names the option, the value and what is allowed.
 */
static int is_refused(const char *sampler, const char *option, const char *value,
                      const char *allowed, weft_arena *mem)
{
    struct minimizer minimizer;
    const char *text = weft_arena_text(mem, "[run]\nsampler = %s\n[%s]\n%s = %s\n", sampler,
                                       sampler, option, value);
    const char *name = weft_arena_text(mem, "%s.%s = %s", sampler, option, value);
    if (minimizer_begin(&minimizer, eight, text, TRIALS, 7, mem) != WEFT_ECONF) return 0;
    const char *said = weft_error();
    return strstr(said, name) && strstr(said, allowed) && !strchr(said, '\n');
}

static void test_bounds(weft_arena *mem)
{
    for (int s = 0; weft_samplers[s]; s++) {
        const weft_kind *kind = &weft_samplers[s]->kind;
        int n = 0, refused = 1, known = 1;
        for (const weft_opt *opt = kind->opts; opt->name; opt++, n++) {
            char name[MOST];
            weft_opt_name(opt, name, sizeof name);
            known &= has_row(kind->name, opt);
            if (opt->type == WEFT_CHOICE || opt->type == WEFT_BOOL) {
                const char *allowed =
                    opt->type == WEFT_BOOL ? "neither yes nor no" : "did you mean";
                refused &= is_refused(kind->name, name, "perhaps", allowed, mem);
                continue;
            }
            const char *below = weft_arena_text(mem, "%.17g", opt->lo - 1);
            const char *above = weft_arena_text(mem, "%.17g", opt->hi + 1);
            const char *allowed =
                weft_arena_text(mem, "from %.15g to %.15g", opt->lo, opt->hi);
            refused &= is_refused(kind->name, name, below, allowed, mem) &&
                       is_refused(kind->name, name, above, allowed, mem) &&
                       is_refused(kind->name, name, "nan", "is not a", mem);
        }
        ok(refused, "%s: values out of bounds of all %d options are refused", kind->name,
           n);
        ok(known, "%s: each option is in the table of this test", kind->name);
    }
}

static void test_contradictions(weft_arena *mem)
{
    static const struct {
        const char *sampler, *options, *message, *remedy;
    } bad[] = {
        {"forest", "trees = 1\n", "forest.trees = 1", "from 2 to"},
        {"forest", "design = 1\n", "forest.design = 1", "from 2 to"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct minimizer minimizer;
        const char *text = weft_arena_text(mem, "[run]\nsampler = %s\n[%s]\n%s\n",
                                           bad[i].sampler, bad[i].sampler, bad[i].options);
        weft_status st = minimizer_begin(&minimizer, eight, text, TRIALS, 7, mem);
        const char *said = st == WEFT_OK ? "nothing" : weft_error();
        ok(st == WEFT_ECONF && strstr(said, bad[i].message) && strstr(said, bad[i].remedy),
           "refused: %s", said);
    }
}

/* ---- what the ends of the bounds mean ---- */

static void test_ends(weft_arena *mem)
{
    double random[TRIALS * DIM], own[TRIALS * DIM];
    static const char *const never[] = {
        "[run]\nsampler = kde\n[kde]\nrandom = 1\n",
        "[run]\nsampler = tpe\n[tpe]\nstartup = 48\n",
        "[run]\nsampler = kde\n[kde]\nrandom = 0\npoints = 47\n"};
    static const char *const said[] = {"kde.random = 1", "tpe.startup is all trials",
                                       "kde.points is too many"};
    weft_check(propose("", random, mem) == WEFT_OK, "%s", weft_error());
    for (int i = 0; i < 3; i++) {
        weft_check(propose(never[i], own, mem) == WEFT_OK, "%s", weft_error());
        ok(first_different(random, own) == TRIALS, "random search: %s", said[i]);
    }
}

int main(void)
{
    weft_arena *mem = weft_arena_new();
    test_bounds(mem);
    test_contradictions(mem);
    test_counts(mem);
    test_ends(mem);
    weft_arena_free(mem);
    return tap_done();
}
