/*
 * render - a report to text in some format; one file per format.
 */
#ifndef STRATA_RENDER_RENDER_H
#define STRATA_RENDER_RENDER_H

#include "base/files/sink.h"
#include "base/text/inert.h"
#include "base/text/text.h"
#include "report/report.h"

struct render_options {
    bool csv_safe;   /* base/formats/csv_write.h: is_safe */
    bool color;      /* escape sequences for a terminal; never the only carrier of a meaning */
    size_t width;    /* of the terminal; 0: no limit */
    bool long_names; /* also there: kernels with template arguments and parameters */
    bool is_ascii;   /* draws with ASCII on a terminal too */
};

/* What renderers write through: the first failure of the sink ends the output. */
struct render_out {
    struct sink sink;
    bool color, csv_safe, long_names, is_ascii, failed;
    size_t width;
};

/* One function for each kind of block; a kind without one is left out. */
struct renderer {
    const char *name;    /* as typed after --to */
    const char *suffix;  /* of files: ".txt" */
    const char *summary; /* one line for the list of formats */
    bool has_gaps;       /* a blank line parts blocks, but not lines from what is before them */
    void (*begin)(struct render_out *o, const struct report *r);
    void (*heading)(struct render_out *o, struct str text);
    void (*text)(struct render_out *o, struct str text);
    void (*line)(struct render_out *o, struct str text);
    void (*facts)(struct render_out *o, const struct block *b);
    void (*table)(struct render_out *o, const struct table *t);
    void (*finding)(struct render_out *o, const struct finding *f);
    void (*series)(struct render_out *o, const struct block *b);
    struct str findings[2]; /* before and after them */
    struct str end;
};

#define RENDERER(sym) extern const struct renderer renderer_##sym;
#include "render/renderers.def"
#undef RENDERER

/* The renderer of that name, or NULL. */
const struct renderer *render_find(struct str name);

/* The report in that format; false when the sink failed. */
bool render_write(const struct renderer *renderer, const struct report *r,
                  const struct render_options *options, struct sink out);

void render_put(struct render_out *o, struct str text);

/* A share of 1 as a bar of blocks, or of ASCII; 1 is `width` columns long. */
void render_bar(struct text *to, double share, size_t width, bool is_ascii);

/* Non-negative values as high as they are large, in at most `width` columns: a column is the
 * largest of the values it stands for. */
void render_series(struct text *to, struct report_values values, size_t width, bool is_ascii);

/* Text from a report, inert (base/text/inert.h); what is not from a report goes through
 * render_put(). `special` characters are replaced besides: each by its entry in `with`, in the same
 * order. */
void render_escaped(struct render_out *o, struct str text, enum inert_form form, struct str special,
                    const struct str *with);

/*
 * junit - results of checks in forms that CI systems show: JUnit XML, annotations of GitHub.
 */

struct junit_case {
    const char *suite, *name, *file;
    const char *failure; /* NULL: passed */
};

/* Names are inert: XML has no form for control characters and broken UTF-8. */
void junit_write(struct text *out, const char *title, const struct junit_case *cases, size_t n);

/* A line "::error title=..." for each that failed, which a workflow of GitHub shows beside it. */
void junit_annotate(struct text *out, const char *title, const struct junit_case *cases, size_t n);

#endif
