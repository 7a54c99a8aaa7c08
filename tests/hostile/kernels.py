#!/usr/bin/env python3
"""kernels.py STRATA - kernels in C++ that attack: each ends with its message, and nothing else happens.

A secret lies beside the folder of the kernel; no way of reading it, while compiling or running, may show it, and files
stay as they are. Some of them are tried again as a user who is not root, where Landlock is missing (a name space of
mounts hides files then), and where both are missing (refused without --trust).
"""
import ctypes
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
SECRET = "correct-horse-battery-staple"
IS_ASAN = b"__asan_init" in pathlib.Path(STRATA).read_bytes()  # needs memory and looks at limits
failures, told = [], []

# Of the memory that a kernel shares with strata: before and behind the slots of the vector core.
HEAD = """#include <pto/pto-inst.hpp>
#include "tensor.h"
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
enum { BEFORE = 6000, HAS_FAILED = 1316, IS_DONE = 1317 };
static void leave(int code) { syscall(SYS_exit_group, code); }
static void touch(volatile char *p, long n) { for (long i = 0; i < n; i += 4096) p[i] = 1; }
static void forge(int64_t *args, int flag)
{
    memset((char *)args - BEFORE, 'A', BEFORE + HAS_FAILED);
    ((char *)args)[flag] = 1;
    leave(flag == HAS_FAILED);
}
static void send(const void *bytes, size_t n, int times)
{
    struct stat s;
    for (int fd = 3; fd < 64; fd++)
        for (int i = 0; fstat(fd, &s) == 0 && S_ISFIFO(s.st_mode) && i < times; i++)
            syscall(SYS_write, fd, bytes, n);
}
"""
ENTRY = 'extern "C" void kernel_entry(int64_t *args)\n'
# name: statement, what the message says
RUNNING = {
    "forged failure": ("forge(args, HAS_FAILED);", "AAAA"),
    "forged success": ("forge(args, IS_DONE);", "the stream of the kernel is lost"),
    "forged sizes": ("unsigned long s[2] = {~0ul, ~0ul}; send(s, sizeof(s), 1); forge(args, IS_DONE);",
                     "the stream of the kernel is lost"),
    "endless stream": ("static char b[1 << 20]; send(b, sizeof(b), 1000);", "MiB of text"),
    "open": ("open(SECRET, O_RDONLY);", "opens a file"),
    "openat2": ("long how[3] = {}; syscall(SYS_openat2, -100, SECRET, how, sizeof(how));", "opens a file"),
    "open to write": ("open(VICTIM, O_WRONLY | O_TRUNC);", "opens a file"),
    "ring": ("char p[128] = {}; syscall(SYS_io_uring_setup, 8, p);", "asks for a queue of calls"),
    "stat": ("struct stat s; stat(SECRET, &s);", "looks at a file"),
    "descriptors": ('char b[99]; (void)!readlink("/proc/self/fd/1", b, 99);', "looks at a file"),
    "inherited descriptor": ("mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 9, 0);", "shares memory"),
    "write to a descriptor": ('(void)!write(9, "OWNED", 5);', "writes to a file"),
    "shared memory": ("mmap(0, 3l << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);",
                      "shares memory"),
    "private memory": ("touch((char *)mmap(0, 3l << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, "
                       "0), 3l << 30);", "outside of its tensors"),
    "loop": ("for (volatile int i = 0;; i = i + 1) {}", "did not end in time"),
    "sleep": ("for (;;) sleep(3600);", "did not end in time"),
    "fork": ("for (;;) fork();", "starts a process"),
    "thread": ("std::thread([] { for (;;) {} }).detach();", "a kernel may not do"),
    "exec": ('execl("/bin/sh", "sh", "-c", "true", (char *)0);', "starts a program"),
    "socket": ("socket(AF_INET, SOCK_STREAM, 0);", "opens a socket"),
    "kill": ("kill(1, SIGKILL);", "sends a signal"),
    "ptrace": ("ptrace(PTRACE_ATTACH, 1, 0, 0);", "traces a process"),
    "memory of another": ("iovec v = {args, 8}; process_vm_readv(1, &v, 1, &v, 1, 0);", "looks at another process"),
    "limits": ("rlimit l = {RLIM_INFINITY, RLIM_INFINITY}; setrlimit(RLIMIT_AS, &l);", "changes its limits"),
    "dumpable": ("prctl(PR_SET_DUMPABLE, 1);", "changes its process"),
    "handler": ("signal(SIGSYS, SIG_IGN);", "installs a signal handler"),
    "remove": ("unlink(VICTIM);", "removes a file"),
    "memory file": ('memfd_create("x", 0);', "makes a file"),
}
# name: source, what the message says
SOURCES = {
    "incbin": ('asm(".section .rodata\\ns: .incbin \\"@SECRET@\\"\\n.byte 0\\n.text\\n");\nextern "C" char s[] asm("s");\n'
               '#include <cstdio>\n@ENTRY@{ printf("%s", s); }', "error: file not found: "),
    "assembler's include": ('asm(".include \\"@SECRET@\\"");\n@ENTRY@{}', "@SECRET@"),
    "include": ('#include "@SECRET@"\n@ENTRY@{}', "Permission denied"),
    "include of a link": ('#include "leading_rows.h"\n@ENTRY@{}', "Permission denied"),
    "include of a device": ('#include "/dev/zero"\n@ENTRY@{}', "Permission denied"),
    "large object": ('asm(".data\\n.fill 0x60000000,1,7\\n.text\\n");\n@ENTRY@{}', "larger files"),
    "constructor": ('#include <fcntl.h>\nstatic int f = open("@SECRET@", O_RDONLY);\n@ENTRY@{}', "opens a file"),
    "escapes": ('#include <cstdio>\n@ENTRY@{ printf("\\033]0;owned\\007\\033[2J"); }',
                "\\x1b]0;owned\\x07\\x1b[2J"),
    "flood": ('#include <cstdio>\n@ENTRY@{ for (int i = 0; i < 1000000; i++) printf("flood %d\\n", i); }',
              "the rest is dropped"),
    "escapes of an exception": ('#include <stdexcept>\n@ENTRY@{ throw std::runtime_error("\\033[2J"); }', "\\x1b[2J"),
    "memory of tensors": ("""@HEAD@AICORE void fill(__gm__ float *x, __gm__ float *y, __gm__ float *z)
{ touch((char *)x, 1l << 30); touch((char *)y, 1l << 30); touch((char *)z, 1l << 30); }""", "MiB beyond its tensors"),
}
AGAIN = ["incbin", "include", "include of a link", "constructor", "escapes"]


def check(name, ok, *said):
    if not ok:
        failures.append(name)
        print("FAILED", name, *said)


def cc(source, *args, **more):
    return subprocess.run([STRATA, "pto", "cc", str(source), *map(str, args)], capture_output=True, text=True,
                          timeout=120, errors="surrogateescape", **more)


def contained(name, done, words):
    said = done.stdout + done.stderr
    line = next((x for x in said.splitlines() if words in x), "")
    told.append((name, line))
    check(name, done.returncode in (0, 1, 2, 3, 4) and line and SECRET not in said and
          all(c in "\n\t" or ord(c) >= 32 for c in said), done.returncode, said[-600:])


def running(folder, secret, victim):
    """All that happens at run time, in one source; its second argument chooses."""
    source, spec = folder / "running.cpp", folder / "running.json"
    cases = "".join(f"    case {i}: {{ {s} }} break;\n" for i, (s, _) in enumerate(RUNNING.values()))
    source.write_text(f'#define SECRET "{secret}"\n#define VICTIM "{victim}"\n{HEAD}{ENTRY}{{\n    switch (args[1]) {{\n'
                      f"{cases}    }}\n}}\n")
    x = {"kind": "tensor", "index": 0, "name": "x", "dtype": "FLOAT32", "shape": [16, 64], "role": "inout",
         "fill": "zero"}
    which = {"kind": "scalar", "index": 1, "name": "which", "dtype": "INT64", "value": 0}
    spec.write_text(json.dumps({"args": [x, which]}))
    check("compiled", cc(source, "--compile-only").returncode == 0)
    with open(victim, "r+b") as inherited:
        os.dup2(inherited.fileno(), 9)
        for i, (name, (_, words)) in enumerate(RUNNING.items()):
            if IS_ASAN and name in ("limits", "private memory"):
                continue
            late = "1" if words == "did not end in time" else "60"
            done = cc(source, "--arg-spec", spec, "--set-arg", f"1={i}", "--timeout", late, close_fds=False)
            contained(name, done, words)
        os.close(9)


def source_of(name, folder, secret):
    text = SOURCES[name][0].replace("@SECRET@", str(secret)).replace("@ENTRY@", ENTRY).replace("@HEAD@", HEAD)
    path = folder / (name.replace(" ", "_").replace("'", "") + ".cpp")
    path.write_text(text if "#include <pto" in text else "#include <pto/pto-inst.hpp>\n" + text)
    return path


def sources(folder, secret):
    for name, (_, words) in SOURCES.items():
        contained(name, cc(source_of(name, folder, secret)), words.replace("@SECRET@", str(secret)))


def home(folder, secret):
    """A source that lies in a home, or in a common folder, sees headers there and nothing else."""
    place = folder / "home"
    (place / ".ssh").mkdir(parents=True)
    shutil.copy(secret, place / ".ssh/id")
    (place / "rows.h").write_text("constexpr int kRows = 16;\n")
    source = place / "near.cpp"
    env = dict(os.environ, HOME=str(place))
    source.write_text(f'#include <pto/pto-inst.hpp>\n#include "rows.h"\nstatic_assert(kRows == 16, "");\n{ENTRY}{{}}\n')
    done = cc(source, "--compile-only", env=env)
    check("headers of a home", done.returncode == 0, done.stderr)
    source.write_text(f'#include <pto/pto-inst.hpp>\n#include ".ssh/id"\n{ENTRY}{{}}\n')
    contained("files of a home", cc(source, env=env), "Permission denied")


# ---- other systems ----

def without(*calls):
    """These calls answer that they do not exist, in the process and what it starts."""
    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        code = struct.pack("<HBBI", 0x20, 0, 0, 0)
        for call in calls:
            code += struct.pack("<HBBI", 0x15, 0, 1, call) + struct.pack("<HBBI", 0x06, 0, 0, 0x00050000 | 38)
        code += struct.pack("<HBBI", 0x06, 0, 0, 0x7fff0000)
        filters = ctypes.create_string_buffer(code, len(code))
        program = struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(filters))
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0):
            os._exit(99)
    return enter


def other_systems(folder, secret):
    landlock = [444, 445, 446]
    unshare, seccomp_and_prctl = (97, 157) if os.uname().machine == "aarch64" else (272, 157)
    good = folder / "good.cpp"
    good.write_text("#include <pto/pto-inst.hpp>\n" + ENTRY + "{}\n")
    (folder / "trusted.cpp").write_text("#include <pto/pto-inst.hpp>\n" + ENTRY + "{ }\n")
    users = {"root": {}}
    if os.geteuid() == 0:
        users["nobody"] = {"user": 65534, "group": 65534, "extra_groups": []}
    for user, more in users.items():
        env = dict(os.environ, STRATA_CACHE=str(folder / f"cache-{user}"))
        os.mkdir(env["STRATA_CACHE"])
        if more:
            os.chown(env["STRATA_CACHE"], more["user"], more["group"])
        ways = {"Landlock": None, "mounts": without(*landlock), "neither": without(*landlock, unshare)}
        for way, enter in ways.items():
            env["STRATA_CACHE"] += "-"
            os.mkdir(env["STRATA_CACHE"])
            os.chown(env["STRATA_CACHE"], *(more["user"], more["group"]) if more else (os.geteuid(), os.getegid()))
            done = cc(good, env=env, preexec_fn=enter, **more)
            is_refused = "neither Landlock nor mounts" in done.stderr
            check(f"{user}, {way}", done.returncode == 0 or (is_refused and way != "Landlock"), done.stderr)
            check(f"{user}, {way}: refused", is_refused or way != "neither", done.stderr)
            if is_refused:
                print(f"{user}, {way}: refused")
                done = cc(folder / "trusted.cpp", "--trust", env=env, preexec_fn=enter, **more)
                check(f"{user}, {way}: trusted", done.returncode == 0, done.stderr)
                continue
            for name in AGAIN:
                done = cc(source_of(name, folder, secret), env=env, preexec_fn=enter, **more)
                said = done.stdout + done.stderr
                check(f"{user}, {way}: {name}", SECRET not in said and "\x1b" not in said and
                      done.returncode == (0 if name == "escapes" else 3), done.returncode, said[-300:])


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        top.chmod(0o755)
        os.environ["STRATA_CACHE"] = str(top / "cache")
        folder, secret, victim = top / "kernels", top / "secret", top / "victim"
        folder.mkdir()
        secret.write_text(f'"{SECRET}"\n')
        victim.write_text("as it was" * 1000)
        (folder / "leading_rows.h").symlink_to(secret)
        running(folder, secret, victim)
        sources(folder, secret)
        home(top, secret)
        other_systems(folder, secret)
        check("nothing else is touched", victim.read_text() == "as it was" * 1000)
    for name, line in told:
        print(f"{name}: {line}")
    print(len(told), "kernels; failed:", ", ".join(failures) if failures else "none")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
