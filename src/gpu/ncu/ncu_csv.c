/*
 * Which page a text holds, and its rows. See ncu_csv.h.
 */
#include "gpu/ncu/ncu_csv.h"

#include <math.h>

#include "base/text/char.h"
#include "base/text/mangled.h"
#include "base/text/num.h"
#include "gpu/ncu/ncu_page.h"

static const struct str heads[NCU_HEADS] = {
    S_INIT("ID"),        S_INIT("Process ID"), S_INIT("Kernel Name"),
    S_INIT("Context"),   S_INIT("Stream"),     S_INIT("Block Size"),
    S_INIT("Grid Size"), S_INIT("Device"),     S_INIT("CC"),
};

void gpu_import_free(struct gpu_import *in)
{
    for (size_t i = 0; i < in->kernels.n; i++)
        gpu_kernel_free(&in->kernels.at[i]);
    for (size_t i = 0; i < in->listings.n; i++)
        gpu_listing_free(&in->listings.at[i]);
    vec_free(&in->kernels);
    vec_free(&in->known);
    vec_free(&in->listings);
    vec_free(&in->ptx);
}

/* ---- which page ---- */

bool ncu_has_column(struct str line, struct str name)
{
    for (size_t at = 0; at < line.n;) {
        size_t from = at + str_find(str_part(line, at, line.n), name), to = from + name.n;
        if (from >= line.n)
            return false;
        bool begins = from == 0 || line.at[from - 1] == ',' || line.at[from - 1] == '"';
        bool ends = to == line.n || line.at[to] == ',' || line.at[to] == '"' || line.at[to] == '\r';
        if (begins && ends)
            return true;
        at = to;
    }
    return false;
}

/* The first head of any summary of nsys. */
static bool begins_with_time(struct str line)
{
    return str_starts(line, S("Time")) || str_starts(line, S("\"Time"));
}

/* The order decides: a details page has the columns of a raw one, too. */
static enum gpu_page page_of_line(struct str line)
{
    static const struct {
        struct str begin;
        enum gpu_page page;
    } begins[] = {
        {S_INIT("\"File Path\","), GPU_PAGE_SOURCE},
        {S_INIT("\"Function Name\","), GPU_PAGE_SOURCE},
        {S_INIT("\"Kernel Name\",\""), GPU_PAGE_SOURCE},
        {S_INIT("\"Address\",\"Source\""), GPU_PAGE_SOURCE},
        {S_INIT("\"Line No\",\"Source\""), GPU_PAGE_SOURCE},
        {S_INIT("range,kernel,"), GPU_PAGE_RANGES},
    };

    if (ncu_is_text_summary(line))
        return GPU_PAGE_TABLE;
    if (begins_with_time(line))
        return ncu_is_summary(line) ? GPU_PAGE_SUMMARY : GPU_PAGE_NONE;
    if (ncu_has_column(line, S("Kernel Name")) && ncu_has_column(line, S("ID"))) {
        if (ncu_has_column(line, S("Body Item Label")))
            return GPU_PAGE_LABELLED;
        return ncu_has_column(line, S("Metric Name")) ? GPU_PAGE_DETAILS : GPU_PAGE_RAW;
    }
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (str_starts(line, begins[i].begin))
            return begins[i].page;
    return ncu_is_text_launch(line) ? GPU_PAGE_TEXT : GPU_PAGE_NONE;
}

static struct str line_at(struct str text, size_t at)
{
    struct str rest = str_part(text, at, text.n);

    return str_part(rest, 0, str_find_char(rest, '\n'));
}

/* Source pages begin alike: the first header tells which one it is. */
static bool is_ptx(struct str text, size_t at)
{
    enum { LINES = 4 };

    for (int i = 0; i < LINES && at < text.n; i++) {
        struct str line = line_at(text, at);
        if (gpu_ptx_is_header(line))
            return true;
        if (str_starts(line, S("\"Line No\"")) || str_starts(line, S("\"Address\"")))
            return false;
        at += line.n + 1;
    }
    return false;
}

enum gpu_page gpu_page_of(struct str text, size_t *header)
{
    size_t at = str_starts(text, S("\xef\xbb\xbf")) ? 3 : 0;

    while (at < text.n) {
        struct str line = line_at(text, at);
        enum gpu_page page = page_of_line(line);
        if (page != GPU_PAGE_NONE) {
            *header = at;
            return page == GPU_PAGE_SOURCE && is_ptx(text, at) ? GPU_PAGE_PTX : page;
        }
        at += line.n + 1;
    }
    return GPU_PAGE_NONE;
}

/* Where the page that begins `text` ends: at the header of another, which a log of several
 * processes or reports has. The blocks of a source or PTX page are one page, and so are the
 * launches of a text; a summary of nsys ends at an empty line, behind which it tells of the next
 * one. */
static size_t page_end(struct str text, enum gpu_page kind)
{
    size_t at = line_at(text, 0).n + 1;
    bool has_blocks = kind == GPU_PAGE_SOURCE || kind == GPU_PAGE_PTX;
    bool is_summary = kind == GPU_PAGE_SUMMARY || kind == GPU_PAGE_TABLE;
    bool is_text = kind == GPU_PAGE_TEXT;

    while (at < text.n) {
        struct str line = line_at(text, at);
        enum gpu_page page = page_of_line(line);
        if (page != GPU_PAGE_NONE
                ? !(has_blocks && page == GPU_PAGE_SOURCE) && !(is_text && page == kind)
                : is_summary && (str_trim(line).n == 0 || begins_with_time(line)))
            return at;
        at += line.n + 1;
    }
    return text.n;
}

/* ---- lines that the profiled program or the tool printed between the rows ---- */

static size_t csv_count(struct str text, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.at[i] == c;
    return n;
}

/* Whether a line is of the page and not of a program. The tool quotes every cell; a table that was
 * saved again may have its numbers plain. */
static bool is_row(struct str header, struct str line)
{
    if (line.n == 0 || line.at[0] == '"')
        return true;
    if (!str_starts(header, S("\"")))
        return !str_starts(line, S("=="));
    return char_is_digit(line.at[0]) && csv_count(line, ',') >= csv_count(header, ',');
}

/* Leaves such lines empty, so that lines keep their numbers. */
static struct str without_output(struct arena *arena, struct str text)
{
    struct str header = line_at(text, 0);
    bool is_inside = false;
    char *copy = NULL;
    size_t n = 0;

    for (size_t at = 0; at < text.n;) {
        struct str line = line_at(text, at);
        size_t size = at + line.n < text.n ? line.n + 1 : line.n;
        bool is_kept = is_inside || is_row(header, line);
        if (is_kept) {
            is_inside = is_inside != (csv_count(line, '"') % 2 == 1);
        } else if (copy == NULL) {
            copy = arena_alloc(arena, text.n);
            memcpy(copy, text.at, at);
            n = at;
        }
        if (copy != NULL && is_kept) {
            memcpy(copy + n, line.at, size);
            n += size;
        } else if (copy != NULL) {
            copy[n++] = '\n';
        }
        at += size;
    }
    return copy != NULL ? (struct str){copy, n} : text;
}

/* ---- rows ---- */

static struct where here(const struct ncu_page *p)
{
    return (struct where){.path = p->path, .line = p->csv.line + p->line_base};
}

void ncu_lose(struct ncu_page *p, const char *why)
{
    p->in->lost++;
    diag_add(p->d, SEV_LOSS, "ncu-csv.bad-row", here(p), "row skipped: %s", why);
}

bool ncu_next(struct ncu_page *p, bool *is_units)
{
    bool is_wide = p->kind == GPU_PAGE_RAW || p->kind == GPU_PAGE_RANGES;
    size_t columns = csv_header_count(&p->csv);

    while (csv_next(&p->csv)) {
        struct str id = csv_cell(&p->csv, p->head[COL_ID]);
        if (p->csv.n_cells < p->least && !p->csv.is_broken)
            continue;
        *is_units = p->kind == GPU_PAGE_RAW && id.n == 0 && p->csv.n_cells >= columns;
        if (p->csv.is_broken)
            ncu_lose(p, "the file ends inside it");
        else if (!*is_units && !num_u64(id, &p->id))
            ncu_lose(p, "no launch number");
        else if (!*is_units && is_wide && p->csv.n_cells < columns)
            ncu_lose(p, "it has fewer cells than the header");
        else
            return true;
    }
    return false;
}

struct str ncu_keep(struct ncu_page *p, struct str text)
{
    return arena_str(p->in->arena, csv_unquote(text, p->in->arena));
}

void ncu_read_dims(struct str text, uint32_t dims[3])
{
    struct str rest = text, one;
    size_t n = 0;

    if (text.n >= 2 && text.at[0] == '(' && text.at[text.n - 1] == ')')
        rest = str_part(text, 1, text.n - 2);
    char sep = str_find_char(rest, ',') < rest.n ? ',' : ' ';
    while (n < 3 && str_split(&rest, sep, &one)) {
        uint64_t value;
        one = str_trim(one);
        if (sep == ' ' && one.n == 0)
            continue;
        if (num_u64(one, &value) && value <= UINT32_MAX)
            dims[n] = (uint32_t)value;
        n++;
    }
}

/* Launch `i` as the one of this row. Processes count from 0 each; but two recordings of one program
 * join as well, which have other processes. */
static bool is_match(const struct ncu_page *p, size_t i, const struct gpu_kernel *row,
                     bool by_process)
{
    const struct gpu_kernel *k = &p->in->kernels.at[i];
    struct gpu_known known = p->in->known.at[i];
    bool has_page = (known.kinds & 1u << p->kind) != 0;
    /* A page without a column for the grid says nothing about it. */
    bool has_grids = k->grid[0] != 0 && row->grid[0] != 0;

    if (k->id != row->id || !str_equal(k->name, row->name) ||
        (has_grids && memcmp(k->grid, row->grid, sizeof(k->grid)) != 0))
        return false;
    if (has_page && (p->kind == GPU_PAGE_RAW || known.last != p->number))
        return false; /* a raw page has one row a launch; a second page has launches of its own */
    return by_process ? k->pid == row->pid || k->pid == 0 || row->pid == 0 : !has_page;
}

static size_t find_launch(const struct ncu_page *p, const struct gpu_kernel *row)
{
    if (p->current != SIZE_MAX && is_match(p, p->current, row, true))
        return p->current;
    for (size_t i = 0; i < p->in->kernels.n; i++)
        if (is_match(p, i, row, true))
            return i;
    for (size_t i = 0; i < p->in->kernels.n; i++)
        if (is_match(p, i, row, false))
            return i;
    return SIZE_MAX;
}

struct gpu_kernel *ncu_launch(struct ncu_page *p)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_import *in = p->in;

    k.id = p->id;
    if (!num_u64(csv_cell(&p->csv, p->head[COL_PROCESS]), &k.pid))
        k.pid = 0;
    k.name = csv_unquote(csv_cell(&p->csv, p->head[COL_KERNEL]), in->arena);
    if (p->kind == GPU_PAGE_RANGES) /* these have the names of the driver */
        k.name = mangled_plain(k.name);
    ncu_read_dims(csv_cell(&p->csv, p->head[COL_GRID]), k.grid);
    ncu_read_dims(csv_cell(&p->csv, p->head[COL_BLOCK]), k.block);
    p->current = find_launch(p, &k);
    if (p->current == SIZE_MAX) {
        k.name = arena_str(in->arena, k.name);
        k.cc = ncu_keep(p, csv_cell(&p->csv, p->head[COL_CC]));
        k.context = ncu_keep(p, csv_cell(&p->csv, p->head[COL_CONTEXT]));
        k.stream = ncu_keep(p, csv_cell(&p->csv, p->head[COL_STREAM]));
        k.device = ncu_keep(p, csv_cell(&p->csv, p->head[COL_DEVICE]));
        p->current = in->kernels.n;
        vec_push(&in->kernels, k);
        vec_push(&in->known, (struct gpu_known){0});
    }
    in->known.at[p->current].kinds |= 1u << p->kind;
    in->known.at[p->current].last = p->number;
    return &in->kernels.at[p->current];
}

bool ncu_is_head(const struct ncu_page *p, int column)
{
    static const struct str others[] = {S_INIT("Process Name"), S_INIT("Host Name"),
                                        S_INIT("Kernel Time")};

    for (size_t i = 0; i < NCU_HEADS; i++)
        if (p->head[i] == column)
            return true;
    return str_is_one_of(csv_header(&p->csv, (size_t)column), others, ARRAY_LEN(others));
}

void ncu_keep_value(struct ncu_page *p, struct gpu_kernel *k, struct gpu_value value)
{
    if (p->in->values >= GPU_VALUES_MAX) {
        diag_add(p->d, SEV_LOSS, "ncu-csv.too-many-values", here(p),
                 "more than %d values: only those the rules use are kept", GPU_VALUES_MAX);
        return;
    }
    p->in->values++;
    vec_push(&k->values, value);
}

void ncu_read_value(struct ncu_page *p, struct str text, double factor, struct gpu_value *value)
{
    if (gpu_number(text, p->style, &value->number)) {
        value->number *= factor;
    } else {
        value->number = NAN;
        value->text = ncu_keep(p, text);
    }
}

/* ---- a whole file ---- */

/* English unless the values of the page say otherwise. Works on a copy of the reader. */
static enum gpu_number_style find_style(const struct ncu_page *p, struct csv csv)
{
    int value = csv_column(&csv, S("Metric Value")), for_continental = 0;

    while (csv_next(&csv))
        for (size_t i = 0; i < csv.n_cells && i < LIMIT_CSV_COLUMNS; i++) {
            if (value >= 0 ? (int)i != value : i < csv_header_count(&csv) && ncu_is_head(p, (int)i))
                continue;
            int says = gpu_number_evidence(csv_cell(&csv, (int)i));
            if (says > 0)
                return GPU_NUMBERS_ENGLISH;
            for_continental += says < 0 && for_continental < 1;
        }
    return for_continental > 0 ? GPU_NUMBERS_CONTINENTAL : GPU_NUMBERS_ENGLISH;
}

static void read_page(struct ncu_page *p, struct str text)
{
    p->number = ++p->in->n_pages;
    p->current = SIZE_MAX;
    csv_open(&p->csv, text);
    for (size_t i = 0; i < NCU_HEADS; i++)
        p->head[i] = csv_column(&p->csv, heads[i]);
    if (p->kind == GPU_PAGE_RANGES) {
        p->head[COL_ID] = csv_column(&p->csv, S("range"));
        p->head[COL_KERNEL] = csv_column(&p->csv, S("kernel"));
    }
    int section = csv_column(&p->csv, S("Section Name"));
    if (section >= 0 && (p->kind == GPU_PAGE_DETAILS || p->kind == GPU_PAGE_LABELLED))
        p->least = (size_t)section + 1;
    p->style = find_style(p, p->csv);
    if (p->kind == GPU_PAGE_SUMMARY)
        ncu_read_summary(p);
    else if (p->kind == GPU_PAGE_RAW || p->kind == GPU_PAGE_RANGES)
        ncu_read_launches(p);
    else
        ncu_read_details(p);
}

/* Lines of the rows are not those of the file. */
static void read_rows(struct ncu_page *p, enum gpu_page kind, struct str rows)
{
    uint64_t before = p->line_base;

    p->kind = kind;
    p->line_base = 0;
    read_page(p, rows);
    p->line_base = before;
}

enum status gpu_ncu_read(struct gpu_import *in, const char *path, struct str text, struct diag *d)
{
    struct ncu_page *p = ARENA_NEW(in->arena, struct ncu_page);
    uint64_t rows = in->rows;
    size_t header = 0;

    *p = (struct ncu_page){.in = in, .path = path, .d = d};
    if (gpu_page_of(text, &header) == GPU_PAGE_NONE)
        return diag_fail(d, ST_UNSUPPORTED, "ncu-csv.no-header", (struct where){.path = path},
                         "no header of an Nsight Compute page");
    p->line_base = csv_count(str_part(text, 0, header), '\n');
    text = without_output(in->arena, str_part(text, header, text.n));
    while ((p->kind = gpu_page_of(text, &header)) != GPU_PAGE_NONE) {
        p->line_base += csv_count(str_part(text, 0, header), '\n');
        text = str_part(text, header, text.n);
        struct str page = str_part(text, 0, page_end(text, p->kind));
        if (p->kind == GPU_PAGE_SOURCE)
            gpu_source_read(in, path, page, p->line_base, d);
        else if (p->kind == GPU_PAGE_PTX)
            gpu_ptx_read(in, path, page, p->line_base, d);
        else if (p->kind == GPU_PAGE_TEXT)
            read_rows(p, GPU_PAGE_DETAILS, ncu_text_rows(in->arena, page));
        else if (p->kind == GPU_PAGE_TABLE)
            read_rows(p, GPU_PAGE_SUMMARY, ncu_summary_rows(in->arena, page));
        else
            read_page(p, page);
        p->line_base += csv_count(page, '\n');
        text = str_part(text, page.n, text.n);
    }
    if (in->rows == rows)
        return diag_fail(d, ST_FORMAT, "ncu-csv.no-rows", (struct where){.path = path},
                         "the page holds no launch");
    return ST_OK;
}
