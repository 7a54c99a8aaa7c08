/*
 * strata skills install: writes the skills below a folder.
 */
#include "base/files/fs.h"
#include "base/files/inputs.h"
#include "base/files/mapfile.h"
#include "cli/help/skills.h"
#include "cli/session.h"
#include "report/report.h"

struct args {
    bool force;
};

static const struct opt options[] = {
    OPT_FLAG('f', "force", struct args, force, "replace skills that differ"),
};

static const struct example examples[] = {
    {"strata skills install agent-skills", "one folder for each skill"},
};

static const char *path_of(struct session *s, const struct skill *skill)
{
    return arena_printf(&s->arena, "%s/%.*s/SKILL.md", s->operands.at[0], STR_ARGS(skill->name));
}

/* The same text is there already. */
static bool is_installed(const char *path, const struct skill *skill)
{
    struct mapfile map;
    bool is = mapfile_open(&map, path, NULL) == ST_OK && str_equal(map.text, skill->text);

    mapfile_close(&map);
    inputs_disown_path(path); /* it may be replaced */
    return is;
}

/* Nothing is replaced that somebody may have edited, unless asked to. */
static enum status check_free(struct session *s)
{
    struct skill one;

    for (size_t i = 0; skill_at(&s->arena, i, &one); i++) {
        const char *path = path_of(s, &one);
        if (!fs_exists(path) || is_installed(path, &one))
            continue;
        diag_fail(&s->diag, ST_UNSUPPORTED, "skills.exists", (struct where){.path = path},
                  "differs from the skill of this version; nothing was written");
        diag_hint(&s->diag, "try", "--force to replace it");
        return ST_UNSUPPORTED;
    }
    return ST_OK;
}

static enum status install(struct session *s, const struct skill *skill)
{
    const char *path = path_of(s, skill), *folder = s->operands.at[0];

    if (is_installed(path, skill))
        return ST_OK;
    if (s->common.dry_run) {
        session_wrote(s, path);
        return ST_OK;
    }
    TRY(fs_mkdirs_in(folder, arena_printf(&s->arena, "%s/%.*s", folder, STR_ARGS(skill->name)),
                     &s->diag));
    return session_save(s, path, skill->text);
}

static int install_run(struct session *s, const void *given)
{
    const struct args *args = given;
    enum status st = args->force ? ST_OK : check_free(s);
    struct skill one;

    if (st == ST_OK && !s->common.dry_run)
        st = fs_mkdirs(s->operands.at[0], &s->diag);
    for (size_t i = 0; st == ST_OK && skill_at(&s->arena, i, &one); i++)
        st = install(s, &one);
    if (st == ST_OK && s->written.n == 0)
        session_say(s, "all skills are installed already");
    return session_code(st);
}

const struct command command_skills_install = {
    .name = "install",
    .group = GROUP_TOOLS,
    .summary = "write the skills below a folder",
    .usage = "[OPTIONS] DIR",
    .details =
        "Writes DIR/NAME/SKILL.md for each skill; DIR is the folder where a coding agent "
        "looks for skills. Files that are the same already are left alone. If one differs, by "
        "an edit or an earlier version, nothing is written unless --force is given.",
    .see = "docs/agents.md",
    .operands = {.kind = OPERAND_DIR, .min = 1, .max = 1},
    .common = COMMON_DRY_RUN,
    COMMAND_PARTS_ZERO,
    .run = install_run,
};
