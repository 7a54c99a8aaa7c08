/*
 * Fused attention: sequence lengths and blocks of its calls, from profiles and from dumps.
 */
#include "opdb/rows/fia.h"

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/json_read.h"
#include "base/text/char.h"
#include "base/text/num.h"
#include "opdb/rows/cell.h"

enum { SLOT_SEQ = 5, SLOT_SEQ_KV = 6, SLOT_BLOCK_TABLE = 14, SLOTS = 31 };

/* A slot as a list of numbers joined with ','; "" when it is blank. False when it is something
 * else. Unlike other shape slots, "()" and the like are no absent slots here. */
static bool slot_text(struct arena *arena, struct str slot, struct str *out)
{
    struct str rest = cell_trim(slot), one;

    *out = S("");
    if (rest.n == 0)
        return true;
    char *text = arena_alloc(arena, rest.n * 2 + 24);
    size_t n = 0;
    while (str_split(&rest, ',', &one)) {
        int64_t value;
        one = cell_trim(one);
        if (one.n == 0)
            continue;
        if (!cell_i64(one, &value))
            return false;
        struct str digits = arena_format(arena, "%s%lld", n > 0 ? "," : "", (long long)value);
        memcpy(text + n, digits.at, digits.n);
        n += digits.n;
    }
    *out = (struct str){text, n};
    return true;
}

struct str fia_folder(const char *path)
{
    struct str whole = str_of(path), name = str_basename(whole);
    struct str folder = str_part(whole, 0, whole.n - name.n);

    while (folder.n > 1 && folder.at[folder.n - 1] == '/')
        folder.n--;
    return folder.n > 0 ? folder : S(".");
}

/* Letters and digits only, small: "aclnn Fused-Infer_AttentionScore" is one word. */
static bool names_fia(struct str text)
{
    static const char word[] = "fusedinferattentionscore";
    size_t n = sizeof(word) - 1, kept = 0;
    char last[sizeof(word)] = "";

    for (size_t i = 0; i < text.n; i++) {
        char c = char_lower(text.at[i]);
        if (!char_is_alnum(c))
            continue;
        if (kept == n)
            memmove(last, last + 1, n - 1);
        else
            kept++;
        last[kept - 1] = c;
        if (kept == n && memcmp(last, word, n) == 0)
            return true;
    }
    return false;
}

struct fia_shapes {
    VEC_OF(struct str) at;
};

/* The input shapes of the attention calls of operator_details.csv, in order. */
static enum status read_operators(const char *path, struct arena *arena, struct fia_shapes *out,
                                  struct diag *d)
{
    static const struct str names[] = {S_INIT("Type"),          S_INIT("Name"),
                                       S_INIT("Op Type"),       S_INIT("Op Name"),
                                       S_INIT("Operator Type"), S_INIT("Operator Name")};
    int name[ARRAY_LEN(names)];
    struct rows *rows;

    TRY(rows_open(&rows, path, d));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        name[i] = csv_column(&rows->csv, names[i]);
    int input = csv_column(&rows->csv, COL_INPUT_SHAPES);
    int output = csv_column(&rows->csv, COL_OUTPUT_SHAPES);
    while (rows_next(rows)) {
        bool is_fia = false;
        for (size_t i = 0; i < ARRAY_LEN(names) && !is_fia; i++)
            is_fia = names_fia(csv_cell(&rows->csv, name[i]));
        if (!is_fia || cell_trim(csv_cell(&rows->csv, output)).n == 0)
            continue;
        struct str shapes = rows_cell(rows, input, arena);
        if (shapes.n > 0)
            vec_push(&out->at, arena_str(arena, shapes));
    }
    return rows_close(rows);
}

static enum status read_slots(struct fia_meta *m, struct arena *arena, struct str shapes,
                              const char *path, struct diag *d)
{
    struct str rest = cell_bare(shapes), one, text;

    for (size_t i = 0; str_split(&rest, ';', &one); i++) {
        if (!slot_text(arena, one, &text))
            return diag_fail(d, ST_FORMAT, "perfdb.bad-slot", (struct where){.path = path},
                             "slot %zu of an attention row is not a list of numbers: \"%.*s\"", i,
                             STR_ARGS(one));
        if (i == SLOT_SEQ)
            m->seq = text;
        else if (i == SLOT_SEQ_KV)
            m->seq_kv = text;
        else if (i == SLOT_BLOCK_TABLE)
            m->block_table = text;
    }
    return ST_OK;
}

static uint64_t fia_key_of(struct str input_shapes, struct str output_shapes)
{
    return hash_mix(hash_bytes(input_shapes), hash_bytes(output_shapes));
}

enum status fia_meta_add(struct fia_metas *metas, struct kernels *k, const char *path,
                         const char *operators, struct diag *d)
{
    struct fia_shapes calls = {0};
    struct str folder = fia_folder(path);
    struct str profile = str_equal(folder, S(".")) ? S("") : str_basename(folder);
    enum status st = ST_OK;

    if (operators != NULL)
        st = read_operators(operators, &k->arena, &calls, d);
    if (st == ST_OK && calls.at.n > 0 && calls.at.n != k->n_fia)
        diag_add(d, SEV_WARN, "perfdb.fia-pairs", (struct where){.path = path},
                 "FIA kernel/operator row count mismatch under %.*s: kernel_rows=%llu, "
                 "operator_rows=%zu; only the common first rows are paired",
                 STR_ARGS(folder), (unsigned long long)k->n_fia, calls.at.n);
    for (size_t i = 0; i < k->fia.n && st == ST_OK; i++) {
        const struct kernel_fia *row = &k->fia.at[i];
        struct fia_meta m = {.input_shapes = row->input_shapes,
                             .output_shapes = row->output_shapes,
                             .profile = arena_str(&k->arena, profile)};
        struct str shapes = row->index < calls.at.n ? calls.at.at[row->index] : row->input_shapes;
        st = read_slots(&m, &k->arena, shapes, path, d);
        hash_put(&metas->by_shapes, fia_key_of(m.input_shapes, m.output_shapes),
                 (uint32_t)metas->at.n);
        vec_push(&metas->at, m);
    }
    vec_free(&calls.at);
    return st;
}

const struct fia_meta *fia_meta_find(const struct fia_metas *metas, struct str input_shapes,
                                     struct str output_shapes)
{
    uint32_t at;

    if (!hash_get(&metas->by_shapes, fia_key_of(input_shapes, output_shapes), &at))
        return NULL;
    const struct fia_meta *m = &metas->at.at[at];
    return str_equal(m->input_shapes, input_shapes) && str_equal(m->output_shapes, output_shapes)
               ? m
               : NULL;
}

void fia_meta_free(struct fia_metas *metas)
{
    vec_free(&metas->at);
    hash_free(&metas->by_shapes);
}

enum { NONE = UINT32_MAX };

/* The columns a record fills, in the order in which they are appended to a table. */
static const struct str *const payload_columns[FIA_PAYLOAD] = {
    &column_runtime[RT_SEQ_SHAPE],    &column_runtime[RT_SEQ_VALUES],
    &column_runtime[RT_SEQ_KV_SHAPE], &column_runtime[RT_SEQ_KV_VALUES],
    &column_runtime[RT_AVG_SEQ_LEN],  &column_runtime[RT_VALID_BLOCKS],
    &column_runtime[RT_NUM_HEADS],    &column_runtime[RT_NUM_KV_HEADS],
    &column_runtime[RT_SPARSE_MODE],  &column_runtime[RT_INPUT_LAYOUT],
    &column_runtime[RT_BLOCK_SIZE],
};

/* The fields of a record. */
enum call_field {
    F_QUERY,
    F_KEY,
    F_VALUE,
    F_SEQ_KV,
    F_MASK,
    F_BLOCK_TABLE,
    F_SEQ,
    F_VALID_BLOCKS,
    F_LISTS, /* the fields above are lists, those below single values */
    F_NUM_HEADS = F_LISTS,
    F_NUM_KV_HEADS,
    F_SPARSE_MODE,
    F_BLOCK_SIZE,
    F_INPUT_LAYOUT,
    F_FIELDS,
};

static const struct str field_names[F_FIELDS] = {
    [F_QUERY] = S_INIT("query_shape"),
    [F_KEY] = S_INIT("key_shape"),
    [F_VALUE] = S_INIT("value_shape"),
    [F_SEQ_KV] = S_INIT("actual_seq_lengths_kv"),
    [F_MASK] = S_INIT("atten_mask_shape"),
    [F_BLOCK_TABLE] = S_INIT("block_table_shape"),
    [F_SEQ] = S_INIT("actual_seq_lengths"),
    [F_VALID_BLOCKS] = S_INIT("block_table_valid_blocks"),
    [F_NUM_HEADS] = S_INIT("num_heads"),
    [F_NUM_KV_HEADS] = S_INIT("num_key_value_heads"),
    [F_SPARSE_MODE] = S_INIT("sparse_mode"),
    [F_BLOCK_SIZE] = S_INIT("block_size"),
    [F_INPUT_LAYOUT] = S_INIT("input_layout"),
};

/* A field that was given and is not null has a text; a list also has its length and sum. */
struct value {
    struct str text; /* NULL pointer: absent */
    uint64_t n;
    double sum;
};

/* Six parts as one text; a part is a list "1,2" or absent (NULL pointer). */
static struct str join_key(struct arena *arena, const struct str parts[6])
{
    struct str named[6];

    for (size_t i = 0; i < 6; i++)
        named[i] = parts[i].at == NULL ? S("-") : arena_format(arena, "[%.*s]", STR_ARGS(parts[i]));
    return arena_join(arena, named, 6, S(";"));
}

static enum status bad_line(const struct json *j, const char *path, uint64_t line, const char *what,
                            struct diag *d)
{
    if (j->token == JSON_ERROR)
        what = j->error;
    return diag_fail(d, ST_FORMAT, "perfdb.bad-json", (struct where){path, line, 0},
                     "not a record of an attention call: %s", what);
}

static bool read_numbers(struct json *j, struct arena *arena, struct value *out)
{
    VEC_OF(struct str) items = {0};
    struct str item;
    bool is_fine = true;

    *out = (struct value){0};
    while (is_fine && json_element(j)) {
        int64_t number;
        is_fine = json_value(j, &item) && j->token == JSON_NUMBER && num_i64(item, &number);
        if (is_fine) {
            vec_push(&items, item);
            out->sum += (double)number;
        }
    }
    is_fine = is_fine && j->token == JSON_ARRAY_END;
    out->n = items.n;
    out->text = arena_join(arena, items.at, items.n, S(","));
    vec_free(&items);
    return is_fine;
}

static bool read_field(struct json *j, struct arena *arena, enum call_field field,
                       struct value *out)
{
    struct str text;
    int64_t number;

    *out = (struct value){0};
    if (!json_value(j, &text))
        return field < F_LISTS && j->token == JSON_ARRAY && json_next(j) == JSON_ARRAY &&
               read_numbers(j, arena, out);
    if (j->token == JSON_NULL)
        return true;
    if (field == F_INPUT_LAYOUT && j->token == JSON_STRING)
        out->text = arena_str(arena, j->has_escapes ? json_text(text, arena) : text);
    else if (field >= F_LISTS && j->token == JSON_NUMBER && num_i64(text, &number))
        out->text = arena_str(arena, text);
    return out->text.at != NULL;
}

static enum status read_line(struct json *j, struct arena *arena, const char *path, uint64_t line,
                             struct value values[F_FIELDS], struct diag *d)
{
    struct str key;

    if (json_next(j) != JSON_OBJECT)
        return bad_line(j, path, line, "not a JSON object", d);
    while (json_key(j, &key)) {
        size_t field = 0;
        while (field < F_FIELDS && !str_equal(field_names[field], key))
            field++;
        if (field < F_FIELDS && !read_field(j, arena, (enum call_field)field, &values[field]))
            return bad_line(j, path, line,
                            arena_format(arena, "%.*s is neither null nor of the expected type",
                                         STR_ARGS(field_names[field]))
                                .at,
                            d);
    }
    if (j->token != JSON_OBJECT_END || json_next(j) != JSON_END)
        return bad_line(j, path, line, "unexpected text after the record", d);
    return ST_OK;
}

static struct str count_text(struct arena *arena, const struct value *v)
{
    return v->n > 0 ? arena_format(arena, "%llu", (unsigned long long)v->n) : S("");
}

static struct fia_record to_record(struct arena *arena, const struct value *v)
{
    struct str kv_count = v[F_SEQ_KV].text.at == NULL
                              ? (struct str){NULL, 0}
                              : arena_format(arena, "%llu", (unsigned long long)v[F_SEQ_KV].n);
    const struct str key[] = {v[F_QUERY].text, v[F_KEY].text,  v[F_VALUE].text,
                              kv_count,        v[F_MASK].text, v[F_BLOCK_TABLE].text};
    struct fia_record r = {
        .key = join_key(arena, key),
        .next = NONE,
        .payload = {count_text(arena, &v[F_SEQ]), v[F_SEQ].text, count_text(arena, &v[F_SEQ_KV]),
                    v[F_SEQ_KV].text,
                    v[F_SEQ_KV].n > 0 ? cell_text6(arena, v[F_SEQ_KV].sum / (double)v[F_SEQ_KV].n)
                                      : S(""),
                    v[F_VALID_BLOCKS].text, v[F_NUM_HEADS].text, v[F_NUM_KV_HEADS].text,
                    v[F_SPARSE_MODE].text, v[F_INPUT_LAYOUT].text, v[F_BLOCK_SIZE].text},
    };

    for (size_t i = 0; i < FIA_PAYLOAD; i++)
        if (r.payload[i].at == NULL)
            r.payload[i] = S("");
    return r;
}

enum { P_VALUES = 1, P_KV_VALUES = 3 }; /* places in the payload */

/* Appends the record to the chain of its key, or takes the place of its double there. */
static void add_record(struct fia_records *records, struct fia_record r)
{
    uint32_t at = hash_add(&records->by_key, hash_bytes(r.key), (uint32_t)records->at.n);

    while (at < records->at.n) {
        struct fia_record *there = &records->at.at[at];
        if (str_equal(there->key, r.key) &&
            str_equal(there->payload[P_VALUES], r.payload[P_VALUES]) &&
            str_equal(there->payload[P_KV_VALUES], r.payload[P_KV_VALUES])) {
            memcpy(there->payload, r.payload, sizeof(r.payload));
            return;
        }
        if (there->next == NONE) {
            there->next = (uint32_t)records->at.n;
            break;
        }
        at = there->next;
    }
    vec_push(&records->at, r);
}

enum status fia_records_parse(struct fia_records *records, struct arena *arena, struct str text,
                              const char *path, struct diag *d)
{
    struct json *j = ARENA_NEW(arena, struct json);
    struct str line;

    *records = (struct fia_records){0};
    str_skip(&text, S("\xef\xbb\xbf"));
    for (uint64_t n = 1; str_split(&text, '\n', &line); n++) {
        struct value values[F_FIELDS] = {0};
        if (cell_trim(line).n == 0)
            continue;
        json_open(j, cell_trim(line), JSON_STRICT);
        TRY(read_line(j, arena, path, n, values, d));
        add_record(records, to_record(arena, values));
    }
    return ST_OK;
}

static enum status read_records(struct fia_records *records, struct arena *arena, const char *path,
                                struct diag *d)
{
    struct mapfile map;

    *records = (struct fia_records){0};
    if (!fs_exists(path))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-jsonl", (struct where){0},
                         "JSONL not found: %s", path);
    TRY(mapfile_open(&map, path, d));
    enum status st = fia_records_parse(records, arena, map.text, path, d);
    /* Numbers of lists are joined, single values copied: nothing points into the file. */
    mapfile_close(&map);
    return st;
}

void fia_records_free(struct fia_records *records)
{
    vec_free(&records->at);
    hash_free(&records->by_key);
}

const struct fia_record *fia_records_find(const struct fia_records *records, struct str key)
{
    uint32_t at;

    if (!hash_get(&records->by_key, hash_bytes(key), &at))
        return NULL;
    for (; at != NONE; at = records->at.at[at].next)
        if (str_equal(records->at.at[at].key, key))
            return &records->at.at[at];
    return NULL;
}

/* One slot of a row as a list; a NULL pointer when it is absent. False: no list of numbers. */
static bool slot_list(struct arena *arena, struct cell_slots slots, size_t i, struct str *out)
{
    *out = (struct str){NULL, 0};
    if (i >= slots.n || slots.at[i].n == 0)
        return true;
    if (!slot_text(arena, slots.at[i], out))
        return false;
    if (out->n == 0)
        *out = (struct str){NULL, 0};
    return true;
}

static enum status row_key(struct fia_fill *fill, size_t row, int input, struct str *out,
                           struct diag *d)
{
    static const size_t places[] = {0, 1, 2, 6, 4, 14};
    struct cell_slots slots = cell_slots(&fill->arena, table_cell(&fill->old, row, input));
    struct str parts[ARRAY_LEN(places)];

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (!slot_list(&fill->arena, slots, places[i], &parts[i]))
            return diag_fail(d, ST_FORMAT, "perfdb.bad-slot",
                             (struct where){fill->old.path, fill->old.lines.at[row], 0},
                             "slot %zu of an attention row is not a list of numbers: \"%.*s\"",
                             places[i], STR_ARGS(slots.at[places[i]]));
    /* How many key/value sequences: a single number, or nothing. */
    if (parts[3].at != NULL && str_find_char(parts[3], ',') < parts[3].n)
        parts[3] = (struct str){NULL, 0};
    *out = join_key(&fill->arena, parts);
    return ST_OK;
}

static size_t copy_row(struct fia_fill *fill, size_t from)
{
    size_t row = table_add_row(&fill->table);

    fill->table.lines.at[row] = fill->old.lines.at[from];
    for (size_t i = 0; i < fill->old.columns.n; i++)
        table_set(&fill->table, row, (int)i, table_cell(&fill->old, from, (int)i));
    return row;
}

static enum status fia_join(struct fia_fill *fill, const struct fia_records *records,
                            struct str tag, struct diag *d)
{
    int columns[FIA_PAYLOAD + 1], input = table_column(&fill->old, COL_INPUT_SHAPES);
    struct str key;

    table_arrange(&fill->table, fill->old.columns.at, fill->old.columns.n);
    for (size_t i = 0; i < FIA_PAYLOAD; i++)
        columns[i] = table_add_column(&fill->table, *payload_columns[i]);
    columns[FIA_PAYLOAD] = table_add_column(&fill->table, column_runtime[RT_COMPLETENESS]);
    fill->rows = fill->old.n_rows;
    for (size_t from = 0; from < fill->old.n_rows; from++) {
        TRY(row_key(fill, from, input, &key, d));
        const struct fia_record *r = fia_records_find(records, key);
        if (r == NULL) {
            copy_row(fill, from);
            continue;
        }
        fill->matched++;
        for (;; r = &records->at.at[r->next]) {
            if (str_equal(r->key, key)) {
                size_t row = copy_row(fill, from);
                for (size_t i = 0; i < FIA_PAYLOAD; i++)
                    table_set(&fill->table, row, columns[i], r->payload[i]);
                table_set(&fill->table, row, columns[FIA_PAYLOAD], tag);
            }
            if (r->next == UINT32_MAX)
                break;
        }
    }
    return ST_OK;
}

enum status fia_fill(struct fia_fill *fill, const char *csv, const char *jsonl, struct str tag,
                     struct diag *d)
{
    struct fia_records records;

    *fill = (struct fia_fill){.csv = csv, .jsonl = jsonl};
    arena_init(&fill->arena);
    if (!fs_exists(csv))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-csv", (struct where){0}, "CSV not found: %s",
                         csv);
    enum status st = read_records(&records, &fill->arena, jsonl, d);
    if (st == ST_OK)
        st = table_read(&fill->old, csv, d);
    if (st == ST_OK && fill->old.columns.n == 0)
        st = diag_fail(d, ST_FORMAT, "perfdb.no-header", (struct where){0},
                       "CSV header is empty: %s", csv);
    if (st == ST_OK) {
        table_init(&fill->table, csv);
        st = fia_join(fill, &records, tag, d);
    }
    fia_records_free(&records);
    return st;
}

void fia_fill_free(struct fia_fill *fill)
{
    table_free(&fill->table);
    table_free(&fill->old);
    arena_free(&fill->arena);
}

static void put_diff(const void *result, struct sink sink)
{
    const struct fia_fill *fill = result;

    if (fill->is_dry_run)
        table_diff(&fill->old, &fill->table, fill->output, sink);
}

bool fia_fill_print(const void *result, struct sink sink)
{
    const struct fia_fill *fill = result;
    uint64_t more = fill->table.n_rows - fill->rows;
    struct text out = {0};

    put_diff(fill, text_sink(&out));
    text_format(&out,
                "Backfilled %llu/%llu CSV rows matched, %zu output rows (%s%llu from 1:N "
                "expansion) from %s into %s\n",
                (unsigned long long)fill->matched, (unsigned long long)fill->rows,
                fill->table.n_rows, more > 0 ? "+" : "", (unsigned long long)more, fill->jsonl,
                fill->output);
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}

static struct field_value diff_of(const void *record, const struct record_env *env)
{
    return table_diff_value(record, env, put_diff);
}

static const struct field fill_fields[] = {
    FIELD(struct fia_fill, csv, "table"),
    FIELD(struct fia_fill, jsonl, "records"),
    FIELD(struct fia_fill, output, "output"),
    FIELD(struct fia_fill, is_dry_run, "is_dry_run"),
    FIELD_CALC(FIELD_STR, "diff", diff_of, .missing = MISSING_EMPTY,
               .about = "what a dry run would change"),
    FIELD(struct fia_fill, rows, "rows"),
    FIELD(struct fia_fill, matched, "matched"),
    FIELD(struct fia_fill, table.n_rows, "rows_out"),
};
static const struct record fill_record = RECORD(struct fia_fill, fill_fields);

const struct schema fia_fill_schema = {
    .name = "strata.db-fill-fia/1",
    .title = "runtime values joined to the fused attention table",
    .record = &fill_record,
};
