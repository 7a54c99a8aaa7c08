/*
 * The entry of a preprocessed kernel.
 */
#include "kernels/replay/launch.h"

#include "base/text/char.h"
#include "base/text/num.h"
#include "kernels/replay/draft.h"

enum { MOST_OTHERS = 6 };

enum launch_sort { SORT_KERNEL, SORT_HALF, SORT_INSTANCE, SORT_LAUNCHER, SORT_BARE, SORT_NONE };

/* A function at the level of namespaces. */
struct launch_func {
    enum launch_sort sort;
    struct str scope; /* namespaces around it, "a::b::" */
    struct str name;  /* with template arguments */
    struct str params;
};

struct launch_scan {
    const struct launch_job *job;
    struct arena *arena;
    size_t at;
    struct str file; /* that the text here comes from */
    bool is_system;  /* a header of the compiler */
    VEC_OF(struct str) scopes;
    VEC_OF(struct launch_func) funcs;
    bool has_slots;
};

/* ---- reading ---- */

/* "# 12 "file.cpp" 1 3" at the begin of a line. */
static size_t read_marker(struct launch_scan *s, struct str line)
{
    size_t open = str_find_char(line, '"');
    struct str rest = str_part(line, open + 1, line.n);
    size_t close = str_find_char(rest, '"');

    if (open < line.n && close < rest.n) {
        s->file = str_part(rest, 0, close);
        s->is_system = str_contains(str_part(rest, close, rest.n), S(" 3"));
    }
    return line.n;
}

/* Behind a text in quotes that begins at `at`. */
static size_t skip_quoted(struct str t, size_t at)
{
    char quote = t.at[at];
    size_t from = at++;

    if (quote == '\'' && from > 0 && char_is_word(t.at[from - 1]) && at < t.n &&
        char_is_word(t.at[at]) && !(at + 1 < t.n && t.at[at + 1] == '\''))
        return at; /* between the digits of a number */
    while (at < t.n && t.at[at] != quote && t.at[at] != '\n')
        at += t.at[at] == '\\' ? 2 : 1;
    return at + 1;
}

/* Behind the bracket that closes the one at `at`. */
static size_t skip_brackets(struct str t, size_t at, char open, char close)
{
    size_t depth = 0;

    while (at < t.n) {
        char c = t.at[at];
        if (c == '"' || c == '\'') {
            at = skip_quoted(t, at);
            continue;
        }
        depth += c == open;
        depth -= c == close;
        at++;
        if (depth == 0)
            return at;
    }
    return t.n;
}

/* The head of a declaration with blanks in place of markers and attributes. */
static struct str plain_head(struct launch_scan *s, struct str head, bool *has_mark)
{
    char *copy = arena_cstr(s->arena, head);
    struct str out = {copy, head.n};

    *has_mark = str_contains(head, S(LAUNCH_MARK));
    for (size_t at = 0; at < out.n; at++) {
        struct str rest = str_part(out, at, out.n);
        size_t n = 0;
        if (rest.at[0] == '#' && (at == 0 || copy[at - 1] == '\n'))
            n = str_find_char(rest, '\n');
        else if (str_starts(rest, S("__attribute__")))
            n = skip_brackets(rest, str_find_char(rest, '('), '(', ')');
        else if (str_starts(rest, S("[[")))
            n = skip_brackets(rest, 0, '[', ']');
        memset(copy + at, ' ', n < rest.n ? n : rest.n);
    }
    return str_trim(out);
}

static bool take_word(struct str *t, struct str word)
{
    if (!str_starts(*t, word) || (t->n > word.n && char_is_word(t->at[word.n])))
        return false;
    *t = str_trim(str_part(*t, word.n, t->n));
    return true;
}

/* The name that ends before the parameters: "f", "a::f", "f<float, 2>". */
static struct str name_before(struct str head)
{
    size_t begin = head.n;

    if (begin > 0 && head.at[begin - 1] == '>')
        for (int depth = 0, inside = 0; begin > 0;) {
            char c = head.at[--begin];
            inside += (c == ')') - (c == '(');
            depth += inside == 0 ? (c == '>') - (c == '<') : 0;
            if (depth == 0 && inside == 0)
                break;
        }
    while (begin > 0 && (char_is_word(head.at[begin - 1]) || head.at[begin - 1] == ':'))
        begin--;
    return str_part(head, begin, head.n);
}

/* Where the parameters begin: the first bracket outside of template arguments. */
static size_t find_params(struct str head)
{
    int depth = 0;

    for (size_t i = 0; i < head.n; i++) {
        depth += (head.at[i] == '<') - (head.at[i] == '>');
        if (head.at[i] != '(')
            continue;
        if (depth <= 0)
            return i;
        i = skip_brackets(head, i, '(', ')') - 1;
    }
    return head.n;
}

static bool is_half(struct str name, bool is_cube)
{
    return name.n > 4 && str_ends(name, is_cube ? S("_aic") : S("_aiv"));
}

static enum launch_sort sort_of(struct launch_scan *s, struct str name, struct str before,
                                struct str body, bool has_mark)
{
    bool is_local = str_contains(before, S("static")) || str_contains(before, S("inline"));

    if (has_mark)
        return SORT_KERNEL;
    if (is_half(name, s->job->is_cube))
        return SORT_HALF;
    if (str_contains(body, S("<<<")))
        return SORT_LAUNCHER;
    if (is_local || is_half(name, !s->job->is_cube) || !str_ends(before, S("void")) ||
        !str_equal(s->file, s->job->source) || str_equal(name, S("main")))
        return SORT_NONE;
    return SORT_BARE;
}

static struct str scope_of(struct launch_scan *s)
{
    struct str scope = S("");

    for (size_t i = 0; i < s->scopes.n; i++)
        if (s->scopes.at[i].n > 0)
            scope =
                arena_format(s->arena, "%.*s%.*s::", STR_ARGS(scope), STR_ARGS(s->scopes.at[i]));
    return scope;
}

/* A declaration, or a definition with its body. */
static void read_decl(struct launch_scan *s, struct str head, struct str body)
{
    bool has_mark, is_instance = false;

    if (s->is_system || str_starts(s->file, s->job->headers) || head.n == 0)
        return;
    head = plain_head(s, head, &has_mark);
    if (take_word(&head, S("template"))) {
        if (head.n > 0 && head.at[0] == '<')
            return; /* found by its instances */
        is_instance = true;
    }
    take_word(&head, S("extern"));
    if (head.n > 0 && head.at[0] == '"')
        head = str_trim(str_part(head, skip_quoted(head, 0), head.n));
    size_t open = find_params(head);
    size_t end = open < head.n ? skip_brackets(head, open, '(', ')') : head.n;
    if (open == head.n || (body.n == 0) != is_instance ||
        str_trim(str_part(head, end, head.n)).n > 0)
        return;
    struct str front = str_trim(str_part(head, 0, open)), name = name_before(front);
    struct str before = str_trim(str_part(front, 0, front.n - name.n));
    if (name.n == 0 || before.n == 0 || !char_is_word(name.at[0]))
        return;
    if (str_equal(name, S("kernel_entry")))
        s->has_slots = true;
    struct launch_func f = {.sort = is_instance ? SORT_INSTANCE
                                                : sort_of(s, name, before, body, has_mark),
                            .scope = scope_of(s),
                            .name = name,
                            .params = str_part(head, open + 1, end - open - 2)};
    if (f.sort != SORT_NONE)
        vec_push(&s->funcs, f);
}

/* "namespace a {" and "extern "C" {" are looked into. */
static bool enter_scope(struct launch_scan *s, struct str head)
{
    bool has_mark;

    head = plain_head(s, head, &has_mark);
    take_word(&head, S("inline"));
    if (take_word(&head, S("namespace"))) {
        vec_push(&s->scopes, head);
        return true;
    }
    if (!take_word(&head, S("extern")) || head.n == 0 || head.at[0] != '"' ||
        str_trim(str_part(head, skip_quoted(head, 0), head.n)).n > 0)
        return false;
    vec_push(&s->scopes, (struct str){0});
    return true;
}

static void launch_read_all(struct launch_scan *s)
{
    struct str t = s->job->text;
    size_t begin = 0;

    for (s->at = 0; s->at < t.n;) {
        char c = t.at[s->at];
        struct str head = str_part(t, begin, s->at - begin);
        if (c == '#' && (s->at == 0 || t.at[s->at - 1] == '\n')) {
            struct str line = str_part(t, s->at, t.n);
            s->at += read_marker(s, str_part(line, 0, str_find_char(line, '\n')));
            continue;
        }
        if (c == '"' || c == '\'') {
            s->at = skip_quoted(t, s->at);
            continue;
        }
        s->at++;
        if (c == '{' && !enter_scope(s, head)) {
            size_t end = skip_brackets(t, s->at - 1, '{', '}');
            read_decl(s, head, str_part(t, s->at - 1, end - s->at + 1));
            s->at = end;
        } else if (c == ';') {
            read_decl(s, head, (struct str){0});
        } else if (c == '}' && s->scopes.n > 0) {
            s->scopes.n--;
        }
        if (c == '{' || c == '}' || c == ';')
            begin = s->at;
    }
}

/* ---- choosing ---- */

/* Names are equal but for blanks; template arguments may be left out. */
static bool is_named(struct str name, struct str wanted)
{
    size_t k = 0;

    for (size_t i = 0; i < name.n; i++) {
        if (char_is_space(name.at[i]))
            continue;
        while (k < wanted.n && char_is_space(wanted.at[k]))
            k++;
        if (k == wanted.n)
            return name.at[i] == '<';
        if (wanted.at[k++] != name.at[i])
            return false;
    }
    return k == wanted.n;
}

static const struct launch_func *launch_choose(const struct launch_scan *s,
                                               struct kernel_start *out)
{
    const struct launch_func *found = NULL;
    struct str file = str_basename(s->job->source);
    struct str stem = str_part(file, 0, str_find_char(file, '.'));

    for (size_t i = 0; i < s->funcs.n; i++) {
        const struct launch_func *f = &s->funcs.at[i];
        if (s->job->wanted.n > 0) {
            if (!found && is_named(f->name, s->job->wanted))
                found = f;
        } else if (!found || f->sort < found->sort ||
                   (f->sort == found->sort && str_equal(f->name, stem))) {
            found = f;
        }
    }
    for (size_t i = 0; found && i < s->funcs.n; i++) {
        const struct launch_func *f = &s->funcs.at[i];
        if (f->sort != found->sort)
            continue;
        if (out->n_entries++ < MOST_OTHERS)
            out->others = arena_format(s->arena, "%.*s%s%.*s", STR_ARGS(out->others),
                                       out->others.n > 0 ? "; " : "", STR_ARGS(f->name));
    }
    return found;
}

static enum status tell_none(const struct launch_scan *s, struct diag *d)
{
    struct where where = {.path = arena_cstr(s->arena, s->job->source)};
    struct str names = S("");

    for (size_t i = 0; i < s->funcs.n && i < MOST_OTHERS; i++)
        names = arena_format(s->arena, "%.*s%s%.*s", STR_ARGS(names), i > 0 ? "; " : "",
                             STR_ARGS(s->funcs.at[i].name));
    if (s->job->wanted.n > 0 && names.n > 0)
        return diag_fail(d, ST_NOT_FOUND, "pto-cpp.no-entry", where,
                         "no entry \"%.*s\"; there are: %.*s", STR_ARGS(s->job->wanted),
                         STR_ARGS(names));
    return diag_fail(d, ST_NOT_FOUND, "pto-cpp.no-entry", where,
                     "the source has no kernel: neither kernel_entry(int64_t *args) nor a "
                     "__global__ function, an instance of a template or a device function");
}

enum status launch_find(const struct launch_job *job, struct arena *arena, struct kernel_start *out,
                        struct diag *d)
{
    struct launch_scan s = {.job = job, .arena = arena};
    enum status status = ST_OK;

    *out = (struct kernel_start){0};
    launch_read_all(&s);
    out->has_slots = s.has_slots && job->wanted.n == 0;
    const struct launch_func *f = out->has_slots ? NULL : launch_choose(&s, out);
    if (f) {
        out->call = arena_format(arena, "%.*s%.*s", STR_ARGS(f->scope), STR_ARGS(f->name));
        out->n_params = entry_params(arena, f->params, &out->params);
    } else if (!out->has_slots) {
        status = tell_none(&s, d);
    }
    vec_free(&s.funcs);
    vec_free(&s.scopes);
    return status;
}

/* ---- writing ---- */

/* The first of the values between <<< and >>>. */
static struct str first_value(struct str inside)
{
    int depth = 0;

    for (size_t i = 0; i < inside.n; i++) {
        depth += inside.at[i] == '(' || inside.at[i] == '<';
        depth -= inside.at[i] == ')' || inside.at[i] == '>';
        if (inside.at[i] == ',' && depth <= 0)
            return str_part(inside, 0, i);
    }
    return inside;
}

void launch_write(const struct launch_job *job, const struct kernel_start *l, struct text *out)
{
    struct str rest = job->text;

    for (;;) {
        size_t open = str_find(rest, S("<<<"));
        struct str inside = str_part(rest, open + 3, rest.n);
        size_t close = str_find(inside, S(">>>"));
        if (open == rest.n || close == inside.n)
            break;
        struct str callee = str_part(rest, 0, open); /* ends with "a::f<int, 2>" */
        while (callee.n > 0 && char_is_space(callee.at[callee.n - 1]))
            callee.n--;
        size_t begin = callee.n - name_before(callee).n;
        struct str blocks = first_value(str_part(inside, 0, close));
        text_put(out, str_part(rest, 0, begin));
        text_format(out, "strata_pto::launch(%.*s), %.*s", STR_ARGS(blocks),
                    STR_ARGS(str_part(rest, begin, open - begin)));
        for (size_t i = blocks.n; i < close; i++) /* lines keep their numbers */
            if (inside.at[i] == '\n')
                text_char(out, '\n');
        rest = str_part(inside, close + 3, inside.n);
    }
    text_put(out, rest);
    if (!l->has_slots)
        text_format(out,
                    "\n# 1 \"entry\"\nextern \"C\" void kernel_entry(int64_t *args) { "
                    "strata_pto::enter_with(%.*s, args); }\n",
                    STR_ARGS(l->call));
}

void launch_slots(const struct kernel_start *l, int64_t dim, struct arena *arena, struct slots *out)
{
    for (size_t i = 0; i < l->n_params && i < SLOT_LOCAL; i++) {
        const struct entry_param *p = &l->params[i];
        struct str name = slot_is_identifier(p->name) ? p->name : S("");
        if (p->is_pointer && !str_equal(p->name, S("stream")))
            draft_tensor((int64_t)i, name, p->type, dim, arena, out);
        else
            draft_value((int64_t)i, name, p->type, p->is_pointer ? 0 : 1, arena, out);
    }
}
