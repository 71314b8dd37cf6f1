/* Limits of a process, and what it takes. */
#ifndef WEFT_TEST_MACHINE_H
#define WEFT_TEST_MACHINE_H

#include <sys/resource.h>

#include "tap.h"

/* The most memory that this process has held, bytes. */
static inline double most_memory(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return 1024.0 * (double)use.ru_maxrss;
}

/* Sets a limit, RLIMIT_..., or the largest that is allowed if that is less; returns what it
 * was. One on the size of files does to write(2) what a full disk does. */
static inline rlim_t set_limit(int resource, rlim_t to)
{
    struct rlimit limit;
    getrlimit(resource, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = to < limit.rlim_max ? to : limit.rlim_max;
    setrlimit(resource, &limit);
    return before;
}

#endif
