/*
 * The documents of a comparison by kernel: JSON for programs, a table for people. Their words and
 * widths are those of the public tool, so that scripts made for it go on working.
 */
#include <math.h>
#include <stdio.h>

#include "base/text_out.h"
#include "perfdb/compare_ops.h"
#include "perfdb/compare_text.h"

enum { SHOWN_ROWS = 15 };

static struct str join_names(struct arena *arena, const struct ops_row *row)
{
    struct str text = S("");

    for (size_t i = 0; i < row->n_names; i++)
        text = arena_format(arena, "%.*s%s%.*s", STR_ARGS(text), i > 0 ? ", " : "",
                            STR_ARGS(row->names[i]));
    return text;
}

/* A share of nothing is written as a whole 0. */
static void put_error(struct json_writer *j, struct str key, double predicted, double measured)
{
    if (measured != 0) {
        decimal_json(j, key, ops_error(predicted, measured), 1);
        return;
    }
    json_write_key(j, key);
    json_write_i64(j, 0);
}

static void put_row(struct json_writer *j, const struct ops_row *row, struct arena *arena)
{
    json_write_object(j);
    json_put_str(j, "kernel_type", row->kernel);
    json_put_str(j, "tc_funcs", join_names(arena, row));
    if (row->predicted_n > 0) {
        decimal_json(j, S("tc_total_us"), row->predicted_us, 1);
    } else {
        json_put_i64(j, "tc_total_us", 0);
    }
    json_put_u64(j, "tc_count", row->predicted_n);
    decimal_json(j, S("prof_per_fwd_us"), row->measured_us, 1);
    json_put_i64(j, "prof_count", (int64_t)rint(row->measured_n));
    put_error(j, S("error_pct"), row->predicted_us, row->measured_us);
    put_error(j, S("count_error_pct"), (double)row->predicted_n, row->measured_n);
    json_put_text(j, "status", ops_status(row));
    json_write_end(j);
}

void ops_rows_json(const struct ops_rows *rows, struct json_writer *j)
{
    struct arena scratch;

    arena_init(&scratch);
    json_write_array(j);
    for (size_t i = 0; i < rows->at.n; i++) {
        struct arena_mark mark = arena_mark(&scratch);
        put_row(j, &rows->at.at[i], &scratch);
        arena_rewind(&scratch, mark);
    }
    json_write_end(j);
    arena_free(&scratch);
}

/* Characters, not bytes, fill a column. A control character would break the line. */
static void put_padded(struct text_out *out, struct str text, size_t width)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.at[i];
        n += (c & 0xc0) != 0x80;
        text_out_put(out, c < 0x20 || c == 0x7f ? S(" ") : str_part(text, i, 1));
    }
    for (; n < width; n++)
        text_out_put(out, S(" "));
}

static void put_line(struct text_out *out, char fill)
{
    char line[116];

    memset(line, fill, 115);
    line[115] = '\n';
    text_out_put(out, (struct str){line, sizeof(line)});
}

static void print_row(struct text_out *out, const struct ops_row *row, double all_us)
{
    char text[4 * DECIMAL_TEXT];

    put_padded(out, row->kernel, 35);
    int n = snprintf(text, sizeof(text), " %12.1f %7llu %12.1f %8.0f %8.1f%% %8.1f%% %7.1f%% ",
                     row->predicted_us, (unsigned long long)row->predicted_n, row->measured_us,
                     rint(row->measured_n), ops_error(row->predicted_us, row->measured_us),
                     ops_error((double)row->predicted_n, row->measured_n),
                     all_us > 0 ? decimal_round(row->measured_us, 1) / all_us * 100 : 0);
    text_out_put(out, (struct str){text, (size_t)n});
    put_padded(out, str_of(ops_status(row)), 6);
    text_out_put(out, S("\n"));
}

bool ops_rows_print(const struct ops_rows *rows, const char *scenario, struct sink sink)
{
    struct text_out out;
    double predicted = 0, measured = 0;
    char total[3 * DECIMAL_TEXT];

    /* The totals are those of the numbers shown. */
    for (size_t i = 0; i < rows->at.n; i++) {
        predicted += decimal_round(rows->at.at[i].predicted_us, 1);
        measured += decimal_round(rows->at.at[i].measured_us, 1);
    }
    text_out_open(&out, sink);
    text_out_put(&out, S("\n"));
    put_line(&out, '=');
    text_out_put(&out, str_of(scenario));
    text_out_put(&out, S(" — TC vs Profiling per-forward\n"));
    put_line(&out, '=');
    text_out_put(&out, S("kernel_type                               TC(μs)    "
                         "TC次数     Prof(μs)   Prof次数      "
                         "延迟误差      次数误差   "
                         "Prof占比 状态    \n"));
    put_line(&out, '-');
    for (size_t i = 0; i < rows->at.n && i < SHOWN_ROWS; i++)
        print_row(&out, &rows->at.at[i], measured);
    int n = snprintf(total, sizeof(total), "%-35s %12.1f %7s %12.1f\n", "TOTAL", predicted, "",
                     measured);
    text_out_put(&out, (struct str){total, (size_t)n});
    return text_out_close(&out);
}
