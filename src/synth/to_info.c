/*
 * to_info: what the Ascend profiler says of itself beside its files, profiler_info_<rank>.json and
 * profiler_metadata.json. They are known when the run is over.
 */
#include "base/embedded.h"
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

static void write_step(void *self)
{
    (void)self;
}

static void write_info(struct put *p, const struct outlet *to)
{
    const struct synth_options *o = to->sim->options;
    const char *stack = o->stacks ? "true" : "false";
    const char *under = o->flavor == SYNTH_OLD ? "_" : "";

    PUTF(p, embedded_file("synth/profiler_info.json").at, under, under, to->truth->steps.n, under,
         under, under, stack, stack, o->level,
         o->level > 0 ? "ACL_AICORE_PIPE_UTILIZATION" : "ACL_AICORE_NONE",
         (o->formats & SYNTH_TEXT) != 0 ? "text" : "db", to->rank->host, to->rank->id);
}

static void write_metadata(struct put *p, const struct outlet *to)
{
    PUTF(p, embedded_file("synth/profiler_metadata.json").at, to->rank->id, to->sim->world,
         to->sim->group, to->rank->id, to->ranks);
}

static enum status write_file(struct info *info, const char *name,
                              void (*write)(struct put *p, const struct outlet *to))
{
    TRY(to_open(info->to, &info->put, to_folder(info->to, ""), name, 0));
    write(&info->put, info->to);
    return to_close(info->to, &info->put, 0, 0);
}

static enum status close_info(void *self)
{
    struct info *info = self;
    const struct outlet *to = info->to;

    TRY(write_file(info, arena_printf(to->arena, "profiler_info_%d.json", to->rank->id),
                   write_info));
    return write_file(info, "profiler_metadata.json", write_metadata);
}

static void abort_info(void *self)
{
    put_abort(&((struct info *)self)->put);
}

const struct to_writer to_info = {
    .formats = SYNTH_TEXT | SYNTH_DB,
    .size = sizeof(struct info),
    .open = open_info,
    .step = write_step,
    .close = close_info,
    .abort = abort_info,
};
