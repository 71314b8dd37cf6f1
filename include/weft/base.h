/* What all other parts use: status and errors, memory, keyed random numbers, options and
 * input files, log and clock. It does not use MPI, data files or learning code.
 * All functions are local. */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WEFT_CHECKED      __attribute__((warn_unused_result))
#define WEFT_PRINTF(a, b) __attribute__((format(printf, a, b)))

#ifdef __clang__
#define WEFT_COMPILER "clang " __clang_version__
#else
#define WEFT_COMPILER "gcc " __VERSION__
#endif

#ifdef WEFT_DOUBLE
typedef double real; /* weights, gradients, features */
#define WEFT_REAL_MAX     DBL_MAX
#define WEFT_REAL_MIN     DBL_MIN
#define WEFT_REAL_EPSILON DBL_EPSILON
#else
typedef float real;
#define WEFT_REAL_MAX     FLT_MAX
#define WEFT_REAL_MIN     FLT_MIN
#define WEFT_REAL_EPSILON FLT_EPSILON
#endif

/* ---- errors ---- */

/* Failures that the user can correct. weft_error() returns the message of the last one. */
typedef enum weft_status {
    WEFT_OK = 0,
    WEFT_ECONF = 2, /* a wrong key, value or argument given by the user */
    WEFT_EFILE =
        3, /* a file that is missing, truncated, of another kind, or not writable */
    WEFT_EDATA = 4,  /* a data set that does not hold what it should */
    WEFT_ELIMIT = 5, /* more than the memory or another limit allows */
    WEFT_ENONE = 6,  /* a search that is complete without a winner: all its jobs failed */
    WEFT_STOP =
        75 /* stopped by a signal or time limit; the run can be resumed (EX_TEMPFAIL) */
} weft_status;

/* Records the message and returns st: `return weft_fail(WEFT_ECONF, "...")`. The message
 * says what was found, what was expected and what to do. */
WEFT_CHECKED weft_status weft_fail(weft_status st, const char *fmt, ...) WEFT_PRINTF(2, 3);

/* The message of the last weft_fail of this process; "" if there was none. */
const char *weft_error(void);

/* Sets the message, e.g. to that of the rank that failed. */
void weft_error_set(const char *text);

/* Passes a failure on to the caller. */
#define TRY(call)                                                                          \
    do {                                                                                   \
        weft_status try_st_ = (call);                                                      \
        if (try_st_ != WEFT_OK) return try_st_;                                            \
    } while (0)

/* For failures that no user can correct: where cond is false, prints file, line and message
 * and ends all ranks. Active in all builds. */
#define weft_check(cond, ...)                                                              \
    do {                                                                                   \
        if (!(cond)) weft_die_at(__FILE__, __LINE__, __VA_ARGS__);                         \
    } while (0)
#define weft_die(...) weft_die_at(__FILE__, __LINE__, __VA_ARGS__)
__attribute__((noreturn)) void weft_die_at(const char *file, int line, const char *fmt, ...)
    WEFT_PRINTF(3, 4);

/* What weft_die calls after its message; par sets it to MPI_Abort. NULL: abort(). */
void weft_die_hook(void (*hook)(void));

/* The name in list[n] nearest to `name` by edit distance, regardless of case, for "did you
 * mean". Cost O(sum of the products of lengths). */
const char *weft_nearest(const char *name, const char *const *list, int n);

/* ---- memory ---- */

/* An arena allocates zeroed memory, aligned to 64 bytes, all of which is freed together
 * with the arena. Allocation never returns NULL: out of memory ends the process. */
typedef struct weft_arena weft_arena;
/* An empty arena. To be freed by weft_arena_free. */
weft_arena *weft_arena_new(void);
/* Frees the arena and all memory allocated from it. NULL allowed. */
void weft_arena_free(weft_arena *arena);
/* `count` elements of `size` bytes, zeroed; count 0 allowed. Cost O(count size). */
void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size);
/* The text that the format prints, owned by the arena. */
char *weft_arena_text(weft_arena *arena, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Returns the array, or a zero-padded copy of it at least twice as large, with room for
 * more than n elements of `size` bytes. *room is the number of elements that there is room
 * for, in and out; 0 for a NULL array. Old copies are freed with the arena. */
void *weft_grow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room);
/* The same for an array that grows to a large size: its old copy is freed at once if it is
 * long, so no pointer into it may be kept. Cost O(blocks of the arena) to grow. */
void *weft_regrow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room);
size_t weft_arena_mark(
    const weft_arena *arena); /* the bytes in use, for weft_arena_reset */
/* Releases all that was allocated since the mark. */
void weft_arena_reset(weft_arena *arena, size_t mark);
size_t weft_arena_held(const weft_arena *arena); /* bytes that it has from calloc */
#define WEFT_NEW(a, type, n) ((type *)weft_arena_alloc((a), (size_t)(n), sizeof(type)))

/* ---- random numbers ---- */

/* A random number is a function of (seed, purpose, identity), never of a stream, the rank
 * or the clock. Philox4x64-10 with key (seed, purpose) and counter (a, b, c, 0); Salmon,
 * Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
typedef enum weft_purpose {
    WEFT_RNG_SPACE = 1, /* configurations: (index, axis's key) */
    WEFT_RNG_ASSIGN,    /* configuration that a training row draws: (trial, job's index,
                           row) */
    WEFT_RNG_VALID,     /* the same for a validation row */
    WEFT_RNG_MATRIX,    /* random projections: (feature, block of inputs, kind) */
    WEFT_RNG_OFFSET,    /* random offsets: (feature) */
    WEFT_RNG_HASH,      /* hash seeds: (map) */
    WEFT_RNG_SPLIT,     /* order in which a data set is split: (sample) */
    WEFT_RNG_DATA,      /* built-in data: (sample, position) */
    WEFT_RNG_TUNER,     /* of tuners: (trial) or (hash, index, axis) */
    WEFT_RNG_SOLVE,     /* of solvers */
    WEFT_RNG_WEIGHTS,   /* initial weights: (tensor, index), word vectors: (word, index,
                           1) */
    WEFT_RNG_COHORT,    /* clients of a round: (round, draw) */
    WEFT_RNG_BATCH,     /* order of a client's samples: (round, client, epoch and
                           position) */
    WEFT_RNG_PICK,      /* configuration a client draws: (trial, round, index in the
                           cohort) */
    WEFT_RNG_DROPOUT,   /* dropout masks: key from (round, client, epoch and sample), then
                           unit */
    WEFT_RNG_DEVICE,    /* speed, dropping out ... of a device: (quantity, client, round) */
    WEFT_RNG_CLIENT,    /* generated clients, partitions: (client, sample) */
    WEFT_RNG_TEST
} weft_purpose;

typedef struct weft_rng4 {
    uint64_t v[4];
} weft_rng4;
/* The 256 random bits of that seed, purpose and identity (a, b, c). */
weft_rng4 weft_rng_at(uint64_t seed, weft_purpose purpose, uint64_t a, uint64_t b,
                      uint64_t c);
double weft_rng_unit(uint64_t word);                     /* 53 bits in [0, 1) */
void weft_rng_normal(const weft_rng4 *rng, double z[4]); /* four N(0,1), Box-Muller */
/* The first two of these, of v[0] and v[1] alone. */
void weft_rng_normal_pair(const weft_rng4 *rng, double z[2]);

/* 64 bits that depend on every bit of the n bytes and of the seed (XXH3). */
uint64_t weft_hash(const void *bytes, size_t n, uint64_t seed);

/* ---- options and input files ---- */

typedef enum weft_type {
    WEFT_INT,
    WEFT_LONG,
    WEFT_REAL,
    WEFT_BOOL,
    WEFT_CHOICE,
    WEFT_WORDS,
    WEFT_TEXT
} weft_type;

/* Where the values of an option may differ. */
typedef enum weft_axis_role {
    WEFT_FIXED,       /* nowhere: one value for the whole run */
    WEFT_PER_SESSION, /* between the sessions of a run (its start and its resumes): no
                         result depends on it */
    WEFT_GROWS,       /* between sessions, to more: what a resume may give the only job of a
                         run in addition */
    /* the others may be axes of a search: */
    WEFT_PER_SAMPLE, /* it may differ between the samples (clients) of one trial: mixtures
                        vary only such axes */
    WEFT_PER_TRIAL,  /* one value for a whole trial, which may change when the trial is
                        copied */
    WEFT_SHAPE       /* it sets the size of a trial's state: one value for a trial and all
                        its copies */
} weft_axis_role;

/* One option of a plug-in, which sets a member of its struct:
 * WEFT_INT int, WEFT_LONG int64_t, WEFT_REAL double, WEFT_BOOL int 0|1, WEFT_CHOICE int
 * (index into choices), WEFT_WORDS the same, but its words are compared exactly: upper and
 * lower case differ, and a slash does not separate synonyms; WEFT_TEXT const char *. A
 * table ends with a row whose name is NULL. */
typedef struct weft_opt {
    const char *name; /* "gamma"; synonyms after a slash: "tokenizer/method" */
    weft_type type;
    size_t at;       /* offsetof the member */
    const char *def; /* default, as a user would write it */
    double lo, hi;   /* inclusive bounds of numbers */
    const char
        *words; /* WEFT_CHOICE: "none/None|minmax|l2/normalize", first synonym canonical;
                   for a number: a word that stands for its lower bound ("auto"), or NULL */
    const char *about;   /* one line, with the unit */
    weft_axis_role role; /* see weft_opt_tunable */
} weft_opt;

/* The rows of a table. The option sets `member` of the struct `object`: a member of another
 * type does not compile. After the description ".words = ..." and ".role = ..." may follow,
 * as in any initialiser. */
#define WEFT_INT_OPT(key, object, member, preset, low, high, ...)                          \
    {                                                                                      \
        .name = key, .type = WEFT_INT, .at = WEFT_AT(object, member, int), .def = preset,  \
        .lo = low, .hi = high, .about = __VA_ARGS__                                        \
    }
#define WEFT_LONG_OPT(key, object, member, preset, low, high, ...)                         \
    {                                                                                      \
        .name = key, .type = WEFT_LONG, .at = WEFT_AT(object, member, int64_t),            \
        .def = preset, .lo = low, .hi = high, .about = __VA_ARGS__                         \
    }
#define WEFT_REAL_OPT(key, object, member, preset, low, high, ...)                         \
    {                                                                                      \
        .name = key, .type = WEFT_REAL, .at = WEFT_AT(object, member, double),             \
        .def = preset, .lo = low, .hi = high, .about = __VA_ARGS__                         \
    }
#define WEFT_BOOL_OPT(key, object, member, preset, ...)                                    \
    {                                                                                      \
        .name = key, .type = WEFT_BOOL, .at = WEFT_AT(object, member, int), .def = preset, \
        .about = __VA_ARGS__                                                               \
    }
#define WEFT_CHOICE_OPT(key, object, member, preset, choices, ...)                         \
    {                                                                                      \
        .name = key, .type = WEFT_CHOICE, .at = WEFT_AT(object, member, int),              \
        .def = preset, .words = choices, .about = __VA_ARGS__                              \
    }
#define WEFT_TEXT_OPT(key, object, member, preset, ...)                                    \
    {                                                                                      \
        .name = key, .type = WEFT_TEXT, .at = WEFT_AT(object, member, const char *),       \
        .def = preset, .about = __VA_ARGS__                                                \
    }
/* Offset of a member of that type. */
#define WEFT_AT(object, member, type)                                                      \
    _Generic(((object *)0)->member, type : offsetof(object, member))

/* The table of a plug-in whose keys the user may choose freely: it is empty, and
 * weft_conf_open makes the table that is used from the entries that the user wrote. */
extern const weft_opt weft_own_keys[];

/* An option that is read only if another option of the same table has a certain value; of
 * several rows for an option all must be true. */
typedef struct weft_when {
    const char *name; /* the option, such as "file" */
    const char *of;   /* the option that it depends on, such as "source" */
    const char *is;   /* the value that this must have, such as "list", or several: "a|b" */
} weft_when;

/* The first member of every plug-in: what the registry, `weft list` and the run file
 * use. */
typedef struct weft_kind {
    const char *name, *about;
    size_t size;           /* bytes of the instance, whose members the options fill */
    const weft_opt *opts;  /* ends with a row whose name is NULL */
    const weft_when *when; /* ends likewise; NULL: all options are always read */
} weft_kind;

/* One "key = value" of an input file or of the command line. */
typedef struct weft_entry {
    const char *section, *key, *value;
    const char *file; /* file that it is from, "command line" or "default" */
    int line;         /* 0 for the command line, -1 for a default */
    int used;         /* 1: the run has read it */
} weft_entry;

/* All entries, in the order in which their keys first appeared. An entry of a later source
 * replaces one of an earlier source with the same section and key. Texts are owned by
 * mem. */
typedef struct weft_conf {
    int n;
    weft_entry *entry; /* [n] */
    int64_t room;
    weft_arena *mem;
} weft_conf;

/* An empty configuration, whose entries are owned by mem. */
void weft_conf_init(weft_conf *conf, weft_arena *mem);
/* Reads an .ini file: sections, key = value, comments after ; or #. Errors: EFILE; ECONF,
 * also where a key is given twice. */
WEFT_CHECKED weft_status weft_conf_read(weft_conf *conf, const char *path);
/* Reads the same from memory; `name` stands for the file in messages. */
WEFT_CHECKED weft_status weft_conf_text(weft_conf *conf, const char *name,
                                        const char *text);
/* Sets "section.key=value", as given on the command line. ECONF: another form, or the same
 * key twice. */
WEFT_CHECKED weft_status weft_conf_set(weft_conf *conf, const char *assignment);
/* Sets an entry that was not given; weft_conf_echo writes it like the others. */
void weft_conf_default(weft_conf *conf, const char *section, const char *key,
                       const char *value);
int weft_conf_is_default(const weft_entry *entry); /* 1: set by weft_conf_default */
int weft_conf_is_typed(const weft_entry *entry);   /* 1: of the command line */
/* Removes all entries of a section or, if key is not NULL, the entry of that key. */
void weft_conf_drop(weft_conf *conf, const char *section, const char *key);
/* The entry of an option, names "key" or "key/synonym", or NULL. */
weft_entry *weft_conf_find(const weft_conf *conf, const char *section, const char *names);
/* ECONF "file:12: section.key = value: why", or "command line: section.key ...". */
WEFT_CHECKED weft_status weft_entry_fail(const weft_entry *entry, const char *fmt, ...)
    WEFT_PRINTF(2, 3);
/* Skips blanks at both ends of the *n characters at text. Returns the new start; *n is the
 * number of characters in and out. */
const char *weft_trim(const char *text, size_t *n);
/* Fills the instance `self` of a plug-in: defaults, then the entries of section kind->name.
 * An entry with a range ("a .. b", "log a .. b", "x | y") of a tunable option is read by
 * weft_space_read, and here the member keeps its default. Wrong key, type or bound: ECONF
 * naming file, line, key, bound and the nearest key. Texts are owned by conf->mem. */
WEFT_CHECKED weft_status weft_conf_bind(weft_conf *conf, const weft_kind *kind, void *self);
/* The options of a section with weft_own_keys, made from the values that the user wrote:
 *     a .. b, log a .. b   numbers; integers where both ends are written as such
 *     x | y | z            WEFT_WORDS; also x where a clause "when" follows
 *     "text" or 'text'     WEFT_TEXT, whatever stands between the quotes
 *     otherwise            WEFT_TEXT, also a value with ".." that is not between numbers
 * in the order of the entries, which count as used. Keys are made of letters, digits, "_",
 * "-" and "."; ECONF, also for what other programs take as a range, [1, 2] or
 * uniform(0, 1). *out is owned by mem. */
WEFT_CHECKED weft_status weft_conf_open(const weft_conf *conf, const weft_kind *kind,
                                        weft_arena *mem, const weft_kind **out);
/* ECONF if an entry was never used: the message names it, its line and the nearest of the
 * names sections[n]. */
WEFT_CHECKED weft_status weft_conf_unused(const weft_conf *conf,
                                          const char *const *sections, int n);
/* The whole configuration as .ini text, which weft_conf_text reads back. Owned by mem. */
const char *weft_conf_echo(const weft_conf *conf, weft_arena *mem);

/* 1 if the value is a range: it contains "..", "|" or a clause "when". */
int weft_is_range(const char *value);
/* 1 for a value that stands in quotes of one kind as a whole, and is no range. */
int weft_is_quoted(const char *value);
/* The start of the first clause "WORD key = " in a value; NULL: there is none. */
const char *weft_clause(const char *value, const char *word);
/* Parses one value of an option to a number (choices: their index). ECONF: the message is
 * the reason only; the caller adds file and line. */
WEFT_CHECKED weft_status weft_opt_parse(const weft_opt *opt, const char *text,
                                        double *value);
/* Writes a number into the member of the instance, and reads it. Not for WEFT_TEXT. */
void weft_opt_set(const weft_opt *opt, void *self, double value);
double weft_opt_value(const weft_opt *opt, const void *self);
/* The value as a user would write it ("l2", "true", "0.01"), at most n bytes with the NUL.
 */
void weft_opt_show(const weft_opt *opt, double value, char *text, size_t n);
/* 1 if the option may be given a range, which makes it an axis of the search. */
int weft_opt_tunable(const weft_opt *opt);
/* 1 if key is the option's name or a synonym of it (case counts). */
int weft_opt_is(const weft_opt *opt, const char *key);
/* The option's name without synonyms, into text[n]. */
void weft_opt_name(const weft_opt *opt, char *text, size_t n);

/* ---- directories ---- */

/* Copies the directory `from` and everything in it to `to`, which may exist if it is empty:
 * contents, modes and times of files, symbolic links as links; no sockets, pipes or
 * devices. EFILE: what was copied so far stays. */
WEFT_CHECKED weft_status weft_tree_copy(const char *from, const char *to);
/* Writes all files in a directory through to the disk (fsync; one syncfs for many), so that
 * they survive a crash of the node. EFILE. */
WEFT_CHECKED weft_status weft_tree_sync(const char *path);
/* Removes a directory and everything in it, as far as permissions allow; does nothing if
 * there is none. Symbolic links are not followed. */
void weft_tree_remove(const char *path);

/* ---- log and clock ---- */

typedef enum weft_level {
    WEFT_ERROR,
    WEFT_ALARM, /* a warning that every rank may print */
    WEFT_WARN,
    WEFT_INFO
} weft_level;
/* Sets the level up to which this process prints, and its rank: ranks other than 0 print
 * errors and alarms only. */
void weft_log_set(weft_level level, int rank);
weft_level weft_log_level(void); /* as set */
/* From now on also warnings of this process are printed, whatever its rank, and all its
 * lines begin with `who`, borrowed; NULL: no longer. */
void weft_log_who(const char *who);
void weft_log(weft_level level, const char *fmt, ...)
    WEFT_PRINTF(2, 3); /* to stderr, one line */

/* Replaces the progress line if stderr is a terminal, else does nothing; rank 0 only. ""
 * clears the line. */
void weft_progress(const char *fmt, ...) WEFT_PRINTF(1, 2);

/* Stops this process (SIGSTOP) the first time that the event contains the text of the
 * environment variable WEFT_HOLD: for tests, in which something is to happen to a run at an
 * event and not after some seconds. Lines of the log are events on all ranks. */
void weft_hold(const char *event);

double weft_now(void); /* seconds on a monotonic clock */

/* ---- small functions that many files need ---- */

/* Returns EFILE with the message that `path` cannot be read, and the reason in errno. */
WEFT_CHECKED weft_status weft_unreadable(const char *path);

/* EDATA where text[n], the beginning of file `path`, is that of a known kind of file that
 * is no text in UTF-8: compressed, an archive, HDF5, NumPy, Parquet, UTF-16 and others; the
 * message names the kind and the remedy. 262 bytes tell all of them. */
WEFT_CHECKED weft_status weft_text_only(const char *path, const char *text, size_t n);

/* Numbers 0 .. n-1 into order[n], in the order of their keyed random numbers
 * (WEFT_RNG_SPLIT). Cost O(n log n). */
void weft_shuffle(int64_t n, uint64_t seed, int64_t *order, weft_arena *tmp);

/* Identity of a row of random numbers: word i is word i % 4 of (a, b, c + i / 4). */
typedef struct weft_rng_row {
    uint64_t seed;
    weft_purpose purpose;
    uint64_t a, b, c;
} weft_rng_row;
/* Shuffles the first `take` places of order[n], by Fisher and Yates: place i gets one of
 * those from i on, drawn by word i. Cost O(take). */
void weft_shuffle_first(int64_t take, int64_t n, const weft_rng_row *key, int64_t *order);

/* Distinct names in a hash table, numbered in the order of their first use. */
typedef struct weft_names {
    const char **name; /* [n] */
    int64_t n, room;
    int64_t *slot; /* [slots] open hash table: number + 1 of a name; 0: free */
    int64_t slots;
    weft_arena *mem;
} weft_names;

/* The number of a name; a new name is added with the next number. Cost O(1). */
int64_t weft_names_find(weft_names *names, const char *name);
/* The number of a name; -1: there is no such name. Cost O(1). */
int64_t weft_names_index(const weft_names *names, const char *name);

/* A binary heap of items of `size` bytes, the first of which is before all others. */
typedef struct weft_heap {
    int64_t n, room;
    size_t size; /* at most WEFT_HEAP_ITEM */
    void *at;    /* [n] items */
    int (*before)(const void *a, const void *b, const void *of); /* 1: a is before b */
    const void *of;                        /* third argument of `before`; borrowed */
    void (*moved)(void *item, int64_t at); /* told the new index of an item; NULL */
} weft_heap;
#define WEFT_HEAP_ITEM 64

/* Adds an item; a full heap is copied to larger memory from mem. Cost O(log n), as of all
 * functions of heaps. */
void weft_heap_push(weft_heap *heap, const void *item, weft_arena *mem);
/* Removes the item at an index, 0: the first, and copies it to *item. */
void weft_heap_take(weft_heap *heap, int64_t at, void *item);
/* Puts the item at an index to its place after it has changed. */
void weft_heap_settle(weft_heap *heap, int64_t at);

#endif
