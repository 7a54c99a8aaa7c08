/*
 * trace-view: the timeline of an Ascend profile, as torch_npu and msprof export it.
 *
 * Format reference: docs/formats/trace-view.md
 */
#include "base/char.h"
#include "input/trace_read.h"

static int probe(const struct probe *p)
{
    enum trace_dialect dialect;

    return trace_probe(p, &dialect) && dialect == TRACE_ASCEND ? 90 : 0;
}

/* trace_view.json, and msprof_<ts>.json with its slices. */
static bool claims(struct str name)
{
    if (str_equal(name, S("trace_view.json")))
        return true;
    if (!str_starts(name, S("msprof_")) || !str_ends(name, S(".json")))
        return false;
    struct str middle = str_part(name, 7, name.n - 12);
    if (str_starts(middle, S("slice_")))
        middle = str_part(middle, 6, middle.n);
    for (size_t i = 0; i < middle.n; i++)
        if (!char_is_digit(middle.at[i]) && middle.at[i] != '_')
            return false;
    return middle.n > 0;
}

static enum status read_trace_view(struct import *i)
{
    return trace_read(i, TRACE_ASCEND, input_trace_view.name);
}

const struct input_format input_trace_view = {
    .name = "trace-view",
    .summary = "timeline of an Ascend profile (JSON)",
    .looks_for = "trace_view.json",
    .claims = claims,
    .streams = true,
    .role = ROLE_TIMELINE,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_TRACE_VIEW,
    .probe = probe,
    .read = read_trace_view,
};
