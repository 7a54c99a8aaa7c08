#include "input/trace/trace_text.h"

#include "base/testing.h"

static struct arena arena;

static struct str text(struct str raw, enum trace_form form)
{
    return trace_text(raw, form, &arena);
}

TEST(escapes_and_broken_bytes_become_text)
{
    assert_str(text(S("a\\r\\nb"), FORM_TEXT), "a\r\nb");
    assert_str(text(S("plain"), FORM_TEXT), "plain");
    assert_str(text(S("x\xff"), FORM_TEXT), "x\xEF\xBF\xBD");
    assert_str(text(S(""), FORM_TEXT), "");
    arena_free(&arena);
}

TEST(objects_and_lists_stay_as_they_stand)
{
    assert_str(text(S("[1,\n \"a\\\"b\"]"), FORM_JSON), "[1,\n \"a\\\"b\"]");
    assert_str(text(S("[\"\xff\"]"), FORM_JSON), "[\"\xEF\xBF\xBD\"]");
    arena_free(&arena);
}

TEST(tensors_of_both_dialects_look_alike)
{
    assert_str(text(S("8,7;\\r\\n7;\\r\\n"), FORM_TENSORS), "8,7;7;");
    assert_str(text(S("8,7"), FORM_TENSORS), "8,7");
    assert_str(text(S("[[8, 7], [7], []]"), FORM_TENSORS_JSON), "8,7;7;");
    assert_str(text(S("[\"long int\", \"\", \"a,b\"]"), FORM_TENSORS_JSON), "long int;;a,b");
    assert_str(text(S("[[[1, 2], [3]], [4]]"), FORM_TENSORS_JSON), "[1,2],[3];4");
    assert_str(text(S("[]"), FORM_TENSORS_JSON), "");
    assert_str(text(S("[[1"), FORM_TENSORS_JSON), "1");
    assert_str(text(S("]]]"), FORM_TENSORS_JSON), "");
    arena_free(&arena);
}

TEST(cores_get_one_spelling)
{
    assert_str(text(S("KERNEL_AIVEC"), FORM_CORE), "AI_VECTOR_CORE");
    arena_free(&arena);
}

TEST_MAIN("input/trace/trace_text", T(escapes_and_broken_bytes_become_text),
          T(objects_and_lists_stay_as_they_stand), T(tensors_of_both_dialects_look_alike),
          T(cores_get_one_spelling))
