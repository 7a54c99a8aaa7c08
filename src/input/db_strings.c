/* A table of texts by number, read whole. */
#include "input/db_strings.h"

void db_strings_read(struct db_strings *s, struct db *db, const char *table)
{
    static const char *const columns[] = {"id", "value|name|label|string"};
    struct db_rows rows;
    int64_t key;

    *s = (struct db_strings){0};
    arena_init(&s->arena);
    db_rows_open(&rows, db, table, columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        if (!db_i64(&rows, 0, &key) || s->list.n >= UINT32_MAX)
            continue;
        uint32_t place = (uint32_t)s->list.n;
        if (hash_add(&s->places, (uint64_t)key, place) != place)
            continue; /* the first of equal keys counts */
        vec_push(&s->list, ((struct db_string){key, arena_str(&s->arena, db_text(&rows, 1)), 0}));
    }
}

void db_strings_free(struct db_strings *s)
{
    arena_free(&s->arena);
    vec_free(&s->list);
    hash_free(&s->places);
}

static struct db_string *strings_find(const struct db_strings *s, int64_t key)
{
    uint32_t place;

    /* Keys mostly count from 0 or 1 without holes. */
    if (key >= 0 && (uint64_t)key < s->list.n && s->list.at[key].key == key)
        return &s->list.at[key];
    if (key > 0 && (uint64_t)key <= s->list.n && s->list.at[key - 1].key == key)
        return &s->list.at[key - 1];
    return hash_get(&s->places, (uint64_t)key, &place) ? &s->list.at[place] : NULL;
}

struct str db_strings_text(const struct db_strings *s, int64_t key)
{
    const struct db_string *found = strings_find(s, key);

    return found != NULL ? found->text : S("");
}

strid db_strings_intern(struct db_strings *s, struct capture *cap, int64_t key)
{
    struct db_string *found = strings_find(s, key);

    if (found == NULL)
        return 0;
    if (found->id == 0)
        found->id = capture_intern(cap, found->text);
    return found->id;
}
