/*
 * Whose times a database holds. See db_device.h.
 */
#include "opdb/rows/db_device.h"

#include <limits.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/yaml.h"
#include "base/text/char.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/place.h"
#include "opdb/rows/table.h"

#define MARK ".strata.device"

/* Boards and dies as databases of the public tool name them, with that tool's figures. */
#define BOARD(name_, fp32, bf16, fp16, int8, gbps_)                                                \
    {                                                                                              \
        .name = (name_), .vendor = "Ascend",                                                       \
        .tflops = {[PEAK_FP32] = (fp32),                                                           \
                   [PEAK_BF16] = (bf16),                                                           \
                   [PEAK_FP16] = (fp16),                                                           \
                   [PEAK_INT8] = (int8)},                                                          \
        .gbps = (gbps_), .source = "device profiles of a public performance model",                \
    }
static const struct device boards[] = {
    BOARD("ATLAS_800_A2_376T_64G", 99.5, 353.9, 376, 752, 1759.2),
    BOARD("ATLAS_800_A2_313T_64G", 83, 294.9, 313, 626, 1759.2),
    BOARD("ATLAS_800_A2_280T_64G_PCIE", 75, 245.8, 280, 560, 1759.2),
    BOARD("ATLAS_800_A2_280T_64G", 75, 245.8, 280, 560, 1759.2),
    BOARD("ATLAS_800_A2_280T_32G_PCIE", 75, 245.8, 280, 560, 879.6),
    BOARD("ATLAS_800_A3_752T_128G_DIE", 99.5, 353.9, 376, 752, 1759.2),
    BOARD("ATLAS_800_A3_560T_128G_DIE", 75, 245.8, 280, 560, 1759.2),
};
#undef BOARD

/* The chips whose drivers answer on them. */
static const struct {
    struct str part, chip;
} board_chips[] = {{S_INIT("_A2_376T_"), S_INIT("910B2")},
                   {S_INIT("_A2_313T_"), S_INIT("910B3")},
                   {S_INIT("_A2_280T_"), S_INIT("910B4")},
                   {S_INIT("_A3_752T_"), S_INIT("910_93")},
                   {S_INIT("_A3_560T_"), S_INIT("910_93")}};

const char *db_kind_backend(enum db_kind kind)
{
    static const char *const names[] = {NULL, "cpu", "cuda", "ascend"};

    return names[kind];
}

static const struct device *board_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(boards); i++)
        if (str_starts(name, str_of(boards[i].name)))
            return &boards[i];
    return NULL;
}

/* The chip that a name begins with, up to its end or something that is no letter: "h200-2" is an
 * H200, "t4x" is none. */
static const struct device *chip_of(struct str name)
{
    const struct device *chip = device_find(&device_builtin, name);

    for (size_t i = 1; i <= name.n && chip != NULL; i++) {
        struct str begin = str_part(name, 0, i);
        if ((i == name.n || !char_is_alnum(name.at[i])) && device_has_prefix(chip, begin) &&
            device_find(&device_builtin, begin) == chip)
            return chip;
    }
    return NULL;
}

/* The letters and digits that a name begins with. */
static struct str first_word(struct str name)
{
    size_t n = 0;

    while (n < name.n && char_is_alnum(name.at[n]))
        n++;
    return str_part(name, 0, n);
}

/* "H100_SXM" and "A100": the first part of the table whose first word that is, which is the fastest
 * of them. */
static const struct device *family_of_chip(struct str name)
{
    bool has_digit = false;

    if (str_starts_nocase(name, S("NVIDIA")))
        name = str_part(name, name.n > 6 ? 7 : 6, name.n);
    struct str word = first_word(name);

    for (size_t i = 0; i < word.n; i++)
        has_digit = has_digit || char_is_digit(word.at[i]);
    for (size_t i = 0; i < device_builtin.n && has_digit; i++)
        if (str_equal_nocase(word, first_word(str_of(device_builtin.at[i].name))))
            return &device_builtin.at[i];
    return NULL;
}

const struct device *db_device_chip(struct str name)
{
    const struct device *board = board_of(name), *chip = chip_of(name);

    return board != NULL ? board : chip != NULL ? chip : family_of_chip(name);
}

static enum db_kind db_kind_of(struct str name)
{
    const struct device *chip = db_device_chip(name);

    if (str_equal(name, S("HOST_CPU")))
        return DB_KIND_CPU;
    if (str_starts(name, S("NVIDIA_")) || (chip != NULL && strcmp(chip->vendor, "NVIDIA") == 0))
        return DB_KIND_CUDA;
    if (str_starts(name, S("ATLAS_")) || str_equal(name, S("TEST_DEVICE")) ||
        (chip != NULL && strcmp(chip->vendor, "Ascend") == 0))
        return DB_KIND_ASCEND;
    return DB_KIND_UNKNOWN;
}

/* The last part of a path that names a device. */
static struct str name_in_path(struct str rest)
{
    struct str found = S(""), part;

    while (str_split(&rest, '/', &part) && part.at != NULL) {
        if (part.n > 0 && (db_kind_of(part) != DB_KIND_UNKNOWN || db_device_chip(part) != NULL))
            found = part;
        if (rest.at == NULL)
            break;
    }
    return found;
}

const struct device *db_device_of_path(const char *dir)
{
    return db_device_chip(name_in_path(str_of(dir)));
}

/* ---- what a folder says ---- */

static struct str path_device(struct arena *arena, const char *dir)
{
    char *whole = realpath(dir, NULL); /* of "." the name is above */
    struct str found = arena_str(arena, name_in_path(str_of(whole != NULL ? whole : dir)));

    free(whole);
    return found;
}

static struct str mapped_device(struct arena *arena, const char *dir)
{
    const char *path = fs_join(arena, dir, "op_mapping.yaml");
    const struct tree *map = NULL;
    struct diag none;
    struct str name = S("");

    diag_init(&none);
    if (fs_exists(path) && yaml_read_file(arena, path, &map, &none) == ST_OK)
        name = tree_get_text(map, S("device"), S(""));
    diag_fini(&none);
    return db_kind_of(name) != DB_KIND_UNKNOWN ? name : S("");
}

/* "cpu<tab>name" of the file that measurements leave. */
static bool read_mark(struct arena *arena, const char *dir, enum db_kind *kind, struct str *name)
{
    const char *path = fs_join(arena, dir, MARK);
    struct mapfile map;
    struct str word, rest;

    if (!fs_exists(path) || mapfile_open(&map, path, NULL) != ST_OK)
        return false;
    rest = arena_str(arena, str_part(map.text, 0, 256));
    mapfile_close(&map);
    *kind = DB_KIND_UNKNOWN;
    if (!str_split(&rest, '\t', &word))
        return false;
    for (enum db_kind k = DB_KIND_CPU; k <= DB_KIND_ASCEND; k++)
        if (str_equal(word, str_of(db_kind_backend(k))))
            *kind = k;
    str_split(&rest, '\n', name);
    return *kind != DB_KIND_UNKNOWN;
}

static bool table_has_times(const char *path)
{
    struct op_table t;
    bool has = false;

    if (table_read(&t, path, NULL) == ST_OK) {
        const int columns[] = {table_column(&t, COL_AVERAGE), table_column(&t, COL_PROFILED),
                               table_column(&t, S("MicroBench Duration(us)")),
                               table_column(&t, COL_DURATION)};
        for (size_t row = 0; row < t.n_rows && !has; row++)
            for (size_t i = 0; i < ARRAY_LEN(columns); i++)
                has = has || cell_is_duration(table_cell(&t, row, columns[i]));
    }
    table_free(&t);
    return has;
}

static bool has_times(struct arena *arena, const char *dir)
{
    struct place_files files;

    if (!fs_is_dir(dir) || place_find(arena, dir, NULL, 0, &files, NULL) != ST_OK)
        return false;
    for (size_t i = 0; i < files.n; i++)
        if (table_has_times(files.at[i].path))
            return true;
    return false;
}

/* Two names of one device: of the same kind, and of the same chip where both tell. */
static bool is_same(struct str a, struct str b)
{
    const struct device *x = db_device_chip(a), *y = db_device_chip(b);

    return str_equal_nocase(a, b) ||
           (db_kind_of(a) == db_kind_of(b) && (x == NULL || y == NULL || x == y));
}

static enum status two_devices(const char *dir, const struct db_device *a, struct str name,
                               const char *source, struct diag *d)
{
    return diag_fail(d, ST_UNSUPPORTED, "perfdb.two-devices", (struct where){.path = dir},
                     "%s names the device %.*s, %s names %.*s", a->source, STR_ARGS(a->name),
                     source, STR_ARGS(name));
}

static bool agrees(const struct db_device *db, struct str chip_name);

/* The first place that names a device counts; the others must agree with it. */
enum status db_device_find(struct arena *arena, const char *dir, const char *told,
                           struct db_device *out, struct diag *d)
{
    const struct {
        struct str name;
        const char *source;
    } all[] = {{path_device(arena, dir), "the path"},
               {mapped_device(arena, dir), "op_mapping.yaml"},
               {str_of(told), "--device"}};
    enum db_kind kind;
    struct str name;

    *out = (struct db_device){.name = S(""), .has_times = has_times(arena, dir)};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i].name.n == 0)
            continue;
        if (out->source == NULL)
            *out = (struct db_device){db_kind_of(all[i].name), all[i].name, all[i].source, false,
                                      out->has_times};
        else if (!is_same(out->name, all[i].name))
            return two_devices(dir, out, all[i].name, all[i].source, d);
    }
    if (!read_mark(arena, dir, &kind, &name))
        return ST_OK;
    if (out->source != NULL && (kind != out->kind || !agrees(out, name)))
        return two_devices(dir, out, name, MARK, d);
    out->kind = kind;
    out->name = name;
    out->source = MARK;
    out->is_written = true;
    return ST_OK;
}

/* ---- who may write ---- */

/* Whether the name a driver gives is that of the database's device: the same text, the same chip,
 * or, where the chip of one is unknown, nothing against it. */
static bool agrees(const struct db_device *db, struct str name)
{
    const struct device *of_db = db_device_chip(db->name), *of_name = db_device_chip(name);

    if (db->is_written)
        return str_equal(db->name, name);
    for (size_t i = 0; i < ARRAY_LEN(board_chips); i++)
        if (str_contains(db->name, board_chips[i].part))
            return of_name == NULL || str_starts(str_of(of_name->name), board_chips[i].chip);
    return of_db == NULL || of_name == NULL || of_db == of_name;
}

/* "cpu (AMD EPYC 9654)". */
static const char *source_text(struct arena *arena, enum db_kind kind, struct str name)
{
    const char *what = db_kind_backend(kind);

    return name.n > 0 ? arena_printf(arena, "%.*s (%s)", STR_ARGS(name),
                                     what != NULL ? what : "unknown kind")
                      : what;
}

enum status db_device_admit(const char *dir, const struct db_device *db,
                            const struct db_source *from, struct diag *d)
{
    struct arena arena;

    if (db->kind == from->kind && (from->name.n == 0 || agrees(db, from->name))) {
        if (db->kind != DB_KIND_CPU || db->is_written || !db->has_times)
            return ST_OK;
        diag_fail(d, ST_UNSUPPORTED, "perfdb.other-device", (struct where){.path = dir},
                  "has times of an unnamed processor; they may be of another one");
        diag_hint(d, "try", "a new folder: --database-path DIR");
        return ST_UNSUPPORTED;
    }
    if (db->kind == DB_KIND_UNKNOWN && db->source == NULL) {
        if (!db->has_times)
            return ST_OK; /* the first times decide */
        diag_fail(d, ST_UNSUPPORTED, "perfdb.unnamed-device", (struct where){.path = dir},
                  "the database has times but does not name their device");
        diag_hint(d, "try", "--device NAME of the device they are of, such as NVIDIA_H200_141G");
        return ST_UNSUPPORTED;
    }
    arena_init(&arena);
    diag_fail(d, ST_UNSUPPORTED, "perfdb.other-device", (struct where){.path = dir},
              "the database is of %.*s (%s): times of %s do not belong into it", STR_ARGS(db->name),
              db->source, source_text(&arena, from->kind, from->name));
    diag_hint(d, "try", "another folder: --database-path DIR, or --device NAME");
    arena_free(&arena);
    return ST_UNSUPPORTED;
}

enum status db_device_write(const char *dir, const struct db_device *db,
                            const struct db_source *from, struct diag *d)
{
    struct arena arena;

    if (db->is_written || from->name.n == 0)
        return ST_OK;
    arena_init(&arena);
    enum status st = table_write_text(
        fs_join(&arena, dir, MARK),
        arena_format(&arena, "%s\t%.*s\n", db_kind_backend(from->kind), STR_ARGS(from->name)), d);
    arena_free(&arena);
    return st;
}
