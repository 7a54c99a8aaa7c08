/*
 * What a kernel in C++ did, as text of the dialect: straight-line code in which every tile, view
 * and number is defined where it is first used.
 */
#include "kernels/pto/sim/host_in.h"

#include <math.h>
#include <stdarg.h>

#include "kernels/pto/text/print.h"

void pto_host_line(struct pto_host_core *c, struct strata_pto_place place, const char *format, ...)
{
    struct pto_host_script *s = &c->script;
    va_list args;

    va_start(args, format);
    text_put(&s->body, S("    "));
    text_vformat(&s->body, format, args);
    text_char(&s->body, '\n');
    va_end(args);
    vec_push(&s->places, place);
}

/* "%t.3" for the text that defines it behind the "="; a line is added when it is new. Names of
 * arguments have no dot. */
static struct str text_name_of(struct pto_host_core *c, char letter, struct str definition)
{
    struct pto_host_script *s = &c->script;
    size_t before = s->names.strings.n;
    strid id = intern_put(&s->names, definition);
    struct str name = arena_format(&c->host->arena, "%%%c.%u", letter, (unsigned)id);

    if (s->names.strings.n > before)
        pto_host_line(c, (struct strata_pto_place){"", 0}, "%.*s = %.*s", STR_ARGS(name),
                      STR_ARGS(definition));
    return name;
}

struct str pto_host_value_name(struct pto_host_core *c, enum pto_dtype dtype, uint64_t bits)
{
    struct arena *arena = &c->host->arena;
    struct str value;

    if (!pto_dtype_is_float(dtype)) {
        value = arena_format(arena, "%lld", (long long)pto_elem_i64(bits, dtype));
    } else {
        double x = pto_elem_f64(bits, dtype);
        if (isfinite(x))
            value = arena_format(arena, "%.17e", x);
        else
            value = arena_format(arena, "0x%llX", (unsigned long long)bits);
    }
    return text_name_of(
        c, 'c',
        arena_format(arena, "arith.constant %.*s : %s", STR_ARGS(value), pto_dtype_name(dtype)));
}

static struct str index_name(struct pto_host_core *c, int64_t value)
{
    return pto_host_value_name(c, PTO_INDEX, (uint64_t)value);
}

struct str pto_host_tile_type(struct pto_host_core *c, const struct pto_tile *t)
{
    struct text text = {0};
    struct pto_tile_type type = t->type;

    /* A part of a tile is valid by the way the kernel went, not by its type. */
    type.v_row = t->v_row == type.rows ? type.rows : PTO_DYNAMIC;
    type.v_col = t->v_col == type.cols ? type.cols : PTO_DYNAMIC;
    pto_tile_type_text(&text, &type);
    struct str copy = arena_str(&c->host->arena, text_view(&text));
    text_free(&text);
    return copy;
}

struct str pto_host_tile_name(struct pto_host_core *c, const struct pto_tile *t)
{
    struct str addr = pto_host_value_name(c, PTO_I64, (uint64_t)t->addr);
    struct str type = pto_host_tile_type(c, t);
    struct arena *arena = &c->host->arena;
    struct str rows = S(""), cols = S("");

    if (t->v_row != t->type.rows)
        rows = arena_format(arena, " valid_row = %s", arena_cstr(arena, index_name(c, t->v_row)));
    if (t->v_col != t->type.cols)
        cols = arena_format(arena, " valid_col = %s", arena_cstr(arena, index_name(c, t->v_col)));
    return text_name_of(c, 't',
                        arena_format(arena, "pto.alloc_tile addr = %.*s%.*s%.*s : %.*s",
                                     STR_ARGS(addr), STR_ARGS(rows), STR_ARGS(cols),
                                     STR_ARGS(type)));
}

struct str pto_host_valid(struct pto_host_core *c, const struct pto_tile *t)
{
    struct arena *arena = &c->host->arena;

    if (t->v_row == t->type.rows && t->v_col == t->type.cols)
        return S("");
    return arena_format(arena, "(%s, %s : index, index)",
                        arena_cstr(arena, index_name(c, t->v_row)),
                        arena_cstr(arena, index_name(c, t->v_col)));
}

/* The argument, moved to where the view starts. */
struct str pto_host_pointer_name(struct pto_host_core *c, enum pto_dtype dtype, int64_t offset,
                                 size_t buffer)
{
    const struct pto_host_buffer *b = &c->host->setup.buffers[buffer];
    struct arena *arena = &c->host->arena;
    const char *type = pto_dtype_name(dtype);
    struct str name = arena_format(arena, "%%%.*s", STR_ARGS(b->name));

    if (b->dtype != dtype)
        name = text_name_of(c, 'p',
                            arena_format(arena, "pto.castptr %.*s : !pto.ptr<%s> -> !pto.ptr<%s>",
                                         STR_ARGS(name), pto_dtype_name(b->dtype), type));
    if (offset == 0)
        return name;
    struct str steps = index_name(c, offset);
    return text_name_of(c, 'p',
                        arena_format(arena, "pto.addptr %.*s, %.*s : !pto.ptr<%s> -> !pto.ptr<%s>",
                                     STR_ARGS(name), STR_ARGS(steps), type, type));
}

static void put_numbers(struct pto_host_core *c, struct text *t, const int64_t *at, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        struct str name = index_name(c, at[i]);
        text_format(t, "%s%.*s", i > 0 ? ", " : "", STR_ARGS(name));
    }
}

/* Operations of the dialect take partitions only, and only a tensor view can be partitioned. So a
 * view of the program becomes two lines: a tensor view that begins at the view's own offset, with
 * open extents in its type ("?x?x"), and the partition of all of it, whose type has the extents. */
struct str pto_host_view_name(struct pto_host_core *c, const struct pto_view *v, size_t buffer,
                              struct str *type)
{
    static const char *const layouts[] = {"nd", "dn", "nz", "mx_a_zz", "mx_b_nn"};
    struct arena *arena = &c->host->arena;
    struct text shape = {0}, strides = {0}, zeros = {0}, dims = {0}, open = {0};
    const int64_t none[PTO_VIEW_RANK] = {0};
    int32_t first = 0;

    /* Leading dimensions of one element are left out, as text has it. */
    while (first < PTO_VIEW_RANK - 2 && v->shape[first] == 1 && v->layout <= PTO_LAYOUT_DN)
        first++;
    int32_t n = PTO_VIEW_RANK - first;
    put_numbers(c, &shape, v->shape + first, n);
    put_numbers(c, &strides, v->stride + first, n);
    put_numbers(c, &zeros, none, n);
    for (int32_t i = 0; i < n; i++) {
        text_format(&dims, "%lldx", (long long)v->shape[first + i]);
        text_put(&open, S("?x"));
    }
    struct str pointer = pto_host_pointer_name(c, v->dtype, v->offset, buffer);
    const char *dtype = pto_dtype_name(v->dtype);
    struct str whole = text_name_of(
        c, 'w',
        arena_format(arena,
                     "pto.make_tensor_view %.*s, shape = [%.*s], strides = [%.*s] {layout = "
                     "#pto.layout<%s>} : !pto.tensor_view<%.*s%s>",
                     STR_ARGS(pointer), STR_ARGS(text_view(&shape)), STR_ARGS(text_view(&strides)),
                     layouts[v->layout], STR_ARGS(text_view(&open)), dtype));
    *type = arena_format(arena, "!pto.partition_tensor_view<%.*s%s>", STR_ARGS(text_view(&dims)),
                         dtype);
    struct str name = text_name_of(
        c, 'q',
        arena_format(arena,
                     "pto.partition_view %.*s, offsets = [%.*s], sizes = [%.*s] : "
                     "!pto.tensor_view<%.*s%s> -> %.*s",
                     STR_ARGS(whole), STR_ARGS(text_view(&zeros)), STR_ARGS(text_view(&shape)),
                     STR_ARGS(text_view(&open)), dtype, STR_ARGS(*type)));
    text_free(&shape);
    text_free(&strides);
    text_free(&zeros);
    text_free(&dims);
    text_free(&open);
    return name;
}

/* ---- the module ---- */

struct script_writer {
    struct text *out;
    struct pto_host_lines *lines;
    struct str file;
};

static void text_put_line(struct script_writer *w, struct str line, struct strata_pto_place place)
{
    bool is_ours = place.line > 0 && str_equal(str_of(place.file), w->file);

    text_put(w->out, line);
    text_char(w->out, '\n');
    vec_push(&w->lines->at, is_ours ? (uint32_t)place.line : 0);
}

static void put_plain(struct script_writer *w, struct str line)
{
    text_put_line(w, line, (struct strata_pto_place){"", 0});
}

/* In front of everything: two vector cores that go different ways share them. */
static void put_fifos(struct script_writer *w, const struct pto_host_core *c)
{
    for (int id = 0; id < PTO_HOST_FIFOS; id++) {
        struct text text = {0};
        if (pto_host_fifo_text(c, id, &text)) {
            struct str rest = text_view(&text), line;
            while (rest.n > 0 && str_split(&rest, '\n', &line))
                text_put_line(w, line, c->fifo_place[id]);
        }
        text_free(&text);
    }
}

static void put_script(struct script_writer *w, const struct pto_host_script *s)
{
    struct str rest = text_view(&s->body);

    for (size_t i = 0; i < s->places.n; i++) {
        size_t end = str_find_char(rest, '\n');
        text_put_line(w, str_part(rest, 0, end), s->places.at[i]);
        rest = str_part(rest, end + 1, rest.n);
    }
}

static void text_put_head(struct pto_host *h, struct script_writer *w, struct str name,
                          const char *suffix, const char *kind)
{
    struct text t = {0};

    text_format(&t, "  func.func @%.*s%s(", STR_ARGS(name), suffix);
    for (size_t i = 0; i < h->setup.n_buffers; i++)
        text_format(&t, "%s%%%.*s: !pto.ptr<%s>", i > 0 ? ", " : "",
                    STR_ARGS(h->setup.buffers[i].name), pto_dtype_name(h->setup.buffers[i].dtype));
    if (h->has_counts)
        text_format(&t, "%s%%.counts: vector<4xi16>", h->setup.n_buffers > 0 ? ", " : "");
    if (kind != NULL)
        text_format(&t, ") attributes {pto.kernel_kind = #pto.kernel_kind<%s>} {", kind);
    else
        text_put(&t, S(") {"));
    put_plain(w, text_view(&t));
    text_free(&t);
}

/* Two vector cores that did the same are one function; else each has its branch. */
static void put_vector(struct pto_host *h, struct script_writer *w, struct str name,
                       const char *suffix)
{
    const struct pto_host_core *a = h->cores[PTO_AIV0], *b = h->cores[PTO_AIV1];
    bool is_one = !b || str_equal(text_view(&a->script.body), text_view(&b->script.body));

    text_put_head(h, w, name, suffix, "vector");
    put_fifos(w, a);
    if (!is_one) {
        put_plain(w, S("    %.lane = pto.get_subblock_idx -> i64"));
        put_plain(w, S("    %.first_lane = arith.constant 0 : i64"));
        put_plain(w, S("    %.is_first = arith.cmpi eq, %.lane, %.first_lane : i64"));
        put_plain(w, S("    scf.if %.is_first {"));
    }
    put_script(w, &a->script);
    if (!is_one) {
        put_plain(w, S("    } else {"));
        put_script(w, &b->script);
        put_plain(w, S("    }"));
    }
    put_plain(w, S("    return"));
    put_plain(w, S("  }"));
}

void pto_host_text(struct pto_host *h, struct str name, struct str file, struct text *out,
                   struct pto_host_lines *lines)
{
    struct script_writer w = {out, lines, file};
    bool is_mixed = h->cores[PTO_AIC] && h->cores[PTO_AIV0];

    vec_push(&lines->at, 0);
    put_plain(&w, arena_format(&h->arena, "module attributes {pto.target_arch = \"%s\"} {",
                               pto_arch_name(h->setup.arch)));
    if (h->cores[PTO_AIC]) {
        /* Cube and vector work in one function is a function of no kind, as in a text. */
        bool is_whole = !is_mixed && h->setup.names_no_core && h->cores[PTO_AIC]->has_vector;
        text_put_head(h, &w, name, is_mixed ? "_aic" : "", is_whole ? NULL : "cube");
        put_fifos(&w, h->cores[PTO_AIC]);
        put_script(&w, &h->cores[PTO_AIC]->script);
        put_plain(&w, S("    return"));
        put_plain(&w, S("  }"));
    }
    if (h->cores[PTO_AIV0])
        put_vector(h, &w, name, is_mixed ? "_aiv" : "");
    put_plain(&w, S("}"));
}
