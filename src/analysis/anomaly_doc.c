#include "analysis/anomaly_doc.h"

#include <stdio.h>

void doc_known(struct doc *d, const char *name, int64_t value)
{
    json_put_known(&d->w, name, value != UNKNOWN, value);
}

void doc_window(struct doc *d, struct interval at)
{
    nanos to_unix = d->cap->clock.has_unix ? d->cap->clock.to_unix : 0;

    json_put_us(&d->w, "start_us", nanos_add(at.begin, to_unix));
    json_put_us(&d->w, "end_us", nanos_add(at.end, to_unix));
    json_put_us(&d->w, "start_rel_us", nanos_sub(at.begin, d->origin));
    json_put_us(&d->w, "end_rel_us", nanos_sub(at.end, d->origin));
}

void doc_group(struct doc *d, const char *name, size_t group)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "g%zu", group);

    json_put_str_or_null(&d->w, name, group != SIZE_MAX ? (struct str){text, (size_t)n} : S(""));
}

void doc_tags(struct doc *d, const char *name, unsigned tags)
{
    json_put_array(&d->w, name);
    for (unsigned bit = 1; bit < TAG_END; bit <<= 1)
        if (tags & bit)
            json_write_string(&d->w, str_of(step_tag_name((enum step_tag)bit)));
    json_write_end(&d->w);
}
