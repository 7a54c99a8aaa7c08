/*
 * The arguments of a PTO kernel in C++: tensors in memory that ends where nothing may be touched.
 */
#include "kernels/pto/pto_cpp_in.h"

#include <sys/mman.h>

#include "kernels/pto/pto_buffers.h"
#include "kernels/replay/draft.h"

enum { PAGE = 4096 };
#define DRAFT_BYTES ((size_t)1 << 30) /* reserved, not used, for a tensor of unknown size */
#define MOST_BYTES  ((size_t)8 << 30)
#define GUARD       ((size_t)64 << 20)

/* ---- memory that the kernel and we share ---- */

static void *args_share(size_t size)
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

void pto_cpp_forget(struct pto_cpp_run *r)
{
    for (size_t i = 0; i < r->buffers.n; i++) {
        size_t room = whole_pages(r->buffers.at[i].size),
               used = (r->buffers.at[i].size + 63) / 64 * 64;
        munmap(r->buffers.at[i].data - (room - used) - GUARD, room + 2 * GUARD);
    }
    r->buffers.n = 0;
    if (r->memory)
        munmap(r->memory, sizeof(*r->memory));
    r->memory = NULL;
}

void pto_cpp_free(struct pto_cpp_run *r)
{
    pto_cpp_forget(r);
    vec_free(&r->buffers);
    vec_free(&r->lines);
    vec_free(&r->slots);
    text_free(&r->text);
    text_free(&r->printed);
    arena_free(&r->arena);
}

/* ---- arguments ---- */

static enum pto_dtype element_of(const struct slot_type *t)
{
    enum pto_dtype known = t->type == DTYPE_BOOL ? PTO_I8 : pto_dtype_of(t->type);

    return known != PTO_NO_DTYPE && !t->is_bits ? known : PTO_U8;
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
static void args_describe(unsigned char *at, const struct pto_cpp_buffer *b)
{
    uint64_t addr = (uint64_t)(uintptr_t)b->data, size = b->size, extent = 1;
    uint32_t rank = (uint32_t)(b->slot->rank < 5 ? b->slot->rank : 5), step = 1;
    unsigned char dtype = type_number(b->dtype), one = 1;

    memset(at, 0, PTO_CPP_TENSOR_BYTES);
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

static enum status args_fill(const struct pto_cpp_job *job, struct pto_cpp_run *r,
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

static enum status add_buffer(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                              struct pto_cpp_buffer *b, struct diag *d)
{
    b->data = guarded(b->size);
    if (b->data == NULL)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", (struct where){.path = job->source},
                         "no memory for slot %d", (int)b->slot->index);
    vec_push(&r->buffers, *b);
    return ST_OK;
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
    TRY(add_buffer(job, r, &b, d));
    TRY(args_fill(job, r, &b, (size_t)bytes, d));
    args_describe(r->memory->tensors[s->index], &b);
    const void *slot = r->launch.has_slots ? r->memory->tensors[s->index] : b.data;
    r->memory->args[s->index] = (int64_t)(uintptr_t)slot;
    return ST_OK;
}

/* The runtime's CommContext of rank 0 of 1: each window is the first tensor. */
static enum status make_context(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                                const struct slot *s, struct diag *d)
{
    uint64_t words[132] = {[2] = (uint64_t)1 << 32};
    struct pto_cpp_buffer b = {.slot = s, .dtype = PTO_I64, .size = sizeof(words)};

    for (size_t i = 4; r->buffers.n > 0 && i < ARRAY_LEN(words); i++)
        words[i] = (uint64_t)(uintptr_t)r->buffers.at[0].data;
    TRY(add_buffer(job, r, &b, d));
    memcpy(b.data, words, sizeof(words));
    r->memory->args[s->index] = (int64_t)(uintptr_t)b.data;
    return ST_OK;
}

enum status pto_cpp_arguments(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct pto_cpp_memory *m = args_share(sizeof(*m));

    if (m == NULL)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", (struct where){.path = job->source},
                         "no memory to run the kernel");
    r->memory = m;
    for (size_t i = 0; i < r->slots.n; i++) {
        const struct slot *s = &r->slots.at[i];
        if (s->index < 0 || s->index >= SLOT_LOCAL)
            continue;
        if (s->is_tensor)
            TRY(make_tensor(job, r, s, d));
        else
            m->args[s->index] = s->value;
    }
    for (size_t i = 0; i < r->slots.n; i++)
        if (r->slots.at[i].is_context && r->slots.at[i].index < SLOT_LOCAL)
            TRY(make_context(job, r, &r->slots.at[i], d));
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

void pto_cpp_draft(const struct pto_cpp_job *job, struct pto_cpp_run *r, int64_t dim)
{
    r->slots.n = 0;
    r->draft_dim = dim;
    if (r->launch.has_slots)
        draft_slots(r->source, dim, &r->arena, &r->slots);
    else
        launch_slots(&r->launch, dim, &r->arena, &r->slots);
    for (size_t i = 0; job->overrides && i < job->overrides->n; i++)
        for (size_t k = 0; k < r->slots.n; k++)
            if (r->slots.at[k].index == job->overrides->at[i].index) {
                struct slot *s = &r->slots.at[k];
                const struct slot *with = &job->overrides->at[i];
                if (!s->is_tensor)
                    s->value = with->value;
                else if (with->fill.n > 0)
                    s->fill = with->fill;
            }
}
