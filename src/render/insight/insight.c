/*
 * insight: visualize_data.bin, as MindStudio Insight opens it.
 *
 * A block begins with its length, so payloads that are made here are produced twice: first into
 * nothing, to be counted, then into the file. Documents of the capture are written as they are.
 * Format reference: docs/formats/visualize-data.md
 */
#include "render/insight/insight.h"

#include <stdlib.h>

#include "render/insight/insight_table.h"
#include "render/insight/insight_trace.h"

struct blocks {
    struct insight_trace *trace;
    struct insight_table table;
    struct insight_files files;
    const struct cut *cut;
    bool is_whole; /* nothing was cut away */
    struct sink out;
};

static void put_payload(struct blocks *b, uint8_t type)
{
    if (type == BIN_API_INSTR)
        insight_table_write(&b->table, &b->trace->out);
    else if (type == BIN_API_FILE)
        insight_files_write(&b->files, &b->trace->out);
    else
        insight_trace_put(b->trace);
}

/* A block that is made of the slices. */
static bool write_made(struct blocks *b, uint8_t type)
{
    struct insight_trace *t = b->trace;

    text_out_open(&t->out, (struct sink){sink_drop, NULL});
    put_payload(b, type);
    uint64_t n = t->out.total + t->out.n;
    uint8_t version = type == BIN_API_INSTR ? BIN_NEW : BIN_MARK;
    if (t->is_stopped || !bin_write_header(b->out, type, version, n))
        return false;
    text_out_open(&t->out, b->out);
    put_payload(b, type);
    return text_out_close(&t->out) && !t->is_stopped && bin_write_padding(b->out, n);
}

/* The documents that are base info, or those that are not. */
static bool write_documents(struct blocks *b, bool is_info)
{
    const struct capture *cap = b->cut->cap;

    for (size_t i = 0; i < cap->documents.n; i++) {
        const struct document *d = &cap->documents.at[i];
        if ((d->type == BIN_BASE_INFO) != is_info || d->text.n == 0 ||
            ((d->type == BIN_API_INSTR || d->type == BIN_API_FILE) && !b->is_whole))
            continue;
        if (d->type == BIN_SOURCE ? !bin_write_source(b->out, d->path, d->text)
                                  : !bin_write_block(b->out, d->type, d->version, d->text))
            return false;
    }
    return true;
}

static bool write_insight(const struct cut *cut, const struct timeline_options *options,
                          struct sink out)
{
    const struct cut_options *o = &cut->options;
    struct blocks b = {.cut = cut, .out = out};

    b.is_whole = o->windows.n == 0 && !o->nothing && o->lanes_n == 0;
    b.trace = insight_trace_new(cut, options);
    insight_table_init(&b.table, cut);
    insight_files_init(&b.files, &b.table, cut);
    const struct capture *cap = cut->cap;
    bool has_info = capture_document(cap, BIN_BASE_INFO) != NULL;
    bool has_files = b.is_whole && capture_document(cap, BIN_API_FILE) != NULL;
    bool has_table = b.is_whole && capture_document(cap, BIN_API_INSTR) != NULL;
    bool has_trace = b.trace->order.n > 0 || cut->series_n > 0 || !has_info;
    /* The trace, or where there is none base info, comes first: an instruction table may not. */
    bool is_done = (!has_trace || write_made(&b, BIN_TRACE)) && write_documents(&b, true) &&
                   write_documents(&b, false) &&
                   (has_files || b.files.rows.n == 0 || write_made(&b, BIN_API_FILE)) &&
                   (has_table || b.table.rows.n == 0 || write_made(&b, BIN_API_INSTR));
    insight_files_fini(&b.files);
    insight_table_fini(&b.table);
    insight_trace_free(b.trace);
    return is_done;
}

bool insight_write_trace(const struct cut *cut, const struct timeline_options *options,
                         struct sink out)
{
    struct insight_trace *t = insight_trace_new(cut, options);
    text_out_open(&t->out, out);
    insight_trace_put(t);
    bool is_done = text_out_close(&t->out) && !t->is_stopped;
    insight_trace_free(t);
    return is_done;
}

void insight_write_table(const struct cut *cut, struct sink out)
{
    const struct document *d = capture_document(cut->cap, BIN_API_INSTR);
    struct text_out *text = mem_grow(NULL, sizeof(*text), 1);
    struct insight_table table;

    text_out_open(text, out);
    insight_table_init(&table, cut);
    if (d != NULL)
        text_out_put(text, d->text);
    else if (table.rows.n > 0)
        insight_table_write(&table, text);
    insight_table_fini(&table);
    text_out_close(text);
    mem_free(text);
}

void insight_pieces(const struct cut *cut, struct sink out,
                    void (*take)(void *ctx, const struct insight_event *e), void *ctx)
{
    struct insight_trace *t = insight_trace_new(cut, NULL);
    insight_trace_pieces(t, out, take, ctx);
    insight_trace_free(t);
}

const struct timeline_format timeline_insight = {
    .name = "insight",
    .endings = (const char *const[]){".bin", NULL},
    .summary = "visualize_data.bin, for MindStudio Insight",
    .is_binary = true,
    .write = write_insight,
};
