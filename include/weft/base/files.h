/* Names of weft's files, kinds of files by their first bytes, lines of CSV, directories. */
#ifndef LIBWEFT_BASE_FILES_H
#define LIBWEFT_BASE_FILES_H

#include "weft/base/base.h"

#include <stddef.h>
#include <stdio.h>

/* ---- filenames ---- */

/* Names of the files that weft makes in the directory NAME.d of a run, in NAME.failed, and
 * for a while beside a file that it writes or where temporary files are. Who writes them,
 * who removes them and the tests share this table. Each name is a format: who writes prints
 * it, and who removes takes for weft's what it can have printed. */

/* In NAME.d. */
#define WEFT_JOURNAL_NAME    "journal"         /* of the first team; it is removed last */
#define WEFT_TEAM_NAME       "journal-%d"      /* of another team */
#define WEFT_STATE_NAME      "state-%lld-%lld" /* trial, job */
#define WEFT_FILES_NAME      "files-%lld-%lld" /* trial, job: a directory */
#define WEFT_CHECKPOINT_NAME "checkpoint-%lld" /* job */
#define WEFT_CLAIM_NAME      "claim-%lld"      /* job */
#define WEFT_TICKET_NAME     "ticket-%lld"     /* ticket */
#define WEFT_STALLED_NAME    "stalled-%d"      /* rank */
#define WEFT_WORKER_NAME     "worker-%d"       /* rank: what its worker printed */
#define WEFT_PROGRAM_NAME    "program-%d" /* rank: what the program that it keeps printed */
#define WEFT_LOCK_NAME       "weft-lock"  /* ends with WEFT_TEMP_NAME */

/* In NAME.failed, beside journals and the winner's state. */
#define WEFT_FAILED_NAME "%lld-%lld.log" /* trial, job: what a failed job printed */

/* What ends with WEFT_TEMP_NAME: a file in DIR of `weft doctor` or a directory in TMPDIR; a
 * directory there of weft.Search or weft.read, with a random word behind it, whose host has
 * another number (python/weft_search.py). */
#define WEFT_DOCTOR_NAME "weft-doctor"
#define WEFT_PYTHON_NAME "weft-python"

/* Endings, of what becomes another name or goes again. */
#define WEFT_TEMP_NAME    ".tmp.%08x.%07lld"     /* host and process that write a file */
#define WEFT_SCRATCH_NAME ".scratch.%08x.%07lld" /* the same: a copy of standard input, */
#define WEFT_ROWS_NAME    ".rows.%08x.%07lld"    /* rows that are packed to be predicted */
#define WEFT_ASIDE_NAME   ".tmp.%lld"            /* a directory, until its job has ended */
#define WEFT_LOG_NAME     ".tmp.%lld.log"        /* what that job prints */

/* All of them, up to NULL. */
extern const char *const weft_run_names[], *const weft_failed_names[],
                                               *const weft_name_endings[];

/* 1 if a file in NAME.d is weft's, also one that a killed process was writing. */
int weft_is_of_run(const char *name);

/* 1 if a file in NAME.failed is weft's. */
int weft_is_of_failed(const char *name);

/* 1 if the name is what the format prints. */
int weft_is_named(const char *name, const char *format);

/* What a name that begins with `name` ends with: 1 if it is of a file that a process was
 * writing, with the host and the process in its ending. */
int weft_is_temporary(const char *ending, unsigned *host, long long *process);

/* ---- magic ---- */

/* EDATA where text[n], the beginning of file `path`, is that of a known kind of file that
 * is no text in UTF-8: compressed, an archive, HDF5, NumPy, Parquet, UTF-16 and others; the
 * message names the kind and the remedy. 262 bytes tell all of them. */
WEFT_CHECKED weft_status weft_text_only(const char *path, const char *text, size_t n);

/* ---- csv ---- */

enum { WEFT_CSV_NUMBER = 32 };
/* The shortest text of 15 digits or more from which strtod reads the same number, whole
 * numbers below 1e17 without an exponent. Returns text[WEFT_CSV_NUMBER]. */
const char *weft_csv_number(double x, char *text);
/* Writes a text in quotation marks, its own doubled. */
void weft_csv_quote(FILE *file, const char *text);
/* The same where it has a comma, a quotation mark or an end of line, else as it is. */
void weft_csv_text(FILE *file, const char *text);

/* ---- tables ---- */

/* A row of a table of text: lines of fields between TABs, in quotation marks where they
 * need them (RFC 4180); empty lines do not count. */
typedef struct weft_lines {
    const char *path;  /* for messages */
    weft_status wrong; /* status where a row has another number of fields than the first */
    int commas;        /* 1: fields are between commas where the first line has no TAB */
    int line;          /* of the row, from 1 */
    int n;             /* fields */
    char **field;      /* [n] valid until the next row */
    /* of weft_lines_read */
    int width, whole; /* fields of the first row; 1: the row is complete */
    int64_t room;
    weft_arena *mem;
} weft_lines;
/* Passes the rows of a file, which it closes, to `take`, the names of columns first, until
 * that fails. Path, status and commas are set by the caller, all else is 0. EFILE. */
WEFT_CHECKED weft_status weft_lines_read(weft_lines *rows, FILE *in,
                                         weft_status (*take)(void *own,
                                                             const weft_lines *row),
                                         void *own);

/* ---- tree ---- */

/* Copies the directory `from` and everything in it to `to`, which may exist if it is empty:
 * contents, modes and times of files, symbolic links as links; no sockets, pipes or
 * devices. EFILE: what was copied so far stays. */
WEFT_CHECKED weft_status weft_tree_copy(const char *from, const char *to);
/* Writes all files in a directory through to the disk (fsync; one syncfs for many), so that
 * they survive a crash of the node. EFILE. */
WEFT_CHECKED weft_status weft_tree_sync(const char *path);
/* *sum: 64 bits that depend on every name and byte in a directory, or on the bytes of a
 * file, not on modes and times; 0: there is neither. EFILE. Cost: reads all of it, as long
 * as a copy takes. */
WEFT_CHECKED weft_status weft_tree_sum(const char *path, uint64_t *sum);
/* Removes a directory and everything in it, as far as permissions allow; does nothing if
 * there is none. Symbolic links are not followed. */
void weft_tree_remove(const char *path);

#endif
