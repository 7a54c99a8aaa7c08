/*
 * Free rows in a tree of least end times.
 */
#include "kernels/incore/rows.h"

#include <math.h>

#include "base/tables/vec.h"

enum { CAP_KEPT = 64 }; /* a larger tree is not cleared again for each small pipe */

static void rows_grow(struct incore_rows *rows)
{
    uint32_t cap = rows->cap == 0 ? 8 : rows->cap * 2;
    double *least = mem_grow(NULL, sizeof(*least), (size_t)cap * 2);

    for (uint32_t i = 0; i < cap; i++)
        least[cap + i] = i < rows->n ? rows->least[rows->cap + i] : HUGE_VAL;
    for (uint32_t i = cap - 1; i > 0; i--)
        least[i] = least[2 * i] < least[2 * i + 1] ? least[2 * i] : least[2 * i + 1];
    mem_free(rows->least);
    rows->least = least;
    rows->cap = cap;
}

void incore_rows_begin(struct incore_rows *rows)
{
    if (rows->cap > CAP_KEPT)
        incore_rows_free(rows);
    if (rows->cap == 0)
        rows_grow(rows);
    for (uint32_t i = 0; i < rows->cap * 2; i++)
        rows->least[i] = HUGE_VAL;
    rows->n = 0;
}

void incore_rows_free(struct incore_rows *rows)
{
    mem_free(rows->least);
    *rows = (struct incore_rows){0};
}

uint32_t incore_rows_place(struct incore_rows *rows, double ts, double dur, double slack)
{
    double from = ts + slack;
    uint32_t node = 1;

    if (rows->n > 0 && rows->least[1] <= from) {
        while (node < rows->cap)
            node = rows->least[2 * node] <= from ? 2 * node : 2 * node + 1;
        if (node - rows->cap >= rows->n) /* only endless times get here */
            node = rows->cap + rows->n++;
    } else {
        if (rows->n == rows->cap)
            rows_grow(rows);
        node = rows->cap + rows->n++;
    }
    uint32_t row = node - rows->cap;
    rows->least[node] = ts + dur;
    for (node /= 2; node > 0; node /= 2) {
        double a = rows->least[2 * node], b = rows->least[2 * node + 1];
        rows->least[node] = a < b ? a : b;
    }
    return row;
}
