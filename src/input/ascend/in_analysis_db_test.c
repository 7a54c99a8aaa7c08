#include "base/db_testing.h"
#include "input/testing_import.h"

static enum status read_sql(const char *sql)
{
    struct str bytes = db_made(sql);
    enum status st =
        input_read(&input_analysis_db,
                   &(struct input_file){
                       .path = "analysis.db", .text = bytes, .diag = &diag, .options = &options},
                   cap);

    free((void *)(uintptr_t)bytes.at);
    capture_seal(cap);
    return st;
}

#define STEPS                                                                                      \
    "CREATE TABLE StepTraceTime(deviceId, step, computing, communication_not_overlapped,"          \
    "overlapped, communication, free, stage, bubble, preparing);"                                  \
    "INSERT INTO StepTraceTime VALUES"                                                             \
    "(0,'50',8903.431,98071.947,4036.153,102108.1,25258.144,132233.522,0,18055.693),"              \
    "(1,NULL,72.7,0,0,0,255711.6,255784.3,0,NULL),(1,'x',NULL,0,0,0,0,0,0,0);"

TEST(step_times_are_exact_nanoseconds)
{
    assert_int_equal(read_sql(STEPS), ST_OK);

    assert_int_equal(cap->step_traces.n, 2);
    const struct step_trace *t = cap->step_traces.at;
    assert_str(capture_text(cap, t[0].step), "50");
    assert_int_equal(t[0].computing, 8903431);
    assert_int_equal(t[0].comm_exposed, 98071947);
    assert_int_equal(t[0].overlapped, 4036153);
    assert_int_equal(t[0].communication, 102108100);
    assert_int_equal(t[0].free_time, 25258144);
    assert_int_equal(t[0].stage, 132233522);
    assert_int_equal(t[0].preparing, 18055693);
    assert_int_equal(t[1].device, 1);
    assert_int_equal(t[1].step, 0);
    assert_int_equal(t[1].preparing, -1);
    assert_int_equal(diag_count(&diag, "analysis-db.bad-row"), 1);
    assert_int_equal(cap->sources.at[0].lost, 1);
}

TEST(only_the_chosen_device_is_read)
{
    options.device = 1;
    read_sql(STEPS);
    assert_int_equal(cap->step_traces.n, 1);
    assert_int_equal(cap->step_traces.at[0].computing, 72700);
}

#define COLLECTIVES                                                                                \
    "CREATE TABLE CommAnalyzerTime(hccl_op_name, group_name, start_timestamp, elapse_time,"        \
    "transit_time, wait_time, synchronization_time, idle_time, step, type);"                       \
    "INSERT INTO CommAnalyzerTime VALUES"                                                          \
    "('hcom_allReduce__210_0_1','17',1736410576431645.2,88.75,0.25,3.5,3.25,85,'step50',"          \
    "'collective'),('hcom_send__210_1','17',1736410576431700,1,1,0,0,0,'step50','p2p'),"           \
    "('Total Op Info','17',0,99,0,0,0,0,'step50','collective');"                                   \
    "CREATE TABLE CommAnalyzerBandwidth(hccl_op_name, group_name, transport_type, transit_size,"   \
    "transit_time, package_size, step);"                                                           \
    "INSERT INTO CommAnalyzerBandwidth VALUES"                                                     \
    "('hcom_allReduce__210_0_1','17','HCCS',28,2,1,'step50'),"                                     \
    "('hcom_allReduce__210_0_1','17','HCCS',28,2,4,'step50'),"                                     \
    "('hcom_allReduce__210_0_1','17','SDMA',28,2,0,'step50'),"                                     \
    "('hcom_allReduce__210_0_1','17','RDMA',2,0.5,1,'step50'),"                                    \
    "('hcom_send__210_1','17','HCCS',3,1,1,'step50'),"                                             \
    "('hcom_send__210_1','17','HCCS',3,1,2,'step50'),('unknown','17','RDMA',9,9,9,'step50');"

TEST(collectives_bring_times_and_what_they_moved)
{
    read_sql(COLLECTIVES);

    assert_int_equal(cap->comm_ops.n, 2);
    const struct comm_op *op = cap->comm_ops.at;
    assert_str(capture_text(cap, op[0].name), "hcom_allReduce__210_0_1");
    assert_str(capture_text(cap, op[0].step), "50");
    assert_int_equal(op[0].begin, 1736410576431645200);
    assert_int_equal(op[0].elapse, 88750000);
    assert_int_equal(op[0].transit, 250000);
    assert_int_equal(op[0].wait, 3500000);
    assert_int_equal(op[0].sync, 3250000);
    assert_int_equal(op[0].idle, 85000000);
    assert_false(op[0].is_p2p);
    assert_true(op[0].megabytes == 30 && op[0].transit_ms == 2.5); /* SDMA and RDMA, once each */
    assert_true(op[1].is_p2p);
    assert_true(op[1].megabytes == 3 && op[1].transit_ms == 1); /* no SDMA row: its parts */
}

TEST(other_databases_are_refused)
{
    assert_int_equal(read_sql("CREATE TABLE t(a);"), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "analysis-db.no-tables"), 1);
}

TEST_MAIN("input/ascend/in_analysis_db", TF(step_times_are_exact_nanoseconds),
          TF(only_the_chosen_device_is_read), TF(collectives_bring_times_and_what_they_moved),
          TF(other_databases_are_refused))
