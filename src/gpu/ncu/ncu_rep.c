/*
 * Reports of Nsight Compute. A report is "NVR\0", a header, and blocks; a block has a header and a
 * payload of sources, launches and ranges; each of these is a 32-bit length and a message. Names of
 * metrics are numbers of one list, to which all blocks add.
 * Format reference: docs/formats/ncu-rep.md
 */
#include "gpu/ncu/ncu_rep.h"

#include "base/formats/proto_read.h"
#include "base/limits.h"
#include "base/tables/vec.h"
#include "base/text/num.h"
#include "base/text/shell_word.h"
#include "gpu/ncu/ncu_page.h"

enum { VERSION = 7, NAME_MOST = 512, METRICS_MOST = 1 << 16, MAGIC_BYTES = 4 };

static const struct str magic = {"NVR\0", MAGIC_BYTES}, zstd = {"\x28\xb5\x2f\xfd", MAGIC_BYTES};

bool ncu_rep_is(struct str text)
{
    return str_starts(text, magic);
}

/* ---- the container ---- */

struct ncu_container {
    const char *path;
    struct str text;
    struct arena *arena;
    struct diag *d;
    struct ncu_rows rows;
    uint64_t lost;
    bool is_cut;
    VEC_OF(struct str) names, launches;
};

static void rep_lose(struct ncu_container *r, size_t at, const char *what)
{
    r->lost++;
    r->is_cut = true;
    diag_add(r->d, SEV_LOSS, "ncu-rep.damaged", (struct where){.path = r->path, .byte = at + 1},
             "%s", what);
}

/* A length and as many bytes, which end before `end`; false when they do not. */
static bool next_member(struct str text, size_t *at, size_t end, struct str *out)
{
    uint64_t n;

    if (end - *at < sizeof(uint32_t))
        return false;
    struct proto in = proto_of(str_part(text, *at, sizeof(uint32_t)));
    proto_fixed(&in, sizeof(uint32_t), &n);
    if (n > end - *at - sizeof(uint32_t))
        return false;
    *out = str_part(text, *at + sizeof(uint32_t), n);
    *at += sizeof(uint32_t) + n;
    return true;
}

/* A field that is a number; 0 when it is not there. */
static uint64_t number_in(struct str message, uint32_t field)
{
    struct proto in = proto_of(message);
    struct proto_field f;
    uint64_t number = 0;

    while (proto_next(&in, &f))
        if (f.number == field && f.wire == PROTO_VARINT)
            number = f.value;
    return number;
}

/* A field that is a text or a message; empty when it is not there. */
static struct str bytes_in(struct str message, uint32_t field)
{
    struct proto in = proto_of(message);
    struct str bytes = S("");
    struct proto_field f;

    while (proto_next(&in, &f))
        if (f.number == field && f.wire == PROTO_BYTES)
            bytes = f.bytes;
    return bytes;
}

/* Names in the header of a block: 4 table, 1 names. */
static void add_names(struct ncu_container *r, struct str header)
{
    struct proto in = proto_of(header);
    struct proto_field f, g;

    while (proto_next(&in, &f)) {
        if (f.number != 4 || f.wire != PROTO_BYTES)
            continue;
        struct proto table = proto_of(f.bytes);
        while (proto_next(&table, &g))
            if (g.number == 1 && g.wire == PROTO_BYTES)
                vec_push(&r->names, str_part(g.bytes, 0, NAME_MOST));
    }
}

/* The payload of a block: 1 sources, 2 launches, 7 ranges, as many as its header has. */
static void read_payload(struct ncu_container *r, struct str header, size_t at, size_t end)
{
    uint64_t sources = number_in(header, 1), launches = number_in(header, 2);
    struct str member;

    for (uint64_t i = 0; i < sources; i++)
        if (!next_member(r->text, &at, end, &member)) {
            rep_lose(r, at, "the report ends inside the code of its kernels");
            return;
        }
    for (uint64_t i = 0; i < launches; i++) {
        if (!next_member(r->text, &at, end, &member)) {
            rep_lose(r, at, "the report ends inside a launch");
            return;
        }
        vec_push(&r->launches, member);
    }
}

/* 1 version of the file header; 5 size of a block's payload. */
static enum status read_blocks(struct ncu_container *r)
{
    size_t at = magic.n, end = r->text.n;
    struct str header;

    if (!next_member(r->text, &at, end, &header))
        return diag_fail(r->d, ST_FORMAT, "ncu-rep.damaged",
                         (struct where){.path = r->path, .byte = at + 1},
                         "a report of Nsight Compute that ends inside its header");
    uint64_t version = number_in(header, 1);
    if (version != VERSION) {
        diag_fail(r->d, ST_UNSUPPORTED, "ncu-rep.version", (struct where){.path = r->path},
                  "a report of Nsight Compute with container version %llu; %d is read",
                  (unsigned long long)version, VERSION);
        return ST_UNSUPPORTED;
    }
    while (at < end && !r->is_cut) {
        size_t from = at;
        if (!next_member(r->text, &at, end, &header)) {
            rep_lose(r, from, "the report ends inside the header of a block");
            break;
        }
        uint64_t size = number_in(header, 5);
        bool is_whole = size <= end - at;
        add_names(r, header);
        read_payload(r, header, at, is_whole ? at + size : end);
        if (!is_whole && !r->is_cut)
            rep_lose(r, end, "the report ends inside a block");
        at = is_whole ? at + size : end;
    }
    return ST_OK;
}

/* ---- pages ---- */

static void add_text(struct ncu_container *r, struct str text)
{
    char *plain = arena_alloc(r->arena, text.n + 1);

    for (size_t i = 0; i < text.n; i++)
        plain[i] = (unsigned char)text.at[i] < ' ' ? ' ' : text.at[i];
    ncu_add_cell(&r->rows, (struct str){plain, text.n});
}

/* The columns of every row, and those of findings. */
static void add_head(struct ncu_container *r, bool has_rules)
{
    struct str heads = S("ID,Process ID,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC"),
               rules = S("Section Name,Metric Name,Metric Unit,Metric Value,Rule Name,Rule Type,"
                         "Rule Description");

    for (struct str head; str_split(&heads, ',', &head);)
        ncu_add_cell(&r->rows, head);
    for (struct str head; has_rules && str_split(&rules, ',', &head);)
        ncu_add_cell(&r->rows, head);
}

/* "(8, 4, 1)" of 1, 2, 3. */
static void add_dims(struct ncu_container *r, struct str dims)
{
    ncu_add_cell(&r->rows,
                 arena_format(r->arena, "(%u, %u, %u)", (unsigned)number_in(dims, 1),
                              (unsigned)number_in(dims, 2), (unsigned)number_in(dims, 3)));
}

static void add_number(struct ncu_container *r, uint64_t number)
{
    char text[NUM_TEXT];

    ncu_add_cell(&r->rows, (struct str){text, num_print_u64(text, number)});
}

/* A value: 1 text, 2 and 3 real, 4 and 5 whole; the last one counts. */
struct ncu_value {
    uint32_t field;
    struct proto_field f;
};

static struct ncu_value value_of(struct str message)
{
    struct proto in = proto_of(message);
    struct ncu_value v = {0};
    struct proto_field f;

    while (proto_next(&in, &f)) {
        bool is_good = f.number == 1   ? f.wire == PROTO_BYTES
                       : f.number == 2 ? f.wire == PROTO_FIXED32
                       : f.number == 3 ? f.wire == PROTO_FIXED64
                                       : f.number <= 5 && f.wire == PROTO_VARINT;
        if (is_good)
            v = (struct ncu_value){f.number, f};
    }
    return v;
}

static double real_of(const struct ncu_value *v)
{
    return v->field == 2   ? proto_single(v->f.value)
           : v->field == 3 ? proto_real(v->f.value)
                           : (double)v->f.value;
}

static void add_value(struct ncu_container *r, const struct ncu_value *v)
{
    char text[NUM_TEXT];

    if (v->field == 1)
        add_text(r, v->f.bytes);
    else if (v->field == 4 || v->field == 5)
        add_number(r, v->f.value);
    else if (v->field != 0)
        ncu_add_cell(&r->rows, (struct str){text, num_print_f64(text, real_of(v))});
    else
        ncu_add_cell(&r->rows, S(""));
}

/* A metric of a launch: 1 number of its name, 2 value. */
struct ncu_metric {
    struct str name;
    struct ncu_value value;
};

struct ncu_metrics {
    VEC_OF(struct ncu_metric) list;
};

static void read_metrics(struct ncu_container *r, struct str launch, struct ncu_metrics *m)
{
    struct proto in = proto_of(launch);
    struct proto_field f;

    m->list.n = 0;
    while (proto_next(&in, &f)) {
        if (f.number != 13 || f.wire != PROTO_BYTES || m->list.n >= METRICS_MOST)
            continue;
        uint64_t id = number_in(f.bytes, 1);
        struct str name = id < r->names.n
                              ? r->names.at[id]
                              : arena_format(r->arena, "metric %llu", (unsigned long long)id);
        vec_push(&m->list, ((struct ncu_metric){name, value_of(bytes_in(f.bytes, 2))}));
    }
}

/* Major and minor of the compute capability, as the launch's own metrics have it. */
static struct str capability(struct ncu_container *r, const struct ncu_metrics *m)
{
    double major = -1, minor = -1;

    for (size_t i = 0; i < m->list.n; i++) {
        const struct ncu_metric *x = &m->list.at[i];
        if (str_equal(x->name, S("device__attribute_compute_capability_major")) &&
            x->value.field > 1)
            major = real_of(&x->value);
        if (str_equal(x->name, S("device__attribute_compute_capability_minor")) &&
            x->value.field > 1)
            minor = real_of(&x->value);
    }
    if (!(major >= 0 && major < 1000 && minor >= 0 && minor < 1000))
        return S("");
    return arena_format(r->arena, "%.0f.%.0f", major, minor);
}

/* 5, 6 and 7 name, 10 grid, 11 block, 22 context, 23 stream. */
static void add_launch(struct ncu_container *r, struct str launch, uint64_t id, struct str cc)
{
    static const uint32_t names[] = {7, 6, 5};
    struct str name = S("");

    for (size_t i = 0; i < ARRAY_LEN(names) && name.n == 0; i++)
        name = bytes_in(launch, names[i]);
    add_number(r, id);
    ncu_add_cell(&r->rows, S(""));
    add_text(r, name.n > 0 ? name : S("unnamed"));
    add_number(r, number_in(launch, 22));
    add_number(r, number_in(launch, 23));
    add_dims(r, bytes_in(launch, 11));
    add_dims(r, bytes_in(launch, 10));
    ncu_add_cell(&r->rows, S(""));
    ncu_add_cell(&r->rows, cc);
}

/* Units as far as names have them; values are base units. */
static struct str unit_of(struct str name)
{
    if (str_contains(name, S(".pct")) || str_ends(name, S("_pct")))
        return S("%");
    if (str_starts(name, S("gpu__time_duration")))
        return S("ns");
    if (str_contains(name, S("bytes")) && str_contains(name, S(".sum")))
        return str_contains(name, S("per_second")) ? S("byte/s") : S("byte");
    return S("");
}

static bool has_same_names(const struct ncu_metrics *a, const struct ncu_metrics *b)
{
    if (a->list.n != b->list.n)
        return false;
    for (size_t i = 0; i < a->list.n; i++)
        if (a->list.at[i].name.at != b->list.at[i].name.at)
            return false;
    return true;
}

/* Launches with equal metrics share a page: all metrics of all launches in one would be a table
 * that is mostly empty. */
static void add_raw(struct ncu_container *r)
{
    struct ncu_metrics lists[2] = {0}, *m = &lists[0], *before = &lists[1];

    for (size_t i = 0; i < r->launches.n && r->rows.n < LIMIT_TABLE_BYTES; i++) {
        read_metrics(r, r->launches.at[i], m);
        if (i == 0 || !has_same_names(m, before)) {
            add_head(r, false);
            for (size_t k = 0; k < m->list.n; k++)
                add_text(r, m->list.at[k].name);
            vec_push(&r->rows, '\n');
            for (size_t k = 0; k < NCU_HEADS; k++)
                ncu_add_cell(&r->rows, S(""));
            for (size_t k = 0; k < m->list.n; k++)
                ncu_add_cell(&r->rows, unit_of(m->list.at[k].name));
            vec_push(&r->rows, '\n');
        }
        add_launch(r, r->launches.at[i], i, capability(r, m));
        for (size_t k = 0; k < m->list.n; k++)
            add_value(r, &m->list.at[k].value);
        vec_push(&r->rows, '\n');
        struct ncu_metrics *swap = m;
        m = before;
        before = swap;
    }
    vec_free(&lists[0].list);
    vec_free(&lists[1].list);
}

/* The title of a section by its name: 17 sections, 1 name, 2 title. */
static struct str section_title(struct str launch, struct str name)
{
    struct proto in = proto_of(launch);
    struct proto_field f;

    while (proto_next(&in, &f))
        if (f.number == 17 && f.wire == PROTO_BYTES && str_equal(bytes_in(f.bytes, 1), name))
            return bytes_in(f.bytes, 2);
    return name;
}

/* A finding: 1 text, 2 type. */
static void add_finding(struct ncu_container *r, struct str launch, uint64_t id, struct str rule,
                        struct str finding)
{
    static const char *const types[] = {"INF", "INF", "WRN", "ERR", "OPT"};
    uint64_t type = number_in(finding, 2);

    add_launch(r, launch, id, S(""));
    add_text(r, section_title(launch, bytes_in(rule, 4)));
    for (size_t i = 0; i < 3; i++)
        ncu_add_cell(&r->rows, S(""));
    add_text(r, bytes_in(rule, 1));
    ncu_add_cell(&r->rows, str_of(types[type < ARRAY_LEN(types) ? type : 0]));
    add_text(r, bytes_in(finding, 1));
    vec_push(&r->rows, '\n');
}

/* Rules: 19, each with 1 name, 3 body, 4 section; a body has 1 items, an item 1 finding. */
static void add_rules(struct ncu_container *r)
{
    struct proto_field f, g;
    bool has_head = false;

    for (size_t i = 0; i < r->launches.n; i++) {
        struct proto in = proto_of(r->launches.at[i]);
        while (proto_next(&in, &f) && r->rows.n < LIMIT_TABLE_BYTES) {
            if (f.number != 19 || f.wire != PROTO_BYTES)
                continue;
            struct proto body = proto_of(bytes_in(f.bytes, 3));
            while (proto_next(&body, &g)) {
                struct str finding = S("");
                if (g.number == 1 && g.wire == PROTO_BYTES)
                    finding = bytes_in(g.bytes, 1);
                if (bytes_in(finding, 1).n == 0)
                    continue;
                if (!has_head) {
                    add_head(r, true);
                    vec_push(&r->rows, '\n');
                }
                has_head = true;
                add_finding(r, r->launches.at[i], i, f.bytes, finding);
            }
        }
    }
}

enum status ncu_rep_pages(const char *path, struct str text, struct arena *arena, struct str *pages,
                          uint64_t *lost, struct diag *d)
{
    struct ncu_container r = {.path = path, .text = text, .arena = arena, .d = d};
    enum status st = ST_OK;

    if (str_starts(text, zstd))
        st = diag_fail(d, ST_UNSUPPORTED, "ncu-rep.packed", (struct where){.path = path},
                       "a report of Nsight Compute that is packed with zstd");
    else if (!ncu_rep_is(text))
        st = diag_fail(d, ST_FORMAT, "ncu-rep.no-report", (struct where){.path = path},
                       "not a report of Nsight Compute: it does not begin with NVR");
    else
        st = read_blocks(&r);
    if (st == ST_OK && r.launches.n == 0)
        st = diag_fail(d, ST_FORMAT, "ncu-rep.no-launch", (struct where){.path = path},
                       "a report of Nsight Compute without a whole launch");
    if (st == ST_OK) {
        add_raw(&r);
        add_rules(&r);
        *pages = arena_str(arena, (struct str){r.rows.at, r.rows.n});
    } else if (ncu_rep_is(text) || str_starts(text, zstd)) {
        diag_hint(d, "try",
                  "where ncu is: ncu --import %s --csv --page raw > raw.csv && strata raw.csv",
                  shell_word(arena, path));
    }
    *lost = r.lost;
    vec_free(&r.rows);
    vec_free(&r.names);
    vec_free(&r.launches);
    return st;
}
