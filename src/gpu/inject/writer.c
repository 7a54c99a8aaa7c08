/*
 * A trace file: blocks, texts, sites, records. See writer.h.
 */
#include "gpu/inject/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/crc32c.h"
#include "base/files/write_all.h"

enum {
    HEAD = sizeof(struct trace_block),
    BLOCK_BYTES = 256 << 10, /* a block is written when it has grown to this */
    RECORD_MOST = TRACE_STRING_MOST + 1024,
    TEXT_SLOTS = 1 << 15,
    TEXT_BYTES = 8 << 20,
    SITE_SLOTS = 1 << 17,
    SITE_BYTES = 24 << 20,
};

_Static_assert(sizeof(struct trace_block) == 48, "the head of a block has 48 bytes");

/* A text or site that was written: where its bytes lie, and its number. */
struct writer_slot {
    uint64_t hash;
    uint32_t at, n;
    uint32_t id; /* 0: free */
};

/* ---- the file ---- */

static void begin_block(struct writer *w)
{
    w->used = HEAD;
    w->records = 0;
    w->has_times = false;
    w->begin = w->end = 0;
    w->first_string = w->strings + 1;
    w->first_site = w->sites + 1;
    memset(w->last_start, 0, sizeof(w->last_start));
    memset(w->last_correlation, 0, sizeof(w->last_correlation));
}

void writer_flush(struct writer *w)
{
    if (w->fd < 0 || w->records == 0)
        return;
    struct trace_block head = {
        .magic = TRACE_BLOCK_MAGIC,
        .bytes = (uint32_t)(w->used - HEAD),
        .records = w->records,
        .crc = crc32c(0, w->buf + HEAD, w->used - HEAD),
        .begin = w->begin,
        .end = w->end,
        .first_string = w->first_string,
        .first_site = w->first_site,
        .dropped = w->dropped < UINT32_MAX ? (uint32_t)w->dropped : UINT32_MAX,
    };
    head.head_crc = crc32c(0, &head, offsetof(struct trace_block, head_crc));
    memcpy(w->buf, &head, HEAD);
    errno = 0;
    if (write_all(w->fd, w->buf, w->used) == 0) {
        w->bytes += w->used;
    } else { /* no more is written; half a block is cut off again */
        w->error = errno != 0 ? errno : EIO;
        if (ftruncate(w->fd, (off_t)(TRACE_HEAD + w->bytes)) == 0 || w->error != 0)
            close(w->fd);
        w->fd = -1;
    }
    begin_block(w);
}

/* Where the next record goes; NULL when nothing is written any more. */
static uint8_t *room(struct writer *w)
{
    if (w->used >= BLOCK_BYTES)
        writer_flush(w);
    return w->fd >= 0 ? w->buf + w->used : NULL;
}

static void writer_done(struct writer *w, const uint8_t *end)
{
    w->used = (size_t)(end - w->buf);
    w->records++;
}

/* ---- texts and sites ---- */

static uint64_t hash_of(const uint8_t *at, size_t n)
{
    uint64_t hash = n * UINT64_C(0x9e3779b97f4a7c15), word;

    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, at, n);
    hash = (hash ^ word) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 29;
}

static bool table_init(struct writer_table *t, size_t slots, size_t bytes)
{
    t->slots = calloc(slots, sizeof(*t->slots));
    t->bytes = malloc(bytes);
    t->slots_most = slots;
    t->bytes_most = bytes;
    return t->slots != NULL && t->bytes != NULL;
}

static void table_fini(struct writer_table *t)
{
    free(t->slots);
    free(t->bytes);
    *t = (struct writer_table){0};
}

/* The slot of these bytes, or the free one where they belong. */
static struct writer_slot *table_find(struct writer_table *t, const uint8_t *at, size_t n,
                                      uint64_t hash)
{
    for (size_t i = hash & (t->slots_most - 1);; i = (i + 1) & (t->slots_most - 1)) {
        struct writer_slot *s = &t->slots[i];
        if (s->id == 0 || (s->hash == hash && s->n == n && memcmp(t->bytes + s->at, at, n) == 0))
            return s;
    }
}

static void table_put(struct writer_table *t, const uint8_t *at, size_t n, uint64_t hash,
                      uint32_t id)
{
    if (t->n >= t->slots_most / 2 || t->used + n > t->bytes_most) {
        memset(t->slots, 0, t->slots_most * sizeof(*t->slots));
        t->n = t->used = 0;
    }
    struct writer_slot *s = table_find(t, at, n, hash);
    memcpy(t->bytes + t->used, at, n);
    *s = (struct writer_slot){.hash = hash, .at = (uint32_t)t->used, .n = (uint32_t)n, .id = id};
    t->used += n;
    t->n++;
}

uint32_t writer_string(struct writer *w, const char *text)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t n = text != NULL ? strnlen(text, TRACE_STRING_MOST) : 0;

    if (n == 0 || w->fd < 0)
        return 0;
    uint64_t hash = hash_of(bytes, n);
    uint32_t id = table_find(&w->texts, bytes, n, hash)->id;
    uint8_t *to;
    if (id != 0 || (to = room(w)) == NULL)
        return id;
    id = ++w->strings;
    table_put(&w->texts, bytes, n, hash, id);
    *to++ = TRACE_STRING;
    to = trace_put(to, n);
    memcpy(to, bytes, n);
    writer_done(w, to + n);
    return id;
}

uint32_t writer_site(struct writer *w, enum trace_site_kind kind, const uint64_t *fields, size_t n)
{
    uint64_t key[1 + TRACE_FIELDS_MOST];

    if (n > TRACE_FIELDS_MOST || w->fd < 0)
        return 0;
    key[0] = kind;
    memcpy(key + 1, fields, n * sizeof(*fields));
    const uint8_t *bytes = (const uint8_t *)key;
    size_t size = (n + 1) * sizeof(*key);
    uint64_t hash = hash_of(bytes, size);
    uint32_t id = table_find(&w->places, bytes, size, hash)->id;
    uint8_t *to;
    if (id != 0 || (to = room(w)) == NULL)
        return id;
    id = ++w->sites;
    table_put(&w->places, bytes, size, hash, id);
    *to++ = TRACE_SITE;
    *to++ = (uint8_t)kind;
    to = trace_put(to, n);
    for (size_t i = 0; i < n; i++)
        to = trace_put(to, fields[i]);
    writer_done(w, to);
    return id;
}

/* ---- records ---- */

/* What all timed records begin with. */
static uint8_t *writer_put_event(struct writer *w, uint8_t *to, const struct writer_event *e)
{
    unsigned kind = e->tag & (TRACE_WITH_GRAPH - 1);
    int64_t end;

    *to++ = e->tag;
    to = trace_put(to, trace_zigzag((int64_t)((uint64_t)e->start - (uint64_t)w->last_start[kind])));
    to = trace_put(to, (uint64_t)e->duration);
    to = trace_put(to, trace_zigzag(e->correlation - w->last_correlation[kind]));
    to = trace_put(to, e->site);
    w->last_start[kind] = e->start;
    w->last_correlation[kind] = e->correlation;
    if (e->start == 0 || e->duration < 0 || __builtin_add_overflow(e->start, e->duration, &end))
        return to;
    if (!w->has_times || e->start < w->begin)
        w->begin = e->start;
    if (!w->has_times || end > w->end)
        w->end = end;
    w->has_times = true;
    return to;
}

void writer_event(struct writer *w, const struct writer_event *e, const uint64_t *extra, size_t n)
{
    uint8_t *to = room(w);

    if (to == NULL)
        return;
    to = writer_put_event(w, to, e);
    for (size_t i = 0; i < n; i++)
        to = trace_put(to, extra[i]);
    w->total++;
    writer_done(w, to);
}

void writer_counter(struct writer *w, const struct writer_event *e, uint32_t passes,
                    const double *values, size_t n)
{
    uint8_t *to = room(w);

    if (to == NULL || n > TRACE_METRICS_MOST)
        return;
    to = writer_put_event(w, to, e);
    to = trace_put(to, passes);
    to = trace_put(to, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        for (unsigned k = 0; k < 8; k++)
            *to++ = (uint8_t)(bits >> 8 * k);
    }
    w->total++;
    writer_done(w, to);
}

void writer_record(struct writer *w, enum trace_tag tag, const uint64_t *numbers, size_t n)
{
    uint8_t *to = room(w);

    if (to == NULL || n > 1 + TRACE_METRICS_MOST)
        return;
    *to++ = (uint8_t)tag;
    for (size_t i = 0; i < n; i++)
        to = trace_put(to, numbers[i]);
    writer_done(w, to);
}

void writer_info(struct writer *w, const char *key, const char *value)
{
    uint64_t texts[2] = {writer_string(w, key), writer_string(w, value)};

    writer_record(w, TRACE_INFO, texts, 2);
}

void writer_note(struct writer *w, const char *code, int result, const char *text)
{
    uint64_t numbers[3] = {writer_string(w, code), trace_zigzag(result), writer_string(w, text)};

    writer_record(w, TRACE_NOTE, numbers, 3);
}

/* ---- begin and end ---- */

static void writer_release(struct writer *w)
{
    table_fini(&w->texts);
    table_fini(&w->places);
    free(w->buf);
    w->buf = NULL;
}

bool writer_open(struct writer *w, const char *path)
{
    uint8_t head[TRACE_HEAD] = TRACE_MAGIC;
    uint32_t numbers[2] = {TRACE_VERSION, (uint32_t)getpid()};

    *w = (struct writer){.fd = -1, .buf = malloc(HEAD + BLOCK_BYTES + RECORD_MOST)};
    errno = ENOMEM;
    if (w->buf == NULL || !table_init(&w->texts, TEXT_SLOTS, TEXT_BYTES) ||
        !table_init(&w->places, SITE_SLOTS, SITE_BYTES)) {
        writer_release(w);
        return false;
    }
    w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
    memcpy(head + 8, numbers, sizeof(numbers));
    if (w->fd < 0 || write_all(w->fd, head, sizeof(head)) != 0) {
        int why = errno;
        if (w->fd >= 0)
            close(w->fd);
        writer_release(w);
        w->fd = -1;
        errno = why;
        return false;
    }
    begin_block(w);
    return true;
}

void writer_close(struct writer *w, uint64_t lost_ranges)
{
    uint64_t counts[3] = {w->total, w->dropped, lost_ranges};

    writer_record(w, TRACE_END, counts, 3);
    writer_flush(w);
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    writer_release(w);
}

void writer_abandon(struct writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}
