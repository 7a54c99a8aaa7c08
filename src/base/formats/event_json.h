/*
 * event_json - the events of a Chrome trace, taken from a JSON reader one by one.
 *
 *     while (event_json_next(&j, &args, &e))
 *         if (e.member[EVENT_TS].token == JSON_NUMBER) ...
 *     if (j.token != JSON_ARRAY_END) ...                  (* see j.error *)
 *
 * This is the one place that knows what an event looks like: its keys, and that all of its values
 * but "args" are taken as they stand. Values are views into the text of the reader. The reader of
 * large traces (input/trace/trace_chunk.c) takes members as they come by event_json_each() and
 * keeps fewer of them; all others have struct event_json.
 */
#ifndef STRATA_BASE_FORMATS_EVENT_JSON_H
#define STRATA_BASE_FORMATS_EVENT_JSON_H

#include <endian.h>
#include <string.h>

#include "base/formats/json_read.h"

enum event_member {
    EVENT_NAME,
    EVENT_CAT,
    EVENT_ID,
    EVENT_PID,
    EVENT_TID,
    EVENT_TS,
    EVENT_DUR,
    EVENT_OTHER, /* whatever else there is, for nobody */
    EVENT_PH,
    EVENT_ARGS,
    EVENT_GROUP, /* group_id; event_member() has it among the others */
    EVENT_MEMBERS,
};

struct event_value {
    struct str text;       /* of a string: between the quotes; of objects and arrays: all of it */
    enum json_token token; /* JSON_NONE: absent */
    bool has_escapes;      /* a string that needs json_text() */
};

struct event_json {
    uint64_t at, end;                         /* of the element, in the text */
    bool is_object;                           /* else it has no members */
    struct event_value member[EVENT_MEMBERS]; /* of two under one name the last */
};

/* Who reads the value of "args", instead of it being kept; false when reading stops. */
struct event_args {
    bool (*read)(void *ctx);
    void *ctx;
    struct arena *arena; /* for keys with escapes; NULL: they are keys that nobody knows */
};

/* Enters the list `traceEvents` of a document that is just opened. */
bool event_json_enter(struct json *j);

/* In the list: reads the next element. False at its end (JSON_ARRAY_END), and when reading stops.
 * `args` may be NULL. */
bool event_json_next(struct json *j, const struct event_args *args, struct event_json *e);

/* Reads the element that comes. */
bool event_json_read(struct json *j, const struct event_args *args, struct event_json *e);

/* The letter of the phase; '\0' when it is none. */
static inline char event_json_phase(const struct event_json *e)
{
    const struct event_value *ph = &e->member[EVENT_PH];

    return ph->token == JSON_STRING && ph->text.n == 1 ? ph->text.at[0] : '\0';
}

/* A value as it stands in the text: a string with its quotes. */
static inline struct str event_value_raw(const struct event_value *v)
{
    return v->token == JSON_STRING ? (struct str){v->text.at - 1, v->text.n + 2} : v->text;
}

static inline bool event_value_is_json(const struct event_value *v)
{
    return v->token == JSON_OBJECT || v->token == JSON_ARRAY;
}

/* Takes the value of the key that was just read; false when reading stops. */
static inline bool event_json_value(struct json *j, struct event_value *out)
{
    if (json_value(j, &out->text)) {
        out->token = j->token;
        out->has_escapes = j->token == JSON_STRING && j->has_escapes;
        return true;
    }
    out->token = j->token;
    out->has_escapes = false;
    size_t from = j->at; /* right after json_value() said no */
    if (!event_value_is_json(out) || !json_skip(j))
        return false;
    out->text = str_trim((struct str){j->window.at + from, j->at - from});
    return true;
}

#define EVENT_WORD(a, b, c, d)                                                                     \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* The member of a key. Reading four bytes must be safe: a quote and a colon stand behind a key. */
static inline enum event_member event_member(struct str key)
{
    uint32_t word;

    if (key.n < 2 || key.n > 4)
        return EVENT_OTHER;
    memcpy(&word, key.at, sizeof(word));
    word = le32toh(word);
    switch (key.n == 4 ? word : word & (((uint32_t)1 << 8 * key.n) - 1)) {
    case EVENT_WORD('t', 's', 0, 0):
        return EVENT_TS;
    case EVENT_WORD('i', 'd', 0, 0):
        return EVENT_ID;
    case EVENT_WORD('p', 'h', 0, 0):
        return EVENT_PH;
    case EVENT_WORD('p', 'i', 'd', 0):
        return EVENT_PID;
    case EVENT_WORD('t', 'i', 'd', 0):
        return EVENT_TID;
    case EVENT_WORD('d', 'u', 'r', 0):
        return EVENT_DUR;
    case EVENT_WORD('c', 'a', 't', 0):
        return EVENT_CAT;
    case EVENT_WORD('n', 'a', 'm', 'e'):
        return EVENT_NAME;
    case EVENT_WORD('a', 'r', 'g', 's'):
        return EVENT_ARGS;
    default:
        return EVENT_OTHER;
    }
}

/*
 * The members of an event whose brace is behind us, as they come: plain ones by runs, so that what
 * nobody knows is handed over too, and "args" too when it is no object. Always inline, as it is
 * worth as much as its callers' functions are.
 */
static inline __attribute__((always_inline)) bool
event_json_each(struct json *j,
                void (*put)(void *ctx, enum event_member m, const struct event_value *value),
                bool (*args)(void *ctx), void *ctx)
{
    struct str key;
    struct event_value value;

    for (;;) {
        struct json_run run = json_run_begin(j);
        value.has_escapes = false;
        while (json_run_member(&run, &key, &value.text, &value.token))
            put(ctx, event_member(key), &value);
        json_run_end(j, &run);
        if (!json_key(j, &key))
            break;
        enum event_member m = event_member(key);
        if (m == EVENT_ARGS) {
            if (!args(ctx))
                return false;
            continue;
        }
        if (!event_json_value(j, &value))
            return false;
        put(ctx, m, &value);
    }
    return j->token == JSON_OBJECT_END;
}

#endif
