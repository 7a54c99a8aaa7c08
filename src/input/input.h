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

/* What a probe may look at. */
struct probe {
    const char *path;
    struct str name; /* the last part of the path */
    struct str head; /* the first bytes of the file, at most INPUT_HEAD */
};

enum { INPUT_HEAD = 64 << 10 };

struct input_file {
    const char *path;
    struct str text;
    struct diag *diag;
};

struct input_format {
    const char *name;                    /* as typed after --format */
    const char *summary;                 /* one line */
    const char *looks_for;               /* file names, for the message when nothing was found */
    bool (*claims)(struct str name);     /* a file of this name should be of this format */
    int (*probe)(const struct probe *p); /* 0 no ... 100 certain */
    enum status (*read)(const struct input_file *in, struct capture *cap);
};

#define INPUT(sym) extern const struct input_format input_##sym;
#include "input/inputs.def"
#undef INPUT

/* The importer for these bytes: the one that `format` names, or for NULL the best by probing. */
enum status input_pick(const struct probe *p, const char *format, struct diag *d,
                       const struct input_format **out);

/* Reads a file or a folder into a new sealed capture, which the caller frees. */
enum status input_load(const char *path, const char *format, struct diag *d, struct capture **out);

#endif
