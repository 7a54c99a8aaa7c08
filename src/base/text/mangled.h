/*
 * mangled - the plain function name inside a mangled C++ one.
 *
 * Not a demangler: parameters and template arguments are passed over. Allocates nothing.
 */
#ifndef STRATA_BASE_TEXT_MANGLED_H
#define STRATA_BASE_TEXT_MANGLED_H

#include "base/arena.h"

/* "gemm" of "_ZN3lib4gemmIfEEvPT_": a part of `name`. Names that are not mangled, or in a way that
 * is not known here, come back as they are. */
struct str mangled_plain(struct str name);

/* "at::native::add" of "void at::native::add<4, float>(int, float*)": for people. Without return
 * type, template arguments and parameters; what is no such name comes back as it is. */
struct str mangled_short(struct arena *arena, struct str name);

#endif
