/*
 * Chunks of tables as typed columns.
 */
#include "base/tables/columns.h"

#include "base/formats/json_text.h"
#include "base/text/text.h"

void columns_init(struct column_chunk *c, const struct column_info *info, size_t n)
{
    *c = (struct column_chunk){.at = mem_grow(NULL, sizeof(*c->at), n > 0 ? n : 1), .n = n};
    for (size_t i = 0; i < n; i++) {
        bool is_text = info[i].type == VALUES_TEXT;
        c->at[i] = (struct column_data){.type = info[i].type};
        c->at[i].values =
            mem_grow(NULL, is_text ? sizeof(uint32_t) : sizeof(int64_t), COLUMNS_ROWS);
        c->at[i].valid = mem_grow(NULL, sizeof(uint64_t), COLUMNS_ROWS / 64);
        memset(c->at[i].valid, 0, COLUMNS_ROWS / 8);
        intern_init(&c->at[i].strings);
        arena_init(&c->at[i].arena);
    }
}

void columns_fini(struct column_chunk *c)
{
    for (size_t i = 0; i < c->n; i++) {
        mem_free(c->at[i].values);
        mem_free(c->at[i].valid);
        vec_free(&c->at[i].texts);
        hash_free(&c->at[i].known);
        intern_fini(&c->at[i].strings);
        arena_free(&c->at[i].arena);
    }
    mem_free(c->at);
    *c = (struct column_chunk){0};
}

void columns_clear(struct column_chunk *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct column_data *col = &c->at[i];
        if (col->strings.strings.n > 1) {
            intern_fini(&col->strings);
            intern_init(&col->strings);
        }
        memset(col->valid, 0, (col->n + 7) / 8);
        hash_clear(&col->known);
        arena_free(&col->arena);
        arena_init(&col->arena);
        col->texts.n = col->n = col->nulls = 0;
    }
}

void column_put_null(struct column_data *c)
{
    if (c->type == VALUES_TEXT)
        c->places[c->n] = 0;
    else
        c->numbers[c->n] = 0;
    c->nulls++;
    c->n++;
}

struct str columns_utf8(struct arena *arena, struct str text)
{
    struct text clean = {0};
    bool is_valid = true;

    for (size_t i = 0; i < text.n && is_valid;)
        i += (unsigned char)text.at[i] < 0x80 ? 1 : json_utf8(text.at + i, text.n - i, &is_valid);
    if (is_valid)
        return text;
    for (size_t i = 0; i < text.n;) {
        size_t n = json_utf8(text.at + i, text.n - i, &is_valid);
        text_put(&clean, is_valid ? str_part(text, i, n) : S("\xef\xbf\xbd"));
        i += n;
    }
    return text_keep(&clean, arena);
}

void column_put_text(struct column_data *c, struct str text)
{
    strid id = intern_put(&c->strings, columns_utf8(&c->arena, text));

    for (strid next = (strid)c->texts.n; next <= id; next++)
        vec_push(&c->texts, intern_get(&c->strings, next));
    c->places[c->n] = id;
    column_mark(c);
}

void column_put_lasting(struct column_data *c, struct str text)
{
    uint32_t fresh = (uint32_t)c->texts.n;
    uint64_t key = (uintptr_t)text.at ^ (uint64_t)text.n << 48; /* addresses have fewer bits */
    uint32_t place = hash_add(&c->known, key, fresh);

    if (place == fresh)
        vec_push(&c->texts, columns_utf8(&c->arena, text));
    c->places[c->n] = place;
    column_mark(c);
}
