#include "perfdb/grid_facts.h"

#include "base/fs.h"
#include "base/mapfile.h"
#include "base/num.h"
#include "base/yaml.h"

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

static void add(struct grid_facts *f, struct str kernel, struct grid_fact fact)
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

static void take_entry(struct grid_facts *f, const struct tree *entry)
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
    add(f, kernel, fact);
    fact.alternates_of = kernel;
    for (const struct tree *o = others != NULL ? others->first : NULL; o != NULL; o = o->next)
        if (o->kind == TREE_TEXT)
            add(f, o->text, fact);
}

enum status grid_facts_read(struct grid_facts *facts, const char *dir, struct diag *d)
{
    const struct tree *root, *entries;
    struct arena scratch;
    struct mapfile map;
    enum status st = ST_OK;

    *facts = (struct grid_facts){0};
    intern_init(&facts->kernels);
    arena_init(&scratch);
    const char *path = fs_join(&scratch, dir, "op_mapping.yaml");
    if (fs_exists(path)) {
        st = mapfile_open(&map, path, d);
        if (st == ST_OK) {
            st = yaml_read(&scratch, map.text, path, &root, d);
            mapfile_close(&map);
        }
        if (st == ST_OK) {
            entries = tree_get(root, S("operator_mappings"));
            entries = entries != NULL ? entries : root;
            for (const struct tree *e = entries->first; e != NULL; e = e->next)
                take_entry(facts, e);
        }
        facts->is_there = facts->facts.n > 0;
    }
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
