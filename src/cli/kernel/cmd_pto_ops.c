/*
 * strata pto ops: the operations of PTO text, with syntax, pipe, cost and an example.
 */
#include "cli/session.h"
#include "kernels/pto/cost/reference.h"
#include "report/report.h"

static const struct example examples[] = {
    {"strata pto ops", "all operations, one line each"},
    {"strata pto ops tload", "one operation: operands, types, pipe, cost, example"},
    {"strata pto ops trow --json", "all that begin with a word, as JSON"},
};

static const struct schema schema = {
    .name = "strata.pto-ops/1",
    .title = "operations of PTO text",
    .record = &pto_reference_record,
    .is_list = true,
};

static bool is_meant(struct str name, struct str word, bool is_exact)
{
    struct str part = str_starts(name, S("pto.")) ? str_part(name, 4, name.n) : name;

    if (is_exact)
        return str_equal(name, word) || str_equal(part, word);
    return str_starts(name, word) || str_starts(part, word);
}

/* The operation of that name, else those that begin so. */
static size_t ops_choose(const struct pto_references *all, const char *word,
                         struct pto_reference *chosen)
{
    size_t n = 0;

    for (int is_exact = 1; n == 0 && is_exact >= 0; is_exact--)
        for (size_t i = 0; i < all->n; i++)
            if (word == NULL || is_meant(all->at[i].name, str_of(word), is_exact == 1))
                chosen[n++] = all->at[i];
    return n;
}

static void add_groups(struct report *r, const struct pto_reference *list, size_t n)
{
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && str_equal(list[to].group, list[from].group);)
            to++;
        report_heading(r, list[from].group);
        report_records(r, &pto_reference_record, list + from, to - from, NULL);
    }
    report_text(r, S("  `strata pto ops NAME` shows operands, types, cost and an example"));
}

static void add_fact(struct report *r, const char *label, struct str text)
{
    if (text.n > 0)
        report_fact(r, label, text);
}

static void add_one(struct report *r, const struct pto_reference *op)
{
    report_text(r, op->meaning);
    add_fact(r, "operands", op->operands);
    add_fact(r, "types", op->types);
    add_fact(r, "pipe", op->pipe);
    add_fact(r, "cost A2/A3", op->cost_a2a3);
    add_fact(r, "cost A5", op->cost_a5);
    add_fact(r, "rules", op->rules);
    add_fact(r, "example", op->example);
    if (!op->is_simulated)
        report_text(r, S("  not simulated: kernels with it can be checked and printed"));
}

static void pto_ops_describe(const void *result, struct report *r)
{
    const struct field_items *list = result;

    if (list->n == 1)
        add_one(r, list->at);
    else
        add_groups(r, list->at, list->n);
}

static int pto_ops_run(struct session *s, const void *args)
{
    const char *word = s->operands.n > 0 ? s->operands.at[0] : NULL;
    struct pto_costs *costs = pto_costs_new();
    struct pto_references all = pto_references(costs, &s->arena);
    struct pto_reference *list = ARENA_ARRAY(&s->arena, struct pto_reference, all.n);
    size_t n = ops_choose(&all, word, list);

    (void)args;
    pto_costs_free(costs);
    if (n == 0) {
        diag_fail(&s->diag, ST_NOT_FOUND, "pto-ops.unknown", (struct where){.path = word},
                  "unknown operation");
        diag_hint(&s->diag, "try", "strata pto ops");
        return CODE_FILE;
    }
    session_give(s, &(struct answer){.schema = &schema,
                                     .result = &(struct field_items){list, n},
                                     .title = n == 1 ? list[0].name : S(""),
                                     .describe = pto_ops_describe});
    return CODE_DONE;
}

const struct command command_pto_ops = {
    .name = "ops",
    .group = GROUP_KERNELS,
    .summary = "list the operations of PTO text with cost and example",
    .usage = "[OPTIONS] [NAME]",
    .details = "Lists the operations that strata reads, by group. NAME is an operation, with or "
               "without its dialect, or the beginning of one; a single operation is shown with "
               "operands, element types, pipe, cost law on A2/A3 and A5, rules and an example.\n"
               "\n"
               "docs/pto-ops.md is the same list as a document, with the kernels around the "
               "examples; docs/cost-model.md explains the cost laws.",
    .see = "docs/pto-ops.md",
    .operands = {.kind = OPERAND_WORD, .max = 1},
    .schemas = {&schema},
    COMMAND_PARTS_BARE,
    .run = pto_ops_run,
};
