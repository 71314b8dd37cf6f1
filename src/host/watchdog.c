/* What may end a run: signals, and that it makes no progress.
 *
 * The handler of signals only stores the number; the run checks it between jobs, between
 * rounds, and after the search until the run file is written. SLURM sends SIGUSR1 or
 * SIGTERM before the end of a job's time, a user sends SIGINT, the end of a terminal
 * SIGHUP.
 *
 * A thread checks whether this rank makes progress. A rank that does not writes to a file
 * of the run's directory, DIR/stalled-RANK, whether it computes or waits for others, in
 * which phase and for how long. Some time later the lowest of these ranks reads the files
 * of the others in its team and names, in one warning, the ranks that the others wait for:
 * those that compute, and those without a file, which are stopped or whose node is lost. */
#include "host.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/par/par.h"
#include "weft/par/team.h"
#include "weft/store/file.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- signals ---- */

static const int caught[] = {SIGTERM, SIGUSR1, SIGINT, SIGHUP};
#define NCAUGHT (int)(sizeof caught / sizeof *caught)
static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

void weft_signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NCAUGHT; i++) {
        struct sigaction now;
        sigaction(caught[i], NULL, &now); /* nohup has SIGHUP ignored */
        if (caught[i] != SIGHUP || now.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    /* The handler is removed after the first signal: a second Ctrl-C ends the program. */
    action.sa_flags |= (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
}

void weft_signals_free(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NCAUGHT; i++) {
        struct sigaction now;
        sigaction(caught[i], NULL, &now);
        if (now.sa_handler == on_signal) sigaction(caught[i], &action, NULL);
    }
    signal_seen = 0;
}

int weft_signals_seen(void)
{
    return (int)signal_seen;
}

/* ---- the watchdog ---- */

enum { MAX_NAMED = 4, LINE = 256 };

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    int runs, stop;
    int rank;
    double seconds; /* without progress before a rank counts as stalled */
    char host[64];
    const char *dir;
} dog = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void stalled_path(int rank, char path[LINE * 4])
{
    snprintf(path, LINE * 4, "%s/" WEFT_STALLED_NAME, dog.dir, rank);
}

/* Waits; 1 if the watchdog is to end. */
static int nap_or_end(double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until); /* is never set back */
    double t = (double)until.tv_nsec * 1e-9 + seconds;
    until.tv_sec += (time_t)t;
    until.tv_nsec = (long)((t - floor(t)) * 1e9);
    pthread_mutex_lock(&dog.lock);
    int st = 0;
    while (!dog.stop && st != ETIMEDOUT)
        st = pthread_cond_timedwait(&dog.end, &dog.lock, &until);
    int stop = dog.stop;
    pthread_mutex_unlock(&dog.lock);
    return stop;
}

/* "works on job 12, unit 3, for 61 s on host n7 (process 4711)". */
static void describe(const weft_activity *activity, double now, char text[LINE])
{
    char job[64] = "";
    if (activity->job >= 0)
        snprintf(job, sizeof job, " on job %lld, unit %lld,", (long long)activity->job,
                 (long long)activity->unit);
    snprintf(text, LINE, "%s%s for %.0f s on host %s (process %ld)", activity->phase, job,
             now - activity->since, dog.host, (long)getpid());
}

/* Writes the file of this rank; 0: it cannot, as before the directory is made. */
static int say_stalled(const weft_activity *activity, double now)
{
    char path[LINE * 4], text[LINE];
    stalled_path(dog.rank, path);
    describe(activity, now, text);
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    fprintf(file, "%c %s\n", activity->waits ? 'w' : 'c', text);
    fclose(file);
    return 1;
}

/* Reads the file of a rank: 'w' it waits, 'c' it computes, with text; 0: there is no
 * file. */
static char read_stalled(int rank, char text[LINE])
{
    char path[LINE * 4], kind = 0;
    stalled_path(rank, path);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    if (fscanf(file, "%c ", &kind) == 1 && fgets(text, LINE, file))
        text[strcspn(text, "\n")] = '\0';
    else
        kind = 0;
    fclose(file);
    return kind;
}

/* Adds a rank to the list of those that are waited for; the first ones with what they
 * do. */
static void add_rank(char *list, size_t size, int *n, int rank, const char *what)
{
    size_t at = strlen(list);
    if (++*n <= MAX_NAMED) snprintf(list + at, size - at, "; rank %d %s", rank, what);
}

/* Prints the warning; called by the lowest rank that is stalled. */
static void warn_stalled(const weft_activity *activity)
{
    char list[(MAX_NAMED + 1) * LINE] = "", text[LINE], more[64] = "";
    int named = 0, waiting = 0;
    for (int r = activity->first; r < activity->first + activity->size; r++) {
        char kind = read_stalled(r, text);
        if (kind && r < dog.rank) return;
        waiting += kind == 'w';
        if (kind == 'c') add_rank(list, sizeof list, &named, r, text);
        if (!kind)
            add_rank(list, sizeof list, &named, r,
                     "says nothing: it is stopped, or its node is lost");
    }
    if (named > MAX_NAMED)
        snprintf(more, sizeof more, "; and %d more ranks", named - MAX_NAMED);
    if (waiting > 0)
        snprintf(text, LINE, "; %d rank%s", waiting, waiting == 1 ? " waits" : "s wait");
    else
        *text = '\0';
    double since = weft_now() - activity->since;
    if (named > 0)
        weft_log(WEFT_ALARM, "no progress for %.0f s%s%s%s", since, text, list, more);
    else
        weft_log(WEFT_ALARM,
                 "no progress for %.0f s: all %d ranks of the team are within the same "
                 "collective; look at the network",
                 since, activity->size);
}

static void *watch(void *unused)
{
    (void)unused;
    double step = fmin(dog.seconds / 4, 1);
    double pause = fmax(4 * step, fmin(dog.seconds / 10, 60)); /* time for files to become
                                                                  visible */
    double limit = dog.seconds; /* doubled after each warning about the same stall */
    char path[LINE * 4];
    stalled_path(dog.rank, path);
    unlink(path);
    while (!nap_or_end(step)) {
        weft_activity a = weft_activity_now();
        if (weft_now() - a.since < limit) {
            if (limit > dog.seconds && weft_now() - a.since < dog.seconds) {
                unlink(path);
                limit = dog.seconds;
            }
            continue;
        }
        if (!say_stalled(&a, weft_now())) continue;
        limit *= 2;
        if (nap_or_end(pause)) break;
        weft_activity b = weft_activity_now();
        if (b.since == a.since) warn_stalled(&b);
    }
    unlink(path);
    return NULL;
}

void weft_watchdog_start(const weft_team *world, double seconds, const char *dir)
{
    if (!(seconds > 0) || world->size == 1) return;
    dog.rank = world->rank;
    dog.seconds = seconds;
    dog.dir = dir;
    dog.stop = 0;
    if (gethostname(dog.host, sizeof dog.host) != 0) strcpy(dog.host, "?");
    dog.host[sizeof dog.host - 1] = '\0';
    dog.runs = weft_thread_start(&dog.thread, &dog.end, watch, NULL);
    if (!dog.runs) weft_log(WEFT_ALARM, "no watchdog: a thread cannot be started");
}

void weft_watchdog_stop(void)
{
    if (!dog.runs) return;
    pthread_mutex_lock(&dog.lock);
    dog.stop = 1;
    pthread_cond_signal(&dog.end);
    pthread_mutex_unlock(&dog.lock);
    pthread_join(dog.thread, NULL);
    pthread_cond_destroy(&dog.end);
    dog.runs = 0;
}
