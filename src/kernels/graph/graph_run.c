/*
 * One orchestration, run and listened to: what it sends is taken as a stranger's file.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/run/cancel.h"
#include "base/run/child.h"
#include "kernels/graph/graph_in.h"

#define MOST_SENT ((size_t)1 << 30)
#define MOST_SAID ((size_t)1 << 16)
#define MOST_USED ((int64_t)4 << 30) /* bytes: values of the scene, and what is written to them */
enum { RUN_LIMIT_MS = 60000 };

struct taker {
    struct task_graph *g;
    struct str rest;
    const struct graph_callable *callable;
    int64_t run, first;               /* the run and its first task */
    VEC_OF(struct graph_buffer) made; /* by its tasks */
    size_t n_own;                     /* by the task at hand */
};

static bool take_words(struct taker *t, uint64_t *out, size_t n)
{
    if (t->rest.n < n * sizeof(*out))
        return false;
    memcpy(out, t->rest.at, n * sizeof(*out));
    t->rest = str_part(t->rest, n * sizeof(*out), t->rest.n);
    return true;
}

/* The place of a kernel among those of the callable, by its number. */
static int64_t incore_of(const struct graph_callable *c, uint64_t word)
{
    for (size_t i = 0; i < c->n_incores; i++)
        if ((uint64_t)c->incores[i].func_id == word)
            return (int64_t)i;
    return GRAPH_NONE;
}

/* A tensor that the task makes is a new buffer. */
static bool take_made(struct taker *t, const uint64_t *w, struct graph_tensor *out)
{
    struct graph_buffer b = {.kind = GRAPH_MADE,
                             .bytes = w[TENSOR_BYTES],
                             .dtype = out->dtype,
                             .maker = (int64_t)t->g->tasks.n,
                             .is_known = w[TENSOR_INITIAL] != 0};

    if (w[TENSOR_BUFFER] != t->g->n_given + t->made.n)
        return false;
    t->n_own++;
    b.name = arena_format(&t->g->arena, "t%zu_%zu", t->g->tasks.n, t->n_own - 1);
    b.data = S("");
    if (w[TENSOR_INITIAL] != 0) {
        unsigned char bytes[8];
        memcpy(bytes, &w[TENSOR_INITIAL], sizeof(bytes));
        b.data =
            arena_str(&t->g->arena, (struct str){(const char *)bytes, (size_t)out->dtype->bytes});
    }
    vec_push(&t->made, b);
    return true;
}

/* False: not what our child sends. Nothing is believed: an orchestration may write to the pipe
 * itself. */
static bool take_tensor(struct taker *t, struct graph_tensor *out)
{
    uint64_t w[TENSOR_WORDS];

    if (!take_words(t, w, TENSOR_WORDS) || w[TENSOR_ROLE] > GRAPH_NO_DEP ||
        w[TENSOR_RANK] > GRAPH_DIMS || graph_dtype(w[TENSOR_DTYPE]) == NULL)
        return false;
    *out = (struct graph_tensor){.buffer = (int64_t)w[TENSOR_BUFFER],
                                 .offset = w[TENSOR_OFFSET],
                                 .bytes = w[TENSOR_BYTES],
                                 .start = w[TENSOR_START],
                                 .role = (enum graph_role)w[TENSOR_ROLE],
                                 .dtype = graph_dtype(w[TENSOR_DTYPE]),
                                 .rank = (size_t)w[TENSOR_RANK],
                                 .creator = GRAPH_NONE,
                                 .is_manual = w[TENSOR_MANUAL] != 0};
    for (size_t i = 0; i < out->rank; i++) {
        if (w[TENSOR_SHAPE + i] > UINT32_MAX || w[TENSOR_STRIDES + i] > UINT32_MAX)
            return false;
        out->shape[i] = (int64_t)w[TENSOR_SHAPE + i];
        out->strides[i] = (int64_t)w[TENSOR_STRIDES + i];
    }
    if (w[TENSOR_CREATOR] < t->g->tasks.n - (size_t)t->first)
        out->creator = t->first + (int64_t)w[TENSOR_CREATOR];
    if (out->role == GRAPH_OUTPUT && !take_made(t, w, out))
        return false;
    if (out->buffer == GRAPH_NONE)
        return true;
    if (out->buffer < 0 || (uint64_t)out->buffer >= t->g->n_given + t->made.n)
        return false;
    uint64_t bytes = (uint64_t)out->buffer < t->g->n_given
                         ? t->g->buffers[out->buffer].bytes
                         : t->made.at[(size_t)out->buffer - t->g->n_given].bytes;
    return out->offset <= bytes && out->bytes <= ((uint64_t)1 << 46) &&
           out->start <= ((uint64_t)1 << 46);
}

/* One task of the record, with its lists; false as in take_tensor(). */
static bool take_task(struct taker *t)
{
    struct task_graph *g = t->g;
    uint64_t w[TASK_WORDS], word[SCALAR_WORDS];
    struct graph_task task = {.run = t->run};

    if (!take_words(t, w, TASK_WORDS) || w[WORD_KIND] > GRAPH_ALLOC ||
        w[WORD_TENSORS] > SLOT_LOCAL || w[WORD_SCALARS] > SLOT_LOCAL || w[WORD_AFTER] > t->rest.n ||
        w[WORD_FILE] > 4096 || w[WORD_CONDITION] > 6 || w[WORD_LINE] > INT32_MAX ||
        (int64_t)w[WORD_BLOCKS] > INT32_MAX)
        return false;
    task.kind = (enum graph_kind)w[WORD_KIND];
    for (size_t i = 0; i < GRAPH_CORES; i++)
        task.kernels[i] =
            task.kind == GRAPH_TASK ? incore_of(t->callable, w[WORD_KERNEL + i]) : GRAPH_NONE;
    task.blocks = (int64_t)w[WORD_BLOCKS] > 0 ? (int64_t)w[WORD_BLOCKS] : 1;
    task.is_early = (w[WORD_FLAGS] & FLAG_EARLY) != 0;
    task.is_sync_start = (w[WORD_FLAGS] & FLAG_SYNC) != 0;
    task.is_manual_scope = (w[WORD_FLAGS] & FLAG_MANUAL) != 0;
    task.reads_results = (w[WORD_FLAGS] & FLAG_READS) != 0;
    task.condition = (int32_t)w[WORD_CONDITION];
    task.condition_buffer = (int64_t)w[WORD_CONDITION_BUFFER];
    task.condition_offset = w[WORD_CONDITION_OFFSET];
    task.condition_target = (int64_t)w[WORD_CONDITION_TARGET];
    task.line = (uint32_t)w[WORD_LINE];
    task.tensors = (struct graph_part){g->tensors.n, (size_t)w[WORD_TENSORS]};
    task.scalars = (struct graph_part){g->scalars.n, (size_t)w[WORD_SCALARS]};
    task.after = (struct graph_part){g->deps.n, 0};
    t->n_own = 0;
    for (size_t i = 0; i < task.tensors.n; i++) {
        struct graph_tensor tensor;
        if (!take_tensor(t, &tensor))
            return false;
        vec_push(&g->tensors, tensor);
    }
    for (size_t i = 0; i < task.scalars.n; i++) {
        if (!take_words(t, word, SCALAR_WORDS))
            return false;
        int64_t context = (int64_t)word[SCALAR_CONTEXT];
        bool is_context = context >= 0 && (uint64_t)context < t->g->n_given &&
                          g->buffers[context].kind == GRAPH_CONTEXT;
        vec_push(&g->scalars, ((struct graph_scalar){is_context ? 0 : word[SCALAR_BITS],
                                                     is_context ? context : GRAPH_NONE}));
    }
    for (uint64_t i = 0; i < w[WORD_AFTER]; i++) {
        if (!take_words(t, word, 1))
            return false;
        if (word[0] < g->tasks.n - (size_t)t->first) {
            vec_push(&g->deps, ((struct graph_dep){t->first + (int64_t)word[0], GRAPH_NAMED}));
            task.after.n++;
        }
    }
    if (t->rest.n < w[WORD_FILE] || task.condition_buffer < GRAPH_NONE ||
        task.condition_buffer >= (int64_t)(g->n_given + t->made.n))
        return false;
    task.file = arena_str(&g->arena, str_part(t->rest, 0, (size_t)w[WORD_FILE]));
    t->rest = str_part(t->rest, (size_t)w[WORD_FILE], t->rest.n);
    vec_push(&g->tasks, task);
    return true;
}

/* Buffers that its tasks made come behind all there were: their numbers change. */
static void add_made(struct taker *t)
{
    struct task_graph *g = t->g;
    struct graph_buffer *all =
        ARENA_ARRAY(&g->arena, struct graph_buffer, g->n_buffers + t->made.n);
    int64_t more = (int64_t)(g->n_buffers - g->n_given);

    if (g->n_buffers > 0)
        memcpy(all, g->buffers, g->n_buffers * sizeof(*all));
    if (t->made.n > 0)
        memcpy(all + g->n_buffers, t->made.at, t->made.n * sizeof(*all));
    g->buffers = all;
    g->n_buffers += t->made.n;
    for (size_t i = (size_t)t->first; more > 0 && i < g->tasks.n; i++) {
        struct graph_task *task = &g->tasks.at[i];
        for (size_t k = 0; k < task->tensors.n; k++) {
            int64_t *buffer = &g->tensors.at[task->tensors.first + k].buffer;
            *buffer += *buffer >= (int64_t)g->n_given ? more : 0;
        }
        task->condition_buffer += task->condition_buffer >= (int64_t)g->n_given ? more : 0;
    }
}

/* The tasks of one submission, then the memory they made. */
static enum status take_all(struct task_graph *g, const struct graph_call *call, struct str sent,
                            struct diag *d)
{
    struct taker t = {.g = g,
                      .rest = sent,
                      .callable = &g->callables[call->callable],
                      .run = (int64_t)g->runs.n,
                      .first = (int64_t)g->tasks.n};
    bool is_fine = true;

    while (is_fine && t.rest.n > 0)
        is_fine = take_task(&t);
    if (is_fine)
        add_made(&t);
    vec_free(&t.made);
    if (!is_fine)
        return diag_fail(d, ST_IO, "replay.orchestration",
                         (struct where){.path = t.callable->source},
                         "the record of the orchestration is damaged");
    vec_push(&g->runs,
             ((struct graph_called){.callable = call->callable,
                                    .worker = call->worker,
                                    .tasks = {(size_t)t.first, g->tasks.n - (size_t)t.first}}));
    return ST_OK;
}

/* ---- the process ---- */

/* Why a child ended without its record. */
static enum status describe_end(const struct graph_call *call, struct task_graph *g,
                                const struct graph_failure *f, const struct child_process *c,
                                struct diag *d)
{
    struct where where = {.path = g->callables[call->callable].source};
    int number = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;

    if (c->end == CHILD_LATE || number == SIGXCPU)
        return diag_fail(d, ST_LIMIT, "replay.orchestration", where,
                         "the orchestration did not end in time: it may wait for what a kernel "
                         "would write");
    if (c->end != CHILD_ENDED)
        return diag_fail(d, ST_LIMIT, "replay.orchestration", where,
                         "the orchestration takes more memory, or submits more, than it may here");
    if (f->has_failed) {
        struct str text =
            arena_str(&g->arena, (struct str){f->text, strnlen(f->text, sizeof(f->text))});
        struct str file =
            arena_str(&g->arena, (struct str){f->file, strnlen(f->file, sizeof(f->file))});
        if (file.n > 0)
            where.path = arena_cstr(&g->arena, file);
        where.line = f->line > 0 ? (uint64_t)f->line : 0;
        return diag_fail(d, ST_FORMAT, "replay.orchestration", where, "%.*s", STR_ARGS(text));
    }
    if (number == SIGSYS)
        return diag_fail(
            d, ST_FORMAT, "replay.orchestration", where,
            "the orchestration starts a thread or a process, which it may not do here");
    return diag_fail(d, ST_TOOL, "replay.orchestration", where,
                     "the orchestration ended with %s %d", number > 0 ? "signal" : "exit code",
                     number > 0 ? number : WEXITSTATUS(c->status));
}

static int64_t known_bytes(const struct task_graph *g)
{
    int64_t sum = 0;

    for (size_t i = 0; i < g->n_buffers; i++)
        sum += (int64_t)g->buffers[i].data.n;
    return sum;
}

enum status graph_run_call(const struct graph_job *job, struct task_graph *g,
                           const struct graph_call *call, const char *object, struct diag *d)
{
    struct where where = {.path = g->callables[call->callable].source};
    struct graph_failure *failure =
        mmap(NULL, sizeof(*failure), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct child_process c = {.limit_ms = job->limit_ms > 0 ? job->limit_ms : RUN_LIMIT_MS,
                              .most_bytes = MOST_USED + known_bytes(g),
                              .most_sent = MOST_SENT,
                              .most_said = MOST_SAID};
    enum status status = ST_OK;

    if (failure == MAP_FAILED || !child_fork(&c))
        status = diag_fail(d, ST_TOOL, "replay.orchestration", where,
                           "no process for the orchestration: %s", strerror(errno));
    else if (c.pid == 0)
        graph_child(job, g, call, object, failure, c.out, c.said_to);
    if (status == ST_OK)
        child_follow(&c);
    if (status == ST_OK && cancelled())
        status = ST_CANCELLED;
    if (status == ST_OK)
        status = c.end == CHILD_ENDED && failure->is_done && !failure->has_failed
                     ? take_all(g, call, text_view(&c.sent.text), d)
                     : describe_end(call, g, failure, &c, d);
    child_free(&c);
    if (failure != MAP_FAILED)
        munmap(failure, sizeof(*failure));
    return status;
}
