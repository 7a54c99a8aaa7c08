/*
 * What device work is, from the words of profilers.
 */
#include "capture/classify.h"

static const struct {
    struct str spelling, core;
} cores[] = {
    {S_INIT("AiCore"), S_INIT("AI_CORE")},
    {S_INIT("AIC"), S_INIT("AI_CORE")},
    {S_INIT("KERNEL_AICORE"), S_INIT("AI_CORE")},
    {S_INIT("AiVector"), S_INIT("AI_VECTOR_CORE")},
    {S_INIT("AIV"), S_INIT("AI_VECTOR_CORE")},
    {S_INIT("AIV_SQE"), S_INIT("AI_VECTOR_CORE")},
    {S_INIT("KERNEL_AIVEC"), S_INIT("AI_VECTOR_CORE")},
    {S_INIT("AiCpu"), S_INIT("AI_CPU")},
    {S_INIT("AICPU"), S_INIT("AI_CPU")},
    {S_INIT("KERNEL_AICPU"), S_INIT("AI_CPU")},
    {S_INIT("MixAic"), S_INIT("MIX_AIC")},
    {S_INIT("KERNEL_MIX_AIC"), S_INIT("MIX_AIC")},
    {S_INIT("MixAiv"), S_INIT("MIX_AIV")},
    {S_INIT("KERNEL_MIX_AIV"), S_INIT("MIX_AIV")},
};

struct str classify_core(struct str core)
{
    for (size_t i = 0; i < ARRAY_LEN(cores); i++)
        if (str_equal(core, cores[i].spelling))
            return cores[i].core;
    return core;
}

bool classify_is_collective(struct str name)
{
    return str_starts_nocase(name, S("hcom_")) || str_starts_nocase(name, S("hccl"));
}

bool classify_is_device_half(struct str name)
{
    return str_ends(name, S("AicpuKernel")) || str_ends(name, S("AivKernel")) ||
           str_ends(name, S("_AICPU"));
}

/* What collectives are called everywhere. */
static bool names_a_collective(struct str name)
{
    static const struct str words[] = {
        S_INIT("allgather"),      S_INIT("all_gather"), S_INIT("reducescatter"),
        S_INIT("reduce_scatter"), S_INIT("allreduce"),  S_INIT("all_reduce"),
        S_INIT("alltoall"),       S_INIT("all_toall"),  S_INIT("allto_all"),
        S_INIT("all_to_all"),
    };

    return STR_ANY(str_contains_nocase, name, words);
}

static enum slice_kind ascend_kernel(struct str core, struct str name, struct str type)
{
    static const struct str aicpu[] = {S_INIT("broadcast"), S_INIT("hcom"), S_INIT("hccl")};
    bool on_cpu = str_equal(core, S("AI_CPU"));

    if (classify_is_device_half(name))
        return SLICE_COMM_PART;
    if (str_equal(core, S("HCCL")) || str_equal(core, S("COMMUNICATION")) ||
        classify_is_collective(name) || classify_is_collective(type))
        return SLICE_COMM;
    /* The device half of a collective under its plain name. */
    if (on_cpu && (names_a_collective(name) || STR_ANY(str_contains_nocase, name, aicpu)))
        return SLICE_COMM;
    return on_cpu ? SLICE_AICPU : SLICE_COMPUTE;
}

/* Collectives of the vendors' libraries, then those that serving engines bring themselves. */
static enum slice_kind gpu_kernel(struct str name)
{
    static const struct str words[] = {
        S_INIT("nccl"),      S_INIT("nvshmem"),  S_INIT("cross_device_reduce"),
        S_INIT("two_shot_"), S_INIT("multimem"), S_INIT("all2all"),
        S_INIT("sendrecv"),
    };
    static const struct str spaces[] = {S_INIT("deep_ep::"), S_INIT("dpsk::ep::")};
    static const struct str parts[] = {S_INIT("dispatch"), S_INIT("combine"), S_INIT("notify"),
                                       S_INIT("barrier")};

    if (str_starts_nocase(name, S("rccl")) || str_starts_nocase(name, S("hccl")) ||
        names_a_collective(name) || STR_ANY(str_contains_nocase, name, words))
        return SLICE_COMM;
    /* Tokens on their way to experts and back (DeepEP); what only counts them computes. */
    bool is_exchange = STR_ANY(str_contains_nocase, name, spaces) &&
                       STR_ANY(str_contains_nocase, name, parts) &&
                       !str_contains_nocase(name, S("dispatch_layout"));
    return is_exchange ? SLICE_COMM : SLICE_COMPUTE;
}

enum slice_kind classify_kernel(enum vendor vendor, struct str core, struct str name,
                                struct str type)
{
    return vendor == VENDOR_ASCEND ? ascend_kernel(core, name, type) : gpu_kernel(name);
}

static const struct {
    struct str type;
    enum slice_kind kind;
} tasks[] = {
    {S_INIT("HCCL"), SLICE_COMM},
    {S_INIT("COMMUNICATION"), SLICE_COMM},
    {S_INIT("AI_CORE"), SLICE_COMPUTE},
    {S_INIT("AI_VECTOR_CORE"), SLICE_COMPUTE},
    {S_INIT("AIC"), SLICE_COMPUTE},
    {S_INIT("AIV"), SLICE_COMPUTE},
    {S_INIT("AIV_SQE"), SLICE_COMPUTE},
    {S_INIT("MIX_AIC"), SLICE_COMPUTE},
    {S_INIT("MIX_AIV"), SLICE_COMPUTE},
    {S_INIT("FFTS_PLUS"), SLICE_COMPUTE},
    {S_INIT("FUSION"), SLICE_COMPUTE},
    {S_INIT("KERNEL_AICORE"), SLICE_COMPUTE},
    {S_INIT("KERNEL_AIVEC"), SLICE_COMPUTE},
    {S_INIT("KERNEL_MIX_AIC"), SLICE_COMPUTE},
    {S_INIT("KERNEL_MIX_AIV"), SLICE_COMPUTE},
    {S_INIT("KERNEL_AICPU"), SLICE_COMPUTE},
    {S_INIT("AI_CPU"), SLICE_COMPUTE},
    {S_INIT("DSA_SQE"), SLICE_COMPUTE},
    {S_INIT("DSA"), SLICE_COMPUTE},
    {S_INIT("DVPP"), SLICE_COMPUTE},
    {S_INIT("VPC_SQE"), SLICE_COMPUTE},
    {S_INIT("JPEGE_SQE"), SLICE_COMPUTE},
    {S_INIT("JPEGD_SQE"), SLICE_COMPUTE},
    {S_INIT("OTHER"), SLICE_COMPUTE},
    {S_INIT("ROCCE_SQE"), SLICE_COPY},
};

enum slice_kind classify_task(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
        if (str_equal_nocase(type, tasks[i].type))
            return tasks[i].kind;
    if (str_contains_nocase(type, S("wait")))
        return SLICE_WAIT;
    return str_contains_nocase(type, S("memcpy")) || str_starts_nocase(type, S("SDMA")) ||
                   str_starts_nocase(type, S("PCIE_DMA"))
               ? SLICE_COPY
               : SLICE_CONTROL;
}

bool classify_is_core_work(const struct capture *cap, size_t slice)
{
    static const struct str units[] = {S_INIT("AI_CORE"), S_INIT("AI_VECTOR_CORE"),
                                       S_INIT("MIX_AIC"), S_INIT("MIX_AIV")};

    if (!capture_is_ascend(cap))
        return cap->slices.kind[slice] == SLICE_COMPUTE;
    return str_is_one_of(capture_slice_text(cap, slice, KEY_CORE), units, ARRAY_LEN(units));
}
