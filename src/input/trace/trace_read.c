/*
 * The file is cut into pieces of equal length. Each piece finds its first event by itself and
 * reads the events that begin in it; the last one may end in the text behind. The merge checks
 * that a piece began where the one before stopped, and reads it again where it did not: so a piece
 * that guessed wrong costs time and changes nothing.
 *
 * An event that is longer than the text behind its piece is carried over: its beginning is put in
 * front of the next piece, which is then read again.
 */
#include "input/trace/trace_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/mapfile.h"
#include "base/run/cancel.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/text/text.h"
#include "input/trace/trace_inside.h"

enum {
    PIECE = 384 << 10, /* with all that is made of it in the second-level cache */
    REACH = 16 << 10,
    PAGE = 4 << 10,
    LOOK_BEHIND = 16,     /* bytes before a piece, for the comma before its first event */
    BYTES_A_SLICE = 352,  /* of the text, at least, in most traces */
    HEAD = 64 << 10,      /* first look at the file; grows when the events begin later */
    TAIL_MOST = 64 << 20, /* bytes behind the events that are looked at */
    /* Text without an event that is carried on after damage before a piece may guess anew. */
    DAMAGE_MOST = 16 << 20,
};

struct reader {
    const struct input_file *in;
    struct input_file source_in; /* the same with a diag of its own: next_piece() has its thread */
    struct diag source_diag;
    enum status source_status;
    struct trace_source source;
    bool is_mapped;           /* pieces are parts of windows of the file, not copies */
    struct mapwindow *window; /* the last one; of next_piece() */
    struct trace_merge merge;
    struct trace_facts facts;
    struct trace_cut cut;
    struct trace_chunk *slots;
    size_t n_slots;
    bool is_object;
    uint64_t begin;     /* of the events */
    uint64_t next_from; /* of the next piece */

    /* Serial sources: bytes that were read and belong to the next piece. */
    struct text ahead;

    /* The merge. */
    uint64_t expected;  /* where the next piece must begin; TRACE_NOWHERE: where it says */
    uint64_t lost_from; /* then: where the event begins that was too long */
    bool has_ended;
    struct text carry; /* the beginning of an event that is not whole yet */
    uint64_t carry_offset;
    size_t carry_tried; /* its length when it was last tried */
    struct text tail;
    uint64_t tail_offset;
    enum status status;
    uint64_t bytes; /* of the file */
};

static enum status fail_read(struct reader *r, int error)
{
    return diag_fail(r->in->diag, ST_IO, "file.read-failed", (struct where){.path = r->in->path},
                     "cannot be read: %s", strerrordesc_np(error));
}

/* Makes the first `n` bytes of the file available in `ahead`. */
static enum status read_head(struct reader *r, size_t n, bool *is_all)
{
    size_t got;
    int error;

    vec_reserve(&r->ahead, n);
    if (r->source.is_serial) {
        TRY(trace_source_next(&r->source, r->ahead.at + r->ahead.n, n - r->ahead.n, &got));
        r->ahead.n += got;
        *is_all = r->source.is_over;
        return ST_OK;
    }
    r->ahead.n = trace_source_at(&r->source, 0, r->ahead.at, n, &error);
    if (error != 0)
        return fail_read(r, error);
    *is_all = r->ahead.n == r->source.size || r->ahead.n < n;
    return ST_OK;
}

/* Finds where the events begin. */
static enum status find_events(struct reader *r)
{
    bool is_all = false, is_cut;

    for (size_t n = HEAD;; n *= 2) {
        TRY(read_head(r, n, &is_all));
        struct str text = {r->ahead.at, r->ahead.n};
        switch (trace_facts_head(&r->facts, text, is_all, &r->begin, &r->is_object)) {
        case ROOT_EVENTS:
            return ST_OK;
        case ROOT_MORE:
            if (n < LIMIT_RECORD_BYTES)
                continue;
            break;
        default:
            break;
        }
        /* A damaged head is no reason to give up the events behind it. */
        size_t at = json_border(text, 0, S("ph"), &is_cut);
        if (at == text.n)
            return diag_fail(r->in->diag, ST_FORMAT, "trace.no-events",
                             (struct where){.path = r->in->path}, "no list of trace events");
        trace_merge_trouble(&r->merge, TROUBLE_DAMAGED, 0);
        r->begin = at;
        return ST_OK;
    }
}

static void make_room(struct trace_chunk *c, size_t n)
{
    if (c->buffer_cap >= n)
        return;
    mem_free(c->buffer);
    c->buffer = mem_grow(NULL, 1, n);
    c->buffer_cap = n;
}

static uint64_t piece_offset(const struct reader *r, uint64_t from)
{
    return from - r->begin < LOOK_BEHIND ? r->begin : from - LOOK_BEHIND;
}

/* The bytes of a piece's text, if the file has them. */
static size_t piece_length(const struct reader *r, const struct trace_chunk *c)
{
    return (size_t)(c->limit + r->cut.reach - c->offset);
}

/* Fills a piece of a serial source, and keeps what the next one needs. */
static bool fill_piece(struct reader *r, struct trace_chunk *c)
{
    size_t n = piece_length(r, c), got;

    make_room(c, n);
    size_t have = r->ahead.n < n ? r->ahead.n : n;
    if (have > 0)
        memcpy(c->buffer, r->ahead.at, have);
    r->source_status = trace_source_next(&r->source, c->buffer + have, n - have, &got);
    if (r->source_status != ST_OK)
        return false;
    c->text = (struct str){c->buffer, have + got};
    c->taken = r->source.is_stream ? stream_taken(&r->source.stream) : r->source.gz.taken;
    c->is_last = r->source.is_over && r->ahead.n <= n;
    if (c->offset + c->text.n <= c->from && c->from > r->begin)
        return false;
    /* What follows from the next piece's beginning on. */
    size_t used = (size_t)(piece_offset(r, c->limit) - c->offset);
    if (r->ahead.n > n) { /* a long head */
        memmove(r->ahead.at, r->ahead.at + used, r->ahead.n - used);
        r->ahead.n -= used;
    } else {
        r->ahead.n = 0;
        if (used < c->text.n)
            text_put(&r->ahead, (struct str){c->text.at + used, c->text.n - used});
    }
    return true;
}

static bool next_piece(void *ctx, size_t slot)
{
    struct reader *r = ctx;
    struct trace_chunk *c = &r->slots[slot];

    if (cancelled()) {
        r->source_status = ST_CANCELLED;
        return false;
    }
    mapwindow_leave(&c->window); /* of the piece before in this slot */
    c->from = r->next_from;
    c->limit = c->from + r->cut.piece;
    c->offset = piece_offset(r, c->from);
    r->next_from = c->limit;
    if (r->source.is_serial)
        return fill_piece(r, c);
    if (c->from >= r->source.size && c->from > r->begin)
        return false;
    c->is_last = c->limit + r->cut.reach >= r->source.size;
    if (r->is_mapped && !c->is_last)
        c->window = mapwindow_acquire(&r->window, r->source.fd, c->offset, piece_length(r, c));
    return true;
}

/* Gets the text of a piece of a source that is not serial. */
static void get_text(const struct reader *r, struct trace_chunk *c)
{
    size_t n = piece_length(r, c);

    if (r->source.fd < 0) {
        c->text = str_part(r->source.text, (size_t)c->offset, n);
        return;
    }
    if (c->window != NULL) {
        c->text = mapwindow_part(c->window, c->offset, n);
        return;
    }
    make_room(c, n + PAGE);
    /* Where in the buffer the text goes: as far from the beginning of a page as it is in the file.
     * The system copies pages, and at some distances from each other that takes three times as
     * long. */
    char *at = c->buffer + (size_t)(c->offset - (uintptr_t)c->buffer) % PAGE;
    size_t got = trace_source_at(&r->source, c->offset, at, n, &c->error);
    c->text = (struct str){at, got};
    c->is_last = c->is_last || got < n; /* it became shorter meanwhile */
}

static void work_piece(void *ctx, size_t slot)
{
    struct reader *r = ctx;
    struct trace_chunk *c = &r->slots[slot];

    c->error = 0;
    if (!r->source.is_serial)
        get_text(r, c);
    if (r->n_slots == 1) {
        /* With one thread the piece before is merged already, and nothing needs to be guessed. */
        c->start = TRACE_NOWHERE; /* not read */
        if (!r->has_ended && r->carry.n == 0 &&
            (r->expected < c->limit || r->expected == TRACE_NOWHERE))
            trace_chunk_read(c, r->expected);
    } else {
        trace_chunk_read(c, c->from == r->begin ? r->begin : TRACE_NOWHERE);
    }
}

/* Puts the carried text in front of a piece; false when it is not worth a try yet. */
static bool join_carry(struct reader *r, struct trace_chunk *c)
{
    uint64_t end = r->carry_offset + r->carry.n;
    size_t known = (size_t)(end - c->offset);

    if (known < c->text.n)
        text_put(&r->carry, (struct str){c->text.at + known, c->text.n - known});
    if (!c->is_last && r->carry.n < 2 * r->carry_tried)
        return false;
    make_room(c, r->carry.n);
    memcpy(c->buffer, r->carry.at, r->carry.n);
    c->text = (struct str){c->buffer, r->carry.n};
    c->offset = r->carry_offset;
    r->carry.n = 0;
    trace_chunk_read(c, r->carry_offset);
    return true;
}

static void carry_on(struct reader *r, const struct trace_chunk *c)
{
    struct str rest = str_part(c->text, (size_t)(c->stop - c->offset), c->text.n);

    if (rest.n > (c->json.token == JSON_ERROR || c->json.is_resyncing
                      ? (size_t)DAMAGE_MOST
                      : (size_t)LIMIT_RECORD_BYTES)) {
        trace_merge_trouble(&r->merge, TROUBLE_TOO_LONG, c->stop);
        r->expected = TRACE_NOWHERE;
        r->lost_from = c->stop;
        return;
    }
    text_put(&r->carry, (struct str){rest.at, rest.n});
    r->carry_offset = c->stop;
    r->carry_tried = rest.n;
}

static void end_at(struct reader *r, const struct trace_chunk *c)
{
    struct str rest = str_part(c->text, (size_t)(c->stop - c->offset), c->text.n);

    r->has_ended = true;
    r->tail_offset = c->offset + c->text.n;
    if (c->why == STOP_END) {
        if (r->is_object)
            text_put(&r->tail, (struct str){rest.at, rest.n});
        else if (str_trim(rest).n > 0)
            trace_merge_trouble(&r->merge, TROUBLE_TRAILING_TEXT, c->stop);
        return;
    }
    /* Takes the members behind the events, where damage hides how the list ends. */
    size_t tail = r->is_object ? trace_facts_find_tail(rest) : rest.n;
    text_put(&r->tail, (struct str){rest.at + tail, rest.n - tail});
    bool has_tail = tail < rest.n;
    if (c->why == STOP_LOST || has_tail)
        damage_add(&r->merge.damage, r->tail_offset - r->tail.n - c->stop,
                   (struct where){.byte = c->stop + 1});
    if (c->why == STOP_LOST)
        return;
    if (has_tail) {
        trace_merge_trouble(&r->merge, TROUBLE_DAMAGED, c->stop);
        return;
    }
    if (rest.n > 0 && rest.at[0] == ',')
        rest = str_part(rest, 1, rest.n);
    trace_merge_trouble(&r->merge, str_trim(rest).n == 0 ? TROUBLE_UNCLOSED : TROUBLE_TRUNCATED,
                        c->stop);
}

static bool merge_piece(void *ctx, size_t slot)
{
    struct reader *r = ctx;
    struct trace_chunk *c = &r->slots[slot];

    if (c->error != 0) {
        r->status = fail_read(r, c->error);
        return false;
    }
    if (r->has_ended) {
        size_t known = (size_t)(r->tail_offset - c->offset);
        if (known < c->text.n && r->tail.n < TAIL_MOST)
            text_put(&r->tail, (struct str){c->text.at + known, c->text.n - known});
        r->tail_offset = c->offset + c->text.n;
        return true;
    }
    if (r->carry.n > 0) {
        if (!join_carry(r, c))
            return true;
    } else if (c->start != r->expected && r->expected != TRACE_NOWHERE) {
        if (r->expected >= c->limit)
            return true;
        trace_chunk_read(c, r->expected);
    }
    if (r->expected == TRACE_NOWHERE)
        damage_add(&r->merge.damage, c->start - r->lost_from,
                   (struct where){.byte = r->lost_from + 1});
    trace_merge_add(&r->merge, c);
    r->expected = c->stop;
    if (c->why == STOP_CUT)
        carry_on(r, c);
    else if (c->why != STOP_LIMIT)
        end_at(r, c);
    input_progress(r->in, r->source.is_serial ? c->taken : c->stop, r->source.bytes);
    return !r->has_ended || r->is_object;
}

static void read_run(struct reader *r, enum trace_dialect dialect)
{
    static const struct pool_pipe pipe = {next_piece, work_piece, merge_piece};
    struct pool *pool = r->in->options != NULL ? r->in->options->pool : NULL;
    size_t width = pool_width(pool);

    r->n_slots = width > 1 ? width + 2 : 1;
    r->slots = mem_grow(NULL, sizeof(*r->slots), r->n_slots);
    for (size_t i = 0; i < r->n_slots; i++)
        trace_chunk_init(&r->slots[i], dialect);
    r->next_from = r->expected = r->begin;
    r->is_mapped = r->source.fd >= 0 && r->source.size > MAPFILE_READ_MAX;
    if (r->source.is_serial) {
        memmove(r->ahead.at, r->ahead.at + r->begin, r->ahead.n - (size_t)r->begin);
        r->ahead.n -= (size_t)r->begin;
    } else {
        vec_free(&r->ahead);
    }
    /* Room at once for what such a file has: memory that is not touched costs nothing. */
    slices_reserve(&r->merge.cap->slices,
                   r->merge.cap->slices.n + (size_t)(r->source.size / BYTES_A_SLICE));
    pool_pipe(pool, r->n_slots, &pipe, r);
    for (size_t i = 0; i < r->n_slots; i++)
        trace_chunk_fini(&r->slots[i]);
    mapwindow_leave(&r->window);
    mem_free(r->slots);
}

/* "CUDA 13.0, driver 13.0": as the vendors number them. */
static void set_software(const struct trace_facts *t, struct capture *cap)
{
    const struct {
        const char *name;
        const int64_t *at; /* runtime, driver */
        int64_t major, minor;
    } stacks[] = {{"CUDA", t->cuda, 1000, 10}, {"HIP", t->hip, 10000000, 100000}};

    for (size_t i = 0; i < ARRAY_LEN(stacks); i++) {
        const int64_t *v = stacks[i].at, major = stacks[i].major, minor = stacks[i].minor;
        if (v[0] <= 0)
            continue;
        struct text out = {0};
        text_format(&out, "%s %lld.%lld", stacks[i].name, (long long)(v[0] / major),
                    (long long)(v[0] % major / minor));
        if (v[1] > 0)
            text_format(&out, ", driver %lld.%lld", (long long)(v[1] / major),
                        (long long)(v[1] % major / minor));
        cap->facts.producer = capture_intern(cap, text_view(&out));
        text_free(&out);
    }
}

static void set_facts(struct reader *r, struct capture *cap, enum trace_dialect dialect)
{
    static const struct str kinds[] = {
        [TRACE_CHROME] = S_INIT("chrome"),         [TRACE_KINETO] = S_INIT("kineto"),
        [TRACE_ASCEND] = S_INIT("ascend_pytorch"), [TRACE_XLA] = S_INIT("xla"),
        [TRACE_ROCPROF] = S_INIT("rocprof"),
    };
    const struct trace_facts *t = &r->facts;
    struct facts *f = &cap->facts;

    if (f->kind == 0)
        f->kind = capture_intern(cap, kinds[dialect]);
    f->rank = t->rank != UNKNOWN ? t->rank : f->rank;
    f->world_size = t->world_size != UNKNOWN ? t->world_size : f->world_size;
    f->record_shapes = t->record_shapes != UNKNOWN ? t->record_shapes : f->record_shapes;
    f->with_stack = t->with_stack != UNKNOWN ? t->with_stack : f->with_stack;
    for (size_t i = 0; i < t->groups.n; i++)
        vec_push(&cap->comm_groups,
                 ((struct comm_group){.id = capture_intern(cap, t->groups.at[i].id),
                                      .name = capture_intern(cap, t->groups.at[i].name),
                                      .ranks = capture_intern(cap, t->groups.at[i].ranks)}));
    if (t->device_name.n > 0)
        f->device_name = capture_intern(cap, t->device_name);
    if (t->device_memory != UNKNOWN)
        f->device_memory = t->device_memory;
    if (t->device_cores != UNKNOWN)
        f->device_cores = t->device_cores;
    if (t->capability[0] > 0 && t->capability[1] >= 0 && t->vendor != VENDOR_AMD)
        f->device_cc = capture_intern_format(cap, "%lld.%lld", (long long)t->capability[0],
                                             (long long)t->capability[1]);
    if (t->vendor != VENDOR_UNKNOWN)
        f->vendor = t->vendor;
    set_software(t, cap);
    if (t->has_base_time)
        cap->clock.to_unix = t->base_time;
    if (t->has_base_time || dialect == TRACE_KINETO || dialect == TRACE_ASCEND)
        cap->clock.has_unix = true;
}

/* Reads one file of the trace, r->in, into the merge. */
static enum status read_part(struct reader *r, enum trace_dialect dialect)
{
    diag_init(&r->source_diag);
    r->source_in = *r->in;
    r->source_in.diag = &r->source_diag;
    r->status = trace_source_open(&r->source, &r->source_in);
    if (r->status == ST_OK)
        r->status = find_events(r);
    if (r->status == ST_OK)
        read_run(r, dialect);
    diag_merge(r->in->diag, &r->source_diag);
    if (r->status == ST_OK)
        r->status = r->source_status;
    if (r->status == ST_OK && r->tail.n > 0)
        trace_facts_tail(&r->facts, (struct str){r->tail.at, r->tail.n});
    if (r->facts.has_second_list)
        trace_merge_trouble(&r->merge, TROUBLE_SECOND_LIST, TRACE_NOWHERE);
    r->facts.has_second_list = false;
    r->bytes = r->source.bytes;
    vec_free(&r->ahead);
    vec_free(&r->carry);
    vec_free(&r->tail);
    trace_source_close(&r->source);
    diag_fini(&r->source_diag);
    return r->status;
}

/* Goes on to the next file: what belongs to the last one is forgotten. */
static void begin_part(struct reader *r, const struct input_file *in)
{
    *r = (struct reader){.in = in, .merge = r->merge, .facts = r->facts, .cut = r->cut};
    trace_merge_next(&r->merge, in);
}

static void end_part(struct reader *r, const char *format)
{
    trace_merge_report(&r->merge);
    capture_source(r->merge.cap, (struct source){.path = r->in->path,
                                                 .format = format,
                                                 .bytes = r->bytes,
                                                 .rows = r->merge.events,
                                                 .lost = r->merge.lost});
}

/* The files that continue the first one. */
static enum status read_parts(struct reader *r, const struct input_file *in,
                              enum trace_dialect dialect, const char *format)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < in->n_parts && st != ST_CANCELLED; i++) {
        struct input_file part = *in;
        struct diag own;
        diag_init(&own);
        part.path = in->parts[i];
        part.text = (struct str){0};
        part.diag = &own;
        begin_part(r, &part);
        st = read_part(r, dialect);
        if (st == ST_OK)
            end_part(r, format);
        if (st == ST_OK)
            diag_merge(in->diag, &own);
        else
            import_left_out(&own, in->diag);
        diag_fini(&own);
    }
    return st == ST_CANCELLED ? st : ST_OK;
}

enum status trace_read_cut(struct import *i, enum trace_dialect dialect, const char *format,
                           struct trace_cut cut)
{
    const struct input_file *in = i->in;
    struct capture *cap = i->cap;
    struct reader r = {.in = in, .cut = cut};

    i->is_recorded = true;
    trace_merge_init(&r.merge, in, cap, dialect);
    trace_facts_init(&r.facts);
    enum status st = read_part(&r, dialect);
    if (st == ST_OK && in->n_parts > 0) {
        end_part(&r, format);
        st = read_parts(&r, in, dialect, format);
        begin_part(&r, in);
    }
    if (st == ST_OK) {
        r.merge.is_own = r.facts.is_own;
        trace_merge_finish(&r.merge);
        set_facts(&r, cap, dialect);
    }
    if (st == ST_OK && in->n_parts == 0) {
        end_part(&r, format);
    } else if (st == ST_OK) { /* what only the end of all files shows */
        trace_merge_report(&r.merge);
        cap->sources.at[cap->sources.n - 1].lost += r.merge.lost;
    }
    trace_facts_fini(&r.facts);
    trace_merge_fini(&r.merge);
    return st;
}

enum status trace_read(struct import *i, enum trace_dialect dialect, const char *format)
{
    struct str text = i->in->text;
    struct trace_cut cut = {PIECE, REACH};

    /* Texts in memory are small; they are cut as well, so that tests and fuzzers meet borders. */
    if (text.at != NULL && text.n / 4 < PIECE)
        cut = (struct trace_cut){text.n / 4 + 64, 256};
    return trace_read_cut(i, dialect, format, cut);
}
