/* What a federation with privacy does otherwise than one without: it draws clients for each
 * trial and round anew, clips their changes, adds noise to sums and divides them by a fixed
 * number. Noise is a function of run.seed, so that a release is the same whoever computes
 * it; whoever is shown the releases must not have the seed. It is made in doubles of 53
 * random bits by Box and Muller, and reaches 8.6 standard deviations: what the last bits of
 * a sum tell (Mironov, "On significance of the least significant bits for differential
 * privacy", 2012) is not covered.
 *
 * McMahan, Ramage, Talwar, Zhang, "Learning differentially private recurrent language
 * models", ICLR 2018; Andrew, Thakkar, McMahan, Ramaswamy, "Differentially private learning
 * with adaptive clipping", NeurIPS 2021; Kairouz, McMahan, Song, Thakkar, Thakurta, Xu,
 * "Practical and private (deep) learning without sampling or shuffling", ICML 2021. */
#include "privacy.h"
#include "compress.h"
#include "weft/base/base.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

/* ---- keys of random numbers ---- */

/* What is drawn, in the upper bits of the second number of a key; the round below. */
enum { DRAW = 1, CHANGES, COUNT, SCORES, EVALUATED, WINNER, NODE };
enum { KIND_BIT = 56, LEVEL_BIT = 48 };

static weft_rng4 random_of(const fed_task *fed, int64_t trial, uint64_t kind,
                           uint64_t round, uint64_t place)
{
    return weft_rng_at(fed->env.seed, WEFT_RNG_PRIVACY, (uint64_t)trial,
                       kind << KIND_BIT | round, place);
}

static int64_t trial_of(const fed_trial_state *trial)
{
    return (int64_t)trial->head->trial;
}

static uint64_t round_of(const fed_trial_state *trial)
{
    return (uint64_t)trial->head->round;
}

/* ---- set-up ---- */

struct refusal {
    int found;
    const char *what;
};

static weft_status refuse(const struct refusal *refusal)
{
    for (; refusal->what; refusal++)
        if (refusal->found)
            return weft_fail(WEFT_ECONF, "section [privacy]: %s", refusal->what);
    return WEFT_OK;
}

static int is_set(const fed_task *fed, const char *section, const char *key)
{
    const weft_entry *entry = weft_conf_find(fed->env.conf, section, key);
    return entry && !weft_conf_is_default(entry);
}

/* ECONF: options of the section that exclude each other. */
static weft_status check_own(const fed_task *fed, const struct fed_privacy *privacy)
{
    int tree = privacy->mechanism == FED_TREE, poisson = privacy->sampling;
    const struct refusal refusal[] = {
        {privacy->epsilon > 0 && privacy->noise > 0,
         "privacy.epsilon is a target for which the noise is solved; give either it or "
         "privacy.noise"},
        {tree && poisson, "privacy.mechanism = tree has clients take turns; leave out "
                          "privacy.sampling = poisson"},
        {tree && privacy->quantile > 0,
         "privacy.mechanism = tree needs a clip that stays; leave out privacy.quantile"},
        {!(privacy->quantile > 0) && is_set(fed, "privacy", "quantile_noise"),
         "privacy.quantile_noise is without effect; give privacy.quantile, or leave it "
         "out"},
        {0, NULL}};
    return refuse(refusal);
}

/* ECONF: a client of the algorithm sends more than a change, or keeps what is written to
 * the run file. */
static weft_status check_algorithm(const fed_task *fed)
{
    const weft_algorithm *algorithm = fed->algorithm;
    if (fed->at.each == 0 && fed->at.nshared == 0 && !algorithm->add &&
        !algorithm->divisor && !algorithm->server)
        return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "section [privacy]: with fed.algorithm = %s clients send or keep more "
                     "than a change, which has no entry in the ledger; choose fedavg",
                     fed->options.algorithm_name);
}

/* ECONF: the server or the record would use sums that have no entry in the ledger. */
static weft_status check_sums(const fed_task *fed)
{
    const fed_options *options = &fed->options;
    const fed_modes *modes = &fed->modes;
    const struct fed_compress *compress = modes->compress;
    const struct refusal refusal[] = {
        {modes->rule != NULL, "a rule of the server other than the mean has no entry in "
                              "the ledger; set rule.kind = mean"},
        {modes->buffer != NULL, "buffered rounds have no entry in the ledger; set "
                                "fed.aggregation = sync"},
        {modes->choice != NULL, "a choice of clients has no entry in the ledger; set "
                                "fed.choose = uniform"},
        {compress && compress->client == FED_TOPK,
         "what clients keep by compress.client = topk has no entry in the ledger; choose "
         "quantize"},
        {compress && compress->client == FED_SKETCH,
         "compress.client = sketch sends no change that could be clipped; choose quantize"},
        {options->replacement, "fed.replacement = yes draws a client twice, which has no "
                               "entry in the ledger; leave it out"},
        {options->new_share > 0, "scores of fed.new_clients have no entry in the ledger; "
                                 "leave it out"},
        {options->score != FED_ERROR && options->score != FED_LOSS,
         "fed.score must be error or loss, of which each client has its own"},
        {options->select == FED_BOUND,
         "fed.select = bound needs how clients differ, which has no entry in the ledger; "
         "choose pooled, last, best or eval"},
        {fed->env.balanced, "run.class_weights = balanced counts the samples of classes, "
                            "which has no entry in the ledger; leave it out"},
        {fed->told.n > 0, "metrics of a worker's own have no entry in the ledger; have it "
                          "describe none"},
        {0, NULL}};
    return refuse(refusal);
}

/* ECONF: times, the search or the data would tell of clients what has no noise. */
static weft_status check_around(const fed_task *fed)
{
    const weft_device *device = &fed->device;
    const weft_data *data = fed->env.data;
    const weft_entry *mixing = weft_conf_find(fed->env.conf, "run", "mixing"),
                     *tuner = weft_conf_find(fed->env.conf, "run", "tuner");
    int timed = device->sample_seconds > 0 || device->flops > 0 || device->up > 0 ||
                device->down > 0 || device->latency > 0 || device->rows > 0;
    int columns = data->form == WEFT_REALS && data->channels == 0 &&
                  fed->clients->channels == 0 && !weft_data_generated(data);
    const struct refusal refusal[] = {
        {timed, "virtual seconds would tell who took part; leave out "
                "device.sample_seconds, flops, up, down, latency and file"},
        {device->over > 1, "device.over lets one client take the place of another; leave "
                           "it out"},
        {mixing && strcmp(mixing->value, "none") != 0,
         "scores by configuration have no entry in the ledger; give run.mixing = none"},
        {tuner && strncmp(tuner->value, "ws_", 3) == 0,
         "scores by configuration have no entry in the ledger; choose run.tuner = random, "
         "sha, hyperband, asha, pbt or one"},
        {columns && fed->env.scaled,
         "columns would be scaled by the numbers of all clients, which has no entry in the "
         "ledger; give run.scale = none"},
        {0, NULL}};
    return refuse(refusal);
}

/* The probability of more than `most` clients is below exp(-30), by Bernstein. */
static int64_t most_of(const fed_task *fed, const struct fed_privacy *privacy)
{
    double mean = (double)fed->options.cohort;
    if (privacy->sampling != FED_SAMPLED_POISSON) return fed->options.cohort;
    return (int64_t)fmin(ceil(mean + 10 + sqrt(100 + 60 * mean)), (double)fed->old.n);
}

/* The multiplier of the count of short changes. */
static double count_noise(const fed_task *fed, const struct fed_privacy *privacy)
{
    if (privacy->quantile_noise > 0) return privacy->quantile_noise;
    return (double)fed->options.cohort / 20 / (privacy->reach / 2);
}

/* What of the noise the changes have, where the count has its part. ECONF. */
static weft_status split_noise(const fed_task *fed, struct fed_privacy *privacy)
{
    double count = count_noise(fed, privacy), noise = privacy->noise;
    privacy->change_noise = noise;
    if (!(privacy->quantile > 0) || !(noise > 0)) return WEFT_OK;
    if (noise >= count)
        return weft_fail(WEFT_ECONF,
                         "section [privacy]: the count of privacy.quantile has noise of "
                         "multiplier %.4g, and with that of the changes it must be more "
                         "than %.4g; make privacy.quantile_noise or fed.cohort larger",
                         count, noise);
    privacy->change_noise = 1 / sqrt(1 / (noise * noise) - 1 / (count * count));
    return WEFT_OK;
}

/* The noise for a target: what is planned must be known, and stay. ECONF. Collective. */
static weft_status solve_noise(fed_task *fed, struct fed_privacy *privacy)
{
    const weft_env *env = &fed->env;
    if (!(privacy->epsilon > 0) || env->scoring) return WEFT_OK;
    if (!env->planned || env->grown)
        return weft_fail(WEFT_ECONF,
                         "section [privacy]: privacy.epsilon is for the jobs that were "
                         "planned, and this run is given %s; give privacy.noise in place "
                         "of it",
                         env->grown ? "more" : "none");
    const weft_planned *plan = env->planned(env->planner);
    fed_released released = fed_released_by(fed, plan->n, plan->job, WEFT_SCORED_PARTS);
    if (env->team->rank == 0) privacy->noise = fed_noise_for(privacy, &released);
    weft_bcast(env->team, &privacy->noise, sizeof privacy->noise, 0);
    if (isfinite(privacy->noise)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "section [privacy]: no noise makes privacy.epsilon = %g, since scores "
                     "alone cost more; make privacy.score_noise larger, or fed.eval_every "
                     "or the search so that fewer are taken",
                     privacy->epsilon);
}

/* What follows from the options. */
static void derive(const fed_task *fed, struct fed_privacy *privacy)
{
    double n = (double)fed->old.n, cohort = (double)fed->options.cohort;
    int fixed =
        privacy->mechanism == FED_GAUSSIAN && privacy->sampling == FED_SAMPLED_FIXED;
    if (!(privacy->delta > 0)) privacy->delta = pow(n, -1.1);
    privacy->restart = (int64_t)(n / cohort);
    privacy->share = cohort / n;
    privacy->reach = fixed ? 2 : 1;
    privacy->most = most_of(fed, privacy);
    privacy->now = privacy->clip;
}

/* What the section says without a clip: nothing, or that it is off. */
static weft_status check_off(const fed_task *fed)
{
    if (is_set(fed, "privacy", "clip"))
        weft_log(WEFT_WARN, "privacy.clip = 0: the run has no privacy");
    else
        for (const weft_opt *opt = fed_privacy_kind.opts; opt->name; opt++)
            if (is_set(fed, "privacy", opt->name))
                return weft_fail(WEFT_ECONF,
                                 "privacy.%s has no effect without privacy.clip; give it, "
                                 "or privacy.clip = 0 for a run without privacy",
                                 opt->name);
    return WEFT_OK;
}

weft_status fed_privacy_setup(fed_task *fed)
{
    weft_arena *mem = fed->env.mem;
    struct fed_privacy *privacy = WEFT_NEW(mem, struct fed_privacy, 1);
    TRY(weft_conf_bind(fed->env.conf, &fed_privacy_kind, privacy));
    if (!(privacy->clip > 0)) return check_off(fed);
    if (!fed->env.scoring) {
        TRY(check_own(fed, privacy));
        TRY(check_algorithm(fed));
        TRY(check_sums(fed));
        TRY(check_around(fed));
    }
    derive(fed, privacy);
    fed->modes.privacy = privacy;
    TRY(solve_noise(fed, privacy));
    TRY(split_noise(fed, privacy));
    fed_privacy_tell(fed);
    return WEFT_OK;
}

/* ---- what is said ---- */

/* S.d. of the noise of mean scores over n clients, of the wrong answers, in points. */
static double points_of(const fed_task *fed, double stages, double n)
{
    return 100 * fed->modes.privacy->score_noise * sqrt(2 * stages) / n;
}

static void tell_plan(const fed_task *fed)
{
    const struct fed_privacy *privacy = fed->modes.privacy;
    const weft_env *env = &fed->env;
    weft_ledger ledger;
    const weft_planned *plan = env->planned ? env->planned(env->planner) : NULL;
    if (!plan || env->team->rank > 0 ||
        !fed_ledger(fed, plan->n, plan->job, WEFT_SCORED_PARTS, &ledger))
        return;
    weft_log(WEFT_INFO,
             "privacy: %lld rounds of all trainings, %lld of them with scores, and %lld "
             "evaluations are planned; epsilon %.4g at delta %.3g, of weights alone %.4g, "
             "of scores alone %.4g",
             (long long)ledger.rounds, (long long)ledger.scored,
             (long long)ledger.evaluations, ledger.epsilon, ledger.delta, ledger.weights,
             ledger.scores);
    weft_log(WEFT_INFO,
             "privacy: sampling %s, noise %.4g, score_noise %.4g: the error of a round has "
             "noise of s.d. %.3g points, that of all clients %.3g",
             ledger.sampling, privacy->noise, privacy->score_noise,
             points_of(fed, 1, (double)fed->options.cohort),
             points_of(fed, 1, (double)fed->old.n));
}

void fed_privacy_tell(const fed_task *fed)
{
    const struct fed_privacy *privacy = fed->modes.privacy;
    if (fed->env.scoring) {
        weft_log(WEFT_WARN, "these scores have no noise, and no entry in the ledger of "
                            "section [privacy]: keep them where the data are");
        return;
    }
    if (!(privacy->noise > 0))
        weft_log(WEFT_WARN, "privacy.noise = 0: changes are clipped, and epsilon is "
                            "infinite; give privacy.noise or privacy.epsilon");
    if (fed->options.average == FED_WEIGHTED && is_set(fed, "fed", "average"))
        weft_log(WEFT_WARN, "fed.average = weighted has no effect: with section [privacy] "
                            "clients have equal weights");
    if (is_set(fed, "run", "start"))
        weft_log(WEFT_WARN, "what the training of run.start has cost clients is not in the "
                            "ledger of section [privacy]");
    tell_plan(fed);
}

weft_status fed_privacy_check(const fed_task *fed, const weft_job *job)
{
    if (!fed->modes.privacy || job->mix.k == 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "section [privacy]: scores by configuration have no entry in the "
                     "ledger; give run.mixing = none and a tuner without shared weights");
}

/* ---- who takes part ---- */

/* Each client by itself: the numbers of those that are left out in between are geometric.
 * Returns their number, at most `most`. */
static int64_t draw_poisson(const fed_task *fed, int64_t trial, int64_t round,
                            int64_t *client)
{
    const struct fed_privacy *privacy = fed->modes.privacy;
    const fed_group *group = &fed->old;
    double miss = log1p(-privacy->share), at = -1;
    int64_t m = 0;
    for (uint64_t i = 0; m < privacy->most; i++) {
        weft_rng4 rng = random_of(fed, trial, DRAW, (uint64_t)round, i);
        double gap =
            privacy->share < 1 ? floor(log(1 - weft_rng_unit(rng.v[0])) / miss) : 0;
        at += 1 + gap;
        if (!(at < (double)group->n)) break;
        client[m++] = group->client ? group->client[(int64_t)at] : (int64_t)at;
    }
    weft_client_fetch(fed->clients, m, client);
    return m;
}

int64_t fed_privacy_draw(const fed_task *fed, int64_t trial, int64_t round,
                         int64_t **client, weft_arena *tmp)
{
    const struct fed_privacy *privacy = fed->modes.privacy;
    int64_t n = fed->options.cohort, first = 0, key = round;
    if (privacy->sampling == FED_SAMPLED_POISSON) {
        *client = WEFT_NEW(tmp, int64_t, privacy->most);
        return draw_poisson(fed, trial, round, *client);
    }
    if (privacy->mechanism == FED_TREE) { /* an order of all clients between restarts */
        first = n * (round % privacy->restart);
        key = round / privacy->restart;
    }
    *client = WEFT_NEW(tmp, int64_t, first + n);
    uint64_t own = random_of(fed, trial, DRAW, (uint64_t)key, 0).v[0];
    fed_draw(fed, &fed->old, own, first + n, 0, *client, tmp);
    *client += first;
    return n;
}

/* ---- clipping ---- */

int fed_privacy_begin(const fed_task *fed, const fed_trial_state *trial)
{
    struct fed_privacy *privacy = fed->modes.privacy;
    if (trial->clip && !(*trial->clip > 0)) *trial->clip = privacy->clip;
    if (trial->clip) privacy->now = *trial->clip;
    double longest = fmin(privacy->now, fed->client.max_change);
    return weft_exact_scale(longest * (double)privacy->most);
}

/* What is shortened becomes shorter by another millionth, more than its numbers lose when
 * they are rounded, to reals and to the fixed point of the sum. */
void fed_privacy_clip(fed_visiting *visiting)
{
    const double rounded = 1e-6;
    const struct fed_privacy *privacy = visiting->fed->modes.privacy;
    int64_t n = visiting->visit.n;
    real *change = visiting->visit.change;
    double square = 0;
    for (int64_t i = 0; i < n; i++) square += (double)change[i] * (double)change[i];
    double norm = sqrt(square), most = privacy->now * (1 - rounded);
    visiting->out->below = norm <= privacy->now;
    if (norm <= most) return;
    for (int64_t i = 0; i < n; i++) change[i] = (real)((double)change[i] * (most / norm));
}

/* ---- noise ---- */

/* noise[n] += sd N(0, 1), keyed by kind, round and place. */
static void add_noise(const fed_task *fed, int64_t trial, uint64_t kind, uint64_t round,
                      double sd, double *noise)
{
    int64_t n = fed->nweight;
    for (int64_t i = 0; i < n; i += 4) {
        double z[4];
        weft_rng4 rng = random_of(fed, trial, kind, round, (uint64_t)i / 4);
        weft_rng_normal(&rng, z);
        for (int64_t k = 0; k < 4 && i + k < n; k++) noise[i + k] += sd * z[k];
    }
}

/* N(t) - N(t - 1) of the sum number t = 1, 2 ... since a restart: the node that ends there
 * takes the place of the smaller ones that it is made of. */
static void add_tree(const fed_task *fed, int64_t trial, uint64_t round, double sd,
                     double *noise)
{
    uint64_t every = (uint64_t)fed->modes.privacy->restart, t = round % every + 1,
             begun = round - round % every, level = 0;
    for (uint64_t end = t - 1; !(t >> level & 1); level++) {
        add_noise(fed, trial, NODE, level << LEVEL_BIT | (begun + end), -sd, noise);
        end -= (uint64_t)1 << level;
    }
    add_noise(fed, trial, NODE, level << LEVEL_BIT | (begun + t), sd, noise);
}

void fed_privacy_mean(const fed_task *fed, const fed_trial_state *trial, int scale,
                      const int64_t *wire, real *delta)
{
    weft_arena *tmp = fed->work.tmp;
    const struct fed_privacy *privacy = fed->modes.privacy;
    double cohort = (double)fed->options.cohort, unit = ldexp(1, -scale);
    double sd = privacy->change_noise * privacy->reach * privacy->now;
    WEFT_REWIND(tmp);
    double *noise = WEFT_NEW(tmp, double, fed->nweight);
    if (!(sd > 0))
        ;
    else if (privacy->mechanism == FED_TREE)
        add_tree(fed, trial_of(trial), round_of(trial), sd, noise);
    else
        add_noise(fed, trial_of(trial), CHANGES, round_of(trial), sd, noise);
    for (int64_t i = 0; i < fed->nweight; i++)
        delta[i] = (real)(((double)wire[i] * unit + noise[i]) / cohort);
}

void fed_privacy_adapt(const fed_task *fed, const fed_cohort *cohort,
                       const fed_trial_state *trial)
{
    const double rate = 0.2;
    const struct fed_privacy *privacy = fed->modes.privacy;
    if (!trial->clip) return;
    double sum = 0, z[2];
    for (int64_t j = 0; j < cohort->n; j++) {
        const fed_client *client = &cohort->client[j];
        if (client->lost || cohort->told[j].diverged > 0 || !(client->weight > 0)) continue;
        sum += cohort->told[j].below - 0.5;
    }
    weft_rng4 rng = random_of(fed, trial_of(trial), COUNT, round_of(trial), 0);
    weft_rng_normal_pair(&rng, z);
    if (privacy->noise > 0) sum += count_noise(fed, privacy) * privacy->reach / 2 * z[0];
    double share = sum / (double)fed->options.cohort + 0.5;
    *trial->clip *= exp(-rate * (share - privacy->quantile));
}

/* ---- scores ---- */

static double within(double x, double most)
{
    return x <= most ? fmax(x, 0) : most; /* also of what is no number */
}

void fed_privacy_add(const fed_task *fed, int64_t n, const fed_client_result *told,
                     double sum[2][2])
{
    for (int64_t j = 0; j < n; j++) {
        const fed_client_result *one = &told[j];
        if (!(one->count > 0)) continue;
        int failed = one->diverged > 0;
        for (int stage = FED_BEFORE; stage <= FED_AFTER; stage++) {
            double loss = one->loss[stage] / one->count, worst = fed->balance.worst;
            sum[stage][0] += failed ? worst : within(loss, worst);
            sum[stage][1] += failed ? 1 : within(one->wrong[stage] / one->count, 1);
        }
    }
}

/* The sums with noise, over n clients; rng: of it. */
static fed_score_sums noised(const fed_task *fed, const fed_turn *turn, double n,
                             weft_rng4 rng, double sum[2][2])
{
    double z[4], worst = fed->balance.worst;
    double sd = fed->modes.privacy->score_noise * sqrt(2.0 * (turn->before + turn->after));
    fed_score_sums out = {.n = n, .v = n, .vv = n, .answered = n, .vss = INFINITY};
    weft_rng_normal(&rng, z);
    for (int stage = FED_BEFORE; stage <= FED_AFTER; stage++) {
        int scored = stage == FED_BEFORE ? turn->before : turn->after;
        out.loss[stage] = scored ? sum[stage][0] + sd * worst * z[2 * stage] : (double)NAN;
        out.wrong[stage] = scored ? sum[stage][1] + sd * z[2 * stage + 1] : (double)NAN;
    }
    int stage = fed->options.score_weights == FED_GLOBAL ? FED_BEFORE : FED_AFTER;
    out.vs = (fed->options.score == FED_LOSS ? out.loss : out.wrong)[stage];
    return out;
}

fed_score_sums fed_privacy_scores(const fed_task *fed, const fed_cohort *cohort,
                                  const fed_trial_state *trial)
{
    double sum[2][2] = {{0}};
    if (!cohort->turn.before && !cohort->turn.after) return (fed_score_sums){0};
    fed_privacy_add(fed, cohort->n, cohort->told, sum);
    weft_rng4 rng = random_of(fed, trial_of(trial), SCORES, round_of(trial), 0);
    return noised(fed, &cohort->turn, (double)fed->options.cohort, rng, sum);
}

int fed_privacy_covers(const fed_task *fed)
{
    return fed->modes.privacy && !fed->env.scoring;
}

double fed_privacy_half(const fed_task *fed, double n, double times, int stages)
{
    const double worst = fed->options.score == FED_LOSS ? fed->balance.worst : 1;
    return 1.96 * fed->modes.privacy->score_noise * worst * sqrt(2.0 * stages * times) / n;
}

void fed_privacy_evaluated(const fed_task *fed, const fed_turn *turn, int64_t m,
                           int64_t trial, uint64_t round, double sum[2][2],
                           fed_score_sums *out)
{
    uint64_t kind = turn->most < INFINITY ? EVALUATED : WINNER;
    weft_rng4 rng = random_of(fed, trial, kind, round, (uint64_t)turn->part);
    *out = noised(fed, turn, (double)m, rng, sum);
}

void fed_privacy_hide(const fed_task *fed, double *row)
{
    static const int always[] = {FED_ROW_TRAIN_LOSS, FED_ROW_CLIENTS, FED_ROW_DIVERGED,
                                 FED_ROW_SAMPLES};
    static const int of_number[] = {FED_ROW_DROPPED, FED_ROW_SURPLUS, FED_ROW_BYTES,
                                    FED_ROW_ENERGY};
    for (int i = 0; i < 4; i++) row[always[i]] = NAN;
    if (fed->modes.privacy->sampling != FED_SAMPLED_POISSON) return;
    for (int i = 0; i < 4; i++) row[of_number[i]] = NAN;
}
