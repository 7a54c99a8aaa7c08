/* Lists of CUPTI's names. */
#include "input/trace/gpu_names.h"

static const char *names_name_of(const char *const *names, size_t n, int64_t number)
{
    return names[number >= 0 && (uint64_t)number < n ? number : 0];
}

const char *gpu_names_memory(int64_t kind)
{
    static const char *const names[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};

    return names_name_of(names, ARRAY_LEN(names), kind);
}

const char *gpu_names_copy(int64_t kind)
{
    static const char *const names[] = {"Unknown", "HtoD",    "DtoH",    "HtoA",   "AtoH",
                                        "AtoA",    "AtoD",    "DtoA",    "DtoD",   "HtoH",
                                        "PtoP",    "UM HtoD", "UM DtoH", "UM DtoD"};

    return names_name_of(names, ARRAY_LEN(names), kind);
}

const char *gpu_names_sync(int64_t type)
{
    static const char *const names[] = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};

    return names_name_of(names, ARRAY_LEN(names), type);
}

struct str gpu_names_call(struct str name)
{
    size_t n = name.n - str_last_digits(name);

    if (n < name.n && n > 2 && name.at[n - 1] == 'v' && name.at[n - 2] == '_')
        return str_part(name, 0, n - 2);
    return name;
}
