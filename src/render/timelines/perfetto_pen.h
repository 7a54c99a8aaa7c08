/*
 * perfetto_pen - Perfetto's own binary trace, packet by packet.
 *
 *     perfetto_open(pen, sink, first);
 *     process = perfetto_process(pen, name, pid);
 *     row = perfetto_row(pen, &(struct perfetto_row){.parent = process, .name = name});
 *     perfetto_note_int(pen, key, 7);           (* notes and arrows of the slice that comes *)
 *     perfetto_begin(pen, row, at, name, category);
 *     perfetto_end(pen, row, at + 5);
 *     ok = perfetto_close(pen);
 *
 * Texts of tracks, and notes on them, are followed by a NUL, and times are nanoseconds.
 */
#ifndef STRATA_RENDER_PERFETTO_PEN_H
#define STRATA_RENDER_PERFETTO_PEN_H

#include "base/tables/vec.h"
#include "base/text/text_out.h"
#include "render/proto/perfetto.pb-c.h"

/* Some 64 KiB: not for the stack. */
struct perfetto_pen {
    struct text_out out;
    uint64_t next_uuid;
    VEC_OF(uint64_t) from, to; /* arrows of the slice that comes: push their numbers */
    VEC_OF(char) notes;        /* of the slice that comes, packed */
    VEC_OF(char) event;        /* being packed */
    VEC_OF(uint8_t) packed;
    nanos shift; /* added to all times: the format has none before 0 */
    bool has_packets;
};

/* `first` is the earliest time there will be. */
void perfetto_open(struct perfetto_pen *p, struct sink out, nanos first);

/* False: the sink failed. */
bool perfetto_close(struct perfetto_pen *p);

/* `at` of the trace is `unix_at` of real time. */
void perfetto_clock(struct perfetto_pen *p, nanos at, nanos unix_at);

enum { PERFETTO_ROWS = 1000 }; /* room for rows between two lanes in the viewer's order */

struct perfetto_row {
    uint64_t uuid;   /* 0: the next number */
    uint64_t parent; /* its process; of further rows of a lane the first */
    struct str name;
    size_t lane, number; /* its place */
    bool is_thread;
    int64_t pid, tid; /* of a thread */
    struct str note;  /* description; empty: none */
};

/* The number of a track that is drawn later, perhaps with another pen. */
uint64_t perfetto_number(struct perfetto_pen *p);

/* The track of each. */
uint64_t perfetto_process(struct perfetto_pen *p, struct str name, int64_t pid, struct str note);
uint64_t perfetto_row(struct perfetto_pen *p, const struct perfetto_row *row);
void perfetto_counter(struct perfetto_pen *p, uint64_t uuid, uint64_t parent, struct str name,
                      struct str unit, struct str note);

void perfetto_note_text(struct perfetto_pen *p, struct str name, struct str text);
void perfetto_note_int(struct perfetto_pen *p, struct str name, int64_t number);
void perfetto_note_real(struct perfetto_pen *p, struct str name, double real);

/* Slices of a track nest. The second category may be empty. */
void perfetto_begin(struct perfetto_pen *p, uint64_t track, nanos at, struct str name,
                    struct str category, struct str second);
void perfetto_end(struct perfetto_pen *p, uint64_t track, nanos at);
void perfetto_sample(struct perfetto_pen *p, uint64_t track, nanos at, double value);

#endif
