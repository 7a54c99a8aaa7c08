/*
 * The cover of the reports of several ranks: the same ten sections, a row for each.
 */
#include "analysis/arch/arch_cover.h"

#include "analysis/arch/arch.h"
#include "analysis/arch/arch_draw.h"
#include "analysis/study.h"
#include "text/arch.h"

static const char *types_of(const struct arch *a, enum lang lang, struct arena *arena)
{
    struct str text = S("");

    for (size_t i = 0; i < a->types->n; i++)
        text = arena_format(arena, "%.*s%s%.*s: %.*s", STR_ARGS(text), i > 0 ? "; " : "",
                            STR_ARGS(arch_type_title(arena, &a->types->at[i], lang)),
                            STR_ARGS(a->types->at[i].layers));
    return text.n > 0 ? text.at : message_word(lang, S("unknown")).at;
}

struct arch_cover_row arch_cover_row_of(struct study *st, const struct arch *a, enum lang lang,
                                        struct arena *arena)
{
    const struct arch_layers *l = a->layers;
    const struct arch_type *type = NULL; /* the one most layers have */

    for (size_t i = 0; i < a->types->n; i++)
        if (type == NULL || a->types->at[i].count > type->count)
            type = &a->types->at[i];
    struct arch_cover_row row = {
        .rank = st->cap->facts.rank,
        .method = arch_method_name(l->method),
        .marker = a->markers->n > 0 ? arena_cstr(arena, a->markers->name)
                                    : message_word(lang, S("none")).at,
        .types = types_of(a, lang, arena),
        .kernels = study_kernels(st).n,
        .streams = a->comm->n_streams,
        .passes = l->complete,
        .partial = l->partial,
        .layers = arch_layers_of_model(l),
        .decode_markers = a->markers->decode,
        .checks = a->n_checks,
        .failed = a->n_failed,
        .confidence = a->confidence,
        .hidden_fraction = a->comm->hidden_fraction,
        .span = arch_span(a->device),
        .exposed = a->comm->exposed,
        .layer_wall = type != NULL ? type->wall.median : 0,
    };
    if (l->n_passes > 0)
        row.pass_wall = (double)arch_span(l->passes[a->types->median_pass].at);
    return row;
}

static struct str context_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    (void)lang;
    return arena_format(arena, "%zu | %zu | %.*s | [%s](%s)", r->kernels, r->streams,
                        STR_ARGS(arch_ms(arena, (double)r->span)), r->file, r->file);
}

static struct str method_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    (void)lang;
    return arena_format(arena, "`%s` | `%s` | %.2f", r->method, r->marker, r->confidence);
}

static struct str pass_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    (void)lang;
    return arena_format(arena, "%zu | %zu | %.*s", r->passes, r->partial,
                        STR_ARGS(arch_ms(arena, r->pass_wall)));
}

static struct str type_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    (void)lang;
    return arena_format(arena, "%zu | %s", r->layers, r->types);
}

static struct str check_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    return arena_format(arena, "%zu | %zu | %s", r->checks, r->failed,
                        message_word(lang, str_of(r->failed > 0   ? "**mismatch**"
                                                  : r->checks > 0 ? "ok"
                                                                  : "nothing to check"))
                            .at);
}

static struct str layer_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    (void)lang;
    return arena_format(arena, "%.*s | [%s](%s)", STR_ARGS(arch_ms(arena, r->layer_wall)), r->file,
                        r->file);
}

static struct str decode_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    (void)lang;
    return arena_format(arena, "%zu", r->decode_markers);
}

static struct str comm_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    (void)lang;
    return arena_format(arena, "%.1f %% | %.*s", 100 * r->hidden_fraction,
                        STR_ARGS(arch_ms(arena, (double)r->exposed)));
}

static struct str summary_row(struct arena *arena, enum lang lang, const struct arch_cover_row *r)
{
    return MESSAGE(lang, arena, &arch_text.cover_model, PLACE("passes", r->passes),
                   PLACE("layers", r->layers));
}

static const struct {
    const struct message *title, *head;
    const char *rule;
    struct str (*row)(struct arena *arena, enum lang lang, const struct arch_cover_row *r);
} sections[] = {
    {&arch_text.section_1, &arch_text.cover_head_1, "---:|---:|---:|---", context_row},
    {&arch_text.section_2, &arch_text.cover_head_2, "---|---|---:", method_row},
    {&arch_text.section_3, &arch_text.cover_head_3, "---:|---:|---:", pass_row},
    {&arch_text.section_4, &arch_text.cover_head_4, "---:|---", type_row},
    {&arch_text.section_5, &arch_text.cover_head_5, "---:|---:|---", check_row},
    {&arch_text.section_6, &arch_text.cover_head_6, "---:|---", layer_row},
    {&arch_text.section_7, &arch_text.cover_head_7, "---:", decode_row},
    {&arch_text.section_8, &arch_text.cover_head_8, "---:|---:", comm_row},
    {&arch_text.section_9, &arch_text.cover_head_9, "---:|---", layer_row},
    {&arch_text.section_10, &arch_text.cover_head_10, "---", summary_row},
};

void arch_cover_write(struct arena *arena, enum lang lang, const char *name,
                      const struct arch_cover_row *rows, size_t n, struct text *out)
{
    message_put(out, lang, &arch_text.title, PLACES(PLACE("name", name)));
    message_put(out, lang, &arch_text.cover_intro, PLACES(PLACE("n", n)));
    for (size_t s = 0; s < ARRAY_LEN(sections); s++) {
        text_format(out, "\n%.*s%.*s|---:|%s|\n", STR_ARGS(message_in(lang, sections[s].title)),
                    STR_ARGS(message_in(lang, sections[s].head)), sections[s].rule);
        for (size_t i = 0; i < n; i++)
            text_format(out, "| %lld | %.*s |\n", (long long)rows[i].rank,
                        STR_ARGS(sections[s].row(arena, lang, &rows[i])));
    }
}
