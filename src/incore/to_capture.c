#include "incore/to_capture.h"

#include <inttypes.h>
#include <math.h>

#include "base/json_read.h"
#include "capture/capture.h"

enum { MOST_ATTRS = 16 };

struct conversion {
    const struct incore_trace *t;
    struct capture *cap;
    struct arena scratch;
};

/* Both ends of an instruction are rounded alike, once, so that what did not overlap does not now.
 * In-core times are single-precision numbers of a few milliseconds: a double holds them. */
static nanos to_ns(double us)
{
    double ns = us * 1000;

    return fabs(ns) < 9e18 ? (nanos)llround(ns) : 0;
}

static strid text_of(struct conversion *c, struct str raw)
{
    return capture_intern(c->cap, json_text(raw, &c->scratch));
}

static attr_run attrs_of(struct conversion *c, const struct incore_instr *in)
{
    struct attr list[MOST_ATTRS];
    struct str args = incore_part_text(c->t, in, in->args), key, value;
    struct json j;
    size_t n = 0;
    int64_t number;
    double real;

    json_open(&j, args, JSON_STRICT);
    if (args.n == 0 || json_next(&j) != JSON_OBJECT)
        return 0;
    while (json_key(&j, &key) && n < MOST_ATTRS) {
        strid name = text_of(c, key);
        if (!json_value(&j, &value))
            continue;
        if (j.token == JSON_STRING && value.n > 0)
            list[n++] = attr_text(name, text_of(c, value));
        else if (j.token == JSON_NUMBER && num_i64(value, &number))
            list[n++] = attr_int(name, number);
        else if (j.token == JSON_NUMBER && num_f64(value, &real))
            list[n++] = attr_real(name, real);
    }
    return n > 0 ? attrs_own(&c->cap->attrs, list, n) : 0;
}

static lane_id lane_of(struct conversion *c, const struct incore_drawn *d)
{
    const struct incore_group *g = &c->t->groups.at[d->group];
    struct str pipe = incore_value_text(c->t, g->tid);
    struct str name =
        d->lane > 0 ? arena_format(&c->scratch, "%.*s#%" PRIu32, STR_ARGS(pipe), d->lane) : pipe;

    return capture_lane(c->cap, (struct lane_key){.kind = LANE_PIPE,
                                                  .device = -1,
                                                  .process = capture_intern(
                                                      c->cap, incore_value_text(c->t, g->pid)),
                                                  .name = capture_intern(c->cap, name)});
}

static uint32_t add_instr(struct conversion *c, const struct incore_instr *in, lane_id lane)
{
    struct str raw = incore_part_text(c->t, in, in->name);
    nanos begin = to_ns(in->ts), end = to_ns(in->ts + in->dur);
    struct arena_mark mark = arena_mark(&c->scratch);

    if (raw.n >= 2 && *raw.at == '"')
        raw = str_part(raw, 1, raw.n - 2);
    struct slice slice = {.begin = begin,
                          .dur = end > begin ? end - begin : 0,
                          .lane = lane,
                          .name = text_of(c, raw),
                          .own = attrs_of(c, in),
                          .kind = SLICE_INSTR};
    uint32_t number = capture_slice(c->cap, &slice);
    arena_rewind(&c->scratch, mark);
    return number;
}

struct capture *incore_to_capture(const struct incore_trace *t, const struct incore_lanes *lanes,
                                  const struct incore_arrows *arrows)
{
    struct conversion c = {.t = t, .cap = capture_new()};
    lane_id *ids = mem_grow(NULL, sizeof(*ids), lanes->drawn.n + 1);
    uint32_t *slices = mem_grow(NULL, sizeof(*slices), t->instrs.n + 1);

    arena_init(&c.scratch);
    for (size_t i = 0; i < lanes->rows_n; i++)
        ids[lanes->rows[i]] = lane_of(&c, &lanes->drawn.at[lanes->rows[i]]);
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        const struct incore_group *g = &t->groups.at[in->group];
        incore_tell(t, i);
        if (g->is_kept)
            slices[i] = add_instr(&c, in, ids[g->drawn0 + in->lane]);
    }
    for (size_t i = 0; i < arrows->list.n; i++)
        capture_flow(c.cap, FLOW_FLAG, slices[arrows->list.at[i].from],
                     slices[arrows->list.at[i].to]);
    capture_set_incore(c.cap);
    c.cap->origin = ORIGIN_SIMULATED;
    capture_seal(c.cap);
    arena_free(&c.scratch);
    mem_free(ids);
    mem_free(slices);
    return c.cap;
}
