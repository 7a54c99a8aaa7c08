/*
 * rocprof-json: the JSON document of rocprofv3 (*_results.json): devices, kernels by number, the
 * words of calls, and a list of records for each sort of activity.
 *
 * Records name kernels, calls and devices by numbers that other members explain, and members may
 * come in any order: the document is read twice, first for the words, then for the records.
 * Format reference: docs/formats/rocprof.md
 */
#include "capture/classify.h"
#include "input/rocprof/rocprof.h"
#include "input/sidecar.h"
#include "input/trace/step_name.h"
#include "input/trace/trace_links.h"

static const struct str root_key = S_INIT("rocprofiler-sdk-tool");

enum { MAX_OPERATIONS = 1 << 16 }; /* of one kind of call */

struct document_reader {
    struct import *i;
    struct capture *cap;
    struct json j;
    uint64_t process; /* number of the process in the document */
    int64_t pid;
    bool has_words;         /* the second time */
    struct hash devices;    /* of (process, handle) */
    struct hash kernels;    /* names of (process, kernel) */
    struct hash operations; /* names of (process, kind, operation) */
    struct hash markers;    /* texts of (process, correlation) */
    struct hash kinds;      /* names of (process, kind) */
};

/* Numbers of one process. */
static uint64_t json_key_of(const struct document_reader *r, int64_t number)
{
    return hash_mix(r->process + 1, (uint64_t)number);
}

static strid json_word(const struct hash *words, uint64_t key)
{
    uint32_t id = 0;

    hash_get(words, key, &id);
    return id;
}

/* The number that comes; in an object the member `inside`. -1: none. */
static int64_t json_read_number(struct json *j, struct str inside)
{
    struct str key, value;
    int64_t number = -1;

    if (json_value(j, &value))
        return num_i64(value, &number) ? number : -1;
    if (!sidecar_enter(j))
        return -1;
    while (json_key(j, &key))
        if (str_equal(key, inside) && json_value(j, &value) && !num_i64(value, &number))
            number = -1;
    return number;
}

static strid take_text(struct document_reader *r)
{
    struct str value;

    return sidecar_value(&r->j, &value) ? sidecar_intern(r->cap, &r->j, value) : 0;
}

/* ---- words ---- */

static void take_agent(struct document_reader *r)
{
    struct json *j = &r->j;
    struct str key;
    int64_t handle = -1, type = 0, number = -1;
    strid product = 0;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        if (str_equal(key, S("id")))
            handle = json_read_number(j, S("handle"));
        else if (str_equal(key, S("type")))
            type = json_read_number(j, S(""));
        else if (str_equal(key, S("logical_node_type_id")))
            number = json_read_number(j, S(""));
        else if (str_equal(key, S("product_name")))
            product = take_text(r);
    }
    if (type != 2 || number < 0 || number > INT32_MAX) /* 1: a processor */
        return;
    hash_put(&r->devices, json_key_of(r, handle), (uint32_t)number);
    if (r->cap->facts.device_name == 0)
        r->cap->facts.device_name = product;
}

static void take_kernel_name(struct document_reader *r)
{
    struct json *j = &r->j;
    struct str key;
    int64_t id = -1;
    strid plain = 0, mangled = 0;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        if (str_equal(key, S("kernel_id")))
            id = json_read_number(j, S(""));
        else if (str_equal(key, S("formatted_kernel_name")))
            plain = take_text(r);
        else if (str_equal(key, S("kernel_name")))
            mangled = take_text(r);
    }
    struct str name = rocprof_kernel_name(capture_text(r->cap, plain != 0 ? plain : mangled));
    hash_put(&r->kernels, json_key_of(r, id), capture_intern(r->cap, name));
}

/* {"kind": "HIP_RUNTIME_API", "operations": [...]}; its place in the list is the kind's number. */
static void take_kind(struct document_reader *r, int64_t kind)
{
    struct json *j = &r->j;
    struct str key;
    int64_t n = 0;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        if (str_equal(key, S("kind"))) {
            hash_put(&r->kinds, json_key_of(r, kind), take_text(r));
            continue;
        }
        if (!str_equal(key, S("operations")) || !sidecar_enter_list(j))
            continue;
        for (n = 0; json_element(j) && n < MAX_OPERATIONS; n++)
            hash_put(&r->operations, hash_mix(json_key_of(r, kind), (uint64_t)n), take_text(r));
    }
}

static void take_marker(struct document_reader *r)
{
    struct json *j = &r->j;
    struct str key;
    int64_t link = -1;
    strid text = 0;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        if (str_equal(key, S("key")))
            link = json_read_number(j, S(""));
        else if (str_equal(key, S("value")))
            text = take_text(r);
    }
    hash_put(&r->markers, json_key_of(r, link), text);
}

static void take_strings(struct document_reader *r)
{
    struct json *j = &r->j;
    struct str key;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        bool is_kinds = str_equal(key, S("buffer_records"));
        if ((!is_kinds && !str_equal(key, S("marker_api"))) || !sidecar_enter_list(j))
            continue;
        for (int64_t n = 0; json_element(j) && n < MAX_OPERATIONS; n++) {
            if (is_kinds)
                take_kind(r, n);
            else
                take_marker(r);
        }
    }
}

/* ---- records ---- */

struct activity {
    int64_t kind, operation, thread, link, begin, end, bytes;
    int64_t kernel, agent, from, to, queue, stream;
    int64_t grid[3], block[3];
};

static void take_size(struct json *j, int64_t size[3])
{
    struct str key;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key))
        if (key.n == 1 && key.at[0] >= 'x' && key.at[0] <= 'z')
            size[key.at[0] - 'x'] = json_read_number(j, S(""));
}

static void take_dispatch(struct json *j, struct activity *a)
{
    struct str key;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        if (str_equal(key, S("agent_id")))
            a->agent = json_read_number(j, S("handle"));
        else if (str_equal(key, S("queue_id")))
            a->queue = json_read_number(j, S("handle"));
        else if (str_equal(key, S("kernel_id")))
            a->kernel = json_read_number(j, S(""));
        else if (str_equal(key, S("workgroup_size")))
            take_size(j, a->block);
        else if (str_equal(key, S("grid_size")))
            take_size(j, a->grid);
    }
}

static bool take_activity(struct json *j, struct activity *a)
{
    static const struct {
        struct str key, inside;
        size_t at;
    } members[] = {
        {S_INIT("kind"), S_INIT(""), offsetof(struct activity, kind)},
        {S_INIT("operation"), S_INIT(""), offsetof(struct activity, operation)},
        {S_INIT("thread_id"), S_INIT(""), offsetof(struct activity, thread)},
        {S_INIT("correlation_id"), S_INIT("internal"), offsetof(struct activity, link)},
        {S_INIT("start_timestamp"), S_INIT(""), offsetof(struct activity, begin)},
        {S_INIT("end_timestamp"), S_INIT(""), offsetof(struct activity, end)},
        {S_INIT("bytes"), S_INIT(""), offsetof(struct activity, bytes)},
        {S_INIT("src_agent_id"), S_INIT("handle"), offsetof(struct activity, from)},
        {S_INIT("dst_agent_id"), S_INIT("handle"), offsetof(struct activity, to)},
        {S_INIT("stream_id"), S_INIT("handle"), offsetof(struct activity, stream)},
    };
    struct str key;

    *a = (struct activity){.kind = -1,
                           .thread = -1,
                           .link = -1,
                           .begin = -1,
                           .end = -1,
                           .bytes = -1,
                           .agent = -1,
                           .stream = -1,
                           .queue = -1};
    if (!sidecar_enter(j))
        return false;
    while (json_key(j, &key)) {
        size_t m = 0;
        while (m < ARRAY_LEN(members) && !str_equal(members[m].key, key))
            m++;
        if (m < ARRAY_LEN(members))
            *(int64_t *)(void *)((char *)a + members[m].at) =
                json_read_number(j, members[m].inside);
        else if (str_equal(key, S("dispatch_info")))
            take_dispatch(j, a);
    }
    return j->token == JSON_OBJECT_END;
}

static int32_t json_device_of(const struct document_reader *r, int64_t agent)
{
    uint32_t number;

    return hash_get(&r->devices, json_key_of(r, agent), &number) ? (int32_t)number : -1;
}

static lane_id json_lane_of(struct document_reader *r, const struct activity *a, int32_t device)
{
    int64_t name = a->stream >= 0 ? a->stream : a->queue;

    return import_lane(
        r->cap, LANE_STREAM, device,
        name >= 0 ? capture_text(r->cap, capture_intern_format(r->cap, "%lld", (long long)name))
                  : S("copies"));
}

static bool json_add_kernel(struct document_reader *r, const struct activity *a,
                            struct slice *slice)
{
    struct attr set[2];
    int32_t device = json_device_of(r, a->agent);

    slice->name = json_word(&r->kernels, json_key_of(r, a->kernel));
    if (slice->name == 0)
        slice->name = capture_intern_format(r->cap, "kernel %lld", (long long)a->kernel);
    slice->kind = classify_kernel(VENDOR_AMD, S(""), capture_text(r->cap, slice->name), S(""));
    slice->lane = json_lane_of(r, a, device);
    slice->set = attrs_set(&r->cap->attrs, set, rocprof_shapes(r->cap, a->grid, a->block, set));
    return !import_is_other_device(r->i, device);
}

static bool add_copy(struct document_reader *r, const struct activity *a, struct slice *slice)
{
    int32_t to = json_device_of(r, a->to), device = to >= 0 ? to : json_device_of(r, a->from);

    slice->name =
        json_word(&r->operations, hash_mix(json_key_of(r, a->kind), (uint64_t)a->operation));
    if (slice->name == 0)
        slice->name = capture_intern(r->cap, S("MEMORY_COPY"));
    slice->kind = SLICE_COPY;
    slice->lane = json_lane_of(r, a, device);
    return !import_is_other_device(r->i, device);
}

static bool add_call(struct document_reader *r, const struct activity *a, struct slice *slice)
{
    strid text = json_word(&r->markers, json_key_of(r, a->link));

    slice->kind =
        rocprof_call_kind(capture_text(r->cap, json_word(&r->kinds, json_key_of(r, a->kind))));
    slice->name =
        json_word(&r->operations, hash_mix(json_key_of(r, a->kind), (uint64_t)a->operation));
    if (slice->kind == SLICE_ANNOTATION && text != 0)
        slice->name = text;
    slice->lane = rocprof_thread(r->cap, r->pid, a->thread);
    if (slice->kind == SLICE_ANNOTATION)
        step_name_mark(r->cap, slice, true);
    return true;
}

static void json_take_record(struct document_reader *r, struct str list)
{
    struct activity a;
    struct slice slice = {0};
    uint64_t at = json_offset(&r->j);
    struct attr own[2];
    size_t n = 0;

    if (!take_activity(&r->j, &a))
        return;
    slice.begin = a.begin;
    slice.dur = nanos_sub(a.end, a.begin);
    if (a.begin < 0 || a.end < 0 || !import_lasts(slice.dur)) {
        import_lose(r->i, import_byte(r->i, at), "rocprof.bad-row",
                    "record skipped: no begin or end");
        return;
    }
    bool is_kept = str_equal(list, S("kernel_dispatch")) ? json_add_kernel(r, &a, &slice)
                   : str_equal(list, S("memory_copy"))   ? add_copy(r, &a, &slice)
                                                         : add_call(r, &a, &slice);
    r->i->rows += is_kept;
    if (!is_kept)
        return;
    if (a.link > 0)
        own[n++] = attr_int(capture_key(r->cap, KEY_LINK), a.link);
    if (a.bytes >= 0)
        own[n++] = attr_int(capture_intern(r->cap, S("bytes")), a.bytes);
    slice.own = attrs_own(&r->cap->attrs, own, n);
    capture_slice(r->cap, &slice);
}

static void take_records(struct document_reader *r)
{
    struct str key;

    if (!sidecar_enter(&r->j))
        return;
    while (json_key(&r->j, &key)) {
        bool is_known = str_equal(key, S("kernel_dispatch")) || str_equal(key, S("memory_copy")) ||
                        str_ends(key, S("_api"));
        if (!is_known || !sidecar_enter_list(&r->j))
            continue;
        while (json_element(&r->j))
            json_take_record(r, key);
    }
}

/* ---- the document ---- */

static void take_metadata(struct document_reader *r)
{
    struct str key, value;

    if (!sidecar_enter(&r->j))
        return;
    while (json_key(&r->j, &key)) {
        if (str_equal(key, S("pid"))) {
            r->pid = json_read_number(&r->j, S(""));
        } else if (str_equal(key, S("node")) && sidecar_enter(&r->j)) {
            while (json_key(&r->j, &key))
                if (str_equal(key, S("hostname")) && sidecar_value(&r->j, &value))
                    r->cap->facts.host = sidecar_intern(r->cap, &r->j, value);
        }
    }
}

static void take_words(struct document_reader *r, void (*take)(struct document_reader *r))
{
    if (sidecar_enter_list(&r->j))
        while (json_element(&r->j))
            take(r);
}

static void take_process(struct document_reader *r)
{
    struct str key;

    if (!sidecar_enter(&r->j))
        return;
    while (json_key(&r->j, &key)) {
        if (str_equal(key, S("metadata")))
            take_metadata(r);
        else if (r->has_words && str_equal(key, S("buffer_records")))
            take_records(r);
        else if (!r->has_words && str_equal(key, S("strings")))
            take_strings(r);
        else if (!r->has_words && str_equal(key, S("agents")))
            take_words(r, take_agent);
        else if (!r->has_words && str_equal(key, S("kernel_symbols")))
            take_words(r, take_kernel_name);
    }
}

/* Reads the document once; false when it is none. */
static bool read_once(struct document_reader *r)
{
    struct str key;
    bool is_found = false;

    json_open(&r->j, r->i->in->text, JSON_LENIENT);
    if (json_next(&r->j) != JSON_OBJECT)
        return false;
    while (json_key(&r->j, &key)) {
        if (!str_equal(key, root_key) || !sidecar_enter_list(&r->j))
            continue;
        is_found = true;
        for (r->process = 0; json_element(&r->j); r->process++)
            take_process(r);
    }
    return is_found;
}

static enum status read_rocprof_json(struct import *i)
{
    struct document_reader *r = mem_grow(NULL, sizeof(*r), 1);

    memset(r, 0, sizeof(*r));
    r->i = i;
    r->cap = i->cap;
    bool is_found = read_once(r);
    if (is_found) {
        r->has_words = true;
        read_once(r);
        sidecar_damaged(i, &r->j, "rocprof.damaged");
        i->cap->facts.kind = capture_intern(i->cap, S("rocprof"));
        trace_links_add(i->cap, 0);
    }
    hash_free(&r->devices);
    hash_free(&r->kernels);
    hash_free(&r->operations);
    hash_free(&r->markers);
    hash_free(&r->kinds);
    mem_free(r);
    return is_found ? ST_OK
                    : import_refuse(i, import_file(i), "rocprof.no-header",
                                    "not a document of rocprofv3");
}

static int json_probe(const struct probe *p)
{
    return sidecar_begins(p->head, root_key) ? 95 : 0;
}

const struct input_format input_rocprof_json = {
    .name = "rocprof-json",
    .summary = "document of rocprofv3 (JSON, also gzip)",
    .looks_for = "*_results.json",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_AMD,
    .source = SOURCE_KERNEL_TABLE,
    .names = "*_results.json",
    .probe = json_probe,
    .read = read_rocprof_json,
};
