/*
 * trace_source - the bytes of a trace, in pieces.
 *
 * A plain file is read by whoever needs a piece of it, or mapped by its reader when it is large. A
 * gzip file or a pipe has to be read from front to back: a piece is filled when it is handed out.
 * The result is the same.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_SOURCE_H
#define STRATA_INPUT_TRACE_TRACE_SOURCE_H

#include "base/files/stream.h"
#include "input/input.h"

struct trace_source {
    struct str text; /* all of it, when it is in memory */
    int fd;          /* a plain file, else -1 */
    uint64_t size;   /* of a plain file or text */
    uint64_t bytes;  /* of the file as it stands on the disk */
    bool is_serial;  /* has to be read from front to back */
    bool is_over;    /* a serial source has no more */
    bool is_stream;  /* `stream` is open */
    struct stream stream;
    struct gz gz; /* of packed text in memory */
    struct str packed;
    const struct input_file *in;
};

enum status trace_source_open(struct trace_source *s, const struct input_file *in);
void trace_source_close(struct trace_source *s);

/* Reads `n` bytes at `offset` of a source that is not serial; `error` is an errno or 0. Less than
 * `n` at the end of the file. Safe from several threads. */
size_t trace_source_at(const struct trace_source *s, uint64_t offset, char *to, size_t n,
                       int *error);

/* Reads the next `n` bytes of a serial source; less at its end. */
enum status trace_source_next(struct trace_source *s, char *to, size_t n, size_t *got);

#endif
