/*
 * What Insight knows of pipes and cores by name.
 */
#include "render/insight/insight_lanes.h"

#include "base/text/num.h"

struct lane_style {
    struct str lane;
    int order;
    const char *color;
};

static const struct lane_style styles[] = {
    {S_INIT("SCALAR"), 1, "startup"},
    {S_INIT("FLOWCTRL"), 2, "cq_build_passed"},
    {S_INIT("MTE1"), 3, "thread_state_running"},
    {S_INIT("CUBE"), 4, "background_memory_dump"},
    {S_INIT("FIXP"), 5, "thread_state_unknown"},
    {S_INIT("MTE2"), 6, "thread_state_iowait"},
    {S_INIT("VECTOR"), 7, "cq_build_failed"},
    {S_INIT("MTE3"), 8, "rail_response"},
    {S_INIT("CACHEMISS"), 9, "thread_state_runnable"},
    {S_INIT("SCALARLDST"), 10, "startup"},
    {S_INIT("ALL"), 11, "good"},
    {S_INIT("USERMARK"), 12, "rail_load"},
    {S_INIT("EVENT"), 13, "rail_animation"},
    {S_INIT("RVECEX"), 18, "thread_state_running"},
    {S_INIT("RVECLP"), 19, "thread_state_iowait"},
    {S_INIT("RVECST"), 20, "thread_state_runnable"},
    {S_INIT("RVECLD"), 21, "startup"},
    {S_INIT("PUSHQ"), 22, "thread_state_unknown"},
    {S_INIT("RVECSU"), 23, "yellow"},
};

static const struct lane_style *style_of(struct str lane)
{
    for (size_t i = 0; i < ARRAY_LEN(styles); i++)
        if (str_equal(styles[i].lane, lane))
            return &styles[i];
    return NULL;
}

const char *insight_color(struct str lane, enum slice_kind kind)
{
    const struct lane_style *lane_style = style_of(lane);

    if (kind == SLICE_CONTROL)
        return "black";
    if (kind == SLICE_WAIT)
        return "yellow";
    if (lane_style != NULL)
        return lane_style->color;
    return str_starts(lane, S("WARP_")) ? "thread_state_unknown" : "thread_state_stopped";
}

bool insight_order(struct str lane, int64_t *out)
{
    const struct lane_style *lane_style = style_of(lane);
    int64_t warp;

    if (lane_style != NULL) {
        *out = lane_style->order;
        return true;
    }
    if (!str_starts(lane, S("WARP_")) || !num_i64(str_part(lane, 5, lane.n), &warp) || warp < -1 ||
        warp > INT32_MAX)
        return false;
    *out = 100 + warp;
    return true;
}

/* Digits at the front of a text. */
static bool lanes_read_number(struct str *text, int64_t *out)
{
    size_t n = str_digits(str_part(*text, 0, 9));

    if (n == 0 || !num_i64(str_part(*text, 0, n), out))
        return false;
    *text = str_part(*text, n, text->n);
    return true;
}

int64_t insight_core_order(struct str name, size_t number)
{
    struct str rest = str_part(name, 4, name.n);
    int64_t n, m;

    if (!str_starts(name, S("core")) || !lanes_read_number(&rest, &n))
        return (int64_t)number;
    if (str_starts(rest, S(".cubecore")))
        return 3 * n + 1;
    if (str_skip(&rest, S(".veccore")) && lanes_read_number(&rest, &m))
        return 3 * n + 2 + m;
    return 3 * n;
}

bool insight_is_pair(struct str name)
{
    return str_equal(name, S("SET_FLAG")) || str_equal(name, S("WAIT_FLAG")) ||
           str_equal(name, S("set_event")) || str_equal(name, S("wait_event"));
}
