/* Names of the files that weft makes in the directory NAME.d of a run, in NAME.failed, and
 * for a while beside a file that it writes or where temporary files are. Who writes them,
 * who removes them and the tests share this table. Each name is a format: who writes prints
 * it, and who removes takes for weft's what it can have printed. */
#ifndef WEFT_FILENAMES_H
#define WEFT_FILENAMES_H

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

#endif
