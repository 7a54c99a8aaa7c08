/*
 * draw: bars end at an eighth of a column, series have eight heights.
 */
#include "render/draw.h"

enum { EIGHTHS = 8 };

void draw_bar(struct text *to, double share, size_t width, bool is_ascii)
{
    static const char *const parts[EIGHTHS] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const size_t unit = is_ascii ? 1 : EIGHTHS;
    double length = share * (double)(width * unit) + 0.5;
    size_t n = length < (double)(width * unit) ? length > 0 ? (size_t)length : 0 : width * unit;

    for (size_t i = 0; i < n / unit; i++)
        text_put(to, is_ascii ? S("#") : S("█"));
    if (!is_ascii)
        text_put(to, str_of(parts[n % unit]));
}

void draw_series(struct text *to, const double *at, size_t n, size_t width, bool is_ascii)
{
    static const char *const blocks[EIGHTHS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[EIGHTHS] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    size_t columns = n < width ? n : width;
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = at[i] > most ? at[i] : most;
    for (size_t c = 0; c < columns; c++) {
        double top = 0;
        for (size_t i = c * n / columns; i < (c + 1) * n / columns; i++)
            top = at[i] > top ? at[i] : top;
        size_t height = most > 0 ? (size_t)(top / most * (EIGHTHS - 1) + 0.5) : 0;
        text_put(to, str_of(is_ascii ? signs[height] : blocks[height]));
    }
}
