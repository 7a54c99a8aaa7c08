/* nsys: what ran on the host. */
#include "input/nsys/nsys_in.h"
#include "input/trace/gpu_names.h"
#include "input/trace/step_name.h"

static lane_id thread_lane(struct nsys *s, uint64_t global)
{
    struct capture *cap = s->cap;
    struct lane_key key = {
        .kind = LANE_THREAD, .device = -1, .pid = nsys_pid(global), .tid = nsys_tid(global)};
    uint64_t hash = hash_mix(global, UINT64_MAX);
    uint32_t lane;

    if (hash_get(&s->lane_of, hash, &lane))
        return lane;
    key.process = capture_intern_format(cap, "process %lld", (long long)key.pid);
    key.name = capture_intern_format(cap, "Thread %lld", (long long)key.tid);
    lane = capture_lane(cap, key);
    hash_put(&s->lane_of, hash, lane);
    return lane;
}

void nsys_read_calls(struct nsys *s)
{
    struct call {
        int64_t start, end, thread, correlation, name, result;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct call, start, "start"),
        DB_COLUMN(struct call, end, "end"),
        DB_OR(struct call, thread, "globalTid", 0),
        DB_OR(struct call, correlation, "correlationId", NSYS_NONE),
        DB_OR(struct call, name, "nameId", NSYS_NONE),
        DB_OR(struct call, result, "returnValue", 0),
    };
    struct nsys_calls *calls = &s->calls;
    struct db_rows rows;

    DB_SCAN(&rows, &s->db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns);
    while (db_read_row(&rows, &row)) {
        struct slice slice;
        if (!nsys_times(s, &rows, row.start, row.end, &slice))
            continue;
        if (row.result != 0)
            vec_push(&calls->failures, ((struct nsys_failure){calls->rows.n, row.result}));
        vec_push(&calls->rows,
                 ((struct nsys_call){.begin = slice.begin,
                                     .dur = slice.dur,
                                     .correlation = row.correlation,
                                     .thread = nsys_number(&calls->threads, row.thread),
                                     .name = nsys_number(&calls->names, row.name)}));
    }
}

/* What the calls of a thread share. */
struct call_thread {
    lane_id lane;
    uint32_t process;
};

/* The threads and names of the calls, which come in the order of their first call. */
static struct call_thread *know_threads(struct nsys *s)
{
    const struct nsys_numbers *list = &s->calls.threads;
    struct call_thread *threads = mem_grow(NULL, sizeof(*threads), list->ids.n);

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
                        : gpu_names_call(db_strings_text(&s->strings, list->ids.at[i])));
    return names;
}

void nsys_put_calls(struct nsys *s)
{
    struct capture *cap = s->cap;
    struct call_thread *threads = know_threads(s);
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

/* Only what threads that launch wait for says why the device idles; the lanes of these are known.
 */
void nsys_read_os_calls(struct nsys *s)
{
    struct call {
        int64_t start, end, thread, name;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct call, start, "start"),
        DB_COLUMN(struct call, end, "end"),
        DB_OR(struct call, thread, "globalTid", 0),
        DB_OR(struct call, name, "nameId", NSYS_NONE),
    };
    struct db_rows rows;

    DB_SCAN(&rows, &s->db, "OSRT_API", columns);
    while (db_read_row(&rows, &row)) {
        uint64_t global = (uint64_t)row.thread;
        struct slice slice = {.kind = SLICE_OS};
        uint32_t lane;
        if (!hash_get(&s->lane_of, hash_mix(global, UINT64_MAX), &lane) ||
            !nsys_times(s, &rows, row.start, row.end, &slice))
            continue;
        struct lane_key key = {
            .kind = LANE_THREAD, .device = -1, .pid = nsys_pid(global), .tid = nsys_tid(global)};
        key.process = capture_intern_format(s->cap, "process %lld", (long long)key.pid);
        key.name =
            capture_intern_format(s->cap, "Thread %lld, operating system", (long long)key.tid);
        slice.lane = capture_lane(s->cap, key);
        slice.name = nsys_name(s, row.name);
        capture_slice(s->cap, &slice);
    }
}

/* NVTX_EVENTS.eventType */
enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

struct range {
    int64_t start, end, thread, text_id, type, domain;
    struct str text;
};

static const struct db_column range_columns[] = {
    DB_COLUMN(struct range, start, "start"),
    DB_COLUMN(struct range, end, "end"),
    DB_OR(struct range, thread, "globalTid", 0),
    DB_COLUMN(struct range, text, "text"),
    DB_COLUMN(struct range, text_id, "textId"),
    DB_OR(struct range, type, "eventType", NVTX_PUSH_POP),
    DB_COLUMN(struct range, domain, "domainId"),
};

static bool take_range(struct nsys *s, const struct db_rows *rows, const struct range *range,
                       struct slice *slice)
{
    if (range->type == NVTX_MARK && range->end == DB_NONE) {
        s->i->rows++;
        slice->begin = range->start;
        return range->start != DB_NONE;
    }
    if (range->type != NVTX_MARK && range->type != NVTX_PUSH_POP && range->type != NVTX_START_END)
        return false; /* names of domains, categories and resources */
    return nsys_times(s, rows, range->start, range->end, slice);
}

void nsys_read_ranges(struct nsys *s)
{
    struct capture *cap = s->cap;
    struct db_rows rows;
    struct range range;

    DB_SCAN(&rows, &s->db, "NVTX_EVENTS", range_columns);
    while (db_read_row(&rows, &range)) {
        struct slice slice = {.kind = SLICE_ANNOTATION};
        if (!take_range(s, &rows, &range, &slice))
            continue;
        slice.name =
            range.text.n > 0 ? capture_intern(cap, range.text) : nsys_name(s, range.text_id);
        slice.lane = thread_lane(s, (uint64_t)range.thread);
        if (range.domain != DB_NONE) {
            struct attr attr = attr_int(capture_intern(cap, S("domain")), range.domain);
            slice.set = attrs_set(&cap->attrs, &attr, 1);
        }
        step_name_mark(cap, &slice, true);
        capture_slice(cap, &slice);
    }
}
