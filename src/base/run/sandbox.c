/*
 * A filter of system calls (seccomp) and limits.
 *
 * The loader opens the objects of a kernel while their constructors run already, so no call that
 * opens a file can be allowed: it traps, and the handler answers it with a copy of a descriptor
 * that the process has anyway. What is loaded needs no other file, as the common libraries are
 * there before.
 */
#include "base/run/sandbox.h"

#include <dlfcn.h>
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/asan.h"
#include "base/str.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

static void (*tell)(const char *what);
static struct sandbox box;

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
    {SYS_open, "opens a file"},
    {SYS_stat, "looks at a file"},
    {SYS_lstat, "looks at a file"},
    {SYS_access, "looks at a file"},
    {SYS_readlink, "looks at a file"},
    {SYS_rename, "renames a file"},
    {SYS_mkdir, "makes a folder"},
    {SYS_unlink, "removes a file"},
#endif
    {SYS_clone3, "starts a process"},
    {SYS_openat, "opens a file"},
    {SYS_openat2, "opens a file"},
    {SYS_open_by_handle_at, "opens a file"},
    {SYS_newfstatat, "looks at a file"},
    {SYS_statx, "looks at a file"},
    {SYS_readlinkat, "looks at a file"},
    {SYS_faccessat, "looks at a file"},
    {SYS_chdir, "changes its folder"},
    {SYS_getdents64, "lists a folder"},
    {SYS_mmap, "shares memory"},
    {SYS_io_uring_setup, "asks for a queue of calls"},
    {SYS_memfd_create, "makes a file"},
    {SYS_sendto, "connects to a network"},
    {SYS_shmget, "shares memory"},
    {SYS_setrlimit, "changes its limits"},
    {SYS_prlimit64, "changes its limits"},
    {SYS_prctl, "changes its process"},
    {SYS_process_vm_readv, "looks at another process"},
    {SYS_pidfd_open, "looks for another process"},
    {SYS_mount, "mounts a file system"},
    {SYS_unshare, "makes a name space"},
    {SYS_bpf, "loads a program into the kernel of the system"},
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

/* The call that trapped: its arguments, and where its result goes. */
struct trapped {
    uint64_t args[6];
    ucontext_t *context;
};

static void trapped_read(struct trapped *t, void *context)
{
    t->context = context;
#if defined(__x86_64__)
    static const int places[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    for (size_t i = 0; i < 6; i++)
        t->args[i] = (uint64_t)t->context->uc_mcontext.gregs[places[i]];
#elif defined(__aarch64__)
    for (size_t i = 0; i < 6; i++)
        t->args[i] = t->context->uc_mcontext.regs[i];
#endif
}

static void trapped_answer(struct trapped *t, long result)
{
    long value = result < 0 ? -errno : result;

#if defined(__x86_64__)
    t->context->uc_mcontext.gregs[REG_RAX] = value;
#elif defined(__aarch64__)
    t->context->uc_mcontext.regs[0] = (uint64_t)value;
#else
    (void)value;
#endif
}

static void answer_with(struct trapped *t, int file)
{
    int fd = dup(file);

    if (fd >= 0)
        (void)lseek(fd, 0, SEEK_SET);
    trapped_answer(t, fd);
}

/* Only there with AddressSanitizer, which looks for its stack before what does not return. */
static int own_maps = -1;

/* "/sandbox/0" and so on are the only files there are. */
static bool answers_open(struct trapped *t, const char *path)
{
    static const char folder[] = "/sandbox/";
    size_t i = 0, n = sizeof(folder) - 1;

    if (own_maps >= 0 && strcmp(path, "/proc/self/maps") == 0) {
        answer_with(t, own_maps);
        return true;
    }

    while (i < n && path[i] == folder[i])
        i++;
    if (i < n || path[n] < '0' || (size_t)(path[n] - '0') >= box.n_files || path[n + 1] != '\0')
        return false;
    answer_with(t, box.files[path[n] - '0']);
    return true;
}

/* What the loader cannot do without: a file of ours opened, an open one looked at. */
static bool answers(const siginfo_t *info, void *context)
{
    struct trapped t;

    trapped_read(&t, context);
    if (info->si_syscall == SYS_openat)
        return answers_open(&t, (const char *)(uintptr_t)t.args[1]);
#ifdef SYS_open
    if (info->si_syscall == SYS_open)
        return answers_open(&t, (const char *)(uintptr_t)t.args[0]);
#endif
    if (info->si_syscall != SYS_newfstatat || *(const char *)(uintptr_t)t.args[1] != '\0')
        return false;
    trapped_answer(&t, syscall(SYS_fstat, (int)t.args[0], t.args[2]));
    return true;
}

static void on_call(int signal_number, siginfo_t *info, void *context)
{
    char other[48];

    (void)signal_number;
    if (answers(info, context))
        return;
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
        ALLOW_CALL(dup),
        ALLOW_CALL(close),
        ALLOW_WITHOUT(mmap, 3, MAP_SHARED),
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

/* ---- descriptors and memory ---- */

/* Keeps standard input, which is empty, `said` twice, `out` and the files. */
static void keep_descriptors(void)
{
    int kept[SANDBOX_FILES + 3] = {STDERR_FILENO, box.out};
    size_t n = 2;
    int empty = open("/dev/null", O_RDONLY);

    dup2(empty, STDIN_FILENO);
    dup2(box.said, STDOUT_FILENO);
    dup2(box.said, STDERR_FILENO);
    for (size_t i = 0; i < box.n_files; i++)
        kept[n++] = box.files[i];
    if (WITH_ASAN)
        kept[n++] = own_maps = open("/proc/self/maps", O_RDONLY);
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && kept[k] < kept[k - 1]; k--) {
            int other = kept[k];
            kept[k] = kept[k - 1];
            kept[k - 1] = other;
        }
    for (size_t i = 0; i < n; i++) {
        unsigned last = i + 1 < n ? (unsigned)kept[i + 1] - 1 : ~0u;
        if ((unsigned)kept[i] + 1 <= last)
            (void)close_range((unsigned)kept[i] + 1, last, 0);
    }
}

static int64_t mapped_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f == NULL || fscanf(f, "%ld", &pages) != 1)
        pages = 0;
    if (f != NULL)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

/* What compiled code may need is there before files are gone; a library that is missing is named by
 * the loader when it is needed. */
static void load_libraries(void)
{
    static const char *const names[] = {"libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
}

bool sandbox_enter(const struct sandbox *s)
{
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    if (WITH_ASAN)
        action.sa_flags |= SA_NODEFER;
    box = *s;
    tell = s->told;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    load_libraries();
    /* Standard output belongs to the program's own report, of which a part may be waiting. */
    __fpurge(stdout);
    keep_descriptors();
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigemptyset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
    sigprocmask(SIG_SETMASK, &action.sa_mask, NULL); /* threads of a pool hold signals back */
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0); /* pipes have none */
    if (s->seconds > 0)
        limit(RLIMIT_CPU, (rlim_t)s->seconds);
    if (s->bytes > 0 && !WITH_ASAN) /* whose shadow is larger */
        limit(RLIMIT_AS, (rlim_t)(mapped_bytes() + s->bytes));
    return install(s->out);
}
