/*
 * The kernel's process as we see it: started, watched, and what it sends taken as a stranger's
 * file. Nothing it does may end us, hold us up beyond the limit or fill our memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/run/now.h"
#include "base/text/inert.h"
#include "kernels/pto/pto_cpp_in.h"

enum { LOOK_MS = 5, CHUNK = 1 << 16 };
#define MOST_STREAM  ((size_t)1 << 29) /* a million instructions have some 150 MB */
#define MOST_PRINTED ((size_t)1 << 16)

enum watch_end { WATCH_ENDED, WATCH_LATE, WATCH_LARGE, WATCH_LOUD };

struct watch_pipe {
    int ends[2]; /* to read, to write; -1: closed */
    struct text text;
    size_t most;
    bool is_cut;
};

struct watch {
    pid_t child;
    struct watch_pipe out, said;
    nanos begin, limit;
    int64_t page, first, most; /* bytes: of a page, resident at the start and allowed */
    enum watch_end end;
    int status;
};

/* ---- pipes and the process ---- */

static bool watch_open(struct watch_pipe *p)
{
    if (pipe2(p->ends, O_CLOEXEC) != 0) {
        p->ends[0] = p->ends[1] = -1;
        return false;
    }
    job_fd(p->ends[0]);
    job_fd(p->ends[1]);
    return true;
}

static void watch_close(struct watch_pipe *p, size_t i)
{
    if (p->ends[i] >= 0)
        job_close(p->ends[i]);
    p->ends[i] = -1;
}

static void watch_kill(void *what, size_t n)
{
    pid_t child = (pid_t)(intptr_t)what;

    (void)n;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void watch_read(struct watch_pipe *p)
{
    char chunk[CHUNK];
    ssize_t n = read(p->ends[0], chunk, sizeof(chunk));

    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        watch_close(p, 0);
    if (n <= 0)
        return;
    size_t room = p->most - p->text.n;
    text_put(&p->text, (struct str){chunk, (size_t)n < room ? (size_t)n : room});
    p->is_cut = p->is_cut || (size_t)n > room;
}

static int64_t resident_bytes(const struct watch *w)
{
    char path[48];
    long total = 0, resident = 0;

    snprintf(path, sizeof(path), "/proc/%d/statm", (int)w->child);
    FILE *f = fopen(path, "re");
    if (f != NULL && fscanf(f, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    if (f != NULL)
        fclose(f);
    return resident * w->page;
}

/* Limits of address space leave out the tensors, of which some are reserved larger than they can
 * be. */
static bool watch_goes_on(struct watch *w)
{
    if (now_ns() - w->begin > w->limit)
        w->end = WATCH_LATE;
    else if (resident_bytes(w) - w->first > w->most)
        w->end = WATCH_LARGE;
    else if (w->out.is_cut)
        w->end = WATCH_LOUD;
    return w->end == WATCH_ENDED && !cancelled();
}

/* Reads what comes until the process is gone and its pipes are empty; ends it when it goes too far.
 * A pipe may stay open behind it, so nobody waits for its end. */
static void watch_follow(struct watch *w)
{
    bool is_dead = false;

    while (w->out.ends[0] >= 0 || w->said.ends[0] >= 0 || !is_dead) {
        struct pollfd ready[2] = {{.fd = w->out.ends[0], .events = POLLIN},
                                  {.fd = w->said.ends[0], .events = POLLIN}};
        int n = poll(ready, 2, is_dead ? 0 : LOOK_MS);
        if (n > 0 && ready[0].revents != 0)
            watch_read(&w->out);
        if (n > 0 && ready[1].revents != 0)
            watch_read(&w->said);
        if (is_dead && n <= 0)
            break;
        if (!is_dead && !watch_goes_on(w))
            kill(w->child, SIGKILL);
        if (!is_dead)
            is_dead = waitpid(w->child, &w->status, WNOHANG) != 0;
    }
}

/* ---- what it sent ---- */

static const char *code_of(uint32_t number)
{
#define NAME(name) name,
    static const char *const names[] = {PTO_CPP_CODES(NAME)};
#undef NAME

    return names[number < ARRAY_LEN(names) ? number : 0];
}

/* A text of the shared memory, which need not end. */
static const char *text_of(struct arena *arena, const char *at, size_t size)
{
    return arena_cstr(arena, (struct str){at, strnlen(at, size)});
}

static struct where record_place(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                                 const char *file, size_t size, int32_t line)
{
    const char *path = text_of(&r->arena, file, size);

    return (struct where){path[0] != '\0' ? path : job->source, line > 0 ? (uint64_t)line : 0, 0};
}

static enum status describe_failure(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                                    struct diag *d)
{
    const struct pto_cpp_memory *m = r->memory;
    const char *code = code_of(m->code), *text = text_of(&r->arena, m->text, sizeof(m->text));
    bool is_early = strcmp(code, "pto-cpp.load") == 0 || strcmp(code, "pto-cpp.no-sandbox") == 0;

    if (strcmp(code, "pto-cpp.no-sandbox") == 0)
        diag_hint(d, "try", "--trust, if you know what the source does");
    else if (r->is_drafted && !is_early)
        diag_hint(d, "note",
                  "the arguments were guessed from the source; --arg-spec FILE gives them");
    return diag_fail(d, ST_FORMAT, code, record_place(job, r, m->file, sizeof(m->file), m->line),
                     "%s", text);
}

static enum status tell_end(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                            const struct watch *w, struct diag *d)
{
    const struct pto_host_mark *mark = &r->memory->mark;
    struct where where = record_place(job, r, mark->file, sizeof(mark->file), mark->line);
    int number = WIFSIGNALED(w->status) ? WTERMSIG(w->status) : 0;

    if (w->end == WATCH_LATE || number == SIGXCPU)
        return diag_fail(d, ST_LIMIT, "pto-cpp.timeout", where,
                         "the kernel did not end in time; its last instruction was here (%llu so "
                         "far)",
                         (unsigned long long)mark->calls);
    if (w->end == WATCH_LARGE)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", where,
                         "the kernel uses more than %d MiB beyond its tensors",
                         (int)(PTO_CPP_MOST_DATA >> 20));
    if (w->end == WATCH_LOUD)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", where,
                         "the kernel's instructions take more than %d MiB of text",
                         (int)(MOST_STREAM >> 20));
    if (r->memory->has_failed)
        return describe_failure(job, r, d);
    if (number == SIGSYS) /* with all signals held back */
        return diag_fail(d, ST_FORMAT, "pto-cpp.sandbox", where,
                         "the kernel starts a thread or a process, which a kernel may not do");
    return diag_fail(d, ST_TOOL, "pto-cpp.crash", where, "the kernel ended with %s %d",
                     number > 0 ? "signal" : "exit code",
                     number > 0 ? number : WEXITSTATUS(w->status));
}

/* Sizes of text and lines, the text, the line of the source behind each line of it. */
static bool take_stream(struct pto_cpp_run *r, struct str all)
{
    uint64_t sizes[2] = {0};
    uint32_t last = 1;

    if (all.n < sizeof(sizes))
        return false;
    memcpy(sizes, all.at, sizeof(sizes));
    all = str_part(all, sizeof(sizes), all.n);
    if (sizes[0] > all.n || sizes[1] != (all.n - sizes[0]) / sizeof(uint32_t) ||
        (all.n - sizes[0]) % sizeof(uint32_t) != 0)
        return false;
    text_put(&r->text, str_part(all, 0, sizes[0]));
    vec_reserve(&r->lines, sizes[1]);
    if (sizes[1] > 0)
        memcpy(r->lines.at, all.at + sizes[0], sizes[1] * sizeof(uint32_t));
    r->lines.n = sizes[1];
    for (size_t i = 0; i < r->source.n; i++)
        last += r->source.at[i] == '\n';
    for (size_t i = 0; i < r->lines.n; i++)
        if (r->lines.at[i] > last)
            r->lines.at[i] = 0;
    return true;
}

static enum status receive(struct pto_cpp_run *r, struct str all, struct diag *d)
{
    if (!take_stream(r, all))
        return diag_fail(d, ST_IO, "pto-cpp.memory", (struct where){0},
                         "the stream of the kernel is lost");
    for (size_t i = 0; i < r->buffers.n; i++) {
        size_t size = r->buffers.at[i].size;
        r->buffers.at[i].reached = r->memory->reached[i] < size ? r->memory->reached[i] : size;
    }
    return ST_OK;
}

/* ---- all of it ---- */

static int64_t named_bytes(const struct pto_cpp_run *r)
{
    int64_t sum = 0, bytes = 0;

    for (size_t i = 0; i < r->buffers.n; i++)
        sum += slot_bytes(r->buffers.at[i].slot, &bytes) ? bytes : (int64_t)r->buffers.at[i].size;
    return sum;
}

static void watch_run(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct watch *w)
{
    void *child = (void *)(intptr_t)w->child;

    job_hold(watch_kill, child, 0);
    watch_close(&w->out, 1);
    watch_close(&w->said, 1);
    w->begin = now_ns();
    w->limit = (job->limit_ms > 0 ? job->limit_ms : PTO_CPP_LIMIT_MS) * 1000000;
    w->page = sysconf(_SC_PAGESIZE);
    w->first = resident_bytes(w);
    w->most = PTO_CPP_MOST_DATA + named_bytes(r);
    watch_follow(w);
    job_drop(watch_kill, child);
    r->run_ms = (double)(now_ns() - w->begin) / 1e6;
    r->calls = r->memory->mark.calls;
    text_clear(&r->printed);
    inert_put(&r->printed, text_view(&w->said.text), INERT_LINES);
    if (r->printed.n > 0 && !str_ends(text_view(&r->printed), S("\n")))
        text_char(&r->printed, '\n');
    if (w->said.is_cut)
        text_format(&r->printed, "(more than %zu bytes: the rest is dropped)\n", MOST_PRINTED);
}

/* Once in a process of its own: a kernel may do what it likes there, and all it leaves are bytes.
 */
enum status pto_cpp_run_once(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                             const struct pto_cpp_objects *l, struct diag *d)
{
    struct where where = {.path = job->source};
    struct watch w = {.out = {.ends = {-1, -1}, .most = MOST_STREAM},
                      .said = {.ends = {-1, -1}, .most = MOST_PRINTED}};
    enum status status = ST_OK;

    pto_cpp_forget(r);
    TRY(pto_cpp_arguments(job, r, d));
    if (!watch_open(&w.out) || !watch_open(&w.said) || (w.child = fork()) < 0)
        status = diag_fail(d, ST_TOOL, "pto-cpp.memory", where, "no process for the kernel: %s",
                           strerror(errno));
    else if (w.child == 0)
        pto_cpp_child(job, r, l, w.out.ends[1], w.said.ends[1]);
    else
        watch_run(job, r, &w);
    for (size_t i = 0; i < 2; i++) {
        watch_close(&w.out, i);
        watch_close(&w.said, i);
    }
    if (status == ST_OK && cancelled())
        status = ST_CANCELLED;
    if (status == ST_OK)
        status = w.end == WATCH_ENDED && r->memory->is_done ? receive(r, text_view(&w.out.text), d)
                                                            : tell_end(job, r, &w, d);
    text_free(&w.out.text);
    text_free(&w.said.text);
    return status;
}
