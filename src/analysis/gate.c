#include "analysis/gate.h"

#include "analysis/bubbles.h"
#include "analysis/groups.h"
#include "analysis/steps.h"
#include "analysis/study.h"

enum compare { MORE, MORE_OR_EQUAL, LESS, LESS_OR_EQUAL, EQUAL, NOT_EQUAL };

struct condition {
    struct str name; /* without its prefix */
    struct str prefix;
    enum compare compare;
    double limit;
};

static const struct {
    struct str text;
    enum compare compare;
} compares[] = {
    /* Longer spellings first. */
    {S_INIT(">="), MORE_OR_EQUAL}, {S_INIT("<="), LESS_OR_EQUAL}, {S_INIT("=="), EQUAL},
    {S_INIT("!="), NOT_EQUAL},     {S_INIT(">"), MORE},           {S_INIT("<"), LESS},
};

static bool parse(struct str text, struct condition *out)
{
    for (size_t i = 0; i < ARRAY_LEN(compares); i++) {
        size_t at = str_find(text, compares[i].text);
        if (at == text.n)
            continue;
        struct str name = str_trim(str_part(text, 0, at));
        size_t dot = str_find_char(name, '.');
        *out = (struct condition){.compare = compares[i].compare, .name = name};
        if (dot < name.n) {
            out->prefix = str_part(name, 0, dot);
            out->name = str_part(name, dot + 1, name.n);
        }
        return out->name.n > 0 &&
               num_f64(str_part(text, at + compares[i].text.n, text.n), &out->limit);
    }
    return false;
}

static bool holds(const struct condition *c, double value)
{
    switch (c->compare) {
    case MORE:
        return value > c->limit;
    case MORE_OR_EQUAL:
        return value >= c->limit;
    case LESS:
        return value < c->limit;
    case LESS_OR_EQUAL:
        return value <= c->limit;
    case EQUAL:
        return value == c->limit;
    case NOT_EQUAL:
        return value != c->limit;
    }
    return false;
}

static const char *const step_names[] = {
    "service_ms",
    "device_busy_union_ms",
    "underfeed_ms",
    "underfeed_ratio",
    "prelaunch_gap_ms",
    "tail_gap_ms",
    "internal_bubble_total_ms",
    "largest_internal_bubble_ms",
    "bubble_count",
    "significant_bubble_count",
    "total_kernel_count",
    "ai_core_count",
    "ai_cpu_count",
    "comm_count",
    "kernel_duration_sum_ms",
    "kernel_wait_sum_ms",
    "stream_count",
};

static double step_value(const struct bubbles *b, size_t step, size_t name)
{
    const struct step_metrics *m = &b->metrics[step];
    const struct step_inventory *inv = &b->inventory[step];
    const double values[ARRAY_LEN(step_names)] = {
        (double)m->service / 1e6,
        (double)m->busy / 1e6,
        (double)m->underfeed / 1e6,
        m->underfeed_ratio,
        (double)m->prelaunch / 1e6,
        (double)m->tail / 1e6,
        (double)m->internal / 1e6,
        (double)m->largest_internal / 1e6,
        (double)m->bubble_count,
        (double)m->significant_count,
        (double)inv->kernels,
        (double)inv->ai_core,
        (double)inv->ai_cpu,
        (double)inv->comm,
        (double)inv->duration_sum / 1e6,
        (double)inv->wait_sum / 1e6,
        (double)inv->n_streams,
    };

    return values[name];
}

static const char *const global_names[] = {"capture_span_ms", "device_busy_union_ms",
                                           "device_gap_ms", "device_gap_ratio", "largest_gap_ms"};

static double global_value(const struct global_gaps *g, size_t name)
{
    const double values[ARRAY_LEN(global_names)] = {
        (double)nanos_sub(g->span.end, g->span.begin) / 1e6,
        (double)g->busy / 1e6,
        (double)g->gap / 1e6,
        g->gap_ratio,
        (double)g->largest / 1e6,
    };

    return values[name];
}

/* "service_ms_p95" of a group; false when there is no such metric. */
static bool group_value(const struct group *g, struct str name, double *out)
{
    for (size_t m = 0; m < GROUP_METRICS; m++) {
        struct str base = str_of(group_metric_names[m]);
        const struct spread *s = &g->metrics[m];
        double scale = m == GROUP_UNDERFEED_RATIO ? 1 : 1e6;
        if (!str_starts(name, base))
            continue;
        struct str suffix = str_part(name, base.n, name.n);
        if (str_equal(suffix, S("_avg")))
            *out = s->avg / scale;
        else if (str_equal(suffix, S("_median")))
            *out = s->median / scale;
        else if (str_equal(suffix, S("_p90")))
            *out = s->p90 / scale;
        else if (str_equal(suffix, S("_p95")))
            *out = s->p95 / scale;
        else
            continue;
        return true;
    }
    return false;
}

static size_t find(const char *const *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(str_of(names[i]), name))
            return i;
    return n;
}

static struct gate_outcome no_name(const char *const *names, size_t n, struct str name)
{
    struct gate_outcome out = {.result = GATE_NO_NAME};
    size_t best = 4;

    for (size_t i = 0; i < n; i++) {
        size_t distance = str_distance(str_of(names[i]), name, best);
        if (distance < best) {
            best = distance;
            out.nearest = names[i];
        }
    }
    return out;
}

static struct gate_outcome check_steps(struct study *st, const struct condition *c)
{
    const struct steps *steps = study_steps(st);
    size_t name = find(step_names, ARRAY_LEN(step_names), c->name);

    if (name == ARRAY_LEN(step_names))
        return no_name(step_names, ARRAY_LEN(step_names), c->name);
    for (size_t i = 0; i < steps->n; i++) {
        double value = step_value(study_bubbles(st), i, name);
        if (holds(c, value))
            return (struct gate_outcome){GATE_REACHED, steps->at[i].id, value, NULL};
    }
    return (struct gate_outcome){.result = GATE_CLEAR};
}

static struct gate_outcome check_global(struct study *st, const struct condition *c)
{
    size_t name = find(global_names, ARRAY_LEN(global_names), c->name);

    if (name == ARRAY_LEN(global_names))
        return no_name(global_names, ARRAY_LEN(global_names), c->name);
    double value = global_value(&study_bubbles(st)->global, name);
    return (struct gate_outcome){holds(c, value) ? GATE_REACHED : GATE_CLEAR, S("global"), value,
                                 NULL};
}

static struct gate_outcome check_groups(struct study *st, const struct condition *c)
{
    const struct groups *groups = study_groups(st);
    struct group empty = {0};
    uint64_t only = UINT64_MAX;
    double value;

    if (!group_value(&empty, c->name, &value))
        return no_name(group_metric_names, GROUP_METRICS, c->name);
    if (!str_equal(c->prefix, S("group")))
        num_u64(str_part(c->prefix, 1, c->prefix.n), &only);
    for (size_t i = 0; i < groups->n; i++) {
        if (only != UINT64_MAX && only != i)
            continue;
        group_value(&groups->at[i], c->name, &value);
        if (holds(c, value))
            return (struct gate_outcome){GATE_REACHED, arena_format(&st->scratch, "g%zu", i), value,
                                         NULL};
    }
    return (struct gate_outcome){.result = GATE_CLEAR};
}

static bool is_group(struct str prefix)
{
    uint64_t number;

    return str_equal(prefix, S("group")) ||
           (prefix.n > 1 && prefix.at[0] == 'g' && num_u64(str_part(prefix, 1, prefix.n), &number));
}

struct gate_outcome gate_check(struct study *st, struct str condition)
{
    struct condition c;

    if (!parse(condition, &c))
        return (struct gate_outcome){.result = GATE_SYNTAX};
    if (c.prefix.n == 0)
        return check_steps(st, &c);
    if (str_equal(c.prefix, S("global")))
        return check_global(st, &c);
    if (is_group(c.prefix))
        return check_groups(st, &c);
    return (struct gate_outcome){.result = GATE_NO_NAME};
}
