/*
 * One kernel: read, bound to its arguments, run block by block.
 */
#include "kernels/pto/pto_kernel.h"

#include "kernels/pto/judge/race_check.h"
#include "kernels/pto/pto_buffers.h"
#include "kernels/pto/text/verify.h"
#include "report/record.h"

/* Buffers larger than this are refused: a dimension nobody knows would ask for it. */
#define MOST_BYTES ((size_t)4 << 30)

void pto_kernel_init(struct pto_kernel *k)
{
    memset(k, 0, sizeof(*k));
    arena_init(&k->arena);
    pto_module_init(&k->module);
    pto_sim_init(&k->sim);
    pto_outcome_init(&k->outcome);
    k->parser = pto_parser_new();
}

static void drop_buffers(struct pto_kernel *k)
{
    for (size_t i = 0; i < k->bindings.n; i++)
        mem_free(k->bindings.at[i].data);
    k->bindings.n = 0;
    k->args.n = 0;
}

void pto_kernel_free(struct pto_kernel *k)
{
    drop_buffers(k);
    vec_free(&k->bindings);
    vec_free(&k->args);
    vec_free(&k->blocks);
    pto_outcome_free(&k->outcome);
    pto_sim_free(&k->sim);
    pto_module_fini(&k->module);
    pto_parser_free(k->parser);
    arena_free(&k->arena);
    mapfile_close(&k->map);
}

void pto_kernel_trim(struct pto_kernel *k)
{
    pto_sim_free(&k->sim);
    pto_parser_free(k->parser);
    k->parser = NULL;
    k->has_longest = false;
}

/* ---- reading ---- */

/* A text made of another file tells that file's lines. */
static void move_lines(struct pto_module *m, const struct pto_setup *setup)
{
    for (size_t i = 0; setup->lines && i < m->ops.n; i++) {
        uint32_t line = m->ops.at[i].line;
        m->ops.at[i].line = line < setup->n_lines ? setup->lines[line] : 0;
    }
}

enum status pto_kernel_load(struct pto_kernel *k, const struct pto_setup *setup, struct diag *d)
{
    mapfile_close(&k->map);
    arena_free(&k->arena);
    arena_init(&k->arena);
    k->path = setup->path;
    k->map = (struct mapfile){0};
    k->text = setup->text;
    if (setup->text.at == NULL) {
        TRY(mapfile_open(&k->map, setup->path, d));
        k->text = k->map.text;
    }
    if (setup->n_params > 0 || text_params_any(k->text))
        TRY(text_params_fill(k->text, setup->path, setup->params, setup->n_params, &k->arena,
                             &k->text, d));
    if (pto_parse(k->parser, k->text, &k->module) != ST_OK || pto_verify(&k->module) != ST_OK)
        return pto_describe(&k->module, setup->path, d);
    move_lines(&k->module, setup);
    if (setup->source.at != NULL)
        k->text = setup->source;
    k->arch = setup->target >= 0 ? (enum pto_arch)setup->target : k->module.arch;
    TRY(pto_chip_find(setup->chip, k->arch, &k->chip, d));
    if (setup->target < 0 && setup->chip.n > 0 && !k->module.has_arch)
        k->arch = k->chip.arch;
    if (k->chip.arch != k->arch)
        return diag_fail(d, ST_UNSUPPORTED, "pto-sim.chip-arch",
                         (struct where){.path = setup->path},
                         "the kernel is for %s, but chip %.*s has another architecture",
                         pto_arch_name(k->arch), STR_ARGS(k->chip.name));
    k->sim.is_flagged = setup->is_flagged;
    return pto_sim_prepare(&k->sim, &k->module, setup->func, k->arch, setup->is_dep, setup->path,
                           d);
}

/* ---- arguments ---- */

static const struct pto_function *wider(const struct pto_kernel *k)
{
    const struct pto_function *a = k->sim.function[0], *b = k->sim.function[1];

    return !a || (b && b->arg_count > a->arg_count) ? b : a;
}

int64_t pto_kernel_arg(const struct pto_kernel *k, struct str name, const char *path,
                       struct diag *d)
{
    int64_t number;

    if (name.n > 0 && *name.at == '%')
        name = str_part(name, 1, name.n);
    for (size_t i = 0; i < k->args.n; i++)
        if (str_equal(k->args.at[i].name, name))
            return (int64_t)i;
    if (num_i64(name, &number) && number >= 0 && (uint64_t)number < k->args.n)
        return number;
    (void)diag_fail(d, ST_NOT_FOUND, "pto-sim.no-argument", (struct where){.path = path},
                    "the kernel has no argument %.*s", STR_ARGS(name));
    for (size_t i = 0; i < k->args.n; i++)
        diag_hint(d, "has", "%.*s", STR_ARGS(k->args.at[i].name));
    return -1;
}

static enum status bind_scalar(struct pto_kernel *k, const struct text_param *g, const char *path,
                               struct diag *d)
{
    struct where where = {.path = path};
    int64_t arg = pto_kernel_arg(k, g->name, path, d);

    if (arg < 0)
        return ST_NOT_FOUND;
    const struct pto_type *type = pto_value_type(&k->module, wider(k), (uint32_t)arg);
    struct pto_binding *b = &k->bindings.at[arg];
    if (type->kind != PTO_TYPE_SCALAR) {
        diag_hint(d, "try", "--input or --fill");
        return diag_fail(d, ST_FORMAT, "pto-sim.argument", where, "%.*s is a pointer",
                         STR_ARGS(g->name));
    }
    bool is_float = pto_dtype_is_float(type->dtype);
    if (is_float ? !num_f64(g->value, &b->real) : !num_i64(g->value, &b->number))
        return diag_fail(d, ST_FORMAT, "pto-sim.argument", where,
                         "%.*s is not a valid value for %.*s: %s", STR_ARGS(g->value),
                         STR_ARGS(g->name), pto_dtype_name(type->dtype));
    b->is_given = k->args.at[arg].is_given = true;
    return ST_OK;
}

static enum status pointer_arg(struct pto_kernel *k, const struct text_param *g, const char *path,
                               struct diag *d, size_t *arg, size_t *bytes)
{
    int64_t found = pto_kernel_arg(k, g->name, path, d);

    if (found < 0)
        return ST_NOT_FOUND;
    *arg = (size_t)found;
    *bytes = pto_gm_bytes(&k->args.at[found].size);
    if (!k->args.at[found].size.is_pointer) {
        diag_hint(d, "try", "--arg %.*s=VALUE", STR_ARGS(g->name));
        return diag_fail(d, ST_FORMAT, "pto-sim.argument", (struct where){.path = path},
                         "%.*s is a scalar, not a buffer", STR_ARGS(g->name));
    }
    if (*bytes > MOST_BYTES)
        return diag_fail(d, ST_LIMIT, "pto-sim.buffer-size", (struct where){.path = path},
                         "the buffer of %.*s would need %zu bytes", STR_ARGS(g->name), *bytes);
    return ST_OK;
}

static void make_buffer(struct pto_binding *b, size_t bytes)
{
    b->data = mem_grow(b->data, 1, bytes + 1);
    b->size = bytes;
    memset(b->data, 0, bytes);
}

static enum status bind_buffers(struct pto_kernel *k, const struct pto_setup *setup, struct diag *d)
{
    size_t arg, bytes;

    for (size_t i = 0; i < setup->n_inputs; i++) {
        TRY(pointer_arg(k, &setup->inputs[i], setup->path, d, &arg, &bytes));
        TRY(pto_buffer_read(arena_cstr(&k->arena, setup->inputs[i].value), bytes,
                            &k->bindings.at[arg], d));
        k->args.at[arg].is_given = true;
    }
    for (size_t i = 0; i < setup->n_fills; i++) {
        TRY(pointer_arg(k, &setup->fills[i], setup->path, d, &arg, &bytes));
        make_buffer(&k->bindings.at[arg], bytes);
        TRY(pto_buffer_fill(k->bindings.at[arg].data, bytes, k->args.at[arg].size.dtype,
                            setup->fills[i].value, setup->seed, arg, d));
        k->args.at[arg].is_given = true;
    }
    for (size_t i = 0; setup->has_memory && i < k->args.n; i++) {
        struct text_param g = {.name = k->args.at[i].name};
        if (!k->args.at[i].size.is_pointer || k->args.at[i].is_given)
            continue;
        TRY(pointer_arg(k, &g, setup->path, d, &arg, &bytes));
        make_buffer(&k->bindings.at[i], bytes);
    }
    return ST_OK;
}

enum status pto_kernel_bind(struct pto_kernel *k, const struct pto_setup *setup, struct diag *d)
{
    const struct pto_function *f = wider(k);

    drop_buffers(k);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        strid name = pto_value_at(&k->module, f, i)->name;
        vec_push(&k->args, ((struct pto_bound_arg){.name = intern_get(&k->module.names, name)}));
        vec_push(&k->bindings, ((struct pto_binding){0}));
    }
    for (size_t i = 0; i < setup->n_args; i++)
        TRY(bind_scalar(k, &setup->args[i], setup->path, d));
    for (size_t i = 0; i < k->args.n; i++)
        if (!k->args.at[i].is_given)
            k->bindings.at[i].number = PTO_ASSUMED;
    struct pto_gm_scalar *scalars = ARENA_ARRAY(&k->arena, struct pto_gm_scalar, k->args.n + 1);
    struct pto_gm_size *sizes = ARENA_ARRAY(&k->arena, struct pto_gm_size, k->args.n + 1);
    bool join = false;
    for (size_t i = 0; i < k->args.n; i++)
        scalars[i] = (struct pto_gm_scalar){k->args.at[i].is_given, k->bindings.at[i].number};
    for (size_t i = 0; i < 2; i++) {
        if (k->sim.function[i])
            pto_gm_sizes(&k->module, k->sim.function[i], scalars, join, sizes);
        join = join || k->sim.function[i];
    }
    for (size_t i = 0; i < k->args.n; i++)
        k->args.at[i].size = sizes[i];
    return bind_buffers(k, setup, d);
}

/* ---- running ---- */

/* Blocks that an AI core runs at a time: its two vector cores are one each. */
static int64_t blocks_a_core(const struct pto_kernel *k)
{
    return k->sim.function[0] ? 1 : 2;
}

static struct pto_options options_of(const struct pto_kernel *k, const struct pto_setup *setup,
                                     const struct pto_costs *costs)
{
    struct pto_options o = pto_options_default(k->arch);
    int64_t a_core = blocks_a_core(k);

    o.is_dep = setup->is_dep;
    o.has_memory = setup->has_memory;
    o.blocks = setup->blocks > 0 ? setup->blocks : 1;
    o.l2_hit = setup->has_l2_hit ? setup->l2_hit : -1;
    o.cores = (int32_t)setup->cores;
    if (o.cores <= 0)
        o.cores = (int32_t)((o.blocks + a_core - 1) / a_core);
    if (setup->cores <= 0 && k->chip.aic > 0 && o.cores > k->chip.aic)
        o.cores = (int32_t)k->chip.aic;
    /* Cycles on a core before its first instruction: cores are started one after another. */
    int64_t started = o.cores > 1 ? o.cores * a_core : 1;
    double first =
        pto_costs_get(costs, k->arch == PTO_A5 ? PTO_COST_A5_START : PTO_COST_A2A3_START);
    o.start =
        pto_whole_cycles(first + (double)(started - 1) * pto_costs_get(costs, PTO_COST_START_CORE));
    if (setup->max_steps > 0)
        o.max_steps = setup->max_steps;
    if (setup->max_records > 0)
        o.max_records = setup->max_records;
    o.counts_steps = setup->is_kept;
    return o;
}

/* Scalars that nobody gave a value decide how long a kernel runs. */
static void warn_of_scalars(struct pto_kernel *k, const struct pto_setup *setup, struct diag *d)
{
    struct str list = S("");

    for (size_t i = 0; i < k->args.n; i++) {
        struct str name = k->args.at[i].name;
        uint32_t line = 0; /* of the first loop or branch that it decides */
        for (size_t m = k->outcome.assumed.n; m > 0; m--) {
            const struct pto_assumed *a = &k->outcome.assumed.at[m - 1];
            if (!a->is_pointer && str_equal(a->name, name))
                line = a->line;
        }
        if (k->args.at[i].is_given || line == 0 || str_starts(name, S("__pypto_spmd_")))
            continue;
        list = arena_format(&k->arena, "%.*s%s%.*s = %d (line %u)", STR_ARGS(list),
                            list.n > 0 ? ", " : "", STR_ARGS(name), PTO_ASSUMED, line);
    }
    if (list.n > 0)
        diag_add(d, SEV_WARN, "pto-sim.assumed", (struct where){.path = setup->path},
                 "arguments without a value that decide a loop or branch: %.*s; set them with "
                 "--arg NAME=VALUE",
                 STR_ARGS(list));
}

/* With memory a kernel went its way by data that nobody supplied: as assumed as without. */
static void note_zero_filled(struct pto_kernel *k)
{
    struct pto_outcome *o = &k->outcome;
    bool reads = false;

    for (size_t f = 0; f < 2; f++) {
        const struct pto_program *p = &k->sim.program[f];
        for (size_t i = 0; k->sim.function[f] && i < p->sites.n; i++)
            reads = reads || p->sites.at[i].code == PTO_LOAD_SCALAR ||
                    p->sites.at[i].code == PTO_TGETVAL;
    }
    for (size_t i = 0; i < k->args.n && reads; i++)
        if (k->args.at[i].size.is_pointer && !k->args.at[i].is_given && pto_outcome_is_idle(o))
            o->is_degenerate = true;
}

/* Copies of the buffers that a run may write to. */
static unsigned char **keep_buffers(const struct pto_kernel *k)
{
    unsigned char **kept = mem_grow(NULL, sizeof(*kept), k->bindings.n + 1);

    for (size_t i = 0; i < k->bindings.n; i++) {
        const struct pto_binding *b = &k->bindings.at[i];
        kept[i] = b->data ? mem_grow(NULL, 1, b->size + 1) : NULL;
        if (b->data)
            memcpy(kept[i], b->data, b->size);
    }
    return kept;
}

static void restore_buffers(struct pto_kernel *k, unsigned char **kept)
{
    for (size_t i = 0; i < k->bindings.n; i++) {
        if (kept[i])
            memcpy(k->bindings.at[i].data, kept[i], k->bindings.at[i].size);
        mem_free(kept[i]);
    }
    mem_free(kept);
}

/* What the flags of the text leave open, and with data what is read before it is written. */
static void watch_races(struct pto_kernel *k, const struct pto_costs *costs,
                        const struct pto_setup *setup, struct diag *d)
{
    bool has_flags = (k->sim.function[0] && k->sim.program[0].has_flags) ||
                     (k->sim.function[1] && k->sim.program[1].has_flags);
    struct pto_options options = k->options;
    struct pto_races races;

    k->races = 0;
    if (!setup->watches_races || (!has_flags && !setup->has_memory))
        return;
    unsigned char **kept = keep_buffers(k);
    pto_races_init(&races);
    if (options.max_steps > PTO_RACE_STEPS)
        options.max_steps = PTO_RACE_STEPS;
    (void)pto_race_check(&races, &k->sim, costs, options, k->bindings.at, (uint32_t)k->bindings.n,
                         setup->path, NULL);
    for (size_t i = 0; i < races.found.n; i++) {
        const struct pto_race *f = &races.found.at[i];
        if (f->kind == PTO_RACE_EMPTY ? !setup->has_memory : !has_flags)
            continue;
        k->races += f->is_grave;
        diag_add(d, SEV_WARN, pto_race_code(f->kind),
                 (struct where){setup->path, pto_race_line(f), 0}, "%s",
                 pto_race_text(f, &races.arena));
    }
    pto_races_free(&races);
    restore_buffers(k, kept);
}

/* Blocks go round the cores. Only the first of a core waits for the launch, which `start`
 * counts. */
enum status pto_kernel_run(struct pto_kernel *k, const struct pto_costs *costs,
                           const struct pto_setup *setup, struct diag *d)
{
    int64_t longest = -1;

    k->options = options_of(k, setup, costs);
    k->cores = k->options.cores * blocks_a_core(k);
    if (k->cores > k->options.blocks)
        k->cores = k->options.blocks;
    int64_t *busy = ARENA_ARRAY(&k->arena, int64_t, (size_t)k->cores + 1);
    k->blocks.n = 0;
    k->total = 0;
    watch_races(k, costs, setup, d);
    for (int64_t i = 0; i < k->options.blocks; i++) {
        k->options.block = i;
        TRY(pto_sim_run(&k->sim, costs, &k->options, k->bindings.at, (uint32_t)k->bindings.n,
                        setup->path, d));
        vec_push(&k->blocks, k->sim.total);
        busy[i % k->cores] += k->sim.total - (i < k->cores ? 0 : k->options.start);
        if (busy[i % k->cores] > k->total)
            k->total = busy[i % k->cores];
        if (k->sim.total > longest) {
            longest = k->sim.total;
            k->longest = i;
            pto_outcome_fill(&k->outcome, &k->sim, &k->chip);
        }
    }
    k->options.block = k->longest;
    k->has_longest = k->longest + 1 == k->options.blocks;
    k->total_us = pto_outcome_us(&k->outcome, k->total);
    if (setup->has_memory)
        note_zero_filled(k);
    warn_of_scalars(k, setup, d);
    return ST_OK;
}

enum status pto_kernel_again(struct pto_kernel *k, struct pto_sim *sim,
                             const struct pto_costs *costs, const struct pto_options *options,
                             struct diag *d)
{
    unsigned char **kept = keep_buffers(k);

    k->has_longest = k->has_longest && sim != &k->sim;
    enum status status = pto_sim_run(sim, costs, options, k->bindings.at, (uint32_t)k->bindings.n,
                                     k->sim.machine.path, d);
    restore_buffers(k, kept);
    return status;
}

enum status pto_kernel_restore(struct pto_kernel *k, const struct pto_costs *costs, struct diag *d)
{
    if (k->has_longest)
        return ST_OK;
    TRY(pto_kernel_again(k, &k->sim, costs, &k->options, d));
    k->has_longest = true;
    return ST_OK;
}

/* ---- for programs ---- */

static struct field_value kernel_type_of(const void *arg, const struct record_env *env)
{
    const struct pto_gm_size *size = &((const struct pto_bound_arg *)arg)->size;

    (void)env;
    return size->is_pointer ? value_text(str_of(pto_dtype_name(size->dtype))) : value_none();
}

static struct field_value elements_of(const void *arg, const struct record_env *env)
{
    const struct pto_gm_size *size = &((const struct pto_bound_arg *)arg)->size;

    (void)env;
    return size->is_pointer ? value_int(pto_gm_elements(size)) : value_none();
}

static const struct field arg_fields[] = {
    FIELD(struct pto_bound_arg, name, "name"),
    FIELD(struct pto_bound_arg, is_given, "given"),
    FIELD_CALC(FIELD_STR, "type", kernel_type_of, .is_optional = true),
    FIELD_CALC(FIELD_I64, "elements", elements_of, .is_optional = true),
    FIELD(struct pto_bound_arg, size.is_dynamic, "dynamic",
          .about = "a dimension is known only at run time",
          WHEN(struct pto_bound_arg, size.is_pointer), .is_optional = true),
};
static const struct record arg_record = RECORD(struct pto_bound_arg, arg_fields);

static const struct field kernel_fields[] = {
    FIELD(struct pto_kernel, path, "path"),
    FIELD(struct pto_kernel, total, "total_cycles",
          .about = "of all blocks, until the last core has finished"),
    FIELD(struct pto_kernel, total_us, "total_us"),
    FIELD_VALUES(struct pto_kernel, blocks.at, blocks.n, "blocks", .about = "cycles of each block"),
    FIELD(struct pto_kernel, longest, "block",
          .about = "the longest block, which the rest describes"),
    FIELD_SPLICE(struct pto_kernel, outcome, &pto_outcome_record),
    FIELD_LIST(struct pto_kernel, args.at, args.n, "arguments", &arg_record),
};
const struct record pto_kernel_record = RECORD(struct pto_kernel, kernel_fields);
