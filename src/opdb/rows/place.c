/*
 * Folders of a database: versions, what is installed here, the path, and the tables below it.
 */
#include "opdb/rows/place.h"

#include <stdlib.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/text/char.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/table.h"

/* Reads a small file without complaints. */
static bool read_quietly(struct arena *arena, const char *path, struct str *out)
{
    struct mapfile map;

    if (!fs_exists(path) || mapfile_open(&map, path, NULL) != ST_OK)
        return false;
    *out = arena_str(arena, str_part(map.text, 0, 1 << 20));
    mapfile_close(&map);
    return true;
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

    if (!fs_is_dir(dir) || fs_list(arena, dir, &list, NULL) != ST_OK)
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
        const char *lib = fs_join(arena, prefix, libs[k]);
        if (!fs_is_dir(lib) || fs_list(arena, lib, &list, NULL) != ST_OK)
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

bool version_check(struct str text, struct str *out)
{
    bool was_alnum = false;

    text = cell_trim(text);
    for (size_t i = 0; i < text.n; i++) {
        bool is_joint = memchr("._+-", text.at[i], 4) != NULL;
        if (!char_is_alnum(text.at[i]) && !(is_joint && was_alnum))
            return false;
        was_alnum = !is_joint;
    }
    *out = text;
    return was_alnum;
}

/* "v0.18.0" as VLLM gives "0.18.0", "torch2.9.0+cpu" as TORCH "2.9.0". A view into `text`. */
static struct str normal(enum version_part part, struct str text)
{
    static const struct str prefixes[] = {S_INIT("vllm"), S_INIT("torch"), S_INIT("cann")};

    text = cell_trim(text);
    if (str_starts_nocase(text, prefixes[part]))
        text = str_part(text, prefixes[part].n, text.n);
    else if (part == VERSION_VLLM && str_starts_nocase(text, S("v")))
        text = str_part(text, 1, text.n);
    if (part == VERSION_TORCH)
        text = str_part(text, 0, str_find_char(text, '+'));
    return cell_trim(text);
}

struct str version_dir(struct arena *arena, const struct str parts[VERSION_PARTS])
{
    struct str v = normal(VERSION_VLLM, parts[VERSION_VLLM]);
    struct str t = normal(VERSION_TORCH, parts[VERSION_TORCH]);
    struct str c = normal(VERSION_CANN, parts[VERSION_CANN]);

    return arena_format(arena, "vllm%.*s_torch%.*s_cann%.*s", STR_ARGS(v), STR_ARGS(t),
                        STR_ARGS(c));
}

/* Where `word` is in `s` at or after `from`; s.n when nowhere. */
static size_t find_from(struct str s, size_t from, struct str word)
{
    return from > s.n ? s.n : from + str_find(str_part(s, from, s.n), word);
}

bool version_is_dir(struct str text)
{
    text = cell_trim(text);
    if (!str_starts(text, S("vllm")) || str_find_char(text, '\n') < text.n)
        return false;
    size_t torch = find_from(text, 5, S("_torch"));
    size_t cann = find_from(text, torch + 7, S("_cann"));
    return torch < text.n && cann < text.n && cann + 5 < text.n;
}

static size_t skip_space(struct str s, size_t i)
{
    while (i < s.n && char_is_space(s.at[i]))
        i++;
    return i;
}

/* The place behind "version =" or "package_version:" at `i`; 0 when there is none. */
static size_t skip_key(struct str s, size_t i)
{
    struct str rest = str_part(s, i, s.n);

    if (str_starts_nocase(rest, S("package_version")))
        i += sizeof("package_version") - 1;
    else if (str_starts_nocase(rest, S("version")))
        i += sizeof("version") - 1;
    else
        return 0;
    i = skip_space(s, i);
    return i < s.n && (s.at[i] == '=' || s.at[i] == ':') ? i + 1 : 0;
}

static bool in_line(struct str line, struct str *out)
{
    size_t at = skip_key(line, 0);

    if (at == 0)
        return false;
    struct str token = cell_trim(str_part(line, at, line.n));
    for (size_t i = 0; i < token.n; i++)
        if (char_is_space(token.at[i]))
            return false;
    *out = token;
    return token.n > 0;
}

static bool anywhere(struct str text, struct str *out)
{
    for (size_t i = 0; i < text.n; i++) {
        size_t at = i > 0 && char_is_word(text.at[i - 1]) ? 0 : skip_key(text, i);
        if (at == 0)
            continue;
        at = skip_space(text, at);
        size_t end = at;
        while (end < text.n &&
               (char_is_alnum(text.at[end]) || memchr("._+-", text.at[end], 4) != NULL))
            end++;
        if (end == at)
            continue;
        *out = str_part(text, at, end - at);
        return true;
    }
    return false;
}

bool version_in_text(struct str text, struct str *out)
{
    struct str rest = text, line;

    if (text.at == NULL)
        return false;
    while (str_split(&rest, '\n', &line))
        if (in_line(line, out))
            return true;
    return anywhere(text, out);
}

static const struct str known_devices[] = {
    S_INIT("TEST_DEVICE"),
    S_INIT("ATLAS_800_A2_376T_64G"),
    S_INIT("ATLAS_800_A2_313T_64G"),
    S_INIT("ATLAS_800_A2_280T_64G"),
    S_INIT("ATLAS_800_A2_280T_64G_PCIE"),
    S_INIT("ATLAS_800_A2_280T_32G_PCIE"),
    S_INIT(PLACE_DEFAULT_DEVICE),
    S_INIT("ATLAS_800_A3_560T_128G_DIE"),
    S_INIT("HOST_CPU"),
};

static bool is_nvidia(const char *device)
{
    if (strncmp(device, "NVIDIA_", 7) != 0 || device[7] == '\0')
        return false;
    for (const char *c = device; *c != '\0'; c++)
        if (!(char_is_upper(*c) || char_is_digit(*c) || *c == '_'))
            return false;
    return true;
}

/* The family of a device: "vllm_ascend", "cuda" or "cpu"; NULL: no such device. Names of NVIDIA
 * devices are free: NVIDIA_ and capitals, digits and underscores. */
static const char *family_of(const char *device)
{
    if (is_nvidia(device))
        return "cuda";
    if (!str_is_one_of(str_of(device), known_devices, ARRAY_LEN(known_devices)))
        return NULL;
    return strcmp(device, "HOST_CPU") == 0 ? "cpu" : "vllm_ascend";
}

static const char *place_device_of(const struct place_args *args)
{
    return args->device != NULL ? args->device : PLACE_DEFAULT_DEVICE;
}

const char *place_problem(struct arena *arena, const struct place_args *args)
{
    const struct {
        const char *option, *value;
    } versions[] = {
        {"--vllm-version", args->vllm},
        {"--torch-version", args->torch},
        {"--cann-version", args->cann},
        {"--stack-version", args->stack_version},
    };
    struct str version;

    if (family_of(place_device_of(args)) == NULL)
        return arena_printf(
            arena, "--device: unknown device \"%s\"; known are %.*s and NVIDIA_*", args->device,
            STR_ARGS(arena_join(arena, known_devices, ARRAY_LEN(known_devices), S(", "))));
    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        if (versions[i].value != NULL && !version_check(str_of(versions[i].value), &version))
            return arena_printf(arena, "%s: \"%s\" is not a version", versions[i].option,
                                versions[i].value);
    return NULL;
}

const char *place_root(const struct place_args *args)
{
    const char *root = args->data_root;

    if (root == NULL)
        root = getenv("STRATA_PERFDB");
    return root != NULL && root[0] != '\0' ? root : "perfdb";
}

/* vllm<V>_torch<T>_cann<C> from what was given and what is installed. */
static enum status ascend_version(struct arena *arena, const struct place_args *args,
                                  struct str *out, struct diag *d)
{
    static const struct str names[] = {S_INIT("vLLM-Ascend"), S_INIT("PyTorch"), S_INIT("CANN")};
    static const struct str packages[] = {S_INIT("vllm_ascend"), S_INIT("torch")};
    const char *given[VERSION_PARTS] = {args->vllm, args->torch, args->cann};
    struct str parts[VERSION_PARTS], missing[VERSION_PARTS];
    size_t n = 0;

    if (args->vllm != NULL && args->torch == NULL && args->cann == NULL &&
        version_is_dir(str_of(args->vllm))) {
        *out = cell_trim(str_of(args->vllm));
        return ST_OK;
    }
    for (size_t i = 0; i < VERSION_PARTS; i++)
        if (given[i] != NULL)
            parts[i] = str_of(given[i]);
        else if (i == VERSION_CANN ? !cann(arena, &parts[i])
                                   : !installed(arena, packages[i], &parts[i]))
            missing[n++] = names[i]; /* or nowhere strata looks */
    if (n > 0) {
        diag_fail(d, ST_NOT_FOUND, "perfdb.no-version", (struct where){0},
                  "unknown software stack: no version of %.*s found here",
                  STR_ARGS(arena_join(arena, missing, n, S(", "))));
        diag_hint(d, "try", "--vllm-version, --torch-version and --cann-version");
        diag_hint(d, "try", "--database-path DIR");
        return ST_NOT_FOUND;
    }
    *out = version_dir(arena, parts);
    return ST_OK;
}

enum status place_resolve(struct arena *arena, const struct place_args *args, const char **dir,
                          struct diag *d)
{
    const char *device = place_device_of(args), *family = family_of(device);
    struct str version = str_of(args->stack_version);

    if (args->database_path != NULL) {
        *dir = args->database_path;
        return ST_OK;
    }
    if (family == NULL)
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-device", (struct where){0},
                         "unknown device \"%s\"", device);
    if (strcmp(family, "vllm_ascend") == 0)
        TRY(ascend_version(arena, args, &version, d));
    else if (version.n == 0 && strcmp(family, "cpu") == 0)
        version = S("strata1");
    if (version.n == 0) {
        diag_fail(d, ST_NOT_FOUND, "perfdb.no-version", (struct where){0},
                  "unknown software stack of %s", device);
        diag_hint(d, "try", "--stack-version cuda12.4_driver550.54");
        return ST_NOT_FOUND;
    }
    *dir = arena_printf(arena, "%s/%s/%s/%.*s", place_root(args), device, family,
                        STR_ARGS(cell_trim(version)));
    return ST_OK;
}

enum status place_find(struct arena *arena, const char *dir, const struct str *ops, size_t n_ops,
                       struct place_files *out, struct diag *d)
{
    static const struct str skip[] = {S_INIT("reports")};
    struct fs_list list;

    if (!fs_is_dir(dir))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-database", (struct where){.path = dir},
                         "database folder not found");
    TRY(fs_walk(arena, dir, skip, ARRAY_LEN(skip), &list, d));
    *out = (struct place_files){ARENA_ARRAY(arena, struct place_file, list.n + 1), 0};
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        struct str op = table_stem(e->path),
                   below = str_part(str_of(e->path), strlen(dir), SIZE_MAX);
        if (e->kind == FS_FILE && str_ends(e->name, S(".csv")) && !table_is_temporary(e->name) &&
            !str_contains(below, S("/msprof_run_")) && /* the folder of a replay */
            (n_ops == 0 || str_is_one_of(op, ops, n_ops)))
            out->at[out->n++] = (struct place_file){e->path, op};
    }
    return ST_OK;
}

/* The last folder of `path`, which becomes the path above it. */
static struct str pop_folder(struct str *path)
{
    while (path->n > 0 && path->at[path->n - 1] == '/')
        path->n--;
    struct str name = str_basename(*path);
    path->n -= name.n;
    return name;
}

struct place_origin place_origin(const char *path)
{
    struct str rest = str_of(path);
    struct place_origin origin;

    pop_folder(&rest);
    origin.version = pop_folder(&rest);
    origin.stack = pop_folder(&rest);
    origin.device = pop_folder(&rest);
    return origin;
}
