/*
 * Calls that a program which runs somebody's code may make: files, as far as it is shown any,
 * memory, time, and nothing that others notice.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/run/sandbox.h"
#include "base/str.h"

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef FILTER_ARCH

/* clang-format off */
static const int allowed[] = {
    SYS_read, SYS_pread64, SYS_readv, SYS_write, SYS_pwrite64, SYS_writev, SYS_lseek, SYS_openat,
    SYS_close, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getdents64, SYS_getcwd, SYS_fcntl, SYS_ioctl, SYS_dup, SYS_dup3, SYS_pipe2, SYS_ppoll,
    SYS_pselect6, SYS_ftruncate, SYS_unlinkat, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_mremap,
    SYS_madvise, SYS_brk, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
    SYS_futex, SYS_set_tid_address, SYS_set_robust_list, SYS_getrandom, SYS_clock_gettime,
    SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getpid, SYS_gettid,
    SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getgroups, SYS_getresuid,
    SYS_getresgid, SYS_getrusage, SYS_times, SYS_prlimit64, SYS_sysinfo, SYS_uname,
    SYS_sched_getaffinity, SYS_sched_yield, SYS_umask, SYS_execve, SYS_exit, SYS_exit_group,
#ifdef SYS_open
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_dup2, SYS_pipe, SYS_poll,
    SYS_select, SYS_getrlimit, SYS_getpgrp, SYS_time, SYS_arch_prctl, SYS_unlink,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
};
/* clang-format on */

enum { FILTER_OTHERS = 16 };

#define PUT(...)    code[n++] = (struct sock_filter)__VA_ARGS__
#define RETURN(how) PUT(BPF_STMT(BPF_RET | BPF_K, (how)))

int sandbox_filter(void)
{
    struct sock_filter code[2 * ARRAY_LEN(allowed) + FILTER_OTHERS];
    unsigned short n = 0;

    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0));
    RETURN(SECCOMP_RET_KILL_PROCESS);
    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1));
        RETURN(SECCOMP_RET_ALLOW);
    }
    /* Libraries ask for threads the old way where the new one is not there: its flags are in
     * memory, where nobody can look. */
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
    RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
    PUT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 4));
    RETURN(SECCOMP_RET_ALLOW);
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 2)); /* abort() */
    PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)getpid(), 1, 0));
    RETURN(SECCOMP_RET_ERRNO | EPERM);
    RETURN(SECCOMP_RET_ALLOW);

    struct sock_fprog program = {.len = n, .filter = code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno;
}

#else

int sandbox_filter(void)
{
    return ENOSYS;
}

#endif
