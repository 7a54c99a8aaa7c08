/*
 * trace_event - one event of a trace as it stands in the text, before anything is made of it.
 *
 * Two readers fill it: that of trace_chunk.c takes any event apart, and trace_paths.h those that
 * look like one met before.
 */
#ifndef STRATA_INPUT_TRACE_EVENT_H
#define STRATA_INPUT_TRACE_EVENT_H

#include <endian.h>
#include <string.h>

#include "base/intern.h"
#include "base/json_read.h"
#include "base/num.h"
#include "input/trace_words.h"

enum { TRACE_ARGS = 64 };

/* A value as it stands in the text. */
struct trace_value {
    struct str text;
    enum json_token token;
    bool is_json; /* an object or an array */
};

enum trace_field {
    FIELD_NAME,
    FIELD_CAT,
    FIELD_ID,
    FIELD_PID,
    FIELD_TID,
    FIELD_TS,
    FIELD_DUR,
    FIELD_NONE, /* whatever else there is, for nobody */
    FIELD_COUNT
};

/* The number of a text, if it was guessed, and where to put it for the next guess. */
struct trace_guess {
    strid id;        /* 0: not known */
    strid *for_next; /* may be NULL */
};

struct trace_event {
    struct str field[FIELD_COUNT];
    nanos ts, dur; /* the fields as times, when they were taken for such already */
    uint64_t offset;
    struct path_node *path; /* the end of the path that led here, or NULL */
    char ph;
    bool has_ts, has_dur;
    struct trace_guess name;
    uint32_t n_args;
    bool has_many_args;
    struct {
        strid key;
        struct trace_arg arg;
        struct trace_value value;
        struct trace_guess guess;
    } args[TRACE_ARGS];
};

/* A category that was met before. */
struct trace_cat {
    struct str text;
    strid id;
    enum trace_hint hint;
    uint32_t set; /* the attr_run of an event with nothing but this category */
    bool is_used;
};

/* An event without anything. Not by memset: it would be a tenth of the time. */
static inline void trace_event_start(struct trace_event *e, uint64_t offset)
{
    static const struct str none[FIELD_COUNT] = {
        {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0},
    };

    memcpy(e->field, none, sizeof(none));
    e->offset = offset;
    e->path = NULL;
    e->ph = 0;
    e->has_ts = e->has_dur = false;
    e->name.id = 0;
    e->name.for_next = NULL;
    e->n_args = 0;
    e->has_many_args = false;
}

/* A key of up to four letters as a number, for a switch. */
#define TRACE_WORD(a, b, c, d)                                                                     \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* Reading four bytes must be safe: a quote and a colon stand behind a key. */
static inline uint32_t trace_word(struct str key)
{
    uint32_t word;

    if (key.n < 2 || key.n > 4)
        return 0;
    memcpy(&word, key.at, sizeof(word));
    word = le32toh(word);
    return key.n == 4 ? word : word & (((uint32_t)1 << 8 * key.n) - 1);
}

/* The field of a key that is not "ph" or "args". */
static inline enum trace_field trace_field(uint32_t word)
{
    switch (word) {
    case TRACE_WORD('t', 's', 0, 0):
        return FIELD_TS;
    case TRACE_WORD('i', 'd', 0, 0):
        return FIELD_ID;
    case TRACE_WORD('p', 'i', 'd', 0):
        return FIELD_PID;
    case TRACE_WORD('t', 'i', 'd', 0):
        return FIELD_TID;
    case TRACE_WORD('d', 'u', 'r', 0):
        return FIELD_DUR;
    case TRACE_WORD('c', 'a', 't', 0):
        return FIELD_CAT;
    case TRACE_WORD('n', 'a', 'm', 'e'):
        return FIELD_NAME;
    default:
        return FIELD_NONE;
    }
}

#endif
