/*
 * diag - everything odd met on the way, counted by code.
 *
 * Two events, two calls: diag_fail() says why a call cannot do its job and returns the status to
 * hand up; diag_add() counts something odd and the job goes on. Codes read "area.problem", never
 * change meaning, and are listed in docs/diagnostics.md. Per code a diag keeps a count and the
 * first three texts, so a million bad rows cost three lines. A job has one diag, each parallel
 * task has its own, and they are merged in task order. Nothing here prints.
 */
#ifndef STRATA_BASE_DIAG_H
#define STRATA_BASE_DIAG_H

#include <stdarg.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/tables/vec.h"

enum severity {
    SEV_NOTE,  /* worth knowing; shown with --verbose */
    SEV_WARN,  /* unusual, nothing lost */
    SEV_LOSS,  /* data was dropped or is missing; becomes a gap in the report */
    SEV_ERROR, /* the reason for a failed call */
};

/* Where something was met. `line` counts from 1 and 0 means "the whole file"; a format without
 * lines gives `byte`, the offset plus one. `path` may be NULL. */
struct where {
    const char *path;
    uint64_t line;
    uint64_t byte;
};

enum { DIAG_TEXTS = 3 };

struct diag_text {
    struct where where; /* the path is a copy */
    const char *text;
};

struct diag_entry {
    const char *code; /* as given: a string literal */
    enum severity severity;
    uint64_t count;
    struct diag_text first[DIAG_TEXTS];
};

/* A line under an error that shows the way out: label "looked for" or "try". */
struct diag_hint {
    const char *label, *text;
};

struct diag {
    struct arena arena;
    VEC_OF(struct diag_entry) entries; /* in order of first appearance */
    VEC_OF(struct diag_hint) hints;    /* ways out of the error, in order */
    enum status failure;               /* the first that diag_fail() handed up */
};

void diag_init(struct diag *d);
void diag_fini(struct diag *d);

/* With `d` NULL nobody wants to know: these do nothing, and a status is handed up all the same. */
void diag_add(struct diag *d, enum severity severity, const char *code, struct where where,
              const char *format, ...) __attribute__((format(printf, 5, 6)));
void diag_vadd(struct diag *d, enum severity severity, const char *code, struct where where,
               const char *format, va_list args) __attribute__((format(printf, 5, 0)));

/* Counts an error and returns `status`, so that a failing call is one line. */
enum status diag_fail(struct diag *d, enum status status, const char *code, struct where where,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

#ifdef __clang_analyzer__ /* it reads one file at a time: tell it that `status` comes back */
#define diag_fail(d, status, ...) ((diag_fail)(d, status, __VA_ARGS__), (status))
#endif

/* Adds a way out; `label` is a literal. */
void diag_hint(struct diag *d, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds what `from` counted, after what is there. `from` is unchanged and may be freed. */
void diag_merge(struct diag *d, const struct diag *from);

/* How often `code` was counted. */
uint64_t diag_count(const struct diag *d, const char *code);

const char *severity_name(enum severity severity);

#endif
