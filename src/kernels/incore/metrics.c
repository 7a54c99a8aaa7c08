/*
 * The table of instructions, turned around to a list for each core.
 */
#include "kernels/incore/metrics.h"

#include <inttypes.h>

#include "base/formats/json_read.h"
#include "base/text/char.h"
#include "base/text/text_out.h"
#include "kernels/incore/events.h"

struct top {
    struct str cores, rows, types;
};

static bool read_top(struct json *j, struct str text, struct arena *arena, struct top *top,
                     struct str *reason)
{
    struct str key;

    enum json_token token = json_next(j);
    if (token != JSON_OBJECT) {
        if (token != JSON_ERROR && token != JSON_END)
            *reason = S("it is not an object");
        return false;
    }
    while (json_key(j, &key)) {
        struct str name = j->has_escapes ? json_text(key, arena) : key;
        bool ok = true;
        if (str_equal(name, S("Cores")))
            ok = incore_read_raw(j, text, &top->cores);
        else if (str_equal(name, S("Instructions")))
            ok = incore_read_raw(j, text, &top->rows);
        else if (str_equal(name, S("Instructions Dtype")))
            ok = incore_read_raw(j, text, &top->types);
        if (!ok)
            return false;
    }
    return j->token == JSON_OBJECT_END && json_next(j) == JSON_END;
}

static void read_cores(struct incore_metrics *m, struct str text)
{
    struct json j;
    struct str raw;

    json_open(&j, text, JSON_STRICT);
    if (text.n == 0 || json_next(&j) != JSON_ARRAY)
        return;
    m->cores_text = text;
    while (json_element(&j)) {
        if (!incore_read_raw(&j, text, &raw))
            return;
        bool is_text = raw.n >= 2 && *raw.at == '"';
        vec_push(&m->cores, is_text ? json_text(str_part(raw, 1, raw.n - 2), &m->arena) : raw);
    }
}

/* "Process Bytes" becomes "process_bytes". */
static strid plain_key(struct incore_metrics *m, struct str key, bool has_escapes)
{
    struct arena_mark mark = arena_mark(&m->arena);
    struct str text = has_escapes ? json_text(key, &m->arena) : key;
    char *copy = arena_cstr(&m->arena, text);

    for (size_t i = 0; i < text.n; i++)
        copy[i] = copy[i] == ' ' ? '_' : char_lower(copy[i]);
    strid id = intern_put(&m->keys, (struct str){copy, text.n});
    arena_rewind(&m->arena, mark);
    return id;
}

/* A list of as many values as there are cores is split, all else is kept whole. */
static bool read_cell(struct incore_metrics *m, struct json *j, struct str text, strid key)
{
    uint64_t from = json_offset(j);
    struct incore_cell cell = {.key = key, .first = (uint32_t)m->values.n};
    struct str raw;

    while (from < text.n && strchr(" \t\r\n", text.at[from]) != NULL)
        from++;
    if (from < text.n && text.at[from] == '[') {
        json_next(j);
        while (json_element(j)) {
            if (!incore_read_raw(j, text, &raw))
                return false;
            vec_push(&m->values, raw);
        }
        cell.is_per_core = m->values.n - cell.first == m->cores.n;
        if (!cell.is_per_core)
            m->values.n = cell.first;
        raw = str_part(text, from, json_offset(j) - from);
    } else if (!incore_read_raw(j, text, &raw)) {
        return false;
    }
    if (!cell.is_per_core)
        vec_push(&m->values, raw);
    vec_push(&m->cells, cell);
    return m->values.n < UINT32_MAX;
}

static bool read_rows(struct incore_metrics *m, struct str text)
{
    struct json j;
    struct str key;

    json_open(&j, text, JSON_STRICT);
    if (text.n == 0)
        return true;
    if (json_next(&j) != JSON_ARRAY)
        return false;
    while (json_element(&j)) {
        struct incore_row row = {.first = (uint32_t)m->cells.n};
        if (json_next(&j) != JSON_OBJECT)
            return false;
        while (json_key(&j, &key))
            if (!read_cell(m, &j, text, plain_key(m, key, j.has_escapes)))
                return false;
        row.n = (uint32_t)m->cells.n - row.first;
        vec_push(&m->rows, row);
    }
    return true;
}

enum status incore_metrics_read(struct incore_metrics *m, struct str text, struct str *reason)
{
    struct json j;
    struct top top = {0};

    *m = (struct incore_metrics){0};
    *reason = (struct str){0};
    arena_init(&m->arena);
    intern_init(&m->keys);
    json_open(&j, text, JSON_STRICT);
    if (!read_top(&j, text, &m->arena, &top, reason)) {
        if (reason->n == 0)
            *reason = arena_format(&m->arena, "%s at byte %" PRIu64,
                                   j.error != NULL ? j.error : "cut off",
                                   j.error != NULL ? j.error_at : json_offset(&j));
        return ST_FORMAT;
    }
    m->types = top.types;
    read_cores(m, top.cores);
    if (!read_rows(m, top.rows)) {
        *reason = S("Instructions is not a list of objects");
        return ST_FORMAT;
    }
    return ST_OK;
}

void incore_metrics_free(struct incore_metrics *m)
{
    vec_free(&m->cores);
    vec_free(&m->rows);
    vec_free(&m->cells);
    vec_free(&m->values);
    intern_fini(&m->keys);
    arena_free(&m->arena);
}

static struct str cell_text(const struct incore_metrics *m, const struct incore_cell *cell,
                            size_t core)
{
    return m->values.at[cell->first + (cell->is_per_core ? core : 0)];
}

static void write_row(struct text_out *out, const struct incore_metrics *m,
                      const struct incore_row *row, size_t core)
{
    text_out_put(out, S("{"));
    for (uint32_t i = 0; i < row->n; i++) {
        const struct incore_cell *cell = &m->cells.at[row->first + i];
        text_out_put(out, i > 0 ? S(",") : S(""));
        text_out_quoted(out, intern_get(&m->keys, cell->key));
        text_out_put(out, S(":"));
        text_out_put(out, cell_text(m, cell, core));
    }
    text_out_put(out, S("}"));
}

bool incore_metrics_write(const struct incore_metrics *m, struct sink sink)
{
    struct text_out *out = mem_grow(NULL, 1, sizeof(*out));

    text_out_open(out, sink);
    text_out_put(out, S("{\"cores\":"));
    text_out_put(out, m->cores_text.n > 0 ? m->cores_text : S("[]"));
    text_out_put(out, S(",\"instructions\":{"));
    for (size_t core = 0; core < m->cores.n; core++) {
        text_out_put(out, core > 0 ? S(",\n") : S("\n"));
        text_out_quoted(out, m->cores.at[core]);
        text_out_put(out, S(":["));
        for (size_t i = 0; i < m->rows.n; i++) {
            text_out_put(out, i > 0 ? S(",\n") : S("\n"));
            write_row(out, m, &m->rows.at[i], core);
        }
        text_out_put(out, S("]"));
    }
    text_out_put(out, S("},\n\"column_types\":"));
    text_out_put(out, m->types.n > 0 ? m->types : S("{}"));
    text_out_put(out, S("}\n"));
    bool ok = text_out_close(out);
    mem_free(out);
    return ok;
}

struct str incore_metrics_get(const struct incore_metrics *m, size_t row, size_t core,
                              struct str key)
{
    strid id = intern_find(&m->keys, key);
    const struct incore_row *r = &m->rows.at[row];

    for (uint32_t i = r->n; id != 0 && i > 0; i--)
        if (m->cells.at[r->first + i - 1].key == id)
            return cell_text(m, &m->cells.at[r->first + i - 1], core);
    return (struct str){0};
}
