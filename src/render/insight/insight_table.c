/*
 * The table of instructions: runs added up by address and core, and written.
 */
#include "render/insight/insight_table.h"

#include <stdlib.h>

#include "base/tables/hash.h"
#include "base/text/char.h"

enum {
    MOST_CELLS = 10 << 20, /* rows times cores; more is no kernel */
    NANOSECONDS = 1000000000,
};

/* Of the lines of a call stack the first outside the toolkit, else the first. */
static struct str code_line(struct str stack)
{
    struct str rest = stack, line, first = str_part(stack, 0, str_find_char(stack, '\n'));

    while (rest.n > 0 && str_split(&rest, '\n', &line))
        if (!str_contains(line, S("ascend-toolkit")))
            return line;
    return first;
}

/* Ticks of the capture as cycles of its chip: as they are when the clock counts cycles, else by
 * the chip's frequency, 1850 MHz when it is not known. */
static int64_t cycles_of(const struct capture *cap, nanos ticks)
{
    static const struct {
        struct str name;
        int64_t mhz;
    } chips[] = {
        {S_INIT("310B4"), 500},  {S_INIT("310B"), 1224},  {S_INIT("310P5"), 800},
        {S_INIT("310P7"), 550},  {S_INIT("310P"), 1060},  {S_INIT("910B1"), 1850},
        {S_INIT("910B2"), 1800}, {S_INIT("910B3"), 1800}, {S_INIT("910B4"), 1650},
        {S_INIT("_957"), 1650},  {S_INIT("_958"), 1650},  {S_INIT("_959"), 1800},
        {S_INIT("_95A"), 1800},
    };
    size_t i = 0;

    if (cap->clock.hz != NANOSECONDS)
        return ticks;
    while (i < ARRAY_LEN(chips) &&
           !str_contains(capture_text(cap, cap->facts.device_name), chips[i].name))
        i++;
    __int128 made = (__int128)ticks * (i < ARRAY_LEN(chips) ? chips[i].mhz : 1850);
    made = (made + 500) / 1000;
    return made > INT64_MAX ? INT64_MAX : made < INT64_MIN ? INT64_MIN : (int64_t)made;
}

static struct attr attr_of(const struct capture *cap, const struct slice *s, strid key)
{
    struct attr a = attrs_get(&cap->attrs, s->own, key);

    return a.type != ATTR_NONE ? a : attrs_get(&cap->attrs, s->set, key);
}

/* ---- adding up ---- */

bool insight_table_run(const struct insight_table *t, const struct slice *s,
                       struct insight_run *out)
{
    const struct capture *cap = t->cap;
    struct attr pc = attr_of(cap, s, t->key_pc), bytes = attr_of(cap, s, t->key_bytes);
    struct attr code = attr_of(cap, s, t->key_code);
    bool is_run = s->kind == SLICE_INSTR || s->kind == SLICE_WAIT || s->kind == SLICE_CONTROL;

    if (t->key_pc == 0 || !is_run || pc.type != ATTR_TEXT || pc.text == 0)
        return false;
    *out = (struct insight_run){
        .cycles = cycles_of(cap, s->dur),
        .bytes = bytes.type == ATTR_INT ? bytes.number : 0,
        .address = capture_text(cap, pc.text),
        .code = code_line(code.type == ATTR_TEXT ? capture_text(cap, code.text) : S("")),
    };
    out->core = (uint32_t)t->cores.n;
    hash_get(&t->core_ids, cap->lanes.at[s->lane].key.process, &out->core);
    return true;
}

void insight_cell_add(struct insight_cell *cell, int64_t length, int64_t bytes)
{
    cell->cycles = nanos_add(cell->cycles, length);
    cell->executed++;
    if (bytes > 0)
        cell->bytes = nanos_add(cell->bytes < 0 ? 0 : cell->bytes, bytes);
}

static void table_add_slice(struct insight_table *t, struct hash *rows, struct hash *cells,
                            uint32_t number, const struct slice *s)
{
    const struct capture *cap = t->cap;
    struct insight_run run;

    if (!insight_table_run(t, s, &run))
        return;
    strid address = attr_of(cap, s, t->key_pc).text;
    if (run.core == t->cores.n) {
        hash_put(&t->core_ids, cap->lanes.at[s->lane].key.process, run.core);
        vec_push(&t->cores, cap->lanes.at[s->lane].key.process);
    }
    uint32_t row = hash_add(rows, address, (uint32_t)t->rows.n);
    if (row == t->rows.n)
        vec_push(&t->rows, ((struct insight_row){address, number}));
    uint32_t i = hash_add(cells, (uint64_t)row << 32 | run.core, (uint32_t)t->cells.n);
    if (i == t->cells.n)
        vec_push(&t->cells, ((struct insight_cell){.row = row, .core = run.core, .bytes = -1}));
    insight_cell_add(&t->cells.at[i], run.cycles, run.bytes);
}

ORDER_BY(by_row, struct insight_cell, ORDER(x->row, y->row) ?: ORDER(x->core, y->core));

/* Rows are compared where they stand. */
struct ranking {
    const char *rows;
    size_t size;
    int (*by)(const void *a, const void *b, const void *ctx);
    const void *ctx;
};

static int by_rank(const void *a, const void *b, void *ctx)
{
    const struct ranking *r = ctx;

    return r->by(r->rows + *(const uint32_t *)a * r->size, r->rows + *(const uint32_t *)b * r->size,
                 r->ctx);
}

uint32_t *insight_sort_rows(void *rows, size_t n, size_t size,
                            int (*by)(const void *a, const void *b, const void *ctx),
                            const void *ctx, struct insight_cell *cells, size_t cells_n)
{
    struct ranking ranking = {rows, size, by, ctx};
    uint32_t *order = mem_grow(NULL, sizeof(*order), n);
    uint32_t *places = mem_grow(NULL, sizeof(*places), n);
    char *sorted = mem_grow(NULL, size, n);

    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof(*order), by_rank, &ranking);
    for (size_t i = 0; i < n; i++) {
        memcpy(sorted + i * size, (char *)rows + order[i] * size, size);
        places[order[i]] = (uint32_t)i;
    }
    memcpy(rows, sorted, n * size);
    for (size_t i = 0; i < cells_n; i++)
        cells[i].row = places[cells[i].row];
    qsort(cells, cells_n, sizeof(*cells), by_row);
    mem_free(order);
    mem_free(sorted);
    return places;
}

static int by_address(const void *a, const void *b, const void *ctx)
{
    const struct insight_row *x = a, *y = b;

    return str_compare(capture_text(ctx, x->address), capture_text(ctx, y->address));
}

void insight_table_keys(struct insight_table *t, const struct capture *cap)
{
    *t = (struct insight_table){
        .cap = cap,
        .key_pc = intern_find(&cap->strings, S("pc_addr")),
        .key_code = intern_find(&cap->strings, S("code")),
        .key_detail = intern_find(&cap->strings, S("detail")),
        .key_bytes = intern_find(&cap->strings, S("process_bytes")),
        .key_lanes = intern_find(&cap->strings, S("vector_lanes_permille")),
        .key_conflict = intern_find(&cap->strings, S("ub_conflict_cycles")),
    };
}

void insight_table_init(struct insight_table *t, const struct cut *cut)
{
    const struct capture *cap = cut->cap;
    struct hash rows = {0}, cells = {0};

    insight_table_keys(t, cap);
    if (t->key_pc == 0)
        return;
    for (size_t i = 0; i < cap->slices.n; i++)
        if (cut_has(cut, i)) {
            struct slice s = cut_slice(cut, i);
            table_add_slice(t, &rows, &cells, (uint32_t)i, &s);
        }
    hash_free(&rows);
    hash_free(&cells);
    if (t->rows.n > 0 && t->rows.n > MOST_CELLS / t->cores.n)
        t->rows.n = 0;
    else if (t->rows.n > 0)
        mem_free(insight_sort_rows(t->rows.at, t->rows.n, sizeof(*t->rows.at), by_address, cap,
                                   t->cells.at, t->cells.n));
}

void insight_table_fini(struct insight_table *t)
{
    hash_free(&t->core_ids);
    vec_free(&t->cores);
    vec_free(&t->rows);
    vec_free(&t->cells);
}

/* ---- writing ---- */

/* The value of KEY in "KEY:value,KEY:value"; empty when absent. */
static struct str item(struct str detail, struct str key)
{
    struct str rest = detail.n > 0 ? detail : S(""), field;

    while (str_split(&rest, ',', &field)) {
        size_t colon = str_find_char(field, ':');
        if (colon < field.n && str_equal(str_trim(str_part(field, 0, colon)), key))
            return str_trim(str_part(field, colon + 1, field.n));
    }
    return S("");
}

/* A field without its value: "XD:X0=0x5" gives "XD:X0", "IMM:0" gives "IMM". */
static struct str without_value(struct str field)
{
    for (size_t i = 0; i < field.n; i++) {
        bool is_number = i + 1 < field.n && char_is_digit(field.at[i + 1]);
        if (field.at[i] == '=' || (field.at[i] == ':' && is_number))
            return str_part(field, 0, i);
    }
    return field;
}

/* "VADD Dtype:F32"; flags have the waiting pipe and the flag number. */
static void put_source(const struct insight_table *t, struct text_out *out, const struct slice *s)
{
    struct attr a = attr_of(t->cap, s, t->key_detail);
    struct str detail = a.type == ATTR_TEXT ? capture_text(t->cap, a.text) : S("");
    struct str name = capture_text(t->cap, s->name), field;
    bool is_wait = str_equal(name, S("WAIT_FLAG"));

    text_out_put(out, S("\""));
    text_out_escaped(out, name);
    if (is_wait || str_equal(name, S("SET_FLAG"))) {
        text_out_put(out, S(" "));
        text_out_escaped(out, item(detail, is_wait ? S("PIPE") : S("TRIGGERPIPE")));
        text_out_put(out, S(" ID:"));
        text_out_escaped(out, item(detail, S("FLAGID")));
    } else {
        struct str separator = S(" ");
        for (struct str rest = detail; detail.n > 0 && str_split(&rest, ',', &field);) {
            if (field.n == 0)
                continue;
            text_out_put(out, separator);
            text_out_escaped(out, without_value(field));
            separator = S(",");
        }
    }
    text_out_put(out, S("\""));
}

/* Cells are 32 bits wide in the viewer. */
static int64_t narrow(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value;
}

void insight_put_list(struct text_out *out, const char *key, size_t cores,
                      enum insight_column column, const struct insight_cell *cells, size_t n)
{
    size_t next = 0;

    text_out_put(out, S(",\""));
    text_out_put(out, str_of(key));
    text_out_put(out, S("\":["));
    for (uint32_t core = 0; core < cores; core++) {
        const struct insight_cell *c = next < n && cells[next].core == core ? &cells[next++] : NULL;
        if (core > 0)
            text_out_put(out, S(","));
        if (column == NONE || (column == BYTES && c == NULL))
            text_out_put(out, S("-1"));
        else if (column == ZERO || c == NULL)
            text_out_put(out, S("0"));
        else
            text_out_i64(out, narrow(column == CYCLES     ? c->cycles
                                     : column == EXECUTED ? c->executed
                                                          : c->bytes));
    }
    text_out_put(out, S("]"));
}

void insight_put_cores(struct text_out *out, const struct insight_table *t)
{
    for (size_t i = 0; i < t->cores.n; i++) {
        text_out_put(out, i > 0 ? S(",") : S("{\"Cores\":["));
        text_out_quoted(out, capture_text(t->cap, t->cores.at[i]));
    }
    text_out_put(out, S("],"));
}

/* What the runs of one instruction have in common stands with the first of them. */
static void put_conflicts(const struct insight_table *t, struct text_out *out,
                          const struct slice *s, const struct insight_cell *cells, size_t n)
{
    struct attr each = attr_of(t->cap, s, t->key_conflict);
    size_t next = 0;

    if (each.type != ATTR_INT) {
        insight_put_list(out, "UB Read Conflict", t->cores.n, NONE, cells, n);
        return;
    }
    text_out_put(out, S(",\"UB Read Conflict\":["));
    for (uint32_t core = 0; core < t->cores.n; core++) {
        bool has_run = next < n && cells[next].core == core;
        int64_t sum = 0;
        if (has_run && __builtin_mul_overflow(each.number, cells[next].executed, &sum))
            sum = INT32_MAX;
        next += has_run;
        text_out_put(out, core > 0 ? S(",") : S(""));
        text_out_i64(out, narrow(sum));
    }
    text_out_put(out, S("]"));
}

/* Tenths of a percent, one digit after the point; -1.0: no vector instruction. */
static void put_utilization(const struct insight_table *t, struct text_out *out,
                            const struct slice *s, const struct insight_cell *cells, size_t n)
{
    struct attr lanes = attr_of(t->cap, s, t->key_lanes);
    size_t next = 0;

    text_out_put(out, S(",\"Vector Utilization Percentage\":["));
    for (uint32_t core = 0; core < t->cores.n; core++) {
        bool has_run = next < n && cells[next].core == core;
        next += has_run;
        text_out_put(out, core > 0 ? S(",") : S(""));
        if (!has_run || lanes.type != ATTR_INT) {
            text_out_put(out, S("-1.0"));
            continue;
        }
        text_out_i64(out, lanes.number / 10);
        text_out_pair_i64(out, S("."), lanes.number % 10);
    }
    text_out_put(out, S("]"));
}

static void table_put_row(const struct insight_table *t, struct text_out *out,
                          const struct insight_row *row, const struct insight_cell *cells, size_t n)
{
    struct slice s = slices_at(&t->cap->slices, row->slice);
    struct attr code = attr_of(t->cap, &s, t->key_code);
    struct str lines = code.type == ATTR_TEXT ? capture_text(t->cap, code.text) : S("");
    size_t cores = t->cores.n;

    text_out_pair(out, S("{\"Address\":"), capture_text(t->cap, row->address));
    text_out_pair(out, S(",\"AscendC Inner Code\":"), code_line(lines));
    insight_put_list(out, "Cycles", cores, CYCLES, cells, n);
    insight_put_list(out, "GPR Count", cores, ZERO, cells, n);
    insight_put_list(out, "Instructions Executed", cores, EXECUTED, cells, n);
    text_out_pair(out, S(",\"Pipe\":"), capture_text(t->cap, t->cap->lanes.at[s.lane].key.name));
    insight_put_list(out, "Process Bytes", cores, BYTES, cells, n);
    text_out_put(out, S(",\"Source\":"));
    put_source(t, out, &s);
    put_conflicts(t, out, &s, cells, n);
    /* whose conflicts are simulated loses no cycles to writes */
    bool is_simulated = attr_of(t->cap, &s, t->key_conflict).type == ATTR_INT;
    insight_put_list(out, "UB Write Conflict", cores, is_simulated ? ZERO : NONE, cells, n);
    put_utilization(t, out, &s, cells, n);
    text_out_put(out, S("}"));
}

void insight_table_write(const struct insight_table *t, struct text_out *out)
{
    size_t cell = 0;

    insight_put_cores(out, t);
    text_out_put(out, S("\"Instructions\":["));
    for (size_t i = 0; i < t->rows.n; i++) {
        size_t first = cell;
        while (cell < t->cells.n && t->cells.at[cell].row == i)
            cell++;
        text_out_put(out, i > 0 ? S(",") : S(""));
        table_put_row(t, out, &t->rows.at[i], t->cells.at + first, cell - first);
    }
    text_out_put(out, S("],\"Instructions Dtype\":{\"Instructions\":{\"Address\":3,"
                        "\"AscendC Inner Code\":3,\"Cycles\":1,\"GPR Count\":1,"
                        "\"Instructions Executed\":1,\"Pipe\":3,\"Process Bytes\":1,\"Source\":3,"
                        "\"UB Read Conflict\":1,\"UB Write Conflict\":1,"
                        "\"Vector Utilization Percentage\":4}}}"));
}
