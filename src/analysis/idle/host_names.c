/*
 * Names of runtimes, drivers and ranges by tables of tokens; the first row that fits decides.
 */
#include "analysis/idle/host_names.h"

#include "ops/dtype.h"
#include "ops/name_tokens.h"

static const struct {
    enum call_kind kind;
    const char *list, *unless; /* lower case, anywhere in the name */
} calls[] = {
    {CALL_SYNC, "synchronize eventwait waitevent_host streamquerywait", ""},
    {CALL_EVENT, "eventrecord streamwaitevent recordevent", "query"},
    {CALL_COMPILE,
     "moduleload libraryload nvrtc linkcomplete linkadddata graphinstantiate begincapture "
     "endcapture "
     "opcompile jitcompile ascendc_compile modulejit",
     ""},
    {CALL_FREE, "cudafree cumemfree aclrtfree", "async host"},
    {CALL_ALLOC,
     "malloc free hostalloc hostregister hostunregister memmap memunmap memcreate "
     "memrelease memaddressreserve memaddressfree memsetaccess empty_cache",
     "memgetinfo"},
    {CALL_GRAPH, "graphlaunch", ""},
    {CALL_COPY, "memcpy", "attribute"},
    {CALL_LAUNCH, "launch memset memsetd8 aclnnexecute", "attribute config"},
};

static const struct {
    enum range_kind kind;
    const char *list, *unless;
} ranges[] = {
    {RANGE_OPTIMIZER, "optimizer.step#", ""},
    {RANGE_INPUT,
     "dataloader tokenizer tokenize decode_image collate pin_memory read_image "
     "imread load_batch",
     "decode_step"},
    {RANGE_COMPILE,
     "inductor dynamo compile_fx triton.compile triton/compiler nvrtc opcompile "
     "jit_compile compile_inner codegen",
     "cache lookup compiled_region torch-compiled"},
};

enum call_kind host_call_kind(struct str name)
{
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(name, buf);

    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        if (name_tokens_any(low, calls[i].list) && !name_tokens_any(low, calls[i].unless))
            return calls[i].kind;
    return CALL_NONE;
}

enum range_kind host_range_kind(struct str name)
{
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(name, buf);

    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (name_tokens_any(low, ranges[i].list) && !name_tokens_any(low, ranges[i].unless))
            return ranges[i].kind;
    return RANGE_PLAIN;
}

bool host_call_is_lookup(struct str name)
{
    char buf[NAME_TOKENS_MOST];

    return name_tokens_any(name_tokens_lower(name, buf),
                           "getprocaddress getexporttable getdriverentrypoint");
}

uint32_t host_types_seen(struct str types, struct str shapes)
{
    struct str type, shape = S("");
    uint32_t seen = 0;

    for (bool is_first = true; types.n > 0 && str_split(&types, ';', &type); is_first = false) {
        if (shapes.n > 0)
            str_split(&shapes, ';', &shape);
        enum dtype is = dtype_of(type);
        if (str_trim(shape).n > 0 && is == DTYPE_F64)
            seen |= HOST_TYPES_F64;
        if (is_first && is == DTYPE_F32)
            seen |= HOST_TYPES_F32_FIRST;
        shape = S("");
    }
    return seen;
}
