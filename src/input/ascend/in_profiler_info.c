/*
 * profiler-info: how a profile was recorded: profiler_info_<rank>.json, profiler_metadata.json and
 * msprof's info.json. The keys that matter are known by their names, wherever they stand, because
 * versions nest them differently.
 * Format reference: docs/formats/profiler-info.md
 */
#include "base/text/char.h"
#include "input/rank.h"
#include "input/sidecar.h"

static bool claims(struct str name)
{
    struct name_parts parts = rank_name_parts(name);

    return (str_equal(parts.base, S("profiler_info")) && str_equal(parts.ext, S("json"))) ||
           str_equal(name, S("profiler_metadata.json")) || str_equal(name, S("info.json")) ||
           (str_starts(name, S("info.json.")) && !str_ends(name, S(".done")));
}

static int info_probe(const struct probe *p)
{
    static const struct str words[] = {
        S_INIT("\"rank_id\""),       S_INIT("\"experimental_config\""), S_INIT("\"common_config\""),
        S_INIT("\"ENV_VARIABLES\""), S_INIT("\"distributed_args\""),    S_INIT("\"hostUid\""),
    };
    static const struct str first_keys[] = {S_INIT("ENV_VARIABLES"), S_INIT("distributed_args"),
                                            S_INIT("parallel_group_info")};

    if (!sidecar_begins(p->head, S("")))
        return 0;
    if (str_equal(p->name, S("profiler_metadata.json"))) /* its user may have written any key */
        return 80;
    for (size_t i = 0; i < ARRAY_LEN(words) && claims(p->name); i++)
        if (str_contains(p->head, words[i]))
            return 80;
    for (size_t i = 0; i < ARRAY_LEN(first_keys); i++) /* a copy under another name */
        if (sidecar_begins(p->head, first_keys[i]))
            return 70;
    return 0;
}

/* "Level1", "ProfilerLevel.Level1": the digit at the end. */
static void take_level(struct str text, int64_t *level)
{
    if (text.n > 0 && str_contains_nocase(text, S("level")) && char_is_digit(text.at[text.n - 1]))
        *level = text.at[text.n - 1] - '0';
}

static void take_flag(const struct json *j, int64_t *flag)
{
    if (j->token == JSON_TRUE || j->token == JSON_FALSE)
        *flag = j->token == JSON_TRUE;
}

static void info_take_number(struct str text, int64_t *out)
{
    int64_t number;

    if (num_i64(text, &number) && number >= 0)
        *out = number;
}

/* One plain value under its key. */
static void take_fact(struct capture *cap, const struct json *j, struct str key, struct str value)
{
    struct facts *f = &cap->facts;

    if (str_equal(key, S("record_shapes")))
        take_flag(j, &f->record_shapes);
    else if (str_equal(key, S("with_stack")))
        take_flag(j, &f->with_stack);
    else if (str_equal(key, S("_profiler_level")) || str_equal(key, S("profiler_level")))
        take_level(value, &f->level);
    else if (str_equal(key, S("rank_id")) || (str_equal(key, S("rank")) && f->rank < 0))
        info_take_number(value, &f->rank);
    else if (str_equal(key, S("world_size")))
        info_take_number(value, &f->world_size);
    else if (str_equal(key, S("hostUid")) || (str_equal(key, S("hostname")) && f->host == 0))
        f->host = sidecar_intern(cap, j, value);
}

/* [0, 1, 2] as "0,1,2". */
static strid take_ranks(struct capture *cap, struct json *j)
{
    VEC_OF(char) list = {0};
    struct str value;

    if (json_value(j, &value) || j->token != JSON_ARRAY)
        return 0; /* what was not taken is stepped over by the next json_key() */
    json_next(j);
    while (json_element(j)) {
        if (!sidecar_value(j, &value))
            continue;
        if (list.n > 0)
            vec_push(&list, ',');
        for (size_t i = 0; i < value.n; i++)
            vec_push(&list, value.at[i]);
    }
    strid id = capture_intern(cap, (struct str){list.at, list.n});
    vec_free(&list);
    return id;
}

/* parallel_group_info: the groups by their ids. */
static void take_groups(struct capture *cap, struct json *j)
{
    struct str key, value;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        struct comm_group group = {.id = sidecar_intern(cap, j, key)};
        if (!sidecar_enter(j))
            continue;
        while (json_key(j, &key)) {
            if (str_equal(key, S("global_ranks")))
                group.ranks = take_ranks(cap, j);
            else if (str_equal(key, S("group_name")) && sidecar_value(j, &value))
                group.name = sidecar_intern(cap, j, value);
        }
        vec_push(&cap->comm_groups, group);
    }
}

/* Walks the objects of the document, however deep, without going down a stack. */
static void take_all(struct capture *cap, struct json *j)
{
    size_t depth = 1;
    struct str key, value;

    while (depth > 0) {
        if (!json_key(j, &key)) {
            if (j->token != JSON_OBJECT_END)
                return;
            depth--;
        } else if (str_equal(key, S("parallel_group_info"))) {
            take_groups(cap, j);
        } else if (!str_equal(key, S("ENV_VARIABLES")) && json_value(j, &value)) {
            take_fact(cap, j, key, value);
        } else if (j->token == JSON_OBJECT && !str_equal(key, S("ENV_VARIABLES"))) {
            json_next(j);
            depth++;
        } else if (!json_skip(j)) {
            return;
        }
    }
}

static enum status read_profiler_info(struct import *i)
{
    struct json j;

    json_open(&j, i->in->text, JSON_LENIENT);
    if (json_next(&j) != JSON_OBJECT)
        return import_refuse(i, import_file(i), "profiler-info.not-json", "not a JSON object");
    take_all(i->cap, &j);
    i->rows = 1;
    sidecar_damaged(i, &j, "profiler-info.damaged");
    return ST_OK;
}

const struct input_format input_profiler_info = {
    .name = "profiler-info",
    .summary = "profiler settings (JSON)",
    .looks_for = "profiler_info_*.json, profiler_metadata.json, info.json",
    .role = ROLE_FACTS,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_PROFILER_INFO,
    .claims = claims,
    .probe = info_probe,
    .read = read_profiler_info,
};
