/*
 * Changes to the lines of a kernel.
 */
#include "kernels/pto/judge/rewrite_in.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text/char.h"
#include "kernels/pto/text/tile.h"
#include "text/pto.h"

enum { MOST_LOOPS = 8, MOST_TILES = 12, MOST_ALLOCS = 1000, ALIGN = 512 };

/* ---- what the text says ---- */

/* The value of an integer constant; false: it is none. */
bool rewrite_constant(const struct rewriter *w, uint32_t value, int64_t *out)
{
    const struct pto_value *v = pto_value_at(w->m, w->f, value);

    if (v->op == PTO_NONE || w->m->ops.at[v->op].code != PTO_CONSTANT)
        return false;
    *out = pto_op_int(w->m, &w->m->ops.at[v->op], PTO_KEY_VALUE, -1);
    return *out >= 0;
}

static void find_uses(const struct rewriter *w, struct rewrite_place *p)
{
    p->first_use = p->last_use = PTO_NONE;
    for (uint32_t i = p->op + 1; i < w->f->op_end; i++) {
        const struct pto_op *op = &w->m->ops.at[i];
        bool reads = false, writes = false;
        for (uint32_t k = 0; k < op->operand_count; k++) {
            const struct pto_operand *o = &pto_operands(w->m, op)[k];
            if (o->value != p->value)
                continue;
            bool is_out = o->role == PTO_ROLE_OUT || o->role == PTO_ROLE_DST;
            *(is_out ? &writes : &reads) = true;
        }
        if (!reads && !writes)
            continue;
        p->last_use = i;
        if (p->first_use == PTO_NONE) {
            p->first_use = i;
            p->is_written_first = writes && !reads;
        }
    }
}

static void list_places(struct rewriter *w)
{
    for (uint32_t i = w->f->op_first; i < w->f->op_end && w->places.n < MOST_ALLOCS; i++) {
        const struct pto_op *op = &w->m->ops.at[i];
        struct rewrite_place p = {.op = i, .value = op->result_first, .moved = -1};
        bool is_known = false;
        if (op->code != PTO_ALLOC_TILE || op->result_count != 1)
            continue;
        for (uint32_t k = 0; k < op->operand_count; k++)
            if (pto_operands(w->m, op)[k].role == PTO_ROLE_ADDR)
                is_known = rewrite_constant(w, pto_operands(w->m, op)[k].value, &p.lo);
        const struct pto_type *type = pto_value_type(w->m, w->f, p.value);
        int64_t bytes = pto_tile_bytes(&type->tile);
        if (!is_known || bytes <= 0 || op->line > w->n_lines)
            continue;
        p.space = type->tile.space;
        p.hi = p.lo + bytes;
        find_uses(w, &p);
        vec_push(&w->places, p);
    }
}

bool rewrite_overlap(const struct rewrite_place *a, const struct rewrite_place *b)
{
    return a != b && a->space == b->space && a->lo < b->hi && b->lo < a->hi;
}

/* A new address for `lo` .. `hi` behind all tiles that lies in the same banks; -1: no room. */
static int64_t room_for(const struct rewriter *w, enum pto_space space, int64_t lo, int64_t hi)
{
    int64_t most = 0;

    for (size_t i = 0; i < w->places.n; i++) {
        const struct rewrite_place *p = &w->places.at[i];
        int64_t end = p->moved >= 0 ? p->moved + p->hi - p->lo : p->hi;
        if (p->space == space && end > most)
            most = end;
        if (p->space == space && p->hi > most)
            most = p->hi;
    }
    int64_t at = (most + ALIGN - 1) / ALIGN * ALIGN + lo % ALIGN;
    return at + hi - lo <= (int64_t)pto_space_size(w->arch, space) ? at : -1;
}

struct str rewrite_name_of(const struct rewriter *w, uint32_t value)
{
    return pto_value_text(w->m, w->f, &w->out->arena, value);
}

/* ---- writing lines ---- */

void rewrite_put_lines(const struct rewriter *w, struct rewrite_lines *to, size_t first,
                       size_t last)
{
    for (size_t i = first; i <= last && i <= w->n_lines; i++)
        vec_push(to, w->lines[i]);
}

/* A prefix for names that the text does not use. */
struct str rewrite_prefix(const struct rewriter *w)
{
    for (int n = 2;; n++) {
        struct str prefix = arena_format(&w->out->arena, "%%s%d_", n);
        bool is_used = false;
        for (size_t i = 1; i <= w->n_lines && !is_used; i++)
            is_used = str_contains(w->lines[i], prefix);
        if (!is_used)
            return prefix;
    }
}

static bool is_name_char(char c)
{
    return char_is_digit(c) || char_is_letter(c) || c == '_' || c == '$' || c == '.' || c == '-';
}

/* The line with an address in place of the one that alloc_tile has. */
static struct str with_address(const struct rewriter *w, struct str line, struct str address)
{
    static const char key[] = "addr = ";
    size_t at = str_find(line, S("addr = ")), end;

    if (at >= line.n)
        return line;
    at += sizeof(key) - 1;
    for (end = at + 1; end < line.n && is_name_char(line.at[end]);)
        end++;
    return arena_format(&w->out->arena, "%.*s%.*s%.*s", (int)at, line.at, STR_ARGS(address),
                        (int)(line.n - end), line.at + end);
}

/* The place that a line allocates and that moves; NULL. */
static const struct rewrite_place *moved_at(const struct rewriter *w, size_t line)
{
    for (size_t i = 0; i < w->places.n; i++)
        if (w->places.at[i].moved >= 0 && w->m->ops.at[w->places.at[i].op].line == line)
            return &w->places.at[i];
    return NULL;
}

/* Puts a line with its new address, which a constant before it holds. */
static void put_moved(const struct rewriter *w, struct rewrite_lines *to, struct str prefix,
                      size_t number, struct str line)
{
    const struct rewrite_place *p = moved_at(w, number);
    struct arena *arena = &w->out->arena;

    if (p != NULL) {
        struct str address = arena_format(arena, "%.*saddr%zu", STR_ARGS(prefix), number);
        vec_push(to, arena_format(arena, "%.*s = arith.constant %" PRId64 " : i64",
                                  STR_ARGS(address), p->moved));
        line = with_address(w, line, address);
    }
    vec_push(to, line);
}

void rewrite_propose(struct rewriter *w, struct pto_rewrite change, struct rewrite_lines *lines)
{
    size_t n = 0;

    for (size_t i = 0; i < lines->n; i++)
        n += lines->at[i].n + 1;
    char *to = arena_alloc(&w->out->arena, n + 1);
    change.text = (struct str){to, n};
    for (size_t i = 0; i < lines->n; i++) {
        memcpy(to, lines->at[i].at, lines->at[i].n);
        to += lines->at[i].n;
        *to++ = '\n';
    }
    vec_push(&w->out->list, change);
    vec_free(lines);
}

void rewrite_stay(struct rewriter *w)
{
    for (size_t i = 0; i < w->places.n; i++)
        w->places.at[i].moved = -1;
}

/* ---- a tile apart ---- */

static void put_apart(struct rewriter *w, const struct rewrite_place *p, uint32_t n)
{
    struct rewrite_lines text = {0};
    struct str prefix = rewrite_prefix(w);

    for (size_t i = 1; i <= w->n_lines; i++)
        put_moved(w, &text, prefix, i, w->lines[i]);
    rewrite_propose(w,
                    (struct pto_rewrite){.kind = PTO_REWRITE_APART,
                                         .line = w->m->ops.at[p->op].line,
                                         .use_line = w->m->ops.at[p->first_use].line,
                                         .name = rewrite_name_of(w, p->value),
                                         .tiles = n},
                    &text);
}

/* Nobody hands data over through these bytes: each tile in them is written before it is read. */
static bool is_private(const struct rewriter *w, const struct rewrite_place *p)
{
    bool shares = false;

    for (size_t i = 0; i < w->places.n; i++) {
        const struct rewrite_place *q = &w->places.at[i];
        if (!rewrite_overlap(p, q))
            continue;
        shares = true;
        if (!q->is_written_first)
            return false;
    }
    return shares && p->is_written_first;
}

static void list_apart(struct rewriter *w)
{
    const struct rewrite_place *first = NULL;
    uint32_t moved = 0;
    size_t tried = 0;

    for (size_t i = 0; i < w->places.n; i++) { /* all of them, as far as there is room */
        struct rewrite_place *p = &w->places.at[i];
        if (!is_private(w, p))
            continue;
        p->moved = room_for(w, p->space, p->lo, p->hi);
        moved += p->moved >= 0;
        if (p->moved >= 0 && first == NULL)
            first = p;
    }
    if (moved > 1)
        put_apart(w, first, moved);
    rewrite_stay(w);
    for (size_t i = 0; i < w->places.n && tried < MOST_TILES; i++) {
        struct rewrite_place *p = &w->places.at[i];
        if (!is_private(w, p))
            continue;
        p->moved = room_for(w, p->space, p->lo, p->hi);
        if (p->moved >= 0) {
            put_apart(w, p, 1);
            tried++;
        }
        rewrite_stay(w);
    }
}

/* ---- two rounds with buffers of their own ---- */

/* The line of the brace that closes the block which line `first` opens; 0: not found. */
static size_t closing_line(const struct rewriter *w, size_t first)
{
    int depth = 0;

    for (size_t i = first; i <= w->n_lines; i++) {
        for (size_t k = 0; k < w->lines[i].n; k++) {
            depth += w->lines[i].at[k] == '{';
            depth -= w->lines[i].at[k] == '}';
        }
        if (depth == 0)
            return str_equal(str_trim(w->lines[i]), S("}")) ? i : 0;
    }
    return 0;
}

static bool is_inside(const struct pto_op *loop, uint32_t loop_at, uint32_t op)
{
    return op > loop_at && op < loop->next;
}

/* Whether an operation is in the body of the loop itself, where every round comes by. */
static bool is_each_round(const struct rewriter *w, uint32_t loop_at, uint32_t op)
{
    for (uint32_t i = loop_at + 1; i < op; i++)
        if (w->m->ops.at[i].next > op)
            return false;
    return true;
}

/* Tiles that a loop allocates are its own, and those from before that only its rounds use, each for
 * itself. */
static bool is_of_loop(const struct rewriter *w, uint32_t loop_at, const struct rewrite_place *p)
{
    const struct pto_op *loop = &w->m->ops.at[loop_at];

    if (is_inside(loop, loop_at, p->op))
        return true;
    if (p->first_use == PTO_NONE)
        return false;
    enum pto_opcode first = w->m->ops.at[p->first_use].code;
    bool writes_all =
        first == PTO_TLOAD || first == PTO_TEXTRACT || first == PTO_TMOV || first == PTO_TMATMUL;
    return p->op < loop_at && is_inside(loop, loop_at, p->first_use) &&
           is_inside(loop, loop_at, p->last_use) && p->is_written_first && writes_all &&
           is_each_round(w, loop_at, p->first_use);
}

static bool used_inside(const struct rewriter *w, uint32_t loop_at, uint32_t value)
{
    const struct pto_op *loop = &w->m->ops.at[loop_at];

    for (uint32_t i = loop_at + 1; i < loop->next; i++)
        for (uint32_t k = 0; k < w->m->ops.at[i].operand_count; k++)
            if (pto_operands(w->m, &w->m->ops.at[i])[k].value == value)
                return true;
    return false;
}

/* Bytes of the loop that tiles hand on to each other move together: from `lo` to `hi`. */
static bool may_move(const struct rewriter *w, uint32_t loop_at, enum pto_space space, int64_t lo,
                     int64_t hi)
{
    uint32_t first = PTO_NONE;
    bool is_first_written = false;

    for (size_t i = 0; i < w->places.n; i++) {
        const struct rewrite_place *p = &w->places.at[i];
        if (p->space != space || p->lo >= hi || p->hi <= lo)
            continue;
        if (!p->is_loops) {
            if (!p->is_written_first || used_inside(w, loop_at, p->value))
                return false;
            continue;
        }
        if (p->first_use < first) {
            first = p->first_use;
            is_first_written = p->is_written_first;
        }
    }
    return first != PTO_NONE && is_first_written;
}

/* Grows a range to all tiles of the loop that reach into it. */
static void rewrite_grow(const struct rewriter *w, enum pto_space space, int64_t *lo, int64_t *hi)
{
    for (bool is_larger = true; is_larger;) {
        is_larger = false;
        for (size_t i = 0; i < w->places.n; i++) {
            const struct rewrite_place *p = &w->places.at[i];
            if (!p->is_loops || p->space != space || p->lo >= *hi || p->hi <= *lo ||
                (p->lo >= *lo && p->hi <= *hi))
                continue;
            *lo = p->lo < *lo ? p->lo : *lo;
            *hi = p->hi > *hi ? p->hi : *hi;
            is_larger = true;
        }
    }
}

/* Tiles that overlap move as one block and keep their distances. */
static uint32_t move_loop(struct rewriter *w, uint32_t loop_at, const struct rewrite_place **first)
{
    uint32_t moved = 0;

    for (size_t i = 0; i < w->places.n; i++)
        w->places.at[i].is_loops = is_of_loop(w, loop_at, &w->places.at[i]);
    for (size_t i = 0; i < w->places.n; i++) {
        struct rewrite_place *p = &w->places.at[i];
        if (!p->is_loops || p->moved >= 0)
            continue;
        int64_t lo = p->lo, hi = p->hi;
        rewrite_grow(w, p->space, &lo, &hi);
        int64_t to = may_move(w, loop_at, p->space, lo, hi) ? room_for(w, p->space, lo, hi) : -1;
        for (size_t k = 0; to >= 0 && k < w->places.n; k++) {
            struct rewrite_place *q = &w->places.at[k];
            if (!q->is_loops || q->space != p->space || q->lo < lo || q->hi > hi)
                continue;
            q->moved = to + q->lo - lo;
            *first = *first == NULL ? q : *first;
            moved++;
        }
    }
    return moved;
}

/* By interned name: whether a value of that name is defined in the loop, or moves with it. */
static bool *own_names(const struct rewriter *w, uint32_t loop_at)
{
    const struct pto_op *loop = &w->m->ops.at[loop_at];
    bool *own = ARENA_ARRAY(&w->out->arena, bool, w->m->names.strings.n + 1);

    for (uint32_t v = 0; v < w->f->value_count; v++) {
        const struct pto_value *value = pto_value_at(w->m, w->f, v);
        if (value->op != PTO_NONE && value->op >= loop_at && value->op < loop->next)
            own[value->name] = true;
    }
    for (size_t i = 0; i < w->places.n; i++)
        if (w->places.at[i].moved >= 0)
            own[pto_value_at(w->m, w->f, w->places.at[i].value)->name] = true;
    return own;
}

/* The line with the names of the loop changed: %x becomes %s2_x. */
static struct str renamed(const struct rewriter *w, const bool *own, struct str prefix,
                          struct str line)
{
    char *to = arena_alloc(&w->out->arena, line.n * (prefix.n + 1) + 1);
    size_t n = 0;

    for (size_t i = 0; i < line.n;) {
        size_t end = i + 1;
        if (line.at[i] != '%') {
            to[n++] = line.at[i++];
            continue;
        }
        while (end < line.n && is_name_char(line.at[end]))
            end++;
        strid id = intern_find(&w->m->names, str_part(line, i + 1, end - i - 1));
        bool is_own = id != 0 && own[id];
        if (is_own) {
            memcpy(to + n, prefix.at, prefix.n);
            n += prefix.n;
        }
        i += is_own; /* the prefix has the % */
        memcpy(to + n, line.at + i, end - i);
        n += end - i;
        i = end;
    }
    return (struct str){to, n};
}

struct loop_parts {
    struct str iv, to, step;
    uint32_t line;
    size_t end;
    struct str header; /* with the step of two rounds */
};

/* "scf.for %i = %a to %b step %c {" alone in its line. */
static bool read_loop(const struct rewriter *w, uint32_t loop_at, struct str prefix,
                      struct loop_parts *x)
{
    const struct pto_op *op = &w->m->ops.at[loop_at];
    struct str line = op->line <= w->n_lines ? w->lines[op->line] : S(""), rest;
    struct str word[8];
    size_t n = 0;

    if (op->code != PTO_FOR || op->result_count > 0)
        return false;
    rest = str_trim(line);
    while (n < 8 && rest.n > 0) {
        size_t end = str_find_char(rest, ' ');
        word[n++] = str_part(rest, 0, end);
        rest = str_trim(str_part(rest, end, rest.n));
    }
    if (n != 8 || rest.n == 0 || !str_equal(word[0], S("scf.for")) || !str_equal(word[2], S("=")) ||
        !str_equal(word[4], S("to")) || !str_equal(word[6], S("step")) || !str_equal(rest, S("{")))
        return false;
    *x = (struct loop_parts){.iv = word[1], .to = word[5], .step = word[7], .line = op->line};
    x->end = closing_line(w, op->line);
    x->header =
        arena_format(&w->out->arena, "scf.for %.*s = %.*s to %.*s step %.*sstep {",
                     STR_ARGS(word[1]), STR_ARGS(word[3]), STR_ARGS(word[5]), STR_ARGS(prefix));
    return x->end > op->line + 1;
}

/* for i step 2s { round i; if (i + s < to) { round i + s } }: the second round has names of its
 * own and the tiles that moved. */
static void put_double(struct rewriter *w, uint32_t loop_at, const struct loop_parts *x,
                       struct str prefix, const struct rewrite_place *first, uint32_t tiles)
{
    const bool *own = own_names(w, loop_at);
    struct arena *arena = &w->out->arena;
    struct str next =
        arena_format(arena, "%.*s%.*s", STR_ARGS(prefix), (int)(x->iv.n - 1), x->iv.at + 1);
    struct rewrite_lines t = {0};

    rewrite_put_lines(w, &t, 1, x->line - 1);
    for (size_t i = 1; i < x->line; i++)
        if (moved_at(w, i) != NULL)
            put_moved(w, &t, prefix, i, renamed(w, own, prefix, w->lines[i]));
    vec_push(&t, arena_format(arena, "%.*sstep = arith.addi %.*s, %.*s : index", STR_ARGS(prefix),
                              STR_ARGS(x->step), STR_ARGS(x->step)));
    vec_push(&t, x->header);
    rewrite_put_lines(w, &t, x->line + 1, x->end - 1);
    vec_push(&t, arena_format(arena, "%.*s = arith.addi %.*s, %.*s : index", STR_ARGS(next),
                              STR_ARGS(x->iv), STR_ARGS(x->step)));
    vec_push(&t, arena_format(arena, "%.*smore = arith.cmpi slt, %.*s, %.*s : index",
                              STR_ARGS(prefix), STR_ARGS(next), STR_ARGS(x->to)));
    vec_push(&t, arena_format(arena, "scf.if %.*smore {", STR_ARGS(prefix)));
    for (size_t i = x->line + 1; i < x->end; i++)
        put_moved(w, &t, prefix, i, renamed(w, own, prefix, w->lines[i]));
    vec_push(&t, S("}"));
    rewrite_put_lines(w, &t, x->end, w->n_lines);
    rewrite_propose(w,
                    (struct pto_rewrite){.kind = PTO_REWRITE_DOUBLE,
                                         .line = x->line,
                                         .last_line = (uint32_t)x->end,
                                         .name = rewrite_name_of(w, first->value),
                                         .tiles = tiles},
                    &t);
}

static void list_double(struct rewriter *w)
{
    struct str prefix = rewrite_prefix(w);
    size_t tried = 0;

    for (uint32_t i = w->f->op_first; i < w->f->op_end && tried < MOST_LOOPS; i++) {
        const struct rewrite_place *first = NULL;
        struct loop_parts x;
        if (!read_loop(w, i, prefix, &x))
            continue;
        uint32_t moved = move_loop(w, i, &first);
        if (moved > 0) {
            put_double(w, i, &x, prefix, first, moved);
            tried++;
        }
        rewrite_stay(w);
    }
}

/* Each operation has a line of its own. */
static bool has_plain_lines(const struct rewriter *w)
{
    uint32_t line = 0;

    for (uint32_t i = w->f->op_first; i < w->f->op_end; i++) {
        uint32_t at = w->m->ops.at[i].line;
        bool is_implied = w->m->ops.at[i].code == PTO_YIELD;
        if (at <= line && !is_implied)
            return false;
        line = at > line ? at : line;
    }
    return true;
}

void rewrite_list(const struct pto_module *m, const struct pto_function *f, struct str text,
                  enum pto_arch arch, struct pto_rewrites *out, bool is_double_only)
{
    struct rewriter w = {.m = m, .f = f, .arch = arch, .out = out};
    struct str rest = text, line;
    size_t n = 2;

    for (size_t i = 0; i < text.n; i++)
        n += text.at[i] == '\n';
    w.lines = ARENA_ARRAY(&out->arena, struct str, n + 1);
    while (rest.n > 0 && str_split(&rest, '\n', &line))
        w.lines[++w.n_lines] = line;
    if (has_plain_lines(&w)) {
        list_places(&w);
        list_double(&w);
        if (!is_double_only) {
            list_apart(&w);
            rewrite_swaps(&w);
            rewrite_flags(&w);
            rewrite_tilings(&w);
        }
    }
    vec_free(&w.places);
}

void pto_rewrite_list(const struct pto_module *m, const struct pto_function *f, struct str text,
                      enum pto_arch arch, struct pto_rewrites *out)
{
    rewrite_list(m, f, text, arch, out, false);
}

/* ---- the list, and what is in it ---- */

void pto_rewrites_init(struct pto_rewrites *out)
{
    memset(out, 0, sizeof(*out));
    arena_init(&out->arena);
}

void pto_rewrites_free(struct pto_rewrites *out)
{
    vec_free(&out->list);
    arena_free(&out->arena);
}

struct str pto_rewrite_title(const struct pto_rewrite *w, enum lang lang, struct arena *arena)
{
    static const struct message *const texts[PTO_REWRITE_COUNT] = {
        &pto_text.rewrite_double, &pto_text.rewrite_apart, &pto_text.rewrite_swap,
        &pto_text.rewrite_set,    &pto_text.rewrite_wait,  &pto_text.rewrite_size,
        &pto_text.rewrite_split_k};

    struct str title =
        MESSAGE(lang, arena, texts[w->kind], PLACE("name", w->name), PLACE("line", w->line),
                PLACE("n", w->tiles), PLACE("to", w->use_line), PLACE("size", w->size),
                PLACE("new_size", w->new_size));
    return w->is_doubled ? MESSAGE(lang, arena, &pto_text.rewrite_doubled, PLACE("title", title))
                         : title;
}
