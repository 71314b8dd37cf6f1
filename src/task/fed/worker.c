/* Clients whose training a worker does: each turn is a request to the process of this rank,
 * with the weights in shared memory. Everything else, which clients are drawn with which
 * options, the sum of their changes, the server's step, is as for the networks of weft. */
#include "round.h"
#include "task/programs.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/base/random.h"
#include "weft/registry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TURNS = 3 }; /* that `weft doctor` repeats */

/* A turn that is sent, and its places in the memory, in bytes: the weights received, those
 * answered, where the course has them the anchor and the drift, and the order of samples.
 */
struct sent {
    int64_t turn; /* its number, from 1 on; 0: none */
    int64_t client;
    int64_t weights, answer, anchor, drift, order, bytes;
};

/* What all requests to a worker have in common. */
struct wording {
    int knows; /* WEFT_NEEDS_...: the words that it knows */
    int has_parameters;
    fed_training shown; /* options of the last turn, */
    char text[1024];    /* as a request has them */
};

/* The instance of the network "worker": its options, and the worker of this rank. */
typedef struct fed_worker {
    const char *run;
    double time_limit;
    int retries;
    weft_link *link;
    fed_described described;
    int64_t asked;    /* turns */
    struct sent next; /* that was sent before its call */
    int64_t room; /* bytes for the order of samples, of each turn that is sent at once */
    struct wording wording;
} fed_worker;

static const weft_opt worker_opts[] = {
    WEFT_TEXT_OPT("run", fed_worker, run, "",
                  "command line for /bin/sh that is started on every rank and answers "
                  "weft's requests, as in python3 clients.py",
                  .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT(
        "time_limit", fed_worker, time_limit, "3600", 0, 1e9,
        "time limit in seconds of a turn and of the start, after which the worker "
        "is started again; 0: none",
        .role = WEFT_PER_SESSION),
    WEFT_INT_OPT("retries", fed_worker, retries, "3", 0, 1000,
                 "how often a turn is repeated whose worker ended or took too long",
                 .role = WEFT_PER_SESSION),
    {0},
};

/* ---- the network ---- */

static int64_t worker_nweight(const void *self)
{
    return ((const fed_worker *)self)->described.nweight;
}

static int worker_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    const fed_worker *worker = self;
    memcpy(out, worker->described.tensor, (size_t)worker->described.ntensor * sizeof *out);
    return worker->described.ntensor;
}

static void worker_init(const void *self, uint64_t seed, real *w)
{
    const fed_worker *worker = self;
    (void)seed; /* the worker was told it */
    memcpy(w, worker->described.initial, (size_t)worker->described.nweight * sizeof *w);
}

static double worker_flops(const void *self)
{
    return ((const fed_worker *)self)->described.flops;
}

static void *worker_work(const void *self, int most, weft_arena *mem)
{
    (void)self;
    (void)most;
    (void)mem;
    return NULL;
}

/* A network of which only the weights are known here: its tensors are those that the worker
 * describes, and it has no gradient. Its instance holds the worker of this rank. */
static const weft_net fed_worker_net = {
    .kind = WEFT_KIND("worker", fed_worker, worker_opts,
                      "task fed: any model, trained by a program of the user's"),
    .nweight = worker_nweight,
    .tensors = worker_tensors,
    .init = worker_init,
    .flops = worker_flops,
    .work = worker_work,
};
const weft_kind *const weft_other_kinds[] = {&fed_worker_net.kind, NULL};

weft_status fed_net_find(fed_task *fed)
{
    fed->net = &fed_worker_net;
    if (strcmp(fed->options.net_name, fed_worker_net.kind.name) == 0) return WEFT_OK;
    return weft_net_find(fed->options.net_name, &fed->net);
}

int fed_worker_trains(const fed_task *fed)
{
    return fed->net == &fed_worker_net;
}

/* ---- the line by which it is asked for a turn ---- */

static int has_parameters(const weft_conf *conf)
{
    for (int i = 0; i < conf->n; i++)
        if (strcmp(conf->entry[i].section, WEFT_PARAMETERS) == 0) return 1;
    return 0;
}

/* Text of bounded length, to which parts are added. */
struct request {
    char *text;
    size_t n, room;
};

static void add_text(struct request *request, const char *fmt, ...) WEFT_PRINTF(2, 3);
static void add_text(struct request *request, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(request->text + request->n, request->room - request->n, fmt, args);
    va_end(args);
    weft_check(n >= 0 && (size_t)n < request->room - request->n,
               "a request of more than %zu bytes", request->room);
    request->n += (size_t)n;
}

/* The options of section [client]; those that a worker has no use for are weft's. */
static void add_options(struct request *request, const fed_training *options)
{
    const char *comma = "";
    for (const weft_opt *opt = fed_training_kind.opts; opt->name; opt++) {
        if (!weft_opt_tunable(opt)) continue;
        const char *member = (const char *)options + opt->at;
        int digits = (int)strcspn(opt->name, "/");
        if (opt->type == WEFT_REAL)
            add_text(request, "%s\"%.*s\":%.17g", comma, digits, opt->name,
                     *(const double *)(const void *)member);
        else
            add_text(request, "%s\"%.*s\":%d", comma, digits, opt->name,
                     *(const int *)(const void *)member);
        comma = ",";
    }
}

/* The same; clients often have those of the one before. */
static const char *options_of(struct wording *wording, const fed_training *options)
{
    struct request request = {.text = wording->text, .room = sizeof wording->text};
    if (*wording->text && memcmp(&wording->shown, options, sizeof *options) == 0)
        return wording->text;
    memcpy(&wording->shown, options, sizeof *options);
    add_options(&request, options);
    return wording->text;
}

/* The words that the worker knows. */
static void add_words(const fed_task *fed, const weft_course *course,
                      const struct sent *sent, int knows, struct request *request)
{
    const char *fixed = course ? course->fixed : NULL;
    if (knows & WEFT_NEEDS_FIXED) {
        add_text(request, ",\"tensors\":");
        for (int i = 0; i < fed->ntensor; i++)
            add_text(request, "%c%d", i == 0 ? '[' : ',', !(fixed && fixed[i]));
        add_text(request, "]");
    }
    if (knows & WEFT_NEEDS_ANCHOR)
        add_text(request, ",\"anchor\":%lld", (long long)sent->anchor);
    if (knows & WEFT_NEEDS_DRIFT)
        add_text(request, ",\"drift\":%lld", (long long)sent->drift);
}

/* The line by which a worker is asked for a turn, with its end, owned by tmp. */
static const char *request_of(const fed_task *fed, const fed_turns *turns, int64_t j,
                              const struct sent *sent, struct wording *wording,
                              weft_arena *tmp)
{
    const fed_client *client = &turns->client[j];
    const fed_turn *turn = turns->turn;
    const char *own =
        wording->has_parameters ? weft_values_json(&fed->env, client->conf, tmp) : "{}";
    struct request request = {.room = 4096 + strlen(own)};
    request.text = WEFT_NEW(tmp, char, request.room);
    weft_rng4 rng = weft_rng_at(fed->env.seed, WEFT_RNG_WORKER, turn->round,
                                (uint64_t)client->client, 0);
    int64_t round = turn->round == FED_EVALUATION ? -1 : (int64_t)turn->round;
    add_text(&request,
             "{\"ask\":\"turn\",\"turn\":%lld,\"client\":%lld,\"round\":%lld,\"seed\":%llu,"
             "\"train\":%s,\"before\":%s,\"after\":%s,\"part\":\"%s\",\"samples\":%lld,"
             "\"scored\":%lld,\"weights\":%lld,\"answer\":%lld,\"order\":%lld",
             (long long)sent->turn, (long long)client->client, (long long)round,
             (unsigned long long)(rng.v[0] >> 32), turn->train ? "true" : "false",
             turn->before ? "true" : "false", turn->after ? "true" : "false",
             weft_part_name[turn->part], (long long)client->samples,
             (long long)client->valid, (long long)sent->weights, (long long)sent->answer,
             (long long)sent->order);
    add_words(fed, turns->course, sent, wording->knows, &request);
    add_text(&request, ",\"options\":{%s},\"parameters\":%s}\n",
             options_of(wording, &client->options), own);
    return request.text;
}

/* ---- its start ---- */

static int leaves(void *of)
{
    fed_task *fed = of;
    return fed->env.scoring ? fed->env.stopped && fed->env.stopped()
                            : halt_is_due(&fed->env, &fed->told.asked);
}

static weft_status check_options(const fed_task *fed, const fed_worker *worker)
{
    if (fed->env.data)
        return weft_fail(WEFT_ECONF,
                         "fed.model = worker: workers have the data of their clients; "
                         "take %s out",
                         fed->env.scoring ? "the packed file" : "run.data");
    if (worker->run[strspn(worker->run, " ")] == '\0')
        return weft_fail(WEFT_ECONF, "worker.run names no program; give a command line, as "
                                     "in run = python3 clients.py");
    const weft_algorithm *algorithm = fed->algorithm;
    if (algorithm->neighbours)
        return weft_fail(WEFT_ECONF,
                         "fed.algorithm = %s needs representations of samples, which "
                         "fed.model = worker does not tell; choose fedavg",
                         fed->options.algorithm_name);
    if (!(algorithm->needs & (WEFT_NEEDS_BLEND | WEFT_NEEDS_PACE | WEFT_NEEDS_LOSS)))
        return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "fed.algorithm = %s needs %s, which fed.model = worker does not do; "
                     "choose fedavg or another",
                     fed->options.algorithm_name,
                     algorithm->needs & WEFT_NEEDS_BLEND  ? "two gradients a step"
                     : algorithm->needs & WEFT_NEEDS_PACE ? "a rate for each step"
                                                          : "losses of training samples");
}

/* That it knows the words that the algorithm needs. */
static weft_status check_words(const fed_task *fed, const fed_worker *worker)
{
    int share = fed->options.share[0] != 0;
    int needs = fed->algorithm->needs | (share ? WEFT_NEEDS_FIXED : 0);
    const char *word = fed_word_missing(needs, worker->described.knows);
    if (!word) return WEFT_OK;
    return weft_link_fail(
        worker->link, WEFT_ECONF,
        "does not know the word \"%s\" of a turn, which "
        "fed.%s = %s needs; teach it (knows = [\"%s\"]), or %s",
        word, share ? "share" : "algorithm",
        share ? fed->options.share : fed->options.algorithm_name, word,
        share ? "leave fed.share out"
              : "choose fedavg, fednova, fedexp, fedhyper, fedper, cpg or local");
}

/* Starts it and asks what it is; once it was asked before it must be the same. */
static weft_status start_worker(const fed_task *fed, fed_worker *worker)
{
    WEFT_SCRATCH(tmp);
    fed_described described;
    uint64_t before = worker->described.hash;
    weft_status st = weft_link_start(worker->link);
    if (st == WEFT_OK)
        st = fed_describe(worker->link, fed->env.seed, &described,
                          before ? tmp : fed->env.mem);
    if (st == WEFT_OK && before && described.hash != before)
        st = weft_link_fail(worker->link, WEFT_EDATA,
                            "describes other clients or weights than when it was started "
                            "before; they must be functions of its files and the seed");
    if (st == WEFT_OK && !before) worker->described = described;
    return st;
}

static weft_status start_patiently(const fed_task *fed, fed_worker *worker)
{
    for (int attempt = 0;; attempt++) {
        weft_status st = start_worker(fed, worker);
        if (st == WEFT_EWORKER && attempt == worker->retries) return WEFT_ECONF;
        if (st != WEFT_EWORKER) return st;
        weft_log(WEFT_WARN, "%s; it is started again", weft_error());
    }
}

static weft_status begin_worker(fed_task *fed, fed_worker *worker)
{
    weft_arena *mem = fed->env.mem;
    const weft_team *team = fed->env.team;
    int rank = team->first + team->rank;
    TRY(check_options(fed, worker));
    weft_link_plan plan = {
        .noun = "worker",
        .key = "worker.time_limit",
        .run = worker->run,
        .log = fed->env.dir
                   ? weft_arena_text(mem, "%s/" WEFT_WORKER_NAME, fed->env.dir, rank)
                   : NULL,
        .limit = worker->time_limit,
        .rank = rank,
        .leaves = leaves,
        .of = fed};
    worker->link = weft_link_new(&plan, mem);
    TRY(start_patiently(fed, worker));
    return check_words(fed, worker);
}

/* All ranks of a team must have been told the same. */
static weft_status compare_ranks(const fed_task *fed, const fed_worker *worker)
{
    weft_team *team = fed->env.team;
    uint64_t first = worker->described.hash;
    weft_bcast(team, &first, sizeof first, 0);
    weft_status st = WEFT_OK;
    if (first != worker->described.hash)
        st = weft_link_fail(worker->link, WEFT_EDATA,
                            "describes other clients or weights than that of rank %d; they "
                            "must be functions of its files and the seed",
                            team->first);
    return weft_agree(st, team);
}

weft_status fed_worker_begin(fed_task *fed)
{
    weft_arena *mem = fed->env.mem;
    fed_worker *worker = weft_arena_alloc(mem, 1, sizeof *worker);
    TRY(weft_conf_bind(fed->env.conf, &fed_worker_net.kind, worker));
    TRY(weft_agree(begin_worker(fed, worker), fed->env.team));
    TRY(compare_ranks(fed, worker));
    worker->wording = (struct wording){.knows = worker->described.knows,
                                       .has_parameters = has_parameters(fed->env.conf)};
    fed->model = worker;
    fed->balance.worst = worker->described.worst;
    fed->told.n = worker->described.nmetric;
    weft_data *data = fed->env.own ? fed->env.own : WEFT_NEW(mem, weft_data, 1);
    weft_data_tell(data, weft_arena_text(mem, "worker.run = %s", worker->run),
                   worker->described.clients, worker->described.count,
                   worker->described.names, mem);
    data->digest =
        weft_arena_text(mem, "worker %016llx", (unsigned long long)worker->described.hash);
    fed->env.data = data;
    if (worker->described.errors || fed->options.score == FED_LOSS) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "fed.score is of wrong answers, which the worker does not "
                                 "count; set fed.score = loss");
}

/* ---- places ---- */

/* Bytes of the order of a turn's samples. */
static int64_t order_of(const fed_worker *worker, const fed_turns *turns, int64_t j)
{
    const fed_client *client = &turns->client[j];
    if (!worker->described.orders || !turns->turn->train) return 0;
    return client->samples * client->options.epochs * (int64_t)sizeof(int64_t);
}

/* Two turns that are sent at once, which are no courses, have different places. */
static struct sent places_of(const fed_task *fed, const fed_turns *turns, int64_t j)
{
    enum { LINE = 64 };
    const fed_worker *worker = fed->model;
    const weft_course *course = turns->course;
    int64_t weights =
        (worker->described.nweight * (int64_t)sizeof(float) + LINE - 1) / LINE * LINE;
    int64_t several = worker->described.ahead ? 2 : 1, at = worker->asked % several;
    struct sent sent = {.turn = worker->asked,
                        .client = turns->client[j].client,
                        .weights = 2 * at * weights,
                        .answer = (2 * at + 1) * weights,
                        .anchor = 2 * at * weights,
                        .drift = -1,
                        .order = 2 * several * weights + at * worker->room};
    if (course && course->anchor && fed->algorithm->needs & WEFT_NEEDS_ANCHOR) {
        sent.anchor = sent.order;
        sent.order += weights;
    }
    if (course && course->drift) {
        sent.drift = sent.order;
        sent.order += weights;
    }
    sent.bytes = sent.order + order_of(worker, turns, j);
    return sent;
}

/* The order of samples of every epoch, as it is for weft's own networks. */
static void put_orders(const fed_task *fed, const fed_turn *turn, const fed_client *client,
                       int64_t *order, weft_arena *tmp)
{
    int64_t n = client->at.count[WEFT_TRAIN], take = client->samples;
    int64_t *all = WEFT_NEW(tmp, int64_t, n);
    for (int epoch = 0; epoch < client->options.epochs; epoch++) {
        fed_shuffle(fed, turn, client->client, epoch, n, take, all);
        memcpy(order + epoch * take, all, (size_t)take * sizeof *order);
    }
}

/* ---- a turn ---- */

static void put_weights(const fed_task *fed, const real *w, void *memory, int64_t at)
{
    float *to = memory;
    to += at / (int64_t)sizeof *to;
    for (int64_t i = 0; i < fed->nweight; i++) to[i] = (float)w[i];
}

static weft_status send_turn(fed_task *fed, const fed_turns *turns, int64_t j,
                             struct sent *sent)
{
    fed_worker *worker = fed->model;
    weft_arena *tmp = fed->work.tmp;
    void *memory;
    worker->asked++;
    struct sent at = places_of(fed, turns, j);
    TRY(weft_link_memory(worker->link, (size_t)at.bytes, &memory));
    put_weights(fed, turns->from, memory, at.weights);
    if (at.anchor != at.weights) put_weights(fed, turns->course->anchor, memory, at.anchor);
    if (at.drift >= 0) put_weights(fed, turns->course->drift, memory, at.drift);
    if (at.bytes > at.order)
        put_orders(fed, turns->turn, &turns->client[j],
                   (int64_t *)(void *)((char *)memory + at.order), tmp);
    const char *text = request_of(fed, turns, j, &at, &worker->wording, tmp);
    *sent = at;
    return weft_link_send(worker->link, text, strlen(text));
}

/* The turn that was sent before its call, or it is sent now. */
static weft_status sent_of(fed_task *fed, const fed_turns *turns, int64_t j,
                           struct sent *sent)
{
    fed_worker *worker = fed->model;
    *sent = worker->next;
    worker->next.turn = 0;
    if (sent->turn == 0) {
        int64_t order = order_of(worker, turns, j);
        if (order > worker->room) worker->room = order; /* which no other turn uses now */
        return send_turn(fed, turns, j, sent);
    }
    weft_check(sent->client == turns->client[j].client, "the turn of client %lld was sent",
               (long long)sent->client);
    return WEFT_OK;
}

static weft_status ask_turn(fed_task *fed, const fed_turns *turns, int64_t j, int64_t next)
{
    fed_worker *worker = fed->model;
    struct sent sent;
    const char *line;
    void *memory;
    turns->told[j] = (fed_client_result){0};
    if (!weft_link_lives(worker->link)) {
        worker->next.turn = 0;
        TRY(start_worker(fed, worker));
    }
    TRY(sent_of(fed, turns, j, &sent));
    if (next >= 0 && worker->described.ahead && weft_link_keeps_pace(worker->link) &&
        order_of(worker, turns, next) <= worker->room)
        TRY(send_turn(fed, turns, next, &worker->next));
    TRY(weft_link_hear(worker->link, &line));
    TRY(weft_link_memory(worker->link, (size_t)sent.bytes, &memory));
    const float *given = (const float *)memory + sent.answer / (int64_t)sizeof *given;
    fed_asked asked = {worker->link, &worker->described, sent.turn, given};
    return fed_answer_read(fed, turns, j, &asked, line);
}

weft_status fed_worker_turn(fed_task *fed, const fed_turns *turns, int64_t j, int64_t next)
{
    const fed_worker *worker = fed->model;
    for (int attempt = 0;; attempt++) {
        WEFT_REWIND(fed->work.tmp);
        weft_status st = ask_turn(fed, turns, j, next);
        if (st != WEFT_EWORKER || attempt == worker->retries) return st;
        weft_log(WEFT_WARN, "%s; the turn is repeated", weft_error());
    }
}

void fed_worker_drop(fed_task *fed)
{
    weft_link_drop(((fed_worker *)fed->model)->link);
}

const char *fed_worker_note(const fed_task *fed)
{
    const char *note = NULL;
    const fed_worker *worker = fed->model;
    for (int i = 0; i < fed->told.n; i++)
        if (isfinite(fed->told.mean[i]))
            note = weft_note_add(note, worker->described.metric[i], fed->told.mean[i],
                                 fed->env.mem);
    return note;
}

/* ---- whether what workers answer is a function of the turn ---- */

/* The clients of the turns, those with training samples, spread over all. */
static fed_cohort clients_of(const fed_task *fed, const fed_turn *turn, int n,
                             weft_arena *tmp)
{
    weft_mix none = {.nblock = 0};
    fed_cohort cohort = fed_cohort_new(fed, turn, 0, &none, n, tmp);
    int64_t all = fed->clients->n;
    cohort.n = n;
    for (int i = 0; i < n; i++) {
        fed_client *client = &cohort.client[i];
        weft_space_config(fed->env.space, 0, client->conf);
        fed_configure(fed, client);
        client->client = i * all / n;
        while (client->client + 1 < all &&
               weft_client_count(fed->clients, client->client, WEFT_TRAIN) == 0)
            client->client++;
        fed_size(fed, turn, client);
    }
    return cohort;
}

/* Hash of what the turn gives. */
static weft_status hash_turn(fed_task *fed, const fed_turns *turns, int j, uint64_t *hash)
{
    TRY(fed_worker_turn(fed, turns, j, -1));
    uint64_t told = weft_hash(&turns->told[j], sizeof *turns->told, 0);
    *hash = weft_hash(fed->work.g, (size_t)fed->nweight * sizeof *fed->work.g, told);
    return WEFT_OK;
}

/* hash[2][n] of n turns by this rank. */
static weft_status take_twice(fed_task *fed, const fed_turns *turns, int anew,
                              uint64_t *hash)
{
    int n = (int)turns->n;
    for (int i = 0; i < n; i++) TRY(hash_turn(fed, turns, i, &hash[i]));
    if (anew) fed_worker_drop(fed);
    for (int i = 0; i < n; i++) {
        int j = (i + n - 1) % n; /* each at another place */
        TRY(hash_turn(fed, turns, j, &hash[n + j]));
    }
    return WEFT_OK;
}

/* Has the workers of all ranks do the same n turns, twice, the second time in another
 * order, with anew 1 by workers that are started again in between. *differ: of how many the
 * bits were not all the same. */
static weft_status repeat_turns(fed_task *fed, int n, int anew, int *differ)
{
    WEFT_SCRATCH(tmp);
    const fed_turn turn = {.round = FED_EVALUATION,
                           .before = 1,
                           .train = 1,
                           .after = 1,
                           .part = WEFT_VALID,
                           .most = fed->balance.worst};
    real *from = WEFT_NEW(tmp, real, fed->nweight);
    fed->net->init(fed->model, fed->env.seed, from);
    fed->work.tmp = tmp;
    fed_cohort cohort = clients_of(fed, &turn, n, tmp);
    fed_turns turns = fed_turns_of(&cohort, from);
    uint64_t *hash = WEFT_NEW(tmp, uint64_t, 2 * n), *first = WEFT_NEW(tmp, uint64_t, n);
    weft_status st = weft_agree(take_twice(fed, &turns, anew, hash), fed->env.team);
    memcpy(first, hash, (size_t)n * sizeof *first);
    weft_bcast(fed->env.team, first, (size_t)n * sizeof *first, 0);
    double *other = WEFT_NEW(tmp, double, n);
    for (int i = 0; i < n; i++) other[i] = hash[i] != first[i] || hash[n + i] != first[i];
    weft_max_f64(fed->env.team, other, (size_t)n);
    *differ = 0;
    for (int i = 0; i < n; i++) *differ += other[i] > 0;
    return st;
}

weft_status fed_worker_repeats(void *self, const char *place, const char **told)
{
    (void)place;
    fed_task *fed = self;
    int ranks = fed->env.team->size, differ;
    if (!fed_worker_trains(fed)) return WEFT_OK;
    TRY(repeat_turns(fed, TURNS, 1, &differ));
    const char *bits =
        differ == 0 ? "the same bits"
                    : weft_arena_text(fed->env.mem,
                                      "OTHER BITS in %d; a digest is that of one run on "
                                      "this machine only",
                                      differ);
    *told = weft_arena_text(fed->env.mem,
                            "workers   %d turns, each done twice on %d rank%s: %s", TURNS,
                            ranks, ranks > 1 ? "s" : "", bits);
    return WEFT_OK;
}

weft_status fed_worker_try(fed_task *fed)
{
    int differ;
    if (!fed_worker_trains(fed) || !fed->env.dir || fed->told.tried) return WEFT_OK;
    fed->told.tried = 1;
    TRY(repeat_turns(fed, 1, 0, &differ));
    if (differ > 0)
        weft_log(
            WEFT_WARN,
            "a turn that workers repeated had other bits, so that the digest is that "
            "of this run on this machine only; `weft doctor INPUT.ini` tries more, and "
            "answers must be functions of the turn for runs to be repeated");
    return WEFT_OK;
}
