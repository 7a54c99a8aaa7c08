/*
 * testing_locale - a locale with a decimal comma, made here, so that no test depends on what is
 * installed.
 *
 *     locale_comma_begin();   every number of libc has a comma now
 *     ...
 *     locale_comma_end();
 */
#ifndef STRATA_BASE_TESTING_LOCALE_H
#define STRATA_BASE_TESTING_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/testing.h"

static inline void locale_comma_begin(void)
{
    char folder[] = "/tmp/strata-locale-XXXXXX", text[256];

    assert_non_null(mkdtemp(folder));
    snprintf(text, sizeof(text), "%s/source", folder);
    FILE *f = fopen(text, "w");
    assert_non_null(f);
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3\nEND LC_NUMERIC\n", f);
    fclose(f);
    /* localedef comes with libc, its tables of characters with another package. */
    snprintf(text, sizeof(text), "%s/ascii", folder);
    f = fopen(text, "w");
    assert_non_null(f);
    fputs("<code_set_name> ASCII\n<escape_char> /\nCHARMAP\n", f);
    for (int c = 0; c < 128; c++)
        fprintf(f, "<U%04X> /x%02x\n", c, c);
    fputs("END CHARMAP\n", f);
    fclose(f);
    /* It exits with 1 for the categories that are not defined; those of C stand in for them. */
    snprintf(text, sizeof(text),
             "localedef -c --no-archive -f %s/ascii -i %s/source %s/comma 2>/dev/null", folder,
             folder, folder);
    assert_int_equal(WEXITSTATUS(system(text)), 1);
    setenv("LOCPATH", folder, 1);
    bool is_set = setlocale(LC_ALL, "comma") != NULL;
    unsetenv("LOCPATH");
    snprintf(text, sizeof(text), "rm -r %s", folder);
    assert_int_equal(system(text), 0);
    assert_true(is_set);
    assert_string_equal(localeconv()->decimal_point, ",");
}

static inline void locale_comma_end(void)
{
    setlocale(LC_ALL, "C");
}

#endif
