/*
 * gz - gzip input through ISA-L, whose streaming inflate is faster than zlib's. See gz.h.
 */
#include "base/gz.h"

#include <endian.h>
#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <string.h>

enum { SIGNATURE = 2 }; /* bytes that every member begins with */

static const struct str signature = S_INIT("\x1f\x8b");

bool gz_is(struct str head)
{
    return str_starts(head, signature);
}

void gz_init(struct gz *gz)
{
    *gz = (struct gz){.state = mem_grow(NULL, sizeof(*gz->state), 1)};
}

void gz_fini(struct gz *gz)
{
    mem_free(gz->state);
    gz->state = NULL;
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
    isal_inflate_init(gz->state);
    gz->state->crc_flag = ISAL_GZIP;
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

static void stop_corrupt(struct gz *gz, int result)
{
    static const char *const words[] = {
        [-ISAL_INVALID_BLOCK] = "invalid block type",
        [-ISAL_INVALID_SYMBOL] = "invalid code",
        [-ISAL_INVALID_LOOKBACK] = "invalid distance too far back",
        [-ISAL_INVALID_WRAPPER] = "incorrect header check",
        [-ISAL_UNSUPPORTED_METHOD] = "unknown compression method",
    };
    bool is_sum = result == ISAL_INCORRECT_CHECKSUM;

    stop(gz, GZ_CORRUPT, gz->taken);
    if (is_sum && trailer_word(gz, 0) != gz->state->crc) {
        gz->why = "incorrect data check";
        gz->fault_at -= GZ_TRAILER / 2;
    } else if (is_sum) {
        gz->why = "incorrect length check";
    } else if (-result < (int)ARRAY_LEN(words)) {
        gz->why = words[-result];
    }
}

static void end_call(struct gz *gz, int result)
{
    if (result < 0) {
        stop_corrupt(gz, result);
    } else if (gz->state->block_state == ISAL_BLOCK_FINISH) {
        gz->members++;
        gz->is_in_member = false;
    }
}

/* The bytes at the front of `packed` that can be given to the inflater: all of them, or those of
 * the signature, which is looked at first. 0 and a fault when it is not one. */
static size_t next_input(struct gz *gz, struct str packed)
{
    uint64_t at = gz->taken - gz->begin;

    if (at >= SIGNATURE)
        return packed.n < UINT_MAX ? packed.n : UINT_MAX;
    if (packed.n > 0 && packed.at[0] == signature.at[at])
        return 1;
    if (packed.n > 0 && gz->members > 0)
        stop(gz, GZ_TRAILING, gz->begin);
    else if (packed.n > 0)
        stop_corrupt(gz, ISAL_INVALID_WRAPPER);
    return 0;
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
    struct inflate_state *z = gz->state;
    size_t written = 0;

    while (!gz->is_done && written < room) {
        if (!gz->is_in_member && !begin_member(gz, packed))
            break;
        size_t left = room - written, in = next_input(gz, *packed);
        uint32_t space = left < UINT_MAX ? (uint32_t)left : UINT_MAX;
        if (gz->is_done)
            break;
        z->next_in = (uint8_t *)(uintptr_t)packed->at;
        z->avail_in = (uint32_t)in;
        z->next_out = (uint8_t *)out + written;
        z->avail_out = space;
        int result = isal_inflate(z);
        size_t used = in - z->avail_in, made = space - z->avail_out;
        keep_last(gz, packed->at, used);
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
                 "the compressed file is cut short; %llu bytes could be unpacked", given);
        break;
    case GZ_CORRUPT:
        diag_add(diag, SEV_LOSS, "gz.corrupt", where,
                 "the compressed data is damaged (%s); %llu bytes could be unpacked",
                 gz->why != NULL ? gz->why : "no valid data", given);
        break;
    case GZ_TRAILING:
        diag_add(diag, SEV_WARN, "gz.trailing", where, "ignored what follows the compressed data");
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
