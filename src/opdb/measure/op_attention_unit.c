/*
 * One result of attention, and of the indexer. See op_attention.c for the calls.
 */
#include <math.h>
#include <stdlib.h>

#include "opdb/measure/op_inside.h"

/* One query: its sequence, its place there and the head. */
struct op_query {
    int64_t seq, pos, head;
    int64_t seen; /* keys from the first on that it may see */
};

static struct op_query query_of(const struct op_attention *a, int64_t token, int64_t head)
{
    int64_t s = 0;

    while (s + 1 < a->seqs && a->q_first[s + 1] <= token)
        s++;
    int64_t pos = token - a->q_first[s], seen = a->kv_len[s];
    if (a->is_causal && seen - a->q_len[s] + pos + 1 < seen)
        seen = seen - a->q_len[s] + pos + 1;
    return (struct op_query){s, pos, head, seen > 0 ? seen : 0};
}

static int64_t place_q(const struct op_view *v, const int32_t *row, const struct op_query *q)
{
    return row[q->seq] * v->unit + q->pos * v->pos + q->head * v->head;
}

static int64_t place_kv(const struct op_call *c, const struct op_view *v, const struct op_query *q,
                        int64_t pos)
{
    const struct op_attention *a = &c->attention;
    int64_t head = a->heads > a->kv_heads ? q->head / (a->heads / a->kv_heads) : q->head;

    if (a->block == 0)
        return a->kv_row[q->seq] * v->unit + pos * v->pos + head * v->head;
    int64_t block = (int64_t)tensor_at(&c->in[ATTN_TABLE].t, q->seq * a->width + pos / a->block);
    return block * v->unit + pos % a->block * v->pos + head * v->head;
}

static double dot(const double *x, const struct tensor *t, int64_t from, int64_t n, double *line)
{
    double sum = 0;

    tensor_load(t, from, n, line);
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * line[i];
    return sum;
}

/* Joins the result of the rings before. */
static double merge(const struct op_call *c, double lse, int64_t at, int64_t lse_at, double *out,
                    struct arena *scratch)
{
    const struct op_attention *a = &c->attention;
    double before = tensor_at(&c->in[ATTN_PREVIOUS].t, lse_at);
    double most = fmax(before, lse), sum = most + log(exp(before - most) + exp(lse - most));
    double *old = op_load(&c->in[ATTN_LIST].t, at, a->value, scratch);

    for (int64_t i = 0; i < a->value; i++)
        out[i] = old[i] * exp(before - sum) + out[i] * exp(lse - sum);
    return sum;
}

/* Scores of the keys that a query may see, and where these are; the largest score. */
static double score_keys(const struct op_call *c, int64_t token, const struct op_query *q,
                         double *score, int64_t *place, int64_t n, struct arena *scratch)
{
    const struct op_attention *a = &c->attention;
    double *x = op_load(&c->in[ATTN_QUERY].t, place_q(&a->q, a->q_row, q), a->dim, scratch);
    double *r = a->rope > 0 ? op_load(&c->in[ATTN_Q_ROPE].t, place_q(&a->q_rope, a->q_row, q),
                                      a->rope, scratch)
                            : NULL;
    int64_t widest = a->dim > a->rope ? a->dim : a->rope;
    double *line = ARENA_ARRAY(scratch, double, (size_t)widest), most = -INFINITY;

    for (int64_t i = 0; i < n; i++) {
        place[i] = a->top_k > 0 ? (int64_t)tensor_at(&c->in[ATTN_LIST].t, token * a->top_k + i) : i;
        score[i] = -INFINITY;
        if (place[i] < 0 || place[i] >= q->seen)
            continue;
        score[i] = dot(x, &c->in[ATTN_KEY].t, place_kv(c, &a->k, q, place[i]), a->dim, line);
        if (r != NULL)
            score[i] +=
                dot(r, &c->in[ATTN_K_ROPE].t, place_kv(c, &a->k_rope, q, place[i]), a->rope, line);
        score[i] *= c->scale;
        most = fmax(most, score[i]);
    }
    return most;
}

/* Values weighted by their scores, into `out`; the sum of the weights. */
static double mix_values(const struct op_call *c, const struct op_query *q, const double *score,
                         const int64_t *place, int64_t n, double most, double *out,
                         struct arena *scratch)
{
    const struct op_attention *a = &c->attention;
    double *line = ARENA_ARRAY(scratch, double, (size_t)a->value), sum = 0;

    for (int64_t i = 0; i < n; i++) {
        if (score[i] == -INFINITY)
            continue;
        double p = exp(score[i] - most);
        sum += p;
        tensor_load(&c->in[ATTN_VALUE].t, place_kv(c, &a->v, q, place[i]), a->value, line);
        for (int64_t k = 0; k < a->value; k++)
            out[k] += p * line[k];
    }
    for (int64_t k = 0; k < a->value && sum > 0; k++)
        out[k] /= sum;
    return sum;
}

size_t op_attention_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                         struct arena *scratch)
{
    const struct op_attention *a = &c->attention;
    int64_t token = unit / a->heads;
    struct op_query q = query_of(a, token, unit % a->heads);
    int64_t n = a->top_k > 0 ? a->top_k : q.seen;
    double *score = ARENA_ARRAY(scratch, double, (size_t)n);
    int64_t *place = ARENA_ARRAY(scratch, int64_t, (size_t)n);
    double *out = ARENA_ARRAY(scratch, double, (size_t)a->value);

    double most = score_keys(c, token, &q, score, place, n, scratch);
    double lse = most + log(mix_values(c, &q, score, place, n, most, out, scratch));
    int64_t at = place_q(&a->out, a->q_row, &q), lse_at = place_q(&a->lse, a->q_row, &q);
    if (a->is_merging)
        lse = merge(c, lse, at, lse_at, out, scratch);
    size_t wrote = op_store(c, spans, 0, at, a->value, out);
    return a->has_lse ? op_store(c, spans, 1, lse_at, 1, &lse) : wrote;
}

double op_indexer_worth(const struct op_call *c, int64_t unit, int64_t place, struct arena *scratch)
{
    const struct op_attention *a = &c->attention;
    struct op_query q = query_of(a, unit, 0);
    double *line = ARENA_ARRAY(scratch, double, (size_t)a->dim), score = 0;

    if (place < 0 || place >= q.seen)
        return NAN;
    int64_t key = place_kv(c, &a->k, &q, place);
    for (int64_t g = 0; g < a->heads; g++) {
        double *x = op_load(&c->in[ATTN_QUERY].t, (unit * a->heads + g) * a->dim, a->dim, scratch);
        double s = dot(x, &c->in[ATTN_KEY].t, key, a->dim, line);
        score += tensor_at(&c->in[ATTN_LIST].t, unit * a->heads + g) * fmax(s, 0);
    }
    return score;
}

struct scored {
    double score;
    int64_t place;
};

ORDER_BY(by_score, struct scored, ORDER(y->score, x->score) ?: ORDER(x->place, y->place));

size_t op_indexer_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                       struct arena *scratch)
{
    const struct op_attention *a = &c->attention;
    struct op_query q = query_of(a, unit, 0);
    struct scored *list = ARENA_ARRAY(scratch, struct scored, (size_t)q.seen);
    int64_t from = unit * a->top_k;

    for (int64_t i = 0; i < q.seen; i++) {
        struct arena_mark mark = arena_mark(scratch);
        double score = op_indexer_worth(c, unit, i, scratch);
        arena_rewind(scratch, mark);
        list[i] = (struct scored){score, i};
    }
    qsort(list, (size_t)q.seen, sizeof(*list), by_score);
    for (int64_t i = 0; i < a->top_k; i++) {
        tensor_put(&c->out[0].t, from + i, i < q.seen ? (double)list[i].place : -1);
        if (c->n_out > 1)
            tensor_put(&c->out[1].t, from + i, i < q.seen ? list[i].score : 0);
    }
    size_t n = op_wrote(spans, 0, from, a->top_k);
    return c->n_out > 1 ? op_wrote(spans, 1, from, a->top_k) : n;
}
