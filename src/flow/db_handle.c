/*
 * A database that is asked many times. See db_handle.h.
 */
#include "flow/db_handle.h"

#include <math.h>
#include <pthread.h>

#include "base/char.h"
#include "base/job.h"
#include "base/json_read.h"
#include "base/num.h"
#include "perfdb/opset.h"
#include "perfdb/query.h"

enum { INPUTS = 40, DIMS = 128, KEPT = 64 };

/* An operator that was asked for; its set is only read from then on. */
struct db_kept {
    struct str kernel;
    struct opset *set; /* NULL: no table */
};

struct db_handle {
    struct query_db db;
    pthread_mutex_t lock; /* of `db` and of adding to `kept` */
    struct db_kept kept[KEPT];
    size_t n_kept; /* read without the lock, with acquire */
};

enum status db_handle_open(struct db_handle **out, const char *dir, struct diag *d)
{
    struct db_handle *h = mem_grow(NULL, sizeof(*h), 1);

    *h = (struct db_handle){.n_kept = 0};
    pthread_mutex_init(&h->lock, NULL);
    enum status st = query_open(&h->db, dir, d);
    *out = h;
    return st;
}

void db_handle_close(struct db_handle *h)
{
    query_close(&h->db);
    pthread_mutex_destroy(&h->lock);
    mem_free(h);
}

static const struct db_kept *find_kept(const struct db_handle *h, struct str kernel)
{
    size_t n = __atomic_load_n(&h->n_kept, __ATOMIC_ACQUIRE);

    for (size_t i = 0; i < n; i++)
        if (str_equal(h->kept[i].kernel, kernel))
            return &h->kept[i];
    return NULL;
}

struct keeping {
    struct db_handle *h;
    struct str kernel;
    struct opset *set;
    struct diag *d;
    enum status status;
};

/* Reads the table and fits its models. */
static void load(void *ctx)
{
    struct keeping *k = ctx;

    k->status = query_set(&k->h->db, k->kernel, &k->set, k->d);
    if (k->status == ST_OK && k->set != NULL)
        opset_fit(k->set);
    k->kernel = arena_str(&k->h->db.arena, k->kernel);
}

/* The set of a kernel; the first to ask waits for nobody who only reads. */
static enum status keep(struct db_handle *h, struct str kernel, const struct opset **out,
                        struct diag *d)
{
    const struct db_kept *kept = find_kept(h, kernel);
    struct keeping k = {.h = h, .kernel = kernel, .d = d, .status = ST_OK};
    bool has_memory = true;

    if (kept == NULL) {
        pthread_mutex_lock(&h->lock);
        kept = find_kept(h, kernel);
        if (kept == NULL)
            has_memory = job_try(load, &k);
        if (kept == NULL && has_memory && k.status == ST_OK && h->n_kept < KEPT) {
            h->kept[h->n_kept] = (struct db_kept){k.kernel, k.set};
            __atomic_store_n(&h->n_kept, h->n_kept + 1, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&h->lock);
    }
    if (!has_memory)
        job_out_of_memory();
    *out = kept != NULL ? kept->set : k.set;
    return k.status;
}

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

static bool parse(struct parsed *p, const struct db_question *q)
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

/* The answer of a set that is only read. */
static void ask_set(const struct opset *set, const struct call_work *w, struct db_reply *out)
{
    const struct opset_regime *r = opset_fitted(set, w);
    const struct estimate_point *p;
    struct estimate e;
    uint32_t row;

    out->miss = "shape_mismatch";
    if (r == NULL)
        return;
    out->miss = NULL;
    if ((p = opset_exact(set, w, &row)) != NULL) {
        double noise = 1.2816 * r->model.spread * sqrt(r->model.kriging.noise);
        *out = (struct db_reply){p->us, p->us * exp(-noise), p->us * exp(noise),
                                 query_source_name(QUERY_MEASURED), NULL};
        return;
    }
    estimate_call(&r->model, w, ESTIMATE_NONE, &e);
    enum query_source source = e.is_inside ? QUERY_INTERPOLATED : QUERY_EXTRAPOLATED;
    *out = (struct db_reply){e.us, e.low_us, e.high_us, query_source_name(source), NULL};
}

enum status db_handle_ask(struct db_handle *h, const struct db_question *q, struct db_reply *out,
                          struct diag *d)
{
    struct parsed p;
    const struct opset *set;
    struct call_work w;

    *out = (struct db_reply){NAN, NAN, NAN, NULL, "csv_not_found"};
    TRY(keep(h, q->kernel, &set, d));
    if (set == NULL)
        return ST_OK;
    p.n = p.n_dims = 0;
    out->miss = "invalid_args";
    if (!parse(&p, q))
        return ST_OK;
    struct query asked = {.kernel = "",
                          .inputs = {p.inputs, p.n},
                          .input_count = -1,
                          .avg_seq = q->avg_seq > 0 ? q->avg_seq : -1,
                          .seqs = q->seqs,
                          .kv_heads = q->kv_heads > 0 ? q->kv_heads : -1,
                          .sparse_mode = -1};
    struct query_db scratch = {0};
    arena_init(&scratch.arena);
    if (query_work(&scratch, &asked, q->kernel, -1, &w))
        ask_set(set, &w, out);
    arena_free(&scratch.arena);
    return ST_OK;
}

bool db_question_read(struct str line, struct db_question *out)
{
    struct json j;
    struct str key, value;

    *out = (struct db_question){0};
    json_open(&j, line, JSON_LENIENT);
    if (json_next(&j) != JSON_OBJECT)
        return false;
    while (json_key(&j, &key)) {
        if (!json_value(&j, &value))
            continue;
        if (str_equal(key, S("kernel")))
            out->kernel = value;
        else if (str_equal(key, S("shapes")))
            out->shapes = value;
        else if (str_equal(key, S("dtypes")))
            out->dtypes = value;
        else if (str_equal(key, S("avg_seq")))
            num_i64(value, &out->avg_seq);
        else if (str_equal(key, S("seqs")))
            num_i64(value, &out->seqs);
        else if (str_equal(key, S("kv_heads")))
            num_i64(value, &out->kv_heads);
    }
    return j.token == JSON_OBJECT_END && out->kernel.n > 0;
}

static const struct field reply_fields[] = {
    FIELD(struct db_reply, us, "latency_us", .is_optional = true),
    FIELD(struct db_reply, low_us, "interval_low_us", .is_optional = true),
    FIELD(struct db_reply, high_us, "interval_high_us", .is_optional = true),
    FIELD(struct db_reply, source, "source", .is_optional = true),
    FIELD(struct db_reply, miss, "miss", .is_optional = true),
};
const struct record db_reply_record = RECORD(struct db_reply, reply_fields);
