/*
 * json_read - see json_read.h.
 *
 * The reader walks the marks of the scanner. Between calls it knows three things: the depth, one
 * bit a level for "object", and what may come next. A call changes them only when it succeeds, so
 * that running out of text needs no undoing. One file, as its steps are compiled into one another.
 */
#include "base/formats/json_read.h"

#include "base/text/char.h"

enum { BOM_BYTES = 3 };

static bool in_object(const struct json *j)
{
    return j->depth > 0 && (j->objects[(j->depth - 1) / 64] >> ((j->depth - 1) % 64) & 1) != 0;
}

/* Where the last token ended. The inline functions do not keep `at`, but whatever they took ends
 * with the last mark handed out, or is a number in front of the next one. */
static size_t json_read_place(const struct json *j)
{
    const struct json_scan *s = &j->scan;

    /* When reading has stopped the marks may belong to a window that is gone. */
    if (s->i == 0 || j->expect == JSON_WANT_NOTHING)
        return j->at;
    size_t end = s->base + s->mark[s->i - 1];
    if (!char_is_digit(j->window.at[end])) {
        end++;
    } else if (s->i < s->count) {
        end = s->base + s->mark[s->i];
        while (char_is_blank(j->window.at[end - 1]))
            end--;
    }
    return end > j->at ? end : j->at;
}

static bool stop(struct json *j, enum json_token token)
{
    if (j->expect != JSON_WANT_NOTHING)
        j->expect_before_stop = j->expect;
    j->expect = JSON_WANT_NOTHING;
    j->token = token;
    return false;
}

static bool fail_status(struct json *j, size_t at, enum status status, const char *reason)
{
    j->status = status;
    j->error = reason;
    j->error_at = j->base + at;
    return stop(j, JSON_ERROR);
}

static bool read_fail(struct json *j, size_t at, const char *reason)
{
    return fail_status(j, at, ST_FORMAT, reason);
}

static void note(struct json *j, enum json_recovery kind, size_t at)
{
    struct json_recovered *r = &j->recovered[kind];
    uint64_t offset = j->base + at;

    if (offset < r->next)
        return;
    if (r->count++ == 0)
        r->first = offset;
    r->next = offset + 1;
}

static bool out_of_text(struct json *j)
{
    if (!j->is_last) {
        j->scan.i = j->scan.count = 0;
        if (j->is_marked) {
            j->at = (size_t)(j->mark.offset - j->base);
            j->depth = j->mark.depth;
            j->expect = j->mark.expect;
            memcpy(j->objects, j->mark.objects, sizeof(j->objects));
        }
        return stop(j, JSON_MORE);
    }
    if (j->mode == JSON_STRICT)
        return read_fail(j, j->window.n, "unexpected end of text");
    note(j, JSON_TRUNCATED, j->window.n);
    return stop(j, JSON_END);
}

static void set_text(struct json *j, struct str *out, struct str s)
{
    *out = s;
    j->text = s;
    j->has_escapes = false;
}

static struct str view(const struct json *j, size_t from, size_t to)
{
    return (struct str){j->window.at + from, to - from};
}

/* All bytes printable ASCII: an odd string that is so has nothing but escapes. */
static bool is_printable(const char *at, size_t n)
{
    const uint64_t ones = 0x0101010101010101, top = 0x8080808080808080;
    uint64_t seen = 0, v;
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        memcpy(&v, at + i, 8);
        seen |= (v - ones * 0x20) | v; /* a borrow can only raise a false alarm behind a true one */
    }
    for (; i < n; i++)
        seen |= (unsigned char)at[i] < 0x20 || (unsigned char)at[i] >= 0x80 ? top : 0;
    return (seen & top) == 0;
}

static bool check_odd_string(struct json *j, size_t from, size_t to)
{
    if (j->mode == JSON_LENIENT && is_printable(j->window.at + from, to - from)) {
        j->has_escapes = true;
        return true;
    }
    struct json_check found = json_check_string(view(j, from, to));

    j->has_escapes = found.escape != SIZE_MAX;
    if (j->mode == JSON_LENIENT) {
        if (found.control != SIZE_MAX)
            note(j, JSON_CONTROL, from + found.control);
        if (found.bad_utf8 != SIZE_MAX)
            note(j, JSON_BAD_UTF8, from + found.bad_utf8);
        return true;
    }
    if (found.control != SIZE_MAX)
        return read_fail(j, from + found.control, "unescaped control character in a string");
    if (found.bad_escape != SIZE_MAX)
        return read_fail(j, from + found.bad_escape, "unknown escape in a string");
    if (found.bad_utf8 != SIZE_MAX)
        return read_fail(j, from + found.bad_utf8, "a string is not UTF-8");
    return true;
}

/* Sets text and has_escapes to the string that opens at `open`, the mark handed out last. */
static inline bool read_string(struct json *j, size_t open, struct str *out)
{
    size_t close;

    /* The mark behind an opening quote is always its closing quote. */
    if (!json_scan_next(&j->scan, &close))
        return out_of_text(j);
    set_text(j, out, view(j, open + 1, close));
    if (!json_scan_is_plain(&j->scan, close - j->scan.base) &&
        !check_odd_string(j, open + 1, close))
        return false;
    j->at = close + 1;
    return true;
}

static bool is_not_finite(struct str s)
{
    if (s.n > 0 && (s.at[0] == '-' || s.at[0] == '+'))
        s = str_part(s, 1, s.n);
    return str_equal_nocase(s, S("nan")) || str_equal_nocase(s, S("inf")) ||
           str_equal_nocase(s, S("infinity"));
}

static bool read_word(struct json *j, size_t from, struct str s)
{
    if (str_equal(s, S("true")))
        j->token = JSON_TRUE;
    else if (str_equal(s, S("false")))
        j->token = JSON_FALSE;
    else if (str_equal(s, S("null")))
        j->token = JSON_NULL;
    else if (j->mode == JSON_LENIENT && is_not_finite(s)) {
        note(j, JSON_NOT_FINITE, from);
        j->token = JSON_NULL;
    } else if (from == 0 && j->base == 0 && str_starts(s, S("\xEF\xBB\xBF")))
        return read_fail(j, from, "the text begins with a byte order mark");
    else
        return read_fail(j, from, "not a value");
    return true;
}

/* A number or a word at `from`: it reaches to the next mark, less the blanks before that. */
static inline bool read_scalar(struct json *j, size_t from, struct str *out)
{
    size_t to;

    if (!json_scan_peek(&j->scan, &to)) {
        if (!j->is_last || (j->mode == JSON_LENIENT && j->depth > 0))
            return out_of_text(j);
        to = j->window.n;
    }
    while (char_is_blank(j->window.at[to - 1]))
        to--;
    struct str s = view(j, from, to);
    bool has_digit = char_is_digit(s.at[0]);
    if (!has_digit && s.at[0] == '-')
        has_digit = s.n > 1 && char_is_digit(s.at[1]);
    if (has_digit) {
        /* Lenient mode leaves the rest to the num_ functions, which check it anyway. */
        char last = s.at[s.n - 1];
        if (j->mode == JSON_STRICT ? !json_is_number(s) : !char_is_digit(last) && last != '.')
            return read_fail(j, from, "not a number");
        j->token = JSON_NUMBER;
    } else if (!read_word(j, from, s)) {
        return false;
    }
    set_text(j, out, s);
    j->at = to;
    return true;
}

static bool read_enter(struct json *j, size_t at, bool is_object)
{
    if (j->depth == LIMIT_JSON_DEPTH)
        return fail_status(j, at, ST_LIMIT, "nested too deeply");
    uint64_t bit = (uint64_t)1 << j->depth % 64;
    if (is_object)
        j->objects[j->depth / 64] |= bit;
    else
        j->objects[j->depth / 64] &= ~bit;
    j->depth++;
    j->expect = JSON_WANT_FIRST;
    j->token = is_object ? JSON_OBJECT : JSON_ARRAY;
    j->at = at + 1;
    return true;
}

/* Leaves the object or array whose closing bracket at `at` was the mark handed out last. False, as
 * there is nothing more in it, unless another array follows and is read as part of it. */
static bool leave(struct json *j, size_t at)
{
    bool is_object = in_object(j);

    if (!is_object && j->depth == 1 && j->mode == JSON_LENIENT) {
        size_t next;
        if (!json_scan_peek(&j->scan, &next)) {
            if (!j->is_last)
                return out_of_text(j);
        } else if (j->window.at[next] == '[') {
            note(j, JSON_JOINED_ARRAYS, next);
            j->scan.i++;
            j->at = next + 1;
            j->expect = JSON_WANT_FIRST;
            return true;
        }
    }
    j->depth--;
    if (j->is_marked && j->depth < j->mark.depth)
        j->is_marked = false;
    j->expect = JSON_WANT_NEXT;
    j->token = is_object ? JSON_OBJECT_END : JSON_ARRAY_END;
    j->at = at + 1;
    return false;
}

bool json_key_slow(struct json *j, struct str *key)
{
    size_t p, colon;
    const char *text = j->window.at;

    j->at = json_read_place(j);
    if (j->expect != JSON_WANT_FIRST && j->expect != JSON_WANT_NEXT && !json_skip(j))
        return false;
    assert(in_object(j));
    if (!json_scan_next(&j->scan, &p))
        return out_of_text(j);
    if (j->expect == JSON_WANT_NEXT && text[p] != '}') {
        if (text[p] != ',')
            return read_fail(j, p, "a comma or } is missing");
        if (!json_scan_next(&j->scan, &p))
            return out_of_text(j);
        if (text[p] == '}') {
            if (j->mode == JSON_STRICT)
                return read_fail(j, p, "a comma before }");
            note(j, JSON_TRAILING_COMMA, p);
        }
    }
    if (text[p] != '"')
        return text[p] == '}' ? leave(j, p) : read_fail(j, p, "a key is missing");
    size_t at = j->at;
    if (!read_string(j, p, key))
        return false;
    if (!json_scan_next(&j->scan, &colon)) {
        j->at = at;
        return out_of_text(j);
    }
    if (text[colon] != ':')
        return read_fail(j, colon, "a colon is missing");
    j->at = colon + 1;
    j->expect = JSON_WANT_VALUE;
    j->token = JSON_KEY;
    return true;
}

bool json_element(struct json *j)
{
    size_t p;
    const char *text = j->window.at;

    j->at = json_read_place(j);
    if (j->expect != JSON_WANT_FIRST && j->expect != JSON_WANT_NEXT && !json_skip(j))
        return false;
    assert(j->depth > 0 && !in_object(j));
again:
    if (!json_scan_next(&j->scan, &p))
        return out_of_text(j);
    if (j->expect == JSON_WANT_NEXT && text[p] == '{' && j->mode == JSON_LENIENT) {
        note(j, JSON_MISSING_COMMA, p);
    } else if (j->expect == JSON_WANT_NEXT && text[p] != ']') {
        if (text[p] != ',')
            return read_fail(j, p, "a comma or ] is missing");
        if (!json_scan_next(&j->scan, &p))
            return out_of_text(j);
        if (text[p] == ']') {
            if (j->mode == JSON_STRICT)
                return read_fail(j, p, "a comma before ]");
            note(j, JSON_TRAILING_COMMA, p);
        }
    }
    if (text[p] == ']') {
        if (leave(j, p))
            goto again;
        return false;
    }
    j->scan.i--;
    j->at = p;
    j->expect = JSON_WANT_VALUE;
    return true;
}

/* The value whose first mark is at `p`, handed out last. */
static inline bool read_any(struct json *j, size_t p, struct str *out)
{
    char c = j->window.at[p];

    if (c == '"') {
        if (!read_string(j, p, out))
            return false;
        j->token = JSON_STRING;
    } else if (c == '{' || c == '[') {
        return read_enter(j, p, c == '{');
    } else if (c == '}' || c == ']' || c == ',' || c == ':') {
        return read_fail(j, p, "a value is missing");
    } else if (!read_scalar(j, p, out)) {
        return false;
    }
    j->expect = JSON_WANT_NEXT;
    return true;
}

bool json_value_slow(struct json *j, struct str *value)
{
    size_t p;

    if (j->expect == JSON_WANT_NOTHING)
        return false;
    assert(j->expect == JSON_WANT_VALUE);
    j->at = json_read_place(j);
    if (!json_scan_next(&j->scan, &p))
        return out_of_text(j);
    char c = j->window.at[p];
    if (c == '{' || c == '[') {
        j->scan.i--;
        j->token = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        return false;
    }
    return read_any(j, p, value);
}

/* After the document: blanks only. */
static enum json_token read_finish(struct json *j)
{
    size_t p;

    if (json_scan_next(&j->scan, &p))
        read_fail(j, p, "unexpected text after the document");
    else
        stop(j, j->is_last ? JSON_END : JSON_MORE);
    return j->token;
}

enum json_token json_next(struct json *j)
{
    struct str text;
    size_t p;

    if (j->expect == JSON_WANT_NOTHING)
        return j->token;
    j->at = json_read_place(j);
    if (j->expect != JSON_WANT_VALUE) {
        if (j->depth == 0)
            return read_finish(j);
        if (in_object(j)) {
            json_key_slow(j, &text);
            return j->token;
        }
        if (!json_element(j))
            return j->token;
    }
    if (!json_scan_next(&j->scan, &p))
        out_of_text(j);
    else
        read_any(j, p, &text);
    return j->token;
}

/* Strict mode skips by reading, as what is skipped must be right too. */
static bool skip_strictly(struct json *j)
{
    uint32_t depth = j->depth;
    struct json_place start = {json_offset(j), depth, j->expect, {0}};

    memcpy(start.objects, j->objects, sizeof(start.objects));
    do {
        enum json_token token = json_next(j);
        if (token == JSON_MORE && !j->is_marked) {
            /* The whole value is read again. */
            j->at = (size_t)(start.offset - j->base);
            j->depth = depth;
            j->expect_before_stop = start.expect;
            memcpy(j->objects, start.objects, sizeof(start.objects));
        }
        if (j->expect == JSON_WANT_NOTHING)
            return false;
    } while (j->depth > depth);
    return true;
}

bool json_skip(struct json *j)
{
    size_t p, close, clash;
    struct str text;

    if (j->expect == JSON_WANT_NOTHING)
        return false;
    assert(j->expect == JSON_WANT_VALUE);
    j->at = json_read_place(j);
    if (j->mode == JSON_STRICT)
        return skip_strictly(j);
    if (!json_scan_next(&j->scan, &p))
        return out_of_text(j);
    char c = j->window.at[p];
    if (c == '"') {
        if (!json_scan_next(&j->scan, &close))
            return out_of_text(j);
    } else if (c == '{' || c == '[') {
        bool is_closed = json_scan_skip(&j->scan, p, &close, &clash);
        if (clash != SIZE_MAX)
            return read_fail(j, clash, "a string is not separated from the text next to it");
        if (!is_closed)
            return out_of_text(j);
    } else {
        return read_any(j, p, &text);
    }
    j->at = close + 1;
    j->expect = JSON_WANT_NEXT;
    return true;
}

void json_jump(struct json *j, uint64_t offset)
{
    assert(j->expect == JSON_WANT_VALUE && offset - j->base <= j->window.n);
    j->at = (size_t)(offset - j->base);
    j->expect = JSON_WANT_NEXT;
    json_scan_start(&j->scan, j->window.at, j->window.n, j->at);
}

uint64_t json_offset(const struct json *j)
{
    return j->base + json_read_place(j);
}

void json_mark(struct json *j)
{
    if (j->expect == JSON_WANT_NOTHING)
        return;
    j->is_marked = true;
    j->mark.offset = json_offset(j);
    j->mark.depth = j->depth;
    j->mark.expect = j->expect;
    /* Levels beyond the depth have no meaning, and this runs once an event. */
    for (uint32_t k = 0; k * 64 < j->depth; k++)
        j->mark.objects[k] = j->objects[k];
}

size_t json_keep(const struct json *j)
{
    return j->window.n - (size_t)(json_offset(j) - j->base);
}

void json_begin(struct json *j, enum json_mode mode)
{
    /* All but the scanner's tables, which are written before they are read. */
    memset(j, 0, offsetof(struct json, scan));
    j->mode = mode;
    j->expect = JSON_WANT_VALUE;
    json_scan_init(&j->scan, JSON_SCAN_BEST);
    json_scan_start(&j->scan, NULL, 0, 0);
}

void json_begin_inside(struct json *j, enum json_mode mode, uint64_t offset)
{
    json_begin(j, mode);
    j->base = offset;
    j->depth = 1;
    j->expect = JSON_WANT_FIRST;
}

bool json_use_scanner(struct json *j, enum json_scanner scanner)
{
    return json_scan_init(&j->scan, scanner);
}

bool json_line(const struct json *j, uint64_t offset, uint64_t *line, uint64_t *column)
{
    if (j->base != 0 || offset > j->window.n)
        return false;
    size_t at = (size_t)offset, start = 0;
    *line = 1;
    for (size_t i = 0; i < at; i++)
        if (j->window.at[i] == '\n') {
            ++*line;
            start = i + 1;
        }
    *column = at - start + 1;
    return true;
}

enum cut_verdict { BORDER_NO, BORDER_YES, BORDER_CUT };

/* Is there an object with the marker, and a comma or ] behind it? `effort` grows by the bytes it
 * took to find out, and by a fixed part for the batch that is scanned in any case. */
static enum cut_verdict judge_object(struct str text, struct str marker, uint64_t *effort)
{
    struct json sub;
    struct str key;
    bool is_marked = marker.n == 0;
    size_t p;

    json_open(&sub, text, JSON_LENIENT);
    json_next(&sub);
    while (json_key(&sub, &key))
        is_marked = is_marked || str_equal(key, marker);
    *effort += 256 + (sub.token == JSON_END ? text.n : (size_t)json_offset(&sub));
    if (sub.token == JSON_END)
        return BORDER_CUT;
    if (sub.token != JSON_OBJECT_END || !is_marked)
        return BORDER_NO;
    if (!json_scan_next(&sub.scan, &p))
        return BORDER_CUT;
    return text.at[p] == ',' || text.at[p] == ']' ? BORDER_YES : BORDER_NO;
}

/* Position behind the last byte before `at` that is not blank. */
static size_t before_blanks(struct str text, size_t at)
{
    while (at > 0 && char_is_blank(text.at[at - 1]))
        at--;
    return at;
}

static bool may_precede(struct str text, size_t end)
{
    return end > 0 && (text.at[end - 1] == ',' || text.at[end - 1] == '[');
}

/* json_border() with an upper bound on `effort`, and with cut candidates taken or passed over. */
static size_t find_border(struct str text, size_t from, struct str marker, bool stops_at_cut,
                          uint64_t *effort, uint64_t most, bool *is_cut)
{
    *is_cut = false;
    while (from < text.n && *effort < most) {
        const char *brace = memchr(text.at + from, '{', text.n - from);
        if (brace == NULL)
            return text.n;
        size_t at = (size_t)(brace - text.at), inside = at + 1;
        from = inside;
        if (!may_precede(text, before_blanks(text, at)))
            continue;
        while (inside < text.n && char_is_blank(text.at[inside]))
            inside++;
        enum cut_verdict verdict = BORDER_CUT;
        if (inside < text.n && text.at[inside] != '"')
            verdict = BORDER_NO;
        else if (inside < text.n)
            verdict = judge_object(str_part(text, at, text.n), marker, effort);
        *is_cut = verdict == BORDER_CUT && stops_at_cut;
        if (verdict == BORDER_YES || *is_cut)
            return at;
    }
    return text.n;
}

/* A candidate may reach to the end of the text in vain; more than these passes over it are not
 * worth what they could still find. */
static uint64_t effort_for(uint64_t bytes)
{
    return 16 * bytes + (1 << 20);
}

size_t json_border(struct str text, size_t from, struct str marker, bool *is_cut)
{
    uint64_t effort = 0;

    size_t at = find_border(text, from, marker, false, &effort, effort_for(text.n), is_cut);
    if (at == text.n) {
        effort = 0;
        at = find_border(text, from, marker, true, &effort, effort_for(text.n), is_cut);
    }
    return at;
}

/* Gives up the text before `at`. */
static void drop_until(struct json *j, size_t at)
{
    j->at = at;
    j->is_resyncing = true;
    j->token = JSON_MORE;
}

/* Looks for a border in the window, from `from` on. */
static void search_border(struct json *j, size_t from)
{
    struct str text = j->window;
    bool is_cut;
    size_t at =
        find_border(text, from, j->marker, !j->is_last, &j->effort, effort_for(j->seen), &is_cut);

    if (is_cut) {
        drop_until(j, before_blanks(text, at) - 1);
        return;
    }
    if (at == text.n && !j->is_last) {
        size_t end = before_blanks(text, at);
        drop_until(j, may_precede(text, end) && end > j->at ? end - 1 : text.n);
        return;
    }
    j->is_resyncing = false;
    j->lost += j->base + at - j->lost_from;
    if (at == text.n) {
        stop(j, JSON_END);
        return;
    }
    j->at = at;
    j->token = JSON_NONE;
    j->depth = j->mark.depth;
    j->expect = JSON_WANT_FIRST;
    memcpy(j->objects, j->mark.objects, sizeof(j->objects));
    j->recovered[JSON_TRUNCATED] = (struct json_recovered){0};
    if (j->recovered[JSON_RESYNCS].count++ == 0)
        j->recovered[JSON_RESYNCS].first = j->lost_from;
    json_scan_start(&j->scan, text.at, text.n, at);
}

enum json_token json_resync(struct json *j, struct str marker)
{
    assert(j->expect == JSON_WANT_NOTHING && j->mode == JSON_LENIENT);
    if (j->is_resyncing) {
        /* The object that begins here does not fit the buffer. */
        size_t brace = str_find_char(str_part(j->window, j->at, SIZE_MAX), '{');
        search_border(j, j->at + brace + 1);
        return j->token;
    }
    if (!j->is_marked) {
        stop(j, JSON_END);
        return JSON_END;
    }
    j->marker = marker;
    j->lost_from = j->mark.offset;
    j->at = (size_t)(j->mark.offset - j->base);
    search_border(j, j->at + 1);
    return j->token;
}

void json_window(struct json *j, struct str text, bool is_last)
{
    /* Not by way of json_offset(): the old window may be overwritten already. */
    assert(j->window.n == 0 || j->expect == JSON_WANT_NOTHING);
    size_t kept = j->window.n - j->at;
    assert(text.n >= kept);
    j->seen += text.n - kept;
    j->base += j->at;
    j->at = 0;
    j->window = text;
    j->is_last = is_last;
    if (j->is_resyncing) {
        search_border(j, 0);
        return;
    }
    if (j->expect == JSON_WANT_NOTHING && j->token == JSON_MORE)
        j->expect = j->expect_before_stop;

    if (j->base == 0 && j->mode == JSON_LENIENT && j->depth == 0) {
        static const struct str bom = S_INIT("\xEF\xBB\xBF");
        if (!is_last && text.n < BOM_BYTES) {
            out_of_text(j);
        } else if (str_starts(text, bom)) {
            note(j, JSON_BYTE_ORDER_MARK, 0);
            j->at = BOM_BYTES;
        }
    }
    json_scan_start(&j->scan, text.at, text.n, j->at);
}

void json_open(struct json *j, struct str text, enum json_mode mode)
{
    json_begin(j, mode);
    json_window(j, text, true);
}
