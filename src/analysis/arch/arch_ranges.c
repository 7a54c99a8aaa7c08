/*
 * Layers by the user's own ranges: "layer_0" to "layer_31", or one range "attn(F)" a layer.
 */
#include "analysis/arch/arch_stacks.h"
#include "analysis/steps/steps.h"
#include "base/text/char.h"

enum { RANGE_GROUPS = 32, NUMBERS_MOST = 1024 };

/* Ranges of one name but for the number in it. */
struct range_group {
    struct str prefix;
    bool seen[NUMBERS_MOST];
    size_t distinct, highest, first_calls;
    bool has_zero;
};

/* "layer_", 3 of "model.layer_3.attn"; false when no number follows such a word. */
static bool layer_number(struct str name, struct str *prefix, size_t *number)
{
    static const struct str words[] = {S_INIT("layer"), S_INIT("block")};

    for (size_t i = 1; i < name.n; i++) {
        size_t digits = str_digits(str_part(name, i, name.n));
        if (digits == 0 || digits > 3 || char_is_digit(name.at[i - 1]))
            continue;
        struct str before = str_part(name, 0, i);
        size_t from = i > 8 ? i - 8 : 0; /* "layers." and the like stand right before it */
        for (size_t k = 0; k < ARRAY_LEN(words); k++)
            if (str_contains_nocase(str_part(before, from, i), words[k])) {
                *prefix = before;
                *number = 0;
                for (size_t d = 0; d < digits; d++)
                    *number = *number * 10 + (size_t)(name.at[i + d] - '0');
                return true;
            }
    }
    return false;
}

static void add_number(struct range_group *groups, size_t *n, struct str prefix, size_t number,
                       size_t calls)
{
    size_t i = 0;

    while (i < *n && !str_equal(groups[i].prefix, prefix))
        i++;
    if (i == RANGE_GROUPS || number >= NUMBERS_MOST)
        return;
    struct range_group *g = &groups[i];
    if (i == *n)
        groups[(*n)++].prefix = prefix;
    g->distinct += !g->seen[number];
    g->seen[number] = true;
    g->has_zero |= number == 0;
    if (number > g->highest)
        g->highest = number;
    if (g->first_calls == 0)
        g->first_calls = calls;
}

static bool is_attention(struct str name)
{
    static const struct str backward[] = {S_INIT("(B)"), S_INIT("(W)"), S_INIT("bwd"),
                                          S_INIT("grad"), S_INIT("backward")};

    return (str_contains_nocase(name, S("attn")) || str_contains_nocase(name, S("attention"))) &&
           !STR_ANY(str_contains_nocase, name, backward);
}

static void add_stack(struct arch_stacks *stacks, struct arch_stack *all, struct str name,
                      size_t layers, size_t calls)
{
    all[stacks->n++] = (struct arch_stack){
        .module = MODULE_NONE,
        .kinds = {{name, layers}},
        .n_kinds = 1,
        .layers = layers,
        .calls = calls,
        .is_range = true,
        .has_attention = true,
    };
}

void arch_ranges_add(struct study *st, struct arch_stacks *stacks)
{
    const struct capture *cap = st->cap;
    const struct steps *steps = study_steps(st);
    size_t names = cap->strings.strings.n, n = 0, passes = steps->n > 0 ? steps->n : 1;
    uint32_t *calls = ARENA_ARRAY(&st->scratch, uint32_t, names);
    struct range_group *groups = ARENA_ARRAY(&st->scratch, struct range_group, RANGE_GROUPS);
    struct arch_stack *all =
        ARENA_ARRAY(&st->scratch, struct arch_stack, stacks->n + 2 * RANGE_GROUPS);
    size_t single = 0;

    if (stacks->n > 0)
        memcpy(all, stacks->at, sizeof(*all) * stacks->n);
    for (size_t i = 0; i < cap->slices.n; i++)
        calls[cap->slices.name[i]] += cap->slices.kind[i] == SLICE_ANNOTATION;
    for (strid i = 0; i < names; i++) {
        struct str name = capture_text(cap, i), prefix;
        size_t number;
        if (calls[i] == 0)
            continue;
        if (layer_number(name, &prefix, &number))
            add_number(groups, &n, prefix, number, calls[i]);
        else if (is_attention(name) && calls[i] % passes == 0 && calls[i] / passes > 1 &&
                 single++ < RANGE_GROUPS)
            add_stack(stacks, all, name, calls[i] / passes, passes);
    }
    for (size_t i = 0; i < n; i++) {
        const struct range_group *g = &groups[i];
        if (g->distinct > 1 && g->distinct == g->highest + g->has_zero) /* all, from 0 or from 1 */
            add_stack(stacks, all, g->prefix, g->distinct, g->first_calls);
    }
    stacks->at = all;
}
