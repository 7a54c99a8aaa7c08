#include "replay/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/testing.h"
#include "replay/recipe.h"

struct fixture {
    struct arena arena;
    struct diag diag;
    struct scene scene;
    char path[64];
};

/* Writes `text` to a file of its own and reads it. */
static enum status load(struct fixture *f, const char *suffix, const char *text,
                        const char *case_name)
{
    arena_init(&f->arena);
    diag_init(&f->diag);
    snprintf(f->path, sizeof(f->path), "/tmp/strata-scene-XXXXXX%s", suffix);
    int fd = mkstemps(f->path, (int)strlen(suffix));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return scene_read(&f->arena, f->path, str_of(case_name), &f->scene, &f->diag);
}

static void done(struct fixture *f)
{
    unlink(f->path);
    arena_free(&f->arena);
    diag_fini(&f->diag);
}

static void refuse(const char *suffix, const char *text, const char *code)
{
    struct fixture f;

    assert_true(load(&f, suffix, text, "c") != ST_OK);
    if (diag_count(&f.diag, code) != 1)
        fail_msg("%s: %s", text, f.diag.entries.at[0].code);
    done(&f);
}

TEST(a_module_in_python)
{
    struct fixture f;
    int64_t value;

    assert_int_equal(load(&f, ".py",
                          "@scene_test(level=2, runtime='rt')\nclass A:\n"
                          "    CALLABLE = {'orchestration': {'signature': [D.IN]},\n"
                          "                'incores': [{'func_id': 1, 'source': 'k/x.y.cpp'}]}\n"
                          "    CASES = [{'name': 'b'}, {'name': 'c', 'params': {'n': 4}}]\n",
                          "c"),
                     ST_OK);
    assert_str(f.scene.runtime, "rt");
    assert_str(f.scene.incores[0].name, "x.y");
    assert_true(str_ends(str_of(f.scene.incores[0].path), S("/k/x.y.cpp")));
    assert_true(scene_param(&f.scene, S("n"), &value) && value == 4);
    assert_false(scene_param(&f.scene, S("m"), &value));
    assert_int_equal(f.scene.signature->n, 1);
    assert_string_equal(f.scene.folder, "/tmp");
    done(&f);
}

TEST(scenes_that_cannot_be_used_say_why)
{
    refuse(".py", "", "replay.no-scene");
    refuse(".py", "@s(level=2)\nclass A:\n  CALLABLE = f()\n  CASES = [{'name': 'c'}]\n",
           "replay.computed");
    refuse(".py", "@s(level=2)\nclass A:\n  CALLABLE = {}\n  CASES = f()\n", "replay.computed");
    refuse(".json", "[]", "replay.bad-scene");
    refuse(".json", "{}", "replay.bad-scene");
    refuse(".json", "{\"case\": {\"name\": \"c\"}}", "replay.bad-scene");
    refuse(".json", "{\"case\": {\"name\": \"d\"}}", "replay.unknown-case");
    refuse(".json", "{\"case\": {\"name\": \"c\"}, \"incores\": [{}]}", "replay.bad-scene");
    refuse(".json", "{\"case\": {\"name\": \"c\"}, \"incores\": [{\"source\": \"a\\u0000b\"}]}",
           "replay.bad-scene");
}

#define HEAD "{\"case\": {\"name\": \"c\"}, \"incores\": [], "

TEST(arguments_of_a_scene_file_get_roles_from_the_signature)
{
    struct slots slots = {0};
    struct fixture f;

    assert_int_equal(
        load(&f, ".json",
             HEAD "\"orchestration\": {\"signature\": [\"D.IN\", \"INOUT\"]}, \"tensors\": ["
                  "{\"name\": \"a\", \"dtype\": \"torch.bfloat16\", \"shape\": [2]},"
                  "{\"name\": \"b\", \"dtype\": \"int8\", \"shape\": [3]}], \"scalars\": ["
                  "{\"name\": \"s\", \"value\": 2, \"dtype\": \"c_float\"},"
                  "{\"name\": \"t\", \"value\": true}, {\"name\": \"u\", \"value\": 9}]}",
             "c"),
        ST_OK);
    assert_true(scene_has_args(&f.scene));
    assert_int_equal(scene_args(&f.arena, &f.scene, &slots, &f.diag), ST_OK);
    assert_int_equal(slots.n, 5);
    assert_str(slots.at[0].dtype->name, "BFLOAT16");
    assert_int_equal(slots.at[1].role, ROLE_INOUT);
    assert_int_equal(slots.at[2].value, 0x40000000); /* 2.0f */
    assert_str(slots.at[3].dtype->name, "BOOL");
    assert_str(slots.at[4].dtype->name, "INT64");
    assert_int_equal(slots.at[4].index, 4);
    vec_free(&slots);
    done(&f);
}

TEST(arguments_that_do_not_fit_the_signature_are_refused)
{
    static const struct {
        const char *rest, *code;
    } cases[] = {
        {"\"tensors\": []}", "replay.signature"},
        {"\"orchestration\": {\"signature\": [\"IN\"]}, \"tensors\": []}", "replay.signature"},
        {"\"orchestration\": {\"signature\": []}, \"tensors\": [{\"name\": \"a\", \"dtype\": "
         "\"int8\", \"shape\": [1]}]}",
         "replay.signature"},
        {"\"orchestration\": {\"signature\": [\"UP\"]}, \"tensors\": [{\"name\": \"a\", \"dtype\": "
         "\"int8\", \"shape\": [1]}]}",
         "replay.signature"},
        {"\"orchestration\": {\"signature\": [\"IN\"]}, \"tensors\": [{\"name\": \"a\", \"dtype\": "
         "\"complex64\", \"shape\": [1]}]}",
         "replay.dtype"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slots slots = {0};
        struct fixture f;
        char text[512];
        snprintf(text, sizeof(text), HEAD "%s", cases[i].rest);
        assert_int_equal(load(&f, ".json", text, "c"), ST_OK);
        assert_int_equal(scene_args(&f.arena, &f.scene, &slots, &f.diag), ST_FORMAT);
        assert_int_equal(diag_count(&f.diag, cases[i].code), 1);
        vec_free(&slots);
        done(&f);
    }
}

TEST_MAIN("replay/scene", T(a_module_in_python), T(scenes_that_cannot_be_used_say_why),
          T(arguments_of_a_scene_file_get_roles_from_the_signature),
          T(arguments_that_do_not_fit_the_signature_are_refused))
