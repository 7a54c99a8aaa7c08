#include <stdio.h>
#include <stdlib.h>

#include "input/testing_import.h"

/* Profiles that tests/data/captures/foreign/make.py has made; damaged ones are in the corpus. */
#define FOREIGN "tests/data/captures/foreign/"

static enum status read_path(const char *path)
{
    enum status st = input_read(
        &input_xplane, &(struct input_file){.path = path, .diag = &diag, .options = &options}, cap);

    if (st == ST_OK)
        capture_seal(cap);
    return st;
}

static size_t count_of(enum slice_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        n += cap->slices.kind[i] == kind;
    return n;
}

static size_t first_named(const char *name)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (str_equal(capture_text(cap, cap->slices.name[i]), str_of(name)))
            return i;
    fail_msg("no slice is called %s", name);
    return 0;
}

static struct attr set_attr(size_t slice, struct str key)
{
    return attrs_get(&cap->attrs, cap->slices.set[slice], intern_find(&cap->strings, key));
}

TEST(streams_are_the_only_work_of_a_gpu)
{
    options.device = 1;
    assert_int_equal(read_path(FOREIGN "jax_xplane/node1.xplane.pb"), ST_OK);

    assert_int_equal(count_of(SLICE_COMPUTE), 18);
    assert_int_equal(count_of(SLICE_COMM), 3);
    assert_int_equal(count_of(SLICE_COPY), 3);
    assert_int_equal(count_of(SLICE_RUNTIME), 48);
    assert_int_equal(count_of(SLICE_PYTHON), 3);
    assert_int_equal(count_of(SLICE_STEP), 3);
    assert_int_equal(cap->marks.n, 3);
    assert_int_equal(cap->marks.at[0].number, 5);
    assert_int_equal(cap->facts.device, 1);
    assert_int_equal(cap->facts.device_cores, 132);
    assert_int_equal(cap->facts.device_clock, 1980000000);
    assert_int_equal(cap->facts.vendor, VENDOR_NVIDIA);
    assert_str(capture_text(cap, cap->facts.device_name), "NVIDIA H100 80GB HBM3");
    assert_str(capture_text(cap, cap->facts.device_cc), "9.0");
    assert_true(cap->clock.has_unix && cap->clock.to_unix == 1750000000000000000);
    assert_int_equal(diag.entries.n, 0);
}

TEST(a_kernel_has_its_launch_and_its_attributes)
{
    options.device = 0;
    read_path(FOREIGN "jax_xplane/node1.xplane.pb");

    size_t kernel = first_named("rms_norm_kernel");
    assert_int_equal(cap->slices.begin[kernel], 64875);
    assert_int_equal(cap->slices.dur[kernel], 6125);
    assert_int_equal(capture_slice_attr(cap, kernel, KEY_LINK).number, 103);
    assert_int_equal(set_attr(kernel, S("registers per thread")).number, 96);
    assert_int_equal(set_attr(kernel, S("shared memory")).number, 1024);
    assert_str(capture_text(cap, set_attr(kernel, S("grid")).text), "256,2,1");
    assert_str(capture_text(cap, set_attr(kernel, S("scope")).text), "jit(step)/fusion.2");
    size_t arrows = 0;
    for (size_t i = 0; i < cap->flows.n; i++) {
        const struct flow *f = &cap->flows.at[i];
        assert_int_equal(f->kind, FLOW_LAUNCH);
        if (f->to != kernel)
            continue;
        arrows++;
        assert_int_equal(capture_slice_attr(cap, f->from, KEY_LINK).number, 103);
        assert_str(capture_text(cap, cap->slices.name[f->from]), "cuLaunchKernel");
    }
    assert_int_equal(arrows, 1);
    size_t copy = first_named("MemcpyH2D");
    struct attr bytes =
        attrs_get(&cap->attrs, cap->slices.own[copy], intern_find(&cap->strings, S("bytes")));
    assert_int_equal(bytes.number, 65536);
}

TEST(operations_of_a_tpu_are_work_and_loops_are_not)
{
    read_path(FOREIGN "tpu_xplane/tpu.xplane.pb");

    assert_int_equal(count_of(SLICE_COMPUTE), 18);
    assert_int_equal(count_of(SLICE_COMM), 3);
    assert_int_equal(count_of(SLICE_COPY), 3); /* "async-copy" says it */
    assert_int_equal(count_of(SLICE_WAIT), 3);
    assert_int_equal(cap->slices.kind[first_named("while.3")], SLICE_OTHER);
    assert_int_equal(cap->marks.n, 3); /* runs of the module that takes most time */
    assert_int_equal(cap->series.n, 1);
    assert_true(cap->series.at[0].samples.at[2].value == 3e9);
    size_t work = first_named("fusion.1");
    assert_str(capture_slice_text(cap, work, KEY_TYPE), "convolution fusion");
    assert_int_equal(set_attr(work, S("flops")).number, 2ll * 128 * 4096 * 4096);
    assert_str(str_part(capture_text(cap, set_attr(work, S("long_name")).text), 0, 9), "%fusion.1");
    assert_int_equal(cap->flows.n, 3);
    for (size_t i = 0; i < 3; i++) { /* not to the run of the module, but to its first operation */
        assert_int_equal(cap->flows.at[i].kind, FLOW_LAUNCH);
        assert_true(slice_is_kernel((enum slice_kind)cap->slices.kind[cap->flows.at[i].to]));
    }
    assert_false(cap->clock.has_unix);
}

/* A plane with one row "Stream #7", whose event is given, and one name, "k", of number 1. */
#define PLANE(n, event_n, event)                                                                   \
    "\x0a" n "\x12\x0d/device:GPU:0\x1a" event_n "\x12\x09Stream #7\x22" event                     \
    "\x22\x09\x08\x01\x12\x05\x08\x01\x12\x01k"

TEST(an_event_without_a_name_has_its_number)
{
    assert_int_equal(read_with(&input_xplane, S(PLANE("\x2e", "\x12", "\x05\x08\x63\x18\xe8\x07"))),
                     ST_OK);

    assert_int_equal(cap->slices.n, 1);
    assert_str(capture_text(cap, cap->slices.name[0]), "event 99");
    assert_int_equal(cap->slices.dur[0], 1);
}

TEST(a_negative_duration_is_a_loss)
{
    assert_int_equal(read_with(&input_xplane, S(PLANE("\x36", "\x1a",
                                                      "\x0d\x08\x01\x18\xff\xff\xff\xff\xff\xff\xff"
                                                      "\xff\xff\x01"))),
                     ST_OK);

    assert_int_equal(cap->slices.n, 0);
    assert_int_equal(diag_count(&diag, "xplane.bad-duration"), 1);
}

TEST(what_cannot_be_read_at_all_is_refused_with_its_place)
{
    static const struct str wrong[] = {
        S_INIT("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        S_INIT("\x0a\x1a\x12\x0d/device:GPU:0\x1a\x85\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
        S_INIT("\x22\x05node1")};

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(read_with(&input_xplane, wrong[i]), ST_FORMAT);
        assert_int_equal(diag_count(&diag, "xplane.no-plane"), i + 1);
    }
}

TEST(a_cut_file_keeps_the_planes_before)
{
    assert_int_equal(read_path("tests/fuzz/corpus/xplane/node1-cut"), ST_OK);

    assert_int_equal(diag_count(&diag, "xplane.damaged"), 1);
    assert_int_equal(count_of(SLICE_COMPUTE), 18); /* of the first of two devices */
}

TEST(other_formats_are_left_alone)
{
    static const struct str others[] = {S_INIT("{\"traceEvents\":[]}"), S_INIT("\x0a\x05hello"),
                                        S_INIT("\x80\x02}q\x01."), S_INIT("")};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_int_equal(input_probe(&input_xplane, &(struct probe){"x", S("x"), others[i]}), 0);
    assert_true(input_claims(&input_xplane, S("host.xplane.pb.gz")));
}

TEST_MAIN("input/xla/in_xplane", TF(streams_are_the_only_work_of_a_gpu),
          TF(a_kernel_has_its_launch_and_its_attributes),
          TF(operations_of_a_tpu_are_work_and_loops_are_not),
          TF(an_event_without_a_name_has_its_number), TF(a_negative_duration_is_a_loss),
          TF(what_cannot_be_read_at_all_is_refused_with_its_place),
          TF(a_cut_file_keeps_the_planes_before), TF(other_formats_are_left_alone))
