/*
 * pto_costs [--law] [--pure] - cycles that the cost model gives for each row of a table of
 * measurements on stdin, one a line.
 *
 * For tests/oracle/pto_cost.py. --law switches the fitted A2/A3 table off, --pure leaves the A5
 * curves as they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pto/cost/cost_data.h"
#include "kernels/pto/cost/measure.h"
#include "kernels/pto/testing_cost.h"

int main(int argc, char **argv)
{
    static char text[4 << 20];
    struct pto_costs *costs = pto_costs_new();
    struct pto_measures table = {0};
    struct diag diag;

    diag_init(&diag);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--law") == 0)
            costs->use_table = false;
        else if (strcmp(argv[i], "--pure") == 0 &&
                 pto_costs_read(costs, S("key,value\na5.vf.refine,0\n"), "pure", &diag) != ST_OK)
            return 5;
    }
    size_t n = fread(text, 1, sizeof(text), stdin);
    enum status st = pto_measures_read(&table, (struct str){text, n}, "stdin", &diag);
    if (st == ST_OK && table.lost == 0)
        for (size_t i = 0; i < table.rows.n; i++)
            printf("%lld\n",
                   (long long)pto_cost_cycles(pto_cost_of(costs, &table.rows.at[i].work)));
    bool is_good = st == ST_OK && table.lost == 0;
    pto_measures_free(&table);
    pto_costs_free(costs);
    diag_fini(&diag);
    return is_good ? EXIT_SUCCESS : 3;
}
