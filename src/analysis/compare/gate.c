/*
 * Conditions: parsed against the descriptions of the metrics, checked against their values.
 */
#include "analysis/compare/gate.h"

#include "analysis/diagnose/accounting.h"
#include "analysis/idle/bubbles.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"

enum relation { MORE_OR_EQUAL, LESS_OR_EQUAL, EQUAL, NOT_EQUAL, MORE, LESS };

/* Longer spellings first. */
static const struct str relations[] = {
    [MORE_OR_EQUAL] = S_INIT(">="), [LESS_OR_EQUAL] = S_INIT("<="), [EQUAL] = S_INIT("=="),
    [NOT_EQUAL] = S_INIT("!="),     [MORE] = S_INIT(">"),           [LESS] = S_INIT("<"),
};

static bool holds(const struct gate *g, double value)
{
    switch ((enum relation)g->relation) {
    case MORE:
        return value > g->limit;
    case MORE_OR_EQUAL:
        return value >= g->limit;
    case LESS:
        return value < g->limit;
    case LESS_OR_EQUAL:
        return value <= g->limit;
    case EQUAL:
        return value == g->limit;
    case NOT_EQUAL:
        return value != g->limit;
    }
    return false;
}

/* Where metrics are described, by the prefix of their names. */
static const struct {
    struct str prefix;
    enum gate_scope scope;
    const struct record *record;
} places[] = {
    {S_INIT(""), GATE_STEPS, &step_metrics_record},
    {S_INIT(""), GATE_INVENTORY, &step_inventory_record},
    {S_INIT(""), GATE_ACCOUNTING, &account_metrics_record},
    {S_INIT("group"), GATE_GROUPS, &group_averages_record},
    {S_INIT("group"), GATE_GROUPS, &group_spreads_record},
    {S_INIT("global"), GATE_GLOBAL, &global_gaps_record},
};

/* "group" of "g12", whose number goes to `group`; other prefixes as they are. */
static struct str prefix_of(struct str text, size_t *group)
{
    uint64_t number;

    if (text.n < 2 || text.at[0] != 'g' || !num_u64(str_part(text, 1, text.n), &number))
        return text;
    *group = number;
    return S("group");
}

/* Looks for the metric; else `nearest` is one with a similar name, or NULL. */
static bool find_metric(struct str prefix, struct str name, struct gate *out, const char **nearest)
{
    size_t best = 4;

    *nearest = NULL;
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (size_t k = 0; k < places[i].record->n; k++) {
            const struct field *f = &places[i].record->fields[k];
            if (!str_equal(prefix, places[i].prefix) || f->shape != SHAPE_ONE)
                continue;
            size_t distance = str_distance(str_of(f->key), name, best);
            if (distance < best) {
                best = distance;
                *nearest = f->key;
            }
            if (str_equal(str_of(f->key), name)) {
                out->scope = places[i].scope;
                out->metric = f;
                return true;
            }
        }
    return false;
}

const char *gate_parse(struct arena *arena, const char *text, struct gate *out)
{
    struct str all = str_of(text), prefix = S("");
    const char *nearest;
    size_t at = all.n;

    *out = (struct gate){.text = text, .group = SIZE_MAX};
    for (unsigned i = 0; i < ARRAY_LEN(relations) && at == all.n; i++) {
        at = str_find(all, relations[i]);
        out->relation = i;
    }
    struct str name = str_trim(str_part(all, 0, at));
    size_t dot = str_find_char(name, '.');
    if (dot < name.n) {
        prefix = prefix_of(str_part(name, 0, dot), &out->group);
        name = str_part(name, dot + 1, name.n);
    }
    if (at == all.n || name.n == 0 ||
        !num_f64(str_part(all, at + relations[out->relation].n, all.n), &out->limit))
        return "it must be a metric, one of > >= < <= == != and a number";
    if (find_metric(prefix, name, out, &nearest))
        return NULL;
    return nearest != NULL ? arena_format(arena, "no such metric; did you mean %s?", nearest).at
                           : "no such metric";
}

/* As the document prints it. */
static double gate_value_of(const struct gate *gate, const void *record)
{
    struct field_value v = field_value(gate->metric, record, NULL);
    double value = v.type == VALUE_REAL ? v.real : v.type == VALUE_INT ? (double)v.i : (double)v.u;

    return gate->metric->form == FORM_MS ? value / 1e6 : value;
}

static const void *step_record(const struct gate *gate, struct study *st, size_t step)
{
    const struct bubbles *b = study_bubbles(st);

    if (gate->scope == GATE_ACCOUNTING)
        return &study_accounting(st)->steps[step];
    return gate->scope == GATE_STEPS ? (const void *)&b->metrics[step]
                                     : (const void *)&b->inventory[step];
}

bool gate_check(const struct gate *gate, struct study *st, struct str *where, double *value)
{
    const struct bubbles *b = study_bubbles(st);
    const struct steps *steps = study_steps(st);

    if (gate->scope == GATE_GROUPS) {
        const struct groups *groups = study_groups(st);
        for (size_t i = 0; i < groups->n; i++) {
            if (gate->group != SIZE_MAX && gate->group != i)
                continue;
            *value = gate_value_of(gate, &groups->at[i]);
            *where = arena_format(&st->scratch, "g%zu", i);
            if (holds(gate, *value))
                return true;
        }
        return false;
    }
    if (gate->scope == GATE_GLOBAL) {
        *value = gate_value_of(gate, &b->global);
        *where = S("global");
        return holds(gate, *value);
    }
    for (size_t i = 0; i < steps->n; i++) {
        *value = gate_value_of(gate, step_record(gate, st, i));
        *where = steps->at[i].id;
        if (holds(gate, *value))
            return true;
    }
    return false;
}
