/* Entries by code, each with a count and its first few texts. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"

void diag_init(struct diag *d)
{
    *d = (struct diag){0};
    arena_init(&d->arena);
}

void diag_fini(struct diag *d)
{
    arena_free(&d->arena);
    vec_free(&d->entries);
    vec_free(&d->hints);
}

static struct diag_entry *entry_of(struct diag *d, enum severity severity, const char *code)
{
    for (size_t i = 0; i < d->entries.n; i++) {
        struct diag_entry *e = &d->entries.at[i];
        if (e->severity == severity && strcmp(e->code, code) == 0)
            return e;
    }
    vec_push(&d->entries, ((struct diag_entry){.code = code, .severity = severity}));
    return &d->entries.at[d->entries.n - 1];
}

/* Formats into `text`; what does not fit is cut between two UTF-8 characters. */
__attribute__((format(printf, 2, 0))) static void print_text(char text[LIMIT_CODE_TEXT],
                                                             const char *format, va_list args)
{
    text[0] = '\0'; /* for the format that cannot be printed */
    if (vsnprintf(text, LIMIT_CODE_TEXT, format, args) < LIMIT_CODE_TEXT)
        return;
    size_t end = LIMIT_CODE_TEXT - 1;
    while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80)
        end--;
    if (end > 0 && (unsigned char)text[end - 1] >= 0xc0)
        text[end - 1] = '\0';
}

static const char *copy_text(struct diag *d, const char *text)
{
    return text != NULL ? arena_cstr(&d->arena, str_of(text)) : NULL;
}

static void diag_keep(struct diag *d, struct diag_entry *e, struct where where, const char *text)
{
    if (e->count < DIAG_TEXTS) {
        where.path = copy_text(d, where.path);
        e->first[e->count] = (struct diag_text){where, copy_text(d, text)};
    }
    e->count++;
}

void diag_vadd(struct diag *d, enum severity severity, const char *code, struct where where,
               const char *format, va_list args)
{
    char text[LIMIT_CODE_TEXT];

    if (d == NULL)
        return;
    struct diag_entry *e = entry_of(d, severity, code);
    text[0] = '\0';
    if (e->count < DIAG_TEXTS) /* else it is counted: the common case for a damaged file */
        print_text(text, format, args);
    diag_keep(d, e, where, text);
}

void diag_add(struct diag *d, enum severity severity, const char *code, struct where where,
              const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_vadd(d, severity, code, where, format, args);
    va_end(args);
}

enum status(diag_fail)(struct diag *d, enum status status, const char *code, struct where where,
                       const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_vadd(d, SEV_ERROR, code, where, format, args);
    va_end(args);
    if (d != NULL && d->failure == ST_OK)
        d->failure = status;
    return status;
}

void diag_hint(struct diag *d, const char *label, const char *format, ...)
{
    char text[LIMIT_CODE_TEXT];
    va_list args;

    if (d == NULL)
        return;
    va_start(args, format);
    print_text(text, format, args);
    va_end(args);
    vec_push(&d->hints, ((struct diag_hint){label, copy_text(d, text)}));
}

void diag_merge(struct diag *d, const struct diag *from)
{
    if (d->failure == ST_OK)
        d->failure = from->failure;
    for (size_t i = 0; i < from->entries.n; i++) {
        const struct diag_entry *src = &from->entries.at[i];
        struct diag_entry *e = entry_of(d, src->severity, src->code);
        size_t texts = src->count < DIAG_TEXTS ? (size_t)src->count : DIAG_TEXTS;

        for (size_t k = 0; k < texts; k++)
            diag_keep(d, e, src->first[k].where, src->first[k].text);
        e->count += src->count - texts;
    }
    for (size_t i = 0; i < from->hints.n; i++) {
        const struct diag_hint *hint = &from->hints.at[i];
        bool is_there = false; /* two tasks met the same */
        for (size_t k = 0; k < d->hints.n && !is_there; k++)
            is_there = strcmp(d->hints.at[k].label, hint->label) == 0 &&
                       strcmp(d->hints.at[k].text, hint->text) == 0;
        if (!is_there)
            diag_hint(d, hint->label, "%s", hint->text);
    }
}

uint64_t diag_count(const struct diag *d, const char *code)
{
    uint64_t count = 0;

    for (size_t i = 0; i < d->entries.n; i++)
        if (strcmp(d->entries.at[i].code, code) == 0)
            count += d->entries.at[i].count;
    return count;
}

ENUM_NAMES(severity_name, enum severity, "note", "warning", "data loss", "error")
