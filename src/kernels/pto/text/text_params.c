/*
 * Templates filled in: see text_params.h.
 */
#include "kernels/pto/text/text_params.h"

#include "base/text/char.h"
#include "base/text/text.h"

/* What is filled, and how far. */
struct filling {
    struct str text;
    const char *path;
    const struct text_param *params;
    size_t count;
    bool *used; /* one for each parameter */
    struct diag *d;
    size_t at;
    uint64_t line;
    struct text out;
};

/* The name in `${NAME}` at `at`, which holds the dollar sign; false when it is no placeholder. */
static bool name_at(struct str text, size_t at, struct str *name)
{
    size_t from = at + 2, to = from;

    if (text.n - at < 3 || text.at[at + 1] != '{')
        return false;
    while (to < text.n && char_is_word(text.at[to]) && !(to == from && char_is_digit(text.at[to])))
        to++;
    *name = (struct str){text.at + from, to - from};
    return to > from && to < text.n && text.at[to] == '}';
}

/* $$ is one dollar; a dollar before anything else than { stands for itself. */
static enum status fill_one(struct filling *f)
{
    struct where where = {.path = f->path, .line = f->line};
    struct str name;

    char next = f->at + 1 < f->text.n ? f->text.at[f->at + 1] : 0;

    if (next != '{') {
        text_put(&f->out, S("$"));
        f->at += next == '$' ? 2 : 1;
        return ST_OK;
    }
    if (!name_at(f->text, f->at, &name))
        return diag_fail(f->d, ST_FORMAT, "pto-params.bad-placeholder", where,
                         "a placeholder reads ${NAME}: letters, digits and underscores");
    for (size_t i = 0; i < f->count; i++) {
        if (!str_equal(f->params[i].name, name))
            continue;
        f->used[i] = true;
        text_put(&f->out, f->params[i].value);
        f->at += name.n + 3;
        return ST_OK;
    }
    return diag_fail(f->d, ST_FORMAT, "pto-params.missing", where, "no value for ${%.*s}",
                     STR_ARGS(name));
}

static enum status params_fill(struct filling *f)
{
    while (f->at < f->text.n) {
        struct str rest = str_part(f->text, f->at, f->text.n);
        size_t dollar = str_find_char(rest, '$');
        for (size_t i = 0; i < dollar; i++)
            f->line += rest.at[i] == '\n';
        text_put(&f->out, str_part(rest, 0, dollar));
        f->at += dollar;
        if (f->at < f->text.n)
            TRY(fill_one(f));
    }
    for (size_t i = 0; i < f->count; i++)
        if (!f->used[i])
            return diag_fail(f->d, ST_FORMAT, "pto-params.unknown", (struct where){f->path, 0, 0},
                             "there is no ${%.*s} in this text", STR_ARGS(f->params[i].name));
    return ST_OK;
}

enum status text_params_fill(struct str text, const char *path, const struct text_param *params,
                             size_t count, struct arena *arena, struct str *out, struct diag *d)
{
    struct filling f = {.text = text,
                        .path = path,
                        .params = params,
                        .count = count,
                        .used = ARENA_ARRAY(arena, bool, count),
                        .d = d,
                        .line = 1};
    enum status st = params_fill(&f);

    *out = (struct str){0};
    if (st == ST_OK)
        *out = arena_str(arena, text_view(&f.out));
    text_free(&f.out);
    return st;
}

bool text_params_any(struct str text)
{
    struct str name;

    for (size_t at = 0; at < text.n; at++) {
        at += str_find_char(str_part(text, at, text.n), '$');
        if (at < text.n && name_at(text, at, &name))
            return true;
        if (at + 1 < text.n && text.at[at + 1] == '$')
            at++;
    }
    return false;
}
