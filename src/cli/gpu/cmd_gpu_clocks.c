/*
 * strata gpu clocks: what the clocks of a GPU do; locking them and giving them back.
 */
#include "cli/session.h"
#include "driver/clocks.h"
#include "report/report.h"

struct args {
    const char *device, *clock;
    bool all;
};

static const struct args defaults = {.clock = "base"};

static const struct opt options[] = {
    OPT_STRING(0, "device", "N|UUID", struct args, device,
               "GPU index or UUID (default: first GPU)"),
    OPT_STRING(0, "clock", "base|max|MHZ", struct args, clock, "SM clock for lock (default: base)"),
    OPT_FLAG(0, "all", struct args, all, "restore every GPU, even without a journal"),
};

static const char *const verbs[] = {"status", "lock", "restore", NULL};

static const struct example examples[] = {
    {"strata help gpu clocks", "this page"},
};

struct card {
    struct nvml nvml;
    struct nvml_gpu *gpu;
    char uuid[NVML_UUID], name[NVML_NAME];
};

/* NVML knows a GPU by its own number or its UUID; CUDA is not needed here. */
static enum status clocks_find(const struct args *args, struct card *card, struct diag *d)
{
    uint64_t number = 0;
    bool is_number = args->device == NULL || num_u64(str_of(args->device), &number);
    int result = is_number ? NVML_DO(&card->nvml, by_index, (unsigned)number, &card->gpu)
                           : NVML_DO(&card->nvml, by_uuid, args->device, &card->gpu);

    if (result != NVML_OK)
        return diag_fail(d, ST_NOT_FOUND, "gpu.no-device", (struct where){0}, "no GPU %s: %s",
                         args->device != NULL ? args->device : "0",
                         nvml_error(&card->nvml, result));
    NVML_DO(&card->nvml, uuid, card->gpu, card->uuid, sizeof(card->uuid));
    NVML_DO(&card->nvml, name, card->gpu, card->name, sizeof(card->name));
    return ST_OK;
}

/* What the clocks do, or how many GPUs were reset. */
struct reading {
    bool is_status, is_locked, is_lock;
    unsigned target;    /* MHz that they were just locked at */
    const char *folder; /* of journals, where GPUs are reset */
    const char *name, *uuid, *reason_names;
    unsigned sm, memory, sm_max, memory_max, temperature, power_mw, limit_mw;
    unsigned long long reasons;
    size_t restored;
};

static struct field_value restored_of(const void *record, const struct record_env *env)
{
    const struct reading *r = record;

    (void)env;
    return r->is_status ? value_none() : value_uint(r->restored);
}

static struct field_value journals_of(const void *record, const struct record_env *env)
{
    const struct reading *r = record;

    (void)env;
    return r->is_status ? value_none() : value_text(str_of(r->folder));
}

#define STATUS(member, key, ...)                                                                   \
    FIELD(struct reading, member, key, WHEN(struct reading, is_status), .is_optional = true,       \
          __VA_ARGS__)

static const struct field reading_fields[] = {
    STATUS(name, "name"),
    STATUS(uuid, "uuid"),
    STATUS(sm, "sm_mhz"),
    STATUS(sm_max, "sm_max_mhz"),
    STATUS(memory, "mem_mhz"),
    STATUS(memory_max, "mem_max_mhz"),
    STATUS(is_locked, "locked"),
    FIELD(struct reading, target, "target_mhz", WHEN(struct reading, is_lock), .is_optional = true,
          .about = "that they were locked at just now"),
    STATUS(reason_names, "event_reasons"),
    STATUS(temperature, "temp_c"),
    STATUS(power_mw, "power_w", .scale = 1000),
    STATUS(limit_mw, "power_limit_w", .scale = 1000),
    FIELD_CALC(FIELD_U64, "restored", restored_of, .is_optional = true),
    FIELD_CALC(FIELD_STR, "journals", journals_of, .is_optional = true, .about = "their folder"),
};

static const struct schema clocks_schema = {
    .name = "strata.gpu-clocks/1",
    .title = "clocks of a GPU, or the number of GPUs restored",
    .record = &(const struct record)RECORD(struct reading, reading_fields),
};

static void describe_restored(const struct reading *x, struct report *r)
{
    if (x->restored > 0)
        report_line(r, "clocks of %zu GPU%s reset", x->restored, x->restored == 1 ? "" : "s");
    else
        report_line(r, "nothing to restore: no journal in %s", x->folder);
}

static void clocks_describe(const void *result, struct report *r)
{
    const struct reading *x = result;

    if (!x->is_status) {
        describe_restored(x, r);
        return;
    }
    if (x->is_lock) {
        report_line(r, "%s: SM clock locked at %u MHz; undo with: strata gpu clocks restore",
                    x->name, x->target);
        return;
    }
    report_line(r, "%s  %s", x->name, x->uuid);
    report_line(r, "  SM clock      %u of %u MHz%s", x->sm, x->sm_max,
                x->is_locked ? ", locked" : "");
    report_line(r, "  memory clock  %u of %u MHz", x->memory, x->memory_max);
    report_line(r, "  throttled by  %s", x->reason_names);
    report_line(r, "  temperature   %u C", x->temperature);
    report_line(r, "  power         %.1f of %.1f W", x->power_mw / 1000.0, x->limit_mw / 1000.0);
}

static void clocks_give(struct session *s, const struct reading *reading)
{
    session_give(s, &(struct answer){.schema = &clocks_schema,
                                     .origin = "measured",
                                     .result = reading,
                                     .describe = clocks_describe});
}

/* `locked`: what the clocks were just locked at in MHz; 0: they were only read. */
static void give_status(struct session *s, const struct card *c, unsigned locked)
{
    char reasons[NVML_REASONS];
    struct reading r = {.is_status = true,
                        .is_lock = locked > 0,
                        .target = locked,
                        .name = c->name,
                        .uuid = c->uuid};

    NVML_DO(&c->nvml, clock, c->gpu, NVML_CLOCK_SM, &r.sm);
    NVML_DO(&c->nvml, clock, c->gpu, NVML_CLOCK_MEMORY, &r.memory);
    NVML_DO(&c->nvml, max_clock, c->gpu, NVML_CLOCK_SM, &r.sm_max);
    NVML_DO(&c->nvml, max_clock, c->gpu, NVML_CLOCK_MEMORY, &r.memory_max);
    NVML_DO(&c->nvml, temperature, c->gpu, 0, &r.temperature);
    NVML_DO(&c->nvml, power, c->gpu, &r.power_mw);
    NVML_DO(&c->nvml, power_limit, c->gpu, &r.limit_mw);
    NVML_DO(&c->nvml, reasons, c->gpu, &r.reasons);
    r.is_locked = (r.reasons & NVML_REASON_LOCKED) != 0;
    r.reason_names = nvml_reason_names(r.reasons, reasons);
    clocks_give(s, &r);
}

static int lock(struct session *s, const struct args *args, struct card *card)
{
    struct clock_want want;
    struct clock_lock clocks;

    if (!clock_want_parse(args->clock, &want) || want.policy == CLOCK_NONE)
        return session_usage(s, "clocks: --clock must be base, max or a number of MHz, not \"%s\"",
                             args->clock);
    TRY_CODE(session_code(
        clocks_lock(&clocks, &card->nvml, card->gpu, card->uuid, want, NULL, &s->arena, &s->diag)));
    session_wrote(s, clocks.journal);
    give_status(s, card, clocks.target_mhz);
    return CODE_DONE;
}

static int restore(struct session *s, const struct args *args, struct card *card)
{
    size_t count = 0;
    enum status st = clocks_restore(&card->nvml, args->all, &count, &s->arena, &s->diag);

    if (st == ST_OK)
        clocks_give(s, &(struct reading){.restored = count, .folder = clocks_folder(&s->arena)});
    return session_code(st);
}

static int clocks_run(struct session *s, const void *given)
{
    const struct args *args = given;
    const char *verb = s->operands.n > 0 ? s->operands.at[0] : "status";
    const char *why = NULL;
    struct card card = {0};

    if (nvml_open(&card.nvml, &s->arena, &why) != NVML_OK) {
        diag_fail(&s->diag, ST_TOOL, "gpu.no-nvml", (struct where){0}, "NVML is not available: %s",
                  why);
        diag_hint(&s->diag, "try", "strata gpu doctor");
        return CODE_TOOL;
    }
    int code;
    if (strcmp(verb, "restore") == 0) {
        code = restore(s, args, &card);
    } else {
        code = session_code(clocks_find(args, &card, &s->diag));
        if (code == CODE_DONE && strcmp(verb, "lock") == 0)
            code = lock(s, args, &card);
        else if (code == CODE_DONE)
            give_status(s, &card, 0);
    }
    nvml_close(&card.nvml);
    return code;
}

const struct command command_gpu_clocks = {
    .name = "clocks",
    .group = GROUP_RECORD,
    .summary = "show, lock or restore the clocks of a GPU",
    .usage = "[OPTIONS] [status|lock|restore]",
    .details = "status (the default) shows clocks, throttle reasons, temperature and power. lock "
               "pins the SM clock until restore; it needs root and affects the whole machine. The "
               "lock is recorded in a journal in ~/.local/state/strata. restore resets every GPU "
               "with a journal, including those left by a killed run; with --all, every GPU.\n"
               "\n"
               "By hand: nvidia-smi -i N -lgc MHZ,MHZ and nvidia-smi -i N -rgc (memory: -lmc, "
               "-rmc). A reset returns to the default of the card, so clocks that someone else has "
               "locked are left alone.",
    .see = "docs/gpu-profile.md",
    .operands = {.kind = OPERAND_CHOICE, .min = 0, .max = 1, .choices = verbs},
    .schemas = {&clocks_schema},
    COMMAND_PARTS,
    .run = clocks_run,
};
