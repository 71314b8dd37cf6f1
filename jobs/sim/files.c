/* Files that are created only if they are not there (claims of jobs) cost a simulated run
 * what a parallel file system takes for it: WEFT_SIM_CREATE seconds, by the environment.
 * The linker calls these functions in place of open (--wrap=open). */
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    const char *seconds = getenv("WEFT_SIM_CREATE");
    if ((flags & O_EXCL) && seconds) smpi_execute_flops(1e9 * atof(seconds));
    return __real_open(path, flags, mode);
}
