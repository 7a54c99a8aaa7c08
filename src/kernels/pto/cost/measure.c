/*
 * Tables of measured cycles.
 */
#include "kernels/pto/cost/measure.h"

#include <stdio.h>

#include "base/formats/csv.h"
#include "base/text/char.h"
#include "base/text/num.h"

enum measure_column {
    OP,
    DTYPE,
    ROWS,
    COLS,
    CYCLES,
    NEEDED,
    ARCH = NEEDED,
    DST_DTYPE,
    VALID_ROWS,
    VALID_COLS,
    PRECISION,
    M,
    K,
    N,
    FROM,
    TO,
    BYTES,
    COLUMNS,
};

static const struct str names[COLUMNS] = {
    [OP] = S_INIT("op"),
    [DTYPE] = S_INIT("dtype"),
    [ROWS] = S_INIT("rows"),
    [COLS] = S_INIT("cols"),
    [CYCLES] = S_INIT("cycles"),
    [ARCH] = S_INIT("arch"),
    [DST_DTYPE] = S_INIT("dst_dtype"),
    [VALID_ROWS] = S_INIT("valid_rows"),
    [VALID_COLS] = S_INIT("valid_cols"),
    [PRECISION] = S_INIT("precision"),
    [M] = S_INIT("m"),
    [K] = S_INIT("k"),
    [N] = S_INIT("n"),
    [FROM] = S_INIT("from"),
    [TO] = S_INIT("to"),
    [BYTES] = S_INIT("bytes"),
};

/* As the text of a kernel has it, or any profiler and library. */
static bool read_type(struct str text, enum pto_dtype *t)
{
    if (pto_dtype_find(text, t))
        return true;
    *t = pto_dtype_of(dtype_of(text));
    return *t != PTO_NO_DTYPE;
}

static enum pto_opcode read_op(struct str text)
{
    char name[64];
    struct str bare = str_starts_nocase(text, S("pto.")) ? str_part(text, 4, text.n) : text;
    int n = snprintf(name, sizeof(name), "pto.%.*s", STR_ARGS(bare));

    if (n < 0 || (size_t)n >= sizeof(name))
        return PTO_OP_NONE;
    for (char *p = name; *p != '\0'; p++)
        *p = char_lower(*p);
    return pto_op_find(str_of(name));
}

/* A cell with a whole number from 0; an absent or empty one leaves `out` alone. */
static bool read_count(struct str text, int64_t most, int64_t *out)
{
    int64_t value;

    if (num_is_missing(text))
        return true;
    if (!num_i64(text, &value) || value < 0 || value > most)
        return false;
    *out = value;
    return true;
}

static bool read_size(struct str text, int32_t *out)
{
    int64_t value = *out;

    if (!read_count(text, 1 << 24, &value))
        return false;
    *out = (int32_t)value;
    return true;
}

static bool read_arch(struct str text, enum pto_arch *arch)
{
    if (text.n == 0 || str_equal_nocase(text, S("a2a3")) || str_equal_nocase(text, S("a3")))
        *arch = PTO_A2A3;
    else if (str_equal_nocase(text, S("a5")))
        *arch = PTO_A5;
    else
        return false;
    return true;
}

static bool read_transfer(const struct str cell[], struct pto_work *w)
{
    if (cell[FROM].n == 0 && cell[TO].n == 0)
        return true;
    return pto_space_find(cell[FROM], &w->src_space) && pto_space_find(cell[TO], &w->dst_space) &&
           read_count(cell[BYTES], (int64_t)1 << 40, &w->bytes) && w->bytes > 0;
}

/* NULL, or what is wrong with the row. */
static const char *read_row(const struct str cell[], struct pto_measure *row)
{
    struct pto_work *w = &row->work;

    if ((w->op = read_op(cell[OP])) == PTO_OP_NONE)
        return "op is not an operation of the tile layer";
    if (!read_type(cell[DTYPE], &w->src_dtype))
        return "dtype is not an element type";
    if (num_is_missing(cell[DST_DTYPE]))
        w->dst_dtype = w->src_dtype;
    else if (!read_type(cell[DST_DTYPE], &w->dst_dtype))
        return "dst_dtype is not an element type";
    if (!read_arch(cell[ARCH], &w->arch))
        return "arch is neither a2a3 nor a5";
    if (!read_size(cell[ROWS], &w->rows) || !read_size(cell[COLS], &w->cols) ||
        !read_size(cell[VALID_ROWS], &w->v_row) || !read_size(cell[VALID_COLS], &w->v_col) ||
        !read_size(cell[M], &w->m) || !read_size(cell[K], &w->k) || !read_size(cell[N], &w->n))
        return "a size is not a whole number from 0 to 16777216";
    if (w->v_row == 0)
        w->v_row = w->rows;
    if (w->v_col == 0)
        w->v_col = w->cols;
    if (w->v_row > w->rows || w->v_col > w->cols)
        return "the valid part is larger than the tile";
    if (!read_transfer(cell, w))
        return "from, to and bytes do not name a transfer";
    w->is_high_precision = str_starts_nocase(cell[PRECISION], S("high"));
    if (!num_f64(cell[CYCLES], &row->cycles) || row->cycles <= 0 || row->cycles > 1e12)
        return "cycles is not a number above 0";
    return NULL;
}

enum status pto_measures_read(struct pto_measures *m, struct str text, const char *path,
                              struct diag *diag)
{
    struct csv csv;
    int column[COLUMNS];
    struct str cell[COLUMNS];

    csv_open(&csv, text);
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = csv_column(&csv, names[i]);
        if (i < NEEDED && column[i] < 0)
            return diag_fail(
                diag, ST_FORMAT, "pto-measure.no-column", (struct where){.path = path, .line = 1},
                "no column %s: measurements need op, dtype, rows, cols, cycles", names[i].at);
    }
    while (csv_next(&csv)) {
        struct pto_measure row = {.line = csv.line, .work.pipe = PTO_PIPE_V};
        for (int i = 0; i < COLUMNS; i++)
            cell[i] = str_trim(csv_cell(&csv, column[i]));
        const char *problem = read_row(cell, &row);
        if (problem == NULL) {
            vec_push(&m->rows, row);
            continue;
        }
        m->lost++;
        diag_add(diag, SEV_LOSS, "pto-measure.bad-row",
                 (struct where){.path = path, .line = csv.line}, "row skipped: %s", problem);
    }
    if (m->rows.n == 0)
        return diag_fail(diag, ST_FORMAT, "pto-measure.nothing", (struct where){.path = path},
                         "no row is a measurement");
    return ST_OK;
}

void pto_measures_free(struct pto_measures *m)
{
    vec_free(&m->rows);
    m->lost = 0;
}
