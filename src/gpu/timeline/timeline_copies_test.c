#include "gpu/timeline/timeline_copies.h"

#include <math.h>

#include "base/testing_arena.h"
#include "gpu/timeline_testing.h"

static void copies_copy(struct timeline_scene *s, const char *name, nanos begin, nanos end)
{
    scene_put(s, scene_stream(s, "9"), SLICE_COPY, name, begin, end);
}

TEST(copies_by_direction_and_memory_with_what_no_kernel_hides)
{
    struct timeline_copies rows[TIMELINE_COPY_KINDS];
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "k", 1000, 2000);
    scene_kernel(&s, "7", "k", 3000, 4000);
    copies_copy(&s, "Memcpy HtoD (Pageable -> Device)", 1500,
                3500); /* 1000 of it between the kernels */
    copies_copy(&s, "Memcpy HtoD (Pageable -> Device)", 5000, 6000);
    copies_copy(&s, "Memcpy DtoH (Device -> Pinned)", 3200, 3700);
    scene_of_test(&s, (struct interval){0, 0});
    assert_int_equal(timeline_copies_find(s.t, s.d, &arena, rows), 2);
    assert_str(rows[0].kind, "HtoD");
    assert_str(rows[0].memory, "Pageable");
    assert_int_equal(rows[0].n, 2);
    assert_int_equal(rows[0].sum, 3000);
    assert_int_equal(rows[0].exposed, 2000);
    assert_true(isnan(rows[0].gbps)); /* nothing says how many bytes */
    assert_str(rows[1].memory, "Pinned");
    assert_int_equal(rows[1].exposed, 0);
    assert_true(fabs(rows[1].share - 500.0 / 3500) < 1e-12);
    scene_end(&s);
}

TEST(a_link_is_that_of_the_chip)
{
    assert_true(timeline_link_gbps(S("NVIDIA H200")) == 63);
    assert_true(isnan(timeline_link_gbps(S("unheard of"))));
}

TEST_MAIN("gpu/timeline/timeline_copies",
          TA(copies_by_direction_and_memory_with_what_no_kernel_hides),
          TA(a_link_is_that_of_the_chip))
