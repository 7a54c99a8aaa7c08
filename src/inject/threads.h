/*
 * threads - numbers of threads as the system counts them.
 *
 * CUPTI can write them into its records, but then asks the kernel for every single one. By default
 * it writes the lower half of pthread_self(), for free; which number that is we note when a thread
 * asks for its first buffer.
 */
#ifndef STRATA_INJECT_THREADS_H
#define STRATA_INJECT_THREADS_H

#include <stdint.h>

/* By the thread itself; cheap when it is known. */
void threads_note(void);

/* The system's number of a thread; the number given when it is not known. */
uint32_t threads_number(uint32_t recorded);

#endif
