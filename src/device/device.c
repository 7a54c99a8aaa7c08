/*
 * device: the table of chips, finding one in it, and a row as a record.
 */
#include "device/device.h"

#include "base/tables/ranked.h"
#include "base/text/char.h"

#define UNSURE(peak) (UINT32_C(1) << (peak))
#define UNSURE_ALL   (UNSURE(PEAK_COUNT) - 1)

static const struct device rows[] = {
#define DEVICE(...) {__VA_ARGS__},
#include "device/devices.def"
#undef DEVICE
};

const struct device_table device_builtin = {rows, ARRAY_LEN(rows)};

#define RATE(cc_, family_, fp64, fp32, tf32, bf16, fp16_acc16, fp8, fp8_acc16, int8, mma_sync)     \
    {                                                                                              \
        .cc = (cc_), .family = (family_), .bf16_mma_sync = (mma_sync), .ops = {                    \
            [PEAK_FP64_TENSOR] = (fp64),                                                           \
            [PEAK_FP32] = (fp32),                                                                  \
            [PEAK_TF32] = (tf32),                                                                  \
            [PEAK_BF16] = (bf16),                                                                  \
            [PEAK_FP16] = (bf16),                                                                  \
            [PEAK_FP16_ACC16] = (fp16_acc16),                                                      \
            [PEAK_FP8] = (fp8),                                                                    \
            [PEAK_FP8_ACC16] = (fp8_acc16),                                                        \
            [PEAK_INT8] = (int8),                                                                  \
        }                                                                                          \
    }

/* fp8 and int8 of GeForce parts: the first figure is with fp32 accumulation. 4096 of cc 9.0 needs
 * wgmma; mma.sync keeps the same pipe busy at two thirds of it. */
const struct device_rate device_rates[] = {
    RATE("7.0", NULL, 0, 128, 0, 0, 0, 0, 0, 0, 0),
    RATE("7.5", "GeForce", 0, 128, 0, 0, 1024, 0, 0, 2048, 0),
    RATE("7.5", NULL, 0, 128, 0, 0, 0, 0, 0, 2048, 0),
    RATE("8.6", "GeForce", 0, 256, 256, 512, 1024, 0, 0, 2048, 0),
    RATE("8.6", NULL, 0, 256, 512, 1024, 0, 0, 0, 2048, 0),
    RATE("8.0", NULL, 128, 128, 1024, 2048, 0, 0, 0, 4096, 0),
    RATE("8.9", "GeForce", 0, 256, 256, 512, 1024, 1024, 2048, 2048, 0),
    RATE("8.9", NULL, 0, 256, 512, 1024, 0, 2048, 0, 2048, 0),
    RATE("9.0", NULL, 256, 256, 2048, 4096, 0, 8192, 0, 8192, 8192.0 / 3),
    RATE("10.0", NULL, 0, 256, 4096, 8192, 0, 16384, 0, 16384, 0),
    RATE("12.0", "GeForce", 0, 256, 256, 512, 1024, 1024, 2048, 2048, 0),
};

const size_t device_rate_count = ARRAY_LEN(device_rates);

ENUM_NAMES(peak_name, enum peak, "fp64", "fp64_tensor", "fp32", "tf32", "bf16", "fp16",
           "fp16_acc16", "fp8", "fp8_acc16", "int8", "fp4", "vector_fp16", "vector_fp32")

bool peak_of_dtype(enum dtype type, enum peak *out)
{
    static const struct {
        enum dtype type;
        enum peak peak;
    } named[] = {
        {DTYPE_BF16, PEAK_BF16},  {DTYPE_F16, PEAK_FP16}, {DTYPE_F32, PEAK_FP32},
        {DTYPE_TF32, PEAK_TF32},  {DTYPE_F64, PEAK_FP64}, {DTYPE_F8E4M3, PEAK_FP8},
        {DTYPE_F8E5M2, PEAK_FP8}, {DTYPE_HIF8, PEAK_FP8}, {DTYPE_F4E2M1, PEAK_FP4},
        {DTYPE_F4E1M2, PEAK_FP4}, {DTYPE_I8, PEAK_INT8},  {DTYPE_U8, PEAK_INT8},
    };

    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        if (named[i].type == type) {
            *out = named[i].peak;
            return true;
        }
    return false;
}

static bool has_peak(const struct device *d, enum peak peak)
{
    return d == NULL || d->tflops[peak] > 0;
}

enum peak device_product_peak(const struct device *d, enum dtype type)
{
    enum peak own = PEAK_TF32;

    peak_of_dtype(type, &own);
    switch (own) {
    case PEAK_BF16:
        return !has_peak(d, own) && has_peak(d, PEAK_FP16) ? PEAK_FP16 : own;
    case PEAK_FP16:
        return !has_peak(d, own) && has_peak(d, PEAK_BF16) ? PEAK_BF16 : own;
    case PEAK_FP64:
        return has_peak(d, PEAK_FP64_TENSOR) ? PEAK_FP64_TENSOR : own;
    case PEAK_FP8:
    case PEAK_FP4:
    case PEAK_INT8:
        return own;
    default:
        return has_peak(d, PEAK_TF32) ? PEAK_TF32 : PEAK_FP32;
    }
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

/* Whether a name goes on behind the row's in a way that means another part: "A100" is no "A10",
 * and a part for laptops has other clocks. */
static bool is_other_part(const struct device *d, struct str name)
{
    size_t at = 0;

    if (strcmp(d->vendor, "Ascend") == 0)
        return false;
    for (struct str want = str_of(d->name); next_char(&want) >= 0;) {
        struct str rest = str_part(name, at, name.n);
        next_char(&rest);
        at = name.n - rest.n;
    }
    struct str rest = str_part(name, at, name.n);
    bool goes_on =
        at > 0 && rest.n > 0 && char_is_digit(name.at[at - 1]) && char_is_digit(rest.at[0]);
    return goes_on || (str_contains_nocase(rest, S("laptop")) &&
                       !str_contains_nocase(str_of(d->name), S("laptop")));
}

/* Drivers put these in front: "NVIDIA GeForce RTX 4090", "AMD Instinct MI300X", "Ascend910B3". */
static struct str without_vendor(struct str name)
{
    static const struct str words[] = {S_INIT("nvidia"),  S_INIT("geforce"), S_INIT("tesla"),
                                       S_INIT("huawei"),  S_INIT("ascend"),  S_INIT("amd"),
                                       S_INIT("instinct")};

    name = str_trim(name);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts_nocase(name, words[i]))
            name = str_trim(str_part(name, words[i].n, name.n));
    return name;
}

/* Names of boards that do not begin as the driver's names do. */
static struct str without_alias(struct str name)
{
    static const struct {
        struct str alias, name;
    } aliases[] = {{S_INIT("H100 SXM"), S_INIT("H100 80GB HBM3")},
                   {S_INIT("H100 80GB SXM"), S_INIT("H100 80GB HBM3")},
                   {S_INIT("A100 SXM"), S_INIT("A100-SXM4-80GB")},
                   {S_INIT("A100 PCIe"), S_INIT("A100 80GB PCIe")}};

    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (prefix_length(name, aliases[i].alias) > 0 &&
            prefix_length(name, S("A100 PCIE 40GB")) < 0 && prefix_length(name, S("A100 SXM4")) < 0)
            return aliases[i].name;
    return name;
}

const struct device *device_find(const struct device_table *t, struct str name)
{
    const struct device *best = NULL;
    int best_length = 0;

    name = without_alias(without_vendor(name));
    for (size_t i = 0; i < t->n; i++) {
        int length = prefix_length(name, str_of(t->at[i].name));
        if (length > best_length && !is_other_part(&t->at[i], name)) {
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

double device_bus_gbps(const struct device *d)
{
    static const struct {
        const char *cc;
        int generation;
    } of[] = {{"12", 5}, {"10", 5}, {"9", 5}, {"8", 4}, {"7", 3}};
    /* What pinned copies reach over 16 lanes: 54 measured over generation 5, halved each back. */
    static const double reached[] = {[3] = 13.5, [4] = 27, [5] = 54};

    for (size_t i = 0; d != NULL && d->cc != NULL && i < ARRAY_LEN(of); i++)
        if (str_starts(str_of(d->cc), str_of(of[i].cc)) && d->cc[strlen(of[i].cc)] == '.')
            return reached[of[i].generation];
    return d != NULL && strcmp(d->vendor, "AMD") == 0 ? reached[4] : 0;
}

/* The middle clock of the table's parts of that compute capability; 0 when it has none. */
static double usual_clock(struct str cc)
{
    double clocks[ARRAY_LEN(rows)];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].cc != NULL && str_equal(str_of(rows[i].cc), cc) && rows[i].clock_mhz > 0)
            clocks[n++] = rows[i].clock_mhz;
    ranked_sort(clocks, n);
    return n > 0 ? clocks[n / 2] : 0;
}

/* A part without a name: the one of that vendor with as many cores and as much memory. */
static const struct device *find_by_size(const struct device_traits *t)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double gb = rows[i].memory_gb, off = t->memory_bytes - gb * 1024 * 1024 * 1024;
        if (strcmp(rows[i].vendor, "AMD") == 0 && rows[i].cores > 0 &&
            (double)rows[i].cores == t->cores && off < gb * 5e7 && off > gb * -5e7)
            return &rows[i];
    }
    return NULL;
}

const struct device *device_of_traits(const struct device_traits *t, struct arena *arena)
{
    const struct device *known = device_find(&device_builtin, t->name);

    if (known != NULL || t->cores <= 0)
        return known;
    if (t->name.n == 0 || str_starts_nocase(t->name, S("AMD"))) /* whose numbers mean other parts */
        return find_by_size(t);
    const struct device_rate *rate = NULL;
    bool is_geforce = str_contains_nocase(t->name, S("GeForce"));
    for (size_t i = 0; i < device_rate_count; i++)
        if (str_equal(t->cc, str_of(device_rates[i].cc)) &&
            (rate == NULL || (device_rates[i].family != NULL) == is_geforce))
            rate = &device_rates[i];
    double clock = t->clock_mhz > 0 ? t->clock_mhz : usual_clock(t->cc);
    if (rate == NULL || clock <= 0)
        return NULL;
    struct device *d = ARENA_NEW(arena, struct device);
    *d = (struct device){.name = arena_cstr(arena, t->name),
                         .vendor = "NVIDIA",
                         .cc = arena_cstr(arena, t->cc),
                         .cores = (uint32_t)t->cores,
                         .clock_mhz = (uint32_t)clock,
                         .gbps = t->gbps > 0 ? t->gbps : 0,
                         .source = "the recording: multiprocessors, clock and compute capability",
                         .unsure = UNSURE_ALL};
    for (int p = 0; p < PEAK_COUNT; p++)
        d->tflops[p] = rate->ops[p] * t->cores * clock * 1e-6;
    /* Before bf16 half precision alone has tensor cores. */
    bool is_half = str_equal(t->cc, S("7.0")) || str_equal(t->cc, S("7.5"));
    if (is_half)
        d->tflops[PEAK_FP16] = (is_geforce ? 512 : 1024) * t->cores * clock * 1e-6;
    return d;
}

const char *device_full_name(const struct device *d, struct arena *arena)
{
    bool is_ascend = strcmp(d->vendor, "Ascend") == 0;

    return is_ascend ? arena_printf(arena, "Ascend %s", d->name) : d->name;
}

static struct field_value full_name(const void *record, const struct record_env *env)
{
    return value_text(str_of(device_full_name(record, env->arena)));
}

static struct field_items ridges(const void *record, const struct record_env *env)
{
    double *list = ARENA_ARRAY(env->arena, double, PEAK_COUNT);

    for (int p = 0; p < PEAK_COUNT; p++)
        list[p] = device_ridge(record, (enum peak)p);
    return (struct field_items){list, PEAK_COUNT};
}

static struct field_items per_cycle(const void *record, const struct record_env *env)
{
    const struct device_rate *rate = device_rate_of(record);

    (void)env;
    return (struct field_items){rate != NULL ? rate->ops : NULL, rate != NULL ? PEAK_COUNT : 0};
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

/* An object with a number for each peak that is known. */
#define BY_PEAK(key_, items_)                                                                      \
    {                                                                                              \
        .key = (key_), .type = FIELD_F64, .shape = SHAPE_NAMED, .items = (items_),                 \
        .name = peak_name, .count = PEAK_COUNT, .stride = sizeof(double), PUBLISHED                \
    }

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
    FIELD_BY_ENUM(struct device, tflops, "peak_tops", peak_name, PUBLISHED),
    BY_PEAK("ridge_flop_per_byte", ridges),
    BY_PEAK("ops_per_cycle_per_core", per_cycle),
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
