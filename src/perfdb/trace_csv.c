#include "perfdb/trace_csv.h"

enum { OF_NAME = -1, OF_DUR = -2 };

static const struct column {
    const char *name;
    int from; /* enum predicted_arg, or a member of the event */
} columns[] = {
    {"op_name", OF_NAME},
    {"kernel_type", TRACE_KERNEL_TYPE},
    {"simulation_shapes", TRACE_SHAPES},
    {"dur_us", OF_DUR},
    {"source", TRACE_SOURCE},
    {"confidence", TRACE_CONFIDENCE},
    {"composite", TRACE_COMPOSITE},
    {"sub_kernel_durations", TRACE_SUB_DURATIONS},
    {"kernel_shapes", TRACE_KERNEL_SHAPES},
    {"shape_match_rule", TRACE_MATCH_RULE},
    {"sub_kernel_shapes", TRACE_SUB_SHAPES},
};

void trace_csv_fill(const struct predicted *p, struct table *t)
{
    struct str names[ARRAY_LEN(columns)];

    table_init(t, p->path);
    for (size_t c = 0; c < ARRAY_LEN(columns); c++)
        names[c] = str_of(columns[c].name);
    table_arrange(t, names, ARRAY_LEN(names));
    for (size_t i = 0; i < p->events.n; i++) {
        const struct predicted_event *e = &p->events.at[i];
        size_t row = table_add_row(t);
        for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
            int from = columns[c].from;
            struct str own = from == OF_NAME ? e->name : e->dur_text;
            table_set(t, row, (int)c, from >= 0 ? e->args[from] : own);
        }
    }
}
