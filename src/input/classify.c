#include "input/classify.h"

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

static bool is_collective(struct str text)
{
    return str_starts_nocase(text, S("hcom_")) || str_starts_nocase(text, S("hccl"));
}

/* AICPU kernels that are the device half of a collective, not work of their own. */
static bool names_a_collective(struct str name)
{
    static const struct str words[] = {
        S_INIT("allgather"),      S_INIT("all_gather"), S_INIT("reducescatter"),
        S_INIT("reduce_scatter"), S_INIT("allreduce"),  S_INIT("all_reduce"),
        S_INIT("alltoall"),       S_INIT("all_toall"),  S_INIT("allto_all"),
        S_INIT("all_to_all"),     S_INIT("broadcast"),  S_INIT("hcom"),
        S_INIT("hccl"),
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_contains_nocase(name, words[i]))
            return true;
    return false;
}

enum slice_kind classify_kernel(struct str core, struct str name, struct str type)
{
    bool on_cpu = str_equal(core, S("AI_CPU"));

    if (slice_is_device_half(name))
        return SLICE_COMM_PART;
    if (str_equal(core, S("HCCL")) || str_equal(core, S("COMMUNICATION")) || is_collective(name) ||
        is_collective(type) || (on_cpu && names_a_collective(name)))
        return SLICE_COMM;
    return on_cpu ? SLICE_AICPU : SLICE_COMPUTE;
}

/* Collectives of the vendors' libraries, then those that serving engines bring themselves. */
static bool is_gpu_collective(struct str name)
{
    static const struct str prefixes[] = {S_INIT("nccl"), S_INIT("rccl"), S_INIT("hccl")};
    static const struct str words[] = {
        S_INIT("ncclKernel"), S_INIT("ncclDevKernel"),       S_INIT("cross_device_reduce"),
        S_INIT("nvshmem"),    S_INIT("one_shot_all_reduce"), S_INIT("two_shot_"),
        S_INIT("all2all"),
    };

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts_nocase(name, prefixes[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_contains_nocase(name, words[i]))
            return true;
    return str_contains_nocase(name, S("deep_ep::")) &&
           (str_contains_nocase(name, S("dispatch")) || str_contains_nocase(name, S("combine")));
}

enum slice_kind classify_gpu(struct str name)
{
    return is_gpu_collective(name) ? SLICE_COMM : SLICE_COMPUTE;
}
