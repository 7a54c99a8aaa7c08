/*
 * Finding the files, and writing the tables. See aic.h.
 */
#include "opdb/aic/aic.h"

#include <stdlib.h>

#include "base/files/fs.h"
#include "base/formats/yaml.h"
#include "base/run/cancel.h"
#include "base/text/text.h"
#include "base/text/text_out.h"

enum { FOLDERS_DEEP = 9 };

/* ---- finding ---- */

/* SYSTEM/FAMILY/ENGINE/VERSION/TABLE.parquet are the last five parts of a path. */
static void add_file(struct aic_import *a, const char *path)
{
    struct str parts[5], whole = S(""), text = str_of(path);
    size_t end = text.n;

    for (int i = 4; i >= 0; i--) {
        struct str rest = str_part(text, 0, end);
        parts[i] = arena_str(&a->arena, str_basename(rest));
        if (parts[i].n == 0 || !fs_is_name(parts[i].at))
            return;
        whole = str_part(text, rest.n - parts[i].n, text.n);
        end = rest.n > parts[i].n ? rest.n - parts[i].n - 1 : 0;
    }
    struct str table = str_part(parts[4], 0, parts[4].n - 8);
    struct aic_file f = {.path = path,
                         .name = whole,
                         .system = parts[0],
                         .engine = parts[2],
                         .version = parts[3],
                         .table = table,
                         .part = S(""),
                         .op = aic_op(&a->arena, table)};
    if (!aic_has_parts(table)) {
        vec_push(&a->files, f);
        return;
    }
    for (size_t i = 0; i < AIC_PARTS; i++) {
        f.part = aic_parts[i].name;
        f.op = aic_parts[i].op;
        vec_push(&a->files, f);
    }
}

static enum status find_below(struct aic_import *a, const char *dir, int depth, struct diag *d)
{
    struct fs_list list;

    TRY(fs_list(&a->arena, dir, &list, d));
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        if (e->kind == FS_DIR && depth < FOLDERS_DEEP && e->name.at[0] != '.')
            TRY(find_below(a, e->path, depth + 1, d));
        else if (e->kind == FS_FILE && str_ends(e->name, S(".parquet")))
            add_file(a, e->path);
    }
    return cancelled() ? ST_CANCELLED : ST_OK;
}

ORDER_BY(by_target, struct aic_file,
         str_compare(x->system, y->system) ?: str_compare(x->engine, y->engine)
             ?: str_compare(x->version, y->version)
             ?: str_compare(x->op, y->op) ?: str_compare(x->name, y->name));

/* SYSTEM.yaml lies beside the folder of the system, or above the one that holds it. */
static const char *system_path(struct aic_import *a, const struct aic_file *f)
{
    struct str path = str_of(f->path);
    struct str root = str_part(path, 0, path.n - f->name.n);
    const char *beside =
        arena_printf(&a->arena, "%.*s%.*s.yaml", STR_ARGS(root), STR_ARGS(f->system));

    return fs_exists(beside)
               ? beside
               : arena_printf(&a->arena, "%.*s../%.*s.yaml", STR_ARGS(root), STR_ARGS(f->system));
}

static enum status set_systems(struct aic_import *a, struct diag *d)
{
    for (size_t i = 0; i < a->files.n; i++) {
        struct aic_file *f = &a->files.at[i];
        if (i == 0 || !str_equal(f->system, a->files.at[i - 1].system)) {
            struct aic_system s;
            TRY(aic_system_read(&a->arena, system_path(a, f), f->system, &s, d));
            vec_push(&a->systems, s);
            if (!s.has_limits)
                diag_add(d, SEV_WARN, "aic.no-limits", (struct where){.path = f->path},
                         "no peaks are known of %.*s: impossible rows are not found",
                         STR_ARGS(f->system));
        }
        f->of = a->systems.n - 1;
    }
    return ST_OK;
}

static bool is_same_place(const struct aic_file *x, const struct aic_file *y)
{
    return str_equal(x->system, y->system) && str_equal(x->engine, y->engine) &&
           str_equal(x->version, y->version);
}

/* The folder of a file's tables. */
static const char *aic_folder(struct aic_import *a, const struct aic_file *f)
{
    return arena_printf(&a->arena, "%s/%.*s/%.*s/%.*s", a->dir, STR_ARGS(f->system),
                        STR_ARGS(f->engine), STR_ARGS(f->version));
}

static void set_tables(struct aic_import *a)
{
    for (size_t i = 0, next; i < a->files.n; i = next) {
        const struct aic_file *f = &a->files.at[i];
        for (next = i + 1; next < a->files.n && is_same_place(f, &a->files.at[next]) &&
                           str_equal(f->op, a->files.at[next].op);)
            next++;
        struct aic_table t = {
            .path = arena_printf(&a->arena, "%s/%.*s.csv", aic_folder(a, f), STR_ARGS(f->op)),
            .op = f->op,
            .files = i,
            .n_files = next - i};
        vec_push(&a->tables, t);
        a->databases += i == 0 || !is_same_place(f, &a->files.at[i - 1]);
    }
}

enum status aic_find(struct aic_import *a, const char *source, const char *dir, struct diag *d)
{
    *a = (struct aic_import){.source = source, .dir = dir};
    arena_init(&a->arena);
    if (!fs_is_dir(source))
        return diag_fail(d, ST_NOT_FOUND, "aic.no-files", (struct where){.path = source},
                         "folder not found");
    struct str path = str_of(source);
    while (path.n > 1 && path.at[path.n - 1] == '/')
        path.n--;
    TRY(find_below(a, arena_cstr(&a->arena, path), 0, d));
    if (a->files.n == 0)
        return diag_fail(d, ST_NOT_FOUND, "aic.no-files", (struct where){.path = source},
                         "no SYSTEM/FAMILY/ENGINE/VERSION/TABLE.parquet below it");
    qsort(a->files.at, a->files.n, sizeof(*a->files.at), by_target);
    TRY(set_systems(a, d));
    set_tables(a);
    return ST_OK;
}

void aic_free(struct aic_import *a)
{
    for (size_t i = 0; i < a->tables.n; i++)
        diag_fini(&a->tables.at[i].diag);
    vec_free(&a->tables);
    vec_free(&a->files);
    vec_free(&a->systems);
    arena_free(&a->arena);
}

/* ---- writing ---- */

static enum status write_rows(struct aic_import *a, struct aic_table *t, struct sink sink)
{
    struct text_out *out = mem_grow(NULL, sizeof(*out), 1);
    enum status st = ST_OK;

    text_out_open(out, sink);
    for (size_t i = 0; i < t->n_files && st == ST_OK; i++) {
        struct aic_file *f = &a->files.at[t->files + i];
        st = aic_rows(f, &a->systems.at[f->of], i == 0, out, &t->diag);
        t->rows += f->kept;
    }
    if (!text_out_close(out) && st == ST_OK)
        st = ST_IO; /* outfile_commit() says why */
    mem_free(out);
    return st;
}

/* A table with a damaged file is not written, as half of it would look whole. ST_IO is that of the
 * output: the commit says why. */
static void write_table(void *ctx, size_t i)
{
    struct aic_import *a = ctx;
    struct aic_table *t = &a->tables.at[i];
    struct outfile file;

    diag_init(&t->diag);
    if (a->is_dry_run) {
        t->status = write_rows(a, t, (struct sink){sink_drop, NULL});
        return;
    }
    t->status = outfile_open(&file, t->path, &t->diag);
    if (t->status != ST_OK)
        return;
    enum status st = write_rows(a, t, outfile_sink(&file));
    if (st == ST_OK || st == ST_IO)
        t->status = outfile_commit(&file, OUTFILE_FAST, &t->diag);
    else
        outfile_abort(&file);
    if (t->status == ST_OK)
        t->status = st;
}

static enum status make_folders(struct aic_import *a, bool is_overwriting, struct diag *d)
{
    for (size_t i = 0; i < a->tables.n; i++) {
        const struct aic_table *t = &a->tables.at[i];
        if (fs_exists(t->path) && !is_overwriting)
            return diag_fail(d, ST_UNSUPPORTED, "aic.table-exists", (struct where){.path = t->path},
                             "there is a table already; --overwrite replaces it");
    }
    for (size_t i = 0; i < a->files.n && !a->is_dry_run; i++)
        if (i == 0 || !is_same_place(&a->files.at[i], &a->files.at[i - 1]))
            TRY(fs_mkdirs(aic_folder(a, &a->files.at[i]), d));
    return ST_OK;
}

/* Which tables of other versions stand in, by the reuse.yaml files of this version. */
static void add_reuse(struct aic_import *a, const struct aic_file *f, struct text *out)
{
    struct str path = str_of(f->path);
    const char *near =
        arena_printf(&a->arena, "%.*s", (int)(path.n - str_basename(path).n), path.at);
    const char *file = fs_join(&a->arena, near, "reuse.yaml");
    const struct tree *top;
    struct diag none;

    if (!fs_exists(file))
        return;
    diag_init(&none);
    if (yaml_read_file(&a->arena, file, &top, &none) == ST_OK)
        for (const struct tree *v = tree_items(tree_get(top, S("reuse"))); v != NULL; v = v->next) {
            struct str table = tree_get_text(v, S("table"), S(""));
            struct str from = tree_get_text(v, S("from_version"), S(""));
            const char *key =
                arena_printf(&a->arena, "  %.*s: ", STR_ARGS(aic_op(&a->arena, table)));
            bool is_new = !str_contains(text_view(out), str_of(key)); /* two tables, one operator */
            if (is_new && table.n > 0 && from.n > 0 && fs_is_name(arena_cstr(&a->arena, from)))
                text_format(out, "%s\"%.*s\"\n", key, STR_ARGS(from));
        }
    diag_fini(&none);
}

/* engine.yaml: where the rows of a folder are from. */
static enum status write_origin(struct aic_import *a, size_t first, size_t end, struct diag *d)
{
    const struct aic_file *f = &a->files.at[first];
    const struct aic_system *s = &a->systems.at[f->of];
    struct text out = {0}, reuse = {0};
    struct str seen = S("");

    text_format(&out, "device: %.*s\nengine: %.*s\nversion: \"%.*s\"\nsource: AIConfigurator\n",
                STR_ARGS(f->system), STR_ARGS(f->engine), STR_ARGS(f->version));
    if (s->nccl.n > 0 && !str_equal(f->engine, S("nccl")))
        text_format(&out, "collectives: nccl/%.*s\n", STR_ARGS(s->nccl));
    for (size_t i = first; i < end; i++) {
        struct str path = str_of(a->files.at[i].path);
        struct str near = str_part(path, 0, path.n - str_basename(path).n);
        if (!str_equal(near, seen))
            add_reuse(a, &a->files.at[i], &reuse);
        seen = near;
    }
    if (reuse.n > 0) {
        text_put(&out, S("reuse:\n"));
        text_put(&out, text_view(&reuse));
    }
    enum status st =
        outfile_resave(fs_join(&a->arena, aic_folder(a, f), "engine.yaml"), text_view(&out), d);
    text_free(&out);
    text_free(&reuse);
    return st;
}

static void add_link(struct text *out, const struct aic_system *s, const char *tier, int64_t cards,
                     double seconds, double speed)
{
    if (cards > 1 && speed > 0)
        text_format(out, "%.*s,%s,%lld,%.6g,%.6g,ring,AIConfigurator %.*s.yaml\r\n",
                    STR_ARGS(s->name), tier, (long long)cards, seconds * 1e6, speed / 1e9,
                    STR_ARGS(s->name));
}

/* links.csv: how fast cards reach one another, tier by tier. */
static enum status write_links(struct aic_import *a, const struct aic_system *s, struct diag *d)
{
    enum { MANY = 1 << 16 };
    struct text out = {0};
    const char *path = arena_printf(&a->arena, "%s/%.*s/links.csv", a->dir, STR_ARGS(s->name));

    text_put(&out, S("system,tier,cards,alpha_us,GB/s,algorithm,source\r\n"));
    add_link(&out, s, "node", s->node_cards, s->link_seconds, s->node_speed);
    add_link(&out, s, s->rack_cards > 0 ? "rack" : "network",
             s->rack_cards > 0 ? s->rack_cards : MANY, s->link_seconds, s->other_speed);
    if (s->rack_cards > 0)
        add_link(&out, s, "network", MANY, s->rack_seconds, s->rack_speed);
    enum status st = outfile_resave(path, text_view(&out), d);
    text_free(&out);
    return st;
}

static enum status write_origins(struct aic_import *a, struct diag *d)
{
    for (size_t i = 0, next; i < a->files.n; i = next) {
        for (next = i + 1; next < a->files.n && is_same_place(&a->files.at[i], &a->files.at[next]);)
            next++;
        TRY(write_origin(a, i, next, d));
    }
    for (size_t i = 0; i < a->systems.n; i++)
        TRY(write_links(a, &a->systems.at[i], d));
    return ST_OK;
}

enum status aic_write(struct aic_import *a, bool is_overwriting, struct pool *pool, struct diag *d)
{
    enum status st = ST_OK;

    TRY(make_folders(a, is_overwriting, d));
    pool_for(pool, a->tables.n, write_table, a);
    for (size_t i = 0; i < a->tables.n; i++) {
        diag_merge(d, &a->tables.at[i].diag);
        if (st == ST_OK)
            st = a->tables.at[i].status;
    }
    for (size_t i = 0; i < a->files.n; i++) {
        const struct aic_file *f = &a->files.at[i];
        a->rows += f->rows;
        a->kept += f->kept;
        a->below_flop += f->below_flop;
        a->below_memory += f->below_memory;
        a->unusable += f->unusable;
    }
    return st == ST_OK && !a->is_dry_run ? write_origins(a, d) : st;
}
