/*
 * The kernel's process as we see it: started, watched, and what it sends taken as a stranger's
 * file. Nothing it does may end us, hold us up beyond the limit or fill our memory.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/run/cancel.h"
#include "base/run/child.h"
#include "base/text/inert.h"
#include "kernels/pto/pto_cpp_in.h"

#define MOST_STREAM  ((size_t)1 << 29) /* a million instructions have some 150 MB */
#define MOST_PRINTED ((size_t)1 << 16)
#define MOST_NAMED   ((int64_t)32 << 30)

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
                            const struct child_process *w, struct diag *d)
{
    const struct pto_host_mark *mark = &r->memory->mark;
    struct where where = record_place(job, r, mark->file, sizeof(mark->file), mark->line);
    int number = WIFSIGNALED(w->status) ? WTERMSIG(w->status) : 0;

    if (w->end == CHILD_LATE || number == SIGXCPU)
        return diag_fail(d, ST_LIMIT, "pto-cpp.timeout", where,
                         "the kernel did not end in time; its last instruction was here (%llu so "
                         "far)",
                         (unsigned long long)mark->calls);
    if (w->end == CHILD_LARGE)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", where,
                         "the kernel uses more than %d MiB beyond its tensors",
                         (int)(PTO_CPP_MOST_DATA >> 20));
    if (w->end == CHILD_LOUD)
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
    for (size_t i = 0; i < r->parts.n; i++) {
        size_t size = r->parts.at[i].size;
        r->parts.at[i].reached = r->memory->reached[i] < size ? r->memory->reached[i] : size;
    }
    return ST_OK;
}

/* ---- all of it ---- */

/* What the tensors take, as far as their sizes are known. */
static int64_t named_bytes(const struct pto_cpp_run *r)
{
    int64_t sum = 0, bytes = 0;

    for (size_t i = 0; i < r->buffers.n; i++)
        if (r->parts.at[r->buffers.at[i].part].memory == NULL)
            sum +=
                slot_room(r->buffers.at[i].slot, &bytes) ? bytes : (int64_t)r->buffers.at[i].size;
    for (size_t i = 0; i < r->parts.n; i++)
        sum += r->parts.at[i].memory != NULL ? (int64_t)r->parts.at[i].size : 0;
    return sum < MOST_NAMED ? sum : MOST_NAMED;
}

static void take_printed(struct pto_cpp_run *r, const struct child_process *c)
{
    text_clear(&r->printed);
    inert_put(&r->printed, text_view(&c->said.text), INERT_LINES);
    if (r->printed.n > 0 && !str_ends(text_view(&r->printed), S("\n")))
        text_char(&r->printed, '\n');
    if (c->said.is_cut)
        text_format(&r->printed, "(more than %zu bytes: the rest is dropped)\n", MOST_PRINTED);
}

/* Once in a process of its own: a kernel may do what it likes there, and all it leaves are bytes.
 */
enum status pto_cpp_run_once(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                             const struct pto_cpp_objects *l, struct diag *d)
{
    struct where where = {.path = job->source};
    enum status status = ST_OK;

    pto_cpp_forget(r);
    TRY(pto_cpp_arguments(job, r, d));
    struct child_process c = {.limit_ms = job->limit_ms > 0 ? job->limit_ms : PTO_CPP_LIMIT_MS,
                              .most_bytes = PTO_CPP_MOST_DATA + named_bytes(r),
                              .most_sent = MOST_STREAM,
                              .most_said = MOST_PRINTED};
    if (!child_fork(&c))
        status = diag_fail(d, ST_TOOL, "pto-cpp.memory", where, "no process for the kernel: %s",
                           strerror(errno));
    else if (c.pid == 0)
        pto_cpp_child(job, r, l, c.out, c.said_to);
    if (status == ST_OK) {
        child_follow(&c);
        take_printed(r, &c);
        r->run_ms = (double)c.took / 1e6;
        r->calls = r->memory->mark.calls;
    }
    if (status == ST_OK && cancelled())
        status = ST_CANCELLED;
    if (status == ST_OK)
        status = c.end == CHILD_ENDED && r->memory->is_done ? receive(r, text_view(&c.sent.text), d)
                                                            : tell_end(job, r, &c, d);
    child_free(&c);
    return status;
}
