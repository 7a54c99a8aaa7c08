/*
 * The GPU code of the kernels of a run. See gpu_modes.h.
 */
#include "gpu/collect/gpu_modes.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/json_write.h"
#include "driver/cubin.h"
#include "driver/driver.h"
#include "gpu/collect/rundir.h"
#include "gpu/ncu/ncu_source.h"

enum {
    KERNELS_MOST = 16,      /* of a stage: those that take longest */
    MODULE_MOST = 64 << 20, /* bytes of a module that is kept */
    NAMES_MOST = 1 << 14,   /* different mangled names of a run */
};

/* A kernel whose code is wanted. */
struct wanted {
    struct str name, mangled;
    double ns;
    size_t stage;
    bool is_found, has_ptx;
    const char *cubin; /* file name in the stage's folder; NULL: not kept */
    struct cubin_function function;
};

struct keeping {
    const struct gpu_compiled_job *job;
    struct gpu_run *run;
    struct gpu_import *pages;
    struct diag *diag;
    struct arena *arena; /* of this call */
    VEC_OF(struct wanted) wanted;
    const char *nvdisasm; /* NULL: not here */
};

/* ---- what is wanted ---- */

ORDER_BY(by_name, struct wanted, str_compare(x->mangled, y->mangled));

ORDER_BY(by_time, struct wanted, ORDER(y->ns, x->ns) ?: by_name(x, y));

/* One of each name, with their times added up. */
static size_t merge(struct wanted *list, size_t n)
{
    size_t kept = 0;

    if (n > 0)
        qsort(list, n, sizeof(*list), by_name);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && str_equal(list[kept - 1].mangled, list[i].mangled))
            list[kept - 1].ns += list[i].ns;
        else
            list[kept++] = list[i];
    }
    return kept;
}

/* Every function of the run with its time, longest first. */
static size_t functions_of(const struct gpu_compiled_job *job, struct wanted *out)
{
    size_t n = 0;

    for (size_t i = 0; i < job->n_launches; i++) {
        const struct gpu_launch *l = &job->launches[i];
        if (n > 0 && str_equal(out[n - 1].mangled, l->mangled)) {
            out[n - 1].ns += (double)l->duration_ns;
            continue;
        }
        if (n == NAMES_MOST)
            n = merge(out, n);
        if (n < NAMES_MOST)
            out[n++] = (struct wanted){
                .name = l->name, .mangled = l->mangled, .ns = (double)l->duration_ns};
    }
    n = merge(out, n);
    if (n > 0)
        qsort(out, n, sizeof(*out), by_time);
    return n;
}

static void want_kernels(struct keeping *k)
{
    struct wanted *all = mem_grow(NULL, sizeof(*all), NAMES_MOST);
    size_t n = functions_of(k->job, all);

    for (size_t s = 0; s < k->run->stages.n; s++) {
        size_t taken = 0;
        for (size_t i = 0; i < n && taken < KERNELS_MOST; i++) {
            if (!gpu_stage_has(k->run, &k->run->stages.at[s], all[i].name))
                continue;
            struct wanted w = all[i];
            w.stage = s;
            vec_push(&k->wanted, w);
            taken++;
        }
    }
    mem_free(all);
}

/* ---- files ---- */

static const char *stage_folder(struct keeping *k, size_t stage)
{
    return arena_printf(k->arena, "%s/compiled/%.*s", k->job->folder,
                        STR_ARGS(fs_safe_name(k->arena, k->run->stages.at[stage].name, '-')));
}

static void compiled_put(struct keeping *k, size_t stage, const char *name, struct str text)
{
    const char *folder = stage_folder(k, stage);

    if (fs_mkdirs(folder, k->diag) == ST_OK)
        gpu_rundir_put(folder, name, text, k->diag);
}

/* The module itself, once in each stage: a second name for the file, for it may be large. */
static void keep_module(struct keeping *k, struct wanted *w, const struct fs_entry *file)
{
    const char *name = arena_cstr(k->arena, file->name), *folder = stage_folder(k, w->stage);
    const char *to = fs_join(k->arena, folder, name);

    if (file->size > MODULE_MOST || fs_mkdirs(folder, k->diag) != ST_OK)
        return;
    if (fs_exists(to) || link(file->path, to) == 0)
        w->cubin = name;
}

/* ---- one module ---- */

static void disassemble(struct keeping *k, const struct wanted *w, const char *path,
                        const struct cubin *c, struct gpu_listing *l)
{
    struct arena scratch;
    struct diag said;
    struct str text;

    if (k->nvdisasm == NULL)
        return;
    arena_init(&scratch);
    diag_init(&said);
    if (cubin_nvdisasm(&scratch, k->nvdisasm, path, c, &w->function, &text, &said) == ST_OK) {
        /* The instructions that nvdisasm printed. */
        struct str last = S("");
        gpu_disasm_sass(text, w->mangled, l);
        for (size_t i = 0; i < l->sass.n; i++) {
            struct gpu_sass *s = &l->sass.at[i];
            s->text = arena_str(k->pages->arena, s->text);
            if (!str_equal(s->file, last))
                last = arena_str(k->pages->arena, s->file);
            s->file = last;
        }
    } else
        diag_add(k->diag, SEV_LOSS, "gpu.no-sass", (struct where){0}, "no instructions of %.*s: %s",
                 STR_ARGS(w->name),
                 said.entries.n > 0 ? said.entries.at[0].first[0].text : "nvdisasm failed");
    diag_fini(&said);
    arena_free(&scratch);
}

/* Source lines of the instructions, from the module's own table. */
static void place_rows(struct keeping *k, const struct wanted *w, struct str module,
                       struct gpu_listing *l)
{
    struct arena scratch;
    struct cubin_lines lines;

    arena_init(&scratch);
    if (cubin_lines_read(&scratch, module, w->mangled, &lines))
        for (size_t i = 0; i < l->sass.n; i++) {
            const struct cubin_line *line = cubin_lines_find(&lines, l->sass.at[i].pc);
            if (line == NULL)
                continue;
            struct str file = lines.files[line->file];
            bool is_same = i > 0 && str_equal(l->sass.at[i - 1].file, file);
            l->sass.at[i].file =
                is_same ? l->sass.at[i - 1].file : arena_str(k->pages->arena, file);
            l->sass.at[i].line = line->line;
        }
    arena_free(&scratch);
}

/* The text of a source file as it is here now; empty when it is not, or is too long. */
static void add_lines(struct keeping *k, struct gpu_listing *l, struct str file)
{
    enum { SOURCE_MOST = 4 << 20 };
    struct mapfile map;
    struct diag said;
    const char *path = arena_cstr(k->arena, file);

    diag_init(&said);
    bool is_here = fs_exists(path) && mapfile_open(&map, path, &said) == ST_OK;
    gpu_listing_lines(l, file, is_here && map.text.n <= SOURCE_MOST ? map.text : S(""),
                      k->pages->arena);
    if (is_here)
        mapfile_close(&map);
    diag_fini(&said);
}

static void compiled_sample(struct keeping *k, const struct wanted *w, struct str module,
                            struct gpu_listing *l)
{
    if (!gpu_listing_sample(l, k->job->samples, w->mangled, k->pages->arena))
        return;
    place_rows(k, w, module, l);
    for (size_t i = 0; i < l->sass.n; i++) {
        bool is_new = l->sass.at[i].line > 0 && l->sass.at[i].samples > 0;
        for (size_t j = 0; j < l->lines.n && is_new; j++)
            is_new = !str_equal(l->lines.at[j].file, l->sass.at[i].file);
        if (is_new)
            add_lines(k, l, l->sass.at[i].file);
    }
    for (size_t i = 0; i < k->run->kernels.n; i++)
        if (str_equal(gpu_function_name(k->run->kernels.at[i].name), w->name))
            gpu_listing_attach(k->pages->arena, l, &k->run->kernels.at[i]);
}

static void list_kernel(struct keeping *k, const struct wanted *w, const char *path,
                        struct str module, const struct cubin *c)
{
    struct gpu_listing l = {.kernel = arena_str(k->pages->arena, w->name)};

    /* Instructions of a kernel that two stages have are listed once. */
    for (const struct wanted *x = k->wanted.at; x < w; x++)
        if (x->is_found && str_equal(x->mangled, w->mangled))
            return;
    disassemble(k, w, path, c, &l);
    compiled_sample(k, w, module, &l);
    if (l.sass.n > 0)
        vec_push(&k->pages->listings, l);
    else
        gpu_listing_free(&l);
}

/* Of several modules with a kernel of that name the one that ran, where samples tell. */
static bool is_sampled_elsewhere(const struct keeping *k, const struct wanted *w,
                                 const struct fs_entry *file)
{
    const struct gpu_samples *s = &k->job->samples;

    for (size_t i = 0; i < s->n; i++)
        if (str_equal(str_of(s->at[i].function), w->mangled)) {
            const char *name =
                arena_printf(k->arena, "module-%016llx.cubin", (unsigned long long)s->at[i].module);
            return !str_equal(str_of(name), file->name) &&
                   fs_exists(fs_join(k->arena, k->job->modules, name));
        }
    return false;
}

static void read_module(struct keeping *k, const struct fs_entry *file)
{
    struct mapfile map;
    struct cubin c;
    struct diag said;

    diag_init(&said); /* a module that cannot be read is one without our kernels */
    if (mapfile_open(&map, file->path, &said) != ST_OK) {
        diag_fini(&said);
        return;
    }
    if (cubin_read(k->arena, file->path, map.text, &c, &said) == ST_OK)
        for (size_t i = 0; i < k->wanted.n; i++) {
            struct wanted *w = &k->wanted.at[i];
            const struct cubin_function *f = w->is_found ? NULL : cubin_find(&c, w->mangled);
            if (f == NULL || is_sampled_elsewhere(k, w, file))
                continue;
            w->is_found = true;
            w->function = *f;
            keep_module(k, w, file);
            w->has_ptx = c.ptx.n > 0;
            struct str stem = str_part(file->name, 0, str_find_char(file->name, '.'));
            if (w->has_ptx)
                compiled_put(k, w->stage, arena_printf(k->arena, "%.*s.ptx", STR_ARGS(stem)),
                             c.ptx);
            list_kernel(k, w, file->path, map.text, &c);
        }
    mapfile_close(&map);
    diag_fini(&said);
}

/* ---- PTX that no module has ---- */

static void search_program(struct keeping *k)
{
    struct probe_result tool = {0};
    struct str text = S("");
    bool is_wanted = false;
    struct diag said;

    for (size_t i = 0; i < k->wanted.n; i++)
        is_wanted |= k->wanted.at[i].is_found && !k->wanted.at[i].has_ptx;
    const char *program = is_wanted ? fs_find_program(k->arena, k->job->program) : NULL;
    if (program != NULL)
        tool = driver_probe(DRIVER_CUOBJDUMP, k->arena);
    if (program == NULL || tool.state != PROBE_FOUND)
        return;
    diag_init(&said); /* an interpreter has none: that is no loss */
    if (cubin_cuobjdump(k->arena, tool.path, program, &text, &said) == ST_OK)
        for (size_t i = 0; i < k->wanted.n; i++) {
            struct wanted *w = &k->wanted.at[i];
            struct str ptx = w->is_found && !w->has_ptx ? gpu_disasm_ptx(text, w->mangled) : S("");
            w->has_ptx |= ptx.n > 0;
            if (ptx.n > 0)
                compiled_put(k, w->stage,
                             arena_printf(k->arena, "%.*s.ptx",
                                          STR_ARGS(fs_safe_name(k->arena, w->name, '-'))),
                             ptx);
        }
    diag_fini(&said);
}

/* ---- resources.json ---- */

static void compiled_put_kernel(struct json_writer *j, const struct wanted *w)
{
    const struct cubin_function *f = &w->function;

    json_write_object(j);
    json_put_str(j, "kernel", w->mangled);
    json_put_str(j, "name", w->name);
    json_put_text(j, "cubin", w->cubin);
    json_put_known(j, "registers", f->registers >= 0, f->registers);
    json_put_known(j, "frame_bytes", f->frame_bytes >= 0, f->frame_bytes);
    /* The module does not tell spills from local arrays; without a frame there are none. */
    json_put_known(j, "spill_bytes", f->frame_bytes == 0, 0);
    json_put_known(j, "barriers", f->barriers >= 0, f->barriers);
    json_put_known(j, "smem_static", f->shared_bytes >= 0, f->shared_bytes);
    json_put_i64(j, "code_bytes", (int64_t)f->code_bytes);
    json_write_end(j);
}

static void write_resources(struct keeping *k, size_t stage)
{
    struct text b = {0};
    struct json_writer j;
    bool has_any = false;

    json_write_init(&j, text_sink(&b), JSON_INDENTED);
    json_write_object(&j);
    json_put_array(&j, "kernels");
    for (size_t i = 0; i < k->wanted.n; i++)
        if (k->wanted.at[i].stage == stage && k->wanted.at[i].is_found) {
            compiled_put_kernel(&j, &k->wanted.at[i]);
            has_any = true;
        }
    json_write_end(&j);
    json_write_end(&j);
    json_write_finish(&j);
    if (has_any)
        compiled_put(k, stage, "resources.json", (struct str){b.at, b.n});
    text_free(&b);
}

/* ---- all ---- */

static bool is_module(const struct fs_entry *e)
{
    return e->kind == FS_FILE && str_starts(e->name, S("module-"));
}

static void read_modules(struct keeping *k, const struct fs_list *list)
{
    struct probe_result tool = driver_probe(DRIVER_NVDISASM, k->arena);
    bool has_any = false;

    k->nvdisasm = tool.state == PROBE_FOUND ? tool.path : NULL;
    for (size_t i = 0; i < list->n; i++)
        if (is_module(&list->at[i]) && str_ends(list->at[i].name, S(".cubin")))
            read_module(k, &list->at[i]);
    for (size_t i = 0; i < k->wanted.n; i++)
        has_any |= k->wanted.at[i].is_found;
    if (has_any && k->nvdisasm == NULL)
        diag_add(k->diag, SEV_NOTE, "gpu.no-sass", (struct where){0},
                 "SASS unavailable: nvdisasm not found");
    search_program(k);
    for (size_t i = 0; i < k->run->stages.n; i++)
        write_resources(k, i);
}

void gpu_compiled_keep(const struct gpu_compiled_job *job, struct gpu_run *run,
                       struct gpu_import *pages, struct diag *d)
{
    struct arena arena;
    struct fs_list list = {0};
    struct keeping k = {.job = job, .run = run, .pages = pages, .diag = d, .arena = &arena};
    bool has_modules = false;

    arena_init(&arena);
    if (fs_is_dir(job->modules) && fs_list(&arena, job->modules, &list, d) == ST_OK)
        for (size_t i = 0; i < list.n; i++)
            has_modules |= is_module(&list.at[i]);
    if (has_modules) {
        want_kernels(&k);
        read_modules(&k, &list);
    }
    for (size_t i = 0; i < list.n; i++)
        if (is_module(&list.at[i]))
            unlink(list.at[i].path);
    vec_free(&k.wanted);
    arena_free(&arena);
}
