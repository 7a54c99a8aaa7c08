/*
 * text - a document put together with printf, for the writers of reports.
 */
#ifndef STRATA_GPU_TEXT_H
#define STRATA_GPU_TEXT_H

#include "base/json_write.h"

struct gpu_text {
    struct text buf;
};

void gpu_put(struct gpu_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A cell of a Markdown table with its bar and blanks: "| text ". Bars inside are escaped, line ends
 * become blanks. */
void gpu_put_cell(struct gpu_text *t, struct str text);

/* Text on one line, whatever it holds. */
void gpu_put_plain(struct gpu_text *t, struct str text);

/* "12.30", or an en dash for what was not collected. */
void gpu_put_number(struct gpu_text *t, double value, int decimals);

struct str gpu_text_view(const struct gpu_text *t);
void gpu_text_free(struct gpu_text *t);

#define GPU_DASH "\xe2\x80\x93" /* – */
#define GPU_LONG "\xe2\x80\x94" /* — */

#endif
