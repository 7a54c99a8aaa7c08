/*
 * A filter of system calls (seccomp) and limits.
 */
#include "base/run/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/asan.h"
#include "base/str.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

static void (*tell)(const char *what);

static const struct {
    long number;
    const char *what;
} words[] = {
    {SYS_socket, "opens a socket"},
    {SYS_connect, "connects to a network"},
    {SYS_execve, "starts a program"},
    {SYS_clone, "starts a process"},
#ifdef SYS_fork
    {SYS_fork, "starts a process"},
    {SYS_vfork, "starts a process"},
    {SYS_open, "opens a file to write"},
    {SYS_unlink, "removes a file"},
#endif
    {SYS_clone3, "starts a process"},
    {SYS_openat, "opens a file to write"},
    {SYS_unlinkat, "removes a file"},
    {SYS_write, "writes to a file"},
    {SYS_writev, "writes to a file"},
    {SYS_kill, "sends a signal"},
    {SYS_ptrace, "traces a process"},
    {SYS_mkdirat, "makes a folder"},
    {SYS_renameat, "renames a file"},
    {SYS_rt_sigaction, "installs a signal handler"},
    {SYS_getppid, "looks for another process"},
};

static void on_call(int signal_number, siginfo_t *info, void *context)
{
    char other[48];

    (void)signal_number;
    (void)context;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].number == info->si_syscall)
            tell(words[i].what);
    snprintf(other, sizeof(other), "makes the system call %d", info->si_syscall);
    tell(other);
    _exit(1);
}

static void limit(int what, rlim_t value)
{
    struct rlimit l = {value, value};

    (void)setrlimit(what, &l);
}

#ifdef OUR_ARCH

/* The low word of argument `n`. */
#define ARG(n)           ((unsigned)(offsetof(struct seccomp_data, args) + 8 * (n)))
#define LOAD(at)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define ALLOW            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define ALLOW_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ALLOW
/* Allowed when no bit of `mask` is set in argument `n`, or when all are. */
#define ALLOW_WITHOUT(name, n, mask)                                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(ARG(n)),                           \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (mask), 1, 0), ALLOW,                                 \
        LOAD(offsetof(struct seccomp_data, nr))
#define ALLOW_IF_EQUAL(name, n, value)                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(ARG(n)),                           \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), ALLOW,                                 \
        LOAD(offsetof(struct seccomp_data, nr))
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static bool install(int out)
{
    struct sock_filter code[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        LOAD(offsetof(struct seccomp_data, nr)),
        ALLOW_CALL(read),
        ALLOW_CALL(pread64),
        ALLOW_CALL(lseek),
        ALLOW_CALL(fstat),
        ALLOW_CALL(newfstatat),
        ALLOW_CALL(readlinkat),
        ALLOW_CALL(close),
        ALLOW_CALL(mmap),
        ALLOW_CALL(mprotect),
        ALLOW_CALL(munmap),
        ALLOW_CALL(mremap),
        ALLOW_CALL(madvise),
        ALLOW_CALL(brk),
        ALLOW_CALL(futex),
        ALLOW_CALL(getpid),
        ALLOW_CALL(gettid),
        ALLOW_CALL(getrandom),
        ALLOW_CALL(clock_gettime),
        ALLOW_CALL(gettimeofday),
        ALLOW_CALL(clock_nanosleep),
        ALLOW_CALL(nanosleep),
        ALLOW_CALL(sched_yield),
        ALLOW_CALL(sched_getaffinity),
        ALLOW_CALL(rt_sigprocmask),
        ALLOW_CALL(rt_sigreturn),
        ALLOW_CALL(sigaltstack),
        ALLOW_CALL(exit),
        ALLOW_CALL(exit_group),
#ifdef SYS_open
        ALLOW_CALL(stat),
        ALLOW_CALL(access),
        ALLOW_CALL(readlink),
        ALLOW_WITHOUT(open, 1, WRITES),
#endif
        ALLOW_WITHOUT(openat, 2, WRITES),
        ALLOW_IF_EQUAL(tgkill, 0, (unsigned)getpid()), /* abort() */
        ALLOW_IF_EQUAL(write, 0, (unsigned)out),
        ALLOW_IF_EQUAL(write, 0, STDOUT_FILENO),
        ALLOW_IF_EQUAL(write, 0, STDERR_FILENO),
#if WITH_ASAN /* it warns of switched stacks, and asks for their limits */
        ALLOW_CALL(prlimit64),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {.len = (unsigned short)ARRAY_LEN(code), .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

static bool install(int out)
{
    (void)out;
    return false;
}

#endif

bool sandbox_enter(const struct sandbox *s)
{
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    tell = s->told;
    /* Standard output belongs to the program's own report, of which a part may be waiting. */
    __fpurge(stdout);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        setvbuf(stdout, NULL, _IOLBF, 0);
    sigemptyset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
    limit(RLIMIT_CORE, 0);
    if (s->seconds > 0)
        limit(RLIMIT_CPU, (rlim_t)s->seconds);
    if (s->data_bytes > 0 && !WITH_ASAN) /* whose shadow is larger */
        limit(RLIMIT_DATA, (rlim_t)s->data_bytes);
    return install(s->out);
}
