/*
 * Rules files: grids, patterns, assignments and scenes; and what op_mapping.yaml says of kernels.
 */
#include "opdb/grid/grid_rules.h"

#include "base/files/embedded.h"
#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/yaml.h"
#include "base/limits.h"
#include "base/text/num.h"
#include "opdb/grid/grid_gen.h"
#include "opdb/grid/grid_shapes.h"

static const struct expr_function functions[] = {
    {S_INIT("max"), EXPR_MAX, 0, NULL},
    {S_INIT("min"), EXPR_MIN, 0, NULL},
    {S_INIT("abs"), EXPR_ABS, 1, NULL},
    {S_INIT("align"), EXPR_ALIGN, 2, NULL},
};
const struct expr_language grid_language = {.functions = functions,
                                            .functions_n = ARRAY_LEN(functions)};

struct reader {
    struct arena *arena;
    struct diag *d;
    const char *path;
    struct grid_rules *rules;
};

static enum status bad(const struct reader *r, const struct tree *node, const char *what)
{
    return diag_fail(r->d, ST_FORMAT, "grid.bad-rule",
                     (struct where){.path = r->path, .line = node->line}, "%s", what);
}

bool grid_rules_list(struct arena *arena, const struct tree *node, const char *path,
                     struct grid_list *out, struct diag *d)
{
    *out = (struct grid_list){0};
    if (node == NULL)
        return true;
    int64_t *at = ARENA_ARRAY(arena, int64_t, node->n);
    size_t n = 0;
    bool is_good = node->kind == TREE_LIST;
    for (const struct tree *v = node->first; is_good && v != NULL; v = v->next)
        is_good = v->kind == TREE_TEXT && !v->is_quoted && num_i64(v->text, &at[n++]);
    if (!is_good) {
        diag_fail(d, ST_FORMAT, "grid.bad-rule", (struct where){.path = path, .line = node->line},
                  "%.*s must be a list of whole numbers, such as [1, 2, 4]", STR_ARGS(node->key));
        return false;
    }
    *out = (struct grid_list){at, n};
    return true;
}

static enum status read_list(const struct reader *r, const struct tree *node, struct grid_list *out)
{
    return grid_rules_list(r->arena, node, r->path, out, r->d) ? ST_OK : ST_FORMAT;
}

struct grid_list grid_rules_grid(const struct grid_rules *rules, struct str name)
{
    for (size_t i = 0; i < rules->grids_n; i++)
        if (str_equal(rules->grids[i].name, name))
            return rules->grids[i].values;
    return (struct grid_list){0};
}

static enum status read_grids(const struct reader *r, const struct tree *section)
{
    struct grid_rules *rules = r->rules;

    rules->grids = arena_array(r->arena, sizeof(*rules->grids), section->n);
    rules->grids_n = 0;
    for (const struct tree *g = section->first; g != NULL; g = g->next) {
        rules->grids[rules->grids_n].name = g->key;
        TRY(read_list(r, g, &rules->grids[rules->grids_n].values));
        rules->grids_n++;
    }
    return ST_OK;
}

/* The position of a variable, which is added when it is new. `names` has room. */
static size_t variable(struct str *names, size_t *n, struct str name)
{
    for (size_t i = 0; i < *n; i++)
        if (str_equal(names[i], name))
            return i;
    names[*n] = name;
    return (*n)++;
}

static enum status read_iterators(const struct reader *r, const struct tree *node,
                                  struct str *names, size_t *names_n,
                                  const struct grid_iterator **out, size_t *out_n)
{
    if (node == NULL)
        return ST_OK;
    if (node->kind != TREE_MAP)
        return bad(r, node, "iterators must be a map from variables to grids");
    struct grid_iterator *it = ARENA_ARRAY(r->arena, struct grid_iterator, node->n);
    *out = it;
    for (const struct tree *v = node->first; v != NULL; v = v->next, it++) {
        it->var = variable(names, names_n, v->key);
        if (v->kind == TREE_TEXT) {
            it->grid = v->text;
            it->values = grid_rules_grid(r->rules, v->text);
            if (it->values.n == 0)
                return bad(r, v,
                           arena_format(r->arena, "unknown grid '%.*s'", STR_ARGS(v->text)).at);
        } else {
            TRY(read_list(r, v, &it->values));
        }
    }
    *out_n = node->n;
    return ST_OK;
}

static enum status read_constants(const struct reader *r, const struct tree *node,
                                  struct str *names, size_t *names_n, struct grid_pattern *p)
{
    if (node == NULL)
        return ST_OK;
    if (node->kind != TREE_MAP)
        return bad(r, node, "constants must be a map from names to whole numbers");
    struct grid_constant *c = ARENA_ARRAY(r->arena, struct grid_constant, node->n);
    p->constants = c;
    for (const struct tree *v = node->first; v != NULL; v = v->next, c++) {
        c->var = variable(names, names_n, v->key);
        if (v->kind != TREE_TEXT || !num_i64(v->text, &c->value))
            return bad(r, v, "a constant must be a whole number");
    }
    p->constants_n = node->n;
    return ST_OK;
}

static enum status compile(const struct reader *r, const struct tree *node, struct str text,
                           const struct grid_pattern *p, struct expr *out)
{
    const char *error = expr_compile(r->arena, &grid_language, text, p->names, out);

    if (error == NULL)
        return ST_OK;
    return diag_fail(r->d, ST_FORMAT, "grid.bad-expression",
                     (struct where){.path = r->path, .line = node->line}, "%.*s: \"%.*s\": %s",
                     STR_ARGS(p->name), STR_ARGS(text), error);
}

static enum status read_constraints(const struct reader *r, const struct tree *node,
                                    struct grid_pattern *p)
{
    if (node == NULL)
        return ST_OK;
    if (node->kind != TREE_LIST)
        return bad(r, node, "constraints must be a list of expressions");
    struct expr *e = ARENA_ARRAY(r->arena, struct expr, node->n);
    p->constraints = e;
    for (const struct tree *v = node->first; v != NULL; v = v->next)
        TRY(compile(r, v, v->text, p, e++));
    p->constraints_n = node->n;
    return ST_OK;
}

static enum status read_shape(const struct reader *r, const struct tree *node,
                              const struct grid_pattern *p, struct grid_shape_rule *out)
{
    struct str inside = grid_shape_inside(node->text), rest = inside, part;
    size_t n = 0;

    while (grid_shape_part(&rest, &part))
        n++;
    struct expr *dim = ARENA_ARRAY(r->arena, struct expr, n);
    *out = (struct grid_shape_rule){dim, n};
    for (rest = inside; grid_shape_part(&rest, &part);)
        TRY(compile(r, node, part, p, dim++));
    return ST_OK;
}

static enum status read_shapes(const struct reader *r, const struct tree *node,
                               const struct grid_pattern *p, const struct grid_shape_rule **out,
                               size_t *out_n)
{
    if (node == NULL)
        return ST_OK;
    if (node->kind != TREE_LIST)
        return bad(r, node, "inputs and outputs must be lists of shapes such as \"(M, K)\"");
    struct grid_shape_rule *shape = ARENA_ARRAY(r->arena, struct grid_shape_rule, node->n);
    *out = shape;
    for (const struct tree *v = node->first; v != NULL; v = v->next) {
        if (v->kind != TREE_TEXT)
            return bad(r, v, "a shape must be text such as \"(M, K)\"");
        TRY(read_shape(r, v, p, shape++));
    }
    *out_n = node->n;
    return ST_OK;
}

/* A list becomes one cell. */
static enum status read_cell(const struct reader *r, const struct tree *node, struct str *out)
{
    if (node == NULL)
        return ST_OK;
    if (node->kind != TREE_LIST)
        return bad(r, node, "data types and formats must be lists");
    struct str *parts = ARENA_ARRAY(r->arena, struct str, node->n);
    size_t n = 0;
    for (const struct tree *v = node->first; v != NULL; v = v->next)
        parts[n++] = v->text;
    *out = arena_join(r->arena, parts, n, S(";"));
    return ST_OK;
}

/* A misspelt field would be a rule that silently does nothing. */
static void check_fields(const struct reader *r, const struct tree *node)
{
    static const struct str known[] = {
        S_INIT("iterators"),     S_INIT("fallback_iterators"), S_INIT("model_nk_pairs"),
        S_INIT("constants"),     S_INIT("constraints"),        S_INIT("inputs"),
        S_INIT("outputs"),       S_INIT("input_dtypes"),       S_INIT("input_formats"),
        S_INIT("output_dtypes"), S_INIT("output_formats"),     S_INIT("generator_function"),
        S_INIT("description"),
    };

    for (const struct tree *f = node->first; f != NULL; f = f->next)
        if (!str_is_one_of(f->key, known, ARRAY_LEN(known)))
            diag_add(r->d, SEV_WARN, "grid.unknown-field",
                     (struct where){.path = r->path, .line = f->line},
                     "unknown pattern field '%.*s' ignored", STR_ARGS(f->key));
}

static enum status read_variables(const struct reader *r, const struct tree *node,
                                  struct grid_pattern *p)
{
    const struct tree *iterators = tree_get(node, S("iterators")),
                      *fallback = tree_get(node, S("fallback_iterators")),
                      *constants = tree_get(node, S("constants"));
    size_t most = 2 + (iterators != NULL ? iterators->n : 0) +
                  (fallback != NULL ? fallback->n : 0) + (constants != NULL ? constants->n : 0);
    struct str *names = ARENA_ARRAY(r->arena, struct str, most);
    size_t n = 0;

    p->has_nk_pairs = str_equal_nocase(tree_text(tree_get(node, S("model_nk_pairs"))), S("true"));
    TRY(read_iterators(r, iterators, names, &n, &p->iterators, &p->iterators_n));
    if (p->has_nk_pairs) {
        TRY(read_iterators(r, fallback, names, &n, &p->fallback, &p->fallback_n));
        p->var_n = variable(names, &n, S("N"));
        p->var_k = variable(names, &n, S("K"));
        if (n != p->iterators_n + p->fallback_n)
            return bad(r, node,
                       "with model_nk_pairs the fallback_iterators must be N and K, and "
                       "each variable must be given once");
    } else if (n != p->iterators_n) {
        return bad(r, node, "a variable is given twice");
    }
    TRY(read_constants(r, constants, names, &n, p));
    p->names = (struct expr_names){names, n};
    return ST_OK;
}

static enum status read_pattern(const struct reader *r, const struct tree *node,
                                struct grid_pattern *p)
{
    static const struct str cells[GRID_CELLS] = {S_INIT("input_dtypes"), S_INIT("input_formats"),
                                                 S_INIT("output_dtypes"), S_INIT("output_formats")};

    *p = (struct grid_pattern){.name = node->key};
    if (node->kind != TREE_MAP)
        return bad(r, node, "a pattern must be a map");
    check_fields(r, node);
    p->generator = tree_get_text(node, S("generator_function"), (struct str){0});
    if (p->generator.n > 0 && !grid_gen_is_known(p->generator))
        return bad(r, node, "unknown generator_function");
    TRY(read_variables(r, node, p));
    TRY(read_constraints(r, tree_get(node, S("constraints")), p));
    TRY(read_shapes(r, tree_get(node, S("inputs")), p, &p->inputs, &p->inputs_n));
    TRY(read_shapes(r, tree_get(node, S("outputs")), p, &p->outputs, &p->outputs_n));
    for (size_t i = 0; i < GRID_CELLS; i++)
        TRY(read_cell(r, tree_get(node, cells[i]), &p->cells[i]));
    return ST_OK;
}

static enum status read_patterns(const struct reader *r, const struct tree *section)
{
    struct grid_pattern *p = ARENA_ARRAY(r->arena, struct grid_pattern, section->n);

    r->rules->patterns = p;
    r->rules->patterns_n = section->n;
    for (const struct tree *v = section->first; v != NULL; v = v->next)
        TRY(read_pattern(r, v, p++));
    return ST_OK;
}

static enum status read_assignments(const struct reader *r, const struct tree *section)
{
    struct grid_assignment *a = ARENA_ARRAY(r->arena, struct grid_assignment, section->n);

    r->rules->assignments = a;
    r->rules->assignments_n = section->n;
    for (const struct tree *v = section->first; v != NULL; v = v->next, a++) {
        if (v->kind != TREE_TEXT)
            return bad(r, v, "an assignment must be the name of a pattern");
        *a = (struct grid_assignment){v->key, v->text};
    }
    return ST_OK;
}

/* A list of numbers from 1 to `most`. */
static enum status read_counts(const struct reader *r, const struct tree *scene, struct str field,
                               int64_t most, struct grid_list *out)
{
    const struct tree *node = tree_get(scene, field);

    TRY(read_list(r, node, out));
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i] < 1 || out->at[i] > most)
            return bad(r, node,
                       arena_format(r->arena, "%.*s must be numbers from 1 to %lld",
                                    STR_ARGS(field), (long long)most)
                           .at);
    return ST_OK;
}

static enum status read_scenes(const struct reader *r, const struct tree *section)
{
    struct grid_scene *s = ARENA_ARRAY(r->arena, struct grid_scene, section->n);

    r->rules->scenes = s;
    r->rules->scenes_n = section->n;
    for (const struct tree *v = section->first; v != NULL; v = v->next, s++) {
        s->key = v->key;
        TRY(read_counts(r, v, S("prefill_batches"), LIMIT_GRID_BATCH, &s->prefill_batches));
        TRY(read_counts(r, v, S("prefill_lengths"), INT32_MAX, &s->prefill_lengths));
        TRY(read_counts(r, v, S("decode_batches"), LIMIT_GRID_BATCH, &s->decode_batches));
        TRY(read_counts(r, v, S("decode_lengths"), INT32_MAX, &s->decode_lengths));
    }
    return ST_OK;
}

static enum status keep_models(const struct reader *r, const struct tree *section)
{
    r->rules->models = section;
    r->rules->models_path = r->path;
    return ST_OK;
}

/* In the order of reading: patterns use grids. */
static const struct section {
    struct str name;
    enum status (*read)(const struct reader *r, const struct tree *section);
} sections[] = {
    {S_INIT("grids"), read_grids},
    {S_INIT("patterns"), read_patterns},
    {S_INIT("assignments"), read_assignments},
    {S_INIT("scenes"), read_scenes},
    {S_INIT("models"), keep_models},
};

struct found {
    const struct tree *section;
    const char *path;
};

/* Notes where the sections of a text are; those of a later text count. */
static enum status find_sections(struct reader *r, struct str text, struct found *found)
{
    const struct tree *root;

    TRY(yaml_read(r->arena, text, r->path, &root, r->d));
    if (root->kind != TREE_MAP)
        return bad(r, root,
                   "rules must be a map of the sections grids, patterns, assignments, "
                   "scenes and models");
    for (const struct tree *v = root->first; v != NULL; v = v->next) {
        size_t k = 0;
        while (k < ARRAY_LEN(sections) && !str_equal(sections[k].name, v->key))
            k++;
        if (k == ARRAY_LEN(sections)) {
            diag_add(r->d, SEV_WARN, "grid.unknown-field",
                     (struct where){.path = r->path, .line = v->line},
                     "unknown section '%.*s' ignored", STR_ARGS(v->key));
            continue;
        }
        if (v->kind != TREE_MAP)
            return bad(r, v, "a section must be a map");
        found[k] = (struct found){v, r->path};
    }
    return ST_OK;
}

enum status grid_rules_read(struct grid_rules *rules, struct arena *arena, const char *path,
                            struct diag *d)
{
    static const char *const defaults[] = {"perfdb/grid.yaml", "perfdb/models.yaml"};
    struct reader r = {.arena = arena, .d = d, .rules = rules};
    struct found found[ARRAY_LEN(sections)] = {0};

    *rules = (struct grid_rules){0};
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        r.path = defaults[i];
        TRY(find_sections(&r, embedded_file(defaults[i]), found));
    }
    if (path != NULL) {
        struct mapfile map;
        r.path = arena_cstr(arena, str_of(path));
        rules->file = str_basename(str_of(r.path));
        TRY(mapfile_open(&map, path, d));
        enum status st = find_sections(&r, map.text, found);
        mapfile_close(&map);
        TRY(st);
    }
    for (size_t k = 0; k < ARRAY_LEN(sections); k++) {
        r.path = found[k].path;
        TRY(sections[k].read(&r, found[k].section));
    }
    return ST_OK;
}

const struct grid_pattern *grid_rules_pattern(const struct grid_rules *rules, struct str name)
{
    for (size_t i = 0; i < rules->patterns_n; i++)
        if (str_equal(rules->patterns[i].name, name))
            return &rules->patterns[i];
    return NULL;
}

struct str grid_rules_assigned(const struct grid_rules *rules, struct str kernel)
{
    for (size_t i = 0; i < rules->assignments_n; i++)
        if (str_equal(rules->assignments[i].kernel, kernel))
            return rules->assignments[i].pattern;
    return (struct str){0};
}

const struct grid_scene *grid_rules_scene(const struct grid_rules *rules, struct str key)
{
    const struct grid_scene *other = NULL;

    for (size_t i = 0; i < rules->scenes_n; i++) {
        if (str_equal(rules->scenes[i].key, key))
            return &rules->scenes[i];
        if (str_equal(rules->scenes[i].key, S("default")))
            other = &rules->scenes[i];
    }
    return other;
}

/* What counts as yes in a mapping file: everything but the spellings of no, nothing and zero. */
static bool is_yes(const struct tree *node)
{
    static const struct str no[] = {S_INIT("false"), S_INIT("no"), S_INIT("off")};
    double value;

    if (node == NULL || yaml_is_null(node))
        return false;
    if (node->kind != TREE_TEXT)
        return node->n > 0;
    if (node->is_quoted || node->text.n == 0)
        return node->text.n > 0;
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        if (str_equal_nocase(node->text, no[i]))
            return false;
    return !num_f64(node->text, &value) || value != 0;
}

static void rules_add(struct grid_facts *f, struct str kernel, struct grid_fact fact)
{
    size_t before = f->kernels.strings.n;

    if (kernel.n == 0)
        return;
    intern_put(&f->kernels, kernel);
    if (f->kernels.strings.n == before)
        return;
    if (fact.alternates_of.n > 0)
        fact.alternates_of = intern_get(&f->kernels, intern_find(&f->kernels, fact.alternates_of));
    vec_reserve(&f->facts, f->kernels.strings.n);
    f->facts.at[f->kernels.strings.n - 1] = fact;
    f->facts.n = f->kernels.strings.n;
}

static void add_entry(struct grid_facts *f, const struct tree *entry)
{
    struct str kernel = tree_get_text(entry, S("kernel_type"), (struct str){0});
    const struct tree *others = tree_get(entry, S("alternate_kernel_types"));
    struct str category = tree_get_text(entry, S("category"), (struct str){0});
    struct str mode = tree_get_text(entry, S("query_mode"), (struct str){0});
    struct grid_fact fact = {
        .is_free = is_yes(tree_get(entry, S("zero_cost"))) ||
                   is_yes(tree_get(entry, S("composite"))) ||
                   str_equal(category, S("communication")),
        .is_elementwise = str_equal(mode, S("elementwise")),
    };

    if (kernel.n == 0)
        return;
    rules_add(f, kernel, fact);
    fact.alternates_of = kernel;
    for (const struct tree *o = others != NULL ? others->first : NULL; o != NULL; o = o->next)
        if (o->kind == TREE_TEXT)
            rules_add(f, o->text, fact);
}

enum status grid_facts_read(struct grid_facts *facts, const char *dir, struct diag *d)
{
    const struct tree *root, *entries;
    struct arena scratch;

    *facts = (struct grid_facts){0};
    intern_init(&facts->kernels);
    arena_init(&scratch);
    const char *path = fs_join(&scratch, dir, "op_mapping.yaml");
    bool is_there = fs_exists(path);
    enum status st = is_there ? yaml_read_file(&scratch, path, &root, d) : ST_OK;
    if (is_there && st == ST_OK) {
        entries = tree_get(root, S("operator_mappings"));
        entries = entries != NULL ? entries : root;
        for (const struct tree *e = entries->first; e != NULL; e = e->next)
            add_entry(facts, e);
    }
    facts->is_there = facts->facts.n > 0;
    arena_free(&scratch);
    return st;
}

void grid_facts_free(struct grid_facts *facts)
{
    vec_free(&facts->facts);
    intern_fini(&facts->kernels);
}

struct grid_fact grid_facts_of(const struct grid_facts *facts, struct str kernel)
{
    strid id = intern_find(&facts->kernels, kernel);

    return id > 0 ? facts->facts.at[id] : (struct grid_fact){0};
}
