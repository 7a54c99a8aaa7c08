/*
 * input - from files to a sealed capture.
 *
 * Every format is one importer in one file (in_*.c) and one line in inputs.def. An importer sees
 * one file; this module knows folders: it walks them, probes every file by its name and its first
 * bytes, and says by name which files it had to refuse.
 */
#ifndef STRATA_INPUT_INPUT_H
#define STRATA_INPUT_INPUT_H

#include "base/diag.h"
#include "base/num.h"

struct capture;
struct kernel_index;
struct pool;
struct progress;

/* Which files of a folder to believe when several describe the same kernels. */
enum input_source { INPUT_AUTO, INPUT_CSV, INPUT_TRACE, INPUT_DB };

/* What a probe may look at. */
struct probe {
    const char *path;
    struct str name; /* the last part of the path */
    struct str head; /* the first bytes of the file, at most INPUT_HEAD */
};

enum { INPUT_HEAD = 64 << 10 };

/* What the user may choose about reading. Zero-initialised is the default, but for the numbers
 * that count from 0: use input_defaults(). */
struct input_options {
    const char *format;              /* name of an input format; NULL: find out */
    enum input_source source;        /* which of several descriptions of one run to believe */
    int64_t rank, device;            /* only this one; -1: all */
    bool busy_copies;                /* copies of an Ascend device count as work */
    struct pool *pool;               /* NULL: one thread */
    const struct progress *progress; /* NULL: nobody watches */
};

struct input_options input_defaults(void);

/* One file as an importer sees it. */
struct input_file {
    const char *path;
    struct str text; /* the whole content; `at` is NULL when it has to be read from `path` */
    struct diag *diag;
    const struct input_options *options;
    const struct kernel_index *kernels; /* kernels that a table of the same run has brought */
};

struct input_format {
    const char *name;                /* as typed after --format */
    const char *summary;             /* one line */
    const char *looks_for;           /* file names, for the message when nothing was found */
    bool (*claims)(struct str name); /* a file of this name should be of this format */
    bool streams; /* reads large files from their path, in bounded memory; else gets the text */
    int (*probe)(const struct probe *p); /* 0 no ... 100 certain */
    enum status (*read)(const struct input_file *in, struct capture *cap);
};

#define INPUT(sym) extern const struct input_format input_##sym;
#include "input/inputs.def"
#undef INPUT

/* Every input format, by number; NULL past the last. */
const struct input_format *input_format_at(size_t i);

/* The importer for these bytes: the one that `format` names, or for NULL the best by probing. */
enum status input_pick(const struct probe *p, const char *format, struct diag *d,
                       const struct input_format **out);

/* Reads a file or a folder into a new sealed capture, which the caller frees. */
enum status input_load(const char *path, const struct input_options *options, struct diag *d,
                       struct capture **out);

#endif
