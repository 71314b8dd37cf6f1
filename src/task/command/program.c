/* Runs a program under a supervisor (child.c) and reads what it prints. The rank
 * sleeps meanwhile; it wakes for output, for signals and for time limits. */
#include "program.h"
#include "output.h"
#include "weft/clock.h"
#include "weft/command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_INTERVAL 0.2 /* seconds between checks whether the run was asked to stop */
#define OUTPUT_WAIT   1.0 /* seconds for output that other processes may still hold */
#define SIGNAL_WAIT   2.0 /* seconds in which the rank may get its program's signal */
#define SUPERVISOR_FD 3   /* the supervisor's end of the socket */
#define MIN_FD        10  /* of descriptors passed on, above those of the supervisor */

/* A program that runs. */
typedef struct running {
    const weft_program *g;
    weft_printed *printed;
    weft_output output;
    pid_t pid;                /* of the supervisor */
    int stream[WEFT_STREAMS]; /* read ends; -1 at their end */
    int link;                 /* socket to the supervisor; -1 once it has answered */
    int answered, status;
    weft_end end;
    double start;
} running;

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Moves both ends of a pipe or socket above the numbers that the supervisor uses. */
static int move_up(int fd[2])
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

/* Ends of the two pipes and of the socket: [i][0] is the rank's, [i][1] the other's. */
static int open_ends(int end[WEFT_STREAMS + 1][2])
{
    for (int i = 0; i <= WEFT_STREAMS; i++) end[i][0] = end[i][1] = -1;
    for (int i = 0; i <= WEFT_STREAMS; i++) {
        int st =
            i < WEFT_STREAMS ? pipe(end[i]) : socketpair(AF_UNIX, SOCK_STREAM, 0, end[i]);
        if (st != 0) return errno;
        int err = move_up(end[i]);
        if (err != 0) return err;
    }
    return 0;
}

static int spawn(running *r, int end[WEFT_STREAMS + 1][2], weft_arena *tmp)
{
    char *self = weft_arena_text(tmp, "/proc/self/exe");
    if (access(self, X_OK) != 0) self = weft_arena_text(tmp, "weft");
    char *argv[WEFT_CHILD_ARGS + 1] = {weft_arena_text(tmp, "weft"),
                                       weft_arena_text(tmp, "%s", WEFT_CHILD_WORD),
                                       weft_arena_text(tmp, "%d", SUPERVISOR_FD),
                                       weft_arena_text(tmp, "%s", r->g->run), NULL};
    int n = 0;
    while (r->g->env[n]) n++;
    char **env = WEFT_NEW(tmp, char *, n + 2);
    memcpy(env, r->g->env, (size_t)n * sizeof *env);
    env[n] = weft_arena_text(tmp, "%s=1", WEFT_CHILD_MARK);

    sigset_t asking;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    fill_asking(&asking);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &asking);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, end[0][1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, end[1][1], STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, end[2][1], SUPERVISOR_FD);
    int err = posix_spawnp(&r->pid, self, &files, &attr, argv, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return err;
}

static weft_status start(running *r)
{
    int end[WEFT_STREAMS + 1][2];
    weft_arena *tmp = weft_arena_new();
    int err = open_ends(end);
    if (err == 0) err = spawn(r, end, tmp);
    for (int i = 0; i <= WEFT_STREAMS; i++) {
        close_fd(&end[i][1]);
        if (err != 0) close_fd(&end[i][0]);
    }
    weft_arena_free(tmp);
    if (err != 0) return weft_fail(WEFT_EFILE, "cannot start a program: %s", strerror(err));
    for (int i = 0; i < WEFT_STREAMS; i++) {
        r->stream[i] = end[i][0];
        fcntl(r->stream[i], F_SETFL, O_NONBLOCK);
    }
    r->link = end[WEFT_STREAMS][0];
    r->start = weft_now();
    return WEFT_OK;
}

/* ---- while it runs ---- */

/* Asks the supervisor, once, to end the program. */
static void end_it(running *r, weft_end why)
{
    if (r->end != WEFT_END_EXIT) return;
    r->end = why;
    if (r->link < 0) return; /* it has ended */
    ssize_t n = send(r->link, "T", 1, MSG_NOSIGNAL);
    (void)n; /* if it has ended, its end of the socket is closed: take_answer notices */
}

/* Ends the program if the run is to stop. */
static void look_at_run(running *r)
{
    const weft_env *env = r->g->task_env;
    if (env->stopped && env->stopped()) end_it(r, WEFT_END_STOPPED);
    if (env->deadline > 0 && weft_now() >= env->deadline) end_it(r, WEFT_END_STOPPED);
}

static void look(running *r)
{
    look_at_run(r);
    double took = weft_now() - r->start;
    if (r->g->limit > 0 && took >= r->g->limit) end_it(r, WEFT_END_LIMIT);
}

/* Milliseconds until the next look. */
static int patience(const running *r)
{
    double wait = POLL_INTERVAL;
    if (r->g->limit > 0) wait = fmin(wait, r->start + r->g->limit - weft_now());
    return (int)ceil(1e3 * fmax(wait, 1e-3));
}

static void take_output(running *r, int i)
{
    char bytes[65536];
    ssize_t n = read(r->stream[i], bytes, sizeof bytes);
    if (n > 0) {
        weft_printed_add(r->printed, i, bytes, (size_t)n);
        weft_output_add(&r->output, bytes, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        close_fd(&r->stream[i]);
    }
}

/* The program's status, or the end of a supervisor that was killed. */
static void take_answer(running *r)
{
    ssize_t n = recv(r->link, &r->status, sizeof r->status, MSG_WAITALL);
    if (n < 0 && errno == EINTR) return;
    r->answered = n == sizeof r->status;
    close_fd(&r->link);
}

/* Waits up to `wait` milliseconds for output, a signal or the end of the program. Returns 0
 * if none of these occurred. */
static int attend(running *r, int wait)
{
    struct pollfd f[WEFT_STREAMS + 1];
    for (int i = 0; i < WEFT_STREAMS; i++)
        f[i] = (struct pollfd){.fd = r->stream[i], .events = POLLIN};
    f[WEFT_STREAMS] = (struct pollfd){.fd = r->link, .events = POLLIN};
    if (poll(f, WEFT_STREAMS + 1, wait) <= 0) return 0;
    for (int i = 0; i < WEFT_STREAMS; i++)
        if (f[i].revents) take_output(r, i);
    if (f[WEFT_STREAMS].revents) take_answer(r);
    return 1;
}

static int is_open(const running *r)
{
    return r->stream[0] >= 0 || r->stream[1] >= 0;
}

/* A queue that stops a job signals all of its processes, one after the other, so the rank
 * may be told later than its program, whose end was then caused by the
 * queue: a program that failed is checked again, for a while where a signal ended it. */
static void doubt(running *r)
{
    const struct timespec nap = {.tv_nsec = 50000000};
    if (r->end != WEFT_END_EXIT || !r->answered || r->status == 0) return;
    int shell = 128; /* added by sh to the number of a signal */
    int number =
        WIFSIGNALED(r->status) ? WTERMSIG(r->status) : WEXITSTATUS(r->status) - shell;
    sigset_t asking;
    fill_asking(&asking);
    double until = weft_now() + (sigismember(&asking, number) == 1 ? SIGNAL_WAIT : 0);
    for (look_at_run(r); r->end == WEFT_END_EXIT && weft_now() < until; look_at_run(r))
        nanosleep(&nap, NULL);
}

weft_status weft_program_run(const weft_program *program, weft_printed *printed,
                             weft_end *end, int *status)
{
    running r = {.g = program, .printed = printed, .end = WEFT_END_EXIT};
    weft_arena *mem = weft_arena_new();
    weft_status st = weft_output_open(&r.output, program->log, program->log_most, mem);
    if (st == WEFT_OK) {
        st = start(&r);
        while (st == WEFT_OK && r.link >= 0) {
            look(&r);
            attend(&r, patience(&r));
        }
        double over = weft_now() + OUTPUT_WAIT;
        while (st == WEFT_OK && is_open(&r) && weft_now() < over)
            attend(&r, (int)(1e3 * POLL_INTERVAL));
        doubt(&r);
        weft_printed_end(printed);
        for (int i = 0; i < WEFT_STREAMS && st == WEFT_OK; i++) close_fd(&r.stream[i]);
        weft_status closed = weft_output_close(&r.output, program->log);
        if (st == WEFT_OK) st = closed;
        int supervisor;
        while (r.pid > 0 && waitpid(r.pid, &supervisor, 0) < 0 && errno == EINTR) {}
    }
    weft_arena_free(mem);
    *end = r.end;
    *status = r.answered ? r.status : SIGKILL; /* the supervisor was killed */
    return st;
}
