#include "render/insight_table.h"

#include <stdlib.h>

#include "base/char.h"
#include "base/hash.h"

enum {
    MOST_CELLS = 10 << 20, /* rows times cores; more is no kernel */
    NANOSECONDS = 1000000000,
};

static int64_t clamped(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static int64_t megahertz(struct str chip)
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

    for (size_t i = 0; i < ARRAY_LEN(chips); i++)
        if (str_contains(chip, chips[i].name))
            return chips[i].mhz;
    return 1850;
}

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
    if (cap->clock.hz != NANOSECONDS)
        return ticks;
    int64_t mhz = megahertz(capture_text(cap, cap->facts.device_name));
    return clamped(((__int128)ticks * mhz + 500) / 1000);
}

static struct attr attr_of(const struct capture *cap, const struct slice *s, strid key)
{
    struct attr a = attrs_get(&cap->attrs, s->own, key);

    return a.type != ATTR_NONE ? a : attrs_get(&cap->attrs, s->set, key);
}

/* ---- adding up ---- */

struct adder {
    struct insight_table *t;
    struct hash rows, cells;
};

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

static void add_slice(struct adder *a, uint32_t number, const struct slice *s)
{
    struct insight_table *t = a->t;
    const struct capture *cap = t->cap;
    struct insight_run run;

    if (!insight_table_run(t, s, &run))
        return;
    strid address = attr_of(cap, s, t->key_pc).text;
    if (run.core == t->cores.n) {
        hash_put(&t->core_ids, cap->lanes.at[s->lane].key.process, run.core);
        vec_push(&t->cores, cap->lanes.at[s->lane].key.process);
    }
    uint32_t row = hash_add(&a->rows, address, (uint32_t)t->rows.n);
    if (row == t->rows.n)
        vec_push(&t->rows, ((struct insight_row){address, number}));
    uint32_t i = hash_add(&a->cells, (uint64_t)row << 32 | run.core, (uint32_t)t->cells.n);
    if (i == t->cells.n)
        vec_push(&t->cells, ((struct insight_cell){.row = row, .core = run.core, .bytes = -1}));
    insight_cell_add(&t->cells.at[i], run.cycles, run.bytes);
}

int insight_by_row(const void *a, const void *b)
{
    const struct insight_cell *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

/* A row on its way to its place. */
struct ranked {
    struct str address;
    uint32_t row;
};

static int by_address(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return str_compare(x->address, y->address);
}

static void sort_rows(struct insight_table *t)
{
    size_t n = t->rows.n;
    struct ranked *order = mem_grow(NULL, sizeof(*order), n);
    struct insight_row *rows = mem_grow(NULL, sizeof(*rows), n);
    uint32_t *places = mem_grow(NULL, sizeof(*places), n);

    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){capture_text(t->cap, t->rows.at[i].address), (uint32_t)i};
    qsort(order, n, sizeof(*order), by_address);
    for (size_t i = 0; i < n; i++) {
        rows[i] = t->rows.at[order[i].row];
        places[order[i].row] = (uint32_t)i;
    }
    memcpy(t->rows.at, rows, sizeof(*rows) * n);
    for (size_t i = 0; i < t->cells.n; i++)
        t->cells.at[i].row = places[t->cells.at[i].row];
    qsort(t->cells.at, t->cells.n, sizeof(*t->cells.at), insight_by_row);
    mem_free(order);
    mem_free(rows);
    mem_free(places);
}

void insight_table_keys(struct insight_table *t, const struct capture *cap)
{
    *t = (struct insight_table){
        .cap = cap,
        .key_pc = intern_find(&cap->strings, S("pc_addr")),
        .key_code = intern_find(&cap->strings, S("code")),
        .key_detail = intern_find(&cap->strings, S("detail")),
        .key_bytes = intern_find(&cap->strings, S("process_bytes")),
    };
}

void insight_table_init(struct insight_table *t, const struct cut *cut)
{
    const struct capture *cap = cut->cap;
    struct adder a = {.t = t};

    insight_table_keys(t, cap);
    if (t->key_pc == 0)
        return;
    for (size_t i = 0; i < cap->slices.n; i++)
        if (cut_has(cut, i)) {
            struct slice s = cut_slice(cut, i);
            add_slice(&a, (uint32_t)i, &s);
        }
    hash_free(&a.rows);
    hash_free(&a.cells);
    if (t->rows.n > 0 && t->rows.n > MOST_CELLS / t->cores.n)
        t->rows.n = 0;
    else if (t->rows.n > 0)
        sort_rows(t);
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

/* "VADD Dtype:F32"; flags tell who waits for which number. */
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

void insight_put_list(struct text_out *out, size_t cores, enum insight_column column,
                      const struct insight_cell *cells, size_t n)
{
    size_t next = 0;

    text_out_put(out, S("["));
    for (uint32_t core = 0; core < cores; core++) {
        const struct insight_cell *c = next < n && cells[next].core == core ? &cells[next++] : NULL;
        if (core > 0)
            text_out_put(out, S(","));
        if (column == NONE_REAL)
            text_out_put(out, S("-1.0"));
        else if (column == NONE || (column == BYTES && c == NULL))
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

static void put_row(const struct insight_table *t, struct text_out *out,
                    const struct insight_row *row, const struct insight_cell *cells, size_t n)
{
    struct slice s = slices_at(&t->cap->slices, row->slice);
    struct attr code = attr_of(t->cap, &s, t->key_code);
    struct str lines = code.type == ATTR_TEXT ? capture_text(t->cap, code.text) : S("");

    text_out_put(out, S("{\"Address\":"));
    text_out_quoted(out, capture_text(t->cap, row->address));
    text_out_put(out, S(",\"AscendC Inner Code\":"));
    text_out_quoted(out, code_line(lines));
    text_out_put(out, S(",\"Cycles\":"));
    insight_put_list(out, t->cores.n, CYCLES, cells, n);
    text_out_put(out, S(",\"GPR Count\":"));
    insight_put_list(out, t->cores.n, ZERO, cells, n);
    text_out_put(out, S(",\"Instructions Executed\":"));
    insight_put_list(out, t->cores.n, EXECUTED, cells, n);
    text_out_put(out, S(",\"Pipe\":"));
    text_out_quoted(out, capture_text(t->cap, t->cap->lanes.at[s.lane].key.name));
    text_out_put(out, S(",\"Process Bytes\":"));
    insight_put_list(out, t->cores.n, BYTES, cells, n);
    text_out_put(out, S(",\"Source\":"));
    put_source(t, out, &s);
    text_out_put(out, S(",\"UB Read Conflict\":"));
    insight_put_list(out, t->cores.n, NONE, cells, n);
    text_out_put(out, S(",\"UB Write Conflict\":"));
    insight_put_list(out, t->cores.n, NONE, cells, n);
    text_out_put(out, S(",\"Vector Utilization Percentage\":"));
    insight_put_list(out, t->cores.n, NONE_REAL, cells, n);
    text_out_put(out, S("}"));
}

void insight_table_write(const struct insight_table *t, struct text_out *out)
{
    size_t cell = 0;

    text_out_put(out, S("{\"Cores\":["));
    for (size_t i = 0; i < t->cores.n; i++) {
        text_out_put(out, i > 0 ? S(",") : S(""));
        text_out_quoted(out, capture_text(t->cap, t->cores.at[i]));
    }
    text_out_put(out, S("],\"Instructions\":["));
    for (size_t i = 0; i < t->rows.n; i++) {
        size_t first = cell;
        while (cell < t->cells.n && t->cells.at[cell].row == i)
            cell++;
        text_out_put(out, i > 0 ? S(",") : S(""));
        put_row(t, out, &t->rows.at[i], t->cells.at + first, cell - first);
    }
    text_out_put(out, S("],\"Instructions Dtype\":{\"Instructions\":{\"Address\":3,"
                        "\"AscendC Inner Code\":3,\"Cycles\":1,\"GPR Count\":1,"
                        "\"Instructions Executed\":1,\"Pipe\":3,\"Process Bytes\":1,\"Source\":3,"
                        "\"UB Read Conflict\":1,\"UB Write Conflict\":1,"
                        "\"Vector Utilization Percentage\":4}}}"));
}
