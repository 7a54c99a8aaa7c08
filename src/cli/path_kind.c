/*
 * path_kind: what a file or folder is, from its name and first bytes.
 */
#include "cli/path_kind.h"

#include <stdio.h>

#include "base/fs.h"

enum { HEAD = 4096 };

const struct path_way path_ways[KINDS] = {
    [KIND_CAPTURE] = {.what = "a capture",
                      .one = {"diagnose"},
                      .two = {"diff"},
                      .next = {"strata anomaly PATH", "strata whatif PATH", "strata arch PATH"}},
    [KIND_INCORE] = {.what = "an instruction trace",
                     .one = {"incore", "show"},
                     .two = {"incore", "diff"},
                     .is_text = true,
                     .next = {"strata incore lint PATH", "strata incore clean PATH -o cleaned"}},
    [KIND_PTO] = {.what = "a kernel in PTO text",
                  .one = {"pto", "sim"},
                  .next = {"strata pto sim PATH --timeline", "strata pto check PATH"}},
    [KIND_GPU_RUN] = {.what = "a GPU run",
                      .one = {"gpu", "report"},
                      .two = {"gpu", "compare"},
                      .next = {"strata gpu report PATH --json"}},
    [KIND_DATABASE] = {.what = "an operator database",
                       .one = {"db", "check"},
                       .option = "--database-path",
                       .is_text = true,
                       .next = {"strata db coverage --database-path PATH",
                                "strata db sql --database-path PATH "
                                "\"SELECT * FROM sqlite_master\""}},
    [KIND_NCU_PAGE] = {.what = "a page of Nsight Compute",
                       .next = {"strata gpu import PATH -o run"}},
    [KIND_NCU_REPORT] = {.what = "a report of Nsight Compute",
                         .next = {"ncu --import PATH --page raw --csv > raw.csv",
                                  "strata gpu import raw.csv -o run"}},
    [KIND_NSYS_REPORT] = {.what = "a report of Nsight Systems",
                          .next = {"nsys export --type sqlite -o run.sqlite PATH",
                                   "strata run.sqlite"}},
    [KIND_PREDICTION] = {.what = "a predicted trace",
                         .one = {"db", "trace-csv"},
                         .option = "--trace",
                         .is_text = true,
                         .next = {"strata diff PATH measured.csv"}},
    [KIND_DOCUMENT] = {.what = "an answer of strata", .next = {"strata help --list-schemas"}},
};

static bool has_file(const char *dir, const char *name, struct arena *arena)
{
    return fs_exists(fs_join(arena, dir, name));
}

static bool is_incore_name(struct str name)
{
    return str_equal(name, S("visualize_data.bin")) || str_ends(name, S(".instr_log.dump")) ||
           str_ends(name, S(".instr_popped_log.dump"));
}

/* Folders that simulators and operator profilers make have such entries. */
static bool is_incore_folder(const char *dir, const struct fs_list *entries, struct arena *arena)
{
    if (has_file(dir, "simulator/visualize_data.bin", arena))
        return true;
    for (size_t i = 0; i < entries->n; i++)
        if (is_incore_name(entries->at[i].name) || str_starts(entries->at[i].name, S("OPPROF_")))
            return true;
    return false;
}

static enum path_kind kind_of_folder(const char *dir, struct arena *arena)
{
    struct fs_list entries = {0};
    struct diag quiet;

    diag_init(&quiet);
    enum status st = fs_list(arena, dir, &entries, &quiet);
    diag_fini(&quiet);
    if (st != ST_OK)
        return KIND_CAPTURE; /* whose reader says why */
    if (has_file(dir, "run.json", arena) && has_file(dir, "kernels.json", arena))
        return KIND_GPU_RUN;
    if (has_file(dir, "op_mapping.yaml", arena))
        return KIND_DATABASE;
    return is_incore_folder(dir, &entries, arena) ? KIND_INCORE : KIND_CAPTURE;
}

static size_t read_head(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "rbe");
    size_t n = f != NULL ? fread(buf, 1, size, f) : 0;

    if (f != NULL)
        fclose(f);
    return n;
}

/* Pages of Nsight Compute begin with a line of column names, or with what the tool said. */
static bool is_ncu_page(struct str head)
{
    return str_starts(head, S("==PROF==")) || str_starts(head, S("\"ID\",\"Process ID\"")) ||
           str_starts(head, S("\"Kernel Name\",\"")) ||
           str_starts(head, S("\"Address\",\"Source\""));
}

static enum path_kind kind_of_file(const char *path)
{
    struct str name = str_basename(str_of(path));
    char buf[HEAD];

    if (str_ends(name, S(".pto")))
        return KIND_PTO;
    if (str_ends(name, S(".ncu-rep")))
        return KIND_NCU_REPORT;
    if (str_ends(name, S(".nsys-rep")))
        return KIND_NSYS_REPORT;
    if (is_incore_name(name))
        return KIND_INCORE;
    struct str head = {buf, read_head(path, buf, sizeof(buf))};
    if (str_find(head, S("\"schema\": \"strata.")) < head.n && str_starts(head, S("{")))
        return KIND_DOCUMENT;
    if (str_find(head, S("\"traceEvents\"")) < head.n &&
        str_find(head, S("\"kernel_type\"")) < head.n)
        return KIND_PREDICTION;
    return is_ncu_page(head) ? KIND_NCU_PAGE : KIND_CAPTURE;
}

enum path_kind path_kind_of(const char *path, struct arena *arena)
{
    return fs_is_dir(path) ? kind_of_folder(path, arena) : kind_of_file(path);
}
