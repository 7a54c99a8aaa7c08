/*
 * Causes of idle time that the host makes: launches and waits, memory, and work between launches.
 */
#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_find.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/idle/idle.h"
#include "ops/name_tokens.h"
#include "text/cause.h"

static nanos own_time(const struct host_call *call)
{
    return call->is_start_up ? 0 : nanos_sub(call->end, call->begin);
}

static nanos stretch_time(const struct host_call *call, enum stretch_class class)
{
    return call->class == class ? call->stretch : 0;
}

/* ---- launches ---- */

/* Whether many launches hold up the device, and not one or two of them. */
static bool is_spread(const struct root_finder *f)
{
    nanos most[ROOT_FEW_LAUNCHES] = {0}, all = 0;

    for (size_t i = 0; i < f->a->pieces.n; i++) {
        const struct idle_piece *p = &f->a->pieces.at[i];
        nanos length = p->at.end - p->at.begin;
        if (p->cause != CAUSE_LAUNCH || !root_counts_step(f, p->step))
            continue;
        all = nanos_add(all, length);
        for (size_t k = 0; k < ROOT_FEW_LAUNCHES; k++)
            if (length > most[k]) {
                nanos less = most[k];
                most[k] = length;
                length = less;
            }
    }
    nanos few = 0;
    for (size_t k = 0; k < ROOT_FEW_LAUNCHES; k++)
        few = nanos_add(few, most[k]);
    return few < all / 2;
}

struct found_cause *launch_bound_value(struct root_finder *f, enum root_cause cause)
{
    double idle = root_share(f, f->by[ACCOUNT_IDLE + CAUSE_LAUNCH]);
    bool is_launch = idle >= root_least(f, cause, ROOT_LISTED) && is_spread(f);

    return is_launch ? root_value_changes(f, cause) : NULL;
}

static nanos launch_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return call->tasks > 0 ? nanos_add(own_time(call), stretch_time(call, STRETCH_LAUNCH)) : 0;
}

void launch_bound_evidence(const struct root_finder *f, struct found_cause *c)
{
    nanos kernels = 0;

    root_evidence_calls(f, c, launch_time, false);
    for (int i = ACCOUNT_COMPUTE; i < ACCOUNT_COMM; i++)
        kernels = nanos_add(kernels, f->by[i]);
    c->each = c->count > 0 ? kernels / (nanos)f->units / (nanos)c->count : 0; /* of the kernels */
    c->told = root_share(f, f->by[ACCOUNT_IDLE + CAUSE_LAUNCH]);
}

/* ---- waits ---- */

static nanos wait_time(const struct root_finder *f, const struct host_call *call)
{
    return call->kind == CALL_SYNC || idle_is_read(f->a, call) ? own_time(call) : 0;
}

void host_sync_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_calls(f, c, wait_time, false);
}

/* ---- memory ---- */

/* From the first call that gives the device work to the last one. */
static struct interval launches_of(const struct root_finder *f)
{
    struct interval all = {.begin = INT64_MAX, .end = INT64_MIN};

    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        if (call->tasks == 0)
            continue;
        all.begin = call->begin < all.begin ? call->begin : all.begin;
        all.end = call->begin > all.end ? call->begin : all.end;
    }
    return all;
}

static bool gives_back(const struct root_finder *f, const struct host_call *call)
{
    struct str name = capture_text(f->cap, f->cap->slices.name[call->slice]);

    return call->kind == CALL_FREE || str_contains_nocase(name, S("free"));
}

/* Whether steps allocate again and again: at least half of them do, or, where none are marked,
 * half of what is allocated between launches is given back there. Memory that is taken once is part
 * of a start, and what is given back behind all work is the end. */
static bool allocates_steadily(const struct root_finder *f)
{
    const struct interval launches = launches_of(f);
    uint32_t last = TASK_NO_STEP;
    size_t steps = 0, allocs = 0, frees = 0;

    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        uint32_t step = root_step_of_call(f, call);
        bool is_outside = call->begin < launches.begin || call->begin > launches.end;
        if (!host_call_allocates((enum call_kind)call->kind) || call->is_start_up ||
            !root_counts_step(f, step) || (f->steps <= 1 && is_outside))
            continue;
        steps += step != last;
        last = step;
        bool is_free = gives_back(f, call);
        frees += is_free;
        allocs += !is_free;
    }
    return f->steps > 1 ? steps * 2 >= f->steps : frees > 0 && frees * 2 >= allocs;
}

struct found_cause *allocator_value(struct root_finder *f, enum root_cause cause)
{
    return allocates_steadily(f) ? root_value_changes(f, cause) : NULL;
}

static nanos memory_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return host_call_allocates((enum call_kind)call->kind) ? own_time(call) : 0;
}

void allocator_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_calls(f, c, memory_time, false);
}

/* Sizes that change make memory anew; what compilers do with them names itself. */
struct found_cause *variable_shapes_value(struct root_finder *f, enum root_cause cause)
{
    const struct found_cause *memory = root_valued(f, ROOT_ALLOCATOR);

    return memory != NULL && root_shape_sets(f) >= ROOT_SHAPE_SETS
               ? root_keep(f, cause, memory->saving, memory->profiled_saving)
               : NULL;
}

/* ---- code ---- */

static nanos compile_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return nanos_add(call->kind == CALL_COMPILE ? own_time(call) : 0,
                     stretch_time(call, STRETCH_COMPILE));
}

void compilation_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_calls(f, c, compile_time, true);
}

struct found_cause *start_up_value(struct root_finder *f, enum root_cause cause)
{
    double share = num_share((double)root_start_up(f), (double)root_start_base(f));

    if (!f->is_start_of_run)
        return root_value_changes(f, cause);
    struct found_cause *c = root_keep(f, cause, share, share);
    if (c != NULL) {
        c->once = root_start_up(f);
        c->run = root_start_base(f);
    }
    return c;
}

static nanos start_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return nanos_add(call->is_start_up ? nanos_sub(call->end, call->begin) : 0,
                     stretch_time(call, STRETCH_START_UP));
}

void start_up_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_calls(f, c, start_time, true);
}

/* ---- work between launches ---- */

/* The loader's own name says whether others prepare the data already. */
static bool has_workers(const struct capture *cap)
{
    for (size_t i = 1; i < cap->strings.strings.n; i++)
        if (str_contains(capture_text(cap, (strid)i), S("_MultiProcessingDataLoaderIter")))
            return true;
    return false;
}

static nanos input_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return stretch_time(call, STRETCH_INPUT);
}

void input_pipeline_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_calls(f, c, input_time, true);
    if (f->framework == FRAMEWORK_PYTORCH && has_workers(f->cap))
        c->action = &cause_text.input_pipeline_do_workers;
}

static nanos operator_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return stretch_time(call, STRETCH_OPERATOR);
}

void cpu_operator_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_calls(f, c, operator_time, true);
}

static nanos python_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return stretch_time(call, STRETCH_PYTHON);
}

void python_overhead_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_calls(f, c, python_time, true);
}

/* ---- time without events ---- */

static nanos untraced_time(const struct root_finder *f, const struct host_call *call)
{
    (void)f;
    return stretch_time(call, STRETCH_UNTRACED);
}

/* Whether it comes in pieces as long as Python lets another thread run. */
static bool waits_for_interpreter(const struct root_finder *f)
{
    size_t n = 0, near = 0;

    if (f->a->host.is_locked)
        return true;
    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *c = &f->a->host.calls[i];
        bool is_untraced = c->class == STRETCH_UNTRACED && c->filler == NO_SLICE;
        if (!is_untraced || !root_counts_step(f, root_step_of_call(f, c)))
            continue;
        n++;
        near += host_stretch_switches(c->stretch) > 0;
    }
    return near >= LIMIT_SWITCH_PIECES && near * 100 >= n * LIMIT_SWITCH_SHARE;
}

static const struct root_tasks pages_of_memory = {.copies = ROOT_BIT(COPY_OTHER)};

/* Idle time before pages of managed memory move to the host, which touches one after the other. */
static nanos before_pages(const struct root_finder *f)
{
    const struct slices *s = &f->cap->slices;
    nanos sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < f->a->pieces.n; i++) {
        const struct idle_piece *p = &f->a->pieces.at[i];
        if (p->cause != CAUSE_UNKNOWN || p->task == UINT32_MAX || !root_counts_step(f, p->step))
            continue;
        struct str name = capture_text(f->cap, s->name[f->a->tasks.at[p->task].slice]);
        if (!device_task_is_migration(name) || !str_contains(name, S("DtoH")))
            continue;
        sum = nanos_add(sum, p->at.end - p->at.begin);
        n++;
    }
    return n >= ROOT_MIGRATIONS ? sum : 0;
}

struct found_cause *host_untraced_value(struct root_finder *f, enum root_cause cause)
{
    struct found_cause *c = root_value_changes(f, cause);
    double pages = root_share(f, before_pages(f));

    if (c != NULL && c->saving >= pages)
        return c;
    return root_value_share(f, cause, pages);
}

/* What a thread waits for, by the call of the operating system. */
static const struct message *action_of_wait(struct str call)
{
    static const struct {
        const char *words;
        const struct message *action;
    } waits[] = {
        {"cond_ sem_ futex mutex rwlock barrier join", &cause_text.host_untraced_do_thread},
        {"getc gets getline read recv accept poll select epoll scanf wait",
         &cause_text.host_untraced_do_input},
        {"write sync send close open stat", &cause_text.host_untraced_do_output},
        {"sleep yield", &cause_text.host_untraced_do_sleep},
    };
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(call, buf);

    for (size_t i = 0; i < ARRAY_LEN(waits); i++)
        if (name_tokens_any(low, waits[i].words))
            return waits[i].action;
    return &cause_text.host_untraced_do_other;
}

void host_untraced_evidence(const struct root_finder *f, struct found_cause *c)
{
    nanos pages = before_pages(f);

    root_evidence_calls(f, c, untraced_time, true);
    if (root_share(f, pages) > c->share) { /* no call asks for pages that the host touches */
        root_evidence_tasks(f, c, &pages_of_memory);
        c->share = root_share(f, pages);
        c->what = &cause_text.host_untraced_what_pages;
        c->action = &cause_text.host_untraced_do_pages;
    } else if (c->n_sites > 0 && c->sites[0].is_os) {
        c->what = &cause_text.host_untraced_what_os;
        c->action = action_of_wait(c->sites[0].name);
    } else if (waits_for_interpreter(f)) {
        c->what = &cause_text.host_untraced_what_lock;
        c->action = &cause_text.host_untraced_do_lock;
    }
}
