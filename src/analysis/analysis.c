/*
 * The table of analyses.
 */
#include "analysis/analysis.h"

static const struct analysis *const analyses[] = {
#define ANALYSIS(sym) &analysis_##sym,
#include "analysis/analyses.def"
#undef ANALYSIS
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
