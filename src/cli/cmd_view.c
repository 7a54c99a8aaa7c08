/*
 * strata view: the page of a capture, served on loopback, over the capture itself.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "analysis/ranks/fleet_study.h"
#include "answers/answer_diff.h"
#include "base/files/fs.h"
#include "base/files/large.h"
#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/run/proc.h"
#include "base/text/memory_size.h"
#include "base/text/shell_word.h"
#include "cli/captures.h"
#include "view/view_server.h"

struct args {
    struct input_options input;
    int64_t port, idle;
    uint64_t max_size, memory;
    bool no_browser, tunnel;
};

enum { HOUR = 3600, PAGE_BYTES = 12000000, BROWSER_MS = 10000 };

static const struct args defaults = {
    .input = CAPTURE_INPUT(.pmu = true), .idle = HOUR, .max_size = PAGE_BYTES};

static const struct opt options[] = {
    OPT_INT(0, "port", "N", struct args, port, 0, 65535, "port to listen on (default: any free)"),
    OPT_FLAG(0, "no-browser", struct args, no_browser, "do not open a browser"),
    OPT_FLAG(0, "print-tunnel", struct args, tunnel,
             "print the ssh line for another machine; open no browser"),
    OPT_INT(0, "idle", "SECONDS", struct args, idle, 1, 30 * 24 * HOUR,
            "end after so long without a request (default: 3600)"),
    OPT_SIZE(0, "max-size", "BYTES", struct args, max_size,
             "what the page holds before it is zoomed (default: 12M)"),
    OPT_SIZE(0, "memory", "BYTES", struct args, memory,
             "memory before a temporary file is used (default: half)"),
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata view examples/ascend-small --no-browser --idle 1", "the address to open"},
    {"strata view examples/ascend-small --print-tunnel --idle 1", "on a remote machine"},
};

/* ---- the address ---- */

struct served {
    const char *url, *tunnel;
    int64_t port;
    bool shows_tunnel;
};

static const struct field served_fields[] = {
    FIELD(struct served, url, "url"),
    FIELD(struct served, port, "port"),
    FIELD(struct served, tunnel, "tunnel"),
};

static const struct schema served_schema = {
    .name = "strata.view/1",
    .title = "where strata view listens",
    .record = &(const struct record)RECORD(struct served, served_fields),
};

static struct served served_of(struct session *s, const struct view_server *server)
{
    unsigned port = view_server_port(server);
    char host[256] = "HOST";

    if (gethostname(host, sizeof(host) - 1) != 0)
        snprintf(host, sizeof(host), "HOST");
    const char *user = getenv("USER");
    return (struct served){
        .url =
            arena_printf(&s->arena, "http://127.0.0.1:%u/#k=%s", port, view_server_token(server)),
        .tunnel =
            arena_printf(&s->arena, "ssh -N -L %u:127.0.0.1:%u %s", port, port,
                         shell_word(&s->arena, arena_printf(&s->arena, "%s@%s",
                                                            user != NULL ? user : "USER", host))),
        .port = port,
    };
}

static bool print_address(const void *served, struct sink sink)
{
    const struct served *at = served;
    struct text text = {0};

    text_format(&text, "%s\n", at->url);
    if (at->shows_tunnel)
        text_format(&text, "%s\n", at->tunnel);
    bool is_written = sink.write(sink.ctx, text_view(&text));
    text_free(&text);
    return is_written;
}

/* Also with --quiet: without its address nobody finds the server. */
static void give_address(struct session *s, const struct served *at)
{
    session_give(s, &(struct answer){.schema = &served_schema,
                                     .result = at,
                                     .title = S(""),
                                     .print = print_address,
                                     .is_file = true});
    out_flush(&s->out);
}

/* ---- the browser ---- */

/* Other users can read the arguments of a program, so the browser is given a file of ours that
 * leads to the address. NULL: none could be written. */
static const char *write_link(struct session *s, const struct served *at)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    static char path[4096]; /* until the process ends */

    if (folder == NULL || folder[0] != '/')
        return NULL;
    snprintf(path, sizeof(path), "%s/strata-view-%lld.html", folder, (long long)at->port);
    struct str text = arena_format(&s->arena,
                                   "<!DOCTYPE html><meta http-equiv=\"refresh\" "
                                   "content=\"0; url=%s\"><a href=\"%s\">strata view</a>\n",
                                   at->url, at->url);
    unlink(path); /* of a viewer that was killed */
    int fd = job_fd(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd < 0)
        return NULL;
    fs_temporary(path);
    bool is_written = write_all(fd, text.at, text.n) == 0;
    job_close(fd);
    return is_written ? path : NULL;
}

/* Why no browser is open; NULL: one is, or none is wanted. Where there is no desktop xdg-open is
 * the browser itself, so nobody waits for it. */
static const char *open_browser(struct session *s, const struct args *args, const struct served *at)
{
    struct proc_result result;
    const char *argv[] = {"sh", "-c", "setsid xdg-open \"$1\" >/dev/null 2>&1 &", "sh", NULL, NULL};
    struct proc_spec spec = {.argv = argv, .limit_ms = BROWSER_MS};

    if (args->no_browser || args->tunnel || !session_has_reader(s))
        return NULL;
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL)
        return "there is no screen";
    if (fs_find_program(&s->arena, "xdg-open") == NULL)
        return "xdg-open is not installed";
    if ((argv[4] = write_link(s, at)) == NULL)
        return "XDG_RUNTIME_DIR is not a folder for files";
    return proc_run(&spec, &s->arena, &result, NULL) == ST_OK ? NULL : "xdg-open failed";
}

/* At once: the reader waits for a browser. */
static void print_no_browser(struct session *s, const struct served *at, const char *why)
{
    out_printf(&s->out,
               "no browser was opened (%s): open the address above\n"
               "from another machine, first: %s\n",
               why, at->tunnel);
    out_flush(&s->out);
}

/* ---- import, analysis, waiting ---- */

struct tee {
    struct progress shown; /* on the terminal */
    struct view_server *server;
};

static void tick(void *ctx, struct progress_step step)
{
    const struct tee *tee = ctx;

    progress_step(&tee->shown, step);
    view_server_tick(tee->server, step);
}

static void wait_for_end(const struct view_server *server, nanos most)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    while (!cancelled() && view_server_idle(server) < most)
        nanosleep(&pause, NULL);
}

struct viewing {
    struct session *s;
    const struct args *args;
    struct view_server *server;
    struct page_file page;
};

static void begin_page(struct viewing *v, enum page_kind kind)
{
    view_server_tick(v->server, (struct progress_step){.label = "analysing"});
    page_init(&v->page, kind,
              &(struct page_options){
                  .lang = session_lang(v->s), .max_size = v->args->max_size, .pool = v->s->pool});
}

/* The timeline first, then what is to be found. */
static void show_page(struct viewing *v)
{
    v->page.title = page_name(v->page.sets[0], str_of(v->page.sets[0]->cap->name));
    page_find_rows(&v->page);
    view_server_show(v->server, &v->page);
    page_prepare(&v->page);
}

/* Until the user ends it. */
static void serve(struct viewing *v)
{
    view_server_finish(v->server, &v->page);
    wait_for_end(v->server, v->args->idle * INT64_C(1000000000));
    cancel_clear(); /* Ctrl-C is the usual end */
    view_server_close(v->server);
    v->server = NULL;
    page_fini(&v->page);
}

static enum status view_one(struct viewing *v)
{
    struct session *s = v->s;
    struct fleet_study fs;
    struct fleet *fleet;

    TRY(captures_load(s, s->operands.at[0], v->args->input, &fleet));
    begin_page(v, fleet->ranks.n > 1 ? PAGE_RANKS : PAGE_CAPTURE);
    fleet_study_begin(&fs, fleet, study_with_passes());
    page_add_fleet(&v->page, &fs);
    show_page(v);
    page_put_capture(&v->page);
    serve(v);
    fleet_study_end(&fs);
    fleet_free(fleet);
    return ST_OK;
}

static enum status view_two(struct viewing *v)
{
    struct session *s = v->s;
    struct diff_job job = {.path = {s->operands.at[0], s->operands.at[1]},
                           .input = v->args->input,
                           .compare = compare_defaults()};
    struct diff_result result;

    captures_input(s, &job.input);
    enum status status = answer_diff(&job, &s->arena, &s->diag, &result);
    if (status == ST_OK) {
        struct study studies[SIDES];
        begin_page(v, PAGE_COMPARE);
        for (int side = 0; side < SIDES; side++) {
            captures_read(s, result.fleet[side]);
            study_begin(&studies[side], result.fleet[side]->ranks.at[0], study_defaults());
            page_add_set(&v->page, &studies[side]);
        }
        show_page(v);
        page_put_compare(&v->page, result.at[0]);
        serve(v);
        for (int side = 0; side < SIDES; side++)
            study_end(&studies[side]);
    }
    diff_result_free(&result);
    return status;
}

/* A reader who has the page open already sees why nothing comes. */
static void describe_failure(struct viewing *v)
{
    enum { LOOKED = 3, TOLD = 2 };
    const nanos second = 1000000000;

    view_server_fail(v->server, &v->s->diag);
    if (view_server_idle(v->server) < LOOKED * second && !cancelled())
        wait_for_end(v->server, TOLD * second);
    view_server_close(v->server);
}

/* What does not fit memory goes to a file without a name, unless that would be in memory too. */
static void limit_memory(const struct args *args)
{
    const char *folder = getenv("TMPDIR");
    struct statfs at;

    folder = folder != NULL && folder[0] != '\0' ? folder : "/var/tmp";
    if (statfs(folder, &at) == 0 && at.f_type != TMPFS_MAGIC)
        large_limit(args->memory > 0 ? args->memory : memory_size() / 2, folder);
}

static int view_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct viewing v = {.s = s, .args = args};

    if (s->is_embedded)
        return session_usage(s, "view serves until it is ended: run the program, or ask report "
                                "for a page");
    for (size_t i = 0; i < s->operands.n; i++)
        if (!fs_exists(s->operands.at[i]))
            return session_code(diag_fail(&s->diag, ST_NOT_FOUND, "report.path",
                                          (struct where){.path = s->operands.at[i]},
                                          "no such file or folder"));
    TRY_CODE(
        session_code(view_server_open(&v.server, (unsigned)args->port, session_lang(s), &s->diag)));
    struct served at = served_of(s, v.server);
    at.shows_tunnel = args->tunnel;
    give_address(s, &at);
    const char *why = open_browser(s, args, &at);
    if (why != NULL)
        print_no_browser(s, &at, why);
    struct tee tee = {s->progress, v.server};
    s->progress = (struct progress){tick, &tee};
    limit_memory(args);
    enum status status = s->operands.n > 1 ? view_two(&v) : view_one(&v);
    if (v.server != NULL)
        describe_failure(&v);
    large_limit(0, NULL);
    s->progress = tee.shown;
    return session_code(status);
}

const struct command command_view = {
    .name = "view",
    .group = GROUP_LOOK,
    .summary = "explore captures of any size in the browser",
    .usage = "[OPTIONS] PATH [PATH]",
    .details =
        "Serves the page of a capture, of all ranks of a folder, or of two captures side by side, "
        "on 127.0.0.1, and opens it in the browser. Unlike the file of `strata PATH -o page.html` "
        "the page reads the capture itself: every slice appears when the timeline is zoomed in, "
        "range statistics are exact, and there are a box for SQL (as in `strata query`), one for "
        "what-ifs (as in `strata whatif`), and the visible range as a trace file.\n"
        "\n"
        "The address holds a random token, without which nothing is answered; nothing listens "
        "beyond this machine, and nothing is written. On a remote machine --print-tunnel prints "
        "the ssh command to type where the browser is. Ctrl-C, or an hour without a request, ends "
        "it.",
    .see = "docs/view.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 2},
    .common = COMMON_CAPTURE | COMMON_LANG,
    .schemas = {&served_schema},
    COMMAND_PARTS,
    .run = view_run,
};
