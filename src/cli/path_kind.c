/*
 * path_kind: what a file or folder is, from its name and first bytes.
 */
#include "cli/path_kind.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "gpu/timeline/gpu_timeline_job.h"
#include "input/bundle.h"

enum { HEAD = 4096 };

#define CLEAN_TRACE "trace.clean.json" /* of `strata incore clean` */
#define NCU_RAW     "raw.csv"          /* as docs and other tools name the page with all metrics */

const struct path_way path_ways[KINDS] = {
    [KIND_CAPTURE] = {.what = "a capture",
                      .one = {"diagnose"},
                      .two = {"diff"},
                      .next = {{"strata anomaly PATH", "idle time, step by step"},
                               {"strata whatif PATH", "what changes would save"},
                               {"strata ops PATH", "time by operator"}}},
    [KIND_INCORE] = {.what = "an instruction trace",
                     .tool = "incore",
                     .page = PAGE_INCORE,
                     .one = {"incore", "show"},
                     .two = {"incore", "diff"},
                     .next = {{"strata incore lint PATH", "what to change"},
                              {"strata incore clean PATH -o cleaned",
                               "without simulator artefacts"}}},
    [KIND_PTO] = {.what = "a kernel in PTO text",
                  .tool = "simulate",
                  .page = PAGE_INCORE,
                  .one = {"pto", "sim"},
                  .next = {{"strata pto sim PATH --timeline", "its pipes over time"},
                           {"strata pto sim PATH --what-if", "what changes would save"},
                           {"strata pto check PATH", "mistakes in the text"}}},
    [KIND_PTO_FOLDER] = {.what = "a folder of kernels in PTO text",
                         .tool = "simulate",
                         .page = PAGE_INCORE,
                         .one = {"pto", "sim"},
                         .next = {{"strata incore run PATH --target a2a3 --backend sim",
                                   "a trace of each"}}},
    [KIND_CPP] = {.what = "a PTO kernel in C++",
                  .page = PAGE_INCORE,
                  .one = {"pto", "cc"},
                  .next = {{"strata pto cc PATH --lines", "the source with cycles"},
                           {"strata pto cc PATH --write-arg-spec args.json",
                            "its arguments, to be corrected"}}},
    [KIND_GPU_RUN] = {.what = "a GPU run",
                      .tool = "gpu_report",
                      .page = PAGE_GPU,
                      .one = {"gpu", "report"},
                      .two = {"gpu", "compare"},
                      .flag = "--brief",
                      .next = {{"strata gpu report PATH", "every kernel and rule"},
                               {"strata PATH -o report.html", "the same for a browser"}}},
    [KIND_DATABASE] = {.what = "an operator database",
                       .tool = "db_query",
                       .page = PAGE_DATABASE,
                       .one = {"db", "check"},
                       .option = "--database-path",
                       .flag = "--brief",
                       .next = {{"strata db check --database-path PATH", "its problems"},
                                {"strata db coverage --database-path PATH",
                                 "which shapes it has"}}},
    [KIND_DATABASE_FILE] = {.what = "a file of an operator database",
                            .next = {{"strata FOLDER", NULL}}},
    [KIND_PART] = {.what = "one file of a run folder", .next = {{"strata FOLDER", NULL}}},
    [KIND_SCENE] = {.what = "a scene of kernels to replay",
                    .next = {{"strata incore replay PATH --case NAME --kernel NAME --dry-run",
                              NULL}}},
    [KIND_NCU_PAGE] = {.what = "a page of Nsight Compute",
                       .tool = "gpu_report",
                       .one = {"gpu", "report"},
                       .two = {"gpu", "compare"},
                       .flag = "--brief",
                       .next = {{"strata gpu import PATH -o run", "keep it as a GPU run"}}},
    [KIND_NCU_REPORT] = {.what = "a report of Nsight Compute",
                         .one = {"gpu", "report"},
                         .two = {"gpu", "compare"},
                         .flag = "--brief",
                         .next = {{"strata gpu import PATH -o run", "keep it as a GPU run"}}},
    [KIND_NSYS_REPORT] = {.what = "a report of Nsight Systems",
                          .one = {"gpu", "timeline"},
                          .next = {{"strata gpu import PATH -o run", "keep it as a GPU run"}}},
    [KIND_PREDICTION] = {.what = "a predicted trace",
                         .next = {{"strata diff PATH MEASURED.csv", NULL},
                                  {"strata db trace-csv --trace PATH", NULL}}},
    [KIND_SNAPSHOT] = {.what = "a memory snapshot",
                       .one = {"memory"},
                       .two = {"memory"},
                       .next = {{"strata PATH -o report.html", "the curve and the blocks"},
                                {"strata memory PATH --json", "every stack"}}},
    [KIND_DOCUMENT] = {.what = "an answer of strata",
                       .next = {{"strata help --list-schemas", NULL}}},
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

/* Pipes and devices give their bytes once. */
static size_t read_head(const char *path, char *buf, size_t size)
{
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rbe") : NULL;
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

/* Tables of operators, of collectives, and the file that names them. */
static bool is_database_file(struct str name, struct str head)
{
    struct str line = str_part(head, 0, str_find_char(head, '\n'));

    return str_equal(name, S("op_mapping.yaml")) || str_starts(line, S("message_bytes,")) ||
           str_find(line, S("Average Duration(us)")) < line.n;
}

static bool is_scene(struct str name, struct str head)
{
    return str_ends(name, S(".py"))
               ? str_find(head, S("CASES")) < head.n || str_find(head, S("CALLABLE")) < head.n
               : str_equal(name, S("scene.json"));
}

/* Files that say little without those beside them: of a GPU run, of a simulator. */
static bool is_part(const char *path, struct str name, struct arena *arena)
{
    const char *folder = arena_cstr(arena, str_part(str_of(path), 0, (size_t)(name.at - path)));
    bool is_of_run = folder[0] != '\0' && has_file(folder, "run.json", arena) &&
                     has_file(folder, "kernels.json", arena);

    return is_of_run || str_ends(name, S("_summary_log")) ||
           (str_find(name, S("_instr_exe")) < name.n && str_ends(name, S(".csv")));
}

static enum path_kind kind_of_file(const char *path, struct arena *arena)
{
    struct str name = str_basename(str_of(path));
    char buf[HEAD];

    if (str_ends(name, S(".pto")))
        return KIND_PTO;
    if (str_ends(name, S(".ncu-rep")) || str_ends(name, S(".ncu-repz")))
        return KIND_NCU_REPORT;
    if (gpu_timeline_is_report(path))
        return KIND_NSYS_REPORT;
    if (is_incore_name(name))
        return KIND_INCORE;
    struct str head = {buf, read_head(path, buf, sizeof(buf))};
    if (str_ends(name, S(".cpp")) && str_find(head, S("pto/pto-inst.hpp")) < head.n)
        return KIND_CPP;
    if (str_find(head, S("\"schema\": \"strata.")) < head.n && str_starts(head, S("{")))
        return KIND_DOCUMENT;
    if (is_part(path, name, arena))
        return KIND_PART;
    if (str_find(head, S("\"profilingType\"")) < head.n && str_starts(head, S("{")))
        return KIND_INCORE; /* trace.json of the operator simulator, cleaned or not */
    if (str_find(head, S("\"traceEvents\"")) < head.n &&
        str_find(head, S("\"kernel_type\"")) < head.n)
        return KIND_PREDICTION;
    if (input_probe(&input_torch_snapshot, &(struct probe){path, name, head}) > 0 ||
        (str_starts(head, S("\x1f\x8b")) && input_claims(&input_torch_snapshot, name)))
        return KIND_SNAPSHOT;
    if (is_database_file(name, head))
        return KIND_DATABASE_FILE;
    if (is_scene(name, head))
        return KIND_SCENE;
    return is_ncu_page(head) ? KIND_NCU_PAGE : KIND_CAPTURE;
}

/* Empty where it cannot be read: the reader of captures says why. */
static struct fs_list list(const char *dir, struct arena *arena)
{
    struct fs_list entries = {0};
    struct diag quiet;

    diag_init(&quiet);
    if (fs_list(arena, dir, &entries, &quiet) != ST_OK)
        entries.n = 0;
    diag_fini(&quiet);
    return entries;
}

static bool has_capture(const char *path, struct arena *arena)
{
    const struct input_options options = input_defaults();
    struct bundles found = {0};
    struct diag quiet;

    diag_init(&quiet);
    bool is_there = bundles_find(&path, 1, &options, arena, &quiet, &found) == ST_OK && found.n > 0;
    diag_fini(&quiet);
    return is_there;
}

/* A folder whose files say together what it is: kernels, or tables of operators. */
static enum path_kind kind_of_tables(const char *dir, const struct fs_list *entries,
                                     struct arena *arena)
{
    enum { LOOKED_AT = 4 };
    size_t kernels = 0, tables = 0, others = 0;

    for (size_t i = 0; i < entries->n; i++) {
        const struct fs_entry *e = &entries->at[i];
        if (str_ends(e->name, S(".pto")))
            kernels++;
        else if (str_ends(e->name, S(".csv")) && tables + others < LOOKED_AT)
            *(kind_of_file(e->path, arena) == KIND_DATABASE_FILE ? &tables : &others) += 1;
    }
    if (kernels > 0)
        return KIND_PTO_FOLDER;
    if (tables > 0 && others == 0)
        return KIND_DATABASE;
    /* A build keeps the kernels of each program in a folder of their own. */
    const char *const *files;
    return path_pto_files(dir, arena, &files) > 0 && !has_capture(dir, arena) ? KIND_PTO_FOLDER
                                                                              : KIND_CAPTURE;
}

/* Folders that simulators and operator profilers make have such entries. */
static bool is_incore_folder(const char *dir, const struct fs_list *entries, struct arena *arena)
{
    if (has_file(dir, "simulator/visualize_data.bin", arena))
        return true;
    for (size_t i = 0; i < entries->n; i++) {
        struct str name = entries->at[i].name;
        bool is_trace = str_starts(name, S("trace")) && str_ends(name, S(".json")) &&
                        !str_equal(name, S(CLEAN_TRACE));
        if (is_incore_name(name) || str_starts(name, S("OPPROF_")) ||
            (is_trace && kind_of_file(entries->at[i].path, arena) == KIND_INCORE))
            return true;
    }
    return false;
}

enum path_kind path_kind_of(const char *path, struct arena *arena)
{
    if (!fs_is_dir(path))
        return kind_of_file(path, arena);
    struct fs_list entries = list(path, arena);
    if (has_file(path, "run.json", arena) && has_file(path, "kernels.json", arena))
        return KIND_GPU_RUN;
    if (has_file(path, "op_mapping.yaml", arena))
        return KIND_DATABASE;
    if (is_incore_folder(path, &entries, arena))
        return KIND_INCORE;
    if (has_file(path, NCU_RAW, arena) &&
        kind_of_file(fs_join(arena, path, NCU_RAW), arena) == KIND_NCU_PAGE)
        return KIND_NCU_PAGE;
    return kind_of_tables(path, &entries, arena);
}

const char *path_inside(const char *path, struct arena *arena)
{
    enum { DEEPEST = 8 };
    const char *at = path;

    for (int depth = 0; depth < DEEPEST && fs_is_dir(at); depth++) {
        struct fs_list entries = list(at, arena);
        if (has_file(at, CLEAN_TRACE, arena) && !has_file(at, "visualize_data.bin", arena))
            return fs_join(arena, at, CLEAN_TRACE);
        if (path_kind_of(at, arena) != KIND_CAPTURE)
            return at;
        const char *replayed = fs_join(arena, at, "insight_export"); /* of incore replay */
        if (entries.n != 1 && !fs_is_dir(replayed))
            return path;
        at = entries.n != 1 ? replayed : entries.at[0].path;
    }
    return path;
}

size_t path_known_entries(const char *dir, struct arena *arena, const char **out, size_t most)
{
    struct fs_list entries = list(dir, arena);
    size_t n = 0;

    for (size_t i = 0; i < entries.n && n < most; i++)
        if (path_kind_of(entries.at[i].path, arena) != KIND_CAPTURE)
            out[n++] = entries.at[i].path;
    return n;
}

/* Kinds that are sure of what they are and are explained by themselves. */
static bool is_alone(enum path_kind kind)
{
    return path_ways[kind].one[0] != NULL && kind != KIND_CAPTURE;
}

size_t path_others(const char *dir, enum path_kind shown, struct arena *arena,
                   struct path_other *out, size_t most)
{
    struct fs_list entries = {0};
    size_t n = 0;

    if (fs_is_dir(dir) && (shown == KIND_CAPTURE || shown == KIND_PTO_FOLDER))
        entries = list(dir, arena);
    for (size_t i = 0; i < entries.n && n < most; i++) {
        const char *inside = path_inside(entries.at[i].path, arena);
        enum path_kind kind = path_kind_of(inside, arena);
        bool is_part = shown == KIND_PTO_FOLDER && (kind == KIND_PTO || kind == KIND_PTO_FOLDER);
        if (!is_part && (is_alone(kind) || (shown != KIND_CAPTURE && kind == KIND_CAPTURE &&
                                            has_capture(inside, arena))))
            out[n++] = (struct path_other){inside, kind};
    }
    return n;
}

const char *path_ncu_page(const char *path, struct arena *arena)
{
    return fs_is_dir(path) ? fs_join(arena, path, NCU_RAW) : path;
}

size_t path_pto_files(const char *dir, struct arena *arena, const char *const **out)
{
    struct fs_list entries = {0};
    struct diag quiet;
    size_t n = 0;

    diag_init(&quiet);
    if (fs_walk(arena, dir, NULL, 0, &entries, &quiet) != ST_OK)
        entries.n = 0;
    diag_fini(&quiet);
    const char **files = ARENA_ARRAY(arena, const char *, entries.n);
    for (size_t i = 0; i < entries.n; i++)
        if (str_ends(entries.at[i].name, S(".pto")))
            files[n++] = entries.at[i].path;
    *out = files;
    return n;
}
