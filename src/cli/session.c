/*
 * session: what a run read and wrote, its answer and its progress line.
 */
#include "cli/session.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/outfile.h"
#include "base/run/now.h"
#include "cli/page_answer.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/terminal.h"
#include "render/render.h"

int session_code(enum status status)
{
    switch (status) {
    case ST_OK:
        return CODE_DONE;
    case ST_IO:
    case ST_FORMAT:
    case ST_UNSUPPORTED:
    case ST_NOT_FOUND:
    case ST_LIMIT:
        return CODE_FILE;
    case ST_TOOL:
        return CODE_TOOL;
    case ST_CANCELLED:
        return CODE_INTERRUPTED;
    }
    return CODE_BUG;
}

int session_usage(struct session *s, const char *format, ...)
{
    char text[512], name[64];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    diag_fail(&s->diag, ST_FORMAT, "usage.operand", (struct where){0}, "%s", text);
    if (s->path.command != NULL)
        diag_hint(&s->diag, "try", "strata help %s",
                  command_full_name(s->path, name, sizeof(name)));
    return CODE_USAGE;
}

struct diag_entry *session_error(const struct diag *d)
{
    for (size_t i = 0; i < d->entries.n; i++)
        if (d->entries.at[i].severity == SEV_ERROR)
            return &d->entries.at[i];
    return NULL;
}

static const char *session_copy(struct session *s, const char *text)
{
    return text != NULL ? arena_cstr(&s->arena, str_of(text)) : NULL;
}

void session_read(struct session *s, const char *path, const char *format, uint64_t rows,
                  uint64_t lost)
{
    size_t n = s->unpacked != NULL ? strlen(s->unpacked) : 0;

    if (n > 0 && strncmp(path, s->unpacked, n) == 0 && path[n] == '/')
        path += n + 1;
    vec_push(&s->inputs,
             ((struct envelope_input){session_copy(s, path), session_copy(s, format), rows, lost}));
}

void session_wrote(struct session *s, const char *path)
{
    vec_push(&s->written, session_copy(s, path));
}

enum status session_save(struct session *s, const char *path, struct str text)
{
    TRY(outfile_save(path, text, &s->diag));
    session_wrote(s, path);
    return ST_OK;
}

/* Errors of the progress line are ignored. */
static void to_stderr(struct str text)
{
    if (text.n > 0 && write(STDERR_FILENO, text.at, text.n) < 0)
        return;
}

/* A thread that comes while another is at it has nothing new to tell. */
static void tick(void *ctx, struct progress_step step)
{
    static atomic_flag is_busy = ATOMIC_FLAG_INIT;
    struct session *s = ctx;
    char buf[PROGRESS_TEXT];

    if (pager_is_running() || atomic_flag_test_and_set(&is_busy))
        return;
    struct str line = progress_update(&s->progress_line, now_ns(), step, buf);
    if (line.n > 0)
        session_heartbeat_delay();
    to_stderr(line);
    atomic_flag_clear(&is_busy);
}

void session_progress_begin(struct session *s)
{
    if (s->is_embedded || s->common.quiet || isatty(STDERR_FILENO) != 1)
        return;
    progress_begin(&s->progress_line, terminal_width(STDERR_FILENO), now_ns());
    s->progress = (struct progress){tick, s};
    session_heartbeat_begin();
}

void session_progress_end(struct session *s)
{
    if (s->progress.tick == NULL)
        return;
    bool was_shown = session_heartbeat_end();
    struct str wipe = progress_end(&s->progress_line);
    to_stderr(was_shown ? S(PROGRESS_WIPE) : wipe);
}

static bool write_text(void *ctx, struct str text)
{
    out_bytes(ctx, text);
    return ((struct out *)ctx)->error == 0;
}

static bool write_painted(void *ctx, struct str text)
{
    out_painted(ctx, text);
    return ((struct out *)ctx)->error == 0;
}

struct sink session_sink(struct session *s)
{
    return out_sink(&s->out);
}

struct sink session_text(struct session *s)
{
    return (struct sink){write_text, &s->out};
}

void session_document_in(struct session *s, const struct schema *schema, const char *origin,
                         const void *result, const struct record_env *env)
{
    s->schema = schema;
    envelope_write(session_sink(s), &(struct envelope){
                                        .schema = schema,
                                        .origin = origin,
                                        .inputs = s->inputs.at,
                                        .n_inputs = s->inputs.n,
                                        .result = result,
                                        .env = env,
                                        .diag = &s->diag,
                                        .outputs = s->written.at,
                                        .n_outputs = s->written.n,
                                    }); /* the out remembers a failure */
}

void session_document(struct session *s, const struct schema *schema, const char *origin,
                      const void *result)
{
    session_document_in(s, schema, origin, result, &(struct record_env){.arena = &s->arena});
}

enum lang session_lang(const struct session *s)
{
    if (s->path.command == NULL || !(s->path.command->common & COMMON_LANG))
        return LANG_EN;
    if (s->common.lang > 0)
        return (enum lang)(s->common.lang - 1);
    return s->is_embedded ? LANG_EN : lang_of_environment();
}

void session_render(struct session *s, const struct renderer *as, const struct report *report)
{
    const struct render_options how = {.color = s->out.color,
                                       .width = s->out.width,
                                       .csv_safe = s->common.csv_safe,
                                       .long_names = s->common.long_names,
                                       .is_ascii = s->out.is_ascii ||
                                                   (!s->is_embedded && !terminal_shows_utf8())};
    bool is_text = as == &renderer_text;

    render_write(as, report, &how,
                 is_text ? (struct sink){write_painted, &s->out} : session_sink(s));
}

void session_report(struct session *s, const struct report *report)
{
    if (s->page != NULL) {
        page_fragment_add(&s->page->fragments[s->page->lang], s->page->lang, report);
        s->page->is_of_language = true;
    } else {
        session_render(s, s->as != NULL ? s->as : &renderer_text, report);
    }
}

void session_answer(struct session *s, struct report *report)
{
    session_report(s, report);
    report_free(report);
}

static struct report *answer_as_report(const struct answer *a, enum lang lang)
{
    struct report *r = report_new(lang, a->title);

    if (a->describe != NULL)
        a->describe(a->result, r);
    return r;
}

/* In every language at once; what has a prescribed form reads the same in all. */
static void give_page(struct session *s, const struct answer *a)
{
    struct text text = {0};

    if (a->print != NULL && !a->is_file)
        a->print(a->result, text_sink(&text));
    for (enum lang lang = 0; lang < LANGS && !page_answer_again(s); lang++) {
        struct page_fragment *fragment = &s->page->fragments[lang];
        if (a->print != NULL) {
            text_put(&fragment->plain, text_view(&text));
            page_fragment_end(fragment, lang);
        } else {
            struct report *r = answer_as_report(a, lang);
            page_fragment_add(fragment, lang, r);
            report_free(r);
        }
    }
    text_free(&text);
}

void session_give(struct session *s, const struct answer *a)
{
    const struct record_env env = {.arena = &s->arena};

    if (s->page != NULL) {
        give_page(s, a);
    } else if (s->common.json) {
        session_document_in(s, a->schema, a->origin, a->result, a->env != NULL ? a->env : &env);
    } else if (a->is_file) {
        a->print(a->result, session_sink(s)); /* the out remembers a failure */
    } else if (!s->common.quiet) {
        if (s->has_said)
            out_text(&s->out, "\n");
        if (a->print != NULL)
            a->print(a->result, session_text(s));
        else if (a->document.n > 0 && s->out.width == 0)
            out_bytes(&s->out, a->document);
        else
            session_answer(s, answer_as_report(a, session_lang(s)));
        s->has_named_files = a->names_files;
    }
}

int session_own_form(struct session *s, const char *option)
{
    if (s->common.json)
        return session_usage(s, "--json and %s ask for two different forms", option);
    return CODE_DONE;
}

void session_say(struct session *s, const char *line)
{
    if (s->common.json || s->common.quiet)
        return;
    /* Not onto the line of progress. */
    struct str wipe = progress_end(&s->progress_line);
    if (!s->is_embedded)
        to_stderr(wipe);
    out_printf(&s->out, "%s\n", out_clean(&s->arena, str_of(line)));
    out_flush(&s->out);
    s->has_said = true;
}

int session_file_on_stdout(struct session *s, const char *what)
{
    if (!s->common.json && s->page == NULL)
        return CODE_DONE;
    return session_usage(s, "%s needs -o FILE for %s", s->common.json ? "--json" : "--html", what);
}

struct json_writer *session_json_begin(struct session *s, const char *schema, const char *origin)
{
    const struct command *c = s->path.command;
    struct json_writer *j = &s->json;

    s->schema = NULL;
    for (size_t i = 0; i < COMMAND_SCHEMAS && c->schemas[i] != NULL; i++)
        if (strcmp(c->schemas[i]->name, schema) == 0)
            s->schema = c->schemas[i];
    json_write_init(j, session_sink(s), JSON_INDENTED);
    json_write_object(j);
    json_put_text(j, "schema", schema);
    json_put_text(j, "version", STRATA_VERSION);
    json_put_text(j, "origin", origin);
    json_write_key(j, S("inputs"));
    record_json_list(j, &envelope_input_record, s->inputs.at, s->inputs.n, NULL);
    json_write_key(j, S("result"));
    return j;
}

void session_json_end(struct session *s)
{
    struct json_writer *j = &s->json;

    json_write_key(j, S("diagnostics"));
    record_json_list(j, &envelope_diagnostic_record, s->diag.entries.at, s->diag.entries.n, NULL);
    json_put_array(j, "outputs");
    for (size_t i = 0; i < s->written.n; i++)
        json_write_string(j, str_of(s->written.at[i]));
    json_write_end(j);
    json_write_end(j);
    json_write_finish(j); /* the out remembers a failure */
}
