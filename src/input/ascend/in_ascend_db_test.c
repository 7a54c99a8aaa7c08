#include "base/db_testing.h"
#include "input/db_devices.h"
#include "input/testing_import.h"

static enum status read_as(const char *path, const char *sql)
{
    struct str bytes = db_made(sql);
    enum status st = input_read(
        &input_ascend_db,
        &(struct input_file){.path = path, .text = bytes, .diag = &diag, .options = &options}, cap);

    free((void *)(uintptr_t)bytes.at);
    capture_seal(cap);
    return st;
}

static enum status read_sql(const char *sql)
{
    return read_as("ascend_pytorch_profiler_3.db", sql);
}

#define STRINGS                                                                                    \
    "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"                                 \
    "INSERT INTO STRING_IDS VALUES (0,'KERNEL_AIVEC'),(1,'EVENT_WAIT'),(2,'MEMCPY_ASYNC'),"        \
    "(3,'Add1'),(4,'Add'),(5,'AI_VECTOR_CORE'),(6,'32,3;16'),(7,'N/A'),(8,'hcom_allReduce__1_0')," \
    "(9,'hcom_allReduce_'),(10,'MatMul2'),(11,'MatMul'),(12,'AI_CORE'),(13,'launch'),"             \
    "(14,'aclrtMemcpy'),(15,'aiv_vec_ratio'),(16,'group7'),(17,'Notify_Wait'),"                    \
    "(18,'Notify Wait'),(19,'barrierAicpuKernel'),(268435456,'aten::add'),(268435457,'Enqueue'),"  \
    "(268435458,'Dequeue@add'),(268435459,'ProfilerStep#5'),(268435460,'train.py(7): f'),"         \
    "(268435461,'main.py(1): g');"

#define TASKS                                                                                      \
    "CREATE TABLE TASK(startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType," \
    "contextId, streamId, taskId, modelId);"                                                       \
    "INSERT INTO TASK VALUES (1000,1400,0,70,100,9,0,0,2,51,0),(1500,1600,0,71,101,9,1,0,2,52,0)," \
    "(2000,2100,0,72,102,9,0,0,3,53,0),(1200,1900,0,73,103,9,2,0,2,54,0);"                         \
    "CREATE TABLE COMPUTE_TASK_INFO(name, globalTaskId, blockNum, mixBlockDim, taskType, opType,"  \
    "inputShapes, outputShapes, opState, waitNs);"                                                 \
    "INSERT INTO COMPUTE_TASK_INFO VALUES (3,100,32,0,5,4,6,7,NULL,99),"                           \
    "(10,102,8,0,12,11,6,7,NULL,99);"

#define COLLECTIVES                                                                                \
    "CREATE TABLE COMMUNICATION_OP(opName, startNs, endNs, connectionId, groupName, opId, "        \
    "opType);"                                                                                     \
    "INSERT INTO COMMUNICATION_OP VALUES (8,1600,1950,74,16,1,9);"

static size_t db_find(const char *name)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (str_equal(capture_text(cap, cap->slices.name[i]), str_of(name)))
            return i;
    fail_msg("no slice is called %s", name);
    return 0;
}

static size_t count_kind(enum slice_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        n += cap->slices.kind[i] == kind;
    return n;
}

static struct str lane_name(size_t slice)
{
    return capture_text(cap, cap->lanes.at[cap->slices.lane[slice]].key.name);
}

TEST(a_described_task_is_a_kernel_on_the_lane_of_its_stream)
{
    assert_int_equal(read_sql(STRINGS TASKS), ST_OK);

    size_t add = db_find("Add1");
    assert_int_equal(cap->slices.begin[add], 1000);
    assert_int_equal(cap->slices.dur[add], 400);
    assert_int_equal(cap->slices.kind[add], SLICE_COMPUTE);
    assert_str(lane_name(add), "2");
    assert_str(capture_slice_text(cap, add, KEY_TYPE), "Add");
    assert_str(capture_slice_text(cap, add, KEY_CORE), "AI_VECTOR_CORE");
    assert_str(capture_slice_text(cap, add, KEY_INPUT_SHAPES), "32,3;16");
    assert_int_equal(capture_slice_attr(cap, add, KEY_OUTPUT_SHAPES).type, ATTR_NONE);
    assert_int_equal(capture_slice_attr(cap, add, KEY_BLOCK_DIM).number, 32);
    assert_int_equal(capture_slice_attr(cap, add, KEY_TASK).number, 51);
    assert_int_equal(capture_slice_attr(cap, add, KEY_LINK).number, 70);
    assert_int_equal(cap->sources.at[0].rows, 4);
    assert_int_equal(cap->sources.at[0].lost, 0);
    assert_int_equal(diag.entries.n, 0);
}

TEST(waits_are_derived_over_kernels_and_collectives_of_all_streams)
{
    read_sql(STRINGS TASKS COLLECTIVES);

    /* Add1 ends at 1400, the collective runs 1600 to 1950, MatMul2 begins at 2000. */
    size_t comm = db_find("hcom_allReduce__1_0");
    assert_int_equal(capture_slice_attr(cap, db_find("Add1"), KEY_WAIT).time, 0);
    assert_int_equal(capture_slice_attr(cap, comm, KEY_WAIT).time, 200);
    assert_int_equal(capture_slice_attr(cap, db_find("MatMul2"), KEY_WAIT).time, 50);
    assert_int_equal(cap->slices.kind[comm], SLICE_COMM);
    assert_int_equal(cap->lanes.at[cap->slices.lane[comm]].key.kind, LANE_COMM);
    assert_str(lane_name(comm), "N/A");
    assert_str(capture_slice_text(cap, comm, KEY_CORE), "HCCL");
    assert_str(capture_slice_text(cap, comm, KEY_TYPE), "hcom_allReduce_");
}

TEST(the_core_of_a_collective_is_spelled_as_its_version_does)
{
    read_sql(STRINGS TASKS COLLECTIVES "CREATE TABLE ENUM_API_TYPE(id, name);"
                                       "INSERT INTO ENUM_API_TYPE VALUES (5500,'communication');");
    assert_str(capture_slice_text(cap, db_find("hcom_allReduce__1_0"), KEY_CORE), "COMMUNICATION");
}

TEST(waits_are_evidence_and_copies_are_work)
{
    read_sql(STRINGS TASKS);
    assert_int_equal(cap->slices.kind[db_find("EVENT_WAIT")], SLICE_WAIT);
    assert_int_equal(cap->slices.kind[db_find("MEMCPY_ASYNC")], SLICE_COPY);

    capture_free(cap);
    cap = capture_new();
    read_sql(STRINGS TASKS "CREATE TABLE MEMCPY_INFO(globalTaskId, size, memcpyOperation);"
                           "INSERT INTO MEMCPY_INFO VALUES (103, 4096, 1);");
    size_t copy = db_find("MEMCPY_ASYNC");
    assert_int_equal(cap->slices.kind[copy], SLICE_COPY);
    strid size = intern_find(&cap->strings, S("size(B)"));
    assert_int_equal(attrs_get(&cap->attrs, cap->slices.own[copy], size).number, 4096);
}

TEST(steps_of_a_collective_stand_on_planes_and_are_never_work)
{
    read_sql(
        STRINGS TASKS
        "INSERT INTO TASK VALUES (1650,1700,0,74,104,9,18,0,4,55,0);"
        "CREATE TABLE COMMUNICATION_TASK_INFO(name, globalTaskId, taskType, planeId, groupName,"
        "size, srcRank, dstRank, opId);"
        "INSERT INTO COMMUNICATION_TASK_INFO VALUES (8,104,17,2,16,0,0,1,1);");

    size_t step = db_find("Notify_Wait");
    assert_int_equal(cap->slices.kind[step], SLICE_OTHER);
    assert_str(lane_name(step), "Plane 2 of group7");
    assert_int_equal(cap->slices.kind[db_find("Notify Wait")], SLICE_WAIT);
    assert_int_equal(count_kind(SLICE_COMPUTE), 2);
}

#define SCHEDULE                                                                                   \
    "INSERT INTO TASK VALUES (1700,1800,0,75,105,9,0,0,5,56,0);"                                   \
    "CREATE TABLE COMMUNICATION_SCHEDULE_TASK_INFO(name, globalTaskId, taskType, opType);"         \
    "INSERT INTO COMMUNICATION_SCHEDULE_TASK_INFO VALUES (19,105,0,0);"

TEST(the_device_half_of_a_collective_is_work_only_without_it)
{
    read_sql(STRINGS TASKS COLLECTIVES SCHEDULE);
    assert_int_equal(cap->slices.kind[db_find("barrierAicpuKernel")], SLICE_CONTROL);

    capture_free(cap);
    cap = capture_new();
    read_sql(STRINGS TASKS SCHEDULE);
    assert_int_equal(cap->slices.kind[db_find("barrierAicpuKernel")], SLICE_COMM_PART);
}

#define HOST                                                                                       \
    "CREATE TABLE CANN_API(startNs, endNs, type, globalTid, connectionId, name);"                  \
    "INSERT INTO CANN_API VALUES "                                                                 \
    "(900,950,10000,38654705673,70,13),(800,990,20000,38654705673,5,14);"                          \
    "CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid, connectionId, name,"            \
    "sequenceNumber, fwdThreadId, inputDtypes, inputShapes, callchainId, type);"                   \
    "INSERT INTO PYTORCH_API VALUES"                                                               \
    "('1736410576395167660','1736410576395182660',38654705671,1,268435456,NULL,NULL,NULL,6,0,"     \
    "50001),"                                                                                      \
    "('700','710',38654705671,2,268435457,NULL,NULL,NULL,NULL,NULL,50002),"                        \
    "('720','760',38654705672,3,268435458,NULL,NULL,NULL,NULL,NULL,50002),"                        \
    "('500','2500',38654705671,NULL,268435459,-1,0,NULL,NULL,NULL,50001);"                         \
    "CREATE TABLE CONNECTION_IDS(id, connectionId);"                                               \
    "INSERT INTO CONNECTION_IDS VALUES (1,70),(1,72),(2,9000),(3,9000);"                           \
    "CREATE TABLE PYTORCH_CALLCHAINS(id, stack, stackDepth);"                                      \
    "INSERT INTO PYTORCH_CALLCHAINS VALUES (0,268435461,1),(0,268435460,0);"

TEST(host_events_stand_on_their_threads)
{
    read_sql(STRINGS TASKS HOST);

    size_t op = db_find("aten::add"), call = db_find("Node@launch");
    const struct lane_key *key = &cap->lanes.at[cap->slices.lane[op]].key;
    assert_int_equal(cap->slices.begin[op], 1736410576395167660);
    assert_int_equal(cap->slices.dur[op], 15000);
    assert_int_equal(cap->slices.kind[op], SLICE_HOST_OP);
    assert_int_equal(key->pid, 9);
    assert_int_equal(key->tid, 7);
    assert_str(capture_text(cap, key->name), "Thread 7");
    assert_str(capture_slice_text(cap, op, KEY_CAT), "cpu_op");
    assert_str(capture_slice_text(cap, op, KEY_INPUT_SHAPES), "32,3;16");
    assert_str(capture_slice_text(cap, op, KEY_STACK), "train.py(7): f;\r\nmain.py(1): g");
    assert_int_equal(cap->slices.kind[call], SLICE_RUNTIME);
    assert_int_equal(cap->slices.kind[db_find("AscendCL@aclrtMemcpy")], SLICE_RUNTIME);
    assert_str(capture_slice_text(cap, db_find("Enqueue"), KEY_CAT), "enqueue");
    assert_str(capture_slice_text(cap, db_find("Dequeue@add"), KEY_CAT), "dequeue");
}

static bool has_flow(enum flow_kind kind, const char *from, const char *to)
{
    size_t a = db_find(from), b = db_find(to);

    for (size_t i = 0; i < cap->flows.n; i++)
        if (cap->flows.at[i].kind == kind && cap->flows.at[i].from == a && cap->flows.at[i].to == b)
            return true;
    return false;
}

TEST(arrows_follow_connections)
{
    read_sql(STRINGS TASKS HOST);

    assert_true(has_flow(FLOW_LAUNCH, "Node@launch", "Add1"));
    assert_true(has_flow(FLOW_LAUNCH, "aten::add", "Add1"));
    assert_true(has_flow(FLOW_LAUNCH, "aten::add", "MatMul2"));
    assert_true(has_flow(FLOW_QUEUE, "Enqueue", "Dequeue@add"));
    assert_int_equal(cap->flows.n, 4);
}

TEST(operators_that_share_a_connection_without_a_task_are_forward_and_backward)
{
    read_sql(STRINGS TASKS HOST
             "INSERT INTO STRING_IDS VALUES (300,'AddBackward0'),(301,'aten::relu');"
             "INSERT INTO PYTORCH_API VALUES ('800','810',1,20,300,9,1,NULL,NULL,NULL,50001),"
             "('600','610',1,21,301,9,0,NULL,NULL,NULL,50001);"
             "INSERT INTO CONNECTION_IDS VALUES (20,9500),(21,9500);");

    assert_true(has_flow(FLOW_BACKWARD, "aten::relu", "AddBackward0"));
    assert_int_equal(cap->flows.n, 5);
}

TEST(steps_come_from_their_table_or_from_names)
{
    read_sql(STRINGS TASKS HOST);
    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->marks.at[0].number, 5);
    assert_int_equal(cap->marks.at[0].begin, 500);
    assert_int_equal(cap->slices.kind[db_find("ProfilerStep#5")], SLICE_STEP);

    capture_free(cap);
    cap = capture_new();
    read_sql(STRINGS TASKS HOST "CREATE TABLE STEP_TIME(id, startNs, endNs);"
                                "INSERT INTO STEP_TIME VALUES (6, 600, 2400);");
    assert_int_equal(cap->marks.n, 1);
    assert_str(capture_text(cap, cap->marks.at[0].name), "ProfilerStep#6");
    assert_int_equal(cap->marks.at[0].end, 2400);
}

TEST(counters_become_attributes_of_their_kernels)
{
    read_sql(STRINGS TASKS "CREATE TABLE TASK_PMU_INFO(globalTaskId, name, value);"
                           "INSERT INTO TASK_PMU_INFO VALUES (102,15,0.5),(100,15,0.25),(100,15,0),"
                           "(999,15,1);");

    strid key = intern_find(&cap->strings, S("aiv_vec_ratio"));
    assert_true(attrs_get(&cap->attrs, cap->slices.own[db_find("Add1")], key).real == 0.25);
    assert_true(attrs_get(&cap->attrs, cap->slices.own[db_find("MatMul2")], key).real == 0.5);
}

TEST(clocks_bandwidths_and_memory_become_counters)
{
    read_sql(STRINGS TASKS
             "INSERT INTO STRING_IDS VALUES (400,'read'),(401,'PTA');"
             "CREATE TABLE AICORE_FREQ(deviceId, timestampNs, freq);"
             "INSERT INTO AICORE_FREQ VALUES (0,200,1800),(0,100,1650),(7,100,1),(0,'x',1);"
             "CREATE TABLE HBM(deviceId, timestampNs, bandwidth, hbmId, type);"
             "INSERT INTO HBM VALUES (0,100,27005,3,400);"
             "CREATE TABLE MEMORY_RECORD(component, timestamp, totalAllocated, totalReserved);"
             "INSERT INTO MEMORY_RECORD VALUES (401,100,64,128);");

    assert_int_equal(cap->series.n, 4);
    const struct series *s = cap->series.at;
    assert_str(capture_text(cap, s[0].name), "AI Core Freq");
    assert_str(capture_text(cap, s[0].unit), "MHz");
    assert_int_equal(s[0].samples.n, 2);
    assert_int_equal(s[0].samples.at[0].at, 100);
    assert_true(s[0].samples.at[0].value == 1650);
    assert_str(capture_text(cap, s[1].name), "HBM 3/read");
    assert_str(capture_text(cap, s[2].process), "PTA");
    assert_str(capture_text(cap, s[2].name), "Total Allocated");
    assert_str(capture_text(cap, s[3].name), "Total Reserved");
}

TEST(facts_are_taken_from_their_tables)
{
    read_sql(
        STRINGS TASKS
        "CREATE TABLE NPU_INFO(id, name); INSERT INTO NPU_INFO VALUES (0,'Ascend910B');"
        "CREATE TABLE HOST_INFO(hostUid, hostName); INSERT INTO HOST_INFO VALUES ('1','node4');"
        "CREATE TABLE RANK_DEVICE_MAP(rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES "
        "(11,0);"
        "CREATE TABLE META_DATA(name, value);"
        "INSERT INTO META_DATA VALUES ('SCHEMA_VERSION','1.0.0'),"
        "('distributed_args','{\"rank\": 11, \"world_size\": 16}');");

    assert_int_equal(cap->facts.rank, 11);
    assert_int_equal(cap->facts.world_size, 16);
    assert_int_equal(cap->facts.device, 0);
    assert_str(capture_text(cap, cap->facts.kind), "ascend_pytorch");
    assert_str(capture_text(cap, cap->facts.device_name), "Ascend910B");
    assert_str(capture_text(cap, cap->facts.host), "node4");
    assert_str(capture_text(cap, cap->facts.producer), "database schema 1.0.0");
    assert_true(cap->clock.has_unix);
}

TEST(the_name_of_a_file_tells_rank_and_kind_when_no_table_does)
{
    read_sql(STRINGS TASKS);
    assert_int_equal(cap->facts.rank, 3);

    capture_free(cap);
    cap = capture_new();
    read_as("out/msprof_20240101120000.db", STRINGS TASKS);
    assert_int_equal(cap->facts.rank, UNKNOWN);
    assert_str(capture_text(cap, cap->facts.kind), "msprof");
}

#define TWO_DEVICES                                                                                \
    "INSERT INTO TASK VALUES (1000,1010,5,80,200,9,0,0,2,61,0);"                                   \
    "INSERT INTO COMPUTE_TASK_INFO VALUES (3,200,1,0,5,4,6,7,NULL,0);"

TEST(of_several_devices_one_is_read)
{
    struct str bytes = db_made(STRINGS TASKS TWO_DEVICES);
    struct input_file in = {.path = "x.db", .text = bytes, .diag = &diag, .options = &options};
    int64_t devices[DB_DEVICES];

    assert_int_equal(db_devices_ask(&in, devices, DB_DEVICES), 2);
    free((void *)(uintptr_t)bytes.at);
    assert_int_equal(devices[1], 5);

    read_sql(STRINGS TASKS TWO_DEVICES);
    assert_int_equal(count_kind(SLICE_COMPUTE), 2);
    assert_int_equal(diag_count(&diag, "ascend-db.several-devices"), 1);

    capture_free(cap);
    cap = capture_new();
    options.device = 5;
    read_sql(STRINGS TASKS TWO_DEVICES);
    assert_int_equal(count_kind(SLICE_COMPUTE), 1);
    assert_int_equal(cap->lanes.at[0].key.device, 5);
    assert_int_equal(diag_count(&diag, "ascend-db.several-devices"), 1);
}

TEST(without_descriptions_kernels_are_told_by_their_tasks)
{
    read_sql(STRINGS TASKS "DROP TABLE COMPUTE_TASK_INFO;");

    assert_int_equal(count_kind(SLICE_COMPUTE), 2);
    assert_str(capture_slice_text(cap, db_find("KERNEL_AIVEC"), KEY_CORE), "AI_VECTOR_CORE");
    assert_int_equal(diag_count(&diag, "ascend-db.no-descriptions"), 1);
}

TEST(operators_whose_tasks_are_gone_are_counted)
{
    assert_int_equal(read_sql(STRINGS TASKS "DELETE FROM TASK WHERE globalTaskId = 102;"), ST_OK);
    assert_int_equal(count_kind(SLICE_COMPUTE), 1);
    assert_int_equal(cap->sources.at[0].lost, 1);
    assert_int_equal(diag_count(&diag, "ascend-db.task-missing"), 1);
}

static bool kernels_of(const char *sql, uint64_t *count)
{
    struct str bytes = db_made(sql);
    bool is_known = input_ascend_db.kernels(
        &(struct input_file){.path = "x.db", .text = bytes, .diag = &diag}, count);

    free((void *)(uintptr_t)bytes.at);
    return is_known;
}

TEST(kernels_of_one_device_are_counted_without_reading_them)
{
    uint64_t count = 0;

    assert_true(kernels_of(STRINGS TASKS COLLECTIVES, &count));
    assert_int_equal(count, 3);
    assert_true(kernels_of(STRINGS TASKS, &count));
    assert_int_equal(count, 2);
    assert_false(kernels_of(STRINGS TASKS "UPDATE TASK SET deviceId = 1 WHERE globalTaskId = 102;",
                            &count)); /* of which device? */
}

TEST(what_is_no_database_has_no_number_of_kernels)
{
    uint64_t count = 7;

    assert_false(input_ascend_db.kernels(
        &(struct input_file){.path = "x.db", .text = S("text"), .diag = &diag}, &count));
    assert_int_equal(count, 7);
}

TEST(rows_that_make_no_sense_are_counted)
{
    read_sql(STRINGS TASKS "INSERT INTO TASK VALUES (NULL,5,0,1,300,9,0,0,2,1,0),"
                           "(10,5,0,1,301,9,0,0,2,1,0),('x','y',0,1,302,9,0,0,2,1,0),"
                           "(0,9000000000000000000,0,1,303,9,0,0,2,1,0),"
                           "(100,101,0,1,304,9,777,0,2,1,0);");

    assert_int_equal(diag_count(&diag, "ascend-db.no-time"), 2);
    assert_int_equal(diag_count(&diag, "ascend-db.bad-duration"), 2);
    assert_int_equal(diag_count(&diag, "ascend-db.no-name"), 1);
    assert_int_equal(cap->sources.at[0].lost, 4);
    db_find("#777");
}

TEST(a_database_of_another_kind_is_refused)
{
    assert_int_equal(read_sql("CREATE TABLE x(a);"), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "ascend-db.no-tables"), 1);
}

TEST(the_kind_is_known_by_name_or_by_tables)
{
    struct str bytes = db_made(STRINGS TASKS), other = db_made("CREATE TABLE x(a);");
    struct probe p = {"x.bin", S("x.bin"), bytes};

    assert_int_equal(input_probe(&input_ascend_db, &p), 90);
    p.head = other;
    assert_int_equal(input_probe(&input_ascend_db, &p), 0);
    p.name = S("msprof_20240101120000.db");
    assert_int_equal(input_probe(&input_ascend_db, &p), 95);
    p.head = S("text");
    assert_int_equal(input_probe(&input_ascend_db, &p), 0);
    free((void *)(uintptr_t)bytes.at);
    free((void *)(uintptr_t)other.at);
}

TEST_MAIN("input/ascend/in_ascend_db", TF(a_described_task_is_a_kernel_on_the_lane_of_its_stream),
          TF(waits_are_derived_over_kernels_and_collectives_of_all_streams),
          TF(the_core_of_a_collective_is_spelled_as_its_version_does),
          TF(waits_are_evidence_and_copies_are_work),
          TF(steps_of_a_collective_stand_on_planes_and_are_never_work),
          TF(the_device_half_of_a_collective_is_work_only_without_it),
          TF(host_events_stand_on_their_threads), TF(arrows_follow_connections),
          TF(operators_that_share_a_connection_without_a_task_are_forward_and_backward),
          TF(steps_come_from_their_table_or_from_names),
          TF(counters_become_attributes_of_their_kernels),
          TF(clocks_bandwidths_and_memory_become_counters), TF(facts_are_taken_from_their_tables),
          TF(the_name_of_a_file_tells_rank_and_kind_when_no_table_does),
          TF(of_several_devices_one_is_read),
          TF(without_descriptions_kernels_are_told_by_their_tasks),
          TF(operators_whose_tasks_are_gone_are_counted),
          TF(kernels_of_one_device_are_counted_without_reading_them),
          TF(what_is_no_database_has_no_number_of_kernels), TF(rows_that_make_no_sense_are_counted),
          TF(a_database_of_another_kind_is_refused), TF(the_kind_is_known_by_name_or_by_tables))
