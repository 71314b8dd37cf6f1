/* Who is asked. A choice is a function of the seed, the round and what the state of the
 * trial remembers of clients, which all ranks have, so that each computes it without
 * communication, and a resume or a copy of a trial goes on with the same clients. */
#include "choice.h"
#include "weft/base/random.h"

#include <math.h>

/* Keys of WEFT_RNG_COHORT for what is not a draw of fed_draw: (round, key, block). */
#define ORDER ((uint64_t)-1)
#define START ((uint64_t)-2)
enum { OF_CLIENT = 1 }; /* (round, client, OF_CLIENT) */

/* What oort remembers of a client; the first number is that of `loss`, too. */
enum { VALUE, ROUND, SECONDS, NUMBERS };

static const double clipped = 0.95; /* utilities are cut off at this percentile */
static const double slow = 0.3; /* who takes longer than this percentile loses utility */
static const double close_to = 0.95, doubt = 0.1;
static const double explored = 0.9, decay = 0.98, least_explored = 0.2;

static const char *const rule_name[] = {"uniform", "size", "loss", "oort", "available"};

/* ---- set-up ---- */

static int64_t number_of(const fed_task *fed, int64_t i)
{
    return fed->old.client ? fed->old.client[i] : i;
}

static int64_t size_of(const fed_task *fed, int64_t client)
{
    return weft_client_count(fed->clients, client, WEFT_TRAIN);
}

/* ECONF: the option of the section is given, and another rule is chosen. */
static weft_status check_read(const fed_task *fed)
{
    const weft_entry *entry = weft_conf_find(fed->env.conf, "choose", "candidates");
    if (entry && fed->options.choose != FED_BY_LOSS)
        return weft_fail(WEFT_ECONF,
                         "choose.candidates = %s is read by fed.choose = loss alone; set "
                         "that, or take it out",
                         entry->value);
    return WEFT_OK;
}

/* ECONF: what cannot be together with a choice that is not uniform. */
static weft_status check_others(const fed_task *fed)
{
    int rule = fed->options.choose;
    const char *name = rule_name[rule];
    if (fed->options.replacement)
        return weft_fail(WEFT_ECONF,
                         "fed.choose = %s draws without replacement; set fed.replacement = "
                         "no, or fed.choose = uniform",
                         name);
    if (fed->modes.buffer)
        return weft_fail(WEFT_ECONF,
                         "fed.choose = %s asks a whole cohort at once, and with "
                         "fed.aggregation = buffered clients are asked one by one; set "
                         "fed.choose = uniform",
                         name);
    if (!fed_choice_weighs(fed)) return WEFT_OK;
    if (weft_conf_find(fed->env.conf, "fed", "average"))
        return weft_fail(WEFT_ECONF,
                         "fed.choose = %s gives clients weights by itself; take "
                         "fed.average out",
                         name);
    if (rule == FED_BY_SIZE && fed->algorithm->plain)
        return weft_fail(WEFT_ECONF,
                         "fed.choose = size makes the mean one by samples, and "
                         "fed.algorithm = %s gives clients equal weights; set fed.choose = "
                         "uniform",
                         fed->options.algorithm_name);
    return WEFT_OK;
}

/* Finds the clients whose chance would be above 1: each is drawn, and the others share what
 * is left, until none of these is above. */
static weft_status weigh_sizes(const fed_task *fed, fed_choice *choice)
{
    int64_t n = fed->old.n, some = 0, asked = fed_started(fed), all = 0;
    int32_t *size = WEFT_NEW(fed->env.mem, int32_t, n);
    for (int64_t i = 0; i < n; i++) {
        size[i] = (int32_t)size_of(fed, number_of(fed, i));
        some += size[i] > 0;
        all += size[i];
    }
    if (some < asked)
        return weft_fail(WEFT_ECONF,
                         "fed.choose = %s asks %lld clients, but %s has %lld with training "
                         "samples; make fed.cohort or device.over smaller",
                         rule_name[fed->options.choose], (long long)asked,
                         fed->env.data->path, (long long)some);
    double drawn = (double)asked;
    if (fed->options.choose == FED_BY_LOSS)
        drawn = fmin(ceil(drawn * choice->candidates * (1 - 1e-12)), (double)some);
    choice->size = size;
    choice->drawn = choice->m = (int64_t)drawn;
    choice->total = all;
    for (int64_t before = -1; before != choice->m;) {
        int64_t m = choice->drawn, total = all;
        for (int64_t i = 0; i < n; i++) {
            if (size[i] == 0 || size[i] * choice->m < choice->total) continue;
            m--;
            total -= size[i];
        }
        before = choice->m;
        choice->m = m;
        choice->total = total;
    }
    return WEFT_OK;
}

weft_status fed_choice_setup(fed_task *fed)
{
    fed_choice *choice = WEFT_NEW(fed->env.mem, fed_choice, 1);
    int rule = fed->options.choose;
    fed->modes.choice = NULL;
    TRY(weft_conf_bind(fed->env.conf, &fed_choice_kind, choice));
    if (fed->env.scoring) return WEFT_OK;
    TRY(check_read(fed));
    if (rule == FED_UNIFORM) return WEFT_OK;
    TRY(check_others(fed));
    fed->modes.choice = choice;
    if (rule == FED_BY_SIZE || rule == FED_BY_LOSS) TRY(weigh_sizes(fed, choice));
    if (rule == FED_AVAILABLE && !weft_device_leaves(&fed->device))
        weft_log(WEFT_WARN, "fed.choose = available has no effect: every device is there; "
                            "give device.availability or device.file");
    if (rule != FED_AVAILABLE && fed->options.select != FED_EVAL)
        weft_log(WEFT_WARN,
                 "rounds score the clients that fed.choose = %s asks, which are not as all "
                 "are; give fed.select = eval and fed.eval_clients (0: all) to compare "
                 "configurations by all",
                 rule_name[rule]);
    return WEFT_OK;
}

/* ---- memory ---- */

/* Numbers of a client. */
static int64_t numbers_of(const fed_task *fed)
{
    if (!fed->modes.choice) return 0;
    int rule = fed->options.choose;
    return rule == FED_BY_OORT ? NUMBERS : rule == FED_BY_LOSS ? 1 : 0;
}

int64_t fed_choice_remembered(const fed_task *fed)
{
    int64_t each = numbers_of(fed);
    return each > 0 ? each * fed->clients->n : 0;
}

void fed_choice_begin(const fed_task *fed, double *memory)
{
    for (int64_t i = 0; i < fed_choice_remembered(fed); i++) memory[i] = INFINITY;
}

void fed_choice_learn(const fed_task *fed, const fed_cohort *cohort, double *memory)
{
    int64_t each = numbers_of(fed);
    for (int64_t j = 0; j < cohort->n && each > 0; j++) {
        const fed_client *client = &cohort->client[j];
        const fed_client_result *told = &cohort->told[j];
        double loss = told->train_loss / told->train_count;
        if (client->lost || told->diverged > 0 || !isfinite(loss)) continue;
        double *of = memory + client->client * each;
        of[VALUE] = loss;
        if (each < NUMBERS) continue;
        of[VALUE] = loss * (double)size_of(fed, client->client);
        of[ROUND] = (double)cohort->turn.round + 1;
        of[SECONDS] = client->seconds;
    }
}

/* ---- by size ---- */

/* Points start + j total, j >= 0, below x. */
static int64_t points_below(int64_t x, int64_t start, int64_t total)
{
    return x > start ? (x - start - 1) / total + 1 : 0;
}

/* Systematic sampling: with clients in random order, one of size s has s m of the integers
 * from 0 to m total, and those that have one of m points at equal distances, of which the
 * first is drawn, are taken. Madow, "On the theory of systematic sampling", 1949. */
static void draw_by_size(const fed_task *fed, int64_t round, int64_t *client,
                         weft_arena *tmp)
{
    const fed_choice *choice = fed->modes.choice;
    int64_t n = fed->old.n, total = choice->total, before = 0, found = 0;
    WEFT_REWIND(tmp);
    int64_t *order = WEFT_NEW(tmp, int64_t, n);
    weft_rng_row key = {fed->env.seed, WEFT_RNG_COHORT, (uint64_t)round, ORDER, 0};
    weft_rng4 rng = weft_rng_at(key.seed, key.purpose, key.a, START, 0);
    int64_t start = (int64_t)(weft_rng_unit(rng.v[0]) * (double)total);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    weft_shuffle_first(n, n, &key, order);
    for (int64_t i = 0; i < n; i++) {
        int64_t wide = choice->size[order[i]] * choice->m;
        int certain = wide >= total, after = 0;
        if (choice->size[order[i]] == 0) continue;
        if (!certain) {
            after = points_below(before + wide, start, total) >
                    points_below(before, start, total);
            before += wide;
        }
        if (certain || after) client[found++] = number_of(fed, order[i]);
    }
    weft_check(found == choice->drawn, "%lld clients drawn by size", (long long)found);
}

int fed_choice_weighs(const fed_task *fed)
{
    return fed->options.choose == FED_BY_SIZE || fed->options.choose == FED_BY_LOSS;
}

double fed_choice_weight(const fed_task *fed, const fed_client *client)
{
    const fed_choice *choice = fed->modes.choice;
    double size = (double)size_of(fed, client->client);
    if (client->samples == 0) return 0;
    if (fed->options.choose == FED_BY_LOSS) return 1;
    if (choice->total == 0) return size; /* all are drawn */
    return fmax(1, size * (double)choice->m / (double)choice->total);
}

/* ---- the largest losses ---- */

static void ask_lossy(const fed_task *fed, int64_t round, const double *memory, int64_t m,
                      int64_t *client, weft_arena *tmp)
{
    int64_t n = fed->modes.choice->drawn;
    int64_t *drawn = WEFT_NEW(tmp, int64_t, n);
    weft_placed *all = WEFT_NEW(tmp, weft_placed, n);
    draw_by_size(fed, round, drawn, tmp);
    for (int64_t i = 0; i < n; i++) all[i] = (weft_placed){memory[drawn[i]], i};
    weft_sort_falling(n, all);
    for (int64_t i = 0; i < m; i++) client[i] = drawn[all[i].at];
}

/* ---- uniformly, among some ---- */

static int is_there(const fed_task *fed, int64_t client, int64_t round,
                    const double *memory)
{
    (void)memory;
    return weft_device_is_there(&fed->device, client, round);
}

/* 1: with training samples, and has not answered yet. */
static int is_unknown(const fed_task *fed, int64_t client, int64_t round,
                      const double *memory)
{
    (void)round;
    return !isfinite(memory[client * NUMBERS + VALUE]) && size_of(fed, client) > 0;
}

typedef int condition(const fed_task *fed, int64_t client, int64_t round,
                      const double *memory);

/* The first m that fit of a shuffle of all clients, of which as much is made as needed.
 * Returns their number. */
static int64_t draw_fitting(const fed_task *fed, int64_t round, const double *memory,
                            condition *fits, int64_t m, int64_t *client, weft_arena *tmp)
{
    for (int64_t n = m, found;; n *= 2) {
        if (n > fed->old.n) n = fed->old.n;
        WEFT_REWIND(tmp);
        int64_t *all = WEFT_NEW(tmp, int64_t, n);
        fed_draw(fed, &fed->old, (uint64_t)round, n, 0, all, tmp);
        found = 0;
        for (int64_t i = 0; i < n && found < m; i++)
            if (fits(fed, all[i], round, memory)) client[found++] = all[i];
        if (found == m || n == fed->old.n) return found;
    }
}

/* ---- oort ---- */

/* The number of rank floor(share n), from 0, of one of the numbers of n > 0 clients. */
static double percentile_of(int64_t n, const weft_placed *known, const double *memory,
                            int number, double share, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    double *x = WEFT_NEW(tmp, double, n);
    for (int64_t i = 0; i < n; i++) x[i] = memory[known[i].at * NUMBERS + number];
    weft_sort_f64(n, x);
    int64_t at = (int64_t)(share * (double)n);
    return x[at < n ? at : n - 1];
}

/* The clients known, into known[old.n]; returns their number. */
static int64_t list_known(const fed_task *fed, const double *memory, weft_placed *known)
{
    int64_t n = 0;
    for (int64_t i = 0; i < fed->old.n; i++) {
        int64_t client = number_of(fed, i);
        if (isfinite(memory[client * NUMBERS + VALUE]))
            known[n++] = (weft_placed){0, client};
    }
    return n;
}

static void score_known(int64_t round, const double *memory, int64_t n, weft_placed *known,
                        weft_arena *tmp)
{
    double most = percentile_of(n, known, memory, VALUE, clipped, tmp);
    double usual = percentile_of(n, known, memory, SECONDS, slow, tmp);
    for (int64_t i = 0; i < n; i++) {
        const double *of = memory + known[i].at * NUMBERS;
        double score = most > 0 ? fmin(of[VALUE] / most, 1) : 1;
        score += sqrt(doubt * log((double)round + 1) / of[ROUND]);
        if (of[SECONDS] > usual) score *= pow(usual / of[SECONDS], 2);
        known[i].value = score;
    }
}

/* Draws m of the known clients with chances in proportion to their scores: those with the
 * largest ln(u) / score. Efraimidis, Spirakis, "Weighted random sampling with a
 * reservoir", 2006. */
static void draw_useful(const fed_task *fed, int64_t round, int64_t n, weft_placed *known,
                        int64_t m, int64_t *client)
{
    int64_t near = 0;
    weft_sort_falling(n, known);
    double least = close_to * known[m - 1].value;
    while (near < n && known[near].value >= least) near++;
    for (int64_t i = 0; i < near; i++) {
        weft_rng4 rng = weft_rng_at(fed->env.seed, WEFT_RNG_COHORT, (uint64_t)round,
                                    (uint64_t)known[i].at, OF_CLIENT);
        known[i].value = log(1 - weft_rng_unit(rng.v[0])) / fmax(known[i].value, 1e-300);
    }
    weft_sort_falling(near, known);
    for (int64_t i = 0; i < m; i++) client[i] = known[i].at;
}

static int64_t ask_useful(const fed_task *fed, int64_t round, const double *memory,
                          int64_t m, int64_t *client, weft_arena *tmp)
{
    double share = fmax(explored * pow(decay, (double)round), least_explored);
    weft_placed *known = WEFT_NEW(tmp, weft_placed, fed->old.n);
    int64_t n = list_known(fed, memory, known);
    int64_t old = (int64_t)floor((double)m * (1 - share) * (1 + 1e-12));
    if (old > n) old = n;
    int64_t fresh = draw_fitting(fed, round, memory, is_unknown, m - old, client, tmp);
    old = m - fresh < n ? m - fresh : n;
    if (old == 0) return fresh;
    score_known(round, memory, n, known, tmp);
    draw_useful(fed, round, n, known, old, client + fresh);
    return fresh + old;
}

/* ---- all rules ---- */

int64_t fed_choice_draw(const fed_task *fed, int64_t round, const double *memory, int64_t n,
                        int64_t *client, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    switch (fed->options.choose) {
    case FED_BY_SIZE: draw_by_size(fed, round, client, tmp); break;
    case FED_BY_LOSS: ask_lossy(fed, round, memory, n, client, tmp); break;
    case FED_BY_OORT: n = ask_useful(fed, round, memory, n, client, tmp); break;
    default: n = draw_fitting(fed, round, memory, is_there, n, client, tmp);
    }
    weft_client_fetch(fed->clients, n, client);
    return n;
}
