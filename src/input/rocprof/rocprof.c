/* Names, lanes and shapes of AMD's profilers. */
#include "input/rocprof/rocprof.h"

int32_t rocprof_device(struct str agent)
{
    struct str text = str_trim(agent);
    int64_t number;

    if (num_i64(str_part(text, text.n - str_last_digits(text), text.n), &number) && number >= 0 &&
        number <= INT32_MAX)
        return (int32_t)number;
    return -1;
}

struct str rocprof_kernel_name(struct str name)
{
    static const struct str ends[] = {S_INIT(" [clone .kd]"), S_INIT(".kd")};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends(name, ends[i]))
            return str_part(name, 0, name.n - ends[i].n);
    return name;
}

lane_id rocprof_thread(struct capture *cap, int64_t pid, int64_t tid)
{
    return capture_lane(
        cap, (struct lane_key){.kind = LANE_THREAD,
                               .device = -1,
                               .process = capture_intern_format(cap, "%lld", (long long)pid),
                               .name = capture_intern_format(cap, "%lld", (long long)tid),
                               .pid = pid,
                               .tid = tid});
}

static strid shape_text(struct capture *cap, const int64_t n[3])
{
    return capture_intern_format(cap, "%lld,%lld,%lld", (long long)n[0], (long long)n[1],
                                 (long long)n[2]);
}

size_t rocprof_shapes(struct capture *cap, const int64_t grid[3], const int64_t block[3],
                      struct attr set[2])
{
    int64_t groups[3];

    for (size_t i = 0; i < 3; i++) {
        if (grid[i] < 1 || block[i] < 1)
            return 0;
        groups[i] = (grid[i] - 1) / block[i] + 1;
    }
    set[0] = attr_text(capture_intern(cap, S("grid")), shape_text(cap, groups));
    set[1] = attr_text(capture_intern(cap, S("block")), shape_text(cap, block));
    return 2;
}

enum slice_kind rocprof_call_kind(struct str domain)
{
    return str_starts(domain, S("MARKER")) || str_equal(domain, S("ROCTX")) ? SLICE_ANNOTATION
                                                                            : SLICE_RUNTIME;
}
