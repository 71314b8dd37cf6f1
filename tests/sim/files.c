/* What a parallel file system takes is charged to a simulated run: WEFT_SIM_CREATE seconds,
 * by the environment, for a file that is created or renamed (claims of jobs, states). What
 * a thread would do takes no time of a rank: there is none, and results are committed
 * between jobs, in memory. The linker calls these functions in place of open, rename and
 * pthread_create (--wrap). */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *self);

int64_t files_made;

static void charge(void)
{
    const char *seconds = getenv("WEFT_SIM_CREATE");
    files_made++;
    if (seconds) smpi_execute_flops(1e9 * atof(seconds));
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (flags & O_CREAT) charge();
    return __real_open(path, flags, mode);
}

int __wrap_rename(const char *from, const char *to)
{
    charge();
    return __real_rename(from, to);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *self)
{
    (void)thread, (void)attr, (void)start, (void)self;
    return EAGAIN;
}
