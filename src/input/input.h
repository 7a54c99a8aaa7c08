/*
 * input - from files to sealed captures.
 *
 * Every format is one importer in one file (in_*.c) and one line in inputs.def. An importer sees
 * one file. Which files of a folder belong together, and which of several that tell the same is
 * believed, is known by bundle.h; load.h reads such a bundle into one capture. The rules are in
 * docs/formats/bundles.md.
 */
#ifndef STRATA_INPUT_INPUT_H
#define STRATA_INPUT_INPUT_H

#include "base/diag.h"
#include "base/text/num.h"
#include "capture/facts.h"
#include "capture/source.h"

struct capture;
struct fleet;
struct import;
struct import_table;
struct input_kept;
struct kernel_index;
struct pool;
struct progress;

/* Which files of a folder to believe when several describe the same kernels. */
enum input_source { INPUT_AUTO, INPUT_CSV, INPUT_TRACE, INPUT_DB };

/* What a probe may look at. */
struct probe {
    const char *path;
    struct str name; /* the last part of the path */
    struct str head; /* the first bytes of the file, unpacked, at most INPUT_HEAD */
};

enum { INPUT_HEAD = 64 << 10 };

/* What the user may choose about reading. Zero-initialised is the default, but for the numbers
 * that count from 0: use input_defaults(). */
struct input_options {
    const char *format;              /* name of an input format; NULL: find out */
    enum input_source source;        /* which of several descriptions of one run to believe */
    int64_t rank, device;            /* only this one; -1: all */
    bool pmu;                        /* keep the counter columns of kernel tables */
    bool joins_devices;              /* a trace of several devices is one capture */
    double mhz;                      /* of logs that count cycles; 0: not known */
    struct pool *pool;               /* NULL: one thread */
    struct input_kept *const *kept;  /* read before, ends with NULL (input/kept.h); NULL: none */
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
    const char *const *parts;           /* of a timeline: files that go on where this one ends */
    size_t n_parts;
    const char *run; /* of several runs in the file, see struct input_format; NULL: the first */
    bool *has_fault; /* the caller can begin again: gz_init_fast(). NULL: it cannot */
};

/* Tells how many of the file's `total` bytes are read; 0: not known how many there are. */
void input_progress(const struct input_file *in, uint64_t done, uint64_t total);

/* What a file of a format is good for beside others of the same run. */
enum input_role {
    ROLE_WHOLE,    /* a run on its own */
    ROLE_DATABASE, /* the run of a rank, as its tables and timeline tell it together */
    ROLE_KERNELS,  /* the kernels of a rank */
    ROLE_TIMELINE, /* its timeline; brings the kernels too when there is no table */
    ROLE_SIDECAR,  /* more about a run: the profiler's own sums, memory, communication */
    ROLE_FACTS,    /* how it was recorded; no data of its own */
};

struct input_format {
    const char *name;      /* as typed after --from */
    const char *summary;   /* one line */
    const char *looks_for; /* file names, for the message when nothing was found */
    enum input_role role;
    enum vendor vendor;      /* of the device, unless the file itself says otherwise */
    enum source_kind source; /* what the file is to those who read the capture */
    /* Files of these names should be of this format. NULL: those that match one of `names`, which
     * have a * each where anything may stand; without those the ones in `looks_for` as they are. */
    bool (*claims)(struct str name);
    const char *names;
    bool streams; /* reads large files from their path, in bounded memory; else gets the text */
    int (*probe)(const struct probe *p); /* 0 no ... 100 certain; NULL: see `trace` and `table` */
    int trace;                        /* enum trace_dialect of a trace, plus one; 0: it is none */
    const struct import_table *table; /* of a format that is known by its header */
    /* The devices in a file of which read() takes one, options->device; gives how many of `most`
     * were found. NULL: read() takes all there are. */
    size_t (*devices)(const struct input_file *in, int64_t *list, size_t most);
    /* The runs in a file, each a capture: names for struct input_file, which live in the arena.
     * NULL: a file is one run. */
    size_t (*runs)(const char *path, struct arena *arena, const char **list, size_t most);
    enum status (*read)(struct import *i); /* NULL: a trace, or rows of `table` without context */
    /* How many kernels a file tells of, without reading it; NULL: nobody knows. */
    bool (*kernels)(const struct input_file *in, uint64_t *count);
};

#define INPUT(sym) extern const struct input_format input_##sym;
#include "input/inputs.def"
#undef INPUT

/* Every input format, by number; NULL past the last. */
const struct input_format *input_format_at(size_t i);

/* What the format says of a name and of a file's first bytes. */
bool input_claims(const struct input_format *format, struct str name);
int input_probe(const struct input_format *format, const struct probe *p);

/* Reads one file of the format into a capture, with its source. */
enum status input_read(const struct input_format *format, const struct input_file *in,
                       struct capture *cap);

/* The importer for these bytes: the one that `format` names, or for NULL the best by probing. */
enum status input_pick(const struct probe *p, const char *format, struct diag *d,
                       const struct input_format **out);

/* Reads a file or a folder into a new sealed capture, which the caller frees. A folder of several
 * ranks is an error unless the options name one of them; a trace of several devices is not. */
enum status input_load(const char *path, const struct input_options *options, struct diag *d,
                       struct capture **out);

/* Reads all ranks below a path, or the one that the options name, in rank order. One that cannot
 * be read is told and left out; an error only when none can. fleet_free() the result. */
enum status input_load_all(const char *path, const struct input_options *options, struct diag *d,
                           struct fleet **out);

/* The same for several files and folders, which together are one run. */
enum status input_load_paths(const char *const *paths, size_t n,
                             const struct input_options *options, struct diag *d,
                             struct fleet **out);

#endif
