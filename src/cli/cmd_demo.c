/*
 * strata demo: the answer about a capture that is part of the program.
 */
#include "base/files/embedded.h"
#include "base/files/fs.h"
#include "base/files/remove_tree.h"
#include "base/text/shell_word.h"
#include "cli/answer.h"
#include "report/report.h"
#include "text/demo.h"

#define EXAMPLE "examples/unpinned/"
#define BEFORE  "before.pt.trace.json.gz"
#define AFTER   "after.pt.trace.json.gz"

struct args {
    const char *write;
    enum answer_form to;
};

static const struct opt options[] = {
    OPT_STRING(0, "write", "DIR", struct args, write,
               "write the captures to a folder, for other commands"),
    ANSWER_OPTION(struct args, to),
};

static const struct example examples[] = {
    {"strata demo", "what limits a recorded run"},
    {"strata demo -o demo.html", "a page with its timeline, for a browser"},
    {"strata demo --json", "the same as JSON"},
    {"strata demo --write demo", "the captures as files"},
};

static enum status unpack(struct session *s, const char *folder, bool is_kept)
{
    static const char *const files[] = {BEFORE, AFTER};

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const char *path = fs_join(&s->arena, folder, files[i]);
        struct str text = embedded_file(arena_printf(&s->arena, EXAMPLE "%s", files[i]));
        TRY(outfile_save(path, text, &s->diag));
        if (is_kept)
            session_wrote(s, path);
    }
    return ST_OK;
}

/* As `strata PATH` does, with what the folder has. */
static int explain(struct session *s, const struct args *args, const char *folder)
{
    const char *form[] = {"--to", answer_forms[args->to]};

    vec_push(&s->operands, fs_join(&s->arena, folder, BEFORE));
    return answer_as(s, (const char *const[2]){command_report.name},
                     &(struct words){form, ARRAY_LEN(form), ARRAY_LEN(form)});
}

static void show_what(struct session *s, bool is_alone)
{
    struct report *r = report_new(session_lang(s), S(""));

    report_text(r, report_message(r, &demo_text.what));
    if (!is_alone)
        report_line_text(r, S(""));
    session_answer(s, r);
}

static const char *typed(struct session *s, const char *folder, const char *file)
{
    return shell_word(&s->arena, fs_join(&s->arena, folder, file));
}

static void show_next(struct session *s, const char *written)
{
    struct report *r = report_new(session_lang(s), S(""));

    report_line_text(r, S(""));
    if (written != NULL)
        report_line_text(r, REPORT_MESSAGE(r, &demo_text.twin,
                                           PLACE("before", typed(s, written, BEFORE)),
                                           PLACE("after", typed(s, written, AFTER))));
    else
        report_line_text(r, report_message(r, &demo_text.more));
    report_line_text(r, report_message(r, &demo_text.own));
    session_answer(s, r);
}

static int demo_run(struct session *s, const void *given)
{
    const struct args *args = given;
    enum answer_form form = args->to;
    const char *folder = args->write;
    enum status status = ST_OK;

    TRY_CODE(answer_form(s, &form));
    bool is_file = s->common.out != NULL && strcmp(s->common.out, "-") != 0;
    bool is_talking = (is_file || form == ANSWER_TEXT) && session_has_reader(s);
    if (folder == NULL) {
        folder = s->unpacked = remove_tree_temporary(&s->arena);
        if (folder == NULL)
            return session_code(
                diag_fail(&s->diag, ST_IO, "demo.no-folder", (struct where){0},
                          "no temporary folder for the capture; --write names one"));
        remove_tree_hold(folder);
    } else {
        status = fs_mkdirs(folder, &s->diag);
    }
    if (status == ST_OK)
        status = unpack(s, folder, args->write != NULL);
    int code = session_code(status);
    if (code == CODE_DONE) {
        if (is_talking)
            show_what(s, is_file);
        code = explain(s, args, folder);
        if (code == CODE_DONE && is_talking)
            show_next(s, args->write);
    }
    if (s->unpacked != NULL) {
        remove_tree_drop(folder);
        remove_tree(folder);
    }
    return code;
}

const struct command command_demo = {
    .name = "demo",
    .group = GROUP_LOOK,
    .summary = "explain a recorded capture that comes with strata",
    .usage = "[OPTIONS]",
    .details = "Prints what `strata PATH` prints for a capture that is part of the program: six "
               "steps of a network, recorded on an NVIDIA H200, whose input is copied from memory "
               "that is not pinned. With --write the capture, and another one after the repair, "
               "become files for other commands.",
    .common = COMMON_JOBS | COMMON_LANG | COMMON_OUT,
    COMMAND_PARTS_ZERO,
    .run = demo_run,
};
