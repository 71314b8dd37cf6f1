/* Packed data sets: images or numbers in rows, documents as token ids, text of clients.
 * Made once by `weft pack`, then read by every rank for its own rows or clients. */
#ifndef WEFT_DATA_H
#define WEFT_DATA_H

#include "weft/par.h"
#include "weft/sample.h"
#include "weft/store.h"

#define WEFT_DATA_FORMAT "weft data 1" /* attribute of a packed file */

/* The samples of a part of a federation. */
typedef struct weft_sizes {
    int64_t total;
    int64_t most;  /* of a client */
    double square; /* sum over clients of the square of their samples; exact below 2^53 */
} weft_sizes;
/* Adds a client with n samples. Local. */
void weft_sizes_add(weft_sizes *s, int64_t n);

/* A federation: data that belong to clients. Each client's samples are contiguous: train,
 * valid, test, where a part may be empty and `gap` samples are left out between two parts
 * that are not. Only running text, which is small, is read into memory: rows, and the sizes
 * of clients (20 bytes a client), are used in the mapped file, or made from a seed. */
typedef struct weft_clients {
    int64_t n;                   /* clients */
    int64_t d;                   /* numbers of a row; WEFT_CHARS: characters of a window */
    int channels, height, width; /* of an image; 0 where rows are no images */
    int64_t stride; /* WEFT_CHARS: characters from one window to the next; else 1 */
    int64_t gap;    /* samples between two parts; 0 unless WEFT_CHARS */
    int symbols;    /* WEFT_CHARS: size of the alphabet, the classes; else 0 */
    int named;      /* 1: clients have names, see weft_client_name */
    weft_sizes size[WEFT_NPART]; /* over all clients, which need not be visited for it */
    struct weft_federation *own; /* private to data */
} weft_clients;

typedef struct weft_data {
    weft_form form;
    int classes;
    const char *const *class_name;  /* [classes] */
    const char *const *column_name; /* of rows, [d]; NULL: they have no names */
    const char *digest;
    int channels, height, width; /* of an image, rows of d = channels height width numbers;
                                    0: rows are no images, or belong to clients */
    weft_rows part[WEFT_NPART];
    weft_vocab vocab[WEFT_NTOK];
    weft_clients *clients; /* NULL: not a federation; else parts hold totals, no rows */
    const char *path;
    weft_arena *mem;
    weft_h5 file; /* stays open for weft_data_tokens */
    weft_team *team;
} weft_data;

/* Opens a packed file and reads this rank's rows of bytes or reals, and labels; of a
 * federation only how many samples each client has. Collective. EFILE, EDATA (not a packed
 * file; an empty class, but in a federation; sizes that contradict each other). */
WEFT_CHECKED weft_status weft_data_open(weft_data *d, const char *path, weft_team *t,
                                        weft_arena *mem);
/* Loads the token streams and vocabulary of a tokenizer, once. Collective. */
WEFT_CHECKED weft_status weft_data_tokens(weft_data *d, weft_tokenizer tok);
/* 1 if it holds the tokens of that tokenizer: files of older versions have three. Local. */
int weft_data_has(weft_data *d, weft_tokenizer tok);
/* Closes the file. Local. */
void weft_data_close(weft_data *d);
/* Its rows, for a feature map: good as long as d is open. Local. */
weft_source weft_data_source(weft_data *d);

/* Word vectors, from a file or drawn at random. */
typedef struct weft_vectors {
    int d;
    float *value;  /* [n][d] of the words of a vocabulary */
    int64_t found; /* words of the vocabulary that the file has */
} weft_vectors;
/* Vectors of a vocabulary's words, in mem. path: file of word2vec, in its binary or its
 * text form, which is recognised by its contents; a word is looked up as it is, then in
 * lower case. The vectors of words that it lacks, and of all words if path is empty, are d
 * numbers drawn from U(-0.25, 0.25), a function of seed and word. With a path, d is that of
 * the file. EFILE, EDATA: it is cut short, or another kind of file. Local. Cost: one pass
 * over the file. */
WEFT_CHECKED weft_status weft_vectors_read(const weft_vocab *v, const char *path, int d,
                                           uint64_t seed, weft_vectors *out,
                                           weft_arena *mem);

/* What other data must have in common with the training data, to be scored by a trained
 * winner. */
typedef struct weft_likeness {
    weft_form form;
    int64_t d; /* numbers of a row, characters of a window; 0 for documents */
    int64_t channels, height, width; /* of images in a federation, else 0 */
    int64_t classes;                 /* 0: nothing is known */
    const char *const *class_name;   /* [classes]; WEFT_CHARS: the alphabet */
    const char *const *column_name;  /* [d] or NULL */
} weft_likeness;
/* The likeness of an open data set, which owns it. Local. */
weft_likeness weft_data_likeness(const weft_data *d);
/* Brings the data set into the order of `like`, which is of `whose` (for messages): labels
 * are renumbered by the names of their classes, columns are reordered by their names if
 * both have names, else taken by position. EDATA naming a class or column that is missing
 * or unknown, or another form, shape or alphabet. Local. Cost O(rows) for labels,
 * O(numbers) where columns change places. */
WEFT_CHECKED weft_status weft_data_match(weft_data *d, const weft_likeness *like,
                                         const char *whose);

/* Where a client's samples are, and how many. */
typedef struct weft_client {
    int64_t c, first;          /* its number; its first row or symbol in a file */
    int64_t count[WEFT_NPART]; /* samples */
} weft_client;
/* That of client c, 0 <= c < n. Local. Cost O(1). */
weft_client weft_client_find(const weft_clients *f, int64_t c);
/* Number of samples of a part of client c, 0 <= c < n. Local. Cost O(1). */
int64_t weft_client_count(const weft_clients *f, int64_t c, weft_part part);
/* Those samples, in the mapped file, which ranks of a node share, or in mem; valid until
 * mem is reset. EFILE where the file cannot be read, EDATA where a number or label cannot
 * be. Local. Cost O(1) for reals, O(samples) for bytes. */
WEFT_CHECKED weft_status weft_client_read(const weft_clients *f, int64_t c, weft_part part,
                                          weft_samples *out, weft_arena *mem);
/* The same for a client that weft_client_find gave. */
WEFT_CHECKED weft_status weft_client_take(const weft_clients *f, const weft_client *at,
                                          weft_part part, weft_samples *out,
                                          weft_arena *mem);
/* Prefetch what will be read soon: the places of clients client[n]; the first samples of a
 * client. Local. */
void weft_client_fetch(const weft_clients *f, int64_t n, const int64_t *client);
void weft_client_fetch_rows(const weft_clients *f, const weft_client *at);
/* EFILE if samples that weft_client_read gave could not be read, because the file was cut
 * short while it was in use. To be called before results from them are used. Local. */
WEFT_CHECKED weft_status weft_client_sound(const weft_clients *f);
/* The name of client c, in mem; its number where clients have no names. EFILE. Local. */
WEFT_CHECKED weft_status weft_client_name(const weft_clients *f, int64_t c,
                                          const char **name, weft_arena *mem);

/* Divides n >= 1 samples of a client into parts by these shares, rounded, with at least one
 * for training. Local. */
void weft_client_divide(double valid, double test, int64_t n, int64_t count[WEFT_NPART]);
/* Number of samples from the first one of a client to the first one of its part `part`,
 * given the sizes of the parts; with part WEFT_NPART, all that its parts and gaps span.
 * Local. */
int64_t weft_client_place(const int64_t *count, int part, int64_t gap);

/* ---- clients generated from a seed on demand ---------------------------------------- */

#define WEFT_GENERATOR "linear models, lognormal sizes" /* names the method in files */

typedef struct weft_generator {
    int64_t seed, clients;
    int64_t d, classes;
    double samples, spread;  /* mean of a client; standard deviation of log samples */
    double alpha, beta;      /* how clients' models differ, and their inputs */
    double valid, test;      /* shares of a client's samples */
    const double *w;         /* [classes][d + 1] common part of all models, bias last */
    const double *deviation; /* [d] of inputs within a client */
} weft_generator;

/* Sets w and deviation, which all clients share, from the members before them. Local. Cost
 * O(classes d). */
void weft_generator_start(weft_generator *g, weft_arena *mem);

/* Samples of client c by part; at least five in all. Local. Cost O(1). */
void weft_generator_count(const weft_generator *g, int64_t c, int64_t count[WEFT_NPART]);

/* The samples of all clients by part. Local. Cost O(clients); O(1) where spread is 0. */
void weft_generator_sizes(const weft_generator *g, weft_sizes size[WEFT_NPART]);

/* Samples [first, first + n) of client c: x[n][d], label[n]. Local. Cost O((n + classes)
 * d). */
void weft_generator_make(const weft_generator *g, int64_t c, int64_t first, int64_t n,
                         float *x, int32_t *label, weft_arena *tmp);

#endif
