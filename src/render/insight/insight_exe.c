/*
 * The two tables of one core that the simulator puts beside visualize_data.bin: sums by instruction
 * and by source line.
 * Format reference: docs/formats/instr-exe.md
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/formats/csv_write.h"
#include "base/tables/hash.h"
#include "base/tables/interval.h"
#include "render/insight/insight.h"
#include "render/insight/insight_table.h"

/* One run; sorted by row its row's runs are neighbours. */
struct run {
    uint32_t row;
    struct interval at;
};

struct row {
    struct str key; /* a line of the source; empty in the table of instructions */
    uint64_t pc;
    size_t slice; /* the first run */
    uint64_t calls;
    int64_t cycles;
    nanos busy; /* ticks with at least one run */
};

struct sums {
    struct insight_table table; /* for its keys */
    const struct cut *cut;
    bool by_line;
    struct hash ids; /* address, or hash of a line -> row */
    VEC_OF(struct row) rows;
    VEC_OF(struct run) runs;
};

static void add_run(struct sums *s, size_t number)
{
    struct slice slice = cut_slice(s->cut, number);
    struct insight_run run;
    uint64_t pc = 0;

    if (!insight_table_run(&s->table, &slice, &run) || !num_hex(run.address, &pc) ||
        (s->by_line && run.code.n == 0))
        return;
    uint64_t id = s->by_line ? hash_bytes(run.code) : pc;
    uint32_t row = hash_add(&s->ids, id, (uint32_t)s->rows.n);
    if (row == s->rows.n)
        vec_push(&s->rows, ((struct row){.key = run.code, .pc = pc, .slice = number}));
    s->rows.at[row].calls++;
    s->rows.at[row].cycles = nanos_add(s->rows.at[row].cycles, run.cycles);
    vec_push(&s->runs, ((struct run){row, {slice.begin, nanos_add(slice.begin, slice.dur)}}));
}

ORDER_BY(by_row, struct run, ORDER(x->row, y->row) ?: ORDER(x->at.begin, y->at.begin));

static void add_busy(struct sums *s)
{
    struct interval *list = mem_grow(NULL, sizeof(*list), s->runs.n + 1);

    if (s->runs.n > 0)
        qsort(s->runs.at, s->runs.n, sizeof(*s->runs.at), by_row);
    for (size_t i = 0, next; i < s->runs.n; i = next) {
        struct interval_set set = {list, 0};
        for (next = i; next < s->runs.n && s->runs.at[next].row == s->runs.at[i].row; next++)
            list[set.n++] = s->runs.at[next].at;
        interval_merge(&set);
        s->rows.at[s->runs.at[i].row].busy = interval_length(set);
    }
    mem_free(list);
}

/* The most cycles first. */
ORDER_BY(by_cycles, struct row,
         ORDER(y->cycles, x->cycles) ?: ORDER(x->pc, y->pc) ?: str_compare(x->key, y->key));

static void sums_init(struct sums *s, const struct cut *cut, strid core, bool by_line)
{
    const struct capture *cap = cut->cap;

    *s = (struct sums){.cut = cut, .by_line = by_line};
    insight_table_keys(&s->table, cap);
    for (lane_id i = 0; i < cap->lanes.n; i++) {
        const struct lane *lane = &cap->lanes.at[i];
        if (lane->key.kind != LANE_PIPE || lane->key.process != core)
            continue;
        for (size_t k = lane->first; k < lane->first + lane->n; k++)
            if (cut_has(cut, k))
                add_run(s, k);
    }
    add_busy(s);
    if (s->rows.n > 0)
        qsort(s->rows.at, s->rows.n, sizeof(*s->rows.at), by_cycles);
}

/* Microseconds, rounded to two decimals and printed with six, as the simulator does. */
static void put_time(struct csv_write *out, const struct capture *cap, nanos ticks)
{
    int64_t hz = cap->clock.hz > 0 ? cap->clock.hz : 1000000000;
    __int128 hundredths = ((__int128)ticks * 100000000 + hz / 2) / hz;
    char text[64];
    int n = snprintf(text, sizeof(text), "%lld.%02d0000", (long long)(hundredths / 100),
                     (int)(hundredths % 100));

    csv_write_cell(out, (struct str){text, (size_t)n});
}

static void exe_put_row(const struct sums *s, struct csv_write *out, const struct row *row)
{
    const struct capture *cap = s->cut->cap;
    struct slice slice = slices_at(&cap->slices, row->slice);
    struct attr detail = attrs_get(&cap->attrs, slice.own, s->table.key_detail);

    csv_write_cell(out, s->by_line ? row->key : capture_text(cap, slice.name));
    if (!s->by_line) {
        csv_write_u64(out, row->pc);
        csv_write_cell(out, capture_text(cap, cap->lanes.at[slice.lane].key.name));
    }
    csv_write_u64(out, row->calls);
    csv_write_i64(out, row->cycles);
    put_time(out, cap, row->busy);
    if (!s->by_line)
        csv_write_quoted(out, detail.type == ATTR_TEXT ? capture_text(cap, detail.text) : S(""));
    csv_write_row(out);
}

static bool write_sums(const struct cut *cut, strid core, bool by_line, struct sink sink)
{
    struct str head = by_line ? S("code,call_count,cycles,running_time(us)\n")
                              : S("instr,addr,pipe,call_count,cycles,running_time(us),detail\n");
    struct csv_write out;
    struct sums s;

    sums_init(&s, cut, core, by_line);
    csv_write_open(&out, sink);
    out.is_plain = true;
    bool is_begun = sink.write(sink.ctx, head);
    for (size_t i = 0; i < s.rows.n; i++)
        exe_put_row(&s, &out, &s.rows.at[i]);
    bool is_done = csv_write_close(&out) && is_begun;
    insight_table_fini(&s.table);
    hash_free(&s.ids);
    vec_free(&s.rows);
    vec_free(&s.runs);
    return is_done;
}

bool insight_write_instr_exe(const struct cut *cut, strid core, struct sink out)
{
    return write_sums(cut, core, false, out);
}

bool insight_write_code_exe(const struct cut *cut, strid core, struct sink out)
{
    return write_sums(cut, core, true, out);
}
