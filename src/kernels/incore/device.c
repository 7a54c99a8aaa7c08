/*
 * The blocks of a container that was measured on a device, and what they tell as a record.
 */
#include "kernels/incore/device.h"

#include "base/files/bin_blocks.h"
#include "base/formats/json_read.h"
#include "base/text/num.h"

enum { MOST_ADVICE = 64 };

void incore_device_init(struct incore_device *d)
{
    *d = (struct incore_device){0};
    arena_init(&d->arena);
}

void incore_device_free(struct incore_device *d)
{
    vec_free(&d->loads);
    vec_free(&d->cores);
    vec_free(&d->advice);
    arena_free(&d->arena);
}

/* Goes into the value that comes, when it is of the wanted kind, and over it when not. */
static bool incore_device_enter(struct json *j, enum json_token wanted)
{
    struct str none;

    if (json_value(j, &none))
        return false;
    if (j->token != wanted) {
        if (j->token == JSON_OBJECT || j->token == JSON_ARRAY)
            json_skip(j);
        return false;
    }
    json_next(j);
    return true;
}

static struct str device_keep(struct incore_device *d, const struct json *j, struct str text)
{
    return j->has_escapes && j->token == JSON_STRING ? json_text(text, &d->arena)
                                                     : arena_str(&d->arena, text);
}

static void add_advice(struct incore_device *d, struct str text)
{
    text = str_trim(text);
    for (size_t i = 0; i < d->advice.n; i++)
        if (str_equal(d->advice.at[i], text))
            return;
    if (text.n > 0 && d->advice.n < MOST_ADVICE)
        vec_push(&d->advice, text);
}

/* A list of texts, or one text with a line for each. */
static void read_advice(struct incore_device *d, struct json *j)
{
    struct str text, line;

    if (json_value(j, &text)) {
        struct str rest = device_keep(d, j, text);
        while (rest.n > 0 && str_split(&rest, '\n', &line))
            add_advice(d, line);
        return;
    }
    if (!incore_device_enter(j, JSON_ARRAY))
        return;
    while (json_element(j))
        if (json_value(j, &text) && j->token == JSON_STRING)
            add_advice(d, device_keep(d, j, text));
}

/* One member of an object: where its text goes. */
struct member {
    struct str key;
    struct str *to;
};

/* Reads an object, texts and numbers alike, into its fields. False when reading stops. */
static bool read_fields(struct incore_device *d, struct json *j, const struct member *fields,
                        size_t n)
{
    struct str key, value;

    if (!incore_device_enter(j, JSON_OBJECT))
        return false;
    while (json_key(j, &key))
        for (size_t i = 0; i < n; i++)
            if (str_equal(key, fields[i].key)) {
                if (json_value(j, &value))
                    *fields[i].to = device_keep(d, j, value);
                break;
            }
    return j->token == JSON_OBJECT_END;
}

static double incore_device_number(struct str text)
{
    double value;

    return num_f64(text, &value) ? value : 0;
}

static void read_load(struct incore_device *d, struct json *j)
{
    struct incore_load load = {0};
    struct str percent = {0}, busy = {0};
    const struct member fields[] = {
        {S_INIT("block_id"), &load.block}, {S_INIT("block_type"), &load.unit},
        {S_INIT("name"), &load.name},      {S_INIT("value"), &percent},
        {S_INIT("origin_value"), &busy},
    };

    if (!read_fields(d, j, fields, ARRAY_LEN(fields)))
        return;
    load.percent = incore_device_number(percent);
    load.cycles = incore_device_number(busy);
    vec_push(&d->loads, load);
}

static void read_subcore(struct incore_device *d, struct json *j)
{
    struct incore_core one = {0};
    struct str id = S(""), kind = S("");
    const struct member fields[] = {
        {S_INIT("subcore_id"), &id},
        {S_INIT("subcore_type"), &kind},
        {S_INIT("cycles"), &one.cycles},
        {S_INIT("throughput"), &one.bytes},
        {S_INIT("L2cache_hit_rate"), &one.hit_rate},
    };

    if (!read_fields(d, j, fields, ARRAY_LEN(fields)))
        return;
    one.unit = arena_format(&d->arena, "%.*s%.*s", STR_ARGS(kind), STR_ARGS(id));
    vec_push(&d->cores, one);
}

/* Each element of the array that comes. */
static void read_list(struct incore_device *d, struct json *j,
                      void (*read)(struct incore_device *d, struct json *j))
{
    if (incore_device_enter(j, JSON_ARRAY))
        while (json_element(j))
            read(d, j);
}

/* {"core_detail":[...],"core_id":0}: the number may come behind. */
static void read_core(struct incore_device *d, struct json *j)
{
    size_t first = d->cores.n;
    struct str key, value;
    int64_t core = -1;

    if (!incore_device_enter(j, JSON_OBJECT))
        return;
    while (json_key(j, &key))
        if (str_equal(key, S("core_id")) && json_value(j, &value))
            num_i64(value, &core);
        else if (str_equal(key, S("core_detail")))
            read_list(d, j, read_subcore);
    for (size_t i = first; i < d->cores.n; i++)
        d->cores.at[i].core = core;
}

/* An object of which only the advice is told. */
static void read_hints(struct incore_device *d, struct json *j)
{
    struct str key;

    if (incore_device_enter(j, JSON_OBJECT))
        while (json_key(j, &key))
            if (str_equal(key, S("advice")))
                read_advice(d, j);
}

static void read_member(struct incore_device *d, uint8_t type, struct json *j, struct str key)
{
    struct str value;
    const struct member texts[] = {
        {S_INIT("name"), &d->name},
        {S_INIT("soc"), &d->soc},
        {S_INIT("op_type"), &d->type},
        {S_INIT("block_dim"), &d->blocks},
        {S_INIT("mix_block_dim"), &d->mix_blocks},
    };

    if (str_equal(key, S("advice"))) {
        read_advice(d, j);
    } else if (type == BIN_LOAD_GRAPH && str_equal(key, S("subblock_detail"))) {
        read_list(d, j, read_load);
    } else if (type == BIN_CORE_LOAD && str_equal(key, S("op_detail"))) {
        read_list(d, j, read_core);
    } else if ((type == BIN_MEMORY_GRAPH && str_equal(key, S("core_memory_map"))) ||
               (type == BIN_MEMORY_TABLE && str_equal(key, S("table_per_block")))) {
        read_list(d, j, read_hints);
    } else if (type == BIN_BASE_INFO && str_equal(key, S("duration"))) {
        if (json_value(j, &value))
            d->us = incore_device_number(value);
    } else if (type == BIN_BASE_INFO) {
        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
            if (str_equal(key, texts[i].key) && json_value(j, &value))
                *texts[i].to = device_keep(d, j, value);
    }
}

void incore_device_add(struct incore_device *d, uint8_t type, struct str payload)
{
    struct json j;
    struct str key;

    if (type != BIN_BASE_INFO && type != BIN_LOAD_GRAPH && type != BIN_MEMORY_GRAPH &&
        type != BIN_MEMORY_TABLE && type != BIN_CORE_LOAD)
        return;
    json_open(&j, payload, JSON_LENIENT);
    if (json_next(&j) == JSON_OBJECT)
        while (json_key(&j, &key))
            read_member(d, type, &j, key);
    d->damaged += j.token != JSON_OBJECT_END;
}

static struct field_value short_hit_rate(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_part(((const struct incore_core *)record)->hit_rate, 0, 5));
}

static const struct field core_fields[] = {
    FIELD(struct incore_core, core, "core", .head = "core"),
    FIELD(struct incore_core, unit, "unit", .head = "unit"),
    FIELD(struct incore_core, cycles, "cycles", .head = "cycles", .is_right = true),
    FIELD(struct incore_core, bytes, "bytes", .head = "bytes", .is_right = true),
    FIELD(struct incore_core, hit_rate, "l2_hit_pct"),
    FIELD_CALC(FIELD_STR, NULL, short_hit_rate, .head = "L2 hit %", .is_right = true),
};
const struct record incore_core_record = RECORD(struct incore_core, core_fields);

static const struct field load_fields[] = {
    FIELD(struct incore_load, block, "block", .head = "block", .is_right = true),
    FIELD(struct incore_load, unit, "unit", .head = "unit"),
    FIELD(struct incore_load, name, "name", .head = "load"),
    FIELD(struct incore_load, percent, "pct", .head = "%", .unit = UNIT_PLAIN),
    FIELD(struct incore_load, cycles, "cycles", .head = "cycles"),
};
const struct record incore_load_record = RECORD(struct incore_load, load_fields);

static const struct field device_fields[] = {
    FIELD(struct incore_device, name, "kernel"),
    FIELD(struct incore_device, soc, "soc"),
    FIELD(struct incore_device, type, "type"),
    FIELD(struct incore_device, blocks, "blocks"),
    FIELD(struct incore_device, us, "duration_us"),
    FIELD_LIST(struct incore_device, cores.at, cores.n, "cores", &incore_core_record),
    FIELD_LIST(struct incore_device, loads.at, loads.n, "loads", &incore_load_record),
    FIELD_VALUES(struct incore_device, advice.at, advice.n, "advice"),
};
static const struct record device_record = RECORD(struct incore_device, device_fields);

const struct schema incore_device_schema = {
    .name = "strata.incore-show-device/1",
    .title = "a kernel measured on a device",
    .record = &device_record,
};
