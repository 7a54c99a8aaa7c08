#include "gpu/ncu/ncu_rep.h"

#include "base/files/mapfile.h"
#include "base/testing.h"
#include "gpu/ncu/ncu_csv.h"

/* Made by tests/data/gpu/ncu_rep/make.py; damaged ones are in the corpus. */
#define MADE "tests/data/gpu/ncu_rep/made.ncu-rep"

struct fixture {
    struct arena arena;
    struct diag d;
    struct gpu_import in;
    struct mapfile map;
    struct str pages;
    uint64_t lost;
};

static void rep_begin(struct fixture *f)
{
    *f = (struct fixture){.pages = S("")};
    arena_init(&f->arena);
    diag_init(&f->d);
    f->in.arena = &f->arena;
    assert_int_equal(mapfile_open(&f->map, MADE, &f->d), ST_OK);
}

static void rep_end(struct fixture *f)
{
    mapfile_close(&f->map);
    gpu_import_free(&f->in);
    diag_fini(&f->d);
    arena_free(&f->arena);
}

static enum status read_part(struct fixture *f, struct str text)
{
    enum status st = ncu_rep_pages("r.ncu-rep", text, &f->arena, &f->pages, &f->lost, &f->d);

    return st == ST_OK ? gpu_ncu_read(&f->in, "r.ncu-rep", f->pages, &f->d) : st;
}

static double value(const struct gpu_kernel *k, const char *name)
{
    for (size_t i = 0; i < k->values.n; i++)
        if (str_equal(k->values.at[i].name, str_of(name)))
            return k->values.at[i].number;
    return -1;
}

TEST(launches_metrics_and_rules_are_those_of_pages)
{
    struct fixture f;

    rep_begin(&f);
    assert_int_equal(read_part(&f, f.map.text), ST_OK);
    assert_int_equal(f.in.kernels.n, 3);
    const struct gpu_kernel *k = &f.in.kernels.at[0];
    assert_str(k->name, "copy_rows(float *, const float *, int)");
    assert_str(k->cc, "8.0");
    assert_str(k->stream, "7");
    assert_int_equal(k->grid[0], 8192);
    assert_int_equal(k->block[0], 256);
    assert_true(value(k, "gpu__time_duration.sum") == 84000);
    assert_true(value(k, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") == 88.5);
    assert_true(value(k, "launch__registers_per_thread") == 16);
    assert_true(value(&f.in.kernels.at[1], "gpu__time_duration.sum") == 85500);
    assert_true(value(&f.in.kernels.at[2], "dram__bytes_read.sum") == -1); /* not measured */
    assert_true(value(&f.in.kernels.at[2], "launch__registers_per_thread") == 168);
    assert_int_equal(k->rules.n, 2);
    assert_str(k->rules.at[0].name, "SOLBottleneck");
    assert_str(k->rules.at[0].text, "The kernel uses over 80 % of \"memory\", and little else.");
    assert_str(k->rules.at[1].type, "OPT");
    assert_int_equal(f.lost, 0);
    rep_end(&f);
}

TEST(a_cut_report_keeps_whole_launches)
{
    struct fixture f;

    rep_begin(&f);
    assert_int_equal(read_part(&f, str_part(f.map.text, 0, f.map.text.n - 40)), ST_OK);
    assert_int_equal(f.in.kernels.n, 2);
    assert_int_equal(f.lost, 1);
    assert_int_equal(diag_count(&f.d, "ncu-rep.damaged"), 1);
    rep_end(&f);
}

TEST(other_versions_and_packed_reports_are_refused)
{
    static const struct {
        struct str text;
        const char *code;
        enum status status;
    } cases[] = {
        {{"NVR\0\x02\0\0\0\x08\x09", 10}, "ncu-rep.version", ST_UNSUPPORTED},
        {{"NVR\0\x02\0\0\0\x08\x07", 10}, "ncu-rep.no-launch", ST_FORMAT},
        {{"NVR\0\x02\0\0\0\x08\x07\xff\xff\xff\x7f\x0a", 15}, "ncu-rep.no-launch", ST_FORMAT},
        {{"NVR\0\xff\xff\xff\xff", 8}, "ncu-rep.damaged", ST_FORMAT},
        {{"\x28\xb5\x2f\xfd....", 8}, "ncu-rep.packed", ST_UNSUPPORTED},
        {{"plain", 5}, "ncu-rep.no-report", ST_FORMAT},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        rep_begin(&f);
        assert_int_equal(read_part(&f, cases[i].text), cases[i].status);
        assert_int_equal(diag_count(&f.d, cases[i].code), 1);
        rep_end(&f);
    }
}

TEST_MAIN("gpu/ncu/ncu_rep", T(launches_metrics_and_rules_are_those_of_pages),
          T(a_cut_report_keeps_whole_launches), T(other_versions_and_packed_reports_are_refused))
