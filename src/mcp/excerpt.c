/*
 * excerpt: the value is written once for each number of items that is tried, into nothing.
 */
#include "mcp/excerpt.h"

#include "base/text/num.h"

/* The place of the value that is being written. */
struct place {
    struct excerpt *e;
    struct text path;
};

static void excerpt_put_value(struct json_writer *w, const struct tree *value, struct place *p);

static void put_members(struct json_writer *w, const struct tree *map, struct place *p)
{
    size_t before = p->path.n;

    for (const struct tree *one = map->first; one != NULL; one = one->next) {
        json_write_key(w, one->key);
        text_char(&p->path, '/');
        for (size_t i = 0; i < one->key.n; i++)
            if (one->key.at[i] == '~')
                text_put(&p->path, S("~0"));
            else if (one->key.at[i] == '/')
                text_put(&p->path, S("~1"));
            else
                text_char(&p->path, one->key.at[i]);
        excerpt_put_value(w, one, p);
        p->path.n = before;
    }
}

/* Depth is that of the tree, which its reader bounds. */
static void excerpt_put_value(struct json_writer *w, const struct tree *value, struct place *p)
{
    if (value->kind == TREE_LIST) {
        size_t at = 0, before = p->path.n;
        json_write_array(w);
        for (const struct tree *one = value->first; one != NULL && at < p->e->items;
             one = one->next) {
            text_format(&p->path, "/%zu", at++);
            excerpt_put_value(w, one, p);
            p->path.n = before;
        }
        json_write_end(w);
        if (at < value->n && p->e->arena != NULL)
            vec_push(&p->e->cuts, ((struct excerpt_cut){
                                      arena_cstr(p->e->arena, text_view(&p->path)), at, value->n}));
    } else if (value->kind == TREE_MAP) {
        json_write_object(w);
        put_members(w, value, p);
        json_write_end(w);
    } else {
        tree_put(w, value);
    }
}

void excerpt_write(struct json_writer *w, const struct tree *value, struct excerpt *e)
{
    struct place p = {.e = e};

    excerpt_put_value(w, value, &p);
    text_free(&p.path);
}

void excerpt_members(struct json_writer *w, const struct tree *map, struct excerpt *e)
{
    struct place p = {.e = e};

    put_members(w, map, &p);
    text_free(&p.path);
}

void excerpt_free(struct excerpt *e)
{
    vec_free(&e->cuts);
}

static bool excerpt_count(void *ctx, struct str text)
{
    *(size_t *)ctx += text.n;
    return true;
}

size_t excerpt_items(const struct tree *value, size_t most, size_t budget)
{
    static const size_t tried[] = {1000, 500, 200, 100, 50, 20, 10, 5, 3};

    for (size_t i = 0; i < ARRAY_LEN(tried); i++) {
        struct excerpt e = {.items = tried[i] < most ? tried[i] : most};
        struct json_writer w;
        size_t bytes = 0;

        if (i > 0 && tried[i - 1] <= e.items)
            continue;
        json_write_init(&w, (struct sink){excerpt_count, &bytes}, JSON_COMPACT);
        excerpt_write(&w, value, &e);
        json_write_finish(&w);
        if (bytes <= budget)
            return e.items;
    }
    return 1;
}

/* ---- finding a place again ---- */

/* One step of a pointer without its escapes. */
static struct str plain_step(struct str step, struct text *room)
{
    text_clear(room);
    for (size_t i = 0; i < step.n; i++) {
        bool is_escape = step.at[i] == '~' && i + 1 < step.n;
        if (is_escape)
            i++;
        text_char(room, !is_escape ? step.at[i] : step.at[i] == '1' ? '/' : '~');
    }
    return text_view(room);
}

static const struct tree *child(const struct tree *of, struct str step)
{
    int64_t number;

    if (of->kind == TREE_MAP)
        return tree_get(of, step);
    if (of->kind != TREE_LIST || !num_i64(step, &number) || number < 0)
        return NULL;
    const struct tree *one = of->first;
    while (one != NULL && number-- > 0)
        one = one->next;
    return one;
}

const struct tree *excerpt_find(const struct tree *value, struct str pointer)
{
    struct text room = {0};
    struct str step;

    if (pointer.n == 0)
        return value;
    if (pointer.at[0] != '/')
        return NULL;
    pointer = str_part(pointer, 1, pointer.n);
    while (value != NULL && str_split(&pointer, '/', &step))
        value = child(value, plain_step(step, &room));
    text_free(&room);
    return value;
}
