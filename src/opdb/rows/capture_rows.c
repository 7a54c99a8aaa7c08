/*
 * Operators of captures as rows. See capture_rows.h.
 */
#include "opdb/rows/capture_rows.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/ops/op_tree.h"
#include "base/files/fs.h"
#include "base/tables/hash.h"
#include "base/tables/ranked.h"
#include "capture/classify.h"
#include "input/input.h"
#include "opdb/compare/compare_literal.h"
#include "opdb/predict/query.h"
#include "opdb/predict/work.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/op_tables.h"
#include "opdb/rows/table.h"
#include "ops/dtype.h"
#include "ops/shape.h"

/* Operators that have a table under another name; inputs before the first are outputs. */
static const struct known_op {
    struct str name, table;
    unsigned skip;
} known_ops[] = {
    {S_INIT("aten::mm"), S_INIT("MatMulV2"), 0},
    {S_INIT("aten::addmm"), S_INIT("MatMulV2"), 1},
    {S_INIT("aten::_scaled_mm"), S_INIT("MatMulV2"), 0},
    {S_INIT("aten::bmm"), S_INIT("BatchMatMulV2"), 0},
    {S_INIT("aten::scaled_dot_product_attention"), S_INIT("FusedInferAttentionScore"), 0},
    {S_INIT("aten::embedding"), S_INIT("GatherV2"), 0},
    {S_INIT("aten::index_select"), S_INIT("GatherV2"), 0},
    {S_INIT("aten::argmax"), S_INIT("ArgMaxV2"), 0},
    {S_INIT("aten::rms_norm"), S_INIT("RmsNorm"), 0},
    {S_INIT("aten::layer_norm"), S_INIT("LayerNormV3"), 0},
    {S_INIT("aten::add"), S_INIT("Add"), 0},
    {S_INIT("aten::mul"), S_INIT("Mul"), 0},
    {S_INIT("aten::silu"), S_INIT("Swish"), 0},
    {S_INIT("aten::gelu"), S_INIT("Gelu"), 0},
    {S_INIT("aten::cat"), S_INIT("ConcatD"), 0},
    {S_INIT("aten::_softmax"), S_INIT("SoftmaxV2"), 0},
    {S_INIT("aten::copy_"), S_INIT("TensorMove"), 1},
    {S_INIT("_C::rms_norm"), S_INIT("RmsNorm"), 1},
    {S_INIT("_C::fused_add_rms_norm"), S_INIT("AddRmsNormBias"), 0},
    {S_INIT("_C::silu_and_mul"), S_INIT("SwiGlu"), 1},
    {S_INIT("_C_cache_ops::reshape_and_cache_flash"), S_INIT("ReshapeAndCacheNdKernel"), 0},
};

/* Calls of one operator with equal inputs. */
struct call_group {
    struct str op, in, types, out, out_types, formats, out_formats;
    bool is_comm;
    double bytes, devices;
    VEC_OF(double) us;
    uint64_t kernels; /* of the first call */
};

struct gathering {
    struct arena arena;
    struct hash seen;
    VEC_OF(struct call_group) groups;
    struct capture_rows_count *count;
};

/* The table of an operator of a framework, "" for none; namespaces of engines name kernel types. */
static struct str table_of(struct str name, unsigned *skip)
{
    size_t colon = str_find(name, S("::"));
    struct str own = colon < name.n ? str_part(name, colon + 2, name.n) : S("");

    *skip = 0;
    for (size_t i = 0; i < ARRAY_LEN(known_ops); i++)
        if (str_equal(name, known_ops[i].name)) {
            *skip = known_ops[i].skip;
            return known_ops[i].table;
        }
    bool is_type =
        own.n > 0 && ((own.at[0] >= 'A' && own.at[0] <= 'Z') || str_ends(own, S("_kernel")));
    return is_type && !str_starts(name, S("aten::")) ? own : S("");
}

/* "16,64;;64,32" without its first `skip` entries; entries that are no tensors go. */
static void read_inputs(struct arena *arena, struct str shapes, struct str types, unsigned skip,
                        struct call_group *out)
{
    struct str rest = literal_shapes(arena, shapes), part, name;

    for (unsigned i = 0; rest.at != NULL && str_split(&rest, ';', &part); i++) {
        if (types.at == NULL || !str_split(&types, ';', &name))
            name = S("");
        part = str_trim(part);
        name = str_trim(name);
        if (i < skip || part.n == 0)
            continue;
        const char *between = out->in.n > 0 ? ";" : "";
        out->in = arena_format(arena, "%.*s%s%.*s", STR_ARGS(out->in), between, STR_ARGS(part));
        out->types = arena_format(arena, "%.*s%s%.*s", STR_ARGS(out->types), between,
                                  STR_ARGS(cell_dtype(arena, name)));
    }
}

/* "DT_c10::BFloat16;DT_long int" as "DT_BF16;INT64"; all the same one where `type` is one. */
static struct str database_types(struct arena *arena, struct str types, enum dtype type)
{
    struct str out = S(""), part;

    while (types.at != NULL && types.n > 0 && str_split(&types, ';', &part)) {
        struct str known = dtype_ascend(type != DTYPE_NONE ? type : dtype_of(part));
        part = known.n > 0 ? known : part;
        out =
            arena_format(arena, "%.*s%s%.*s", STR_ARGS(out), out.n > 0 ? ";" : "", STR_ARGS(part));
    }
    return out;
}

static void add_call(struct gathering *g, const struct call_group *call, double us,
                     uint64_t kernels)
{
    const struct str texts[] = {call->op, call->in, call->types, call->out, call->formats};
    uint64_t key = hash_mix(num_u64_of(call->bytes), num_u64_of(call->devices));

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        key = hash_mix(key, hash_bytes(texts[i]));
    uint32_t place = hash_add(&g->seen, key, (uint32_t)g->groups.n);
    if (place == g->groups.n) {
        struct call_group fresh = *call;
        fresh.kernels = kernels;
        vec_push(&g->groups, fresh);
    }
    vec_push(&g->groups.at[place].us, us);
    g->count->calls++;
    g->count->placed += kernels;
}

/* An operator of a framework as it was recorded. */
struct recorded_op {
    struct str name, shapes, types; /* empty: not recorded */
};

/* PyTorch puts the shapes into the names of its NVTX ranges: "aten::mm, op_id = 12, sizes =
 * [[16, 64], [64, 32]], input_op_ids = …". */
static struct recorded_op recorded_op(const struct capture *cap, uint32_t slice)
{
    struct recorded_op op = {capture_text(cap, cap->slices.name[slice]),
                             capture_slice_text(cap, slice, KEY_INPUT_SHAPES),
                             capture_slice_text(cap, slice, KEY_INPUT_DTYPES)};
    struct str mark = S(", sizes = ");
    size_t at = str_find(op.name, mark);

    if (op.shapes.n > 0 || at == op.name.n)
        return op;
    struct str rest = str_part(op.name, at + mark.n, op.name.n);
    size_t end = str_find(rest, S("]]"));
    if (end < rest.n)
        op.shapes = str_part(rest, 0, end + 2);
    op.name = str_part(op.name, 0, str_find_char(op.name, ','));
    return op;
}

/* The operators from which arrows lead to device work, by slice: the call that launched it may be
 * on the thread behind a task queue, outside of them. For mem_free(). */
static uint32_t *arrows_from_ops(const struct capture *cap)
{
    const struct slices *s = &cap->slices;
    uint32_t *from = mem_grow(NULL, sizeof(*from), s->n + 1);

    memset(from, 0xff, sizeof(*from) * (s->n + 1));
    for (size_t i = 0; i < cap->flows.n; i++) {
        const struct flow *f = &cap->flows.at[i];
        if (f->kind == FLOW_LAUNCH && s->kind[f->from] == SLICE_HOST_OP)
            from[f->to] = f->from;
    }
    return from;
}

/* The operator with shapes that a host event counts for, or OP_TREE_NONE. */
static uint32_t operator_around(const struct capture *cap, const struct op_tree *tree, uint32_t at)
{
    enum { DEPTH = 1000 }; /* no stack of a program; a made-up file may be deeper */
    uint32_t found = OP_TREE_NONE, innermost = OP_TREE_NONE;
    unsigned skip;

    for (int i = 0; at != OP_TREE_NONE && i < DEPTH; i++, at = tree->parent[at]) {
        struct recorded_op op = recorded_op(cap, at);
        if (op.shapes.n > 0 && innermost == OP_TREE_NONE)
            innermost = at;
        if (op.shapes.n > 0 && table_of(op.name, &skip).n > 0)
            found = at;
    }
    return found != OP_TREE_NONE ? found : innermost;
}

static struct attr attr_of(const struct capture *cap, size_t slice, const char *name)
{
    strid key = intern_find(&cap->strings, str_of(name));
    struct attr a = {0};

    if (key != 0)
        a = attrs_get(&cap->attrs, cap->slices.own[slice], key);
    if (a.type == ATTR_NONE && key != 0)
        a = attrs_get(&cap->attrs, cap->slices.set[slice], key);
    return a;
}

static double attr_number(const struct capture *cap, size_t slice, const char *name)
{
    struct attr a = attr_of(cap, slice, name);
    double value = 0;

    if (a.type == ATTR_INT)
        return (double)a.number;
    if (a.type == ATTR_TEXT)
        cell_number(capture_text(cap, a.text), &value);
    return value;
}

/* ncclDevKernel_AllReduce_Sum_bf16_RING_LL, hcom_allReduce__123_0_1: the collective's table. */
static struct str comm_table(struct str name)
{
    static const struct {
        struct str part, name;
    } names[] = {{S_INIT("allreduce"), S_INIT("all_reduce")},
                 {S_INIT("allgather"), S_INIT("all_gather")},
                 {S_INIT("reducescatter"), S_INIT("reduce_scatter")},
                 {S_INIT("alltoallv"), S_INIT("all_to_all_v")},
                 {S_INIT("alltoall"), S_INIT("all_to_all")},
                 {S_INIT("broadcast"), S_INIT("broadcast")}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_contains_nocase(name, names[i].part))
            return query_comm_kernel(names[i].name);
    return S("");
}

/* A collective whose size and group are recorded. */
static bool read_comm(const struct capture *cap, size_t slice, struct call_group *out)
{
    double elements = attr_number(cap, slice, "In msg nelems");
    double devices = attr_number(cap, slice, "Group size");
    struct attr type = attr_of(cap, slice, "dtype");
    struct str dtype = type.type == ATTR_TEXT ? capture_text(cap, type.text) : S("");

    *out = (struct call_group){
        .op = comm_table(capture_text(cap, cap->slices.name[slice])),
        .is_comm = true,
        .bytes = elements * dtype_bytes(dtype_of(dtype)),
        .devices = devices,
    };
    return out->op.n > 0 && out->bytes > 0 && devices >= 1;
}

/* Kernels of one call, as they are met in order of time. */
struct open_call {
    uint32_t op;
    struct str kernel; /* name of the first */
    double us;
    uint64_t kernels;
};

/* aclnnAddRmsNorm_AddRmsNorm_AddRmsNorm: the type of a kernel whose table does not have it. */
static struct str kernel_type(struct str name)
{
    size_t from = name.n;

    if (!str_starts(name, S("aclnn")))
        return S("");
    while (from > 0 && name.at[from - 1] != '_')
        from--;
    return from > 0 ? str_part(name, from, name.n) : S("");
}

/* Clears memory for the kernel behind it: the time of no operator with shapes. */
static bool is_memset(const struct capture *cap, size_t slice)
{
    struct str type = cell_bare(capture_slice_text(cap, slice, KEY_TYPE));
    struct str name = kernel_type(capture_text(cap, cap->slices.name[slice]));

    return str_starts(type, S("MemSet")) || str_starts(name, S("MemSet"));
}

/* Shapes that are lists of numbers and types that are none, which a product can have: exports that
 * swap columns or join a kernel with the shapes of another are not believed. */
static bool call_fits(struct gathering *g, const struct call_group *c)
{
    struct query_row row;
    struct str rest = c->types, type;

    if (!query_row_read(&g->arena, c->in, c->types, c->formats, -1, &row))
        return false;
    while (rest.n > 0 && str_split(&rest, ';', &type))
        if (type.n > 0 && type.at[0] >= '0' && type.at[0] <= '9')
            return false;
    if (!query_is_matmul(c->op))
        return true;
    /* Folded outputs are padded: their elements tell nothing. */
    bool is_folded = str_contains(c->out_formats, S("NZ"));
    struct cell_dims out;
    double made = 0;
    if (!is_folded && c->out.n > 0 && cell_dims(&g->arena, c->out, &out)) {
        made = 1;
        for (size_t i = 0; i < out.n; i++)
            made *= (double)out.at[i];
    }
    return work_is_product(row.inputs, made);
}

/* A call without recorded types has those that the name of its kernel gives; one of no known
 * operator is filed under its kernel's kind, else under its own name made a file name. */
static void close_call(struct gathering *g, const struct capture *cap, struct open_call *c)
{
    struct call_group call = {0};
    unsigned skip;

    if (c->kernels == 0)
        return;
    struct recorded_op op = recorded_op(cap, c->op);
    struct str name = op.name;
    call.op = table_of(name, &skip);
    read_inputs(&g->arena, op.shapes, op.types, skip, &call);
    /* Types that were not recorded: that of the kernel's name for all, as far as it has one. */
    enum dtype type = op.types.n == 0 ? dtype_in(c->kernel) : DTYPE_NONE;
    call.types = database_types(&g->arena, call.types, type);
    if (call.op.n == 0)
        call.op = kernel_type(c->kernel);
    if (call.op.n == 0) {
        char *own = arena_cstr(&g->arena, name);
        for (size_t i = 0; i < name.n; i++)
            own[i] = own[i] == ':' || own[i] == '/' || own[i] == ' ' ? '_' : own[i];
        call.op = str_of(own);
    }
    call.op = arena_str(&g->arena, call.op);
    if (call.in.n > 0 && call.op.n < 200 && call_fits(g, &call))
        add_call(g, &call, c->us, c->kernels);
    else if (call.in.n > 0)
        g->count->misfits += c->kernels;
    *c = (struct open_call){0};
}

static struct str own_text(struct gathering *g, const struct capture *cap, size_t slice,
                           enum capture_key key)
{
    return arena_str(&g->arena, cell_bare(capture_slice_text(cap, slice, key)));
}

/* A kernel that knows its operator by itself. */
static bool read_kernel(struct gathering *g, const struct capture *cap, size_t slice,
                        struct call_group *out)
{
    *out = (struct call_group){
        .op = own_text(g, cap, slice, KEY_TYPE),
        .in = own_text(g, cap, slice, KEY_INPUT_SHAPES),
        .types = own_text(g, cap, slice, KEY_INPUT_DTYPES),
        .out = own_text(g, cap, slice, KEY_OUTPUT_SHAPES),
        .out_types = own_text(g, cap, slice, KEY_OUTPUT_DTYPES),
        .formats = own_text(g, cap, slice, KEY_INPUT_FORMATS),
        .out_formats = own_text(g, cap, slice, KEY_OUTPUT_FORMATS),
    };
    return out->op.n > 0 && out->op.n < 200 && out->in.n > 0 &&
           !str_equal_nocase(out->in, S("N/A")) && str_find_char(out->op, '/') == out->op.n;
}

/* Kernels in a row of one operator are one call, whose time is their sum. */
static void capture_rows_gather(struct gathering *g, const struct capture *cap)
{
    struct open_call open = {0};
    struct study st;

    study_begin(&st, cap, study_contract()); /* copies are no operators */
    const struct op_tree *tree = study_op_tree(&st);
    uint32_t *arrows = arrows_from_ops(cap);
    struct kernel_order kernels = study_kernels(&st);
    g->count->kernels += kernels.n;
    for (size_t i = 0; i < kernels.n; i++) {
        size_t slice = kernels.at[i];
        double us = (double)cap->slices.dur[slice] / 1e3;
        struct call_group call;
        if (!(us > 0))
            continue;
        if (study_is_comm(cap, slice) ? read_comm(cap, slice, &call)
                                      : read_kernel(g, cap, slice, &call)) {
            if (call.is_comm || call_fits(g, &call))
                add_call(g, &call, us, 1);
            else
                g->count->misfits++;
            continue;
        }
        if (is_memset(cap, slice)) {
            g->count->misfits++;
            continue;
        }
        uint32_t op = operator_around(cap, tree, tree->launch[i]);
        if (op == OP_TREE_NONE)
            op = operator_around(cap, tree, arrows[slice]);
        if (open.kernels > 0 && op != open.op)
            close_call(g, cap, &open);
        if (op == OP_TREE_NONE)
            continue;
        if (open.kernels == 0)
            open.kernel = capture_text(cap, cap->slices.name[slice]);
        open.op = op;
        open.us += us;
        open.kernels++;
    }
    close_call(g, cap, &open);
    mem_free(arrows);
    study_end(&st);
}

static void set_figures(struct op_table *t, size_t row, struct call_group *g)
{
    double sum = 0, squares = 0, n = (double)g->us.n;

    ranked_sort(g->us.at, g->us.n);
    for (size_t i = 0; i < g->us.n; i++) {
        sum += g->us.at[i];
        squares += g->us.at[i] * g->us.at[i];
    }
    double mean = sum / n, middle = ranked_middle(g->us.at, g->us.n);
    double deviation = sqrt(fmax(0, squares / n - mean * mean));
    op_tables_set(t, row, COL_PROFILED, cell_text6(&t->arena, mean));
    op_tables_set(t, row, COL_PROFILED_MID, cell_text6(&t->arena, middle));
    op_tables_set(t, row, COL_PROFILED_STD, cell_text6(&t->arena, deviation));
    op_tables_set(t, row, S("Kernels"),
                  arena_format(&t->arena, "%llu", (unsigned long long)g->kernels));
}

static void add_comm_row(struct op_tables *tables, struct call_group *g)
{
    struct op_table *t = op_tables_get(tables, g->op);
    struct arena *arena = t != NULL ? &t->arena : NULL;

    if (t == NULL)
        return;
    if (t->n_rows == 0)
        table_arrange(t, (const struct str[]){S("message_bytes"), S("num_devices")}, 2);
    struct str bytes = arena_format(arena, "%.0f", g->bytes);
    struct str devices = arena_format(arena, "%.0f", g->devices);
    size_t row = 0;
    while (row < t->n_rows &&
           !(str_equal(table_cell(t, row, table_column(t, S("message_bytes"))), bytes) &&
             str_equal(table_cell(t, row, table_column(t, S("num_devices"))), devices)))
        row++;
    if (row == t->n_rows)
        row = table_add_row(t);
    op_tables_set(t, row, S("message_bytes"), bytes);
    op_tables_set(t, row, S("num_devices"), devices);
    set_figures(t, row, g);
}

static enum status rows_write(struct gathering *g, const char *dir, bool is_dry_run, struct diag *d)
{
    struct op_tables tables;
    size_t row;

    op_tables_init(&tables, dir, d);
    for (size_t i = 0; i < g->groups.n && tables.status == ST_OK; i++) {
        struct call_group *one = &g->groups.at[i];
        if (one->is_comm) {
            add_comm_row(&tables, one);
            continue;
        }
        struct op_cells c = {.op = arena_cstr(&g->arena, one->op),
                             .in = one->in,
                             .types = one->types,
                             .out = one->out,
                             .out_types = one->out_types,
                             .formats = one->formats,
                             .out_formats = one->out_formats};
        struct op_table *t = op_tables_row(&tables, &c, &row);
        op_tables_get(&tables, one->op);
        if (t != NULL)
            set_figures(t, row, one);
    }
    g->count->rows = g->groups.n;
    g->count->tables = tables.tables.n;
    enum status st =
        is_dry_run || tables.status != ST_OK ? tables.status : op_tables_write(&tables);
    op_tables_free(&tables);
    return st;
}

/* One capture; what is wrong with it is told as a loss of the whole. */
static bool gather_capture(struct gathering *g, const char *path, struct diag *d, bool is_alone)
{
    struct capture *cap = NULL;
    struct input_options options = input_defaults();
    struct diag own;

    diag_init(&own);
    bool is_read = input_load(path, &options, is_alone ? d : &own, &cap) == ST_OK;
    if (is_read) {
        capture_rows_gather(g, cap);
        capture_free(cap);
    } else if (!is_alone) {
        diag_add(d, SEV_LOSS, "perfdb.capture-skipped", (struct where){.path = path},
                 "file skipped: not a capture that can be read");
    }
    diag_fini(&own);
    g->count->captures += is_read;
    g->count->unread += !is_read;
    return is_read;
}

/* What a file below a folder is read as: itself, or the folder of its rank, whose files describe
 * one run. */
static struct str capture_of(struct str file, struct str folder)
{
    struct str rest = file, part;

    while (str_split(&rest, '/', &part) && rest.at != NULL) {
        size_t end = (size_t)(part.at + part.n - file.at);
        bool is_rank = str_ends(part, S("_ascend_pt")) || str_ends(part, S("_ascend_ms")) ||
                       str_starts(part, S("PROF_"));
        if (is_rank && end >= folder.n)
            return str_part(file, 0, end);
    }
    return file;
}

/* Everything below a folder. */
static enum status gather_folder(struct gathering *g, const char *path, struct diag *d)
{
    struct str last = S(""), folder = str_of(path);
    struct fs_list files;

    while (folder.n > 1 && folder.at[folder.n - 1] == '/')
        folder.n--;
    TRY(fs_walk(&g->arena, path, NULL, 0, &files, d));
    for (size_t i = 0; i < files.n; i++) {
        struct str one = capture_of(str_of(files.at[i].path), folder);
        if (files.at[i].kind != FS_FILE || str_equal(one, last))
            continue;
        gather_capture(g, arena_cstr(&g->arena, one), d, false);
        last = one;
    }
    return ST_OK;
}

static void gathering_free(struct gathering *g)
{
    for (size_t i = 0; i < g->groups.n; i++)
        vec_free(&g->groups.at[i].us);
    vec_free(&g->groups);
    hash_free(&g->seen);
    arena_free(&g->arena);
}

ORDER_BY(by_time, struct capture_op, ORDER(y->us, x->us) ?: str_compare(x->op, y->op));

enum status capture_ops(const char *path, struct arena *arena, struct capture_op **out, size_t *n,
                        struct diag *d)
{
    struct capture_rows_count count = {0};
    struct gathering g = {.count = &count};

    arena_init(&g.arena);
    enum status st = gather_capture(&g, path, d, true) ? ST_OK : ST_FORMAT;
    *out = ARENA_ARRAY(arena, struct capture_op, g.groups.n + 1);
    *n = 0;
    for (size_t i = 0; i < g.groups.n; i++) {
        const struct call_group *one = &g.groups.at[i];
        size_t k = 0;
        while (k < *n && !str_equal((*out)[k].op, one->op))
            k++;
        if (k == *n)
            (*out)[(*n)++].op = arena_str(arena, one->op);
        (*out)[k].calls += one->us.n;
        for (size_t j = 0; j < one->us.n; j++)
            (*out)[k].us += one->us.at[j];
    }
    if (*n > 0)
        qsort(*out, *n, sizeof(**out), by_time);
    gathering_free(&g);
    return st;
}

enum status capture_rows(const char *path, const char *dir, bool is_dry_run,
                         struct capture_rows_count *out, struct diag *d)
{
    struct gathering g = {.count = out};
    enum status st = ST_OK;

    *out = (struct capture_rows_count){.dir = dir, .is_dry_run = is_dry_run};
    arena_init(&g.arena);
    if (fs_is_dir(path))
        st = gather_folder(&g, path, d);
    else if (!gather_capture(&g, path, d, true))
        st = ST_FORMAT;
    if (st == ST_OK && out->captures == 0)
        st = diag_fail(d, ST_NOT_FOUND, "perfdb.no-captures", (struct where){.path = path},
                       "no capture that can be read");
    if (st == ST_OK)
        st = rows_write(&g, dir, is_dry_run, d);
    gathering_free(&g);
    return st;
}
