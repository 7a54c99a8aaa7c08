/*
 * What names of copies and calls say. See timeline_in.h.
 */
#include "gpu/timeline/timeline_in.h"

static const struct str loading[] = {
    S_INIT("cuModuleLoad"),  S_INIT("cuLibraryLoad"),   S_INIT("cuLinkComplete"),
    S_INIT("cuLinkAddData"), S_INIT("cudaLibraryLoad"), S_INIT("cuModuleGetFunction"),
};

uint8_t timeline_name_says(struct str name)
{
    uint8_t says = str_contains_nocase(name, S("GraphLaunch")) ? NAME_GRAPH : 0;

    if (STR_ANY(str_starts, name, loading))
        says |= NAME_LOADING;
    if (str_starts(name, S("cu")) && !str_starts(name, S("cuda")))
        says |= NAME_DRIVER;
    return says;
}

struct str timeline_copy_kind(struct str name)
{
    if (str_starts(name, S("Memset")))
        return S("set");
    if (!str_skip(&name, S("Memcpy ")))
        return S("");
    return str_part(name, 0, str_find_char(name, ' '));
}

/* "Pinned -> Device" of a name that has it. */
static struct str inside(struct str name)
{
    size_t from = str_find_char(name, '(');

    if (from == name.n || name.at[name.n - 1] != ')')
        return S("");
    return str_part(name, from + 1, name.n - from - 2);
}

struct str timeline_copy_from(struct str name)
{
    struct str text = inside(name);

    return str_starts(name, S("Memset")) ? S("") : str_part(text, 0, str_find(text, S(" -> ")));
}

struct str timeline_copy_to(struct str name)
{
    struct str text = inside(name);

    if (str_starts(name, S("Memset")))
        return text;
    size_t arrow = str_find(text, S(" -> "));
    return arrow < text.n ? str_part(text, arrow + 4, text.n) : S("");
}
