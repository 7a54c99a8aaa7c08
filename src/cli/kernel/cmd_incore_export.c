/*
 * strata incore export: the files that the operator simulator would leave, from logs or a trace.
 */
#include "base/files/fs.h"
#include "cli/captures.h"
#include "cli/kernel/incore_clock.h"
#include "render/insight/insight.h"
#include "report/report.h"

static const struct example examples[] = {
    {"strata incore export examples/incore -o exported", "the simulator/ folder of one container"},
};

struct args {
    struct incore_clock clock;
};

static const struct opt options[] = {
    INCORE_CLOCK_MHZ(struct args, clock),
    INCORE_CLOCK_CHIP(struct args, clock),
};

static const struct field fields[] = {
    FIELD(struct capture, slices.n, "slices"),
    FIELD(struct capture, lanes.n, "pipes"),
    FIELD(struct capture, flows.n, "arrows"),
};
static const struct record record = RECORD(struct capture, fields);
static const struct schema schema = {
    .name = "strata.incore-export/1",
    .title = "size of the exported kernel",
    .record = &record,
};

static enum status write_folder(struct session *s, const struct capture *cap, const char *path,
                                const char *folder)
{
    const char *simulator = fs_join(&s->arena, folder, "simulator");
    struct words wrote = {0};

    if (!cap->facts.is_incore || (cap->has & HAS_INSTR) == 0)
        return diag_fail(&s->diag, ST_FORMAT, "incore.no-trace", (struct where){.path = path},
                         "contains no instructions");
    if (fs_exists(simulator)) {
        diag_hint(&s->diag, "try", "another folder with --out");
        return diag_fail(&s->diag, ST_IO, "incore.exists", (struct where){.path = simulator},
                         "already exists; not overwritten");
    }
    enum status st =
        insight_folder_write(cap, folder, (struct insight_beside){0}, &s->arena, &s->diag, &wrote);
    for (size_t i = 0; i < wrote.n; i++)
        session_wrote(s, wrote.at[i]);
    vec_free(&wrote);
    return st;
}

static void incore_export_describe(const void *result, struct report *r)
{
    const struct capture *cap = result;

    report_line(r, "  %zu slices on %zu pipe%s, %zu arrow%s", cap->slices.n, cap->lanes.n,
                cap->lanes.n == 1 ? "" : "s", cap->flows.n, cap->flows.n == 1 ? "" : "s");
}

static int incore_export_run(struct session *s, const void *args)
{
    const char *path = s->operands.at[0],
               *folder = s->common.out != NULL ? s->common.out : "strata-out";
    struct capture *cap = NULL;

    struct input_options input = input_defaults();

    TRY_CODE(incore_clock(s, &((const struct args *)args)->clock, &input.mhz));
    enum status st = captures_load_one(s, path, input, &cap);
    if (st == ST_OK)
        st = write_folder(s, cap, path, folder);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &schema,
                                         .origin = origin_name(cap->origin),
                                         .result = cap,
                                         .title = str_of(path),
                                         .describe = incore_export_describe});
    capture_free(cap);
    return session_code(st);
}

const struct command command_incore_export = {
    .name = "export",
    .group = GROUP_KERNELS,
    .summary = "write the simulator folder from logs or a trace",
    .usage = "[OPTIONS] PATH",
    .details = "Reads one kernel from any output of the operator simulator (core model logs, "
               "visualize_data.bin, trace.json) and writes the others: simulator/trace.json, "
               "simulator/visualize_data.bin and, for each core, its trace.json and its totals by "
               "instruction and source line. MindStudio Insight opens the folder.\n"
               "\n"
               "simulator/ is created in the folder given with --out (default: "
               "strata-out). An existing one is not overwritten. Logs count cycles; --chip or "
               "--clock-mhz gives the length of one (default: 1850 MHz).",
    .see = "docs/formats/visualize-data.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_OUT,
    .schemas = {&schema},
    COMMAND_PARTS_ZERO,
    .run = incore_export_run,
};
