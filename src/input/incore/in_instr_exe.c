/*
 * instr-exe and code-exe: the simulator's sums by instruction and by source line, of one core.
 *
 * The tables have no times: a row becomes a slice as long as its instruction kept its pipe busy,
 * and the slices of a pipe stand one behind the other.
 * Format reference: docs/formats/instr-exe.md
 */
#include "base/tables/hash.h"
#include "input/import.h"

/* Columns of both tables; those that a table lacks are -1. */
struct columns {
    int name, address, pipe, calls, cycles, time, detail;
};

struct reader {
    struct capture *cap;
    struct csv csv;
    bool is_code; /* the table of source lines */
    struct columns columns;
    struct hash next; /* lane -> number of its end in `ends` */
    VEC_OF(nanos) ends;
    strid core;
};

static void add_attr(struct reader *r, const char *key, int column, struct attr *list, size_t *n)
{
    struct str text = str_trim(csv_cell(&r->csv, column));
    int64_t number;

    if (column < 0 || text.n == 0)
        return;
    strid id = capture_intern(r->cap, str_of(key));
    list[(*n)++] =
        num_i64(text, &number) ? attr_int(id, number) : attr_text(id, capture_intern(r->cap, text));
}

/* Addresses are decimal in these tables and hexadecimal everywhere else. */
static strid address_of(struct reader *r)
{
    struct str text = str_trim(csv_cell(&r->csv, r->columns.address));
    uint64_t number;

    return num_u64(text, &number)
               ? capture_intern_format(r->cap, "0x%llx", (unsigned long long)number)
               : capture_intern(r->cap, text);
}

static enum import_row exe_take_row(struct import *i, const struct csv *csv, void *ctx)
{
    struct reader *r = ctx;
    struct str pipe = r->is_code ? S("code") : str_trim(csv_cell(csv, r->columns.pipe));
    struct attr set[1], own[4];
    size_t n = 0;
    struct slice s = {.kind = SLICE_INSTR};

    (void)i;
    if (csv->is_broken || csv->n_cells < 4 || !num_us(csv_cell(csv, r->columns.time), &s.dur) ||
        !import_lasts(s.dur))
        return ROW_LOST;
    s.name = capture_intern(r->cap, str_trim(csv_cell(csv, r->columns.name)));
    s.lane = capture_lane(r->cap, (struct lane_key){.kind = LANE_PIPE,
                                                    .device = -1,
                                                    .process = r->core,
                                                    .name = capture_intern(r->cap, pipe)});
    if (r->columns.address >= 0) {
        set[0] = attr_text(capture_intern(r->cap, S("pc_addr")), address_of(r));
        s.set = attrs_set(&r->cap->attrs, set, 1);
    }
    add_attr(r, "call_count", r->columns.calls, own, &n);
    add_attr(r, "cycles", r->columns.cycles, own, &n);
    add_attr(r, "detail", r->columns.detail, own, &n);
    s.own = n > 0 ? attrs_own(&r->cap->attrs, own, n) : 0;
    uint32_t place = hash_add(&r->next, s.lane, (uint32_t)r->ends.n);
    if (place == r->ends.n)
        vec_push(&r->ends, 0);
    s.begin = r->ends.at[place];
    r->ends.at[place] = nanos_add(s.begin, s.dur);
    capture_slice(r->cap, &s);
    return ROW_TAKEN;
}

#define INSTR_EXE_TROUBLES                                                                         \
    .no_header = {"instr-exe.no-header", "no header with cycles and running_time"},                \
    .bad_row = {"instr-exe.bad-row", "row skipped: a field is missing or not a number"},           \
    .take = exe_take_row

static const struct import_table instr_table = {
    .columns = {S_INIT("instr"), S_INIT("addr"), S_INIT("pipe"), S_INIT("cycles"),
                S_INIT("running_time(us)")},
    INSTR_EXE_TROUBLES,
};
static const struct import_table code_table = {
    .columns = {S_INIT("code"), S_INIT("call_count"), S_INIT("cycles"), S_INIT("running_time(us)")},
    INSTR_EXE_TROUBLES,
};

static enum status exe_read_table(struct import *i)
{
    const struct import_table *table = i->format->table;
    struct reader r = {.cap = i->cap, .is_code = table == &code_table};
    /* "core0.veccore0" of "core0.veccore0_instr_exe_2024….csv". */
    struct str name = str_basename(str_of(i->in->path));
    size_t end = str_find(name, S("_instr_exe"));

    TRY(import_table_open(i, table, &r.csv));
    r.columns = (struct columns){
        .name = csv_column(&r.csv, r.is_code ? S("code") : S("instr")),
        .address = csv_column(&r.csv, S("addr")),
        .pipe = csv_column(&r.csv, S("pipe")),
        .calls = csv_column(&r.csv, S("call_count")),
        .cycles = csv_column(&r.csv, S("cycles")),
        .time = csv_column(&r.csv, S("running_time(us)")),
        .detail = csv_column(&r.csv, S("detail")),
    };
    if (end == name.n)
        end = str_find(name, S("_code_exe"));
    r.core = capture_intern(i->cap, end > 0 && end < name.n ? str_part(name, 0, end) : S("core"));
    import_table_rows(i, table, &r.csv, &r);
    hash_free(&r.next);
    vec_free(&r.ends);
    capture_set_incore(i->cap);
    i->cap->origin = ORIGIN_SIMULATED;
    return ST_OK;
}

/* Neither claims a name: the trace beside it tells more. */
const struct input_format input_instr_exe = {
    .name = "instr-exe",
    .summary = "operator simulator totals by instruction (CSV)",
    .looks_for = "*_instr_exe*.csv",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .table = &instr_table,
    .read = exe_read_table,
};

const struct input_format input_code_exe = {
    .name = "code-exe",
    .summary = "operator simulator totals by source line (CSV)",
    .looks_for = "*_code_exe*.csv",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .table = &code_table,
    .read = exe_read_table,
};
