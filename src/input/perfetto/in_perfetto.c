/*
 * perfetto: Perfetto's binary trace (.pftrace, .perfetto-trace), by rocprofv3, Perfetto's SDK,
 * tools for GPU kernels, and strata itself.
 *
 * Events of tracks, counters, arrows, and typed packets of GPUs are read; data of other kinds is
 * counted. Device work is what says so: a kernel of rocprofv3, a stage of a GPU, a lane of strata.
 * Format reference: docs/formats/perfetto.md
 */
#include "input/perfetto/perfetto.h"

enum { PERFETTO_MOST = INT32_MAX };

/* ---- which files ---- */

/* Packets that hold what traces of tracks hold; the last one may be longer than the head. */
static int perfetto_probe(const struct probe *p)
{
    enum { TIME = 8, SEQUENCE = 10, EVENT = 11, SNAPSHOT = 6, DEFAULTS = 59, TRACK = 60 };
    enum { ZLIB = 50, STAGE = 53, COUNTERS = 52, GPU_INFO = 128, ENOUGH = 4 };
    struct proto in = proto_of(p->head);
    uint64_t key, n;
    size_t good = 0;

    while (good < ENOUGH && in.at < in.end) {
        if (!proto_varint(&in, &key) || key != (1 << 3 | PROTO_BYTES) || !proto_varint(&in, &n))
            break;
        bool is_cut = n > (uint64_t)(in.end - in.at);
        struct proto packet = {in.at, is_cut ? in.end : in.at + n, false};
        struct proto_field f;
        bool is_packet = false;
        while (proto_next(&packet, &f))
            is_packet = is_packet || f.number == TIME || f.number == SEQUENCE ||
                        f.number == EVENT || f.number == SNAPSHOT || f.number == DEFAULTS ||
                        f.number == TRACK || f.number == ZLIB || f.number == STAGE ||
                        f.number == COUNTERS || f.number == GPU_INFO;
        if ((packet.is_bad && !is_cut) || (!is_packet && !is_cut))
            return 0;
        good += is_packet;
        if (is_cut)
            break;
        in.at += n;
    }
    if (good == 0)
        return input_claims(&input_perfetto, p->name) && str_starts(p->head, S("\x0a")) ? 40 : 0;
    return input_claims(&input_perfetto, p->name) ? 85 : 70;
}

/* ---- the whole ---- */

static void perfetto_keys(struct perfetto *p)
{
    struct capture *cap = p->cap;

    p->primary = 6;
    p->key_begin = capture_intern(cap, S("begin_ns"));
    p->key_end = capture_intern(cap, S("end_ns"));
    p->key_agent = capture_intern(cap, S("agent"));
    p->key_to = capture_intern(cap, S("dst_agent"));
    p->key_from = capture_intern(cap, S("src_agent"));
    p->key_stream = capture_intern(cap, S("stream_ID"));
    p->key_bytes = capture_intern(cap, S("bytes"));
    p->key_grid = capture_intern(cap, S("grid"));
    p->key_block = capture_intern(cap, S("block"));
}

static void perfetto_facts(struct perfetto *p)
{
    static const nanos year_2001 = (nanos)1000000000 * 1000000000;
    struct capture *cap = p->cap;

    /* Times without a snapshot that count from 1970. */
    if (!p->has_snapshot && !p->is_own && cap->slices.n > 0 && cap->slices.begin[0] > year_2001) {
        cap->clock.to_unix = 0;
        cap->clock.has_unix = true;
    }
    if (p->has_rocprof)
        cap->facts.vendor = VENDOR_AMD;
    if (cap->facts.kind == 0)
        cap->facts.kind = capture_intern(cap, p->has_rocprof ? S("rocprof") : S("perfetto"));
    if (p->skipped > 0)
        import_lose(p->i, import_file(p->i), "perfetto.skipped",
                    "packets skipped, as what they refer to is not in the trace: %llu",
                    (unsigned long long)p->skipped);
    if (p->unmatched > 0)
        import_report(p->i, SEV_WARN, "perfetto.unmatched", "ends of slices without a begin: %llu",
                      (unsigned long long)p->unmatched);
    if (p->lost_kinds > 0)
        import_report(p->i, SEV_NOTE, "perfetto.old-event",
                      "events of kinds that are not read (old asynchronous steps and flows): %llu",
                      (unsigned long long)p->lost_kinds);
}

static void perfetto_free(struct perfetto *p)
{
    for (size_t i = 0; i < p->sequences.n; i++)
        for (size_t k = 0; k < PERFETTO_LISTS; k++)
            id_map_free(&p->sequences.at[i].lists[k]);
    for (size_t i = 0; i < p->domains.n; i++)
        vec_free(&p->domains.at[i].pairs);
    for (size_t i = 0; i < p->gpu_tables.n; i++) {
        vec_free(&p->gpu_tables.at[i].list);
        id_map_free(&p->gpu_tables.at[i].ids);
    }
    vec_free(&p->sequences);
    vec_free(&p->domains);
    vec_free(&p->tracks);
    vec_free(&p->records);
    vec_free(&p->told);
    vec_free(&p->uses);
    vec_free(&p->arrows);
    vec_free(&p->stages);
    vec_free(&p->contexts);
    vec_free(&p->kernels);
    vec_free(&p->gpu_tables);
    vec_free(&p->old_queues);
    vec_free(&p->old_stages);
    vec_free(&p->lasts);
    hash_free(&p->sequence_ids);
    hash_free(&p->domain_ids);
    hash_free(&p->track_ids);
    hash_free(&p->processes);
    hash_free(&p->stage_records);
    hash_free(&p->open_arrows);
    hash_free(&p->gpu_series);
}

static enum status read_text(struct import *i, struct str text)
{
    struct perfetto p = {.i = i, .cap = i->cap, .text = text};
    enum status st = ST_OK;

    i->bytes = text.n;
    perfetto_keys(&p);
    perfetto_read_packets(&p, text);
    if (p.packets == 0) {
        st = import_refuse(i, import_byte(i, 0), "perfetto.no-packet",
                           "no packet of a Perfetto trace can be read");
    } else {
        perfetto_make_slices(&p);
        perfetto_facts(&p);
    }
    perfetto_free(&p);
    return st;
}

static enum status read_perfetto(struct import *i)
{
    return import_whole(i, PERFETTO_MOST, read_text);
}

const struct input_format input_perfetto = {
    .name = "perfetto",
    .summary = "Perfetto trace (protobuf, also gzip)",
    .looks_for = "*.pftrace, *.perfetto-trace",
    .names = "*.pftrace, *.perfetto-trace, *.pftrace.gz, *.perfetto-trace.gz",
    .streams = true,
    .role = ROLE_WHOLE,
    .source = SOURCE_OTHER,
    .probe = perfetto_probe,
    .read = read_perfetto,
};
