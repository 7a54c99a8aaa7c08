/*
 * Compressed blocks: Snappy is read here, the others by zlib and libzstd.
 */
#include "base/files/unpack.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/files/gz_write.h"
#include "base/run/job.h"
#include "base/tables/vec.h"

/* ---- Snappy ---- */

struct snappy {
    const uint8_t *at, *end;
    char *out;
    size_t used, n;
};

static uint64_t snappy_number(struct snappy *s, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)s->at[i] << 8 * i;
    s->at += bytes;
    return value;
}

static bool snappy_literal(struct snappy *s, unsigned tag)
{
    size_t n = (tag >> 2) + 1, bytes = n > 60 ? n - 60 : 0;

    if ((size_t)(s->end - s->at) < bytes)
        return false;
    if (bytes > 0)
        n = (size_t)snappy_number(s, bytes) + 1;
    if (n > (size_t)(s->end - s->at) || n > s->n - s->used)
        return false;
    memcpy(s->out + s->used, s->at, n);
    s->at += n;
    s->used += n;
    return true;
}

/* A copy of what is there already; it may overlap itself, so it goes byte by byte where near. */
static bool snappy_copy(struct snappy *s, unsigned tag)
{
    static const size_t sizes[] = {0, 1, 2, 4};
    size_t bytes = sizes[tag & 3], n = (tag >> 2) + 1;

    if ((size_t)(s->end - s->at) < bytes)
        return false;
    uint64_t back = snappy_number(s, bytes);
    if ((tag & 3) == 1) {
        n = (tag >> 2 & 7) + 4;
        back |= (uint64_t)(tag >> 5) << 8;
    }
    if (back == 0 || back > s->used || n > s->n - s->used)
        return false;
    char *to = s->out + s->used;
    if (back >= n)
        memcpy(to, to - back, n);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = to[(ptrdiff_t)i - (ptrdiff_t)back];
    s->used += n;
    return true;
}

/* The size of the whole comes first, then literals and copies by their tags. */
static bool unpack_snappy(struct str packed, char *out, size_t n)
{
    struct snappy s = {(const uint8_t *)packed.at, (const uint8_t *)packed.at + packed.n, out, 0,
                       n};
    uint64_t size = 0;
    unsigned shift = 0;
    bool goes_on = true;

    for (; goes_on && shift < 35 && s.at < s.end; shift += 7) {
        goes_on = *s.at >= 0x80;
        size |= (uint64_t)(*s.at++ & 0x7f) << shift;
    }
    if (goes_on || size != n)
        return false;
    for (bool is_good = true; s.at < s.end;) {
        unsigned tag = *s.at++;
        is_good = (tag & 3) == 0 ? snappy_literal(&s, tag) : snappy_copy(&s, tag);
        if (!is_good)
            return false;
    }
    return s.used == n;
}

/* ---- zlib and zstd ---- */

enum { ZLIB_OR_GZIP = 32 + MAX_WBITS, STEP = 64 << 10 };

/* Inflates up to `room` bytes; `is_done` when the stream ended there. */
static bool inflate_some(z_stream *z, char *out, size_t room, size_t *got, bool *is_done)
{
    z->next_out = (unsigned char *)out;
    z->avail_out = room < UINT32_MAX ? (unsigned)room : UINT32_MAX;
    unsigned asked = z->avail_out;
    int rc = inflate(z, Z_NO_FLUSH);
    *got = asked - z->avail_out;
    *is_done = rc == Z_STREAM_END;
    return rc == Z_OK || rc == Z_STREAM_END;
}

/* Its memory is the job's. */
static bool begin_inflate(z_stream *z, struct str packed)
{
    *z = (z_stream){.next_in = (unsigned char *)(uintptr_t)packed.at,
                    .avail_in = packed.n < UINT32_MAX ? (unsigned)packed.n : UINT32_MAX,
                    .zalloc = gz_allocate,
                    .zfree = gz_release};
    return inflateInit2(z, ZLIB_OR_GZIP) == Z_OK;
}

static bool unpack_zlib(struct str packed, char *out, size_t n)
{
    z_stream z;
    size_t used = 0, got = 1;
    bool is_done = false, is_good = begin_inflate(&z, packed);
    char over[1]; /* a byte too many shows */

    if (!is_good)
        return false;
    while (is_good && !is_done && used < n && got > 0) {
        is_good = inflate_some(&z, out + used, n - used, &got, &is_done);
        used += got;
    }
    if (is_good && !is_done)
        is_good = inflate_some(&z, over, sizeof(over), &got, &is_done) && got == 0;
    inflateEnd(&z);
    return is_good && is_done && used == n;
}

static bool append_zlib(struct str packed, size_t most, struct text *out)
{
    z_stream z;
    size_t got = 0;
    bool is_done = false, is_good = begin_inflate(&z, packed);

    if (!is_good)
        return false;
    while (is_good && !is_done) {
        size_t room = most < STEP ? most + 1 : STEP; /* one more shows a block that is too large */
        vec_reserve(out, out->n + room);
        is_good = inflate_some(&z, out->at + out->n, room, &got, &is_done) && got <= most &&
                  (got > 0 || is_done);
        got = got < most ? got : most;
        out->n += got;
        most -= got;
    }
    inflateEnd(&z);
    return is_good;
}

static bool unpack_zstd(struct str packed, char *out, size_t n)
{
    size_t got = ZSTD_decompress(out, n, packed.at, packed.n);

    if (ZSTD_isError(got) && ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
        job_out_of_memory();
    return !ZSTD_isError(got) && got == n;
}

static void end_zstd(void *stream, size_t n)
{
    (void)n;
    ZSTD_freeDStream(stream);
}

/* An output that is full with more to come shows a frame that is too large. */
static bool append_zstd(struct str packed, size_t most, struct text *out)
{
    ZSTD_inBuffer in = {packed.at, packed.n, 0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t left = 1;
    bool is_good = true;

    if (stream == NULL)
        job_out_of_memory();
    job_hold(end_zstd, stream, 0);
    while (is_good && left > 0) {
        size_t room = most < STEP ? most + 1 : STEP, before = in.pos;
        vec_reserve(out, out->n + room);
        ZSTD_outBuffer to = {out->at + out->n, room, 0};
        left = ZSTD_decompressStream(stream, &to, &in);
        if (ZSTD_isError(left) && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
            job_out_of_memory();
        is_good =
            !ZSTD_isError(left) && to.pos <= most && (to.pos > 0 || in.pos > before || left == 0);
        size_t got = to.pos < most ? to.pos : most;
        out->n += got;
        most -= got;
    }
    job_drop(end_zstd, stream);
    ZSTD_freeDStream(stream);
    return is_good;
}

bool unpack_block(enum unpack_codec codec, struct str packed, char *out, size_t n)
{
    switch (codec) {
    case UNPACK_SNAPPY:
        return unpack_snappy(packed, out, n);
    case UNPACK_ZLIB:
        return unpack_zlib(packed, out, n);
    case UNPACK_ZSTD:
        return unpack_zstd(packed, out, n);
    case UNPACK_STORED:
        break;
    }
    if (packed.n == n && n > 0)
        memcpy(out, packed.at, n);
    return packed.n == n;
}

bool unpack_append(enum unpack_codec codec, struct str packed, size_t most, struct text *out)
{
    if (codec == UNPACK_ZLIB)
        return append_zlib(packed, most, out);
    if (codec == UNPACK_ZSTD)
        return append_zstd(packed, most, out);
    text_put(out, str_part(packed, 0, most));
    return packed.n <= most;
}
