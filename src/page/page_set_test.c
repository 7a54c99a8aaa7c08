/*
 * What is packed of a capture is what the capture holds; bundles keep count and busy time.
 */
#include "page/page_set.h"

#include "analysis/diagnose/testing_diagnose.h"
#include "page/page_encode.h"
#include "page/page_testing.h"

enum { STEPS = 4, KERNELS = 300 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 33;
}

/* Steps of launched kernels of three names, nested host events, a range over the stream. */
static void set_fill(uint64_t seed)
{
    static const char *const names[] = {"ampere_sgemm_128x64", "vectorized_elementwise_kernel",
                                        "softmax_warp_forward"};
    nanos host_at = 5 * MS, device_at = 6 * MS;

    cap->facts.vendor = VENDOR_NVIDIA;
    for (int step = 0; step < STEPS; step++) {
        nanos begin = host_at;
        for (int i = 0; i < KERNELS; i++) {
            nanos call = 2 * US + (nanos)(next_random(&seed) % (5 * US));
            nanos busy = 1 * US + (nanos)(next_random(&seed) % (20 * US));
            host(SLICE_HOST_OP, "aten::op", host_at, host_at + call + 3 * US);
            host(SLICE_HOST_OP, "aten::inner", host_at + 10, host_at + call + 2 * US);
            nanos from = device_at > host_at + call ? device_at : host_at + call;
            launch_named(names[next_random(&seed) % ARRAY_LEN(names)], host_at + US,
                         host_at + US + 1500, from, from + busy);
            device_at = from + busy + (nanos)(next_random(&seed) % (4 * US));
            host_at += call + 4 * US;
        }
        task("7", SLICE_ANNOTATION, "range", begin + MS, device_at);
        step_mark(step, begin, host_at);
    }
}

struct decoded {
    uint64_t *columns[PAGE_COLUMNS];
    size_t n;
};

static struct decoded decode(const struct page_pack *pack, const struct page_chunk *chunk,
                             size_t columns, struct arena *arena)
{
    struct decoded out = {.n = chunk->n};
    size_t size = 0, from = 0;

    for (size_t c = 0; c < columns; c++)
        size += chunk->widths[c] * chunk->n;
    struct str packed = str_part(page_pack_element(pack, chunk->place.element), chunk->place.offset,
                                 chunk->place.length);
    struct text planes = page_inflate(packed, size);
    assert_int_equal(planes.n, size);
    for (size_t c = 0; c < columns; c++) {
        out.columns[c] = ARENA_ARRAY(arena, uint64_t, chunk->n);
        for (size_t i = 0; i < chunk->n; i++)
            out.columns[c][i] = page_value(&planes, chunk->n, from, chunk->widths[c], i);
        from += chunk->widths[c] * chunk->n;
    }
    text_free(&planes);
    return out;
}

struct made {
    struct arena arena;
    struct page_set set;
    struct page_pack pack;
};

static void make_of(struct made *m, const struct page_thinning *thinning, size_t most_lanes)
{
    *m = (struct made){0};
    arena_init(&m->arena);
    start_study();
    page_set_init(&m->set, &study, NULL);
    m->set.most_lanes = most_lanes;
    m->set.a = study_accounting(&study);
    page_set_fill(&m->set);
    page_thin_apply(&m->set, thinning);
    page_encode(&m->set, &m->pack);
}

static void set_make(struct made *m, const struct page_thinning *thinning)
{
    make_of(m, thinning, 0);
}

static void unmake(struct made *m)
{
    page_set_fini(&m->set);
    page_pack_free(&m->pack);
    arena_free(&m->arena);
}

static size_t lane_named(const struct page_set *set, const char *name)
{
    for (size_t i = 0; i < set->lanes.n; i++)
        if (str_equal(set->lanes.at[i].name, str_of(name)))
            return i;
    fail_msg("no lane %s", name);
    return 0;
}

TEST(items_are_the_slices_of_the_capture)
{
    struct made m;
    size_t seen = 0;

    set_fill(1);
    set_make(&m, &(struct page_thinning){0});
    assert_int_equal(m.set.n_items, cap->slices.n);
    for (size_t i = 0; i < m.set.slices.at.n; i++) {
        const struct page_chunk *chunk = &m.set.slices.at.at[i];
        struct decoded d = decode(&m.pack, chunk, m.set.slices.columns, &m.arena);
        const struct page_lane *lane = &m.set.lanes.at[chunk->lane];
        nanos end = chunk->first, step = 0;
        uint64_t item = lane->first + 1;
        for (size_t k = 0; k < d.n; k++, item++) {
            nanos begin = end + page_unzigzag(d.columns[0][k]);
            end = begin + (nanos)d.columns[1][k];
            step += page_unzigzag(d.columns[3][k]);
            size_t slice = cap->lanes.at[lane->lane].first;
            while (page_item(&m.set, (uint32_t)slice) != item ||
                   page_lane_of(&m.set, (uint32_t)slice) != chunk->lane)
                slice++;
            assert_int_equal(begin + m.set.origin, cap->slices.begin[slice]);
            assert_int_equal(end - begin, cap->slices.dur[slice]);
            const struct page_what *what = &m.set.whats.at[d.columns[2][k]];
            assert_int_equal(what->name, cap->slices.name[slice]);
            assert_in_range(step, 0, STEPS);
            assert_int_equal(step, m.set.step[slice]);
            assert_int_equal(d.columns[5][k], 0);
            seen++;
        }
        assert_int_equal(end, chunk->end);
    }
    assert_int_equal(seen, cap->slices.n);
    unmake(&m);
}

TEST(ranges_have_a_lane_of_their_own)
{
    struct made m;

    set_fill(2);
    set_make(&m, &(struct page_thinning){0});
    const struct page_lane *work = &m.set.lanes.at[lane_named(&m.set, "stream 7")];
    const struct page_lane *ranges = &m.set.lanes.at[lane_named(&m.set, "stream 7: ranges")];
    assert_int_equal(work->n, STEPS * KERNELS);
    assert_int_equal(work->depth, 1);
    assert_int_equal(ranges->n, STEPS);
    assert_int_equal(ranges->busy, 0);
    assert_true(work->is_open);
    assert_false(ranges->is_open);
    unmake(&m);
}

/* Sums of what chunks of a lane hold: slices, and busy time. */
static void sum_lane(struct made *m, size_t lane, uint64_t *count, nanos *busy, nanos by[8])
{
    *count = 0;
    *busy = 0;
    memset(by, 0, 8 * sizeof(*by));
    for (size_t i = 0; i < m->set.slices.at.n; i++) {
        const struct page_chunk *chunk = &m->set.slices.at.at[i];
        if (chunk->lane != lane)
            continue;
        struct decoded d = decode(&m->pack, chunk, m->set.slices.columns, &m->arena);
        for (size_t k = 0; k < d.n; k++) {
            nanos own = (nanos)d.columns[1][k] - (nanos)d.columns[6][k];
            *count += d.columns[5][k] + 1;
            *busy += own;
            for (size_t f = 0; f < 8; f++) {
                by[f] += (nanos)d.columns[7 + f][k];
                own -= (nanos)d.columns[7 + f][k];
            }
            by[m->set.whats.at[d.columns[2][k]].family] += own;
        }
    }
}

TEST(bundles_keep_count_and_busy_time)
{
    struct made m;
    uint64_t count;
    nanos busy, by[8], want[8] = {0}, all = 0;

    set_fill(3);
    set_make(&m, &(struct page_thinning){true, {30 * US, 30 * US, 12 * US}});
    size_t lane = lane_named(&m.set, "stream 7");
    assert_true(m.set.lanes.at[lane].n < STEPS * KERNELS * 3 / 4);
    sum_lane(&m, lane, &count, &busy, by);
    assert_int_equal(count, STEPS * KERNELS);
    const struct lane *stream = &cap->lanes.at[m.set.lanes.at[lane].lane];
    for (size_t k = stream->first; k < stream->first + stream->n; k++)
        if (cap->slices.kind[k] == SLICE_COMPUTE) {
            want[m.set.whats.at[m.set.what[k]].family] += cap->slices.dur[k];
            all += cap->slices.dur[k];
        }
    assert_int_equal(busy, all);
    assert_int_equal(m.set.lanes.at[lane].busy, all);
    for (size_t f = 0; f < 8; f++)
        assert_int_equal(by[f], want[f]);
    unmake(&m);
}

/* Rows by the rule that readers use: items of a row do not overlap. */
TEST(rows_hold_one_item_at_a_time)
{
    struct made m;

    set_fill(4);
    set_make(&m, &(struct page_thinning){false, {20 * US, 0, 0}});
    for (size_t i = 0; i < m.set.slices.at.n; i++) {
        const struct page_chunk *chunk = &m.set.slices.at.at[i];
        struct decoded d = decode(&m.pack, chunk, m.set.slices.columns, &m.arena);
        nanos stack[64], row_end[64] = {0}, end = chunk->first, last = 0;
        size_t n = 0;
        for (size_t k = 0; k < d.n; k++) {
            nanos begin = end + page_unzigzag(d.columns[0][k]);
            end = begin + (nanos)d.columns[1][k];
            assert_true(begin >= last);
            last = begin;
            while (n > 0 && stack[n - 1] <= begin)
                n--;
            assert_true(n < m.set.lanes.at[chunk->lane].depth);
            assert_true(row_end[n] <= begin);
            row_end[n] = end;
            stack[n++] = end;
        }
    }
    unmake(&m);
}

TEST(arrows_lead_from_launch_to_kernel)
{
    struct made m;
    size_t n = 0;

    set_fill(5);
    set_make(&m, &(struct page_thinning){0});
    for (size_t i = 0; i < m.set.arrows.at.n; i++) {
        struct decoded d = decode(&m.pack, &m.set.arrows.at.at[i], m.set.arrows.columns, &m.arena);
        uint64_t to = 0, from = 0;
        for (size_t k = 0; k < d.n; k++, n++) {
            to += d.columns[0][k];
            from += (uint64_t)page_unzigzag(d.columns[1][k]);
            assert_int_equal(d.columns[2][k], FLOW_LAUNCH);
            bool is_found = false;
            for (size_t f = 0; f < cap->flows.n && !is_found; f++)
                is_found = page_item(&m.set, cap->flows.at[f].to) == to + 1 &&
                           page_item(&m.set, cap->flows.at[f].from) == from + 1;
            assert_true(is_found);
        }
    }
    assert_int_equal(n, cap->flows.n);
    unmake(&m);
}

TEST(gaps_are_the_idle_pieces)
{
    struct made m;
    size_t n = 0;

    set_fill(6);
    set_make(&m, &(struct page_thinning){0});
    for (size_t i = 0; i < m.set.gaps.at.n; i++) {
        const struct page_chunk *chunk = &m.set.gaps.at.at[i];
        struct decoded d = decode(&m.pack, chunk, m.set.gaps.columns, &m.arena);
        nanos end = chunk->first;
        int64_t task = 0;
        bool is_whole = d.columns[0] != NULL && d.columns[1] != NULL && d.columns[6] != NULL;
        assert_true(is_whole);
        for (size_t k = 0; is_whole && k < d.n; k++, n++) {
            const struct idle_piece *p = &m.set.a->pieces.at[n];
            nanos begin = end + page_unzigzag(d.columns[0][k]);
            end = begin + (nanos)d.columns[1][k];
            task += page_unzigzag(d.columns[6][k]);
            assert_int_equal(begin + m.set.origin, p->at.begin);
            assert_int_equal(end + m.set.origin, p->at.end);
            assert_int_equal(d.columns[2][k], p->cause);
            assert_int_equal(task, page_item(&m.set, m.set.a->tasks.at[p->task].slice));
        }
    }
    assert_int_equal(n, m.set.a->pieces.n);
    assert_true(n > 0);
    unmake(&m);
}

TEST(thinning_is_as_weak_as_it_can_be)
{
    struct made m;

    set_fill(7);
    set_make(&m, &(struct page_thinning){0});
    assert_int_equal(page_thin_choose(&m.set, cap->slices.n).q[THIN_HOST], 0);
    struct page_thinning t = page_thin_choose(&m.set, cap->slices.n * 3 / 4);
    assert_true(t.q[THIN_HOST] > 0);
    assert_int_equal(t.q[THIN_DEVICE], 0);
    t = page_thin_choose(&m.set, 40);
    assert_true(t.q[THIN_DEVICE] > 0);
    for (size_t most = cap->slices.n; most > 60; most = most * 9 / 10) {
        size_t before = m.set.n_items;
        t = page_thin_choose(&m.set, most);
        page_set_reset(&m.set);
        page_thin_apply(&m.set, &t);
        assert_in_range(m.set.n_items, 1, before < most ? before : most);
    }
    unmake(&m);
}

TEST(times_stay_in_what_a_double_holds)
{
    struct made m;

    task("7", SLICE_COMPUTE, "early", INT64_MIN / 2, INT64_MIN / 2 + 10);
    task("7", SLICE_COMPUTE, "late", INT64_MAX / 2, INT64_MAX / 2 + 10);
    set_make(&m, &(struct page_thinning){0});
    assert_in_range(m.set.to, 1, (INT64_C(1) << 53) - 1);
    for (size_t i = 0; i < m.set.slices.at.n; i++)
        assert_in_range(m.set.slices.at.at[i].end, 0, (INT64_C(1) << 53) - 1);
    unmake(&m);
}

TEST(of_too_many_lanes_the_fullest_are_kept)
{
    struct made m;

    set_fill(1);
    make_of(&m, &(struct page_thinning){0}, 1);
    assert_int_equal(m.set.lanes.n, 1);
    assert_true(m.set.left_out > 0);
    assert_true(m.set.lanes.at[0].slices * (m.set.left_out + 1) >= cap->slices.n);
    assert_int_equal(m.set.n_items, m.set.lanes.at[0].slices);
    unmake(&m);
}

TEST_MAIN("page/page_set", CASE(items_are_the_slices_of_the_capture),
          CASE(ranges_have_a_lane_of_their_own), CASE(bundles_keep_count_and_busy_time),
          CASE(rows_hold_one_item_at_a_time), CASE(arrows_lead_from_launch_to_kernel),
          CASE(gaps_are_the_idle_pieces), CASE(thinning_is_as_weak_as_it_can_be),
          CASE(times_stay_in_what_a_double_holds), CASE(of_too_many_lanes_the_fullest_are_kept))
