/*
 * strata skills install: writes the skills below a folder.
 */
#include "base/fs.h"
#include "cli/session.h"
#include "cli/skills.h"

extern const struct command command_skills_install;

struct args {
    bool force;
};

static const struct opt options[] = {
    OPT_FLAG('f', "force", struct args, force, "replace skills that differ"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata skills install agent-skills", "one folder for each skill"},
    {0},
};

/* Nothing is replaced that somebody may have edited, unless asked to. */
static enum status check_free(struct session *s, const char *path)
{
    if (!fs_exists(path))
        return ST_OK;
    diag_fail(&s->diag, ST_UNSUPPORTED, "skills.exists", (struct where){.path = path},
              "is there already");
    diag_hint(&s->diag, "try", "--force to replace it");
    return ST_UNSUPPORTED;
}

static enum status install(struct session *s, const char *folder, const struct skill *skill,
                           bool force)
{
    const char *at = arena_printf(&s->arena, "%s/%.*s", folder, STR_ARGS(skill->name));
    const char *path = arena_printf(&s->arena, "%s/SKILL.md", at);

    if (!force)
        TRY(check_free(s, path));
    if (s->common.dry_run) {
        session_wrote(s, path);
        return ST_OK;
    }
    TRY(fs_mkdirs_in(folder, at, &s->diag));
    TRY(outfile_save(path, skill->text, &s->diag));
    session_wrote(s, path);
    return ST_OK;
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    const char *folder = s->operands.at[0];
    enum status st = s->common.dry_run ? ST_OK : fs_mkdirs(folder, &s->diag);
    struct skill one;

    for (size_t i = 0; st == ST_OK && skill_at(i, &one); i++)
        st = install(s, folder, &one, args->force);
    return session_code(st);
}

const struct command command_skills_install = {
    .name = "install",
    .group = GROUP_TOOLS,
    .summary = "write the skills below a folder",
    .usage = "[OPTIONS] DIR",
    .details = "Writes DIR/NAME/SKILL.md for each skill; DIR is the folder where a coding agent "
               "looks for skills. A file that is there already is replaced with --force only.",
    .see = "docs/agents.md",
    .operands = {.kind = OPERAND_DIR, .min = 1, .max = 1},
    COMMAND_PARTS_ZERO,
};
