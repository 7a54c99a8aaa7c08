/*
 * mem - the one layer that allocates: realloc() and free() that never return NULL.
 *
 * A block belongs to the job (base/run/job.h) of the thread that asked for it, until it is freed by
 * anyone. When there is no memory the job ends at its boundary, where all of it is released; so
 * callers never test for NULL and have nothing to undo. Sizes that come from a file must be checked
 * against base/limits.h before they get here.
 */
#ifndef STRATA_BASE_RUN_MEM_H
#define STRATA_BASE_RUN_MEM_H

#include <stdarg.h>
#include <stddef.h>

/* Room for `count` elements of `size` bytes, with what `old` held (NULL: nothing). */
void *mem_grow(void *old, size_t size, size_t count) __attribute__((returns_nonnull));
void mem_free(void *p);

/* How long a text printf() would make, without the NUL byte. printf() allocates too. */
size_t mem_text_size(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Frees every block of a job; for base/run/job.c. */
struct job;
void mem_free_of(struct job *job);

#endif
