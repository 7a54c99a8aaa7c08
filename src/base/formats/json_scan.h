/*
 * json_scan - where the structure of a JSON text is, found 64 bytes at a time.
 *
 * The scanner turns blocks of text into bit masks (one bit a byte) and lists the places a reader
 * has to look at, its marks: every quote that opens or closes a string, every { } [ ] : , outside
 * strings, and the first byte of everything else outside strings (numbers, literals, garbage).
 * It works a batch of blocks ahead and keeps nothing but that batch, so a file of any size is
 * read with the same few kilobytes. It judges nothing: json_read.h does. A byte is odd that is a
 * backslash, a control character or not ASCII.
 *
 * There are four scanners with the same results: for AVX-512 with VBMI2, for AVX2, for NEON, and
 * for any processor. None reads a byte outside the text.
 */
#ifndef STRATA_BASE_FORMATS_JSON_SCAN_H
#define STRATA_BASE_FORMATS_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSON_SCAN_BLOCKS = 32, /* 2 KiB of text a batch; larger ones crowd the first-level cache */
    JSON_SCAN_SLACK = 32,  /* marks are written several at a time */
};

/* Carried from block to block. */
struct json_carry {
    uint64_t escape; /* bit 0: the next byte is escaped */
    uint64_t string; /* all ones inside a string */
    uint64_t scalar; /* bit 0: the last byte belongs to a scalar */
    uint64_t quote;  /* bit 0: the last byte is a quote */
    uint64_t odd;    /* bit 0: the string that goes on has an odd byte already */
};

struct json_scan {
    const char *text;
    size_t n;
    size_t next;       /* first byte not scanned yet */
    size_t base;       /* where the batch begins; marks count from here */
    const char *batch; /* text + base */
    uint32_t blocks;   /* blocks in the batch */
    uint32_t count, i; /* marks in the batch, and the next one to hand out */
    struct json_carry carry;
    void (*fill)(struct json_scan *s);
    bool (*match)(struct json_scan *s, uint32_t *depth, uint32_t from, size_t *clash);
    uint64_t marks[JSON_SCAN_BLOCKS];
    uint64_t open[JSON_SCAN_BLOCKS], close[JSON_SCAN_BLOCKS]; /* brackets outside strings */
    uint64_t clash[JSON_SCAN_BLOCKS];   /* a quote touching a scalar: no valid text has that */
    uint64_t odd_end[JSON_SCAN_BLOCKS]; /* closing quotes of strings with an odd byte */
    uint32_t first[JSON_SCAN_BLOCKS];   /* number of marks before the block */
    uint16_t mark[JSON_SCAN_BLOCKS * 64 + JSON_SCAN_SLACK];
};

enum json_scanner {
    JSON_SCAN_BEST,
    JSON_SCAN_PORTABLE,
    JSON_SCAN_NEON,
    JSON_SCAN_AVX2,
    JSON_SCAN_AVX512,
    JSON_SCANNERS,
};

/* Chooses the best scanner for this processor, or a certain one for tests: false when the processor
 * cannot run that, and a simpler one is used. */
bool json_scan_init(struct json_scan *s, enum json_scanner scanner);

/* Starts at `from`, which must be outside strings. */
void json_scan_start(struct json_scan *s, const char *text, size_t n, size_t from);

/* Scans the next batch; false when the text is used up. A batch may have no marks. */
static inline bool json_scan_fill(struct json_scan *s)
{
    if (s->next >= s->n)
        return false;
    s->fill(s);
    return true;
}

/* Scans until there is a mark to hand out. */
bool json_scan_more(struct json_scan *s);

/* The next mark as a position in the text; false when there is none. */
static inline bool json_scan_next(struct json_scan *s, size_t *position)
{
    if (__builtin_expect(s->i == s->count, 0) && !json_scan_more(s))
        return false;
    *position = s->base + s->mark[s->i++];
    return true;
}

static inline bool json_scan_peek(struct json_scan *s, size_t *position)
{
    if (__builtin_expect(s->i == s->count, 0) && !json_scan_more(s))
        return false;
    *position = s->base + s->mark[s->i];
    return true;
}

/* True when the string that closes at byte `close` of the batch is all printable ASCII without a
 * backslash. */
static inline bool json_scan_is_plain(const struct json_scan *s, size_t close)
{
    return (s->odd_end[close / 64] >> close % 64 & 1) == 0;
}

/*
 * Moves behind the bracket that closes the one at `open`, the mark handed out last; brackets are
 * counted without telling { from [. False when the text ends first. `close` is where it stands;
 * `clash` is the first place in between that cannot be JSON, SIZE_MAX when there is none.
 */
bool json_scan_skip(struct json_scan *s, size_t open, size_t *close, size_t *clash);

#endif
