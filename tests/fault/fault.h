/*
 * fault - makes chosen system calls of a program fail.
 *
 * A library to preload, driven by one variable:
 *
 *     STRATA_FAULT='write,2,ENOSPC,*.json' LD_PRELOAD=libfault.so strata anomaly in --out out
 *
 * STRATA_FAULT is a list of rules with ';' between them, each CALL,WHEN,WHAT[,PATTERN]:
 *
 *   CALL     open read write close rename fsync unlink mkdir
 *            (with their relatives: openat, pread, readv, pwrite, writev, renameat, fdatasync ...)
 *   WHEN     3     the third call that matches        3+    the third and all after it
 *   WHAT     an errno by name: ENOSPC EIO EACCES EDQUOT EINTR EPIPE EROFS EMFILE ENOENT EBADF
 *            short   read or write half of what was asked for, at least one byte
 *            eof     a read finds the end (returns 0)
 *   PATTERN  as in the shell, matched against the path of the file, and for a rename against
 *            either path; "fd:1" names a descriptor. Without one everything matches.
 *
 * The first rule that is due decides a call; every matching rule counts it. A failing close does
 * close. A rule that cannot be read ends the program with status 99, so that a mistyped rule
 * cannot let a test pass.
 *
 * With STRATA_FAULT_COUNT=FILE the number of calls that the first rule met is written to FILE in
 * the end, so that a test can let each of them fail in turn.
 *
 * Not seen: calls the C library makes for itself, above all those of stdio (fwrite to stdout: use
 * /dev/full instead), and reads of mapped memory. Under AddressSanitizer the sanitizer wants to be
 * loaded first: set ASAN_OPTIONS=verify_asan_link_order=0.
 */
#ifndef STRATA_TESTS_FAULT_H
#define STRATA_TESTS_FAULT_H

/* Replaces the rules and starts counting again; for programs that are linked with the library.
 * NULL removes all rules. */
void fault_set(const char *rules);

#endif
