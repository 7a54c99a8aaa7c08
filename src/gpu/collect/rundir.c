/*
 * The folder of a run: where it goes, and everything that is written into it.
 */
#include "gpu/collect/rundir.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/csv_write.h"
#include "base/formats/json_read.h"
#include "gpu/collect/run_record.h"
#include "gpu/judge/report.h"
#include "ops/short_name.h"

enum { TRIES = 1000 };

enum status gpu_rundir_put(const char *dir, const char *name, struct str text, struct diag *d)
{
    struct arena arena;

    arena_init(&arena);
    enum status st = outfile_save(fs_join(&arena, dir, name), text, d);
    arena_free(&arena);
    return st;
}

static bool is_taken(struct arena *arena, const char *path)
{
    return fs_exists(path) || fs_exists(arena_printf(arena, "%s.partial", path));
}

static enum status rundir_refuse(struct diag *d, const char *path)
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
    dir->partial = arena_printf(arena, "%s.partial", out);
    if (fs_exists(out)) {
        if (!fs_is_dir(out))
            return rundir_refuse(d, out);
        TRY(fs_list(arena, out, &list, d));
        if (list.n > 0)
            return rundir_refuse(d, out);
    }
    if (fs_exists(dir->partial))
        return rundir_refuse(d, dir->partial);
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
    dir->parent = arena_printf(
        arena, "strata-out/profiles/%.*s/%.*s/%.*s", STR_ARGS(fs_safe_name(arena, run->mode, '-')),
        STR_ARGS(fs_safe_name(arena, str_part(run->kernel, 0, 96), '-')), STR_ARGS(slug));
    dir->final = arena_printf(arena, "%s/%s", dir->parent, timestamp);
    for (int i = 2; is_taken(arena, dir->final) && i < TRIES; i++)
        dir->final = arena_printf(arena, "%s/%s-%d", dir->parent, timestamp, i);
    dir->partial = arena_printf(arena, "%s.partial", dir->final);
    return fs_mkdirs(dir->partial, d);
}

/* ---- JSON ---- */

static enum status put_record(const char *dir, const char *name,
                              void (*members)(struct json_writer *w, const void *what,
                                              const struct record_env *env),
                              const void *what, const struct record_env *env, struct diag *d)
{
    struct text t = {0};
    struct json_writer w;

    json_write_init(&w, text_sink(&t), JSON_INDENTED);
    json_write_object(&w);
    members(&w, what, env);
    json_write_end(&w);
    json_write_finish(&w);
    enum status st = gpu_rundir_put(dir, name, text_view(&t), d);
    text_free(&t);
    return st;
}

static void params_members(struct json_writer *w, const void *what, const struct record_env *env)
{
    const struct gpu_run *run = what;

    for (size_t i = 0; i < run->params.list.n; i++) {
        const struct gpu_param *p = &run->params.list.at[i];
        json_write_key(w, p->name);
        if (p->is_string || !json_is_number(p->text))
            json_write_string(w, p->text);
        else
            json_write_number(w, p->text);
    }
    record_json_members(w, &gpu_params_record, run, env);
}

static void kernels_members(struct json_writer *w, const void *what, const struct record_env *env)
{
    record_json_members(w, &gpu_kernels_record, what, env);
}

/* `env->user` is how the run ended. */
static void run_members(struct json_writer *w, const void *what, const struct record_env *env)
{
    const struct gpu_run *run = what;
    bool has_clock = false;

    json_put_text(w, "status", env->user);
    json_put_str(w, "strata", S(STRATA_VERSION));
    for (size_t i = 0; i < run->info.n; i++) {
        json_write_key(w, run->info.at[i].key);
        tree_put(w, run->info.at[i].value);
        has_clock = has_clock || str_equal(run->info.at[i].key, S("clock"));
    }
    record_json_members(w, has_clock ? &gpu_notes_record : &gpu_info_record, run, env);
}

/* What the plan says of a stage, and what was measured. */
static void tiling_members(struct json_writer *w, const void *what, const struct record_env *env)
{
    const struct gpu_stage *s = what;

    for (const struct tree *m = s->tiling != NULL ? s->tiling->first : NULL; m; m = m->next) {
        json_write_key(w, m->key);
        tree_put(w, m);
    }
    if (s->main != NULL)
        record_json_members(w, &gpu_tiling_record, s->main, env);
}

static enum status write_json(const char *dir, const struct gpu_run *run, const char *status,
                              struct diag *d)
{
    struct arena arena;
    struct record_env env = {.arena = &arena, .user = status};

    arena_init(&arena);
    enum status st = put_record(dir, "params.json", params_members, run, &env, d);
    if (st == ST_OK)
        st = put_record(dir, "kernels.json", kernels_members, run, &env, d);
    if (st == ST_OK)
        st = put_record(dir, "run.json", run_members, run, &env, d);
    arena_free(&arena);
    return st;
}

/* ---- CSV ---- */

/* One metric of ours, or one value of a tool. */
struct metric_row {
    uint64_t id;
    struct str kernel, section, metric, unit, text;
    double number; /* NAN: the text counts */
};

static struct field_value rundir_value_of(const void *record, const struct record_env *env)
{
    const struct metric_row *row = record;

    (void)env;
    return isnan(row->number) ? value_text(row->text) : value_real(row->number);
}

static const struct field metric_fields[] = {
    FIELD(struct metric_row, id, "id"),           FIELD(struct metric_row, kernel, "kernel"),
    FIELD(struct metric_row, section, "section"), FIELD(struct metric_row, metric, "metric"),
    FIELD(struct metric_row, unit, "unit"),       FIELD_CALC(FIELD_F64, "value", rundir_value_of),
};
static const struct record metric_record = RECORD(struct metric_row, metric_fields);

static enum status write_metrics(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct text t = {0};
    struct csv_write *out = mem_grow(NULL, sizeof(*out), 1);

    csv_write_open(out, text_sink(&t));
    record_csv_heads(out, &metric_record);
    for (size_t i = 0; i < run->kernels.n; i++) {
        const struct gpu_kernel *k = &run->kernels.at[i];
        struct metric_row row = {.id = k->id, .kernel = k->name, .section = S("strata")};
        for (unsigned m = 0; m < GPU_METRICS; m++) {
            row.metric = str_of(gpu_metric_name((enum gpu_metric)m));
            row.unit = str_of(gpu_metric_unit((enum gpu_metric)m));
            row.number = k->m[m];
            if (!isnan(row.number))
                record_csv_row(out, &metric_record, &row, NULL);
        }
        for (size_t n = 0; n < k->values.n; n++) {
            const struct gpu_value *v = &k->values.at[n];
            row = (struct metric_row){k->id,   k->name, v->section, v->name,
                                      v->unit, v->text, v->number};
            record_csv_row(out, &metric_record, &row, NULL);
        }
    }
    csv_write_close(out);
    mem_free(out);
    enum status st = gpu_rundir_put(dir, "metrics.csv", text_view(&t), d);
    text_free(&t);
    return st;
}

static enum status write_timings(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct text t = {0};

    if (run->timings.n == 0)
        return ST_OK;
    text_put(&t, S("run,us\n"));
    for (size_t i = 0; i < run->timings.n; i++)
        text_format(&t, "%zu,%.3f\n", i, run->timings.at[i] / 1e3);
    enum status st = gpu_rundir_put(dir, "timings.csv", text_view(&t), d);
    text_free(&t);
    return st;
}

/* ---- files of others ---- */

static enum status rundir_copy(struct arena *arena, const char *dir, const char *folder,
                               const char *name, struct str from, struct diag *d)
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
    const char *stage = arena_cstr(arena, fs_safe_name(arena, s->name, '-'));

    if (s->autotuning.n > 0)
        TRY(rundir_copy(arena, dir, arena_printf(arena, "tiling/%s", stage), "autotuning.json",
                        s->autotuning, d));
    for (size_t i = 0; i < s->compiled.n; i++)
        TRY(rundir_copy(
            arena, dir, arena_printf(arena, "compiled/%s", stage),
            arena_cstr(arena, fs_safe_name(arena, str_basename(s->compiled.at[i]), '-')),
            s->compiled.at[i], d));
    return ST_OK;
}

/* A name for the files of a listing that no other listing has. */
static const char *listing_name(struct arena *arena, const struct gpu_import *import, size_t i)
{
    struct str name =
        fs_safe_name(arena, str_part(short_name_of(import->listings.at[i].kernel), 0, 80), '-');
    size_t before = 0;

    for (size_t k = 0; k < i; k++)
        before += str_equal(
            fs_safe_name(arena, str_part(short_name_of(import->listings.at[k].kernel), 0, 80), '-'),
            name);
    return before == 0 ? arena_cstr(arena, name)
                       : arena_printf(arena, "%.*s-%zu", STR_ARGS(name), before + 1);
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
        struct str base = fs_safe_name(arena, str_basename(file), '-');
        size_t dot = base.n;
        while (dot > 0 && base.at[dot - 1] != '.')
            dot--;
        struct text b = {0};
        struct str stem = str_part(base, 0, dot > 1 ? dot - 1 : base.n);
        struct str ext = dot > 1 ? str_part(base, dot, base.n) : S("txt");
        gpu_annotated_write(l, file, text_sink(&b));
        enum status st = gpu_rundir_put(dir,
                                        arena_printf(arena, "source/%.*s.%s.annotated.%.*s",
                                                     STR_ARGS(stem), name, STR_ARGS(ext)),
                                        text_view(&b), d);
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
        struct text sass = {0};
        gpu_sass_write(&import->listings.at[i], text_sink(&sass));
        enum status st =
            gpu_rundir_put(dir, arena_printf(arena, "sass/%s.csv", name), text_view(&sass), d);
        text_free(&sass);
        TRY(st);
        TRY(put_source(arena, dir, &import->listings.at[i], name, d));
    }
    return ST_OK;
}

static enum status write_all(struct arena *arena, const char *dir, struct gpu_run *run,
                             const struct gpu_import *import, struct diag *d)
{
    TRY(write_json(dir, run, "ok", d));
    TRY(write_metrics(dir, run, d));
    TRY(write_timings(dir, run, d));
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        struct str name = fs_safe_name(arena, s->name, '-');
        if (s->main != NULL || s->tiling != NULL) {
            TRY(fs_mkdirs(fs_join(arena, dir, "tiling"), d));
            TRY(put_record(dir, arena_printf(arena, "tiling/%.*s.json", STR_ARGS(name)),
                           tiling_members, s, &(struct record_env){.user = s}, d));
        }
        TRY(copy_supplied(arena, dir, s, d));
    }
    TRY(write_listings(arena, dir, import, d));
    TRY(gpu_ptx_write(dir, import, run, d));
    if (gpu_run_clean(run))
        gpu_run_judge(run);
    struct text markdown = {0};
    enum status st = gpu_rundir_report(dir, run, LANG_EN, &markdown, d);
    text_free(&markdown);
    return st;
}

enum status gpu_rundir_write(const struct gpu_rundir *dir, struct gpu_run *run,
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
    write_json(dir->partial, run, "aborted", d);
}

enum status gpu_rundir_report(const char *path, const struct gpu_run *run, enum lang lang,
                              struct text *markdown, struct diag *d)
{
    struct text html = {0}, verbose = {0};

    gpu_report_write(run, lang, markdown);
    gpu_report_html(text_view(markdown), lang, &html);
    enum status st = gpu_rundir_put(path, "report.md", text_view(markdown), d);
    if (st == ST_OK)
        st = gpu_rundir_put(path, "report.html", text_view(&html), d);
    if (st == ST_OK && str_equal(run->mode, S("ncu"))) {
        gpu_report_verbose(run, &verbose);
        st = gpu_rundir_put(path, "report-verbose.md", text_view(&verbose), d);
    }
    text_free(&html);
    text_free(&verbose);
    return st;
}
