/*
 * posix_spawn() does the delicate part: it starts the child without copying our page tables (a
 * loaded capture can be gigabytes) and returns the errno of a failed exec.
 *
 * The child is looked at with WNOWAIT and reaped last of all: while it is a zombie its process
 * group id cannot be given to anyone else, so kill(-pid) cannot hit a stranger.
 */
#include "base/run/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/limits.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/run/now.h"
#include "base/text/text.h"

enum {
    LOOK_MS = 20,    /* how late an exit, a time-out or an interruption may be noticed */
    LINGER_MS = 500, /* output of programs left behind is read this long after the exit */
    CHUNK = 1 << 16,
    BOX_FAILED = 126 /* exit code of a child that could not be confined */
};

struct captured {
    int fd; /* our end of the pipe, -1 after its end */
    struct text text;
};

struct run {
    const struct proc_spec *spec;
    pid_t pid;
    struct captured stream[2]; /* stdout, stderr */
    struct outfile log;
    bool has_log;
    uint64_t logged;
    nanos begin;
    bool is_dead;       /* a zombie waiting to be reaped */
    enum proc_end stop; /* PROC_TIMED_OUT, PROC_CANCELLED or PROC_STOPPED once we end it */
    nanos kill_at;      /* when SIGKILL follows; INT64_MAX after it was sent */
    nanos quit_at;      /* when reading ends although a pipe is open */
    int silent_looks;   /* looks taken since both streams ended */
};

static nanos after_ms(nanos from, int64_t ms)
{
    return ms < INT64_MAX / 1000000 ? nanos_add(from, ms * 1000000) : INT64_MAX;
}

/* Our environment with `extra` added; a name given there replaces ours. */
static char **merge_env(struct arena *arena, const char *const *extra)
{
    size_t ours = 0, added = 0, n = 0;

    while (environ != NULL && environ[ours] != NULL)
        ours++;
    while (extra != NULL && extra[added] != NULL)
        added++;
    char **env = ARENA_ARRAY(arena, char *, ours + added + 1);
    for (size_t i = 0; i < ours; i++) {
        struct str name = str_of(environ[i]);
        name.n = str_find_char(name, '=') + 1; /* with the '=' */
        bool is_replaced = false;
        for (size_t k = 0; k < added && !is_replaced; k++)
            is_replaced = strncmp(extra[k], name.at, name.n) == 0;
        if (!is_replaced)
            env[n++] = environ[i];
    }
    for (size_t k = 0; k < added; k++)
        env[n++] = arena_cstr(arena, str_of(extra[k]));
    return env;
}

/* The program's file. A relative one is looked up before the child changes its folder. */
static const char *find_program(struct arena *arena, const struct proc_spec *spec)
{
    const char *file = fs_find_program(arena, spec->argv[0]);
    char here[PATH_MAX];

    if (file == NULL || file[0] == '/' || spec->folder == NULL)
        return file;
    return getcwd(here, sizeof(here)) != NULL ? fs_join(arena, here, file) : file;
}

/* A pipe whose ends are not 0, 1 or 2 even when ours are closed; the errno, or 0. */
static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        if (ends[i] > 2)
            continue;
        int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
        int error = errno;
        close(ends[i]);
        ends[i] = moved;
        if (moved < 0) {
            close(ends[1 - i]);
            ends[0] = ends[1] = -1;
            return error;
        }
    }
    job_fd(ends[0]);
    job_fd(ends[1]);
    return 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        job_close(*fd);
    *fd = -1;
}

/* What the child does between fork and exec: its files, then its folder. The errno, or 0. */
static int plan_files(posix_spawn_file_actions_t *files, const struct proc_spec *spec, int out,
                      int err)
{
    int error = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);

    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, out, 1);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, err, 2);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(files, 3);
    if (error == 0 && spec->folder != NULL)
        error = posix_spawn_file_actions_addchdir_np(files, spec->folder);
    return error;
}

/* For a job that ends early. */
static void end_child(void *what, size_t n)
{
    pid_t pid = (pid_t)(intptr_t)what;

    (void)n;
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* In the child, which may only make system calls. */
_Noreturn static void exec_boxed(const struct proc_spec *spec, const char *file, char **env,
                                 int out, int err, enum sandbox_way way)
{
    sigset_t none;
    int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);

    sigemptyset(&none);
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    setpgid(0, 0);
    if (dup2(empty, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || close_range(3, ~0u, 0) != 0 ||
        (spec->folder != NULL && chdir(spec->folder) != 0))
        _exit(BOX_FAILED);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (sandbox_confine(spec->box, way) == 0)
        execve(file, (char *const *)spec->argv, env);
    _exit(BOX_FAILED);
}

/* posix_spawn() has no place for a sandbox. The child becomes the leader of its group on both
 * sides, since either may be first. */
static int spawn_boxed(struct run *run, struct arena *arena, const char *file, int out, int err)
{
    char **env = merge_env(arena, run->spec->env);
    enum sandbox_way way = sandbox_way();
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* no handler of ours runs in the child */
    run->pid = fork();
    if (run->pid == 0)
        exec_boxed(run->spec, file, env, out, err, way);
    int error = run->pid < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error != 0)
        return error;
    setpgid(run->pid, run->pid);
    job_hold(end_child, (void *)(intptr_t)run->pid, 0);
    return 0;
}

/* A group of its own lets all it starts be ended together; signals are as in a fresh shell, not
 * as we have set ours. */
static int spawn(struct run *run, struct arena *arena, const char *file, int out, int err)
{
    if (run->spec->box != NULL)
        return spawn_boxed(run, arena, file, out, err);
    char **env = merge_env(arena, run->spec->env);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, none;
    int error = posix_spawn_file_actions_init(&files);

    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attr);
    if (error == 0) {
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attr, &all);
        posix_spawnattr_setsigmask(&attr, &none);
        posix_spawnattr_setpgroup(&attr, 0);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETSIGMASK);
        error = plan_files(&files, run->spec, out, err);
        if (error == 0)
            error =
                posix_spawn(&run->pid, file, &files, &attr, (char *const *)run->spec->argv, env);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    if (error == 0)
        job_hold(end_child, (void *)(intptr_t)run->pid, 0);
    return error;
}

/* Starts the child with a pipe on each stream; the errno, or 0. */
static int proc_start(struct run *run, struct arena *arena, const char *file)
{
    int ends[2][2] = {{-1, -1}, {-1, -1}};
    int error = open_pipe(ends[0]);

    if (error == 0)
        error = open_pipe(ends[1]);
    if (error == 0)
        error = spawn(run, arena, file, ends[0][1], ends[1][1]);
    for (int i = 0; i < 2; i++) {
        close_fd(&ends[i][1]);
        if (error != 0)
            close_fd(&ends[i][0]);
        run->stream[i].fd = ends[i][0];
    }
    return error;
}

static void read_stream(struct run *run, struct captured *s)
{
    size_t most = run->spec->keep_max > 0 ? run->spec->keep_max : LIMIT_PROC_LOG;
    char chunk[CHUNK];
    ssize_t n = read(s->fd, chunk, sizeof(chunk));

    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        close_fd(&s->fd);
    if (n <= 0)
        return;
    struct str text = {chunk, (size_t)n};
    text_put(&s->text, str_part(text, 0, most - s->text.n));
    if (run->has_log && run->logged < most) {
        struct str logged = str_part(text, 0, most - (size_t)run->logged);
        outfile_write(&run->log, logged);
        run->logged += logged.n;
    }
}

/* Waits up to LOOK_MS for output and takes one piece of each stream that has some. */
static void read_some(struct run *run)
{
    struct pollfd ready[2] = {{.fd = run->stream[0].fd, .events = POLLIN},
                              {.fd = run->stream[1].fd, .events = POLLIN}};
    bool is_silent = run->stream[0].fd < 0 && run->stream[1].fd < 0;

    /* Streams usually end with the exit, which is then a moment away: look soon, then rarely. */
    if (is_silent && run->silent_looks < LOOK_MS)
        run->silent_looks++;
    if (poll(ready, 2, is_silent ? run->silent_looks : LOOK_MS) <= 0)
        return;
    for (int i = 0; i < 2; i++)
        if (run->stream[i].fd >= 0 && ready[i].revents != 0)
            read_stream(run, &run->stream[i]);
}

static void check_child(struct run *run, nanos t)
{
    siginfo_t info = {0};

    if (run->is_dead)
        return;
    if (waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
        return;
    /* Also when it cannot be waited for because the program ignores SIGCHLD. */
    run->is_dead = true;
    run->quit_at = after_ms(t, LINGER_MS);
}

/* Time-out, interruption, the caller's wish: SIGTERM now, SIGKILL when the grace period is over. */
static void end_if_due(struct run *run, nanos t)
{
    const struct proc_spec *spec = run->spec;
    bool is_late = spec->limit_ms > 0 && t >= after_ms(run->begin, spec->limit_ms);
    bool is_stopped = !run->is_dead && run->stop == PROC_NOT_STARTED && spec->tick != NULL &&
                      !spec->tick(spec->tick_ctx, run->pid, nanos_sub(t, run->begin));

    if (run->stop == PROC_NOT_STARTED && (cancelled() || is_late || is_stopped) && !run->is_dead) {
        run->stop = cancelled() ? PROC_CANCELLED : is_late ? PROC_TIMED_OUT : PROC_STOPPED;
        kill(-run->pid, SIGTERM);
        run->kill_at = after_ms(t, spec->grace_ms > 0 ? spec->grace_ms : PROC_GRACE_MS);
    }
    if (t >= run->kill_at) {
        kill(-run->pid, SIGKILL);
        run->kill_at = INT64_MAX;
    }
}

static void follow(struct run *run)
{
    for (;;) {
        read_some(run);
        nanos t = now_ns();
        check_child(run, t);
        end_if_due(run, t);
        bool is_silent = run->stream[0].fd < 0 && run->stream[1].fd < 0;
        bool is_kill_due = run->kill_at != INT64_MAX;
        if (run->is_dead && (is_silent || (t >= run->quit_at && !is_kill_due)))
            break;
    }
    /* What is left of the group: everything after a stop, and whatever still holds a pipe. */
    if (run->stop != PROC_NOT_STARTED || run->stream[0].fd >= 0 || run->stream[1].fd >= 0)
        kill(-run->pid, SIGKILL);
}

static void reap(struct run *run, struct proc_result *result)
{
    int status = 0;
    pid_t got;

    job_drop(end_child, (void *)(intptr_t)run->pid);
    do
        got = waitpid(run->pid, &status, 0);
    while (got < 0 && errno == EINTR);
    result->end = PROC_EXITED;
    result->code = got < 0 ? -1 : WEXITSTATUS(status); /* -1: the status went elsewhere */
    if (got >= 0 && WIFSIGNALED(status)) {
        result->end = PROC_SIGNALLED;
        result->code = WTERMSIG(status);
    }
    if (run->stop != PROC_NOT_STARTED) {
        int64_t limit = run->spec->limit_ms < INT_MAX ? run->spec->limit_ms : INT_MAX;
        result->end = run->stop;
        result->code = run->stop == PROC_TIMED_OUT ? (int)limit : 0;
    }
}

static enum status proc_judge(const struct proc_spec *spec, const struct proc_result *result,
                              struct diag *d)
{
    struct where where = {.path = spec->log};
    const char *tool = spec->argv[0];

    switch (result->end) {
    case PROC_CANCELLED:
        return ST_CANCELLED;
    case PROC_STOPPED:
        return ST_TOOL;
    case PROC_TIMED_OUT:
        return diag_fail(d, ST_TOOL, "tool.timeout", where, "%s timed out after %lld ms", tool,
                         (long long)spec->limit_ms);
    case PROC_SIGNALLED:
        return diag_fail(d, ST_TOOL, "tool.signal", where, "%s was killed by signal %d (%s)", tool,
                         result->code,
                         sigabbrev_np(result->code) != NULL ? sigabbrev_np(result->code) : "?");
    case PROC_NOT_STARTED:
        return diag_fail(d, ST_TOOL, "tool.failed", where, "%s could not be started: %s", tool,
                         fs_error_text(result->code));
    case PROC_EXITED:
        break;
    }
    if (result->code != 0)
        return diag_fail(d, ST_TOOL, "tool.failed", where, "%s exited with status %d", tool,
                         result->code);
    return ST_OK;
}

static enum status proc_check(const struct proc_spec *spec, const char *file,
                              struct proc_result *result, struct diag *d)
{
    result->code = ENOENT;
    if (cancelled()) {
        result->end = PROC_CANCELLED;
        result->code = 0;
        return ST_CANCELLED;
    }
    if (file == NULL)
        return diag_fail(d, ST_TOOL, "tool.missing", (struct where){0}, "%s was not found%s",
                         spec->argv[0],
                         strchr(spec->argv[0], '/') == NULL ? " in any folder of PATH" : "");
    if (spec->folder != NULL && !fs_is_dir(spec->folder))
        return diag_fail(d, ST_TOOL, "tool.failed", (struct where){.path = spec->folder},
                         "%s could not be started: no such folder", spec->argv[0]);
    result->code = 0;
    return ST_OK;
}

enum status proc_run(const struct proc_spec *spec, struct arena *arena, struct proc_result *result,
                     struct diag *d)
{
    struct run run = {
        .spec = spec, .stream = {{.fd = -1}, {.fd = -1}}, .kill_at = INT64_MAX, .begin = now_ns()};
    const char *file = find_program(arena, spec);

    *result = (struct proc_result){.end = PROC_NOT_STARTED, .out = S(""), .err = S("")};
    TRY(proc_check(spec, file, result, d));
    if (spec->log != NULL) {
        TRY(outfile_open(&run.log, spec->log, d));
        run.has_log = true;
    }
    result->code = proc_start(&run, arena, file);
    if (result->code == 0) {
        cancel_hold(); /* until the program and what it started are gone */
        follow(&run);
        reap(&run, result);
        cancel_release();
        close_fd(&run.stream[0].fd);
        close_fd(&run.stream[1].fd);
        result->out = text_keep(&run.stream[0].text, arena);
        result->err = text_keep(&run.stream[1].text, arena);
    }
    result->took = nanos_sub(now_ns(), run.begin);
    enum status st = proc_judge(spec, result, d);
    if (run.has_log && st == ST_CANCELLED)
        outfile_abort(&run.log);
    else if (run.has_log && outfile_commit(&run.log, OUTFILE_FAST, d) != ST_OK && st == ST_OK)
        st = ST_IO;
    return st;
}
