/* The names that the columns of kernel tables go by. */
#include "input/ascend/kernel_columns.h"

enum { MAX_NAMES = 5 };

static const struct str column_names[COL_COUNT][MAX_NAMES] = {
    [COL_NAME] = {S_INIT("Name"), S_INIT("Op Name"), S_INIT("op_name"), S_INIT("kernel_name"),
                  S_INIT("name")},
    [COL_START] = {S_INIT("Start Time(us)"), S_INIT("Task Start Time(us)"),
                   S_INIT("task_start_time"), S_INIT("task_start(us)"), S_INIT("start_ns")},
    [COL_DUR] = {S_INIT("Duration(us)"), S_INIT("Task Duration(us)"), S_INIT("task_duration"),
                 S_INIT("task_time(us)"), S_INIT("dur_ns")},
    [COL_WAIT] = {S_INIT("Wait Time(us)"), S_INIT("Task Wait Time(us)"), S_INIT("wait_ns")},
    [COL_STEP] = {S_INIT("Step Id"), S_INIT("Step ID"), S_INIT("step")},
    [COL_DEVICE] = {S_INIT("Device_id"), S_INIT("device_id"), S_INIT("device")},
    [COL_STREAM] = {S_INIT("Stream ID"), S_INIT("stream_id"), S_INIT("stream")},
    [COL_TASK] = {S_INIT("Task ID"), S_INIT("task_id"), S_INIT("task")},
    [COL_TYPE] = {S_INIT("Type"), S_INIT("OP Type"), S_INIT("op_type"), S_INIT("type")},
    [COL_CORE] = {S_INIT("Accelerator Core"), S_INIT("Task Type"), S_INIT("task_type"),
                  S_INIT("kernel_type"), S_INIT("core")},
    [COL_STATE] = {S_INIT("OP State"), S_INIT("op_state")},
    [COL_BLOCK_DIM] = {S_INIT("Block Dim"), S_INIT("Block Num"), S_INIT("block_dim")},
    [COL_MIX_BLOCK_DIM] = {S_INIT("Mix Block Dim"), S_INIT("Mix Block Num"),
                           S_INIT("mix_block_dim")},
    [COL_INPUT_SHAPES] = {S_INIT("Input Shapes"), S_INIT("input_shapes")},
    [COL_INPUT_DTYPES] = {S_INIT("Input Data Types"), S_INIT("input_data_types"),
                          S_INIT("input_dtypes")},
    [COL_INPUT_FORMATS] = {S_INIT("Input Formats"), S_INIT("input_formats")},
    [COL_OUTPUT_SHAPES] = {S_INIT("Output Shapes"), S_INIT("output_shapes")},
    [COL_OUTPUT_DTYPES] = {S_INIT("Output Data Types"), S_INIT("output_data_types"),
                           S_INIT("output_dtypes")},
    [COL_OUTPUT_FORMATS] = {S_INIT("Output Formats"), S_INIT("output_formats")},
    [COL_CLASS] = {S_INIT("class")},
};

int kernel_column(const struct csv *csv, enum kernel_column c)
{
    for (size_t i = 0; i < MAX_NAMES && column_names[c][i].n > 0; i++) {
        int found = csv_column(csv, column_names[c][i]);
        if (found >= 0)
            return found;
    }
    return -1;
}
