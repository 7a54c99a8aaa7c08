/*
 * A comparison as part of the document strata.diff/1. Keys and their order are a contract; times
 * carry their unit in the key, and what cannot be told is null.
 */
#include <math.h>

#include "analysis/compare.h"

static void put_group(struct json_writer *j, const char *key, size_t index)
{
    char buf[24] = "g";
    size_t n = num_print_f64(buf + 1, (double)index);

    json_put_str(j, key, (struct str){buf, n + 1});
}

/* Both sides, the change and how sure it is; `unit` nanoseconds are one of what is printed. */
static void put_change(struct json_writer *j, const struct change *c, double unit, bool is_time)
{
    json_put_f64(j, "a", c->median[SIDE_A] / unit);
    json_put_f64(j, "b", c->median[SIDE_B] / unit);
    json_put_f64(j, "change", c->delta / unit);
    json_put_f64(j, "change_ratio", c->relative);
    json_put_f64(j, "spread_a", c->spread[SIDE_A] / unit);
    json_put_f64(j, "spread_b", c->spread[SIDE_B] / unit);
    json_put_f64(j, "p", c->p);
    json_put_text(j, "verdict", change_name(c->kind, is_time));
}

static void put_metrics(struct json_writer *j, const struct compare_group *g)
{
    json_put_array(j, "metrics");
    for (int m = 0; m < COMPARE_METRICS; m++) {
        bool is_time = m != COMPARE_KERNELS;
        json_write_object(j);
        json_put_str(j, "metric", str_of(compare_metric_name((enum compare_metric)m)));
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
    json_put_u64(j, "calls_a", calls[SIDE_A]);
    json_put_u64(j, "calls_b", calls[SIDE_B]);
    json_put_f64(j, "total_ms_a", (double)total[SIDE_A] / 1e6);
    json_put_f64(j, "total_ms_b", (double)total[SIDE_B] / 1e6);
    json_put_f64(j, "per_call_us_a", each(total[SIDE_A], calls[SIDE_A]));
    json_put_f64(j, "per_call_us_b", each(total[SIDE_B], calls[SIDE_B]));
}

static void put_ops(struct json_writer *j, const struct compare_group *g)
{
    json_put_array(j, "operators");
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct compare_op *op = &g->ops[i];
        json_write_object(j);
        json_put_str(j, "operator", op->key);
        json_put_text(j, "metric", "us_per_step");
        put_change(j, &op->change, 1e3, true);
        put_calls(j, op->calls, op->total);
        json_put_f64(j, "calls_per_step_change", op->per_step_calls);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_groups(struct json_writer *j, const struct comparison *c)
{
    json_put_array(j, "groups");
    for (size_t i = 0; i < c->n_groups; i++) {
        const struct compare_group *g = &c->groups[i];
        json_write_object(j);
        put_group(j, "group_a", g->index[SIDE_A]);
        put_group(j, "group_b", g->index[SIDE_B]);
        json_put_u64(j, "steps_a", g->steps[SIDE_A]);
        json_put_u64(j, "steps_b", g->steps[SIDE_B]);
        json_put_u64(j, "samples_a", g->samples[SIDE_A]);
        json_put_u64(j, "samples_b", g->samples[SIDE_B]);
        json_put_f64(j, "similarity", g->similarity);
        json_put_bool(j, "same_work", g->is_same_work);
        json_put_bool(j, "noise_judged", g->is_judged);
        put_metrics(j, g);
        put_ops(j, g);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_totals(struct json_writer *j, const struct comparison *c)
{
    json_put_array(j, "operators");
    for (size_t i = 0; i < c->n_totals; i++) {
        const struct compare_total *t = &c->totals[i];
        const char *presence = t->calls[SIDE_A] == 0   ? "new"
                               : t->calls[SIDE_B] == 0 ? "gone"
                                                       : "both";
        json_write_object(j);
        json_put_str(j, "operator", t->key);
        json_put_text(j, "presence", presence);
        put_calls(j, t->calls, t->total);
        json_put_f64(j, "share_a", t->share[SIDE_A]);
        json_put_f64(j, "share_b", t->share[SIDE_B]);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_unmatched(struct json_writer *j, const struct comparison *c)
{
    static const char *const keys[] = {"a", "b"};
    char buf[24] = "g";

    json_put_object(j, "unmatched_groups");
    for (int side = 0; side < SIDES; side++) {
        json_put_array(j, keys[side]);
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
    json_put_object(j, side == SIDE_A ? "a" : "b");
    json_put_str(j, "name", str_of(c->name[side]));
    json_put_u64(j, "steps", c->steps[side]);
    json_put_u64(j, "kernels", c->kernels[side]);
    json_write_end(j);
}

void compare_write_json(const struct comparison *c, struct json_writer *j)
{
    json_write_object(j);
    json_put_known(j, "rank", c->rank >= 0, c->rank);
    put_side(j, c, SIDE_A);
    put_side(j, c, SIDE_B);
    json_put_f64(j, "service_ms_a", c->service[SIDE_A] / 1e6);
    json_put_f64(j, "service_ms_b", c->service[SIDE_B] / 1e6);
    json_put_f64(j, "service_change_ratio", c->relative);
    put_groups(j, c);
    put_unmatched(j, c);
    put_totals(j, c);
    json_write_end(j);
}
