/*
 * fuzz_perfdb_compare - hostile traces and tables do no harm to the comparisons of the database.
 *
 * The same bytes are read as a predicted trace, as a measured one and as a list of shapes; what can
 * be read goes through every comparison and every writer.
 */
#include <stdint.h>
#include <stdlib.h>

#include "opdb/compare/compare_literal.h"
#include "opdb/compare/compare_ops.h"
#include "opdb/compare/compare_shapes.h"
#include "opdb/compare/compare_trace.h"
#include "opdb/compare/m6.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool swallow(void *ctx, struct str text)
{
    *(size_t *)ctx += text.n;
    return true;
}

static void read_shapes(struct str text)
{
    struct kernel_share *shares;
    struct arena arena;

    arena_init(&arena);
    struct str key = literal_shapes(&arena, text);
    check(key.n <= text.n);
    check(literal_shares(&arena, text, &shares) <= text.n);
    arena_free(&arena);
}

static void write_all(struct ops_rows *ops, struct shape_rows *shapes, struct sink sink)
{
    struct json_writer j;
    struct op_table t;

    ops_rows_sort(ops);
    check(ops_rows_print(ops, "fuzz", sink));
    json_write_init(&j, sink, JSON_COMPACT);
    record_json_list(&j, &ops_row_record, ops->at.at, ops->at.n, NULL);
    check(json_write_finish(&j));
    shape_rows_sort(shapes);
    shape_rows_table(shapes, &t);
    check(table_print(&t, TABLE_NO_BOM, sink));
    table_free(&t);
}

static void compare(const struct predicted *p, const struct measured *m, struct diag *d,
                    struct sink sink)
{
    static const struct str sources[] = {S_INIT("MEASURED"), S_INIT("PARTIAL")};
    struct shape_rows shapes;
    struct ops_rows ops;
    struct op_table t;

    ops_rows_init(&ops);
    shape_rows_init(&shapes);
    ops_rows_measure(&ops, m, 3);
    ops_rows_predict(&ops, p, NULL, d);
    shape_rows_predict(&shapes, p);
    shape_rows_measure(&shapes, m, SHAPE_MEASURED, NULL);
    write_all(&ops, &shapes, sink);
    struct m6 m6 = m6_compute(p, m, sources, ARRAY_LEN(sources), M6_EXACT);
    check(m6_write_json(&m6, sink));
    check(m6_print(&m6, sink));
    struct metrics metrics = metrics_compute(p);
    check(metrics.hits <= metrics.invocations);
    compare_trace_fill(p, &t);
    check(table_print(&t, TABLE_NO_BOM, sink));
    table_free(&t);
    shape_rows_free(&shapes);
    ops_rows_free(&ops);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = {(const char *)data, n};
    struct predicted p, none;
    struct measured m, empty;
    struct diag d;
    size_t written = 0;
    struct sink sink = {swallow, &written};

    if (n == 0)
        return 0;
    diag_init(&d);
    read_shapes(text);
    check(predicted_parse(&none, "none", S("[]"), &d) == ST_OK);
    check(measured_parse(&empty, "empty", S("Type,Duration(us)\n"), &d) == ST_OK);
    if (predicted_parse(&p, "p", text, &d) == ST_OK)
        compare(&p, &empty, &d, sink);
    if (measured_parse(&m, "m", text, &d) == ST_OK)
        compare(&none, &m, &d, sink);
    predicted_free(&p);
    predicted_free(&none);
    measured_free(&m);
    measured_free(&empty);
    diag_fini(&d);
    return 0;
}
