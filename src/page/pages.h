/*
 * pages - results that are no captures as pages (page/page.h): one core, a GPU run, a database.
 *
 * Each fills in title, verdict, actions, what is missing and the views of a page that page_init()
 * began; for one core the timeline is a set, added and prepared before.
 */
#ifndef STRATA_PAGE_PAGES_H
#define STRATA_PAGE_PAGES_H

#include "report/limits.h"

struct accuracy;
struct check;
struct cluster;
struct gpu_run;
struct incore_study;
struct incore_view;
struct m6;
struct page_file;
struct pto_kernel;
struct pto_lines;
struct pto_what_ifs;
struct shape_rows;

/* A simulated kernel. */
void page_pto(struct page_file *page, const struct pto_kernel *k,
              const struct pto_what_ifs *what_ifs, const struct pto_lines *lines);

/* A recorded or simulated trace of one kernel. */
void page_incore(struct page_file *page, const struct incore_study *study,
                 const struct incore_view *view);

void page_gpu(struct page_file *page, const struct gpu_run *run);

/* A prediction against a measured pass; rows of each kernel at each shape. */
void page_m6(struct page_file *page, const struct m6 *m, const struct shape_rows *rows);
void page_shapes(struct page_file *page, const struct shape_rows *rows, const char *measured,
                 const char *other);

/* All ranks of a run; of a page with captures besides, which has been told before. */
void page_cluster(struct page_file *page, const struct cluster *c);

/* Rows of a database against their predictions without them. */
void page_accuracy(struct page_file *page, const struct accuracy *a, const char *dir);

/* The tables of a database. */
void page_check(struct page_file *page, const struct check *check, const char *dir);

/* ---- for the files of these pages ---- */

/* What bounds a kernel as the verdict, with the advice as its evidence; the others that save
 * something as actions, with links to rows of a view. A unit of the list is `scale` ticks. */
void page_bound(struct page_file *page, const struct limit_list *limits);
void page_limits(struct page_file *page, const struct limit_list *limits, double scale,
                 const char *view);
int page_limit_family(enum limit what); /* a colour of pages of one core */

/* Source lines and instructions of the page's first set, most time first; lines by their part of
 * the critical path where `lines` has it. */
void page_source(struct page_file *page, const struct pto_lines *lines);
void page_instructions(struct page_file *page);

#endif
