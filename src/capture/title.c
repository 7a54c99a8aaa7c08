#include "capture/title.h"

#include <inttypes.h>
#include <stdio.h>

static struct str format(char *buf, const char *word, int64_t number)
{
    return (struct str){buf, (size_t)snprintf(buf, TITLE_TEXT, "%s %" PRId64, word, number)};
}

/* The viewers of Ascend profiles and of kernel tables write a capital, those of GPUs do not. */
static const char *stream_word(const struct capture *cap)
{
    struct str kind = capture_text(cap, cap->facts.kind);

    return str_equal(kind, S("kineto")) || str_equal(kind, S("nsys")) ? "stream" : "Stream";
}

struct str title_lane(const struct capture *cap, lane_id lane, char *buf)
{
    const struct lane_key *key = &cap->lanes.at[lane].key;
    struct str name = capture_text(cap, key->name);
    int64_t number;

    switch (key->kind) {
    case LANE_STREAM:
        if (num_i64(name, &number))
            return format(buf, stream_word(cap), number);
        return num_is_missing(name) ? S("no stream") : name;
    case LANE_COMM:
        return num_is_missing(name) ? S("communication") : name;
    case LANE_THREAD:
        return name.n == 0 ? format(buf, "thread", key->tid) : name;
    case LANE_PIPE:
    case LANE_OTHER:
        break;
    }
    return name.n == 0 ? format(buf, "lane", lane) : name;
}

struct str title_process(const struct capture *cap, lane_id lane, char *buf)
{
    const struct lane_key *key = &cap->lanes.at[lane].key;

    if (key->process != 0)
        return capture_text(cap, key->process);
    if (key->device >= 0)
        return format(buf, "device", key->device);
    if (key->pid != 0)
        return format(buf, "process", key->pid);
    if (key->kind == LANE_THREAD)
        return S("host");
    return cap->facts.device >= 0 ? format(buf, "device", cap->facts.device) : S("device");
}
