/* Starts and ends supervised processes (child.c). A process that uses MPI must not fork, so
 * that the supervisor, which is another program, is spawned. */
#include "weft/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUPERVISOR_FD (WEFT_PROCESS_FD - 1) /* the supervisor's end of the socket */
#define MIN_FD        16 /* of descriptors passed on, above those of the supervisor */

int weft_process_up(int fd[2])
{
    for (int i = 0; i < 2; i++) {
        int to = fcntl(fd[i], F_DUPFD_CLOEXEC, MIN_FD);
        if (to < 0) return errno;
        close(fd[i]);
        fd[i] = to;
    }
    return 0;
}

/* Signals that may be meant for the whole run, and do not end the supervisor: they are
 * blocked until it ignores them. */
static void fill_asking(sigset_t *set)
{
    static const int asking[] = {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++) sigaddset(set, asking[i]);
}

static void fill_files(posix_spawn_file_actions_t *files, int link, int nfd, const int *fd)
{
    posix_spawn_file_actions_init(files);
    posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(files, fd[0], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(files, fd[1], STDERR_FILENO);
    posix_spawn_file_actions_adddup2(files, link, SUPERVISOR_FD);
    for (int i = 2; i < nfd; i++)
        posix_spawn_file_actions_adddup2(files, fd[i], WEFT_PROCESS_FD + i - 2);
}

static int spawn(weft_process *process, const char *run, char *const *env, int link,
                 int nfd, const int *fd, weft_arena *tmp)
{
    char *self = weft_arena_text(tmp, "/proc/self/exe");
    if (access(self, X_OK) != 0) self = weft_arena_text(tmp, "weft");
    char *argv[WEFT_CHILD_ARGS + 1] = {
        weft_arena_text(tmp, "weft"), weft_arena_text(tmp, "%s", WEFT_CHILD_WORD),
        weft_arena_text(tmp, "%d+%d", SUPERVISOR_FD, nfd - 2),
        weft_arena_text(tmp, "%s", run), NULL};
    int n = 0;
    while (env[n]) n++;
    char **own = WEFT_NEW(tmp, char *, n + 2);
    memcpy(own, env, (size_t)n * sizeof *env);
    own[n] = weft_arena_text(tmp, "%s=1", WEFT_CHILD_MARK);

    sigset_t asking;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    fill_asking(&asking);
    fill_files(&files, link, nfd, fd);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &asking);
    int err = posix_spawnp(&process->pid, self, &files, &attr, argv, own);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return err;
}

weft_status weft_process_start(weft_process *process, const char *run, char *const *env,
                               int nfd, const int *fd)
{
    *process = (weft_process){.link = -1};
    int link[2], err = socketpair(AF_UNIX, SOCK_STREAM, 0, link) == 0 ? 0 : errno;
    if (err != 0) return weft_fail(WEFT_EFILE, "cannot start a program: %s", strerror(err));
    weft_arena *tmp = weft_arena_new();
    err = weft_process_up(link);
    if (err == 0) err = spawn(process, run, env, link[1], nfd, fd, tmp);
    close(link[1]);
    weft_arena_free(tmp);
    process->link = link[0];
    if (err == 0) return WEFT_OK;
    process->pid = 0;
    weft_process_drop(process);
    return weft_fail(WEFT_EFILE, "cannot start a program: %s", strerror(err));
}

void weft_process_ask(const weft_process *process)
{
    if (process->link < 0) return;
    ssize_t n = send(process->link, "T", 1, MSG_NOSIGNAL);
    (void)n; /* if it has ended, its end of the socket is closed, which is heard */
}

void weft_process_hear(weft_process *process)
{
    ssize_t n = recv(process->link, &process->status, sizeof process->status, MSG_WAITALL);
    if (n < 0 && errno == EINTR) return;
    process->ended = n == sizeof process->status;
    close(process->link);
    process->link = -1;
}

void weft_process_drop(weft_process *process)
{
    if (process->link >= 0) close(process->link);
    process->link = -1;
    while (process->pid > 0 && waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) {}
    process->pid = 0;
}
