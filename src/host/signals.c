/* Signals that ask a run to stop. The handler only stores the number; the run checks it
 * between jobs, between rounds, and after the search until the run file is written. SLURM
 * sends SIGUSR1 or SIGTERM before the end of a job's time, a user sends SIGINT. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>

static const int caught[] = {SIGTERM, SIGUSR1, SIGINT};
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
    for (int i = 0; i < NCAUGHT; i++) sigaction(caught[i], &action, NULL);
    /* The handler is removed after the first signal: a second Ctrl-C ends the program. */
    action.sa_flags |= (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
}

void weft_signals_free(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NCAUGHT; i++) sigaction(caught[i], &action, NULL);
    signal_seen = 0;
}

int weft_signals_seen(void)
{
    return (int)signal_seen;
}
