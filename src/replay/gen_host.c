#include <inttypes.h>

#include "replay/gen.h"

struct host {
    const struct workspace *ws;
    const struct slots *slots;
    struct gen *g;
    struct arena *arena;
    bool is_mix, has_contexts, has_fills;
};

static const struct str fifo_names[] = {S_INIT("sij_fifo"), S_INIT("pij_fifo"), S_INIT("oi_fifo")};

/* Bytes of the queue in one hardware block; 0 when the tensor is none. */
static int64_t fifo_bytes(const struct host *h, const struct slot *s)
{
    for (size_t i = 0; h->is_mix && s->is_tensor && i < ARRAY_LEN(fifo_names); i++)
        if (str_equal(s->name, fifo_names[i]))
            return h->ws->spmd.fifo_bytes[i];
    return 0;
}

static bool is_filled(const struct slot *s)
{
    return s->is_tensor && !str_equal(s->fill, S("zero"));
}

static void put_constants(const struct host *h)
{
    struct gen *g = h->g;

    gen_put(g, S("constexpr int kArgsSlots = 50;\n"));
    if (h->is_mix) {
        gen_line(g, "constexpr int kHwBlocks = %" PRId64 ";", h->ws->blocks);
        gen_line(g, "constexpr int kAivLanesPerCore = %" PRId64 ";", h->ws->spmd.lanes);
        gen_put(g, S("constexpr int kAivRows = kHwBlocks * kAivLanesPerCore;\n"));
    }
    for (size_t i = 0; i < h->slots->n; i++) {
        const struct slot *s = &h->slots->at[i];
        struct arena *arena = h->arena;
        int64_t bytes = 0, queue = fifo_bytes(h, s);
        if (!s->is_tensor)
            continue;
        slot_bytes(s, &bytes);
        const char *name = gen_name(h->slots, i, arena), *camel = gen_camel(h->slots, i, arena);
        if (queue > 0) { /* each hardware block has its own part */
            gen_line(g, "constexpr size_t k%sBytes = size_t{%" PRId64 "} * kHwBlocks;", camel,
                     queue);
            gen_line(g, "uint32_t shape_%s[1] = {static_cast<uint32_t>(k%sBytes / %d)};", name,
                     camel, s->dtype->bytes);
            continue;
        }
        gen_line(g, "constexpr size_t k%sBytes = %" PRId64 ";", camel, bytes);
        gen_put(g, arena_format(arena, "uint32_t shape_%s[%zu] = {", name, s->rank));
        for (size_t k = 0; k < s->rank; k++)
            gen_put(g, arena_format(arena, "%s%" PRId64, k > 0 ? ", " : "", s->shape[k]));
        gen_put(g, S("};\n"));
    }
}

static const struct str helpers = S_INIT(
    "void check(aclError code, const char *file, int line)\n"
    "{\n"
    "    if (code == ACL_SUCCESS) {\n"
    "        return;\n"
    "    }\n"
    "    fprintf(stderr, \"ACL error %d at %s:%d\\n\", static_cast<int>(code), file, line);\n"
    "    exit(1);\n"
    "}\n"
    "#define ACL_CHECK(call) check((call), __FILE__, __LINE__)\n"
    "\n"
    "std::vector<void *> allocations; // freed from the last to the first\n"
    "\n"
    "void *device_zeros(size_t bytes)\n"
    "{\n"
    "    void *memory = nullptr;\n"
    "    ACL_CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));\n"
    "    ACL_CHECK(aclrtMemset(memory, bytes, 0, bytes));\n"
    "    allocations.push_back(memory);\n"
    "    return memory;\n"
    "}\n"
    "\n"
    "void *device_copy(const void *from, size_t bytes)\n"
    "{\n"
    "    void *memory = device_zeros(bytes > 0 ? bytes : 1);\n"
    "    if (bytes > 0) {\n"
    "        ACL_CHECK(aclrtMemcpy(memory, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE));\n"
    "    }\n"
    "    return memory;\n"
    "}\n"
    "\n"
    "int64_t address(const void *base, size_t offset)\n"
    "{\n"
    "    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(base) + offset);\n"
    "}\n"
    "\n");

static const struct str fill_helpers =
    S_INIT("enum class Element { Float32, Float16, BFloat16, Integer };\n"
           "\n"
           "uint64_t encode(double value, Element element)\n"
           "{\n"
           "    if (element == Element::Integer) {\n"
           "        return static_cast<uint64_t>(static_cast<int64_t>(value));\n"
           "    }\n"
           "    const float narrow = static_cast<float>(value);\n"
           "    uint32_t bits = 0;\n"
           "    memcpy(&bits, &narrow, sizeof(bits));\n"
           "    if (element == Element::Float32) {\n"
           "        return bits;\n"
           "    }\n"
           "    if (element == Element::BFloat16) {\n"
           "        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;\n"
           "    }\n"
           "    const uint32_t sign = bits >> 16 & 0x8000;\n"
           "    const int exponent = static_cast<int>(bits >> 23 & 0xff) - 112;\n"
           "    if (exponent <= 0) {\n"
           "        return sign; // too small for a normal half\n"
           "    }\n"
           "    if (exponent >= 31) {\n"
           "        return sign | 0x7c00;\n"
           "    }\n"
           "    return sign | (static_cast<uint32_t>(exponent) << 10) | (bits >> 13 & 0x3ff);\n"
           "}\n"
           "\n"
           "// Rules: 'c' the value, 'i' 0, 1, 2 ..., 'r' random from a fixed seed.\n"
           "void fill_rule(void *to, size_t bytes, size_t width, Element element, char rule, "
           "double value)\n"
           "{\n"
           "    std::vector<unsigned char> data(bytes);\n"
           "    uint64_t state = 19;\n"
           "    for (size_t i = 0; i < bytes / width; ++i) {\n"
           "        state = state * 6364136223846793005u + 1442695040888963407u;\n"
           "        double number = rule == 'i' ? static_cast<double>(i) : value;\n"
           "        if (rule == 'r') {\n"
           "            number = element == Element::Integer ? static_cast<double>(state >> 60)\n"
           "                                                 : static_cast<double>(state >> 11) / "
           "9007199254740992.0;\n"
           "        }\n"
           "        const uint64_t bits = encode(number, element);\n"
           "        memcpy(data.data() + i * width, &bits, width);\n"
           "    }\n"
           "    ACL_CHECK(aclrtMemcpy(to, bytes, data.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));\n"
           "}\n"
           "\n"
           "void fill_file(void *to, size_t bytes, const char *path)\n"
           "{\n"
           "    std::vector<unsigned char> data(bytes);\n"
           "    FILE *file = fopen(path, \"rb\");\n"
           "    if (file == nullptr || fread(data.data(), 1, bytes, file) != bytes) {\n"
           "        fprintf(stderr, \"cannot read %zu bytes of %s\\n\", bytes, path);\n"
           "        exit(1);\n"
           "    }\n"
           "    fclose(file);\n"
           "    ACL_CHECK(aclrtMemcpy(to, bytes, data.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));\n"
           "}\n"
           "\n");

/* A kernel of one core type has one row, its args. */
static const char *row_name(const struct host *h)
{
    return h->is_mix ? "row" : "args";
}

static void put_value(const struct host *h, const struct slot *s)
{
    if (s->is_unsigned)
        gen_line(h->g, "    %s[%" PRId64 "] = static_cast<int64_t>(UINT64_C(%" PRIu64 "));",
                 row_name(h), s->index, (uint64_t)s->value);
    else if (s->value == INT64_MIN)
        gen_line(h->g, "    %s[%" PRId64 "] = INT64_MIN;", row_name(h), s->index);
    else
        gen_line(h->g, "    %s[%" PRId64 "] = static_cast<int64_t>(%" PRId64 ");", row_name(h),
                 s->index, s->value);
}

/* Tensors in the order of their descriptors: queues behind the others. */
static void each_tensor(const struct host *h, void (*put)(const struct host *h, size_t i, size_t k))
{
    size_t k = 0;

    for (int queues = 0; queues < 2; queues++)
        for (size_t i = 0; i < h->slots->n; i++)
            if (h->slots->at[i].is_tensor && (fifo_bytes(h, &h->slots->at[i]) > 0) == queues)
                put(h, i, k++);
}

static void put_slot(const struct host *h, size_t i, size_t k)
{
    gen_line(h->g, "    %s[%" PRId64 "] = address(descriptors, %zu * sizeof(Tensor));", row_name(h),
             h->slots->at[i].index, k);
}

static void put_row(const struct host *h)
{
    gen_line(h->g, "void fill_row(int64_t *%s, const void *descriptors)\n{", row_name(h));
    each_tensor(h, put_slot);
    for (size_t i = 0; i < h->slots->n; i++)
        if (!h->slots->at[i].is_tensor)
            put_value(h, &h->slots->at[i]);
    gen_line(h->g, "    (void)%s, (void)descriptors;\n}\n", row_name(h));
}

static void put_fill(const struct host *h, size_t i)
{
    struct arena *arena = h->arena;
    const struct slot *s = &h->slots->at[i];
    const char *name = gen_name(h->slots, i, arena), *camel = gen_camel(h->slots, i, arena);
    const char *element = "Integer";
    char rule = str_equal(s->fill, S("iota")) ? 'i' : str_equal(s->fill, S("random")) ? 'r' : 'c';
    struct str value = str_starts(s->fill, S("const:")) ? str_part(s->fill, 6, s->fill.n) : S("1");

    if (str_starts(s->fill, S("file:"))) {
        gen_line(h->g, "    fill_file(d_%s, k%sBytes, \"%.*s\");", name, camel,
                 STR_ARGS(str_part(s->fill, 5, s->fill.n)));
        return;
    }
    if (s->dtype->is_float)
        element = s->dtype->bytes == 4                      ? "Float32"
                  : str_equal(s->dtype->name, S("FLOAT16")) ? "Float16"
                                                            : "BFloat16";
    gen_line(h->g, "    fill_rule(d_%s, k%sBytes, %d, Element::%s, '%c', %.*s);", name, camel,
             s->dtype->bytes, element, rule, STR_ARGS(value));
}

static void put_tensor(const struct host *h, size_t i, size_t k)
{
    struct arena *arena = h->arena;
    const struct slot *s = &h->slots->at[i];
    const char *name = gen_name(h->slots, i, arena), *camel = gen_camel(h->slots, i, arena);

    (void)k;
    gen_line(h->g, "    void *d_%s = device_zeros(k%sBytes);", name, camel);
    if (is_filled(s))
        put_fill(h, i);
    gen_line(h->g,
             "    tensors.push_back(make_tensor_external(d_%s, shape_%s, %zu, DataType::%.*s));",
             name, name, fifo_bytes(h, s) > 0 ? (size_t)1 : s->rank, STR_ARGS(s->dtype->name));
}

static void put_main_begin(const struct host *h)
{
    gen_put(h->g, S("int main()\n"
                    "{\n"
                    "    const char *chosen = getenv(\"ACL_DEVICE_ID\");\n"
                    "    const int device = chosen != nullptr ? atoi(chosen) : 0;\n"
                    "    aclrtStream stream = nullptr;\n"
                    "    ACL_CHECK(aclInit(nullptr));\n"
                    "    ACL_CHECK(aclrtSetDevice(device));\n"
                    "    ACL_CHECK(aclrtCreateStream(&stream));\n"
                    "\n"
                    "    std::vector<Tensor> tensors;\n"));
    each_tensor(h, put_tensor);
    gen_put(h->g, S("    const void *descriptors = device_copy(tensors.data(), tensors.size() * "
                    "sizeof(Tensor));\n\n"));
}

static void put_main_end(struct gen *g)
{
    gen_put(g, S("    ACL_CHECK(aclrtSynchronizeStream(stream));\n"
                 "\n"
                 "    for (size_t i = allocations.size(); i-- > 0;) {\n"
                 "        ACL_CHECK(aclrtFree(allocations[i]));\n"
                 "    }\n"
                 "    ACL_CHECK(aclrtDestroyStream(stream));\n"
                 "    ACL_CHECK(aclrtResetDevice(device));\n"
                 "    ACL_CHECK(aclFinalize());\n"
                 "    printf(\"Replay completed successfully.\\n\");\n"
                 "    return 0;\n"
                 "}\n"));
}

static void put_single_main(const struct host *h)
{
    put_main_begin(h);
    gen_put(h->g, S("    std::array<int64_t, kArgsSlots> args{};\n"
                    "    fill_row(args.data(), descriptors);\n"
                    "    launch_replay(device_copy(args.data(), sizeof(args)), stream);\n"));
    put_main_end(h->g);
}

static void put_dispatches(const struct host *h)
{
    const struct spmd *spmd = &h->ws->spmd;

    gen_put(h->g, S("// Blocks that were launched together, and the slots that differ.\n"
                    "struct Dispatch {\n"
                    "    int blocks;\n"
                    "    std::vector<std::pair<int, int64_t>> overrides;\n"
                    "};\n"
                    "const std::vector<Dispatch> dispatches = {\n"));
    for (size_t i = 0; i < spmd->n_dispatches; i++)
        gen_line(h->g, "    {%" PRId64 ", {{%" PRId64 ", %" PRId64 "}}},",
                 spmd->dispatches[i].blocks, spmd->dispatches[i].slot, spmd->dispatches[i].value);
    if (spmd->n_dispatches == 0)
        gen_put(h->g, S("    {kHwBlocks, {}},\n"));
    gen_put(h->g, S("};\n\n"));
}

/* A row for each core of one type: a cube core has one lane, its vector cores are the lanes. */
static void put_rows(const struct host *h)
{
    const char *prefix = h->ws->spmd.n_dispatches > 0 ? "s_" : "";
    struct gen *g = h->g;

    gen_put(g,
            S("void *make_rows(int lanes, const void *descriptors)\n"
              "{\n"
              "    const size_t count = static_cast<size_t>(lanes == 1 ? kHwBlocks : kAivRows);\n"
              "    std::vector<int64_t> rows(count * kArgsSlots, 0);\n"));
    if (h->has_contexts) {
        gen_put(g, S("    std::vector<LocalContext> local(count);\n"
                     "    std::vector<GlobalContext> global(count);\n"
                     "    size_t at = 0;\n"
                     "    for (const Dispatch &dispatch : dispatches) {\n"
                     "        for (int r = 0; r < dispatch.blocks * lanes; ++r, ++at) {\n"));
        gen_line(g, "            local[at].%sblock_idx = r / lanes;", prefix);
        gen_line(g, "            local[at].%sblock_num = dispatch.blocks;", prefix);
        gen_put(g, S("            global[at].sub_block_id = r % lanes;\n"
                     "        }\n"
                     "    }\n"
                     "    const void *d_local = device_copy(local.data(), local.size() * "
                     "sizeof(LocalContext));\n"
                     "    const void *d_global = device_copy(global.data(), global.size() * "
                     "sizeof(GlobalContext));\n"));
    }
    gen_put(g, S("    size_t index = 0;\n"
                 "    for (const Dispatch &dispatch : dispatches) {\n"
                 "        for (int r = 0; r < dispatch.blocks * lanes; ++r, ++index) {\n"
                 "            int64_t *row = rows.data() + index * kArgsSlots;\n"
                 "            fill_row(row, descriptors);\n"
                 "            for (const auto &change : dispatch.overrides) {\n"
                 "                row[change.first] = change.second;\n"
                 "            }\n"));
    if (h->has_contexts)
        gen_put(g, S("            row[48] = address(d_local, index * sizeof(LocalContext));\n"
                     "            row[49] = address(d_global, index * sizeof(GlobalContext));\n"));
    gen_put(g, S("        }\n"
                 "    }\n"
                 "    return device_copy(rows.data(), rows.size() * sizeof(int64_t));\n"
                 "}\n\n"));
}

static void put_mix_main(const struct host *h)
{
    put_main_begin(h);
    gen_put(h->g, S("    void *aic_args = make_rows(1, descriptors);\n"
                    "    void *aiv_args = make_rows(kAivLanesPerCore, descriptors);\n"
                    "    launch_replay(aic_args, aiv_args, stream);\n"));
    put_main_end(h->g);
}

void gen_host(const struct workspace *ws, struct gen *g)
{
    struct arena arena;
    struct host h = {.ws = ws, .slots = ws->slots, .g = g, .arena = &arena};

    arena_init(&arena);
    h.is_mix = ws->kernel->shape == SHAPE_MIX;
    h.has_contexts = h.is_mix && ws->spmd.has_meta;
    for (size_t i = 0; i < ws->slots->n; i++)
        h.has_fills = h.has_fills || is_filled(&ws->slots->at[i]);
    gen_put(g, S("// Arguments and launch of one kernel. Made by strata incore replay.\n"));
    gen_put(g, h.is_mix ? S("#include <utility>\n") : S("#include <array>\n"));
    gen_put(g, S("#include <cstdint>\n"
                 "#include <cstdio>\n"
                 "#include <cstdlib>\n"
                 "#include <cstring>\n"
                 "#include <vector>\n"
                 "\n"
                 "#include \"acl/acl.h\"\n"
                 "#include \"pto_orchestration_api.h\"\n"));
    if (h.has_contexts)
        gen_put(g, S("#include \"intrinsic.h\"\n"));
    gen_line(g, "\nextern \"C\" void launch_replay(%s, void *stream);\n\nnamespace {",
             h.is_mix ? "void *aic_args, void *aiv_args" : "void *args");
    put_constants(&h);
    gen_put(g, S("\n"));
    gen_put(g, helpers);
    if (h.has_fills)
        gen_put(g, fill_helpers);
    put_row(&h);
    if (h.is_mix) {
        put_dispatches(&h);
        put_rows(&h);
    }
    gen_put(g, S("} // namespace\n\n"));
    if (h.is_mix)
        put_mix_main(&h);
    else
        put_single_main(&h);
    arena_free(&arena);
}
