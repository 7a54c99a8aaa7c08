#include "gpu/collect/spec.h"

#include "base/testing.h"

struct fixture {
    struct arena arena;
    struct diag d;
    struct gpu_spec spec;
};

static enum status spec_read(struct fixture *f, const char *text)
{
    arena_init(&f->arena);
    diag_init(&f->d);
    return gpu_spec_read(&f->arena, "spec.json", str_of(text), &f->spec, &f->d);
}

static void spec_end(struct fixture *f)
{
    gpu_spec_free(&f->spec);
    diag_fini(&f->d);
    arena_free(&f->arena);
}

TEST(a_plan_is_read_whole)
{
    struct fixture f;
    struct str word;

    assert_int_equal(
        spec_read(&f,
                  "{\"kernel\":\"mla\",\"version\":\"v0\",\"params\":{\"b\":32,\"dtype\":\"bf16\"},"
                  "\"command\":[\"./mla\",\"--b=${b}\"],\"stages\":[{\"name\":\"decode\","
                  "\"select\":\"mla_.*\",\"flops\":\"2*b\",\"tiling\":{\"bm\":64}},"
                  "{\"concurrent\":[{\"name\":\"x\"},{\"name\":\"y\"}],\"name\":\"pair\"}]}"),
        ST_OK);
    assert_str(f.spec.version, "base");
    assert_int_equal(f.spec.stages.n, 3);
    assert_str(f.spec.stages.at[0].flops, "2*b");
    assert_non_null(f.spec.stages.at[0].tiling);
    assert_str(f.spec.stages.at[2].group, "pair");
    assert_int_equal(
        gpu_spec_substitute(&f.arena, f.spec.command.at[1], &f.spec.params, S("v2"), &word, &f.d),
        ST_OK);
    assert_str(word, "--b=32");
    assert_int_equal(
        gpu_spec_substitute(&f.arena, S("./mla-${version}"), &f.spec.params, S("v2"), &word, &f.d),
        ST_OK);
    assert_str(word, "./mla-v2");
    assert_int_equal(gpu_spec_substitute(&f.arena, S("${q}"), &f.spec.params, S("v2"), &word, &f.d),
                     ST_FORMAT);
    spec_end(&f);
}

TEST(what_is_wrong_is_named)
{
    static const char *const bad[] = {
        "[]",
        "{\"stages\":[{\"name\":\"a\"}]}",
        "{\"kernel\":\"k\"}",
        "{\"kernel\":\"k\",\"stages\":[{}]}",
        "{\"kernel\":\"k\",\"stages\":[{\"name\":\"a\"},{\"name\":\"a\"}]}",
        "{\"kernel\":\"k\",\"stages\":[{\"name\":\"a\",\"tiling\":3}]}",
        "{\"kernel\":\"k\",\"command\":\"ls\",\"stages\":[{\"name\":\"a\"}]}",
        "{\"kernel\":[1],\"stages\":[{\"name\":\"a\"}]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct fixture f;
        assert_int_equal(spec_read(&f, bad[i]), ST_FORMAT);
        assert_int_equal(diag_count(&f.d, "gpu.bad-spec"), 1);
        spec_end(&f);
    }
}

TEST(an_unknown_key_is_a_warning_and_cut_json_an_error)
{
    struct fixture f;

    assert_int_equal(spec_read(&f, "{\"kernel\":\"k\",\"colour\":1,\"stages\":[{\"name\":\"a\"}]}"),
                     ST_OK);
    assert_int_equal(diag_count(&f.d, "gpu.spec-unknown-key"), 1);
    spec_end(&f);
    assert_int_equal(spec_read(&f, "{\"kernel\":\"k\","), ST_FORMAT);
    assert_int_equal(diag_count(&f.d, "gpu.bad-json"), 1);
    spec_end(&f);
}

TEST_MAIN("gpu/collect/spec", T(a_plan_is_read_whole), T(what_is_wrong_is_named),
          T(an_unknown_key_is_a_warning_and_cut_json_an_error))
