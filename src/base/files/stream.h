/*
 * stream - the bytes of a large input, plain or gzip, through one reused window.
 *
 *     TRY(stream_open(&s, path, 1 << 20, diag));
 *     do {
 *         TRY(stream_fill(&s));
 *         size_t used = take_whole_records(stream_text(&s), s.at_end);
 *         stream_consume(&s, used);
 *     } while (!s.at_end);
 *     stream_close(&s);
 *
 * Filling moves what was not consumed to the front and reads until the window is full, so views
 * into the window die at each fill. The window grows, twofold, only when not a byte of a full one
 * was consumed, that is when one record is larger; LIMIT_RECORD_BYTES ends that with ST_LIMIT.
 * gzip is known by its signature, whatever the name. Damaged gzip input ends early and is counted
 * in the diag.
 */
#ifndef STRATA_BASE_FILES_STREAM_H
#define STRATA_BASE_FILES_STREAM_H

#include "base/diag.h"
#include "base/files/gz.h"
#include "base/str.h"

struct stream {
    bool at_end;     /* nothing follows what is in the window */
    uint64_t offset; /* of the first byte of the window in the unpacked input */
    bool is_gzip;

    /* Private. */
    const char *path;
    struct diag *diag;
    int fd; /* -1 when closed */
    char *window;
    size_t begin, end, cap; /* window[begin, end) is there */
    size_t limit;           /* the window grows up to this */
    struct gz gz;
    bool *has_fault;     /* as gz_init_fast() takes it */
    char *packed_buffer; /* gzip input; NULL for plain input */
    struct str packed;   /* the part of it that waits */
    bool has_eof;        /* the file has no more bytes */
};

/* "-" is standard input. `path` and `diag` must outlive the stream. On failure the stream may be
 * closed and otherwise not used. */
enum status stream_open(struct stream *s, const char *path, size_t window_size, struct diag *diag);
/* The same; gzip input is unpacked the fast way of base/files/gz.h, unless `has_fault` is NULL. */
enum status stream_open_fast(struct stream *s, const char *path, size_t window_size,
                             bool *has_fault, struct diag *diag);
void stream_close(struct stream *s);

/* Reads on; ST_OK also at the end, where it adds nothing. */
enum status stream_fill(struct stream *s);

/* For readers with a buffer of their own, in place of filling: the next `room` bytes, less at the
 * end only. */
enum status stream_read(struct stream *s, char *to, size_t room, size_t *got);

static inline struct str stream_text(const struct stream *s)
{
    return (struct str){s->window + s->begin, s->end - s->begin};
}

/* Drops the first `n` bytes of the text; more than there are drops all. */
static inline void stream_consume(struct stream *s, size_t n)
{
    size_t there = s->end - s->begin;

    n = n < there ? n : there;
    s->begin += n;
    s->offset += n;
}

/* Bytes of the input used so far, packed as it is. */
static inline uint64_t stream_taken(const struct stream *s)
{
    return s->is_gzip ? s->gz.taken : s->offset + (s->end - s->begin);
}

#endif
