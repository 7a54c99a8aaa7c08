/*
 * A comparison as part of the document strata.diff/1. Keys and their order are a contract; times
 * carry their unit in the key, and what cannot be told is null.
 */
#include <math.h>

#include "analysis/compare.h"

static void put_key(struct json_writer *j, const char *key)
{
    json_write_key(j, str_of(key));
}

static void put_count(struct json_writer *j, const char *key, size_t n)
{
    put_key(j, key);
    json_write_u64(j, n);
}

static void put_number(struct json_writer *j, const char *key, double value)
{
    put_key(j, key);
    json_write_f64(j, value);
}

static void put_text(struct json_writer *j, const char *key, struct str text)
{
    put_key(j, key);
    json_write_string(j, text);
}

static void put_group(struct json_writer *j, const char *key, size_t index)
{
    char buf[24] = "g";
    size_t n = num_print_f64(buf + 1, (double)index);

    put_text(j, key, (struct str){buf, n + 1});
}

/* Both sides, the change and how sure it is; `unit` nanoseconds are one of what is printed. */
static void put_change(struct json_writer *j, const struct change *c, double unit, bool is_time)
{
    put_number(j, "a", c->median[SIDE_A] / unit);
    put_number(j, "b", c->median[SIDE_B] / unit);
    put_number(j, "change", c->delta / unit);
    put_number(j, "change_ratio", c->relative);
    put_number(j, "spread_a", c->spread[SIDE_A] / unit);
    put_number(j, "spread_b", c->spread[SIDE_B] / unit);
    put_number(j, "p", c->p);
    put_text(j, "verdict", str_of(change_name(c->kind, is_time)));
}

static void put_metrics(struct json_writer *j, const struct compare_group *g)
{
    put_key(j, "metrics");
    json_write_array(j);
    for (int m = 0; m < COMPARE_METRICS; m++) {
        bool is_time = m != COMPARE_KERNELS;
        json_write_object(j);
        put_text(j, "metric", str_of(compare_metric_name((enum compare_metric)m)));
        put_change(j, &g->metrics[m], is_time ? 1e6 : 1, is_time);
        json_write_end(j);
    }
    json_write_end(j);
}

static double each(nanos total, size_t calls)
{
    return calls > 0 ? (double)total / (double)calls / 1e3 : NAN;
}

static void put_calls(struct json_writer *j, const size_t *calls, const nanos *total)
{
    put_count(j, "calls_a", calls[SIDE_A]);
    put_count(j, "calls_b", calls[SIDE_B]);
    put_number(j, "total_ms_a", (double)total[SIDE_A] / 1e6);
    put_number(j, "total_ms_b", (double)total[SIDE_B] / 1e6);
    put_number(j, "per_call_us_a", each(total[SIDE_A], calls[SIDE_A]));
    put_number(j, "per_call_us_b", each(total[SIDE_B], calls[SIDE_B]));
}

static void put_ops(struct json_writer *j, const struct compare_group *g)
{
    put_key(j, "operators");
    json_write_array(j);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct compare_op *op = &g->ops[i];
        json_write_object(j);
        put_text(j, "operator", op->key);
        put_text(j, "metric", S("us_per_step"));
        put_change(j, &op->change, 1e3, true);
        put_calls(j, op->calls, op->total);
        put_number(j, "calls_per_step_change", op->per_step_calls);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_groups(struct json_writer *j, const struct comparison *c)
{
    put_key(j, "groups");
    json_write_array(j);
    for (size_t i = 0; i < c->n_groups; i++) {
        const struct compare_group *g = &c->groups[i];
        json_write_object(j);
        put_group(j, "group_a", g->index[SIDE_A]);
        put_group(j, "group_b", g->index[SIDE_B]);
        put_count(j, "steps_a", g->steps[SIDE_A]);
        put_count(j, "steps_b", g->steps[SIDE_B]);
        put_count(j, "samples_a", g->samples[SIDE_A]);
        put_count(j, "samples_b", g->samples[SIDE_B]);
        put_number(j, "similarity", g->similarity);
        put_key(j, "same_work");
        json_write_bool(j, g->is_same_work);
        put_key(j, "noise_judged");
        json_write_bool(j, g->is_judged);
        put_metrics(j, g);
        put_ops(j, g);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_totals(struct json_writer *j, const struct comparison *c)
{
    put_key(j, "operators");
    json_write_array(j);
    for (size_t i = 0; i < c->n_totals; i++) {
        const struct compare_total *t = &c->totals[i];
        const char *presence = t->calls[SIDE_A] == 0   ? "new"
                               : t->calls[SIDE_B] == 0 ? "gone"
                                                       : "both";
        json_write_object(j);
        put_text(j, "operator", t->key);
        put_text(j, "presence", str_of(presence));
        put_calls(j, t->calls, t->total);
        put_number(j, "share_a", t->share[SIDE_A]);
        put_number(j, "share_b", t->share[SIDE_B]);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_unmatched(struct json_writer *j, const struct comparison *c)
{
    static const char *const keys[] = {"a", "b"};
    char buf[24] = "g";

    put_key(j, "unmatched_groups");
    json_write_object(j);
    for (int side = 0; side < SIDES; side++) {
        put_key(j, keys[side]);
        json_write_array(j);
        for (size_t i = 0; i < c->n_unmatched[side]; i++) {
            size_t n = num_print_f64(buf + 1, (double)c->unmatched[side][i]);
            json_write_string(j, (struct str){buf, n + 1});
        }
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_side(struct json_writer *j, const struct comparison *c, enum side side)
{
    put_key(j, side == SIDE_A ? "a" : "b");
    json_write_object(j);
    put_text(j, "name", str_of(c->name[side]));
    put_count(j, "steps", c->steps[side]);
    put_count(j, "kernels", c->kernels[side]);
    json_write_end(j);
}

void compare_write_json(const struct comparison *c, struct json_writer *j)
{
    json_write_object(j);
    put_key(j, "rank");
    if (c->rank >= 0)
        json_write_i64(j, c->rank);
    else
        json_write_null(j);
    put_side(j, c, SIDE_A);
    put_side(j, c, SIDE_B);
    put_number(j, "service_ms_a", c->service[SIDE_A] / 1e6);
    put_number(j, "service_ms_b", c->service[SIDE_B] / 1e6);
    put_number(j, "service_change_ratio", c->relative);
    put_groups(j, c);
    put_unmatched(j, c);
    put_totals(j, c);
    json_write_end(j);
}
