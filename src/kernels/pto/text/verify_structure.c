/*
 * How operations stand together: regions and their arguments, what ends a block, calls, and
 * whether a value is defined on every way to its use.
 */
#include "kernels/pto/text/forms.h"
#include "kernels/pto/text/verify_in.h"

/* The regions an operation must have. */
static bool region_count_is_right(const struct pto_op *op)
{
    static const struct {
        uint32_t least, most;
    } counts[PTO_CLASS_COUNT] = {
        [PTO_CLASS_FOR] = {1, 1},
        [PTO_CLASS_EXECUTE] = {1, 1},
        [PTO_CLASS_SECTION] = {1, 1},
        [PTO_CLASS_FUSION] = {1, 1},
        [PTO_CLASS_IF] = {1, 2},
        [PTO_CLASS_WHILE] = {2, 2},
        [PTO_CLASS_SWITCH] = {1, UINT32_MAX},
    };
    enum pto_class class = pto_class_of(op->code);

    return op->region_count >= counts[class].least && op->region_count <= counts[class].most;
}

static uint32_t structure_type_of(const struct pto_check *c, uint32_t value)
{
    return pto_value_at(c->m, c->f, value)->type;
}

/* The type of the nth operand of role ARG. */
static uint32_t arg_type(const struct pto_check *c, const struct pto_op *op, uint32_t nth)
{
    return structure_type_of(c, pto_operand_nth(c->m, op, PTO_ROLE_ARG, nth));
}

/* Operands of role ARG of a terminator against `count` values from `first` on. */
static bool hands_over(const struct pto_check *c, const struct pto_op *from, uint32_t first,
                       uint32_t count, const char *what)
{
    struct pto_check at = {c->m, c->f, from};
    uint32_t total = pto_operand_total(c->m, from, PTO_ROLE_ARG);

    if (total != count)
        return pto_bad(&at, "pto-ir.bad-yield", "%u values are handed over, %s has %u", total, what,
                       count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t has = arg_type(c, from, i);
        if (has != pto_value_at(c->m, c->f, first + i)->type)
            return pto_bad(&at, "pto-ir.type-mismatch",
                           "value %u that is handed over has another "
                           "type than %s",
                           i + 1, what);
    }
    return true;
}

/* A region that yields the results of its operation. */
static bool yields_results(const struct pto_check *c, const struct pto_block *b,
                           enum pto_opcode yield)
{
    const struct pto_op *last = pto_last_op(c->m, b), *op = c->op;

    if (last == NULL || last->code != yield) {
        if (op->result_count == 0)
            return true;
        return pto_bad(c, "pto-ir.bad-yield", "a region of %s ends without %s",
                       pto_op_name(op->code), pto_op_name(yield));
    }
    return hands_over(c, last, op->result_first, op->result_count, "the operation");
}

static bool args_are(const struct pto_check *c, const struct pto_block *b, uint32_t count)
{
    if (b->arg_count == count)
        return true;
    return pto_bad(c, "pto-ir.bad-region", "a region of %s has %u arguments instead of %u",
                   pto_op_name(c->op->code), b->arg_count, count);
}

static bool args_have_types(const struct pto_check *c, const struct pto_block *b, uint32_t from)
{
    for (uint32_t i = from; i < b->arg_count; i++) {
        uint32_t init = pto_operand_nth(c->m, c->op, PTO_ROLE_INIT, i - from);
        if (structure_type_of(c, b->arg_first + i) != structure_type_of(c, init))
            return pto_bad(c, "pto-ir.type-mismatch",
                           "loop value %u has another type than its initial value", (i - from) + 1);
    }
    return true;
}

static bool check_for(const struct pto_check *c)
{
    const struct pto_block *b = pto_op_block(c->m, c->op, 0);
    uint32_t inits = pto_operand_total(c->m, c->op, PTO_ROLE_INIT);
    int64_t step;

    if (pto_operand(c->m, c->op, PTO_ROLE_STEP) == PTO_NONE)
        return pto_bad(c, "pto-ir.bad-operands", "scf.for has lower bound, upper bound and step");
    const struct pto_type *t = pto_check_role(c, PTO_ROLE_LOWER, 0);
    if (t->kind != PTO_TYPE_SCALAR || pto_dtype_is_float(t->dtype))
        return pto_bad(c, "pto-ir.type-mismatch", "the bounds of scf.for are whole numbers");
    if (pto_constant(c, pto_operand(c->m, c->op, PTO_ROLE_STEP), &step) && step <= 0)
        pto_bad(c, "pto-ir.endless-loop", "the step of this loop is %lld: it never ends",
                (long long)step);
    if (inits != c->op->result_count)
        return pto_bad(c, "pto-ir.bad-results", "scf.for has %u loop values and %u results", inits,
                       c->op->result_count);
    return args_are(c, b, inits + 1) && args_have_types(c, b, 1) && yields_results(c, b, PTO_YIELD);
}

static bool check_if(const struct pto_check *c)
{
    const struct pto_block *other = pto_op_block(c->m, c->op, 1);

    if (pto_operand(c->m, c->op, PTO_ROLE_CONDITION) == PTO_NONE)
        return pto_bad(c, "pto-ir.bad-operands", "scf.if has a condition");
    if (c->op->result_count > 0 && other == NULL)
        return pto_bad(c, "pto-ir.bad-region", "an scf.if with results has an else");
    return yields_results(c, pto_op_block(c->m, c->op, 0), PTO_YIELD) &&
           (other == NULL || yields_results(c, other, PTO_YIELD));
}

static bool check_while(const struct pto_check *c)
{
    const struct pto_block *before = pto_op_block(c->m, c->op, 0);
    const struct pto_block *after = pto_op_block(c->m, c->op, 1);
    const struct pto_op *condition = pto_last_op(c->m, before), *yield = pto_last_op(c->m, after);
    uint32_t inits = pto_operand_total(c->m, c->op, PTO_ROLE_INIT);

    if (!args_are(c, before, inits) || !args_have_types(c, before, 0) ||
        !args_are(c, after, c->op->result_count))
        return false;
    if (condition == NULL || condition->code != PTO_CONDITION)
        return pto_bad(c, "pto-ir.bad-yield",
                       "the first region of scf.while ends without "
                       "scf.condition");
    if (!hands_over(c, condition, c->op->result_first, c->op->result_count, "the operation") ||
        !hands_over(c, condition, after->arg_first, after->arg_count, "the second region"))
        return false;
    if (yield == NULL || yield->code != PTO_YIELD)
        return inits == 0 || pto_bad(c, "pto-ir.bad-yield",
                                     "the second region of scf.while ends without scf.yield");
    return hands_over(c, yield, before->arg_first, inits, "the first region");
}

static bool check_switch(const struct pto_check *c)
{
    const struct pto_attr *cases = pto_op_attr(c->m, c->op, PTO_KEY_CASES);
    uint32_t count = cases != NULL ? cases->item_count : 0;

    if (count + 1 != c->op->region_count)
        return pto_bad(c, "pto-ir.bad-region", "%u cases, but %u regions besides the default",
                       count, c->op->region_count - 1);
    for (uint32_t i = 0; i < c->op->region_count; i++)
        if (!yields_results(c, pto_op_block(c->m, c->op, i), PTO_YIELD))
            return false;
    return true;
}

static bool check_fusion(const struct pto_check *c)
{
    return yields_results(c, pto_op_block(c->m, c->op, 0), PTO_REGION_YIELD);
}

/* ---- branches ---- */

static bool check_branch(const struct pto_check *c)
{
    uint32_t want = c->op->code == PTO_BR ? 1 : 2;

    if (c->op->successor_count != want)
        return pto_bad(c, "pto-ir.bad-operands", "%s goes to %u block%s", pto_op_name(c->op->code),
                       want, want > 1 ? "s" : "");
    for (uint32_t i = 0; i < want; i++) {
        const struct pto_successor *to = &c->m->successors.at[c->op->successor_first + i];
        const struct pto_block *b = &c->m->blocks.at[to->block];
        if (to->arg_count != b->arg_count)
            return pto_bad(c, "pto-ir.bad-yield", "%u values for a block with %u arguments",
                           to->arg_count, b->arg_count);
        for (uint32_t k = 0; k < to->arg_count; k++)
            if (structure_type_of(c, pto_operands(c->m, c->op)[to->arg_first + k].value) !=
                structure_type_of(c, b->arg_first + k))
                return pto_bad(c, "pto-ir.type-mismatch",
                               "argument %u of the block has another type", k + 1);
    }
    return true;
}

static bool check_return(const struct pto_check *c)
{
    uint32_t total = pto_operand_total(c->m, c->op, PTO_ROLE_ARG);

    if (total != c->f->result_count)
        return pto_bad(c, "pto-ir.bad-yield", "%u values are returned, the function has %u", total,
                       c->f->result_count);
    for (uint32_t i = 0; i < total; i++)
        if (arg_type(c, c->op, i) != c->m->type_items.at[c->f->result_first + i])
            return pto_bad(c, "pto-ir.type-mismatch", "the function returns another type");
    return true;
}

static bool has_blocks(const struct pto_check *c)
{
    for (uint32_t i = 0; i < c->op->region_count; i++) {
        const struct pto_region *r = &c->m->regions.at[c->op->region_first + i];
        if (r->block_count > 1 && c->op->code != PTO_EXECUTE_REGION)
            return pto_bad(c, "pto-ir.bad-region", "a region of %s has one block",
                           pto_op_name(c->op->code));
        if (r->block_count == 0)
            return pto_bad(c, "pto-ir.bad-region", "a region of %s has no block",
                           pto_op_name(c->op->code));
    }
    return true;
}

/* As many results as the form says; the generic form could say otherwise. */
static bool results_are_right(const struct pto_check *c)
{
    const char *form = pto_form(c->op->code);
    uint32_t has = c->op->result_count;
    bool ok = true;

    if (c->op->code == PTO_CONSTANT)
        ok = has == 1;
    else if (c->op->code == PTO_TRESHAPE)
        ok = has == (pto_operand(c->m, c->op, PTO_ROLE_OUT) == PTO_NONE);
    else if (form != NULL)
        ok = form[0] == '*' || has == (uint32_t)(form[0] - '0');
    else if (c->op->code > PTO_CONSTANT || c->op->code == PTO_BR || c->op->code == PTO_COND_BR ||
             c->op->code == PTO_SECTION_CUBE || c->op->code == PTO_SECTION_VECTOR)
        ok = has == 0;
    return ok || pto_bad(c, "pto-ir.bad-results", "%s does not have %u results",
                         pto_op_name(c->op->code), has);
}

/* The attributes without which an operation cannot be written. */
static bool attrs_are_there(const struct pto_check *c)
{
    const char *form = pto_form(c->op->code);

    if (form == NULL)
        return true;
    for (form++;;) {
        struct pto_item item = pto_form_next(&form);
        if (item.kind == PTO_ITEM_END)
            return true;
        if (item.kind == PTO_ITEM_GROUP)
            form = pto_form_skip_group(form);
        if (item.kind != PTO_ITEM_ATTR)
            continue;
        enum pto_key key = (enum pto_key)intern_find(&c->m->names, item.text);
        const struct pto_attr *a = pto_op_attr(c->m, c->op, key);
        bool is_word = key != PTO_KEY_PREDICATE || (a != NULL && a->kind == PTO_ATTR_ENUM &&
                                                    pto_enum_word(a->enums, a->i).n > 0);
        if (a == NULL || !is_word)
            return pto_bad(c, "pto-ir.bad-operands", "%s needs %.*s", pto_op_name(c->op->code),
                           STR_ARGS(item.text));
    }
}

bool pto_check_structure(const struct pto_check *c)
{
    if (!results_are_right(c) || !attrs_are_there(c))
        return false;
    if (!region_count_is_right(c->op))
        return pto_bad(c, "pto-ir.bad-region", "%s does not have %u regions",
                       pto_op_name(c->op->code), c->op->region_count);
    if (!has_blocks(c))
        return false;
    static bool (*const rules[PTO_CLASS_COUNT])(const struct pto_check *c) = {
        [PTO_CLASS_FOR] = check_for,       [PTO_CLASS_IF] = check_if,
        [PTO_CLASS_WHILE] = check_while,   [PTO_CLASS_SWITCH] = check_switch,
        [PTO_CLASS_FUSION] = check_fusion, [PTO_CLASS_BRANCH] = check_branch,
        [PTO_CLASS_RETURN] = check_return,
    };
    enum pto_class class = pto_class_of(c->op->code);
    if (rules[class] != NULL)
        return rules[class](c);
    return c->op->successor_count == 0 ||
           pto_bad(c, "pto-ir.bad-operands", "%s goes to no block", pto_op_name(c->op->code));
}

/* ---- calls ---- */

static bool check_call(const struct pto_check *c)
{
    const struct pto_attr *name = pto_op_attr(c->m, c->op, PTO_KEY_CALLEE);

    if (name == NULL || name->kind != PTO_ATTR_SYMBOL)
        return pto_bad(c, "pto-ir.bad-call", "a call names a function: @f");
    const struct pto_function *to = pto_find_function(c->m, intern_get(&c->m->names, name->text));
    if (to == NULL)
        return pto_bad(c, "pto-ir.bad-call", "there is no function @%.*s",
                       STR_ARGS(intern_get(&c->m->names, name->text)));
    uint32_t total = pto_operand_total(c->m, c->op, PTO_ROLE_ARG);
    if (total != to->arg_count || c->op->result_count != to->result_count)
        return pto_bad(c, "pto-ir.bad-call",
                       "the function takes %u arguments and returns %u values", to->arg_count,
                       to->result_count);
    for (uint32_t i = 0; i < total; i++)
        if (arg_type(c, c->op, i) != pto_value_at(c->m, to, i)->type)
            return pto_bad(c, "pto-ir.type-mismatch", "argument %u has another type", i + 1);
    for (uint32_t i = 0; i < to->result_count; i++)
        if (pto_value_at(c->m, c->f, c->op->result_first + i)->type !=
            c->m->type_items.at[to->result_first + i])
            return pto_bad(c, "pto-ir.type-mismatch", "the function returns another type");
    return true;
}

/* How many functions deep a call chain from `f` is; beyond the number of functions it loops. */
static bool calls_itself(struct pto_module *m, size_t start, unsigned char *seen, size_t at,
                         uint32_t depth)
{
    const struct pto_function *f = &m->functions.at[at];

    if (depth > 0 && at == start)
        return true;
    if (seen[at] || depth > 100)
        return false;
    seen[at] = depth > 0;
    for (uint32_t i = f->op_first; i < f->op_end; i++) {
        const struct pto_op *op = &m->ops.at[i];
        const struct pto_attr *a = op->code == PTO_CALL ? pto_op_attr(m, op, PTO_KEY_CALLEE) : NULL;
        for (size_t k = 0; k < m->functions.n && a != NULL; k++)
            if (m->functions.at[k].name == a->text && calls_itself(m, start, seen, k, depth + 1))
                return true;
    }
    return false;
}

void pto_check_calls(struct pto_module *m)
{
    struct arena scratch;

    if (m->functions.n > 256) /* nobody writes that many; the search below is quadratic */
        return;
    arena_init(&scratch);
    for (size_t i = 0; i < m->functions.n; i++) {
        struct pto_check c = {.m = m, .f = &m->functions.at[i]};
        for (uint32_t k = c.f->op_first; k < c.f->op_end; k++) {
            c.op = &m->ops.at[k];
            if (c.op->code == PTO_CALL)
                check_call(&c);
        }
        c.op = NULL;
        if (calls_itself(m, i, ARENA_ARRAY(&scratch, unsigned char, m->functions.n), i, 0))
            pto_bad(&c, "pto-ir.recursion", "@%.*s calls itself",
                    STR_ARGS(intern_get(&m->names, c.f->name)));
    }
    arena_free(&scratch);
}

/* ---- dominance ---- */

enum { MAX_BLOCKS = 512 }; /* of a region with branches */

/* Blocks of one region; numbers count from its first block. */
struct graph {
    const struct pto_module *m;
    const struct pto_region *r;
    uint64_t (*sets)[MAX_BLOCKS / 64]; /* of each block: the blocks on every way to it */
};

/* `to` keeps what its predecessor `from` has; true when that changed it. */
static bool narrow(struct graph *g, uint32_t from, uint32_t to)
{
    bool has_changed = false;

    for (uint32_t i = 0; i < MAX_BLOCKS / 64; i++) {
        uint64_t own = i == to / 64 ? (uint64_t)1 << (to % 64) : 0;
        uint64_t next = (g->sets[to][i] & g->sets[from][i]) | own;
        has_changed = has_changed || next != g->sets[to][i];
        g->sets[to][i] = next;
    }
    return has_changed;
}

/* Starts from "all blocks" and takes away until nothing changes. */
static void find_dominators(struct graph *g)
{
    bool has_changed = true;

    memset(g->sets, 0xff, g->r->block_count * sizeof(*g->sets));
    memset(g->sets[0], 0, sizeof(*g->sets));
    g->sets[0][0] = 1;
    while (has_changed) {
        has_changed = false;
        for (uint32_t from = 0; from < g->r->block_count; from++) {
            const struct pto_op *last =
                pto_last_op(g->m, &g->m->blocks.at[g->r->block_first + from]);
            for (uint32_t i = 0; last != NULL && i < last->successor_count; i++) {
                uint32_t to = g->m->successors.at[last->successor_first + i].block;
                to -= g->r->block_first;
                if (to > 0 && to < g->r->block_count && narrow(g, from, to))
                    has_changed = true;
            }
        }
    }
}

/* The block of the region that defines a value, or PTO_NONE when it comes from outside. */
static uint32_t block_of(const struct graph *g, const struct pto_value *v, uint32_t value)
{
    for (uint32_t i = 0; i < g->r->block_count; i++) {
        const struct pto_block *b = &g->m->blocks.at[g->r->block_first + i];
        if ((v->op != PTO_NONE && v->op >= b->op_first && v->op < b->op_end) ||
            (value >= b->arg_first && value < b->arg_first + b->arg_count))
            return i;
    }
    return PTO_NONE;
}

static void check_region(const struct pto_check *c, const struct pto_region *r,
                         struct arena *scratch)
{
    struct graph g = {c->m, r, arena_array(scratch, sizeof(*g.sets), r->block_count)};

    find_dominators(&g);
    for (uint32_t i = 0; i < r->block_count; i++) {
        const struct pto_block *b = &c->m->blocks.at[r->block_first + i];
        for (uint32_t k = b->op_first; k < b->op_end; k++) {
            struct pto_check at = {c->m, c->f, &c->m->ops.at[k]};
            for (uint32_t n = 0; n < at.op->operand_count; n++) {
                uint32_t value = pto_operands(c->m, at.op)[n].value;
                const struct pto_value *v = pto_value_at(c->m, c->f, value);
                uint32_t from = block_of(&g, v, value);
                if (from != PTO_NONE && (g.sets[i][from / 64] >> (from % 64) & 1) == 0)
                    pto_bad(&at, "pto-ir.dominance",
                            "%%%.*s is not defined on every way to this operation",
                            STR_ARGS(intern_get(&c->m->names, v->name)));
            }
        }
    }
}

/* A terminator stands at the end of its block only. */
static bool is_terminator(enum pto_opcode code)
{
    return code == PTO_YIELD || code == PTO_CONDITION || code == PTO_BR || code == PTO_COND_BR ||
           code == PTO_RETURN || code == PTO_REGION_YIELD;
}

static void check_blocks(const struct pto_check *c, uint32_t region, struct arena *scratch)
{
    const struct pto_region *r = &c->m->regions.at[region];

    for (uint32_t n = 0; n < r->block_count; n++) {
        const struct pto_block *b = &c->m->blocks.at[r->block_first + n];
        for (uint32_t i = b->op_first; i < b->op_end; i = c->m->ops.at[i].next) {
            struct pto_check at = {c->m, c->f, &c->m->ops.at[i]};
            if (is_terminator(at.op->code) && at.op->next < b->op_end)
                pto_bad(&at, "pto-ir.bad-region", "%s ends a block, but others follow",
                        pto_op_name(at.op->code));
            for (uint32_t k = 0; k < at.op->successor_count; k++)
                if (c->m->successors.at[at.op->successor_first + k].block == r->block_first)
                    pto_bad(&at, "pto-ir.bad-region", "no branch leads to the first block");
        }
    }
    if (r->block_count > MAX_BLOCKS)
        pto_bad(c, "pto-ir.bad-region", "a region with more than %d blocks", MAX_BLOCKS);
    else if (r->block_count > 1)
        check_region(c, r, scratch);
}

void pto_check_function(const struct pto_check *c)
{
    struct arena scratch;

    if (c->f->region == PTO_NONE)
        return;
    if (c->f->is_entry && c->f->result_count > 0)
        pto_bad(c, "pto-ir.bad-entry", "a kernel returns nothing");
    const struct pto_region *r = &c->m->regions.at[c->f->region];
    const struct pto_op *last =
        pto_last_op(c->m, &c->m->blocks.at[r->block_first + r->block_count - 1]);
    if (last == NULL || !is_terminator(last->code))
        pto_bad(c, "pto-ir.bad-region", "the function does not end in return");
    arena_init(&scratch);
    check_blocks(c, c->f->region, &scratch);
    for (uint32_t i = c->f->op_first; i < c->f->op_end; i++)
        for (uint32_t k = 0; k < c->m->ops.at[i].region_count; k++)
            check_blocks(c, c->m->ops.at[i].region_first + k, &scratch);
    arena_free(&scratch);
}
