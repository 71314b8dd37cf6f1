/* The supervisor of a program: a process of weft between a rank and the program that it
 * runs. It runs the program in its own process group, and ends the group when the rank
 * requests it or has died, so that no program writes after the end of its run. It is a
 * separate process because a process that uses MPI must not fork, and because a rank cannot
 * catch SIGKILL. */
#include "weft/clock.h"
#include "weft/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#define GRACE 5.0 /* seconds between SIGTERM and SIGKILL */

static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE};
#define NIGNORED (int)(sizeof ignored / sizeof *ignored)

static void on_child(int number)
{
    (void)number; /* does nothing: the signal only makes pselect return */
}

/* The rank's other files, among them the journal, which is locked as long as it is open;
 * the link and so many descriptors behind it stay. */
static void close_others(int link, int more)
{
    enum { MOST = 4096 };
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) {
        for (int fd = STDERR_FILENO + 1; fd < MOST; fd++)
            if (fd < link || fd > link + more) close(fd);
        return;
    }
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        int fd = atoi(entry->d_name);
        int kept = fd <= STDERR_FILENO || (fd >= link && fd <= link + more);
        if (!kept && fd != dirfd(dir)) close(fd);
    }
    closedir(dir);
}

__attribute__((noreturn)) static void become(const char *run, int link, pid_t parent)
{
    sigset_t none;
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(EXIT_FAILURE);
    for (int i = 0; i < NIGNORED; i++) signal(ignored[i], SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close(link);
    execl("/bin/sh", "sh", "-c", run, (char *)NULL);
    _exit(WEFT_NO_PROGRAM);
}

/* Waits for the child's end, a byte from the rank or the time `until` (0: none). Returns -1
 * if the rank has died, 1 if it requests the program's end. */
static int wait_for_word(int link, double until, const sigset_t *while_waiting)
{
    double left = until > 0 ? until - weft_now() : 1;
    const struct timespec wait = {.tv_nsec = (long)(left > 0.5 ? 5e8
                                                    : left > 0 ? left * 1e9
                                                               : 0)};
    fd_set in;
    FD_ZERO(&in);
    FD_SET(link, &in);
    if (pselect(link + 1, &in, NULL, NULL, &wait, while_waiting) <= 0) return 0;
    char word;
    ssize_t n = read(link, &word, 1);
    if (n > 0) return 1;
    return n == 0 || (errno != EINTR && errno != EAGAIN) ? -1 : 0;
}

/* 1 once the program has ended; it is not reaped, so that no other process gets its number.
 */
static int has_ended(pid_t pid)
{
    siginfo_t info = {0};
    int got = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return got == 0 && info.si_pid == pid;
}

static void supervise(pid_t pid, int link, const sigset_t *while_waiting)
{
    double until = 0;
    while (!has_ended(pid)) {
        int word = wait_for_word(link, until, while_waiting);
        if (word < 0) kill(-pid, SIGKILL);
        if (word < 0) return;
        if (word > 0 && until <= 0) {
            kill(-pid, SIGTERM);
            until = weft_now() + GRACE;
        }
        if (until > 0 && weft_now() >= until) kill(-pid, SIGKILL);
    }
}

int weft_process_child(int argc, char **argv)
{
    if (argc != WEFT_CHILD_ARGS) return EXIT_FAILURE;
    char *more;
    int link = (int)strtol(argv[WEFT_CHILD_ARGS - 2], &more, 10);
    const char *run = argv[WEFT_CHILD_ARGS - 1];
    sigset_t child, before;
    int passed = atoi(more); /* "+2" */
    close_others(link, passed);
    unsetenv(WEFT_CHILD_MARK);
    for (int i = 0; i < NIGNORED; i++) signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, on_child);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    sigdelset(&before, SIGCHLD);

    pid_t self = getpid(), pid = fork();
    if (pid == 0) become(run, link, self);
    for (int fd = link + 1; fd <= link + passed; fd++) close(fd);
    int status = EXIT_FAILURE << 8; /* as of waitpid */
    if (pid < 0) {
        perror("no process for the program");
    } else {
        setpgid(pid, pid);
        supervise(pid, link, &before);
        kill(-pid, SIGKILL); /* processes that the program left running */
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    }
    return write(link, &status, sizeof status) == sizeof status ? EXIT_SUCCESS
                                                                : EXIT_FAILURE;
}
