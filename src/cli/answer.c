/*
 * answer: what a command prints, into a file and in a form of the user's choice.
 */
#include "cli/answer.h"

#include <string.h>

#include "render/render.h"

const char *const answer_forms[] = {"auto", "text", "md", "json", "html", NULL};

int answer_form(struct session *s, enum answer_form *form)
{
    static const char *const endings[] = {NULL, ".txt", ".md", ".json", ".html"};
    const char *out = s->common.out;
    bool is_file = out != NULL && strcmp(out, "-") != 0;

    for (size_t i = 1; is_file && *form == ANSWER_BY_NAME && i < ARRAY_LEN(endings); i++)
        if (str_ends(str_of(out), str_of(endings[i])))
            *form = (enum answer_form)i;
    if (*form == ANSWER_BY_NAME && is_file && !s->common.json)
        return session_usage(s,
                             "-o '%s': the ending must be .txt, .md, .json or .html; --to names "
                             "the form",
                             out);
    if (*form == ANSWER_BY_NAME)
        *form = s->common.json ? ANSWER_JSON : ANSWER_TEXT;
    if (s->common.json && *form != ANSWER_JSON)
        return session_usage(s, "--json and --to or -o ask for two different forms");
    return CODE_DONE;
}

/* What was printed meanwhile. */
struct kept {
    struct text text;
    bool is_indented;
};

/* What is printed is kept; where it is code, with four blanks before each line that is not empty.
 */
static bool pass(void *ctx, struct str text)
{
    struct kept *k = ctx;

    while (k->is_indented && text.n > 0) {
        size_t end = str_find_char(text, '\n');
        bool is_begin = k->text.n == 0 || k->text.at[k->text.n - 1] == '\n';
        if (is_begin && end > 0)
            text_put(&k->text, S("    "));
        end = end < text.n ? end + 1 : end;
        text_put(&k->text, str_part(text, 0, end));
        text = str_part(text, end, text.n);
    }
    text_put(&k->text, text);
    return true;
}

/* The session prints into `to` while the part runs. */
static int run_into(struct session *s, struct answer_part part, struct sink to)
{
    const struct common common = s->common;
    struct out screen = s->out;

    if (s->page != NULL)
        s->page->screen = &screen;
    out_init(&s->out, -1);
    s->out.to = to;
    s->common.quiet = false;
    int code = part.run(s, part.ctx);
    out_flush(&s->out);
    out_fini(&s->out);
    s->out = screen;
    s->common = common;
    return code;
}

/* What a command prints beside its reports. */
static bool pass_to_page(void *ctx, struct str text)
{
    struct page_answer *page = ctx;

    text_put(&page->fragments[page->lang].plain, text);
    page->is_of_language = page->is_of_language || text.n > 0; /* a flush may have nothing */
    return true;
}

/* Runs in one language, with the page in place of the screen. */
static int run_into_page(struct session *s, struct answer_part part, enum lang lang)
{
    const struct command_path path = s->path;
    const int given = s->common.lang;

    s->page->lang = lang;
    s->common.lang = (int)lang + 1;
    int code = run_into(s, part, (struct sink){pass_to_page, s->page});
    s->common.lang = given;
    s->path = path;
    page_fragment_end(&s->page->fragments[lang], lang);
    s->page->screen = &s->out;
    return code;
}

/* A run that failed before it had anything to show. */
static bool has_only_failed(struct session *s)
{
    const struct page_fragment *own = &s->page->fragments[s->page->own];

    return session_error(&s->diag) != NULL && own->html.n == 0 && own->verdict.n == 0;
}

/* Only what still prints in one language is asked for the other. */
static int write_page(struct session *s, const char *out, struct answer_part part)
{
    enum lang own = session_lang(s);
    struct page_answer page = {.out = out, .choice = part.page, .kind = part.kind, .own = own};
    const struct words operands = s->operands;
    enum status status = ST_OK;

    s->page = &page;
    int code = run_into_page(s, part, own);
    if (code <= CODE_NO && !page.is_written && page.is_of_language) {
        s->operands = operands;
        code = run_into_page(s, part, own == LANG_EN ? LANG_ZH : LANG_EN);
    }
    if (code <= CODE_NO && !page.is_written && !has_only_failed(s))
        status = page_answer_fragments(s);
    s->page = NULL;
    for (enum lang lang = 0; lang < LANGS; lang++)
        page_fragment_free(&page.fragments[lang]);
    return status != ST_OK ? session_code(status) : code;
}

int answer_write(struct session *s, enum answer_form form, struct answer_part part)
{
    const char *out = s->common.out != NULL ? s->common.out : "-";
    bool is_screen = strcmp(out, "-") == 0, is_markdown = form == ANSWER_MARKDOWN;
    struct kept kept = {.is_indented = part.is_text && is_markdown};
    enum status st = ST_OK;

    s->common.out = NULL; /* of this command, not of the one that answers */
    if (form == ANSWER_HTML)
        return write_page(s, out, part);
    s->common.json = form == ANSWER_JSON;
    if (is_screen && !is_markdown)
        return part.run(s, part.ctx);
    s->as = is_markdown && !part.is_text ? &renderer_markdown : NULL;
    int code = run_into(s, part, (struct sink){pass, &kept});
    s->as = NULL;
    s->common.json = false; /* the list of files is text */
    if (code <= CODE_NO && is_screen)
        out_raw(&s->out, text_view(&kept.text));
    else if (code <= CODE_NO)
        st = session_save(s, out, text_view(&kept.text));
    text_free(&kept.text);
    return st != ST_OK ? session_code(st) : code;
}

int answer_html(struct session *s, const struct command *c, const void *args)
{
    const char *html = s->common.html;

    if (s->common.json)
        return session_usage(s, "--json and --html ask for two different forms");
    s->common.html = NULL;
    return write_page(s, html, (struct answer_part){.run = c->run, .ctx = args});
}

int answer_as(struct session *s, const char *const words[2], const struct words *given)
{
    int used;

    s->path = command_find(words[1] != NULL ? 2 : 1, words, &used);
    const struct command *c = s->path.command;
    void *args = arena_alloc(&s->arena, c->args_size);
    const struct opt_set set = {c->options, c->n_options, args};
    if (c->defaults != NULL)
        memcpy(args, c->defaults, c->args_size);
    if (!opt_parse(&set, 1, (int)given->n, given->at, &s->operands, &s->diag))
        return CODE_USAGE;
    int code = c->run(s, args);
    opt_release(set);
    return code;
}

static const struct path_way prediction_way = {
    .what = "a predicted trace", .two = {"db", "m6"}, .is_text = true};

const struct path_way *answer_pair(struct session *s)
{
    const char *a = s->operands.at[0], *b = s->operands.at[1];
    enum path_kind kind = path_kind_of(a, &s->arena), other = path_kind_of(b, &s->arena);
    const struct path_way *way = &path_ways[kind];

    if (kind == KIND_PREDICTION && other == KIND_CAPTURE)
        return &prediction_way;
    if (kind != other)
        session_usage(s, "two of a kind can be compared: %s is %s, %s is %s", a, way->what, b,
                      path_ways[other].what);
    else if (way->two[0] == NULL)
        session_usage(s, "no command compares two of this kind: %s is %s", a, way->what);
    else
        return way;
    return NULL;
}

int answer_compare(struct session *s, const void *ctx)
{
    const struct path_way *way = ctx;
    const char *words[] = {"--tc-trace", s->operands.at[0], "--prof-trace", s->operands.at[1]};
    bool is_prediction = way == &prediction_way;

    if (is_prediction)
        s->operands.n = 0;
    return answer_as(
        s, way->two,
        &(struct words){words, is_prediction ? ARRAY_LEN(words) : 0, ARRAY_LEN(words)});
}
