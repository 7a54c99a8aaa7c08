/*
 * json_dump - what the strict JSON reader makes of documents, for diff.py.
 *
 * Standard input is a sequence of documents, each a decimal length, a line feed and that many
 * bytes. For each one a line comes out: "error", "limit" (nested too deep), or the document in a
 * canonical form: strings as s and their UTF-8 bytes in hexadecimal, keys as k, numbers as n and
 * their text, t f z for true, false and null, and the brackets. Every document is read four ways
 * (whole with each scanner, windows of 7 more bytes each) which must agree, else "differs".
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/formats/json_read.h"
#include "base/formats/json_write.h"

static void put(struct text *b, struct str s)
{
    struct sink sink = text_sink(b);

    sink.write(sink.ctx, s);
}

static void put_hex(struct text *b, struct str s)
{
    char pair[3];

    for (size_t i = 0; i < s.n; i++) {
        snprintf(pair, sizeof(pair), "%02x", (unsigned)(unsigned char)s.at[i]);
        put(b, (struct str){pair, 2});
    }
}

/* False when this was the last token. */
static bool put_token(struct text *b, const struct json *j, struct arena *arena)
{
    static const char letter[] = {
        [JSON_OBJECT] = '{', [JSON_OBJECT_END] = '}', [JSON_ARRAY] = '[',  [JSON_ARRAY_END] = ']',
        [JSON_KEY] = 'k',    [JSON_STRING] = 's',     [JSON_NUMBER] = 'n', [JSON_TRUE] = 't',
        [JSON_FALSE] = 'f',  [JSON_NULL] = 'z',
    };

    if (j->token == JSON_END)
        return false;
    if (j->token == JSON_ERROR) {
        b->n = 0;
        put(b, j->status == ST_LIMIT ? S("limit") : S("error"));
        return false;
    }
    put(b, (struct str){&letter[j->token], 1});
    if (j->token == JSON_KEY || j->token == JSON_STRING)
        put_hex(b, json_text(j->text, arena));
    else if (j->token == JSON_NUMBER)
        put(b, j->text);
    put(b, S(" "));
    return true;
}

static void dump_whole(struct text *b, struct str text, enum json_scanner scanner)
{
    static struct json j;
    struct arena arena;

    arena_init(&arena);
    b->n = 0;
    json_begin(&j, JSON_STRICT);
    json_use_scanner(&j, scanner);
    json_window(&j, text, true);
    do
        json_next(&j);
    while (put_token(b, &j, &arena));
    arena_free(&arena);
}

static void dump_windows(struct text *b, struct str text)
{
    static struct json j;
    struct arena arena;
    size_t end = 0, step = 7;

    arena_init(&arena);
    b->n = 0;
    json_begin(&j, JSON_STRICT);
    for (;;) {
        if (json_next(&j) != JSON_MORE) {
            if (!put_token(b, &j, &arena))
                break;
            continue;
        }
        size_t begin = end - json_keep(&j);
        /* Long documents get larger steps, or reading a long string again costs too much. */
        end = text.n - end < step ? text.n : end + step;
        step += step / 8;
        json_window(&j, str_part(text, begin, end - begin), end == text.n);
    }
    arena_free(&arena);
}

static bool is_same(const struct text *a, const struct text *b)
{
    return str_equal((struct str){a->at, a->n}, (struct str){b->at, b->n});
}

int main(void)
{
    struct text whole = {0}, other = {0};
    size_t n;
    char *text = NULL;

    while (scanf("%zu", &n) == 1 && getchar() == '\n' && n < 1 << 28) {
        /* Exactly as large as the document, so that sanitizers see a byte too many. */
        text = realloc(text, n > 0 ? n : 1);
        if (text == NULL || fread(text, 1, n, stdin) != n)
            return 1;
        dump_whole(&whole, (struct str){text, n}, JSON_SCAN_BEST);
        bool agrees = true;
        for (int k = JSON_SCAN_PORTABLE; k < JSON_SCANNERS; k++) {
            dump_whole(&other, (struct str){text, n}, (enum json_scanner)k);
            agrees = agrees && is_same(&whole, &other);
        }
        dump_windows(&other, (struct str){text, n});
        agrees = agrees && is_same(&whole, &other);
        printf("%.*s\n", agrees ? (int)whole.n : 7, agrees ? whole.at : "differs");
    }
    free(text);
    text_free(&whole);
    text_free(&other);
    return 0;
}
