/*
 * Several kernels that were simulated one after the other: what they come to together.
 */
#include "base/text/inert.h"
#include "cli/kernel/pto_sim_show.h"
#include "report/report.h"
#include "text/pto.h"

void pto_sim_result_init(struct pto_sim_result *r, size_t n, size_t top, struct arena *arena)
{
    *r = (struct pto_sim_result){.n_given = n, .top = top, .folder = S("PTO")};
    r->at = ARENA_ARRAY(arena, struct pto_sim_run, n);
    memset(r->at, 0, n * sizeof(*r->at));
    if (n == 1)
        pto_kernel_init(&r->at[0].k);
}

void pto_sim_result_free(struct pto_sim_result *r)
{
    size_t n = r->n_given == 1 ? 1 : r->n;

    for (size_t i = 0; i < n; i++) {
        struct pto_sim_run *run = &r->at[i];
        if (run->has_view)
            incore_view_free(&run->view);
        pto_lines_free(&run->lines);
        pto_advices_free(&run->advices);
        vec_free(&run->what_ifs);
        pto_kernel_free(&run->k);
    }
    vec_free(&r->failed);
}

/* Bounds most of the kernels: any limit before none. */
static void count_bounds(struct pto_sim_result *r)
{
    size_t by[LIMITS] = {0};

    for (size_t i = 0; i < r->n; i++)
        by[r->at[i].k.outcome.limits.bound]++;
    r->bound = LIMIT_NOTHING;
    for (size_t i = 0; i < r->n; i++) {
        enum limit x = r->at[i].k.outcome.limits.bound;
        if (x != LIMIT_NOTHING && (r->bound == LIMIT_NOTHING || by[x] > by[r->bound]))
            r->bound = x;
    }
    r->bound_n = by[r->bound];
}

void pto_sim_add(struct pto_sim_result *r, const char *name)
{
    struct pto_sim_run *run = &r->at[r->n++];

    run->name = name;
    r->cycles += run->k.total;
    r->us += run->k.total_us;
    if (r->longest == NULL || run->k.total_us > r->longest->k.total_us)
        r->longest = run;
    count_bounds(r);
}

void pto_sim_add_failure(struct pto_sim_result *r, const char *path, const struct diag_entry *e,
                         struct arena *arena)
{
    struct pto_sim_failure f = {.path = path};

    if (e != NULL)
        f = (struct pto_sim_failure){path, arena_cstr(arena, str_of(e->first[0].text)), e->code,
                                     e->first[0].where.line};
    vec_push(&r->failed, f);
}

static void list_add_verdict(const struct pto_sim_result *result, struct report *r)
{
    const struct pto_sim_run *longest = result->longest;

    if (longest == NULL) {
        report_line_text(r, REPORT_MESSAGE(r, &pto_text.list_none, PLACE("n", result->failed.n)));
        return;
    }
    struct str bound = message_word(r->lang, str_of(limit_name(result->bound)));
    struct str its = message_word(r->lang, str_of(limit_name(longest->k.outcome.limits.bound)));
    report_line_text(
        r, REPORT_MESSAGE(
               r, &pto_text.list_verdict, PLACE("n", result->n),
               place_quantity("time", result->us * 1000, UNIT_NS), PLACE("most", result->bound_n),
               PLACE("bound", bound), PLACE("name", str_basename(str_of(longest->k.path))),
               place_quantity("longest", longest->k.total_us * 1000, UNIT_NS), PLACE("its", its)));
}

static void list_add_table(const struct pto_sim_result *result, struct report *r)
{
    static const struct column columns[] = {{"cycles", COLUMN_NUMBER, UNIT_COUNT},
                                            {"us", COLUMN_NUMBER, UNIT_US},
                                            {"bound", COLUMN_TEXT, 0},
                                            {"kernel", COLUMN_TEXT, 0}};

    if (result->n == 0)
        return;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < result->n; i++) {
        const struct pto_sim_run *run = &result->at[i];
        const struct pto_outcome *o = &run->k.outcome;
        struct str degenerate =
            o->is_degenerate ? report_message(r, &pto_text.mark_degenerate) : S("");
        struct str partial = o->is_complete ? S("") : report_message(r, &pto_text.mark_partial);
        table_number(t, (double)run->k.total);
        table_number(t, run->k.total_us * 1000);
        table_word(r, t, limit_name(o->limits.bound));
        table_text(r, t,
                   arena_format(&r->arena, "%s%.*s%.*s", run->name, STR_ARGS(degenerate),
                                STR_ARGS(partial)));
    }
}

void pto_sim_describe_list(const struct pto_sim_result *result, struct report *r)
{
    list_add_verdict(result, r);
    list_add_table(result, r);
    for (size_t i = 0; i < result->failed.n; i++) {
        const struct pto_sim_failure *f = &result->failed.at[i];
        struct str text = arena_format(&r->arena, "  %s:%llu: %s [%s]", f->path,
                                       (unsigned long long)f->line, f->text, f->code);
        text = inert_line(&r->arena, text);
        if (i == 0)
            report_text(r, text);
        else
            report_line_text(r, text);
    }
    report_text(r,
                REPORT_MESSAGE(r, &pto_text.list_sum, PLACE("n", result->n),
                               PLACE("cycles", result->cycles), PLACE("failed", result->failed.n)));
}

static void pto_sim_result_describe(const void *result, struct report *r)
{
    const struct pto_sim_result *all = result;

    if (all->n_given == 1)
        pto_sim_describe(&all->at[0], all->top, r);
    else
        pto_sim_describe_list(all, r);
}

struct answer pto_sim_answer(const struct pto_sim_result *r)
{
    return (struct answer){
        .schema = &pto_sim_schema,
        .origin = "simulated",
        .result = r,
        .title = r->n_given > 1 ? r->folder : r->at[0].k.outcome.kernel,
        .describe = pto_sim_result_describe,
    };
}
