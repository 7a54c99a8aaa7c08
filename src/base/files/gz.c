/*
 * gz - gzip input through zlib, or faster through ISA-L. See gz.h.
 */
#include "base/files/gz.h"

#include <assert.h>
#include <limits.h>

#include "base/files/gz_write.h"

bool gz_is(struct str head)
{
    return str_starts(head, S("\x1f\x8b"));
}

void gz_init(struct gz *gz)
{
    *gz = (struct gz){.z = {.zalloc = gz_allocate, .zfree = gz_release}};
    /* 16 asks for gzip and nothing else, 15 for the largest window a file may use. */
    int result = inflateInit2(&gz->z, 16 + 15);
    assert(result == Z_OK);
    (void)result;
}

void gz_init_fast(struct gz *gz, bool *has_fault)
{
    gz_init(gz);
    gz->isal = has_fault != NULL ? gz_isal_new() : NULL;
    gz->has_fault = gz->isal != NULL ? has_fault : NULL;
}

void gz_fini(struct gz *gz)
{
    gz_isal_free(gz->isal);
    inflateEnd(&gz->z);
}

static void stop(struct gz *gz, enum gz_fault fault, uint64_t at)
{
    gz->fault = fault;
    gz->fault_at = at;
    gz->is_done = true;
    if (gz->has_fault != NULL)
        *gz->has_fault = true;
}

/* Leaves padding behind and gets ready for the next member; false when the input is used up. */
static bool begin_member(struct gz *gz, struct str *packed)
{
    size_t skip = 0;

    while (gz->members > 0 && skip < packed->n && packed->at[skip] == '\0')
        skip++;
    gz->taken += skip;
    *packed = str_part(*packed, skip, packed->n);
    if (packed->n == 0)
        return false;
    if (gz->isal != NULL)
        gz_isal_reset(gz->isal);
    else
        inflateReset(&gz->z);
    gz->begin = gz->taken;
    gz->is_in_member = true;
    return true;
}

static void end_call(struct gz *gz, int result)
{
    if (result == Z_STREAM_END) {
        gz->members++;
        gz->is_in_member = false;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        /* The two bytes of the signature are checked first: failing there, after a whole member,
         * means that something else begins. */
        if (gz->members > 0 && gz->taken - gz->begin <= 2) {
            stop(gz, GZ_TRAILING, gz->begin);
            return;
        }
        stop(gz, GZ_CORRUPT, gz->taken);
        gz->why = gz->z.msg;
    }
}

size_t gz_read(struct gz *gz, struct str *packed, char *out, size_t room)
{
    size_t written = 0;

    while (!gz->is_done && written < room) {
        if (!gz->is_in_member && !begin_member(gz, packed))
            break;
        size_t left = room - written;
        unsigned in = packed->n < UINT_MAX ? (unsigned)packed->n : UINT_MAX;
        unsigned space = left < UINT_MAX ? (unsigned)left : UINT_MAX;
        gz->z.next_in = (Bytef *)(uintptr_t)packed->at;
        gz->z.avail_in = in;
        gz->z.next_out = (Bytef *)out + written;
        gz->z.avail_out = space;
        int result =
            gz->isal != NULL ? gz_isal_inflate(gz->isal, &gz->z) : inflate(&gz->z, Z_NO_FLUSH);
        size_t used = in - gz->z.avail_in, made = space - gz->z.avail_out;
        *packed = str_part(*packed, used, packed->n);
        gz->taken += used;
        gz->given += made;
        written += made;
        end_call(gz, result);
        if (used == 0 && made == 0 && gz->is_in_member)
            break; /* more input is needed */
    }
    return written;
}

void gz_end(struct gz *gz)
{
    if (!gz->is_done && (gz->is_in_member || gz->members == 0)) {
        /* One stray byte after the last member is not a member cut short. */
        bool is_stray = gz->members > 0 && gz->taken - gz->begin < 2;
        stop(gz, is_stray ? GZ_TRAILING : GZ_TRUNCATED, is_stray ? gz->begin : gz->taken);
    }
    gz->is_done = true;
}

void gz_report(const struct gz *gz, const char *path, struct diag *diag)
{
    struct where where = {.path = path, .byte = gz->fault_at + 1};
    unsigned long long given = gz->given;

    switch (gz->fault) {
    case GZ_SOUND:
        break;
    case GZ_TRUNCATED:
        diag_add(diag, SEV_LOSS, "gz.truncated", where,
                 "the compressed file is truncated; %llu bytes were unpacked", given);
        break;
    case GZ_CORRUPT:
        diag_add(diag, SEV_LOSS, "gz.corrupt", where,
                 "the compressed data is damaged (%s); %llu bytes were unpacked",
                 gz->why != NULL ? gz->why : "no valid data", given);
        break;
    case GZ_TRAILING:
        diag_add(diag, SEV_WARN, "gz.trailing", where,
                 "data after the end of the compressed stream was ignored");
        break;
    }
}

/* Unpacks to `text`; ST_LIMIT beyond `most` bytes. */
static enum status unpack_all(struct gz *gz, struct str packed, size_t most, struct text *text)
{
    while (!gz->is_done) {
        /* One byte past the limit shows that there is more. */
        size_t want = text->n + 65536 <= most ? text->n + 65536 : most + (most < SIZE_MAX);
        vec_reserve(text, want);
        size_t got = gz_read(gz, &packed, text->at + text->n, want - text->n);
        text->n += got;
        if (text->n > most)
            return ST_LIMIT;
        if (got == 0 && packed.n == 0)
            gz_end(gz);
    }
    return ST_OK;
}

enum status gz_read_all(struct str packed, size_t most, const char *path, struct diag *diag,
                        struct arena *arena, struct str *out)
{
    struct text text = {0};
    bool has_fault = false;
    struct gz gz;

    gz_init_fast(&gz, &has_fault);
    enum status status = unpack_all(&gz, packed, most, &text);
    if (has_fault || (status == ST_LIMIT && gz.isal != NULL)) {
        gz_fini(&gz);
        gz_init(&gz);
        text.n = 0;
        status = unpack_all(&gz, packed, most, &text);
    }
    if (status == ST_LIMIT)
        diag_fail(diag, ST_LIMIT, "gz.too-large", (struct where){.path = path},
                  "unpacks to more than %zu bytes", most);
    gz_report(&gz, path, diag);
    *out = status == ST_OK ? arena_str(arena, (struct str){text.at, text.n}) : S("");
    vec_free(&text);
    gz_fini(&gz);
    return status;
}
