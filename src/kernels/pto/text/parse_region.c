/*
 * Regions, blocks and the operations in them, one after the other; and how reading goes on behind
 * an operation that could not be read.
 */
#include "kernels/pto/text/forms.h"
#include "kernels/pto/text/parse_in.h"

/* ---- results ---- */

/* "%x, %y:2 =" */
static bool result_names(struct pto_parser *p, struct pto_draft *d)
{
    if (p->tok.kind != PTO_T_VALUE)
        return true;
    do {
        struct pto_result_name name = {p->tok, 1};
        if (p->tok.kind != PTO_T_VALUE)
            return pto_expected(p, "a value");
        pto_advance(p);
        if (pto_try(p, ':')) {
            if (p->tok.kind != PTO_T_INT || p->tok.text.n > 3 || p->tok.text.at[0] == '-')
                return pto_expected(p, "the number of results");
            name.count = 0;
            for (size_t i = 0; i < p->tok.text.n; i++)
                name.count = name.count * 10 + (uint32_t)(p->tok.text.at[i] - '0');
            if (name.count == 0)
                return pto_expected(p, "the number of results");
            pto_advance(p);
        }
        vec_push(&p->names, name);
        d->name_count++;
    } while (pto_try(p, ','));
    return pto_want(p, '=');
}

/* Adds the results as values; with `is_poison` their types are unknown. */
static void define_results(struct pto_parser *p, struct pto_draft *d, bool is_poison)
{
    uint32_t number = 0, first = (uint32_t)p->m->values.n - p->value_base;

    for (uint32_t i = 0; i < d->name_count; i++) {
        const struct pto_result_name *name = &p->names.at[d->names_from + i];
        strid id = pto_name(p, name->at.text);
        uint32_t from = (uint32_t)p->m->values.n - p->value_base;
        for (uint32_t k = 0; k < name->count; k++, number++)
            pto_value_put(p, id, is_poison ? p->poison : p->list.at[d->list_from + number], d->op,
                          number);
        pto_show(p, &name->at, from, name->count);
    }
    for (; !is_poison && number < d->result_count; number++)
        pto_value_put(p, 0, p->list.at[d->list_from + number], d->op, number);
    p->m->ops.at[d->op].result_first = first;
    p->m->ops.at[d->op].result_count = number;
}

/* ---- results whose type follows from the operands ---- */

/* The constant behind a value, or PTO_DYNAMIC. */
static int64_t constant_of(const struct pto_parser *p, uint32_t value)
{
    uint32_t op = p->m->values.at[p->value_base + value].op;

    if (op == PTO_NONE || p->m->ops.at[op].code != PTO_CONSTANT)
        return PTO_DYNAMIC;
    int64_t n = pto_op_int(p->m, &p->m->ops.at[op], PTO_KEY_VALUE, PTO_DYNAMIC);
    return n >= 0 && n <= INT32_MAX ? n : PTO_DYNAMIC;
}

static void derive_partition(struct pto_parser *p, struct pto_draft *d)
{
    struct pto_type t = p->m->types.at[pto_type_of(p, p->m->operands.at[d->operand_first].value)];

    if (t.kind != PTO_TYPE_VIEW)
        return;
    t.kind = PTO_TYPE_PART;
    t.rank = 0;
    memset(t.dims, 0, sizeof(t.dims));
    for (size_t i = d->operand_first; i < p->m->operands.n && t.rank < PTO_MAX_RANK; i++)
        if (p->m->operands.at[i].role == PTO_ROLE_SIZE)
            t.dims[t.rank++] = constant_of(p, p->m->operands.at[i].value);
    pto_result_type(p, d, pto_type_put(p->m, &t));
}

static void derive_subset(struct pto_parser *p, struct pto_draft *d)
{
    struct pto_type t = p->m->types.at[pto_type_of(p, p->m->operands.at[d->operand_first].value)];
    const struct pto_attr *sizes = NULL;

    for (size_t i = d->dict_from; i < p->dict.n; i++)
        if (p->dict.at[i].key == PTO_KEY_SIZES)
            sizes = &p->m->attrs.at[p->dict.at[i].attr];
    int64_t rows = pto_attr_nth(p->m, sizes, 0, 0), cols = pto_attr_nth(p->m, sizes, 1, 0);
    if (t.kind != PTO_TYPE_TILE || rows <= 0 || rows > INT32_MAX || cols <= 0 || cols > INT32_MAX)
        return;
    t.tile.rows = t.tile.v_row = (int32_t)rows;
    t.tile.cols = t.tile.v_col = (int32_t)cols;
    pto_result_type(p, d, pto_type_put(p->m, &t));
}

/* ---- one operation ---- */

static enum pto_opcode find_code(struct pto_parser *p, struct str name)
{
    if (str_equal(name, S("return")))
        return PTO_RETURN;
    if (str_equal(name, S("call")))
        return PTO_CALL;
    strid id = pto_name(p, name);
    if (p->codes.at[id] == 0)
        p->codes.at[id] = (uint16_t)(pto_op_find(name) + 1);
    return (enum pto_opcode)(p->codes.at[id] - 1);
}

/* Operations of the layers below the tile layer, which strata does not run. */
static bool is_other_layer(struct str name)
{
    static const char *const heads[] = {
        "pto.v",     "pto.mte_",  "pto.mad",     "pto.simt",     "pto.section.simt",
        "pto.copy_", "pto.plds",  "pto.psts",    "pto.pset",     "pto.pge",
        "pto.pand",  "pto.ppack", "pto.punpack", "pto.set_loop", "pto.get_",
        "memref.",   "vector.",   "llvm.",       "tensor.",      "affine.",
        "linalg.",   "emitc.",    "math.",       "ub.",          "pto.tile_buf_addr",
    };

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (str_starts(name, str_of(heads[i])))
            return true;
    return false;
}

static bool unknown(struct pto_parser *p, const struct pto_token *t)
{
    const char *near = NULL;
    size_t least = 3;

    if (is_other_layer(t->text))
        return pto_wrong(p, "pto-ir.unsupported-op", t->line, t->col,
                         "unsupported op %.*s: it is not of the tile layer", STR_ARGS(t->text));
    for (unsigned i = PTO_OP_NONE + 1; i < PTO_OP_COUNT && t->text.n < 40; i++) {
        size_t far = str_distance(t->text, str_of(pto_op_name((enum pto_opcode)i)), 2);
        if (far < least) {
            least = far;
            near = pto_op_name((enum pto_opcode)i);
        }
    }
    return pto_wrong(p, "pto-ir.unknown-op", t->line, t->col, "unknown op %.*s%s%s%s",
                     STR_ARGS(t->text), near != NULL ? "; did you mean " : "",
                     near != NULL ? near : "", near != NULL ? "?" : "");
}

static bool body(struct pto_parser *p, struct pto_draft *d, bool is_generic)
{
    const char *form = pto_form(d->code);

    if (is_generic)
        return pto_parse_generic(p, d);
    if (d->code == PTO_TRESHAPE && pto_is_word(p, S("ins")))
        return pto_parse_dps(p, d);
    if (form != NULL)
        return pto_parse_form(p, d, form);
    if (d->code <= PTO_CONSTANT)
        return pto_parse_structured(p, d);
    return pto_parse_dps(p, d);
}

static bool operation(struct pto_parser *p, struct pto_draft *d)
{
    if (!result_names(p, d))
        return false;
    struct pto_token name = p->tok;
    if (name.kind != PTO_T_WORD && name.kind != PTO_T_STRING)
        return pto_expected(p, "an operation");
    d->line = name.line;
    d->col = name.col;
    d->code = find_code(p, name.text);
    if (d->code == PTO_OP_NONE)
        return unknown(p, &name);
    pto_advance(p);
    if (!body(p, d, name.kind == PTO_T_STRING))
        return false;
    if (d->result_count == 0 && d->code == PTO_PARTITION_VIEW)
        derive_partition(p, d);
    else if (d->result_count == 0 && d->code == PTO_SUBSET)
        derive_subset(p, d);
    /* As many names as results, or no names at all. */
    uint32_t names = 0;
    for (uint32_t i = 0; i < d->name_count; i++)
        names += p->names.at[d->names_from + i].count;
    if (names == d->result_count || names == 0)
        return true;
    return pto_wrong(p, "pto-ir.bad-results", d->line, d->col,
                     "%s gives %u result%s, but %u %s named", pto_op_name(d->code), d->result_count,
                     d->result_count == 1 ? "" : "s", names, names == 1 ? "is" : "are");
}

/* Writes the draft into its place, behind its regions. */
static void close_draft(struct pto_parser *p, struct pto_draft *d, bool is_poison)
{
    pto_freeze(p, d);
    for (size_t i = d->dict_from; i < p->dict.n; i++)
        for (size_t k = i + 1; k < p->dict.n; k++)
            if (p->dict.at[i].key == p->dict.at[k].key)
                pto_wrong(p, "pto-ir.syntax", d->line, d->col, "%.*s is given twice",
                          STR_ARGS(intern_get(&p->m->names, p->dict.at[i].key)));
    define_results(p, d, is_poison);
    struct pto_op *op = &p->m->ops.at[d->op];
    op->code = d->code;
    op->line = d->line;
    op->col = d->col;
    op->operand_first = d->operand_first;
    op->operand_count = d->operand_count;
    op->successor_first = d->successor_first;
    op->successor_count = d->successor_count;
    pto_keep_dict(p, d->dict_from, &op->named_first, &op->named_count);
    op->region_first = (uint32_t)p->m->regions.n;
    op->region_count = d->region_count;
    for (uint32_t i = 0; i < d->region_count; i++)
        vec_push(&p->m->regions, p->regions.at[d->regions_from + i]);
    op->next = (uint32_t)p->m->ops.n;
}

/* Skips to something that looks like the begin of an operation on a line of its own, or to the
 * brace that ends the region. */
static void recover(struct pto_parser *p, const char *begin)
{
    uint32_t depth = 0, line = p->tok.line;

    if (p->tok.begin == begin && p->tok.kind != PTO_T_END && !pto_is(p, '}'))
        pto_advance(p);
    while (p->tok.kind != PTO_T_END) {
        bool is_first = p->tok.line > line;
        if (pto_is(p, '{')) {
            depth++;
        } else if (pto_is(p, '}')) {
            if (depth == 0)
                return;
            depth--;
        } else if (is_first && depth == 0) {
            bool is_dotted =
                p->tok.kind == PTO_T_WORD && (str_find_char(p->tok.text, '.') < p->tok.text.n ||
                                              str_equal(p->tok.text, S("return")));
            if (is_dotted || p->tok.kind == PTO_T_VALUE || p->tok.kind == PTO_T_STRING ||
                p->tok.kind == PTO_T_LABEL)
                return;
        }
        line = p->tok.line;
        pto_advance(p);
    }
}

static void one_op(struct pto_parser *p, uint32_t parent)
{
    struct pto_draft d = {
        .op = (uint32_t)p->m->ops.n,
        .line = p->tok.line,
        .col = p->tok.col,
        .names_from = (uint32_t)p->names.n,
        .operand_first = (uint32_t)p->m->operands.n,
        .dict_from = (uint32_t)p->dict.n,
        .list_from = (uint32_t)p->list.n,
        .default_type = PTO_NONE,
        .regions_from = (uint32_t)p->regions.n,
        .successor_first = (uint32_t)p->m->successors.n,
    };
    const char *begin = p->tok.begin;

    vec_push(&p->m->ops, ((struct pto_op){.parent = parent}));
    bool ok = operation(p, &d);
    close_draft(p, &d, !ok);
    p->names.n = d.names_from;
    p->dict.n = d.dict_from;
    p->list.n = d.list_from;
    p->regions.n = d.regions_from;
    if (!ok)
        recover(p, begin);
}

/* ---- blocks ---- */

/* "^bb0(%a: t, %b: t):" */
static bool label(struct pto_parser *p, uint32_t op, struct pto_block *b)
{
    b->label = pto_name(p, p->tok.text);
    pto_advance(p);
    if (pto_try(p, '(') && !pto_try(p, ')')) {
        b->arg_first = (uint32_t)p->m->values.n - p->value_base;
        b->arg_count = 0;
        do {
            struct pto_token name = p->tok;
            uint32_t type;
            if (name.kind != PTO_T_VALUE)
                return pto_expected(p, "a value");
            pto_advance(p);
            if (!pto_want(p, ':') || !pto_parse_type(p, &type))
                return false;
            pto_define(p, &name, type, op, b->arg_count++);
        } while (pto_try(p, ','));
        if (!pto_want(p, ')'))
            return false;
    }
    return pto_want(p, ':');
}

/* Branches of the region that just ended find their blocks. */
static void resolve(struct pto_parser *p, size_t branches, size_t blocks, uint32_t block_first)
{
    for (size_t i = branches; i < p->branches.n; i++) {
        struct pto_branch *b = &p->branches.at[i];
        struct pto_successor *to = &p->m->successors.at[b->successor];
        to->block = PTO_NONE;
        for (size_t k = blocks; k < p->blocks.n; k++)
            if (p->blocks.at[k].label == b->label && b->label != 0)
                to->block = block_first + (uint32_t)(k - blocks);
        if (to->block == PTO_NONE)
            pto_wrong(p, "pto-ir.unknown-block", b->line, b->col, "no block ^%.*s in this region",
                      STR_ARGS(intern_get(&p->m->names, b->label)));
    }
    p->branches.n = branches;
}

static bool duplicate_label(struct pto_parser *p, size_t blocks, strid id)
{
    for (size_t i = blocks; i < p->blocks.n; i++)
        if (p->blocks.at[i].label == id)
            return true;
    return false;
}

/* The blocks up to the closing brace. */
static bool blocks_of(struct pto_parser *p, uint32_t op, struct pto_block first)
{
    size_t from = p->blocks.n;
    struct pto_block b = first;
    bool has_label = p->tok.kind == PTO_T_LABEL;

    for (;;) {
        if (has_label) {
            struct pto_token t = p->tok;
            if (duplicate_label(p, from, pto_name(p, t.text)))
                pto_wrong(p, "pto-ir.unknown-block", t.line, t.col, "^%.*s stands twice",
                          STR_ARGS(t.text));
            if (!label(p, op, &b))
                return false;
        }
        b.op_first = (uint32_t)p->m->ops.n;
        while (p->tok.kind != PTO_T_END && !pto_is(p, '}') && p->tok.kind != PTO_T_LABEL)
            one_op(p, op);
        b.op_end = (uint32_t)p->m->ops.n;
        vec_push(&p->blocks, b);
        if (p->tok.kind == PTO_T_END)
            return pto_expected(p, "'}'");
        if (pto_try(p, '}'))
            return true;
        has_label = true;
        b = (struct pto_block){0};
    }
}

bool pto_parse_region(struct pto_parser *p, struct pto_draft *d, uint32_t arg_first,
                      uint32_t arg_count)
{
    size_t blocks = p->blocks.n, branches = p->branches.n;

    if (!pto_want(p, '{') || !pto_enter(p))
        return false;
    bool ok =
        blocks_of(p, d->op, (struct pto_block){.arg_first = arg_first, .arg_count = arg_count});
    struct pto_region region = {.block_first = (uint32_t)p->m->blocks.n,
                                .block_count = (uint32_t)(p->blocks.n - blocks)};
    resolve(p, branches, blocks, region.block_first);
    for (size_t i = blocks; i < p->blocks.n; i++)
        vec_push(&p->m->blocks, p->blocks.at[i]);
    p->blocks.n = blocks;
    vec_push(&p->regions, region);
    d->region_count++;
    pto_leave(p);
    return ok;
}

bool pto_parse_successor(struct pto_parser *p, struct pto_draft *d)
{
    struct pto_successor to = {.block = PTO_NONE};
    size_t from = p->m->operands.n;

    if (p->tok.kind != PTO_T_LABEL)
        return pto_expected(p, "a block, as in ^bb1");
    vec_push(&p->branches,
             ((struct pto_branch){(uint32_t)p->m->successors.n, pto_name(p, p->tok.text),
                                  p->tok.line, p->tok.col}));
    vec_push(&p->m->successors, to);
    d->successor_count++;
    pto_advance(p);
    if (!d->is_frozen && pto_try(p, '(')) {
        do {
            if (!pto_parse_operand(p, PTO_ROLE_ARG))
                return false;
        } while (pto_try(p, ','));
        if (!pto_want(p, ':') || !pto_parse_types_of(p, from) || !pto_want(p, ')'))
            return false;
    }
    struct pto_successor *at = &p->m->successors.at[p->m->successors.n - 1];
    at->arg_first = (uint32_t)from - d->operand_first;
    at->arg_count = (uint32_t)(p->m->operands.n - from);
    return true;
}
