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

struct report_verdict {
    bool is_good;
};

static const struct field verdict_fields[] = {FIELD(struct report_verdict, is_good, "good")};

static const struct schema check_schema = {
    .name = "strata.gpu-report-check/1",
    .title = "validity of reports",
    .record = &(const struct record)RECORD(struct report_verdict, verdict_fields),
};

static int report_check(struct session *s)
{
    struct mapfile map;
    bool is_good = true;

    for (size_t i = 0; i < s->operands.n; i++) {
        enum status st = mapfile_open(&map, s->operands.at[i], &s->diag);
        if (st != ST_OK)
            return session_code(st);
        bool keeps = gpu_report_check(s->operands.at[i], map.text, &s->diag);
        mapfile_close(&map);
        is_good = is_good && keeps;
        if (keeps && !s->common.quiet && !s->common.json)
            out_printf(&s->out, "%s: valid\n", s->operands.at[i]);
    }
    if (s->common.json)
        session_document(s, &check_schema, NULL, &(struct report_verdict){is_good});
    return is_good ? CODE_DONE : CODE_NO;
}

/* A verdict, or the document itself, which other programs read; on a terminal as a report. */
static void report_print_text(struct session *s, const struct args *args, const struct gpu_run *run,
                              struct str markdown)
{
    if (!args->brief && s->out.width == 0) {
        out_bytes(&s->out, markdown);
        return;
    }
    struct report *r = report_new(session_lang(s), args->brief ? run->kernel : S(""));
    if (args->brief)
        gpu_report_brief(run, r);
    else
        markdown_view(r, markdown);
    session_answer(s, r);
}

static enum status report_finish(struct session *s, const struct args *args,
                                 const struct gpu_run *run, const struct text *markdown)
{
    if (args->devlog != NULL) {
        TRY(gpu_devlog_write(args->devlog, run, &s->diag));
        session_wrote(s, args->devlog);
    }
    if (s->common.json)
        session_document_in(s, &gpu_report_schema, "measured", run,
                            &(struct record_env){.arena = &s->arena, .user = markdown});
    else if (!s->common.quiet)
        report_print_text(s, args, run, text_view(markdown));
    struct page_file *page = page_answer_begin(s, PAGE_GPU, NULL);
    if (page == NULL)
        return ST_OK;
    page_gpu(page, run);
    return page_answer_end(s);
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
