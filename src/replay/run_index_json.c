/*
 * manifest.json: written, and read back to go on with a run.
 */
#include "base/fs.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "base/mapfile.h"
#include "replay/run_index.h"

#define TEXT(field)                                                                                \
    {                                                                                              \
        S_INIT(#field), offsetof(struct run_row, field)                                            \
    }
#define NUMBER(field)                                                                              \
    {                                                                                              \
        S_INIT(#field), offsetof(struct run_row, field)                                            \
    }

struct member {
    struct str key;
    size_t offset;
};

static const struct member texts[] = {
    TEXT(func),
    TEXT(status),
    TEXT(symbol),
    TEXT(demangled),
    TEXT(app),
    TEXT(kernel_lib),
    TEXT(case_dir),
    TEXT(build_dir),
    TEXT(collect_dir),
    TEXT(export_dir),
    TEXT(export_src),
    TEXT(trace_json),
    TEXT(visualize_data_bin),
    TEXT(message),
    TEXT(hash),
    TEXT(workload),
    TEXT(critical),
    TEXT(bound),
    {S_INIT("source_cpp"), offsetof(struct run_row, source)},
};

static const struct member counts[] = {NUMBER(artifact_count), NUMBER(core_trace_count),
                                       NUMBER(instr_csv_count), NUMBER(cycles)};
static const struct member reals[] = {NUMBER(duration_sec), NUMBER(critical_share), NUMBER(span_us),
                                      NUMBER(intensity)};

struct list {
    struct str key;
    size_t at, n;
    size_t max;
};

static const struct list lists[] = {
    {S_INIT("checks"), offsetof(struct run_row, checks), offsetof(struct run_row, n_checks),
     RUN_NOTES},
    {S_INIT("hints"), offsetof(struct run_row, hints), offsetof(struct run_row, n_hints),
     RUN_NOTES},
    {S_INIT("advice"), offsetof(struct run_row, advice), offsetof(struct run_row, n_advice),
     RUN_ADVICE},
};

static void *member_at(struct run_row *row, size_t offset)
{
    return (char *)row + offset;
}

static const void *const_at(const struct run_row *row, size_t offset)
{
    return (const char *)row + offset;
}

static void write_row(struct json_writer *w, const struct run_row *row)
{
    json_write_object(w);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *const *text = const_at(row, texts[i].offset);
        json_write_key(w, texts[i].key);
        json_write_string(w, *text != NULL ? str_of(*text) : S(""));
    }
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        json_write_key(w, counts[i].key);
        json_write_i64(w, *(const int64_t *)const_at(row, counts[i].offset));
    }
    for (size_t i = 0; i < ARRAY_LEN(reals); i++) {
        json_write_key(w, reals[i].key);
        json_write_f64(w, *(const double *)const_at(row, reals[i].offset));
    }
    json_put_array(w, "pipes");
    for (size_t i = 0; i < row->n_pipes; i++) {
        json_write_object(w);
        json_put_text(w, "pipe", row->pipes[i].name);
        json_put_i64(w, "cycles", row->pipes[i].cycles);
        json_put_f64(w, "share", row->pipes[i].share);
        json_write_end(w);
    }
    json_write_end(w);
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        const char *const *at = const_at(row, lists[k].at);
        size_t n = *(const size_t *)const_at(row, lists[k].n);
        json_write_key(w, lists[k].key);
        json_write_array(w);
        for (size_t i = 0; i < n; i++)
            json_write_string(w, str_of(at[i]));
        json_write_end(w);
    }
    json_write_end(w);
}

struct str run_index_json(const char *run_root, const char *backend, const struct run_rows *rows,
                          struct arena *arena)
{
    struct text buffer = {0};
    struct json_writer w;

    json_write_init(&w, text_sink(&buffer), JSON_INDENTED);
    json_write_object(&w);
    json_put_text(&w, "schema", "strata.incore-manifest/1");
    json_put_text(&w, "run_root", run_root);
    json_put_text(&w, "backend", backend);
    json_put_u64(&w, "total", rows->n);
    json_put_u64(&w, "exported", run_rows_exported(rows));
    json_put_array(&w, "kernels");
    for (size_t i = 0; i < rows->n; i++)
        write_row(&w, &rows->at[i]);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
    struct str text = arena_str(arena, (struct str){buffer.at, buffer.n});
    text_free(&buffer);
    return text;
}

/* ---- reading ---- */

static const char *keep(struct arena *arena, struct json *j, struct str raw)
{
    struct str text = raw;

    if (j->has_escapes)
        text = json_text(raw, arena);
    return arena_cstr(arena, text);
}

static void read_pipes(struct json *j, struct arena *arena, struct run_row *row)
{
    struct str key, value;

    if (json_next(j) != JSON_ARRAY)
        return;
    while (json_element(j)) {
        struct run_pipe pipe = {.name = ""};
        if (json_next(j) != JSON_OBJECT)
            continue;
        while (json_key(j, &key)) {
            bool is_name = str_equal(key, S("pipe")), is_cycles = str_equal(key, S("cycles"));
            bool is_share = str_equal(key, S("share"));
            if (!json_value(j, &value))
                continue;
            if (is_name)
                pipe.name = keep(arena, j, value);
            else if (is_cycles)
                num_i64(value, &pipe.cycles);
            else if (is_share)
                num_f64(value, &pipe.share);
        }
        if (row->n_pipes < RUN_PIPES)
            row->pipes[row->n_pipes++] = pipe;
    }
}

static void read_list(struct json *j, struct arena *arena, struct run_row *row,
                      const struct list *list)
{
    const char **at = member_at(row, list->at);
    size_t *n = member_at(row, list->n);
    struct str value;

    if (json_next(j) != JSON_ARRAY)
        return;
    while (json_element(j))
        if (json_value(j, &value) && *n < list->max)
            at[(*n)++] = keep(arena, j, value);
}

static void read_member(struct json *j, struct arena *arena, struct run_row *row, struct str key)
{
    struct str value;

    if (str_equal(key, S("pipes"))) {
        read_pipes(j, arena, row);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (str_equal(key, lists[i].key)) {
            read_list(j, arena, row, &lists[i]);
            return;
        }
    if (!json_value(j, &value))
        return;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_equal(key, texts[i].key) && j->token == JSON_STRING)
            *(const char **)member_at(row, texts[i].offset) = keep(arena, j, value);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (str_equal(key, counts[i].key))
            num_i64(value, (int64_t *)member_at(row, counts[i].offset));
    for (size_t i = 0; i < ARRAY_LEN(reals); i++)
        if (str_equal(key, reals[i].key))
            num_f64(value, (double *)member_at(row, reals[i].offset));
}

static void read_rows(struct json *j, struct arena *arena, struct run_rows *out)
{
    struct str key;

    if (json_next(j) != JSON_ARRAY)
        return;
    while (json_element(j)) {
        struct run_row row = {.intensity = -1};
        if (json_next(j) != JSON_OBJECT)
            continue;
        while (json_key(j, &key))
            read_member(j, arena, &row, arena_str(arena, key));
        if (row.func != NULL)
            vec_push(out, row);
    }
}

enum status run_index_read(const char *run_root, struct arena *arena, struct run_rows *out,
                           struct diag *d)
{
    const char *path = fs_join(arena, run_root, "manifest.json");
    struct mapfile map;
    struct json j;
    struct str key;

    *out = (struct run_rows){0};
    TRY(mapfile_open(&map, path, d));
    json_open(&j, map.text, JSON_STRICT);
    if (json_next(&j) == JSON_OBJECT)
        while (json_key(&j, &key))
            if (str_equal(key, S("kernels")))
                read_rows(&j, arena, out);
    enum status st = ST_OK;
    if (j.token != JSON_OBJECT_END)
        st = diag_fail(d, ST_FORMAT, "incore-run.bad-manifest", (struct where){.path = path},
                       "not a manifest of a run");
    mapfile_close(&map);
    return st;
}
