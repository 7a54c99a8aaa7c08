/* Paths of the source tree in texts, replaced by those of the installed files. */
#include "cli/installed.h"

#include <limits.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/text/char.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"

const char *installed_folder(struct arena *arena)
{
    const char *own = fs_own_folder(arena);
    char path[PATH_MAX];

    if (own == NULL || realpath(arena_printf(arena, "%s../share/strata", own), path) == NULL ||
        !fs_is_dir(fs_join(arena, path, "examples")))
        return NULL;
    return arena_cstr(arena, str_of(path));
}

static bool is_of_path(char c)
{
    return char_is_word(c) || c == '.' || c == '-' || c == '/';
}

/* Without the full stop behind it. */
static size_t path_length(struct str text)
{
    size_t n = 0;

    while (n < text.n && is_of_path(text.at[n]))
        n++;
    while (n > 0 && text.at[n - 1] == '.')
        n--;
    return n;
}

static bool is_ours(struct str path)
{
    static const struct str roots[] = {S_INIT("examples/"), S_INIT("docs/"), S_INIT("data/")};

    return STR_ANY(str_starts, path, roots);
}

struct str installed_paths(struct arena *arena, const char *folder, struct str text)
{
    struct text out = {0};

    if (folder == NULL)
        return text;
    while (text.n > 0) {
        size_t n = path_length(text);
        struct str word = str_part(text, 0, n > 0 ? n : 1);
        const char *path = fs_join(arena, folder, arena_cstr(arena, word));
        bool is_there = is_ours(word) && fs_exists(path);
        text_put(&out, is_there ? str_of(shell_word(arena, path)) : word);
        text = str_part(text, word.n, text.n);
    }
    struct str made = arena_str(arena, text_view(&out));
    text_free(&out);
    return made;
}
