#include "gpu/judge/report.h"

#include <math.h>

#include "base/testing.h"

static struct gpu_kernel report_kernel(struct gpu_run *run, const char *name, double ns,
                                       double dram)
{
    struct gpu_kernel k = gpu_kernel_none();

    k.id = run->kernels.n;
    k.name = str_of(name);
    k.cc = S("9.0");
    k.m[GPU_M_DUR_NS] = ns;
    k.m[GPU_M_DRAM_PCT] = dram;
    k.m[GPU_M_FMA_PCT] = 5;
    k.m[GPU_M_L1_PCT] = k.m[GPU_M_L2_PCT] = 20;
    k.m[GPU_M_OCC] = 60;
    return k;
}

/* Three launches: a (median 100 us), b (50 us). */
static void report_make(struct gpu_run *run, double scale)
{
    struct diag d;

    gpu_run_init(run);
    diag_init(&d);
    run->kernel = S("demo");
    run->version = S("v1");
    run->mode = S("annotation");
    vec_push(&run->kernels, report_kernel(run, "void a<1>(int)", 100e3 * scale, 85));
    vec_push(&run->kernels, report_kernel(run, "b(float *)", 50e3 * scale, 10));
    vec_push(&run->kernels, report_kernel(run, "void a<1>(int)", 104e3 * scale, 85));
    assert_int_equal(gpu_run_stages(run, NULL, (struct gpu_work_option){0}, &d), ST_OK);
    gpu_run_judge(run);
    diag_fini(&d);
}

static void report_test_check(struct str text, const char *problem)
{
    struct diag d;

    diag_init(&d);
    bool is_good = gpu_report_check("report.md", text, &d);
    if (problem == NULL) {
        assert_true(is_good);
        assert_int_equal(d.entries.n, 0);
    } else {
        assert_false(is_good);
        assert_int_equal(d.entries.n, 1);
        assert_non_null(strstr(d.entries.at[0].first[0].text, problem));
    }
    diag_fini(&d);
}

TEST(stages_follow_names_and_shares_follow_time)
{
    struct gpu_run run;
    bool is_mixed;

    report_make(&run, 1);
    assert_int_equal(run.stages.n, 2);
    assert_str(run.stages.at[0].name, "a<1>");
    assert_true(run.stages.at[0].dur_ns == 102e3); /* median of two */
    assert_true(fabs(run.stages.at[0].share - 204.0 / 254) < 1e-12);
    assert_ptr_equal(gpu_run_main_stage(&run, &is_mixed), &run.stages.at[0]);
    assert_false(is_mixed);
    assert_int_equal(run.stages.at[0].class.bound, GPU_MEMORY);
    gpu_run_free(&run);
}

static struct gpu_opportunity chance(int id, const char *family, double gain)
{
    return (struct gpu_opportunity){
        .id = id, .family = family, .gain = gain, .confidence = 1, .is_ranked = true};
}

TEST(a_family_is_listed_once)
{
    struct gpu_opportunity top[3];
    struct gpu_run run;

    gpu_run_init(&run);
    vec_push(&run.extra, chance(7, "fill", 10));
    vec_push(&run.extra, chance(8, "fill", 30));
    vec_push(&run.extra, chance(5, "occupancy", 20));
    vec_push(&run.extra, chance(6, "spill", 25));
    vec_push(&run.extra, chance(7, "fill", 27));
    vec_push(&run.extra, chance(1, "traffic", 1));
    assert_int_equal(gpu_run_top(&run, top, 3), 3);
    assert_int_equal(top[0].id, 8);
    assert_int_equal(top[1].id, 6);
    assert_int_equal(top[2].id, 5);
    gpu_run_free(&run);
}

TEST(every_report_keeps_the_contract)
{
    static const char *const modes[] = {"annotation", "event", "ncu", "nsys"};

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct text t = {0};
        struct gpu_run run, before;
        report_make(&run, 1);
        report_make(&before, 2);
        run.mode = str_of(modes[i]);
        gpu_compare(&before, &run);
        gpu_report_write(&run, LANG_EN, &t);
        report_test_check(text_view(&t), NULL);
        text_free(&t);
        gpu_run_free(&run);
        gpu_run_free(&before);
    }
    struct text t = {0};
    struct gpu_run empty;
    gpu_run_init(&empty);
    gpu_report_write(&empty, LANG_EN, &t);
    report_test_check(text_view(&t), NULL);
    text_free(&t);
    gpu_run_free(&empty);
}

#define BLOCK_HEAD                                                                                 \
    "## Profile: k v1\n\n### Configuration\n| b | dtype |\n|---|---|\n| 1 | bf16 |\n\n"            \
    "### Stages\n| Stage | Duration (us) | TC% | DRAM% | Occ% | Bottleneck | Key Issue |\n"        \
    "|-------|---------------|-----|-------|------|------------|-----------|\n"
#define BLOCK_END                                                                                  \
    "\n### Bottleneck: Memory-bound\nRoot cause: x.\n\n"                                           \
    "### Top 3 Opportunities (ranked by estimated impact)\n"

TEST(breaches_are_named)
{
    report_test_check(S(BLOCK_HEAD "| a | 1.00 | 1.0 | – | 2.0 | Memory (l1) | x=1 |\n" BLOCK_END
                                   "none — at 80.0% of roof\n"),
                      NULL);
    report_test_check(S("# Report\n"), "begins with");
    report_test_check(S("## Profile: k\n"), "a version");
    report_test_check(S(BLOCK_HEAD "| a | 1.0 | 1.0 | – | 2.0 | Memory (l1) | x=1 |\n" BLOCK_END),
                      "decimals");
    report_test_check(S(BLOCK_HEAD "| a | 1.00 | 1.00 | – | 2.0 | Memory (l1) | x=1 |\n" BLOCK_END),
                      "decimal");
    report_test_check(S(BLOCK_HEAD "| a | 1.00 | 1.0 | – | 2.0 | Fast | x=1 |\n" BLOCK_END),
                      "Bottleneck cell");
    report_test_check(S(BLOCK_HEAD "| a | 1.00 | 1.0 |\n" BLOCK_END), "seven cells");
    report_test_check(S(BLOCK_HEAD "\n### Bottleneck: IO-bound\n"), "is expected");
    report_test_check(S(BLOCK_HEAD "\n### Bottleneck: Memory-bound\nRoot cause: a. b. c.\n"),
                      "two sentences");
    report_test_check(S(BLOCK_HEAD BLOCK_END "1. x - est. 3.0% gain\n"), "an opportunity reads");
    report_test_check(S(BLOCK_HEAD BLOCK_END "2. x — est. 3.0% gain — trigger: a=1\n"),
                      "an opportunity reads");
    report_test_check(S(BLOCK_HEAD BLOCK_END "none — at 80.0% of roof\nmore\n"), "a section");
}

TEST(half_the_time_is_twice_as_fast)
{
    struct gpu_run run, before;

    report_make(&run, 1);
    report_make(&before, 2);
    assert_null(gpu_compare_refusal(&before, &run));
    gpu_compare(&before, &run);
    assert_str(run.changes.at[0].previous, "508.00"); /* all launches: 2 * (100 + 50 + 104) */
    assert_non_null(strstr(run.changes.at[0].change.at, "-50.0%, cannot tell, speedup 2.00"));
    before.device.name = S("other");
    assert_non_null(gpu_compare_refusal(&before, &run));
    gpu_run_free(&run);
    gpu_run_free(&before);
}

TEST(a_log_keeps_what_people_wrote)
{
    struct text once = {0}, twice = {0};
    struct gpu_run run;

    report_make(&run, 1);
    gpu_devlog_update(S("# Log\nmy words\n"), &run, &once);
    struct str text = text_view(&once);
    assert_true(str_starts(text, S("# Log\nmy words\n\n<!-- strata:begin v1 -->\n")));
    assert_true(str_contains(text, S("**Bottleneck**: Memory-bound")));
    assert_true(!str_contains(text, S("locked clocks")));
    gpu_devlog_update(text, &run, &twice);
    assert_int_equal(text_view(&twice).n, text.n);
    assert_memory_equal(text_view(&twice).at, text.at, text.n);
    text_free(&once);
    text_free(&twice);
    /* Also what stands inside the marks, below our lists. */
    gpu_devlog_update(S("<!-- strata:begin v1 -->\n**Insights**:\n- old\n\nI tried tiles.\n"
                        "<!-- strata:end v1 -->\nbelow\n"),
                      &run, &once);
    text = text_view(&once);
    assert_true(str_ends(text, S("\n\nI tried tiles.\n<!-- strata:end v1 -->\nbelow\n")));
    assert_true(!str_contains(text, S("- old")));
    text_free(&once);
    gpu_run_free(&run);
}

TEST(odd_names_keep_the_contract)
{
    static const char *const names[] = {"a\nb? c! d. e(int)", "x | y\x1b[1m", "   ", "e. f. g. h"};
    struct text t = {0};
    struct gpu_run run;
    struct diag d;

    gpu_run_init(&run);
    diag_init(&d);
    run.kernel = S("k\nl");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        vec_push(&run.kernels, report_kernel(&run, names[i], 1e5, 10));
    assert_int_equal(gpu_run_stages(&run, NULL, (struct gpu_work_option){0}, &d), ST_OK);
    gpu_run_judge(&run);
    gpu_report_write(&run, LANG_EN, &t);
    report_test_check(text_view(&t), NULL);
    text_free(&t);
    gpu_run_free(&run);
    diag_fini(&d);
}

TEST(markup_in_names_stays_text)
{
    struct text t = {0};

    gpu_report_html(S("## a<b> &lt;i> \\\\x1b\n| x \\| y | z |\n|---|---|\n| 1 | 2 |\n- one\n"),
                    LANG_EN, &t);
    struct str text = text_view(&t);
    assert_true(str_contains(text, S("a&lt;b&gt; &lt;i&gt; \\x1b<")));
    assert_true(str_contains(text, S("<th>x | y</th><th>z</th>")));
    assert_true(str_contains(text, S("<td>2</td>")));
    assert_true(str_contains(text, S("<li>one</li>\n</ul>")));
    text_free(&t);
}

TEST_MAIN("gpu/judge/report", T(stages_follow_names_and_shares_follow_time),
          T(a_family_is_listed_once), T(every_report_keeps_the_contract), T(breaches_are_named),
          T(half_the_time_is_twice_as_fast), T(a_log_keeps_what_people_wrote),
          T(odd_names_keep_the_contract), T(markup_in_names_stays_text))
