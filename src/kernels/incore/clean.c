/*
 * The cleaned trace as a document.
 */
#include "kernels/incore/files.h"

#include "base/text/text_out.h"

enum { TELL_EVERY = 16 << 20, ARROWS_EACH = 64 };

struct clean_writer {
    const struct incore_trace *t;
    const struct incore_lanes *lanes;
    struct text_out *out;
    struct arena arena;
    bool has_events;
};

static void clean_put_value(struct clean_writer *w, incore_value v)
{
    if (incore_value_is_raw(v))
        text_out_put(w->out, incore_value_text(w->t, v));
    else
        text_out_quoted(w->out, incore_value_text(w->t, v));
}

static void begin_event(struct clean_writer *w, struct str text)
{
    text_out_put(w->out, w->has_events ? S(",\n") : S("\n"));
    text_out_put(w->out, text);
    w->has_events = true;
}

/* "pid":...,"tid":... of a row. */
static void clean_put_row(struct clean_writer *w, uint32_t group, uint32_t lane)
{
    const struct incore_group *g = &w->t->groups.at[group];
    bool has_quotes = lane > 0 || !incore_value_is_raw(g->tid);

    text_out_put(w->out, S("\"pid\":"));
    clean_put_value(w, g->pid);
    text_out_put(w->out, has_quotes ? S(",\"tid\":\"") : S(",\"tid\":"));
    text_out_escaped(w->out, incore_value_text(w->t, g->tid));
    if (lane > 0) {
        text_out_put(w->out, S("#"));
        text_out_u64(w->out, lane);
    }
    if (has_quotes)
        text_out_put(w->out, S("\""));
}

static void put_thread(struct clean_writer *w, const struct incore_drawn *d)
{
    incore_value tid = w->t->groups.at[d->group].tid;
    struct str name = incore_value_text(w->t, tid);
    const struct incore_pipe *pipe = incore_pipe_find(incore_value_is_raw(tid) ? S("") : name);

    begin_event(w, S("{\"name\":\"thread_name\",\"ph\":\"M\","));
    clean_put_row(w, d->group, d->lane);
    text_out_put(w->out, S(",\"args\":{\"name\":"));
    if (d->lane == 0 && incore_value_is_raw(tid)) {
        text_out_put(w->out, name);
    } else {
        text_out_put(w->out, S("\""));
        text_out_escaped(w->out, pipe->label.n > 0 ? pipe->label : name);
        if (d->lane > 0) {
            text_out_put(w->out, S(" #"));
            text_out_u64(w->out, d->lane);
        }
        text_out_put(w->out, S("\""));
    }
    text_out_put(w->out, S("}}"));
    begin_event(w, S("{\"name\":\"thread_sort_index\",\"ph\":\"M\","));
    clean_put_row(w, d->group, d->lane);
    text_out_put(w->out, S(",\"args\":{\"sort_index\":"));
    text_out_u64(w->out, d->sort_index);
    text_out_put(w->out, S("}}"));
}

static void put_rows(struct clean_writer *w)
{
    const struct incore_lanes *lanes = w->lanes;
    size_t row = 0;

    for (size_t p = 0; p < lanes->pids_n; p++) {
        begin_event(w, S("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":"));
        clean_put_value(w, lanes->pids[p]);
        text_out_put(w->out, S(",\"args\":{\"name\":"));
        clean_put_value(w, lanes->pids[p]);
        text_out_put(w->out, S("}}"));
        begin_event(w, S("{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":"));
        clean_put_value(w, lanes->pids[p]);
        text_out_put(w->out, S(",\"args\":{\"sort_index\":"));
        text_out_u64(w->out, p);
        text_out_put(w->out, S("}}"));
        for (; row < lanes->rows_n; row++) {
            const struct incore_drawn *d = &lanes->drawn.at[lanes->rows[row]];
            if (w->t->groups.at[d->group].pid != lanes->pids[p])
                break;
            put_thread(w, d);
        }
    }
}

/* What all instructions of a pipe have in common, rendered once. */
struct common_keys {
    struct str row;    /* ,"ph":"X","pid":"core0","tid":"MTE2 */
    struct str colour; /* ,"cname":"good" */
    bool has_quotes;
};

/* The writer prints into a text for a while: what instructions have in common takes the same way
 * as the rest, once a pipe instead of once an instruction. */
static struct common_keys *render_groups(struct clean_writer *w)
{
    const struct incore_trace *t = w->t;
    struct common_keys *list = ARENA_ARRAY(&w->arena, struct common_keys, t->groups.n);
    struct text_out *out = mem_grow(NULL, 1, sizeof(*out)), *real = w->out;
    struct text text = {0};

    w->out = out;
    for (size_t g = 0; g < t->groups.n; g++) {
        const struct incore_group *group = &t->groups.at[g];
        list[g].has_quotes = !incore_value_is_raw(group->tid);
        text_out_open(out, text_sink(&text));
        text_out_put(out, S(",\"ph\":\"X\","));
        clean_put_row(w, (uint32_t)g, 0);
        text_out_close(out);
        list[g].row =
            arena_str(&w->arena, str_part(text_view(&text), 0, text.n - list[g].has_quotes));
        text_clear(&text);
        list[g].colour =
            incore_pipe_find(list[g].has_quotes ? incore_value_text(t, group->tid) : S(""))->colour;
    }
    w->out = real;
    text_free(&text);
    mem_free(out);
    return list;
}

static void put_instr(struct clean_writer *w, const struct incore_instr *in,
                      const struct common_keys *common)
{
    struct text_out *out = w->out;

    begin_event(w, S("{\"name\":"));
    text_out_put(out, incore_part_text(w->t, in, in->name));
    if (in->lane > 0 && !common->has_quotes) {
        text_out_put(out, S(",\"ph\":\"X\","));
        clean_put_row(w, in->group, in->lane);
    } else {
        text_out_put(out, common->row);
        if (in->lane > 0) {
            text_out_put(out, S("#"));
            text_out_u64(out, in->lane);
        }
        if (common->has_quotes)
            text_out_put(out, S("\""));
    }
    text_out_put(out, S(",\"ts\":"));
    text_out_put(out, incore_part_text(w->t, in, in->ts_text));
    text_out_put(out, S(",\"cname\":\""));
    text_out_put(out, common->colour);
    text_out_put(out, S("\""));
    if (in->dur_text.n > 0) {
        text_out_put(out, S(",\"dur\":"));
        text_out_put(out, incore_part_text(w->t, in, in->dur_text));
    }
    if (in->args.n > 0) {
        text_out_put(out, S(",\"args\":"));
        text_out_put(out, incore_part_text(w->t, in, in->args));
    }
    text_out_put(out, S("}"));
}

static void put_instrs(struct clean_writer *w, struct incore_watch watch)
{
    const struct common_keys *common = render_groups(w);
    uint64_t told = 0;

    for (size_t i = 0; i < w->t->instrs.n; i++) {
        const struct incore_instr *in = &w->t->instrs.at[i];
        if (!w->t->groups.at[in->group].is_kept)
            continue;
        put_instr(w, in, &common[in->group]);
        if (watch.done != NULL && in->at - told >= TELL_EVERY) {
            watch.done(watch.ctx, in->at);
            told = in->at;
        }
    }
}

static void put_end(struct clean_writer *w, const struct incore_arrow *arrow, uint64_t id,
                    bool is_start)
{
    const struct incore_instr *in = &w->t->instrs.at[is_start ? arrow->from : arrow->to];

    begin_event(w, is_start ? S("{\"ph\":\"s\",\"id\":") : S("{\"ph\":\"f\",\"id\":"));
    text_out_u64(w->out, id);
    text_out_put(w->out, arrow->is_intra ? S(",\"cat\":\"intra\"") : S(",\"cat\":\"sync\""));
    if (!is_start)
        text_out_put(w->out, S(",\"bp\":\"e\""));
    text_out_put(w->out, S(",\"name\":"));
    text_out_quoted(w->out, arrow->label);
    text_out_put(w->out, S(","));
    clean_put_row(w, in->group, in->lane);
    text_out_put(w->out, S(",\"ts\":"));
    text_out_put(w->out, incore_part_text(w->t, in, in->ts_text));
    text_out_put(w->out, S("}"));
}

bool incore_clean_write(const struct incore_trace *t, const struct incore_lanes *lanes,
                        const struct incore_arrows *arrows, struct incore_watch watch,
                        struct sink sink)
{
    struct text_out *out = mem_grow(NULL, 1, sizeof(*out));
    struct clean_writer w = {.t = t, .lanes = lanes, .out = out};

    arena_init(&w.arena);
    text_out_open(out, sink);
    text_out_put(out, S("{\"displayTimeUnit\":\"ns\",\"profilingType\":"));
    text_out_put(out, t->profiling_type.n > 0 ? t->profiling_type : S("\"op\""));
    text_out_put(out, S(",\"schemaVersion\":"));
    text_out_put(out, t->schema_version.n > 0 ? t->schema_version : S("1"));
    text_out_put(out, S(",\"traceEvents\":["));
    put_rows(&w);
    put_instrs(&w, watch);
    for (size_t i = 0; i < arrows->list.n; i++) {
        put_end(&w, &arrows->list.at[i], i + 1, true);
        put_end(&w, &arrows->list.at[i], i + 1, false);
        if (watch.done != NULL && i % ARROWS_EACH == ARROWS_EACH - 1)
            watch.done(watch.ctx, t->text.n); /* they lie anywhere */
    }
    for (size_t i = 0; i < t->counters.n; i++)
        begin_event(&w, str_part(t->text, t->counters.at[i].at, t->counters.at[i].n));
    text_out_put(out, S("\n]}\n"));
    bool ok = text_out_close(out);
    arena_free(&w.arena);
    mem_free(out);
    return ok;
}
