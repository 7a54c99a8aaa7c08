/*
 * gencase - a stand-alone test case of one kernel for the vendor's simulator.
 *
 * Writes <dir>/<testcase>_kernel.cpp, launch.cpp, main.cpp, CMakeLists.txt, one <param>.bin for
 * each pointer and golden.json, which says how those were filled.
 */
#ifndef STRATA_KERNELS_REPLAY_GENCASE_H
#define STRATA_KERNELS_REPLAY_GENCASE_H

#include "base/files/sink.h"
#include "kernels/replay/entry.h"
#include "kernels/replay/gm_text.h"

/* Data for one parameter that was chosen by the user. */
struct gencase_given {
    const char *file;  /* raw bytes; NULL: by the rule */
    struct str rule;   /* zero, one, random, iota, const:V; empty: that of the type */
    struct str scalar; /* value of a scalar; empty: 1 */
};

struct gencase_job {
    const char *dir;      /* is made */
    const char *testcase; /* letters, digits, '_' */
    struct str source;    /* the kernel's C++ text */
    const struct entry *entry;
    const struct gm_text *sizes;
    const struct gencase_given *given; /* one for each parameter; NULL: none */
    const char *soc, *arch;
    bool has_lines; /* keep line information */
};

enum { GENCASE_SEED = 19 };

enum status gencase_write(const struct gencase_job *job, struct arena *arena, struct diag *d);

/* Bytes of the buffer of parameter `i`; 0 when it does not fit the memory of a machine. */
size_t gencase_bytes(const struct gencase_job *job, size_t i);

/* "LaunchQk_mm" */
const char *gencase_launch(struct arena *arena, struct str kernel);

/* The text of kernel.cpp, launch.cpp, main.cpp or CMakeLists.txt. */
struct str gencase_text(const struct gencase_job *job, const char *name, struct arena *arena);

#endif
