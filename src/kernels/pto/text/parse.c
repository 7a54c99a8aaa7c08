/*
 * Modules and functions of PTO text.
 */
#include "kernels/pto/text/parse.h"

#include "base/limits.h"
#include "kernels/pto/text/parse_in.h"

/* ---- functions ---- */

/* "(%a: t {attrs}, %b: t)" or, in a declaration, "(t, t)". */
static bool function_args(struct pto_parser *p, struct pto_function *f)
{
    if (!pto_want(p, '('))
        return false;
    if (pto_try(p, ')'))
        return true;
    do {
        struct pto_token name = p->tok;
        uint32_t type;
        if (name.kind == PTO_T_VALUE) {
            pto_advance(p);
            if (!pto_want(p, ':') || !pto_parse_type(p, &type))
                return false;
            pto_define(p, &name, type, PTO_NONE, f->arg_count++);
        } else {
            if (!pto_parse_type(p, &type))
                return false;
            pto_value_put(p, 0, type, PTO_NONE, f->arg_count++);
        }
        size_t dict = p->dict.n; /* attributes of arguments say nothing to us */
        if (!pto_parse_dict(p))
            return false;
        p->dict.n = dict;
    } while (pto_try(p, ','));
    return pto_want(p, ')');
}

static bool function_header(struct pto_parser *p, struct pto_function *f)
{
    size_t list = p->list.n;

    f->is_private = pto_try_word(p, S("private"));
    if (!f->is_private)
        pto_try_word(p, S("public"));
    if (p->tok.kind != PTO_T_SYMBOL)
        return pto_expected(p, "the name of a function, as in @kernel");
    f->name = pto_name(p, p->tok.text);
    for (size_t i = 0; i < p->m->functions.n; i++)
        if (p->m->functions.at[i].name == f->name)
            pto_wrong(p, "pto-ir.defined-twice", p->tok.line, p->tok.col,
                      "@%.*s is defined already", STR_ARGS(p->tok.text));
    pto_advance(p);
    if (!function_args(p, f) || (pto_try_arrow(p) && !pto_parse_result_types(p)))
        return false;
    f->result_first = (uint32_t)p->m->type_items.n;
    f->result_count = (uint32_t)(p->list.n - list);
    for (size_t i = list; i < p->list.n; i++)
        vec_push(&p->m->type_items, p->list.at[i]);
    p->list.n = list;
    uint32_t dict = (uint32_t)p->dict.n;
    if (pto_try_word(p, S("attributes")) && !pto_parse_dict(p))
        return false;
    pto_keep_dict(p, dict, &f->named_first, &f->named_count);
    return true;
}

static bool function_body(struct pto_parser *p, struct pto_function *f)
{
    struct pto_draft d = {.op = PTO_NONE, .is_frozen = true};

    if (!pto_is(p, '{'))
        return true;
    f->has_body = true;
    d.regions_from = (uint32_t)p->regions.n;
    bool ok = pto_parse_region(p, &d, 0, f->arg_count);
    if (d.region_count > 0) {
        f->region = (uint32_t)p->m->regions.n;
        vec_push(&p->m->regions, p->regions.at[d.regions_from]);
    }
    p->regions.n = d.regions_from;
    return ok;
}

static enum pto_kind parse_kind_of(const struct pto_module *m, uint32_t first, uint32_t count)
{
    const struct pto_attr *a = pto_named_attr(m, first, count, PTO_KEY_KERNEL_KIND);

    if (a == NULL || a->kind != PTO_ATTR_ENUM)
        return PTO_KIND_NONE;
    return a->i == 0 ? PTO_KIND_CUBE : PTO_KIND_VECTOR;
}

/* To the next function, when one could not be read. */
static void skip_function(struct pto_parser *p)
{
    while (p->tok.kind != PTO_T_END && !pto_is_word(p, S("func.func")))
        pto_advance(p);
}

static void function(struct pto_parser *p)
{
    struct pto_function f = {.line = p->tok.line, .col = p->tok.col, .region = PTO_NONE};

    pto_advance(p);
    f.value_first = p->value_base = (uint32_t)p->m->values.n;
    f.op_first = (uint32_t)p->m->ops.n;
    p->gone.n = 0;
    while (p->gone.n < p->visible.n)
        vec_push(&p->gone, 0);
    bool ok = function_header(p, &f) && function_body(p, &f);
    pto_scope_end(p, 0);
    f.value_count = (uint32_t)p->m->values.n - f.value_first;
    f.op_end = (uint32_t)p->m->ops.n;
    f.kind = parse_kind_of(p->m, f.named_first, f.named_count);
    if (f.name != 0)
        vec_push(&p->m->functions, f);
    if (!ok)
        skip_function(p);
}

/* ---- the module ---- */

/* "!name = type" and "#name = attribute". */
static bool alias(struct pto_parser *p)
{
    struct pto_alias a = {.name = p->tok.text, .is_type = p->tok.kind == PTO_T_TYPE};
    uint32_t ignored;

    pto_advance(p);
    if (!pto_want(p, '='))
        return false;
    if (!a.is_type && str_starts(a.name, S("loc")))
        return true; /* a place in another text, which is skipped */
    const char *from = p->tok.begin;
    if (!(a.is_type ? pto_parse_type(p, &ignored) : pto_parse_attr(p, 0, &ignored)))
        return false;
    a.text = str_trim((struct str){from, (size_t)(p->tok.begin - from)});
    vec_push(&p->aliases, a);
    return true;
}

/* The architecture decides the layout of left tiles, so types read before it are forgotten. */
static void find_arch(struct pto_parser *p)
{
    struct pto_module *m = p->m;
    const struct pto_attr *arch =
        pto_named_attr(m, m->named_first, m->named_count, PTO_KEY_TARGET_ARCH);
    const struct pto_attr *spec =
        pto_named_attr(m, m->named_first, m->named_count, PTO_KEY_DEVICE_SPEC);

    if (arch != NULL && arch->kind == PTO_ATTR_STRING) {
        struct str name = intern_get(&m->names, arch->text);
        m->has_arch = true;
        m->arch = str_equal(name, S("a5")) ? PTO_A5 : PTO_A2A3;
        if (m->arch == PTO_A2A3 && !str_equal(name, S("a2a3")) && !str_equal(name, S("a3")) &&
            !str_equal(name, S("a2")))
            pto_wrong(p, "pto-ir.bad-arch", 1, 1, "no such architecture: \"%.*s\" (a2a3, a3, a5)",
                      STR_ARGS(name));
    } else if (spec != NULL && spec->kind == PTO_ATTR_STRING) {
        struct str name = intern_get(&m->names, spec->text);
        bool is_a5 = str_starts(name, S("Ascend950")) || str_starts(name, S("Ascend910_95"));
        m->has_arch = true;
        m->arch = is_a5 ? PTO_A5 : PTO_A2A3;
    }
    hash_clear(&p->type_memo);
    p->memo.n = 0;
}

static bool module_header(struct pto_parser *p)
{
    uint32_t dict = (uint32_t)p->dict.n;

    if (p->tok.kind == PTO_T_SYMBOL) {
        p->m->name = pto_name(p, p->tok.text);
        pto_advance(p);
    }
    if (pto_try_word(p, S("attributes")) && !pto_parse_dict(p))
        return false;
    pto_keep_dict(p, dict, &p->m->named_first, &p->m->named_count);
    find_arch(p);
    return pto_want(p, '{');
}

static void functions(struct pto_parser *p, bool is_in_module);

enum { MAX_MODULES = 16 }; /* within each other */

/* A module inside the module: its functions are those of the text. */
static void nested_module(struct pto_parser *p)
{
    bool has_arch = p->m->has_arch;
    uint32_t first = p->m->named_first, count = p->m->named_count;
    strid name = p->m->name;

    if (p->depth >= MAX_MODULES) {
        pto_wrong(p, "pto-ir.too-deep", p->tok.line, p->tok.col, "modules are nested too deep");
        skip_function(p);
        return;
    }
    p->depth++;
    pto_advance(p);
    if (module_header(p)) {
        functions(p, true);
        (void)pto_want(p, '}');
    }
    p->depth--;
    if (has_arch || !p->m->has_arch) {
        p->m->named_first = first;
        p->m->named_count = count;
    }
    p->m->name = name;
}

static void functions(struct pto_parser *p, bool is_in_module)
{
    while (p->tok.kind != PTO_T_END && !(is_in_module && pto_is(p, '}'))) {
        if (pto_is_word(p, S("func.func"))) {
            function(p);
        } else if (is_in_module && pto_is_word(p, S("module"))) {
            nested_module(p);
        } else {
            pto_expected(p, "a function (func.func)");
            pto_advance(p);
            skip_function(p);
        }
    }
}

/* One function with a body and no mark is the entry; among several, the marked ones are. */
static void find_entries(struct pto_module *m)
{
    size_t bodies = 0, marked = 0;

    for (size_t i = 0; i < m->functions.n; i++) {
        struct pto_function *f = &m->functions.at[i];
        bool has_mark = pto_named_attr(m, f->named_first, f->named_count, PTO_KEY_ENTRY) != NULL ||
                        f->kind != PTO_KIND_NONE;
        bodies += f->has_body;
        f->is_entry = has_mark && f->has_body;
        marked += f->is_entry;
        if (f->kind == PTO_KIND_NONE)
            f->kind = parse_kind_of(m, m->named_first, m->named_count);
    }
    if (marked > 0)
        return;
    for (size_t i = 0; i < m->functions.n; i++)
        m->functions.at[i].is_entry = m->functions.at[i].has_body && bodies == 1;
}

static void file(struct pto_parser *p)
{
    while (p->tok.kind == PTO_T_TYPE || p->tok.kind == PTO_T_HASH)
        if (!alias(p))
            return;
    if (!pto_try_word(p, S("module"))) {
        functions(p, false);
        return;
    }
    if (!module_header(p))
        return;
    functions(p, true);
    if (!pto_want(p, '}'))
        return;
    while (p->tok.kind == PTO_T_TYPE || p->tok.kind == PTO_T_HASH) /* aliases may follow */
        if (!alias(p))
            return;
    if (p->tok.kind != PTO_T_END)
        pto_expected(p, "the end of the text");
}

enum status pto_parse(struct pto_parser *p, struct str text, struct pto_module *m)
{
    struct pto_type poison = {.kind = PTO_TYPE_OPAQUE};

    pto_module_reset(m);
    hash_clear(&p->type_memo);
    p->memo.n = p->aliases.n = p->visible.n = p->pack.n = p->gone.n = p->codes.n = 0;
    p->undo.n = p->branches.n = p->list.n = p->dict.n = p->names.n = 0;
    p->blocks.n = p->regions.n = 0;
    p->depth = p->alias_uses = 0;
    p->value_base = 0;
    p->m = m;
    if (text.n > LIMIT_PTO_BYTES) {
        pto_problem(m, SEV_ERROR, "pto-ir.too-large", 1, 1, "more than %d MiB of text",
                    LIMIT_PTO_BYTES >> 20);
        return ST_LIMIT;
    }
    pto_name(p, S("")); /* so that every name has its place in the tables */
    poison.text = pto_name(p, S("<error>"));
    p->poison = pto_type_put(m, &poison);
    pto_lex_open(&p->lex, text);
    pto_advance(p);
    file(p);
    if (m->functions.n == 0 && m->error_count == 0)
        pto_wrong(p, "pto-ir.no-function", 1, 1, "there is no function in this text");
    find_entries(m);
    return m->error_count > 0 ? ST_FORMAT : ST_OK;
}

struct pto_parser *pto_parser_new(void)
{
    struct pto_parser *p = mem_grow(NULL, sizeof(*p), 1);

    *p = (struct pto_parser){0};
    return p;
}

void pto_parser_free(struct pto_parser *p)
{
    if (p == NULL)
        return;
    hash_free(&p->type_memo);
    vec_free(&p->memo);
    vec_free(&p->aliases);
    vec_free(&p->visible);
    vec_free(&p->pack);
    vec_free(&p->gone);
    vec_free(&p->codes);
    vec_free(&p->undo);
    vec_free(&p->branches);
    vec_free(&p->list);
    vec_free(&p->dict);
    vec_free(&p->names);
    vec_free(&p->blocks);
    vec_free(&p->regions);
    mem_free(p);
}

enum status pto_describe(const struct pto_module *m, const char *path, struct diag *d)
{
    for (size_t i = 0; i < m->problems.n; i++) {
        const struct pto_problem *q = &m->problems.at[i];
        diag_add(d, q->severity, q->code, (struct where){.path = path, .line = q->line},
                 "column %u: %s", q->col, q->text);
    }
    return m->error_count > 0 ? ST_FORMAT : ST_OK;
}
