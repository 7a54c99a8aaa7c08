/*
 * compress - the option --compress of commands that write Arrow and Parquet.
 */
#ifndef STRATA_CLI_COMPRESS_H
#define STRATA_CLI_COMPRESS_H

#include "cli/opt.h"

enum compress_choice { COMPRESS_ZSTD, COMPRESS_NONE, COMPRESS_NOT_GIVEN = -1 };

static const char *const compress_choices[] = {"zstd", "none", NULL};

#define OPT_COMPRESS(type, member)                                                                 \
    OPT_CHOICE(0, "compress", compress_choices, type, member,                                      \
               "compression of arrow and parquet (default: zstd)")

#define COMPRESS_MISUSED "--compress applies to arrow and parquet, not %s"

#endif
