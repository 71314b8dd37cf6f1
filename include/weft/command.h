/* The process that supervises a program of task command. A program that runs this task, as
 * weft does, first hands its command line over to it. */
#ifndef WEFT_COMMAND_H
#define WEFT_COMMAND_H

/* Command line of the supervisor: weft WEFT_CHILD_WORD LINK COMMAND-LINE, where LINK is a
 * socket to the rank. */
#define WEFT_CHILD_WORD "--supervise"
#define WEFT_CHILD_ARGS 4
#define WEFT_CHILD_MARK "WEFT_SUPERVISOR" /* set only in its environment */
#define WEFT_NO_PROGRAM 127 /* exit status of a shell that does not find the program */

/* Runs the command line in its own process group until it ends, a byte arrives from LINK
 * (then sends SIGTERM, and SIGKILL 5 s later), or the rank's end closes LINK (then sends
 * SIGKILL). Writes the program's wait status (waitpid) to LINK. Returns the exit status of
 * the supervisor. To be called before MPI starts. */
int weft_command_child(int argc, char **argv);

#endif
