#include "kernels/pto/sim/pipes.h"

#include <stdio.h>

#include "kernels/pto/testing_pto.h"

#define T_(space) "!pto.tile_buf<" space ", 16x16xf32>"

/* A tile in each space and a part of a view, for all. */
static const char before[] =
    "%vec = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>\n"
    "%mat = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32>\n"
    "%left = pto.alloc_tile : !pto.tile_buf<left, 16x16xf32>\n"
    "%acc = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32>\n"
    "%scaling = pto.alloc_tile : !pto.tile_buf<scaling, 16x16xf32>\n"
    "%v = pto.make_tensor_view %a, shape = [%c1, %c1], strides = [%c1, %c1] : "
    "!pto.tensor_view<?x?xf32>\n"
    "%p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c1] : "
    "!pto.tensor_view<?x?xf32>\n";

/* The phases of the last operation before return, as "V S". */
static const char *phases(const char *arch, const char *body)
{
    static char text[64];
    struct arena arena;
    struct pto_module m;

    arena_init(&arena);
    text[0] = 0;
    struct str whole = arena_format(&arena, "%s%s", before, body);
    if (testing_read(&m, testing_kernel(&arena, arch, whole.at)) != ST_OK)
        print_message("%s\n%s\n", body, m.problems.at[0].text);
    assert_int_equal(m.error_count, 0);
    struct pto_phases p = pto_phases_of(&m, &m.functions.at[0], &m.ops.at[m.ops.n - 2]);
    for (uint32_t i = 0; i < p.n; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof(text) - n, "%s%s", i > 0 ? " " : "",
                 pto_pipe_name(p.at[i]) + strlen("PIPE_"));
    }
    pto_module_fini(&m);
    arena_free(&arena);
    return text;
}

TEST(moves_run_where_their_way_leads)
{
    static const struct {
        const char *op, *from, *to, *a2a3, *a5;
    } rows[] = {
        {"tmov", "vec", "vec", "V", "V"},
        {"tmov", "mat", "left", "MTE1", "MTE1"},
        {"tmov", "mat", "scaling", "FIX", "FIX"},
        {"tmov", "acc", "vec", "FIX", "FIX"},
        {"tmov", "acc", "mat", "FIX", "FIX"},
        {"tmov", "vec", "mat", "V", "MTE3"},
        {"tmov", "mat", "mat", "V", "V"},
        {"textract", "mat", "left", "MTE1", "MTE1"},
        {"textract", "mat", "scaling", "MTE1", "MTE1"},
        {"textract", "vec", "mat", "FIX", "FIX"},
        {"tinsert", "vec", "mat", "FIX", "MTE3"},
        {"tinsert", "acc", "mat", "FIX", "FIX"},
        {"tinsert", "mat", "mat", "FIX", "FIX"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char body[256];
        bool has_offsets = strcmp(rows[i].op, "tmov") != 0;
        snprintf(body, sizeof(body),
                 "pto.%s ins(%%%s%s : !pto.tile_buf<%s, 16x16xf32>%s) outs(%%%s : "
                 "!pto.tile_buf<%s, 16x16xf32>)",
                 rows[i].op, rows[i].from, has_offsets ? ", %c0, %c0" : "", rows[i].from,
                 has_offsets ? ", index, index" : "", rows[i].to, rows[i].to);
        assert_string_equal(phases("a2a3", body), rows[i].a2a3);
        assert_string_equal(phases("a5", body), rows[i].a5);
    }
}

struct row {
    const char *body, *a2a3, *a5;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(phases("a2a3", rows[i].body), rows[i].a2a3);
        assert_string_equal(phases("a5", rows[i].body), rows[i].a5);
    }
}

#define VEC  T_("vec")
#define PART "!pto.partition_tensor_view<1x1xf32>"

TEST(operations_with_rules_of_their_own)
{
    static const struct row rows[] = {
        {"pto.tload ins(%p : " PART ") outs(%vec : " VEC ")", "MTE2", "MTE2"},
        {"pto.tstore ins(%vec : " VEC ") outs(%p : " PART ")", "MTE3", "MTE3"},
        {"pto.tstore ins(%acc : " T_("acc") ") outs(%p : " PART ")", "FIX", "FIX"},
        {"pto.tadd ins(%vec, %vec : " VEC ", " VEC ") outs(%vec : " VEC ")", "V", "V"},
        {"pto.tci ins(%n : i32) outs(%vec : " VEC ")", "S", "S"},
        {"pto.tci ins(%n, %vec : i32, " VEC ") outs(%vec : " VEC ")", "V", "V"},
        {"%s = arith.constant 1.0 : f32\npto.texpands ins(%s : f32) outs(%mat : " T_("mat") ")",
         "MTE2", "MTE2"},
        {"pto.tfillpad ins(%mat : " T_("mat") ") outs(%mat : " T_("mat") ")", "MTE1", "MTE1"},
        {"pto.mgather ins(%p, %vec : " PART ", " VEC ") outs(%vec : " VEC ")", "S MTE2", "V"},
        {"pto.mgather ins(%p, %vec : " PART ", " VEC ") outs(%vec : " VEC
         ") {coalesce = #pto.coalesce<elem>}",
         "S", "V"},
        {"pto.mgather ins(%p, %vec : " PART ", " VEC ") outs(%mat : " T_("mat") ")", "S MTE2",
         "S MTE2"},
        {"pto.mscatter ins(%vec, %vec : " VEC ", " VEC ") outs(%p : " PART ")", "MTE3", "V"},
        {"pto.tscatter ins(%vec, %vec : " VEC ", " VEC ") outs(%vec : " VEC ")", "V S", "V"},
        {"pto.tscatter ins(%vec, {maskPattern = #pto.mask_pattern<P0101>} : " VEC
         ") outs(%vec : " VEC ")",
         "V", "V"},
        {"pto.tgather ins(%vec, %vec, %vec : " VEC ", " VEC ", " VEC ") outs(%vec : " VEC ")", "V",
         "V"},
        {"pto.tgather ins(%vec, %n, %vec : " VEC ", i32, " VEC ") outs(%vec, %vec : " VEC ", " VEC
         ")",
         "V S V S", "V"},
        {"%x = pto.load_scalar %a[%c0] : !pto.ptr<f32> -> f32", "S", "S"},
        {"%x = arith.addi %c0, %c1 : index", "", ""},
        {"pto.barrier <PIPE_MTE2>", "MTE2", "MTE2"},
        {"pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]", "MTE2", "MTE2"},
        {"pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]", "V", "V"},
        {"pto.record_event[<TMATMUL>, <TSTORE_ACC>, <EVENT_ID0>]", "M", "M"},
        {"pto.wait_event[<TMATMUL>, <TSTORE_ACC>, <EVENT_ID0>]", "FIX", "FIX"},
        {"pto.comm.tput(%p, %p, buf(%vec) : " PART ", " PART ", " VEC ")", "MTE2 MTE3",
         "MTE2 MTE3"},
        {"pto.comm.treduce(%p, recv(%vec), group(%p) : " PART ", " VEC ", " PART ")", "MTE2 V MTE3",
         "MTE2 V MTE3"},
        {"pto.fence.barrier_all #pto.fence_scope<gm>", "ALL", "ALL"},
    };

    check_rows(rows, ARRAY_LEN(rows));
}

TEST(fifos_wait_on_a5_and_copy_on_a2a3)
{
    static const struct row rows[] = {
        {"pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 64}\n"
         "%x = pto.tpop_from_aic {split = 0} -> " VEC,
         "MTE2", "S"},
        {"pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 64}\n"
         "pto.tpush_to_aiv(%acc : " T_("acc") ") {split = 0}",
         "FIX", "FIX"},
        {"pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 64}\n"
         "pto.tpush_to_aic(%vec : " VEC ") {split = 0}",
         "MTE3", "MTE3"},
    };

    check_rows(rows, ARRAY_LEN(rows));
}

TEST_MAIN("kernels/pto/sim/pipes", T(moves_run_where_their_way_leads),
          T(operations_with_rules_of_their_own), T(fifos_wait_on_a5_and_copy_on_a2a3))
