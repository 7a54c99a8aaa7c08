/*
 * The constants of the cost model, read from the compiled-in tables and from a user's file.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/files/embedded.h"
#include "base/files/mapfile.h"
#include "base/formats/csv.h"
#include "base/limits.h"
#include "base/text/num.h"
#include "kernels/pto/cost/cost_data.h"

static const char *const keys[PTO_COST_KEY_COUNT] = {
#define PTO_COST_KEY(code, key) key,
#include "kernels/pto/cost/cost_keys.def"
#undef PTO_COST_KEY
};

const struct str pto_shape_names[PTO_SHAPE_COUNT] = {
    S_INIT(""),
#define PTO_COST_SHAPE(code, name) S_INIT(name),
#include "kernels/pto/cost/cost_shapes.def"
#undef PTO_COST_SHAPE
};

const char *const pto_rate_names[PTO_RATE_COUNT] = {"f32", "f16", "i32", "i16"};

enum pto_rate pto_rate_of(enum pto_dtype t)
{
    bool is_wide = pto_dtype_size(t) >= 4;

    if (pto_dtype_is_float(t))
        return is_wide ? PTO_RATE_F32 : PTO_RATE_F16;
    return is_wide ? PTO_RATE_I32 : PTO_RATE_I16;
}

enum pto_opcode pto_cost_op(struct str name)
{
    char full[64];
    int n = snprintf(full, sizeof(full), "pto.%.*s", STR_ARGS(name));

    return n > 0 && (size_t)n < sizeof(full) ? pto_op_find(str_of(full)) : PTO_OP_NONE;
}

static enum pto_shape load_shape_of(struct str name)
{
    for (size_t i = 1; i < PTO_SHAPE_COUNT; i++)
        if (str_equal(name, pto_shape_names[i]))
            return (enum pto_shape)i;
    return PTO_SHAPE_NONE;
}

static struct str load_cell(const struct csv *csv, const char *column)
{
    return csv_cell(csv, csv_column(csv, str_of(column)));
}

/* The cells of `columns` (names with blanks between them), all numbers. */
static bool read_numbers(const struct csv *csv, const char *columns, double *out)
{
    struct str rest = str_of(columns), name;

    while (str_split(&rest, ' ', &name))
        if (!num_f64(csv_cell(csv, csv_column(csv, name)), out++))
            return false;
    return true;
}

static bool load_vector(struct pto_costs *c, struct str text)
{
    struct csv csv;

    csv_open(&csv, text);
    while (csv_next(&csv)) {
        enum pto_opcode op = pto_cost_op(load_cell(&csv, "op"));
        struct pto_law law = {.shape = load_shape_of(load_cell(&csv, "shape"))};
        bool given[PTO_RATE_COUNT];

        if (op == PTO_OP_NONE || law.shape == PTO_SHAPE_NONE ||
            !read_numbers(&csv, "bias", &law.bias))
            return false;
        for (int r = 0; r < PTO_RATE_COUNT; r++)
            given[r] = num_f64(load_cell(&csv, pto_rate_names[r]), &law.slope[r]);
        if (!given[PTO_RATE_F32])
            return false;
        /* Slopes that a row leaves out follow from others. */
        if (!given[PTO_RATE_F16])
            law.slope[PTO_RATE_F16] = law.slope[PTO_RATE_F32];
        if (!given[PTO_RATE_I32])
            law.slope[PTO_RATE_I32] = law.slope[PTO_RATE_F32];
        if (!given[PTO_RATE_I16])
            law.slope[PTO_RATE_I16] = law.slope[PTO_RATE_F16];
        c->law[PTO_A2A3][op] = law;
    }
    return true;
}

static bool load_programs(struct pto_costs *c, struct str text)
{
    struct csv csv;

    csv_open(&csv, text);
    while (csv_next(&csv)) {
        enum pto_opcode op = pto_cost_op(load_cell(&csv, "op"));
        enum pto_shape shape = load_shape_of(load_cell(&csv, "shape"));
        double n[6];

        if (op == PTO_OP_NONE || shape == PTO_SHAPE_NONE ||
            !read_numbers(&csv, "loads stores chain32 chain16 unit32 unit16", n))
            return false;
        c->program[op] = (struct pto_vf_program){n[0], n[1], {n[2], n[3]}, {n[4], n[5]}};
        c->law[PTO_A5][op] = (struct pto_law){.shape = shape, .slope = {1, 1, 1, 1}};
    }
    return true;
}

static bool find_arch(struct str name, enum pto_arch *arch)
{
    for (int a = 0; a < PTO_ARCH_COUNT; a++) {
        if (str_equal(name, str_of(pto_arch_name((enum pto_arch)a)))) {
            *arch = (enum pto_arch)a;
            return true;
        }
    }
    return false;
}

static bool load_paths(struct pto_costs *c, struct str text)
{
    struct csv csv;

    csv_open(&csv, text);
    while (csv_next(&csv)) {
        enum pto_arch arch;
        enum pto_space from, to;
        double n[3], miss[2] = {0};

        if (!find_arch(load_cell(&csv, "arch"), &arch) ||
            !pto_space_find(load_cell(&csv, "from"), &from) ||
            !pto_space_find(load_cell(&csv, "to"), &to) ||
            !read_numbers(&csv, "latency rate issue", n))
            return false;
        (void)(num_f64(load_cell(&csv, "miss_latency"), &miss[0]) &&
               num_f64(load_cell(&csv, "miss_rate"), &miss[1]));
        c->path[arch][from][to] = (struct pto_path){n[0], n[1], n[2], miss[0], miss[1]};
    }
    return true;
}

/* Where a key's number lives, and what it may be. */
struct cost_slot {
    double *at;
    struct pto_law *law; /* when it belongs to one */
    double least;
};

/* "tadd" and "bias", or a type with a slope. */
static bool find_law_slot(struct pto_costs *c, enum pto_arch arch, struct str name,
                          struct str field, struct cost_slot *slot)
{
    enum pto_opcode op = pto_cost_op(name);

    if (op == PTO_OP_NONE || c->law[arch][op].shape == PTO_SHAPE_NONE)
        return false;
    struct pto_law *law = &c->law[arch][op];
    if (str_equal(field, S("bias"))) {
        *slot = (struct cost_slot){&law->bias, law, -1e6};
        return true;
    }
    for (int r = 0; r < PTO_RATE_COUNT; r++) {
        if (str_equal(field, str_of(pto_rate_names[r]))) {
            *slot = (struct cost_slot){&law->slope[r], law, 0};
            return true;
        }
    }
    return false;
}

/* "gm.mat" and "latency", "rate", "issue", "miss_latency" or "miss_rate". */
static bool find_path_slot(struct pto_costs *c, enum pto_arch arch, struct str name,
                           struct str field, struct cost_slot *slot)
{
    enum pto_space from, to;
    size_t dot = str_find_char(name, '.');

    if (!pto_space_find(str_part(name, 0, dot), &from) ||
        !pto_space_find(str_part(name, dot + 1, name.n), &to) || c->path[arch][from][to].rate <= 0)
        return false;
    struct pto_path *path = &c->path[arch][from][to];
    if (str_equal(field, S("latency")))
        *slot = (struct cost_slot){.at = &path->latency};
    else if (str_equal(field, S("rate")))
        *slot = (struct cost_slot){.at = &path->rate, .least = 1e-3};
    else if (str_equal(field, S("issue")))
        *slot = (struct cost_slot){.at = &path->issue};
    else if (str_equal(field, S("miss_latency")))
        *slot = (struct cost_slot){.at = &path->miss_latency};
    else if (str_equal(field, S("miss_rate")))
        *slot = (struct cost_slot){.at = &path->miss_rate, .least = 1e-3};
    else
        return false;
    return true;
}

/* What the model divides by stays above 0. */
static bool find_slot(struct pto_costs *c, struct str key, struct cost_slot *slot)
{
    enum pto_arch arch;
    size_t last = key.n;

    for (size_t i = 0; i < PTO_COST_KEY_COUNT; i++) {
        if (str_equal(key, str_of(keys[i]))) {
            bool is_divisor = i == PTO_COST_GM_TURN_RATE || i == PTO_COST_A2A3_BRCB_ROWS ||
                              (i >= PTO_COST_GM_READ_TOTAL && i <= PTO_COST_A5_HBM);
            *slot = (struct cost_slot){.at = &c->value[i], .least = is_divisor ? 1e-3 : 0};
            return true;
        }
    }
    size_t first = str_find_char(key, '.');
    while (last > 0 && key.at[last - 1] != '.')
        last--;
    if (last < first + 2 || !find_arch(str_part(key, 0, first), &arch))
        return false;
    struct str name = str_part(key, first + 1, last - first - 2);
    struct str field = str_part(key, last, key.n);
    return find_law_slot(c, arch, name, field, slot) || find_path_slot(c, arch, name, field, slot);
}

static enum status unknown_key(struct str key, struct where where, struct diag *diag)
{
    const char *near = NULL;
    size_t least = 3;

    for (size_t i = 0; i < PTO_COST_KEY_COUNT; i++) {
        size_t d = str_distance(key, str_of(keys[i]), least);
        if (d < least) {
            least = d;
            near = keys[i];
        }
    }
    enum status st = diag_fail(diag, ST_FORMAT, "pto-cost.unknown-key", where,
                               "no constant is called %.*s", STR_ARGS(str_part(key, 0, 80)));

    if (near != NULL)
        diag_hint(diag, "try", "%s", near);
    else
        diag_hint(diag, "try",
                  "the keys of docs/cost-model.md: launch, a2a3.tadd.f32, "
                  "a2a3.gm.mat.rate, a5.tmax.bias ..");
    return st;
}

/* One row of a cost file into `c`; `seen` holds the places set so far. */
static enum status set_one(struct pto_costs *c, struct str key, struct str text, struct where where,
                           struct hash *seen, struct diag *diag)
{
    struct cost_slot slot;
    double value;

    if (!find_slot(c, key, &slot))
        return unknown_key(key, where, diag);
    uint64_t place = (uint64_t)((char *)slot.at - (char *)c);
    if (hash_add(seen, place, (uint32_t)where.line) != where.line)
        return diag_fail(diag, ST_FORMAT, "pto-cost.twice", where, "%.*s is given twice",
                         STR_ARGS(key));
    if (!num_f64(text, &value) || value < slot.least || value > 1e9)
        return diag_fail(diag, ST_FORMAT, "pto-cost.bad-value", where,
                         "%.*s needs a number from %g to 1e9", STR_ARGS(key), slot.least);
    *slot.at = value;
    if (slot.law != NULL)
        slot.law->is_replaced = true;
    return ST_OK;
}

enum status pto_costs_read(struct pto_costs *c, struct str text, const char *path,
                           struct diag *diag)
{
    struct csv csv;
    struct hash seen = {0};
    enum status st = ST_OK;

    csv_open(&csv, text);
    int key = csv_column(&csv, S("key")), value = csv_column(&csv, S("value"));
    if (key < 0 || value < 0)
        return diag_fail(diag, ST_FORMAT, "pto-cost.no-columns",
                         (struct where){.path = path, .line = 1},
                         "a cost file is a table with the columns key and value");
    while (st == ST_OK && csv_next(&csv))
        st = set_one(c, str_trim(csv_cell(&csv, key)), csv_cell(&csv, value),
                     (struct where){.path = path, .line = csv.line}, &seen, diag);
    hash_free(&seen);
    return st;
}

enum status pto_costs_load(struct pto_costs *c, const char *path, struct diag *diag)
{
    struct mapfile map;

    TRY(mapfile_open(&map, path, diag));
    enum status st =
        map.text.n <= LIMIT_COST_FILE
            ? pto_costs_read(c, map.text, path, diag)
            : diag_fail(diag, ST_LIMIT, "pto-cost.too-large", (struct where){.path = path},
                        "a cost file has at most %d bytes", LIMIT_COST_FILE);
    mapfile_close(&map);
    return st;
}

struct pto_costs *pto_costs_new(void)
{
    struct pto_costs *c = mem_grow(NULL, sizeof(*c), 1);
    struct str numbers = embedded_file("pto/cost.csv");
    struct diag diag;

    *c = (struct pto_costs){.use_table = true};
    diag_init(&diag);
    /* The tables are part of the program: a bad one is a mistake that the tests find. */
    bool is_good = pto_costs_read(c, numbers, "cost.csv", &diag) == ST_OK &&
                   load_vector(c, embedded_file("pto/a2a3_vector.csv")) &&
                   load_programs(c, embedded_file("pto/a5_vector.csv")) &&
                   load_paths(c, embedded_file("pto/paths.csv")) &&
                   pto_table_load(c, embedded_file("pto/a2a3_fit.csv")) &&
                   pto_curves_load(c, embedded_file("pto/a5_curves.csv"));
    assert(is_good);
    (void)is_good;
    diag_fini(&diag);
    return c;
}

void pto_costs_free(struct pto_costs *c)
{
    if (c == NULL)
        return;
    hash_free(&c->fit_index);
    hash_free(&c->curve_index);
    vec_free(&c->fits);
    vec_free(&c->curves);
    mem_free(c);
}

double pto_costs_get(const struct pto_costs *c, enum pto_cost_key key)
{
    return c->value[key];
}
