/*
 * to_info: what the Ascend profiler says of itself beside its files, profiler_info_<rank>.json and
 * profiler_metadata.json. They are known when the run is over.
 */
#include "base/files/embedded.h"
#include "synth/to.h"

struct info {
    struct outlet *to;
    struct put put;
};

static enum status open_info(void *self, struct outlet *to)
{
    ((struct info *)self)->to = to;
    return ST_OK;
}

static enum status close_info(void *self)
{
    struct info *info = self;
    struct outlet *to = info->to;
    const struct synth_options *o = to->sim->options;
    const char *name = arena_printf(to->arena, "profiler_info_%d.json", to->rank->id);
    const char *folder = to_folder(to, ""), *stack = o->stacks ? "true" : "false";
    const char *under = o->flavor == SYNTH_OLD ? "_" : "";

    TRY(to_open(to, &info->put, folder, name, 0));
    PUTF(&info->put, embedded_file("synth/profiler_info.json").at, under, under, to->truth->steps.n,
         under, under, under, stack, stack, o->level,
         o->level > 0 ? "ACL_AICORE_PIPE_UTILIZATION" : "ACL_AICORE_NONE",
         (o->formats & SYNTH_TEXT) != 0 ? "text" : "db", to->rank->host, to->rank->id);
    TRY(to_close(to, &info->put, 0, 0));
    TRY(to_open(to, &info->put, folder, "profiler_metadata.json", 0));
    PUTF(&info->put, embedded_file("synth/profiler_metadata.json").at, to->rank->id, to->sim->world,
         to->sim->group, to->rank->id, to->ranks);
    return to_close(to, &info->put, 0, 0);
}

static void abort_info(void *self)
{
    put_abort(&((struct info *)self)->put);
}

const struct to_writer to_info = {
    .formats = SYNTH_TEXT | SYNTH_DB,
    .size = sizeof(struct info),
    .open = open_info,
    .close = close_info,
    .abort = abort_info,
};
