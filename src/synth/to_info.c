/*
 * to_info: what the Ascend profiler says of itself beside its files, profiler_info_<rank>.json and
 * profiler_metadata.json. They are known when the run is over.
 */
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

    PUT(p,
        "{\n    'config': {\n        'common_config': {\n            'activities': [\n             "
        "   'ProfilerActivity.CPU',\n                'ProfilerActivity.NPU'\n            ],\n");
    PUTF(p,
         "            'schedule': {\n                '%wait': 0,\n                '%active': %,\n  "
         "              '%warmup': 1,\n                '%repeat': 1,\n                "
         "'%skip_first': 0\n            },\n",
         under, under, to->truth->steps.n, under, under, under);
    PUTF(p,
         "            'record_shapes': true,\n            'profile_memory': true,\n            "
         "'with_stack': %,\n            'with_flops': false,\n            'with_modules': %\n      "
         "  },\n        'experimental_config': {\n            '_profiler_level': 'Level%',\n       "
         "     '_aic_metrics': '%',\n",
         stack, stack, o->level, o->level > 0 ? "ACL_AICORE_PIPE_UTILIZATION" : "ACL_AICORE_NONE");
    PUTF(p,
         "            '_l2_cache': false,\n            '_msprof_tx': false,\n            "
         "'_data_simplification': true,\n            'record_op_args': false,\n            "
         "'_export_type': '%'\n        }\n    },\n",
         (o->formats & SYNTH_TEXT) != 0 ? "text" : "db");
    PUTF(p,
         "    'start_info': {\n        'syscnt_enable': true,\n        'freq': 100,\n        "
         "'start_cnt': 17238197612056,\n        'start_monotonic': 172163581670080\n    },\n    "
         "'end_info': {\n        'collectionTimeEnd': %,\n        'MonotonicTimeEnd': "
         "172164265133640\n    },\n    'rank_id': %\n}\n",
         to->rank->host, to->rank->id);
}

static void write_metadata(struct put *p, const struct outlet *to)
{
    PUTF(p,
         "{\n    'ENV_VARIABLES': {\n        'ASCEND_LAUNCH_BLOCKING': ''\n    },\n    "
         "'distributed_args': {\n        'tensor_model_parallel_size': 8,\n        'rank': %,\n    "
         "    'world_size': %\n    },\n    'parallel_group_info': {\n        '%': {\n            "
         "'group_name': 'default_group',\n            'group_rank': %,\n            "
         "'global_ranks': [%]\n        }\n    }\n}\n",
         to->rank->id, to->sim->world, to->sim->group, to->rank->id, to->ranks);
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

    TRY(write_file(info, arena_format(to->arena, "profiler_info_%d.json", to->rank->id).at,
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
