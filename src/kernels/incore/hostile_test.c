/*
 * Damaged files: each byte of a small container set to each other value, and each cut, in one
 * process. What is asked for is that nothing breaks (run it with the sanitizers) and that whoever
 * refuses gives a reason.
 */
#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/formats/json_write.h"
#include "base/testing.h"
#include "kernels/incore/drawing.h"
#include "kernels/incore/files.h"
#include "kernels/incore/health.h"
#include "kernels/incore/view.h"

static const struct str trace_text = S_INIT(
    "{\"traceEvents\":[{\"args\":{\"detail\":\"a\\u00e9\"},\"dur\":2.5,\"name\":\"MMAD\",\"ph\":"
    "\"X\",\"pid\":\"c\",\"tid\":\"FIXP\",\"ts\":1},{\"dur\":1,\"name\":\"b\",\"ph\":\"X\",\"pid\":"
    "\"c\",\"tid\":\"VECTOR\",\"ts\":4e0},{\"args\":{\"detail\":\"PIPE:FIX,TRIGGERPIPE:V,FLAGID:0\""
    "},\"name\":\"SET_FLAG\",\"ph\":\"B\",\"pid\":\"c\",\"ts\":2},{\"name\":\"SET_FLAG\",\"ph\":"
    "\"E\",\"pid\":\"c\",\"ts\":2},{\"args\":{\"detail\":\"PIPE:FIX,TRIGGERPIPE:V,FLAGID:0\"},"
    "\"name\":\"WAIT_FLAG\",\"ph\":\"B\",\"pid\":\"c\",\"ts\":1},{\"name\":\"WAIT_FLAG\",\"ph\":"
    "\"E\",\"pid\":\"c\",\"ts\":3}]}");
static const struct str table_text =
    S_INIT("{\"Cores\":[\"c\"],\"Instructions\":[{\"Cycles\":[9],\"Pipe\":\"FIXP\"}]}");

static bool ignore(void *ctx, struct str text)
{
    size_t *n = ctx;

    *n += text.n;
    return true;
}

static void clean_trace(struct str text, size_t *written)
{
    struct incore_lossless told;
    struct incore_trace t;
    struct str reason = {0};
    const char *why = NULL;

    if (incore_lossless_write(text, (struct sink){ignore, written}, &told, &why) != ST_OK)
        assert_non_null(why);
    if (incore_trace_read(&t, text, (struct incore_rules){.salvage = true},
                          (struct incore_watch){0}, &reason) != ST_OK) {
        assert_true(reason.n > 0);
        incore_trace_free(&t);
        return;
    }
    struct incore_lanes lanes;
    struct incore_arrows arrows;
    struct incore_breakdown b;
    struct incore_health h;
    struct incore_view v;
    incore_lanes_build(&lanes, &t);
    incore_arrows_build(&arrows, &t, &lanes);
    incore_breakdown_build(&b, &t, &lanes, NULL, NULL, 0);
    incore_health_build(&h, &t, &lanes, &arrows, &b, &(struct incore_exe){0});
    incore_view_build(&v, &t, &lanes, 8);
    assert_true(incore_clean_write(&t, &lanes, &arrows, (struct incore_watch){0},
                                   (struct sink){ignore, written}));
    struct incore_drawing d;
    incore_drawing_build(&d, &t, &lanes, &arrows);
    incore_drawing_free(&d);
    incore_view_free(&v);
    incore_health_free(&h);
    incore_breakdown_free(&b);
    incore_arrows_free(&arrows);
    incore_lanes_free(&lanes);
    incore_trace_free(&t);
}

static void clean_table(struct str text, size_t *written)
{
    struct incore_metrics m;
    struct str reason = {0};

    if (incore_metrics_read(&m, text, &reason) == ST_OK)
        assert_true(incore_metrics_write(&m, (struct sink){ignore, written}));
    else
        assert_true(reason.n > 0);
    incore_metrics_free(&m);
}

/* Bytes written for a container; a copy of its exact size shows reads behind its end. */
static size_t clean_all(struct str text)
{
    struct bin_blocks blocks;
    struct bin_block block;
    size_t written = 0;

    bin_blocks_open(&blocks, text);
    while (bin_blocks_next(&blocks, &block)) {
        if (block.type == BIN_TRACE)
            clean_trace(block.payload, &written);
        else if (block.type == BIN_API_INSTR)
            clean_table(block.payload, &written);
    }
    return written;
}

static struct text hostile_make(void)
{
    struct text out = {0};

    bin_write_block(text_sink(&out), BIN_TRACE, BIN_MARK, trace_text);
    bin_write_block(text_sink(&out), BIN_API_INSTR, BIN_NEW, table_text);
    return out;
}

TEST(any_byte_may_be_anything)
{
    struct text bin = hostile_make();
    size_t cleaned = 0;

    assert_true(clean_all((struct str){bin.at, bin.n}) > 0);
    for (size_t i = 0; i < bin.n; i++) {
        char was = bin.at[i];
        for (int value = 0; value < 256; value++) {
            bin.at[i] = (char)value;
            cleaned += clean_all((struct str){bin.at, bin.n}) > 0;
        }
        bin.at[i] = was;
    }
    assert_true(cleaned > bin.n * 64); /* a changed letter of a text does no harm */
    text_free(&bin);
}

TEST(any_cut_is_told_or_harmless)
{
    struct text bin = hostile_make();

    for (size_t n = 0; n < bin.n; n++) {
        char *copy = malloc(n + 1);
        assert_non_null(copy);
        memcpy(copy, bin.at, n);
        copy = realloc(copy, n > 0 ? n : 1);
        clean_all((struct str){copy, n});
        free(copy);
    }
    text_free(&bin);
}

TEST_MAIN("kernels/incore/hostile", T(any_byte_may_be_anything), T(any_cut_is_told_or_harmless))
