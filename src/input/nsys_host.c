/* nsys: what ran on the host. */
#include <stdio.h>

#include "input/nsys_in.h"
#include "input/step_name.h"

static lane_id thread_lane(struct nsys *s, uint64_t global)
{
    struct capture *cap = s->cap;
    struct lane_key key = {
        .kind = LANE_THREAD, .device = -1, .pid = nsys_pid(global), .tid = nsys_tid(global)};
    uint64_t hash = hash_mix(global, UINT64_MAX);
    uint32_t lane;
    char text[40];

    if (hash_get(&s->lane_of, hash, &lane))
        return lane;
    snprintf(text, sizeof(text), "process %lld", (long long)key.pid);
    key.process = capture_intern(cap, str_of(text));
    snprintf(text, sizeof(text), "Thread %lld", (long long)key.tid);
    key.name = capture_intern(cap, str_of(text));
    lane = capture_lane(cap, key);
    hash_put(&s->lane_of, hash, lane);
    return lane;
}

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel. */
static struct str without_version(struct str name)
{
    size_t n = name.n;

    while (n > 0 && name.at[n - 1] >= '0' && name.at[n - 1] <= '9')
        n--;
    if (n < name.n && n > 2 && name.at[n - 1] == 'v' && name.at[n - 2] == '_')
        return str_part(name, 0, n - 2);
    return name;
}

void nsys_read_calls(struct nsys *s)
{
    static const char *const columns[] = {"start",         "end",    "globalTid",
                                          "correlationId", "nameId", "returnValue"};
    struct nsys_calls *calls = &s->calls;
    struct db_rows rows;

    db_rows_open(&rows, &s->db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct nsys_call call = {.correlation = NSYS_NONE};
        int64_t global = 0, name = NSYS_NONE, result = 0;
        if (!nsys_times(s, &rows, 0, 1, &call.begin, &call.dur))
            continue;
        db_i64(&rows, 2, &global);
        db_i64(&rows, 3, &call.correlation);
        db_i64(&rows, 4, &name);
        db_i64(&rows, 5, &result);
        if (result != 0)
            vec_push(&calls->failures, ((struct nsys_failure){calls->rows.n, result}));
        call.thread = nsys_number(&calls->threads, global);
        call.name = nsys_number(&calls->names, name);
        vec_push(&calls->rows, call);
    }
}

/* What the calls of a thread share. */
struct thread {
    lane_id lane;
    uint32_t process;
};

/* The threads and names of the calls, which come in the order of their first call. */
static struct thread *know_threads(struct nsys *s)
{
    const struct nsys_numbers *list = &s->calls.threads;
    struct thread *threads = mem_grow(NULL, sizeof(*threads), list->ids.n);

    for (size_t i = 0; i < list->ids.n; i++) {
        uint64_t global = (uint64_t)list->ids.at[i];
        threads[i].lane = thread_lane(s, global);
        threads[i].process = nsys_number(&s->processes, (int64_t)(global & ~nsys_thread_bits));
    }
    return threads;
}

static strid *know_names(struct nsys *s)
{
    const struct nsys_numbers *list = &s->calls.names;
    strid *names = mem_grow(NULL, sizeof(*names), list->ids.n);

    for (size_t i = 0; i < list->ids.n; i++)
        names[i] = capture_intern(
            s->cap, list->ids.at[i] == NSYS_NONE
                        ? S("unnamed call")
                        : without_version(db_strings_text(&s->strings, list->ids.at[i])));
    return names;
}

void nsys_put_calls(struct nsys *s)
{
    struct capture *cap = s->cap;
    struct thread *threads = know_threads(s);
    strid *names = know_names(s);
    size_t failed = 0;

    for (size_t i = 0; i < s->calls.rows.n; i++) {
        const struct nsys_call *call = &s->calls.rows.at[i];
        struct attr list[2];
        size_t n = 0;
        if (call->correlation != NSYS_NONE)
            list[n++] = attr_int(capture_key(cap, KEY_LINK), call->correlation);
        if (failed < s->calls.failures.n && s->calls.failures.at[failed].row == i)
            list[n++] = attr_int(s->name[NAME_RESULT], s->calls.failures.at[failed++].result);
        uint32_t at = capture_slice(cap, &(struct slice){.begin = call->begin,
                                                         .dur = call->dur,
                                                         .lane = threads[call->thread].lane,
                                                         .name = names[call->name],
                                                         .own = attrs_own(&cap->attrs, list, n),
                                                         .kind = SLICE_RUNTIME});
        if (call->correlation != NSYS_NONE)
            vec_push(&s->launches,
                     ((struct nsys_link){call->correlation, threads[call->thread].process, at}));
    }
    mem_free(threads);
    mem_free(names);
}

void nsys_calls_free(struct nsys_calls *calls)
{
    vec_free(&calls->rows);
    vec_free(&calls->failures);
    nsys_numbers_free(&calls->threads);
    nsys_numbers_free(&calls->names);
}

/* NVTX_EVENTS.eventType */
enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

static bool take_range(struct nsys *s, const struct db_rows *rows, struct slice *slice)
{
    int64_t type = NVTX_PUSH_POP, end;

    db_i64(rows, 5, &type);
    if (type == NVTX_MARK && !db_i64(rows, 1, &end)) {
        s->i->rows++;
        return db_i64(rows, 0, &slice->begin);
    }
    if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
        return false; /* names of domains, categories and resources */
    return nsys_times(s, rows, 0, 1, &slice->begin, &slice->dur);
}

void nsys_read_ranges(struct nsys *s)
{
    static const char *const columns[] = {"start",  "end",       "globalTid", "text",
                                          "textId", "eventType", "domainId"};
    struct capture *cap = s->cap;
    struct db_rows rows;

    db_rows_open(&rows, &s->db, "NVTX_EVENTS", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct slice slice = {.kind = SLICE_ANNOTATION};
        enum mark_source source;
        int64_t global = 0, number, domain;
        if (!take_range(s, &rows, &slice))
            continue;
        db_i64(&rows, 2, &global);
        struct str text = db_text(&rows, 3);
        slice.name = text.n > 0 ? capture_intern(cap, text) : nsys_name(s, &rows, 4);
        slice.lane = thread_lane(s, (uint64_t)global);
        if (db_i64(&rows, 6, &domain)) {
            struct attr attr = attr_int(capture_intern(cap, S("domain")), domain);
            slice.set = attrs_set(&cap->attrs, &attr, 1);
        }
        if (step_name_parse(capture_text(cap, slice.name), &source, &number)) {
            slice.kind = SLICE_STEP;
            vec_push(&cap->marks, ((struct mark){.source = source,
                                                 .name = slice.name,
                                                 .number = number,
                                                 .begin = slice.begin,
                                                 .end = nanos_add(slice.begin, slice.dur)}));
        }
        capture_slice(cap, &slice);
    }
}
