/*
 * chrome-trace: any other trace in the JSON format of Chrome's trace viewer.
 *
 * Format reference: docs/formats/chrome-trace.md
 */
#include "input/trace_read.h"

static int probe(const struct probe *p)
{
    enum trace_dialect dialect;

    return trace_probe(p, &dialect) ? 50 : 0;
}

static enum status read_chrome_trace(struct import *i)
{
    return trace_read(i, TRACE_CHROME, input_chrome_trace.name);
}

const struct input_format input_chrome_trace = {
    .name = "chrome-trace",
    .summary = "trace in the format of Chrome's viewer (JSON, also packed)",
    .looks_for = "*.json",
    .streams = true,
    .role = ROLE_WHOLE,
    .source = SOURCE_CHROME,
    .probe = probe,
    .read = read_chrome_trace,
};
