/*
 * frame: finds the command, parses its options, runs it and prints the diagnostics.
 */
#include "cli/terminal/frame.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/inputs.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/run/pool.h"
#include "base/text/inert.h"
#include "cli/answer.h"
#include "cli/help/help.h"
#include "cli/session.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/stop.h"
#include "cli/terminal/terminal.h"
#include "input/input.h"

static void show_text(struct out *err, const char *text)
{
    struct text line = {0};

    inert_put(&line, str_of(text), INERT_LINE);
    out_painted(err, text_view(&line));
    text_free(&line);
}

static void show_where(struct out *err, struct where where)
{
    if (where.path == NULL)
        return;
    if (fs_exists(where.path))
        out_path(err, where.path);
    else
        show_text(err, where.path);
    if (where.line > 0)
        out_printf(err, ":%llu", (unsigned long long)where.line);
    else if (where.byte > 0)
        out_printf(err, ":byte %llu", (unsigned long long)(where.byte - 1));
    out_text(err, ": ");
}

static void show_line(struct out *err, const struct diag_entry *e, const struct diag_text *t)
{
    static const enum style styles[] = {STYLE_BOLD, STYLE_YELLOW, STYLE_YELLOW, STYLE_RED};

    show_where(err, t->where);
    out_style(err, styles[e->severity]);
    out_printf(err, "%s:", severity_name(e->severity));
    out_style(err, STYLE_PLAIN);
    out_text(err, " ");
    show_text(err, t->text);
    out_printf(err, " [%s]\n", e->code);
}

void frame_show_diag(struct out *err, const struct diag *d, bool verbose)
{
    const struct diag_entry *failure = session_error(d);

    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        if (e->severity != SEV_ERROR && (e->severity != SEV_NOTE || verbose)) {
            for (size_t k = 0; k < DIAG_TEXTS && k < e->count; k++)
                show_line(err, e, &e->first[k]);
            if (e->count > DIAG_TEXTS)
                out_printf(err, "… and %llu more [%s]\n",
                           (unsigned long long)(e->count - DIAG_TEXTS), e->code);
        }
    }
    if (failure == NULL)
        return;
    out_text(err, "strata: ");
    show_line(err, failure, &failure->first[0]);
    for (size_t i = 0; i < d->hints.n; i++) {
        bool is_repeat = i > 0 && strcmp(d->hints.at[i].label, d->hints.at[i - 1].label) == 0;
        out_printf(err, "  %-12s", is_repeat ? "" : d->hints.at[i].label);
        show_text(err, d->hints.at[i].text);
        out_text(err, "\n");
    }
}

/* The last lines of stdout: every file written. A JSON document has them inside. */
static void list_written(struct session *s)
{
    if (s->common.json || s->has_named_files)
        return;
    struct str label = message_word(session_lang(s), S("wrote"));
    int width = (int)str_width(label) + 2;
    if (s->written.n > 0 && !s->common.quiet)
        out_printf(&s->out, "\n%.*s  ", STR_ARGS(label));
    for (size_t i = 0; i < s->written.n; i++) {
        out_printf(&s->out, "%*s", i > 0 && !s->common.quiet ? width : 0, "");
        out_path(&s->out, s->written.at[i]);
        out_text(&s->out, "\n");
    }
}

static int check_operands(struct session *s)
{
    const struct command *c = s->path.command;
    const struct operands *want = &c->operands;
    const struct opt list = {.kind = OPT_KIND_CHOICE, .choices = want->choices};
    char text[128];

    if (s->operands.n < want->min && c == &command_report)
        return session_usage(s, "a file or folder to explain, or a command, is missing");
    if (s->operands.n < want->min)
        return session_usage(s, "%s needs %s", c->name,
                             want->min == 1 ? "an argument" : "more arguments");
    if (s->operands.n > want->max)
        return session_usage(s, "%s: unexpected argument \"%s\"", c->name,
                             s->operands.at[want->max]);
    if (want->kind != OPERAND_CHOICE)
        return CODE_DONE;
    for (size_t i = 0; i < s->operands.n; i++) {
        size_t n = 0;
        while (want->choices[n] != NULL && strcmp(want->choices[n], s->operands.at[i]) != 0)
            n++;
        if (want->choices[n] == NULL)
            return session_usage(s, "%s: \"%s\" is not one of %s", c->name, s->operands.at[i],
                                 opt_value_text(&list, text, sizeof(text)));
    }
    return CODE_DONE;
}

/* The word after --from, for commands that have it: it names what is read. */
static int check_format(struct session *s)
{
    const struct input_format *f = NULL;

    if (s->common.format == NULL)
        return CODE_DONE;
    for (size_t i = 0; (f = input_format_at(i)) != NULL; i++)
        if (strcmp(f->name, s->common.format) == 0)
            return CODE_DONE;
    diag_fail(&s->diag, ST_UNSUPPORTED, "usage.value", (struct where){0},
              "--from: unknown input format \"%s\"", s->common.format);
    diag_hint(&s->diag, "try", "strata formats");
    return CODE_USAGE;
}

/* Help was asked for by its letter alone. */
static bool is_short_help(int argc, const char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0)
            return false;
    return true;
}

/* What the options and the terminal say about colours, links and characters. Chinese needs
 * more than ASCII. */
static void set_manners(const struct session *s, struct out *o)
{
    if (s->is_embedded)
        return;
    o->color = terminal_wants_color((enum color_mode)s->common.color, o->fd);
    o->has_links = o->color && terminal_follows_links(o->fd);
    o->is_ascii = session_lang(s) == LANG_EN &&
                  (s->common.ascii || (o->is_terminal && !terminal_shows_utf8()));
}

static int run_command(struct session *s, int argc, const char *const *argv)
{
    const struct command *c = s->path.command;
    void *args = arena_alloc(&s->arena, c->args_size);
    struct opt common[COMMON_OPTIONS];
    char name[64];

    if (c->defaults != NULL)
        memcpy(args, c->defaults, c->args_size);
    const struct opt_set sets[] = {{c->options, c->n_options, args},
                                   {common, command_common_options(c->common, common), &s->common}};
    int code = CODE_USAGE;
    if (!opt_parse(sets, ARRAY_LEN(sets), argc, argv, &s->operands, &s->diag)) {
        diag_hint(&s->diag, "try", "strata help %s",
                  command_full_name(s->path, name, sizeof(name)));
    } else {
        set_manners(s, &s->out);
        s->out.may_page = s->out.may_page && !s->common.no_pager;
        if (s->common.help) {
            help_page(&s->out, s->path, is_short_help(argc, argv));
            code = CODE_DONE;
        } else if ((code = check_operands(s)) == CODE_DONE &&
                   (code = check_format(s)) == CODE_DONE) {
            session_progress_begin(s);
            code = s->common.html != NULL ? answer_html(s, c, args) : c->run(s, args);
            session_progress_end(s);
            list_written(s);
        }
    }
    opt_release(sets[0]);
    return code;
}

static int unknown_command(struct session *s, const struct command *parent, const char *word)
{
    const char *between = parent != NULL ? " " : "", *prefix = parent != NULL ? parent->name : "";

    diag_fail(&s->diag, ST_NOT_FOUND, "usage.command", (struct where){0},
              "unknown command \"%s%s%s\"%s", prefix, between, word,
              parent == NULL ? ", and no such file or folder" : "");
    const char *near = command_nearest(parent != NULL ? parent->subs : NULL, word);
    if (near != NULL)
        diag_hint(&s->diag, "try", "strata %s%s%s", prefix, between, near);
    else
        diag_hint(&s->diag, "try", "strata help%s%s", between, prefix);
    return CODE_USAGE;
}

static bool is_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

/* A command that only holds others: its page, or a complaint about the word after it. */
static int run_holder(struct session *s, int argc, const char *const *argv)
{
    if (argc > 0 && !is_help(argv[0]))
        return unknown_command(s, s->path.command, argv[0]);
    help_page(&s->out, s->path, argc == 0 || is_short_help(argc, argv));
    return CODE_DONE;
}

/* Options may come before the command, or before the path to explain: the command's word goes to
 * the front, whichever words before it are values of options. */
static const char *const *command_first(struct session *s, int argc, const char *const *argv)
{
    const char **words = ARENA_ARRAY(&s->arena, const char *, (size_t)argc);
    int at = 0, used;

    while (at < argc && (argv[at][0] == '-' || fs_exists(argv[at]) ||
                         command_find(1, &argv[at], &used).command == NULL))
        at++;
    if (at == argc)
        return argv;
    words[0] = argv[at];
    for (int i = 0, n = 1; i < argc; i++)
        if (i != at)
            words[n++] = argv[i];
    return words;
}

static int dispatch(struct session *s, int argc, const char *const *argv)
{
    int used;

    if (argc == 0 || is_help(argv[0])) {
        help_overview(&s->out);
        return CODE_DONE;
    }
    if (strcmp(argv[0], "--version") == 0) {
        out_text(&s->out, "strata " STRATA_VERSION "\n");
        return CODE_DONE;
    }
    if (argv[0][0] == '-')
        argv = command_first(s, argc, argv);
    s->path = command_find(argc, argv, &used);
    /* A word with a folder or an ending is no command, whether the file is there or not. */
    if (s->path.command == NULL && argv[0][0] != '-' && strpbrk(argv[0], "/.") == NULL &&
        !fs_exists(argv[0]))
        return unknown_command(s, NULL, argv[0]);
    if (s->path.command == NULL) { /* `strata PATH` */
        s->path.command = &command_report;
        used = 0;
    }
    if (s->path.command->subs != NULL)
        return run_holder(s, argc - used, argv + used);
    return run_command(s, argc - used, argv + used);
}

void frame_embed(struct session *s, struct text *to)
{
    *s = (struct session){.is_embedded = true};
    arena_init(&s->arena);
    diag_init(&s->diag);
    out_init(&s->out, -1);
    s->out.to = text_sink(to);
}

int frame_answer(struct session *s, int argc, const char *const *argv)
{
    int code = dispatch(s, argc, argv);

    /* EPIPE (`strata ... | head`) is not an error; any other write error is. */
    if (!out_finish(&s->out) && s->out.error != EPIPE) {
        diag_fail(&s->diag, ST_IO, "stdout.write", (struct where){.path = "stdout"}, "%s",
                  fs_error_text(s->out.error));
        code = code <= CODE_NO ? CODE_FILE : code;
    }
    const struct diag_entry *error = session_error(&s->diag);
    /* Every failure has a diagnostic; one without is an internal error. */
    if (cancelled())
        code = CODE_SIGNAL + cancel_signal();
    else if (code != CODE_DONE && error != NULL && str_starts(str_of(error->code), S("usage.")))
        code = CODE_USAGE; /* whoever found it */
    if (code <= CODE_NO || error != NULL)
        return code;
    if (cancelled())
        diag_fail(&s->diag, ST_CANCELLED, "run.interrupted", (struct where){0}, "interrupted");
    else
        diag_fail(&s->diag, ST_FORMAT, "run.no-reason", (struct where){0},
                  "failed without a reason; please report this bug");
    return code;
}

void frame_release(struct session *s)
{
    out_fini(&s->out);
    pool_free(s->pool);
    vec_free(&s->operands);
    vec_free(&s->inputs);
    vec_free(&s->written);
    diag_fini(&s->diag);
    arena_free(&s->arena);
}

struct frame {
    int argc;
    const char *const *argv;
    int code;
};

static void cli_frame_run(void *ctx)
{
    struct frame *f = ctx;
    struct session s = {0};
    struct out err;

    inputs_clear();
    arena_init(&s.arena);
    diag_init(&s.diag);
    out_init(&s.out, STDOUT_FILENO);
    set_manners(&s, &s.out);
    s.out.width = terminal_width(STDOUT_FILENO);
    s.out.may_page = pager_is_possible();
    f->code = frame_answer(&s, f->argc, f->argv);
    out_init(&err, STDERR_FILENO);
    set_manners(&s, &err);
    err.width = terminal_width(STDERR_FILENO);
    frame_show_diag(&err, &s.diag, s.common.verbose);
    stop_said();
    out_flush(&err);

    fs_cleanup(); /* what an interrupted or failed run left half-written */
    out_fini(&err);
    frame_release(&s);
}

int frame_run(int argc, const char *const *argv)
{
    struct frame f = {argc, argv, CODE_FILE};
    struct job job = JOB_INIT;

    if (!job_run(&job, cli_frame_run, &f))
        job_print_out_of_memory();
    pager_finish();
    job_end(&job);
    return f.code;
}
