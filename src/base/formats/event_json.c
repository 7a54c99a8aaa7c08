/* Events of a Chrome trace with all their members, and where their list is. */
#include "base/formats/event_json.h"

/* Keys with escapes are copied, and the copy has nothing behind it. */
static enum event_member member_of(const struct json *j, struct str key, struct arena *arena)
{
    if (j->has_escapes && arena != NULL) {
        struct str plain = json_text(key, arena);
        char *padded = arena_alloc(arena, plain.n + 4);
        memcpy(padded, plain.at, plain.n);
        memset(padded + plain.n, 0, 4);
        key = (struct str){padded, plain.n};
    }
    enum event_member m = event_member(key);
    return m == EVENT_OTHER && str_equal(key, S("group_id")) ? EVENT_GROUP : m;
}

/* The value of "args", which is nearly always an object: not asked for, but seen. */
static bool json_read_args(struct json *j, struct event_value *out)
{
    const struct json_scan *s = &j->scan;

    if (s->i == s->count || s->batch[s->mark[s->i]] != '{')
        return event_json_value(j, out);
    size_t from = (size_t)(json_offset(j) - j->base);
    if (!json_skip(j))
        return false;
    *out = (struct event_value){str_trim((struct str){j->window.at + from, j->at - from}),
                                JSON_OBJECT, false};
    return true;
}

bool event_json_read(struct json *j, const struct event_args *args, struct event_json *e)
{
    struct arena *arena = args != NULL ? args->arena : NULL;
    struct str key, none;

    *e = (struct event_json){.at = json_offset(j)};
    size_t at = (size_t)(e->at - j->base);
    e->is_object = at < j->window.n && j->window.at[at] == '{'; /* as behind json_element() */
    if (!e->is_object) {
        bool is_taken = json_value(j, &none);
        e->is_object = !is_taken && j->token == JSON_OBJECT;
        if (!e->is_object) {
            is_taken = is_taken || (j->token == JSON_ARRAY && json_skip(j));
            e->end = json_offset(j);
            return is_taken;
        }
    }
    if (json_next(j) != JSON_OBJECT)
        return false;
    while (json_key(j, &key)) {
        enum event_member m = member_of(j, key, arena);
        if (m == EVENT_OTHER)
            continue;
        bool is_taken = m != EVENT_ARGS                      ? event_json_value(j, &e->member[m])
                        : args != NULL && args->read != NULL ? args->read(args->ctx)
                                                             : json_read_args(j, &e->member[m]);
        if (!is_taken)
            return false;
    }
    e->end = json_offset(j);
    return j->token == JSON_OBJECT_END;
}

bool event_json_next(struct json *j, const struct event_args *args, struct event_json *e)
{
    return json_element(j) && event_json_read(j, args, e);
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
