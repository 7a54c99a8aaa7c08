/*
 * The tables slices, kernels and host_events: one row per slice, read from the capture's columns.
 *
 * A scan walks one of three orders: the capture's own (by lane and time; a lane and a time range
 * are found by search), by name, or by time. Equalities on lane, name, step, kind and rank and
 * bounds on ts narrow it; SQLite still checks every term, so narrowing may be generous.
 */
#include <math.h>

#include "analysis/sql/sql_plan.h"

struct cursor {
    sqlite3_vtab_cursor base;
    struct sql_view *view;
    enum sql_set set;
    const struct sql_part *part; /* of the row */
    uint32_t i;                  /* the row's number in its capture */
    uint32_t g;                  /* and in all of them */
    bool is_eof;

    const uint32_t *order;   /* numbers to walk; NULL: the numbers themselves */
    const uint32_t *first;   /* by name: where each begins in `order`; NULL: other orders */
    uint32_t name, name_end; /* by name: the row's, and where its rows end */
    const nanos *durs;       /* by name: durations in that order; NULL: not at hand */
    uint32_t place;          /* of the row in `order` */
    int ahead;               /* mask of AHEAD_ */
    const uint32_t *each;    /* WALK_EACH_NAME: where each name begins in `order` */
    uint32_t at, end;        /* what is left to walk */
    uint32_t lane, lane_end; /* own order by lanes: those still to come */
    bool is_plain;           /* every number walked is a row */
    bool check_ts, check_lane;
    nanos low, high;              /* of ts, both included */
    uint32_t lane_low, lane_high; /* lane numbers, both included */
    int kind;                     /* -1: any */
    uint8_t *steps;               /* by step number: wanted? NULL: any */
};

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct sql_binding *binding = ((struct sql_vtab *)base)->binding;

    return sql_plan(binding->view, binding->table->set, info);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    const struct sql_binding *binding = ((struct sql_vtab *)base)->binding;

    JOB_BOUNDARY(return SQLITE_NOMEM);
    struct cursor *c = mem_grow(NULL, sizeof(*c), 1);
    *c = (struct cursor){.view = binding->view, .set = binding->table->set};
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;

    mem_free(c->steps);
    mem_free(c);
    return SQLITE_OK;
}

/* First slice of the lane at or after `i` whose begin is at least `time`. */
static size_t search_lane(const struct capture *cap, const struct lane *lane, nanos time)
{
    const nanos *begin = cap->slices.begin + lane->first;
    size_t place;

    vec_bisect(place, lane->n, i, begin[i] < time);
    return lane->first + place;
}

/* Turns to the next lane that has slices in the time range. */
static bool next_lane(struct cursor *c)
{
    while (c->lane < c->lane_end) {
        const struct sql_part *p = sql_part_of_lane(c->view, c->lane);
        const struct lane *lane = &p->cap->lanes.at[c->lane - p->lane_base];
        c->lane++;
        if (lane->n == 0)
            continue;
        size_t end =
            c->high == INT64_MAX ? lane->first + lane->n : search_lane(p->cap, lane, c->high + 1);
        c->at = p->base + (uint32_t)search_lane(p->cap, lane, c->low);
        c->end = p->base + (uint32_t)end;
        if (c->at < c->end)
            return true;
    }
    return false;
}

static nanos begin_of(const struct sql_view *v, uint32_t g)
{
    const struct sql_part *p = sql_part_of(v, g);

    return p->cap->slices.begin[g - p->base];
}

static uint32_t search_time(const struct sql_view *v, const struct sql_order *o, nanos time)
{
    size_t place;

    vec_bisect(place, o->n, i, begin_of(v, o->at[i]) < time);
    return (uint32_t)place;
}

static void set_row(struct cursor *c, uint32_t g)
{
    if (c->part == NULL || g < c->part->base || g - c->part->base >= c->part->cap->slices.n)
        c->part = sql_part_of(c->view, g);
    c->g = g;
    c->i = g - c->part->base;
}

static bool is_wanted(const struct cursor *c)
{
    const struct slices *s = &c->part->cap->slices;
    enum slice_kind kind = (enum slice_kind)s->kind[c->i];

    if (!sql_set_has(c->set, kind) || (c->kind >= 0 && (int)kind != c->kind))
        return false;
    if (c->check_ts && (s->begin[c->i] < c->low || s->begin[c->i] > c->high))
        return false;
    if (c->check_lane) {
        uint32_t lane = c->part->lane_base + s->lane[c->i];
        if (lane < c->lane_low || lane > c->lane_high)
            return false;
    }
    return c->steps == NULL || c->steps[c->view->step_of[c->g]] != 0;
}

/* Rows of one name lie far apart: without this, every row waits for memory. */
static inline void fetch_ahead(const struct cursor *c)
{
    enum { DISTANCE = 16 };
    const struct sql_part *p = c->part;

    if (c->ahead == 0 || p == NULL || c->end - c->at <= DISTANCE)
        return;
    const struct slices *s = &p->cap->slices;
    uint32_t i = c->order[c->at + DISTANCE] - p->base; /* in another capture: wraps, too large */
    if (i >= s->n)
        return;
    if ((c->ahead & AHEAD_DUR) != 0)
        __builtin_prefetch(&s->dur[i]);
    if ((c->ahead & AHEAD_TS) != 0)
        __builtin_prefetch(&s->begin[i]);
    if ((c->ahead & AHEAD_LANE) != 0)
        __builtin_prefetch(&s->lane[i]);
}

/* SQLite looks at the clock between its own steps; a join that only skips rows makes few. */
static bool is_over(struct sql_view *v)
{
    return (++v->skipped & 0xfffff) == 0 && v->is_over != NULL && v->is_over(v->ctx);
}

static int slices_next(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;

    do {
        while (c->at < c->end) {
            uint32_t at = c->at++;
            if (c->each != NULL) {
                if (c->each[at] == c->each[at + 1])
                    continue; /* a name of other tables only */
                at = c->each[at];
            }
            fetch_ahead(c);
            c->place = at;
            while (c->first != NULL && at >= c->name_end)
                c->name_end = c->first[++c->name + 1];
            set_row(c, c->order != NULL ? c->order[at] : at);
            if (c->is_plain || is_wanted(c))
                return SQLITE_OK;
            if (is_over(c->view))
                return SQLITE_INTERRUPT;
        }
    } while (next_lane(c));
    c->is_eof = true;
    return SQLITE_OK;
}

/* A whole number out of a term's value: false when the term can hold for no whole number. */
static bool slices_whole(sqlite3_value *value, int64_t *out)
{
    int type = sqlite3_value_numeric_type(value);

    if (type == SQLITE_INTEGER) {
        *out = sqlite3_value_int64(value);
        return true;
    }
    double real = type == SQLITE_FLOAT ? sqlite3_value_double(value) : NAN;
    if (!(real >= -9e18 && real <= 9e18) || floor(real) != real)
        return false;
    *out = num_i64_of(real);
    return true;
}

/* A bound on ts, made generous by one where the value is no whole number. */
static void bound(struct cursor *c, int bit, sqlite3_value *value)
{
    int type = sqlite3_value_numeric_type(value);
    double real = type == SQLITE_FLOAT ? sqlite3_value_double(value) : 0;
    nanos time = 0;

    if (type == SQLITE_INTEGER)
        time = sqlite3_value_int64(value);
    else if (type == SQLITE_FLOAT && real > -9e18 && real < 9e18)
        time = nanos_of(real);
    else
        return;                                    /* left to SQLite */
    nanos slack = type == SQLITE_FLOAT ? 1024 : 0; /* a double near 2^61 is 256 ns coarse */
    nanos low = nanos_sub(time, slack), high = nanos_add(time, slack);
    if ((bit & F_TS_LOW) != 0 && low > c->low)
        c->low = low;
    if ((bit & F_TS_HIGH) != 0 && high < c->high)
        c->high = high;
}

static void want_steps(struct cursor *c, sqlite3_value *value)
{
    struct sql_view *v = c->view;
    int64_t number = 0;
    bool is_number = slices_whole(value, &number);
    struct str text = {(const char *)sqlite3_value_text(value), 0};

    text.n = text.at != NULL ? (size_t)sqlite3_value_bytes(value) : 0;
    sql_need_steps(v);
    c->steps = mem_grow(c->steps, sizeof(*c->steps), v->steps.n);
    c->steps[0] = 0;
    for (size_t i = 1; i < v->steps.n; i++) {
        const struct sql_step *s = &v->steps.at[i];
        c->steps[i] = s->is_number ? is_number && s->number == number : str_equal(s->text, text);
    }
}

static bool want_kind(struct cursor *c, sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    for (int k = 0; text != NULL && k < SLICE_KINDS; k++)
        if (strcmp(slice_kind_name((enum slice_kind)k), text) == 0) {
            c->kind = k;
            return true;
        }
    return false;
}

/* Ranks that several captures claim, or none, are left to SQLite. */
static void want_rank(struct cursor *c, sqlite3_value *value)
{
    const struct sql_part *found = NULL;
    int64_t rank;

    if (!slices_whole(value, &rank))
        return;
    for (size_t i = 0; i < c->view->part_count; i++) {
        const struct sql_part *p = &c->view->parts[i];
        if (p->cap->facts.rank != rank)
            continue;
        if (found != NULL)
            return;
        found = p;
    }
    if (found == NULL || found->cap->lanes.n == 0)
        return;
    uint32_t last = found->lane_base + (uint32_t)found->cap->lanes.n - 1;
    c->lane_low = found->lane_base > c->lane_low ? found->lane_base : c->lane_low;
    c->lane_high = last < c->lane_high ? last : c->lane_high;
    c->check_lane = true;
}

static bool want_lane(struct cursor *c, sqlite3_value *value)
{
    int64_t lane;

    if (!slices_whole(value, &lane) || lane < 0 || lane >= c->view->lanes)
        return false;
    c->lane_low = c->lane_high = (uint32_t)lane;
    c->check_lane = true;
    return true;
}

static bool want_name(struct cursor *c, sqlite3_value *value, const struct sql_order *o)
{
    struct str text = {(const char *)sqlite3_value_text(value), 0};
    uint32_t rank;

    text.n = text.at != NULL ? (size_t)sqlite3_value_bytes(value) : 0;
    if (text.at == NULL || !sql_find_name(c->view, text, &rank))
        return false;
    c->at = o->first[rank];
    c->end = c->name_end = o->first[rank + 1];
    c->name = rank;
    return true;
}

/* Takes the terms' values; false when no row can fit. */
static bool read_terms(struct cursor *c, int mask, sqlite3_value **argv)
{
    bool can_fit = true;

    for (int bit = 1; bit < 1 << F_BITS && can_fit; bit <<= 1) {
        if ((mask & bit) == 0)
            continue;
        sqlite3_value *value = *argv++;
        if (bit == F_NAME)
            can_fit = want_name(c, value, sql_by_name(c->view, c->set));
        else if (bit == F_LANE)
            can_fit = want_lane(c, value);
        else if (bit == F_STEP)
            want_steps(c, value);
        else if (bit == F_KIND)
            can_fit = want_kind(c, value);
        else if (bit == F_RANK)
            want_rank(c, value);
        else
            bound(c, bit, value);
    }
    return can_fit;
}

static void start_walk(struct cursor *c, enum sql_walk walk, int mask)
{
    const struct sql_order *o;

    switch (walk) {
    case WALK_EACH_NAME:
        o = sql_by_name(c->view, c->set);
        c->order = o->at;
        c->each = o->first;
        c->end = (uint32_t)c->view->names.n;
        break;
    case WALK_NAME:
        o = sql_by_name(c->view, c->set);
        c->order = o->at;
        c->first = o->first;
        if ((mask & F_NAME) == 0 && o->n > 0) {
            c->end = o->n;
            c->name_end = o->first[1];
        }
        break;
    case WALK_TIME:
        o = sql_by_time(c->view, c->set);
        c->order = o->at;
        c->at = search_time(c->view, o, c->low);
        c->end = c->high == INT64_MAX ? o->n : search_time(c->view, o, c->high + 1);
        break;
    case WALK_OWN:
        if (c->check_lane || c->check_ts) {
            c->lane = c->check_lane ? c->lane_low : 0;
            c->lane_end = c->check_lane ? c->lane_high + 1 : c->view->lanes;
        } else {
            c->end = c->view->slices;
        }
        break;
    }
    if (walk == WALK_OWN)
        c->check_ts = c->check_lane = false; /* the search did it */
    c->is_plain = !c->check_ts && !c->check_lane && c->kind < 0 && c->steps == NULL &&
                  (walk != WALK_OWN || c->set == SET_ALL);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    JOB_BOUNDARY(return SQLITE_NOMEM);
    struct cursor *c = (struct cursor *)base;
    int mask = number & ((1 << F_BITS) - 1);
    int64_t id;

    (void)text, (void)argc;
    mem_free(c->steps);
    *c = (struct cursor){
        .base = c->base,
        .view = c->view,
        .set = c->set,
        .low = INT64_MIN,
        .high = INT64_MAX,
        .lane_high = UINT32_MAX - 1,
        .kind = -1,
        .check_ts = (mask & (F_TS_LOW | F_TS_HIGH)) != 0,
    };
    if (mask == F_ID) {
        if (slices_whole(argv[0], &id) && id >= 0 && id < c->view->slices) {
            c->at = (uint32_t)id;
            c->end = c->at + 1;
        }
    } else if (read_terms(c, mask, argv)) {
        start_walk(c, (enum sql_walk)(number >> WALK_SHIFT & 15), mask);
        if (c->order != NULL && c->each == NULL)
            c->ahead = number & (AHEAD_TS | AHEAD_DUR | AHEAD_LANE);
        if (c->first != NULL && (mask & F_NAME) == 0 && (c->ahead & AHEAD_DUR) != 0) {
            c->durs = sql_dur_by_name(c->view, c->set);
            c->ahead &= ~AHEAD_DUR;
        }
    } else {
        c->is_eof = true;
        return SQLITE_OK;
    }
    return slices_next(base);
}

static int eof(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->is_eof;
}

static void give_step(const struct cursor *c, sqlite3_context *out)
{
    JOB_BOUNDARY({
        sqlite3_result_error_nomem(out);
        return;
    });
    sql_need_steps(c->view);
    sql_give_value(out, sql_slice_value(c->view, c->set, c->part, c->i, C_STEP));
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct cursor *c = (const struct cursor *)base;
    const struct capture *cap = c->part->cap;
    const struct slices *s = &cap->slices;

    switch (column) {
    case C_ID:
        sqlite3_result_int64(out, c->g);
        break;
    case C_TS:
        sqlite3_result_int64(out, s->begin[c->i]);
        break;
    case C_DUR:
        sqlite3_result_int64(out, c->durs != NULL ? c->durs[c->place] : s->dur[c->i]);
        break;
    case C_END_TS:
        sqlite3_result_int64(out, slices_end(s, c->i));
        break;
    case C_NAME:
        sql_give_text(out, c->first != NULL ? c->view->names.at[c->name]
                                            : capture_text(cap, s->name[c->i]));
        break;
    case C_KIND:
        sqlite3_result_text(out, slice_kind_name((enum slice_kind)s->kind[c->i]), -1,
                            SQLITE_STATIC);
        break;
    case C_LANE:
        sqlite3_result_int64(out, (sqlite3_int64)c->part->lane_base + s->lane[c->i]);
        break;
    case C_STEP:
        give_step(c, out);
        break;
    default:
        sql_give_value(out, sql_slice_value(c->view, c->set, c->part, c->i, column));
    }
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((struct cursor *)base)->g;
    return SQLITE_OK;
}

const sqlite3_module sql_slices_module = {
    .iVersion = 1,
    .xConnect = sql_connect,
    .xBestIndex = best_index,
    .xDisconnect = sql_disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = slices_next,
    .xEof = eof,
    .xColumn = column,
    .xRowid = rowid,
};
