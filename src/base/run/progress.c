/* The text of the line, and when it is due. */
#include "base/run/progress.h"

#include <stdio.h>

#include "base/tables/hash.h"
#include "base/text/inert.h"

static const nanos first_after = 300000000; /* shorter jobs stay silent */
static const nanos at_most_every = 100000000;

enum { NUMBERS_TEXT = 160, LABEL_MIN = 8, COLUMNS_DEFAULT = 80, COLUMNS_MAX = 256 };

/* Three significant digits, decimal units: "999 B", "1.20 GB", "34.5 k". */
static void print_amount(char *buf, size_t size, double value, enum progress_unit unit)
{
    static const char *const steps[2][7] = {{"", " k", " M", " G", " T", " P", " E"},
                                            {" B", " kB", " MB", " GB", " TB", " PB", " EB"}};
    size_t step = 0;

    /* 999.5 would be printed as 1000. */
    while (value >= 999.5 && step < 6) {
        value /= 1000;
        step++;
    }
    int decimals = step == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(buf, size, "%.*f%s", decimals, value, steps[unit][step]);
}

static size_t print_left(char *buf, size_t size, double seconds)
{
    unsigned long long s = seconds < 359999 ? (unsigned long long)(seconds + 0.5) : 359999;

    if (s < 60)
        return (size_t)snprintf(buf, size, "%llu s", s);
    if (s < 3600)
        return (size_t)snprintf(buf, size, "%llu:%02llu min", s / 60, s % 60);
    return (size_t)snprintf(buf, size, "%llu:%02llu h", s / 3600, s / 60 % 60);
}

/* Everything after the label. */
static size_t print_numbers(char *buf, struct progress_step step, nanos elapsed)
{
    const enum progress_unit unit = step.unit;
    const uint64_t done = step.done, total = step.total;
    char amount[32], of[40] = "", percent[16] = "", rate[40] = "", left[40] = "";
    char part[32];
    double seconds = (double)elapsed / 1e9;

    if (unit == PROGRESS_SECONDS)
        return print_left(buf, NUMBERS_TEXT, (double)done);
    print_amount(amount, sizeof(amount), (double)done, unit);
    if (total > 0) {
        print_amount(part, sizeof(part), (double)total, unit);
        snprintf(of, sizeof(of), " of %s", part);
        /* Rounded down: 100 % means done. A file that grew is not past its end. */
        double share = done < total ? (double)done / (double)total : 1;
        snprintf(percent, sizeof(percent), "  %d %%", (int)(share * 100));
    }
    if (seconds >= 0.1 && done > 0) {
        print_amount(part, sizeof(part), (double)done / seconds, unit);
        snprintf(rate, sizeof(rate), "  %s/s", part);
        if (total > done) {
            print_left(part, sizeof(part), seconds * (double)(total - done) / (double)done);
            snprintf(left, sizeof(left), "  %s left", part);
        }
    }
    return (size_t)snprintf(buf, NUMBERS_TEXT, "%s%s%s%s%s", amount, of, percent, rate, left);
}

/* Copies at most `width` columns. File names are part of labels and may hold escape sequences. */
static size_t copy_label(char *buf, const char *label, size_t width)
{
    struct str rest = str_of(label), piece;
    char escape[INERT_ESCAPE];
    size_t n = 0;

    while (inert_next(&rest, INERT_LINE, escape, &piece)) {
        struct str fits = str_fit(piece, width);
        memcpy(buf + n, fits.at, fits.n);
        n += fits.n;
        width -= str_width(fits);
        if (fits.n < piece.n)
            break;
    }
    return n;
}

size_t progress_format(char *buf, struct progress_step step, unsigned columns, nanos elapsed)
{
    char numbers[NUMBERS_TEXT];
    size_t numbers_n = print_numbers(numbers, step, elapsed);
    size_t width = columns == 0 ? COLUMNS_DEFAULT : columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
    size_t room = 0, n = 0;

    width--; /* the last column makes some terminals wrap */
    if (width >= numbers_n + 2 + LABEL_MIN)
        room = width - numbers_n - 2;
    /* PROGRESS_TEXT holds 80 characters of four bytes beside the numbers. */
    n = copy_label(buf, step.label, room < 80 ? room : 80);
    if (n > 0)
        n += (size_t)sprintf(buf + n, "  ");
    if (numbers_n > width)
        numbers_n = width;
    memcpy(buf + n, numbers, numbers_n);
    n += numbers_n;
    buf[n] = '\0';
    return n;
}

void progress_begin(struct progress_line *line, unsigned columns, nanos now)
{
    *line = (struct progress_line){.columns = columns, .begin = now, .phase = now, .shown = now};
}

struct str progress_update(struct progress_line *line, nanos now, struct progress_step step,
                           char *buf)
{
    uint64_t hash = hash_bytes(str_of(step.label));

    if (hash != line->label_hash) {
        line->label_hash = hash;
        line->phase = now;
    }
    if (now - line->begin < first_after || (line->is_shown && now - line->shown < at_most_every))
        return S("");
    size_t n = (size_t)sprintf(buf, PROGRESS_START);
    n += progress_format(buf + n, step, line->columns, now - line->phase);
    n += (size_t)sprintf(buf + n, PROGRESS_CLEAR);
    line->is_shown = true;
    line->shown = now;
    return (struct str){buf, n};
}

struct str progress_end(struct progress_line *line)
{
    bool was_shown = line->is_shown;

    line->is_shown = false;
    return was_shown ? S(PROGRESS_WIPE) : S("");
}
