/* Processes that a rank starts: programs of task command, workers of a federation. Each is
 * supervised by a process of weft, which ends it and its process group when the rank asks
 * for that or has died. All functions are local. */
#ifndef WEFT_PROCESS_H
#define WEFT_PROCESS_H

#include "weft/arena.h"
#include "weft/status.h"

#include <sys/types.h>

/* ---- the supervisor ---- */

/* Command line of the supervisor: weft WEFT_CHILD_WORD LINK COMMAND-LINE, where LINK is a
 * socket to the rank; with LINK+N the program inherits the N descriptors behind it, too. */
#define WEFT_CHILD_WORD "--supervise"
#define WEFT_CHILD_ARGS 4
#define WEFT_CHILD_MARK "WEFT_SUPERVISOR" /* set only in its environment */
#define WEFT_NO_PROGRAM 127 /* exit status of a shell that does not find the program */

/* Runs the command line in its own process group until it ends, a byte arrives from LINK
 * (then sends SIGTERM, and SIGKILL 5 s later), or the rank's end closes LINK (then sends
 * SIGKILL). Writes the program's wait status (waitpid) to LINK. Returns the exit status of
 * the supervisor. To be called before MPI starts, by any program that runs task command or
 * workers: it first hands its command line over. */
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

/* Starts `run` by /bin/sh with the environment env, ended by NULL, its input from nowhere.
 * fd[0] and fd[1] become its output and error, fd[2 .. nfd-1] its descriptors
 * WEFT_PROCESS_FD and following; all are of weft_process_up. EFILE. */
WEFT_CHECKED weft_status weft_process_start(weft_process *process, const char *run,
                                            char *const *env, int nfd, const int *fd);
/* Moves both ends of a pipe or socket above the numbers that the supervisor uses, and lets
 * no other program inherit them. Returns 0 or errno. */
int weft_process_up(int fd[2]);
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

#endif
