/*
 * instr-exe and code-exe: the simulator's sums by instruction and by source line, of one core.
 *
 * The tables have no times: a row becomes a slice as long as its instruction kept its pipe busy,
 * and the slices of a pipe stand one behind the other.
 * Format reference: docs/formats/instr-exe.md
 */
#include "base/csv.h"
#include "base/hash.h"
#include "capture/capture.h"
#include "input/input.h"

/* Columns of both tables; those that a table lacks are -1. */
struct columns {
    int name, address, pipe, calls, cycles, time, detail;
};

static struct columns find_columns(const struct csv *csv)
{
    return (struct columns){
        .name = csv_column(csv, S("instr")),
        .address = csv_column(csv, S("addr")),
        .pipe = csv_column(csv, S("pipe")),
        .calls = csv_column(csv, S("call_count")),
        .cycles = csv_column(csv, S("cycles")),
        .time = csv_column(csv, S("running_time(us)")),
        .detail = csv_column(csv, S("detail")),
    };
}

static bool is_instr_table(const struct csv *csv)
{
    struct columns c = find_columns(csv);

    return c.name >= 0 && c.address >= 0 && c.pipe >= 0 && c.cycles >= 0 && c.time >= 0;
}

static bool is_code_table(const struct csv *csv)
{
    struct columns c = find_columns(csv);

    return csv_column(csv, S("code")) >= 0 && c.calls >= 0 && c.cycles >= 0 && c.time >= 0;
}

/* "core0.veccore0" of "core0.veccore0_instr_exe_2024….csv". */
static struct str core_of(const char *path)
{
    struct str name = str_basename(str_of(path));
    size_t end = str_find(name, S("_instr_exe"));

    if (end == name.n)
        end = str_find(name, S("_code_exe"));
    return end > 0 && end < name.n ? str_part(name, 0, end) : S("core");
}

struct reader {
    const struct input_file *in;
    struct capture *cap;
    struct csv csv;
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
    struct arena scratch;
    uint64_t number;

    if (!num_u64(text, &number))
        return capture_intern(r->cap, text);
    arena_init(&scratch);
    strid id = capture_intern(r->cap, arena_format(&scratch, "0x%llx", (unsigned long long)number));
    arena_free(&scratch);
    return id;
}

static bool take_row(struct reader *r, int name, struct str pipe)
{
    struct attr set[1], own[4];
    size_t n = 0;
    struct slice s = {.kind = SLICE_INSTR};

    if (r->csv.is_broken || r->csv.n_cells < 4 || r->cap->lanes.n >= LIMIT_LANES ||
        !num_us(csv_cell(&r->csv, r->columns.time), &s.dur) || s.dur < 0)
        return false;
    s.name = capture_intern(r->cap, str_trim(csv_cell(&r->csv, name)));
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
    return true;
}

static enum status read_table(const struct input_file *in, struct capture *cap, const char *format,
                              bool is_code)
{
    struct source source = {.path = in->path, .format = format, .bytes = in->text.n};
    struct reader r = {.in = in, .cap = cap};

    csv_open(&r.csv, in->text);
    if (is_code ? !is_code_table(&r.csv) : !is_instr_table(&r.csv))
        return diag_fail(in->diag, ST_FORMAT, "instr-exe.no-header", (struct where){in->path, 1, 0},
                         "no header with cycles and running_time");
    r.columns = find_columns(&r.csv);
    r.core = capture_intern(cap, core_of(in->path));
    int name = is_code ? csv_column(&r.csv, S("code")) : r.columns.name;
    while (csv_next(&r.csv)) {
        struct str pipe = is_code ? S("code") : str_trim(csv_cell(&r.csv, r.columns.pipe));
        if (take_row(&r, name, pipe)) {
            source.rows++;
            continue;
        }
        source.lost++;
        diag_add(in->diag, SEV_LOSS, "instr-exe.bad-row", (struct where){in->path, r.csv.line, 0},
                 "row skipped: a field is missing or is no number");
    }
    hash_free(&r.next);
    vec_free(&r.ends);
    capture_set_incore(cap);
    cap->origin = ORIGIN_SIMULATED;
    capture_source(cap, source);
    return ST_OK;
}

static bool claims(struct str name)
{
    (void)name; /* the trace beside it tells more */
    return false;
}

static int probe_instr(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_instr_table(&csv) ? 90 : 0;
}

static int probe_code(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_code_table(&csv) ? 90 : 0;
}

static enum status read_instr_exe(const struct input_file *in, struct capture *cap)
{
    return read_table(in, cap, input_instr_exe.name, false);
}

static enum status read_code_exe(const struct input_file *in, struct capture *cap)
{
    return read_table(in, cap, input_code_exe.name, true);
}

const struct input_format input_instr_exe = {
    .name = "instr-exe",
    .summary = "the operator simulator's sums by instruction (CSV)",
    .looks_for = "*_instr_exe*.csv",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .probe = probe_instr,
    .read = read_instr_exe,
};

const struct input_format input_code_exe = {
    .name = "code-exe",
    .summary = "the operator simulator's sums by source line (CSV)",
    .looks_for = "*_code_exe*.csv",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .probe = probe_code,
    .read = read_code_exe,
};
