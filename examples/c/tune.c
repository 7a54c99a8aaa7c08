/* A program outside the tree that tunes a kernel: tune FILE NAME VALUE.. runs the PTO text in FILE
 * with each value for ${NAME} and prints the cycles. */
#include <stdio.h>
#include <stdlib.h>
#include <strata/strata.h>

int main(int argc, char **argv)
{
    struct strata_pto *kernel = strata_pto_new();
    size_t rows = argc > 3 ? (size_t)argc - 3 : 0;
    struct strata_pto_result *results = calloc(rows + 1, sizeof(*results));
    FILE *file = argc > 3 ? fopen(argv[1], "rb") : NULL;
    char *text = malloc(1 << 20);

    if (file == NULL || text == NULL || results == NULL)
        return 2;
    size_t n = fread(text, 1, 1 << 20, file);
    fclose(file);
    const char *name = argv[2];
    strata_pto_text(kernel, text, n, argv[1]);
    strata_pto_batch(kernel, &name, 1, (const char *const *)argv + 3, rows, results);
    for (size_t i = 0; i < rows; i++)
        printf("%s=%s: %lld cycles, %s\n", name, argv[3 + i], (long long)results[i].cycles,
               results[i].status == STRATA_OK ? results[i].bound : strata_pto_error(kernel));
    strata_pto_free(kernel);
    free(results);
    free(text);
    return 0;
}
