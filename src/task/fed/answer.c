/* What a worker says, line by line of JSON: of itself, its clients, tensors, initial
 * weights and scores; and what it answers to a turn, checked, and turned into the client's
 * result. */
#include "round.h"
#include "task/programs.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_WEIGHTS ((int64_t)1 << 40)
#define MOST_CLIENTS ((int64_t)1 << 32)
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

/* A description that is read. */
struct reading {
    weft_link *link;
    yajl_val json;
    fed_described *out;
    weft_arena *mem;
};

/* The whole number of that key, -1 if it has none. */
static int64_t whole_of(yajl_val in, const char *key)
{
    yajl_val value = weft_yajl_find(in, key);
    return YAJL_IS_INTEGER(value) ? YAJL_GET_INTEGER(value) : -1;
}

static const char *text_of(yajl_val value)
{
    return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "";
}

/* The *n values of an array, 0 of anything else. */
static const yajl_val *values_of(yajl_val list, size_t *n)
{
    *n = YAJL_IS_ARRAY(list) ? list->u.array.len : 0;
    return *n > 0 ? list->u.array.values : NULL;
}

/* Copies `bytes` of the memory, from where `key` says. EDATA. */
static weft_status copy_memory(const struct reading *reading, const char *key,
                               int64_t bytes, void **out)
{
    void *memory;
    int64_t from = whole_of(reading->json, key), most = (int64_t)1 << 50;
    if (from < 0 || from > most || bytes > most)
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "describes itself without \"%s\", a place in its memory",
                              key);
    if ((size_t)(from + bytes) > weft_link_size(reading->link))
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "says that \"%s\" end at byte %lld of its memory, which has "
                              "%zu",
                              key, (long long)(from + bytes),
                              weft_link_size(reading->link));
    TRY(weft_link_memory(reading->link, (size_t)(from + bytes), &memory));
    *out = WEFT_NEW(reading->mem, char, bytes + 1);
    memcpy(*out, (const char *)memory + from, (size_t)bytes);
    return WEFT_OK;
}

static weft_status read_clients(struct reading *reading)
{
    void *bytes;
    fed_described *out = reading->out;
    out->clients = whole_of(reading->json, "clients");
    if (out->clients < 1 || out->clients > MOST_CLIENTS)
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "describes %lld clients where 1 or more are expected",
                              (long long)out->clients);
    TRY(copy_memory(reading, "counts",
                    out->clients * WEFT_NPART * (int64_t)sizeof *out->count, &bytes));
    out->count = bytes;
    for (int64_t i = 0; i < out->clients * WEFT_NPART; i++)
        if (out->count[i] < 0 || out->count[i] > INT32_MAX)
            return weft_link_fail(reading->link, WEFT_EDATA,
                                  "says that client %lld has %lld %s samples",
                                  (long long)(i / WEFT_NPART), (long long)out->count[i],
                                  weft_part_name[i % WEFT_NPART]);
    if (!weft_yajl_find(reading->json, "names")) return WEFT_OK;
    int64_t size = whole_of(reading->json, "names_bytes"), ends = 0;
    TRY(copy_memory(reading, "names", size > 0 ? size : 0, &bytes));
    const char *text = bytes;
    for (int64_t i = 0; i < size; i++) ends += text[i] == '\0';
    if (ends != out->clients || size < 1 || text[size - 1] != '\0')
        return weft_link_fail(reading->link, WEFT_EDATA, "names %lld clients of %lld",
                              (long long)ends, (long long)out->clients);
    out->names = text;
    return WEFT_OK;
}

/* Dimensions behind the fourth are counted to it. */
static weft_status read_tensor(struct reading *reading, int i, yajl_val json)
{
    fed_described *out = reading->out;
    weft_tensor *tensor = &out->tensor[i];
    const char *text = text_of(weft_yajl_find(json, "name"));
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof tensor->name || text[strspn(text, NAME_LETTERS)])
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "has a tensor \"%.80s\"; a name is made of 1 to %zu letters, "
                              "digits, _ . -",
                              text, sizeof tensor->name - 1);
    for (int k = 0; k < i; k++)
        if (strcmp(out->tensor[k].name, text) == 0)
            return weft_link_fail(reading->link, WEFT_EDATA, "has two tensors %s", text);
    *tensor = (weft_tensor){.at = out->nweight, .nd = 1, .dims = {1}};
    memcpy(tensor->name, text, length + 1);
    int64_t n = 1;
    size_t nd;
    const yajl_val *sizes = values_of(weft_yajl_find(json, "shape"), &nd);
    for (size_t k = 0; k < nd; k++) {
        yajl_val size = sizes[k];
        int64_t d = YAJL_IS_INTEGER(size) ? YAJL_GET_INTEGER(size) : 0;
        if (d < 1 || d > MOST_WEIGHTS / n)
            return weft_link_fail(reading->link, WEFT_EDATA,
                                  "has a tensor %s with a wrong shape", text);
        n *= d;
        int last = k < 4 ? (int)k : 3;
        tensor->dims[last] = k < 4 ? d : tensor->dims[last] * d;
        tensor->nd = last + 1;
    }
    out->nweight += n;
    return WEFT_OK;
}

static weft_status read_tensors(struct reading *reading)
{
    void *bytes;
    fed_described *out = reading->out;
    size_t n;
    const yajl_val *list = values_of(weft_yajl_find(reading->json, "tensors"), &n);
    if (!list || n > WEFT_MAX_TENSORS)
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "describes %zu tensors; 1 to %d are expected", n,
                              WEFT_MAX_TENSORS);
    for (; out->ntensor < (int)n; out->ntensor++)
        TRY(read_tensor(reading, out->ntensor, list[out->ntensor]));
    TRY(copy_memory(reading, "weights", out->nweight * (int64_t)sizeof(float), &bytes));
    const float *given = bytes;
    real *initial = WEFT_NEW(reading->mem, real, out->nweight);
    for (int64_t i = 0; i < out->nweight; i++) {
        if (!isfinite(given[i]))
            return weft_link_fail(reading->link, WEFT_EDATA,
                                  "has initial weights of which number %lld is %g",
                                  (long long)i, (double)given[i]);
        initial[i] = given[i];
    }
    out->initial = initial;
    return WEFT_OK;
}

static weft_status read_scores(struct reading *reading)
{
    fed_described *out = reading->out;
    weft_yajl_number(weft_yajl_find(reading->json, "worst"), &out->worst);
    weft_yajl_number(weft_yajl_find(reading->json, "flops"), &out->flops);
    if (isnan(out->flops)) out->flops = 0;
    out->errors = YAJL_IS_TRUE(weft_yajl_find(reading->json, "errors"));
    out->orders = YAJL_IS_TRUE(weft_yajl_find(reading->json, "orders"));
    out->ahead = YAJL_IS_TRUE(weft_yajl_find(reading->json, "ahead"));
    if (out->worst > 0 && isfinite(out->worst) && out->flops >= 0) return WEFT_OK;
    return weft_link_fail(reading->link, WEFT_EDATA,
                          "gives no \"worst\", a mean loss above 0 that counts as "
                          "divergence");
}

/* The words of a turn that a worker may know. */
enum { WORDS = 3 };
static const struct {
    const char *name;
    int needs; /* WEFT_NEEDS_... */
} word_table[WORDS] = {{"tensors", WEFT_NEEDS_FIXED},
                       {"anchor", WEFT_NEEDS_ANCHOR},
                       {"drift", WEFT_NEEDS_DRIFT}};

const char *fed_word_missing(int needs, int knows)
{
    for (int k = 0; k < WORDS; k++)
        if (needs & word_table[k].needs & ~knows) return word_table[k].name;
    return NULL;
}

/* Others are those of a later weft. */
static void read_words(struct reading *reading)
{
    size_t n;
    const yajl_val *list = values_of(weft_yajl_find(reading->json, "knows"), &n);
    for (size_t i = 0; i < n; i++) {
        const char *name = text_of(list[i]);
        for (int k = 0; k < WORDS; k++)
            if (strcmp(name, word_table[k].name) == 0)
                reading->out->knows |= word_table[k].needs;
    }
}

static weft_status read_metrics(struct reading *reading)
{
    size_t n;
    fed_described *out = reading->out;
    const yajl_val *list = values_of(weft_yajl_find(reading->json, "metrics"), &n);
    for (size_t i = 0; i < n; i++) {
        const char *name = text_of(list[i]);
        int good = *name && !name[strspn(name, NAME_LETTERS)];
        if (i >= FED_OWN || !good || strlen(name) >= sizeof out->metric[i])
            return weft_link_fail(reading->link, WEFT_EDATA,
                                  "has a metric \"%.80s\"; at most %d are expected, with "
                                  "names of letters, digits, _ . -",
                                  name, FED_OWN);
        snprintf(out->metric[out->nmetric++], sizeof out->metric[i], "%s", name);
    }
    return WEFT_OK;
}

static uint64_t hash_of(const fed_described *out)
{
    uint64_t hash =
        weft_hash(out->count, (size_t)out->clients * WEFT_NPART * sizeof *out->count, 0);
    for (int i = 0; i < out->ntensor; i++) {
        const weft_tensor *tensor = &out->tensor[i];
        hash = weft_hash(tensor->name, strlen(tensor->name), hash);
        hash = weft_hash(tensor->dims, (size_t)tensor->nd * sizeof *tensor->dims, hash);
    }
    hash = weft_hash(out->initial, (size_t)out->nweight * sizeof *out->initial, hash);
    const double scores[] = {out->worst, out->flops, out->errors, out->orders};
    return weft_hash(scores, sizeof scores, hash);
}

static weft_status read_described(struct reading *reading)
{
    int64_t protocol = whole_of(reading->json, "protocol");
    if (protocol != WEFT_PROTOCOL)
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "speaks protocol %lld where %d is expected; use the module "
                              "or header of this weft",
                              (long long)protocol, WEFT_PROTOCOL);
    TRY(read_clients(reading));
    TRY(read_tensors(reading));
    TRY(read_scores(reading));
    TRY(read_metrics(reading));
    read_words(reading);
    reading->out->hash = hash_of(reading->out);
    return WEFT_OK;
}

weft_status fed_describe(weft_link *link, uint64_t seed, fed_described *out,
                         weft_arena *mem)
{
    char text[128];
    const char *line;
    int n = snprintf(text, sizeof text,
                     "{\"ask\":\"describe\",\"protocol\":%d,\"role\":\"clients\","
                     "\"seed\":%llu}\n",
                     WEFT_PROTOCOL, (unsigned long long)seed);
    *out = (fed_described){0};
    TRY(weft_link_ask(link, text, (size_t)n, &line));
    WEFT_JSON(json, line);
    if (!json)
        return weft_link_fail(link, WEFT_EDATA, "sent a line that is not JSON: %.200s",
                              line);
    yajl_val error = weft_yajl_find(json, "error");
    if (error) return weft_link_fail(link, WEFT_EDATA, "has a bug: %.200s", text_of(error));
    struct reading reading = {link, json, out, mem};
    return read_described(&reading);
}

/* ---- its answer to a turn ---- */

/* An answer that is read. */
struct answer {
    const fed_task *fed;
    const fed_turns *turns;
    int64_t j;
    const fed_asked *asked;
    yajl_val json;
    fed_client_result *out;
};

static weft_status is_wrong(const struct answer *answer, const char *what)
{
    return weft_link_fail(answer->asked->link, WEFT_EDATA,
                          "answered the turn of client %lld with %s",
                          (long long)answer->turns->client[answer->j].client, what);
}

/* [loss, wrong, count] of a stage: sums over predictions. A loss that is no number is one
 * of a client that diverged. */
static weft_status read_stage(const struct answer *answer, int stage)
{
    enum { LOSS, WRONG, COUNT, N };
    const char *key = stage == FED_BEFORE ? "before" : "after";
    yajl_val list = weft_yajl_find(answer->json, key);
    double x[N];
    int good = YAJL_IS_ARRAY(list) && list->u.array.len == N;
    for (int i = 0; good && i < N; i++)
        good = weft_yajl_number(list->u.array.values[i], &x[i]);
    if (!good)
        return is_wrong(answer, "no \"before\" or \"after\" that was asked for, which is "
                                "[sum of losses, wrong answers, predictions]");
    int counted =
        x[COUNT] >= 0 && x[COUNT] <= INT32_MAX && x[WRONG] >= 0 && x[WRONG] <= x[COUNT];
    if (!counted)
        return is_wrong(answer, "counts of wrong answers and predictions that are none");
    if (answer->turns->client[answer->j].valid > 0 && !(x[COUNT] > 0))
        return is_wrong(answer, "no predictions, though the client has samples");
    if (x[COUNT] > 0 && !isfinite(x[LOSS])) answer->out->diverged = 1;
    fed_settle_score((weft_score){x[LOSS], floor(x[WRONG]), floor(x[COUNT])},
                     answer->turns->turn, stage, answer->out);
    return WEFT_OK;
}

/* That the course's fixed tensors are as they were, by the change of the weights. */
static weft_status check_fixed(const struct answer *answer)
{
    const fed_task *fed = answer->fed;
    const weft_course *course = answer->turns->course;
    for (int i = 0; course && course->fixed && i < fed->ntensor; i++) {
        const weft_tensor *tensor = &fed->tensor[i];
        int64_t end = tensor->at + weft_tensors_size(1, tensor);
        for (int64_t e = tensor->at; course->fixed[i] && e < end; e++) {
            if (fed->work.g[e] == 0) continue;
            char what[192];
            snprintf(what, sizeof what,
                     "other numbers of tensor %s, which is not among the \"tensors\" to be "
                     "trained",
                     tensor->name);
            return is_wrong(answer, what);
        }
    }
    return WEFT_OK;
}

/* work.g = the change of the weights, which a course's w become. A client with a number
 * that is not finite diverged, or with one beyond max_change; of courses local.c decides
 * that by what they change together. */
static weft_status read_weights(const struct answer *answer)
{
    const fed_task *fed = answer->fed;
    const fed_client *client = &answer->turns->client[answer->j];
    int64_t told = whole_of(answer->json, "weights");
    if (told != fed->nweight) {
        char what[128];
        snprintf(what, sizeof what, "%lld weights where %lld are expected", (long long)told,
                 (long long)fed->nweight);
        return is_wrong(answer, what);
    }
    const weft_course *course = answer->turns->course;
    real *g = fed->work.g, *w = course ? course->w : NULL;
    const float *given = answer->asked->given;
    const real *from = answer->turns->from;
    const real most = course ? WEFT_REAL_MAX : (real)client->options.max_change;
    int good = 1, is_change = YAJL_IS_TRUE(weft_yajl_find(answer->json, "change"));
    for (int64_t i = 0; i < fed->nweight; i++) {
        g[i] = is_change ? (real)given[i] : (real)given[i] - from[i];
        good &= (g[i] <= most) & (g[i] >= -most);
        if (w) w[i] = is_change ? from[i] + g[i] : (real)given[i];
    }
    if (!good) answer->out->diverged = 1;
    return check_fixed(answer);
}

static weft_status read_training(const struct answer *answer)
{
    fed_client_result *out = answer->out;
    double x;
    TRY(read_weights(answer));
    weft_yajl_number(weft_yajl_find(answer->json, "steps"), &out->steps);
    if (!(out->steps >= 0) || !isfinite(out->steps))
        return is_wrong(answer, "no \"steps\", the number of samples that it trained on");
    weft_yajl_number(weft_yajl_find(answer->json, "train_loss"), &x);
    if (isfinite(x)) {
        out->train_loss = x * out->steps;
        out->train_count = out->steps;
    }
    return WEFT_OK;
}

/* The worker's own metrics, those that it has of this client. */
static void read_own(const struct answer *answer)
{
    const fed_described *described = answer->asked->described;
    yajl_val own = weft_yajl_find(answer->json, "metrics");
    for (int i = 0; i < described->nmetric; i++)
        weft_yajl_number(weft_yajl_find(own, described->metric[i]), &answer->out->own[i]);
}

weft_status fed_answer_read(const fed_task *fed, const fed_turns *turns, int64_t j,
                            const fed_asked *asked, const char *line)
{
    const fed_turn *turn = turns->turn;
    WEFT_JSON(json, line);
    struct answer answer = {fed, turns, j, asked, json, &turns->told[j]};
    yajl_val error = weft_yajl_find(json, "error");
    if (!json)
        return weft_link_fail(asked->link, WEFT_EDATA,
                              "sent a line that is not JSON: %.200s", line);
    if (error)
        return weft_link_fail(asked->link, WEFT_EDATA,
                              "has a bug in the turn of client %lld: %.200s",
                              (long long)turns->client[j].client, text_of(error));
    if (whole_of(json, "turn") != asked->turn)
        return is_wrong(&answer, "the number of another turn");
    read_own(&answer);
    if (turn->before) TRY(read_stage(&answer, FED_BEFORE));
    if (turn->train) TRY(read_training(&answer));
    if (turn->after && answer.out->diverged > 0)
        fed_settle_failure(fed, &turns->client[j], turn, answer.out);
    else if (turn->after)
        TRY(read_stage(&answer, FED_AFTER));
    return WEFT_OK;
}
