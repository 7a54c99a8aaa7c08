/*
 * Bytes flow file -> window for plain input and file -> packed_buffer -> window for gzip.
 * fill_all() hides which; it is the place where unpacking ahead on another thread would plug in.
 */
#include "base/files/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/run/cancel.h"
#include "base/run/job.h"

enum { PACKED_SIZE = 1 << 17, WINDOW_MIN = 64 };

/* Reads at most `room` bytes; `got` is 0 at the end of the file. */
static enum status read_some(struct stream *s, char *to, size_t room, size_t *got)
{
    *got = 0;
    while (!s->has_eof) {
        if (cancelled())
            return ST_CANCELLED;
        ssize_t n = read(s->fd, to, room);
        if (n > 0) {
            *got = (size_t)n;
            return ST_OK;
        }
        if (n == 0)
            s->has_eof = true;
        else if (errno == EAGAIN) /* a standard input that someone else made non-blocking */
            poll(&(struct pollfd){.fd = s->fd, .events = POLLIN}, 1, 100);
        else if (errno != EINTR)
            return diag_fail(s->diag, ST_IO, "file.read-failed", (struct where){.path = s->path},
                             "cannot be read: %s", strerrordesc_np(errno));
    }
    return ST_OK;
}

/* Unpacks at most `room` bytes, at least one unless the input is over. */
static enum status unpack_some(struct stream *s, char *to, size_t room, size_t *got)
{
    for (;;) {
        *got = gz_read(&s->gz, &s->packed, to, room);
        if (*got > 0 || s->gz.is_done)
            return ST_OK;
        if (s->packed.n > 0)
            continue;
        size_t n;
        TRY(read_some(s, s->packed_buffer, PACKED_SIZE, &n));
        s->packed = (struct str){s->packed_buffer, n};
        if (n == 0)
            gz_end(&s->gz);
    }
}

/* The first two bytes tell plain from gzip. No more is read, so that the first fill finds room. */
static enum status sniff(struct stream *s)
{
    while (s->end < 2 && !s->has_eof) {
        size_t got;
        TRY(read_some(s, s->window + s->end, 2 - s->end, &got));
        s->end += got;
    }
    if (!gz_is(stream_text(s)))
        return ST_OK;
    s->is_gzip = true;
    gz_init_fast(&s->gz, s->has_fault);
    s->packed_buffer = mem_grow(NULL, 1, PACKED_SIZE);
    memcpy(s->packed_buffer, s->window, s->end);
    s->packed = (struct str){s->packed_buffer, s->end};
    s->end = 0;
    return ST_OK;
}

enum status stream_open(struct stream *s, const char *path, size_t window_size, struct diag *diag)
{
    return stream_open_fast(s, path, window_size, NULL, diag);
}

enum status stream_open_fast(struct stream *s, const char *path, size_t window_size,
                             bool *has_fault, struct diag *diag)
{
    uint64_t size;

    *s = (struct stream){
        .path = path, .diag = diag, .fd = -1, .limit = LIMIT_RECORD_BYTES, .has_fault = has_fault};
    if (strcmp(path, "-") == 0) {
        s->path = "standard input";
        s->fd = STDIN_FILENO;
    } else {
        TRY(mapfile_descriptor(path, diag, &s->fd, &size));
        posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    s->cap = window_size > WINDOW_MIN ? window_size : WINDOW_MIN;
    s->window = mem_grow(NULL, 1, s->cap);
    return sniff(s);
}

void stream_close(struct stream *s)
{
    if (s->fd > STDIN_FILENO)
        job_close(s->fd);
    if (s->is_gzip)
        gz_fini(&s->gz);
    mem_free(s->packed_buffer);
    mem_free(s->window);
    *s = (struct stream){.fd = -1, .at_end = true};
}

static enum status make_room(struct stream *s)
{
    size_t n = s->end - s->begin;

    if (s->begin > 0) {
        memmove(s->window, s->window + s->begin, n);
        s->begin = 0;
        s->end = n;
    }
    if (n < s->cap)
        return ST_OK;
    if (s->cap >= s->limit)
        return diag_fail(s->diag, ST_LIMIT, "stream.record-too-long",
                         (struct where){.path = s->path, .byte = s->offset + 1},
                         "a record is longer than %zu bytes", s->limit);
    s->cap = s->cap < s->limit / 2 ? s->cap * 2 : s->limit;
    s->window = mem_grow(s->window, 1, s->cap);
    return ST_OK;
}

/* Reads until `to` is full or the input is over. */
static enum status fill_all(struct stream *s, char *to, size_t room, size_t *got)
{
    size_t n = 0;

    for (*got = 0; *got < room && !s->at_end; *got += n) {
        TRY((s->is_gzip ? unpack_some : read_some)(s, to + *got, room - *got, &n));
        s->at_end = n == 0;
        if (s->at_end && s->is_gzip)
            gz_report(&s->gz, s->path, s->diag);
    }
    return ST_OK;
}

enum status stream_fill(struct stream *s)
{
    size_t got;

    if (s->at_end)
        return ST_OK;
    TRY(make_room(s));
    TRY(fill_all(s, s->window + s->end, s->cap - s->end, &got));
    s->end += got;
    return ST_OK;
}

enum status stream_read(struct stream *s, char *to, size_t room, size_t *got)
{
    struct str text = str_part(stream_text(s), 0, room);

    if (text.n > 0)
        memcpy(to, text.at, text.n);
    stream_consume(s, text.n);
    TRY(fill_all(s, to + text.n, room - text.n, got));
    s->offset += *got;
    *got += text.n;
    return ST_OK;
}
