/*
 * The cells of slices, kernels and host_events, in the order of their declaration in sql_schema.c.
 */
#include "analysis/sql/sql_plan.h"

/* Columns after the fixed ones, by table. */
static const enum capture_key host_keys[] = {KEY_INPUT_SHAPES, KEY_INPUT_DTYPES, KEY_STACK,
                                             KEY_LINK};
enum { K_STREAM = C_FIXED, K_CLASS, K_KEYS };
static const enum capture_key kernel_keys[] = {
    KEY_WAIT,          KEY_TASK,          KEY_BLOCK_DIM,      KEY_MIX_BLOCK_DIM,
    KEY_STATE,         KEY_INPUT_SHAPES,  KEY_INPUT_DTYPES,   KEY_INPUT_FORMATS,
    KEY_OUTPUT_SHAPES, KEY_OUTPUT_DTYPES, KEY_OUTPUT_FORMATS, KEY_LINK,
};

bool sql_slice_key(enum sql_set set, int column, enum capture_key *key)
{
    static const enum capture_key fixed[] = {KEY_CAT, KEY_TYPE, KEY_CORE};

    if (column >= C_CAT && column < C_FIXED)
        *key = fixed[column - C_CAT];
    else if (set == SET_HOST && column >= C_FIXED)
        *key = host_keys[column - C_FIXED];
    else if (set == SET_KERNELS && column >= K_KEYS)
        *key = kernel_keys[column - K_KEYS];
    else
        return false;
    return true;
}

static struct field_value known_text(struct str text)
{
    return text.n > 0 ? value_text(text) : value_none();
}

static struct field_value known(int64_t number)
{
    return number != UNKNOWN ? value_int(number) : value_none();
}

struct field_value sql_attr_value(const struct capture *cap, struct attr a)
{
    switch ((enum attr_type)a.type) {
    case ATTR_TEXT:
        return known_text(capture_text(cap, a.text));
    case ATTR_INT:
        return value_int(a.number);
    case ATTR_REAL:
        return value_real(a.real);
    case ATTR_TIME:
        return value_int(a.time);
    case ATTR_NONE:
        break;
    }
    return value_none();
}

static struct field_value step_value(const struct sql_view *v, size_t g)
{
    uint32_t at = v->step_of[g];
    const struct sql_step *step = &v->steps.at[at];

    if (at == 0)
        return value_none();
    return step->is_number ? value_int(step->number) : known_text(step->text);
}

/* A number when the name is one ("2"), else the name. */
static struct field_value stream_value(const struct capture *cap, const struct lane_key *key)
{
    struct str name = capture_text(cap, key->name);
    int64_t number;

    if (key->kind != LANE_STREAM)
        return value_none();
    return num_i64(name, &number) ? value_int(number) : known_text(name);
}

struct field_value sql_slice_value(const struct sql_view *v, enum sql_set set,
                                   const struct sql_part *p, size_t slice, int column)
{
    const struct capture *cap = p->cap;
    const struct slices *s = &cap->slices;
    const struct lane_key *lane = &cap->lanes.at[s->lane[slice]].key;
    enum slice_kind kind = (enum slice_kind)s->kind[slice];
    enum capture_key key;

    switch (column) {
    case C_ID:
        return value_int((int64_t)p->base + (int64_t)slice);
    case C_TS:
        return value_int(s->begin[slice]);
    case C_DUR:
        return value_int(s->dur[slice]);
    case C_END_TS:
        return value_int(slices_end(s, slice));
    case C_NAME:
        return value_text(capture_text(cap, s->name[slice]));
    case C_KIND:
        return value_text(str_of(slice_kind_name(kind)));
    case C_LANE:
        return value_int((int64_t)p->lane_base + s->lane[slice]);
    case C_LANE_NAME:
        return known_text(capture_text(cap, lane->name));
    case C_PROCESS:
        return known_text(capture_text(cap, lane->process));
    case C_DEVICE:
        return known(lane->device);
    case C_STEP:
        return step_value(v, (size_t)p->base + slice);
    case C_RANK:
        return known(cap->facts.rank);
    default:
        break;
    }
    if (sql_slice_key(set, column, &key))
        return sql_attr_value(cap, capture_slice_attr(cap, slice, key));
    if (column == K_STREAM)
        return stream_value(cap, lane);
    kind = kind == SLICE_COMM_PART ? SLICE_COMM : kind; /* K_CLASS */
    return value_text(str_of(slice_kind_name(kind)));
}
