/*
 * The table of chips.
 */
#include "kernels/pto/cost/chips.h"

#include "base/files/embedded.h"
#include "base/formats/csv.h"
#include "base/text/num.h"

static void read_chip(const struct csv *csv, struct pto_chip *c)
{
    int64_t aic = 0;

    *c = (struct pto_chip){
        .name = csv_cell(csv, csv_column(csv, S("chip"))),
        .arch = str_equal(csv_cell(csv, csv_column(csv, S("arch"))), S("a5")) ? PTO_A5 : PTO_A2A3};
    num_i64(csv_cell(csv, csv_column(csv, S("aic"))), &aic);
    num_f64(csv_cell(csv, csv_column(csv, S("clock_mhz"))), &c->mhz);
    num_f64(csv_cell(csv, csv_column(csv, S("trace_mhz"))), &c->trace_mhz);
    c->aic = (int32_t)aic;
}

enum status pto_chip_find(struct str name, enum pto_arch arch, struct pto_chip *out, struct diag *d)
{
    struct csv *csv = mem_grow(NULL, sizeof(*csv), 1);
    struct str text = embedded_file("pto/chips.csv");
    bool is_found = false;

    csv_open(csv, text);
    while (!is_found && csv_next(csv)) {
        read_chip(csv, out);
        struct str bare = out->name; /* without the brand, which may be left out */
        (void)str_skip(&bare, S("Ascend"));
        is_found = name.n > 0 ? str_equal_nocase(out->name, name) || str_equal_nocase(bare, name)
                              : out->arch == arch;
    }
    if (!is_found) {
        struct pto_chip known;
        (void)diag_fail(d, ST_NOT_FOUND, "pto-sim.chip", (struct where){0}, "no chip is named %.*s",
                        STR_ARGS(name));
        csv_open(csv, text);
        while (csv_next(csv)) {
            read_chip(csv, &known);
            diag_hint(d, "try", "--chip %.*s", STR_ARGS(known.name));
        }
    }
    mem_free(csv);
    return is_found ? ST_OK : ST_NOT_FOUND;
}
