#include "input/classify.h"

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
    assert_int_equal(classify_kernel(S("HCCL"), S("x"), S("")), SLICE_COMM);
    assert_int_equal(classify_kernel(S("N/A"), S("hcom_allReduce__586_0_1"), S("N/A")), SLICE_COMM);
    assert_int_equal(classify_kernel(S("AI_CORE"), S("x"), S("HCCL_send")), SLICE_COMM);
}

TEST(aicpu_work_is_not_the_device_half_of_a_collective)
{
    assert_int_equal(classify_kernel(S("AI_CPU"), S("Cast12"), S("Cast")), SLICE_AICPU);
    assert_int_equal(classify_kernel(S("AI_CPU"), S("AllGather_3"), S("")), SLICE_COMM);
    assert_int_equal(classify_kernel(S("AI_CPU"), S("hcom_allReduceAicpuKernel"), S("")),
                     SLICE_COMM_PART);
    assert_int_equal(classify_kernel(S("AI_VECTOR_CORE"), S("allGatherAivKernel"), S("")),
                     SLICE_COMM_PART);
}

TEST(everything_else_computes)
{
    assert_int_equal(classify_kernel(S("AI_CORE"), S("MatMul1"), S("MatMul")), SLICE_COMPUTE);
    assert_int_equal(classify_kernel(S("N/A"), S("Add"), S("N/A")), SLICE_COMPUTE);
    assert_int_equal(classify_kernel(S(""), S(""), S("")), SLICE_COMPUTE);
}

TEST(collectives_of_a_gpu_are_known_by_name)
{
    assert_int_equal(classify_gpu_kernel(S("ncclDevKernel_AllReduce_Sum_bf16")), SLICE_COMM);
    assert_int_equal(classify_gpu_kernel(S("void vllm::cross_device_reduce_1stage<x>")),
                     SLICE_COMM);
    assert_int_equal(classify_gpu_kernel(S("void deep_ep::intranode::dispatch<8>")), SLICE_COMM);
    assert_int_equal(classify_gpu_kernel(S("void deep_ep::layout::count")), SLICE_COMPUTE);
    assert_int_equal(classify_gpu_kernel(S("void at::native::reduce_kernel")), SLICE_COMPUTE);
}

TEST_MAIN("input/classify", T(spellings_of_a_core_become_one),
          T(collectives_are_known_by_core_name_or_type),
          T(aicpu_work_is_not_the_device_half_of_a_collective), T(everything_else_computes),
          T(collectives_of_a_gpu_are_known_by_name))
