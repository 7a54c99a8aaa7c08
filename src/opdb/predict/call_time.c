/*
 * Times of calls. See call_time.h.
 */
#include "opdb/predict/call_time.h"

#include <math.h>

#include "base/text/num.h"
#include "opdb/rows/call_cells.h"
#include "opdb/rows/opset.h"

/* The work of a call of the model, as of a row of a table. */
static bool work_of_cells(struct arena *arena, const struct op_cells *c, struct call_work *out)
{
    struct query_row row;
    struct work_lengths lengths;
    bool is_paged = str_contains(c->types, S("INT32"));

    if (!query_row_read(arena, c->in, c->types, S(""), -1, &row))
        return false;
    if (c->lengths.n > 0) {
        if (!work_lengths_read(c->lengths, c->kv_lengths, is_paged, c->sparse_mode > 0, &lengths))
            return false;
        lengths.kv_heads = c->kv_heads;
        lengths.sparse = c->sparse_mode;
    }
    return work_of(arena, str_of(c->op), row.inputs, NULL, c->lengths.n > 0 ? &lengths : NULL,
                   S(""), out);
}

static enum status ask_cells(const struct call_times *t, const struct op_cells *c,
                             struct query_result *r)
{
    struct opset *set;
    struct call_work w;

    *r = (struct query_result){.miss = "csv_not_found"};
    TRY(query_set(t->db, str_of(c->op), &set, t->d));
    if (!work_of_cells(t->arena, c, &w))
        return ST_OK;
    if (set != NULL)
        query_answer(set, &w, false, r);
    if (r->miss != NULL && t->db->device != NULL) {
        struct query_input in = {.dtype = S("bf16")};
        struct query q = {.inputs = {&in, 1}};
        query_analytic(t->db->device, &q, str_of(c->op), &w, r);
    }
    return ST_OK;
}

/* Bytes as tables of collectives have them: of an exchange all that a card gives in, of which one
 * part stays; of a scatter what it gives in; else what one card has. */
static double message_bytes(const struct model_call *c)
{
    double n = (double)c->devices;

    if (c->comm == MODEL_DISPATCH || c->comm == MODEL_COMBINE)
        return c->sent * n / (n - 1);
    return c->comm == MODEL_REDUCE_SCATTER ? c->sent * n : c->sent;
}

/* Rings over links of that latency and bandwidth. */
static double by_links(const struct call_links *l, const struct model_call *c)
{
    double n = (double)c->devices, rounds = n - 1, moved = c->sent;

    if (c->comm == MODEL_ALL_REDUCE) {
        rounds = 2 * (n - 1);
        moved = 2 * (n - 1) / n * c->sent;
    } else if (c->comm == MODEL_ALL_GATHER || c->comm == MODEL_REDUCE_SCATTER) {
        moved = (n - 1) * c->sent;
    }
    return rounds * l->latency_us + moved / (l->gbps * 1e3);
}

/* Rows of the collective, else links. */
static enum status ask_comm(const struct call_times *t, const struct model_call *c,
                            struct query_result *r)
{
    struct query q = {.comm = call_comm_name(c->comm),
                      .message = {.bytes = num_i64_of(ceil(message_bytes(c))),
                                  .num_devices = c->devices,
                                  .tier = -1},
                      .is_model = true};

    TRY(query_run(t->db, &q, r, t->d));
    if (r->miss == NULL || t->links.gbps <= 0)
        return ST_OK;
    double us = by_links(&t->links, c);
    *r = (struct query_result){.latency_us = us,
                               .low_us = us,
                               .high_us = 2 * us,
                               .source = QUERY_ANALYTIC,
                               .has_interval = true};
    return ST_OK;
}

enum status call_time(const struct call_times *t, const struct model_call *c, struct call_time *out)
{
    struct op_cells cells;
    struct query_result r;

    *out = (struct call_time){.miss = "csv_not_found", .kernels = 1};
    if (!call_cells(t->arena, c, &cells))
        return ST_OK;
    if (c->op == MODEL_COMM) {
        out->op = str_of(cells.comm);
        out->shapes = arena_format(t->arena, "%.0f bytes, %lld devices", cells.bytes,
                                   (long long)cells.devices);
        TRY(ask_comm(t, c, &r));
    } else {
        out->op = str_of(cells.op);
        out->shapes = cells.in;
        TRY(ask_cells(t, &cells, &r));
    }
    out->miss = r.miss;
    if (r.miss != NULL)
        return ST_OK;
    out->us = r.latency_us;
    out->low_us = r.low_us;
    out->high_us = r.high_us;
    out->source = r.source;
    out->kernels = r.n_near > 0 ? r.near[0].kernels : 1;
    return ST_OK;
}
