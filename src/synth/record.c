/*
 * record: what follows from a record alone: pieces of collectives, stacks, names.
 */
#include "synth/record.h"

static const struct {
    const char *name, *label;
} stalls[STALL_KINDS] = {
    [STALL_SYNC] = {"sync", "possible_sync_or_h2d"},
    [STALL_H2D] = {"h2d", "possible_sync_or_h2d"},
    [STALL_COMM] = {"comm_wait", "possible_comm_wait"},
    [STALL_UNTRACED] = {"untraced", "possible_untraced_host_blocking"},
    [STALL_LAUNCH] = {"launch_lag", "possible_host_launch_lag"},
    [STALL_GC] = {"python_gc", "possible_python_serialization_or_lock"},
};

const char *stall_name(enum stall_kind kind)
{
    return stalls[kind].name;
}

const char *stall_label(enum stall_kind kind)
{
    return stalls[kind].label;
}

void comm_parts(const struct synth_task *t, int64_t rank, int64_t world,
                struct comm_part out[COMM_PARTS])
{
    nanos waited = t->waited > 20 ? t->waited : 20;

    if (waited > t->dur / 2 + t->dur / 4)
        waited = t->dur / 2 + t->dur / 4;
    nanos rest = t->dur - waited;
    out[0] = (struct comm_part){"Notify_Wait", t->begin, waited, 0, 0, (rank + 1) % world};
    for (int k = 0; k < COMM_PLANES; k++) {
        /* Planes start a little after each other and end together with the collective. */
        nanos late = rest / 16 * k / COMM_PLANES;
        out[k + 1] = (struct comm_part){
            .name = k % 2 == 0 ? "Reduce_Inline" : "Memcpy",
            .begin = t->begin + waited + late,
            .dur = rest - late,
            .plane = k,
            .bytes = t->bytes / COMM_PLANES,
            .peer = (rank + k + 1) % world,
        };
    }
}

void record_stack(const struct synth_op *op, struct str out[STACK_DEPTH], struct arena *arena)
{
    static const struct str frames[] = {
        S_INIT("/usr/lib/python3/site-packages/torch/_ops.py(1158): __call__"),
        S_INIT(""),
        S_INIT("/usr/lib/python3/site-packages/torch/nn/modules/module.py(1747): _call_impl"),
        S_INIT("/srv/model/decoder.py(318): forward"),
        S_INIT("/srv/model/runner.py(204): execute_model"),
        S_INIT("/srv/model/worker.py(77): run"),
        S_INIT("<string>(1): <module>"),
    };

    for (size_t i = 0; i < STACK_DEPTH; i++)
        out[i] = frames[i];
    out[1] =
        arena_format(arena, "/srv/model/layers/%s.py(%d): forward",
                     op != NULL ? op->module : "runner", op != NULL ? 40 + (int)op->code * 7 : 12);
}
