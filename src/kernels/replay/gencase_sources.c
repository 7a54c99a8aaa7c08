/*
 * The sources of a case: templates of data/replay filled with the kernel's parameters.
 */
#include "base/files/embedded.h"
#include "base/text/char.h"
#include "base/text/template.h"
#include "kernels/replay/gencase.h"

enum { PARAM_VALUES = 6 };

/* A parameter as it is declared, its name, in the host's function ("aclFloat16 *v1"), in the call
 * on the device, and in the launch. */
enum spelling { DECLARED, NAME, ON_HOST, ON_DEVICE, LAUNCHED };

static struct str spell(const struct entry_param *p, enum spelling how, struct arena *arena)
{
    if (how == DECLARED)
        return p->text;
    if (how == ON_HOST)
        return arena_format(arena, "%.*s%s%.*s", STR_ARGS(p->is_pointer ? p->host : p->type),
                            p->is_pointer ? " *" : " ", STR_ARGS(p->name));
    if (how == NAME || !p->is_pointer)
        return p->name;
    if (how == ON_DEVICE)
        return arena_format(arena, "(__gm__ %.*s *)%.*s", STR_ARGS(p->type), STR_ARGS(p->name));
    return arena_format(arena, "static_cast<%.*s *>(%.*s_device)", STR_ARGS(p->host),
                        STR_ARGS(p->name));
}

/* All parameters, with commas between; `zeros` more follow. */
static struct str sources_join(const struct entry *e, struct arena *arena, size_t zeros,
                               enum spelling how)
{
    struct str out = S("");

    for (size_t i = 0; i < e->n_params + zeros; i++)
        out = arena_format(arena, "%.*s%s%.*s", STR_ARGS(out), i > 0 ? ", " : "",
                           STR_ARGS(i < e->n_params ? spell(&e->params[i], how, arena) : S("0")));
    return out;
}

/* `list`, with what follows it in a call; empty stays empty. */
static struct str and_more(struct str list, struct arena *arena)
{
    return list.n > 0 ? arena_format(arena, "%.*s, ", STR_ARGS(list)) : list;
}

const char *gencase_launch(struct arena *arena, struct str kernel)
{
    char first = kernel.n > 0 ? char_upper(kernel.at[0]) : '_';

    return arena_printf(arena, "Launch%c%.*s", first, STR_ARGS(str_part(kernel, 1, kernel.n)));
}

/* The source; that of a bare kernel with its body under another name: static, so that the entry can
 * have its own. */
static struct str sources_source_of(const struct gencase_job *job, struct arena *arena)
{
    const struct entry *e = job->entry;
    struct str s = job->source;

    if (e->sort != ENTRY_BARE)
        return s;
    size_t decl = str_find(str_part(s, e->head_at, s.n), S("AICORE"));
    return arena_format(arena, "%.*sstatic %.*s%.*s_impl%.*s", STR_ARGS(str_part(s, 0, e->head_at)),
                        STR_ARGS(str_part(s, e->head_at + decl, e->name_at - e->head_at - decl)),
                        STR_ARGS(e->name), STR_ARGS(str_part(s, e->name_at + e->n, s.n)));
}

static void param_values(const struct gencase_job *job, size_t i, struct arena *arena,
                         struct template_value *out)
{
    const struct entry_param *p = &job->entry->params[i];
    bool is_given = job->given != NULL && job->given[i].scalar.n > 0;
    const struct template_value values[PARAM_VALUES] = {
        {.name = "name", .text = p->name},
        {.name = "type", .text = p->type},
        template_flag("pointer", p->is_pointer),
        {.name = "value", .text = is_given ? job->given[i].scalar : S("1")},
        {.name = "elements",
         .text = arena_format(arena, "%lld", (long long)gm_text_elements(job->sizes, i))},
        {.name = "bytes", .text = arena_format(arena, "%zu", gencase_bytes(job, i))},
    };

    memcpy(out, values, sizeof(values));
}

struct str gencase_text(const struct gencase_job *job, const char *name, struct arena *arena)
{
    const struct entry *e = job->entry;
    struct str names = sources_join(e, arena, 0, NAME);
    struct str head =
        arena_format(arena, "%s__global__ AICORE void %.*s(%.*s)",
                     e->sort != ENTRY_GLOBAL || e->is_c ? "extern \"C\" " : "", STR_ARGS(e->name),
                     STR_ARGS(sources_join(e, arena, 0, DECLARED)));
    struct template_value *params =
        ARENA_ARRAY(arena, struct template_value, e->n_params * PARAM_VALUES);
    struct text out = {0};

    for (size_t i = 0; i < e->n_params; i++)
        param_values(job, i, arena, params + i * PARAM_VALUES);
    const struct template_value values[] = {
        {.name = "params", .items = params, .n = e->n_params, .width = PARAM_VALUES},
        {.name = "kernel", .text = e->name},
        {.name = "launch", .text = str_of(gencase_launch(arena, e->name))},
        {.name = "source", .text = sources_source_of(job, arena)},
        {.name = "head", .text = head},
        template_flag("entry", e->sort != ENTRY_GLOBAL),
        template_flag("bare", e->sort == ENTRY_BARE),
        template_flag("aiv", e->has_aiv),
        {.name = "names", .text = names},
        {.name = "aiv_names", .text = sources_join(e, arena, e->extra_aiv, NAME)},
        {.name = "host_params",
         .text = arena_format(arena, "%.*svoid *stream",
                              STR_ARGS(and_more(sources_join(e, arena, 0, ON_HOST), arena)))},
        {.name = "device_args", .text = sources_join(e, arena, 0, ON_DEVICE)},
        {.name = "launch_args", .text = and_more(sources_join(e, arena, 0, LAUNCHED), arena)},
        {.name = "testcase", .text = str_of(job->testcase)},
        {.name = "soc", .text = str_of(job->soc)},
        {.name = "arch", .text = str_of(job->arch)},
        {.name = "lines", .text = job->has_lines ? S(" -g") : S("")},
        {.name = "strip", .text = job->has_lines ? S("") : S("-s ")},
    };
    template_fill(&out, embedded_file(arena_printf(arena, "replay/case_%s.in", name)), values,
                  ARRAY_LEN(values));
    struct str kept = arena_str(arena, text_view(&out));
    text_free(&out);
    return kept;
}
