/*
 * Source pages: lines, instructions, samples. See ncu_source.h.
 */
#include "gpu/ncu/ncu_source.h"

#include <math.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "gpu/ncu/ncu_csv.h"
#include "gpu/ncu/ncu_page.h"

/* Our column, and the ones it is taken from, the first that the page has. */
static const struct {
    struct str name;
    const char *from;
} cells[GPU_SASS_CELLS] = {
    {S_INIT("samples"), "# Samples|Warp Stall Sampling (All Samples)|"
                        "Warp Stall Sampling (All Cycles)"},
    {S_INIT("samples_not_issued"), "Warp Stall Sampling (Not-issued Samples)|"
                                   "Warp Stall Sampling (Not-issued Cycles)"},
    {S_INIT("inst_executed"), "Instructions Executed"},
    {S_INIT("thread_inst_executed"), "Thread Instructions Executed"},
    {S_INIT("pred_on_thread_inst"), "Predicated-On Thread Instructions Executed"},
    {S_INIT("avg_threads"), "Avg. Threads Executed"},
    {S_INIT("addr_space"), "Address Space"},
    {S_INIT("access_op"), "Access Operation"},
    {S_INIT("access_size"), "Access Size"},
    {S_INIT("l1_tag_req"), "L1 Tag Requests Global"},
    {S_INIT("l2_sectors"), "L2 Theoretical Sectors Global"},
    {S_INIT("l2_sectors_ideal"), "L2 Theoretical Sectors Global Ideal"},
    {S_INIT("l2_sectors_excess"), "L2 Theoretical Sectors Global Excessive"},
    {S_INIT("smem_conflict_nway"), "L1 Conflicts Shared N-Way"},
    {S_INIT("smem_wavefronts"), "L1 Wavefronts Shared"},
    {S_INIT("smem_wavefronts_ideal"), "L1 Wavefronts Shared Ideal"},
};

struct source_page {
    struct gpu_import *in;
    struct csv csv;
    struct str file, kernel;
    size_t listing; /* SIZE_MAX: none yet */
    bool has_header;
    int line, text, address, sass; /* columns; -1: the page lacks them */
    int cell[GPU_SASS_CELLS];
    int stall[GPU_SASS_STALLS];   /* columns */
    size_t slot[GPU_SASS_STALLS]; /* and their places among the names of the listing */
    size_t n_stalls;
    uint64_t at_line;         /* that the instructions below belong to */
    VEC_OF(struct str) files; /* of the listing so far */
};

struct str gpu_sass_cell(size_t i)
{
    return cells[i].name;
}

void gpu_listing_free(struct gpu_listing *l)
{
    vec_free(&l->sass);
    vec_free(&l->lines);
    vec_free(&l->stall_names);
}

static struct str source_keep(struct source_page *p, struct str text)
{
    return arena_str(p->in->arena, csv_unquote(text, p->in->arena));
}

/* The column whose head in the row is one of `from`; `nth` of several with that name. */
static int find_column(const struct source_page *p, const char *from, int nth)
{
    struct str rest = str_of(from), one;

    while (str_split(&rest, '|', &one)) {
        int seen = 0;
        for (size_t i = 0; i < p->csv.n_cells && i < LIMIT_CSV_COLUMNS; i++)
            if (str_equal(csv_cell(&p->csv, (int)i), one) && seen++ == nth)
                return (int)i;
    }
    return -1;
}

static struct gpu_listing *listing(struct source_page *p)
{
    if (p->listing == SIZE_MAX) {
        p->listing = p->in->listings.n;
        vec_push(&p->in->listings, (struct gpu_listing){.kernel = p->kernel});
    }
    return &p->in->listings.at[p->listing];
}

/* The place of a name in the listing, added when it is new: the blocks of a kernel may differ. */
static size_t stall_slot(struct gpu_listing *l, struct str name)
{
    for (size_t i = 0; i < l->stall_names.n; i++)
        if (str_equal(l->stall_names.at[i], name))
            return i;
    if (l->stall_names.n >= GPU_SASS_STALLS)
        return GPU_SASS_STALLS;
    vec_push(&l->stall_names, name);
    return l->stall_names.n - 1;
}

static void read_header(struct source_page *p)
{
    struct gpu_listing *l = listing(p);
    struct str mark = S(" (Not Issued)");

    p->line = find_column(p, "Line No", 0);
    p->text = p->line >= 0 ? find_column(p, "Source", 0) : -1;
    p->address = find_column(p, "Address", 0);
    p->sass = find_column(p, "Source", p->line >= 0 ? 1 : 0);
    for (size_t i = 0; i < GPU_SASS_CELLS; i++)
        p->cell[i] = find_column(p, cells[i].from, 0);
    p->n_stalls = 0;
    for (size_t i = 0; i < p->csv.n_cells && p->n_stalls < GPU_SASS_STALLS; i++) {
        struct str head = csv_cell(&p->csv, (int)i);
        if (!str_starts(head, S("stall_")))
            continue;
        /* "stall_wait (Not Issued)" is stall_wait_not_issued; sleeping is another word for sleep.
         */
        bool is_not_issued = str_ends(head, mark);
        struct str name = str_part(head, 0, head.n - (is_not_issued ? mark.n : 0));
        if (str_equal(name, S("stall_sleeping")))
            name = S("stall_sleep");
        name = arena_format(p->in->arena, "%.*s%s", STR_ARGS(name),
                            is_not_issued ? "_not_issued" : "");
        size_t slot = stall_slot(l, name);
        if (slot >= GPU_SASS_STALLS)
            break;
        p->slot[p->n_stalls] = slot;
        p->stall[p->n_stalls++] = (int)i;
    }
    p->has_header = true;
}

static double source_number(const struct source_page *p, int column)
{
    double value = NAN;

    return gpu_number(csv_cell(&p->csv, column), GPU_NUMBERS_ENGLISH, &value) ? value : NAN;
}

static void read_line(struct source_page *p, uint64_t line)
{
    struct gpu_listing *l = listing(p);
    struct str reason = {"", 0}; /* the most frequent one of all samples */
    double most = 0;

    p->at_line = line;
    for (size_t i = 0; i < p->n_stalls; i++) {
        double value = source_number(p, p->stall[i]);
        struct str name = l->stall_names.at[p->slot[i]];
        if (value > most && !str_ends(name, S("_not_issued"))) {
            most = value;
            reason = name;
        }
    }
    vec_push(&l->lines, ((struct gpu_line){.file = p->file,
                                           .line = line,
                                           .text = source_keep(p, csv_cell(&p->csv, p->text)),
                                           .samples = source_number(p, p->cell[0]),
                                           .inst = source_number(p, p->cell[GPU_SASS_INST]),
                                           .stall = reason}));
}

static bool read_instruction(struct source_page *p)
{
    struct gpu_listing *l = listing(p);
    struct gpu_sass s = {.file = p->file, .line = p->at_line, .order = l->sass.n};
    double *stalls = ARENA_ARRAY(p->in->arena, double, GPU_SASS_STALLS);

    if (l->sass.n >= GPU_SASS_ROWS)
        return false;
    struct str address = csv_cell(&p->csv, p->address);
    if (str_equal(address, S("...")))
        return true; /* addresses were left out */
    if (!num_hex(address, &s.pc) && !num_u64(address, &s.pc))
        return false;
    s.text = str_trim(source_keep(p, csv_cell(&p->csv, p->sass)));
    for (size_t i = 0; i < GPU_SASS_CELLS; i++) {
        struct str cell = csv_cell(&p->csv, p->cell[i]);
        s.cells[i] = str_equal(cell, S("-")) ? (struct str){"", 0} : source_keep(p, cell);
    }
    for (size_t i = 0; i < GPU_SASS_STALLS; i++)
        stalls[i] = NAN;
    for (size_t i = 0; i < p->n_stalls; i++)
        stalls[p->slot[i]] = source_number(p, p->stall[i]);
    s.stalls = stalls;
    s.samples = source_number(p, p->cell[0]);
    vec_push(&l->sass, s);
    return true;
}

ORDER_BY(by_pc, struct gpu_sass, ORDER(x->pc, y->pc) ?: ORDER(x->order, y->order));

/* Instructions in the order of their addresses, which then count from 0. Pages repeat an
 * instruction under each line that it was made from; it counts once, where it stood first. */
static void source_finish(struct source_page *p)
{
    size_t n = 0;

    if (p->listing == SIZE_MAX)
        return;
    struct gpu_listing *l = listing(p);
    if (l->sass.n > 0)
        qsort(l->sass.at, l->sass.n, sizeof(*l->sass.at), by_pc);
    uint64_t base = l->sass.n > 0 ? l->sass.at[0].pc : 0;
    for (size_t i = 0; i < l->sass.n; i++) {
        struct gpu_sass s = l->sass.at[i];
        s.pc -= base;
        if (n > 0 && l->sass.at[n - 1].pc == s.pc)
            continue;
        l->samples += isnan(s.samples) ? 0 : s.samples;
        l->sass.at[n++] = s;
    }
    l->sass.n = n;
    p->listing = SIZE_MAX;
    p->files.n = 0;
}

static void read_row(struct source_page *p, const char *path, uint64_t line_base, struct diag *d)
{
    struct str first = csv_cell(&p->csv, 0);
    uint64_t line;

    if (str_equal(first, S("File Path"))) {
        p->file = source_keep(p, csv_cell(&p->csv, 1));
    } else if (str_equal(first, S("Function Name")) || str_equal(first, S("Kernel Name"))) {
        struct str name = source_keep(p, csv_cell(&p->csv, 1));
        /* A file that this launch showed already begins the next launch of the same kernel. */
        if (!str_equal(p->kernel, name) || str_is_one_of(p->file, p->files.at, p->files.n))
            source_finish(p);
        p->kernel = name;
        vec_push(&p->files, p->file);
        p->has_header = false;
        p->at_line = 0;
    } else if (str_equal(first, S("Line No")) || str_equal(first, S("Address"))) {
        read_header(p);
    } else if (p->has_header) {
        bool is_line = p->line >= 0 && num_u64(csv_cell(&p->csv, p->line), &line);
        if (is_line && !p->csv.is_broken)
            read_line(p, line);
        if (!p->csv.is_broken && (is_line || read_instruction(p)) && ++p->in->rows > 0)
            return;
        p->in->lost++;
        diag_add(d, SEV_LOSS, "ncu-csv.bad-row",
                 (struct where){.path = path, .line = p->csv.line - 1 + line_base},
                 "row skipped: neither a source line nor an instruction");
    }
}

void gpu_source_read(struct gpu_import *in, const char *path, struct str text, uint64_t line_base,
                     struct diag *d)
{
    struct source_page *p = ARENA_NEW(in->arena, struct source_page);
    char *copy = arena_alloc(in->arena, text.n + 3);

    /* The first row of a page is no header but a row like others: a line before it is the header.
     */
    memcpy(copy, "-\n", 2);
    if (text.n > 0)
        memcpy(copy + 2, text.at, text.n);
    *p = (struct source_page){.in = in, .listing = SIZE_MAX};
    csv_open(&p->csv, (struct str){copy, text.n + 2});
    while (csv_next(&p->csv))
        read_row(p, path, line_base, d);
    source_finish(p);
    vec_free(&p->files);
}
