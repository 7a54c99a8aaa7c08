#include "perfdb/grid_memory.h"

#include "base/num.h"
#include "perfdb/cell.h"

static const struct {
    struct str name;
    int64_t bytes;
} dtypes[] = {
    {S_INIT("DT_FLOAT"), 4},       {S_INIT("DT_FLOAT16"), 2},     {S_INIT("DT_BF16"), 2},
    {S_INIT("DT_BFLOAT16"), 2},    {S_INIT("DT_FLOAT32"), 4},     {S_INIT("DT_FLOAT64"), 8},
    {S_INIT("DT_DOUBLE"), 8},      {S_INIT("DT_INT8"), 1},        {S_INIT("DT_INT16"), 2},
    {S_INIT("DT_INT32"), 4},       {S_INIT("DT_INT64"), 8},       {S_INIT("DT_UINT8"), 1},
    {S_INIT("DT_UINT16"), 2},      {S_INIT("DT_UINT32"), 4},      {S_INIT("DT_UINT64"), 8},
    {S_INIT("DT_BOOL"), 1},        {S_INIT("DT_COMPLEX64"), 8},   {S_INIT("DT_COMPLEX128"), 16},
    {S_INIT("DT_FLOAT8_E4M3"), 1}, {S_INIT("DT_FLOAT8_E5M2"), 1}, {S_INIT("DT_FLOAT8"), 1},
    {S_INIT("FLOAT"), 4},          {S_INIT("INT8"), 1},           {S_INIT("INT16"), 2},
    {S_INIT("INT32"), 4},          {S_INIT("INT64"), 8},          {S_INIT("UINT8"), 1},
    {S_INIT("BOOL"), 1},
};

enum { OTHER_BYTES = 2 };

int64_t grid_dtype_bytes(struct str dtype)
{
    dtype = str_trim(dtype);
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++)
        if (str_equal_nocase(dtypes[i].name, dtype))
            return dtypes[i].bytes;
    return OTHER_BYTES;
}

static bool is_gap(char c)
{
    return c == ';' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct grid_texts grid_dtype_list(struct arena *arena, struct str cell)
{
    struct grid_texts out = {.at = ARENA_ARRAY(arena, struct str, cell.n / 2 + 1)};

    cell = cell_bare(cell);
    for (size_t i = 0; i < cell.n;) {
        size_t from = i;
        while (i < cell.n && !is_gap(cell.at[i]))
            i++;
        if (i > from)
            out.at[out.n++] = str_part(cell, from, i - from);
        i++;
    }
    return out;
}

/* Both clamp at the ends instead of wrapping. */
static int64_t multiply(int64_t a, int64_t b)
{
    int64_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    return product;
}

int64_t grid_memory_add(int64_t a, int64_t b)
{
    return nanos_add(a, b);
}

static int64_t elements(struct grid_shape shape)
{
    int64_t product = 1;

    for (size_t i = 0; i < shape.n; i++)
        if (shape.dim[i] == 0)
            return 0;
    for (size_t i = 0; i < shape.n; i++)
        product = multiply(product, shape.dim[i]);
    return product;
}

int64_t grid_memory_bytes(struct grid_shapes shapes, struct grid_texts types)
{
    int64_t sum = 0;

    for (size_t i = 0; i < shapes.n; i++) {
        if (shapes.at[i].n == 0)
            continue;
        int64_t size = i < types.n ? grid_dtype_bytes(types.at[i]) : OTHER_BYTES;
        sum = grid_memory_add(sum, multiply(elements(shapes.at[i]), size));
    }
    return sum;
}

struct str grid_memory_text(struct arena *arena, int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int power = 0;

    while (power < 3 && bytes >= (int64_t)1 << (10 * (power + 1)))
        power++;
    if (power == 0)
        return arena_format(arena, "%lld B", (long long)bytes);
    return arena_format(arena, "%.2f %s", (double)bytes / (double)((int64_t)1 << (10 * power)),
                        units[power - 1]);
}
