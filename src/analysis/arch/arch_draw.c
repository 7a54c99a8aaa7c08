/*
 * Trees, pipelines, boxes and timelines as lines of text.
 */
#include "analysis/arch/arch_draw.h"

#include <math.h>
#include <stdio.h>

#include "analysis/study.h"
#include "text/arch.h"

enum { LINES_MOST = 256, ITEMS_A_LINE = 6, COLUMNS = 100 };

struct str arch_ms(struct arena *arena, double ns)
{
    double ms = ns / 1e6, size = fabs(ms);
    int decimals = 0;

    if (size > 0 && size < 100)
        decimals = 2 - (int)floor(log10(size));
    return arena_format(arena, "%.*f", decimals < 6 ? decimals : 6, ms);
}

struct str arch_stream_name(struct study *st, uint32_t lane)
{
    struct str name = capture_text(st->cap, st->cap->lanes.at[lane].key.name);

    return name.n > 0 ? name : S("N/A");
}

struct str arch_type_title(struct arena *arena, const struct arch_type *type, enum lang lang)
{
    struct str kind = message_word(lang, str_of(layer_kind_name(type->kind)));
    struct str phase = message_word(lang, str_of(arch_phase_name(type->phase)));
    struct str backward = message_word(lang, S("backward"));
    bool has_phase = type->phase != PHASE_UNKNOWN;

    return arena_format(arena, "%.*s%s%s%.*s%s%.*s", STR_ARGS(kind), type->is_mla ? ", MLA" : "",
                        has_phase ? ", " : "", has_phase ? (int)phase.n : 0, phase.at,
                        type->is_backward ? ", " : "", type->is_backward ? (int)backward.n : 0,
                        backward.at);
}

struct canvas {
    struct study *st;
    const struct arch *a;
    struct arena *arena;
    enum lang lang;
    struct drawing d;
};

static struct canvas canvas_of(struct study *st, const struct arch *a, enum lang lang)
{
    struct canvas c = {st, a, &st->scratch, lang, {0}};

    c.d.lines = ARENA_ARRAY(&st->scratch, struct str, LINES_MOST);
    return c;
}

static void line(struct canvas *c, struct str text)
{
    if (c->d.n < LINES_MOST)
        c->d.lines[c->d.n++] = text;
}

/* ---- trees ---- */

static struct str item_text(struct canvas *c, const struct tree_item *item, nanos wall)
{
    struct str out = c->a->ops->at[item->op].label;

    if (item->count > 1)
        out = arena_format(c->arena, "%.*s×%zu", STR_ARGS(out), item->count);
    if (item->duration < wall / 100 && item->duration < 100000)
        return out;
    struct str stream = S("");
    if (item->lane != c->a->markers->main_lane)
        stream = MESSAGE(c->lang, c->arena, &arch_text.on_stream,
                         PLACE("stream", arch_stream_name(c->st, item->lane)));
    return MESSAGE(c->lang, c->arena,
                   item->is_overlapped ? &arch_text.item_overlapped : &arch_text.item,
                   PLACE("op", out), PLACE("ms", arch_ms(c->arena, (double)item->duration)),
                   PLACE("stream", stream));
}

/* Items of a branch joined by arrows, several lines of them when there are many. */
static void draw_branch(struct canvas *c, const struct tree_branch *branch, struct str title,
                        nanos wall, bool is_last)
{
    bool is_long = branch->n > ITEMS_A_LINE;
    struct str text = arena_format(c->arena, "%s %.*s:", is_last ? "└─" : "├─", STR_ARGS(title));

    for (size_t i = 0; i < branch->n; i++) {
        if (is_long && i % ITEMS_A_LINE == 0) {
            line(c, text);
            text = str_of(is_last ? "   " : "│  ");
        }
        text = arena_format(c->arena, "%.*s%s%.*s", STR_ARGS(text),
                            i % ITEMS_A_LINE == 0 ? " " : " → ",
                            STR_ARGS(item_text(c, &branch->items[i], wall)));
    }
    line(c, text);
}

/* Attention is the head of the tree then, and no branch. */
static bool begins_with_attention(const struct arch_type *type)
{
    return type->n_branches > 0 && type->tree[0].role == ROLE_ATTENTION;
}

static void draw_head(struct canvas *c, const struct arch_type *type, nanos wall)
{
    if (!begins_with_attention(type)) {
        line(c, MESSAGE(c->lang, c->arena, &arch_text.tree_layer,
                        PLACE("ms", arch_ms(c->arena, (double)wall))));
        return;
    }
    const struct tree_item *head = &type->tree[0].items[0];
    line(c, MESSAGE(c->lang, c->arena, &arch_text.tree_head,
                    PLACE("op", c->a->ops->at[head->op].label),
                    PLACE("ms", arch_ms(c->arena, (double)head->duration)),
                    PLACE("stream", arch_stream_name(c->st, head->lane))));
}

struct drawing arch_draw_tree(struct study *st, const struct arch *a, const struct arch_type *type,
                              enum lang lang)
{
    struct canvas c = canvas_of(st, a, lang);
    const struct arch_layer *layer = &a->layers->at[type->representative];
    const struct arch_role *small = NULL;
    nanos wall = arch_span(layer->at);

    for (size_t i = 0; i < type->n_roles; i++)
        if (type->roles[i].role == ROLE_SMALL)
            small = &type->roles[i];
    draw_head(&c, type, wall);
    for (size_t i = begins_with_attention(type) ? 1 : 0;
         i < type->n_branches && c.d.n + 4 < LINES_MOST; i++)
        draw_branch(&c, &type->tree[i],
                    message_word(lang, str_of(role_name(type->tree[i].role, type->kind))), wall,
                    i + 1 == type->n_branches && small == NULL);
    if (small != NULL)
        line(&c,
             MESSAGE(lang, c.arena, &arch_text.tree_small,
                     PLACE("role", message_word(lang, str_of(role_name(ROLE_SMALL, type->kind)))),
                     PLACE("kernels", small->kernels), PLACE("ops", small->n_ops),
                     PLACE("ms", arch_ms(c.arena, (double)small->wall))));
    return c.d;
}

/* A text and the blanks that fill its columns. */
static struct str padded(struct arena *arena, struct str text, size_t width)
{
    size_t has = str_width(text);

    return arena_format(arena, "%.*s%*s", STR_ARGS(text), has < width ? (int)(width - has) : 0, "");
}

/* ---- rulers ---- */

/* "t (ms)     0        10        20": marks every 20 columns. */
static struct str ruler(struct arena *arena, nanos span, size_t indent, size_t width)
{
    char text[2 * COLUMNS + 64];
    size_t n = 0, at = 0;

    n += (size_t)snprintf(text, sizeof(text), "%-*s", (int)indent, "t (ms)");
    while (at < width && n + 32 < sizeof(text)) {
        double ns = (double)span * (double)at / (double)width;
        size_t before = n;
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s", STR_ARGS(arch_ms(arena, ns)));
        while (n - before < 20 && n + 1 < sizeof(text))
            text[n++] = ' ';
        at += 20;
    }
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return arena_str(arena, (struct str){text, n});
}

/* Puts "[label]" over the columns of [begin, end); no bracket when there is no room. */
static void bracket(char *row, size_t width, nanos begin, nanos end, nanos from, nanos span,
                    struct str label)
{
    double scale = (double)width / (double)span;
    double a = (double)nanos_sub(begin, from) * scale, b = (double)nanos_sub(end, from) * scale;

    if (b <= 0 || a >= (double)width || end <= begin)
        return;
    size_t first = a > 0 ? (size_t)a : 0, last = b < (double)width ? (size_t)b : width - 1;
    if (last <= first + 1) {
        if (row[first] == ' ')
            row[first] = '|';
        return;
    }
    row[first] = '[';
    row[last] = ']';
    for (size_t i = first + 1; i < last; i++)
        row[i] = i - first - 1 < label.n ? label.at[i - first - 1] : '-';
}

/* ---- the pipeline ---- */

enum { PIPE_INDENT = 24, PIPE_LANES = 8 };

static void pipe_stream(struct canvas *c, const struct arch_stream *stream, size_t first,
                        size_t end, struct interval window)
{
    struct kernel_order kernels = study_kernels(c->st);
    const struct slices *s = &c->st->cap->slices;
    char row[COLUMNS];
    size_t width = COLUMNS - PIPE_INDENT;
    bool is_any = false;

    memset(row, ' ', sizeof(row));
    for (size_t i = first; i < end; i++) {
        size_t slice = kernels.at[i];
        if (s->lane[slice] != stream->lane)
            continue;
        const struct arch_op *op = &c->a->ops->at[c->a->ops->of_kernel[i]];
        bracket(row, width, s->begin[slice], slices_end(s, slice), window.begin, arch_span(window),
                op->label);
        is_any = true;
    }
    while (width > 0 && row[width - 1] == ' ')
        width--;
    for (size_t i = 0; i < width; i++) /* labels may hold what is not one column wide */
        if ((unsigned char)row[i] >= 0x80)
            row[i] = '.';
    const char *kind = stream->main_overlap < 0 ? "main" : stream->is_comm ? "comm" : "other";
    struct str title = arena_format(
        c->arena, "%.*s %.*s", STR_ARGS(padded(c->arena, message_word(c->lang, str_of(kind)), 5)),
        STR_ARGS(str_part(arch_stream_name(c->st, stream->lane), 0, PIPE_INDENT - 8)));
    if (is_any)
        line(c, arena_format(c->arena, "%.*s%.*s", STR_ARGS(padded(c->arena, title, PIPE_INDENT)),
                             (int)width, row));
}

struct drawing arch_draw_pipeline(struct study *st, const struct arch *a, enum lang lang)
{
    struct canvas c = canvas_of(st, a, lang);

    if (a->types->n == 0)
        return c.d;
    /* two neighbouring layers around the most frequent type's representative */
    const struct arch_type *type = &a->types->at[0];
    for (size_t i = 1; i < a->types->n; i++)
        if (a->types->at[i].count > type->count)
            type = &a->types->at[i];
    const struct arch_layer *layer = &a->layers->at[type->representative];
    const struct arch_layer *next = layer;
    if (type->representative + 1 < a->layers->n && layer[1].pass == layer->pass)
        next = layer + 1;
    struct interval window = {layer->at.begin,
                              next->at.end > layer->at.end ? next->at.end : layer->at.end};
    if (window.end <= window.begin)
        return c.d;
    line(&c, ruler(c.arena, arch_span(window), PIPE_INDENT, COLUMNS - PIPE_INDENT));
    for (size_t i = 0; i < a->comm->n_streams && i < PIPE_LANES; i++)
        pipe_stream(&c, &a->comm->streams[i], layer->first, next->end, window);
    return c.d;
}

/* ---- the model ---- */

enum { BOX_WIDTH = 72 };

static void box_line(struct canvas *c, struct str text)
{
    text = padded(c->arena, str_fit(text, BOX_WIDTH), BOX_WIDTH);
    line(c, arena_format(c->arena, "│ %.*s │", STR_ARGS(text)));
}

static void box_rule(struct canvas *c, const char *left, const char *right)
{
    struct str text = str_of(left);

    for (size_t i = 0; i < BOX_WIDTH + 2; i++)
        text = arena_format(c->arena, "%.*s─", STR_ARGS(text));
    line(c, arena_format(c->arena, "%.*s%s", STR_ARGS(text), right));
}

struct drawing arch_draw_model(struct study *st, const struct arch *a, enum lang lang)
{
    struct canvas c = canvas_of(st, a, lang);

    box_rule(&c, "┌", "┐");
    box_line(&c, message_in(lang, &arch_text.box_input));
    box_rule(&c, "├", "┤");
    for (size_t i = 0; i < a->types->n; i++) {
        const struct arch_type *type = &a->types->at[i];
        struct str sampling =
            type->has_sampling ? message_in(lang, &arch_text.box_sampling) : S("");
        box_line(&c, MESSAGE(lang, c.arena,
                             type->is_backward ? &arch_text.box_backward : &arch_text.box_layers,
                             PLACE("layers", type->layers),
                             PLACE("type", arch_type_title(c.arena, type, lang)),
                             PLACE("n", type->count_per_pass), PLACE("sampling", sampling)));
        box_line(&c, MESSAGE(lang, c.arena, &arch_text.box_cost,
                             PLACE("ms", arch_ms(c.arena, type->wall.median)),
                             PLACE("kernels", type->kernels.median),
                             PLACE("op", a->ops->at[type->dominant].label)));
    }
    if (a->types->n == 0)
        box_line(&c, message_in(lang, &arch_text.box_unknown));
    box_rule(&c, "├", "┤");
    bool samples = false;
    for (size_t i = 0; i < a->types->n; i++)
        samples |= a->types->at[i].has_sampling;
    box_line(&c, message_in(lang, a->layers->is_training ? &arch_text.box_training
                                  : samples              ? &arch_text.box_samples
                                                         : &arch_text.box_output));
    box_rule(&c, "└", "┘");
    return c.d;
}

/* ---- one pass ---- */

struct drawing arch_draw_timeline(struct study *st, const struct arch *a, enum lang lang)
{
    struct canvas c = canvas_of(st, a, lang);
    size_t indent = 12, width = COLUMNS - indent;
    char row[COLUMNS];

    if (a->layers->n_passes == 0)
        return c.d;
    const struct arch_pass *pass = &a->layers->passes[a->types->median_pass];
    nanos span = arch_span(pass->at);
    if (span <= 0 || pass->layers == 0)
        return c.d;
    line(&c, ruler(c.arena, span, indent, width));
    memset(row, ' ', sizeof(row));
    for (size_t k = 0; k < pass->layers;) {
        const struct arch_layer *layer = &a->layers->at[pass->layer_first + k];
        size_t from = k;
        nanos end = layer->at.end;
        while (k < pass->layers && a->layers->at[pass->layer_first + k].phase == layer->phase &&
               a->layers->at[pass->layer_first + k].kind == layer->kind) {
            if (a->layers->at[pass->layer_first + k].at.end > end)
                end = a->layers->at[pass->layer_first + k].at.end;
            k++;
        }
        if (k < pass->layers)
            end = a->layers->at[pass->layer_first + k].at.begin;
        struct str label =
            arena_format(c.arena, "%zux %s %s", k - from, layer_kind_name(layer->kind),
                         layer->phase != PHASE_UNKNOWN ? arch_phase_name(layer->phase) : "");
        bracket(row, width, layer->at.begin, end, pass->at.begin, span, label);
    }
    while (width > 0 && row[width - 1] == ' ')
        width--;
    struct str name = MESSAGE(lang, c.arena, &arch_text.pass, PLACE("n", pass->number));
    line(&c, arena_format(c.arena, "%.*s%.*s", STR_ARGS(padded(c.arena, name, indent)), (int)width,
                          row));
    return c.d;
}
