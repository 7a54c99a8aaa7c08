/*
 * asan - what AddressSanitizer is told about memory that is handed out in pieces; nothing in other
 * builds.
 */
#ifndef STRATA_BASE_ASAN_H
#define STRATA_BASE_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#define WITH_ASAN __has_feature(address_sanitizer)
#else
#define WITH_ASAN 0
#endif

#if WITH_ASAN
#include <sanitizer/asan_interface.h>
#define ASAN_UNCHECKED __attribute__((no_sanitize("address")))
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNCHECKED
#endif

#endif
