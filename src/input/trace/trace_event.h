/*
 * trace_event - one event of a trace as it stands in the text, before anything is made of it.
 *
 * Two readers fill it: that of trace_chunk.c takes any event apart, and trace_paths.h those that
 * look like one met before.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_EVENT_H
#define STRATA_INPUT_TRACE_TRACE_EVENT_H

#include "base/formats/event_json.h"
#include "base/tables/intern.h"
#include "base/text/num.h"
#include "input/trace/trace_words.h"

enum { TRACE_ARGS = 64 };

/* The number of a text, if it was guessed, and where to put it for the next guess. */
struct trace_guess {
    strid id;        /* 0: not known */
    strid *for_next; /* may be NULL */
};

struct trace_event {
    struct str field[EVENT_OTHER + 1]; /* by enum event_member, up to those for nobody */
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
        struct event_value value;
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
    static const struct str none[EVENT_OTHER + 1] = {
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

#endif
