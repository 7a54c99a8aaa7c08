/*
 * picture - a cut as rows of a drawing: how busy each lane is in each column of time.
 *
 *     picture_init(&p, cut, 100);
 *     ... p.rows.at[i].cells[column].share ...
 *     picture_fini(&p);
 *
 * Slices inside others count once; on a lane with kernels only these count. Lanes of the device
 * come first; of more than PICTURE_ROWS lanes those behind are left out, and counted.
 */
#ifndef STRATA_RENDER_PICTURE_H
#define STRATA_RENDER_PICTURE_H

#include "capture/cut.h"

enum { PICTURE_ROWS = 40, PICTURE_COLUMNS = 4096 };

/* What a column is coloured by. */
enum picture_class {
    PICTURE_COMPUTE,
    PICTURE_COMM,
    PICTURE_COPY,
    PICTURE_WAIT,
    PICTURE_HOST,
    PICTURE_OTHER,
};

enum { PICTURE_CLASSES = PICTURE_OTHER + 1 };

struct picture_cell {
    double share; /* of the column's time, 0 to 1 */
    enum picture_class class;
};

struct picture_row {
    struct str label;
    struct picture_cell *cells;
    double busy; /* of the whole time */
};

struct picture {
    struct arena arena;
    struct interval span; /* of all columns; times of the capture */
    nanos start;          /* of the capture, that times are shown from */
    size_t columns;
    VEC_OF(struct picture_row) rows;
    size_t left_out; /* lanes */
    bool has_class[PICTURE_CLASSES];
};

/* `columns` is 1 to PICTURE_COLUMNS; the cut must outlive the picture. */
void picture_init(struct picture *p, const struct cut *cut, size_t columns);
void picture_fini(struct picture *p);

const char *picture_class_name(enum picture_class class);

/* A time of the axis: "12.5 ms", from the start of the capture. */
const char *picture_time(struct picture *p, nanos at);

#endif
