/*
 * event_json - one event of a Chrome trace, taken from a JSON reader member by member.
 *
 *     while (json_element(&j)) {
 *         if (!event_json_take(&j, NULL, NULL, &e)) ...    (* see j.token, j.error *)
 *         if (e.member[EVENT_TS].token == JSON_NUMBER) ...
 *     }
 *
 * Values are views into the text of the reader, which must have been opened whole (json_open()).
 */
#ifndef STRATA_BASE_EVENT_JSON_H
#define STRATA_BASE_EVENT_JSON_H

#include "base/json_read.h"

enum event_member {
    EVENT_NAME,
    EVENT_PH,
    EVENT_PID,
    EVENT_TID,
    EVENT_TS,
    EVENT_DUR,
    EVENT_ID,
    EVENT_GROUP, /* group_id */
    EVENT_ARGS,
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

/* The value that comes, of an argument; false when reading stops. */
bool event_json_value(struct json *j, struct event_value *out);

/* Enters the list `traceEvents` of a document that is just opened. */
bool event_json_enter(struct json *j);

/* Reads the element that comes. `take_args` reads the value of args in place of it being kept;
 * NULL: it is kept. False when reading stops, or when it says so. */
bool event_json_take(struct json *j, bool (*take_args)(void *ctx), void *ctx, struct event_json *e);

/* The letter of the phase; '\0' when it is none. */
static inline char event_json_phase(const struct event_json *e)
{
    const struct event_value *ph = &e->member[EVENT_PH];

    return ph->token == JSON_STRING && ph->text.n == 1 ? ph->text.at[0] : '\0';
}

#endif
