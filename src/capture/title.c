/*
 * What people call lanes and processes.
 */
#include "capture/title.h"

#include <inttypes.h>
#include <stdio.h>

static struct str format(char *buf, const char *word, int64_t number)
{
    return (struct str){buf, (size_t)snprintf(buf, TITLE_TEXT, "%s %" PRId64, word, number)};
}

struct str title_lane(const struct capture *cap, lane_id lane, char *buf)
{
    const struct lane_key *key = &cap->lanes.at[lane].key;
    struct str name = capture_text(cap, key->name);
    int64_t number;

    switch (key->kind) {
    case LANE_STREAM:
        if (num_i64(name, &number))
            return format(buf, capture_is_ascend(cap) ? "Stream" : "stream", number);
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
    int64_t device = key->device >= 0 ? key->device : cap->facts.device;

    if (key->process != 0)
        return capture_text(cap, key->process);
    if (key->kind == LANE_STREAM || key->kind == LANE_COMM) {
        /* A device has the name of its row group in the viewers of its maker. */
        if (capture_is_ascend(cap))
            return key->kind == LANE_COMM ? S("Communication") : S("Ascend Hardware");
        return device >= 0 ? format(buf, "GPU", device) : S("GPU");
    }
    if (key->pid != 0)
        return format(buf, "process", key->pid);
    if (key->device >= 0)
        return format(buf, "device", key->device);
    return key->kind == LANE_THREAD ? S("host") : S("device");
}
