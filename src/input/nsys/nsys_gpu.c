/*
 * GPUs of an Nsight Systems export. See nsys_gpu.h.
 */
#include "input/nsys/nsys_gpu.h"

#include "base/tables/db.h"

struct gpu_row {
    struct str name;
    struct nsys_gpu gpu;
};

#define GPU_COLUMN(member, name) DB_OR(struct gpu_row, gpu.member, name, 0)

static const struct db_column columns[] = {
    DB_COLUMN(struct gpu_row, name, "name"),
    GPU_COLUMN(sms, "smCount"),
    GPU_COLUMN(memory_bytes, "totalMemory"),
    GPU_COLUMN(l2_bytes, "l2CacheSize"),
    GPU_COLUMN(bytes_per_second, "memoryBandwidth"),
    GPU_COLUMN(clock_hz, "clockRate"),
    GPU_COLUMN(major, "computeMajor"),
    GPU_COLUMN(minor, "computeMinor"),
};

static bool is_export(const char *path)
{
    struct mapfile map;
    struct diag said;

    diag_init(&said);
    bool is_sqlite = mapfile_open(&map, path, &said) == ST_OK;
    if (is_sqlite) {
        is_sqlite = db_is_sqlite(map.text);
        mapfile_close(&map);
    }
    diag_fini(&said);
    return is_sqlite;
}

bool nsys_gpu_read(const char *path, struct str name, struct nsys_gpu *out)
{
    struct gpu_row row;
    struct db_rows rows;
    struct diag said;
    struct db db;
    bool is_found = false;

    if (!is_export(path))
        return false;
    diag_init(&said);
    if (db_open(&db, path, (struct str){0}, &said) == ST_OK) {
        DB_SCAN(&rows, &db, "TARGET_INFO_GPU", columns);
        while (db_read_row(&rows, &row))
            if (!is_found && (name.n == 0 || str_equal(row.name, name))) {
                *out = row.gpu;
                is_found = true;
            }
        db_close(&db);
    }
    diag_fini(&said);
    return is_found;
}
