#include "gpu/rundir.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/csv_write.h"
#include "base/fs.h"
#include "base/mapfile.h"
#include "gpu/report.h"

enum { TRIES = 1000 };

enum status gpu_rundir_put(const char *dir, const char *name, struct str text, struct diag *d)
{
    struct outfile f;
    struct arena arena;

    arena_init(&arena);
    enum status st = outfile_open(&f, fs_join(&arena, dir, name), d);
    if (st == ST_OK) {
        outfile_write(&f, text);
        st = outfile_commit(&f, OUTFILE_FAST, d);
    }
    arena_free(&arena);
    return st;
}

static bool is_taken(struct arena *arena, const char *path)
{
    return fs_exists(path) || fs_exists(arena_format(arena, "%s.partial", path).at);
}

static enum status refuse(struct diag *d, const char *path)
{
    diag_fail(d, ST_IO, "gpu.out-exists", (struct where){.path = path},
              "the folder exists and is not empty");
    diag_hint(d, "try", "another --out, or remove it");
    return ST_IO;
}

static enum status open_given(struct arena *arena, const char *out, struct gpu_rundir *dir,
                              struct diag *d)
{
    struct fs_list list;

    dir->final = arena_cstr(arena, str_of(out));
    dir->partial = arena_format(arena, "%s.partial", out).at;
    if (fs_exists(out)) {
        if (!fs_is_dir(out))
            return refuse(d, out);
        TRY(fs_list(arena, out, &list, d));
        if (list.n > 0)
            return refuse(d, out);
    }
    if (fs_exists(dir->partial))
        return refuse(d, dir->partial);
    return fs_mkdirs(dir->partial, d);
}

enum status gpu_rundir_open(struct arena *arena, const struct gpu_run *run, const char *out,
                            const char *timestamp, struct gpu_rundir *dir, struct diag *d)
{
    *dir = (struct gpu_rundir){0};
    if (out != NULL)
        return open_given(arena, out, dir, d);
    struct str slug =
        run->defaults_slug.n > 0 ? run->defaults_slug : gpu_params_slug(arena, &run->params, NULL);
    dir->parent =
        arena_format(arena, "out/profiles/%.*s/%.*s/%.*s",
                     STR_ARGS(gpu_file_name(arena, run->mode)),
                     STR_ARGS(gpu_file_name(arena, str_part(run->kernel, 0, 96))), STR_ARGS(slug))
            .at;
    dir->final = arena_format(arena, "%s/%s", dir->parent, timestamp).at;
    for (int i = 2; is_taken(arena, dir->final) && i < TRIES; i++)
        dir->final = arena_format(arena, "%s/%s-%d", dir->parent, timestamp, i).at;
    dir->partial = arena_format(arena, "%s.partial", dir->final).at;
    return fs_mkdirs(dir->partial, d);
}

static enum status write_metrics(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct text b = {0};
    struct csv_write *out = mem_grow(NULL, sizeof(*out), 1);
    static const char *const heads[] = {"id", "kernel", "section", "metric", "unit", "value"};

    csv_write_open(out, text_sink(&b));
    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        csv_write_cell(out, str_of(heads[i]));
    csv_write_row(out);
    for (size_t i = 0; i < run->kernels.n; i++) {
        const struct gpu_kernel *k = &run->kernels.at[i];
        for (size_t m = 0; m < GPU_METRICS + k->values.n; m++) {
            bool is_ours = m < GPU_METRICS;
            const struct gpu_value *v = is_ours ? NULL : &k->values.at[m - GPU_METRICS];
            double number = is_ours ? k->m[m] : v->number;
            if (is_ours && isnan(number))
                continue;
            csv_write_i64(out, (int64_t)k->id);
            csv_write_cell(out, k->name);
            csv_write_cell(out, is_ours ? S("strata") : v->section);
            csv_write_cell(out, is_ours ? str_of(gpu_metric_name((enum gpu_metric)m)) : v->name);
            csv_write_cell(out, is_ours ? str_of(gpu_metric_unit((enum gpu_metric)m)) : v->unit);
            isnan(number) ? csv_write_cell(out, v->text) : csv_write_f64(out, number);
            csv_write_row(out);
        }
    }
    csv_write_close(out);
    mem_free(out);
    enum status st = gpu_rundir_put(dir, "metrics.csv", (struct str){b.at, b.n}, d);
    text_free(&b);
    return st;
}

static enum status write_timings(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct gpu_text t = {0};

    if (run->timings.n == 0)
        return ST_OK;
    gpu_put(&t, "run,us\n");
    for (size_t i = 0; i < run->timings.n; i++)
        gpu_put(&t, "%zu,%.3f\n", i, run->timings.at[i] / 1e3);
    enum status st = gpu_rundir_put(dir, "timings.csv", gpu_text_view(&t), d);
    gpu_text_free(&t);
    return st;
}

/* What the plan says of a stage, and what was measured. */
static enum status write_tiling(struct arena *arena, const char *dir, const struct gpu_stage *s,
                                struct diag *d)
{
    struct text b = {0};
    struct json_writer w;
    const struct gpu_kernel *k = s->main;
    const char *name =
        arena_format(arena, "tiling/%.*s.json", STR_ARGS(gpu_file_name(arena, s->name))).at;

    if (k == NULL && s->tiling == NULL)
        return ST_OK;
    TRY(fs_mkdirs(fs_join(arena, dir, "tiling"), d));
    json_write_init(&w, text_sink(&b), JSON_INDENTED);
    json_write_object(&w);
    for (const struct tree *m = s->tiling != NULL ? s->tiling->first : NULL; m; m = m->next) {
        json_write_key(&w, m->key);
        tree_put(&w, m);
    }
    if (k != NULL) {
        gpu_rundir_put_dims(&w, "grid", k->grid);
        gpu_rundir_put_dims(&w, "block", k->block);
        gpu_rundir_put_dims(&w, "cluster", k->cluster);
        json_put_f64(&w, "registers", k->m[GPU_M_REGS]);
        json_put_f64(&w, "smem_static", k->m[GPU_M_SMEM_STATIC]);
        json_put_f64(&w, "smem_dynamic", k->m[GPU_M_SMEM_DYNAMIC]);
        json_put_f64(&w, "local_bytes_per_thread", k->m[GPU_M_LOCAL_PER_THREAD]);
        json_put_f64(&w, "occupancy_theoretical",
                     isnan(s->occupancy.theory_pct) ? k->m[GPU_M_OCC_THEORY]
                                                    : s->occupancy.theory_pct);
    }
    json_write_end(&w);
    json_write_finish(&w);
    enum status st = gpu_rundir_put(dir, name, (struct str){b.at, b.n}, d);
    text_free(&b);
    return st;
}

static enum status copy(struct arena *arena, const char *dir, const char *folder, const char *name,
                        struct str from, struct diag *d)
{
    struct mapfile map;

    TRY(fs_mkdirs(fs_join(arena, dir, folder), d));
    TRY(mapfile_open(&map, arena_cstr(arena, from), d));
    enum status st = gpu_rundir_put(fs_join(arena, dir, folder), name, map.text, d);
    mapfile_close(&map);
    return st;
}

/* Files that the plan names: the search history of a tiling, what a compiler made. */
static enum status copy_supplied(struct arena *arena, const char *dir, const struct gpu_stage *s,
                                 struct diag *d)
{
    const char *stage = arena_cstr(arena, gpu_file_name(arena, s->name));

    if (s->autotuning.n > 0)
        TRY(copy(arena, dir, arena_format(arena, "tiling/%s", stage).at, "autotuning.json",
                 s->autotuning, d));
    for (size_t i = 0; i < s->compiled.n; i++)
        TRY(copy(arena, dir, arena_format(arena, "compiled/%s", stage).at,
                 arena_cstr(arena, gpu_file_name(arena, str_basename(s->compiled.at[i]))),
                 s->compiled.at[i], d));
    return ST_OK;
}

/* A name for the files of a listing that no other listing has. */
static const char *listing_name(struct arena *arena, const struct gpu_import *import, size_t i)
{
    struct str name =
        gpu_file_name(arena, str_part(gpu_short_name(import->listings.at[i].kernel), 0, 80));
    size_t before = 0;

    for (size_t k = 0; k < i; k++)
        before += str_equal(
            gpu_file_name(arena, str_part(gpu_short_name(import->listings.at[k].kernel), 0, 80)),
            name);
    return before == 0 ? arena_cstr(arena, name)
                       : arena_format(arena, "%.*s-%zu", STR_ARGS(name), before + 1).at;
}

static enum status put_sass(struct arena *arena, const char *dir, const struct gpu_listing *l,
                            const char *name, struct diag *d)
{
    struct text b = {0};

    gpu_sass_write(l, text_sink(&b));
    enum status st = gpu_rundir_put(dir, arena_format(arena, "sass/%s.csv", name).at,
                                    (struct str){b.at, b.n}, d);
    text_free(&b);
    return st;
}

/* source/<file>.annotated.<ext>; kernels of one file are told apart by their names. */
static enum status put_source(struct arena *arena, const char *dir, const struct gpu_listing *l,
                              const char *name, struct diag *d)
{
    for (size_t i = 0; i < l->lines.n; i++) {
        struct str file = l->lines.at[i].file;
        bool is_seen = false;
        for (size_t k = 0; k < i && !is_seen; k++)
            is_seen = str_equal(l->lines.at[k].file, file);
        if (is_seen)
            continue;
        struct str base = gpu_file_name(arena, str_basename(file));
        size_t dot = base.n;
        while (dot > 0 && base.at[dot - 1] != '.')
            dot--;
        struct text b = {0};
        struct str stem = str_part(base, 0, dot > 1 ? dot - 1 : base.n);
        struct str ext = dot > 1 ? str_part(base, dot, base.n) : S("txt");
        gpu_annotated_write(l, file, text_sink(&b));
        enum status st = gpu_rundir_put(dir,
                                        arena_format(arena, "source/%.*s.%s.annotated.%.*s",
                                                     STR_ARGS(stem), name, STR_ARGS(ext))
                                            .at,
                                        (struct str){b.at, b.n}, d);
        text_free(&b);
        TRY(st);
    }
    return ST_OK;
}

static enum status write_listings(struct arena *arena, const char *dir,
                                  const struct gpu_import *import, struct diag *d)
{
    if (import == NULL || import->listings.n == 0)
        return ST_OK;
    TRY(fs_mkdirs(fs_join(arena, dir, "sass"), d));
    bool has_lines = false;
    for (size_t i = 0; i < import->listings.n; i++)
        has_lines |= import->listings.at[i].lines.n > 0;
    if (has_lines)
        TRY(fs_mkdirs(fs_join(arena, dir, "source"), d));
    for (size_t i = 0; i < import->listings.n; i++) {
        const char *name = listing_name(arena, import, i);
        TRY(put_sass(arena, dir, &import->listings.at[i], name, d));
        TRY(put_source(arena, dir, &import->listings.at[i], name, d));
    }
    return ST_OK;
}

static enum status write_all(struct arena *arena, const char *dir, const struct gpu_run *run,
                             const struct gpu_import *import, struct diag *d)
{
    TRY(gpu_rundir_write_json(dir, run, "ok", d));
    TRY(write_metrics(dir, run, d));
    TRY(write_timings(dir, run, d));
    for (size_t i = 0; i < run->stages.n; i++) {
        TRY(write_tiling(arena, dir, &run->stages.at[i], d));
        TRY(copy_supplied(arena, dir, &run->stages.at[i], d));
    }
    TRY(write_listings(arena, dir, import, d));
    TRY(gpu_ptx_write(dir, import, run, d));
    return gpu_rundir_report(dir, d);
}

enum status gpu_rundir_write(const struct gpu_rundir *dir, const struct gpu_run *run,
                             const struct gpu_import *import, struct diag *d)
{
    struct arena arena;

    arena_init(&arena);
    enum status st = write_all(&arena, dir->partial, run, import, d);
    arena_free(&arena);
    return st;
}

enum status gpu_rundir_finish(struct arena *arena, const struct gpu_rundir *dir, struct diag *d)
{
    if (rename(dir->partial, dir->final) != 0)
        return diag_fail(d, ST_IO, "gpu.out-rename", (struct where){.path = dir->final},
                         "cannot be given its name: %s", fs_error_text(errno));
    if (dir->parent == NULL)
        return ST_OK;
    /* A link is replaced by renaming a new one over it. */
    const char *link = fs_join(arena, dir->parent, "latest");
    const char *temp = fs_join(arena, dir->parent, ".latest.new");
    unlink(temp);
    if (symlink(arena_cstr(arena, str_basename(str_of(dir->final))), temp) != 0 ||
        rename(temp, link) != 0)
        diag_add(d, SEV_WARN, "gpu.no-latest", (struct where){.path = link},
                 "the link could not be set: %s", fs_error_text(errno));
    return ST_OK;
}

void gpu_rundir_abort(const struct gpu_rundir *dir, const struct gpu_run *run, struct diag *d)
{
    gpu_rundir_write_json(dir->partial, run, "aborted", d);
}

enum status gpu_rundir_report(const char *path, struct diag *d)
{
    struct gpu_text md = {0}, html = {0}, verbose = {0};
    struct gpu_run run;

    TRY(gpu_rundir_load(path, &run, d));
    gpu_report_write(&run, &md);
    gpu_report_html(gpu_text_view(&md), &html);
    enum status st = gpu_rundir_put(path, "report.md", gpu_text_view(&md), d);
    if (st == ST_OK)
        st = gpu_rundir_put(path, "report.html", gpu_text_view(&html), d);
    if (st == ST_OK && str_equal(run.mode, S("ncu"))) {
        gpu_report_verbose(&run, &verbose);
        st = gpu_rundir_put(path, "report-verbose.md", gpu_text_view(&verbose), d);
    }
    gpu_text_free(&md);
    gpu_text_free(&html);
    gpu_text_free(&verbose);
    gpu_run_free(&run);
    return st;
}
