/*
 * Checks that a reader of a trace should see first.
 */
#include "kernels/incore/health.h"

#include <inttypes.h>

#include "base/formats/csv.h"
#include "base/text/num.h"

enum { LEAST_VECTOR_CYCLES = 1000 };

void incore_exe_add(struct incore_exe *exe, struct str text)
{
    struct csv *csv = mem_grow(NULL, 1, sizeof(*csv));
    double spent;

    exe->files++;
    csv_open(csv, text);
    int instr = csv_column(csv, S("instr")), pipe = csv_column(csv, S("pipe")),
        count = csv_column(csv, S("cycles"));
    while (csv_next(csv)) {
        if (instr >= 0 && str_starts_nocase(csv_cell(csv, instr), S("MMAD")))
            exe->mmad_rows++;
        if (pipe >= 0 && count >= 0 && str_equal_nocase(csv_cell(csv, pipe), S("VECTOR")) &&
            num_f64(csv_cell(csv, count), &spent) && spent > -1e15 && spent < 1e15)
            exe->vector_cycles += num_i64_of(spent);
    }
    mem_free(csv);
}

bool incore_exe_is_degenerate(const struct incore_exe *exe)
{
    return exe->files > 0 && exe->mmad_rows == 0 && exe->vector_cycles < LEAST_VECTOR_CYCLES;
}

static void health_add(struct incore_health *h, const char *code, struct str text)
{
    vec_push(&h->list, ((struct incore_check){code, text}));
}

/* Counts of what a matmul does, over all cores. */
struct matmul {
    uint64_t mmad, load_a, load_b, fix;
};

static struct matmul count_matmul(const struct incore_trace *t)
{
    struct matmul m = {0};

    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        struct str name = incore_name(t, in);
        incore_watch_tick(t, i);
        m.mmad += str_starts(name, S("MMAD"));
        m.fix += str_starts(name, S("FIX_L0C"));
        if (str_starts(name, S("LOAD_2D")) || str_starts(name, S("LOAD_3D"))) {
            struct str args = incore_part_text(t, in, in->args);
            m.load_a += str_contains(args, S("Dst:L0A"));
            m.load_b += str_contains(args, S("Dst:L0B"));
        }
    }
    return m;
}

/* The last record of a pipe lacks the id that the one before it, of the same name, has. */
static bool has_cut_detail(const struct incore_trace *t, const struct incore_lanes *lanes)
{
    for (size_t g = 0; g < t->groups.n; g++) {
        const struct incore_group *group = &t->groups.at[g];
        if (group->n < 2)
            continue;
        const struct incore_instr *last = &t->instrs.at[lanes->order[group->first + group->n - 1]];
        const struct incore_instr *before =
            &t->instrs.at[lanes->order[group->first + group->n - 2]];
        struct str a = incore_part_text(t, last, last->args);
        struct str b = incore_part_text(t, before, before->args);
        if (str_equal(incore_name(t, last), incore_name(t, before)) && !str_contains(a, S("id:")) &&
            str_contains(b, S("id:")))
            return true;
    }
    return false;
}

/* A product loads L0A and L0B, multiplies, and FIX moves the result out: fewer MMADs than pairs
 * of loads, or none moved out, mean that the recording ends too early. */
static void check_tail(struct incore_health *h, const struct incore_trace *t,
                       const struct incore_lanes *lanes)
{
    struct matmul m = count_matmul(t);
    uint64_t pairs = m.load_a < m.load_b ? m.load_a : m.load_b;
    struct arena *a = &h->arena;

    if (m.mmad > 0 && m.mmad < pairs)
        health_add(h, "incore.truncated-tail",
                   arena_format(a,
                                "tail truncated: do not conclude on duration (%" PRIu64
                                " L0A/L0B load pairs, %" PRIu64 " MMAD)",
                                pairs, m.mmad));
    if (m.mmad > 0 && m.fix == 0)
        health_add(h, "incore.truncated-tail",
                   arena_format(a,
                                "tail truncated: do not conclude on duration (%" PRIu64
                                " MMAD, no FIX_L0C_TO_DST)",
                                m.mmad));
    if (has_cut_detail(t, lanes))
        health_add(
            h, "incore.truncated-tail",
            S("tail truncated: do not conclude on duration (the last record's detail is cut)"));
}

static void check_work(struct incore_health *h, const struct incore_trace *t,
                       const struct incore_breakdown *b)
{
    bool has_cube_core = false, has_work = false, has_scalar = false;
    uint64_t cube = 0;
    double span = 0;

    for (size_t i = 0; i < b->cores.n; i++) {
        has_cube_core |= str_contains(b->cores.at[i].core, S("cubecore"));
        double own = b->cores.at[i].end - b->cores.at[i].begin;
        span = own > span ? own : span;
    }
    for (size_t i = 0; i < b->totals.n; i++) {
        bool is_scalar = str_starts(b->totals.at[i].pipe, S("SCALAR"));
        cube += str_equal(b->totals.at[i].pipe, S("CUBE")) ? b->totals.at[i].cycles : 0;
        has_work |= !is_scalar && b->totals.at[i].executed > 0;
        has_scalar |= is_scalar && b->totals.at[i].executed > 0;
    }
    if (has_cube_core && cube == 0)
        health_add(h, "incore.no-cube",
                   S("CUBE has 0 cycles although the kernel runs on a cube core"));
    if (t->instrs.n > 0 && span < 1)
        health_add(h, "incore.short", S("the whole kernel lasts less than 1 us"));
    if (has_scalar && !has_work)
        health_add(h, "incore.scalar-only", S("only SCALAR instructions and flags were executed"));
    if (t->instrs.n == 0)
        health_add(h, "incore.empty", S("the trace has no instructions"));
}

void incore_health_build(struct incore_health *h, const struct incore_trace *t,
                         const struct incore_lanes *lanes, const struct incore_arrows *arrows,
                         const struct incore_breakdown *b, const struct incore_exe *exe)
{
    uint64_t flags = t->sets.n + t->open_flags, lost = arrows->unmatched + t->open_flags;

    *h = (struct incore_health){0};
    arena_init(&h->arena);
    if (incore_exe_is_degenerate(exe))
        health_add(h, "incore.degenerate",
                   arena_format(&h->arena,
                                "degenerate trace: no MMAD and %" PRId64
                                " VECTOR cycles; either a loop bound or work table was read from a "
                                "zero-filled input (0 iterations), or the kernel only moves data",
                                exe->vector_cycles));
    check_work(h, t, b);
    check_tail(h, t, lanes);
    if (lost > 0 && lost * 10 > flags)
        health_add(h, "incore.unmatched-flags",
                   arena_format(&h->arena, "%" PRIu64 " of %" PRIu64 " flags have no partner", lost,
                                flags));
}

void incore_health_free(struct incore_health *h)
{
    vec_free(&h->list);
    arena_free(&h->arena);
}
