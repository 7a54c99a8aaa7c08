/* Blocks and records of a trace of strata's own: checked, then walked. */
#include "input/trace/gpu_trace.h"

#include "base/files/crc32c.h"
#include "base/run/cancel.h"

enum { HEAD = sizeof(struct trace_block), SITE_LEAST = 3 };

/* Where a block lies. */
struct gpu_block {
    struct trace_block head;
    const uint8_t *payload;
    size_t end; /* in the file */
};

/* ---- blocks ---- */

/* The block whose head begins at `at`; false when there is no whole one. Its payload is unchecked.
 */
static bool block_at(struct str text, size_t at, struct gpu_block *out)
{
    if (text.n - at < HEAD)
        return false;
    memcpy(&out->head, text.at + at, HEAD);
    if (out->head.magic != TRACE_BLOCK_MAGIC || out->head.bytes > TRACE_BLOCK_MOST ||
        out->head.head_crc != crc32c(0, &out->head, offsetof(struct trace_block, head_crc)))
        return false;
    out->payload = (const uint8_t *)text.at + at + HEAD;
    out->end = at + HEAD + out->head.bytes;
    return out->head.bytes <= text.n - at - HEAD;
}

/* The next place that could be a head. */
static size_t next_magic(struct str text, size_t at)
{
    const uint32_t magic = TRACE_BLOCK_MAGIC;

    while (at < text.n) {
        const char *found = memchr(text.at + at, (int)(magic & 0xff), text.n - at);
        if (found == NULL)
            return text.n;
        at = (size_t)(found - text.at);
        if (text.n - at >= sizeof(magic) && memcmp(found, &magic, sizeof(magic)) == 0)
            return at;
        at++;
    }
    return text.n;
}

/* ---- records ---- */

struct reader {
    const uint8_t *at, *end;
    int64_t start[TRACE_TAGS], correlation[TRACE_TAGS];
};

static bool trace_number(struct reader *r, uint64_t *out)
{
    if (r->at < r->end && *r->at < 0x80) {
        *out = *r->at++;
        return true;
    }
    const uint8_t *next = trace_get(r->at, r->end, out);
    if (next == NULL)
        return false;
    r->at = next;
    return true;
}

/* How many numbers a timed record has behind what all have. */
static const uint8_t extras[TRACE_TAGS] = {
    [TRACE_COPY] = 1,  [TRACE_FILL] = 2,  [TRACE_CALL] = 1, [TRACE_SYNC] = 2,
    [TRACE_GRAPH] = 1, [TRACE_EVENT] = 2, [TRACE_RUN] = 2,  [TRACE_COUNTER] = 2,
};

static bool read_event(struct reader *r, uint8_t tag, struct gpu_trace_event *e)
{
    uint64_t start, duration, correlation, site;
    uint8_t kind = tag & (TRACE_WITH_GRAPH - 1);

    if (kind < TRACE_KERNEL || kind >= TRACE_TAGS || (kind != tag && kind != TRACE_KERNEL) ||
        !trace_number(r, &start) || !trace_number(r, &duration) || !trace_number(r, &correlation) ||
        !trace_number(r, &site) || site > UINT32_MAX)
        return false;
    e->tag = kind;
    e->has_graph = (tag & TRACE_WITH_GRAPH) != 0;
    e->has_queue = (tag & TRACE_WITH_QUEUE) != 0;
    e->n = (uint8_t)(extras[kind] + 2 * e->has_graph + 2 * e->has_queue);
    e->site = (uint32_t)site;
    e->start = r->start[kind] =
        (int64_t)((uint64_t)r->start[kind] + (uint64_t)trace_unzigzag(start));
    e->duration = (int64_t)duration;
    e->correlation = r->correlation[kind] =
        (int64_t)((uint64_t)r->correlation[kind] + (uint64_t)trace_unzigzag(correlation));
    for (unsigned i = 0; i < e->n; i++)
        if (!trace_number(r, &e->extra[i]))
            return false;
    if (kind != TRACE_COUNTER)
        return true;
    e->values = r->at;
    if (e->extra[1] > TRACE_METRICS_MOST || (size_t)(r->end - r->at) < 8 * e->extra[1])
        return false;
    r->at += 8 * e->extra[1];
    return true;
}

/* Numbers of untimed records; 0: not known by their tag alone. */
static const uint8_t counts[TRACE_KERNEL] = {
    [TRACE_INFO] = 2, [TRACE_CLOCK] = 5,    [TRACE_NOTE] = 3,
    [TRACE_SEEN] = 3, [TRACE_EXTERNAL] = 3, [TRACE_END] = 3,
};

static bool read_untimed(struct reader *r, uint8_t tag, struct gpu_trace_record *out)
{
    uint64_t n = tag < TRACE_KERNEL ? counts[tag] : 0;

    out->tag = tag;
    out->n = 0;
    if (tag == TRACE_METRICS || tag == TRACE_SAMPLE) {
        if (!trace_number(r, &n) || n > TRACE_METRICS_MOST)
            return false;
        out->numbers[out->n++] = n++;
    }
    if (n == 0)
        return false;
    while (out->n < n)
        if (!trace_number(r, &out->numbers[out->n++]))
            return false;
    return true;
}

/* A text: its bytes; a site: its kind and fields. */
static bool read_string(struct reader *r, struct str *out)
{
    uint64_t n;

    if (!trace_number(r, &n) || n > TRACE_STRING_MOST || n > (size_t)(r->end - r->at))
        return false;
    *out = (struct str){(const char *)r->at, (size_t)n};
    r->at += n;
    return true;
}

static bool read_site(struct reader *r, uint64_t *kind, uint64_t *fields, uint64_t *n)
{
    if (!trace_number(r, kind) || *kind == 0 || *kind > UINT8_MAX || !trace_number(r, n) ||
        *n > TRACE_FIELDS_MOST)
        return false;
    for (uint64_t i = 0; i < *n; i++)
        if (!trace_number(r, &fields[i]))
            return false;
    return true;
}

/* ---- opening: checks, texts, sites ---- */

static void add_site(struct gpu_trace *t, uint64_t kind, const uint64_t *fields, uint64_t n)
{
    struct gpu_trace_site site = {
        .kind = (uint8_t)kind, .n = (uint8_t)n, .first = (uint32_t)t->fields.n};

    for (uint64_t i = 0; i < n; i++)
        vec_push(&t->fields, fields[i]);
    vec_push(&t->sites, site);
}

/* One record of the first walk. */
static bool learn(struct gpu_trace *t, struct reader *r)
{
    uint8_t tag = *r->at++;
    uint64_t kind, n, fields[TRACE_FIELDS_MOST];
    struct gpu_trace_record record;
    struct gpu_trace_event event;
    struct str text;

    switch (tag) {
    case TRACE_STRING:
        if (!read_string(r, &text))
            return false;
        vec_push(&t->strings, text);
        return true;
    case TRACE_SITE:
        if (!read_site(r, &kind, fields, &n) || t->fields.n > UINT32_MAX - TRACE_FIELDS_MOST)
            return false;
        add_site(t, kind, fields, n);
        return true;
    case TRACE_END:
        t->has_end = true;
        return read_untimed(r, tag, &record);
    default:
        if (tag < TRACE_KERNEL)
            return read_untimed(r, tag, &record);
        if (!read_event(r, tag, &event))
            return false;
        t->records++;
        t->tags[event.tag]++;
        return true;
    }
}

/* Numbers of texts and sites that a lost block had stay free; it had bytes for each. */
static bool skip_lost(struct gpu_trace *t, const struct trace_block *head)
{
    if (head->first_string < t->strings.n || head->first_site < t->sites.n ||
        head->first_string - t->strings.n > t->bad_bytes / SITE_LEAST ||
        head->first_site - t->sites.n > t->bad_bytes / SITE_LEAST)
        return false;
    while (t->strings.n < head->first_string)
        vec_push(&t->strings, ((struct str){"", 0}));
    while (t->sites.n < head->first_site)
        vec_push(&t->sites, ((struct gpu_trace_site){0}));
    return true;
}

static bool learn_block(struct gpu_trace *t, const struct gpu_block *b)
{
    struct reader r = {.at = b->payload, .end = b->payload + b->head.bytes};
    size_t strings = t->strings.n, sites = t->sites.n, fields = t->fields.n;
    uint64_t records = t->records, tags[TRACE_TAGS];
    struct gpu_block next;

    memcpy(tags, t->tags, sizeof(tags));
    if (crc32c(0, b->payload, b->head.bytes) != b->head.crc || !skip_lost(t, &b->head))
        return false;
    if (t->has_sites_only && block_at(t->text, b->end, &next) &&
        next.head.first_string == b->head.first_string &&
        next.head.first_site == b->head.first_site)
        return true; /* the next one begins with the same numbers: it brings no text or site */
    while (r.at < r.end)
        if (!learn(t, &r)) {
            t->strings.n = strings;
            t->sites.n = sites;
            t->fields.n = fields;
            t->records = records;
            memcpy(t->tags, tags, sizeof(tags));
            return false;
        }
    t->dropped = b->head.dropped;
    return true;
}

static void describe_damage(struct gpu_trace *t, size_t at)
{
    struct where where = {.path = t->path, .byte = at};

    diag_add(t->diag, SEV_LOSS, "strata-trace.damaged-block", where,
             "block skipped: bad checksum or records");
}

enum status gpu_trace_open(struct gpu_trace *t, const char *path, struct str text, bool sites_only,
                           struct diag *d)
{
    struct where where = {.path = path};
    struct gpu_block b;
    uint32_t head[2];
    size_t at = TRACE_HEAD;

    *t = (struct gpu_trace){.path = path, .diag = d, .text = text, .has_sites_only = sites_only};
    if (text.n < TRACE_HEAD || memcmp(text.at, TRACE_MAGIC, sizeof(TRACE_MAGIC) - 1) != 0)
        return diag_fail(d, ST_FORMAT, "strata-trace.no-head", where, "not a strata trace");
    memcpy(head, text.at + 8, sizeof(head));
    if (head[0] != TRACE_VERSION)
        return diag_fail(d, ST_UNSUPPORTED, "strata-trace.version", where,
                         "trace format version %u; this strata reads version %d", head[0],
                         TRACE_VERSION);
    t->process = head[1];
    vec_push(&t->strings, ((struct str){"", 0}));
    vec_push(&t->sites, ((struct gpu_trace_site){0}));
    while (at < text.n && !cancelled()) {
        if (!block_at(text, at, &b)) {
            size_t next = next_magic(text, at + 1);
            t->bad_bytes += next - at;
            if (next < text.n)
                describe_damage(t, at);
            at = next;
            continue;
        }
        bool is_good = learn_block(t, &b);
        vec_push(&t->is_good, is_good);
        t->blocks++;
        if (!is_good) {
            t->bad_blocks++;
            t->bad_bytes += b.end - at;
            t->lost += b.head.records;
            describe_damage(t, at);
        }
        at = b.end;
    }
    if (!t->has_end)
        diag_add(d, SEV_WARN, "strata-trace.no-end", where,
                 "the program was killed; its last events are missing");
    if (t->dropped > 0)
        diag_add(d, SEV_LOSS, "strata-trace.dropped", where,
                 "the profiling library dropped %llu records", (unsigned long long)t->dropped);
    return cancelled() ? ST_CANCELLED : ST_OK;
}

void gpu_trace_close(struct gpu_trace *t)
{
    vec_free(&t->strings);
    vec_free(&t->sites);
    vec_free(&t->fields);
    vec_free(&t->is_good);
}

/* ---- the walk ---- */

static void walk_block(const struct gpu_block *b, const struct gpu_trace_sink *sink)
{
    struct reader r = {.at = b->payload, .end = b->payload + b->head.bytes};
    struct gpu_trace_event event = {0};
    struct gpu_trace_record record;
    uint64_t kind, n, fields[TRACE_FIELDS_MOST];
    struct str text;
    bool is_fine = true;

    while (r.at < r.end && is_fine) {
        uint8_t tag = *r.at++;
        if (tag >= TRACE_KERNEL) {
            is_fine = read_event(&r, tag, &event);
            if (is_fine && sink->event != NULL)
                sink->event(sink->ctx, &event);
        } else if (tag == TRACE_STRING) {
            is_fine = read_string(&r, &text);
        } else if (tag == TRACE_SITE) {
            is_fine = read_site(&r, &kind, fields, &n);
        } else {
            is_fine = read_untimed(&r, tag, &record);
            if (is_fine && sink->record != NULL)
                sink->record(sink->ctx, &record);
        }
    }
}

void gpu_trace_walk(const struct gpu_trace *t, const struct gpu_trace_sink *sink)
{
    struct gpu_block b;
    size_t number_of = 0;

    for (size_t at = TRACE_HEAD; at < t->text.n && !cancelled();) {
        if (!block_at(t->text, at, &b)) {
            at = next_magic(t->text, at + 1);
            continue;
        }
        if (number_of < t->is_good.n && t->is_good.at[number_of++])
            walk_block(&b, sink);
        at = b.end;
        if (sink->block != NULL)
            sink->block(sink->ctx, at);
    }
}
