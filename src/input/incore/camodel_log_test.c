#include "input/incore/camodel.h"

#include "base/testing_arena.h"

static struct camodel_records begins, ends;
static struct camodel_instrs instrs;
static struct camodel_marks marks;

static int fresh(void **state)
{
    memset(&begins, 0, sizeof(begins));
    memset(&ends, 0, sizeof(ends));
    memset(&instrs, 0, sizeof(instrs));
    memset(&marks, 0, sizeof(marks));
    return arena_enter(state);
}

static int done(void **state)
{
    vec_free(&begins.list);
    vec_free(&ends.list);
    vec_free(&instrs.list);
    vec_free(&marks.list);
    return arena_leave(state);
}

static void log_join(struct str from, struct str to)
{
    camodel_records_read(&begins, from, &arena);
    camodel_records_read(&ends, to, &arena);
    camodel_join(&begins, &ends, &instrs);
}

TEST(a_line_has_a_tick_an_address_a_pipe_a_name_and_a_detail)
{
    camodel_records_read(&ends,
                         S("[info] [00011690] (PC: 0x10f86084) MTE2     : (Binary: 0x40a01000) "
                           "SET_FLAG  PIPE:MTE2, TRIGGER PIPE:SCALAR, FLAG ID:0,\n"
                           "[12](PC: 0x1f)@CORE3 VEC ISSUE : (Binary: 0x40) (ID: 1234567) VADD\n"
                           "[13] (PC: 0x20) SCALAR : (Binary: 0x40) X  poped from IQ\n"
                           "rubbish\n"),
                         &arena);
    assert_int_equal(ends.list.n, 2);
    assert_int_equal(ends.lost, 1);
    assert_int_equal(ends.list.at[0].tick, 11690);
    assert_int_equal(ends.list.at[0].pc, 0x10f86084);
    assert_str(ends.list.at[0].pipe, "MTE2");
    assert_str(ends.list.at[0].name, "SET_FLAG");
    assert_str(ends.list.at[0].detail, "PIPE:MTE2,TRIGGERPIPE:SCALAR,FLAGID:0,");
    assert_str(ends.list.at[1].pipe, "VECTOR");
    assert_int_equal(ends.list.at[1].id, 1234567);
    assert_str(ends.list.at[1].name, "VADD");
    assert_str(ends.list.at[1].detail, "");
}

#define LINE(tick, pc) "[" tick "] (PC: 0x" pc ") SCALAR : (Binary: 0x1) ADD  x,\n"

TEST(begins_and_ends_of_an_address_are_joined_in_order)
{
    log_join(S(LINE("10", "40") LINE("20", "40") LINE("11", "44")),
             S(LINE("12", "40") LINE("25", "40") LINE("12", "44")));
    assert_int_equal(instrs.list.n, 3);
    assert_int_equal(instrs.list.at[0].begin, 10);
    assert_int_equal(instrs.list.at[0].end, 12);
    assert_int_equal(instrs.list.at[1].begin, 11);
    assert_int_equal(instrs.list.at[2].begin, 20);
    assert_int_equal(instrs.list.at[2].end, 25);
    assert_int_equal(instrs.unmatched, 0);
}

TEST(ends_that_stand_close_are_one_when_there_are_too_many)
{
    log_join(S(LINE("10", "40")), S(LINE("12", "40") LINE("20", "40")));
    assert_int_equal(instrs.list.n, 1);
    assert_int_equal(instrs.list.at[0].end, 20);
}

TEST(begins_one_tick_apart_are_one_when_there_are_too_many)
{
    log_join(S(LINE("10", "40") LINE("11", "40")), S(LINE("12", "40")));
    assert_int_equal(instrs.list.n, 1);
    assert_int_equal(instrs.list.at[0].begin, 11);
}

TEST(an_end_before_its_begin_joins_nothing)
{
    log_join(S(LINE("10", "40")), S(LINE("9", "40")));
    assert_int_equal(instrs.list.n, 0);
    assert_int_equal(instrs.unmatched, 2);
}

TEST(a_mark_lasts_from_the_first_nop_behind_its_begin_to_the_last_behind_its_end)
{
    camodel_records_read(
        &ends,
        S("[11744] (PC: 0x48) SCALAR : (Binary: 0x0) MOV_SPR_XN  SPR:LPCNT, XN:X6=0x80000001,\n"
          "[11746] (PC: 0x54) MTE2 : (Binary: 0x0) NOP_PIPE\n"
          "[11747] (PC: 0x58) MTE3 : (Binary: 0x0) NOP_PIPE\n"
          "[14010] (PC: 0x90) SCALAR : (Binary: 0x0) MOV_SPR_XN  SPR:LPCNT, XN:X3=0xc0000001,\n"
          "[14011] (PC: 0x94) VEC : (Binary: 0x0) NOP_PIPE\n"
          "[14012] (PC: 0x98) MTE2 : (Binary: 0x0) NOP_PIPE\n"
          "[15000] (PC: 0x90) SCALAR : (Binary: 0x0) MOV_SPR_XN  SPR:LPCNT, XN:X3=0x80000002,\n"),
        &arena);
    camodel_marks_find(&ends, &marks);
    assert_int_equal(marks.list.n, 1);
    assert_int_equal(marks.list.at[0].number, 1);
    assert_int_equal(marks.list.at[0].begin, 11746);
    assert_int_equal(marks.list.at[0].end, 14012);
    assert_int_equal(marks.dropped, 1);
}

TEST(a_miss_of_the_instruction_cache_is_named_by_its_address)
{
    camodel_misses_read(&ends,
                        S("[info] 23071: icache read address is 0x10f86a80, size is 0x00000080, "
                          "type:1, last:0, status is MISS\n"
                          "[info] 23072: icache read address is 0x10f86a80, status is HIT\n"
                          "[info] @23073: icache read address is 0x10f86b00, status is MISS\n"),
                        &arena);
    assert_int_equal(ends.list.n, 2);
    assert_int_equal(ends.list.at[1].tick, 23073);
    assert_int_equal(ends.list.at[0].tick, 23071);
    assert_str(ends.list.at[0].name, "0x10f86a80");
    assert_str(ends.list.at[0].detail, "sizeis0x00000080,type:1,last:0,statusisMISS");
}

TEST(instructions_of_many_threads_stand_on_the_lane_of_their_warp)
{
    camodel_records_read(&ends,
                         S("[9] (PC: 0x48) RVECEX : (Binary: 0x0) (ID: 0000012) ADD  [Rn:5|R], "
                           "[warpId:59],[bundleId:14],[schId:3],[prdctMask:ff],[execMask:f0f]\n"),
                         &arena);
    assert_int_equal(ends.list.n, 1);
    assert_str(ends.list.at[0].pipe, "WARP_59");
    /* ff and f0f have the lowest four bits in common. */
    assert_str(ends.list.at[0].detail, "[Rn:5|R],[warpId:59],[bundleId:14],[schId:3],"
                                       "[prdctMask:ff],[execMask:f0f],[threadNum:4]");
}

TEST_MAIN("input/incore/camodel_log", TF(a_line_has_a_tick_an_address_a_pipe_a_name_and_a_detail),
          TF(begins_and_ends_of_an_address_are_joined_in_order),
          TF(ends_that_stand_close_are_one_when_there_are_too_many),
          TF(begins_one_tick_apart_are_one_when_there_are_too_many),
          TF(an_end_before_its_begin_joins_nothing),
          TF(a_mark_lasts_from_the_first_nop_behind_its_begin_to_the_last_behind_its_end),
          TF(a_miss_of_the_instruction_cache_is_named_by_its_address),
          TF(instructions_of_many_threads_stand_on_the_lane_of_their_warp))
