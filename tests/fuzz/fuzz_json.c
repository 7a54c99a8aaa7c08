/*
 * fuzz_json - hostile JSON does no harm, and all ways of reading it agree.
 *
 * Every input is read strictly and leniently, token by token and the way importers do it (some
 * values taken, the rest skipped), whole with each scanner and through windows of several sizes.
 * What was delivered is folded into one number, which must be the same each time. Buffers are
 * exactly as large as their text, so that a sanitizer sees a byte too many.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/formats/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Where windows come from: `size` bytes at a time out of `text`, 0 for all of it. */
struct source {
    struct str text;
    size_t used, size;
    char *buf;
    size_t n;
};

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void feed(struct source *src, struct json *j)
{
    size_t keep = json_keep(j);
    size_t got = src->text.n - src->used;

    check(keep <= src->n);
    if (src->size > 0 && got > src->size)
        got = src->size;
    char *next = malloc(keep + got > 0 ? keep + got : 1);
    if (keep > 0)
        memcpy(next, src->buf + src->n - keep, keep);
    if (got > 0)
        memcpy(next + keep, src->text.at + src->used, got);
    free(src->buf);
    src->buf = next;
    src->used += got;
    src->n = keep + got;
    json_window(j, (struct str){next, src->n}, src->used == src->text.n);
}

static uint64_t fold(uint64_t sum, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        sum = (sum ^ (unsigned char)s.at[i]) * 0x100000001b3;
    return (sum ^ s.n) * 0x100000001b3;
}

static uint64_t fold_end(uint64_t sum, const struct json *j)
{
    sum = sum * 31 + j->token;
    if (j->token == JSON_ERROR)
        sum = sum * 31 + j->error_at + (uint64_t)j->status;
    for (int k = 0; k < JSON_RECOVERIES; k++)
        sum = (sum * 31 + j->recovered[k].count) * 31 + j->recovered[k].first;
    return sum;
}

static uint64_t read_tokens(struct json *j, struct source *src)
{
    struct arena arena;
    uint64_t sum = 1;

    arena_init(&arena);
    while (json_next(j) != JSON_END && j->token != JSON_ERROR) {
        if (j->token == JSON_MORE) {
            feed(src, j);
            continue;
        }
        sum = sum * 31 + j->token;
        if (j->token == JSON_KEY || j->token == JSON_STRING) {
            struct arena_mark mark = arena_mark(&arena);
            sum = fold(sum, json_text(j->text, &arena));
            arena_rewind(&arena, mark);
        } else if (j->token >= JSON_NUMBER) {
            sum = fold(sum, j->text);
        }
    }
    arena_free(&arena);
    return fold_end(sum, j);
}

/* One element the way importers read it; the sum changes only when it is complete. */
static void read_element(struct json *j, uint64_t *sum)
{
    struct str key, value;
    uint64_t mine = *sum;

    if (!json_element(j))
        return;
    if (json_value(j, &value)) {
        *sum = fold(mine, value);
        return;
    }
    if (j->token != JSON_OBJECT) {
        if (j->token == JSON_ARRAY && json_skip(j))
            *sum = mine + 1;
        return;
    }
    json_next(j);
    while (json_key(j, &key)) {
        mine = fold(mine, key);
        if (key.n % 2 == 0 && json_value(j, &value))
            mine = fold(mine, value);
    }
    if (j->token == JSON_OBJECT_END)
        *sum = mine;
}

static uint64_t read_events(struct json *j, struct source *src, bool goes_on)
{
    uint64_t sum = 1;
    bool is_lost = false;

    while (json_next(j) == JSON_MORE)
        feed(src, j);
    if (j->token != JSON_ARRAY)
        return sum;
    for (;;) {
        if (is_lost) {
            json_resync(j, S("ph"));
            is_lost = false;
        } else {
            json_mark(j);
            read_element(j, &sum);
            is_lost = j->token == JSON_ERROR && goes_on;
        }
        if (j->token == JSON_MORE)
            feed(src, j);
        else if (j->token == JSON_END || j->token == JSON_ARRAY_END ||
                 (j->token == JSON_ERROR && !is_lost))
            return goes_on ? sum : fold_end(sum, j);
    }
}

enum way { TOKENS, EVENTS, EVENTS_RESYNC };

static uint64_t read_all(struct str text, size_t size, enum json_mode mode,
                         enum json_scanner scanner, enum way way)
{
    static struct json j;
    struct source src = {.text = text, .size = size};

    json_begin(&j, mode);
    json_use_scanner(&j, scanner);
    uint64_t sum =
        way == TOKENS ? read_tokens(&j, &src) : read_events(&j, &src, way == EVENTS_RESYNC);
    free(src.buf);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const size_t sizes[] = {1, 7, 64, 1000};
    struct str text = {(const char *)data, n};
    bool is_cut;

    for (int mode = JSON_STRICT; mode <= JSON_LENIENT; mode++)
        for (int way = TOKENS; way <= EVENTS; way++) {
            uint64_t sum =
                read_all(text, 0, (enum json_mode)mode, JSON_SCAN_PORTABLE, (enum way)way);
            for (int k = JSON_SCAN_BEST; k < JSON_SCANNERS; k++)
                check(read_all(text, 0, (enum json_mode)mode, (enum json_scanner)k,
                               (enum way)way) == sum);
            /* Small steps over a long string read it again and again. */
            for (size_t k = n > 4096 ? 2 : 0; k < ARRAY_LEN(sizes); k++)
                check(read_all(text, sizes[k], (enum json_mode)mode, JSON_SCAN_BEST,
                               (enum way)way) == sum);
        }
    read_all(text, 0, JSON_LENIENT, JSON_SCAN_BEST, EVENTS_RESYNC);
    read_all(text, 50, JSON_LENIENT, JSON_SCAN_BEST, EVENTS_RESYNC);
    size_t border = json_border(text, n / 2, S("ph"), &is_cut);
    check(border <= n && (border == n || text.at[border] == '{'));
    return 0;
}
