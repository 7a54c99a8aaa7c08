/*
 * Collectives found, and put together by kind, group and size.
 */
#include "analysis/tables/collectives.h"

#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/ops/op_tree.h"
#include "analysis/steps/steps.h"
#include "base/text/char.h"
#include "device/device.h"
#include "ops/dtype.h"
#include "text/collectives.h"

ENUM_NAMES(collective_kind_name, enum collective_kind, "all_reduce", "all_gather", "reduce_scatter",
           "all_to_all", "broadcast", "reduce", "send_recv", "dispatch", "combine", "barrier",
           "other")

/* ---- kinds ---- */

/* Words of names in small letters without '_'; the first that fits decides. */
static const struct {
    const char *word;
    enum collective_kind kind;
} words[] = {
    {"reducescatter", COLLECTIVE_REDUCE_SCATTER},
    {"allreduce", COLLECTIVE_ALL_REDUCE},
    {"crossdevicereduce", COLLECTIVE_ALL_REDUCE},
    {"twoshot", COLLECTIVE_ALL_REDUCE},
    {"oneshot", COLLECTIVE_ALL_REDUCE},
    {"allgather", COLLECTIVE_ALL_GATHER},
    {"alltoall", COLLECTIVE_ALL_TO_ALL},
    {"all2all", COLLECTIVE_ALL_TO_ALL},
    {"broadcast", COLLECTIVE_BROADCAST},
    {"sendrecv", COLLECTIVE_SEND_RECV},
    {"send", COLLECTIVE_SEND_RECV},
    {"recv", COLLECTIVE_SEND_RECV},
    {"receive", COLLECTIVE_SEND_RECV},
    {"dispatch", COLLECTIVE_DISPATCH},
    {"combine", COLLECTIVE_COMBINE},
    {"barrier", COLLECTIVE_BARRIER},
    {"reduce", COLLECTIVE_REDUCE},
};

enum { NAME_MOST = 160 };

enum collective_kind collective_kind_of(struct str name)
{
    char buf[NAME_MOST];
    struct str plain = {buf, 0};

    for (size_t i = 0; i < name.n && plain.n < NAME_MOST; i++)
        if (name.at[i] != '_')
            buf[plain.n++] = char_lower(name.at[i]);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_contains(plain, str_of(words[i].word)))
            return words[i].kind;
    return COLLECTIVE_OTHER;
}

double collective_bus_factor(enum collective_kind kind, int64_t ranks)
{
    double n = (double)ranks;

    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        return ranks > 1 ? 2 * (n - 1) / n : 0;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
        return ranks > 1 ? (n - 1) / n : 0;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_SEND_RECV:
        return 1;
    default:
        return 0;
    }
}

/* ---- one by one ---- */

struct finder {
    struct study *st;
    const struct capture *cap;
    struct interval_set compute;
    struct interval *room;
    VEC_OF(struct collective_call) found;
    strid name, in, out, type, size, group, purpose, members, from, to;
};

static struct str collectives_text_of(const struct finder *f, size_t slice, strid key)
{
    struct attr a = study_attr(f->cap, slice, key);

    return a.type == ATTR_TEXT ? capture_text(f->cap, a.text) : (struct str){0};
}

static double collectives_number_of(const struct finder *f, size_t slice, strid key)
{
    struct attr a = study_attr(f->cap, slice, key);

    return a.type == ATTR_INT ? (double)a.number : a.type == ATTR_REAL ? a.real : 0;
}

/* A rank; one that is negative or no number is not known. */
static int64_t rank_of(const struct finder *f, size_t slice, strid key)
{
    struct attr a = study_attr(f->cap, slice, key);

    return a.type == ATTR_INT && a.number >= 0 ? a.number : UNKNOWN;
}

/* The slice with the collective's arguments: the kernel, or an operator around its launch. */
static uint32_t teller_of(const struct finder *f, const struct op_tree *ops, size_t kernel)
{
    uint32_t slice = study_kernels(f->st).at[kernel];

    if (f->name == 0 || study_attr(f->cap, slice, f->name).type == ATTR_TEXT)
        return slice;
    for (uint32_t at = ops->launch[kernel]; at != OP_TREE_NONE; at = ops->parent[at])
        if (study_attr(f->cap, at, f->name).type == ATTR_TEXT)
            return at;
    return slice;
}

static nanos exposed_of(const struct finder *f, nanos begin, nanos time)
{
    struct interval window = {begin, nanos_add(begin, time)};

    return time - interval_length(interval_clip(f->compute, window, f->room));
}

static size_t step_of(struct study *st, nanos t)
{
    const struct steps *steps = study_steps(st);
    size_t place;

    vec_bisect(place, steps->n, i, steps->at[i].window.begin <= t);
    return place > 0 ? place - 1 : SIZE_MAX;
}

/* "001" of hcom_allReduce__001_12_1: the end of the group's number, before two others. */
static struct str hcom_group(struct str name)
{
    struct str part = name;

    for (int i = 0; i < 3; i++) {
        size_t digits = str_last_digits(name);
        if (!str_starts(name, S("hcom_")) || digits == 0 || digits + 1 >= name.n ||
            name.at[name.n - digits - 1] != '_')
            return (struct str){0};
        part = str_part(name, name.n - digits, digits);
        name.n -= digits + 1;
    }
    return part;
}

static void collectives_add_kernel(struct finder *f, const struct op_tree *ops, size_t kernel)
{
    const struct slices *s = &f->cap->slices;
    uint32_t slice = study_kernels(f->st).at[kernel], teller = teller_of(f, ops, kernel);
    struct str told = collectives_text_of(f, teller, f->name),
               own = capture_text(f->cap, s->name[slice]);
    struct str purpose = collectives_text_of(f, teller, f->purpose),
               group = collectives_text_of(f, teller, f->group);
    double ranks = collectives_number_of(f, teller, f->size);
    struct collective_call c = {
        .kind = collective_kind_of(told.n > 0 ? told : own),
        .name = told.n > 0 ? told : own,
        .group = purpose.n > 0 && !str_equal(purpose, S("undefined")) ? purpose : group,
        .type = collectives_text_of(f, teller, f->type),
        .id = group.n > 0 ? group : hcom_group(own),
        .members = collectives_text_of(f, teller, f->members),
        .from = rank_of(f, teller, f->from),
        .to = rank_of(f, teller, f->to),
        .ranks = ranks > 0 && ranks < 1e9 ? num_i64_of(ranks) : UNKNOWN,
        .begin = s->begin[slice],
        .time = s->dur[slice],
        .moving = s->dur[slice],
        .exposed = exposed_of(f, s->begin[slice], s->dur[slice]),
        .step = step_of(f->st, s->begin[slice]),
    };

    /* An all-gather is as large as what it makes, others as what goes in. */
    double elements =
        collectives_number_of(f, teller, c.kind == COLLECTIVE_ALL_GATHER ? f->out : f->in);
    double bytes = dtype_bytes(dtype_of(collectives_text_of(f, teller, f->type)));
    c.bytes = elements > 0 && elements < 1e15 ? elements * bytes : 0;
    vec_push(&f->found, c);
}

static void add_kernels(struct finder *f)
{
    const struct intern *names = &f->cap->strings;
    struct kernel_order kernels = study_kernels(f->st);
    const struct op_tree *ops = study_op_tree(f->st);

    f->name = intern_find(names, S("Collective name"));
    f->in = intern_find(names, S("In msg nelems"));
    f->out = intern_find(names, S("Out msg nelems"));
    f->type = intern_find(names, S("dtype"));
    f->size = intern_find(names, S("Group size"));
    f->group = intern_find(names, S("Process Group Name"));
    f->purpose = intern_find(names, S("Process Group Description"));
    f->members = intern_find(names, S("Process Group Ranks"));
    f->from = intern_find(names, S("Src Rank"));
    f->to = intern_find(names, S("Dst Rank"));
    for (size_t i = 0; i < kernels.n; i++)
        if (f->cap->slices.kind[kernels.at[i]] == SLICE_COMM)
            collectives_add_kernel(f, ops, i);
}

/* What the settings of the run say of a group; NULL: nothing. */
static const struct comm_group *collectives_group_of(const struct capture *cap, strid id)
{
    for (size_t i = 0; i < cap->comm_groups.n; i++)
        if (cap->comm_groups.at[i].id == id)
            return &cap->comm_groups.at[i];
    return NULL;
}

static int64_t count_ranks(struct str list)
{
    struct str one;
    int64_t n = 0;

    while (str_split(&list, ',', &one))
        n++;
    return n > 0 ? n : UNKNOWN;
}

/* The two ends of a transfer, by the matrix of communication. */
static void find_ends(const struct capture *cap, const struct comm_op *op,
                      struct collective_call *c)
{
    for (size_t i = 0; op->is_p2p && i < cap->comm_links.n; i++) {
        const struct comm_link *link = &cap->comm_links.at[i];
        if ((link->op == op->name || link->name == op->name) && link->group == op->group &&
            link->from != link->to) {
            c->from = link->from;
            c->to = link->to;
            return;
        }
    }
}

/* Entries of the profiler's own analysis; those of other ranks are left out. */
static void add_entries(struct finder *f)
{
    const struct capture *cap = f->cap;

    for (size_t i = 0; i < cap->comm_ops.n; i++) {
        const struct comm_op *op = &cap->comm_ops.at[i];
        if (op->rank != UNKNOWN && cap->facts.rank != UNKNOWN && op->rank != cap->facts.rank)
            continue;
        const struct comm_group *group = collectives_group_of(cap, op->group);
        struct str members = group != NULL ? capture_text(cap, group->ranks) : (struct str){0};
        struct collective_call c = {
            .kind = collective_kind_of(capture_text(cap, op->name)),
            .name = capture_text(cap, op->name),
            .group = capture_text(cap, op->group),
            .id = capture_text(cap, op->group),
            .members = members,
            .from = UNKNOWN,
            .to = UNKNOWN,
            .ranks = group != NULL ? count_ranks(members) : UNKNOWN,
            .bytes = op->megabytes > 0 ? op->megabytes * 1e6 : 0,
            .begin = op->begin,
            .time = op->elapse,
            .moving = op->transit > 0 ? op->transit : op->elapse,
            .exposed = exposed_of(f, op->begin, op->elapse),
            .step = step_of(f->st, op->begin),
        };
        find_ends(cap, op, &c);
        vec_push(&f->found, c);
    }
}

ORDER_BY(by_begin, struct collective_call,
         ORDER(x->begin, y->begin) ?: ORDER(x->time, y->time) ?: str_compare(x->name, y->name));

/* ---- together ---- */

static bool is_alike(const struct collective_call *a, const struct collective_call *b)
{
    return a->kind == b->kind && a->ranks == b->ranks && a->bytes == b->bytes &&
           str_equal(a->group, b->group) && str_equal(a->type, b->type);
}

ORDER_BY(by_sort, struct collective_call,
         ORDER(x->kind, y->kind) ?: str_compare(x->group, y->group) ?: str_compare(x->type, y->type)
                                 ?: ORDER(x->ranks, y->ranks) ?: ORDER(x->bytes, y->bytes));

ORDER_BY(longest_first, struct collective_row,
         ORDER(y->time, x->time) ?: ORDER(x->kind, y->kind) ?: str_compare(x->group, y->group)
                                 ?: ORDER(y->bytes, x->bytes) ?: str_compare(x->type, y->type));

enum { NODE_RANKS = 8 }; /* groups this large may be joined by the links of one machine */

static void find_rows(struct study *st, struct collectives *out)
{
    struct collective_call *sorted = ARENA_ARRAY(&st->scratch, struct collective_call, out->n);

    out->rows = ARENA_ARRAY(&st->scratch, struct collective_row, out->n);
    if (out->n == 0)
        return;
    memcpy(sorted, out->at, sizeof(*sorted) * out->n);
    qsort(sorted, out->n, sizeof(*sorted), by_sort);
    for (size_t i = 0; i < out->n; i++) {
        const struct collective_call *c = &sorted[i];
        if (i == 0 || !is_alike(c, &sorted[i - 1]))
            out->rows[out->n_rows++] = (struct collective_row){.kind = c->kind,
                                                               .group = c->group,
                                                               .type = c->type,
                                                               .ranks = c->ranks,
                                                               .bytes = c->bytes};
        struct collective_row *row = &out->rows[out->n_rows - 1];
        row->calls++;
        row->time = nanos_add(row->time, c->time);
        row->moving = nanos_add(row->moving, c->moving);
        row->exposed = nanos_add(row->exposed, c->exposed);
    }
    for (size_t i = 0; i < out->n_rows; i++) {
        struct collective_row *row = &out->rows[i];
        if (row->bytes <= 0 || row->moving <= 0)
            continue;
        row->algorithm = row->bytes * (double)row->calls / (double)row->moving;
        row->bus = row->algorithm * collective_bus_factor(row->kind, row->ranks);
        if (out->link_gbps > 0 && row->ranks <= NODE_RANKS)
            row->link_share = row->bus / out->link_gbps;
    }
    qsort(out->rows, out->n_rows, sizeof(*out->rows), longest_first);
}

ORDER_BY(by_step, struct collective_call,
         ORDER(x->step, y->step) ?: str_compare(x->group, y->group) ?: ORDER(x->begin, y->begin));

/* The union of `n` collectives; its length goes to `time`, what of it is exposed to the other. */
static void collectives_join(struct finder *f, const struct collective_call *at, size_t n,
                             nanos *time, nanos *exposed)
{
    struct interval *list = ARENA_ARRAY(&f->st->scratch, struct interval, n);
    struct interval_set set = {list, n};

    for (size_t i = 0; i < n; i++)
        list[i] = (struct interval){at[i].begin, nanos_add(at[i].begin, at[i].time)};
    interval_merge(&set);
    *time = interval_length(set);
    *exposed = *time - interval_overlap(set, f->compute);
}

static void collectives_find_steps(struct finder *f, struct collectives *out)
{
    const struct steps *steps = study_steps(f->st);
    struct collective_call *sorted = ARENA_ARRAY(&f->st->scratch, struct collective_call, out->n);

    out->steps = ARENA_ARRAY(&f->st->scratch, struct collective_step, out->n);
    if (out->n == 0)
        return;
    memcpy(sorted, out->at, sizeof(*sorted) * out->n);
    qsort(sorted, out->n, sizeof(*sorted), by_step);
    for (size_t i = 0, first = 0; i < out->n; i++) {
        const struct collective_call *c = &sorted[i], *next = i + 1 < out->n ? c + 1 : NULL;
        if (next != NULL && next->step == c->step && str_equal(next->group, c->group))
            continue;
        struct collective_step *step = &out->steps[out->n_steps++];
        *step = (struct collective_step){
            .step = c->step < steps->n ? steps->at[c->step].id : (struct str){0},
            .group = c->group,
            .calls = i + 1 - first,
        };
        collectives_join(f, sorted + first, step->calls, &step->time, &step->exposed);
        first = i + 1;
    }
    collectives_join(f, out->at, out->n, &out->time, &out->exposed);
}

const struct collectives *collectives_find(struct study *st)
{
    struct collectives *out = ARENA_NEW(&st->scratch, struct collectives);
    const struct device *d =
        device_find(&device_builtin, capture_text(st->cap, st->cap->facts.device_name));
    struct finder f = {.st = st, .cap = st->cap, .compute = study_gather(st, study_is_compute)};

    *out = (struct collectives){.link_gbps = d != NULL ? d->link_gbps : 0};
    f.room = ARENA_ARRAY(&st->scratch, struct interval, f.compute.n);
    if (st->cap->comm_ops.n > 0)
        add_entries(&f);
    else
        add_kernels(&f);
    if (f.found.n > 1)
        qsort(f.found.at, f.found.n, sizeof(*f.found.at), by_begin);
    out->at = STUDY_KEEP(&st->scratch, f.found);
    out->n = f.found.n;
    vec_free(&f.found);
    find_rows(st, out);
    collectives_find_steps(&f, out);
    return out;
}

/* ---- described ---- */

static const struct field row_fields[] = {
    FIELD_OF_ENUM(struct collective_row, kind, "kind", collective_kind_name, COLLECTIVE_KINDS,
                  .head = "collective"),
    FIELD(struct collective_row, group, "group", .missing = MISSING_EMPTY, .head = "group"),
    FIELD(struct collective_row, ranks, "ranks", .missing = MISSING_NEGATIVE, .head = "ranks"),
    FIELD(struct collective_row, type, "type", .missing = MISSING_EMPTY, .head = "type"),
    FIELD(struct collective_row, bytes, "bytes", .missing = MISSING_ZERO),
    FIELD(struct collective_row, bytes, NULL, .missing = MISSING_ZERO, .head = "size MB",
          .scale = 1e6, .unit = UNIT_PLAIN),
    FIELD(struct collective_row, calls, "calls", .head = "calls"),
    FIELD(struct collective_row, time, "time_ns", .head = "time ms", .unit = UNIT_MS),
    FIELD(struct collective_row, moving, "moving_ns"),
    FIELD(struct collective_row, exposed, "exposed_ns", .head = "exposed ms", .unit = UNIT_MS),
    FIELD(struct collective_row, algorithm, "algorithm_gb_per_s", .missing = MISSING_ZERO,
          .head = "algorithm GB/s", .unit = UNIT_PLAIN),
    FIELD(struct collective_row, bus, "bus_gb_per_s", .missing = MISSING_ZERO, .head = "bus GB/s",
          .unit = UNIT_PLAIN),
    FIELD(struct collective_row, link_share, "link_share", .missing = MISSING_ZERO,
          .head = "link %", .unit = UNIT_RATIO),
};
static const struct record row_record = RECORD(struct collective_row, row_fields);

static const struct field step_fields[] = {
    FIELD(struct collective_step, step, "step", .missing = MISSING_EMPTY, .head = "step"),
    FIELD(struct collective_step, group, "group", .missing = MISSING_EMPTY, .head = "group"),
    FIELD(struct collective_step, calls, "calls", .head = "calls"),
    FIELD(struct collective_step, time, "time_ns", .head = "time ms", .unit = UNIT_MS),
    FIELD(struct collective_step, exposed, "exposed_ns", .head = "exposed ms", .unit = UNIT_MS),
};
static const struct record step_record = RECORD(struct collective_step, step_fields);

static const struct field collectives_fields[] = {
    FIELD(struct collectives, n, "calls"),
    FIELD(struct collectives, time, "time_ns"),
    FIELD(struct collectives, exposed, "exposed_ns"),
    FIELD(struct collectives, link_gbps, "link_gb_per_s", .missing = MISSING_ZERO),
    FIELD_LIST(struct collectives, rows, n_rows, "rows", &row_record),
    FIELD_LIST(struct collectives, steps, n_steps, "steps", &step_record),
};
static const struct record collectives_record = RECORD(struct collectives, collectives_fields);

const struct schema collectives_schema = {
    .name = "strata.collectives/1",
    .title = "collectives by kind, group and size, with bandwidth and what no compute hides",
    .record = &collectives_record,
};

enum { ROWS_SHOWN = 30 };

static void collectives_describe(struct study *st, struct report *r)
{
    const struct collectives *c = collectives_find(st);
    size_t most = st->options.top > 0 ? st->options.top : ROWS_SHOWN;
    size_t rows = c->n_rows < most ? c->n_rows : most;
    size_t steps = c->n_steps < most ? c->n_steps : most;

    if (c->n == 0) {
        report_text(r, report_message(r, &collectives_text.none));
        return;
    }
    report_text(
        r, REPORT_MESSAGE(r, &collectives_text.summary, PLACE("n", c->n),
                          place_quantity("time", (double)c->time, UNIT_NS),
                          place_quantity("exposed", (double)c->exposed, UNIT_NS),
                          place_quantity("share", num_share(c->exposed, c->time), UNIT_RATIO)));
    report_records(r, &row_record, c->rows, rows, NULL);
    if (rows < c->n_rows)
        report_text(r, REPORT_MESSAGE(r, &collectives_text.more, PLACE("n", c->n_rows - rows)));
    if (c->link_gbps > 0)
        report_text(r, REPORT_MESSAGE(r, &collectives_text.link, PLACE("gbps", c->link_gbps)));
    report_records(r, &step_record, c->steps, steps, NULL);
    if (steps < c->n_steps)
        report_text(r, REPORT_MESSAGE(r, &collectives_text.more, PLACE("n", c->n_steps - steps)));
}

static const void *tables_collectives_find(struct study *st)
{
    return collectives_find(st);
}

const struct analysis analysis_collectives = {
    .name = "collectives",
    .summary = "what was sent, how fast, and what no compute hides",
    .needs = HAS_KERNELS | HAS_COMM,
    .schema = &collectives_schema,
    .find = tables_collectives_find,
    .run = collectives_describe,
};
