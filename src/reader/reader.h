/* What the readers share: files and lines, class labels, splits, documents, symbols,
 * arrays. Private to reader. */
#ifndef WEFT_READER_PRIVATE_H
#define WEFT_READER_PRIVATE_H

#include "weft/pack/pack.h"
#include "weft/store/h5.h"

/* The whole file, with a NUL after its n bytes. EFILE. Cost O(n). */
WEFT_CHECKED weft_status weft_read_all(const char *path, weft_arena *mem, char **text,
                                       size_t *n);
/* The same of a file that may be compressed by gzip. EDATA: it is damaged. */
WEFT_CHECKED weft_status weft_read_bytes(const char *path, weft_arena *mem, char **text,
                                         size_t *n);
/* The same of text, without a byte order mark. EDATA, as weft_text_only, too. */
WEFT_CHECKED weft_status weft_read_text(const char *path, weft_arena *mem, char **text,
                                        size_t *n);
/* The next line of *at .. end, ended by a NUL in place of its "\n" or "\r\n"; NULL at the
 * end. */
char *weft_line(char **at, char *end, size_t *n);
/* Removes a byte order mark of UTF-8 from the beginning of text[n]. */
void weft_mark_skip(char **text, size_t *n);
/* Removes Excel's first line, sep=; or "sep=;"; what separates columns by it, 0: there is
 * none. */
char weft_separator_skip(char **text, size_t *n);
/* The part of a path after the last slash. */
const char *weft_basename(const char *path);

/* What a directory has, also . and .., by name, in mem; returns how many, -1 and errno
 * where it cannot be read. */
int64_t weft_dir_list(const char *path, const char ***name, weft_arena *mem);

/* Sides of an image of d numbers from "3x32x32", channels first. ECONF. */
WEFT_CHECKED weft_status weft_shape_read(const char *text, int64_t d, int side[3]);

/* Whether the samples that a packed file has, or the winner of a run was trained on, belong
 * to clients. EFILE. */
WEFT_CHECKED weft_status weft_like_federated(weft_h5 *file, int *federated);

/* Class labels, numbered by first occurrence and, at the end, in order: numbers by value,
 * then texts. */
typedef struct weft_labels {
    const char *path; /* of the file that is read, for messages */
    int n;
    const char **name; /* [n] */
    int64_t room;
    int last;           /* found last: labels come in runs */
    int any;            /* 1: numbers many of which differ are classes, too */
    const char *remedy; /* of classes that are alike; NULL: to write them so */
    weft_arena *mem;
} weft_labels;
/* The number of label text[n], found in that line of the file (0: in its name). EDATA
 * naming the line: it is not UTF-8, has a NUL, or is one class more than WEFT_MAX_CLASSES.
 */
WEFT_CHECKED weft_status weft_labels_find(weft_labels *labels, int64_t line,
                                          const char *text, size_t n, int32_t *number);
/* 1: a whole number of so many digits that a double does not hold it. */
int weft_number_lost(const char *text);

/* 1: it stands for a value that is missing, as "", NA, ? do. */
int weft_cell_missing(const char *text);
/* The order of names, as strcmp: numbers by value, then texts. */
int weft_labels_compare(const char *a, const char *b);
/* Renumbers label[n] in the order of names, checks that there are two classes or more and
 * that they are not the numbers of a continuous label, warns of names that are alike, and
 * tells the packer. `source` is for the message. */
WEFT_CHECKED weft_status weft_labels_close(weft_labels *labels, const char *source,
                                           int32_t *label, int64_t n, weft_pack *pack);
/* Renumbers label[n] as the classes that were learnt; that of no label, "", becomes 0.
 * EDATA naming a class that is none of these. */
WEFT_CHECKED weft_status weft_labels_match(const weft_labels *labels, int classes,
                                           const char *const *class_name, int32_t *label,
                                           int64_t n);
/* What a name means, in mem: the value of a number; letters in lower case, composed,
 * without white space and what is not seen. */
const char *weft_name_meaning(const char *name, weft_arena *mem);
/* Warns of those of n names of `what` that mean the same; remedy NULL: to write them alike.
 * Cost O(n log n). */
void weft_names_alike(int64_t n, const char *const *name, const char *what,
                      const char *source, const char *remedy);
#define WEFT_MAX_CLASSES 1000

/* Share of rows for validation and test, and the key of the shuffle. */
typedef struct weft_split {
    double valid, test;
    int64_t seed;
    int shares;   /* WEFT_BY_AUTO, WEFT_BY_CHANCE, WEFT_FROM_END, WEFT_BY_CLASS */
    int shuffled; /* 1: parts of their own are put together and shuffled, too */
} weft_split;
enum { WEFT_BY_AUTO, WEFT_BY_CHANCE, WEFT_FROM_END, WEFT_BY_CLASS };
/* The options of a reader whose member is a weft_split of rows called `what`. */
#define WEFT_SPLIT_OPTS(object, member, what, more_valid, more_test)                       \
    WEFT_REAL_OPT("valid", object, member.valid, "0.1", 0, 0.9,                            \
                  "share of the " what " for validation" more_valid),                      \
        WEFT_REAL_OPT("test", object, member.test, "0.1", 0, 0.9,                          \
                      "share of the " what " for the test" more_test),                     \
        WEFT_CHOICE_OPT(                                                                   \
            "shares", object, member.shares, "auto", "auto|chance|end|class",              \
            "rows of the shares: drawn at random (chance), or the last ones "              \
            "of each class in the source's order, where neighbours are alike "             \
            "(reviews of one film), or as many of each class at random; "                  \
            "auto: chance, or class where a class would have no training row"),            \
        WEFT_LONG_OPT("seed", object, member.seed, "0", 0, 9e15,                           \
                      "seed of the shuffle that divides the " what)

/* Rows, or documents, as they are read: those of the source, then those of one for
 * validation, then those of one for the test. */
typedef struct weft_source_rows {
    int64_t n, end[WEFT_NPART];  /* rows up to the end of each source */
    const char *source;          /* for messages */
    const char *own[WEFT_NPART]; /* what the source of a part is called; NULL: nothing */
    const int32_t *label;        /* [n] */
    int64_t groups, clients;     /* that rows belong to; one of them is 0, or both */
    const int64_t *owner;        /* [n] the group or client */
    const char *const *name;     /* [groups] */
} weft_source_rows;
/* How they are divided. */
typedef struct weft_parts {
    int64_t *order; /* [n] part after part, or client after client, and of each the parts */
    const uint8_t *part; /* [n] of each row */
    int64_t rows[WEFT_NPART];
    int64_t (*count)[WEFT_NPART]; /* [clients], or of all rows */
} weft_parts;
/* Divides the rows of the first source by the shares, but for parts that have a source;
 * those of other sources follow in their part, or its clients'. By chance a part is the
 * next of all rows, shuffled by keyed random numbers; from the end each class gives its
 * last round(n_c test) rows to the test, the round(n_c valid) before them to validation; by
 * class the shuffled rows are first put in the order of weft_split_classes, those of
 * classes with fewer rows than parts before all others. AUTO is by chance, or by class
 * where a class would have no training row. Groups stay together; rows of clients are
 * divided within each. Tells the packer the rule. ECONF: valid + test >= 1; EDATA: too few
 * groups, or one in two sources. Cost O(n log n). */
WEFT_CHECKED weft_status weft_divide(const weft_split *split, const weft_source_rows *rows,
                                     weft_parts *parts, weft_pack *pack);

/* ---- runs of samples ---- */

/* Choices of an option "rule". */
enum { WEFT_RULE_SHARES, WEFT_RULE_LEAF };

typedef struct weft_shares {
    double valid, test;
    int rule; /* WEFT_RULE_LEAF: train and test only; valid is not read */
} weft_shares;

/* ECONF where valid and test leave nothing for training. */
WEFT_CHECKED weft_status weft_shares_check(const weft_shares *shares);
/* Sizes of the parts of n samples in a row, `gap` of which are left out between two parts
 * that are wanted. Returns 1 where each part that has a share has a sample. By shares, the
 * parts share what the gaps leave; by LEAF's rule the gap is taken from the test. */
int weft_shares_count(const weft_shares *shares, int64_t n, int64_t gap, int64_t *count);
/* Logs how many users had to be left out, if any. */
void weft_shares_log(int64_t left, int64_t gap);

/* ---- labelled documents, and their encoding ---- */

typedef struct weft_document {
    const char *name; /* for messages and the packed file */
    const char *text; /* [n] UTF-8 */
    size_t n;
    const char *client; /* whose it is; NULL: nobody's, as all are */
} weft_document;

/* Documents in the order in which they were read: first those to be divided by shares, then
 * those of a separate source for validation, then those of one for the test. */
typedef struct weft_documents {
    weft_document *document; /* [n] */
    int32_t *label;          /* [n] */
    int64_t n, room, label_room;
    int64_t end[WEFT_NPART];     /* documents of the sources of train; of valid; of test */
    const char *own[WEFT_NPART]; /* separate source of a part; NULL: none */
    weft_labels labels;
} weft_documents;

/* Adds a document of class label[n_label], found in that line (0: none) of labels.path.
 * EDATA as weft_labels_find. */
WEFT_CHECKED weft_status weft_documents_add(weft_documents *documents,
                                            weft_document document, int64_t line,
                                            const char *label, size_t n_label,
                                            weft_arena *mem);
/* Takes document i out, and its class, if no other document has it; other classes of higher
 * numbers move up. Cost O(n). */
void weft_documents_drop(weft_documents *documents, int64_t i);
/* Divides all documents, and hands them over. As weft_divide. */
WEFT_CHECKED weft_status weft_documents_pack(weft_documents *documents, const char *source,
                                             const weft_split *split, weft_pack *pack);

/* Hands all documents over in their order, one at least, to be scored by a winner: `like`
 * is its run, or a packed file like its own. Their labels may all be "". EFILE; EDATA:
 * `like` is of no texts, or lacks a class. */
WEFT_CHECKED weft_status weft_documents_score(weft_documents *documents, const char *like,
                                              weft_pack *pack);

typedef enum weft_encoding {
    WEFT_ENC_AUTO, /* UTF-8 where it is well-formed, else Windows-1252 */
    WEFT_ENC_UTF8,
    WEFT_ENC_LATIN1,
    WEFT_ENC_CP1252 /* Latin-1 but for 27 characters in 0x80..0x9f */
} weft_encoding;
#define WEFT_ENCODING_WORDS "auto|utf-8|latin1|cp1252"

/* Makes *text of *n bytes UTF-8, in mem; returns 1 if it was not well-formed UTF-8 and was
 * taken as Windows-1252 for that (WEFT_ENC_AUTO). Bytes that Windows-1252 lacks are control
 * characters as in Latin-1 (WHATWG, "Encoding Standard"). Cost O(n). */
int weft_text_decode(weft_encoding encoding, char **text, size_t *n, weft_arena *mem);

/* ---- symbols of running text ---- */

/* LEAF's vocabulary for Shakespeare (Caldas et al., "LEAF: A benchmark for federated
 * settings", 2018). */
enum { WEFT_SYMBOLS = 80 };
typedef struct weft_alphabet {
    int8_t symbol[256]; /* of a byte; -1: none */
} weft_alphabet;

weft_alphabet weft_alphabet_new(void);
/* The symbols of text[n] to out[n]; returns how many. At a character without symbol it ends
 * and *bad is its place, otherwise n. */
int64_t weft_alphabet_map(const weft_alphabet *alphabet, const char *text, size_t n,
                          uint8_t *out, size_t *bad);
/* EDATA: "<where> has the character ..., which ..."; `where` names file and place. */
WEFT_CHECKED weft_status weft_alphabet_fail(const char *where, const char *text);
/* Tells the packer the classes: symbols as they are, or "\\n". */
void weft_alphabet_classes(weft_pack *pack);

/* ---- rows of CSV ---- */

typedef struct weft_csv_row {
    int64_t line;             /* where it ends */
    const char *const *field; /* [n] without their quotation marks */
    int64_t n;
} weft_csv_row;

/* What becomes of a line of the file. */
typedef enum weft_csv_line {
    WEFT_CSV_PARSED, /* by libcsv */
    WEFT_CSV_EMPTY,  /* it is a row of one empty field */
    WEFT_CSV_DONE    /* nothing more */
} weft_csv_line;

/* A file of CSV that is read line by line, so that messages can name the line. */
typedef struct weft_csv_source {
    const char *path;
    char separator;
    int64_t line;         /* that is read; in: those before the text */
    int64_t opened;       /* line of the open quotation mark; 0: none is */
    int odd, quotes;      /* 1: an odd number of marks is in it; there are any */
    const char *unclosed; /* what a message says to do about such a mark */
    weft_arena *row;      /* of the texts of a row */
    void *ctx;
    weft_status (*look)(void *ctx, const char *at, size_t n, weft_csv_line *what);
    weft_status (*take)(void *ctx, const weft_csv_row *row);
} weft_csv_source;
/* Calls look for each line of text[n], its end included, before it is parsed, and take for
 * each row, until one of them fails; a row lasts until take returns. libcsv skips empty
 * lines; columns may be quoted, and then hold separators and ends of lines (RFC 4180).
 * EDATA naming the line: a quotation mark out of place, a NUL in a field; what look and
 * take return. Cost O(n). */
WEFT_CHECKED weft_status weft_csv_read(weft_csv_source *source, const char *text, size_t n);

/* ---- users out of LEAF's JSON files, one at a time ---- */

/* What all samples have in common, learnt from the first one. */
typedef struct weft_leaf_form {
    int64_t d;      /* numbers of a row, or characters of a window; 0: not known yet */
    int text;       /* windows with the character that follows */
    int documents;  /* lists of texts, as [id, date, query, user, text], of which one is */
    int64_t column; /* element, from 0, that is it */
    enum { WEFT_LEAF_OPEN, WEFT_LEAF_NUMBERS, WEFT_LEAF_WORDS } labelled; /* what y is of */
    weft_labels labels; /* words that are labels */
    weft_alphabet alphabet;
} weft_leaf_form;

typedef struct weft_leaf_user {
    const char *name, *file;
    int64_t n;             /* samples */
    double *x;             /* [n][d]; of text NULL */
    const char **document; /* [n] texts, of documents */
    int32_t *label;        /* [n] numbers, or those of words in the form's labels */
    uint8_t *text;         /* [n][d] symbols */
    uint8_t *next;         /* [n] the symbols that follow */
} weft_leaf_user;

typedef struct weft_leaf weft_leaf;
/* The users of the files path[n], in their order. `gapped`: LEAF's released program, where
 * it divides text, counts the samples between train and test as samples of the test, by
 * mistake. */
weft_leaf *weft_leaf_open(const char *const *path, int64_t n, int gapped,
                          weft_leaf_form *form, weft_arena *mem);
/* The next user, who may have no samples, NULL after the last; good until the next call.
 * EFILE, EDATA: not JSON, or not LEAF's; names file, user and sample. */
WEFT_CHECKED weft_status weft_leaf_next(weft_leaf *leaf, const weft_leaf_user **user);
void weft_leaf_close(weft_leaf *leaf);

/* ---- arrays of numbers or texts in HDF5 files ---- */

#define WEFT_ARRAY_DIMS 4

typedef enum weft_element {
    WEFT_EL_U8,
    WEFT_EL_I32,
    WEFT_EL_U64,
    WEFT_EL_I64,
    WEFT_EL_F32,
    WEFT_EL_F64,
    WEFT_EL_TEXT
} weft_element;
extern const char *const weft_element_name[]; /* "uint8", ..., "text" */

typedef struct weft_array {
    const char *path, *name; /* of the file, and of the array in it */
    int nd;
    int64_t dims[WEFT_ARRAY_DIMS]; /* 1 from nd on */
    weft_element type;
    size_t size;             /* bytes of an element */
    const unsigned char *at; /* elements in C's order, in a mapped file; NULL: text */
    const char **text;       /* [elements] */
    void *map;               /* the mapped file, of so many bytes; NULL: none */
    size_t mapped;
} weft_array;

/* 1 if the first bytes of a file are HDF5's. */
int weft_array_is(const char *path);
/* The names of the n arrays in a file, in mem. EFILE; EDATA: it is a packed one. */
WEFT_CHECKED weft_status weft_array_names(const char *path, const char ***name, int64_t *n,
                                          weft_arena *mem);
/* Opens an array. Elements that are not in the file as in memory, as compressed ones, are
 * first written to a file without a name beside the packed one, so that memory stays small.
 * EFILE: also where they are of what is not read; EDATA: there is no such array, it is
 * empty, or cut short. */
WEFT_CHECKED weft_status weft_array_open(weft_array *array, const char *path,
                                         const char *name, weft_pack *pack);
void weft_array_close(weft_array *array);

/* "NAME of FILE", in mem. */
const char *weft_array_where(const weft_array *array, weft_arena *mem);
/* "60000 x 28 x 28", in mem. */
const char *weft_array_shape(const weft_array *array, weft_arena *mem);
/* Elements of a row, all but the first dimension. */
int64_t weft_array_width(const weft_array *array);
/* 1: elements are texts. */
int weft_array_texts(const weft_array *array);
/* Elements first, first + step, ... as numbers x[n]; they are no texts. */
void weft_array_numbers(const weft_array *array, int64_t first, int64_t step, int64_t n,
                        double *x);
/* Element i as a label: a text, or the shortest spelling of a number. In mem. */
const char *weft_array_text(const weft_array *array, int64_t i, weft_arena *mem);

#endif
