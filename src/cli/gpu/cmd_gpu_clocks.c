/*
 * strata gpu clocks: what the clocks of a GPU do; locking them and giving them back.
 */
#include "cli/session.h"
#include "driver/clocks.h"

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
    bool is_status, is_locked;
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
    STATUS(reason_names, "event_reasons"),
    STATUS(temperature, "temp_c"),
    STATUS(power_mw, "power_w", .scale = 1000),
    STATUS(limit_mw, "power_limit_w", .scale = 1000),
    FIELD_CALC(FIELD_U64, "restored", restored_of, .is_optional = true),
};

static const struct schema clocks_schema = {
    .name = "strata.gpu-clocks/1",
    .title = "clocks of a GPU, or the number of GPUs restored",
    .record = &(const struct record)RECORD(struct reading, reading_fields),
};

static void print_status(struct session *s, const struct card *c)
{
    char reasons[NVML_REASONS];
    struct reading r = {.is_status = true, .name = c->name, .uuid = c->uuid};

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
    if (s->common.json) {
        session_document(s, &clocks_schema, "measured", &r);
        return;
    }
    out_printf(&s->out, "%s  %s\n", c->name, c->uuid);
    out_printf(&s->out, "  SM clock      %u of %u MHz%s\n", r.sm, r.sm_max,
               r.is_locked ? ", locked" : "");
    out_printf(&s->out, "  memory clock  %u of %u MHz\n", r.memory, r.memory_max);
    out_printf(&s->out, "  throttled by  %s\n", reasons);
    out_printf(&s->out, "  temperature   %u C\n", r.temperature);
    out_printf(&s->out, "  power         %.1f of %.1f W\n", r.power_mw / 1000.0,
               r.limit_mw / 1000.0);
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
    if (s->common.json) {
        print_status(s, card);
        return CODE_DONE;
    }
    out_printf(&s->out, "%s: SM clock locked at %u MHz; undo with: strata gpu clocks restore\n",
               card->name, clocks.target_mhz);
    session_wrote(s, clocks.journal);
    return CODE_DONE;
}

static int restore(struct session *s, const struct args *args, struct card *card)
{
    size_t count = 0;
    enum status st = clocks_restore(&card->nvml, args->all, &count, &s->arena, &s->diag);

    bool is_told = st == ST_OK && !s->common.json && !s->common.quiet;
    if (is_told && count > 0)
        out_printf(&s->out, "clocks of %zu GPU%s reset\n", count, count == 1 ? "" : "s");
    else if (is_told)
        out_printf(&s->out, "nothing to restore: no journal in %s\n", clocks_folder(&s->arena));
    if (st == ST_OK && s->common.json)
        session_document(s, &clocks_schema, "measured", &(struct reading){.restored = count});
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
            print_status(s, &card);
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
