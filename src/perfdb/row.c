#include "perfdb/row.h"

bool row_is_duration(struct str cell)
{
    double value;

    return cell_number(cell, &value) && value > 0;
}

bool row_logical(struct arena *arena, struct cell_dims dims, struct str format,
                 struct cell_dims *out)
{
    *out = dims;
    if (!str_equal(format, S("FRACTAL_NZ")))
        return true;
    if (dims.n != 4)
        return false;
    *out = (struct cell_dims){ARENA_ARRAY(arena, int64_t, 2), 2};
    return !__builtin_mul_overflow(dims.at[1], dims.at[2], &out->at[0]) &&
           !__builtin_mul_overflow(dims.at[0], dims.at[3], &out->at[1]);
}
