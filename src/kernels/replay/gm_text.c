/*
 * A tolerant scan of PTO text for the sizes of buffers.
 */
#include "kernels/replay/gm_text.h"

#include "base/tables/hash.h"
#include "base/tables/vec.h"
#include "base/text/char.h"
#include "base/text/num.h"

enum { LIST_MAX = 64 };

enum value_kind { VALUE_NUMBER, VALUE_POINTER };

/* What is known of an SSA name. */
struct value {
    struct str name;
    enum value_kind kind;
    bool is_dynamic;
    int64_t number; /* the constant, or the offset of a pointer */
    size_t arg;     /* that a pointer comes from */
};

struct scan {
    struct arena *arena;
    struct str text;
    size_t at;
    struct hash index; /* of a name's last value */
    VEC_OF(struct value) values;
    struct gm_text *out;
    bool counts; /* the function at hand is one of the kernel's */
};

static bool is_name(char c)
{
    return char_is_word(c) || c == '.' || c == '$' || c == '-' || c == '#';
}

static void text_skip_blanks(struct scan *s)
{
    while (s->at < s->text.n) {
        if (char_is_blank(s->text.at[s->at]))
            s->at++;
        else if (str_starts(str_part(s->text, s->at, 2), S("//")))
            s->at += str_find_char(str_part(s->text, s->at, s->text.n), '\n');
        else
            break;
    }
}

static bool text_take(struct scan *s, struct str word)
{
    text_skip_blanks(s);
    if (!str_starts(str_part(s->text, s->at, word.n), word))
        return false;
    s->at += word.n;
    return true;
}

/* %name; `out` is without the sign. */
static bool read_ssa(struct scan *s, struct str *out)
{
    text_skip_blanks(s);
    if (s->at >= s->text.n || s->text.at[s->at] != '%')
        return false;
    size_t from = ++s->at;
    while (s->at < s->text.n && is_name(s->text.at[s->at]))
        s->at++;
    *out = str_part(s->text, from, s->at - from);
    return out->n > 0;
}

static struct str read_word(struct scan *s)
{
    text_skip_blanks(s);
    size_t from = s->at;
    while (s->at < s->text.n && is_name(s->text.at[s->at]))
        s->at++;
    return str_part(s->text, from, s->at - from);
}

static void define(struct scan *s, struct value v)
{
    hash_put(&s->index, hash_bytes(v.name), (uint32_t)s->values.n);
    vec_push(&s->values, v);
}

static const struct value *look_up(const struct scan *s, struct str name)
{
    uint32_t i;

    if (!hash_get(&s->index, hash_bytes(name), &i) || !str_equal(s->values.at[i].name, name))
        return NULL;
    return &s->values.at[i];
}

/* A number of the text or of a name; 256 for what depends on the run. */
static int64_t text_number_of(const struct scan *s, struct str name, bool *is_dynamic)
{
    const struct value *v = look_up(s, name);

    if (v != NULL && v->kind == VALUE_NUMBER && !v->is_dynamic)
        return v->number;
    *is_dynamic = true;
    return GM_TEXT_UNKNOWN;
}

/* ---- what a line may say ---- */

static bool read_literal(struct scan *s, int64_t *out)
{
    uint64_t hex;

    text_skip_blanks(s);
    size_t from = s->at;
    while (s->at < s->text.n && (is_name(s->text.at[s->at]) || s->text.at[s->at] == '+'))
        s->at++;
    struct str word = str_part(s->text, from, s->at - from);
    if (str_starts(word, S("0x")) && num_hex(word, &hex) && hex <= INT64_MAX) {
        *out = (int64_t)hex;
        return true;
    }
    return num_i64(word, out);
}

static bool fold(struct str op, int64_t a, int64_t b, int64_t *out)
{
    bool divides = b > 0 && a >= 0; /* rounding of the rest differs below zero */

    if (str_equal(op, S("arith.addi")))
        return !__builtin_add_overflow(a, b, out);
    if (str_equal(op, S("arith.subi")))
        return !__builtin_sub_overflow(a, b, out);
    if (str_equal(op, S("arith.muli")))
        return !__builtin_mul_overflow(a, b, out);
    if (str_equal(op, S("arith.minsi")) || str_equal(op, S("arith.minui")))
        *out = a < b ? a : b;
    else if (str_equal(op, S("arith.maxsi")) || str_equal(op, S("arith.maxui")))
        *out = a > b ? a : b;
    else if (divides && (str_equal(op, S("arith.divsi")) || str_equal(op, S("arith.divui")) ||
                         str_equal(op, S("arith.floordivsi"))))
        *out = a / b;
    else if (divides &&
             (str_equal(op, S("arith.ceildivsi")) || str_equal(op, S("arith.ceildivui"))))
        *out = a / b + (a % b != 0);
    else if (divides && (str_equal(op, S("arith.remsi")) || str_equal(op, S("arith.remui"))))
        *out = a % b;
    else
        return false;
    return true;
}

static void read_arith(struct scan *s, struct str result, struct str op)
{
    struct value v = {.name = result, .is_dynamic = true};
    struct str a, b;

    if (str_equal(op, S("arith.constant"))) {
        v.is_dynamic = !read_literal(s, &v.number);
    } else if (read_ssa(s, &a)) {
        bool is_dynamic = false;
        int64_t x = text_number_of(s, a, &is_dynamic);
        if (str_starts(op, S("arith.index_cast")) || str_equal(op, S("arith.extsi")) ||
            str_equal(op, S("arith.extui")) || str_equal(op, S("arith.trunci"))) {
            v.number = x;
            v.is_dynamic = is_dynamic;
        } else if (text_take(s, S(",")) && read_ssa(s, &b)) {
            int64_t y = text_number_of(s, b, &is_dynamic);
            v.is_dynamic = is_dynamic || !fold(op, x, y, &v.number);
        }
    }
    define(s, v);
}

static void read_addptr(struct scan *s, struct str result)
{
    struct value v = {.name = result, .kind = VALUE_POINTER};
    struct str base, offset;

    if (!read_ssa(s, &base) || !text_take(s, S(",")) || !read_ssa(s, &offset))
        return;
    const struct value *from = look_up(s, base);
    if (from == NULL || from->kind != VALUE_POINTER)
        return;
    v.arg = from->arg;
    v.is_dynamic = from->is_dynamic;
    v.number = num_most_sum(from->number, text_number_of(s, offset, &v.is_dynamic));
    define(s, v);
}

/* [ %a, %b, 16 ] */
static bool read_list(struct scan *s, int64_t *out, size_t *n, bool *is_dynamic)
{
    struct str name;

    *n = 0;
    if (!text_take(s, S("=")) || !text_take(s, S("[")))
        return false;
    while (!text_take(s, S("]"))) {
        int64_t number = GM_TEXT_UNKNOWN;
        if (read_ssa(s, &name))
            number = text_number_of(s, name, is_dynamic);
        else if (!read_literal(s, &number))
            return false;
        if (*n < LIST_MAX)
            out[(*n)++] = number;
        text_take(s, S(","));
    }
    return true;
}

static void read_view(struct scan *s)
{
    int64_t shape[LIST_MAX], strides[LIST_MAX], elements = 1;
    size_t n, n_strides = 0;
    bool is_dynamic = false;
    struct str base;

    if (!read_ssa(s, &base) || (text_take(s, S(",")), !text_take(s, S("shape"))) ||
        !read_list(s, shape, &n, &is_dynamic))
        return;
    text_take(s, S(","));
    if (text_take(s, S("strides")) && !read_list(s, strides, &n_strides, &is_dynamic))
        return;
    const struct value *from = look_up(s, base);
    if (from == NULL || from->kind != VALUE_POINTER || !s->counts || from->arg >= s->out->n)
        return;
    for (size_t i = 0; i < n; i++)
        elements =
            n == n_strides
                ? num_most_sum(elements, num_most_product(num_most_sum(shape[i], -1), strides[i]))
                : num_most_product(elements, shape[i]);
    struct gm_text_arg *arg = &s->out->args[from->arg];
    elements = num_most_sum(elements, from->number);
    arg->is_dynamic = arg->is_dynamic || is_dynamic || from->is_dynamic;
    if (!arg->has_view || elements > arg->elements)
        arg->elements = elements;
    arg->has_view = true;
}

/* ---- functions ---- */

/* The text of a type up to the comma or bracket that ends it. */
static struct str read_type(struct scan *s)
{
    size_t from, depth = 0;

    text_skip_blanks(s);
    for (from = s->at; s->at < s->text.n; s->at++) {
        char c = s->text.at[s->at];
        if (c == '<' || c == '(' || c == '[' || c == '{')
            depth++;
        else if (depth > 0 && (c == '>' || c == ')' || c == ']' || c == '}'))
            depth--;
        else if (depth == 0 && (c == ',' || c == ')' || c == '{'))
            break;
    }
    return str_trim(str_part(s->text, from, s->at - from));
}

static bool is_of_kernel(struct str name, struct str kernel)
{
    return str_equal(name, kernel) || (name.n == kernel.n + 4 && str_starts(name, kernel) &&
                                       (str_ends(name, S("_aic")) || str_ends(name, S("_aiv"))));
}

static struct str function_name(struct scan *s)
{
    struct str word = read_word(s);

    while (str_equal(word, S("private")) || str_equal(word, S("public")) ||
           str_equal(word, S("nested")))
        word = read_word(s);
    if (word.n > 0 || !text_take(s, S("@")))
        return S("");
    return read_word(s);
}

static void add_arg(struct scan *s, size_t i, struct str name, struct str type)
{
    bool is_pointer = str_starts(type, S("!pto.ptr")) || str_starts(type, S("memref"));
    struct gm_text *g = s->out;

    define(s, (struct value){.name = name,
                             .kind = is_pointer ? VALUE_POINTER : VALUE_NUMBER,
                             .is_dynamic = !is_pointer,
                             .arg = i});
    if (!s->counts || i >= GM_TEXT_ARGS)
        return;
    if (i >= g->n) {
        g->args[i] = (struct gm_text_arg){.name = name, .type = type, .is_pointer = is_pointer};
        g->n = i + 1;
    }
}

static void read_function(struct scan *s, struct str kernel)
{
    struct str func = function_name(s), name;

    hash_clear(&s->index);
    s->values.n = 0;
    s->counts = kernel.n == 0 || is_of_kernel(func, kernel);
    if (s->counts && s->out->func.n == 0)
        s->out->func = func;
    if (!text_take(s, S("(")))
        return;
    for (size_t i = 0; read_ssa(s, &name) && text_take(s, S(":")); i++) {
        add_arg(s, i, name, read_type(s));
        if (text_take(s, S("{")))
            s->at += str_find_char(str_part(s->text, s->at, s->text.n), '}') + 1;
        text_take(s, S(","));
    }
}

static bool has_function(struct str text, struct str kernel)
{
    static const struct str key = S_INIT("func.func");

    for (size_t at; (at = str_find(text, key)) < text.n;) {
        struct scan s = {.text = str_part(text, at + key.n, 512)};
        if (is_of_kernel(function_name(&s), kernel))
            return true;
        text = str_part(text, at + key.n, text.n);
    }
    return false;
}

/* Statements begin with "%x = op" or with "func.func"; other words are passed over. */
static void read_statement(struct scan *s, struct str kernel)
{
    struct str result, op;

    if (s->text.at[s->at] == '%') {
        if (!read_ssa(s, &result) || !text_take(s, S("=")))
            return;
        op = read_word(s);
        if (str_starts(op, S("arith.")))
            read_arith(s, result, op);
        else if (str_equal(op, S("pto.addptr")))
            read_addptr(s, result);
        else if (str_equal(op, S("pto.make_tensor_view")))
            read_view(s);
        else
            define(s, (struct value){.name = result, .is_dynamic = true});
        return;
    }
    op = read_word(s);
    if (str_equal(op, S("func.func")))
        read_function(s, kernel);
    else if (op.n == 0)
        s->at++;
}

void gm_text_scan(struct arena *arena, struct str text, struct str kernel, struct gm_text *out)
{
    struct scan s = {.arena = arena, .text = text, .out = out, .counts = true};

    *out = (struct gm_text){.args = ARENA_ARRAY(arena, struct gm_text_arg, GM_TEXT_ARGS)};
    if (!has_function(text, kernel))
        kernel.n = 0;
    for (;;) {
        text_skip_blanks(&s);
        if (s.at >= text.n)
            break;
        read_statement(&s, kernel);
    }
    hash_free(&s.index);
    vec_free(&s.values);
}

int64_t gm_text_elements(const struct gm_text *g, size_t i)
{
    if (i >= g->n || !g->args[i].has_view)
        return GM_TEXT_NO_VIEW;
    return g->args[i].elements > 0 ? g->args[i].elements : 1;
}
