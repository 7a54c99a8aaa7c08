/*
 * Recorded schedules: read, run again, compared.
 */
#include "kernels/pto/judge/replay.h"

#include <stdlib.h>

#include "base/formats/csv.h"
#include "base/text/num.h"
#include "report/record.h"

/* The order they are looked at in, which decides who takes a signal first. */
static const char *const queue_names[PTO_REPLAY_QUEUES] = {
    "Scalar", "MTE2_AIV", "MTE2_AIC",   "MTE3",   "MTE1", "VEC",
    "FIXP",   "CUBE",     "MTE2_AIV_1", "MTE3_1", "VEC_1"};

enum { MOST_CHANNELS = 1 << 20 };

#define MOST_CYCLES ((int64_t)1 << 32) /* of one entry: sums of all entries fit */

const char *pto_replay_queue_name(uint32_t queue)
{
    return queue < PTO_REPLAY_QUEUES ? queue_names[queue] : "?";
}

void pto_replay_init(struct pto_replay *r)
{
    memset(r, 0, sizeof(*r));
}

void pto_replay_free(struct pto_replay *r)
{
    vec_free(&r->entries);
    vec_free(&r->channels);
    for (size_t i = 0; i < PTO_REPLAY_QUEUES; i++)
        vec_free(&r->order[i]);
    memset(r, 0, sizeof(*r));
}

/* ---- reading ---- */

struct columns {
    int queue, duration, waits, signals, start, end;
};

static bool read_channels(struct pto_replay *r, struct str text, uint32_t *first, uint32_t *n)
{
    struct str rest = text, one;
    uint64_t number;

    *first = (uint32_t)r->channels.n;
    *n = 0;
    while (text.n > 0 && str_split(&rest, '|', &one)) {
        if (!num_u64(one, &number) || number >= MOST_CHANNELS)
            return false;
        vec_push(&r->channels, (uint32_t)number);
        (*n)++;
    }
    return true;
}

static bool read_told(struct str text, int64_t *out)
{
    *out = -1;
    return text.n == 0 || num_i64(text, out);
}

/* What is wrong with the row; NULL when nothing is. */
static const char *read_row(struct pto_replay *r, const struct csv *csv, const struct columns *c)
{
    struct pto_replay_entry e = {.line = (uint32_t)csv->line, .start = -1, .end = -1};

    while (e.queue < PTO_REPLAY_QUEUES &&
           !str_equal(csv_cell(csv, c->queue), str_of(queue_names[e.queue])))
        e.queue++;
    if (e.queue == PTO_REPLAY_QUEUES)
        return "no such queue";
    if (!num_i64(csv_cell(csv, c->duration), &e.duration) || e.duration < 0 ||
        e.duration > MOST_CYCLES)
        return "the duration is no number of cycles";
    if (!read_channels(r, csv_cell(csv, c->waits), &e.wait_first, &e.wait_n) ||
        !read_channels(r, csv_cell(csv, c->signals), &e.signal_first, &e.signal_n))
        return "waits and signals are numbers of channels with | between them";
    if (!read_told(csv_cell(csv, c->start), &e.told_start) ||
        !read_told(csv_cell(csv, c->end), &e.told_end))
        return "start and end are cycles";
    vec_push(&r->order[e.queue], (uint32_t)r->entries.n);
    vec_push(&r->entries, e);
    return NULL;
}

enum status pto_replay_read(struct pto_replay *r, struct str text, const char *path, struct diag *d)
{
    struct csv *csv = mem_grow(NULL, sizeof(*csv), 1);
    const char *problem = NULL;
    uint64_t line = 0;

    csv_open(csv, text);
    struct columns c = {csv_column(csv, S("queue")), csv_column(csv, S("duration")),
                        csv_column(csv, S("waits")), csv_column(csv, S("signals")),
                        csv_column(csv, S("start")), csv_column(csv, S("end"))};
    if (c.queue < 0 || c.duration < 0 || c.waits < 0 || c.signals < 0)
        problem = "a recording has the columns queue, duration, waits, signals";
    while (!problem && csv_next(csv)) {
        line = csv->line;
        problem = read_row(r, csv, &c);
    }
    mem_free(csv);
    if (problem)
        return diag_fail(d, ST_FORMAT, "pto-replay.bad-row", (struct where){path, line, 0}, "%s",
                         problem);
    return ST_OK;
}

/* ---- running ---- */

struct schedule {
    struct pto_replay *r;
    uint32_t *count; /* by channel */
    uint32_t sync_base;
    int64_t now;
    struct {
        size_t next; /* entry of the queue */
        bool is_running;
        int64_t end, free; /* of the running one; when the queue was free last */
    } queue[PTO_REPLAY_QUEUES];
};

static struct pto_replay_entry *entry_of(struct schedule *s, uint32_t queue, size_t which)
{
    return &s->r->entries.at[s->r->order[queue].at[which]];
}

static void finish_due(struct schedule *s)
{
    for (uint32_t q = 0; q < PTO_REPLAY_QUEUES; q++) {
        if (!s->queue[q].is_running || s->queue[q].end > s->now)
            continue;
        const struct pto_replay_entry *e = entry_of(s, q, s->queue[q].next - 1);
        for (uint32_t i = 0; i < e->signal_n; i++)
            s->count[s->r->channels.at[e->signal_first + i]]++;
        s->queue[q].is_running = false;
        s->queue[q].free = s->queue[q].end;
    }
}

static bool start_all(struct schedule *s)
{
    bool started = false;

    for (uint32_t q = 0; q < PTO_REPLAY_QUEUES; q++) {
        if (s->queue[q].is_running || s->queue[q].next >= s->r->order[q].n)
            continue;
        struct pto_replay_entry *e = entry_of(s, q, s->queue[q].next);
        bool may_start = true;
        for (uint32_t i = 0; i < e->wait_n && may_start; i++)
            may_start = s->count[s->r->channels.at[e->wait_first + i]] > 0;
        if (!may_start)
            continue;
        for (uint32_t i = 0; i < e->wait_n; i++) {
            uint32_t channel = s->r->channels.at[e->wait_first + i];
            if (channel >= s->sync_base && s->count[channel] > 0)
                s->count[channel]--;
        }
        e->start = s->queue[q].free > s->now ? s->queue[q].free : s->now;
        e->end = e->start + e->duration;
        s->queue[q].end = e->end;
        s->queue[q].is_running = true;
        s->queue[q].next++;
        s->r->busy[q] += e->duration;
        started = true;
    }
    return started;
}

/* The next end; false when nothing runs. */
static bool advance(struct schedule *s)
{
    int64_t next = INT64_MAX;

    for (uint32_t q = 0; q < PTO_REPLAY_QUEUES; q++) {
        if (s->queue[q].is_running && s->queue[q].end < next)
            next = s->queue[q].end;
    }
    if (next == INT64_MAX)
        return false;
    s->now = next;
    return true;
}

void pto_replay_run(struct pto_replay *r, uint32_t sync_base)
{
    uint32_t most = 0;
    struct schedule s = {.r = r, .sync_base = sync_base};

    for (size_t i = 0; i < r->channels.n; i++)
        most = r->channels.at[i] > most ? r->channels.at[i] : most;
    s.count = mem_grow(NULL, sizeof(*s.count), (size_t)most + 1);
    memset(s.count, 0, sizeof(*s.count) * ((size_t)most + 1));
    do {
        finish_due(&s);
    } while (start_all(&s) || advance(&s));
    mem_free(s.count);
    for (size_t i = 0; i < r->entries.n; i++) {
        const struct pto_replay_entry *e = &r->entries.at[i];
        r->stuck += e->start < 0;
        if (e->end > r->total)
            r->total = e->end;
        if ((e->told_start >= 0 && e->told_start != e->start) ||
            (e->told_end >= 0 && e->told_end != e->end)) {
            if (r->different++ == 0)
                r->first_different = &r->entries.at[i];
        }
    }
}

/* ---- for programs ---- */

struct queue_row {
    const char *queue;
    uint64_t entries;
    int64_t busy;
};

static struct field_items queue_rows(const void *replay, const struct record_env *env)
{
    const struct pto_replay *r = replay;
    struct queue_row *rows = ARENA_ARRAY(env->arena, struct queue_row, PTO_REPLAY_QUEUES);
    size_t n = 0;

    for (uint32_t q = 0; q < PTO_REPLAY_QUEUES; q++)
        if (r->order[q].n > 0)
            rows[n++] = (struct queue_row){queue_names[q], r->order[q].n, r->busy[q]};
    return (struct field_items){rows, n};
}

/* Pairs of start and end, as short as they can be written. */
static void write_times(struct json_writer *w, const void *replay, const struct record_env *env)
{
    const struct pto_replay *r = replay;

    (void)env;
    json_write_array(w);
    for (size_t i = 0; i < r->entries.n; i++) {
        json_write_array(w);
        json_write_i64(w, r->entries.at[i].start);
        json_write_i64(w, r->entries.at[i].end);
        json_write_end(w);
    }
    json_write_end(w);
}

static const struct field queue_fields[] = {
    FIELD(struct queue_row, queue, "queue"),
    FIELD(struct queue_row, entries, "entries"),
    FIELD(struct queue_row, busy, "busy_cycles"),
};
static const struct record queue_record = RECORD(struct queue_row, queue_fields);

static const struct field entry_fields[] = {
    FIELD(struct pto_replay_entry, line, "line"),
    FIELD(struct pto_replay_entry, start, "start", .about = "-1: it never ran"),
    FIELD(struct pto_replay_entry, end, "end"),
    FIELD(struct pto_replay_entry, told_start, "recorded_start"),
    FIELD(struct pto_replay_entry, told_end, "recorded_end"),
};
static const struct record entry_record = RECORD(struct pto_replay_entry, entry_fields);

static const struct field replay_fields[] = {
    FIELD(struct pto_replay, total, "cycles"),
    FIELD(struct pto_replay, entries.n, "entries"),
    FIELD(struct pto_replay, stuck, "stuck", .about = "entries that never ran"),
    FIELD(struct pto_replay, different, "different",
          .about = "entries whose times are not the recorded ones"),
    FIELD_POINTER(struct pto_replay, first_different, "first_different", &entry_record),
    FIELD_MADE(FIELD_OBJECT, "queues", queue_rows, &queue_record),
    FIELD_WRITTEN("times", write_times,
                  .about = "start and end of each entry, in the order of the recording"),
};
static const struct record replay_record = RECORD(struct pto_replay, replay_fields);

const struct schema pto_replay_schema = {
    .name = "strata.pto-replay/1",
    .title = "a recorded schedule run again",
    .record = &replay_record,
};
