#include "kernels/replay/scene.h"

#include "base/testing_folder.h"
#include "kernels/replay/args.h"

static struct scene scene;

static enum status scene_load(const char *name, const char *text, const char *case_name)
{
    forget();
    return scene_read(&arena, scratch_put(name, text), str_of(case_name), &scene, &diag);
}

static void scene_refuse(const char *name, const char *text, const char *code)
{
    assert_true(scene_load(name, text, "c") != ST_OK);
    if (diag_count(&diag, code) != 1)
        fail_msg("%s: %s", text, diag.entries.at[0].code);
}

TEST(a_module_in_python)
{
    int64_t value;

    assert_int_equal(
        scene_load("a.py",
                   "@scene_test(level=2, runtime='rt')\nclass A:\n"
                   "    CALLABLE = {'orchestration': {'signature': [D.IN]},\n"
                   "                'incores': [{'func_id': 1, 'source': 'k/x.y.cpp'}]}\n"
                   "    CASES = [{'name': 'b'}, {'name': 'c', 'params': {'n': 4}}]\n",
                   "c"),
        ST_OK);
    assert_str(scene.runtime, "rt");
    assert_str(scene.incores[0].name, "x.y");
    assert_true(str_ends(str_of(scene.incores[0].path), S("/k/x.y.cpp")));
    assert_true(scene_param(&scene, S("n"), &value) && value == 4);
    assert_false(scene_param(&scene, S("m"), &value));
    assert_int_equal(scene.signature->n, 1);
    assert_string_equal(scene.folder, scratch);
}

TEST(sources_by_names_tables_and_paths)
{
    assert_int_equal(
        scene_load("a.py",
                   "HERE = Path(__file__).resolve().parent\nBASE = '../k'\n"
                   "TABLE = [(3, 'x', 'aiv'), (4, 'y', 'aic')]\n"
                   "@scene_test(level=3)\nclass A:\n"
                   "    CALLABLE = {'callables': [\n"
                   "        {'incores': [{'source': f'{BASE}/aiv/a.cpp'}, {'source': str(HERE / "
                   "'b.cpp')}]},\n"
                   "        {'incores': [{'func_id': n, 'source': f'{t}/{s}.cpp', 'core_type': t}\n"
                   "                     for n, s, t in TABLE]}]}\n"
                   "    CASES = [{'name': 'c'}]\n",
                   "c"),
        ST_OK);
    assert_int_equal(scene.n_incores, 4);
    assert_str(scene.incores[0].source, "../k/aiv/a.cpp");
    assert_true(str_starts(scene.incores[1].source, str_of(scratch)));
    assert_int_equal(scene.incores[3].func_id, 4);
    assert_str(scene.incores[3].source, "aic/y.cpp");
}

#define SCENE(name, test_case)                                                                     \
    "@s(level=2)\nclass " name ":\n  CALLABLE = {'incores': []}\n  CASES = [{'name': '" test_case  \
    "'}]\n"

TEST(of_several_classes_the_one_with_the_case_counts)
{
    assert_int_equal(scene_load("a.py", SCENE("A", "b") SCENE("B", "c"), "c"), ST_OK);
    scene_refuse("a.py", SCENE("A", "c") SCENE("B", "c"), "replay.several-scenes");
    scene_refuse("a.py", "@s(level=3)\nclass A:\n  CALLABLE = {}\n  CASES = [{'name': 'd'}]\n",
                 "replay.no-scene");
}

TEST(scenes_that_cannot_be_used_say_why)
{
    scene_refuse("a.py", "", "replay.no-scene");
    scene_refuse("a.py", "@s(level=2)\nclass A:\n  CALLABLE = f()\n  CASES = [{'name': 'c'}]\n",
                 "replay.computed");
    scene_refuse("a.py", "@s(level=2)\nclass A:\n  CALLABLE = {}\n  CASES = f()\n",
                 "replay.computed");
    scene_refuse("a.json", "[]", "replay.bad-scene");
    scene_refuse("a.json", "{}", "replay.bad-scene");
    scene_refuse("a.json", "{\"case\": {\"name\": \"c\"}}", "replay.bad-scene");
    scene_refuse("a.json", "{\"case\": {\"name\": \"d\"}}", "replay.unknown-case");
    scene_refuse("a.json", "{\"case\": {\"name\": \"c\"}, \"incores\": [{}]}", "replay.bad-scene");
    scene_refuse("a.json",
                 "{\"case\": {\"name\": \"c\"}, \"incores\": [{\"source\": \"a\\u0000b\"}]}",
                 "replay.bad-scene");
}

#define HEAD "{\"case\": {\"name\": \"c\"}, \"incores\": [], "

TEST(arguments_of_a_scene_file_get_roles_from_the_signature)
{
    struct slots slots = {0};

    assert_int_equal(
        scene_load("a.json",
                   HEAD "\"orchestration\": {\"signature\": [\"D.IN\", \"INOUT\"]}, \"tensors\": ["
                        "{\"name\": \"a\", \"dtype\": \"torch.bfloat16\", \"shape\": [2]},"
                        "{\"name\": \"b\", \"dtype\": \"int8\", \"shape\": [3]}], \"scalars\": ["
                        "{\"name\": \"s\", \"value\": 2, \"dtype\": \"c_float\"},"
                        "{\"name\": \"t\", \"value\": true}, {\"name\": \"u\", \"value\": 9}]}",
                   "c"),
        ST_OK);
    assert_true(args_in_scene(&scene));
    assert_int_equal(args_scene(&arena, &scene, &slots, &diag), ST_OK);
    assert_int_equal(slots.n, 5);
    assert_str(slots.at[0].dtype->name, "BFLOAT16");
    assert_int_equal(slots.at[1].role, ROLE_INOUT);
    assert_int_equal(slots.at[2].value, 0x40000000); /* 2.0f */
    assert_str(slots.at[3].dtype->name, "BOOL");
    assert_str(slots.at[4].dtype->name, "INT64");
    assert_int_equal(slots.at[4].index, 4);
    vec_free(&slots);
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
        {"\"orchestration\": {\"signature\": [\"IN\"]}, \"tensors\": [{\"name\": \"a b\", "
         "\"dtype\": \"int8\", \"shape\": [1]}]}",
         "replay.bad-name"},
        {"\"orchestration\": {\"signature\": [\"IN\"]}, \"tensors\": [{\"name\": \"a\", \"dtype\": "
         "\"int8\", \"shape\": 4}]}",
         "replay.bad-shape"},
        {"\"orchestration\": {\"signature\": [\"IN\"]}, \"tensors\": [{\"name\": \"a\", \"dtype\": "
         "\"int8\", \"shape\": [\"four\"]}]}",
         "replay.bad-shape"},
        {"\"orchestration\": {\"signature\": []}, \"tensors\": [], \"scalars\": [{\"name\": "
         "\"s\", \"dtype\": \"complex64\", \"value\": 1}]}",
         "replay.dtype"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slots slots = {0};
        char text[512];
        snprintf(text, sizeof(text), HEAD "%s", cases[i].rest);
        assert_int_equal(scene_load("a.json", text, "c"), ST_OK);
        assert_int_equal(args_scene(&arena, &scene, &slots, &diag), ST_FORMAT);
        assert_int_equal(diag_count(&diag, cases[i].code), 1);
        vec_free(&slots);
    }
}

TEST_MAIN("kernels/replay/scene", TS(a_module_in_python), TS(sources_by_names_tables_and_paths),
          TS(of_several_classes_the_one_with_the_case_counts),
          TS(scenes_that_cannot_be_used_say_why),
          TS(arguments_of_a_scene_file_get_roles_from_the_signature),
          TS(arguments_that_do_not_fit_the_signature_are_refused))
