/*
 * kineto: traces of the PyTorch profiler on GPUs and processors.
 *
 * Format reference: docs/formats/kineto.md
 */
#include "input/trace_read.h"

static int probe(const struct probe *p)
{
    enum trace_dialect dialect;

    return trace_probe(p, &dialect) && dialect == TRACE_KINETO ? 90 : 0;
}

static bool claims(struct str name)
{
    return str_ends(name, S(".pt.trace.json")) || str_ends(name, S(".pt.trace.json.gz"));
}

static enum status read_kineto(struct import *i)
{
    return trace_read(i, TRACE_KINETO, input_kineto.name);
}

const struct input_format input_kineto = {
    .name = "kineto",
    .summary = "PyTorch profiler trace (JSON, also packed)",
    .looks_for = "*.pt.trace.json",
    .claims = claims,
    .streams = true,
    .role = ROLE_WHOLE,
    .vendor = VENDOR_NVIDIA,
    .source = SOURCE_KINETO,
    .probe = probe,
    .read = read_kineto,
};
