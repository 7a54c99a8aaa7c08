/*
 * Hostile tables, questions and dumps for the operator database. The first byte chooses: a table
 * (read, judged, written and read again), a dump of attention calls, the version in a file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/formats/json_write.h"
#include "opdb/predict/query.h"
#include "opdb/predict/query_match.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/fia.h"
#include "opdb/rows/place.h"
#include "opdb/rows/signature.h"
#include "opdb/rows/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct op_table *t, struct arena *arena)
{
    struct signature_columns keys = signature_find(t);
    struct signature_index index = {0};
    struct comm_query q = {4096, 8, 1, COMM_ALPHA_BETA};
    static const char *const kernels[] = {"MatMulV2",     "Index",
                                          "SwiGlu",       "ApplyRotaryPosEmb",
                                          "DynamicQuant", "ReshapeAndCacheNdKernel"};

    for (size_t row = 0; row < t->n_rows; row++) {
        struct str kernel = str_of(kernels[row % ARRAY_LEN(kernels)]);
        struct signature_row cells = signature_read(t, row, &keys);
        struct signature s = signature_of(arena, kernel, &cells);
        struct query_row stored;
        if (signature_index_add(&index, &s, (uint32_t)row, NULL) > row)
            abort();
        if (!query_row_read(arena, cells.cell[ID_INPUT_SHAPES], cells.cell[ID_INPUT_DTYPES],
                            cells.cell[ID_INPUT_FORMATS], -1, &stored))
            continue;
        /* A row always fits itself, unless its kernel sees inputs in another order. */
        query_match(arena, kernel, stored.inputs, &stored);
        if (stored.inputs.n > 0 && stored.inputs.at[0].dtype.n > 0 && stored.inputs.n == 1 &&
            query_match(arena, S("Add"), stored.inputs, &stored) == NULL)
            abort();
    }
    query_comm(t, &q);
    signature_index_free(&index);
}

static void try_table(struct str text, struct arena *arena, struct diag *d)
{
    struct text first = {0}, second = {0};
    struct op_table t, again;

    if (table_parse(&t, "t.csv", text, d) == ST_OK && t.columns.n > 0) {
        ask(&t, arena);
        table_add_column(&t, COL_AVERAGE);
        table_print(&t, TABLE_NO_BOM, text_sink(&first));
        /* What was written reads back and is written the same. */
        if (table_parse(&again, "t.csv", (struct str){first.at, first.n}, d) != ST_OK)
            abort();
        table_print(&again, TABLE_NO_BOM, text_sink(&second));
        if (again.n_rows != t.n_rows || first.n != second.n ||
            memcmp(first.at, second.at, first.n) != 0)
            abort();
        table_free(&again);
    }
    table_free(&t);
    text_free(&first);
    text_free(&second);
}

static void try_dump(struct str text, struct arena *arena, struct diag *d)
{
    struct fia_records records;

    if (fia_records_parse(&records, arena, text, "d.jsonl", d) == ST_OK)
        for (size_t i = 0; i < records.at.n; i++)
            if (fia_records_find(&records, records.at.at[i].key) == NULL)
                abort();
    fia_records_free(&records);
}

static void try_version(struct str text, struct arena *arena)
{
    struct str parts[VERSION_PARTS] = {text, text, text}, found;

    version_in_text(text, &found);
    version_check(text, &found);
    version_dir(arena, parts);
    version_is_dir(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct diag d;

    if (size == 0)
        return 0;
    /* On the heap, so that a byte past the end is noticed. */
    char *copy = malloc(size);
    if (copy == NULL)
        abort();
    memcpy(copy, data + 1, size - 1);
    struct str text = {copy, size - 1};
    arena_init(&arena);
    diag_init(&d);
    if (data[0] % 4 == 0)
        try_dump(text, &arena, &d);
    else if (data[0] % 4 == 1)
        try_version(text, &arena);
    else
        try_table(text, &arena, &d);
    diag_fini(&d);
    arena_free(&arena);
    free(copy);
    return 0;
}
