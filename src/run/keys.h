/* Keys of an input file that a run does not read. */
#ifndef WEFT_RUN_KEYS_H
#define WEFT_RUN_KEYS_H

#include "instance.h"

/* Checks the entries that this run does not read. Their values must be valid. With fresh =
 * 1 an unread entry is an error, with these exceptions for plain values in a file: options
 * of other tuners, options of a plug-in in place of which the command line names another,
 * and values equal to the default. Sets run->unread. ECONF. */
WEFT_CHECKED weft_status weft_run_keys(weft_run *run, int fresh);

/* 1: an option of a plug-in is read with the others as they are in self. */
int weft_run_reads(const weft_kind *kind, const void *self, const char *name);

/* Replaces an entry of a run that is resumed by the assignment "section.key=value" of an
 * option on which no result depends (WEFT_PER_SESSION), or that may grow (WEFT_GROWS). Sets
 * *grown to 1 if it has grown. The value that it has already changes nothing. ECONF:
 * another one, or less. */
WEFT_CHECKED weft_status weft_run_change(weft_conf *conf, const char *assignment,
                                         int *grown);
/* What the assignment gives a run more of. */
weft_growth weft_run_grows(const char *assignment, weft_arena *mem);

/* Names of all sections an input file may have. Owned by mem. */
const char *const *weft_run_sections(weft_arena *mem, int *n);

#endif
