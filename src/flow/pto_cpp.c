/*
 * Compiling and running a PTO kernel in C++.
 */
#include "flow/pto_cpp.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/mapfile.h"
#include "base/now.h"
#include "base/sandbox.h"
#include "driver/cxx.h"
#include "flow/pto_buffers.h"
#include "pto/core.h"
#include "replay/draft.h"

enum { LIMIT_MS = 60000, PAGE = 4096, TENSOR_BYTES = 128 };
#define MOST_CALLS  1000000
#define DRAFT_BYTES ((size_t)1 << 30) /* reserved, not used, for a tensor of unknown size */
#define MOST_BYTES  ((size_t)8 << 30)
#define GUARD       ((size_t)64 << 20)

/* ---- memory that the kernel and we share ---- */

struct pto_cpp_memory {
    _Alignas(64) unsigned char tensors[SLOT_COUNT][TENSOR_BYTES];
    struct pto_host_mark mark;
    const char *code; /* the child is a copy of us, so literals are where ours are */
    char text[512], file[256];
    uint64_t reached[SLOT_COUNT];
    int64_t args[SLOT_COUNT];
    int64_t core_args[PTO_CORES][SLOT_COUNT];
    uint64_t context[132]; /* the runtime's CommContext */
    int32_t local_context[32];
    int32_t global_context[PTO_CORES][32];
    int32_t line;
    bool has_failed, is_done;
};

static void *share(size_t size)
{
    void *p =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

/* A buffer that ends where nothing may be touched for a while; neither may what is before it. */
static unsigned char *guarded(size_t size)
{
    size_t room = whole_pages(size), used = (size + 63) / 64 * 64;
    unsigned char *p =
        mmap(NULL, room + 2 * GUARD, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED || mprotect(p + GUARD, room, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return p + GUARD + room - used;
}

static void unguard(unsigned char *data, size_t size)
{
    size_t room = whole_pages(size), used = (size + 63) / 64 * 64;

    munmap(data - (room - used) - GUARD, room + 2 * GUARD);
}

static void forget(struct pto_cpp_run *r)
{
    for (size_t i = 0; i < r->buffers.n; i++)
        unguard(r->buffers.at[i].data, r->buffers.at[i].size);
    r->buffers.n = 0;
    if (r->memory)
        munmap(r->memory, sizeof(*r->memory));
    r->memory = NULL;
}

void pto_cpp_free(struct pto_cpp_run *r)
{
    forget(r);
    vec_free(&r->buffers);
    vec_free(&r->lines);
    vec_free(&r->slots);
    text_free(&r->text);
    arena_free(&r->arena);
}

/* ---- arguments ---- */

static enum pto_dtype element_of(const struct dtype *t)
{
    static const struct {
        struct str name;
        enum pto_dtype dtype;
    } all[] = {
        {S_INIT("FLOAT16"), PTO_F16}, {S_INIT("FLOAT32"), PTO_F32}, {S_INIT("BFLOAT16"), PTO_BF16},
        {S_INIT("INT8"), PTO_I8},     {S_INIT("INT16"), PTO_I16},   {S_INIT("INT32"), PTO_I32},
        {S_INIT("INT64"), PTO_I64},   {S_INIT("UINT8"), PTO_U8},    {S_INIT("UINT16"), PTO_U16},
        {S_INIT("UINT32"), PTO_U32},  {S_INIT("UINT64"), PTO_U64},  {S_INIT("BOOL"), PTO_I8},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (str_equal(all[i].name, t->name))
            return all[i].dtype;
    return PTO_U8;
}

/* Numbers of the runtime's DataType. */
static unsigned char type_number(enum pto_dtype t)
{
    static const unsigned char numbers[PTO_DTYPE_COUNT] = {
        [PTO_F32] = 0,  [PTO_F16] = 1, [PTO_I32] = 2, [PTO_I16] = 3, [PTO_I8] = 4,   [PTO_U8] = 5,
        [PTO_BF16] = 6, [PTO_I64] = 7, [PTO_U64] = 8, [PTO_U16] = 9, [PTO_U32] = 10,
    };

    return numbers[t];
}

/* The descriptor that a kernel finds behind a slot: the runtime's ChipTensor. */
static void describe(unsigned char *at, const struct pto_cpp_buffer *b)
{
    uint64_t addr = (uint64_t)(uintptr_t)b->data, size = b->size, extent = 1;
    uint32_t rank = (uint32_t)(b->slot->rank < 5 ? b->slot->rank : 5), step = 1;
    unsigned char dtype = type_number(b->dtype), one = 1;

    memset(at, 0, TENSOR_BYTES);
    memcpy(at, &addr, 8);
    memcpy(at + 8, &size, 8);
    memcpy(at + 36, &rank, 4);
    memcpy(at + 40, &dtype, 1);
    memcpy(at + 42, &one, 1);
    for (uint32_t i = rank; i-- > 0;) {
        uint32_t dim = (uint32_t)b->slot->shape[i];
        memcpy(at + 44 + 4 * i, &dim, 4);
        memcpy(at + 72 + 4 * i, &step, 4);
        step *= dim;
        extent *= dim;
    }
    memcpy(at + 64, &extent, 8);
}

static enum status fill(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                        struct pto_cpp_buffer *b, size_t bytes, struct diag *d)
{
    struct str rule = b->slot->fill;

    if (str_equal(rule, S("zero")) || rule.n == 0)
        return ST_OK;
    if (str_starts(rule, S("file:"))) {
        struct pto_binding from = {0};
        TRY(pto_buffer_read(arena_cstr(&r->arena, str_part(rule, 5, rule.n)), bytes, &from, d));
        memcpy(b->data, from.data, bytes < from.size ? bytes : from.size);
        mem_free(from.data);
        return ST_OK;
    }
    return pto_buffer_fill(b->data, bytes, b->dtype, rule, job->seed, (uint64_t)b->slot->index, d);
}

static enum status make_tensor(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                               const struct slot *s, struct diag *d)
{
    struct pto_cpp_buffer b = {.slot = s, .dtype = element_of(s->dtype)};
    int64_t bytes;

    if (!slot_bytes(s, &bytes) || (size_t)bytes > MOST_BYTES)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", (struct where){.path = job->source},
                         "slot %d: a tensor of that size does not fit here", (int)s->index);
    b.size = r->is_drafted && (size_t)bytes < DRAFT_BYTES ? DRAFT_BYTES : (size_t)bytes;
    b.data = guarded(b.size);
    if (b.data == NULL)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", (struct where){.path = job->source},
                         "no memory for slot %d", (int)s->index);
    vec_push(&r->buffers, b);
    TRY(fill(job, r, &b, (size_t)bytes, d));
    describe(r->memory->tensors[s->index], &b);
    r->memory->args[s->index] = (int64_t)(uintptr_t)r->memory->tensors[s->index];
    return ST_OK;
}

static enum status make_args(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct pto_cpp_memory *m = r->memory;

    for (size_t i = 0; i < r->slots.n; i++) {
        const struct slot *s = &r->slots.at[i];
        if (s->index < 0 || s->index >= SLOT_LOCAL)
            continue;
        if (s->is_tensor)
            TRY(make_tensor(job, r, s, d));
        else
            m->args[s->index] = s->is_context ? (int64_t)(uintptr_t)m->context : s->value;
    }
    m->context[2] = (uint64_t)1 << 32; /* rank 0 of 1 */
    if (r->buffers.n > 0)
        m->context[4] = (uint64_t)(uintptr_t)r->buffers.at[0].data;
    m->local_context[0] = (int32_t)job->block;
    m->local_context[1] = (int32_t)(job->blocks > 0 ? job->blocks : 1);
    for (size_t i = 0; i < PTO_CORES; i++) {
        m->global_context[i][0] = i == PTO_AIV1;
        memcpy(m->core_args[i], m->args, sizeof(m->args));
        m->core_args[i][SLOT_LOCAL] = (int64_t)(uintptr_t)m->local_context;
        m->core_args[i][SLOT_GLOBAL] = (int64_t)(uintptr_t)m->global_context[i];
    }
    return ST_OK;
}

/* ---- which cores ---- */

static enum shape side_of(struct str path, struct str text)
{
    if (str_contains(path, S("/mix/")))
        return SHAPE_MIX;
    if (str_contains(path, S("/aic/")) || str_contains(path, S("_aic.")))
        return SHAPE_AIC;
    if (str_contains(path, S("/aiv/")) || str_contains(path, S("_aiv.")))
        return SHAPE_AIV;
    bool is_cube = str_contains(text, S("TMATMUL")),
         is_vector = str_contains(text, S("__DAV_VEC__"));
    if (is_cube && is_vector)
        return SHAPE_MIX;
    return is_cube ? SHAPE_AIC : SHAPE_AIV;
}

struct cpp_objects {
    const char *object[2]; /* cube, vector; NULL: that side has no part */
};

static enum status compile_side(const struct pto_cpp_job *job, struct pto_cpp_run *r, bool is_cube,
                                struct cpp_objects *l, struct diag *d)
{
    const char *source = is_cube || !job->vector_source ? job->source : job->vector_source;
    struct cxx_job c = {.source = source, .includes = job->includes, .limit_ms = job->limit_ms};
    struct cxx_object object;

    for (size_t i = 0; i < job->defines.n; i++)
        vec_push(&c.defines, job->defines.at[i]);
    vec_push(&c.defines, is_cube ? "__DAV_CUBE__" : "__DAV_VEC__");
    vec_push(&c.defines, job->arch == PTO_A5 ? "__NPU_ARCH__=3510" : "__NPU_ARCH__=2201");
    enum status status = cxx_compile(&c, &r->arena, &object, d);
    vec_free(&c.defines);
    TRY(status);
    l->object[!is_cube] = object.path;
    r->was_compiled = r->was_compiled || !object.was_there;
    r->compile_ms += (double)object.took / 1e6;
    return ST_OK;
}

static enum status read_source(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, job->source, d));
    struct str text = arena_str(&r->arena, map.text);
    mapfile_close(&map);
    r->source = text;
    struct str path = str_of(job->source), base = path;
    while (str_find_char(base, '/') < base.n)
        base = str_part(base, str_find_char(base, '/') + 1, base.n);
    r->name = fs_safe_name(&r->arena, str_part(base, 0, str_find_char(base, '.')), '_');
    r->side = job->side >= 0       ? (enum shape)job->side
              : job->vector_source ? SHAPE_MIX
                                   : side_of(path, text);
    if (job->slots) {
        for (size_t i = 0; i < job->slots->n; i++)
            vec_push(&r->slots, job->slots->at[i]);
        return ST_OK;
    }
    r->is_drafted = true;
    return ST_OK;
}

static enum status compile(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                           struct cpp_objects *l, struct diag *d)
{
    memset(r, 0, sizeof(*r));
    arena_init(&r->arena);
    TRY(read_source(job, r, d));
    if (r->side != SHAPE_AIV)
        TRY(compile_side(job, r, true, l, d));
    if (r->side != SHAPE_AIC)
        TRY(compile_side(job, r, false, l, d));
    return ST_OK;
}

enum status pto_cpp_compile(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct cpp_objects l = {0};

    return compile(job, r, &l, d);
}

/* ---- in the child ---- */

static struct pto_cpp_memory *ours;

static void fail(void *ctx, const char *code, struct strata_pto_place place, const char *text)
{
    (void)ctx;
    ours->code = code;
    snprintf(ours->text, sizeof(ours->text), "%s", text);
    snprintf(ours->file, sizeof(ours->file), "%s", place.file);
    ours->line = place.line;
    ours->has_failed = true;
    _exit(1);
}

static struct strata_pto_place last_place(void)
{
    return (struct strata_pto_place){ours->mark.file, ours->mark.line};
}

static void on_refused(const char *what)
{
    char text[160];

    snprintf(text, sizeof(text), "the kernel %s, which a kernel may not do", what);
    fail(NULL, "pto-cpp.sandbox", last_place(), text);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    char text[256];
    const char *what = number == SIGFPE    ? "divides by zero"
                       : number == SIGILL  ? "executes an unknown instruction"
                       : number == SIGABRT ? "aborts"
                                           : "touches memory outside of its tensors";

    (void)context;
    snprintf(text, sizeof(text), "the kernel %s%s", what,
             ours->mark.calls > 0 ? "; the line is that of the last instruction before" : "");
    if (number == SIGSEGV || number == SIGBUS)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " (address %p)", info->si_addr);
    fail(NULL, "pto-cpp.crash", last_place(), text);
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static unsigned char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaltstack(&own, NULL);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static bool send_all(int out, const void *at, size_t n)
{
    const char *p = at;

    while (n > 0) {
        ssize_t done = write(out, p, n);
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* Each core has its copy of the object, since kernels keep their lane in static variables. */
static int copy_object(const char *object)
{
    int from = open(object, O_RDONLY | O_CLOEXEC), copy = memfd_create("kernel", MFD_CLOEXEC);
    char block[1 << 16];
    ssize_t n = 0;

    while (from >= 0 && copy >= 0 && (n = read(from, block, sizeof(block))) > 0)
        if (!send_all(copy, block, (size_t)n))
            break;
    if (from < 0 || copy < 0 || n != 0)
        fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
             "the compiled kernel cannot be read");
    close(from);
    return copy;
}

static void load_core(struct pto_host *h, int object, uint32_t core)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", object);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0}, dlerror());
    pto_host_attach *attach = (pto_host_attach *)dlsym(library, "strata_pto_attach");
    pto_host_entry *entry = (pto_host_entry *)dlsym(library, "kernel_entry");
    if (attach == NULL)
        fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
             "the source does not include pto/pto-inst.hpp");
    if (entry == NULL)
        fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
             "the source has no extern \"C\" kernel_entry(int64_t *args)");
    pto_host_add(h, core, attach, entry, ours->core_args[core]);
}

/* From here on the process can only compute: loading runs code of the kernel already. */
static void load_cores(struct pto_host *h, const struct pto_cpp_run *r, const struct cpp_objects *l,
                       int out)
{
    const bool wanted[PTO_CORES] = {l->object[0] != NULL, l->object[1] != NULL,
                                    l->object[1] != NULL && r->side == SHAPE_MIX};
    struct sandbox box = {.out = out, .seconds = 600, .told = on_refused};
    int objects[PTO_CORES] = {-1, -1, -1};

    for (uint32_t i = 0; i < PTO_CORES; i++)
        if (wanted[i])
            objects[i] = copy_object(l->object[i != PTO_AIC]);
    (void)sandbox_enter(&box);
    for (uint32_t i = 0; i < PTO_CORES; i++)
        if (wanted[i])
            load_core(h, objects[i], i);
}

static void run_kernel(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                       const struct cpp_objects *l, int out)
{
    struct pto_host_buffer *buffers = ARENA_ARRAY(&r->arena, struct pto_host_buffer, SLOT_COUNT);
    struct pto_host_setup setup = {.arch = job->arch,
                                   .block = (int32_t)job->block,
                                   .blocks = (int32_t)(job->blocks > 0 ? job->blocks : 1),
                                   .buffers = buffers,
                                   .n_buffers = r->buffers.n,
                                   .max_calls = MOST_CALLS,
                                   .mark = &ours->mark,
                                   .fail = fail};
    struct pto_host_lines lines = {0};
    struct text text = {0};

    for (size_t i = 0; i < r->buffers.n; i++)
        buffers[i] = (struct pto_host_buffer){r->buffers.at[i].slot->name, r->buffers.at[i].data,
                                              r->buffers.at[i].size, r->buffers.at[i].dtype, 0};
    struct pto_host *h = pto_host_new(&setup);
    catch_crashes();
    load_cores(h, r, l, out);
    pto_host_run(h);
    pto_host_text(h, r->name, str_of(job->source), &text, &lines);
    for (size_t i = 0; i < r->buffers.n; i++)
        ours->reached[i] = buffers[i].reached;
    uint64_t sizes[2] = {text.n, lines.at.n};
    if (!send_all(out, sizes, sizeof(sizes)) || !send_all(out, text.at, text.n) ||
        !send_all(out, lines.at.at, lines.at.n * sizeof(*lines.at.at)))
        fail(NULL, "pto-cpp.memory", (struct strata_pto_place){"", 0}, "no memory for the stream");
    ours->is_done = true;
    _exit(0);
}

/* ---- in the parent ---- */

static enum status tell_end(const struct pto_cpp_job *job, const struct pto_cpp_run *r, int status,
                            bool is_late, struct diag *d)
{
    const struct pto_cpp_memory *m = r->memory;
    struct where where = {m->file[0] ? m->file : job->source, (uint64_t)m->line, 0};

    if (m->has_failed) {
        if (r->is_drafted && strcmp(m->code, "pto-cpp.load") != 0)
            diag_hint(d, "note",
                      "the arguments were guessed from the source; --arg-spec FILE gives them");
        return diag_fail(d, ST_FORMAT, m->code, where, "%s", m->text);
    }
    where = (struct where){m->mark.file[0] ? m->mark.file : job->source, (uint64_t)m->mark.line, 0};
    if (is_late)
        return diag_fail(d, ST_LIMIT, "pto-cpp.timeout", where,
                         "the kernel did not end in time; its last instruction was here (%llu so "
                         "far)",
                         (unsigned long long)m->mark.calls);
    return diag_fail(d, ST_TOOL, "pto-cpp.crash", where, "the kernel ended with %s %d",
                     WIFSIGNALED(status) ? "signal" : "exit code",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static enum status wait_for(const struct pto_cpp_job *job, struct pto_cpp_run *r, pid_t child,
                            struct diag *d)
{
    nanos begin = now_ns(), limit = (job->limit_ms > 0 ? job->limit_ms : LIMIT_MS) * 1000000;
    int status = 0;
    bool is_late = false;

    for (int64_t pause = 20000; waitpid(child, &status, WNOHANG) == 0;) {
        if (cancelled() || now_ns() - begin > limit) {
            is_late = !cancelled();
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
        nanosleep(&(struct timespec){0, pause}, NULL);
        pause = pause < 5000000 ? pause * 2 : pause;
    }
    r->run_ms = (double)(now_ns() - begin) / 1e6;
    r->calls = r->memory->mark.calls;
    if (cancelled())
        return ST_CANCELLED;
    return r->memory->is_done ? ST_OK : tell_end(job, r, status, is_late, d);
}

static enum status receive(struct pto_cpp_run *r, int in, struct diag *d)
{
    uint64_t sizes[2];
    struct where where = {0};

    if (pread(in, sizes, sizeof(sizes), 0) != sizeof(sizes))
        return diag_fail(d, ST_IO, "pto-cpp.memory", where, "the stream of the kernel is lost");
    size_t bytes = sizes[1] * sizeof(uint32_t);
    char *text = mem_grow(NULL, 1, sizes[0] + 1);
    vec_reserve(&r->lines, sizes[1]);
    bool is_whole =
        pread(in, text, sizes[0], sizeof(sizes)) == (ssize_t)sizes[0] &&
        pread(in, r->lines.at, bytes, (off_t)(sizeof(sizes) + sizes[0])) == (ssize_t)bytes;
    r->lines.n = is_whole ? sizes[1] : 0;
    text_put(&r->text, (struct str){text, is_whole ? sizes[0] : 0});
    mem_free(text);
    for (size_t i = 0; i < r->buffers.n; i++)
        r->buffers.at[i].reached = r->memory->reached[i];
    if (is_whole)
        return ST_OK;
    return diag_fail(d, ST_IO, "pto-cpp.memory", where, "the stream of the kernel is lost");
}

static void draft(const struct pto_cpp_job *job, struct pto_cpp_run *r, int64_t dim)
{
    r->slots.n = 0;
    r->draft_dim = dim;
    draft_slots(r->source, dim, &r->arena, &r->slots);
    for (size_t i = 0; job->overrides && i < job->overrides->n; i++)
        for (size_t k = 0; k < r->slots.n; k++)
            if (r->slots.at[k].index == job->overrides->at[i].index)
                r->slots.at[k].value = job->overrides->at[i].value;
}

static enum status run_once(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                            const struct cpp_objects *l, struct diag *d)
{
    struct where where = {.path = job->source};

    forget(r);
    r->memory = share(sizeof(*r->memory));
    if (r->memory == NULL)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", where, "no memory to run the kernel");
    TRY(make_args(job, r, d));
    int out = memfd_create("strata-stream", MFD_CLOEXEC);
    if (out < 0)
        return diag_fail(d, ST_IO, "pto-cpp.memory", where, "no memory to run the kernel");
    ours = r->memory;
    pid_t child = fork();
    if (child == 0)
        run_kernel(job, r, l, out);
    enum status status = child < 0 ? diag_fail(d, ST_TOOL, "pto-cpp.memory", where,
                                               "no process for the kernel: %s", strerror(errno))
                                   : wait_for(job, r, child, d);
    if (status == ST_OK)
        status = receive(r, out, d);
    close(out);
    return status;
}

/* Dimensions that nobody knows are tried from large to small: a kernel says when they do not fit
 * its tiles. The first failure is told when none fits. */
enum status pto_cpp_run(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    static const int64_t dims[] = {128, 64, 32, 16, 1};
    struct cpp_objects l = {0};
    struct diag quiet;

    TRY(compile(job, r, &l, d));
    if (!r->is_drafted)
        return run_once(job, r, &l, d);
    diag_init(&quiet);
    enum status status = ST_FORMAT;
    for (size_t i = 0;
         i < ARRAY_LEN(dims) && status != ST_OK && status != ST_CANCELLED && status != ST_LIMIT;
         i++) {
        draft(job, r, dims[i]);
        status = run_once(job, r, &l, &quiet);
    }
    diag_fini(&quiet);
    if (status == ST_OK || status == ST_CANCELLED)
        return status;
    draft(job, r, dims[0]);
    return run_once(job, r, &l, d);
}
