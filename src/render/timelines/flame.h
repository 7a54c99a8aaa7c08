/*
 * flame - the time of a cut by stack: process, lane, slice, the slices in it.
 *
 * A slice that lies within another of its lane is called by it. One that overlaps another without
 * lying in it is called by what calls that one, and both count in full.
 */
#ifndef STRATA_RENDER_FLAME_H
#define STRATA_RENDER_FLAME_H

#include "base/tables/hash.h"
#include "render/timelines/timeline.h"

enum { FLAME_DEPTH = 512 }; /* slices below are counted with the deepest */

struct flame_node {
    uint32_t parent; /* 0, the root, is its own */
    uint32_t name;   /* for flame_name() */
    nanos self;      /* without the slices in it */
    uint64_t count;  /* slices */
};

struct flame {
    const struct cut *cut;
    VEC_OF(struct flame_node) nodes; /* a node behind the one that calls it; 0 is the root */
    struct hash ids;                 /* (parent, name) -> node */
    struct intern titles;            /* of processes and lanes */
};

/* False when the user interrupted; call flame_fini() in any case. */
bool flame_init(struct flame *f, const struct cut *cut, const struct timeline_options *options);
void flame_fini(struct flame *f);

struct str flame_name(const struct flame *f, uint32_t name);

/* Names from the root on, the node's own last; how many of at most FLAME_DEPTH + 3. */
size_t flame_stack(const struct flame *f, uint32_t node, uint32_t *names);

#endif
