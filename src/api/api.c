/*
 * The public door: include/strata/strata.h over answers/. Arguments are checked here, because
 * callers are strangers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "answers/answers.h"
#include "api/api.h"
#include "base/diag.h"
#include "base/text/c_locale.h"
#include "capture/capture.h"
#include "input/input.h"
#include "report/report.h"

struct strata {
    struct job job; /* has the capture */
    struct capture *cap;
    char error[1024]; /* "" after success */
};

struct strata_report {
    struct job job; /* has everything below */
    struct report *report;
    VEC_OF(const struct finding *) findings; /* of all blocks */
};

struct strata_diagnosis {
    struct job job; /* has what was found */
    struct answer_diagnosis *found;
};

/* enum status and enum strata_status agree up to STRATA_CANCELLED. */
_Static_assert((int)ST_CANCELLED == (int)STRATA_CANCELLED, "the public codes follow enum status");
_Static_assert((int)ST_LIMIT == (int)STRATA_LIMIT, "the public codes follow enum status");

const char *strata_version(void)
{
    return STRATA_VERSION;
}

struct strata *strata_new(void)
{
    struct strata *s = malloc(sizeof(*s));

    if (s != NULL) {
        api_handle_begin();
        *s = (struct strata){.job = JOB_INIT};
    }
    return s;
}

static void unload(void *handle)
{
    struct strata *s = handle;

    capture_free(s->cap);
    s->cap = NULL;
}

void strata_free(struct strata *s)
{
    if (s == NULL)
        return;
    api_free(s, unload);
    api_handle_end();
}

/* Keeps the first error of `d` as the story of this call. */
static enum status api_finish(struct strata *s, enum status status, struct diag *d)
{
    if (status != ST_OK)
        api_error_text(d, s->error, sizeof(s->error));
    diag_fini(d);
    return status;
}

static int misuse(struct strata *s, const char *text)
{
    snprintf(s->error, sizeof(s->error), "%s", text);
    return STRATA_USAGE;
}

/* One call, with its arguments and what it answers. */
struct call {
    struct strata *s;
    const char *path, *name; /* name: of a format or an analysis */
    struct strata_report *report;
    struct strata_diagnosis *diagnosis;
    enum status status;
};

/* Does the work of a call in the C locale; what to return. */
static int run_call(struct job *job, void (*work)(void *ctx), struct call *call)
{
    locale_t before = c_locale_begin();
    bool is_done = job_run(job, work, call);

    c_locale_end(before);
    return is_done ? (int)call->status : STRATA_MEMORY;
}

static int no_memory(struct strata *s)
{
    snprintf(s->error, sizeof(s->error), "out of memory [memory.none]");
    return STRATA_MEMORY;
}

static void api_load(void *ctx)
{
    struct call *c = ctx;
    struct input_options options = input_defaults();
    struct diag d;

    unload(c->s);
    diag_init(&d);
    options.format = c->name;
    c->status = api_finish(c->s, input_load(c->path, &options, &d, &c->s->cap), &d);
}

int strata_load(struct strata *s, const char *path, const char *format)
{
    struct call call = {.s = s, .path = path, .name = format};

    if (s == NULL)
        return STRATA_USAGE;
    if (path == NULL)
        return misuse(s, "strata_load: path is NULL");
    s->error[0] = '\0';
    int code = run_call(&s->job, api_load, &call);
    if (code != STRATA_MEMORY)
        return code;
    s->cap = NULL; /* went with the job */
    return no_memory(s);
}

static void analyze(void *ctx)
{
    struct call *c = ctx;
    struct diag d;

    diag_init(&d);
    c->status = answer_analyze(c->s->cap, c->name, &d, &c->report->report);
    for (size_t i = 0; c->status == ST_OK && i < c->report->report->blocks.n; i++) {
        const struct block *b = c->report->report->blocks.at[i];
        for (size_t k = 0; k < b->findings.n; k++)
            vec_push(&c->report->findings, b->findings.at[k]);
    }
    api_finish(c->s, c->status, &d);
}

int strata_analyze(struct strata *s, const char *analysis, struct strata_report **out)
{
    struct call call = {.s = s, .name = analysis};

    if (s == NULL)
        return STRATA_USAGE;
    if (analysis == NULL || out == NULL)
        return misuse(s, "strata_analyze: analysis or result pointer is NULL");
    *out = NULL;
    if (s->cap == NULL)
        return misuse(s, "strata_analyze: no capture is loaded");
    s->error[0] = '\0';
    call.report = malloc(sizeof(*call.report));
    if (call.report == NULL)
        return no_memory(s);
    *call.report = (struct strata_report){.job = JOB_INIT};
    int code = run_call(&call.report->job, analyze, &call);
    if (code == STRATA_OK)
        *out = call.report;
    else
        free(call.report);
    return code == STRATA_MEMORY ? no_memory(s) : code;
}

static void api_render(void *ctx)
{
    struct call *c = ctx;
    struct diag d;

    diag_init(&d);
    c->status = answer_render(c->report->report, c->name, c->path, &d);
    diag_fini(&d);
}

int strata_render(const struct strata_report *r, const char *format, const char *path)
{
    struct job job = JOB_INIT;

    if (r == NULL || format == NULL || path == NULL)
        return STRATA_USAGE;
    return run_call(&job, api_render,
                    &(struct call){.path = path,
                                   .name = format,
                                   .report = (struct strata_report *)(uintptr_t)r});
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

static void free_report(void *report)
{
    struct strata_report *r = report;

    vec_free(&r->findings);
    report_free(r->report);
}

void strata_report_free(struct strata_report *r)
{
    api_free(r, free_report);
}

/* ---- diagnosis ---- */

static void diagnose(void *ctx)
{
    struct call *c = ctx;

    c->diagnosis->found = answer_diagnose(c->s->cap);
    c->status = ST_OK;
}

int strata_diagnose(struct strata *s, struct strata_diagnosis **out)
{
    struct call call = {.s = s};

    if (s == NULL)
        return STRATA_USAGE;
    if (out == NULL)
        return misuse(s, "strata_diagnose: result pointer is NULL");
    *out = NULL;
    if (s->cap == NULL)
        return misuse(s, "strata_diagnose: no capture is loaded");
    s->error[0] = '\0';
    call.diagnosis = malloc(sizeof(*call.diagnosis));
    if (call.diagnosis == NULL)
        return no_memory(s);
    *call.diagnosis = (struct strata_diagnosis){.job = JOB_INIT};
    if (run_call(&call.diagnosis->job, diagnose, &call) != STRATA_OK) {
        free(call.diagnosis);
        return no_memory(s);
    }
    *out = call.diagnosis;
    return STRATA_OK;
}

static struct strata_cause api_cause_of(const struct answer_cause *c)
{
    return (struct strata_cause){
        .id = c->id,
        .saving_ms = c->saving_ms,
        .saving_share = c->saving_share,
        .confidence = c->confidence,
        .what = c->what,
        .action = c->action,
    };
}

const char *strata_verdict(const struct strata_diagnosis *d, struct strata_cause *out)
{
    if (d == NULL)
        return "";
    if (out != NULL)
        *out = api_cause_of(&d->found->verdict);
    return d->found->text;
}

size_t strata_cause_count(const struct strata_diagnosis *d)
{
    return d != NULL ? d->found->n : 0;
}

int strata_cause_get(const struct strata_diagnosis *d, size_t i, struct strata_cause *out)
{
    if (d == NULL || out == NULL)
        return STRATA_USAGE;
    if (i >= d->found->n)
        return STRATA_NOT_FOUND;
    *out = api_cause_of(&d->found->causes[i]);
    return STRATA_OK;
}

static void free_diagnosis(void *diagnosis)
{
    answer_diagnosis_free(((struct strata_diagnosis *)diagnosis)->found);
}

void strata_diagnosis_free(struct strata_diagnosis *d)
{
    api_free(d, free_diagnosis);
}
