/*
 * fuzz_parquet - hostile Parquet files do no harm: every column of every row group is read, and has
 * as many values as its group has rows, or none.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/formats/parquet_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Looks at every value, so that a sanitizer sees those that are not there. */
static uint64_t look(const struct parquet_values *v)
{
    uint64_t sum = v->nulls;

    for (size_t i = 0; i < v->n; i++) {
        sum += parquet_has(v, i);
        if (v->kind == VALUES_INT)
            sum += (uint64_t)v->numbers[i];
        else if (v->kind == VALUES_REAL)
            sum += v->reals[i] > 0;
        else
            for (size_t k = 0; k < v->texts[i].n && k < 64; k++)
                sum += (uint8_t)v->texts[i].at[k];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static volatile uint64_t seen; /* keeps the reads */
    struct parquet_values values = {0};
    struct parquet p;
    struct diag d;
    char *copy = malloc(n > 0 ? n : 1);

    if (n > 0)
        memcpy(copy, data, n);
    diag_init(&d);
    if (parquet_open(&p, "fuzz", (struct str){copy, n}, &d) == ST_OK) {
        for (size_t g = 0; g < p.n_groups && g < 16; g++)
            for (size_t c = 0; c < p.n && c < 64; c++) {
                enum status st = parquet_read(&p, g, c, &values);
                if (values.n != (st == ST_OK ? p.groups[g].rows : 0))
                    abort();
                seen = seen + look(&values);
            }
        parquet_values_free(&values);
        parquet_close(&p);
    }
    diag_fini(&d);
    free(copy);
    return 0;
}
