#include "gpu/expr.h"

#include <math.h>

#include "base/chars.h"
#include "base/num.h"

struct reader {
    struct arena *arena;
    struct str text;
    size_t at;
    size_t depth;
    struct gpu_param_list params;
    const char *error;
};

static const struct {
    struct str name;
    double bytes;
} dtypes[] = {
    {S_INIT("fp64"), 8},  {S_INIT("float64"), 8},  {S_INIT("double"), 8},
    {S_INIT("fp32"), 4},  {S_INIT("float32"), 4},  {S_INIT("float"), 4},
    {S_INIT("tf32"), 4},  {S_INIT("bf16"), 2},     {S_INIT("bfloat16"), 2},
    {S_INIT("fp16"), 2},  {S_INIT("float16"), 2},  {S_INIT("half"), 2},
    {S_INIT("fp8"), 1},   {S_INIT("float8"), 1},   {S_INIT("float8_e4m3fn"), 1},
    {S_INIT("e4m3"), 1},  {S_INIT("e5m2"), 1},     {S_INIT("float8_e5m2"), 1},
    {S_INIT("fp4"), 0.5}, {S_INIT("float4"), 0.5}, {S_INIT("int64"), 8},
    {S_INIT("int32"), 4}, {S_INIT("int16"), 2},    {S_INIT("int8"), 1},
    {S_INIT("uint8"), 1}, {S_INIT("bool"), 1},     {S_INIT("int4"), 0.5},
};

/* Bytes of one element: "bf16", "bfloat16", "fp8", "int4" (0.5), …; 0 for a type not known. */
static double dtype_bytes(struct str dtype)
{
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++)
        if (str_equal_nocase(dtypes[i].name, dtype))
            return dtypes[i].bytes;
    return 0;
}

static double fail(struct reader *r, const char *reason)
{
    if (r->error == NULL)
        r->error = reason;
    return 0;
}

static char peek(struct reader *r)
{
    while (r->at < r->text.n && (r->text.at[r->at] == ' ' || r->text.at[r->at] == '\t' ||
                                 r->text.at[r->at] == '\n' || r->text.at[r->at] == '\r'))
        r->at++;
    return r->at < r->text.n ? r->text.at[r->at] : '\0';
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != c || c == '\0')
        return false;
    r->at++;
    return true;
}

static struct str word(struct reader *r)
{
    size_t from = r->at;

    while (r->at < r->text.n && char_is_word(r->text.at[r->at]))
        r->at++;
    return str_part(r->text, from, r->at - from);
}

/* Digits, a point, an exponent: num_f64() judges the whole. */
static double number(struct reader *r)
{
    size_t from = r->at;
    double value = 0;

    while (r->at < r->text.n) {
        char c = r->text.at[r->at];
        bool is_sign = (c == '+' || c == '-') && r->at > from &&
                       (r->text.at[r->at - 1] == 'e' || r->text.at[r->at - 1] == 'E');
        if (!is_sign && c != '.' && c != 'e' && c != 'E' && !char_is_digit(c))
            break;
        r->at++;
    }
    struct str text = str_part(r->text, from, r->at - from);
    if (!num_f64(text, &value))
        return fail(r, arena_format(r->arena, "\"%.*s\" is no number", STR_ARGS(text)).at);
    return value;
}

static const struct gpu_param *find(const struct reader *r, struct str name)
{
    for (size_t i = 0; i < r->params.n; i++)
        if (str_equal(r->params.at[i].name, name))
            return &r->params.at[i];
    return NULL;
}

static double named(struct reader *r, struct str name)
{
    const struct gpu_param *p = find(r, name);

    if (p == NULL)
        return fail(r, arena_format(r->arena, "no parameter \"%.*s\"", STR_ARGS(name)).at);
    if (isnan(p->number))
        return fail(r,
                    arena_format(r->arena, "parameter \"%.*s\" is no number", STR_ARGS(name)).at);
    return p->number;
}

static double sum(struct reader *r);

/* bytesof(x): x is a parameter that holds a type, or the type itself. */
static double bytes_of(struct reader *r)
{
    peek(r);
    struct str name = word(r);
    const struct gpu_param *p = find(r, name);
    double bytes = dtype_bytes(p != NULL ? p->text : name);

    if (!(bytes > 0))
        return fail(r, arena_format(r->arena, "bytesof: no type \"%.*s\"",
                                    STR_ARGS(p != NULL ? p->text : name))
                           .at);
    if (!take(r, ')'))
        return fail(r, "bytesof: a closing bracket is missing");
    return bytes;
}

static double call(struct reader *r, struct str name)
{
    bool is_max = str_equal(name, S("max")), is_min = str_equal(name, S("min"));

    if (str_equal(name, S("bytesof")))
        return bytes_of(r);
    if (!is_max && !is_min && !str_equal(name, S("ceil")) && !str_equal(name, S("floor")) &&
        !str_equal(name, S("log2")))
        return fail(r, arena_format(r->arena, "no function \"%.*s\"", STR_ARGS(name)).at);
    double a = sum(r), b = 0;
    if (is_max || is_min) {
        if (!take(r, ','))
            return fail(r, arena_format(r->arena, "%.*s takes two values", STR_ARGS(name)).at);
        b = sum(r);
    }
    if (!take(r, ')'))
        return fail(
            r, arena_format(r->arena, "%.*s: a closing bracket is missing", STR_ARGS(name)).at);
    if (is_max)
        return a > b ? a : b;
    if (is_min)
        return a < b ? a : b;
    return str_equal(name, S("ceil")) ? ceil(a) : str_equal(name, S("floor")) ? floor(a) : log2(a);
}

static double atom(struct reader *r)
{
    char c = peek(r);
    double value;

    if (r->error != NULL)
        return 0;
    if (r->depth >= GPU_EXPR_DEPTH)
        return fail(r, "nested too deeply");
    r->depth++;
    if (take(r, '-')) {
        value = -atom(r);
    } else if (take(r, '+')) {
        value = atom(r);
    } else if (take(r, '(')) {
        value = sum(r);
        if (!take(r, ')'))
            fail(r, "a closing bracket is missing");
    } else if (char_is_digit(c) || c == '.') {
        value = number(r);
    } else if (char_is_word(c)) {
        struct str name = word(r);
        value = take(r, '(') ? call(r, name) : named(r, name);
    } else {
        value = fail(r, c == '\0' ? "a value is missing at the end"
                                  : arena_format(r->arena, "a value is missing before \"%.*s\"",
                                                 STR_ARGS(str_part(r->text, r->at, 12)))
                                        .at);
    }
    r->depth--;
    return value;
}

static double product(struct reader *r)
{
    double value = atom(r);

    while (r->error == NULL) {
        if (take(r, '*')) {
            value *= atom(r);
        } else if (take(r, '/')) {
            value /= atom(r);
        } else if (take(r, '%')) {
            value = fmod(value, atom(r));
        } else {
            break;
        }
    }
    return value;
}

static double sum(struct reader *r)
{
    double value = product(r);

    while (r->error == NULL) {
        if (take(r, '+'))
            value += product(r);
        else if (take(r, '-'))
            value -= product(r);
        else
            break;
    }
    return value;
}

const char *gpu_expr_eval(struct arena *arena, struct str text, struct gpu_param_list params,
                          double *out)
{
    struct reader r = {.arena = arena, .text = text, .params = params};

    if (text.n > GPU_EXPR_BYTES)
        return "the expression is too long";
    double value = sum(&r);
    if (r.error == NULL && peek(&r) != '\0')
        fail(&r, arena_format(arena, "\"%.*s\" does not belong there",
                              STR_ARGS(str_part(r.text, r.at, 12)))
                     .at);
    if (r.error == NULL && r.at < text.n)
        fail(&r, "the text holds a NUL byte");
    if (r.error == NULL && !isfinite(value))
        fail(&r, "the result is not finite (a division by zero, or too large)");
    if (r.error == NULL && value < 0)
        fail(&r, "the result is negative");
    if (r.error == NULL)
        *out = value;
    return r.error;
}
