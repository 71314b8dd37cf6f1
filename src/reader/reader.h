/* What the readers share: files and lines, class labels, splits.
 * Private to reader. */
#ifndef WEFT_READER_PRIVATE_H
#define WEFT_READER_PRIVATE_H

#include "weft/h5.h"
#include "weft/pack.h"

/* The whole file, with a NUL after its n bytes. EFILE. Cost O(n). */
WEFT_CHECKED weft_status weft_read_all(const char *path, weft_arena *mem, char **text,
                                       size_t *n);
/* The same of a file of text, which may be compressed by gzip, without a byte order mark.
 * EDATA, as weft_text_only and weft_gzip_expand. */
WEFT_CHECKED weft_status weft_read_text(const char *path, weft_arena *mem, char **text,
                                        size_t *n);
/* 1: bytes[n] begin as a file compressed by gzip does. */
int weft_is_gzip(const char *bytes, size_t n);
/* Expands text[*n] that is compressed by gzip, with a NUL after it. EDATA: it is damaged.
 */
WEFT_CHECKED weft_status weft_gzip_expand(const char *path, weft_arena *mem, char **text,
                                          size_t *n);
/* The next line of *at .. end, ended by a NUL in place of its "\n" or "\r\n"; NULL at the
 * end. */
char *weft_line(char **at, char *end, size_t *n);
/* Removes a byte order mark of UTF-8 from the beginning of text[n]. */
void weft_mark_skip(char **text, size_t *n);
/* The part of a path after the last slash. */
const char *weft_basename(const char *path);

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
/* The order of names, as strcmp: numbers by value, then texts. */
int weft_labels_compare(const char *a, const char *b);
/* Renumbers label[n] in the order of names, checks that there are two classes or more and
 * that they are not the numbers of a continuous label (many of which differ),
 * warns of names that differ only in case, white space or the form of a number, and tells
 * the packer. `source` is for the message. */
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
/* The option of a reader whose member `member` is a weft_split.shares. */
#define WEFT_SHARES_OPT(object, member)                                                    \
    WEFT_CHOICE_OPT("shares", object, member, "auto", "auto|chance|end|class",             \
                    "rows of the shares: drawn at random (chance), or the last ones of "   \
                    "each class in the source's order, where neighbours are alike "        \
                    "(reviews of one film), or as many of each class at random; auto: "    \
                    "chance, or class where a class would have no training row")
/* Divides rows 0..n-1 of classes label[n] into order[n]: train, then valid, then test rows,
 * each in the order of a shuffle by keyed random numbers; rows[] are the sizes of the
 * parts. By chance a part is the next of all shuffled rows; from the end each class gives
 * its last round(n_c test) rows to the test, the round(n_c valid) before them to
 * validation; by class the shuffled rows are first put in the order of
 * weft_split_classes, those of classes with fewer rows than parts before all others. AUTO
 * is by chance, or by class where a class would have no training row. Tells the packer the
 * rule. ECONF where valid + test >= 1. Cost O(n log n). */
WEFT_CHECKED weft_status weft_split_rows(const weft_split *split, const int32_t *label,
                                         int64_t n, int64_t *order, int64_t *rows,
                                         weft_pack *pack);
/* Puts rows order[n], which are in random order, so that of each class, of each owner, row
 * k of m is (k + 1/2) / m of the way: each piece of the order has about as large a share of
 * every class, and the middle the classes of one row. owner NULL: all are of one. Cost
 * O(n log n). */
void weft_split_classes(int64_t n, int64_t *order, const int64_t *owner,
                        const int32_t *label, weft_arena *tmp);
/* Shuffles rows 0..n-1 into parts of these sizes, whose sum n is; tells the packer. */
void weft_split_sizes(int64_t seed, const int64_t *rows, int64_t *order, weft_pack *pack);

/* Rows that belong to clients: those of the first file, of one for validation and of one
 * for the test. */
typedef struct weft_owned_rows {
    int64_t n, end[WEFT_NPART]; /* rows up to the end of each file */
    int64_t clients;
    const int64_t *owner; /* [n] */
    const int32_t *label; /* [n] */
} weft_owned_rows;
/* How they are divided. */
typedef struct weft_client_rows {
    int64_t clients, rows[WEFT_NPART];
    int64_t *order;               /* [n] client after client, and of each part after part */
    int64_t (*count)[WEFT_NPART]; /* [clients] */
} weft_client_rows;
/* Divides the rows of each client in the first file by the shares, drawn by chance, from
 * the end, or by class; those of other files are of their part. Tells the packer the rule.
 * Cost O(n). */
void weft_split_clients(const weft_split *shares, const weft_owned_rows *owned,
                        weft_client_rows *rows, weft_pack *pack);

/* ---- arrays of numbers or texts in NumPy's files, npy and npz, and in HDF5 files ---- */

#define WEFT_ARRAY_DIMS 4

typedef enum weft_element {
    WEFT_EL_U8,
    WEFT_EL_I8,
    WEFT_EL_U16,
    WEFT_EL_I16,
    WEFT_EL_U32,
    WEFT_EL_I32,
    WEFT_EL_U64,
    WEFT_EL_I64,
    WEFT_EL_F32,
    WEFT_EL_F64,
    WEFT_EL_BYTES, /* texts of `size` bytes, filled up with NUL */
    WEFT_EL_UCS4,  /* texts of size / 4 characters, too */
    WEFT_EL_TEXT   /* texts of any length */
} weft_element;
extern const char *const weft_element_name[]; /* "uint8", ..., "text" */

typedef struct weft_array {
    const char *path, *name; /* of the file; of the array in it, "": it is the only one */
    int nd;
    int64_t dims[WEFT_ARRAY_DIMS]; /* 1 from nd on */
    weft_element type;
    size_t size;             /* bytes of an element */
    const unsigned char *at; /* elements in C's order, in a mapped file; NULL: text */
    const char **text;       /* [elements] */
    void *map;               /* the mapped file, of so many bytes; NULL: none */
    size_t mapped;
} weft_array;

typedef enum weft_array_kind {
    WEFT_ARRAY_NONE, /* another file */
    WEFT_ARRAY_NPY,
    WEFT_ARRAY_NPZ,
    WEFT_ARRAY_HDF5
} weft_array_kind;
/* What the first bytes of a file say; WEFT_ARRAY_NONE also where it cannot be read. */
weft_array_kind weft_array_is(const char *path);
/* The names of the n arrays in a file, in mem; of an npy file the one name "". EFILE;
 * EDATA: it is damaged. */
WEFT_CHECKED weft_status weft_array_names(const char *path, const char ***name, int64_t *n,
                                          weft_arena *mem);
/* Opens an array. Elements that are compressed, in Fortran's order or with the high byte
 * first are first written to a file without a name beside the packed one, so that memory
 * stays small. EFILE; EDATA: there is no such array, it is cut short, has more than four
 * dimensions, or is of what is not read. */
WEFT_CHECKED weft_status weft_array_open(weft_array *array, const char *path,
                                         const char *name, weft_pack *pack);
void weft_array_close(weft_array *array);

/* "FILE" or "NAME of FILE", in mem. */
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

/* ---- between the files of this reader ---- */

/* An array in bytes as a file has it. */
typedef struct weft_array_raw {
    weft_array array;  /* at: NULL */
    int64_t at;        /* place of its first element in the file */
    int fortran, swap; /* 1: the first index is the fastest; the high byte is first */
} weft_array_raw;
/* The head of an npy file, whose first n bytes are given. EDATA, naming raw->array's path
 * and name. */
WEFT_CHECKED weft_status weft_npy_head(weft_array_raw *raw, const unsigned char *byte,
                                       size_t n, weft_arena *mem);

/* A file in an archive of zip, as np.savez writes them. */
typedef struct weft_zip_entry {
    const char *name;
    int64_t at, stored, bytes; /* its first byte; bytes in the archive, and expanded */
    int deflated;
} weft_zip_entry;
/* The n files of the archive byte[size]. EDATA. */
WEFT_CHECKED weft_status weft_zip_list(const char *path, const unsigned char *byte,
                                       size_t size, weft_zip_entry **entry, int64_t *n,
                                       weft_arena *mem);
/* Writes the expanded bytes of a file to fd. EDATA: they are damaged. */
WEFT_CHECKED weft_status weft_zip_expand(const char *path, const unsigned char *byte,
                                         const weft_zip_entry *entry, int fd);

#endif
