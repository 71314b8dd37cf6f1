/* Packed files, their division into folds, word vectors. */
#ifndef LIBWEFT_DATA_DATA_H
#define LIBWEFT_DATA_DATA_H

#include "weft/data/clients.h"
#include "weft/data/sample.h"
#include "weft/data/table.h"
#include "weft/par/team.h"
#include "weft/store/h5.h"

#include <stdint.h>

/* ---- data ---- */

/* Packed data sets, made once by `weft pack`; every rank reads its own rows or clients. A
 * file whose rows have numbers to predict has /PART/target [n][targets] in doubles, as in
 * the source, in place of /PART/label, their names in /class, and in /target/shift and
 * /target/scale their mean and deviation in the training rows, by which they are
 * standardised when they are read; /PART/weight has what rows count, on average 1 in
 * training; /PART/group the group of each row, 0 .. /@groups - 1. */

#define WEFT_DATA_FORMAT "weft data 1" /* attribute of a packed file */

/* Columns that are replaced by their ranks: a number becomes its place, 0 .. 1, among the
 * quantiles of its column in the training rows, by linear interpolation; of several equal
 * ones the middle. */
enum { WEFT_MOST_RANKS = 1000 };
typedef struct weft_ranks {
    int64_t n;              /* quantiles of a column, evenly spaced; 0: no ranks */
    const double *quantile; /* [d][n] */
} weft_ranks;

/* Some rows of one part of a file: n from `first` on; n 0: all rows of all parts. */
typedef struct weft_window {
    int part; /* weft_part */
    int64_t first, n;
} weft_window;

typedef struct weft_data {
    weft_form form;
    int classes;                   /* or numbers to predict of each row: targets */
    const char *const *class_name; /* [classes]; or of the targets */
    const double *target_shift, *target_scale; /* [classes] mean and deviation in the
                                       training rows: a target of the source is shift +
                                       scale times that of the rows; NULL: classes */
    const char *const *column_name;            /* of rows, [d]; NULL: they have no names */
    const weft_columns *table; /* that rows are features of; NULL: no table */
    const char *notation;      /* see weft_pack_notation; "": none */
    int64_t groups;            /* that rows belong to; 0: to none */
    int unlabelled;            /* 1: labels are not known; all are 0 */
    int scored;                /* 1: rows to be scored alone, all in the test part */
    weft_window window;        /* what is open of the file: other parts are empty */
    const int64_t *row; /* [test rows] number in the source, of clients; NULL: not known */
    const double *shift, *scale; /* [d] a number of the source is shift + scale x, where
                                    32 bits were too few for it; NULL: 0 and 1 */
    weft_ranks ranks;            /* that the rows have in place of the source's numbers */
    const char *digest;
    int channels, height, width; /* of an image, with rows of d = channels height width
                                    numbers; 0: rows are not images, or belong to clients */
    weft_rows part[WEFT_NPART];
    weft_vocab vocab[WEFT_NTOK];
    weft_clients *clients; /* NULL: not a federation; else parts hold totals, no rows */
    weft_clients *owners;  /* WEFT_TOKENS: that documents of the parts belong to; NULL: to
                              none. Of a form with `share`: by that */
    int64_t longest; /* words of the longest document, which networks are padded to, or of
                        the longest reply in training; 0: not known yet */
    void *own;       /* what the form keeps, by weft_form_traits.open; NULL: nothing */
    const char *path;
    weft_arena *mem;
    weft_h5 file; /* open until weft_data_close, for weft_data_tokens */
    weft_team *team;
    struct weft_data *bound; /* closed with it; NULL: none */
} weft_data;

/* Opens a packed file: this rank's rows of bytes or reals, used in the memory-mapped file
 * where that can be, and labels; of a federation the clients' numbers of samples alone.
 * Collective. EFILE; EDATA: no packed file, a class without rows, or inconsistent sizes. */
WEFT_CHECKED weft_status weft_data_open(weft_data *data, const char *path, weft_team *team,
                                        weft_arena *mem);
/* The same of the rows of a window alone, which are in the file and belong to no clients,
 * so that memory does not grow with the file. */
WEFT_CHECKED weft_status weft_data_open_some(weft_data *data, const char *path,
                                             const weft_window *window, weft_team *team,
                                             weft_arena *mem);
/* The form of the rows of an open file, packed, or a run or winner, whose /winner was
 * trained on such; WEFT_NFORM: it is neither. *group is "" or "/winner". EFILE. */
WEFT_CHECKED weft_status weft_form_read(weft_h5 *file, const char **group, weft_form *form);
/* The numbers of rows of the parts of a packed file, of sentences of lines, and of classes
 * or targets; 0 where rows belong to clients. Reads no rows. EFILE. */
WEFT_CHECKED weft_status weft_data_sizes(const char *path, int64_t rows[WEFT_NPART],
                                         int64_t *classes, weft_arena *mem);
/* A federation whose samples somebody else holds, so that none can be read: n clients with
 * count[n][WEFT_NPART] samples, 0 .. INT32_MAX, and names that end with 0, one after the
 * other in names, or NULL; borrowed as long as data is used. path: for messages. Fills
 * *data, in mem; its digest is left "". Cost O(n). */
void weft_data_tell(weft_data *data, const char *path, int64_t n, const int64_t *count,
                    const char *names, weft_arena *mem);
/* Loads the token streams and vocabulary of a tokenizer, once. Collective. */
WEFT_CHECKED weft_status weft_data_tokens(weft_data *data, weft_tokenizer tok);
/* Gives the samples of the clients data->owners their words by a tokenizer, in the mapped
 * file, and sets data->vocab[tok], owners->d and owners->length. To be called once. EFILE;
 * EDATA: inconsistent data. Collective. Cost O(documents). */
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
/* Of all rows of a part, of data that are no federation, on every rank: the labels; the
 * targets [rows][targets], as rows have them, and the weights, NULL where there are none.
 * Owned by mem. Collective. */
int32_t *weft_data_labels(const weft_data *data, weft_part part, weft_arena *mem);
double *weft_data_targets(const weft_data *data, weft_part part, weft_arena *mem);
double *weft_data_weights(const weft_data *data, weft_part part, weft_arena *mem);
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

/* The properties that other data must share with the training data to be scored by a
 * trained winner. */
typedef struct weft_likeness {
    weft_form form;
    int64_t d; /* numbers of a row, characters of a window; 0 for documents */
    int64_t channels, height, width;           /* of images, else 0 */
    int64_t longest;                           /* as in weft_data */
    int64_t classes;                           /* 0: not known */
    const char *const *class_name;             /* [classes]; WEFT_CHARS: the alphabet */
    const double *target_shift, *target_scale; /* [classes] as in weft_data, or NULL */
    const char *const *column_name;            /* [d] or NULL */
    const double *shift, *scale;               /* [d] as in weft_data, or NULL */
    weft_ranks ranks;                          /* as in weft_data; shift is then NULL */
    const weft_columns *table;                 /* as in weft_data, or NULL */
    const char *notation;                      /* as in weft_data */
    const void *own; /* as in weft_data, or what a winner keeps of it; NULL: not known */
    int more;        /* 1: data may have further languages, which begin untrained */
} weft_likeness;
/* These properties of an open data set, which owns them. */
weft_likeness weft_data_likeness(const weft_data *data);
/* Matches the data set to `like`, the properties of a file `whose` (for messages): labels
 * and targets go by their names, columns by theirs if both have names, else by position;
 * targets and columns get the shift and scale of like; data->longest becomes
 * like->longest. No classes match all. EDATA naming a class or column that is missing or
 * unknown, or another form, shape or alphabet. Cost O(rows) for labels, O(numbers) if
 * columns are reordered or moved. */
WEFT_CHECKED weft_status weft_data_match(weft_data *data, const weft_likeness *like,
                                         const char *whose);

/* How columns of numbers are scaled before a model sees them: to mean 0 and deviation 1, or
 * to 0 .. 1, of the training rows, or to their ranks among these; AUTO: STANDARD if the
 * largest deviation is not between 0.1 and 4 or 100 times another, or a mean is 10
 * deviations away from 0. */
typedef enum weft_scale {
    WEFT_SCALE_AUTO,
    WEFT_SCALE_NONE,
    WEFT_SCALE_STANDARD,
    WEFT_SCALE_MINMAX,
    WEFT_SCALE_QUANTILE
} weft_scale;
/* Scales the columns by changing the data's shift and scale, or ranks; constant ones become
 * 0. The same bits on any ranks. ECONF: there are no columns to scale (AUTO: they stay as
 * they are), or ranks among the numbers of clients. EFILE. Collective. Cost: three passes
 * over the training rows, of ranks a sort of each column; memory: a copy of the rows. */
WEFT_CHECKED weft_status weft_data_scale(weft_data *data, weft_scale how);
/* weight[c] = n / (K count[c]): what a sample of class c counts where all of the K classes
 * that have samples, n in all, are to count alike; 0 of a class without. Cost
 * O(classes). */
void weft_class_weights(int classes, const int64_t *count, double *weight);
/* What the training rows of this rank count then, [n]: their weight times that of their
 * class, class[classes], which is set; owned by mem. Collective. Cost O(rows). */
const double *weft_data_balance(const weft_data *data, double *class, weft_arena *mem);
/* 1: samples come from a generator, not from the file. */
int weft_data_generated(const weft_data *data);

/* ---- folds ---- */

/* The rows of the train and valid parts, on every rank, of which folds are made for
 * cross-validation, or one part of both. */
typedef struct weft_folds {
    weft_data *base; /* whose test rows every fold has; borrowed */
    weft_data all;   /* all rows; closed with base, until when *this must last */
    weft_team alone; /* of this rank */
    weft_team *team; /* to whose ranks rows are dealt: that of base, or &alone, so that
                        this rank has all train and valid rows */
    int64_t n;       /* rows of both parts: those of train, then those of valid */
    const int64_t *held_by; /* [n] fold that holds the row out; to be set before one is
                               taken */
    /* WEFT_TOKENS: tokens of row i are token[offset[i] .. offset[i+1]-1] */
    const uint32_t *token[WEFT_NTOK];
    const int64_t *offset[WEFT_NTOK];
} weft_folds;

/* The fold, of `folds`, that holds out each of n rows; owned by mem. group NULL: row i of a
 * random order is held out by fold i mod `folds`. group[n], of rows: whole groups are, the
 * largest first, those of one size in random order, each by the fold that has the fewest
 * rows until then. Cost O(n log n + groups folds). */
const int64_t *weft_folds_deal(int64_t n, const int32_t *group, int64_t folds,
                               uint64_t seed, weft_arena *mem);
/* How many folds there can be: groups that have rows, or n where group is NULL. */
int64_t weft_folds_most(int64_t n, const int32_t *group);
/* Takes whole groups of the rows row[n] in random order, as long as they come nearer to a
 * share of n, at least the smallest; puts their rows first and returns how many these are.
 * group: by the numbers in row. Cost O(n log n). */
int64_t weft_folds_share(int64_t n, int64_t *row, const int32_t *group, double share,
                         uint64_t seed);
/* Puts rows order[n], which are in random order, so that of each class, of each owner, row
 * k of m is (k + 1/2) / m of the way: each piece of the order has about as large a share of
 * every class, and the middle the classes of one row. owner NULL: all are of one. Cost
 * O(n log n). */
void weft_split_classes(int64_t n, int64_t *order, const int64_t *owner,
                        const int32_t *label, weft_arena *tmp);
/* Such an order of n rows by chance, owned by mem. */
const int64_t *weft_folds_order(int64_t n, const int32_t *label, uint64_t seed,
                                weft_arena *mem);
/* The groups of the rows of the train and valid parts of data that are open on this rank
 * alone, those of train first, owned by mem; NULL: there are none. */
const int32_t *weft_folds_groups(const weft_data *all, weft_arena *mem);

/* Opens the file of base, no federation, for folds, or for all rows as one. Columns and
 * classes are those of base. EFILE, EDATA. Collective over base->team. Memory: of documents
 * a copy of their tokens on each rank; else that of the rows that were moved in base. */
WEFT_CHECKED weft_status weft_folds_open(weft_folds *folds, weft_data *base,
                                         weft_arena *mem);
/* Makes *data of the rows that a fold does not hold out as the train part, in the order of
 * the file, those that it does as the valid part, and the test part of base; fold -1: all
 * rows for training. Dealt to the ranks of folds->team as rows of a file are; valid as long
 * as base is open. Cost and memory: a copy of this rank's rows, of documents their places.
 */
void weft_folds_take(const weft_folds *folds, int64_t fold, weft_data *data,
                     weft_arena *mem);
/* Replaces the training rows of *data, base or a fold, by the rows row[n] of both parts, in
 * that order. Collective over folds->team. Cost and memory: a copy of this rank's rows. */
void weft_folds_sample(const weft_folds *folds, int64_t n, const int64_t *row,
                       weft_data *data, weft_arena *mem);
/* Bytes of this rank's copies of one fold, about. */
double weft_folds_bytes(const weft_folds *folds);

/* ---- vectors ---- */

/* Word vectors, from a file or drawn at random. */
typedef struct weft_vectors {
    int d;
    float *value;  /* [n][d] of the words of a vocabulary */
    int64_t found; /* number of words of the vocabulary that are in the file */
} weft_vectors;
/* Vectors of a vocabulary's words, in mem. path: file of word2vec, binary or text. A word
 * gets the vector of the same word of the file, or else of the first one that is it when
 * lower-cased; others, and all words if path is empty, d random numbers from U(-0.25,
 * 0.25), a function of seed and word. With a path, d is that of the file. EFILE; EDATA:
 * truncated, or another kind of file. Cost: one pass over the file. */
WEFT_CHECKED weft_status weft_vectors_read(const weft_vocab *vocab, const char *path, int d,
                                           uint64_t seed, weft_vectors *out,
                                           weft_arena *mem);

#endif
