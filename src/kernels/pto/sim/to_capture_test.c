#include "kernels/pto/sim/sim.h"

#include "capture/capture.h"
#include "kernels/pto/testing_run.h"

static size_t capture_count(const struct capture *cap, enum slice_kind kind, struct str name)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        n += cap->slices.kind[i] == kind && str_equal(capture_text(cap, cap->slices.name[i]), name);
    return n;
}

TEST(every_instruction_is_a_slice_on_its_pipe)
{
    struct testing_run r;

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    struct capture *cap = pto_to_capture(&r.sim, &r.chip, "t.pto", S("text"));
    assert_int_equal(cap->slices.n, 24);
    assert_int_equal(cap->lanes.n, 3);
    assert_int_equal(capture_count(cap, SLICE_INSTR, S("TLOAD")), 8);
    assert_int_equal(cap->clock.hz, 1850000000);
    assert_str(capture_text(cap, cap->facts.kind), "incore");
    assert_str(capture_text(cap, cap->facts.device_name), "Ascend910B1");
    assert_int_equal(cap->origin, ORIGIN_SIMULATED);
    assert_int_equal(cap->documents.n, 1);
    for (size_t i = 0; i < cap->lanes.n; i++)
        assert_str(capture_text(cap, cap->lanes.at[i].key.process), "core0.veccore0");
    capture_free(cap);
    testing_run_close(&r);
}

TEST(flags_have_their_arrows)
{
    struct testing_run r;
    size_t flags = 0;

    testing_run_open(&r, false);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    struct capture *cap = pto_to_capture(&r.sim, &r.chip, "t.pto", S(""));
    size_t waits = capture_count(cap, SLICE_WAIT, S("WAIT_FLAG"));
    assert_true(waits >= 16);
    for (size_t i = 0; i < cap->flows.n; i++) {
        const struct flow *f = &cap->flows.at[i];
        if (cap->slices.kind[f->from] != SLICE_CONTROL)
            continue;
        flags++;
        assert_int_equal(f->kind, FLOW_FLAG);
        assert_int_equal(cap->slices.kind[f->to], SLICE_WAIT);
        assert_true(cap->slices.begin[f->from] < slices_end(&cap->slices, f->to));
    }
    assert_int_equal(flags, waits);
    capture_free(cap);
    testing_run_close(&r);
}

TEST(instructions_say_where_they_are_from_and_what_they_waited_for)
{
    struct testing_run r;
    bool is_told = false;

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    struct capture *cap = pto_to_capture(&r.sim, &r.chip, "t.pto", S(""));
    strid code = intern_find(&cap->strings, S("code")),
          why = intern_find(&cap->strings, S("stall_cause"));
    strid detail = intern_find(&cap->strings, S("detail"));
    for (size_t i = 0; i < cap->slices.n; i++) {
        struct attr a = attrs_get(&cap->attrs, cap->slices.set[i], code);
        assert_int_equal(a.type, ATTR_TEXT);
        assert_true(str_starts(capture_text(cap, a.text), S("t.pto:")));
        if (!str_equal(capture_text(cap, cap->slices.name[i]), S("TADDS")))
            continue;
        a = attrs_get(&cap->attrs, cap->slices.own[i], detail);
        assert_str(capture_text(cap, a.text), "Src:%t|%f,Dst:%t,");
        a = attrs_get(&cap->attrs, cap->slices.own[i], why);
        is_told =
            is_told || (a.type == ATTR_TEXT && str_equal(capture_text(cap, a.text), S("raw")));
    }
    assert_true(is_told);
    capture_free(cap);
    testing_run_close(&r);
}

TEST_MAIN("kernels/pto/sim/to_capture", T(every_instruction_is_a_slice_on_its_pipe),
          T(flags_have_their_arrows),
          T(instructions_say_where_they_are_from_and_what_they_waited_for))
