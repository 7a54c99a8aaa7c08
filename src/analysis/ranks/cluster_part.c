/*
 * cluster_part: the bytes of a capture's summaries with all that is told beside them.
 */
#include "analysis/ranks/cluster_part.h"

#include "analysis/ranks/summary_file.h"
#include "base/files/crc32c.h"
#include "base/formats/wire.h"

static void wire_entry(struct wire *w, struct diag_entry *e)
{
    struct str code = str_of(e->code);
    uint32_t severity = e->severity;

    wire_text(w, &code);
    wire_place(w, &severity, SEV_ERROR + 1);
    wire_u64(w, &e->count);
    if (w->is_reading)
        *e = (struct diag_entry){
            arena_cstr(w->arena, code), (enum severity)severity, e->count, {{{0}, 0}}};
    for (size_t i = 0; i < DIAG_TEXTS; i++) {
        struct diag_text *t = &e->first[i];
        struct str path = str_of(t->where.path), text = str_of(t->text);
        wire_text(w, &path);
        wire_u64(w, &t->where.line);
        wire_u64(w, &t->where.byte);
        wire_text(w, &text);
        if (w->is_reading) {
            t->where.path = path.n > 0 ? arena_cstr(w->arena, path) : NULL;
            t->text = text.n > 0 ? arena_cstr(w->arena, text) : NULL;
        }
    }
}

static void wire_part(struct wire *w, struct cluster_part *part)
{
    uint32_t status = part->status;

    wire_place(w, &status, ST_CANCELLED + 1);
    part->status = (enum status)status;
    part->n = wire_count(w, part->n, 1);
    if (w->is_reading)
        part->ranks = ARENA_ARRAY(w->arena, struct rank_summary, part->n);
    for (size_t i = 0; i < part->n; i++) {
        struct str bytes = {0};
        if (!w->is_reading)
            bytes = summary_encode(&part->ranks[i], w->arena);
        wire_bytes(w, &bytes);
        if (w->is_reading && !w->is_bad)
            w->is_bad = !summary_decode(bytes, w->arena, &part->ranks[i]);
    }
    part->n_sources = wire_count(w, part->n_sources, 4);
    if (w->is_reading)
        part->sources = ARENA_ARRAY(w->arena, struct cluster_source, part->n_sources);
    for (size_t i = 0; i < part->n_sources; i++) {
        wire_text(w, &part->sources[i].path);
        wire_text(w, &part->sources[i].format);
        wire_u64(w, &part->sources[i].rows);
        wire_u64(w, &part->sources[i].lost);
    }
    size_t n = wire_count(w, part->diag.entries.n, 15);
    for (size_t i = 0; i < n && !w->is_bad; i++) {
        struct diag_entry e = {0};
        if (!w->is_reading)
            e = part->diag.entries.at[i];
        wire_entry(w, &e);
        if (w->is_reading)
            vec_push(&part->diag.entries, e);
    }
}

enum { SUM = 4 }; /* bytes of the checksum behind the rest */

struct str cluster_part_encode(struct cluster_part *part, struct arena *arena)
{
    struct wire w = {.arena = arena};

    wire_part(&w, part);
    uint32_t sum = crc32c(0, w.out.at, w.out.n);
    for (int i = 0; i < SUM; i++)
        vec_push(&w.out, (uint8_t)(sum >> (8 * i)));
    struct str bytes = arena_str(arena, (struct str){(const char *)w.out.at, w.out.n});
    vec_free(&w.out);
    return bytes;
}

bool cluster_part_decode(struct str bytes, struct arena *arena, struct cluster_part *part)
{
    struct wire w = {.arena = arena, .is_reading = true};
    uint32_t sum = 0;

    *part = (struct cluster_part){0};
    diag_init(&part->diag);
    if (bytes.n < SUM)
        return false;
    w.in = str_part(bytes, 0, bytes.n - SUM);
    for (int i = 0; i < SUM; i++)
        sum |= (uint32_t)(uint8_t)bytes.at[w.in.n + (size_t)i] << (8 * i);
    if (sum != crc32c(0, w.in.at, w.in.n))
        return false;
    wire_part(&w, part);
    return !w.is_bad && w.in.n == 0;
}
