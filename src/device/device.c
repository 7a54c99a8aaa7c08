/*
 * device: the table of chips, finding one in it, and a row as a record.
 */
#include "device/device.h"

#include "base/char.h"

#define UNSURE(peak) (UINT32_C(1) << (peak))
#define UNSURE_ALL   (UNSURE(PEAK_COUNT) - 1)

static const struct device rows[] = {
#define DEVICE(...) {__VA_ARGS__},
#include "device/devices.def"
#undef DEVICE
};

const struct device_table device_builtin = {rows, ARRAY_LEN(rows)};

/* fp8 and int8 of GeForce parts: the first figure is with fp32 accumulation. */
const struct device_rate device_rates[] = {
    {.cc = "8.0",
     .ops = {[PEAK_BF16] = 2048,
             [PEAK_FP16] = 2048,
             [PEAK_TF32] = 1024,
             [PEAK_INT8] = 4096,
             [PEAK_FP64_TENSOR] = 128,
             [PEAK_FP32] = 128}},
    {.cc = "8.9",
     .family = "GeForce",
     .ops = {[PEAK_BF16] = 512,
             [PEAK_FP16] = 512,
             [PEAK_FP16_ACC16] = 1024,
             [PEAK_TF32] = 256,
             [PEAK_FP8] = 1024,
             [PEAK_FP8_ACC16] = 2048,
             [PEAK_INT8] = 2048,
             [PEAK_FP32] = 256}},
    {.cc = "8.9",
     .ops = {[PEAK_BF16] = 1024,
             [PEAK_FP16] = 1024,
             [PEAK_TF32] = 512,
             [PEAK_FP8] = 2048,
             [PEAK_INT8] = 2048,
             [PEAK_FP32] = 256}},
    /* 4096 needs wgmma; mma.sync keeps the same pipe busy at two thirds of it. */
    {.cc = "9.0",
     .ops = {[PEAK_BF16] = 4096,
             [PEAK_FP16] = 4096,
             [PEAK_TF32] = 2048,
             [PEAK_FP8] = 8192,
             [PEAK_INT8] = 8192,
             [PEAK_FP64_TENSOR] = 256,
             [PEAK_FP32] = 256},
     .bf16_mma_sync = 8192.0 / 3},
    {.cc = "10.0",
     .ops = {[PEAK_BF16] = 8192,
             [PEAK_FP16] = 8192,
             [PEAK_TF32] = 4096,
             [PEAK_FP8] = 16384,
             [PEAK_INT8] = 16384,
             [PEAK_FP32] = 256}},
    {.cc = "12.0",
     .family = "GeForce",
     .ops = {[PEAK_BF16] = 512,
             [PEAK_FP16] = 512,
             [PEAK_FP16_ACC16] = 1024,
             [PEAK_TF32] = 256,
             [PEAK_FP8] = 1024,
             [PEAK_FP8_ACC16] = 2048,
             [PEAK_INT8] = 2048,
             [PEAK_FP32] = 256}},
};

const size_t device_rate_count = ARRAY_LEN(device_rates);

const char *peak_name(enum peak peak)
{
    static const char *const names[PEAK_COUNT] = {
        [PEAK_FP64] = "fp64",
        [PEAK_FP64_TENSOR] = "fp64_tensor",
        [PEAK_FP32] = "fp32",
        [PEAK_TF32] = "tf32",
        [PEAK_BF16] = "bf16",
        [PEAK_FP16] = "fp16",
        [PEAK_FP16_ACC16] = "fp16_acc16",
        [PEAK_FP8] = "fp8",
        [PEAK_FP8_ACC16] = "fp8_acc16",
        [PEAK_INT8] = "int8",
        [PEAK_FP4] = "fp4",
        [PEAK_VECTOR_FP16] = "vector_fp16",
        [PEAK_VECTOR_FP32] = "vector_fp32",
    };

    return names[peak];
}

const char *peak_unit(enum peak peak)
{
    return peak == PEAK_INT8 ? "TOP/s" : "TFLOP/s";
}

/* The next character that counts, folded to lower case; -1 at the end. */
static int next_char(struct str *s)
{
    while (s->n > 0) {
        char c = s->at[0];
        *s = str_part(*s, 1, s->n);
        if (c == ' ' || c == '-' || c == '_')
            continue;
        return (unsigned char)char_lower(c);
    }
    return -1;
}

/* How many characters that count `prefix` has, when `s` starts with it; -1 when it does not. */
static int prefix_length(struct str s, struct str prefix)
{
    int length = 0;

    for (;;) {
        int want = next_char(&prefix);
        if (want < 0)
            return length;
        if (next_char(&s) != want)
            return -1;
        length++;
    }
}

/* Drivers put these in front: "NVIDIA GeForce RTX 4090", "Ascend910B3". */
static struct str without_vendor(struct str name)
{
    static const struct str words[] = {S_INIT("nvidia"), S_INIT("geforce"), S_INIT("tesla"),
                                       S_INIT("huawei"), S_INIT("ascend")};

    name = str_trim(name);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts_nocase(name, words[i]))
            name = str_trim(str_part(name, words[i].n, name.n));
    return name;
}

const struct device *device_find(const struct device_table *t, struct str name)
{
    const struct device *best = NULL;
    int best_length = 0;

    name = without_vendor(name);
    for (size_t i = 0; i < t->n; i++) {
        int length = prefix_length(name, str_of(t->at[i].name));
        if (length > best_length) {
            best = &t->at[i];
            best_length = length;
        }
    }
    return best;
}

bool device_has_prefix(const struct device *d, struct str query)
{
    struct str rest = without_vendor(query);

    if (rest.n == 0) /* only the vendor was named */
        return prefix_length(str_of(d->vendor), str_trim(query)) > 0;
    return prefix_length(str_of(d->name), rest) > 0;
}

double device_ridge(const struct device *d, enum peak peak)
{
    return d->gbps > 0 ? 1000 * d->tflops[peak] / d->gbps : 0;
}

const struct device_rate *device_rate_of(const struct device *d)
{
    bool is_geforce = str_starts(str_of(d->name), S("RTX "));

    for (size_t i = 0; i < device_rate_count && d->cc != NULL; i++) {
        const struct device_rate *r = &device_rates[i];
        if (strcmp(r->cc, d->cc) == 0 && (r->family != NULL) == is_geforce)
            return r;
    }
    return NULL;
}

const char *device_full_name(const struct device *d, struct arena *arena)
{
    bool is_ascend = strcmp(d->vendor, "Ascend") == 0;

    return is_ascend ? arena_format(arena, "Ascend %s", d->name).at : d->name;
}

static struct field_value full_name(const void *record, const struct record_env *env)
{
    return value_text(str_of(device_full_name(record, env->arena)));
}

struct named_rate {
    const char *name;
    double value;
};

/* A value by peak; those that are not known leave no trace. */
static struct field_items rates(const struct record_env *env, const double values[PEAK_COUNT])
{
    struct named_rate *list = ARENA_ARRAY(env->arena, struct named_rate, PEAK_COUNT);

    for (int p = 0; p < PEAK_COUNT; p++)
        list[p] = (struct named_rate){peak_name((enum peak)p), values[p]};
    return (struct field_items){list, PEAK_COUNT};
}

static struct field_items peaks(const void *record, const struct record_env *env)
{
    return rates(env, ((const struct device *)record)->tflops);
}

static struct field_items ridges(const void *record, const struct record_env *env)
{
    double values[PEAK_COUNT];

    for (int p = 0; p < PEAK_COUNT; p++)
        values[p] = device_ridge(record, (enum peak)p);
    return rates(env, values);
}

static struct field_items per_cycle(const void *record, const struct record_env *env)
{
    const struct device_rate *rate = device_rate_of(record);

    return rates(env, rate != NULL ? rate->ops : (const double[PEAK_COUNT]){0});
}

static struct field_items unconfirmed(const void *record, const struct record_env *env)
{
    const struct device *d = record;
    const char **names = ARENA_ARRAY(env->arena, const char *, PEAK_COUNT);
    size_t n = 0;

    for (int p = 0; p < PEAK_COUNT; p++)
        if ((d->unsure >> p & 1) != 0 && d->tflops[p] > 0)
            names[n++] = peak_name((enum peak)p);
    return (struct field_items){names, n};
}

#define PUBLISHED .missing = MISSING_NOT_POSITIVE, .is_optional = true

static const struct field rate_fields[] = {
    FIELD(struct named_rate, name, "name"),
    FIELD(struct named_rate, value, "value", PUBLISHED),
};
static const struct record rate_record = RECORD(struct named_rate, rate_fields);

static const struct field device_fields[] = {
    FIELD_CALC(FIELD_STR, "name", full_name),
    FIELD(struct device, vendor, "vendor"),
    FIELD(struct device, cc, "cc", .is_optional = true),
    FIELD(struct device, cores, "cores", PUBLISHED),
    FIELD(struct device, clock_mhz, "clock_mhz", PUBLISHED),
    FIELD(struct device, gbps, "bandwidth_gbps", PUBLISHED),
    FIELD(struct device, gbps_quoted, "bandwidth_quoted_gbps", PUBLISHED),
    FIELD(struct device, other_gbps, "bandwidth_cj_gbps", PUBLISHED),
    FIELD(struct device, l2_mb, "l2_mb", PUBLISHED),
    FIELD(struct device, l2_gbps, "l2_gbps", PUBLISHED),
    FIELD(struct device, other_l2_gbps, "l2_cj_gbps", PUBLISHED),
    FIELD(struct device, memory_gb, "memory_gb", PUBLISHED),
    FIELD_KEYED_MADE("peak_tops", peaks, &rate_record),
    FIELD_KEYED_MADE("ridge_flop_per_byte", ridges, &rate_record),
    FIELD_KEYED_MADE("ops_per_cycle_per_core", per_cycle, &rate_record),
    FIELD_MADE(FIELD_CSTR, "unconfirmed", unconfirmed, NULL),
    FIELD(struct device, source, "source"),
};
const struct record device_row_record = RECORD(struct device, device_fields);

static const struct field list_fields[] = {
    FIELD_POINTERS(struct device_list, at, n, "devices", &device_row_record),
};
static const struct record list_record = RECORD(struct device_list, list_fields);

const struct schema devices_schema = {
    .name = "strata.devices/1",
    .title = "what chips can do: peaks, bandwidth, ridge points",
    .record = &list_record,
};
