/*
 * Cells of a table turned into operands. See measure_job.h.
 */
#include "opdb/measure/measure_job.h"

#include "opdb/grid/grid_gen.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

static struct str slot_at(struct cell_slots slots, size_t i)
{
    return i < slots.n ? slots.at[i] : (struct str){"", 0};
}

static bool is_absent(struct str type)
{
    return str_equal(type, S("DT_UNDEFINED")) || str_equal(type, S("UNDEFINED")) ||
           str_equal(type, S("NULL"));
}

/* Slots of one side of a row; how many there are. */
static size_t read_slots(struct arena *arena, struct str shapes, struct str types,
                         struct str formats, struct op_slot *out, size_t most)
{
    struct cell_slots shape = cell_slots(arena, shapes), type = cell_slots(arena, types);
    struct cell_slots format = cell_slots(arena, formats);
    size_t n = shape.n < most ? shape.n : most;

    for (size_t i = 0; i < n; i++) {
        struct str name = slot_at(type, i), text = cell_shape(arena, shape.at[i]);
        struct cell_dims dims = {0};
        struct op_slot *slot = &out[i];
        *slot = (struct op_slot){0};
        if (text.n == 0 || is_absent(name) || is_absent(text))
            continue;
        slot->is_given = true;
        slot->t.dtype = name.n > 0 ? tensor_dtype_of(name) : DTYPE_F32;
        slot->is_unknown =
            slot->t.dtype == DTYPE_NONE || !cell_dims(arena, text, &dims) || dims.n > TENSOR_RANK;
        slot->is_nz = str_equal(slot_at(format, i), S("FRACTAL_NZ"));
        slot->t.rank = slot->is_unknown ? 0 : dims.n;
        for (size_t k = 0; k < slot->t.rank; k++)
            slot->t.dim[k] = dims.at[k];
    }
    return n;
}

static struct str cell_of(const struct op_table *t, size_t row, struct str column)
{
    return cell_bare(table_cell(t, row, table_column(t, column)));
}

static int64_t row_number_of(const struct op_table *t, size_t row, struct str column)
{
    int64_t value;

    return cell_i64(cell_of(t, row, column), &value) && value >= 0 ? value : -1;
}

/* "1,2,3" or "1;2;3"; nothing when it is no list of numbers. */
static struct op_list row_list_of(struct arena *arena, const struct op_table *t, size_t row,
                                  struct str column)
{
    struct str rest = cell_of(t, row, column), part;
    int64_t *at = ARENA_ARRAY(arena, int64_t, rest.n / 2 + 1);
    char separator = str_contains(rest, S(";")) ? ';' : ',';
    size_t n = 0;

    if (rest.n == 0)
        return (struct op_list){0};
    while (str_split(&rest, separator, &part))
        if (!cell_i64(part, &at[n++]))
            return (struct op_list){0};
    return (struct op_list){at, n};
}

void measure_db_row(struct arena *arena, const struct op_table *t, size_t row, struct op_row *out)
{
    struct str raw = cell_of(t, row, GRID_COL_RAW_SHAPES);
    struct str shapes = raw.n > 0 ? raw : cell_of(t, row, COL_INPUT_SHAPES);

    *out = (struct op_row){0};
    out->n_in = read_slots(arena, shapes, cell_of(t, row, COL_INPUT_DTYPES),
                           cell_of(t, row, COL_INPUT_FORMATS), out->in, OP_SLOTS);
    out->n_out = read_slots(arena, cell_of(t, row, COL_OUTPUT_SHAPES),
                            cell_of(t, row, COL_OUTPUT_DTYPES), S(""), out->out, OP_OUTPUTS);
    out->runtime = (struct op_runtime){
        .heads = row_number_of(t, row, column_runtime[RT_NUM_HEADS]),
        .kv_heads = row_number_of(t, row, column_runtime[RT_NUM_KV_HEADS]),
        .sparse_mode = row_number_of(t, row, column_runtime[RT_SPARSE_MODE]),
        .block_size = row_number_of(t, row, column_runtime[RT_BLOCK_SIZE]),
        .ep_size = row_number_of(t, row, COL_EP_SIZE),
        .layout = arena_str(arena, cell_of(t, row, column_runtime[RT_INPUT_LAYOUT])),
        .query = row_list_of(arena, t, row, column_runtime[RT_SEQ_VALUES]),
        .kv = row_list_of(arena, t, row, column_runtime[RT_SEQ_KV_VALUES]),
        .valid_blocks = row_list_of(arena, t, row, column_runtime[RT_VALID_BLOCKS]),
    };
}
