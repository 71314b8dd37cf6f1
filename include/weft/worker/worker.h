/* A worker in C: a program that trains the clients of a federation for weft (fed.model =
 * worker). This header is all that it needs, on POSIX systems with a C99 compiler: it
 * calls weft_worker_serve. weft's src/worker/README.md has the protocol, and
 * inputs/clients.c is an example. */
#ifndef LIBWEFT_WORKER_WORKER_H
#define LIBWEFT_WORKER_WORKER_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a client is asked to do. */
typedef struct weft_worker_turn {
    int64_t client, round, samples, scored; /* round -1: an evaluation */
    uint32_t seed;
    int train, before, after; /* 1: train; score the weights received; those trained */
    int part;                 /* that is scored: 0 training, 1 validation, 2 test */
    const float *weights;     /* received */
    float *answer;            /* to be written if train is 1 */
    const int64_t *order;     /* [epochs][samples], if the worker wants it */
    const char *json;         /* the request: weft_worker_number reads options from it */
} weft_worker_turn;

/* Its answer: sums over predictions, before and after training; zero on entry. */
typedef struct weft_worker_scores {
    double loss[2];
    int64_t wrong[2], count[2];
    double train_loss; /* mean over the steps; NAN on entry: not known */
    int64_t steps;     /* samples of all training steps */
} weft_worker_scores;

typedef struct weft_worker {
    int64_t clients;
    const int64_t *counts; /* [clients][3] samples for training, validation, test */
    const char *tensors;   /* [{"name":"w","shape":[10,784]}], JSON */
    int64_t nweight;       /* of all tensors */
    const float *weights;  /* [nweight] initial */
    double worst;          /* mean loss that counts as divergence */
    int orders;            /* 1: it wants the order of samples */
    const char *knows;     /* "[\"tensors\",\"anchor\",\"drift\"]", of these; NULL: none */
    /* Does a turn. Returns NULL, or what is wrong, which ends the run. */
    const char *(*turn)(void *of, const weft_worker_turn *turn, weft_worker_scores *out);
    void *of; /* its first argument */
} weft_worker;

/* The number of a key of the request, "lr" of `in` "options"; NAN: there is none. */
static inline double weft_worker_number(const char *json, const char *in, const char *key)
{
    char mark[64];
    if (in) {
        snprintf(mark, sizeof mark, "\"%s\":{", in);
        json = strstr(json, mark);
        if (!json) return NAN;
    }
    const char *end = in ? strchr(json, '}') : NULL;
    snprintf(mark, sizeof mark, "\"%s\":", key);
    json = strstr(json, mark);
    if (!json || (end && json > end)) return NAN;
    json += strlen(mark);
    if (*json == 't' || *json == 'f') return *json == 't';
    return strtod(json, NULL);
}

/* The memory of at least so many bytes; NULL: there is none. */
static inline char *weft_worker_map(size_t bytes)
{
    static char *map;
    static size_t mapped;
    struct stat info;
    int fd = atoi(getenv("WEFT_MEMORY"));
    if (bytes <= mapped) return map;
    if (map) munmap(map, mapped);
    mapped = 0;
    if (fstat(fd, &info) != 0) return map = NULL;
    if ((size_t)info.st_size < bytes && ftruncate(fd, (off_t)bytes) != 0) return map = NULL;
    if ((size_t)info.st_size > bytes) bytes = (size_t)info.st_size;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mapped = at == MAP_FAILED ? 0 : bytes;
    return map = at == MAP_FAILED ? NULL : (char *)at;
}

/* The place in the memory that a key of the request tells, "drift"; NULL: it tells none. */
static inline void *weft_worker_place(const char *json, const char *key)
{
    double at = weft_worker_number(json, NULL, key);
    return at >= 0 ? weft_worker_map(0) + (int64_t)at : NULL;
}

/* 1: tensor i is to be trained; 0: it stays as received. */
static inline int weft_worker_trains(const char *json, int i)
{
    const char *tensors = strstr(json, "\"tensors\":[");
    return !tensors || tensors[strcspn(tensors, "[") + 1 + 2 * (size_t)i] == '1';
}

static inline int weft_worker_describe(const weft_worker *worker, char **text, size_t *room)
{
    size_t counts = (size_t)worker->clients * 3 * sizeof *worker->counts;
    size_t weights = (size_t)worker->nweight * sizeof *worker->weights;
    char *memory = weft_worker_map(counts + weights);
    if (!memory) return 0;
    memcpy(memory, worker->counts, counts);
    memcpy(memory + counts, worker->weights, weights);
    const char *knows = worker->knows ? worker->knows : "[]";
    size_t need = strlen(worker->tensors) + strlen(knows) + 512;
    if (need > *room) *text = (char *)realloc(*text, *room = need);
    if (!*text) return 0;
    return snprintf(*text, *room,
                    "{\"protocol\":1,\"clients\":%lld,\"counts\":0,\"weights\":%zu,"
                    "\"worst\":%.17g,\"errors\":true,\"ahead\":true,\"orders\":%s,"
                    "\"knows\":%s,\"tensors\":%s}\n",
                    (long long)worker->clients, counts, worker->worst,
                    worker->orders ? "true" : "false", knows, worker->tensors);
}

/* Adds " "key":[L,W,N]" of a stage to n characters; returns their number. */
static inline int weft_worker_stage(char *text, size_t room, int n, const char *key,
                                    const weft_worker_scores *scores, int stage)
{
    char loss[32] = "null";
    if (isfinite(scores->loss[stage]))
        snprintf(loss, sizeof loss, "%.17g", scores->loss[stage]);
    return n + snprintf(text + n, room - (size_t)n, ",\"%s\":[%s,%lld,%lld]", key, loss,
                        (long long)scores->wrong[stage], (long long)scores->count[stage]);
}

static inline int weft_worker_answer(const weft_worker *worker, const char *json,
                                     char *text, size_t room)
{
    weft_worker_turn turn = {.client = (int64_t)weft_worker_number(json, NULL, "client"),
                             .round = (int64_t)weft_worker_number(json, NULL, "round"),
                             .samples = (int64_t)weft_worker_number(json, NULL, "samples"),
                             .scored = (int64_t)weft_worker_number(json, NULL, "scored"),
                             .seed = (uint32_t)weft_worker_number(json, NULL, "seed"),
                             .train = weft_worker_number(json, NULL, "train") > 0,
                             .before = weft_worker_number(json, NULL, "before") > 0,
                             .after = weft_worker_number(json, NULL, "after") > 0,
                             .part = strstr(json, "\"part\":\"train\"")  ? 0
                                     : strstr(json, "\"part\":\"test\"") ? 2
                                                                         : 1,
                             .json = json};
    struct stat info; /* of the memory, which weft has made large enough */
    if (fstat(atoi(getenv("WEFT_MEMORY")), &info) != 0) return 0;
    if (!weft_worker_map((size_t)info.st_size)) return 0;
    turn.weights = (const float *)weft_worker_place(json, "weights");
    turn.answer = (float *)weft_worker_place(json, "answer");
    turn.order = (const int64_t *)weft_worker_place(json, "order");
    weft_worker_scores scores = {.train_loss = NAN};
    const char *wrong = worker->turn(worker->of, &turn, &scores);
    if (wrong) return snprintf(text, room, "{\"error\":\"%.200s\"}\n", wrong);
    int n = snprintf(text, room, "{\"turn\":%lld",
                     (long long)weft_worker_number(json, NULL, "turn"));
    if (turn.before) n = weft_worker_stage(text, room, n, "before", &scores, 0);
    if (turn.after) n = weft_worker_stage(text, room, n, "after", &scores, 1);
    if (turn.train)
        n += snprintf(text + n, room - (size_t)n, ",\"weights\":%lld,\"steps\":%lld",
                      (long long)worker->nweight, (long long)scores.steps);
    if (turn.train && isfinite(scores.train_loss))
        n += snprintf(text + n, room - (size_t)n, ",\"train_loss\":%.17g",
                      scores.train_loss);
    return n + snprintf(text + n, room - (size_t)n, "}\n");
}

/* Answers weft's requests until the run ends. 0; 1: weft did not start it, or no memory. */
static inline int weft_worker_serve(const weft_worker *worker)
{
    size_t room = 4096, have = 0, more = 4096;
    char *in = (char *)malloc(room), *out = (char *)malloc(more);
    int fd = getenv("WEFT_SOCKET") ? atoi(getenv("WEFT_SOCKET")) : -1, good = fd >= 0;
    while (good && in && out) {
        char *end = (char *)memchr(in, '\n', have);
        ssize_t got = end ? 0 : read(fd, in + have, room - have);
        if (!end && got <= 0) break;
        have += (size_t)got;
        if (!end && have == room) in = (char *)realloc(in, room *= 2);
        if (!end) continue;
        *end = '\0';
        int n = strncmp(in, "{\"ask\":\"describe\"", 17) == 0
                    ? weft_worker_describe(worker, &out, &more)
                    : weft_worker_answer(worker, in, out, more);
        for (int done = 0; good && done < n;) {
            ssize_t some = write(fd, out + done, (size_t)(n - done));
            good = some > 0;
            done += good ? (int)some : 0;
        }
        have -= (size_t)(end + 1 - in);
        memmove(in, end + 1, have);
        good = good && n > 0;
    }
    free(in);
    free(out);
    return !good;
}

#endif
