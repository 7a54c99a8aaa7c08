#include "capture/classify.h"

#include "base/testing.h"

TEST(spellings_of_a_core_become_one)
{
    assert_str(classify_core(S("AiCore")), "AI_CORE");
    assert_str(classify_core(S("KERNEL_AIVEC")), "AI_VECTOR_CORE");
    assert_str(classify_core(S("AI_CPU")), "AI_CPU");
    assert_str(classify_core(S("DSA_SQE")), "DSA_SQE");
}

TEST(collectives_are_known_by_core_name_or_type)
{
    assert_int_equal(classify_kernel(VENDOR_ASCEND, S("HCCL"), S("x"), S("")), SLICE_COMM);
    assert_int_equal(
        classify_kernel(VENDOR_ASCEND, S("N/A"), S("hcom_allReduce__586_0_1"), S("N/A")),
        SLICE_COMM);
    assert_int_equal(classify_kernel(VENDOR_ASCEND, S("AI_CORE"), S("x"), S("HCCL_send")),
                     SLICE_COMM);
}

TEST(aicpu_work_is_not_the_device_half_of_a_collective)
{
    assert_int_equal(classify_kernel(VENDOR_ASCEND, S("AI_CPU"), S("Cast12"), S("Cast")),
                     SLICE_AICPU);
    assert_int_equal(classify_kernel(VENDOR_ASCEND, S("AI_CPU"), S("AllGather_3"), S("")),
                     SLICE_COMM);
    assert_int_equal(
        classify_kernel(VENDOR_ASCEND, S("AI_CPU"), S("hcom_allReduceAicpuKernel"), S("")),
        SLICE_COMM_PART);
    assert_int_equal(
        classify_kernel(VENDOR_ASCEND, S("AI_VECTOR_CORE"), S("allGatherAivKernel"), S("")),
        SLICE_COMM_PART);
}

TEST(everything_else_computes)
{
    assert_int_equal(classify_kernel(VENDOR_ASCEND, S("AI_CORE"), S("MatMul1"), S("MatMul")),
                     SLICE_COMPUTE);
    assert_int_equal(classify_kernel(VENDOR_ASCEND, S("N/A"), S("Add"), S("N/A")), SLICE_COMPUTE);
    assert_int_equal(classify_kernel(VENDOR_ASCEND, S(""), S(""), S("")), SLICE_COMPUTE);
}

TEST(collectives_of_a_gpu_are_known_by_their_names)
{
    assert_int_equal(classify_kernel(VENDOR_NVIDIA, S(""),
                                     S("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)"), S("")),
                     SLICE_COMM);
    assert_int_equal(classify_kernel(VENDOR_NVIDIA, S(""),
                                     S("void vllm::cross_device_reduce_1stage<half>()"), S("")),
                     SLICE_COMM);
    assert_int_equal(
        classify_kernel(VENDOR_NVIDIA, S(""), S("void deep_ep::intranode::dispatch<4>()"), S("")),
        SLICE_COMM);
    assert_int_equal(classify_kernel(VENDOR_NVIDIA, S(""),
                                     S("void dpsk::ep::internode::cached_notify<false>(int)"),
                                     S("")),
                     SLICE_COMM);
    assert_int_equal(
        classify_kernel(VENDOR_NVIDIA, S(""), S("void multimem_one_shot_kernel<float>()"), S("")),
        SLICE_COMM);
    assert_int_equal(classify_kernel(VENDOR_NVIDIA, S(""),
                                     S("void dpsk::ep::cuda::get_dispatch_layout<256>(int)"),
                                     S("")),
                     SLICE_COMPUTE);
    assert_int_equal(classify_kernel(VENDOR_NVIDIA, S(""), S("void deep_ep::layout::get()"), S("")),
                     SLICE_COMPUTE);
    assert_int_equal(
        classify_kernel(VENDOR_NVIDIA, S(""), S("void cutlass::gemm<128>(Params)"), S("")),
        SLICE_COMPUTE);
}

TEST(task_types_tell_work_from_waits_and_copies)
{
    assert_int_equal(classify_task(S("AI_CORE")), SLICE_COMPUTE);
    assert_int_equal(classify_task(S("Other")), SLICE_COMPUTE);
    assert_int_equal(classify_task(S("SDMA_SQE")), SLICE_COPY);
    assert_int_equal(classify_task(S("NOTIFY_WAIT_SQE")), SLICE_WAIT);
    assert_int_equal(classify_task(S("Notify Wait")), SLICE_WAIT);
    assert_int_equal(classify_task(S("PLACE_HOLDER_SQE")), SLICE_CONTROL);
    assert_int_equal(classify_task(S("HCCL")), SLICE_COMM);
}

TEST_MAIN("capture/classify", T(task_types_tell_work_from_waits_and_copies),
          T(spellings_of_a_core_become_one), T(collectives_are_known_by_core_name_or_type),
          T(aicpu_work_is_not_the_device_half_of_a_collective), T(everything_else_computes),
          T(collectives_of_a_gpu_are_known_by_their_names))
