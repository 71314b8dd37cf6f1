/* Options of plug-ins: tables of name, type, default and bounds, which set the members of a
 * struct. */
#ifndef WEFT_OPT_H
#define WEFT_OPT_H

#include "weft/arena.h"
#include "weft/status.h"

#include <stddef.h>
#include <stdint.h>

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
    int leads;           /* 1: most depends on it, as on a learning rate: searches that take
                            axes one by one begin with it */
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
/* The option's name without synonyms, into text[n]. */
void weft_opt_name(const weft_opt *opt, char *text, size_t n);

#endif
