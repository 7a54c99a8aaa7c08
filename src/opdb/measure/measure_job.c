/*
 * Tables read, rows measured in children, durations written back. See measure_job.h.
 */
#include "opdb/measure/measure_job.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/now.h"
#include "base/text/text.h"
#include "driver/clocks.h"
#include "driver/driver.h"
#include "opdb/measure/bench.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/db_device.h"
#include "opdb/rows/table.h"

/* ---- clocks and power: of a GPU by NVML, of processors by the kernel ---- */

struct flow_clocks {
    struct nvml nvml;
    struct nvml_gpu *gpu; /* NULL: processors */
    struct clock_samples samples;
    char governor[32];
};

/* The first number after `name` in a file of lines "name : number"; 0: none. */
static unsigned number_in(const char *path, const char *name)
{
    FILE *f = fopen(path, "re");
    char line[256];
    double value = 0;

    while (f != NULL && value <= 0 && fgets(line, sizeof(line), f) != NULL)
        if (name[0] == 0 || strncmp(line, name, strlen(name)) == 0)
            value = strtod(line + strcspn(line, "0123456789"), NULL);
    if (f != NULL)
        fclose(f);
    return value > 0 && value < 1e9 ? (unsigned)value : 0;
}

/* Clock and power of a card that waits for the host say nothing about what is measured on it. */
static bool is_idle(const struct flow_clocks *c)
{
    unsigned long long reasons = 0;

    return NVML_DO(&c->nvml, reasons, c->gpu, &reasons) == NVML_OK &&
           (reasons & NVML_REASON_IDLE) != 0;
}

static void clocks_sample(struct flow_clocks *c, const char *backend)
{
    enum { EACH_NS = 500 * 1000 * 1000 };
    nanos now = now_ns();

    if (c->gpu != NULL) {
        if (now >= c->samples.next && !is_idle(c))
            clock_sample(&c->samples, &c->nvml, c->gpu, now);
        return;
    }
    if (strcmp(backend, "cpu") != 0 || now < c->samples.next)
        return;
    c->samples.next = now + EACH_NS;
    unsigned khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "");
    unsigned mhz = khz > 0 ? khz / 1000 : number_in("/proc/cpuinfo", "cpu MHz");
    if (mhz > 0)
        vec_push(&c->samples.sm_mhz, mhz);
}

/* NVML numbers cards by their place on the bus, CUDA as CUDA_VISIBLE_DEVICES says: only the place
 * is the same card in both. */
static struct flow_clocks *clocks_open(struct arena *arena, const char *backend, const char *bus)
{
    struct flow_clocks *c = ARENA_NEW(arena, struct flow_clocks);

    if (strcmp(backend, "cuda") != 0) {
        FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
        if (f != NULL && fgets(c->governor, sizeof(c->governor), f) != NULL)
            c->governor[strcspn(c->governor, "\n")] = 0;
        if (f != NULL)
            fclose(f);
    } else if (bus[0] != 0 && nvml_open(&c->nvml, arena, NULL) == NVML_OK &&
               NVML_DO(&c->nvml, by_bus, bus, &c->gpu) != NVML_OK)
        c->gpu = NULL;
    clocks_sample(c, backend);
    return c;
}

static void clocks_close(struct flow_clocks *c, struct measured_clocks *out)
{
    const struct clock_samples *s = &c->samples;
    struct clock_summary clock = clock_summarise(s->sm_mhz.at, s->sm_mhz.n);
    struct clock_summary memory = clock_summarise(s->mem_mhz.at, s->mem_mhz.n);

    *out = (struct measured_clocks){
        .readings = s->sm_mhz.n,
        .is_gpu = c->gpu != NULL,
        .mhz_min = clock.min,
        .mhz_median = clock.median,
        .mhz_max = clock.max,
        .memory_mhz = memory.median,
        .power_w = s->power_n > 0 ? s->power_sum_w / (double)s->power_n : NAN,
        .power_limit_w = s->power_limit_w > 0 ? s->power_limit_w : NAN,
        .celsius = s->has_temp ? s->temp_end_c : NAN,
    };
    if (c->gpu != NULL && s->has_reasons)
        nvml_reason_names(s->reasons & ~(uint64_t)NVML_REASON_IDLE, out->reasons);
    else if (c->gpu == NULL)
        snprintf(out->reasons, sizeof(out->reasons), "%s", c->governor);
    clock_samples_free(&c->samples);
    nvml_close(&c->nvml);
}

/* ---- the journal: what is measured, but not in its table yet ---- */

#define JOURNAL ".strata.measured"

static void journal_add(const char *path, const struct measurement *r)
{
    char line[4096];
    int n = snprintf(line, sizeof(line), "%s\t%zu\t%.6f\n", r->path, r->row, r->stats.shortest);
    int fd = n > 0 && n < (int)sizeof(line)
                 ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644)
                 : -1;

    if (fd < 0)
        return;
    if (write(fd, line, (size_t)n) < 0)
        errno = 0; /* the table gets it later all the same */
    close(fd);
}

/* What a run that was killed has measured goes into its tables. */
static enum status journal_replay(struct arena *arena, const char *dir, struct diag *d)
{
    const char *path = fs_join(arena, dir, JOURNAL);
    struct mapfile map;
    struct str rest, line;
    enum status st = ST_OK;

    if (!fs_exists(path))
        return ST_OK;
    TRY(mapfile_open(&map, path, d));
    for (rest = map.text; rest.n > 0 && st == ST_OK && str_split(&rest, '\n', &line);) {
        struct str file = {0}, row = {0}, us = {0};
        uint64_t number;
        double value;
        if (!str_split(&line, '\t', &file) || !str_split(&line, '\t', &row) ||
            !str_split(&line, '\t', &us) || !num_u64(row, &number) || !num_f64(us, &value))
            continue; /* the last line of a killed run may be cut */
        struct update_measured at = {(size_t)number, value};
        const char *table = arena_cstr(arena, file);
        if (fs_exists(table))
            st = update_write_measured(table, &at, 1, d);
    }
    mapfile_close(&map);
    unlink(path);
    return st;
}

/* ---- one table ---- */

struct run {
    const struct measure_db_job *job;
    struct measured_db *out;
    const char *journal; /* NULL: nothing is written */
    struct flow_clocks *clocks;
    const struct op_table *table;
    const size_t *rows; /* of the table, by their number in the job */
    struct measured_op *op;
    uint64_t total; /* rows of all tables */
    uint64_t begun;
};

static bool is_failed(enum measure_state state)
{
    return state != MEASURE_DONE && state != MEASURE_REFUSED && state != MEASURE_NOT_RUN &&
           state != MEASURE_NOT_HERE;
}

/* Journalled at once: a run that is killed loses nothing. */
static bool add_result(void *ctx, size_t i, const struct measure_result *result)
{
    struct run *run = ctx;
    struct measured_db *m = run->out;
    const struct op_table *t = run->table;
    size_t row = run->rows[i];
    struct measurement r = {
        .path = run->op->path,
        .op = run->op->op,
        .shapes =
            arena_str(&m->arena, cell_bare(table_cell(t, row, table_column(t, COL_INPUT_SHAPES)))),
        .why = arena_str(&m->arena, str_of(result->text)),
        .line = t->lines.at[row],
        .row = row,
        .state = result->state,
        .stats = result->stats,
        .cost = result->cost,
        .worst = result->worst,
        .is_logical = result->is_logical,
    };

    r.roof = measure_roof(&r.cost, r.stats.shortest, m->facts.copy_gbps, m->facts.matrix_tflops);
    if (r.state != MEASURE_DONE)
        r.roof = (struct measure_roof){NAN, NAN, BOUND_UNKNOWN, false};
    vec_push(&m->rows, r);
    run->op->done += r.state == MEASURE_DONE;
    run->op->refused += r.state == MEASURE_REFUSED || r.state == MEASURE_NOT_HERE;
    run->op->failed += is_failed(r.state);
    run->op->slow += r.roof.is_slow;
    run->op->us += r.state == MEASURE_DONE ? r.stats.shortest : 0;
    m->repeats += r.stats.n;
    if (r.state == MEASURE_DONE && run->journal != NULL)
        journal_add(run->journal, &r);
    run->begun++;
    progress_tick(run->job->progress, arena_printf(&m->arena, "measuring %.*s", STR_ARGS(r.op)),
                  run->begun, run->total);
    m->is_stopped = run->job->is_stopping && is_failed(r.state);
    return !m->is_stopped;
}

static bool sample_clocks(void *ctx)
{
    struct run *run = ctx;

    clocks_sample(run->clocks, run->out->backend);
    return true;
}

static bool is_ffn(const struct op_table *t)
{
    return str_equal(signature_op(table_stem(t->path)), S("DispatchFFNCombine"));
}

/* A row of another expert-parallel size than that of the job is none of its rows. */
static bool is_of_size(const struct measure_db_job *job, const struct op_table *t, size_t row)
{
    int64_t size;

    return job->ep_size == 0 || !is_ffn(t) ||
           !cell_i64(table_cell(t, row, table_column(t, COL_EP_SIZE)), &size) ||
           size == job->ep_size;
}

/* The rows of a table that are to be measured. */
static size_t choose_rows(const struct measure_db_job *job, const struct op_table *t, size_t *rows)
{
    int average = table_column(t, COL_AVERAGE), profiled = table_column(t, COL_PROFILED);
    size_t n = 0;

    for (size_t i = 0; i < t->n_rows; i++) {
        if (job->most_rows > 0 && n >= (size_t)job->most_rows)
            break;
        if (is_of_size(job, t, i) &&
            (!job->is_missing_only ||
             !cell_is_measured(table_cell(t, i, average), table_cell(t, i, profiled))))
            rows[n++] = i;
    }
    return n;
}

/* What the options say of a row and its cells do not. */
static void set_options(const struct measure_db_job *job, const struct op_table *t,
                        struct op_row *row)
{
    if (!is_ffn(t))
        return;
    row->is_random_routing = !job->is_balanced;
    if (row->runtime.ep_size < 0 && job->ep_size > 0)
        row->runtime.ep_size = job->ep_size;
}

/* Durations of the rows from `first` on go into their table. */
static enum status write_back(struct run *run, size_t first, struct diag *d)
{
    struct measured_db *m = run->out;
    struct update_measured *at =
        ARENA_ARRAY(&m->arena, struct update_measured, m->rows.n - first + 1);
    size_t n = 0;

    for (size_t i = first; i < m->rows.n; i++)
        if (m->rows.at[i].state == MEASURE_DONE)
            at[n++] = (struct update_measured){m->rows.at[i].row, m->rows.at[i].stats.shortest};
    TRY(update_write_measured(run->op->path, at, n, d));
    unlink(run->journal);
    return ST_OK;
}

/* A row that no device takes; one with a profile ran somewhere, and stays. */
static bool is_hopeless(const struct measurement *r, const struct op_table *t)
{
    return r->state == MEASURE_REFUSED && r->row < t->n_rows &&
           !cell_is_duration(table_cell(t, r->row, table_column(t, COL_PROFILED)));
}

/* The table is read again: its durations have been written meanwhile. */
static enum status drop_failing(struct run *run, size_t first, struct diag *d)
{
    struct measured_db *m = run->out;
    struct op_table t;
    uint64_t before = m->dropped;
    enum status st = table_read(&t, run->op->path, d);
    bool *is_dropped = ARENA_ARRAY(&m->arena, bool, t.n_rows + 1);

    for (size_t i = first; i < m->rows.n && st == ST_OK; i++) {
        struct measurement *r = &m->rows.at[i];
        r->is_dropped = is_hopeless(r, &t);
        if (r->is_dropped)
            is_dropped[r->row] = true;
        m->dropped += r->is_dropped;
    }
    if (st == ST_OK && m->dropped > before) {
        table_drop_rows(&t, is_dropped);
        st = table_write(&t, run->op->path, TABLE_BOM, d);
    }
    table_free(&t);
    return st;
}

/* As the public tool does: after the measurement, rows that have no duration go, of all tables of
 * the job. A run that measured nothing would leave nothing. */
static enum status prune_all(struct run *run, const struct bench_files *files, struct diag *d)
{
    struct measured_db *m = run->out;

    if (m->done == 0) {
        diag_fail(d, ST_UNSUPPORTED, "perfdb.prune-refused", (struct where){.path = m->dir},
                  "nothing was measured: --prune-empty-duration-rows deletes no row");
        return ST_UNSUPPORTED;
    }
    for (size_t i = 0; i < files->n; i++) {
        struct measured_prune one = {.path = files->at[i]};
        TRY(update_prune(one.path, &m->arena, &one.rows, d));
        m->n_pruned += one.rows.n;
        if (one.rows.n > 0)
            vec_push(&m->pruned, one);
    }
    return ST_OK;
}

/* What was measured is in the table, or in the journal, however the children end. */
static enum status measure_table(struct run *run, const struct op_table *t, struct diag *d)
{
    struct measured_db *m = run->out;
    const struct op_rule *op = op_find(run->op->op);
    size_t *rows = ARENA_ARRAY(&m->arena, size_t, t->n_rows + 1), first = m->rows.n;
    size_t n = choose_rows(run->job, t, rows);
    struct op_row *operands = ARENA_ARRAY(&m->arena, struct op_row, n + 1);
    struct measure_job job = {.op = op,
                              .rows = operands,
                              .n = n,
                              .options = run->job->options,
                              .execution = run->job->execution,
                              .was_there = true,
                              .done = add_result,
                              .tick = sample_clocks,
                              .ctx = run};

    run->table = t;
    run->rows = rows;
    run->op->rows = t->n_rows;
    run->op->skipped = t->n_rows - n;
    for (size_t i = 0; i < n; i++) {
        measure_db_row(&m->arena, t, rows[i], &operands[i]);
        set_options(run->job, t, &operands[i]);
    }
    enum status st = n > 0 ? measure_run(&job, d) : ST_OK;
    if (st == ST_CANCELLED && !cancelled() && m->is_stopped)
        st = ST_OK;
    if (run->journal != NULL && m->rows.n > first) {
        enum status written = write_back(run, first, d);
        st = st == ST_OK ? written : st;
    }
    if (st == ST_OK && run->job->is_dropping && run->journal != NULL)
        st = drop_failing(run, first, d);
    return st;
}

static enum status measure_file(struct run *run, const char *path, struct diag *d)
{
    struct measured_db *m = run->out;
    struct op_table t;
    struct measured_op op = {.op = arena_str(&m->arena, signature_op(table_stem(path))),
                             .path = path};

    if (op_find(op.op) == NULL)
        return ST_OK;
    vec_push(&m->ops, op);
    run->op = &m->ops.at[m->ops.n - 1];
    enum status st = table_read(&t, path, d);
    if (st == ST_OK)
        st = measure_table(run, &t, d);
    run->table = NULL;
    table_free(&t);
    m->done += run->op->done;
    m->failed += run->op->failed;
    m->refused += run->op->refused;
    m->skipped += run->op->skipped;
    m->slow += run->op->slow;
    return st;
}

static uint64_t job_count_rows(const struct measure_db_job *job, const struct bench_files *files)
{
    uint64_t n = 0;

    for (size_t i = 0; i < files->n; i++) {
        struct op_table t;
        if (table_read(&t, files->at[i], NULL) == ST_OK) {
            size_t *rows = mem_grow(NULL, sizeof(*rows), t.n_rows + 1);
            n += choose_rows(job, &t, rows);
            mem_free(rows);
        }
        table_free(&t);
    }
    return n;
}

/* ---- back ends ---- */

static const char *library_path(enum driver_id id, struct arena *arena)
{
    struct probe_result found = driver_probe(id, arena);

    return found.state == PROBE_FOUND ? found.path : NULL;
}

/* In the child, whose memory goes with it. The driver itself is found by name: asking it here would
 * start it. */
static void find_libraries(struct backend_libraries *libraries)
{
    static struct arena arena;

    arena_init(&arena);
    libraries->cuda = getenv("STRATA_CUDA_PATH");
    libraries->ascend = getenv("STRATA_ASCEND_PATH");
    libraries->nvrtc = library_path(DRIVER_NVRTC, &arena);
    libraries->cublaslt = library_path(DRIVER_CUBLASLT, &arena);
}

static const char *cache_folder(struct arena *arena)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (base == NULL || base[0] != '/')
        base = home != NULL && home[0] == '/' ? fs_join(arena, home, ".cache") : NULL;
    if (base == NULL)
        return NULL;
    const char *path = fs_join(arena, fs_join(arena, base, "strata"), "cuda");
    return fs_mkdirs(path, NULL) == ST_OK ? path : NULL;
}

/* The first back end whose device answers, of those that may: the database's own, or any for one
 * without a device. What the last one lacks is told. */
static enum status first_backend(struct measure_db_job *job, const struct db_device *db,
                                 struct backend_facts *facts, struct diag *d)
{
    static const char *const all[] = {"ascend", "cuda", "cpu"};
    const char *const own[] = {db != NULL ? db_kind_backend(db->kind) : NULL};
    const char *const *names = own[0] != NULL ? own : all;
    size_t n = own[0] != NULL ? 1 : ARRAY_LEN(all);
    enum status st = ST_TOOL;

    for (size_t i = 0; i < n && st == ST_TOOL; i++) {
        job->options.backend = backend_find(str_of(names[i]));
        st = measure_facts(&job->options, facts, i + 1 < n ? NULL : d);
    }
    if (st == ST_TOOL && own[0] != NULL) {
        diag_hint(d, "why", "the database is of %.*s (%s)", STR_ARGS(db->name), db->source);
        diag_hint(d, "try", "--database-path or --device of another database");
    }
    return st;
}

enum status measure_db_open(struct measure_db_job *job, const struct db_device *db,
                            struct arena *arena, struct backend_facts *facts, struct diag *d)
{
    struct str name = str_of(job->backend != NULL ? job->backend : "auto");

    job->options.libraries = (struct backend_libraries){
        .find = find_libraries, .cache = job->cache != NULL ? job->cache : cache_folder(arena)};
    if (!str_equal(name, S("auto"))) {
        job->options.backend = backend_find(name);
        if (job->options.backend == NULL)
            return diag_fail(d, ST_TOOL, "perfdb.no-backend", (struct where){0}, "no back end %.*s",
                             STR_ARGS(name));
        return measure_facts(&job->options, facts, d);
    }
    if (db != NULL && db->source != NULL && db_kind_backend(db->kind) == NULL)
        return diag_fail(d, ST_TOOL, "perfdb.no-backend", (struct where){.path = job->dir},
                         "the database is of %.*s (%s), which no back end measures",
                         STR_ARGS(db->name), db->source);
    return first_backend(job, db, facts, d);
}

static enum db_kind kind_of_backend(const struct backend_entry *backend)
{
    enum db_kind kind = DB_KIND_CPU;

    while (strcmp(db_kind_backend(kind), backend->name) != 0)
        kind++;
    return kind;
}

/* The back end of the job; times that are written must be of the database's device. */
static enum status open_for(struct measure_db_job *job, struct db_device *db,
                            struct measured_db *out, struct diag *d)
{
    const struct backend_entry *wanted = backend_find(str_of(job->backend));
    struct db_source from = {wanted != NULL ? kind_of_backend(wanted) : DB_KIND_CPU, S("")};

    TRY(db_device_find(&out->arena, job->dir, job->device, db, d));
    /* Before a device is asked: what can never be right is not measured. */
    if (job->is_writing && (wanted == NULL) == (db->source == NULL))
        TRY(db_device_admit(job->dir, db, &from, d));
    TRY(measure_db_open(job, db, &out->arena, &out->facts, d));
    from = (struct db_source){kind_of_backend(job->options.backend), str_of(out->facts.device)};
    return job->is_writing ? db_device_admit(job->dir, db, &from, d) : ST_OK;
}

enum status measure_db(const struct measure_db_job *given, struct measured_db *out, struct diag *d)
{
    struct measure_db_job job = *given;
    struct run run = {.job = &job, .out = out};
    struct bench_job tables = {.dir = job.dir, .ops = job.ops, .n_ops = job.n_ops};
    struct bench_files files;
    struct db_device db = {0};
    enum status st = ST_OK;

    *out = (struct measured_db){.dir = job.dir};
    arena_init(&out->arena);
    if (job.prepare != NULL) {
        TRY(open_for(&job, &db, out, d));
        TRY(job.prepare(job.prepare_ctx, d));
    }
    TRY(bench_files(&out->arena, &tables, &files, d));
    if (files.n == 0)
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-tables", (struct where){.path = out->dir},
                         "has no table of an operator that can be replayed");
    if (job.prepare == NULL)
        TRY(open_for(&job, &db, out, d));
    out->backend = job.options.backend->name;
    if (job.is_writing) {
        struct db_source own = {kind_of_backend(job.options.backend), str_of(out->facts.device)};
        TRY(db_device_write(out->dir, &db, &own, d));
        TRY(journal_replay(&out->arena, out->dir, d));
        run.journal = fs_join(&out->arena, out->dir, JOURNAL);
    }
    run.total = job_count_rows(&job, &files);
    run.clocks = clocks_open(&out->arena, out->backend, out->facts.bus);
    for (size_t i = 0; i < files.n && st == ST_OK && !out->is_stopped; i++)
        st = cancelled() ? ST_CANCELLED : measure_file(&run, files.at[i], d);
    clocks_close(run.clocks, &out->clocks);
    if (st == ST_OK && job.is_pruning && job.is_writing && !out->is_stopped)
        st = prune_all(&run, &files, d);
    return st;
}

void measured_db_free(struct measured_db *m)
{
    vec_free(&m->rows);
    vec_free(&m->ops);
    vec_free(&m->pruned);
    arena_free(&m->arena);
}
