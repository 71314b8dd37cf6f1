/* Mixings: the update that each option asks for, the mixtures that jobs get, what is kept
 * of a trial from job to job, what is refused. RUN: np=1 */
#include "scratch.h"
#include "weft/mixing/mixing.h"

struct client {
    double lr, momentum, decay;
};

static const weft_opt client_opts[] = {
    WEFT_REAL_OPT("lr", struct client, lr, "1", 0, 1e9, "rate", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("momentum", struct client, momentum, "0", 0, 1, "momentum",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("decay", struct client, decay, "0", 0, 1, "L2", .role = WEFT_PER_TRIAL),
    {0},
};
static const weft_kind client_kind =
    WEFT_KIND("client", struct client, client_opts, "a client");
enum { LR, MOMENTUM, DECAY, NAXIS, TRIALS = 4, RESOURCE = 60 };
static const double centre[NAXIS] = {0.1, 0.5, 0.25};
static weft_space space;

static void open_space(void)
{
    static const weft_kind *const kinds[] = {&client_kind};
    must(axes_of(&space,
                 "[client]\nlr = log 0.001 .. 1\nmomentum = 0 .. 0.9\ndecay = 0 .. 1\n",
                 kinds, 1, 1));
    weft_check(space.dim == NAXIS, "%d axes", space.dim);
}

/* The mixing with options "k=3 floor=0.1"; NULL: refused. */
static void *mixing(const weft_mixing *mixing, const char *options, weft_mixing_env env)
{
    void *self = bound_with(&mixing->kind, options, ' ');
    env.space = &space;
    env.seed = 3;
    env.mem = mem;
    return mixing->setup(self, &env) == WEFT_OK ? self : NULL;
}

static const weft_mixing_env usual = {.trials = TRIALS, .resource = RESOURCE};

static weft_job job_of(const weft_mixing *mixing, void *self, int64_t trial)
{
    weft_job job = weft_job_new(trial, 1, NULL);
    mixing->make(self, trial, centre, &job);
    return job;
}

/* ---- updates ---- */

static void test_update(const weft_mixing *m, const char *options, weft_mix_update want)
{
    void *self = mixing(m, printed("k=3 %s", options), usual);
    weft_check(self != NULL, "%s", weft_error());
    weft_mix_update update = job_of(m, self, 1).update;
    double off = fabs(update.eta - want.eta) + fabs(update.horizon - want.horizon) +
                 fabs(update.discount - want.discount) + fabs(update.floor - want.floor);
    ok(update.schedule == want.schedule && off <= 0 && update.diff == want.diff,
       "%s %s: the update has these options", m->kind.name, options);
}

/* The discount of a trial, which is drawn whatever the options are. */
static double drawn(int64_t trial)
{
    void *self = mixing(&weft_mixing_fedex, "k=3", usual);
    return job_of(&weft_mixing_fedex, self, trial).update.discount;
}

static void test_fedex(void)
{
    static const struct {
        const char *name;
        weft_update_schedule schedule;
    } schedules[] = {{"aggressive", WEFT_UPDATE_AGGRESSIVE},
                     {"adaptive", WEFT_UPDATE_ADAPTIVE},
                     {"root", WEFT_UPDATE_ROOT},
                     {"auto", WEFT_UPDATE_ROOT},
                     {"constant", WEFT_UPDATE_CONSTANT},
                     {"scale", WEFT_UPDATE_SCALE},
                     {"racing", WEFT_UPDATE_RACING}};
    for (size_t i = 0; i < LEN(schedules); i++) {
        weft_update_schedule s = schedules[i].schedule;
        test_update(&weft_mixing_fedex,
                    printed("diff=yes sched=%s%s", schedules[i].name,
                            s == WEFT_UPDATE_RACING ? " alpha=0.05" : " eta=1.5"),
                    (weft_mix_update){.schedule = s,
                                      .eta = s == WEFT_UPDATE_RACING ? 0.05 : 1.5,
                                      .discount = drawn(1),
                                      .diff = 1});
    }
}

/* Numbers in [0, 1) of their own for each trial, the same in all its jobs. */
static void test_discount(void)
{
    enum { MANY = 400 };
    void *self = mixing(&weft_mixing_fedex, "k=3", usual);
    double mean = 0, square = 0;
    int same = 1;
    for (int i = 0; i < MANY; i++) {
        double x = job_of(&weft_mixing_fedex, self, i).update.discount;
        same &= !(fabs(job_of(&weft_mixing_fedex, self, i).update.discount - x) > 0);
        same &= x >= 0 && x < 1;
        mean += x / MANY;
        square += x * x / MANY;
    }
    ok(same, "a trial draws its discount once");
    is_near(mean, 0.5, 5 * sqrt(1 / 12. / MANY), "uniformly");
    is_near(square, 1 / 3., 5 * sqrt(4 / 45. / MANY), "between 0 and 1");
}

static void test_mw(void)
{
    const weft_mixing *mw = &weft_mixing_mw;
    weft_mix_update plain = {
        .schedule = WEFT_UPDATE_HORIZON, .horizon = RESOURCE, .discount = 1, .floor = 0.01};
    weft_mix_update literal = plain;
    test_update(mw, "", plain);
    literal.schedule = WEFT_UPDATE_AS_PUBLISHED;
    test_update(mw, "literal=yes", literal);
    test_update(mw, "racing=yes alpha=0.02",
                (weft_mix_update){.schedule = WEFT_UPDATE_RACING, .eta = 0.02});
}

/* ---- mixtures ---- */

static int is_uniform(const weft_mix *mix)
{
    int same = 1;
    for (int i = 0; i < mix->k; i++) same &= fabs(mix->logp[i] + log(mix->k)) < 1e-15;
    return same;
}

static void test_neighbours(const weft_mixing *m)
{
    void *self = mixing(m, "k=5 eps=0.1", usual);
    weft_job job = job_of(m, self, 2);
    int ids = 1, near = 1, moved = 0;
    for (int i = 0; i < job.mix.k; i++) {
        double want[NAXIS];
        const double *conf = job.mix.conf + (size_t)i * NAXIS;
        weft_space_perturb(&space, centre, 0.1, 3, i, want);
        ids &= job.mix.id[i] == 2 * 5 + i;
        near &= memcmp(conf, want, sizeof want) == 0 && !(fabs(conf[DECAY] - 0.25) > 0);
        moved += fabs(conf[LR] - 0.1) > 0;
    }
    ok(job.mix.k == 5 && job.mix.nblock == 1 && is_uniform(&job.mix),
       "%s: a new trial draws from five configurations alike", m->kind.name);
    ok(near && moved == 4 && memcmp(job.mix.conf, centre, sizeof centre) == 0,
       "its own and neighbours of it");
    ok(ids, "with numbers of their own");
    job = job_of(m, mixing(m, "k=0", usual), 0);
    ok(job.mix.k == TRIALS, "k = 0: as many as trials");
}

static void test_grid(const weft_mixing *m)
{
    enum { LEVELS = 3 };
    weft_job job = job_of(m, mixing(m, "levels=3", usual), 1);
    int same = job.mix.k == 2 * LEVELS && job.mix.nblock == 2;
    for (int i = 0; i < job.mix.k && same; i++) {
        int axis = i < LEVELS ? LR : MOMENTUM;
        double want[NAXIS];
        memcpy(want, centre, sizeof want);
        want[axis] = weft_axis_point(&space.axis[axis], i % LEVELS, LEVELS);
        same &= memcmp(job.mix.conf + (size_t)i * NAXIS, want, sizeof want) == 0 &&
                job.mix.axis[i / LEVELS] == axis &&
                fabs(job.mix.logp[i] + log(LEVELS)) < 1e-15;
    }
    ok(same, "%s: a grid of each option, the others as in the trial", m->kind.name);
}

static void test_whole(const weft_mixing *m)
{
    weft_mix all = weft_mix_new(4, NAXIS, mem);
    for (int i = 0; i < 4; i++) {
        all.id[i] = 10 + i;
        weft_space_config(&space, i, all.conf + (size_t)i * NAXIS);
    }
    weft_mixing_env env = usual;
    env.whole = &all;
    void *self = mixing(m, "", env);
    weft_job job = weft_job_new(0, 1, NULL);
    m->make(self, -1, NULL, &job);
    ok(job.mix.k == 4 && memcmp(job.mix.id, all.id, 4 * sizeof *all.id) == 0 &&
           memcmp(job.mix.conf, all.conf, 4 * NAXIS * sizeof *all.conf) == 0,
       "%s: the mixture of a schedule is taken as it is", m->kind.name);
}

static void tell(const weft_mixing *mixing, void *self, int64_t trial, const double *logp)
{
    weft_result res = weft_result_new(3, 0, mem);
    res.trial = trial;
    memcpy(res.logp, logp, 3 * sizeof *logp);
    mixing->told(self, &res);
}

static void test_told(const weft_mixing *m)
{
    static const double one[3] = {-1, -2, -3}, two[3] = {-4, -5, -6};
    void *self = mixing(m, "k=3", usual);
    job_of(m, self, 0);
    tell(m, self, 0, one);
    tell(m, self, 7, two);
    ok(memcmp(job_of(m, self, 0).mix.logp, one, sizeof one) == 0 &&
           memcmp(job_of(m, self, 7).mix.logp, two, sizeof two) == 0,
       "%s: a trial goes on with the probabilities after its last job", m->kind.name);
    weft_job other = job_of(m, self, 3);
    ok(is_uniform(&other.mix), "another one begins anew");
    m->forget(self, 0);
    weft_job again = job_of(m, self, 0);
    ok(is_uniform(&again.mix), "and so does one that was forgotten");
    tell(m, self, 3, one);
    ok(memcmp(job_of(m, self, 3).mix.logp, one, sizeof one) == 0 &&
           memcmp(job_of(m, self, 7).mix.logp, two, sizeof two) == 0,
       "whose place another one takes");
}

/* ---- configurations that evolve ---- */

enum { POPULATION = 8, SCORED = 6 };

/* A job in which the first SCORED configurations were scored, the first as the best; one of
 * them may have diverged. */
static void tell_scores(void *self, int64_t trial, int diverged)
{
    weft_result res = weft_result_new(POPULATION, 0, mem);
    res.trial = trial;
    res.by_error = 1;
    for (int i = 0; i < SCORED; i++) {
        res.arm_count[i] = 10;
        res.arm_wrong[i] = i;
        res.arm_loss[i] = i == diverged ? INFINITY : 1;
        if (i == diverged) res.arm_wrong[i] = 10;
    }
    weft_mixing_fedpop.told(self, &res);
}

static const double *entry(const weft_job *job, int i)
{
    return job->mix.conf + (size_t)i * NAXIS;
}

/* 1: they differ, in what clients draw alone, by at most eps of each axis. */
static int are_neighbours(const double *one, const double *other, double eps)
{
    double far = 0;
    for (int a = 0; a < NAXIS; a++)
        far = fmax(far, fabs(weft_axis_unit(&space.axis[a], one[a]) -
                             weft_axis_unit(&space.axis[a], other[a])));
    return far > 0 && far <= eps + 1e-12 && !(fabs(one[DECAY] - other[DECAY]) > 0);
}

/* A job with a mixture of its own. */
static weft_job made(void *self, int64_t trial, int64_t from, const double *conf)
{
    weft_job job = weft_job_new(trial, 1, NULL);
    job.from = from;
    weft_mixing_fedpop.make(self, 0, conf, &job);
    weft_mix mix = weft_mix_new(job.mix.k, NAXIS, mem);
    weft_mix_copy(&mix, &job.mix);
    job.mix = mix;
    return job;
}

static int differs(const weft_job *one, const weft_job *other, int i)
{
    return memcmp(entry(one, i), entry(other, i), NAXIS * sizeof(double)) != 0 ||
           one->mix.id[i] != other->mix.id[i];
}

static void test_evolution(int diverged)
{
    void *self = mixing(&weft_mixing_fedpop, "eps=0.1", usual);
    int worst = diverged >= 0 ? diverged : SCORED - 1, others = 0;
    weft_job first = made(self, 0, -1, centre), again = made(self, 0, -1, centre);
    for (int i = 0; i < POPULATION; i++) others += differs(&first, &again, i);
    ok(first.mix.k == POPULATION && others == 0,
       "fedpop: a trial keeps its configurations");
    tell_scores(self, 0, diverged);
    weft_job next = made(self, 0, -1, centre);
    for (int i = 0; i < POPULATION; i++) others += i != worst && differs(&first, &next, i);
    ok(others == 0, "after a job those stay that were not scored, or not among the worst");
    ok(are_neighbours(entry(&next, worst), entry(&first, 0), 0.1),
       "the worst quarter becomes neighbours of the best");
    ok(next.mix.id[worst] >= POPULATION, "with a new number");
    ok(is_uniform(&next.mix) && next.update.schedule == WEFT_UPDATE_SCORED,
       "clients draw all alike, and their scores are asked for");
}

static void test_copies(void)
{
    static const double own[NAXIS] = {0.01, 0.1, 0.75};
    void *self = mixing(&weft_mixing_fedpop, "eps=0.1", usual);
    made(self, 0, -1, centre);
    tell_scores(self, 0, -1);
    weft_job source = made(self, 0, -1, centre), copy = made(self, 1, 0, own);
    int same = 1, rest = 1, ids = 1;
    for (int i = 0; i < POPULATION; i++) {
        same &= memcmp(entry(&copy, i), entry(&source, i), DECAY * sizeof(double)) == 0;
        rest &= !(fabs(entry(&copy, i)[DECAY] - own[DECAY]) > 0);
        for (int j = 0; j < POPULATION; j++) ids &= copy.mix.id[i] != source.mix.id[j];
    }
    ok(same, "fedpop: a copy goes on with what clients drew in its source");
    ok(rest, "the rest is of its own configuration");
    ok(ids, "and so are its numbers");
    weft_mixing_fedpop.forget(self, 0);
    weft_job anew = made(self, 0, -1, own);
    ok(memcmp(entry(&anew, 0), own, sizeof own) == 0, "a forgotten trial begins anew");
}

/* ---- refusals ---- */

static void refused(const weft_mixing *m, const char *options, weft_mixing_env env,
                    const char *part)
{
    void *self = mixing(m, options, env);
    ok(!self && says(part) && !strchr(weft_error(), '\n'), "%s %s: refused, with '%s'",
       m->kind.name, options, part);
}

static void test_refusals(void)
{
    weft_mixing_env endless = usual, uncounted = usual, shared = usual;
    weft_mix all = weft_mix_new(4, NAXIS, mem);
    endless.resource = 0;
    uncounted.trials = 0;
    shared.whole = &all;
    refused(&weft_mixing_mw, "racing=yes literal=yes", usual, "racing");
    refused(&weft_mixing_mw, "levels=1", usual, "levels = 1");
    refused(&weft_mixing_fedex, "k=0", uncounted, "fedex.k");
    refused(&weft_mixing_fedex, "k=3", shared, "fedex.k");
    refused(&weft_mixing_fedpop, "", shared, "run.tuner");
    void *open = mixing(&weft_mixing_mw, "k=3", endless);
    ok(open && !(job_of(&weft_mixing_mw, open, 1).update.horizon > 0),
       "without a known end there are steps by the rounds so far");
    ok(mixing(&weft_mixing_mw, "k=3 racing=yes", endless) != NULL, "and races");
}

int main(int argc, char **argv)
{
    static const weft_mixing *const both[] = {&weft_mixing_fedex, &weft_mixing_mw};
    scratch_begin(&argc, &argv);
    open_space();
    test_fedex();
    test_discount();
    test_mw();
    for (int i = 0; i < 2; i++) {
        test_neighbours(both[i]);
        test_grid(both[i]);
        test_whole(both[i]);
        test_told(both[i]);
    }
    test_evolution(-1);
    test_evolution(3);
    test_copies();
    weft_job one = job_of(&weft_mixing_none, mixing(&weft_mixing_none, "", usual), 9);
    ok(one.mix.k == 1 && one.mix.id[0] == 9 &&
           memcmp(one.mix.conf, centre, sizeof centre) == 0,
       "none: a job has the configuration of its trial alone, with its number");
    test_refusals();
    return tap_end();
}
