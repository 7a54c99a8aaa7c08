#include "synth/dialect.h"

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

void put_list(struct put *p, const char *text, const char *separator)
{
    for (;;) {
        const char *end = strchr(text, ';');

        put_str(p, (struct str){text, end != NULL ? (size_t)(end - text) : strlen(text)});
        if (end == NULL)
            return;
        put_str(p, str_of(separator));
        text = end + 1;
    }
}

void put_types(struct put *p, const char *types, const char *separator)
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
    struct str rest = str_of(types), word;
    bool has_one = false;

    while (str_split(&rest, ';', &word)) {
        struct str out = word;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (str_equal(words[i].device, word))
                out = words[i].framework;
        if (has_one)
            put_str(p, str_of(separator));
        put_str(p, out);
        has_one = true;
    }
}

void put_stack(struct put *p, const struct op *op, const char *separator, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct str frames[STACK_DEPTH];

    stack_of(op, frames, scratch);
    for (size_t i = 0; i < STACK_DEPTH; i++) {
        if (i > 0)
            put_str(p, str_of(separator));
        put_str(p, frames[i]);
    }
    arena_rewind(scratch, mark);
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
