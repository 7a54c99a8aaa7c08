/*
 * The process of an orchestration. All of it is the orchestration's to change once that is loaded:
 * what it sends is a claim.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files/write_all.h"
#include "base/run/child.h"
#include "base/run/sandbox.h"
#include "base/text/text.h"
#include "kernels/graph/graph_in.h"
#include "kernels/pto/cost/chips.h"
#include "strata/scene_host.h"

enum { GRAPH_ALIGN = 1024, FLUSH_BYTES = 1 << 20, MOST_TASKS = 1 << 20 };
enum { A2A3_CLUSTERS = 24, A5_CLUSTERS = 32 }; /* where the table of chips does not tell */
#define MOST_MEMORY ((int64_t)1 << 30)         /* of the orchestration's own */
#define MOST_MADE   ((uint64_t)1 << 40)        /* bytes of tensors that tasks make: reserved */
#define LEAST_MADE  ((uint64_t)1 << 32)
#define MOST_FILLED ((uint64_t)64 << 20) /* bytes of memory that is written before it is read */

struct child_buffer {
    unsigned char *at;
    uint64_t bytes;
};

/* Tensors that tasks made, in order: they lie one behind the other. */
struct child_scene {
    const struct task_graph *g;
    struct graph_failure *failure;
    struct child_buffer *buffers; /* of the scene */
    VEC_OF(struct child_buffer) made;
    unsigned char *heap;
    uint64_t used, heap_bytes;
    uint64_t tasks;
    struct text text;
    int out;
    bool has_read; /* something that a task would have written */
    VEC_OF(struct child_buffer) written;
};

static struct child_scene *current; /* for handlers of signals */

_Noreturn static void child_fail(const char *text, const char *file, int32_t line)
{
    struct graph_failure *f = current->failure;

    snprintf(f->text, sizeof(f->text), "%s", text);
    snprintf(f->file, sizeof(f->file), "%s", file != NULL ? file : "");
    f->line = line;
    f->has_failed = true;
    _exit(1);
}

static void on_refused(const char *what)
{
    char text[160];

    snprintf(text, sizeof(text), "the orchestration %s, which it may not do here", what);
    child_fail(text, "", 0);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    child_fail(number == SIGFPE    ? "the orchestration divides by zero"
               : number == SIGABRT ? "the orchestration aborts"
                                   : "the orchestration touches memory that is not its own",
               "", 0);
}

/* ---- memory ---- */

static unsigned char *reserve(uint64_t bytes)
{
    void *at = mmap(NULL, bytes > 0 ? bytes : 1, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* The runtime's CommContext: rank, number of ranks, bytes of a window, where the windows are. */
static void fill_context(struct child_scene *s, size_t number)
{
    const struct graph_buffer *b = &s->g->buffers[number];
    uint64_t words[132] = {0};

    words[2] = (uint64_t)b->rank | (uint64_t)b->n_windows << 32;
    words[3] = s->g->buffers[b->windows[0]].bytes;
    for (size_t i = 0; i < b->n_windows && i < 64; i++)
        words[4 + i] = words[68 + i] = (uint64_t)(uintptr_t)s->buffers[b->windows[i]].at;
    memcpy(s->buffers[number].at, words, sizeof(words));
}

/* The scene's tensors with their values, its contexts, and the heap of what tasks make. */
static void make_buffers(struct child_scene *s)
{
    const struct task_graph *g = s->g;

    s->buffers = mem_grow(NULL, sizeof(*s->buffers), g->n_given + 1);
    for (size_t i = 0; i < g->n_given; i++) {
        s->buffers[i] = (struct child_buffer){reserve(g->buffers[i].bytes), g->buffers[i].bytes};
        if (s->buffers[i].at == NULL)
            child_fail("no memory to reserve for the tensors of the scene", "", 0);
        if (g->buffers[i].data.n > 0)
            memcpy(s->buffers[i].at, g->buffers[i].data.at, g->buffers[i].data.n);
        else if (g->buffers[i].fill != 0 && g->buffers[i].bytes <= MOST_FILLED)
            graph_fill(&g->buffers[i], s->buffers[i].at);
    }
    for (size_t i = 0; i < g->n_given; i++)
        if (g->buffers[i].kind == GRAPH_CONTEXT)
            fill_context(s, i);
    for (s->heap_bytes = MOST_MADE; s->heap == NULL && s->heap_bytes >= LEAST_MADE;
         s->heap_bytes /= s->heap == NULL ? 4 : 1)
        s->heap = reserve(s->heap_bytes);
    if (s->heap == NULL)
        child_fail("no memory to reserve for the tensors that tasks make", "", 0);
}

/* The last tensor that a task made at or before an address in the heap. */
static size_t made_at(const struct child_scene *s, uintptr_t at)
{
    size_t low = 0, high = s->made.n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)s->made.at[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Which memory an address is in, and how far: one of the scene's, or behind those one that a task
 * made. */
static bool locate(const struct child_scene *s, uint64_t address, int64_t *buffer, uint64_t *offset)
{
    uintptr_t at = (uintptr_t)address;

    if (s->made.n > 0 && at - (uintptr_t)s->heap < s->used) {
        size_t i = made_at(s, at);
        *buffer = (int64_t)(s->g->n_given + i);
        *offset = at - (uintptr_t)s->made.at[i].at;
        return true;
    }
    for (size_t i = 0; i < s->g->n_given; i++)
        if (at - (uintptr_t)s->buffers[i].at < s->buffers[i].bytes + (s->buffers[i].bytes == 0)) {
            *buffer = (int64_t)i;
            *offset = at - (uintptr_t)s->buffers[i].at;
            return true;
        }
    return false;
}

/* ---- tasks ---- */

static void put_word(struct child_scene *s, uint64_t word)
{
    text_put(&s->text, (struct str){(const char *)&word, sizeof(word)});
}

static void flush(struct child_scene *s)
{
    if (write_all(s->out, s->text.at, s->text.n) != 0)
        child_fail("the tasks could not be sent", "", 0);
    text_clear(&s->text);
}

/* Memory for a tensor that the task makes; one that begins with other values than zero gets them
 * where an orchestration may look. */
static void make_memory(struct child_scene *s, struct strata_scene_tensor *t)
{
    uint64_t room = (t->bytes + GRAPH_ALIGN - 1) / GRAPH_ALIGN * GRAPH_ALIGN;
    uint64_t size = graph_dtype(t->dtype) != NULL ? (uint64_t)graph_dtype(t->dtype)->bytes : 1;

    if (t->bytes > s->heap_bytes || room > s->heap_bytes - s->used)
        child_fail("the tasks make more than can be reserved here", "", 0);
    struct child_buffer made = {s->heap + s->used, t->bytes};
    s->used += room > 0 ? room : GRAPH_ALIGN;
    vec_push(&s->made, made);
    t->address = (uint64_t)(uintptr_t)made.at;
    for (uint64_t i = 0; t->initial != 0 && t->bytes <= MOST_FILLED && i + size <= t->bytes;
         i += size)
        memcpy(made.at + i, &t->initial, size);
}

static void note_written(struct child_scene *s, const struct strata_scene_task *task)
{
    for (int32_t i = 0; i < task->n_tensors; i++) {
        const struct strata_scene_tensor *t = &task->tensors[i];
        bool is_known = s->written.n > 0 &&
                        (uint64_t)(uintptr_t)s->written.at[s->written.n - 1].at == t->address;
        if (task->kind == STRATA_SCENE_TASK && t->role != STRATA_SCENE_INPUT &&
            t->role != STRATA_SCENE_NO_DEP && !is_known)
            vec_push(&s->written,
                     ((struct child_buffer){(unsigned char *)(uintptr_t)t->address, t->bytes}));
    }
}

/* A tensor as the parent reads it: its memory by number, never by address. */
static void put_tensor(struct child_scene *s, const struct strata_scene_task *task,
                       const struct strata_scene_tensor *t)
{
    int64_t buffer = GRAPH_NONE;
    uint64_t offset = 0;
    bool is_empty = t->bytes == 0;

    for (uint32_t i = 0; i < t->rank && i < GRAPH_DIMS; i++)
        is_empty = is_empty || t->shape[i] == 0;
    if (!locate(s, t->address, &buffer, &offset) && !is_empty)
        child_fail("a task gets a tensor in memory that is not the scene's", task->file,
                   task->line);
    const uint64_t words[TENSOR_SHAPE] = {
        [TENSOR_BUFFER] = (uint64_t)buffer, [TENSOR_OFFSET] = offset,
        [TENSOR_BYTES] = t->bytes,          [TENSOR_START] = t->start,
        [TENSOR_ROLE] = (uint64_t)t->role,  [TENSOR_DTYPE] = t->dtype,
        [TENSOR_CREATOR] = t->creator,      [TENSOR_MANUAL] = t->is_manual,
        [TENSOR_INITIAL] = t->initial,      [TENSOR_RANK] = t->rank,
    };
    for (size_t i = 0; i < TENSOR_SHAPE; i++)
        put_word(s, words[i]);
    for (size_t i = 0; i < GRAPH_DIMS; i++)
        put_word(s, i < t->rank ? t->shape[i] : 0);
    for (size_t i = 0; i < GRAPH_DIMS; i++)
        put_word(s, i < t->rank ? t->strides[i] : 0);
}

/* A task, then its tensors and scalars, the tasks it comes after and where it is submitted. */
static void put_task(struct child_scene *s, const struct strata_scene_task *t)
{
    int64_t buffer = GRAPH_NONE;
    uint64_t offset = 0;
    size_t file = strlen(t->file);

    if (t->predicate.op != 0)
        (void)locate(s, t->predicate.address, &buffer, &offset);
    const uint64_t words[TASK_WORDS] = {
        [WORD_KIND] = (uint64_t)t->kind,
        [WORD_KERNEL] = (uint64_t)(int64_t)t->kernels[0],
        [WORD_KERNEL + 1] = (uint64_t)(int64_t)t->kernels[1],
        [WORD_KERNEL + 2] = (uint64_t)(int64_t)t->kernels[2],
        [WORD_BLOCKS] = (uint64_t)(int64_t)t->blocks,
        [WORD_FLAGS] = (t->is_early ? FLAG_EARLY : 0u) | (t->is_sync_start ? FLAG_SYNC : 0u) |
                       (t->is_manual_scope ? FLAG_MANUAL : 0u) | (s->has_read ? FLAG_READS : 0u),
        [WORD_CONDITION] = (uint64_t)t->predicate.op,
        [WORD_CONDITION_BUFFER] = (uint64_t)buffer,
        [WORD_CONDITION_OFFSET] = offset,
        [WORD_CONDITION_TARGET] = (uint64_t)t->predicate.target,
        [WORD_LINE] = (uint64_t)t->line,
        [WORD_TENSORS] = (uint64_t)t->n_tensors,
        [WORD_SCALARS] = (uint64_t)t->n_scalars,
        [WORD_AFTER] = (uint64_t)t->n_after,
        [WORD_FILE] = file,
    };

    for (size_t i = 0; i < TASK_WORDS; i++)
        put_word(s, words[i]);
    for (int32_t i = 0; i < t->n_tensors; i++)
        put_tensor(s, t, &t->tensors[i]);
    for (int32_t i = 0; i < t->n_scalars; i++) {
        int64_t context = GRAPH_NONE;
        bool is_context = locate(s, t->scalars[i], &context, &offset) && offset == 0 &&
                          (size_t)context < s->g->n_given &&
                          s->g->buffers[context].kind == GRAPH_CONTEXT;
        put_word(s, t->scalars[i]);
        put_word(s, (uint64_t)(is_context ? context : GRAPH_NONE));
    }
    for (int32_t i = 0; i < t->n_after; i++)
        put_word(s, t->after[i]);
    text_put(&s->text, (struct str){t->file, file});
    if (s->text.n > FLUSH_BYTES)
        flush(s);
}

static uint64_t on_submit(void *scene, struct strata_scene_task *task)
{
    struct child_scene *s = scene;

    if (s->tasks >= MOST_TASKS)
        child_fail("the orchestration has submitted a million tasks, which is the limit",
                   task->file, task->line);
    for (int32_t i = 0; i < task->n_tensors; i++)
        if (task->tensors[i].role == STRATA_SCENE_OUTPUT)
            make_memory(s, &task->tensors[i]);
    put_task(s, task);
    note_written(s, task);
    return s->tasks++;
}

static void on_stop(void *scene, const char *reason, const char *file, int32_t line)
{
    (void)scene;
    child_fail(reason, file, line);
}

static void on_read(void *scene, uint64_t address, uint64_t bytes)
{
    struct child_scene *s = scene;

    for (size_t i = 0; i < s->written.n && !s->has_read; i++)
        s->has_read = address + bytes > (uintptr_t)s->written.at[i].at &&
                      address - (uintptr_t)s->written.at[i].at < s->written.at[i].bytes;
}

/* ---- running ---- */

/* The path is no file: the handler of the sandbox answers its open() with a copy of ours. */
static void *load(const char *path, const char *function, void **attach, void **enter)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    char text[300];

    if (library == NULL) {
        const char *said = dlerror();
        snprintf(text, sizeof(text), "the orchestration cannot be loaded: %s",
                 said != NULL ? said : "");
        child_fail(text, "", 0);
    }
    *attach = dlsym(library, "strata_scene_attach");
    *enter = dlsym(library, "strata_scene_enter");
    void *entry = dlsym(library, function);
    if (*attach == NULL || *enter == NULL)
        child_fail("the orchestration does not include pto_orchestration_api.h", "", 0);
    if (entry == NULL) {
        snprintf(text, sizeof(text), "the orchestration has no function %s", function);
        child_fail(text, "", 0);
    }
    return entry;
}

/* Calls the orchestration with the tensors and scalars that the scene gives it. */
static void call_entry(struct child_scene *s, const struct graph_call *call, const char *function,
                       const struct strata_scene_host *host)
{
    struct strata_scene_tensor *tensors = mem_grow(NULL, sizeof(*tensors), call->n_tensors + 1);
    uint64_t *scalars = mem_grow(NULL, sizeof(*scalars), call->n_scalars + 1);
    void *attach, *enter, *entry = load("/sandbox/0", function, &attach, &enter);

    memset(tensors, 0, sizeof(*tensors) * (call->n_tensors + 1));
    for (size_t i = 0; i < call->n_tensors; i++) {
        const struct graph_given *t = &call->tensors[i];
        const struct child_buffer *b = &s->buffers[t->buffer];
        tensors[i] = (struct strata_scene_tensor){
            .role = (int32_t)t->role,
            .dtype = (uint8_t)graph_dtype_number(t->dtype),
            .rank = (uint32_t)t->rank,
            .address = (uint64_t)(uintptr_t)(b->at + t->offset),
            .bytes = b->bytes - t->offset,
            .creator = UINT64_MAX,
        };
        for (size_t k = 0; k < t->rank; k++) {
            tensors[i].shape[k] = (uint32_t)t->shape[k];
            tensors[i].strides[k] = (uint32_t)t->strides[k];
        }
    }
    for (size_t i = 0; i < call->n_scalars; i++)
        scalars[i] = call->scalars[i].context >= 0
                         ? (uint64_t)(uintptr_t)s->buffers[call->scalars[i].context].at
                         : call->scalars[i].bits;
    const struct strata_scene_args args = {(int32_t)call->n_tensors, (int32_t)call->n_scalars,
                                           tensors, scalars};
    ((void (*)(const struct strata_scene_host *))attach)(host);
    ((void (*)(void *, const struct strata_scene_args *))enter)(entry, &args);
}

void graph_child(const struct graph_job *job, const struct task_graph *g,
                 const struct graph_call *call, const char *object, struct graph_failure *failure,
                 int out, int said)
{
    int64_t limit_ms = job->limit_ms > 0 ? job->limit_ms : 60000;
    struct child_scene s = {.g = g, .failure = failure, .out = out};
    struct sandbox box = {.out = out,
                          .said = said,
                          .seconds = limit_ms / 1000 + 1,
                          .bytes = MOST_MEMORY,
                          .told = on_refused};
    bool is_a5 = str_equal(job->arch, S("a5"));
    struct pto_chip chip = {0};
    (void)pto_chip_find(S(""), is_a5 ? PTO_A5 : PTO_A2A3, &chip, NULL);
    int32_t clusters = chip.aic > 0 ? chip.aic : is_a5 ? A5_CLUSTERS : A2A3_CLUSTERS;
    const struct strata_scene_host host = {.version = STRATA_SCENE_VERSION,
                                           .scene = &s,
                                           .clusters = clusters,
                                           .vectors = 2 * clusters,
                                           .submit = on_submit,
                                           .stop = on_stop,
                                           .read = on_read};

    current = &s;
    child_catch(on_crash);
    make_buffers(&s);
    box.files[box.n_files] = child_copy_file(object);
    if (box.files[box.n_files++] < 0)
        child_fail("the compiled orchestration cannot be read", "", 0);
    /* From here on the process can only compute: loading runs code of the orchestration already. */
    if (!sandbox_enter(&box) && !job->is_trusted)
        child_fail("this system has no filter of system calls, so an orchestration could do "
                   "whatever you can; --trust if you know what it does",
                   "", 0);
    char function[256];
    snprintf(function, sizeof(function), "%.*s", STR_ARGS(g->callables[call->callable].function));
    call_entry(&s, call, function, &host);
    flush(&s);
    failure->is_done = true;
    _exit(0);
}
