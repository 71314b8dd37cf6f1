/* Supervised programs: their environment, the supervisor, and how it is started and ended.
 *
 * The supervisor is a process of weft between a rank and the program that it runs. It runs
 * the program in its own process group, and ends the group when the rank requests it or has
 * died, so that no program writes after the end of its run. It is a separate process
 * because a process that uses MPI must not fork, so that it is spawned, and because a rank
 * cannot catch SIGKILL. */
#include "weft/base/base.h"
#include "weft/math/kernels.h"
#include "weft/worker/link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#define GRACE         5.0                   /* seconds between SIGTERM and SIGKILL */
#define SUPERVISOR_FD (WEFT_PROCESS_FD - 1) /* the supervisor's end of the socket */
#define MIN_FD        16 /* of descriptors passed on, above those of the supervisor */

extern char **environ;

/* Signals that may be meant for the whole run, and of a rank that has died, which do not
 * end the supervisor: they are blocked until it ignores them. */
static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE};
#define NIGNORED (int)(sizeof ignored / sizeof *ignored)

/* ---- the environment of a program: that of this process, without the variables that bind
 * it to the job of its launcher, so that the program can use MPI itself ---- */

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* 1: it begins with one of these, which blanks separate. */
static int begins_any(const char *text, const char *with)
{
    for (size_t n; *with; with += n + (with[n] == ' ')) {
        n = strcspn(with, " ");
        if (strncmp(text, with, n) == 0) return 1;
    }
    return 0;
}

/* What launchers set for each process, and what of that is no such variable. */
static const char *const no_place = "PMIX_MCA_ PMIX_PREFIX= PMIX_INSTALL_PREFIX=";
static const char *const place_in_job =
    "PMI_ PMI2_ PMIX_ PALS_ HYDI_ MPI_LOCALRANKID= MPI_LOCALNRANKS= "
    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME= PRTE_LAUNCHED= OMPI_COMM_WORLD_ OMPI_WORLD_ "
    "OMPI_UNIVERSE_SIZE= OMPI_APP_ OMPI_NUM_APP_CTX= OMPI_FIRST_RANKS= "
    "OMPI_FILE_LOCATION= OMPI_COMMAND= OMPI_ARGV= OMPI_MCA_initial_wdir= "
    "OMPI_MCA_num_procs= OMPI_MCA_ess= OMPI_MCA_ess_base_ "
    "OMPI_MCA_pmix=^s1,s2,cray OMPI_MCA_mpi_oversubscribe= "
    "OMPI_MCA_shmem_RUNTIME_QUERY_hint= OMPI_MCA_orte_app_num= "
    "OMPI_MCA_orte_bound_at_launch= OMPI_MCA_orte_cpu_ OMPI_MCA_orte_ess_ "
    "OMPI_MCA_orte_hnp_uri= OMPI_MCA_orte_jobfam_session_dir= "
    "OMPI_MCA_orte_launch= OMPI_MCA_orte_local_daemon_uri= "
    "OMPI_MCA_orte_num_nodes= OMPI_MCA_orte_parent_uri= "
    "OMPI_MCA_orte_precondition_transports= OMPI_MCA_orte_top_session_dir= "
    "SLURM_PROCID= SLURM_LOCALID= SLURM_NODEID= SLURM_TASK_PID= SLURM_GTIDS= "
    "SLURM_NTASKS= SLURM_NPROCS= SLURM_STEP SLURM_SRUN_COMM_ "
    "SLURM_LAUNCH_NODE_IPADDR= SLURM_CPU_BIND SLURM_MEM_BIND";

/* 1 for a variable by which a launcher tells a process its place in a job: Open MPI 4 and
 * 5, PMI of any kind, MPICH's hydra, Cray's PALS, srun. With these a program would be taken
 * for a rank of weft's job. What a user sets for all of them, such as OMPI_MCA_btl,
 * PMIX_MCA_gds or the nodes of an allocation, is no such variable. */
static int is_launcher(const char *variable)
{
    return begins_any(variable, place_in_job) && !begins_any(variable, no_place);
}

/* The environment that this process was started with, ended by NULL: MPI and weft have
 * since added to it for themselves. Where the system does not tell it, the one of now. */
static char **first_environment(weft_arena *mem)
{
    char *line = NULL, **env = NULL;
    size_t size = 0;
    int64_t n = 0, room = 0;
    FILE *in = fopen("/proc/self/environ", "r");
    if (!in) return environ;
    while (getdelim(&line, &size, '\0', in) > 0) {
        WEFT_GROW(mem, env, n, &room);
        env[n++] = weft_arena_text(mem, "%s", line);
    }
    free(line);
    fclose(in);
    WEFT_GROW(mem, env, n, &room);
    env[n] = NULL;
    return env;
}

static int is_replaced(const char *variable, int n, const char *const *name)
{
    for (int i = 0; i < n; i++)
        if (begins(variable, name[i]) && variable[strlen(name[i])] == '=') return 1;
    return 0;
}

/* 1 for what this process has told itself alone. */
static int is_own(const char *variable, int chosen)
{
    return chosen &&
           (begins(variable, WEFT_CORE "=") || begins(variable, WEFT_CORE_CHOSEN "="));
}

char **weft_environment(int n, const char *const *name, const char *const *value,
                        weft_arena *mem)
{
    char **old = first_environment(mem);
    int count = 0, at = 0, chosen = 0;
    for (; old[count]; count++) chosen |= begins(old[count], WEFT_CORE_CHOSEN "=");
    char **env = WEFT_NEW(mem, char *, count + n + 1);
    for (int i = 0; i < count; i++)
        if (!is_launcher(old[i]) && !is_own(old[i], chosen) &&
            !is_replaced(old[i], n, name))
            env[at++] = old[i];
    for (int i = 0; i < n; i++)
        env[at++] = weft_arena_text(mem, "%s=%s", name[i], value[i]);
    return env;
}

/* ---- the supervisor ---- */

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

/* ---- the rank's side ---- */

static void fill_ignored(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < NIGNORED; i++) sigaddset(set, ignored[i]);
}

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

void weft_process_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
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

    sigset_t blocked;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    fill_ignored(&blocked);
    fill_files(&files, link, nfd, fd);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &blocked);
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
    WEFT_SCRATCH(tmp);
    err = weft_process_up(link);
    if (err == 0) err = spawn(process, run, env, link[1], nfd, fd, tmp);
    close(link[1]);
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
