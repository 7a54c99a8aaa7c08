/*
 * The dialects of traces in the JSON format of Chrome's viewer: kineto, of the PyTorch profiler on
 * GPUs and processors; trace-view, the timeline of an Ascend profile by torch_npu and msprof;
 * xla-trace, of JAX and TensorFlow; rocprof-trace, of rocprof; chrome-trace, any other.
 * Format references: docs/formats/kineto.md, trace-view.md, xla-trace.md, rocprof.md,
 * chrome-trace.md
 */
#include "base/text/char.h"
#include "input/input.h"
#include "input/trace/trace_words.h"

static bool claims_kineto(struct str name)
{
    return str_ends(name, S(".pt.trace.json")) || str_ends(name, S(".pt.trace.json.gz"));
}

/* <host>.trace.json.gz of TensorBoard's profile plugin. */
static bool claims_xla(struct str name)
{
    return !claims_kineto(name) &&
           (str_ends(name, S(".trace.json")) || str_ends(name, S(".trace.json.gz")));
}

/* trace_view.json, msprof_<ts>.json with its slices, and MindSpore's own timeline. */
static bool claims_view(struct str name)
{
    if (str_equal(name, S("trace_view.json")) || str_starts(name, S("ascend_timeline_display_")))
        return true;
    if (!str_starts(name, S("msprof_")) || !str_ends(name, S(".json")))
        return false;
    struct str middle = str_part(name, 7, name.n - 12);
    str_skip(&middle, S("slice_"));
    for (size_t i = 0; i < middle.n; i++)
        if (!char_is_digit(middle.at[i]) && middle.at[i] != '_')
            return false;
    return middle.n > 0;
}

const struct input_format input_kineto = {
    .name = "kineto",
    .summary = "PyTorch profiler trace (JSON, also gzip)",
    .looks_for = "*.pt.trace.json",
    .claims = claims_kineto,
    .streams = true,
    .role = ROLE_WHOLE,
    .vendor = VENDOR_NVIDIA,
    .source = SOURCE_KINETO,
    .trace = 1 + TRACE_KINETO,
};

const struct input_format input_trace_view = {
    .name = "trace-view",
    .summary = "timeline of an Ascend profile (JSON)",
    .looks_for = "trace_view.json",
    .claims = claims_view,
    .streams = true,
    .role = ROLE_TIMELINE,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_TRACE_VIEW,
    .trace = 1 + TRACE_ASCEND,
};

const struct input_format input_xla_trace = {
    .name = "xla-trace",
    .summary = "JAX or TensorFlow profiler trace (JSON, also gzip)",
    .looks_for = "*.trace.json.gz",
    .claims = claims_xla,
    .streams = true,
    .role = ROLE_WHOLE,
    .source = SOURCE_CHROME,
    .trace = 1 + TRACE_XLA,
};

const struct input_format input_rocprof_trace = {
    .name = "rocprof-trace",
    .summary = "timeline of rocprof (JSON)",
    .looks_for = "results.json",
    .streams = true,
    .role = ROLE_WHOLE,
    .vendor = VENDOR_AMD,
    .source = SOURCE_CHROME,
    .trace = 1 + TRACE_ROCPROF,
};

const struct input_format input_chrome_trace = {
    .name = "chrome-trace",
    .summary = "Chrome trace (JSON, also gzip)",
    .looks_for = "*.json",
    .streams = true,
    .role = ROLE_WHOLE,
    .source = SOURCE_CHROME,
    .trace = 1 + TRACE_CHROME,
};
