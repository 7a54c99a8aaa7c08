/*
 * kernel-details: one row per kernel, as torch_npu and msprof export them.
 *
 * Header names changed over the years and mixed headers exist, so every column is found by a list
 * of names. A row needs a name, a start and a duration; what else there is becomes attributes. The
 * table that `strata convert` writes is read, too: its times are nanoseconds.
 *
 * A model runs the same few hundred operators over and over. So the cells that repeat (type, core,
 * shapes, stream, ...) are not looked at one by one: their bytes as a whole are a *pattern*, and a
 * row whose pattern was seen before has the same attribute set and the same lane.
 * One file, as the hot loop is compiled as a whole.
 * Format reference: docs/formats/kernel-details.md
 */
#include <sys/stat.h>

#include "base/files/stream.h"
#include "capture/classify.h"
#include "input/ascend/kernel_columns.h"
#include "input/import.h"
#include "input/rank.h"

/* Columns that repeat from row to row and go into the attribute set as text. */
static const struct column_attr {
    enum kernel_column column;
    enum capture_key key;
} text_attrs[] = {
    {COL_STATE, KEY_STATE},
    {COL_INPUT_SHAPES, KEY_INPUT_SHAPES},
    {COL_INPUT_DTYPES, KEY_INPUT_DTYPES},
    {COL_INPUT_FORMATS, KEY_INPUT_FORMATS},
    {COL_OUTPUT_SHAPES, KEY_OUTPUT_SHAPES},
    {COL_OUTPUT_DTYPES, KEY_OUTPUT_DTYPES},
    {COL_OUTPUT_FORMATS, KEY_OUTPUT_FORMATS},
};

static const struct column_attr number_attrs[] = {
    {COL_BLOCK_DIM, KEY_BLOCK_DIM},
    {COL_MIX_BLOCK_DIM, KEY_MIX_BLOCK_DIM},
};

enum {
    WINDOW = 1 << 19,
    RECENT = 1 << 12,
    MAX_PMU = 128,
    MEMORY_MAX = 32 << 20,
    LOOK_ROWS = 1 << 12,
    VARIED_ROWS = 1 << 16,
    CELL_MOST = 50,
    MEMOS = 64,
};

/* Where the kernels of a stream go. */
struct place {
    lane_id lane, comm_lane; /* for collectives without a stream */
    bool is_other_device;
};

/* A cell that was seen lately, and its text in the capture. */
struct memo {
    strid text;
    uint8_t column, n;
    char cell[CELL_MOST];
};

/* The cells of a device and a stream that were seen lately, and what they mean. */
struct place_memo {
    struct place place;
    uint8_t n_device, n_stream;
    char cells[CELL_MOST]; /* the device, then the stream */
};

/* The cells of a row that repeat, and what they mean. */
struct pattern {
    struct str bytes; /* the spans, one after the other */
    attr_run set;
    struct place place;
    strid type, core;
};

/* A row as it was seen last: its name, its pattern and the kind of its kernel. */
struct recent {
    strid name;
    uint32_t pattern; /* number + 1 */
    enum slice_kind kind;
};

struct span {
    size_t first, last; /* columns */
};

struct reader {
    struct import *i;
    struct capture *cap;
    struct csv csv;
    uint64_t size;        /* of the file; 0: not known */
    size_t row_at;        /* where the row begins in the window */
    struct arena scratch; /* unquoted cells of one row */
    struct arena memory;  /* bytes of patterns */
    int column[COL_COUNT];
    struct span spans[COL_COUNT]; /* the columns of a pattern, neighbours joined */
    size_t n_spans;
    VEC_OF(struct pattern) patterns;
    struct hash pattern_ids;
    struct recent recent[RECENT]; /* by name */
    struct recent next[RECENT];   /* by the patterns of the two rows before */
    uint32_t last[2];
    struct memo memos[MEMOS];
    struct place_memo places[MEMOS];
    char step_text[32]; /* the last step's cell, and its name */
    size_t step_size;
    strid step;
    int pmu[MAX_PMU]; /* columns */
    strid pmu_key[MAX_PMU];
    size_t n_pmu;
    size_t pattern_bytes;
    uint32_t looked, fresh; /* rows lately, and new patterns among them */
    uint32_t varied;        /* rows to come for which patterns are not looked for */
    bool is_ns;             /* times are whole nanoseconds */
    bool has_cores;         /* some row names the core of an Ascend device */
};

/* The table of strata's own with one row a kernel; the one of all slices has no class. */
static bool is_own_table(const struct csv *csv)
{
    return csv_column(csv, S("start_ns")) >= 0 && csv_column(csv, S("dur_ns")) >= 0;
}

/* Rows that end with CR alone are all in the first one: it is no header. */
static bool has_bare_cr(const struct csv *csv)
{
    for (size_t i = 0; i < csv_header_count(csv); i++)
        if (str_find_char(csv_header(csv, i), '\r') < csv_header(csv, i).n)
            return true;
    return false;
}

static bool is_kernel_table(const struct csv *csv)
{
    return !has_bare_cr(csv) && kernel_column(csv, COL_NAME) >= 0 &&
           kernel_column(csv, COL_START) >= 0 && kernel_column(csv, COL_DUR) >= 0 &&
           (!is_own_table(csv) || kernel_column(csv, COL_CLASS) >= 0);
}

static const struct import_table table = {
    .is = is_kernel_table,
    .no_header = {"kernel-details.no-header",
                  "no header with Name, Start Time(us) and Duration(us)"},
};

static bool claims(struct str name)
{
    struct name_parts parts = rank_name_parts(name);

    if (!str_equal(parts.ext, S("csv")) && !str_equal(parts.ext, S("csv.gz")))
        return false;
    if (str_equal(parts.base, S("kernel_details")))
        return parts.stamp.n == 0;
    return (parts.stamp.n > 0 || parts.is_iteration) &&
           (str_equal(parts.base, S("op_summary")) || str_equal(parts.base, S("task_time")));
}

static void lose(struct reader *r, const char *code, const char *text)
{
    damage_add(&r->i->damage, csv_used(&r->csv) - r->row_at, import_line(r->i, r->csv.line));
    import_lose(r->i, import_line(r->i, r->csv.line), code, "row skipped: %s", text);
}

static struct str details_cell(const struct reader *r, enum kernel_column c)
{
    return csv_cell(&r->csv, r->column[c]);
}

/* Shapes were quoted before the table was written: after CSV unquoting one pair is left. */
static struct str plain_text(struct reader *r, enum kernel_column c)
{
    struct str s = details_cell(r, c);

    if (s.n > 4 && memcmp(s.at, "\"\"", 2) == 0 && memcmp(s.at + s.n - 2, "\"\"", 2) == 0 &&
        memchr(s.at + 2, '"', s.n - 4) == NULL)
        return str_part(s, 2, s.n - 4); /* the quotes that the exporter writes */
    if (s.n > 0 && memchr(s.at, '"', s.n) != NULL)
        s = csv_unquote(s, &r->scratch);
    s = str_trim(s);
    if (s.n >= 2 && s.at[0] == '"' && s.at[s.n - 1] == '"')
        s = str_part(s, 1, s.n - 2);
    return s;
}

static bool take_time(const struct reader *r, struct str text, nanos *out)
{
    return r->is_ns ? num_i64(text, out) : num_us(text, out);
}

/* Start and duration, or the reason why the row is of no use. */
static bool take_times(struct reader *r, struct slice *slice)
{
    struct str start = details_cell(r, COL_START), dur = details_cell(r, COL_DUR);

    if (!take_time(r, start, &slice->begin)) {
        lose(r, "kernel-details.no-start", "no start time");
        return false;
    }
    if (!take_time(r, dur, &slice->dur)) {
        lose(r, "kernel-details.no-duration", "no duration");
        return false;
    }
    if (!import_lasts(slice->dur)) {
        lose(r, "kernel-details.bad-duration", "duration is negative or over 7 days");
        return false;
    }
    return true;
}

/* ---- patterns ---- */

enum { SET_MOST = 2 + ARRAY_LEN(text_attrs) + ARRAY_LEN(number_attrs) };

/* The texts of a row in the capture; 0: missing. */
struct texts {
    strid type, core;
    strid others[ARRAY_LEN(text_attrs)];
};

/* The text of a cell in the capture; 0: missing. */
static strid intern_text(struct reader *r, enum kernel_column c)
{
    struct str text = plain_text(r, c);

    if (c == COL_CORE)
        text = classify_core(text);
    if (num_is_missing(text))
        return 0;
    r->has_cores |= c == COL_CORE;
    return capture_intern(r->cap, text);
}

/* The same where few texts are to be expected. */
static strid recall_text(struct reader *r, enum kernel_column c)
{
    struct str s = details_cell(r, c);

    if (s.n == 0 || s.n > CELL_MOST)
        return s.n == 0 ? 0 : intern_text(r, c);
    struct memo *memo =
        &r->memos[(c * 5 + s.n + (unsigned char)s.at[0] * 3 + (unsigned char)s.at[s.n / 2]) %
                  MEMOS];
    if (memo->n != s.n || memo->column != c || memcmp(memo->cell, s.at, s.n) != 0) {
        memo->text = intern_text(r, c);
        memo->column = (uint8_t)c;
        memo->n = (uint8_t)s.n;
        memcpy(memo->cell, s.at, s.n);
    }
    return memo->text;
}

/* Shapes, of which there are as many as rows when nothing repeats. */
struct row_shape {
    struct str text; /* lives as long as the row */
    uint32_t expected;
};

static struct row_shape expect_shape(struct reader *r, enum kernel_column c)
{
    struct row_shape s = {.text = plain_text(r, c)};

    if (num_is_missing(s.text))
        s.text = S("");
    else
        s.expected = intern_expect(&r->cap->strings, s.text);
    return s;
}

static strid intern_shape(struct reader *r, const struct row_shape *s)
{
    return intern_put_expected(&r->cap->strings, s->text, s->expected);
}

static void take_texts(struct reader *r, const struct row_shape *input,
                       const struct row_shape *output, struct texts *t)
{
    t->type = recall_text(r, COL_TYPE);
    t->core = recall_text(r, COL_CORE);
    for (size_t i = 0; i < ARRAY_LEN(text_attrs); i++) {
        enum kernel_column c = text_attrs[i].column;
        t->others[i] = c == COL_INPUT_SHAPES    ? intern_shape(r, input)
                       : c == COL_OUTPUT_SHAPES ? intern_shape(r, output)
                                                : recall_text(r, c);
    }
}

/* The attributes that repeat; returns how many. */
static size_t take_set(struct reader *r, const struct texts *t, struct attr list[SET_MOST])
{
    struct capture *cap = r->cap;
    size_t n = 0;

    if (t->type != 0)
        list[n++] = attr_text(capture_key(cap, KEY_TYPE), t->type);
    if (t->core != 0)
        list[n++] = attr_text(capture_key(cap, KEY_CORE), t->core);
    for (size_t i = 0; i < ARRAY_LEN(text_attrs); i++)
        if (t->others[i] != 0)
            list[n++] = attr_text(capture_key(cap, text_attrs[i].key), t->others[i]);
    for (size_t i = 0; i < ARRAY_LEN(number_attrs); i++) {
        int64_t number;
        if (num_i64(details_cell(r, number_attrs[i].column), &number))
            list[n++] = attr_int(capture_key(cap, number_attrs[i].key), number);
    }
    return n;
}

static enum slice_kind details_kind_of(const struct reader *r, struct str name, strid type,
                                       strid core)
{
    struct str class = str_trim(details_cell(r, COL_CLASS));

    for (int kind = 0; class.n > 0 && kind <= SLICE_OTHER; kind++)
        if (slice_is_kernel((enum slice_kind)kind) &&
            str_equal(class, str_of(slice_kind_name((enum slice_kind)kind))))
            return (enum slice_kind)kind;
    return classify_kernel(VENDOR_ASCEND, capture_text(r->cap, core), name,
                           capture_text(r->cap, type));
}

static struct place take_place(struct reader *r)
{
    struct str stream = str_trim(details_cell(r, COL_STREAM));
    struct lane_key key = {.kind = LANE_STREAM, .device = -1};
    struct place p = {0};
    int64_t device;

    if (num_i64(details_cell(r, COL_DEVICE), &device) && device >= 0 && device <= INT32_MAX) {
        key.device = (int32_t)device;
        p.is_other_device = import_is_other_device(r->i, device);
    }
    if (p.is_other_device)
        return p;
    bool is_missing = num_is_missing(stream);
    key.name = capture_intern(r->cap, is_missing ? S("N/A") : stream);
    p.lane = p.comm_lane = capture_lane(r->cap, key);
    if (is_missing)
        p.comm_lane = UINT32_MAX; /* added when a collective comes */
    return p;
}

/* The same when the cells were seen lately; what it points to holds until the next call. */
static struct place *recall_place(struct reader *r)
{
    struct str device = details_cell(r, COL_DEVICE), stream = details_cell(r, COL_STREAM);
    size_t n = device.n + stream.n, mix = n * 16;

    mix += device.n > 0 ? (unsigned char)device.at[device.n - 1] * 8u : 0;
    mix += stream.n > 0 ? (unsigned char)stream.at[stream.n - 1] : 0;
    struct place_memo *memo = &r->places[mix % MEMOS];
    if (n == 0 || memo->n_device != device.n || memo->n_stream != stream.n ||
        memcmp(memo->cells, device.at, device.n) != 0 ||
        memcmp(memo->cells + device.n, stream.at, stream.n) != 0) {
        memo->place = take_place(r);
        memo->n_device = memo->n_stream = 0;
        if (n <= CELL_MOST) {
            memo->n_device = (uint8_t)device.n;
            memo->n_stream = (uint8_t)stream.n;
            memcpy(memo->cells, device.at, device.n);
            memcpy(memo->cells + device.n, stream.at, stream.n);
        }
    }
    return &memo->place;
}

static lane_id details_lane_of(struct reader *r, struct place *p, enum slice_kind kind)
{
    if (kind != SLICE_COMM)
        return p->lane;
    if (p->comm_lane == UINT32_MAX) {
        struct lane_key key = r->cap->lanes.at[p->lane].key;
        key.kind = LANE_COMM;
        p->comm_lane = capture_lane(r->cap, key);
    }
    return p->comm_lane;
}

/* Span `i` of the row, with the comma after it, so that bytes cannot move to the next span
 * unnoticed. */
static inline struct str span_of(const struct reader *r, size_t i)
{
    struct str s = csv_span(&r->csv, r->spans[i].first, r->spans[i].last);

    s.n += r->spans[i].last + 1 < r->csv.n_cells;
    return s;
}

/* Whether the row has the pattern `p`; `n` is the length of its own. */
static inline bool has_pattern(const struct reader *r, const struct pattern *p, size_t n)
{
    const char *at = p->bytes.at;

    if (p->bytes.n != n)
        return false;
    for (size_t i = 0; i < r->n_spans; i++) {
        struct str s = span_of(r, i);
        /* Spans of other lengths that make up the same total must not run past the end. */
        if (s.n > (size_t)(p->bytes.at + n - at) || memcmp(s.at, at, s.n) != 0)
            return false;
        at += s.n;
    }
    return true;
}

static uint32_t add_pattern(struct reader *r, size_t n)
{
    char *at = arena_alloc(&r->memory, n);
    struct pattern p = {.bytes = {at, n}, .place = take_place(r)};
    struct arena_mark mark = arena_mark(&r->scratch);
    struct attr set[SET_MOST];
    struct texts t;

    for (size_t i = 0; i < r->n_spans; i++) {
        struct str s = span_of(r, i);
        memcpy(at, s.at, s.n);
        at += s.n;
    }
    if (!p.place.is_other_device) {
        struct row_shape input = expect_shape(r, COL_INPUT_SHAPES);
        struct row_shape output = expect_shape(r, COL_OUTPUT_SHAPES);
        take_texts(r, &input, &output, &t);
        p.set = attrs_set(&r->cap->attrs, set, take_set(r, &t, set));
        p.type = t.type;
        p.core = t.core;
    }
    arena_rewind(&r->scratch, mark);
    r->pattern_bytes += n + sizeof(p);
    r->fresh++;
    vec_push(&r->patterns, p);
    return (uint32_t)(r->patterns.n - 1);
}

/* A table whose rows are all different must not fill the memory. */
static void details_forget(struct reader *r)
{
    arena_free(&r->memory);
    arena_init(&r->memory);
    r->patterns.n = 0;
    hash_free(&r->pattern_ids);
    memset(r->recent, 0, sizeof(r->recent));
    memset(r->next, 0, sizeof(r->next));
    r->pattern_bytes = 0;
}

static uint32_t find_pattern(struct reader *r, size_t n)
{
    uint64_t hash = n;
    uint32_t found;

    if (r->pattern_bytes > MEMORY_MAX)
        details_forget(r);
    for (size_t i = 0; i < r->n_spans; i++)
        hash = hash_mix(hash, hash_bytes(span_of(r, i)));
    for (;; hash = hash_mix(hash, n)) { /* two patterns with one hash: look further along */
        if (!hash_get(&r->pattern_ids, hash, &found)) {
            found = add_pattern(r, n);
            hash_put(&r->pattern_ids, hash, found);
            return found;
        }
        if (has_pattern(r, &r->patterns.at[found], n))
            return found;
    }
}

/* The pattern of a row and the kind of its kernel. Rows of one name tend to look alike, so the
 * first guess is what the name had last with as many bytes. */
static struct recent by_name(struct reader *r, struct str name, size_t n)
{
    strid id = capture_intern(r->cap, name);
    struct recent *guess = &r->recent[(id ^ n * 61) % RECENT];

    if (guess->pattern == 0 || guess->name != id ||
        !has_pattern(r, &r->patterns.at[guess->pattern - 1], n)) {
        guess->pattern = find_pattern(r, n) + 1;
        guess->name = id;
        const struct pattern *p = &r->patterns.at[guess->pattern - 1];
        guess->kind = details_kind_of(r, name, p->type, p->core);
    }
    return *guess;
}

/* A model runs its operators in the same order again and again: what followed the last two patterns
 * the last time is likely to follow again. */
static struct recent recognise(struct reader *r, struct str name)
{
    struct recent *next = &r->next[(r->last[0] * 31 + r->last[1]) % RECENT];
    struct recent found = *next;
    size_t n = 0;

    for (size_t i = 0; i < r->n_spans; i++)
        n += span_of(r, i).n;
    if (found.pattern == 0 || !str_equal(name, capture_text(r->cap, found.name)) ||
        !has_pattern(r, &r->patterns.at[found.pattern - 1], n)) {
        found = by_name(r, name, n);
        *next = found;
    }
    r->last[0] = r->last[1];
    r->last[1] = found.pattern;
    return found;
}

/* Looking for patterns where rows do not repeat is dear: when nearly all of the last ones were new,
 * the next ones are taken as they come, and only then patterns get another chance. */
static bool is_worth_looking(struct reader *r)
{
    if (r->varied > 0) {
        r->varied--;
        return false;
    }
    if (++r->looked == LOOK_ROWS) {
        bool is_varied = r->fresh > LOOK_ROWS / 8 * 7;
        r->looked = r->fresh = 0;
        if (is_varied) {
            details_forget(r);
            r->last[0] = r->last[1] = 0;
            r->varied = VARIED_ROWS;
        }
    }
    return true;
}

/* ---- rows ---- */

/* Steps come in long runs of one name. */
static strid take_step(struct reader *r)
{
    struct str text = details_cell(r, COL_STEP);

    if (text.n == r->step_size && memcmp(text.at, r->step_text, text.n) == 0)
        return r->step;
    struct str name = str_trim(text);
    strid step = num_is_missing(name) ? 0 : capture_intern(r->cap, name);
    if (text.n <= sizeof(r->step_text)) {
        memcpy(r->step_text, text.at, text.n);
        r->step_size = text.n;
        r->step = step;
    }
    return step;
}

/* The attributes that differ from row to row; returns how many. */
static size_t take_own(struct reader *r, struct attr list[3 + MAX_PMU])
{
    struct capture *cap = r->cap;
    size_t n = 0;
    int64_t task;
    nanos wait;

    strid step = take_step(r);
    if (step != 0)
        list[n++] = attr_text(capture_key(cap, KEY_STEP), step);
    if (take_time(r, details_cell(r, COL_WAIT), &wait))
        list[n++] = attr_time(capture_key(cap, KEY_WAIT), wait);
    if (num_i64(details_cell(r, COL_TASK), &task))
        list[n++] = attr_int(capture_key(cap, KEY_TASK), task);
    for (size_t i = 0; i < r->n_pmu; i++) {
        double value;
        if (num_f64(str_trim(csv_cell(&r->csv, r->pmu[i])), &value))
            list[n++] = attr_real(r->pmu_key[i], value);
    }
    return n;
}

/* A row of a pattern; false when it belongs to another device. */
static bool take_known(struct reader *r, struct str name, struct slice *slice)
{
    struct attr own[3 + MAX_PMU];
    struct recent found = recognise(r, name);
    struct pattern *p = &r->patterns.at[found.pattern - 1];

    if (p->place.is_other_device)
        return false;
    slice->name = found.name;
    slice->kind = found.kind;
    slice->lane = details_lane_of(r, &p->place, found.kind);
    slice->set = p->set;
    slice->own = attrs_own(&r->cap->attrs, own, take_own(r, own));
    return true;
}

/* A row among many that do not repeat: its name and its shapes are new, too, and each has to find
 * its place among millions. All are asked for before the first is needed. */
static bool take_varied(struct reader *r, struct str name, struct slice *slice)
{
    struct attr set[SET_MOST], own[3 + MAX_PMU];
    struct capture *cap = r->cap;
    struct texts t;

    uint32_t expected = intern_expect(&cap->strings, name);
    struct row_shape input = expect_shape(r, COL_INPUT_SHAPES);
    struct row_shape output = expect_shape(r, COL_OUTPUT_SHAPES);
    size_t n_own = take_own(r, own);
    slice->name = intern_put_expected(&cap->strings, name, expected);
    struct place *place = recall_place(r);
    if (place->is_other_device)
        return false;
    size_t known = cap->strings.strings.n;
    take_texts(r, &input, &output, &t);
    size_t n_set = take_set(r, &t, set);
    bool has_new_text = cap->strings.strings.n > known;
    slice->kind = details_kind_of(r, name, t.type, t.core);
    slice->lane = details_lane_of(r, place, slice->kind);
    slice->set =
        has_new_text ? attrs_set_new(&cap->attrs, set, n_set) : attrs_set(&cap->attrs, set, n_set);
    slice->own = attrs_own(&cap->attrs, own, n_own);
    return true;
}

static void details_take_row(struct reader *r)
{
    struct slice slice = {0};

    if (r->csv.n_cells != csv_header_count(&r->csv) || r->csv.is_broken) {
        lose(r, "kernel-details.field-count", "number of fields differs from the header");
        r->i->misfits++;
        return;
    }
    if (!take_times(r, &slice))
        return;
    struct arena_mark mark = arena_mark(&r->scratch);
    struct str name = plain_text(r, COL_NAME);
    if (is_worth_looking(r) ? take_known(r, name, &slice) : take_varied(r, name, &slice)) {
        r->i->rows++;
        capture_slice(r->cap, &slice);
    }
    arena_rewind(&r->scratch, mark);
}

/* ---- the header ---- */

static const enum kernel_column pattern_columns[] = {
    COL_STEP,          COL_DEVICE,        COL_STREAM,        COL_TYPE,           COL_CORE,
    COL_STATE,         COL_BLOCK_DIM,     COL_MIX_BLOCK_DIM, COL_INPUT_SHAPES,   COL_INPUT_DTYPES,
    COL_INPUT_FORMATS, COL_OUTPUT_SHAPES, COL_OUTPUT_DTYPES, COL_OUTPUT_FORMATS, COL_CLASS,
};

/* The columns of a pattern as few spans: a column between two of them that hardly varies, such as
 * the model's number, is taken along. */
static void find_spans(struct reader *r)
{
    static const struct str along[] = {S_INIT("Model ID"), S_INIT("HF32 Eligible"),
                                       S_INIT("model_id")};
    size_t n = csv_header_count(&r->csv);
    bool is_open = false;

    for (size_t i = 0; i < n && r->n_spans < ARRAY_LEN(r->spans); i++) {
        bool is_in = false;
        for (size_t k = 0; k < ARRAY_LEN(pattern_columns); k++)
            is_in = is_in || r->column[pattern_columns[k]] == (int)i;
        for (size_t k = 0; k < ARRAY_LEN(along) && is_open; k++)
            is_in = is_in || str_equal(csv_header(&r->csv, i), along[k]);
        if (is_in && is_open)
            r->spans[r->n_spans - 1].last = i;
        else if (is_in)
            r->spans[r->n_spans++] = (struct span){i, i};
        is_open = is_in;
    }
}

/* Every column from the first counter to the end is one. */
static void find_pmu(struct reader *r)
{
    static const struct str starts[] = {S_INIT("aic_"), S_INIT("aiv_"), S_INIT("aicore_time"),
                                        S_INIT("total_cycles"), S_INIT("ai_core_")};
    size_t n = csv_header_count(&r->csv), first = 0;

    if (r->i->in->options == NULL || !r->i->in->options->pmu)
        return;
    while (first < n && !STR_ANY(str_starts, csv_header(&r->csv, first), starts))
        first++;
    for (size_t i = first; i < n && r->n_pmu < MAX_PMU; i++) {
        bool is_known = csv_header(&r->csv, i).n == 0;
        for (size_t c = 0; c < COL_COUNT; c++)
            is_known = is_known || r->column[c] == (int)i;
        if (is_known)
            continue;
        r->pmu[r->n_pmu] = (int)i;
        r->pmu_key[r->n_pmu++] = capture_intern(r->cap, csv_header(&r->csv, i));
    }
}

static enum status read_header(struct reader *r)
{
    if (!is_kernel_table(&r->csv))
        return import_refuse(r->i, import_line(r->i, 1), table.no_header.code,
                             table.no_header.text);
    for (size_t c = 0; c < COL_COUNT; c++)
        r->column[c] = kernel_column(&r->csv, (enum kernel_column)c);
    r->is_ns = is_own_table(&r->csv);
    find_spans(r);
    find_pmu(r);
    /* Columns after the last one that is used need not be told apart. */
    int last = r->n_pmu > 0 ? r->pmu[r->n_pmu - 1] : 0;
    for (size_t c = 0; c < COL_COUNT; c++)
        last = r->column[c] > last ? r->column[c] : last;
    if (r->n_spans > 0 && (int)r->spans[r->n_spans - 1].last > last)
        last = (int)r->spans[r->n_spans - 1].last;
    csv_want(&r->csv, (size_t)last + 1);
    return ST_OK;
}

static void take_rows(struct reader *r)
{
    for (r->row_at = csv_used(&r->csv); csv_next(&r->csv); r->row_at = csv_used(&r->csv))
        details_take_row(r);
}

static enum status read_windows(struct reader *r, struct stream *s)
{
    while (!csv_open_part(&r->csv, stream_text(s), s->at_end))
        TRY(stream_fill(s));
    TRY(read_header(r));
    for (;;) {
        take_rows(r);
        if (r->csv.is_last)
            break;
        stream_consume(s, csv_used(&r->csv));
        input_progress(r->i->in, s->offset, r->size);
        TRY(stream_fill(s));
        csv_more(&r->csv, stream_text(s), s->at_end);
    }
    r->i->bytes = s->offset + stream_text(s).n;
    return ST_OK;
}

static enum status read_stream(struct reader *r)
{
    struct stream s;
    struct stat file;
    const struct input_file *in = r->i->in;
    enum status st = stream_open_fast(&s, in->path, WINDOW, in->has_fault, in->diag);

    if (stat(in->path, &file) == 0 && S_ISREG(file.st_mode) && !s.is_gzip)
        r->size = (uint64_t)file.st_size;
    if (st == ST_OK)
        st = read_windows(r, &s);
    stream_close(&s);
    return st;
}

static enum status read_kernel_details(struct import *i)
{
    struct reader *r = mem_grow(NULL, sizeof(*r), 1);

    memset(r, 0, sizeof(*r));
    r->i = i;
    r->cap = i->cap;
    arena_init(&r->scratch);
    arena_init(&r->memory);
    enum status st;
    if (i->in->text.at == NULL) {
        st = read_stream(r);
    } else {
        csv_open(&r->csv, i->in->text);
        st = read_header(r);
        if (st == ST_OK)
            take_rows(r);
    }
    if (st == ST_OK) {
        i->cap->clock.has_unix = true; /* Ascend prints the time since 1970 */
        if (r->is_ns && i->rows > 0 && !r->has_cores)
            i->cap->facts.vendor = VENDOR_UNKNOWN; /* written from a GPU's profile */
    }
    arena_free(&r->scratch);
    arena_free(&r->memory);
    vec_free(&r->patterns);
    hash_free(&r->pattern_ids);
    mem_free(r);
    return st;
}

const struct input_format input_kernel_details = {
    .name = "kernel-details",
    .summary = "kernel table of an Ascend profile (CSV)",
    .looks_for = "kernel_details.csv",
    .role = ROLE_KERNELS,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_KERNEL_TABLE,
    .claims = claims,
    .streams = true,
    .table = &table,
    .read = read_kernel_details,
};
