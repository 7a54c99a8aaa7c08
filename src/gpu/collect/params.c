/*
 * Sizes and types of a problem. See params.h.
 */
#include "gpu/collect/params.h"

#include <math.h>

#include "base/files/fs.h"
#include "base/text/char.h"
#include "base/text/expr.h"
#include "base/text/num.h"
#include "ops/dtype.h"

enum { SLUG_MAX = 96, SLUG_CUT = 80, NAME_MAX_BYTES = 64 };

static const struct str reserved[] = {S_INIT("kernel"), S_INIT("version"), S_INIT("mode"),
                                      S_INIT("runs"),   S_INIT("warmup"),  S_INIT("device"),
                                      S_INIT("peaks"),  S_INIT("work")};
static const struct str leading[] = {S_INIT("b"), S_INIT("s"), S_INIT("t")};

static const struct gpu_param *params_find(const struct gpu_params *params, struct str name)
{
    for (size_t i = 0; i < params->list.n; i++)
        if (str_equal(params->list.at[i].name, name))
            return &params->list.at[i];
    return NULL;
}

enum status gpu_params_set(struct gpu_params *params, struct arena *arena, struct str name,
                           struct str text, bool is_string, struct diag *d)
{
    struct gpu_param p = {.text = arena_str(arena, text), .is_string = is_string, .number = NAN};

    if (!str_is_name(name) || name.n > NAME_MAX_BYTES)
        return diag_fail(d, ST_FORMAT, "gpu.bad-param", (struct where){0},
                         "\"%.*s\" is not a parameter name: letters, digits and _", STR_ARGS(name));
    if (str_is_one_of(name, reserved, ARRAY_LEN(reserved)))
        return diag_fail(d, ST_FORMAT, "gpu.reserved-param", (struct where){0},
                         "the parameter \"%.*s\" has a name that params.json keeps for itself",
                         STR_ARGS(name));
    if (!is_string)
        num_f64(text, &p.number);
    for (size_t i = 0; i < params->list.n; i++)
        if (str_equal(params->list.at[i].name, name)) {
            p.name = params->list.at[i].name;
            params->list.at[i] = p;
            return ST_OK;
        }
    p.name = arena_str(arena, name);
    vec_push(&params->list, p);
    return ST_OK;
}

enum status gpu_params_assign(struct gpu_params *params, struct arena *arena, const char *text,
                              struct diag *d)
{
    struct str s = str_of(text);
    size_t sign = str_find_char(s, '=');
    struct str value = str_part(s, sign + 1, s.n);
    double number;

    if (sign == s.n || value.n == 0)
        return diag_fail(d, ST_FORMAT, "gpu.bad-param", (struct where){0},
                         "\"%s\" is not of the form name=value", text);
    return gpu_params_set(params, arena, str_part(s, 0, sign), value, !num_f64(value, &number), d);
}

const struct gpu_param *gpu_params_get(const struct gpu_params *params, const char *name)
{
    return params_find(params, str_of(name));
}

static const char *params_number_of(struct arena *arena, const void *params, struct str name,
                                    double *out)
{
    const struct gpu_param *p = params_find(params, name);

    if (p == NULL)
        return arena_printf(arena, "no parameter \"%.*s\"", STR_ARGS(name));
    *out = p->number;
    if (isnan(p->number))
        return arena_printf(arena, "parameter \"%.*s\" is not a number", STR_ARGS(name));
    return NULL;
}

/* Of a parameter that holds a type, or of the type itself. */
static const char *bytes_of(struct arena *arena, const void *params, struct str name, double *out)
{
    const struct gpu_param *p = params_find(params, name);
    struct str dtype = p != NULL ? p->text : name;

    *out = dtype_bytes(dtype_of(dtype));
    return *out > 0 ? NULL : arena_printf(arena, "bytesof: no type \"%.*s\"", STR_ARGS(dtype));
}

const char *gpu_params_eval(const struct gpu_params *params, struct arena *arena,
                            struct str formula, double *out)
{
    static const struct expr_function functions[] = {
        {S_INIT("max"), EXPR_MAX, 2, NULL},   {S_INIT("min"), EXPR_MIN, 2, NULL},
        {S_INIT("ceil"), EXPR_CEIL, 1, NULL}, {S_INIT("floor"), EXPR_FLOOR, 1, NULL},
        {S_INIT("log2"), EXPR_LOG2, 1, NULL}, {S_INIT("bytesof"), EXPR_NUMBER, 1, bytes_of},
    };
    const struct expr_language language = {true, functions, ARRAY_LEN(functions), params_number_of,
                                           params};
    struct expr_value value;
    struct expr e;

    const char *error = expr_compile(arena, &language, formula, (struct expr_names){0}, &e);
    if (error == NULL)
        error = expr_run(&e, NULL, &value);
    if (error != NULL)
        return error;
    if (!isfinite(value.r))
        return "the result is not finite (a division by zero, or too large)";
    if (value.r < 0)
        return "the result is negative";
    *out = value.r;
    return NULL;
}

static uint64_t fnv1a(struct str s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.at[i]) * UINT64_C(0x100000001b3);
    return h;
}

static struct str params_join(struct arena *arena, struct str a, struct str b)
{
    return a.n == 0 ? b : arena_format(arena, "%.*s_%.*s", STR_ARGS(a), STR_ARGS(b));
}

struct str gpu_params_slug(struct arena *arena, const struct gpu_params *params,
                           const struct gpu_params *defaults)
{
    struct str slug = {"", 0};

    for (size_t i = 0; i < ARRAY_LEN(leading); i++) {
        const struct gpu_param *p = params_find(params, leading[i]);
        if (p != NULL)
            slug = params_join(arena, slug,
                               arena_format(arena, "%s%.*s", leading[i].at, STR_ARGS(p->text)));
    }
    for (size_t i = 0; i < params->list.n; i++) {
        const struct gpu_param *p = &params->list.at[i];
        const struct gpu_param *usual = defaults != NULL ? params_find(defaults, p->name) : NULL;
        if (str_is_one_of(p->name, leading, ARRAY_LEN(leading)) || str_equal(p->name, S("dtype")) ||
            (usual != NULL && str_equal(usual->text, p->text)))
            continue;
        slug = params_join(arena, slug,
                           arena_format(arena, "%.*s%.*s", STR_ARGS(p->name), STR_ARGS(p->text)));
    }
    const struct gpu_param *dtype = gpu_params_get(params, "dtype");
    if (dtype != NULL)
        slug = params_join(arena, slug, dtype->text);
    if (slug.n == 0)
        return S("default");
    slug = fs_safe_name(arena, slug, '-');
    if (slug.n <= SLUG_MAX)
        return slug;
    return arena_format(arena, "%.*s-%08llx", SLUG_CUT, slug.at,
                        (unsigned long long)(fnv1a(slug) >> 32));
}

void gpu_params_free(struct gpu_params *params)
{
    vec_free(&params->list);
}
