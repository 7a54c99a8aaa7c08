/*
 * strata incore lint: whether MindStudio Insight opens an artifact, and if not, why.
 */
#include <sys/stat.h>

#include "analysis/incore_lint.h"
#include "base/fs.h"
#include "base/mapfile.h"
#include "cli/session.h"
#include "flow/incore_study.h"

extern const struct command command_incore_lint;

static const struct example examples[] = {
    {"strata incore lint examples/incore/visualize_data.bin", "a file that opens"},
    {"strata incore lint examples/incore --json", "the same for programs"},
    {0},
};

static const char *verdict(const struct incore_lint *l)
{
    if (l->refused > 0)
        return "MindStudio Insight refuses it";
    return l->unseen > 0 ? "MindStudio Insight opens it, but does not show all"
                         : "MindStudio Insight opens it";
}

static void print_text(struct session *s, const char *path, const struct incore_lint *l)
{
    uint64_t told = 0;

    out_style(&s->out, STYLE_BOLD);
    out_text(&s->out, out_clean(&s->arena, str_of(path)));
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
        out_printf(&s->out, "  and %llu more of the same\n",
                   (unsigned long long)(l->refused + l->unseen - told));
}

static void print_json(struct json_writer *j, const char *path, const struct incore_lint *l)
{
    json_write_object(j);
    json_put_text(j, "path", path);
    json_put_bool(j, "opens", incore_lint_opens(l));
    json_put_u64(j, "blocks", l->blocks);
    json_put_u64(j, "events", l->events);
    json_put_u64(j, "refused", l->refused);
    json_put_u64(j, "unseen", l->unseen);
    json_put_array(j, "problems");
    for (size_t i = 0; i < l->problems.n; i++) {
        const struct lint_problem *p = &l->problems.at[i];
        json_write_object(j);
        json_put_text(j, "rule", p->rule);
        json_put_str(j, "weight", p->weight == LINT_REFUSED ? S("refused") : S("unseen"));
        json_put_u64(j, "byte", p->offset);
        json_put_text(j, "text", p->text);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
}

static enum status check(struct session *s, const char *path, struct incore_lint *l)
{
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

static int run(struct session *s, const void *args)
{
    size_t n = s->operands.n;
    const char **paths = ARENA_ARRAY(&s->arena, const char *, n);
    struct incore_lint *list = ARENA_ARRAY(&s->arena, struct incore_lint, n);
    enum status status = ST_OK;
    bool has_problems = false;

    (void)args;
    for (size_t i = 0; i < n; i++)
        incore_lint_init(&list[i]);
    for (size_t i = 0; i < n && status == ST_OK; i++) {
        paths[i] = fs_is_dir(s->operands.at[i])
                       ? incore_study_file(s->operands.at[i], &s->arena, &s->diag)
                       : s->operands.at[i];
        status = paths[i] != NULL ? check(s, paths[i], &list[i]) : ST_NOT_FOUND;
        has_problems = has_problems || list[i].problems.n > 0;
    }
    if (status == ST_OK && s->common.json) {
        struct json_writer *j = session_json_begin(s, "strata.incore-lint/1", NULL);
        json_write_array(j);
        for (size_t i = 0; i < n; i++)
            print_json(j, paths[i], &list[i]);
        json_write_end(j);
        session_json_end(s);
    } else if (status == ST_OK && !s->common.quiet) {
        for (size_t i = 0; i < n; i++)
            print_text(s, paths[i], &list[i]);
    }
    for (size_t i = 0; i < n; i++)
        incore_lint_fini(&list[i]);
    return status == ST_OK && has_problems ? CODE_NO : session_code(status);
}

const struct command command_incore_lint = {
    .name = "lint",
    .group = GROUP_INCORE,
    .summary = "say whether MindStudio Insight opens a file, and which rule it breaks where",
    .usage = "[OPTIONS] PATH…",
    .details =
        "Checks visualize_data.bin and trace.json against what MindStudio Insight asks of them: "
        "the "
        "container block by block, the trace event by event. Every rule that is broken is named "
        "with the byte where. A folder stands for the visualize_data.bin or trace.json in "
        "it or in its simulator/ folder.\n"
        "\n"
        "Rules weigh differently: some make Insight refuse the file, others only hide a part of "
        "it. The exit code is 1 when any is broken.",
    .see = "docs/formats/visualize-data.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .examples = examples,
    .run = run,
};
