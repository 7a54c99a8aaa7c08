#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { ON_OPEN, ON_READ, ON_WRITE, ON_CLOSE, ON_RENAME, ON_FSYNC, ON_UNLINK, ON_MKDIR, CALLS };

static const char *const call_names[CALLS] = {"open",   "read",  "write",  "close",
                                              "rename", "fsync", "unlink", "mkdir"};

static const struct {
    const char *name;
    int error;
} errors[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO},     {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"EINTR", EINTR},
    {"EPIPE", EPIPE},   {"EROFS", EROFS}, {"EMFILE", EMFILE}, {"ENOENT", ENOENT}, {"EBADF", EBADF},
};

enum { WHAT_NOTHING = 0, WHAT_SHORT = -1, WHAT_EOF = -2 }; /* besides errnos, which are positive */

enum { RULES_MAX = 16, PATTERN_MAX = 256 };

struct rule {
    enum call call;
    unsigned long when;
    bool and_after;
    int what;
    char pattern[PATTERN_MAX]; /* "": everything */
    atomic_ulong met;
};

static struct rule rules[RULES_MAX];
static size_t rule_count;

static _Noreturn void reject(const char *rule)
{
    dprintf(STDERR_FILENO, "fault: cannot read the rule \"%s\"\n", rule);
    _exit(99);
}

static bool set_call(struct rule *r, const char *text)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(text, call_names[i]) == 0) {
            r->call = (enum call)i;
            return true;
        }
    return false;
}

static bool set_when(struct rule *r, const char *text)
{
    char *end;

    r->when = strtoul(text, &end, 10);
    r->and_after = *end == '+';
    return end != text && r->when > 0 && end[r->and_after] == '\0';
}

static bool set_what(struct rule *r, const char *text)
{
    bool is_data = r->call == ON_READ || r->call == ON_WRITE;

    if (strcmp(text, "short") == 0 && is_data)
        r->what = WHAT_SHORT;
    else if (strcmp(text, "eof") == 0 && r->call == ON_READ)
        r->what = WHAT_EOF;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(text, errors[i].name) == 0)
            r->what = errors[i].error;
    return r->what != WHAT_NOTHING;
}

static void add_rule(const char *text)
{
    char copy[512];
    char *rest = copy;

    if (strlen(text) >= sizeof(copy) || rule_count == RULES_MAX)
        reject(text);
    memcpy(copy, text, strlen(text) + 1);
    struct rule *r = &rules[rule_count];
    memset(r, 0, sizeof(*r));
    const char *call = strsep(&rest, ","), *when = strsep(&rest, ","), *what = strsep(&rest, ",");
    if (what == NULL || !set_call(r, call) || !set_when(r, when) || !set_what(r, what))
        reject(text);
    if (rest != NULL && strlen(rest) >= PATTERN_MAX)
        reject(text);
    if (rest != NULL)
        memcpy(r->pattern, rest, strlen(rest) + 1);
    rule_count++;
}

void fault_set(const char *text)
{
    rule_count = 0;
    if (text == NULL)
        return;
    char *copy = strdup(text), *rest = copy, *rule;
    if (copy == NULL)
        reject(text);
    while ((rule = strsep(&rest, ";")) != NULL)
        if (*rule != '\0')
            add_rule(rule);
    free(copy);
}

__attribute__((constructor)) static void read_environment(void)
{
    unsetenv("LD_PRELOAD"); /* programs that this one starts are not disturbed */
    fault_set(getenv("STRATA_FAULT"));
}

/* How many calls the first rule has met, for those who want to make each of them fail. */
__attribute__((destructor)) static void tell_count(void)
{
    const char *path = getenv("STRATA_FAULT_COUNT");
    unsigned long met = rule_count > 0 ? atomic_load(&rules[0].met) : 0;

    rule_count = 0;
    int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%lu\n", met);
    close(fd);
}

static bool matches(const struct rule *r, int fd, const char *a, const char *b)
{
    char by_number[32], link[64], path[PATH_MAX];

    if (r->pattern[0] == '\0')
        return true;
    if (a != NULL && fnmatch(r->pattern, a, 0) == 0)
        return true;
    if (b != NULL && fnmatch(r->pattern, b, 0) == 0)
        return true;
    if (fd < 0)
        return false;
    snprintf(by_number, sizeof(by_number), "fd:%d", fd);
    if (fnmatch(r->pattern, by_number, 0) == 0)
        return true;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n < 0)
        return false;
    path[n] = '\0';
    return fnmatch(r->pattern, path, 0) == 0;
}

/* What happens to this call: WHAT_NOTHING, WHAT_SHORT, WHAT_EOF or an errno. */
static int decide(enum call call, int fd, const char *a, const char *b)
{
    int what = WHAT_NOTHING, before = errno;

    for (size_t i = 0; i < rule_count; i++) {
        struct rule *r = &rules[i];
        if (r->call != call || !matches(r, fd, a, b))
            continue;
        unsigned long met = atomic_fetch_add(&r->met, 1) + 1;
        bool is_due = r->and_after ? met >= r->when : met == r->when;
        if (is_due && what == WHAT_NOTHING)
            what = r->what;
    }
    errno = before;
    return what;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* The next definition of the function being wrapped. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Defines a wrapper whose call either fails or goes through. */
#define WRAP(type, name, params, args, call, fd, a, b)                                             \
    type name params                                                                               \
    {                                                                                              \
        int what = decide(call, fd, a, b);                                                         \
        return what != WHAT_NOTHING ? (type)fail(what) : REAL(name) args;                          \
    }

/* Reads and writes may also be cut. */
#define WRAP_DATA(name, params, args, call)                                                        \
    ssize_t name params                                                                            \
    {                                                                                              \
        int what = decide(call, fd, NULL, NULL);                                                   \
        if (what == WHAT_EOF)                                                                      \
            return 0;                                                                              \
        if (what == WHAT_SHORT)                                                                    \
            n = n > 1 ? n / 2 : n;                                                                 \
        return what > 0 ? fail(what) : REAL(name) args;                                            \
    }

WRAP_DATA(read, (int fd, void *buf, size_t n), (fd, buf, n), ON_READ)
WRAP_DATA(write, (int fd, const void *buf, size_t n), (fd, buf, n), ON_WRITE)
WRAP_DATA(pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), ON_READ)
WRAP_DATA(pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at), ON_WRITE)
WRAP_DATA(pread64, (int fd, void *buf, size_t n, off64_t at), (fd, buf, n, at), ON_READ)
WRAP_DATA(pwrite64, (int fd, const void *buf, size_t n, off64_t at), (fd, buf, n, at), ON_WRITE)
/* Cut in pieces, not in bytes. */
WRAP_DATA(readv, (int fd, const struct iovec *v, int n), (fd, v, n), ON_READ)
WRAP_DATA(writev, (int fd, const struct iovec *v, int n), (fd, v, n), ON_WRITE)

WRAP(int, fsync, (int fd), (fd), ON_FSYNC, fd, NULL, NULL)
WRAP(int, fdatasync, (int fd), (fd), ON_FSYNC, fd, NULL, NULL)
WRAP(int, rename, (const char *a, const char *b), (a, b), ON_RENAME, -1, a, b)
WRAP(int, renameat, (int da, const char *a, int db, const char *b), (da, a, db, b), ON_RENAME, -1,
     a, b)
WRAP(int, renameat2, (int da, const char *a, int db, const char *b, unsigned flags),
     (da, a, db, b, flags), ON_RENAME, -1, a, b)
WRAP(int, unlink, (const char *a), (a), ON_UNLINK, -1, a, NULL)
WRAP(int, unlinkat, (int dir, const char *a, int flags), (dir, a, flags), ON_UNLINK, -1, a, NULL)
WRAP(int, mkdir, (const char *a, mode_t mode), (a, mode), ON_MKDIR, -1, a, NULL)
WRAP(int, mkdirat, (int dir, const char *a, mode_t mode), (dir, a, mode), ON_MKDIR, -1, a, NULL)

int close(int fd)
{
    int what = decide(ON_CLOSE, fd, NULL, NULL);
    int result = REAL(close)(fd);

    return what != WHAT_NOTHING ? fail(what) : result;
}

/* The mode is there only when a file may be created. */
static mode_t take_mode(int flags, va_list args)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
}

#define WRAP_OPEN(name, params, args)                                                              \
    int name params                                                                                \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = take_mode(flags, more);                                                      \
        va_end(more);                                                                              \
        int what = decide(ON_OPEN, -1, path, NULL);                                                \
        return what != WHAT_NOTHING ? fail(what) : REAL(name) args;                                \
    }

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
WRAP_OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
