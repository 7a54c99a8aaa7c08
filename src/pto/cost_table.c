/*
 * The fitted A2/A3 table: cycles for each element and fixed, by operation, element
 * type and columns.
 */
#include "pto/cost_data.h"

#include "base/csv.h"
#include "base/num.h"

/* "any" is 0 in both places. */
static uint64_t key_of(enum pto_opcode op, enum pto_dtype t, uint64_t cols)
{
    return cols << 32 | (uint64_t)op << 8 | (uint64_t)t;
}

static bool read_row(const struct csv *csv, const int column[], uint64_t *key, struct pto_fit *fit)
{
    enum pto_dtype t = PTO_NO_DTYPE;
    uint64_t cols = 0;
    enum pto_opcode op = pto_cost_op(csv_cell(csv, column[0]));
    struct str type = csv_cell(csv, column[1]), width = csv_cell(csv, column[2]);

    if (op == PTO_OP_NONE || (!str_equal(type, S("any")) && !pto_dtype_find(type, &t)) ||
        (!str_equal(width, S("any")) && !num_u64(width, &cols)) || cols > INT32_MAX)
        return false;
    *key = key_of(op, t, cols);
    return num_f64(csv_cell(csv, column[3]), &fit->per_element) &&
           num_f64(csv_cell(csv, column[4]), &fit->fixed);
}

bool pto_table_load(struct pto_costs *c, struct str text)
{
    struct csv csv;
    uint64_t key;
    struct pto_fit fit;

    csv_open(&csv, text);
    const int column[] = {csv_column(&csv, S("op")), csv_column(&csv, S("dtype")),
                          csv_column(&csv, S("cols")), csv_column(&csv, S("cycles_per_element")),
                          csv_column(&csv, S("fixed_cycles"))};
    while (csv_next(&csv)) {
        if (!read_row(&csv, column, &key, &fit))
            return false;
        hash_put(&c->fit_index, key, (uint32_t)c->fits.n);
        vec_push(&c->fits, fit);
    }
    return true;
}

bool pto_table_find(const struct pto_costs *c, const struct pto_work *w, struct pto_fit *out)
{
    const struct {
        enum pto_dtype dtype;
        int32_t cols;
    } tries[] = {{w->src_dtype, w->v_col}, {w->src_dtype, 0}, {0, w->v_col}, {0, 0}};
    uint32_t at;

    if (w->arch != PTO_A2A3 || (w->v_col < w->cols && w->v_row > 1) || w->form != PTO_FORM_PLAIN ||
        (w->src_dtype != PTO_F32 && w->src_dtype != PTO_F16))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        if (hash_get(&c->fit_index, key_of(w->op, tries[i].dtype, (uint64_t)tries[i].cols), &at)) {
            *out = c->fits.at[at];
            return true;
        }
    }
    return false;
}
