#include "analysis/anomaly_doc.h"

#include <stdio.h>

void doc_key(struct doc *d, const char *name)
{
    json_write_key(&d->w, str_of(name));
}

void doc_text(struct doc *d, const char *name, struct str text)
{
    doc_key(d, name);
    json_write_string(&d->w, text);
}

void doc_text_or_null(struct doc *d, const char *name, struct str text)
{
    doc_key(d, name);
    if (text.n > 0)
        json_write_string(&d->w, text);
    else
        json_write_null(&d->w);
}

void doc_count(struct doc *d, const char *name, uint64_t count)
{
    doc_key(d, name);
    json_write_u64(&d->w, count);
}

void doc_bool(struct doc *d, const char *name, bool value)
{
    doc_key(d, name);
    json_write_bool(&d->w, value);
}

void doc_number(struct doc *d, const char *name, double value)
{
    doc_key(d, name);
    json_write_f64(&d->w, value);
}

void doc_known(struct doc *d, const char *name, int64_t value)
{
    doc_key(d, name);
    if (value != UNKNOWN)
        json_write_i64(&d->w, value);
    else
        json_write_null(&d->w);
}

void doc_us(struct doc *d, const char *name, nanos ns)
{
    doc_key(d, name);
    json_write_us(&d->w, ns);
}

/* Milliseconds with all six decimals that nanoseconds have, less the trailing zeros. */
void doc_ms(struct doc *d, const char *name, nanos ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char text[NUM_TEXT];
    int n = snprintf(text, sizeof(text), "%s%llu.%06llu", ns < 0 ? "-" : "",
                     (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));

    while (text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    doc_key(d, name);
    json_write_number(&d->w, (struct str){text, (size_t)n});
}

void doc_ms_real(struct doc *d, const char *name, double ns)
{
    doc_number(d, name, ns / 1e6);
}

void doc_window(struct doc *d, struct interval at)
{
    nanos to_unix = d->cap->clock.has_unix ? d->cap->clock.to_unix : 0;

    doc_us(d, "start_us", nanos_add(at.begin, to_unix));
    doc_us(d, "end_us", nanos_add(at.end, to_unix));
    doc_us(d, "start_rel_us", nanos_sub(at.begin, d->origin));
    doc_us(d, "end_rel_us", nanos_sub(at.end, d->origin));
}

void doc_group(struct doc *d, const char *name, size_t group)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "g%zu", group);

    doc_text_or_null(d, name, group != SIZE_MAX ? (struct str){text, (size_t)n} : S(""));
}

void doc_tags(struct doc *d, const char *name, unsigned tags)
{
    doc_key(d, name);
    json_write_array(&d->w);
    for (unsigned bit = 1; bit < TAG_END; bit <<= 1)
        if (tags & bit)
            json_write_string(&d->w, str_of(step_tag_name((enum step_tag)bit)));
    json_write_end(&d->w);
}
