/*
 * Random in-core captures, written as visualize_data.bin: lint finds nothing, and reading gives the
 * same capture, documents of every type included. Tables that the first capture lacks are made on
 * writing; from then on they are documents like the others.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/formats/json_write.h"
#include "base/testing.h"
#include "capture/capture.h"
#include "input/input.h"
#include "kernels/incore/incore_lint.h"
#include "render/timelines/timeline.h"

enum { ROUNDS = 400 };

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static bool one_in(uint64_t n)
{
    return random_below(n) == 0;
}

/* ---- inventing ---- */

static const char *const pipes[] = {"MTE2",      "VECTOR", "CUBE",     "FIXP",    "SCALAR",
                                    "CACHEMISS", "WARP_3", "USERMARK", "odd \"1", "l\xc3\xa4ne"};

struct word {
    const char *name;
    enum slice_kind kind;
};

static const struct word words[] = {
    {"MOV_SRC_TO_DST_ALIGN", SLICE_INSTR},
    {"VADD", SLICE_INSTR},
    {"BAR", SLICE_INSTR},
    {"a \"name\"\n", SLICE_INSTR},
    {"SET_FLAG", SLICE_CONTROL},
    {"WAIT_FLAG", SLICE_WAIT},
    {"set_event", SLICE_CONTROL},
    {"WAIT_INTRA_BLOCK", SLICE_WAIT},
    {"cache_time", SLICE_OTHER},
};

static strid name(struct capture *cap, const char *text)
{
    return capture_intern(cap, str_of(text));
}

static lane_id random_lane(struct capture *cap)
{
    char core[32];

    snprintf(core, sizeof(core), "core%d.veccore%d", (int)random_below(2), (int)random_below(2));
    return capture_lane(
        cap, (struct lane_key){.kind = LANE_PIPE,
                               .device = -1,
                               .process = name(cap, core),
                               .name = name(cap, pipes[random_below(ARRAY_LEN(pipes))])});
}

/* Lines of a.cpp, and one that only the toolkit knows. */
static const char *const codes[] = {"a.cpp:1\nb.cpp:2", "/x/ascend-toolkit/k.h:9\na.cpp:12",
                                    "/x/ascend-toolkit/k.h:9"};

static void random_attrs(struct capture *cap, struct slice *s)
{
    struct attr set[2], own[5];
    size_t n_set = 0, n_own = 0;
    char text[32];

    if (!one_in(3)) {
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)random_below(40) * 4);
        set[n_set++] = attr_text(name(cap, "pc_addr"), name(cap, text));
    }
    if (one_in(3))
        set[n_set++] = attr_text(name(cap, "code"), name(cap, codes[random_below(3)]));
    if (one_in(2))
        own[n_own++] = attr_text(name(cap, "detail"), name(cap, "XD:X0=0x5,IMM:0,\\\"\x01"));
    if (one_in(3))
        own[n_own++] = attr_int(name(cap, "process_bytes"), (int64_t)random_below(1 << 20));
    if (one_in(4))
        own[n_own++] = attr_int(name(cap, "count"), -(int64_t)random_below(100));
    if (one_in(4))
        own[n_own++] = attr_real(name(cap, "ratio"), (double)random_below(64) / 8);
    if (one_in(5))
        own[n_own++] = attr_text(name(cap, "group_id"), name(cap, "g7"));
    s->set = attrs_set(&cap->attrs, set, n_set);
    s->own = n_own > 0 ? attrs_own(&cap->attrs, own, n_own) : 0;
}

/* Times lie close, so that slices overlap and end together. */
static void roundtrip_add_slice(struct capture *cap, nanos from)
{
    const struct word *word = &words[random_below(ARRAY_LEN(words))];
    struct slice s = {.begin = from + (nanos)random_below(60),
                      .dur = (nanos)random_below(12),
                      .lane = random_lane(cap),
                      .name = name(cap, word->name),
                      .kind = word->kind};
    struct str lane = capture_text(cap, cap->lanes.at[s.lane].key.name);

    if (word->kind == SLICE_INSTR && str_equal(lane, S("CACHEMISS")))
        s.kind = SLICE_OTHER;
    if ((word->kind == SLICE_INSTR || word->kind == SLICE_OTHER) && str_equal(lane, S("USERMARK")))
        s.kind = SLICE_ANNOTATION;
    random_attrs(cap, &s);
    capture_slice(cap, &s);
}

/* A text of any length, so that every padding comes about. */
static struct str random_json(struct capture *cap)
{
    static const char letters[] = "abcdefgh";

    return arena_format(&cap->arena, "{\"k\":\"%.*s\"}", (int)random_below(8), letters);
}

static void add_documents(struct capture *cap)
{
    for (uint64_t i = random_below(4); i > 0; i--)
        capture_document_add(cap, (struct document){.type = BIN_SOURCE,
                                                    .version = BIN_MARK,
                                                    .path = one_in(2) ? S("a.cpp") : S("/b c.h"),
                                                    .text = random_json(cap)});
    for (int type = BIN_API_FILE; type < BIN_TYPES; type++) {
        struct str text = random_json(cap);
        if (!one_in(4))
            continue;
        if (type == BIN_BASE_INFO)
            text = arena_format(&cap->arena, "{\"name\":\"k%d\",\"soc\":\"Ascend910B4\"}",
                                (int)random_below(1000));
        else if (type == BIN_MEMORY_SEQUENCE || type == BIN_L2_CACHE)
            text = str_part(S("\x01\0\0\x5a\xff{}"), 0, 1 + random_below(7)); /* no text at all */
        capture_document_add(
            cap,
            (struct document){.type = (uint8_t)type,
                              .version = type == BIN_API_INSTR && one_in(2) ? BIN_NEW : BIN_MARK,
                              .text = text});
    }
}

static struct capture *invent(void)
{
    static const nanos begins[] = {0, -30, 9951, 1751600000000000123};
    struct capture *cap = capture_new();
    nanos from = begins[random_below(ARRAY_LEN(begins))];
    uint64_t n = random_below(80), flows = n > 0 ? random_below(20) : 0;

    for (uint64_t i = 0; i < n; i++)
        roundtrip_add_slice(cap, from);
    for (uint64_t i = 0; i < flows; i++)
        capture_flow(cap, FLOW_FLAG, (uint32_t)random_below(n), (uint32_t)random_below(n));
    for (uint64_t i = random_below(6); i > 0; i--)
        capture_sample(cap,
                       capture_series(cap, name(cap, "MTE Throughput"),
                                      name(cap, one_in(2) ? "GM_TO_UB" : "UB_TO_GM"),
                                      name(cap, "throughput(MB/s)")),
                       (nanos)i * 500, (double)random_below(999) / 4);
    add_documents(cap);
    capture_seal(cap);
    return cap;
}

/* ---- a capture as sorted lines ---- */

struct lines {
    struct arena arena;
    VEC_OF(const char *) list;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct str slice_name(struct lines *l, const struct capture *cap, size_t i)
{
    const struct lane *lane = &cap->lanes.at[cap->slices.lane[i]];

    return arena_format(&l->arena, "%.*s/%.*s#%zu", STR_ARGS(capture_text(cap, lane->key.process)),
                        STR_ARGS(capture_text(cap, lane->key.name)), i - lane->first);
}

static void list_attrs(struct lines *l, const struct capture *cap, struct str of, attr_run run)
{
    struct attr_walk walk = attrs_walk(&cap->attrs, run);
    struct attr a;

    while (attrs_next(&walk, &a)) {
        struct str value = a.type == ATTR_TEXT ? capture_text(cap, a.text)
                           : a.type == ATTR_REAL
                               ? arena_format(&l->arena, "%.17g", a.real)
                               : arena_format(&l->arena, "%lld", (long long)a.number);
        vec_push(&l->list, arena_format(&l->arena, "%.*s %.*s (%u) %.*s", STR_ARGS(of),
                                        STR_ARGS(capture_text(cap, a.key)), a.type, STR_ARGS(value))
                               .at);
    }
}

/* Tables that `like` lacks do not count. */
static void list_documents(struct lines *l, const struct capture *cap, const struct capture *like)
{
    for (size_t i = 0; i < cap->documents.n; i++) {
        const struct document *d = &cap->documents.at[i];
        bool is_table = d->type == BIN_API_FILE || d->type == BIN_API_INSTR;
        if (is_table && capture_document(like, d->type) == NULL)
            continue;
        char *hex = arena_alloc(&l->arena, 2 * d->text.n + 1);
        for (size_t k = 0; k < d->text.n; k++)
            snprintf(hex + 2 * k, 3, "%02x", (unsigned char)d->text.at[k]);
        vec_push(&l->list, arena_format(&l->arena, "document %d %d %.*s %s", d->type, d->version,
                                        STR_ARGS(d->path), hex)
                               .at);
    }
}

static void roundtrip_list(struct lines *l, const struct capture *cap, const struct capture *like)
{
    list_documents(l, cap, like);
    for (size_t i = 0; i < cap->slices.n; i++) {
        struct slice s = slices_at(&cap->slices, i);
        struct str of = slice_name(l, cap, i);
        vec_push(&l->list, arena_format(&l->arena, "%.*s %.*s %lld+%lld kind %d", STR_ARGS(of),
                                        STR_ARGS(capture_text(cap, s.name)), (long long)s.begin,
                                        (long long)s.dur, (int)s.kind)
                               .at);
        list_attrs(l, cap, of, s.set);
        list_attrs(l, cap, of, s.own);
    }
    for (size_t i = 0; i < cap->flows.n; i++)
        vec_push(&l->list,
                 arena_format(&l->arena, "arrow %d %.*s -> %.*s", (int)cap->flows.at[i].kind,
                              STR_ARGS(slice_name(l, cap, cap->flows.at[i].from)),
                              STR_ARGS(slice_name(l, cap, cap->flows.at[i].to)))
                     .at);
    for (size_t i = 0; i < cap->series.n; i++)
        for (size_t k = 0; k < cap->series.at[i].samples.n; k++)
            vec_push(&l->list, arena_format(&l->arena, "sample %.*s %lld %.17g",
                                            STR_ARGS(capture_text(cap, cap->series.at[i].name)),
                                            (long long)cap->series.at[i].samples.at[k].at,
                                            cap->series.at[i].samples.at[k].value)
                                   .at);
    if (l->list.n > 0)
        qsort(l->list.at, l->list.n, sizeof(*l->list.at), by_text);
}

static void assert_same(const struct capture *a, const struct capture *b)
{
    struct lines x = {0}, y = {0};

    arena_init(&x.arena);
    arena_init(&y.arena);
    roundtrip_list(&x, a, a);
    roundtrip_list(&y, b, a);
    assert_int_equal(x.list.n, y.list.n);
    for (size_t i = 0; i < x.list.n; i++)
        assert_string_equal(x.list.at[i], y.list.at[i]);
    vec_free(&x.list);
    vec_free(&y.list);
    arena_free(&x.arena);
    arena_free(&y.arena);
}

/* ---- there and back ---- */

static void write_bin(const struct capture *cap, struct text *bytes)
{
    struct timeline_options how = {0};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(timeline_insight.write(&cut, &how, text_sink(bytes)));
    cut_fini(&cut);
}

static void check_lint(struct str bytes)
{
    struct incore_lint lint;

    incore_lint_init(&lint);
    incore_lint_check(&lint, bytes, (struct lint_file){.size = bytes.n});
    for (size_t i = 0; i < lint.problems.n; i++)
        print_error("byte %llu %s %s\n", (unsigned long long)lint.problems.at[i].offset,
                    lint.problems.at[i].rule, lint.problems.at[i].text);
    assert_int_equal(lint.problems.n, 0);
    incore_lint_fini(&lint);
}

static struct capture *read_bin(struct str text)
{
    struct capture *cap = capture_new();
    struct diag diag;

    diag_init(&diag);
    struct input_file in = {.path = "visualize_data.bin", .text = text, .diag = &diag};
    assert_int_equal(input_read(&input_visualize_data, &in, cap), ST_OK);
    assert_int_equal(cap->sources.at[0].lost, 0);
    capture_seal(cap);
    diag_fini(&diag);
    return cap;
}

/* What comes back; the given capture is freed. */
static struct capture *there_and_back(struct capture *cap)
{
    struct text bytes = {0};

    write_bin(cap, &bytes);
    check_lint((struct str){bytes.at, bytes.n});
    struct capture *back = read_bin((struct str){bytes.at, bytes.n});
    assert_same(cap, back);
    text_free(&bytes);
    capture_free(cap);
    return back;
}

TEST(random_captures_are_written_lint_clean_and_read_back_the_same)
{
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        seed = i * 0x9e3779b97f4a7c15;
        capture_free(there_and_back(there_and_back(invent())));
    }
}

/* Reads damaged bytes; whatever capture comes of it is written as a sound container. */
static bool survives(struct str text)
{
    struct capture *cap = capture_new();
    struct text bytes = {0};
    struct bin_blocks b;
    struct bin_block block;
    struct diag diag;

    diag_init(&diag);
    struct input_file in = {.path = "visualize_data.bin", .text = text, .diag = &diag};
    bool is_read = input_read(&input_visualize_data, &in, cap) == ST_OK;
    capture_seal(cap);
    if (is_read) {
        write_bin(cap, &bytes);
        bin_blocks_open(&b, (struct str){bytes.at, bytes.n});
        while (bin_blocks_next(&b, &block))
            assert_true(block.content > 0 && !block.counts_path);
        assert_int_equal(b.fault, BIN_FINE);
        assert_int_equal(b.at, bytes.n);
    }
    text_free(&bytes);
    diag_fini(&diag);
    capture_free(cap);
    return is_read;
}

TEST(whatever_is_read_of_damaged_bytes_can_be_written)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    struct text bytes = {0};
    size_t read = 0;

    seed = 5;
    struct capture *cap = invent();
    write_bin(cap, &bytes);
    capture_free(cap);
    for (size_t i = 0; i < bytes.n; i += 7) {
        for (size_t k = 0; k < ARRAY_LEN(flips); k++) {
            bytes.at[i] = (char)(bytes.at[i] ^ flips[k]);
            read += survives((struct str){bytes.at, bytes.n});
            bytes.at[i] = (char)(bytes.at[i] ^ flips[k]);
        }
    }
    assert_true(read > 200);
    text_free(&bytes);
}

TEST_MAIN("kernels/incore/insight_roundtrip",
          T(random_captures_are_written_lint_clean_and_read_back_the_same),
          T(whatever_is_read_of_damaged_bytes_can_be_written))
