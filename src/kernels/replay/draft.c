/*
 * Arguments guessed from the source of a kernel.
 */
#include "kernels/replay/draft.h"

#include "base/text/char.h"
#include "base/text/num.h"
#include "kernels/replay/entry.h"

enum { COMPUTED_SLOTS = 8 }; /* taken for tensors where the source counts its slots */

/* The identifier that ends before `end`, blanks skipped. */
static struct str word_before(struct str s, size_t end)
{
    while (end > 0 && char_is_space(s.at[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && char_is_word(s.at[begin - 1]))
        begin--;
    return str_part(s, begin, end - begin);
}

/* "args[7]" at `at`: its number and where it ends. */
static bool slot_at(struct str s, size_t at, int64_t *index, size_t *end)
{
    size_t digits = at + 5, n = str_digits(str_part(s, digits, s.n));

    if (!str_starts(str_part(s, at, 5), S("args[")) || (at > 0 && char_is_word(s.at[at - 1])))
        return false;
    *end = digits + n + 1;
    return n > 0 && digits + n < s.n && s.at[digits + n] == ']' &&
           num_i64(str_part(s, digits, n), index) && *index < SLOT_LOCAL;
}

/* The statement around a place: from behind the last ; { or } to there. */
static struct str statement_before(struct str s, size_t at)
{
    size_t begin = at;

    while (begin > 0 && s.at[begin - 1] != ';' && s.at[begin - 1] != '{' && s.at[begin - 1] != '}')
        begin--;
    return str_part(s, begin, at - begin);
}

/* The element type that the address of descriptor `name` is cast to: "T *>(name->buffer.addr". What
 * the runtime has no name for goes there as bytes, as what is behind a void pointer does. */
static const struct slot_type *type_of_word(struct str word)
{
    enum dtype type = str_equal(word, S("void")) ? DTYPE_U8 : dtype_of(word);
    const struct slot_type *known = slot_type_of(type, false);

    return known == NULL && dtype_bits(type) == 8 ? slot_type_of(DTYPE_U8, false) : known;
}

/* A slot handed to a function of the kernel's own, "data_of<half>(args[0])", is a tensor; one
 * inside a cast or from_u64() is not told by that. `word` is the type given to it, or empty. */
static bool is_handed_on(struct str before, struct str *word)
{
    static const struct str others[] = {S_INIT("static_cast"), S_INIT("reinterpret_cast"),
                                        S_INIT("from_u64"),    S_INIT("if"),
                                        S_INIT("while"),       S_INIT("for"),
                                        S_INIT("switch"),      S_INIT("return")};
    size_t end = before.n;

    *word = (struct str){0};
    if (end == 0 || before.at[end - 1] != '(')
        return false;
    struct str name = word_before(before, end - 1);
    if (end > 1 && before.at[end - 2] == '>') {
        size_t open = end - 2;
        while (open > 0 && before.at[open] != '<')
            open--;
        *word = word_before(before, end - 2);
        name = word_before(before, open);
    }
    return name.n > 0 && !str_is_one_of(name, others, ARRAY_LEN(others)) &&
           type_of_word(name) == NULL;
}

static const struct slot_type *element_type(struct str s, struct str name)
{
    for (size_t at = 0; at < s.n; at++) {
        at += str_find(str_part(s, at, s.n), S("->buffer.addr"));
        if (at >= s.n)
            break;
        if (!str_equal(word_before(s, at), name))
            continue;
        struct str before = statement_before(s, at);
        size_t star = before.n;
        while (star > 0 && before.at[star - 1] != '*')
            star--;
        struct str word = star > 0 ? word_before(before, star - 1) : (struct str){0};
        if (type_of_word(word) != NULL)
            return type_of_word(word);
    }
    return slot_type_find(S("FLOAT32"));
}

static struct slot *add_slot(struct slots *out, struct arena *arena, int64_t index)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].index == index)
            return NULL;
    vec_push(out, ((struct slot){.index = index, .dtype = slot_type_find(S("INT64")), .value = 1}));
    struct slot *s = &out->at[out->n - 1];
    s->name = arena_format(arena, "arg%d", (int)index);
    return s;
}

static void make_tensor(const struct slots *out, struct slot *s, struct arena *arena,
                        struct str source, struct str name, int64_t dim)
{
    s->is_tensor = true;
    s->dtype = element_type(source, name);
    s->shape = ARENA_ARRAY(arena, int64_t, 2);
    s->shape[0] = s->shape[1] = dim;
    s->rank = 2;
    s->role = ROLE_INOUT;
    s->fill = S("zero");
    for (size_t i = 0; i < out->n; i++)
        if (str_equal(out->at[i].name, name))
            return; /* taken: it keeps its number */
    if (slot_is_identifier(name))
        s->name = name;
}

void draft_tensor(int64_t index, struct str name, struct str type, int64_t dim, struct arena *arena,
                  struct slots *out)
{
    struct slot *s = add_slot(out, arena, index);

    make_tensor(out, s, arena, (struct str){0}, name, dim);
    if (type_of_word(type) != NULL)
        s->dtype = type_of_word(type);
}

void draft_value(int64_t index, struct str name, struct str type, int64_t value,
                 struct arena *arena, struct slots *out)
{
    struct slot *s = add_slot(out, arena, index);

    s->value = value;
    if (name.n > 0)
        s->name = name;
    const struct slot_type *known = type_of_word(type);
    if (str_ends(type, S("float")) || str_ends(type, S("double")) || (known && known->is_float))
        s->is_packed = slot_f32_bits((double)value, &s->value);
}

/* "data_of<half>(args, 2)": the kernel's own way to a tensor. */
static void draft_handed(struct str source, int64_t dim, struct arena *arena, struct slots *out)
{
    for (size_t at = 0; at < source.n; at++) {
        int64_t index;
        struct str word;
        at += str_find(str_part(source, at, source.n), S("(args,"));
        struct str rest = str_trim(str_part(source, at + 6, source.n));
        size_t n = str_digits(rest);
        if (at >= source.n || n == 0 || n == rest.n || rest.at[n] != ')' ||
            !num_i64(str_part(rest, 0, n), &index) || index >= SLOT_LOCAL ||
            !is_handed_on(str_part(source, 0, at + 1), &word))
            continue;
        struct slot *s = add_slot(out, arena, index);
        if (s == NULL)
            continue;
        make_tensor(out, s, arena, source, (struct str){0}, dim);
        s->dtype = type_of_word(word) != NULL ? type_of_word(word) : s->dtype;
    }
}

/* Is a slot read whose number is not written down? */
static bool has_computed_slot(struct str source)
{
    for (size_t at = 0; at < source.n; at++) {
        at += str_find(str_part(source, at, source.n), S("args["));
        if (at + 5 < source.n && !char_is_digit(source.at[at + 5]) &&
            (at == 0 || !char_is_word(source.at[at - 1])))
            return true;
    }
    return false;
}

static void draft_others(struct str source, int64_t dim, struct arena *arena, struct slots *out)
{
    for (int64_t i = 0; i < COMPUTED_SLOTS; i++) {
        struct slot *s = add_slot(out, arena, i);
        if (s != NULL)
            make_tensor(out, s, arena, source, (struct str){0}, dim);
    }
}

/* "reinterpret_cast<ChipTensor *>(", with the runtime's name of today or of before. */
static bool has_descriptor(struct str statement)
{
    for (size_t at = 0; at < statement.n;) {
        at += str_find(str_part(statement, at, statement.n), S("Tensor")) + 6;
        struct str rest = str_trim(str_part(statement, at, statement.n));
        if (rest.n > 0 && rest.at[0] == '*')
            return true;
    }
    return false;
}

void draft_slots(struct str source, int64_t dim, struct arena *arena, struct slots *out)
{
    int64_t index;
    size_t end;

    source = entry_without_comments(arena, source);
    bool has_tensors = str_contains(source, S("Tensor"));
    for (size_t at = 0; at + 5 < source.n; at++) {
        if (!slot_at(source, at, &index, &end))
            continue;
        struct str before = statement_before(source, at);
        struct slot *s = add_slot(out, arena, index);
        size_t equals = str_find_char(before, '=');
        struct str word;
        if (s && has_descriptor(before))
            make_tensor(out, s, arena, source,
                        equals < before.n ? word_before(before, equals) : (struct str){0}, dim);
        else if (s && has_tensors && is_handed_on(before, &word)) {
            make_tensor(out, s, arena, source, (struct str){0}, dim);
            s->dtype = type_of_word(word) != NULL ? type_of_word(word) : s->dtype;
        } else if (s && str_contains(before, S("reinterpret_cast")))
            s->is_context = true;
        else if (s && str_contains(before, S("float")))
            s->is_packed = slot_f32_bits(1.0, &s->value);
        at = end;
    }
    draft_handed(source, dim, arena, out);
    if (has_tensors && has_computed_slot(source))
        draft_others(source, dim, arena, out);
}
