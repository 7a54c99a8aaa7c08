/*
 * Opened captures, and the program's commands as calls.
 */
#include <stdlib.h>

#include "api/api.h"
#include "base/files/fs.h"
#include "base/run/pool.h"
#include "cli/session.h"
#include "cli/terminal/frame.h"
#include "input/kept.h"
#include "render/render.h"

/* ---- captures ---- */

struct open_call {
    struct input_kept *kept;
    const char *format;
};

static enum status ask_read_all(struct strata_result *r, struct diag *d, void *ctx)
{
    const struct open_call *c = ctx;
    struct input_options options = input_defaults();
    struct fleet *fleet;

    (void)r;
    options.format = c->format;
    options.pool = pool_new(0);
    enum status status = input_kept_all(c->kept, &options, d, &fleet);
    pool_free(options.pool);
    return status;
}

int strata_open(const char *path, const char *format, struct strata_capture **out)
{
    if (out == NULL)
        return STRATA_USAGE;
    *out = NULL;
    struct strata_capture *cap = malloc(sizeof(*cap));
    if (cap == NULL)
        return STRATA_MEMORY;
    *cap = (struct strata_capture){.kept = input_kept_new(path != NULL ? path : "")};
    if (cap->kept == NULL) {
        free(cap);
        return STRATA_MEMORY;
    }
    api_handle_begin();
    *out = cap;
    if (path == NULL)
        return api_misuse("strata_open: path is NULL", &cap->opened);
    return api_answer(ask_read_all, &(struct open_call){cap->kept, format}, &cap->opened);
}

void strata_close(struct strata_capture *cap)
{
    if (cap == NULL)
        return;
    input_kept_free(cap->kept);
    strata_result_free(cap->opened);
    free(cap);
    api_handle_end();
}

const char *strata_capture_path(const struct strata_capture *cap)
{
    return cap != NULL ? input_kept_path(cap->kept) : "";
}

const struct strata_result *strata_capture_opened(const struct strata_capture *cap)
{
    return cap != NULL ? cap->opened : NULL;
}

/* ---- commands ---- */

struct ask_call {
    const struct strata_capture *const *captures;
    size_t n;
    const char *const *words;
    enum strata_form form;
};

/* Whether the word is an option that takes the next one as its value. */
static bool takes_next(const struct command *command, const char *word)
{
    struct opt options[COMMAND_OPTIONS];
    size_t n = command != NULL && word[0] == '-' ? command_options(command, options) : 0;

    for (size_t i = 0; i < n; i++) {
        const char letter[] = {'-', options[i].letter, '\0'};
        if (opt_takes_value(&options[i]) &&
            (strcmp(word, letter) == 0 ||
             (word[1] == '-' && strcmp(word + 2, options[i].name) == 0)))
            return true;
    }
    return false;
}

/* Whether a path stands among the words behind the command's name; not as the value of an option.
 */
static bool has_path(const struct command *command, const char *const *words, const char *path)
{
    for (; *words != NULL; words++)
        if (strcmp(*words, path) == 0)
            return true;
        else if (takes_next(command, *words) && words[1] != NULL)
            words++;
    return false;
}

/* The words with the captures after the name of the command, unless they stand there already. */
static void add_paths(const struct ask_call *c, struct words *out)
{
    size_t n = 0;
    int used;

    while (c->words[n] != NULL)
        n++;
    const struct command *command = command_find((int)n, c->words, &used).command;
    for (int i = 0; i < used; i++)
        vec_push(out, c->words[i]);
    for (size_t i = 0; i < c->n; i++) {
        const char *path = strata_capture_path(c->captures[i]);
        if (!has_path(command, c->words + used, path))
            vec_push(out, path);
    }
    for (size_t i = (size_t)used; i < n; i++)
        vec_push(out, c->words[i]);
}

/* An option --chip writes into what was read: then it is read anew. */
static struct input_kept *const *kept_of(const struct ask_call *c, struct arena *arena)
{
    struct input_kept **list = ARENA_ARRAY(arena, struct input_kept *, c->n + 1);

    for (size_t i = 0; i < c->n; i++)
        list[i] = c->captures[i]->kept;
    list[c->n] = NULL;
    for (const char *const *word = c->words; *word != NULL; word++)
        if (strcmp(*word, "--chip") == 0 || strncmp(*word, "--chip=", 7) == 0)
            return NULL;
    return list;
}

static int status_of(const struct session *s, int code)
{
    if (code <= CODE_NO)
        return STRATA_OK;
    if (code == CODE_USAGE)
        return STRATA_USAGE;
    if (s->diag.failure != ST_OK)
        return (int)s->diag.failure;
    return code == CODE_TOOL ? STRATA_TOOL : STRATA_FORMAT;
}

static enum status ask(struct strata_result *r, struct diag *d, void *ctx)
{
    const struct ask_call *c = ctx;
    struct words words = {0};
    struct session s;

    frame_embed(&s, &r->text);
    s.kept = kept_of(c, &s.arena);
    s.common.json = c->form == STRATA_AS_JSON || c->form == STRATA_AS_VALUES;
    s.common.html = c->form == STRATA_AS_HTML ? "-" : NULL;
    s.as = c->form == STRATA_AS_MARKDOWN ? &renderer_markdown : NULL;
    add_paths(c, &words);
    r->code = frame_answer(&s, (int)words.n, words.at);
    r->status = status_of(&s, r->code);
    r->schema = s.schema;
    if (c->form == STRATA_AS_VALUES && r->status == STRATA_OK)
        api_parse(r);
    diag_merge(d, &s.diag);
    vec_free(&words);
    frame_release(&s);
    api_end_text(r);
    return ST_OK;
}

int strata_ask(const struct strata_capture *const *captures, size_t n, const char *const *words,
               enum strata_form form, struct strata_result **out)
{
    struct ask_call call = {captures, n, words, form};

    if (words == NULL || words[0] == NULL || form < STRATA_AS_VALUES || form > STRATA_AS_HTML)
        return api_misuse("strata_ask: no words, or an unknown form", out);
    for (size_t i = 0; i < n; i++)
        if (captures == NULL || captures[i] == NULL)
            return api_misuse("strata_ask: a capture is NULL", out);
    return api_answer(ask, &call, out);
}
