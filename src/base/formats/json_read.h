/*
 * json_read - JSON, one token at a time, straight from the input.
 *
 * There is no document tree: the caller pulls what it wants and the rest is skipped at the speed of
 * the scanner (json_scan.h). Values are views into the input: strings as the raw text between the
 * quotes (json_text() of json_text.h makes UTF-8 of it), numbers as text, so that times reach
 * num_us() with all their digits. Nothing is allocated.
 *
 *     struct json j;
 *     struct str key, value;
 *
 *     json_open(&j, text, JSON_LENIENT);
 *     if (json_next(&j) == JSON_ARRAY)
 *         while (json_element(&j))
 *             if (json_next(&j) == JSON_OBJECT)
 *                 while (json_key(&j, &key))
 *                     if (str_equal(key, S("ts")) && json_value(&j, &value))
 *                         num_us(value, &ts);
 *     if (j.token != JSON_ARRAY_END) ...                  (* see j.error, j.recovered *)
 *
 * A value nobody asked for is skipped by the next json_key() or json_element().
 *
 * Strict mode takes RFC 8259 and nothing else, skipped values included. Lenient mode goes on where
 * profilers leave damage: it counts each recovery in `recovered`. docs/formats/json.md lists both.
 *
 * Windows. A long file goes through a small buffer: json_begin(), then json_window() for each
 * piece. When a call needs text past the window it fails with the token JSON_MORE and the reader
 * goes back: to the last json_mark() that still holds, else to the start of that call. The caller
 * moves the last json_keep() bytes to the front of its buffer, reads on behind them, and hands
 * over the buffer again:
 *
 *     json_mark(&j);                                      (* an event is read whole or not at all
 * *) if (!json_element(&j) || !read_event(&j, &event)) if (j.token == JSON_MORE) { size_t keep =
 * json_keep(&j); memmove(buf, buf + n - keep, keep);         (* keep == size: the buffer must grow
 * *) n = keep + read(fd, buf + keep, size - keep); json_window(&j, (struct str){buf, n}, n ==
 * keep); continue;
 *         }
 */
#ifndef STRATA_BASE_FORMATS_JSON_READ_H
#define STRATA_BASE_FORMATS_JSON_READ_H

#include <assert.h>

#include "base/formats/json_scan.h"
#include "base/formats/json_text.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"
#include "base/text/char.h"

enum json_token {
    JSON_NONE,  /* nothing read yet */
    JSON_END,   /* the text is used up; stays */
    JSON_ERROR, /* not JSON; stays, but see json_resync() */
    JSON_MORE,  /* the window is used up; stays until json_window() */
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

enum json_mode { JSON_STRICT, JSON_LENIENT };

/* What lenient mode has put up with. */
enum json_recovery {
    JSON_TRUNCATED,      /* the text ends inside the document; what was complete was delivered */
    JSON_CONTROL,        /* strings with raw control characters */
    JSON_BAD_UTF8,       /* strings that are not UTF-8 */
    JSON_NOT_FINITE,     /* NaN, Infinity, inf, ... read as JSON_NULL */
    JSON_TRAILING_COMMA, /* [1,] */
    JSON_MISSING_COMMA,  /* [{}{}] */
    JSON_JOINED_ARRAYS,  /* [1][2] at the top, read as one array */
    JSON_BYTE_ORDER_MARK,
    JSON_RESYNCS, /* json_resync() found its way back */
    JSON_RECOVERIES,
};

struct json_recovered {
    uint64_t count;
    uint64_t first; /* byte offset of the first one */
    uint64_t next;  /* one past the last one, so that text read twice is counted once */
};

/* What may come at a place. Private, as all that the inline functions below use. */
enum json_want {
    JSON_WANT_VALUE, /* a value must come */
    JSON_WANT_FIRST, /* after { or [ */
    JSON_WANT_NEXT,  /* after a value: a comma or the end */
    JSON_WANT_NOTHING,
};

/* A place between two tokens. */
struct json_place {
    uint64_t offset;
    uint32_t depth;
    uint8_t expect;
    uint64_t objects[LIMIT_JSON_DEPTH / 64]; /* a bit for each level: an object, not an array */
};

struct json {
    /* The last outcome. */
    enum json_token token;
    struct str text;  /* from json_next(): key, string, number, literal; dies with the window */
    bool has_escapes; /* the key or string needs json_text() */

    /* After JSON_ERROR. */
    enum status status; /* ST_FORMAT, or ST_LIMIT for nesting beyond LIMIT_JSON_DEPTH */
    const char *error;  /* an English reason */
    uint64_t error_at;  /* byte offset from the start of the input */

    struct json_recovered recovered[JSON_RECOVERIES];
    uint64_t lost; /* bytes given up by json_resync() */

    /* Private from here on. */
    enum json_mode mode;
    bool is_last, is_marked, is_resyncing;
    uint8_t expect, expect_before_stop;
    uint32_t depth;
    struct str window;
    uint64_t base; /* offset of the window's first byte */
    size_t at;     /* the next token begins here or later; may lag behind within a batch */
    uint64_t objects[LIMIT_JSON_DEPTH / 64];
    struct json_place mark;
    struct str marker;
    uint64_t lost_from;    /* where the element that json_resync() gives up begins */
    uint64_t seen, effort; /* bytes of the input so far; bytes looked at by json_resync() */
    struct json_scan scan;
};

/* Reads a whole text. */
void json_open(struct json *j, struct str text, enum json_mode mode);

/* Reads through windows. The reader stands at the top of a document... */
void json_begin(struct json *j, enum json_mode mode);

/* ...or inside an array, where an element begins at `offset` (see json_border()). */
void json_begin_inside(struct json *j, enum json_mode mode, uint64_t offset);

/* Gives the first window, and after JSON_MORE the next one, which begins with the last json_keep()
 * bytes of the one before. */
void json_window(struct json *j, struct str text, bool is_last);
size_t json_keep(const struct json *j);

/* From now on JSON_MORE leads back to this place, until the next mark or until the object or array
 * around it is closed. */
void json_mark(struct json *j);

/* Byte offset of the place reached, from the start of the input. After json_element() it is the
 * element's first byte. */
uint64_t json_offset(const struct json *j);

/* The next token, whatever it is. */
enum json_token json_next(struct json *j);

/* In an array: moves in front of the next element. False at the end of the array, as above. */
bool json_element(struct json *j);

/* Steps over the value that comes. False when reading stops. In lenient mode the inside of objects
 * and arrays is not looked at beyond finding its end. */
bool json_skip(struct json *j);

/* Where a value comes: steps over it without looking, as the caller has read it by himself and
 * knows that it ends at `offset`. */
void json_jump(struct json *j, uint64_t offset);

/* The whole of json_key() and json_value(); the inline parts below take the beaten path. They fill
 * views member by member: a struct put together and copied is written in halves and read back as a
 * whole, which the processor cannot forward. They leave `at` behind; json_offset() knows better. */
bool json_key_slow(struct json *j, struct str *key);
bool json_value_slow(struct json *j, struct str *value);

/* In an object: its next key, up to and including the colon. False at the end of the object
 * (token JSON_OBJECT_END, which is then behind us) and when reading stops. */
static inline bool json_key(struct json *j, struct str *key)
{
    struct json_scan *s = &j->scan;

    if (j->expect == JSON_WANT_VALUE) {
        if (s->count - s->i >= 2 && s->batch[s->mark[s->i]] == '"' &&
            json_scan_is_plain(s, s->mark[s->i + 1])) {
            j->expect = JSON_WANT_NEXT;
            s->i += 2;
        } else if (!json_skip(j)) {
            return false;
        }
    }
    /* The marks of `, "key" :` are all in this batch. */
    if (j->expect != JSON_WANT_NOTHING && s->count - s->i >= 4) {
        const char *text = s->batch;
        uint32_t has_comma = j->expect == JSON_WANT_NEXT;
        const uint16_t *m = s->mark + s->i + has_comma;
        if ((!has_comma || text[m[-1]] == ',') && text[m[0]] == '"' && text[m[2]] == ':' &&
            json_scan_is_plain(s, m[1])) {
            key->at = text + m[0] + 1;
            key->n = (size_t)(m[1] - m[0] - 1);
            j->has_escapes = false;
            j->expect = JSON_WANT_VALUE;
            j->token = JSON_KEY;
            s->i += 3 + has_comma;
            return true;
        }
    }
    return json_key_slow(j, key);
}

/* Where a value comes: takes it if it is a string, number or literal; `value` is its text and
 * `j->token` its kind. False, with nothing consumed, when an object or an array begins there (token
 * JSON_OBJECT or JSON_ARRAY; json_next() enters it), and when reading stops. */
static inline bool json_value(struct json *j, struct str *value)
{
    struct json_scan *s = &j->scan;

    if (j->expect == JSON_WANT_VALUE && s->count - s->i >= 2) {
        const uint16_t *m = s->mark + s->i;
        const char *begin = s->batch + m[0], *end = s->batch + m[1];
        if (*begin == '"' && json_scan_is_plain(s, m[1])) {
            value->at = begin + 1;
            value->n = (size_t)(end - begin - 1);
            j->has_escapes = false;
            j->expect = JSON_WANT_NEXT;
            j->token = JSON_STRING;
            s->i += 2;
            return true;
        }
        if (char_is_digit(*begin) && char_is_digit(end[-1]) &&
            (j->mode == JSON_LENIENT ||
             json_is_number((struct str){begin, (size_t)(end - begin)}))) {
            value->at = begin;
            value->n = (size_t)(end - begin);
            j->has_escapes = false;
            j->expect = JSON_WANT_NEXT;
            j->token = JSON_NUMBER;
            s->i += 1;
            return true;
        }
    }
    return json_value_slow(j, value);
}

/*
 * json_key() and json_value() in one, for most members of most objects: those whose key and value
 * are plain (a string without escapes, or in lenient mode a number) and are scanned already.
 *
 *     struct json_run run = json_run_begin(&j);
 *     while (json_run_member(&run, &key, &value, &token)) ...
 *     json_run_end(&j, &run);
 *
 * A run ends at the first member that is not so, which is then for json_key() to take. Between
 * begin and end the reader must not be used: the run holds its place in registers.
 */
struct json_run {
    const char *text;
    const uint16_t *mark;
    const uint64_t *odd_end; /* as in struct json_scan */
    uint32_t i, stop;        /* the next mark; from here on a member may not be whole */
    uint32_t has_comma, end; /* end: behind the last value */
};

static inline struct json_run json_run_begin(struct json *j)
{
    struct json_scan *s = &j->scan;
    bool is_ready = (j->expect == JSON_WANT_NEXT || j->expect == JSON_WANT_FIRST) &&
                    j->mode == JSON_LENIENT && s->count >= 6;

    return (struct json_run){
        .text = is_ready ? s->text + s->base : NULL,
        .mark = s->mark,
        .odd_end = s->odd_end,
        .i = s->i,
        .stop = is_ready ? s->count - 5 : 0,
        .has_comma = j->expect == JSON_WANT_NEXT,
        .end = UINT32_MAX,
    };
}

/* Marks of a member: quotes of the key, colon, both ends of the value, all found before; what is
 * not a plain key with a plain string or number goes the slow way. */
static inline bool json_run_member(struct json_run *run, struct str *key, struct str *value,
                                   enum json_token *token)
{
    const char *text = run->text;
    const uint16_t *m = run->mark + run->i + run->has_comma;

    if (run->i >= run->stop)
        return false;
    uint32_t open = m[0], close = m[1], begin = m[3], end = m[4];
    if ((run->has_comma && text[m[-1]] != ',') || text[open] != '"' || text[m[2]] != ':' ||
        (run->odd_end[close / 64] >> close % 64 & 1) != 0)
        return false;
    unsigned char first = (unsigned char)text[begin];
    uint32_t is_string = first == '"';
    if (is_string
            ? (run->odd_end[end / 64] >> end % 64 & 1) != 0
            : (unsigned)(first - '0') > 9 || (unsigned)((unsigned char)text[end - 1] - '0') > 9)
        return false;
    key->at = text + open + 1;
    key->n = close - open - 1;
    value->at = text + begin + is_string;
    value->n = end - begin - is_string;
    *token = is_string ? JSON_STRING : JSON_NUMBER;
    run->i += run->has_comma + 4 + is_string;
    run->has_comma = 1;
    run->end = end + is_string;
    return true;
}

static inline void json_run_end(struct json *j, const struct json_run *run)
{
    if (run->end == UINT32_MAX)
        return;
    j->scan.i = run->i;
    j->at = j->scan.base + run->end;
    j->expect = JSON_WANT_NEXT;
}

/* Line and column (both from 1, in bytes) of an offset; false when it is not in the window or the
 * lines before the window are gone. */
bool json_line(const struct json *j, uint64_t offset, uint64_t *line, uint64_t *column);

/*
 * The next border between elements of a trace's event array: the position of the first `{` at or
 * after `from` that follows a comma or an opening bracket, begins a complete object that has the
 * key `marker` at its own level ("ph" for trace events; an empty marker accepts any object), and is
 * itself followed by a comma or a closing bracket. text.n when there is none.
 *
 * `from` may be anywhere, also inside a string. Inside a valid string every quote is escaped, so
 * such a place can only be taken for an object if a string ends in ",{" or "[{" and what follows it
 * reads, with strings and gaps exchanged, as an object with the marker. Objects inside an event
 * pass only if they carry the marker. When the text stops inside a candidate, `is_cut` is set and
 * the result is where the candidate begins.
 */
size_t json_border(struct str text, size_t from, struct str marker, bool *is_cut);

/*
 * After JSON_ERROR in lenient mode (or JSON_END inside an element, or JSON_MORE for one that does
 * not fit the largest buffer), with a mark before the damaged element: goes to the next border
 * behind the mark, whatever quotes or brackets the damage has left open. JSON_NONE: the reader is
 * in the array again, in front of an element. JSON_MORE: give the next window, as always; the
 * search goes on there by itself (call again only when no larger buffer is to be had). JSON_END: no
 * more elements. The bytes from the mark to the border are added to `lost`. `marker` must live as
 * long as the reader.
 */
enum json_token json_resync(struct json *j, struct str marker);

/* For tests: a certain scanner; false when this processor lacks it. Call it before the first window
 * is read. */
bool json_use_scanner(struct json *j, enum json_scanner scanner);

#endif
