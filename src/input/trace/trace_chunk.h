/*
 * trace_chunk - one piece of a trace's event array, read by itself.
 *
 * A large trace is cut into pieces that are read side by side. A piece knows nothing of those
 * beside it: it numbers its texts, lanes and attribute sets itself, and trace_inside.h gives them
 * the numbers of the capture, piece after piece in file order. All memory of a piece is used again
 * for a later one, and so are its numbers and what they became, unless they are too many: pieces
 * have much in common.
 *
 * A piece reads the events that begin in [from, limit) of the file. Where its first event begins is
 * a guess until the piece before it was read (json_border() of json_read.h); `start` and `stop`
 * say what was read, so that a wrong guess is noticed and the piece read again.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_CHUNK_H
#define STRATA_INPUT_TRACE_TRACE_CHUNK_H

#include "base/files/mapwindow.h"
#include "base/formats/json_read.h"
#include "capture/attrs.h"
#include "input/damage.h"
#include "input/trace/trace_event.h"
#include "input/trace/trace_paths.h"
#include "input/trace/trace_strings.h"
#include "input/trace/trace_words.h"

/* An event with a duration. `lane` and the others are numbers of this piece. */
struct trace_row {
    nanos begin, dur;
    uint32_t lane;
    strid name;
    attr_run set, own;
    uint8_t hint; /* enum trace_hint */
    uint8_t edge; /* one half of a pair: 'B' or 'E'; else 0 */
};

/* One end of an arrow. */
struct trace_end {
    uint64_t id;
    nanos at;
    uint32_t lane;
    uint16_t cat; /* number in the piece's `flow_cats` */
    uint8_t is_start;
    uint8_t is_text; /* `id` is the hash of a text */
};

struct trace_sample {
    nanos at;
    double value;
    uint32_t lane;
    strid name, unit;
};

enum trace_meta_kind {
    META_PROCESS_NAME,
    META_PROCESS_LABELS,
    META_THREAD_NAME,
    META_ROW_OF, /* strata's own: the row continues another one of its process */
};

struct trace_meta {
    enum trace_meta_kind kind;
    uint32_t lane;
    strid text;
};

struct trace_lane_key {
    strid pid, tid; /* as text: numbers and strings of the same spelling are the same lane */
};

/* What went wrong, counted. */
enum trace_trouble {
    TROUBLE_DAMAGED,
    TROUBLE_NOT_AN_EVENT,
    TROUBLE_NO_PHASE,
    TROUBLE_NO_TIME,
    TROUBLE_NO_DURATION,
    TROUBLE_BAD_DURATION,
    TROUBLE_UNKNOWN_PHASE,
    TROUBLE_MANY_ARGS,
    TROUBLE_TOO_LONG,
    TROUBLE_UNPAIRED, /* from here on found by the merge */
    TROUBLE_TRUNCATED,
    TROUBLE_UNCLOSED,
    TROUBLE_TRAILING_TEXT,
    TROUBLE_SECOND_LIST,
    TROUBLE_COUNT
};

struct trace_tally {
    uint64_t count, first; /* byte offset of the first one */
};

enum { TRACE_KEYS = 128, TRACE_KEPT = 1 << 20 };

/* An argument name that was met before, and what to do with it. */
struct trace_key {
    struct str key;
    struct trace_arg arg;
    strid id;
    bool is_used;
};

/* What the numbers of a piece are in the capture; kept by the merge. */
struct trace_map {
    VEC_OF(strid) strings;
    VEC_OF(strid) keys; /* the same as names of arguments; 0: not asked for yet */
    VEC_OF(uint32_t) lanes;
    VEC_OF(attr_run) sets; /* by run; 0: not asked for yet */
    struct attr_map own;
};

enum trace_stop {
    STOP_LIMIT,     /* the next event belongs to the next piece */
    STOP_CUT,       /* the text ends inside the event that begins at `stop` */
    STOP_END,       /* the array is closed before `stop` */
    STOP_TRUNCATED, /* the file ends inside the event that begins at `stop` */
    STOP_LOST,      /* the event that begins at `stop` is damaged, and no other was found behind */
};

#define TRACE_NOWHERE UINT64_MAX

struct trace_chunk {
    enum trace_dialect dialect;

    /* The text, and where in the file it is. */
    char *buffer; /* owned; NULL when the text belongs to someone else */
    size_t buffer_cap;
    struct mapwindow *window; /* has the text, when it is not NULL; left by the piece's end */
    struct str text;
    uint64_t offset;      /* of text.at[0] */
    uint64_t from, limit; /* events that begin here are ours */
    bool is_last;         /* the file ends with the text */
    uint64_t taken; /* of a serial source: bytes of the file used up to here, packed as it is */

    /* What was read. */
    uint64_t start, stop;
    enum trace_stop why;
    struct trace_strings strings;
    VEC_OF(struct trace_lane_key) lanes;
    struct attrs sets, owns;
    VEC_OF(struct trace_row) rows;
    VEC_OF(struct trace_end) ends;
    VEC_OF(strid) flow_cats;
    VEC_OF(struct trace_sample) samples;
    VEC_OF(struct trace_meta) metas;
    struct trace_tally troubles[TROUBLE_COUNT];
    struct damage damage;
    struct json_recovered recovered[JSON_RECOVERIES];
    uint64_t events; /* that were understood */
    nanos shift;     /* least that exact times are ahead of the events' own; INT64_MAX: none */
    int error;       /* an errno: the text could not be had */

    /* Of the merge. */
    bool is_merged; /* all numbers are known there, and may stay */
    struct trace_map map;
    char *kept; /* the texts of earlier pieces; room for TRACE_KEPT bytes, or NULL */
    size_t n_kept;

    /* Memory of the reader. */
    struct json json;
    struct hash lane_ids;
    struct trace_key keys[TRACE_KEYS];
    struct trace_paths *paths; /* owned */
    struct arena arena;        /* texts that were composed */
    struct {
        struct str pid, tid;
        uint32_t lane;
    } last_lane[8];
    struct trace_cat cats[16], *cat; /* those met before; that of the event at hand */
    struct {
        struct str text;
        enum trace_hint hint;
        bool is_aicpu;
    } last_task;
};

void trace_chunk_init(struct trace_chunk *c, enum trace_dialect dialect);
void trace_chunk_fini(struct trace_chunk *c);

/* Reads the piece's text. `start` is where its first event begins, or a comma before it;
 * TRACE_NOWHERE: find out. */
void trace_chunk_read(struct trace_chunk *c, uint64_t start);

/* The form that an argument's text is kept in; `is_json`: an object or an array. */
enum trace_form trace_form(struct trace_arg arg, bool is_json);

/* What to do with an argument of this name. */
const struct trace_key *trace_chunk_key(struct trace_chunk *c, struct str key);

#endif
