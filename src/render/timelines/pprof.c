/*
 * pprof: a stack of slices is a sample with its count and its time.
 *
 * Format reference: docs/formats/flame.md
 */
#include "base/files/gz_write.h"
#include "base/run/cancel.h"
#include "base/tables/columns.h"
#include "base/tables/pack_ints.h"
#include "render/timelines/flame.h"

/* Field numbers of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_DEFAULT_TYPE = 14,
    TYPE_TYPE = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
};
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

/* The first strings of the table; names follow. */
static const struct str words[] = {S_INIT(""), S_INIT("slices"), S_INIT("count"), S_INIT("time"),
                                   S_INIT("nanoseconds")};
enum { WORD_SLICES = 1, WORD_COUNT, WORD_TIME, WORD_NS };

struct pprof {
    struct flame flame;
    struct hash ids;        /* name -> number of its function and location, from 1 */
    VEC_OF(uint32_t) names; /* by that number, less 1 */
    struct text out, message, inner;
};

static void pprof_put_number(struct text *out, int field, uint64_t value)
{
    pack_varint(out, (uint64_t)field << 3 | WIRE_NUMBER);
    pack_varint(out, value);
}

static void put_bytes(struct text *out, int field, struct str bytes)
{
    pack_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    pack_varint(out, bytes.n);
    text_put(out, bytes);
}

static void pprof_put_type(struct pprof *p, uint64_t type, uint64_t unit)
{
    text_clear(&p->message);
    pprof_put_number(&p->message, TYPE_TYPE, type);
    pprof_put_number(&p->message, TYPE_UNIT, unit);
    put_bytes(&p->out, PROFILE_SAMPLE_TYPE, text_view(&p->message));
}

static void put_sample(struct pprof *p, uint32_t node)
{
    uint32_t names[FLAME_DEPTH + 3];
    size_t n = flame_stack(&p->flame, node, names);

    text_clear(&p->message);
    text_clear(&p->inner);
    for (size_t i = n; i > 0; i--) { /* innermost first */
        uint32_t fresh = (uint32_t)p->names.n + 1, id = hash_add(&p->ids, names[i - 1], fresh);
        if (id == fresh)
            vec_push(&p->names, names[i - 1]);
        pack_varint(&p->inner, id);
    }
    put_bytes(&p->message, SAMPLE_LOCATIONS, text_view(&p->inner));
    text_clear(&p->inner);
    pack_varint(&p->inner, p->flame.nodes.at[node].count);
    pack_varint(&p->inner, (uint64_t)p->flame.nodes.at[node].self);
    put_bytes(&p->message, SAMPLE_VALUES, text_view(&p->inner));
    put_bytes(&p->out, PROFILE_SAMPLE, text_view(&p->message));
}

/* A location and a function for each name. */
static void put_location(struct pprof *p, uint64_t id)
{
    text_clear(&p->inner);
    pprof_put_number(&p->inner, LINE_FUNCTION, id);
    text_clear(&p->message);
    pprof_put_number(&p->message, LOCATION_ID, id);
    put_bytes(&p->message, LOCATION_LINE, text_view(&p->inner));
    put_bytes(&p->out, PROFILE_LOCATION, text_view(&p->message));
    text_clear(&p->message);
    pprof_put_number(&p->message, FUNCTION_ID, id);
    pprof_put_number(&p->message, FUNCTION_NAME, ARRAY_LEN(words) + id - 1);
    put_bytes(&p->out, PROFILE_FUNCTION, text_view(&p->message));
}

static void put_strings(struct pprof *p)
{
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        put_bytes(&p->out, PROFILE_STRING, words[i]);
    for (size_t i = 0; i < p->names.n; i++) {
        struct str name = flame_name(&p->flame, p->names.at[i]);
        put_bytes(&p->out, PROFILE_STRING,
                  name.n > 0 ? columns_utf8(&arena, name) : S("(no name)"));
    }
    arena_free(&arena);
}

static void put_times(struct pprof *p)
{
    const struct cut *cut = p->flame.cut;
    const struct clock *clock = &cut->cap->clock;

    if (clock->has_unix)
        pprof_put_number(&p->out, PROFILE_TIME,
                         (uint64_t)nanos_add(cut->span.begin, clock->to_unix));
    pprof_put_number(&p->out, PROFILE_DURATION,
                     (uint64_t)nanos_sub(cut->span.end, cut->span.begin));
    pprof_put_number(&p->out, PROFILE_DEFAULT_TYPE, WORD_TIME);
}

static bool put_samples(struct pprof *p)
{
    for (uint32_t i = 1; i < p->flame.nodes.n; i++) {
        if (p->flame.nodes.at[i].count > 0)
            put_sample(p, i);
        if (cancelled())
            return false;
    }
    return true;
}

static bool write_pprof(const struct cut *cut, const struct timeline_options *options,
                        struct sink out)
{
    struct pprof p = {0};
    struct gz_write gz;
    bool goes_on = flame_init(&p.flame, cut, options);

    pprof_put_type(&p, WORD_SLICES, WORD_COUNT);
    pprof_put_type(&p, WORD_TIME, WORD_NS);
    goes_on = goes_on && put_samples(&p);
    for (size_t i = 1; i <= p.names.n; i++)
        put_location(&p, i);
    put_strings(&p);
    put_times(&p);
    gz_write_open(&gz, out);
    struct sink packed = gz_write_sink(&gz);
    packed.write(packed.ctx, text_view(&p.out));
    goes_on = gz_write_close(&gz) && goes_on;
    flame_fini(&p.flame);
    hash_free(&p.ids);
    vec_free(&p.names);
    text_free(&p.out);
    text_free(&p.message);
    text_free(&p.inner);
    return goes_on;
}

const struct timeline_format timeline_pprof = {
    .name = "pprof",
    .endings = (const char *const[]){".pb.gz", ".pprof", NULL},
    .summary = "stacks of slices with their time (pprof, gzip)",
    .is_binary = true,
    .write = write_pprof,
};
