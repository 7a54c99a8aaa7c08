/*
 * skills: found among the embedded files, in their order.
 */
#include "cli/help/skills.h"

#include "base/files/embedded.h"
#include "cli/installed.h"

#define FOLDER    "skills/"
#define FILE_NAME "/SKILL.md"

/* The value of a line "key: value" in the head between two lines of dashes. */
static struct str head_value(struct str text, struct str key)
{
    struct str line;
    size_t dashes = 0;

    while (dashes < 2 && str_split(&text, '\n', &line)) {
        if (str_equal(str_trim(line), S("---")))
            dashes++;
        else if (str_starts(line, key))
            return str_trim(str_part(line, key.n, line.n));
    }
    return S("");
}

bool skill_at(struct arena *arena, size_t i, struct skill *out)
{
    for (const struct embedded *e = embedded_files; e->path != NULL; e++) {
        if (!str_starts(str_of(e->path), S(FOLDER)) || !str_ends(str_of(e->path), S(FILE_NAME)))
            continue;
        if (i-- == 0) {
            *out = (struct skill){head_value(e->text, S("name:")),
                                  head_value(e->text, S("description:")),
                                  installed_paths(arena, installed_folder(arena), e->text)};
            return true;
        }
    }
    return false;
}
