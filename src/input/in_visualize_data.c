/*
 * visualize-data: visualize_data.bin, as the operator simulator and MindStudio Insight know it.
 *
 * Every TRACE block becomes slices; base info names kernel and chip. All other blocks are kept as
 * documents of the capture. A fault in the container costs the blocks behind it.
 * Format reference: docs/formats/visualize-data.md
 */
#include "base/bin_blocks.h"
#include "base/json_read.h"
#include "capture/capture.h"
#include "input/incore_events.h"

static bool claims(struct str name)
{
    return str_equal(name, S("visualize_data.bin"));
}

static int probe(const struct probe *p)
{
    struct str h = p->head;

    if (h.n >= BIN_HEADER && (uint8_t)h.at[11] == BIN_MARK && (uint8_t)h.at[9] <= 3 &&
        bin_type_name((uint8_t)h.at[8]) != NULL && h.at[7] == 0 && h.at[6] == 0)
        return 90;
    return claims(p->name) ? 60 : 0;
}

/* ---- base info: one kernel as it was measured ---- */

struct base_info {
    struct str name, soc, type, block_dim;
    nanos duration;
    bool has_duration;
};

static void take_member(struct base_info *info, struct str key, struct str value)
{
    if (str_equal(key, S("name")))
        info->name = value;
    else if (str_equal(key, S("soc")))
        info->soc = value;
    else if (str_equal(key, S("op_type")))
        info->type = value;
    else if (str_equal(key, S("block_dim")))
        info->block_dim = value;
    else if (str_equal(key, S("duration")))
        info->has_duration = num_us(value, &info->duration) && info->duration >= 0;
}

static void add_kernel(const struct base_info *info, struct capture *cap)
{
    struct attr attrs[2] = {
        attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, info->type)),
        attr_text(capture_key(cap, KEY_BLOCK_DIM), capture_intern(cap, info->block_dim)),
    };
    int64_t blocks;

    cap->facts.device_name = capture_intern(cap, info->soc);
    if (!info->has_duration)
        return;
    if (num_i64(info->block_dim, &blocks))
        attrs[1] = attr_int(capture_key(cap, KEY_BLOCK_DIM), blocks);
    capture_slice(cap, &(struct slice){
                           .dur = info->duration,
                           .lane = capture_lane(
                               cap, (struct lane_key){.kind = LANE_STREAM,
                                                      .device = -1,
                                                      .name = capture_intern(cap, S("kernel"))}),
                           .name = capture_intern(cap, info->name),
                           .set = attrs_set(&cap->attrs, attrs, 2),
                           .kind = SLICE_COMPUTE,
                       });
}

static void read_base_info(const struct input_file *in, const struct bin_block *block,
                           struct capture *cap, struct incore_count *count)
{
    struct base_info info = {0};
    struct arena arena;
    struct str key, value;
    struct json j;

    arena_init(&arena);
    json_open(&j, block->payload, JSON_LENIENT);
    if (json_next(&j) == JSON_OBJECT)
        while (json_key(&j, &key))
            if (json_value(&j, &value))
                take_member(&info, key, j.has_escapes ? json_text(value, &arena) : value);
    if (j.token == JSON_OBJECT_END) {
        add_kernel(&info, cap);
        count->events++;
    } else {
        count->lost++;
        diag_add(in->diag, SEV_LOSS, "incore.damaged",
                 (struct where){.path = in->path, .byte = block->offset + BIN_HEADER + 1},
                 "base info block: not JSON");
    }
    arena_free(&arena);
}

/* ---- the file ---- */

struct blocks {
    uint64_t traces, infos, unknown;
    enum status failed; /* of the first trace that could not be read */
};

/* Sources, tables and what else is no timeline, for those who ask and for writing it again. */
static void keep_document(const struct bin_block *block, struct capture *cap)
{
    bool is_table = block->type == BIN_API_INSTR;

    if (block->type == BIN_TRACE || bin_type_name(block->type) == NULL || block->payload.n == 0)
        return;
    capture_document_add(cap, (struct document){.type = block->type,
                                                .version = is_table ? block->version : BIN_MARK,
                                                .path = block->path,
                                                .text = block->payload});
}

static void read_block(const struct input_file *in, const struct bin_block *block,
                       struct capture *cap, struct incore_count *count, struct blocks *seen)
{
    struct incore_text trace = {.in = in,
                                .text = block->payload,
                                .offset = block->offset + BIN_HEADER,
                                .block = S("TRACE block")};

    if (block->type == BIN_BASE_INFO) {
        read_base_info(in, block, cap, count);
        seen->infos++;
    } else if (block->type == BIN_TRACE) {
        enum status st = incore_events(&trace, cap, count);
        seen->traces += st == ST_OK;
        seen->failed = st != ST_OK && seen->failed == ST_OK ? st : seen->failed;
    } else if (bin_type_name(block->type) == NULL) {
        seen->unknown++;
    }
    keep_document(block, cap);
}

/* The fault is the error when nothing could be read, and a loss otherwise. */
static enum status tell_fault(const struct input_file *in, const struct bin_blocks *b,
                              bool has_data, struct incore_count *count)
{
    struct where where = {.path = in->path, .byte = b->at + 1};
    char text[BIN_FAULT_TEXT];
    struct str words = {text, bin_blocks_fault(b, text)};

    if (!has_data)
        return diag_fail(in->diag, ST_FORMAT, "visualize-data.corrupt", where, "%.*s",
                         STR_ARGS(words));
    count->lost++;
    diag_add(in->diag, SEV_LOSS, "visualize-data.cut", where,
             "the blocks from here on are left out: %.*s", STR_ARGS(words));
    return ST_OK;
}

static enum status read_visualize_data(const struct input_file *in, struct capture *cap)
{
    struct incore_count count = {0};
    struct blocks seen = {0};
    struct bin_blocks b;
    struct bin_block block;

    bin_blocks_open(&b, in->text);
    while (bin_blocks_next(&b, &block))
        read_block(in, &block, cap, &count, &seen);
    bool has_data = seen.traces + seen.infos > 0;
    if (!has_data && seen.failed != ST_OK)
        return seen.failed;
    if (b.fault != BIN_FINE)
        TRY(tell_fault(in, &b, has_data, &count));
    if (!has_data)
        return diag_fail(in->diag, ST_FORMAT, "visualize-data.no-trace",
                         (struct where){.path = in->path, .byte = b.at + 1},
                         "no TRACE block found, and no base info");
    if (seen.unknown > 0)
        diag_add(in->diag, SEV_NOTE, "visualize-data.other-blocks",
                 (struct where){.path = in->path}, "%llu blocks of unknown types are passed over",
                 (unsigned long long)seen.unknown);
    capture_set_incore(cap);
    cap->origin = seen.infos > 0 ? ORIGIN_MEASURED : ORIGIN_SIMULATED;
    capture_source(cap, (struct source){.path = in->path,
                                        .format = input_visualize_data.name,
                                        .bytes = in->text.n,
                                        .rows = count.events,
                                        .lost = count.lost});
    return ST_OK;
}

const struct input_format input_visualize_data = {
    .name = "visualize-data",
    .summary = "in-core trace container of the operator simulator (visualize_data.bin)",
    .looks_for = "visualize_data.bin",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .probe = probe,
    .read = read_visualize_data,
};
