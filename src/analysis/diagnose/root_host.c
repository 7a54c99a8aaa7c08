/*
 * Host work by what it is for: input, an operator on the CPU, Python, compilation, or unrecorded.
 */
#include "analysis/diagnose/root_find.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/study.h"

#include "analysis/diagnose/name_tokens.h"

double root_bytes(const struct root_finder *f, const struct device_task *t)
{
    strid key = intern_find(&f->cap->strings, S("bytes"));
    struct attr own = attrs_get(&f->cap->attrs, f->cap->slices.own[t->slice], key);
    struct attr a =
        own.type != ATTR_NONE ? own : attrs_get(&f->cap->attrs, f->cap->slices.set[t->slice], key);

    return key == 0 || a.type == ATTR_NONE ? 0 : a.type == ATTR_REAL ? a.real : (double)a.number;
}

/* Bytes that a call copies to the device. */
static double sent_by(const struct root_finder *f, const struct host_call *call)
{
    if (call->kind != CALL_COPY || call->tasks == 0)
        return 0;
    const struct device_task *t = &f->a->tasks.at[call->first_task];
    return t->class == TASK_COPY && t->copy <= COPY_H2D ? root_bytes(f, t) : 0;
}

static bool is_generated(struct str kernel)
{
    char buf[NAME_TOKENS_MOST];

    return name_tokens_any(name_tokens_lower(kernel, buf), "triton_ tvmgen te_fused");
}

/* Whether one of the next calls launches a generated kernel for the first time. */
static bool brings_new_kernel(const struct root_finder *f, size_t call, struct hash *seen)
{
    const struct host_timelines *host = &f->a->host;
    bool is_new = false;

    for (size_t i = call, n = 0; i < host->n && n < ROOT_COMPILE_LAUNCHES; i++) {
        if (host->calls[i].timeline != host->calls[call].timeline)
            break;
        if (host->calls[i].tasks == 0)
            continue;
        uint32_t slice = f->a->tasks.at[host->calls[i].first_task].slice, first;
        strid name = f->cap->slices.name[slice];
        n++;
        if (!is_generated(capture_text(f->cap, name)))
            continue;
        is_new |= !hash_get(seen, name, &first) || first >= call;
    }
    return is_new;
}

/* The first call that launches each kernel, by name. */
static void see_kernels(const struct root_finder *f, struct hash *seen)
{
    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        if (call->tasks > 0)
            hash_add(seen, f->cap->slices.name[f->a->tasks.at[call->first_task].slice],
                     (uint32_t)i);
    }
}

static enum root_cause work_of(const struct root_finder *f, size_t i, struct hash *seen)
{
    const struct host_call *call = &f->a->host.calls[i];
    double sent = sent_by(f, call);

    if (call->class == STRETCH_LAUNCH || call->class == STRETCH_COMPILE)
        return ROOT_HEALTHY;
    if (call->stretch >= ROOT_LONG_COMPILE &&
        (call->kind == CALL_COMPILE || brings_new_kernel(f, i, seen)))
        return ROOT_COMPILATION;
    if (call->class == STRETCH_INPUT ||
        sent >= (call->class == STRETCH_UNTRACED ? ROOT_INPUT_BYTES_BLIND : ROOT_INPUT_BYTES))
        return ROOT_INPUT_PIPELINE;
    if (call->class == STRETCH_OPERATOR)
        return ROOT_CPU_OPERATOR;
    return call->class == STRETCH_PYTHON ? ROOT_PYTHON_OVERHEAD : ROOT_HOST_UNTRACED;
}

void root_find_host(struct root_finder *f)
{
    struct hash seen = {0};

    f->host_work = ARENA_ARRAY(&f->st->scratch, uint8_t, f->a->host.n + 1);
    see_kernels(f, &seen);
    for (size_t i = 0; i < f->a->host.n; i++)
        f->host_work[i] = (uint8_t)work_of(f, i, &seen);
    hash_free(&seen);
}
