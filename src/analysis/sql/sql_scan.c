/*
 * Columns of slices, copied as they lie.
 */
#include "analysis/sql/sql.h"

#include "base/text/char.h"

/* The next word or sign of a statement; a false end is an empty one. */
static struct str next_token(struct str *rest)
{
    *rest = str_trim(*rest);
    size_t n = 0;
    while (n < rest->n && char_is_word(rest->at[n]))
        n++;
    n = n == 0 && rest->n > 0 ? 1 : n;
    struct str token = str_part(*rest, 0, n);
    *rest = str_part(*rest, n, rest->n);
    return token;
}

const char *sql_scan_name(enum sql_scan_column column)
{
    static const char *const names[SCAN_COLUMNS] = {"id",   "ts",   "dur", "end_ts",
                                                    "lane", "name", "kind"};

    return names[column];
}

static bool find_column(struct str token, enum sql_scan_column *out)
{
    for (enum sql_scan_column c = 0; c < SCAN_COLUMNS; c++)
        if (str_equal_nocase(token, str_of(sql_scan_name(c)))) {
            *out = c;
            return true;
        }
    return false;
}

static bool find_table(struct str token, enum sql_set *out)
{
    static const char *const names[SQL_SETS] = {"slices", "kernels", "host_events"};

    for (int i = 0; i < SQL_SETS; i++)
        if (str_equal_nocase(token, str_of(names[i]))) {
            *out = (enum sql_set)i;
            return true;
        }
    return false;
}

bool sql_scan_parse(struct str statement, struct sql_scan *out)
{
    struct str token;

    *out = (struct sql_scan){0};
    if (!str_equal_nocase(next_token(&statement), S("select")))
        return false;
    do {
        if (out->n == SQL_SCAN_MOST ||
            !find_column(next_token(&statement), &out->columns[out->n++]))
            return false;
        token = next_token(&statement);
    } while (str_equal(token, S(",")));
    if (!str_equal_nocase(token, S("from")) || !find_table(next_token(&statement), &out->set))
        return false;
    token = next_token(&statement);
    if (str_equal(token, S(";")))
        token = next_token(&statement);
    return token.n == 0;
}

uint64_t sql_scan_rows(const struct capture *const *caps, size_t n, enum sql_set set)
{
    uint64_t rows = 0;

    for (size_t c = 0; c < n; c++) {
        const struct slices *s = &caps[c]->slices;
        for (size_t i = 0; i < s->n && set != SET_ALL; i++)
            rows += sql_set_has(set, (enum slice_kind)s->kind[i]);
        rows += set == SET_ALL ? s->n : 0;
    }
    return rows;
}

static int64_t scan_number_of(const struct capture *cap, size_t i, enum sql_scan_column column)
{
    switch (column) {
    case SCAN_TS:
        return cap->slices.begin[i];
    case SCAN_DUR:
        return cap->slices.dur[i];
    case SCAN_END_TS:
        return slices_end(&cap->slices, i);
    case SCAN_LANE:
        return cap->slices.lane[i];
    default:
        return (int64_t)i;
    }
}

void sql_scan_numbers(const struct capture *const *caps, size_t n, enum sql_set set,
                      enum sql_scan_column column, int64_t *out)
{
    int64_t slices = 0, lanes = 0; /* of the captures before */

    for (size_t c = 0; c < n; c++) {
        const struct slices *s = &caps[c]->slices;
        int64_t base = column == SCAN_ID ? slices : column == SCAN_LANE ? lanes : 0;
        for (size_t i = 0; i < s->n; i++)
            if (set == SET_ALL || sql_set_has(set, (enum slice_kind)s->kind[i]))
                *out++ = base + scan_number_of(caps[c], i, column);
        slices += (int64_t)s->n;
        lanes += (int64_t)caps[c]->lanes.n;
    }
}
