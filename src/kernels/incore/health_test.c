/*
 * Traces that mean little, and the checks that say so.
 */
#include "kernels/incore/health.h"

#include <stdio.h>
#include <string.h>

#include "base/testing.h"

#define RUN(pid, tid, name, ts, dur, detail)                                                       \
    "{\"ph\":\"X\",\"pid\":\"" pid "\",\"tid\":\"" tid "\",\"name\":\"" name "\",\"ts\":" ts       \
    ",\"dur\":" dur ",\"args\":{\"detail\":\"" detail "\"}}"
#define CUBE      "core0.cubecore0"
#define LOAD_A(t) RUN(CUBE, "MTE1", "LOAD_2D", t, "1", "Dst:L0A,id:1")
#define LOAD_B(t) RUN(CUBE, "MTE1", "LOAD_2D", t, "1", "Dst:L0B,id:1")
#define MMAD(t)   RUN(CUBE, "CUBE", "MMAD", t, "2", "id:1")
#define FIX(t)    RUN(CUBE, "FIXPIPE", "FIX_L0C_TO_DST", t, "1", "id:1")

/* Codes of the checks that a trace of these events does not pass, with a space behind each. */
static const char *health_of(const struct incore_exe *exe, const char *const *events)
{
    static char text[8192], codes[512];
    struct incore_trace t;
    struct incore_lanes lanes;
    struct incore_arrows arrows;
    struct incore_breakdown use;
    struct incore_health health;
    struct str reason;
    size_t n = (size_t)snprintf(text, sizeof(text), "{\"traceEvents\":[");

    for (size_t i = 0; events[i] != NULL; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i > 0 ? "," : "", events[i]);
    snprintf(text + n, sizeof(text) - n, "]}");
    assert_int_equal(incore_trace_read(&t, str_of(text), (struct incore_rules){.keep_scalar = true},
                                       (struct incore_watch){0}, &reason),
                     ST_OK);
    incore_lanes_build(&lanes, &t);
    incore_arrows_build(&arrows, &t, &lanes);
    incore_breakdown_build(&use, &t, &lanes, NULL, NULL, 100);
    incore_health_build(&health, &t, &lanes, &arrows, &use, exe);
    codes[0] = '\0';
    for (size_t i = 0; i < health.list.n; i++)
        snprintf(codes + strlen(codes), sizeof(codes) - strlen(codes), "%s ",
                 health.list.at[i].code);
    incore_health_free(&health);
    incore_breakdown_free(&use);
    incore_arrows_free(&arrows);
    incore_lanes_free(&lanes);
    incore_trace_free(&t);
    return codes;
}

#define CODES(...) health_of(&(struct incore_exe){0}, (const char *const[]){__VA_ARGS__, NULL})

TEST(a_whole_product_has_no_faults)
{
    assert_string_equal(CODES(LOAD_A("0"), LOAD_B("1"), MMAD("2"), FIX("4")), "");
}

TEST(a_product_without_its_result_was_cut)
{
    assert_string_equal(CODES(LOAD_A("0"), LOAD_B("1"), MMAD("2")), "incore.truncated-tail ");
    /* Two pairs were loaded and one was multiplied. */
    assert_string_equal(
        CODES(LOAD_A("0"), LOAD_B("1"), MMAD("2"), LOAD_A("3"), LOAD_B("4"), FIX("6")),
        "incore.truncated-tail ");
    /* A second A alone is kept for later: no pair. */
    assert_string_equal(CODES(LOAD_A("0"), LOAD_B("1"), MMAD("2"), LOAD_A("3"), FIX("6")), "");
}

TEST(a_last_record_without_its_id_was_cut)
{
    assert_string_equal(CODES(RUN("c", "MTE2", "MOV", "0", "1", "id:1"),
                              RUN("c", "MTE2", "MOV", "2", "1", "Dst:UB")),
                        "incore.truncated-tail ");
    /* One of another name may have none. */
    assert_string_equal(CODES(RUN("c", "MTE2", "MOV", "0", "1", "id:1"),
                              RUN("c", "MTE2", "SET", "2", "1", "Dst:UB")),
                        "");
}

TEST(a_core_that_does_not_do_its_work_is_named)
{
    assert_string_equal(CODES(RUN(CUBE, "MTE2", "MOV", "0", "4", "")), "incore.no-cube ");
    assert_string_equal(CODES(RUN("c", "MTE2", "MOV", "0", "0.9", "")), "incore.short ");
    assert_string_equal(CODES(RUN("c", "MTE2", "MOV", "0", "1", "")), "");
    assert_string_equal(CODES(RUN("c", "SCALAR", "ADD", "0", "4", "")), "incore.scalar-only ");
    assert_string_equal(health_of(&(struct incore_exe){0}, (const char *const[]){NULL}),
                        "incore.empty ");
}

TEST(tables_without_products_and_vectors_are_degenerate)
{
    struct incore_exe exe = {0};
    const char *const work[] = {RUN("c", "MTE2", "MOV", "0", "4", ""), NULL};

    incore_exe_add(&exe, S("instr,pipe,cycles\nMOV,MTE2,5000\nVADD,VECTOR,999\n"));
    assert_string_equal(health_of(&exe, work), "incore.degenerate ");
    incore_exe_add(&exe, S("instr,pipe,cycles\nVADD,VECTOR,1\n"));
    assert_string_equal(health_of(&exe, work), "");
    /* One product is enough, however it is written. */
    exe = (struct incore_exe){0};
    incore_exe_add(&exe, S("cycles,instr,pipe\n1,mmad_f16,CUBE\n"));
    assert_false(incore_exe_is_degenerate(&exe));
    /* Numbers that no table has do not count, and columns may be missing. */
    exe = (struct incore_exe){0};
    incore_exe_add(&exe, S("instr,pipe,cycles\nVADD,VECTOR,1e300\nVADD,VECTOR,nan\n"));
    incore_exe_add(&exe, S("a,b\n1,2\n"));
    incore_exe_add(&exe, S(""));
    assert_int_equal(exe.files, 3);
    assert_int_equal(exe.vector_cycles, 0);
}

TEST_MAIN("kernels/incore/health", T(a_whole_product_has_no_faults),
          T(a_product_without_its_result_was_cut), T(a_last_record_without_its_id_was_cut),
          T(a_core_that_does_not_do_its_work_is_named),
          T(tables_without_products_and_vectors_are_degenerate))
