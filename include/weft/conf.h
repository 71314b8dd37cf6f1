/* Input files: sections of keys and values, which are bound to the structs of plug-ins. */
#ifndef WEFT_CONF_H
#define WEFT_CONF_H

#include "weft/arena.h"
#include "weft/opt.h"

#include <stddef.h>
#include <stdint.h>

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
 *     a .. b, log a .. b   numbers; integers where both ends are written as such; of
 *                          clients (WEFT_PER_SAMPLE), unless "per trial" follows a range
 *     x | y | z            WEFT_WORDS; also x where a clause "when" follows
 *     "text" or 'text'     WEFT_TEXT, whatever stands between the quotes
 *     otherwise            WEFT_TEXT, also a value with ".." that is not between numbers
 * in the order of the entries, which count as used. Keys are made of letters of any
 * language, digits, blanks, "_", "-", "." and "%"; ECONF, also for what other programs take
 * as a range, [1, 2] or uniform(0, 1). *out is owned by mem. */
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

#endif
