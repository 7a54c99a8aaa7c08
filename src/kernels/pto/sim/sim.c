/*
 * The kernels of a module, and the cores that run one.
 */
#include "kernels/pto/sim/sim.h"

#include <stdio.h>
#include <string.h>

#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/pipes.h"

void pto_sim_init(struct pto_sim *s)
{
    memset(s, 0, sizeof(*s));
}

static void empty_machine(struct pto_machine *m)
{
    for (size_t i = 0; i < (size_t)PTO_FIFOS * 2; i++) {
        struct pto_fifo *f = &m->fifo[i / 2][i % 2];
        for (size_t k = 0; k < PTO_CORES; k++) {
            vec_free(&f->pushed[k]);
            vec_free(&f->freed[k]);
        }
        pto_ring_free(&f->ring);
    }
    for (size_t i = 0; i < (size_t)PTO_SEMAPHORES * PTO_CORES * PTO_CORES; i++)
        vec_free(&(&m->token[0][0][0])[i].set);
    struct pto_l2 l2 = m->l2;
    memset(m, 0, sizeof(*m));
    m->l2 = l2;
}

void pto_sim_free(struct pto_sim *s)
{
    for (size_t i = 0; i < PTO_CORES; i++) {
        if (s->cores[i].caches)
            pto_core_free(&s->cores[i]);
        pto_program_free(&s->program[i]);
    }
    empty_machine(&s->machine);
    pto_l2_free(&s->machine.l2);
    memset(s, 0, sizeof(*s));
}

const char *pto_core_name(uint32_t core)
{
    static const char *const names[] = {"AIC", "AIV0", "AIV1"};

    return core < PTO_CORES ? names[core] : "?";
}

struct pto_options pto_options_default(enum pto_arch arch)
{
    return (struct pto_options){.arch = arch,
                                .cores = 1,
                                .l2_hit = 1,
                                .blocks = 1,
                                .max_steps = UINT64_C(2000000000),
                                .max_records = 1000000};
}

/* ---- kernels of a module ---- */

static struct str sim_name_of(const struct pto_module *m, const struct pto_function *f)
{
    return intern_get(&m->names, f->name);
}

/* The other half of a mixed kernel. */
static const struct pto_function *partner(const struct pto_module *m, const struct pto_function *f)
{
    struct str name = sim_name_of(m, f);
    bool is_cube = str_ends(name, S("_aic"));

    if (!is_cube && !str_ends(name, S("_aiv")))
        return NULL;
    for (size_t i = 0; i < m->functions.n; i++) {
        struct str other = sim_name_of(m, &m->functions.at[i]);
        if (other.n == name.n && m->functions.at[i].has_body &&
            memcmp(other.at, name.at, name.n - 1) == 0 &&
            other.at[other.n - 1] == (is_cube ? 'v' : 'c'))
            return &m->functions.at[i];
    }
    return NULL;
}

struct str pto_sim_kernel_name(const struct pto_module *m, const struct pto_function *f)
{
    struct str name = sim_name_of(m, f);

    return partner(m, f) ? str_part(name, 0, name.n - 4) : name;
}

size_t pto_sim_kernels(const struct pto_module *m, const struct pto_function **out, size_t n)
{
    size_t found = 0, bodies = 0, marked = 0;

    for (size_t i = 0; i < m->functions.n; i++) {
        const struct pto_function *f = &m->functions.at[i];
        bodies += f->has_body;
        marked += f->has_body && !f->is_private && /* as what is launched */
                  pto_named_attr(m, f->named_first, f->named_count, PTO_KEY_ENTRY) != NULL;
    }
    for (size_t i = 0; i < m->functions.n; i++) {
        const struct pto_function *f = &m->functions.at[i];
        if (!f->has_body || (bodies > 1 && !f->is_entry && f->kind == PTO_KIND_NONE))
            continue;
        if (marked > 0 && f->is_private)
            continue; /* a part of an entry */
        const struct pto_function *other = partner(m, f);
        if (other && other < f)
            continue; /* listed with its other half */
        if (found < n)
            out[found] = f;
        found++;
    }
    return found;
}

static bool matches(const struct pto_module *m, const struct pto_function *f, struct str name)
{
    const struct pto_function *other = partner(m, f);

    return str_equal(name, pto_sim_kernel_name(m, f)) || str_equal(name, sim_name_of(m, f)) ||
           (other && str_equal(name, sim_name_of(m, other)));
}

static enum status find_kernel(struct pto_sim *s, struct str name, const char *path,
                               struct diag *diag)
{
    const struct pto_module *m = s->module;
    const struct pto_function *found[64], *f = NULL;
    size_t n = pto_sim_kernels(m, found, ARRAY_LEN(found));
    struct where where = {path, 0, 0};

    for (size_t i = 0; i < n && i < ARRAY_LEN(found) && !f; i++) {
        if (name.n == 0 ? n == 1 : matches(m, found[i], name))
            f = found[i];
    }
    if (!f && n == 0)
        return diag_fail(diag, ST_FORMAT, "pto-run.no-kernel", where,
                         "no function here can be launched");
    if (!f && name.n == 0)
        (void)diag_fail(diag, ST_NOT_FOUND, "pto-run.which-kernel", where, "%zu kernels here", n);
    else if (!f)
        (void)diag_fail(diag, ST_NOT_FOUND, "pto-run.which-kernel", where,
                        "no kernel is named %.*s", STR_ARGS(name));
    for (size_t i = 0; !f && i < n && i < ARRAY_LEN(found); i++)
        diag_hint(diag, "try", "--func %.*s", STR_ARGS(pto_sim_kernel_name(m, found[i])));
    if (!f)
        return ST_NOT_FOUND;
    s->function[f->kind == PTO_KIND_VECTOR] = f;
    s->function[f->kind != PTO_KIND_VECTOR] = partner(m, f);
    return ST_OK;
}

enum { MOST_CALLS = 16 };

/* Whether a function without a kind, or one it calls, has something that only a core of that kind
 * runs. */
static bool uses(const struct pto_module *m, const struct pto_function *f, enum pto_kind kind,
                 uint32_t depth)
{
    enum pto_opcode section = kind == PTO_KIND_CUBE ? PTO_SECTION_CUBE : PTO_SECTION_VECTOR;

    if (f->kind == kind)
        return true;
    for (uint32_t i = f->op_first; i < f->op_end && f->kind == PTO_KIND_NONE; i++) {
        const struct pto_op *op = &m->ops.at[i];
        const struct pto_attr *name =
            op->code == PTO_CALL ? pto_op_attr(m, op, PTO_KEY_CALLEE) : NULL;
        const struct pto_function *callee =
            name ? pto_find_function(m, intern_get(&m->names, name->text)) : NULL;
        if (op->code == section ||
            (kind == PTO_KIND_CUBE && pto_class_of(op->code) == PTO_CLASS_PRODUCT) ||
            (callee && depth < MOST_CALLS && uses(m, callee, kind, depth + 1)))
            return true;
    }
    return false;
}

static bool in_section(const struct pto_module *m, const struct pto_op *op)
{
    while (op->parent != PTO_NONE && pto_class_of(op->code) != PTO_CLASS_SECTION)
        op = &m->ops.at[op->parent];
    return pto_class_of(op->code) == PTO_CLASS_SECTION;
}

/* Whether a function without a kind, or one it calls, has vector work outside of sections. */
static bool has_unsplit_vector(const struct pto_module *m, const struct pto_function *f,
                               uint32_t depth)
{
    for (uint32_t i = f->op_first; i < f->op_end && f->kind == PTO_KIND_NONE; i++) {
        const struct pto_op *op = &m->ops.at[i];
        struct pto_phases phases = pto_class_of(op->code) == PTO_CLASS_FLAG
                                       ? pto_flag_pipes(m, op)
                                       : pto_phases_of(m, f, op);
        const struct pto_attr *name =
            op->code == PTO_CALL ? pto_op_attr(m, op, PTO_KEY_CALLEE) : NULL;
        const struct pto_function *callee =
            name ? pto_find_function(m, intern_get(&m->names, name->text)) : NULL;
        bool is_vector = callee && depth < MOST_CALLS && has_unsplit_vector(m, callee, depth + 1);
        for (uint32_t k = 0; k < phases.n; k++)
            is_vector = is_vector || phases.at[k] == PTO_PIPE_V || phases.at[k] == PTO_PIPE_V2;
        if (is_vector && !in_section(m, op))
            return true;
    }
    return false;
}

/* A function that was not split between the cores: one core with the pipes of both runs it, in the
 * order of the text. */
static void prepare_whole(struct pto_sim *s, const char *path, struct diag *diag)
{
    s->is_whole = true;
    diag_add(diag, SEV_WARN, "pto-run.unsplit", (struct where){path, s->function[0]->line, 0},
             "cube and vector work in one function: simulated as one core with the pipes of both; "
             "split by %s, or in two functions, they overlap",
             s->is_flagged ? "__DAV_CUBE__ and __DAV_VEC__"
                           : "pto.section.cube and pto.section.vector");
}

enum status pto_sim_prepare(struct pto_sim *s, const struct pto_module *m, struct str name,
                            enum pto_arch arch, bool is_dep, const char *path, struct diag *diag)
{
    s->module = m;
    s->present = 0;
    s->is_whole = false;
    s->function[0] = s->function[1] = NULL;
    TRY(find_kernel(s, name, path, diag));
    const struct pto_function *alone = s->function[0] && !s->function[1] ? s->function[0] : NULL;
    if (alone && alone->kind == PTO_KIND_NONE) {
        bool is_cube = uses(m, alone, PTO_KIND_CUBE, 0);
        if (is_cube && has_unsplit_vector(m, alone, 0))
            prepare_whole(s, path, diag);
        else if (!is_cube || uses(m, alone, PTO_KIND_VECTOR, 0))
            s->function[1] = alone;
        if (!is_cube)
            s->function[0] = NULL;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!s->function[i])
            continue;
        s->program[i].ignore_reuse = s->ignore_reuse;
        s->program[i].is_flagged = s->is_flagged;
        TRY(pto_program_compile(&s->program[i], m, s->function[i],
                                s->is_whole ? PTO_KIND_NONE
                                : i == 0    ? PTO_KIND_CUBE
                                            : PTO_KIND_VECTOR,
                                arch, !is_dep, path, diag));
        s->present |= i == 0 ? 1U << PTO_AIC : 1U << PTO_AIV0;
    }
    if (s->function[0] && s->function[1])
        s->present |= 1U << PTO_AIV1;
    return ST_OK;
}

/* ---- running ---- */

static const struct pto_site *waiting_site(const struct pto_core *c)
{
    return &c->program->sites.at[c->program->steps.at[c->at].a];
}

/* "; AIC waits at line 12" for the other cores that wait. */
static const char *other_waits(const struct pto_sim *s, uint32_t but, char *out, size_t room)
{
    size_t n = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < PTO_CORES && n < room; i++) {
        if (i != but && (s->present >> i & 1) != 0 && s->cores[i].state == PTO_WAITING)
            n += (size_t)snprintf(out + n, room - n, "; %s waits at line %u", pto_core_name(i),
                                  waiting_site(&s->cores[i])->line);
    }
    return out;
}

static enum status report_deadlock(struct pto_sim *s, const char *path, struct diag *diag)
{
    enum status status = ST_OK;

    for (uint32_t i = 0; i < PTO_CORES; i++) {
        struct pto_core *c = &s->cores[i];
        if ((s->present >> i & 1) == 0 || c->state != PTO_WAITING)
            continue;
        const struct pto_site *site = waiting_site(c);
        char others[80];
        status = diag_fail(diag, ST_FORMAT, "pto-run.deadlock", (struct where){path, site->line, 0},
                           "%s waits at %s on %s for a token that no other core sends%s",
                           pto_core_name(i), pto_op_name(site->code),
                           pto_pipe_name((enum pto_pipe)site->phases[0]),
                           other_waits(s, i, others, sizeof(others)));
        (void)pto_core_report_blocked(c);
    }
    return status;
}

/* The line a core has come to. Jumps and copies have none of their own. */
static uint32_t line_of(const struct pto_core *c)
{
    const struct pto_step *s = &c->program->steps.at[c->at];

    while (s->op == 0 && s->code != PTO_STEP_END)
        s++;
    return s->op != 0 ? c->program->module->ops.at[s->op].line : c->program->function->line;
}

/* Lets the cores run in turn. True when all ended, by themselves or by a limit. */
static bool run_cores(struct pto_sim *s)
{
    for (;;) {
        bool is_waiting = false, is_stopped = false, moved = false;
        for (uint32_t i = 0; i < PTO_CORES; i++) {
            struct pto_core *c = &s->cores[i];
            if ((s->present >> i & 1) == 0)
                continue;
            is_stopped |= c->state == PTO_STOPPED;
            if (c->state != PTO_RUNNING && c->state != PTO_WAITING)
                continue;
            moved |= pto_core_run(c);
            if (c->state == PTO_FAILED)
                return true;
            is_waiting |= c->state == PTO_WAITING;
        }
        if (!is_waiting)
            return true;
        if (!moved) /* who waits for a core that the limit stopped is in no deadlock */
            return is_stopped;
    }
}

/* Bytes of the L2 that the data of this AI core (or of one vector core, where there is no cube
 * core) may fill while the others fill theirs. */
static double l2_room(const struct pto_sim *s, const struct pto_costs *costs,
                      const struct pto_options *options)
{
    double bytes =
        pto_costs_get(costs, options->arch == PTO_A5 ? PTO_COST_A5_L2 : PTO_COST_A2A3_L2);
    double copies = options->cores > 1 ? options->cores : 1;

    return bytes / (options->cores > 1 && !s->function[0] ? 2 * copies : copies);
}

static void start_races(const struct pto_sim *s, const struct pto_options *options)
{
    const struct pto_program *programs[PTO_CORES] = {0};

    for (uint32_t i = 0; i < PTO_CORES; i++) {
        if ((s->present >> i & 1) != 0)
            programs[i] = &s->program[i == PTO_AIC ? 0 : 1];
    }
    pto_races_restart(options->races, options->arch, programs);
}

enum status pto_sim_run(struct pto_sim *s, const struct pto_costs *costs,
                        const struct pto_options *options, struct pto_binding *bindings,
                        uint32_t n_bindings, const char *path, struct diag *diag)
{
    struct pto_machine *m = &s->machine;
    enum status status = ST_OK;

    empty_machine(m);
    m->costs = costs;
    m->options = options;
    m->bindings = bindings;
    m->n_bindings = n_bindings;
    m->present = s->present;
    pto_l2_start(&m->l2, l2_room(s, costs, options));
    m->path = path;
    m->diag = diag;
    if (options->races)
        start_races(s, options);
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        if ((s->present >> i & 1) != 0)
            pto_core_start(&s->cores[i], m, &s->program[i == PTO_AIC ? 0 : 1], i);
    }
    if (!run_cores(s))
        status = report_deadlock(s, path, diag);
    s->total = 0;
    s->steps = 0;
    s->is_complete = status == ST_OK;
    s->last_core = PTO_CORES;
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        const struct pto_core *c = &s->cores[i];
        if ((s->present >> i & 1) == 0)
            continue;
        int64_t end = pto_queues_end(&c->queues).at;
        if (end > s->total || s->last_core == PTO_CORES) {
            s->total = end;
            s->last_core = i;
        }
        s->steps += c->steps;
        s->is_complete &= c->state == PTO_FINISHED;
        if (c->state == PTO_FAILED)
            status = ST_FORMAT;
        if (c->state == PTO_STOPPED)
            diag_add(diag, SEV_LOSS, "pto-run.step-limit", (struct where){path, line_of(c), 0},
                     "%s: stopped after %llu steps; what follows is of the part that ran",
                     pto_core_name(i), (unsigned long long)c->steps);
    }
    if (options->races && s->is_complete)
        pto_races_finish(options->races);
    return status;
}
