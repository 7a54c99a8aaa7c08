/*
 * timeline - a capture, or a part of it, as a file that other programs open; one file per format.
 *
 * Writers stream: besides the capture they hold a buffer and four bytes an arrow.
 */
#ifndef STRATA_RENDER_TIMELINE_H
#define STRATA_RENDER_TIMELINE_H

#include "base/files/sink.h"
#include "base/run/progress.h"
#include "base/text/text_out.h"
#include "capture/cut.h"

/* What the rows of a table are. */
enum timeline_rows { TIMELINE_KERNELS, TIMELINE_SLICES };

/* When a step ran. */
struct timeline_step {
    int64_t number;
    struct interval at;
};

struct dataset_source;
struct pool;

/* The tables of a capture, for formats that hold tables. Names are those of `strata query`. */
struct timeline_tables {
    const char *(*name)(void *ctx, size_t i); /* NULL past the last */
    /* The columns as SQL declares them, "id INTEGER, ...". */
    const char *(*declaration)(void *ctx, size_t i);
    /* What open() gave lives until close(); one table at a time. */
    const struct dataset_source *(*open)(void *ctx, const char *table);
    void (*close)(void *ctx);
    void *ctx;
};

struct timeline_options {
    enum timeline_rows rows;           /* of tables; timelines hold everything */
    bool csv_safe;                     /* base/formats/csv_write.h: is_safe */
    size_t width;                      /* of a picture: characters or pixels; 0: as usual */
    const struct timeline_step *steps; /* of the capture, by time, for tables */
    size_t steps_n;
    const struct timeline_tables *tables; /* NULL: formats of tables write nothing */
    const char *folder; /* where a temporary file of the output's size may be; NULL: TMPDIR */
    const char **why;   /* set to a reason that neither the sink nor the user is; may be NULL */
    struct pool *pool;  /* threads to write with; NULL: the caller's alone */
    const struct progress *progress; /* called with the bytes written; may be NULL */
    const char *label;               /* what the progress line calls the job */
};

struct timeline_format {
    const char *name;           /* as typed after --to */
    const char *const *endings; /* of file names, the usual one first; ends with NULL */
    const char *summary;        /* one line for the list of formats */
    bool is_binary;             /* not for a terminal */
    bool is_table;              /* `rows` is heeded */
    bool is_query;              /* holds tables of strata query */
    /* False when the sink failed, the user interrupted or options->why is set. */
    bool (*write)(const struct cut *cut, const struct timeline_options *options, struct sink out);
};

#define TIMELINE(sym) extern const struct timeline_format timeline_##sym;
#include "render/timelines/timelines.def"
#undef TIMELINE

extern const struct timeline_format *const timeline_list[];
extern const size_t timeline_count;

/* The format of that name, or NULL. */
const struct timeline_format *timeline_find(struct str name);

/* The format with the longest ending that fits a file name, or NULL. */
const struct timeline_format *timeline_by_ending(struct str path);

/* The category of a slice from its source; else the word that readers of such profiles know
 * for its kind. */
struct str timeline_category(const struct capture *cap, const struct slice *slice);

/* What an attribute is called; the execution unit of an Ascend stream as its timelines call it. */
struct str timeline_key(const struct capture *cap, const struct slice *slice, strid key);

/* Whether an attribute of a slice is written: not the category, no empty text, and not a shared one
 * when the slice has its own of that name. */
bool timeline_shows(const struct capture *cap, const struct slice *slice, bool is_shared,
                    const struct attr *a);

/* The attributes that show as a JSON object, shared ones first. Times are nanoseconds, "_ns" added
 * to their name. `more` is a member to begin with, or empty. False, and nothing written, when
 * there is nothing to show; `before` is written in front of the object. */
bool timeline_args(struct text_out *out, const struct capture *cap, const struct slice *slice,
                   struct str before, struct str more);

/* To be called now and then with the bytes written so far; false when the user interrupted. */
bool timeline_goes_on(const struct timeline_options *options, uint64_t bytes);

#endif
