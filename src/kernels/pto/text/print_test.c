/*
 * print and parse against each other: on a sample with every form that kernels of PyPTO lack, and
 * on random modules made from the forms themselves.
 */
#include "kernels/pto/text/print.h"

#include <stdio.h>

#include "base/files/mapfile.h"
#include "kernels/pto/testing_pto.h"
#include "kernels/pto/text/forms.h"

/* ---- random text ---- */

static const char *const types[] = {
    "f32",
    "index",
    "i32",
    "i64",
    "i1",
    "bf16",
    "!pto.ptr<f32>",
    "!pto.ptr<i8, ub>",
    "!pto.tensor_view<?x16xf32>",
    "!pto.partition_tensor_view<1x2x3x4x?xbf16>",
    "!pto.tile_buf<vec, 16x64xf32, valid=?x8, pad=4294967297>",
    "!pto.tile_buf<left, 16x32x!pto.hif8, valid=4x?, slayout=row_major, compact=1>",
    "!pto.multi_tile_buf<vec, 8x8xui32, count=3>",
    "!pto.local_array<4x2xi32>",
    "!pto.pipe",
    "!pto.struct<f32, i8>",
    "!pto.eventid_array<4>",
    "vector<4xi16>",
    "!pto.async_session",
};

static const char *const attrs[] = {
    "alpha = 1",
    "beta = 2.5e-3 : f32",
    "gamma",
    "\"odd-key\" = \"te\\\"xt\"",
    "delta = [1, [true], @sym, i32]",
    "epsilon = {a = unit, b = #pto.layout<dn>}",
    "zeta = array<i32: 1, -2>",
    "eta = 0x7FC00001 : f32",
    "theta = #pto<round_mode TRUNC>",
    "iota = #other.thing<[1, 2]>",
};

enum { VALUES = 3 * ARRAY_LEN(types) };

struct gen {
    VEC_OF(char) out;
    uint64_t state;
    uint32_t next;     /* number of the next result */
    uint32_t used[64]; /* operands of the operation being written */
    enum pto_role role[64];
    uint32_t n_used;
};

static uint32_t below(struct gen *g, uint32_t n)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->state >> 33) % n;
}

static void print_put(struct gen *g, const char *text)
{
    size_t n = strlen(text);

    vec_reserve(&g->out, g->out.n + n);
    memcpy(g->out.at + g->out.n, text, n);
    g->out.n += n;
}

static void print_put_number(struct gen *g, const char *before, uint32_t n)
{
    char text[64];

    snprintf(text, sizeof(text), "%s%u", before, (unsigned)n);
    print_put(g, text);
}

static void operand(struct gen *g, enum pto_role role)
{
    uint32_t v = below(g, VALUES);

    assert_true(g->n_used < ARRAY_LEN(g->used));
    g->used[g->n_used] = v;
    g->role[g->n_used++] = role;
    print_put_number(g, "%v", v);
}

static const char *print_type_of(uint32_t value)
{
    return types[value % ARRAY_LEN(types)];
}

static void operand_types(struct gen *g, enum pto_role role)
{
    bool is_first = true;

    for (uint32_t i = 0; i < g->n_used; i++) {
        if (role != PTO_ROLE_COUNT && g->role[i] != role)
            continue;
        print_put(g, is_first ? "" : ", ");
        print_put(g, print_type_of(g->used[i]));
        is_first = false;
    }
}

static void dict(struct gen *g)
{
    uint32_t from = below(g, ARRAY_LEN(attrs)), n = below(g, 3);

    if (n == 0)
        return;
    print_put(g, " {");
    for (uint32_t i = 0; i < n; i++) {
        print_put(g, i > 0 ? ", " : "");
        print_put(g, attrs[(from + i) % ARRAY_LEN(attrs)]);
    }
    print_put(g, "} ");
}

static void attr_value(struct gen *g, struct pto_module *words, struct str key)
{
    enum pto_key k = (enum pto_key)intern_find(&words->names, key);
    enum pto_enum e = pto_key_enum(k);

    if (k == PTO_KEY_CALLEE) {
        print_put(g, "@f");
    } else if (k == PTO_KEY_SIZES) {
        print_put(g, "[8, 16]");
    } else if (k == PTO_KEY_FORMAT) {
        print_put(g, "\"%d\\n\"");
    } else if (k == PTO_KEY_MODE) {
        print_put(g, "#pto.sync_all_mode<soft>");
    } else if (e == PTO_ENUM_NONE) {
        print_put_number(g, "", below(g, 8));
    } else {
        struct str word = {0};
        while (word.n == 0)
            word = pto_enum_word(e, below(g, 12));
        print_put(g, "<");
        vec_reserve(&g->out, g->out.n + word.n);
        memcpy(g->out.at + g->out.n, word.at, word.n);
        g->out.n += word.n;
        print_put(g, ">");
    }
}

/* What one operation needs while it is written. */
struct writing {
    struct pto_module *words;
    enum pto_opcode code;
    uint32_t shared; /* the value whose type @1 stands for */
    uint32_t results;
    uint32_t depth; /* of groups: a group that is there is not empty */
};

static void items(struct gen *g, struct writing *w, const char **form);

static void one_operand(struct gen *g, struct writing *w, enum pto_role role)
{
    bool is_shared = role == PTO_ROLE_IN && w->shared != PTO_NONE;

    operand(g, role);
    if (!is_shared)
        return;
    /* All operands of a shared type are one value. */
    while (g->out.at[g->out.n - 1] != '%')
        g->out.n--;
    print_put_number(g, "v", w->shared);
    g->used[g->n_used - 1] = w->shared;
}

static void many(struct gen *g, const struct writing *w, enum pto_role role, bool has_types)
{
    uint32_t n = has_types || w->depth > 0 ? 1 + below(g, 3) : below(g, 4);

    for (uint32_t i = 0; i < n; i++) {
        print_put(g, i > 0 ? ", " : "");
        operand(g, role);
        if (has_types) {
            print_put(g, " : ");
            print_put(g, print_type_of(g->used[g->n_used - 1]));
        }
    }
}

static void results(struct gen *g, const struct writing *w, bool has_brackets)
{
    uint32_t from = w->code == PTO_ADDUI_EXTENDED ? 1 : 0;

    print_put(g, has_brackets ? "(" : "");
    for (uint32_t i = from; i < w->results; i++) {
        print_put(g, i > from ? ", " : "");
        print_put(g, types[below(g, ARRAY_LEN(types))]);
    }
    print_put(g, has_brackets ? ")" : "");
}

static void group(struct gen *g, struct writing *w, struct pto_item item, const char **form)
{
    const char *at = *form;
    pto_form_next(&at);
    struct pto_item then = pto_form_next(&at);
    bool has_results = then.kind == PTO_ITEM_RESULTS;

    bool is_derived = w->code == PTO_PARTITION_VIEW || w->code == PTO_SUBSET;

    if (item.is_silent || (below(g, 2) == 0 && !is_derived) || (has_results && w->results == 0)) {
        *form = pto_form_skip_group(*form);
        return;
    }
    w->depth++;
    items(g, w, form);
    w->depth--;
}

static void one_item(struct gen *g, struct writing *w, struct pto_item it, const char **form)
{
    print_put(g, " ");
    switch (it.kind) {
    case PTO_ITEM_LITERAL: {
        struct str t = it.text;
        vec_reserve(&g->out, g->out.n + t.n);
        memcpy(g->out.at + g->out.n, t.at, t.n);
        g->out.n += t.n;
        break;
    }
    case PTO_ITEM_COMMA:
        print_put(g, below(g, 2) ? "," : "");
        break;
    case PTO_ITEM_OPERAND:
        one_operand(g, w, it.role);
        break;
    case PTO_ITEM_LIST:
        many(g, w, it.role, false);
        break;
    case PTO_ITEM_TYPED:
        many(g, w, it.role, true);
        break;
    case PTO_ITEM_TYPES:
        operand_types(g, it.role);
        break;
    case PTO_ITEM_SHARED:
        print_put(g, print_type_of(w->shared));
        break;
    case PTO_ITEM_RESULTS:
    case PTO_ITEM_RESULTS_ALL:
        results(g, w, false);
        break;
    case PTO_ITEM_RESULTS_IN_BRACKETS:
    case PTO_ITEM_RESULTS_BRACKETED:
        results(g, w, true);
        break;
    case PTO_ITEM_ATTR:
        if (str_equal(it.text, S("predicate")))
            print_put(g, w->code == PTO_CMPI ? "sge" : "une");
        else
            attr_value(g, w->words, it.text);
        break;
    case PTO_ITEM_DICT:
        dict(g);
        break;
    case PTO_ITEM_KEYS:
        print_put(g, "gm_slot_buffer = ");
        operand(g, PTO_ROLE_GM_BUFFER);
        print_put(g, " : ");
        print_put(g, print_type_of(g->used[g->n_used - 1]));
        print_put(g, ", v2c_consumer_buf = %v2 : i32");
        break;
    case PTO_ITEM_GROUP:
        group(g, w, it, form);
        break;
    case PTO_ITEM_REGION: /* structured() writes those that have any */
    case PTO_ITEM_SUCCESSOR:
    case PTO_ITEM_DEFAULT:
    case PTO_ITEM_END:
        break;
    }
}

static void items(struct gen *g, struct writing *w, const char **form)
{
    for (;;) {
        struct pto_item it = pto_form_next(form);
        if (it.kind == PTO_ITEM_END)
            return;
        one_item(g, w, it, form);
    }
}

static void result_names(struct gen *g, uint32_t n)
{
    if (n == 0)
        return;
    print_put_number(g, "%r", g->next++);
    if (n > 1)
        print_put_number(g, ":", n);
    print_put(g, " = ");
}

static void by_form(struct gen *g, struct pto_module *words, enum pto_opcode code)
{
    const char *form = pto_form(code);
    struct writing w = {.words = words, .code = code, .shared = PTO_NONE};

    w.results = form[0] == '*' ? below(g, 3) : (uint32_t)(form[0] - '0');
    if (code != PTO_CALL && form[0] == '*' && w.results > 1)
        w.results = 1;
    if (strstr(form, "@1") != NULL)
        w.shared = below(g, VALUES);
    g->n_used = 0;
    form++;
    size_t from = g->out.n;
    result_names(g, w.results);
    print_put(g, pto_op_name(code));
    items(g, &w, &form);
    /* Where the optional types were left out the number of results is zero. */
    if (pto_form(code)[0] == '*' && code != PTO_CALL &&
        memmem(g->out.at + from, g->out.n - from, "->", 2) == NULL && w.results > 0) {
        g->out.n = from;
        return;
    }
    print_put(g, "\n");
}

static void dps_list(struct gen *g, const char *word, uint32_t n)
{
    uint32_t from = g->n_used;

    print_put(g, word);
    print_put(g, "(");
    for (uint32_t i = 0; i < n; i++) {
        print_put(g, i > 0 ? ", " : "");
        operand(g, PTO_ROLE_IN);
    }
    print_put(g, " : ");
    for (uint32_t i = from; i < g->n_used; i++) {
        print_put(g, i > from ? ", " : "");
        print_put(g, print_type_of(g->used[i]));
    }
    print_put(g, ")");
}

static void by_lists(struct gen *g, enum pto_opcode code)
{
    g->n_used = 0;
    print_put(g, pto_op_name(code));
    dps_list(g, " ins", 1 + below(g, 4));
    dps_list(g, " outs", 1 + below(g, 2));
    dict(g);
    print_put(g, "\n");
}

static void block(struct gen *g, struct pto_module *words, uint32_t depth);

static void structured(struct gen *g, struct pto_module *words, uint32_t depth)
{
    uint32_t id = g->next++;

    switch (below(g, 4)) {
    case 0:
        print_put_number(g, "scf.for %i", id);
        print_put(g, " = %v1 to %v1 step %v1 {\n");
        block(g, words, depth - 1);
        print_put(g, "}\n");
        break;
    case 1:
        print_put_number(g, "%i", id);
        print_put(g, ":2 = scf.if %v4 -> (f32, i32) {\n");
        block(g, words, depth - 1);
        print_put(g, "scf.yield %v0, %v2 : f32, i32\n} else {\nscf.yield %v0, %v2 : f32, i32\n}\n");
        print_put_number(g, "scf.yield %i", id);
        print_put_number(g, "#0, %i", id);
        print_put(g, "#1 : f32, i32\n");
        break;
    case 2:
        print_put_number(g, "%i", id);
        print_put_number(g, " = scf.while (%w", id);
        print_put(g, " = %v2) : (i32) -> (i32) {\n");
        block(g, words, depth - 1);
        print_put_number(g, "scf.condition(%v4) %w", id);
        print_put_number(g, " : i32\n} do {\n^bb0(%y", id);
        print_put(g, ": i32):\n");
        print_put_number(g, "scf.yield %y", id);
        print_put(g, " : i32\n}\n");
        break;
    default:
        print_put(g, "pto.section.cube {\n");
        block(g, words, depth - 1);
        print_put(g, "}\n");
    }
}

/* These take a value on the next line for theirs, so they stand at the end of a block. */
static bool is_last(enum pto_opcode code)
{
    return code == PTO_YIELD || code == PTO_RETURN || code == PTO_REGION_YIELD ||
           code == PTO_CONDITION || code == PTO_CACHEINVALID ||
           pto_class_of(code) == PTO_CLASS_TOKEN_SET || pto_class_of(code) == PTO_CLASS_TOKEN_WAIT;
}

static bool has_blocks(enum pto_opcode code)
{
    return strstr(pto_form(code), "{{}}") != NULL || strchr(pto_form(code), '^') != NULL;
}

static void block(struct gen *g, struct pto_module *words, uint32_t depth)
{
    for (uint32_t n = 1 + below(g, 5); n > 0; n--) {
        enum pto_opcode code = (enum pto_opcode)(1 + below(g, PTO_OP_COUNT - 1));
        if (depth > 0 && below(g, 6) == 0)
            structured(g, words, depth);
        else if (pto_form(code) != NULL && !is_last(code) && !has_blocks(code))
            by_form(g, words, code);
        else if (pto_form(code) == NULL && code > PTO_CONSTANT)
            by_lists(g, code);
    }
}

static void module_text(struct gen *g, struct pto_module *words, enum pto_opcode only)
{
    g->out.n = 0;
    g->next = 0;
    print_put(g, "module attributes {pto.target_arch = \"a5\"} {\nfunc.func @f(");
    for (uint32_t i = 0; i < VALUES; i++) {
        print_put_number(g, i > 0 ? ", %v" : "%v", i);
        print_put(g, ": ");
        print_put(g, print_type_of(i));
    }
    print_put(g, ") {\n");
    if (only == PTO_OP_NONE)
        block(g, words, 4);
    else if (pto_form(only) != NULL)
        by_form(g, words, only);
    else
        by_lists(g, only);
    print_put(g, "}\n}\n");
}

/* ---- tests ---- */

static void same_after_printing(struct pto_parser *p, struct str text)
{
    struct pto_module a, b;
    struct arena arena;

    arena_init(&arena);
    pto_module_init(&a);
    pto_module_init(&b);
    if (pto_parse(p, text, &a) != ST_OK) {
        print_message("%u:%u: %s\n%.*s", (unsigned)a.problems.at[0].line,
                      (unsigned)a.problems.at[0].col, a.problems.at[0].text, STR_ARGS(text));
        fail();
    }
    struct str once = testing_print(&arena, &a);
    if (pto_parse(p, once, &b) != ST_OK) {
        print_message("%u:%u: %s\n%.*s", (unsigned)b.problems.at[0].line,
                      (unsigned)b.problems.at[0].col, b.problems.at[0].text, STR_ARGS(once));
        fail();
    }
    struct str twice = testing_print(&arena, &b);
    if (!str_equal(once, twice))
        print_message("%.*s\n%.*s", STR_ARGS(once), STR_ARGS(twice));
    assert_true(str_equal(once, twice));
    assert_int_equal(a.ops.n, b.ops.n);
    assert_int_equal(a.operands.n, b.operands.n);
    assert_int_equal(a.values.n, b.values.n);
    for (size_t i = 0; i < a.ops.n; i++) {
        assert_int_equal(a.ops.at[i].code, b.ops.at[i].code);
        assert_int_equal(a.ops.at[i].next, b.ops.at[i].next);
        assert_int_equal(a.ops.at[i].named_count, b.ops.at[i].named_count);
    }
    for (size_t i = 0; i < a.operands.n; i++) {
        assert_int_equal(a.operands.at[i].value, b.operands.at[i].value);
        assert_int_equal(a.operands.at[i].role, b.operands.at[i].role);
    }
    pto_module_fini(&b);
    pto_module_fini(&a);
    arena_free(&arena);
}

TEST(every_operation_reads_as_it_is_printed)
{
    struct pto_parser *p = pto_parser_new();
    struct gen g = {.state = 1};
    struct pto_module words;

    pto_module_init(&words);
    for (unsigned code = PTO_OP_NONE + 1; code < PTO_OP_COUNT; code++)
        for (int i = 0; i < 12; i++) {
            bool has_form = pto_form((enum pto_opcode)code) != NULL;
            if (has_form ? has_blocks((enum pto_opcode)code) : code <= PTO_CONSTANT)
                continue;
            module_text(&g, &words, (enum pto_opcode)code);
            same_after_printing(p, (struct str){g.out.at, g.out.n});
        }
    pto_module_fini(&words);
    vec_free(&g.out);
    pto_parser_free(p);
}

TEST(random_modules_read_as_they_are_printed)
{
    struct pto_parser *p = pto_parser_new();
    struct gen g = {.state = 7};
    struct pto_module words;

    pto_module_init(&words);
    for (int i = 0; i < 400; i++) {
        module_text(&g, &words, PTO_OP_NONE);
        same_after_printing(p, (struct str){g.out.at, g.out.n});
    }
    pto_module_fini(&words);
    vec_free(&g.out);
    pto_parser_free(p);
}

TEST(the_sample_with_all_forms_reads_as_it_is_printed)
{
    struct pto_parser *p = pto_parser_new();
    struct mapfile map;
    struct diag d;

    diag_init(&d);
    assert_int_equal(mapfile_open(&map, "tests/data/pto/forms.pto", &d), ST_OK);
    same_after_printing(p, map.text);
    mapfile_close(&map);
    diag_fini(&d);
    pto_parser_free(p);
}

TEST_MAIN("kernels/pto/text/print", T(every_operation_reads_as_it_is_printed),
          T(random_modules_read_as_they_are_printed),
          T(the_sample_with_all_forms_reads_as_it_is_printed))
