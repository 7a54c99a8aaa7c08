/*
 * gz - gzip input, a piece at a time, that makes the best of damaged files.
 *
 *     gz_init(&gz);
 *     n = gz_read(&gz, &packed, out, room);    again and again, with more input when it is used up
 *     gz_end(&gz);                             when there is no more input
 *     gz_report(&gz, path, diag);
 *     gz_fini(&gz);
 *
 * A file may hold several members; their texts follow each other. Zero bytes between and after
 * members are padding. Whatever could be unpacked before a fault is delivered, and the fault is
 * remembered: a member cut short, damaged data (or a wrong check sum), bytes after the last
 * member that are no gzip. No piece of output is larger than `room`, so a small file that unpacks
 * to terabytes is bounded by what the caller goes on reading.
 *
 * Whoever can begin again may unpack in half the time:
 *
 *     gz_init_fast(&gz, &has_fault);
 *     ...
 *     if (has_fault)    drop what was made of the output, and all again with gz_init()
 *
 * Up to a fault the fast way may give other bytes; of sound input it gives the same.
 */
#ifndef STRATA_BASE_FILES_GZ_H
#define STRATA_BASE_FILES_GZ_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/diag.h"
#include "base/files/gz_isal.h"
#include "base/str.h"

enum gz_fault {
    GZ_SOUND,
    GZ_TRUNCATED, /* the input ended inside a member */
    GZ_CORRUPT,   /* damaged data or a check sum that does not match */
    GZ_TRAILING,  /* something else follows the last member; nothing was lost */
};

struct gz {
    z_stream z;
    struct gz_isal *isal; /* in place of zlib; NULL: zlib */
    bool *has_fault;      /* of the fast way; else NULL */
    uint64_t taken;       /* packed bytes used so far */
    uint64_t given;       /* unpacked bytes delivered so far */
    uint64_t members;     /* that were whole */
    uint64_t begin;       /* packed offset of the member in work */
    enum gz_fault fault;
    uint64_t fault_at; /* packed offset where it was noticed */
    const char *why;   /* zlib's word for damaged data, or NULL */
    bool is_in_member;
    bool is_done; /* nothing more will come, whatever the input */
};

/* True for text that begins like a gzip file. */
bool gz_is(struct str head);

void gz_init(struct gz *gz);

/* Through ISA-L where it is installed, else as gz_init(). A fault sets `has_fault`, which must
 * outlive `gz`; NULL: as gz_init(). */
void gz_init_fast(struct gz *gz, bool *has_fault);
void gz_fini(struct gz *gz);

/* Unpacks from the front of `packed`, which becomes what was not used, to `out`; returns the bytes
 * written, at most `room`. Stops when either is used up, or for good when gz->is_done. */
size_t gz_read(struct gz *gz, struct str *packed, char *out, size_t room);

/* The input is over: a member in work was cut short. */
void gz_end(struct gz *gz);

/* Counts the fault, if any, as gz.truncated, gz.corrupt or gz.trailing. */
void gz_report(const struct gz *gz, const char *path, struct diag *diag);

/* Unpacks a whole file held in memory to `out`, which lives in `arena`. Faults are reported and
 * what came before is delivered; ST_LIMIT beyond `most` bytes. */
enum status gz_read_all(struct str packed, size_t most, const char *path, struct diag *diag,
                        struct arena *arena, struct str *out);

#endif
