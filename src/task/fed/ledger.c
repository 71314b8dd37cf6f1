/* Section [privacy], and its ledger: which releases some jobs make, and what these cost
 * together. It is a function of jobs alone: a job that is done again, on other ranks
 * or after a kill, has the same bits and so is the same release. The search is not private
 * by itself; it sees noised scores only, and what it does with them costs nothing more. */
#include "privacy.h"
#include "weft/base/base.h"
#include "weft/privacy/accounting.h"

#include <math.h>

static const weft_opt privacy_opts[] = {
    WEFT_REAL_OPT("clip", struct fed_privacy, clip, "0", 0, 1e12,
                  "L2 norm to which longer changes of clients are shortened; 0: privacy is "
                  "off. Of privacy.quantile: at first"),
    WEFT_REAL_OPT("quantile", struct fed_privacy, quantile, "0", 0, 0.99,
                  "share of changes that are to be no longer than the clip, which follows "
                  "it from round to round; 0: the clip stays"),
    WEFT_REAL_OPT("quantile_noise", struct fed_privacy, quantile_noise, "0", 0, 1e6,
                  "multiplier of the noise of their number; 0: of s.d. fed.cohort / 20"),
    WEFT_REAL_OPT("noise", struct fed_privacy, noise, "0", 0, 1e6,
                  "multiplier of the noise of changes, with that of the quantile: s.d. / "
                  "the most that one client moves their sum, which is the clip, or twice "
                  "that where privacy.sampling = fixed. 0: none"),
    WEFT_REAL_OPT("epsilon", struct fed_privacy, epsilon, "0", 0, 1e3,
                  "in place of privacy.noise: what the whole run may cost, all trainings, "
                  "scores and evaluations that are planned; 0: privacy.noise is given"),
    WEFT_REAL_OPT("delta", struct fed_privacy, delta, "0", 0, 0.5,
                  "of (epsilon, delta); 0: 1 / clients^1.1"),
    WEFT_CHOICE_OPT("sampling", struct fed_privacy, sampling, "fixed", "fixed|poisson",
                    "clients of a round: fed.cohort of all, or each with probability "
                    "fed.cohort / clients, which takes less noise"),
    WEFT_CHOICE_OPT("mechanism", struct fed_privacy, mechanism, "gaussian", "gaussian|tree",
                    "noise that is new in each round, or of a binary tree over rounds "
                    "(DP-FTRL), where clients take turns and no chance of being left out "
                    "is counted on"),
    WEFT_REAL_OPT("score_noise", struct fed_privacy, score_noise, "10", 0.01, 1e6,
                  "multiplier of the noise of scores of rounds and evaluations"),
    {0},
};

const weft_kind fed_privacy_kind = WEFT_KIND("privacy", struct fed_privacy, privacy_opts,
                                             "task fed: differential privacy by client");

/* ---- what jobs release ---- */

int fed_rounds_scored(const fed_task *fed)
{
    return fed->options.score_both || fed->options.select != FED_EVAL;
}

/* The rounds of a trial: of its own, and those behind its state. */
struct rounds {
    double own, all;
    int begun, copy;
};

static double count_of(double all, double every)
{
    return floor(all / every);
}

/* Evaluations of a job whose trial has had `before` rounds. */
static double evaluations_of(const fed_task *fed, const weft_job *job, double before)
{
    double rounds = floor(job->resource), every = (double)fed->options.eval_every, n = 0;
    if (rounds < 1) return 1;
    if (every > 0) n = count_of(before + rounds, every) - count_of(before, every);
    int due = every > 0 && !(fmod(before + rounds, every) > 0);
    return n + (fed->options.eval_clients >= 0 && !due);
}

/* Adds a job; *rounds: of its trial, from: of the trial that it copies, or NULL. */
static void add_job(const fed_task *fed, const weft_job *job, struct rounds *rounds,
                    const struct rounds *from, fed_released *out)
{
    double more = job->resource >= 1 ? floor(job->resource) : 0;
    if (!rounds->begun && from) rounds->all = from->all;
    rounds->copy |= !rounds->begun && from;
    *(fed_rounds_scored(fed) ? &out->scored : &out->plain) += more;
    out->evaluations += evaluations_of(fed, job, rounds->all);
    out->evaluations += rounds->copy && !rounds->begun && fed->options.eval_every > 0;
    rounds->begun = 1;
    rounds->own += more;
    rounds->all += more;
}

/* Restarts of a trial's tree in which a client may take part; a copy begins within one. */
static double restarts_of(const struct fed_privacy *privacy, const struct rounds *rounds)
{
    if (privacy->mechanism != FED_TREE || !(rounds->own > 0)) return 0;
    return ceil(rounds->own / (double)privacy->restart) + rounds->copy;
}

fed_released fed_released_by(const fed_task *fed, int64_t n, const weft_job *job, int parts)
{
    WEFT_SCRATCH(tmp);
    fed_released out = {.evaluations = parts};
    int64_t trials = 0;
    for (int64_t i = 0; i < n; i++)
        if (job[i].trial >= trials) trials = job[i].trial + 1;
    struct rounds *rounds = WEFT_NEW(tmp, struct rounds, trials);
    for (int64_t i = 0; i < n; i++)
        add_job(fed, &job[i], &rounds[job[i].trial],
                job[i].from >= 0 ? &rounds[job[i].from] : NULL, &out);
    for (int64_t t = 0; t < trials; t++) {
        out.restarts += restarts_of(fed->modes.privacy, &rounds[t]);
        out.longest = fmax(out.longest, rounds[t].own);
    }
    return out;
}

/* ---- what they cost ---- */

/* The multiplier of two releases of the same clients as one. */
static double joined(double one, double other)
{
    return one > 0 && other > 0 ? 1 / sqrt(1 / (one * one) + 1 / (other * other)) : 0;
}

/* A client is in one round between two restarts of a tree, and in the scores of that. */
static int tree_releases(const struct fed_privacy *privacy, const fed_released *released,
                         int what, weft_release *release)
{
    int n = 0;
    double steps = fmin((double)privacy->restart, released->longest);
    if (what & FED_WEIGHTS)
        release[n++] = (weft_release){.sampling = WEFT_SAMPLED_TREE,
                                      .noise = privacy->noise,
                                      .times = (int64_t)released->restarts,
                                      .steps = (int64_t)steps};
    if ((what & FED_SCORED) && released->scored > 0)
        release[n++] = (weft_release){.sampling = WEFT_SAMPLED_EACH,
                                      .share = 1,
                                      .noise = privacy->score_noise,
                                      .times = (int64_t)released->restarts};
    return n;
}

static int round_releases(const struct fed_privacy *privacy, const fed_released *released,
                          int what, weft_release *release)
{
    int n = 0;
    weft_release one = {.sampling = privacy->sampling == FED_SAMPLED_POISSON
                                        ? WEFT_SAMPLED_EACH
                                        : WEFT_SAMPLED_FIXED,
                        .share = privacy->share,
                        .noise = privacy->noise,
                        .times = (int64_t)released->plain};
    if (what == FED_WEIGHTS) one.times += (int64_t)released->scored;
    if (what & FED_WEIGHTS) release[n++] = one;
    if (!(what & FED_SCORED)) return n;
    one.times = (int64_t)released->scored;
    one.noise = what & FED_WEIGHTS ? joined(privacy->noise, privacy->score_noise)
                                   : privacy->score_noise;
    release[n++] = one;
    return n;
}

/* Their kinds for weft_epsilon into release[FED_RELEASES]; returns how many. */
static int releases_of(const struct fed_privacy *privacy, const fed_released *released,
                       int what, weft_release *release)
{
    int tree = privacy->mechanism == FED_TREE;
    int n = (tree ? tree_releases : round_releases)(privacy, released, what, release);
    int each = tree || privacy->sampling == FED_SAMPLED_POISSON;
    if (what & FED_SCORED)
        release[n++] =
            (weft_release){.sampling = each ? WEFT_SAMPLED_EACH : WEFT_SAMPLED_FIXED,
                           .share = 1,
                           .noise = privacy->score_noise,
                           .times = (int64_t)released->evaluations};
    return n;
}

static double epsilon_of(const struct fed_privacy *privacy, const fed_released *released,
                         int what)
{
    weft_release release[FED_RELEASES];
    WEFT_SCRATCH(tmp);
    int n = releases_of(privacy, released, what, release);
    return weft_epsilon(n, release, privacy->delta, tmp);
}

int fed_ledger(const void *self, int64_t n, const weft_job *job, int parts,
               weft_ledger *out)
{
    const fed_task *fed = self;
    const struct fed_privacy *privacy = fed->modes.privacy;
    if (!privacy || fed->env.scoring) return 0;
    fed_released released = fed_released_by(fed, n, job, parts);
    *out = (weft_ledger){.epsilon = epsilon_of(privacy, &released, FED_EVERYTHING),
                         .weights = epsilon_of(privacy, &released, FED_WEIGHTS),
                         .scores = epsilon_of(privacy, &released, FED_SCORED),
                         .delta = privacy->delta,
                         .noise = privacy->noise,
                         .score_noise = privacy->score_noise,
                         .rounds = (int64_t)(released.plain + released.scored),
                         .scored = (int64_t)released.scored,
                         .evaluations = (int64_t)released.evaluations,
                         .sampling = privacy->mechanism == FED_TREE             ? "tree"
                                     : privacy->sampling == FED_SAMPLED_POISSON ? "poisson"
                                                                                : "fixed"};
    return 1;
}

/* ---- noise for a target ---- */

/* Noises have three digits: 900 a decade, from 10^-2 to 10^4. */
enum { A_DECADE = 900, NOISES = 6 * A_DECADE };

static double noise_at(int i)
{
    return (100 + i % A_DECADE) * pow(10, i / A_DECADE - 4);
}

/* A larger bound of the same, which is found at once. */
static double bound_of(const struct fed_privacy *privacy, const fed_released *released,
                       int what)
{
    weft_release release[FED_RELEASES];
    int n = releases_of(privacy, released, what, release);
    return weft_epsilon_renyi(n, release, privacy->delta);
}

/* The place of the least noise whose bound is within `epsilon`; NOISES + 1: none is. */
static int least_noise(struct fed_privacy *tried, const fed_released *released,
                       double epsilon)
{
    int from = 0, to = NOISES + 1;
    while (from < to) {
        const int at = (from + to) / 2;
        tried->noise = noise_at(at);
        if (bound_of(tried, released, FED_EVERYTHING) <= epsilon)
            to = at;
        else
            from = at + 1;
    }
    return from;
}

double fed_noise_for(const struct fed_privacy *privacy, const fed_released *released)
{
    struct fed_privacy tried = *privacy;
    double ratio = 1; /* of epsilon to its bound, which changes little with the noise */
    int at = 0, before = -1;
    for (int tries = 0; at != before && tries < 8; tries++) {
        before = at;
        at = least_noise(&tried, released, privacy->epsilon / ratio);
        if (at > NOISES) break;
        tried.noise = noise_at(at);
        ratio = epsilon_of(&tried, released, FED_EVERYTHING) /
                bound_of(&tried, released, FED_EVERYTHING);
    }
    for (; at <= NOISES; at++) {
        tried.noise = noise_at(at);
        if (epsilon_of(&tried, released, FED_EVERYTHING) <= privacy->epsilon)
            return tried.noise;
    }
    return INFINITY;
}
