#include "perfdb/fia_fill.h"

#include "base/fs.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"
#include "perfdb/fia_meta.h"
#include "perfdb/fia_records.h"

/* One slot of a row as a list; a NULL pointer when it is absent. False: no list of numbers. */
static bool slot_list(struct arena *arena, struct cell_slots slots, size_t i, struct str *out)
{
    *out = (struct str){NULL, 0};
    if (i >= slots.n || slots.at[i].n == 0)
        return true;
    if (!fia_slot(arena, slots.at[i], out))
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
                             "slot %zu of an attention row is no list of numbers: \"%.*s\"",
                             places[i], STR_ARGS(slots.at[places[i]]));
    /* How many key/value sequences: a single number, or nothing. */
    if (parts[3].at != NULL && str_find_char(parts[3], ',') < parts[3].n)
        parts[3] = (struct str){NULL, 0};
    *out = fia_key(&fill->arena, parts);
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

/* The columns of the old table, then those of the payload it lacks. */
static void make_columns(struct fia_fill *fill, int columns[FIA_PAYLOAD + 1])
{
    table_arrange(&fill->table, fill->old.columns.at, fill->old.columns.n);
    for (size_t i = 0; i < FIA_PAYLOAD; i++)
        columns[i] = table_add_column(&fill->table, *fia_payload_columns[i]);
    columns[FIA_PAYLOAD] = table_add_column(&fill->table, column_runtime[RT_COMPLETENESS]);
}

static enum status join(struct fia_fill *fill, const struct fia_records *records, struct str tag,
                        struct diag *d)
{
    int columns[FIA_PAYLOAD + 1], input = table_column(&fill->old, COL_INPUT_SHAPES);
    struct str key;

    make_columns(fill, columns);
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

    *fill = (struct fia_fill){0};
    arena_init(&fill->arena);
    if (!fs_exists(csv))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-csv", (struct where){0}, "CSV not found: %s",
                         csv);
    enum status st = fia_records_read(&records, &fill->arena, jsonl, d);
    if (st == ST_OK)
        st = table_read(&fill->old, csv, d);
    if (st == ST_OK && fill->old.columns.n == 0)
        st = diag_fail(d, ST_FORMAT, "perfdb.no-header", (struct where){0},
                       "CSV header is empty: %s", csv);
    if (st == ST_OK) {
        table_init(&fill->table, csv);
        st = join(fill, &records, tag, d);
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
