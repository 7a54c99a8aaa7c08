/* Members of a trace event, sorted into its fields. */
#include "base/event_json.h"

static enum event_member member_of(struct str key)
{
    static const struct str keys[EVENT_MEMBERS] = {
        [EVENT_NAME] = S_INIT("name"), [EVENT_PH] = S_INIT("ph"),
        [EVENT_PID] = S_INIT("pid"),   [EVENT_TID] = S_INIT("tid"),
        [EVENT_TS] = S_INIT("ts"),     [EVENT_DUR] = S_INIT("dur"),
        [EVENT_ID] = S_INIT("id"),     [EVENT_GROUP] = S_INIT("group_id"),
        [EVENT_ARGS] = S_INIT("args"),
    };
    int i = 0;

    while (i < EVENT_MEMBERS && !str_equal(keys[i], key))
        i++;
    return (enum event_member)i;
}

bool event_json_value(struct json *j, struct event_value *out)
{
    struct event_value value = {0};

    if (json_value(j, &value.text)) {
        value.token = j->token;
        value.has_escapes = j->token == JSON_STRING && j->has_escapes;
    } else if (j->token == JSON_OBJECT || j->token == JSON_ARRAY) {
        uint64_t from = json_offset(j);
        value.token = j->token;
        if (!json_skip(j))
            return false;
        value.text = str_trim(str_part(j->window, from - j->base, json_offset(j) - from));
    } else {
        return false;
    }
    *out = value;
    return true;
}

bool event_json_take(struct json *j, bool (*take_args)(void *ctx), void *ctx, struct event_json *e)
{
    struct str key, none;

    *e = (struct event_json){.at = json_offset(j)};
    if (json_value(j, &none)) {
        e->end = json_offset(j);
        return true;
    }
    if (j->token != JSON_OBJECT) {
        bool is_skipped = j->token == JSON_ARRAY && json_skip(j);
        e->end = json_offset(j);
        return is_skipped;
    }
    e->is_object = true;
    json_next(j);
    while (json_key(j, &key)) {
        enum event_member m = member_of(key);
        if (m == EVENT_MEMBERS)
            continue;
        if (m == EVENT_ARGS && take_args != NULL ? !take_args(ctx)
                                                 : !event_json_value(j, &e->member[m]))
            return false;
    }
    e->end = json_offset(j);
    return j->token == JSON_OBJECT_END;
}

bool event_json_enter(struct json *j)
{
    struct str key;

    if (json_next(j) != JSON_OBJECT)
        return false;
    while (json_key(j, &key))
        if (str_equal(key, S("traceEvents")))
            return json_next(j) == JSON_ARRAY;
    return false;
}
