/*
 * flow_devices: the table of devices, and its rows as JSON.
 */
#include "flow/flow_devices.h"

#include "base/fs.h"
#include "base/mapfile.h"
#include "device/device_file.h"
#include "flow/flow_config.h"

enum status flow_devices(struct arena *arena, struct device_table *table, const char **path,
                         size_t *rows, struct diag *d)
{
    const char *file = flow_config_path(arena, "devices.json");
    struct mapfile map;

    *table = device_builtin;
    *path = NULL;
    *rows = 0;
    if (file == NULL || !fs_exists(file))
        return ST_OK;
    TRY(mapfile_open(&map, file, d));
    enum status st = device_table_read(file, map.text, arena, table, rows, d);
    mapfile_close(&map);
    *path = file;
    return st;
}

const char *flow_device_name(const struct device *d, struct arena *arena)
{
    bool is_ascend = strcmp(d->vendor, "Ascend") == 0;

    return is_ascend ? arena_format(arena, "Ascend %s", d->name).at : d->name;
}

static struct field_value full_name(const void *record, const struct record_env *env)
{
    return value_text(str_of(flow_device_name(record, env->arena)));
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
static const struct record device_record = RECORD(struct device, device_fields);

static const struct field list_fields[] = {
    FIELD_POINTERS(struct device_list, at, n, "devices", &device_record),
};
static const struct record list_record = RECORD(struct device_list, list_fields);

const struct schema devices_schema = {
    .name = "strata.devices/1",
    .title = "what chips can do: peaks, bandwidth, ridge points",
    .record = &list_record,
};
