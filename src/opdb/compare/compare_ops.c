/*
 * Predicted against measured time by kernel: sums, the document and the table of the public tool.
 */
#include "opdb/compare/compare_ops.h"

#include <math.h>
#include <stdlib.h>

#include "base/formats/json_read.h"
#include "base/text/num.h"
#include "base/text/text.h"
#include "capture/classify.h"
#include "opdb/compare/compare_literal.h"

enum { SHOWN_PIDS = 16 };

/* One operator of the trace, looked up in the mapping once. */
struct compared_op {
    struct str name;     /* without torch.ops. */
    struct str fallback; /* kernel of a prediction without one */
    bool is_free, is_all_reduce;
};

void ops_rows_init(struct ops_rows *rows)
{
    *rows = (struct ops_rows){0};
    arena_init(&rows->arena);
    intern_init(&rows->kernels);
}

void ops_rows_free(struct ops_rows *rows)
{
    vec_free(&rows->at);
    intern_fini(&rows->kernels);
    arena_free(&rows->arena);
}

static struct ops_row *ops_row_of(struct ops_rows *rows, struct str kernel)
{
    struct arena scratch;

    /* With a letter in front, as the empty text has an id of its own. */
    arena_init(&scratch);
    size_t i = intern_put(&rows->kernels, arena_format(&scratch, "k%.*s", STR_ARGS(kernel))) - 1;
    arena_free(&scratch);
    if (i == rows->at.n)
        vec_push(&rows->at, ((struct ops_row){.kernel = arena_str(&rows->arena, kernel)}));
    return &rows->at.at[i];
}

static enum status bad_passes(const char *path, struct diag *d, const char *problem)
{
    return diag_fail(d, ST_FORMAT, "perfdb.m6-document", (struct where){.path = path}, "%s",
                     problem);
}

static enum status read_passes(struct json *j, const char *path, double *passes, struct diag *d)
{
    struct str key, value;

    if (json_next(j) != JSON_OBJECT)
        return bad_passes(path, d, "not an M6 document: not a JSON object");
    while (json_key(j, &key)) {
        if (!str_equal(key, S("n_forward_passes")))
            continue;
        if (!json_value(j, &value) || j->token != JSON_NUMBER || !num_f64(value, passes) ||
            *passes <= 0)
            return bad_passes(path, d, "n_forward_passes is not a number above 0");
    }
    if (j->token != JSON_OBJECT_END || json_next(j) != JSON_END)
        return bad_passes(path, d, "not an M6 document: damaged JSON");
    return ST_OK;
}

enum status ops_passes(const char *path, double *passes, struct diag *d)
{
    struct mapfile map;
    struct json j;

    *passes = 1;
    TRY(mapfile_open(&map, path, d));
    struct str text = map.text;
    str_skip(&text, S("\xef\xbb\xbf"));
    json_open(&j, text, JSON_STRICT);
    enum status st = read_passes(&j, path, passes, d);
    mapfile_close(&map);
    return st;
}

static void ops_measure(struct ops_rows *rows, struct str kernel, double us)
{
    struct ops_row *row = ops_row_of(rows, kernel);

    row->measured_us += us;
    row->measured_n++;
}

static double time_or_0(struct str text)
{
    double us;

    return measured_time(text, &us) ? us : 0;
}

void ops_rows_measure(struct ops_rows *rows, const struct measured *m, double passes)
{
    struct twins twins;

    twins_init(&twins);
    for (size_t i = 0; i < m->table.n_rows; i++) {
        struct measured_row row = measured_row(m, i);
        double us = time_or_0(row.duration);
        if (row.type.n == 0 || measured_is_helper(row.type))
            continue;
        if (classify_is_collective(row.type))
            twins_put(&twins, time_or_0(row.start), row.type, S(""), us);
        else
            ops_measure(rows, row.type, us);
    }
    for (size_t i = 0; i < twins.at.n; i++)
        ops_measure(rows, twins.at.at[i].type, twins.at.at[i].us);
    twins_free(&twins);
    for (size_t i = 0; i < rows->at.n; i++) {
        rows->at.at[i].measured_us /= passes;
        rows->at.at[i].measured_n /= passes;
    }
}

static bool is_true(const struct tree *node)
{
    static const char *const words[] = {"false", "no", "off", "0", "0.0", ""};

    if (node == NULL || yaml_is_null(node))
        return false;
    if (node->kind != TREE_TEXT)
        return node->n > 0;
    if (node->is_quoted)
        return node->text.n > 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal_nocase(node->text, str_of(words[i])))
            return false;
    return true;
}

static const struct tree *find_entry(const struct tree *mapping, struct str name)
{
    const struct tree *places[] = {tree_get(mapping, S("operator_mappings")), mapping};
    const struct str names[] = {compare_trace_operator(name), name};

    for (size_t p = 0; p < ARRAY_LEN(places); p++)
        for (size_t n = 0; n < ARRAY_LEN(names); n++) {
            const struct tree *entry = tree_get(places[p], names[n]);
            if (entry != NULL && entry->kind == TREE_MAP)
                return entry;
        }
    return NULL;
}

static struct compared_op kernel_of_entry(const struct tree *mapping, struct str name)
{
    const struct tree *entry = find_entry(mapping, name);
    const struct tree *kernel = tree_get(entry, S("kernel_type"));
    bool has_kernel =
        kernel != NULL && kernel->kind == TREE_TEXT && !yaml_is_null(kernel) && kernel->text.n > 0;

    return (struct compared_op){
        .name = compare_trace_operator(name),
        .fallback = has_kernel ? kernel->text : name,
        .is_free = is_true(tree_get(entry, S("zero_cost"))),
        .is_all_reduce = str_contains_nocase(name, S("all_reduce")),
    };
}

enum outcome { HIT, MISS };

static void ops_predict(struct ops_rows *rows, struct str kernel, double us,
                        const struct compared_op *op, enum outcome outcome)
{
    struct ops_row *row = ops_row_of(rows, kernel);
    size_t i = 0;

    row->predicted_us += us;
    row->predicted_n++;
    row->hits += outcome == HIT;
    row->misses += outcome == MISS;
    while (i < row->n_names && !str_equal(row->names[i], op->name))
        i++;
    if (i == row->n_names && i < OPS_NAMES)
        row->names[row->n_names++] = arena_str(&rows->arena, op->name);
}

static void predict_hit(struct ops_rows *rows, const struct predicted_event *e,
                        const struct compared_op *op, struct arena *scratch)
{
    struct kernel_share *shares;
    struct str *kernels;
    bool has_all_reduce = false;

    size_t n = literal_shares(scratch, e->args[TRACE_SUB_DURATIONS], &shares);
    for (size_t i = 0; i < n; i++)
        ops_predict(rows, shares[i].kernel, shares[i].us, op, HIT);
    if (n > 0)
        return;
    n = compare_trace_kernels(scratch, e->args[TRACE_KERNEL_TYPE], &kernels);
    for (size_t i = 0; i < n; i++) {
        ops_predict(rows, kernels[i], e->dur / (double)n, op, HIT);
        has_all_reduce = has_all_reduce || str_equal(kernels[i], S("hcom_allReduce_"));
    }
    /* A fused operator that also reduces: the collective is there, its time is in the sum. */
    if (op->is_all_reduce && !has_all_reduce)
        ops_predict(rows, S("hcom_allReduce_"), 0, op, HIT);
}

ORDER_BY(by_pid, struct predicted_process,
         ORDER(x->pid.n, y->pid.n) ?: str_compare(x->pid, y->pid));

/* The processes that complete events belong to, as `{0, 1}`; `last` is one of them. */
static struct str list_processes(const struct predicted *p, struct arena *arena, size_t *count,
                                 uint32_t *last)
{
    struct predicted_process *busy = ARENA_ARRAY(arena, struct predicted_process, p->processes.n);
    struct str list = S("");

    *count = 0;
    for (size_t i = 0; i < p->processes.n; i++)
        if (p->processes.at[i].events > 0) {
            busy[(*count)++] = p->processes.at[i];
            *last = (uint32_t)i;
        }
    qsort(busy, *count, sizeof(*busy), by_pid);
    for (size_t i = 0; i < *count && i < SHOWN_PIDS; i++) {
        const char *quote = busy[i].is_text ? "'" : "";
        list = arena_format(arena, "%.*s%s%s%.*s%s", STR_ARGS(list), i > 0 ? ", " : "", quote,
                            STR_ARGS(busy[i].pid), quote);
    }
    return arena_format(arena, "{%.*s%s}", STR_ARGS(list), *count > SHOWN_PIDS ? ", ..." : "");
}

static enum status choose_process(const struct predicted *p, struct arena *arena, uint32_t *out,
                                  struct diag *d)
{
    size_t count;

    if (p->named >= 0) {
        *out = (uint32_t)p->named;
        return ST_OK;
    }
    struct str list = list_processes(p, arena, &count, out);
    if (count == 1) {
        diag_add(d, SEV_WARN, "perfdb.process-unnamed", (struct where){.path = p->path},
                 "no process is named profiling or empirical; using the only one, %.*s",
                 STR_ARGS(list));
        return ST_OK;
    }
    enum status st =
        diag_fail(d, ST_FORMAT, "perfdb.process-ambiguous", (struct where){.path = p->path},
                  "cannot identify the profiling process; found PIDs: %.*s", STR_ARGS(list));
    diag_hint(d, "try", "a process_name event with \"empirical\" or \"profiling\"");
    return st;
}

enum status ops_rows_predict(struct ops_rows *rows, const struct predicted *p,
                             const struct tree *mapping, struct diag *d)
{
    struct intern names;
    VEC_OF(struct compared_op) ops = {0};
    struct arena scratch;
    uint32_t process = 0;

    TRY(choose_process(p, &rows->arena, &process, d));
    intern_init(&names);
    arena_init(&scratch);
    vec_push(&ops, kernel_of_entry(mapping, S(""))); /* id 0 */
    for (size_t i = 0; i < p->events.n; i++) {
        const struct predicted_event *e = &p->events.at[i];
        struct arena_mark mark = arena_mark(&scratch);
        if (e->process != process)
            continue;
        strid id = intern_put(&names, e->name);
        if (id == ops.n)
            vec_push(&ops, kernel_of_entry(mapping, e->name));
        const struct compared_op *op = &ops.at[id];
        struct str type = e->args[TRACE_KERNEL_TYPE];
        if (!op->is_free && type.n > 0 && !str_equal(type, S("?")))
            predict_hit(rows, e, op, &scratch);
        else if (!op->is_free)
            ops_predict(rows, op->fallback, e->dur, op, MISS);
        arena_rewind(&scratch, mark);
    }
    arena_free(&scratch);
    intern_fini(&names);
    vec_free(&ops);
    return ST_OK;
}

static double larger(const struct ops_row *row)
{
    return num_round(fmax(row->predicted_us, row->measured_us), 1);
}

ORDER_BY(by_time, struct ops_row, ORDER(larger(y), larger(x)) ?: str_compare(x->kernel, y->kernel));

static const char *status_of(const struct ops_row *row)
{
    if (row->hits == 0 && row->misses == 0)
        return "TC未建模"; /* measured, and not modelled */
    return row->misses == 0 ? "HIT" : row->hits == 0 ? "MISS" : "PARTIAL";
}

void ops_rows_sort(struct ops_rows *rows)
{
    for (size_t i = 0; i < rows->at.n; i++) {
        struct ops_row *row = &rows->at.at[i];
        row->operators = arena_join(&rows->arena, row->names, row->n_names, S(", "));
        row->measured_count = num_i64_of(rint(row->measured_n));
        row->status = status_of(row);
        rows->predicted_us += num_round(row->predicted_us, 1);
        rows->measured_us += num_round(row->measured_us, 1);
    }
    if (rows->at.n > 0)
        qsort(rows->at.at, rows->at.n, sizeof(*rows->at.at), by_time);
}

double ops_error(double predicted, double measured)
{
    return measured != 0 ? (predicted - measured) / measured * 100 : 0;
}

enum { SHOWN_ROWS = 15 };

/* A share of nothing is written as a whole 0. */
static struct field_value error_value(double predicted, double measured)
{
    return measured != 0 ? value_real(ops_error(predicted, measured)) : value_int(0);
}

static struct field_value predicted_value(const void *of, const struct record_env *env)
{
    const struct ops_row *row = of;

    (void)env;
    return row->predicted_n > 0 ? value_real(row->predicted_us) : value_int(0);
}

static struct field_value time_error(const void *of, const struct record_env *env)
{
    const struct ops_row *row = of;

    (void)env;
    return error_value(row->predicted_us, row->measured_us);
}

static struct field_value count_error(const void *of, const struct record_env *env)
{
    const struct ops_row *row = of;

    (void)env;
    return error_value((double)row->predicted_n, row->measured_n);
}

static const struct field row_fields[] = {
    FIELD(struct ops_row, kernel, "kernel_type"),
    FIELD(struct ops_row, operators, "tc_funcs"),
    FIELD_CALC(FIELD_F64, "tc_total_us", predicted_value, .form = FORM_POINT, .decimals = 1),
    FIELD(struct ops_row, predicted_n, "tc_count"),
    FIELD(struct ops_row, measured_us, "prof_per_fwd_us", .form = FORM_POINT, .decimals = 1),
    FIELD(struct ops_row, measured_count, "prof_count"),
    FIELD_CALC(FIELD_F64, "error_pct", time_error, .form = FORM_POINT, .decimals = 1),
    FIELD_CALC(FIELD_F64, "count_error_pct", count_error, .form = FORM_POINT, .decimals = 1),
    FIELD(struct ops_row, status, "status"),
};
const struct record ops_row_record = RECORD(struct ops_row, row_fields);

/* Characters fill a column, wide ones too: the contract's width. A control character would break
 * the line. */
static void put_padded(struct text *out, struct str text, size_t width)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.at[i];
        text_char(out, c < 0x20 || c == 0x7f ? ' ' : text.at[i]);
    }
    if (str_chars(text) < width)
        text_repeat(out, ' ', width - str_chars(text));
}

static void ops_put_line(struct text *out, char fill)
{
    text_repeat(out, fill, 115);
    text_char(out, '\n');
}

static void ops_put_row(struct text *out, const struct ops_row *row, double all_us)
{
    put_padded(out, row->kernel, 35);
    text_format(out, " %12.1f %7llu %12.1f %8.0f %8.1f%% %8.1f%% %7.1f%% ", row->predicted_us,
                (unsigned long long)row->predicted_n, row->measured_us, rint(row->measured_n),
                ops_error(row->predicted_us, row->measured_us),
                ops_error((double)row->predicted_n, row->measured_n),
                all_us > 0 ? num_round(row->measured_us, 1) / all_us * 100 : 0);
    put_padded(out, str_of(row->status), 6);
    text_char(out, '\n');
}

bool ops_rows_print(const struct ops_rows *rows, const char *scenario, struct sink sink)
{
    struct text out = {0};

    text_char(&out, '\n');
    ops_put_line(&out, '=');
    text_format(&out, "%s — TC vs Profiling per-forward\n", scenario);
    ops_put_line(&out, '=');
    text_put(&out, S("kernel_type                               TC(μs)    "
                     "TC次数     Prof(μs)   Prof次数      "
                     "延迟误差      次数误差   "
                     "Prof占比 状态    \n"));
    ops_put_line(&out, '-');
    for (size_t i = 0; i < rows->at.n && i < SHOWN_ROWS; i++)
        ops_put_row(&out, &rows->at.at[i], rows->measured_us);
    text_format(&out, "%-35s %12.1f %7s %12.1f\n", "TOTAL", rows->predicted_us, "",
                rows->measured_us);
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}
