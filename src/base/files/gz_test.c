#include "base/files/gz.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/testing_arena.h"

enum { ROOM = 1 << 16 };

/* Packs `text` as one gzip member behind what is in `out`; returns the new length. */
static size_t pack_into(char *out, size_t room, size_t at, struct str text)
{
    z_stream z = {0};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text.at;
    z.avail_in = (unsigned)text.n;
    z.next_out = (Bytef *)out + at;
    z.avail_out = (unsigned)(room - at);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t end = room - z.avail_out;
    deflateEnd(&z);
    return end;
}

static size_t gz_test_pack(char *out, size_t at, struct str text)
{
    return pack_into(out, ROOM, at, text);
}

static bool has_isal(void)
{
    struct gz_isal *isal = gz_isal_new();

    gz_isal_free(isal);
    return isal != NULL;
}

/* Reads in pieces of `step` packed and `room` unpacked bytes; fast unless `has_fault` is NULL. */
static struct gz read_as(struct str packed, size_t step, size_t room, bool *has_fault, char *out)
{
    struct gz gz;
    size_t n = 0, at = 0;

    gz_init_fast(&gz, has_fault);
    while (!gz.is_done && at < packed.n) {
        struct str piece = str_part(packed, at, step);
        at += piece.n;
        while (!gz.is_done) {
            size_t got = gz_read(&gz, &piece, out + n, room);
            n += got;
            if (got == 0 && piece.n == 0)
                break;
        }
    }
    gz_end(&gz);
    gz_fini(&gz);
    assert_int_equal(gz.given, n);
    return gz;
}

static struct gz read_in_pieces(struct str packed, size_t step, size_t room, char *out)
{
    return read_as(packed, step, room, NULL, out);
}

TEST(gzip_is_known_by_its_first_two_bytes)
{
    assert_true(gz_is(S("\x1f\x8b\x08")));
    assert_false(gz_is(S("\x1f")));
    assert_false(gz_is(S("{\"a\":1}")));
    assert_false(gz_is((struct str){NULL, 0}));
}

TEST(several_members_follow_each_other_however_the_input_is_cut)
{
    char packed[ROOM], out[ROOM];
    size_t n = gz_test_pack(packed, 0, S("first,"));

    n = gz_test_pack(packed, n, S(""));
    n = gz_test_pack(packed, n, S("second"));
    for (size_t step = 1; step < 70; step++) {
        struct gz gz = read_in_pieces((struct str){packed, n}, step, 1 + step % 5, out);
        assert_int_equal(gz.fault, GZ_SOUND);
        assert_int_equal(gz.members, 3);
        assert_int_equal(gz.taken, n);
        assert_str(((struct str){out, gz.given}), "first,second");
    }
}

TEST(a_member_cut_short_gives_what_was_there)
{
    char packed[ROOM], out[ROOM];
    size_t first = gz_test_pack(packed, 0, S("whole "));
    size_t n = gz_test_pack(packed, first, S("this one is cut"));

    for (size_t cut = first + 2; cut < n; cut++) {
        struct gz gz = read_in_pieces((struct str){packed, cut}, 7, 16, out);
        assert_int_equal(gz.fault, GZ_TRUNCATED);
        assert_int_equal(gz.fault_at, cut);
        assert_int_equal(gz.members, 1);
        assert_true(gz.given >= 6 && gz.given <= 21);
        assert_memory_equal(out, "whole this one is cut", gz.given);
    }
    /* Only the check sum is missing: all of the text is there. */
    assert_int_equal(read_in_pieces((struct str){packed, n - 8}, 7, 16, out).given, 21);
    assert_int_equal(read_in_pieces((struct str){packed, 0}, 7, 16, out).fault, GZ_TRUNCATED);
}

TEST(padding_is_ignored_and_other_bytes_after_the_end_are_told)
{
    static const struct str tails[] = {S_INIT("hello"), S_INIT("\x1f"), S_INIT("\x1fx")};
    char packed[ROOM], out[ROOM];
    size_t n = gz_test_pack(packed, 0, S("text"));

    memset(packed + n, 0, 100);
    assert_int_equal(read_in_pieces((struct str){packed, n + 100}, 9, 9, out).fault, GZ_SOUND);
    for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
        memcpy(packed + n + 10, tails[i].at, tails[i].n);
        struct gz gz = read_in_pieces((struct str){packed, n + 10 + tails[i].n}, 1, 9, out);
        assert_int_equal(gz.fault, GZ_TRAILING);
        assert_int_equal(gz.fault_at, n + 10);
        assert_str(((struct str){out, gz.given}), "text");
    }
    size_t m = gz_test_pack(packed, n + 10, S(" more"));
    struct gz gz = read_in_pieces((struct str){packed, m}, 9, 9, out);
    assert_int_equal(gz.fault, GZ_SOUND);
    assert_str(((struct str){out, gz.given}), "text more");
}

TEST(damage_is_noticed_and_what_came_before_is_kept)
{
    char packed[ROOM], out[ROOM];
    size_t first = gz_test_pack(packed, 0, S("good "));
    size_t n = gz_test_pack(packed, first, S("sum"));

    packed[n - 8] ^= 1; /* the check sum of the second member */
    struct gz gz = read_in_pieces((struct str){packed, n}, 64, 64, out);
    assert_int_equal(gz.fault, GZ_CORRUPT);
    assert_int_equal(gz.members, 1);
    assert_str(((struct str){out, gz.given}), "good sum");
    assert_int_equal(gz.fault_at, n - 4);

    packed[n - 8] ^= 1;
    packed[n - 4] ^= 1; /* its size */
    gz = read_in_pieces((struct str){packed, n}, 3, 64, out);
    assert_int_equal(gz.fault, GZ_CORRUPT);
    assert_int_equal(gz.fault_at, n);
    assert_int_equal(gz.members, 1);

    packed[first + 10] = 7; /* last block, of the reserved third type */
    gz = read_in_pieces((struct str){packed, n}, 64, 64, out);
    assert_int_equal(gz.fault, GZ_CORRUPT);
    assert_in_range(gz.fault_at, first + 11, n);
    assert_str(((struct str){out, gz.given}), "good ");

    assert_int_equal(read_in_pieces(S("plain text"), 64, 64, out).fault, GZ_CORRUPT);
}

TEST(the_fast_way_gives_the_same_of_sound_input_however_it_is_cut)
{
    static char text[300000], packed[400000], out[sizeof(text) + 70000];
    uint32_t seed = 1;

    for (size_t i = 0; i < sizeof(text); i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = (char)(seed % 7 == 0 || i < 5000 ? seed >> 24 : (uint32_t)text[i - 4000]);
    }
    size_t n = 0, cut = sizeof(text) / 3;
    n = pack_into(packed, sizeof(packed), n, (struct str){text, cut});
    n = pack_into(packed, sizeof(packed), n, S(""));
    n = pack_into(packed, sizeof(packed), n, (struct str){text + cut, sizeof(text) - cut});
    memset(packed + n, 0, 100);
    for (size_t step = 1; step < 2 * n; step = step * 3 / 2 + 1) {
        bool has_fault = false;
        struct gz gz =
            read_as((struct str){packed, n + 100}, step, 1 + step * 7 % 70000, &has_fault, out);
        assert_false(has_fault);
        assert_int_equal(gz.members, 3);
        assert_int_equal(gz.given, sizeof(text));
        assert_memory_equal(out, text, sizeof(text));
    }
}

TEST(a_fault_on_the_fast_way_is_told)
{
    char packed[ROOM], out[ROOM];
    size_t n = gz_test_pack(packed, 0, S("some text, some more text"));
    struct str whole = {packed, n}, cut = {packed, n - 1};
    bool has_fault = false;

    read_as(whole, 64, 64, &has_fault, out);
    assert_false(has_fault);
    if (has_isal()) {
        read_as(cut, 64, 64, &has_fault, out);
        assert_true(has_fault);
        for (size_t i = 0; i < n; i++) {
            if (i >= 4 && i < 10) /* time, hint and system: nobody checks them */
                continue;
            packed[i] ^= 0x55;
            has_fault = false;
            read_as(whole, 5, 64, &has_fault, out);
            assert_true(has_fault);
            packed[i] ^= 0x55;
        }
        has_fault = false;
        packed[n] = 'x'; /* something else behind the member */
        read_as((struct str){packed, n + 1}, 64, 64, &has_fault, out);
        assert_true(has_fault);
    }
}

TEST(faults_become_one_diagnostic_with_the_place)
{
    char packed[ROOM];
    struct str text;
    size_t n = gz_test_pack(packed, 0, S("abc"));

    assert_int_equal(gz_read_all((struct str){packed, n}, 3, "f", &diag, &arena, &text), ST_OK);
    assert_str(text, "abc");
    assert_int_equal(diag.entries.n, 0);
    assert_int_equal(gz_read_all((struct str){packed, n - 1}, 9, "f", &diag, &arena, &text), ST_OK);
    assert_str(text, "abc");
    assert_int_equal(diag_count(&diag, "gz.truncated"), 1);
    assert_int_equal(diag.entries.at[0].first[0].where.byte, n);
    assert_int_equal(gz_read_all((struct str){packed, n}, 2, "f", &diag, &arena, &text), ST_LIMIT);
    assert_int_equal(text.n, 0);
    assert_int_equal(diag_count(&diag, "gz.too-large"), 1);
}

TEST(a_bomb_is_bounded_by_the_cap)
{
    /* 50 million zeros pack to about 50 KB. */
    size_t size = 50000000;
    char *zeros = calloc(1, size), packed[ROOM];
    struct str text;
    size_t n = gz_test_pack(packed, 0, (struct str){zeros, size});

    assert_int_equal(gz_read_all((struct str){packed, n}, 1 << 20, "f", &diag, &arena, &text),
                     ST_LIMIT);
    assert_true(arena_footprint(&arena) < 1 << 20);
    free(zeros);
}

TEST_MAIN("base/files/gz", T(gzip_is_known_by_its_first_two_bytes),
          T(several_members_follow_each_other_however_the_input_is_cut),
          T(a_member_cut_short_gives_what_was_there),
          T(padding_is_ignored_and_other_bytes_after_the_end_are_told),
          T(damage_is_noticed_and_what_came_before_is_kept),
          T(the_fast_way_gives_the_same_of_sound_input_however_it_is_cut),
          T(a_fault_on_the_fast_way_is_told), TA(faults_become_one_diagnostic_with_the_place),
          TA(a_bomb_is_bounded_by_the_cap))
