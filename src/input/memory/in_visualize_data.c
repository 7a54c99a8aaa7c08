/*
 * visualize-data: visualize_data.bin, as the operator simulator and MindStudio Insight know it.
 *
 * Every TRACE block becomes slices; base info names kernel and chip. All other blocks are kept as
 * documents of the capture. A fault in the container costs the blocks behind it.
 * Format reference: docs/formats/visualize-data.md
 */
#include "base/files/bin_blocks.h"
#include "base/formats/json_read.h"
#include "input/incore/incore_events.h"

static int data_probe(const struct probe *p)
{
    struct str h = p->head;

    if (h.n >= BIN_HEADER && (uint8_t)h.at[11] == BIN_MARK && (uint8_t)h.at[9] <= 3 &&
        bin_type_name((uint8_t)h.at[8]) != NULL && h.at[7] == 0 && h.at[6] == 0)
        return 90;
    return input_claims(&input_visualize_data, p->name) ? 60 : 0;
}

/* ---- base info: one kernel as it was measured ---- */

enum base_info { INFO_NAME, INFO_SOC, INFO_TYPE, INFO_BLOCK_DIM, INFO_DURATION, INFOS };

static const struct str info_keys[INFOS] = {S_INIT("name"), S_INIT("soc"), S_INIT("op_type"),
                                            S_INIT("block_dim"), S_INIT("duration")};

static void data_add_kernel(const struct str info[INFOS], struct capture *cap)
{
    struct str block_dim = info[INFO_BLOCK_DIM];
    struct attr attrs[2] = {
        attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, info[INFO_TYPE])),
        attr_text(capture_key(cap, KEY_BLOCK_DIM), capture_intern(cap, block_dim)),
    };
    int64_t blocks;
    nanos duration;

    cap->facts.device_name = capture_intern(cap, info[INFO_SOC]);
    if (!num_us(info[INFO_DURATION], &duration) || duration < 0)
        return;
    if (num_i64(block_dim, &blocks))
        attrs[1] = attr_int(capture_key(cap, KEY_BLOCK_DIM), blocks);
    capture_slice(cap, &(struct slice){
                           .dur = duration,
                           .lane = import_lane(cap, LANE_STREAM, -1, S("kernel")),
                           .name = capture_intern(cap, info[INFO_NAME]),
                           .set = attrs_set(&cap->attrs, attrs, 2),
                           .kind = SLICE_COMPUTE,
                       });
}

static void read_base_info(struct import *i, const struct bin_block *block)
{
    struct str info[INFOS] = {{0}};
    struct arena arena;
    struct str key, value;
    struct json j;

    arena_init(&arena);
    json_open(&j, block->payload, JSON_LENIENT);
    if (json_next(&j) == JSON_OBJECT)
        while (json_key(&j, &key))
            if (json_value(&j, &value))
                for (size_t k = 0; k < INFOS; k++)
                    if (str_equal(key, info_keys[k]))
                        info[k] = j.has_escapes ? json_text(value, &arena) : value;
    if (j.token == JSON_OBJECT_END) {
        data_add_kernel(info, i->cap);
        i->rows++;
    } else {
        import_lose(i, import_byte(i, block->offset + BIN_HEADER), "incore.damaged",
                    "base info block: not JSON");
    }
    arena_free(&arena);
}

/* ---- the file ---- */

struct blocks {
    uint64_t traces, infos, unknown;
    enum status failed; /* of the first trace that could not be read */
};

static void read_block(struct import *i, const struct bin_block *block, struct blocks *seen)
{
    struct incore_text trace = {.i = i,
                                .text = block->payload,
                                .offset = block->offset + BIN_HEADER,
                                .block = S("TRACE block")};

    if (block->type == BIN_BASE_INFO) {
        read_base_info(i, block);
        seen->infos++;
    } else if (block->type == BIN_TRACE) {
        enum status st = incore_events(&trace);
        seen->traces += st == ST_OK;
        seen->failed = st != ST_OK && seen->failed == ST_OK ? st : seen->failed;
    } else if (bin_type_name(block->type) == NULL) {
        seen->unknown++;
    }
    /* Sources, tables and what else is no timeline, for those who ask and for writing it again. */
    bool is_table = block->type == BIN_API_INSTR;
    if (block->type != BIN_TRACE && bin_type_name(block->type) != NULL && block->payload.n > 0)
        capture_document_add(i->cap,
                             (struct document){.type = block->type,
                                               .version = is_table ? block->version : BIN_MARK,
                                               .path = block->path,
                                               .text = block->payload});
}

/* The fault is the error when nothing could be read, and a loss otherwise. */
static enum status tell_fault(struct import *i, const struct bin_blocks *b, bool has_data)
{
    char text[BIN_FAULT_TEXT];
    struct str words = {text, bin_blocks_fault(b, text)};

    if (!has_data)
        return diag_fail(i->in->diag, ST_FORMAT, "visualize-data.corrupt", import_byte(i, b->at),
                         "%.*s", STR_ARGS(words));
    import_lose(i, import_byte(i, b->at), "visualize-data.cut",
                "the blocks from here on are skipped: %.*s", STR_ARGS(words));
    return ST_OK;
}

static enum status read_visualize_data(struct import *i)
{
    struct blocks seen = {0};
    struct bin_blocks b;
    struct bin_block block;

    bin_blocks_open(&b, i->in->text);
    while (bin_blocks_next(&b, &block))
        read_block(i, &block, &seen);
    bool has_data = seen.traces + seen.infos > 0;
    if (!has_data && seen.failed != ST_OK)
        return seen.failed;
    if (b.fault != BIN_FINE)
        TRY(tell_fault(i, &b, has_data));
    if (!has_data)
        return import_refuse(i, import_byte(i, b.at), "visualize-data.no-trace",
                             "no TRACE block and no base info");
    if (seen.unknown > 0)
        import_report(i, SEV_NOTE, "visualize-data.other-blocks",
                      "%llu blocks of unknown types skipped", (unsigned long long)seen.unknown);
    capture_set_incore(i->cap);
    i->cap->origin = seen.infos > 0 ? ORIGIN_MEASURED : ORIGIN_SIMULATED;
    return ST_OK;
}

const struct input_format input_visualize_data = {
    .name = "visualize-data",
    .summary = "in-core trace container of the operator simulator (visualize_data.bin)",
    .looks_for = "visualize_data.bin",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .probe = data_probe,
    .read = read_visualize_data,
};
