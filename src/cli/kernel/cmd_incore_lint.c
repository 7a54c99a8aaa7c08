/*
 * strata incore lint: whether MindStudio Insight opens an artifact, and if not, why.
 */
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "cli/session.h"
#include "kernels/incore/incore_lint.h"
#include "kernels/incore/incore_open.h"

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

static void lint_print_text(struct session *s, const struct incore_lint *l)
{
    uint64_t told = 0;

    out_style(&s->out, STYLE_BOLD);
    out_text(&s->out, out_clean(&s->arena, str_of(l->path)));
    out_style(&s->out, STYLE_PLAIN);
    out_printf(&s->out, "   %s\n  %llu block%s · %llu event%s\n", verdict(l),
               (unsigned long long)l->blocks, l->blocks == 1 ? "" : "s",
               (unsigned long long)l->events, l->events == 1 ? "" : "s");
    for (size_t i = 0; i < l->problems.n; i++) {
        const struct lint_problem *p = &l->problems.at[i];
        out_printf(&s->out, "  byte %-10llu %-18s %s\n", (unsigned long long)p->offset, p->rule,
                   out_clean(&s->arena, str_of(p->text)));
        told++;
    }
    if (l->refused + l->unseen > told)
        out_printf(&s->out, "  and %llu more like it\n",
                   (unsigned long long)(l->refused + l->unseen - told));
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
    if (status == ST_OK && s->common.json)
        session_document(s, &incore_lint_schema, NULL, &(struct field_items){list, n});
    for (size_t i = 0; i < n && status == ST_OK && !s->common.json && !s->common.quiet; i++)
        lint_print_text(s, &list[i]);
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
