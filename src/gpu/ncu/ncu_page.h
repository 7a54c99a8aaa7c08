/*
 * ncu_page - what the readers of the single kinds of pages share; private to ncu_*.c.
 *
 *     while (ncu_next(p)) {
 *         struct gpu_kernel *k = ncu_launch(p);   the launch that the row tells of
 *         …
 *     }
 */
#ifndef STRATA_GPU_NCU_NCU_PAGE_H
#define STRATA_GPU_NCU_NCU_PAGE_H

#include "base/arena.h"
#include "base/formats/csv.h"
#include "gpu/ncu/ncu_csv.h"

/*
 * Values as Nsight Compute prints them: with separators between thousands, in scaled units.
 */

/* Which sign parts whole numbers from fractions; found out per file. */
enum gpu_number_style { GPU_NUMBERS_ENGLISH, GPU_NUMBERS_CONTINENTAL };

/* What a value says about that: 1 English ("1,234.5"), -1 continental ("1.234,5"), 0 either. */
int gpu_number_evidence(struct str text);

/* False for "n/a", "nan", "-", empty cells and anything else that is no finite number. */
bool gpu_number(struct str text, enum gpu_number_style style, double *out);

/* The base unit of `unit` ("Mbyte/s" gives "byte/s", "us" gives "ns") and the factor to it.
 * Unknown units pass through with factor 1. A literal, or `unit` itself. */
struct str gpu_base_unit(struct arena *arena, struct str unit, double *factor);

/* Columns that every launch page has; the rest is up to the kind. */
enum {
    COL_ID,
    COL_PROCESS,
    COL_KERNEL,
    COL_CONTEXT,
    COL_STREAM,
    COL_BLOCK,
    COL_GRID,
    COL_DEVICE,
    COL_CC,
    NCU_HEADS
};

struct ncu_page {
    struct gpu_import *in;
    const char *path;
    struct diag *d;
    struct csv csv;
    enum gpu_page kind;
    enum gpu_number_style style;
    int head[NCU_HEADS]; /* columns; -1: the page lacks them */
    uint64_t id;         /* of the row */
    unsigned number;     /* of the page, over all files */
    size_t current;      /* SIZE_MAX: none */
    uint64_t line_base;  /* lines before the header */
    size_t least;        /* cells of a row; shorter ones are of tables inside a details page */
};

/* Steps to the next row of a launch; rows that name none are counted as lost. A row without a
 * launch that holds the units of a raw page comes with `is_units` set. */
bool ncu_next(struct ncu_page *p, bool *is_units);

/* The launch of the row: the one before, one that another page told of, or a new one. */
struct gpu_kernel *ncu_launch(struct ncu_page *p);

/* A column that tells of the launch, not of a metric. */
bool ncu_is_head(const struct ncu_page *p, int column);

void ncu_lose(struct ncu_page *p, const char *why);
struct str ncu_keep(struct ncu_page *p, struct str text);
void ncu_keep_value(struct ncu_page *p, struct gpu_kernel *k, struct gpu_value value);

/* Reads the number of a cell into value->number, or else the text. */
void ncu_read_value(struct ncu_page *p, struct str text, double factor, struct gpu_value *value);

/* Whether a header line has a column of that name, quoted or not. */
bool ncu_has_column(struct str line, struct str name);

/* "(16, 16, 1)", or "16 16 1" in nsys. */
void ncu_read_dims(struct str text, uint32_t dims[3]);

/* Whether a header line is that of a kernel summary. */
bool ncu_is_summary(struct str line);

#define NCU_INVOCATIONS "Invocations" /* launches that the rows of a summary stand for */

/* CSV made of another text: a cell behind those of the row, in quotes. The caller ends rows. */
struct ncu_rows {
    char *at;
    size_t n, cap;
};
void ncu_add_cell(struct ncu_rows *rows, struct str cell);

/* Text of `ncu` as it prints by default: the line that begins a launch, and the text of launches as
 * the CSV of a details page. */
bool ncu_is_text_launch(struct str line);
struct str ncu_text_rows(struct arena *arena, struct str text);

/* The same for a kernel summary that is no CSV: its header, and the summary as CSV. */
bool ncu_is_text_summary(struct str line);
struct str ncu_summary_rows(struct arena *arena, struct str page);

void ncu_read_summary(struct ncu_page *p);
void ncu_read_launches(struct ncu_page *p); /* raw pages and ranges */
void ncu_read_details(struct ncu_page *p);

#endif
