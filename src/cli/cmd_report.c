/*
 * strata report, or `strata PATH`: finds out what a path is and runs the command that explains it.
 */
#include <stdio.h>

#include "base/fs.h"
#include "cli/session.h"
#include "report/report.h"

struct args {
    const char *rank, *device;
};

static const struct opt options[] = {
    OPT_STRING(0, "rank", "N", struct args, rank, "only this rank of a folder with several"),
    OPT_STRING(0, "device", "N", struct args, device, "only this device of a capture with several"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata examples/kineto-small", "what limits a recorded run"},
    {"strata examples/pto/attention.pto", "what limits a simulated kernel"},
    {"strata examples/kineto-small examples/kineto-small", "what changed between two runs"},
    {0},
};

enum kind {
    KIND_CAPTURE,
    KIND_INCORE,
    KIND_PTO,
    KIND_GPU_RUN,
    KIND_DATABASE,
    KIND_NCU_PAGE,
    KIND_NCU_REPORT,
    KIND_NSYS_REPORT,
    KIND_DOCUMENT,
    KINDS
};

enum { NEXT = 3, HEAD = 4096 };

/* What there is for a kind. A command is given by its words; PATH in `next` is the path. */
static const struct way {
    const char *what;
    const char *one[2], *two[2]; /* for one path, and for two; NULL: nothing */
    const char *option;          /* that takes the path; NULL: it is an operand */
    const char *next[NEXT];
} ways[KINDS] = {
    [KIND_CAPTURE] = {"a capture",
                      {"diagnose"},
                      {"diff"},
                      NULL,
                      {"strata anomaly PATH", "strata whatif PATH", "strata arch PATH"}},
    [KIND_INCORE] = {"an instruction trace",
                     {"incore", "show"},
                     {"incore", "diff"},
                     NULL,
                     {"strata incore lint PATH", "strata incore clean PATH -o cleaned"}},
    [KIND_PTO] = {"a kernel in PTO text",
                  {"pto", "sim"},
                  {NULL},
                  NULL,
                  {"strata pto sim PATH --timeline", "strata pto check PATH"}},
    [KIND_GPU_RUN] = {"a GPU run",
                      {"gpu", "report"},
                      {"gpu", "compare"},
                      NULL,
                      {"strata gpu report PATH --json"}},
    [KIND_DATABASE] = {"an operator database",
                       {"db", "check"},
                       {NULL},
                       "--database-path",
                       {"strata db coverage --database-path PATH",
                        "strata db sql --database-path PATH \"SELECT * FROM sqlite_master\""}},
    [KIND_NCU_PAGE] =
        {"a page of Nsight Compute", {NULL}, {NULL}, NULL, {"strata gpu import PATH -o run"}},
    [KIND_NCU_REPORT] = {"a report of Nsight Compute",
                         {NULL},
                         {NULL},
                         NULL,
                         {"ncu --import PATH --page raw --csv > raw.csv",
                          "strata gpu import raw.csv -o run"}},
    [KIND_NSYS_REPORT] = {"a report of Nsight Systems",
                          {NULL},
                          {NULL},
                          NULL,
                          {"nsys export --type sqlite -o run.sqlite PATH", "strata run.sqlite"}},
    [KIND_DOCUMENT] = {"an answer of strata", {NULL}, {NULL}, NULL, {"strata help --list-schemas"}},
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

static enum kind kind_of_folder(const char *dir, struct arena *arena)
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

static enum kind kind_of_file(const char *path)
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
    return is_ncu_page(head) ? KIND_NCU_PAGE : KIND_CAPTURE;
}

static enum kind kind_of(const char *path, struct arena *arena)
{
    return fs_is_dir(path) ? kind_of_folder(path, arena) : kind_of_file(path);
}

/* A command of `next` for that path. */
static struct str next_line(struct session *s, const char *line, const char *path)
{
    struct str text = str_of(line);
    size_t at = str_find(text, S("PATH"));

    return arena_format(&s->arena, "%.*s%s%.*s", STR_ARGS(str_part(text, 0, at)),
                        at < text.n ? path : "", STR_ARGS(str_part(text, at + 4, text.n)));
}

/* Nothing explains it as it is: what it is, and what to type. */
static int refuse(struct session *s, const struct way *way, const char *path)
{
    diag_fail(&s->diag, ST_UNSUPPORTED, "report.kind", (struct where){.path = path},
              "is %s, which `strata PATH` cannot show", way->what);
    for (size_t i = 0; i < NEXT && way->next[i] != NULL; i++)
        diag_hint(&s->diag, "try", "%s", next_line(s, way->next[i], path).at);
    return CODE_FILE;
}

static void print_next(struct session *s, const struct way *way, const char *path)
{
    struct report *r = report_new(session_lang(s), S(""));

    for (size_t i = 0; i < NEXT && way->next[i] != NULL; i++)
        report_fact(r, i == 0 ? "next" : "", next_line(s, way->next[i], path));
    out_text(&s->out, "\n");
    session_report(s, r);
    report_free(r);
}

/* Runs a command as if it had been typed with these options; the common ones are already there. */
static int run_as(struct session *s, const char *const words[2], const struct words *given)
{
    int used;

    s->path = command_find(words[1] != NULL ? 2 : 1, words, &used);
    const struct command *c = s->path.command;
    void *args = arena_alloc(&s->arena, c->args_size);
    const struct opt_set set = {c->options, args};
    if (c->defaults != NULL)
        memcpy(args, c->defaults, c->args_size);
    if (!opt_parse(&set, 1, (int)given->n, given->at, &s->operands, &s->diag))
        return CODE_USAGE;
    int code = c->run(s, args);
    opt_release(set);
    return code;
}

static void pass_on(struct words *words, const char *option, const char *value)
{
    if (value == NULL)
        return;
    vec_push(words, option);
    vec_push(words, value);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    const char *path = s->operands.at[0];

    for (size_t i = 0; i < s->operands.n; i++)
        if (!fs_exists(s->operands.at[i]))
            return session_code(diag_fail(&s->diag, ST_NOT_FOUND, "report.path",
                                          (struct where){.path = s->operands.at[i]},
                                          "no such file or folder"));
    enum kind kind = kind_of(path, &s->arena);
    const struct way *way = &ways[kind];
    bool is_two = s->operands.n > 1;
    if (is_two && kind_of(s->operands.at[1], &s->arena) != kind)
        return session_usage(s, "two paths are compared; %s is %s, and %s %s", path, way->what,
                             s->operands.at[1], ways[kind_of(s->operands.at[1], &s->arena)].what);
    const char *const *words = is_two ? way->two : way->one;
    if (words[0] == NULL)
        return refuse(s, way, path);
    struct words passed = {0};
    pass_on(&passed, "--rank", args->rank);
    pass_on(&passed, "--device", args->device);
    if (way->option != NULL) {
        pass_on(&passed, way->option, path);
        s->operands.n = 0;
    }
    int code = run_as(s, words, &passed);
    vec_free(&passed);
    if (code <= CODE_NO && !is_two && !s->common.json && !s->common.quiet)
        print_next(s, way, path);
    return code;
}

const struct command command_report = {
    .name = "report",
    .group = GROUP_LOOK,
    .summary = "explain any file or folder; the same as `strata PATH`",
    .usage = "[OPTIONS] PATH [PATH]",
    .details = "Finds out what PATH is (a capture, the folder of a simulator, a kernel in PTO "
               "text, a GPU run, an operator database) and prints what the command for it would, "
               "with commands to type next. Two paths of a kind are compared.",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 2},
    .common = COMMON_FORMAT | COMMON_JOBS | COMMON_LANG | COMMON_OUT,
    COMMAND_PARTS_ZERO,
};
