/* Loaded into git by LD_PRELOAD: kills it before the system call whose number is in KILL_AT.
 * And with it the process KILL_TOO, if that is set. Counted are calls that change files. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void count(void)
{
    static int calls, at = -1, too;
    if (at < 0) {
        const char *number = getenv("KILL_AT"), *process = getenv("KILL_TOO");
        at = number ? atoi(number) : 0;
        too = process ? atoi(process) : 0;
    }
    if (++calls == at) {
        if (too)
            kill(too, SIGKILL);
        kill(getpid(), SIGKILL);
    }
}

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = va_arg(more, mode_t); \
        va_end(more); \
        if (flags & O_CREAT) \
            count(); \
        REAL(name); \
        return real(path, flags, mode); \
    }
#define TAKE(result, name, parameters, arguments) \
    result name parameters \
    { \
        count(); \
        REAL(name); \
        return real arguments; \
    }

OPEN(open)
OPEN(open64)
TAKE(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
TAKE(int, close, (int fd), (fd))
TAKE(int, mkdir, (const char *path, mode_t mode), (path, mode))
TAKE(int, rmdir, (const char *path), (path))
TAKE(int, unlink, (const char *path), (path))
TAKE(int, link, (const char *from, const char *to), (from, to))
int rename(const char *from, const char *to)
{
    count();
    REAL(rename);
    return real(from, to);
}
