/* An outcome for programs. */
#include "pto/outcome.h"

#include <math.h>

static void put_place(struct json_writer *j, const char *core_key, const char *pipe_key,
                      uint8_t core, uint8_t pipe)
{
    json_put_text(j, core_key, pto_core_name(core));
    json_put_text(j, pipe_key, pto_pipe_short((enum pto_pipe)pipe));
}

static void put_units(const struct pto_outcome *o, struct json_writer *j)
{
    json_put_array(j, "pipes");
    for (size_t i = 0; i < o->units.n; i++) {
        const struct pto_unit *u = &o->units.at[i];
        json_write_object(j);
        put_place(j, "core", "pipe", u->core, u->pipe);
        json_put_u64(j, "instructions", u->count);
        json_put_i64(j, "busy_cycles", u->busy);
        json_put_f64(j, "busy", num_share(u->busy, o->total));
        json_put_i64(j, "first_cycle", u->first);
        json_put_i64(j, "last_cycle", u->until);
        json_put_object(j, "stall_cycles");
        for (int why = PTO_CAUSE_NONE + 1; why < PTO_CAUSE_COUNT; why++) {
            if (u->stall[why] > 0)
                json_put_i64(j, pto_cause_name((enum pto_cause)why), u->stall[why]);
        }
        json_write_end(j);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_stalls(const struct pto_outcome *o, struct json_writer *j)
{
    json_put_array(j, "stalls");
    for (size_t i = 0; i < o->stalls.n; i++) {
        const struct pto_stall *s = &o->stalls.at[i];
        json_write_object(j);
        put_place(j, "core", "pipe", s->core, s->pipe);
        json_put_text(j, "cause", pto_cause_name((enum pto_cause)s->cause));
        put_place(j, "for_core", "for_pipe", s->from_core, s->from);
        json_put_u64(j, "count", s->count);
        json_put_i64(j, "cycles", s->cycles);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_path(const struct pto_outcome *o, struct json_writer *j)
{
    static const char *const sorts[] = {"work", "latency", "sync"};

    json_put_array(j, "critical_path");
    for (size_t i = 0; i < o->path.n; i++) {
        const struct pto_path_part *p = &o->path.at[i];
        json_write_object(j);
        put_place(j, "core", "pipe", p->core, p->pipe);
        json_put_text(j, "sort", sorts[p->sort]);
        if (p->sort == PTO_PATH_SYNC)
            json_put_text(j, "cause", pto_cause_name((enum pto_cause)p->cause));
        json_put_u64(j, "count", p->count);
        json_put_i64(j, "cycles", p->cycles);
        json_put_f64(j, "share", num_share(p->cycles, o->total));
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_flows(const struct pto_outcome *o, struct json_writer *j)
{
    json_put_array(j, "transfers");
    for (size_t i = 0; i < o->flows.n; i++) {
        json_write_object(j);
        json_put_text(j, "from", pto_space_name((enum pto_space)o->flows.at[i].src));
        json_put_text(j, "to", pto_space_name((enum pto_space)o->flows.at[i].dst));
        json_put_u64(j, "bytes", o->flows.at[i].bytes);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_assumed(const struct pto_outcome *o, struct json_writer *j)
{
    json_put_array(j, "assumed");
    for (size_t i = 0; i < o->assumed.n; i++) {
        const struct pto_assumed *a = &o->assumed.at[i];
        json_write_object(j);
        if (a->name.n > 0)
            json_put_str(j, "argument", a->name);
        json_put_bool(j, "is_data", a->is_pointer || a->name.n == 0);
        json_put_text(j, "decides", pto_assumed_kind(a->kind));
        json_put_u64(j, "line", a->line);
        json_write_end(j);
    }
    json_write_end(j);
}

void pto_outcome_members(const struct pto_outcome *o, struct json_writer *j)
{
    json_put_str(j, "kernel", o->kernel);
    json_put_text(j, "arch", o->arch == PTO_A5 ? "a5" : "a2a3");
    json_put_str(j, "chip", o->chip.name);
    json_put_f64(j, "clock_mhz", o->chip.mhz);
    json_put_text(j, "sync", o->is_dep ? "dep" : "ptoas");
    json_put_bool(j, "complete", o->is_complete);
    json_put_bool(j, "degenerate", o->is_degenerate);
    json_put_i64(j, "cycles", o->total);
    json_put_f64(j, "us", pto_outcome_us(o, o->total));
    json_put_i64(j, "launch_cycles", o->launch);
    json_put_f64(j, "us_with_launch", pto_outcome_us(o, o->total + o->launch));
    json_put_u64(j, "instructions", o->instructions);
    json_put_u64(j, "steps", o->steps);
    json_put_text(j, "bound", pto_bound_name(o->bound));
    if (o->bound != PTO_BOUND_NOTHING)
        put_place(j, "bound_core", "bound_pipe", o->bound_core, o->bound_pipe);
    json_put_u64(j, "macs", o->macs);
    bool has_peak = o->peak_macs > 0 && o->total > 0;
    json_put_f64(j, "peak_share",
                 has_peak ? (double)o->macs / (o->peak_macs * (double)o->total) : NAN);
    json_put_u64(j, "unfilled_events", o->inserted_barriers);
    json_put_u64(j, "unrecorded", o->unrecorded);
    put_units(o, j);
    put_stalls(o, j);
    put_path(o, j);
    put_flows(o, j);
    put_assumed(o, j);
}
