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
#define MOST_SHARED ((size_t)1 << 40) /* reserved */
#define MOST_FILLED ((size_t)1 << 30)
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
    for (size_t i = 0; i < r->parts.n; i++) {
        size_t room = whole_pages(r->parts.at[i].size), used = (r->parts.at[i].size + 63) / 64 * 64;
        munmap(r->parts.at[i].data - (room - used) - GUARD, room + 2 * GUARD);
    }
    r->parts.n = 0;
    r->buffers.n = 0;
    if (r->memory)
        munmap(r->memory, sizeof(*r->memory));
    r->memory = NULL;
}

void pto_cpp_free(struct pto_cpp_run *r)
{
    pto_cpp_forget(r);
    vec_free(&r->parts);
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
        [PTO_F32] = 0,  [PTO_F16] = 1,     [PTO_I32] = 2,     [PTO_I16] = 3,       [PTO_I8] = 4,
        [PTO_U8] = 5,   [PTO_BF16] = 6,    [PTO_I64] = 7,     [PTO_U64] = 8,       [PTO_U16] = 9,
        [PTO_U32] = 10, [PTO_F8E4M3] = 12, [PTO_F8E8M0] = 13, [PTO_F4E2M1X2] = 14,
    };

    return numbers[t];
}

/* The descriptor that a kernel finds behind a slot: the runtime's ChipTensor. */
static void args_describe(unsigned char *at, const struct pto_cpp_buffer *b)
{
    const struct slot *s = b->slot;
    uint64_t addr = (uint64_t)(uintptr_t)b->data, size = b->size, start = (uint64_t)s->start;
    uint64_t extent = 1;
    uint32_t rank = (uint32_t)s->rank, step = 1;
    unsigned char dtype = type_number(b->dtype), is_contiguous = 1;

    if (s->bytes > 0 && (uint64_t)s->bytes < size)
        size = (uint64_t)s->bytes;
    memset(at, 0, PTO_CPP_TENSOR_BYTES);
    memcpy(at, &addr, 8);
    memcpy(at + 8, &size, 8);
    memcpy(at + 24, &start, 8);
    memcpy(at + 36, &rank, 4);
    memcpy(at + 40, &dtype, 1);
    for (uint32_t i = rank; i-- > 0;) {
        uint32_t dim = (uint32_t)s->shape[i];
        uint32_t stride = s->strides != NULL ? (uint32_t)s->strides[i] : step;
        memcpy(at + 44 + 4 * i, &dim, 4);
        memcpy(at + 72 + 4 * i, &stride, 4);
        is_contiguous = is_contiguous && stride == step;
        step *= dim;
        extent += dim > 0 ? (uint64_t)(dim - 1) * stride : 0;
    }
    memcpy(at + 42, &is_contiguous, 1);
    memcpy(at + 64, &extent, 8);
}

static enum status args_fill(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                             unsigned char *data, size_t bytes, enum pto_dtype dtype,
                             struct str rule, uint64_t salt, struct diag *d)
{
    if (str_equal(rule, S("zero")) || rule.n == 0)
        return ST_OK;
    if (str_starts(rule, S("file:"))) {
        struct pto_binding from = {0};
        TRY(pto_buffer_read(arena_cstr(&r->arena, str_part(rule, 5, rule.n)), bytes, &from, d));
        memcpy(data, from.data, bytes < from.size ? bytes : from.size);
        mem_free(from.data);
        return ST_OK;
    }
    /* What nobody can look at is left zero: memory that is only reserved takes no room. */
    return pto_buffer_fill(data, bytes < MOST_FILLED ? bytes : MOST_FILLED, dtype, rule, job->seed,
                           salt, d);
}

static enum status add_part(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                            struct pto_cpp_part part, size_t *number, struct diag *d)
{
    *number = r->parts.n;
    part.data = r->parts.n < PTO_CPP_PARTS ? guarded(part.size) : NULL;
    if (part.data == NULL)
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", (struct where){.path = job->source},
                         "no memory for %.*s of %zu bytes", STR_ARGS(part.name), part.size);
    vec_push(&r->parts, part);
    return ST_OK;
}

/* Memory that tensors share, made for the first of them. */
static enum status share_part(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                              const struct slot_memory *memory, size_t *number, struct diag *d)
{
    for (*number = 0; *number < r->parts.n; ++*number)
        if (r->parts.at[*number].memory == memory)
            return ST_OK;
    struct pto_cpp_part part = {.name = memory->name,
                                .memory = memory,
                                .dtype = element_of(memory->dtype),
                                .size = (size_t)memory->bytes};
    TRY(add_part(job, r, part, number, d));
    unsigned char *data = r->parts.at[*number].data;
    if (memory->data.n > 0) {
        memcpy(data, memory->data.at, memory->data.n < part.size ? memory->data.n : part.size);
        return ST_OK;
    }
    return args_fill(job, r, data, part.size, part.dtype, memory->fill, *number, d);
}

/* The memory of a tensor, its own or a part of what several share, and the slot that names it. */
static enum status make_tensor(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                               const struct slot *s, struct diag *d)
{
    struct pto_cpp_buffer b = {.slot = s, .dtype = element_of(s->dtype)};
    int64_t room, elements;

    if (!slot_room(s, &room) || (size_t)room > MOST_SHARED || !slot_bytes(s, &elements) ||
        (size_t)elements > MOST_BYTES ||
        (s->memory != NULL &&
         (s->memory->bytes < s->offset || (size_t)s->memory->bytes > MOST_SHARED)))
        return diag_fail(d, ST_LIMIT, "pto-cpp.memory", (struct where){.path = job->source},
                         "slot %d: a tensor of that size does not fit here", (int)s->index);
    if (s->memory != NULL) {
        TRY(share_part(job, r, s->memory, &b.part, d));
        b.data = r->parts.at[b.part].data + s->offset;
        b.size = r->parts.at[b.part].size - (size_t)s->offset;
    } else {
        b.size = r->is_drafted && (size_t)room < DRAFT_BYTES ? DRAFT_BYTES : (size_t)room;
        TRY(add_part(job, r,
                     (struct pto_cpp_part){.name = s->name, .dtype = b.dtype, .size = b.size},
                     &b.part, d));
        b.data = r->parts.at[b.part].data;
        TRY(args_fill(job, r, b.data, (size_t)room, b.dtype, s->fill, (uint64_t)s->index, d));
    }
    vec_push(&r->buffers, b);
    args_describe(r->memory->tensors[s->index], &b);
    const void *slot = r->launch.has_slots ? r->memory->tensors[s->index]
                                           : b.data + (size_t)s->start * (size_t)s->dtype->bytes;
    r->memory->args[s->index] = (int64_t)(uintptr_t)slot;
    return ST_OK;
}

/* The runtime's CommContext: rank and their number, bytes of a window, where the windows are. That
 * of a guess is of one rank, whose window is the first tensor. */
static enum status make_context(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                                const struct slot *s, struct diag *d)
{
    const struct slot_context *c = s->context;
    uint64_t words[132] = {[2] = (uint64_t)1 << 32};
    size_t number;

    for (size_t i = 4; c == NULL && r->parts.n > 0 && i < ARRAY_LEN(words); i++)
        words[i] = (uint64_t)(uintptr_t)r->parts.at[0].data;
    if (c != NULL && c->n > 0) {
        words[2] = (uint64_t)c->rank | (uint64_t)c->n << 32;
        words[3] = (uint64_t)c->windows[0]->bytes;
    }
    for (size_t i = 0; c != NULL && i < c->n && i < 64; i++) {
        TRY(share_part(job, r, c->windows[i], &number, d));
        words[4 + i] = words[68 + i] = (uint64_t)(uintptr_t)r->parts.at[number].data;
    }
    TRY(add_part(job, r,
                 (struct pto_cpp_part){.name = s->name, .dtype = PTO_I64, .size = sizeof(words)},
                 &number, d));
    memcpy(r->parts.at[number].data, words, sizeof(words));
    r->memory->args[s->index] = (int64_t)(uintptr_t)r->parts.at[number].data;
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

struct str pto_cpp_elements(struct arena *arena, const struct pto_cpp_buffer *b)
{
    const struct slot *s = b->slot;
    int64_t bytes = 0, size = s->dtype->bytes, at[SLOT_RANK] = {0};
    const unsigned char *from = b->data + s->start * size;

    if (slot_is_plain(s) || !slot_bytes(s, &bytes)) {
        (void)slot_bytes(s, &bytes);
        return (struct str){(const char *)b->data,
                            (size_t)bytes < b->size ? (size_t)bytes : b->size};
    }
    char *out = arena_alloc(arena, (size_t)bytes + 1);
    for (int64_t i = 0; i < bytes; i += size) {
        int64_t step = 1, away = 0;
        for (size_t k = s->rank; k-- > 0; step *= s->shape[k])
            away += at[k] * (s->strides != NULL ? s->strides[k] : step);
        memcpy(out + i, from + away * size, (size_t)size);
        for (size_t k = s->rank; k-- > 0 && ++at[k] == s->shape[k];)
            at[k] = 0;
    }
    return (struct str){out, (size_t)bytes};
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
