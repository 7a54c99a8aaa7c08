/* The devices that tables of work name, and which of them is read. */
#include "input/db_devices.h"

#include "base/run/cancel.h"

static const char *const work_tables[] = {
    "TASK",
    "COMMUNICATION_OP",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
};

void db_devices_add(struct db_devices *list, int64_t device)
{
    size_t i = 0;

    while (i < list->n && list->at[i] < device)
        i++;
    if (device < 0 || device > INT32_MAX || list->n == DB_DEVICES ||
        (i < list->n && list->at[i] == device))
        return;
    memmove(&list->at[i + 1], &list->at[i], (list->n - i) * sizeof(list->at[0]));
    list->at[i] = device;
    list->n++;
}

void db_devices_find(struct db *db, struct db_devices *out)
{
    static const char *const columns[] = {"deviceId"};
    struct db_rows rows;

    *out = (struct db_devices){.n = 0};
    for (size_t i = 0; i < ARRAY_LEN(work_tables); i++) {
        int64_t device, last = -1;
        if (!db_rows_open(&rows, db, work_tables[i], columns, ARRAY_LEN(columns)))
            continue;
        while (db_rows_next(&rows))
            if (db_i64(&rows, 0, &device) && device != last)
                db_devices_add(out, last = device);
    }
}

size_t db_devices_ask(const struct input_file *in, int64_t *list, size_t most)
{
    struct db_devices found;
    struct db db;

    if (db_open(&db, in->path, in->text, in->diag) != ST_OK)
        return 0;
    db_devices_find(&db, &found);
    db_close(&db);
    size_t n = cancelled() ? 0 : found.n < most ? found.n : most;
    memcpy(list, found.at, sizeof(*list) * n);
    return n;
}

int64_t db_devices_choose(const struct db_devices *list, const struct input_file *in,
                          const char *code)
{
    const struct input_options *options = in->options;

    if (options != NULL && options->device >= 0 && options->device <= INT32_MAX)
        return options->device;
    if (list->n > 1)
        diag_add(in->diag, SEV_LOSS, code, (struct where){.path = in->path},
                 "%zu devices in one file; reading device %lld only", list->n,
                 (long long)list->at[0]);
    return list->n > 0 ? list->at[0] : -1;
}
