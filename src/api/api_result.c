/*
 * Results of the library: made, read and freed.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/files/inputs.h"
#include "base/text/c_locale.h"
#include "report/envelope.h"

static atomic_size_t handles;

void api_handle_begin(void)
{
    atomic_fetch_add(&handles, 1);
}

void api_handle_end(void)
{
    if (atomic_fetch_sub(&handles, 1) == 1)
        inputs_clear();
}

void api_free(void *handle, void (*result_release)(void *handle))
{
    if (handle == NULL)
        return;
    job_run(handle, result_release, handle);
    job_end(handle);
    free(handle);
}

/* ---- diagnostics ---- */

void api_error_text(const struct diag *d, char *to, size_t size)
{
    char line[32] = "";
    size_t i = 0;

    to[0] = '\0';
    while (i < d->entries.n && d->entries.at[i].severity != SEV_ERROR)
        i++;
    if (i == d->entries.n)
        return;
    const struct diag_text *first = &d->entries.at[i].first[0];
    if (first->where.line > 0)
        snprintf(line, sizeof(line), ":%llu", (unsigned long long)first->where.line);
    snprintf(to, size, "%s%s%s%s [%s]", first->where.path != NULL ? first->where.path : "", line,
             first->where.path != NULL ? ": " : "", first->text, d->entries.at[i].code);
}

static const char *result_copy(struct strata_result *r, const char *text)
{
    return text != NULL ? arena_cstr(&r->arena, str_of(text)) : NULL;
}

void api_diagnose(struct strata_result *r, const struct diag *d)
{
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        vec_push(&r->diagnostics, ((struct strata_diagnostic){
                                      .code = e->code,
                                      .severity = severity_name(e->severity),
                                      .text = result_copy(r, e->first[0].text),
                                      .path = result_copy(r, e->first[0].where.path),
                                      .line = e->first[0].where.line,
                                      .count = e->count,
                                  }));
    }
    if (r->status != STRATA_OK) {
        api_error_text(d, r->error, sizeof(r->error));
        struct str lines = S("");
        for (size_t i = 0; i < d->hints.n; i++)
            lines = arena_format(&r->arena, "%.*s%s%s: %s", STR_ARGS(lines), i > 0 ? "\n" : "",
                                 d->hints.at[i].label, d->hints.at[i].text);
        r->hints = arena_cstr(&r->arena, lines);
    }
}

/* ---- one call ---- */

struct call {
    struct strata_result *r;
    api_work *work;
    void *ctx;
};

static void result_run(void *given)
{
    struct call *c = given;
    struct diag d;

    arena_init(&c->r->arena);
    diag_init(&d);
    enum status status = c->work(c->r, &d, c->ctx);
    if (c->r->status == STRATA_OK)
        c->r->status = (int)status;
    api_diagnose(c->r, &d);
    diag_fini(&d);
}

static void make_empty(struct strata_result *r, int status, const char *error)
{
    *r = (struct strata_result){.job = JOB_INIT, .status = status};
    snprintf(r->error, sizeof(r->error), "%s", error);
}

static struct strata_result *result_new(int status, const char *error)
{
    struct strata_result *r = malloc(sizeof(*r));

    if (r != NULL)
        make_empty(r, status, error);
    return r;
}

int api_answer(api_work *work, void *ctx, struct strata_result **out)
{
    if (out == NULL)
        return STRATA_USAGE;
    struct strata_result *r = *out = result_new(STRATA_OK, "");
    if (r == NULL)
        return STRATA_MEMORY;
    locale_t before = c_locale_begin();
    api_handle_begin();
    if (!job_run(&r->job, result_run, &(struct call){r, work, ctx}))
        make_empty(r, STRATA_MEMORY, "out of memory [memory.none]");
    api_handle_end();
    c_locale_end(before);
    return r->status;
}

int api_misuse(const char *text, struct strata_result **out)
{
    if (out != NULL)
        *out = result_new(STRATA_USAGE, text);
    return STRATA_USAGE;
}

void api_end_text(struct strata_result *r)
{
    vec_push(&r->text, '\0');
    r->text.n--;
}

void api_parse(struct strata_result *r)
{
    struct tree_error error;
    const struct tree *all = tree_read_json(&r->arena, text_view(&r->text), &error);
    bool has_envelope = tree_get(all, S("schema")) != NULL && tree_get(all, S("result")) != NULL;

    r->value = has_envelope ? tree_get(all, S("result")) : all; /* else a prescribed shape */
}

static void result_release(void *result)
{
    struct strata_result *r = result;

    for (size_t i = 0; i < r->n_columns; i++) {
        vec_free(&r->columns[i].numbers);
        vec_free(&r->columns[i].offsets);
        vec_free(&r->columns[i].valid);
        vec_free(&r->columns[i].bytes);
    }
    vec_free(&r->diagnostics);
    text_free(&r->text);
    arena_free(&r->arena);
}

void strata_result_free(struct strata_result *r)
{
    api_free(r, result_release);
}

/* ---- reading ---- */

int strata_result_status(const struct strata_result *r)
{
    return r != NULL ? r->status : STRATA_MEMORY;
}

int strata_result_code(const struct strata_result *r)
{
    return r != NULL ? r->code : 0;
}

const char *strata_result_error(const struct strata_result *r)
{
    return r != NULL ? r->error : "out of memory [memory.none]";
}

const char *strata_result_text(const struct strata_result *r, size_t *n)
{
    bool is_there = r != NULL && r->text.n > 0;

    if (n != NULL)
        *n = is_there ? r->text.n : 0;
    return is_there ? r->text.at : "";
}

const char *strata_result_schema(const struct strata_result *r)
{
    return r != NULL && r->schema != NULL ? r->schema->name : "";
}

const char *strata_result_hints(const struct strata_result *r)
{
    return r != NULL && r->hints != NULL ? r->hints : "";
}

size_t strata_diagnostic_count(const struct strata_result *r)
{
    return r != NULL ? r->diagnostics.n : 0;
}

int strata_diagnostic_get(const struct strata_result *r, size_t i, struct strata_diagnostic *out)
{
    if (r == NULL || out == NULL)
        return STRATA_USAGE;
    if (i >= r->diagnostics.n)
        return STRATA_NOT_FOUND;
    *out = r->diagnostics.at[i];
    return STRATA_OK;
}
