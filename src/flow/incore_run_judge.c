/*
 * What a reader of a collected trace should see first.
 */
#include "base/fs.h"
#include "base/mapfile.h"
#include "flow/incore_run.h"
#include "incore/health.h"

static const char degenerate[] =
    "degenerate trace: nothing was multiplied and hardly a vector computed: either a loop bound or "
    "work table was read from a zero-filled input (0 iterations), or this is a pure data-movement "
    "kernel; overwrite only the control inputs (--input, --fill) and scalars (--arg) and run again";

void incore_run_judge(struct incore_kernel *k, const char *folder)
{
    struct incore_exe exe = {0};
    struct fs_list list = {0};
    struct diag own;

    diag_init(&own);
    if (fs_walk(&k->arena, folder, NULL, 0, &list, &own) != ST_OK)
        list.n = 0;
    for (size_t i = 0; i < list.n; i++) {
        struct mapfile map;
        if (list.at[i].kind != FS_FILE || !str_ends(list.at[i].name, S(".csv")) ||
            str_find(list.at[i].name, S("instr_exe")) == list.at[i].name.n ||
            mapfile_open(&map, list.at[i].path, &own) != ST_OK)
            continue;
        incore_exe_add(&exe, map.text);
        mapfile_close(&map);
    }
    diag_fini(&own);
    if (!incore_exe_is_degenerate(&exe))
        return;
    run_row_check(&k->row, degenerate);
    bool has_message = k->row.message != NULL && k->row.message[0] != '\0' &&
                       strcmp(k->row.message, "collect produced traces directly") != 0;
    k->row.message = has_message
                         ? arena_format(&k->arena, "%s; %s", k->row.message, degenerate).at
                         : degenerate;
}
