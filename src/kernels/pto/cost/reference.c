/*
 * The reference of operations, put together from their tables.
 */
#include "kernels/pto/cost/reference.h"

#include <string.h>

#include "base/files/embedded.h"
#include "base/formats/csv.h"
#include "kernels/pto/sim/pipes.h"
#include "kernels/pto/text/forms.h"

static const struct {
    enum pto_opcode first;
    const char *title;
} groups[] = {
    {PTO_FOR, "Control flow"},
    {PTO_CONSTANT, "Scalar arithmetic"},
    {PTO_MAKE_TENSOR_VIEW, "Views, tiles and scalars"},
    {PTO_TLOAD, "Data movement"},
    {PTO_TMATMUL, "Matrix products"},
    {PTO_TADD, "Element-wise operations"},
    {PTO_TROWSUM, "Reductions and broadcasts"},
    {PTO_TSORT32, "Sorting"},
    {PTO_RESERVE_BUFFER, "FIFOs between cube and vector cores"},
    {PTO_SET_FLAG, "Synchronisation"},
    {PTO_COMM_TNOTIFY, "Communication between ranks"},
};

static struct str reference_group_of(enum pto_opcode op)
{
    size_t i = ARRAY_LEN(groups) - 1;

    while (i > 0 && groups[i].first > op)
        i--;
    return str_of(groups[i].title);
}

/* "ins(2 or 3, the third is scratch) outs(1)" */
static struct str counted(enum pto_opcode op, struct arena *arena)
{
    static const char *const nth[] = {"first", "second", "third", "fourth", "fifth"};
    const struct pto_op_facts *f = &pto_op_facts[op];
    unsigned least = f->ins / 10, most = f->ins % 10;
    struct str ins = S("tiles, scalars"), scratch = S("");

    if (most > 0 && least == most)
        ins = arena_format(arena, "%u", most);
    else if (most > 0)
        ins = arena_format(arena, "%u to %u", least, most);
    if (f->scratch >= 0 && (size_t)f->scratch < ARRAY_LEN(nth))
        scratch = arena_format(arena, ", the %s is scratch", nth[f->scratch]);
    bool has_none = op == PTO_SET_QUANT_VECTOR || op == PTO_SET_QUANT_SCALAR;
    return arena_format(arena, "ins(%.*s%.*s)%s", STR_ARGS(ins), STR_ARGS(scratch),
                        has_none ? "" : " outs(..)");
}

static const char *const role_words[PTO_ROLE_COUNT] = {
#define PTO_ROLE(code, letter, word) #code,
#include "kernels/pto/text/roles.def"
#undef PTO_ROLE
};

/* Items of a form that are shown by a word. */
static const char *const item_words[] = {
    [PTO_ITEM_END] = "",
    [PTO_ITEM_COMMA] = ",",
    [PTO_ITEM_TYPES] = "types",
    [PTO_ITEM_SHARED] = "types",
    [PTO_ITEM_RESULTS] = "result types",
    [PTO_ITEM_RESULTS_ALL] = "result types",
    [PTO_ITEM_RESULTS_IN_BRACKETS] = "result types",
    [PTO_ITEM_RESULTS_BRACKETED] = "result types",
    [PTO_ITEM_DEFAULT] = "",
    [PTO_ITEM_DICT] = "{..}",
    [PTO_ITEM_KEYS] = "name = %value : type, ..",
    [PTO_ITEM_REGION] = "{ region }",
    [PTO_ITEM_SUCCESSOR] = "^block",
    [PTO_ITEM_GROUP] = "?[",
};

static struct str item_text(const struct pto_item *item, struct arena *arena)
{
    const char *role = item->role < PTO_ROLE_COUNT ? role_words[item->role] : "ALL";

    switch (item->kind) {
    case PTO_ITEM_LITERAL:
        return item->text;
    case PTO_ITEM_ATTR:
        return arena_format(arena, "<%.*s>", STR_ARGS(item->text));
    case PTO_ITEM_OPERAND:
        return arena_format(arena, "%%%s", role);
    case PTO_ITEM_LIST:
        return arena_format(arena, "%%%s..", role);
    case PTO_ITEM_TYPED:
        return arena_format(arena, "%%%s.. : types", role);
    default:
        return str_of(item_words[item->kind]);
    }
}

/* The form with words for its items: "%BASE , shape = [ %SHAPE.. ] .." */
static struct str spelled(const char *form, struct arena *arena)
{
    struct str out = S("");
    int depth = 0; /* of groups */

    if (*form != '\0')
        form += 1 + (form[1] == ' '); /* the number of results */
    while (depth >= 0) {
        struct pto_item item = pto_form_next(&form);
        struct str text = item_text(&item, arena);
        if (item.kind == PTO_ITEM_END && depth-- > 0)
            text = S("]?");
        depth += item.kind == PTO_ITEM_GROUP;
        if (text.n > 0)
            out = arena_format(arena, "%.*s%s%.*s", STR_ARGS(out), out.n > 0 ? " " : "",
                               STR_ARGS(text));
    }
    return out;
}

static struct str operands_of(enum pto_opcode op, struct arena *arena)
{
    const char *form = pto_form(op);

    if (form != NULL)
        return spelled(form, arena);
    return pto_op_facts[op].ins > 0 || op >= PTO_TLOAD ? counted(op, arena) : S("see the example");
}

static struct str reference_cell(struct csv *csv, const char *name, struct arena *arena)
{
    return arena_str(arena, csv_unquote(csv_cell(csv, csv_column(csv, str_of(name))), arena));
}

struct pto_references pto_references(const struct pto_costs *costs, struct arena *arena)
{
    struct pto_references list = {ARENA_ARRAY(arena, struct pto_reference, PTO_OP_COUNT), 0};
    struct csv csv;

    csv_open(&csv, embedded_file("pto/ops.csv"));
    while (csv_next(&csv) && list.n < PTO_OP_COUNT) {
        enum pto_opcode op = pto_op_find(reference_cell(&csv, "op", arena));
        struct str frame = reference_cell(&csv, "frame", arena);
        list.at[list.n++] = (struct pto_reference){
            .name = pto_op_facts[op].name,
            .group = reference_group_of(op),
            .operands = operands_of(op, arena),
            .pipe = str_of(pto_pipe_words(op)),
            .types = reference_cell(&csv, "types", arena),
            .meaning = reference_cell(&csv, "meaning", arena),
            .rules = reference_cell(&csv, "rules", arena),
            .cost_a2a3 = pto_cost_words(costs, PTO_A2A3, op, arena),
            .cost_a5 = pto_cost_words(costs, PTO_A5, op, arena),
            .example = reference_cell(&csv, "example", arena),
            .frame = frame,
            .is_simulated = !str_equal(frame, S("read")),
        };
    }
    return list;
}

static const struct field reference_fields[] = {
    FIELD(struct pto_reference, name, "name", .head = "operation"),
    FIELD(struct pto_reference, group, "group"),
    FIELD(struct pto_reference, meaning, "meaning", .head = "meaning"),
    FIELD(struct pto_reference, operands, "operands"),
    FIELD(struct pto_reference, types, "types"),
    FIELD(struct pto_reference, pipe, "pipe", .head = "pipe"),
    FIELD(struct pto_reference, cost_a2a3, "cost_a2a3"),
    FIELD(struct pto_reference, cost_a5, "cost_a5"),
    FIELD(struct pto_reference, rules, "rules"),
    FIELD(struct pto_reference, example, "example"),
    FIELD(struct pto_reference, frame, "frame", .about = "what stands around the example"),
    FIELD(struct pto_reference, is_simulated, "simulated"),
};
const struct record pto_reference_record = RECORD(struct pto_reference, reference_fields);
