#include "base/db_testing.h"
#include "input/testing_import.h"

static enum status read_sql(const char *sql)
{
    struct str bytes = db_made(sql);
    enum status st = input_read(
        &input_nsys,
        &(struct input_file){.path = "x.sqlite", .text = bytes, .diag = &diag, .options = &options},
        cap);

    free((void *)(uintptr_t)bytes.at);
    capture_seal(cap);
    return st;
}

/* Process 2 is 33554432 (2 << 24), its thread 5 is 33554437; process 3 is 50331648. */
#define STRINGS                                                                                    \
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"                                  \
    "INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'void gemm<128>(Params)'),"      \
    "(3,'gemm'),(4,'ncclDevKernel_AllReduce'),(5,'cudaGraphLaunch'),(6,'forward');"

#define KERNELS                                                                                    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId,"       \
    "globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ,"            \
    "registersPerThread, staticSharedMemory, dynamicSharedMemory);"                                \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"                                                \
    "(100,150,0,7,101,33554432,2,3,16,8,1,256,1,1,64,1024,32),"                                    \
    "(170,200,0,20,102,33554432,4,4,1,1,1,512,1,1,96,0,0);"

#define CALLS                                                                                      \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"      \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "                                              \
    "(50,60,33554437,101,1),(70,75,50331653,102,1),"                                               \
    "(80,90,33554437,102,1);"

static size_t nsys_find(const char *name)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (str_equal(capture_text(cap, cap->slices.name[i]), str_of(name)))
            return i;
    fail_msg("no slice is called %s", name);
    return 0;
}

static struct str text_attr(size_t slice, struct str key)
{
    struct attr a = attrs_get(&cap->attrs, cap->slices.set[slice], intern_find(&cap->strings, key));

    return a.type == ATTR_TEXT ? capture_text(cap, a.text) : S("");
}

TEST(kernels_stand_on_the_lane_of_their_stream)
{
    assert_int_equal(read_sql(STRINGS KERNELS), ST_OK);

    size_t gemm = nsys_find("void gemm<128>(Params)"), nccl = nsys_find("ncclDevKernel_AllReduce");
    const struct lane_key *key = &cap->lanes.at[cap->slices.lane[gemm]].key;
    assert_int_equal(cap->slices.begin[gemm], 100);
    assert_int_equal(cap->slices.dur[gemm], 50);
    assert_int_equal(cap->slices.kind[gemm], SLICE_COMPUTE);
    assert_int_equal(cap->slices.kind[nccl], SLICE_COMM);
    assert_str(capture_text(cap, key->name), "7");
    assert_int_equal(key->device, 0);
    assert_str(capture_slice_text(cap, gemm, KEY_CORE), "GPU");
    assert_str(text_attr(gemm, S("short_name")), "gemm");
    assert_str(text_attr(gemm, S("grid")), "16,8,1");
    assert_str(text_attr(gemm, S("block")), "256,1,1");
    assert_int_equal(capture_slice_attr(cap, nccl, KEY_WAIT).time, 20);
    assert_int_equal(diag.entries.n, 0);
}

TEST(arrows_join_the_process_and_the_correlation)
{
    read_sql(STRINGS KERNELS CALLS);

    assert_int_equal(cap->flows.n, 2); /* process 3 used correlation 102 too, for something else */
    for (size_t i = 0; i < 2; i++) {
        const struct flow *f = &cap->flows.at[i];
        assert_int_equal(f->kind, FLOW_LAUNCH);
        assert_int_equal(cap->lanes.at[cap->slices.lane[f->from]].key.pid, 2);
        assert_int_equal(cap->lanes.at[cap->slices.lane[f->from]].key.tid, 5);
        assert_int_equal(cap->slices.begin[f->to], cap->slices.begin[f->from] == 50 ? 100 : 170);
    }
    assert_int_equal(cap->slices.kind[nsys_find("cudaLaunchKernel")], SLICE_RUNTIME);
}

#define CALL_OF_2                                                                                  \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"      \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50,60,33554437,101,1);"
#define WORK_OF_NOBODY                                                                             \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, correlationId, demangledName);" \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,150,0,101,2);"

TEST(work_of_an_unknown_process_belongs_to_the_only_one_that_calls)
{
    read_sql(STRINGS WORK_OF_NOBODY CALL_OF_2);

    assert_int_equal(cap->flows.n, 1);
    assert_int_equal(cap->slices.begin[cap->flows.at[0].from], 50);
    assert_int_equal(cap->slices.begin[cap->flows.at[0].to], 100);
}

TEST(work_of_an_unknown_process_is_nobodys_when_several_call)
{
    read_sql(STRINGS WORK_OF_NOBODY CALL_OF_2
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (70,75,50331653,102,1);");

    assert_int_equal(cap->flows.n, 0);
}

TEST(streams_of_a_second_process_are_lanes_of_their_own)
{
    read_sql(STRINGS KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                             "(300,310,0,7,101,50331648,2,3,1,1,1,1,1,1,1,0,0);");

    size_t lanes = 0;
    for (size_t i = 0; i < cap->lanes.n; i++)
        lanes += str_equal(capture_text(cap, cap->lanes.at[i].key.name), S("7"));
    assert_int_equal(lanes, 2);
}

TEST(copies_fills_and_whole_graphs_are_work_and_synchronisation_is_not)
{
    read_sql(STRINGS
             "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, streamId, bytes,"
             "copyKind, srcKind, dstKind);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10,20,0,7,4096,1,1,2);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, streamId, bytes, "
             "memKind);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (30,35,0,7,64,2);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, streamId, "
             "graphId);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (40,90,0,7,5);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, syncType);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (40,95,0,4);");

    assert_int_equal(cap->slices.kind[nsys_find("Memcpy HtoD (Pinned -> Device)")], SLICE_COPY);
    assert_int_equal(cap->slices.kind[nsys_find("Memset (Device)")], SLICE_COPY);
    assert_int_equal(cap->slices.kind[nsys_find("CUDA graph 5")], SLICE_COMPUTE);
    assert_int_equal(cap->slices.kind[nsys_find("Context Sync")], SLICE_WAIT);
    assert_int_equal(diag_count(&diag, "nsys.graph-level"), 1);
}

/* Thread 9 of process 2 makes no runtime call, so nobody asks what it waits for. */
TEST(calls_of_the_operating_system_are_read_of_threads_that_launch)
{
    read_sql(STRINGS KERNELS CALLS "CREATE TABLE OSRT_API(start, end, globalTid, nameId);"
                                   "INSERT INTO OSRT_API VALUES (20,40,33554437,6),"
                                   "(20,40,33554441,3);");

    size_t wait = nsys_find("forward"), call = nsys_find("cudaLaunchKernel");
    assert_int_equal(cap->slices.kind[wait], SLICE_OS);
    assert_int_equal(cap->lanes.at[cap->slices.lane[wait]].key.tid, 5);
    assert_int_not_equal(cap->slices.lane[wait], cap->slices.lane[call]);
    for (size_t i = 0; i < cap->slices.n; i++)
        assert_int_not_equal(cap->lanes.at[cap->slices.lane[i]].key.tid, 9);
}

TEST(ranges_are_annotations_and_some_are_steps)
{
    read_sql(STRINGS "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid);"
                     "INSERT INTO NVTX_EVENTS VALUES (10,90,59,'step3',NULL,33554437),"
                     "(20,30,60,NULL,6,33554437),(25,NULL,34,'here',NULL,33554437),"
                     "(5,NULL,75,'a domain',NULL,33554437),(6,NULL,59,'open',NULL,33554437);");

    assert_int_equal(cap->slices.n, 3);
    assert_int_equal(cap->slices.kind[nsys_find("step3")], SLICE_STEP);
    assert_int_equal(cap->slices.kind[nsys_find("forward")], SLICE_ANNOTATION);
    assert_int_equal(cap->slices.dur[nsys_find("here")], 0);
    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->marks.at[0].number, 3);
    assert_int_equal(cap->marks.at[0].end, 90);
    assert_int_equal(diag_count(&diag, "nsys.no-time"), 1);
}

TEST(clock_and_device_are_told)
{
    read_sql(
        STRINGS KERNELS
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1760000000000000000);"
        "CREATE TABLE TARGET_INFO_GPU(id, name, smCount, clockRate, computeMajor, computeMinor);"
        "INSERT INTO TARGET_INFO_GPU VALUES (1,'other',1,1,1,1),"
        "(0,'NVIDIA H200',132,1980000000,9,0);"
        "CREATE TABLE META_DATA_EXPORT(name, value);"
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION','3.25.0');");

    assert_true(cap->clock.has_unix);
    assert_int_equal(cap->clock.to_unix, 1760000000000000000);
    assert_str(capture_text(cap, cap->facts.device_name), "NVIDIA H200");
    assert_str(capture_text(cap, cap->facts.device_cc), "9.0");
    assert_int_equal(cap->facts.device_cores, 132);
    assert_int_equal(cap->facts.device_clock, 1980000000);
    assert_str(capture_text(cap, cap->facts.kind), "nsys");
    assert_str(capture_text(cap, cap->facts.producer), "nsys export schema 3.25.0");
}

TEST(old_exports_without_most_columns_are_read)
{
    read_sql("CREATE TABLE StringIds(id, value);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,5),(NULL,2),(9,8);");

    assert_int_equal(cap->slices.n, 1);
    assert_str(capture_text(cap, cap->slices.name[0]), "unnamed kernel");
    assert_int_equal(diag_count(&diag, "nsys.no-time"), 1);
    assert_int_equal(diag_count(&diag, "nsys.bad-duration"), 1);
    assert_int_equal(cap->sources.at[0].lost, 2);
}

TEST(exports_in_which_nothing_has_a_name_are_read)
{
    assert_int_equal(read_sql("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, bytes);"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1,5,64);"
                              "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, shortName);"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (9,12,7);"),
                     ST_OK);
    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(diag_count(&diag, "nsys.no-name"), 1);
}

TEST(of_several_gpus_the_lowest_is_read_or_the_chosen_one)
{
    static const char sql[] = STRINGS KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                                              "(300,310,3,7,101,33554432,2,3,1,1,1,1,1,1,1,0,0);";

    read_sql(sql);
    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(diag_count(&diag, "nsys.several-devices"), 1);
    capture_free(cap);
    cap = capture_new();
    options.device = 3;
    read_sql(sql);
    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(cap->facts.device, 3);
}

static int64_t nsys_number_of(size_t slice, struct str key)
{
    strid id = intern_find(&cap->strings, key);
    struct attr a = attrs_get(&cap->attrs, cap->slices.own[slice], id);

    if (a.type == ATTR_NONE)
        a = attrs_get(&cap->attrs, cap->slices.set[slice], id);
    return a.type == ATTR_INT ? a.number : -1;
}

TEST(what_timelines_need_is_kept)
{
    assert_int_equal(
        read_sql(STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId,"
                         "globalPid, demangledName, contextId, graphNodeId, graphId,"
                         "staticSharedMemory, dynamicSharedMemory, localMemoryPerThread);"
                         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                         "(100,150,0,7,33554432,2,3,77,5,1024,32,16);"
                         "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId,"
                         "syncType, globalPid, contextId, streamId, eventId, correlationId);"
                         "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                         "(10,11,0,2,33554432,3,7,9,101);"
                         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, nameId,"
                         "returnValue);"
                         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
                         "(50,60,33554437,1,0),(70,75,33554437,5,700);"
                         "CREATE TABLE PROFILER_OVERHEAD(start, end, nameId);"
                         "INSERT INTO PROFILER_OVERHEAD VALUES (1,2,6);"),
        ST_OK);
    size_t kernel = nsys_find("void gemm<128>(Params)"), wait = nsys_find("Stream Wait Event");
    assert_int_equal(nsys_number_of(kernel, S("context")), 3);
    assert_int_equal(nsys_number_of(kernel, S("graph node id")), 77);
    assert_int_equal(nsys_number_of(kernel, S("graph id")), 5);
    assert_int_equal(nsys_number_of(kernel, S("shared memory")), 1056);
    assert_int_equal(nsys_number_of(kernel, S("static shared memory")), 1024);
    assert_int_equal(nsys_number_of(kernel, S("local memory per thread")), 16);
    assert_int_equal(nsys_number_of(wait, S("stream")), 7);
    assert_int_equal(nsys_number_of(wait, S("event")), 9);
    assert_int_equal(nsys_number_of(wait, S("pid")), 2);
    assert_int_equal(nsys_number_of(nsys_find("cudaGraphLaunch"), S("result")), 700);
    assert_int_equal(nsys_number_of(nsys_find("cudaLaunchKernel"), S("result")), -1);
    assert_int_equal(cap->slices.kind[nsys_find("forward")], SLICE_OTHER);
}

TEST(the_kind_is_known_by_its_tables)
{
    static const struct {
        const char *sql;
        int score;
    } cases[] = {
        {STRINGS KERNELS, 90},
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end);", 90},
        {"CREATE TABLE StringIds(id); CREATE TABLE NVTX_EVENTS(start);", 90},
        {"CREATE TABLE NVTX_EVENTS(start);", 0},
        {"CREATE TABLE StringIds(id);", 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str bytes = db_made(cases[i].sql);
        struct probe p = {"x.bin", S("x.bin"), bytes};
        assert_int_equal(input_probe(&input_nsys, &p), cases[i].score);
        free((void *)(uintptr_t)bytes.at);
    }
    assert_int_equal(read_sql("CREATE TABLE t(a);"), ST_FORMAT);
}

TEST_MAIN("input/nsys/in_nsys", TF(kernels_stand_on_the_lane_of_their_stream),
          TF(calls_of_the_operating_system_are_read_of_threads_that_launch),
          TF(arrows_join_the_process_and_the_correlation),
          TF(work_of_an_unknown_process_belongs_to_the_only_one_that_calls),
          TF(work_of_an_unknown_process_is_nobodys_when_several_call),
          TF(streams_of_a_second_process_are_lanes_of_their_own),
          TF(copies_fills_and_whole_graphs_are_work_and_synchronisation_is_not),
          TF(ranges_are_annotations_and_some_are_steps), TF(clock_and_device_are_told),
          TF(old_exports_without_most_columns_are_read),
          TF(exports_in_which_nothing_has_a_name_are_read),
          TF(of_several_gpus_the_lowest_is_read_or_the_chosen_one), TF(what_timelines_need_is_kept),
          TF(the_kind_is_known_by_its_tables))
