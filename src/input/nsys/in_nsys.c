/*
 * nsys: the SQLite export of Nsight Systems.
 *
 * Tables are there when they have rows, and columns come and go with versions: only start and end
 * are asked for. Kernels, copies, fills and whole graphs are device work; runtime and driver calls
 * and NVTX ranges stand on host threads. Arrows join (process, correlation), since correlations
 * of two processes may be equal. Format reference: docs/formats/nsys.md
 */
#include <stdlib.h>

#include "base/run/pool.h"
#include "input/db_probe.h"
#include "input/nsys/nsys_in.h"

static const struct str name_texts[NAMES] = {
    S_INIT("short_name"),
    S_INIT("grid"),
    S_INIT("block"),
    S_INIT("registers per thread"),
    S_INIT("shared memory"),
    S_INIT("static shared memory"),
    S_INIT("local memory per thread"),
    S_INIT("context"),
    S_INIT("cluster"),
    S_INIT("graph id"),
    S_INIT("graph node id"),
    S_INIT("bytes"),
    S_INIT("result"),
    S_INIT("GPU"),
};

/* Tables are left out when they are empty, StringIds too. */
static const struct str own_tables[] = {
    S_INIT("CUPTI_ACTIVITY_KIND_KERNEL"),      S_INIT("CUPTI_ACTIVITY_KIND_RUNTIME"),
    S_INIT("CUPTI_ACTIVITY_KIND_MEMCPY"),      S_INIT("CUPTI_ACTIVITY_KIND_MEMSET"),
    S_INIT("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
};

static int nsys_probe(const struct probe *p)
{
    static const struct str strings = S_INIT("StringIds");
    static const struct str others[] = {
        S_INIT("NVTX_EVENTS"),
        S_INIT("META_DATA_EXPORT"),
        S_INIT("TARGET_INFO_SESSION_START_TIME"),
    };

    return db_probe(p, own_tables, ARRAY_LEN(own_tables)) ||
                   (db_probe(p, &strings, 1) && db_probe(p, others, ARRAY_LEN(others)))
               ? 90
               : 0;
}

/* ---- numbers of large ids ---- */

uint32_t nsys_number(struct nsys_numbers *list, int64_t id)
{
    size_t slot = (size_t)id % NSYS_RECENT;
    uint32_t fresh = (uint32_t)list->ids.n;

    if (list->recent[slot] < fresh && list->ids.at[list->recent[slot]] == id)
        return list->recent[slot];
    uint32_t number = hash_add(&list->numbers, (uint64_t)id, fresh);
    if (number == fresh)
        vec_push(&list->ids, id);
    list->recent[slot] = number;
    return number;
}

void nsys_numbers_free(struct nsys_numbers *list)
{
    vec_free(&list->ids);
    hash_free(&list->numbers);
}

/* ---- rows ---- */

bool nsys_times(struct nsys *s, const struct db_rows *rows, nanos begin, nanos end,
                struct slice *out)
{
    static const struct import_db_codes codes = {"nsys.no-time", "nsys.bad-duration"};

    s->i->rows++;
    return import_db_times(s->i, rows, begin, end, &codes, out);
}

strid nsys_name(struct nsys *s, int64_t id)
{
    return id != DB_NONE ? db_strings_intern(&s->strings, s->cap, id) : 0;
}

/* ---- arrows ---- */

ORDER_BY(by_process, struct nsys_link,
         ORDER(x->process, y->process) ?: ORDER(x->correlation, y->correlation)
         ?: ORDER(x->slice, y->slice));

static void sort_links(struct nsys_links *links)
{
    for (size_t i = 1; i < links->n; i++)
        if (by_process(&links->at[i], &links->at[i - 1]) < 0) {
            qsort(links->at, links->n, sizeof(*links->at), by_process);
            return;
        }
}

static bool is_before(const struct nsys_link *a, const struct nsys_link *b)
{
    return a->process != b->process ? a->process < b->process : a->correlation < b->correlation;
}

/* Exports without globalPid do not tell whose work it is; when one process made all the calls, it
 * is that one's. */
static void adopt_work(struct nsys *s)
{
    for (size_t i = 1; i < s->launches.n; i++)
        if (s->launches.at[i].process != s->launches.at[0].process)
            return;
    for (size_t i = 0; i < s->works.n && s->launches.n > 0; i++)
        if (s->processes.ids.at[s->works.at[i].process] == 0)
            s->works.at[i].process = s->launches.at[0].process;
}

/* One arrow to every piece of work, from the first call of its correlation. */
static void nsys_join(struct nsys *s)
{
    size_t c = 0;

    adopt_work(s);
    sort_links(&s->launches);
    sort_links(&s->works);
    for (size_t w = 0; w < s->works.n; w++) {
        const struct nsys_link *work = &s->works.at[w];
        while (c < s->launches.n && is_before(&s->launches.at[c], work))
            c++;
        if (work->correlation != NSYS_NONE && c < s->launches.n &&
            !is_before(work, &s->launches.at[c]))
            capture_flow(s->cap, FLOW_LAUNCH, s->launches.at[c].slice, work->slice);
    }
}

/* ---- the whole ---- */

/* Two readers of one file, each with a connection and a diag of its own. */
struct halves {
    struct nsys *device, *host;
};

static void read_half(void *ctx, size_t i)
{
    struct halves *h = ctx;

    if (i == 0)
        nsys_read_device(h->device);
    else
        nsys_read_calls(h->host);
}

/* Device work and calls, the two large parts, side by side; the result is as if one after the
 * other. */
static void read_halves(struct nsys *s)
{
    struct pool *pool = s->i->in->options != NULL ? s->i->in->options->pool : NULL;
    struct input_file in = *s->i->in;
    struct import import = {.in = &in};
    struct nsys host = {.i = &import};
    struct diag own;

    diag_init(&own);
    in.diag = &own;
    if (import_db_open(&import, &host.db) == ST_OK) {
        pool_for(pool, 2, read_half, &(struct halves){s, &host});
        import_db_close(&import, &host.db);
        s->i->rows += import.rows;
        s->i->lost += import.lost;
    }
    diag_merge(s->i->in->diag, &own);
    diag_fini(&own);
    s->calls = host.calls;
    nsys_put_calls(s);
    nsys_calls_free(&s->calls);
}

static void nsys_read_all(struct nsys *s)
{
    struct db_devices devices = {.n = 0};

    for (size_t i = 0; i < NAMES; i++)
        s->name[i] = capture_intern(s->cap, name_texts[i]);
    db_strings_read(&s->strings, &s->db, "StringIds");
    if (import_device(s->i) < 0)
        db_devices_find(&s->db, &devices);
    s->device = db_devices_choose(&devices, s->i->in, "nsys.several-devices");
    nsys_read_facts(s);
    read_halves(s);
    nsys_read_os_calls(s);
    nsys_read_ranges(s);
    nsys_join(s);
    db_strings_free(&s->strings);
    vec_free(&s->works);
    vec_free(&s->launches);
    vec_free(&s->kernel_kind);
    nsys_numbers_free(&s->processes);
    hash_free(&s->lane_of);
}

static enum status read_nsys(struct import *i)
{
    struct nsys s = {.i = i, .cap = i->cap, .device = NSYS_NONE};
    enum status st = ST_OK;

    TRY(import_db_open(i, &s.db));
    bool is_export = db_has_table(&s.db, S("StringIds"));
    for (size_t k = 0; k < ARRAY_LEN(own_tables); k++)
        is_export = is_export || db_has_table(&s.db, own_tables[k]);
    if (is_export)
        nsys_read_all(&s);
    else
        st = import_refuse(i, import_file(i), "nsys.no-tables", "a database without nsys tables");
    import_db_close(i, &s.db);
    return st;
}

const struct input_format input_nsys = {
    .name = "nsys",
    .summary = "Nsight Systems profile (exported to SQLite)",
    .looks_for = "*.sqlite",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_NVIDIA,
    .source = SOURCE_NSYS,
    .names = "*.sqlite, *.nsys-rep.db",
    .streams = true,
    .probe = nsys_probe,
    .devices = db_devices_ask,
    .read = read_nsys,
};
