/*
 * skills - instructions for coding agents that are part of the program: data/skills/NAME/SKILL.md.
 */
#ifndef STRATA_CLI_SKILLS_H
#define STRATA_CLI_SKILLS_H

#include "base/arena.h"

struct skill {
    struct str name, about; /* from the head of the file */
    struct str text;        /* the whole file, with the paths of installed examples */
};

/* By name; false behind the last. */
bool skill_at(struct arena *arena, size_t i, struct skill *out);

#endif
