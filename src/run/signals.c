/* Signals that ask a run to stop: noted when they come, from its start to its end; looked
 * at between jobs, between rounds, and after the search until the run file is written.
 * SLURM sends SIGUSR1 or SIGTERM before the end of a job's time, a person SIGINT. */
#include "run_private.h"

#include <signal.h>

static const int caught[] = {SIGTERM, SIGUSR1, SIGINT};
#define NCAUGHT (int)(sizeof caught / sizeof *caught)
static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

void weft_signals_catch(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < NCAUGHT; i++) sigaction(caught[i], &a, NULL);
    /* The second Ctrl-C ends the program at once. */
    a.sa_flags |= (int)SA_RESETHAND;
    sigaction(SIGINT, &a, NULL);
}

void weft_signals_free(void)
{
    struct sigaction a = {.sa_handler = SIG_DFL};
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < NCAUGHT; i++) sigaction(caught[i], &a, NULL);
    signal_seen = 0;
}

int weft_signals_seen(void)
{
    return (int)signal_seen;
}
