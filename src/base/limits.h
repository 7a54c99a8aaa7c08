/*
 * limits - every cap on what a file may ask for, on one page.
 *
 * Inputs are hostile: a size, a count or a depth that comes from a file is compared with one of
 * these before memory is asked for, and the call returns ST_LIMIT beyond it.
 */
#ifndef STRATA_BASE_LIMITS_H
#define STRATA_BASE_LIMITS_H

enum {
    LIMIT_CSV_COLUMNS = 4096, /* Nsight Compute's raw page has 2 238; 24 bytes each in struct csv */
    LIMIT_JSON_DEPTH = 512,   /* real traces nest 6 deep; one bit per level is kept */
    LIMIT_YAML_DEPTH = 64,    /* rule files nest 4 deep */
    LIMIT_YAML_BYTES = 4 << 20,    /* rule files have some 10 KB */
    LIMIT_CODE_TEXT = 1024,        /* one diagnostic sentence */
    LIMIT_PATH_DEPTH = 5,          /* folders below the given one that are searched */
    LIMIT_LANES = 1 << 20,         /* streams and threads; the largest public trace has 3 000 */
    LIMIT_FIELD_BYTES = 1 << 26,   /* one string value: the longest real one is a 1 MB stack */
    LIMIT_RECORD_BYTES = 1 << 28,  /* one row or event of a streamed input; bounds the window */
    LIMIT_PROC_LOG = 64 << 20,     /* captured output of an external tool; the rest is dropped */
    LIMIT_DB_TABLES = 4096,        /* tables of a database; nsys writes some 150 */
    LIMIT_DB_COLUMNS = 512,        /* columns of one of its tables; the widest has 60 */
    LIMIT_GRID_POINTS = 1 << 22,   /* shapes made for one kernel; the largest grid has 50 653 */
    LIMIT_GRID_BATCH = 1024,       /* requests of one attention row, each with its length */
    LIMIT_DEVICE_FILE = 1 << 20,   /* a user's device table; ours is 8 KB */
    LIMIT_TABLE_BYTES = 1 << 29,   /* one operator table; 16 bytes a cell are kept beside it */
    LIMIT_KERNEL_TYPES = 1 << 16,  /* operators of one import, a file each; real ones have 200 */
    LIMIT_TABLE_CELLS = 1 << 26,   /* 1 GiB of views; a table of 100 000 rows has 6 million */
    LIMIT_COST_FILE = 1 << 20,     /* constants of the PTO cost model; ours has 4 KB */
    LIMIT_PTO_BYTES = 64 << 20,    /* one kernel as text; the longest public one has 267 KB */
    LIMIT_PTO_ALIASES = 1 << 16,   /* uses of named attributes: names of names could explode */
    LIMIT_PTO_DEPTH = 200,         /* its regions, attributes and types; kernels nest 8 deep */
    LIMIT_SCENE_BYTES = 4 << 20,   /* a test scene or a list of arguments; real ones have 20 KB */
    LIMIT_PARQUET_DEPTH = 32,      /* of a schema; tables of measurements are flat */
    LIMIT_PARQUET_ROWS = 1 << 24,  /* of a row group; writers make 2^20 at most unless asked */
    LIMIT_PARQUET_PAGE = 1 << 28,  /* one page unpacked; the usual one has 1 MiB */
    LIMIT_PARQUET_BYTES = 1 << 29, /* all pages of a column in a row group, unpacked */
    LIMIT_PICKLE_STACK = 1 << 20,  /* values put aside; 24 bytes each, real ones have some 1 000 */
    LIMIT_SOURCE_BYTES = 16 << 20, /* one kernel in C++; real ones have 40 KB */
};

/* One interned string. strid is 32 bits wide, so there are at most 2^32 - 1 strings. */
#define LIMIT_STRINGS UINT32_MAX

#endif
