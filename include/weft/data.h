/* Packed data sets: rows of images or numbers, documents as token ids, text of clients.
 * They are made once by `weft pack`; every rank then reads its own rows or clients. */
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
/* Adds a client with n samples. */
void weft_sizes_add(weft_sizes *sizes, int64_t n);

/* A federation: data that belong to clients. Each client's samples are contiguous, in the
 * order train, valid, test; a part may be empty, and `gap` samples are left out between two
 * parts that are not empty. Running text, which is small, is read into memory. Rows, and
 * the sizes of clients (20 bytes per client), are used in the memory-mapped file or
 * generated from a seed. Documents stand anywhere in their part, and are used in the
 * memory-mapped file; of each its place is kept in memory, 8 bytes. */
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

typedef struct weft_data {
    weft_form form;
    int classes;
    const char *const *class_name;  /* [classes] */
    const char *const *column_name; /* of rows, [d]; NULL: they have no names */
    const double *shift, *scale;    /* [d] a number of the source is shift + scale x, where
                                       32 bits were too few for it; NULL: 0 and 1 */
    const char *digest;
    int channels, height, width; /* of an image, with rows of d = channels height width
                                    numbers; 0: rows are not images, or belong to clients */
    weft_rows part[WEFT_NPART];
    weft_vocab vocab[WEFT_NTOK];
    weft_clients *clients; /* NULL: not a federation; else parts hold totals, no rows */
    weft_clients *owners; /* WEFT_TOKENS: clients that the documents of the parts belong to;
                             NULL: to none, or not documents */
    int64_t longest; /* WEFT_TOKENS: words of the longest document, of which networks over
                        words are padded to; 0: not known yet */
    const char *path;
    weft_arena *mem;
    weft_h5 file; /* open until weft_data_close, for weft_data_tokens */
    weft_team *team;
    struct weft_data *bound; /* closed with it; NULL: none */
} weft_data;

/* Opens a packed file: this rank's rows of bytes or reals, which are used in the
 * memory-mapped file where that can be, and labels; of a
 * federation only how many samples each client has. Collective. EFILE; EDATA: not a packed
 * file, a class without rows (except in a federation), or inconsistent sizes. */
WEFT_CHECKED weft_status weft_data_open(weft_data *data, const char *path, weft_team *team,
                                        weft_arena *mem);
/* Loads the token streams and vocabulary of a tokenizer, once. Collective. */
WEFT_CHECKED weft_status weft_data_tokens(weft_data *data, weft_tokenizer tok);
/* Gives the samples of the clients data->owners the words that a tokenizer splits them
 * into, and sets data->vocab[tok], owners->d and owners->length. Words are used in the
 * memory-mapped file. To be called once. EFILE; EDATA: inconsistent data. Collective. Cost
 * O(documents). */
WEFT_CHECKED weft_status weft_data_own_words(weft_data *data, weft_tokenizer tok);
/* Loads text, offset and count of data->vocab[tok], which one of the functions above has
 * loaded. EFILE, as weft_vocab_words. */
WEFT_CHECKED weft_status weft_data_words(weft_data *data, weft_tokenizer tok);
/* What was computed from rows counts only if this is OK afterwards: EFILE where the mapped
 * file was cut short, or could not be read, meanwhile. Cost O(1). */
WEFT_CHECKED weft_status weft_data_sound(const weft_data *data);
/* Lets `more`, which is open, be closed when d is; both must last until then. */
void weft_data_bind(weft_data *data, weft_data *more);
/* Reads GROUP/shift and GROUP/scale of d columns; NULL where there are none. EFILE; EDATA:
 * as many as columns, finite, and a positive scale are expected. Cost O(d). */
WEFT_CHECKED weft_status weft_shifts_read(weft_h5 *file, const char *group, int64_t d,
                                          const double **shift, const double **scale);
/* Closes the file; its rows become invalid. */
void weft_data_close(weft_data *data);
/* The rows of a data set for a feature map; valid as long as d is open. */
weft_source weft_data_source(weft_data *data);

/* Reads the words of a vocabulary, GROUP/text and GROUP/text_offset, into vocab->text,
 * vocab->offset and vocab->n. EFILE: they are not as many as vocab->n says (0: any number),
 * or not one after another. Cost O(bytes). */
WEFT_CHECKED weft_status weft_vocab_words(weft_vocab *vocab, weft_h5 *file,
                                          const char *group);
/* The number in `to` of each word of v, -1 where it has no such word: place[vocab->n], in
 * mem. Words are equal if their hashes are. Cost O(vocab->n + to->n). */
int64_t *weft_vocab_places(const weft_vocab *vocab, const weft_vocab *to, weft_arena *mem);

/* Word vectors, from a file or drawn at random. */
typedef struct weft_vectors {
    int d;
    float *value;  /* [n][d] of the words of a vocabulary */
    int64_t found; /* number of words of the vocabulary that are in the file */
} weft_vectors;
/* Vectors of a vocabulary's words, in mem. path: file of word2vec, in its binary or its
 * text form, which is recognised by its contents; words with blanks in them are counted and
 * not used. A word gets the vector of the same word
 * of the file, or else of the first one that is it when lower-cased. Words that are not in
 * the file, and all words if path is empty, get d random numbers from U(-0.25, 0.25), a
 * function of seed and word. With a path, d is that of the file. EFILE; EDATA: truncated,
 * or another kind of file. Cost: one pass over the file. */
WEFT_CHECKED weft_status weft_vectors_read(const weft_vocab *vocab, const char *path, int d,
                                           uint64_t seed, weft_vectors *out,
                                           weft_arena *mem);

/* The properties that other data must share with the training data to be scored by a
 * trained winner. */
typedef struct weft_likeness {
    weft_form form;
    int64_t d; /* numbers of a row, characters of a window; 0 for documents */
    int64_t channels, height, width; /* of images in a federation, else 0 */
    int64_t longest; /* words that a network over words was padded to; 0: not known, or no
                        such network */
    int64_t classes; /* 0: not known */
    const char *const *class_name;  /* [classes]; WEFT_CHARS: the alphabet */
    const char *const *column_name; /* [d] or NULL */
    const double *shift, *scale;    /* [d] as in weft_data, or NULL */
} weft_likeness;
/* These properties of an open data set, which owns them. */
weft_likeness weft_data_likeness(const weft_data *data);
/* Matches the data set to `like`, the properties of a file `whose` (for messages): labels
 * are renumbered by class names; columns are reordered by their names if both have names,
 * else matched by position, and get the shift and scale of like; data->longest becomes
 * like->longest. EDATA naming a class or column that is missing or unknown, or another
 * form, shape or alphabet. Cost O(rows) for labels, O(numbers) if columns are reordered
 * or moved. A file that was trained without data has no classes and matches all. */
WEFT_CHECKED weft_status weft_data_match(weft_data *data, const weft_likeness *like,
                                         const char *whose);

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
                                          const weft_client *at, weft_part part,
                                          weft_samples *out, weft_arena *mem);
/* Prefetch into the CPU's cache the locations of clients client[n]; the first samples of a
 * client. */
void weft_client_fetch(const weft_clients *clients, int64_t n, const int64_t *client);
void weft_client_fetch_rows(const weft_clients *clients, const weft_client *at);
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

/* ---- clients generated from a seed on demand ---- */

#define WEFT_GENERATOR "linear models, lognormal sizes" /* name of the method in files */

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
