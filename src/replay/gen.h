/*
 * gen - text that is put together, and the parts of a workspace that are made so.
 */
#ifndef STRATA_REPLAY_GEN_H
#define STRATA_REPLAY_GEN_H

#include "replay/workspace.h"

struct gen {
    char *at;
    size_t n, cap;
};

void gen_put(struct gen *g, struct str text);
void gen_line(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 'it'\''s': one word of a shell. */
void gen_shell(struct gen *g, const char *text);

/* "SijFifo" for sij_fifo, and the name itself; with the slot in front where two tensors would have
 * the same. */
const char *gen_camel(const struct slots *slots, size_t i, struct arena *arena);
const char *gen_name(const struct slots *slots, size_t i, struct arena *arena);

void gen_kernel(const struct workspace *ws, struct gen *g);
void gen_launch(const struct workspace *ws, struct gen *g);
void gen_host(const struct workspace *ws, struct gen *g);
void gen_cmake(const struct workspace *ws, struct gen *g);
void gen_script(const struct workspace *ws, struct gen *g);
void gen_config(const struct workspace *ws, struct gen *g);

#endif
