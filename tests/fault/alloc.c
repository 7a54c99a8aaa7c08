/*
 * alloc - makes one allocation of a program fail; a library to preload.
 *
 *     STRATA_FAULT_ALLOC=17 LD_PRELOAD=libfault_alloc.so strata info in      the 17th returns NULL
 *     STRATA_FAULT_ALLOC=17+ ...                                             and all after it
 *     STRATA_FAULT_COUNT=FILE ...                                 writes how many there were to
 * FILE
 *
 * Counted are malloc, calloc, realloc and anonymous mmap and mremap: those of the program, of the
 * libraries it uses and of the C library (opendir, qsort ...). Freeing never counts. Under
 * AddressSanitizer, set ASAN_OPTIONS=verify_asan_link_order=0.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*pthread_getattr_np)(pthread_t, pthread_attr_t *);
    void *(*dlopen)(const char *, int);
    int (*glob)(const char *, int, int (*)(const char *, int), glob_t *);
} real;

static atomic_ulong count;
static unsigned long due; /* 0: none */
static bool and_after;
/* Without a call of the loader, which may not be there yet. */
static _Thread_local int not_counted __attribute__((tls_model("initial-exec")));

/* What dlsym() asks for while the functions above are being looked up. */
static char early[4096];
static size_t early_used;

static void *take_early(size_t n)
{
    size_t at = early_used;

    early_used += (n + 15) / 16 * 16;
    return early_used <= sizeof(early) ? early + at : NULL;
}

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

static void find_real(void)
{
    *(void **)&real.calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&real.realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&real.free = dlsym(RTLD_NEXT, "free");
    *(void **)&real.mmap = dlsym(RTLD_NEXT, "mmap");
    *(void **)&real.mremap = dlsym(RTLD_NEXT, "mremap");
    *(void **)&real.pthread_getattr_np = dlsym(RTLD_NEXT, "pthread_getattr_np");
    *(void **)&real.dlopen = dlsym(RTLD_NEXT, "dlopen");
    *(void **)&real.glob = dlsym(RTLD_NEXT, "glob");
    *(void **)&real.malloc = dlsym(RTLD_NEXT, "malloc");
}

/* True while find_real() runs. */
static bool is_too_early(void)
{
    static bool is_looking;

    if (real.malloc != NULL)
        return false;
    if (is_looking)
        return true;
    is_looking = true;
    find_real();
    return false;
}

/* A leak report of a sanitizer, made behind this, needs memory to name its functions. */
static void stop_failing(void)
{
    due = 0;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("STRATA_FAULT_ALLOC");
    char *end = NULL;

    is_too_early();
    unsetenv("LD_PRELOAD"); /* programs that this one starts are not disturbed */
    atomic_store(&count, 0);
    atexit(stop_failing);
    if (text == NULL)
        return;
    due = strtoul(text, &end, 10);
    and_after = *end == '+';
    if (end == text || end[and_after] != '\0') {
        dprintf(STDERR_FILENO, "fault: cannot read STRATA_FAULT_ALLOC=%s\n", text);
        _exit(99);
    }
}

__attribute__((destructor)) static void tell_count(void)
{
    const char *path = getenv("STRATA_FAULT_COUNT");
    int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;

    if (fd < 0)
        return;
    dprintf(fd, "%lu\n", atomic_load(&count));
    close(fd);
}

static bool is_due(void)
{
    unsigned long met = not_counted > 0 ? 0 : atomic_fetch_add(&count, 1) + 1;
    bool fails = not_counted == 0 && due != 0 && (and_after ? met >= due : met == due);

    if (fails)
        errno = ENOMEM;
    return fails;
}

void *malloc(size_t n)
{
    if (is_too_early())
        return take_early(n);
    return is_due() ? NULL : real.malloc(n);
}

void *calloc(size_t n, size_t size)
{
    if (is_too_early())
        return take_early(n * size);
    return is_due() ? NULL : real.calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    if (is_too_early() || is_early(p))
        abort();
    return is_due() ? NULL : real.realloc(p, n);
}

void free(void *p)
{
    if (!is_early(p))
        real.free(p);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    if (real.mmap == NULL)
        find_real();
    return (flags & MAP_ANONYMOUS) != 0 && is_due() ? MAP_FAILED
                                                    : real.mmap(at, n, prot, flags, fd, offset);
}

void *mremap(void *old, size_t old_n, size_t n, int flags, ...)
{
    void *at = NULL;
    va_list args;

    va_start(args, flags);
    if ((flags & MREMAP_FIXED) != 0)
        at = va_arg(args, void *);
    va_end(args);
    return is_due() ? MAP_FAILED : real.mremap(old, old_n, n, flags, at);
}

/* What vendors' libraries do while they are loaded is theirs: some crash without memory. libisal is
 * one of ours. */
void *dlopen(const char *path, int flags)
{
    bool is_theirs = path != NULL && strstr(path, "libisal") == NULL;

    not_counted += is_theirs;
    void *library = real.dlopen(path, flags);
    not_counted -= is_theirs;
    return library;
}

/* That of glibc 2.36 frees twice when it has no memory. */
int glob(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *found)
{
    not_counted++;
    int result = real.glob(pattern, flags, on_error, found);
    not_counted--;
    return result;
}

/* AddressSanitizer asks this in every thread it starts, and ends the program if it fails. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    int result;

    not_counted++;
    result = real.pthread_getattr_np(thread, attributes);
    not_counted--;
    return result;
}
