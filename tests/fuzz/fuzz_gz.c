/*
 * Hostile gzip files for base/gz: input and output cut into small pieces must give the same bytes
 * and the same fault as all at once, and the fast way the same of sound files. The first byte of
 * the input chooses the pieces.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/gz.h"

enum { OUTPUT_MAX = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct unpacked {
    char *text;
    struct gz gz;
};

/* `out` is allocated to the byte for each call, so that a sanitizer sees any overrun. */
static size_t read_piece(struct gz *gz, struct str *packed, struct unpacked *u, size_t room)
{
    char *out = malloc(room);

    if (out == NULL)
        abort();
    uint64_t before = gz->given;
    size_t got = gz_read(gz, packed, out, room);
    if (got > room || gz->given != before + got)
        abort();
    if (got > 0)
        memcpy(u->text + before, out, got);
    free(out);
    return got;
}

static struct unpacked unpack(struct str packed, size_t step, size_t room, bool *has_fault)
{
    struct unpacked u = {.text = malloc(OUTPUT_MAX)};
    size_t at = 0;

    if (u.text == NULL)
        abort();
    gz_init_fast(&u.gz, has_fault);
    while (!u.gz.is_done && at < packed.n && u.gz.given < OUTPUT_MAX) {
        struct str piece = str_part(packed, at, step);
        at += piece.n;
        while (!u.gz.is_done && u.gz.given < OUTPUT_MAX) {
            size_t left = OUTPUT_MAX - (size_t)u.gz.given;
            if (read_piece(&u.gz, &piece, &u, left < room ? left : room) == 0 && piece.n == 0)
                break;
        }
    }
    if (u.gz.given < OUTPUT_MAX)
        gz_end(&u.gz);
    gz_fini(&u.gz);
    return u;
}

/* What is sound for zlib must be for the fast way, with the same bytes. */
static void compare_fast(struct str packed, size_t step, size_t room, const struct unpacked *whole)
{
    bool has_fault = false;
    struct unpacked fast = unpack(packed, step, room, &has_fault);

    if (whole->gz.fault == GZ_SOUND && whole->gz.given < OUTPUT_MAX &&
        (has_fault || fast.gz.given != whole->gz.given ||
         memcmp(fast.text, whole->text, (size_t)whole->gz.given) != 0))
        abort();
    free(fast.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str packed = {(const char *)data + 1, size - 1};
    size_t step = data[0] % 16 + 1, room = 100 + (size_t)data[0] * 40;
    struct unpacked whole = unpack(packed, SIZE_MAX, OUTPUT_MAX, NULL);
    struct unpacked pieces = unpack(packed, step, room, NULL);
    struct diag diag;

    if (whole.gz.given != pieces.gz.given || whole.gz.members > pieces.gz.members ||
        memcmp(whole.text, pieces.text, (size_t)whole.gz.given) != 0)
        abort();
    if (whole.gz.given < OUTPUT_MAX && whole.gz.fault != pieces.gz.fault)
        abort();
    compare_fast(packed, SIZE_MAX, OUTPUT_MAX, &whole);
    compare_fast(packed, step, room, &whole);
    diag_init(&diag);
    gz_report(&whole.gz, "input", &diag);
    diag_fini(&diag);
    free(whole.text);
    free(pieces.text);
    return 0;
}
