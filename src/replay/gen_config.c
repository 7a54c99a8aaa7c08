#include "base/json_write.h"
#include "replay/gen.h"

static bool put(void *ctx, struct str text)
{
    gen_put(ctx, text);
    return true;
}

static void text(struct json_writer *w, struct str key, struct str value)
{
    json_write_key(w, key);
    json_write_string(w, value);
}

static void number(struct json_writer *w, struct str key, int64_t value)
{
    json_write_key(w, key);
    json_write_i64(w, value);
}

static void put_kernel(struct json_writer *w, const struct kernel *k)
{
    json_write_key(w, S("kernel"));
    json_write_object(w);
    text(w, S("name"), k->incore.name);
    number(w, S("func_id"), k->incore.func_id);
    text(w, S("core_type"), k->incore.core_type);
    text(w, S("source"), str_of(k->incore.path));
    text(w, S("shape"), str_of(shape_name(k->shape)));
    json_write_end(w);
}

static void put_replay(struct json_writer *w, const struct workspace *ws)
{
    json_write_key(w, S("replay"));
    json_write_object(w);
    number(w, S("hw_block_num"), ws->blocks);
    text(w, S("soc_version"), str_of(ws->soc));
    text(w, S("platform"), str_of(ws->platform->family));
    number(w, S("timeout"), ws->timeout_s);
    number(w, S("launch_count"), ws->launch_count);
    number(w, S("sim_minutes"), ws->sim_minutes);
    json_write_end(w);
}

static void put_arg(struct json_writer *w, const struct slot *s)
{
    json_write_object(w);
    number(w, S("index"), s->index);
    text(w, S("kind"), s->is_tensor ? S("tensor") : S("scalar"));
    text(w, S("dtype"), s->dtype->name);
    if (s->is_tensor) {
        json_write_key(w, S("shape"));
        json_write_array(w);
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
    text(w, S("name"), s->name);
    if (s->is_tensor && s->role != ROLE_INPUT)
        text(w, S("role"), s->role == ROLE_OUTPUT ? S("output") : S("inout"));
    if (s->is_tensor && !str_equal(s->fill, S("zero")))
        text(w, S("fill"), s->fill);
    json_write_end(w);
}

static void put_spmd(struct json_writer *w, const struct spmd *spmd)
{
    json_write_key(w, S("spmd"));
    json_write_object(w);
    number(w, S("hw_block_dim"), spmd->block_dim);
    number(w, S("aiv_lanes_per_core"), spmd->lanes);
    json_write_key(w, S("fifo_sizes"));
    json_write_array(w);
    for (size_t i = 0; i < ARRAY_LEN(spmd->fifo_bytes) && spmd->fifo_bytes[i] > 0; i++)
        json_write_i64(w, spmd->fifo_bytes[i]);
    json_write_end(w);
    json_write_key(w, S("dispatches"));
    json_write_array(w);
    for (size_t i = 0; i < spmd->n_dispatches; i++) {
        const struct dispatch *d = &spmd->dispatches[i];
        json_write_object(w);
        number(w, S("logical_block_num"), d->blocks);
        json_write_key(w, S("scalar_overrides"));
        json_write_array(w);
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
    text(&w, S("backend"), S("simpler"));
    text(&w, S("test_module"), str_of(ws->module));
    text(&w, S("case"), ws->case_name);
    put_kernel(&w, ws->kernel);
    put_replay(&w, ws);
    json_write_key(&w, S("args"));
    json_write_array(&w);
    for (size_t i = 0; i < ws->slots->n; i++)
        put_arg(&w, &ws->slots->at[i]);
    json_write_end(&w);
    if (ws->spmd.has_meta)
        put_spmd(&w, &ws->spmd);
    json_write_end(&w);
    json_write_finish(&w);
}
