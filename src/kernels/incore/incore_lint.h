/*
 * incore_lint - whether MindStudio Insight opens an in-core artifact, and which rule it breaks
 * where. docs/formats/visualize-data.md lists the rules.
 */
#ifndef STRATA_KERNELS_INCORE_INCORE_LINT_H
#define STRATA_KERNELS_INCORE_INCORE_LINT_H

#include "report/record.h"

/* How bad it is. */
enum lint_weight {
    LINT_REFUSED, /* Insight does not open the file */
    LINT_UNSEEN,  /* it does, but something is not shown, or not as it is */
};

struct lint_problem {
    const char *rule; /* a literal */
    enum lint_weight weight;
    uint64_t offset; /* in the file, from 0 */
    const char *text;
};

enum { LINT_KEPT = 8 }; /* problems told for each rule; more are counted */

struct lint_rule {
    const char *rule;
    uint64_t count;
};

struct incore_lint {
    struct arena arena;
    const char *path;                     /* for the record; NULL: a text */
    VEC_OF(struct lint_problem) problems; /* as they were met */
    VEC_OF(struct lint_rule) rules;       /* broken ones, and how often */
    uint64_t blocks, events, refused, unseen;
};

/* What the file system says of a file. */
struct lint_file {
    uint64_t size;
    bool others_may_write;
};

void incore_lint_init(struct incore_lint *l);
void incore_lint_fini(struct incore_lint *l);

/* A visualize_data.bin; a text that begins with { is taken for a trace.json. */
void incore_lint_check(struct incore_lint *l, struct str text, struct lint_file file);

/* Of several files. */
extern const struct schema incore_lint_schema;

static inline bool incore_lint_opens(const struct incore_lint *l)
{
    return l->refused == 0;
}

#endif
