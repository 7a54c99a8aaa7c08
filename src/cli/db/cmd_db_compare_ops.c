/*
 * strata db compare-ops: predicted against measured time of every kernel, scenario by scenario.
 */
#include <string.h>

#include "base/files/fs.h"
#include "cli/db/opt_db.h"
#include "cli/page_answer.h"
#include "opdb/compare/compare_ops.h"
#include "opdb/compare/compare_shapes.h"
#include "page/pages.h"

struct args {
    const char *trace_dir, *data_dir, *output;
    struct place_args place;
    struct words scenarios;
};

static const struct args defaults = {
    .trace_dir = "docs/perf_database/forward_pass_traces",
};

static const struct opt options[] = {
    OPT_STRING(0, "trace-dir", "DIR", struct args, trace_dir,
               "folder with measured traces of the standard scenarios"),
    OPT_STRING(0, "data-dir", "DIR", struct args, data_dir,
               "folder with op_mapping.yaml; same as --database-path"),
    OPT_STRING(0, "output", "FILE", struct args, output,
               "JSON file to write (default: results/op_comparison.json)"),
    OPT_LIST(0, "scenario", "NAME:TC:PROF[:M6]", struct args, scenarios,
             "files to compare instead; repeatable"),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db compare-ops --data-dir examples/perfdb-compare/db --output ops.json --scenario "
     "decode:examples/perfdb-compare/predicted.json:examples/perfdb-compare/measured.csv",
     "one scenario"},
};

struct scenario {
    const char *name, *trace, *measured, *m6; /* m6: NULL when there is none */
    const char *missing;                      /* a file that is not there: skipped */
    struct ops_rows rows;
    struct plot plot;
};

struct scenarios {
    struct scenario *at;
    size_t n;
    const char *written; /* the file of write_json(); NULL: the comparison failed */
};

/* The scenarios of the public tool; measured traces are looked for in --trace-dir. */
static const struct scenario usual[] = {
    {.name = "Qwen3 PF",
     .trace = "results/qwen3_pf_trace.json",
     .m6 = "results/qwen3_prefill_m6.json",
     .measured = "qwen3-32b_pf_4112tok.csv"},
    {.name = "Qwen3 DC",
     .trace = "results/qwen3_dc_trace.json",
     .m6 = "results/qwen3_decode_m6.json",
     .measured = "qwen3-32b_dc_16tok.csv"},
    {.name = "DSv3 PF",
     .trace = "results/dsv3_pf_trace.json",
     .m6 = "results/dsv3_prefill_m6.json",
     .measured = "dsv3_pf_4099tok.csv"},
    {.name = "DSv3 DC",
     .trace = "results/dsv3_dc_trace.json",
     .m6 = "results/dsv3_decode_m6.json",
     .measured = "dsv3_dc_1tok.csv"},
};

/* NAME:TC:PROF[:M6]; false when a part is missing. */
static bool take_scenario(struct session *s, const char *text, struct scenario *out)
{
    struct str rest = str_of(text), part;
    const char **const parts[] = {&out->name, &out->trace, &out->measured, &out->m6};
    size_t n = 0;

    for (; n < ARRAY_LEN(parts) && str_split(&rest, ':', &part); n++) {
        if (part.n == 0)
            return false;
        *parts[n] = arena_cstr(&s->arena, part);
    }
    return n >= 3 && rest.at == NULL;
}

static int take_scenarios(struct session *s, const struct args *args, struct scenarios *out)
{
    size_t given = args->scenarios.n;

    out->n = given > 0 ? given : ARRAY_LEN(usual);
    out->at = ARENA_ARRAY(&s->arena, struct scenario, out->n);
    for (size_t i = 0; i < out->n; i++) {
        struct scenario *one = &out->at[i];
        if (given == 0) {
            *one = usual[i];
            one->measured = fs_join(&s->arena, args->trace_dir, one->measured);
        } else if (!take_scenario(s, args->scenarios.at[i], one)) {
            return session_usage(s, "--scenario takes NAME:TC:PROF[:M6], not '%s'",
                                 args->scenarios.at[i]);
        }
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->at[k].name, one->name) == 0)
                return session_usage(s, "two scenarios are named '%s'", one->name);
    }
    for (size_t i = 0; i < out->n; i++)
        ops_rows_init(&out->at[i].rows);
    return CODE_DONE;
}

/* A scenario with missing files is skipped, with a message. */
static bool is_missing(struct session *s, struct scenario *one)
{
    const char *const files[] = {one->m6, one->measured, one->trace};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (files[i] != NULL && !fs_exists(files[i])) {
            diag_add(&s->diag, SEV_NOTE, "perfdb.scenario-skipped",
                     (struct where){.path = files[i]}, "scenario %s skipped: no such file",
                     one->name);
            one->missing = files[i];
            return true;
        }
    return false;
}

static enum status ops_compare(struct session *s, struct scenario *one, const struct tree *mapping,
                               struct predicted *p, struct measured *m)
{
    double passes = 1;

    if (one->m6 != NULL)
        TRY(ops_passes(one->m6, &passes, &s->diag));
    TRY(measured_read(m, one->measured, &s->diag));
    session_read(s, one->measured, "kernel-details", m->table.n_rows, 0);
    ops_rows_measure(&one->rows, m, passes);
    TRY(predicted_read(p, one->trace, &s->diag));
    session_read(s, one->trace, "predicted-trace", p->events.n, 0);
    return ops_rows_predict(&one->rows, p, mapping, &s->diag);
}

static enum status run_scenario(struct session *s, struct scenario *one, const struct tree *mapping)
{
    struct predicted p = {0};
    struct measured m = {0};

    if (is_missing(s, one))
        return ST_OK;
    enum status st = ops_compare(s, one, mapping, &p, &m);
    predicted_free(&p);
    measured_free(&m);
    if (st == ST_OK)
        ops_rows_sort(&one->rows);
    return st;
}

/* The file: scenarios by name, those that were left out aside. */
static bool write_json(const void *what, struct sink sink)
{
    const struct scenarios *all = what;
    struct json_writer j;

    json_write_init(&j, sink, JSON_INDENTED);
    j.has_open_end = true;
    json_write_object(&j);
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].missing == NULL) {
            const struct ops_rows *rows = &all->at[i].rows;
            json_write_key(&j, str_of(all->at[i].name));
            record_json_list(&j, &ops_row_record, rows->at.at, rows->at.n, NULL);
        }
    json_write_end(&j);
    return json_write_finish(&j);
}

static bool scenarios_print(const void *what, struct sink sink)
{
    const struct scenarios *all = what;
    struct text out = {0};

    for (size_t i = 0; i < all->n; i++) {
        const struct scenario *one = &all->at[i];
        if (one->missing != NULL)
            text_format(&out, "SKIP %s: [Errno 2] No such file or directory: '%s'\n", one->name,
                        one->missing);
        else
            ops_rows_print(&one->rows, one->name, text_sink(&out));
    }
    if (all->written != NULL)
        text_format(&out, "\nSaved to %s\n", all->written);
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}

static struct field_value is_skipped(const void *of, const struct record_env *env)
{
    (void)env;
    return value_bool(((const struct scenario *)of)->missing != NULL);
}

static const struct field scenario_fields[] = {
    FIELD(struct scenario, name, "name"),
    FIELD_CALC(FIELD_BOOL, "is_skipped", is_skipped),
    FIELD(struct scenario, missing, "missing_file"),
    FIELD(struct scenario, rows.predicted_us, "tc_total_us", .form = FORM_POINT, .decimals = 1),
    FIELD(struct scenario, rows.measured_us, "prof_per_fwd_us", .form = FORM_POINT, .decimals = 1),
    FIELD_LIST(struct scenario, rows.at.at, rows.at.n, "rows", &ops_row_record),
    FIELD_SPLICE(struct scenario, plot, &plot_record),
};
static const struct record scenario_record = RECORD(struct scenario, scenario_fields);

static struct field_value is_complete(const void *of, const struct record_env *env)
{
    (void)env;
    return value_bool(((const struct scenarios *)of)->written != NULL);
}

static const struct field scenarios_fields[] = {
    FIELD_CALC(FIELD_BOOL, "is_complete", is_complete,
               .about = "false: one of them failed, and the rest was left out"),
    FIELD_LIST(struct scenarios, at, n, "scenarios", &scenario_record),
};

static const struct schema scenarios_schema = {
    .name = "strata.db-compare-ops/1",
    .title = "predicted and measured time per kernel and scenario",
    .record = &(const struct record)RECORD(struct scenarios, scenarios_fields),
};

static void ops_draw(struct session *s, struct scenario *one)
{
    const struct ops_rows *rows = &one->rows;
    struct plot_point *points = ARENA_ARRAY(&s->arena, struct plot_point, rows->at.n);

    for (size_t i = 0; i < rows->at.n; i++) {
        const struct ops_row *row = &rows->at.at[i];
        points[i] = (struct plot_point){row->kernel, S(""), row->measured_us, row->predicted_us, 0};
    }
    plot_make(&one->plot, &s->arena, points, rows->at.n);
}

static void scenarios_fill_page(struct page_file *page, const void *what)
{
    const struct scenarios *all = what;
    struct shape_rows rows;

    shape_rows_init(&rows);
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < all->at[i].rows.at.n; k++) {
            const struct ops_row *row = &all->at[i].rows.at.at[k];
            vec_push(&rows.at, ((struct shape_row){
                                   .kernel = row->kernel,
                                   .shapes = str_of(all->at[i].name),
                                   .predicted_us = row->predicted_us,
                                   .measured_us = row->measured_us,
                                   .predicted_n = row->predicted_n,
                                   .measured_n = (uint64_t)row->measured_count,
                                   .source = str_of(row->status),
                                   .delta_pct = ops_error(row->predicted_us, row->measured_us),
                               }));
        }
    page_shapes(page, &rows, all->n > 0 ? all->at[0].measured : "",
                all->n > 0 ? all->at[0].trace : "");
    shape_rows_free(&rows);
}

static enum status scenarios_save(struct session *s, const struct scenarios *all)
{
    const char **inputs = ARENA_ARRAY(&s->arena, const char *, 3 * all->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        inputs[n++] = all->at[i].trace;
        inputs[n++] = all->at[i].measured;
        if (all->at[i].m6 != NULL)
            inputs[n++] = all->at[i].m6;
    }
    TRY(db_output(s, all->written, inputs, write_json, all));
    session_wrote(s, all->written);
    return ST_OK;
}

static void scenarios_give(struct session *s, struct scenarios *all)
{
    for (size_t i = 0; i < all->n; i++)
        ops_draw(s, &all->at[i]);
    session_give(s, &(struct answer){.schema = &scenarios_schema,
                                     .origin = "measured",
                                     .result = all,
                                     .print = scenarios_print,
                                     .names_files = true});
}

/* After a failure those before it are shown. */
static enum status scenarios_compare(struct session *s, const struct args *args,
                                     const struct tree *mapping, struct scenarios *all)
{
    const char *path = db_output_path(s, args->output);
    enum status st = ST_OK;

    for (size_t i = 0; i < all->n && st == ST_OK; i++)
        if ((st = run_scenario(s, &all->at[i], mapping)) != ST_OK)
            all->n = i;
    if (st == ST_OK) {
        all->written = path != NULL ? path : "results/op_comparison.json";
        st = scenarios_save(s, all);
    }
    if (st != ST_OK)
        all->written = NULL;
    scenarios_give(s, all);
    return st == ST_OK ? page_answer_fill(s, PAGE_DATABASE, scenarios_fill_page, all) : st;
}

/* The folder of the mapping; NULL when no option names one and none is found. */
static int find_folder(struct session *s, const struct args *args, const char **dir)
{
    static const struct place_args none;
    struct diag quiet;

    *dir = args->data_dir;
    if (*dir != NULL)
        return CODE_DONE;
    if (memcmp(&args->place, &none, sizeof(none)) != 0)
        return db_place(s, &args->place, dir);
    diag_init(&quiet);
    if (place_resolve(&s->arena, &args->place, dir, &quiet) != ST_OK)
        *dir = NULL;
    diag_fini(&quiet);
    return CODE_DONE;
}

/* Without a mapping no operator is free, and a miss is shown under its own name. */
static enum status read_mapping(struct session *s, const char *dir, const struct tree **out)
{
    const char *path = fs_join(&s->arena, dir != NULL ? dir : ".", "op_mapping.yaml");

    if (dir != NULL && fs_exists(path))
        return yaml_read_file(&s->arena, path, out, &s->diag);
    diag_add(&s->diag, dir != NULL ? SEV_WARN : SEV_NOTE, "perfdb.no-mapping",
             (struct where){.path = dir},
             "no op_mapping.yaml: zero-cost operators are compared too");
    return ST_OK;
}

static int compare_ops_run(struct session *s, const void *given)
{
    const struct args *args = given;
    const struct tree *mapping = NULL;
    const char *dir;
    struct scenarios all = {0};

    if (db_output_is_stdout(s, args->output))
        return session_usage(s, "compare-ops writes a JSON file; --json prints a document instead");
    TRY_CODE(take_scenarios(s, args, &all));
    TRY_CODE(find_folder(s, args, &dir));
    enum status st = read_mapping(s, dir, &mapping);
    size_t n = all.n;
    if (st == ST_OK)
        st = scenarios_compare(s, args, mapping, &all);
    for (size_t i = 0; i < n; i++)
        ops_rows_free(&all.at[i].rows);
    return db_code(st);
}

const struct command command_db_compare_ops = {
    .name = "compare-ops",
    .group = GROUP_DATABASE,
    .summary = "compare predicted and measured time per kernel",
    .usage = "[OPTIONS]",
    .details =
        "A scenario is a predicted trace, a measured trace and, optionally, an M6 document with "
        "the number of measured forward passes. For each kernel the output has both times and "
        "counts, their deviation in percent, and whether the model found the kernel in the "
        "database (HIT), did not (MISS) or sometimes did (PARTIAL). The first 15 kernels are "
        "printed.\n"
        "\n"
        "Without --scenario the four scenarios of the public tool are compared, if their files "
        "exist: results/qwen3_pf_trace.json and so on, with measured traces in --trace-dir "
        "(default: docs/perf_database/forward_pass_traces). op_mapping.yaml lists the zero-cost "
        "operators; its entries may be under operator_mappings or at the top level. Without a "
        "database or without that file, all operators are compared.\n"
        "\n"
        "--json adds plot data: measured against modelled time, a histogram of the errors and the "
        "worst offenders.",
    .see = "docs/perfdb-compare.md",
    .common = COMMON_OUT | COMMON_HTML,
    .schemas = {&scenarios_schema},
    COMMAND_PARTS,
    .run = compare_ops_run,
};
