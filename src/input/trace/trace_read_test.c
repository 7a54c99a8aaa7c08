#include "input/trace/trace_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/run/pool.h"
#include "base/testing.h"
#include "capture/capture.h"
#include "input/ascend/kernel_index.h"

static struct capture *cap;
static struct diag diag;

static void restart(void)
{
    diag_fini(&diag);
    capture_free(cap);
    cap = capture_new();
    diag_init(&diag);
}

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    diag_init(&diag);
    return 0;
}

static int done(void **state)
{
    (void)state;
    diag_fini(&diag);
    capture_free(cap);
    return 0;
}

static enum status read_as(enum trace_dialect dialect, struct str text)
{
    struct input_options options = input_defaults();
    struct input_file in = {.path = "t.json", .text = text, .diag = &diag, .options = &options};
    enum status st = trace_read(&(struct import){.in = &in, .cap = cap}, dialect, "test");

    capture_seal(cap);
    return st;
}

/* The number of the slice of that name. */
static size_t read_find(const char *name)
{
    strid id = intern_find(&cap->strings, str_of(name));

    for (size_t i = 0; i < cap->slices.n; i++)
        if (id != 0 && cap->slices.name[i] == id)
            return i;
    fail_msg("no slice %s", name);
    return 0;
}

static struct attr attr_of(size_t slice, const char *key)
{
    strid id = intern_find(&cap->strings, str_of(key));
    struct attr own = attrs_get(&cap->attrs, cap->slices.own[slice], id);

    return own.type != ATTR_NONE ? own : attrs_get(&cap->attrs, cap->slices.set[slice], id);
}

static const struct lane *read_lane_of(size_t slice)
{
    return &cap->lanes.at[cap->slices.lane[slice]];
}

static bool has_flow(enum flow_kind kind, const char *from, const char *to)
{
    for (size_t i = 0; i < cap->flows.n; i++)
        if (cap->flows.at[i].kind == kind && cap->flows.at[i].from == read_find(from) &&
            cap->flows.at[i].to == read_find(to))
            return true;
    return false;
}

/* Every sort of event an Ascend timeline has; names of processes come last. */
static const struct str ascend = S_INIT(
    "[{\"ph\": \"X\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 7, \"ts\": "
    "\"1736412474700001.000\", \"dur\": 13.733, \"cat\": \"cpu_op\", \"args\": {\"Sequence "
    "number\": -1, \"Input Dims\": \"8,7;\\r\\n7\", \"Input type\": \"DT_BF16;\\r\\nINT64\", "
    "\"Call "
    "stack\": \"a.py(1): f;\\r\\nb.py(2): g\"}},"
    "{\"ph\":\"X\",\"name\":\"ProfilerStep#5\",\"pid\":7,\"tid\":7,\"ts\":\"1736412474700000.000\","
    "\"dur\":900.5,\"cat\":\"cpu_op\",\"args\":{}},"
    "{\"ph\":\"X\",\"name\":\"Enqueue\",\"pid\":7,\"tid\":7,\"ts\":\"1736412474700002.000\","
    "\"dur\":"
    "1.8,\"cat\":\"enqueue\",\"args\":{\"correlation_id\":8001}},"
    "{\"ph\":\"s\",\"bp\":\"e\",\"name\":\"enqueue_to_dequeue\",\"id\":8001,\"pid\":7,\"tid\":7,"
    "\"ts\":\"1736412474700002.000\",\"cat\":\"async_task_queue\"},"
    "{\"ph\":\"X\",\"name\":\"Dequeue@mm\",\"pid\":7,\"tid\":8,\"ts\":\"1736412474700003.000\","
    "\"dur\":8.346,\"cat\":\"dequeue\",\"args\":{\"correlation_id\":8001}},"
    "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"enqueue_to_dequeue\",\"id\":8001,\"pid\":7,\"tid\":8,"
    "\"ts\":\"1736412474700003.000\",\"cat\":\"async_task_queue\"},"
    "{\"name\":\"AscendCL@mm\",\"pid\":224,\"tid\":8,\"ts\":\"1736412474700004.000\",\"dur\":5,"
    "\"args\":{\"Thread Id\":8,\"Mode\":\"ACL_OP\",\"level\":\"acl\",\"id\":\"mm\",\"item_id\":"
    "\"0\",\"connection_id\":903},\"ph\":\"X\"},"
    "{\"name\":\"HostToDevice38\",\"ph\":\"s\",\"cat\":\"HostToDevice\",\"id\":\"3878355599359\","
    "\"pid\":224,\"tid\":8,\"ts\":\"1736412474700004.000\"},"
    "{\"name\":\"mm_kernel\",\"pid\":256,\"tid\":47,\"ts\":\"1736412474700020.779\",\"dur\":50.025,"
    "\"args\":{\"Model Id\":4294967295,\"Task Type\":\"AIC\",\"Physic Stream Id\":47,\"Task "
    "Id\":11,"
    "\"Batch Id\":0,\"Subtask Id\":4294967295,\"connection_id\":903},\"ph\":\"X\"},"
    "{\"name\":\"HostToDevice38\",\"ph\":\"f\",\"id\":\"3878355599359\",\"ts\":"
    "\"1736412474700020.779\",\"cat\":\"HostToDevice\",\"pid\":256,\"tid\":47,\"bp\":\"e\"},"
    "{\"name\":\"EVENT_WAIT\",\"pid\":256,\"tid\":47,\"ts\":\"1736412474700080.000\",\"dur\":2,"
    "\"args\":{\"Task Type\":\"EVENT_WAIT_SQE\"},\"ph\":\"X\"},"
    "{\"name\":\"MEMCPY_ASYNC\",\"pid\":256,\"tid\":47,\"ts\":\"1736412474700090.000\",\"dur\":2,"
    "\"args\":{\"Task Type\":\"SDMA_SQE\",\"size(B)\":64},\"ph\":\"X\"},"
    "{\"name\":\"hcom_allReduce__001_0_1\",\"pid\":288,\"tid\":0,\"ts\":\"1736412474700100.000\","
    "\"dur\":600,\"args\":{\"connection_id\":934,\"model id\":4294967295,\"count\":58720256},"
    "\"ph\":\"X\"},"
    "{\"name\":\"Notify_Wait\",\"pid\":288,\"tid\":1,\"ts\":\"1736412474700101.000\",\"dur\":3,"
    "\"args\":{\"transport type\":\"SDMA\",\"bandwidth(GB/s)\":0.25},\"ph\":\"X\"},"
    "{\"name\":\"Computing\",\"pid\":320,\"tid\":0,\"ts\":\"1736412474700020.779\",\"dur\":50,"
    "\"ph\":\"X\"},"
    "{\"name\":\"HBM 0/Read\",\"ts\":\"1736412474700000.000\",\"pid\":352,\"tid\":0,\"args\":{"
    "\"Read(MB/s)\":906448.1},\"ph\":\"C\"},"
    "{\"ph\":\"s\",\"bp\":\"e\",\"name\":\"torch_to_npu\",\"id\":1736412474700020779,\"pid\":7,"
    "\"tid\":7,\"ts\":\"1736412474700001.000\",\"cat\":\"async_npu\"},"
    "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"torch_to_npu\",\"id\":1736412474700020779,\"pid\":256,"
    "\"tid\":47,\"ts\":\"1736412474700020.779\",\"cat\":\"async_npu\"},"
    "{\"name\":\"process_name\",\"pid\":7,\"tid\":0,\"args\":{\"name\":\"Python\"},\"ph\":\"M\"},"
    "{\"name\":\"process_name\",\"pid\":224,\"tid\":0,\"args\":{\"name\":\"CANN\"},\"ph\":\"M\"},"
    "{\"name\":\"process_name\",\"pid\":256,\"tid\":0,\"args\":{\"name\":\"Ascend Hardware\"},"
    "\"ph\":\"M\"},"
    "{\"name\":\"process_labels\",\"pid\":256,\"tid\":0,\"args\":{\"labels\":\"NPU 3\"},\"ph\":"
    "\"M\"},"
    "{\"name\":\"process_name\",\"pid\":288,\"tid\":0,\"args\":{\"name\":\"Communication\"},\"ph\":"
    "\"M\"},"
    "{\"name\":\"thread_name\",\"pid\":288,\"tid\":0,\"args\":{\"name\":\"Group 0 Communication\"},"
    "\"ph\":\"M\"},"
    "{\"name\":\"thread_name\",\"pid\":288,\"tid\":1,\"args\":{\"name\":\"Plane 0\"},\"ph\":\"M\"},"
    "{\"name\":\"thread_name\",\"pid\":7,\"tid\":7,\"args\":{\"name\":\"Thread 7\"},\"ph\":\"M\"},"
    "{\"name\":\"process_name\",\"pid\":320,\"tid\":0,\"args\":{\"name\":\"Overlap Analysis\"},"
    "\"ph\":\"M\"},"
    "{\"name\":\"process_name\",\"pid\":352,\"tid\":0,\"args\":{\"name\":\"HBM\"},\"ph\":\"M\"}]");

enum { ASCEND_EVENTS = 28 };

TEST(every_event_of_an_ascend_timeline_gets_its_kind)
{
    static const struct {
        const char *name;
        enum slice_kind kind;
        enum lane_kind lane;
    } want[] = {
        {"aten::mm", SLICE_HOST_OP, LANE_THREAD},
        {"ProfilerStep#5", SLICE_STEP, LANE_THREAD},
        {"Enqueue", SLICE_QUEUE, LANE_THREAD},
        {"Dequeue@mm", SLICE_QUEUE, LANE_THREAD},
        {"AscendCL@mm", SLICE_RUNTIME, LANE_THREAD},
        {"mm_kernel", SLICE_COMPUTE, LANE_STREAM},
        {"EVENT_WAIT", SLICE_WAIT, LANE_STREAM},
        {"MEMCPY_ASYNC", SLICE_COPY, LANE_STREAM},
        {"hcom_allReduce__001_0_1", SLICE_COMM, LANE_COMM},
        {"Notify_Wait", SLICE_OTHER, LANE_OTHER},
        {"Computing", SLICE_OTHER, LANE_OTHER},
    };

    assert_int_equal(read_as(TRACE_ASCEND, ascend), ST_OK);

    assert_int_equal(cap->slices.n, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(cap->slices.kind[read_find(want[i].name)], want[i].kind);
        assert_int_equal(read_lane_of(read_find(want[i].name))->key.kind, want[i].lane);
    }
    assert_int_equal(diag.entries.n, 0);
    assert_int_equal(cap->sources.at[0].rows, ASCEND_EVENTS);
    assert_str(capture_text(cap, cap->facts.kind), "ascend_pytorch");
    assert_true(cap->clock.has_unix);
}

TEST(times_and_arguments_are_kept_exactly)
{
    read_as(TRACE_ASCEND, ascend);

    size_t op = read_find("aten::mm"), kernel = read_find("mm_kernel");
    assert_int_equal(cap->slices.begin[op], 1736412474700001000);
    assert_int_equal(cap->slices.dur[op], 13733);
    assert_str(capture_slice_text(cap, op, KEY_INPUT_SHAPES), "8,7;7");
    assert_str(capture_slice_text(cap, op, KEY_INPUT_DTYPES), "DT_BF16;INT64");
    assert_str(capture_slice_text(cap, op, KEY_STACK), "a.py(1): f;\r\nb.py(2): g");
    assert_str(capture_slice_text(cap, op, KEY_CAT), "cpu_op");
    assert_int_equal(attr_of(op, "Sequence number").type, ATTR_NONE);
    assert_str(capture_slice_text(cap, kernel, KEY_CORE), "AI_CORE");
    assert_int_equal(capture_slice_attr(cap, kernel, KEY_TASK).number, 11);
    assert_int_equal(capture_slice_attr(cap, kernel, KEY_LINK).number, 903);
    assert_int_equal(attr_of(kernel, "Model Id").type, ATTR_NONE);
    assert_int_equal(attr_of(read_find("hcom_allReduce__001_0_1"), "count").number, 58720256);
    assert_true(attr_of(read_find("Notify_Wait"), "bandwidth(GB/s)").real == 0.25);
    assert_int_equal(attr_of(read_find("MEMCPY_ASYNC"), "size(B)").number, 64);
}

TEST(a_stream_is_named_by_its_number_and_a_thread_by_its_name)
{
    read_as(TRACE_ASCEND, ascend);

    const struct lane_key *stream = &read_lane_of(read_find("mm_kernel"))->key;
    assert_str(capture_text(cap, stream->name), "47");
    assert_int_equal(stream->device, 3);
    assert_int_equal(stream->process, 0);
    assert_int_equal(stream->pid, 0);
    const struct lane_key *thread = &read_lane_of(read_find("aten::mm"))->key;
    assert_str(capture_text(cap, thread->name), "Thread 7");
    assert_str(capture_text(cap, thread->process), "Python");
    assert_int_equal(thread->pid, 7);
    assert_int_equal(thread->tid, 7);
}

TEST(arrows_join_launches_and_kernels)
{
    read_as(TRACE_ASCEND, ascend);

    assert_int_equal(cap->flows.n, 3);
    assert_true(has_flow(FLOW_LAUNCH, "AscendCL@mm", "mm_kernel"));
    assert_true(has_flow(FLOW_LAUNCH, "aten::mm", "mm_kernel"));
    assert_true(has_flow(FLOW_QUEUE, "Enqueue", "Dequeue@mm"));
}

TEST(counters_and_step_marks_are_kept)
{
    read_as(TRACE_ASCEND, ascend);

    assert_int_equal(cap->series.n, 1);
    assert_str(capture_text(cap, cap->series.at[0].process), "HBM");
    assert_str(capture_text(cap, cap->series.at[0].name), "HBM 0/Read");
    assert_str(capture_text(cap, cap->series.at[0].unit), "Read(MB/s)");
    assert_true(cap->series.at[0].samples.at[0].value == 906448.1);
    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->marks.at[0].number, 5);
    assert_int_equal(cap->marks.at[0].source, MARK_PROFILER_STEP);
    assert_int_equal(cap->marks.at[0].end, 1736412474700900500);
}

/* All that two captures of one file must share. */
static uint64_t digest(const struct capture *c)
{
    const struct slices *s = &c->slices;
    uint64_t h = s->n;

#define MIX(value) h = hash_mix(h, (uint64_t)(value))
#define MIX_COLUMN(column)                                                                         \
    for (size_t i = 0; i < s->n; i++)                                                              \
    MIX(s->column[i])
    MIX_COLUMN(begin);
    MIX_COLUMN(dur);
    MIX_COLUMN(lane);
    MIX_COLUMN(name);
    MIX_COLUMN(set);
    MIX_COLUMN(own);
    MIX_COLUMN(kind);
    for (size_t i = 0; i < c->strings.strings.n; i++)
        MIX(hash_bytes(c->strings.strings.at[i]));
    MIX(hash_bytes((struct str){(const char *)c->attrs.bytes.at, c->attrs.bytes.n}));
    for (size_t i = 0; i < c->flows.n; i++)
        MIX((uint64_t)c->flows.at[i].from << 32 | c->flows.at[i].to);
    for (size_t i = 0; i < c->lanes.n; i++)
        MIX((uint64_t)c->lanes.at[i].key.name << 32 | c->lanes.at[i].n);
    MIX(c->series.n);
    MIX(c->marks.n);
    MIX(c->sources.at[0].rows);
    MIX(c->sources.at[0].lost);
    return h;
}

static uint64_t digest_cut(struct str text, enum trace_dialect dialect, size_t piece, size_t reach,
                           struct pool *pool)
{
    struct input_options options = input_defaults();
    struct input_file in = {.path = "t.json", .text = text, .diag = &diag, .options = &options};

    restart();
    options.pool = pool;
    assert_int_equal(trace_read_cut(&(struct import){.in = &in, .cap = cap}, dialect, "test",
                                    (struct trace_cut){piece, reach}),
                     ST_OK);
    capture_seal(cap);
    return digest(cap);
}

/* Texts for which the place of a cut could matter. */
static const struct str tricky[] = {
    /* an event inside a string inside an event, and one in an argument */
    S_INIT("[{\"ph\":\"X\",\"name\":\",{\\\"ph\\\":\\\"X\\\",\\\"ts\\\":1},{\",\"ts\":1,\"dur\":1,"
           "\"args\":{\"list\":[{\"ph\":\"X\",\"name\":\"inner\",\"ts\":5,\"dur\":5},{\"ph\":1}]}},"
           "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1}\n,\n{\"ph\":\"X\",\"name\":\"c\","
           "\"ts\":3,\"dur\":1}]"),
    /* damage: an unclosed string, a missing comma, an event cut in two */
    S_INIT(
        "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"lost,\"ts\":2,"
        "\"dur\":1},{\"ph\":\"X\",\"name\":\"b\",\"ts\":3,\"dur\":1},{\"ph\":\"X\",\"na,{\"ph\":"
        "\"X\",\"name\":\"c\",\"ts\":4,\"dur\":1},{\"ph\":\"X\",\"name\":\"d\",\"ts\":5,\"dur\":1}"
        ",{\"ph\":\"X\",\"name\":\"e\",\"ts\":6,\"dur\":1}]"),
    /* objects that are no events */
    S_INIT("[{},{\"a\":[1,2,{\"b\":3}]},7,\"text\",[1,[2]],{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,"
           "\"dur\":1},null,{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1}]"),
    /* begins and ends, nested */
    S_INIT(
        "[{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1},{\"ph\":\"B\",\"name\":\"b\","
        "\"pid\":1,\"tid\":1,\"ts\":2,\"args\":{\"n\":1}},{\"ph\":\"E\",\"pid\":1,\"tid\":1,"
        "\"ts\":3},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5}]"),
    /* members around the events */
    S_INIT(
        "{\"schemaVersion\":1,\"x\":{\"traceEvents\":[]},\"traceEvents\":[{\"ph\":\"X\",\"name\":"
        "\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":2}],"
        "\"baseTimeNanoseconds\":77}"),
};

static void same_for_all_cuts(struct str text, enum trace_dialect dialect, struct pool **pools)
{
    static const size_t pieces[] = {1, 7, 64, 100, 256, 1000};
    static const size_t reaches[] = {0, 1, 64, 4096};
    uint64_t whole = digest_cut(text, dialect, text.n + 1, 64, NULL);

    for (size_t p = 0; p < ARRAY_LEN(pieces); p++)
        for (size_t r = 0; r < ARRAY_LEN(reaches); r++)
            for (size_t t = 0; t < 3; t++)
                if (digest_cut(text, dialect, pieces[p], reaches[r], pools[t]) != whole)
                    fail_msg("piece %zu reach %zu threads %zu of %.40s", pieces[p], reaches[r], t,
                             text.at);
}

TEST(neither_cuts_nor_threads_change_the_result)
{
    struct pool *pools[] = {NULL, pool_new(2), pool_new(8)};

    same_for_all_cuts(ascend, TRACE_ASCEND, pools);
    for (size_t i = 0; i < ARRAY_LEN(tricky); i++)
        same_for_all_cuts(tricky[i], TRACE_CHROME, pools);
    for (size_t t = 0; t < 3; t++)
        pool_free(pools[t]);
}

/* Pieces keep their numbers until they are too many: some texts come again, most do not. */
TEST(numbers_that_are_forgotten_change_nothing)
{
    enum { EVENTS = 2000, LONG = 1200 };
    struct pool *pools[] = {NULL, pool_new(2), pool_new(8)};
    size_t room = EVENTS * (LONG + 300), n = 1;
    char *text = mem_grow(NULL, 1, room);

    text[0] = '[';
    for (int i = 0; i < EVENTS; i++)
        n += (size_t)snprintf(text + n, room - n,
                              "{\"ph\": \"X\", \"name\": \"op%d\", \"pid\": %d, \"tid\": %d, "
                              "\"ts\": \"%d.000\", \"dur\": 1.5, \"cat\": \"c%d\", \"args\": "
                              "{\"k%d\": \"%0*d\", \"connection_id\": %d}}%s",
                              i % 50, i % 3, i % 4, i, i % 2, i % 5, LONG, i % 60 == 0 ? 0 : i, i,
                              i + 1 < EVENTS ? ", " : "]");
    assert_true(n < room);
    uint64_t whole = digest_cut((struct str){text, n}, TRACE_ASCEND, n + 1, 64, NULL);
    for (size_t t = 0; t < 3; t++)
        assert_true(digest_cut((struct str){text, n}, TRACE_ASCEND, 40000, 4096, pools[t]) ==
                    whole);
    for (size_t t = 0; t < 3; t++)
        pool_free(pools[t]);
    mem_free(text);
}

/* A large trace of many layouts; one event is longer than what lies behind a piece. */
static char *make_large(size_t *n)
{
    enum { EVENTS = 40000, LONG = 300000, ROOM = EVENTS * 400 + 2 * LONG };
    char *text = mem_grow(NULL, 1, ROOM);

    *n = 1;
    text[0] = '[';
    for (int i = 0; i < EVENTS; i++)
        *n += (size_t)snprintf(text + *n, ROOM - *n,
                               "{\"ph\": \"X\", \"name\": \"op%d\", \"pid\": %d, \"tid\": %d, "
                               "\"ts\": \"%d.000\", \"dur\": 1.5, \"cat\": \"c%d\", \"args\": "
                               "{\"k%d\": \"%0*d\", \"connection_id\": %d}}%s",
                               i % 700, i % 3, i % 4, i, i % 2, i % 5,
                               i == EVENTS / 2 ? LONG : 20 + i % 100, i, i,
                               i + 1 < EVENTS ? ", " : "]");
    assert_true(*n < ROOM);
    return text;
}

static uint64_t digest_file(const char *path, struct trace_cut cut, struct pool *pool)
{
    struct input_options options = input_defaults();
    struct input_file in = {.path = path, .diag = &diag, .options = &options};

    restart();
    options.pool = pool;
    assert_int_equal(
        trace_read_cut(&(struct import){.in = &in, .cap = cap}, TRACE_ASCEND, "test", cut), ST_OK);
    capture_seal(cap);
    return digest(cap);
}

/* A large file is mapped, window by window; it gives what the same text in memory gives. */
TEST(a_mapped_file_is_like_its_text)
{
    static const struct trace_cut cuts[] = {{384 << 10, 16 << 10}, {100000, 4096}, {5 << 20, 64}};
    struct pool *pools[] = {NULL, pool_new(2), pool_new(8)};
    char path[] = "/tmp/strata-test-XXXXXX";
    size_t n;
    char *text = make_large(&n);
    int fd = mkstemp(path);

    assert_true(fd >= 0 && n > 2 * (size_t)MAPFILE_READ_MAX);
    assert_int_equal(write(fd, text, n), n);
    close(fd);
    uint64_t whole = digest_cut((struct str){text, n}, TRACE_ASCEND, n + 1, 64, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++)
        for (size_t t = 0; t < 3; t++)
            assert_true(digest_file(path, cuts[i], pools[t]) == whole);
    for (size_t t = 0; t < 3; t++)
        pool_free(pools[t]);
    unlink(path);
    mem_free(text);
}

TEST(a_truncated_file_keeps_every_complete_event)
{
    for (size_t n = 2; n < ascend.n; n += 11) {
        restart();
        assert_int_equal(read_as(TRACE_ASCEND, str_part(ascend, 0, n)), ST_OK);
        assert_int_equal(diag_count(&diag, "trace.truncated"), 1);
        assert_int_equal(cap->sources.at[0].lost <= 1, 1);
    }
    /* 18 events end before the names of the processes */
    size_t cut = str_find(ascend, S("{\"name\":\"process_name\""));
    restart();
    read_as(TRACE_ASCEND, str_part(ascend, 0, cut));
    assert_int_equal(cap->sources.at[0].rows, 18);
    assert_int_equal(cap->sources.at[0].lost, 0);
    assert_int_equal(cap->slices.kind[read_find("mm_kernel")], SLICE_COMPUTE);
    assert_int_equal(cap->slices.kind[read_find("hcom_allReduce__001_0_1")], SLICE_COMM);
    assert_int_equal(read_lane_of(read_find("mm_kernel"))->key.kind, LANE_STREAM);
    assert_int_equal(cap->slices.kind[read_find("AscendCL@mm")], SLICE_RUNTIME);
}

TEST(damage_costs_the_damaged_event_and_is_counted_with_its_place)
{
    read_as(TRACE_CHROME, tricky[1]);

    assert_int_equal(cap->slices.n, 5);
    assert_int_equal(diag_count(&diag, "trace.damaged-event"), 2);
    assert_int_equal(diag.entries.at[0].severity, SEV_LOSS);
    assert_int_equal(diag.entries.at[0].first[0].where.byte,
                     1 + str_find(tricky[1], S("{\"ph\":\"X\",\"name\":\"lost")));
    assert_int_equal(cap->sources.at[0].lost, 2);
}

/* `n` events of one length with noise in place of those from `from` to `to`. */
static struct str holed_trace(size_t n, size_t from, size_t to)
{
    enum { EVENT = 64 };
    char *text = malloc(n * EVENT + 2), *at = text;

    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        int used =
            snprintf(at, EVENT, "%c{\"ph\":\"X\",\"name\":\"k\",\"ts\":%zu,\"dur\":1,\"tid\":1",
                     i == 0 ? '[' : ',', 10000000 + i);
        memset(at + used, ' ', (size_t)(EVENT - used));
        at[EVENT - 1] = '}';
        at += EVENT;
    }
    memset(text + from * EVENT, 'x', (to - from) * EVENT);
    *at++ = ']';
    return (struct str){text, (size_t)(at - text)};
}

TEST(a_damaged_region_is_sized_in_bytes_and_events)
{
    struct str text = holed_trace(10000, 3000, 8000);

    assert_int_equal(read_as(TRACE_CHROME, text), ST_OK);
    assert_int_equal(cap->slices.n, 5000);
    assert_int_equal(diag_count(&diag, "trace.damaged-event"), 1);
    assert_int_equal(diag_count(&diag, "input.damaged-region"), 1);
    assert_in_range(cap->sources.at[0].lost, 4990, 5010);
    restart();
    free((char *)(uintptr_t)text.at);

    text = holed_trace(10000, 3000, 10000); /* to the end */
    assert_int_equal(read_as(TRACE_CHROME, text), ST_OK);
    assert_int_equal(cap->slices.n, 3000);
    assert_in_range(cap->sources.at[0].lost, 6980, 7020);
    free((char *)(uintptr_t)text.at);
}

TEST(what_profilers_leave_behind_is_accepted_and_counted)
{
    read_as(
        TRACE_CHROME,
        S("[{\"ph\":\"X\",\"name\":\"a\tb\",\"ts\":1,\"dur\":1,},{\"ph\":\"X\",\"name\":\"\xff\","
          "\"ts\":2,\"dur\":1,\"args\":{\"v\":NaN}},][{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,"
          "\"dur\":1}{\"ph\":\"X\",\"name\":\"d\",\"ts\":4,\"dur\":1}]"));

    assert_int_equal(cap->slices.n, 4);
    assert_int_equal(diag_count(&diag, "trace.missing-comma"), 1);
    assert_int_equal(diag_count(&diag, "trace.control-characters"), 1);
    assert_int_equal(diag_count(&diag, "trace.bad-utf8"), 1);
    assert_int_equal(diag_count(&diag, "trace.not-finite"), 1);
    assert_int_equal(diag_count(&diag, "trace.trailing-comma"), 2);
    assert_int_equal(diag_count(&diag, "trace.joined-arrays"), 1);
    read_find("a\xEF\xBF\xBD"
              "b");
    read_find("\xEF\xBF\xBD");
}

TEST(ids_beyond_64_bits_of_an_integer_keep_their_digits)
{
    read_as(
        TRACE_KINETO,
        S("[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,"
          "\"args\":{\"correlation\":18446744073709551615}}]"));

    assert_str(capture_slice_text(cap, read_find("k"), KEY_LINK), "18446744073709551615");
}

TEST(events_of_no_use_are_counted_by_reason)
{
    read_as(TRACE_CHROME,
            S("[{\"ph\":\"X\",\"name\":\"a\",\"dur\":1},{\"ph\":\"X\",\"ts\":1},{\"ph\":\"X\","
              "\"ts\":1,\"dur\":-1},{\"ph\":\"X\",\"ts\":1,\"dur\":604800000001},{\"ph\":\"q\","
              "\"ts\":1},{\"name\":\"b\"},5,{\"ph\":\"E\",\"ts\":1},{\"ph\":\"B\",\"ts\":1}]"));

    assert_int_equal(cap->slices.n, 0);
    assert_int_equal(diag_count(&diag, "trace.no-time"), 1);
    assert_int_equal(diag_count(&diag, "trace.no-duration"), 1);
    assert_int_equal(diag_count(&diag, "trace.bad-duration"), 2);
    assert_int_equal(diag_count(&diag, "trace.unknown-phase"), 1);
    assert_int_equal(diag_count(&diag, "trace.no-phase"), 1);
    assert_int_equal(diag_count(&diag, "trace.not-an-event"), 1);
    assert_int_equal(diag_count(&diag, "trace.unpaired"), 2);
}

TEST(begins_and_ends_are_paired_on_their_row)
{
    read_as(TRACE_CHROME, tricky[3]);

    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->slices.dur[read_find("a")], 4000);
    assert_int_equal(cap->slices.dur[read_find("b")], 1000);
    assert_int_equal(attr_of(read_find("b"), "n").number, 1);
}

TEST(of_equal_keys_the_last_one_counts)
{
    read_as(TRACE_CHROME, S("[{\"ph\":\"B\",\"ph\":\"X\",\"name\":\"a\",\"name\":\"b\",\"ts\":1,"
                            "\"dur\":1,\"ts\":\"2.5\",\"args\":{\"n\":1,\"n\":2}}]"));

    assert_int_equal(cap->slices.begin[read_find("b")], 2500);
    assert_int_equal(attr_of(0, "n").number, 2);
}

TEST(an_arrow_without_a_slice_at_its_time_goes_to_the_one_around_it)
{
    read_as(TRACE_CHROME,
            S("[{\"ph\":\"X\",\"name\":\"out\",\"pid\":\"p\",\"tid\":\"x\",\"ts\":0,\"dur\":100},"
              "{\"ph\":\"X\",\"name\":\"in\",\"pid\":\"p\",\"tid\":\"x\",\"ts\":10,\"dur\":10},"
              "{\"ph\":\"X\",\"name\":\"to\",\"pid\":\"p\",\"tid\":\"y\",\"ts\":50,\"dur\":5},"
              "{\"ph\":\"s\",\"id\":\"0x1f\",\"cat\":\"c\",\"pid\":\"p\",\"tid\":\"x\",\"ts\":15},"
              "{\"ph\":\"f\",\"id\":\"0x1f\",\"cat\":\"c\",\"pid\":\"p\",\"tid\":\"y\",\"ts\":52,"
              "\"bp\":\"e\"},"
              "{\"ph\":\"s\",\"id\":9,\"cat\":\"c\",\"pid\":\"p\",\"tid\":\"x\",\"ts\":30},"
              "{\"ph\":\"f\",\"id\":9,\"cat\":\"c\",\"pid\":\"p\",\"tid\":\"y\",\"ts\":50}]"));

    assert_int_equal(cap->flows.n, 2);
    assert_true(has_flow(FLOW_OTHER, "in", "to"));
    assert_true(has_flow(FLOW_OTHER, "out", "to"));
}

static const struct str kineto = S_INIT(
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", "
    "\"numSms\": 132, \"computeMajor\": 9, \"computeMinor\": 0}], "
    "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8, "
    "\"pg_config\": [7, {\"pg_name\": \"1\", \"ranks\": [0, 4], \"pg_desc\": \"mesh_dp\"}]}, "
    "\"record_shapes\": 1, \"traceEvents\": ["
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":404,\"tid\":404,"
    "\"ts\":3847.000,\"dur\":900,\"args\":{\"External id\":1}},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":404,\"tid\":404,\"ts\":3847."
    "100,"
    "\"dur\":20,\"args\":{\"Input Dims\":[[32, 10],[4],[]],\"Input type\":[\"long int\",\"\"]}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":404,\"tid\":404,"
    "\"ts\":3848.000,\"dur\":5.5,\"args\":{\"cbid\":211,\"correlation\":55}},"
    "{\"ph\":\"s\",\"id\":55,\"pid\":404,\"tid\":404,\"ts\":3848.000,\"cat\":\"ac2g\",\"name\":"
    "\"ac2g\"},"
    "{\"ph\":\"f\",\"id\":55,\"pid\":404,\"tid\":404,\"ts\":3848.000,\"cat\":\"ac2g\",\"name\":"
    "\"ac2g\",\"bp\":\"e\"},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":3860.001,"
    "\"dur\":"
    "3.488,\"args\":{\"correlation\":55,\"grid\":[1, 2, 3],\"registers per thread\":32}},"
    "{\"ph\":\"f\",\"id\":55,\"pid\":0,\"tid\":7,\"ts\":3860.001,\"cat\":\"ac2g\",\"bp\":\"e\"},"
    "{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":0,\"tid\":20,"
    "\"ts\":3870,\"dur\":1,\"args\":{}},"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\",\"pid\":0,\"tid\":7,\"ts\":3880,"
    "\"dur\":1,\"args\":{\"bytes\":128}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Sync\",\"pid\":0,\"tid\":7,\"ts\":3890,"
    "\"dur\":1},"
    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#9\",\"pid\":0,\"tid\":7,"
    "\"ts\":3860,\"dur\":100},"
    "{\"ph\":\"X\",\"cat\":\"Trace\",\"ts\":3800,\"dur\":1,\"pid\":\"Spans\",\"tid\":\"P\","
    "\"name\":"
    "\"PyTorch Profiler (0)\"},"
    "{\"name\":\"Record Window "
    "End\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"\",\"tid\":\"\",\"ts\":4000},"
    "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":404,\"tid\":0,\"args\":{\"name\":\"python3\"}}"
    "], \"with_stack\": 1, \"baseTimeNanoseconds\": 1735632360000000000}");

/* Collectives and their kernels as strata writes them. */
TEST(waits_and_devices_of_our_own_traces_come_back)
{
    read_as(
        TRACE_ASCEND,
        S("{\"traceEvents\":["
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"Communication\"}}"
          ","
          "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":\"NPU 3\"}},"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":5.000,\"dur\":2.000,\"cat\":\"comm\","
          "\"name\":\"hcom_allReduce__1\",\"args\":{\"wait_ns\":4294967295}},"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":9.000,\"dur\":2.000,\"cat\":\"comm\","
          "\"name\":\"hcom_allReduce__2\",\"args\":{\"wait_ns\":2001}}]}"));

    struct attr wait = capture_slice_attr(cap, read_find("hcom_allReduce__2"), KEY_WAIT);
    assert_int_equal(wait.type, ATTR_TIME);
    assert_int_equal(wait.time, 2001);
    wait = capture_slice_attr(cap, read_find("hcom_allReduce__1"), KEY_WAIT);
    assert_int_equal(wait.time, 4294967295);
    assert_int_equal(read_lane_of(read_find("hcom_allReduce__2"))->key.kind, LANE_COMM);
    assert_int_equal(read_lane_of(read_find("hcom_allReduce__2"))->key.device, 3);
}

TEST(a_kineto_trace_tells_devices_by_category)
{
    assert_int_equal(read_as(TRACE_KINETO, kineto), ST_OK);

    assert_int_equal(cap->slices.n, 9);
    assert_int_equal(cap->slices.kind[read_find("Record Window End")], SLICE_OTHER);
    assert_int_equal(cap->slices.kind[read_find("ProfilerStep#2")], SLICE_STEP);
    assert_int_equal(cap->slices.kind[read_find("ProfilerStep#9")], SLICE_OTHER);
    assert_int_equal(cap->slices.kind[read_find("gemm")], SLICE_COMPUTE);
    assert_int_equal(cap->slices.kind[read_find("ncclDevKernel_AllReduce")], SLICE_COMM);
    assert_int_equal(cap->slices.kind[read_find("Memcpy HtoD")], SLICE_COPY);
    assert_int_equal(cap->slices.kind[read_find("Stream Sync")], SLICE_WAIT);
    assert_int_equal(cap->slices.kind[read_find("cudaLaunchKernel")], SLICE_RUNTIME);
    assert_int_equal(read_lane_of(read_find("gemm"))->key.kind, LANE_STREAM);
    assert_int_equal(read_lane_of(read_find("gemm"))->key.device, 0);
    assert_str(capture_text(cap, read_lane_of(read_find("gemm"))->key.name), "7");
    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->flows.n, 1);
    assert_true(has_flow(FLOW_LAUNCH, "cudaLaunchKernel", "gemm"));
    assert_int_equal(capture_slice_attr(cap, read_find("gemm"), KEY_LINK).number, 55);
    assert_str(capture_text(cap, attr_of(read_find("gemm"), "grid").text), "[1, 2, 3]");
    assert_str(capture_slice_text(cap, read_find("aten::mm"), KEY_INPUT_SHAPES), "32,10;4;");
    assert_str(capture_slice_text(cap, read_find("aten::mm"), KEY_INPUT_DTYPES), "long int;");
    assert_int_equal(cap->sources.at[0].rows, 14);
}

TEST(members_around_the_events_become_facts)
{
    read_as(TRACE_KINETO, kineto);

    assert_int_equal(cap->facts.rank, 3);
    assert_int_equal(cap->facts.world_size, 8);
    assert_int_equal(cap->comm_groups.n, 1);
    assert_str(capture_text(cap, cap->comm_groups.at[0].name), "mesh_dp");
    assert_str(capture_text(cap, cap->comm_groups.at[0].ranks), "0,4");
    assert_int_equal(cap->facts.record_shapes, 1);
    assert_int_equal(cap->facts.with_stack, 1);
    assert_str(capture_text(cap, cap->facts.device_name), "NVIDIA H200");
    assert_str(capture_text(cap, cap->facts.device_cc), "9.0");
    assert_int_equal(cap->facts.device_cores, 132);
    assert_int_equal(cap->clock.to_unix, 1735632360000000000);
    assert_true(cap->clock.has_unix);
}

TEST(kernels_of_a_table_are_not_told_twice)
{
    struct arena arena;
    struct lane_key key = {.kind = LANE_STREAM, .device = -1};

    arena_init(&arena);
    key.name = capture_intern(cap, S("47"));
    capture_slice(cap, &(struct slice){.begin = 1736412474700020778, /* 1 ns away */
                                       .dur = 50025,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, S("mm_kernel")),
                                       .kind = SLICE_COMPUTE});
    capture_slice(cap, &(struct slice){.begin = 1736412474800000000,
                                       .dur = 10,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, S("hcom_broadcast_")),
                                       .kind = SLICE_COMM});
    struct input_options options = input_defaults();
    struct input_file in = {.path = "t.json",
                            .text = ascend,
                            .diag = &diag,
                            .options = &options,
                            .kernels = kernel_index_build(cap, &arena)};
    assert_int_equal(trace_read(&(struct import){.in = &in, .cap = cap}, TRACE_ASCEND, "test"),
                     ST_OK);
    capture_seal(cap);

    /* The kernel is the table's, this collective is not in it, the other nine are there. */
    assert_int_equal(cap->slices.n, 2 + 9);
    assert_int_equal(cap->slices.begin[read_find("mm_kernel")], 1736412474700020778);
    assert_int_equal(cap->slices.lane[read_find("mm_kernel")],
                     cap->slices.lane[read_find("EVENT_WAIT")]);
    assert_true(has_flow(FLOW_LAUNCH, "AscendCL@mm", "mm_kernel"));
    assert_true(has_flow(FLOW_LAUNCH, "aten::mm", "mm_kernel"));
    assert_int_equal(diag_count(&diag, "trace.unmatched-kernel"), 1);
    assert_int_equal(cap->marks.n, 1);
    arena_free(&arena);
}

TEST(the_words_of_a_file_tell_its_dialect)
{
    static const struct {
        struct str head;
        int chrome, kineto, trace_view;
    } cases[] = {
        {S_INIT("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}]"), 50, 0, 0},
        {S_INIT("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"1.000\"}]"), 50, 0, 90},
        {S_INIT(" {\"schemaVersion\": 1, \"deviceProperties\": ["), 50, 90, 0},
        {S_INIT("[{\"ph\":\"X\",\"cat\":\"Kernel\",\"ts\":1}]"), 50, 90, 0},
        {S_INIT("{\"config\": {}}"), 0, 0, 0},
        {S_INIT("Name,Type\n"), 0, 0, 0},
        {S_INIT(""), 0, 0, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct probe p = {.path = "x.json", .name = S("x.json"), .head = cases[i].head};
        assert_int_equal(input_probe(&input_chrome_trace, &p), cases[i].chrome);
        assert_int_equal(input_probe(&input_kineto, &p), cases[i].kineto);
        assert_int_equal(input_probe(&input_trace_view, &p), cases[i].trace_view);
    }
}

TEST(names_of_timelines_are_claimed)
{
    assert_true(input_claims(&input_trace_view, S("trace_view.json")));
    assert_true(input_claims(&input_trace_view, S("msprof_20250101120000.json")));
    assert_true(input_claims(&input_trace_view, S("msprof_slice_0_20250101120000.json")));
    assert_false(input_claims(&input_trace_view, S("msprof_.json")));
    assert_false(input_claims(&input_trace_view, S("msprof_tx.json")));
    assert_true(input_claims(&input_kineto, S("host_1.1700.pt.trace.json.gz")));
    assert_false(input_claims(&input_kineto, S("trace.json")));
}

TEST(a_file_without_events_is_refused)
{
    assert_int_equal(read_as(TRACE_CHROME, S("{\"a\": 1}")), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "trace.no-events"), 1);
    restart();
    assert_int_equal(read_as(TRACE_CHROME, S("[]")), ST_OK);
    assert_int_equal(cap->slices.n, 0);
    assert_int_equal(diag.entries.n, 0);
}

/* The last event is damaged; the members behind the list are still found. */
TEST(a_second_list_of_events_is_told)
{
    assert_int_equal(
        read_as(TRACE_CHROME,
                S("{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}], "
                  "\"traceEvents\": [{\"ph\": \"X\", \"name\": \"b\", \"ts\": 1, \"dur\": 1}]}")),
        ST_OK);

    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(diag_count(&diag, "trace.second-list"), 1);
    assert_int_equal(cap->sources.at[0].lost, 1);
}

TEST(members_behind_a_damaged_last_event_are_read)
{
    static const char *const last[] = {
        "{\"ph\": \"X\", \"ts\": 2 \"dur\": 1, \"args\": {\"d\": [[1], [2]], \"e\": 3}}",
        "{\"ph\": \"X\", \"name\": \"b, \"ts\": 2, \"dur\": 1}",
        "{\"ph\": \"X\", \"name\": \"b\", \"ts\": 2, \"dur\": 1",
    };
    char text[512];

    for (size_t i = 0; i < ARRAY_LEN(last); i++) {
        int n =
            snprintf(text, sizeof(text),
                     "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", "
                     "\"ts\": 1, \"dur\": 1}, %s], \"list\": [1, 2], "
                     "\"baseTimeNanoseconds\": 77, \"traceName\": \"x]\"}\n",
                     last[i]);
        restart();
        assert_int_equal(read_as(TRACE_KINETO, (struct str){text, (size_t)n}), ST_OK);
        assert_int_equal(cap->clock.to_unix, 77);
        assert_int_equal(cap->sources.at[0].lost, 1);
        assert_int_equal(cap->slices.n, 1);
    }
}

TEST(the_maker_of_a_gpu_is_in_its_name_or_in_our_header)
{
    static const struct str texts[] = {
        S_INIT("{\"deviceProperties\":[{\"name\":\"AMD Instinct MI300X\"}],\"traceEvents\":[]}"),
        S_INIT("{\"otherData\":{\"producer\":\"strata\",\"vendor\":\"amd\"},\"traceEvents\":[]}"),
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        restart();
        assert_int_equal(read_as(TRACE_KINETO, texts[i]), ST_OK);
        assert_int_equal(cap->facts.vendor, VENDOR_AMD);
    }
}

TEST_MAIN("input/trace/trace_read", TF(a_second_list_of_events_is_told),
          TF(every_event_of_an_ascend_timeline_gets_its_kind),
          TF(times_and_arguments_are_kept_exactly),
          TF(a_stream_is_named_by_its_number_and_a_thread_by_its_name),
          TF(arrows_join_launches_and_kernels), TF(counters_and_step_marks_are_kept),
          TF(numbers_that_are_forgotten_change_nothing),
          TF(neither_cuts_nor_threads_change_the_result), TF(a_mapped_file_is_like_its_text),
          TF(a_truncated_file_keeps_every_complete_event),
          TF(damage_costs_the_damaged_event_and_is_counted_with_its_place),
          TF(a_damaged_region_is_sized_in_bytes_and_events),
          TF(what_profilers_leave_behind_is_accepted_and_counted),
          TF(ids_beyond_64_bits_of_an_integer_keep_their_digits),
          TF(events_of_no_use_are_counted_by_reason), TF(begins_and_ends_are_paired_on_their_row),
          TF(of_equal_keys_the_last_one_counts),
          TF(an_arrow_without_a_slice_at_its_time_goes_to_the_one_around_it),
          TF(waits_and_devices_of_our_own_traces_come_back),
          TF(a_kineto_trace_tells_devices_by_category), TF(members_around_the_events_become_facts),
          TF(kernels_of_a_table_are_not_told_twice), TF(the_words_of_a_file_tell_its_dialect),
          TF(names_of_timelines_are_claimed), TF(a_file_without_events_is_refused),
          TF(members_behind_a_damaged_last_event_are_read),
          TF(the_maker_of_a_gpu_is_in_its_name_or_in_our_header))
