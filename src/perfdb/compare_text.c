#include "perfdb/compare_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double decimal_round(double value, int decimals)
{
    char text[DECIMAL_TEXT];
    double rounded;

    int n = snprintf(text, sizeof(text), "%.*f", decimals, value);
    return isfinite(value) && num_f64((struct str){text, (size_t)n}, &rounded) ? rounded : value;
}

struct str decimal_exact(char *buf, double value)
{
    if (!isfinite(value))
        return (struct str){buf, (size_t)snprintf(buf, DECIMAL_TEXT, "%s%s",
                                                  signbit(value) && !isnan(value) ? "-" : "",
                                                  isnan(value) ? "nan" : "inf")};
    size_t n = num_print_f64(buf, value);
    if (strpbrk(buf, ".e") == NULL)
        n += (size_t)snprintf(buf + n, 3, ".0");
    return (struct str){buf, n};
}

struct str decimal_text(char *buf, double value, int decimals)
{
    return decimal_exact(buf, decimal_round(value, decimals));
}

struct str decimal_grouped(char *buf, double value)
{
    char plain[DECIMAL_TEXT];
    size_t n = (size_t)snprintf(plain, sizeof(plain), "%.1f", value);
    size_t point = isfinite(value) ? n - 2 : 0, first = plain[0] == '-', to = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > first && i < point && (point - i) % 3 == 0)
            buf[to++] = ',';
        buf[to++] = plain[i];
    }
    buf[to] = '\0';
    return (struct str){buf, to};
}

void decimal_json(struct json_writer *j, struct str key, double value, int decimals)
{
    char buf[DECIMAL_TEXT];

    json_write_key(j, key);
    if (isfinite(value))
        json_write_number(j, decimals == DECIMALS_ALL ? decimal_exact(buf, value)
                                                      : decimal_text(buf, value, decimals));
    else
        json_write_null(j);
}

bool json_finish_bare(struct json_writer *j, struct text *buffer, struct sink sink)
{
    bool is_good = json_write_finish(j);
    struct str document = {buffer->at, buffer->n};

    if (document.n > 0 && document.at[document.n - 1] == '\n')
        document.n--;
    is_good = is_good && sink.write(sink.ctx, document);
    text_free(buffer);
    return is_good;
}
