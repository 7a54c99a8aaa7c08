/*
 * trace_paths - a quick reader for events that are written like one before.
 *
 * A profiler writes millions of events with some dozen layouts: the same keys in the same order
 * with the same blanks, and only the values differ. A path is such a layout: the texts between the
 * values, and what each value is for. Paths with the same beginning share it, so that all of them
 * form a tree, and reading an event is walking from its root: compare a text, step over a value.
 * Values with few spellings (process, thread, category, some that are not kept) are part of the
 * texts, as long as they are few. What comes next is guessed from what came after the same events
 * before: the layout, and the names and long texts, which then need no more than to be compared.
 *
 * The reader takes less than json_read.h does (strings of printable ASCII, plain numbers, objects
 * nowhere but as "args"), and takes it alike. Whatever it does not know it leaves untouched.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_PATHS_H
#define STRATA_INPUT_TRACE_TRACE_PATHS_H

#include "input/trace/trace_event.h"

enum {
    TRACE_PATH_NODES = 1024, /* profilers need a tenth */
    TRACE_PATH_TEXT = 64,    /* a longer text is several nodes */
    TRACE_PATH_CONSTANTS = 4,
    TRACE_PATH_GUESSES = 1024,
    TRACE_TEXT_GUESSES = 4096,
};

struct trace_chunk;

/* What stands behind a text. */
enum path_value {
    PATH_NONE, /* the text goes on in a child */
    PATH_END,
    PATH_TS,
    PATH_DUR,
    PATH_NAME,
    PATH_STRING, /* of a field */
    PATH_NUMBER,
    PATH_ARG_STRING,
    PATH_ARG_NUMBER,
};

/* A value that is part of a text: the field's, so long before the end of the text. */
struct path_constant {
    uint8_t field, back, n;
};

/* A text and the value behind it. */
struct path_node {
    unsigned char text[TRACE_PATH_TEXT];
    struct path_node *parent;
    struct path_node *child, *next; /* the first text behind the value; another one beside this */
    uint8_t n;                      /* length of the text */
    uint8_t value;                  /* enum path_value */
    uint8_t field;                  /* enum event_member */
    char ph;                        /* at the end of a path: the phase of its events */
    uint8_t length;                 /* of the last value met here */
    bool is_string;
    bool is_python; /* an argument of one of Python's functions: of no use */
    uint8_t n_constants;
    struct path_constant constants[TRACE_PATH_CONSTANTS];
    uint16_t key_back, key_n; /* an argument's name: so long before the value, and its length */
    uint32_t round;           /* when `arg` and `key` were looked up */
    struct trace_arg arg;
    strid key;
    bool is_text; /* a string that is kept as text, in this form: */
    uint8_t form; /* enum trace_form */

    /* At the end of a path: what is the same for all of its events. */
    bool has_lane, has_cat; /* pid and tid are constants; the category is */
    uint32_t lane_round, cat_round, arrow_piece;
    uint32_t lane;
    uint16_t arrow; /* its category as one of arrows */
    struct trace_cat cat;
};

/* For tests: without what only some processors have, and not at all. The results are the same. */
enum trace_paths_mode { PATHS_BEST, PATHS_PLAIN, PATHS_OFF };

struct trace_paths {
    struct path_node nodes[TRACE_PATH_NODES]; /* number 0 is the root */
    uint32_t n;
    uint32_t last; /* the ends of the last two events' paths */
    /* The child taken, by the node and the events before. */
    struct path_node *guesses[TRACE_PATH_GUESSES];
    strid texts[TRACE_TEXT_GUESSES]; /* the text met, by its node and the texts before it */
    uint32_t names;                  /* of the last two events */
    const char *(*walk)(struct trace_chunk *c, const char *p, const char *end,
                        struct trace_event *e);
    uint32_t round; /* changes when all numbers are forgotten */
    uint32_t piece; /* changes with each piece */
    enum trace_paths_mode mode;
    int32_t credit; /* falls with events of unknown layout; at 0 looking is not worth it */
};

void trace_paths_init(struct trace_paths *t, enum trace_paths_mode mode);

/* The numbers of texts, keys and lanes hold no longer; layouts do. */
void trace_paths_forget(struct trace_paths *t);

/* A new piece begins. */
void trace_paths_renew(struct trace_paths *t);

/* Reads the event that begins at `at` into `e`, which is fresh, if it has a known layout. Returns
 * the place behind it; NULL when it is not known, with `e` spoilt. */
const char *trace_paths_read(struct trace_chunk *c, const char *at, const char *end,
                             struct trace_event *e);

/* Remembers the layout of an event that was read by other means; `ph` is its phase. */
void trace_paths_learn(struct trace_paths *t, enum trace_dialect dialect, struct str event,
                       char ph);

/* A text of an event that was read here has this number. */
static inline void trace_paths_teach(const struct trace_guess *guess, strid id)
{
    if (guess->for_next != NULL)
        *guess->for_next = id;
}

/* Private to the two sources of this module. */
#define PATH_PYTHON S("python_function") /* the category whose arguments are left out */

static inline bool path_is_printable(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80;
}

#endif
