/*
 * What a calibration found: a cost file, and JSON.
 */
#include <stdio.h>

#include "base/csv_write.h"
#include "pto/calibrate.h"

bool pto_calibration_write(const struct pto_calibration *cal, struct sink sink)
{
    struct csv_write out;
    char note[96];

    csv_write_open(&out, sink);
    csv_write_cell(&out, S("key"));
    csv_write_cell(&out, S("value"));
    csv_write_cell(&out, S("error_percent"));
    csv_write_cell(&out, S("origin"));
    csv_write_row(&out);
    for (size_t i = 0; i < cal->refits.n; i++) {
        const struct pto_refit *r = &cal->refits.at[i];
        for (size_t k = 0; k < r->n_keys; k++) {
            csv_write_cell(&out, str_of(r->keys[k].name));
            csv_write_f64(&out, r->keys[k].after);
            (void)snprintf(note, sizeof(note), "%.2f", r->after.mean);
            csv_write_cell(&out, str_of(note));
            (void)snprintf(note, sizeof(note), "fitted to %zu points; was %g", r->points,
                           r->keys[k].before);
            csv_write_cell(&out, str_of(note));
            csv_write_row(&out);
        }
    }
    return csv_write_close(&out);
}

static void write_residual(struct json_writer *w, struct str key, struct pto_residual r)
{
    json_write_key(w, key);
    json_write_object(w);
    json_put_f64(w, "mean_percent", r.mean);
    json_put_f64(w, "worst_percent", r.worst);
    json_write_end(w);
}

static void write_refit(struct json_writer *w, const struct pto_refit *r)
{
    json_write_object(w);
    json_put_text(w, "name", r->name);
    json_put_u64(w, "points", r->points);
    write_residual(w, S("before"), r->before);
    write_residual(w, S("after"), r->after);
    json_put_array(w, "constants");
    for (size_t k = 0; k < r->n_keys; k++) {
        json_write_object(w);
        json_put_text(w, "key", r->keys[k].name);
        json_put_f64(w, "before", r->keys[k].before);
        json_put_f64(w, "after", r->keys[k].after);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

void pto_calibration_json(const struct pto_calibration *cal, struct json_writer *w)
{
    json_write_object(w);
    json_put_u64(w, "points", cal->points);
    json_put_u64(w, "unused", cal->unused);
    write_residual(w, S("before"), cal->before);
    write_residual(w, S("after"), cal->after);
    json_put_array(w, "laws");
    for (size_t i = 0; i < cal->refits.n; i++)
        write_refit(w, &cal->refits.at[i]);
    json_write_end(w);
    json_write_end(w);
}
