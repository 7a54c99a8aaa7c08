/* The bytes of a trace: text at hand, a file, or a stream that is unpacked. */
#include "input/trace/trace_inside.h"

#include <errno.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/run/job.h"

static enum status open_stream(struct trace_source *s)
{
    s->is_serial = s->is_stream = true;
    return stream_open_fast(&s->stream, s->in->path, 0, s->in->has_fault, s->in->diag);
}

enum status trace_source_open(struct trace_source *s, const struct input_file *in)
{
    char head[2];

    *s = (struct trace_source){.fd = -1, .in = in};
    if (in->text.at != NULL) {
        s->bytes = in->text.n;
        if (gz_is(in->text)) {
            s->is_serial = true;
            s->packed = in->text;
            gz_init_fast(&s->gz, in->has_fault);
        } else {
            s->text = in->text;
            s->size = in->text.n;
        }
        return ST_OK;
    }
    if (strcmp(in->path, "-") == 0)
        return open_stream(s);
    TRY(mapfile_descriptor(in->path, in->diag, &s->fd, &s->size));
    s->bytes = s->size;
    ssize_t got = pread(s->fd, head, sizeof(head), 0);
    if (got < 0)
        return diag_fail(in->diag, ST_IO, "file.read-failed", (struct where){.path = in->path},
                         "cannot be read: %s", strerrordesc_np(errno));
    if (gz_is((struct str){head, (size_t)got})) {
        job_close(s->fd);
        s->fd = -1;
        return open_stream(s);
    }
    return ST_OK;
}

void trace_source_close(struct trace_source *s)
{
    if (s->fd >= 0)
        job_close(s->fd);
    if (s->is_stream)
        stream_close(&s->stream);
    else if (s->is_serial)
        gz_fini(&s->gz);
    *s = (struct trace_source){.fd = -1};
}

size_t trace_source_at(const struct trace_source *s, uint64_t offset, char *to, size_t n,
                       int *error)
{
    size_t done = 0;

    *error = 0;
    if (s->fd < 0) {
        struct str part = offset < s->size ? str_part(s->text, (size_t)offset, n) : S("");
        if (part.n > 0)
            memcpy(to, part.at, part.n);
        return part.n;
    }
    while (done < n) {
        ssize_t got = pread(s->fd, to + done, n - done, (off_t)(offset + done));
        if (got == 0)
            break;
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR) {
            *error = errno;
            break;
        }
    }
    return done;
}

enum status trace_source_next(struct trace_source *s, char *to, size_t n, size_t *got)
{
    *got = 0;
    if (s->is_stream) {
        TRY(stream_read(&s->stream, to, n, got));
        s->is_over = s->stream.at_end;
    }
    while (!s->is_stream && *got < n && !s->is_over) {
        size_t unpacked = gz_read(&s->gz, &s->packed, to + *got, n - *got);
        *got += unpacked;
        if (unpacked == 0 && (s->packed.n == 0 || s->gz.is_done)) {
            gz_end(&s->gz);
            s->is_over = true;
            gz_report(&s->gz, s->in->path, s->in->diag);
        }
    }
    return ST_OK;
}
