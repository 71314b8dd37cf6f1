/* Clients of a federation: stored or generated. */
#ifndef LIBWEFT_DATA_CLIENTS_H
#define LIBWEFT_DATA_CLIENTS_H

#include "weft/data/sample.h"

#include <stdint.h>

/* ---- clients ---- */

/* The samples of a part of a federation. */
typedef struct weft_sizes {
    int64_t total;
    int64_t most;  /* of a client */
    double square; /* sum over clients of the square of their samples; exact below 2^53 */
} weft_sizes;
/* Adds a client with n samples. */
void weft_sizes_add(weft_sizes *sizes, int64_t n);

/* A federation: data that belong to clients. Each client's samples are contiguous, in the
 * order train, valid, test; a part may be empty, and `gap` samples are left out between two
 * parts that are not empty. Running text is read into memory. Rows, and the sizes of
 * clients (20 bytes each), are used in the mapped file or generated from a seed. Documents
 * stand anywhere in their part of the mapped file; the place of each is in memory, 8 bytes.
 * Those of a form with `share` are what that makes them. */
typedef struct weft_clients {
    int64_t n;                   /* clients */
    int64_t d;                   /* numbers per row; WEFT_CHARS: characters per window;
                                    WEFT_TOKENS: words of the longest document, or 0 */
    int channels, height, width; /* of an image; 0 if rows are not images */
    int64_t stride; /* WEFT_CHARS: characters from one window to the next; else 1 */
    int64_t gap;    /* samples between two parts; 0 unless WEFT_CHARS */
    int symbols;    /* WEFT_CHARS: size of the alphabet, the classes; else 0 */
    double length;  /* WEFT_TOKENS: words of a document, on average; else 0 */
    int named;      /* 1: clients have names, see weft_client_name */
    weft_sizes size[WEFT_NPART]; /* over all clients, which need not be visited for it */
    struct weft_federation *own; /* private to data */
} weft_clients;

/* The location and number of a client's samples. */
typedef struct weft_client {
    int64_t c, first; /* its number; its first row or symbol in a file, 0 of documents */
    int64_t count[WEFT_NPART]; /* samples */
} weft_client;
/* The location of client c, 0 <= c < n. Cost O(1). */
weft_client weft_client_find(const weft_clients *clients, int64_t c);
/* Number of samples of a part of client c, 0 <= c < n. Cost O(1). */
int64_t weft_client_count(const weft_clients *clients, int64_t c, weft_part part);
/* The samples of a part of client c, in the mapped file, which the ranks of a node share,
 * or in mem; valid until mem is reset. EFILE: the file cannot be read; EDATA: a number or
 * label is invalid. Cost O(1) for reals, O(samples) for bytes. */
WEFT_CHECKED weft_status weft_client_read(const weft_clients *clients, int64_t c,
                                          weft_part part, weft_samples *out,
                                          weft_arena *mem);
/* The same for a client found by weft_client_find. */
WEFT_CHECKED weft_status weft_client_take(const weft_clients *clients,
                                          const weft_client *client, weft_part part,
                                          weft_samples *out, weft_arena *mem);
/* Prefetch into the CPU's cache the locations of clients client[n]; the first samples of a
 * client. */
void weft_client_fetch(const weft_clients *clients, int64_t n, const int64_t *client);
void weft_client_fetch_rows(const weft_clients *clients, const weft_client *client);
/* EFILE if samples returned by weft_client_read could not be read because the file was
 * truncated while it was in use. To be called before results computed from them are used.
 */
WEFT_CHECKED weft_status weft_client_sound(const weft_clients *clients);
/* The name of client c, in mem; its number if clients have no names. EFILE. */
WEFT_CHECKED weft_status weft_client_name(const weft_clients *clients, int64_t c,
                                          const char **name, weft_arena *mem);

/* Divides n >= 1 samples of a client into parts: shares `valid` and `test`, rounded, the
 * rest for training, at least one. */
void weft_client_divide(double valid, double test, int64_t n, int64_t count[WEFT_NPART]);
/* Number of samples from the first one of a client to the first one of its part `part`,
 * given the sizes of the parts; with part WEFT_NPART, all that its parts and gaps span. */
int64_t weft_client_place(const int64_t *count, int part, int64_t gap);

/* ---- generator ---- */

#define WEFT_GENERATOR "linear models, lognormal sizes" /* name of the method in files */

/* Clients generated from a seed on demand. */
typedef struct weft_generator {
    int64_t seed, clients;
    int64_t d, classes;
    double samples, spread;  /* mean number per client; standard deviation of its
                                logarithm */
    double alpha, beta;      /* how much the models of clients differ, and their inputs */
    double valid, test;      /* shares of a client's samples */
    const double *w;         /* [classes][d + 1] common part of all models, bias last */
    const double *deviation; /* [d] standard deviation of inputs within a client */
} weft_generator;

/* Sets w and deviation, which are common to all clients, from the other members. Cost
 * O(classes d). */
void weft_generator_start(weft_generator *generator, weft_arena *mem);

/* Number of samples of client c in each part; at least five in total. Cost O(1). */
void weft_generator_count(const weft_generator *generator, int64_t c,
                          int64_t count[WEFT_NPART]);

/* The samples of all clients by part. Cost O(clients); O(1) where spread is 0. */
void weft_generator_sizes(const weft_generator *generator, weft_sizes size[WEFT_NPART]);

/* Samples [first, first + n) of client c: x[n][d], label[n]. Cost O((n + classes) d). */
void weft_generator_make(const weft_generator *generator, int64_t c, int64_t first,
                         int64_t n, float *x, int32_t *label, weft_arena *tmp);

#endif
