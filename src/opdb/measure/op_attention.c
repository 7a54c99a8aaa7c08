/*
 * Attention: fused inference attention (plain, paged, latent), one ring of a latent prefill,
 * attention over listed positions, and the indexer that lists them.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "opdb/measure/op_inside.h"

static int32_t *numbers(struct op_call *c, size_t n)
{
    return ARENA_ARRAY(c->arena, int32_t, n + 1);
}

/* Lengths of sequences, from sums so far or from lengths; false: neither fits `total`. */
static bool to_lengths(struct op_list list, int64_t total, int32_t *out)
{
    int64_t sum = 0, before = 0;
    bool is_sums = list.n > 0 && list.at[list.n - 1] == total;

    for (size_t i = 0; i < list.n; before = list.at[i], i++) {
        is_sums = is_sums && list.at[i] >= before;
        sum = num_most_sum(sum, list.at[i]);
        if (list.at[i] < 0 || list.at[i] > total)
            return false;
    }
    for (size_t i = 0; i < list.n; i++)
        out[i] = (int32_t)(is_sums && i > 0 ? list.at[i] - list.at[i - 1] : list.at[i]);
    return is_sums || sum <= total;
}

/* Rows that the sequences begin at, one after the other. */
static int32_t *begins(struct op_call *c, const int32_t *length, int64_t n)
{
    int32_t *out = numbers(c, (size_t)n), at = 0;

    for (int64_t i = 0; i < n; at += length[i], i++)
        out[i] = at;
    return out;
}

/* Pairs of a query and a key that it sees. */
static int64_t pairs(const struct op_attention *a)
{
    int64_t sum = 0;

    for (int64_t s = 0; s < a->seqs; s++) {
        int64_t q = a->q_len[s], kv = a->kv_len[s];
        if (!a->is_causal) {
            sum = num_most_sum(sum, q * kv);
            continue;
        }
        int64_t least = kv - q + 1, first = least < 1 ? 1 : least, rows = kv - first + 1;
        if (rows > 0)
            sum = num_most_sum(sum, (first + kv) * rows / 2);
    }
    return sum;
}

static int64_t attention_sum_of(const int32_t *list, int64_t n)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += list[i];
    return sum;
}

/* Units, first tokens, and the operations that P pairs take. */
static void attention_finish(struct op_call *c, int64_t p)
{
    struct op_attention *a = &c->attention;

    a->q_first = begins(c, a->q_len, a->seqs);
    c->units = attention_sum_of(a->q_len, a->seqs) * a->heads;
    c->cost.cube = num_most_product(2 * a->heads * (a->dim + a->rope + a->value), p);
    c->cost.vector = num_most_product(5 * a->heads, p);
}

/* Operands have fixed places; those a call does not have are empty. */
static void add_or_empty(struct op_call *c, const struct op_slot *slot)
{
    if (slot != NULL && slot->is_given)
        op_in(c, slot);
    else
        OP_MADE(c, DTYPE_F32, 0);
}

/* Consecutive blocks for each sequence. */
static const char *fill_table(struct op_call *c, struct op_arg *table)
{
    struct op_attention *a = &c->attention;
    int64_t *values = ARENA_ARRAY(c->arena, int64_t, (size_t)(a->seqs * a->width) + 1), next = 0;

    for (int64_t s = 0; s < a->seqs; s++) {
        int64_t n = (a->kv_len[s] + a->block - 1) / a->block;
        n = n > 0 ? n : 1;
        if (n > a->width)
            return op_refuse(c, "sequence %lld needs %lld blocks, the table has %lld", (long long)s,
                             (long long)n, (long long)a->width);
        for (int64_t i = 0; i < n; i++)
            values[s * a->width + i] = next++ % a->blocks;
    }
    table->t.dtype = DTYPE_I32;
    table->fill = FILL_VALUES;
    table->values = values;
    return NULL;
}

/* A paged cache of 3 dimensions, (blocks, positions, heads * d), or of 4, (blocks, heads,
 * positions, d). */
static struct op_view cache_view(const struct tensor *t, int64_t dim)
{
    if (t->rank == 3)
        return (struct op_view){t->dim[1] * t->dim[2], t->dim[2], dim};
    return (struct op_view){t->dim[1] * t->dim[2] * t->dim[3], t->dim[3], t->dim[2] * t->dim[3]};
}

static const char *fia_cache(struct op_call *c, const struct op_row *row)
{
    struct op_attention *a = &c->attention;
    const struct tensor *key = &row->in[FIA_KEY].t, *value = &row->in[FIA_VALUE].t;
    const struct tensor *table = &row->in[FIA_TABLE].t;

    if ((key->rank != 3 && key->rank != 4) || value->rank != key->rank || table->rank != 2 ||
        key->dim[0] < 1 || value->dim[0] != key->dim[0])
        return op_refuse(c, "a paged cache has three or four dimensions, its table two");
    if (key->rank == 4)
        a->kv_heads = key->dim[1];
    if (a->kv_heads < 1 || a->heads % a->kv_heads != 0)
        return op_refuse(c, "%lld heads cannot share %lld", (long long)a->heads,
                         (long long)a->kv_heads);
    a->blocks = key->dim[0];
    a->block = key->dim[key->rank - 2];
    a->width = table->dim[1];
    int64_t share = key->rank == 3 ? a->kv_heads : 1;
    a->value = tensor_back(value, 0) / share;
    if (a->block < 1 || tensor_back(key, 0) != a->dim * share || table->dim[0] < a->seqs ||
        value->dim[value->rank - 2] != a->block)
        return op_refuse(c, "the cache does not fit the queries");
    a->k = cache_view(key, a->dim);
    a->v = cache_view(value, a->value);
    if (a->rope > 0) {
        const struct tensor *rope = &row->in[FIA_KEY_ROPE].t;
        if (!row->in[FIA_KEY_ROPE].is_given || rope->rank != key->rank ||
            rope->dim[0] != a->blocks || tensor_back(rope, 0) != a->rope * share)
            return op_refuse(c, "the rotated keys do not fit");
        a->k_rope = cache_view(rope, a->rope);
    }
    if (a->rope > 0 && a->value == a->dim) /* latent: the values are the keys */
        c->in[ATTN_VALUE].alias = 1 + ATTN_KEY;
    return fill_table(c, &c->in[ATTN_TABLE]);
}

static const char *fia_plain(struct op_call *c, const struct op_row *row)
{
    struct op_attention *a = &c->attention;
    const struct tensor *key = &row->in[FIA_KEY].t, *value = &row->in[FIA_VALUE].t;
    bool is_4d = key->rank == 4;

    if (key->rank != row->in[FIA_QUERY].t.rank || value->rank != key->rank)
        return op_refuse(c, "keys and values must have the dimensions of the queries");
    if (key->dim[1] != a->kv_heads || a->kv_heads < 1 || a->heads % a->kv_heads != 0)
        return op_refuse(c, "%lld heads of keys are given, the operand has %lld",
                         (long long)a->kv_heads, (long long)key->dim[1]);
    a->value = tensor_back(value, 0);
    if (tensor_back(key, 0) != a->dim || tensor_rows(key) != tensor_rows(value) || a->rope > 0)
        return op_refuse(c, "the keys do not fit the queries");
    int64_t step = is_4d ? 1 : a->kv_heads, head = is_4d ? key->dim[2] : 1;
    a->k = (struct op_view){a->kv_heads * a->dim * head, step * a->dim, head * a->dim};
    a->v = (struct op_view){a->kv_heads * a->value * head, step * a->value, head * a->value};
    return NULL;
}

/* Queries and results: (T,N,D), or (B,N,S,D) and (N,B,S,D). */
static void fia_views(struct op_call *c, const struct op_row *row)
{
    struct op_attention *a = &c->attention;
    const struct tensor *q = &row->in[FIA_QUERY].t;
    int64_t n = a->heads;

    if (q->rank == 3) {
        a->q = (struct op_view){n * a->dim, n * a->dim, a->dim};
        a->q_rope = (struct op_view){n * a->rope, n * a->rope, a->rope};
        a->out = (struct op_view){n * a->value, n * a->value, a->value};
        a->lse = (struct op_view){n, n, 1};
        OP_OUT(c, row, q->dtype, q->dim[0], n, a->value);
        return;
    }
    int64_t s = q->dim[2], b = q->dim[0];
    a->q = (struct op_view){n * s * a->dim, a->dim, s * a->dim};
    a->q_rope = (struct op_view){n * s * a->rope, a->rope, s * a->rope};
    a->out = (struct op_view){s * a->value, a->value, b * s * a->value};
    a->lse = (struct op_view){s * n, n, 1};
    OP_OUT(c, row, q->dtype, n, b, s, a->value);
}

static bool same_lengths(int32_t *out, size_t n, int64_t value)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)value;
    return value <= INT32_MAX;
}

static bool plain_lengths(struct op_list list, int32_t *out)
{
    for (size_t i = 0; i < list.n; i++) {
        if (list.at[i] < 0 || list.at[i] > INT32_MAX)
            return false;
        out[i] = (int32_t)list.at[i];
    }
    return true;
}

/* 0, 1, 2, ... */
static int32_t *counted(struct op_call *c, size_t n)
{
    int32_t *out = numbers(c, n);

    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)i;
    return out;
}

static const char *fia_lengths(struct op_call *c, const struct op_row *row,
                               const struct op_fia_args *args)
{
    struct op_attention *a = &c->attention;
    const struct tensor *q = &row->in[FIA_QUERY].t, *key = &row->in[FIA_KEY].t;
    bool is_4d = q->rank == 4, is_paged = row->in[FIA_TABLE].is_given;
    const int64_t one[] = {is_4d ? q->dim[2] : q->dim[0]}, all[] = {key->dim[0]};
    struct op_list query = args->query, kv = args->kv;

    if (query.at == NULL)
        query = (struct op_list){one, 1};
    if (kv.at == NULL && !is_paged)
        kv = (struct op_list){all, 1};
    if (kv.at == NULL || kv.n != query.n || query.n == 0 ||
        (is_4d && (int64_t)query.n != q->dim[0]))
        return op_refuse(c, "%zu query and %zu key sequences", query.n, kv.n);
    a->seqs = (int64_t)query.n;
    int32_t *q_len = numbers(c, query.n), *kv_len = numbers(c, query.n);
    bool is_fit =
        is_4d ? same_lengths(q_len, query.n, q->dim[2]) : to_lengths(query, q->dim[0], q_len);
    if (is_paged || is_4d)
        is_fit = is_fit && plain_lengths(kv, kv_len);
    else
        is_fit = is_fit && to_lengths(kv, key->dim[0], kv_len);
    if (!is_fit)
        return op_refuse(c, "the lengths of the sequences do not fit the operands");
    a->q_len = q_len;
    a->kv_len = kv_len;
    a->q_row = is_4d ? counted(c, query.n) : begins(c, q_len, a->seqs);
    a->kv_row = is_4d ? a->q_row : begins(c, kv_len, a->seqs);
    return NULL;
}

static const char *fia_heads(struct op_call *c, const struct op_row *row,
                             const struct op_fia_args *args)
{
    struct op_attention *a = &c->attention;
    const struct tensor *q = &row->in[FIA_QUERY].t;
    bool has_rope = row->in[FIA_QUERY_ROPE].is_given;

    a->heads = q->dim[1];
    a->kv_heads = args->kv_heads;
    a->dim = tensor_back(q, 0);
    a->rope = has_rope ? tensor_back(&row->in[FIA_QUERY_ROPE].t, 0) : 0;
    a->is_causal = args->sparse_mode == 3;
    c->scale = args->scale;
    if (a->heads < 1 || args->heads != a->heads ||
        (has_rope && tensor_rows(&row->in[FIA_QUERY_ROPE].t) != tensor_rows(q)))
        return op_refuse(c, "%lld heads are given, the query has %lld", (long long)args->heads,
                         (long long)a->heads);
    return NULL;
}

/* `width`: numbers of a key and its value; with a rope part both are the same latent vector. */
const char *op_fia_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_attention *a = &c->attention;
    struct op_fia_args args;
    const char *problem = op_fia_infer(c->arena, row, &args);
    static const size_t slots[] = {FIA_QUERY, FIA_KEY,        FIA_VALUE,
                                   FIA_TABLE, FIA_QUERY_ROPE, FIA_KEY_ROPE};

    if (problem == NULL)
        problem = fia_lengths(c, row, &args);
    if (problem != NULL)
        return problem;
    if (args.sparse_mode != 0 && args.sparse_mode != 3)
        return op_refuse_here(
            c, op_refuse(c, "sparse mode %lld is not replayed", (long long)args.sparse_mode));
    if ((problem = fia_heads(c, row, &args)) != NULL)
        return problem;
    const struct tensor *q = &row->in[FIA_QUERY].t;
    bool has_rope = row->in[FIA_QUERY_ROPE].is_given;
    for (size_t i = 0; i < ARRAY_LEN(slots); i++)
        add_or_empty(c, &row->in[slots[i]]);
    problem = row->in[FIA_TABLE].is_given ? fia_cache(c, row) : fia_plain(c, row);
    if (problem != NULL)
        return problem;
    fia_views(c, row);
    a->has_lse = row->n_out > 1 && row->out[1].is_given;
    if (a->has_lse)
        OP_OUT(c, row, DTYPE_F32, tensor_count(q) / (a->heads * a->dim), a->heads, 1)->t.dtype =
            DTYPE_F32;
    attention_finish(c, pairs(a));
    int64_t width = a->rope > 0 ? a->dim + a->rope : a->kv_heads * (a->dim + a->value);
    c->cost.read = tensor_bytes(q) + (has_rope ? tensor_bytes(&row->in[FIA_QUERY_ROPE].t) : 0) +
                   attention_sum_of(a->kv_len, a->seqs) * width *
                       (int64_t)tensor_element(row->in[FIA_KEY].t.dtype);
    return NULL;
}

/* One sequence from the first row on. */
static void one_sequence(struct op_call *c, int64_t q, int64_t kv)
{
    struct op_attention *a = &c->attention;
    int32_t *lengths = numbers(c, 2), *zero = numbers(c, 2);

    lengths[0] = (int32_t)q;
    lengths[1] = (int32_t)kv;
    a->seqs = 1;
    a->q_len = lengths;
    a->kv_len = lengths + 1;
    a->q_row = a->kv_row = zero;
}

enum { RING_Q, RING_Q_ROPE, RING_K, RING_K_ROPE, RING_V };

static const char *ring_sizes(struct op_call *c, const struct op_row *row)
{
    struct op_attention *a = &c->attention;
    const struct tensor *q = &row->in[RING_Q].t, *k = &row->in[RING_K].t, *v = &row->in[RING_V].t;

    for (size_t i = RING_Q; i <= RING_V; i++)
        if (row->in[i].t.rank != 3 || row->in[i].t.dim[1] != q->dim[1] ||
            row->in[i].t.dim[0] != (i < RING_K ? q : k)->dim[0])
            return op_refuse(c, "needs (Tq,H,d) twice and (Tk,H,d) three times");
    a->heads = a->kv_heads = q->dim[1];
    a->dim = q->dim[2];
    a->rope = row->in[RING_Q_ROPE].t.dim[2];
    a->value = v->dim[2];
    if (k->dim[2] != a->dim || row->in[RING_K_ROPE].t.dim[2] != a->rope || a->heads < 1 ||
        q->dim[0] > INT32_MAX || k->dim[0] > INT32_MAX)
        return op_refuse(c, "the keys do not fit the queries");
    return NULL;
}

const char *op_ring_prepare(struct op_call *c, const struct op_row *row)
{
    enum { PRE_OUT = 13, PRE_LSE = 14 };
    struct op_attention *a = &c->attention;
    const struct tensor *q = &row->in[RING_Q].t, *k = &row->in[RING_K].t;

    a->is_merging = row->in[PRE_OUT].is_given && row->in[PRE_LSE].is_given;
    const char *problem = ring_sizes(c, row);
    if (problem != NULL)
        return problem;
    const struct op_slot *order[] = {&row->in[RING_Q],      &row->in[RING_K],
                                     &row->in[RING_V],      NULL,
                                     &row->in[RING_Q_ROPE], &row->in[RING_K_ROPE]};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        add_or_empty(c, order[i]);
    if (a->is_merging) {
        struct op_arg *before = op_in(c, &row->in[PRE_OUT]), *lse = op_in(c, &row->in[PRE_LSE]);
        if (tensor_count(&before->t) != q->dim[0] * a->heads * a->value ||
            tensor_count(&lse->t) != q->dim[0] * a->heads)
            return op_refuse(c, "the results of the ring before do not fit");
    }
    one_sequence(c, q->dim[0], k->dim[0]);
    a->is_causal = !a->is_merging;
    int64_t n = a->heads;
    a->q = a->k = (struct op_view){n * a->dim, n * a->dim, a->dim};
    a->q_rope = a->k_rope = (struct op_view){n * a->rope, n * a->rope, a->rope};
    a->v = a->out = (struct op_view){n * a->value, n * a->value, a->value};
    a->lse = (struct op_view){1, 1, q->dim[0]};
    a->has_lse = true;
    c->scale = 1 / sqrt((double)(a->dim + a->rope));
    OP_OUT(c, row, q->dtype, q->dim[0], n, a->value);
    OP_OUT(c, row, DTYPE_F32, n, q->dim[0])->t.dtype = DTYPE_F32;
    attention_finish(c, pairs(a));
    if (a->is_merging)
        c->cost.vector += 6 * q->dim[0] * n * a->value;
    return NULL;
}

/* Sequences of about the same length, over a cache of (blocks, positions, 1, d). */
static const char *paged_sequences(struct op_call *c, const struct tensor *query,
                                   const struct tensor *cache, int64_t seqs, int64_t width)
{
    struct op_attention *a = &c->attention;

    if (query->rank != 3 || cache->rank != 4 || cache->dim[0] < 1 || cache->dim[1] < 1 ||
        seqs < 1 || width < 1 || query->dim[0] > INT32_MAX ||
        num_most_product(cache->dim[0], cache->dim[1]) > INT32_MAX)
        return op_refuse(c, "needs queries (T,H,d) and a cache (blocks,positions,1,d)");
    int64_t *lengths = op_split(c->arena, query->dim[0], seqs, 1);
    if (lengths == NULL)
        return op_refuse(c, "%lld tokens are too few for %lld sequences", (long long)query->dim[0],
                         (long long)seqs);
    int32_t *q = numbers(c, (size_t)seqs);
    for (int64_t i = 0; i < seqs; i++)
        q[i] = (int32_t)lengths[i];
    a->seqs = seqs;
    a->q_len = q;
    a->q_row = begins(c, q, seqs);
    a->heads = query->dim[1];
    a->kv_heads = 1;
    a->blocks = cache->dim[0];
    a->block = cache->dim[1];
    a->width = width;
    a->dim = query->dim[2];
    a->is_causal = true;
    if (tensor_count(cache) != a->blocks * a->block * a->dim)
        return op_refuse(c, "the cache does not fit the queries");
    a->k = (struct op_view){a->block * a->dim, a->dim, 0};
    a->q = (struct op_view){a->heads * a->dim, a->heads * a->dim, a->dim};
    return NULL;
}

static void count_table(struct op_arg *table, int64_t blocks)
{
    table->t.dtype = DTYPE_I32;
    table->fill = FILL_COUNT;
    table->below = blocks;
}

/* A pair of query and key costs a product of `dim` for each head, then ReLU, weight and sum. */
const char *op_indexer_prepare(struct op_call *c, const struct op_row *row)
{
    enum { QUERY, CACHE, WEIGHTS, LENGTHS, KV_LENGTHS, TABLE };
    struct op_attention *a = &c->attention;
    const struct tensor *q = &row->in[QUERY].t, *cache = &row->in[CACHE].t;
    const char *problem =
        paged_sequences(c, q, cache, row->in[LENGTHS].t.dim[0], tensor_back(&row->in[TABLE].t, 0));

    if (problem != NULL)
        return problem;
    if (tensor_count(&row->in[WEIGHTS].t) != q->dim[0] * a->heads)
        return op_refuse(c, "the weights do not fit the queries");
    int64_t *lengths = op_split(c->arena, a->blocks * a->block, a->seqs, 0);
    int32_t *kv = numbers(c, (size_t)a->seqs);
    for (int64_t i = 0; i < a->seqs; i++)
        kv[i] = (int32_t)(lengths[i] < a->width * a->block ? lengths[i] : a->width * a->block);
    a->kv_len = kv;
    a->top_k = row->n_out > 0 && row->out[0].t.rank > 0 ? tensor_back(&row->out[0].t, 0) : 2048;
    const struct op_slot *order[] = {
        &row->in[QUERY], &row->in[CACHE], NULL, &row->in[TABLE], NULL, NULL, &row->in[WEIGHTS]};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        add_or_empty(c, order[i]);
    count_table(&c->in[ATTN_TABLE], a->blocks);
    if (tensor_count(&c->in[ATTN_TABLE].t) != a->seqs * a->width || a->top_k < 1)
        return op_refuse(c, "the block table does not fit the sequences");
    int64_t p = pairs(a), e = (int64_t)tensor_element(cache->dtype);
    attention_finish(c, p);
    c->units = q->dim[0];
    c->depth = a->dim * a->heads;
    c->cost.cube = num_most_product(2 * a->heads * a->dim, p);
    c->cost.vector = num_most_product(3 * a->heads, p);
    c->cost.read = tensor_bytes(q) + tensor_bytes(&row->in[WEIGHTS].t) +
                   attention_sum_of(kv, a->seqs) * a->dim * e;
    c->cost.written = q->dim[0] * a->top_k * 4;
    OP_OUT(c, row, DTYPE_I32, q->dim[0], 1, a->top_k);
    if (row->n_out > 1 && row->out[1].is_given)
        c->cost.written += tensor_bytes(&OP_OUT(c, row, DTYPE_F32, q->dim[0], 1, a->top_k)->t);
    return NULL;
}

/* Positions from the first on, the same for every token. */
static void fill_list(struct op_call *c, int64_t listed)
{
    struct op_arg *list = &c->in[ATTN_LIST];
    int64_t n = tensor_count(&list->t), top_k = c->attention.top_k;
    int64_t *values = ARENA_ARRAY(c->arena, int64_t, (size_t)n);

    for (int64_t i = 0; i < n; i++)
        values[i] = i % top_k < listed ? i % top_k : listed - 1;
    list->t.dtype = DTYPE_I32;
    list->fill = FILL_VALUES;
    list->values = values;
}

/* Listed positions that the tokens may see. */
static int64_t listed_pairs(const struct op_attention *a, int64_t length, int64_t listed)
{
    int64_t p = 0;

    for (int64_t s = 0; s < a->seqs; s++)
        for (int64_t i = 0; i < a->q_len[s]; i++) {
            int64_t seen = length - a->q_len[s] + i + 1;
            p += seen < listed ? (seen > 0 ? seen : 0) : a->top_k;
        }
    return p;
}

const char *op_sparse_prepare(struct op_call *c, const struct op_row *row)
{
    enum { QUERY, KEY, VALUE, LIST, TABLE, LENGTHS, KV_LENGTHS, Q_ROPE, K_ROPE };
    struct op_attention *a = &c->attention;
    const struct tensor *q = &row->in[QUERY].t, *key = &row->in[KEY].t;
    const struct tensor *table = &row->in[TABLE].t;
    const char *problem =
        paged_sequences(c, q, key, table->rank == 2 ? table->dim[0] : 0, tensor_back(table, 0));

    if (problem != NULL)
        return problem;
    a->top_k = tensor_back(&row->in[LIST].t, 0);
    a->rope = tensor_back(&row->in[Q_ROPE].t, 0);
    a->value = tensor_back(&row->in[VALUE].t, 0);
    if (a->top_k < 1 || tensor_rows(&row->in[LIST].t) != q->dim[0] ||
        tensor_count(&row->in[Q_ROPE].t) != q->dim[0] * a->heads * a->rope ||
        tensor_count(&row->in[K_ROPE].t) != a->blocks * a->block * a->rope ||
        tensor_count(&row->in[VALUE].t) != a->blocks * a->block * a->value)
        return op_refuse(c, "the operands do not fit each other");
    int64_t length = a->width * a->block, listed = a->top_k < length ? a->top_k : length;
    int32_t *kv = numbers(c, (size_t)a->seqs);
    for (int64_t i = 0; i < a->seqs; i++)
        kv[i] = (int32_t)length;
    a->kv_len = kv;
    a->k_rope = (struct op_view){a->block * a->rope, a->rope, 0};
    a->v = (struct op_view){a->block * a->value, a->value, 0};
    a->q_rope = (struct op_view){a->heads * a->rope, a->heads * a->rope, a->rope};
    a->out = (struct op_view){a->heads * a->value, a->heads * a->value, a->value};
    const struct op_slot *order[] = {&row->in[QUERY], &row->in[KEY],    &row->in[VALUE],
                                     &row->in[TABLE], &row->in[Q_ROPE], &row->in[K_ROPE],
                                     &row->in[LIST]};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        add_or_empty(c, order[i]);
    count_table(&c->in[ATTN_TABLE], a->blocks);
    if (a->value == a->dim)
        c->in[ATTN_VALUE].alias = 1 + ATTN_KEY;
    fill_list(c, listed);
    int64_t p = listed_pairs(a, length, listed);
    attention_finish(c, p);
    c->scale = 1 / sqrt((double)(a->dim + a->rope));
    c->cost.read = tensor_bytes(q) + tensor_bytes(&row->in[Q_ROPE].t) +
                   p * (a->dim + a->rope) * (int64_t)tensor_element(key->dtype);
    struct op_arg *out = OP_OUT(c, row, q->dtype, q->dim[0], a->heads, a->value);
    c->cost.written = tensor_bytes(&out->t);
    return NULL;
}
