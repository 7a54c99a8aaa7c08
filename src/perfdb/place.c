#include "perfdb/place.h"

#include <stdlib.h>

#include "base/char.h"
#include "base/fs.h"
#include "perfdb/cell.h"
#include "perfdb/detect.h"
#include "perfdb/version.h"

/* The known devices, ends with NULL. */
static const char *const place_devices[] = {
    "TEST_DEVICE",
    "ATLAS_800_A2_376T_64G",
    "ATLAS_800_A2_313T_64G",
    "ATLAS_800_A2_280T_64G",
    "ATLAS_800_A2_280T_64G_PCIE",
    "ATLAS_800_A2_280T_32G_PCIE",
    PLACE_DEFAULT_DEVICE,
    "ATLAS_800_A3_560T_128G_DIE",
    "HOST_CPU",
    NULL,
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
    for (size_t i = 0; place_devices[i] != NULL; i++)
        if (strcmp(place_devices[i], device) == 0)
            return strcmp(device, "HOST_CPU") == 0 ? "cpu" : "vllm_ascend";
    return NULL;
}

static const char *device_of(const struct place_args *args)
{
    return args->device != NULL ? args->device : PLACE_DEFAULT_DEVICE;
}

static const char *list_devices(struct arena *arena)
{
    struct str text = str_of(place_devices[0]);

    for (size_t i = 1; place_devices[i] != NULL; i++)
        text = arena_format(arena, "%.*s, %s", STR_ARGS(text), place_devices[i]);
    return arena_cstr(arena, text);
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

    if (family_of(device_of(args)) == NULL)
        return arena_format(arena, "--device: no device \"%s\"; there are %s and NVIDIA_*",
                            args->device, list_devices(arena))
            .at;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        if (versions[i].value != NULL && !version_check(str_of(versions[i].value), &version))
            return arena_format(arena, "%s: \"%s\" is no version", versions[i].option,
                                versions[i].value)
                .at;
    return NULL;
}

const char *place_root(const struct place_args *args)
{
    const char *root = args->data_root;

    if (root == NULL)
        root = getenv("STRATA_PERFDB");
    return root != NULL && root[0] != '\0' ? root : "perfdb";
}

static enum status missing_parts(struct str missing, struct diag *d)
{
    diag_fail(d, ST_NOT_FOUND, "perfdb.no-version", (struct where){0},
              "the software stack is unknown: no version of %.*s found here", STR_ARGS(missing));
    diag_hint(d, "try", "--vllm-version, --torch-version and --cann-version");
    diag_hint(d, "try", "--database-path DIR");
    return ST_NOT_FOUND;
}

/* vllm<V>_torch<T>_cann<C> from what was given and what is installed. */
static enum status ascend_version(struct arena *arena, const struct place_args *args,
                                  struct str *out, struct diag *d)
{
    static const struct str names[] = {S_INIT("vLLM-Ascend"), S_INIT("PyTorch"), S_INIT("CANN")};
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
        else if (!detect_version(arena, (enum version_part)i, &parts[i]))
            missing[n++] = names[i];
    if (n > 0) {
        struct str list = missing[0];
        for (size_t i = 1; i < n; i++)
            list = arena_format(arena, "%.*s, %.*s", STR_ARGS(list), STR_ARGS(missing[i]));
        return missing_parts(list, d);
    }
    *out = version_dir(arena, parts);
    return ST_OK;
}

enum status place_resolve(struct arena *arena, const struct place_args *args, const char **dir,
                          struct diag *d)
{
    const char *device = device_of(args), *family = family_of(device);
    struct str version = str_of(args->stack_version);

    if (args->database_path != NULL) {
        *dir = args->database_path;
        return ST_OK;
    }
    if (family == NULL)
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-device", (struct where){0}, "no device \"%s\"",
                         device);
    if (strcmp(family, "vllm_ascend") == 0)
        TRY(ascend_version(arena, args, &version, d));
    else if (version.n == 0 && strcmp(family, "cpu") == 0)
        version = S("strata1");
    if (version.n == 0) {
        diag_fail(d, ST_NOT_FOUND, "perfdb.no-version", (struct where){0},
                  "the software stack of %s is unknown", device);
        diag_hint(d, "try", "--stack-version cuda12.4_driver550.54");
        return ST_NOT_FOUND;
    }
    *dir = arena_format(arena, "%s/%s/%s/%.*s", place_root(args), device, family,
                        STR_ARGS(cell_trim(version)))
               .at;
    return ST_OK;
}
