/*
 * strata gpu report: regenerate the report of a folder, print one from other files, or validate
 * one.
 */
#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "cli/gpu/gpu_options.h"
#include "cli/page_answer.h"
#include "cli/terminal/markdown_view.h"
#include "gpu/collect/run_record.h"
#include "gpu/collect/rundir.h"
#include "gpu/judge/report.h"
#include "page/pages.h"
#include "report/report.h"

struct args {
    struct gpu_ask ask;
    bool check, brief;
    const char *devlog;
};

static const struct opt options[] = {
    OPT_FLAG(0, "check", struct args, check, "validate a report"),
    OPT_FLAG(0, "brief", struct args, brief, "print the verdict, the stages and opportunities"),
    OPT_STRING(0, "devlog", "FILE", struct args, devlog,
               "also add the result to a development log"),
    OPT_GPU_WORK(struct args, ask),
    OPT_STRING(0, "kernel", "NAME", struct args, ask.kernel,
               "of a folder: kernels whose name matches; of files: the title"),
    OPT_STRING(0, "version", "NAME", struct args, ask.version, "version label (default: base)"),
};

static const struct example examples[] = {
    {"strata gpu report examples/gpu-rules/raw.csv", "report from another profiler's files"},
    {"strata gpu report examples/gpu-rules/run --kernel attend",
     "verdict on kernels whose name contains attend"},
    {"strata gpu report --check examples/gpu-rules/report.md", "validate a report"},
};

/* A report that was validated. */
struct checked_report {
    const char *path;
    bool is_valid;
};

struct checked_reports {
    struct checked_report *at;
    size_t n;
    bool is_good; /* all of them */
};

static const struct field checked_fields[] = {
    FIELD(struct checked_report, path, "path"),
    FIELD(struct checked_report, is_valid, "valid"),
};
static const struct record checked_record = RECORD(struct checked_report, checked_fields);

static const struct field verdict_fields[] = {
    FIELD(struct checked_reports, is_good, "good"),
    FIELD_LIST(struct checked_reports, at, n, "reports", &checked_record),
};

static const struct schema check_schema = {
    .name = "strata.gpu-report-check/1",
    .title = "validity of reports",
    .record = &(const struct record)RECORD(struct checked_reports, verdict_fields),
};

/* What is wrong with the others is said as an error. */
static void checked_describe(const void *result, struct report *r)
{
    const struct checked_reports *all = result;

    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].is_valid)
            report_line(r, "%s: valid", all->at[i].path);
}

static int report_check(struct session *s)
{
    struct checked_reports all = {.is_good = true};
    struct mapfile map;

    all.at = ARENA_ARRAY(&s->arena, struct checked_report, s->operands.n);
    for (size_t i = 0; i < s->operands.n; i++) {
        const char *path = s->operands.at[i];
        TRY_CODE(session_code(mapfile_open(&map, path, &s->diag)));
        bool is_valid = gpu_report_check(path, map.text, &s->diag);
        mapfile_close(&map);
        all.at[all.n++] = (struct checked_report){path, is_valid};
        all.is_good = all.is_good && is_valid;
    }
    session_give(
        s, &(struct answer){.schema = &check_schema, .result = &all, .describe = checked_describe});
    return all.is_good ? CODE_DONE : CODE_NO;
}

/* A run, which is the document, and how much of it to show. */
struct reported {
    struct gpu_run run; /* of the caller, who frees it */
    bool brief;
};

static void report_describe(const void *result, struct report *r)
{
    const struct reported *x = result;
    struct text markdown = {0};

    if (x->brief) {
        gpu_report_brief(&x->run, r);
        return;
    }
    gpu_report_write(&x->run, r->lang, &markdown);
    markdown_view(r, text_view(&markdown));
    text_free(&markdown);
}

static enum status make_page(struct session *s, void *run)
{
    page_gpu(page_answer_begin(s, PAGE_GPU, NULL), run);
    return page_answer_end(s);
}

/* A verdict, or the whole report, which other programs read as the document that it is in files. */
static enum status report_finish(struct session *s, const struct args *args, struct gpu_run *run,
                                 const struct text *markdown)
{
    const struct reported x = {*run, args->brief};
    const struct record_env env = {.arena = &s->arena, .user = markdown};

    if (args->devlog != NULL) {
        TRY(gpu_devlog_write(args->devlog, run, &s->diag));
        session_wrote(s, args->devlog);
    }
    return page_answer_give(s,
                            &(struct answer){
                                .schema = &gpu_report_schema,
                                .origin = "measured",
                                .result = &x,
                                .env = &env,
                                .title = args->brief ? run->kernel : S(""),
                                .document = args->brief ? S("") : text_view(markdown),
                                .describe = report_describe,
                            },
                            make_page, run);
}

static const char *const report_files[] = {"report.md", "report.html"};

/* The folder of an earlier run. */
static enum status again(struct session *s, const struct args *args)
{
    struct text markdown = {0};
    struct gpu_run run;
    const char *dir = s->operands.at[0];

    TRY(gpu_rundir_load(dir, &run, &s->diag));
    enum status st = ST_OK;
    if (args->ask.kernel != NULL)
        st = gpu_run_only(&run, args->ask.kernel, &s->diag);
    if (st == ST_OK && s->common.out != NULL) {
        st = fs_mkdirs(s->common.out, &s->diag);
        if (st == ST_OK)
            st = gpu_rundir_report(s->common.out, &run, session_lang(s), &markdown, &s->diag);
        for (size_t i = 0; i < ARRAY_LEN(report_files) && st == ST_OK; i++)
            session_wrote(s, fs_join(&s->arena, s->common.out, report_files[i]));
    } else if (st == ST_OK) {
        gpu_report_write(&run, session_lang(s), &markdown);
    }
    if (st == ST_OK)
        st = report_finish(s, args, &run, &markdown);
    text_free(&markdown);
    gpu_run_free(&run);
    return st;
}

static enum status from_files(struct session *s, const struct args *args)
{
    struct gpu_import_job job = gpu_job_of(s, &args->ask);
    struct gpu_imported imported;
    struct text markdown = {0};

    enum status st = gpu_import_run(&job, &imported, &s->diag);
    if (st == ST_OK)
        gpu_note_inputs(s, &imported);
    if (st == ST_OK && s->common.out != NULL)
        st = gpu_imported_save(&imported, s->common.out, "", &s->arena, &s->diag);
    if (st == ST_OK && imported.folder != NULL)
        session_wrote(s, imported.folder);
    if (st == ST_OK) {
        gpu_report_write(&imported.run, session_lang(s), &markdown);
        st = report_finish(s, args, &imported.run, &markdown);
    }
    text_free(&markdown);
    gpu_imported_free(&imported);
    return st;
}

static int gpu_report_run(struct session *s, const void *given)
{
    const struct args *args = given;

    if (args->check)
        return report_check(s);
    if (fs_is_dir(s->operands.at[0])) {
        if (s->operands.n > 1)
            return session_usage(s, "report takes one folder or one or more files");
        return session_code(again(s, args));
    }
    int code = gpu_options_check(s, &args->ask);
    return code != CODE_DONE ? code : session_code(from_files(s, args));
}

const struct command command_gpu_report = {
    .name = "report",
    .group = GROUP_RECORD,
    .summary = "print, regenerate or validate the report of a run",
    .usage = "[OPTIONS] DIR|FILE…",
    .details = "Prints the report of a run folder, made from its files, or of other profilers' "
               "files, which are read as in `strata gpu import`. Nothing is written without --out: "
               "with it, a run folder's report.md and report.html go to that folder (--out RUN "
               "replaces those of the run; the same files give the same bytes), and files of other "
               "profilers become a run folder. Of a run folder, --kernel shows the kernels whose "
               "names that expression finds, however small they are.\n"
               "\n"
               "--check validates a report against the contract in docs/gpu.md; the exit code is 1 "
               "if it fails. --devlog adds or replaces the block of this version in a file and "
               "leaves all other text unchanged.",
    .see = "docs/gpu.md",
    .common = COMMON_OUT | COMMON_LANG | COMMON_HTML,
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .schemas = {&gpu_report_schema, &check_schema},
    COMMAND_PARTS_ZERO,
    .run = gpu_report_run,
};
