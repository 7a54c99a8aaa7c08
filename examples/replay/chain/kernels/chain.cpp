// Submits two tasks for each block of 64 rows.
#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &)
{
    return PTO2OrchestrationConfig{.expected_arg_count = 2};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
    const ChipTensor &x = args.tensor(0).ref(), &y = args.tensor(1).ref();
    const uint32_t block[2] = {64, x.shapes[1]};
    TensorCreateInfo like(block, 2, DataType::FLOAT32);

    for (uint32_t row = 0; row < x.shapes[0]; row += 64) {
        const uint32_t from[2] = {row, 0};
        CoreTaskArgs scale, add;
        scale.add_input(x.view(block, from));
        scale.add_output(like);
        scale.add_scalar(0.5f);
        TaskOutputTensors made = rt_submit_aiv_task(0, scale);
        add.add_input(made.get_ref(0));
        add.add_inout(y.view(block, from));
        rt_submit_aiv_task(1, add);
    }
}
}
