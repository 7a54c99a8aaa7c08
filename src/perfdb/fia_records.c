#include "perfdb/fia_records.h"

#include "base/fs.h"
#include "base/json_read.h"
#include "base/mapfile.h"
#include "base/num.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"

enum { NONE = UINT32_MAX };

const struct str *const fia_payload_columns[FIA_PAYLOAD] = {
    &column_runtime[RT_SEQ_SHAPE],    &column_runtime[RT_SEQ_VALUES],
    &column_runtime[RT_SEQ_KV_SHAPE], &column_runtime[RT_SEQ_KV_VALUES],
    &column_runtime[RT_AVG_SEQ_LEN],  &column_runtime[RT_VALID_BLOCKS],
    &column_runtime[RT_NUM_HEADS],    &column_runtime[RT_NUM_KV_HEADS],
    &column_runtime[RT_SPARSE_MODE],  &column_runtime[RT_INPUT_LAYOUT],
    &column_runtime[RT_BLOCK_SIZE],
};

/* The fields of a record. */
enum field {
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

struct str fia_key(struct arena *arena, const struct str parts[6])
{
    struct str named[6];

    for (size_t i = 0; i < 6; i++)
        named[i] = parts[i].at == NULL ? S("-") : arena_format(arena, "[%.*s]", STR_ARGS(parts[i]));
    return cell_join(arena, named, 6, ';');
}

static enum status bad_line(const struct json *j, const char *path, uint64_t line, const char *what,
                            struct diag *d)
{
    if (j->token == JSON_ERROR)
        what = j->error;
    return diag_fail(d, ST_FORMAT, "perfdb.bad-json", (struct where){path, line, 0},
                     "no record of an attention call: %s", what);
}

static bool take_list(struct json *j, struct arena *arena, struct value *out)
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
    out->text = cell_join(arena, items.at, items.n, ',');
    vec_free(&items);
    return is_fine;
}

static bool take_field(struct json *j, struct arena *arena, enum field field, struct value *out)
{
    struct str text;
    int64_t number;

    *out = (struct value){0};
    if (!json_value(j, &text))
        return field < F_LISTS && j->token == JSON_ARRAY && json_next(j) == JSON_ARRAY &&
               take_list(j, arena, out);
    if (j->token == JSON_NULL)
        return true;
    if (field == F_INPUT_LAYOUT && j->token == JSON_STRING)
        out->text = arena_str(arena, j->has_escapes ? json_text(text, arena) : text);
    else if (field >= F_LISTS && j->token == JSON_NUMBER && num_i64(text, &number))
        out->text = arena_str(arena, text);
    return out->text.at != NULL;
}

static enum status take_line(struct json *j, struct arena *arena, const char *path, uint64_t line,
                             struct value values[F_FIELDS], struct diag *d)
{
    struct str key;

    if (json_next(j) != JSON_OBJECT)
        return bad_line(j, path, line, "not a JSON object", d);
    while (json_key(j, &key)) {
        size_t field = 0;
        while (field < F_FIELDS && !str_equal(field_names[field], key))
            field++;
        if (field < F_FIELDS && !take_field(j, arena, (enum field)field, &values[field]))
            return bad_line(j, path, line,
                            arena_format(arena, "%.*s is neither null nor of its kind",
                                         STR_ARGS(field_names[field]))
                                .at,
                            d);
    }
    if (j->token != JSON_OBJECT_END || json_next(j) != JSON_END)
        return bad_line(j, path, line, "something follows the record", d);
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
        .key = fia_key(arena, key),
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

static bool is_same_case(const struct fia_record *a, const struct fia_record *b)
{
    return str_equal(a->key, b->key) && str_equal(a->payload[P_VALUES], b->payload[P_VALUES]) &&
           str_equal(a->payload[P_KV_VALUES], b->payload[P_KV_VALUES]);
}

/* Appends the record to the chain of its key, or takes the place of its double there. */
static void add_record(struct fia_records *records, struct fia_record r)
{
    uint32_t at = hash_add(&records->by_key, hash_bytes(r.key), (uint32_t)records->at.n);

    while (at < records->at.n) {
        struct fia_record *there = &records->at.at[at];
        if (is_same_case(there, &r)) {
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
    if (str_starts(text, S("\xef\xbb\xbf")))
        text = str_part(text, 3, text.n);
    for (uint64_t n = 1; str_split(&text, '\n', &line); n++) {
        struct value values[F_FIELDS] = {0};
        if (cell_trim(line).n == 0)
            continue;
        json_open(j, cell_trim(line), JSON_STRICT);
        TRY(take_line(j, arena, path, n, values, d));
        add_record(records, to_record(arena, values));
    }
    return ST_OK;
}

enum status fia_records_read(struct fia_records *records, struct arena *arena, const char *path,
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
