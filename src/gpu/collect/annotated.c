/*
 * Annotated source, read back. See gpu_jobs.h.
 */
#include "gpu/collect/gpu_jobs.h"

#include <math.h>
#include <stdio.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/csv.h"
#include "base/text/num.h"
#include "base/text/pattern.h"
#include "gpu/judge/variants.h"
#include "report/report.h"

/* "samples% | inst | stall | text"; false for the head of the file. */
static bool read_line(struct str line, struct gpu_annotated_line *out)
{
    struct str bar = S(" | "), cells[3];

    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        size_t end = str_find(line, bar);
        if (end >= line.n)
            return false;
        cells[i] = str_trim(str_part(line, 0, end));
        line = str_part(line, end + bar.n, line.n);
    }
    if (str_ends(cells[0], S("%")))
        cells[0] = str_part(cells[0], 0, cells[0].n - 1);
    if (!num_f64(cells[0], &out->share))
        out->share = NAN;
    out->stall = cells[2];
    out->text = line;
    return true;
}

static void read_source(struct gpu_annotated *a, struct str text, struct arena *arena)
{
    struct str line;
    uint64_t number = 0;

    while (text.n > 0 && str_split(&text, '\n', &line)) {
        struct gpu_annotated_line one = {0};
        if (number == 0 && str_skip(&line, S("// kernel: "))) {
            a->kernel = arena_str(arena, line);
        } else if (number == 0 && str_skip(&line, S("// samples: "))) {
            num_f64(line, &a->samples);
        } else if (read_line(line, &one)) {
            one.line = ++number;
            one.stall = arena_str(arena, one.stall);
            one.text = arena_str(arena, one.text);
            vec_push(&a->lines, one);
        }
    }
}

/* The reason that most samples of the row have. */
static struct str top_stall(const struct csv *csv)
{
    struct str best = S("");
    double most = 0, value;

    for (size_t i = 0; i < csv->n_header; i++) {
        struct str name = csv->header[i];
        if (str_starts(name, S("stall_")) && !str_ends(name, S("_not_issued")) &&
            num_f64(csv_cell(csv, (int)i), &value) && value > most) {
            most = value;
            best = name;
        }
    }
    return best;
}

/* Rows of other source files are left out. */
static void read_sass(struct gpu_annotated *a, struct str text, struct str file,
                      struct arena *arena)
{
    struct csv *csv = mem_grow(NULL, sizeof(*csv), 1);

    csv_open(csv, text);
    int pc = csv_column(csv, S("pc")), code = csv_column(csv, S("sass")),
        path = csv_column(csv, S("file")), line = csv_column(csv, S("line")),
        samples = csv_column(csv, S("samples"));
    while (pc >= 0 && path >= 0 && line >= 0 && samples >= 0 && csv_next(csv)) {
        struct gpu_annotated_sass s = {0};
        struct str base = str_basename(csv_cell(csv, path));
        if (!str_starts(file, str_part(base, 0, str_find_char(base, '.'))) ||
            !num_u64(csv_cell(csv, line), &s.line) ||
            !num_f64(csv_cell(csv, samples), &s.samples) || !(s.samples > 0))
            continue;
        s.pc = arena_str(arena, csv_cell(csv, pc));
        s.text = arena_str(arena, code >= 0 ? csv_unquote(csv_cell(csv, code), arena) : S(""));
        s.stall = arena_str(arena, top_stall(csv));
        vec_push(&a->sass, s);
    }
    mem_free(csv);
}

static enum status read_file(struct gpu_annotated *a, const struct fs_entry *source,
                             const struct fs_list *sass, struct arena *arena, struct diag *d)
{
    struct mapfile map;

    a->path = source->path;
    TRY(mapfile_open(&map, source->path, d));
    read_source(a, map.text, arena);
    mapfile_close(&map);
    for (size_t i = 0; i < sass->n; i++) {
        struct str name = sass->at[i].name, part;
        if (!str_ends(name, S(".csv")))
            continue;
        part = arena_format(arena, ".%.*s.annotated.", (int)name.n - 4, name.at);
        if (!str_contains(source->name, part))
            continue;
        TRY(mapfile_open(&map, sass->at[i].path, d));
        read_sass(a, map.text, source->name, arena);
        mapfile_close(&map);
    }
    return ST_OK;
}

static void annotated_release(struct gpu_annotated *a)
{
    vec_free(&a->lines);
    vec_free(&a->sass);
}

enum status gpu_annotated_read(const char *run, const char *regex, struct arena *arena,
                               struct gpu_annotations *out, struct diag *d)
{
    struct fs_list sources = {0}, sass = {0};
    const char *folder = fs_join(arena, run, "source"), *code = fs_join(arena, run, "sass");
    struct pattern *pattern = NULL;
    enum status st = ST_OK;

    *out = (struct gpu_annotations){0};
    if (fs_is_dir(folder))
        TRY(fs_list(arena, folder, &sources, d));
    if (fs_is_dir(code))
        TRY(fs_list(arena, code, &sass, d));
    if (regex != NULL)
        TRY(gpu_regex_compile(regex, &pattern, d));
    for (size_t i = 0; i < sources.n && st == ST_OK; i++) {
        struct gpu_annotated a = {.kernel = S(""), .samples = NAN};
        if (sources.at[i].kind != FS_FILE || !str_contains(sources.at[i].name, S(".annotated.")))
            continue;
        st = read_file(&a, &sources.at[i], &sass, arena, d);
        if (st == ST_OK && (pattern == NULL || pattern_finds(pattern, a.kernel)))
            vec_push(&out->at, a);
        else
            annotated_release(&a);
    }
    pattern_free(pattern);
    if (st != ST_OK || out->at.n > 0)
        return st;
    st = diag_fail(d, ST_NOT_FOUND, "gpu.no-source", (struct where){.path = run},
                   regex != NULL ? "no source lines of a kernel with that name"
                                 : "no source lines in this run");
    diag_hint(d, "try",
              "compile with -lineinfo and profile in annotation or ncu mode; `strata gpu report` "
              "names the kernels");
    return st;
}

void gpu_annotated_free(struct gpu_annotations *a)
{
    for (size_t i = 0; i < a->at.n; i++)
        annotated_release(&a->at.at[i]);
    vec_free(&a->at);
}

/* ---- for people ---- */

void gpu_annotated_show(const struct gpu_annotated *a, bool has_sass, struct report *r)
{
    report_heading(r, a->kernel);
    for (size_t i = 0; i < a->lines.n; i++) {
        const struct gpu_annotated_line *l = &a->lines.at[i];
        char share[16] = "";
        if (l->share > 0)
            snprintf(share, sizeof(share), "%.1f%%", l->share);
        report_line(r, "%7s %-22.*s %5llu %.*s", share, STR_ARGS(l->stall),
                    (unsigned long long)l->line, STR_ARGS(l->text));
        for (size_t k = 0; l->share > 0 && has_sass && k < a->sass.n; k++) {
            const struct gpu_annotated_sass *s = &a->sass.at[k];
            if (s->line == l->line)
                report_line(r, "        %5.1f%% %-22.*s        %.*s  %.*s",
                            a->samples > 0 ? 100 * s->samples / a->samples : 0, STR_ARGS(s->stall),
                            STR_ARGS(s->pc), STR_ARGS(s->text));
        }
    }
}

/* ---- for programs ---- */

#define LINE(member) FIELD(struct gpu_annotated_line, member, #member, .is_optional = true)

static const struct field line_fields[] = {LINE(line), LINE(share), LINE(stall), LINE(text)};
static const struct record line_record = RECORD(struct gpu_annotated_line, line_fields);

#define SASS(member) FIELD(struct gpu_annotated_sass, member, #member, .is_optional = true)

static const struct field sass_fields[] = {SASS(pc), SASS(line), SASS(samples), SASS(stall),
                                           SASS(text)};
static const struct record sass_record = RECORD(struct gpu_annotated_sass, sass_fields);

static const struct field source_fields[] = {
    FIELD(struct gpu_annotated, kernel, "kernel"),
    FIELD(struct gpu_annotated, path, "path"),
    FIELD(struct gpu_annotated, samples, "samples", .is_optional = true),
    FIELD_LIST(struct gpu_annotated, lines.at, lines.n, "lines", &line_record),
    FIELD_LIST(struct gpu_annotated, sass.at, sass.n, "instructions", &sass_record),
};
static const struct record source_record = RECORD(struct gpu_annotated, source_fields);

static const struct field annotate_fields[] = {
    FIELD_LIST(struct gpu_annotations, at.at, at.n, "sources", &source_record),
};
static const struct record annotate_record = RECORD(struct gpu_annotations, annotate_fields);

const struct schema gpu_annotate_schema = {
    .name = "strata.gpu-annotate/1",
    .title = "source lines of GPU kernels with samples",
    .record = &annotate_record,
};
