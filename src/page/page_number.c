/*
 * Numbers for people, in both languages alike.
 */
#include "page/page_number.h"

#include <math.h>

#define THIN "\u202f"

/* Digits behind the point that make three in all. */
static int decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

struct str page_time_text(struct arena *arena, double ns)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
    double size = fabs(ns);
    const char *sign = ns < 0 ? "−" : "";

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (size >= units[i].scale * 0.9995) {
            double v = size / units[i].scale;
            return arena_format(arena, "%s%.*f" THIN "%s", sign, decimals(v), v, units[i].unit);
        }
    return arena_format(arena, "%s%.0f" THIN "ns", sign, size);
}

struct str page_delta_text(struct arena *arena, double ns)
{
    struct str text = page_time_text(arena, ns);

    return ns > 0 ? arena_format(arena, "+%.*s", STR_ARGS(text)) : text;
}

struct str page_share_text(struct arena *arena, double share)
{
    double percent = fabs(share) * 100;

    return arena_format(arena, "%s%.*f" THIN "%%", share < 0 && percent >= 0.05 ? "−" : "",
                        percent < 9.95 ? 1 : 0, percent);
}

struct str page_count_text(struct arena *arena, uint64_t n)
{
    if (n >= 1000000)
        return arena_format(arena, "%.*f" THIN "M", decimals((double)n / 1e6), (double)n / 1e6);
    if (n >= 1000)
        return arena_format(arena, "%llu" THIN "%03llu", (unsigned long long)(n / 1000),
                            (unsigned long long)(n % 1000));
    return arena_format(arena, "%llu", (unsigned long long)n);
}

struct str page_scaled_text(struct arena *arena, double value, const char *unit)
{
    static const char *const steps[] = {"", "K", "M", "G", "T", "P"};
    double size = fabs(value);
    size_t k = 0;

    for (; size >= 999.5 && k + 1 < ARRAY_LEN(steps); k++)
        size /= 1000;
    return arena_format(arena, "%s%.*f" THIN "%s%s", value < 0 ? "−" : "",
                        size == floor(size) ? 0 : decimals(size), size, steps[k], unit);
}

struct str page_whole_text(struct arena *arena, double value)
{
    double left = floor(fabs(value) + 0.5);
    struct str text = S("");

    if (!(left < 1e15))
        return arena_format(arena, "%.3g", value);
    for (; left >= 1000; left = floor(left / 1000))
        text = arena_format(arena, THIN "%03.0f%.*s", fmod(left, 1000), STR_ARGS(text));
    return arena_format(arena, "%s%.0f%.*s", value <= -0.5 ? "−" : "", left, STR_ARGS(text));
}
