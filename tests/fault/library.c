/*
 * Uses the library like a program that has to live on: library CAPTURE KERNEL REPORT. What fails
 * for want of memory is done once more, with the same handles; exit code 3 says that it happened.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strata/strata.h"

static int report(struct strata *s, const char *capture, const char *path)
{
    struct strata_report *r = NULL;
    int code = strata_load(s, capture, NULL);

    if (code == STRATA_OK)
        code = strata_analyze(s, "anomaly", &r);
    if (code != STRATA_OK) {
        fprintf(stderr, "error: %s\n", strata_error(s));
        return code;
    }
    code = strata_render(r, "text", path);
    printf("%zu findings\n", strata_finding_count(r));
    strata_report_free(r);
    return code;
}

static int simulate(struct strata_pto *k, const char *path)
{
    static char text[65536];
    struct strata_pto_result result = {0};
    FILE *f = fopen(path, "re");

    if (f == NULL)
        return STRATA_MEMORY;
    size_t n = fread(text, 1, sizeof(text), f);
    fclose(f);
    int code = strata_pto_text(k, text, n, path);
    if (code == STRATA_OK)
        code = strata_pto_option(k, "blocks", "2");
    if (code == STRATA_OK)
        code = strata_pto_run(k, &result);
    if (code == STRATA_OK)
        printf("%lld cycles\n", (long long)result.cycles);
    else
        fprintf(stderr, "error: %s\n", strata_pto_error(k));
    return code;
}

/* Opens it and asks twice; the capture stays usable when a question fails. */
static int ask(const char *capture)
{
    static const char *const words[] = {"info", NULL};
    struct strata_capture *cap = NULL;
    struct strata_result *r = NULL;
    int code = strata_open(capture, NULL, &cap);

    if (code == STRATA_OK)
        code = strata_query(cap, "SELECT name, dur FROM kernels ORDER BY dur LIMIT 1", 0, &r);
    if (code == STRATA_OK)
        printf("%llu rows\n", (unsigned long long)strata_row_count(r));
    strata_result_free(r);
    if (code == STRATA_OK) {
        const struct strata_capture *const list[] = {cap};
        code = strata_ask(list, 1, words, STRATA_AS_VALUES, &r);
        if (code == STRATA_OK)
            printf("%s\n", strata_result_schema(r));
        strata_result_free(r);
    }
    strata_close(cap);
    return code;
}

int main(int argc, char **argv)
{
    static char buffer[4096];
    int failures = 0, code;

    if (argc != 4)
        return 2;
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer)); /* stdio would allocate one */
    struct strata *s = strata_new();
    struct strata_pto *k = strata_pto_new();
    while (s == NULL || k == NULL) {
        failures++;
        s = s != NULL ? s : strata_new();
        k = k != NULL ? k : strata_pto_new();
    }
    while ((code = report(s, argv[1], argv[3])) == STRATA_MEMORY)
        failures++;
    if (code == STRATA_OK)
        while ((code = simulate(k, argv[2])) == STRATA_MEMORY)
            failures++;
    if (code == STRATA_OK)
        while ((code = ask(argv[1])) == STRATA_MEMORY)
            failures++;
    strata_free(s);
    strata_pto_free(k);
    if (code != STRATA_OK)
        return 1;
    return failures > 0 ? 3 : 0;
}
