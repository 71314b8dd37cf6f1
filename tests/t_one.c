/* Schedule one: which candidates it tries, that the best gets all that is left, and what it
 * does when a part of the training behind was worse.
 * RUN: np=1 */
#include "parts.h"
#include "tap.h"

enum { JOBS = 200 };

struct settings {
    double lr, momentum;
    int batch;
};

static const weft_opt client_opts[] = {
    WEFT_REAL_OPT("lr", struct settings, lr, "0.1", 0, 1e6, "rate", .role = WEFT_PER_SAMPLE,
                  .leads = 1),
    WEFT_INT_OPT("batch", struct settings, batch, "16", 1, 99, "samples",
                 .role = WEFT_PER_SAMPLE),
    {0},
};
static const weft_opt server_opts[] = {
    WEFT_REAL_OPT("momentum", struct settings, momentum, "0", 0, 1, "of the server",
                  .role = WEFT_PER_TRIAL),
    {0},
};
static const weft_kind client_kind = WEFT_KIND("client", struct settings, client_opts, "c");
static const weft_kind server_kind = WEFT_KIND("server", struct settings, server_opts, "s");

/* What was asked, in order. */
struct asked {
    weft_job job;
    struct settings set;
    int number;
    double total; /* resource of the trial, with that of what it copies */
    double loss;
};

struct sim {
    weft_space space;
    weft_search search;
    struct asked asked[JOBS];
    int n;
    double spent;
    double (*loss)(const struct asked *);
};

static double (*errors)(const struct asked *); /* NULL: losses are told alone */
static double bound = 0.01;
static int noised;     /* 1: it is of noise */
static double guess;   /* error rate of guesses */
static int64_t scored; /* samples of an error rate */
static int candidates; /* that were told in this run */

static void tell(struct sim *sim, int i)
{
    struct asked *asked = &sim->asked[i];
    double arm[WEFT_ARM_COLUMNS];
    weft_result res = weft_result_in(1, arm);
    weft_result_begin(&res, &asked->job);
    asked->loss = res.loss = sim->loss(asked);
    double mean = asked->loss;
    if (errors) {
        res.by_error = res.nmetric = 1;
        res.metric = &mean;
        asked->loss = res.loss = errors(asked);
    }
    res.job = asked->job.id;
    res.trial = asked->job.trial;
    res.bound = bound;
    res.noised = noised;
    weft_search_tell(&sim->search, &res);
}

/* Runs a search whose jobs are told in batches, the last first. */
static struct sim *run(const char *text, double (*loss)(const struct asked *))
{
    static const weft_kind *const kinds[] = {&client_kind, &server_kind};
    struct sim *sim = WEFT_NEW(mem, struct sim, 1);
    weft_conf conf;
    sim->loss = loss;
    candidates = 0;
    weft_conf_init(&conf, mem);
    must(weft_conf_text(&conf, "t.ini", text));
    must(weft_space_read(&sim->space, &conf, kinds, 2, 7, mem));
    sim->space.guess = guess;
    sim->space.scored = scored;
    must(search_bind(&sim->search, &weft_tuner_one, &conf));
    must(weft_search_setup(&sim->search, &sim->space, 3, mem));
    double total[JOBS] = {0};
    for (int open = 0;;) {
        struct asked *asked = &sim->asked[sim->n];
        weft_asked is = weft_search_ask(&sim->search, &asked->job);
        if (is == WEFT_DONE) return sim;
        if (is == WEFT_WAIT) {
            weft_check(open > 0, "it waits for nothing");
            for (int i = sim->n - 1; i >= sim->n - open; i--) tell(sim, i);
            open = 0;
            continue;
        }
        weft_job *job = &asked->job;
        job->id = asked->number = sim->n++;
        weft_check(sim->n < JOBS, "too many jobs");
        weft_space_put(&sim->space, job->mix.conf, &client_kind, &asked->set);
        weft_space_put(&sim->space, job->mix.conf, &server_kind, &asked->set);
        if (job->from >= 0) total[job->trial] = total[job->from];
        asked->total = total[job->trial] += job->resource;
        sim->spent += job->resource;
        open++;
    }
}

static const char *const wide = "[client]\nlr = log 1e-5 .. 1000\n[one]\nresource = 500\n";
static const char *const rates = "[client]\nlr = log 1e-5 .. 1000\n"
                                 "[one]\nresource = 500\nexplore = 0.2\nfinalists = 1\n";

/* The rates that were tried, in order, against those expected, in steps of 2 from 0.1. */
static int tried(const struct sim *sim, int n, const int *step)
{
    int same = 1;
    for (int i = 0; i < n; i++)
        same &= fabs(log2(sim->asked[i].set.lr / 0.1) - step[i]) < 1e-9;
    return same && sim->asked[n].job.from >= 0;
}

/* Index of the first part. */
static int first_part(const struct sim *sim)
{
    int i = 0;
    while (sim->asked[i].job.from < 0) i++;
    return i;
}

static double off(const struct asked *asked, double best)
{
    return fabs(log2(asked->set.lr / best));
}

/* Each unit of resource is a little progress. */
static double progress(const struct asked *asked)
{
    return -1e-6 * asked->total;
}

static double near(const struct asked *asked)
{
    return off(asked, 0.8) + progress(asked);
}

static double far(const struct asked *asked)
{
    return off(asked, 6.4) + progress(asked);
}

static double low(const struct asked *asked)
{
    return off(asked, 1e-4) + progress(asked);
}

/* Less than a fiftieth apart: the smaller the rate, the better. */
static double plateau(const struct asked *asked)
{
    return 2.3 + 0.02 * log2(asked->set.lr / 0.1) + progress(asked);
}

static double equal(const struct asked *asked)
{
    return 0.5 + progress(asked);
}

static void test_rates(void)
{
    struct sim *sim = run(rates, near);
    ok(tried(sim, 6, (int[]){0, -2, 2, 4, 1, 3}), "rates: the default, by 4, then by 2");
    is_near(sim->asked[6].set.lr, 0.8, 1e-12, "the best of them is trained on");
    is_near((double)sim->asked[6].job.from, 5, 0, "from its own weights");
    is_near(sim->spent, 500, 0, "with all that is left of the resource");
    is_near(sim->asked[0].job.resource, 10, 0, "of which a candidate has a fiftieth");
    is_near(sim->asked[sim->n - 1].total, 450, 0, "and the winner the most");
    const struct asked *last = &sim->asked[sim->n - 1];
    is_near(last[-2].job.eligibility, WEFT_WINS_LAST, 0, "no early part wins");
    is_near(last[-1].job.eligibility, WEFT_WINS_LOSS, 0, "the last but one may");
    is_near(last->job.eligibility, WEFT_WINS_LOSS, 0, "and the last");
    sim = run(rates, far);
    ok(tried(sim, 8, (int[]){0, -2, 2, 4, 6, 8, 5, 7}), "a far rate is walked to, upwards");
    is_near(sim->asked[8].set.lr, 6.4, 1e-12, "and is found");
    sim = run(rates, low);
    ok(tried(sim, 10, (int[]){0, -2, 2, -4, -6, -8, -10, -12, -11, -9}),
       "and downwards, as far as candidates go");
    sim = run(rates, equal);
    is_near(sim->asked[sim->n - 1].set.lr, 0.1, 1e-12, "of equal ones the defaults win");
    sim =
        run("[client]\nlr = log 0.05 .. 0.15\n[one]\nresource = 500\nfinalists = 1\n", far);
    ok(tried(sim, 2, (int[]){0, -1}), "no rate is beyond its range");
    sim = run("[space]\nfirst = client.lr=1.6\n[client]\nlr = log 1e-5 .. 1000\n"
              "[one]\nresource = 500\n",
              far);
    is_near(sim->asked[0].set.lr, 1.6, 1e-12, "known ones are in place of the defaults");
    is_near(sim->asked[sim->n - 1].set.lr, 6.4, 1e-12, "and are walked from");
    sim = run("[client]\nlr = 0.01 | 0.1 | 0.2 | 0.4 | 0.8 | 1.6\n[one]\nresource = 500\n",
              near);
    is_near(sim->asked[sim->n - 1].set.lr, 0.8, 1e-12, "values of a list are places");
    sim = run(rates, plateau);
    ok(tried(sim, 5, (int[]){0, -2, 2, -1, 1}),
       "where nothing is told apart the walk ends");
    is_near(sim->asked[5].set.lr, 0.1, 1e-12, "and the defaults are trained");
    is_near(sim->asked[5].total, 10 + 57, 0, "without more");
}

/* The rate that is best at first breaks after more. */
static double turns(const struct asked *asked)
{
    if (asked->total > 10 && asked->set.lr > 0.5) return 9;
    return off(asked, 0.8) + progress(asked);
}

static void test_finals(void)
{
    struct sim *sim = run(wide, turns);
    const struct asked *finals = sim->asked + 6;
    is_near(finals[0].set.lr, 0.8, 1e-12, "finalists: the best");
    is_near(finals[1].set.lr, 0.1, 1e-12, "and the defaults");
    is_near((double)finals[0].job.index, 1, 0, "go on");
    is_near(finals[1].total, 30, 0, "to three times as much");
    is_near(finals[2].set.lr, 0.4, 1e-12, "while the defaults stand the next best");
    is_near((double)finals[2].job.trial, 2, 0, "of equal ones the first");
    is_near(finals[3].set.lr, 0.4, 1e-12, "then the best of them has the rest");
    is_near((double)finals[3].job.from, 2, 0, "on its own weights");
    is_near(sim->asked[sim->n - 1].total, 500 - 2 * 30 - 3 * 10, 0, "all that is left");
    sim = run("[client]\nlr = log 1e-5 .. 1000\n[one]\nresource = 500\nparts = 1\n", turns);
    is_near((double)sim->asked[9].job.trial, 2, 0, "in one part it is the same trial");
    is_near((double)sim->asked[9].job.index, 2, 0, "that goes on");
    is_near(sim->asked[9].total, 410, 0, "to its end");
    sim = run(wide, low);
    is_near((double)sim->asked[6].job.index, 1, 0, "six candidates are the most");
    is_near((double)sim->asked[8].job.from, 5, 0, "defaults that are worse leave no third");
}

/* ---- error rates ---- */

static double chance(const struct asked *asked)
{
    (void)asked;
    return 0.9;
}

/* The larger the rate, the better. */
static double falls(const struct asked *asked)
{
    return 0.5 - 0.05 * log2(asked->set.lr / 0.1);
}

/* Of parts now and then larger than before, by more than the margin. */
static double wavering(const struct asked *asked)
{
    return asked->job.from >= 0 && asked->job.trial % 2 ? 0.9 : falls(asked);
}

/* Large rates have less loss at once, and no other later. */
static double breaks_down(const struct asked *asked)
{
    return asked->set.lr > 0.1 ? 2.3 + progress(asked) : 2.5 - 1e-3 * asked->total;
}

static double starts_badly(const struct asked *asked)
{
    return asked->set.lr > 0.05 ? INFINITY : off(asked, 0.025) + 1 + progress(asked);
}

/* Rates below the default learn, those from it on answer all alike, which has less loss. */
static double learns(const struct asked *asked)
{
    return asked->set.lr < 0.09 ? 0.8 : 0.9;
}

static double sure(const struct asked *asked)
{
    return asked->set.lr < 0.09 ? 2.4 + off(asked, 0.05) / 100 : 2.3;
}

/* Larger rates are better by up to 0.3 %. */
static double slight(const struct asked *asked)
{
    return 10 + off(asked, 0.8) / 100;
}

static void test_errors(void)
{
    errors = chance;
    struct sim *sim = run(rates, low);
    is_near(sim->asked[sim->n - 1].set.lr, 0.1, 1e-12,
            "of equal errors the defaults win over smaller rates, whatever the losses");
    sim = run(rates, near);
    is_near(sim->asked[sim->n - 1].set.lr, 0.8, 1e-12,
            "not over larger ones whose loss is less");
    sim = run(wide, breaks_down);
    is_near(sim->asked[sim->n - 1].set.lr, 0.1, 1e-12,
            "but over those whose loss then stands");
    errors = falls;
    sim = run(rates, equal);
    is_near(sim->asked[sim->n - 1].set.lr, 0.1, 1e-12, "and of equal losses");
    sim = run(rates, near);
    is_near(sim->asked[sim->n - 1].set.lr, 3.2, 1e-12,
            "what is better in both moves; the error orders them");
    sim = run(rates, slight);
    is_near(sim->asked[first_part(sim)].set.lr, 0.1, 1e-12,
            "and a mean loss that is hardly better moves nothing");
    errors = wavering;
    sim = run(rates, near);
    is_near(sim->asked[sim->n - 1].set.lr, 3.2, 1e-12,
            "a part whose errors alone were worse stays");
    errors = learns;
    sim = run(wide, sure);
    is_near(sim->asked[first_part(sim)].set.lr, 0.1, 1e-12,
            "defaults of less loss stay where the error of guesses is not known");
    guess = 0.9;
    sim = run(wide, sure);
    is_near(sim->asked[first_part(sim)].set.lr, 0.05, 1e-12,
            "where it is, those that guess are left");
    guess = 0;
    errors = NULL;
    sim = run(rates, starts_badly);
    is_near(sim->asked[sim->n - 1].set.lr, 0.025, 1e-12, "defaults that diverge are left");
}

static double behind(const struct asked *asked)
{
    return asked->set.lr < 0.15 ? 0.05 : 0;
}

/* Errors by the distance of a rate from 0.4, `apart` a factor of 2, the defaults far
 * behind; trained on, what is above 0.3 is worse. */
static double apart;
static double rival(const struct asked *asked)
{
    double later = asked->total > 10 && asked->set.lr > 0.3 ? 0.03 : 0;
    return 0.5 + apart * off(asked, 0.4) + behind(asked) + later;
}

/* Trained on, the rate that was second has nearly as many errors, and less loss. */
static double level(const struct asked *asked)
{
    double each = asked->total > 10 ? 0.001 : 0.015;
    return 0.5 + each * off(asked, 0.4) + behind(asked);
}

static double less(const struct asked *asked)
{
    int second = asked->total > 10 && fabs(asked->set.lr - 0.2) < 0.01;
    return second ? 1 : 2 + off(asked, 0.4) + progress(asked);
}

static double falls_little(const struct asked *asked)
{
    return asked->set.lr > 0.15 ? 0.285 : 0.3;
}

static double trained(const struct sim *sim)
{
    return sim->asked[first_part(sim)].set.lr;
}

static void test_close(void)
{
    apart = 0.015;
    errors = rival;
    struct sim *sim = run(wide, less);
    const struct asked *finals = sim->asked + 6;
    is_near(finals[0].set.lr, 0.4, 1e-12, "close ones: the best is a finalist");
    is_near(finals[1].set.lr, 0.1, 1e-12, "and the defaults, though they are left");
    is_near(finals[2].set.lr, 0.2, 1e-12, "and one within the margin of the best");
    is_near(finals[2].total, 30, 0, "for as long");
    is_near(trained(sim), 0.2, 1e-12, "which may end ahead");
    apart = 0.05;
    sim = run(wide, less);
    is_near((double)first_part(sim), 8, 0, "one that is further behind does not go on");
    errors = level;
    sim = run(wide, less);
    is_near(trained(sim), 0.2, 1e-12, "of finalists that are as good that of less loss is");
    errors = falls_little;
    scored = 1000;
    sim = run(wide, near);
    is_near(trained(sim), 0.1, 1e-12, "of 1,000 samples 1.5 points may be chance");
    scored = 10000;
    sim = run(wide, near);
    is_near(trained(sim), 0.8, 1e-12, "of 10,000 they are not");
    scored = 0;
    errors = NULL;
}

/* ---- other axes ---- */

static double both(const struct asked *asked)
{
    return off(asked, 0.8) + fabs(asked->set.momentum - 0.9) +
           fabs(asked->set.batch - 16.0) / 100 + progress(asked);
}

static double lowest(const struct asked *asked)
{
    return asked->set.lr + asked->set.batch / 1e3;
}

static double highest(const struct asked *asked)
{
    return 1 - asked->set.lr + asked->set.batch / 1e3;
}

/* 1: rates stay between 0.05 and 0.2, and some are `end`. */
static int stays_within(double (*loss)(const struct asked *), double end)
{
    const struct sim *sim = run("[client]\nlr = log 0.05 .. 0.2\nbatch = 1 .. 99\n[one]\n"
                                "resource = 1000\nexplore = 0.4\neach = 10\nothers = 100\n"
                                "finalists = 1\n",
                                loss);
    int within = 1, there = 0;
    for (int i = 0; i < sim->n; i++) {
        double lr = sim->asked[i].set.lr;
        within &= lr > 0.05 - 1e-12 && lr < 0.2 + 1e-12;
        there += fabs(lr - end) < 1e-12;
    }
    return within && there > 1;
}

static void test_others(void)
{
    struct sim *sim = run(
        "[client]\nlr = log 1e-5 .. 1000\nbatch = 1 .. 99\n[server]\nmomentum = 0 .. 1\n"
        "[one]\nresource = 1000\nexplore = 0.4\neach = 10\n"
        "others = 100\nfinalists = 1\n",
        both);
    int steps = 1, changed = 1, kept[2] = {0}, n = 0;
    for (int i = 6; i < sim->n && sim->asked[i].job.from < 0; i++, n++) {
        double step = log2(sim->asked[i].set.lr / 0.1);
        int momentum = sim->asked[i].set.momentum > 0,
            batch = sim->asked[i].set.batch != 16;
        steps &= fabs(step - round(step)) < 1e-9;
        changed &= momentum || batch;
        kept[0] += !momentum;
        kept[1] += !batch;
    }
    is_near(n, 34, 0, "candidates with other settings follow, as many as may be");
    ok(steps, "their rates are steps from the best");
    ok(changed, "each has another value on some axis");
    ok(kept[1] > 0 && kept[1] < n, "some keep the best batch, others have their own");
    const struct asked *last = &sim->asked[sim->n - 1];
    double best = INFINITY;
    for (int i = 0; i < 6 + n; i++) best = fmin(best, sim->asked[i].loss);
    is_near(last->loss - progress(last), best + 1e-5, 1e-12, "the best of all goes on");
    ok(best < 0.9, "which is better than the best rate alone");
    is_near(sim->spent, 1000, 0, "with all that is left");
    sim = run("[server]\nmomentum = 0 .. 1\n[one]\nresource = 500\n"
              "explore = 0.2\nfinalists = 1\n",
              both);
    is_near(sim->asked[0].set.momentum, 0, 0, "without a rate: the defaults");
    int differ = 1;
    for (int i = 2; i < 10; i++)
        differ &= fabs(sim->asked[i].set.momentum - sim->asked[i - 1].set.momentum) > 0;
    ok(differ, "and what the sampler proposes");
    ok(stays_within(lowest, 0.05), "steps from the lowest rate end there");
    ok(stays_within(highest, 0.2), "those from the highest, too");
}

/* ---- parts that were worse ---- */

/* The third part of the best candidate diverges, and so does every later one of its rate.
 */
static double breaks(const struct asked *asked)
{
    if (asked->job.from < 0) return off(asked, 0.8) + 1;
    if (asked->number > 7 && asked->set.lr > 0.6) return INFINITY;
    return 1 - asked->number / 100.0;
}

/* It loses more than the margin, within the intervals of both losses, 0.01 each. */
static double wavers(const struct asked *asked)
{
    if (asked->job.from < 0) return off(asked, 0.8) + 0.51;
    return asked->number % 2 ? 0.519 : 0.5;
}

/* Beyond the intervals, if they are small, but within the margin, 2 % of a loss. */
static double sways(const struct asked *asked)
{
    if (asked->job.from < 0) return off(asked, 0.8) + 0.51;
    return asked->number % 2 ? 0.508 : 0.5;
}

/* Which part this is, from 0 on; -1: a candidate, all of which are told before. */
static int part_of(const struct asked *asked)
{
    candidates += asked->job.from < 0;
    return asked->job.from < 0 ? -1 : asked->number - candidates;
}

/* Its second part rises a little, the third much, the fourth less than the second. */
static double staggers(const struct asked *asked)
{
    static const double loss[] = {0.5, 0.509, 0.6, 0.505};
    int part = part_of(asked);
    if (part < 0) return off(asked, 0.8) + 1;
    return part < 4 ? loss[part] : 0.4;
}

/* The best rate and the next one are a factor of 2 apart, but that below is worse than that
 * above. The second part stalls, so that the rate is halved, and the third diverges. */
static double stumbles(const struct asked *asked)
{
    int part = part_of(asked);
    if (part < 0) return off(asked, 0.8) + 1 + 0.5 * (fabs(asked->set.lr - 0.4) < 1e-9);
    return part == 2 ? INFINITY : part < 2 ? 0.5 : 0.4;
}

/* The third part rises, where there is no rate. */
static double slips(const struct asked *asked)
{
    int part = part_of(asked);
    if (part < 0) return fabs(asked->set.momentum - 0.6) + 1;
    return part == 2 ? 0.6 : 0.5 - 0.01 * part;
}

static double rises(const struct asked *asked)
{
    if (asked->job.from < 0) return off(asked, 0.8) + 1;
    return asked->number == 8 ? 0.525 : 0.5;
}

static double hopeless(const struct asked *asked)
{
    (void)asked;
    return INFINITY;
}

/* All parts end alike; of some only the mean loss goes on. */
static double stalls(const struct asked *asked)
{
    return asked->job.from < 0 ? off(asked, 0.8) + 1 : 0.5;
}

static double goes_on(const struct asked *asked)
{
    return asked->job.from < 0 ? off(asked, 0.8) + 1 : 0.5 + progress(asked);
}

static double alike(const struct asked *asked)
{
    return asked->job.from < 0 ? falls(asked) : 0.1;
}

/* The third part answers all alike, with the least mean loss. */
static double unsure(const struct asked *asked)
{
    return part_of(asked) == 2 ? 0 : goes_on(asked);
}

static double collapses(const struct asked *asked) /* asked->loss is the mean still */
{
    return asked->loss > 0 ? alike(asked) : 0.9;
}

static void test_stalled(void)
{
    struct sim *sim = run(rates, stalls);
    const struct asked *part = sim->asked + 6;
    is_near(part[1].set.lr, 0.8, 1e-12, "a part that gains keeps the rate");
    is_near(part[2].set.lr, 0.4, 1e-12, "one that does not halves it");
    is_near(part[4].set.lr, 0.1, 1e-12, "each time");
    is_near((double)part[4].job.from, (double)part[3].job.trial, 0, "and stays");
    sim = run("[client]\nlr = 0.01 | 0.4 | 0.1 | 0.8\n[one]\nresource = 500\n", stalls);
    is_near(sim->asked[sim->n - 1].set.lr, 0.01, 1e-12, "in a list to its least value");
    errors = alike;
    sim = run(rates, goes_on);
    is_near(sim->asked[sim->n - 1].set.lr, 3.2, 1e-12, "a lower mean loss is a gain, too");
    errors = collapses;
    guess = 0.9;
    sim = run(rates, unsure);
    part = sim->asked + first_part(sim);
    is_near((double)part[3].job.from, (double)part[1].job.trial, 0,
            "a part that guesses is taken back, however small its mean loss");
    guess = 0;
    errors = NULL;
}

/* 1: each part begins where the one before it ended. */
static int goes_straight(const struct sim *sim)
{
    int straight = 1;
    for (int i = 1; i < sim->n; i++) {
        const weft_job *before = &sim->asked[i - 1].job;
        straight &= before->from < 0 || sim->asked[i].job.from == before->trial;
    }
    return straight;
}

static void test_taken_back(void)
{
    struct sim *sim = run(rates, staggers);
    const struct asked *part = sim->asked + first_part(sim);
    is_near(part[4].set.lr, 0.1, 1e-12,
            "after one that is taken back the next is compared with the best");
    sim = run(rates, stumbles);
    part = sim->asked + first_part(sim);
    is_near(part[2].set.lr, 0.4, 1e-12, "a rate is halved");
    is_near(part[3].set.lr, 1.6, 1e-12,
            "after a part that diverges the next candidate has its own rate");
    sim = run("[server]\nmomentum = 0 .. 1\n[one]\nresource = 500\nexplore = 0.2\n"
              "finalists = 1\n",
              slips);
    part = sim->asked + first_part(sim);
    ok(part[3].job.from == part[1].job.trial && isfinite(part[2].loss) &&
           fabs(part[3].set.momentum - part[1].set.momentum) > 0,
       "without a rate the next candidate follows one that is worse");
    bound = 0;
    ok(goes_straight(run(rates, sways)), "a loss that rises within the margin stays");
    bound = 0.01;
}

static void test_worse(void)
{
    struct sim *sim = run(rates, breaks);
    const struct asked *part = sim->asked + 6;
    ok(isinf(part[2].loss), "a part diverges");
    is_near(part[3].set.lr, 0.4, 1e-12, "the next candidate follows");
    is_near((double)part[3].job.from, (double)part[1].job.trial, 0,
            "from the weights before that part");
    is_near(part[4].set.lr, 0.4, 1e-12, "and keeps its turn");
    is_near((double)part[4].job.from, (double)part[3].job.trial, 0, "and its weights");
    is_near(sim->spent, 500, 0, "within the same resource");
    sim = run(rates, wavers);
    ok(goes_straight(sim), "a loss that rises within the intervals is not taken back");
    sim = run(rates, rises);
    is_near((double)sim->asked[9].job.from, (double)sim->asked[6].job.trial, 0,
            "after one that rises further the best part is gone on from");
    is_near(sim->asked[8].set.lr / sim->asked[9].set.lr, 2, 1e-12, "with half the rate");
    sim = run(rates, hopeless);
    is_near(sim->spent, 500, 0, "it ends where all diverge");
}

static double peak(const struct asked *asked)
{
    return off(asked, 0.1) + progress(asked);
}

/* Noise is told of, not added. */
static void test_noise(void)
{
    noised = 1;
    bound = 1.3; /* of a difference of 1.84 */
    struct sim *sim = run(rates, near);
    is_near(sim->asked[sim->n - 1].set.lr, 0.8, 1e-12, "what is beyond noise is taken");
    sim = run(rates, stalls);
    is_near(sim->asked[sim->n - 1].set.lr, 0.8, 1e-12,
            "a part that gains less than noise keeps the rate");
    bound = 2.2; /* of 3.11, and the best is better by 3 */
    sim = run(rates, near);
    ok(tried(sim, 3, (int[]){0, -2, 2}), "what is within noise is not followed");
    is_near(sim->asked[3].set.lr, 0.1, 1e-12, "and the defaults are trained");
    bound = 1.4; /* of 1.98: worse by 2 and 4 on both sides */
    sim = run(rates, peak);
    ok(tried(sim, 5, (int[]){0, -2, 2, -1, 1}),
       "smaller steps where larger ones are told apart");
    bound = 2.2;
    errors = alike;
    sim = run(rates, goes_on);
    is_near(sim->asked[first_part(sim)].set.lr, 0.1, 1e-12,
            "nor is a mean loss where errors are equal");
    errors = NULL;
    noised = 0;
    bound = 0.01;
}

static void test_small(void)
{
    for (int resource = 1; resource < 30; resource++) {
        struct sim *sim = run(printed("[client]\nlr = log 0.01 .. 1\n[one]\n"
                                      "resource = %d\n",
                                      resource),
                              near);
        ok(fabs(sim->spent - resource) < 1e-9 && fabs(sim->asked[0].set.lr - 0.1) < 1e-12,
           "a resource of %d begins with the defaults", resource);
    }
}

MAIN(alone, test_rates, test_finals, test_errors, test_close, test_others, test_stalled,
     test_worse, test_noise, test_taken_back, test_small)
