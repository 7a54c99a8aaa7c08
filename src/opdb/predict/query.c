/*
 * Questions about operators: rows that fit, collectives, composites, and what the mapping says.
 */
#include "opdb/predict/query.h"

#include <math.h>

#include "base/files/fs.h"
#include "base/text/num.h"
#include "capture/classify.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/db_device.h"
#include "opdb/rows/opset.h"

static bool is_yes(struct str text)
{
    return str_equal_nocase(text, S("true")) || str_equal_nocase(text, S("yes"));
}

static struct str query_text_of(const struct tree *entry, const char *key)
{
    return tree_get_text(entry, str_of(key), S(""));
}

/* Texts of a list; one text alone is a list of one. */
static size_t add_texts(const struct tree *node, struct str *out, size_t n)
{
    if (node == NULL)
        return n;
    if (node->kind == TREE_TEXT && !yaml_is_null(node))
        out[n++] = node->text;
    if (node->kind != TREE_LIST)
        return n;
    for (const struct tree *item = node->first; item != NULL; item = item->next) {
        if (item->kind == TREE_TEXT && !yaml_is_null(item) && !str_is_one_of(item->text, out, n))
            out[n++] = item->text;
    }
    return n;
}

static enum query_mode mode_of(struct str name)
{
    static const struct str names[] = {[MODE_COMPUTE] = S_INIT(""),
                                       [MODE_ATTENTION] = S_INIT("attention_special"),
                                       [MODE_ELEMENTWISE] = S_INIT("elementwise"),
                                       [MODE_MOE] = S_INIT("moe_fused"),
                                       [MODE_MTP] = S_INIT("mtp_projection")};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(name, names[i]))
            return (enum query_mode)i;
    return MODE_COMPUTE;
}

bool query_entry(struct query_db *db, struct str op, struct query_entry *out)
{
    const struct tree *all = tree_get(db->map, S("operator_mappings"));

    str_skip(&op, S("torch.ops."));
    const struct tree *e = tree_get(all != NULL ? all : db->map, op);
    if (e == NULL || e->kind != TREE_MAP)
        return false;
    const struct tree *others = tree_get(e, S("alternate_kernel_types"));
    const struct tree *subs = tree_get(e, S("sub_kernels"));
    struct str *kernels = ARENA_ARRAY(&db->arena, struct str, 2 + (others != NULL ? others->n : 0));
    struct str *sub_kernels = ARENA_ARRAY(&db->arena, struct str, 1 + (subs != NULL ? subs->n : 0));
    size_t n = add_texts(tree_get(e, S("kernel_type")), kernels, 0);
    *out = (struct query_entry){
        .kernels = kernels,
        .n_kernels = add_texts(others, kernels, n),
        .sub_kernels = sub_kernels,
        .n_sub_kernels = add_texts(subs, sub_kernels, 0),
        .is_communication = str_equal(query_text_of(e, "category"), S("communication")),
        .is_composite = is_yes(query_text_of(e, "composite")),
        .is_zero_cost = is_yes(query_text_of(e, "zero_cost")),
        .accepted_miss = query_text_of(e, "accepted_miss"),
        .mode = mode_of(query_text_of(e, "query_mode")),
        .input_count = -1,
    };
    num_i64(query_text_of(e, "tc_input_count"), &out->input_count);
    return true;
}

bool query_entry_is_free(const struct query_entry *e)
{
    return e->mode == MODE_COMPUTE && (e->is_zero_cost || e->accepted_miss.n > 0);
}

struct str query_policy(const struct query_db *db, struct str kernel, const char *path)
{
    struct str rest = str_of(path), key;

    str_split(&rest, '.', &key);
    const struct tree *node =
        tree_get(tree_get(tree_get(db->map, key), S("kernel_overrides")), kernel);
    while (str_split(&rest, '.', &key) && rest.at != NULL)
        node = tree_get(node, key);
    return tree_get_text(node, key, S(""));
}

struct query_result query_interpolated(struct str kernel, double latency, int dims)
{
    static const double confidences[] = {0.70, 0.65, 0.60};
    static const struct str rules[] = {S_INIT("interpolated_1d_linear"),
                                       S_INIT("interpolated_2d_linear"),
                                       S_INIT("interpolated_3d_linear")};

    return (struct query_result){.latency_us = latency,
                                 .confidence = confidences[dims - 1],
                                 .source = QUERY_INTERPOLATED,
                                 .kernel = kernel,
                                 .rule = rules[dims - 1]};
}

enum status query_open(struct query_db *db, const char *dir, struct diag *d)
{
    *db = (struct query_db){.dir = dir};
    arena_init(&db->arena);
    db->device = db_device_of_path(dir);
    if (!fs_is_dir(dir))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-database", (struct where){.path = dir},
                         "database folder not found");
    const char *origin = fs_join(&db->arena, dir, "engine.yaml");
    if (fs_exists(origin))
        TRY(yaml_read_file(&db->arena, origin, &db->origin, d));
    const char *path = fs_join(&db->arena, dir, "op_mapping.yaml");
    return fs_exists(path) ? yaml_read_file(&db->arena, path, &db->map, d) : ST_OK;
}

void query_close(struct query_db *db)
{
    for (size_t i = 0; i < db->tables.n; i++)
        if (db->tables.at[i].table != NULL)
            table_free(db->tables.at[i].table);
    vec_free(&db->tables);
    for (size_t i = 0; i < db->sets.n; i++)
        if (db->sets.at[i].set != NULL)
            opset_free(db->sets.at[i].set);
    vec_free(&db->sets);
    arena_free(&db->arena);
}

/* Collectives lie beside the software stacks: <device>/hccl/v8.5 for ..._cann8.5. */
static const char *hccl_folder(struct query_db *db)
{
    struct str name = str_basename(str_of(db->dir));
    struct str tag = str_part(name, str_find(name, S("_cann")) + 5, name.n);

    tag = str_part(tag, 0, str_find_char(tag, '_'));
    return arena_format(&db->arena, "%s/../../hccl/v%.*s", db->dir, STR_ARGS(tag)).at;
}

/* Of databases that name where their rows are from (engine.yaml): the folder of another version
 * that stands in for a table, and that of the collectives of the system. "": none. */
static const char *reused_folder(struct query_db *db, struct str kernel)
{
    struct str version = tree_get_text(tree_get(db->origin, S("reuse")), kernel, S(""));

    return version.n > 0 && fs_is_name(arena_cstr(&db->arena, version))
               ? arena_printf(&db->arena, "%s/../%.*s", db->dir, STR_ARGS(version))
               : "";
}

static const char *collective_folder(struct query_db *db)
{
    struct str place = tree_get_text(db->origin, S("collectives"), S("")), family;
    struct fs_list list;

    if (!str_split(&place, '/', &family) || place.n == 0 ||
        !fs_is_name(arena_cstr(&db->arena, family)) || !fs_is_name(arena_cstr(&db->arena, place)))
        return "";
    const char *all = arena_printf(&db->arena, "%s/../../%.*s", db->dir, STR_ARGS(family));
    const char *own = fs_join(&db->arena, all, arena_cstr(&db->arena, place));
    if (fs_is_dir(own) || !fs_is_dir(all) || fs_list(&db->arena, all, &list, NULL) != ST_OK ||
        list.n == 0)
        return own;
    return list.at[list.n - 1].path; /* the last version that there is */
}

static const char *find_file(struct query_db *db, struct str kernel)
{
    /* Names of kernels come from users and files: they must stay in the folder. */
    if (kernel.n == 0 || kernel.n >= 200 || str_find_char(kernel, '/') < kernel.n ||
        str_find_char(kernel, '\0') < kernel.n)
        return NULL;
    const char *file = arena_format(&db->arena, "%.*s.csv", STR_ARGS(kernel)).at;
    struct str ref = query_text_of(db->map, "communication_data_ref");
    const char *folders[] = {
        db->dir,
        reused_folder(db, kernel),
        collective_folder(db),
        ref.n > 0 ? fs_join(&db->arena, db->dir, arena_cstr(&db->arena, ref)) : db->dir,
        hccl_folder(db),
    };
    size_t n = classify_is_collective(kernel) ? ARRAY_LEN(folders) : 2;
    for (size_t i = 0; i < n; i++) {
        if (folders[i][0] == '\0')
            continue;
        const char *path = fs_join(&db->arena, folders[i], file);
        if (fs_exists(path))
            return path;
    }
    return NULL;
}

enum status query_table(struct query_db *db, struct str kernel, const struct op_table **out,
                        struct diag *d)
{
    for (size_t i = 0; i < db->tables.n; i++)
        if (str_equal(db->tables.at[i].kernel, kernel)) {
            *out = db->tables.at[i].table;
            return ST_OK;
        }
    struct query_table entry = {.kernel = kernel};
    const char *path = find_file(db, kernel);
    enum status st = ST_OK;
    if (path != NULL) {
        entry.table = ARENA_NEW(&db->arena, struct op_table);
        st = table_read(entry.table, path, d);
    }
    vec_push(&db->tables, entry);
    *out = entry.table;
    return st;
}

enum status query_set(struct query_db *db, struct str kernel, struct opset **out, struct diag *d)
{
    for (size_t i = 0; i < db->sets.n; i++)
        if (str_equal(db->sets.at[i].kernel, kernel)) {
            *out = db->sets.at[i].set;
            return ST_OK;
        }
    struct query_set entry = {.kernel = arena_str(&db->arena, kernel)};
    const char *path = find_file(db, kernel);
    enum status st = ST_OK;
    if (path != NULL) {
        entry.set = ARENA_NEW(&db->arena, struct opset);
        st = opset_read(entry.set, entry.kernel, path, d);
        entry.set->device = db->device;
    }
    vec_push(&db->sets, entry);
    *out = entry.set;
    return st;
}

/* A profiled duration far above what the cores worked is an outlier of the host. */
static double core_time(const struct query_db *db, struct str kernel, const struct op_table *t,
                        size_t row, double duration)
{
    double ratio = -1;
    struct str core = cell_trim(table_cell(t, row, table_column(t, COL_CORE)));

    num_f64(query_policy(db, kernel,
                         "latency_policy.profiling_core_envelope_fallback."
                         "max_duration_to_core_ratio"),
            &ratio);
    if (!(ratio > 0) || !str_equal(core, S("MIX_AIC")))
        return duration;
    double aic =
        cell_f64(table_cell(t, row, table_column(t, S("Profiling Average aicore_time(us)"))));
    double aiv = cell_f64(table_cell(t, row, table_column(t, S("Profiling Average aiv_time(us)"))));
    double most = fmax(aic, aiv);
    bool is_known = isfinite(aic) && isfinite(aiv) && aic > 0 && aiv > 0;
    return is_known && duration / most > ratio ? most : duration;
}

bool query_latency(const struct query_db *db, struct str kernel, const struct op_table *t,
                   size_t row, const struct latency_columns *c, double *out, int *rank)
{
    int column;

    if (!latency_of(t, row, c, out, &column))
        return false;
    *rank = column;
    if (is_yes(query_policy(db, kernel, "latency_policy.prefer_profiling_rows")))
        *rank = column == 1 ? 0 : 1;
    if (column == 1)
        *out = core_time(db, kernel, t, row, *out);
    return true;
}

/* The best row so far: no padding before padding, then the order of kernels, then the column. */
struct best {
    bool is_found, is_padded, is_ambiguous;
    size_t kernel;
    int rank;
};

static bool is_better(const struct best *b, bool is_padded, size_t kernel, int rank)
{
    if (!b->is_found)
        return true;
    if (is_padded != b->is_padded)
        return !is_padded;
    if (kernel != b->kernel)
        return kernel < b->kernel;
    return rank < b->rank;
}

struct columns {
    int shapes, dtypes, formats;
    struct latency_columns latency;
};

static struct columns query_find_columns(const struct op_table *t)
{
    return (struct columns){table_column(t, COL_INPUT_SHAPES), table_column(t, COL_INPUT_DTYPES),
                            table_column(t, COL_INPUT_FORMATS), latency_columns(t)};
}

static void match_table(struct query_db *db, const struct op_table *t, struct str kernel,
                        size_t index, struct query_inputs inputs, int64_t count, struct best *best,
                        struct query_result *out)
{
    struct columns c = query_find_columns(t);

    for (size_t row = 0; row < t->n_rows; row++) {
        struct arena_mark mark = arena_mark(&db->arena);
        struct query_row stored;
        double latency;
        int rank;
        const char *rule = NULL;
        if (query_latency(db, kernel, t, row, &c.latency, &latency, &rank) &&
            query_row_read(&db->arena, table_cell(t, row, c.shapes), table_cell(t, row, c.dtypes),
                           table_cell(t, row, c.formats), count, &stored))
            rule = query_match(&db->arena, kernel, inputs, &stored);
        arena_rewind(&db->arena, mark);
        if (rule == NULL)
            continue;
        bool is_padded = strstr(rule, "padding") != NULL;
        if (is_better(best, is_padded, index, rank)) {
            *best = (struct best){true, is_padded, false, index, rank};
            *out = (struct query_result){.latency_us = latency,
                                         .confidence = 1,
                                         .source = QUERY_MEASURED,
                                         .kernel = kernel,
                                         .rule = str_of(rule)};
        } else if (is_padded == best->is_padded && index == best->kernel && rank == best->rank &&
                   fabs(latency - out->latency_us) > 1e-12) {
            best->is_ambiguous = true;
        }
    }
}

/* Why nothing fits: the number of inputs, or their shapes. */
static const char *miss_reason(struct query_db *db, const struct op_table *t, struct str kernel,
                               struct query_inputs inputs, int64_t count)
{
    struct columns c = query_find_columns(t);
    struct query_row stored;

    if (t->n_rows == 0)
        return "csv_not_found";
    if (!query_row_read(&db->arena, table_cell(t, 0, c.shapes), table_cell(t, 0, c.dtypes),
                        table_cell(t, 0, c.formats), count, &stored))
        return "shape_mismatch";
    size_t n = query_normal(&db->arena, kernel, inputs, stored.inputs.n).n;
    return n != stored.inputs.n ? "input_count_mismatch" : "shape_mismatch";
}

static enum status find_compute(struct query_db *db, const struct query *q,
                                const struct str *kernels, size_t n, int64_t count,
                                struct query_result *out, struct diag *d)
{
    struct query_inputs inputs = q->inputs;
    struct best best = {0};
    const struct op_table *t, *first = NULL;

    if (count >= 0 && inputs.n > (size_t)count)
        inputs.n = (size_t)count;
    *out = (struct query_result){.miss = "csv_not_found"};
    for (size_t i = 0; i < n; i++) {
        TRY(query_table(db, kernels[i], &t, d));
        if (t == NULL)
            continue;
        if (i == 0)
            first = t;
        out->miss = best.is_found ? NULL : "shape_mismatch";
        match_table(db, t, kernels[i], i, inputs, count, &best, out);
    }
    if (best.is_found && best.is_ambiguous &&
        is_yes(query_policy(db, out->kernel, "query_selection_policy.require_semantic_unique")))
        *out = (struct query_result){.miss = "ambiguous_semantic_match", .kernel = out->kernel};
    else if (!best.is_found && first != NULL)
        out->miss = miss_reason(db, first, kernels[0], inputs, count);
    return ST_OK;
}

/* A row that fits, or a value between rows. */
static enum status ask_compute(struct query_db *db, const struct query *q,
                               const struct str *kernels, size_t n, bool is_elementwise,
                               int64_t count, struct query_result *out, struct diag *d)
{
    if (q->is_model)
        return query_models(db, q, kernels, n, count, out, d);
    TRY(find_compute(db, q, kernels, n, count, out, d));
    for (size_t i = 0; i < n && out->miss != NULL && !q->is_exact; i++)
        TRY(query_between(db, q, kernels[i], is_elementwise, count, out, d));
    return ST_OK;
}

static enum status ask_comm(struct query_db *db, const struct query *q, struct str kernel,
                            struct query_result *out, struct diag *d)
{
    const struct op_table *t;

    *out = (struct query_result){.miss = "csv_not_found", .kernel = kernel};
    if (q->message.bytes < 0 || q->message.num_devices <= 0) {
        out->miss = "invalid_args";
        return ST_OK;
    }
    if (q->is_model)
        return query_model_comm(db, q, kernel, out, d);
    TRY(query_table(db, kernel, &t, d));
    if (t == NULL)
        return ST_OK;
    struct comm_query message = q->message;
    /* A reduce-scatter is asked for by its input; tables know the share of one rank. */
    if (str_equal(kernel, S("hcom_reduceScatter_")))
        message.bytes /= message.num_devices;
    struct comm_result r = query_comm(t, &message);
    out->miss = r.miss;
    if (r.miss == NULL && r.is_interpolated && q->is_exact)
        out->miss = "shape_mismatch";
    if (out->miss != NULL)
        return ST_OK;
    out->latency_us = r.latency_us;
    out->confidence = r.is_interpolated ? 0.8 : 0.9;
    out->source = r.is_interpolated ? QUERY_INTERPOLATED : QUERY_MEASURED;
    out->rule = !r.is_interpolated                      ? S("exact")
                : message.method == COMM_BRACKET_LINEAR ? S("bracket_linear")
                                                        : S("alpha_beta");
    return ST_OK;
}

/* Several kernels behind one operator: their sum. */
static enum status ask_composite(struct query_db *db, const struct query *q,
                                 const struct query_entry *e, int64_t count,
                                 struct query_result *out, struct diag *d)
{
    struct query_result sum = {.miss = "no_sub_kernels", .rule = S("composite")}, part;
    bool has_comm = false, is_measured = true;

    for (size_t i = 0; i < e->n_sub_kernels; i++) {
        struct str kernel = e->sub_kernels[i];
        bool is_comm = classify_is_collective(kernel);
        if (is_comm)
            TRY(ask_comm(db, q, kernel, &part, d));
        else
            TRY(ask_compute(db, q, &kernel, 1, false, count, &part, d));
        sum.n_parts++;
        if (part.miss != NULL) {
            sum.miss = sum.n_hits == 0 ? part.miss : sum.miss;
            continue;
        }
        sum.n_hits++;
        sum.latency_us += part.latency_us;
        sum.has_interval = part.has_interval;
        sum.low_us += part.low_us;
        sum.high_us += part.high_us;
        sum.kernel = sum.kernel.n == 0 ? kernel
                                       : arena_format(&db->arena, "%.*s+%.*s", STR_ARGS(sum.kernel),
                                                      STR_ARGS(kernel));
        has_comm = has_comm || is_comm;
        is_measured = is_measured && part.source == QUERY_MEASURED;
    }
    if (sum.n_hits > 0) {
        bool is_whole = sum.n_hits == sum.n_parts;
        sum.miss = NULL;
        sum.source = !is_whole ? QUERY_PARTIAL : is_measured ? QUERY_MEASURED : QUERY_INTERPOLATED;
        sum.confidence = !is_whole  ? (double)sum.n_hits / (double)sum.n_parts
                         : has_comm ? 0.9
                                    : 0.8;
    }
    *out = sum;
    return ST_OK;
}

static enum status ask_op(struct query_db *db, const struct query *q, struct query_result *out,
                          struct diag *d)
{
    struct query_entry e;

    *out = (struct query_result){.miss = "unmapped"};
    if (!query_entry(db, str_of(q->op_name), &e))
        return ST_OK;
    int64_t count = q->input_count >= 0 ? q->input_count : e.input_count;
    if (e.is_composite)
        return ask_composite(db, q, &e, count, out, d);
    if (e.is_communication && e.n_kernels > 0)
        return ask_comm(db, q, e.kernels[0], out, d);
    if (e.mode == MODE_ATTENTION && e.n_kernels > 0 && !q->is_model)
        return query_attention(db, q, e.kernels, e.n_kernels, out, d);
    if (query_entry_is_free(&e)) {
        *out = (struct query_result){.confidence = 1,
                                     .source = QUERY_MEASURED,
                                     .kernel = e.n_kernels > 0 ? e.kernels[0] : S(""),
                                     .rule = e.is_zero_cost ? S("zero_cost") : S("accepted_miss")};
        return ST_OK;
    }
    if (e.n_kernels == 0)
        return ST_OK;
    return ask_compute(db, q, e.kernels, e.n_kernels, e.mode == MODE_ELEMENTWISE, count, out, d);
}

static enum status query_ask(struct query_db *db, const struct query *q, struct query_result *out,
                             struct diag *d)
{
    struct str kernel = str_of(q->kernel);

    if (q->comm != NULL) {
        struct str of_comm = query_comm_kernel(str_of(q->comm));
        *out = (struct query_result){.miss = "invalid_args"};
        return of_comm.n > 0 ? ask_comm(db, q, of_comm, out, d) : ST_OK;
    }
    if (q->op_name != NULL)
        return ask_op(db, q, out, d);
    if ((q->avg_seq >= 0 || work_is_attention(kernel)) && !q->is_model)
        return query_attention(db, q, &kernel, 1, out, d);
    return ask_compute(db, q, &kernel, 1, false, q->input_count, out, d);
}

enum status query_run(struct query_db *db, const struct query *q, struct query_result *out,
                      struct diag *d)
{
    TRY(query_ask(db, q, out, d));
    out->is_hit = out->miss == NULL;
    out->is_composite = out->n_parts > 0;
    return ST_OK;
}

ENUM_NAMES(query_source_name, unsigned, "MEASURED", "INTERPOLATED", "EXTRAPOLATED", "PARTIAL",
           "ANALYTIC")

static const struct field near_fields[] = {
    FIELD(struct query_near, kernel, "kernel"),
    FIELD(struct query_near, line, "line"),
    FIELD(struct query_near, shapes, "shapes", .head = "shapes"),
    FIELD(struct query_near, dtypes, "dtypes", .head = "types"),
    FIELD(struct query_near, latency_us, "latency_us", .head = "us", .unit = UNIT_PLAIN),
    FIELD(struct query_near, differs, "differs", .head = "differs in", .is_optional = true),
};
const struct record query_near_record = RECORD(struct query_near, near_fields);

static const struct field result_fields[] = {
    FIELD(struct query_result, is_hit, "hit"),
    FIELD(struct query_result, latency_us, "latency_us", WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, confidence, "confidence", WHEN(struct query_result, is_hit)),
    FIELD_OF_ENUM(struct query_result, source, "source", query_source_name, QUERY_SOURCES,
                  WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, kernel, "kernel", WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, rule, "rule", WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, miss, "miss"),
    FIELD(struct query_result, n_parts, "parts", WHEN(struct query_result, is_composite),
          .is_optional = true),
    FIELD(struct query_result, n_hits, "parts_found", WHEN(struct query_result, is_composite),
          .is_optional = true),
    FIELD(struct query_result, low_us, "interval_low_us", WHEN(struct query_result, has_interval),
          .is_optional = true, .about = "80 % interval"),
    FIELD(struct query_result, high_us, "interval_high_us", WHEN(struct query_result, has_interval),
          .is_optional = true),
    FIELD_ROOM(struct query_result, near, n_near, "rows", &query_near_record,
               .missing = MISSING_EMPTY, .is_optional = true,
               .about = "rows the answer came from; of a miss, the nearest and what differs"),
};
static const struct record result_record = RECORD(struct query_result, result_fields);

const struct schema query_schema = {
    .name = "strata.db-query/1",
    .title = "latency of an operator",
    .record = &result_record,
};
