/*
 * gz - gzip input through zlib, whose checksum is computed by base/crc32. See gz.h.
 */
#include "base/gz.h"

#include <assert.h>
#include <endian.h>
#include <limits.h>
#include <string.h>

#include "base/crc32.h"

/* zlib's memory comes from the layer that never returns NULL, so its calls cannot run short. */
static void *allocate(void *opaque, unsigned count, unsigned size)
{
    (void)opaque;
    return mem_grow(NULL, count, size);
}

static void release(void *opaque, void *p)
{
    (void)opaque;
    mem_free(p);
}

bool gz_is(struct str head)
{
    return str_starts(head, S("\x1f\x8b"));
}

void gz_init(struct gz *gz)
{
    *gz = (struct gz){.z = {.zalloc = allocate, .zfree = release}};
    /* 16 asks for gzip and nothing else, 15 for the largest window a file may use. */
    int result = inflateInit2(&gz->z, 16 + 15);
    assert(result == Z_OK);
    (void)result;
}

void gz_fini(struct gz *gz)
{
    inflateEnd(&gz->z);
}

static void stop(struct gz *gz, enum gz_fault fault, uint64_t at)
{
    gz->fault = fault;
    gz->fault_at = at;
    gz->is_done = true;
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
    inflateReset(&gz->z);
    inflateValidate(&gz->z, 0); /* is_sound() does it, in less time */
    gz->crc = gz->size = 0;
    gz->begin = gz->taken;
    gz->is_in_member = true;
    return true;
}

static uint32_t trailer_word(const struct gz *gz, size_t at)
{
    uint32_t word;

    memcpy(&word, gz->last + at, sizeof(word));
    return le32toh(word);
}

/* Compares what a whole member has given with what it says of it. */
static bool is_sound(struct gz *gz)
{
    if (trailer_word(gz, 0) != gz->crc) {
        gz->why = "incorrect data check";
        stop(gz, GZ_CORRUPT, gz->taken - GZ_TRAILER / 2);
    } else if (trailer_word(gz, 4) != gz->size) {
        gz->why = "incorrect length check";
        stop(gz, GZ_CORRUPT, gz->taken);
    }
    return !gz->is_done;
}

static void end_call(struct gz *gz, int result)
{
    if (result == Z_STREAM_END) {
        if (!is_sound(gz))
            return;
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

/* Remembers the last bytes of the packed text that was used. */
static void keep_last(struct gz *gz, const char *used, size_t n)
{
    size_t fresh = n < GZ_TRAILER ? n : GZ_TRAILER;

    memmove(gz->last, gz->last + fresh, GZ_TRAILER - fresh);
    if (fresh > 0)
        memcpy(gz->last + GZ_TRAILER - fresh, used + n - fresh, fresh);
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
        int result = inflate(&gz->z, Z_NO_FLUSH);
        size_t used = in - gz->z.avail_in, made = space - gz->z.avail_out;
        keep_last(gz, packed->at, used);
        gz->crc = crc32_add(gz->crc, out + written, made);
        gz->size += (uint32_t)made;
        *packed = str_part(*packed, used, packed->n);
        gz->taken += used;
        gz->given += made;
        written += made;
        end_call(gz, result);
        if (used == 0 && made == 0 && gz->is_in_member)
            break; /* zlib needs more input */
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

enum status gz_read_all(struct str packed, size_t most, const char *path, struct diag *diag,
                        struct arena *arena, struct str *out)
{
    VEC_OF(char) text = {0};
    enum status status = ST_OK;
    struct gz gz;

    gz_init(&gz);
    while (!gz.is_done) {
        /* One byte past the limit shows that there is more. */
        size_t want = text.n + 65536 <= most ? text.n + 65536 : most + (most < SIZE_MAX);
        vec_reserve(&text, want);
        size_t got = gz_read(&gz, &packed, text.at + text.n, want - text.n);
        text.n += got;
        if (text.n > most) {
            status = diag_fail(diag, ST_LIMIT, "gz.too-large", (struct where){.path = path},
                               "unpacks to more than %zu bytes", most);
            break;
        }
        if (got == 0 && packed.n == 0)
            gz_end(&gz);
    }
    gz_report(&gz, path, diag);
    *out = status == ST_OK ? arena_str(arena, (struct str){text.at, text.n}) : S("");
    vec_free(&text);
    gz_fini(&gz);
    return status;
}
