#include "base/json_write.h"
#include "replay/gen.h"

static bool put(void *ctx, struct str text)
{
    gen_put(ctx, text);
    return true;
}

static void put_kernel(struct json_writer *w, const struct kernel *k)
{
    json_put_object(w, "kernel");
    json_put_str(w, "name", k->incore.name);
    json_put_i64(w, "func_id", k->incore.func_id);
    json_put_str(w, "core_type", k->incore.core_type);
    json_put_text(w, "source", k->incore.path);
    json_put_text(w, "shape", shape_name(k->shape));
    json_write_end(w);
}

static void put_replay(struct json_writer *w, const struct workspace *ws)
{
    json_put_object(w, "replay");
    json_put_i64(w, "hw_block_num", ws->blocks);
    json_put_text(w, "soc_version", ws->soc);
    json_put_text(w, "platform", ws->platform->family);
    json_put_i64(w, "timeout", ws->timeout_s);
    json_put_i64(w, "launch_count", ws->launch_count);
    json_put_i64(w, "sim_minutes", ws->sim_minutes);
    json_write_end(w);
}

static void put_arg(struct json_writer *w, const struct slot *s)
{
    json_write_object(w);
    json_put_i64(w, "index", s->index);
    json_put_str(w, "kind", s->is_tensor ? S("tensor") : S("scalar"));
    json_put_str(w, "dtype", s->dtype->name);
    if (s->is_tensor) {
        json_put_array(w, "shape");
        for (size_t i = 0; i < s->rank; i++)
            json_write_i64(w, s->shape[i]);
        json_write_end(w);
    } else {
        json_write_key(w, S("value"));
        if (s->is_unsigned)
            json_write_u64(w, (uint64_t)s->value);
        else
            json_write_i64(w, s->value);
    }
    json_put_str(w, "name", s->name);
    if (s->is_tensor && s->role != ROLE_INPUT)
        json_put_str(w, "role", s->role == ROLE_OUTPUT ? S("output") : S("inout"));
    if (s->is_tensor && !str_equal(s->fill, S("zero")))
        json_put_str(w, "fill", s->fill);
    json_write_end(w);
}

static void put_spmd(struct json_writer *w, const struct spmd *spmd)
{
    json_put_object(w, "spmd");
    json_put_i64(w, "hw_block_dim", spmd->block_dim);
    json_put_i64(w, "aiv_lanes_per_core", spmd->lanes);
    json_put_array(w, "fifo_sizes");
    for (size_t i = 0; i < ARRAY_LEN(spmd->fifo_bytes) && spmd->fifo_bytes[i] > 0; i++)
        json_write_i64(w, spmd->fifo_bytes[i]);
    json_write_end(w);
    json_put_array(w, "dispatches");
    for (size_t i = 0; i < spmd->n_dispatches; i++) {
        const struct dispatch *d = &spmd->dispatches[i];
        json_write_object(w);
        json_put_i64(w, "logical_block_num", d->blocks);
        json_put_array(w, "scalar_overrides");
        json_write_array(w);
        json_write_i64(w, d->slot);
        json_write_i64(w, d->value);
        json_write_end(w);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

void gen_config(const struct workspace *ws, struct gen *g)
{
    struct json_writer w;

    json_write_init(&w, (struct sink){put, g}, JSON_INDENTED);
    json_write_object(&w);
    json_put_text(&w, "backend", "simpler");
    json_put_text(&w, "test_module", ws->module);
    json_put_str(&w, "case", ws->case_name);
    put_kernel(&w, ws->kernel);
    put_replay(&w, ws);
    json_put_array(&w, "args");
    for (size_t i = 0; i < ws->slots->n; i++)
        put_arg(&w, &ws->slots->at[i]);
    json_write_end(&w);
    if (ws->spmd.has_meta)
        put_spmd(&w, &ws->spmd);
    json_write_end(&w);
    json_write_finish(&w);
}
