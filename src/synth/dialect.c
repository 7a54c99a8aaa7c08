/*
 * dialect: spellings of the profiler's generations, and of the framework.
 */
#include "synth/dialect.h"

#include "base/text.h"

struct dialect dialect_of(const struct synth_options *o)
{
    struct dialect d = {
        .is_old = o->flavor == SYNTH_OLD,
        .is_new = o->flavor == SYNTH_NEW,
        .line_end = "\r\n",
        .stamp_end = "\t",
        .comm_core = "HCCL",
        .comm_lane = "HCCL",
        .quote = "\"",
        .stream_key = "Physic Stream Id",
        .level = o->level,
    };

    if (d.is_new) {
        d.line_end = "\n";
        d.comm_core = "COMMUNICATION";
        d.comm_lane = "Communication";
        d.quote = "";
    } else if (d.is_old) {
        d.stamp_end = "";
        d.stream_key = "Stream Id";
    } else if (o->level == 2) {
        d.line_end = "\n";
    }
    return d;
}

int64_t stream_number(enum stream stream)
{
    static const int numbers[STREAM_COUNT] = {2, 5, 3};

    return numbers[stream];
}

/* Joins parts, the first of which begins a new text. */
static void join(struct text *t, struct str part, const char *separator)
{
    if (t->at != NULL)
        text_put(t, str_of(separator));
    text_put(t, part);
}

static struct str done(struct arena *arena, struct text *t)
{
    struct str text = arena_str(arena, text_view(t));

    text_free(t);
    return text;
}

struct str dialect_shapes(struct arena *arena, const struct op *op, const char *separator)
{
    struct str rest = str_of(op->in), shape;
    struct text t = {0};

    while (str_split(&rest, ';', &shape))
        join(&t, shape, separator);
    return done(arena, &t);
}

struct str dialect_types(struct arena *arena, const struct op *op, const char *separator)
{
    static const struct {
        struct str device, framework;
    } words[] = {
        {S_INIT("DT_BF16"), S_INIT("c10::BFloat16")},
        {S_INIT("FLOAT"), S_INIT("float")},
        {S_INIT("INT64"), S_INIT("long int")},
        {S_INIT("INT32"), S_INIT("int")},
        {S_INIT("BOOL"), S_INIT("bool")},
    };
    struct str rest = str_of(op->kind->in_types), word;
    struct text t = {0};

    while (str_split(&rest, ';', &word)) {
        struct str out = word;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (str_equal(words[i].device, word))
                out = words[i].framework;
        join(&t, out, separator);
    }
    return done(arena, &t);
}

struct str dialect_stack(struct arena *arena, const struct op *op, const char *separator)
{
    struct str frames[STACK_DEPTH];
    struct text t = {0};

    stack_of(op, frames, arena);
    for (size_t i = 0; i < STACK_DEPTH; i++)
        join(&t, frames[i], separator);
    return done(arena, &t);
}

const char *level_prefix(enum host_kind kind, const struct dialect *d)
{
    switch (kind) {
    case HOST_ACL:
        return "AscendCL@";
    case HOST_NODE:
        return "Node@";
    case HOST_HCCL:
        return d->is_new ? "Communication@" : "Hccl@";
    default:
        return "Runtime@";
    }
}
