/*
 * Stacks found by walking down the calls of modules: where a module spends most of its calls in
 * repeated modules, those are its layers; few large ones that hold stacks themselves are towers or
 * stages, and the walk goes on inside them.
 */
#include "analysis/arch/arch_stacks.h"

#include <stdlib.h>

enum { DEPTH_MOST = 48, TOWERS_MOST = 4, STACKS_MOST = 64, PLAIN_LEAST = 4 };

struct call_list {
    VEC_OF(uint32_t) list;
};

/* A class among the modules that one module calls. */
struct class_use {
    uint32_t class;
    size_t first, last; /* places among the calls */
    size_t calls, distinct, size, attention;
    bool has_inside;
};

/* Classes that make one stack. */
struct use_group {
    size_t first, n; /* of the uses, by place */
    size_t layers, size, distinct, attention;
};

struct finder {
    struct study *st;
    const struct module_tree *t;
    struct arena *arena;
    struct arch_stacks *out;
    uint32_t *class_of;  /* by module */
    struct str *classes; /* by class */
    size_t n_classes;
    uint32_t *attention;                                /* by call: attention modules in it */
    uint32_t *largest;                                  /* by module: its largest call */
    uint32_t *stamp_class, *stamp_module, *place_class; /* for counting uses */
    uint32_t stamp;
    VEC_OF(struct arch_stack) found;
    VEC_OF(uint64_t) members; /* stack << 32 | module */
};

/* Single operators; a compiled block without frames inside is none. */
static bool is_plain(struct str class)
{
    static const struct str words[] = {
        S_INIT("linear"),  S_INIT("conv"),      S_INIT("norm"),    S_INIT("dropout"),
        S_INIT("embed"),   S_INIT("pool"),      S_INIT("gelu"),    S_INIT("relu"),
        S_INIT("elu"),     S_INIT("silu"),      S_INIT("sigmoid"), S_INIT("tanh"),
        S_INIT("softmax"), S_INIT("identity"),  S_INIT("flatten"), S_INIT("rotary"),
        S_INIT("quant"),   S_INIT("loss"),      S_INIT("sample"),  S_INIT("activation"),
        S_INIT("attn"),    S_INIT("attention"), S_INIT("logits"),  S_INIT("droppath"),
        S_INIT("mlp"),     S_INIT("expert"),    S_INIT("swish"),   S_INIT("pad"),
    };

    return STR_ANY(str_contains_nocase, class, words);
}

static bool is_attention(struct str class)
{
    static const struct str words[] = {S_INIT("attention"), S_INIT("attn")};

    return STR_ANY(str_contains_nocase, class, words);
}

static struct str class_name(const struct finder *f, uint32_t call)
{
    return f->t->at[f->t->calls[call].module].class;
}

static bool is_leaf(const struct finder *f, uint32_t call)
{
    return f->t->calls[call].first_child == MODULE_NONE;
}

static bool is_shell(const struct finder *f, uint32_t call)
{
    static const struct str names[] = {
        S_INIT("Sequential"),
        S_INIT("ModuleList"),
        S_INIT("CheckpointWrapper"),
        S_INIT("FullyShardedDataParallel"),
        S_INIT("DistributedDataParallel"),
        S_INIT("DataParallel"),
    };
    uint32_t child = f->t->calls[call].first_child;

    if (child == MODULE_NONE)
        return false;
    /* Containers and shells around one module: layers are what is inside. */
    return str_is_one_of(class_name(f, call), names, ARRAY_LEN(names)) ||
           (f->t->calls[child].next == MODULE_NONE && !is_leaf(f, child));
}

static void list_inside(const struct finder *f, uint32_t call, size_t depth, struct call_list *out)
{
    for (uint32_t i = f->t->calls[call].first_child; i != MODULE_NONE; i = f->t->calls[i].next)
        if (depth < DEPTH_MOST && is_shell(f, i))
            list_inside(f, i, depth + 1, out);
        else
            vec_push(&out->list, i);
}

/* ---- classes among calls, and stacks of them ---- */

static size_t count_uses(struct finder *f, const struct call_list *calls, struct class_use *uses)
{
    size_t n = 0;

    f->stamp++;
    for (size_t i = 0; i < calls->list.n; i++) {
        const struct module_call *call = &f->t->calls[calls->list.at[i]];
        uint32_t class = f->class_of[call->module];
        if (f->stamp_class[class] != f->stamp) {
            f->stamp_class[class] = f->stamp;
            f->place_class[class] = (uint32_t)n;
            uses[n++] = (struct class_use){.class = class, .first = i};
        }
        struct class_use *use = &uses[f->place_class[class]];
        use->last = i;
        use->calls++;
        use->size += call->size;
        use->attention += f->attention[calls->list.at[i]];
        use->has_inside |= call->first_child != MODULE_NONE;
        use->distinct += f->stamp_module[call->module] != f->stamp;
        f->stamp_module[call->module] = f->stamp;
    }
    return n;
}

static bool may_be_layer(const struct finder *f, const struct class_use *use, bool at_top)
{
    static const struct str words[] = {S_INIT("OptimizedModule"), S_INIT("GraphModule"),
                                       S_INIT("InterpreterModule")};
    struct str class = f->classes[use->class];

    /* What a compiler puts in the place of a module; nothing is known of its inside. */
    if (STR_ANY(str_contains_nocase, class, words))
        return use->distinct > 2 && !at_top;
    if (!use->has_inside)
        return use->distinct > 2 && !is_plain(class);
    if (is_attention(class) && use->distinct < 3)
        return false;
    return use->distinct > 1 || (use->calls > 1 && !at_top);
}

static bool are_sides(struct str a, struct str b)
{
    bool a_in = str_contains_nocase(a, S("encoder")), b_in = str_contains_nocase(b, S("encoder"));
    bool a_out = str_contains_nocase(a, S("decoder")), b_out = str_contains_nocase(b, S("decoder"));

    return (a_in && b_out && !b_in) || (a_out && b_in && !b_out);
}

/* Layers of two classes are of one stack when they take turns, or follow one another directly. */
static bool belongs(const struct finder *f, const struct class_use *last, size_t end,
                    const struct class_use *next)
{
    if (next->first < end)
        return true;
    return next->first == end + 1 && !are_sides(f->classes[last->class], f->classes[next->class]);
}

static size_t group_uses(const struct finder *f, struct class_use *uses, size_t n, bool at_top,
                         struct use_group *groups)
{
    size_t kept = 0, count = 0, end = 0;

    for (size_t i = 0; i < n; i++)
        if (may_be_layer(f, &uses[i], at_top))
            uses[kept++] = uses[i]; /* by first place already */
    for (size_t i = 0; i < kept; i++) {
        bool joins = count > 0 && !at_top && belongs(f, &uses[i - 1], end, &uses[i]);
        if (!joins) {
            groups[count++] = (struct use_group){.first = i};
            end = 0;
        }
        struct use_group *g = &groups[count - 1];
        g->n++;
        g->size += uses[i].size;
        g->attention += uses[i].attention;
        g->distinct += uses[i].distinct;
        g->layers += uses[i].distinct > 1 ? uses[i].distinct : uses[i].calls;
        if (uses[i].last > end)
            end = uses[i].last;
    }
    return count;
}

static bool is_of(const struct finder *f, const struct class_use *uses, const struct use_group *g,
                  uint32_t call)
{
    for (size_t i = 0; i < g->n; i++)
        if (uses[g->first + i].class == f->class_of[f->t->calls[call].module])
            return true;
    return false;
}

static void emit(struct finder *f, uint32_t owner, const struct call_list *calls,
                 const struct class_use *uses, const struct use_group *g)
{
    struct arch_stack stack = {
        .module = owner != MODULE_NONE ? f->t->calls[owner].module : MODULE_NONE,
        .layers = g->layers,
        .is_shared = g->distinct == 1,
        .has_attention = g->attention > 0,
    };

    if (f->found.n == STACKS_MOST)
        return;
    if (owner != MODULE_NONE)
        stack.owner = class_name(f, owner);
    for (size_t i = 0; i < g->n; i++) {
        const struct class_use *use = &uses[g->first + i];
        size_t count = use->distinct > 1 ? use->distinct : use->calls;
        if (stack.n_kinds < STACK_KINDS)
            stack.kinds[stack.n_kinds++] = (struct stack_kind){f->classes[use->class], count};
    }
    for (size_t i = 0; i < calls->list.n; i++)
        if (is_of(f, uses, g, calls->list.at[i]))
            vec_push(&f->members,
                     (uint64_t)f->found.n << 32 | f->t->calls[calls->list.at[i]].module);
    vec_push(&f->found, stack);
}

static void walk(struct finder *f, uint32_t owner, const struct call_list *calls, size_t depth);

static void walk_into(struct finder *f, uint32_t call, size_t depth)
{
    struct call_list inside = {0};

    list_inside(f, call, depth, &inside);
    walk(f, call, &inside, depth + 1);
    vec_free(&inside.list);
}

/* What a module holds, when that is stacks: all its attention and most of its modules. */
static bool is_tower(const struct finder *f, uint32_t call, size_t from)
{
    static const struct str words[] = {S_INIT("expert"), S_INIT("mlp"), S_INIT("feedforward"),
                                       S_INIT("ffn")};
    size_t size = 0, attention = 0;

    for (size_t i = from; i < f->found.n; i++)
        if (f->found.at[i].n_kinds == 0 || is_attention(f->found.at[i].kinds[0].class) ||
            STR_ANY(str_contains_nocase, f->found.at[i].kinds[0].class, words))
            return false;
    for (size_t i = 0; i < f->members.n; i++) {
        uint32_t module = (uint32_t)f->members.at[i];
        if (f->members.at[i] >> 32 < from)
            continue;
        size += f->t->calls[f->largest[module]].size;
        attention += f->attention[f->largest[module]];
    }
    return f->found.n > from && size * 2 >= f->t->calls[call].size &&
           attention >= f->attention[call];
}

/* Stages of one network: three or more of a class that hold layers of one class. */
static void join_stages(struct finder *f, uint32_t owner, size_t from)
{
    struct arch_stack *first = &f->found.at[from];
    size_t n = f->found.n - from, layers = 0;

    if (n < 3 || n > STACK_PARTS || owner == MODULE_NONE)
        return;
    for (size_t i = from; i < f->found.n; i++) {
        const struct arch_stack *s = &f->found.at[i];
        if (s->n_kinds != 1 || !str_equal(s->kinds[0].class, first->kinds[0].class))
            return;
        layers += s->layers;
    }
    for (size_t i = 0; i < n; i++)
        first->parts[i] = f->found.at[from + i].layers;
    first->n_parts = n;
    first->layers = first->kinds[0].count = layers;
    first->owner = class_name(f, owner);
    first->module = f->t->calls[owner].module;
    for (size_t i = 0; i < f->members.n; i++)
        if (f->members.at[i] >> 32 > from)
            f->members.at[i] = (uint64_t)from << 32 | (uint32_t)f->members.at[i];
    f->found.n = from + 1;
}

/* Are the few modules of a group towers? Their stacks are found then. */
static bool take_towers(struct finder *f, uint32_t owner, const struct call_list *calls,
                        const struct class_use *uses, const struct use_group *g, size_t depth)
{
    size_t stacks = f->found.n, members = f->members.n;
    bool are_towers = true;
    struct call_list seen = {0};

    if (g->distinct > TOWERS_MOST || depth > DEPTH_MOST)
        return false;
    for (size_t i = 0; i < calls->list.n && are_towers; i++) {
        uint32_t call = calls->list.at[i];
        bool is_new = is_of(f, uses, g, call);
        for (size_t k = 0; k < seen.list.n; k++)
            is_new &= seen.list.at[k] != f->t->calls[call].module;
        if (!is_new)
            continue;
        size_t before = f->found.n;
        vec_push(&seen.list, f->t->calls[call].module);
        walk_into(f, call, depth);
        are_towers = is_tower(f, call, before);
    }
    vec_free(&seen.list);
    if (!are_towers || f->found.n == stacks) {
        f->found.n = stacks;
        f->members.n = members;
        return false;
    }
    join_stages(f, owner, stacks);
    return true;
}

/* Whether a call was of a group that is a stack. */
static bool is_taken(const struct finder *f, const struct class_use *uses,
                     const struct use_group *groups, size_t n, uint32_t call)
{
    for (size_t i = 0; i < n; i++)
        if (groups[i].layers > 0 && is_of(f, uses, &groups[i], call))
            return true;
    return false;
}

static void walk(struct finder *f, uint32_t owner, const struct call_list *calls, size_t depth)
{
    struct class_use *uses = mem_grow(NULL, sizeof(*uses), calls->list.n + 1);
    struct use_group *groups = mem_grow(NULL, sizeof(*groups), calls->list.n + 1);
    size_t n = count_uses(f, calls, uses), whole = 0, most = 0;

    for (size_t i = 0; i < n; i++)
        whole += uses[i].size;
    size_t count = group_uses(f, uses, n, owner == MODULE_NONE, groups);
    for (size_t i = 0; i < count; i++)
        most += groups[i].size;
    for (size_t i = 0; i < count; i++) {
        struct use_group *g = &groups[i];
        if (most * 2 < whole || g->size * 20 < whole || g->layers < 2)
            g->layers = 0; /* heads and side branches */
        else if (!take_towers(f, owner, calls, uses, g, depth))
            emit(f, owner, calls, uses, g);
    }
    struct call_list seen = {0};
    f->stamp++;
    uint32_t stamp = f->stamp;
    for (size_t i = 0; i < calls->list.n && depth < DEPTH_MOST; i++) {
        uint32_t call = calls->list.at[i];
        if (!is_leaf(f, call) && f->stamp_module[f->t->calls[call].module] != stamp &&
            !is_taken(f, uses, groups, count, call))
            vec_push(&seen.list, call);
        f->stamp_module[f->t->calls[call].module] = stamp;
    }
    for (size_t i = 0; i < seen.list.n; i++)
        walk_into(f, seen.list.at[i], depth);
    vec_free(&seen.list);
    mem_free(groups);
    mem_free(uses);
}

/* ---- the whole ---- */

static void measure_calls(struct finder *f)
{
    const struct module_tree *t = f->t;

    f->attention = ARENA_ARRAY(f->arena, uint32_t, t->n_calls);
    f->largest = ARENA_ARRAY(f->arena, uint32_t, t->n);
    for (size_t i = t->n_calls; i-- > 0;) {
        f->attention[i] += is_attention(class_name(f, (uint32_t)i));
        if (t->calls[i].parent != MODULE_NONE)
            f->attention[t->calls[i].parent] += f->attention[i];
    }
    for (size_t i = 0; i < t->n; i++)
        f->largest[i] = MODULE_NONE;
    for (size_t i = 0; i < t->n_calls; i++) {
        uint32_t *largest = &f->largest[t->calls[i].module];
        if (*largest == MODULE_NONE || t->calls[i].size > t->calls[*largest].size)
            *largest = (uint32_t)i;
    }
}

static int by_time(const void *a, const void *b, void *finder)
{
    const struct finder *f = finder;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct slices *s = &f->st->cap->slices;

    return ORDER(s->begin[f->t->calls[x].slice], s->begin[f->t->calls[y].slice]) ?: ORDER(x, y);
}

/* The largest call of every module that no other module calls: layers that run again for the
 * backward pass stand alone on their thread, but not always. */
static void list_roots(struct finder *f, struct call_list *out)
{
    bool *is_inside = ARENA_ARRAY(f->arena, bool, f->t->n);

    for (size_t i = 0; i < f->t->n_calls; i++)
        is_inside[f->t->calls[i].module] |= f->t->calls[i].parent != MODULE_NONE;
    for (size_t i = 0; i < f->t->n; i++)
        if (f->largest[i] != MODULE_NONE && !is_inside[i])
            vec_push(&out->list, f->largest[i]);
    if (out->list.n > 1)
        qsort_r(out->list.at, out->list.n, sizeof(*out->list.at), by_time, f);
}

/* Networks without blocks: the linear and convolution layers that one module calls. */
static void find_plain(struct finder *f)
{
    struct call_list calls = {0};
    struct arch_stack best = {0};
    uint32_t owner = MODULE_NONE;

    for (size_t i = 0; i < f->t->n; i++) {
        struct arch_stack stack = {.is_plain = true};
        if (f->largest[i] == MODULE_NONE || is_leaf(f, f->largest[i]))
            continue;
        calls.list.n = 0;
        list_inside(f, f->largest[i], 0, &calls);
        for (size_t k = 0; k < calls.list.n; k++) {
            struct str class = class_name(f, calls.list.at[k]);
            size_t kind = 0;
            if (!is_leaf(f, calls.list.at[k]) || (!str_contains_nocase(class, S("linear")) &&
                                                  !str_contains_nocase(class, S("conv"))))
                continue;
            while (kind < stack.n_kinds && !str_equal(stack.kinds[kind].class, class))
                kind++;
            if (kind == STACK_KINDS)
                continue;
            if (kind == stack.n_kinds)
                stack.kinds[stack.n_kinds++].class = class;
            stack.kinds[kind].count++;
            stack.layers++;
        }
        if (stack.layers > best.layers) {
            best = stack;
            owner = (uint32_t)i;
        }
    }
    if (best.layers >= PLAIN_LEAST) {
        best.module = owner;
        best.owner = f->t->at[owner].class;
        vec_push(&f->found, best);
    }
    vec_free(&calls.list);
}

static void mark_members(struct finder *f)
{
    struct arch_stacks *out = f->out;

    out->of_module = ARENA_ARRAY(f->arena, uint32_t, f->t->n);
    for (size_t i = 0; i < f->t->n; i++)
        out->of_module[i] = MODULE_NONE;
    for (size_t i = 0; i < f->members.n; i++) {
        uint32_t *stack = &out->of_module[(uint32_t)f->members.at[i]];
        if (*stack == MODULE_NONE)
            *stack = (uint32_t)(f->members.at[i] >> 32);
    }
    out->n = f->found.n;
    out->at = STUDY_KEEP(f->arena, f->found);
}

struct arch_stacks *arch_stacks_find(struct study *st)
{
    struct arch_stacks *out = ARENA_NEW(&st->scratch, struct arch_stacks);
    struct finder f = {.st = st, .t = study_module_tree(st), .arena = &st->scratch, .out = out};
    struct call_list roots = {0};

    if (f.t->n_calls == 0)
        return out;
    struct intern names;
    f.class_of = ARENA_ARRAY(f.arena, uint32_t, f.t->n);
    intern_init(&names);
    for (size_t i = 0; i < f.t->n; i++)
        f.class_of[i] = intern_put(&names, f.t->at[i].class);
    f.n_classes = names.strings.n;
    f.classes = ARENA_ARRAY(f.arena, struct str, f.n_classes);
    for (size_t i = 0; i < f.t->n; i++)
        f.classes[f.class_of[i]] = f.t->at[i].class;
    intern_fini(&names);
    f.stamp_class = ARENA_ARRAY(f.arena, uint32_t, f.n_classes);
    f.place_class = ARENA_ARRAY(f.arena, uint32_t, f.n_classes);
    f.stamp_module = ARENA_ARRAY(f.arena, uint32_t, f.t->n);
    measure_calls(&f);
    list_roots(&f, &roots);
    walk(&f, MODULE_NONE, &roots, 0);
    if (f.found.n == 0)
        find_plain(&f);
    mark_members(&f);
    arch_stacks_measure(st, out);
    vec_free(&roots.list);
    vec_free(&f.found);
    vec_free(&f.members);
    return out;
}
