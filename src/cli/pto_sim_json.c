#include "cli/pto_sim_show.h"

static void put_checks(struct json_writer *j, const struct pto_sim_extras *x)
{
    json_put_array(j, "checks");
    for (size_t i = 0; i < x->n_checks; i++) {
        const struct pto_compared *r = &x->checks[i].result;
        json_write_object(j);
        json_put_str(j, "argument", x->checks[i].name);
        json_put_u64(j, "elements", r->n);
        json_put_u64(j, "wrong", r->wrong);
        json_put_f64(j, "max_abs", r->max_abs);
        json_put_f64(j, "max_rel", r->max_rel);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_arguments(struct json_writer *j, const struct pto_kernel *k)
{
    json_put_array(j, "arguments");
    for (size_t i = 0; i < k->args.n; i++) {
        const struct pto_bound_arg *a = &k->args.at[i];
        json_write_object(j);
        json_put_str(j, "name", a->name);
        json_put_bool(j, "given", a->is_given);
        if (a->size.is_pointer) {
            json_put_text(j, "type", pto_dtype_name(a->size.dtype));
            json_put_i64(j, "elements", pto_gm_elements(&a->size));
            json_put_bool(j, "dynamic", a->size.is_dynamic);
        }
        json_write_end(j);
    }
    json_write_end(j);
}

void pto_sim_json(struct json_writer *j, const char *path, const struct pto_kernel *k,
                  const struct pto_sim_extras *x)
{
    json_write_object(j);
    json_put_text(j, "path", path);
    json_put_i64(j, "total_cycles", k->total);
    json_put_f64(j, "total_us", pto_outcome_us(&k->outcome, k->total));
    json_put_array(j, "blocks");
    for (size_t i = 0; i < k->blocks.n; i++)
        json_write_i64(j, k->blocks.at[i]);
    json_write_end(j);
    json_put_i64(j, "block", k->longest);
    pto_outcome_members(&k->outcome, j);
    put_arguments(j, k);
    if (x && x->what_ifs.n > 0) {
        json_write_key(j, S("what_if"));
        pto_what_if_json(&k->outcome, &x->what_ifs, j);
    }
    if (x && x->n_checks > 0)
        put_checks(j, x);
    if (x && x->has_view) {
        json_write_key(j, S("timeline"));
        record_json_list(j, &incore_strip_record, x->view.strips.at, x->view.strips.n, NULL);
    }
    json_write_end(j);
}
