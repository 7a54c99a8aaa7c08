/* columns PATH - the time of all kernels by name, summed up over columns of SQL without a copy. */
#include <stdio.h>
#include <strata/strata.h>

static const char *const statement =
    "SELECT name, count(*) AS launches, sum(dur) AS ns FROM kernels GROUP BY name ORDER BY ns DESC";

static int print_rows(const struct strata_result *r)
{
    struct strata_column name, launches, ns;
    int64_t total = 0;

    if (strata_column_get(r, 0, &name) || strata_column_get(r, 1, &launches) ||
        strata_column_get(r, 2, &ns))
        return 1;
    for (uint64_t i = 0; i < strata_row_count(r); i++) {
        const char *text = (const char *)name.values + name.offsets[i];
        int n = (int)(name.offsets[i + 1] - name.offsets[i]);
        total += ((const int64_t *)ns.values)[i];
        printf("%10.3f ms %6lld  %.*s\n", (double)((const int64_t *)ns.values)[i] / 1e6,
               (long long)((const int64_t *)launches.values)[i], n < 60 ? n : 60, text);
    }
    printf("%10.3f ms in all\n", (double)total / 1e6);
    return 0;
}

int main(int argc, char **argv)
{
    struct strata_capture *run = NULL;
    struct strata_result *r = NULL;
    int code = 1;

    if (strata_open(argc > 1 ? argv[1] : "", NULL, &run) != STRATA_OK)
        printf("no answer: %s\n", strata_result_error(strata_capture_opened(run)));
    else if (strata_query(run, statement, 10, &r) != STRATA_OK)
        printf("no answer: %s\n", strata_result_error(r));
    else
        code = print_rows(r);
    strata_result_free(r);
    strata_close(run);
    return code;
}
