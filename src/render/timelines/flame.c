/*
 * Stacks out of nested slices, and folded stacks as flame graphs are drawn from.
 *
 * Format reference: docs/formats/flame.md
 */
#include "render/timelines/flame.h"

#include "base/run/cancel.h"
#include "base/text/inert.h"
#include "capture/title.h"

enum { BETWEEN_TICKS = 65536 };

/* A slice that has begun. */
struct open_slice {
    nanos end, dur, inner; /* inner: of the slices in it */
    uint32_t node;
};

struct stack {
    struct open_slice at[FLAME_DEPTH];
    size_t n;
};

static uint32_t find_node(struct flame *f, uint32_t parent, uint32_t name)
{
    uint32_t fresh = (uint32_t)f->nodes.n;
    uint32_t node = hash_add(&f->ids, (uint64_t)parent << 32 | name, fresh);

    if (node == fresh)
        vec_push(&f->nodes, ((struct flame_node){.parent = parent, .name = name}));
    return node;
}

/* Titles are numbered behind the texts of the capture. */
static uint32_t title_number(struct flame *f, struct str title)
{
    return (uint32_t)f->cut->cap->strings.strings.n + intern_put(&f->titles, title);
}

struct str flame_name(const struct flame *f, uint32_t name)
{
    size_t texts = f->cut->cap->strings.strings.n;

    return name < texts ? capture_text(f->cut->cap, name)
                        : intern_get(&f->titles, (strid)(name - texts));
}

static void pop(struct flame *f, struct stack *s)
{
    const struct open_slice *top = &s->at[--s->n];

    f->nodes.at[top->node].self += top->dur > top->inner ? top->dur - top->inner : 0;
    if (s->n > 0)
        s->at[s->n - 1].inner = nanos_add(s->at[s->n - 1].inner, top->dur);
}

static void push(struct flame *f, struct stack *s, uint32_t lane_node, const struct slice *slice)
{
    nanos end = nanos_add(slice->begin, slice->dur);

    while (s->n > 0 && (s->at[s->n - 1].end <= slice->begin || s->at[s->n - 1].end < end))
        pop(f, s);
    if (s->n == FLAME_DEPTH) {
        f->nodes.at[s->at[s->n - 1].node].count++;
        return;
    }
    uint32_t node = find_node(f, s->n > 0 ? s->at[s->n - 1].node : lane_node, slice->name);
    f->nodes.at[node].count++;
    s->at[s->n++] = (struct open_slice){.end = end, .dur = slice->dur, .node = node};
}

static bool walk_lane(struct flame *f, struct stack *s, lane_id id,
                      const struct timeline_options *options)
{
    const struct lane *lane = &f->cut->cap->lanes.at[id];
    char title[TITLE_TEXT];
    uint32_t process = find_node(f, 0, title_number(f, title_process(f->cut->cap, id, title)));
    uint32_t node = find_node(f, process, title_number(f, title_lane(f->cut->cap, id, title)));

    for (size_t i = 0; i < lane->n; i++) {
        if (i % BETWEEN_TICKS == 0 && !timeline_goes_on(options, 0))
            return false;
        if (!cut_has(f->cut, lane->first + i))
            continue;
        struct slice slice = cut_slice(f->cut, lane->first + i);
        push(f, s, node, &slice);
    }
    while (s->n > 0)
        pop(f, s);
    return true;
}

bool flame_init(struct flame *f, const struct cut *cut, const struct timeline_options *options)
{
    struct stack *stack = mem_grow(NULL, sizeof(*stack), 1);
    bool goes_on = true;

    *f = (struct flame){.cut = cut};
    intern_init(&f->titles);
    vec_push(&f->nodes, ((struct flame_node){0}));
    stack->n = 0;
    for (lane_id i = 0; goes_on && i < cut->cap->lanes.n; i++)
        if (cut->lanes[i])
            goes_on = walk_lane(f, stack, i, options);
    mem_free(stack);
    return goes_on;
}

void flame_fini(struct flame *f)
{
    vec_free(&f->nodes);
    hash_free(&f->ids);
    intern_fini(&f->titles);
}

size_t flame_stack(const struct flame *f, uint32_t node, uint32_t *names)
{
    size_t n = 0;

    for (uint32_t i = node; i != 0; i = f->nodes.at[i].parent)
        n++;
    for (size_t i = n; i > 0; i--) {
        names[i - 1] = f->nodes.at[node].name;
        node = f->nodes.at[node].parent;
    }
    return n;
}

/* ---- folded ---- */

/* A semicolon ends a frame; line feeds and control characters are escaped. */
static void put_name(struct text_out *out, struct str name)
{
    struct str rest = name, part;

    for (bool is_first = true; str_split(&rest, ';', &part); is_first = false) {
        if (!is_first)
            text_out_put(out, S(":"));
        text_out_put(out, part);
    }
    if (name.n == 0)
        text_out_put(out, S("(no name)"));
}

static void put_stack(struct text_out *out, const struct flame *f, uint32_t node,
                      struct arena *arena)
{
    struct arena_mark mark = arena_mark(arena);
    uint32_t names[FLAME_DEPTH + 3];
    size_t n = flame_stack(f, node, names);

    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            text_out_put(out, S(";"));
        put_name(out, inert_line(arena, flame_name(f, names[i])));
    }
    text_out_put(out, S(" "));
    text_out_i64(out, f->nodes.at[node].self);
    text_out_put(out, S("\n"));
    arena_rewind(arena, mark);
}

static bool write_folded(const struct cut *cut, const struct timeline_options *options,
                         struct sink sink)
{
    struct text_out *out = mem_grow(NULL, sizeof(*out), 1);
    struct arena arena;
    struct flame flame;
    bool goes_on = flame_init(&flame, cut, options);

    arena_init(&arena);
    text_out_open(out, sink);
    for (uint32_t i = 1; i < flame.nodes.n && goes_on; i++) {
        if (flame.nodes.at[i].self > 0)
            put_stack(out, &flame, i, &arena);
        goes_on = !out->has_failed && !cancelled();
    }
    arena_free(&arena);
    flame_fini(&flame);
    goes_on = text_out_close(out) && goes_on;
    mem_free(out);
    return goes_on;
}

const struct timeline_format timeline_folded = {
    .name = "folded",
    .endings = (const char *const[]){".folded", NULL},
    .summary = "folded stacks in ns, for flame graphs",
    .write = write_folded,
};
