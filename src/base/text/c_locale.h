/*
 * c_locale - numbers with a decimal point, whatever locale the program around us has set.
 *
 * The printf family asks the thread's locale for the sign between whole and part. The library's
 * doors and the threads of the pool set the C locale for themselves, so that no output depends on
 * the host program; strata the program never sets another.
 */
#ifndef STRATA_BASE_TEXT_C_LOCALE_H
#define STRATA_BASE_TEXT_C_LOCALE_H

#include <locale.h>

/* A constant inside the C library: asking for it neither allocates nor races. */
static inline locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Sets it for this thread; returns what to hand to c_locale_end(). */
static inline locale_t c_locale_begin(void)
{
    return uselocale(c_locale());
}

static inline void c_locale_end(locale_t before)
{
    uselocale(before);
}

#endif
