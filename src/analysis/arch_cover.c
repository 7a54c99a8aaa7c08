/*
 * The cover of the reports of several ranks: the same ten sections, a row for each.
 */
#include "analysis/arch_cover.h"

#include "analysis/arch.h"
#include "analysis/arch_draw.h"
#include "analysis/study.h"

static const char *types_of(const struct arch *a, struct arena *arena)
{
    struct str text = S("");

    for (size_t i = 0; i < a->types->n; i++)
        text = arena_format(arena, "%.*s%s%.*s: %.*s", STR_ARGS(text), i > 0 ? "; " : "",
                            STR_ARGS(arch_type_title(arena, &a->types->at[i])),
                            STR_ARGS(a->types->at[i].layers));
    return text.n > 0 ? text.at : "not told";
}

/* The type most layers have. */
static const struct arch_type *usual_type(const struct arch *a)
{
    const struct arch_type *best = NULL;

    for (size_t i = 0; i < a->types->n; i++)
        if (best == NULL || a->types->at[i].count > best->count)
            best = &a->types->at[i];
    return best;
}

struct arch_cover_row arch_cover_row_of(struct study *st, const struct arch *a, struct arena *arena)
{
    const struct arch_layers *l = a->layers;
    const struct arch_type *type = usual_type(a);
    struct arch_cover_row row = {
        .rank = st->cap->facts.rank,
        .method = arch_method_name(l->method),
        .marker = a->markers->n > 0 ? arena_cstr(arena, a->markers->name) : "none",
        .types = types_of(a, arena),
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

static struct str context_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%zu | %zu | %.*s | [%s](%s)", r->kernels, r->streams,
                        STR_ARGS(arch_ms(arena, (double)r->span)), r->file, r->file);
}

static struct str method_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "`%s` | `%s` | %.2f", r->method, r->marker, r->confidence);
}

static struct str pass_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%zu | %zu | %.*s", r->passes, r->partial,
                        STR_ARGS(arch_ms(arena, r->pass_wall)));
}

static struct str type_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%zu | %s", r->layers, r->types);
}

static struct str check_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%zu | %zu | %s", r->checks, r->failed,
                        r->failed > 0   ? "**mismatch**"
                        : r->checks > 0 ? "ok"
                                        : "nothing to check");
}

static struct str layer_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%.*s | [%s](%s)", STR_ARGS(arch_ms(arena, r->layer_wall)), r->file,
                        r->file);
}

static struct str decode_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%zu", r->decode_markers);
}

static struct str comm_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%.1f %% | %.*s", 100 * r->hidden_fraction,
                        STR_ARGS(arch_ms(arena, (double)r->exposed)));
}

static struct str summary_row(struct arena *arena, const struct arch_cover_row *r)
{
    return arena_format(arena, "%zu passes of %zu layers", r->passes, r->layers);
}

static const struct {
    const char *title, *head, *rule;
    struct str (*row)(struct arena *arena, const struct arch_cover_row *r);
} sections[] = {
    {"Configuration Context", "Kernels | Streams | Device span (ms) | Report", "---:|---:|---:|---",
     context_row},
    {"Model Architecture Determination", "Method | Marker | Confidence",
     "---|---|---:", method_row},
    {"Forward Pass Boundaries", "Passes | Partial | Median pass wall (ms)",
     "---:|---:|---:", pass_row},
    {"Layer Classification", "Layers per pass | Types", "---:|---", type_row},
    {"Cross-Verification Table", "Checks | Failed | Verdict", "---:|---:|---", check_row},
    {"Per-Layer Sub-Structure", "Median wall of the usual layer (ms) | Trees", "---:|---",
     layer_row},
    {"Decode Phase Analysis", "Decode markers", "---:", decode_row},
    {"Communication Pipeline Structure", "Hidden share | Exposed (ms)", "---:|---:", comm_row},
    {"Layer-to-Layer Variation", "Median wall of the usual layer (ms) | Details", "---:|---",
     layer_row},
    {"Model Architecture Summary", "Model", "---", summary_row},
};

void arch_cover_write(struct arena *arena, const char *name, const struct arch_cover_row *rows,
                      size_t n, struct text *out)
{
    text_format(out, "# Model Architecture Report: %s\n\n", name);
    text_format(out, "%zu ranks side by side; each has a report of its own.\n", n);
    for (size_t s = 0; s < ARRAY_LEN(sections); s++) {
        text_format(out, "\n## %zu. %s\n\n| Rank | %s |\n|---:|%s|\n", s + 1, sections[s].title,
                    sections[s].head, sections[s].rule);
        for (size_t i = 0; i < n; i++)
            text_format(out, "| %lld | %.*s |\n", (long long)rows[i].rank,
                        STR_ARGS(sections[s].row(arena, &rows[i])));
    }
}
