/*
 * The public door: include/strata/strata.h over flow/. Arguments are checked here, because
 * callers are strangers.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/inputs.h"
#include "capture/capture.h"
#include "flow/flow.h"
#include "report/report.h"
#include "strata/strata.h"

struct strata {
    struct capture *cap;
    char error[1024]; /* "" after success */
};

struct strata_report {
    struct report *report;
    VEC_OF(const struct finding *) findings; /* of all blocks */
};

/* enum status and enum strata_status agree up to STRATA_CANCELLED. */
_Static_assert((int)ST_CANCELLED == (int)STRATA_CANCELLED, "the public codes follow enum status");
_Static_assert((int)ST_LIMIT == (int)STRATA_LIMIT, "the public codes follow enum status");

const char *strata_version(void)
{
    return STRATA_VERSION;
}

static atomic_size_t handles; /* that may have read files */

struct strata *strata_new(void)
{
    struct strata *s = mem_grow(NULL, sizeof(*s), 1);

    atomic_fetch_add(&handles, 1);
    *s = (struct strata){0};
    return s;
}

void strata_free(struct strata *s)
{
    if (s == NULL)
        return;
    capture_free(s->cap);
    mem_free(s);
    if (atomic_fetch_sub(&handles, 1) == 1)
        inputs_clear();
}

/* "prof/k.csv:812: no start time [kernel-details.no-start]" */
static void tell(struct strata *s, const struct diag_entry *e)
{
    const struct diag_text *first = &e->first[0];
    char line[32] = "";

    if (first->where.line > 0)
        snprintf(line, sizeof(line), ":%llu", (unsigned long long)first->where.line);
    snprintf(s->error, sizeof(s->error), "%s%s%s%s [%s]",
             first->where.path != NULL ? first->where.path : "", line,
             first->where.path != NULL ? ": " : "", first->text, e->code);
}

/* Keeps the first error of `d` as the story of this call. */
static int finish(struct strata *s, enum status status, struct diag *d)
{
    s->error[0] = '\0';
    for (size_t i = 0; status != ST_OK && i < d->entries.n; i++)
        if (d->entries.at[i].severity == SEV_ERROR) {
            tell(s, &d->entries.at[i]);
            break;
        }
    diag_fini(d);
    return (int)status;
}

static int misuse(struct strata *s, const char *text)
{
    snprintf(s->error, sizeof(s->error), "%s", text);
    return STRATA_USAGE;
}

int strata_load(struct strata *s, const char *path, const char *format)
{
    struct diag d;

    if (s == NULL)
        return STRATA_USAGE;
    if (path == NULL)
        return misuse(s, "strata_load: path is NULL");
    capture_free(s->cap);
    s->cap = NULL;
    diag_init(&d);
    locale_t before = c_locale_begin();
    enum status status = flow_load(path, format, &d, &s->cap);
    c_locale_end(before);
    return finish(s, status, &d);
}

static void gather_findings(struct strata_report *r)
{
    for (size_t i = 0; i < r->report->blocks.n; i++) {
        const struct block *b = r->report->blocks.at[i];
        for (size_t k = 0; k < b->findings.n; k++)
            vec_push(&r->findings, b->findings.at[k]);
    }
}

int strata_analyze(struct strata *s, const char *analysis, struct strata_report **out)
{
    struct report *report;
    struct diag d;

    if (s == NULL)
        return STRATA_USAGE;
    if (analysis == NULL || out == NULL)
        return misuse(s, "strata_analyze: analysis or result pointer is NULL");
    *out = NULL;
    if (s->cap == NULL)
        return misuse(s, "strata_analyze: no capture is loaded");
    diag_init(&d);
    locale_t before = c_locale_begin();
    enum status status = flow_analyze(s->cap, analysis, &d, &report);
    c_locale_end(before);
    if (status == ST_OK) {
        *out = mem_grow(NULL, sizeof(**out), 1);
        **out = (struct strata_report){.report = report};
        gather_findings(*out);
    }
    return finish(s, status, &d);
}

int strata_render(const struct strata_report *r, const char *format, const char *path)
{
    struct diag d;

    if (r == NULL || format == NULL || path == NULL)
        return STRATA_USAGE;
    diag_init(&d);
    locale_t before = c_locale_begin();
    enum status status = flow_render(r->report, format, path, &d);
    c_locale_end(before);
    diag_fini(&d);
    return (int)status;
}

size_t strata_finding_count(const struct strata_report *r)
{
    return r != NULL ? r->findings.n : 0;
}

int strata_finding_get(const struct strata_report *r, size_t i, struct strata_finding *out)
{
    if (r == NULL || out == NULL)
        return STRATA_USAGE;
    if (i >= r->findings.n)
        return STRATA_NOT_FOUND;
    const struct finding *f = r->findings.at[i];
    /* Texts of a report end with a NUL byte: its arena puts one there. */
    *out = (struct strata_finding){f->id, (int)f->priority, f->subject.at, f->fact.at};
    return STRATA_OK;
}

const char *strata_error(const struct strata *s)
{
    return s != NULL ? s->error : "";
}

void strata_report_free(struct strata_report *r)
{
    if (r == NULL)
        return;
    vec_free(&r->findings);
    report_free(r->report);
    mem_free(r);
}
