/* Members of a trace beside its events. */
#include "input/trace/trace_inside.h"

void trace_facts_init(struct trace_facts *f)
{
    *f = (struct trace_facts){.rank = UNKNOWN,
                              .world_size = UNKNOWN,
                              .record_shapes = UNKNOWN,
                              .with_stack = UNKNOWN,
                              .device_memory = UNKNOWN,
                              .device_cores = UNKNOWN,
                              .capability = {UNKNOWN, UNKNOWN},
                              .cuda = {UNKNOWN, UNKNOWN},
                              .hip = {UNKNOWN, UNKNOWN},
                              .device_name = S("")};
    arena_init(&f->arena);
}

void trace_facts_fini(struct trace_facts *f)
{
    vec_free(&f->groups);
    arena_free(&f->arena);
}

static void facts_read_number(struct json *j, int64_t *out)
{
    struct str text;

    if (!json_value(j, &text))
        return;
    if (j->token == JSON_TRUE || j->token == JSON_FALSE)
        *out = j->token == JSON_TRUE;
    else
        num_i64(text, out);
}

/* [0, 1, 2] as "0,1,2". */
static struct str facts_read_ranks(struct json *j, struct arena *arena)
{
    VEC_OF(char) list = {0};
    struct str text;

    if (json_value(j, &text) || j->token != JSON_ARRAY)
        return S("");
    json_next(j);
    while (json_element(j)) {
        if (!json_value(j, &text))
            continue;
        if (list.n > 0)
            vec_push(&list, ',');
        for (size_t i = 0; i < text.n; i++)
            vec_push(&list, text.at[i]);
    }
    struct str kept = arena_str(arena, (struct str){list.at, list.n});
    vec_free(&list);
    return kept;
}

static void facts_read_text(struct json *j, struct arena *arena, struct str *out)
{
    struct str text;

    if (json_value(j, &text))
        *out = arena_str(arena, json_text(text, arena));
}

/* pg_config: [{"pg_name": "1", "pg_desc": "mesh_dp", "ranks": [0, 4]}, ...]. */
static void take_process_groups(struct json *j, struct trace_facts *f)
{
    struct str key;

    if (json_value(j, &key) || j->token != JSON_ARRAY)
        return;
    json_next(j);
    while (json_element(j)) {
        struct trace_group group = {0};
        if (json_value(j, &key) || j->token != JSON_OBJECT)
            continue;
        json_next(j);
        while (json_key(j, &key))
            if (str_equal(key, S("pg_name")))
                facts_read_text(j, &f->arena, &group.id);
            else if (str_equal(key, S("pg_desc")))
                facts_read_text(j, &f->arena, &group.name);
            else if (str_equal(key, S("ranks")))
                group.ranks = facts_read_ranks(j, &f->arena);
        vec_push(&f->groups, group);
    }
}

static void take_distributed(struct json *j, struct trace_facts *f)
{
    struct str key;

    if (json_next(j) != JSON_OBJECT)
        return;
    while (json_key(j, &key))
        if (str_equal(key, S("rank")))
            facts_read_number(j, &f->rank);
        else if (str_equal(key, S("world_size")))
            facts_read_number(j, &f->world_size);
        else if (str_equal(key, S("pg_config")))
            take_process_groups(j, f);
}

/* Kineto's words are NVIDIA's on other GPUs too: the device's name, or strata's own header. */
static void take_vendor(struct str text, struct trace_facts *f)
{
    if (str_starts_nocase(text, S("amd")) || str_contains_nocase(text, S("radeon")))
        f->vendor = VENDOR_AMD;
}

static void take_other(struct json *j, struct trace_facts *f)
{
    struct str key, text;

    if (json_next(j) != JSON_OBJECT)
        return;
    while (json_key(j, &key))
        if (str_equal(key, S("vendor")) && json_value(j, &text))
            take_vendor(text, f);
        else if (str_equal(key, S("producer")) && json_value(j, &text))
            f->is_own = str_equal(text, S("strata"));
}

/* The name of the first device. */
static void take_devices(struct json *j, struct trace_facts *f)
{
    struct str key, text;

    if (json_next(j) != JSON_ARRAY)
        return;
    while (json_element(j)) {
        if (f->device_name.n > 0 || json_next(j) != JSON_OBJECT)
            continue;
        while (json_key(j, &key))
            if (str_equal(key, S("name")) && json_value(j, &text))
                f->device_name = arena_str(&f->arena, json_text(text, &f->arena));
            else if (str_equal(key, S("totalGlobalMem")))
                facts_read_number(j, &f->device_memory);
            else if (str_equal(key, S("numSms")))
                facts_read_number(j, &f->device_cores);
            else if (str_equal(key, S("computeMajor")))
                facts_read_number(j, &f->capability[0]);
            else if (str_equal(key, S("computeMinor")))
                facts_read_number(j, &f->capability[1]);
    }
    take_vendor(f->device_name, f);
}

/* Versions of runtimes and drivers; false for another member. */
static bool take_version(struct json *j, struct str key, struct trace_facts *f)
{
    static const struct str names[] = {S_INIT("cuda_runtime_version"),
                                       S_INIT("cuda_driver_version"), S_INIT("hip_runtime_version"),
                                       S_INIT("hip_driver_version")};
    int64_t *const to[] = {&f->cuda[0], &f->cuda[1], &f->hip[0], &f->hip[1]};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(key, names[i])) {
            facts_read_number(j, to[i]);
            return true;
        }
    return false;
}

static void take_member(struct json *j, struct str key, struct trace_facts *f)
{
    bool is_there;

    if (take_version(j, key, f))
        return;

    /* Look before entering: a member of the wrong sort is skipped. */
    if (str_equal(key, S("baseTimeNanoseconds"))) {
        int64_t base = INT64_MIN;
        facts_read_number(j, &base);
        is_there = base != INT64_MIN;
        f->base_time = is_there ? base : f->base_time;
        f->has_base_time |= is_there;
    } else if (str_equal(key, S("record_shapes"))) {
        facts_read_number(j, &f->record_shapes);
    } else if (str_equal(key, S("with_stack"))) {
        facts_read_number(j, &f->with_stack);
    } else if (str_equal(key, S("traceEvents"))) {
        f->has_second_list = true;
    } else if (str_equal(key, S("distributedInfo")) || str_equal(key, S("deviceProperties")) ||
               str_equal(key, S("otherData"))) {
        struct str text;
        if (json_value(j, &text))
            return;
        if (j->token == JSON_OBJECT && key.at[1] == 'i')
            take_distributed(j, f);
        else if (j->token == JSON_ARRAY && key.at[1] == 'e')
            take_devices(j, f);
        else if (j->token == JSON_OBJECT && key.at[0] == 'o')
            take_other(j, f);
    }
}

enum trace_root trace_facts_head(struct trace_facts *f, struct str text, bool is_last,
                                 uint64_t *begin, bool *is_object)
{
    struct json *j = mem_grow(NULL, sizeof(*j), 1); /* too large for a stack */
    struct str key, value;
    bool is_found = false;

    json_begin(j, JSON_LENIENT);
    json_window(j, text, is_last);
    enum json_token root = json_next(j);
    *is_object = root == JSON_OBJECT;
    if (root == JSON_ARRAY) {
        is_found = true;
    } else if (root == JSON_OBJECT) {
        while (!is_found && json_key(j, &key)) {
            if (!str_equal(key, S("traceEvents")))
                take_member(j, key, f);
            else if (!json_value(j, &value) && j->token == JSON_ARRAY)
                is_found = json_next(j) == JSON_ARRAY;
        }
    }
    *begin = json_offset(j);
    enum json_token token = j->token;
    mem_free(j);
    return is_found ? ROOT_EVENTS : token == JSON_MORE ? ROOT_MORE : ROOT_NONE;
}

static const struct str front = S_INIT("{\"\":0"); /* the tail follows a member */

void trace_facts_tail(struct trace_facts *f, struct str text)
{
    struct json *j = mem_grow(NULL, sizeof(*j), 1);
    char *whole = mem_grow(NULL, 1, front.n + text.n);
    struct str key;

    memcpy(whole, front.at, front.n);
    if (text.n > 0)
        memcpy(whole + front.n, text.at, text.n);
    json_open(j, (struct str){whole, front.n + text.n}, JSON_LENIENT);
    if (json_next(j) == JSON_OBJECT)
        while (json_key(j, &key))
            take_member(j, key, f);
    mem_free(whole);
    mem_free(j);
}

/* Nothing but the rest of an object. `effort` grows by the bytes it took to find out. */
static bool is_rest(struct json *j, struct str text, uint64_t *effort)
{
    struct str key;

    json_open(j, text, JSON_LENIENT);
    json_next(j);
    while (json_key(j, &key))
        ;
    bool is_whole = j->token == JSON_OBJECT_END;
    *effort += 2048 + json_offset(j);
    return is_whole && json_next(j) == JSON_END;
}

size_t trace_facts_find_tail(struct str text)
{
    struct json *j = mem_grow(NULL, sizeof(*j), 1);
    char *whole = mem_grow(NULL, 1, front.n + text.n), saved[16];
    uint64_t effort = 0, most = 16 * (uint64_t)text.n + (1 << 20);
    size_t at = 0, found = text.n;

    memset(whole, ' ', front.n);
    if (text.n > 0)
        memcpy(whole + front.n, text.at, text.n);
    while (found == text.n && effort < most) {
        at += str_find_char(str_part(text, at, text.n), ']') + 1;
        if (at >= text.n)
            break;
        /* Read in place: the five bytes up to here make way for the front of an object. */
        memcpy(saved, whole + at, front.n);
        memcpy(whole + at, front.at, front.n);
        if (is_rest(j, (struct str){whole + at, front.n + text.n - at}, &effort))
            found = at;
        memcpy(whole + at, saved, front.n);
    }
    mem_free(whole);
    mem_free(j);
    return found;
}
