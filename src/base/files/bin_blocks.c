/* Blocks found and written: sizes of a file are checked before they are believed. */
#include "base/files/bin_blocks.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t load_u64(const char *at)
{
    uint64_t value = 0;

    for (int i = 7; i >= 0; i--)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

static uint8_t byte_at(struct str text, uint64_t at)
{
    return (uint8_t)text.at[at];
}

void bin_blocks_open(struct bin_blocks *b, struct str text)
{
    *b = (struct bin_blocks){.text = text};
}

static bool blocks_fail(struct bin_blocks *b, enum bin_fault fault, uint64_t size, uint8_t value)
{
    b->fault = fault;
    b->size = size;
    b->value = value;
    return false;
}

/* Whether a block, or the end of the file, may well begin at `at`. */
static bool is_good(struct str text, uint64_t at)
{
    if (at > text.n)
        return false;
    if (text.n - at < BIN_HEADER)
        return true;
    uint64_t size = load_u64(text.at + at);
    uint8_t padding = byte_at(text, at + 9);
    return byte_at(text, at + 11) == BIN_MARK && padding <= 3 && padding <= size &&
           size <= text.n - at - BIN_HEADER;
}

/* Decides how a source block is meant; `left` bytes follow its header. */
static bool read_source(struct bin_blocks *b, struct bin_block *out, uint64_t left)
{
    uint64_t body = b->at + BIN_HEADER, size = out->content;

    if (left >= BIN_PATH && size <= left - BIN_PATH && is_good(b->text, body + BIN_PATH + size))
        out->counts_path = false;
    else if (size >= BIN_PATH && size <= left && out->padding <= size - BIN_PATH &&
             is_good(b->text, body + size))
        out->counts_path = true;
    else
        return blocks_fail(b, BIN_BAD_SOURCE, size, BIN_MARK);
    uint64_t text = out->counts_path ? size - BIN_PATH : size;
    out->path = str_part(b->text, body, BIN_PATH);
    out->path.n = str_find_char(out->path, '\0');
    out->payload = str_part(b->text, body + BIN_PATH, text - out->padding);
    b->at = body + BIN_PATH + text;
    return true;
}

bool bin_blocks_next(struct bin_blocks *b, struct bin_block *out)
{
    if (b->fault != BIN_FINE || b->text.n - b->at < BIN_HEADER)
        return false;
    uint64_t left = b->text.n - b->at - BIN_HEADER;
    *out = (struct bin_block){
        .offset = b->at,
        .content = load_u64(b->text.at + b->at),
        .type = byte_at(b->text, b->at + 8),
        .padding = byte_at(b->text, b->at + 9),
        .version = byte_at(b->text, b->at + 10),
    };
    uint8_t mark = byte_at(b->text, b->at + 11);
    if (mark != BIN_MARK)
        return blocks_fail(b, BIN_BAD_MARK, out->content, mark);
    if (out->content > left)
        return blocks_fail(b, BIN_BAD_SIZE, out->content, mark);
    if (out->padding > 3 || out->padding > out->content)
        return blocks_fail(b, BIN_BAD_PADDING, out->content, out->padding);
    if (out->type == BIN_SOURCE)
        return read_source(b, out, left);
    out->payload = str_part(b->text, b->at + BIN_HEADER, out->content - out->padding);
    b->at += BIN_HEADER + out->content;
    return true;
}

size_t bin_blocks_fault(const struct bin_blocks *b, char *buf)
{
    if (b->fault == BIN_FINE)
        return 0;
    if (b->fault == BIN_BAD_SOURCE)
        return (size_t)snprintf(buf, BIN_FAULT_TEXT,
                                "corrupt SOURCE block at offset %" PRIu64 ": size %" PRIu64
                                " fits neither with nor without the path",
                                b->at, b->size);
    return (size_t)snprintf(buf, BIN_FAULT_TEXT,
                            b->fault == BIN_BAD_PADDING ? "corrupt block at offset %" PRIu64
                                                          ": size=%" PRIu64 ", padding=%u"
                                                        : "corrupt block at offset %" PRIu64
                                                          ": size=%" PRIu64 ", reserve=0x%x",
                            b->at, b->size, b->value);
}

const char *bin_type_name(uint8_t type)
{
    static const char *const names[BIN_TYPES] = {
        [BIN_SOURCE] = "SOURCE",
        [BIN_TRACE] = "TRACE",
        [BIN_API_FILE] = "API_FILE",
        [BIN_API_INSTR] = "API_INSTR",
        [BIN_BASE_INFO] = "base info",
        [BIN_LOAD_GRAPH] = "compute load graph",
        [BIN_LOAD_TABLE] = "compute load table",
        [BIN_MEMORY_GRAPH] = "memory graph",
        [BIN_MEMORY_TABLE] = "memory table",
        [BIN_MEMORY_SEQUENCE] = "memory sequence",
        [BIN_L2_CACHE] = "L2 cache",
        [BIN_CORE_LOAD] = "inter-core load",
        [BIN_ROOFLINE] = "roofline",
        [BIN_CACHE_LINES] = "cache-line heat map",
        [BIN_STALLS] = "top stall reasons",
    };

    return type < BIN_TYPES ? names[type] : NULL;
}

static bool blocks_put(struct sink out, const char *bytes, size_t n)
{
    return n == 0 || out.write(out.ctx, (struct str){bytes, n});
}

bool bin_write_header(struct sink out, uint8_t type, uint8_t version, uint64_t n)
{
    unsigned padding = bin_padding(n);
    char header[BIN_HEADER];

    for (int i = 0; i < 8; i++)
        header[i] = (char)(unsigned char)((n + padding) >> 8 * i);
    header[8] = (char)type;
    header[9] = (char)padding;
    header[10] = (char)version;
    header[11] = BIN_MARK;
    return blocks_put(out, header, sizeof(header));
}

bool bin_write_padding(struct sink out, uint64_t n)
{
    return blocks_put(out, "\0\0\0", bin_padding(n));
}

bool bin_write_block(struct sink out, uint8_t type, uint8_t version, struct str payload)
{
    return bin_write_header(out, type, version, payload.n) &&
           blocks_put(out, payload.at, payload.n) && bin_write_padding(out, payload.n);
}

bool bin_write_source(struct sink out, struct str path, struct str text)
{
    char field[BIN_PATH] = {0};

    path = str_part(path, 0, BIN_PATH - 1);
    if (path.n > 0)
        memcpy(field, path.at, path.n);
    return bin_write_header(out, BIN_SOURCE, BIN_MARK, text.n) &&
           blocks_put(out, field, BIN_PATH) && blocks_put(out, text.at, text.n) &&
           bin_write_padding(out, text.n);
}
