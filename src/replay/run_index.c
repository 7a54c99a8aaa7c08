#include "replay/run_index.h"

#include <stddef.h>
#include <stdio.h>

#include "base/fs.h"
#include "base/json_write.h"

static struct str text_of(const char *text)
{
    return text != NULL ? str_of(text) : S("");
}

void run_row_check(struct run_row *row, const char *text)
{
    if (row->n_checks < RUN_NOTES)
        row->checks[row->n_checks++] = text;
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

/* ---- the reference's two files ---- */

struct index_text {
    VEC_OF(char) bytes;
};

static void put(struct index_text *t, struct str s)
{
    vec_reserve(&t->bytes, t->bytes.n + s.n);
    if (s.n > 0)
        memcpy(t->bytes.at + t->bytes.n, s.at, s.n);
    t->bytes.n += s.n;
}

static struct str finish(struct index_text *t, struct arena *arena)
{
    struct str all = arena_str(arena, (struct str){t->bytes.at, t->bytes.n});

    vec_free(&t->bytes);
    return all;
}

/* RFC 4180: quotes where a comma, a quote or a line end asks for them. */
static void put_cell(struct index_text *t, struct str cell)
{
    bool is_quoted = false;

    for (size_t i = 0; i < cell.n && !is_quoted; i++)
        is_quoted = memchr(",\"\r\n", cell.at[i], 4) != NULL;
    if (!is_quoted) {
        put(t, cell);
        return;
    }
    put(t, S("\""));
    for (size_t i = 0; i < cell.n; i++)
        put(t, cell.at[i] == '"' ? S("\"\"") : str_part(cell, i, 1));
    put(t, S("\""));
}

/* The text of manifest_export.csv. */
static struct str csv_of(const struct run_rows *rows, struct arena *arena)
{
    struct index_text t = {0};

    put(&t, S("func,status,source_cpp,symbol,demangled,app,kernel_lib,case_dir,build_dir,"
              "collect_dir,export_dir,export_src,artifact_count,trace_json,visualize_data_bin,"
              "core_trace_count,instr_csv_count,duration_sec,message\r\n"));
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *r = &rows->at[i];
        char counts[4][32];
        snprintf(counts[0], sizeof(counts[0]), "%lld", (long long)r->artifact_count);
        snprintf(counts[1], sizeof(counts[1]), "%lld", (long long)r->core_trace_count);
        snprintf(counts[2], sizeof(counts[2]), "%lld", (long long)r->instr_csv_count);
        snprintf(counts[3], sizeof(counts[3]), "%.2f", r->duration_sec);
        const char *cells[] = {
            r->func,       r->status,     r->source,   r->symbol,     r->demangled,
            r->app,        r->kernel_lib, r->case_dir, r->build_dir,  r->collect_dir,
            r->export_dir, r->export_src, counts[0],   r->trace_json, r->visualize_data_bin,
            counts[1],     counts[2],     counts[3],   r->message,
        };
        for (size_t k = 0; k < ARRAY_LEN(cells); k++) {
            if (k > 0)
                put(&t, S(","));
            put_cell(&t, text_of(cells[k]));
        }
        put(&t, S("\r\n"));
    }
    return finish(&t, arena);
}

struct str run_index_summary(const char *run_root, const struct run_rows *rows, struct arena *arena)
{
    size_t exported = run_rows_exported(rows);
    struct index_text t = {0};
    bool has_workload = false;

    put(&t, arena_format(arena, "run_root=%s\ntotal=%zu\nexported=%zu\nfailed=%zu\n\nexports:\n",
                         run_root, rows->n, exported, rows->n - exported));
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *r = &rows->at[i];
        const char *cells[] = {r->func, r->status, r->export_dir, r->message};
        for (size_t k = 0; k < ARRAY_LEN(cells); k++) {
            put(&t, text_of(cells[k]));
            put(&t, k + 1 < ARRAY_LEN(cells) ? S("\t") : S("\n"));
        }
        has_workload = has_workload || text_of(r->workload).n > 0;
    }
    if (has_workload)
        put(&t, S("\nworkload:\n"));
    for (size_t i = 0; i < rows->n && has_workload; i++) {
        put(&t, text_of(rows->at[i].func));
        put(&t, S("\t"));
        put(&t, text_of(rows->at[i].workload));
        put(&t, S("\n"));
    }
    return finish(&t, arena);
}

enum status run_index_readme(const char *run_root, const struct run_readme *r, struct arena *arena,
                             struct diag *d)
{
    const struct {
        const char *key, *value;
    } lines[] = {
        {"repo_root", r->repo_root},
        {"build_dir", r->build_dir},
        {"source_count", NULL},
        {"cann_set_env", r->cann_set_env},
        {"soc_version", r->soc_version},
        {"generate_testcase", r->generator},
        {"pto_isa_root", r->pto_isa_root},
    };
    struct outfile file;

    TRY(outfile_open(&file, fs_join(arena, run_root, "README.txt"), d));
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (strcmp(lines[i].key, "source_count") == 0)
            outfile_write(&file, arena_format(arena, "source_count=%zu\n", r->n));
        else
            outfile_write(&file, arena_format(arena, "%s=%.*s\n", lines[i].key,
                                              STR_ARGS(text_of(lines[i].value))));
    outfile_write(&file, S("sources:\n"));
    for (size_t i = 0; i < r->n; i++)
        outfile_write(&file, arena_format(arena, "%s\n", r->sources[i]));
    return outfile_commit(&file, OUTFILE_FAST, d);
}

static enum status save(const char *run_root, const char *name, struct str text,
                        struct arena *arena, struct diag *d)
{
    struct outfile file;

    TRY(outfile_open(&file, fs_join(arena, run_root, name), d));
    outfile_write(&file, text);
    return outfile_commit(&file, OUTFILE_FAST, d);
}

enum status run_index_write(const char *run_root, const char *backend, const struct run_rows *rows,
                            struct diag *d)
{
    struct arena arena;

    arena_init(&arena);
    enum status st = save(run_root, "manifest_export.csv", csv_of(rows, &arena), &arena, d);
    if (st == ST_OK)
        st = save(run_root, "summary.txt", run_index_summary(run_root, rows, &arena), &arena, d);
    if (st == ST_OK)
        st = save(run_root, "manifest.json", run_index_json(run_root, backend, rows, &arena),
                  &arena, d);
    arena_free(&arena);
    return st;
}

/* ---- artifacts ---- */

void run_row_count(struct run_row *row, const char *dir, struct arena *arena)
{
    struct fs_list list = {0};
    struct diag ignored;
    int64_t traces = 0, containers = 0;

    row->core_trace_count = row->instr_csv_count = 0;
    row->trace_json = row->visualize_data_bin = NULL;
    diag_init(&ignored);
    if (fs_is_dir(dir) && fs_walk(arena, dir, NULL, 0, &list, &ignored) != ST_OK)
        list.n = 0;
    diag_fini(&ignored);
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
