/*
 * symbols - the functions a shared library offers, and their readable names.
 *
 * What `nm -D | c++filt` would say about the functions of a library, read in-process: the defined
 * global (T) and weak (W) symbols of the dynamic table, in table order.
 */
#ifndef STRATA_KERNELS_REPLAY_SYMBOLS_H
#define STRATA_KERNELS_REPLAY_SYMBOLS_H

#include "base/diag.h"

struct symbol {
    struct str name;  /* as in the table: what a launcher is given */
    struct str plain; /* demangled; equal to `name` when it is not mangled */
};

struct symbol_list {
    struct symbol *at;
    size_t n;
};

/* Reads the dynamic symbols of `path`. Texts live in `arena`. */
enum status symbols_read(struct arena *arena, const char *path, struct symbol_list *out,
                         struct diag *d);

/* "_Z5qk_mmPfi" gives "qk_mm(float*, int)". Nested names and parameters of plain, pointer and
 * qualified types are understood; where a parameter is not, the list reads "(...)". What is not a
 * mangled name comes back as it is. */
struct str symbol_demangle(struct arena *arena, struct str name);

/*
 * The symbol of the first of `names` that has one: its readable name is NAME or begins with
 * "NAME(". If none has, the only symbol there is. ST_NOT_FOUND, with up to 20 candidates in the
 * text, otherwise.
 */
enum status symbols_pick(const struct symbol_list *list, const struct str *names, size_t n,
                         const char *path, const struct symbol **out, struct diag *d);

#endif
