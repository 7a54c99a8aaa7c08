/*
 * A database that is asked many times. See db_handle.h.
 */
#include "opdb/rows/db_handle.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/formats/json_read.h"
#include "base/run/once.h"
#include "base/text/char.h"
#include "base/text/num.h"
#include "capture/classify.h"
#include "opdb/predict/query.h"
#include "opdb/rows/opset.h"

enum { INPUTS = 40, DIMS = 128, NAME = 256 };

/* Kernels of which the first that has an answer gives it. */
struct db_part {
    const struct str *kernels;
    struct opset **sets; /* NULL: no table */
    size_t n;
    bool is_comm;
};

/* What an operator leads to: parts that are added up. */
struct db_plan {
    struct db_part *parts;
    size_t n;
    int64_t input_count; /* negative: all */
    const char *miss;    /* of every question; NULL: none */
    bool is_free;
};

enum db_lookup { BY_KERNEL, BY_OP, BY_COMM };

struct db_handle {
    struct query_db db;  /* grows while plans are made */
    struct once *plans;  /* by kind of lookup and name */
    struct once *models; /* fitted regimes, by their place in memory */
};

enum status db_handle_open(struct db_handle **out, const char *dir, struct diag *d)
{
    struct db_handle *h = mem_grow(NULL, sizeof(*h), 1);

    *h = (struct db_handle){.plans = once_new(), .models = once_new()};
    enum status st = query_open(&h->db, dir, d);
    *out = h;
    return st;
}

void db_handle_close(struct db_handle *h)
{
    once_free(h->plans);
    once_free(h->models);
    query_close(&h->db);
    mem_free(h);
}

/* ---- plans ---- */

struct planning {
    struct db_handle *h;
    struct diag *d;
    enum status status;
};

static void add_part(struct planning *p, struct db_plan *plan, const struct str *kernels, size_t n)
{
    struct arena *arena = &p->h->db.arena;
    struct db_part *part = &plan->parts[plan->n++];

    *part = (struct db_part){.kernels = kernels, .n = n};
    part->sets = ARENA_ARRAY(arena, struct opset *, n);
    part->is_comm = classify_is_collective(kernels[0]);
    for (size_t i = 0; i < n && p->status == ST_OK; i++)
        p->status = query_set(&p->h->db, kernels[i], &part->sets[i], p->d);
}

static void plan_op(struct planning *p, struct str name, struct db_plan *plan)
{
    struct query_entry e;

    plan->miss = "unmapped";
    if (!query_entry(&p->h->db, name, &e))
        return;
    plan->input_count = e.input_count;
    plan->is_free = !e.is_composite && !e.is_communication && query_entry_is_free(&e);
    plan->miss = e.is_composite ? "no_sub_kernels" : plan->miss;
    if (plan->is_free || (e.is_composite ? e.n_sub_kernels : e.n_kernels) > 0)
        plan->miss = NULL;
    if (plan->is_free || plan->miss != NULL)
        return;
    plan->parts = ARENA_ARRAY(&p->h->db.arena, struct db_part, e.n_sub_kernels + 1);
    for (size_t i = 0; i < e.n_sub_kernels && e.is_composite; i++)
        add_part(p, plan, &e.sub_kernels[i], 1);
    if (!e.is_composite)
        add_part(p, plan, e.kernels, e.is_communication ? 1 : e.n_kernels);
}

/* NULL when a table cannot be read: the next question fails likewise. */
static const void *make_plan(void *ctx, struct str key)
{
    struct planning *p = ctx;
    enum db_lookup by = (enum db_lookup)key.at[0];
    struct str name = str_part(key, 1, key.n);
    struct arena *arena = &p->h->db.arena;
    struct db_plan *plan = ARENA_NEW(arena, struct db_plan);

    *plan = (struct db_plan){.input_count = -1};
    if (by == BY_OP) {
        plan_op(p, name, plan);
    } else {
        struct str *kernel = ARENA_NEW(arena, struct str);
        *kernel = by == BY_COMM ? query_comm_kernel(name) : arena_str(arena, name);
        plan->parts = ARENA_NEW(arena, struct db_part);
        plan->miss = kernel->n == 0 ? "invalid_args" : NULL;
        if (plan->miss == NULL)
            add_part(p, plan, kernel, 1);
    }
    return p->status == ST_OK ? plan : NULL;
}

struct fitting {
    struct opset *set;
    const struct call_work *work;
};

static const void *make_model(void *ctx, struct str key)
{
    struct fitting *f = ctx;

    (void)key;
    return opset_regime(f->set, f->work);
}

/* The regime of a call with its model; NULL when no row is of it. */
static const struct opset_regime *model_of(struct db_handle *h, struct opset *set,
                                           const struct call_work *w)
{
    const struct opset_regime *r = opset_find(set, w);
    struct fitting f = {set, w};

    return r != NULL
               ? once_get(h->models, (struct str){(const char *)&r, sizeof(r)}, make_model, &f)
               : NULL;
}

/* ---- questions ---- */

/* A question in place: no memory is taken. */
struct parsed {
    struct query_input inputs[INPUTS];
    int64_t dims[DIMS];
    size_t n, n_dims;
};

static bool parse_dims(struct parsed *p, struct str text)
{
    struct query_input *in = &p->inputs[p->n];

    in->dims = (struct cell_dims){&p->dims[p->n_dims], 0};
    for (size_t i = 0; i < text.n; i++) {
        int64_t value = 0;
        size_t digits = 0;
        for (; i < text.n && char_is_digit(text.at[i]) && digits < 18; i++, digits++)
            value = value * 10 + (text.at[i] - '0');
        if (digits == 0 || (i < text.n && text.at[i] != ',') || p->n_dims == DIMS)
            return false;
        p->dims[p->n_dims++] = value;
        in->dims.n++;
    }
    return true;
}

static bool handle_parse(struct parsed *p, const struct db_question *q)
{
    struct str shapes = q->shapes, types = q->dtypes, shape, type = S("");

    while (shapes.at != NULL && shapes.n > 0 && str_split(&shapes, ';', &shape)) {
        if (types.at != NULL && types.n > 0)
            str_split(&types, ';', &type);
        if (p->n == INPUTS || !parse_dims(p, shape))
            return false;
        p->inputs[p->n].dtype = type;
        p->n += p->inputs[p->n].dims.n > 0;
    }
    return p->n > 0;
}

/* ---- answers ---- */

static struct db_reply miss(const char *why)
{
    return (struct db_reply){NAN, NAN, NAN, NULL, why};
}

static struct db_reply rounded(double us, double low_us, double high_us, enum query_source source)
{
    return (struct db_reply){us, query_six_digits(low_us), query_six_digits(high_us),
                             query_source_name(source), NULL};
}

/* The row of this call. */
static bool ask_rows(struct db_handle *h, struct opset *set, const struct call_work *w,
                     struct db_reply *out)
{
    uint32_t row;
    const struct estimate_point *p = opset_exact(set, w, &row);

    if (p == NULL)
        return false;
    double noise = query_noise(&model_of(h, set, w)->model);
    *out = rounded(p->us, p->us / noise, p->us * noise, QUERY_MEASURED);
    return true;
}

static bool ask_model(struct db_handle *h, struct opset *set, const struct call_work *w,
                      struct db_reply *out)
{
    const struct opset_regime *r = model_of(h, set, w);
    struct estimate e;

    if (r == NULL)
        return false;
    estimate_call(&r->model, w, ESTIMATE_NONE, &e);
    *out = rounded(query_six_digits(e.us), e.low_us, e.high_us,
                   e.is_inside ? QUERY_INTERPOLATED : QUERY_EXTRAPOLATED);
    return true;
}

/* A row of any kernel, else the model of the first that has one, else the roof of the device. */
static struct db_reply ask_compute(struct db_handle *h, const struct db_part *part,
                                   const struct query *q, int64_t count)
{
    struct query_db scratch = {0};
    struct db_reply reply = miss("csv_not_found");
    struct query_result roof = {.miss = "shape_mismatch"};
    struct call_work w;
    bool is_done = false, is_placed = false;

    arena_init(&scratch.arena);
    for (int turn = 0; turn < 2 && !is_done; turn++)
        for (size_t i = 0; i < part->n && !is_done; i++) {
            if (part->sets[i] == NULL)
                continue;
            is_placed = query_work(&scratch, q, part->kernels[i], count, &w);
            if (is_placed)
                is_done = turn == 0 ? ask_rows(h, part->sets[i], &w, &reply)
                                    : ask_model(h, part->sets[i], &w, &reply);
            if (!is_done)
                reply = miss(is_placed ? "shape_mismatch" : "invalid_args");
        }
    if (!is_done && query_has_roof(reply.miss, part->kernels[0]) &&
        query_work(&scratch, q, part->kernels[0], count, &w) && h->db.device != NULL)
        query_analytic(h->db.device, q, part->kernels[0], &w, &roof);
    if (roof.miss == NULL)
        reply = rounded(roof.latency_us, roof.low_us, roof.high_us, roof.source);
    arena_free(&scratch.arena);
    return reply;
}

static struct db_reply ask_comm(struct db_handle *h, const struct db_part *part,
                                const struct query *q)
{
    struct db_reply reply = miss("shape_mismatch");
    struct call_work w;

    if (q->message.bytes < 0 || q->message.num_devices <= 0)
        return miss("invalid_args");
    if (part->sets[0] == NULL)
        return miss("csv_not_found");
    query_comm_work(part->sets[0], &q->message, &w);
    if (!ask_rows(h, part->sets[0], &w, &reply))
        ask_model(h, part->sets[0], &w, &reply);
    return reply;
}

/* Parts that have an answer are added up; without all of them the answer is PARTIAL. */
static struct db_reply ask_parts(struct db_handle *h, const struct db_plan *plan,
                                 const struct query *q)
{
    struct db_reply sum = {0, 0, 0, query_source_name(QUERY_MEASURED), NULL}, part;
    size_t hits = 0;

    for (size_t i = 0; i < plan->n; i++) {
        const struct db_part *of = &plan->parts[i];
        part = of->is_comm ? ask_comm(h, of, q) : ask_compute(h, of, q, plan->input_count);
        if (plan->n == 1)
            return part;
        if (part.miss != NULL) {
            sum.miss = sum.miss == NULL ? part.miss : sum.miss;
            continue;
        }
        hits++;
        sum.us += part.us;
        sum.low_us += part.low_us;
        sum.high_us += part.high_us;
        if (part.source != query_source_name(QUERY_MEASURED))
            sum.source = query_source_name(QUERY_INTERPOLATED);
    }
    if (hits == 0)
        return miss(sum.miss);
    if (hits < plan->n)
        sum.source = query_source_name(QUERY_PARTIAL);
    sum.miss = NULL;
    return sum;
}

static struct db_reply answer(struct db_handle *h, const struct db_plan *plan,
                              const struct db_question *q)
{
    struct parsed p;
    bool has_comm = false, has_compute = false;

    if (plan->miss != NULL)
        return miss(plan->miss);
    if (plan->is_free)
        return rounded(0, 0, 0, QUERY_MEASURED);
    for (size_t i = 0; i < plan->n; i++)
        *(plan->parts[i].is_comm ? &has_comm : &has_compute) = true;
    p.n = p.n_dims = 0;
    if (!handle_parse(&p, q) && (!has_comm || has_compute))
        return miss(plan->n == 1 && plan->parts[0].sets[0] == NULL ? "csv_not_found"
                                                                   : "invalid_args");
    struct query asked = {
        .kernel = "",
        .inputs = {p.inputs, p.n},
        .input_count = -1,
        .avg_seq = q->avg_seq > 0 ? q->avg_seq : -1,
        .seqs = q->seqs,
        .kv_heads = q->kv_heads > 0 ? q->kv_heads : -1,
        .sparse_mode = q->sparse_mode,
        .message = {.bytes = q->bytes, .num_devices = q->num_devices, .tier = q->tier}};
    return ask_parts(h, plan, &asked);
}

enum status db_handle_ask(struct db_handle *h, const struct db_question *q, struct db_reply *out,
                          struct diag *d)
{
    struct planning p = {.h = h, .d = d, .status = ST_OK};
    enum db_lookup by = q->kernel.n > 0 ? BY_KERNEL : q->op_name.n > 0 ? BY_OP : BY_COMM;
    struct str name = by == BY_KERNEL ? q->kernel : by == BY_OP ? q->op_name : q->comm;

    *out = miss("invalid_args");
    if ((q->kernel.n > 0) + (q->op_name.n > 0) + (q->comm.n > 0) != 1 || name.n > NAME)
        return ST_OK;
    char key[NAME + 1];
    key[0] = (char)by;
    memcpy(key + 1, name.at, name.n);
    const struct db_plan *plan = once_get(p.h->plans, (struct str){key, name.n + 1}, make_plan, &p);
    if (plan == NULL)
        return p.status;
    *out = answer(h, plan, q);
    return ST_OK;
}

/* ---- lines ---- */

#define MEMBER(name) S_INIT(#name), offsetof(struct db_question, name)
static const struct {
    struct str key;
    size_t at;
    bool is_number;
} members[] = {
    {MEMBER(kernel), false},  {MEMBER(shapes), false},     {MEMBER(dtypes), false},
    {MEMBER(op_name), false}, {MEMBER(comm), false},       {MEMBER(avg_seq), true},
    {MEMBER(seqs), true},     {MEMBER(kv_heads), true},    {MEMBER(sparse_mode), true},
    {MEMBER(bytes), true},    {MEMBER(num_devices), true}, {MEMBER(tier), true},
};

bool db_question_read(struct str line, struct db_question *out)
{
    struct json j;
    struct str key, value;

    *out = (struct db_question)DB_QUESTION_INIT;
    json_open(&j, line, JSON_LENIENT);
    if (json_next(&j) != JSON_OBJECT)
        return false;
    while (json_key(&j, &key)) {
        bool has_value = json_value(&j, &value);
        for (size_t i = 0; has_value && i < ARRAY_LEN(members); i++) {
            void *member = (char *)out + members[i].at;
            if (!str_equal(key, members[i].key))
                continue;
            if (members[i].is_number)
                num_i64(value, member);
            else
                *(struct str *)member = value;
            break;
        }
    }
    return j.token == JSON_OBJECT_END;
}

static const struct field reply_fields[] = {
    FIELD(struct db_reply, us, "latency_us", .is_optional = true),
    FIELD(struct db_reply, low_us, "interval_low_us", .is_optional = true),
    FIELD(struct db_reply, high_us, "interval_high_us", .is_optional = true),
    FIELD(struct db_reply, source, "source", .is_optional = true),
    FIELD(struct db_reply, miss, "miss", .is_optional = true),
};
const struct record db_reply_record = RECORD(struct db_reply, reply_fields);
