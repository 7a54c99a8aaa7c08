/*
 * rewrite - changes to the text of a kernel that keep what it computes and may make it faster.
 *
 *     pto_rewrite_list(&module, function, text, &list);
 *     ... list.at[i].text is a kernel to simulate
 *     pto_rewrite_free(&list);
 *
 * A change is proposed where the text shows that it is allowed; what it saves is for a run to say.
 * Texts with more than one operation in a line, or one in several, are left alone.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_REWRITE_H
#define STRATA_KERNELS_PTO_JUDGE_REWRITE_H

#include "kernels/pto/text/ir.h"
#include "report/message.h"

enum pto_rewrite_kind {
    PTO_REWRITE_DOUBLE,  /* two rounds of a loop in one, the second with buffers of its own */
    PTO_REWRITE_APART,   /* bytes of its own for a tile that shares them */
    PTO_REWRITE_SWAP,    /* two loads in the other order */
    PTO_REWRITE_SET,     /* a flag set before the instruction of its pipe that came first */
    PTO_REWRITE_WAIT,    /* a flag waited for behind the instruction of its pipe that came next */
    PTO_REWRITE_SIZE,    /* tiles of a loop twice or half as large */
    PTO_REWRITE_SPLIT_K, /* the same along the depth of a product */
    PTO_REWRITE_COUNT,
};

struct pto_rewrite {
    enum pto_rewrite_kind kind;
    uint32_t line;          /* of the loop, of the tile, of the first load */
    uint32_t last_line;     /* of the loop, of the second load; else 0 */
    uint32_t use_line;      /* of the instruction that writes the tile; else 0 */
    struct str name;        /* "%a_l1": the first tile it is about; lives in the list */
    uint32_t tiles;         /* how many it is about */
    int64_t size, new_size; /* of a dimension; else 0 */
    bool is_doubled;        /* and two buffers of each */
    struct str text;        /* the whole kernel; lives in the list */
};

struct pto_rewrites {
    struct arena arena;
    VEC_OF(struct pto_rewrite) list;
};

void pto_rewrites_init(struct pto_rewrites *out);
void pto_rewrites_free(struct pto_rewrites *out);

/* Adds the changes of one function. */
void pto_rewrite_list(const struct pto_module *m, const struct pto_function *f, struct str text,
                      enum pto_arch arch, struct pto_rewrites *out);

/* "double-buffer `%a_l1` and 2 more in the loop of line 18" */
struct str pto_rewrite_title(const struct pto_rewrite *w, enum lang lang, struct arena *arena);

#endif
