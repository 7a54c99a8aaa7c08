/*
 * strata incore lint: whether MindStudio Insight opens an artifact, and if not, why.
 */
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "cli/session.h"
#include "kernels/incore/incore_lint.h"
#include "kernels/incore/incore_open.h"
#include "report/report.h"

static const struct example examples[] = {
    {"strata incore lint examples/incore/visualize_data.bin", "a valid file"},
    {"strata incore lint examples/incore --json", "as JSON"},
};

static const char *verdict(const struct incore_lint *l)
{
    if (l->refused > 0)
        return "MindStudio Insight will reject it";
    return l->unseen > 0 ? "MindStudio Insight opens it, but hides parts of it"
                         : "MindStudio Insight opens it";
}

static void lint_add(struct report *r, const struct incore_lint *l, bool is_alone)
{
    if (is_alone)
        report_summary(r, str_of(verdict(l)));
    else
        report_line(r, "%s   %s", out_clean(&r->arena, str_of(l->path)), verdict(l));
    report_line(r, "  %llu block%s · %llu event%s", (unsigned long long)l->blocks,
                l->blocks == 1 ? "" : "s", (unsigned long long)l->events,
                l->events == 1 ? "" : "s");
    for (size_t i = 0; i < l->problems.n; i++) {
        const struct lint_problem *p = &l->problems.at[i];
        report_line(r, "  byte %-10llu %-18s %s", (unsigned long long)p->offset, p->rule,
                    out_clean(&r->arena, str_of(p->text)));
    }
    if (l->refused + l->unseen > l->problems.n)
        report_line(r, "  and %llu more like it",
                    (unsigned long long)(l->refused + l->unseen - l->problems.n));
}

static void lint_describe(const void *result, struct report *r)
{
    const struct field_items *list = result;
    const struct incore_lint *at = list->at;

    for (size_t i = 0; i < list->n; i++)
        lint_add(r, &at[i], list->n == 1);
}

static enum status lint_check(struct session *s, struct incore_lint *l)
{
    const char *path = l->path;
    struct mapfile map;
    struct stat info = {0};

    TRY(mapfile_open(&map, path, &s->diag));
    if (stat(path, &info) != 0)
        info.st_mode = 0;
    incore_lint_check(l, map.text, (struct lint_file){map.text.n, (info.st_mode & S_IWOTH) != 0});
    session_read(s, path, map.text.n > 0 && map.text.at[0] == '{' ? "core-trace" : "visualize-data",
                 l->events, 0);
    mapfile_close(&map);
    return ST_OK;
}

static int lint_run(struct session *s, const void *args)
{
    size_t n = s->operands.n;
    struct incore_lint *list = ARENA_ARRAY(&s->arena, struct incore_lint, n);
    enum status status = ST_OK;
    bool has_problems = false;

    (void)args;
    for (size_t i = 0; i < n; i++)
        incore_lint_init(&list[i]);
    for (size_t i = 0; i < n && status == ST_OK; i++) {
        list[i].path = fs_is_dir(s->operands.at[i])
                           ? incore_open_file(s->operands.at[i], &s->arena, &s->diag)
                           : s->operands.at[i];
        status = list[i].path != NULL ? lint_check(s, &list[i]) : ST_NOT_FOUND;
        has_problems = has_problems || list[i].problems.n > 0;
    }
    if (status == ST_OK)
        session_give(s, &(struct answer){.schema = &incore_lint_schema,
                                         .result = &(struct field_items){list, n},
                                         .title = n == 1 ? str_of(list[0].path) : S(""),
                                         .describe = lint_describe});
    for (size_t i = 0; i < n; i++)
        incore_lint_fini(&list[i]);
    return status == ST_OK && has_problems ? CODE_NO : session_code(status);
}

const struct command command_incore_lint = {
    .name = "lint",
    .group = GROUP_KERNELS,
    .summary = "check whether MindStudio Insight can open a file",
    .usage = "[OPTIONS] PATH…",
    .details = "Checks visualize_data.bin and trace.json against the rules of MindStudio Insight: "
               "the container block by block, the trace event by event. Each violation is listed "
               "with its rule and byte offset. For a folder, the visualize_data.bin or trace.json "
               "in it or in its simulator/ folder is checked.\n"
               "\n"
               "Some violations make Insight reject the file, others only hide part of it. The "
               "exit code is 1 if there is any.",
    .see = "docs/formats/visualize-data.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .schemas = {&incore_lint_schema},
    COMMAND_PARTS_BARE,
    .run = lint_run,
};
