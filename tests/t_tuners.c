/* Properties of every schedule of the registry, with every mixing and sampler that can be
 * combined with it (contract: weft/tune/tune.h): it ends whatever it is told, is a function
 * of its seed and the results, and its jobs are well formed. On a bandit whose best arm is
 * known searches find it. `t_tuners NAME` tests the contract of this schedule alone.
 * RUN: np=1 */
#include "search_log.h"

/* ---- contracts ---- */

static const char *const mode_name[NMODE] = {"split validation", "full validation",
                                             "nothing but NaN", "a NaN now and then",
                                             "equal errors"};

static const int sizes[] = {1, 2, 3, 5, 16, 64, 1000};
enum { NSIZE = LEN(sizes), NSMALL = NSIZE - 1, NDEAR = NSIZE - 2 };

static const char *title(const struct schedule *schedule, const struct mixed *mixed)
{
    char *name =
        printed("%s%s%s with %s%s%s%s%s", schedule->tuner, *schedule->options ? ": " : "",
                schedule->options, mixed->name, *mixed->options ? ": " : "", mixed->options,
                mixed->sampler ? ", sampler " : "", mixed->sampler ? mixed->sampler : "");
    for (char *c = name; *c; c++)
        if (*c == '\n') *c = ',';
    return name;
}

static void keep_contract(const struct schedule *schedule, const struct mixed *mixed,
                          int nsize)
{
    const weft_tuner *tuner;
    must(weft_tuner_find(schedule->tuner, &tuner));
    const char *name = title(schedule, mixed);
    for (int mode = 0; mode < NMODE; mode++) {
        int ended = 1, closed = 1, wide = 1, planned = 1, same = 1, replays = 1;
        const char *fault = NULL;
        for (int e = 0; e < nsize; e++) {
            size_t mark = weft_arena_mark(mem);
            tuner_case example = {tuner,    options_for(schedule, mixed, sizes[e]),
                                  sizes[e], mode,
                                  500,      1,
                                  5,        schedule->axes,
                                  0};
            search_log a = run_search(&example, NULL), b = run_search(&example, NULL),
                       c = run_search(&example, &a);
            example.open = MAX_OPEN;
            search_log d = run_search(&example, NULL);
            ended &= a.ended && a.n > 0 && d.ended;
            if (!fault) fault = a.fault ? a.fault : d.fault;
            closed &= a.closed && d.closed;
            planned &= a.planned == a.n;
            same &= alike(&a, &b);
            replays &= alike(&a, &c);
            wide &= !a.waits || same_jobs(&a, &d);
            weft_arena_reset(mem, mark);
        }
        const char *told = mode_name[mode];
        ok(ended, "%s ends, told %s", name, told);
        ok(!fault, "its jobs keep the contract%s%s", fault ? ", but not that " : "",
           fault ? fault : "");
        ok(closed, "at the end all its trials are closed");
        ok(planned, "it asks as many jobs as it says");
        ok(same, "it is a function of its seed and of what it is told");
        ok(replays, "it can be replayed and goes on alike");
        ok(wide, "eight jobs at a time, told out of order, are the same jobs");
    }
}

static const char fed[] = "n = 1 .. 5\n[server]\ny = 0 .. 1\n";

static const struct mixed none = {"none", "", NULL};

/* Each with all mixings that go with it; a schedule without a line by its defaults. */
static const struct schedule schedules[] = {
    {"random", "", 0, fed},
    {"ws_sha", "", 0, NULL},
    {"ws_sha", "switch = 1", 0, NULL},
    {"ws_sha", "keep = 0.9", 0, NULL},
    {"ws_sha", "keep = 0.1", 0, NULL},
    {"ws_sha", "switch = 4", 0, NULL},
    {"ws_eg", "", 0, NULL},
    {"ws_eg", "switch = 4", 0, NULL},
    {"ws_eg", "rounds = 30\neta = 100", 0, NULL},
    {"ws_one", "resource = 4", 0, "n = 1 .. 5"},
    {"sha", "", 3, fed},
    {"sha", "", 5, fed},
    {"sha", "eliminations = 0\nmax_resource = 4\nbudget = 100", 0, fed},
    {"sha", "rungs = geometric\nmax_resource = 9", 0, fed},
    {"hyperband", "max_resource = 27", 0, fed},
    {"hyperband", "max_resource = 9\nrepeats = 3", 0, fed},
    {"hyperband", "reduction = 2\nmin_resource = 2\nmax_resource = 17", 0, fed},
    {"asha", "", 0, fed},
    {"asha", "reduction = 2\nmax_resource = 8\nvariant = stopping", 0, fed},
    {"asha", "trials = 0\nbudget = 500\nmax_resource = 64", 0, fed},
    {"asha", "jobs = 30\nmin_resource = 4", 0, fed},
    {"pbt", "population = 5\ninterval = 2\nmax_resource = 11", 0, fed},
    {"pbt", "population = 4\nmax_resource = 50\nquantile = 0.5\nwinner = best", 0, fed},
    {"one", "", 0, fed},
    {"one", "resource = 100", 0, fed},
    {"one", "resource = 77\neach = 3\nexplore = 0.6\nparts = 3\nothers = 5", 0, fed},
    {"one", "resource = 50\nparts = 1", 0, fed},
};

/* Around the configuration of a trial; a mixing without a line by its defaults. */
static const struct mixed around[] = {
    {"fedex", "k = 4", NULL},
    {"fedex", "k = 3\nsched = adaptive\ndiff = yes", NULL},
    {"fedex", "levels = 3\nsched = scale", NULL},
    {"fedex", "k = 5\nsched = root", NULL},
    {"fedex", "k = 4\nsched = racing\nalpha = 0.5", NULL},
    {"mw", "k = 4", NULL},
    {"mw", "levels = 3\nracing = yes\nalpha = 0.5", NULL},
};

/* Of the whole space. */
static const struct mixed whole[] = {
    {"fedex", "", NULL},
    {"fedex", "sched = racing\nalpha = 0.5", NULL},
    {"mw", "", NULL},
    {"mw", "racing = yes\nalpha = 0.5", NULL},
    {"mw", "literal = yes", NULL},
};

/* Samplers that learn; one without a line by its defaults. */
static const struct mixed learning[] = {
    {"none", "", "tpe\nstartup = 3"},
    {"none", "", "tpe\nstartup = 2\nform = joint"},
    {"fedex", "k = 4", "tpe\nstartup = 2\nform = hyperopt"},
    {"none", "", "kde\npoints = 2\nrandom = 0"},
    {"none", "", "forest\ndesign = 3\ntrees = 3\ngenerations = 3"},
    {"none", "", "gp\ndesign = 3"},
    {"none", "", "mobster\ndesign = 3"},
};

/* gp and mobster take a thousand times as long as others: with the defaults of schedules
 * alone, and fewer configurations. */
static int is_dear(const struct mixed *mixed)
{
    return strncmp(mixed->sampler, "gp", 2) == 0 ||
           strncmp(mixed->sampler, "mobster", 7) == 0;
}

static void with_samplers(const struct schedule *schedule)
{
    size_t n = LEN(learning);
    for (size_t l = 0; l < n; l++)
        if (!is_dear(&learning[l]))
            keep_contract(schedule, &learning[l], NSMALL);
        else if (!*schedule->options)
            keep_contract(schedule, &learning[l], NDEAR);
    for (int i = 0; weft_samplers[i]; i++) {
        const char *name = weft_samplers[i]->kind.name;
        size_t length = strlen(name);
        size_t l = 0;
        while (l < n && (strncmp(learning[l].sampler, name, length) != 0 ||
                         learning[l].sampler[length] != '\n'))
            l++;
        if (l == n && weft_samplers[i]->told)
            keep_contract(schedule, &(struct mixed){"none", "", name}, NSMALL);
    }
}

/* With the mixings of a list, and those of the registry that are not in it; fedpop is
 * around a trial alone. */
static void with_mixings(const struct schedule *schedule, const struct mixed *list,
                         size_t n)
{
    for (size_t m = 0; m < n; m++) keep_contract(schedule, &list[m], NSMALL);
    for (int i = 0; weft_mixings[i]; i++) {
        const char *name = weft_mixings[i]->kind.name;
        size_t m = 0;
        while (m < n && strcmp(list[m].name, name) != 0) m++;
        int alone = weft_mixings[i] == &weft_mixing_fedpop;
        if (m == n && weft_mixings[i]->moves && !(alone && list == whole))
            keep_contract(schedule, &(struct mixed){name, "", NULL}, NSMALL);
    }
}

static void test_schedule(const struct schedule *schedule)
{
    const weft_tuner *tuner;
    ok(weft_tuner_find(schedule->tuner, &tuner) == WEFT_OK, "there is %s", schedule->tuner);
    if (tuner->shared == WEFT_SHARES_MIXTURE)
        with_mixings(schedule, whole, LEN(whole));
    else
        keep_contract(schedule, &none, NSIZE);
    if (tuner->shared != WEFT_SHARES_NOTHING) return;
    with_mixings(schedule, around, LEN(around));
    with_samplers(schedule);
}

static void test_contracts(void)
{
    size_t n = LEN(schedules);
    for (size_t v = 0; v < n; v++) test_schedule(&schedules[v]);
    for (int i = 0; weft_tuners[i]; i++) {
        const char *name = weft_tuners[i]->kind.name;
        size_t v = 0;
        while (v < n && strcmp(schedules[v].tuner, name) != 0) v++;
        if (v == n) test_schedule(&(struct schedule){name, "", 0, NULL});
    }
}

/* ---- ties ---- */

/* Told equal errors a search goes by the losses: it asks for the jobs, and finds the
 * winner, that it would where the errors were as the losses are. */
static int goes_by_losses(const char *tuner, const char *options, const char *sampler,
                          int only_winner)
{
    int good = 1;
    struct mixed mixed = {"none", "", sampler};
    struct schedule schedule = {tuner, options, 0, NULL};
    tuner_case example = {NULL, options_for(&schedule, &mixed, 64), 64, 0, 500, 1, 0, NULL,
                          0};
    must(weft_tuner_find(tuner, &example.tuner));
    for (; example.seed < 5; example.seed++) {
        size_t mark = weft_arena_mark(mem);
        example.mode = FULL;
        search_log differ = run_search(&example, NULL);
        example.mode = TIED;
        search_log tied = run_search(&example, NULL);
        good &= only_winner ? differ.best == tied.best : alike(&differ, &tied);
        weft_arena_reset(mem, mark);
    }
    return good;
}

static void test_ties(void)
{
    static const struct {
        const char *tuner, *options;
        int only_winner; /* 1: it goes by the errors themselves, not by their order alone */
    } all[] = {
        {"ws_sha", "switch = 1", 0},
        {"ws_sha", "switch = 4", 0},
        {"ws_eg", "", 1},
        {"sha", "rungs = geometric\nmax_resource = 9", 0},
        {"hyperband", "max_resource = 27", 0},
        {"asha", "", 0},
        {"asha", "reduction = 2\nmax_resource = 8\nvariant = stopping", 0},
        {"pbt", "population = 10\ninterval = 2\nmax_resource = 20", 0},
    };
    static const char *const samplers[] = {"tpe\nstartup = 3", "kde\npoints = 3"};
    for (size_t i = 0; i < LEN(all); i++)
        ok(goes_by_losses(all[i].tuner, all[i].options, NULL, all[i].only_winner),
           "%s goes by losses where errors are equal", all[i].tuner);
    for (size_t i = 0; i < LEN(samplers); i++)
        ok(goes_by_losses("random", "", samplers[i], 0), "so does the sampler %.3s",
           samplers[i]);
}

/* ---- a bandit ---- */

/* Share of the configurations that are better than the one that won, mean over seeds. */
static double mean_rank(const char *tuner, const char *options, int mode)
{
    int seeds = 40;
    double sum = 0;
    tuner_case example = {NULL, options, 64, mode, 10000, 1, 0, NULL, 0};
    must(weft_tuner_find(tuner, &example.tuner));
    for (; example.seed < (uint64_t)seeds; example.seed++) {
        size_t mark = weft_arena_mark(mem);
        test_search search = test_search_new(&example);
        search_log record = run_search(&example, NULL);
        double won, x;
        weft_space_config(search.space, record.best, &won);
        for (int i = 0; i < example.k; i++) {
            weft_space_config(search.space, i, &x);
            sum += x < won ? 1. / (example.k - 1) / seeds : 0;
        }
        weft_arena_reset(mem, mark);
    }
    return sum;
}

static void test_bandit(void)
{
    is_near(mean_rank("random", "", FULL), 0, 0, "a sweep finds the best");
    is_near(mean_rank("ws_sha", "", FULL), 0, 0, "halving finds it under full validation");
    is_near(mean_rank("ws_eg", "", FULL), 0, 0, "gradients find it under full validation");
    is_near(mean_rank("sha", "reduction = 4\nbudget = 9000", FULL), 0, 0,
            "halving of trials finds it");
    ok(mean_rank("ws_sha", "", SPLIT) < .05, "halving is near under split validation");
    ok(mean_rank("ws_eg", "", SPLIT) < .1, "gradients are near under split validation");
}

int main(int argc, char **argv)
{
    tap_begin();
    weft_log_set(WEFT_ERROR, 0); /* thousands of warnings would be mixed with the output */
    if (argc > 1) {
        test_schedule(&(struct schedule){argv[1], "", 0, NULL});
        return tap_end();
    }
    return TESTS(test_contracts, test_ties, test_bandit);
}
