/*
 * The trace of one kernel read, judged and written as the files of `strata incore clean`.
 */
#include "kernels/incore/incore_clean_job.h"

#include <inttypes.h>

#include "base/files/copy_tree.h"
#include "base/files/fs.h"
#include "base/run/now.h"
#include "capture/capture.h"
#include "capture/cut.h"
#include "kernels/incore/files.h"
#include "kernels/incore/incore_open.h"
#include "render/insight/insight.h"
#include "report/record_file.h"

struct cleaning {
    const struct incore_clean_job *job;
    struct diag *d;
    struct incore_clean_result *result;
    struct incore_study *study;
    const char *dir; /* where files go */
};

/* A file's name without folder and ending. */
static struct str stem(const char *path)
{
    struct str name = str_basename(str_of(path));
    const char *dot = name.n > 0 ? memrchr(name.at, '.', name.n) : NULL;

    return dot != NULL && dot > name.at ? str_part(name, 0, (size_t)(dot - name.at)) : name;
}

static const char *choose_dir(struct cleaning *c)
{
    const struct incore_clean_job *job = c->job;
    struct arena *arena = &c->study->arena;
    const char *root = job->out != NULL ? job->out : incore_open_folder(c->study->bin, arena);

    if (job->origin.kernel == NULL)
        return root;
    if (job->name != NULL)
        return fs_join(arena, root, job->name);
    struct str source = job->origin.source != NULL ? stem(job->origin.source) : S("unknown");
    return fs_join(arena, root,
                   arena_printf(arena, "incore_%s_%.*s_%s", job->origin.kernel, STR_ARGS(source),
                                now_text(arena, NOW_NAME, 0)));
}

static const char *path_of(struct cleaning *c, const char *name)
{
    return fs_join(&c->study->arena, c->dir, name);
}

/* Notes a file that was written. */
static enum status wrote(struct cleaning *c, const char *path, enum status st)
{
    if (st == ST_OK)
        vec_push(&c->result->wrote, path);
    return st;
}

/* A file of the output folder; `write` gives false when the sink failed. */
static enum status job_write_file(struct cleaning *c, const char *name,
                                  bool (*write)(struct cleaning *c, struct sink sink))
{
    const char *path = path_of(c, name);
    struct outfile file;

    TRY(outfile_open(&file, path, c->d));
    write(c, outfile_sink(&file)); /* the commit tells of a failure */
    return wrote(c, path, outfile_commit(&file, OUTFILE_FAST, c->d));
}

static bool put_trace(struct cleaning *c, struct sink sink)
{
    struct incore_study *s = c->study;

    return incore_clean_write(&s->t, &s->lanes, &s->arrows, incore_study_watch(s), sink);
}

static bool put_metrics(struct cleaning *c, struct sink sink)
{
    if (c->job->raw_metrics)
        return sink.write(sink.ctx, c->study->table);
    return incore_metrics_write(&c->study->metrics, sink);
}

static bool put_perfetto(struct cleaning *c, struct sink sink)
{
    return incore_perfetto_write(c->study, sink);
}

/* A trace that is cut is no document: there is nothing to keep without a loss. */
static enum status write_lossless(struct cleaning *c, const char *name)
{
    const char *path = path_of(c, name), *reason;
    struct incore_lossless told;
    struct outfile file;
    struct text text = {0};

    TRY(outfile_open(&file, path, c->d));
    if (c->study->cap != NULL) {
        /* Of logs there is no trace yet. */
        struct timeline_options options = {0};
        struct cut cut;
        cut_init(&cut, c->study->cap, &(struct cut_options){0});
        insight_write_trace(&cut, &options, text_sink(&text));
        cut_fini(&cut);
    }
    enum status st =
        incore_lossless_write(c->study->cap != NULL ? text_view(&text) : c->study->trace,
                              outfile_sink(&file), &told, &reason);
    text_free(&text);
    if (st != ST_OK) {
        outfile_abort(&file);
        diag_add(c->d, SEV_WARN, "incore.no-lossless", (struct where){.path = c->study->bin},
                 "no %s: %s", name, reason);
        return ST_OK;
    }
    TRY(wrote(c, path, outfile_commit(&file, OUTFILE_FAST, c->d)));
    if (told.unpaired > 0)
        diag_add(c->d, SEV_NOTE, "incore.unpaired", (struct where){.path = path},
                 "%" PRIu64 " unpaired begin or end events are kept", told.unpaired);
    return ST_OK;
}

/* Only when the files go elsewhere. */
static enum status copy_raw(struct cleaning *c)
{
    struct arena *arena = &c->study->arena;
    const char *from = incore_open_folder(c->study->bin, arena);

    if (!c->job->copy_raw || fs_same_file(from, c->dir))
        return ST_OK;
    const char *to = fs_join(arena, c->dir, "raw_simulator");
    /* A trace that lies among other things: nobody wants all of these. */
    struct str name = str_basename(str_of(from));
    bool is_copied = (str_ends(str_of(c->study->bin), S(".json")) &&
                      !str_equal(name, S("simulator")) && !str_starts(name, S("core")))
                         ? copy_one(c->study->bin, to, arena, c->d)
                         : copy_tree(from, to, c->dir, arena, c->d);
    if (is_copied)
        c->result->copied = to;
    return is_copied ? ST_OK : ST_IO;
}

/* ---- summary.txt ---- */

static void summary_put_line(struct text *out, const char *key, const char *value)
{
    text_format(out, "%s=%s\n", key, value != NULL ? value : "unknown");
}

/* Lines of key=value; `date` as it is to be read. */
static void summary_write(const struct incore_study *s, const struct incore_origin *origin,
                          const char *date, struct text *out)
{
    const struct incore_breakdown *b = &s->breakdown;

    summary_put_line(out, "tool", "strata " STRATA_VERSION);
    summary_put_line(out, "date", date);
    summary_put_line(out, "kernel", origin->kernel);
    summary_put_line(out, "source", origin->source);
    summary_put_line(out, "input", s->bin);
    summary_put_line(out, "target", origin->target);
    summary_put_line(out, "soc", origin->soc);
    text_format(out, "clock_mhz=%g%s\n", b->mhz, b->is_assumed ? " (assumed)" : "");
    summary_put_line(out, "simulator", origin->simulator);
    summary_put_line(out, "command", origin->command);
    summary_put_line(out, "workload", origin->workload);
    for (size_t i = 0; i < origin->patched.n; i++)
        summary_put_line(out, "patched", origin->patched.at[i]);
    for (size_t i = 0; i < b->totals.n; i++) {
        const struct incore_use *use = &b->totals.at[i];
        text_format(out,
                    "pipe.%.*s=executed %" PRIu64 ", cycles %" PRIu64 ", busy %" PRIu64
                    " (%.1f %%), depth %" PRIu64 ", wait %" PRIu64 ", bytes %" PRIu64 "\n",
                    STR_ARGS(use->pipe), use->executed, use->cycles, use->busy_cycles,
                    use->busy * 100, use->max_depth, use->wait_cycles, use->bytes);
    }
    for (size_t i = 0; i < s->told.n; i++)
        text_format(out, "told.%s=%" PRId64 "\n", s->told.at[i].name.at, s->told.at[i].cycles);
    for (size_t i = 0; i < s->health.list.n; i++)
        summary_put_line(out, "check", s->health.list.at[i].text.at);
    if (s->health.list.n == 0)
        summary_put_line(out, "check", "nothing found");
    summary_put_line(out, "verdict", b->verdict.at);
}

static enum status write_more(struct cleaning *c)
{
    const char *prefix = c->job->origin.kernel != NULL ? c->job->origin.kernel : "trace";
    struct incore_study *s = c->study;
    struct text summary = {0};

    incore_open_judge(s, c->job->mhz, c->d);
    incore_study_report(s, c->d);
    const char *path = path_of(c, "pipe_breakdown.json");
    TRY(wrote(c, path, record_save(path, &incore_breakdown_record, &s->breakdown, c->d)));
    path = path_of(c, "summary.txt");
    summary_write(s, &c->job->origin, now_text(&s->arena, NOW_READ, 0), &summary);
    enum status st = outfile_save(path, text_view(&summary), c->d);
    text_free(&summary);
    TRY(wrote(c, path, st));
    if (c->job->lossless)
        TRY(write_lossless(c, arena_printf(&s->arena, "%s.lossless.json", prefix)));
    if (c->job->perfetto)
        TRY(job_write_file(c, arena_printf(&s->arena, "%s.clean.pftrace", prefix), put_perfetto));
    return ST_OK;
}

static enum status clean_job_run(struct cleaning *c)
{
    const struct incore_clean_job *job = c->job;
    struct incore_study *s = c->study;
    struct incore_rules rules = job->rules;

    rules.mhz = job->mhz;
    TRY(incore_open(s, job->path, rules, c->d));
    c->dir = choose_dir(c);
    c->result->rows = s->lanes.rows_n;
    for (size_t g = 0; g < s->t.groups.n; g++)
        c->result->instrs += s->t.groups.at[g].is_kept ? s->t.groups.at[g].n : 0;
    TRY(fs_mkdirs(c->dir, c->d));
    TRY(job_write_file(c,
                       job->origin.kernel != NULL
                           ? arena_printf(&s->arena, "%s.clean.json", job->origin.kernel)
                           : "trace.clean.json",
                       put_trace));
    if (s->table.at == NULL && (job->rules.is_compat || !str_ends(str_of(s->bin), S(".json"))))
        diag_add(c->d, SEV_WARN, "incore.no-metrics", (struct where){0},
                 "no API_INSTR block found; skipping instr_metrics.json");
    if (!job->raw_metrics || !job->rules.is_compat)
        TRY(incore_study_metrics(s, c->d));
    if (s->table.at != NULL)
        TRY(job_write_file(c, "instr_metrics.json", put_metrics));
    if (!job->rules.is_compat)
        TRY(write_more(c));
    return copy_raw(c);
}

enum status incore_clean_run(const struct incore_clean_job *job, struct diag *d,
                             struct incore_clean_result *result)
{
    struct cleaning c = {.job = job, .d = d, .result = result};

    *result = (struct incore_clean_result){.origin = job->origin};
    c.study = &result->study;
    return clean_job_run(&c);
}

void incore_clean_result_free(struct incore_clean_result *result)
{
    vec_free(&result->wrote);
    incore_study_close(&result->study);
}

static struct field_items checks_of(const void *record, const struct record_env *env)
{
    const struct incore_health *health =
        &((const struct incore_clean_result *)record)->study.health;
    struct str *texts = ARENA_ARRAY(env->arena, struct str, health->list.n);

    for (size_t i = 0; i < health->list.n; i++)
        texts[i] = health->list.at[i].text;
    return (struct field_items){texts, health->list.n};
}

static const struct field clean_fields[] = {
    FIELD(struct incore_clean_result, study.bin, "input"),
    FIELD(struct incore_clean_result, origin.kernel, "kernel"),
    FIELD(struct incore_clean_result, origin.source, "source"),
    FIELD(struct incore_clean_result, origin.target, "target"),
    FIELD(struct incore_clean_result, origin.soc, "soc"),
    FIELD(struct incore_clean_result, origin.simulator, "simulator"),
    FIELD(struct incore_clean_result, origin.workload, "workload"),
    FIELD(struct incore_clean_result, instrs, "instructions"),
    FIELD(struct incore_clean_result, rows, "rows"),
    FIELD(struct incore_clean_result, study.arrows.list.n, "arrows"),
    FIELD(struct incore_clean_result, study.arrows.skipped, "flags_skipped"),
    FIELD_MADE(FIELD_STR, "checks", checks_of, NULL),
    FIELD_SPLICE(struct incore_clean_result, study.breakdown, &incore_breakdown_record),
};
static const struct record clean_record = RECORD(struct incore_clean_result, clean_fields);

const struct schema incore_clean_schema = {
    .name = "strata.incore-clean/1",
    .title = "cleaned kernel traces and their breakdown",
    .record = &clean_record,
    .is_list = true,
};
