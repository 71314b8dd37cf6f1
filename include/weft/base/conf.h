/* Options of plug-ins, as tables; input files with their sections and keys; names that are
 * near; lists of patterns. */
#ifndef LIBWEFT_BASE_CONF_H
#define LIBWEFT_BASE_CONF_H

#include "weft/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* ---- names ---- */

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

/* ---- patterns ---- */

/* Distinct patterns of 64 bits in a hash table; all zero: none. */
typedef struct weft_patterns {
    uint64_t *key; /* [room] pattern + 1; 0: a free place */
    int64_t n, room;
} weft_patterns;

/* Adds a pattern other than that of all ones. 1: it was not there. Cost O(1). */
int weft_patterns_add(weft_patterns *patterns, uint64_t bits, weft_arena *mem);

/* ---- opt ---- */

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
    WEFT_GROWS,       /* between sessions, to more: "resource", what a resume may give the
                         only job of a run in addition; else how long a search is */
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
    int own;             /* 1: a key of the user's, whose `def` is only some value */
    int names_file; /* 1: the value may name a file that the run reads, which a resume is
                       to find as it was */
    int leads;      /* 1: most depends on it, as on a learning rate: searches that take
                       axes one by one begin with it */
} weft_opt;

/* The rows of a table. The option sets `member` of the struct `object`: a member of another
 * type does not compile. After the description ".words = ..." and ".role = ..." may follow,
 * as in any initialiser. */
#define WEFT_INT_OPT(key, object, member, preset, low, high, ...)                          \
    WEFT_ROW(WEFT_INT, int, key, object, member, preset, .lo = low, .hi = high,            \
             .about = __VA_ARGS__)
#define WEFT_LONG_OPT(key, object, member, preset, low, high, ...)                         \
    WEFT_ROW(WEFT_LONG, int64_t, key, object, member, preset, .lo = low, .hi = high,       \
             .about = __VA_ARGS__)
#define WEFT_REAL_OPT(key, object, member, preset, low, high, ...)                         \
    WEFT_ROW(WEFT_REAL, double, key, object, member, preset, .lo = low, .hi = high,        \
             .about = __VA_ARGS__)
#define WEFT_BOOL_OPT(key, object, member, preset, ...)                                    \
    WEFT_ROW(WEFT_BOOL, int, key, object, member, preset, .about = __VA_ARGS__)
#define WEFT_CHOICE_OPT(key, object, member, preset, choices, ...)                         \
    WEFT_ROW(WEFT_CHOICE, int, key, object, member, preset, .words = choices,              \
             .about = __VA_ARGS__)
#define WEFT_TEXT_OPT(key, object, member, preset, ...)                                    \
    WEFT_ROW(WEFT_TEXT, const char *, key, object, member, preset, .about = __VA_ARGS__)
#define WEFT_ROW(kind, ctype, key, object, member, preset, ...)                            \
    {                                                                                      \
        .name = key, .type = kind, .at = WEFT_AT(object, member, ctype), .def = preset,    \
        __VA_ARGS__                                                                        \
    }
/* Offset of a member of that type. */
#define WEFT_AT(object, member, type)                                                      \
    _Generic(((object *)0)->member, type : offsetof(object, member))

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

/* One of that struct's options. After the description ".when = ..." may follow. */
#define WEFT_KIND(key, object, table, ...)                                                 \
    {                                                                                      \
        .name = key, .size = sizeof(object), .opts = table, .about = __VA_ARGS__           \
    }
/* How the definition of a plug-in begins: that of the constant weft_tuner_random, which
 * registry.h names, by WEFT_PLUGIN(tuner, random). */
#define WEFT_PLUGIN(type, name)                                                            \
    extern const weft_##type weft_##type##_##name;                                         \
    const weft_##type weft_##type##_##name

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
/* The value in the instance, likewise, of any type. Owned by mem. */
const char *weft_opt_told(const weft_opt *opt, const void *self, weft_arena *mem);
/* The same of the option `name` of a table, one of it; NULL where it has its default. */
const char *weft_opt_given(const weft_opt *opts, const void *self, const char *name,
                           weft_arena *mem);
/* 1 if the option may be given a range, which makes it an axis of the search. */
int weft_opt_tunable(const weft_opt *opt);
/* 1 if key is the option's name or a synonym of it (case counts). */
int weft_opt_is(const weft_opt *opt, const char *key);
/* The option of that name or synonym in a table; NULL: there is none. */
const weft_opt *weft_opt_find(const weft_opt *opts, const char *key);
/* The option's name without synonyms, into text[n]. */
void weft_opt_name(const weft_opt *opt, char *text, size_t n);

/* ---- conf ---- */

/* One "key = value" of an input file or of the command line. */
typedef struct weft_entry {
    const char *section, *key, *value;
    const char *file; /* file that it is from, "command line" or "default" */
    int line;         /* 0 for the command line, -1 for a default */
    int used;         /* 1: the run has read it */
    int names_file;   /* 1: likewise, and that option's value may name a file */
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
/* Writes a range as other programs have it as a range of weft's, before "when" and "per
 * trial", so that nothing that follows differs:
 *     uniform(a, b), loguniform(a, b)   a .. b, log a .. b of real numbers, 1 as 1.0
 *     [x, "y"], x, y                    x | y; without brackets, where the key is the
 *                                       user's own, numbers alone
 * Only of options that may be axes; anything else stays. Texts are owned by mem. */
void weft_entry_respell(weft_entry *entry, const weft_opt *opt, weft_arena *mem);
/* The options of a section with weft_own_keys, made from the values that the user wrote:
 *     a .. b, log a .. b   numbers; integers where both ends are written as such, also
 *                          "a .. b step c"; of clients (WEFT_PER_SAMPLE), unless "per
 *                          trial" follows a range
 *     x | y | z            WEFT_WORDS; also x where a clause "when" follows
 *     "text" or 'text'     WEFT_TEXT, whatever stands between the quotes
 *     otherwise            WEFT_TEXT, also a value with ".." that is not between numbers
 * in the order of the entries, which count as used. Keys are made of letters of any
 * language, digits, blanks, "_", "-", "." and "%"; ECONF, also for what other programs take
 * as a range, {1, 2} or hp.choice(...), but for what weft_entry_respell knows. *out is
 * owned by mem. */
WEFT_CHECKED weft_status weft_conf_open(const weft_conf *conf, const weft_kind *kind,
                                        weft_arena *mem, const weft_kind **out);
/* ECONF if an entry was never used: the message names it, its line and the nearest of the
 * names sections[n]. */
WEFT_CHECKED weft_status weft_conf_unused(const weft_conf *conf,
                                          const char *const *sections, int n);
/* The whole configuration as .ini text, which weft_conf_text reads back. Owned by mem. */
const char *weft_conf_echo(const weft_conf *conf, weft_arena *mem);

/* The table of a plug-in whose keys the user may choose freely: it is empty, and
 * weft_conf_open makes the table that is used from the entries that the user wrote. */
extern const weft_opt weft_own_keys[];

/* 1 if the value is a range: it contains "..", "|" or a clause "when". */
int weft_is_range(const char *value);
/* 1 for a value that stands in quotes of one kind as a whole, and is no range. */
int weft_is_quoted(const char *value);
/* The start of the first clause "WORD key = " in a value; NULL: there is none. */
const char *weft_clause(const char *value, const char *word);
/* Characters of the range in a value, those before its conditions: 6 of "1 .. 3 when kind =
 * tfidf", and of "1 .. 3 per trial", of which *per_trial is 1, else 0. */
int weft_range_length(const char *value, int *per_trial);
/* Of an interval that ends with "near x", before "per trial" and conditions, and before
 * which that length ends: x, *n characters. NULL: it does not. */
const char *weft_range_near(const char *value, int *n);

#endif
