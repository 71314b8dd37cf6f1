/* What the files of task command share. A job is a run of a program, in a directory of its
 * own, or what a program that is kept is asked for. */
#ifndef WEFT_TASK_COMMAND_COMMAND_H
#define WEFT_TASK_COMMAND_COMMAND_H

#include "task/programs.h"
#include "weft/base/conf.h"
#include "weft/task/state.h"

typedef struct command_serve command_serve; /* the program of this rank, which is kept */

/* The task. */
typedef struct command_task {
    const char *run, *loss;
    double time_limit;
    int retries, serves, state, keep;
    weft_env env;
    const char *dir;      /* absolute path of env.dir */
    command_serve *serve; /* serve.c; NULL: each job starts the program */
    char why[1024];       /* the last failure */
} command_task;

/* Columns of a row: a report of a program that is kept. */
enum { COMMAND_STEP, COMMAND_LOSS, COMMAND_COLUMNS };

/* The outcome of a job. */
typedef struct command_outcome {
    weft_trace after;
    double loss, error, train_loss;
    weft_failure failure;
    const char *note, *why; /* of the first rank */
    int64_t nrow;           /* reports, likewise */
    const double *row;      /* [nrow][COMMAND_COLUMNS] */
    const weft_spent *spent;
} command_outcome;

/* ---- attempt.c: the directories in which programs run, and their logs ---- */

/* The directory of an attempt at a job is a copy of the one that the job continues, under a
 * temporary name; it gets the job's name when the program has ended. A directory with a
 * job's name is therefore complete, also after a kill at any time, and no other process
 * writes to it. The log of what the program prints is a file beside its directory, which
 * the program may empty or remove, until the program has ended. */

#define COMMAND_LOG_BYTES (1 << 20) /* of a log that is kept */

/* The directory that a job continues. */
typedef struct attempt_parent {
    const char *path;
    int64_t job; /* that made it */
} attempt_parent;

/* Path of the directory of a job in `dir`. Owned by mem. */
const char *attempt_path(const char *dir, int64_t trial, int64_t job, weft_arena *mem);

/* Makes the directory of an attempt at the job whose directory is `path`, after removing
 * those of killed attempts at it. parent NULL: an empty one. *attempt: its path, owned by
 * tmp. EFILE, also if the parent is missing. */
WEFT_CHECKED weft_status attempt_begin(const attempt_parent *parent, const char *path,
                                       const char **attempt, weft_arena *tmp);

/* The directory of an attempt that is going to be removed, beside those of `path`. EFILE.
 */
WEFT_CHECKED weft_status attempt_make(const char *path, const char **attempt,
                                      weft_arena *tmp);

/* Moves the log of an attempt that failed to the directory `failed`, as TRIAL-JOB.log,
 * unless there are enough already. Returns its path, owned by tmp, or NULL. */
const char *attempt_keep_log(const char *attempt, const char *failed, int64_t trial,
                             int64_t job, weft_arena *tmp);

/* Path of the log of an attempt. Owned by mem. */
const char *attempt_log(const char *attempt, weft_arena *mem);

/* Moves the log of an attempt into its directory. Returns NULL, or why the directory cannot
 * be kept as its program left it. */
const char *attempt_take_log(const char *attempt, weft_arena *tmp);

/* Gives the directory of an attempt its final name, after writing its files to disk.
 * EFILE. */
WEFT_CHECKED weft_status attempt_keep(const char *attempt, const char *path);

/* Removes the directory of an attempt and its log. */
void attempt_drop(const char *attempt);

/* The log of an attempt: what the program printed, of which the middle is left out where it
 * is more than `most` bytes. */
typedef struct weft_output {
    int fd;
    int64_t most, seen; /* bytes: kept; printed so far */
    char *tail;         /* [most/2] ring of the last ones */
    int err;            /* first errno of writing, 0 */
} weft_output;

/* EFILE. */
WEFT_CHECKED weft_status weft_output_open(weft_output *output, const char *path,
                                          int64_t most, weft_arena *mem);
void weft_output_add(weft_output *output, const char *bytes, size_t n);
/* Writes the rest. EFILE. */
WEFT_CHECKED weft_status weft_output_close(weft_output *output, const char *path);

/* ---- printed.c: what a program prints ---- */

enum { WEFT_STREAMS = 2 }; /* standard output, standard error */

/* What a program printed behind a name and "=". */
typedef enum weft_said {
    WEFT_SAID_NOTHING,
    WEFT_SAID_NUMBER,
    WEFT_SAID_HUGE,   /* a number beyond the range of double */
    WEFT_SAID_LONG,   /* a word that is longer than any number */
    WEFT_SAID_BROKEN, /* begins as a number and goes on otherwise: 0,25 or 4s */
    WEFT_SAID_TEXT    /* anything else, or nothing */
} weft_said;

typedef struct weft_number {
    weft_said said;
    double value;  /* NaN unless it is a number */
    char text[96]; /* the beginning of "name=..." as it was printed */
} weft_number;

/* What was read of a stream. */
typedef struct weft_stream {
    weft_names names;    /* of numbers; the wanted ones are the first */
    int64_t nwanted;     /* how many these are */
    int64_t most;        /* names that are kept */
    weft_number *number; /* [most] the last of each name */
    int at, escape;      /* where in a word, in an escape sequence, the last byte was */
    char word[4096];     /* [n] "name=text" */
    size_t n, value;     /* bytes; index behind the = */
    int cut;             /* 1: there was no room for all of the word */
    char line[256];      /* [nline] beginning of the line */
    size_t nline;
    char last[256]; /* beginning of the last line that was not empty */
} weft_stream;

typedef struct weft_printed {
    weft_stream stream[WEFT_STREAMS];
    int left_out; /* 1: there were more than WEFT_MAX_NUMBERS names */
} weft_printed;

/* For a program of whose wanted[nwanted] names it must be known what it printed last,
 * number or not. Of other names the last number on standard output is kept. Owned by mem.
 */
weft_printed *weft_printed_new(int nwanted, const char *const *wanted, weft_arena *mem);
/* Takes bytes[n] of standard output (stream 0) or standard error (1). */
void weft_printed_add(weft_printed *printed, int stream, const char *bytes, size_t n);
/* Takes lines without an end as ended. */
void weft_printed_end(weft_printed *printed);
/* The last of that name on a stream; NULL: there was none. */
const weft_number *weft_printed_find(const weft_printed *printed, int stream,
                                     const char *name);
/* The last line that the program printed to standard error, else to standard output, else
 * "". */
const char *weft_printed_last(const weft_printed *printed);

/* ---- job.c: a run of a program ---- */

/* The name of the number that is minimised, or maximised; what is minimised. */
const char *command_loss_name(const command_task *command);
double command_minimised(const command_task *command, double x);
/* The job failed; log: where its log is kept, or NULL. */
void command_fail(command_task *command, const char *why, const char *log,
                  command_outcome *outcome);
/* Runs the program of a job in the directory `attempt`, and sets all of *outcome but
 * outcome->after; it is zero on entry. What a program that failed printed is kept.
 * WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status command_attempt(command_task *command, const weft_job *job,
                                         const weft_trace *before, const char *attempt,
                                         command_outcome *outcome, weft_arena *tmp);

/* ---- serve.c: a program that is kept ---- */

/* Makes command->serve, whose program is started by the first job. */
void command_serve_new(command_task *command);

/* Has the program do a job: sets all of *outcome. A failure of the program is one of the
 * job. WEFT_STOP, EFILE. By the first rank of a team. */
WEFT_CHECKED weft_status command_serve_job(command_task *command, const weft_job *job,
                                           const weft_trace *before,
                                           command_outcome *outcome);

/* Ends the program, which the next job starts again. */
void command_serve_end(command_task *command);

extern const weft_holder command_holder;

#endif
