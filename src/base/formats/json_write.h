/*
 * json_write - JSON written as it is produced.
 *
 *     struct text buffer = {0};
 *     struct json_writer w;
 *
 *     json_write_init(&w, text_sink(&buffer), JSON_INDENTED);
 *     json_write_object(&w);
 *     json_put_i64(&w, "busy_ns", 83000000);
 *     json_write_end(&w);
 *     if (!json_write_finish(&w)) ...                     (* the sink failed at some point *)
 *     ... buffer.at, buffer.n ...
 *     text_free(&buffer);
 *
 * The output is always one valid JSON document in UTF-8, and the same calls give the same bytes.
 * Calls out of order (a value in an object without its key, an end too many) are mistakes of the
 * program and caught by assert. A failing sink is remembered: later calls write nothing.
 */
#ifndef STRATA_BASE_FORMATS_JSON_WRITE_H
#define STRATA_BASE_FORMATS_JSON_WRITE_H

#include "base/files/sink.h"
#include "base/limits.h"
#include "base/text/num.h"
#include "base/text/text.h"

enum json_layout {
    JSON_COMPACT,  /* one line, no blanks */
    JSON_INDENTED, /* two spaces a level, a line for each member; ends with a line feed */
};

struct json_writer {
    struct sink sink;
    enum json_layout layout;
    bool has_open_end; /* set after init: no line end behind an indented document */
    bool has_failed, has_key, has_members, is_done;
    uint32_t depth;
    uint64_t objects[LIMIT_JSON_DEPTH / 64]; /* a bit for each level: an object, not an array */
    size_t n;                                /* bytes waiting in `pending` */
    char pending[4096];
};

void json_write_init(struct json_writer *w, struct sink sink, enum json_layout layout);

/* At most LIMIT_JSON_DEPTH levels. */
void json_write_object(struct json_writer *w);
void json_write_array(struct json_writer *w);
void json_write_end(struct json_writer *w); /* of the innermost object or array */

void json_write_key(struct json_writer *w, struct str key);

/* Any bytes: what is not UTF-8 becomes U+FFFD. */
void json_write_string(struct json_writer *w, struct str s);
void json_write_i64(struct json_writer *w, int64_t value);
void json_write_u64(struct json_writer *w, uint64_t value);
void json_write_f64(struct json_writer *w, double value); /* null when not finite */
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);

/* Nanoseconds as microseconds with three decimals: 1500 gives 1.500. */
void json_write_us(struct json_writer *w, nanos ns);
void json_write_ms(struct json_writer *w, nanos ns); /* milliseconds: 1500 gives 0.0015 */

/* Text that is a JSON number already, digits kept as they are. */
void json_write_number(struct json_writer *w, struct str text);

/*
 * A member of an object: the key and its value, or the opening of it. What is not known (an empty
 * text for ..._or_null) is null.
 */
void json_put_object(struct json_writer *w, const char *key);
void json_put_array(struct json_writer *w, const char *key);
void json_put_str(struct json_writer *w, const char *key, struct str value);
void json_put_text(struct json_writer *w, const char *key, const char *value); /* NULL is null */
void json_put_str_or_null(struct json_writer *w, const char *key, struct str value);
void json_put_i64(struct json_writer *w, const char *key, int64_t value);
void json_put_known(struct json_writer *w, const char *key, bool is_known, int64_t value);
void json_put_u64(struct json_writer *w, const char *key, uint64_t value);
void json_put_f64(struct json_writer *w, const char *key, double value); /* null when not finite */
void json_put_bool(struct json_writer *w, const char *key, bool value);
void json_put_null(struct json_writer *w, const char *key);

/* After the last end: hands over what is pending. False when the sink has failed. */
bool json_write_finish(struct json_writer *w);

#endif
