/* What a worker says of itself: its clients, tensors, initial weights and scores. */
#include "described.h"
#include "weft/hash.h"

#include <yajl/yajl_tree.h>

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

static yajl_val find(yajl_val in, const char *key)
{
    const char *path[] = {key, NULL};
    return YAJL_IS_OBJECT(in) ? yajl_tree_get(in, path, yajl_t_any) : NULL;
}

/* The whole number of that key, -1 if it has none. */
static int64_t whole(yajl_val in, const char *key)
{
    yajl_val value = find(in, key);
    return value && YAJL_IS_INTEGER(value) ? YAJL_GET_INTEGER(value) : -1;
}

/* The *n values of an array, 0 of anything else. */
static const yajl_val *values(yajl_val list, size_t *n)
{
    *n = YAJL_IS_ARRAY(list) ? list->u.array.len : 0;
    return *n > 0 ? list->u.array.values : NULL;
}

/* Copies `bytes` of the memory, from where `key` says. EDATA. */
static weft_status copy(const struct reading *reading, const char *key, int64_t bytes,
                        void **out)
{
    void *memory;
    int64_t from = whole(reading->json, key), most = (int64_t)1 << 50;
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
    out->clients = whole(reading->json, "clients");
    if (out->clients < 1 || out->clients > MOST_CLIENTS)
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "describes %lld clients where 1 or more are expected",
                              (long long)out->clients);
    TRY(copy(reading, "counts", out->clients * WEFT_NPART * (int64_t)sizeof *out->count,
             &bytes));
    out->count = bytes;
    for (int64_t i = 0; i < out->clients * WEFT_NPART; i++)
        if (out->count[i] < 0 || out->count[i] > INT32_MAX)
            return weft_link_fail(reading->link, WEFT_EDATA,
                                  "says that client %lld has %lld %s samples",
                                  (long long)(i / WEFT_NPART), (long long)out->count[i],
                                  weft_part_name[i % WEFT_NPART]);
    if (!find(reading->json, "names")) return WEFT_OK;
    int64_t size = whole(reading->json, "names_bytes"), ends = 0;
    TRY(copy(reading, "names", size > 0 ? size : 0, &bytes));
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
    yajl_val name = find(json, "name"), shape = find(json, "shape");
    const char *text = name && YAJL_IS_STRING(name) ? YAJL_GET_STRING(name) : "";
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
    const yajl_val *sizes = values(shape, &nd);
    for (size_t k = 0; sizes && k < nd; k++) {
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
    const yajl_val *list = values(find(reading->json, "tensors"), &n);
    if (!list || n > WEFT_MAX_TENSORS)
        return weft_link_fail(reading->link, WEFT_EDATA,
                              "describes %zu tensors; 1 to %d are expected", n,
                              WEFT_MAX_TENSORS);
    for (; out->ntensor < (int)n; out->ntensor++)
        TRY(read_tensor(reading, out->ntensor, list[out->ntensor]));
    TRY(copy(reading, "weights", out->nweight * (int64_t)sizeof(float), &bytes));
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

static int is_true(yajl_val json, const char *key)
{
    yajl_val value = find(json, key);
    return value && YAJL_IS_TRUE(value);
}

static weft_status read_scores(struct reading *reading)
{
    yajl_val worst = find(reading->json, "worst"), flops = find(reading->json, "flops");
    fed_described *out = reading->out;
    out->worst = worst && YAJL_IS_NUMBER(worst) ? YAJL_GET_DOUBLE(worst) : 0;
    out->flops = flops && YAJL_IS_NUMBER(flops) ? YAJL_GET_DOUBLE(flops) : 0;
    out->errors = is_true(reading->json, "errors");
    out->orders = is_true(reading->json, "orders");
    out->ahead = is_true(reading->json, "ahead");
    if (out->worst > 0 && isfinite(out->worst) && out->flops >= 0) return WEFT_OK;
    return weft_link_fail(reading->link, WEFT_EDATA,
                          "gives no \"worst\", a mean loss above 0 that counts as "
                          "divergence");
}

const fed_word fed_word_table[FED_WORDS] = {{"tensors", WEFT_NEEDS_FIXED},
                                            {"anchor", WEFT_NEEDS_ANCHOR},
                                            {"drift", WEFT_NEEDS_DRIFT}};

/* Others are those of a later weft. */
static void read_words(struct reading *reading)
{
    size_t n;
    const yajl_val *list = values(find(reading->json, "knows"), &n);
    for (size_t i = 0; list && i < n; i++) {
        const char *name = YAJL_IS_STRING(list[i]) ? YAJL_GET_STRING(list[i]) : "";
        for (int k = 0; k < FED_WORDS; k++)
            if (strcmp(name, fed_word_table[k].name) == 0)
                reading->out->knows |= fed_word_table[k].needs;
    }
}

static weft_status read_metrics(struct reading *reading)
{
    size_t n;
    fed_described *out = reading->out;
    const yajl_val *list = values(find(reading->json, "metrics"), &n);
    for (size_t i = 0; list && i < n; i++) {
        const char *name = YAJL_IS_STRING(list[i]) ? YAJL_GET_STRING(list[i]) : "";
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

static weft_status read_all(struct reading *reading)
{
    int64_t protocol = whole(reading->json, "protocol");
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
    struct reading reading = {link, yajl_tree_parse(line, NULL, 0), out, mem};
    yajl_val error = reading.json ? find(reading.json, "error") : NULL;
    weft_status st;
    if (!reading.json)
        st = weft_link_fail(link, WEFT_EDATA, "sent a line that is not JSON: %.200s", line);
    else if (error)
        st = weft_link_fail(link, WEFT_EDATA, "has a bug: %.200s",
                            YAJL_IS_STRING(error) ? YAJL_GET_STRING(error) : "");
    else
        st = read_all(&reading);
    yajl_tree_free(reading.json);
    return st;
}
