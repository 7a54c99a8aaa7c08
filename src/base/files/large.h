/*
 * large - blocks of memory that are as long as whole huge pages.
 *
 * Columns with millions of entries are filled from end to end, and memory that is touched for the
 * first time costs more than writing it: a fault for every 4 KiB. A block of this module begins and
 * ends where a huge page does, so that it takes one for 2 MiB; and it grows by moving its pages
 * instead of copying what is in them. Where the system has no huge pages it is memory like any.
 *
 * A program that holds more than fits memory may set a limit: blocks beyond it are mapped from
 * nameless temporary files, so that the system can write them out and take their pages.
 *
 * base/run/mem.c decides what is large; others set the limit at most.
 */
#ifndef STRATA_BASE_FILES_LARGE_H
#define STRATA_BASE_FILES_LARGE_H

#include <stdbool.h>
#include <stddef.h>

enum { LARGE_PAGE = 2 << 20 };

struct job;

/* A block of at least `bytes` for a job (NULL: nobody's), with whatever an earlier one left in it;
 * NULL when there is none. */
void *large_new(size_t bytes, struct job *job);

/* Is this one of them? */
bool large_is(const void *p);

/* Another size for a block, which keeps what fits; NULL when there is none, and it stays. */
void *large_resize(void *p, size_t bytes);

/* Gives a block back; false when it is none. */
bool large_free(void *p);

/* Blocks beyond `most` bytes in all are kept in files of `folder` from here on, small ones apart
 * and where that can be done; those that are there stay where they are. NULL: no limit. */
void large_limit(size_t most, const char *folder);

/* Bytes that are in files. */
size_t large_in_files(void);

/* Gives back every block of a job, and what is kept to be used again. */
void large_free_of(const struct job *job);

#endif
