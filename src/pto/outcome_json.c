/* An outcome for programs. */
#include "pto/outcome.h"

static void put_text(struct json_writer *j, const char *key, const char *text)
{
    json_write_key(j, str_of(key));
    json_write_string(j, str_of(text));
}

static void put_str(struct json_writer *j, const char *key, struct str text)
{
    json_write_key(j, str_of(key));
    json_write_string(j, text);
}

static void put_int(struct json_writer *j, const char *key, int64_t value)
{
    json_write_key(j, str_of(key));
    json_write_i64(j, value);
}

static void put_count(struct json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, str_of(key));
    json_write_u64(j, value);
}

static void put_real(struct json_writer *j, const char *key, double value)
{
    json_write_key(j, str_of(key));
    json_write_f64(j, value);
}

static void put_bool(struct json_writer *j, const char *key, bool value)
{
    json_write_key(j, str_of(key));
    json_write_bool(j, value);
}

static void open_list(struct json_writer *j, const char *key)
{
    json_write_key(j, str_of(key));
    json_write_array(j);
}

static double share(const struct pto_outcome *o, int64_t n)
{
    return o->total > 0 ? (double)n / (double)o->total : 0;
}

static void put_place(struct json_writer *j, const char *core_key, const char *pipe_key,
                      uint8_t core, uint8_t pipe)
{
    put_text(j, core_key, pto_core_name(core));
    put_text(j, pipe_key, pto_pipe_short((enum pto_pipe)pipe));
}

static void put_units(const struct pto_outcome *o, struct json_writer *j)
{
    open_list(j, "pipes");
    for (size_t i = 0; i < o->units.n; i++) {
        const struct pto_unit *u = &o->units.at[i];
        json_write_object(j);
        put_place(j, "core", "pipe", u->core, u->pipe);
        put_count(j, "instructions", u->count);
        put_int(j, "busy_cycles", u->busy);
        put_real(j, "busy", share(o, u->busy));
        put_int(j, "first_cycle", u->first);
        put_int(j, "last_cycle", u->until);
        json_write_key(j, S("stall_cycles"));
        json_write_object(j);
        for (int why = PTO_CAUSE_NONE + 1; why < PTO_CAUSE_COUNT; why++) {
            if (u->stall[why] > 0)
                put_int(j, pto_cause_name((enum pto_cause)why), u->stall[why]);
        }
        json_write_end(j);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_stalls(const struct pto_outcome *o, struct json_writer *j)
{
    open_list(j, "stalls");
    for (size_t i = 0; i < o->stalls.n; i++) {
        const struct pto_stall *s = &o->stalls.at[i];
        json_write_object(j);
        put_place(j, "core", "pipe", s->core, s->pipe);
        put_text(j, "cause", pto_cause_name((enum pto_cause)s->cause));
        put_place(j, "for_core", "for_pipe", s->from_core, s->from);
        put_count(j, "count", s->count);
        put_int(j, "cycles", s->cycles);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_path(const struct pto_outcome *o, struct json_writer *j)
{
    static const char *const sorts[] = {"work", "latency", "sync"};

    open_list(j, "critical_path");
    for (size_t i = 0; i < o->path.n; i++) {
        const struct pto_path_part *p = &o->path.at[i];
        json_write_object(j);
        put_place(j, "core", "pipe", p->core, p->pipe);
        put_text(j, "sort", sorts[p->sort]);
        if (p->sort == PTO_PATH_SYNC)
            put_text(j, "cause", pto_cause_name((enum pto_cause)p->cause));
        put_count(j, "count", p->count);
        put_int(j, "cycles", p->cycles);
        put_real(j, "share", share(o, p->cycles));
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_flows(const struct pto_outcome *o, struct json_writer *j)
{
    open_list(j, "transfers");
    for (size_t i = 0; i < o->flows.n; i++) {
        json_write_object(j);
        put_text(j, "from", pto_space_name((enum pto_space)o->flows.at[i].src));
        put_text(j, "to", pto_space_name((enum pto_space)o->flows.at[i].dst));
        put_count(j, "bytes", o->flows.at[i].bytes);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_assumed(const struct pto_outcome *o, struct json_writer *j)
{
    open_list(j, "assumed");
    for (size_t i = 0; i < o->assumed.n; i++) {
        const struct pto_assumed *a = &o->assumed.at[i];
        json_write_object(j);
        if (a->name.n > 0)
            put_str(j, "argument", a->name);
        put_bool(j, "is_data", a->is_pointer || a->name.n == 0);
        put_text(j, "decides", pto_assumed_kind(a->kind));
        put_count(j, "line", a->line);
        json_write_end(j);
    }
    json_write_end(j);
}

void pto_outcome_members(const struct pto_outcome *o, struct json_writer *j)
{
    put_str(j, "kernel", o->kernel);
    put_text(j, "arch", o->arch == PTO_A5 ? "a5" : "a2a3");
    put_str(j, "chip", o->chip.name);
    put_real(j, "clock_mhz", o->chip.mhz);
    put_text(j, "sync", o->is_dep ? "dep" : "ptoas");
    put_bool(j, "complete", o->is_complete);
    put_bool(j, "degenerate", o->is_degenerate);
    put_int(j, "cycles", o->total);
    put_real(j, "us", pto_outcome_us(o, o->total));
    put_int(j, "launch_cycles", o->launch);
    put_real(j, "us_with_launch", pto_outcome_us(o, o->total + o->launch));
    put_count(j, "instructions", o->instructions);
    put_count(j, "steps", o->steps);
    put_text(j, "bound", pto_bound_name(o->bound));
    if (o->bound != PTO_BOUND_NOTHING)
        put_place(j, "bound_core", "bound_pipe", o->bound_core, o->bound_pipe);
    put_count(j, "macs", o->macs);
    json_write_key(j, S("peak_share"));
    if (o->peak_macs > 0 && o->total > 0)
        json_write_f64(j, (double)o->macs / (o->peak_macs * (double)o->total));
    else
        json_write_null(j);
    put_count(j, "unfilled_events", o->inserted_barriers);
    put_count(j, "unrecorded", o->unrecorded);
    put_units(o, j);
    put_stalls(o, j);
    put_path(o, j);
    put_flows(o, j);
    put_assumed(o, j);
}

void pto_outcome_json(const struct pto_outcome *o, struct json_writer *j)
{
    json_write_object(j);
    pto_outcome_members(o, j);
    json_write_end(j);
}
