/*
 * rank - what the names of a profile's folders and files tell: the folder of a rank, its number,
 * when it was recorded, and which files are parts of one table.
 */
#ifndef STRATA_INPUT_RANK_H
#define STRATA_INPUT_RANK_H

#include <stdint.h>

#include "base/str.h"

/* "op_summary_slice_3_20250101120000.csv" taken apart. */
struct name_parts {
    struct str base;   /* "op_summary": what it is */
    struct str stamp;  /* "20250101120000": when it was exported; empty when it does not say */
    int64_t slice;     /* 3: which part of a long table; -1: it is whole */
    struct str ext;    /* "csv" */
    bool is_iteration; /* the part is one iteration: not all have to be there */
};

struct name_parts rank_name_parts(struct str name);

/*
 * How much of `path` names the folder of its rank: the outermost folder *_ascend_pt, *_ascend_ms or
 * PROF_*, else the one above the folder of results or of a simulated core, else the file's own.
 * Folders that end before `root` are not looked at. 0: the file has no folder.
 */
size_t rank_folder(struct str path, size_t root);

/* The name of a simulated core: "core0.veccore0". */
bool rank_is_core(struct str name);

/* The time stamp in the name of such a folder; empty when there is none. */
struct str rank_folder_stamp(struct str name);

/* The rank that a file's name gives: profiler_info_3.json, ascend_pytorch_profiler_3.db,
 * msmonitor_<pid>_<time>_3.db. -1: none. */
int64_t rank_of_file(struct str name);

/* The number after the word rank: "rank-3", "worker_rank3", "Rank_3". -1: none. */
int64_t rank_in_text(struct str name);

/* Order of two time stamps, as numbers. */
int rank_compare_stamps(struct str a, struct str b);

#endif
