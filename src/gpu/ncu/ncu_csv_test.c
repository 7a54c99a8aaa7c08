#include "gpu/ncu/ncu_csv.h"

#include <math.h>

#include "base/testing.h"

#define HEAD                                                                                       \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\"," \
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\""
#define LAUNCH(id)                                                                                 \
    "\"" id "\",\"1\",\"demo\",\"h\",\"k(int, int)\",\"1\",\"7\",\"(16, 16, 1)\",\"(8, 4, 1)\","   \
    "\"0\",\"9.0\""

struct fixture {
    struct arena arena;
    struct diag d;
    struct gpu_import in;
};

static void csv_begin(struct fixture *f)
{
    arena_init(&f->arena);
    diag_init(&f->d);
    f->in = (struct gpu_import){.arena = &f->arena};
}

static enum status csv_read(struct fixture *f, const char *text)
{
    return gpu_ncu_read(&f->in, "page.csv", str_of(text), &f->d);
}

static void csv_end(struct fixture *f)
{
    gpu_import_free(&f->in);
    diag_fini(&f->d);
    arena_free(&f->arena);
}

TEST(a_raw_page_comes_out_in_base_units)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(
            &f,
            "==PROF== Connected\nprogram says hello\n" HEAD
            ",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\",\"sm__ops\",\"policy\","
            "\"derived_tempMetric1\",\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\","
            "\"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio\"\n"
            "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ms\",\"Mbyte\",\"\",\"\","
            "\"\",\"%\",\"inst\"\n" LAUNCH(
                "0") ",\"3.176800\",\"33.59\",\"1,230,503,936\",\"n/a\",\"7\",\"81.05\",\"2.5\"\n"),
        ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    const struct gpu_kernel *k = &f.in.kernels.at[0];
    assert_str(k->name, "k(int, int)");
    assert_int_equal(k->block[1], 16);
    assert_int_equal(gpu_kernel_blocks(k), 32);
    assert_true(fabs(k->m[GPU_M_DUR_NS] - 3176800) < 1e-6);
    assert_true(fabs(k->m[GPU_M_DRAM_RD] - 33.59e6) < 1e-3);
    assert_true(k->m[GPU_M_DRAM_PCT] == 81.05); /* by its second name */
    assert_true(isnan(k->m[GPU_M_OCC]));
    assert_int_equal(k->n_stalls, 1);
    assert_int_equal(k->values.n, 6); /* all but the scratch column */
    assert_true(k->values.at[2].number == 1230503936.0);
    assert_str(k->values.at[3].text, "n/a");
    csv_end(&f);
}

#define DETAILS                                                                                    \
    HEAD ",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\","       \
         "\"Rule Type\",\"Rule Description\",\"Estimated Speedup Type\",\"Estimated Speedup\"\n"
#define SOL ",\"GPU Speed Of Light Throughput\","

TEST(details_join_the_raw_page_and_keep_their_rules)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, HEAD ",\"gpu__time_duration.sum\"\n" LAUNCH("0") ",\"100\"\n"),
                     ST_OK);
    assert_int_equal(
        csv_read(
            &f, DETAILS LAUNCH("0") SOL "\"Duration\",\"us\",\"0.10\",\n" LAUNCH("0") SOL
            "\"Memory Throughput\",\"%\",\"50.0\",\n" LAUNCH(
                "0") ",\"Memory Workload Analysis\",\"Memory "
                     "Throughput\",\"Gbyte/s\",\"2.5\",\n" LAUNCH("0") ",\"Scheduler "
                                                                       "Statistics\",\"No "
                                                                       "Eligible\",\"%\",\"90.5\","
                                                                       "\n" LAUNCH("0") ",\"Occupan"
                                                                                        "cy\",\"\","
                                                                                        "\"\",\"\","
                                                                                        "\"Achieved"
                                                                                        "Occupancy"
                                                                                        "\","
                                                                                        "\"OPT\","
                                                                                        "\"say "
                                                                                        "\"\"more\""
                                                                                        "\"\","
                                                                                        "\"global\""
                                                                                        ",\"12."
                                                                                        "5\"\n"),
        ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    const struct gpu_kernel *k = &f.in.kernels.at[0];
    assert_true(k->m[GPU_M_DUR_NS] == 100); /* the raw page has more digits */
    assert_true(k->m[GPU_M_ISSUE_PCT] == 9.5);
    assert_int_equal(k->rules.n, 1);
    assert_str(k->rules.at[0].text, "say \"more\"");
    assert_true(k->rules.at[0].speedup == 12.5);
    assert_true(k->values.at[3].number == 2.5e9);
    assert_str(k->values.at[3].unit, "byte/s");
    csv_end(&f);
}

TEST(l1_of_active_cycles_becomes_l1_of_all_cycles)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, DETAILS LAUNCH("0") SOL
                              "\"Elapsed Cycles\",\"cycle\",\"1,000\",\n" LAUNCH("0") SOL
                              "\"SM Active Cycles\",\"cycle\",\"25\",\n" LAUNCH("0") SOL
                              "\"L1/TEX Cache Throughput\",\"%\",\"92\",\n"),
                     ST_OK);
    assert_true(fabs(gpu_l1_pct(&f.in.kernels.at[0]) - 2.3) < 1e-9);
    /* The same section again, of --print-details all: scaled once, not twice and not undone. */
    assert_int_equal(
        csv_read(
            &f, HEAD
            ",\"Section Name\",\"Body Item Label\",\"Metric Name\",\"Metric "
            "Unit\",\"Metric Value\"\n" LAUNCH(
                "0") ",\"GPU Speed Of Light Throughput\",\"\",\"L1/TEX Cache Throughput\",\"%\","
                     "\"92\",\n"),
        ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    assert_true(fabs(gpu_l1_pct(&f.in.kernels.at[0]) - 2.3) < 1e-9);
    csv_end(&f);
}

TEST(a_continental_page_is_understood)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, DETAILS LAUNCH("0") SOL
                              "\"Elapsed Cycles\",\"cycle\",\"6.289.517\",\n" LAUNCH("0") SOL
                              "\"DRAM Throughput\",\"%\",\"81,05\",\n"),
                     ST_OK);
    assert_true(f.in.kernels.at[0].m[GPU_M_SM_CYCLES] == 6289517);
    assert_true(f.in.kernels.at[0].m[GPU_M_DRAM_PCT] == 81.05);
    csv_end(&f);
}

#define RAW HEAD ",\"gpu__time_duration.sum\"\n"

TEST(two_launches_stay_two_and_damage_is_counted)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f, RAW LAUNCH("0") ",\"1\"\n" LAUNCH("one") ",\"1\"\n" LAUNCH("1") ",\"2\"\n"),
        ST_OK);
    assert_int_equal(f.in.kernels.n, 2);
    assert_int_equal(f.in.lost, 1);
    assert_int_equal(diag_count(&f.d, "ncu-csv.bad-row"), 1);
    csv_end(&f);
}

TEST(lines_of_the_program_between_rows_are_no_loss)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, RAW LAUNCH("0") ",\"1\"\n==WARNING== x\nstep 1,\"loss\n" LAUNCH(
                                      "1") ",\"2\"\n==PROF== Disconnected\n"),
                     ST_OK);
    assert_int_equal(f.in.kernels.n, 2);
    assert_int_equal(f.in.lost, 0);
    assert_true(f.in.kernels.at[1].m[GPU_M_DUR_NS] == 2);
    csv_end(&f);
}

TEST(a_row_cut_short_is_lost)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, RAW LAUNCH("0") ",\"1\"\n" LAUNCH("1") ",\"2"), ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    assert_int_equal(f.in.lost, 1);
    assert_int_equal(csv_read(&f, RAW LAUNCH("2") ",\"1\"\n" LAUNCH("3")), ST_OK);
    assert_int_equal(f.in.kernels.n, 2);
    assert_int_equal(f.in.lost, 2);
    csv_end(&f);
}

#define OTHER(id)                                                                                  \
    "\"" id "\",\"2\",\"demo\",\"h\",\"k(int, int)\",\"1\",\"7\",\"(16, 16, 1)\",\"(8, 4, 1)\","   \
    "\"0\",\"9.0\""

TEST(processes_count_their_launches_apart)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, DETAILS LAUNCH("0") SOL "\"Duration\",\"ns\",\"5\",\n" OTHER("0")
                                      SOL "\"Duration\",\"ns\",\"6\",\n"),
                     ST_OK);
    assert_int_equal(f.in.kernels.n, 2);
    assert_int_equal(csv_read(&f, RAW OTHER("0") ",\"6.5\"\n"), ST_OK);
    assert_int_equal(f.in.kernels.n, 2);
    assert_true(f.in.kernels.at[0].m[GPU_M_DUR_NS] == 5);
    assert_true(f.in.kernels.at[1].m[GPU_M_DUR_NS] == 6.5);
    csv_end(&f);
}

TEST(a_second_recording_of_a_program_joins_the_first)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, RAW OTHER("0") ",\"6.5\"\n"), ST_OK);
    assert_int_equal(csv_read(&f, DETAILS LAUNCH("0") SOL "\"DRAM Throughput\",\"%\",\"5\",\n"),
                     ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    csv_end(&f);
}

TEST(a_file_may_hold_several_pages)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f,
                 RAW LAUNCH("0") ",\"1\"\n" HEAD
                                 ",\"sm__warps_active.avg.pct_of_peak_sustained_active\"\n" LAUNCH(
                                     "1") ",\"50\"\n\"Kernel Name\",\"k(int, "
                                          "int)\",\n\"Address\",\"Source\",\"# "
                                          "Samples\"\n\"0x10\",\"EXIT\",\"3\"\n"),
        ST_OK);
    gpu_source_attach(&f.in);
    assert_int_equal(f.in.kernels.n, 2);
    assert_int_equal(f.in.lost, 0);
    assert_true(f.in.kernels.at[1].m[GPU_M_OCC] == 50);
    assert_int_equal(f.in.kernels.at[0].hot_instructions.n, 1);
    csv_end(&f);
}

TEST(columns_may_stand_in_any_order_or_twice)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, "\"gpu__time_duration.sum\",\"Kernel Name\",\"Grid Size\",\"ID\","
                                  "\"gpu__time_duration.sum\"\n\"us\",\"\",\"\",\"\",\"\"\n"
                                  "\"7\",\"k\",\"(8, 4, 1)\",\"3\",\"9\"\n"),
                     ST_OK);
    assert_int_equal(f.in.kernels.at[0].id, 3);
    assert_int_equal(gpu_kernel_blocks(&f.in.kernels.at[0]), 32);
    assert_true(f.in.kernels.at[0].m[GPU_M_DUR_NS] == 7000);
    assert_int_equal(f.in.kernels.at[0].values.n, 1);
    csv_end(&f);
}

TEST(pages_of_older_tools_are_read)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f,
                 "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel "
                 "Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\","
                 "\"Metric Value\"\n"
                 "\"0\",\"1\",\"a\",\"h\",\"k\",\"t\",\"1\",\"7\",\"GPU Speed Of Light\",\"SOL "
                 "DRAM\",\"%\",\"81.5\"\n"
                 "\"0\",\"1\",\"a\",\"h\",\"k\",\"t\",\"1\",\"7\",\"GPU Speed Of Light\",\"SM "
                 "Frequency\",\"cycle/nsecond\",\"1.5\"\n"
                 "\"0\",\"1\",\"a\",\"h\",\"k\",\"t\",\"1\",\"7\",\"Launch Statistics\",\"Grid "
                 "Size\",\"\",\"1,024\"\n"),
        ST_OK);
    const struct gpu_kernel *k = &f.in.kernels.at[0];
    assert_true(k->m[GPU_M_DRAM_PCT] == 81.5);
    assert_true(k->m[GPU_M_SM_CLOCK_HZ] == 1.5e9);
    assert_int_equal(gpu_kernel_blocks(k), 1024);
    csv_end(&f);
}

TEST(a_page_of_chosen_metrics_has_counters_and_stalls)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f, DETAILS LAUNCH(
                         "0") ",\"Command line profiler metrics\",\"dram__bytes.sum.per_second\","
                              "\"Gbyte/s\",\"2\",\n" LAUNCH(
                                  "0") ",\"Command line profiler "
                                       "metrics\",\"gpu__time_duration.sum\","
                                       "\"us\",\"3\",\n" LAUNCH("0") ",\"Command line profiler "
                                                                     "metrics\",\"smsp__average_"
                                                                     "warps_issue_stalled_"
                                                                     "barrier_per_issue_active."
                                                                     "ratio\",\"inst\",\"4\",\n"),
        ST_OK);
    const struct gpu_kernel *k = &f.in.kernels.at[0];
    assert_int_equal(k->n_stalls, 1);
    assert_true(k->stalls[0].ratio == 4);
    assert_true(fabs(gpu_dram_bytes(k) - 6000) < 1e-6);
    csv_end(&f);
}

TEST(kernel_summaries_of_all_versions_are_read)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f, "Processing [a.sqlite]\n\nTime(%),Total Time (ns),Instances,Average,Minimum,"
                     "Maximum,StdDev,Name\n60.0,300,3,100.0,90,110,1.0,\"a(int, int)\"\n\n"
                     "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1,2,3,4,cudaFree\n"),
        ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    assert_int_equal(f.in.kernels.at[0].launches, 3);
    assert_true(f.in.kernels.at[0].m[GPU_M_DUR_NS] == 100);
    assert_int_equal(f.in.lost, 0);
    csv_end(&f);
}

TEST(kernel_summaries_have_units_and_shapes)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f,
                 "\"Time (%)\",\"Total Time (us)\",\"Instances\",\"Med (us)\",\"GridXYZ\","
                 "\"BlockXYZ\",\"Name\"\n60.0,300.5,3,100.25,\"  16   2   1\",\" 256 1 1\",\"a\"\n"
                 "\nProcessing [a.sqlite] with [mem_size]... \n\nTotal (MB),Count\n1.5,2\n"),
        ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    const struct gpu_kernel *k = &f.in.kernels.at[0];
    assert_true(k->m[GPU_M_DUR_NS] == 100250 && k->total_ns == 300500);
    assert_int_equal(k->grid[1], 2);
    assert_int_equal(k->block[0], 256);
    assert_int_equal(f.in.lost, 0);
    csv_end(&f);
}

/* All forms that nsys has for one summary, in English and in German. */
TEST(kernel_summaries_that_are_no_csv)
{
    static const char *const forms[] = {
        " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
        " Time (%)  Total Time (ns)  Instances  Med (ns)              Name\n"
        " --------  ---------------  ---------  --------  ----------------------------\n"
        "     75.0        3,000,000         10   299,500  gemm<float, 4>(float *, int)\n"
        "     25.0        1,000,000         20    50,000  copy\n\n"
        " ** CUDA API Summary:\n\n Time (%)  Num Calls  Name\n",
        "+----------+-----------------+-----------+----------+------------------------------+\n"
        "| Time (%) | Total Time (us) | Instances | Med (us) | Name                         |\n"
        "+----------+-----------------+-----------+----------+------------------------------+\n"
        "| 75.0     |       3,000.000 |        10 |  299.500 | gemm<float, 4>(float *, int) |\n"
        "| 25.0     |       1,000.000 |        20 |   50.000 | copy                         |\n"
        "+----------+-----------------+-----------+----------+------------------------------+\n",
        "Time (%)\tTotal Time (ms)\tInstances\tMed (ms)\tName\n"
        "75,0\t3,0\t10\t0,2995\tgemm<float, 4>(float *, int)\n25,0\t1,0\t20\t0,05\tcopy\n",
        "Time (%);Total Time (ns);Instances;Med (ns);Name\n"
        "75,0;3.000.000;10;299.500;gemm<float, 4>(float *, int)\n25,0;1.000.000;20;50.000;copy\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct fixture f;
        csv_begin(&f);
        assert_int_equal(csv_read(&f, forms[i]), ST_OK);
        assert_int_equal(f.in.kernels.n, 2);
        const struct gpu_kernel *k = &f.in.kernels.at[0];
        assert_str(k->name, "gemm<float, 4>(float *, int)");
        assert_int_equal(k->launches, 10);
        assert_true(fabs(k->total_ns - 3e6) < 1 && fabs(k->m[GPU_M_DUR_NS] - 299500) < 1);
        assert_int_equal(f.in.lost, 0);
        csv_end(&f);
    }
}

TEST(summaries_of_ranges_are_no_kernels)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, "Time (%),Total Time (ns),Instances,Med (ns),Style,Range\n"
                                  "60.0,300,3,100,PushPop,:forward\n"),
                     ST_UNSUPPORTED);
    csv_end(&f);
}

TEST(a_page_saved_again_may_have_plain_numbers)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, HEAD ",\"gpu__time_duration.sum\"\n"
                                       "0,1,\"demo\",\"h\",\"k(int, int)\",1,7,\"(16, 16, 1)\","
                                       "\"(8, 4, 1)\",0,9.0,1500\n"
                                       "0.31, the loss\n"),
                     ST_OK);
    assert_int_equal(f.in.kernels.n, 1);
    assert_true(f.in.kernels.at[0].m[GPU_M_DUR_NS] == 1500);
    assert_int_equal(f.in.lost, 0);
    csv_end(&f);
}

TEST(other_files_are_refused)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, "a,b\n1,2\n"), ST_UNSUPPORTED);
    assert_int_equal(csv_read(&f, ""), ST_UNSUPPORTED);
    assert_int_equal(csv_read(&f, DETAILS), ST_FORMAT);
    csv_end(&f);
}

#define SASS                                                                                       \
    "\"Kernel Name\",\"k(int)\",\n\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\"," \
    "\"stall_wait\",\"stall_wait (Not Issued)\"\n"

TEST(instructions_are_sorted_and_hung_on_their_kernel)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, SASS "\"0x20\",\"  EXIT\",\"1\",\"2\",\"1\",\"0\"\n"
                                       "\"0x10\",\"  MOV R1, R2\",\"9\",\"2\",\"9\",\"3\"\n"
                                       "\"...\",\"...\",\"-\",\"-\",\"-\",\"-\"\n"
                                       "\"0x10\",\"  MOV R1, R2\",\"9\",\"2\",\"9\",\"3\"\n"),
                     ST_OK);
    gpu_source_attach(&f.in);
    assert_int_equal(f.in.listings.at[0].sass.n, 2);
    assert_int_equal(f.in.listings.at[0].sass.at[1].pc, 0x10);
    assert_true(f.in.listings.at[0].samples == 10);
    assert_int_equal(f.in.kernels.n, 1);
    assert_str(f.in.kernels.at[0].hot_instructions.at[0].text, "MOV R1, R2");
    assert_str(f.in.kernels.at[0].hot_instructions.at[0].stall, "stall_wait");
    assert_true(f.in.kernels.at[0].hot_instructions.at[0].share == 90);
    assert_int_equal(f.in.lost, 0);
    csv_end(&f);
}

/* As ncu 2025.3 prints it on a machine with one GPU. */
TEST(tables_inside_a_details_page_are_no_launches)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f, "\"ID\",\"Process ID\",\"Kernel Name\",\"Section Name\",\"Body Item Label\","
                     "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                     "\"0\",\"7\",\"k\",\"GPU Speed Of Light Throughput\",\"\",\"Duration\",\"ns\","
                     "\"500\"\n"
                     "    The system does not have any NVLink connections.\n"
                     "\n"
                     "\"GPU ID\",\"GPU Name\",\"NUMA ID\"\n"
                     "\"0\",\"NVIDIA H200\",\"0\"\n"
                     "\"1\",\"7\",\"k\",\"GPU Speed Of Light Throughput\",\"\",\"Duration\",\"ns\","
                     "\"600\"\n"),
        ST_OK);
    assert_int_equal(f.in.kernels.n, 2);
    assert_true(f.in.kernels.at[1].m[GPU_M_DUR_NS] == 600);
    assert_int_equal(f.in.lost, 0);
    csv_end(&f);
}

TEST(kernels_of_ranges_have_plain_names)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(
        csv_read(&f, "range,kernel,gpu__time_duration.sum\n0,_ZN3lib4gemmILi32EEEvPf,5\n"), ST_OK);
    assert_str(f.in.kernels.at[0].name, "gemm");
    csv_end(&f);
}

TEST(a_listing_finds_its_kernel_whatever_the_casts)
{
    struct fixture f;

    csv_begin(&f);
    assert_int_equal(csv_read(&f, "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n"
                                  "\"0\",\"k<(int)32, (bool)1>(int)\",\"5\"\n"),
                     ST_OK);
    assert_int_equal(
        csv_read(&f, "\"Kernel Name\",\"k<(int)32, (bool)1>(int)\",\n\"Address\",\"Source\",\"# "
                     "Samples\"\n\"0x10\",\"EXIT\",\"3\"\n"),
        ST_OK);
    gpu_source_attach(&f.in);
    assert_int_equal(f.in.kernels.n, 1);
    assert_int_equal(f.in.kernels.at[0].hot_instructions.n, 1);
    csv_end(&f);
}

TEST_MAIN("gpu/ncu/ncu_csv", T(a_raw_page_comes_out_in_base_units),
          T(details_join_the_raw_page_and_keep_their_rules),
          T(l1_of_active_cycles_becomes_l1_of_all_cycles), T(a_continental_page_is_understood),
          T(two_launches_stay_two_and_damage_is_counted),
          T(lines_of_the_program_between_rows_are_no_loss), T(a_row_cut_short_is_lost),
          T(processes_count_their_launches_apart),
          T(a_second_recording_of_a_program_joins_the_first), T(a_file_may_hold_several_pages),
          T(columns_may_stand_in_any_order_or_twice), T(pages_of_older_tools_are_read),
          T(a_page_of_chosen_metrics_has_counters_and_stalls),
          T(kernel_summaries_of_all_versions_are_read), T(kernel_summaries_have_units_and_shapes),
          T(kernel_summaries_that_are_no_csv), T(summaries_of_ranges_are_no_kernels),
          T(a_page_saved_again_may_have_plain_numbers), T(other_files_are_refused),
          T(instructions_are_sorted_and_hung_on_their_kernel),
          T(tables_inside_a_details_page_are_no_launches), T(kernels_of_ranges_have_plain_names),
          T(a_listing_finds_its_kernel_whatever_the_casts))
