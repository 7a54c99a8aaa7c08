/*
 * strata gpu doctor: what profiling a GPU can use here, and what is missing.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "cli/session.h"
#include "driver/clocks.h"
#include "driver/driver.h"
#include "driver/gpu_device.h"
#include "driver/workload.h"
#include "report/report.h"

static const struct example examples[] = {
    {"strata gpu doctor", "profiling support on this machine"},
    {"strata gpu doctor --json", "as JSON"},
};

struct row {
    const char *what, *state, *text;
};

struct doctor_rows {
    VEC_OF(struct row);
};

static void doctor_add(struct doctor_rows *rows, const char *what, const char *state,
                       const char *text)
{
    vec_push(rows, ((struct row){what, state, text}));
}

static void add_back_end(struct doctor_rows *rows, enum driver_id id, struct arena *arena)
{
    const struct driver *driver = &drivers[id];
    struct probe_result r = driver_probe(id, arena);

    if (r.state == PROBE_FOUND)
        doctor_add(rows, driver->name, "found",
                   arena_printf(arena, "%s  %s", r.version != NULL ? r.version : "", r.path));
    else
        doctor_add(rows, driver->name, probe_state_name(r.state),
                   arena_printf(arena, "%s; fallback: %s",
                                r.reason != NULL ? r.reason : "not found", driver->instead));
}

/* A file of the driver has whether counters are restricted to administrators. */
static void add_permission(struct doctor_rows *rows, struct arena *arena)
{
    static const char path[] = "/proc/driver/nvidia/params";
    FILE *f = fopen(path, "r");
    char line[256];
    int restricted = -1;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        if (sscanf(line, "RmProfilingAdminOnly: %d", &restricted) == 1)
            break;
    if (f != NULL)
        fclose(f);
    if (restricted < 0)
        doctor_add(rows, "counters", "unknown", arena_printf(arena, "unknown (not in %s)", path));
    else if (restricted == 0)
        doctor_add(rows, "counters", "allowed", "allowed for every user");
    else if (geteuid() == 0)
        doctor_add(rows, "counters", "allowed", "allowed (you are an administrator)");
    else
        doctor_add(rows, "counters", "refused",
                   "administrators only: run as root, set the driver option "
                   "NVreg_RestrictProfilingToAdminUsers=0, or start the container with "
                   "--cap-add=SYS_ADMIN; otherwise durations and a model are used");
}

static void add_gpus(struct doctor_rows *rows, struct session *s, const struct nvml *nvml)
{
    const char *why = NULL;
    int n = gpu_device_count(&s->arena, &why);

    if (n <= 0)
        doctor_add(rows, "GPU", "missing",
                   arena_printf(&s->arena, "%s; roofline, import, report and compare still work",
                                n < 0 ? why : "no GPU found by the driver"));
    for (int i = 0; i < n && i < 8; i++) {
        struct gpu_card g;
        char which[16];
        snprintf(which, sizeof(which), "%d", i);
        if (gpu_device_find(which, nvml, &g, &s->diag) != ST_OK)
            continue;
        doctor_add(rows, "GPU", "found",
                   arena_printf(&s->arena, "%d: %s  %s  cc %d.%d  %u SMs  driver %s%s", i, g.name,
                                g.uuid, g.cc_major, g.cc_minor, g.sm_count, g.driver,
                                g.mig == 1 ? "  MIG: counters unavailable" : ""));
    }
}

static void add_clocks(struct doctor_rows *rows, const struct nvml *nvml, struct session *s)
{
    struct nvml_gpu *gpu = NULL;
    unsigned long long reasons = 0;

    if (nvml->handle == NULL || NVML_DO(nvml, by_index, 0U, &gpu) != NVML_OK)
        return;
    NVML_DO(nvml, reasons, gpu, &reasons);
    if ((reasons & NVML_REASON_LOCKED) != 0)
        doctor_add(rows, "clocks", "locked", "locked by another program; --clock will fail");
    else if (geteuid() == 0)
        doctor_add(rows, "clocks", "free", "can be locked (you are root)");
    else
        doctor_add(rows, "clocks", "free", "locking needs root; clocks are measured instead");
    if (fs_is_dir(clocks_folder(&s->arena))) {
        struct fs_list list;
        if (fs_list(&s->arena, clocks_folder(&s->arena), &list, &s->diag) == ST_OK && list.n > 0)
            doctor_add(rows, "journal", "there",
                       "left locked by an earlier run; run: strata gpu clocks restore");
    }
}

static const struct field row_fields[] = {
    FIELD(struct row, what, "what"),
    FIELD(struct row, state, "state"),
    FIELD(struct row, text, "text"),
};
static const struct record row_record = RECORD(struct row, row_fields);

static const struct field doctor_fields[] = {
    FIELD_LIST(struct doctor_rows, at, n, "checks", &row_record),
};

static const struct schema doctor_schema = {
    .name = "strata.gpu-doctor/1",
    .title = "GPU profiling support on this machine",
    .record = &(const struct record)RECORD(struct doctor_rows, doctor_fields),
};

static void gpu_doctor_describe(const void *result, struct report *r)
{
    const struct doctor_rows *rows = result;

    for (size_t i = 0; i < rows->n; i++)
        report_line(r, "  %-11s %-8s %s", rows->at[i].what, rows->at[i].state, rows->at[i].text);
}

static int gpu_doctor_run(struct session *s, const void *args)
{
    static const enum driver_id tools[] = {DRIVER_CUDA,     DRIVER_CUPTI, DRIVER_NCU,
                                           DRIVER_NSYS,     DRIVER_NVML,  DRIVER_NVDISASM,
                                           DRIVER_CUOBJDUMP};
    struct doctor_rows rows = {0};
    struct nvml nvml;

    (void)args;
    nvml_open(&nvml, &s->arena, NULL);
    add_gpus(&rows, s, &nvml);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        add_back_end(&rows, tools[i], &s->arena);
    const char *library = workload_library(&s->arena);
    doctor_add(&rows, "injection", library != NULL ? "found" : "missing",
               library != NULL
                   ? library
                   : "libstrata-inject.so not found next to strata; set STRATA_INJECT_PATH");
    add_permission(&rows, &s->arena);
    add_clocks(&rows, &nvml, s);
    nvml_close(&nvml);
    session_give(s, &(struct answer){.schema = &doctor_schema,
                                     .result = &rows,
                                     .describe = gpu_doctor_describe});
    vec_free(&rows);
    return CODE_DONE;
}

const struct command command_gpu_doctor = {
    .name = "doctor",
    .group = GROUP_RECORD,
    .summary = "check GPU profiling support on this machine",
    .usage = "[OPTIONS]",
    .details = "Lists GPUs, driver, CUPTI, ncu, nsys, NVML, nvdisasm, cuobjdump, the injection "
               "library, the permission for hardware counters and whether clocks can be locked. "
               "Each missing part is listed with its fallback; the exit code is always 0.",
    .see = "docs/gpu-profile.md",
    .schemas = {&doctor_schema},
    COMMAND_PARTS_BARE,
    .run = gpu_doctor_run,
};
