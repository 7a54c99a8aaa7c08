/*
 * The table of analyses, and what their captures must hold.
 */
#include "analysis/analysis.h"

#include "analysis/sql/sql_table.h"

static const struct analysis *const analyses[] = {
#define ANALYSIS(sym) &analysis_##sym,
#include "analysis/analyses.def"
#undef ANALYSIS
#define SQL_TABLE(sym, ...) &analysis_##sym,
#include "analysis/sql/sql_tables.def"
#undef SQL_TABLE
};

const struct analysis *analysis_at(size_t i)
{
    return i < ARRAY_LEN(analyses) ? analyses[i] : NULL;
}

const struct analysis *analysis_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(analyses); i++)
        if (str_equal(str_of(analyses[i]->name), name))
            return analyses[i];
    return NULL;
}

struct study_options analysis_options(const struct analysis *a)
{
    return a == &analysis_anomaly || a == &analysis_arch ? study_contract() : study_with_passes();
}

const char *analysis_needs_text(struct arena *arena, unsigned mask)
{
    static const char *const names[] = {"kernels",      "host events", "communication",
                                        "input shapes", "call stacks", "counters",
                                        "instructions", "steps"}; /* by bit of enum has */
    const char *text = "";

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if ((mask >> i & 1) != 0)
            text = arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? ", " : "", names[i]);
    return text;
}

void analysis_check_needs(const struct analysis *a, const struct capture *cap, struct diag *d)
{
    unsigned missing = a->needs & ~cap->has;
    struct arena arena;

    if (missing == 0)
        return;
    arena_init(&arena);
    diag_add(d, SEV_WARN, "analysis.needs", (struct where){.path = cap->name},
             "%s needs %s, and the capture has none", a->name,
             analysis_needs_text(&arena, missing));
    arena_free(&arena);
}
