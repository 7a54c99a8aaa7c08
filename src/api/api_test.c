#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing_locale.h"
#include "strata/strata.h"

static char path[] = "/tmp/strata-api-XXXXXX";
static char out[sizeof(path) + 4];

/* Two kernels of 1 ms with 8 ms between them: one heavy internal bubble. */
static int write_table(void **state)
{
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");

    (void)state;
    fputs("Name,Start Time(us),Duration(us)\nAdd,1000,1000\nMul,10000,1000\n", f);
    snprintf(out, sizeof(out), "%s.txt", path);
    return fclose(f);
}

static int remove_table(void **state)
{
    (void)state;
    remove(out);
    return remove(path);
}

TEST(a_capture_is_loaded_analysed_and_rendered)
{
    struct strata *s = strata_new();
    struct strata_report *r;
    struct strata_finding f;
    char line[256] = "";

    assert_int_equal(strata_load(s, path, NULL), STRATA_OK);
    assert_string_equal(strata_error(s), "");
    assert_int_equal(strata_analyze(s, "anomaly", &r), STRATA_OK);
    strata_free(s); /* the report outlives it */
    assert_int_equal(strata_finding_count(r), 1);
    assert_int_equal(strata_finding_get(r, 0, &f), STRATA_OK);
    assert_string_equal(f.id, "INTERNAL_BUBBLE_HEAVY");
    assert_string_equal(f.subject, "pseudo");
    assert_non_null(strstr(f.fact, "8.000 ms idle between kernels, at 1.000 ms"));
    assert_int_equal(strata_finding_get(r, 1, &f), STRATA_NOT_FOUND);
    assert_int_equal(strata_render(r, "text", out), STRATA_OK);
    strata_report_free(r);

    FILE *file = fopen(out, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_non_null(strstr(line, "1 pseudo-step · 2 kernels and copies · 1 stream"));
}

TEST(the_locale_of_the_program_around_is_not_seen)
{
    struct strata *s = strata_new();
    struct strata_report *r;
    struct strata_finding f;

    locale_comma_begin();
    assert_int_equal(strata_load(s, path, NULL), STRATA_OK);
    assert_int_equal(strata_analyze(s, "anomaly", &r), STRATA_OK);
    assert_string_equal(localeconv()->decimal_point, ","); /* and it is left as it was */
    locale_comma_end();
    assert_int_equal(strata_finding_get(r, 0, &f), STRATA_OK);
    assert_non_null(strstr(f.fact, "8.000 ms idle"));
    strata_report_free(r);
    strata_free(s);
}

TEST(failures_tell_their_story)
{
    struct strata *s = strata_new();
    struct strata_report *r;

    assert_int_equal(strata_analyze(s, "anomaly", &r), STRATA_USAGE);
    assert_null(r);
    assert_int_equal(strata_load(s, "/nowhere/at/all", NULL), STRATA_NOT_FOUND);
    assert_non_null(strstr(strata_error(s), "/nowhere/at/all: "));
    assert_non_null(strstr(strata_error(s), "[file.missing]"));
    assert_int_equal(strata_load(s, path, NULL), STRATA_OK);
    assert_string_equal(strata_error(s), "");
    assert_int_equal(strata_analyze(s, "astrology", &r), STRATA_NOT_FOUND);
    strata_free(s);
}

/* No launch of the two kernels is recorded. */
TEST(a_diagnosis_outlives_what_was_loaded)
{
    struct strata *s = strata_new();
    struct strata_diagnosis *d;
    struct strata_cause c;

    assert_int_equal(strata_diagnose(s, &d), STRATA_USAGE);
    assert_null(d);
    assert_int_equal(strata_load(s, path, NULL), STRATA_OK);
    assert_int_equal(strata_diagnose(s, &d), STRATA_OK);
    strata_free(s);
    assert_non_null(strstr(strata_verdict(d, &c), "idle (cause unknown) takes 80.0 %"));
    assert_string_equal(c.id, "unknown");
    assert_string_equal(c.confidence, "unknown");
    assert_int_equal(strata_cause_count(d), 0);
    assert_int_equal(strata_cause_get(d, 0, &c), STRATA_NOT_FOUND);
    assert_int_equal(strata_cause_get(NULL, 0, &c), STRATA_USAGE);
    strata_diagnosis_free(d);
    strata_diagnosis_free(NULL);
}

TEST(null_arguments_are_refused_and_freed)
{
    struct strata *s = strata_new();
    struct strata_finding f;

    assert_int_equal(strata_load(NULL, path, NULL), STRATA_USAGE);
    assert_int_equal(strata_load(s, NULL, NULL), STRATA_USAGE);
    assert_int_equal(strata_analyze(s, NULL, NULL), STRATA_USAGE);
    assert_int_equal(strata_render(NULL, "text", "x"), STRATA_USAGE);
    assert_int_equal(strata_finding_get(NULL, 0, &f), STRATA_USAGE);
    assert_int_equal(strata_finding_count(NULL), 0);
    strata_free(s);
    strata_free(NULL);
    strata_report_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_capture_is_loaded_analysed_and_rendered),
        T(the_locale_of_the_program_around_is_not_seen),
        T(failures_tell_their_story),
        T(a_diagnosis_outlives_what_was_loaded),
        T(null_arguments_are_refused_and_freed),
    };

    return cmocka_run_group_tests_name("api/api", tests, write_table, remove_table);
}
