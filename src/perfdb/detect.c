#include "perfdb/detect.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/mapfile.h"
#include "perfdb/cell.h"

/* Reads a small file without complaints. */
static bool read_quietly(struct arena *arena, const char *path, struct str *out)
{
    struct mapfile map;
    struct diag d;

    if (!fs_exists(path))
        return false;
    diag_init(&d);
    bool is_read = mapfile_open(&map, path, &d) == ST_OK;
    if (is_read) {
        *out = arena_str(arena, str_part(map.text, 0, 1 << 20));
        mapfile_close(&map);
    }
    diag_fini(&d);
    return is_read;
}

static bool list_quietly(struct arena *arena, const char *dir, struct fs_list *out)
{
    struct diag d;

    if (!fs_is_dir(dir))
        return false;
    diag_init(&d);
    bool is_read = fs_list(arena, dir, out, &d) == ST_OK;
    diag_fini(&d);
    return is_read;
}

/* Names of packages: letters fold and '-' is '_'. */
static bool same_package(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        struct str x = {a.at[i] == '-' ? "_" : &a.at[i], 1};
        struct str y = {b.at[i] == '-' ? "_" : &b.at[i], 1};
        if (!str_equal_nocase(x, y))
            return false;
    }
    return true;
}

/* Name and Version of a METADATA file: header lines up to the first empty one. */
static bool metadata_version(struct str text, struct str package, struct str *out)
{
    struct str line, name = {0}, version = {0};

    while (str_split(&text, '\n', &line) && cell_trim(line).n > 0) {
        if (str_starts_nocase(line, S("Name:")) && name.n == 0)
            name = cell_trim(str_part(line, 5, line.n));
        if (str_starts_nocase(line, S("Version:")) && version.n == 0)
            version = cell_trim(str_part(line, 8, line.n));
    }
    *out = version;
    return version.n > 0 && same_package(name, package);
}

static bool in_packages(struct arena *arena, const char *dir, struct str package, struct str *out)
{
    struct fs_list list;
    struct str text;

    if (!list_quietly(arena, dir, &list))
        return false;
    for (size_t i = 0; i < list.n; i++) {
        struct str name = list.at[i].name;
        bool is_likely = name.n > package.n && str_ends(name, S(".dist-info")) &&
                         same_package(str_part(name, 0, package.n), package);
        if (is_likely && read_quietly(arena, fs_join(arena, list.at[i].path, "METADATA"), &text) &&
            metadata_version(text, package, out))
            return true;
    }
    return false;
}

/* <prefix>/lib/python3.11/site-packages and the like. */
static bool in_prefix(struct arena *arena, const char *prefix, struct str package, struct str *out)
{
    static const char *const libs[] = {"lib", "lib64", "local/lib"};
    static const char *const leaves[] = {"site-packages", "dist-packages"};
    struct fs_list list;

    for (size_t k = 0; k < ARRAY_LEN(libs); k++) {
        if (!list_quietly(arena, fs_join(arena, prefix, libs[k]), &list))
            continue;
        for (size_t i = 0; i < list.n; i++)
            for (size_t l = 0; l < ARRAY_LEN(leaves); l++)
                if (str_starts(list.at[i].name, S("python")) &&
                    in_packages(arena, fs_join(arena, list.at[i].path, leaves[l]), package, out))
                    return true;
    }
    return false;
}

/* The prefix of the Python that would be run: "/usr" of "/usr/bin/python3". */
static const char *python_prefix(struct arena *arena, const char *program)
{
    const char *found = fs_find_program(arena, program);

    if (found == NULL)
        return NULL;
    struct str path = str_of(found), name = str_basename(path);
    struct str folder = str_part(path, 0, path.n > name.n ? path.n - name.n - 1 : 0);
    struct str bin = str_basename(folder);
    if (folder.n <= bin.n)
        return NULL;
    return arena_cstr(arena, str_part(folder, 0, folder.n - bin.n));
}

static bool installed(struct arena *arena, struct str package, struct str *out)
{
    const char *prefixes[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"),
                              python_prefix(arena, "python3"), python_prefix(arena, "python")};

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (prefixes[i] != NULL && prefixes[i][0] != '\0' &&
            in_prefix(arena, prefixes[i], package, out))
            return true;
    return false;
}

static const char *const cann_files[] = {
    "ascend_toolkit_install.info",
    "version.info",
    "latest/version.info",
    "latest/ascend_toolkit_install.info",
    "ascend-toolkit/latest/version.info",
    "ascend-toolkit/latest/ascend_toolkit_install.info",
    "ascend-toolkit/version.info",
    "ascend-toolkit/ascend_toolkit_install.info",
    "arm64-linux/ascend_toolkit_install.info",
    "x86_64-linux/ascend_toolkit_install.info",
};

static bool in_cann_root(struct arena *arena, struct str root, struct str *out)
{
    const char *folder = arena_cstr(arena, root);
    struct str text;

    for (size_t i = 0; i < ARRAY_LEN(cann_files); i++)
        if (read_quietly(arena, fs_join(arena, folder, cann_files[i]), &text) &&
            version_in_text(text, out))
            return true;
    return false;
}

static bool cann(struct arena *arena, struct str *out)
{
    static const char *const variables[] = {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME",
                                            "ASCEND_TOOLKIT_HOME_PATH", "ASCEND_INSTALL_PATH"};
    static const struct str fixed[] = {
        S_INIT("/usr/local/Ascend/ascend-toolkit/latest"),
        S_INIT("/usr/local/Ascend/ascend-toolkit"),
        S_INIT("/usr/local/Ascend/cann"),
        S_INIT("/usr/local/Ascend/latest"),
        S_INIT("/usr/local/Ascend"),
        S_INIT("C:\\Program Files\\Ascend\\ascend-toolkit\\latest"),
        S_INIT("C:\\Program Files\\Ascend\\ascend-toolkit"),
    };
    const char *home = getenv("HOME");

    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        struct str root = cell_trim(str_of(getenv(variables[i])));
        if (root.n > 0 && in_cann_root(arena, root, out))
            return true;
    }
    if (home != NULL && home[0] != '\0' &&
        in_cann_root(arena, arena_format(arena, "%s/Ascend/cann", home), out))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (in_cann_root(arena, fixed[i], out))
            return true;
    return false;
}

bool detect_version(struct arena *arena, enum version_part part, struct str *out)
{
    if (part == VERSION_VLLM)
        return installed(arena, S("vllm_ascend"), out);
    if (part == VERSION_TORCH)
        return installed(arena, S("torch"), out);
    return cann(arena, out);
}
