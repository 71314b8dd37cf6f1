/* One training that finds its settings first: candidates are trained a little from the
 * first weights, the defaults among them; the best, the defaults and a close second go on
 * to three times as much, and the best of these with all that is left of the resource. The
 * axis on which most depends, a learning rate, is walked from its default, in factors of 4
 * until there are worse ones on both sides and then of 2. The defaults are left only for
 * what is better by a margin, of many samples a smaller one: on a plateau rates that do not
 * move seem better, and rates that diverge later may be the best at first. Early results
 * from the first weights order rates nearly as long trainings do; signals that look ahead
 * from trained weights prefer small rates: Wu, Ren, Liao, Grosse, "Understanding
 * short-horizon bias in stochastic meta-optimization", ICLR 2018. The rest is trained in
 * parts, each a trial that copies the one before it. A part without progress halves the
 * rate of those behind it. One that is worse than the best part, beyond the intervals of
 * both losses and the margin, is taken back: the next goes on from the best, with half the
 * rate, or with the next candidate if it diverged. The last part wins, or if its loss is
 * larger the one before it: the least of all losses would be that of the luckiest of few
 * samples. */
#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1 };
enum { GRID = 1 };             /* of space.source */
enum { STEPS = 40, WIDE = 2 }; /* steps of the walk on a side; between its first points */
enum { MORE = 2 };             /* times `each` that finalists get in addition */

struct outcome {
    weft_rank rank;
    double loss, bound; /* half of the loss's interval; 0: not known */
    double mean;        /* mean loss; NAN: not measured */
    int guesses;        /* 1: it is no better than guesses */
    double noise; /* what of the bound is noise, which other results do not have; else 0 */
};

struct candidate {
    double *conf;       /* [dim] */
    struct outcome got; /* its last result */
    double before;      /* mean loss of the result before it; INFINITY: there is none */
    int step;       /* factors of 2 from the start of the walk; STEPS + 1: it is no part */
    int jobs, told; /* asked for, told: candidates with more results are ahead */
    int failed;     /* 1: its part was worse */
};

struct one {
    /* options */
    int64_t resource, each, others, finalists, parts;
    double explore, margin;
    /* state */
    const weft_space *space;
    uint64_t seed;
    int lead;                    /* first axis; NOBODY: there is none */
    int64_t most;                /* candidates */
    int64_t planned, asked;      /* of these */
    int64_t crossed;             /* of those planned, with other settings */
    int64_t open;                /* jobs that are asked and not told yet */
    struct candidate *candidate; /* [most], one without candidates, and one for tries */
    int by_error;                /* 1: losses are error rates */
    int64_t begun;               /* candidate from which the first axis is walked: the
                                    defaults, or the best known one; NOBODY */
    int64_t of[2 * STEPS + 1];   /* candidate at each step from there; NOBODY */
    int64_t base;       /* candidate with which those are crossed that are planned */
    int64_t finals;     /* finalists asked for */
    int64_t rival;      /* the next best, if the best is not clearly better; NOBODY */
    int64_t best;       /* candidate whose part is trained; NOBODY: it explores */
    int64_t left, part; /* resource that is not asked for; resource of a part */
    int64_t trial;      /* of the last part; NOBODY before it */
    int64_t good;       /* trial whose weights the next part copies; NOBODY */
    int64_t top_trial;  /* the best trial of the parts, or the candidate before; NOBODY */
    struct outcome last, top; /* their results */
    int lowered;              /* factors of 2 by which the first axis is lowered */
};

static const weft_opt one_opts[] = {
    WEFT_RESOURCE_OPT(struct one, resource, "in all, with that of candidates"),
    WEFT_REAL_OPT("explore", struct one, explore, "0.25", 0, 0.9,
                  "share of the resource that candidates may have"),
    WEFT_REAL_OPT(
        "margin", struct one, margin, "0.02", 0, 1,
        "by how much a candidate must be better than the defaults to take their "
        "place: of error rates points / 100, or what is resolved by the number of "
        "samples if that is less; of losses a share"),
    WEFT_LONG_OPT("each", struct one, each, "0", 0, 1e9,
                  "resource of a candidate; 0: a fiftieth of all, at least 1"),
    WEFT_LONG_OPT(
        "others", struct one, others, "-1", -1, 1e6,
        "candidates that differ in more than the learning rate, at most; -1: none "
        "if that has a range, else as many as explore allows",
        .words = "auto"),
    WEFT_LONG_OPT("finalists", struct one, finalists, "3", 1, 1000,
                  "candidates that are trained three times as long, at most: the best, the "
                  "defaults, and one within the margin, or others while the defaults "
                  "stand; 1: none is"),
    WEFT_LONG_OPT(
        "parts", struct one, parts, "8", 1, 1000,
        "parts of the training behind: one without progress halves the learning "
        "rate, one that was worse is taken back; 1: nothing is, and a mixture goes "
        "on as it is"),
    {0},
};

/* ---- setup ---- */

/* Only random spaces have more values than are listed. */
static int lead_of(const weft_space *space)
{
    if (space->source != 0) return NOBODY;
    for (int a = 0; a < space->dim; a++)
        if (space->axis[a].opt->leads && space->axis[a].nwhen == 0) return a;
    return NOBODY;
}

static weft_status one_setup(void *self, const weft_space *space, uint64_t seed,
                             weft_arena *mem)
{
    struct one *one = self;
    if (one->resource == 0) one->resource = 1;
    if (one->each == 0) one->each = one->resource >= 100 ? one->resource / 50 : 1;
    one->space = space;
    one->seed = seed;
    one->lead = lead_of(space);
    one->most = (int64_t)(one->explore * (double)one->resource / (double)one->each);
    if (one->finalists == 1 || one->most < (2 * MORE + 1) * one->finalists / 2)
        one->finalists = 0;
    one->most -= MORE * one->finalists;
    if (one->others < 0) one->others = one->lead == NOBODY ? one->most : 0;
    if (space->source != 0 && one->most > space->count) one->most = space->count;
    if (one->most < 2 || space->dim == 0) one->most = one->finalists = 0;
    one->candidate = WEFT_NEW(mem, struct candidate, one->most + 2);
    double *conf = WEFT_NEW(mem, double, (one->most + 2) * space->dim);
    for (int64_t i = 0; i <= one->most + 1; i++)
        one->candidate[i].conf = conf + i * space->dim;
    for (int k = 0; k <= 2 * STEPS; k++) one->of[k] = NOBODY;
    one->best = one->begun = one->base = one->rival = one->trial = NOBODY;
    one->good = one->top_trial = NOBODY;
    one->left = one->resource;
    return WEFT_OK;
}

/* ---- candidates ---- */

static double margin_at(const struct one *one, double loss)
{
    return one->by_error ? one->margin : one->margin * fabs(loss);
}

/* The margin, or if that is less half of the 95 % interval that an error rate has by the
 * number of samples: of many samples less than two points tell. */
static double least_margin(const struct one *one, const struct outcome *than)
{
    double p = than->loss, n = (double)one->space->scored;
    double margin = margin_at(one, p);
    if (!one->by_error || !(n > 0 && p > 0 && p < 1)) return margin;
    return fmin(margin, fmax(than->bound, 1.96 * sqrt(p * (1 - p) / n)));
}

/* By how many margins the first is better. */
static double margins(double first, double second, double margin)
{
    if (!isfinite(first) || !isfinite(second))
        return 2.0 * (isfinite(first) - isfinite(second));
    return (second - first) / fmax(margin, 1e-300);
}

/* Half of the interval of the difference of two results that noise has. */
static double noise_of(const struct outcome *one, const struct outcome *other)
{
    return sqrt(one->noise * one->noise + other->noise * other->noise);
}

/* By how many margins a result is better than another; of error rates in both the error and
 * the mean loss, as each alone misleads: on a plateau the loss of rates that move is
 * larger, and few samples have errors that differ by chance. Where one of the two guesses,
 * in the error: answers that are all alike have a small mean loss. */
static double gain(const struct one *one, const struct outcome *got,
                   const struct outcome *than, double margin)
{
    double first = margins(got->loss, than->loss, margin);
    if (!one->by_error || isnan(got->mean) || isnan(than->mean)) return first;
    if (got->guesses != than->guesses) return first;
    double second = margins(got->mean, than->mean, one->margin * fabs(than->mean));
    if (first * second <= 0) return 0;
    return fabs(first) < fabs(second) ? first : second;
}

/* 1: the start has less results, or as many and is clearly worse, also beyond noise. Where
 * errors are equal, as those of guesses are, a larger rate of less loss, also than before,
 * has come further: a smaller one may not have moved, and a network that has broken stands
 * still. */
static int is_clear(const struct one *one, const struct candidate *candidate)
{
    const struct candidate *start = &one->candidate[one->begun];
    if (candidate->told != start->told) return candidate->told > start->told;
    const struct outcome *got = &candidate->got;
    double noise = noise_of(got, &start->got);
    if (gain(one, got, &start->got, least_margin(one, &start->got)) > 1 &&
        !(got->loss + noise >= start->got.loss))
        return 1;
    int larger = candidate->step > 0 && candidate->step <= STEPS && !(noise > 0);
    double than = fmin(start->got.mean, candidate->before);
    return larger && one->by_error &&
           fabs(got->loss - start->got.loss) < 0.1 * one->margin &&
           margins(got->mean, than, one->margin * fabs(than)) > 1;
}

/* Of candidates that were trained on, errors within a margin are ordered by mean losses,
 * which have less noise. */
static int is_ahead(const struct one *one, const struct candidate *first,
                    const struct candidate *second)
{
    if (first->told != second->told) return first->told > second->told;
    const struct outcome *got = &first->got, *than = &second->got;
    int close = fabs(got->loss - than->loss) <= least_margin(one, than) &&
                got->guesses == than->guesses && fabs(got->mean - than->mean) > 0;
    if (one->by_error && first->told > 1 && close) return got->mean < than->mean;
    return weft_rank_before(got->rank, than->rank);
}

/* The best candidate, of those that have at most `jobs` jobs, did not fail and, if `clear`,
 * are clearly better than the start; NOBODY. */
static int64_t best_of(const struct one *one, int jobs, int clear)
{
    int64_t best = NOBODY;
    for (int64_t i = 0; i < one->asked; i++) {
        const struct candidate *candidate = &one->candidate[i];
        if (candidate->failed || candidate->jobs > jobs) continue;
        if (clear && !is_clear(one, candidate)) continue;
        if (best == NOBODY || is_ahead(one, candidate, &one->candidate[best])) best = i;
    }
    return best;
}

/* The candidate to go on with: the best that is clearly better than the start, or that. */
static int64_t choice_of(const struct one *one, int jobs)
{
    int64_t best = best_of(one, jobs, 1);
    return best == NOBODY ? one->begun : best;
}

/* The value, or NAN if the start would be forbidden with it on the first axis. */
static double allowed(const struct one *one, double value)
{
    double *conf = one->candidate[one->most + 1].conf;
    memcpy(conf, one->candidate[one->begun].conf, (size_t)one->space->dim * sizeof *conf);
    conf[one->lead] = value;
    return weft_space_forbids(one->space, conf) ? (double)NAN : value;
}

/* The value on the first axis `step` factors of 2, or places of a list, from the start;
 * NAN: it is not on the axis, or forbidden. */
static double value_at(const struct one *one, int step)
{
    const weft_axis *axis = &one->space->axis[one->lead];
    double start = one->candidate[one->begun].conf[one->lead];
    if (axis->nvalue > 0) {
        int at = weft_axis_index(axis, start) + step;
        return allowed(one, at >= 0 && at < axis->nvalue ? axis->value[at] : (double)NAN);
    }
    double value = ldexp(start, step);
    if (axis->opt->type != WEFT_REAL) value = round(value);
    return allowed(one, value >= axis->lo && value <= axis->hi ? value : (double)NAN);
}

static void plan(struct one *one, int step)
{
    if (one->planned == one->most) return;
    if (step <= STEPS) one->of[STEPS + step] = one->planned;
    one->candidate[one->planned++].step = step;
}

/* Plans the candidate at that step, unless there is one, or cannot be. */
static void plan_step(struct one *one, int step)
{
    if (step < -STEPS || step > STEPS || one->of[STEPS + step] != NOBODY) return;
    if (!isnan(value_at(one, step))) plan(one, step);
}

/* 1: on this side of `step` there is a candidate within WIDE steps. */
static int is_closed(const struct one *one, int step, int side)
{
    for (int k = 1; k <= WIDE; k++) {
        int at = step + side * k;
        if (at >= -STEPS && at <= STEPS && one->of[STEPS + at] != NOBODY) return 1;
    }
    return 0;
}

/* 1: noise hides by how much those WIDE steps from here are better or worse. */
static int is_hidden(const struct one *one, int64_t here, int step)
{
    const struct outcome *at = &one->candidate[here].got;
    for (int side = -1; side <= 1; side += 2) {
        int to = STEPS + step + side * WIDE;
        if (to < 0 || to > 2 * STEPS || one->of[to] == NOBODY) continue;
        const struct outcome *got = &one->candidate[one->of[to]].got;
        if (!(fabs(got->loss - at->loss) <= noise_of(got, at))) return 0;
    }
    return at->noise > 0;
}

/* Candidates around the best on the first axis: where there is none within WIDE steps on a
 * side, the one WIDE steps away; if both sides have one, those next to it, unless noise
 * hides what even those far away change. */
static void plan_line(struct one *one)
{
    int64_t choice = choice_of(one, 1);
    int best = choice == one->begun ? 0 : one->candidate[choice].step;
    int64_t before = one->planned;
    for (int side = -1; side <= 1; side += 2)
        if (!is_closed(one, best, side)) plan_step(one, best + side * WIDE);
    if (one->planned > before || is_hidden(one, choice, best)) return;
    for (int side = -1; side <= 1; side += 2) plan_step(one, best + side);
}

/* Plans the next candidates, once all before them are told. */
static void plan_next(struct one *one)
{
    const weft_space *space = one->space;
    int64_t listed = space->source != GRID && space->listed > 0 ? space->listed : 1;
    if (one->planned == 0) {
        while (one->planned < listed && one->planned < one->most) plan(one, STEPS + 1);
        return;
    }
    if (one->begun == NOBODY) {
        one->begun = best_of(one, 1, 0);
        one->of[STEPS] = one->begun;
    }
    if (one->lead != NOBODY) plan_line(one);
    if (one->planned > one->asked) return;
    one->base = choice_of(one, 1);
    int others = space->dim - (one->lead != NOBODY);
    while (others > 0 && one->crossed < one->others && one->planned < one->most) {
        one->crossed++;
        plan(one, STEPS + 1);
    }
}

/* A value some factors of 2, or values of a list, above or below, or the end of the axis.
 */
static double moved(const weft_axis *axis, double value, int step)
{
    if (axis->nvalue == 0) return fmin(fmax(ldexp(value, step), axis->lo), axis->hi);
    for (int k = abs(step); k > 0; k--) value = weft_axis_step(axis, value, step);
    return value;
}

/* Of a candidate that is crossed: each axis keeps, with probability 1/2, the value of the
 * best; one does not, by draw. The first axis moves by up to one step. */
static void cross(const struct one *one, int64_t trial, const double *best, double *conf)
{
    const weft_space *space = one->space;
    weft_rng4 rng = weft_rng_at(one->seed, WEFT_RNG_TUNER, (uint64_t)trial, 0,
                                weft_hash("cross", 5, 0));
    int other = space->dim - (one->lead != NOBODY), anew = -1;
    if (other > 0) anew = (int)(weft_rng_unit(rng.v[0]) * other);
    for (int a = 0; a < space->dim; a++) {
        if (a == one->lead) continue;
        rng = weft_rng_at(one->seed, WEFT_RNG_TUNER, (uint64_t)trial,
                          weft_axis_key(&space->axis[a]), weft_hash("cross", 5, 0));
        if (anew-- != 0 && weft_rng_unit(rng.v[0]) < 0.5) conf[a] = best[a];
    }
    if (one->lead == NOBODY) return;
    int step = (int)(3 * weft_rng_unit(rng.v[1])) - 1;
    conf[one->lead] = moved(&space->axis[one->lead], best[one->lead], step);
}

/* The configuration of a candidate; on entry that of the sampler. */
static void one_place(void *self, int64_t trial, double *conf)
{
    struct one *one = self;
    const weft_space *space = one->space;
    size_t bytes = (size_t)space->dim * sizeof *conf;
    weft_check(trial >= 0 && trial <= one->most, "trial %lld of %lld", (long long)trial,
               (long long)one->most);
    struct candidate *candidate = &one->candidate[trial];
    if (trial >= space->listed && one->lead != NOBODY && one->begun != NOBODY) {
        double *own = one->candidate[one->most + 1].conf;
        double value = candidate->step <= STEPS ? value_at(one, candidate->step) : 0;
        memcpy(own, conf, bytes);
        if (candidate->step <= STEPS) {
            memcpy(conf, one->candidate[one->begun].conf, bytes);
            conf[one->lead] = value;
        } else {
            cross(one, trial, one->candidate[one->base].conf, conf);
        }
        weft_space_settle(space, one->seed, (uint64_t)trial, conf);
        if (weft_space_forbids(space, conf)) memcpy(conf, own, bytes);
    } else if (trial == 0 && space->source == 0 && space->listed == 0) {
        weft_space_defaults(space, conf);
    }
    if (bytes > 0) memcpy(candidate->conf, conf, bytes);
}

/* ---- the training behind ---- */

/* A part is trained with the settings of the candidate whose turn it is. */
static void one_explore(const void *self, int64_t trial, const double *from, double *conf)
{
    const struct one *one = self;
    (void)trial;
    (void)from;
    if (one->space->dim == 0) return;
    memcpy(conf, one->candidate[one->best].conf, (size_t)one->space->dim * sizeof *conf);
    if (one->lead == NOBODY) return;
    const double best = conf[one->lead];
    conf[one->lead] = moved(&one->space->axis[one->lead], best, -one->lowered);
    if (weft_space_forbids(one->space, conf)) conf[one->lead] = best;
}

static void commit(struct one *one)
{
    one->best = one->asked > 0 ? choice_of(one, 1 + (one->finals > 0)) : 0;
    if (one->asked > 0) {
        one->trial = one->asked - 1;
        one->good = one->top_trial = one->best;
        one->last = one->top = one->candidate[one->best].got;
    }
    one->part = (one->left + one->parts - 1) / one->parts;
}

static weft_asked ask_part(struct one *one, weft_job *job)
{
    if (one->open > 0) return WEFT_WAIT;
    if (one->left == 0) return WEFT_DONE;
    int64_t more = one->left < one->part ? one->left : one->part;
    if (one->parts == 1 && one->asked > 0) { /* nothing can be taken back */
        one->trial = one->best;
        *job = weft_job_new(one->best, (double)more, NULL);
        job->index = one->candidate[one->best].jobs;
    } else {
        *job = weft_job_new(++one->trial, (double)more, NULL);
        job->from = one->good;
    }
    job->last = one->left == more;
    one->left -= more;
    job->eligibility = one->left > one->part ? WEFT_WINS_LAST : WEFT_WINS_LOSS;
    one->open = 1;
    return WEFT_JOB;
}

static weft_asked ask_candidate(struct one *one, int64_t i, int64_t more, weft_job *job)
{
    *job = weft_job_new(i, (double)more, NULL);
    job->index = one->candidate[i].jobs++;
    job->eligibility = WEFT_WINS_LAST;
    one->left -= more;
    one->open++;
    return WEFT_JOB;
}

/* The next best, if it is clearly better than the start and within the margin of `best`, as
 * little training does not tell which of the two ends better; NOBODY. */
static int64_t rival_of(struct one *one, int64_t best)
{
    struct candidate *own = &one->candidate[best];
    own->jobs++; /* all but this one */
    int64_t next = best_of(one, 1, 1);
    own->jobs--;
    if (next == NOBODY) return NOBODY;
    const struct outcome *got = &one->candidate[next].got;
    return got->loss - own->got.loss > margin_at(one, got->loss) ? NOBODY : next;
}

/* The next finalist: the best, then the start; if that is not clearly worse, the next best,
 * otherwise the rival of the best. NOBODY: there is none. */
static int64_t finalist(struct one *one)
{
    if (one->asked == 0 || one->finals == one->finalists) return NOBODY;
    if (one->finals == 0) {
        int64_t best = choice_of(one, 1);
        if (best == one->begun) return NOBODY;
        one->rival = rival_of(one, best);
        return best;
    }
    if (one->finals == 1) return one->begun;
    if (choice_of(one, 2) == one->begun) return best_of(one, 1, 0);
    return one->finals == 2 ? one->rival : NOBODY;
}

static weft_asked one_ask(void *self, weft_job *job)
{
    struct one *one = self;
    if (one->best != NOBODY) return ask_part(one, job);
    if (one->asked == one->planned && one->finals == 0) {
        if (one->open > 0) return WEFT_WAIT;
        plan_next(one);
    }
    if (one->asked < one->planned) return ask_candidate(one, one->asked++, one->each, job);
    if (one->open > 0 && one->finals != 1) return WEFT_WAIT;
    int64_t next = finalist(one);
    if (next != NOBODY) {
        one->finals++;
        return ask_candidate(one, next, MORE * one->each, job);
    }
    if (one->open > 0) return WEFT_WAIT;
    commit(one);
    return ask_part(one, job);
}

static struct outcome outcome_of(const struct one *one, const weft_result *res)
{
    return (struct outcome){.loss = res->loss,
                            .bound = isfinite(res->bound) ? res->bound : 0,
                            .noise = res->noised && isfinite(res->bound) ? res->bound : 0,
                            .mean = weft_result_tie(res),
                            .guesses = weft_result_guesses(res, one->space->guess),
                            .rank = weft_result_rank(res)};
}

/* The next part goes on from the best one, with half the rate; or after one that diverged,
 * or where there is no rate, with the settings of the next candidate, if there is one. */
static void take_back(struct one *one, const weft_result *res)
{
    int broken = !isfinite(res->loss);
    struct candidate *own = &one->candidate[one->best];
    one->good = one->top_trial;
    one->last = one->top;
    own->failed = 1;
    int64_t next = broken || one->lead == NOBODY ? best_of(one, 2, 0) : NOBODY;
    one->lowered = next == NOBODY ? one->lowered + 1 : 0;
    if (next != NOBODY) one->best = next;
    weft_log(WEFT_INFO,
             "trial %lld %s and is taken back; trial %lld goes on from trial %lld, with %s "
             "settings of trial %lld",
             (long long)res->trial, broken ? "diverged" : "lost what was won",
             (long long)res->trial + 1, (long long)one->good,
             one->lowered > 0 && one->lead != NOBODY ? "a smaller rate than in the" : "the",
             (long long)one->best);
}

static void tell_part(struct one *one, const weft_result *res)
{
    struct outcome part = outcome_of(one, res);
    const struct outcome *top = &one->top, *last = &one->last;
    int first = one->top_trial == NOBODY;
    int lost = part.loss > top->loss + top->bound + part.bound &&
               gain(one, &part, top, margin_at(one, top->loss)) < -1;
    if (!first && (lost || !isfinite(part.loss))) {
        take_back(one, res);
        return;
    }
    if (!first && part.loss >= last->loss + noise_of(&part, last) &&
        !(part.mean < last->mean))
        one->lowered++;
    one->good = res->trial;
    one->last = part;
    if (!first && !weft_rank_before(part.rank, top->rank)) return;
    one->top = part;
    one->top_trial = res->trial;
}

static void one_tell(void *self, const weft_result *res)
{
    struct one *one = self;
    int part = one->best != NOBODY;
    weft_check(one->open > 0 && (part ? res->trial == one->trial
                                      : res->trial >= 0 && res->trial < one->asked),
               "told of trial %lld, which has no job", (long long)res->trial);
    one->open--;
    one->by_error = res->by_error;
    if (part) {
        tell_part(one, res);
        return;
    }
    struct candidate *candidate = &one->candidate[res->trial];
    candidate->before = candidate->told > 0 ? candidate->got.mean : INFINITY;
    candidate->got = outcome_of(one, res);
    candidate->told++;
}

static int one_ended(const void *self, int64_t trial)
{
    const struct one *one = self;
    int open = one->open > 0;
    if (one->best == NOBODY) return 0;
    int copied = trial == one->good || trial == one->top_trial;
    return !((open || one->left > 0) && copied) && !(open && trial == one->trial);
}

static int64_t one_jobs(const void *self)
{
    const struct one *one = self;
    int64_t candidates = one->best == NOBODY ? one->most : one->asked,
            finals = one->best == NOBODY ? one->finalists : one->finals;
    int64_t rest = one->resource - (candidates + MORE * finals) * one->each;
    int64_t part = (rest + one->parts - 1) / one->parts;
    return candidates + finals + (rest + part - 1) / part;
}

WEFT_PLUGIN(tuner, one) = {
    .kind =
        WEFT_KIND("one", struct one, one_opts,
                  "one training that finds its settings first, then spends all the rest"),
    .setup = one_setup,
    .ask = one_ask,
    .tell = one_tell,
    .jobs = one_jobs,
    .ended = one_ended,
    .place = one_place,
    .explore = one_explore,
    .sizes = "one.explore and one.each",
    .waits = 1,
};
