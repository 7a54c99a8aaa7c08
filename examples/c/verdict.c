/* verdict PATH - names what limits a run, then every cause with what it costs. */
#include <stdio.h>
#include <strata/strata.h>

static const char *const question[] = {"diagnose", NULL};

static void print_causes(const struct strata_value *causes)
{
    for (const struct strata_value *c = strata_value_first(causes); c; c = strata_value_next(c))
        printf("%-24s %8.3f ms  %s\n", strata_value_text(strata_value_get(c, "id")),
               strata_value_real(strata_value_get(c, "saving_ms")),
               strata_value_text(strata_value_get(c, "confidence")));
}

/* What a capture has is described: these are the fields of one cause, with their units. */
static void print_fields(const struct strata_result *r)
{
    struct strata_field f;

    for (size_t i = 0; strata_field_get(r, "causes", i, &f) == STRATA_OK; i++)
        if (f.unit[0] != '\0')
            printf("  %s is in %s\n", f.name, f.unit);
}

int main(int argc, char **argv)
{
    struct strata_capture *run = NULL;
    struct strata_result *r = NULL;
    int status = strata_open(argc > 1 ? argv[1] : "", NULL, &run);

    if (status != STRATA_OK) {
        printf("no answer: %s\n", strata_result_error(strata_capture_opened(run)));
        strata_close(run);
        return 1;
    }
    const struct strata_capture *const captures[] = {run};
    status = strata_ask(captures, 1, question, STRATA_AS_VALUES, &r);
    if (status == STRATA_OK) {
        const struct strata_value *found = strata_result_value(r);
        printf("%s\n", strata_value_text(strata_value_get(found, "verdict.text")));
        print_causes(strata_value_get(found, "causes"));
        print_fields(r);
    } else {
        printf("no answer: %s\n", strata_result_error(r));
    }
    strata_result_free(r);
    strata_close(run);
    return status != STRATA_OK;
}
