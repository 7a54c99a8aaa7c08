/*
 * The JSON files of a run, read back by the descriptions that wrote them.
 */
#include <math.h>

#include "base/files/fs.h"
#include "gpu/collect/run_record.h"
#include "gpu/collect/rundir.h"

static const struct tree *first_of(const struct tree *node, const char *key)
{
    const struct tree *m = tree_get(node, str_of(key));

    return m != NULL ? m->first : NULL;
}

/* The folder may have been edited: launches that do not exist leave their stage, ids and numbers
 * of opportunities are brought into range before anything indexes with them. */
static void read_kernels(struct gpu_run *run, const struct tree *root, const struct tree *params)
{
    const struct tree *work = tree_get(params, S("work"));
    size_t n = 0;

    gpu_record_read(&gpu_kernels_record, root, &run->arena, run);
    for (const struct tree *k = first_of(root, "kernels"); k != NULL && n < run->kernels.n;
         k = k->next, n++)
        for (const struct tree *m = first_of(k, "stalls"); m != NULL; m = m->next)
            gpu_kernel_stall(&run->kernels.at[n], m->key, tree_number(m));
    for (size_t k = 0; k < run->stages.n; k++) {
        struct gpu_stage *s = &run->stages.at[k];
        size_t kept = 0;
        s->work = (struct gpu_work){.flops = NAN, .bytes = NAN};
        gpu_record_read(&gpu_work_record, tree_get(work, s->name), &run->arena, &s->work);
        for (size_t i = 0; i < s->kernels.n; i++)
            if (s->kernels.at[i] < run->kernels.n)
                s->kernels.at[kept++] = s->kernels.at[i];
        s->kernels.n = kept;
    }
    for (size_t i = 0; i < run->extra.n; i++) {
        struct gpu_opportunity *o = &run->extra.at[i];
        o->id = o->id < 1 ? 1 : o->id > 14 ? 14 : o->id;
        o->family = o->family != NULL ? o->family : "";
        o->gain = isnan(o->gain) ? 0 : o->gain;
        o->confidence = isnan(o->confidence) ? 0 : o->confidence;
        o->is_ranked = true;
    }
}

static enum status load(const char *path, struct gpu_run *run, struct diag *d)
{
    const struct tree *params, *kernels, *info;

    TRY(gpu_json_load(&run->arena, fs_join(&run->arena, path, "params.json"), &params, d));
    TRY(gpu_json_load(&run->arena, fs_join(&run->arena, path, "kernels.json"), &kernels, d));
    TRY(gpu_json_load(&run->arena, fs_join(&run->arena, path, "run.json"), &info, d));
    run->version = S("");
    gpu_record_read(&gpu_params_record, params, &run->arena, run);
    /* Problem keys come before ours. */
    for (const struct tree *m = params->first; m != NULL && !str_equal(m->key, S("kernel"));
         m = m->next)
        if (m->kind == TREE_TEXT || tree_is_number(m))
            TRY(gpu_params_set(&run->params, &run->arena, m->key, m->text, m->kind == TREE_TEXT,
                               d));
    read_kernels(run, kernels, params);
    gpu_record_read(&gpu_info_record, info, &run->arena, run);
    gpu_run_judge(run);
    return ST_OK;
}

enum status gpu_rundir_load(const char *path, struct gpu_run *run, struct diag *d)
{
    if (fs_exists(path) && !fs_is_dir(path)) {
        diag_fail(d, ST_FORMAT, "gpu.no-run", (struct where){.path = path},
                  "a file where the folder of a run is needed");
        diag_hint(d, "try", "strata gpu import %s", path);
        return ST_FORMAT;
    }
    gpu_run_init(run);
    enum status st = load(path, run, d);
    if (st != ST_OK)
        gpu_run_free(run);
    return st;
}
