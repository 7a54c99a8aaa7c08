/*
 * Hostile cost files and tables of measurements for the PTO cost model. The first byte of the input
 * is where the cost file ends and the table begins, in parts of 255. Every cost must stay finite
 * and not negative, and what a calibration writes must be read back.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text/text.h"
#include "kernels/pto/cost/calibrate.h"
#include "kernels/pto/testing_cost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct pto_costs *costs, const struct pto_measures *table)
{
    for (size_t i = 0; i < table->rows.n; i++) {
        struct pto_cost cost = pto_cost_of(costs, &table->rows.at[i].work);
        if (!isfinite(cost.occupied) || !isfinite(cost.latency) || cost.occupied < 0 ||
            cost.latency < 0 || pto_cost_cycles(cost) < 0)
            abort();
    }
}

static void refit(struct pto_costs *costs, const struct pto_measures *table, struct diag *diag)
{
    struct pto_calibration cal = {0};
    struct text file = {0};

    pto_calibrate(costs, table, &cal);
    if (!pto_calibration_write(&cal, text_sink(&file)) ||
        pto_costs_read(costs, (struct str){file.at, file.n}, "refit", diag) != ST_OK)
        abort();
    check(costs, table);
    text_free(&file);
    pto_calibration_free(&cal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *text = (const char *)data + 1;
    size_t cut = (size - 1) * data[0] / 255;
    struct pto_costs *costs = pto_costs_new();
    struct pto_measures table = {0};
    struct diag diag;

    diag_init(&diag);
    (void)pto_costs_read(costs, (struct str){text, cut}, "costs", &diag);
    (void)pto_measures_read(&table, (struct str){text + cut, size - 1 - cut}, "table", &diag);
    check(costs, &table);
    refit(costs, &table, &diag);
    pto_measures_free(&table);
    pto_costs_free(costs);
    diag_fini(&diag);
    return 0;
}
