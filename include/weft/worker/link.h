/* Supervised programs, and the protocol of workers. */
#ifndef LIBWEFT_WORKER_LINK_H
#define LIBWEFT_WORKER_LINK_H

#include "weft/base/base.h"

#include <stdint.h>
#include <sys/types.h>

/* ---- the supervisor: a process of weft for each program or worker that a rank starts,
 * which ends it and its process group when the rank asks for that or has died. All
 * functions are local ---- */

/* Its command line: weft WEFT_CHILD_WORD LINK+N COMMAND-LINE, where LINK is a socket to the
 * rank, and the program inherits the N descriptors behind it. */
#define WEFT_CHILD_WORD "--supervise"
#define WEFT_CHILD_ARGS 4
#define WEFT_CHILD_MARK "WEFT_SUPERVISOR" /* set only in its environment */
#define WEFT_NO_PROGRAM 127 /* exit status of a shell that does not find the program */

/* Runs the command line in its own process group until it ends, a byte arrives from LINK
 * (SIGTERM, and SIGKILL 5 s later), or the rank's end closes LINK (SIGKILL). Writes the
 * program's wait status to LINK. Returns the exit status of the supervisor. To be called
 * before MPI starts. */
int weft_process_child(int argc, char **argv);

/* ---- the rank ---- */

typedef struct weft_process {
    pid_t pid;  /* of the supervisor; 0: none */
    int link;   /* socket to it: readable once the process has ended; -1: it was read */
    int ended;  /* 1: status is that of the process; 0: its supervisor was killed */
    int status; /* as of waitpid */
} weft_process;

/* The first descriptor that is passed on beside standard output and error. */
#define WEFT_PROCESS_FD 4

/* Starts `run` by /bin/sh with the environment env, ended by NULL. fd[0] and fd[1] become
 * its output and error, fd[2 .. nfd-1] its descriptors WEFT_PROCESS_FD and following; all
 * are of weft_process_up. EFILE. */
WEFT_CHECKED weft_status weft_process_start(weft_process *process, const char *run,
                                            char *const *env, int nfd, const int *fd);
/* Moves both ends of a pipe or socket above the numbers that the supervisor uses, and lets
 * no other program inherit them. Returns 0 or errno. */
int weft_process_up(int fd[2]);
/* Closes *fd unless it is -1, which it becomes. */
void weft_process_close(int *fd);
/* Asks the supervisor to end the process, unless it has ended. */
void weft_process_ask(const weft_process *process);
/* Reads how it ended: the link is readable. */
void weft_process_hear(weft_process *process);
/* Ends it at once, if it has not ended, and waits for its supervisor. */
void weft_process_drop(weft_process *process);

/* The environment that this process was started with, without the variables that bind it to
 * its launcher's job, and with name[n] = value[n]; ended by NULL. Owned by mem. */
char **weft_environment(int n, const char *const *name, const char *const *value,
                        weft_arena *mem);

/* ---- the link of a rank to its worker, which it asks by lines of JSON over a socket pair,
 * and shares memory with. src/worker/README.md is the protocol. All functions are local
 * ---- */

#define WEFT_PROTOCOL 1 /* its version */

typedef struct weft_link weft_link;

/* What a worker is. */
typedef struct weft_link_plan {
    const char *noun;      /* "worker", "program" in messages */
    const char *key;       /* option of its time limit, likewise */
    const char *run;       /* command line for /bin/sh */
    const char *log;       /* file to which what it prints is added; NULL: it is not kept */
    double limit;          /* seconds that an answer may take; 0: any time */
    int rank;              /* of the run */
    int (*leaves)(void *); /* asked while an answer is awaited: 1: do not wait for it */
    void *of;              /* its argument */
} weft_link_plan;

/* The link of such a worker, which is not started yet; owned by mem. */
weft_link *weft_link_new(const weft_link_plan *plan, weft_arena *mem);
/* 1: the worker has been started, and no failure was seen since. */
int weft_link_lives(const weft_link *link);
/* 1: it runs. One that has ended since its last answer is to be started again. */
int weft_link_runs(weft_link *link);
/* Starts the worker. EFILE. */
WEFT_CHECKED weft_status weft_link_start(weft_link *link);
/* Answers are awaited for so many seconds from now on; 0: as plan.limit says again. */
void weft_link_within(weft_link *link, double seconds);
/* What it prints from now on is what messages show, and weft_link_print copies. */
void weft_link_mark(weft_link *link);
/* Writes that to a file, of more than `most` bytes the last ones. EFILE. */
WEFT_CHECKED weft_status weft_link_print(const weft_link *link, const char *path,
                                         size_t most);
/* Sends a line of n characters with its end. WEFT_STOP: plan.leaves says so; WEFT_EWORKER:
 * the worker ended, or took too long; EDATA: it sent a line though all were answered. It
 * then no longer runs. */
WEFT_CHECKED weft_status weft_link_send(weft_link *link, const char *text, size_t n);
/* 1: a line may be sent before the last one has its answer; 0: the worker has printed so
 * much that its log is to be cut when it waits. */
int weft_link_keeps_pace(const weft_link *link);
/* Waits for the answer to the first line that was sent and has none yet: *line, without its
 * end, valid until the next call. WEFT_STOP, WEFT_EWORKER, EDATA as weft_link_send. */
WEFT_CHECKED weft_status weft_link_hear(weft_link *link, const char **line);
/* Sends a line, and waits for its answer. */
WEFT_CHECKED weft_status weft_link_ask(weft_link *link, const char *text, size_t n,
                                       const char **line);
/* The memory that is shared with the worker, of at least so many bytes, those behind its
 * end being 0; valid until the next call. EFILE. */
WEFT_CHECKED weft_status weft_link_memory(weft_link *link, size_t bytes, void **memory);
/* Bytes that it has. */
size_t weft_link_size(const weft_link *link);
/* Ends the worker. Returns st with the message "the worker of rank R, `COMMAND LINE`, WHY;
 * its last lines ...". */
WEFT_CHECKED weft_status weft_link_fail(weft_link *link, weft_status st, const char *fmt,
                                        ...) WEFT_PRINTF(3, 4);
/* Ends the worker. */
void weft_link_drop(weft_link *link);

#endif
