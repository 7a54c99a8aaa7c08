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

    return arena_format(arena, "%s%.*f" THIN "%%", share < 0 ? "−" : "", percent < 9.95 ? 1 : 0,
                        percent);
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
