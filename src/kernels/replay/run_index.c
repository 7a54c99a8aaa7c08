/*
 * The index files of a run: written after every kernel, and read back to go on.
 */
#include "kernels/replay/run_index.h"

#include "base/files/fs.h"
#include "base/files/inputs.h"
#include "base/files/mapfile.h"
#include "report/record_file.h"

static const char *index_text_of(const char *text)
{
    return text != NULL ? text : "";
}

void run_row_check(struct run_row *row, const char *text)
{
    if (row->n_checks < RUN_NOTES)
        row->checks[row->n_checks++] = text;
}

bool run_row_is_quiet(const struct run_row *row)
{
    return row->message == NULL || row->message[0] == '\0' ||
           strcmp(row->message, "collect produced traces directly") == 0 ||
           strcmp(row->message, "ok") == 0;
}

void run_row_warn(struct run_row *row, struct arena *arena, const char *text)
{
    run_row_check(row, text);
    row->message = run_row_is_quiet(row) ? text : arena_printf(arena, "%s; %s", row->message, text);
}

void run_row_hint(struct run_row *row, const char *text)
{
    for (size_t i = 0; i < row->n_hints; i++)
        if (strcmp(row->hints[i], text) == 0)
            return;
    if (row->n_hints < RUN_NOTES)
        row->hints[row->n_hints++] = text;
}

bool run_row_is_exported(const struct run_row *row)
{
    return row->status != NULL && strcmp(row->status, "exported") == 0;
}

size_t run_rows_exported(const struct run_rows *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < rows->n; i++)
        n += run_row_is_exported(&rows->at[i]);
    return n;
}

/* ---- as records ---- */

static const struct field pipe_fields[] = {
    FIELD(struct run_pipe, name, "pipe"),
    FIELD(struct run_pipe, cycles, "cycles"),
    FIELD(struct run_pipe, share, "share"),
};
static const struct record pipe_record = RECORD(struct run_pipe, pipe_fields);

/* Of manifest.json, where a text that is not there is empty. */
#define TEXT(member, key) FIELD(struct run_row, member, key, .text = "")

static const struct field row_fields[] = {
    TEXT(func, "func"),
    TEXT(status, "status"),
    TEXT(symbol, "symbol"),
    TEXT(demangled, "demangled"),
    TEXT(app, "app"),
    TEXT(kernel_lib, "kernel_lib"),
    TEXT(case_dir, "case_dir"),
    TEXT(build_dir, "build_dir"),
    TEXT(collect_dir, "collect_dir"),
    TEXT(export_dir, "export_dir"),
    TEXT(export_src, "export_src"),
    TEXT(trace_json, "trace_json"),
    TEXT(visualize_data_bin, "visualize_data_bin"),
    TEXT(message, "message"),
    TEXT(hash, "hash"),
    TEXT(workload, "workload"),
    TEXT(critical, "critical"),
    TEXT(bound, "bound"),
    TEXT(source, "source_cpp"),
    FIELD(struct run_row, artifact_count, "artifact_count"),
    FIELD(struct run_row, core_trace_count, "core_trace_count"),
    FIELD(struct run_row, instr_csv_count, "instr_csv_count"),
    FIELD(struct run_row, cycles, "cycles"),
    FIELD(struct run_row, start_cycles, "start_cycles"),
    FIELD(struct run_row, races, "races"),
    FIELD(struct run_row, duration_sec, "duration_sec"),
    FIELD(struct run_row, critical_share, "critical_share"),
    FIELD(struct run_row, span_us, "span_us"),
    FIELD(struct run_row, intensity, "intensity"),
    FIELD_ROOM(struct run_row, pipes, n_pipes, "pipes", &pipe_record),
    FIELD_ROOM_VALUES(struct run_row, checks, n_checks, "checks"),
    FIELD_ROOM_VALUES(struct run_row, hints, n_hints, "hints"),
    FIELD_ROOM_VALUES(struct run_row, advice, n_advice, "advice"),
};
static const struct record row_record = RECORD(struct run_row, row_fields);

struct manifest {
    const char *run_root, *backend;
    struct run_rows rows;
    uint64_t exported;
};

static const struct field manifest_fields[] = {
    FIELD_FIXED("schema", "strata.incore-manifest/1"),
    FIELD(struct manifest, run_root, "run_root"),
    FIELD(struct manifest, backend, "backend"),
    FIELD(struct manifest, rows.n, "total"),
    FIELD(struct manifest, exported, "exported"),
    FIELD_LIST(struct manifest, rows.at, rows.n, "kernels", &row_record),
};
static const struct record manifest_record = RECORD(struct manifest, manifest_fields);

static const struct field document_fields[] = {
    FIELD(struct run_row, func, "func"),
    FIELD(struct run_row, status, "status"),
    FIELD(struct run_row, source, "source"),
    FIELD(struct run_row, message, "message"),
    FIELD(struct run_row, trace_json, "trace_json"),
    FIELD(struct run_row, visualize_data_bin, "visualize_data_bin"),
    FIELD(struct run_row, workload, "workload"),
    FIELD(struct run_row, artifact_count, "artifact_count"),
    FIELD(struct run_row, cycles, "cycles"),
    FIELD(struct run_row, start_cycles, "start_cycles"),
    FIELD(struct run_row, span_us, "span_us"),
    FIELD(struct run_row, races, "races"),
    FIELD(struct run_row, critical, "critical_pipe"),
    FIELD(struct run_row, critical_share, "critical_share"),
    FIELD(struct run_row, bound, "bound"),
    FIELD(struct run_row, intensity, "operations_per_byte", .missing = MISSING_NEGATIVE),
    FIELD_ROOM(struct run_row, pipes, n_pipes, "pipes", &pipe_record),
    FIELD_ROOM_VALUES(struct run_row, advice, n_advice, "advice"),
    FIELD_ROOM_VALUES(struct run_row, checks, n_checks, "checks"),
    FIELD_ROOM_VALUES(struct run_row, hints, n_hints, "hints"),
};
const struct record run_row_record = RECORD(struct run_row, document_fields);

struct run_row run_row_keep(const struct run_row *row, struct arena *arena)
{
    struct run_row kept = *row;
    const struct field *f;

    for (size_t i = 0; i < row_record.n; i++) {
        f = &row_record.fields[i];
        size_t n = f->shape == SHAPE_ROOM ? *(size_t *)((char *)&kept + f->count) : 1;
        for (size_t k = 0; k < n && (f->type == FIELD_CSTR || f->record != NULL); k++) {
            const char **text = (const char **)((char *)&kept + f->offset + k * f->stride);
            if (*text != NULL) /* the name of a pipe is its first member */
                *text = arena_cstr(arena, str_of(*text));
        }
    }
    return kept;
}

/* ---- the reference's two files ---- */

static struct field_value seconds_of(const void *record, const struct record_env *env)
{
    return value_text(
        arena_format(env->arena, "%.2f", ((const struct run_row *)record)->duration_sec));
}

static const struct field csv_fields[] = {
    FIELD(struct run_row, func, "func"),
    FIELD(struct run_row, status, "status"),
    FIELD(struct run_row, source, "source_cpp"),
    FIELD(struct run_row, symbol, "symbol"),
    FIELD(struct run_row, demangled, "demangled"),
    FIELD(struct run_row, app, "app"),
    FIELD(struct run_row, kernel_lib, "kernel_lib"),
    FIELD(struct run_row, case_dir, "case_dir"),
    FIELD(struct run_row, build_dir, "build_dir"),
    FIELD(struct run_row, collect_dir, "collect_dir"),
    FIELD(struct run_row, export_dir, "export_dir"),
    FIELD(struct run_row, export_src, "export_src"),
    FIELD(struct run_row, artifact_count, "artifact_count"),
    FIELD(struct run_row, trace_json, "trace_json"),
    FIELD(struct run_row, visualize_data_bin, "visualize_data_bin"),
    FIELD(struct run_row, core_trace_count, "core_trace_count"),
    FIELD(struct run_row, instr_csv_count, "instr_csv_count"),
    FIELD_CALC(FIELD_STR, "duration_sec", seconds_of),
    FIELD(struct run_row, message, "message"),
};
static const struct record csv_record = RECORD(struct run_row, csv_fields);

static enum status write_csv(const char *path, const struct run_rows *rows, struct arena *arena,
                             struct diag *d)
{
    const struct record_env env = {.arena = arena};
    struct csv_write csv;
    struct outfile file;

    TRY(outfile_open(&file, path, d));
    csv_write_open(&csv, outfile_sink(&file));
    csv.is_plain = csv.has_crlf = true;
    record_csv_heads(&csv, &csv_record);
    for (size_t i = 0; i < rows->n; i++)
        record_csv_row(&csv, &csv_record, &rows->at[i], &env);
    csv_write_close(&csv);
    return outfile_commit(&file, OUTFILE_FAST, d);
}

void run_index_summary(const char *run_root, const struct run_rows *rows, struct text *out)
{
    size_t exported = run_rows_exported(rows);
    bool has_workload = false;

    text_format(out, "run_root=%s\ntotal=%zu\nexported=%zu\nfailed=%zu\n\nexports:\n", run_root,
                rows->n, exported, rows->n - exported);
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *r = &rows->at[i];
        text_format(out, "%s\t%s\t%s\t%s\n", index_text_of(r->func), index_text_of(r->status),
                    index_text_of(r->export_dir), index_text_of(r->message));
        has_workload = has_workload || *index_text_of(r->workload) != '\0';
    }
    for (size_t i = 0; i < rows->n && has_workload; i++)
        text_format(out, "%s%s\t%s\n", i == 0 ? "\nworkload:\n" : "",
                    index_text_of(rows->at[i].func), index_text_of(rows->at[i].workload));
}

enum status run_index_readme(const char *run_root, const struct run_readme *r, struct arena *arena,
                             struct diag *d)
{
    struct text out = {0};

    text_format(&out,
                "repo_root=%s\nbuild_dir=%s\nsource_count=%zu\ncann_set_env=%s\nsoc_version=%s\n"
                "generate_testcase=%s\npto_isa_root=%s\nsources:\n",
                index_text_of(r->repo_root), index_text_of(r->build_dir), r->n,
                index_text_of(r->cann_set_env), index_text_of(r->soc_version),
                index_text_of(r->generator), index_text_of(r->pto_isa_root));
    for (size_t i = 0; i < r->n; i++)
        text_format(&out, "%s\n", r->sources[i]);
    enum status st = outfile_save(fs_join(arena, run_root, "README.txt"), text_view(&out), d);
    text_free(&out);
    return st;
}

enum status run_index_write(const char *run_root, const char *backend, const struct run_rows *rows,
                            struct diag *d)
{
    struct manifest manifest = {run_root, backend, *rows, run_rows_exported(rows)};
    struct text summary = {0};
    struct arena arena;

    arena_init(&arena);
    enum status st = write_csv(fs_join(&arena, run_root, "manifest_export.csv"), rows, &arena, d);
    run_index_summary(run_root, rows, &summary);
    if (st == ST_OK)
        st = outfile_save(fs_join(&arena, run_root, "summary.txt"), text_view(&summary), d);
    if (st == ST_OK)
        st =
            record_save(fs_join(&arena, run_root, "manifest.json"), &manifest_record, &manifest, d);
    text_free(&summary);
    arena_free(&arena);
    return st;
}

static void read_rows(struct json *j, struct arena *arena, struct run_rows *out)
{
    if (json_next(j) != JSON_ARRAY)
        return;
    while (json_element(j)) {
        struct run_row row = {.intensity = -1};
        if (record_read(j, &row_record, &row, arena) && row.func != NULL)
            vec_push(out, row);
    }
}

enum status run_index_read(const char *run_root, struct arena *arena, struct run_rows *out,
                           struct diag *d)
{
    const char *path = fs_join(arena, run_root, "manifest.json");
    struct mapfile map;
    struct json j;
    struct str key;

    *out = (struct run_rows){0};
    TRY(mapfile_open(&map, path, d));
    inputs_disown_path(path); /* the run that goes on writes it again */
    json_open(&j, map.text, JSON_STRICT);
    if (json_next(&j) == JSON_OBJECT)
        while (json_key(&j, &key))
            if (str_equal(key, S("kernels")))
                read_rows(&j, arena, out);
    enum status st = ST_OK;
    if (j.token != JSON_OBJECT_END)
        st = diag_fail(d, ST_FORMAT, "incore-run.bad-manifest", (struct where){.path = path},
                       "not a manifest of a run");
    mapfile_close(&map);
    return st;
}

/* ---- artifacts ---- */

void run_row_count(struct run_row *row, const char *dir, struct arena *arena)
{
    struct fs_list list = {0};
    int64_t traces = 0, containers = 0;

    row->core_trace_count = row->instr_csv_count = 0;
    row->trace_json = row->visualize_data_bin = NULL;
    if (fs_is_dir(dir) && fs_walk(arena, dir, NULL, 0, &list, NULL) != ST_OK)
        list.n = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        struct str path = str_of(e->path);
        struct str folder = str_basename(str_part(path, 0, path.n - e->name.n - 1));
        if (e->kind != FS_FILE)
            continue;
        if (str_equal(e->name, S("trace.json")) && str_starts(folder, S("core"))) {
            row->core_trace_count++;
        } else if (str_equal(e->name, S("trace.json"))) {
            traces++;
            row->trace_json = row->trace_json != NULL ? row->trace_json : e->path;
        } else if (str_equal(e->name, S("visualize_data.bin"))) {
            containers++;
            row->visualize_data_bin =
                row->visualize_data_bin != NULL ? row->visualize_data_bin : e->path;
        } else if (str_ends(e->name, S(".csv")) && str_contains(e->name, S("instr_exe"))) {
            row->instr_csv_count++;
        }
    }
    row->artifact_count = traces + containers + row->core_trace_count + row->instr_csv_count;
}
