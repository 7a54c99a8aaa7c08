/*
 * core-trace: trace.json of the operator simulator, of all cores or of one.
 *
 * Format reference: docs/formats/incore-trace.md
 */
#include "input/incore/incore_events.h"

static int core_trace_probe(const struct probe *p)
{
    return incore_probe(p->head) != INCORE_NONE ? 95 : 0;
}

static enum status read_core_trace(struct import *i)
{
    struct str text = i->in->text, path = str_of(i->in->path);
    struct incore_text trace = {.i = i, .text = text};

    if (incore_probe(str_part(text, 0, INPUT_HEAD)) == INCORE_ONE_CORE) {
        size_t before = path.n - str_basename(path).n; /* with the '/' */
        struct str folder = str_basename(str_part(path, 0, before > 0 ? before - 1 : 0));
        trace.core = str_starts(folder, S("core")) ? folder : S("core");
    }
    TRY(incore_events(&trace));
    capture_set_incore(i->cap);
    i->cap->origin = ORIGIN_SIMULATED;
    return ST_OK;
}

const struct input_format input_core_trace = {
    .name = "core-trace",
    .summary = "in-core trace of the operator simulator (trace.json, all cores or one)",
    .looks_for = "trace.json",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .names = "", /* trace.json is anybody's */
    .probe = core_trace_probe,
    .read = read_core_trace,
};
