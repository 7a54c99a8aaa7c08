#include "gpu/params.h"

#include <math.h>

#include "base/chars.h"
#include "base/num.h"

enum { SLUG_MAX = 96, SLUG_CUT = 80, NAME_MAX_BYTES = 64 };

static const char *const reserved[] = {"kernel", "version", "mode",  "runs",
                                       "warmup", "device",  "peaks", "work"};
static const char *const leading[] = {"b", "s", "t"};

static bool is_identifier(struct str name)
{
    return str_is_name(name) && name.n <= NAME_MAX_BYTES;
}

enum status gpu_params_set(struct gpu_params *params, struct arena *arena, struct str name,
                           struct str text, bool is_string, struct diag *d)
{
    struct gpu_param p = {.text = arena_str(arena, text), .is_string = is_string, .number = NAN};

    if (!is_identifier(name))
        return diag_fail(d, ST_FORMAT, "gpu.bad-param", (struct where){0},
                         "\"%.*s\" is no name of a parameter: letters, digits and _",
                         STR_ARGS(name));
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (str_equal(name, str_of(reserved[i])))
            return diag_fail(d, ST_FORMAT, "gpu.reserved-param", (struct where){0},
                             "the parameter \"%s\" has a name that params.json keeps for itself",
                             reserved[i]);
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
                         "\"%s\" is no name=value", text);
    return gpu_params_set(params, arena, str_part(s, 0, sign), value, !num_f64(value, &number), d);
}

const struct gpu_param *gpu_params_get(const struct gpu_params *params, const char *name)
{
    for (size_t i = 0; i < params->list.n; i++)
        if (str_equal(params->list.at[i].name, str_of(name)))
            return &params->list.at[i];
    return NULL;
}

struct gpu_param_list gpu_params_list(const struct gpu_params *params)
{
    return (struct gpu_param_list){params->list.at, params->list.n};
}

struct str gpu_file_name(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (size_t i = 0; i < text.n; i++) {
        char c = copy[i];
        if (!char_is_word(c) && c != '.' && c != '-')
            copy[i] = '-';
    }
    if (text.n == 0 || copy[0] == '.')
        return arena_format(arena, "_%s", copy);
    return (struct str){copy, text.n};
}

static bool is_leading(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(leading); i++)
        if (str_equal(name, str_of(leading[i])))
            return true;
    return false;
}

static uint64_t fnv1a(struct str s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.at[i]) * UINT64_C(0x100000001b3);
    return h;
}

static struct str join(struct arena *arena, struct str a, struct str b)
{
    return a.n == 0 ? b : arena_format(arena, "%.*s_%.*s", STR_ARGS(a), STR_ARGS(b));
}

struct str gpu_params_slug(struct arena *arena, const struct gpu_params *params,
                           const struct gpu_params *defaults)
{
    struct str slug = {"", 0};

    for (size_t i = 0; i < ARRAY_LEN(leading); i++) {
        const struct gpu_param *p = gpu_params_get(params, leading[i]);
        if (p != NULL)
            slug = join(arena, slug, arena_format(arena, "%s%.*s", leading[i], STR_ARGS(p->text)));
    }
    for (size_t i = 0; i < params->list.n; i++) {
        const struct gpu_param *p = &params->list.at[i];
        const struct gpu_param *usual =
            defaults != NULL ? gpu_params_get(defaults, arena_cstr(arena, p->name)) : NULL;
        if (is_leading(p->name) || str_equal(p->name, S("dtype")) ||
            (usual != NULL && str_equal(usual->text, p->text)))
            continue;
        slug = join(arena, slug,
                    arena_format(arena, "%.*s%.*s", STR_ARGS(p->name), STR_ARGS(p->text)));
    }
    const struct gpu_param *dtype = gpu_params_get(params, "dtype");
    if (dtype != NULL)
        slug = join(arena, slug, dtype->text);
    if (slug.n == 0)
        return S("default");
    slug = gpu_file_name(arena, slug);
    if (slug.n <= SLUG_MAX)
        return slug;
    return arena_format(arena, "%.*s-%08llx", SLUG_CUT, slug.at,
                        (unsigned long long)(fnv1a(slug) >> 32));
}

void gpu_params_free(struct gpu_params *params)
{
    vec_free(&params->list);
}
