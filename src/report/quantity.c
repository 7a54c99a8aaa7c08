/* How each unit is printed. */
#include "report/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What rounds to zero has no sign. */
static size_t fixed(char *buf, int digits, double value)
{
    size_t n = (size_t)snprintf(buf, QUANTITY_TEXT, "%.*f", digits, value);

    if (buf[0] != '-' || strspn(buf + 1, "0.") < n - 1)
        return n;
    memmove(buf, buf + 1, n);
    return n - 1;
}

/* At least four significant digits from 1 on, at most three decimals; zero is "0.000". */
static size_t significant(char *buf, double value)
{
    double size = fabs(value);
    int digits = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;

    return fixed(buf, digits, value);
}

size_t quantity_number(char *buf, struct quantity q)
{
    if (!isfinite(q.value))
        return (size_t)snprintf(buf, QUANTITY_TEXT, "-");
    if (fabs(q.value) >= 1e21)
        return (size_t)snprintf(buf, QUANTITY_TEXT, "%.3e", q.value);
    switch (q.unit) {
    case UNIT_COUNT:
    case UNIT_BYTES:
        return fixed(buf, 0, q.value);
    case UNIT_MS:
        return significant(buf, q.value / 1e6);
    case UNIT_US:
        return significant(buf, q.value / 1e3);
    case UNIT_RATIO:
        return fixed(buf, 1, q.value * 100);
    case UNIT_NS:
    case UNIT_PLAIN:
        break;
    }
    return significant(buf, q.value);
}

/* The largest unit that leaves at least one digit before the point. */
static const char *scale(double *value, const char *const *names, size_t n)
{
    size_t i = 0;

    while (i + 1 < n && fabs(*value) >= 1000) {
        *value /= 1000;
        i++;
    }
    return names[i];
}

size_t quantity_print(char *buf, struct quantity q)
{
    static const char *const times[] = {"ns", "us", "ms", "s"};
    static const char *const sizes[] = {"B", "KB", "MB", "GB", "TB"};
    char number[QUANTITY_TEXT];
    const char *unit = "";

    if (q.unit == UNIT_NS) {
        unit = scale(&q.value, times, ARRAY_LEN(times));
    } else if (q.unit == UNIT_BYTES) {
        unit = scale(&q.value, sizes, ARRAY_LEN(sizes));
        q.unit = unit == sizes[0] ? UNIT_COUNT : UNIT_PLAIN;
    } else if (q.unit == UNIT_MS || q.unit == UNIT_US) {
        unit = q.unit == UNIT_MS ? "ms" : "us";
    } else if (q.unit == UNIT_RATIO) {
        unit = "%";
    }
    quantity_number(number, q);
    return (size_t)snprintf(buf, QUANTITY_TEXT, "%s%s%s", number, *unit != '\0' ? " " : "", unit);
}

const char *quantity_text(struct arena *arena, double value, enum unit unit)
{
    char buf[QUANTITY_TEXT];
    size_t n = quantity_print(buf, (struct quantity){value, unit});

    return arena_cstr(arena, (struct str){buf, n});
}
