/* Samples as feature maps, models and networks use them: parts, forms, shapes, rows in
 * memory, batches. They are read by data.h. */
#ifndef LIBWEFT_DATA_SAMPLE_H
#define LIBWEFT_DATA_SAMPLE_H

#include "weft/base/base.h"
#include "weft/text/text.h"

typedef enum weft_part { WEFT_TRAIN, WEFT_VALID, WEFT_TEST, WEFT_NPART } weft_part;
extern const char *const weft_part_name[WEFT_NPART]; /* "train", "valid", "test" */

/* Rows of bytes or numbers, documents, running text of one-byte symbols, or sentences with
 * what is to be written for them. */
typedef enum weft_form {
    WEFT_BYTES,
    WEFT_REALS,
    WEFT_TOKENS,
    WEFT_CHARS,
    WEFT_SENTENCES,
    WEFT_NFORM
} weft_form;

struct weft_data; /* data.h */
struct weft_likeness;
struct weft_shape;
struct weft_h5; /* h5.h */

/* What is known of a form. Functions and texts that are NULL: as it is of rows, documents
 * and clients. */
typedef struct weft_form_traits {
    const char *name;       /* attribute `form` of files: "bytes", "reals", ... */
    const char *hold;       /* what data of it hold, for messages, */
    const char *read, *net; /* what networks do that take it, and which these are */
    const char *reader;     /* of new ones for a winner: weft pack READER FILE like=RUN */
    const char *unclassed;  /* why samples have no classes; NULL: they have */
    const char *written;    /* head of a table of what networks write for them */
    const char *plan;       /* in inputs/plans, of data without an input file */
    int whole;              /* 1: parts stay as they were packed */
    /* Opens what the head of the file leaves, sets classes, rows of parts, and data->own.
     * EFILE, EDATA. Collective. */
    weft_status (*open)(struct weft_data *data);
    /* As weft_data_match, once the forms are known to be the same. */
    weft_status (*match)(struct weft_data *data, const struct weft_likeness *like,
                         const char *whose);
    /* Makes the samples those of the clients data->owners, once. */
    void (*share)(struct weft_data *data);
    /* Inputs and outputs of a network, once they are. */
    void (*shape)(const struct weft_data *data, struct weft_shape *shape);
    /* What a network predicts for a part of client c. */
    double (*predictions)(const struct weft_data *data, weft_part part, int64_t c);
    /* Writes what a winner keeps of data->own to a group, and reads it, into like->own.
     * EFILE. */
    weft_status (*put)(struct weft_h5 *file, const char *group, const void *own);
    weft_status (*get)(struct weft_h5 *file, const char *group, struct weft_likeness *like);
    /* Prints what weft info does. */
    void (*print)(const struct weft_data *data);
} weft_form_traits;
extern const weft_form_traits *const weft_forms[WEFT_NFORM];
/* The form of that name; WEFT_NFORM: there is none. */
weft_form weft_form_find(const char *name);

/* The vocabulary of a tokenizer; tokens are numbered by decreasing frequency. */
typedef struct weft_vocab {
    int64_t n;
    const uint64_t *hash;  /* [n] weft_hash(token, 0) */
    const uint64_t *lower; /* [n] weft_hash(lower-cased token, 0) */
    const uint8_t *stop;   /* [n] 1: in the stop list */
    /* loaded on request */
    const char *text;      /* the words, one after another */
    const int64_t *offset; /* [n+1] word i is text[offset[i] .. offset[i+1]-1] */
    const int64_t *count;  /* [n] occurrences in all parts */
} weft_vocab;

/* The rows of one part that this rank holds, in the file's order. */
typedef struct weft_rows {
    int64_t total;        /* rows of the part over all ranks */
    int64_t first, n;     /* rows [first, first + n) of this rank, whole blocks */
    const int32_t *label; /* [n] 0 .. classes-1; 0 where there are targets */
    const double *target; /* [n][classes] numbers to predict, of mean 0 and deviation 1 over
                             the training rows; NULL: classes */
    const double *weight; /* [n] what a row counts in fits and scores, on average 1 over the
                             training rows; NULL: 1 */
    const int32_t *group; /* [n] number of the group that a row belongs to; NULL: rows of a
                             fold, or there are no groups */
    double counts;        /* sum of the weights over all ranks, where there are any */
    int64_t d;            /* columns of WEFT_BYTES and WEFT_REALS */
    const uint8_t *byte;  /* [n][d] */
    const float *value;   /* [n][d] */
    /* WEFT_TOKENS, loaded on request: tokens of document i are token[offset[i] ..
     * end[i]-1]; offset[n], end[n]; those of a file follow each other, end[i] being
     * offset[i+1], from 0 to offset[n] */
    const int64_t *offset[WEFT_NTOK], *end[WEFT_NTOK];
    const uint32_t *token[WEFT_NTOK];
} weft_rows;

struct weft_team; /* team.h */

/* The rows for which a feature map is made; everything is borrowed as long as the map is
 * used. */
typedef struct weft_source {
    weft_form form;
    int classes;
    const weft_rows *part;   /* [WEFT_NPART] */
    const weft_vocab *vocab; /* [WEFT_NTOK], once loaded */
    const char *path;        /* for messages */
    struct weft_team *team;  /* over which rows are spread */
    /* Loads the token streams and the vocabulary of a tokenizer, once. EDATA, EFILE.
     * Collective. */
    weft_status (*tokens)(void *of, weft_tokenizer tok);
    void *of; /* its first argument */
} weft_source;

/* Samples of a client in memory. */
typedef struct weft_samples {
    int64_t n;
    const float *x;       /* [n][d]; bytes come as numbers in 0..1; NULL for WEFT_CHARS,
                             WEFT_TOKENS, WEFT_SENTENCES */
    const int32_t *label; /* [n]; NULL for WEFT_CHARS, WEFT_SENTENCES */
    const uint8_t *text;  /* WEFT_CHARS: window i is text + i stride, d + 1 symbols */
    const uint32_t *const *word; /* WEFT_TOKENS: [n] documents, as word numbers; NULL before
                                    weft_data_own_words */
    const int *length;           /* [n] number of words of each */
    /* WEFT_SENTENCES: word, length of source sentences, and [n] as in weft_batch */
    const uint32_t *const *reply;
    const int *replies;
} weft_samples;

/* Inputs and outputs of a network, as the data set defines them. */
typedef struct weft_shape {
    weft_form form; /* WEFT_REALS (bytes come as numbers in 0..1), WEFT_CHARS, WEFT_TOKENS
                     */
    int64_t d;      /* numbers of a row; WEFT_CHARS: characters of a window; WEFT_TOKENS:
                       words of the longest document; WEFT_SENTENCES: of the longest source */
    int channels, height, width; /* of an image, d = channels height width; else 0 */
    int classes; /* outputs; WEFT_CHARS: symbols of the alphabet; WEFT_SENTENCES: words of
                    the target's vocabulary */
    int numbers; /* 1: outputs are numbers to predict, not classes */
    int every; /* WEFT_CHARS: 1: predict the next character at each place, 0: at the last */
    /* WEFT_TOKENS, WEFT_SENTENCES, else 0 */
    int64_t words; /* of the vocabulary, that of the source */
    double length; /* words of a document or source sentence, on average */
    /* WEFT_SENTENCES, else 0 */
    int64_t longest; /* words of the longest reply */
    double replies;  /* words of a reply, on average */
    /* WEFT_TOKENS, else 0 */
    int vector;           /* length of a word vector */
    const float *vectors; /* [words][vector] initial word vectors; borrowed as long as the
                             network is used */
} weft_shape;

/* The samples of a batch, as pointers, so that shuffling does not move data. */
typedef struct weft_batch {
    int n;
    const float *const *x;       /* [n] rows of d numbers; NULL for WEFT_CHARS, _TOKENS */
    const uint8_t *const *text;  /* [n] windows of d + 1 symbols, the last one the target;
                                    where shape.every, symbol t + 1 is the target of t */
    const int32_t *label;        /* [n] 0 .. classes-1; not read for WEFT_CHARS */
    const double *const *target; /* [n] numbers to predict, `classes` of each sample; not
                                    read unless shape.numbers */
    const uint32_t *const *word; /* WEFT_TOKENS: [n] documents, as word numbers;
                                    WEFT_SENTENCES: source sentences */
    const int *length;           /* [n] number of words of each */
    /* WEFT_SENTENCES: [n] what is to be written for each, as numbers of the target's words
     * without the 0 that begins and ends each, and their numbers of words */
    const uint32_t *const *reply;
    const int *replies;
    const double *weight; /* [n] weight of the loss of a sample: the mean is sum_i weight_i
                             loss_i / n; NULL: 1; not read for WEFT_CHARS, WEFT_SENTENCES */
    /* For gradients of a network with a table of weights (weft_net.table): */
    const int32_t *place; /* [words] row of the gradient's table that belongs to a word of
                             the batch, 0 .. places - 1; NULL: the row of the weights */
    int places;           /* rows of the gradient's table */
    int compact;          /* 1: the table of the weights has only these rows, too */
    int frozen; /* as many of the network's first tensors need no gradient: any numbers may
                   be in their part of it */
    const real *const *stored; /* [n] representations of the samples by the frozen tensors,
                                  all but those of the last layer, where weft_net.resumes;
                                  NULL: they are computed */
    int again; /* 1: the weights are those of the last call with the same work space, so
                  that what was made of them can be used again */
} weft_batch;

#endif
