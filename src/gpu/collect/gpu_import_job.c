/*
 * Files of other tools read, judged and saved. See gpu_jobs.h.
 */
#include "gpu/collect/gpu_jobs.h"

#include <math.h>

#include "base/files/fs.h"
#include "base/files/gz.h"
#include "base/files/mapfile.h"
#include "base/files/remove_tree.h"
#include "base/files/stream.h"
#include "base/formats/markdown.h"
#include "base/text/num.h"
#include "base/text/utf16.h"
#include "capture/capture.h"
#include "capture/fleet.h"
#include "device/user_devices.h"
#include "driver/driver.h"
#include "driver/ncu_run.h"
#include "gpu/collect/rundir.h"
#include "gpu/ncu/ncu_rep.h"
#include "gpu/timeline/gpu_timeline_job.h"
#include "gpu/timeline/timeline_out.h"
#include "input/nsys/nsys_gpu.h"
#include "text/gpu.h"

enum { HEAD = 1 << 16 };

/* ---- one file ---- */

/* A log of ncu without a page tells why there is none: an error, else a warning. */
static enum status reject_log(const char *path, struct str text, struct diag *d)
{
    static const struct {
        struct str says;
        const char *advice;
    } ways[] = {
        {S_INIT("ERR_NVGPUCTRPERM"),
         "root or CAP_SYS_ADMIN; NVreg_RestrictProfilingToAdminUsers=0 for the driver; "
         "--cap-add=SYS_ADMIN for a container"},
        {S_INIT("No kernels were profiled"),
         "--target-processes all for kernels of child processes, or another --kernel-name"},
        {S_INIT(""), "ncu --csv --page raw, to print a page"},
    };
    static const struct str kinds[] = {S_INIT("==ERROR=="), S_INIT("==WARNING=="),
                                       S_INIT("==PROF==")};
    struct str said = {NULL, 0};

    text = str_part(text, 0, HEAD);
    for (size_t i = 0; i < ARRAY_LEN(kinds) && said.at == NULL; i++)
        for (struct str rest = text, line; said.at == NULL && str_split(&rest, '\n', &line);)
            if (str_starts(line, kinds[i]))
                said = str_trim(str_part(line, kinds[i].n, line.n));
    if (said.at == NULL)
        return ST_OK;
    diag_fail(d, ST_FORMAT, "ncu-csv.no-page", (struct where){.path = path},
              "a log of Nsight Compute without a page: %.*s", STR_ARGS(said));
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (str_contains(text, ways[i].says)) {
            diag_hint(d, "try", "%s", ways[i].advice);
            break;
        }
    return ST_FORMAT;
}

static void note_input(struct gpu_imported *to, const char *path, const char *format, uint64_t rows,
                       uint64_t lost)
{
    vec_push(&to->inputs, ((struct gpu_input){path, format, rows, lost}));
    to->rows += rows;
    to->lost += lost;
}

/* Reads a page, in whatever encoding a shell saved it; `*is_read` stays false when it is none. */
static enum status read_page(struct gpu_imported *to, const char *path, struct str text,
                             bool *is_read, struct diag *d)
{
    uint64_t rows = to->pages.rows, lost = to->pages.lost;

    if (utf16_is(text) && text.n > LIMIT_TABLE_BYTES)
        return diag_fail(d, ST_LIMIT, "ncu-csv.too-large", (struct where){.path = path},
                         "a UTF-16 page with more than %d bytes", LIMIT_TABLE_BYTES);
    text = utf16_plain(&to->run.arena, text);
    /* Whether the text is a page. A header may stand far behind what a program printed; in a trace
     * of gigabytes nobody looks for it. */
    static const struct str traces[] = {S_INIT("\"traceEvents\""), S_INIT("\"schemaVersion\""),
                                        S_INIT("\"ph\""), S_INIT("SQLite format 3")};
    struct str head = str_part(text, 0, HEAD);
    size_t header;
    *is_read =
        gpu_page_of(head, &header) != GPU_PAGE_NONE ||
        (!STR_ANY(str_contains, head, traces) && gpu_page_of(text, &header) != GPU_PAGE_NONE);
    if (!*is_read)
        return reject_log(path, text, d);
    TRY(gpu_ncu_read(&to->pages, path, text, d));
    note_input(to, path, "ncu-csv", to->pages.rows - rows, to->pages.lost - lost);
    return ST_OK;
}

static enum status read_trace(struct gpu_imported *to, const char *path, struct diag *d)
{
    struct gpu_timeline_job job = gpu_timeline_job_new(path);
    struct gpu_timeline_result *r = &to->traces[to->n_traces++];

    job.may_be_idle = true;
    TRY(gpu_timeline_run(&job, &to->run.arena, d, r));
    for (size_t k = 0; k < r->fleet->ranks.n; k++)
        for (size_t i = 0; i < r->fleet->ranks.at[k]->sources.n; i++) {
            const struct source *s = &r->fleet->ranks.at[k]->sources.at[i];
            note_input(to, gpu_timeline_is_report(path) ? path : s->path, s->format, s->rows,
                       s->lost);
        }
    return ST_OK;
}

/* ---- reports that only their own tools can open ---- */

/* Pages of an .ncu-rep without its tool. */
static enum status read_ncu_container(struct gpu_imported *to, const char *path, struct diag *d)
{
    struct gpu_import *in = &to->pages;
    uint64_t rows = in->rows, lost = in->lost, cut = 0;
    struct mapfile map;
    struct str pages;

    TRY(mapfile_open(&map, path, d));
    enum status st = ncu_rep_pages(path, map.text, &to->run.arena, &pages, &cut, d);
    mapfile_close(&map);
    TRY(st);
    TRY(gpu_ncu_read(in, path, pages, d));
    in->lost += cut;
    note_input(to, path, "ncu-rep", in->rows - rows, in->lost - lost);
    return ST_OK;
}

/* Pages of an .ncu-rep by its tool, which has listings too; the first one must be there. */
static enum status read_ncu_report(struct gpu_imported *to, const char *path, struct diag *d)
{
    static const enum ncu_report_page pages[] = {NCU_RAW, NCU_DETAILS, NCU_SOURCE, NCU_PTX};
    struct arena *arena = &to->run.arena;
    struct probe_result tool = driver_probe(DRIVER_NCU, arena);
    struct str name = str_of(path);
    struct ncu_job job = {
        .program = tool.path,
        .report = arena_cstr(arena, str_part(name, 0, name.n - S(".ncu-rep").n)),
    };

    if (tool.state != PROBE_FOUND)
        return read_ncu_container(to, path, d);
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        struct str text;
        bool is_read;
        struct diag said;
        diag_init(&said);
        enum status st = ncu_page_text(&job, pages[i], arena, &text, i == 0 ? d : &said);
        if (st == ST_OK)
            st = read_page(to, path, text, &is_read, i == 0 ? d : &said);
        diag_fini(&said);
        if (i == 0)
            TRY(st);
    }
    return ST_OK;
}

/* Standard input can be read once: what it is must be seen in what was read. */
static enum status read_stdin(struct gpu_imported *to, struct diag *d)
{
    struct stream s;
    bool is_read = false;

    enum status st = stream_open(&s, "-", HEAD, d);
    while (st == ST_OK && !s.at_end)
        st = stream_fill(&s);
    if (st == ST_OK)
        st = read_page(to, "-", stream_text(&s), &is_read, d);
    if (st == ST_OK && !is_read)
        st = diag_fail(d, ST_UNSUPPORTED, "ncu-csv.no-header", (struct where){.path = "-"},
                       "not a page of Nsight Compute; traces must be files");
    stream_close(&s);
    return st;
}

/* The beginning of a packed file, unpacked. */
static struct str peek(struct str packed, char *out, size_t room)
{
    struct gz gz;

    gz_init(&gz);
    size_t n = gz_read(&gz, &packed, out, room);
    gz_fini(&gz);
    return (struct str){out, n};
}

static enum status read_file(struct gpu_imported *to, const char *path, struct diag *d)
{
    struct mapfile map;
    char head[4096];

    if (strcmp(path, "-") == 0)
        return read_stdin(to, d);
    if (str_ends(str_of(path), S(".ncu-rep")))
        return read_ncu_report(to, path, d);
    if (str_ends(str_of(path), S(".ncu-repz")))
        return read_ncu_container(to, path, d);
    if (gpu_timeline_is_report(path))
        return read_trace(to, path, d);
    TRY(mapfile_open(&map, path, d));
    struct str text = map.text;
    if (ncu_rep_is(text)) {
        mapfile_close(&map);
        return read_ncu_container(to, path, d);
    }
    bool is_packed = gz_is(text);
    struct str begin = is_packed ? peek(text, head, sizeof(head)) : text;
    enum status st = ST_OK;
    /* A trace begins with a bracket; then it is not unpacked only to see that it is no page. */
    bool may_be_page = !is_packed || (begin.n > 0 && begin.at[0] != '{' && begin.at[0] != '[');
    if (is_packed && may_be_page)
        st = gz_read_all(text, LIMIT_TABLE_BYTES, path, d, &to->run.arena, &text);
    bool is_read = false;
    if (st == ST_OK && may_be_page)
        st = read_page(to, path, text, &is_read, d);
    mapfile_close(&map);
    return st != ST_OK || is_read ? st : read_trace(to, path, d);
}

/* ---- the run ---- */

/* What raw pages tell of the device. */
static void find_device(struct gpu_run *run, const struct gpu_kernel *k)
{
    const struct {
        const char *name;
        double *to;
    } numbers[] = {
        {"device__attribute_multiprocessor_count", &run->device.sm_count},
        {"device__attribute_l2_cache_size", &run->device.l2_bytes},
        {"device__attribute_global_memory_bus_width", &run->device.bus_bits},
        {"device__attribute_memory_clock_rate", &run->device.mem_clock_khz},
        {"device__attribute_clock_rate", &run->device.sm_clock_khz},
    };

    for (size_t i = 0; i < k->values.n; i++) {
        const struct gpu_value *v = &k->values.at[i];
        if (str_equal(v->name, S("device__attribute_display_name")) && run->device.name.n == 0 &&
            !num_is_missing(v->text))
            run->device.name = v->text;
        for (size_t j = 0; j < ARRAY_LEN(numbers); j++)
            if (str_equal(v->name, str_of(numbers[j].name)) && v->number > 0)
                *numbers[j].to = v->number;
    }
    if (run->device.cc.n == 0)
        run->device.cc = k->cc;
}

static enum status read_options(const struct gpu_import_job *job, struct gpu_run *run,
                                struct gpu_spec *spec, struct diag *d)
{
    if (job->ask.spec != NULL)
        TRY(gpu_spec_load(&run->arena, job->ask.spec, spec, d));
    TRY(gpu_ask_params(&job->ask, &spec->params, &run->params, &run->arena, d));
    if (job->ask.spec != NULL) {
        run->kernel = spec->kernel;
        run->version = spec->version;
    }
    if (job->ask.kernel != NULL)
        run->kernel = str_of(job->ask.kernel);
    if (job->ask.version != NULL)
        run->version = str_of(job->ask.version);
    if (run->kernel.n == 0) {
        /* "dir/raw.csv" is called raw. */
        struct str base = str_basename(str_of(job->paths[0]));
        run->kernel = arena_str(&run->arena, str_part(base, 0, str_find_char(base, '.')));
    }
    if (job->ask.device != NULL)
        run->device.name = str_of(job->ask.device);
    return ST_OK;
}

/* The section that leads to the files. */
static void add_files(struct gpu_imported *to)
{
    struct text t = {0};

    markdown_head(&t, message_in(LANG_EN, &gpu_text.files_head).at);
    for (size_t i = 0; i < to->inputs.n; i++) {
        markdown_cell(&t, str_of(to->inputs.at[i].path));
        markdown_cell(&t, MESSAGE(LANG_EN, &to->run.arena, &gpu_text.format_rows,
                                  PLACE("format", to->inputs.at[i].format),
                                  PLACE("n", to->inputs.at[i].rows)));
        text_format(&t, "|\n");
    }
    text_format(&t, "| `report-verbose.md` | %s |\n", "every section and rule");
    if (to->pages.listings.n > 0)
        text_format(&t, "| `source/`, `sass/` | %s |\n", "annotated source, instructions");
    vec_push(&to->run.sections,
             ((struct gpu_section){S("Files"), arena_str(&to->run.arena, text_view(&t))}));
    text_free(&t);
}

static enum status make_stages(const struct gpu_import_job *job, struct gpu_run *run,
                               const struct gpu_spec *spec, struct diag *d)
{
    struct device_table table;
    const char *path;
    size_t rows;

    TRY(user_devices(&run->arena, &table, &path, &rows, d));
    run->peaks = gpu_peaks_of(&table, &run->device, job->ask.peaks);
    return gpu_run_stages(run, job->ask.spec != NULL ? spec : NULL,
                          (struct gpu_work_option){.flops = str_of(job->ask.flops),
                                                   .bytes = str_of(job->ask.bytes),
                                                   .dtype = str_of(job->ask.dtype)},
                          d);
}

/* Traces without work on a device may still have counters by kernel. */
static enum status read_ranges(const struct gpu_import_job *job, struct gpu_imported *to,
                               struct diag *d)
{
    struct gpu_run *run = &to->run;

    for (size_t i = 0; i < to->n_traces; i++)
        for (size_t k = 0; k < to->traces[i].fleet->ranks.n; k++)
            gpu_ranges_read(to->traces[i].fleet->ranks.at[k], run);
    if (run->kernels.n > 0)
        return ST_OK;
    diag_fail(d, ST_NOT_FOUND, "gpu.no-kernels", (struct where){.path = job->paths[0]},
              "no kernel, copy or memset on a device");
    diag_hint(d, "try", "a trace with device activity");
    return ST_NOT_FOUND;
}

static void name_device(const struct gpu_import_job *job, struct gpu_run *run,
                        const struct capture *cap)
{
    if (run->device.name.n == 0)
        run->device.name = arena_str(&run->arena, capture_text(cap, cap->facts.device_name));
    /* What an export says of a GPU that the table does not have. */
    struct gpu_device *device = &run->device;
    struct nsys_gpu gpu;
    if (device->name.n == 0 || device_find(&device_builtin, device->name) != NULL)
        return;
    for (size_t i = 0; i < job->n_paths; i++) {
        if (!nsys_gpu_read(job->paths[i], device->name, &gpu))
            continue;
        device->sm_count = (double)gpu.sms;
        device->mem_bytes = (double)gpu.memory_bytes;
        device->l2_bytes = (double)gpu.l2_bytes;
        device->sm_clock_khz = (double)gpu.clock_hz / 1e3;
        device->gbps = (double)gpu.bytes_per_second / 1e9;
        if (gpu.major > 0)
            device->cc =
                arena_format(&run->arena, "%lld.%lld", (long long)gpu.major, (long long)gpu.minor);
        return;
    }
}

/* The device that was busy longest, over all traces. */
static enum status judge_traces(const struct gpu_import_job *job, struct gpu_imported *to,
                                const struct gpu_spec *spec, struct diag *d)
{
    struct gpu_run *run = &to->run;
    struct timeline *t = NULL;
    size_t n = 0;
    struct timeline_device *device = gpu_timeline_busiest(to->traces, to->n_traces, &t, &n);

    run->mode = device != NULL ? S("nsys") : S("ncu");
    if (device == NULL) {
        TRY(read_ranges(job, to, d));
        name_device(job, run, to->traces[0].fleet->ranks.at[0]);
        add_files(to);
        return make_stages(job, run, spec, d);
    }
    name_device(job, run, t->cap);
    if (n > 1)
        gpu_run_note(
            run, "the report covers the busiest of %zu devices and processes; the tables cover all",
            n);
    timeline_run_kernels(t, device, run);
    TRY(make_stages(job, run, spec, d));
    timeline_run_sections(t, device, run);
    return ST_OK;
}

static enum status job_read_all(const struct gpu_import_job *job, struct gpu_imported *to,
                                struct diag *d)
{
    to->traces = ARENA_ARRAY(&to->run.arena, struct gpu_timeline_result, job->n_paths);
    for (size_t i = 0; i < job->n_paths; i++) {
        TRY(read_file(to, job->paths[i], d));
        gpu_run_info_text(&to->run, "source", str_of(job->paths[i]));
    }
    if (to->n_traces == 0 || to->n_traces == job->n_paths)
        return ST_OK;
    diag_fail(d, ST_UNSUPPORTED, "gpu.mixed-files", (struct where){.path = job->paths[0]},
              "pages of Nsight Compute and traces cannot be imported together");
    diag_hint(d, "try", "one run per kind");
    return ST_UNSUPPORTED;
}

static enum status job_judge(const struct gpu_import_job *job, struct gpu_imported *to,
                             const struct gpu_spec *spec, struct diag *d)
{
    if (to->n_traces > 0) {
        TRY(judge_traces(job, to, spec, d));
    } else {
        /* Launches of pages, with what they tell of the device. */
        struct gpu_run *run = &to->run;
        gpu_source_attach(&to->pages);
        gpu_ptx_attach(&to->pages);
        run->mode = S("ncu");
        for (size_t i = 0; i < to->pages.kernels.n; i++) {
            vec_push(&run->kernels, to->pages.kernels.at[i]);
            find_device(run, &run->kernels.at[i]);
        }
        to->pages.kernels.n = 0; /* the run owns them now */
        if (to->pages.lost > 0)
            gpu_run_note(run, "%llu damaged rows skipped", (unsigned long long)to->pages.lost);
        add_files(to);
        TRY(make_stages(job, &to->run, spec, d));
    }
    gpu_run_judge(&to->run);
    return ST_OK;
}

enum status gpu_import_run(const struct gpu_import_job *job, struct gpu_imported *out,
                           struct diag *d)
{
    struct gpu_spec spec = {0};

    *out = (struct gpu_imported){0};
    gpu_run_init(&out->run);
    out->pages.arena = &out->run.arena;
    enum status st = read_options(job, &out->run, &spec, d);
    if (st == ST_OK)
        st = job_read_all(job, out, d);
    if (st == ST_OK)
        st = job_judge(job, out, &spec, d);
    gpu_spec_free(&spec);
    return st;
}

void gpu_imported_free(struct gpu_imported *imported)
{
    for (size_t i = 0; i < imported->n_traces; i++)
        gpu_timeline_result_free(&imported->traces[i]);
    vec_free(&imported->inputs);
    gpu_import_free(&imported->pages);
    gpu_run_free(&imported->run);
}

/* ---- the folder ---- */

enum status gpu_imported_save(struct gpu_imported *imported, const char *out, const char *stamp,
                              struct arena *arena, struct diag *d)
{
    struct gpu_rundir dir;

    TRY(gpu_rundir_open(arena, &imported->run, out, stamp, &dir, d));
    remove_tree_hold(dir.partial);
    enum status st = ST_OK;
    if (imported->n_traces > 0) {
        size_t n = 0, written = 0;
        for (size_t i = 0; i < imported->n_traces; i++)
            n += imported->traces[i].n;
        struct timeline **list = ARENA_ARRAY(arena, struct timeline *, n + 1);
        n = 0;
        for (size_t i = 0; i < imported->n_traces; i++)
            for (size_t k = 0; k < imported->traces[i].n; k++)
                list[n++] = imported->traces[i].timelines[k];
        st = gpu_timeline_save(list, n, fs_join(arena, dir.partial, "timeline"), arena, d,
                               ARENA_ARRAY(arena, const char *, GPU_TIMELINE_FILES + n), &written);
    }
    if (st == ST_OK)
        st = gpu_rundir_write(&dir, &imported->run, &imported->pages, d);
    imported->folder = dir.final;
    if (st == ST_OK)
        st = gpu_rundir_finish(arena, &dir, d);
    remove_tree_drop(dir.partial);
    if (st != ST_OK) /* it can be imported again */
        remove_tree(dir.partial);
    return st;
}

static const struct field imported_fields[] = {
    FIELD(struct gpu_imported, folder, "folder"),
    FIELD(struct gpu_imported, run.kernels.n, "launches"),
    FIELD(struct gpu_imported, run.stages.n, "stages"),
    FIELD(struct gpu_imported, rows, "rows"),
    FIELD(struct gpu_imported, lost, "lost"),
};
static const struct record imported_record = RECORD(struct gpu_imported, imported_fields);

const struct schema gpu_import_schema = {
    .name = "strata.gpu-import/1",
    .title = "a run folder made from other profilers' files",
    .record = &imported_record,
};
