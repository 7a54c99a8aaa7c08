/*
 * core-trace: trace.json of the operator simulator, of all cores or of one.
 *
 * Format reference: docs/formats/incore-trace.md
 */
#include "input/incore_events.h"

static bool claims(struct str name)
{
    (void)name; /* trace.json is anybody's name */
    return false;
}

static int probe(const struct probe *p)
{
    return incore_probe(p->head) != INCORE_NONE ? 95 : 0;
}

/* The folder around the file names its core. */
static struct str core_of(const char *path)
{
    struct str whole = str_of(path);
    struct str file = str_basename(whole);

    if (whole.n > file.n + 1) {
        struct str folder = str_basename(str_part(whole, 0, whole.n - file.n - 1));
        if (str_starts(folder, S("core")))
            return folder;
    }
    return S("core");
}

static enum status read_core_trace(struct import *i)
{
    struct str text = i->in->text;
    struct incore_text trace = {.i = i, .text = text};

    if (incore_probe(str_part(text, 0, INPUT_HEAD)) == INCORE_ONE_CORE)
        trace.core = core_of(i->in->path);
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
    .claims = claims,
    .probe = probe,
    .read = read_core_trace,
};
