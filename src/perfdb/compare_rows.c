#include "perfdb/compare_rows.h"

#include <math.h>

#include "capture/classify.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"

static enum status find_columns(struct measured *m, struct diag *d)
{
    const char *path = m->table.path;

    if (m->table.columns.n == 0)
        return diag_fail(d, ST_FORMAT, "perfdb.no-header", (struct where){.path = path},
                         "the file has no header");
    m->type = table_column(&m->table, S("Type"));
    m->start = table_column(&m->table, S("Start Time(us)"));
    m->duration = table_column(&m->table, COL_DURATION);
    m->shapes = table_column(&m->table, COL_INPUT_SHAPES);
    if (m->type < 0 || m->duration < 0) {
        enum status st =
            diag_fail(d, ST_FORMAT, "perfdb.no-column", (struct where){.path = path, .line = 1},
                      "no column %s", m->type < 0 ? "Type" : "Duration(us)");
        diag_hint(d, "try", "a kernel_details.csv, or a part of one with its header");
        return st;
    }
    return ST_OK;
}

enum status measured_read(struct measured *m, const char *path, struct diag *d)
{
    *m = (struct measured){0};
    TRY(table_read(&m->table, path, d));
    return find_columns(m, d);
}

enum status measured_parse(struct measured *m, const char *path, struct str text, struct diag *d)
{
    *m = (struct measured){0};
    TRY(table_parse(&m->table, path, text, d));
    return find_columns(m, d);
}

void measured_free(struct measured *m)
{
    table_free(&m->table);
}

struct measured_row measured_row(const struct measured *m, size_t i)
{
    return (struct measured_row){
        .type = cell_trim(table_cell(&m->table, i, m->type)),
        .start = cell_trim(table_cell(&m->table, i, m->start)),
        .duration = cell_trim(table_cell(&m->table, i, m->duration)),
        .shapes = cell_trim(table_cell(&m->table, i, m->shapes)),
        .line = m->table.lines.at[i],
    };
}

bool measured_is_collective(struct str type)
{
    return classify_is_collective(type);
}

bool measured_is_helper(struct str type)
{
    return str_ends(type, S("AicpuKernel"));
}

bool measured_time(struct str text, double *us)
{
    *us = 0;
    return text.n == 0 || (cell_number(text, us) && isfinite(*us));
}

void twins_init(struct twins *t)
{
    *t = (struct twins){0};
    intern_init(&t->names);
}

void twins_free(struct twins *t)
{
    vec_free(&t->at);
    intern_fini(&t->names);
}

void twins_put(struct twins *t, double start, struct str type, struct str key, double us)
{
    struct arena scratch;

    /* Adding 0 makes one zero of the two. */
    arena_init(&scratch);
    struct str name = arena_format(&scratch, "%.0f:%zu:%.*s%.*s", trunc(start) + 0.0, type.n,
                                   STR_ARGS(type), STR_ARGS(key));
    size_t i = intern_put(&t->names, name) - 1;
    arena_free(&scratch);
    if (i == t->at.n)
        vec_push(&t->at, ((struct twin){type, key, us}));
    else if (us > t->at.at[i].us)
        t->at.at[i].us = us;
}
