/*
 * Races in words.
 */
#include "kernels/pto/judge/race.h"

#include "base/text/char.h"
#include "kernels/pto/sim/core.h"
#include "kernels/pto/sim/sim.h"

const char *pto_race_code(enum pto_race_kind kind)
{
    static const char *const codes[] = {
        [PTO_RACE_RAW] = "pto-race.raw",       [PTO_RACE_WAR] = "pto-race.war",
        [PTO_RACE_WAW] = "pto-race.waw",       [PTO_RACE_ORDER] = "pto-race.order",
        [PTO_RACE_UNSET] = "pto-race.unset",   [PTO_RACE_UNUSED] = "pto-race.unused",
        [PTO_RACE_REUSED] = "pto-race.reused", [PTO_RACE_EMPTY] = "pto-race.empty",
        [PTO_RACE_BLOCKS] = "pto-race.blocks",
    };

    return codes[kind];
}

static const struct pto_site *site_of(const struct pto_race_end *e)
{
    return &e->program->sites.at[e->site];
}

/* A kernel in C++, whose calls were recorded. */
static bool is_cpp(const struct pto_race *f)
{
    return f->second.program->is_flagged;
}

uint32_t pto_race_line(const struct pto_race *f)
{
    return site_of(&f->second)->line;
}

/* What the source calls it: "pto.tload", or "TLOAD" in C++, where the scalar unit's accesses have
 * no name. */
static const char *op_word(const struct pto_race *f, enum pto_opcode code, struct arena *arena)
{
    const char *name = pto_op_name(code);

    if (!is_cpp(f))
        return name;
    if (code == PTO_LOAD_SCALAR)
        return "a scalar read";
    if (code == PTO_STORE_SCALAR)
        return "a scalar write";
    char *word = arena_cstr(arena, str_of(strncmp(name, "pto.", 4) == 0 ? name + 4 : name));
    for (char *c = word; *c != '\0'; c++)
        *c = *c == '.' ? '_' : char_upper(*c);
    return word;
}

/* "bytes 0 to 8191 of vec (%a)", "what lies behind %out". */
static const char *bytes_of(const struct pto_race *f, struct arena *arena)
{
    const struct pto_module *m = f->second.program->module;
    uint32_t at = site_of(&f->second)->op;
    const struct pto_op *op = &m->ops.at[at];
    const struct pto_function *in = pto_function_at(m, at);
    struct str name = S("");

    if (in && f->use < op->operand_count && !is_cpp(f)) /* whose names the recorder gave */
        name = pto_value_text(m, in, arena, pto_operands(m, op)[f->use].value);
    if (f->space == PTO_GM && f->root >= 0 &&
        (uint32_t)f->root < f->second.program->function->arg_count) {
        struct str arg = pto_value_text(m, f->second.program->function, arena, (uint32_t)f->root);
        if (is_cpp(f) && arg.n > 1)
            arg = str_part(arg, 1, arg.n); /* no % there */
        return arena_printf(arena, "bytes from %lld on behind %.*s", (long long)f->lo,
                            STR_ARGS(arg));
    }
    return arena_printf(arena, "bytes %lld to %lld of %s%s%.*s%s", (long long)f->lo,
                        (long long)f->hi - 1, pto_space_name(f->space), name.n > 0 ? " (" : "",
                        STR_ARGS(name), name.n > 0 ? ")" : "");
}

/* "pto.tload on PIPE_MTE2, line 12" */
static const char *who(const struct pto_race *f, const struct pto_race_end *e, struct arena *arena)
{
    const struct pto_site *s = site_of(e);
    bool is_other = f->first.core != f->second.core;

    return arena_printf(arena, "%s on %s%s%s, line %u", op_word(f, s->code, arena),
                        is_other ? pto_core_name(e->core) : "", is_other ? " " : "",
                        pto_pipe_name((enum pto_pipe)e->pipe), s->line);
}

static const char *missing(const struct pto_race *f, struct arena *arena)
{
    uint32_t after = site_of(&f->first)->line, before = pto_race_line(f);

    if (f->first.core != f->second.core) {
        bool is_a5 = f->second.program->arch == PTO_A5;
        const char *set = !is_cpp(f) ? "pto.sync.set"
                          : is_a5    ? "set_intra_block"
                                     : "ffts_cross_core_sync";
        const char *wait = !is_cpp(f) ? "pto.sync.wait"
                           : is_a5    ? "wait_intra_block"
                                      : "wait_flag_dev";
        return arena_printf(arena,
                            "missing: a flag of %s for %s (%s after line %u, %s before line %u) "
                            "or a FIFO",
                            pto_core_name(f->first.core), pto_core_name(f->second.core), set, after,
                            wait, before);
    }
    if (f->kind == PTO_RACE_ORDER)
        return arena_printf(arena,
                            is_cpp(f) ? "missing: pipe_barrier(%s) before line %u"
                                      : "missing: pto.barrier <%s> before line %u",
                            pto_pipe_name((enum pto_pipe)f->to), before);
    return arena_printf(arena,
                        is_cpp(f) ? "missing: set_flag(%s, %s, ..) after line %u and its "
                                    "wait_flag before line %u"
                                  : "missing: pto.set_flag[<%s>, <%s>, ..] after line %u and its "
                                    "pto.wait_flag before line %u",
                        pto_pipe_name((enum pto_pipe)f->from), pto_pipe_name((enum pto_pipe)f->to),
                        after, before);
}

static const char *flag_name(const struct pto_race *f, struct arena *arena)
{
    return arena_printf(arena, "event %u from %s to %s", f->id,
                        pto_pipe_name((enum pto_pipe)f->from), pto_pipe_name((enum pto_pipe)f->to));
}

const char *pto_race_text(const struct pto_race *f, struct arena *arena)
{
    bool reads = f->kind == PTO_RACE_RAW || f->kind == PTO_RACE_ORDER;

    switch (f->kind) {
    case PTO_RACE_UNSET:
        return arena_printf(arena, "waits for %s, which nothing sets", flag_name(f, arena));
    case PTO_RACE_UNUSED:
        return arena_printf(arena, "%s is set and nothing waits for it", flag_name(f, arena));
    case PTO_RACE_REUSED:
        return arena_printf(arena,
                            "%s is set again before anything waited for its last set, line %u",
                            flag_name(f, arena), site_of(&f->first)->line);
    case PTO_RACE_EMPTY:
        return arena_printf(arena, "%s reads %s, which nothing wrote",
                            op_word(f, site_of(&f->second)->code, arena), bytes_of(f, arena));
    case PTO_RACE_BLOCKS:
        return arena_printf(arena,
                            "block 1 writes %s that block 0 uses too, line %u; blocks of a "
                            "launch run in no order",
                            bytes_of(f, arena), site_of(&f->first)->line);
    default:
        break;
    }
    return arena_printf(arena, "%s %s %s while %s may still %s them; %s", who(f, &f->second, arena),
                        reads ? "reads" : "writes", bytes_of(f, arena), who(f, &f->first, arena),
                        f->kind == PTO_RACE_WAR ? "read" : "write", missing(f, arena));
}
