/* See json_write.h. */
#include "base/formats/json_write.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/formats/json_text.h"

static void hand_over(struct json_writer *w, struct str text)
{
    if (!w->has_failed && text.n > 0 && !w->sink.write(w->sink.ctx, text))
        w->has_failed = true;
}

static void json_write_flush(struct json_writer *w)
{
    hand_over(w, (struct str){w->pending, w->n});
    w->n = 0;
}

static void write_put(struct json_writer *w, struct str text)
{
    if (text.n > sizeof(w->pending) - w->n) {
        json_write_flush(w);
        if (text.n > sizeof(w->pending)) {
            hand_over(w, text);
            return;
        }
    }
    if (text.n > 0)
        memcpy(w->pending + w->n, text.at, text.n);
    w->n += text.n;
}

static bool in_object(const struct json_writer *w)
{
    return w->depth > 0 && (w->objects[(w->depth - 1) / 64] >> ((w->depth - 1) % 64) & 1) != 0;
}

static void new_line(struct json_writer *w)
{
    if (w->layout == JSON_COMPACT)
        return;
    write_put(w, S("\n"));
    for (uint32_t k = 0; k < w->depth; k++)
        write_put(w, S("  "));
}

/* The comma and line break in front of a member or element. */
static void next_member(struct json_writer *w)
{
    if (w->has_members)
        write_put(w, S(","));
    if (w->depth > 0)
        new_line(w);
    w->has_members = true;
}

static void begin_value(struct json_writer *w)
{
    assert(!w->is_done && "one document holds one value");
    assert(w->has_key == in_object(w) && "a value in an object needs a key");
    if (!w->has_key)
        next_member(w);
    w->has_key = false;
    w->is_done = w->depth == 0;
}

static void put_quoted(struct json_writer *w, struct str s)
{
    char buf[JSON_ESCAPE];
    struct str piece;

    write_put(w, S("\""));
    while (json_escape_next(&s, buf, &piece))
        write_put(w, piece);
    write_put(w, S("\""));
}

static void open_level(struct json_writer *w, bool is_object)
{
    begin_value(w);
    assert(w->depth < LIMIT_JSON_DEPTH);
    uint64_t bit = (uint64_t)1 << w->depth % 64;
    if (is_object)
        w->objects[w->depth / 64] |= bit;
    else
        w->objects[w->depth / 64] &= ~bit;
    w->depth++;
    w->has_members = false;
    w->is_done = false;
    write_put(w, is_object ? S("{") : S("["));
}

void json_write_init(struct json_writer *w, struct sink sink, enum json_layout layout)
{
    memset(w, 0, offsetof(struct json_writer, pending));
    w->sink = sink;
    w->layout = layout;
}

void json_write_object(struct json_writer *w)
{
    open_level(w, true);
}

void json_write_array(struct json_writer *w)
{
    open_level(w, false);
}

void json_write_end(struct json_writer *w)
{
    assert(w->depth > 0 && !w->has_key && "nothing to end here");
    bool is_object = in_object(w);
    w->depth--;
    if (w->has_members)
        new_line(w);
    write_put(w, is_object ? S("}") : S("]"));
    w->has_members = true;
    w->is_done = w->depth == 0;
}

void json_write_key(struct json_writer *w, struct str key)
{
    assert(in_object(w) && !w->has_key && "a key must be in an object and be followed by a value");
    next_member(w);
    put_quoted(w, key);
    write_put(w, w->layout == JSON_COMPACT ? S(":") : S(": "));
    w->has_key = true;
}

void json_write_string(struct json_writer *w, struct str s)
{
    begin_value(w);
    put_quoted(w, s);
}

void json_write_i64(struct json_writer *w, int64_t value)
{
    char text[NUM_TEXT];

    begin_value(w);
    snprintf(text, sizeof(text), "%" PRId64, value);
    write_put(w, str_of(text));
}

void json_write_u64(struct json_writer *w, uint64_t value)
{
    char text[NUM_TEXT];

    begin_value(w);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    write_put(w, str_of(text));
}

void json_write_f64(struct json_writer *w, double value)
{
    char text[NUM_TEXT];

    begin_value(w);
    write_put(w, (struct str){text, num_print_f64(text, value)});
}

void json_write_bool(struct json_writer *w, bool value)
{
    begin_value(w);
    write_put(w, value ? S("true") : S("false"));
}

void json_write_null(struct json_writer *w)
{
    begin_value(w);
    write_put(w, S("null"));
}

void json_write_us(struct json_writer *w, nanos ns)
{
    char text[NUM_TEXT];

    begin_value(w);
    write_put(w, (struct str){text, num_print_us(text, ns)});
}

void json_write_ms(struct json_writer *w, nanos ns)
{
    char text[NUM_TEXT];

    begin_value(w);
    write_put(w, (struct str){text, num_print_ms(text, ns)});
}

void json_write_number(struct json_writer *w, struct str text)
{
    assert(json_is_number(text));
    begin_value(w);
    write_put(w, text);
}

void json_put_object(struct json_writer *w, const char *key)
{
    json_write_key(w, str_of(key));
    json_write_object(w);
}

void json_put_array(struct json_writer *w, const char *key)
{
    json_write_key(w, str_of(key));
    json_write_array(w);
}

void json_put_str(struct json_writer *w, const char *key, struct str value)
{
    json_write_key(w, str_of(key));
    json_write_string(w, value);
}

void json_put_text(struct json_writer *w, const char *key, const char *value)
{
    if (value != NULL)
        json_put_str(w, key, str_of(value));
    else
        json_put_null(w, key);
}

void json_put_str_or_null(struct json_writer *w, const char *key, struct str value)
{
    if (value.n > 0)
        json_put_str(w, key, value);
    else
        json_put_null(w, key);
}

void json_put_i64(struct json_writer *w, const char *key, int64_t value)
{
    json_write_key(w, str_of(key));
    json_write_i64(w, value);
}

void json_put_known(struct json_writer *w, const char *key, bool is_known, int64_t value)
{
    if (is_known)
        json_put_i64(w, key, value);
    else
        json_put_null(w, key);
}

void json_put_u64(struct json_writer *w, const char *key, uint64_t value)
{
    json_write_key(w, str_of(key));
    json_write_u64(w, value);
}

void json_put_f64(struct json_writer *w, const char *key, double value)
{
    json_write_key(w, str_of(key));
    json_write_f64(w, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    json_write_key(w, str_of(key));
    json_write_bool(w, value);
}

void json_put_null(struct json_writer *w, const char *key)
{
    json_write_key(w, str_of(key));
    json_write_null(w);
}

bool json_write_finish(struct json_writer *w)
{
    assert(w->is_done && "the document is not complete");
    if (w->layout == JSON_INDENTED && !w->has_open_end)
        write_put(w, S("\n"));
    json_write_flush(w);
    return !w->has_failed;
}
