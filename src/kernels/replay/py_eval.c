/*
 * Paths, texts, whole numbers and lists of Python.
 */
#include "kernels/replay/py_eval.h"

#include "base/files/fs.h"
#include "kernels/replay/paths.h"

void py_eval_spread(struct arena *arena, const struct tree *from, struct tree *out)
{
    for (const struct tree *one = from->first; one != NULL; one = one->next) {
        struct tree *copy = tree_add(arena, out);
        *copy = *one;
        copy->next = NULL;
    }
}

static void set_text(struct tree *out, struct str text)
{
    *out = (struct tree){.kind = TREE_TEXT, .text = text};
}

static bool is_text(const struct tree *v)
{
    return v->kind == TREE_TEXT && memchr(v->text.at, '\0', v->text.n) == NULL;
}

static bool of_numbers(char op, int64_t a, int64_t b, struct tree *out)
{
    int64_t i = 0;
    bool is_good = op == '+'   ? !__builtin_add_overflow(a, b, &i)
                   : op == '-' ? !__builtin_sub_overflow(a, b, &i)
                   : op == '*' ? !__builtin_mul_overflow(a, b, &i)
                               : op == 'd' && b != 0 && (a != INT64_MIN || b != -1);

    if (is_good && op == 'd')
        i = a / b - (a % b != 0 && (a < 0) != (b < 0));
    if (is_good)
        *out = (struct tree){.kind = TREE_INT, .i = i};
    return is_good;
}

bool py_eval_binary(struct arena *arena, char op, const struct tree *a, const struct tree *b,
                    struct tree *out)
{
    struct tree both = {.kind = TREE_LIST};

    if (a->kind == TREE_INT && b->kind == TREE_INT && !a->is_unsigned && !b->is_unsigned)
        return of_numbers(op, a->i, b->i, out);
    if (op == '+' && a->kind == TREE_LIST && b->kind == TREE_LIST) {
        py_eval_spread(arena, a, &both);
        py_eval_spread(arena, b, &both);
        *out = both;
        return true;
    }
    if (!is_text(a) || !is_text(b) || (op != '+' && op != '/'))
        return false;
    if (op == '+')
        set_text(out, arena_format(arena, "%.*s%.*s", STR_ARGS(a->text), STR_ARGS(b->text)));
    else
        set_text(out,
                 str_of(fs_join(arena, arena_cstr(arena, a->text), arena_cstr(arena, b->text))));
    return true;
}

static bool eval_join(struct arena *arena, struct str first, const struct tree *args,
                      struct tree *out)
{
    const char *path = arena_cstr(arena, first);

    for (const struct tree *one = tree_items(args); one != NULL; one = one->next) {
        if (!is_text(one))
            return false;
        path = fs_join(arena, path, arena_cstr(arena, one->text));
    }
    set_text(out, str_of(path));
    return true;
}

static struct str folder_of(struct arena *arena, struct str path)
{
    return str_of(paths_folder(arena, arena_cstr(arena, path)));
}

bool py_eval_call(struct arena *arena, struct str function, const struct tree *args,
                  struct tree *out)
{
    static const struct str same[] = {S_INIT("os.path.abspath"), S_INIT("os.path.realpath"),
                                      S_INIT("os.path.normpath"), S_INIT("os.fspath"),
                                      S_INIT("str")};
    static const struct str joins[] = {S_INIT("os.path.join"), S_INIT("Path"),
                                       S_INIT("pathlib.Path"), S_INIT("PurePath")};
    const struct tree *first = tree_items(args);

    if (first == NULL || !is_text(first))
        return false;
    if (str_is_one_of(function, joins, ARRAY_LEN(joins)))
        return eval_join(arena, S(""), args, out);
    if (args->n != 1)
        return false;
    if (str_is_one_of(function, same, ARRAY_LEN(same)))
        set_text(out, first->text);
    else if (str_equal(function, S("os.path.dirname")))
        set_text(out, folder_of(arena, first->text));
    else
        return false;
    return true;
}

bool py_eval_attribute(struct arena *arena, const struct tree *of, struct str name,
                       const struct tree *args, struct tree *out)
{
    static const struct str same[] = {S_INIT("resolve"), S_INIT("absolute"), S_INIT("as_posix")};

    if (of->kind == TREE_MAP && args == NULL) { /* of a class */
        const struct tree *member = tree_get(of, name);
        if (member != NULL)
            *out = *member;
        return member != NULL;
    }
    if (!is_text(of))
        return false;
    if (args != NULL && str_equal(name, S("joinpath")))
        return eval_join(arena, of->text, args, out);
    if (args != NULL && args->n == 0 && str_is_one_of(name, same, ARRAY_LEN(same)))
        set_text(out, of->text);
    else if (args == NULL && str_equal(name, S("parent")))
        set_text(out, folder_of(arena, of->text));
    else if (args == NULL && str_equal(name, S("parents"))) {
        struct tree all = {.kind = TREE_LIST};
        struct str path = of->text;
        for (struct str up = folder_of(arena, path); !str_equal(up, path) && all.n < TREE_DEPTH;
             path = up, up = folder_of(arena, path))
            set_text(tree_add(arena, &all), up);
        *out = all;
    } else
        return false;
    return true;
}

bool py_eval_item(const struct tree *of, const struct tree *index, struct tree *out)
{
    const struct tree *found = NULL;

    if (of->kind == TREE_MAP && index->kind == TREE_TEXT) {
        found = tree_get(of, index->text);
    } else if (of->kind == TREE_LIST && index->kind == TREE_INT) {
        int64_t at = index->i < 0 ? index->i + (int64_t)of->n : index->i;
        found = at < 0 ? NULL : of->first;
        while (found != NULL && at-- > 0)
            found = found->next;
    }
    if (found == NULL)
        return false;
    struct tree copy = *found;
    copy.next = NULL;
    *out = copy;
    return true;
}
