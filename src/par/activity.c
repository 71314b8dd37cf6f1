/* The present activity of this process, set by its main thread and read by the watchdog's
 * thread. */
#include "timer.h"
#include "weft/clock.h"
#include "weft/par.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_activity now = {.phase = "starts", .job = -1, .unit = -1};

void weft_activity_set(const char *phase, int64_t job, int64_t unit)
{
    pthread_mutex_lock(&lock);
    now.phase = phase;
    now.job = job;
    now.unit = unit;
    now.since = weft_now();
    pthread_mutex_unlock(&lock);
}

void weft_activity_wait(const weft_team *team, int waits)
{
    pthread_mutex_lock(&lock);
    now.waits = waits;
    now.first = team->first;
    now.size = team->size;
    now.since = weft_now();
    pthread_mutex_unlock(&lock);
}

weft_activity weft_activity_now(void)
{
    pthread_mutex_lock(&lock);
    weft_activity copy = now;
    pthread_mutex_unlock(&lock);
    return copy;
}
